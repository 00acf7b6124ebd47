"""The token table: one page of a list of tokens, to sort, turn over and choose from.

Belongs here: what the table is sent and what it tells. Filtering and sorting are done by the
server, which sends the rows of one page only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from ui.components.mount import component

_mount = component("token_table", html='<div class="tt" data-testid="token-table"></div>')


@dataclass(frozen=True)
class Column:
    """A column after the one of tokens.

    ``about`` is said when its head is pointed at; ``number`` columns are set flush right; one with
    ``spare`` is left out where room is scarce.
    """

    key: str
    label: str
    about: str = ""
    number: bool = True
    spare: bool = False


@dataclass(frozen=True)
class Page:
    """One page of a list: its rows are (id, token, texts of the columns).

    ``at`` counts pages from 0, ``total`` is the number of rows on all ``n_pages``.
    """

    rows: list[tuple[int, bytes, list[str]]]
    at: int
    n_pages: int
    total: int


def token_table(
    key: str,
    *,
    name: str,
    columns: Sequence[Column],
    page: Page,
    sorted_by: tuple[str, bool],
    selected: int | None = None,
    empty: str = "",
    beside: str = "",
    come: int = 0,
    large: bool = False,
    on_open: Callable[[int], None] | None = None,
    on_sort: Callable[[str], None] | None = None,
    on_page: Callable[[int], None] | None = None,
) -> None:
    """Show one page of tokens.

    ``sorted_by`` is (column, descending), where the column of tokens is "token"; ``empty`` is said
    when there is no row. The table comes into view when ``come`` changes, and after a press the
    container of the key ``beside``, where it is out of sight. Tokens can be pressed only where
    ``on_open`` is given, columns sorted only with ``on_sort``.
    """

    def told(event: str, act: Callable[[Any], None] | None) -> Callable[[], None]:
        def callback() -> None:
            value = st.session_state[key].get(event)
            if act is not None and value is not None:
                act(value)

        return callback

    _mount(
        key=key,
        data={
            "name": name,
            "columns": [vars(column) for column in columns],
            "rows": [[i, token.decode("latin-1"), cells] for i, token, cells in page.rows],
            "page": page.at,
            "pages": page.n_pages,
            "total": page.total,
            "sort": list(sorted_by),
            "selected": selected,
            "empty": empty,
            "beside": beside,
            "come": come,
            "large": large,
            "opens": on_open is not None,
            "sorts": on_sort is not None,
        },
        on_open_change=told("open", on_open),
        on_sort_change=told("sort", on_sort),
        on_page_change=told("page", on_page),
    )
