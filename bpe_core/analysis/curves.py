"""Measures of a tokenizer on text: curves and numbers, from join ranks and traces.

Belongs here: arithmetic on ranks, counts and sizes. Does not belong here: charts, and
anything that encodes other than through `Tokenizer`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import kernels
from .counting import count_pretokens
from .model import NEVER
from .tokenizer import Tokenizer


def token_counts(join_ranks: np.ndarray, n_merges: int) -> np.ndarray:
    """Tokens of a text after its first k merges, int64[n_merges + 1] for k = 0..n_merges.

    `join_ranks` as `Tokenizer.join_ranks` gives them. The text must not be empty (an empty
    text has no boundary, and neither has one byte: this counts 1 for both).

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
    if not tokenizer.preparation.plain or tokenizer.ignore_merges:
        raise ValueError(
            "this tokenizer normalizes texts, has added tokens with options or takes pre-tokens "
            "whole, so tokens cannot be counted from pre-tokens; encode the text instead"
        )
    counter, _ = count_pretokens(
        corpus, tokenizer.pretokenizer, tokenizer.special_tokens, **options
    )
    n = tokenizer.n_merges
    data, borders = counter.data, counter.offsets
    joins = np.full(max(data.size, 1), NEVER, np.int32)
    tokenizer.model.join_ranks(data, borders[1:], 0, joins)
    histogram = np.zeros(n + 1, np.int64)
    kernels.tally_joins(joins, borders, counter.counts, histogram)
    start = int((np.diff(borders) * counter.counts).sum())
    return start - np.concatenate([[0], np.cumsum(histogram[:n])])


def bytes_per_token(n_bytes: int, token_counts: np.ndarray) -> np.ndarray:
    """Compression as bytes per token, float64, higher is denser; nan where there is no token.

    >>> bytes_per_token(8, np.array([8, 4, 2])).tolist()
    [1.0, 2.0, 4.0]
    """
    counts = np.asarray(token_counts, np.float64)
    return np.divide(n_bytes, counts, out=np.full(counts.shape, np.nan), where=counts > 0)
