"""Tokens: type or paste any text and see how a tokenizer cuts it, while you type."""

from __future__ import annotations

import streamlit as st

from ui import links
from ui.components.token_editor import Picked
from ui.instruments import card, editor
from ui.session import keys
from ui.tokens import setup
from ui.tokens.decode_box import decode_box
from ui.tokens.setup import EncodingChoices


def remember(picked: Picked) -> None:
    """Keep the token that was clicked, also for when the visitor comes back to this page."""
    st.session_state[keys.TOKENS_PICKED] = picked
    st.session_state[keys.TOKENS_SHOWN] = picked.id


def show(token_id: int) -> None:
    """Show a token that another was made of."""
    st.session_state[keys.TOKENS_SHOWN] = token_id


def clicked_token(choices: EncodingChoices) -> None:
    """Where the clicked token comes from, and how the pre-token around it was cut."""
    shown: int | None = st.session_state.get(keys.TOKENS_SHOWN)
    if shown is None:
        card.empty("Click a token, or one of the ids, to see where it comes from.")
        return
    if shown not in choices.tokenizer.vocab:
        card.empty(
            f"The token with id {shown:,} is not in a vocabulary of this size; "
            "click another one, or move the slider to the right."
        )
        return
    picked: Picked = st.session_state[keys.TOKENS_PICKED]
    card.of_click(
        choices.tokenizer, shown, choices.trained.trace, picked, choices.policy, on_go=show
    )
    links.to_biography(shown)


@st.fragment
def workbench() -> None:
    """The whole page; a change redraws this and not the frame around it."""
    choices = setup.row()
    editor.show(
        choices.trained,
        merges=choices.merges,
        policy=choices.policy,
        color=choices.color,
        on_pick=remember,
    )
    st.caption(
        "Each color is one token. Point at a token to find its id, click it to see how it was "
        "made, and move the vocabulary size to watch the same text being cut more coarsely."
    )
    clicked_token(choices)
    decode_box(choices.tokenizer)


workbench()
