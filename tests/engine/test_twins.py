"""Every kernel equals its plain twin, and has one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bpe_core import kernels

from . import twins

SIZES = {0: 2, 1: 6, 2: 10, 5: 30, 20: 80, 100: 80, 600: 30, 5000: 4}
"""How many inputs of about so many bytes each row is run on."""


@pytest.mark.parametrize("row", twins.TWINS, ids=lambda row: row.kernel)
def test_a_kernel_equals_its_twin(row: twins.Twin) -> None:
    for size, n_inputs in SIZES.items():
        for seed in range(n_inputs):
            row.compare(seed, size)


def declared_kernels() -> set[str]:
    """Names of the functions that are declared as kernels, read off the sources."""
    names = set()
    for path in Path(kernels.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if isinstance(called, ast.Name) and called.id == "kernel":
                    names.add(node.name)
    return names


def test_no_kernel_is_without_a_twin() -> None:
    names = [row.kernel for row in twins.TWINS]
    assert len(set(names)) == len(names)
    assert set(names) == declared_kernels() == set(kernels.KERNELS)
