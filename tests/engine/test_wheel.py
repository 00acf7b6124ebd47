"""What an installed engine holds: every module and data file of `bpe_core`, nothing of the app."""

from __future__ import annotations

import configparser
import shutil
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import bpe_core

ROOT = Path(__file__).resolve().parents[2]

BUILD = """
import sys
from setuptools import build_meta
build_meta.build_wheel(sys.argv[1])
"""
# Isolated (-I), so that neither the current folder nor PYTHONPATH offers the clone's own modules.
IMPORT_ALL = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    print(importlib.import_module(name).__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the clone; building leaves folders where it is done."""
    pytest.importorskip("setuptools", minversion="70.1")
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    kept_out = shutil.ignore_patterns(
        ".*", "*.nbi", "*.nbc", "__pycache__", "node_modules", "venv", "build", "dist", "*.egg-info"
    )
    shutil.copytree(ROOT, source, ignore=kept_out)
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)],
        cwd=source,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    (path,) = folder.glob("*.whl")
    return path


def files_of(wheel: Path) -> set[str]:
    """Names of the files in a wheel, those about the wheel itself left out."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def about(wheel: Path, name: str) -> bytes:
    """One of the files about the wheel itself."""
    with zipfile.ZipFile(wheel) as archive:
        (member,) = (n for n in archive.namelist() if n.endswith(f".dist-info/{name}"))
        return archive.read(member)


def test_all_of_the_engine_is_inside_and_nothing_else(wheel: Path) -> None:
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "bpe_core").rglob("*")
        if path.suffix in (".py", ".pyi", ".md") or path.name == "py.typed"
    }
    assert files_of(wheel) == expected
    assert "bpe_core/py.typed" in expected


def test_every_module_of_it_is_imported_without_the_clone(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    names = [
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in sorted(files_of(wheel))
        if name.endswith(".py")
    ]
    assert len(names) > 20
    done = subprocess.run(
        [sys.executable, "-I", "-c", IMPORT_ALL, str(tmp_path), *names],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    places = [Path(line).resolve() for line in done.stdout.splitlines()]
    assert len(places) == len(names)
    assert all(place.is_relative_to(tmp_path.resolve()) for place in places)


def test_the_metadata_are_those_of_the_engine(wheel: Path) -> None:
    metadata = message_from_bytes(about(wheel, "METADATA"))
    assert metadata["Name"] == "mergescope"
    assert metadata["Version"] == bpe_core.__version__
    assert metadata["Requires-Python"] == ">=3.10"
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert sorted(line.split(">")[0] for line in needed) == ["numba", "numpy", "regex"]


def test_the_command_is_there(wheel: Path) -> None:
    scripts = configparser.ConfigParser()
    scripts.read_string(about(wheel, "entry_points.txt").decode())
    module, function = scripts["console_scripts"]["mergescope"].split(":")
    assert module.replace(".", "/") + ".py" in files_of(wheel)
    assert callable(getattr(__import__(module, fromlist=[function]), function))
