"""Vocabulary sizes of any tokenizer: which there are, and how many merges each one means.

A tokenizer that was trained has an entry for each merge. An imported one may have entries that no
merge makes, or several merges that make the same entry.

Belongs here: the arithmetic between sizes and merges, and whether a tokenizer has smaller sizes.
Does not belong here: what a text costs at a size (`curves`, `measures`).
"""

from __future__ import annotations

import functools

import numpy as np

from bpe_core.tokenizer import Tokenizer


@functools.lru_cache(maxsize=16)  # sliders ask again and again
def births(tokenizer: Tokenizer) -> np.ndarray:
    """Ranks of the merges that make a new entry, in order, int64[n], not to be written to.

    >>> from bpe_core import Trainer
    >>> births(Trainer(258).train("aaabdaaabac").tokenizer).tolist()
    [0, 1]
    """
    ranks = tokenizer.birth_ranks
    found = np.sort(ranks[ranks >= 0]).astype(np.int64)
    found.flags.writeable = False
    return found


def smallest(tokenizer: Tokenizer) -> int:
    """Number of entries before the first merge.

    >>> from bpe_core import Trainer
    >>> smallest(Trainer(258, ["<|x|>"]).train("aaab").tokenizer)
    257
    """
    return tokenizer.vocab_size - len(births(tokenizer))


def largest(tokenizer: Tokenizer) -> int:
    """Number of entries after the last merge.

    >>> from bpe_core import Trainer
    >>> largest(Trainer(258, ["<|x|>"]).train("aaab").tokenizer)
    258
    """
    return tokenizer.vocab_size


def merges_for(tokenizer: Tokenizer, size: int) -> int:
    """The most merges that make no more than `size` entries.

    >>> from bpe_core import Tokenizer
    >>> vocab = {i: bytes([i]) for i in range(256)} | {300: b"ab", 301: b"bc", 302: b"abc"}
    >>> ab, bc = (b"a", b"b"), (b"b", b"c")
    >>> twice = Tokenizer.from_vocab(vocab, [ab, bc, (b"ab", b"c"), (b"a", b"bc")])
    >>> [merges_for(twice, size) for size in (200, 256, 258, 259, 500)]
    [0, 0, 2, 4, 4]
    """
    ranks = births(tokenizer)
    made = size - (tokenizer.vocab_size - len(ranks))
    if made >= len(ranks):
        return tokenizer.n_merges
    return int(ranks[max(made, 0)])


def merges_at_sizes(tokenizer: Tokenizer) -> np.ndarray:
    """`merges_for` of every size from the smallest to the largest, int64[n].

    >>> from bpe_core import Trainer
    >>> merges_at_sizes(Trainer(258).train("aaabdaaabac").tokenizer).tolist()
    [0, 1, 2]
    """
    return np.append(births(tokenizer), tokenizer.n_merges)


def at_size(tokenizer: Tokenizer, size: int) -> Tokenizer:
    """The tokenizer cut to a vocabulary of at most `size` entries.

    >>> from bpe_core import Trainer
    >>> at_size(Trainer(258).train("aaabdaaabac").tokenizer, 257).encode("aaa")
    [256, 97]
    """
    return tokenizer.truncated(merges_for(tokenizer, size))


def has_smaller_sizes(tokenizer: Tokenizer) -> bool:
    """Whether its merges can be done one by one, so that each smaller size is a tokenizer.

    They cannot where a merge uses a token that a later one makes, and where pre-tokens that are
    entries get their id without being merged.

    >>> from bpe_core import Trainer
    >>> has_smaller_sizes(Trainer(258).train("abab").tokenizer)
    True
    """
    return tokenizer.model.out_of_order is None and not tokenizer.ignore_merges


def has_curve(tokenizer: Tokenizer) -> bool:
    """Whether one encode of a text gives its tokens at every size.

    It does not where the tokenizer changes texts before it cuts them.

    >>> from bpe_core import Trainer
    >>> has_curve(Trainer(258).train("abab").tokenizer)
    True
    """
    only_cut = tokenizer.preparation.only_cuts(tokenizer.special_tokens)
    return only_cut and has_smaller_sizes(tokenizer)
