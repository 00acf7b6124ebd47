"""Which token's biography is open, and the panel that shows it.

Belongs here: the id in the page's address (``/vocabulary?token=285``) and in the visitor's state.
What is said of a token comes from ``ui/instruments/biography.py`` and ``life``; the ways that lead
here from other pages stand in ``ui/links.py``.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from bpe_core.analysis import lineage
from bpe_core.tokenizer import Tokenizer
from ui import links, theme
from ui.components.token_life import token_life
from ui.instruments import card
from ui.session import keys
from ui.session.state import Trained
from ui.vocabulary.life import cached_life


def take_link(trained: Trained) -> None:
    """Take over the id of a link, once; forget the open token when the tokenizer changes."""
    values = st.session_state
    asked = st.query_params.get(links.TOKEN)
    linked = asked is not None and asked != values.get(keys.VOCAB_LINK)
    if values.get(keys.VOCAB_TOKEN_OF, trained.key) != trained.key and not linked:
        values.pop(keys.VOCAB_TOKEN, None)
        st.query_params.pop(links.TOKEN, None)
        values.pop(keys.VOCAB_LINK, None)
    values[keys.VOCAB_TOKEN_OF] = trained.key
    if linked:
        values[keys.VOCAB_TOKEN] = values[keys.VOCAB_LINK] = asked
    elif asked is None and keys.VOCAB_TOKEN in values:
        open_token(values[keys.VOCAB_TOKEN])  # back from another page, which had another address


def open_token(token_id: int | str) -> None:
    """Open a token's biography, and name it in the page's address."""
    st.session_state[keys.VOCAB_TOKEN] = st.session_state[keys.VOCAB_LINK] = str(token_id)
    st.query_params[links.TOKEN] = str(token_id)


def opened(trained: Trained) -> tuple[int | None, str]:
    """The id that is open, or None and a sentence that says what is wrong."""
    asked = st.session_state.get(keys.VOCAB_TOKEN)
    if asked is None:
        return first_choice(trained.tokenizer), ""
    vocab = trained.tokenizer.vocab
    if asked.isascii() and asked.isdigit() and len(asked) < 11 and int(asked) in vocab:
        return int(asked), ""
    last = max(vocab)
    return None, (
        f"No token of this vocabulary has the id “{asked[:40]}”: ids go up to {last:,}. "
        "Choose one from the list."
    )


def first_choice(tokenizer: Tokenizer) -> int:
    """The id to open with: of the tokens that merges made, the one in most merges."""
    most = lineage.most_merged(tokenizer)
    return next(iter(tokenizer.vocab)) if most is None else most


def show(trained: Trained, on_children: Callable[[int], None]) -> None:
    """Draw the biography of the open token; ``on_children`` is called with its id."""
    token_id, problem = opened(trained)
    if token_id is None:
        card.empty(problem, key=keys.VOCAB_CARD)
        return
    card.of_token(trained.tokenizer, token_id, trained.trace, open_token, key=keys.VOCAB_CARD)
    token_life(
        cached_life(trained.key, token_id, trained),
        large=theme.is_large(),
        on_go=open_token,
        on_all=lambda: on_children(token_id),
    )
