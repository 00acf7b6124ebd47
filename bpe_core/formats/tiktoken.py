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

from bpe_core import kernels
from bpe_core.model import NEVER, BPEModel, MergeTable
from bpe_core.preparation import pretokenizer_of
from bpe_core.tokenizer import Tokenizer

from . import regexes
from .canonical import canonical_merges
from .common import FormatError, plain_obstacles, special_ids
from .record import FileContent, FormatRecord, LoadedTokenizer, ReadSettings

NAME = "tiktoken file"
FILE = "tokenizer.tiktoken"
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
    ranks = _read(data)
    for value in range(256):
        if bytes([value]) not in ranks:
            raise FormatError(NAME, "content", f"there is no token for the byte 0x{value:02X}")
    token_of = dict(zip(ranks.values(), ranks, strict=True))
    specials = special_ids(NAME, special_tokens or {}, token_of)
    tokens = _in_order(ranks)
    parents = _parents(tokens)
    lost = [tokens[i] for i in np.flatnonzero(parents[0] == LOST).tolist()]
    if lost and unreachable == "refuse":
        line = _read_lines(_raw(data))[1][lost[0]]
        raise FormatError(
            NAME, f"line {line}",
            f"no merges make {lost[0]!r} of its bytes (one of {len(lost)} such tokens). tiktoken "
            'takes it only where it is an entire pre-token; unreachable="whole" does the same',
        )  # fmt: skip
    unmade = set(lost)
    ignored = {token: rank for token, rank in ranks.items() if token in unmade} if lost else {}
    return _build(ranks, tokens, parents, pattern, specials, ignored)


def _build(
    ranks: Ranks,
    tokens: list[bytes],
    parents: tuple[np.ndarray, np.ndarray],
    pattern: str,
    specials: Mapping[str, int],
    ignore_merges: Mapping[bytes, int],
) -> Tokenizer:
    left, right = parents
    made = np.flatnonzero(left >= 0)
    kept = np.concatenate([np.flatnonzero(left == BYTE), made])
    order = b"".join([tokens[i] for i in kept[:256].tolist()])
    index = np.empty(len(tokens), np.int32)
    index[kept] = np.arange(kept.size)
    table = MergeTable(order, index[left[made]], index[right[made]], index[made])
    ids = np.fromiter(map(ranks.__getitem__, tokens), np.uint32, len(tokens))
    try:
        return Tokenizer(
            BPEModel(table, len(table)),
            pretokenizer_of(pattern),
            specials,
            ids[kept],
            {rank: token for token, rank in ignore_merges.items()},
            ignore_merges=ignore_merges,
        )
    except ValueError as err:
        raise FormatError(NAME, "settings", str(err)) from None


def _raw(data: str | bytes) -> bytes:
    raw = data.encode("utf-8") if isinstance(data, str) else data
    return raw.removeprefix(b"\xef\xbb\xbf")


_INK = bytes(set(range(256)) - set(b" \t\n\r\v\f"))  # what does not part fields


def _read(data: str | bytes) -> dict[bytes, int]:
    """Ranks of all tokens, in order of lines."""
    raw = _raw(data)
    ranks = _read_at_once(raw.replace(b"\r\n", b"\n").rstrip(b"\n"))
    return _read_lines(raw)[0] if ranks is None else ranks


def _read_at_once(raw: bytes) -> dict[bytes, int] | None:
    """The same for a file that is written as tiktoken's are; None for any other."""
    fields = raw.split()
    texts, numbers = fields[::2], fields[1::2]
    # One space a line and two fields for each: so each line has two.
    if len(texts) != len(numbers) or raw.translate(None, _INK) != b" \n" * (len(texts) - 1) + b" ":
        return None
    try:
        tokens = list(map(binascii.a2b_base64, texts))
    except binascii.Error:
        return None
    # Base64 may be written in several ways; one that comes out again is right.
    if b"".join(map(binascii.b2a_base64, tokens)) != b"\n".join(texts) + b"\n":
        return None
    if not b"".join(numbers).isdigit() or max(map(len, numbers)) > 10:
        return None
    if max(map(len, tokens)) > LONGEST:
        return None
    ranks = dict(zip(tokens, map(int, numbers), strict=True))
    good = len(set(ranks.values())) == len(ranks) == len(texts) and max(ranks.values()) < NEVER
    return ranks if good else None


