"""Compression against vocabulary size: one encode of a text gives the curve of every size.

Belongs here: the curves of the chosen tokenizers on the chosen texts, cached, and what they say
at one size. Does not belong here: how they are drawn (``charts``) or what the texts are
(``compare_texts``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from bpe_core import metrics
from bpe_core.pretokenize import utf8
from bpe_core.tokenizer import Tokenizer
from ui import compare_texts, import_sizes
from ui.compare_texts import EvalText
from ui.import_sizes import largest, smallest
from ui.instruments import size_steps
from ui.session.state import Trained


def size_range(tokenizer: Tokenizer) -> list[int]:
    """Return the steps of the size slider of one tokenizer; one step if it has one size."""
    if import_sizes.why_fixed(tokenizer):
        return [largest(tokenizer)]
    return size_steps.between(smallest(tokenizer), largest(tokenizer))


@dataclass(frozen=True, eq=False)
class Curve:
    """One line of the chart: a tokenizer on a text.

    ``counts`` has int64 shape (n,): tokens of the text at each size, the last of which is the whole
    vocabulary; one alone, with the ``whole_bytes`` of the text, where sizes cannot be replayed.
    ``label`` is the short sign that stands at the line and in the tables, ``name`` what it shows in
    words; ``hue`` and ``dash`` are places in the lists of ``charts``.
    """

    label: str
    name: str
    trained: Trained
    text: EvalText
    counts: np.ndarray
    hue: int
    dash: int
    whole_bytes: int | None = None

    @property
    def sizes(self) -> np.ndarray:
        """Vocabulary size at each of the counts, int64."""
        return largest(self.trained.tokenizer) + 1 + np.arange(-len(self.counts), 0)

    @property
    def n_bytes(self) -> int:
        """Bytes of the text; special tokens are not counted."""
        return int(self.counts[0]) if self.whole_bytes is None else self.whole_bytes

    @property
    def values(self) -> np.ndarray:
        """Bytes per token at each of the counts, float64."""
        return metrics.bytes_per_token(self.n_bytes, self.counts)

    def reading(self, size: int) -> Reading:
        """Return what the curve says at ``size``, or at its end if it does not go so far."""
        first, end, values = int(self.sizes[0]), int(self.sizes[-1]), self.values
        at = min(max(size, first), end)
        k = at - first
        other = min(2 * at, end) if at < end else max((at + first) // 2, end - 100, first)
        ratio = float(values[other - first] / values[k])
        gain = ratio - 1 if at < end else 1 / ratio - 1
        only = self.whole_bytes is not None
        return Reading(at, float(values[k]), int(self.counts[k]), other, gain, at < size, only)


@dataclass(frozen=True)
class Reading:
    """A curve at ``size``: bytes per token, tokens, and what going from or to ``other`` gains.

    ``gain`` is a share (0.09 for 9 %); ``short`` says that the curve ends before the size asked
    for, ``only`` that the tokenizer has this one size.
    """

    size: int
    bytes_per_token: float
    tokens: int
    other: int
    gain: float
    short: bool
    only: bool = False

    @property
    def sentence(self) -> str:
        """The gain in words.

        >>> Reading(2000, 3.1, 900, 4000, 0.09, False).sentence
        'doubling to 4,000 gains 9 %'
        """
        percent = _percent(self.gain)
        if self.only:
            return f"measured at its full size, {self.size:,}"
        if self.other == self.size:
            return "no merges"
        if self.other > self.size:
            how = "doubling" if self.other == 2 * self.size else "going on"
            return f"{how} to {self.other:,} gains {percent}"
        ends = f"ends at {self.size:,}; " if self.short else ""
        return f"{ends}the last {self.size - self.other:,} entries gained {percent}"


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
    at_sizes = import_sizes.merges_at_sizes(_tokenizer)
    return metrics.corpus_token_counts(_tokenizer, _read())[at_sizes]


@st.cache_data(max_entries=256, show_spinner="Encoding the text.")
def whole(
    tokenizer_key: str, text_id: str, _tokenizer: Tokenizer, _read: Callable[[], str]
) -> tuple[int, int]:
    """Return tokens and bytes of a text at the full size; special tokens are in neither."""
    text = _read()
    specials = {i: len(utf8(token)) for token, i in _tokenizer.special_tokens.items()}
    ids = _tokenizer.encode_to_array(text)
    found = ids[np.isin(ids, list(specials))].tolist() if specials else []
    return len(ids) - len(found), len(utf8(text)) - sum(specials[i] for i in found)


def counts(trained: Trained, text: EvalText) -> np.ndarray:
    """Return the tokens of a text at each size, int64[n], as in `Curve`.

    What training measured by itself is taken from there.
    """
    trace = trained.trace
    if text.id == f"learned:{trained.key}" and trace is not None:
        return np.append(trace.initial_tokens, trace.corpus_tokens)
    if text.id == f"held out:{trained.key}" and trained.held_out_counts is not None:
        return trained.held_out_counts
    if import_sizes.why_no_curve(trained.tokenizer):
        return np.array(whole(trained.key, text.id, trained.tokenizer, text.read)[:1])
    return _counts(trained.key, text.id, trained.tokenizer, text.read)


def whole_bytes(trained: Trained, text: EvalText) -> int | None:
    """Return the bytes of a text where the counts do not begin with them; None where they do."""
    if import_sizes.why_no_curve(trained.tokenizer) is None:
        return None
    return whole(trained.key, text.id, trained.tokenizer, text.read)[1]


def curves(
    tokenizers: Sequence[Trained], chosen: Mapping[str, str], known: Sequence[Trained]
) -> list[Curve]:
    """Return the curve of each tokenizer on each of the chosen texts (choice -> name).

    With several tokenizers the hue tells them apart and the dash the texts; with one tokenizer
    the hue tells the texts apart. A text it was trained on is always solid.
    """
    found: list[Curve] = []
    several = len(tokenizers) > 1
    for i, trained in enumerate(tokenizers):
        for j, (choice, name) in enumerate(chosen.items()):
            text = compare_texts.resolve(choice, name, trained, known)
            if text is None:
                continue
            tokens = counts(trained, text)
            if tokens[0] == 0:
                continue
            label = _label(i, j, several, len(chosen) > 1)
            shown = f"{trained.name} on {_lower(choice, text.name)}" if several else name
            dash = 0 if text.learned else 1 + (j - 1) % 4
            hue, n_bytes = i if several else j, whole_bytes(trained, text)
            found.append(Curve(label, shown, trained, text, tokens, hue, dash, n_bytes))
    return found


def _lower(choice: str, name: str) -> str:
    """Return the name of a text inside a sentence; titles of samples stay as they are."""
    return name[:1].lower() + name[1:] if choice == compare_texts.OWN else name


def _label(i: int, j: int, several_tokenizers: bool, several_texts: bool) -> str:
    if not several_tokenizers:
        return str(j + 1)
    return "ABCD"[i] + (str(j + 1) if several_texts else "")


def sizes_of(lines: Iterable[Curve]) -> list[int]:
    """Return the steps of the slider that goes with these lines."""
    ends = [(int(line.sizes[0]), int(line.sizes[-1])) for line in lines]
    return size_steps.between(min(first for first, _ in ends), max(last for _, last in ends))
