"""What two vocabularies share: the counts, and lists to look through.

Belongs here: the choice of the other tokenizer and the drawing. Which entries are shared is the
engine's to say.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from ui import theme
from ui.components.tally_table import Tally, tally_table
from ui.components.token_table import Column, Page, token_table
from ui.session import keys
from ui.session.state import Trained
from ui.tokenizers import picker, shelf
from ui.vocabulary import facts
from ui.words import literal

SHARED, HERE, THERE = "shared", "here", "there"
PER_PAGE = 15


def section(trained: Trained, on_open: Callable[[int], None], beside: str) -> None:
    """Draw the choice of another tokenizer and what both have.

    ``on_open`` is called with the id of an entry of ``trained`` that is pressed; its biography is
    in the container of the key ``beside``.
    """
    others = {key: name for key, name in shelf.offered().items() if key != trained.key}
    values = st.session_state
    if values.get(keys.VOCAB_OTHER) not in [None, *others]:
        values[keys.VOCAB_OTHER] = None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        key = st.selectbox(
            "Compare with",
            list(others),
            index=None,
            placeholder="another tokenizer",
            format_func=lambda key: others.get(key, ""),
            key=keys.VOCAB_OTHER,
            on_change=_begin,
            persist_state="session",
            width=420,
        )
    if key is None:
        st.caption("Choose one to see which entries both have, and which only one of them.")
        return
    there, problem = picker.read(key)
    if there is None:
        st.warning(literal(problem))
        return
    compare(trained, there, on_open, beside)


def compare(here: Trained, there: Trained, on_open: Callable[[int], None], beside: str) -> None:
    """Draw the counts of two vocabularies and the entries of the part that is looked at."""
    shared_here, shared_there = facts.overlap(here, there)
    part = st.session_state.get(keys.VOCAB_PART, HERE)
    counts = {
        SHARED: np.count_nonzero(shared_here),
        HERE: np.count_nonzero(~shared_here),
        THERE: np.count_nonzero(~shared_there),
    }
    names = {
        SHARED: ("In both", "The same bytes have an entry in each, whatever their ids."),
        HERE: ("Only here", f"In {here.name}, not in {there.name}."),
        THERE: ("Only there", f"In {there.name}, not in {here.name}."),
    }
    total = sum(counts.values())
    tally, entries = st.columns([1, 1.35], gap="medium")
    with tally:
        tally_table(
            keys.VOCAB_OVERLAP_COUNTS,
            name="Overlap of the two vocabularies",
            heads=["entries", "tokens"],
            rows=[
                Tally(key, name, [f"{counts[key]:,}"], note, counts[key] / total, on=key == part)
                for key, (name, note) in names.items()
            ],
            large=theme.is_large(),
            on_pick=_look_at,
        )
        st.caption(
            "Look at the longest bar: two tokenizers trained on alike texts share most entries, "
            "and what only one has says what its text was about."
        )
    with entries:
        if part == THERE:
            rows, columns = _rows(there, None, ~shared_there), [Column("id", "id there")]
        elif part == HERE:
            rows, columns = _rows(here, None, ~shared_here), [Column("id", "id here")]
        else:
            rows = _rows(here, there, shared_here)
            columns = [Column("id", "id here"), Column("other", "id there")]
        # A press opens an entry of the tokenizer that the page shows, not of the other one.
        opens = None if part == THERE else on_open
        _table(names[part][0], columns, *rows, opens, beside)


Rows = tuple[Trained, np.ndarray, Trained | None]


def _rows(of: Trained, other: Trained | None, wanted: np.ndarray) -> Rows:
    return of, np.flatnonzero(wanted), other


def _table(
    name: str,
    columns: list[Column],
    of: Trained,
    rows: np.ndarray,
    other: Trained | None,
    on_open: Callable[[int], None] | None,
    beside: str,
) -> None:
    vocabulary = facts.entries(of)
    n_pages = max(1, -(-len(rows) // PER_PAGE))
    at = min(st.session_state.get(keys.VOCAB_PART_PAGE, 0), n_pages - 1)
    found = []
    for row in rows[at * PER_PAGE : (at + 1) * PER_PAGE].tolist():
        token = vocabulary.tokens[row]
        cells = [str(vocabulary.ids[row])]
        if other is not None:
            there = facts.entries(other)
            cells.append(", ".join(str(i) for i in there.ids[there.spelling(token)]))
        found.append((int(vocabulary.ids[row]), token, cells))
    token_table(
        keys.VOCAB_OVERLAP_TABLE,
        name=name,
        columns=columns,
        page=Page(found, at, n_pages, len(rows)),
        sorted_by=("id", False),
        empty="There is none.",
        large=theme.is_large(),
        beside=beside,
        on_open=on_open,
        on_page=_turn,
    )


def _begin() -> None:
    st.session_state[keys.VOCAB_PART_PAGE] = 0


def _look_at(part: str) -> None:
    st.session_state[keys.VOCAB_PART] = part
    _begin()


def _turn(page: int) -> None:
    st.session_state[keys.VOCAB_PART_PAGE] = page
