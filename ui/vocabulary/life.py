"""What a token was used for: its use over training, its children, its places in the corpus.

Belongs here: turning the engine's numbers into the values and sentences of the token life. Does
not belong here: the numbers (``bpe_core.analysis``), and how it is drawn
(``ui/components/token_life``).
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from bpe_core.analysis import vocabulary
from bpe_core.analysis.replay import TokenUse
from bpe_core.text import utf8
from ui.instruments import biography
from ui.session.state import Trained
from ui.vocabulary import facts
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
    """``use``, ``children`` and ``contexts`` of a token, each with a sentence."""
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
    """How often a token occurs in the corpus after each merge, and when most often.

    The second value is the number of merges then; None for a token that never occurs there.
    """
    tokenizer, corpus = trained.tokenizer, facts.corpus(trained)
    if token_id in tokenizer.special_tokens.values():
        return {"sentence": "A special token is there from the start and never merged."}, None
    try:
        use = facts.replay(trained).use(tokenizer.token_bytes(token_id))
    except ValueError as problem:
        return {"sentence": f"It cannot be told: {problem}."}, None
    if not use.ever:
        return {"sentence": f"It never stood in {corpus.name}."}, None
    kept = use.bends(_POINTS)
    return {
        "sentence": use_sentence(use),
        "n_merges": tokenizer.n_merges,
        "steps": kept.tolist(),
        "counts": use.counts[kept].tolist(),
        "born": use.born,
        "peak": use.peak,
        "most": use.most,
    }, use.peak


def use_sentence(use: TokenUse) -> str:
    """What is said of a token's use, from the first merge after which it occurs.

    >>> import numpy as np
    >>> use_sentence(TokenUse(np.array([0, 5, 5, 3])))
    'Born at merge 1 with 5 places; later merges took 2 of them into longer tokens, 3 are left.'
    >>> use_sentence(TokenUse(np.array([4, 4, 0, 0])))
    'There from the start with 4 places; merge 2 took the last of them into a longer token.'
    """
    says = f"Born at merge {use.born:,}" if use.born else "There from the start"
    says += f" with {count(use.at_birth, 'place')}"
    if use.peak != use.born:
        says += f", most often ({use.most:,}) after merge {use.peak:,}"
    if use.gone is not None:
        return f"{says}; merge {use.gone:,} took the last of them into a longer token."
    if use.left == use.most:
        return f"{says}; no later merge has taken any of them."
    verb = "is" if use.left == 1 else "are"
    return (
        f"{says}; later merges took {use.most - use.left:,} of them into longer tokens, "
        f"{use.left:,} {verb} left."
    )


# -- places -----------------------------------------------------------------------------------


def contexts(trained: Trained, token_id: int, peak: int | None) -> dict[str, Any]:
    """The first places of a token in the corpus, with the text around them.

    A token that longer ones have taken over is shown where it stood after ``peak`` merges.
    """
    tokenizer, corpus = trained.tokenizer, facts.corpus(trained)
    merges = None
    row = facts.entries(trained).row(token_id)
    n = int(facts.uses(trained)[row])
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
    found = vocabulary.places(tokenizer, corpus.text, token_id, PLACES, n_merges=merges)
    return {"sentence": says, "places": [_around(data, *place) for place in found]}


def _around(data: bytes, start: int, end: int) -> dict[str, str]:
    """A place and what is on both sides of it, each as Latin-1 text."""
    around = vocabulary.context(data, start, end, AROUND)
    return {name: part.decode("latin-1") for name, part in around._asdict().items()}
