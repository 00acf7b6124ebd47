"""What the Vocabulary page knows of a tokenizer, worked out once and kept for a while.

Belongs here: calling the engine, and the caches. They are keyed by the tokenizer's key, which
nobody can guess, so nothing of one visitor is shown to another. Does not belong here: widgets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from bpe_core.analysis import vocabulary
from bpe_core.analysis.replay import Replay
from bpe_core.analysis.vocabulary import Vocabulary
from ui.session import state
from ui.session.state import Trained


@dataclass(frozen=True)
class CountedText:
    """The text that use is counted in; ``name`` says which, for sentences."""

    text: str
    name: str


def corpus(trained: Trained) -> CountedText:
    """The text a tokenizer was trained on, or the sample if it came without one."""
    if trained.text:
        return CountedText(trained.text, "its training text")
    sample = state.built_in().wait()
    return CountedText(sample.text, f"the sample “{sample.name.rsplit(' · ', 1)[0]}”")


def entries(trained: Trained) -> Vocabulary:
    """The decoded vocabulary."""
    return _entries(trained.key, trained)


@st.cache_resource(max_entries=16, show_spinner="Reading the vocabulary.")
def _entries(key: str, _trained: Trained) -> Vocabulary:
    return Vocabulary.of(_trained.tokenizer)


def uses(trained: Trained) -> np.ndarray:
    """How often each entry occurs in the corpus, int64[n] in order of the rows."""
    return _uses(trained.key, trained)


@st.cache_resource(max_entries=16, show_spinner="Counting the tokens of the text.")
def _uses(key: str, _trained: Trained) -> np.ndarray:
    counts = vocabulary.uses(_trained.tokenizer, corpus(_trained).text)
    of_entries: np.ndarray = counts[entries(_trained).ids]
    return of_entries


def unreachable(trained: Trained) -> np.ndarray:
    """Which entries do not encode to themselves, bool[n]."""
    return _unreachable(trained.key, trained)


@st.cache_resource(max_entries=16, show_spinner="Encoding every token.")
def _unreachable(key: str, _trained: Trained) -> np.ndarray:
    return vocabulary.unreachable(_trained.tokenizer, entries(_trained))


def replay(trained: Trained) -> Replay:
    """The corpus with its join ranks; ValueError where merges are no history."""
    return _replay(trained.key, trained)


@st.cache_resource(max_entries=4, show_spinner="Replaying the merges.")
def _replay(key: str, _trained: Trained) -> Replay:
    return Replay(_trained.tokenizer, corpus(_trained).text)


def overlap(here: Trained, there: Trained) -> tuple[np.ndarray, np.ndarray]:
    """Which entries of each of two tokenizers the other one has too, two bool arrays."""
    return _overlap(here.key, there.key, here, there)


@st.cache_resource(max_entries=16, show_spinner="Comparing the two vocabularies.")
def _overlap(
    here_key: str, there_key: str, _here: Trained, _there: Trained
) -> tuple[np.ndarray, np.ndarray]:
    return vocabulary.overlap(entries(_here), entries(_there))
