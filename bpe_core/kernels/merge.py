"""The merges inside a pre-token, and the tables that say which pairs merge.

A short pre-token is merged by looking for the lowest rank again after each merge: quadratic, but
without branches on what is random. A long one uses a heap of (rank, place) and a linked list, so a
pre-token of a million letters takes n log n.

`MergeRanks.pairs` is a hash table from a pair of tokens to its rank. A row is a cache line: four
keys (-1: free), filled in order, and their four ranks; where a row is full the next one follows.
Pairs of bytes have a table of their own as well.

Belongs here: one pre-token at a time; what ranks say of tokens. Does not belong here: finding a
pre-token that was met before (`encode.py`).
"""

import numpy as np

from .compiling import (
    I32,
    I64,
    U8,
    boolean,
    group,
    i32,
    i64,
    inline,
    int64,
    kernel,
    part,
    void,
)
from .keys import long_key, mix, same_bytes, short_key
from .layout import NEVER, SHORT, SHORT_KEY, MergeRanks, Scratch
from .machine import get, leading_zeros, put, trailing_zeros

NONE = -1  # a token that merges with nothing
NO_KEY = NEVER << 6

RANKS = group(MergeRanks, int64, I32, I32, I64, I32)
SCRATCH = group(Scratch, i32, i32, i32, i32, i32, i64)


@inline(int64(int64, int64))
def _pair_key(a, b):
    return (np.int64(a) << 32) | (np.int64(b) & 0xFFFFFFFF)


@inline(int64(I64, int64))
def _pair_row(pairs, key):
    h = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    h ^= h >> np.uint64(32)
    return np.int64(h << np.uint64(3)) & (pairs.size - 8)


@kernel(void(I32, I32, i64, i32))
def fill_ranks(left, right, pairs, byte_ranks):
    """Tables from a pair to its rank; of a pair given twice the first rank holds."""
    for r in range(left.size):
        key = _pair_key(left[r], right[r])
        row = _pair_row(pairs, key)
        k = 0
        while pairs[row + k] >= 0 and pairs[row + k] != key:
            k += 1
            if k == 4:
                k = 0
                row = (row + 8) & (pairs.size - 8)
        if pairs[row + k] < 0:
            pairs[row + k] = key
            pairs[row + 4 + k] = r
            if left[r] < 256 and right[r] < 256:
                byte_ranks[left[r] * 256 + right[r]] = r


@inline(int64(int64, int64, RANKS))
def _rank(a, b, ranks):
    """Rank of a pair; a row is compared as a whole, since which key it is, is random."""
    pairs = ranks.pairs
    key = _pair_key(a, b)
    row = _pair_row(pairs, key)
    while True:
        last = get(pairs, row + 3)
        r = np.int64(NEVER)
        for k in range(4):
            known = get(pairs, row + 4 + k)
            r = known if get(pairs, row + k) == key else r
        if r != NEVER or last < 0:
            break
        row = (row + 8) & (pairs.size - 8)
    return r if r < ranks.n_merges else np.int64(NEVER)


@inline(int64(i64, int64))
def _least_of_8(keys, i):
    a = min(get(keys, i), get(keys, i + 1))
    b = min(get(keys, i + 2), get(keys, i + 3))
    c = min(get(keys, i + 4), get(keys, i + 5))
    d = min(get(keys, i + 6), get(keys, i + 7))
    return min(min(a, b), min(c, d))


