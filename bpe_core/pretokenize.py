"""Cutting text into pre-tokens, which merges never cross, and counting them.

Belongs here: text as UTF-8, the named patterns, `PreTokenizer`, the compiled scanners and their
table of character classes, and the counter of distinct pre-tokens. Does not belong here: special
tokens and where text comes from (`corpus.py`), and anything about merges.

The pieces of a text always join back to it, for any pattern: what a pattern does not match
becomes a piece of its own.
"""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


@dataclass(frozen=True)
class NamedPattern:
    """A pre-tokenizer pattern with a one-line gloss for each of its alternatives.

    `scheme` is the number of its compiled scanner, 0 where `regex` does the cutting. Source:
    the published patterns of GPT-2 and of tiktoken's encodings.

    >>> PATTERNS["gpt2"].gloss[1]
    (' ?\\\\p{L}+', 'letters, with the blank before them')
    """

    name: str
    gloss: tuple[tuple[str, str], ...]
    scheme: int = 0
    title: str = ""

    @property
    def regex(self) -> str:
        """The whole pattern, alternatives joined by `|` (empty: do not split)."""
        return "|".join(alternative for alternative, _ in self.gloss)


_END_BLANK = "white space at the end of the text"
_BLANK_BEFORE = "white space before something, all but its last character"
_BLANK = "any other white space"

_ALL = (
    NamedPattern(
        "gpt2",
        (
            (r"'(?:[sdmt]|ll|ve|re)", "English contractions such as 's and 'll"),
            (r" ?\p{L}+", "letters, with the blank before them"),
            (r" ?\p{N}+", "digits, with the blank before them"),
            (r" ?[^\s\p{L}\p{N}]+", "everything else that is not white space, with its blank"),
            (r"\s+(?!\S)", _BLANK_BEFORE),
            (r"\s+", _BLANK),
        ),
        scheme=1,
        title="GPT-2",
    ),
    NamedPattern(
        "cl100k",
        (
            (r"'(?i:[sdmt]|ll|ve|re)", "English contractions in either case"),
            (r"[^\r\n\p{L}\p{N}]?+\p{L}++", "letters, with one blank or sign before them"),
            (r"\p{N}{1,3}+", "digits, at most three together"),
            (r" ?[^\s\p{L}\p{N}]++[\r\n]*+", "signs, with a blank before and line breaks after"),
            (r"\s++\Z", _END_BLANK),
            (r"\s*[\r\n]", "white space up to its last line break"),
            (r"\s+(?!\S)", _BLANK_BEFORE),
            (r"\s", _BLANK),
        ),
        scheme=2,
        title="GPT-4 (cl100k)",
    ),
    NamedPattern(
        "o200k",
        (
            (
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                "a word: capitals, then small letters, with its contraction",
            ),
            (
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                "a word in capitals, with its contraction",
            ),
            (r"\p{N}{1,3}", "digits, at most three together"),
            (r" ?[^\s\p{L}\p{N}]+[\r\n/]*", "signs, with line breaks and slashes after them"),
            (r"\s*[\r\n]+", "white space up to its last line break"),
            (r"\s+(?!\S)", _BLANK_BEFORE),
            (r"\s+", _BLANK),
        ),
        scheme=3,
        title="GPT-4o (o200k)",
    ),
    NamedPattern(
        "whitespace",
        ((r"\S+", "a run without white space"), (r"\s+", "a run of white space")),
        scheme=4,
        title="At white space",
    ),
    NamedPattern("whole text", (), title="Not at all"),
)

PATTERNS: Mapping[str, NamedPattern] = MappingProxyType({p.name: p for p in _ALL})


