"""What tokens are made of, and how pre-tokens are cut, for every kind of tokenizer."""

from __future__ import annotations

import numpy as np
import pytest

from bpe_core import Tokenizer, Trainer
from bpe_core.analysis import lineage
from bpe_core.analysis.alignment import typed_spans
from bpe_core.text import utf8

from . import imported

EOT = "<|endoftext|>"


def trained() -> Tokenizer:
    return Trainer(280, [EOT]).train("low lower lowest newer newest " * 4).tokenizer


# -- tokens -----------------------------------------------------------------------------------


def leaves(tree: lineage.Tree) -> bytes:
    return b"".join(map(leaves, tree.parts)) if tree.parts else tree.token


def ranks_of(tree: lineage.Tree) -> set[int]:
    own = set() if tree.rank is None else {tree.rank}
    return own.union(*map(ranks_of, tree.parts))


@pytest.mark.parametrize("kind", imported.KINDS)
def test_every_tree_spells_its_token(kind: str) -> None:
    tokenizer = imported.of_kind(kind)
    special = set(tokenizer.special_tokens.values())
    for token_id, token in tokenizer.vocab.items():
        tree = lineage.merge_tree(tokenizer, token_id)
        assert (tree.id, tree.token) == (token_id, token)
        assert leaves(tree) == token
        what = lineage.kind_of(tokenizer, token_id)
        assert (what == "merge") == (tree.rank is not None)
        assert (what == "special") == (token_id in special)
        assert (what == "byte") == (len(token) == 1)
        shallow = lineage.merge_tree(tokenizer, token_id, deep=False)
        assert shallow[:3] == tree[:3]
        assert [part.token for part in shallow.parts] == [part.token for part in tree.parts]
        assert not any(part.parts for part in shallow.parts)


def test_a_tree_holds_the_merges_that_the_model_names() -> None:
    tokenizer = trained()
    index_of = {int(i): k for k, i in enumerate(np.sort(list(tokenizer.vocab))) if i != 256}
    for token_id in tokenizer.merge_ids[:, 2].tolist():
        index = index_of[token_id] - 1  # the special token is none of the model's
        ranks = ranks_of(lineage.merge_tree(tokenizer, token_id))
        assert sorted(ranks) == tokenizer.model.lineage(index)


def test_what_no_merge_makes_is_whole_or_unreachable() -> None:
    assert "whole" in {
        lineage.kind_of(imported.of_kind("whole"), i) for i in imported.of_kind("whole").vocab
    }
    vocab = {i: bytes([i]) for i in range(256)} | {300: b"cd"}
    assert lineage.kind_of(Tokenizer.from_vocab(vocab, []), 300) == "unreachable"
    for asked in (lineage.kind_of, lineage.merge_tree):
        with pytest.raises(KeyError, match="99999"):
            asked(trained(), 99999)


@pytest.mark.parametrize("kind", imported.KINDS)
def test_children_are_all_that_merges_make_of_a_token(kind: str) -> None:
    tokenizer = imported.of_kind(kind)
    rows = tokenizer.merge_ids.tolist()
    for token_id in tokenizer.vocab:
        made: dict[int, int] = {}
        for rank, (left, right, new) in enumerate(rows):
            if token_id in (left, right):
                made.setdefault(new, rank)
        found = lineage.children(tokenizer, token_id)
        assert [(child.id, child.rank) for child in found] == list(made.items())
        assert all(child.token == tokenizer.vocab[child.id] for child in found)
        assert lineage.child_ids(tokenizer.merge_ids, token_id).tolist() == sorted(made)


def test_the_token_in_most_merges() -> None:
    tokenizer = trained()
    rows = tokenizer.merge_ids.tolist()
    n = {new: sum((left, right).count(new) for left, right, _ in rows) for *_, new in rows}
    most = lineage.most_merged(tokenizer)
    assert most is not None
    assert n[most] == max(n.values())
    assert lineage.most_merged(Trainer(256).train("").tokenizer) is None


def test_later_merges_are_older_never_younger() -> None:
    tokenizer = trained()
    ages = lineage.ages(tokenizer)
    by_rank = [int(ages[new]) for new in tokenizer.merge_ids[:, 2]]
    assert by_rank == sorted(by_rank)
    assert (by_rank[0], by_rank[-1]) == (1, 254)
    assert set(ages[tokenizer.byte_ids].tolist()) == {lineage.AGE_BYTE}
    assert ages[256] == lineage.AGE_SPECIAL


