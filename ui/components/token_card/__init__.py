"""The token card: a token's biography, its merge tree, and how its pre-token was cut.

Belongs here: what the card is sent and what it tells. What it says is worked out by
``bpe_core.analysis`` and put together by ``ui/instruments``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from ui.components.mount import component

_mount = component("token_card", html='<div class="tc" data-testid="token-card"></div>')


def token_card(
    token: dict[str, Any] | None,
    pretoken: dict[str, Any] | None = None,
    *,
    empty: str = "",
    large: bool = False,
    on_go: Callable[[int], None] | None = None,
    key: str = "token_card",
) -> None:
    """Show a token and the story of its pre-token, as ``ui/instruments/biography.py`` tells them.

    ``empty`` is the sentence shown when there is no token; ``on_go`` is called with an id when the
    visitor presses one of the tokens it was made of.
    """

    def went() -> None:
        asked = st.session_state[key].get("go")
        if on_go is not None and asked is not None:
            on_go(int(asked["id"]))

    data = {"token": token, "pretoken": pretoken, "empty": empty, "large": large}
    _mount(key=key, data=data, on_go_change=went)
