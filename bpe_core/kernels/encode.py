"""Text to ids: pre-tokens that were met before are looked up, the others are merged.

The cache of pre-tokens. A row is 64 bytes, a cache line, with two slots (*ways*, as in a
processor's cache) of four words each:

    way 0: key | key, number of ids | ids | ids      way 1: key | key, number of ids | ids | ids

A pre-token of up to four ids takes a way. One of five to eight takes the row, its key in the first
way and the rest of its ids in the second. The key of a pre-token of up to 15 bytes is itself (see
keys.py); that of a longer one is its hash and its length, below 2**56. The bytes of a longer one
and its ids stand in `ring`, which is written round and round; so do those of a short pre-token of
nine ids and more. Then the way holds how many ids there are, and where in the ring: a number that
only grows, of which the low bits are the place, so that what was written over can be told.

A pre-token is looked for in its row and in the row beside it, and a new one moves others aside.

A batch has an entry of four words for each pre-token, and one for the end of each segment: two
words of key, row, place in the text. The key of an end is BORDER and 0, as no pre-token's is.

Belongs here: cache, batches, and the loop over them. Does not belong here: merging (`merge.py`).
"""

import numpy as np

from .compiling import (
    I64,
    U8,
    U32,
    boolean,
    group,
    i64,
    inline,
    int64,
    kernel,
    part,
    tuple_of,
    u8,
    u32,
    u64,
    uint64,
    void,
)
from .keys import long_key, short_key, short_key_inside
from .layout import BATCH, LONGEST_KEY, ONE, ROOM, SHORT, SHORT_KEY, SLACK, ZERO, Batch, Cache, Code
from .machine import copy16, get, load64, prefetch, put, store, trailing_zeros
from .merge import RANKS, SCRATCH, merge_long, merge_short

CACHE = group(Cache, u64, u8, i64)
BATCHED = group(Batch, u64, i64)

IN_RING = 15  # as a number of ids: they are in the ring
COUNT_SHIFT = 60
ROW_IDS = 8  # most ids of a pre-token that stand in its row
WAY_IDS = 4
BORDER = 1


@part(int64(U8, I64, I64, u64, BATCHED, i64))
def _hash_batch(buf, bounds, given, rows, batch, state):
    """Write the next entries of the batch and return how many; state[:3] moves on past them.

    The rows are asked for well before they are looked at, so that their cache misses overlap.
    `long` takes the numbers of the long pre-tokens, and of those at the end of `buf`; long[BATCH]
    becomes how many these are, and long[BATCH + 1] the most ids that there can be.
    """
    entries = batch.entries
    long = batch.long
    shift = np.uint64(64) - trailing_zeros(np.uint64(rows.size >> 3))
    segment = state[0]
    at = state[1]
    pretoken = state[2]
    n = 0
    n_long = 0
    most = 0
    while n < BATCH and segment < bounds.size >> 1:
        if at < 0:
            at = get(bounds, 2 * segment)
        start = at
        stop = get(bounds, 2 * segment + 1)
        last = min(BATCH, n + state[4] - pretoken)
        pretoken -= n
        while at < stop and n < last:
            end = get(given, pretoken + n)
            if end - at <= SHORT_KEY and at + 16 <= buf.size:
                low, high = short_key_inside(buf, at, end - at)
                row = 8 * np.int64(_spread(low, high) >> shift)
                prefetch(rows, row)
                put(entries, 4 * n, low)
                put(entries, 4 * n + 1, high)
                put(entries, 4 * n + 2, np.uint64(row))
            else:
                put(entries, 4 * n + 1, np.uint64(end - at))
                put(long, n_long, n)
                n_long += 1
            put(entries, 4 * n + 3, np.uint64(at))
            n += 1
            at = end
        pretoken += n
        most += at - start
        if at < stop or n == BATCH:
            break
        put(entries, 4 * n, np.uint64(BORDER))
        put(entries, 4 * n + 1, np.uint64(0))
        put(entries, 4 * n + 2, np.uint64(0))
        put(entries, 4 * n + 3, np.uint64(at))
        n += 1
        most += 1
        segment += 1
        at = -1
    for k in range(n_long):
        i = 4 * get(long, k)
        begin = np.int64(get(entries, i + 3))
        size = np.int64(get(entries, i + 1))
        if size <= SHORT_KEY:
            low, high = short_key(buf, begin, size)
            put(entries, i + 1, high)
            row = 8 * np.int64(_spread(low, high) >> shift)
        else:
            low, _ = long_key(buf, begin, size)
            row = 8 * np.int64(low >> shift)
        prefetch(rows, row)
        put(entries, i, low)
        put(entries, i + 2, np.uint64(row))
    put(long, BATCH, n_long)
    put(long, BATCH + 1, most)
    state[0] = segment
    state[1] = at
    state[2] = pretoken
    return n


