"""What the project's own files say of one another: versions, paths, commands, lengths of files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def bounds(lines: list[str], sign: str) -> dict[str, str]:
    """Versions by package, of lines such as `numpy>=1.26`; other lines are left out."""
    found = (re.fullmatch(rf"([\w-]+){sign}([\d.]+)", line.strip()) for line in lines)
    return {match[1]: match[2] for match in found if match}


def test_the_oldest_versions_are_those_that_the_requirements_allow() -> None:
    needed = bounds(read("requirements.txt").splitlines(), ">=")
    oldest = bounds(read("requirements-oldest.txt").splitlines(), "==")
    assert len(needed) == 6
    assert needed.keys() == oldest.keys()
    for package, version in needed.items():
        assert f"{oldest[package]}.0".startswith(f"{version}."), package


def test_an_installation_asks_for_the_same_versions() -> None:
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads(read("pyproject.toml"))["project"]
    asked = bounds(project["dependencies"] + project["optional-dependencies"]["app"], ">=")
    assert asked == bounds(read("requirements.txt").splitlines(), ">=")


def test_the_workflows_use_the_oldest_and_the_newest_python_of_the_metadata() -> None:
    named = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', read("pyproject.toml"))
    assert f'requires-python = ">={named[0]}"' in read("pyproject.toml")
    assert f'python: ["{named[0]}", "{named[-1]}"]' in read(".github/workflows/ci.yml")


def test_the_lengths_in_the_reading_order_are_about_right() -> None:
    rows = re.findall(r"^\| `(\w+\.py)` \| (\d+) \|", read("README.md"), re.M)
    assert len(rows) == 7
    for name, told in rows:
        lines = len(read(f"bpe_core/{name}").splitlines())
        assert abs(lines - int(told)) <= max(10, 0.15 * lines), (name, lines)


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "README.md", "SECURITY.md"])
def test_files_that_a_page_names_are_there(page: str) -> None:
    text = read(page)
    named = re.findall(
        r"`((?:bpe_core|ui|pages|tests|sample_corpora|docs|\.ci|\.github|\.streamlit)/[\w./]*)`",
        text,
    )
    named += [target for target in re.findall(r"\]\(([\w./]+)\)", text) if "/" in target]
    missing = [name for name in named if not (ROOT / name).exists()]
    assert named
    assert not missing


def test_names_that_the_table_of_changes_gives_are_in_their_files() -> None:
    pairs = re.findall(r"`([\w./]+\.(?:py|css|toml))` \(`(\w+)`\)", read("CONTRIBUTING.md"))
    assert len(pairs) >= 3
    for file, name in pairs:
        assert name in read(file), (file, name)
