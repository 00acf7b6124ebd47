"""The token editor: a text area whose text is colored by its tokens while one types.

Belongs here: what the editor is sent and what it tells. Does not belong here: what a token is,
which comes from the engine (``ui/server/encoding.py``), and where the editor stands on a page
(``ui/instruments``). Reading order in the browser: ``cut.js`` (what can be drawn), ``painting.js``
(drawing it), ``encode_client.js`` (getting the tokens), ``editor.js``; it holds no tokenizer.

Data in, as ``token_editor`` sends it: the ``tokenizer``'s key, ``merges`` and ``special`` to ask
the server's route with, and ``head`` and ``version`` to read its answers; ``color``; a ``text``
that replaces the one being typed whenever ``epoch`` grows; ``limit``, ``max_bytes``, ``too_long``;
an ``answer`` to a question that came by state.

Events out: state ``pick``, the token the visitor clicked, with text around it; state ``doc``, a
text to be cut where the route cannot be reached; state ``renew``, where the route does not know the
tokenizer any more. The text itself stays in the browser.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from ui.components.mount import component
from ui.server import api, encoding, wire

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

#: Color modes by the name the page shows.
COLORS = {
    "by position": "position",
    "by token": "token",
    "by merge age": "age",
    "no color": "none",
}

#: Bytes of text whose tokens are drawn; the counts are those of the whole text.
DRAWN_BYTES = 100_000

#: Characters around a clicked token that the page looks at.
LONGEST_CONTEXT = 20_000

_mount = component("token_editor")


@dataclass(frozen=True)
class Picked:
    """A token the visitor clicked: its id, where it is, and the text around it.

    ``start`` is its byte offset in the whole text, ``offset`` the one in ``context``.
    """

    id: int
    start: int
    context: str
    offset: int


def set_text(text: str, *, key: str = "token_editor", linked: bool = False) -> None:
    """Replace the editor's text at its next mount; ``linked`` also over one typed before."""
    state = _state(key)
    state["text"] = text
    state["epoch"] += 1
    state["linked"] = linked


def has_text(key: str = "token_editor") -> bool:
    """Return whether this visit has given the editor a text already."""
    return _state(key)["epoch"] > 0


def token_editor(
    tokenizer: Tokenizer,
    tokenizer_key: str,
    *,
    merges: int,
    policy: str,
    color: str,
    large: bool = False,
    on_pick: Callable[[Picked], None] | None = None,
    key: str = "token_editor",
) -> None:
    """Show the editor; ``on_pick`` is called with a token the visitor clicked.

    ``tokenizer_key`` is the registry's key of ``tokenizer``, ``policy`` one of
    ``encoding.POLICIES``, ``color`` one of ``COLORS``. The text belongs to the browser: it
    survives page changes and reloads there, and is only sent to be cut into tokens.
    """
    state = _state(key)
    doc = (st.session_state.get(key) or {}).get("doc")
    data: dict[str, Any] = {
        "tokenizer": tokenizer_key,
        "merges": merges,
        "special": policy,
        "color": COLORS[color],
        "large": large,
        "text": state["text"],
        "epoch": state["epoch"],
        "linked": state["linked"],
        "session": state["session"],
        "limit": DRAWN_BYTES,
        "head": list(wire.HEAD),
        "version": wire.VERSION,
        "max_bytes": api.MAX_BODY,
        "too_long": api.TOO_LONG,
        "answer": None if doc is None else _answer(tokenizer, merges, policy, doc),
    }

    def pick() -> None:
        said = st.session_state[key].get("pick")
        if on_pick is not None and said is not None:
            context = str(said["context"])[:LONGEST_CONTEXT]
            on_pick(Picked(int(said["id"]), int(said["start"]), context, int(said["offset"])))

    _mount(
        key=key,
        data=data,
        on_doc_change=_nothing,
        on_pick_change=pick,
        on_renew_change=_nothing,
    )


def _answer(tokenizer: Tokenizer, merges: int, policy: str, doc: dict[str, Any]) -> dict[str, Any]:
    """Answer as the HTTP route does, for a browser that cannot reach it."""
    text = str(doc["text"])
    try:
        if len(text) > api.MAX_BODY:
            raise api.Problem(413, api.TOO_LONG)
        data = encoding.answer(tokenizer, text, merges=merges, policy=policy, limit=DRAWN_BYTES)
    except api.Problem as problem:
        return {"seq": doc["seq"], "status": problem.status, "error": problem.sentence}
    except encoding.Refused as err:
        return {"seq": doc["seq"], "status": 422, "error": str(err)}
    return {"seq": doc["seq"], "bytes": base64.b64encode(data).decode("ascii")}


def _state(key: str) -> dict[str, Any]:
    """Return what this visit knows of the editor; it outlives the component's own state."""
    fresh = {"text": "", "epoch": 0, "linked": False, "session": secrets.token_hex(8)}
    return st.session_state.setdefault(f"{key}_text", fresh)


def _nothing() -> None:
    """Let the component set a state of its own."""