@inline(int64(U8, int64, int64, RANKS, SCRATCH, i32, boolean))
def merge_short(buf, start, n, ranks, scratch, joins, write):
    """Merge n <= SHORT bytes; their tokens are left in scratch.token, return how many.

    While merging, place 1 + i is that of byte i; at both ends stand tokens that merge with
    nothing. Bit p of `live` says that a token begins at place p; keys[p] is the rank of
    its pair with the next one, and p in the lowest six bits. With `write`, joins[k] becomes the
    rank that erased the boundary between bytes k and k + 1 of `buf`.
    """
    sym = scratch.token
    keys = scratch.heap
    byte_ranks = ranks.byte_ranks
    sym[0] = NONE
    for i in range(n):
        put(sym, i + 1, get(ranks.id_of_byte, np.int64(get(buf, start + i))))
    put(sym, n + 1, np.int32(NONE))
    for i in range(1, n):
        r = np.int64(get(byte_ranks, (np.int64(get(sym, i)) << 8) + np.int64(get(sym, i + 1))))
        put(keys, i, (r << 6) + i if r < ranks.n_merges else np.int64(NO_KEY))
    keys[0] = NO_KEY
    for k in range(8):
        put(keys, max(n, 1) + k, np.int64(NO_KEY))
    one = np.uint64(1)
    live = (one << np.uint64(n + 1)) | ((one << np.uint64(n + 1)) - one)
    while True:
        best = np.int64(NO_KEY)
        for i in range(0, n, 8):
            best = min(best, _least_of_8(keys, i))
        if best == NO_KEY:
            break
        at = best & 63
        # To the right: j, which is taken in, then k. To the left: i.
        right = live >> np.uint64(at + 1)
        j = at + 1 + np.int64(trailing_zeros(right))
        k = at + 1 + np.int64(trailing_zeros(right & (right - one)))
        i = 63 - np.int64(leading_zeros(live & ((one << np.uint64(at)) - one)))
        live ^= one << np.uint64(j)
        token = np.int64(get(ranks.made, best >> 6))
        if write:
            joins[start + j - 2] = best >> 6
        r = _rank(np.int64(get(sym, i)), token, ranks)
        put(keys, i, (r << 6) + i if r != NEVER else np.int64(NO_KEY))
        r = _rank(token, np.int64(get(sym, k)), ranks)
        put(keys, at, (r << 6) + at if r != NEVER else np.int64(NO_KEY))
        put(keys, j, np.int64(NO_KEY))
        put(sym, at, np.int32(token))
    n_left = 0
    live &= (one << np.uint64(n + 1)) - np.uint64(2)
    while live != 0:
        i = np.int64(trailing_zeros(live))
        live &= live - one
        put(sym, n_left, get(sym, i))
        n_left += 1
    return n_left


@part(void(i64, int64, int64))
def _heap_push(heap, n, key):
    i = n
    while i > 0:
        p = (i - 1) // 2
        if heap[p] <= key:
            break
        heap[i] = heap[p]
        i = p
    heap[i] = key


@part(int64(i64, int64))
def _heap_pop(heap, n):
    """Take the smallest of n keys off; n - 1 stay."""
    top = heap[0]
    key = heap[n - 1]
    n -= 1
    i = 0
    while True:
        c = 2 * i + 1
        if c >= n:
            break
        if c + 1 < n and heap[c + 1] < heap[c]:
            c += 1
        if heap[c] >= key:
            break
        heap[i] = heap[c]
        i = c
    heap[i] = key
    return top


@part(int64(U8, int64, int64, RANKS, SCRATCH, i32, boolean))
def merge_long(buf, start, n, ranks, scratch, joins, write):
    """Merge any n >= 1 bytes, as `merge_short` does; scratch.begin tells where tokens begin."""
    sym, rank, begin, after, before, heap = scratch
    size = 0
    for i in range(n):
        sym[i] = ranks.id_of_byte[buf[start + i]]
        after[i] = i + 1
        before[i] = i - 1
    for i in range(n - 1):
        r = np.int32(_rank(sym[i], sym[i + 1], ranks))
        rank[i] = r
        if r != NEVER:
            _heap_push(heap, size, (np.int64(r) << 32) | i)
            size += 1
    rank[n - 1] = NEVER
    while size > 0:
        key = _heap_pop(heap, size)
        size -= 1
        r = np.int32(key >> 32)
        i = np.int64(key & 0xFFFFFFFF)
        if rank[i] != r:
            continue
        j = np.int64(after[i])
        if write:
            joins[start + j - 1] = r
        sym[i] = ranks.made[r]
        rank[j] = NEVER
        k = np.int64(after[j])
        after[i] = k
        rank[i] = NEVER
        if k < n:
            before[k] = i
            r = np.int32(_rank(sym[i], sym[k], ranks))
            rank[i] = r
            if r != NEVER:
                _heap_push(heap, size, (np.int64(r) << 32) | i)
                size += 1
        h = np.int64(before[i])
        if h >= 0:
            r = np.int32(_rank(sym[h], sym[i], ranks))
            rank[h] = r
            if r != NEVER:
                _heap_push(heap, size, (np.int64(r) << 32) | h)
                size += 1
    m = 0
    i = np.int64(0)
    while i < n:
        sym[m] = sym[i]
        begin[m] = i
        m += 1
        i = np.int64(after[i])
    return m