def _read_lines(raw: bytes) -> tuple[dict[bytes, int], dict[bytes, int]]:
    """Ranks of all tokens, and the line of each; FormatError with the line."""
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


# --------------------------------------------------------------------------- merges from ranks

BYTE = -1  # in place of a parent: the token is a single byte
LOST = -2  # ... no merges make the token


def _in_order(ranks: Ranks) -> list[bytes]:
    """The tokens, lowest rank first."""
    values = np.fromiter(ranks.values(), np.int64, len(ranks))
    tokens = list(ranks)
    if (values[1:] > values[:-1]).all():
        return tokens
    return [tokens[i] for i in np.argsort(values).tolist()]


def _parents(tokens: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """The two tokens from which each one comes up in its own bytes, by place, int32[n] each.

    `tokens` are in order of rank; a single byte has BYTE, one that never comes up has LOST.
    """
    sizes = np.fromiter(map(len, tokens), np.int64, len(tokens))
    borders = np.append(0, np.cumsum(sizes))
    table = np.zeros(1 << (2 * len(tokens)).bit_length(), np.int64)
    at, joined = np.empty((2, int(sizes.max()) + 2), np.int64)
    left, right = np.empty((2, len(tokens)), np.int32)
    data = np.frombuffer(b"".join(tokens), np.uint8)
    kernels.find_parents(data, borders, table, at, joined, left, right)
    left[(left < 0) & (sizes > 1)] = LOST
    return left, right


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
    tokenizer: Tokenizer, file_name: str = FILE, name: str = "trained_here"
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
    tokens = tokenizer.model.tokens
    ranks = dict(zip(tokens, tokenizer.ids[: len(tokens)].tolist(), strict=True))
    return ranks | tokenizer.ignore_merges


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
    unused = [i for i, t in tokenizer.extra.items() if ranks.get(t) != i]
    if unused:
        token = tokenizer.extra[unused[0]]
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
    ours = canonical_merges(tokenizer.model)
    for before, after in pairwise(ours):
        if ranks[b"".join(after)] < ranks[b"".join(before)]:
            yield (
                f"{b''.join(after)!r} has a lower id than {b''.join(before)!r} but is merged "
                "after it: tiktoken merges in order of ids"
            )
            return
    tokens = _in_order(ranks)
    left_of, right_of = (row.tolist() for row in _parents(tokens))
    rows = zip(tokens, left_of, right_of, strict=True)
    pairs = {token: (tokens[a], tokens[b]) for token, a, b in rows if a >= 0}
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
    for token in ranks:
        if len(token) > 1 and token not in pairs and token not in tokenizer.ignore_merges:
            yield f"tiktoken would take {token!r} where it is an entire pre-token"
            return


# --------------------------------------------------------------------------- the record


def _sniff(content: FileContent) -> str:
    return FILE if re.fullmatch(rb"[A-Za-z0-9+/]+={0,2} \d+", content.first_line) else ""


def _loads(files: Mapping[str, bytes], settings: ReadSettings) -> LoadedTokenizer:
    tokenizer = loads_tiktoken(
        files[FILE],
        pattern=settings.pattern,
        special_tokens=settings.special_tokens,
        unreachable=settings.unreachable,
    )
    return LoadedTokenizer(tokenizer)


def _dumps(tokenizer: Tokenizer) -> dict[str, bytes]:
    ranks = dumps_tiktoken(tokenizer)
    return {FILE: ranks, "load_tokenizer.py": tiktoken_snippet(tokenizer).encode()}


def _remarks(tokenizer: Tokenizer) -> Iterator[str]:
    yield "The rank file holds neither pattern nor special tokens: the Python file with it does."
    if any(not option.special for option in tokenizer.preparation.tokens.values()):
        yield "tiktoken knows special tokens only: added tokens become such."


RECORD = FormatRecord(
    name="tiktoken",
    title="tiktoken",
    files=(FILE,),
    expected="a .tiktoken file",
    holds_settings=False,
    sniff=_sniff,
    loads=_loads,
    dumps=_dumps,
    obstacles=tiktoken_obstacles,
    remarks=_remarks,
)
