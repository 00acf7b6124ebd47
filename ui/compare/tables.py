"""The reading beside the curves and the table of measures, as HTML that holds no markup but ours.

Belongs here: strings of HTML; every name a visitor could have chosen goes through
``html.escape``. Does not belong here: the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from bpe_core.analysis.curves import Reading
from bpe_core.analysis.measures import Measures
from ui.compare.curves import Curve, gain
from ui.compare.measures import ROWS
from ui.instruments.charts import DASHES
from ui.theme import DARK, HUES, LIGHT

_HUES = "".join(f".cmp .h{i}{{--hue:{hue}}}" for i, hue in enumerate(HUES))

#: Once a page: the look of the tables, and of the plots and cards around them.
STYLE = f"""<style>
{_HUES}
.cmp, [class*="st-key-compare_"] {{ --cmp-card: light-dark({LIGHT.card}, {DARK.card});
  --cmp-text: light-dark({LIGHT.text}, {DARK.text});
  --cmp-muted: light-dark({LIGHT.muted}, {DARK.muted});
  --cmp-inset: light-dark({LIGHT.inset}, {DARK.inset});
  --cmp-border: light-dark({LIGHT.border}, {DARK.border});
  --cmp-accent: light-dark({LIGHT.accent}, {DARK.accent}); }}
[class*="st-key-compare_card"] {{ background: var(--cmp-card); border-radius: 14px; }}
[class*="st-key-compare_card"] .js-plotly-plot :is(.annotation-text, .xtick text, .ytick text,
  .xtitle) {{ fill: var(--cmp-text) !important; }}
[class*="st-key-compare_"] [data-tag] {{ background: var(--cmp-inset);
  color: var(--cmp-text); border: 1px solid var(--cmp-border); }}
.st-key-compare_only_one a p {{ color: var(--cmp-accent); }}
.cmp {{ color: var(--cmp-text); font-size: 1rem; line-height: 1.35; }}
.cmp small, .cmp .mut {{ color: var(--cmp-muted); font-size: .875rem; }}
.cmp .key {{ display: inline-block; vertical-align: top; }}
.cmp .sign {{ display: block; min-width: 1.9em; padding: .05em .4em; text-align: center;
  font-weight: 650; border-radius: 5px; border: 1.5px solid var(--hue);
  background: color-mix(in srgb, var(--hue) 24%, transparent); }}
.cmp .dash {{ display: block; margin-top: .4em; border-top: 3px solid var(--hue); }}
.cmp .d1, .cmp .d4 {{ border-top-style: dashed; }}
.cmp .d2, .cmp .d3 {{ border-top-style: dotted; }}
.cmp ul {{ list-style: none; margin: 0; padding: 0; }}
.cmp li {{ display: grid; grid-template-columns: auto 3.1em minmax(0, 1fr); gap: 0 .8em;
  padding: .55em 0; margin: 0; border-top: 1px solid var(--cmp-border); align-items: start; }}
.cmp li b {{ font-size: 1.3em; font-weight: 650; line-height: 1.15;
  font-variant-numeric: tabular-nums; }}
.cmp .name {{ overflow-wrap: anywhere; }}
.cmp h5 {{ margin: 0 0 .5em; font-size: 1rem; font-weight: 600; color: var(--cmp-muted); }}
.cmp h5 b {{ color: var(--cmp-text); font-size: 1.35em; font-weight: 650; }}
.cmp table {{ width: 100%; border-collapse: collapse; }}
.cmp th, .cmp td {{ text-align: left; vertical-align: top; padding: .5em .7em .5em 0;
  border-top: 1px solid var(--cmp-border); font-weight: 400; }}
.cmp thead th {{ border-top: 0; color: var(--cmp-muted); font-size: .875rem;
  overflow-wrap: anywhere; }}
.cmp .num {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap;
  min-width: 4.6em; }}
.cmp thead .num {{ white-space: normal; }}
.cmp tbody th {{ width: 13em; }}
.cmp .best {{ font-weight: 700; }}
.cmp .way {{ color: var(--cmp-muted); padding-left: 1.2em; }}
@media (max-width: 640px) {{
  .cmp table, .cmp tbody {{ display: block; }}
  .cmp thead {{ display: block; }}
  .cmp tr {{ display: flex; flex-wrap: wrap; }}
  .cmp tbody tr {{ border-top: 1px solid var(--cmp-border); padding: .4em 0; }}
  .cmp th, .cmp td {{ border: 0; padding: .1em .6em .1em 0; }}
  .cmp tbody th {{ flex: 1 1 100%; width: auto; font-weight: 600; }}
  .cmp .num {{ flex: 1 1 0; text-align: left; }}
  .cmp thead .blank {{ display: none; }}
  .cmp td.way {{ flex: 1 1 100%; padding-left: 0; font-size: .875rem; }} }}
</style>"""


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
