"""Vocabulary: every token to search through, where each comes from, and what state they are in."""

from __future__ import annotations

import streamlit as st

from ui import theme
from ui.session import keys
from ui.tokenizers import import_dialog, picker
from ui.vocabulary import facts, filters, health, listing, look, overlap, panel
from ui.vocabulary.health import LONGEST


def show_health(row: str) -> None:
    """List the entries of a row of the health table."""
    if row == LONGEST:
        filters.longest_first()
    else:
        filters.show_only(keys.VOCAB_HEALTH, row)


def show_script(kind: str) -> None:
    """List the entries of a row of the scripts table."""
    filters.show_only(keys.VOCAB_KIND, kind)


def show_children(token_id: int) -> None:
    """List the tokens that are made of one."""
    filters.show_only(keys.VOCAB_PART_OF, token_id)


@st.fragment
def workbench() -> None:
    """The whole page; a change redraws this and not the frame around it."""
    who, numbers = st.columns([1, 2.6], gap="large", vertical_alignment="bottom")
    with who:
        trained = picker.choose()
        with st.container(horizontal=True, gap="small", key=keys.TOKENIZER_BUTTONS):
            import_dialog.button()
    vocabulary = facts.entries(trained)
    numbers.html(look.numbers(trained, vocabulary))
    filters.begin(trained)
    panel.take_link(trained)

    query = filters.row(vocabulary, trained.tokenizer.n_merges)
    left, right = st.columns([1.35, 1], gap="medium")
    with left:
        rows, problem = listing.found(trained, query)
        listing.heading(trained, query, len(rows))
        open_id, _ = panel.opened(trained)
        listing.table(trained, rows, problem, open_id, panel.open_token)
        health.download(trained, rows)
    with right.container(key=keys.VOCAB_BIOGRAPHY):
        st.caption("Where the chosen token comes from, and what became of it")
        panel.show(trained, show_children)
    with left:
        st.subheader("Health")
        st.caption("What is odd about some entries; press a row to list its tokens above.")
        health.health(trained, filters.shown_health(query), show_health)

    st.subheader("Scripts")
    st.caption(
        f"{health.chinese_or_not(vocabulary.by_kind())} A token counts for the "
        "script of more than half of its letters; the longer a bar, the more tokens."
    )
    health.scripts(trained, query.kind, show_script)

    st.subheader("What two vocabularies share")
    overlap.section(trained, panel.open_token, keys.VOCAB_BIOGRAPHY)


theme.put_styles(look.STYLE)
workbench()
