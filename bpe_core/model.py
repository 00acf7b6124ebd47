"""The merges as values: token bytes, parents, ranks; encoding and merging one pre-token.

Belongs here: `MergeTable`, `BPEModel`, the byte orders and GPT-2's byte-to-character table. Tokens
here are indices: 0..255 the bytes in byte order, then one for each new token in merge order. Does
not belong here: special tokens, patterns and the ids that users see (`tokenizer.py`).
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from . import kernels
from .encoder import Encoder, new_scratch, read_only
from .kernels.layout import NEVER as NEVER
from .kernels.layout import MergeRanks

Int32 = npt.NDArray[np.int32]

IN_SPECIAL = -1  # the rank of a boundary inside a special token


def _gpt2_bytes() -> tuple[bytes, str]:
    """GPT-2's order of the bytes, and the character that stands for each in that order.

    Printable characters of Latin-1 stand for themselves and come first; the 68 other bytes
    follow, as the characters from U+0100 on. Source: the encoder published with GPT-2.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    characters = [chr(b) for b in printable] + [chr(0x100 + i) for i in range(len(others))]
    return bytes(printable + others), "".join(characters)


_GPT2_ORDER, _GPT2_CHARACTERS = _gpt2_bytes()

BYTE_ORDERS = {"plain": bytes(range(256)), "gpt2": _GPT2_ORDER}
CHARACTER_OF_BYTE: dict[int, str] = dict(zip(_GPT2_ORDER, _GPT2_CHARACTERS, strict=True))
BYTE_OF_CHARACTER: dict[str, int] = {c: b for b, c in CHARACTER_OF_BYTE.items()}


class MergeStep(NamedTuple):
    """One merge inside a pre-token: its rank, the pair, and the parts after it."""

    rank: int
    pair: tuple[bytes, bytes]
    parts: tuple[bytes, ...]


@dataclass(frozen=True, eq=False)
class MergeTable:
    """A byte order and the whole list of merges, as token indices, with what follows from them.

    `left, right, new` are int32[m]; row r makes token `new[r]` of `left[r]` and `right[r]`. What
    follows is made when it is first asked for, once for all models on the table.

    >>> table = MergeTable(bytes(range(256)), [97, 256], [97, 98], [256, 257])
    >>> table.tokens[257], len(table)
    (b'aab', 2)
    """

    byte_order: bytes
    left: Int32
    right: Int32
    new: Int32

    def __post_init__(self) -> None:
        for name in ("left", "right", "new"):
            column = np.ascontiguousarray(getattr(self, name), np.int32)
            object.__setattr__(self, name, column)

    def __len__(self) -> int:
        return self.left.size

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, MergeTable):
            return NotImplemented
        return len(self) == len(other) and _same_merges(self, other)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"MergeTable({len(self):,} merges, {self.n_tokens:,} tokens)"

    def __getstate__(self) -> dict[str, object]:
        """The fields alone: what follows from them is made anew."""
        return {name: getattr(self, name) for name in ("byte_order", "left", "right", "new")}

    @functools.cached_property
    def _hash(self) -> int:
        return _hash_of_merges(self)

    @functools.cached_property
    def n_tokens(self) -> int:
        """Tokens that the bytes and all merges make."""
        return self.n_tokens_after(len(self))

    def n_tokens_after(self, n_merges: int) -> int:
        """Tokens that the bytes and the first merges make."""
        return max(256, int(self.new[:n_merges].max(initial=255)) + 1)

    @functools.cached_property
    def id_of_byte(self) -> Int32:
        """Token of each byte value, int32[256]."""
        tokens = np.empty(256, np.int32)
        tokens[np.frombuffer(self.byte_order, np.uint8)] = np.arange(256)
        return tokens

    @functools.cached_property
    def tokens(self) -> list[bytes]:
        """The bytes of each token; ValueError where merges are made of each other alone."""
        tokens: list[bytes] = [bytes([b]) for b in self.byte_order]
        tokens += [b""] * (self.n_tokens - 256)
        rows = zip(self.left.tolist(), self.right.tolist(), self.new.tolist(), strict=True)
        late = []
        for left, right, new in rows:
            if not tokens[left] or not tokens[right]:
                late.append((left, right, new))
            elif not tokens[new]:
                tokens[new] = tokens[left] + tokens[right]
        # An imported list may use a token above the merge that makes it.
        while late:
            waiting = late
            late = []
            for left, right, new in waiting:
                if tokens[left] and tokens[right]:
                    tokens[new] = tokens[new] or tokens[left] + tokens[right]
                else:
                    late.append((left, right, new))
            if len(late) == len(waiting):
                raise ValueError("some merges are made of each other and of no bytes")
        return tokens

    @functools.cached_property
    def birth_ranks(self) -> Int32:
        """Rank of the first merge that makes each token, int32[n_tokens]; -1 for bytes."""
        births = np.full(self.n_tokens, -1, np.int32)
        births[self.new[::-1]] = np.arange(len(self), dtype=np.int32)[::-1]
        return births

    @functools.cached_property
    def lookup(self) -> tuple[np.ndarray, ...]:
        """What the encode kernels look pairs up in: (id_of_byte, new, pairs, byte_ranks)."""
        size = 1 << (2 * len(self) + 15).bit_length()
        pairs = np.full(2 * size, -1, np.int64)
        byte_ranks = np.full(65536, NEVER, np.int32)
        kernels.fill_ranks(self.left, self.right, pairs, byte_ranks)
        return read_only(self.id_of_byte, self.new, pairs, byte_ranks)


