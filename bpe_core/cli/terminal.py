"""What is told while a command runs: lines on standard error, and the sign to stop.

Belongs here: notes, the progress line, and numbers in words. Does not belong here: the results of
commands, which go to files or standard output.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time

from bpe_core import kernels_ready, warm_up

# Set when the process was told to stop: threads that read a corpus look at it.
stop = threading.Event()


def note(message: str) -> None:
    """One line to standard error."""
    print(f"mergescope: {message}", file=sys.stderr, flush=True)


def ratio(n_bytes: int, n_tokens: int) -> str:
    """Compression in words."""
    return f"{n_bytes / n_tokens:.3f} bytes per token" if n_tokens else "no tokens"


def replaced(n_bytes: int, errors: str) -> str:
    """How many bytes were no text, in words that follow others; "" for none."""
    what = "left out" if errors == "ignore" else "replaced by U+FFFD"
    return f"; bytes that are no text, {what}: {n_bytes:,}" if n_bytes else ""


class ProgressLine:
    """One line on a terminal that says how far the work is; nothing anywhere else."""

    def __init__(self, quiet: bool = False) -> None:
        self._on = not quiet and sys.stderr.isatty()
        self._width = 0
        self._next = 0.0
        self._phase = ""

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        self._draw("")

    def show(self, phase: str, done: int, total: int | None, unit: str) -> None:
        """Draw the line anew, at most ten times a second."""
        now = time.monotonic()
        if not self._on or (now < self._next and phase == self._phase and done != total):
            return
        self._next, self._phase = now + 0.1, phase
        if unit == "MB":
            amount = f"{done / 1e6:,.1f}" + (f" of {total / 1e6:,.1f}" if total else "")
        else:
            amount = f"{done:,}" + (f" of {total:,}" if total else "")
        # A file may grow while it is read, and UTF-16 takes more bytes than are counted.
        share = min(done / total, 1.0) if total else 0.0
        bar = f"[{'=' * int(30 * share):<30}] {share:4.0%}  " if total else ""
        self._draw(f"{phase:<8}  {bar}{amount} {unit}")

    def load_engine(self) -> None:
        """Load the compiled kernels, and say so, since the first time takes long."""
        if not kernels_ready():
            self._draw("loading the engine (about 20 s the first time on a machine)")
            warm_up()

    def _draw(self, line: str) -> None:
        if self._on:
            line = line[: shutil.get_terminal_size().columns - 1]  # a wrapped one would stay
            print(f"\r{line:<{self._width}}", end="\r" if not line else "", file=sys.stderr,
                  flush=True)  # fmt: skip
            self._width = len(line)
