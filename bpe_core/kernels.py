"""Every compiled function of the engine: arrays in, arrays out.

Belongs here: the inner loops of splitting, counting, training and encoding, compiled by
numba with declared types. Does not belong here: settings, policy, error messages, growth
of arrays. A kernel raises nothing and reads no globals but plain constants; where it
needs more room it returns a code, Python grows the array and calls again, which is also
what makes training resumable. All compiled code stays in this one file, because numba's
disk cache does not notice an edit in another file.

Symbols: inside the engine a token is an index (`bytes` 0..255 in byte order, then one index
for each new token in merge order); ids that users see are mapped on at the edge.
"""

import functools

import numpy as np
from numba import njit, types

jit = functools.partial(njit, cache=True, nogil=True, error_model="numpy")
# For functions that only other kernels call: without the wrappers for Python, and compiled
# once where a signature is given (else anew for each mix of integer widths they are called
# with), a first start takes a third less time.
part = functools.partial(
    jit, no_cpython_wrapper=True, no_cfunc_wrapper=True
)

# Read-only inputs are declared as such: a kernel then takes both kinds of array without
# compiling a second time.
U8 = types.Array(types.uint8, 1, "C", readonly=True)
I32 = types.Array(types.int32, 1, "C", readonly=True)
I64 = types.Array(types.int64, 1, "C", readonly=True)
U32 = types.Array(types.uint32, 1, "C", readonly=True)
u8 = types.uint8[::1]
i32 = types.int32[::1]
i64 = types.int64[::1]
u32 = types.uint32[::1]
u64 = types.uint64[::1]
i32_2d = types.int32[:, ::1]
i64_2d = types.int64[:, ::1]
int32 = types.int32
int64 = types.int64
boolean = types.boolean

NEVER = 2**31 - 1

# Character classes, one bit each (the table is made in pretokenize.py).
LETTER = 1
NUMBER = 2
SPACE = 4

# What a kernel tells its caller.
DONE = 0
NO_PAIRS = 1
BELOW_MINIMUM = 2
GROW_PAIRS = 3
GROW_PLACES = 4
GROW_GATHER = 5

GREATEST_BYTES = 0
LOWEST_IDS = 1

GONE = -2  # a cell inside a token: neither its first nor its last byte
EDGE = -1  # a cell between two pre-tokens
NO_SLOT = -3  # "looked up, there is no such pair"

HISTOGRAM_SIZE = 1 << 16  # pair counts below this are tallied exactly, see _count_tied


# --------------------------------------------------------------------------- scanning


@part
def _class_at(buf, i, classes):
    """(class bits, byte length) of the UTF-8 character at i."""
    b = buf[i]
    if b < 0x80:
        return classes[b], 1
    if b < 0xE0:
        return classes[((b & 0x1F) << 6) | (buf[i + 1] & 0x3F)], 2
    if b < 0xF0:
        cp = ((b & 0x0F) << 12) | ((buf[i + 1] & 0x3F) << 6) | (buf[i + 2] & 0x3F)
        return classes[cp], 3
    cp = ((b & 0x07) << 18) | ((buf[i + 1] & 0x3F) << 12)
    cp |= ((buf[i + 2] & 0x3F) << 6) | (buf[i + 3] & 0x3F)
    return classes[cp], 4


@part
def _run(buf, i, stop, classes, mask, value):
    """End of the run of characters whose class, under `mask`, equals `value`."""
    while i < stop:
        kind, size = _class_at(buf, i, classes)
        if (kind & mask) != value:
            break
        i += size
    return i


@part(int64(U8, int64, int64, boolean))
def _contraction(buf, i, stop, fold):
    """End of a contraction ('s 't 'm 'd 'll 've 're) at the apostrophe i, or i itself."""
    if i + 1 >= stop:
        return i
    a = buf[i + 1]
    if fold and 65 <= a <= 90:
        a += 32
    if a == 115 or a == 116 or a == 109 or a == 100:
        return i + 2
    if i + 2 >= stop:
        return i
    b = buf[i + 2]
    if fold and 65 <= b <= 90:
        b += 32
    if (a == 108 and b == 108) or (a == 118 and b == 101) or (a == 114 and b == 101):
        return i + 3
    if fold and buf[i + 1] == 0xC5 and b == 0xBF:  # U+017F, the long s, folds to s
        return i + 3
    return i


@part(int64(U8, int64, int64, U8))
def _next_gpt2(buf, i, stop, classes):
    b = buf[i]
    if b == 39:
        end = _contraction(buf, i, stop, False)
        if end > i:
            return end
    j = i
    if b == 32 and i + 1 < stop:
        j = i + 1
    kind, size = _class_at(buf, j, classes)
    kind &= LETTER | NUMBER | SPACE
    if kind != SPACE:
        return _run(buf, j + size, stop, classes, LETTER | NUMBER | SPACE, kind)
    # White space: all of the run but its last character where something follows, so that
    # a blank before a word goes with the word.
    last = i
    j = i
    while j < stop:
        kind, size = _class_at(buf, j, classes)
        if not kind & SPACE:
            break
        last = j
        j += size
    if j == stop or last == i:
        return j
    return last


