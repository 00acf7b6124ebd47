"""Which pattern a typed name means, and patterns that are too much for `regex`."""

from __future__ import annotations

import inspect
import json
import sys
import warnings
from pathlib import Path

import pytest

from bpe_core import PATTERNS, Tokenizer, Trainer, formats, known
from bpe_core.analysis.replay import Replay
from bpe_core.patterns import typed_pattern
from bpe_core.pretokenize import PreTokenizer


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("cl100k_base", "cl100k"),
        ("gpt4", "cl100k"),
        ("gpt-4", "cl100k"),
        ("GPT-3.5-turbo", "cl100k"),
        ("o200k_base", "o200k"),
        ("o200k-base", "o200k"),
        ("gpt4o", "o200k"),
        ("gpt-4.1", "o200k"),
        ("gpt-2", "gpt2"),
        ("r50k_base", "gpt2"),
        ("p50k_base", "gpt2"),
        (" Whitespace ", "whitespace"),
        ("Whole Text", "whole text"),
    ],
)
def test_other_names_of_a_pattern_mean_it(typed: str, name: str) -> None:
    assert typed_pattern(typed) == name
    trainer = Trainer(300, pattern=typed)
    assert trainer.pattern == name
    assert trainer == Trainer(300, pattern=name)
    assert trainer.train("low lower").tokenizer.pattern == name


def test_every_name_is_itself_and_every_encoding_means_its_pattern() -> None:
    assert [typed_pattern(name) for name in PATTERNS] == list(PATTERNS)
    for name, encoding in known.ENCODINGS.items():
        assert typed_pattern(name) == encoding.pattern


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("cl100", "'cl100k'"),
        ("gpt-44", "'gpt-4'"),
        ("o20k_base", "'o200k_base'"),
        ("é_1", "'gpt2'"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(typed: str, near: str) -> None:
    vocab = {i: bytes([i]) for i in range(256)}
    for make in (
        lambda: Trainer(600, pattern=typed),
        lambda: Tokenizer.from_vocab(vocab, [], pattern=typed),
    ):
        with pytest.raises(ValueError, match="no name that is known") as caught:
            make()
        assert near in str(caught.value)
        assert f"(?:{typed})" in str(caught.value)


@pytest.mark.parametrize("pattern", ["b+", "(?:foo)", r"\p{L}+|.", " foo", "a|b", "foo."])
def test_a_regular_expression_stays_what_it_is(pattern: str) -> None:
    assert Trainer(300, pattern=pattern).pattern == pattern


def test_a_file_that_holds_a_literal_is_still_read(tmp_path: Path) -> None:
    made = Trainer(270, pattern="(?:low)").train("low lower lowest").tokenizer
    data = json.loads(formats.dumps_native(made))
    data["pattern"] = "low"
    path = tmp_path / "bpe.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    tokenizer = Tokenizer.load(path)
    assert tokenizer.pattern == "low"
    assert tokenizer.encode("low lower lowest") == made.encode("low lower lowest")


@pytest.mark.parametrize("n", [101, 200, 3_000, 100_000])
@pytest.mark.parametrize(("opens", "closes"), [("(?:", ")"), ("(?>", ")*"), ("(", ")"), ("(", "")])
def test_groups_inside_groups_are_refused_in_a_sentence(n: int, opens: str, closes: str) -> None:
    pattern = opens * n + "a" + closes * n
    for make in (PreTokenizer, lambda pattern: Trainer(300, pattern=pattern)):
        with pytest.raises(ValueError, match="groups inside groups, over 100 deep") as caught:
            make(pattern)
        assert len(str(caught.value)) < 300


def test_groups_that_are_not_inside_groups_are_taken() -> None:
    assert PreTokenizer("(?:" * 90 + "a" + ")" * 90).split("bab") == ["b", "a", "b"]
    assert PreTokenizer("(a)" * 300).split("a" * 300 + "b") == ["a" * 300, "b"]
    assert PreTokenizer(r"\(" * 300 + "[](]").split("(" * 301 + "b") == ["(" * 301, "b"]


def deeply(n: int) -> PreTokenizer:
    return PreTokenizer("(?:" * 99 + "b" + ")" * 99) if n == 0 else deeply(n - 1)


def test_a_pattern_with_no_room_on_the_stack_is_refused_in_a_sentence() -> None:
    depth = sys.getrecursionlimit() - len(inspect.stack()) - 60
    with pytest.raises(ValueError, match="too large to compile"):
        deeply(depth)


@pytest.mark.parametrize("pattern", ["[" * 200_000, r"[\\" * 100_000, "\\" * 200_001], ids=len)
def test_a_long_pattern_that_is_broken_is_soon_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="the pattern"):
        PreTokenizer(pattern)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_pattern_that_leaves_text_out_is_told_of(workers: int) -> None:
    text = "low, löwer\n" * 300_000
    for pattern, said in (
        ("(?:gpt)", "does not match anything in the text"),
        (r"\p{L}+", f"does not match {300_000 * 3:,} of the text's {len(text.encode()):,} bytes"),
        ("[^ö]+", f"does not match {300_000 * 2:,} of the text's {len(text.encode()):,} bytes"),
    ):
        with pytest.warns(UserWarning, match=said) as caught:
            result = Trainer(300, pattern=pattern).train(text, workers=workers)
        assert len(caught) == 1
        assert result.trace.corpus_bytes == len(text.encode())


@pytest.mark.parametrize("pattern", [*PATTERNS, r"\p{L}+|\P{L}", r"(?s:.)|\b|$"])
def test_a_pattern_that_leaves_nothing_out_is_not_told_of(pattern: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Trainer(300, pattern=pattern).train("low, löwer\n \0 中" * 99)
        Trainer(300, pattern=pattern).train("")
        Trainer(300, pattern=pattern).train({b"low": 9})


def test_only_training_warns_of_gaps() -> None:
    """Whoever only measures with a tokenizer is not told again."""
    with pytest.warns(UserWarning, match="does not match"):
        tokenizer = Trainer(260, pattern=r"\p{L}+").train("low low, lower").tokenizer
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Replay(tokenizer, "low low, lower")
