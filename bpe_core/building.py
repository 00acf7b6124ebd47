"""What tokenizers are made of, from a vocabulary and merges as files declare them.

Belongs here: from bytes or ids that somebody else numbered to a model, its ids, and the entries
beyond it. Does not belong here: reading files (`formats`) and the tokenizer itself
(`tokenizer.py`, whose `from_vocab` hands on to this).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .model import BPEModel, MergeTable
from .special import check_special_tokens


class TokenizerParts(NamedTuple):
    """What a `Tokenizer` has beside its pre-tokenizer, in the order of its arguments.

    `ids` are those of the model's tokens, `extra` the entries that no merge makes and that are
    no special tokens.
    """

    model: BPEModel
    special_tokens: dict[str, int]
    ids: npt.NDArray[np.uint32]
    extra: dict[int, bytes]

    @classmethod
    def of(
        cls,
        model: BPEModel,
        ids: npt.NDArray[np.uint32],
        vocab: Mapping[int, bytes],
        special_tokens: dict[str, int],
    ) -> TokenizerParts:
        """The parts, with what the vocabulary holds beyond the others as `extra`."""
        used = {*ids.tolist(), *special_tokens.values()}
        extra = {i: token for i, token in vocab.items() if i not in used}
        return cls(model, special_tokens, ids, extra)


def parts_of_vocab(
    vocab: Mapping[int, bytes],
    merges: Sequence[tuple[bytes, bytes]],
    special_tokens: Mapping[str, int] | Iterable[str] | None = None,
) -> TokenizerParts:
    """The parts of `Tokenizer.from_vocab`, which says what is taken and what is refused.

    >>> vocab = {i: bytes([i]) for i in range(256)} | {300: b"ab", 301: b"xy"}
    >>> parts = parts_of_vocab(vocab, [(b"a", b"b")])
    >>> parts.ids[256:].tolist(), parts.extra
    ([300], {301: b'xy'})
    """
    vocab = {i: bytes(token) for i, token in vocab.items()}
    byte_ids = _ids_of_bytes(vocab)
    down = sorted(vocab, reverse=True)  # of entries that are the same, the lowest id holds
    id_of = dict(zip(map(vocab.__getitem__, down), down, strict=True))
    merges = list(merges)
    parts = list(itertools.chain.from_iterable(merges))
    made = [left + right for left, right in merges]
    made_ids = list(map(id_of.get, made))
    if None in made_ids:
        rank = made_ids.index(None)
        raise ValueError(f"merge {rank} makes {made[rank]!r}, which is not in the vocabulary")
    part_ids = list(map(id_of.get, parts, itertools.repeat(-1)))
    rows: Any = [part_ids[::2], part_ids[1::2], made_ids]
    found = _model_of_ids(byte_ids, np.array(rows, np.int64).T)
    if found is None:
        known = {bytes([b]) for b in range(256)}.union(made)
        i, part = next((i, part) for i, part in enumerate(parts) if part not in known)
        what = "is made by no merge" if part in id_of else "is not in the vocabulary"
        raise ValueError(f"merge {i // 2} uses {part!r}, which {what}")
    return TokenizerParts.of(*found, vocab, _special_ids(vocab, id_of, special_tokens))


def parts_of_ids(
    vocab: Mapping[int, bytes],
    merges: npt.NDArray[np.int64],
    special_tokens: dict[str, int],
) -> TokenizerParts:
    """The same with merges given by ids (left, right, made), int64[m, 3]."""
    found = _model_of_ids(_ids_of_bytes(vocab), merges)
    if found is None:  # by bytes, it is said which merge is at fault
        pairs = [(vocab[left], vocab[right]) for left, right, _ in merges.tolist()]
        return parts_of_vocab(vocab, pairs, special_tokens)
    return TokenizerParts.of(*found, vocab, special_tokens)


def last_places(merges: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where each merge of int64[m, 2 or more] stands last, in order; twins have the same parts.

    >>> last_places(np.array([[1, 2], [2, 3], [1, 2]])).tolist()
    [1, 2]
    """
    backwards = (merges[:, 0] << 32 | merges[:, 1])[::-1]
    found: npt.NDArray[np.int64] = np.unique(backwards, return_index=True)[1]
    return np.sort(len(merges) - 1 - found)


def _ids_of_bytes(vocab: Mapping[int, bytes]) -> list[int]:
    """Id of each byte value; the lowest where there are several. ValueError where there is none."""
    singles = sorted([(i, token[0]) for i, token in vocab.items() if len(token) == 1], reverse=True)
    id_of = {b: i for i, b in singles}
    missing = sorted(set(range(256)) - id_of.keys())
    if missing:
        raise ValueError(f"the vocabulary has no token for the byte 0x{missing[0]:02X}")
    return [id_of[b] for b in range(256)]


def _model_of_ids(
    byte_ids: Sequence[int], merges: npt.NDArray[np.int64]
) -> tuple[BPEModel, npt.NDArray[np.uint32]] | None:
    """The model of merges given by ids (left, right, made), int64[m, 3]; its tokens' ids, uint32.

    Of a merge that is given twice the last counts. None where a merge uses what is no byte
    and what no merge makes.
    """
    merges = merges[last_places(merges)]
    products, first = np.unique(merges[:, 2], return_index=True)
    products = products[np.argsort(first)]
    ids = np.concatenate([np.sort(byte_ids), products[~np.isin(products, byte_ids)]])
    by_id = np.argsort(ids)
    places = np.searchsorted(ids[by_id], merges)
    index = by_id[np.minimum(places, ids.size - 1)]
    if (ids[index] != merges).any():
        return None
    order = bytes(np.argsort(byte_ids).tolist())
    table = MergeTable(order, *index.T)
    return BPEModel(table, len(table)), np.array(ids.tolist(), np.uint32)


def _special_ids(
    vocab: Mapping[int, bytes],
    id_of: Mapping[bytes, int],
    special_tokens: Mapping[str, int] | Iterable[str] | None,
) -> dict[str, int]:
    """Ids of special tokens: as given, as in the vocabulary, or the next free ones."""
    names = check_special_tokens(special_tokens or ())
    given = special_tokens if isinstance(special_tokens, Mapping) else {}
    specials: dict[str, int] = {}
    following = max(vocab, default=-1) + 1
    for name in names:
        raw = name.encode("utf-8")
        if name in given:
            specials[name] = given[name]
        elif raw in id_of:
            specials[name] = id_of[raw]
        else:
            specials[name] = following
            following += 1
        taken = vocab.get(specials[name], raw)
        if taken != raw:
            raise ValueError(
                f"the special token {name!r} has id {specials[name]}, which is {taken!r} in "
                "the vocabulary"
            )
    names_of: dict[int, str] = {}
    for name, i in specials.items():
        if i in names_of:
            raise ValueError(f"the special tokens {names_of[i]!r} and {name!r} both have id {i}")
        names_of[i] = name
    return specials
