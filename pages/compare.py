"""Compare: what each vocabulary size buys, one text cut several ways, languages side by side."""

from __future__ import annotations

import streamlit as st

from ui import (
    compare_choices,
    compare_curves,
    compare_cuts,
    compare_languages,
    compare_marks,
    compare_measures,
    compare_tables,
    theme,
)
from ui.compare_curves import Curve
from ui.components.token_view import token_view
from ui.instruments import charts
from ui.session import keys, state
from ui.session.state import Trained
from ui.tokenizers import import_dialog, shelf

LARGE = theme.is_large()


@st.fragment
def sizes(lines: list[Curve]) -> None:
    """The curves, the size that is marked on them, and what they say there."""
    with st.container(border=True, key=keys.COMPARE_CARD_CURVES):
        chart, says = st.columns([2.1, 1], gap="medium")
        with chart:
            at = compare_choices.marked_size(lines)
            marks = compare_marks.choose(lines)
            figure = charts.compression(
                [charts.Line(c.label, c.name, c.sizes, c.values, c.hue, c.dash) for c in lines],
                at,
                large=LARGE,
            )
            compare_marks.add(figure, marks, large=LARGE)
            st.plotly_chart(
                figure,
                key=keys.COMPARE_CHART,
                on_select=compare_choices.take_pointed_size,
                selection_mode="points",
                config=charts.CONFIG,
                alt=compare_tables.in_words(lines, at) + compare_marks.in_words(marks),
            )
        says.html(compare_marks.says(lines, at, marks))
        st.caption(
            "Look where a line flattens: from there on, twice as many entries save few tokens. "
            "Solid lines are text the tokenizer was trained on, broken lines text it never saw; "
            "choose by a broken line of text like yours."
            + (f" {compare_marks.LOOK}" if marks else "")
        )
    with st.container(border=True, key=keys.COMPARE_CARD_MEASURES):
        columns = compare_measures.at_size(compare_choices.measured(lines), at)
        st.html(compare_tables.measures(columns, at))


@st.fragment
def cuts(chosen: list[Trained], known: list[Trained]) -> None:
    """One short text in up to four columns of (tokenizer, size)."""
    text = compare_choices.short_text()
    drawn = compare_cuts.beginning(text)
    columns, places = compare_choices.columns(known, compare_cuts.first_columns(chosen))
    found = [
        compare_cuts.cached_cut(trained.key, text, size, drawn, trained.tokenizer)
        for trained, size in columns
    ]
    hues, differences = compare_cuts.hues(found), compare_cuts.differences(columns, found)
    for i, (cut, place) in enumerate(zip(found, places, strict=True)):
        with place:
            token_view(
                keys.compare_cut(i),
                text=drawn,
                cut=cut,
                hues=hues[i],
                marked=differences.marked[i],
                group="compare",
                name=f"Column {i + 1}",
            )
    st.caption(f"{differences.legend} {compare_cuts.LEGEND}")
    if len(drawn) < len(text):
        st.caption(
            f"The first {len(drawn):,} of {len(text):,} characters are drawn; the numbers above "
            "are those of the whole text."
        )


@st.fragment
def languages(chosen: list[Trained], known: list[Trained]) -> None:
    """What the same passages cost in each language."""
    with st.container(border=True, key=keys.COMPARE_CARD_LANGUAGES):
        trained, size = compare_choices.language_tokenizer(known, chosen[0])
        rows = compare_languages.cached_costs(trained.key, size, trained.tokenizer)
        said = compare_languages.sentence(rows)
        st.plotly_chart(
            charts.languages([(r.label, r.tokens, r.n_bytes) for r in rows], large=LARGE),
            key=keys.COMPARE_LANGUAGE_CHART,
            config=charts.CONFIG,
            alt=said,
        )
        st.caption(f"{said} {compare_languages.WHY}")


st.html(compare_tables.STYLE + compare_marks.STYLE + import_dialog.STYLE)
known = compare_choices.distinct([*state.all_trained(), *shelf.mine()])
chosen, texts = compare_choices.what_to_compare(known)
known = compare_choices.with_chosen(known, chosen)
if len(known) == 1:
    compare_choices.only_one()

st.subheader("How much does each size compress?")
lines = compare_curves.curves(chosen, texts, known)
if lines:
    sizes(lines)
else:
    st.info("There is no text to measure on yet: paste or upload one, or choose another.")

st.subheader("The same text, cut several ways")
cuts(chosen, known)

st.subheader("Languages side by side")
languages(chosen, known)
