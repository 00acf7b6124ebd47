"""The dialog "Take it home": a tokenizer as files, each format with the proof that it holds.

Belongs here: its widgets and the words about each format. What is written and compared is
``proof``.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from bpe_core import formats
from bpe_core.formats import Format
from bpe_core.tokenizer import Tokenizer
from ui import words
from ui.server.encoding import with_merges
from ui.session import keys
from ui.session.state import Trained
from ui.tokenizers import proof
from ui.words import literal

#: What each format is for, in the order in which they are offered.
PURPOSES: dict[Format, str] = {
    "hf": "`tokenizer.json`, for tokenizers and transformers; it holds pattern and special tokens.",
    "tiktoken": "A rank file, and the Python that makes an `Encoding` of it.",
    "gpt2": "`vocab.json` and `merges.txt`, which many training scripts read.",
    "native": "One JSON file that keeps everything; this app and its command line read it.",
}
FIRST: Format = "hf"

HF_SNIPPET = """from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file("tokenizer.json")
ids = tokenizer.encode("some text", add_special_tokens=False).ids
"""

#: The code that reads the files of a format, where that is another library's.
SNIPPETS: dict[Format, Callable[[Tokenizer], str]] = {
    "hf": lambda _: HF_SNIPPET,
    "tiktoken": formats.tiktoken_snippet,
}


def button(trained: Trained, merges: int) -> None:
    """Draw the button that opens the dialog for ``trained`` with its first ``merges``."""
    if st.button(
        "Take it home…",
        key=keys.EXPORT_OPEN,
        type="tertiary",
        help="Save this tokenizer for your own code, with the proof that it gives the same ids.",
    ):
        dialog(trained, merges)


@st.dialog("Take it home", width="medium")
def dialog(trained: Trained, merges: int) -> None:
    """Show the dialog."""
    contents(trained, merges)


def contents(trained: Trained, merges: int) -> None:
    """Draw what the dialog holds: the formats, and of one its obstacles or proof and files."""
    tokenizer = with_merges(trained.tokenizer, merges)
    shorter = "" if merges == trained.tokenizer.n_merges else ", as the size slider says"
    st.caption(
        f"**{literal(trained.name)}**, {tokenizer.vocab_size:,} entries and "
        f"{words.count(merges, 'merge')}{shorter}."
    )
    format_name: Format = (
        st.segmented_control(
            "Format",
            [*PURPOSES, *(name for name in formats.FORMATS if name not in PURPOSES)],
            default=FIRST,
            required=True,
            format_func=lambda name: formats.FORMATS[name].title,
            key=keys.EXPORT_FORMAT,
            label_visibility="collapsed",
        )
        or FIRST
    )
    st.markdown(PURPOSES.get(format_name) or literal(formats.FORMATS[format_name].expected))
    with st.spinner("Looking for what this format cannot hold."):
        about = proof.export(trained.key, merges, format_name, tokenizer)
    if about.obstacles:
        refuse(format_name, about.obstacles)
        return
    for remark in about.remarks:
        st.caption(literal(remark))
    proved_download(trained, merges, tokenizer, format_name)
    if format_name in SNIPPETS:
        st.code(SNIPPETS[format_name](tokenizer), language="python")


def refuse(format_name: Format, obstacles: list[str]) -> None:
    """Say why there is no download."""
    with st.container(key=keys.EXPORT_OBSTACLES):
        reasons = "\n".join(f"- {literal(obstacle.rstrip('.'))}." for obstacle in obstacles)
        title = formats.FORMATS[format_name].title
        st.warning(
            f"{title} cannot hold this tokenizer exactly, so there is no download:\n\n{reasons}"
        )


def proved_download(
    trained: Trained, merges: int, tokenizer: Tokenizer, format_name: Format
) -> None:
    """Reload and compare, at once or when asked to, and then offer the download."""
    asked = f"{trained.key}/{merges}/{format_name}"
    seconds = proof.seconds(tokenizer)
    if tokenizer.vocab_size > proof.AT_ONCE and st.session_state.get(keys.EXPORT_ASKED) != asked:
        place = st.empty()
        with place.container():
            pressed = st.button("Export and compare", type="primary", key=keys.EXPORT_PROVE)
            st.caption(
                "Before the download the files are read back and compared, token by token; with "
                f"{tokenizer.vocab_size:,} entries that takes about {words.seconds(seconds)}."
            )
        if not pressed:
            return
        st.session_state[keys.EXPORT_ASKED] = asked
        place.empty()
    with st.spinner("Writing the files, reading them back, comparing ids.", show_time=seconds > 3):
        proved = proof.prove(trained.key, merges, format_name, tokenizer, trained)
    if proved.proof.differing:
        st.error(literal(proved.sentence))
        return
    with st.container(key=keys.EXPORT_PROOF):
        st.success(proved.sentence, icon=":material/check:")
    name, content, mime = proof.download(proved, tokenizer.vocab_size)
    st.download_button(
        f"Download {name}",
        content,
        file_name=name,
        mime=mime,
        key=keys.export_download(format_name),
        type="primary",
        icon=":material/download:",
        on_click="ignore",
    )