@part(int64(int64, U8, int64, int64, U8))
def _next_end(scheme, buf, i, stop, classes):
    """End of the pre-token that starts at i; `scheme` is that of the pattern (so far only 1)."""
    return _next_gpt2(buf, i, stop, classes)


@jit(int64(int64, U8, int64, int64, U8, i64))
def scan_ends(scheme, buf, start, stop, classes, ends):
    """Write the end of each pre-token of buf[start:stop] into `ends`; return how many."""
    n = 0
    i = start
    while i < stop:
        i = _next_end(scheme, buf, i, stop, classes)
        ends[n] = i
        n += 1
    return n


# --------------------------------------------------------------------------- counting


@part
def _hash(buf, start, stop):
    h = np.uint64(0xCBF29CE484222325)
    for i in range(start, stop):
        h = (h ^ np.uint64(buf[i])) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(29)
    return h


@part
def _same(a, i, b, j, n):
    for k in range(n):
        if a[i + k] != b[j + k]:
            return False
    return True


@part(boolean(U8, int64, int64, int64, i32, u64, i64, i64, u8, i64))
def _add_piece(buf, start, stop, weight, slots, hashes, offsets, counts, arena, state):
    """Add `weight` to one pre-token's count. False: no room, nothing was changed.

    state[0] pre-tokens so far, state[1] arena bytes in use, state[2] length of the one there
    was no room for; offsets[w]..offsets[w+1] are the bytes of pre-token w.
    """
    h = _hash(buf, start, stop)
    mask = slots.size - 1
    s = np.int64(h & np.uint64(mask))
    length = stop - start
    while True:
        w = slots[s]
        if w < 0:
            break
        if hashes[w] == h:
            o = offsets[w]
            if offsets[w + 1] - o == length and _same(buf, start, arena, o, length):
                counts[w] += weight
                return True
        s = (s + 1) & mask
    w = state[0]
    used = state[1]
    if 2 * (w + 1) > slots.size or w + 1 >= offsets.size or used + length > arena.size:
        state[2] = length
        return False
    for k in range(length):
        arena[used + k] = buf[start + k]
    slots[s] = w
    hashes[w] = h
    counts[w] = weight
    offsets[w] = used
    offsets[w + 1] = used + length
    state[0] = w + 1
    state[1] = used + length
    return True


@jit(int64(int64, U8, int64, int64, U8, i32, u64, i64, i64, u8, i64))
def count_scanned(scheme, buf, start, stop, classes, slots, hashes, offsets, counts, arena, state):
    """Split buf[start:stop] and count its pre-tokens; return where it got to (`stop`: all)."""
    i = start
    while i < stop:
        j = _next_end(scheme, buf, i, stop, classes)
        if not _add_piece(buf, i, j, 1, slots, hashes, offsets, counts, arena, state):
            return i
        i = j
    return i


@jit(int64(U8, I64, I64, int64, i32, u64, i64, i64, u8, i64))
def count_given(buf, borders, weights, first, slots, hashes, offsets, counts, arena, state):
    """Add pieces buf[borders[w]:borders[w+1]] with weights; return the first one not added."""
    n = weights.size
    for w in range(first, n):
        if not _add_piece(
            buf, borders[w], borders[w + 1], weights[w],
            slots, hashes, offsets, counts, arena, state,
        ):  # fmt: skip
            return w
    return n


@jit(types.void(u64, int64, i32))
def rehash(hashes, n, slots):
    """Fill an empty, larger slot table from the stored hashes."""
    mask = slots.size - 1
    for w in range(n):
        s = np.int64(hashes[w] & np.uint64(mask))
        while slots[s] >= 0:
            s = (s + 1) & mask
        slots[s] = w


# --------------------------------------------------------------------------- training
#
# The text is one array of cells, a cell per byte, with an EDGE cell between pre-tokens. A
# token's index stands in its first and its last cell, GONE in the cells between: both
# neighbors of a token are then found without any list, the previous one by its last cell.
#
# Training never spells a token twice. The history inside a stretch of text that ends up as one
# token depends on its bytes alone: no token crossed its borders, places of a pair of two
# different tokens cannot overlap, and a run of one token that is paired off across a border
# would have left a token over it. So each merge makes a new token, number 256 + step, and all
# places of a pair (a, b) come into being in the step that makes the younger of the two: a
# pair's places are one stretch of `places`. A place is checked when it is used, so nothing has
# to be taken out of a list when a neighbor changes.
#
# The heap holds one entry per pair record with the count it had when last looked at. Counts
# only fall, so a stored count is an upper bound, and an entry is put right when it comes up.


