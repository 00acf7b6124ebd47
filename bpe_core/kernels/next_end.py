"""Where the pre-token that starts at a place ends: the plain scanners.

A scanner cuts text where `regex` would with the pattern of the same name in `patterns.py`. There
are two for each pattern. The one here goes character by character and finds one end: it is the
definition, and it decides where the fast one (`scan.py`) cannot. As pre-tokens are short and their
lengths random, the processor mispredicts the end of nearly each such loop, which is why there is a
fast one.

A new pattern with a scanner: its number in `layout.py` and in its row of `patterns.py`; a function
here, called by `next_end`; what must be cut whatever stands around, `_is_cut` in `scan.py`, without
which streams are cut wrongly; a `_starts_*` there, called by `scan_segments`. The tests run every
pattern of `patterns.py` that has a number against `regex`.

Belongs here: one pre-token at a time. Does not belong here: windows and sets of bytes.
"""

from .compiling import U8, boolean, int64, part
from .layout import CL100K, GPT2, LETTER, LOWER, NUMBER, O200K, SPACE, UPPER
from .utf8 import class_at

CHARACTER = LETTER | NUMBER | SPACE  # all of these off: a sign


@part(int64(U8, int64, int64, U8, int64, int64))
def _run(buf, i, stop, classes, mask, value):
    """End of the run of characters whose class, under `mask`, equals `value`."""
    while i < stop:
        kind, size = class_at(buf, i, classes)
        if kind & mask != value:
            break
        i += size
    return i


@part(int64(U8, int64, int64, boolean))
def contraction(buf, i, stop, fold):
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


@part(int64(U8, int64, int64))
def _but_last(buf, start, stop):
    """End of a run of white space without its last character, or with it if it is the only one."""
    i = stop - 1
    while buf[i] & 0xC0 == 0x80:
        i -= 1
    return i if i > start else stop


@part(int64(U8, int64, int64))
def _last_break(buf, start, stop):
    """End of the last CR or LF in a run of white space; `start`: there is none."""
    i = stop
    while i > start and buf[i - 1] != 10 and buf[i - 1] != 13:
        i -= 1
    return i


@part(int64(U8, int64, int64, U8))
def _digits(buf, i, stop, classes):
    """End of up to three numbers."""
    for _ in range(3):
        if i >= stop:
            break
        kind, size = class_at(buf, i, classes)
        if not kind & NUMBER:
            break
        i += size
    return i


@part(int64(U8, int64, int64, boolean))
def _breaks(buf, i, stop, slash):
    """End of a run of CR and LF, and of slashes where those count."""
    while i < stop and (buf[i] == 10 or buf[i] == 13 or (slash and buf[i] == 47)):
        i += 1
    return i


@part(int64(U8, int64, int64, U8))
def _next_gpt2(buf, i, stop, classes):
    if buf[i] == 39:
        end = contraction(buf, i, stop, False)
        if end > i:
            return end
    j = i
    if buf[i] == 32 and i + 1 < stop:
        j = i + 1
    kind, _ = class_at(buf, j, classes)
    if not kind & SPACE:
        return _run(buf, j, stop, classes, CHARACTER, kind & CHARACTER)
    # White space: all of the run but its last character where something follows, so that
    # a blank before a word goes with the word.
    end = _run(buf, i, stop, classes, SPACE, SPACE)
    return end if end == stop else _but_last(buf, i, end)


@part(int64(U8, int64, int64, U8))
def _next_cl100k(buf, i, stop, classes):
    b = buf[i]
    if b == 39:
        end = contraction(buf, i, stop, True)
        if end > i:
            return end
    kind, size = class_at(buf, i, classes)
    j = i + size
    if kind & NUMBER:
        return _digits(buf, i, stop, classes)
    if b != 10 and b != 13:
        # One blank or sign goes with the letters after it; a blank also with signs.
        end = _run(buf, i if kind & LETTER else j, stop, classes, LETTER, LETTER)
        if kind & LETTER or end > j:
            return end
        if b == 32:
            end = _run(buf, j, stop, classes, CHARACTER, 0)
            if end > j:
                return _breaks(buf, end, stop, False)
    if not kind & SPACE:
        return _breaks(buf, _run(buf, i, stop, classes, CHARACTER, 0), stop, False)
    end = _run(buf, i, stop, classes, SPACE, SPACE)
    if end == stop:
        return end
    line = _last_break(buf, i, end)
    return line if line > i else _but_last(buf, i, end)


@part(int64(U8, int64, int64, U8))
def _word_o200k(buf, i, stop, classes):
    """End of a word in o200k's sense at i: capitals, then small letters; i: there is none.

    Letters without case and combining marks count as both. As a regular expression gives back
    what it took too much, a run of capitals with no small letter after it ends with the last of
    its characters that count as both, if it has one.
    """
    both = i  # end of the last characters of the run that count as both
    while i < stop:
        kind, size = class_at(buf, i, classes)
        if not kind & UPPER:
            break
        i += size
        if kind & LOWER:
            both = i
    end = _run(buf, i, stop, classes, LOWER, LOWER)
    return end if end > i else both


@part(int64(U8, int64, int64, U8))
def _next_o200k(buf, i, stop, classes):
    b = buf[i]
    kind, size = class_at(buf, i, classes)
    j = i + size
    if kind & NUMBER:
        return _digits(buf, i, stop, classes)
    # A word may begin after one blank, sign or mark; a mark may also be its first character.
    start = i if kind & LETTER or b == 10 or b == 13 else j
    end = _word_o200k(buf, start, stop, classes)
    if end == start and start > i and kind & UPPER:
        start = i
        end = _word_o200k(buf, i, stop, classes)
    if end == start:  # no small letter: capitals alone
        end = _run(buf, start, stop, classes, UPPER, UPPER)
    if end > start:
        if end < stop and buf[end] == 39:
            end = contraction(buf, end, stop, True)
        return end
    # Marks are no letters, so they go with signs.
    if not kind & SPACE:
        return _breaks(buf, _run(buf, i, stop, classes, CHARACTER, 0), stop, True)
    if b == 32:
        end = _run(buf, j, stop, classes, CHARACTER, 0)
        if end > j:
            return _breaks(buf, end, stop, True)
    end = _run(buf, i, stop, classes, SPACE, SPACE)
    line = _last_break(buf, i, end)
    if line > i:
        return line
    return end if end == stop else _but_last(buf, i, end)


@part(int64(int64, U8, int64, int64, U8))
def next_end(scheme, buf, i, stop, classes):
    """End of the pre-token that starts at i; `scheme` is that of the pattern."""
    if scheme == GPT2:
        return _next_gpt2(buf, i, stop, classes)
    if scheme == CL100K:
        return _next_cl100k(buf, i, stop, classes)
    if scheme == O200K:
        return _next_o200k(buf, i, stop, classes)
    kind, _ = class_at(buf, i, classes)
    return _run(buf, i, stop, classes, SPACE, kind & SPACE)
