"""What a visitor owns: trained tokenizers and the training that is going on.

Belongs here: everything that must survive a page change. Nothing of one visitor is visible to
another; the one thing all share is the built-in tokenizer, trained once per process.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Container
from dataclasses import dataclass

import numpy as np
import streamlit as st

from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import MergeTrace, Trainer
from ui import samples
from ui.server import published
from ui.session import keys
from ui.session.jobs import Outcome, Places, TrainingJob

#: How many tokenizers of one visitor are kept; the oldest makes room.
KEPT = 8

#: Merges done in the first picture: far enough to show what a merge is.
OPENING_STEP = 54


@dataclass(frozen=True, eq=False)
class Trained:
    """One trained tokenizer with everything the pages show of it.

    ``key`` names the tokenizer in HTTP calls; ``text`` is the whole training text and ``n_bytes``
    its size; ``held_out`` the text set aside ("" for none) and ``held_out_counts`` its token count
    after each number of merges, int64 shape (n_merges + 1,); ``stop_reason`` is the engine's;
    ``source`` is "sample", "paste" or "upload".
    """

    key: str
    name: str
    tokenizer: Tokenizer
    trace: MergeTrace | None
    text: str
    held_out: str
    settings: Trainer
    stop_reason: str
    source: str
    held_out_counts: np.ndarray | None = None
    n_bytes: int = 0
    seconds: float = 0.0


def all_trained() -> list[Trained]:
    """This visitor's tokenizers, newest first; the built-in one is last."""
    return [*st.session_state.get(keys.TRAINED, []), built_in().wait()]


def selected() -> Trained:
    """What pickers show by default: the newest."""
    return all_trained()[0]


def opening_step(trained: Trained) -> int | None:
    """How many merges the first picture of a tokenizer has done; None leaves it open."""
    return OPENING_STEP if trained is built_in().wait() else None


def by_key(key: str) -> Trained | None:
    """This visitor's tokenizer of that key, or None."""
    return next((t for t in all_trained() if t.key == key), None)


def remember(trained: Trained) -> None:
    """Make ``trained`` this visitor's newest; only the newest ``KEPT`` are kept."""
    others = [t for t in st.session_state.get(keys.TRAINED, []) if t.key != trained.key]
    st.session_state[keys.TRAINED] = [trained, *others][:KEPT]


# -- the training that is going on ------------------------------------------------------------


class _Leash:
    """Holds a visitor's job, so that it stops when the visitor is gone."""

    job: TrainingJob | None = None

    def release(self) -> None:
        if self.job is not None:
            self.job.stop()


@st.cache_resource(scope="session", on_release=_Leash.release)
def _leash() -> _Leash:
    return _Leash()


def job() -> TrainingJob | None:
    """This visitor's latest training, running or ended; None before the first."""
    return st.session_state.get(keys.JOB)


def start(new: TrainingJob) -> None:
    """Start ``new`` as this visitor's training; one that still runs is stopped and kept."""
    old = job()
    if old is not None:
        old.stop()
        if old.running:
            old.join(1.0)
        _adopt(old)
    st.session_state[keys.JOB] = _leash().job = new
    new.start()


def bring_in() -> None:
    """Remember what this visitor's training learned, once it has ended."""
    current = job()
    if current is not None and not current.running:
        _adopt(current)


def _adopt(done: TrainingJob) -> None:
    if done.outcome is not None and st.session_state.get(keys.ADOPTED) is not done:
        st.session_state[keys.ADOPTED] = done
        taken = {t.name for t in all_trained()}
        remember(_trained(done, done.outcome, taken))


def _trained(done: TrainingJob, outcome: Outcome, taken: Container[str] = ()) -> Trained:
    # Lists tell trainings apart by name, so no two of a visitor's may share one.
    plain = f"{done.name} · {outcome.tokenizer.vocab_size:,}"
    numbered = (f"{plain} ({n})" for n in itertools.count(2))
    return Trained(
        key=published.publish(outcome.tokenizer, done.id),
        name=next(name for name in itertools.chain([plain], numbered) if name not in taken),
        tokenizer=outcome.tokenizer,
        trace=outcome.trace,
        text=outcome.text,
        held_out=outcome.held_out,
        settings=done.settings,
        stop_reason=outcome.stop_reason,
        source=done.source,
        held_out_counts=outcome.held_out_counts,
        n_bytes=outcome.n_bytes,
        seconds=outcome.seconds,
    )


# -- the built-in tokenizer -------------------------------------------------------------------


class BuiltIn:
    """The tokenizer every visitor starts with, trained in the background at the first visit."""

    def __init__(self) -> None:
        corpus = samples.first()
        self._job = TrainingJob(
            Trainer(corpus.vocab_size, corpus.special_tokens),
            lambda: (corpus.read(), ""),
            name=corpus.name,
            source="sample",
            places=Places(1),  # never waits behind a visitor's training
        )
        self._trained: Trained | None = None
        self.since = time.monotonic()
        self._job.start()

    @property
    def ready(self) -> bool:
        """True once there is a tokenizer."""
        return self._job.outcome is not None

    @property
    def problem(self) -> str | None:
        """Why there will be none, as a sentence; None if all is well."""
        return self._job.problem

    @property
    def phase(self) -> str:
        """Phase of the training, as in ``jobs.Phase``."""
        return self._job.progress().phase

    def wait(self, timeout: float | None = None) -> Trained:
        """The tokenizer, waiting for it; TimeoutError or RuntimeError if there is none."""
        self._job.join(timeout)
        if self._trained is None:
            if self.problem:
                raise RuntimeError(self.problem)
            if self._job.outcome is None:
                raise TimeoutError("the built-in tokenizer is not trained yet")
            self._trained = _trained(self._job, self._job.outcome)
        return self._trained


@st.cache_resource(show_spinner=False)
def built_in() -> BuiltIn:
    """The process's built-in tokenizer; the first call starts its training."""
    return BuiltIn()
