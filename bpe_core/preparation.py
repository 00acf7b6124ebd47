"""What some imported tokenizers do to a text beyond one cut at a pattern.

Belongs here: options of added tokens, Unicode normalization, the space in front, patterns
applied one after another, and pre-tokens that are looked up whole (`ignore_merges`). A tokenizer
that was trained here needs none of it. Does not belong here: reading it from files (`formats`).

Source: `tokenizers` (Hugging Face), whose results the tests compare with these.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import numpy as np
import regex

from .pretokenize import PreTokenizer
from .special import Segments, SpecialSplitter

# White space and word characters as Rust's regex crate has them, which cuts there.
_SPACE_BEFORE = regex.compile(r"(?r)\s*")
_SPACE_AFTER = regex.compile(r"\s*")
_WORD = regex.compile(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]")


@dataclass(frozen=True)
class AddedToken:
    """How one added token is looked for in a text; the defaults are those of a special token.

    `lstrip` and `rstrip` take the white space before and after along; `single_word` wants no
    word character beside it; `normalized` looks for it after normalization. Tokens that are
    not `special` are recognized whatever `allowed_special` says.

    >>> AddedToken(special=False).lstrip
    False
    """

    special: bool = True
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    normalized: bool = False


SPECIAL = AddedToken()


@dataclass(frozen=True)
class Preparation:
    """How a text is changed before it is cut, and the tokens looked for in an uncommon way.

    `normalizer` is "" or "NFC" (by this Python's version of Unicode, `unicodedata.
    unidata_version`); `prefix_space` puts a space before each stretch of text that does not
    begin with one; `tokens` holds the added tokens that are not plain special tokens.

    >>> Preparation("NFC").plain, Preparation().plain
    (False, True)
    """

    normalizer: Literal["", "NFC"] = ""
    prefix_space: bool = False
    tokens: Mapping[str, AddedToken] = field(default_factory=lambda: MappingProxyType({}))

    def __reduce__(self) -> tuple[object, ...]:
        # A view of a mapping cannot be pickled.
        return type(self), (self.normalizer, self.prefix_space, dict(self.tokens))

    @property
    def plain(self) -> bool:
        """Whether a text is cut at the added tokens and left as it is otherwise."""
        return not self.normalizer and not self.prefix_space and not self.tokens

    def only_cuts(self, tokens: Iterable[str]) -> bool:
        """Whether a text is cut at `tokens`, the longest leftmost one first, and left as it is.

        So it is for tokens that are looked for after a normalization that does nothing, as long as
        the two passes find what one would: none of the one kind reaches into one of the other.

        >>> late = Preparation(tokens={"<m>": AddedToken(normalized=True)})
        >>> late.plain, late.only_cuts(["<m>", "<s>"]), late.only_cuts(["<m>", "><"])
        (False, True, False)
        """
        options = self.tokens.values()
        if self.normalizer or self.prefix_space:
            return False
        if any(option.lstrip or option.rstrip or option.single_word for option in options):
            return False
        raw: set[str] = set()
        late: set[str] = set()
        for token in tokens:
            (late if self.option(token).normalized else raw).add(token)
        return not (_begins_within(raw, late) or _begins_within(late, raw))

    def option(self, token: str) -> AddedToken:
        """How a token is looked for."""
        return self.tokens.get(token, SPECIAL)

    def normalize(self, text: str) -> str:
        """The text in normal form."""
        return unicodedata.normalize("NFC", text) if self.normalizer else text

    def splitter(self, tokens: Iterable[str]) -> SpecialSplitter:
        """A splitter at these tokens that also prepares the text between them."""
        return SpecialSplitter(tokens) if self.plain else PreparingSplitter(tokens, self)


def _begins_within(some: Collection[str], others: Collection[str]) -> bool:
    """Whether one of `some` may begin inside one of `others`; True where that is not certain."""
    starts = {token[0] for token in some}
    lengths = {len(token) for token in some}
    return any(
        not starts.isdisjoint(other[1:]) or any(other[:n] in some for n in lengths)
        for other in others
    )


class PreparingSplitter(SpecialSplitter):
    """Finds added tokens by their options and prepares the text between them.

    In two passes: tokens that are not `normalized` in the text as it is, then the others in
    what is left, normalized.

    >>> options = Preparation(tokens={"<m>": AddedToken(lstrip=True)})
    >>> PreparingSplitter(["<m>"], options).split("a  <m> b")
    [('a', '<m>'), (' b', None)]
    """

    def __init__(self, tokens: Iterable[str], preparation: Preparation) -> None:
        super().__init__(tokens)
        self._preparation = preparation
        raw = [t for t in self.tokens if not preparation.option(t).normalized]
        late = [t for t in self.tokens if preparation.option(t).normalized]
        self._raw = SpecialSplitter(raw)
        self._token_of = {preparation.normalize(t): t for t in reversed(late)}
        self._late = SpecialSplitter(self._token_of)

    def split(self, text: str) -> list[tuple[str, str | None]]:
        """(prepared text, the token after it or None at the end), in order."""
        prepare = self._preparation
        parts: list[tuple[str, str | None]] = []
        for part, special in self._found(self._raw, text):
            tail = ""
            for inner, token in self._found(self._late, prepare.normalize(part)):
                inner = self._prefixed(inner)
                if token is None:
                    tail = inner
                else:
                    parts.append((inner, self._token_of[token]))
            if tail or special is not None:
                parts.append((tail, special))
        return parts

    def _prefixed(self, part: str) -> str:
        lacks_it = self._preparation.prefix_space and part and not part.startswith(" ")
        return " " + part if lacks_it else part

    def only(self, tokens: Collection[str]) -> SpecialSplitter:
        """The same at those of its tokens that are among `tokens` or not special."""
        option = self._preparation.option
        kept = [t for t in self.tokens if t in tokens or not option(t).special]
        return PreparingSplitter(kept, self._preparation)

    def _found(self, splitter: SpecialSplitter, text: str) -> Iterator[tuple[str, str | None]]:
        """(text, token) by one pass; white space that a token takes along is left out."""
        at = 0
        for match in splitter.matches(text):
            token = match.group()
            option = self._preparation.option(self._token_of.get(token, token))
            start, stop = match.span()
            if option.single_word and _beside_word(text, start, stop):
                continue
            if option.lstrip and start > at:
                start -= len(_SPACE_BEFORE.match(text, at, start).group())
            if option.rstrip:
                stop += len(_SPACE_AFTER.match(text, stop).group())
            yield text[at:start], token
            at = stop
        if at < len(text):
            yield text[at:], None

    def segments(self, data: np.ndarray, documents: np.ndarray) -> Segments:
        """The same for documents in UTF-8; the data of the result is the prepared text."""
        number = {token: i for i, token in enumerate(self.tokens)} | {None: -1}
        texts: list[bytes] = []
        tokens: list[int] = []
        ends: list[int] = []
        for start, stop in documents.reshape(-1, 2).tolist():
            parts = self.split(data[start:stop].tobytes().decode())
            if not parts or parts[-1][1] is not None:
                parts.append(("", None))
            texts += [part.encode() for part, _ in parts]
            tokens += [number[token] for _, token in parts]
            ends.append(len(tokens))
        stops = np.cumsum([0, *map(len, texts)])
        bounds = np.stack([stops[:-1], stops[1:]], axis=1).ravel()
        prepared = np.frombuffer(b"".join(texts), np.uint8)
        return Segments(
            prepared, bounds, np.array(tokens, np.int64), np.array(ends, np.int64), data.size
        )

    def stream(
        self, pieces: Iterable[bytes], pretokenizer: PreTokenizer, block: int
    ) -> Iterator[Segments]:
        """The same for text that comes in pieces; all of it is held.

        Normal forms and white space that a token takes along reach over any place where the text
        could be cut.
        """
        data = np.frombuffer(b"".join(pieces), np.uint8)
        yield self.segments(data, np.array([0, data.size]))


def _beside_word(text: str, start: int, stop: int) -> bool:
    return bool((start and _WORD.match(text, start - 1)) or _WORD.match(text, stop))


@dataclass(frozen=True)
class StagedPreTokenizer(PreTokenizer):
    """Cuts text at several patterns in turn: each one cuts the pre-tokens of those before.

    A later pattern sees each of them as a text of its own, so its lookaround ends there.

    >>> StagedPreTokenizer((r"\\p{N}", r"\\p{L}+")).split("ab12")
    ['ab', '1', '2']
    """

    pattern: tuple[str, ...] = ()  # type: ignore[assignment]
    stages: tuple[PreTokenizer, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "named", None)
        object.__setattr__(self, "stages", tuple(PreTokenizer(p) for p in self.pattern))

    @property
    def regex(self) -> str:
        """The patterns in use, for people; it is no regular expression itself."""
        return ", then ".join(stage.regex for stage in self.stages)

    def spans(self, text: str, gaps: list[str] | None = None) -> Iterable[tuple[int, int]]:
        """Where the pre-tokens of a text begin and end, in characters; gaps are not told."""
        spans = [(0, len(text))] if text else []
        for stage in self.stages:
            spans = [
                (start + a, start + b)
                for start, stop in spans
                for a, b in _short_spans(stage, text[start:stop])
            ]
        return spans


def _short_spans(stage: PreTokenizer, text: str) -> Iterable[tuple[int, int]]:
    # Most texts that later stages get are words that come again and again.
    return _kept_spans(stage, text) if len(text) <= 40 else stage.spans(text)


@functools.lru_cache(maxsize=1 << 14)
def _kept_spans(stage: PreTokenizer, text: str) -> tuple[tuple[int, int], ...]:
    return tuple(stage.spans(text))


def pretokenizer_of(pattern: str | Iterable[str]) -> PreTokenizer:
    """The pre-tokenizer of one pattern, or of several that are applied in turn.

    >>> pretokenizer_of(["a", "b"]).pattern
    ('a', 'b')
    """
    return PreTokenizer(pattern) if isinstance(pattern, str) else StagedPreTokenizer(tuple(pattern))


def look_up_whole(
    segments: Segments, ends: Sequence[np.ndarray], ignore_merges: Mapping[bytes, int]
) -> tuple[Segments, list[np.ndarray]]:
    """Cut segments at the pre-tokens in `ignore_merges`, as if those were special tokens.

    `segments.tokens` are the ids after the segments, `ends[k]` says where the pre-tokens of
    segment k end. Both come back changed.
    """
    lengths = np.array(sorted({len(pretoken) for pretoken in ignore_merges}))
    bounds: list[int] = []
    tokens: list[int] = []
    new_ends: list[np.ndarray] = []
    shift = np.zeros(len(ends) + 1, np.int64)  # segments made of those before each one
    for k, stops in enumerate(ends):
        at = int(segments.bounds[2 * k])
        starts = np.append(at, stops[:-1])
        taken: list[int] = []
        for place in np.flatnonzero(np.isin(stops - starts, lengths)).tolist():
            start, stop = int(starts[place]), int(stops[place])
            token = ignore_merges.get(segments.data[start:stop].tobytes())
            if token is not None:
                bounds += [at, start]
                tokens.append(token)
                taken.append(place)
                at = stop
        bounds += [at, int(segments.bounds[2 * k + 1])]
        tokens.append(int(segments.tokens[k]))
        new_ends.append(np.delete(stops, taken))
        shift[k + 1] = len(tokens)
    cut = segments._replace(
        bounds=np.array(bounds, np.int64),
        tokens=np.array(tokens, np.int64),
        document_ends=shift[segments.document_ends],
    )
    return cut, new_ends