@dataclass(frozen=True, eq=False)
class BPEModel:
    """A table of merges cut at a number: only the first `n_merges` are done.

    >>> model = BPEModel(MergeTable(bytes(range(256)), [97, 256], [97, 98], [256, 257]), 2)
    >>> model.token_bytes(257), model.encode_bytes(b"aaab")
    (b'aab', [256, 97, 98])
    >>> model.truncated(1).encode_bytes(b"aaab")
    [256, 97, 98]
    """

    table: MergeTable
    n_merges: int

    def __eq__(self, other: object) -> bool:
        """Whether both do the same merges; what their tables hold beyond those does not count."""
        if self is other:
            return True
        if not isinstance(other, BPEModel):
            return NotImplemented
        return self.n_merges == other.n_merges and (
            self.table is other.table or _same_merges(self, other)
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"BPEModel({self.n_merges:,} of {len(self.table):,} merges)"

    def __getstate__(self) -> dict[str, object]:
        """The fields alone: what follows from them is made anew."""
        return {"table": self.table, "n_merges": self.n_merges}

    @functools.cached_property
    def _hash(self) -> int:
        return _hash_of_merges(self)

    @property
    def byte_order(self) -> bytes:
        """The bytes in the order of their tokens."""
        return self.table.byte_order

    @property
    def left(self) -> Int32:
        """The left token of each merge, int32[n_merges]."""
        return self.table.left[: self.n_merges]

    @property
    def right(self) -> Int32:
        """The right token of each merge, int32[n_merges]."""
        return self.table.right[: self.n_merges]

    @property
    def new(self) -> Int32:
        """The token that each merge makes, int32[n_merges]."""
        return self.table.new[: self.n_merges]

    @functools.cached_property
    def n_tokens(self) -> int:
        """Tokens that the bytes and these merges make."""
        return self.table.n_tokens_after(self.n_merges)

    @property
    def tokens(self) -> list[bytes]:
        """The bytes of each token that the bytes and these merges make."""
        return self.table.tokens[: self.n_tokens]

    @functools.cached_property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The merges as pairs of token bytes, lowest rank first."""
        token = self.table.tokens
        rows = zip(self.left.tolist(), self.right.tolist(), strict=True)
        return [(token[a], token[b]) for a, b in rows]

    def token_bytes(self, token: int) -> bytes:
        """The bytes of a token."""
        return self.table.tokens[token]

    def parents(self, token: int) -> tuple[int, int] | None:
        """The two tokens that the first merge making `token` joins; None for a byte."""
        rank = int(self.birth_ranks[token])
        return None if rank < 0 else (int(self.left[rank]), int(self.right[rank]))

    def lineage(self, token: int) -> list[int]:
        """Ranks of all merges that build a token up, in merge order.

        >>> table = MergeTable(bytes(range(256)), [97, 256], [97, 98], [256, 257])
        >>> BPEModel(table, 2).lineage(257)
        [0, 1]
        """
        ranks: set[int] = set()
        waiting = [token]
        while waiting:
            rank = int(self.birth_ranks[waiting.pop()])
            if rank >= 0 and rank not in ranks:
                ranks.add(rank)
                waiting += [int(self.left[rank]), int(self.right[rank])]
        return sorted(ranks)

    @functools.cached_property
    def birth_ranks(self) -> Int32:
        """Rank of the first merge that makes each token, int32[n_tokens]; -1 for bytes."""
        births = self.table.birth_ranks[: self.n_tokens]
        return np.where(births < self.n_merges, births, np.int32(-1))

    def truncated(self, n_merges: int) -> BPEModel:
        """The model with only the first merges, on the same table."""
        return self if n_merges >= self.n_merges else BPEModel(self.table, n_merges)

    @property
    def ranks(self) -> MergeRanks:
        """The merges as the encode kernels look them up."""
        return MergeRanks(self.n_merges, *self.table.lookup)

    @functools.cached_property
    def out_of_order(self) -> int | None:
        """Rank of the first merge that uses a token which a later merge makes, else None.

        A trained list has none. An imported one may; encoding by lowest rank works all the
        same, but then ranks are no history, and join ranks are refused.
        """
        last_made = np.full(self.table.n_tokens, -1, np.int64)
        ranks = np.arange(self.n_merges)
        last_made[self.new] = ranks  # of repeated indices, the last assignment holds
        late = (last_made[self.left] >= ranks) | (last_made[self.right] >= ranks)
        return int(np.argmax(late)) if late.any() else None

    def join_ranks(
        self, data: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64], start: int, out: Int32
    ) -> None:
        """Write the rank of every merge in the pre-tokens of `data` onto the boundary it erases.

        Pre-tokens end at `ends`, the first one begins at `start`. ValueError where the merges
        are not in an order that can be replayed.
        """
        if self.out_of_order is not None:
            raise ValueError(
                f"merge {self.out_of_order} uses a token that a later merge makes, so the ranks "
                "of this tokenizer cannot be replayed one by one; it can still encode and decode"
            )
        longest = int(np.diff(ends, prepend=start).max(initial=0))
        scratch = new_scratch(longest)
        kernels.join_pretokens(data, ends, start, self.ranks, scratch, out)

    def encode_bytes(self, pretoken: bytes) -> list[int]:
        """Tokens of one pre-token: lowest rank first, never the longest match.

        >>> table = MergeTable(bytes(range(256)), [98, 97], [99, 98], [256, 257])
        >>> BPEModel(table, 2).encode_bytes(b"abc")
        [97, 256]
        """
        data = np.frombuffer(pretoken, np.uint8)
        same = np.arange(self.table.n_tokens, dtype=np.uint32)
        end = np.array([data.size])
        encoder = Encoder(self.ranks, same)
        tokens, _ = encoder.encode(0, data, np.append(0, end), np.array([-1]), end)
        made: list[int] = tokens.tolist()
        return made

    def merge_steps(self, pretoken: bytes) -> list[MergeStep]:
        """The merges inside one pre-token, in the order in which they are done.

        >>> table = MergeTable(bytes(range(256)), [97, 256], [97, 98], [256, 257])
        >>> for step in BPEModel(table, 2).merge_steps(b"aaab"):
        ...     print(step.rank, step.parts)
        0 (b'aa', b'a', b'b')
        """
        data = np.frombuffer(pretoken, np.uint8)
        joins = np.full(max(data.size - 1, 0), NEVER, np.int32)
        if data.size:
            self.join_ranks(data, np.array([data.size]), 0, joins)
        kept = list(range(len(pretoken) + 1))
        steps = []
        for boundary in sorted(np.flatnonzero(joins != NEVER).tolist(), key=lambda i: joins[i]):
            kept.remove(boundary + 1)
            rank = int(joins[boundary])
            parts = tuple(pretoken[a:b] for a, b in itertools.pairwise(kept))
            pair = (self.token_bytes(int(self.left[rank])), self.token_bytes(int(self.right[rank])))
            steps.append(MergeStep(rank, pair, parts))
        return steps


def _same_merges(one: MergeTable | BPEModel, other: MergeTable | BPEModel) -> bool:
    return one.byte_order == other.byte_order and all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("left", "right", "new")
    )


def _hash_of_merges(of: MergeTable | BPEModel) -> int:
    return hash((of.byte_order, of.left.tobytes(), of.right.tobytes(), of.new.tobytes()))
