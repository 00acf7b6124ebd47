"""The token life: what a token was used for in training: its use, its children, its places.

Belongs here: what the card is sent and what it tells. What it says comes from the Vocabulary page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from ui.components.mount import component

_mount = component("token_life", html='<div class="tl" data-testid="token-life"></div>')


def token_life(
    life: dict[str, Any],
    *,
    large: bool = False,
    on_go: Callable[[int], None],
    on_all: Callable[[], None],
    key: str = "token_life",
) -> None:
    """Show a life, as ``ui/vocabulary/life.py`` tells it.

    ``on_go`` is called with the id of a child that is pressed, ``on_all`` when all children are
    asked for.
    """

    def went() -> None:
        asked = st.session_state[key].get("go")
        if asked is not None:
            on_go(int(asked))

    def asked_for_all() -> None:
        if st.session_state[key].get("all"):
            on_all()

    _mount(
        key=key,
        data={**life, "large": large},
        on_go_change=went,
        on_all_change=asked_for_all,
    )
