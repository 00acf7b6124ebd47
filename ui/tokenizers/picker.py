"""Choosing a tokenizer, and reading a well-known one at the moment it is chosen.

Belongs here: the picker that Tokens and Vocabulary share, and `read`, the one place where a
tokenizer is either in memory in the end or a sentence says why not. Does not belong here: which
tokenizers there are (``shelf``).
"""

from __future__ import annotations

import streamlit as st

from bpe_core.formats import FormatError
from bpe_core.known import NotFoundError
from ui.server import published
from ui.session import keys, state
from ui.session.state import Trained
from ui.tokenizers import import_dialog, shelf
from ui.tokenizers.shelf import ImportedTokenizer
from ui.words import literal


def read(key: str) -> tuple[Trained | None, str]:
    """The tokenizer of a key and "", read if need be; or None and why it cannot be read.

    The sentence is plain text: it may hold what Markdown would take for markup.
    """
    found = shelf.here(key)
    if found is not None:
        return found, ""
    try:
        with st.spinner(shelf.waiting(key)):
            return shelf.well_known(key), ""
    except (NotFoundError, FormatError) as err:
        return None, str(err)


def choose() -> Trained:
    """Draw the picker and return the tokenizer chosen.

    One that was just trained or brought in chooses itself. A well-known one is read when it is
    chosen; where that fails the last choice stays, and a sentence says why.
    """
    offered = shelf.offered()
    newest = state.selected().key
    values = st.session_state
    if values.get(keys.PICKER_NEWEST) != newest or values.get(keys.TOKENIZER) not in offered:
        stand_on(newest)
    arrived = import_dialog.just_arrived()
    if arrived in offered:
        values[keys.TOKENIZER] = arrived
    key: str | None = st.selectbox(
        "Tokenizer",
        list(offered),
        format_func=lambda key: offered.get(key, ""),
        key=keys.TOKENIZER,
        help="Trained here, imported by you, and well-known ones.",
        on_change=_forget_problem,
        persist_state="session",
    )
    if problem := values.get(keys.PICKER_PROBLEM):
        st.warning(literal(problem))
    chosen, problem = read(key or newest)
    if chosen is None:
        values[keys.PICKER_PROBLEM] = problem
        values[keys.IMPORT_ARRIVED] = values.get(keys.PICKER_LAST, newest)
        st.rerun()
    values[keys.PICKER_LAST] = chosen.key
    published.publish(chosen.tokenizer, chosen.key)  # it may have made room for others
    return chosen


def stand_on(key: str) -> None:
    """Have the picker show this tokenizer when it is drawn next."""
    st.session_state[keys.TOKENIZER] = key
    st.session_state[keys.PICKER_NEWEST] = state.selected().key


def _forget_problem() -> None:
    st.session_state.pop(keys.PICKER_PROBLEM, None)


def about(trained: Trained) -> None:
    """Say what an imported tokenizer is, and what its files hold that is not done here."""
    if isinstance(trained, ImportedTokenizer):
        says = [shelf.summary(trained), *shelf.remarks(trained)]
        with st.container(key=keys.TOKENIZER_ABOUT):
            st.caption(f"**{literal(trained.name)}:** {literal(' '.join(says))}")
