"""Measures of a tokenizer at one vocabulary size on one text.

Belongs here: the numbers that follow from how often each token occurs. Does not belong here: how
that is found at any size (`replay`), curves over all sizes (`curves`), and how numbers are written
or compared.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bpe_core.text import utf8
from bpe_core.tokenizer import Tokenizer

from .replay import Replay
from .sizes import has_curve, merges_for
from .vocabulary import uses

_CHUNK = 1 << 20  # characters split into words at a time
_LONG_WORD = 40  # bytes; where words are longer on average, blanks do not separate words
_ALPHA = 2.5  # order of the entropy behind `evenness`


def encoded_histogram(tokenizer: Tokenizer, text: str) -> np.ndarray:
    """How often each id occurs in a text, int64[max id + 1]; 0 for special tokens.

    For any tokenizer; where merges can be replayed, `Replay.histogram` gives it at every size.

    >>> from bpe_core import Trainer
    >>> tokenizer = Trainer(258, ["<|x|>"]).train("abab").tokenizer
    >>> {int(i): int(n) for i, n in enumerate(encoded_histogram(tokenizer, "aba<|x|>")) if n}
    {97: 1, 257: 1}
    """
    histogram = uses(tokenizer, text)
    histogram[list(tokenizer.special_tokens.values())] = 0
    return histogram


# --------------------------------------------------------------------------- measures


@dataclass(frozen=True)
class Measures:
    """The measures of one tokenizer at one size on one text; special tokens are left out.

    `words` are the stretches between blanks; `entries` counts the vocabulary, `used` the entries
    that occur; `single_byte` and `broken` count tokens of one byte and tokens that hold a part of
    a character; `evenness` lies between 0 and 1.
    """

    n_bytes: int
    tokens: int
    words: int
    entries: int
    used: int
    single_byte: int
    broken: int
    evenness: float

    @property
    def bytes_per_token(self) -> float:
        """Compression, higher is denser; nan without tokens."""
        return _ratio(self.n_bytes, self.tokens)

    @property
    def tokens_per_word(self) -> float:
        """Often called fertility; nan where blanks do not separate words, as in Chinese."""
        return _ratio(self.tokens, self.words if self.n_bytes < _LONG_WORD * self.words else 0)

    @property
    def share_used(self) -> float:
        """Share of the entries that occur at all."""
        return _ratio(self.used, self.entries)

    @property
    def share_single_byte(self) -> float:
        """Share of the tokens that are single bytes: places where no merge fits."""
        return _ratio(self.single_byte, self.tokens)

    @property
    def share_broken(self) -> float:
        """Share of the tokens that hold a part of a character."""
        return _ratio(self.broken, self.tokens)


def _ratio(a: int, b: int) -> float:
    return a / b if b else float("nan")


def measure(tokenizer: Tokenizer, histogram: np.ndarray, n_merges: int, words: int) -> Measures:
    """The measures of a text whose tokens occur as often as a histogram says.

    `histogram` as `Replay.histogram` gives it for `n_merges`; `words` as `count_words` does.

    >>> from bpe_core import Trainer
    >>> tokenizer = Trainer(258).train("aaabdaaabac").tokenizer
    >>> found = measure(tokenizer, Replay(tokenizer, "aaab").histogram(2), 2, 1)
    >>> found.n_bytes, found.tokens, found.entries
    (4, 2, 258)
    """
    used = np.flatnonzero(histogram)
    spelled = [tokenizer.token_bytes(int(i)) for i in used]
    often = histogram[used]
    n_bytes = int(sum(len(b) * int(n) for b, n in zip(spelled, often, strict=True)))
    if tokenizer.ignore_merges:
        entries = tokenizer.vocab_size - len(tokenizer.special_tokens)
    else:
        made = np.concatenate([tokenizer.byte_ids, tokenizer.merge_ids[:n_merges, 2]])
        entries = len(np.unique(made))
    return Measures(
        n_bytes=n_bytes,
        tokens=int(often.sum()),
        words=words,
        entries=entries,
        used=len(used),
        single_byte=int(sum(n for b, n in zip(spelled, often, strict=True) if len(b) == 1)),
        broken=int(sum(n for b, n in zip(spelled, often, strict=True) if not _is_text(b))),
        evenness=evenness(often, entries),
    )


def measures_of(tokenizer: Tokenizer, text: str, size: int | None = None) -> Measures:
    """The measures of a text at a vocabulary size (default: all entries).

    ValueError for a smaller size of a tokenizer that is not `sizes.has_curve`.

    >>> from bpe_core import Trainer
    >>> found = measures_of(Trainer(259).train("low low lower").tokenizer, "low lower")
    >>> found.tokens, found.bytes_per_token, found.tokens_per_word
    (4, 2.25, 2.0)
    """
    n_merges = tokenizer.n_merges if size is None else merges_for(tokenizer, size)
    if has_curve(tokenizer):
        histogram = Replay(tokenizer, text).histogram(n_merges)
    elif n_merges == tokenizer.n_merges:
        histogram = encoded_histogram(tokenizer, text)
    else:
        raise ValueError("this tokenizer can be measured at its full size only")
    return measure(tokenizer, histogram, n_merges, count_words(text))


def evenness(often: np.ndarray, entries: int) -> float:
    """How evenly the entries are used: 1 if all alike, near 0 if one does all the work.

    `often` are the counts of those that occur. Renyi entropy of order 2.5 over the logarithm of
    the number of entries; nan without tokens or with less than 2 entries.

    Source: Zouhar et al. 2023, "Tokenization and the Noiseless Channel".

    >>> evenness(np.array([5, 5, 5, 5]), 4), evenness(np.array([20]), 4)
    (1.0, 0.0)
    """
    if not len(often) or entries < 2:
        return float("nan")
    shares = often / often.sum()
    return float(np.log(np.sum(shares**_ALPHA)) / (1 - _ALPHA) / np.log(entries)) + 0.0


def count_words(text: str) -> int:
    """Number of stretches between blanks, without holding them all at once.

    >>> count_words("one  two\\nthree")
    3
    """
    n = 0
    for start in range(0, len(text), _CHUNK):
        chunk = text[start : start + _CHUNK]
        n += len(chunk.split())
        if start and not text[start - 1].isspace() and not chunk[0].isspace():
            n -= 1  # the cut went through a word
    return n


def _is_text(token: bytes) -> bool:
    try:
        token.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


# --------------------------------------------------------------------------- counts


class Cost(NamedTuple):
    """What one text costs: its tokens, beside its bytes and characters."""

    tokens: int
    n_bytes: int
    characters: int


def cost(tokenizer: Tokenizer, text: str) -> Cost:
    """What a text costs with all merges of a tokenizer.

    >>> from bpe_core import Trainer
    >>> cost(Trainer(258).train("low low").tokenizer, "low é")
    Cost(tokens=4, n_bytes=6, characters=5)
    """
    return Cost(tokenizer.count_tokens(text), len(utf8(text)), len(text))


class IdCounts(NamedTuple):
    """The tokens of an encoded text in numbers: all, different ones, special ones."""

    tokens: int
    distinct: int
    special: int


def count_ids(ids: np.ndarray, special_ids: Collection[int]) -> IdCounts:
    """Count the tokens of a text, given as ids.

    >>> count_ids(np.array([97, 256, 97, 300]), {300})
    IdCounts(tokens=4, distinct=3, special=1)
    """
    often = np.bincount(ids)
    special = [i for i in special_ids if i < often.size]
    return IdCounts(len(ids), int(np.count_nonzero(often)), int(often[special].sum()))
