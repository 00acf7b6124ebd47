"""Measures of a tokenizer at one vocabulary size on one text, each with which way is better.

Belongs here: how often each token occurs, read off the join ranks of the distinct pre-tokens, and
the numbers that follow from it. Does not belong here: curves over all sizes (``compare_curves``)
and how the table looks (``compare_tables``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from bpe_core.counting import count_pretokens
from bpe_core.model import NEVER
from bpe_core.tokenizer import Tokenizer
from ui import import_sizes
from ui.compare_curves import Curve
from ui.compare_texts import EvalText
from ui.import_sizes import merges_for
from ui.session.state import Trained

_CHUNK = 1 << 20  # characters split into words at a time
_LONG_WORD = 40  # bytes; where words are longer on average, blanks do not separate words
_ALPHA = 2.5  # order of the entropy behind "evenness"


@dataclass(frozen=True, eq=False)
class JoinedPieces:
    """A text as its distinct pre-tokens, with the rank that joins each byte to the next.

    ``data`` uint8[n]; ``ranks`` int32[n], NEVER after a pre-token's last byte; ``counts`` int64,
    how often each pre-token occurs; ``piece`` int32[n], the pre-token each byte belongs to.
    """

    data: np.ndarray
    ranks: np.ndarray
    counts: np.ndarray
    piece: np.ndarray


def join_pieces(tokenizer: Tokenizer, text: str) -> JoinedPieces:
    """Encode each distinct pre-token of ``text`` once.

    >>> from bpe_core import Trainer
    >>> joined = join_pieces(Trainer(258).train("aaabdaaabac").tokenizer, "aaab")
    >>> joined.ranks.tolist()[:3]
    [0, 1, 2147483647]
    """
    counter, _ = count_pretokens(text, tokenizer.pretokenizer, tokenizer.special_tokens)
    data, borders = counter.data, counter.offsets
    ranks = np.full(data.size, NEVER, np.int32)
    if data.size:
        tokenizer.model.join_ranks(data, borders[1:], 0, ranks)
    piece = np.repeat(np.arange(len(counter), dtype=np.int32), np.diff(borders))
    return JoinedPieces(data.copy(), ranks, counter.counts.copy(), piece)


def token_histogram(tokenizer: Tokenizer, joined: JoinedPieces, n_merges: int) -> np.ndarray:
    """Return how often each id occurs after the first ``n_merges``, int64 shape (max id + 1,).

    A token ends where the rank is not below ``n_merges``; its id is the one that the largest rank
    inside it makes, or its byte's.

    >>> from bpe_core import Trainer
    >>> tokenizer = Trainer(258).train("aaabdaaabac").tokenizer
    >>> joined = join_pieces(tokenizer, "aaabdaaabac")
    >>> {int(i): int(n) for i, n in enumerate(token_histogram(tokenizer, joined, 2)) if n}
    {97: 1, 98: 2, 99: 1, 100: 1, 257: 2}
    """
    kept = joined.ranks >= n_merges
    ends = np.flatnonzero(kept)
    starts = np.append(0, ends[:-1] + 1)[: len(ends)]
    if not len(ends):
        return np.zeros(max(tokenizer.vocab) + 1, np.int64)
    top = np.maximum.reduceat(np.where(kept, -1, joined.ranks), starts)
    ids = tokenizer.byte_ids[joined.data[starts]].astype(np.int64)
    merged = top >= 0
    ids[merged] = tokenizer.merge_ids[top[merged], 2]
    histogram = np.zeros(max(tokenizer.vocab) + 1, np.int64)
    np.add.at(histogram, ids, joined.counts[joined.piece[starts]])
    return histogram


def encoded_histogram(tokenizer: Tokenizer, text: str) -> np.ndarray:
    """Return how often each id occurs in ``text``, int64 shape (max id + 1,); 0 for special tokens.

    For tokenizers whose merges cannot be replayed.
    """
    ids = tokenizer.encode_to_array(text)
    histogram = np.bincount(ids, minlength=max(tokenizer.vocab) + 1).astype(np.int64)
    for special in tokenizer.special_tokens.values():
        histogram[special] = 0
    return histogram


@dataclass(frozen=True)
class Measures:
    """What the table shows, for one tokenizer at one size on one text.

    ``entries`` counts the vocabulary without special tokens; ``used`` those that occur;
    ``single_byte`` and ``broken`` count tokens of one byte and tokens that hold only a part of a
    character; ``evenness`` lies between 0 and 1.
    """

    n_bytes: int
    tokens: int
    words: int
    entries: int
    used: int
    single_byte: int
    broken: int
    evenness: float


def measure(tokenizer: Tokenizer, histogram: np.ndarray, n_merges: int, words: int) -> Measures:
    """Return the measures of a text whose tokens occur as often as ``histogram`` says."""
    used = np.flatnonzero(histogram)
    spelled = [tokenizer.token_bytes(int(i)) for i in used]
    often = histogram[used]
    n_bytes = int(sum(len(b) * int(n) for b, n in zip(spelled, often, strict=True)))
    if import_sizes.takes_whole(tokenizer):
        entries = tokenizer.vocab_size - len(tokenizer.special_tokens)
    else:
        made = np.concatenate([tokenizer.byte_ids, tokenizer.merge_ids[:n_merges, 2]])
        entries = len(np.unique(made))
    return Measures(
        n_bytes=n_bytes,
        tokens=int(often.sum()),
        words=words,
        entries=entries,
        used=len(used),
        single_byte=int(sum(n for b, n in zip(spelled, often, strict=True) if len(b) == 1)),
        broken=int(sum(n for b, n in zip(spelled, often, strict=True) if not _is_text(b))),
        evenness=evenness(often, entries),
    )


def evenness(often: np.ndarray, entries: int) -> float:
    """Return how evenly the entries are used: 1 if all alike, near 0 if one does all the work.

    Renyi entropy of order 2.5 over the logarithm of the number of entries (Zouhar et al. 2023,
    "Tokenization and the Noiseless Channel").

    >>> evenness(np.array([5, 5, 5, 5]), 4), evenness(np.array([20]), 4)
    (1.0, 0.0)
    """
    if not len(often) or entries < 2:
        return float("nan")
    shares = often / often.sum()
    return float(np.log(np.sum(shares**_ALPHA)) / (1 - _ALPHA) / np.log(entries)) + 0.0


def count_words(text: str) -> int:
    """Return the number of stretches between blanks, without holding them all at once.

    >>> count_words("one  two\\nthree")
    3
    """
    n = 0
    for start in range(0, len(text), _CHUNK):
        chunk = text[start : start + _CHUNK]
        n += len(chunk.split())
        if start and not text[start - 1].isspace() and not chunk[0].isspace():
            n -= 1  # the cut went through a word
    return n


def _is_text(token: bytes) -> bool:
    try:
        token.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


# -- cached -----------------------------------------------------------------------------------


@st.cache_resource(max_entries=4, show_spinner="Counting the tokens of the text.")
def _joined(
    tokenizer_key: str, text_id: str, _tokenizer: Tokenizer, _read: Callable[[], str]
) -> tuple[JoinedPieces, int]:
    text = _read()
    return join_pieces(_tokenizer, text), count_words(text)


@st.cache_data(max_entries=256, show_spinner=False)
def _measures(
    tokenizer_key: str, text_id: str, n_merges: int, _trained: Trained, _text: EvalText
) -> Measures:
    tokenizer = _trained.tokenizer
    if import_sizes.why_no_curve(tokenizer):
        text = _text.read()
        return measure(tokenizer, encoded_histogram(tokenizer, text), n_merges, count_words(text))
    joined, words = _joined(tokenizer_key, text_id, tokenizer, _text.read)
    return measure(tokenizer, token_histogram(tokenizer, joined, n_merges), n_merges, words)


def at_size(lines: Sequence[Curve], size: int) -> list[tuple[Curve, int, Measures]]:
    """Return each line with the size it is measured at (at most its own) and its measures."""
    return [
        (line, (at := line.reading(size).size), _measures_of(line.trained, line.text, at))
        for line in lines
    ]


def _measures_of(trained: Trained, text: EvalText, size: int) -> Measures:
    n_merges = merges_for(trained.tokenizer, size)
    return _measures(trained.key, text.id, n_merges, trained, text)


# -- what the table says ----------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A row of the table: how to compute and write a measure, and which way is better (+1, -1)."""

    name: str
    better: int
    meaning: str
    value: Callable[[Measures], float]
    write: Callable[[float], str]


def _share(x: float) -> str:
    return f"{100 * x:.1f} %"


def _ratio(a: int, b: int) -> float:
    return a / b if b else float("nan")


ROWS = (
    Row(
        "Bytes per token",
        +1,
        "Higher is better: each token carries more text.",
        lambda m: _ratio(m.n_bytes, m.tokens),
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
        lambda m: _ratio(m.tokens, m.words if m.n_bytes < _LONG_WORD * m.words else 0),
        lambda x: f"{x:.2f}",
    ),
    Row(
        "Vocabulary used",
        +1,
        "Higher is better: an entry that never occurs takes room and learns nothing. Many of "
        "the 256 bytes never occur in one language.",
        lambda m: _ratio(m.used, m.entries),
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
        lambda m: _ratio(m.single_byte, m.tokens),
        _share,
    ),
    Row(
        "Tokens with a part of a character",
        -1,
        "Lower is better: such a token means nothing without its neighbors. 0 in plain "
        "English, where each letter is one byte.",
        lambda m: _ratio(m.broken, m.tokens),
        _share,
    ),
)
