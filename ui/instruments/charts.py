"""The charts that change on a click, as plotly figures in the app's palette.

Belongs here: figures. The hues are those of ``theme``; everything else (text, grid, background)
is left to Streamlit, so a figure is right in light and dark and stays so when the visitor
switches. Does not belong here: what the numbers are, and charts that move while training runs.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from ui.theme import HUES, NEUTRAL, faded

DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "hexagon")

_POINTS = 180  # points of a drawn line; more cannot be seen
_TICKS = 6
FAINT = faded(NEUTRAL, 0.28)  # on light and dark alike
_NOTHING = "rgba(0,0,0,0)"
_RULE = faded(NEUTRAL, 0.75)

#: No buttons over the figure, no zoom: what it shows is chosen beside it.
CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}


@dataclass(frozen=True, eq=False)
class Line:
    """A line to draw: ``sizes`` int64[n] and ``values`` float64[n], one entry per merge.

    ``label`` stands at its end; ``name`` may be any text and is shown letter for letter.
    """

    label: str
    name: str
    sizes: np.ndarray
    values: np.ndarray
    hue: int
    dash: int


def literal(text: str) -> str:
    """``text`` so that plotly shows it letter for letter: no tags, formulas or templates.

    >>> literal("<b>$x$</b>")
    '&lt;b&gt;&#36;x&#36;&lt;/b&gt;'
    """
    text = html.escape(" ".join(text.split()), quote=False)
    return text.replace("$", "&#36;").replace("%", "&#37;")


def thinned(sizes: np.ndarray, n: int = _POINTS) -> np.ndarray:
    """The places of at most ``n`` sizes, even on a log axis, first and last included.

    >>> thinned(np.array([256, 257, 258, 400]), 3).tolist()
    [0, 3]
    """
    wanted = np.geomspace(sizes[0], sizes[-1], n)
    places = np.clip(np.searchsorted(sizes, wanted), 0, len(sizes) - 1)
    return np.unique(np.concatenate([[0], places, [len(sizes) - 1]]))


def size_ticks(lowest: int, highest: int) -> list[int]:
    """Where a log axis of vocabulary sizes is labeled: the lower end and round numbers.

    >>> size_ticks(256, 476), size_ticks(256, 20_000)
    ([256, 300, 350, 400, 450], [256, 500, 1000, 2000, 5000, 10000, 20000])
    """
    even = [range(0, 2_000, step) for step in (10, 20, 50)]
    rounds = [
        [m * 10**e for e in range(1, 7) for m in leading]
        for leading in ((1, 2, 3, 4, 5, 7), (1, 2, 3, 5), (1, 2, 5))
    ]
    for family in (*even, *rounds):
        ticks = [t for t in family if lowest < t <= highest]
        if len(ticks) <= _TICKS:
            break
    apart = (highest / lowest) ** (1 / 12)
    return [lowest, *(t for t in ticks if t > lowest * apart)]


def compression(lines: Sequence[Line], at: int, *, large: bool = False) -> go.Figure:
    """Bytes per token against vocabulary size, log axis, with the size ``at`` marked.

    Each line has a hue, a dash and, where the size is marked, a symbol of its own.
    """
    font = 17 if large else 13
    height = (520 if large else 400) + 30 * max(0, len(lines) - 4)  # the reading beside it grows
    lowest = min(int(line.sizes[0]) for line in lines)
    highest = max(int(line.sizes[-1]) for line in lines)
    top = max(float(np.nanmax(line.values)) for line in lines)
    span = max(top - 1, 0.5)
    low, high = 1 - 0.04 * span, 1 + 1.07 * span

    figure = go.Figure()
    for line in lines:
        kept = thinned(line.sizes)
        seen = int(len(kept) == 1)  # a line of one point is a point
        figure.add_scatter(
            x=line.sizes[kept],
            y=line.values[kept],
            name=f"{line.label}  {literal(line.name)}",
            mode="lines+markers",
            line={"color": HUES[line.hue], "dash": DASHES[line.dash], "width": 4 if large else 2.6},
            marker={"size": 12, "opacity": seen, "color": HUES[line.hue]},  # something to click on
            hovertemplate="%{y:.2f}",
            selected={"marker": {"opacity": seen}},
            unselected={"marker": {"opacity": seen}},
        )
    figure.add_vline(x=at, line={"color": _RULE, "width": 1.5})
    for i, line in enumerate(lines):
        if int(line.sizes[0]) <= at <= int(line.sizes[-1]):
            figure.add_scatter(
                x=[at],
                y=[line.values[at - int(line.sizes[0])]],
                mode="markers",
                marker={
                    "size": 15 if large else 11,
                    "symbol": SYMBOLS[i % len(SYMBOLS)],
                    "color": HUES[line.hue],
                },
                hoverinfo="skip",
                selected={"marker": {"opacity": 1}},
                unselected={"marker": {"opacity": 1}},
            )
    ends = [float(line.values[-1]) for line in lines]
    gap = (high - low) * 1.35 * font / (height - 70)
    for line, y in zip(lines, spread(ends, gap), strict=True):
        figure.add_annotation(
            x=np.log10(int(line.sizes[-1])),
            y=y,
            text=f"<b>{line.label}</b>",
            showarrow=False,
            xanchor="left",
            xshift=7,
            font={"size": font + 1},
        )
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 36, "t": 34, "b": 8},
        paper_bgcolor=_NOTHING,
        plot_bgcolor=_NOTHING,
        showlegend=False,
        hovermode="x unified",
        dragmode=False,
        font={"size": font},
        hoverlabel={"font": {"size": font}},
    )
    ticks = size_ticks(lowest, highest)
    figure.update_xaxes(
        type="log",
        range=[np.log10(lowest) - 0.004, np.log10(highest) + 0.004],
        tickvals=ticks,
        ticktext=[f"{t:,}" for t in ticks],
        title={"text": "vocabulary size (log axis)", "standoff": 8, "font": {"size": font}},
        tickfont={"size": font},
        hoverformat=",d",
        showgrid=False,
        fixedrange=True,
        automargin=True,
    )
    figure.add_annotation(  # lies flat, unlike an axis title
        text="bytes per token",
        xref="paper",
        yref="paper",
        x=0,
        y=1,
        xanchor="left",
        yanchor="bottom",
        yshift=8,
        showarrow=False,
        font={"size": font},
    )
    figure.update_yaxes(
        range=[low, high],
        tickfont={"size": font},
        tickformat=".1f",
        nticks=7,
        gridcolor=FAINT,
        zeroline=False,
        fixedrange=True,
        automargin=True,
    )
    return figure


def spread(values: Sequence[float], gap: float) -> list[float]:
    """The values moved apart to be at least ``gap`` from each other, in the same order.

    >>> spread([1.0, 1.0, 5.0], 0.5)
    [0.75, 1.25, 5.0]
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    blocks: list[list[float]] = []  # [sum of wanted places, number of values]
    for i in order:
        blocks.append([values[i], 1])
        while len(blocks) > 1:
            (s, n), (t, m) = blocks[-2:]
            if t / m - s / n >= gap * (n + m) / 2:
                break
            blocks[-2:] = [[s + t, n + m]]
    placed = [s / n + gap * (k - (n - 1) / 2) for s, n in blocks for k in range(int(n))]
    result = [0.0] * len(values)
    for i, place in zip(order, placed, strict=True):
        result[i] = place
    return result