@part(int64(int64, int64, i32, u64, i64, u8))
def _cmp_tokens(a, b, token_size, token_prefix, token_place, cells_raw):
    """Compare two tokens' bytes: negative, zero or positive."""
    if a == b:
        return 0
    if token_prefix[a] != token_prefix[b]:
        return 1 if token_prefix[a] > token_prefix[b] else -1
    na = token_size[a]
    nb = token_size[b]
    n = min(na, nb)
    if n > 8:
        i = token_place[a]
        j = token_place[b]
        for k in range(8, n):
            x = cells_raw[i + k]
            y = cells_raw[j + k]
            if x != y:
                return 1 if x > y else -1
    return na - nb


@part(boolean(int64, int64, int64, int64, int64, i32, i32, i32, u64, i64, u8))
def _beats(
    count_a, a, count_b, b,
    tie, left, right, token_size, token_prefix, token_place, cells_raw,
):  # fmt: skip
    """Does pair record `a` with its count come before `b`? Pairs that are gone never do."""
    if count_a != count_b:
        return count_a > count_b
    if count_a <= 0:
        return False
    if tie == LOWEST_IDS:
        if left[a] != left[b]:
            return left[a] < left[b]
        return right[a] < right[b]
    c = _cmp_tokens(left[a], left[b], token_size, token_prefix, token_place, cells_raw)
    if c != 0:
        return c > 0
    c = _cmp_tokens(right[a], right[b], token_size, token_prefix, token_place, cells_raw)
    return c > 0


@part(types.void(int64, int64, i64, i32, int64, i32, i32, i32, u64, i64, u8))
def _sift_down(
    i, n, heap_count, heap_pair,
    tie, left, right, token_size, token_prefix, token_place, cells_raw,
):  # fmt: skip
    count = heap_count[i]
    pair = heap_pair[i]
    while True:
        c = 2 * i + 1
        if c >= n:
            break
        if c + 1 < n and _beats(
            heap_count[c + 1], heap_pair[c + 1], heap_count[c], heap_pair[c],
            tie, left, right, token_size, token_prefix, token_place, cells_raw,
        ):  # fmt: skip
            c += 1
        if not _beats(
            heap_count[c], heap_pair[c], count, pair,
            tie, left, right, token_size, token_prefix, token_place, cells_raw,
        ):  # fmt: skip
            break
        heap_count[i] = heap_count[c]
        heap_pair[i] = heap_pair[c]
        i = c
    heap_count[i] = count
    heap_pair[i] = pair


@part(types.void(int64, int64, int64, i64, i32, int64, i32, i32, i32, u64, i64, u8))
def _push(
    count, pair, n, heap_count, heap_pair,
    tie, left, right, token_size, token_prefix, token_place, cells_raw,
):  # fmt: skip
    i = n
    while i > 0:
        p = (i - 1) // 2
        if not _beats(
            count, pair, heap_count[p], heap_pair[p],
            tie, left, right, token_size, token_prefix, token_place, cells_raw,
        ):  # fmt: skip
            break
        heap_count[i] = heap_count[p]
        heap_pair[i] = heap_pair[p]
        i = p
    heap_count[i] = count
    heap_pair[i] = pair


@part(int64(int64, i32, i32, int64, i64, i32, i64, int64, i32, i32, i32, u64, i64, u8))
def _top(
    k, found, frontier, n, heap_count, heap_pair, pair_count,
    tie, left, right, token_size, token_prefix, token_place, cells_raw,
):  # fmt: skip
    """The k best pairs, best first, into `found`; return how many there are.

    Walks the heap from its root, always going on at the best entry seen. An entry whose
    stored count is stale is put right first, which only moves entries below it.
    """
    if n == 0:
        return 0
    frontier[0] = 0
    waiting = 1
    got = 0
    while waiting > 0 and got < k:
        b = 0
        for f in range(1, waiting):
            if _beats(
                heap_count[frontier[f]], heap_pair[frontier[f]],
                heap_count[frontier[b]], heap_pair[frontier[b]],
                tie, left, right, token_size, token_prefix, token_place, cells_raw,
            ):  # fmt: skip
                b = f
        i = frontier[b]
        pair = heap_pair[i]
        count = pair_count[pair]
        if count != heap_count[i]:
            heap_count[i] = count
            _sift_down(
                i, n, heap_count, heap_pair,
                tie, left, right, token_size, token_prefix, token_place, cells_raw,
            )  # fmt: skip
            continue
        if count <= 0:
            break
        found[got] = pair
        got += 1
        waiting -= 1
        frontier[b] = frontier[waiting]
        c = 2 * i + 1
        if c < n:
            frontier[waiting] = c
            waiting += 1
        if c + 1 < n:
            frontier[waiting] = c + 1
            waiting += 1
    return got


