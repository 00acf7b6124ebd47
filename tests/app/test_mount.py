"""Joining the components' files: what is understood, what is refused and how that is said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ui.components.mount import JoinError, bundle, style_sheet

ROOT = Path(__file__).resolve().parents[2]
COMPONENTS = ROOT / "ui" / "components"
NAMES = sorted(folder.name for folder in COMPONENTS.iterdir() if (folder / "__init__.py").exists())


@pytest.fixture
def write(tmp_path: Path):
    """Write files of a component ``box`` beside a folder ``shared``; give the first one's path."""

    def files(**sources: str) -> Path:
        for name, source in sources.items():
            folder = tmp_path / ("shared" if name.startswith("shared_") else "box")
            folder.mkdir(exist_ok=True)
            (folder / f"{name.removeprefix('shared_')}.js").write_text(source, "utf-8")
        return tmp_path / "box" / f"{next(iter(sources))}.js"

    return files


LAST = "export default function render() {}\n"


def test_modules_come_once_each_and_the_imported_ones_first(write) -> None:
    joined = bundle(
        write(
            box='import { a } from "./left.js";\nimport { b } from "../shared/deep.js";\n' + LAST,
            left='import { b } from "../shared/deep.js";\nexport const a = b;\n',
            shared_deep="export const b = 1;\n",
        )
    )
    order = re.findall(r'^MODULES\["(.*)"\] =', joined, re.M)
    assert order == ["shared/deep.js", "box/left.js", "box/box.js"]
    assert joined.endswith('\nexport default MODULES["box/box.js"].default;\n')


def test_what_is_exported_and_imported_keeps_its_names(write) -> None:
    joined = bundle(
        write(
            box='import {\n  go,\n  Thing as Other,\n} from "./other.js";\n' + LAST,
            other=(
                "const hidden = 1;\nexport async function go() {}\n"
                "export class Thing {}\nexport const $x = hidden;\n"
            ),
        )
    )
    assert 'const { go, Thing: Other } = MODULES["box/other.js"];' in joined
    assert "\nreturn { go, Thing, $x };\n" in joined
    assert "\nreturn { default: render };\n" in joined
    assert not re.search(r"^(import|export) (?!default MODULES)", joined, re.M)


def test_a_script_for_a_page_of_one_file_exports_nothing(write) -> None:
    joined = bundle(write(box=LAST), "render")
    assert joined.startswith("const render = (() => {\n")
    assert not re.search(r"^\s*(import|export)\b", joined, re.M)


@pytest.mark.parametrize(
    "line",
    [
        'import thing from "./other.js";',
        'import * as thing from "./other.js";',
        'import "./other.js";',
        "import { thing } from './other.js';",
        'import { thing } from "package";',
        'export { thing } from "./other.js";',
        'export * from "./other.js";',
        "export let thing = 1;",
        "export const { thing } = other;",
        "export default class {}",
        "export default 1;",
        'const other = await import("./other.js");',
    ],
)
def test_other_forms_are_refused_with_file_and_line(write, line: str) -> None:
    entry = write(box=f"// A comment may say import.\n\n{line}\n{LAST}", other="// nothing\n")
    with pytest.raises(JoinError, match=r"^box/box.js, line 3: ") as refused:
        bundle(entry)
    assert line.split()[0] in str(refused.value)


def test_types_may_name_other_modules(write) -> None:
    comment = '/** @import { A } from "./a.js" */\n/** @type {import("./a.js").A} */\n'
    assert comment in bundle(write(box=comment + LAST))


@pytest.mark.parametrize(
    ("sources", "sentence"),
    [
        (
            {"box": '\nimport { a } from "./lost.js";\n' + LAST},
            'box/box.js, line 2: there is no "./lost.js" among the components.',
        ),
        (
            {"box": 'import { a } from "../../outside.js";\n' + LAST},
            'box/box.js, line 1: there is no "../../outside.js" among the components.',
        ),
        (
            {
                "box": 'import { a } from "./a.js";\n' + LAST,
                "a": '// One.\nimport { b } from "./b.js";\nexport const a = b;\n',
                "b": "export const c = 1;\n",
            },
            'box/a.js, line 2: "./b.js" does not export b.',
        ),
        (
            {
                "box": 'import { a } from "./a.js";\n' + LAST,
                "a": 'import { b } from "./b.js";\nexport const a = 1;\n',
                "b": '// Two.\n\nimport { a } from "./a.js";\nexport const b = 1;\n',
            },
            "box/b.js, line 3: imports in a circle, a.js -> b.js -> a.js.",
        ),
        (
            {"box": LAST + "export default function again() {}\n"},
            "box/box.js, line 2: there is an export default before this one.",
        ),
        (
            {"box": "export const a = 1;\n"},
            "box.js, line 1: it has no export default, which is what is called.",
        ),
    ],
    ids=["no file", "outside", "no name", "circle", "two defaults", "no default"],
)
def test_mistakes_are_said_with_file_and_line(write, sources, sentence: str) -> None:
    with pytest.raises(JoinError) as refused:
        bundle(write(**sources))
    assert str(refused.value) == sentence


def test_style_sheets_are_put_in_place_of_their_imports_once(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text('@import "./b.css";\n@import "./c.css";\na {\n}\n')
    (tmp_path / "b.css").write_text('@import "./c.css";\nb {\n}\n')
    (tmp_path / "c.css").write_text("c {\n}\n")
    assert style_sheet(tmp_path / "a.css") == "c {\n}\nb {\n}\na {\n}\n"
    (tmp_path / "b.css").write_text('\n@import "./lost.css";\n')
    with pytest.raises(JoinError, match=r'^b.css, line 2: there is no "./lost.css".$'):
        style_sheet(tmp_path / "a.css")


@pytest.mark.parametrize("name", NAMES)
def test_each_component_can_be_joined(name: str) -> None:
    joined = bundle(COMPONENTS / name / f"{name}.js")
    used = set(re.findall(r'^MODULES\["(.*)"\] =', joined, re.M))
    own = {path.relative_to(COMPONENTS).as_posix() for path in (COMPONENTS / name).glob("*.js")}
    assert own <= used, "files that nothing imports"
    assert "@import" not in style_sheet(COMPONENTS / name / f"{name}.css")


def test_no_component_writes_html() -> None:
    for path in [p for p in COMPONENTS.rglob("*.js") if "node_modules" not in p.parts]:
        source = path.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", source), (
            path
        )


def test_components_know_nothing_of_the_rest_of_the_app() -> None:
    for path in [*COMPONENTS.glob("*.py"), *COMPONENTS.glob("*/*.py")]:
        imported = re.findall(r"^\s*(?:from|import) (ui\b[\w.]*)", path.read_text("utf-8"), re.M)
        assert [name for name in imported if not name.startswith("ui.components")] == [], path
