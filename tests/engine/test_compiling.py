"""Kernels come from numba's cache where they are in it, and an interruption does no lasting harm."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bpe_core import compiling, kernels, warm_up

ROOT = Path(__file__).parent.parent.parent
INTERRUPTED = """
from bpe_core import compiling, kernels
part, signature = compiling._parts[3]
class Interrupted:
    overloads = ()
    def compile(self, signature):
        compiling._parts[0] = part, signature  # those before it are compiled
        raise KeyboardInterrupt
compiling._parts[3] = Interrupted(), signature
try:
    kernels.collect_counts.load()
except KeyboardInterrupt:
    print("interrupted")
kernels.collect_counts.load()
print("loaded")
"""


def test_what_is_compiled_is_found_in_the_cache() -> None:
    """Were it not, every process would compile the parts anew."""
    warm_up()
    for kernel in compiling._kernels:
        assert compiling._is_cached(kernel._loaded, kernel._signature), kernel._function.__name__
    assert kernels.scan_segments in [kernel._loaded for kernel in compiling._kernels]


@pytest.mark.slow
def test_a_compilation_that_was_interrupted_can_be_done_again(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], env=environment, capture_output=True, text=True
    )
    assert done.stdout.split() == ["interrupted", "loaded"], done.stderr[-2000:]
