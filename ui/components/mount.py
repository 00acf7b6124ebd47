"""How a component gets to the page: its files are joined and handed to Streamlit.

A component is a folder beside this file: ``NAME.js``, whose default export Streamlit calls,
``NAME.css``, and ``NAME.html`` where its first element needs more than a line. Scripts are ES
modules that ``import`` from each other, style sheets ``@import`` each other; what several
components use is in ``shared``. Streamlit takes one string of each kind, so they are joined here,
without any tool but Python. For whoever edits them there are a formatter, a linter and a type
check: in this folder, ``npm install``, then ``npm run`` with ``format``, ``lint`` or ``types``.

Belongs here: joining and mounting. Does not belong here: what a component sends and reads back
(its ``__init__.py``).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_COMPONENTS = Path(__file__).parent

# The forms of import and export that are understood, each at the beginning of a line.
_IMPORT = re.compile(r'^import\s*\{([^{}]*)\}\s*from\s*"(\.[^"\n]*)";$', re.M)
_NAME = re.compile(r"([\w$]+)(?:\s+as\s+([\w$]+))?")
_EXPORT = re.compile(
    r"^export (default )?(?=(?:async function|function|class|const) ([\w$]+))", re.M
)
_OTHER = re.compile(r"^(?:import|export)\b.*|^(?!\s*(?://|/?\*)).*(?<!\{)\bimport\s*\(.*", re.M)
_FORMS = (
    'Understood are: import { a, b as c } from "./file.js"; and, before a named function, class or '
    "const: export, export default."
)
_STYLE_IMPORT = re.compile(r'^@import "(\.[^"\n]*)";\n', re.M)


class JoinError(ValueError):
    """A file that cannot be joined; the sentence names the file and the line."""


def component(name: str, html: str | None = None) -> ComponentRenderer:
    """Register the component in the folder ``name``; ``html`` is its first element.

    Returns what mounts it: called with ``key``, ``data`` and ``on_..._change``. Called once for
    each component, when its module is imported.
    """
    folder = _COMPONENTS / name
    return st.components.v2.component(
        name,
        html=html or (folder / f"{name}.html").read_text("utf-8"),
        css=style_sheet(folder / f"{name}.css"),
        js=bundle(folder / f"{name}.js"),
    )


def bundle(entry: Path, name: str | None = None) -> str:
    """Join ``entry`` and the modules it imports, each once, those that are imported first.

    Every module becomes a function of its own that returns its exports, so names of two files
    never meet. The whole is an ES module with the default export of ``entry``; with a ``name``, a
    script that defines it as a constant, for a page that is one file. Raises JoinError.
    """
    root = entry.resolve().parent.parent
    exports: dict[Path, dict[str, str]] = {}  # of the modules joined: exported name -> local name
    parts: list[str] = []

    def add(path: Path, chain: tuple[Path, ...]) -> None:
        chain = (*chain, path)
        source = path.read_text("utf-8")

        def problem(at: int, why: str) -> JoinError:
            line = source.count("\n", 0, at) + 1
            return JoinError(f"{path.relative_to(root)}, line {line}: {why}")

        def join(match: re.Match[str]) -> str:
            """Join the imported module; return what stands in place of the import."""
            wanted = (path.parent / match[2]).resolve()
            if wanted in chain:
                circle = " -> ".join(p.name for p in (*chain[chain.index(wanted) :], wanted))
                raise problem(match.start(), f"imports in a circle, {circle}.")
            if not wanted.is_file() or root not in wanted.parents:
                raise problem(match.start(), f'there is no "{match[2]}" among the components.')
            if wanted not in exports:
                add(wanted, chain)
            names = []
            for part in filter(None, map(str.strip, match[1].split(","))):
                found = _NAME.fullmatch(part)
                if not found or found[1] not in exports[wanted]:
                    raise problem(match.start(), f'"{match[2]}" does not export {part}.')
                names.append(f"{found[1]}: {found[2]}" if found[2] else found[1])
            return f"const {{ {', '.join(names)} }} = MODULES[{key(wanted)}];"

        def key(module: Path) -> str:
            return f'"{module.relative_to(root).as_posix()}"'

        own: dict[str, str] = {}
        for match in _EXPORT.finditer(source):
            if own.setdefault("default" if match[1] else match[2], match[2]) != match[2]:
                raise problem(match.start(), "there is an export default before this one.")
        bare = _EXPORT.sub("", _IMPORT.sub("", source))
        if other := _OTHER.search(bare):
            raise problem(source.index(other[0]), f"{other[0].strip()}\n{_FORMS}")
        body = _EXPORT.sub("", _IMPORT.sub(join, source))
        given = ", ".join(n if n == local else f"{n}: {local}" for n, local in own.items())
        exports[path] = own
        parts.append(f"MODULES[{key(path)}] = (() => {{\n{body}\nreturn {{ {given} }};\n}})();\n")

    add(entry.resolve(), ())
    if "default" not in exports[entry.resolve()]:
        raise JoinError(f"{entry.name}, line 1: it has no export default, which is what is called.")
    joined = "const MODULES = {};\n" + "\n".join(parts)
    last = f'MODULES["{entry.parent.name}/{entry.name}"].default;\n'
    if name is None:
        return f"{joined}\nexport default {last}"
    return f'const {name} = (() => {{\n"use strict";\n{joined}\nreturn {last}}})();\n'


def style_sheet(path: Path) -> str:
    """Return a style sheet with the ones it imports put in their place, each once."""
    seen: set[Path] = set()

    def read(path: Path) -> str:
        if path in seen:
            return ""
        seen.add(path)
        source = path.read_text("utf-8")

        def join(match: re.Match[str]) -> str:
            wanted = (path.parent / match[1]).resolve()
            if not wanted.is_file():
                line = source.count("\n", 0, match.start()) + 1
                raise JoinError(f'{path.name}, line {line}: there is no "{match[1]}".')
            return read(wanted)

        return _STYLE_IMPORT.sub(join, source)

    return read(path.resolve())
