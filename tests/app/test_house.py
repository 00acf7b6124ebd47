"""Where things of the app live: who may import whom, and that each key is named in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ui.session import keys

ROOT = Path(__file__).resolve().parents[2]
SCREENS = ("train", "tokens", "compare", "vocabulary")
SHARED = ("session", "server", "tokenizers", "instruments", "components")
CODE = [*sorted((ROOT / "ui").rglob("*.py")), *sorted((ROOT / "pages").glob("*.py"))]

#: Components that take their key first.
COMPONENTS = {"merge_player", "tally_table", "token_table", "token_view"}

#: What may be called on the session state; any other attribute of it would be a key.
METHODS = {"get", "pop", "setdefault", "update"}


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> set[str]:
    """Modules that a file imports, with the names taken from them, as dotted paths."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{short(path)}:{node.lineno} imports by relative path"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def of_screens(path: Path) -> set[str]:
    """The screens whose folders a file imports from."""
    parts = (name.split(".") for name in imports(path))
    return {part[1] for part in parts if part[0] == "ui" and part[1] in SCREENS}


# -- who imports whom -------------------------------------------------------------------------


@pytest.mark.parametrize("screen", SCREENS)
def test_no_screen_imports_another(screen: str) -> None:
    for path in (ROOT / "ui" / screen).rglob("*.py"):
        assert of_screens(path) <= {screen}, short(path)


@pytest.mark.parametrize("folder", SHARED)
def test_what_is_shared_imports_no_screen(folder: str) -> None:
    for path in (ROOT / "ui" / folder).rglob("*.py"):
        assert not of_screens(path), short(path)


def test_what_stands_beside_the_folders_imports_no_screen() -> None:
    for path in (ROOT / "ui").glob("*.py"):
        assert not of_screens(path), short(path)


@pytest.mark.parametrize("screen", SCREENS)
def test_a_page_places_its_own_screen(screen: str) -> None:
    assert of_screens(ROOT / "pages" / f"{screen}.py") <= {screen}


def test_pages_read_like_the_screen() -> None:
    for path in (ROOT / "pages").glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 120, short(path)


def test_whether_a_well_known_tokenizer_can_be_read_is_decided_in_one_place() -> None:
    for path in CODE:
        names = {name.rpartition(".")[2] for name in imports(path)}
        if path.parent.name != "tokenizers":
            assert not names & {"NotFoundError", "RegistryError", "FormatError"}, short(path)
            assert "well_known(" not in path.read_text(encoding="utf-8"), short(path)


# -- keys -------------------------------------------------------------------------------------


def line_of(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def is_literal(node: ast.AST) -> bool:
    """Whether a node is a string that stands in the code, whole or with places to fill in."""
    is_string = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_string or isinstance(node, ast.JoinedStr)


def names_of_state(tree: ast.AST) -> set[str]:
    """The variables that a file gives the session state."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            found.update(
                name.id
                for name, value in pairs
                if isinstance(name, ast.Name)
                and isinstance(value, ast.Attribute)
                and value.attr == "session_state"
            )
    return found


def literal_keys(code: str) -> Iterator[tuple[int, str]]:
    """Line and text of each key that is written out where it is used."""
    tree = ast.parse(code)
    names = names_of_state(tree)

    def is_state(node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id in names
        return isinstance(node, ast.Attribute) and node.attr == "session_state"

    for node in ast.walk(tree):
        used: Sequence[ast.AST] = []
        if isinstance(node, ast.keyword) and node.arg == "key":
            used = [node.value]
        elif isinstance(node, ast.arguments):
            positional = [*node.posonlyargs, *node.args]
            given = [
                *zip(positional[::-1], node.defaults[::-1], strict=False),
                *zip(node.kwonlyargs, node.kw_defaults, strict=True),
            ]
            used = [value for arg, value in given if arg.arg == "key" and value is not None]
        elif isinstance(node, ast.Attribute) and is_state(node.value):
            if node.attr not in METHODS:
                yield node.lineno, node.attr
        elif isinstance(node, ast.Subscript) and is_state(node.value):
            used = [node.slice]
        elif isinstance(node, ast.Compare) and is_state(node.comparators[-1]):
            used = [node.left]
        elif isinstance(node, ast.Call) and is_state(getattr(node.func, "value", node)):
            used = node.args[:1]
            yield from ((node.lineno, str(word.arg)) for word in node.keywords)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in COMPONENTS:
            used = node.args[:1]
        yield from ((line_of(key), ast.unparse(key)) for key in used if is_literal(key))


@pytest.mark.parametrize(
    "code",
    [
        'st.button("Go", key="go")',
        'st.button("Go", key=f"go_{i}")',
        "st.session_state.go",
        'st.session_state["go"] = 1',
        'st.session_state.get("go")',
        "st.session_state.update(go=1)",
        '"go" in st.session_state',
        "values = st.session_state\nvalues.go = 1",
        'values, n = st.session_state, 3\nvalues.pop("go", None)',
        'def draw(text, key="go"): pass',
        'def draw(text, *, key="go"): pass',
        'tally_table("go", rows=[])',
    ],
)
def test_a_key_that_is_written_out_is_found(code: str) -> None:
    assert [key.strip("f'") for _, key in literal_keys(code)] in (["go"], ["go_{i}"])


def test_each_key_is_named_in_one_place() -> None:
    """Components are left out: they have no key but the one they are given."""
    for path in CODE:
        if path != Path(keys.__file__) and "components" not in path.parts:
            found = [
                f"{short(path)}:{line}: {key}"
                for line, key in literal_keys(path.read_text(encoding="utf-8"))
            ]
            assert not found


def test_no_two_keys_are_the_same() -> None:
    named = [value for name, value in vars(keys).items() if name.isupper()]
    assert len(set(named)) == len(named)
    assert keys.compare_size(0) not in named
