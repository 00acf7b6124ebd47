"""Kernels come from numba's cache where they are in it; edits and interruptions do no lasting harm."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bpe_core
from bpe_core import kernels, warm_up
from bpe_core.kernels import compiling

ROOT = Path(__file__).parent.parent.parent
INTERRUPTED = """
from bpe_core import kernels
from bpe_core.kernels import compiling, count
pending = compiling.pending_parts
part, signature = pending[3]
class Interrupted:
    overloads = ()
    def compile(self, signature):
        pending[0] = part, signature  # those before it are compiled
        raise KeyboardInterrupt
pending[3] = Interrupted(), signature
try:
    kernels.count_given.load()
except KeyboardInterrupt:
    print("interrupted")
kernels.count_given.load()
print("loaded")
"""
HASH = """
import numpy as np
from bpe_core import kernels
from bpe_core.kernels import count, compiling
from bpe_core.kernels.layout import PretokenTable
empty = lambda n, kind: np.zeros(n, kind)
table = PretokenTable(empty(64, np.uint64), empty(9, np.int64), empty(64, np.uint8), empty(3, int))
cached = count.count_given.is_cached(count.count_given.dispatcher())
kernels.count_given(np.frombuffer(b"low", np.uint8), np.array([0, 3]), np.array([1]), 0, table)
print(cached, np.flatnonzero(table.rows)[-1] // 4)
"""


def run(script: str, cache: Path, root: Path = ROOT, **environment: str) -> list[str]:
    """What a script prints, in words, with a cache of its own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


def test_what_is_compiled_is_found_in_the_cache() -> None:
    """Were it not, every process would compile the parts anew."""
    warm_up()
    for declared in compiling.declared_kernels:
        assert declared.is_cached(declared.loaded), declared.name
        assert getattr(kernels, declared.name) is declared.loaded


def test_every_kernel_is_named_in_the_package() -> None:
    kernels.load_all()
    assert {declared.name for declared in compiling.declared_kernels} == set(kernels.KERNELS)


@pytest.mark.slow
def test_a_compilation_that_was_interrupted_can_be_done_again(tmp_path: Path) -> None:
    assert run(INTERRUPTED, tmp_path) == ["interrupted", "loaded"]


def test_an_edit_in_another_file_is_noticed(tmp_path: Path) -> None:
    """`count_given` stands in count.py; what it hashes with stands in keys.py."""
    shutil.copytree(Path(bpe_core.__file__).parent, tmp_path / "bpe_core")
    shutil.rmtree(tmp_path / "bpe_core" / "__pycache__", ignore_errors=True)
    cache = tmp_path / "cache"
    cached, row = run(HASH, cache, tmp_path)
    assert cached == "False"
    assert run(HASH, cache, tmp_path) == ["True", row]
    keys = tmp_path / "bpe_core" / "kernels" / "keys.py"
    source = keys.read_text("utf-8")
    assert "return h ^ (h >> np.uint64(29))" in source
    edited = source.replace("return h ^ (h >> np.uint64(29))", "return h & np.uint64(0)")
    keys.write_text(edited, "utf-8")
    assert run(HASH, cache, tmp_path) == ["False", "0"]
    assert row != "0"
