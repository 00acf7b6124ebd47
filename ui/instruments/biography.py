"""Where a token comes from, and how the pre-token around it was cut: what the token card shows.

Belongs here: laying the engine's answers out as plain values for the card, and its sentences. Byte
strings travel as Latin-1 text, one character for each byte, which is how the components hold them;
ranks count from 1. Does not belong here: working them out (``bpe_core.analysis.lineage``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpe_core.analysis import lineage
from bpe_core.text import utf8

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bpe_core import MergeTrace, Tokenizer

#: Longest token whose merge tree is drawn, and longest pre-token whose steps are listed, in bytes.
LONGEST_TREE = 48
LONGEST_STEPS = 80


def token_biography(
    tokenizer: Tokenizer, token_id: int, trace: MergeTrace | None = None
) -> dict[str, Any]:
    """What is to know of one id: ``id``, ``bytes`` and ``kind``, see `lineage.kind_of`.

    A merge has its ``rank`` from 1, its ``tree`` of nodes (id, bytes, rank, parts), and with a
    trace how often the pair was ``counted`` then. KeyError names an id that is not in the
    vocabulary.

    >>> from bpe_core import Trainer
    >>> tokenizer = Trainer(258).train("aaabdaaabac").tokenizer
    >>> token = token_biography(tokenizer, 257)
    >>> token["bytes"], token["rank"], [part["id"] for part in token["tree"]["parts"]]
    ('aaa', 2, [256, 97])
    """
    kind = lineage.kind_of(tokenizer, token_id)
    token = tokenizer.token_bytes(token_id)
    about: dict[str, Any] = {"id": token_id, "bytes": token.decode("latin-1"), "kind": kind}
    if kind == "merge":
        tree = lineage.merge_tree(tokenizer, token_id, deep=len(token) <= LONGEST_TREE)
        about["tree"] = _node(tree)
        about["rank"] = about["tree"]["rank"]
        if trace is not None and tree.rank is not None and tree.rank < len(trace):
            about["counted"] = int(trace.pair_count[tree.rank])
    return about


def _node(tree: lineage.Tree) -> dict[str, Any]:
    node = {"id": tree.id, "bytes": tree.token.decode("latin-1")}
    if tree.rank is None:
        return node
    return {**node, "rank": tree.rank + 1, "parts": [_node(part) for part in tree.parts]}


def children(
    tokenizer: Tokenizer, token_id: int, most: int = 12
) -> tuple[int, list[dict[str, Any]]]:
    """How many tokens a token is a part of, and the ``most`` first made of them.

    >>> from bpe_core import Trainer
    >>> tokenizer = Trainer(258).train("aaabdaaabac").tokenizer
    >>> children(tokenizer, 256)
    (1, [{'id': 257, 'bytes': 'aaa', 'rank': 2}])
    """
    found = lineage.children(tokenizer, token_id)
    return len(found), [
        {"id": child.id, "bytes": child.token.decode("latin-1"), "rank": child.rank + 1}
        for child in found[:most]
    ]


def pretoken_story(tokenizer: Tokenizer, pretoken: str) -> dict[str, Any]:
    """How a pre-token was cut: its ``steps`` (rank from 1, place, parts) and both results.

    ``steps`` is None for a pre-token of more than `LONGEST_STEPS` bytes, and where the merges
    cannot be replayed; ``why`` says then why not. ``greedy`` is what `lineage.longest_match`
    gives, for comparison.

    >>> from bpe_core import Trainer
    >>> story = pretoken_story(Trainer(258).train("aaabdaaabac").tokenizer, "aaab")
    >>> [(step["rank"], step["at"], step["parts"]) for step in story["steps"]]
    [(1, 0, ['aa', 'a', 'b']), (2, 0, ['aaa', 'b'])]
    """
    data = utf8(pretoken)
    tokens = lineage.tokens_of(tokenizer, data)
    greedy = lineage.longest_match(tokenizer, data)
    why = _why_no_steps(tokenizer, data)
    return {
        "bytes": data[: 2 * LONGEST_STEPS].decode("latin-1"),
        "size": len(data),
        "steps": None if why else _steps(tokenizer, data),
        "why": why,
        "tokens": _latin(tokens[:LONGEST_STEPS]),
        "n_tokens": len(tokens),
        "greedy": _latin(greedy[:LONGEST_STEPS]),
        "n_greedy": len(greedy),
        "same": tokens == greedy,
    }


def _why_no_steps(tokenizer: Tokenizer, pretoken: bytes) -> str | None:
    if pretoken in tokenizer.ignore_merges:
        return "It is taken whole, because it is an entry itself: no merges are done."
    if tokenizer.model.out_of_order is not None:
        return (
            "The steps cannot be replayed: the merges of this tokenizer are not listed in the "
            "order in which they were learned."
        )
    if len(pretoken) > LONGEST_STEPS:
        return f"It has {len(pretoken):,} bytes, too many to list the steps."
    return None


def _steps(tokenizer: Tokenizer, pretoken: bytes) -> list[dict[str, Any]]:
    return [
        {"rank": step.rank + 1, "at": step.at, "parts": _latin(step.parts)}
        for step in lineage.steps(tokenizer, pretoken)
    ]


def _latin(tokens: Iterable[bytes]) -> list[str]:
    return [token.decode("latin-1") for token in tokens]
