"""What pages show is worked out in `bpe_core.analysis`: views lay out, draw and say."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import bpe_core
from bpe_core import analysis

ROOT = Path(bpe_core.__file__).resolve().parents[1]
VIEWS = [*sorted((ROOT / "ui").rglob("*.py")), *sorted((ROOT / "pages").glob("*.py"))]

# What a view may do with arrays: name their types, count what a mask marks, lay bytes out.
LAYOUT = {"ndarray", "empty", "zeros", "count_nonzero", "flatnonzero", "uint8", "uint32", "int64"}
# Places on the axes of a plot, and the bytes that components are sent.
DRAWING = {"charts.py", "marks.py"}
# What only arithmetic takes apart.
OF_MERGES = {"merge_ids", "birth_ranks", "join_ranks"}


@pytest.mark.skipif(not VIEWS, reason="there is no app")
@pytest.mark.parametrize("path", VIEWS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_views_compute_nothing(path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Subscript | ast.BinOp | ast.Compare):
            sides = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.Attribute)]
            found = {side.attr for side in sides} & OF_MERGES
            assert not found, f"{place}:{node.lineno}"
        if path.name in DRAWING or place.startswith("ui/components/"):
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert node.value.id != "np" or node.attr in LAYOUT, f"{place}:{node.lineno}"


@pytest.mark.parametrize(
    "name", [module.name for module in pkgutil.iter_modules(analysis.__path__)]
)
def test_every_function_shows_an_example(name: str) -> None:
    module = importlib.import_module(f"bpe_core.analysis.{name}")
    assert name in analysis.__all__
    for title, item in vars(module).items():
        if inspect.isfunction(item) and item.__module__ == module.__name__ and title[0] != "_":
            assert ">>>" in (inspect.getdoc(item) or ""), title
