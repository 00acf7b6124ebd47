"""Vocabulary: every token to search through, where each comes from, and what state they are in."""

from __future__ import annotations

import streamlit as st

from ui import (
    tokens_setup,
    vocabulary_data,
    vocabulary_health,
    vocabulary_list,
    vocabulary_look,
    vocabulary_overlap,
    vocabulary_token,
)
from ui.vocabulary_health import LONGEST


def show_health(row: str) -> None:
    """List the entries of a row of the health table."""
    if row == LONGEST:
        vocabulary_list.longest_first()
    else:
        vocabulary_list.show_only(health=row)


def show_script(kind: str) -> None:
    """List the entries of a row of the scripts table."""
    vocabulary_list.show_only(kind=kind)


def show_children(token_id: int) -> None:
    """List the tokens that are made of one."""
    vocabulary_list.show_only(part_of=token_id)


@st.fragment
def workbench() -> None:
    """The whole page; a change redraws this and not the frame around it."""
    who, numbers = st.columns([1, 2.6], gap="large", vertical_alignment="bottom")
    with who:
        trained = tokens_setup.tokenizer()
    vocabulary = vocabulary_data.entries(trained)
    numbers.html(vocabulary_look.numbers(trained, vocabulary))
    vocabulary_list.begin(trained)
    vocabulary_token.take_link(trained)

    query = vocabulary_list.filters(vocabulary, trained.tokenizer.n_merges)
    entries, biography = st.columns([1.35, 1], gap="medium")
    with entries:
        rows = vocabulary_list.found(trained, query)
        if rows is not None:
            vocabulary_list.heading(trained, query, len(rows))
            open_id, _ = vocabulary_token.opened(vocabulary)
            vocabulary_list.table(trained, rows, open_id, vocabulary_token.open_token)
            vocabulary_health.download(trained, rows)
    with biography:
        st.caption("Biography of the chosen token")
        vocabulary_token.panel(trained, show_children)

    health, scripts = st.columns(2, gap="medium")
    with health:
        st.subheader("Health")
        sorts_longest = st.session_state.get("vocab_sort") == ("bytes", True) and query.empty
        shown = LONGEST if sorts_longest else query.health
        vocabulary_health.health(trained, shown, show_health)
        st.caption("Press a row to list its tokens above.")
    with scripts:
        st.subheader("Scripts")
        vocabulary_health.scripts(trained, query.kind, show_script)
        st.caption(
            f"{vocabulary_health.chinese_or_not(vocabulary.by_kind())} A token counts for the "
            "script of more than half of its letters."
        )

    st.subheader("What two vocabularies share")
    vocabulary_overlap.section(trained)


st.html(vocabulary_look.STYLE)
workbench()