@part(int64(int64, int64, i64, i32, i64, i32, i32))
def _count_tied(count, n, heap_count, heap_pair, pair_count, histogram, stack):
    """How many pairs have exactly the winner's count.

    Small counts are tallied as they change; among large ones ties are rare, so the top of
    the heap is walked (every stored count there is at most `count`).
    """
    if count < HISTOGRAM_SIZE:
        return np.int64(histogram[count])
    tied = 0
    stack[0] = 0
    depth = 1
    while depth > 0:
        depth -= 1
        i = stack[depth]
        if heap_count[i] < count:
            continue
        if pair_count[heap_pair[i]] == count:
            tied += 1
        c = 2 * i + 1
        if c + 1 < n:
            stack[depth] = c + 1
            depth += 1
        if c < n:
            stack[depth] = c
            depth += 1
    return tied


@part(int64(i32, i32, i32, int64, int64))
def _find_slot(slots, left, right, a, b):
    """Slot of pair (a, b): where it stands, or the empty one where it would."""
    h = (np.uint64(a) * np.uint64(0x9E3779B97F4A7C15)) ^ (
        np.uint64(b) * np.uint64(0xC2B2AE3D27D4EB4F)
    )
    h ^= h >> np.uint64(32)
    mask = slots.size - 1
    s = np.int64(h & np.uint64(mask))
    while slots[s] >= 0 and (left[slots[s]] != a or right[slots[s]] != b):
        s = (s + 1) & mask
    return s


@jit(types.void(i32, i32, i32, int64))
def refill_slots(slots, left, right, n):
    """Fill an empty pair table."""
    for pair in range(n):
        s = _find_slot(slots, left, right, left[pair], right[pair])
        slots[s] = pair


@jit(types.void(U8, I64, I64, int64, U8, u8, i32, i32, i64))
def lay_out(arena, offsets, counts, n_words, id_of_byte, cells_raw, cells, cell_word, state):
    """Write the pre-tokens of two bytes and more into cells.

    state[0] cells in use, state[1] corpus tokens (bytes, weighted), state[2] boundaries.
    """
    p = 0
    cells[0] = EDGE
    tokens = 0
    boundaries = 0
    for w in range(n_words):
        size = offsets[w + 1] - offsets[w]
        tokens += size * counts[w]
        if size < 2:
            continue
        boundaries += size - 1
        for i in range(offsets[w], offsets[w + 1]):
            p += 1
            cells_raw[p] = arena[i]
            cells[p] = id_of_byte[arena[i]]
            cell_word[p] = w
        p += 1
        cells[p] = EDGE
    state[0] = p + 1
    state[1] = tokens
    state[2] = boundaries


@jit(int64(i32, i32, int64, I64, i64, i64))
def tally_byte_pairs(cells, cell_word, n_cells, weights, counts, sizes):
    """Count of each of the 65,536 byte pairs and its number of places; return how many occur."""
    for p in range(1, n_cells - 1):
        a = cells[p]
        b = cells[p + 1]
        if a >= 0 and b >= 0:
            k = a * 256 + b
            counts[k] += weights[cell_word[p]]
            sizes[k] += 1
    n = 0
    for k in range(65536):
        if sizes[k] > 0:
            n += 1
    return n


