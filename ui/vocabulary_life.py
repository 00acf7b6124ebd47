"""What a token was used for: its use over training, its children, its places in the corpus.

Belongs here: turning the engine's numbers into the values and sentences of the token life. Does
not belong here: how it is drawn (``ui/components/token_life``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from bpe_core import vocabulary as engine
from bpe_core.pretokenize import utf8
from ui import biography, vocabulary_data
from ui.session.state import Trained
from ui.words import count

#: Places shown, and bytes of the text on each side of one.
PLACES = 6
AROUND = 44

_POINTS = 300  # of a drawn line; more cannot be seen


@st.cache_data(max_entries=256, show_spinner="Looking through the text.")
def cached_life(tokenizer_key: str, token_id: int, _trained: Trained) -> dict[str, Any]:
    """Do `life`, once for each tokenizer and token."""
    return life(_trained, token_id)


def life(trained: Trained, token_id: int) -> dict[str, Any]:
    """Return ``use``, ``children`` and ``contexts`` of a token, each with a sentence."""
    used, peak = use(trained, token_id)
    n, first = biography.children(trained.tokenizer, token_id)
    return {
        "id": token_id,
        "use": used,
        "children": {"n": n, "first": first, "sentence": _family(n)},
        "contexts": contexts(trained, token_id, peak),
    }


def _family(n: int) -> str:
    if not n:
        return "No merge makes a longer token of it."
    return f"{count(n, 'token')} {'is' if n == 1 else 'are'} made of it and another token."


# -- use over training ------------------------------------------------------------------------


def use(trained: Trained, token_id: int) -> tuple[dict[str, Any], int | None]:
    """Return how often a token stood in the corpus after each merge, and when most often.

    The second value is the number of merges then; None for a token that never stood there.
    """
    tokenizer, corpus = trained.tokenizer, vocabulary_data.corpus(trained)
    if token_id in tokenizer.special_tokens.values():
        return {"sentence": "A special token is there from the start and never merged."}, None
    try:
        stood = vocabulary_data.replay(trained).standing(tokenizer.token_bytes(token_id))
    except ValueError as problem:
        return {"sentence": f"It cannot be told: {problem}."}, None
    if not stood.any():
        return {"sentence": f"It never stood in {corpus.name}."}, None
    born = int(np.argmax(stood > 0))
    peak = int(np.argmax(stood))
    kept = _drawn(stood, born, peak)
    return {
        "sentence": use_sentence(stood),
        "n_merges": tokenizer.n_merges,
        "steps": kept.tolist(),
        "counts": stood[kept].tolist(),
        "born": born,
        "peak": peak,
        "most": int(stood[peak]),
    }, peak


def use_sentence(stood: np.ndarray) -> str:
    """Return what int64[n_merges + 1] numbers of places say, from the first that is not 0.

    >>> use_sentence(np.array([0, 5, 5, 3]))
    'Born at merge 1 with 5 places; later merges took 2 of them into longer tokens, 3 are left.'
    >>> use_sentence(np.array([4, 4, 0, 0]))
    'There from the start with 4 places; merge 2 took the last of them into a longer token.'
    """
    born, peak = int(np.argmax(stood > 0)), int(np.argmax(stood))
    at_birth, most, left = (int(stood[k]) for k in (born, peak, -1))
    says = f"Born at merge {born:,}" if born else "There from the start"
    says += f" with {count(at_birth, 'place')}"
    if peak != born:
        says += f", most often ({most:,}) after merge {peak:,}"
    if not left:
        gone = len(stood) - int(np.argmax(stood[::-1] > 0))
        return f"{says}; merge {gone:,} took the last of them into a longer token."
    if left == most:
        return f"{says}; no later merge has taken any of them."
    verb = "is" if left == 1 else "are"
    return (
        f"{says}; later merges took {most - left:,} of them into longer tokens, "
        f"{left:,} {verb} left."
    )


def _drawn(stood: np.ndarray, born: int, peak: int) -> np.ndarray:
    """Return the numbers of merges at which the drawn line bends, in order."""
    bends = np.flatnonzero(np.diff(stood, prepend=-1))
    if len(bends) > _POINTS:
        bends = bends[np.linspace(0, len(bends) - 1, _POINTS).astype(int)]
    return np.union1d(bends, [0, born, peak, len(stood) - 1])


# -- places -----------------------------------------------------------------------------------


def contexts(trained: Trained, token_id: int, peak: int | None) -> dict[str, Any]:
    """Return the first places of a token in the corpus, with the text around them.

    A token that longer ones have taken over is shown where it stood after ``peak`` merges.
    """
    tokenizer, corpus = trained.tokenizer, vocabulary_data.corpus(trained)
    vocabulary = vocabulary_data.entries(trained)
    merges = None
    n = int(vocabulary_data.uses(trained)[vocabulary.row(token_id)])
    if n:
        shown = "all" if n <= PLACES else f"the first {PLACES}"
        says = (
            f"It stands once in {corpus.name}, cut with all merges."
            if n == 1
            else f"It stands {n:,} times in {corpus.name}, cut with all merges; here {shown}."
        )
    elif peak is not None:
        merges = peak
        says = (
            f"It stands nowhere in {corpus.name} cut with all merges; "
            f"here it stood after merge {peak:,}."
        )
    else:
        return {"sentence": f"It stands nowhere in {corpus.name}.", "places": []}
    data = utf8(tokenizer.prepared(corpus.text))
    found = engine.places(tokenizer, corpus.text, token_id, PLACES, n_merges=merges)
    return {"sentence": says, "places": [around(data, *place) for place in found]}


def around(data: bytes, start: int, end: int) -> dict[str, str]:
    """Return data[start:end] and what stands on both sides, each as Latin-1 text.

    Outer ends fall between characters.

    >>> around("the é old".encode(), 4, 6)["after"]
    ' old'
    """
    first, last = max(0, start - AROUND), min(len(data), end + AROUND)
    while first < start and data[first] & 0xC0 == 0x80:
        first += 1
    while end < last < len(data) and data[last] & 0xC0 == 0x80:
        last -= 1
    pieces = {"before": data[first:start], "token": data[start:end], "after": data[end:last]}
    return {name: piece.decode("latin-1") for name, piece in pieces.items()}
