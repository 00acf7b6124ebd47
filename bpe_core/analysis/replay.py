"""A corpus cut once, from which its tokens after any number of merges follow.

Belongs here: distinct pre-tokens with the rank that erases each of their boundaries, and what can
be read off them. Does not belong here: what the numbers mean (`curves`, `measures`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from bpe_core import kernels
from bpe_core.counting import count_pretokens
from bpe_core.model import NEVER
from bpe_core.tokenizer import Tokenizer


class Replay:
    """A corpus's distinct pre-tokens with the rank that erased each of their boundaries.

    data uint8[n], the pre-tokens one after the other; borders int64[m + 1] between them; counts
    int64[m], how often each occurs; ranks int32[n], the rank of the merge that joins a byte to the
    next one, NEVER where none does and after a pre-token's last byte.

    From this follows where any token occurred after any number of merges. Raises ValueError for
    a tokenizer whose merges are no history: some imported ones.

    >>> from bpe_core import Trainer
    >>> replay = Replay(Trainer(258).train("aaabdaaabac").tokenizer, "aaab")
    >>> replay.ranks.tolist()[:3], replay.token_counts().tolist()
    ([0, 1, 2147483647], [4, 3, 2])
    """

    def __init__(self, tokenizer: Tokenizer, corpus: Any, **options: Any) -> None:
        """Corpus and options as for `Trainer.start`; special tokens are borders in it."""
        only_cut = tokenizer.preparation.only_cuts(tokenizer.special_tokens)
        if not only_cut or tokenizer.ignore_merges:
            raise ValueError(
                "this tokenizer changes texts or takes some pre-tokens whole, so its ranks "
                "cannot be replayed merge by merge; it can still encode and decode"
            )
        counter, _ = count_pretokens(
            corpus, tokenizer.pretokenizer, tokenizer.special_tokens, **options
        )
        self.tokenizer = tokenizer
        self.data = counter.data.copy()
        self.borders = counter.offsets.copy()
        self.counts = counter.counts.copy()
        self.ranks = np.full(self.data.size, NEVER, np.int32)
        tokenizer.model.join_ranks(self.data, self.borders[1:], 0, self.ranks)

    @functools.cached_property
    def pretoken(self) -> np.ndarray:
        """The pre-token that each byte of `data` belongs to, int32[n]."""
        numbers = np.arange(len(self.counts), dtype=np.int32)
        return np.repeat(numbers, np.diff(self.borders))

    def token_counts(self) -> np.ndarray:
        """Tokens of the corpus after its first k merges, int64[n_merges + 1]."""
        n = self.tokenizer.n_merges
        erased = np.zeros(n + 1, np.int64)
        kernels.tally_joins(self.ranks, self.borders, self.counts, erased)
        start = int((np.diff(self.borders) * self.counts).sum())
        return start - np.concatenate([[0], np.cumsum(erased[:n])])

    def histogram(self, n_merges: int) -> np.ndarray:
        """How often each id occurs after the first `n_merges` merges, int64[max id + 1].

        A token ends where the rank is not below `n_merges`; its id is the one that the largest
        rank inside it makes, or its byte's. Special tokens are not counted.

        >>> from bpe_core import Trainer
        >>> replay = Replay(Trainer(258).train("aaabdaaabac").tokenizer, "aaabdaaabac")
        >>> {i: n for i, n in enumerate(replay.histogram(2).tolist()) if n}
        {97: 1, 98: 2, 99: 1, 100: 1, 257: 2}
        """
        histogram = np.zeros(max(self.tokenizer.vocab) + 1, np.int64)
        kept = self.ranks >= n_merges
        ends = np.flatnonzero(kept)
        if not len(ends):
            return histogram
        starts = np.append(0, ends[:-1] + 1)
        top = np.maximum.reduceat(np.where(kept, -1, self.ranks), starts)
        ids = self.tokenizer.byte_ids[self.data[starts]].astype(np.int64)
        merged = top >= 0
        ids[merged] = self.tokenizer.merge_ids[top[merged], 2]
        np.add.at(histogram, ids, self.counts[self.pretoken[starts]])
        return histogram

    def use(self, token: bytes) -> TokenUse:
        """How often a token occurs in the corpus after each number of merges.

        A stretch of bytes is one token from the merge that erases the last boundary inside it
        until the merge that erases a boundary at one of its ends.

        >>> from bpe_core import Trainer
        >>> replay = Replay(Trainer(258).train("aaabdaaabac").tokenizer, "aaabdaaabac")
        >>> replay.use(b"aa").counts.tolist()
        [0, 2, 0]
        """
        starts = find_all(self.data, token)
        inner = np.full(starts.size, -1, np.int32)
        for i in range(len(token) - 1):
            np.maximum(inner, self.ranks[starts + i], out=inner)
        # In front of the first byte comes the entry of the last one, which is NEVER.
        outer = np.minimum(self.ranks[starts - 1], self.ranks[starts + len(token) - 1])
        lived = inner < outer
        starts, inner, outer = starts[lived], inner[lived], outer[lived]
        weights = self.counts[self.pretoken[starts]]
        n = self.tokenizer.n_merges
        change = np.zeros(n + 2, np.int64)
        np.add.at(change, inner + 1, weights)
        gone = outer < NEVER
        np.subtract.at(change, outer[gone] + 1, weights[gone])
        return TokenUse(np.cumsum(change[: n + 1]))


@dataclass(frozen=True, eq=False)
class TokenUse:
    """How often a token occurs in a corpus after k merges, counts int64[n_merges + 1].

    >>> use = TokenUse(np.array([0, 2, 5, 1, 0]))
    >>> use.born, use.at_birth, use.peak, use.most, use.left, use.gone
    (1, 2, 2, 5, 0, 4)
    """

    counts: np.ndarray

    @property
    def ever(self) -> bool:
        """Whether it occurs after any number of merges."""
        return bool(self.counts.any())

    @property
    def born(self) -> int:
        """The first number of merges after which it occurs; 0 for what is there from the start."""
        return int(np.argmax(self.counts > 0))

    @property
    def at_birth(self) -> int:
        """How often it occurs then."""
        return int(self.counts[self.born])

    @property
    def peak(self) -> int:
        """The first number of merges after which it occurs most often."""
        return int(np.argmax(self.counts))

    @property
    def most(self) -> int:
        """How often it occurs then."""
        return int(self.counts[self.peak])

    @property
    def left(self) -> int:
        """How often it occurs after all merges."""
        return int(self.counts[-1])

    @property
    def gone(self) -> int | None:
        """The merge, counted from 1, that took the last one; None where some are left."""
        if self.left or not self.ever:
            return None
        return len(self.counts) - int(np.argmax(self.counts[::-1] > 0))

    def bends(self, most: int) -> np.ndarray:
        """Numbers of merges at which the line of the counts bends, in order, int64[n].

        About `most` of them, evenly chosen where there are more; always the ends, birth and peak.

        >>> TokenUse(np.array([0, 2, 2, 2, 1])).bends(300).tolist()
        [0, 1, 4]
        """
        found = np.flatnonzero(np.diff(self.counts, prepend=-1))
        if len(found) > most:
            found = found[np.linspace(0, len(found) - 1, most).astype(int)]
        return np.union1d(found, [0, self.born, self.peak, len(self.counts) - 1])


def find_all(data: np.ndarray, needle: bytes) -> np.ndarray:
    """Every place where `needle` begins in `data`, uint8[n], overlapping ones too, int64[m].

    >>> find_all(np.frombuffer(b"aaab", np.uint8), b"aa").tolist()
    [0, 1]
    """
    if len(needle) > data.size:
        return np.empty(0, np.int64)
    starts = np.flatnonzero(data[: data.size - len(needle) + 1] == needle[0])
    for i in range(1, len(needle)):
        starts = starts[data[starts + i] == needle[i]]
    return starts
