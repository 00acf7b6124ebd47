"""Training: the most frequent pair is merged, again and again, with a full trace.

The text is one array of cells, a cell per byte, with an EDGE cell between pre-tokens. A cell is two
numbers: the token, which counts in a token's first and last cell only, so that both neighbors of a
token are found without any list; and, in a token's first cell, the record of the pair that it
forms with the next token (NONE: no next token, or too long).

Training never spells a token twice: wherever a stretch of text ends up as one token, it got there
by the same merges, which depend on its bytes alone. For no token ever lay across its borders, so
the text around it can have changed nothing inside, but for one case: a run of one token, in which
pairs are taken from the left. If the run goes on beyond a border, as here beyond the left one,

    a a a|a a a      pairs (a, a) from the left:      aa a|a aa      a token across the border
    a a|a a a a                                       aa|aa aa       none: as if it stood alone

then taking pairs either respects the border or makes a token across it, which is not the case. So
each merge makes a new token, number 256 + step, and all places of a pair (a, b) come up in the step
that makes the younger of the two. Hence a pair's places are one stretch of `places`, from left to
right, and no table of pairs is needed: an old pair is read off its cell, a new one is found by its
other token in `memo`. A place is checked when it is used, so nothing has to be taken out of a
list when a neighbor changes.

A place carries a tag, since looking its weight up would be one more cache miss: the weight itself,
or where that does not fit, -1 - the number of the pre-token.

The heap holds the pairs with a count of `threshold` and more, each with the count it had when last
looked at. Counts only fall, so a stored count is an upper bound, and an entry is put right when it
comes up. Most pairs never come near the top: where the heap runs low it is made anew with a lower
threshold. The best few pairs stand in order in `top`, with their true counts; every other pair
loses to the bound. So a step looks at those alone, and walks the heap only where `top` runs low.

`incremental.py` is the same idea in plain Python, with the same names. It has no memo (a dictionary
finds the pair), no threshold and no bound: all pairs are in its heap, and the top is taken anew.

Belongs here: the state of a training and its steps. Does not belong here: growing the arrays and
saying why training stopped (`trainer.py`).
"""

import numpy as np

from .compiling import (
    I64,
    U8,
    boolean,
    group,
    i32,
    i32_2d,
    i64,
    i64_2d,
    inline,
    int64,
    kernel,
    part,
    tuple_of,
    u8,
    u64,
    void,
)
from .layout import (
    BOUND_COUNT,
    BOUND_PAIR,
    HISTOGRAM_SIZE,
    LOWEST_IDS,
    N_HEAP,
    N_MERGES,
    N_PAIRS,
    N_PLACES,
    N_RECORDS,
    N_TOKENS,
    N_TOP,
    THRESHOLD,
    Code,
    Heap,
    Limits,
    NewPlaces,
    Records,
    Tally,
    Tokens,
    Top,
    Trace,
)

EDGE = -1  # the token of a cell between two pre-tokens
NONE = -1  # no pair
MOST = 2**31 - 1  # the greatest weight that a place carries itself

# The parts of a pair's record.
COUNT = 0  # wide: places, weighted
START = 1  # wide: its first place
LEFT = 4  # narrow
RIGHT = 5  # narrow
SIZE = 6  # narrow: places listed
STAMP = 7  # narrow: the last step that changed it

LIMITS = group(Limits, int64, int64, int64, int64)
TOKENS = group(Tokens, i32, u64, i64, u8)
RECORDS = group(Records, i64, i32, i32)
HEAP = group(Heap, i64, i32)
TOP = group(Top, i32, i64, i32)
TALLY = group(Tally, i32, i32, i64)
NEW_PLACES = group(NewPlaces, i32, i32, i32)
TRACE = group(Trace, i32, i32, i32, i64, i64, i64, i64, i64, i32_2d, i32_2d, i64_2d)


# ------------------------------------------------------------------ which pair is better


