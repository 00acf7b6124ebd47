"""Vocabulary sizes of any tokenizer: which there are, and how many merges each one means.

Belongs here: what the size sliders and curves ask. A tokenizer trained here has an entry for each
merge; an imported one may have entries that no merge makes, or several merges that make the same
entry. Does not belong here: widgets.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer


@functools.lru_cache(maxsize=16)
def births(tokenizer: Tokenizer) -> np.ndarray:
    """Return the ranks of the merges that make a new entry, in order, int64[n].

    >>> from bpe_core import Trainer
    >>> births(Trainer(258).train("aaabdaaabac").tokenizer).tolist()
    [0, 1]
    """
    ranks = tokenizer.birth_ranks
    return np.sort(ranks[ranks >= 0]).astype(np.int64)


def smallest(tokenizer: Tokenizer) -> int:
    """Return the number of entries before the first merge."""
    return tokenizer.vocab_size - len(births(tokenizer))


def largest(tokenizer: Tokenizer) -> int:
    """Return the number of entries after the last merge."""
    return tokenizer.vocab_size


def merges_for(tokenizer: Tokenizer, size: int) -> int:
    """Return the most merges that make no more than ``size`` entries.

    >>> from bpe_core import Tokenizer
    >>> vocab = {i: bytes([i]) for i in range(256)} | {300: b"ab", 301: b"bc", 302: b"abc"}
    >>> ab, bc = (b"a", b"b"), (b"b", b"c")
    >>> twice = Tokenizer.from_vocab(vocab, [ab, bc, (b"ab", b"c"), (b"a", b"bc")])
    >>> [merges_for(twice, size) for size in (200, 256, 258, 259, 500)]
    [0, 0, 2, 4, 4]
    """
    ranks = births(tokenizer)
    made = size - smallest(tokenizer)
    if made >= len(ranks):
        return tokenizer.n_merges
    return int(ranks[max(made, 0)])


def merges_at_sizes(tokenizer: Tokenizer) -> np.ndarray:
    """Return `merges_for` of every size from the smallest to the largest, int64[n]."""
    return np.append(births(tokenizer), tokenizer.n_merges)


def takes_whole(tokenizer: Tokenizer) -> bool:
    """Return whether it gives some pre-tokens an id without merging them."""
    return bool(tokenizer.whole)


def is_taken_whole(tokenizer: Tokenizer, pretoken: bytes) -> bool:
    """Return whether a pre-token is one of those."""
    return pretoken in tokenizer.whole


def why_fixed(tokenizer: Tokenizer) -> str | None:
    """Return why the merges cannot be replayed one by one, as a sentence; None if they can.

    >>> from bpe_core import Trainer
    >>> why_fixed(Trainer(258).train("abab").tokenizer) is None
    True
    """
    late = tokenizer.model.out_of_order
    if late is not None:
        return (
            f"Its merges are not listed in the order in which they were learned (merge {late + 1:,}"
            " uses a token that a later one makes), so smaller sizes cannot be shown."
        )
    if takes_whole(tokenizer):
        return (
            "It takes words that are entries themselves whole, without merging, so smaller sizes "
            "cannot be shown."
        )
    return None


def why_no_curve(tokenizer: Tokenizer) -> str | None:
    """Return why one encode does not give the tokens of every size; None if it does."""
    if tokenizer.preparation.plain or why_fixed(tokenizer):
        return why_fixed(tokenizer)
    return "It changes texts before it cuts them, so it is measured at its full size only."