# Rank files name no merges, only tokens by rank. What a token is merged from is found by merging
# its own bytes, the pair whose joined bytes are the token of the lowest rank first.


@part(int64(U8, int64, int64))
def _token_hash(data, i, n):
    if n <= SHORT_KEY:
        low, high = short_key(data, i, n)
    else:
        low, high = long_key(data, i, n)
    return np.int64(mix(low, high))


@part(int64(U8, int64, int64, I64, i64))
def _find_token(data, i, n, borders, table):
    """The token that the n bytes from `i` on are, NEVER if none. Slots: see find_parents."""
    mask = table.size - 1
    h = _token_hash(data, i, n)
    row = h & mask
    while True:
        slot = get(table, row)
        if slot == 0:
            return np.int64(NEVER)
        if (slot ^ h) >> 32 == 0:
            t = (slot & 0xFFFFFFFF) - 1
            begin = get(borders, t)
            if get(borders, t + 1) - begin == n and same_bytes(data, i, data, begin, n):
                return t
        row = (row + 1) & mask


@kernel(void(U8, I64, i64, i64, i64, i32, i32))
def find_parents(data, borders, table, at, joined, left, right):
    """Write the two tokens that each token's bytes become before they join; -1 where none do.

    Token t is data[borders[t]:borders[t + 1]]; tokens are told by their place in order of rank,
    each single byte is one. `table`: zeros, a power of two above the number of tokens; `at` and
    `joined` have room for the longest token and one more. Slots hold half a hash and 1 + t.
    """
    n_tokens = borders.size - 1
    mask = table.size - 1
    for t in range(n_tokens):
        begin = get(borders, t)
        h = _token_hash(data, begin, get(borders, t + 1) - begin)
        row = h & mask
        while get(table, row) != 0:
            row = (row + 1) & mask
        put(table, row, ((h >> 32) << 32) | (t + 1))
    for t in range(n_tokens):
        # Part k begins at at[k]; joined[k] is the token that it and the next one are.
        begin = get(borders, t)
        n = get(borders, t + 1) - begin
        for k in range(n + 1):
            put(at, k, begin + k)
        for k in range(n - 1 if n > 2 else 0):
            put(joined, k, _find_token(data, begin + k, 2, borders, table))
        while n > 2:
            best = np.int64(NEVER)
            k = np.int64(0)
            for j in range(n - 1):
                token = get(joined, j)
                k = j if token < best else k
                best = min(best, token)
            if best == NEVER:
                break
            n -= 1
            for j in range(k + 1, n):
                put(at, j, get(at, j + 1))
                put(joined, j, get(joined, j + 1))
            put(at, n, get(at, n + 1))
            for j in range(max(k - 1, 0), min(k + 1, n - 1)):
                begin = get(at, j)
                token = _find_token(data, begin, get(at, j + 2) - begin, borders, table)
                put(joined, j, token)
        left[t] = -1
        right[t] = -1
        if n == 2:
            begin = get(at, 0)
            middle = get(at, 1)
            end = get(at, 2)
            left[t] = _find_token(data, begin, middle - begin, borders, table)
            right[t] = _find_token(data, middle, end - middle, borders, table)


@kernel(void(U8, I64, int64, RANKS, SCRATCH, i32))
def join_pretokens(buf, ends, start, ranks, scratch, joins):
    """Write the rank of each merge onto the boundary that it erases; joins[i] is the boundary
    between buf[i] and buf[i + 1]. The pre-tokens follow each other from `start` on."""
    at = start
    for k in range(ends.size):
        size = ends[k] - at
        if size > SHORT:
            merge_long(buf, at, size, ranks, scratch, joins, True)
        elif size > 1:
            merge_short(buf, at, size, ranks, scratch, joins, True)
        at = ends[k]


@kernel(void(I32, I64, I64, i64))
def tally_joins(joins, borders, weights, histogram):
    """Add each pre-token's weight to the tally of each rank inside it; the last bin is `never`."""
    never = histogram.size - 1
    for w in range(weights.size):
        for i in range(borders[w], borders[w + 1] - 1):
            r = joins[i]
            histogram[r if r < never else never] += weights[w]
