"""Single machine instructions that numba has no name for, each beside its plain meaning.

Belongs here: what LLVM does in one or a few instructions, written twice: as a plain Python
function, which is its definition and runs where numba's JIT is off (NUMBA_DISABLE_JIT=1), and as
the code to generate. Does not belong here: anything with a loop or a decision of its own.

A decorated function below is called by numba while it compiles a caller: it gets the types of the
arguments, and returns the signature and the function that writes the instructions. Indices must not
be negative and what is read or written must lie inside the array: the code does not check it, and
of the plain forms only `get` and `put` do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

_BIG_ENDIAN = sys.byteorder == "big"
_BYTE, _WORD = ir.IntType(8), ir.IntType(64)
_BYTES_16, _BYTES_64 = ir.VectorType(_BYTE, 16), ir.VectorType(_BYTE, 64)


def meaning(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """For a function that generates code: `plain` says what the code does, and takes its place
    where the JIT is off."""
    return lambda generator: plain if config.DISABLE_JIT else intrinsic(generator)


def _data(context, builder, kind, array):
    """Where an array's items begin. Numba's own way writes the whole array down and reads it
    back, which is a good part of the code to compile."""
    place = context.data_model_manager[kind].get_field_position("data")
    return builder.extract_value(array, place)


def _place(context, builder, kind, array, index):
    """The address of array[index]."""
    return builder.gep(_data(context, builder, kind, array), [index])


# ------------------------------------------------------------------ one item
#
# Of a signed index numba first asks whether it is negative, to count from the end: three more
# instructions, which is most of what the innermost loops would do.


def _get(array, index):
    return array[index]


@meaning(_get)
def get(typing, array, index):
    """array[index]"""

    def generate(context, builder, signature, args):
        return builder.load(_place(context, builder, signature.args[0], *args))

    return array.dtype(array, types.int64), generate


def _put(array, index, value):
    array[index] = value


@meaning(_put)
def put(typing, array, index, value):
    """array[index] = value"""

    def generate(context, builder, signature, args):
        builder.store(args[2], _place(context, builder, signature.args[0], *args[:2]))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), generate


def _prefetch(array, index):
    pass


@meaning(_prefetch)
def prefetch(typing, array, index):
    """Have the cache line of array[index] brought up, without waiting for it."""

    def generate(context, builder, signature, args):
        pointer = _BYTE.as_pointer()
        place = builder.bitcast(_place(context, builder, signature.args[0], *args), pointer)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        # To read, likely to be used again, data rather than code.
        builder.call(function, [place, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


# ------------------------------------------------------------------ several bytes


def _load64(array, index):
    return np.uint64(int.from_bytes(array[index : index + 8].tobytes(), "little"))


@meaning(_load64)
def load64(typing, array, index):
    """Eight bytes from `index` on as one little-endian number."""

    def generate(context, builder, signature, args):
        place = _place(context, builder, signature.args[0], *args)
        value = builder.load(builder.bitcast(place, _WORD.as_pointer()), align=1)
        return builder.bswap(value) if _BIG_ENDIAN else value

    return types.uint64(array, types.int64), generate


def _store(array, index, value):
    data = int(value).to_bytes(value.dtype.itemsize, "little")
    array[index : index + len(data)] = np.frombuffer(data, np.uint8)


@meaning(_store)
def store(typing, array, index, value):
    """Write a number's bytes, four or eight, little-endian, over the items from `index` on."""

    def generate(context, builder, signature, args):
        place = _place(context, builder, signature.args[0], *args[:2])
        number = builder.bswap(args[2]) if _BIG_ENDIAN else args[2]
        builder.store(number, builder.bitcast(place, number.type.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(array, types.int64, value), generate


def _copy(target, source, start, count):
    target[:count] = source[start : start + count]


@meaning(_copy)
def copy(typing, target, source, start, count):
    """target[:count] = source[start:start + count], of bytes"""

    def generate(context, builder, signature, args):
        to = _data(context, builder, signature.args[0], args[0])
        place = _place(context, builder, signature.args[1], args[1], args[2])
        cgutils.raw_memcpy(builder, to, place, args[3], 1)
        return context.get_dummy_value()

    return types.void(target, source, types.int64, types.int64), generate


def _copy16(target, i, source, j):
    to, of = i * target.itemsize, j * source.itemsize
    target.view(np.uint8)[to : to + 16] = source.view(np.uint8)[of : of + 16]


@meaning(_copy16)
def copy16(typing, target, i, source, j):
    """Copy sixteen bytes of memory from source[j] on to target[i] on."""

    def generate(context, builder, signature, args):
        def place(kind, array, index):
            address = _place(context, builder, kind, array, index)
            return builder.bitcast(address, _BYTES_16.as_pointer())

        value = builder.load(place(signature.args[2], args[2], args[3]), align=1)
        builder.store(value, place(signature.args[0], args[0], args[1]), align=1)
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64), generate


def _clear64(array, index):
    array[index : index + 64] = 0


@meaning(_clear64)
def clear64(typing, array, index):
    """Write 64 zero bytes."""

    def generate(context, builder, signature, args):
        place = _place(context, builder, signature.args[0], *args)
        zeros = ir.Constant(_BYTES_64, [0] * 64)
        builder.store(zeros, builder.bitcast(place, _BYTES_64.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


# ------------------------------------------------------------------ bits of a word


def _trailing_zeros(value):
    return np.uint64((int(value) & -int(value)).bit_length() - 1 if value else 64)


@meaning(_trailing_zeros)
def trailing_zeros(typing, value):
    """Zero bits below the lowest one that is set (64 where none is)."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


def _leading_zeros(value):
    return np.uint64(64 - int(value).bit_length())


@meaning(_leading_zeros)
def leading_zeros(typing, value):
    """Zero bits above the highest one that is set (64 where none is)."""

    def generate(context, builder, signature, args):
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


def _count_ones(value):
    return np.uint64(int(value).bit_count())


@meaning(_count_ones)
def count_ones(typing, value):
    """How many bits are set."""

    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


# ------------------------------------------------------------------ 64 bytes as a set
#
# A word tells of 64 bytes which of them are in a set, the first one in bit 0.


def _bytes_within(array, index, low, count):
    return _as_set(array[index : index + 64] - np.uint8(low) < count)


@meaning(_bytes_within)
def bytes_within(typing, array, index, low, count):
    """Which of the 64 bytes from `index` on are low, low + 1, ... (`count` of them)."""

    def generate(context, builder, signature, args):
        text = _vector(context, builder, signature.args[0], *args[:2])
        above = builder.sub(text, _all_bytes(builder, args[2]))
        flags = builder.icmp_unsigned("<", above, _all_bytes(builder, args[3]))
        return _as_bits(builder, flags)

    return types.uint64(array, types.int64, types.int64, types.int64), generate


def _bytes_with(array, index, mask):
    return _as_set(array[index : index + 64] & np.uint8(mask) != 0)


@meaning(_bytes_with)
def bytes_with(typing, array, index, mask):
    """Which of the 64 bytes from `index` on have a bit in common with `mask`."""

    def generate(context, builder, signature, args):
        text = _vector(context, builder, signature.args[0], *args[:2])
        common = builder.and_(text, _all_bytes(builder, args[2]))
        nothing = ir.Constant(common.type, [0] * 64)
        return _as_bits(builder, builder.icmp_unsigned("!=", common, nothing))

    return types.uint64(array, types.int64, types.int64), generate


def _as_set(flags):
    return np.uint64(int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little"))


def _vector(context, builder, kind, array, index):
    """64 bytes of an array from `index` on, as a vector."""
    place = _place(context, builder, kind, array, index)
    return builder.load(builder.bitcast(place, _BYTES_64.as_pointer()), align=1)


def _all_bytes(builder, value):
    """A vector of 64 times the byte `value`."""
    nothing = ir.Constant(_BYTES_64, ir.Undefined)
    one = builder.insert_element(nothing, builder.trunc(value, _BYTE), ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
    return builder.shuffle_vector(one, nothing, zeros)


def _as_bits(builder, flags):
    """64 truth values as one number, the first one in bit 0."""
    bits = builder.bitcast(flags, _WORD)
    return builder.bitreverse(bits) if _BIG_ENDIAN else bits
