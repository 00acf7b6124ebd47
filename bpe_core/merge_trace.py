"""The trace of a training: what happened at each merge, as columns.

Belongs here: the columns and their ways out. Does not belong here: recording them
(`kernels/train.py`), and what is computed from them (`analysis`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

COLUMNS = (
    "left", "right", "new", "pair_count", "merged", "corpus_tokens", "n_pairs", "n_tied",
)  # fmt: skip
CANDIDATES = ("cand_left", "cand_right", "cand_count")


@dataclass(frozen=True, eq=False)
class MergeTrace:
    """What happened at each merge: one row a step, numpy columns of length n.

    `left, right, new` int32 ids; `pair_count` (adjacent places, overlaps counted), `merged`
    (places replaced), `corpus_tokens` (after the merge), `n_pairs` (distinct pairs before it),
    `n_tied` (pairs with the winner's count, itself included) int64. `cand_left, cand_right`
    int32[n, top_k] and `cand_count` int64[n, top_k]: the best pairs before the merge, winner
    first; -1 and 0 where there were fewer. `initial_tokens` and `corpus_bytes` leave special
    tokens out. Definition: `reference.py`.

    >>> from bpe_core import Trainer
    >>> Trainer(258).train("aaabdaaabac").trace.pair_count
    array([4, 2])
    """

    left: np.ndarray
    right: np.ndarray
    new: np.ndarray
    pair_count: np.ndarray
    merged: np.ndarray
    corpus_tokens: np.ndarray
    n_pairs: np.ndarray
    n_tied: np.ndarray
    cand_left: np.ndarray
    cand_right: np.ndarray
    cand_count: np.ndarray
    initial_tokens: int
    corpus_bytes: int

    def __len__(self) -> int:
        return len(self.left)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, MergeTrace):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)
        )

    def __hash__(self) -> int:
        # Enough to tell them apart; traces that share this are compared in full.
        return hash((len(self), self.corpus_bytes, self.new.tobytes(), self.pair_count.tobytes()))

    def __repr__(self) -> str:
        return f"MergeTrace({len(self):,} merges, {self.corpus_bytes:,} bytes, top_k={self.top_k})"

    @property
    def top_k(self) -> int:
        """How many candidates each step records."""
        return int(self.cand_left.shape[1])

    def __getitem__(self, steps: slice) -> MergeTrace:
        """The rows of some steps, as views; `initial_tokens` and `corpus_bytes` stay."""
        columns = {name: getattr(self, name)[steps] for name in COLUMNS + CANDIDATES}
        return MergeTrace(
            **columns, initial_tokens=self.initial_tokens, corpus_bytes=self.corpus_bytes
        )

    def to_columns(self) -> dict[str, np.ndarray]:
        """The columns by name, for a data frame; candidates as cand_left_1, cand_left_2, ...

        >>> from bpe_core import Trainer
        >>> list(Trainer(257, top_k=1).train("aab").trace.to_columns())[-1]
        'cand_count_1'
        """
        columns = {name: getattr(self, name) for name in COLUMNS}
        for name in CANDIDATES:
            table = getattr(self, name)
            columns |= {f"{name}_{k + 1}": table[:, k] for k in range(self.top_k)}
        return columns
