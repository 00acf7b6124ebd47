"""Where a token comes from, and how the pre-token around it was cut: what the token card shows.

Belongs here: reading a tokenizer's merges into plain values for the card. Byte strings travel as
Latin-1 text, one character for each byte, which is how the components hold them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from bpe_core.pretokenize import utf8
from ui import import_places, import_sizes

if TYPE_CHECKING:
    from bpe_core import MergeTrace, Tokenizer

#: Longest token whose merge tree is drawn, and longest pre-token whose steps are listed, in bytes.
LONGEST_TREE = 48
LONGEST_STEPS = 80


def token_biography(
    tokenizer: Tokenizer, token_id: int, trace: MergeTrace | None = None
) -> dict[str, Any]:
    """Return what is to know of one id.

    ``kind`` is "byte", "merge", "special", "whole" (an imported tokenizer takes it where it is an
    entire pre-token) or "unreachable" (no merge makes it); a merge has its
    ``rank`` from 1, its ``tree`` of nodes (id, bytes, rank, parts), and with a trace how often
    the pair was ``counted`` then. KeyError names an id that is not in the vocabulary.

    Example
    -------
    >>> from bpe_core import Trainer
    >>> tokenizer = Trainer(258).train("aaabdaaabac").tokenizer
    >>> token = token_biography(tokenizer, 257)
    >>> token["bytes"], token["rank"], [part["id"] for part in token["tree"]["parts"]]
    ('aaa', 2, [256, 97])
    """
    data = tokenizer.token_bytes(token_id)
    births = tokenizer.birth_ranks
    rank = int(births[token_id]) if token_id < len(births) else -1
    about: dict[str, Any] = {"id": token_id, "bytes": data.decode("latin-1"), "kind": "merge"}
    if token_id in tokenizer.special_tokens.values():
        about["kind"] = "special"
    elif rank < 0:
        about["kind"] = "byte" if len(data) == 1 else _unmade(tokenizer, data)
    else:
        about["rank"] = rank + 1
        about["tree"] = _node(tokenizer, token_id, deep=len(data) <= LONGEST_TREE)
        if trace is not None and rank < len(trace):
            about["counted"] = int(trace.pair_count[rank])
    return about


def _unmade(tokenizer: Tokenizer, data: bytes) -> str:
    """Return how an entry that no merge makes is used, if at all."""
    return "whole" if import_sizes.is_taken_whole(tokenizer, data) else "unreachable"


def _node(tokenizer: Tokenizer, token_id: int, *, deep: bool = True) -> dict[str, Any]:
    """Return the merge tree of a token; without ``deep`` only its two parts."""
    rank = int(tokenizer.birth_ranks[token_id])
    node = {"id": token_id, "bytes": tokenizer.token_bytes(token_id).decode("latin-1")}
    if rank < 0:
        return node
    left, right, _ = tokenizer.merge_ids[rank].tolist()
    if deep:
        parts = [_node(tokenizer, left), _node(tokenizer, right)]
    else:
        parts = [
            {"id": i, "bytes": tokenizer.token_bytes(i).decode("latin-1")} for i in (left, right)
        ]
    return {**node, "rank": rank + 1, "parts": parts}


def children(
    tokenizer: Tokenizer, token_id: int, most: int = 12
) -> tuple[int, list[dict[str, Any]]]:
    """Return how many tokens a token is a part of, and the ``most`` first made of them.

    A child is a token that a merge makes of this one and another; it has its ``rank`` from 1.

    Example
    -------
    >>> from bpe_core import Trainer
    >>> tokenizer = Trainer(258).train("aaabdaaabac").tokenizer
    >>> children(tokenizer, 256)
    (1, [{'id': 257, 'bytes': 'aaa', 'rank': 2}])
    """
    rows = tokenizer.merge_ids
    ranks = np.flatnonzero((rows[:, :2] == token_id).any(axis=1))
    ids, first = np.unique(rows[ranks, 2], return_index=True)
    early = np.argsort(first)[:most]
    return len(ids), [
        {
            "id": int(ids[i]),
            "bytes": tokenizer.token_bytes(int(ids[i])).decode("latin-1"),
            "rank": int(ranks[first[i]]) + 1,
        }
        for i in early
    ]


def pretoken_at(
    tokenizer: Tokenizer, context: str, offset: int, *, special_tokens: bool
) -> str | None:
    """Return the pre-token of ``context`` that holds the byte ``offset``, or None past the end.

    Example
    -------
    >>> from bpe_core import Trainer
    >>> pretoken_at(Trainer(256).train("").tokenizer, "low lower", 5, special_tokens=True)
    ' lower'
    """
    cut = tokenizer.pretokens if special_tokens else tokenizer.pretokenizer.split
    if not tokenizer.preparation.plain:
        prepared = tokenizer.prepared(context)
        places = import_places.places(context, prepared)
        # The last of the places that stand there: empty ones before it are blanks put in front.
        offset = int(np.searchsorted(places, offset, side="right")) - 1
        context = context if special_tokens else prepared
    end = 0
    for piece in cut(context):
        end += len(utf8(piece))
        if offset < end:
            return piece
    return None


def pretoken_story(tokenizer: Tokenizer, pretoken: str) -> dict[str, Any]:
    """Return how a pre-token was cut: its ``steps`` (rank from 1, place, parts) and both results.

    ``steps`` is None for a pre-token of more than `LONGEST_STEPS` bytes, and where the merges
    cannot be replayed; ``why`` says then why not. ``greedy`` is what `longest_match_instead`
    gives, for comparison.

    Example
    -------
    >>> from bpe_core import Trainer
    >>> story = pretoken_story(Trainer(258).train("aaabdaaabac").tokenizer, "aaab")
    >>> [(step["rank"], step["at"], step["parts"]) for step in story["steps"]]
    [(1, 0, ['aa', 'a', 'b']), (2, 0, ['aaa', 'b'])]
    """
    data = utf8(pretoken)
    tokens = _cut(tokenizer, data)
    greedy = longest_match_instead(tokenizer, data)
    why = _why_no_steps(tokenizer, data)
    return {
        "bytes": data[: 2 * LONGEST_STEPS].decode("latin-1"),
        "size": len(data),
        "steps": None if why else _steps(tokenizer, data),
        "why": why,
        "tokens": [token.decode("latin-1") for token in tokens[:LONGEST_STEPS]],
        "n_tokens": len(tokens),
        "greedy": [token.decode("latin-1") for token in greedy[:LONGEST_STEPS]],
        "n_greedy": len(greedy),
        "same": tokens == greedy,
    }


def _cut(tokenizer: Tokenizer, pretoken: bytes) -> list[bytes]:
    """Return the tokens of one pre-token, which is neither prepared nor cut again."""
    if import_sizes.is_taken_whole(tokenizer, pretoken):
        return [pretoken]
    model = tokenizer.model
    return [model.token_bytes(token) for token in model.encode_bytes(pretoken)]


def _why_no_steps(tokenizer: Tokenizer, pretoken: bytes) -> str | None:
    if import_sizes.is_taken_whole(tokenizer, pretoken):
        return "It is taken whole, because it is an entry itself: no merges are done."
    if tokenizer.model.out_of_order is not None:
        return (
            "The steps cannot be replayed: the merges of this tokenizer are not listed in the "
            "order in which they were learned."
        )
    if len(pretoken) > LONGEST_STEPS:
        return f"It has {len(pretoken):,} bytes, too many to list the steps."
    return None


def _steps(tokenizer: Tokenizer, data: bytes) -> list[dict[str, Any]]:
    parts: tuple[bytes, ...] = tuple(data[i : i + 1] for i in range(len(data)))
    steps = []
    for step in tokenizer.merge_steps(data):
        # The first part that differs from what stood there before is the new one.
        at = next(i for i, part in enumerate(step.parts) if part != parts[i])
        parts = step.parts
        texts = [part.decode("latin-1") for part in parts]
        steps.append({"rank": step.rank + 1, "at": at, "parts": texts})
    return steps


def longest_match_instead(tokenizer: Tokenizer, pretoken: bytes) -> list[bytes]:
    """Cut a pre-token the wrong way: always take the longest token that fits next.

    This is not BPE. It is here to be compared with the right cut, in which the merge that was
    learned first is done first, wherever it stands.

    Example
    -------
    >>> from bpe_core import Tokenizer
    >>> vocab = dict(enumerate([bytes([i]) for i in range(256)] + [b"bc", b"ab"]))
    >>> tokenizer = Tokenizer.from_vocab(vocab, [(b"b", b"c"), (b"a", b"b")])
    >>> longest_match_instead(tokenizer, b"abc"), [vocab[i] for i in tokenizer.encode("abc")]
    ([b'ab', b'c'], [b'a', b'bc'])
    """
    words, lengths = _words(tokenizer)
    tokens = []
    start = 0
    while start < len(pretoken):
        left = len(pretoken) - start
        fitting = (pretoken[start : start + n] for n in lengths if n <= left)
        tokens.append(next(piece for piece in fitting if piece in words))
        start += len(tokens[-1])
    return tokens


@functools.lru_cache(maxsize=8)
def _words(tokenizer: Tokenizer) -> tuple[frozenset[bytes], list[int]]:
    """Return all tokens that are not special, and their lengths, longest first."""
    special = set(tokenizer.special_tokens.values())
    words = frozenset(token for i, token in tokenizer.vocab.items() if i not in special)
    return words, sorted(set(map(len, words)), reverse=True)