@functools.cache
def character_classes() -> np.ndarray:
    """Class bits of every code point, uint8[0x110000], from the installed `regex` package.

    Taken from the package itself so that a compiled scanner and `regex` follow the same
    version of Unicode. The bits are named in kernels.py.
    """
    points = np.arange(0x110000, dtype=np.uint32)
    points[0xD800:0xE000] = 0xFFFD  # surrogates cannot stand in UTF-8
    every = points.astype("<u4").tobytes().decode("utf-32-le")
    table = np.zeros(0x110000, np.uint8)
    # One pass, in which a run of what is of no class is left behind at once.
    runs = regex.finditer(
        r"[^\p{L}\p{M}\p{N}\s]+"
        r"|([\p{Lu}\p{Lt}]+)|(\p{Ll}+)|([\p{Lm}\p{Lo}]+)|(\p{M}+)|(\p{N}+)|(\s+)",
        every,
    )
    bits_of_group = (0, 1 | 8, 1 | 16, 1 | 8 | 16, 8 | 16, 2, 4)
    for run in runs:
        table[run.start() : run.end()] = bits_of_group[run.lastindex or 0]
    table.flags.writeable = False
    return table


def utf8_pieces(pieces: Iterable[str]) -> Iterator[bytes]:
    """Pieces of one text as UTF-8; a surrogate pair that is cut in two is joined.

    >>> list(utf8_pieces(["a", "\\ud83d", "\\ude00"]))
    [b'a', b'', b'\\xf0\\x9f\\x98\\x80']
    """
    held = ""
    for piece in pieces:
        text = held + piece
        held = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        yield utf8(text[: len(text) - len(held)])
    if held:
        yield utf8(held)


