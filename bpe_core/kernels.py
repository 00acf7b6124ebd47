"""Every compiled function of the engine: arrays in, arrays out.

Belongs here: the inner loops of splitting, counting, training and encoding, compiled by
numba with declared types. Does not belong here: settings, policy, error messages, growth
of arrays. A kernel raises nothing and reads no globals but such as never change; where it
needs more room it returns a code, Python grows the array and calls again, which is also
what makes training resumable. All compiled code stays in this one file, because numba's
disk cache does not notice an edit in another file; how it is compiled is in `compiling.py`
(after an edit there, delete `__pycache__`).

Symbols: inside the engine a token is an index (`bytes` 0..255 in byte order, then one index
for each new token in merge order); ids that users see are mapped on at the edge.
"""

import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .compiling import inline, jit, part

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
uint64 = types.uint64
int64 = types.int64
boolean = types.boolean

NEVER = 2**31 - 1

# Character classes, one bit each (the table is made in pretokenize.py).
LETTER = 1
NUMBER = 2
SPACE = 4
UPPER = 8  # what o200k takes at the front of a word: capitals, letters without case, marks
LOWER = 16  # ... and behind them: small letters, letters without case, marks

# Scanners. 0: none, `regex` does the cutting.
GPT2 = 1
CL100K = 2
O200K = 3
WHITESPACE = 4

# What a kernel tells its caller.
DONE = 0
NO_PAIRS = 1
BELOW_MINIMUM = 2
GROW_PAIRS = 3
GROW_PLACES = 4
GROW_GATHER = 5

GREATEST_BYTES = 0
LOWEST_IDS = 1

EDGE = -1  # the token of a cell between two pre-tokens
NONE = -1  # no pair
NO_KEY = NEVER << 6
MOST = 2**31 - 1  # the greatest weight that a place carries itself

# What the kernels that take ends of pre-tokens tell their callers.
ALL_TAKEN = 0
NO_ROOM = 1
MORE_ENDS = 2
FULL = 3

SHORT_KEY = 15  # bytes of a piece that is its own key
SHORT = 62  # bytes of a piece that is merged the simple way: 64 bits, one at each end
LONGEST_KEY = 255  # bytes of the longest piece that the cache takes
BATCH = 128  # pieces that are looked up together
ROOM = 12  # ids that may be written beyond those that are wanted
SLACK = 16  # bytes that may be read beyond the ring

HISTOGRAM_SIZE = 1 << 16  # pair counts below this are tallied exactly, see _count_tied


# --------------------------------------------------------------------------- reading bytes


def _data(context, builder, kind, array):
    """Where an array's items begin. Numba's own way writes the whole array down and reads it
    back, which is a good part of the code to compile."""
    place = context.data_model_manager[kind].get_field_position("data")
    return builder.extract_value(array, place)


