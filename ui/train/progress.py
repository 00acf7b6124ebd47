"""How a training looks while it runs and once it has ended.

Belongs here: the sentences about progress and result, and the place of the merge player. What a
training is stands in ``ui.session.jobs`` and ``ui.session.state``.
"""

from __future__ import annotations

import math
import time

import streamlit as st

from bpe_core.metrics import bytes_per_token
from ui.components.merge_player import merge_player
from ui.session import state
from ui.session.jobs import JobProgress, Phase, TrainingJob
from ui.session.state import Trained
from ui.theme import is_large
from ui.words import count, literal, seconds, size

_WINDOW = 8_000  # bytes of the text that the player draws
_PLAYER_HEIGHT = 535  # pixels
_STOPPED = "stopped_just_now"  # in the session state until that has been shown
_USUAL_WARM_UP = 20  # seconds that compiling the engine takes on a free machine

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


def preparing() -> None:
    """Say what the process is doing before its first tokenizer is there."""
    built_in = state.built_in()
    if built_in.problem:
        st.error(literal(f"The engine could not start: {built_in.problem}"))
        return
    passed = time.monotonic() - built_in.since
    with st.container(border=True, key="preparing"):
        if built_in.phase in ("waiting", "preparing"):
            st.progress(
                # Nobody knows how far a compiler is: this nears the end and does not claim it.
                1 - math.exp(-1.5 * passed / _USUAL_WARM_UP),
                f"Preparing the engine: its loops are compiled once on this machine, which takes "
                f"{_USUAL_WARM_UP} s or more ({passed:.0f} s so far).",
            )
        else:
            st.progress(0.97, "Training a first tokenizer on the sample text.")
        st.caption("The page goes on by itself.")


@st.fragment(run_every=0.4)
def wait_for_engine() -> None:
    """Show ``preparing`` until there is a tokenizer, then the page."""
    if state.built_in().ready:
        st.rerun()
    preparing()


@st.fragment
def status(job: TrainingJob) -> None:
    """Draw the phase, the progress, the time left, and Stop.

    A fragment of its own, so that a click on Stop is answered by these few elements alone. The
    player, whose data take a moment to send and to draw, follows with the next look at the job.
    """
    now = job.progress()
    st.session_state.pop(_STOPPED, None)
    with st.container(horizontal=True, vertical_alignment="center", key="training"):
        st.progress(now.share or 0.0, _sentence(job, now))
        if not job.asked_to_stop:
            st.button("Stop", key="stop", on_click=_stop, args=(job,))
        else:
            st.empty()  # takes the button's place at once; else it stays until the run is over


def _stop(job: TrainingJob) -> None:
    job.stop()
    st.session_state[_STOPPED] = True


def still_watched(job: TrainingJob) -> bool:
    """Return whether ``status`` is what there is to show of ``job``: it runs, or has just stopped.

    The run that a click on Stop brings about only says so; those after it show what was learned.
    """
    return job.running or _STOPPED in st.session_state


def _sentence(job: TrainingJob, now: JobProgress) -> str:
    if job.asked_to_stop:
        if not now.n_merges:
            return "Stopped."
        return f"Stopped after {count(now.n_merges, 'merge')}; what was learned is kept."
    if now.phase == "waiting":
        busy = count(job.places.busy, "training")
        return f"Waiting for a free place: {busy} of other visitors use all there are."
    if now.phase == "preparing":
        return f"Preparing the engine, once on this machine; about {_USUAL_WARM_UP} s."
    sentence = _STEPS.get(now.phase, "Finishing")
    if now.phase == "merging":
        sentence += f": {now.n_merges:,} of {now.goal:,}"
    if now.seconds_left is not None and now.seconds_left >= 1:
        sentence += f", about {seconds(now.seconds_left)} left"
    return sentence


def nothing_yet() -> None:
    """Keep the place of the player free while there is nothing to play."""
    st.skeleton(height=_PLAYER_HEIGHT)


def live_player(job: TrainingJob) -> None:
    """Draw the merges that ``job`` has made so far."""
    snapshot = job.snapshot
    if snapshot is None:
        nothing_yet()
        return
    text = window(job.text)
    merge_player(
        "merge_player",
        player_id=job.id,
        text=text,
        join_ranks=snapshot.tokenizer.join_ranks(text),
        byte_ids=snapshot.tokenizer.byte_ids,
        special_tokens=snapshot.tokenizer.special_tokens,
        trace=snapshot.trace,
        goal=job.progress().goal,
        pretokens=snapshot.tokenizer.pretokens(text),
        total_bytes=job.n_bytes,
        live=True,
        tie_break=job.settings.tie_break,
        large=is_large(),
    )


def player(trained: Trained) -> None:
    """Draw a finished training: player, candidates, curve and merge log in one component."""
    if trained.trace is None:
        return
    text = window(trained.text)
    held_out = trained.held_out_counts
    merge_player(
        "merge_player",
        player_id=trained.key,
        text=text,
        join_ranks=trained.tokenizer.join_ranks(text),
        byte_ids=trained.tokenizer.byte_ids,
        special_tokens=trained.tokenizer.special_tokens,
        trace=trained.trace,
        goal=trained.settings.n_merges,
        pretokens=trained.tokenizer.pretokens(text),
        total_bytes=trained.n_bytes,
        held_out_bytes_per_token=(
            # With no merge there is one token for each byte.
            None if held_out is None else bytes_per_token(int(held_out[0]), held_out)
        ),
        stop_reason=trained.stop_reason,
        tie_break=trained.settings.tie_break,
        step=state.OPENING_STEP if trained is state.built_in().wait() else None,
        large=is_large(),
    )


def window(text: str) -> str:
    """Return the beginning of ``text`` that the player draws, cut behind a line or a blank.

    >>> window("a line\\n" * 2000) == "a line\\n" * 1142
    True
    """
    # Every character has a byte at least, so this many characters are enough to look at.
    head = text[:_WINDOW].encode("utf-8", "replace")[:_WINDOW].decode("utf-8", "ignore")
    if len(head) == len(text):
        return head
    for border in ("\n", " "):
        cut = head.rfind(border) + 1
        if cut > len(head) // 2:
            return head[:cut]
    return head


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
        key=f"shown_{newest}",  # a new training begins with a choice of its own
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
