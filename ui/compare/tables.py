"""The reading beside the curves and the table of measures, as HTML that holds no markup but ours.

Belongs here: strings of HTML; every name a visitor could have chosen goes through
``html.escape``. Does not belong here: the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from bpe_core.analysis.curves import Reading
from bpe_core.analysis.measures import Measures
from ui.compare.curves import Curve, gain
from ui.compare.measures import ROWS
from ui.components.mount import style_sheet
from ui.instruments.charts import DASHES

#: Once a page: the look of the tables, and of the plots and cards around them.
STYLE = style_sheet(Path(__file__).with_name("compare.css"))


def sign(line: Curve) -> str:
    """The sign of a line: its label in its hue, and its dash below."""
    return (
        f'<span class="key h{line.hue}"><span class="sign">{escape(line.label)}</span>'
        f'<span class="dash d{line.dash}" title="{DASHES[line.dash]}"></span></span>'
    )


def reading(lines: Sequence[Curve], at: int) -> str:
    """The list of what each line says at the size ``at``, densest first."""
    rows = [
        f'<li data-testid="reading">{sign(line)}<b>{says.bytes_per_token:.2f}</b>'
        f'<span class="name">{escape(line.name)}<br><small>{gain(says)}</small></span></li>'
        for line, says in _ordered(lines, at)
    ]
    return (
        f'<div class="cmp"><h5>Bytes per token at <b>{at:,}</b> entries</h5>'
        f"<ul>{''.join(rows)}</ul></div>"
    )


def in_words(lines: Sequence[Curve], at: int) -> str:
    """The same as one sentence, for those who cannot see the chart."""
    said = [
        f"{line.label}, {line.name}: {says.bytes_per_token:.2f}, {gain(says)}"
        for line, says in _ordered(lines, at)
    ]
    return f"Bytes per token against vocabulary size. At {at:,} entries: {'; '.join(said)}."


def _ordered(lines: Sequence[Curve], at: int) -> list[tuple[Curve, Reading]]:
    said = [(line, line.reading(at)) for line in lines]
    return sorted(said, key=lambda pair: -pair[1].bytes_per_token)


def measures(columns: Sequence[tuple[Curve, int, Measures]], size: int) -> str:
    """The table at ``size``: a row per measure, a column per (line, its size, measures).

    Where the columns are tokenizers on one text, the best value of a row is bold.
    """
    comparable = len({line.text.id for line, _, _ in columns}) == 1
    heads = "".join(
        f'<th class="num" scope="col">{sign(line)}{"" if at == size else f"<br>{at:,}"}</th>'
        for line, at, _ in columns
    )
    rows = []
    for row in ROWS:
        values = [row.value(found) for _, _, found in columns]
        written = [row.write(v) if v == v else "–" for v in values]
        best = max((v * row.better for v in values if v == v), default=None)
        shown = comparable and len(set(written)) > 1
        cells = "".join(
            f'<td class="num{" best" if shown and v * row.better == best else ""}">{text}</td>'
            for v, text in zip(values, written, strict=True)
        )
        rows.append(
            f'<tr data-testid="measure"><th scope="row">{row.name}</th>{cells}'
            f'<td class="way">{row.meaning}</td></tr>'
        )
    return (
        f'<div class="cmp"><h5>All measures at <b>{size:,}</b> entries</h5><table><thead><tr>'
        f'<th class="blank"></th>{heads}<th class="blank"></th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
