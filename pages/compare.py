"""Compare: what each vocabulary size buys, one text cut several ways, languages side by side."""

from __future__ import annotations

import streamlit as st

from ui import theme
from ui.compare import choices, curves, cuts, languages, marks, measures, tables
from ui.compare.curves import Curve
from ui.components.token_view import token_view
from ui.instruments import charts
from ui.session import keys, state
from ui.session.state import Trained
from ui.tokenizers import shelf

LARGE = theme.is_large()


@st.fragment
def compression(lines: list[Curve]) -> None:
    """The curves, the size that is marked on them, and what they say there."""
    with st.container(border=True, key=keys.COMPARE_CARD_CURVES):
        chart, says = st.columns([2.1, 1], gap="medium")
        with chart:
            at = choices.marked_size(lines)
            shown = marks.choose(lines)
            figure = charts.compression(curves.drawn(lines), at, large=LARGE)
            marks.add(figure, shown, large=LARGE)
            st.plotly_chart(
                figure,
                key=keys.COMPARE_CHART,
                on_select=choices.take_pointed_size,
                selection_mode="points",
                config=charts.CONFIG,
                alt=tables.in_words(lines, at) + marks.in_words(shown),
            )
        says.html(marks.says(lines, at, shown))
        st.caption(f"{curves.LOOK} {marks.LOOK}" if shown else curves.LOOK)
    with st.container(border=True, key=keys.COMPARE_CARD_MEASURES):
        columns = measures.at_size(choices.measured(lines), at)
        st.html(tables.measures(columns, at))


@st.fragment
def one_text(chosen: list[Trained], known: list[Trained]) -> None:
    """One short text in up to four columns of (tokenizer, size)."""
    text = choices.short_text()
    drawn = cuts.beginning(text)
    columns, places = choices.columns(known, cuts.first_columns(chosen))
    found = [
        cuts.cached_cut(trained.key, text, size, drawn, trained.tokenizer)
        for trained, size in columns
    ]
    hues, differences = cuts.hues(found), cuts.differences(columns, found)
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
    st.caption(f"{differences.legend} {cuts.LEGEND}")
    if len(drawn) < len(text):
        st.caption(
            f"The first {len(drawn):,} of {len(text):,} characters are drawn; the numbers above "
            "are those of the whole text."
        )


@st.fragment
def side_by_side(chosen: list[Trained], known: list[Trained]) -> None:
    """What the same passages cost in each language."""
    with st.container(border=True, key=keys.COMPARE_CARD_LANGUAGES):
        trained, size = choices.language_tokenizer(known, chosen[0])
        rows = languages.cached_costs(trained.key, size, trained.tokenizer)
        said = languages.sentence(rows)
        st.plotly_chart(
            charts.languages([(r.label, r.tokens, r.n_bytes) for r in rows], large=LARGE),
            key=keys.COMPARE_LANGUAGE_CHART,
            config=charts.CONFIG,
            alt=said,
        )
        st.caption(f"{said} {languages.WHY}")


theme.put_styles(tables.STYLE)
known = choices.distinct([*state.all_trained(), *shelf.mine()])
chosen, texts = choices.what_to_compare(known)
known = choices.with_chosen(known, chosen)
if len(known) == 1:
    choices.only_one()

st.subheader("How much does each size compress?")
if lines := curves.curves(chosen, texts, known):
    compression(lines)
else:
    st.info("There is no text to measure on yet: paste or upload one, or choose another.")

st.subheader("The same text, cut several ways")
one_text(chosen, known)

st.subheader("Languages side by side")
side_by_side(chosen, known)
