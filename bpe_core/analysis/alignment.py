"""Tokens laid against the text: where they lie in it as it was typed, and cuts beside each other.

Belongs here: carrying byte positions from the text that a tokenizer prepares (normal form C, a
blank in front, blanks taken along by an added token) back to the text itself, and comparing the
cuts of one text by several tokenizers. Does not belong here: preparing a text
(`bpe_core.preparation`), and what tokens are made of (`lineage`).
"""

from __future__ import annotations

import functools
import itertools
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bpe_core.special import Choice
from bpe_core.text import utf8
from bpe_core.tokenizer import Tokenizer

_LONGEST_CLUSTER = 256  # characters that are normalized together when places are looked for

# --------------------------------------------------------------------------- places


def typed_spans(
    tokenizer: Tokenizer,
    text: str,
    *,
    allowed_special: Choice = "all",
    disallowed_special: Choice = (),
) -> tuple[np.ndarray, np.ndarray]:
    """The ids of a text, uint32[n], and where each token ends in its UTF-8 bytes, int64[n].

    As `Tokenizer.encode_spans`, but the places are those in `text` itself. A token may be empty
    there: a blank that the tokenizer puts in front.

    >>> from bpe_core import Trainer
    >>> typed_spans(Trainer(257).train("abab").tokenizer, "aab")[1].tolist()
    [1, 3]
    """
    ids, ends = tokenizer.encode_spans(
        text, allowed_special=allowed_special, disallowed_special=disallowed_special
    )
    if tokenizer.preparation.plain:
        return ids, ends
    prepared = tokenizer.decode_bytes(ids).decode("utf-8", "replace")
    if prepared == text:
        return ids, ends
    return ids, typed_places(text, prepared)[ends]


def typed_places(text: str, prepared: str) -> np.ndarray:
    """The place in `text` of each byte border of `prepared`, int64[n bytes + 1].

    Never decreasing, from 0 to the number of bytes of `text`. Blanks that were taken away
    belong to what follows; characters that were composed belong together.

    >>> typed_places("ae\\u0301 x", "a\\u00e9 x").tolist()  # e and its accent: 3 bytes become 2
    [0, 1, 2, 4, 5, 6]
    >>> typed_places("a  b", " ab").tolist()
    [0, 0, 1, 4]
    """
    found = [np.zeros(1, np.int64)]
    i = j = at = 0

    def take(i_next: int, j_next: int) -> None:
        """Go on to these characters; places in between lie inside this stretch."""
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


def tokens_within(text: str, ends: np.ndarray, limit: int) -> int:
    """How many tokens of a text lie in its first `limit` bytes, ending where a character ends.

    `ends` as `typed_spans` gives them.

    >>> tokens_within("a\\u00e9b", np.array([1, 2, 3, 4]), 2)  # the second one cuts the e
    1
    """
    if not len(ends) or ends[-1] <= limit:
        return len(ends)
    n = int(np.searchsorted(ends, limit, side="right"))
    # A character has at least one byte, so `limit + 1` of them hold the bytes asked about.
    data = utf8(text[: limit + 1])
    while n and data[int(ends[n - 1])] & 0xC0 == 0x80:
        n -= 1
    return n


def _same(a: str, i: int, b: str, j: int) -> int:
    """How many characters are equal from a[i] and b[j] on."""
    n, step = 0, 4096
    while step:
        part = a[i + n : i + n + step]
        if len(part) == step and part == b[j + n : j + n + step]:
            n += step
        else:
            step //= 2
    return n


def _continues(character: str) -> bool:
    """Whether a character may be reordered or composed with the one before it."""
    return character > "\u02ff" and (
        unicodedata.combining(character) > 0 or character in _seconds()
    )


@functools.cache
def _seconds() -> frozenset[str]:
    """The characters that canonical composition puts onto another one before them."""
    pairs = (unicodedata.decomposition(chr(c)).split() for c in range(0x20000))
    found = {chr(int(pair[1], 16)) for pair in pairs if len(pair) == 2 and pair[0][0] != "<"}
    return frozenset(found | {chr(c) for c in range(0x1161, 0x1200)})  # Hangul, by arithmetic


def _cluster_end(text: str, i: int) -> int:
    """Where the characters end that are normalized together with text[i]."""
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


