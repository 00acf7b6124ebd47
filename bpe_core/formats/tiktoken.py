"""tiktoken's rank files: a line for each token, its bytes in base64 and its rank, which is its id.

Belongs here: reading and writing such files, and the Python that builds tiktoken's `Encoding`.
The file holds neither the pattern nor the special tokens; both are given beside it.

tiktoken has no list of merges. It merges the adjacent pair whose joined bytes have the lowest
rank, leftmost first, and takes a pre-token that is itself in the file without merging. What
follows from that, and what the code below rests on:

- As long as no merge crosses the edges of a stretch of bytes, the merges inside it are those
  that the stretch alone would go through. So a token that comes up in any text comes up from
  the two parts from which it comes up in its own bytes: one merge a token says it all.
- A token that its own bytes do not lead to is never made by merging, only taken whole.

Source: `tiktoken`, whose results the tests compare with these.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Literal

import numpy as np

from bpe_core.model import BYTE_ORDERS, NEVER, BPEModel, new_scratch
from bpe_core.preparation import pretokenizer_of
from bpe_core.tokenizer import Tokenizer

from . import regexes
from .common import FormatError, canonical_merges, largest_inside, plain_obstacles, special_ids

NAME = "tiktoken file"
Ranks = Mapping[bytes, int]
# Rebuilding merges takes time with the square of a token's length; published tokens end at 128.
LONGEST = 4096


def loads_tiktoken(
    data: str | bytes,
    *,
    pattern: str,
    special_tokens: Mapping[str, int] | None = None,
    unreachable: Literal["refuse", "whole"] = "refuse",
) -> Tokenizer:
    """A tokenizer from the content of a rank file; ids are the ranks, gaps and all.

    `pattern` is a name of `PATTERNS` or a regular expression, `special_tokens` gives the id of
    each. A token that merging its bytes by rank does not lead to is refused, or with
    `unreachable="whole"` taken only where it is an entire pre-token, which is what tiktoken
    does with it. Raises FormatError with the line.

    >>> lines = [f"{base64.b64encode(bytes([b])).decode()} {b}" for b in range(256)]
    >>> tokenizer = loads_tiktoken("\\n".join([*lines, "YWI= 300"]), pattern="gpt2")
    >>> tokenizer.encode("abc")
    [300, 99]
    """
    ranks, line_of = _read(data)
    for value in range(256):
        if bytes([value]) not in ranks:
            raise FormatError(NAME, "content", f"there is no token for the byte 0x{value:02X}")
    specials = special_ids(NAME, special_tokens or {}, {i: t for t, i in ranks.items()})
    pairs, lost = _pairs(ranks)
    never = [token for token in lost if _last_pair(token, ranks, NEVER) is None]
    if never and unreachable == "refuse":
        token = min(never, key=ranks.__getitem__)
        raise FormatError(
            NAME, f"line {line_of[token]}",
            f"no merges make {token!r} of its bytes (one of {len(never)} such tokens). tiktoken "
            'takes it only where it is an entire pre-token; unreachable="whole" does the same',
        )  # fmt: skip
    if lost:
        pairs, lost = _pairs_by_all_ranks(ranks)
    return _build(ranks, pairs, lost, pattern, specials)


def _build(
    ranks: Ranks,
    pairs: Mapping[bytes, tuple[bytes, bytes]],
    lost: list[bytes],
    pattern: str,
    specials: Mapping[str, int],
) -> Tokenizer:
    order = _byte_order(ranks)
    tokens = [bytes([b]) for b in order] + sorted(pairs, key=ranks.__getitem__)
    index = {token: i for i, token in enumerate(tokens)}
    rows = np.array(
        [(index[left], index[right]) for left, right in map(pairs.__getitem__, tokens[256:])],
        np.int32,
    ).reshape(-1, 2)
    model = BPEModel(order, rows[:, 0], rows[:, 1], np.arange(256, len(tokens)))
    try:
        return Tokenizer(
            model,
            pretokenizer_of(pattern),
            specials,
            np.array([ranks[token] for token in tokens], np.uint32),
            {ranks[token]: token for token in lost},
            whole={token: ranks[token] for token in lost},
        )
    except ValueError as err:
        raise FormatError(NAME, "settings", str(err)) from None


def _read(data: str | bytes) -> tuple[dict[bytes, int], dict[bytes, int]]:
    """Ranks of all tokens, and the line of each."""
    raw = data.encode("utf-8") if isinstance(data, str) else data
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    ranks: dict[bytes, int] = {}
    line_of: dict[bytes, int] = {}
    token_of: dict[int, bytes] = {}
    for number, line in enumerate(raw.split(b"\n"), 1):
        fields = line.split()
        if not fields:
            continue
        place = f"line {number}"
        if len(fields) != 2:
            shown = line[:40].decode("utf-8", "replace")
            raise FormatError(NAME, place, f"expected base64 and a rank, not {shown!r}")
        try:
            token = base64.b64decode(fields[0], validate=True)
        except binascii.Error:
            shown = fields[0][:40].decode("utf-8", "replace")
            raise FormatError(NAME, place, f"{shown!r} is no valid base64") from None
        if not 0 < len(token) <= LONGEST:
            raise FormatError(
                NAME, place, f"a token must have 1 to {LONGEST} bytes, this one has {len(token)}"
            )
        if not fields[1].isdigit() or len(fields[1]) > 10 or int(fields[1]) >= NEVER:
            shown = fields[1][:40].decode("utf-8", "replace")
            raise FormatError(
                NAME, place, f"the rank must be a whole number from 0 on, not {shown!r}"
            )
        rank = int(fields[1])
        if token in ranks:
            raise FormatError(NAME, place, f"{token!r} is on line {line_of[token]} too")
        if rank in token_of:
            other = token_of[rank]
            raise FormatError(
                NAME, place,
                f"{token!r} has rank {rank}, and so has {other!r} on line {line_of[other]}",
            )  # fmt: skip
        ranks[token] = rank
        line_of[token] = number
        token_of[rank] = token
    return ranks, line_of


def _byte_order(ranks: Ranks) -> bytes:
    order = bytes(sorted(range(256), key=lambda b: ranks[bytes([b])]))
    return next((o for o in BYTE_ORDERS.values() if o == order), order)


# --------------------------------------------------------------------------- merges from ranks

# A stretch c X c X c: only there can two overlapping pairs spell one token in two ways.
_OVERLAP = re.compile(rb"(.)(.*?)\1\2\1", re.DOTALL)


def _pairs(ranks: Ranks) -> tuple[dict[bytes, tuple[bytes, bytes]], list[bytes]]:
    """The two parts of each longer token by merges of lower rank; and the tokens without any.

    All splits of all tokens into two tokens (single bytes, or of lower rank) make a list of
    merges, and one compiled pass writes on each boundary of each token the merge that erases
    it; the last one gives the parts. That list ranks several splits of one token one after
    another, where tiktoken takes the leftmost place; a text shows the difference only where two
    places overlap, so tokens with such stretches are merged in plain Python instead.
    Where every token is found, merges of a token before its parts' (higher ranks) change
    nothing: the first such merge in a text would join a part that the token's own bytes,
    going through lower ranks only, never form.
    """
    from bpe_core import kernels

    order = _byte_order(ranks)
    longer = sorted((t for t in ranks if len(t) > 1), key=ranks.__getitem__)
    index = {bytes([b]): i for i, b in enumerate(order)}
    left: list[int] = []
    right: list[int] = []
    new: list[int] = []
    splits: list[tuple[bytes, bytes]] = []
    for i, token in enumerate(longer, 256):
        for cut in range(1, len(token)):
            a = index.get(token[:cut])
            if a is not None:
                b = index.get(token[cut:])
                if b is not None:
                    left.append(a)
                    right.append(b)
                    new.append(i)
                    splits.append((token[:cut], token[cut:]))
        index[token] = i
    model = BPEModel(order, left, right, new)
    data = np.frombuffer(b"".join(longer), np.uint8)
    ends = np.cumsum([len(token) for token in longer], dtype=np.int64)
    joins = np.full(max(data.size - 1, 0), NEVER, np.int32)
    if left:
        scratch = new_scratch(max(map(len, longer)))
        kernels.join_pieces(data, ends, 0, model.n_merges, *model.tables, *scratch, joins)
    last = largest_inside(joins, ends)
    pairs: dict[bytes, tuple[bytes, bytes]] = {}
    lost: list[bytes] = []
    for i, (token, row) in enumerate(zip(longer, last, strict=True), 256):
        if _OVERLAP.search(token):
            pair = _last_pair(token, ranks, ranks[token])
        else:
            pair = splits[row] if row != NEVER and new[row] == i else None
        if pair is None:
            lost.append(token)
        else:
            pairs[token] = pair
    return pairs, lost


def _pairs_by_all_ranks(
    ranks: Ranks,
) -> tuple[dict[bytes, tuple[bytes, bytes]], list[bytes]]:
    """The same by the definition alone: every token's bytes, merged by all ranks. Slow."""
    pairs = {token: _last_pair(token, ranks, NEVER) for token in ranks if len(token) > 1}
    lost = [token for token, pair in pairs.items() if pair is None]
    return {token: pair for token, pair in pairs.items() if pair}, lost


