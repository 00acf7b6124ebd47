"""What a token is made of, what is made of it, and how the pre-token around it was cut.

Belongs here: merge trees, children, the steps inside one pre-token, and the longest-match cut that
BPE is not. Does not belong here: how often a token occurs (`replay`, `vocabulary`).
"""

from __future__ import annotations

import functools
from typing import Literal, NamedTuple

import numpy as np

from bpe_core.text import utf8
from bpe_core.tokenizer import Tokenizer

from .alignment import typed_places

# --------------------------------------------------------------------------- tokens

Kind = Literal["byte", "merge", "special", "whole", "unreachable"]

#: Ages of tokens that no merge made: one byte, or a special token. Those of merges lie between.
AGE_BYTE, AGE_SPECIAL = 0, 255


def kind_of(tokenizer: Tokenizer, token_id: int) -> Kind:
    """How an entry comes about; KeyError naming an id that is not in the vocabulary.

    "byte", "merge", "special", "whole" (an imported tokenizer takes it where it is an entire
    pre-token) or "unreachable" (no merge makes it).

    >>> from bpe_core import Trainer
    >>> tokenizer = Trainer(258, ["<|x|>"]).train("aa").tokenizer
    >>> [kind_of(tokenizer, token_id) for token_id in (97, 256, 257)]
    ['byte', 'special', 'merge']
    """
    token = tokenizer.token_bytes(token_id)
    if token_id in tokenizer.special_tokens.values():
        return "special"
    if tokenizer.birth_ranks[token_id] >= 0:
        return "merge"
    if len(token) == 1:
        return "byte"
    return "whole" if token in tokenizer.ignore_merges else "unreachable"


class Tree(NamedTuple):
    """A token and the two that its first merge joins: their ids, bytes, and the merge's rank.

    Without `parts` where no merge makes it, and where the tree is not followed further; then
    `rank` is None too.
    """

    id: int
    token: bytes
    rank: int | None = None
    parts: tuple[Tree, ...] = ()


def merge_tree(tokenizer: Tokenizer, token_id: int, *, deep: bool = True) -> Tree:
    """The merge tree of a token, down to single bytes; without `deep` only its two parts.

    >>> from bpe_core import Trainer
    >>> tree = merge_tree(Trainer(258).train("aaabdaaabac").tokenizer, 257)
    >>> tree.rank, [(part.token, part.rank) for part in tree.parts]
    (1, [(b'aa', 0), (b'a', None)])
    """
    token = tokenizer.token_bytes(token_id)
    rank = int(tokenizer.birth_ranks[token_id])
    if rank < 0:
        return Tree(token_id, token)
    sides = tokenizer.merge_ids[rank, :2].tolist()
    if deep:
        parts = tuple(merge_tree(tokenizer, side) for side in sides)
    else:
        parts = tuple(Tree(side, tokenizer.token_bytes(side)) for side in sides)
    return Tree(token_id, token, rank, parts)


class Child(NamedTuple):
    """A token that a merge makes of another one, and the rank of the first such merge."""

    id: int
    token: bytes
    rank: int


def children(tokenizer: Tokenizer, token_id: int) -> list[Child]:
    """The tokens that a merge makes of this one and another, earliest merge first.

    >>> from bpe_core import Trainer
    >>> children(Trainer(258).train("aaabdaaabac").tokenizer, 256)
    [Child(id=257, token=b'aaa', rank=1)]
    """
    ids, ranks = _made_of(tokenizer.merge_ids, token_id)
    early = np.argsort(ranks)
    rows = zip(ids[early].tolist(), ranks[early].tolist(), strict=True)
    return [Child(child, tokenizer.token_bytes(child), rank) for child, rank in rows]


def child_ids(merge_ids: np.ndarray, token_id: int) -> np.ndarray:
    """The ids of `children`, int64[n] in order of id; `merge_ids` are the tokenizer's.

    >>> child_ids(np.array([[97, 97, 256], [256, 97, 257], [98, 97, 258]]), 97).tolist()
    [256, 257, 258]
    """
    return _made_of(merge_ids, token_id)[0]


def _made_of(merge_ids: np.ndarray, token_id: int) -> tuple[np.ndarray, np.ndarray]:
    """The ids made of a token, in order of id, and the first rank that makes each of it."""
    ranks = np.flatnonzero((merge_ids[:, :2] == token_id).any(axis=1))
    ids, first = np.unique(merge_ids[ranks, 2], return_index=True)
    return ids, ranks[first]


def most_merged(tokenizer: Tokenizer) -> int | None:
    """Of the tokens that merges make, the one that is a part in most merges; None without merges.

    >>> from bpe_core import Trainer
    >>> most_merged(Trainer(258).train("aaabdaaabac").tokenizer)
    256
    """
    rows = tokenizer.merge_ids
    if not len(rows):
        return None
    in_merges = np.bincount(rows[:, :2].ravel(), minlength=int(rows.max()) + 1)
    return int(rows[np.argmax(in_merges[rows[:, 2]]), 2])


