"""Where pre-tokens end, 64 bytes at a time: the fast scanners.

A window of text is looked at in rows of 64 bytes: one word tells of each byte whether it belongs
to a letter, another whether to white space, and so on; a few operations on these sets tell of all
64 bytes at once whether a pre-token begins there. A few places cannot be told like this; they are
marked as unsure and decided by the plain scanner (`next_end.py`).

A table of `marks` holds the sets: a row for 64 bytes (and an empty one before and after all), a
column for each set. A character's bytes all have the mark of the character.

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
    TOP,
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
REACH = 8  # bytes: no pattern looks as far beyond a firm start, two characters at most

WINDOW_TYPE = group(Window, u8, u8, u64)

# Columns of the table of marks.
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
LONE = 12  # signs that may go with the letters behind them
FIRM = 13  # what no character behind it can make undone as a start
UNSURE = 14  # here, `next_end` has to decide
STARTS = 15


@inline(void(u64, int64, uint64))
def _add(marks, place, more):
    put(marks, place, get(marks, place) | more)


@inline(uint64(u64, int64))
def _after(marks, place):
    """The bytes right behind those of a set."""
    return (get(marks, place) << ONE) | (get(marks, place - COLUMNS) >> TOP)


@inline(uint64(u64, int64))
def _ahead(marks, place):
    """The bytes right before those of a set."""
    return (get(marks, place) >> ONE) | (get(marks, place + COLUMNS) << TOP)


@part(void(int64, int64, int64, U8, u8, u8, u64))
def _mark(scheme, length, blocks, classes, text, kinds, marks):
    """Fill the columns that tell what the characters of text[:length] are."""
    for k in range(COLUMNS):
        put(marks, k, ZERO)
        put(marks, COLUMNS * (blocks + 1) + k, ZERO)
    wide = ZERO  # whether there is anything but ASCII
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        at = 64 * k
        upper = bytes_within(text, at, 65, 26)
        lower = bytes_within(text, at, 97, 26)
        blanks = bytes_within(text, at, 32, 1)
        foreign = bytes_with(text, at, 128)
        put(marks, row + LETTERS, upper | lower)
        put(marks, row + NUMBERS, bytes_within(text, at, 48, 10))
        put(marks, row + SPACES, bytes_within(text, at, 9, 5) | blanks)
        put(marks, row + CAPITALS, upper)
        put(marks, row + SMALL, lower)
        put(marks, row + CASELESS, ZERO)
        put(marks, row + BREAKS, bytes_within(text, at, 10, 1) | bytes_within(text, at, 13, 1))
        put(marks, row + BLANKS, blanks)
        put(marks, row + QUOTES, bytes_within(text, at, 39, 1))
        put(marks, row + FOLLOWING, foreign)
        put(marks, row + UNSURE, ZERO)
        wide |= foreign
    if wide != ZERO:
        for k in range(blocks):
            # A character's class goes to all its bytes: four are written, and what comes behind
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
            foreign = get(marks, row + FOLLOWING)
            if foreign == ZERO:
                continue
            letters = bytes_with(kinds, at, LETTER) & foreign
            upper = bytes_with(kinds, at, UPPER) & foreign
            lower = bytes_with(kinds, at, LOWER) & foreign
            both = upper & lower
            _add(marks, row + NUMBERS, bytes_with(kinds, at, NUMBER) & foreign)
            _add(marks, row + SPACES, bytes_with(kinds, at, SPACE) & foreign)
            _add(marks, row + CAPITALS, upper & ~both)
            _add(marks, row + SMALL, lower & ~both)
            put(marks, row + CASELESS, both)
            put(marks, row + FOLLOWING, bytes_within(text, at, 0x80, 64))
            if scheme == O200K:  # marks can go with letters: see _starts_cl100k
                put(marks, row + UNSURE, both & ~letters)
                letters |= both
            _add(marks, row + LETTERS, letters)
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        there = ALL
        if k == length >> 6:
            there = (ONE << np.uint64(length & 63)) - ONE
        spaces = get(marks, row + SPACES) & there
        put(marks, row + SPACES, spaces)
        put(marks, row + SOLID, there & ~spaces)
        known = get(marks, row + LETTERS) | get(marks, row + NUMBERS) | spaces
        put(marks, row + SIGNS, there & ~known)


@inline(uint64(u64, int64, uint64))
def _runs_of_spaces(marks, row, spaces):
    """Where runs of white space begin."""
    put(marks, row + SPACES, spaces)
    runs = spaces & ~_after(marks, row + SPACES)
    put(marks, row + FIRM, get(marks, row + SOLID) | runs)
    return runs


@inline(uint64(u64, int64, uint64))
def _last_spaces(marks, row, runs):
    """The last character of each run of white space that something follows.

    One of several bytes is only known if it is the whole run, which is a start anyway.
    """
    last = get(marks, row + SPACES) & _ahead(marks, row + SOLID)
    following = get(marks, row + FOLLOWING)
    wide = last & following
    if wide != ZERO:
        earlier = get(marks, row - COLUMNS + FIRM) & ~get(marks, row - COLUMNS + SOLID)
        alone = (runs << ONE) | (earlier >> TOP)
        alone |= ((runs << TWO) | (earlier >> (TOP - ONE))) & _after(marks, row + FOLLOWING)
        _add(marks, row + UNSURE, wide & ~alone)
    return last & ~following


@part(void(int64, u64))
def _starts_gpt2(blocks, marks):
    """Fill STARTS, FIRM and UNSURE as GPT-2's pattern says."""
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        runs = _runs_of_spaces(marks, row, get(marks, row + SPACES))
        starts = runs | _last_spaces(marks, row, runs)
        same = get(marks, row + LETTERS) & _after(marks, row + LETTERS)
        same |= get(marks, row + NUMBERS) & _after(marks, row + NUMBERS)
        same |= get(marks, row + SIGNS) & _after(marks, row + SIGNS)
        starts |= get(marks, row + SOLID) & ~same & ~_after(marks, row + BLANKS)
        put(marks, row + STARTS, starts)


