"""What kernels and their callers both name: codes, sizes, class bits, places in state arrays.

Belongs here: numbers and groups of arrays, without numba, so that callers can import them at no
cost. Does not belong here: code that runs over them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

NEVER = 2**31 - 1  # the rank of a boundary that no merge erases


class Code(IntEnum):
    """What a kernel tells its caller; one set for all, so that no code means two things.

    A GROW code comes before the step has changed the text. NO_ROOM, MORE_ENDS and CACHE_FULL leave
    a place from which the next call goes on.
    """

    DONE = 0  # all that was asked for
    # of training
    NO_PAIRS = 1
    BELOW_MINIMUM = 2
    GROW_RECORDS = 3
    GROW_PLACES = 4
    GROW_GATHER = 5
    # of what takes the ends of pre-tokens
    NO_ROOM = 6
    MORE_ENDS = 7
    CACHE_FULL = 8


# Character classes, one bit each (the table is made in pretokenize.py).
LETTER = 1
NUMBER = 2
SPACE = 4
UPPER = 8  # what o200k has first in a word: capitals, letters without case, combining marks
LOWER = 16  # ... and after them: small letters, letters without case, combining marks

# Scanners, by number. 0: none, `regex` does the cutting.
GPT2 = 1
CL100K = 2
O200K = 3
WHITESPACE = 4

# Scanning works on a window of text at a time.
WINDOW = 1 << 12  # bytes
COLUMNS = 16  # sets of bytes, named in scan.py
SETS_SIZE = COLUMNS * (WINDOW // 64 + 3)
TEXT_SIZE = WINDOW + 128  # bytes of a window with what may be read beyond it
ENDS_ROOM = WINDOW + 8  # room for the ends of a window; they are written by eights

# Tie rules, in the order of trainer.TIE_BREAKS. What each one says: reference.winning_order,
# incremental.train, and _beats in train.py.
GREATEST_BYTES = 0
LOWEST_IDS = 1

HISTOGRAM_SIZE = 1 << 16  # pair counts below this are tallied exactly

SHORT_KEY = 15  # bytes of a pre-token that is its own key
SHORT = 62  # bytes of a pre-token that is merged the simple way: 64 bits, one at each end
LONGEST_KEY = 255  # bytes of the longest pre-token that the cache takes
BATCH = 128  # pre-tokens that are looked up together
ROOM = 12  # ids that may be written beyond those that are wanted
SLACK = 16  # bytes that may be read beyond the ring

# Words of 64 bits, for sets of bytes and keys; numba makes int64 of a bare number.
ZERO = np.uint64(0)
ONE = np.uint64(1)
TWO = np.uint64(2)
TOP_BIT = np.uint64(63)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


# ------------------------------------------------------------------ groups of arrays
#
# What belongs together goes into kernels together. The sizes are the callers' business.


class PretokenTable(NamedTuple):
    """Distinct pre-tokens with their counts, see count.py."""

    rows: np.ndarray  # uint64[4 * size]
    offsets: np.ndarray  # int64
    arena: np.ndarray  # uint8
    state: np.ndarray  # int64: pre-tokens, bytes of the arena in use, length without room


class Window(NamedTuple):
    """Where a stretch of text is scanned, see scan.py."""

    text: np.ndarray  # uint8[TEXT_SIZE]
    kinds: np.ndarray  # uint8[TEXT_SIZE]: class bits of the bytes of characters beyond ASCII
    sets: np.ndarray  # uint64[SETS_SIZE]


class Limits(NamedTuple):
    """What a training may do."""

    goal: int  # merges
    min_count: int
    tie: int  # GREATEST_BYTES or LOWEST_IDS
    max_size: int  # bytes of a token


class Tokens(NamedTuple):
    """The tokens of a training. Token t is raw[place[t]:place[t] + size[t]]."""

    size: np.ndarray  # int32
    prefix: np.ndarray  # uint64: the first eight bytes, the first one on top
    place: np.ndarray  # int64: a cell at which it stands, or once stood
    raw: np.ndarray  # uint8: the byte of each cell


class Records(NamedTuple):
    """The pairs of a training, a record of half a cache line each, and where they stand.

    Record p is wide[4 * p:4 * p + 4] and, in the same memory, narrow[8 * p:8 * p + 8].
    """

    wide: np.ndarray  # int64: COUNT, START
    narrow: np.ndarray  # int32: LEFT, RIGHT, SIZE, STAMP
    places: np.ndarray  # int32: two numbers a place, its cell and its tag (see train.py)


class Heap(NamedTuple):
    """Pairs with the count that each had when last looked at, the best one first."""

    counts: np.ndarray  # int64
    pairs: np.ndarray  # int32


class Top(NamedTuple):
    """The best few pairs in order, with their counts; `frontier` is what the search needs."""

    pairs: np.ndarray  # int32
    counts: np.ndarray  # int64
    frontier: np.ndarray  # int32


class Tally(NamedTuple):
    """How many pairs have each small count, and what a step changed of the counts."""

    histogram: np.ndarray  # int32[HISTOGRAM_SIZE]
    touched: np.ndarray  # int32: pairs
    before: np.ndarray  # int64: their counts before the step


class NewPlaces(NamedTuple):
    """The places of the pairs that come up in one step, in the order in which they do."""

    pair: np.ndarray  # int32
    place: np.ndarray  # int32: as in Records.places
    # memo[2 * t] is the latest pair (t, new), memo[2 * t + 1] the latest (new, t), with the token
    # that was then new; records of earlier steps are stale.
    memo: np.ndarray  # int32


class Trace(NamedTuple):
    """What is recorded of each merge, a row a step; the columns of `merge_trace.MergeTrace`.

    Another column is made here, filled in steps 3 or 7 of `train_merges`, and stands in
    `trainer._empty_trace`, `merge_trace.py`, `reference.Step` and `incremental.py`.
    """

    left: np.ndarray  # int32
    right: np.ndarray  # int32
    new: np.ndarray  # int32
    pair_count: np.ndarray  # int64
    merged: np.ndarray  # int64
    corpus_tokens: np.ndarray  # int64
    n_pairs: np.ndarray  # int64
    n_tied: np.ndarray  # int64
    cand_left: np.ndarray  # int32, 2-d
    cand_right: np.ndarray  # int32, 2-d
    cand_count: np.ndarray  # int64, 2-d


# What the state of a training holds, int64.
N_MERGES = 0
N_RECORDS = 1
N_PAIRS = 2  # records of pairs that occur
N_PLACES = 3
N_TOKENS = 4  # corpus tokens
N_HEAP = 5
THRESHOLD = 6  # the least count in the heap; 0: there is no heap yet
N_TOP = 7
# The bound, a pair with the count it had then: no pair outside `top` comes before it.
BOUND_COUNT = 8
BOUND_PAIR = 9
STATE_SIZE = 10


class MergeRanks(NamedTuple):
    """The merges of a model as the encode kernels look them up; made by `model.MergeTable`.

    The arrays are read-only, which is part of the declared types.
    """

    n_merges: int  # ranks from here on do not count
    id_of_byte: np.ndarray  # int32[256]
    made: np.ndarray  # int32: the token that each merge makes
    pairs: np.ndarray  # int64: hash table from a pair to its rank, see merge.py
    byte_ranks: np.ndarray  # int32[65536]: the rank of a pair of bytes


class Scratch(NamedTuple):
    """Where a pre-token is merged: one item for each of its bytes, two of the last one."""

    token: np.ndarray  # int32
    rank: np.ndarray  # int32
    begin: np.ndarray  # int32
    after: np.ndarray  # int32
    before: np.ndarray  # int32
    heap: np.ndarray  # int64


class Cache(NamedTuple):
    """The cache of pre-tokens, see encode.py."""

    rows: np.ndarray  # uint64
    ring: np.ndarray  # uint8
    head: np.ndarray  # int64: where the ring ends, pre-tokens put in, with how many it is full


class Batch(NamedTuple):
    """The pre-tokens that are looked up together."""

    entries: np.ndarray  # uint64[4 * BATCH]
    long: np.ndarray  # int64[BATCH + 2]
