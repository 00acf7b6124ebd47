"""The tokenizers that the HTTP routes may use, each under a key that cannot be guessed.

Belongs here: one bounded shelf for the whole process. A route has no session, so the key is what
keeps one visitor's tokenizers from another. Does not belong here: who owns what (``ui/state.py``).
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

#: How many are kept; the one used longest ago makes room.
MAX_TOKENIZERS = 128

_shelf: OrderedDict[str, Tokenizer] = OrderedDict()
_lock = threading.Lock()


def publish(tokenizer: Tokenizer, key: str | None = None) -> str:
    """Make ``tokenizer`` answer to a key and return the key: a new one, or ``key`` once more.

    Example
    -------
    >>> from bpe_core import Tokenizer
    >>> tokenizer = Tokenizer.from_vocab({i: bytes([i]) for i in range(256)}, [])
    >>> lookup(publish(tokenizer)) is tokenizer
    True
    """
    key = key or secrets.token_urlsafe(18)
    with _lock:
        _shelf[key] = tokenizer
        _shelf.move_to_end(key)
        while len(_shelf) > MAX_TOKENIZERS:
            _shelf.popitem(last=False)
    return key


def lookup(key: str) -> Tokenizer | None:
    """Return the tokenizer of ``key``, or None if there is none (any more)."""
    with _lock:
        tokenizer = _shelf.get(key)
        if tokenizer is not None:
            _shelf.move_to_end(key)
        return tokenizer
