"""Where tokens stand in the text as it was typed, if the tokenizer changes texts first.

Belongs here: carrying byte positions from the text that a tokenizer prepares (normal form C, a
blank in front, blanks taken along by an added token) back to the text itself. Does not belong
here: preparing it (`bpe_core.preparation`).
"""

from __future__ import annotations

import functools
import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np

from bpe_core.pretokenize import utf8

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

_LONGEST_CLUSTER = 256  # characters that are normalized together when places are looked for


def spans(tokenizer: Tokenizer, text: str, **policy: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of ``text``, uint32[n], and where each token ends in its bytes, int64[n].

    As `Tokenizer.encode_spans`, but the places are those in ``text`` itself. A token may be empty
    there: a blank that the tokenizer puts in front.

    >>> from bpe_core import Trainer
    >>> spans(Trainer(257).train("abab").tokenizer, "aab")[1].tolist()
    [1, 3]
    """
    ids, ends = tokenizer.encode_spans(text, **policy)
    if tokenizer.preparation.plain:
        return ids, ends
    prepared = tokenizer.decode_bytes(ids).decode("utf-8", "replace")
    if prepared == text:
        return ids, ends
    return ids, places(text, prepared)[ends]


def places(text: str, prepared: str) -> np.ndarray:
    """Return the place in ``text`` of each byte border of ``prepared``, int64[n bytes + 1].

    Never decreasing, from 0 to the number of bytes of ``text``. Blanks that were taken away
    belong to what follows; characters that were composed belong together.

    >>> places("ae\\u0301 x", "a\\u00e9 x").tolist()  # e and its accent: 3 bytes become 2
    [0, 1, 2, 4, 5, 6]
    >>> places("a  b", " ab").tolist()
    [0, 0, 1, 4]
    """
    found = [np.zeros(1, np.int64)]
    i = j = at = 0

    def take(i_next: int, j_next: int) -> None:
        """Go on to these characters; positions in between lie inside the piece."""
        nonlocal i, j, at
        size, n = len(utf8(text[i:i_next])), len(utf8(prepared[j:j_next]))
        inside = at + np.minimum(np.arange(1, n + 1), max(size - 1, 0))
        inside[n - 1 :] = at + size
        found.append(inside)
        i, j, at = i_next, j_next, at + size

    while j < len(prepared):
        run = _same(text, i, prepared, j)
        while run and i + run < len(text) and _continues(text[i + run]):
            run -= 1  # a mark that differs: what it stands on belongs to it
        if run:
            at_run = len(utf8(text[i : i + run]))
            found.append(at + np.arange(1, at_run + 1))
            i, j, at = i + run, j + run, at + at_run
            continue
        stop = _cluster_end(text, i)
        composed = unicodedata.normalize("NFC", text[i:stop])
        if composed and prepared.startswith(composed, j):
            take(stop, j + len(composed))
        elif prepared[j] == " " and prepared[j + 1 : j + 2] == text[i : i + 1]:
            take(i, j + 1)  # a blank put in front
        elif i < len(text) and text[i].isspace():
            at += len(utf8(text[i]))  # a blank taken away
            i += 1
        else:
            take(i if prepared[j] == " " else min(i + 1, len(text)), j + 1)
    result = np.concatenate(found)
    result[-1] = len(utf8(text))
    return np.maximum.accumulate(result)


def _same(a: str, i: int, b: str, j: int) -> int:
    """Return how many characters are equal from a[i] and b[j] on."""
    n, step = 0, 4096
    while step:
        part = a[i + n : i + n + step]
        if len(part) == step and part == b[j + n : j + n + step]:
            n += step
        else:
            step //= 2
    return n


def _continues(character: str) -> bool:
    """Return whether a character may be reordered or composed with the one before it."""
    return character > "\u02ff" and (
        unicodedata.combining(character) > 0 or character in _seconds()
    )


@functools.cache
def _seconds() -> frozenset[str]:
    """Return the characters that canonical composition puts onto another one before them."""
    pairs = (unicodedata.decomposition(chr(c)).split() for c in range(0x20000))
    found = {chr(int(pair[1], 16)) for pair in pairs if len(pair) == 2 and pair[0][0] != "<"}
    return frozenset(found | {chr(c) for c in range(0x1161, 0x1200)})  # Hangul, by arithmetic


def _cluster_end(text: str, i: int) -> int:
    """Return where the characters end that are normalized together with text[i]."""
    stop = min(i + 1, len(text))
    while stop < len(text) and stop - i < _LONGEST_CLUSTER and _continues(text[stop]):
        stop += 1
    whole = unicodedata.normalize("NFC", text[i:stop])
    for end in range(i + 1, stop):
        parts = (
            unicodedata.normalize("NFC", text[i:end]),
            unicodedata.normalize("NFC", text[end:stop]),
        )
        if "".join(parts) == whole:
            return end
    return stop
