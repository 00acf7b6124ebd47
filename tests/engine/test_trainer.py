"""The trainer's promises: settings, the trace, resuming, stopping, and every way to give counts."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from bpe_core import PATTERNS, Trainer, reference

from . import oracle

WORDS = {b"abab": 2, b"aab": 1}


def test_every_column_of_a_trace_worked_by_hand() -> None:
    result = Trainer(267, special_tokens=["<|x|>"], top_k=4).train(WORDS)
    trace = result.trace
    assert result.stop_reason == "no_pairs"
    assert trace.initial_tokens == 11
    assert trace.left.tolist() == [97, 257, 97]
    assert trace.right.tolist() == [98, 257, 257]
    assert trace.new.tolist() == [257, 258, 259]
    assert trace.pair_count.tolist() == [5, 2, 1]
    assert trace.merged.tolist() == [5, 2, 1]
    assert trace.corpus_tokens.tolist() == [6, 4, 3]
    assert trace.n_pairs.tolist() == [3, 2, 1]
    assert trace.n_tied.tolist() == [1, 1, 1]
    assert trace.cand_left.tolist() == [[97, 98, 97, -1], [257, 97, -1, -1], [97, -1, -1, -1]]
    assert trace.cand_right.tolist() == [[98, 97, 97, -1], [257, 257, -1, -1], [257, -1, -1, -1]]
    assert trace.cand_count.tolist() == [[5, 2, 1, 0], [2, 1, 0, 0], [1, 0, 0, 0]]


def test_the_columns_have_the_promised_types() -> None:
    trace = Trainer(258, top_k=3).train(WORDS).trace
    for name in ("left", "right", "new"):
        assert getattr(trace, name).dtype == np.int32
    for name in ("pair_count", "merged", "corpus_tokens", "n_pairs", "n_tied"):
        assert getattr(trace, name).dtype == np.int64
    assert trace.cand_left.dtype == trace.cand_right.dtype == np.int32
    assert trace.cand_count.dtype == np.int64
    assert trace.cand_left.shape == trace.cand_right.shape == trace.cand_count.shape == (2, 3)
    assert len(trace) == 2
    assert {len(column) for column in trace.to_columns().values()} == {2}


@pytest.mark.parametrize("tie_break", ["greatest_bytes", "lowest_ids"])
@pytest.mark.parametrize("byte_order", ["plain", "gpt2"])
def test_the_trace_equals_the_reference_on_a_small_text(tie_break: str, byte_order: str) -> None:
    text = "the cat sat on the mat, the rat sat on the cat: 'tis the end\n" * 3
    trainer = Trainer(330, ["<|x|>"], tie_break=tie_break, byte_order=byte_order, top_k=7)
    result = trainer.train(text + "<|x|>" + text)
    expected = reference.train(
        oracle.word_counts(text + "<|x|>" + text, PATTERNS["gpt2"].regex, ["<|x|>"]),
        330 - 257,
        tie_break=tie_break,
        alphabet=reference.byte_alphabet(byte_order),
        n_special=1,
        top_k=7,
    )
    oracle.assert_same_trace(result.trace, expected, 7)
    assert oracle.spelled(result.tokenizer, result.trace) == expected.merges
    assert result.tokenizer.merges == expected.merges
    assert result.trace.corpus_bytes == len((text * 2).encode())


@pytest.mark.parametrize("tie_break", ["greatest_bytes", "lowest_ids"])
def test_the_trace_equals_the_reference_when_tables_have_to_grow(tie_break: str) -> None:
    # One long pre-token with many pairs, one of which stands at many places.
    letters = random.Random(11).choices("etaoin shrdlu", weights=range(26, 0, -2), k=1500)
    text = "".join(letters) + "ab" * 600
    trainer = Trainer(256 + 150, tie_break=tie_break, top_k=3)
    expected = reference.train({text.encode(): 3}, 150, tie_break=tie_break, top_k=3)
    oracle.assert_same_trace(trainer.train({text.encode(): 3}).trace, expected, 3)


def test_a_column_of_candidates_may_be_left_out() -> None:
    trace = Trainer(258, top_k=0).train(WORDS).trace
    assert trace.cand_left.shape == (2, 0)
    assert trace.pair_count.tolist() == [5, 2]


# Settings


@pytest.mark.parametrize("size", [0, 255, 256, -1, 1.5])
def test_a_size_below_the_alphabet_and_special_tokens_is_refused(size: Any) -> None:
    with pytest.raises(ValueError, match="257"):
        Trainer(size, ["<|x|>"])
    assert Trainer(257, ["<|x|>"]).n_merges == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"special_tokens": [""]},
        {"special_tokens": ["<a>", "<a>"]},
        {"special_tokens": "<a>"},
        {"tie_break": "random"},
        {"byte_order": "latin"},
        {"pattern": "(unclosed"},
        {"min_pair_count": 0},
        {"max_token_bytes": 0},
        {"top_k": -1},
    ],
    ids=str,
)
def test_wrong_settings_are_refused_with_a_sentence(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w+ \w+ \w+"):
        Trainer(300, **wrong)


def test_settings_are_frozen_values() -> None:
    one = Trainer(300, ["<a>"], pattern="whitespace")
    assert one == Trainer(300, ("<a>",), pattern="whitespace")
    assert len({one, Trainer(300, ("<a>",), pattern="whitespace"), Trainer(300)}) == 2
    with pytest.raises(AttributeError):
        one.vocab_size = 400  # type: ignore[misc]


# Runs


def test_a_run_advances_by_the_merges_asked_for_and_no_more() -> None:
    run = Trainer(259).start({b"abcdef": 3})
    assert (run.n_merges, run.goal, run.done, run.stop_reason) == (0, 3, False, None)
    assert len(run.trace) == 0
    assert run.advance(2) == 2
    assert (run.n_merges, run.done, run.stop_reason, len(run.trace)) == (2, False, None, 2)
    assert run.advance(10) == 1
    assert (run.n_merges, run.done, run.stop_reason) == (3, True, "vocab_size")
    assert run.advance(10) == 0
    assert run.result().stop_reason == "vocab_size"


def test_a_run_that_is_stopped_keeps_what_it_has_learned() -> None:
    run = Trainer(300).start({b"abcdef": 3})
    run.advance(2)
    result = run.result()
    assert result.stop_reason == "stopped"
    assert result.tokenizer.merges == [(b"e", b"f"), (b"d", b"ef")]
    assert result.tokenizer.vocab_size == 258
    assert len(result.trace) == 2


def test_a_result_does_not_change_when_its_run_goes_on() -> None:
    run = Trainer(300).start({b"abcdef": 3, b"abc": 1})
    run.advance(1)
    early = run.result()
    trace = {name: column.copy() for name, column in early.trace.to_columns().items()}
    while not run.done:
        run.advance(1)
    assert early.tokenizer.merges == run.result().tokenizer.merges[:1]
    for name, column in early.trace.to_columns().items():
        assert np.array_equal(column, trace[name]), name


@pytest.mark.parametrize(
    ("trainer", "words", "n_merges", "stop_reason"),
    [
        (Trainer(256), WORDS, 0, "vocab_size"),
        (Trainer(258), WORDS, 2, "vocab_size"),
        (Trainer(259), WORDS, 3, "vocab_size"),
        (Trainer(260), WORDS, 3, "no_pairs"),
        (Trainer(260, min_pair_count=2), WORDS, 2, "min_pair_count"),
        (Trainer(260, min_pair_count=6), WORDS, 0, "min_pair_count"),
        (Trainer(260, max_token_bytes=1), WORDS, 0, "no_pairs"),
        (Trainer(260, max_token_bytes=3), WORDS, 2, "no_pairs"),
        (Trainer(260), {}, 0, "no_pairs"),
        (Trainer(260), {b"a": 5}, 0, "no_pairs"),
    ],
)
def test_why_training_stops(
    trainer: Trainer, words: dict[bytes, int], n_merges: int, stop_reason: str
) -> None:
    result = trainer.train(words)
    assert (len(result.trace), result.stop_reason) == (n_merges, stop_reason)
    assert result.tokenizer.n_merges == n_merges
    assert result.tokenizer.vocab_size == 256 + n_merges


def test_progress_may_stop_the_counting(tmp_path) -> None:
    class Enough(Exception):
        pass

    seen: list[int] = []

    def on_progress(n_bytes: int) -> None:
        seen.append(n_bytes)
        raise Enough

    path = tmp_path / "text.txt"
    path.write_text("some words " * 10, encoding="utf-8")
    for corpus in ("some words " * 10, path):
        seen.clear()
        with pytest.raises(Enough):
            Trainer(300).train(corpus, on_progress=on_progress)
        assert len(seen) == 1


def test_progress_ends_at_the_size_of_the_corpus(tmp_path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("some wörds " * 1000, encoding="utf-8")
    for corpus in (path, path.read_text(encoding="utf-8")):
        seen: list[int] = []
        Trainer(256).train(corpus, on_progress=seen.append)
        assert seen == sorted(seen)
        assert seen[-1] == path.stat().st_size


# Ids and counts


def test_ids_are_bytes_then_special_tokens_then_merges() -> None:
    tokenizer = Trainer(261, ["<a>", "<b>"]).train({b"abcd": 2}).tokenizer
    assert [tokenizer.vocab[value] for value in range(256)] == [bytes([v]) for v in range(256)]
    assert tokenizer.special_tokens == {"<a>": 256, "<b>": 257}
    assert [tokenizer.vocab[id] for id in range(256, 261)] == [
        b"<a>",
        b"<b>",
        b"cd",
        b"bcd",
        b"abcd",
    ]
    assert tokenizer.merge_ids.tolist() == [[99, 100, 258], [98, 258, 259], [97, 259, 260]]
    assert tokenizer.birth_ranks.tolist() == [-1] * 258 + [0, 1, 2]


def test_the_byte_order_is_the_order_of_the_first_ids() -> None:
    tokenizer = Trainer(257, byte_order="gpt2").train({b"ab": 1}).tokenizer
    alphabet = reference.byte_alphabet("gpt2")
    assert [tokenizer.vocab[id] for id in range(256)] == alphabet
    assert tokenizer.byte_ids.tolist() == [alphabet.index(bytes([v])) for v in range(256)]
    assert tokenizer.merge_ids.tolist() == [[64, 65, 256]]


def test_counts_beyond_32_bits_do_not_wrap() -> None:
    result = Trainer(400, top_k=3).train({b"the": 3_000_000_000, b"cat": 5, b"aaaa": 2**40})
    assert result.tokenizer.merges[:3] == [(b"a", b"a"), (b"aa", b"aa"), (b"t", b"h")]
    assert result.trace.pair_count[:3].tolist() == [3 * 2**40, 2**40, 3_000_000_000]
    assert result.trace.initial_tokens == 9_000_000_000 + 15 + 4 * 2**40
    assert result.trace.corpus_bytes == result.trace.initial_tokens


@pytest.mark.parametrize(
    "words",
    [{b"aaaa": 2**62}, {b"ab": 2**62, b"ba": 2**62}, {b"a": 2**63}, {b"ab": 2**64}],
    ids=str,
)
def test_counts_whose_sum_needs_more_than_64_bits_are_refused(words: dict[bytes, int]) -> None:
    with pytest.raises(ValueError):
        Trainer(300).train(words)


@pytest.mark.parametrize("top_k", [0, 1, 10])
def test_ties_among_large_counts_are_all_found(top_k: int) -> None:
    words = {bytes([left, right]): 10**6 for left in range(64) for right in range(64)}
    trace = Trainer(276, top_k=top_k).train(words).trace
    assert trace.n_tied.tolist() == trace.n_pairs.tolist() == list(range(4096, 4076, -1))


@pytest.mark.parametrize("count", [-1, 1.5, "3"])
def test_counts_must_be_whole_and_not_negative(count: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        Trainer(300).train({b"ab": count})


def test_a_count_of_zero_is_a_word_that_does_not_occur() -> None:
    with_zero = Trainer(300).train({b"ab": 3, b"xyz": 0})
    without = Trainer(300).train({b"ab": 3})
    assert with_zero.tokenizer.merges == without.tokenizer.merges
    assert with_zero.trace.n_pairs.tolist() == without.trace.n_pairs.tolist()
    assert with_zero.stop_reason == "no_pairs"


def test_the_order_of_words_never_matters() -> None:
    words = {bytes([a, b, c]): 1 for a in b"abc" for b in b"abc" for c in b"abc"}
    expected = Trainer(320).train(words).trace.to_columns()
    backwards = dict(reversed(list(words.items())))
    found = Trainer(320).train(backwards).trace.to_columns()
    for name, column in expected.items():
        assert np.array_equal(found[name], column), name
