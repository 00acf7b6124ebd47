"""How kernels are declared, compiled, cached and loaded.

Belongs here: the decorators that declare them, the names of their types, what makes compiling quick
and what keeps the cache right. Does not belong here: compiled code itself.

A kernel is what Python calls; it comes from numba's disk cache, or is compiled, when it is first
called. A part is what kernels call: it is in their cached code, so where all kernels are cached
the parts are never compiled.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numba import config, njit, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.extending import typeof_impl

# Types of declared signatures. Capitals: an array that is only read. Declared so, a kernel takes
# both kinds of array without being compiled a second time.
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
uint64 = types.uint64
boolean = types.boolean
void = types.void


def tuple_of(n: int, kind: Any) -> Any:
    """The type of a tuple of n of a kind."""
    return types.UniTuple(kind, n)


def group(named_tuple: type, *kinds: Any) -> Any:
    """The type of a named group of arrays or numbers (see layout.py), by the types of its fields.

    Inside a kernel a group costs nothing: its fields are arguments of their own; in a call from
    Python it costs about a microsecond. Numba before 0.61 tells long groups apart wrongly.
    """
    # Said beforehand, since numba takes long to find out that this is a kind of tuple.
    typeof_impl.register(named_tuple)(typeof_impl.dispatch(tuple))
    return types.BaseTuple.from_types(kinds, named_tuple)


# No kernel allocates, so numba's reference counting is off: it would count every array in and
# out of every call of a helper function with an atomic instruction, which took three quarters
# of the training time and a good part of the compile time.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}

# Passes for what kernels have nothing of: closures, comprehensions, expressions of whole arrays.
_NEEDLESS = {"InlineClosureLikes", "GenericRewrites", "NopythonRewrites", "InlineOverloads"}

# Parts that are declared and not compiled yet, and all kernels that are declared.
pending_parts: list[tuple[Any, Any]] = []
declared_kernels: list[Kernel] = []
_loading = threading.RLock()


class _Compiler(CompilerBase):
    """Numba's way to compile, without what kernels do not need."""

    def define_pipelines(self) -> list[PassManager]:
        lean = PassManager("lean")
        for step, title in DefaultPassBuilder.define_nopython_pipeline(self.state).passes:
            if step.__name__ not in _NEEDLESS:
                lean.add_pass(step, title)
        lean.finalize()
        return [lean]


def part(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """For functions that only kernels call: compiled by the declared signature, once, when a
    kernel is."""

    def declare(function: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return function
        dispatcher = njit(
            no_cpython_wrapper=True,
            no_cfunc_wrapper=True,
            pipeline_class=_Compiler,
            **_OPTIONS,
            **options,
        )(function)
        pending_parts.append((dispatcher, signature))
        return dispatcher

    return declare


def inline(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """A part that is copied into its callers: an array goes into a function as seven numbers,
    so where a helper is small the call costs more than what it does."""
    return part(signature, forceinline=True)


def kernel(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """A kernel; it is taken from the cache, or compiled, when it is first called."""

    def declare(function: Callable[..., Any]) -> Kernel:
        declared = Kernel(function, signature)
        declared_kernels.append(declared)
        return declared

    return declare


class Kernel:
    """Stands for a kernel in its module until that is loaded, and then gives it its place."""

    def __init__(self, function: Callable[..., Any], signature: Any) -> None:
        self.function = function
        self.signature = signature
        self.loaded: Any = None

    @property
    def name(self) -> str:
        """The kernel's name in its module and in `bpe_core.kernels`."""
        return self.function.__name__

    def __call__(self, *arguments: Any) -> Any:
        return self.load()(*arguments)

    def load(self) -> Any:
        """The compiled function, or the plain one where numba's JIT is off."""
        with _loading:
            if self.loaded is None:
                loaded = _plain(self.function) if config.DISABLE_JIT else self._compiled()
                self.loaded = self.function.__globals__[self.name] = loaded
                vars(sys.modules[__package__])[self.name] = loaded
            return self.loaded

    def is_cached(self, dispatcher: Any) -> bool:
        """Whether numba's cache has it; a private matter of numba's, so with a way out."""
        try:
            index = dispatcher._cache._cache_file._load_index()
            key = dispatcher._cache._index_key(self.signature, dispatcher.targetctx.codegen())
            return key in index
        except Exception:
            return False

    def dispatcher(self) -> Any:
        """What numba makes of the function before it is compiled."""
        dispatcher = njit(
            cache=True,
            no_cfunc_wrapper=True,  # only Python calls it
            pipeline_class=_Compiler,
            **_OPTIONS,
        )(self.function)
        _stamp(dispatcher)
        return dispatcher

    def _compiled(self) -> Any:
        dispatcher = self.dispatcher()
        if self.is_cached(dispatcher):
            dispatcher.compile(self.signature)
        else:
            with _leanly():
                _compile_parts()
                dispatcher.compile(self.signature)
        dispatcher.disable_compile()
        return dispatcher


def load_all() -> None:
    """Load every declared kernel, compiling where the cache has it not."""
    for declared in declared_kernels:
        declared.load()


def loaded_kernels() -> frozenset[str]:
    """Names of the kernels that are loaded."""
    return frozenset(declared.name for declared in declared_kernels if declared.loaded is not None)


@functools.cache
def source_digest() -> str:
    """A digest of the sources of all kernels, in hex."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _stamp(dispatcher: Any) -> None:
    """Have the cache notice an edit in any file of this folder.

    Numba's own stamp is the date and size of the one file that a kernel stands in, though parts
    of other files are in its code. The stamp is a private matter of numba's: where there is none
    under this name, or no source to read, numba's own stays, and `__pycache__` has to be
    deleted after an edit.
    """
    with contextlib.suppress(AttributeError, OSError):
        dispatcher._cache._cache_file._source_stamp = source_digest()


def _compile_parts() -> None:
    while pending_parts:  # one by one: Ctrl-C may come in between
        dispatcher, signature = pending_parts[0]
        if not dispatcher.overloads:
            dispatcher.compile(signature)
        dispatcher.disable_compile()
        pending_parts.pop(0)


@contextlib.contextmanager
def _leanly() -> Iterator[None]:
    """Compiling makes millions of small objects; looking for unused ones takes a tenth of it.
    Loops that LLVM turns into vectors of its own accord take more; those that pay are written
    with vectors."""
    threshold = gc.get_threshold()
    vectorize = config.LOOP_VECTORIZE
    gc.set_threshold(100_000, *threshold[1:])
    config.LOOP_VECTORIZE = 0
    try:
        yield
    finally:
        gc.set_threshold(*threshold)
        config.LOOP_VECTORIZE = vectorize


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it stands, in which numbers wrap around without a warning, as they do in
    compiled code."""

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*arguments)

    return run