@intrinsic
def _load64(typing, array, index):
    """Eight bytes from `index` on as one little-endian number; they must be in the array."""

    def generate(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        place = builder.gep(data, [args[1]])
        word = ir.IntType(64)
        value = builder.load(builder.bitcast(place, word.as_pointer()), align=1)
        return builder.bswap(value) if sys.byteorder == "big" else value

    return types.uint64(array, types.int64), generate


@intrinsic
def _store(typing, array, index, value):
    """Write a number's bytes, four or eight, little-endian, over the items from `index` on."""

    def generate(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        place = builder.gep(data, [args[1]])
        number = builder.bswap(args[2]) if sys.byteorder == "big" else args[2]
        builder.store(number, builder.bitcast(place, number.type.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(array, types.int64, value), generate


# array[index] for an index that is known not to be negative. A signed index costs numba three
# more instructions, to count from the end where it is; that is most of what the innermost loops
# would do.


@intrinsic
def _get(typing, array, index):
    def generate(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        return builder.load(builder.gep(data, [args[1]]))

    return array.dtype(array, types.int64), generate


@intrinsic
def _prefetch(typing, array, index):
    """Have the cache line of array[index] brought up, without waiting for it."""

    def generate(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        byte = ir.IntType(8).as_pointer()
        place = builder.bitcast(builder.gep(data, [args[1]]), byte)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        # To read, likely to be used again, data rather than code.
        builder.call(function, [place, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@intrinsic
def _put(typing, array, index, value):
    def generate(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        builder.store(args[2], builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), generate


@intrinsic
def _copy16(typing, target, i, source, j):
    """Copy sixteen bytes of memory from source[j] on to target[i] on."""

    def generate(context, builder, signature, args):
        def place(array, index, kind):
            data = _data(context, builder, kind, array)
            return builder.bitcast(builder.gep(data, [index]), chunk.as_pointer())

        chunk = ir.VectorType(ir.IntType(8), 16)
        value = builder.load(place(args[2], args[3], signature.args[2]), align=1)
        builder.store(value, place(args[0], args[1], signature.args[0]), align=1)
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64), generate


@part(boolean(U8, int64, U8, int64, int64))
def _same(a, i, b, j, n):
    k = 0
    while k + 8 <= n:
        if _load64(a, i + k) != _load64(b, j + k):
            return False
        k += 8
    while k < n:
        if a[i + k] != b[j + k]:
            return False
        k += 1
    return True


@intrinsic
def _trailing_zeros(typing, value):
    """Zero bits below the lowest one that is set (64 where none is)."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


def _vector(context, builder, array_type, array, index):
    """64 bytes of an array from `index` on, as a vector."""
    data = _data(context, builder, array_type, array)
    kind = ir.VectorType(ir.IntType(8), 64)
    return builder.load(builder.bitcast(builder.gep(data, [index]), kind.as_pointer()), align=1)


def _all_bytes(builder, value):
    """A vector of 64 times the byte `value`."""
    kind = ir.VectorType(ir.IntType(8), 64)
    one = builder.insert_element(
        ir.Constant(kind, ir.Undefined), builder.trunc(value, ir.IntType(8)), ir.IntType(32)(0)
    )
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
    return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), zeros)


def _as_bits(builder, flags):
    """64 truth values as one number, the first one in bit 0."""
    bits = builder.bitcast(flags, ir.IntType(64))
    return builder.bitreverse(bits) if sys.byteorder == "big" else bits


@intrinsic
def _bytes_within(typing, array, index, low, count):
    """Which of the 64 bytes from `index` on are low, low + 1, ... (`count` of them)."""

    def generate(context, builder, signature, args):
        text = _vector(context, builder, signature.args[0], args[0], args[1])
        above = builder.sub(text, _all_bytes(builder, args[2]))
        flags = builder.icmp_unsigned("<", above, _all_bytes(builder, args[3]))
        return _as_bits(builder, flags)

    return types.uint64(array, types.int64, types.int64, types.int64), generate


@intrinsic
def _bytes_with(typing, array, index, mask):
    """Which of the 64 bytes from `index` on have a bit in common with `mask`."""

    def generate(context, builder, signature, args):
        text = _vector(context, builder, signature.args[0], args[0], args[1])
        common = builder.and_(text, _all_bytes(builder, args[2]))
        nothing = ir.Constant(common.type, [0] * 64)
        return _as_bits(builder, builder.icmp_unsigned("!=", common, nothing))

    return types.uint64(array, types.int64, types.int64), generate


@intrinsic
def _clear64(typing, array, index):
    """Write 64 zero bytes."""

    def generate(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        kind = ir.VectorType(ir.IntType(8), 64)
        place = builder.bitcast(builder.gep(data, [args[1]]), kind.as_pointer())
        builder.store(ir.Constant(kind, [0] * 64), place, align=1)
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@intrinsic
def _leading_zeros(typing, value):
    """Zero bits above the highest one that is set (64 where none is)."""

    def generate(context, builder, signature, args):
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@intrinsic
def _count_ones(typing, value):
    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic
def _copy(typing, target, source, start, count):
    """target[:count] = source[start:start + count]"""

    def generate(context, builder, signature, args):
        to = _data(context, builder, signature.args[0], args[0])
        data = _data(context, builder, signature.args[1], args[1])
        cgutils.raw_memcpy(builder, to, builder.gep(data, [args[2]]), args[3], 1)
        return context.get_dummy_value()

    return types.void(target, source, types.int64, types.int64), generate


@jit(int64(U8, int64, int64))
def valid_utf8(buf, start, stop):
    """End of the valid UTF-8 that buf[start:stop] begins with."""
    i = start
    while i < stop:
        if i + 64 <= stop and _bytes_with(buf, i, 0x80) == 0:
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


@inline(types.UniTuple(int64, 2)(U8, int64, U8))
def _class_at(buf, i, classes):
    """(class bits, byte length) of the UTF-8 character at i."""
    b = np.int64(_get(buf, i))
    if b < 0x80:
        return np.int64(_get(classes, b)), np.int64(1)
    c = np.int64(_get(buf, i + 1)) & 0x3F
    if b < 0xE0:
        return np.int64(_get(classes, ((b & 0x1F) << 6) | c)), np.int64(2)
    d = np.int64(_get(buf, i + 2)) & 0x3F
    if b < 0xF0:
        return np.int64(_get(classes, ((b & 0x0F) << 12) | (c << 6) | d)), np.int64(3)
    e = np.int64(_get(buf, i + 3)) & 0x3F
    point = ((b & 0x07) << 18) | (c << 12) | (d << 6) | e
    return np.int64(_get(classes, point)), np.int64(4)


# --------------------------------------------------------------------------- scanning
#
# A scanner cuts text where `regex` would with the pattern of the same name in pretokenize.py.
#
# There are two for each pattern. `_next_*` finds the end of the one pre-token that starts at i,
# character by character: the definition, and what decides where the other one cannot. As
# pre-tokens are short and their lengths random, such a loop is mispredicted at the end of nearly
# each one. The fast one therefore looks at a window of text, 64 bytes at a time: one number
# tells of each byte whether it belongs to a letter, another whether to white space, and so on,
# and a few operations on those tell of all 64 bytes whether a pre-token begins there.
#
# A table of `marks` holds these sets, a row for 64 bytes (and an empty one before and after
# all), a column for each set. A character's bytes all have the mark of the character.

WINDOW = 1 << 12  # bytes
MARGIN = 32  # bytes at a window's end in which nothing is taken as decided
REACH = 8  # bytes: no pattern looks as far beyond a firm start, two characters at most
COLUMNS = 16
MARKS_SIZE = COLUMNS * (WINDOW // 64 + 3)
ENDS_ROOM = WINDOW + 8  # room for the ends of a window; they are written by eights
TEXT_SIZE = WINDOW + 128  # bytes of a window with what may be read behind it

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
UNSURE = 14  # here, `_next_*` has to decide
STARTS = 15

CHARACTER = LETTER | NUMBER | SPACE  # all of these off: a sign

ZERO = np.uint64(0)
ONE = np.uint64(1)
TWO = np.uint64(2)
TOP = np.uint64(63)  # from bit 0 to the highest one
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@part(int64(U8, int64, int64, U8, int64, int64))
def _run(buf, i, stop, classes, mask, value):
    """End of the run of characters whose class, under `mask`, equals `value`."""
    while i < stop:
        kind, size = _class_at(buf, i, classes)
        if kind & mask != value:
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
        kind, size = _class_at(buf, i, classes)
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
        end = _contraction(buf, i, stop, False)
        if end > i:
            return end
    j = i
    if buf[i] == 32 and i + 1 < stop:
        j = i + 1
    kind, _ = _class_at(buf, j, classes)
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
        end = _contraction(buf, i, stop, True)
        if end > i:
            return end
    kind, size = _class_at(buf, i, classes)
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

    Letters without case and marks count as both. As a regular expression gives back what it
    took too much, a run of capitals with no small letter behind it ends after the last of its
    characters that count as both, if it has one.
    """
    both = i  # end of the last characters of the run that count as both
    while i < stop:
        kind, size = _class_at(buf, i, classes)
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
    kind, size = _class_at(buf, i, classes)
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
            end = _contraction(buf, end, stop, True)
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
def _next_end(scheme, buf, i, stop, classes):
    """End of the pre-token that starts at i; `scheme` is that of the pattern."""
    if scheme == GPT2:
        return _next_gpt2(buf, i, stop, classes)
    if scheme == CL100K:
        return _next_cl100k(buf, i, stop, classes)
    if scheme == O200K:
        return _next_o200k(buf, i, stop, classes)
    kind, _ = _class_at(buf, i, classes)
    return _run(buf, i, stop, classes, SPACE, kind & SPACE)


@inline(types.void(u64, int64, uint64))
def _add(marks, place, more):
    _put(marks, place, _get(marks, place) | more)


@inline(uint64(u64, int64))
def _after(marks, place):
    """The bytes right behind those of a set."""
    return (_get(marks, place) << ONE) | (_get(marks, place - COLUMNS) >> TOP)


@inline(uint64(u64, int64))
def _ahead(marks, place):
    """The bytes right before those of a set."""
    return (_get(marks, place) >> ONE) | (_get(marks, place + COLUMNS) << TOP)


@part(types.void(int64, int64, int64, U8, u8, u8, u64))
def _mark(scheme, length, blocks, classes, text, kinds, marks):
    """Fill the columns that tell what the characters of text[:length] are."""
    for k in range(COLUMNS):
        _put(marks, k, ZERO)
        _put(marks, COLUMNS * (blocks + 1) + k, ZERO)
    wide = ZERO  # whether there is anything but ASCII
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        at = 64 * k
        upper = _bytes_within(text, at, 65, 26)
        lower = _bytes_within(text, at, 97, 26)
        blanks = _bytes_within(text, at, 32, 1)
        foreign = _bytes_with(text, at, 128)
        _put(marks, row + LETTERS, upper | lower)
        _put(marks, row + NUMBERS, _bytes_within(text, at, 48, 10))
        _put(marks, row + SPACES, _bytes_within(text, at, 9, 5) | blanks)
        _put(marks, row + CAPITALS, upper)
        _put(marks, row + SMALL, lower)
        _put(marks, row + CASELESS, ZERO)
        _put(marks, row + BREAKS, _bytes_within(text, at, 10, 1) | _bytes_within(text, at, 13, 1))
        _put(marks, row + BLANKS, blanks)
        _put(marks, row + QUOTES, _bytes_within(text, at, 39, 1))
        _put(marks, row + FOLLOWING, foreign)
        _put(marks, row + UNSURE, ZERO)
        wide |= foreign
    if wide != ZERO:
        for k in range(blocks):
            # A character's class goes to all its bytes: four are written, and what comes behind
            # it is either written later or ASCII, and then not looked at.
            leads = _bytes_within(text, 64 * k, 0xC0, 64)
            while leads != ZERO:
                i = 64 * k + np.int64(_trailing_zeros(leads))
                kind, _ = _class_at(text, i, classes)
                _store(kinds, i, np.uint32(kind * 0x01010101))
                leads &= leads - ONE
        for k in range(blocks):
            row = COLUMNS * (k + 1)
            at = 64 * k
            foreign = _get(marks, row + FOLLOWING)
            if foreign == ZERO:
                continue
            letters = _bytes_with(kinds, at, LETTER) & foreign
            upper = _bytes_with(kinds, at, UPPER) & foreign
            lower = _bytes_with(kinds, at, LOWER) & foreign
            both = upper & lower
            _add(marks, row + NUMBERS, _bytes_with(kinds, at, NUMBER) & foreign)
            _add(marks, row + SPACES, _bytes_with(kinds, at, SPACE) & foreign)
            _add(marks, row + CAPITALS, upper & ~both)
            _add(marks, row + SMALL, lower & ~both)
            _put(marks, row + CASELESS, both)
            _put(marks, row + FOLLOWING, _bytes_within(text, at, 0x80, 64))
            if scheme == O200K:  # marks can go with letters: see _starts_cl100k
                _put(marks, row + UNSURE, both & ~letters)
                letters |= both
            _add(marks, row + LETTERS, letters)
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        there = ALL
        if k == length >> 6:
            there = (ONE << np.uint64(length & 63)) - ONE
        spaces = _get(marks, row + SPACES) & there
        _put(marks, row + SPACES, spaces)
        _put(marks, row + SOLID, there & ~spaces)
        known = _get(marks, row + LETTERS) | _get(marks, row + NUMBERS) | spaces
        _put(marks, row + SIGNS, there & ~known)


@inline(uint64(u64, int64, uint64))
def _runs_of_spaces(marks, row, spaces):
    """Where runs of white space begin."""
    _put(marks, row + SPACES, spaces)
    runs = spaces & ~_after(marks, row + SPACES)
    _put(marks, row + FIRM, _get(marks, row + SOLID) | runs)
    return runs


@inline(uint64(u64, int64, uint64))
def _last_spaces(marks, row, runs):
    """The last character of each run of white space that something follows.

    One of several bytes is only known if it is the whole run, which is a start anyway.
    """
    last = _get(marks, row + SPACES) & _ahead(marks, row + SOLID)
    following = _get(marks, row + FOLLOWING)
    wide = last & following
    if wide != ZERO:
        earlier = _get(marks, row - COLUMNS + FIRM) & ~_get(marks, row - COLUMNS + SOLID)
        alone = (runs << ONE) | (earlier >> TOP)
        alone |= ((runs << TWO) | (earlier >> (TOP - ONE))) & _after(marks, row + FOLLOWING)
        _add(marks, row + UNSURE, wide & ~alone)
    return last & ~following


@part(types.void(int64, u64))
def _starts_gpt2(blocks, marks):
    """Fill STARTS, FIRM and UNSURE as GPT-2's pattern says."""
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        runs = _runs_of_spaces(marks, row, _get(marks, row + SPACES))
        starts = runs | _last_spaces(marks, row, runs)
        same = _get(marks, row + LETTERS) & _after(marks, row + LETTERS)
        same |= _get(marks, row + NUMBERS) & _after(marks, row + NUMBERS)
        same |= _get(marks, row + SIGNS) & _after(marks, row + SIGNS)
        starts |= _get(marks, row + SOLID) & ~same & ~_after(marks, row + BLANKS)
        _put(marks, row + STARTS, starts)


@part(types.void(int64, int64, u8, u64))
def _starts_cl100k(scheme, blocks, text, marks):
    """The same for the patterns of cl100k and o200k."""
    carry = ZERO
    carry_white = ZERO
    taken_before = ZERO
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        solid = _get(marks, row + SOLID)
        signs = _get(marks, row + SIGNS)
        letters = _get(marks, row + LETTERS)
        numbers = _get(marks, row + NUMBERS)
        following = _get(marks, row + FOLLOWING)
        unsure = _get(marks, row + UNSURE)
        _put(marks, row + UNSURE, ZERO)
        # Breaks go with the signs before them: an addition carries through each such run.
        breaks = _get(marks, row + BREAKS)
        taken = (breaks & _after(marks, row + SIGNS)) | carry
        total = breaks + taken
        carry = ONE if total < breaks else ZERO
        taken = breaks & ~total
        breaks &= ~taken
        _put(marks, row + BREAKS, breaks)
        runs = _runs_of_spaces(marks, row, _get(marks, row + SPACES) & ~taken)
        # A run of white space is cut behind its last break, and before its last character.
        white = _get(marks, row + SPACES) & ~breaks
        lines = white & _after(marks, row + BREAKS)
        starts = runs | lines | (_last_spaces(marks, row, runs) & white)
        # A sign goes with the letters behind it if a pre-token begins with it.
        first = signs & ~_after(marks, row + SIGNS) & ~_after(marks, row + BLANKS)
        _put(marks, row + LONE, first)
        if following != ZERO:
            for _ in range(3):
                _add(marks, row + LONE, following & _after(marks, row + LONE))
        joined = _after(marks, row + LONE)
        joined |= _after(marks, row + SPACES) & ~_after(marks, row + BREAKS)
        starts |= first | (numbers & ~_after(marks, row + NUMBERS))
        starts |= letters & ~_after(marks, row + LETTERS) & ~joined
        if scheme == O200K:
            capitals = _get(marks, row + CAPITALS)
            caseless = _get(marks, row + CASELESS)
            starts |= capitals & _after(marks, row + SMALL)
            # A mark behind no letter; capitals beside characters without case.
            unsure &= ~(following | _after(marks, row + LETTERS))
            unsure |= capitals & _after(marks, row + CASELESS)
            unsure |= caseless & _after(marks, row + CAPITALS)
            # A slash goes with the breaks that go with signs.
            slashes = ((taken << ONE) | (taken_before >> TOP)) & signs
            if slashes != ZERO:
                unsure |= slashes & _bytes_within(text, 64 * k, 47, 1)
            taken_before = taken
        _put(marks, row + STARTS, starts)
        _add(marks, row + UNSURE, unsure)
        # Blanks at the end of a line are not cut from the break behind them.
        total = white + (lines | carry_white)
        carry_white = ONE if total < white else ZERO
        kept = total & ~white & breaks
        if scheme == CL100K:
            kept |= total & ~white & ~(solid | _get(marks, row + SPACES) | taken)
        while kept != ZERO:
            _unset_last(marks, 64 * k + np.int64(_trailing_zeros(kept)))
            kept &= kept - ONE


@part(types.void(int64, u64))
def _starts_whitespace(blocks, marks):
    """The same for runs of white space and of all else."""
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        solid = _get(marks, row + SOLID)
        spaces = _get(marks, row + SPACES)
        _put(marks, row + FIRM, solid | spaces)
        starts = (solid & ~_after(marks, row + SOLID)) | (spaces & ~_after(marks, row + SPACES))
        _put(marks, row + STARTS, starts)


@part(int64(u64, int64))
def _last_firm(marks, place):
    """The last firm start before `place` in a window, 0 if there is none."""
    k = place >> 6
    below = (ONE << np.uint64(place & 63)) - ONE
    while k >= 0:
        row = COLUMNS * (k + 1)
        starts = _get(marks, row + STARTS) & _get(marks, row + FIRM) & below
        if starts != ZERO:
            return 64 * k + 63 - np.int64(_leading_zeros(starts))
        below = ALL
        k -= 1
    return np.int64(0)


@part(types.void(u64, int64))
def _unset_last(marks, place):
    """Take the last start before `place` away."""
    k = place >> 6
    below = (ONE << np.uint64(place & 63)) - ONE
    while k >= 0:
        row = COLUMNS * (k + 1) + STARTS
        starts = _get(marks, row) & below
        if starts != ZERO:
            _put(marks, row, _get(marks, row) ^ ((ONE << TOP) >> _leading_zeros(starts)))
            return
        below = ALL
        k -= 1


@inline(boolean(u64, int64))
def _is_start(marks, place):
    starts = _get(marks, COLUMNS * ((place >> 6) + 1) + STARTS)
    return (starts >> np.uint64(place & 63)) & ONE != ZERO


@inline(types.void(u64, int64))
def _set_start(marks, place):
    _add(marks, COLUMNS * ((place >> 6) + 1) + STARTS, ONE << np.uint64(place & 63))


@inline(types.void(u64, int64, int64))
def _unset_starts(marks, place, stop):
    """Take the starts in place..stop - 1 away."""
    while place < stop:
        n = min(stop - place, 64 - (place & 63))
        row = COLUMNS * ((place >> 6) + 1) + STARTS
        span = (ALL >> np.uint64(64 - n)) << np.uint64(place & 63)
        _put(marks, row, _get(marks, row) & ~span)
        place += n


@part(types.void(int64, int64, int64, u8, u64))
def _mend_contractions(scheme, length, blocks, text, marks):
    """Move starts so that contractions stand alone, or with o200k go with the word before."""
    end_before = np.int64(0)
    for k in range(blocks):
        row = COLUMNS * (k + 1)
        quotes = _get(marks, row + QUOTES)
        if quotes == ZERO:
            continue
        quotes &= _ahead(marks, row + LETTERS)
        if scheme == O200K:
            quotes &= _after(marks, row + LETTERS)
        else:
            quotes &= _get(marks, row + STARTS)
        while quotes != ZERO:
            i = 64 * k + np.int64(_trailing_zeros(quotes))
            quotes &= quotes - ONE
            end = _contraction(text, i, length, scheme != GPT2)
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


@part(types.void(int64, u64))
def _cut_numbers(blocks, marks):
    """Cut runs of numbers after every third."""
    for k in range(blocks):
        row = COLUMNS * (k + 1) + NUMBERS
        numbers = _get(marks, row)
        more = _get(marks, row + COLUMNS)
        long = numbers & ~_after(marks, row) & _ahead(marks, row)
        long &= (numbers >> TWO) | (more << (TOP - ONE))
        long &= (numbers >> np.uint64(3)) | (more << np.uint64(61))
        while long != ZERO:
            i = 64 * k + np.int64(_trailing_zeros(long))
            long &= long - ONE
            count = 0
            while True:
                row = COLUMNS * ((i >> 6) + 1)
                bit = np.uint64(i & 63)
                if (_get(marks, row + NUMBERS) >> bit) & ONE == ZERO:
                    break
                if (_get(marks, row + FOLLOWING) >> bit) & ONE == ZERO:
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
        unsure = _get(marks, row + UNSURE)
        while unsure != ZERO:
            place = 64 * k + np.int64(_trailing_zeros(unsure))
            unsure &= unsure - ONE
            # The next window begins before the margin and looks at what is left out here.
            if place < done or (place >= length - MARGIN // 2 and base + length < stop):
                continue
            i = max(done, _last_firm(marks, max(place - REACH + 1, 0)))
            while True:
                end = _next_end(scheme, buf, base + i, stop, classes) - base
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
        starts = _get(marks, COLUMNS * (k + 1) + STARTS)
        if k == 0:
            starts &= ~ONE
        if k == stop >> 6:
            starts &= (ONE << np.uint64(stop & 63)) - ONE
        at = base + 64 * k
        i = n
        n += np.int64(_count_ones(starts))
        while starts != ZERO:  # eight at once, so that the loop's end is easier to foresee
            for _ in range(8):
                _put(ends, i, at + np.int64(_trailing_zeros(starts)))
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


@jit(int64(int64, U8, int64, int64, U8))
def last_cut(scheme, buf, start, stop, classes):
    """Last place within (start, stop) where a pre-token ends for certain, else `start`."""
    right = stop  # start of the character on the right
    kind_right = np.int64(-1)
    while right > start:
        left = right - 1
        while left > start and buf[left] & 0xC0 == 0x80:
            left -= 1
        kind, _ = _class_at(buf, left, classes)
        if kind_right >= 0 and _is_cut(scheme, buf, right, kind, kind_right):
            return right
        kind_right = kind
        right = left
    return start


@jit(int64(int64, U8, I64, U8, u8, u8, u64, i64, I64))
def scan_segments(scheme, buf, bounds, classes, text, kinds, marks, ends, state):
    """Write the ends of the next pre-tokens of segments of `buf`; return how many.

    Segment k is buf[bounds[2 * k]:bounds[2 * k + 1]], a text of its own; state[0] says in which
    one to begin and state[1] where in it (-1: its start). Stops when `ends` may have no room
    for those of another window.
    """
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
            _copy(text, buf, base, length)
            _clear64(text, length)
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
                    end = _next_end(scheme, buf, base, stop, classes) - base
            n = _list_starts(base, last, marks, ends, n)
            base += end
            ends[n] = base
            n += 1
        base = np.int64(-1)
    return n


# --------------------------------------------------------------------------- special tokens


@jit(int64(U8, I64, int64, U8, U8, U8, I64, i64, i64))
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
                    here |= _bytes_within(buf, i, np.int64(_get(firsts, k)), 1)
                if here == ZERO:
                    i += 64
                    continue
                i += np.int64(_trailing_zeros(here))
            two = np.int64(_get(buf, i))
            if i + 1 < stop:
                two += 256 * np.int64(_get(buf, i + 1))
            hit = -1
            if _get(begins, two) != 0:
                for t in range(offsets.size - 1):
                    size = offsets[t + 1] - offsets[t]
                    if i + size <= stop and _same(buf, i, tokens, offsets[t], size):
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


# --------------------------------------------------------------------------- keys
#
# A piece of up to 15 bytes is its own key: two words, its length in the highest byte. Of a
# longer one the key is a hash, and the bytes are compared.


# Sixteen bytes from 16 - n on keep the first n bytes of sixteen.
_KEEP = np.array([0xFF] * 16 + [0] * 16, np.uint8)


@inline(types.UniTuple(uint64, 2)(U8, int64, int64))
def _short_key_inside(buf, i, n):
    """Both words of a piece of n <= 15 bytes, where there are sixteen bytes to read.

    Without branches on n, which is random.
    """
    low = _load64(buf, i) & _load64(_KEEP, 16 - n)
    high = _load64(buf, i + 8) & _load64(_KEEP, 24 - n)
    return low, high | (np.uint64(n) << np.uint64(56))


@part(types.UniTuple(uint64, 2)(U8, int64, int64))
def _short_key(buf, i, n):
    """The same wherever the piece stands."""
    if i + 16 <= buf.size:
        return _short_key_inside(buf, i, n)
    low = ZERO
    high = np.uint64(n) << np.uint64(56)
    for k in range(n):
        byte = np.uint64(_get(buf, i + k)) << np.uint64(8 * (k & 7))
        if k < 8:
            low |= byte
        else:
            high |= byte
    return low, high


@inline(uint64(uint64, uint64))
def _mix(a, b):
    h = (a ^ (b >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(32)) ^ b) * np.uint64(0xC2B2AE3D27D4EB4F)
    return h ^ (h >> np.uint64(29))


@part(types.UniTuple(uint64, 2)(U8, int64, int64))
def _long_key(buf, i, n):
    """A hash of n > 15 bytes, by sixteen; the last ones once more rather than a rest by bytes."""
    h = _mix(_load64(buf, i) ^ np.uint64(n), _load64(buf, i + 8))
    last = i + n - 16
    i += 16
    while i < last:
        h = _mix(_load64(buf, i) ^ h, _load64(buf, i + 8))
        i += 16
    h = _mix(_load64(buf, last) ^ h, _load64(buf, last + 8))
    return h, np.uint64(0xFF) << np.uint64(56)


# --------------------------------------------------------------------------- counting
#
# One table row a distinct pre-token: key (two words), count, 1 + its number (0: empty row).
# Its bytes are arena[offsets[w]:offsets[w + 1]].


@part(boolean(U8, int64, int64, int64, u64, i64, u8, i64))
def _add_piece(buf, start, stop, weight, rows, offsets, arena, state):
    """Add `weight` to one pre-token's count. False: no room, nothing was changed.

    state[0] pre-tokens so far, state[1] arena bytes in use, state[2] length of the one there
    was no room for.
    """
    length = stop - start
    if length <= SHORT_KEY:
        low, high = _short_key(buf, start, length)
    else:
        low, high = _long_key(buf, start, length)
    mask = rows.size // 4 - 1
    row = 4 * np.int64(_mix(low, high) & np.uint64(mask))
    while True:
        w = np.int64(_get(rows, row + 3))
        if w == 0:
            break
        if _get(rows, row) == low and _get(rows, row + 1) == high and (
            length <= SHORT_KEY
            or (
                offsets[w] - offsets[w - 1] == length
                and _same(buf, start, arena, offsets[w - 1], length)
            )
        ):  # fmt: skip
            _put(rows, row + 2, _get(rows, row + 2) + np.uint64(weight))
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


@jit(int64(U8, I64, I64, u64, u64, i64, u8, i64, i64))
def count_segments(buf, bounds, ends, batch, rows, offsets, arena, state, place):
    """Count the pre-tokens of segments, given their ends as by `scan_segments`.

    Returns ALL_TAKEN, or NO_ROOM (see _add_piece), or MORE_ENDS where those given are used up.
    place: [0] segment, [1] place in it (-1: its start), [2] next one of the ends, [3] ends.

    Nearly all of them are short, were met before and stand in the row that their key says. So
    a batch of keys is made and their rows are asked for, and only the others are looked for.
    """
    mask = np.uint64(rows.size // 4 - 1)
    piece = place[2]
    at = place[1]
    for segment in range(place[0], bounds.size // 2):
        if at < 0:
            at = bounds[2 * segment]
        stop = bounds[2 * segment + 1]
        while at < stop:
            n = 0
            last = min(BATCH, place[3] - piece)
            i = at
            while n < last and i < stop:
                end = _get(ends, piece + n)
                low, high = ZERO, ONE  # no key is like this
                if i + 16 <= buf.size:
                    low, high = _short_key_inside(buf, i, min(end - i, SHORT_KEY))
                row = 4 * np.int64(_mix(low, high) & mask)
                _prefetch(rows, row)
                _put(batch, 3 * n, low)
                _put(batch, 3 * n + 1, high)
                _put(batch, 3 * n + 2, np.uint64(row))
                i = end
                n += 1
            code = MORE_ENDS if n == 0 else ALL_TAKEN
            for k in range(n):
                end = _get(ends, piece)
                row = np.int64(_get(batch, 3 * k + 2))
                other = _get(rows, row) ^ _get(batch, 3 * k)
                other |= _get(rows, row + 1) ^ _get(batch, 3 * k + 1)
                if other == ZERO and end - at <= SHORT_KEY:
                    _put(rows, row + 2, _get(rows, row + 2) + ONE)
                elif not _add_piece(buf, at, end, 1, rows, offsets, arena, state):
                    code = NO_ROOM
                    break
                at = end
                piece += 1
            if code != ALL_TAKEN:
                place[0] = segment
                place[1] = at
                place[2] = piece
                return code
        at = np.int64(-1)
    return ALL_TAKEN


@jit(int64(U8, I64, I64, int64, u64, i64, u8, i64))
def count_given(buf, borders, weights, first, rows, offsets, arena, state):
    """Add pieces buf[borders[w]:borders[w+1]] with weights; return the first one not added."""
    n = weights.size
    for w in range(first, n):
        if not _add_piece(
            buf, borders[w], borders[w + 1], weights[w], rows, offsets, arena, state
        ):
            return w
    return n


@jit(types.void(u64, u64))
def rehash(rows, larger):
    """Move the rows of a table into an empty, larger one."""
    mask = larger.size // 4 - 1
    for row in range(0, rows.size, 4):
        if rows[row + 3] == 0:
            continue
        s = np.int64(_mix(rows[row], rows[row + 1]) & np.uint64(mask))
        while larger[4 * s + 3] != 0:
            s = (s + 1) & mask
        for k in range(4):
            larger[4 * s + k] = rows[row + k]


@jit(types.void(u64, i64))
def collect_counts(rows, counts):
    """Count of each pre-token, by its number."""
    for row in range(0, rows.size, 4):
        if rows[row + 3] != 0:
            counts[np.int64(rows[row + 3]) - 1] = np.int64(rows[row + 2])


# --------------------------------------------------------------------------- training
#
# The text is one array of cells, a cell per byte, with an EDGE cell between pre-tokens. A
# cell is two numbers: the token, which counts in a token's first and last cell only, so that
# both neighbors of a token are found without any list; and, in a token's first cell, the
# record of the pair that it forms with the next token (NONE: no next token, or too long).
#
# Training never spells a token twice. The history inside a stretch of text that ends up as one
# token depends on its bytes alone: no token crossed its borders, places of a pair of two
# different tokens cannot overlap, and a run of one token that is paired off across a border
# would have left a token over it. So each merge makes a new token, number 256 + step, and all
# places of a pair (a, b) come into being in the step that makes the younger of the two. Hence
# a pair's places are one stretch of `places`, and no table of pairs is needed: an old pair is
# read off its cell, a new one is found by its other token in `memo`. A place is checked when
# it is used, so nothing has to be taken out of a list when a neighbor changes.
#
# A place carries its weight with it, since looking that up would be one more cache miss: the
# weight itself, or where it does not fit, -1 - the number of the pre-token.
#
# The heap holds the pairs with a count of `threshold` and more, each with the count it had
# when last looked at. Counts only fall, so a stored count is an upper bound, and an entry is
# put right when it comes up. Most pairs never come near the top: where the heap runs low it
# is made anew with a lower threshold. The best few pairs stand in order in `top`, with their
# true counts; every other pair loses to the bound. So a step looks at those alone, and the
# heap is walked only where `top` runs low.

# A pair's record is one half of a cache line, seen as 4 int64 and as 8 int32.
COUNT = 0  # int64: places, weighted
START = 1  # int64: its first place
LEFT = 4  # int32
RIGHT = 5  # int32
SIZE = 6  # int32: places listed
STAMP = 7  # int32: the last step that changed it

# What `state` holds.
N_MERGES = 0
N_RECORDS = 1
N_PAIRS = 2  # records of pairs that occur
N_PLACES = 3
N_TOKENS = 4  # corpus tokens
N_HEAP = 5
THRESHOLD = 6  # 0: there is no heap yet
N_TOP = 7
BOUND_COUNT = 8
BOUND_PAIR = 9
STATE_SIZE = 10


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


@part(boolean(int64, int64, int64, int64, int64, i32, i32, u64, i64, u8))
def _beats(
    count_a, a, count_b, b, tie, rec32, token_size, token_prefix, token_place, cells_raw
):  # fmt: skip
    """Does pair record `a` with its count come before `b`? Pairs that are gone never do."""
    if count_a != count_b:
        return count_a > count_b
    if count_a <= 0:
        return False
    left_a = rec32[8 * a + LEFT]
    left_b = rec32[8 * b + LEFT]
    right_a = rec32[8 * a + RIGHT]
    right_b = rec32[8 * b + RIGHT]
    if tie == LOWEST_IDS:
        if left_a != left_b:
            return left_a < left_b
        return right_a < right_b
    c = _cmp_tokens(left_a, left_b, token_size, token_prefix, token_place, cells_raw)
    if c != 0:
        return c > 0
    c = _cmp_tokens(right_a, right_b, token_size, token_prefix, token_place, cells_raw)
    return c > 0


@part(types.void(int64, int64, i64, i32, int64, i32, i32, u64, i64, u8))
def _sift_down(
    i, n, heap_count, heap_pair, tie, rec32, token_size, token_prefix, token_place, cells_raw
):  # fmt: skip
    count = heap_count[i]
    pair = heap_pair[i]
    while True:
        c = 2 * i + 1
        if c >= n:
            break
        if c + 1 < n and _beats(
            heap_count[c + 1], heap_pair[c + 1], heap_count[c], heap_pair[c],
            tie, rec32, token_size, token_prefix, token_place, cells_raw,
        ):  # fmt: skip
            c += 1
        if not _beats(
            heap_count[c], heap_pair[c], count, pair,
            tie, rec32, token_size, token_prefix, token_place, cells_raw,
        ):  # fmt: skip
            break
        heap_count[i] = heap_count[c]
        heap_pair[i] = heap_pair[c]
        i = c
    heap_count[i] = count
    heap_pair[i] = pair


@part(types.void(int64, int64, int64, i64, i32, int64, i32, i32, u64, i64, u8))
def _push(
    count, pair, n, heap_count, heap_pair,
    tie, rec32, token_size, token_prefix, token_place, cells_raw,
):  # fmt: skip
    i = n
    while i > 0:
        p = (i - 1) // 2
        if not _beats(
            count, pair, heap_count[p], heap_pair[p],
            tie, rec32, token_size, token_prefix, token_place, cells_raw,
        ):  # fmt: skip
            break
        heap_count[i] = heap_count[p]
        heap_pair[i] = heap_pair[p]
        i = p
    heap_count[i] = count
    heap_pair[i] = pair


@part(
    types.UniTuple(int64, 2)(
        int64, int64, int64, i32, i64, i32, int64, i64, i32, i32, u64, i64, u8
    )
)
def _refill_heap(
    wanted, n_records, n_pairs, histogram, heap_count, heap_pair,
    tie, rec64, rec32, token_size, token_prefix, token_place, cells_raw,
):  # fmt: skip
    """Heap of at least `wanted` pairs, or of all; return its size and its threshold."""
    threshold = 1
    above = n_pairs
    while threshold < HISTOGRAM_SIZE and above - histogram[threshold] >= wanted:
        above -= histogram[threshold]
        threshold += 1
    n = 0
    for pair in range(n_records):
        count = rec64[4 * pair + COUNT]
        if count >= threshold:
            heap_count[n] = count
            heap_pair[n] = pair
            n += 1
    for i in range(n // 2 - 1, -1, -1):
        _sift_down(
            i, n, heap_count, heap_pair,
            tie, rec32, token_size, token_prefix, token_place, cells_raw,
        )  # fmt: skip
    return n, threshold


@part(int64(int64, i32, i64, i32, int64, i64, i32, int64, i64, i32, i32, u64, i64, u8))
def _walk_heap(
    wanted, top_pair, top_count, frontier, n, heap_count, heap_pair,
    tie, rec64, rec32, token_size, token_prefix, token_place, cells_raw,
):  # fmt: skip
    """The best pairs, best first, into `top_pair` and `top_count`; return how many.

    Goes from the heap's root on, always to the best entry seen (`frontier` holds those, the
    best one last). A stale entry is put right first, which only moves entries below it.
    """
    waiting = 0
    got = 0
    i = np.int64(0)
    fresh = 1  # entries not yet in the frontier: heap[i] and, if 2, heap[i + 1]
    while True:
        for e in range(i, min(i + fresh, n)):
            f = waiting
            while f > 0 and _beats(
                heap_count[frontier[f - 1]], heap_pair[frontier[f - 1]],
                heap_count[e], heap_pair[e],
                tie, rec32, token_size, token_prefix, token_place, cells_raw,
            ):  # fmt: skip
                frontier[f] = frontier[f - 1]
                f -= 1
            frontier[f] = e
            waiting += 1
        if waiting == 0 or got == wanted:
            return got
        waiting -= 1
        i = np.int64(frontier[waiting])
        pair = np.int64(heap_pair[i])
        count = rec64[4 * pair + COUNT]
        if count != heap_count[i]:
            heap_count[i] = count
            _sift_down(
                i, n, heap_count, heap_pair,
                tie, rec32, token_size, token_prefix, token_place, cells_raw,
            )  # fmt: skip
            fresh = 1
            continue
        if count <= 0:
            return got
        top_pair[got] = pair
        top_count[got] = count
        got += 1
        i = 2 * i + 1
        fresh = 2


@part(types.void(int64, int64, i64, i32, i64, int64, i32, i32, u64, i64, u8))
def _insert_top(
    count, pair, state, top_pair, top_count,
    tie, rec32, token_size, token_prefix, token_place, cells_raw,
):  # fmt: skip
    """Put a pair in its place among the best ones, if it is one of them."""
    if not _beats(
        count, pair, state[BOUND_COUNT], state[BOUND_PAIR],
        tie, rec32, token_size, token_prefix, token_place, cells_raw,
    ):  # fmt: skip
        return
    i = state[N_TOP]
    if i == top_pair.size:  # full: the last one goes, and what is now the last is the bound
        i -= 1
        state[N_TOP] = i
        state[BOUND_COUNT] = top_count[i - 1]
        state[BOUND_PAIR] = top_pair[i - 1]
        if not _beats(
            count, pair, state[BOUND_COUNT], state[BOUND_PAIR],
            tie, rec32, token_size, token_prefix, token_place, cells_raw,
        ):  # fmt: skip
            return
    while i > 0 and _beats(
        count, pair, top_count[i - 1], top_pair[i - 1],
        tie, rec32, token_size, token_prefix, token_place, cells_raw,
    ):  # fmt: skip
        top_count[i] = top_count[i - 1]
        top_pair[i] = top_pair[i - 1]
        i -= 1
    top_count[i] = count
    top_pair[i] = pair
    state[N_TOP] += 1


@part(types.void(i64, i32, i64, i32, int64, i64, i32, i32, u64, i64, u8))
def _mend_top(
    state, top_pair, top_count, changed,
    tie, rec64, rec32, token_size, token_prefix, token_place, cells_raw,
):  # fmt: skip
    """Put the best pairs in order again after some of their counts fell."""
    kept = 0
    n_changed = 0
    for i in range(state[N_TOP]):
        pair = np.int64(top_pair[i])
        if rec64[4 * pair + COUNT] != top_count[i]:
            changed[n_changed] = pair
            n_changed += 1
        else:
            top_pair[kept] = pair
            top_count[kept] = top_count[i]
            kept += 1
    state[N_TOP] = kept
    for i in range(n_changed):
        pair = np.int64(changed[i])
        _insert_top(
            rec64[4 * pair + COUNT], pair, state, top_pair, top_count,
            tie, rec32, token_size, token_prefix, token_place, cells_raw,
        )  # fmt: skip


@part(int64(int64, int64, i64, i32, i64, i32, i32))
def _count_tied(count, n, heap_count, heap_pair, rec64, histogram, stack):
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
        if rec64[4 * np.int64(heap_pair[i]) + COUNT] == count:
            tied += 1
        c = 2 * i + 1
        if c + 1 < n:
            stack[depth] = c + 1
            depth += 1
        if c < n:
            stack[depth] = c
            depth += 1
    return tied


@jit(types.void(U8, I64, I64, int64, U8, u8, i32, i64, i64, i64))
def lay_out(arena, offsets, counts, n_words, id_of_byte, cells_raw, cells, pairs, sizes, state):
    """Write the pre-tokens of two bytes and more into cells, and tally their byte pairs.

    pairs[256 * a + b], sizes[...]: count and number of places of the pair of bytes a, b.
    state[0] cells in use, state[1] corpus tokens (bytes, weighted), state[2] boundaries.
    """
    p = 0
    cells[0] = EDGE
    cells[1] = NONE
    tokens = 0
    boundaries = 0
    for w in range(n_words):
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
            cells_raw[p] = arena[i]
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


@jit(types.void(I64, I64, int64, i64, i64, i32, i64, i32, i32, i32, i64, i32))
def place_byte_pairs(
    offsets, counts, n_words, pairs, sizes, cells, rec64, rec32, places, histogram, token_place,
    index,
):
    """Make the records of the byte pairs that occur and list their places."""
    n = 0
    used = 0
    for k in range(65536):
        if sizes[k] == 0:
            continue
        index[k] = n
        rec64[4 * n + COUNT] = pairs[k]
        rec64[4 * n + START] = used
        rec32[8 * n + LEFT] = k // 256
        rec32[8 * n + RIGHT] = k % 256
        rec32[8 * n + SIZE] = 0
        rec32[8 * n + STAMP] = -1
        used += sizes[k]
        if pairs[k] < HISTOGRAM_SIZE:
            histogram[pairs[k]] += 1
        n += 1
    p = 1
    for w in range(n_words):
        size = offsets[w + 1] - offsets[w]
        if size < 2:
            continue
        tag = counts[w] if counts[w] <= MOST else -1 - w
        for _ in range(size - 1):
            a = np.int64(cells[2 * p])
            b = np.int64(cells[2 * p + 2])
            pair = np.int64(index[a * 256 + b])
            cells[2 * p + 1] = pair
            o = rec64[4 * pair + START] + rec32[8 * pair + SIZE]
            places[2 * o] = p
            places[2 * o + 1] = tag
            rec32[8 * pair + SIZE] += 1
            if token_place[a] < 0:
                token_place[a] = p
            if token_place[b] < 0:
                token_place[b] = p + 1
            p += 1
        cells[2 * p + 1] = NONE
        p += 2


@part(int64(int64, int64, i64, i32, i32, i64, int64))
def _touch(pair, step, rec64, rec32, touched, touched_count, n_touched):
    """Note a pair's count before this step changes it."""
    if rec32[8 * pair + STAMP] != step:
        rec32[8 * pair + STAMP] = step
        touched[n_touched] = pair
        touched_count[n_touched] = rec64[4 * pair + COUNT]
        n_touched += 1
    return n_touched


@part(int64(int64, int64, int64, i64, i32))
def _make_record(pair, a, b, rec64, rec32):
    rec64[4 * pair + COUNT] = 0
    rec32[8 * pair + LEFT] = a
    rec32[8 * pair + RIGHT] = b
    rec32[8 * pair + SIZE] = 0
    rec32[8 * pair + STAMP] = -1
    return pair + 1


@jit(
    int64(
        int64, int64, int64, i64, int64, int64, i32, u8, I64,
        i32, u64, i64, i64, i32, i32,
        i64, i32, i32, i64, i32, i32, i32, i64, i32, i32, i32,
        i32, i32, i32, i64, i64, i64, i64, i64, i32_2d, i32_2d, i64_2d,
    )
)  # fmt: skip
def merge_steps(
    budget, goal, min_count, state, tie, max_size, cells, cells_raw, weights,
    # tokens, pair records and their places
    token_size, token_prefix, token_place, rec64, rec32, places,
    # heap, the best pairs, tallies, buffers
    heap_count, heap_pair, top_pair, top_count, frontier, histogram, touched, touched_count,
    gather_pair, gather_place, memo,
    # the trace
    out_left, out_right, out_new, out_count, out_merged, out_tokens, out_pairs, out_tied,
    cand_left, cand_right, cand_count,
):  # fmt: skip
    """Do up to `budget` merges; return a code that says why it stopped.

    A code that asks for room comes before the step changed anything.
    """
    k = cand_left.shape[1]
    wanted = top_pair.size // 2
    for _ in range(budget):
        step = state[N_MERGES]
        if step >= goal:
            return DONE
        n_records = state[N_RECORDS]
        # Without a bound `top` holds every pair.
        if state[N_TOP] < max(k, 1) and state[BOUND_COUNT] > 0:
            got = 0
            while True:
                if state[THRESHOLD] > 0:
                    got = _walk_heap(
                        wanted, top_pair, top_count, frontier, state[N_HEAP],
                        heap_count, heap_pair,
                        tie, rec64, rec32, token_size, token_prefix, token_place, cells_raw,
                    )  # fmt: skip
                    if state[THRESHOLD] == 1 or (
                        got == wanted and top_count[got - 1] >= state[THRESHOLD]
                    ):
                        break
                state[N_HEAP], state[THRESHOLD] = _refill_heap(
                    max(np.int64(4096), n_records // 16, 4 * wanted), n_records, state[N_PAIRS],
                    histogram, heap_count, heap_pair,
                    tie, rec64, rec32, token_size, token_prefix, token_place, cells_raw,
                )  # fmt: skip
            state[N_TOP] = got
            state[BOUND_COUNT] = top_count[got - 1] if got == wanted else 0
            state[BOUND_PAIR] = top_pair[got - 1] if got == wanted else NONE
        if state[N_TOP] == 0:
            return NO_PAIRS
        winner = np.int64(top_pair[0])
        best = top_count[0]
        if best < min_count:
            return BELOW_MINIMUM
        size = np.int64(rec32[8 * winner + SIZE])
        # At most two new records a place, and two for each token that may stand beside it.
        new = 256 + step
        room = 2 * min(size, new + 1)
        if 4 * (n_records + room) > rec64.size:
            return GROW_PAIRS
        if 2 * size > gather_pair.size:
            return GROW_GATHER
        if 2 * (state[N_PLACES] + 2 * size) > places.size:
            return GROW_PLACES

        l = np.int64(rec32[8 * winner + LEFT])
        r = np.int64(rec32[8 * winner + RIGHT])
        l_size = np.int64(token_size[l])
        new_size = l_size + token_size[r]
        start = rec64[4 * winner + START]
        place = np.int64(-1)
        for o in range(start, start + size):
            place = np.int64(places[2 * o])
            if cells[2 * place + 1] == winner:
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
            best, state[N_HEAP], heap_count, heap_pair, rec64, histogram, touched
        )
        for c in range(min(state[N_TOP], k)):
            pair = np.int64(top_pair[c])
            cand_left[step, c] = rec32[8 * pair + LEFT]
            cand_right[step, c] = rec32[8 * pair + RIGHT]
            cand_count[step, c] = top_count[c]

        n_touched = _touch(winner, step, rec64, rec32, touched, touched_count, 0)
        first_new = n_records
        gathered = 0
        merged = np.int64(0)
        for o in range(start, start + size):
            p = np.int64(places[2 * o])
            if cells[2 * p + 1] != winner:
                continue
            tag = places[2 * o + 1]
            weight = np.int64(tag) if tag >= 0 else weights[-1 - tag]
            merged += weight
            q = p + l_size
            end = p + new_size
            x = np.int64(cells[2 * p - 2])
            y = np.int64(cells[2 * end])
            right_pair = np.int64(cells[2 * q + 1])
            cells[2 * q + 1] = NONE
            cells[2 * p] = new
            cells[2 * end - 2] = new
            cells[2 * p + 1] = NONE

            if x >= 0:
                at = p - token_size[x]
                pair = np.int64(cells[2 * at + 1])
                if pair >= 0:
                    if pair < first_new:
                        n_touched = _touch(
                            pair, step, rec64, rec32, touched, touched_count, n_touched
                        )
                    rec64[4 * pair + COUNT] -= weight
                pair = np.int64(NONE)
                if token_size[x] + new_size <= max_size:
                    # The pair (new, new) is met from its right token only.
                    m = 2 * x if x != new else 2 * new + 1
                    pair = np.int64(memo[m])
                    if pair < first_new:
                        pair = n_records
                        memo[m] = pair
                        n_records = _make_record(pair, x, new, rec64, rec32)
                    rec64[4 * pair + COUNT] += weight
                    rec32[8 * pair + SIZE] += 1
                    gather_pair[gathered] = pair
                    gather_place[2 * gathered] = at
                    gather_place[2 * gathered + 1] = tag
                    gathered += 1
                cells[2 * at + 1] = pair
            if y >= 0:
                if right_pair >= 0:
                    n_touched = _touch(
                        right_pair, step, rec64, rec32, touched, touched_count, n_touched
                    )
                    rec64[4 * right_pair + COUNT] -= weight
                if token_size[y] + new_size <= max_size:
                    pair = np.int64(memo[2 * y + 1])
                    if pair < first_new:
                        pair = n_records
                        memo[2 * y + 1] = pair
                        n_records = _make_record(pair, new, y, rec64, rec32)
                    rec64[4 * pair + COUNT] += weight
                    rec32[8 * pair + SIZE] += 1
                    gather_pair[gathered] = pair
                    gather_place[2 * gathered] = p
                    gather_place[2 * gathered + 1] = tag
                    gathered += 1
                    cells[2 * p + 1] = pair
        rec64[4 * winner + COUNT] = 0

        # Give each new record its stretch of places.
        used = state[N_PLACES]
        for pair in range(first_new, n_records):
            rec64[4 * pair + START] = used
            used += rec32[8 * pair + SIZE]
            rec32[8 * pair + SIZE] = 0
        for g in range(gathered):
            pair = np.int64(gather_pair[g])
            o = rec64[4 * pair + START] + rec32[8 * pair + SIZE]
            places[2 * o] = gather_place[2 * g]
            places[2 * o + 1] = gather_place[2 * g + 1]
            rec32[8 * pair + SIZE] += 1
        state[N_PLACES] = used

        _mend_top(
            state, top_pair, top_count, frontier,
            tie, rec64, rec32, token_size, token_prefix, token_place, cells_raw,
        )  # fmt: skip
        live = state[N_PAIRS]
        for pair in range(first_new, n_records):
            count = rec64[4 * pair + COUNT]
            if count > 0:
                live += 1
                if count < HISTOGRAM_SIZE:
                    histogram[count] += 1
                if count >= state[THRESHOLD]:
                    _push(
                        count, pair, state[N_HEAP], heap_count, heap_pair,
                        tie, rec32, token_size, token_prefix, token_place, cells_raw,
                    )  # fmt: skip
                    state[N_HEAP] += 1
                    if count >= state[BOUND_COUNT]:
                        _insert_top(
                            count, pair, state, top_pair, top_count,
                            tie, rec32, token_size, token_prefix, token_place, cells_raw,
                        )  # fmt: skip
        for i in range(n_touched):
            before = touched_count[i]
            after = rec64[4 * np.int64(touched[i]) + COUNT]
            if before > 0:
                if before < HISTOGRAM_SIZE:
                    histogram[before] -= 1
                if after <= 0:
                    live -= 1
            if after > 0 and after < HISTOGRAM_SIZE:
                histogram[after] += 1

        state[N_TOKENS] -= merged
        out_left[step] = l
        out_right[step] = r
        out_new[step] = new
        out_count[step] = best
        out_merged[step] = merged
        out_tokens[step] = state[N_TOKENS]
        out_pairs[step] = state[N_PAIRS]
        out_tied[step] = tied
        state[N_MERGES] = step + 1
        state[N_RECORDS] = n_records
        state[N_PAIRS] = live
    return DONE


# --------------------------------------------------------------------------- encoding
#
# A short piece is merged by looking for the lowest rank again after each merge: quadratic,
# but without branches on what is random. A long piece uses a heap of (rank, place) and a
# linked list, so a pre-token of a million letters takes n log n.
#
# `pairs` is a hash table from a pair of tokens to its rank. A row is a cache line: four keys
# (-1: free), filled in order, and their four ranks; where a row is full the next one follows.
# Pairs of bytes have a table of their own as well.


@inline(int64(int64, int64))
def _pair_key(a, b):
    return (a << 32) | (b & 0xFFFFFFFF)


@inline(int64(I64, int64))
def _pair_row(pairs, key):
    h = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    h ^= h >> np.uint64(32)
    return np.int64(h << np.uint64(3)) & (pairs.size - 8)


@jit(types.void(I32, I32, i64, i32))
def fill_ranks(left, right, pairs, byte_ranks):
    """Tables from a pair to its rank; of a pair given twice the first rank holds."""
    for r in range(left.size):
        key = _pair_key(left[r], right[r])
        row = _pair_row(pairs, key)
        k = 0
        while pairs[row + k] >= 0 and pairs[row + k] != key:
            k += 1
            if k == 4:
                k = 0
                row = (row + 8) & (pairs.size - 8)
        if pairs[row + k] < 0:
            pairs[row + k] = key
            pairs[row + 4 + k] = r
            if left[r] < 256 and right[r] < 256:
                byte_ranks[left[r] * 256 + right[r]] = r


@inline(int64(int64, int64, int64, I64))
def _rank(a, b, limit, pairs):
    """Rank of a pair; a row is compared as a whole, since which key it is, is random."""
    key = _pair_key(a, b)
    row = _pair_row(pairs, key)
    while True:
        last = _get(pairs, row + 3)
        r = np.int64(NEVER)
        for k in range(4):
            known = _get(pairs, row + 4 + k)
            r = known if _get(pairs, row + k) == key else r
        if r != NEVER or last < 0:
            break
        row = (row + 8) & (pairs.size - 8)
    return r if r < limit else np.int64(NEVER)


@inline(int64(i64, int64))
def _least_of_8(keys, i):
    a = min(_get(keys, i), _get(keys, i + 1))
    b = min(_get(keys, i + 2), _get(keys, i + 3))
    c = min(_get(keys, i + 4), _get(keys, i + 5))
    d = min(_get(keys, i + 6), _get(keys, i + 7))
    return min(min(a, b), min(c, d))


@inline(int64(U8, int64, int64, int64, I32, I32, I64, I32, i32, i64, i32, boolean))
def _merge_short(
    buf, start, n, limit, id_of_byte, made, pairs, byte_ranks, sym, keys, joins, write
):  # fmt: skip
    """Merge n <= SHORT bytes; their tokens are left in `sym`, return how many.

    While merging, place 1 + i is that of byte i, and before and behind stand tokens that merge
    with nothing. Bit p of `live` says that a token begins at place p; keys[p] is the rank of
    its pair with the next one, and p in the lowest six bits.
    """
    sym[0] = NONE
    for i in range(n):
        _put(sym, i + 1, _get(id_of_byte, np.int64(_get(buf, start + i))))
    _put(sym, n + 1, np.int32(NONE))
    for i in range(1, n):
        r = np.int64(_get(byte_ranks, (np.int64(_get(sym, i)) << 8) + np.int64(_get(sym, i + 1))))
        _put(keys, i, (r << 6) + i if r < limit else np.int64(NO_KEY))
    keys[0] = NO_KEY
    for k in range(8):
        _put(keys, max(n, 1) + k, np.int64(NO_KEY))
    one = np.uint64(1)
    live = (one << np.uint64(n + 1)) | ((one << np.uint64(n + 1)) - one)
    while True:
        best = np.int64(NO_KEY)
        for i in range(0, n, 8):
            best = min(best, _least_of_8(keys, i))
        if best == NO_KEY:
            break
        at = best & 63
        # The tokens behind: j, which is taken in, and k. The one before: i.
        behind = live >> np.uint64(at + 1)
        j = at + 1 + np.int64(_trailing_zeros(behind))
        k = at + 1 + np.int64(_trailing_zeros(behind & (behind - one)))
        i = 63 - np.int64(_leading_zeros(live & ((one << np.uint64(at)) - one)))
        live ^= one << np.uint64(j)
        token = np.int64(_get(made, best >> 6))
        if write:
            joins[start + j - 2] = best >> 6
        r = _rank(np.int64(_get(sym, i)), token, limit, pairs)
        _put(keys, i, (r << 6) + i if r != NEVER else np.int64(NO_KEY))
        r = _rank(token, np.int64(_get(sym, k)), limit, pairs)
        _put(keys, at, (r << 6) + at if r != NEVER else np.int64(NO_KEY))
        _put(keys, j, np.int64(NO_KEY))
        _put(sym, at, np.int32(token))
    n_left = 0
    live &= (one << np.uint64(n + 1)) - np.uint64(2)
    while live != 0:
        i = np.int64(_trailing_zeros(live))
        live &= live - one
        _put(sym, n_left, _get(sym, i))
        n_left += 1
    return n_left


@part(types.void(i64, int64, int64))
def _heap_push(heap, n, key):
    i = n
    while i > 0:
        p = (i - 1) // 2
        if heap[p] <= key:
            break
        heap[i] = heap[p]
        i = p
    heap[i] = key


@part(int64(i64, int64))
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


@part(
    int64(U8, int64, int64, int64, I32, I32, I64, i32, i32, i32, i32, i32, i64, i32, boolean)
)
def _merge_long(
    buf, start, n, limit, id_of_byte, made, pairs,
    sym, rank, begin, after, before, heap, joins, write,
):  # fmt: skip
    size = 0
    for i in range(n):
        sym[i] = id_of_byte[buf[start + i]]
        after[i] = i + 1
        before[i] = i - 1
    for i in range(n - 1):
        r = np.int32(_rank(sym[i], sym[i + 1], limit, pairs))
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
        if write:
            joins[start + j - 1] = r
        sym[i] = made[r]
        rank[j] = NEVER
        k = np.int64(after[j])
        after[i] = k
        rank[i] = NEVER
        if k < n:
            before[k] = i
            r = np.int32(_rank(sym[i], sym[k], limit, pairs))
            rank[i] = r
            if r != NEVER:
                _heap_push(heap, size, (np.int64(r) << 32) | i)
                size += 1
        h = np.int64(before[i])
        if h >= 0:
            r = np.int32(_rank(sym[h], sym[i], limit, pairs))
            rank[h] = r
            if r != NEVER:
                _heap_push(heap, size, (np.int64(r) << 32) | h)
                size += 1
    m = 0
    i = np.int64(0)
    while i < n:
        sym[m] = sym[i]
        begin[m] = i
        m += 1
        i = np.int64(after[i])
    return m


# Rank files name no merges, only tokens by rank. What a token is merged from is found by merging
# its own bytes, the pair whose joined bytes are the token of the lowest rank first.


@part(int64(U8, int64, int64))
def _token_hash(data, i, n):
    if n <= SHORT_KEY:
        low, high = _short_key(data, i, n)
    else:
        low, high = _long_key(data, i, n)
    return np.int64(_mix(low, high))


@part(int64(U8, int64, int64, I64, i64))
def _find_token(data, i, n, borders, table):
    """The token that the n bytes from `i` on are, NEVER if none. Slots: see find_parents."""
    mask = table.size - 1
    h = _token_hash(data, i, n)
    row = h & mask
    while True:
        slot = _get(table, row)
        if slot == 0:
            return np.int64(NEVER)
        if (slot ^ h) >> 32 == 0:
            t = (slot & 0xFFFFFFFF) - 1
            begin = _get(borders, t)
            if _get(borders, t + 1) - begin == n and _same(data, i, data, begin, n):
                return t
        row = (row + 1) & mask


@jit(types.void(U8, I64, i64, i64, i64, i32, i32))
def find_parents(data, borders, table, at, joined, left, right):
    """Write the two tokens that each token's bytes become before they join; -1 where none do.

    Token t is data[borders[t]:borders[t + 1]]; tokens are told by their place in order of rank,
    each single byte is one. `table`: zeros, a power of two above the number of tokens; `at` and
    `joined` have room for the longest token and one more. Slots hold half a hash and 1 + t.
    """
    n_tokens = borders.size - 1
    mask = table.size - 1
    for t in range(n_tokens):
        begin = _get(borders, t)
        h = _token_hash(data, begin, _get(borders, t + 1) - begin)
        row = h & mask
        while _get(table, row) != 0:
            row = (row + 1) & mask
        _put(table, row, ((h >> 32) << 32) | (t + 1))
    for t in range(n_tokens):
        # Part k begins at at[k]; joined[k] is the token that it and the next one are.
        begin = _get(borders, t)
        n = _get(borders, t + 1) - begin
        for k in range(n + 1):
            _put(at, k, begin + k)
        for k in range(n - 1 if n > 2 else 0):
            _put(joined, k, _find_token(data, begin + k, 2, borders, table))
        while n > 2:
            best = np.int64(NEVER)
            k = np.int64(0)
            for j in range(n - 1):
                token = _get(joined, j)
                k = j if token < best else k
                best = min(best, token)
            if best == NEVER:
                break
            n -= 1
            for j in range(k + 1, n):
                _put(at, j, _get(at, j + 1))
                _put(joined, j, _get(joined, j + 1))
            _put(at, n, _get(at, n + 1))
            for j in range(max(k - 1, 0), min(k + 1, n - 1)):
                begin = _get(at, j)
                token = _find_token(data, begin, _get(at, j + 2) - begin, borders, table)
                _put(joined, j, token)
        left[t] = -1
        right[t] = -1
        if n == 2:
            begin = _get(at, 0)
            middle = _get(at, 1)
            end = _get(at, 2)
            left[t] = _find_token(data, begin, middle - begin, borders, table)
            right[t] = _find_token(data, middle, end - middle, borders, table)


# The cache of pieces. A row is a cache line of eight words with two ways of four: key, key and
# number of ids, and up to four ids. A piece of five to eight ids takes a whole row, its key in
# the first way and the rest of its ids in the second. The key of a piece of up to 15 bytes is
# itself (_short_key). That of a longer one is its hash and its length, below 2**56, and its ids
# stand behind its bytes in `ring`, which is written round and round; so do those of a short
# piece of nine ids and more. Then the way says where (as if the ring had no end) and how many.
#
# A piece is looked for in its row and in the row beside it, and a new one moves others aside.

IN_RING = 15  # as a number of ids: they are in the ring
COUNT_SHIFT = 60
ROW_IDS = 8  # most ids of a piece that stand in its row
WAY_IDS = 4


# A batch has an entry of four words for each piece, and one for the end of each segment: two
# words of key, row, place in the text. The key of an end is BORDER and 0, as no piece's is.
BORDER = 1


@part(int64(U8, I64, I64, u64, u64, i64, i64))
def _hash_batch(buf, bounds, given, rows, batch, long, state):
    """Write the next entries of the batch and return how many; state[:3] moves behind them.

    The rows are asked for well before they are looked at, so that their cache misses overlap.
    `long` takes the numbers of the long pieces, and of those at the end of `buf`; long[BATCH]
    becomes how many these are, and long[BATCH + 1] the most ids that there can be.
    """
    shift = np.uint64(64) - _trailing_zeros(np.uint64(rows.size >> 3))
    segment = state[0]
    at = state[1]
    piece = state[2]
    n = 0
    n_long = 0
    most = 0
    while n < BATCH and segment < bounds.size >> 1:
        if at < 0:
            at = _get(bounds, 2 * segment)
        start = at
        stop = _get(bounds, 2 * segment + 1)
        last = min(BATCH, n + state[4] - piece)
        piece -= n
        while at < stop and n < last:
            end = _get(given, piece + n)
            if end - at <= SHORT_KEY and at + 16 <= buf.size:
                low, high = _short_key_inside(buf, at, end - at)
                row = 8 * np.int64(_spread(low, high) >> shift)
                _prefetch(rows, row)
                _put(batch, 4 * n, low)
                _put(batch, 4 * n + 1, high)
                _put(batch, 4 * n + 2, np.uint64(row))
            else:
                _put(batch, 4 * n + 1, np.uint64(end - at))
                _put(long, n_long, n)
                n_long += 1
            _put(batch, 4 * n + 3, np.uint64(at))
            n += 1
            at = end
        piece += n
        most += at - start
        if at < stop or n == BATCH:
            break
        _put(batch, 4 * n, np.uint64(BORDER))
        _put(batch, 4 * n + 1, np.uint64(0))
        _put(batch, 4 * n + 2, np.uint64(0))
        _put(batch, 4 * n + 3, np.uint64(at))
        n += 1
        most += 1
        segment += 1
        at = -1
    for k in range(n_long):
        i = 4 * _get(long, k)
        begin = np.int64(_get(batch, i + 3))
        size = np.int64(_get(batch, i + 1))
        if size <= SHORT_KEY:
            low, high = _short_key(buf, begin, size)
            _put(batch, i + 1, high)
            row = 8 * np.int64(_spread(low, high) >> shift)
        else:
            low, _ = _long_key(buf, begin, size)
            row = 8 * np.int64(low >> shift)
        _prefetch(rows, row)
        _put(batch, i, low)
        _put(batch, i + 2, np.uint64(row))
    _put(long, BATCH, n_long)
    _put(long, BATCH + 1, most)
    state[0] = segment
    state[1] = at
    state[2] = piece
    return n


@inline(int64(u64, int64))
def _size(batch, k):
    """Bytes of entry k of a batch; 0 at the end of a segment."""
    high = np.int64(_get(batch, 4 * k + 1))
    return high >> 56 if high >> 56 else high


@inline(uint64(uint64, uint64))
def _spread(low, high):
    """A hash of a key, to be taken from the top."""
    return low * np.uint64(0x9E3779B97F4A7C15) + high * np.uint64(0xC2B2AE3D27D4EB4F)


@inline(types.UniTuple(int64, 2)(u64, int64, uint64, uint64))
def _find_way(rows, row, low, high):
    """(the way of a row with this key or else its second one, 1 if it has none)."""
    four = np.uint64(64 - COUNT_SHIFT)
    first = (_get(rows, row) ^ low) | ((_get(rows, row + 1) ^ high) << four)
    second = (_get(rows, row + 4) ^ low) | ((_get(rows, row + 5) ^ high) << four)
    not_first = np.int64(first != np.uint64(0))
    return row + 4 * not_first, not_first & np.int64(second != np.uint64(0))


@inline(boolean(U8, int64, U8, int64, int64))
def _same_long(a, i, b, j, n):
    """Whether n >= 16 bytes are the same, compared by sixteen, the last ones once more."""
    last = n - 16
    d = (_load64(a, i) ^ _load64(b, j)) | (_load64(a, i + 8) ^ _load64(b, j + 8))
    d |= _load64(a, i + last) ^ _load64(b, j + last)
    d |= _load64(a, i + last + 8) ^ _load64(b, j + last + 8)
    k = 16
    while k < last:
        d |= _load64(a, i + k) ^ _load64(b, j + k)
        k += 8
    return d == np.uint64(0)


@inline(int64(u64, int64))
def _count(rows, way):
    return np.int64(_get(rows, way + 1) >> np.uint64(COUNT_SHIFT))


@inline(boolean(u64, int64))
def _is_whole(rows, row):
    """Whether one piece takes the whole row."""
    n = _count(rows, row)
    return n > WAY_IDS and n <= ROW_IDS


@inline(types.void(u64, int64, u64, int64))
def _move_way(target, to, rows, way):
    _copy16(target, to, rows, way)
    _copy16(target, to + 2, rows, way + 2)


@inline(types.void(u64, int64))
def _clear_way(rows, way):
    """No key and no ids: what an empty piece has, and nothing else."""
    rows[way] = np.uint64(0)
    rows[way + 1] = np.uint64(0)


@part(int64(u64, int64, boolean))
def _make_room(rows, row, whole):
    """The way, or for a piece that takes it whole the row, to put a piece in.

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


@inline(types.void(U8, int64, int64, uint64, uint64, u32, int64, int64, u64, int64, u8, i64))
def _keep(buf, at, size, low, high, out, used, n, rows, row, ring, head):
    """Put a piece of `size` bytes with its key and n ids in its row and perhaps in the ring."""
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
            _copy16(ring, i + padded + 4 * k, out, used + k)
        count = IN_RING
    row = _make_room(rows, row, count > WAY_IDS and count <= ROW_IDS)
    rows[row] = low
    rows[row + 1] = high | (np.uint64(count) << np.uint64(COUNT_SHIFT))
    if in_ring:
        rows[row + 2] = np.uint64(place)
        rows[row + 3] = np.uint64(n)
        return
    _copy16(rows, row + 2, out, used)
    if n > WAY_IDS:
        _clear_way(rows, row + 4)
        _copy16(rows, row + 6, out, used + WAY_IDS)


@jit(types.void(u64, u8, i64, u64, u8))
def carry_over(rows, ring, head, larger_rows, larger_ring):
    """Put what is in a cache into a larger one, which goes on with the same `head`."""
    room = ring.size - SLACK
    first = max(head[0] - room, 0)
    for place in range(first, head[0], 8):  # entries are of whole words, and not cut in two
        word = _load64(ring, place & (room - 1))
        _store(larger_ring, place & (larger_ring.size - SLACK - 1), word)
    shift = np.uint64(64) - _trailing_zeros(np.uint64(larger_rows.size >> 3))
    key_bits = (ONE << np.uint64(COUNT_SHIFT)) - ONE
    for way in range(0, rows.size, 4):
        row = way & ~7
        whole = _is_whole(rows, row)
        count = _count(rows, way)
        gone = count == IN_RING and np.int64(rows[way + 2]) < first
        if count == 0 or gone or (whole and way > row):
            continue
        h = rows[way]  # of a long piece
        if (rows[way + 1] & key_bits) >> np.uint64(56) != ZERO:
            h = _spread(rows[way], rows[way + 1] & key_bits)
        to = _make_room(larger_rows, 8 * np.int64(h >> shift), whole)
        _move_way(larger_rows, to, rows, way)
        if whole:
            _move_way(larger_rows, to + 4, rows, way + 4)


@jit(
    int64(
        U8, I64, I64, I64, u64, i64, int64, I32, I32, I64, I32, U32,
        u64, u8, i64, i32, i32, i32, i32, i32, i64, u32, i64, i64,
    )
)  # fmt: skip
def encode_segments(
    buf, bounds, specials, given, batch, long, limit, id_of_byte, made, pairs, byte_ranks, ids,
    rows, ring, head, sym, rank, begin, after, before, heap, out, counts, state,
):  # fmt: skip
    """Append the ids of segments of `buf` to `out`, after each the special token's id, if any.

    Segment k is buf[bounds[2 * k]:bounds[2 * k + 1]], specials[k] the id after it or -1, and
    counts[k] becomes the number of ids up to its end. Its pieces end at `given`.
    Returns ALL_TAKEN, or NO_ROOM where a piece of state[5] bytes found no room in `out` or in the
    scratch arrays, or MORE_ENDS where those given are used up, or FULL where a larger cache is
    due. state: [0] segment, [1] place in it (-1: its start), [2] next one of the ends, [3] ids
    in `out`, [4] number of ends. head: [0] where the ring ends, [1] pieces put in the cache, [2]
    pieces with which it counts as full.
    """
    used = state[3]
    ring_size = ring.size - SLACK
    code = ALL_TAKEN
    while code == ALL_TAKEN:
        if head[1] >= head[2]:
            code = FULL
            break
        segment = state[0]
        piece = state[2]
        n_all = _hash_batch(buf, bounds, given, rows, batch, long, state)
        if n_all == 0:
            if segment < specials.size:
                code = MORE_ENDS
            break
        n = n_all
        room = out.size - ROOM - used
        if _get(long, BATCH + 1) > room:
            n = 0
            while n < n_all and room >= max(1, _size(batch, n)):
                room -= max(1, _size(batch, n))
                n += 1
        for k in range(_get(long, BATCH)):
            i = 4 * _get(long, k)
            row = np.int64(_get(batch, i + 2))
            way, missing = _find_way(rows, row, _get(batch, i), _get(batch, i + 1))
            i = np.int64(_get(rows, way + 2)) & (ring_size - 1)
            _prefetch(ring, i)
            _prefetch(ring, i + 64)
        k = 0
        while True:
            # Nearly all pieces: those that stand in their rows.
            while k < n:
                row = np.int64(_get(batch, 4 * k + 2))
                way, missing = _find_way(rows, row, _get(batch, 4 * k), _get(batch, 4 * k + 1))
                count = _count(rows, way)
                if missing != 0 or count > ROW_IDS:
                    break
                _copy16(out, used, rows, way + 2)
                _copy16(out, used + WAY_IDS, rows, row + 6)
                used += count
                k += 1
            if k == n:
                break
            low = _get(batch, 4 * k)
            high = _get(batch, 4 * k + 1)
            row = np.int64(_get(batch, 4 * k + 2))
            at = np.int64(_get(batch, 4 * k + 3))
            if low == BORDER and high == 0:
                if specials[segment] >= 0:
                    out[used] = specials[segment]
                    used += 1
                counts[segment] = used
                segment += 1
                piece -= 1
                k += 1
                continue
            size = _size(batch, k)
            way, missing = _find_way(rows, row, low, high)
            if missing != 0:
                way, missing = _find_way(rows, row ^ 8, low, high)
            if missing == 0:
                count = _count(rows, way)
                if count <= ROW_IDS:
                    _copy16(out, used, rows, way + 2)
                    _copy16(out, used + WAY_IDS, rows, (way & ~7) + 6)
                    used += count
                    k += 1
                    continue
                place = np.int64(_get(rows, way + 2))
                i = place & (ring_size - 1)
                if head[0] <= place + ring_size and (
                    size <= SHORT_KEY or _same_long(buf, at, ring, i, size)
                ):
                    count = np.int64(_get(rows, way + 3))
                    i += (size + 7) & ~7
                    _copy16(out, used, ring, i)
                    for j in range(4, count, 4):
                        _copy16(out, used + j, ring, i + 4 * j)
                    used += count
                    k += 1
                    continue
                _clear_way(rows, way)  # written over in the ring, or a piece of the same hash
            if size > sym.size:
                break
            if size <= SHORT:
                count = _merge_short(
                    buf, at, size, limit, id_of_byte, made, pairs, byte_ranks,
                    sym, heap, sym, False,
                )  # fmt: skip
            else:
                count = _merge_long(
                    buf, at, size, limit, id_of_byte, made, pairs,
                    sym, rank, begin, after, before, heap, sym, False,
                )  # fmt: skip
            for i in range(count):
                _put(out, used + i, _get(ids, np.int64(_get(sym, i))))
            if size <= LONGEST_KEY:
                _keep(buf, at, size, low, high, out, used, count, rows, row, ring, head)
            used += count
            k += 1
        if k < n_all:  # the entry k is to be the next one
            state[0] = segment
            state[1] = np.int64(_get(batch, 4 * k + 3))
            state[2] = piece + k
            if k == 0 or k < n:
                state[5] = max(1, _size(batch, k))
                code = NO_ROOM
    state[3] = used
    return code


@jit(
    types.void(
        U8, I64, int64, int64, I32, I32, I64, I32, i32, i32, i32, i32, i32, i64, i32
    )
)
def join_pieces(
    buf, ends, start, limit, id_of_byte, made, pairs, byte_ranks,
    sym, rank, begin, after, before, heap, joins,
):  # fmt: skip
    """Write the rank of each merge onto the boundary that it erases; joins[i] is the boundary
    between buf[i] and buf[i + 1]."""
    at = start
    for piece in range(ends.size):
        size = ends[piece] - at
        if size > SHORT:
            _merge_long(
                buf, at, size, limit, id_of_byte, made, pairs,
                sym, rank, begin, after, before, heap, joins, True,
            )  # fmt: skip
        elif size > 1:
            _merge_short(
                buf, at, size, limit, id_of_byte, made, pairs, byte_ranks,
                sym, heap, joins, True,
            )  # fmt: skip
        at = ends[piece]


@jit(types.void(I32, I64, I64, i64))
def tally_joins(joins, borders, weights, histogram):  # the last function: see kernels_ready
    """Add each piece's weight to the tally of each rank inside it; the last bin is `never`."""
    never = histogram.size - 1
    for w in range(weights.size):
        for i in range(borders[w], borders[w + 1] - 1):
            r = joins[i]
            histogram[r if r < never else never] += weights[w]


# --------------------------------------------------------------------------- what was tried
#
# On two processors of a virtual machine, nanoseconds a byte of text or seconds for 10,000 merges;
# the machine is up to 1.8 times as fast at some times as at others.
#
# Training (12 MB in 21 languages: 149,000 pre-tokens, 1.6 million merged places)
#   1.35 s  hash table of pairs, one array a field, every pair in the heap
#   0.77 s  pair records of half a cache line, found by the cell instead of a table
#   0.57 s  heap above a threshold, the best few pairs in order: with few places a step, the
#           ten candidates of the trace took half of the time before
#   0.21 s  without numba's reference counting
#   What bounds it now are cache misses: about 130 ns for each place that is merged.
#   Counting, Python code, scanning apart: 4.3, with rows asked for in batches 2.1.
#   Not better: a rolling hash to find tokens spelled twice (there are none, see above).
#
# Scanning (English; GPT-2's pattern)
#   6.0     a loop over characters with a table of classes
#   4.3     letters eight bytes at a time
#   3.0     marks for a window, helpers inlined, no negative indices; called and not inlined, the
#           same was 10
#   0.4     sets of 64 bytes; of 21 languages 3.6 became 1.0, with o200k's pattern 6.9 became 1.2
#   What is left is the writing of the ends and, for other scripts, a look into the table of
#   classes for each character. No difference: windows of 1 to 4 kB, only the columns that a
#   pattern needs. A window is copied first, so that reading beyond it is safe: 0.02.
#
# Encoding, cl100k, warm, looking pieces up alone: English, 21 languages, Python code, 532 languages
#   3.0  5.8  3.5  10.7  a row a piece, branches on its length and on its number of ids
#   1.9  2.8  1.8   6.6  masked keys, two ways a row, both compared, ids copied by sixteen bytes
#   1.9  2.2  1.8   2.9  what is moved aside goes to the row beside; 2**19 rows instead of 2**18
#   1.8  2.3  1.8   2.9  batches over the ends of segments: where each piece is one, 12 became 5
#   English is about 65 instructions a piece in 7.5 ns, so little waiting is left in it. Of 532
#   languages in 3 MB one piece in 900 is merged anew, of their whole 7 MB one in 130; with one
#   row a piece it was one in 17 and one in 10.
#   Not better: batches of 32 or 256, keys compared as vectors (1.65 became 1.98), huge pages.
# Pieces met for the first time: 31 became 22 ns a byte of 21 languages, 28 became 20 of 532.
#   A merge of a few bytes cost less than the call of a function with twelve arrays (35 ns), so
#   it is inlined. Ranks compared as vectors were slower: a vector is loaded only when the
#   stores into it are done. What bounds it are merges that wait for each other, and memory.
#   A cache is as dear to fill as it is large: 128 kB of text took 3.9 ms with 2**18 rows and
#   2.5 ms with 2**16, so it begins small and is carried over into larger ones.
#
# Compiling: 30 s with helpers typed by their calls, 20 s with declared types, 14 to 15 s without
# what compiling.py leaves out, of which half are the helpers on their own. Not better: helpers that
# are optimized as parts of the kernels only; encoding then took 1.6 times as long.