@inline(int64(u64, int64))
def _size(entries, k):
    """Bytes of entry k of a batch; 0 at the end of a segment."""
    high = np.int64(get(entries, 4 * k + 1))
    return high >> 56 if high >> 56 else high


@inline(uint64(uint64, uint64))
def _spread(low, high):
    """A hash of a key, to be taken from the top."""
    return low * np.uint64(0x9E3779B97F4A7C15) + high * np.uint64(0xC2B2AE3D27D4EB4F)


@inline(tuple_of(2, int64)(u64, int64, uint64, uint64))
def _find_way(rows, row, low, high):
    """(the way of a row with this key or else its second one, 1 if it has none)."""
    four = np.uint64(64 - COUNT_SHIFT)
    first = (get(rows, row) ^ low) | ((get(rows, row + 1) ^ high) << four)
    second = (get(rows, row + 4) ^ low) | ((get(rows, row + 5) ^ high) << four)
    not_first = np.int64(first != np.uint64(0))
    return row + 4 * not_first, not_first & np.int64(second != np.uint64(0))


@inline(boolean(U8, int64, U8, int64, int64))
def _same_long(a, i, b, j, n):
    """Whether n >= 16 bytes are the same, compared by sixteen, the last ones once more."""
    last = n - 16
    d = (load64(a, i) ^ load64(b, j)) | (load64(a, i + 8) ^ load64(b, j + 8))
    d |= load64(a, i + last) ^ load64(b, j + last)
    d |= load64(a, i + last + 8) ^ load64(b, j + last + 8)
    k = 16
    while k < last:
        d |= load64(a, i + k) ^ load64(b, j + k)
        k += 8
    return d == np.uint64(0)


@inline(int64(u64, int64))
def _count(rows, way):
    return np.int64(get(rows, way + 1) >> np.uint64(COUNT_SHIFT))


@inline(boolean(u64, int64))
def _is_whole(rows, row):
    """Whether one pre-token takes the whole row."""
    n = _count(rows, row)
    return n > WAY_IDS and n <= ROW_IDS


@inline(void(u64, int64, u64, int64))
def _move_way(target, to, rows, way):
    copy16(target, to, rows, way)
    copy16(target, to + 2, rows, way + 2)


@inline(void(u64, int64))
def _clear_way(rows, way):
    """No key and no ids: what an empty pre-token has, and nothing else."""
    rows[way] = np.uint64(0)
    rows[way + 1] = np.uint64(0)


@part(int64(u64, int64, boolean))
def _make_room(rows, row, whole):
    """The way, or for a pre-token that takes it whole the row, to put a pre-token in.

    A free one if there is, there or in the row beside: what was met first is met most often
    and stays where it is looked for first. If there is none, what is there moves on or is lost.
    """
    beside = row ^ 8
    if whole:
        for r in (row, beside):
            if _count(rows, r) == 0 and _count(rows, r + 4) == 0:
                return r
    else:
        for r in (row, beside):
            if _count(rows, r) == 0:
                return r
            if _count(rows, r + 4) == 0 and not _is_whole(rows, r):
                return r + 4
    if _is_whole(rows, row):
        _clear_way(rows, row + 4)
    elif not whole:
        if not _is_whole(rows, beside):
            _move_way(rows, beside + 4, rows, row + 4)
        _move_way(rows, row + 4, rows, row)
    return row


