"""How the functions of `kernels.py` are compiled, cached and loaded.

Belongs here: the decorators that declare them, and what makes compiling quick. Does not belong
here: compiled code itself.

A kernel is what Python calls; it comes from numba's disk cache, or is compiled, when it is first
called. A part is what kernels call: it is in their cached code, so where all kernels are cached
the parts are never compiled.
"""

import contextlib
import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

from numba import config, njit
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager

# No kernel allocates, so numba's reference counting is off: it would count every array in and
# out of every call of a helper function with an atomic instruction, which took three quarters
# of the training time and a good part of the compile time.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}

# For what kernels have nothing of: closures, comprehensions, expressions of whole arrays.
_NEEDLESS = {"InlineClosureLikes", "GenericRewrites", "NopythonRewrites", "InlineOverloads"}

_parts: list[tuple[Any, Any]] = []  # declared and not compiled yet
_kernels: list["_Kernel"] = []
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
        dispatcher = njit(
            no_cpython_wrapper=True,
            no_cfunc_wrapper=True,
            pipeline_class=_Compiler,
            **_OPTIONS,
            **options,
        )(function)
        _parts.append((dispatcher, signature))
        return dispatcher

    return declare


def inline(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """A part that is copied into its callers: an array goes into a function as seven numbers,
    so where a helper is small the call costs more than what it does."""
    return part(signature, forceinline=True)


def jit(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """A kernel; it is taken from the cache, or compiled, when it is first called."""

    def declare(function: Callable[..., Any]) -> Any:
        kernel = _Kernel(function, signature)
        _kernels.append(kernel)
        return kernel

    return declare


class _Kernel:
    """Stands for a kernel in its module until that is loaded, and then gives it its place."""

    def __init__(self, function: Callable[..., Any], signature: Any) -> None:
        self._function = function
        self._signature = signature
        self._loaded: Any = None

    def __call__(self, *arguments: Any) -> Any:
        return self.load()(*arguments)

    def load(self) -> Any:
        with _loading:
            if self._loaded is None:
                kernel = njit(cache=True, pipeline_class=_Compiler, **_OPTIONS)(self._function)
                if _is_cached(kernel, self._signature):
                    kernel.compile(self._signature)
                else:
                    with _leanly():
                        while _parts:  # one by one: Ctrl-C may come in between
                            dispatcher, declared = _parts[0]
                            if not dispatcher.overloads:
                                dispatcher.compile(declared)
                            dispatcher.disable_compile()
                            _parts.pop(0)
                        kernel.compile(self._signature)
                kernel.disable_compile()
                self._loaded = self._function.__globals__[self._function.__name__] = kernel
            return self._loaded


def load_all() -> None:
    """Load every kernel, compiling where the cache is empty."""
    for kernel in _kernels:
        kernel.load()


def all_loaded() -> bool:
    """Whether every kernel is loaded."""
    return all(kernel._loaded is not None for kernel in _kernels)


def _is_cached(kernel: Any, signature: Any) -> bool:
    """Whether numba's cache has a kernel; a private matter of numba's, so with a way out."""
    try:
        index = kernel._cache._cache_file._load_index()
        return bool(kernel._cache._index_key(signature, kernel.targetctx.codegen()) in index)
    except Exception:
        return False


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
