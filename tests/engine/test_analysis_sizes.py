"""Vocabulary sizes and merges of any tokenizer agree with the vocabularies themselves."""

from __future__ import annotations

import pytest

from bpe_core import Tokenizer, Trainer
from bpe_core.analysis import sizes

from . import imported


@pytest.mark.parametrize("kind", imported.KINDS)
def test_sizes_are_those_of_the_entries(kind: str) -> None:
    tokenizer = imported.of_kind(kind)
    smallest, largest = sizes.smallest(tokenizer), sizes.largest(tokenizer)
    for size in range(smallest, largest + 1, 9):
        shorter = tokenizer.truncated(sizes.merges_for(tokenizer, size))
        made = set(shorter.merge_ids[:, 2].tolist())
        assert smallest + len(made) == size
        assert sizes.at_size(tokenizer, size).n_merges == shorter.n_merges
    assert sizes.merges_for(tokenizer, 0) == 0
    assert sizes.merges_for(tokenizer, largest + 9) == tokenizer.n_merges
    all_sizes = [sizes.merges_for(tokenizer, size) for size in range(smallest, largest + 1)]
    assert sizes.merges_at_sizes(tokenizer).tolist() == all_sizes


def test_entries_made_twice_count_once() -> None:
    vocab = {i: bytes([i]) for i in range(256)} | {300: b"ab", 301: b"bc", 302: b"abc"}
    ab, bc = (b"a", b"b"), (b"b", b"c")
    twice = Tokenizer.from_vocab(vocab, [ab, bc, (b"ab", b"c"), (b"a", b"bc")], {"<x>": 999})
    assert (sizes.smallest(twice), sizes.largest(twice)) == (257, 260)
    assert sizes.births(twice).tolist() == [0, 1, 2]
    assert sizes.merges_at_sizes(twice).tolist() == [0, 1, 2, 4]


@pytest.mark.parametrize(
    ("kind", "smaller", "curve"),
    [
        ("plain", True, True),
        ("nfc", True, False),
        ("backwards", False, False),
        ("whole", False, False),
        ("strips", True, False),
    ],
)
def test_which_tokenizers_have_smaller_sizes_and_a_curve(
    kind: str, smaller: bool, curve: bool
) -> None:
    tokenizer = imported.of_kind(kind)
    assert sizes.has_smaller_sizes(tokenizer) is smaller
    assert sizes.has_curve(tokenizer) is curve


def test_a_tokenizer_without_merges_has_one_size() -> None:
    bare = Trainer(256).train("").tokenizer
    assert sizes.smallest(bare) == sizes.largest(bare) == 256
    assert sizes.merges_at_sizes(bare).tolist() == [0]
