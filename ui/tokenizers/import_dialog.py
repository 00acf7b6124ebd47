"""The dialog that brings a tokenizer in: from files, or by a name.

Belongs here: its widgets. What comes of them is ``importing``.
"""

from __future__ import annotations

import streamlit as st

from bpe_core import known
from bpe_core.patterns import PATTERNS
from ui import limits
from ui.session import keys
from ui.tokenizers import importing, shelf
from ui.tokenizers.importing import ImportProblem
from ui.tokenizers.shelf import ImportedTokenizer
from ui.words import literal

FILES, NAME = "From files", "By name"


def button() -> None:
    """Draw the button that opens the dialog."""
    if st.button(
        "Import…",
        key=keys.IMPORT_OPEN,
        type="tertiary",
        help="Bring a tokenizer from files, or by the name of a model.",
    ):
        dialog()


@st.dialog("Bring a tokenizer", width="medium")
def dialog() -> None:
    """Show the dialog; it closes when a tokenizer was brought in, which is then chosen."""
    way = st.segmented_control(
        "Where from",
        [FILES, NAME],
        default=FILES,
        required=True,
        key=keys.IMPORT_WAY,
        label_visibility="collapsed",
    )
    if way == NAME:
        by_name()
    else:
        from_files()


def from_files() -> None:
    """The half of the dialog for files."""
    uploads = st.file_uploader(
        "tokenizer.json, a .tiktoken file, vocab.json with merges.txt, or a file saved here",
        accept_multiple_files=True,
        max_upload_size=limits.TOKENIZER_FILE_MB,
        key=keys.IMPORT_FILES,
    )
    try:
        files = importing.unpacked([(file.name, file.getvalue()) for file in uploads])
    except ImportProblem as problem:
        st.error(literal(str(problem)))
        return
    pattern, specials = next(iter(PATTERNS)), ""
    if files and importing.lacks_settings(files):
        pattern, specials = settings(files)
    if st.button("Import", type="primary", key=keys.IMPORT_TAKE, disabled=not files):
        try:
            with st.spinner("Reading the files; a large vocabulary takes a few seconds."):
                new = importing.from_files(files, pattern=pattern, specials=specials)
        except ImportProblem as problem:
            st.error(literal(str(problem)))
            return
        arrived(shelf.remember(new))
    st.caption("It stays with you: no other visitor sees it, and it is gone when you leave.")


def settings(files: dict[str, bytes]) -> tuple[str, str]:
    """Ask for what these files do not hold: the pattern and the special tokens."""
    encoding = importing.recognized(files)
    about = "-".join(sorted(files))  # other files begin with suggestions of their own
    if encoding is not None:
        st.caption(
            literal(f"This is the published file of {encoding.name}; what it lacks is filled in.")
        )
    else:
        st.caption("These files hold neither pattern nor special tokens, so say them here.")
    names = list(PATTERNS)
    pattern = st.selectbox(
        "Pattern that cuts the text before merging",
        names,
        index=names.index(encoding.pattern) if encoding is not None else 0,
        format_func=lambda p: PATTERNS[p].title if p in PATTERNS else p,
        accept_new_options=True,
        key=keys.import_pattern(about),
        help="A name from the list, or a regular expression. Another pattern gives other ids.",
    )
    lines = encoding.special_tokens.items() if encoding is not None else ()
    specials = st.text_area(
        "Special tokens, one per line, with the id if it is known",
        "\n".join(f"{token} {i}" for token, i in lines),
        placeholder="<|endoftext|> 50256",
        height=90,
        key=keys.import_specials(about),
        help="Without an id, a token gets the one it has in the vocabulary, or the next free one.",
    )
    return pattern or names[0], specials or ""


def by_name() -> None:
    """The half of the dialog for names."""
    name = st.selectbox(
        "Encoding, model, or Hugging Face repository",
        known.known_names(),
        index=None,
        placeholder="gpt-4o, cl100k_base, owner/name …",
        accept_new_options=True,
        key=keys.IMPORT_NAME,
    )
    download = st.checkbox(
        "Download it if it is not on this machine",
        key=keys.IMPORT_DOWNLOAD,
        help="OpenAI's encodings come from openaipublic.blob.core.windows.net, all others from "
        f"huggingface.co; after {importing.DOWNLOAD_SECONDS:.0f} seconds it is given up.",
    )
    if st.button("Import", type="primary", key=keys.IMPORT_TAKE_NAME, disabled=not name):
        try:
            with st.spinner(f"Looking for {literal(name or '')}."):
                new = importing.from_name(name or "", download=download)
        except ImportProblem as problem:
            st.warning(literal(str(problem)))
            return
        if new.source == "well-known":
            shelf.add_name(new.key)
            arrived(new)
        else:
            arrived(shelf.remember(new))
    st.caption(
        "Nothing leaves this machine without the tick above: first the caches of tiktoken and "
        "huggingface_hub are looked at, then the package bpe-openai."
    )


def arrived(new: ImportedTokenizer) -> None:
    """Close the dialog and have the page choose what was brought in."""
    st.session_state[keys.IMPORT_ARRIVED] = new.key
    st.rerun()


def just_arrived() -> str | None:
    """The key of what was brought in since the last look, or None."""
    key: str | None = st.session_state.pop(keys.IMPORT_ARRIVED, None)
    return key