@part(int64(int64, int64, TOKENS))
def _compare_tokens(a, b, tokens):
    """Compare two tokens' bytes: negative, zero or positive."""
    if a == b:
        return 0
    if tokens.prefix[a] != tokens.prefix[b]:
        return 1 if tokens.prefix[a] > tokens.prefix[b] else -1
    size_a = tokens.size[a]
    size_b = tokens.size[b]
    n = min(size_a, size_b)
    if n > 8:
        i = tokens.place[a]
        j = tokens.place[b]
        for k in range(8, n):
            x = tokens.raw[i + k]
            y = tokens.raw[j + k]
            if x != y:
                return 1 if x > y else -1
    return size_a - size_b


@part(boolean(int64, int64, int64, int64, int64, RECORDS, TOKENS))
def _beats(count_a, a, count_b, b, tie, records, tokens):
    """Does pair `a` with its count come before `b`? Pairs that are gone never do."""
    if count_a != count_b:
        return count_a > count_b
    if count_a <= 0:
        return False
    left_a = records.narrow[8 * a + LEFT]
    left_b = records.narrow[8 * b + LEFT]
    right_a = records.narrow[8 * a + RIGHT]
    right_b = records.narrow[8 * b + RIGHT]
    if tie == LOWEST_IDS:
        if left_a != left_b:
            return left_a < left_b
        return right_a < right_b
    c = _compare_tokens(left_a, left_b, tokens)
    if c != 0:
        return c > 0
    return _compare_tokens(right_a, right_b, tokens) > 0


# ------------------------------------------------------------------ the heap


@part(void(int64, int64, HEAP, int64, RECORDS, TOKENS))
def _sift_down(i, n, heap, tie, records, tokens):
    """Move entry i of a heap of n down to where it belongs."""
    count = heap.counts[i]
    pair = heap.pairs[i]
    while True:
        c = 2 * i + 1
        if c >= n:
            break
        if c + 1 < n and _beats(
            heap.counts[c + 1],
            heap.pairs[c + 1],
            heap.counts[c],
            heap.pairs[c],
            tie,
            records,
            tokens,
        ):
            c += 1
        if not _beats(heap.counts[c], heap.pairs[c], count, pair, tie, records, tokens):
            break
        heap.counts[i] = heap.counts[c]
        heap.pairs[i] = heap.pairs[c]
        i = c
    heap.counts[i] = count
    heap.pairs[i] = pair


@part(void(int64, int64, int64, HEAP, int64, RECORDS, TOKENS))
def _push(count, pair, n, heap, tie, records, tokens):
    """Put a pair on a heap of n."""
    i = n
    while i > 0:
        p = (i - 1) // 2
        if not _beats(count, pair, heap.counts[p], heap.pairs[p], tie, records, tokens):
            break
        heap.counts[i] = heap.counts[p]
        heap.pairs[i] = heap.pairs[p]
        i = p
    heap.counts[i] = count
    heap.pairs[i] = pair


