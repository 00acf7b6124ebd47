"""Where pre-tokens end, 64 bytes at a time: the fast scanners.

A window of text is looked at in rows of 64 bytes: one word tells of each byte whether it belongs
to a letter, another whether to white space, and so on; a few operations on these sets tell of all
64 bytes at once whether a pre-token begins there. A few places cannot be told like this; they are
marked as unsure and decided by the plain scanner (`next_end.py`).

The table `sets` holds a row for each 64 bytes (and an empty one before the first and after the
last), a column for each set, named below. All bytes of a character are in the sets it is in.

Belongs here: sets of bytes, for the patterns that have a scanner. Does not belong here: what a
pre-token is (`next_end.py`, `patterns.py`).
"""

import numpy as np

from .compiling import (
    I64,
    U8,
    boolean,
    group,
    i64,
    inline,
    int64,
    kernel,
    part,
    u8,
    u64,
    uint64,
    void,
)
from .layout import (
    ALL,
    CL100K,
    COLUMNS,
    ENDS_ROOM,
    GPT2,
    LETTER,
    LOWER,
    NUMBER,
    O200K,
    ONE,
    SPACE,
    TOP_BIT,
    TWO,
    UPPER,
    WHITESPACE,
    WINDOW,
    ZERO,
    Window,
)
from .machine import (
    bytes_with,
    bytes_within,
    clear64,
    copy,
    count_ones,
    get,
    leading_zeros,
    put,
    store,
    trailing_zeros,
)
from .next_end import contraction, next_end
from .utf8 import class_at

MARGIN = 32  # bytes at a window's end in which nothing is taken as decided
REACH = 8  # bytes, two characters: no pattern looks further beyond a firm start

WINDOW_TYPE = group(Window, u8, u8, u64)

# Columns of the table: sets of bytes.
LETTERS = 0
NUMBERS = 1
SPACES = 2  # white space; without the breaks that belong to a sign before them
CAPITALS = 3  # characters of class UPPER and not LOWER
SMALL = 4  # ... LOWER and not UPPER
CASELESS = 5  # ... both
BREAKS = 6  # CR and LF
BLANKS = 7  # U+0020
QUOTES = 8  # apostrophes
FOLLOWING = 9  # second and later bytes of a character
SIGNS = 10  # what is no letter, number or white space
SOLID = 11  # all but white space
LONE = 12  # signs that may go with the letters that follow
FIRM = 13  # where a start is a start whatever follows
UNSURE = 14  # here, `next_end` has to decide
STARTS = 15


@inline(void(u64, int64, uint64))
def _add(sets, place, more):
    put(sets, place, get(sets, place) | more)


@inline(uint64(u64, int64))
def _after(sets, place):
    """The bytes that follow one of a set."""
    return (get(sets, place) << ONE) | (get(sets, place - COLUMNS) >> TOP_BIT)


@inline(uint64(u64, int64))
def _ahead(sets, place):
    """The bytes that one of a set follows."""
    return (get(sets, place) >> ONE) | (get(sets, place + COLUMNS) << TOP_BIT)


