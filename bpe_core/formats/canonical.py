"""The merges that encoding ever does: one for each token that its own bytes lead to.

Belongs here: finding them in a list that may hold others. tiktoken's files hold nothing else, and
with ignore_merges a tokenizer.json means them.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from bpe_core.model import NEVER, BPEModel


def _largest_inside(joins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The largest join rank inside each token, int32[n]; -1 for tokens of one byte.

    `joins` holds the ranks of all boundaries of the tokens laid end to end, int32; `ends` says
    where each token ends, int64[n], none empty.
    """
    every = np.append(joins, np.int32(-1))
    every[ends - 1] = -1
    return np.maximum.reduceat(every, np.append(0, ends[:-1]))


def canonical_merges(model: BPEModel) -> list[tuple[bytes, bytes]]:
    """The merges of `canonical_ranks` as pairs of token bytes, in order."""
    return [model.merges[rank] for rank in canonical_ranks(model)]


def canonical_ranks(model: BPEModel) -> list[int]:
    """The ranks of the merges that encoding ever does, in order.

    One for each token that its own bytes lead to: inside a stretch whose edges no merge
    crosses, merges happen as if the stretch stood alone, so a token comes up from the same two
    parts wherever it comes up. Other merges of a list never happen.
    """
    tokens = model.tokens[256:]
    if tokens and model.out_of_order is None:
        data = np.frombuffer(b"".join(tokens), np.uint8)
        ends = np.cumsum([len(token) for token in tokens], dtype=np.int64)
        joins = np.full(max(data.size - 1, 0), NEVER, np.int32)
        model.join_ranks(data, ends, 0, joins)
        ranks = _largest_inside(joins, ends)
        made = np.append(model.new, -1)[np.minimum(ranks, model.n_merges)]
        return sorted(ranks[made == np.arange(256, model.n_tokens)].tolist())
    ranks_of = {pair: rank for rank, pair in reversed([*enumerate(model.merges)])}
    found = [_last_merge(token, ranks_of) for token in tokens]
    return sorted([rank for rank in found if rank is not None])


def _last_merge(token: bytes, ranks: Mapping[tuple[bytes, bytes], int]) -> int | None:
    """Rank of the merge that makes a token of its own bytes; None where none does."""
    parts = [token[i : i + 1] for i in range(len(token))]
    rank: int = NEVER
    while len(parts) > 1:
        joined = [ranks.get(pair, NEVER) for pair in pairwise(parts)]
        rank = min(joined)
        if rank == NEVER:
            return None
        i = joined.index(rank)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return rank
