"""The merges as a value: token bytes, parents, ranks; encoding and merging one pre-token.

Belongs here: `BPEModel`, the byte orders and GPT-2's byte-to-character table. Tokens here are
indices: 0..255 the bytes in byte order, then one for each new token in merge order. Does not
belong here: special tokens, patterns and the ids that users see (`tokenizer.py`).
"""

from __future__ import annotations

import functools
import itertools
from typing import NamedTuple

import numpy as np

from .encoder import Encoder, new_scratch

NEVER = 2**31 - 1  # the rank of a boundary that no merge erases
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


class BPEModel:
    """A byte order and a list of merges, given as token indices.

    `left, right, new` are int32[m]; row r makes token `new[r]` of `left[r]` and `right[r]`.

    >>> model = BPEModel(bytes(range(256)), [97, 256], [97, 98], [256, 257])
    >>> model.token_bytes(257), model.encode_bytes(b"aaab")
    (b'aab', [256, 97, 98])
    """

    def __init__(self, byte_order: bytes, left, right, new) -> None:  # type: ignore[no-untyped-def]
        self.byte_order = byte_order
        self.left = np.ascontiguousarray(left, np.int32)
        self.right = np.ascontiguousarray(right, np.int32)
        self.new = np.ascontiguousarray(new, np.int32)
        self.n_merges = len(self.left)
        self.id_of_byte = np.empty(256, np.int32)
        self.id_of_byte[np.frombuffer(byte_order, np.uint8)] = np.arange(256)
        self._share = self

    @property
    def n_tokens(self) -> int:
        """Tokens that the bytes and these merges make."""
        return max(256, int(self.new[: self.n_merges].max(initial=255)) + 1)

    @functools.cached_property
    def _bytes(self) -> list[bytes]:
        if self._share is not self:
            return self._share._bytes
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

    def token_bytes(self, token: int) -> bytes:
        """The bytes of a token."""
        return self._bytes[token]

    def parents(self, token: int) -> tuple[int, int] | None:
        """The two tokens that the first merge making `token` joins; None for a byte."""
        rank = int(self.birth_ranks[token])
        return None if rank < 0 else (int(self.left[rank]), int(self.right[rank]))

    def lineage(self, token: int) -> list[int]:
        """Ranks of all merges that build a token up, in merge order.

        >>> BPEModel(bytes(range(256)), [97, 256], [97, 98], [256, 257]).lineage(257)
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
    def birth_ranks(self) -> np.ndarray:
        """Rank of the first merge that makes each token, int32[n_tokens]; -1 for bytes."""
        births = np.full(self.n_tokens, -1, np.int32)
        ranks = np.arange(self.n_merges, dtype=np.int32)[::-1]
        births[self.new[: self.n_merges][::-1]] = ranks
        return births

    @functools.cached_property
    def sizes(self) -> np.ndarray:
        """Bytes of each token, int64."""
        if self._share is not self:
            return self._share.sizes
        return np.array(list(map(len, self._bytes)), np.int64)

    def truncated(self, n_merges: int) -> BPEModel:
        """The model with only the first merges; it shares all tables with this one."""
        if n_merges >= self.n_merges:
            return self
        cut = BPEModel.__new__(BPEModel)
        cut.__dict__.update(
            byte_order=self.byte_order, id_of_byte=self.id_of_byte, _share=self._share,
            left=self.left[:n_merges], right=self.right[:n_merges], new=self.new[:n_merges],
            n_merges=n_merges,
        )  # fmt: skip
        return cut

    @functools.cached_property
    def tables(self) -> tuple[np.ndarray, ...]:
        """What the encode kernels look pairs up in: (id_of_byte, new, pairs, byte_ranks)."""
        if self._share is not self:
            return self._share.tables
        from . import kernels

        size = 1 << (2 * self.n_merges + 15).bit_length()
        pairs = np.full(2 * size, -1, np.int64)
        byte_ranks = np.full(65536, NEVER, np.int32)
        kernels.fill_ranks(self.left, self.right, pairs, byte_ranks)
        return self.id_of_byte, self.new, pairs, byte_ranks

    @functools.cached_property
    def out_of_order(self) -> int | None:
        """Rank of the first merge that uses a token which a later merge makes, else None.

        A trained list has none. An imported one may; encoding by lowest rank works all the
        same, but then ranks are no history, and join ranks are refused.
        """
        last_made = np.full(self._share.n_tokens, -1, np.int64)
        ranks = np.arange(self.n_merges)
        last_made[self.new] = ranks  # of repeated indices, the last assignment holds
        late = (last_made[self.left] >= ranks) | (last_made[self.right] >= ranks)
        return int(np.argmax(late)) if late.any() else None

    def join_ranks(self, data: np.ndarray, ends: np.ndarray, start: int, out: np.ndarray) -> None:
        """Write the rank of every merge in the pieces of `data` onto the boundary it erases.

        ValueError where the merges are not in an order that can be replayed.
        """
        from . import kernels

        if self.out_of_order is not None:
            raise ValueError(
                f"merge {self.out_of_order} uses a token that a later merge makes, so the ranks "
                "of this tokenizer cannot be replayed one by one; it can still encode and decode"
            )
        longest = int(np.diff(ends, prepend=start).max(initial=0))
        scratch = new_scratch(longest)
        kernels.join_pieces(data, ends, start, self.n_merges, *self.tables, *scratch, out)

    def encode_bytes(self, pretoken: bytes) -> list[int]:
        """Token indices of one pre-token: lowest rank first, never the longest match.

        >>> BPEModel(bytes(range(256)), [98, 97], [99, 98], [256, 257]).encode_bytes(b"abc")
        [97, 256]
        """
        return [token for token, _ in self._cells(pretoken)]

    def _cells(self, pretoken: bytes) -> list[tuple[int, int]]:
        """(token, end) of each token of a pre-token."""

        data = np.frombuffer(pretoken, np.uint8)
        same = np.arange(self._share.n_tokens, dtype=np.uint32)
        encoder = Encoder((self.n_merges, *self.tables, same))
        one = np.array([data.size])
        tokens, _ = encoder.encode(0, data, np.append(0, one), np.array([-1]), one)
        ends = np.cumsum(self.sizes[tokens]).tolist()
        return list(zip(tokens.tolist(), ends, strict=True))

    def merge_steps(self, pretoken: bytes) -> list[MergeStep]:
        """The merges inside one pre-token, in the order in which they are done.

        >>> for step in BPEModel(bytes(range(256)), [97, 256], [97, 98], [256, 257]
        ...                      ).merge_steps(b"aaab"): print(step.rank, step.parts)
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