def ages(tokenizer: Tokenizer) -> np.ndarray:
    """The age of each id, uint8[max id + 1]: 1 (first merge) to 254 (last merge).

    `AGE_BYTE` and `AGE_SPECIAL` stand for what no merge makes. The steps are even in the
    logarithm of the rank, since early merges make most of any text.

    >>> from bpe_core import Trainer
    >>> ages(Trainer(259, ["<|x|>"]).train("aaabdaaabac").tokenizer)[-4:].tolist()
    [0, 255, 1, 254]
    """
    births = tokenizer.birth_ranks
    last = max(int(births.max(initial=0)), 1)
    scaled = 1 + 253 * np.log1p(np.maximum(births, 0)) / np.log1p(last)
    result = np.where(births >= 0, scaled.round(), AGE_BYTE).astype(np.uint8)
    result[list(tokenizer.special_tokens.values())] = AGE_SPECIAL
    return result


# --------------------------------------------------------------------------- pre-tokens


def pretoken_at(
    tokenizer: Tokenizer, text: str, offset: int, *, special_tokens: bool = True
) -> str | None:
    """The pre-token of a text that holds the byte `offset` of it, or None past the end.

    The text is as it was typed, the pre-token as the tokenizer prepares it. A special token is
    one of its own unless `special_tokens` is False.

    >>> from bpe_core import Trainer
    >>> pretoken_at(Trainer(256).train("").tokenizer, "low lower", 5)
    ' lower'
    """
    cut = tokenizer.pretokens if special_tokens else tokenizer.pretokenizer.split
    if not tokenizer.preparation.plain:
        prepared = tokenizer.prepared(text)
        places = typed_places(text, prepared)
        # The last of those at this place: empty ones before it are blanks put in front.
        offset = int(np.searchsorted(places, offset, side="right")) - 1
        text = text if special_tokens else prepared
    end = 0
    for pretoken in cut(text):
        end += len(utf8(pretoken))
        if offset < end:
            return pretoken
    return None


def tokens_of(tokenizer: Tokenizer, pretoken: bytes) -> list[bytes]:
    """The tokens of one pre-token, which is neither prepared nor cut again.

    >>> from bpe_core import Trainer
    >>> tokens_of(Trainer(258).train("aaabdaaabac").tokenizer, b"aaaab")
    [b'aa', b'aa', b'b']
    """
    if pretoken in tokenizer.ignore_merges:
        return [pretoken]
    model = tokenizer.model
    return [model.token_bytes(token) for token in model.encode_bytes(pretoken)]


class Step(NamedTuple):
    """One merge inside a pre-token: its rank, which part it made, and all parts after it."""

    rank: int
    at: int
    parts: tuple[bytes, ...]


def steps(tokenizer: Tokenizer, pretoken: bytes) -> list[Step]:
    """The merges inside one pre-token, in the order in which they are done.

    ValueError where merges cannot be replayed, see `sizes.has_smaller_sizes`.

    >>> from bpe_core import Trainer
    >>> for step in steps(Trainer(258).train("aaabdaaabac").tokenizer, b"aaab"): print(*step)
    0 0 (b'aa', b'a', b'b')
    1 0 (b'aaa', b'b')
    """
    parts: tuple[bytes, ...] = tuple(pretoken[i : i + 1] for i in range(len(pretoken)))
    found = []
    for step in tokenizer.merge_steps(pretoken):
        # The first part that differs from the one at its place before is the new one.
        at = next(i for i, part in enumerate(step.parts) if part != parts[i])
        parts = step.parts
        found.append(Step(step.rank, at, parts))
    return found


def longest_match(tokenizer: Tokenizer, pretoken: bytes) -> list[bytes]:
    """Cut a pre-token the wrong way: always take the longest token that fits next.

    This is not BPE. It is here to be compared with the right cut, in which the merge that was
    learned first is done first, wherever it is.

    >>> from bpe_core import Tokenizer
    >>> vocab = dict(enumerate([bytes([i]) for i in range(256)] + [b"bc", b"ab"]))
    >>> tokenizer = Tokenizer.from_vocab(vocab, [(b"b", b"c"), (b"a", b"b")])
    >>> longest_match(tokenizer, b"abc"), tokens_of(tokenizer, b"abc")
    ([b'ab', b'c'], [b'a', b'bc'])
    """
    entries, lengths = _ordinary_entries(tokenizer)
    tokens = []
    start = 0
    while start < len(pretoken):
        left = len(pretoken) - start
        fitting = (pretoken[start : start + n] for n in lengths if n <= left)
        tokens.append(next(token for token in fitting if token in entries))
        start += len(tokens[-1])
    return tokens


@functools.lru_cache(maxsize=8)
def _ordinary_entries(tokenizer: Tokenizer) -> tuple[frozenset[bytes], list[int]]:
    """All entries that are not special tokens, and their lengths, longest first."""
    special = set(tokenizer.special_tokens.values())
    entries = frozenset(token for i, token in tokenizer.vocab.items() if i not in special)
    return entries, sorted(set(map(len, entries)), reverse=True)