@inline(void(U8, int64, int64, uint64, uint64, u32, int64, int64, int64, CACHE))
def _keep(buf, at, size, low, high, out, used, n, row, cache):
    """Put a pre-token of `size` bytes with its key and n ids in its row and perhaps in the ring."""
    rows, ring, head = cache
    count = n
    padded = (size + 7) & ~7
    in_ring = size > SHORT_KEY or n > ROW_IDS
    place = head[0]
    head[1] += 1
    if in_ring:
        room = ring.size - SLACK
        need = padded + ((4 * n + 15) & ~15)
        if need > room:
            return
        i = place & (room - 1)
        if i + need > room:  # an entry is never cut in two
            place += room - i
            i = 0
        head[0] = place + need
        for k in range(size):
            ring[i + k] = buf[at + k]
        for k in range(0, n, 4):
            copy16(ring, i + padded + 4 * k, out, used + k)
        count = IN_RING
    row = _make_room(rows, row, count > WAY_IDS and count <= ROW_IDS)
    rows[row] = low
    rows[row + 1] = high | (np.uint64(count) << np.uint64(COUNT_SHIFT))
    if in_ring:
        rows[row + 2] = np.uint64(place)
        rows[row + 3] = np.uint64(n)
        return
    copy16(rows, row + 2, out, used)
    if n > WAY_IDS:
        _clear_way(rows, row + 4)
        copy16(rows, row + 6, out, used + WAY_IDS)


@kernel(void(CACHE, CACHE))
def carry_over(cache, larger):
    """Put what is in a cache into a larger one, which goes on with the same `head`."""
    rows, ring, head = cache
    larger_rows, larger_ring, _ = larger
    room = ring.size - SLACK
    first = max(head[0] - room, 0)
    for place in range(first, head[0], 8):  # entries are of whole words, and not cut in two
        word = load64(ring, place & (room - 1))
        store(larger_ring, place & (larger_ring.size - SLACK - 1), word)
    shift = np.uint64(64) - trailing_zeros(np.uint64(larger_rows.size >> 3))
    key_bits = (ONE << np.uint64(COUNT_SHIFT)) - ONE
    for way in range(0, rows.size, 4):
        row = way & ~7
        whole = _is_whole(rows, row)
        count = _count(rows, way)
        gone = count == IN_RING and np.int64(rows[way + 2]) < first
        if count == 0 or gone or (whole and way > row):
            continue
        h = rows[way]  # of a long pre-token
        if (rows[way + 1] & key_bits) >> np.uint64(56) != ZERO:
            h = _spread(rows[way], rows[way + 1] & key_bits)
        to = _make_room(larger_rows, 8 * np.int64(h >> shift), whole)
        _move_way(larger_rows, to, rows, way)
        if whole:
            _move_way(larger_rows, to + 4, rows, way + 4)


