"""How a training looks while it runs: its phase, its progress, the time left, and Stop.

Belongs here: the sentences about progress. What a training is stands in ``ui/session/jobs.py``;
what came out of one is ``results``.
"""

from __future__ import annotations

import streamlit as st

from ui.instruments import waiting
from ui.session import keys
from ui.session.jobs import JobProgress, Phase, TrainingJob
from ui.words import count, seconds

_STEPS: dict[Phase, str] = {
    "reading": "Reading the text",
    "counting": "Counting its pre-tokens",
    "merging": "Merging",
    "measuring": "Measuring on the held-out text",
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
    """Whether ``status`` is what there is to show of ``job``: it runs, or has just stopped.

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
