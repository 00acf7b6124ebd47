"""How a training looks while it runs and once it has ended.

Belongs here: the sentences about progress and result, Stop, and which training is shown. What a
training is stands in ``ui.session.jobs`` and ``ui.session.state``; the player is an instrument.
"""

from __future__ import annotations

import streamlit as st

from ui.instruments import waiting
from ui.session import keys, state
from ui.session.jobs import JobProgress, Phase, TrainingJob
from ui.session.state import Trained
from ui.words import count, literal, seconds, size

_STEPS: dict[Phase, str] = {
    "reading": "Reading the text",
    "counting": "Counting its pre-tokens",
    "merging": "Merging",
    "measuring": "Measuring on the held-out text",
}

_WHY = {
    "no_pairs": "**Training ended early:** no pair is left to merge, every pre-token is one token. "
    "A larger text leaves room for more.",
    "min_pair_count": "**Training ended early:** no pair left is as frequent as the least pair "
    "count asks. A lower count or a larger text leaves room for more.",
    "stopped": "**Stopped before the end;** what was learned until then is kept.",
}


@st.fragment
def status(job: TrainingJob) -> None:
    """Draw the phase, the progress, the time left, and Stop.

    A fragment of its own, so that a click on Stop is answered by these few elements alone. The
    player, whose data take a moment to send and to draw, follows with the next look at the job.
    """
    now = job.progress()
    st.session_state.pop(keys.STOPPED_JUST_NOW, None)
    with st.container(horizontal=True, vertical_alignment="center", key=keys.TRAINING):
        st.progress(now.share or 0.0, _sentence(job, now))
        if not job.asked_to_stop:
            st.button("Stop", key=keys.STOP, on_click=_stop, args=(job,))
        else:
            st.empty()  # takes the button's place at once; else it stays until the run is over


def _stop(job: TrainingJob) -> None:
    job.stop()
    st.session_state[keys.STOPPED_JUST_NOW] = True


def still_watched(job: TrainingJob) -> bool:
    """Return whether ``status`` is what there is to show of ``job``: it runs, or has just stopped.

    The run that a click on Stop brings about only says so; those after it show what was learned.
    """
    return job.running or keys.STOPPED_JUST_NOW in st.session_state


def _sentence(job: TrainingJob, now: JobProgress) -> str:
    if job.asked_to_stop:
        if not now.n_merges:
            return "Stopped."
        return f"Stopped after {count(now.n_merges, 'merge')}; what was learned is kept."
    if now.phase == "waiting":
        busy = count(job.places.busy, keys.TRAINING)
        return f"Waiting for a free place: {busy} of other visitors use all there are."
    if now.phase == "preparing":
        return f"Preparing the engine, once on this machine; about {waiting.USUAL_WARM_UP} s."
    sentence = _STEPS.get(now.phase, "Finishing")
    if now.phase == "merging":
        sentence += f": {now.n_merges:,} of {now.goal:,}"
    if now.seconds_left is not None and now.seconds_left >= 1:
        sentence += f", about {seconds(now.seconds_left)} left"
    return sentence


def choose() -> Trained:
    """Return the training to show: the newest, or an earlier one that the visitor picks."""
    trained = {t.key: t for t in state.all_trained()}
    newest = next(iter(trained))
    if len(trained) == 1:
        return trained[newest]
    st.caption("Showing", width="content")
    chosen = st.selectbox(
        "Training",
        list(trained),
        format_func=lambda key: trained[key].name,
        key=keys.shown_training(newest),  # a new training begins with a choice of its own
        label_visibility="collapsed",
        width=260,
        persist_state="session",
    )
    return trained.get(chosen or newest) or trained[newest]


def ending(trained: Trained) -> None:
    """Say why a training ended before the size that was asked for, if it did."""
    if trained.stop_reason in _WHY:
        n = count(trained.tokenizer.n_merges, "merge")
        asked = f"{trained.settings.n_merges:,}"
        st.caption(f"{_WHY[trained.stop_reason]} It made {n} of {asked}.", width="stretch")


def summary(trained: Trained) -> None:
    """Say in one sentence what came out."""
    n_bytes = trained.trace.corpus_bytes if trained.trace is not None else 0
    tokens = _tokens(trained)
    facts = f"{size(n_bytes)} of text became {count(tokens, 'token')}"
    if tokens:
        facts += f", {n_bytes / tokens:.2f} bytes per token"
    if trained.held_out_counts is not None:
        facts += f"; {size(int(trained.held_out_counts[0]))} were held out"
    st.caption(
        f"**{literal(trained.name)}:** {facts}; trained in {seconds(trained.seconds)}.",
        width="stretch",
    )


def _tokens(trained: Trained) -> int:
    trace = trained.trace
    if trace is None:
        return 0
    return int(trace.corpus_tokens[-1]) if len(trace) else trace.initial_tokens
