"""Hand-worked cases that pin the reference, and the laws it must obey on generated words."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import reference
from bpe_core.reference import NEVER, Step, train

from . import oracle


def test_every_column_of_a_training_worked_by_hand() -> None:
    training = train({b"abab": 2, b"aab": 1}, 10, n_special=1)
    assert training.initial_tokens == 11
    assert training.steps == [
        Step(
            left=b"a",
            right=b"b",
            token_id=257,
            pair_count=5,
            merged=5,
            corpus_tokens=6,
            n_pairs=3,
            n_tied=1,
            candidates=[(b"a", b"b", 5), (b"b", b"a", 2), (b"a", b"a", 1)],
        ),
        Step(
            left=b"ab",
            right=b"ab",
            token_id=258,
            pair_count=2,
            merged=2,
            corpus_tokens=4,
            n_pairs=2,
            n_tied=1,
            candidates=[(b"ab", b"ab", 2), (b"a", b"ab", 1)],
        ),
        Step(
            left=b"a",
            right=b"ab",
            token_id=259,
            pair_count=1,
            merged=1,
            corpus_tokens=3,
            n_pairs=1,
            n_tied=1,
            candidates=[(b"a", b"ab", 1)],
        ),
    ]
    assert training.stop_reason == "no_pairs"


def test_the_classic_words_with_an_end_of_word_symbol() -> None:
    words = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    training = train({(*word, "</w>"): count for word, count in words.items()}, 6)
    assert training.merges == [
        ("t", "</w>"),
        ("s", "t</w>"),
        ("e", "st</w>"),
        ("o", "w"),
        ("l", "ow"),
        ("w", "est</w>"),
    ]
    assert [step.n_tied for step in training.steps[:3]] == [3, 2, 1]


def test_the_classic_words_as_bytes() -> None:
    training = train({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}, 6)
    merges = [b" ".join(pair).decode() for pair in training.merges]
    assert merges == ["s t", "e st", "o w", "l ow", "w est", "n e"]


def test_overlapping_places_count_but_cannot_all_be_replaced() -> None:
    step = train({b"aaaaa": 7}, 1).steps[0]
    assert (step.pair_count, step.merged, step.corpus_tokens) == (28, 14, 21)


def test_a_run_is_merged_from_the_left() -> None:
    assert reference.merge([b"a"] * 5, b"a", b"a") == [b"aa", b"aa", b"a"]
    assert reference.encode(b"baaaaab", [(b"a", b"a")]) == [b"b", b"aa", b"aa", b"a", b"b"]


@pytest.mark.parametrize(
    ("tie_break", "byte_order", "winner"),
    [
        ("greatest_bytes", "plain", (b"x", b"y")),
        ("greatest_bytes", "gpt2", (b"x", b"y")),
        ("lowest_ids", "plain", (b"\x00", b"\x01")),
        ("lowest_ids", "gpt2", (b"a", b"b")),
    ],
)
def test_a_tie_is_settled_by_bytes_or_by_ids(
    tie_break: str, byte_order: str, winner: tuple[bytes, bytes]
) -> None:
    words = {b"ab": 3, b"\x00\x01": 3, b"xy": 3}
    alphabet = reference.byte_alphabet(byte_order)
    step = train(words, 1, tie_break=tie_break, alphabet=alphabet).steps[0]
    assert (step.left, step.right) == winner
    assert step.n_tied == 3


def test_a_tie_compares_whole_tokens_and_a_prefix_is_the_smaller_one() -> None:
    # After b + c both (a, bc) and (b, a) stand twice; a greater first token decides.
    words = {b"abc": 2, b"ba": 2, b"bc": 1}
    assert train(words, 3).merges == [(b"b", b"c"), (b"b", b"a"), (b"a", b"bc")]
    counts = {(b"a", b"b"): 1, (b"ab", b"a"): 1, (b"a", b"ba"): 1}
    assert reference.winning_order(counts) == [(b"ab", b"a"), (b"a", b"ba"), (b"a", b"b")]


def test_the_byte_orders_are_permutations_and_gpt2_begins_with_the_printable_ones() -> None:
    for byte_order in ("plain", "gpt2"):
        alphabet = reference.byte_alphabet(byte_order)
        assert sorted(alphabet) == [bytes([value]) for value in range(256)]
    alphabet = reference.byte_alphabet("gpt2")
    assert alphabet[0] == b"!"
    assert alphabet[187] == b"\xff"
    assert alphabet[188] == b"\x00"
    assert alphabet[-1] == b"\xad"
    with pytest.raises(ValueError, match="latin"):
        reference.byte_alphabet("latin")


def test_a_pair_that_would_be_too_long_does_not_exist() -> None:
    training = train({b"hello": 2, b" hello": 1, b" world": 1}, 50, max_token_bytes=2)
    assert max(len(left + right) for left, right in training.merges) == 2
    assert training.stop_reason == "no_pairs"
    assert train({b"hello": 2}, 50, max_token_bytes=1).steps == []
    # ll, lo, el, he are 4 pairs; once l + o is merged, (l, lo) would be 3 bytes long.
    assert [step.n_pairs for step in train({b"hello": 2}, 9, max_token_bytes=2).steps] == [4, 2]


def test_training_stops_below_the_wanted_count_and_says_so() -> None:
    words = {b"ab": 1, b" ab": 2, b" cd": 2, b" ef": 1}
    assert train(words, 9, min_pair_count=3).merges == [(b"a", b"b")]
    training = train(words, 9, min_pair_count=2)
    assert training.merges == [(b"a", b"b"), (b"c", b"d"), (b" ", b"cd"), (b" ", b"ab")]
    assert training.stop_reason == "min_pair_count"
    assert train(words, 1).stop_reason == "vocab_size"
    assert train(words, 0).stop_reason == "vocab_size"
    for empty in ({}, {b"": 3}, {b"a": 3}):
        assert (train(empty, 9).merges, train(empty, 9).stop_reason) == ([], "no_pairs")


def test_counts_are_exact_beyond_64_bits() -> None:
    step = train({b"the": 3 * 10**30, b"cat": 5}, 1).steps[0]
    assert (step.left, step.right, step.pair_count) == (b"t", b"h", 3 * 10**30)


def test_encoding_takes_the_lowest_rank_and_not_the_longest_token() -> None:
    merges = [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")]
    assert reference.encode(b"abc", merges) == [b"a", b"bc"]
    assert reference.encode(b"ab", merges) == [b"ab"]
    assert reference.encode(b"", merges) == []


def test_a_string_spelled_by_two_merges_is_one_token() -> None:
    merges = [(b"b", b"c"), (b"a", b"bc"), (b"a", b"b"), (b"ab", b"c")]
    assert reference.encode(b"abc", merges) == reference.encode(b"abc", merges[2:]) == [b"abc"]


def test_of_a_merge_listed_twice_the_last_rank_counts() -> None:
    merges = [(b"a", b"b"), (b"b", b"c"), (b"a", b"b")]
    assert reference.encode(b"abc", merges) == [b"a", b"bc"]
    assert reference.join_ranks(b"abc", merges) == [NEVER, 1]


def test_join_ranks_worked_by_hand() -> None:
    merges = [(b"a", b"a"), (b"aa", b"aa"), (b"b", b"c")]
    assert reference.join_ranks(b"aaaaaxbc", merges) == [0, 1, 0, NEVER, NEVER, NEVER, 2]
    assert reference.join_ranks(b"a", merges) == reference.join_ranks(b"", merges) == []


@pytest.mark.parametrize(
    ("text", "special_tokens", "pieces"),
    [
        ("", ["<a>"], []),
        ("<a>", ["<a>"], ["<a>"]),
        ("x<a>y<a><a>", ["<a>"], ["x", "<a>", "y", "<a>", "<a>"]),
        ("<a><b>", ["<a>", "<a><b>", "<b>"], ["<a><b>"]),
        ("<b><a>", ["<b>", "<a><b>", "<a>"], ["<b>", "<a>"]),
        ("aaa", ["aa"], ["aa", "a"]),
        ("abcd", ["bcd", "ab"], ["ab", "cd"]),
        ("x.*y", [".*"], ["x", ".*", "y"]),
        ("plain", [], ["plain"]),
    ],
)
def test_special_tokens_cut_leftmost_longest_and_literally(
    text: str, special_tokens: list[str], pieces: list[str]
) -> None:
    for order in (special_tokens, special_tokens[::-1]):
        found = list(reference.split_special(text, order))
        assert [piece for piece, _ in found] == pieces
        assert all(is_special == (piece in special_tokens) for piece, is_special in found)


WORDS = st.dictionaries(
    st.text("abc", max_size=12).map(str.encode) | st.text("a", max_size=40).map(str.encode),
    st.integers(1, 30),
    max_size=8,
)


@given(WORDS, st.sampled_from(["greatest_bytes", "lowest_ids"]), st.sampled_from([None, 3]))
@settings(max_examples=150)
def test_laws_of_training(words: dict[bytes, int], tie_break: str, longest: int | None) -> None:
    training = train(words, 25, tie_break=tie_break, max_token_bytes=longest)
    sizes = [training.initial_tokens, *(step.corpus_tokens for step in training.steps)]
    tokens = [left + right for left, right in training.merges]
    assert len(set(tokens)) == len(tokens), "a training spells no string twice"
    assert list(training.ids.values()) == list(range(256 + len(tokens)))
    for step, before, after in zip(training.steps, sizes, sizes[1:], strict=False):
        assert before - after == step.merged > 0
        assert step.merged <= step.pair_count == step.candidates[0][2]
        assert step.candidates[0][:2] == (step.left, step.right)
        assert 1 <= step.n_tied <= step.n_pairs
    for k in range(len(training.steps) + 1):
        merges = training.merges[:k]
        encoded = {word: reference.encode(word, merges) for word in words}
        assert sum(count * len(encoded[word]) for word, count in words.items()) == sizes[k]


@given(WORDS, st.binary(max_size=12) | st.text("abc", max_size=30).map(str.encode))
@settings(max_examples=100)
def test_laws_of_join_ranks(words: dict[bytes, int], word: bytes) -> None:
    merges = train(words, 20).merges
    joins = reference.join_ranks(word, merges)
    for k in range(len(merges) + 1):
        kept = [0, *(place + 1 for place, rank in enumerate(joins) if rank >= k), len(word)]
        tokens = [word[start:end] for start, end in pairwise(kept) if end]
        assert reference.encode(word, merges[:k]) == tokens
        for start, end in pairwise(kept):
            if end - start > 1:  # the largest rank inside a token is the merge that made it
                largest = max(joins[start : end - 1])
                assert merges[largest][0] + merges[largest][1] == word[start:end]


@given(st.text("<a>b", max_size=20), st.sets(st.text("<a>b", min_size=1, max_size=4), max_size=4))
def test_laws_of_the_special_split(text: str, special_tokens: set[str]) -> None:
    pieces = list(reference.split_special(text, special_tokens))
    assert "".join(piece for piece, _ in pieces) == text
    for piece, is_special in pieces:
        assert is_special == (piece in special_tokens)
        assert is_special or not any(special in piece for special in special_tokens)


def test_the_first_merges_of_a_real_text(shared) -> None:
    text = (shared / "cs336" / "corpus.en").read_text(encoding="utf-8")
    lines = (shared / "cs336" / "train-bpe-reference-merges.txt").read_text(encoding="utf-8")
    expected = [tuple(map(oracle.from_glyphs, line.split(" "))) for line in lines.splitlines()]
    pattern = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    words = oracle.word_counts(text, pattern, ["<|endoftext|>"])
    assert train(words, 25).merges == expected[:25]