@part(tuple_of(2, int64)(int64, int64, int64, i32, HEAP, int64, RECORDS, TOKENS))
def _refill_heap(wanted, n_records, n_pairs, histogram, heap, tie, records, tokens):
    """Make a heap of at least `wanted` pairs, or of all; return its size and its threshold."""
    threshold = 1
    above = n_pairs
    while threshold < HISTOGRAM_SIZE and above - histogram[threshold] >= wanted:
        above -= histogram[threshold]
        threshold += 1
    n = 0
    for pair in range(n_records):
        count = records.wide[4 * pair + COUNT]
        if count >= threshold:
            heap.counts[n] = count
            heap.pairs[n] = pair
            n += 1
    for i in range(n // 2 - 1, -1, -1):
        _sift_down(i, n, heap, tie, records, tokens)
    return n, threshold


# ------------------------------------------------------------------ the best few pairs


@part(int64(int64, TOP, int64, HEAP, int64, RECORDS, TOKENS))
def _walk_heap(wanted, top, n, heap, tie, records, tokens):
    """The best pairs of a heap of n into `top`, best first; return how many.

    Goes from the heap's root on, always to the best entry seen (`frontier` holds those, the
    best one last). A stale entry is put right first, which only moves entries below it.
    """
    frontier = top.frontier
    waiting = 0
    got = 0
    i = np.int64(0)
    fresh = 1  # entries not yet in the frontier: heap[i] and, if 2, heap[i + 1]
    while True:
        for e in range(i, min(i + fresh, n)):
            f = waiting
            while f > 0 and _beats(
                heap.counts[frontier[f - 1]], heap.pairs[frontier[f - 1]],
                heap.counts[e], heap.pairs[e], tie, records, tokens,
            ):  # fmt: skip
                frontier[f] = frontier[f - 1]
                f -= 1
            frontier[f] = e
            waiting += 1
        if waiting == 0 or got == wanted:
            return got
        waiting -= 1
        i = np.int64(frontier[waiting])
        pair = np.int64(heap.pairs[i])
        count = records.wide[4 * pair + COUNT]
        if count != heap.counts[i]:
            heap.counts[i] = count
            _sift_down(i, n, heap, tie, records, tokens)
            fresh = 1
            continue
        if count <= 0:
            return got
        top.pairs[got] = pair
        top.counts[got] = count
        got += 1
        i = 2 * i + 1
        fresh = 2


@part(void(int64, int64, i64, TOP, int64, RECORDS, TOKENS))
def _insert_top(count, pair, state, top, tie, records, tokens):
    """Put a pair in its place among the best ones, if it is one of them."""
    if not _beats(count, pair, state[BOUND_COUNT], state[BOUND_PAIR], tie, records, tokens):
        return
    i = state[N_TOP]
    if i == top.pairs.size:  # full: the last one goes, and what is now the last is the bound
        i -= 1
        state[N_TOP] = i
        state[BOUND_COUNT] = top.counts[i - 1]
        state[BOUND_PAIR] = top.pairs[i - 1]
        if not _beats(count, pair, state[BOUND_COUNT], state[BOUND_PAIR], tie, records, tokens):
            return
    while i > 0 and _beats(count, pair, top.counts[i - 1], top.pairs[i - 1], tie, records, tokens):
        top.counts[i] = top.counts[i - 1]
        top.pairs[i] = top.pairs[i - 1]
        i -= 1
    top.counts[i] = count
    top.pairs[i] = pair
    state[N_TOP] += 1


@part(void(i64, TOP, int64, RECORDS, TOKENS))
def _mend_top(state, top, tie, records, tokens):
    """Put the best pairs in order again after some of their counts fell."""
    changed = top.frontier  # free between two walks
    kept = 0
    n_changed = 0
    for i in range(state[N_TOP]):
        pair = np.int64(top.pairs[i])
        if records.wide[4 * pair + COUNT] != top.counts[i]:
            changed[n_changed] = pair
            n_changed += 1
        else:
            top.pairs[kept] = pair
            top.counts[kept] = top.counts[i]
            kept += 1
    state[N_TOP] = kept
    for i in range(n_changed):
        pair = np.int64(changed[i])
        _insert_top(records.wide[4 * pair + COUNT], pair, state, top, tie, records, tokens)


@part(void(i64, TOP, HEAP, i32, int64, RECORDS, TOKENS))
def _refill_top(state, top, heap, histogram, tie, records, tokens):
    """Have `top` filled up to its half from the heap, which is made anew where it runs low."""
    wanted = top.pairs.size // 2
    n_records = state[N_RECORDS]
    got = 0
    while True:
        if state[THRESHOLD] > 0:
            got = _walk_heap(wanted, top, state[N_HEAP], heap, tie, records, tokens)
            if state[THRESHOLD] == 1 or (got == wanted and top.counts[got - 1] >= state[THRESHOLD]):
                break
        state[N_HEAP], state[THRESHOLD] = _refill_heap(
            max(np.int64(4096), n_records // 16, 4 * wanted), n_records, state[N_PAIRS],
            histogram, heap, tie, records, tokens,
        )  # fmt: skip
    state[N_TOP] = got
    state[BOUND_COUNT] = top.counts[got - 1] if got == wanted else 0
    state[BOUND_PAIR] = top.pairs[got - 1] if got == wanted else NONE


@part(int64(int64, int64, HEAP, i64, i32, i32))
def _count_tied(count, n, heap, wide, histogram, stack):
    """How many pairs have exactly the winner's count.

    Small counts are tallied as they change. Among large ones ties are rare, so the heap is walked
    from its root: a stored count is never too low, so below a smaller one nothing can tie.
    """
    if count < HISTOGRAM_SIZE:
        return np.int64(histogram[count])
    tied = 0
    stack[0] = 0
    depth = 1
    while depth > 0:
        depth -= 1
        i = stack[depth]
        if heap.counts[i] < count:
            continue
        if wide[4 * np.int64(heap.pairs[i]) + COUNT] == count:
            tied += 1
        c = 2 * i + 1
        if c + 1 < n:
            stack[depth] = c + 1
            depth += 1
        if c < n:
            stack[depth] = c
            depth += 1
    return tied


# ------------------------------------------------------------------ before the first step


@kernel(void(U8, I64, I64, int64, U8, u8, i32, i64, i64, i64))
def lay_out(arena, offsets, counts, n_pretokens, id_of_byte, raw, cells, pairs, sizes, state):
    """Write the pre-tokens of two bytes and more into cells, and tally their byte pairs.

    pairs[256 * a + b], sizes[...]: count and number of places of the pair of bytes a, b.
    state[0] cells in use, state[1] corpus tokens (bytes, weighted), state[2] boundaries.
    """
    p = 0
    cells[0] = EDGE
    cells[1] = NONE
    tokens = 0
    boundaries = 0
    for w in range(n_pretokens):
        size = offsets[w + 1] - offsets[w]
        count = counts[w]
        tokens += size * count
        if size < 2:
            continue
        boundaries += size - 1
        before = -1
        for i in range(offsets[w], offsets[w + 1]):
            p += 1
            token = np.int64(id_of_byte[arena[i]])
            raw[p] = arena[i]
            cells[2 * p] = token
            if before >= 0:
                pairs[before * 256 + token] += count
                sizes[before * 256 + token] += 1
            before = token
        p += 1
        cells[2 * p] = EDGE
        cells[2 * p + 1] = NONE
    state[0] = p + 1
    state[1] = tokens
    state[2] = boundaries


@kernel(void(I64, I64, int64, i64, i64, i32, RECORDS, i32, i64, i32))
def place_byte_pairs(
    offsets, counts, n_pretokens, pairs, sizes, cells, records, histogram, token_place, index
):
    """Make the records of the byte pairs that occur and list their places.

    `index` is scratch for 65,536 numbers of records.
    """
    wide, narrow, places = records
    n = 0
    used = 0
    for k in range(65536):
        if sizes[k] == 0:
            continue
        index[k] = n
        wide[4 * n + COUNT] = pairs[k]
        wide[4 * n + START] = used
        narrow[8 * n + LEFT] = k // 256
        narrow[8 * n + RIGHT] = k % 256
        narrow[8 * n + SIZE] = 0
        narrow[8 * n + STAMP] = -1
        used += sizes[k]
        if pairs[k] < HISTOGRAM_SIZE:
            histogram[pairs[k]] += 1
        n += 1
    p = 1
    for w in range(n_pretokens):
        size = offsets[w + 1] - offsets[w]
        if size < 2:
            continue
        tag = counts[w] if counts[w] <= MOST else -1 - w
        for _ in range(size - 1):
            a = np.int64(cells[2 * p])
            b = np.int64(cells[2 * p + 2])
            pair = np.int64(index[a * 256 + b])
            cells[2 * p + 1] = pair
            o = wide[4 * pair + START] + narrow[8 * pair + SIZE]
            places[2 * o] = p
            places[2 * o + 1] = tag
            narrow[8 * pair + SIZE] += 1
            if token_place[a] < 0:
                token_place[a] = p
            if token_place[b] < 0:
                token_place[b] = p + 1
            p += 1
        cells[2 * p + 1] = NONE
        p += 2


# ------------------------------------------------------------------ the phases of a step


@inline(int64(int64, int64, i64, RECORDS, NEW_PLACES))
def _missing_room(new, winner, state, records, found):
    """Code of what has to grow before the winner can be merged; DONE if nothing has."""
    size = np.int64(records.narrow[8 * winner + SIZE])
    # At most two new records a place, and two for each token that may stand beside it.
    room = 2 * min(size, new + 1)
    if 4 * (state[N_RECORDS] + room) > records.wide.size:
        return Code.GROW_RECORDS
    if 2 * size > found.pair.size:
        return Code.GROW_GATHER
    if 2 * (state[N_PLACES] + 2 * size) > records.places.size:
        return Code.GROW_PLACES
    return Code.DONE


@inline(void(int64, int64, i32, TOKENS, RECORDS))
def _make_token(new, winner, cells, tokens, records):
    """Set down the size, a place and the first bytes of the token that the winner makes."""
    left = np.int64(records.narrow[8 * winner + LEFT])
    right = np.int64(records.narrow[8 * winner + RIGHT])
    size = np.int64(tokens.size[left]) + tokens.size[right]
    start = records.wide[4 * winner + START]
    place = np.int64(-1)
    for o in range(start, start + records.narrow[8 * winner + SIZE]):
        place = np.int64(records.places[2 * o])
        if cells[2 * place + 1] == winner:
            break
    prefix = np.uint64(0)
    for b in range(8):
        prefix <<= np.uint64(8)
        if b < size:
            prefix |= np.uint64(tokens.raw[place + b])
    tokens.size[new] = size
    tokens.place[new] = place
    tokens.prefix[new] = prefix


@inline(void(int64, i64, TOP, i32, TRACE))
def _record_candidates(step, state, top, narrow, trace):
    """Write the best pairs before the merge to the trace."""
    for c in range(min(state[N_TOP], trace.cand_left.shape[1])):
        pair = np.int64(top.pairs[c])
        trace.cand_left[step, c] = narrow[8 * pair + LEFT]
        trace.cand_right[step, c] = narrow[8 * pair + RIGHT]
        trace.cand_count[step, c] = top.counts[c]


@part(int64(int64, int64, RECORDS, TALLY, int64))
def _touch(pair, step, records, tally, n_touched):
    """Note a pair's count before this step changes it; return how many are noted."""
    if records.narrow[8 * pair + STAMP] != step:
        records.narrow[8 * pair + STAMP] = step
        tally.touched[n_touched] = pair
        tally.before[n_touched] = records.wide[4 * pair + COUNT]
        n_touched += 1
    return n_touched


@part(int64(int64, int64, int64, RECORDS))
def _make_record(pair, a, b, records):
    """Make the record of a new pair; return the number of the next one."""
    records.wide[4 * pair + COUNT] = 0
    records.narrow[8 * pair + LEFT] = a
    records.narrow[8 * pair + RIGHT] = b
    records.narrow[8 * pair + SIZE] = 0
    records.narrow[8 * pair + STAMP] = -1
    return pair + 1


@inline(void(int64, int64, int64, int64, int64, RECORDS, NEW_PLACES))
def _add_place(pair, place, tag, weight, n_found, records, found):
    """Count one place of a new pair and keep it for `_list_places`."""
    records.wide[4 * pair + COUNT] += weight
    records.narrow[8 * pair + SIZE] += 1
    found.pair[n_found] = pair
    found.place[2 * n_found] = place
    found.place[2 * n_found + 1] = tag


@part(
    tuple_of(4, int64)(
        int64, int64, int64, int64, i64, i32, i64, TOKENS, RECORDS, TALLY, NEW_PLACES
    )
)  # fmt: skip
def _merge_places(
    step, winner, new, max_size, state, cells, weights, tokens, records, tally, found
):
    """Merge the winner wherever it stands, and count the pairs that come and go with that.

    Returns how many places were merged (weighted), how many records there are then, how many
    places of new pairs were found, and how many old pairs were touched.

    Places come from left to right. Where they overlap, in a run of one token, the first one wins:
    the cell of the second is cleared, so its place is no longer one. The cells of `aaaaa`, each
    with its token and its pair:

        a,aa  a,aa  a,aa  a,aa  a       places 1 2 3 4 of (a, a)
        A,Aa  A     a,aa  a,aa  a       place 1 merged to A; place 2 is gone
        A,AA  A     A,Aa  A     a       place 3 merged, which turns (A, a) into (A, A)
    """
    wide, narrow, places = records
    memo = found.memo
    size_left = np.int64(tokens.size[np.int64(narrow[8 * winner + LEFT])])
    new_size = np.int64(tokens.size[new])
    first_new = state[N_RECORDS]
    n_records = first_new
    n_touched = _touch(winner, step, records, tally, 0)
    n_found = 0
    merged = np.int64(0)
    start = wide[4 * winner + START]
    for o in range(start, start + narrow[8 * winner + SIZE]):
        p = np.int64(places[2 * o])
        if cells[2 * p + 1] != winner:
            continue
        tag = np.int64(places[2 * o + 1])
        weight = tag if tag >= 0 else weights[-1 - tag]
        merged += weight
        q = p + size_left
        end = p + new_size
        x = np.int64(cells[2 * p - 2])
        y = np.int64(cells[2 * end])
        right_pair = np.int64(cells[2 * q + 1])
        cells[2 * q + 1] = NONE
        cells[2 * p] = new
        cells[2 * end - 2] = new
        cells[2 * p + 1] = NONE

        if x >= 0:  # x to the left of it: the pair (x, left) goes, (x, new) comes
            at = p - tokens.size[x]
            pair = np.int64(cells[2 * at + 1])
            if pair >= 0:
                if pair < first_new:
                    n_touched = _touch(pair, step, records, tally, n_touched)
                wide[4 * pair + COUNT] -= weight
            pair = np.int64(NONE)
            if tokens.size[x] + new_size <= max_size:
                # x is new where the place before was merged a moment ago: the pair (new, new) is
                # entered once, from its right token, in the place of (x, new) with x on the left.
                m = 2 * x if x != new else 2 * new + 1
                pair = np.int64(memo[m])
                if pair < first_new:
                    pair = n_records
                    memo[m] = pair
                    n_records = _make_record(pair, x, new, records)
                _add_place(pair, at, tag, weight, n_found, records, found)
                n_found += 1
            cells[2 * at + 1] = pair
        if y >= 0:  # y to the right of it: the pair (right, y) goes, (new, y) comes
            if right_pair >= 0:  # an old pair: to the right nothing is merged yet
                n_touched = _touch(right_pair, step, records, tally, n_touched)
                wide[4 * right_pair + COUNT] -= weight
            if tokens.size[y] + new_size <= max_size:
                pair = np.int64(memo[2 * y + 1])
                if pair < first_new:
                    pair = n_records
                    memo[2 * y + 1] = pair
                    n_records = _make_record(pair, new, y, records)
                _add_place(pair, p, tag, weight, n_found, records, found)
                n_found += 1
                cells[2 * p + 1] = pair
    wide[4 * winner + COUNT] = 0
    return merged, n_records, n_found, n_touched


@inline(int64(int64, int64, int64, int64, RECORDS, NEW_PLACES))
def _list_places(first_new, n_records, n_found, used, records, found):
    """Give each new record its stretch of places; return how many places there are then."""
    wide, narrow, places = records
    for pair in range(first_new, n_records):
        wide[4 * pair + START] = used
        used += narrow[8 * pair + SIZE]
        narrow[8 * pair + SIZE] = 0
    for i in range(n_found):
        pair = np.int64(found.pair[i])
        o = wide[4 * pair + START] + narrow[8 * pair + SIZE]
        places[2 * o] = found.place[2 * i]
        places[2 * o + 1] = found.place[2 * i + 1]
        narrow[8 * pair + SIZE] += 1
    return used


@inline(int64(int64, int64, i64, TOP, HEAP, i32, int64, RECORDS, TOKENS))
def _enter_new_pairs(first_new, n_records, state, top, heap, histogram, tie, records, tokens):
    """Put the new pairs into histogram, heap and top; return how many of them occur."""
    n = 0
    for pair in range(first_new, n_records):
        count = records.wide[4 * pair + COUNT]
        if count <= 0:
            continue
        n += 1
        if count < HISTOGRAM_SIZE:
            histogram[count] += 1
        if count >= state[THRESHOLD]:
            _push(count, pair, state[N_HEAP], heap, tie, records, tokens)
            state[N_HEAP] += 1
            if count >= state[BOUND_COUNT]:
                _insert_top(count, pair, state, top, tie, records, tokens)
    return n


@inline(int64(int64, i64, TALLY))
def _tally_touched(n_touched, wide, tally):
    """Put right in the histogram what old pairs count now; return how many are gone."""
    histogram = tally.histogram
    gone = 0
    for i in range(n_touched):
        before = tally.before[i]
        after = wide[4 * np.int64(tally.touched[i]) + COUNT]
        if before > 0:
            if before < HISTOGRAM_SIZE:
                histogram[before] -= 1
            if after <= 0:
                gone += 1
        if after > 0 and after < HISTOGRAM_SIZE:
            histogram[after] += 1
    return gone


@kernel(
    int64(
        int64, LIMITS, i64, i32, i64, TOKENS, RECORDS, HEAP, TOP, TALLY, NEW_PLACES, TRACE
    )
)  # fmt: skip
def train_merges(
    budget, limits, state, cells, weights, tokens, records, heap, top, tally, found, trace
):
    """Do up to `budget` merges; return a code that says why it stopped."""
    tie = limits.tie
    for _ in range(budget):
        step = state[N_MERGES]
        if step >= limits.goal:
            return Code.DONE
        new = 256 + step  # the token that this step makes

        # 1. Know the best pairs. Without a bound, `top` holds every pair; a bound is never below
        #    the heap's threshold, so every pair that may come before it is in the heap.
        if state[N_TOP] < max(trace.cand_left.shape[1], 1) and state[BOUND_COUNT] > 0:
            _refill_top(state, top, heap, tally.histogram, tie, records, tokens)

        # 2. Take the winner, or stop.
        if state[N_TOP] == 0:
            return Code.NO_PAIRS
        winner = np.int64(top.pairs[0])
        best = top.counts[0]
        if best < limits.min_count:
            return Code.BELOW_MINIMUM
        code = _missing_room(new, winner, state, records, found)
        if code != Code.DONE:
            return code

        # 3. Record what is known before the merge.
        trace.left[step] = records.narrow[8 * winner + LEFT]
        trace.right[step] = records.narrow[8 * winner + RIGHT]
        trace.new[step] = new
        trace.pair_count[step] = best
        trace.n_pairs[step] = state[N_PAIRS]
        trace.n_tied[step] = _count_tied(
            best, state[N_HEAP], heap, records.wide, tally.histogram, tally.touched
        )
        _record_candidates(step, state, top, records.narrow, trace)

        # 4. Make the token, and merge every place of the pair.
        _make_token(new, winner, cells, tokens, records)
        first_new = state[N_RECORDS]
        merged, n_records, n_found, n_touched = _merge_places(
            step, winner, new, limits.max_size, state, cells, weights, tokens, records, tally, found
        )
        state[N_RECORDS] = n_records

        # 5. List the places of the new pairs.
        state[N_PLACES] = _list_places(
            first_new, n_records, n_found, state[N_PLACES], records, found
        )

        # 6. Order the pairs anew: those whose counts fell, then those that are new.
        _mend_top(state, top, tie, records, tokens)
        state[N_PAIRS] += _enter_new_pairs(
            first_new, n_records, state, top, heap, tally.histogram, tie, records, tokens
        )
        state[N_PAIRS] -= _tally_touched(n_touched, records.wide, tally)

        # 7. Record what is left of the text.
        state[N_TOKENS] -= merged
        trace.merged[step] = merged
        trace.corpus_tokens[step] = state[N_TOKENS]
        state[N_MERGES] = step + 1
    return Code.DONE
