"""Train: choose a text and a size, press Train, and watch the merges being made."""

from __future__ import annotations

import streamlit as st

from bpe_core.trainer import Trainer
from ui import links
from ui.instruments import player, waiting
from ui.session import state
from ui.session.jobs import TrainingJob
from ui.train import downloads, progress, results, setup
from ui.train.corpus_picker import set_aside
from ui.train.setup import TrainingChoices
from ui.words import literal

POLL = 0.3  # seconds between two looks at a training
AT_ONCE = 0.4  # seconds in which a small training ends without a progress bar in between


def start(settings: Trainer, choices: TrainingChoices) -> None:
    """Start a training of what the setup row says."""
    corpus, share = choices.corpus, choices.held_out_share
    job = TrainingJob(
        settings,
        lambda: set_aside(corpus.read(), share),
        name=corpus.name,
        source=corpus.source,
    )
    state.start(job)
    job.join(AT_ONCE)


@st.fragment
def setup_row() -> None:
    """The row of choices; a change redraws only this row."""
    choices, pressed = setup.row()
    if not pressed:
        return
    if not choices.corpus.n_bytes:
        st.error("There is no text yet: paste one, upload a file, or choose a sample.")
    elif choices.settings is not None:
        start(choices.settings, choices)
        st.rerun()


def stage(watching: bool) -> None:
    """What is learned: with its progress while it goes on, and then to play with."""
    if not state.built_in().ready:
        waiting.preparing()
        player.nothing_yet()
        return
    job = state.job()
    if job is not None and progress.still_watched(job):
        progress.status(job)
        player.live(job)
        return
    if watching:
        st.rerun()  # what was waited for is there: draw the whole page once, then rest
    state.bring_in()
    if job is not None and job.problem:
        st.error(literal(job.problem))
    with st.container(horizontal=True, vertical_alignment="center"):
        trained = results.choose()
        results.ending(trained)
    step = player.show(trained, state.opening_step(trained))
    links.to_token_of(trained, step)
    results.summary(trained)
    downloads.row(trained)


setup_row()
job = state.job()
watching = not state.built_in().ready or (job is not None and progress.still_watched(job))
st.fragment(stage, run_every=POLL if watching else None)(watching)