# -- pre-tokens -------------------------------------------------------------------------------


def test_the_pretoken_at_a_place() -> None:
    text = f"low é{EOT} lower"
    n = len(text.encode())
    found = [lineage.pretoken_at(trained(), text, i) for i in range(n + 1)]
    assert found[-1] is None
    assert list(dict.fromkeys(found[:-1])) == ["low", " é", EOT, " lower"]
    as_text = [lineage.pretoken_at(trained(), text, i, special_tokens=False) for i in range(n)]
    assert list(dict.fromkeys(as_text)) == trained().pretokenizer.split(text)


@pytest.mark.parametrize("kind", imported.KINDS)
def test_pretokens_are_found_and_cut_as_in_the_text(kind: str) -> None:
    tokenizer = imported.of_kind(kind)
    ids, ends = typed_spans(tokenizer, imported.TEXT)
    tokens: list[bytes] = []
    at = 0
    for start, end in zip([0, *ends.tolist()], ends.tolist(), strict=False):
        pretoken = lineage.pretoken_at(tokenizer, imported.TEXT, start)
        assert pretoken is not None or start == end
        if pretoken is None or start < at:
            continue
        special = pretoken in tokenizer.special_tokens
        mine = [utf8(pretoken)] if special else lineage.tokens_of(tokenizer, utf8(pretoken))
        assert b"".join(mine) == utf8(pretoken)
        tokens += mine
        at = int(ends[len(tokens) - 1])  # the next pre-token begins behind these
    assert tokens == [tokenizer.vocab[i] for i in ids.tolist()]


def test_steps_end_in_the_tokens_and_join_one_pair_each() -> None:
    tokenizer = trained()
    for word in ("lowest", " newest", "lowlow", "x", "", "lower" * 12, "机器"):
        pretoken = utf8(word)
        parts = tuple(bytes([b]) for b in pretoken)
        found = lineage.steps(tokenizer, pretoken)
        for step in found:
            at = step.at
            assert step.parts == (*parts[:at], parts[at] + parts[at + 1], *parts[at + 2 :])
            assert parts[at : at + 2] == tokenizer.merges[step.rank]
            parts = step.parts
        assert list(parts) == lineage.tokens_of(tokenizer, pretoken)
        assert parts == tuple(tokenizer.vocab[i] for i in tokenizer.encode(word))
        ranks = [step.rank for step in found]
        assert ranks == sorted(ranks)


def test_steps_of_merges_that_are_no_history_are_refused() -> None:
    whole = imported.of_kind("whole")
    word = max((t for i, t in whole.vocab.items() if whole.birth_ranks[i] < 0), key=len)
    assert lineage.tokens_of(whole, word) == [word]
    for tokenizer, pretoken in ((whole, word), (imported.of_kind("backwards"), b" lowest")):
        with pytest.raises(ValueError, match=r"whole|replayed"):
            lineage.steps(tokenizer, pretoken)


def test_longest_match_is_another_cut() -> None:
    vocab = dict(enumerate([*(bytes([i]) for i in range(256)), b"bc", b"ab", b"<x>"]))
    tokenizer = Tokenizer.from_vocab(vocab, [(b"b", b"c"), (b"a", b"b")], ["<x>"])
    assert lineage.longest_match(tokenizer, b"abc") == [b"ab", b"c"]
    assert lineage.tokens_of(tokenizer, b"abc") == [b"a", b"bc"]
    assert lineage.longest_match(tokenizer, b"bca") == lineage.tokens_of(tokenizer, b"bca")
    assert lineage.longest_match(tokenizer, b"<x>") == [b"<", b"x", b">"]


def test_longest_match_takes_the_longest_entry_at_each_place() -> None:
    tokenizer = trained()
    entries = {token for i, token in tokenizer.vocab.items() if i != 256}
    for word in (b" lowest", b"newestlower", b"", "été".encode()):
        rest = word
        for token in lineage.longest_match(tokenizer, word):
            assert token == max((e for e in entries if rest.startswith(e)), key=len)
            rest = rest[len(token) :]
        assert not rest
