"""Compression against vocabulary size: one encode of a text gives the tokens at every size.

Belongs here: arithmetic on join ranks, counts and sizes, and what a curve says at one size. Does
not belong here: charts, and measures at a single size (`measures`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bpe_core.text import utf8
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import MergeTrace

from .replay import Replay
from .sizes import has_curve, merges_at_sizes

# --------------------------------------------------------------------------- counts


def token_counts(join_ranks: np.ndarray, n_merges: int) -> np.ndarray:
    """Tokens of a text after its first k merges, int64[n_merges + 1] for k = 0..n_merges.

    `join_ranks` as `Tokenizer.join_ranks` gives them. The text must not be empty (an empty
    text has no boundary, and neither has one byte: this counts 1 for both).

    >>> from bpe_core import NEVER
    >>> token_counts(np.array([0, 1, NEVER], np.int32), 2).tolist()
    [4, 3, 2]
    """
    erased = join_ranks[(join_ranks >= 0) & (join_ranks < n_merges)]
    tally = np.bincount(erased, minlength=n_merges)
    start = 1 + int(np.count_nonzero(join_ranks >= 0))
    return start - np.concatenate([[0], np.cumsum(tally, dtype=np.int64)])


def corpus_token_counts(tokenizer: Tokenizer, corpus: Any, **options: Any) -> np.ndarray:
    """Tokens of a whole corpus after its first k merges, int64[n_merges + 1].

    Each distinct pre-token is encoded once and weighted by its count. Special tokens are
    borders and are not counted. Corpus and options as for `Trainer.start`. ValueError for an
    imported tokenizer that changes texts before it cuts them or takes pre-tokens whole.

    >>> from bpe_core import Trainer
    >>> result = Trainer(258).train("aaabdaaabac")
    >>> corpus_token_counts(result.tokenizer, "aaabdaaabac").tolist()
    [11, 9, 7]
    """
    only_cut = tokenizer.preparation.only_cuts(tokenizer.special_tokens)
    if not only_cut or tokenizer.ignore_merges:
        raise ValueError(
            "this tokenizer normalizes texts, has added tokens with options or takes pre-tokens "
            "whole, so tokens cannot be counted from pre-tokens; encode the text instead"
        )
    return Replay(tokenizer, corpus, **options).token_counts()


def counts_at_sizes(tokenizer: Tokenizer, corpus: Any) -> np.ndarray:
    """Tokens of a corpus at each size from `sizes.smallest` to `sizes.largest`, int64[n].

    Special tokens are not counted. ValueError where not `sizes.has_curve`.

    >>> from bpe_core import Trainer
    >>> counts_at_sizes(Trainer(258).train("aaabdaaabac").tokenizer, "aaab").tolist()
    [4, 3, 2]
    """
    counts: np.ndarray = corpus_token_counts(tokenizer, corpus)[merges_at_sizes(tokenizer)]
    return counts


def counts_of_training(trace: MergeTrace) -> np.ndarray:
    """Tokens of the training text after each merge, from none on, int64[n_merges + 1].

    >>> from bpe_core import Trainer
    >>> counts_of_training(Trainer(258).train("aaabdaaabac").trace).tolist()
    [11, 9, 7]
    """
    return np.append(trace.initial_tokens, trace.corpus_tokens)


def full_size(tokenizer: Tokenizer, text: str) -> tuple[int, int]:
    """Tokens and bytes of a text with all merges; special tokens are in neither.

    >>> from bpe_core import Trainer
    >>> full_size(Trainer(258, ["<|x|>"]).train("abab").tokenizer, "abab<|x|>ab")
    (3, 6)
    """
    specials = {i: len(utf8(token)) for token, i in tokenizer.special_tokens.items()}
    ids = tokenizer.encode_to_array(text)
    found = ids[np.isin(ids, list(specials))].tolist() if specials else []
    return len(ids) - len(found), len(utf8(text)) - sum(specials[i] for i in found)


def bytes_per_token(n_bytes: int, token_counts: np.ndarray) -> np.ndarray:
    """Compression as bytes per token, float64, higher is denser; nan where there is no token.

    >>> bytes_per_token(8, np.array([8, 4, 2])).tolist()
    [1.0, 2.0, 4.0]
    """
    counts = np.asarray(token_counts, np.float64)
    unknown = np.full(counts.shape, np.nan)
    ratios: np.ndarray = np.divide(n_bytes, counts, out=unknown, where=counts > 0)
    return ratios


# --------------------------------------------------------------------------- curves


class Reading(NamedTuple):
    """What a curve says at `size`: bytes per token, tokens, and what another size gains.

    `gain` is what going on to `other` gains, or, at the end of the curve, what coming from it
    has gained, as a share (0.09 for 9 %). `short` says that the curve ends before the size that
    was asked for, `only` that the tokenizer has this one size.
    """

    size: int
    bytes_per_token: float
    tokens: int
    other: int
    gain: float
    short: bool
    only: bool = False


@dataclass(frozen=True, eq=False)
class CompressionCurve:
    """Tokens of one text at every vocabulary size of a tokenizer.

    counts int64[n], at n sizes of which the last one is `largest`; `n_bytes` of the text. Special
    tokens are in neither. `only` where the tokenizer has one size, whatever its merges.

    >>> curve = CompressionCurve(np.array([80, 40, 20, 10]), 80, 259)
    >>> curve.sizes.tolist(), curve.values.tolist()
    ([256, 257, 258, 259], [1.0, 2.0, 4.0, 8.0])
    """

    counts: np.ndarray
    n_bytes: int
    largest: int
    only: bool = False

    @classmethod
    def of(cls, tokenizer: Tokenizer, text: str) -> CompressionCurve:
        """The curve of a text; one point where not `sizes.has_curve`.

        >>> from bpe_core import Trainer
        >>> CompressionCurve.of(Trainer(258).train("aaab").tokenizer, "aaab").counts.tolist()
        [4, 3, 2]
        """
        if has_curve(tokenizer):
            return cls.of_counts(tokenizer, counts_at_sizes(tokenizer, text))
        return cls.of_full_size(tokenizer, *full_size(tokenizer, text))

    @classmethod
    def of_counts(cls, tokenizer: Tokenizer, counts: np.ndarray) -> CompressionCurve:
        """The curve of a text with these `counts_at_sizes`; the first is that of its bytes."""
        return cls(counts, int(counts[0]), tokenizer.vocab_size)

    @classmethod
    def of_full_size(cls, tokenizer: Tokenizer, tokens: int, n_bytes: int) -> CompressionCurve:
        """The one point of a tokenizer that has one size, from what `full_size` gives."""
        return cls(np.array([tokens]), n_bytes, tokenizer.vocab_size, only=True)

    @property
    def smallest(self) -> int:
        """The first of the sizes."""
        return self.largest + 1 - len(self.counts)

    @functools.cached_property
    def sizes(self) -> np.ndarray:
        """Vocabulary size at each of the counts, int64[n]."""
        return np.arange(self.smallest, self.largest + 1)

    @functools.cached_property
    def values(self) -> np.ndarray:
        """Bytes per token at each of the counts, float64[n]."""
        return bytes_per_token(self.n_bytes, self.counts)

    def reading(self, size: int) -> Reading:
        """What the curve says at a size, or at its nearer end if it does not go so far.

        The gain is that of doubling the size, or of what is left of the curve. At the end it is
        that of the last 100 entries; of a shorter curve, of its second half.

        >>> curve = CompressionCurve(np.array([80, 40, 20, 10]), 80, 259)
        >>> at = curve.reading(256)
        >>> at.bytes_per_token, at.other, at.gain
        (1.0, 259, 7.0)
        """
        first, end, values = self.smallest, self.largest, self.values
        at = min(max(size, first), end)
        k = at - first
        other = min(2 * at, end) if at < end else max((at + first) // 2, end - 100, first)
        ratio = float(values[other - first] / values[k])
        gain = ratio - 1 if at < end else 1 / ratio - 1
        return Reading(at, float(values[k]), int(self.counts[k]), other, gain, at < size, self.only)
