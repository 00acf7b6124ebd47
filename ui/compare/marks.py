"""Well-known tokenizers as reference marks: one point each, at its own vocabulary size.

Belongs here: which ones are shown, their values on the texts of the curves, and how the points are
added to the chart. Does not belong here: the curves (``curves``, ``charts``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from bpe_core.analysis.curves import CompressionCurve
from ui.compare import curves, tables
from ui.compare.curves import Curve
from ui.instruments import charts
from ui.session import keys
from ui.session.state import Trained
from ui.theme import HUES, NEUTRAL
from ui.tokenizers import picker
from ui.words import literal

#: The marks there are, with the short name that stands at the point, and in the row of choices.
NAMES = {"gpt2": "gpt2", "cl100k_base": "cl100k", "o200k_base": "o200k"}

PILLS = {"gpt2": "gpt2", "cl100k_base": "cl100k (GPT-4)", "o200k_base": "o200k (GPT-4o)"}

#: Where a curve goes at least this far, the marks are there from the beginning: they lie so far
#: to the right that a shorter curve would be squeezed.
FROM_THE_START = 4_000

LOOK = (
    "Diamonds are well-known tokenizers, each at its own vocabulary size and on the same text as "
    "the line of its color: where a line is already higher than a diamond, fewer entries do more."
)


@dataclass(frozen=True)
class Mark:
    """One point: a well-known tokenizer on the text of a line."""

    name: str
    size: int
    line: Curve
    value: float
    shared: bool

    @property
    def color(self) -> str:
        """The line's hue; gray where several lines are about this text."""
        return NEUTRAL if self.shared else HUES[self.line.hue]


def choose(lines: Sequence[Curve]) -> list[Mark]:
    """Show which marks there are, and return those chosen, measured on each text of the lines."""
    if keys.COMPARE_MARKS not in st.session_state:
        far = max(int(line.sizes[-1]) for line in lines) >= FROM_THE_START
        st.session_state[keys.COMPARE_MARKS] = list(NAMES) if far else []
    chosen = st.pills(
        "Reference marks",
        list(NAMES),
        format_func=PILLS.__getitem__,
        selection_mode="multi",
        key=keys.COMPARE_MARKS,
        help="Well-known tokenizers, each as a point at its own vocabulary size.",
        persist_state="session",
    )
    marks: list[Mark] = []
    missing: list[str] = []
    for name in chosen or ():
        known, problem = picker.read(name)
        if known is None:
            missing.append(problem)
        else:
            marks += measured(known, lines)
    for sentence in missing:
        st.caption(literal(sentence))
    return marks


def measured(known: Trained, lines: Sequence[Curve]) -> list[Mark]:
    """A tokenizer's marks, one for each text that the lines are about."""
    first: dict[str, Curve] = {}
    for line in lines:
        first.setdefault(line.text.id, line)
    found = []
    for text_id, line in first.items():
        tokens, n_bytes = curves.whole(known.key, text_id, known.tokenizer, line.text.read)
        if tokens:
            shared = sum(other.text.id == text_id for other in lines) > 1
            point = CompressionCurve.of_full_size(known.tokenizer, tokens, n_bytes)
            value = point.reading(point.largest).bytes_per_token
            found.append(Mark(known.key, point.largest, line, value, shared))
    return found


def add(figure: go.Figure, marks: Sequence[Mark], *, large: bool = False) -> None:
    """Add the points to a figure of `charts.compression`, and make room for them."""
    if not marks:
        return
    font = 17 if large else 13
    sizes = {mark.name: mark.size for mark in marks}
    for row, (name, size) in enumerate(sizes.items()):
        figure.add_vline(x=size, line={"color": charts.FAINT, "width": 1, "dash": "dot"})
        figure.add_annotation(
            x=np.log10(size),
            y=1,
            yref="paper",
            text=NAMES.get(name, name),
            showarrow=False,
            xanchor="center",
            yanchor="bottom",
            yshift=2 + (row % 2) * (font + 4),  # two rows, so that names do not run together
            font={"size": font},
        )
    for mark in marks:
        figure.add_scatter(
            x=[mark.size],
            y=[mark.value],
            name=f"{mark.name} on {charts.literal(mark.line.text.name)}",
            mode="markers",
            marker={
                "symbol": "diamond-open",
                "size": 15 if large else 12,
                "color": mark.color,
                "line": {"width": 3 if large else 2.4},
            },
            hovertemplate="%{y:.2f}",
            cliponaxis=False,
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
        )
    low, high = figure.layout.yaxis.range
    top = max(mark.value for mark in marks)
    left, right = figure.layout.xaxis.range
    lowest = round(10 ** (left + 0.004))
    highest = max(round(10 ** (right - 0.004)), *sizes.values())
    ticks = charts.size_ticks(lowest, highest)
    figure.update_yaxes(range=[low, max(high, 1 + 1.07 * (top - 1))])
    figure.update_xaxes(
        range=[left, np.log10(highest) + 0.06],
        tickvals=ticks,
        ticktext=[f"{t:,}" for t in ticks],
    )
    figure.update_layout(margin={"t": 34 + 2 * font})


def reading(marks: Sequence[Mark]) -> str:
    """The values as HTML: a row per tokenizer, a number per text with its line's sign."""
    if not marks:
        return ""
    rows = []
    for name in dict.fromkeys(mark.name for mark in marks):
        mine = [mark for mark in marks if mark.name == name]
        values = "".join(
            f'<span class="ref"><i style="border-color:{mark.color}"></i>'
            f'<b title="{escape(mark.line.text.name)}">{mark.value:.2f}</b></span>'
            for mark in mine
        )
        rows.append(
            f'<div data-testid="mark">{values}<span class="name">{escape(name)} '
            f"<small>{mine[0].size:,} entries</small></span></div>"
        )
    return f'<div class="cmp refs"><h5>Well-known, at their own sizes</h5>{"".join(rows)}</div>'


def in_words(marks: Sequence[Mark]) -> str:
    """The same as a sentence, for those who cannot see the chart; "" for no marks."""
    said = [
        f"{mark.name} with {mark.size:,} entries on {mark.line.text.name}: {mark.value:.2f}"
        for mark in marks
    ]
    return f" Reference marks: {'; '.join(said)}." if said else ""


def says(lines: Sequence[Curve], at: int, marks: Sequence[Mark]) -> str:
    """What the chart says at the size ``at``, marks included, as HTML."""
    return tables.reading(lines, at) + reading(marks)