@part(void(int64, int64, int64, U8, u8, u8, u64))
def _fill_sets(scheme, length, blocks, classes, text, kinds, sets):
    """Fill the columns that tell what the characters of text[:length] are."""
    for k in range(COLUMNS):
        put(sets, k, ZERO)
        put(sets, COLUMNS * (blocks + 1) + k, ZERO)
    wide = ZERO  # whether there is anything but ASCII
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        at = 64 * k
        upper = bytes_within(text, at, 65, 26)
        lower = bytes_within(text, at, 97, 26)
        blanks = bytes_within(text, at, 32, 1)
        foreign = bytes_with(text, at, 128)
        put(sets, row + LETTERS, upper | lower)
        put(sets, row + NUMBERS, bytes_within(text, at, 48, 10))
        put(sets, row + SPACES, bytes_within(text, at, 9, 5) | blanks)
        put(sets, row + CAPITALS, upper)
        put(sets, row + SMALL, lower)
        put(sets, row + CASELESS, ZERO)
        put(sets, row + BREAKS, bytes_within(text, at, 10, 1) | bytes_within(text, at, 13, 1))
        put(sets, row + BLANKS, blanks)
        put(sets, row + QUOTES, bytes_within(text, at, 39, 1))
        put(sets, row + FOLLOWING, foreign)
        put(sets, row + UNSURE, ZERO)
        wide |= foreign
    if wide != ZERO:
        for k in range(blocks):
            # A character's class goes to all its bytes: four are written, and what comes after
            # it is either written later or ASCII, and then not looked at.
            leads = bytes_within(text, 64 * k, 0xC0, 64)
            while leads != ZERO:
                i = 64 * k + np.int64(trailing_zeros(leads))
                kind, _ = class_at(text, i, classes)
                store(kinds, i, np.uint32(kind * 0x01010101))
                leads &= leads - ONE
        for k in range(blocks):
            row = COLUMNS * (k + 1)
            at = 64 * k
            foreign = get(sets, row + FOLLOWING)
            if foreign == ZERO:
                continue
            letters = bytes_with(kinds, at, LETTER) & foreign
            upper = bytes_with(kinds, at, UPPER) & foreign
            lower = bytes_with(kinds, at, LOWER) & foreign
            both = upper & lower
            _add(sets, row + NUMBERS, bytes_with(kinds, at, NUMBER) & foreign)
            _add(sets, row + SPACES, bytes_with(kinds, at, SPACE) & foreign)
            _add(sets, row + CAPITALS, upper & ~both)
            _add(sets, row + SMALL, lower & ~both)
            put(sets, row + CASELESS, both)
            put(sets, row + FOLLOWING, bytes_within(text, at, 0x80, 64))
            if scheme == O200K:  # combining marks may go with letters: see _starts_cl100k
                put(sets, row + UNSURE, both & ~letters)
                letters |= both
            _add(sets, row + LETTERS, letters)
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        there = ALL
        if k == length >> 6:
            there = (ONE << np.uint64(length & 63)) - ONE
        spaces = get(sets, row + SPACES) & there
        put(sets, row + SPACES, spaces)
        put(sets, row + SOLID, there & ~spaces)
        known = get(sets, row + LETTERS) | get(sets, row + NUMBERS) | spaces
        put(sets, row + SIGNS, there & ~known)


@inline(uint64(u64, int64, uint64))
def _runs_of_spaces(sets, row, spaces):
    """Where runs of white space begin."""
    put(sets, row + SPACES, spaces)
    runs = spaces & ~_after(sets, row + SPACES)
    put(sets, row + FIRM, get(sets, row + SOLID) | runs)
    return runs


@inline(uint64(u64, int64, uint64))
def _last_spaces(sets, row, runs):
    """The last character of each run of white space that something follows.

    One of several bytes is only known if it is the whole run, which is a start anyway.
    """
    last = get(sets, row + SPACES) & _ahead(sets, row + SOLID)
    following = get(sets, row + FOLLOWING)
    wide = last & following
    if wide != ZERO:
        earlier = get(sets, row - COLUMNS + FIRM) & ~get(sets, row - COLUMNS + SOLID)
        alone = (runs << ONE) | (earlier >> TOP_BIT)
        alone |= ((runs << TWO) | (earlier >> (TOP_BIT - ONE))) & _after(sets, row + FOLLOWING)
        _add(sets, row + UNSURE, wide & ~alone)
    return last & ~following


@part(void(int64, u64))
def _starts_gpt2(blocks, sets):
    """Fill STARTS, FIRM and UNSURE as GPT-2's pattern says."""
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        runs = _runs_of_spaces(sets, row, get(sets, row + SPACES))
        starts = runs | _last_spaces(sets, row, runs)
        same = get(sets, row + LETTERS) & _after(sets, row + LETTERS)
        same |= get(sets, row + NUMBERS) & _after(sets, row + NUMBERS)
        same |= get(sets, row + SIGNS) & _after(sets, row + SIGNS)
        starts |= get(sets, row + SOLID) & ~same & ~_after(sets, row + BLANKS)
        put(sets, row + STARTS, starts)


