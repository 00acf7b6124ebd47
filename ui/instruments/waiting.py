"""What is shown while the engine is compiled and the first tokenizer is trained.

Belongs here: the sentences about the wait, for any page. What is waited for is
``ui.session.state.built_in``.
"""

from __future__ import annotations

import math
import time

import streamlit as st

from ui.session import keys, state
from ui.words import literal

USUAL_WARM_UP = 20  # seconds that compiling the engine takes on a free machine


def preparing() -> None:
    """Say what the process is doing before its first tokenizer is there."""
    built_in = state.built_in()
    if built_in.problem:
        st.error(literal(f"The engine could not start: {built_in.problem}"))
        return
    passed = time.monotonic() - built_in.since
    with st.container(border=True, key=keys.PREPARING):
        if built_in.phase in ("waiting", "preparing"):
            st.progress(
                # Nobody knows how far a compiler is: this nears the end and does not claim it.
                1 - math.exp(-1.5 * passed / USUAL_WARM_UP),
                f"Preparing the engine: its loops are compiled once on this machine, which takes "
                f"{USUAL_WARM_UP} s or more ({passed:.0f} s so far).",
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
