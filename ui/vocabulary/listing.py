"""The list of tokens: the sentence that says what is shown, and one page of it.

Belongs here: what is listed and how it is written. Which entries match is ``query``; what is asked
for is ``filters``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from bpe_core.analysis.vocabulary import KINDS
from ui import theme
from ui.components.token_table import Column, Page, token_table
from ui.session import keys
from ui.session.state import Trained
from ui.vocabulary import facts, filters, health
from ui.vocabulary.query import ALL, Query, matches
from ui.words import literal

PER_PAGE = 20

COLUMNS = (
    Column("id", "id"),
    Column("hex", "bytes in hex", number=False, spare=True),
    Column("merge", "merge", "the merge that made it, counted from 1"),
    Column("bytes", "bytes", "its length", spare=True),
    Column("uses", "uses", "its places in the text, cut with all merges"),
    Column("kind", "script", "of more than half of its letters", number=False, spare=True),
)
_HEX_BYTES = 10  # bytes spelled out in a row; the biography has all of them


def found(trained: Trained, query: Query) -> tuple[np.ndarray, str]:
    """The rows that match, in the order asked for, and "" or what is wrong."""
    vocabulary = facts.entries(trained)
    odd = None if query.health is None else health.mask(trained, query.health)
    try:
        wanted = matches(vocabulary, query, merge_ids=trained.tokenizer.merge_ids, health=odd)
    except ValueError as problem:
        return np.empty(0, np.int64), str(problem)
    by, down = filters.order()
    return vocabulary.in_order(wanted, by, down=down, uses=facts.uses(trained)), ""


def heading(trained: Trained, query: Query, n: int) -> None:
    """Say what the list shows, with the way back to all of it."""
    with st.container(horizontal=True, vertical_alignment="center", key=keys.VOCAB_HEADING):
        st.caption(sentence(trained, query, n), width="content")
        if not query.empty:
            st.button("Show all", key=keys.VOCAB_CLEAR, type="tertiary", on_click=filters.clear)


def sentence(trained: Trained, query: Query, n: int) -> str:
    """What the list shows, as Markdown."""
    vocabulary = facts.entries(trained)
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
        parts.append(health.LISTED[query.health])
    if query.part_of is not None:
        token = vocabulary.tokens[vocabulary.row(query.part_of)].decode("utf-8", "replace")
        parts.append(f"made of the token “{_visible(token)}”")
    return f"**{n:,}** of {len(vocabulary):,} entries: {', '.join(parts)}."


def _visible(words: str) -> str:
    """The words for Markdown, with their blanks as they are drawn in tokens."""
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
        sorted_by=filters.order(),
        selected=selected,
        beside=keys.VOCAB_BIOGRAPHY,
        empty=problem or "No token matches. Fewer letters or filters find more.",
        come=st.session_state.get(keys.VOCAB_COME, 0),
        large=theme.is_large(),
        on_open=on_open,
        on_sort=filters.sort_by,
        on_page=filters.turn,
    )


def _cells(trained: Trained, rows: np.ndarray) -> list[tuple[int, bytes, list[str]]]:
    vocabulary, uses = facts.entries(trained), facts.uses(trained)
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
