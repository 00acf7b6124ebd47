"""The table of merges and models as cuts of it."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from bpe_core import BPEModel, MergeTable, Tokenizer, Trainer

BYTES = bytes(range(256))


@pytest.fixture(scope="module")
def model() -> BPEModel:
    return Trainer(300).train("low lower lowest newest newer " * 9).tokenizer.model


def test_a_table_and_a_model_are_values_that_do_not_change(model: BPEModel) -> None:
    with pytest.raises(FrozenInstanceError):
        model.n_merges = 3  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        model.table.left = model.table.right  # type: ignore[misc]


def test_a_cut_is_another_number_on_the_same_table(model: BPEModel) -> None:
    cut = model.truncated(7)
    assert cut.table is model.table is cut.truncated(3).table
    assert cut.n_merges == 7
    assert cut.truncated(3).n_merges == 3
    assert model.truncated(model.n_merges) is model
    assert cut.truncated(9) is cut  # it has no more than its own
    assert model.ranks[1] is cut.ranks[1] is model.table.lookup[0]
    assert np.shares_memory(cut.left, model.left)


def test_a_cut_is_what_its_merges_alone_make(model: BPEModel) -> None:
    table = model.table
    for n in (0, 1, 5, model.n_merges):
        cut = model.truncated(n)
        alone = BPEModel(MergeTable(BYTES, table.left[:n], table.right[:n], table.new[:n]), n)
        for name in ("left", "right", "new", "birth_ranks"):
            assert np.array_equal(getattr(cut, name), getattr(alone, name)), name
        for name in ("n_merges", "n_tokens", "tokens", "merges", "byte_order", "out_of_order"):
            assert getattr(cut, name) == getattr(alone, name), name
        for token in range(cut.n_tokens):
            assert cut.parents(token) == alone.parents(token)
            assert cut.lineage(token) == alone.lineage(token)
        for pretoken in (b"", b"low", b" lowest", b" newest"):
            assert cut.encode_bytes(pretoken) == alone.encode_bytes(pretoken)
            assert cut.merge_steps(pretoken) == alone.merge_steps(pretoken)


def test_tokens_may_be_numbered_and_used_in_any_order() -> None:
    # Merge 0 makes token 257 and uses 256, which merge 1 makes.
    table = MergeTable(BYTES, [256, 97], [99, 98], [257, 256])
    assert table.tokens[256:] == [b"ab", b"abc"]
    assert table.birth_ranks[256:].tolist() == [1, 0]
    whole, cut = BPEModel(table, 2), BPEModel(table, 1)
    assert whole.out_of_order == 0
    assert cut.n_tokens == 258
    assert cut.birth_ranks[256:].tolist() == [-1, 0]
    assert cut.merges == [(b"ab", b"c")]
    with pytest.raises(ValueError, match="merge 0 uses a token that a later merge makes"):
        whole.merge_steps(b"abc")
    with pytest.raises(ValueError, match="made of each other"):
        MergeTable(BYTES, [256, 257], [97, 98], [257, 256]).tokens  # noqa: B018


def test_a_tokenizer_shows_what_it_is_made_of() -> None:
    vocab = {i: bytes([i]) for i in range(256)} | {300: b"ab", 301: b"xy", 302: b"<s>"}
    tokenizer = Tokenizer.from_vocab(vocab, [(b"a", b"b")], ["<s>"])
    assert tokenizer.ids[256:].tolist() == [300]
    assert tokenizer.extra == {301: b"xy"}
    assert tokenizer.special_tokens == {"<s>": 302}
    assert tokenizer.ignore_merges == {}
    assert tokenizer.sizes[[0, 255, 256, 300, 301, 302]].tolist() == [1, 1, 0, 2, 2, 3]
    cut = tokenizer.truncated(0)
    assert cut.model.table is tokenizer.model.table
    assert cut.ids is tokenizer.ids