def _last_pair(token: bytes, ranks: Ranks, limit: int) -> tuple[bytes, bytes] | None:
    """The two parts that a token's bytes become by ranks below `limit` before they join."""
    parts = [token[i : i + 1] for i in range(len(token))]
    joined = [ranks.get(token[i : i + 2], NEVER) for i in range(len(token) - 1)]
    while len(parts) > 2:
        rank = min(joined)
        if rank >= limit:
            return None
        i = joined.index(rank)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
        del joined[i]
        if i < len(joined):
            joined[i] = ranks.get(parts[i] + parts[i + 1], NEVER)
        if i:
            joined[i - 1] = ranks.get(parts[i - 1] + parts[i], NEVER)
    return parts[0], parts[1]


# --------------------------------------------------------------------------- writing


def dumps_tiktoken(tokenizer: Tokenizer) -> bytes:
    """The content of a rank file; `tiktoken_snippet` says how to read it with tiktoken.

    Raises FormatError where tiktoken would do otherwise, with the first of the `obstacles`.

    >>> from bpe_core import Trainer
    >>> dumps_tiktoken(Trainer(257).train("abab").tokenizer).splitlines()[-1]
    b'YWI= 256'
    """
    for obstacle in tiktoken_obstacles(tokenizer):
        raise FormatError(NAME, "tokenizer", obstacle)
    ranks = sorted(_ranks(tokenizer).items(), key=lambda item: item[1])
    return b"".join([base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks])