@jit(
    types.void(
        i32, int64, i64, i64, i32, i32, i32, i64, i64, i32, i32,
        i64, i32, int64, i32, u64, i64, u8, i32,
    )
)  # fmt: skip
def place_byte_pairs(
    cells, n_cells, counts, sizes, slots, left, right, pair_count, pair_start, pair_size, places,
    heap_count, heap_pair, tie, token_size, token_prefix, token_place, cells_raw, histogram,
):  # fmt: skip
    """Make the records of the byte pairs that occur, list their places, fill the heap."""
    index = np.full(65536, -1, np.int32)
    n = 0
    used = 0
    for k in range(65536):
        if sizes[k] == 0:
            continue
        index[k] = n
        left[n] = k // 256
        right[n] = k % 256
        pair_count[n] = counts[k]
        pair_start[n] = used
        pair_size[n] = 0
        used += sizes[k]
        slots[_find_slot(slots, left, right, left[n], right[n])] = n
        heap_count[n] = counts[k]
        heap_pair[n] = n
        if counts[k] < HISTOGRAM_SIZE:
            histogram[counts[k]] += 1
        n += 1
    for p in range(1, n_cells - 1):
        a = cells[p]
        b = cells[p + 1]
        if a >= 0 and b >= 0:
            pair = index[a * 256 + b]
            places[pair_start[pair] + pair_size[pair]] = p
            pair_size[pair] += 1
            if token_place[a] < 0:
                token_place[a] = p
            if token_place[b] < 0:
                token_place[b] = p + 1
    for i in range(n // 2 - 1, -1, -1):
        _sift_down(
            i, n, heap_count, heap_pair,
            tie, left, right, token_size, token_prefix, token_place, cells_raw,
        )  # fmt: skip


@part(int64(int64, int64, i32, i64, i32, i64, int64))
def _touch(pair, step, pair_stamp, pair_count, touched, touched_count, n_touched):
    """Note a pair's count before this step changes it."""
    if pair_stamp[pair] != step:
        pair_stamp[pair] = step
        touched[n_touched] = pair
        touched_count[n_touched] = pair_count[pair]
        n_touched += 1
    return n_touched


@part(types.void(int64, int64, i32_2d))
def _fresh_token(t, step, memo):
    """memo[t]: the pair records of (t, l), (r, t), (t, new), (new, t) in this step (-1: not
    looked up yet)."""
    if memo[t, 4] != step:
        memo[t, 0] = -1
        memo[t, 1] = -1
        memo[t, 2] = -1
        memo[t, 3] = -1
        memo[t, 4] = step


@part(int64(i32_2d, int64, int64, int64, int64, i32, i32, i32))
def _old_record(memo, t, which, a, b, slots, left, right):
    pair = memo[t, which]
    if pair == -1:
        s = _find_slot(slots, left, right, a, b)
        pair = slots[s] if slots[s] >= 0 else NO_SLOT
        memo[t, which] = pair
    return pair


@part(
    types.UniTuple(int64, 2)(
        i32_2d, int64, int64, int64, int64, int64, int64, int64, i32, i32, i32, i64, i32, i32
    )
)
def _new_record(
    memo, t, which, a, b, size, max_size, n_records,
    slots, left, right, pair_count, pair_size, pair_stamp,
):  # fmt: skip
    """Record of pair (a, b), one of them the new token; made when it is first seen."""
    known = np.int64(memo[t, which])
    if known != -1:
        return known, n_records
    if size > max_size:
        memo[t, which] = NO_SLOT
        return np.int64(NO_SLOT), n_records
    pair = n_records
    left[pair] = a
    right[pair] = b
    pair_count[pair] = 0
    pair_size[pair] = 0
    pair_stamp[pair] = -1
    slots[_find_slot(slots, left, right, a, b)] = pair
    memo[t, which] = pair
    return pair, n_records + 1


@jit(
    int64(
        int64, int64, int64, i64, int64, int64,
        i32, i32, u8, I64,
        i32, u64, i64,
        i32, i32, i32, i64, i64, i32, i32, i32,
        i64, i32, i32, i32, i64, i32, i32,
        i32, i32_2d,
        i32, i32, i32, i64, i64, i64, i64, i64, i32_2d, i32_2d, i64_2d,
    )
)  # fmt: skip
def merge_steps(
    budget, goal, min_count, state, tie, max_size,
    # the text
    cells, cell_word, cells_raw, weights,
    # tokens
    token_size, token_prefix, token_place,
    # pair records
    slots, left, right, pair_count, pair_start, pair_size, pair_stamp, places,
    # heap, tallies, buffers
    heap_count, heap_pair, histogram, touched, touched_count, gather_pair, gather_place,
    scratch, memo,
    # the trace
    out_left, out_right, out_new, out_count, out_merged, out_tokens, out_pairs, out_tied,
    cand_left, cand_right, cand_count,
):  # fmt: skip
    """Do up to `budget` merges; return a code that says why it stopped.

    state: [0] merges done, [1] pair records, [2] pairs that occur, [3] places in use,
    [4] corpus tokens. A code that asks for room comes before the step changed anything.
    """
    k = cand_left.shape[1]
    k_find = max(k, 1)
    for _ in range(budget):
        step = state[0]
        if step >= goal:
            return DONE
        n_records = state[1]
        found = scratch[:k_find]
        got = _top(
            k_find, found, scratch[k_find:], n_records, heap_count, heap_pair, pair_count,
            tie, left, right, token_size, token_prefix, token_place, cells_raw,
        )  # fmt: skip
        if got == 0:
            return NO_PAIRS
        winner = found[0]
        best = pair_count[winner]
        if best < min_count:
            return BELOW_MINIMUM
        size = np.int64(pair_size[winner])
        # At most two new records a place, and two for each token that may stand beside it.
        new = np.int32(256 + step)
        room = 2 * min(size, np.int64(new) + 1)
        if n_records + room > left.size or 2 * (n_records + room) > slots.size:
            return GROW_PAIRS
        if 2 * size > gather_pair.size:
            return GROW_GATHER
        if state[3] + 2 * size > places.size:
            return GROW_PLACES

        l = left[winner]
        r = right[winner]
        l_size = token_size[l]
        r_size = token_size[r]
        new_size = l_size + r_size

        start = pair_start[winner]
        place = np.int64(places[start])
        for o in range(start, start + size):
            place = np.int64(places[o])
            if cells[place] == l and cells[place + l_size] == r:
                break
        token_size[new] = new_size
        token_place[new] = place
        prefix = np.uint64(0)
        for b in range(8):
            prefix <<= np.uint64(8)
            if b < new_size:
                prefix |= np.uint64(cells_raw[place + b])
        token_prefix[new] = prefix

        tied = _count_tied(
            best, n_records, heap_count, heap_pair, pair_count, histogram, touched
        )
        for c in range(min(got, k)):
            cand_left[step, c] = left[found[c]]
            cand_right[step, c] = right[found[c]]
            cand_count[step, c] = pair_count[found[c]]

        n_touched = _touch(winner, step, pair_stamp, pair_count, touched, touched_count, 0)
        first_new = n_records
        gathered = 0
        merged = np.int64(0)
        for o in range(start, start + size):
            p = places[o]
            if cells[p] != l:
                continue
            q = p + l_size
            if cells[q] != r:
                continue
            end = q + r_size
            weight = weights[cell_word[p]]
            merged += weight
            x = cells[p - 1]
            y = cells[end]
            cells[q - 1] = GONE
            cells[q] = GONE
            cells[p] = new
            cells[end - 1] = new

            if x >= 0:
                _fresh_token(x, step, memo)
                if x == new:  # made a moment ago, and (new, l) was noted then
                    pair = np.int64(memo[l, 3])
                else:
                    pair = _old_record(memo, x, 0, x, l, slots, left, right)
                if pair >= 0:
                    if pair < first_new:
                        n_touched = _touch(
                            pair, step, pair_stamp, pair_count, touched, touched_count, n_touched
                        )
                    pair_count[pair] -= weight
                if x == new:
                    pair, n_records = _new_record(
                        memo, x, 3, new, new, 2 * new_size, max_size, n_records,
                        slots, left, right, pair_count, pair_size, pair_stamp,
                    )  # fmt: skip
                else:
                    pair, n_records = _new_record(
                        memo, x, 2, x, new, token_size[x] + new_size, max_size, n_records,
                        slots, left, right, pair_count, pair_size, pair_stamp,
                    )  # fmt: skip
                if pair >= 0:
                    pair_count[pair] += weight
                    pair_size[pair] += 1
                    gather_pair[gathered] = pair
                    gather_place[gathered] = p - token_size[x]
                    gathered += 1
            if y >= 0:
                _fresh_token(y, step, memo)
                pair = _old_record(memo, y, 1, r, y, slots, left, right)
                if pair >= 0:
                    n_touched = _touch(
                        pair, step, pair_stamp, pair_count, touched, touched_count, n_touched
                    )
                    pair_count[pair] -= weight
                pair, n_records = _new_record(
                    memo, y, 3, new, y, token_size[y] + new_size, max_size, n_records,
                    slots, left, right, pair_count, pair_size, pair_stamp,
                )  # fmt: skip
                if pair >= 0:
                    pair_count[pair] += weight
                    pair_size[pair] += 1
                    gather_pair[gathered] = pair
                    gather_place[gathered] = p
                    gathered += 1
        pair_count[winner] = 0

        # Give each new record its stretch of places.
        used = state[3]
        for pair in range(first_new, n_records):
            pair_start[pair] = used
            used += pair_size[pair]
            pair_size[pair] = 0
        for g in range(gathered):
            pair = gather_pair[g]
            places[pair_start[pair] + pair_size[pair]] = gather_place[g]
            pair_size[pair] += 1
        state[3] = used

        live = state[2]
        for pair in range(first_new, n_records):
            count = pair_count[pair]
            if count > 0:
                live += 1
                if count < HISTOGRAM_SIZE:
                    histogram[count] += 1
            _push(
                count, pair, pair, heap_count, heap_pair,
                tie, left, right, token_size, token_prefix, token_place, cells_raw,
            )  # fmt: skip
        for i in range(n_touched):
            before = touched_count[i]
            after = pair_count[touched[i]]
            if before > 0:
                if before < HISTOGRAM_SIZE:
                    histogram[before] -= 1
                if after <= 0:
                    live -= 1
            if after > 0 and after < HISTOGRAM_SIZE:
                histogram[after] += 1

        state[4] -= merged
        out_left[step] = l
        out_right[step] = r
        out_new[step] = new
        out_count[step] = best
        out_merged[step] = merged
        out_tokens[step] = state[4]
        out_pairs[step] = state[2]
        out_tied[step] = tied
        state[0] = step + 1
        state[1] = n_records
        state[2] = live
    return DONE


# --------------------------------------------------------------------------- encoding
#
# A short piece is merged by looking for the lowest rank again after each merge: quadratic,
# but on a few cells that is the fastest way. A long piece uses a heap of (rank, place) and a
# linked list, so a pre-token of a million letters takes n log n.

SHORT = 64
CACHE_BYTES = 15  # longest cached piece
CACHE_TOKENS = 7  # most tokens of a cached piece


@part
def _rank_slot(keys, key):
    h = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    h ^= h >> np.uint64(32)
    mask = keys.size - 1
    s = np.int64(h & np.uint64(mask))
    while keys[s] >= 0 and keys[s] != key:
        s = (s + 1) & mask
    return s


@jit(types.void(I32, I32, i64, i32, i32))
def fill_ranks(left, right, keys, ranks, byte_ranks):
    """Tables from a pair to its rank: by hash, and directly for pairs of bytes."""
    for r in range(left.size):
        key = (np.int64(left[r]) << 32) | np.int64(right[r])
        s = _rank_slot(keys, key)
        if keys[s] < 0:
            keys[s] = key
            ranks[s] = r
            if left[r] < 256 and right[r] < 256:
                byte_ranks[left[r] * 256 + right[r]] = r


@part
def _rank(a, b, limit, keys, ranks, byte_ranks):
    if a < 256 and b < 256:
        r = byte_ranks[a * 256 + b]
    else:
        s = _rank_slot(keys, (np.int64(a) << 32) | np.int64(b))
        r = ranks[s] if keys[s] >= 0 else np.int32(NEVER)
    return r if r < limit else np.int32(NEVER)


@part(int64(U8, int64, int64, int64, I32, I32, I64, I32, I32, i32, i32, i64, i32, boolean))
def _merge_short(
    buf, start, stop, limit, id_of_byte, made, keys, ranks, byte_ranks, sym, rank, begin,
    joins, write_joins,
):  # fmt: skip
    n = stop - start
    for i in range(n):
        sym[i] = id_of_byte[buf[start + i]]
        begin[i] = start + i
    for i in range(n - 1):
        rank[i] = _rank(sym[i], sym[i + 1], limit, keys, ranks, byte_ranks)
    while n > 1:
        best = np.int32(NEVER)
        at = 0
        for i in range(n - 1):
            if rank[i] < best:
                best = rank[i]
                at = i
        if best == NEVER:
            break
        if write_joins:
            joins[begin[at + 1] - 1] = best
        sym[at] = made[best]
        n -= 1
        for i in range(at + 1, n):
            sym[i] = sym[i + 1]
            begin[i] = begin[i + 1]
            rank[i - 1] = rank[i]
        if at > 0:
            rank[at - 1] = _rank(sym[at - 1], sym[at], limit, keys, ranks, byte_ranks)
        if at < n - 1:
            rank[at] = _rank(sym[at], sym[at + 1], limit, keys, ranks, byte_ranks)
    return n


@part
def _heap_push(heap, n, key):
    i = n
    while i > 0:
        p = (i - 1) // 2
        if heap[p] <= key:
            break
        heap[i] = heap[p]
        i = p
    heap[i] = key


@part
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


@part(int64(U8, int64, int64, int64, I32, I32, I64, I32, I32, i32, i32, i64, i32, boolean))
def _merge_long(
    buf, start, stop, limit, id_of_byte, made, keys, ranks, byte_ranks, sym, rank, begin,
    joins, write_joins,
):  # fmt: skip
    n = stop - start
    after = np.empty(n + 1, np.int32)
    before = np.empty(n + 1, np.int32)
    # Each merge takes one key off for good and adds at most two.
    heap = np.empty(2 * n + 2, np.int64)
    size = 0
    for i in range(n):
        sym[i] = id_of_byte[buf[start + i]]
        after[i] = i + 1
        before[i] = i - 1
    for i in range(n - 1):
        r = _rank(sym[i], sym[i + 1], limit, keys, ranks, byte_ranks)
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
        if write_joins:
            joins[start + j - 1] = r
        sym[i] = made[r]
        rank[j] = NEVER
        k = np.int64(after[j])
        after[i] = k
        before[k] = i
        rank[i] = NEVER
        if k < n:
            r = _rank(sym[i], sym[k], limit, keys, ranks, byte_ranks)
            rank[i] = r
            if r != NEVER:
                _heap_push(heap, size, (np.int64(r) << 32) | i)
                size += 1
        h = np.int64(before[i])
        if h >= 0:
            r = _rank(sym[h], sym[i], limit, keys, ranks, byte_ranks)
            rank[h] = r
            if r != NEVER:
                _heap_push(heap, size, (np.int64(r) << 32) | h)
                size += 1
    m = 0
    i = np.int64(0)
    while i < n:
        sym[m] = sym[i]
        begin[m] = start + i
        m += 1
        i = np.int64(after[i])
    return m


@jit(int64(U8, I64, int64, int64, int64, I32, I32, I64, I32, I32, U32, i64, i32, u32, int64))
def encode_pieces(
    buf, ends, n_pieces, start, limit, id_of_byte, made, keys, ranks, byte_ranks, ids,
    cache_key, cache_value, out, used,
):  # fmt: skip
    """Append the ids of the pieces of `buf` to `out` from `used` on; return the new `used`.

    The cache has a fixed size: a row a slot (bytes of the piece in two words with its length
    in the last byte, then the number of tokens and the tokens), and a newer piece displaces
    an older one. Long pieces never enter it.
    """
    sym = np.empty(SHORT, np.int32)
    rank = np.empty(SHORT, np.int32)
    begin = np.empty(SHORT, np.int64)
    no_joins = np.empty(0, np.int32)
    mask = cache_key.size // 2 - 1
    at = start
    for piece in range(n_pieces):
        stop = ends[piece]
        size = stop - at
        if size == 1:
            out[used] = ids[id_of_byte[buf[at]]]
            used += 1
            at = stop
            continue
        slot = np.int64(-1)
        low = np.uint64(0)
        high = np.uint64(size)
        if size <= CACHE_BYTES:
            for i in range(min(size, 8)):
                low |= np.uint64(buf[at + i]) << np.uint64(8 * i)
            for i in range(8, size):
                high |= np.uint64(buf[at + i]) << np.uint64(8 * (i - 7))
            h = (low * np.uint64(0x9E3779B97F4A7C15)) ^ (high * np.uint64(0xC2B2AE3D27D4EB4F))
            h ^= h >> np.uint64(29)
            h *= np.uint64(0xBF58476D1CE4E5B9)
            slot = np.int64((h >> np.uint64(32)) & np.uint64(mask))
            if cache_key[2 * slot] == np.int64(low) and cache_key[2 * slot + 1] == np.int64(high):
                row = slot * (CACHE_TOKENS + 1)
                n = cache_value[row]
                for i in range(n):
                    out[used + i] = ids[cache_value[row + 1 + i]]
                used += n
                at = stop
                continue
        if size <= SHORT:
            n = _merge_short(
                buf, at, stop, limit, id_of_byte, made, keys, ranks, byte_ranks,
                sym, rank, begin, no_joins, False,
            )  # fmt: skip
            for i in range(n):
                out[used + i] = ids[sym[i]]
            if slot >= 0 and n <= CACHE_TOKENS:
                row = slot * (CACHE_TOKENS + 1)
                cache_key[2 * slot] = np.int64(low)
                cache_key[2 * slot + 1] = np.int64(high)
                cache_value[row] = n
                for i in range(n):
                    cache_value[row + 1 + i] = sym[i]
        else:
            long_sym = np.empty(size, np.int32)
            n = _merge_long(
                buf, at, stop, limit, id_of_byte, made, keys, ranks, byte_ranks,
                long_sym, np.empty(size, np.int32), np.empty(size, np.int64), no_joins, False,
            )  # fmt: skip
            for i in range(n):
                out[used + i] = ids[long_sym[i]]
        used += n
        at = stop
    return used


@jit(types.void(U8, I64, int64, int64, int64, I32, I32, I64, I32, I32, i32))
def join_pieces(
    buf, ends, n_pieces, start, limit, id_of_byte, made, keys, ranks, byte_ranks, joins
):  # fmt: skip
    """Write the rank of each merge onto the boundary that it erases; joins[i] is the boundary
    between buf[i] and buf[i + 1]."""
    sym = np.empty(SHORT, np.int32)
    rank = np.empty(SHORT, np.int32)
    begin = np.empty(SHORT, np.int64)
    at = start
    for piece in range(n_pieces):
        stop = ends[piece]
        size = stop - at
        if size > SHORT:
            _merge_long(
                buf, at, stop, limit, id_of_byte, made, keys, ranks, byte_ranks,
                np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int64),
                joins, True,
            )  # fmt: skip
        elif size > 1:
            _merge_short(
                buf, at, stop, limit, id_of_byte, made, keys, ranks, byte_ranks,
                sym, rank, begin, joins, True,
            )  # fmt: skip
        at = stop


@jit(types.void(I32, I64, I64, int64, i64))
def tally_joins(joins, borders, weights, n_pieces, histogram):
    """Add each piece's weight to the tally of each rank inside it; the last bin is `never`."""
    never = histogram.size - 1
    for w in range(n_pieces):
        for i in range(borders[w], borders[w + 1] - 1):
            r = joins[i]
            histogram[r if r < never else never] += weights[w]


LOADED = True  # last line: everything above is compiled when this can be read
