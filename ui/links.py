"""The ways from one page to another, and the names that addresses carry.

Belongs here: links and buttons that lead to a page from others, and the query parameters. Reading
an address is the page's own (``ui/tokens/setup.py``, ``ui/vocabulary/panel.py``).
"""

from __future__ import annotations

import streamlit as st

from ui.session import keys
from ui.session.state import Trained
from ui.tokenizers import picker

TRAIN = "../pages/train.py"
VOCABULARY = "../pages/vocabulary.py"

#: ``/tokens?text=...&tokenizer=gpt2&special=refuse``
TEXT, TOKENIZER, SPECIAL = "text", "tokenizer", "special"

#: ``/vocabulary?token=285``
TOKEN = "token"


def to_training() -> None:
    """Draw the link to where a tokenizer is trained."""
    st.page_link(TRAIN, label="Train one", width="content")


def to_biography(token_id: int) -> None:
    """Draw the link from a token card to the whole biography, for the tokenizer in the picker."""
    _leave()
    st.page_link(
        VOCABULARY,
        label="Its children, its use over training and its places in the text",
        icon=":material/menu_book:",
        query_params={TOKEN: str(token_id)},
    )


def to_token_of(trained: Trained, step: int) -> None:
    """Draw the button from the merge player to the biography of the token that merge made.

    ``step`` counts from 1. Where the player rests at no merge, the button opens the vocabulary as
    it is.
    """
    _leave()
    token_id = None
    if trained.trace is not None and 1 <= step <= len(trained.trace):
        token_id = int(trained.trace.new[step - 1])
    label = "All its tokens" if token_id is None else f"Biography of the token of merge {step:,}"
    if st.button(label, key=keys.TO_VOCABULARY, type="tertiary", icon=":material/menu_book:"):
        picker.stand_on(trained.key)
        query = {} if token_id is None else {TOKEN: str(token_id)}
        st.switch_page(VOCABULARY, query_params=query)


def _leave() -> None:
    """Forget which id the address named: the next address is a new one, whatever its id."""
    st.session_state.pop(keys.VOCAB_LINK, None)
