"""What is asked of the list of tokens: its filters, its order, its page.

Belongs here: the widgets and what keeps their values sensible; the values survive a page change.
Which entries match is ``query``, and what is listed is drawn by ``listing``.
"""

from __future__ import annotations

import streamlit as st

from bpe_core.analysis.vocabulary import Vocabulary
from ui.session import keys
from ui.session.state import Trained
from ui.vocabulary import health
from ui.vocabulary.query import ALL, DESCENDS_FIRST, SEARCHES, SPECIALS, Query

#: The order the list opens with: as the merges were learned.
FIRST_SORT = ("merge", False)

_ANY = "any"
_PLACEHOLDERS = {"text": "letter for letter, blanks count", "hex": "E2 80", "id": "285, 300-310"}

#: The filters that have a widget, and those that are set by a press on a row of another table.
_WIDGETS = (
    keys.VOCAB_SEARCH,
    keys.VOCAB_KIND,
    keys.VOCAB_LENGTH,
    keys.VOCAB_BIRTH,
    keys.VOCAB_SPECIAL,
)
_PRESSED = (keys.VOCAB_HEALTH, keys.VOCAB_PART_OF)


def begin(trained: Trained) -> None:
    """Start over where another tokenizer was chosen: ids, lengths and merges mean others now."""
    values = st.session_state
    if values.get(keys.VOCAB_OF) != trained.key:
        values[keys.VOCAB_OF] = trained.key
        for name in (keys.VOCAB_LENGTH, keys.VOCAB_BIRTH, keys.VOCAB_PART_OF, keys.VOCAB_PAGE):
            values.pop(name, None)


def row(vocabulary: Vocabulary, n_merges: int) -> Query:
    """Draw the filters and return what they ask for."""
    values = st.session_state
    where = values.get(keys.VOCAB_WHERE) or SEARCHES[0]
    words, search, script, more = st.columns(
        [2.6, 1.55, 2, 1.3], gap="medium", vertical_alignment="bottom"
    )
    typed = words.text_input(
        "Search",
        key=keys.VOCAB_SEARCH,
        placeholder=_PLACEHOLDERS[where],
        on_change=turn_to_first,
        live=True,
        persist_state="session",
    )
    where = search.segmented_control(
        "Search in",
        SEARCHES,
        default=None if keys.VOCAB_WHERE in values else SEARCHES[0],
        required=True,
        key=keys.VOCAB_WHERE,
        on_change=turn_to_first,
        persist_state="session",
    )
    counts = {kind.name: kind.entries for kind in vocabulary.by_kind()}
    if values.get(keys.VOCAB_KIND, _ANY) not in (_ANY, *counts):
        values[keys.VOCAB_KIND] = _ANY
    kind = script.selectbox(
        "Script",
        [_ANY, *counts],
        format_func=lambda name: name if name == _ANY else f"{name} ({counts[name]:,})",
        key=keys.VOCAB_KIND,
        on_change=turn_to_first,
        persist_state="session",
    )
    with more:
        active = sum(name in values and _narrow(name) for name in _WIDGETS[2:])
        label = f"More filters ({active})" if active else "More filters"
        with st.popover(label, width="stretch", key=keys.VOCAB_MORE):
            length = _range("Length in bytes", keys.VOCAB_LENGTH, 1, int(vocabulary.sizes.max()))
            birth = _range("Made at merge", keys.VOCAB_BIRTH, 1, n_merges)
            special = st.segmented_control(
                "Special tokens",
                SPECIALS,
                default=None if keys.VOCAB_SPECIAL in values else ALL,
                required=True,
                key=keys.VOCAB_SPECIAL,
                on_change=turn_to_first,
                persist_state="session",
            )
    return Query(
        words=typed or "",
        search=where or SEARCHES[0],
        kind=None if kind in (None, _ANY) else kind,
        length=length,
        birth=birth,
        special=special or ALL,
        health=values.get(keys.VOCAB_HEALTH),
        part_of=values.get(keys.VOCAB_PART_OF),
    )


def _range(label: str, key: str, least: int, most: int) -> tuple[int, int] | None:
    """Draw a slider with two ends; return them, or None where they leave nothing out."""
    if most <= least:
        st.caption(f"{label}: {most:,} at most")
        return None
    low, high = st.session_state.get(key, (least, most))
    st.session_state[key] = (max(low, least), min(high, most))
    st.session_state[keys.whole_range(key)] = (least, most)
    st.slider(label, least, most, key=key, on_change=turn_to_first, persist_state="session")
    chosen: tuple[int, int] = st.session_state[key]  # two ends, since two were put there
    return None if chosen == (least, most) else chosen


def _narrow(name: str) -> bool:
    value = st.session_state[name]
    return value not in (None, ALL, st.session_state.get(keys.whole_range(name)))


def turn_to_first() -> None:
    """Go back to the first page: what is listed is about to change."""
    st.session_state[keys.VOCAB_PAGE] = 0


def clear() -> None:
    """Ask for everything again."""
    turn_to_first()
    for name in (*_WIDGETS, *_PRESSED):
        st.session_state.pop(name, None)
    st.session_state[keys.VOCAB_SEARCH] = ""
    st.session_state[keys.VOCAB_KIND] = _ANY
    st.session_state[keys.VOCAB_SPECIAL] = ALL


def show_only(key: str, value: object) -> None:
    """Ask for one thing and nothing else, and bring the list into view.

    ``key`` is that of a filter: `VOCAB_HEALTH`, `VOCAB_PART_OF` or `VOCAB_KIND`.
    """
    clear()
    st.session_state[key] = value
    come()


def longest_first() -> None:
    """List everything, the longest first."""
    clear()
    st.session_state[keys.VOCAB_SORT] = ("bytes", True)
    come()


def shown_health(query: Query) -> str | None:
    """The row of the health table whose tokens are listed now."""
    if query.empty and st.session_state.get(keys.VOCAB_SORT) == ("bytes", True):
        return health.LONGEST
    return query.health


def come() -> None:
    """Bring the list into view."""
    st.session_state[keys.VOCAB_COME] = st.session_state.get(keys.VOCAB_COME, 0) + 1


def sort_by(column: str) -> None:
    """Sort by a column, the other way round if it is sorted by that already."""
    by, down = order()
    down = not down if column == by else DESCENDS_FIRST[column]
    st.session_state[keys.VOCAB_SORT] = (column, down)
    turn_to_first()


def order() -> tuple[str, bool]:
    """The column to sort by, and whether it descends."""
    by, down = st.session_state.get(keys.VOCAB_SORT, FIRST_SORT)
    return by, down


def turn(page: int) -> None:
    """Turn to a page, counted from 0."""
    st.session_state[keys.VOCAB_PAGE] = page
