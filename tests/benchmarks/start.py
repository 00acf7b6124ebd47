"""Time from nothing to the first ids: import, first encode, and the one compilation a machine.

Each figure is taken in processes of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from common import ROOT, table

IMPORT = "import time; t = time.perf_counter(); import bpe_core; print(time.perf_counter() - t)"
FIRST = """
import time
t = time.perf_counter()
from bpe_core import Tokenizer
vocab = {i: bytes([i]) for i in range(256)} | {256: b"ab"}
Tokenizer.from_vocab(vocab, [(b"a", b"b")]).encode("abab")
print(time.perf_counter() - t)
"""
COMPILE = """
import time
import numba
t, p = time.perf_counter(), time.process_time()
from bpe_core import kernels
kernels.load_all()
print(time.perf_counter() - t, time.process_time() - p)
"""


def seconds(script: str, cache: str) -> list[float]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    return [float(word) for word in done.stdout.split()]


def run(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as cache:
        wall, processor = seconds(COMPILE, cache)
        imports = min(seconds(IMPORT, cache)[0] for _ in range(rounds))
        first = min(seconds(FIRST, cache)[0] for _ in range(rounds))
    print("\nStart, seconds; with the kernels in the cache but for the first row\n")
    table(
        [
            ["what", "seconds"],
            ["compiling all kernels, once a machine", f"{wall:.1f} ({processor:.1f} of processor)"],
            ["import bpe_core", f"{imports:.2f}"],
            ["import and first encode", f"{first:.2f}"],
        ]
    )