@part(void(int64, int64, u8, u64))
def _starts_cl100k(scheme, blocks, text, marks):
    """The same for the patterns of cl100k and o200k."""
    carry = ZERO
    carry_white = ZERO
    taken_before = ZERO
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        solid = get(marks, row + SOLID)
        signs = get(marks, row + SIGNS)
        letters = get(marks, row + LETTERS)
        numbers = get(marks, row + NUMBERS)
        following = get(marks, row + FOLLOWING)
        unsure = get(marks, row + UNSURE)
        put(marks, row + UNSURE, ZERO)
        # Breaks go with the signs before them: an addition carries through each such run.
        breaks = get(marks, row + BREAKS)
        taken = (breaks & _after(marks, row + SIGNS)) | carry
        total = breaks + taken
        carry = ONE if total < breaks else ZERO
        taken = breaks & ~total
        breaks &= ~taken
        put(marks, row + BREAKS, breaks)
        runs = _runs_of_spaces(marks, row, get(marks, row + SPACES) & ~taken)
        # A run of white space is cut behind its last break, and before its last character.
        white = get(marks, row + SPACES) & ~breaks
        lines = white & _after(marks, row + BREAKS)
        starts = runs | lines | (_last_spaces(marks, row, runs) & white)
        # A sign goes with the letters behind it if a pre-token begins with it.
        first = signs & ~_after(marks, row + SIGNS) & ~_after(marks, row + BLANKS)
        put(marks, row + LONE, first)
        if following != ZERO:
            for _ in range(3):
                _add(marks, row + LONE, following & _after(marks, row + LONE))
        joined = _after(marks, row + LONE)
        joined |= _after(marks, row + SPACES) & ~_after(marks, row + BREAKS)
        starts |= first | (numbers & ~_after(marks, row + NUMBERS))
        starts |= letters & ~_after(marks, row + LETTERS) & ~joined
        if scheme == O200K:
            capitals = get(marks, row + CAPITALS)
            caseless = get(marks, row + CASELESS)
            starts |= capitals & _after(marks, row + SMALL)
            # A mark behind no letter; capitals beside characters without case.
            unsure &= ~(following | _after(marks, row + LETTERS))
            unsure |= capitals & _after(marks, row + CASELESS)
            unsure |= caseless & _after(marks, row + CAPITALS)
            # A slash goes with the breaks that go with signs.
            slashes = ((taken << ONE) | (taken_before >> TOP)) & signs
            if slashes != ZERO:
                unsure |= slashes & bytes_within(text, 64 * k, 47, 1)
            taken_before = taken
        put(marks, row + STARTS, starts)
        _add(marks, row + UNSURE, unsure)
        # Blanks at the end of a line are not cut from the break behind them.
        total = white + (lines | carry_white)
        carry_white = ONE if total < white else ZERO
        kept = total & ~white & breaks
        if scheme == CL100K:
            kept |= total & ~white & ~(solid | get(marks, row + SPACES) | taken)
        while kept != ZERO:
            _unset_last(marks, 64 * k + np.int64(trailing_zeros(kept)))
            kept &= kept - ONE


