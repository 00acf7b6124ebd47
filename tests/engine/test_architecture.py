"""What may import what, what a start costs, and that every example in a docstring is true."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import bpe_core

ROOT = Path(bpe_core.__file__).resolve().parents[1]
MODULES = ["bpe_core"] + [
    module.name
    for module in pkgutil.walk_packages(bpe_core.__path__, "bpe_core.")
    if module.name != "bpe_core.__main__"
]
ENGINE = sorted((ROOT / "bpe_core").rglob("*.py"))
PAGES = sorted((ROOT / "pages").glob("*.py"))


def imported(path: Path) -> set[str]:
    """Top names of all imports of a file, those inside functions included."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: path.name)
def test_the_engine_knows_nothing_of_the_app(path: Path) -> None:
    assert not imported(path) & {"streamlit", "pandas", "plotly", "altair", "ui", "pages", "app"}


def test_only_the_kernels_are_compiled() -> None:
    using_numba = [path.name for path in ENGINE if "numba" in imported(path)]
    assert using_numba == ["compiling.py", "machine.py"]


def test_the_reference_imports_nothing_but_plain_python() -> None:
    path = ROOT / "bpe_core" / "reference.py"
    assert imported(path) <= {"__future__", "collections", "dataclasses", "itertools", "typing"}
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    assert not [node for node in nodes if isinstance(node, ast.ImportFrom) and node.level]


def test_no_module_of_the_engine_stands_on_itself() -> None:
    """No circle in what modules import when they are loaded.

    The package itself is left out: it is there before any of its modules, and what it loads
    lazily (`formats`, for the calls of `Tokenizer` that open files) is no import at loading.
    """
    names = {module_name(path): path for path in ENGINE}
    needs = {name: loaded_with(path, name, set(names)) for name, path in names.items()}
    needs = {name: found - {"bpe_core"} for name, found in needs.items()}
    while settled := [name for name, found in needs.items() if not found]:
        for name in settled:
            del needs[name]
        needs = {name: found.difference(settled) for name, found in needs.items()}
    assert not needs, "these stand on each other"


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def loaded_with(path: Path, name: str, modules: set[str]) -> set[str]:
    """Those of `modules` that a module imports when it is loaded; not those for types alone."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            inside = {f"{base}.{alias.name}" for alias in node.names}
            found |= inside & modules
            if inside - modules:  # a name of the module itself
                found.add(base)
    return found & modules


# Packages that are optional or heavy, by the file that imports them where it needs them.
IMPORTED_INSIDE = {"bpe_core/cli/merge_log.py": {"pyarrow"}}


def test_no_function_of_the_engine_imports() -> None:
    for path in ENGINE:
        place = path.relative_to(ROOT).as_posix()
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom):
                    names = {node.module or ""}
                elif isinstance(node, ast.Import):
                    names = {alias.name for alias in node.names}
                else:
                    continue
                tops = {name.split(".")[0] for name in names}
                assert tops <= IMPORTED_INSIDE.get(place, set()), f"{place}:{node.lineno}"


# What belongs to others and has no public name: `namedtuple`'s own methods, numba's cache where
# the kernels are compiled, and the exit of a process.
NAMES_OF_OTHERS = {"_replace", "_asdict", "_fields", "_make", "_exit"}
NUMBA = {"_cache", "_cache_file", "_load_index", "_index_key", "_source_stamp"}
ALL_CODE = [*ENGINE, *sorted((ROOT / "ui").rglob("*.py")), *PAGES]


@pytest.mark.parametrize("path", ALL_CODE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_begins_with_an_underscore_stays_in_its_module(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = NAMES_OF_OTHERS | (NUMBA if path.name == "compiling.py" else set())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            own.update({node.attr} if ast.unparse(node.value) in ("self", "cls") else ())
    for node in ast.walk(tree):
        read = [node.attr] if isinstance(node, ast.Attribute) else []
        if isinstance(node, ast.ImportFrom):
            read = [alias.name for alias in node.names]
        for name in read:
            private = name.startswith("_") and not name.startswith("__")
            assert not private or name in own, f"{path.name}:{node.lineno}: {name}"


@pytest.mark.skipif(not PAGES, reason="there are no pages")
def test_pages_hold_no_algorithm() -> None:
    for path in PAGES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not imported(path) & {"numba", "regex", "re", "heapq", "bisect", "numpy"}, path
        assert "kernels" not in path.read_text(encoding="utf-8"), path
        loops = [node for node in ast.walk(tree) if isinstance(node, ast.While)]
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        assert not loops + classes, path


def test_files_are_opened_with_their_encoding_named() -> None:
    for path in ENGINE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name not in ("open", "read_text", "write_text"):
                continue
            texts = [a.value for a in node.args if isinstance(a, ast.Constant)]
            binary = any(isinstance(text, str) and "b" in text for text in texts)
            named = any(keyword.arg == "encoding" for keyword in node.keywords)
            assert binary or named, f"{path.name}:{node.lineno}"


def test_importing_the_package_is_light_and_kernels_come_on_first_need(run_python) -> None:
    script = """
import sys
import bpe_core
heavy = {"numba", "llvmlite", "streamlit", "pandas", "plotly"}
print(sorted(heavy & set(sys.modules)), bpe_core.kernels_ready())
bpe_core.Trainer(300)
print(sorted(heavy & set(sys.modules)))
bpe_core.warm_up()
print(bpe_core.kernels_ready(), sorted((heavy - {"numba", "llvmlite"}) & set(sys.modules)))
"""
    assert run_python(script).splitlines() == ["[] False", "[]", "True []"]


# Docstrings


def public_items(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Public functions, classes and methods that a module defines."""
    for name, item in vars(module).items():
        if name.startswith("_") or getattr(item, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(item) or inspect.isfunction(item):
            yield f"{module.__name__}.{name}", item
        if inspect.isclass(item):
            for method, value in vars(item).items():
                value = getattr(value, "func", getattr(value, "fget", value))
                value = getattr(value, "__func__", value)
                if not method.startswith("_") and inspect.isfunction(value):
                    yield f"{module.__name__}.{name}.{method}", value


@pytest.mark.parametrize("name", MODULES)
def test_every_example_in_a_docstring_is_true(name: str) -> None:
    module = importlib.import_module(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_every_public_item_says_what_it_is_in_one_line() -> None:
    for name in MODULES:
        module = importlib.import_module(name)
        assert (module.__doc__ or "").strip(), name
        if name == "bpe_core.kernels":
            continue
        for title, item in public_items(module):
            doc = inspect.getdoc(item)
            assert doc, title
            assert doc.splitlines()[0].strip(), title


def test_every_public_call_has_a_runnable_example() -> None:
    for name in bpe_core.__all__:
        item = getattr(bpe_core, name)
        if inspect.isfunction(item) or inspect.isclass(item):
            doc = inspect.getdoc(item) or ""
            assert doc, name
    for title, item in public_items(importlib.import_module("bpe_core.reference")):
        if inspect.isfunction(item):
            assert ">>>" in (inspect.getdoc(item) or ""), title


def test_names_that_moved_are_still_found_where_they_were() -> None:
    from bpe_core import corpus, metrics, registry, text, tokenizer, trainer

    assert corpus.decode_text is text.decode_text is bpe_core.decode_text
    assert corpus.DecodedText is text.DecodedText is bpe_core.DecodedText
    assert tokenizer.DecodeStream is text.DecodeStream is bpe_core.DecodeStream
    assert trainer.MergeTrace is bpe_core.MergeTrace
    assert registry.encoding_of("gpt-4o") == "o200k_base"
    assert callable(metrics.bytes_per_token)
