"""The list of tokens: its filters, the sentence that says what is shown, and one page of it.

Belongs here: widgets and what keeps their values sensible. Which entries match is
``ui/vocabulary_query.py``; the values survive a page change.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from bpe_core.vocabulary import KINDS, Vocabulary
from ui import theme, vocabulary_data, vocabulary_health
from ui.components.token_table import Column, Page, token_table
from ui.session import keys
from ui.session.state import Trained
from ui.vocabulary_query import ALL, DESCENDS_FIRST, SEARCHES, SPECIALS, Query, in_order, matches
from ui.words import literal

PER_PAGE = 20

_ANY = "any"

#: The order the list opens with: as the merges were learned.
FIRST_SORT = ("merge", False)

COLUMNS = (
    Column("id", "id"),
    Column("hex", "bytes in hex", number=False, spare=True),
    Column("merge", "merge", "the merge that made it, counted from 1"),
    Column("bytes", "bytes", "its length", spare=True),
    Column("uses", "uses", "its places in the text, cut with all merges"),
    Column("kind", "script", "of more than half of its letters", number=False, spare=True),
)
_HEX_BYTES = 10  # bytes spelled out in a row; the biography has all of them

_PLACEHOLDERS = {"text": "letter for letter, blanks count", "hex": "E2 80", "id": "285, 300-310"}
_WIDGETS = (
    keys.VOCAB_SEARCH,
    keys.VOCAB_KIND,
    keys.VOCAB_LENGTH,
    keys.VOCAB_BIRTH,
    keys.VOCAB_SPECIAL,
)
_OTHERS = (keys.VOCAB_HEALTH, keys.VOCAB_PART_OF)


# -- what is asked for --------------------------------------------------------------------------


def begin(trained: Trained) -> None:
    """Start over where another tokenizer was chosen: ids, lengths and merges mean others now."""
    values = st.session_state
    if values.get(keys.VOCAB_OF) != trained.key:
        values[keys.VOCAB_OF] = trained.key
        for name in (keys.VOCAB_LENGTH, keys.VOCAB_BIRTH, keys.VOCAB_PART_OF, keys.VOCAB_PAGE):
            values.pop(name, None)


def filters(vocabulary: Vocabulary, n_merges: int) -> Query:
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
    for name in (*_WIDGETS, *_OTHERS):
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
    """Return the row of the health table whose tokens are listed now."""
    if query.empty and st.session_state.get(keys.VOCAB_SORT) == ("bytes", True):
        return vocabulary_health.LONGEST
    return query.health


def come() -> None:
    """Bring the list into view."""
    st.session_state[keys.VOCAB_COME] = st.session_state.get(keys.VOCAB_COME, 0) + 1


def sort_by(column: str) -> None:
    """Sort by a column, the other way round if it is sorted by that already."""
    by, down = st.session_state.get(keys.VOCAB_SORT, FIRST_SORT)
    down = not down if column == by else DESCENDS_FIRST[column]
    st.session_state[keys.VOCAB_SORT] = (column, down)
    turn_to_first()


def turn(page: int) -> None:
    """Turn to a page, counted from 0."""
    st.session_state[keys.VOCAB_PAGE] = page


# -- what is shown ----------------------------------------------------------------------------


def found(trained: Trained, query: Query) -> tuple[np.ndarray, str]:
    """Return the rows that match, in the order asked for, and "" or what is wrong."""
    vocabulary = vocabulary_data.entries(trained)
    health = None if query.health is None else vocabulary_health.mask(trained, query.health)
    try:
        wanted = matches(vocabulary, query, merge_ids=trained.tokenizer.merge_ids, health=health)
    except ValueError as problem:
        return np.empty(0, np.int64), str(problem)
    by, down = st.session_state.get(keys.VOCAB_SORT, FIRST_SORT)
    return in_order(vocabulary, wanted, by, down=down, uses=vocabulary_data.uses(trained)), ""


def heading(trained: Trained, query: Query, n: int) -> None:
    """Say what the list shows, with the way back to all of it."""
    with st.container(horizontal=True, vertical_alignment="center", key=keys.VOCAB_HEADING):
        st.caption(sentence(trained, query, n), width="content")
        if not query.empty:
            st.button("Show all", key=keys.VOCAB_CLEAR, type="tertiary", on_click=clear)


def sentence(trained: Trained, query: Query, n: int) -> str:
    """Return what the list shows, as Markdown."""
    vocabulary = vocabulary_data.entries(trained)
    if query.empty:
        return f"All **{n:,}** entries of this vocabulary."
    parts = []
    if query.words:
        verb = {"text": "with the text", "hex": "with the bytes", "id": "with the id"}[query.search]
        parts.append(f"{verb} “{_visible(query.words)}”")
    if query.kind:
        parts.append(f"of the script “{literal(query.kind)}”")
    if query.length:
        parts.append("of {:,} to {:,} bytes".format(*query.length))
    if query.birth:
        parts.append("made at merge {:,} to {:,}".format(*query.birth))
    if query.special != ALL:
        parts.append(literal(query.special.replace("only special", "special tokens only")))
    if query.health:
        parts.append(vocabulary_health.LISTED[query.health])
    if query.part_of is not None:
        token = vocabulary.tokens[vocabulary.row(query.part_of)].decode("utf-8", "replace")
        parts.append(f"made of the token “{_visible(token)}”")
    return f"**{n:,}** of {len(vocabulary):,} entries: {', '.join(parts)}."


def _visible(words: str) -> str:
    """Return the words for Markdown, with their blanks as they are drawn in tokens."""
    return literal(words.replace(" ", "·"))


def table(
    trained: Trained,
    rows: np.ndarray,
    problem: str,
    selected: int | None,
    on_open: Callable[[int], None],
) -> None:
    """Draw one page of the rows, or the problem."""
    n_pages = max(1, -(-len(rows) // PER_PAGE))
    at = min(st.session_state.get(keys.VOCAB_PAGE, 0), n_pages - 1)
    token_table(
        keys.TOKEN_TABLE,
        name="Tokens",
        columns=COLUMNS,
        page=Page(
            _cells(trained, rows[at * PER_PAGE : (at + 1) * PER_PAGE]), at, n_pages, len(rows)
        ),
        sorted_by=st.session_state.get(keys.VOCAB_SORT, FIRST_SORT),
        selected=selected,
        beside=keys.VOCAB_BIOGRAPHY,
        empty=problem or "No token matches. Fewer letters or filters find more.",
        come=st.session_state.get(keys.VOCAB_COME, 0),
        large=theme.is_large(),
        on_open=on_open,
        on_sort=sort_by,
        on_page=turn,
    )


def _cells(trained: Trained, rows: np.ndarray) -> list[tuple[int, bytes, list[str]]]:
    vocabulary, uses = vocabulary_data.entries(trained), vocabulary_data.uses(trained)
    found = []
    for row in rows.tolist():
        token, birth = vocabulary.tokens[row], int(vocabulary.births[row])
        spelled = token[:_HEX_BYTES].hex(" ").upper() + " …" * (len(token) > _HEX_BYTES)
        cells = [
            str(vocabulary.ids[row]),
            spelled,
            "–" if birth < 0 else f"{birth + 1:,}",
            f"{len(token):,}",
            f"{uses[row]:,}",
            "special token" if vocabulary.special[row] else KINDS[vocabulary.kind[row]],
        ]
        found.append((int(vocabulary.ids[row]), token, cells))
    return found