@part(void(int64, u64))
def _starts_whitespace(blocks, marks):
    """The same for runs of white space and of all else."""
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        solid = get(marks, row + SOLID)
        spaces = get(marks, row + SPACES)
        put(marks, row + FIRM, solid | spaces)
        starts = (solid & ~_after(marks, row + SOLID)) | (spaces & ~_after(marks, row + SPACES))
        put(marks, row + STARTS, starts)


@part(int64(u64, int64))
def _last_firm(marks, place):
    """The last firm start before `place` in a window, 0 if there is none."""
    k = place >> 6
    below = (ONE << np.uint64(place & 63)) - ONE
    while k >= 0:
        row = COLUMNS * (k + 1)
        starts = get(marks, row + STARTS) & get(marks, row + FIRM) & below
        if starts != ZERO:
            return 64 * k + 63 - np.int64(leading_zeros(starts))
        below = ALL
        k -= 1
    return np.int64(0)


@part(void(u64, int64))
def _unset_last(marks, place):
    """Take the last start before `place` away."""
    k = place >> 6
    below = (ONE << np.uint64(place & 63)) - ONE
    while k >= 0:
        row = COLUMNS * (k + 1) + STARTS
        starts = get(marks, row) & below
        if starts != ZERO:
            put(marks, row, get(marks, row) ^ ((ONE << TOP) >> leading_zeros(starts)))
            return
        below = ALL
        k -= 1


@inline(boolean(u64, int64))
def _is_start(marks, place):
    starts = get(marks, COLUMNS * ((place >> 6) + 1) + STARTS)
    return (starts >> np.uint64(place & 63)) & ONE != ZERO


@inline(void(u64, int64))
def _set_start(marks, place):
    _add(marks, COLUMNS * ((place >> 6) + 1) + STARTS, ONE << np.uint64(place & 63))


@inline(void(u64, int64, int64))
def _unset_starts(marks, place, stop):
    """Take the starts in place..stop - 1 away."""
    while place < stop:
        n = min(stop - place, 64 - (place & 63))
        row = COLUMNS * ((place >> 6) + 1) + STARTS
        span = (ALL >> np.uint64(64 - n)) << np.uint64(place & 63)
        put(marks, row, get(marks, row) & ~span)
        place += n


@part(void(int64, int64, int64, u8, u64))
def _mend_contractions(scheme, length, blocks, text, marks):
    """Move starts so that contractions stand alone, or with o200k go with the word before."""
    end_before = np.int64(0)
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        quotes = get(marks, row + QUOTES)
        if quotes == ZERO:
            continue
        quotes &= _ahead(marks, row + LETTERS)
        if scheme == O200K:
            quotes &= _after(marks, row + LETTERS)
        else:
            quotes &= get(marks, row + STARTS)
        while quotes != ZERO:
            i = 64 * k + np.int64(trailing_zeros(quotes))
            quotes &= quotes - ONE
            end = contraction(text, i, length, scheme != GPT2)
            if end > i:
                if scheme == GPT2:
                    _unset_starts(marks, i + 1, end)
                elif scheme == O200K:
                    # It goes with the word before it, which is over when it had one already.
                    if i == end_before:
                        continue
                    _unset_starts(marks, i, end)
                    end_before = end
                _set_start(marks, end)