@part(void(int64, int64, u8, u64))
def _starts_cl100k(scheme, blocks, text, sets):
    """Fill STARTS, FIRM and UNSURE as the patterns of cl100k and o200k say."""
    carry = ZERO
    carry_white = ZERO
    taken_before = ZERO
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        solid = get(sets, row + SOLID)
        signs = get(sets, row + SIGNS)
        letters = get(sets, row + LETTERS)
        numbers = get(sets, row + NUMBERS)
        following = get(sets, row + FOLLOWING)
        unsure = get(sets, row + UNSURE)
        put(sets, row + UNSURE, ZERO)
        # Breaks go with the signs before them. An addition carries through each run of breaks: of
        # the text `!` LF LF `x`, breaks are 0110 and those right after a sign 0010 (the first byte
        # is the lowest bit); 0110 + 0010 is 1000, so the bits that went to 0 are the run.
        breaks = get(sets, row + BREAKS)
        taken = (breaks & _after(sets, row + SIGNS)) | carry
        total = breaks + taken
        carry = ONE if total < breaks else ZERO
        taken = breaks & ~total
        breaks &= ~taken
        put(sets, row + BREAKS, breaks)
        runs = _runs_of_spaces(sets, row, get(sets, row + SPACES) & ~taken)
        # A run of white space is cut after its last break, and before its last character.
        white = get(sets, row + SPACES) & ~breaks
        lines = white & _after(sets, row + BREAKS)
        starts = runs | lines | (_last_spaces(sets, row, runs) & white)
        # A sign goes with the letters that follow if a pre-token begins with it.
        first = signs & ~_after(sets, row + SIGNS) & ~_after(sets, row + BLANKS)
        put(sets, row + LONE, first)
        if following != ZERO:
            for _ in range(3):
                _add(sets, row + LONE, following & _after(sets, row + LONE))
        joined = _after(sets, row + LONE)
        joined |= _after(sets, row + SPACES) & ~_after(sets, row + BREAKS)
        starts |= first | (numbers & ~_after(sets, row + NUMBERS))
        starts |= letters & ~_after(sets, row + LETTERS) & ~joined
        if scheme == O200K:
            capitals = get(sets, row + CAPITALS)
            caseless = get(sets, row + CASELESS)
            starts |= capitals & _after(sets, row + SMALL)
            # A combining mark after no letter; capitals beside characters without case.
            unsure &= ~(following | _after(sets, row + LETTERS))
            unsure |= capitals & _after(sets, row + CASELESS)
            unsure |= caseless & _after(sets, row + CAPITALS)
            # A slash goes with the breaks that go with signs.
            slashes = ((taken << ONE) | (taken_before >> TOP_BIT)) & signs
            if slashes != ZERO:
                unsure |= slashes & bytes_within(text, 64 * k, 47, 1)
            taken_before = taken
        put(sets, row + STARTS, starts)
        _add(sets, row + UNSURE, unsure)
        # Blanks at the end of a line are not cut from the break that follows them; with cl100k
        # (`\s++\Z`) those at the end of the text are not cut either.
        total = white + (lines | carry_white)
        carry_white = ONE if total < white else ZERO
        kept = total & ~white & breaks
        if scheme == CL100K:
            kept |= total & ~white & ~(solid | get(sets, row + SPACES) | taken)
        while kept != ZERO:
            _unset_last(sets, 64 * k + np.int64(trailing_zeros(kept)))
            kept &= kept - ONE


@part(void(int64, u64))
def _starts_whitespace(blocks, sets):
    """Fill STARTS and FIRM for runs of white space and of all else."""
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        solid = get(sets, row + SOLID)
        spaces = get(sets, row + SPACES)
        put(sets, row + FIRM, solid | spaces)
        starts = (solid & ~_after(sets, row + SOLID)) | (spaces & ~_after(sets, row + SPACES))
        put(sets, row + STARTS, starts)


@part(int64(u64, int64))
def _last_firm(sets, place):
    """The last firm start before `place` in a window, 0 if there is none."""
    k = place >> 6
    below = (ONE << np.uint64(place & 63)) - ONE
    while k >= 0:
        row = COLUMNS * (k + 1)
        starts = get(sets, row + STARTS) & get(sets, row + FIRM) & below
        if starts != ZERO:
            return 64 * k + 63 - np.int64(leading_zeros(starts))
        below = ALL
        k -= 1
    return np.int64(0)


@part(void(u64, int64))
def _unset_last(sets, place):
    """Take the last start before `place` away."""
    k = place >> 6
    below = (ONE << np.uint64(place & 63)) - ONE
    while k >= 0:
        row = COLUMNS * (k + 1) + STARTS
        starts = get(sets, row) & below
        if starts != ZERO:
            put(sets, row, get(sets, row) ^ ((ONE << TOP_BIT) >> leading_zeros(starts)))
            return
        below = ALL
        k -= 1


