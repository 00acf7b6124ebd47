"""Special tokens in text: where they stand, the text between them, and what happens to them.

Belongs here: `SpecialSplitter`, its result `Segments`, what may be a special token, and the one
policy that every way of encoding follows: recognized, ordinary text, or refused. There are two
searches with one result: training and encoding look through bytes (`segments`, by the kernel of
`kernels/specials.py`), all else through a str (`split`, by `re`). Does not belong
here: cutting into pre-tokens (`pretokenize.py`), options of added tokens (`preparation.py`) and
where text comes from (`corpus.py`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from . import kernels
from .pretokenize import PreTokenizer
from .text import utf8

# Which special tokens are meant: all of them, or those named.
Choice = Literal["all"] | Collection[str]


class Segments(NamedTuple):
    """The text between special tokens, in one or several documents.

    Segment k is data[bounds[2k]:bounds[2k + 1]]. After it stands special token tokens[k] (its
    place in the splitter's `tokens`), or none (-1). Document d ends with segment
    document_ends[d] - 1. `data` is uint8 and holds valid UTF-8, the others are int64.
    """

    data: np.ndarray
    bounds: np.ndarray
    tokens: np.ndarray
    document_ends: np.ndarray
    covered: int  # bytes of `data` that this accounts for


class SpecialSplitter:
    """Finds special tokens in text: the longest one at the leftmost place, literally.

    >>> SpecialSplitter(["<a>", "<a><b>"]).split("x<a><b>y")
    [('x', '<a><b>'), ('y', None)]
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens = sorted(tokens, key=lambda token: len(utf8(token)), reverse=True)
        self.longest = len(utf8(self.tokens[0])) if self.tokens else 0  # in bytes
        self._find = re.compile("|".join(map(re.escape, self.tokens))) if self.tokens else None

    def only(self, tokens: Collection[str]) -> SpecialSplitter:
        """The same kind of splitter at those of its tokens that are among `tokens`."""
        return SpecialSplitter([token for token in self.tokens if token in tokens])

    def matches(self, text: str) -> Iterable[re.Match[str]]:
        """Where its tokens stand in a text, in order."""
        return self._find.finditer(text) if self._find else ()

    @functools.cached_property
    def _tables(self) -> tuple[np.ndarray, ...]:
        """For the kernel: the bytes that begin a token, which pairs of bytes do, the tokens'
        bytes and their offsets."""
        encoded = [utf8(token) for token in self.tokens]
        firsts = np.unique(np.array([token[0] for token in encoded], np.uint8))
        begins = np.zeros((256, 256), np.uint8)  # [second byte, first byte]
        for token in encoded:
            begins[token[1] if len(token) > 1 else slice(None), token[0]] = 1
        offsets = np.append(0, np.cumsum([len(token) for token in encoded]))
        return firsts, begins.ravel(), np.frombuffer(b"".join(encoded), np.uint8), offsets

    def split(self, text: str) -> list[tuple[str, str | None]]:
        """(text, the special token after it or None at the end), in order."""
        parts: list[tuple[str, str | None]] = []
        at = 0
        for match in self.matches(text):
            parts.append((text[at : match.start()], match.group()))
            at = match.end()
        if at < len(text):
            parts.append((text[at:], None))
        return parts

    def segments(self, data: np.ndarray, documents: np.ndarray) -> Segments:
        """The text between special tokens in documents data[documents[2k]:documents[2k + 1]].

        `data` is uint8 and holds valid UTF-8; `documents` is int64. A byte-wise search finds
        what one in the text would, since no character's bytes occur inside another's.
        """
        n = documents.size // 2
        state = np.array([0, -1], np.int64)
        if self.tokens:
            found = np.empty(3 * 64, np.int64)
            at = 0
            while (
                at := kernels.find_specials(data, documents, at, *self._tables, found, state)
            ) < n:
                found.resize(4 * found.size, refcheck=False)
        if not state[0]:
            nothing = np.empty(n, np.int64)
            nothing.fill(-1)
            return Segments(data, documents, nothing, np.arange(1, n + 1), data.size)
        hits = found[: 3 * int(state[0])].reshape(-1, 3)
        # A segment ends at each hit and at each document's end, and begins behind those.
        order = np.argsort(np.concatenate([hits[:, 0], np.arange(n)]), kind="stable")
        stops = np.concatenate([hits[:, 1], documents[1::2]])[order]
        tokens = np.concatenate([hits[:, 2], np.full(n, -1)])[order]
        starts = np.empty_like(stops)
        last = np.flatnonzero(tokens < 0)  # each document's last segment
        sizes = np.append(np.diff(self._tables[-1]), 0)  # the last one for "none"
        starts[1:] = stops[:-1] + sizes[tokens[:-1]]
        starts[np.append(0, last + 1)[:n]] = documents[::2]
        bounds = np.stack([starts, stops], axis=1).ravel()
        return Segments(data, bounds, tokens, last + 1, data.size)

    def stream(
        self, pieces: Iterable[bytes], pretokenizer: PreTokenizer, block: int
    ) -> Iterator[Segments]:
        """The same for one text that comes in pieces of valid UTF-8, in bounded memory.

        What it yields can be pre-tokenized on its own. It holds back what might still be
        part of a special token or of a pre-token: a block, and more only while a single
        pre-token is longer, or for a pattern of which no safe place to cut is known.
        """
        waiting: list[bytes] = []
        size = 0
        want = block
        for piece in pieces:
            waiting.append(piece)
            size += len(piece)
            if size < want:
                continue
            text = b"".join(waiting)
            data = np.frombuffer(text, np.uint8)
            # A special token that starts from here on might go on in the next piece.
            decided = max(len(text) - max(self.longest - 1, 0), 0)
            segments = self.segments(data, np.array([0, len(text)]))
            starts, stops = segments.bounds[::2], segments.bounds[1::2]
            n = int(np.count_nonzero((segments.tokens >= 0) & (stops < decided)))
            at = int(starts[n])
            cut = pretokenizer.last_cut(data, at, min(decided, int(stops[n])))
            if cut > at:
                n += 1
            if n:
                bounds = segments.bounds[: 2 * n].copy()
                tokens = segments.tokens[:n].copy()
                if cut > at:
                    bounds[-1] = cut
                    tokens[-1] = -1
                yield Segments(data, bounds, tokens, np.array([n]), cut)
            waiting = [text[cut:]]
            size = len(text) - cut
            # Looking again only after as much new text keeps the whole linear.
            want = max(block, 2 * size)
        data = np.frombuffer(b"".join(waiting), np.uint8)
        yield self.segments(data, np.array([0, data.size]))


def check_special_tokens(tokens: Iterable[str]) -> tuple[str, ...]:
    """The special tokens as a tuple; ValueError for an empty or repeated one.

    >>> check_special_tokens(["<|endoftext|>"])
    ('<|endoftext|>',)
    """
    if isinstance(tokens, str):
        raise ValueError(
            f"special_tokens must be a list of texts, not the single text {tokens!r}; "
            f"write [{tokens!r}]"
        )
    result = tuple(tokens)
    for token in result:
        if not isinstance(token, str):
            raise ValueError(f"a special token must be a text, not {token!r}")
        if not token:
            raise ValueError("a special token must not be empty")
        try:
            token.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(f"the special token {token!r} holds a lone surrogate") from None
    if len(set(result)) < len(result):
        twice = min(t for t in result if result.count(t) > 1)
        raise ValueError(f"the special token {twice!r} is given more than once")
    return result


@dataclass(frozen=True)
class SpecialPolicy:
    """What happens to each special token in a text: recognized, refused, or ordinary text.

    `recognized` finds those that become their ids, `refused` those that must not be there.
    """

    recognized: SpecialSplitter
    refused: SpecialSplitter

    def check(self, text: str) -> None:
        """Raise TypeError for what is no text, ValueError where a refused token stands in it."""
        if not isinstance(text, str):
            raise TypeError(f"the text to encode must be a str, not {type(text).__name__}")
        match = next(iter(self.refused.matches(text)), None)
        if match is not None:
            found = match.group()
            raise ValueError(
                f"the text holds the special token {found!r}, which is not allowed here. Pass "
                f"allowed_special={{{found!r}, ...}} to encode it as its id, "
                "disallowed_special=() to encode it as ordinary text, or take it out of the text."
            )

    def checked(self, pieces: Iterable[str]) -> Iterator[str]:
        """The pieces of one text; a refused token is found where it goes over several of them."""
        kept = max(self.refused.longest - 1, 0)
        tail = ""
        for piece in pieces:
            self.check(piece)
            if kept:
                self.check(tail + piece[:kept])
                tail = (tail + piece)[-kept:]
            yield piece


def special_policy(every: SpecialSplitter, allowed: Choice, disallowed: Choice) -> SpecialPolicy:
    """The policy of `allowed_special` and `disallowed_special`, as in tiktoken.

    Tokens of `every` that are allowed are recognized; those disallowed are refused ("all": every
    one that is not allowed). TypeError for a token that is no text.

    >>> policy = special_policy(SpecialSplitter(["<a>", "<b>"]), {"<a>"}, "all")
    >>> policy.recognized.tokens, policy.refused.tokens
    (['<a>'], ['<b>'])
    """
    recognized = every if allowed == "all" else every.only(_names(allowed))
    if disallowed == "all":
        return SpecialPolicy(
            recognized, SpecialSplitter(set(every.tokens) - set(recognized.tokens))
        )
    return SpecialPolicy(recognized, SpecialSplitter(_names(disallowed)))


def _names(tokens: str | Collection[str]) -> set[str]:
    names = {tokens} if isinstance(tokens, str) else set(tokens)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a special token must be a text, not {name!r}")
    return names
