"""Sliders over vocabulary sizes, and their steps.

Belongs here: round numbers, even on a log scale, and keeping a slider on one of them. How many
merges a size means is the engine's to say.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

N_BYTES = 256
LARGEST = 50_257  # GPT-2's size; enough to see where a curve flattens

_FAR = range(60_000, 1_000_000, 10_000)  # steps of a size slider beyond what is trained here


def to_train(lowest: int, current: int) -> list[int]:
    """The steps of the size slider: even on a log scale, round numbers, never above LARGEST.

    >>> to_train(256, 300)[:4], to_train(256, 300)[-1], 476 in to_train(256, 476)
    ([256, 260, 265, 270], 50257, True)
    """
    steps = {lowest, current, LARGEST, *(2**k for k in range(9, 16))}
    for start, stop, step in (
        (260, 320, 5),
        (320, 500, 10),
        (500, 1000, 25),
        (1000, 2000, 50),
        (2000, 5000, 100),
        (5000, 10_000, 250),
        (10_000, 20_000, 500),
        (20_000, 50_001, 1000),
    ):
        steps.update(range(start, stop, step))
    return sorted(s for s in steps if lowest <= s <= LARGEST)


def between(lowest: int, highest: int) -> list[int]:
    """The steps of a size slider: round numbers between two sizes, and the two.

    >>> between(256, 300)
    [256, 260, 265, 270, 275, 280, 285, 290, 295, 300]
    """
    steps = {s for s in to_train(lowest, lowest) if s < highest}
    steps |= {s for s in _FAR if lowest < s < highest}
    return sorted(steps | {lowest, highest})


def choose(label: str, key: str, steps: Sequence[int], first: int) -> int:
    """Show a slider over vocabulary sizes and return where it stands.

    A size that is not among the steps any more moves to the nearest one.
    """
    wanted = st.session_state.get(key, first)
    wanted = wanted if isinstance(wanted, int) else first
    st.session_state[key] = min(steps, key=lambda s: abs(s - wanted))
    if len(steps) < 2:
        st.caption(f"{label}: {steps[0]:,}, the only one")
        return steps[0]
    return st.select_slider(
        label, steps, key=key, format_func=lambda s: f"{s:,}", persist_state="session"
    )