@kernel(int64(U8, I64, I64, I64, BATCHED, RANKS, U32, CACHE, SCRATCH, u32, i64, i64))
def encode_segments(
    buf, bounds, specials, given, batch, ranks, ids, cache, scratch, out, counts, state
):
    """Append the ids of segments of `buf` to `out`, after each the special token's id, if any.

    Segment k is buf[bounds[2 * k]:bounds[2 * k + 1]], specials[k] the id after it or -1, and
    counts[k] becomes the number of ids up to its end. Its pre-tokens end at `given`.
    Returns Code.DONE, or NO_ROOM where a pre-token of state[5] bytes found no room in `out` or
    in the scratch arrays, or MORE_ENDS where those given are used up, or CACHE_FULL where a
    larger cache is due. state: [0] segment, [1] place in it (-1: its start), [2] next one of the
    ends, [3] ids in `out`, [4] number of ends.
    """
    rows, ring, head = cache
    entries = batch.entries
    long = batch.long
    sym = scratch.token
    used = state[3]
    ring_size = ring.size - SLACK
    code = Code.DONE
    while code == Code.DONE:
        if head[1] >= head[2]:
            code = Code.CACHE_FULL
            break
        segment = state[0]
        pretoken = state[2]
        n_all = _hash_batch(buf, bounds, given, rows, batch, state)
        if n_all == 0:
            if segment < specials.size:
                code = Code.MORE_ENDS
            break
        n = n_all
        room = out.size - ROOM - used
        if get(long, BATCH + 1) > room:
            n = 0
            while n < n_all and room >= max(1, _size(entries, n)):
                room -= max(1, _size(entries, n))
                n += 1
        for k in range(get(long, BATCH)):
            i = 4 * get(long, k)
            row = np.int64(get(entries, i + 2))
            way, missing = _find_way(rows, row, get(entries, i), get(entries, i + 1))
            i = np.int64(get(rows, way + 2)) & (ring_size - 1)
            prefetch(ring, i)
            prefetch(ring, i + 64)
        k = 0
        while True:
            # Nearly all pre-tokens: those that stand in their rows.
            while k < n:
                row = np.int64(get(entries, 4 * k + 2))
                way, missing = _find_way(rows, row, get(entries, 4 * k), get(entries, 4 * k + 1))
                count = _count(rows, way)
                if missing != 0 or count > ROW_IDS:
                    break
                copy16(out, used, rows, way + 2)
                copy16(out, used + WAY_IDS, rows, row + 6)
                used += count
                k += 1
            if k == n:
                break
            low = get(entries, 4 * k)
            high = get(entries, 4 * k + 1)
            row = np.int64(get(entries, 4 * k + 2))
            at = np.int64(get(entries, 4 * k + 3))
            if low == BORDER and high == 0:
                if specials[segment] >= 0:
                    out[used] = specials[segment]
                    used += 1
                counts[segment] = used
                segment += 1
                pretoken -= 1
                k += 1
                continue
            size = _size(entries, k)
            way, missing = _find_way(rows, row, low, high)
            if missing != 0:
                way, missing = _find_way(rows, row ^ 8, low, high)
            if missing == 0:
                count = _count(rows, way)
                if count <= ROW_IDS:
                    copy16(out, used, rows, way + 2)
                    copy16(out, used + WAY_IDS, rows, (way & ~7) + 6)
                    used += count
                    k += 1
                    continue
                place = np.int64(get(rows, way + 2))
                i = place & (ring_size - 1)
                if head[0] <= place + ring_size and (
                    size <= SHORT_KEY or _same_long(buf, at, ring, i, size)
                ):
                    count = np.int64(get(rows, way + 3))
                    i += (size + 7) & ~7
                    copy16(out, used, ring, i)
                    for j in range(4, count, 4):
                        copy16(out, used + j, ring, i + 4 * j)
                    used += count
                    k += 1
                    continue
                _clear_way(rows, way)  # written over in the ring, or a pre-token of the same hash
            if size > sym.size:
                break
            if size <= SHORT:
                count = merge_short(buf, at, size, ranks, scratch, sym, False)
            else:
                count = merge_long(buf, at, size, ranks, scratch, sym, False)
            for i in range(count):
                put(out, used + i, get(ids, np.int64(get(sym, i))))
            if size <= LONGEST_KEY:
                _keep(buf, at, size, low, high, out, used, count, row, cache)
            used += count
            k += 1
        if k < n_all:  # the entry k is to be the next one
            state[0] = segment
            state[1] = np.int64(get(entries, 4 * k + 3))
            state[2] = pretoken + k
            if k == 0 or k < n:
                state[5] = max(1, _size(entries, k))
                code = Code.NO_ROOM
    state[3] = used
    return code
