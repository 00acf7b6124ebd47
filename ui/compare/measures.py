"""The table of measures: a tokenizer at one vocabulary size on one text, and which way is better.

Belongs here: the rows of the table in words, and the caches. Does not belong here: the numbers
(``bpe_core.analysis.measures``), curves over all sizes (``curves``) and how the table looks
(``tables``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from bpe_core.analysis import measures, sizes
from bpe_core.analysis.measures import Measures
from bpe_core.analysis.replay import Replay
from bpe_core.tokenizer import Tokenizer
from ui.compare.curves import Curve
from ui.compare.texts import EvalText
from ui.session.state import Trained

# -- cached -----------------------------------------------------------------------------------


@st.cache_resource(max_entries=4, show_spinner="Counting the tokens of the text.")
def _replay(
    tokenizer_key: str, text_id: str, _tokenizer: Tokenizer, _read: Callable[[], str]
) -> tuple[Replay, int]:
    text = _read()
    return Replay(_tokenizer, text), measures.count_words(text)


@st.cache_data(max_entries=256, show_spinner=False)
def _measures(
    tokenizer_key: str, text_id: str, n_merges: int, _trained: Trained, _text: EvalText
) -> Measures:
    tokenizer = _trained.tokenizer
    if not sizes.has_curve(tokenizer):
        return measures.measures_of(tokenizer, _text.read())
    replay, words = _replay(tokenizer_key, text_id, tokenizer, _text.read)
    return measures.measure(tokenizer, replay.histogram(n_merges), n_merges, words)


def at_size(lines: Sequence[Curve], size: int) -> list[tuple[Curve, int, Measures]]:
    """Each line with the size it is measured at (at most its own) and its measures."""
    return [
        (line, (at := line.reading(size).size), _measures_of(line.trained, line.text, at))
        for line in lines
    ]


def _measures_of(trained: Trained, text: EvalText, size: int) -> Measures:
    n_merges = sizes.merges_for(trained.tokenizer, size)
    return _measures(trained.key, text.id, n_merges, trained, text)


# -- what the table says ----------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A row of the table: a measure, how it is written, and which way is better (+1, -1)."""

    name: str
    better: int
    meaning: str
    value: Callable[[Measures], float]
    write: Callable[[float], str]


def _share(x: float) -> str:
    return f"{100 * x:.1f} %"


ROWS = (
    Row(
        "Bytes per token",
        +1,
        "Higher is better: each token carries more text.",
        lambda m: m.bytes_per_token,
        lambda x: f"{x:.2f}",
    ),
    Row(
        "Tokens",
        -1,
        "Lower is better: a model reads and pays by the token.",
        lambda m: float(m.tokens),
        lambda x: f"{x:,.0f}",
    ),
    Row(
        "Tokens per word",
        -1,
        "Lower is better, down to about 1: then most words are one token. Left out where the "
        "text has few blanks, as in Chinese.",
        lambda m: m.tokens_per_word,
        lambda x: f"{x:.2f}",
    ),
    Row(
        "Vocabulary used",
        +1,
        "Higher is better: an entry that never occurs takes room and learns nothing. Many of "
        "the 256 bytes never occur in one language.",
        lambda m: m.share_used,
        _share,
    ),
    Row(
        "Evenness of use",
        +1,
        "Higher is better: 100 % if all entries are equally frequent, low if a few do nearly "
        "all the work.",
        lambda m: m.evenness,
        _share,
    ),
    Row(
        "Single-byte tokens",
        -1,
        "Lower is better: these are the places where no merge fits.",
        lambda m: m.share_single_byte,
        _share,
    ),
    Row(
        "Tokens with a part of a character",
        -1,
        "Lower is better: such a token means nothing without its neighbors. 0 in plain "
        "English, where each letter is one byte.",
        lambda m: m.share_broken,
        _share,
    ),
)
