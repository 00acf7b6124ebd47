"""How often each distinct pre-token occurs: one hash table for a whole corpus.

A row of the table is a distinct pre-token: key (two words), count, 1 + its number (0: an empty
row). The bytes of pre-token w are arena[offsets[w]:offsets[w + 1]].

Belongs here: filling, growing and reading that table. Does not belong here: when it grows and what
is counted (`counting.py`).
"""

import numpy as np

from .compiling import I64, U8, boolean, group, i64, int64, kernel, part, u8, u64, void
from .keys import long_key, mix, same_bytes, short_key, short_key_inside
from .layout import BATCH, ONE, SHORT_KEY, ZERO, Code, PretokenTable
from .machine import get, prefetch, put

TABLE = group(PretokenTable, u64, i64, u8, i64)


@part(boolean(U8, int64, int64, int64, TABLE))
def _add_pretoken(buf, start, stop, weight, table):
    """Add `weight` to one pre-token's count. False: no room, nothing was changed.

    table.state: [0] pre-tokens so far, [1] arena bytes in use, [2] length of the one there was no
    room for.
    """
    rows, offsets, arena, state = table
    length = stop - start
    if length <= SHORT_KEY:
        low, high = short_key(buf, start, length)
    else:
        low, high = long_key(buf, start, length)
    mask = rows.size // 4 - 1
    row = 4 * np.int64(mix(low, high) & np.uint64(mask))
    while True:
        w = np.int64(get(rows, row + 3))
        if w == 0:
            break
        if get(rows, row) == low and get(rows, row + 1) == high and (
            length <= SHORT_KEY
            or (
                offsets[w] - offsets[w - 1] == length
                and same_bytes(buf, start, arena, offsets[w - 1], length)
            )
        ):  # fmt: skip
            put(rows, row + 2, get(rows, row + 2) + np.uint64(weight))
            return True
        row = (row + 4) & (4 * mask)
    w = state[0]
    used = state[1]
    if 8 * (w + 1) > rows.size or w + 1 >= offsets.size or used + length > arena.size:
        state[2] = length
        return False
    for k in range(length):
        arena[used + k] = buf[start + k]
    rows[row] = low
    rows[row + 1] = high
    rows[row + 2] = np.uint64(weight)
    rows[row + 3] = np.uint64(w + 1)
    offsets[w] = used
    offsets[w + 1] = used + length
    state[0] = w + 1
    state[1] = used + length
    return True


@kernel(int64(U8, I64, I64, u64, TABLE, i64))
def count_segments(buf, bounds, ends, batch, table, place):
    """Count the pre-tokens of segments, given their ends as by `scan_segments`.

    Returns Code.DONE, or NO_ROOM (see _add_pretoken), or MORE_ENDS where those given are used up.
    place: [0] segment, [1] place in it (-1: its start), [2] next one of the ends, [3] ends.

    Nearly all of them are short, were met before and stand in the row that their key says. So
    a batch of keys is made and their rows are asked for, and only the others are looked for.
    """
    rows = table.rows
    mask = np.uint64(rows.size // 4 - 1)
    pretoken = place[2]
    at = place[1]
    for segment in range(place[0], bounds.size // 2):
        if at < 0:
            at = bounds[2 * segment]
        stop = bounds[2 * segment + 1]
        while at < stop:
            n = 0
            last = min(BATCH, place[3] - pretoken)
            i = at
            while n < last and i < stop:
                end = get(ends, pretoken + n)
                low, high = ZERO, ONE  # no key is like this
                if i + 16 <= buf.size:
                    low, high = short_key_inside(buf, i, min(end - i, SHORT_KEY))
                row = 4 * np.int64(mix(low, high) & mask)
                prefetch(rows, row)
                put(batch, 3 * n, low)
                put(batch, 3 * n + 1, high)
                put(batch, 3 * n + 2, np.uint64(row))
                i = end
                n += 1
            code = Code.MORE_ENDS if n == 0 else Code.DONE
            for k in range(n):
                end = get(ends, pretoken)
                row = np.int64(get(batch, 3 * k + 2))
                other = get(rows, row) ^ get(batch, 3 * k)
                other |= get(rows, row + 1) ^ get(batch, 3 * k + 1)
                if other == ZERO and end - at <= SHORT_KEY:
                    put(rows, row + 2, get(rows, row + 2) + ONE)
                elif not _add_pretoken(buf, at, end, 1, table):
                    code = Code.NO_ROOM
                    break
                at = end
                pretoken += 1
            if code != Code.DONE:
                place[0] = segment
                place[1] = at
                place[2] = pretoken
                return code
        at = np.int64(-1)
    return Code.DONE


@kernel(int64(U8, I64, I64, int64, TABLE))
def count_given(buf, borders, weights, first, table):
    """Add pre-tokens buf[borders[w]:borders[w+1]] with weights; return the first one not added."""
    n = weights.size
    for w in range(first, n):
        if not _add_pretoken(buf, borders[w], borders[w + 1], weights[w], table):
            return w
    return n


@kernel(void(u64, u64))
def rehash(rows, larger):
    """Move the rows of a table into an empty, larger one."""
    mask = larger.size // 4 - 1
    for row in range(0, rows.size, 4):
        if rows[row + 3] == 0:
            continue
        s = np.int64(mix(rows[row], rows[row + 1]) & np.uint64(mask))
        while larger[4 * s + 3] != 0:
            s = (s + 1) & mask
        for k in range(4):
            larger[4 * s + k] = rows[row + k]


@kernel(void(u64, i64))
def collect_counts(rows, counts):
    """Count of each pre-token, by its number."""
    for row in range(0, rows.size, 4):
        if rows[row + 3] != 0:
            counts[np.int64(rows[row + 3]) - 1] = np.int64(rows[row + 2])