@inline(boolean(u64, int64))
def _is_start(sets, place):
    starts = get(sets, COLUMNS * ((place >> 6) + 1) + STARTS)
    return (starts >> np.uint64(place & 63)) & ONE != ZERO


@inline(void(u64, int64))
def _set_start(sets, place):
    _add(sets, COLUMNS * ((place >> 6) + 1) + STARTS, ONE << np.uint64(place & 63))


@inline(void(u64, int64, int64))
def _unset_starts(sets, place, stop):
    """Take the starts in place..stop - 1 away."""
    while place < stop:
        n = min(stop - place, 64 - (place & 63))
        row = COLUMNS * ((place >> 6) + 1) + STARTS
        span = (ALL >> np.uint64(64 - n)) << np.uint64(place & 63)
        put(sets, row, get(sets, row) & ~span)
        place += n


@part(void(int64, int64, int64, u8, u64))
def _mend_contractions(scheme, length, blocks, text, sets):
    """Move starts so that contractions stand alone, or with o200k go with the word before."""
    end_before = np.int64(0)
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        quotes = get(sets, row + QUOTES)
        if quotes == ZERO:
            continue
        quotes &= _ahead(sets, row + LETTERS)
        if scheme == O200K:
            quotes &= _after(sets, row + LETTERS)
        else:
            quotes &= get(sets, row + STARTS)
        while quotes != ZERO:
            i = 64 * k + np.int64(trailing_zeros(quotes))
            quotes &= quotes - ONE
            end = contraction(text, i, length, scheme != GPT2)
            if end > i:
                if scheme == GPT2:
                    _unset_starts(sets, i + 1, end)
                elif scheme == O200K:
                    # It goes with the word before it, which is over when it had one already.
                    if i == end_before:
                        continue
                    _unset_starts(sets, i, end)
                    end_before = end
                _set_start(sets, end)


@part(void(int64, u64))
def _cut_numbers(blocks, sets):
    """Cut runs of numbers after every third."""
    for k in range(blocks):
        row = COLUMNS * (k + 1) + NUMBERS
        numbers = get(sets, row)
        more = get(sets, row + COLUMNS)
        long = numbers & ~_after(sets, row) & _ahead(sets, row)
        long &= (numbers >> TWO) | (more << (TOP_BIT - ONE))
        long &= (numbers >> np.uint64(3)) | (more << np.uint64(61))
        while long != ZERO:
            i = 64 * k + np.int64(trailing_zeros(long))
            long &= long - ONE
            count = 0
            while True:
                row = COLUMNS * ((i >> 6) + 1)
                bit = np.uint64(i & 63)
                if (get(sets, row + NUMBERS) >> bit) & ONE == ZERO:
                    break
                if (get(sets, row + FOLLOWING) >> bit) & ONE == ZERO:
                    if count == 3:
                        _set_start(sets, i)
                        count = 0
                    count += 1
                i += 1


