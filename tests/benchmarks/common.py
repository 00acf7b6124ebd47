"""What the benchmarks share: texts, timing, tables, records.

Belongs here: corpora beside the repository, the Python-code corpus, best-of-n timing, peers that
may be missing. Does not belong here: what is measured.
"""

from __future__ import annotations

import contextlib
import datetime
import gzip
import importlib.metadata
import importlib.util
import io
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

RECORDS = Path(__file__).resolve().parent / "records"

PYTHON_CODE_BYTES = 60_000_000
PACKAGES = ("numpy", "numba", "regex", "tiktoken", "tokenizers", "rustbpe", "gigatoken")


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


def versions() -> str:
    """The versions of what is measured and of what it rests on, in a line."""
    found = []
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found.append(f"{name} {importlib.metadata.version(name)}")
    return ", ".join(found)


@contextlib.contextmanager
def recorded() -> Iterator[None]:
    """Keep what is printed as a file of `records`, once all of it is there.

    Its name is the date and the machine; a second record of a day takes the place of the first.
    """
    kept = io.StringIO()
    terminal = sys.stdout

    class Both(io.TextIOBase):
        def write(self, text: str) -> int:
            kept.write(text)
            return terminal.write(text)

        def flush(self) -> None:
            terminal.flush()

    with contextlib.redirect_stdout(Both()):
        yield
    today = datetime.date.today().isoformat()
    name = f"{today}-{platform.system()}-{platform.machine()}-{os.cpu_count()}.md".lower()
    RECORDS.mkdir(exist_ok=True)
    path = RECORDS / name
    path.write_text(f"# {today}\n\n{kept.getvalue().strip()}\n", encoding="utf-8")
    print(f"recorded in {path}")


def table(rows: list[list[str]]) -> None:
    """Print rows in Markdown, the first one as the head."""
    head, *body = rows
    print("| " + " | ".join(head) + " |")
    print("| " + " | ".join(["---"] * len(head)) + " |")
    for row in body:
        print("| " + " | ".join(row) + " |", flush=True)
    print()
