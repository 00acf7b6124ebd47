"""The answer the token editor draws: counts, ids and places of the tokens, in one buffer.

Belongs here: calling the engine for a text under a special-token policy. The HTTP route and the
fallback without it send the same bytes. Does not belong here: working it out
(``bpe_core.analysis``), and the layout of the bytes (``wire``).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from bpe_core.analysis import alignment, lineage, measures
from ui.server import wire

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bpe_core.tokenizer import Tokenizer

#: What special tokens in the text may do; the names the page shows.
POLICIES = ("recognize", "treat as text", "refuse")


class Refused(ValueError):
    """The text has a special token and the policy is to refuse them; the message says where."""


def policy_arguments(policy: str) -> dict[str, Any]:
    """The engine's keyword arguments for one of `POLICIES`.

    >>> policy_arguments("treat as text")
    {'allowed_special': set(), 'disallowed_special': ()}
    """
    if policy == "recognize":
        return {"allowed_special": "all", "disallowed_special": ()}
    if policy == "treat as text":
        return {"allowed_special": set(), "disallowed_special": ()}
    if policy == "refuse":
        return {"allowed_special": set(), "disallowed_special": "all"}
    raise ValueError(f"special tokens can be: {', '.join(POLICIES)}; not {policy!r}")


def refusal(text: str, special_tokens: Iterable[str]) -> str | None:
    """The sentence that refuses `text`, or None if it has no special token.

    >>> refusal("a<x>", ["<x>"])
    'Line 1 has the special token <x>, and special tokens are refused.'
    """
    places = [(text.find(token), -len(token), token) for token in special_tokens if token in text]
    if not places:
        return None
    start, _, token = min(places)
    line = text.count("\n", 0, start) + 1
    return f"Line {line:,} has the special token {token}, and special tokens are refused."


def refusable(tokenizer: Tokenizer) -> list[str]:
    """The special tokens that may be refused: added tokens of a file need not be special."""
    option = tokenizer.preparation.option
    return [token for token in tokenizer.special_tokens if option(token).special]


@functools.lru_cache(maxsize=16)
def with_merges(tokenizer: Tokenizer, merges: int) -> Tokenizer:
    """`tokenizer` with only its first `merges` merges; the tables it makes are kept."""
    return tokenizer.truncated(merges)


@functools.lru_cache(maxsize=32)
def ages(tokenizer: Tokenizer) -> np.ndarray:
    """The age of each id, as `lineage.ages` gives it; kept for the next text."""
    return lineage.ages(tokenizer)


def answer(
    tokenizer: Tokenizer,
    text: str,
    *,
    merges: int | None = None,
    policy: str = "recognize",
    limit: int | None = None,
) -> bytes:
    """The buffer for `text` cut with the first `merges` merges (None: all of them).

    Only the tokens of the first `limit` bytes are sent, up to the end of a character; the counts
    are always those of the whole text. Places are those in `text`, also where an imported
    tokenizer changes it first. Raises Refused, and ValueError for a number of merges the
    tokenizer does not have.
    """
    total = tokenizer.n_merges
    merges = total if merges is None else merges
    if not 0 <= merges <= total:
        raise ValueError(f"this tokenizer has 0 to {total:,} merges, not {merges:,}")
    if policy == "refuse" and (sentence := refusal(text, refusable(tokenizer))):
        raise Refused(sentence)
    shorter = with_merges(tokenizer, merges)
    ids, ends = alignment.typed_spans(shorter, text, **policy_arguments(policy))
    sent = len(ends) if limit is None else alignment.tokens_within(text, ends, limit)
    counts = measures.count_ids(ids, tokenizer.special_tokens.values())
    numbers = {
        "tokens": counts.tokens,
        "sent": sent,
        "bytes": int(ends[-1]) if len(ends) else 0,
        "bytes_sent": int(ends[sent - 1]) if sent else 0,
        "characters": len(text),
        "words": len(text.split()),
        "distinct": counts.distinct,
        "special": counts.special,
        "merges": merges,
    }
    return wire.pack(numbers, ids[:sent], ends[:sent], ages(tokenizer)[ids[:sent]])
