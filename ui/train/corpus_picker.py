"""Where the training text comes from: a sample, a paste, or files of the visitor's own.

Belongs here: the choice and its widgets, what was done to the bytes of each file, size limits.
Decoding itself is ``bpe_core.corpus``; training is ``ui.session.jobs``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bpe_core.text import decode_text, unpacked
from ui import limits, samples, words
from ui.session import keys

PASTE, UPLOAD = "paste", "upload"

_HEAD = 4_000  # bytes that are enough for the first lines of any text


@dataclass(frozen=True, eq=False)
class ChosenText:
    """A chosen text: ``read()`` gives all of it, ``head`` its beginning (some thousand bytes)."""

    name: str
    source: str
    n_bytes: int
    head: str
    read: Callable[[], str]
    about: str = ""


@dataclass(frozen=True, eq=False)
class KeptFile:
    """An uploaded file as it is kept for this visitor: its bytes and what reading them meant."""

    id: int
    name: str
    data: bytes
    note: str


def set_aside(text: str, share: float) -> tuple[str, str]:
    """Cut ``text`` into (training text, held-out text); ``share`` of the bytes goes to the second.

    Whole lines are set aside, spread evenly over the text, so that both parts hold the same kinds
    of text. A text of one line is cut once, near its end.

    >>> set_aside("a\\nb\\nc\\nd\\n", 0.25)
    ('a\\nc\\nd\\n', 'b\\n')
    """
    if share <= 0 or not text:
        return text, ""
    lines = text.split("\n")
    pieces = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    if len(pieces) == 1:
        near_end = round(len(text) * (1 - share))
        cut = text.rfind(" ", 0, near_end) + 1 or near_end
        return text[:cut], text[cut:]
    parts: tuple[list[str], list[str]] = ([], [])
    seen = taken = 0
    for piece in pieces:
        seen += len(piece)
        aside = taken + len(piece) / 2 <= seen * share
        taken += len(piece) * aside
        parts[aside].append(piece)
    return "".join(parts[0]), "".join(parts[1])


# -- the widgets ------------------------------------------------------------------------------


def choose(on_change: Callable[[], None]) -> ChosenText:
    """Show the list of sources and return the chosen text; ``on_change`` is for another source."""
    chosen = st.selectbox(
        "Text",
        [*samples.by_id(), PASTE, UPLOAD],
        format_func=_label,
        key=keys.CORPUS_SOURCE,
        on_change=on_change,
        persist_state="session",
    )
    if chosen == PASTE:
        return _pasted(st.session_state.get(keys.CORPUS_TEXT) or "")
    if chosen == UPLOAD:
        return _uploaded(_kept())
    one = samples.by_id().get(chosen or "") or samples.first()
    head = one.read()[:_HEAD]
    return ChosenText(one.name, "sample", one.n_bytes, head, one.read, one.about)


def details(corpus: ChosenText) -> None:
    """Show what the chosen source needs: a place to paste, the files, or what a sample is for."""
    if corpus.source == PASTE:
        st.text_area(
            "Your text",
            key=keys.CORPUS_TEXT,
            height=170,
            max_chars=limits.PASTE_CHARACTERS,
            placeholder="Paste or type a text here, then press Train.",
            persist_state="session",
        )
        st.caption(
            f"Up to {limits.PASTE_CHARACTERS:,} characters; larger texts can be uploaded as files."
        )
    elif corpus.source == UPLOAD:
        _upload()
    else:
        st.caption(corpus.about)


def _label(option: str) -> str:
    if option == PASTE:
        return "Paste a text"
    if option == UPLOAD:
        return "Upload files"
    one = samples.by_id()[option]
    return f"{one.name} · {words.size(one.n_bytes)}"


def _pasted(text: str) -> ChosenText:
    return ChosenText("Pasted text", PASTE, len(text.encode()), text[:_HEAD], lambda: text)


def _uploaded(files: list[KeptFile]) -> ChosenText:
    name = files[0].name if len(files) == 1 else f"{len(files)} files"

    def read() -> str:
        # No file's last word may run into the next file's first.
        most = limits.TEXT_TOTAL_MB * 1_000_000
        texts = [decode_text(f.data, most=most).text for f in files]
        ended = [t if t.endswith("\n") else t + "\n" for t in texts[:-1]]
        return "".join(ended + texts[-1:])

    head = _head(files[0].data[:_HEAD]) if files else ""
    return ChosenText(name, UPLOAD, sum(len(f.data) for f in files), head, read)


def _head(data: bytes) -> str:
    # The cut may have split a character; what decoding made of the stump is dropped.
    text = decode_text(data).text
    return text[:-3] if len(data) == _HEAD else text


def _kept() -> list[KeptFile]:
    files: list[KeptFile] = st.session_state.setdefault(keys.CORPUS_FILES, [])
    return files


def _upload() -> None:
    # A fresh widget after each upload: the bytes are kept once, here, and outlive a page change.
    turn = st.session_state.setdefault(keys.CORPUS_UPLOAD_TURN, 0)
    key = keys.corpus_upload(turn)
    with st.container(key=keys.CORPUS_UPLOAD):
        st.file_uploader(
            f"Text files (txt, md, csv, jsonl, py, ...), up to {limits.TEXT_FILE_MB} MB each and "
            f"{limits.TEXT_TOTAL_MB} MB in all",
            accept_multiple_files=True,
            max_upload_size=limits.TEXT_FILE_MB,
            key=key,
            on_change=_keep_uploads,
            args=(key,),
        )
    if refused := st.session_state.pop(keys.CORPUS_REFUSED, None):
        st.warning("Not taken, because the files together would pass the limit:")
        st.text("\n".join(refused))
    with st.container(key=keys.CORPUS_FILES):
        for file in _kept():
            _file_row(file)
    if len(_kept()) > 1:
        st.caption("The files are read one after the other, as one text.")


def _file_row(file: KeptFile) -> None:
    facts = [f"**{words.literal(file.name)}**", words.size(len(file.data)), file.note]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(" · ".join(filter(None, facts)), width="stretch")
        st.button(
            "Remove",
            key=keys.remove_file(file.id),
            type="tertiary",
            on_click=_drop,
            args=(file.id,),
        )


def _keep_uploads(key: str) -> None:
    files = _kept()
    total = sum(len(f.data) for f in files)
    refused: list[str] = []
    for upload in st.session_state.get(key) or []:
        if total + upload.size > limits.TEXT_TOTAL_MB * 1_000_000:
            refused.append(upload.name)
            _release(upload)
            continue
        room = limits.TEXT_TOTAL_MB * 1_000_000 - total
        data, unpacking = unpacked(upload.getvalue(), room)
        note = " ".join(filter(None, [unpacking, decode_text(data).note]))
        total += len(data)
        turn = st.session_state.setdefault(keys.CORPUS_FILE_TURN, 0)
        st.session_state[keys.CORPUS_FILE_TURN] = turn + 1
        files.append(KeptFile(turn, upload.name, data, note))
        _release(upload)
    if refused:
        st.session_state[keys.CORPUS_REFUSED] = refused
    st.session_state[keys.CORPUS_UPLOAD_TURN] += 1


def _release(upload: UploadedFile) -> None:
    # Streamlit would keep its own copy until the visitor leaves, also of a file he removed here.
    context = get_script_run_ctx()
    if context and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        context.uploaded_file_mgr.remove_file(context.session_id, upload.file_id)


def _drop(file_id: int) -> None:
    st.session_state[keys.CORPUS_FILES] = [f for f in _kept() if f.id != file_id]
