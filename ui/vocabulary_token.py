"""Which token's biography is open, the link that opens it, and the panel.

Belongs here: the id in the page's address (``/vocabulary?token=285``) and in the visitor's state,
and doors to the panel from other pages. What is said of a token comes from ``ui/biography.py`` and
``ui/vocabulary_life.py``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from bpe_core.tokenizer import Tokenizer
from ui import theme, vocabulary_data
from ui.biography import token_biography
from ui.components.token_card import token_card
from ui.components.token_life import token_life
from ui.session import state
from ui.session.state import Trained
from ui.vocabulary_life import cached_life

PAGE = "../pages/vocabulary.py"
_PARAMETER = "token"


def take_link(trained: Trained) -> None:
    """Take over the id of a link, once; forget the open token when the tokenizer changes."""
    values = st.session_state
    asked = st.query_params.get(_PARAMETER)
    linked = asked is not None and asked != values.get("vocab_link")
    if values.get("vocab_token_of", trained.key) != trained.key and not linked:
        values.pop("vocab_token", None)
        st.query_params.pop(_PARAMETER, None)
        values.pop("vocab_link", None)
    values.vocab_token_of = trained.key
    if linked:
        values.vocab_token = values.vocab_link = asked
    elif asked is None and "vocab_token" in values:
        open_token(values.vocab_token)  # back from another page, which had another address


def open_token(token_id: int | str) -> None:
    """Open a token's biography, and name it in the page's address."""
    st.session_state.vocab_token = st.session_state.vocab_link = str(token_id)
    st.query_params[_PARAMETER] = str(token_id)


def opened(trained: Trained) -> tuple[int | None, str]:
    """Return the id that is open, or None and a sentence that says what is wrong."""
    asked = st.session_state.get("vocab_token")
    if asked is None:
        return first_choice(trained.tokenizer), ""
    vocabulary = vocabulary_data.entries(trained)
    if asked.isascii() and asked.isdigit() and len(asked) < 11:
        row = int(np.searchsorted(vocabulary.ids, int(asked)))
        if row < len(vocabulary) and vocabulary.ids[row] == int(asked):
            return int(asked), ""
    last = int(vocabulary.ids[-1])
    return None, (
        f"No token of this vocabulary has the id “{asked[:40]}”: ids go up to {last:,}. "
        "Choose one from the list."
    )


def first_choice(tokenizer: Tokenizer) -> int:
    """Return the id to open with: of the tokens that merges made, the one in most merges."""
    rows = tokenizer.merge_ids
    if not len(rows):
        return next(iter(tokenizer.vocab))
    in_merges = np.bincount(rows[:, :2].ravel(), minlength=int(rows.max()) + 1)
    return int(rows[np.argmax(in_merges[rows[:, 2]]), 2])


def panel(trained: Trained, on_children: Callable[[int], None]) -> None:
    """Draw the biography of the open token; ``on_children`` is called with its id."""
    token_id, problem = opened(trained)
    large = theme.is_large()
    if token_id is None:
        token_card(None, empty=problem, large=large, key="vocab_card")
        return
    about = token_biography(trained.tokenizer, token_id, trained.trace)
    token_card(about, large=large, on_go=open_token, key="vocab_card")
    token_life(
        cached_life(trained.key, token_id, trained),
        large=large,
        on_go=open_token,
        on_all=lambda: on_children(token_id),
    )


# -- doors from other pages ---------------------------------------------------------------------


def link(token_id: int) -> None:
    """Draw the link from a token card to the whole biography, for the tokenizer in the picker."""
    _leave()
    st.page_link(
        PAGE,
        label="Its children, its use over training and its places in the text",
        icon=":material/menu_book:",
        query_params={_PARAMETER: str(token_id)},
    )


def _leave() -> None:
    """Forget which id the address named: the next address is a new one, whatever its id."""
    st.session_state.pop("vocab_link", None)


def door(trained: Trained) -> None:
    """Draw the button from the merge player to the biography of the token its step made.

    Where the player rests at no merge, the button opens the vocabulary as it is.
    """
    _leave()
    told = st.session_state.get("merge_player") or {}
    step = state.OPENING_STEP if trained is state.built_in().wait() else 0
    if told.get("player_id") == trained.key and told.get("step") is not None:
        step = int(told["step"])
    token_id = None
    if trained.trace is not None and 1 <= step <= len(trained.trace):
        token_id = int(trained.trace.new[step - 1])
    label = "All its tokens" if token_id is None else f"Biography of the token of merge {step:,}"
    if st.button(label, key="to_vocabulary", type="tertiary", icon=":material/menu_book:"):
        # The picker of the page then stands on this tokenizer.
        st.session_state.tokenizer = trained.key
        st.session_state.tokens_newest = state.selected().key
        query = {} if token_id is None else {_PARAMETER: str(token_id)}
        st.switch_page(PAGE, query_params=query)
