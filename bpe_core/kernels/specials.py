"""Where special tokens stand in a text.

Belongs here: the search, literally and byte by byte. Does not belong here: which tokens count and
what is done with them (`special.py`).
"""

import numpy as np

from .compiling import I64, U8, i64, int64, kernel
from .keys import same_bytes
from .layout import ZERO
from .machine import bytes_within, get, trailing_zeros


@kernel(int64(U8, I64, int64, U8, U8, U8, I64, i64, i64))
def find_specials(buf, bounds, first, firsts, begins, tokens, offsets, found, state):
    """Find special tokens in the segments of `buf` from `first` on; return the next segment.

    Token t is tokens[offsets[t]:offsets[t + 1]], longer ones first. `firsts` are the bytes that
    one begins with; begins[a + 256 * b] tells whether one can begin with the bytes a, b. A row
    (segment, place, token) a hit goes to `found`, state[0] rows in all; it comes back early
    where `found` is full, with the place to go on at in state[1] (-1: the segment's start).
    """
    n = state[0]
    for segment in range(first, bounds.size // 2):
        i = bounds[2 * segment] if state[1] < 0 else state[1]
        stop = bounds[2 * segment + 1]
        while i < stop:
            if i + 64 <= stop:
                here = ZERO
                for k in range(firsts.size):
                    here |= bytes_within(buf, i, np.int64(get(firsts, k)), 1)
                if here == ZERO:
                    i += 64
                    continue
                i += np.int64(trailing_zeros(here))
            two = np.int64(get(buf, i))
            if i + 1 < stop:
                two += 256 * np.int64(get(buf, i + 1))
            hit = -1
            if get(begins, two) != 0:
                for t in range(offsets.size - 1):
                    size = offsets[t + 1] - offsets[t]
                    if i + size <= stop and same_bytes(buf, i, tokens, offsets[t], size):
                        hit = t
                        break
            if hit < 0:
                i += 1
                continue
            if 3 * n + 3 > found.size:
                state[0] = n
                state[1] = i
                return segment
            found[3 * n] = segment
            found[3 * n + 1] = i
            found[3 * n + 2] = hit
            n += 1
            i += offsets[hit + 1] - offsets[hit]
        state[1] = -1
    state[0] = n
    return bounds.size // 2
