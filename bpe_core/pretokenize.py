"""Cutting text into pre-tokens, which merges never cross.

Belongs here: `PreTokenizer`, the compiled scanners and their table of character classes. Does not
belong here: the patterns themselves (`patterns.py`), special tokens (`special.py`), counting
(`counting.py`), and anything about merges.

The pre-tokens of a text always join back to it, for any pattern: what a pattern does not match
becomes a pre-token of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import regex

from . import kernels
from .kernels import layout
from .patterns import PATTERNS, NamedPattern

SHOWN = 120  # characters of a pattern that an error shows
MOST_NESTED = 100  # groups inside groups, which `regex` reads by recursion
_GROUPS = regex.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+(?:\]|\\?\Z)|[()]", regex.DOTALL)


@functools.cache
def character_classes() -> np.ndarray:
    """Class bits of every code point, uint8[0x110000], from the installed `regex` package.

    Taken from the package itself so that a compiled scanner and `regex` follow the same
    version of Unicode. The bits are named in kernels/layout.py.
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
            if _compiled(self.pattern).flags & regex.REVERSE:
                raise ValueError(
                    f"the pattern {self.pattern!r} searches backwards; take (?r) out of it"
                )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.pattern,)

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
        cut: int = kernels.last_cut(self.scheme, data, start, stop, character_classes())
        return cut

    def split(self, text: str) -> list[str]:
        """The pre-tokens of a text, in order; they join back to the text.

        >>> PreTokenizer("whitespace").split("a  b")
        ['a', '  ', 'b']
        """
        return [text[a:b] for a, b in self.spans(text)]

    def spans(self, text: str, gaps: list[str] | None = None) -> Iterable[tuple[int, int]]:
        """Where the pre-tokens of a text begin and end, in characters.

        Those that the pattern does not match are added to `gaps`.
        """
        if not text:
            return
        if not self.regex:
            yield 0, len(text)
            return
        at = 0
        for match in _compiled(self.regex).finditer(text):
            start, stop = match.span()
            if start > at:
                if gaps is not None:
                    gaps.append(text[at:start])
                yield at, start
            if stop > start:
                yield start, stop
            at = max(at, stop)
        if at < len(text):
            if gaps is not None:
                gaps.append(text[at:])
            yield at, len(text)

    def ends(
        self, data: np.ndarray, start: int, stop: int, gaps: list[str] | None = None
    ) -> np.ndarray:
        """End of each pre-token of data[start:stop], int64[n], as offsets into `data`.

        `data` is uint8 and holds valid UTF-8; start and stop fall between characters. `gaps` is
        as for `spans`; a compiled scanner leaves none.
        """
        if stop <= start:
            return np.empty(0, np.int64)
        if not self.regex:
            return np.array([stop], np.int64)
        if self.scheme:
            ends = np.empty(stop - start + layout.ENDS_ROOM, np.int64)
            n = Scanner(self.scheme).scan(data, np.array([start, stop]), ends, np.array([0, -1]))
            return ends[:n]
        raw = data[start:stop]
        text = raw.tobytes().decode("utf-8")
        ends = np.fromiter((b for _, b in self.spans(text, gaps)), np.int64)
        if len(text) == stop - start:
            return ends + start
        first_bytes = np.flatnonzero((raw & 0xC0) != 0x80)
        return start + np.append(first_bytes, stop - start)[ends]


@functools.lru_cache(maxsize=64)
def _compiled(pattern: str) -> regex.Pattern:
    """The compiled pattern; ValueError where there is none."""
    shown = repr(pattern if len(pattern) <= SHOWN else pattern[:SHOWN] + "…")
    depth = 0
    for sign in _GROUPS.findall(pattern):
        depth += (sign == "(") - (sign == ")")
        if depth > MOST_NESTED:
            raise ValueError(
                f"the pattern {shown} has groups inside groups, over {MOST_NESTED} deep; take "
                "some out"
            )
    try:
        return regex.compile(pattern)
    except regex.error as err:
        raise ValueError(f"the pattern {shown} is no valid regular expression: {err}") from None
    except (RecursionError, MemoryError, OverflowError):
        raise ValueError(
            f"the pattern {shown} is too large to compile; take out groups inside groups, or "
            "repetitions of large parts"
        ) from None


SCANNED = 1 << 16  # pre-tokens that are cut before they are counted or encoded


class Scanner:
    """A compiled scanner with what it writes to. Not for two threads at once."""

    def __init__(self, scheme: int) -> None:
        self._scheme = scheme
        self._classes = character_classes()
        self._window = layout.Window(
            text=np.empty(layout.TEXT_SIZE, np.uint8),
            kinds=np.empty(layout.TEXT_SIZE, np.uint8),
            sets=np.empty(layout.SETS_SIZE, np.uint64),
        )

    def scan(
        self, data: np.ndarray, bounds: np.ndarray, ends: np.ndarray, place: np.ndarray
    ) -> int:
        """Write the ends of the next pre-tokens to `ends`, int64; return how many.

        Segments of `data` are as in `PretokenCounter.add_segments`; place[0] says in which one
        to begin and place[1] where in it (-1: its start). Stops where `ends` might have no room.
        """
        return int(
            kernels.scan_segments(
                self._scheme, data, bounds, self._classes, self._window, ends, place
            )
        )