def languages(rows: Sequence[tuple[str, int, int]], *, large: bool = False) -> go.Figure:
    """Tokens of the same passage per language: rows of (language, tokens, bytes), first on top.

    The pale bar behind is the number of bytes, which is what the passage costs without merges.
    """
    font = 17 if large else 13
    names = [literal(name) for name, _, _ in rows]
    tokens = [n for _, n, _ in rows]
    n_bytes = [n for _, _, n in rows]
    least = max(min(tokens), 1)
    figure = go.Figure()
    figure.add_bar(
        y=names,
        x=n_bytes,
        orientation="h",
        marker={"color": FAINT, "line": {"width": 0}},
        width=0.72,
        hovertemplate="%{x:,} bytes<extra></extra>",
    )
    figure.add_bar(
        y=names,
        x=tokens,
        orientation="h",
        marker={"color": HUES[0], "line": {"width": 0}},
        width=0.72,
        hovertemplate="%{x:,} tokens<extra></extra>",
    )
    for name, n, behind in zip(names, tokens, n_bytes, strict=True):
        figure.add_annotation(
            y=name,
            x=max(n, behind),
            text=f"<b>{n:,}</b>  ×{n / least:.1f}",
            showarrow=False,
            xanchor="left",
            xshift=6,
            font={"size": font},
        )
    figure.update_layout(
        height=(34 if large else 27) * len(rows) + 20,
        margin={"l": 8, "r": 7 * font, "t": 6, "b": 8},  # on the right, room for the numbers
        paper_bgcolor=_NOTHING,
        plot_bgcolor=_NOTHING,
        barmode="overlay",
        showlegend=False,
        hovermode="closest",
        dragmode=False,
        font={"size": font},
    )
    figure.update_xaxes(range=[0, max(n_bytes)], visible=False, fixedrange=True)
    figure.update_yaxes(
        autorange="reversed",
        tickfont={"size": font},
        ticksuffix=" ",
        fixedrange=True,
        automargin=True,
    )
    return figure