def utf8(text: str) -> bytes:
    """The text's bytes; surrogate pairs are joined and lone surrogates become U+FFFD.

    >>> utf8("a\\ud83d\\ude00"), utf8("\\ud83d")
    (b'a\\xf0\\x9f\\x98\\x80', b'\\xef\\xbf\\xbd')
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")


# Characters of a text of which a copy costs less than a look; and of one that is copied for the
# sake of memory.
COPIED = 1 << 12
TOO_LONG_TO_KEEP = 1 << 24
_UTF8_AND_SIZE = ctypes.PYFUNCTYPE(
    ctypes.c_void_p, ctypes.py_object, ctypes.POINTER(ctypes.c_ssize_t)
)(("PyUnicode_AsUTF8AndSize", ctypes.pythonapi))
_VIEW_OF_MEMORY = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int
)(("PyMemoryView_FromMemory", ctypes.pythonapi))


def utf8_array(text: str) -> np.ndarray:
    """The bytes of `utf8` as an array, uint8, read-only; valid as long as `text` is kept.

    Python keeps the UTF-8 of a string with the string, once it was asked for in this way, so the
    next call costs nothing (and one of ASCII alone nothing ever). It takes memory as long as the
    string does, so short and very long texts are copied. Source: Python's C API.

    >>> utf8_array("\xe9").tolist()
    [195, 169]
    """
    if len(text) > COPIED and (len(text) < TOO_LONG_TO_KEEP or text.isascii()):
        size = ctypes.c_ssize_t()
        try:
            place = _UTF8_AND_SIZE(text, ctypes.byref(size))
            return np.frombuffer(_VIEW_OF_MEMORY(place, size, 0x100), np.uint8)  # PyBUF_READ
        except UnicodeEncodeError:  # surrogates
            pass
    return np.frombuffer(utf8(text), np.uint8)


@dataclass(frozen=True)
class PreTokenizer:
    """Cuts text at a pattern: a name in `PATTERNS`, or a regular expression of `regex`.

    Raises ValueError for a pattern that does not compile.

    >>> PreTokenizer("gpt2").split("Hello there       dear")
    ['Hello', ' there', '      ', ' dear']
    >>> PreTokenizer("b+").split("abba")
    ['a', 'bb', 'a']
    """

    pattern: str = "gpt2"
    named: NamedPattern | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "named", PATTERNS.get(self.pattern))
        if self.named is None:
            if not isinstance(self.pattern, str) or not self.pattern:
                raise ValueError(
                    f"pattern must be one of {', '.join(map(repr, PATTERNS))} or a regular "
                    f"expression, not {self.pattern!r}"
                )
            try:
                backwards = regex.compile(self.pattern).flags & regex.REVERSE
            except regex.error as err:
                raise ValueError(
                    f"the pattern {self.pattern!r} is no valid regular expression: {err}"
                ) from None
            if backwards:
                raise ValueError(
                    f"the pattern {self.pattern!r} searches backwards; take (?r) out of it"
                )

    @property
    def regex(self) -> str:
        """The regular expression in use ("" where the text is left whole)."""
        return self.named.regex if self.named else self.pattern

    @property
    def scheme(self) -> int:
        """Number of the compiled scanner, 0 where `regex` does the cutting."""
        return self.named.scheme if self.named else 0

    def last_cut(self, data: np.ndarray, start: int, stop: int) -> int:
        """Last place in (start, stop) where the text can be cut for certain, else `start`.

        `data` is as for `ends`. Cutting there changes no pre-token, whatever follows. `stop`
        itself never counts, since what stands there is not known yet; nor is any place known
        for a pattern without a compiled scanner.
        """
        if not self.scheme or stop <= start:
            return start
        from . import kernels

        return kernels.last_cut(self.scheme, data, start, stop, character_classes())

    def split(self, text: str) -> list[str]:
        """The pre-tokens of a text, in order; they join back to the text.

        >>> PreTokenizer("whitespace").split("a  b")
        ['a', '  ', 'b']
        """
        return [text[a:b] for a, b in self._spans(text)]

    def _spans(self, text: str) -> Iterable[tuple[int, int]]:
        if not text:
            return
        if not self.regex:
            yield 0, len(text)
            return
        at = 0
        for match in _compiled(self.regex).finditer(text):
            start, stop = match.span()
            if start > at:
                yield at, start
            if stop > start:
                yield start, stop
            at = max(at, stop)
        if at < len(text):
            yield at, len(text)

    def ends(self, data: np.ndarray, start: int, stop: int) -> np.ndarray:
        """End of each pre-token of data[start:stop], int64[n], as offsets into `data`.

        `data` is uint8 and holds valid UTF-8; start and stop fall between characters.
        """
        if stop <= start:
            return np.empty(0, np.int64)
        if not self.regex:
            return np.array([stop], np.int64)
        if self.scheme:
            from . import kernels

            ends = np.empty(stop - start + kernels.ENDS_ROOM, np.int64)
            n = Scanner(self.scheme).scan(data, np.array([start, stop]), ends, np.array([0, -1]))
            return ends[:n]
        raw = data[start:stop]
        text = raw.tobytes().decode("utf-8")
        ends = np.fromiter((b for _, b in self._spans(text)), np.int64)
        if len(text) == stop - start:
            return ends + start
        first_bytes = np.flatnonzero((raw & 0xC0) != 0x80)
        return start + np.append(first_bytes, stop - start)[ends]


@functools.lru_cache(maxsize=64)
def _compiled(pattern: str) -> regex.Pattern:
    return regex.compile(pattern)


SCANNED = 1 << 16  # pre-tokens that are cut before they are counted or encoded


class Scanner:
    """A compiled scanner with what it writes to. Not for two threads at once."""

    def __init__(self, scheme: int) -> None:
        from . import kernels

        self._scheme = scheme
        self._scratch = (
            character_classes(),
            np.empty(kernels.TEXT_SIZE, np.uint8),
            np.empty(kernels.TEXT_SIZE, np.uint8),
            np.empty(kernels.MARKS_SIZE, np.uint64),
        )

    def scan(
        self, data: np.ndarray, bounds: np.ndarray, ends: np.ndarray, place: np.ndarray
    ) -> int:
        """Write the ends of the next pre-tokens to `ends`, int64; return how many.

        Segments of `data` are as in `PretokenCounter.add_segments`; place[0] says in which one
        to begin and place[1] where in it (-1: its start). Stops where `ends` might have no room.
        """
        from . import kernels

        return int(
            kernels.scan_segments(self._scheme, data, bounds, *self._scratch, ends, place)
        )


class PretokenCounter:
    """Counts distinct pre-tokens in a compiled table that grows as it has to.

    >>> counter = PretokenCounter(PreTokenizer("gpt2"))
    >>> counter.add(b"low lower low")
    >>> counter.to_dict()
    {b'low': 1, b' lower': 1, b' low': 1}
    """

    def __init__(self, pretokenizer: PreTokenizer) -> None:
        self.pretokenizer = pretokenizer
        self._rows = np.zeros(4 << 12, np.uint64)
        self._offsets = np.zeros((1 << 11) + 1, np.int64)
        self._arena = np.empty(1 << 15, np.uint8)
        self._state = np.zeros(3, np.int64)

    def __len__(self) -> int:
        return int(self._state[0])

    @property
    def offsets(self) -> np.ndarray:
        """Where each pre-token's bytes begin in `data`, int64[n + 1]."""
        return self._offsets[: len(self) + 1]

    @property
    def counts(self) -> np.ndarray:
        """How often each pre-token occurs, int64[n]."""
        from . import kernels

        counts = np.empty(len(self), np.int64)
        kernels.collect_counts(self._rows, counts)
        return counts

    @property
    def data(self) -> np.ndarray:
        """The bytes of all distinct pre-tokens, one after the other, uint8."""
        return self._arena[: int(self._state[1])]

    def add(self, text: bytes) -> None:
        """Count the pre-tokens of one stretch of text, given as valid UTF-8."""
        data = np.frombuffer(text, np.uint8)
        self.add_segments(data, np.array([0, data.size]))

    def add_segments(self, data: np.ndarray, bounds: np.ndarray) -> None:
        """Count the pre-tokens of data[bounds[2k]:bounds[2k + 1]], texts of their own.

        `data` is uint8 and holds valid UTF-8, `bounds` is int64.
        """
        from . import kernels

        scheme = self.pretokenizer.scheme
        if scheme:
            scanner = Scanner(scheme)
            ends = np.empty(min(data.size, SCANNED) + kernels.ENDS_ROOM, np.int64)
            batch = np.empty(3 * kernels.BATCH, np.uint64)
            place = np.array([0, -1, 0, 0])
            code = kernels.MORE_ENDS
            while code != kernels.ALL_TAKEN:
                if code == kernels.MORE_ENDS:
                    place[2:] = 0, scanner.scan(data, bounds, ends, place)
                else:
                    self._grow()
                code = kernels.count_segments(data, bounds, ends, batch, *self._table(), place)
            return
        for start, stop in zip(bounds[::2].tolist(), bounds[1::2].tolist(), strict=True):
            ends = self.pretokenizer.ends(data, start, stop)
            self.add_pieces(data, np.append(start, ends), np.ones(ends.size, np.int64))

    def add_pieces(self, data: np.ndarray, borders: np.ndarray, weights: np.ndarray) -> None:
        """Add pieces data[borders[i]:borders[i+1]] with int64 weights."""
        from . import kernels

        done = 0
        while done < weights.size:
            done = kernels.count_given(data, borders, weights, done, *self._table())
            if done < weights.size:
                self._grow()

    def to_dict(self) -> dict[bytes, int]:
        """The counts as a plain mapping, in order of first appearance."""
        raw = self.data.tobytes()
        bounds = self.offsets.tolist()
        return {
            raw[a:b]: n
            for a, b, n in zip(bounds, bounds[1:], self.counts.tolist(), strict=False)
        }

    def _table(self) -> tuple[np.ndarray, ...]:
        return self._rows, self._offsets, self._arena, self._state

    def _grow(self) -> None:
        """Make room for the pre-token that a kernel found none for."""
        from . import kernels

        n, used, needed = self._state.tolist()
        if n + 1 >= self._offsets.size:
            self._offsets = grown(self._offsets, 2 * self._offsets.size)
        if 8 * (n + 1) > self._rows.size:
            larger = np.zeros(4 * self._rows.size, np.uint64)
            kernels.rehash(self._rows, larger)
            self._rows = larger
        if used + needed > self._arena.size:
            self._arena = grown(self._arena, max(2 * self._arena.size, used + needed))


def grown(array: np.ndarray, size: int) -> np.ndarray:
    """A copy with room for `size` items; the new ones are not set."""
    larger = np.empty(size, array.dtype)
    larger[: array.size] = array
    return larger
