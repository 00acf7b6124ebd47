"""The token editor: a text that is colored by its tokens while one types.

Belongs here: placing the editor for one tokenizer at one size. Does not belong here: which
tokenizer and which text, and the component itself (``ui/components/token_editor``).
"""

from __future__ import annotations

from collections.abc import Callable

from ui.components.token_editor import DRAWN_BYTES, Picked, Server, token_editor
from ui.server import api, encoding, wire
from ui.session import keys
from ui.session.state import Trained
from ui.theme import is_large


def show(
    trained: Trained,
    *,
    merges: int,
    policy: str,
    color: str,
    on_pick: Callable[[Picked], None] | None = None,
    key: str = keys.TOKEN_EDITOR,
) -> None:
    """Draw the editor for the first ``merges`` of a tokenizer.

    ``policy`` and ``color`` are those of the component; ``on_pick`` is called with a token that
    is clicked.
    """

    def answer(text: str) -> bytes | tuple[int, str]:
        """Answer as the HTTP route does, for a browser that cannot reach it."""
        if len(text) > api.MAX_BODY:
            return 413, api.TOO_LONG
        try:
            return encoding.answer(
                trained.tokenizer, text, merges=merges, policy=policy, limit=DRAWN_BYTES
            )
        except encoding.Refused as err:
            return 422, str(err)

    token_editor(
        trained.key,
        server=Server(wire.HEAD, wire.VERSION, api.MAX_BODY, api.TOO_LONG, answer),
        merges=merges,
        policy=policy,
        color=color,
        large=is_large(),
        on_pick=on_pick,
        key=key,
    )
