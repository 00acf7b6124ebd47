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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from ui.components.mount import component

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


@dataclass(frozen=True)
class Server:
    """What the editor has to know of the server that cuts its text.

    ``head`` names the numbers at the beginning of an answer of ``version``; ``max_bytes`` is the
    longest text, ``too_long`` what is said of a longer one. ``answer`` gives for a text what the
    server's route does, an answer or a status and a sentence; it is for browsers that cannot reach
    the route.
    """

    head: Sequence[str]
    version: int
    max_bytes: int
    too_long: str
    answer: Callable[[str], bytes | tuple[int, str]]


def set_text(text: str, *, key: str = "token_editor", linked: bool = False) -> None:
    """Replace the editor's text at its next mount; ``linked`` also over one typed before."""
    state = _state(key)
    state["text"] = text
    state["epoch"] += 1
    state["linked"] = linked


def has_text(key: str = "token_editor") -> bool:
    """Return whether this visit has given the editor a text already."""
    return int(_state(key)["epoch"]) > 0


def token_editor(
    tokenizer: str,
    *,
    server: Server,
    merges: int,
    policy: str,
    color: str,
    large: bool = False,
    on_pick: Callable[[Picked], None] | None = None,
    key: str = "token_editor",
) -> None:
    """Show the editor; ``on_pick`` is called with a token the visitor clicked.

    ``tokenizer`` is the key by which the server knows it, ``policy`` what special tokens may do
    there, ``color`` one of ``COLORS``. The text belongs to the browser: it survives page changes
    and reloads there, and is only sent to be cut into tokens.
    """
    state = _state(key)
    doc = (st.session_state.get(key) or {}).get("doc")
    data: dict[str, Any] = {
        "tokenizer": tokenizer,
        "merges": merges,
        "special": policy,
        "color": COLORS[color],
        "large": large,
        "text": state["text"],
        "epoch": state["epoch"],
        "linked": state["linked"],
        "session": state["session"],
        "limit": DRAWN_BYTES,
        "head": list(server.head),
        "version": server.version,
        "max_bytes": server.max_bytes,
        "too_long": server.too_long,
        "answer": None if doc is None else _answer(server, doc),
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


def _answer(server: Server, doc: dict[str, Any]) -> dict[str, Any]:
    """Answer a text that came by state."""
    answer = server.answer(str(doc["text"]))
    if isinstance(answer, bytes):
        return {"seq": doc["seq"], "bytes": base64.b64encode(answer).decode("ascii")}
    status, sentence = answer
    return {"seq": doc["seq"], "status": status, "error": sentence}


def _state(key: str) -> dict[str, Any]:
    """Return what this visit knows of the editor; it outlives the component's own state."""
    fresh = {"text": "", "epoch": 0, "linked": False, "session": secrets.token_hex(8)}
    state: dict[str, Any] = st.session_state.setdefault(f"{key}_text", fresh)
    return state


def _nothing() -> None:
    """Let the component set a state of its own."""
