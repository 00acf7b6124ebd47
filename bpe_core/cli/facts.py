"""What `inspect` tells of a tokenizer: numbers, tokens, merges.

Belongs here: the facts as plain values, and as text for people. Does not belong here: finding the
tokenizer (`tokenizers.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bpe_core.model import BYTE_ORDERS
from bpe_core.tokenizer import Tokenizer

from .ids import dtype_of_ids
from .tokenizers import shown, unused_ids


def facts_of(
    tokenizer: Tokenizer, name: str, *, merges: int, longest: int, tokens: Iterable[int]
) -> dict[str, Any]:
    """The facts as plain values: the first and last `merges`, the `longest` tokens, and `tokens`.

    `name` is what the tokenizer is called. KeyError names an id that is not in the vocabulary.
    """
    asked = [_token(tokenizer, i) for i in tokens]
    order = next((n for n, o in BYTE_ORDERS.items() if o == tokenizer.model.byte_order), "other")
    by_length = sorted(tokenizer.vocab, key=lambda i: (-len(tokenizer.vocab[i]), i))
    n, m = tokenizer.n_merges, min(merges, tokenizer.n_merges)
    facts: dict[str, Any] = {
        "tokenizer": name,
        "vocab_size": tokenizer.vocab_size,
        "merges": n,
        "largest_id": max(tokenizer.vocab),
        "dtype": dtype_of_ids(tokenizer).name,
        "special_tokens": tokenizer.special_tokens,
        "unused_entries": len(unused_ids(tokenizer)),
        "pattern": tokenizer.pattern,
        "regex": tokenizer.pretokenizer.regex,
        "byte_order": order,
        "longest_tokens": [_token(tokenizer, i) for i in by_length[:longest]],
        "first_merges": _merges(tokenizer, range(m)),
        "last_merges": _merges(tokenizer, range(n - m, n)),
    }
    if asked:
        facts["tokens"] = asked
    return facts


def _token(tokenizer: Tokenizer, i: int) -> dict[str, Any]:
    token = tokenizer.token_bytes(i)
    rank = int(tokenizer.birth_ranks[i])
    parents = tokenizer.merge_ids[rank, :2].tolist() if rank >= 0 else []
    special = i in tokenizer.special_tokens.values()
    return {
        "id": i,
        "text": shown(token),
        "hex": token.hex(),
        "bytes": len(token),
        "special": special,
        "rank": rank if rank >= 0 else None,
        "parents": parents,
        "parent_texts": [shown(tokenizer.vocab[p]) for p in parents],
        "used_in_merges": int(np.count_nonzero(tokenizer.merge_ids[:, :2] == i)),
    }


def _merges(tokenizer: Tokenizer, ranks: range) -> list[dict[str, Any]]:
    rows = []
    for rank in ranks:
        ids = tokenizer.merge_ids[rank].tolist()
        rows.append({"rank": rank, "ids": ids, "texts": [shown(tokenizer.vocab[i]) for i in ids]})
    return rows


def as_text(facts: dict[str, Any]) -> str:
    """The facts for people; tokens stand in quotes with control characters escaped."""
    specials = [f"{t!r} = {i}" for t, i in facts["special_tokens"].items()]
    lines = [
        f"tokenizer       {facts['tokenizer']}",
        f"vocabulary      {facts['vocab_size']:,} entries, {facts['merges']:,} merges",
        f"ids             up to {facts['largest_id']}, kept as {facts['dtype']}",
        f"special tokens  {', '.join(specials) or 'none'}",
        f"unused entries  {facts['unused_entries']:,}",
        f"pattern         {facts['pattern']}",
        f"byte order      {facts['byte_order']}",
    ]
    if facts["longest_tokens"]:
        lines += ["", "longest tokens  (id, bytes)"]
        lines += [f"{t['id']:>8} {t['bytes']:>5}  {t['text']!r}" for t in facts["longest_tokens"]]
    for name in ("first_merges", "last_merges"):
        if facts[name]:
            lines += ["", f"{name.replace('_', ' '):<15} (rank, id)"]
        for merge in facts[name]:
            left, right, new = map(repr, merge["texts"])
            lines.append(f"{merge['rank']:>8} {merge['ids'][2]:>8}  {left} + {right} = {new}")
    for token in facts.get("tokens", ()):
        lines += ["", f"token {token['id']}  {token['text']!r}  bytes {token['hex']}"]
        if token["special"]:
            lines.append("  a special token")
        elif token["rank"] is None:
            lines.append("  a single byte" if token["bytes"] == 1 else "  no merge makes it")
        else:
            (a, b), (left, right) = token["parents"], map(repr, token["parent_texts"])
            lines.append(f"  made by merge {token['rank']}: {left} ({a}) + {right} ({b})")
        lines.append(f"  part of {token['used_in_merges']:,} merges")
    return "\n".join(lines)
