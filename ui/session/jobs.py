"""One training in a plain thread: phases, progress, time left, and a stop that is quick.

Belongs here: everything about running ``bpe_core`` beside the page. Nothing here calls Streamlit,
so a job outlives the run that started it, and a page only looks at it.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

import bpe_core
from bpe_core.analysis import curves
from bpe_core.text import utf8
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import MergeTrace, Trainer, TrainingRun

Phase = Literal["waiting", "preparing", "reading", "counting", "merging", "measuring", "ended"]

#: How many trainings may compute at the same time in this process.
PLACES = max(2, (os.cpu_count() or 2) // 2)

_WORKERS = max(1, (os.cpu_count() or 2) - 1)  # one processor stays free for the pages
_LONGEST_CHUNK = 0.1  # seconds of merging between two looks at the stop event
_SNAPSHOT_EVERY = 0.3  # seconds between two pictures of the tokenizer so far

_log = logging.getLogger(__name__)


class Places:
    """A bounded number of places, with a count of those who wait.

    >>> places = Places(1)
    >>> places.enter(threading.Event())
    True
    >>> places.busy, places.waiting
    (1, 0)
    >>> places.leave()
    """

    def __init__(self, n: int) -> None:
        self._free = threading.BoundedSemaphore(n)
        self._lock = threading.Lock()
        self.busy = 0
        self.waiting = 0

    def enter(self, stop: threading.Event) -> bool:
        """Wait for a free place; False if ``stop`` was set first."""
        self._count(waiting=1)
        try:
            while not self._free.acquire(timeout=0.1):
                if stop.is_set():
                    return False
        finally:
            self._count(waiting=-1)
        self._count(busy=1)
        return True

    def leave(self) -> None:
        """Give the place back."""
        self._count(busy=-1)
        self._free.release()

    def _count(self, *, busy: int = 0, waiting: int = 0) -> None:
        with self._lock:
            self.busy += busy
            self.waiting += waiting


#: The places of this process, shared by all visitors.
SHARED_PLACES = Places(PLACES)


class Stopped(Exception):
    """Raised inside the job when its visitor asked it to stop."""


@dataclass(frozen=True)
class JobProgress:
    """What a page shows of a job: phase, share done (0 to 1, or None), seconds left (or None)."""

    phase: Phase
    share: float | None
    seconds_left: float | None
    n_merges: int
    goal: int


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The tokenizer and the trace after some merges; never changes once made."""

    tokenizer: Tokenizer
    trace: MergeTrace


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a job learned, with the texts it learned from and was measured on.

    ``n_bytes`` is the size of ``text`` in UTF-8; ``stop_reason`` is the engine's ("vocab_size",
    "no_pairs", "min_pair_count" or "stopped");
    ``held_out_counts`` has int64 shape (n_merges + 1,): tokens of the held-out text after each
    number of merges, or None without held-out text.
    """

    tokenizer: Tokenizer
    trace: MergeTrace
    stop_reason: str
    text: str
    n_bytes: int
    held_out: str
    held_out_counts: np.ndarray | None
    seconds: float


class TrainingJob:
    """Train ``settings`` on what ``read()`` returns, in a thread of its own.

    ``read`` returns the training text and the held-out text and is called in the thread; ``name``
    and ``source`` are what the pages show; ``places`` is where to wait for a turn.

    >>> job = TrainingJob(Trainer(258), lambda: ("low low lower", ""))
    >>> job.start(); job.join()
    >>> job.outcome.tokenizer.n_merges
    2
    """

    def __init__(
        self,
        settings: Trainer,
        read: Callable[[], tuple[str, str]],
        *,
        name: str = "",
        source: str = "",
        places: Places = SHARED_PLACES,
    ) -> None:
        self.id = secrets.token_urlsafe(18)  # names what is learned here, from the first merge on
        self.settings = settings
        self.name = name
        self.source = source
        self.outcome: Outcome | None = None
        self.snapshot: Snapshot | None = None
        self.text = ""  # the training text, known from the counting phase on
        self.n_bytes = 0
        self._problem: str | None = None
        self._read = read
        self._places = places
        self._stop = threading.Event()
        self._phase: Phase = "waiting"
        self._since = time.monotonic()
        self._started = self._since
        self._bytes_read = 0
        self._n_merges = 0
        self._rate = 0.0  # merges per second, lately
        self._thread = threading.Thread(target=self._work, name="training", daemon=True)

    # -- what pages call -------------------------------------------------------------------

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Ask the job to end soon and to keep what it learned; returns at once."""
        self._stop.set()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end."""
        self._thread.join(timeout)

    @property
    def running(self) -> bool:
        """True until the outcome or the problem is known.

        Counting and measuring only look at the stop event now and then. There is nothing to wait
        for after a stop, though: what was learned by then, if anything, is there already.
        """
        if self._stop.is_set() and self._phase != "merging":
            return False
        return self._phase != "ended"

    @property
    def problem(self) -> str | None:
        """One sentence for the visitor if nothing was learned, else None."""
        if self._problem is None and self.outcome is None and not self.running:
            return "Stopped before the first merge, so there is nothing new to show."
        return self._problem

    @property
    def asked_to_stop(self) -> bool:
        """True from the request to stop on."""
        return self._stop.is_set()

    @property
    def places(self) -> Places:
        """Where this job waits for its turn."""
        return self._places

    def progress(self) -> JobProgress:
        """What there is to show now."""
        phase, goal, n = self._phase, self.settings.n_merges, self._n_merges
        share: float | None = None
        left: float | None = None
        if phase == "counting" and self.n_bytes:
            share = min(1.0, self._bytes_read / self.n_bytes)
            if share > 0.05:
                left = (time.monotonic() - self._since) * (1 - share) / share
        elif phase == "merging" and goal:
            share = n / goal
            left = (goal - n) / self._rate if self._rate else None
        elif phase == "ended":
            share = 1.0
        return JobProgress(phase, share, left, n, goal)

    # -- the thread ------------------------------------------------------------------------

    def _enter(self, phase: Phase) -> None:
        self._since = time.monotonic()
        self._phase = phase

    def _check(self) -> None:
        if self._stop.is_set():
            raise Stopped

    def _work(self) -> None:
        try:
            if not self._places.enter(self._stop):
                raise Stopped
            try:
                self._train()
            finally:
                self._places.leave()
        except Stopped:
            pass
        except ValueError as err:  # settings or text the engine refuses, with its own sentence
            self._problem = str(err)
        except MemoryError:
            self._problem = "This text needs more memory than the server has; try a smaller one."
        except Exception as err:
            _log.exception("training failed")
            self._problem = (
                f"Training ended with an unexpected {type(err).__name__}; the details are in the "
                "server's log. Your text and settings are kept."
            )
        finally:
            self._enter("ended")

    def _train(self) -> None:
        self._warm_up()
        self._enter("reading")
        self._started = time.monotonic()
        text, held_out = self._read()
        self._check()
        self.text = text
        self.n_bytes = len(utf8(text))
        self._enter("counting")
        run = self.settings.start(text, workers=_WORKERS, on_progress=self._on_read)
        self._check()
        self._enter("merging")
        self._merge(run)
        result = run.result()
        if not len(result.trace) and self._stop.is_set():
            raise Stopped
        self.snapshot = Snapshot(result.tokenizer, result.trace)
        self.outcome = Outcome(
            tokenizer=result.tokenizer,
            trace=result.trace,
            stop_reason=result.stop_reason,
            text=text,
            n_bytes=self.n_bytes,
            held_out=held_out,
            held_out_counts=None,
            seconds=time.monotonic() - self._started,
        )
        if held_out and not self._stop.is_set():
            self._enter("measuring")
            counts = curves.corpus_token_counts(
                result.tokenizer, held_out, workers=_WORKERS, on_progress=self._on_read
            )
            self.outcome = replace(self.outcome, held_out_counts=counts)

    def _warm_up(self) -> None:
        if bpe_core.kernels_ready():
            return
        self._enter("preparing")
        # Compiling cannot be interrupted, so it runs beside this thread, which can.
        compiling = threading.Thread(target=bpe_core.warm_up, name="warm-up", daemon=True)
        compiling.start()
        while compiling.is_alive():
            compiling.join(0.1)
            self._check()

    def _on_read(self, done: int) -> None:
        self._bytes_read = done
        self._check()

    def _merge(self, run: TrainingRun) -> None:
        chunk, pictured = 1, 0.0
        while not run.done and not self._stop.is_set():
            began = time.monotonic()
            done = run.advance(chunk)
            now = time.monotonic()
            self._n_merges = run.n_merges
            rate = done / max(now - began, 1e-6)
            self._rate = rate if not self._rate else 0.8 * self._rate + 0.2 * rate
            if now - began < _LONGEST_CHUNK / 2:
                chunk = min(2 * chunk, 4096)
            elif now - began > _LONGEST_CHUNK:
                chunk = max(1, chunk // 2)
            if now - pictured > _SNAPSHOT_EVERY and not run.done:
                result = run.result()
                self.snapshot = Snapshot(result.tokenizer, result.trace)
                pictured = time.monotonic()
