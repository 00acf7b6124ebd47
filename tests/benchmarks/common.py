"""What the benchmarks share: texts, timing, tables.

Belongs here: corpora beside the repository, the Python-code corpus, best-of-n timing, peers that
may be missing. Does not belong here: what is measured.
"""

from __future__ import annotations

import gzip
import importlib.util
import os
import platform
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
sys.path.insert(0, str(ROOT))
os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(SHARED / "tiktoken_cache"))

PYTHON_CODE_BYTES = 60_000_000


def corpora(folder: Path) -> Iterator[Path]:
    """The corpora as plain files in `folder`: those beside the repository, and Python code."""
    for packed in sorted((SHARED / "corpora").glob("*.gz")):
        target = folder / packed.stem
        if not target.exists():
            target.write_bytes(gzip.decompress(packed.read_bytes()))
        yield target
    target = folder / "python_code.txt"
    if not target.exists():
        target.write_bytes(b"".join(python_code()))
    yield target


def python_code() -> Iterator[bytes]:
    """Sources of the standard library, then of the installed packages, up to 60 MB."""
    library = Path(sysconfig.get_paths()["stdlib"])
    packages = Path(sysconfig.get_paths()["purelib"])
    own = [p for p in sorted(library.rglob("*.py")) if "site-packages" not in p.parts]
    left = PYTHON_CODE_BYTES
    for path in [*own, *sorted(packages.rglob("*.py"))]:
        data = path.read_bytes()
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if left <= 0:
            return
        yield data
        left -= len(data)


def here(peers: Iterable[str]) -> list[str]:
    """The peers that are installed; says which are not."""
    found = [name for name in peers if importlib.util.find_spec(name)]
    for name in peers:
        if name not in found:
            print(f"{name} is not installed, left out")
    return found


def best_of(rounds: int, run: Callable[[], object]) -> float:
    """Seconds of the quickest of some rounds, on the clock."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def machine() -> str:
    """The machine in a line."""
    return (
        f"{platform.machine()}, {os.cpu_count()} processors, {platform.system()}, "
        f"Python {platform.python_version()}"
    )


def table(rows: list[list[str]]) -> None:
    """Print rows in Markdown, the first one as the head."""
    head, *body = rows
    print("| " + " | ".join(head) + " |")
    print("| " + " | ".join(["---"] * len(head)) + " |")
    for row in body:
        print("| " + " | ".join(row) + " |", flush=True)
    print()
