"""The texts a tokenizer can be measured on: what it learned from, what was held out, any other.

Belongs here: the list of choices, what each one means for each tokenizer, and the widgets for a
text of the visitor's own. Does not belong here: measuring (``curves``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from bpe_core.text import decode_text
from ui import limits, samples
from ui.session import keys
from ui.session.state import Trained
from ui.words import size

#: Choices that mean another text for each tokenizer.
LEARNED, HELD_OUT = "learned", "held out"
OWN = "own"

_OTHERS = ("sample:code", "sample:chinese", "sample:stories")  # far from each other
_SHORTEST = 2_000  # bytes of a sample from which on its curve says something


@dataclass(frozen=True, eq=False)
class EvalText:
    """A text to measure on; ``id`` stands for its content, ``learned`` for "trained on it"."""

    id: str
    name: str
    learned: bool
    read: Callable[[], str]


def choices(tokenizers: Sequence[Trained], known: Sequence[Trained]) -> dict[str, str]:
    """The choices with their names: for ``tokenizers``, among all that are ``known``."""
    several = len(tokenizers) > 1
    found: dict[str, str] = {}
    if any(t.text for t in tokenizers):
        found[LEARNED] = "Own training text"
    if any(t.held_out for t in tokenizers):
        found[HELD_OUT] = "Own held-out text"
    for one in samples.by_id().values():
        if one.n_bytes >= _SHORTEST:
            found[f"sample:{one.id}"] = one.name
    for trained in known:
        if trained.source != "sample" and trained.text and (several or trained not in tokenizers):
            found[f"text:{trained.key}"] = f"Training text of {trained.name}"
    found[OWN] = "A text of my own"
    return found


def first_choice(tokenizers: Sequence[Trained], offered: Sequence[str]) -> list[str]:
    """What is shown before the visitor chooses."""
    wanted = [LEARNED, HELD_OUT]
    if not all(t.text for t in tokenizers):  # an imported one has no text: one for all of them
        theirs = [f"text:{t.key}" for t in tokenizers if t.text]
        common = [c for c in offered if c not in (LEARNED, HELD_OUT, OWN)]
        return [c for c in [*theirs, *common] if c in offered][:1]
    if len(tokenizers) == 1:  # one line alone says little: put two unseen texts beside it
        wanted += [c for c in _OTHERS if c in offered and not _learned(tokenizers[0], c)][:2]
    return [c for c in wanted if c in offered]


def resolve(choice: str, name: str, trained: Trained, known: Sequence[Trained]) -> EvalText | None:
    """What a choice of that name means for ``trained``, or None if it has no such text."""
    if choice == LEARNED:
        return _given(f"learned:{trained.key}", "its training text", True, trained.text)
    if choice == HELD_OUT:
        return _given(f"held out:{trained.key}", "its held-out text", False, trained.held_out)
    if choice == OWN:
        text, digest = own_text()
        return _given(f"own:{digest}", name, text == trained.text, text)
    if choice.startswith("sample:"):
        one = samples.by_id()[choice.removeprefix("sample:")]
        return EvalText(choice, name, _learned(trained, choice), one.read)
    owner = next((t for t in known if choice == f"text:{t.key}"), None)
    if owner is None:
        return None
    return _given(choice, name, owner.text == trained.text, owner.text)


def for_some_only(tokenizers: Sequence[Trained], chosen: Sequence[str]) -> bool:
    """Whether some tokenizer would have no line, as it was not trained here."""
    return not all(t.text for t in tokenizers) and set(chosen) <= {LEARNED, HELD_OUT}


def _given(text_id: str, name: str, learned: bool, text: str) -> EvalText | None:
    return EvalText(text_id, name, learned, lambda: text) if text else None


def _learned(trained: Trained, choice: str) -> bool:
    """Whether ``trained`` saw this sample; a part that was held out does not change that."""
    if trained.source != "sample":
        return False
    one = samples.by_id()[choice.removeprefix("sample:")]
    return len((trained.text + trained.held_out).encode()) == one.n_bytes


# -- a text of one's own ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Upload:
    name: str
    text: str
    note: str
    digest: str


def own_text() -> tuple[str, str]:
    """The visitor's own text (the uploaded file, else what was pasted) and its digest."""
    upload: _Upload | None = st.session_state.get(keys.COMPARE_UPLOAD)
    if upload is not None:
        return upload.text, upload.digest
    text = st.session_state.get(keys.COMPARE_OWN) or ""
    return text, _digest(text)


def own_text_widgets() -> None:
    """Show where to paste, or to upload one file."""
    upload: _Upload | None = st.session_state.get(keys.COMPARE_UPLOAD)
    if upload is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(upload.name, width="content")
            st.caption(f"{size(len(upload.text.encode()))} · {upload.note}", width="stretch")
            st.button("Remove", key=keys.COMPARE_REMOVE, type="tertiary", on_click=_forget)
        return
    paste, file = st.columns([2, 1])
    paste.text_area(
        "Paste a text to measure on",
        key=keys.COMPARE_OWN,
        height=120,
        max_chars=limits.PASTE_CHARACTERS,
        persist_state="session",
    )
    turn = st.session_state.setdefault(keys.COMPARE_UPLOAD_TURN, 0)
    file.file_uploader(
        f"or upload a text file, up to {limits.TEXT_FILE_MB} MB",
        max_upload_size=limits.TEXT_FILE_MB,
        key=keys.compare_upload(turn),
        on_change=_keep,
    )


def _keep() -> None:
    turn = st.session_state[keys.COMPARE_UPLOAD_TURN]
    file = st.session_state.get(keys.compare_upload(turn))
    if file is not None:
        data = file.getvalue()
        decoded = decode_text(data, most=limits.TEXT_FILE_MB * 1_000_000)
        digest = hashlib.sha256(data).hexdigest()
        st.session_state[keys.COMPARE_UPLOAD] = _Upload(
            file.name, decoded.text, decoded.note, digest
        )
        st.session_state[keys.COMPARE_UPLOAD_TURN] = turn + 1


def _forget() -> None:
    st.session_state.pop(keys.COMPARE_UPLOAD, None)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
