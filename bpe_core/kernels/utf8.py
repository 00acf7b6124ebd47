"""UTF-8 as bytes: how far it is valid, and what the character at a place is.

Belongs here: reading UTF-8 byte by byte. Does not belong here: decoding to str (`text.py`).
"""

import numpy as np

from .compiling import U8, inline, int64, kernel, tuple_of
from .machine import bytes_with, get


@kernel(int64(U8, int64, int64))
def valid_utf8(buf, start, stop):
    """End of the valid UTF-8 that buf[start:stop] begins with."""
    i = start
    while i < stop:
        if i + 64 <= stop and bytes_with(buf, i, 0x80) == 0:
            i += 64
            continue
        b = buf[i]
        if b < 0x80:
            i += 1
            continue
        # Source of the ranges: the Unicode Standard, table 3-7.
        low = 0x80
        high = 0xBF
        if b < 0xC2 or b > 0xF4:
            return i
        if b < 0xE0:
            size = 2
        elif b < 0xF0:
            size = 3
            if b == 0xE0:
                low = 0xA0
            elif b == 0xED:
                high = 0x9F
        else:
            size = 4
            if b == 0xF0:
                low = 0x90
            elif b == 0xF4:
                high = 0x8F
        if i + size > stop or buf[i + 1] < low or buf[i + 1] > high:
            return i
        for k in range(2, size):
            if buf[i + k] & 0xC0 != 0x80:
                return i
        i += size
    return i


@inline(tuple_of(2, int64)(U8, int64, U8))
def class_at(buf, i, classes):
    """(class bits, byte length) of the UTF-8 character at i."""
    b = np.int64(get(buf, i))
    if b < 0x80:
        return np.int64(get(classes, b)), np.int64(1)
    c = np.int64(get(buf, i + 1)) & 0x3F
    if b < 0xE0:
        return np.int64(get(classes, ((b & 0x1F) << 6) | c)), np.int64(2)
    d = np.int64(get(buf, i + 2)) & 0x3F
    if b < 0xF0:
        return np.int64(get(classes, ((b & 0x0F) << 12) | (c << 6) | d)), np.int64(3)
    e = np.int64(get(buf, i + 3)) & 0x3F
    point = ((b & 0x07) << 18) | (c << 12) | (d << 6) | e
    return np.int64(get(classes, point)), np.int64(4)