def tiktoken_snippet(
    tokenizer: Tokenizer, file_name: str = "tokenizer.tiktoken", name: str = "trained_here"
) -> str:
    """Python that builds tiktoken's `Encoding` from a file written by `dumps_tiktoken`.

    >>> from bpe_core import Trainer
    >>> "pat_str=" in tiktoken_snippet(Trainer(257).train("abab").tokenizer)
    True
    """
    lines = "".join([f"        {t!r}: {i},\n" for t, i in tokenizer.special_tokens.items()])
    specials = "{\n" + lines + "    }" if lines else "{}"
    return f"""import tiktoken
from tiktoken.load import load_tiktoken_bpe

encoding = tiktoken.Encoding(
    name={name!r},
    pat_str={_pattern(tokenizer)!r},
    mergeable_ranks=load_tiktoken_bpe({file_name!r}),
    special_tokens={specials},
)
ids = encoding.encode("some text", allowed_special="all")
"""


def _pattern(tokenizer: Tokenizer) -> str:
    """The pattern for tiktoken, which drops what its pattern does not match."""
    pattern = tokenizer.pretokenizer.regex
    if not pattern:
        return r"[\s\S]+"
    try:
        written = regexes.translate(pattern, "regex", "fancy")
        if tokenizer.pretokenizer.named or regexes.leaves_nothing_out(pattern):
            return written
    except regexes.PatternError as err:
        problem = f"the pattern {pattern!r:.200} cannot be carried over: {err}"
        raise FormatError(NAME, "tokenizer", problem) from None
    return rf"{written}|(?:(?!{written})[\s\S])+"


def _ranks(tokenizer: Tokenizer) -> dict[bytes, int]:
    n = tokenizer.model.n_tokens
    ranks = dict(zip(tokenizer.model._bytes[:n], tokenizer._ids[:n].tolist(), strict=True))
    return ranks | tokenizer._whole


def tiktoken_obstacles(tokenizer: Tokenizer) -> Iterator[str]:
    """What keeps tiktoken from giving the ids of this tokenizer, a sentence each."""
    found = list(plain_obstacles(tokenizer, "tiktoken"))
    yield from found
    try:
        if not found:
            _pattern(tokenizer)
    except FormatError as err:
        yield str(err).removeprefix(f"{NAME}, tokenizer: ")
    names = sorted(tokenizer.special_tokens)
    for one, other in pairwise(names):
        if other.startswith(one):
            yield f"{one!r} begins {other!r}, and tiktoken does not say which of them it takes"
    ranks = _ranks(tokenizer)
    unused = [i for i, t in tokenizer._extra.items() if ranks.get(t) != i]
    if unused:
        token = tokenizer._extra[unused[0]]
        yield (
            f"{len(unused)} entries of the vocabulary are made by no merge and are no special "
            f"tokens (id {unused[0]}, {token!r}): tiktoken would encode to them"
        )
    longest = max(map(len, ranks))
    if longest > LONGEST:
        yield f"it has a token of {longest} bytes; {LONGEST} are supported in this format"
    else:
        yield from _other_merges(tokenizer, ranks)


def _other_merges(tokenizer: Tokenizer, ranks: Ranks) -> Iterator[str]:
    """Whether merging by ids does what the merges here do; the first difference."""
    ours = canonical_merges(tokenizer)
    for before, after in pairwise(ours):
        if ranks[b"".join(after)] < ranks[b"".join(before)]:
            yield (
                f"{b''.join(after)!r} has a lower id than {b''.join(before)!r} but is merged "
                "after it: tiktoken merges in order of ids"
            )
            return
    pairs, lost = _pairs(ranks)
    if lost:
        pairs, lost = _pairs_by_all_ranks(ranks)
    made = {left + right: (left, right) for left, right in ours}
    for token in sorted({*pairs, *made}, key=ranks.__getitem__):
        if token not in made:
            yield f"tiktoken would make {token!r}, which no merge here makes in any text"
            return
        if pairs.get(token) != made[token]:
            theirs = "take it only as an entire pre-token"
            if token in pairs:
                theirs = f"make it of {pairs[token][0]!r} and {pairs[token][1]!r}"
            left, right = made[token]
            yield f"{token!r} is made of {left!r} and {right!r}: tiktoken, by ids, would {theirs}"
            return
    for token in lost:
        if token not in tokenizer._whole:
            yield f"tiktoken would take {token!r} where it is an entire pre-token"
            return
