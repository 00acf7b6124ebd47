"""Tokens: type or paste any text and see how a tokenizer cuts it, while you type."""

from __future__ import annotations

import streamlit as st

from ui import theme, vocabulary_token
from ui.biography import pretoken_at, pretoken_story, token_biography
from ui.components.token_card import token_card
from ui.components.token_editor import Picked, token_editor
from ui.encoding import refusable, with_merges
from ui.tokens import setup
from ui.tokens.decode_box import decode_box
from ui.tokens.setup import EncodingChoices

LARGE = theme.is_large()


def remember(picked: Picked) -> None:
    """Keep the token that was clicked, also for when the visitor comes back to this page."""
    st.session_state.tokens_picked = picked
    st.session_state.tokens_shown = picked.id


def show(token_id: int) -> None:
    """Show a token that another was made of."""
    st.session_state.tokens_shown = token_id


def editor(choices: EncodingChoices) -> None:
    """The text in colors, its numbers, and its ids."""
    token_editor(
        choices.trained.tokenizer,
        choices.trained.key,
        merges=choices.merges,
        policy=choices.policy,
        color=choices.color,
        large=LARGE,
        on_pick=remember,
    )


def card(choices: EncodingChoices) -> None:
    """Where the clicked token comes from, and how the pre-token around it was cut."""
    shown: int | None = st.session_state.get("tokens_shown")
    if shown is None:
        token_card(
            None, large=LARGE, empty="Click a token, or one of the ids, to see where it comes from."
        )
        return
    tokenizer = with_merges(choices.trained.tokenizer, choices.merges)
    specials = tokenizer.special_tokens
    try:
        token = token_biography(tokenizer, shown, choices.trained.trace)
    except KeyError:
        token_card(
            None,
            large=LARGE,
            empty=f"The token with id {shown:,} is not in a vocabulary of this size; "
            "click another one, or move the slider to the right.",
        )
        return
    picked: Picked = st.session_state.tokens_picked
    recognized = choices.policy == "recognize"
    pretoken = pretoken_at(tokenizer, picked.context, picked.offset, special_tokens=recognized)
    # What is in no list of special tokens to refuse is an added token, always recognized.
    added = set(specials) - set(refusable(tokenizer))
    is_special = (recognized and pretoken in specials) or picked.id in map(specials.get, added)
    story = None if pretoken is None or is_special else pretoken_story(tokenizer, pretoken)
    token_card(token, story, large=LARGE, on_go=show)
    vocabulary_token.link(shown)


@st.fragment
def workbench() -> None:
    """The whole page; a change redraws this and not the frame around it."""
    choices = setup.row()
    editor(choices)
    st.caption(
        "Each color is one token. Point at a token to find its id, click it to see how it was "
        "made, and move the vocabulary size to watch the same text being cut more coarsely."
    )
    card(choices)
    decode_box(with_merges(choices.trained.tokenizer, choices.merges))


workbench()