@part(int64(int64, U8, int64, int64, int64, int64, U8, u64))
def _decide(scheme, buf, base, length, stop, blocks, classes, sets):
    """Put the unsure places of a window right, one pre-token at a time.

    Returns the end of the last of these if that is the window's end or beyond, else 0.

    What stands at an unsure place may make the starts near it wrong. So one goes back to the last
    firm start that lies at least REACH bytes before it, which no pattern's look ahead can have
    made wrong, and follows `next_end` from there, replacing the starts in between. Once it gives
    an end that the sets also have as a start, at least REACH bytes after the place, both agree
    from there on: what follows a start does not depend on what precedes it.
    """
    done = np.int64(0)
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        unsure = get(sets, row + UNSURE)
        while unsure != ZERO:
            place = 64 * k + np.int64(trailing_zeros(unsure))
            unsure &= unsure - ONE
            # The next window begins at a firm start MARGIN or more before the end of this one, so
            # it has the last half of the margin well inside, and decides what is unsure there.
            if place < done or (place >= length - MARGIN // 2 and base + length < stop):
                continue
            i = max(done, _last_firm(sets, max(place - REACH + 1, 0)))
            while True:
                end = next_end(scheme, buf, base + i, stop, classes) - base
                if end >= length:
                    _unset_starts(sets, i + 1, length)
                    return end
                known = _is_start(sets, end)
                _unset_starts(sets, i + 1, end)
                _set_start(sets, end)
                i = end
                if known and i >= place + REACH:
                    break
            done = i
    return np.int64(0)


@part(int64(int64, int64, u64, i64, int64))
def _list_starts(base, stop, sets, ends, n):
    """Write the starts in 1..stop - 1 of a window to ends[n:], return how many there are then."""
    for k in range((stop + 63) >> 6):
        starts = get(sets, COLUMNS * (k + 1) + STARTS)
        if k == 0:
            starts &= ~ONE
        if k == stop >> 6:
            starts &= (ONE << np.uint64(stop & 63)) - ONE
        at = base + 64 * k
        i = n
        n += np.int64(count_ones(starts))
        while starts != ZERO:  # eight at once, so that the loop's end is easier to foresee
            for _ in range(8):
                put(ends, i, at + np.int64(trailing_zeros(starts)))
                starts &= starts - ONE
                i += 1
    return n


@part(boolean(int64, U8, int64, int64, int64))
def _is_cut(scheme, buf, i, a, b):
    """Does a pre-token end between characters of classes a and b (b starts at i), whatever
    stands further left or right?"""
    if scheme == WHITESPACE:
        return (a ^ b) & SPACE != 0
    if a & NUMBER and not b & NUMBER:
        return True
    if scheme == O200K:
        return a & LETTER != 0 and b & (UPPER | LOWER) == 0 and buf[i] != 39
    if a & LETTER and not b & LETTER:
        return True
    return scheme == GPT2 and not a & SPACE and b & SPACE != 0


@kernel(int64(int64, U8, int64, int64, U8))
def last_cut(scheme, buf, start, stop, classes):
    """Last place within (start, stop) where a pre-token ends for certain, else `start`."""
    right = stop  # start of the character on the right
    kind_right = np.int64(-1)
    while right > start:
        left = right - 1
        while left > start and buf[left] & 0xC0 == 0x80:
            left -= 1
        kind, _ = class_at(buf, left, classes)
        if kind_right >= 0 and _is_cut(scheme, buf, right, kind, kind_right):
            return right
        kind_right = kind
        right = left
    return start


@kernel(int64(int64, U8, I64, U8, WINDOW_TYPE, i64, I64))
def scan_segments(scheme, buf, bounds, classes, window, ends, state):
    """Write the ends of the next pre-tokens of segments of `buf`; return how many.

    Segment k is buf[bounds[2 * k]:bounds[2 * k + 1]], a text of its own; state[0] says in which
    one to begin and state[1] where in it (-1: its start). Stops when `ends` may have no room
    for those of another window.
    """
    text, kinds, sets = window
    n = 0
    room = ends.size - ENDS_ROOM
    base = state[1]
    for segment in range(state[0], bounds.size // 2):
        if base < 0:
            base = bounds[2 * segment]
        stop = bounds[2 * segment + 1]
        while base < stop:
            if n > room:
                return n
            length = min(stop - base, WINDOW)
            blocks = (length + 64) >> 6  # the last one has a byte or more that is no text
            copy(text, buf, base, length)
            clear64(text, length)
            _fill_sets(scheme, length, blocks, classes, text, kinds, sets)
            if scheme == GPT2:
                _starts_gpt2(blocks, sets)
            elif scheme == WHITESPACE:
                _starts_whitespace(blocks, sets)
            else:
                _starts_cl100k(scheme, blocks, text, sets)
                _cut_numbers(blocks, sets)
            if scheme != WHITESPACE:
                _mend_contractions(scheme, length, blocks, text, sets)
            last = length
            end = _decide(scheme, buf, base, length, stop, blocks, classes, sets)
            if end == 0 and base + length == stop:
                end = length
            elif end == 0:
                end = _last_firm(sets, length - MARGIN)
                last = end
                if end == 0:  # the pre-token is longer than the window
                    end = next_end(scheme, buf, base, stop, classes) - base
            n = _list_starts(base, last, sets, ends, n)
            base += end
            ends[n] = base
            n += 1
        base = np.int64(-1)
    return n
