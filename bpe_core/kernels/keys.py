"""Keys of pre-tokens for hash tables, and the comparison of bytes.

A pre-token of up to 15 bytes is its own key: two words, its length in the highest byte. Of a longer
one the key is a hash, and the bytes are compared.

Belongs here: what counting, merging and encoding share of this. Does not belong here: the tables.
"""

import numpy as np

from .compiling import U8, boolean, inline, int64, part, tuple_of, uint64
from .layout import ZERO
from .machine import get, load64

# Sixteen bytes from 16 - n on keep the first n bytes of sixteen.
_KEEP = np.array([0xFF] * 16 + [0] * 16, np.uint8)


@part(boolean(U8, int64, U8, int64, int64))
def same_bytes(a, i, b, j, n):
    k = 0
    while k + 8 <= n:
        if load64(a, i + k) != load64(b, j + k):
            return False
        k += 8
    while k < n:
        if a[i + k] != b[j + k]:
            return False
        k += 1
    return True


@inline(tuple_of(2, uint64)(U8, int64, int64))
def short_key_inside(buf, i, n):
    """Both words of a pre-token of n <= 15 bytes, where there are sixteen bytes to read.

    Without branches on n, which is random.
    """
    low = load64(buf, i) & load64(_KEEP, 16 - n)
    high = load64(buf, i + 8) & load64(_KEEP, 24 - n)
    return low, high | (np.uint64(n) << np.uint64(56))


@part(tuple_of(2, uint64)(U8, int64, int64))
def short_key(buf, i, n):
    """Both words of a pre-token of n <= 15 bytes, wherever it stands."""
    if i + 16 <= buf.size:
        return short_key_inside(buf, i, n)
    low = ZERO
    high = np.uint64(n) << np.uint64(56)
    for k in range(n):
        byte = np.uint64(get(buf, i + k)) << np.uint64(8 * (k & 7))
        if k < 8:
            low |= byte
        else:
            high |= byte
    return low, high


@inline(uint64(uint64, uint64))
def mix(a, b):
    h = (a ^ (b >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(32)) ^ b) * np.uint64(0xC2B2AE3D27D4EB4F)
    return h ^ (h >> np.uint64(29))


@part(tuple_of(2, uint64)(U8, int64, int64))
def long_key(buf, i, n):
    """A hash of n > 15 bytes, by sixteen; the last ones once more rather than a rest by bytes."""
    h = mix(load64(buf, i) ^ np.uint64(n), load64(buf, i + 8))
    last = i + n - 16
    i += 16
    while i < last:
        h = mix(load64(buf, i) ^ h, load64(buf, i + 8))
        i += 16
    h = mix(load64(buf, last) ^ h, load64(buf, last + 8))
    return h, np.uint64(0xFF) << np.uint64(56)
