"""The HTTP routes beside the Streamlit app: what the token editor calls at each keystroke.

Belongs here: who may call, how much, and errors as sentences. What is answered is
``ui/server/encoding.py``. The work runs in threads, so a long text never holds up the event loop.

``POST /api/encode``: the body is the text (UTF-8); the query names ``tokenizer`` (a key of
``ui/server/published.py``), ``merges`` (default: all), ``special`` (default: recognize) and
``limit`` (bytes of text whose tokens are sent).
``GET /api/health``: is the server up, is the engine compiled.
"""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING

import anyio.to_thread
import streamlit as st
from anyio import CapacityLimiter
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import bpe_core
from ui.server import encoding, published

if TYPE_CHECKING:
    from starlette.requests import Request

#: The longest text taken, in bytes.
MAX_BODY = 4_000_000

#: Texts encoded at the same time.
MAX_THREADS = 4

GETTING_READY = "The engine is getting ready: it is compiled once per machine, a minute at most."
TOO_LONG = (
    f"This text is longer than {MAX_BODY / 1e6:.0f} MB, the most the editor takes; "
    "your text is still here, shorten it to see its tokens."
)
UNKNOWN_TOKENIZER = (
    "The server no longer has this tokenizer; choose one again, or reload the page and train it "
    "once more."
)


class Problem(Exception):
    """An answer that is not the tokens: a status and one sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence

    def response(self) -> Response:
        """The answer as JSON: ``{"error": sentence}``."""
        return JSONResponse({"error": self.sentence}, self.status, {"Cache-Control": "no-store"})


async def encode(request: Request) -> Response:
    """Answer ``POST /api/encode`` with the buffer of ``ui/server/encoding.py``."""
    try:
        _same_origin(request)
        tokenizer = published.lookup(request.query_params.get("tokenizer", ""))
        if tokenizer is None:
            raise Problem(404, UNKNOWN_TOKENIZER)
        merges = _number(request, "merges")
        limit = _number(request, "limit")
        policy = request.query_params.get("special", "recognize")
        text = (await _body(request)).decode("utf-8", "replace")
        if not bpe_core.kernels_ready():
            _warm_up()
            raise Problem(503, GETTING_READY)
        work = functools.partial(
            encoding.answer,
            tokenizer,
            text,
            merges=merges,
            policy=policy,
            limit=limit,
        )
        data = await anyio.to_thread.run_sync(work, limiter=_limiter())
    except Problem as problem:
        return problem.response()
    except encoding.Refused as err:
        return Problem(422, str(err)).response()
    except ValueError as err:
        return Problem(400, f"The request could not be answered: {err}.").response()
    # Saying "identity" keeps the server from compressing: that costs more than it saves here.
    headers = {"Cache-Control": "no-store", "Content-Encoding": "identity"}
    return Response(data, 200, headers, "application/octet-stream")


async def health(request: Request) -> Response:
    """Answer ``GET /api/health``."""
    return JSONResponse({"status": "ok", "engine_ready": bpe_core.kernels_ready()})


def _same_origin(request: Request) -> None:
    """Refuse what another site's page sends; browsers say where a request comes from."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        foreign = site not in ("same-origin", "none")
    elif origin is not None:
        foreign = origin.partition("://")[2] != request.headers.get("host")
    else:
        foreign = False  # not a browser, so nobody is led into sending it unawares
    if foreign:
        raise Problem(403, "Only pages of this app may ask for tokens.")


def _number(request: Request, name: str) -> int | None:
    """The query's whole number of that name, or None if it is absent."""
    value = request.query_params.get(name)
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 16):
        raise Problem(400, f"The request's {name} is not a whole number: {value[:40]!r}.")
    return int(value)


async def _body(request: Request) -> bytes:
    """The body; reading stops as soon as it is known to be too long."""
    length = request.headers.get("content-length", "0")
    if length.isdigit() and int(length) > MAX_BODY:
        raise Problem(413, TOO_LONG)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise Problem(413, TOO_LONG)
    return bytes(body)


@functools.cache
def _limiter() -> CapacityLimiter:
    return CapacityLimiter(MAX_THREADS)


@functools.cache
def _warm_up() -> threading.Thread:
    """Start compiling the engine, once."""
    thread = threading.Thread(target=bpe_core.warm_up, name="warm-up", daemon=True)
    thread.start()
    return thread


def _paths(path: str) -> list[str]:
    """Where a route answers: at the root, and below ``server.baseUrlPath`` if one is set."""
    base = (st.get_option("server.baseUrlPath") or "").strip("/")
    return [path, f"/{base}{path}"] if base else [path]


routes = [
    *(Route(path, encode, methods=["POST"]) for path in _paths("/api/encode")),
    *(Route(path, health, methods=["GET"]) for path in _paths("/api/health")),
]
