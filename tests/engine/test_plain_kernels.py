"""The kernels run as plain Python, too, and equal their twins: so they can be stepped through.

With the JIT on, this file runs itself in a fresh interpreter that has it off, on smaller inputs.
All of it, in the interpreter at hand:

    NUMBA_DISABLE_JIT=1 python -m pytest -n 0 tests/engine/test_plain_kernels.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from inspect import isfunction
from pathlib import Path

import pytest
from numba import config

from bpe_core import kernels

from . import twins

ROOT = Path(__file__).resolve().parents[2]
SMALL = {0: 2, 1: 2, 2: 4, 5: 8, 20: 15, 100: 8}
LARGE = {300: 12, 2000: 3, 6000: 2}  # the last one is longer than a scanner's window
SHARE = SMALL if os.environ.get("ONLY_SMALL_INPUTS") else SMALL | LARGE

if config.DISABLE_JIT:

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize("row", twins.TWINS, ids=lambda row: row.kernel)
    def test_a_plain_kernel_equals_its_twin(row: twins.Twin) -> None:
        for size, n_inputs in SHARE.items():
            for seed in range(n_inputs):
                row.compare(seed, size)
        assert isfunction(getattr(kernels, row.kernel))

else:

    def test_every_kernel_runs_as_plain_python() -> None:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", __file__],
            cwd=ROOT,
            env={**os.environ, "NUMBA_DISABLE_JIT": "1", "ONLY_SMALL_INPUTS": "1"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
        assert f"{len(twins.TWINS)} passed" in done.stdout
