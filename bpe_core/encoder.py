"""The encode kernels with what they keep from text to text.

Belongs here: `Encoder`, which cuts, looks up and merges the text between special tokens, and the
sizes of what it writes to. Does not belong here: which tables and ids a tokenizer has
(`model.py`, `tokenizer.py`), and the kernels themselves.
"""

from __future__ import annotations

import sys

import numpy as np

from . import kernels
from .kernels.layout import (
    BATCH,
    ENDS_ROOM,
    ROOM,
    SHORT,
    SLACK,
    Batch,
    Cache,
    Code,
    MergeRanks,
    Scratch,
)
from .pretokenize import SCANNED, Scanner

FIRST_ROWS = 1 << 11  # of the cache: enough for a prompt, and near at hand
MOST_ROWS = 1 << 19  # 42 MB an encoder
FIRST_IDS = 1 << 12  # ids for which there is room at first, besides one for three bytes
KEPT_SCRATCH = 1 << 16  # bytes of a pre-token whose scratch is kept


def read_only(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """The same arrays, not to be written to: kernels are declared for such."""
    views = tuple(array.view() for array in arrays)
    for view in views:
        view.flags.writeable = False
    return views


def new_scratch(n: int) -> Scratch:
    """Arrays in which the kernels merge a pre-token of up to n bytes."""
    n = max(n, SHORT + 2)
    token, rank, begin, after, before = (np.empty(n, np.int32) for _ in range(5))
    return Scratch(token, rank, begin, after, before, np.empty(2 * n + 2, np.int64))


def new_cache(rows: int) -> Cache:
    """An empty cache of pre-tokens for the encode kernel, of 80 bytes a row; a power of two."""
    ring = np.empty(16 * rows + SLACK, np.uint8)
    # Few pre-tokens a row: those that find no room in theirs cost more.
    full = rows // 4 if rows < MOST_ROWS else sys.maxsize
    return Cache(_aligned_zeros(8 * rows), ring, np.array([0, 0, full]))


def new_batch() -> Batch:
    """Where the encode kernel keeps the keys of the pre-tokens that it looks up together."""
    return Batch(np.empty(4 * BATCH, np.uint64), np.empty(BATCH + 2, np.int64))


class Encoder:
    """The encode kernel with what it keeps from text to text: cache of pre-tokens and scratch.

    Of bounded size, whatever is encoded. Not for two threads at once.
    """

    def __init__(self, ranks: MergeRanks, ids: np.ndarray) -> None:
        """`ranks` are a model's, `ids` the ids of its tokens, uint32."""
        self._ranks = ranks
        self._ids = ids
        self._cache = new_cache(FIRST_ROWS)
        self._batch = new_batch()
        self._scanners: dict[int, Scanner] = {}
        self._ends = np.empty(SCANNED + ENDS_ROOM, np.int64)
        self._scratch = new_scratch(0)

    def encode(
        self,
        scheme: int,
        data: np.ndarray,
        bounds: np.ndarray,
        specials: np.ndarray,
        ends: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ids of segments of `data`, uint32[n], and their number up to each one's end, int64.

        Segment k is data[bounds[2k]:bounds[2k + 1]], after it comes the id specials[k] unless
        that is -1. Pre-tokens end at `ends` where `scheme` is 0.
        """
        counts = np.empty(specials.size, np.int64)
        # As encode_segments says: segment, place, end, ids, ends, bytes wanted.
        state = np.array([0, -1, 0, 0, ends.size, 0], np.int64)
        if scheme:
            ends = self._ends
            self._scan_more(scheme, data, bounds, state)
        # The ids are written where they stay: the array grows and shrinks in its place.
        out = np.empty(min(data.size, data.size // 3 + FIRST_IDS) + ROOM, np.uint32)
        while True:
            code = kernels.encode_segments(
                data, bounds, specials, ends, self._batch, self._ranks, self._ids, self._cache,
                self._scratch, out, counts, state,
            )  # fmt: skip
            used, size = int(state[3]), int(state[5])
            if code == Code.DONE:
                break
            if code == Code.MORE_ENDS:
                if not scheme:
                    raise ValueError("the pre-tokens end before the text does")
                self._scan_more(scheme, data, bounds, state)
                continue
            if code == Code.CACHE_FULL:
                rows = self._cache.rows.size // 8  # of eight words
                larger = new_cache(min(4 * rows, MOST_ROWS))
                kernels.carry_over(self._cache, larger)
                larger.head[:2] = self._cache.head[:2]
                self._cache = larger
                continue
            if size > self._scratch.token.size:
                self._scratch = new_scratch(max(size, 2 * self._scratch.token.size))
            if used + size + ROOM > out.size:
                out.resize(max(used + size, 3 * used // 2) + ROOM, refcheck=False)
        if self._scratch.token.size > KEPT_SCRATCH:  # a huge pre-token: most never come again
            self._scratch = new_scratch(0)
        out.resize(used, refcheck=False)
        return out, counts

    def _scan_more(
        self, scheme: int, data: np.ndarray, bounds: np.ndarray, state: np.ndarray
    ) -> None:
        """Cut the next stretch of the segments into pre-tokens, from where `state` says on."""
        state[2] = 0
        if scheme not in self._scanners:
            self._scanners[scheme] = Scanner(scheme)
        state[4] = self._scanners[scheme].scan(data, bounds, self._ends, state)


def _aligned_zeros(n: int) -> np.ndarray:
    """uint64[n] that begins at a cache line."""
    array = np.zeros(n + 8, np.uint64)
    first = -(array.ctypes.data // 8) % 8
    return array[first : first + n]
