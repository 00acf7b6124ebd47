"""One short text, cut by up to four (tokenizer, size) columns, and where they disagree.

Belongs here: which columns there are, what is underlined, in words, example texts, the cache. Does
not belong here: cutting and comparing (``bpe_core.analysis.alignment``), and how a cut is drawn
(``components/token_view``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from bpe_core.analysis import alignment, sizes
from bpe_core.analysis.alignment import Cut
from bpe_core.tokenizer import Tokenizer
from ui.compare.curves import size_range
from ui.session.state import Trained
from ui.theme import HUES

MOST_COLUMNS = 4
LONGEST = 2_000_000  # characters of a text that may be cut
DRAWN = 2_000  # characters of the text that are drawn; the counts are those of the whole text

EXAMPLES = {
    "A sentence": "Every night, when the house was quiet, a small gray mouse ran up the old clock "
    'to look at the moon. "Hello, moon," she said. "You are late again."',
    "Numbers and code": "def total(prices):\n    return sum(p * 1.19 for p in prices)\n\n"
    "print(total([4.5, 12, 1234567.89]))  # 3 prices",
    "Several scripts": "The mouse looks at the moon.\nDie Maus schaut den Mond an.\n"
    "Мышка смотрит на луну.\nالفأرة تنظر إلى القمر.\n小老鼠看着月亮。\nचुहिया चाँद को देखती है।",
    "Blanks, signs, emoji": "tab:\tend  two blanks\u00a0no-break\n"
    "cafe\u0301 naïve \U0001f469\u200d\U0001f680 \U0001f642 e-mail@here.org <b>not bold</b>",
}


LEGEND = (
    "Tokens that start at the same place have the same color; point at one to see what covers it "
    "in the other columns."
)


def beginning(text: str) -> str:
    """The part of ``text`` that is drawn."""
    return text[:DRAWN]


@st.cache_data(max_entries=64, show_spinner="Cutting the text.")
def cached_cut(tokenizer_key: str, text: str, size: int, drawn: str, _tokenizer: Tokenizer) -> Cut:
    """Cut ``text`` with a vocabulary of ``size`` entries; ``drawn`` is its beginning."""
    return alignment.cut(sizes.at_size(_tokenizer, size), text, drawn)


def differences(columns: Sequence[tuple[Trained, int]], cuts: Sequence[Cut]) -> Differences:
    """What to underline: where columns disagree, or, with one tokenizer, what grew.

    Sizes of one tokenizer never contradict each other (the larger one only joins more), so there
    a column is compared with the one to its left.
    """
    if len({trained.key for trained, _ in columns}) == 1:
        legend = "Underlined: new, compared with the column to the left."
        return Differences(legend, alignment.grown(cuts))
    legend = "Underlined: some other column cuts this stretch differently."
    return Differences(legend, alignment.apart(cuts))


@dataclass(frozen=True, eq=False)
class Differences:
    """Which tokens of each cut to underline, bool[n] for each, and what that means."""

    legend: str
    marked: list[np.ndarray]


def hues(cuts: Sequence[Cut]) -> list[np.ndarray]:
    """The color of each token, a place in `theme.HUES`, uint8[n]: it keeps it in every column."""
    return alignment.hues(cuts, len(HUES))


def first_columns(tokenizers: Sequence[Trained]) -> list[tuple[Trained, int]]:
    """The four columns to begin with: one tokenizer at four sizes, or several in turn.

    Several stand at their full size first, and at a quarter of their merges in further columns.
    """
    if len(tokenizers) == 1:
        return [_with_merges(tokenizers[0], part) for part in (0, 1 / 16, 1 / 4, 1)]
    full = [_with_merges(t, 1) for t in tokenizers]
    return [*full, *(_with_merges(t, 1 / 4) for t in tokenizers)][:MOST_COLUMNS]


def _with_merges(trained: Trained, share: float) -> tuple[Trained, int]:
    steps = size_range(trained.tokenizer)
    return trained, steps[0] + round((steps[-1] - steps[0]) * share)
