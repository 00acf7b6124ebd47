"""The dialog "Take it home": a tokenizer as files, each format with the proof that it holds.

Belongs here: its widgets and the words about each format. What is written and compared is
``proof``.
"""

from __future__ import annotations

import streamlit as st

from bpe_core import formats
from bpe_core.formats import Format
from bpe_core.tokenizer import Tokenizer
from ui import words
from ui.encoding import with_merges
from ui.session import keys
from ui.session.state import Trained
from ui.tokenizers import proof
from ui.words import literal

TITLES: dict[Format, str] = {
    "hf": "Hugging Face",
    "tiktoken": "tiktoken",
    "gpt2": "GPT-2 files",
    "native": "Native",
}

PURPOSES: dict[Format, str] = {
    "hf": "`tokenizer.json`, for tokenizers and transformers; it holds pattern and special tokens.",
    "tiktoken": "A rank file, and the Python that makes an `Encoding` of it.",
    "gpt2": "`vocab.json` and `merges.txt`, which many training scripts read.",
    "native": "One JSON file that keeps everything; this app and its command line read it.",
}


HF_SNIPPET = """from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file("tokenizer.json")
ids = tokenizer.encode("some text", add_special_tokens=False).ids
"""


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
            list(TITLES),
            default="hf",
            required=True,
            format_func=TITLES.__getitem__,
            key=keys.EXPORT_FORMAT,
            label_visibility="collapsed",
        )
        or "hf"
    )
    st.markdown(PURPOSES[format_name])
    with st.spinner("Looking for what this format cannot hold."):
        about = proof.export(trained.key, merges, format_name, tokenizer)
    if about.obstacles:
        refuse(format_name, about.obstacles)
        return
    for remark in about.remarks:
        st.caption(literal(remark))
    proved_download(trained, merges, tokenizer, format_name)
    if format_name == "tiktoken":
        st.code(formats.tiktoken_snippet(tokenizer), language="python")
    elif format_name == "hf":
        st.code(HF_SNIPPET, language="python")


def refuse(format_name: Format, obstacles: list[str]) -> None:
    """Say why there is no download."""
    with st.container(key=keys.EXPORT_OBSTACLES):
        reasons = "\n".join(f"- {literal(obstacle.rstrip('.'))}." for obstacle in obstacles)
        st.warning(
            f"{TITLES[format_name]} cannot hold this tokenizer exactly, so there is no download:\n"
            f"\n{reasons}"
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
