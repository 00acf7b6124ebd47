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
