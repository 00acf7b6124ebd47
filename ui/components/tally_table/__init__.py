"""The tally table: rows that can be pressed, each with a number, a sentence or a bar.

Belongs here: what the table is sent and what it tells. What the rows count comes from the page;
pressing one tells its key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from ui.components.mount import component

_mount = component("tally_table", html='<div class="ty"></div>')


@dataclass(frozen=True)
class Tally:
    """One row: what is counted, its numbers as texts, a sentence, and a share from 0 to 1.

    A row is pressed to see what it counts; with ``on`` it is what is being seen.
    """

    key: str
    name: str
    numbers: list[str]
    note: str = ""
    share: float | None = None
    on: bool = False


def tally_table(
    key: str,
    *,
    name: str,
    heads: Sequence[str],
    rows: Sequence[Tally],
    large: bool = False,
    on_pick: Callable[[str], None],
) -> None:
    """Show the rows under ``heads``: one for the names, then one for each number."""

    def picked() -> None:
        asked = st.session_state[key].get("pick")
        if asked is not None:
            on_pick(asked)

    data = {"name": name, "heads": list(heads), "rows": [vars(row) for row in rows], "large": large}
    _mount(key=key, data=data, on_pick_change=picked)
