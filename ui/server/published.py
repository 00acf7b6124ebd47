"""The tokenizers that the HTTP routes may use, each under a key that cannot be guessed.

Belongs here: one bounded shelf for the whole process. A route has no session, so the key is what
keeps one visitor's tokenizers from another; well-known tokenizers, which are nobody's, stand under
their names. Does not belong here: who owns what (``ui/session/state.py``,
``ui/tokenizers/shelf.py``).
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

#: How many are kept, and how many entries they may have together (some 200 bytes each); the one
#: used longest ago makes room. The pages publish what they show again, so it comes back.
MAX_TOKENIZERS = 128
MAX_ENTRIES = 4_000_000

_shelf: OrderedDict[str, Tokenizer] = OrderedDict()
_lock = threading.Lock()


def publish(tokenizer: Tokenizer, key: str | None = None) -> str:
    """Make ``tokenizer`` answer to a key and return the key: a new one, or ``key`` once more.

    >>> from bpe_core import Tokenizer
    >>> tokenizer = Tokenizer.from_vocab({i: bytes([i]) for i in range(256)}, [])
    >>> lookup(publish(tokenizer)) is tokenizer
    True
    """
    key = key or secrets.token_urlsafe(18)
    with _lock:
        _shelf[key] = tokenizer
        _shelf.move_to_end(key)
        entries = sum(map(_entries, _shelf.values()))
        while len(_shelf) > MAX_TOKENIZERS or (entries > MAX_ENTRIES and len(_shelf) > 1):
            _, gone = _shelf.popitem(last=False)
            entries -= _entries(gone)
    return key


def withdraw(key: str) -> None:
    """Let a key answer no more; nothing happens where it does not."""
    with _lock:
        _shelf.pop(key, None)


def _entries(tokenizer: Tokenizer) -> int:
    return tokenizer.model.n_tokens


def lookup(key: str) -> Tokenizer | None:
    """The tokenizer of ``key``, or None if there is none (any more)."""
    with _lock:
        tokenizer = _shelf.get(key)
        if tokenizer is not None:
            _shelf.move_to_end(key)
        return tokenizer