@part(void(int64, u64))
def _cut_numbers(blocks, marks):
    """Cut runs of numbers after every third."""
    for k in range(blocks):
        row = COLUMNS * (k + 1) + NUMBERS
        numbers = get(marks, row)
        more = get(marks, row + COLUMNS)
        long = numbers & ~_after(marks, row) & _ahead(marks, row)
        long &= (numbers >> TWO) | (more << (TOP - ONE))
        long &= (numbers >> np.uint64(3)) | (more << np.uint64(61))
        while long != ZERO:
            i = 64 * k + np.int64(trailing_zeros(long))
            long &= long - ONE
            count = 0
            while True:
                row = COLUMNS * ((i >> 6) + 1)
                bit = np.uint64(i & 63)
                if (get(marks, row + NUMBERS) >> bit) & ONE == ZERO:
                    break
                if (get(marks, row + FOLLOWING) >> bit) & ONE == ZERO:
                    if count == 3:
                        _set_start(marks, i)
                        count = 0
                    count += 1
                i += 1


@part(int64(int64, U8, int64, int64, int64, int64, U8, u64))
def _decide(scheme, buf, base, length, stop, blocks, classes, marks):
    """Put the unsure places of a window right, one pre-token at a time.

    Returns the end of the last of these if that is the window's end or beyond, else 0.

    What stands at an unsure place may make the starts near it wrong. Before it, a firm start is
    right if it lies further away than any pattern looks ahead from one, REACH bytes. Behind it,
    the sets are right again from a start on that they have as well, but not so near that they
    may have it for another reason: what follows a start does not depend on what is before it.
    """
    done = np.int64(0)
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        unsure = get(marks, row + UNSURE)
        while unsure != ZERO:
            place = 64 * k + np.int64(trailing_zeros(unsure))
            unsure &= unsure - ONE
            # The next window begins before the margin and looks at what is left out here.
            if place < done or (place >= length - MARGIN // 2 and base + length < stop):
                continue
            i = max(done, _last_firm(marks, max(place - REACH + 1, 0)))
            while True:
                end = next_end(scheme, buf, base + i, stop, classes) - base
                if end >= length:
                    _unset_starts(marks, i + 1, length)
                    return end
                known = _is_start(marks, end)
                _unset_starts(marks, i + 1, end)
                _set_start(marks, end)
                i = end
                if known and i >= place + REACH:
                    break
            done = i
    return np.int64(0)


@part(int64(int64, int64, u64, i64, int64))
def _list_starts(base, stop, marks, ends, n):
    """Write the starts in 1..stop - 1 of a window to ends[n:], return how many there are then."""
    for k in range((stop + 63) >> 6):
        starts = get(marks, COLUMNS * (k + 1) + STARTS)
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
    text, kinds, marks = window
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
            _mark(scheme, length, blocks, classes, text, kinds, marks)
            if scheme == GPT2:
                _starts_gpt2(blocks, marks)
            elif scheme == WHITESPACE:
                _starts_whitespace(blocks, marks)
            else:
                _starts_cl100k(scheme, blocks, text, marks)
                _cut_numbers(blocks, marks)
            if scheme != WHITESPACE:
                _mend_contractions(scheme, length, blocks, text, marks)
            last = length
            end = _decide(scheme, buf, base, length, stop, blocks, classes, marks)
            if end == 0 and base + length == stop:
                end = length
            elif end == 0:
                end = _last_firm(marks, length - MARGIN)
                last = end
                if end == 0:  # the pre-token is longer than the window
                    end = next_end(scheme, buf, base, stop, classes) - base
            n = _list_starts(base, last, marks, ends, n)
            base += end
            ends[n] = base
            n += 1
        base = np.int64(-1)
    return n