# --------------------------------------------------------------------------- cuts


@dataclass(frozen=True, eq=False)
class Cut:
    """The tokens of a text: numbers for all of it, arrays for its beginning.

    ids uint32[n], ends int64[n] (byte offset after each token), special bool[n].
    """

    ids: np.ndarray
    ends: np.ndarray
    special: np.ndarray
    n_tokens: int
    n_bytes: int

    @property
    def starts(self) -> np.ndarray:
        """Byte offset of each token, int64[n]."""
        return np.append(0, self.ends[:-1])[: len(self.ends)]


def cut(tokenizer: Tokenizer, text: str, beginning: str | None = None) -> Cut:
    """Cut a text into tokens, and look at its `beginning` (default: all of it).

    The last token of the beginning is cut off where the beginning ends.

    >>> from bpe_core import Trainer
    >>> found = cut(Trainer(258).train("aaabdaaabac").tokenizer, "aaab aaab", "aaab a")
    >>> found.starts.tolist(), found.ends.tolist(), found.n_tokens
    ([0, 3, 4, 5], [3, 4, 5, 6], 5)
    """
    ids, ends = typed_spans(tokenizer, text)
    end = len(utf8(text if beginning is None else beginning))
    n = int(np.searchsorted(ends, end)) + 1 if end else 0
    shown = np.minimum(ends[:n], end)
    special = np.isin(ids[:n], np.fromiter(tokenizer.special_tokens.values(), np.int64))
    return Cut(ids[:n], shown, special, len(ids), int(ends[-1]) if len(ends) else 0)


def apart(cuts: Sequence[Cut]) -> list[np.ndarray]:
    """For each cut of one text, which of its tokens are not a token in every other one, bool[n].

    >>> one = Cut(np.array([1, 2]), np.array([2, 3]), np.zeros(2, bool), 2, 3)
    >>> two = Cut(np.array([1, 3, 2]), np.array([1, 2, 3]), np.zeros(3, bool), 3, 3)
    >>> [a.tolist() for a in apart([one, two])]
    [[True, False], [True, True, False]]
    """
    spans = [list(zip(one.starts.tolist(), one.ends.tolist(), strict=True)) for one in cuts]
    common = set.intersection(*map(set, spans))
    return [np.array([span not in common for span in of_one], bool) for of_one in spans]


def grown(cuts: Sequence[Cut]) -> list[np.ndarray]:
    """For each cut, which of its tokens are not in the one before it, bool[n]; none of the first.

    For the cuts of one tokenizer at growing sizes, which never contradict each other: the larger
    one only joins more.

    >>> one = Cut(np.array([1, 3, 2]), np.array([1, 2, 3]), np.zeros(3, bool), 3, 3)
    >>> two = Cut(np.array([1, 2]), np.array([2, 3]), np.zeros(2, bool), 2, 3)
    >>> [a.tolist() for a in grown([one, two])]
    [[False, False, False], [True, False]]
    """
    none = np.zeros(len(cuts[0].ids), bool)
    return [none, *(apart(pair)[1] for pair in itertools.pairwise(cuts))]


def hues(cuts: Sequence[Cut], n_hues: int) -> list[np.ndarray]:
    """The hue of each token of each cut, uint8[n] below `n_hues`.

    Tokens that start at one place look alike: the hue is the number of the start among the starts
    of all cuts. Neighbors never have the same one.

    >>> one = Cut(np.array([1, 2]), np.array([2, 3]), np.zeros(2, bool), 2, 3)
    >>> two = Cut(np.array([1, 3, 2]), np.array([1, 2, 3]), np.zeros(3, bool), 3, 3)
    >>> [of_one.tolist() for of_one in hues([one, two], 8)]
    [[0, 2], [0, 1, 2]]
    """
    places = np.unique(np.concatenate([one.starts for one in cuts]))
    result = []
    for one in cuts:
        wanted = np.searchsorted(places, one.starts) % n_hues
        chosen = np.empty(len(wanted), np.uint8)
        before = n_hues
        for i, hue in enumerate(wanted.tolist()):
            chosen[i] = before = (hue + 3) % n_hues if hue == before else hue
        result.append(chosen)
    return result
