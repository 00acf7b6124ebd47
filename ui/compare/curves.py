"""Compression against vocabulary size: one encode of a text gives the curve of every size.

Belongs here: the curves of the chosen tokenizers on the chosen texts, cached, and what they say
at one size, in words. Does not belong here: the arithmetic (``bpe_core.analysis.curves``), how
curves are drawn (``charts``) and what the texts are (``texts``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from bpe_core import analysis
from bpe_core.analysis import sizes
from bpe_core.analysis.curves import CompressionCurve, Reading
from bpe_core.tokenizer import Tokenizer
from ui.compare import texts
from ui.compare.texts import EvalText
from ui.instruments import size_slider
from ui.instruments.charts import Line
from ui.session.state import Trained

LOOK = (
    "Look where a line flattens: from there on, twice as many entries save few tokens. "
    "Solid lines are text the tokenizer was trained on, broken lines text it never saw; "
    "choose by a broken line of text like yours."
)


def size_range(tokenizer: Tokenizer) -> list[int]:
    """The steps of the size slider of one tokenizer; one step if it has one size."""
    if not sizes.has_smaller_sizes(tokenizer):
        return [sizes.largest(tokenizer)]
    return size_slider.between(sizes.smallest(tokenizer), sizes.largest(tokenizer))


@dataclass(frozen=True, eq=False)
class Curve:
    """One line of the chart: a tokenizer on a text, and the numbers of it in ``curve``.

    ``label`` is the short sign that stands at the line and in the tables, ``name`` what it shows in
    words; ``hue`` and ``dash`` are places in the lists of ``charts``.
    """

    label: str
    name: str
    trained: Trained
    text: EvalText
    curve: CompressionCurve
    hue: int
    dash: int

    @property
    def sizes(self) -> np.ndarray:
        """Vocabulary sizes, int64[n]."""
        return self.curve.sizes

    @property
    def values(self) -> np.ndarray:
        """Bytes per token at each of the sizes, float64[n]."""
        return self.curve.values

    def reading(self, size: int) -> Reading:
        """What the curve says at ``size``, or at its end if it does not go so far."""
        return self.curve.reading(size)


def gain(says: Reading) -> str:
    """The gain of a reading in words.

    >>> gain(Reading(2000, 3.1, 900, 4000, 0.09, False))
    'doubling to 4,000 gains 9 %'
    """
    percent = _percent(says.gain)
    if says.only:
        return f"measured at its full size, {says.size:,}"
    if says.other == says.size:
        return "no merges"
    if says.other > says.size:
        how = "doubling" if says.other == 2 * says.size else "going on"
        return f"{how} to {says.other:,} gains {percent}"
    ends = f"ends at {says.size:,}; " if says.short else ""
    return f"{ends}the last {says.size - says.other:,} entries gained {percent}"


def _percent(share: float) -> str:
    if share <= 0:
        return "nothing"
    if share < 0.001:
        return "less than 0.1 %"
    digits = 1 if share < 0.0995 else 0
    return f"{100 * share:.{digits}f}".removesuffix(".0") + " %"


@st.cache_data(max_entries=64, show_spinner="Encoding the text once; every size follows from it.")
def _counts(
    tokenizer_key: str, text_id: str, _tokenizer: Tokenizer, _read: Callable[[], str]
) -> np.ndarray:
    return analysis.curves.counts_at_sizes(_tokenizer, _read())


@st.cache_data(max_entries=256, show_spinner="Encoding the text.")
def whole(
    tokenizer_key: str, text_id: str, _tokenizer: Tokenizer, _read: Callable[[], str]
) -> tuple[int, int]:
    """Tokens and bytes of a text at the full size; special tokens are in neither."""
    return analysis.curves.full_size(_tokenizer, _read())


def measured(trained: Trained, text: EvalText) -> CompressionCurve:
    """The tokens of a text at each size; what training measured by itself is taken from there."""
    tokenizer, trace = trained.tokenizer, trained.trace
    if text.id == f"learned:{trained.key}" and trace is not None:
        counts = analysis.curves.counts_of_training(trace)
    elif text.id == f"held out:{trained.key}" and trained.held_out_counts is not None:
        counts = trained.held_out_counts
    elif sizes.has_curve(tokenizer):
        counts = _counts(trained.key, text.id, tokenizer, text.read)
    else:
        tokens, n_bytes = whole(trained.key, text.id, tokenizer, text.read)
        return CompressionCurve.of_full_size(tokenizer, tokens, n_bytes)
    return CompressionCurve.of_counts(tokenizer, counts)


def curves(
    tokenizers: Sequence[Trained], chosen: Mapping[str, str], known: Sequence[Trained]
) -> list[Curve]:
    """The curve of each tokenizer on each of the chosen texts (choice -> name).

    With several tokenizers the hue tells them apart and the dash the texts; with one tokenizer
    the hue tells the texts apart. A text it was trained on is always solid.
    """
    found: list[Curve] = []
    several = len(tokenizers) > 1
    for i, trained in enumerate(tokenizers):
        for j, (choice, name) in enumerate(chosen.items()):
            text = texts.resolve(choice, name, trained, known)
            if text is None:
                continue
            curve = measured(trained, text)
            if curve.counts[0] == 0:
                continue
            label = _label(i, j, several, len(chosen) > 1)
            shown = f"{trained.name} on {_lower(choice, text.name)}" if several else name
            dash = 0 if text.learned else 1 + (j - 1) % 4
            hue = i if several else j
            found.append(Curve(label, shown, trained, text, curve, hue, dash))
    return found


def _lower(choice: str, name: str) -> str:
    """The name of a text inside a sentence; titles of samples stay as they are."""
    return name[:1].lower() + name[1:] if choice == texts.OWN else name


def _label(i: int, j: int, several_tokenizers: bool, several_texts: bool) -> str:
    if not several_tokenizers:
        return str(j + 1)
    return "ABCD"[i] + (str(j + 1) if several_texts else "")


def sizes_of(lines: Iterable[Curve]) -> list[int]:
    """The steps of the slider that goes with these lines."""
    ends = [(line.curve.smallest, line.curve.largest) for line in lines]
    return size_slider.between(min(first for first, _ in ends), max(last for _, last in ends))


def drawn(lines: Iterable[Curve]) -> list[Line]:
    """The lines as the chart takes them."""
    return [Line(c.label, c.name, c.sizes, c.values, c.hue, c.dash) for c in lines]
