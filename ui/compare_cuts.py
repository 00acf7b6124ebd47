"""One short text, cut by up to four (tokenizer, size) columns, and where they disagree.

Belongs here: cutting, comparing the cuts, coloring them alike, example texts. Does not belong
here: how a cut is drawn (``components/token_view``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import streamlit as st

from bpe_core.tokenizer import Tokenizer
from ui import import_places
from ui.compare_curves import size_range
from ui.components.token_view import Cut
from ui.import_sizes import merges_for
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
    """Return the part of ``text`` that is drawn."""
    return text[:DRAWN]


def cut(tokenizer: Tokenizer, text: str, size: int, drawn: str) -> Cut:
    """Cut ``text`` with a vocabulary of ``size`` entries; ``drawn`` is its beginning.

    The last token of the drawn part is cut off where the part ends.
    """
    shorter = tokenizer.truncated(merges_for(tokenizer, size))
    ids, ends = import_places.spans(shorter, text)
    end = len(drawn.encode("utf-8", "replace"))
    n = int(np.searchsorted(ends, end)) + 1 if end else 0
    shown = np.minimum(ends[:n], end)
    special = np.isin(ids[:n], np.fromiter(tokenizer.special_tokens.values(), np.int64))
    return Cut(ids[:n], shown, special, len(ids), int(ends[-1]) if len(ends) else 0)


@st.cache_data(max_entries=64, show_spinner="Cutting the text.")
def cached_cut(tokenizer_key: str, text: str, size: int, drawn: str, _tokenizer: Tokenizer) -> Cut:
    """Do `cut`, once for each tokenizer, text and size."""
    return cut(_tokenizer, text, size, drawn)


def differences(columns: Sequence[tuple[Trained, int]], cuts: Sequence[Cut]) -> Differences:
    """Return what to underline: where columns disagree, or, with one tokenizer, what grew.

    Sizes of one tokenizer never contradict each other (the larger one only joins more), so there
    a column is compared with the one to its left.
    """
    if len({trained.key for trained, _ in columns}) == 1:
        legend = "Underlined: new, compared with the column to the left."
        none = np.zeros(len(cuts[0].ids), bool)
        return Differences(legend, [none, *(apart(pair)[1] for pair in pairwise(cuts))])
    return Differences("Underlined: some other column cuts this stretch differently.", apart(cuts))


@dataclass(frozen=True, eq=False)
class Differences:
    """Which tokens of each cut to underline, bool[n] for each, and what that means."""

    legend: str
    marked: list[np.ndarray]


def apart(cuts: Sequence[Cut]) -> list[np.ndarray]:
    """Return for each cut which of its tokens are not a token in every other one, bool[n].

    >>> one = Cut(np.array([1, 2]), np.array([2, 3]), np.zeros(2, bool), 2, 3)
    >>> two = Cut(np.array([1, 3, 2]), np.array([1, 2, 3]), np.zeros(3, bool), 3, 3)
    >>> [a.tolist() for a in apart([one, two])]
    [[True, False], [True, True, False]]
    """
    spans = [list(zip(_starts(c).tolist(), c.ends.tolist(), strict=True)) for c in cuts]
    common = set.intersection(*map(set, spans))
    return [np.array([span not in common for span in of_one], bool) for of_one in spans]


def hues(cuts: Sequence[Cut]) -> list[np.ndarray]:
    """Return the hue of each token, uint8[n]: tokens that start at one place look alike.

    The hue is the number of the start among the starts of all cuts, so that a token keeps its
    color from column to column. Neighbors never have the same one.
    """
    places = np.unique(np.concatenate([_starts(c) for c in cuts]))
    result = []
    for one in cuts:
        wanted = np.searchsorted(places, _starts(one)) % len(HUES)
        chosen = np.empty(len(wanted), np.uint8)
        before = len(HUES)
        for i, hue in enumerate(wanted.tolist()):
            chosen[i] = before = (hue + 3) % len(HUES) if hue == before else hue
        result.append(chosen)
    return result


def _starts(one: Cut) -> np.ndarray:
    return np.append(0, one.ends[:-1])[: len(one.ends)]


def first_columns(tokenizers: Sequence[Trained]) -> list[tuple[Trained, int]]:
    """Return the four columns to begin with: one tokenizer at four sizes, or several in turn.

    Several stand at their full size first, and at a quarter of their merges in further columns.
    """
    if len(tokenizers) == 1:
        return [_with_merges(tokenizers[0], part) for part in (0, 1 / 16, 1 / 4, 1)]
    full = [_with_merges(t, 1) for t in tokenizers]
    return [*full, *(_with_merges(t, 1 / 4) for t in tokenizers)][:MOST_COLUMNS]


def _with_merges(trained: Trained, share: float) -> tuple[Trained, int]:
    steps = size_range(trained.tokenizer)
    return trained, steps[0] + round((steps[-1] - steps[0]) * share)
