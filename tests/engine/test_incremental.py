"""The middle rung: training by counts kept up to date equals the reference and the kernel."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bpe_core import PATTERNS, Trainer, incremental, reference

from . import oracle

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted(path.name for path in (ROOT / "sample_corpora").glob("*.txt"))

counts = st.integers(1, 9) | st.sampled_from([2**16, 2**31, 10**30])
runs = st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 20)), max_size=4).map(
    lambda parts: "".join(letter * length for letter, length in parts)
)
strings = st.text("a", max_size=40) | st.text("ab", max_size=20) | st.text("abc", max_size=20)
byte_pretokens = st.dictionaries(
    (strings | runs | st.text(max_size=8)).map(str.encode) | st.binary(max_size=10),
    counts,
    max_size=8,
)
# Letters and symbols of several letters, some of which a merge may spell too.
symbol_pretokens = st.dictionaries(
    st.lists(st.sampled_from(["a", "b", "ab", "aa", "ba", "<", "</", ">", "</w>", "/w>"])).map(
        tuple
    ),
    counts,
    max_size=6,
)
options = st.fixed_dictionaries(
    {
        "tie_break": st.sampled_from(["greatest_bytes", "lowest_ids"]),
        "min_pair_count": st.sampled_from([1, 1, 2, 5]),
        "max_token_bytes": st.sampled_from([None, None, 1, 2, 3, 8]),
        "top_k": st.integers(0, 12),
        "n_special": st.integers(0, 2),
    }
)


@given(
    pretokens=byte_pretokens,
    n_merges=st.integers(0, 40),
    byte_order=st.sampled_from(["plain", "gpt2", None]),
    options=options,
)
@settings(max_examples=300)
def test_training_on_bytes_equals_the_reference(
    pretokens: dict[bytes, int], n_merges: int, byte_order: str | None, options: dict[str, Any]
) -> None:
    if byte_order is not None:
        options = {**options, "alphabet": reference.byte_alphabet(byte_order)}
    expected = reference.train(pretokens, n_merges, **options)
    assert incremental.train(pretokens, n_merges, **options) == expected


@given(pretokens=symbol_pretokens, n_merges=st.integers(0, 30), options=options)
@settings(max_examples=300)
# The merge a + a spells a symbol: the pair (aa, aa) gains a place before its first one, ...
@example(pretokens={("a", "a", "aa", "aa"): 2}, n_merges=9, options={})
# ... and here a pair gains a place, loses it again, and is in the heap with the same count twice.
@example(
    pretokens={
        ("b", "b", "a", "a", "aa"): 3,
        ("aa", "b", "ab", "a", "b"): 2,
        ("aa", "aa", "a", "b", "aa", "ab", "ab"): 2,
    },
    n_merges=9,
    options={},
)
def test_training_on_symbols_equals_the_reference(
    pretokens: dict[tuple[str, ...], int], n_merges: int, options: dict[str, Any]
) -> None:
    expected = reference.train(pretokens, n_merges, **options)
    assert incremental.train(pretokens, n_merges, **options) == expected


@given(pretokens=byte_pretokens, options=options)
@settings(max_examples=60)
def test_training_equals_the_kernel(pretokens: dict[bytes, int], options: dict[str, Any]) -> None:
    pretokens = {pretoken: min(count, 2**40) for pretoken, count in pretokens.items() if pretoken}
    n_special = options.pop("n_special")
    specials = ["<|x|>", "<|y|>"][:n_special]
    result = Trainer(256 + n_special + 40, tuple(specials), **options).train(pretokens)
    training = incremental.train(pretokens, 40, n_special=n_special, **options)
    oracle.assert_same_trace(result.trace, training, options["top_k"])
    assert result.stop_reason == training.stop_reason


@pytest.mark.parametrize("tie_break", ["greatest_bytes", "lowest_ids"])
@pytest.mark.parametrize("name", SAMPLES)
def test_training_on_a_real_text_equals_the_kernel(name: str, tie_break: str) -> None:
    text = (ROOT / "sample_corpora" / name).read_text(encoding="utf-8")
    pretokens = oracle.word_counts(text, PATTERNS["gpt2"].regex)
    result = Trainer(256 + 400, tie_break=tie_break).train(text)
    training = incremental.train(pretokens, 400, tie_break=tie_break)
    oracle.assert_same_trace(result.trace, training, 10)
    assert result.stop_reason == training.stop_reason
    assert result.tokenizer.merges == training.merges
    some = min(40, len(training.steps))
    assert reference.train(pretokens, some, tie_break=tie_break).steps == training.steps[:some]


def test_the_work_is_what_the_module_says() -> None:
    text = (ROOT / "sample_corpora" / "stories.txt").read_text(encoding="utf-8")
    pretokens = oracle.word_counts(text, PATTERNS["gpt2"].regex, ["<|endoftext|>"])
    work: list[incremental.Work] = []
    training = incremental.train(pretokens, 300, work=work)
    assert len(work) == len(training.steps) == 300
    spelled = [reference.symbols(pretoken) for pretoken in pretokens]
    tokens = 0
    for left, right in training.merges:
        tokens += sum(map(len, spelled))
        spelled = [reference.merge(parts, left, right) for parts in spelled]
    said = (incremental.__doc__ or "").split("kept up to date")[-1].replace(",", "").split()
    numbers = [int(figure) for figure in said if figure.isdigit()]
    found = [
        sum(step.n_pairs for step in training.steps),
        sum(step.entries for step in work),
        tokens,
        sum(step.places for step in work),
    ]
    assert len(pretokens) == 2639
    assert numbers == pytest.approx(found, rel=0.03)


def test_a_tie_rule_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"tie_break .*'first'"):
        incremental.train({b"ab": 1}, 1, tie_break="first")


def test_it_imports_nothing_of_the_package_but_the_reference() -> None:
    tree = ast.parse(Path(incremental.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert [node.module for node in imports if node.level] == ["reference"]
