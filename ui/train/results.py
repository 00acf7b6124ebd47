"""What came out of a training: which one is shown, how it ended, and its numbers in a sentence.

Belongs here: the sentences about results. Does not belong here: how a training looks while it runs
(``progress``), and the files one can take along (``downloads``).
"""

from __future__ import annotations

import streamlit as st

from ui.session import keys, state
from ui.session.state import Trained
from ui.words import count, literal, seconds, size

_WHY = {
    "no_pairs": "**Training ended early:** no pair is left to merge, every pre-token is one token. "
    "A larger text leaves room for more.",
    "min_pair_count": "**Training ended early:** no pair left is as frequent as the least pair "
    "count asks. A lower count or a larger text leaves room for more.",
    "stopped": "**Stopped before the end;** what was learned until then is kept.",
}


def choose() -> Trained:
    """The training to show: the newest, or an earlier one that the visitor picks."""
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
