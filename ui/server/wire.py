"""The bytes that an answer to the token editor is made of.

Layout, little-endian: 16 uint32 (`HEAD` names them, the rest is 0), then for each token sent its
id (uint32), then its end as a byte offset (uint32), then its age (uint8).

Belongs here: the layout, and nothing that knows what a token is. The browser reads it in
``ui/components/token_editor/encode_client.js`` and is told the names of the head by the page, so
that they are written once.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

VERSION = 1
HEAD = (
    "version",
    "tokens",
    "sent",
    "bytes",
    "bytes_sent",
    "characters",
    "words",
    "distinct",
    "special",
    "merges",
)
HEAD_NUMBERS = 16


def pack(counts: Mapping[str, int], ids: np.ndarray, ends: np.ndarray, ages: np.ndarray) -> bytes:
    """The buffer of some tokens: one id, end and age each; ``counts`` has all of `HEAD`'s numbers.

    >>> one = np.array([7])
    >>> len(pack(dict.fromkeys(HEAD, 1), one, one, one)) == 4 * HEAD_NUMBERS + 4 + 4 + 1
    True
    """
    head = np.zeros(HEAD_NUMBERS, "<u4")
    head[: len(HEAD)] = [VERSION if name == "version" else counts[name] for name in HEAD]
    parts = (head, ids.astype("<u4"), ends.astype("<u4"), ages.astype(np.uint8))
    return b"".join(part.tobytes() for part in parts)
