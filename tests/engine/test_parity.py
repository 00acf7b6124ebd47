"""Other people's tokenizers pin the definition: tiktoken, Hugging Face, a published reference."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import PATTERNS, Tokenizer, Trainer, train_bpe

from . import oracle

END_OF_TEXT = "<|endoftext|>"
TEXTS = [
    "address.txt",
    "german.txt",
    "tinystories_sample.txt",
    "special_token_double_newlines_non_whitespace.txt",
    "special_token_trailing_newlines.txt",
    "corpus.en",
    "gpt2_merges.txt",
]
ENCODINGS = {"gpt2": "gpt2", "cl100k": "cl100k_base", "o200k": "o200k_base"}

# Tables of letters differ between versions of Unicode: only characters that this Python knows are
# compared with libraries that bring their own tables.
assigned = st.characters(exclude_categories=["Cn", "Cs", "Co"])
BITS = [
    "'s",
    "'S",
    "'ll",
    "'RE",
    "'ſ",
    " the",
    "The",
    "THe",
    "  ",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\u3000",
]
BITS += [
    "12",
    "12345",
    "½",
    "٣",
    "!",
    " ?!",
    "//\n",
    "é",
    "e\u0301",
    "ß",
    "中文",
    "한국",
    "日本",
    "🙃",
    "👨‍👩‍👧",
    "नमस्ते",
]
mixed = st.lists(st.sampled_from(BITS) | st.text(assigned, max_size=3), max_size=20).map("".join)


@pytest.mark.parametrize("name", TEXTS)
def test_gpt2_ids_equal_tiktoken_on_real_texts(
    name: str, gpt2: Tokenizer, tiktoken_encoding: Callable[[str], Any], shared: Path
) -> None:
    text = (shared / "cs336" / name).read_text(encoding="utf-8")
    theirs = tiktoken_encoding("gpt2")
    ids = theirs.encode(text, allowed_special="all")
    assert gpt2.encode(text) == ids
    assert gpt2.encode_to_array(text).tolist() == ids
    assert list(gpt2.encode_iterable(text.splitlines(keepends=True))) == ids
    assert gpt2.encode(text, allowed_special=()) == theirs.encode_ordinary(text)
    assert gpt2.decode(ids) == text


def test_gpt2_ids_equal_tiktoken_on_generated_texts(
    gpt2: Tokenizer, tiktoken_encoding: Callable[[str], Any]
) -> None:
    theirs = tiktoken_encoding("gpt2")

    @given(mixed | st.text(assigned, max_size=50))
    @settings(max_examples=250)
    def compare(text: str) -> None:
        assert gpt2.encode(text) == theirs.encode_ordinary(text)

    compare()


def test_cl100k_ids_equal_tiktoken_on_generated_texts(
    cl100k: Tokenizer, tiktoken_encoding: Callable[[str], Any]
) -> None:
    theirs = tiktoken_encoding("cl100k_base")
    assert cl100k.n_merges == 100_000

    @given(mixed | st.text(assigned, max_size=50))
    @settings(max_examples=150)
    def compare(text: str) -> None:
        assert cl100k.encode(text) == theirs.encode_ordinary(text)

    compare()


@pytest.mark.parametrize("name", ["address.txt", "german.txt", "tinystories_sample.txt"])
def test_cl100k_ids_equal_tiktoken_on_real_texts(
    name: str, cl100k: Tokenizer, tiktoken_encoding: Callable[[str], Any], shared: Path
) -> None:
    text = (shared / "cs336" / name).read_text(encoding="utf-8")
    assert cl100k.encode(text) == tiktoken_encoding("cl100k_base").encode(
        text, allowed_special="all"
    )


@pytest.mark.parametrize("name", sorted(ENCODINGS))
def test_the_named_patterns_cut_as_the_published_ones(
    name: str, tiktoken_encoding: Callable[[str], Any]
) -> None:
    published = tiktoken_encoding(ENCODINGS[name])._pat_str
    tokenizer = Trainer(256, pattern=name).train("").tokenizer

    @given(mixed | st.text(max_size=30))
    @settings(max_examples=200)
    def compare(text: str) -> None:
        pieces = [match.group() for match in regex.finditer(published, text)]
        assert tokenizer.pretokens(text) == pieces
        assert oracle.cut(PATTERNS[name].regex, text) == pieces

    compare()


@pytest.mark.parametrize("name", sorted(ENCODINGS))
def test_the_named_patterns_cut_every_character_as_the_published_ones(
    name: str, tiktoken_encoding: Callable[[str], Any]
) -> None:
    published = tiktoken_encoding(ENCODINGS[name])._pat_str
    tokenizer = Trainer(256, pattern=name).train("").tokenizer
    uniform = [*range(0x3500, 0x4D00), *range(0x4F00, 0x9F00), *range(0xAC80, 0xD700)]
    skipped = {*uniform, *range(0xD800, 0xE000)}
    letters = [chr(code) for code in range(0x20000) if code not in skipped]
    text = "".join(f"a{letter}1{letter} " for letter in letters)
    pieces = [match.group() for match in regex.finditer(published, text)]
    assert tokenizer.pretokens(text) == pieces


# Training


def published_merges(shared: Path) -> list[tuple[bytes, ...]]:
    path = shared / "cs336" / "train-bpe-reference-merges.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    return [tuple(map(oracle.from_glyphs, line.split(" "))) for line in lines]


def test_training_gives_the_published_merges_in_order(shared: Path) -> None:
    vocab, merges = train_bpe(shared / "cs336" / "corpus.en", 500, [END_OF_TEXT])
    assert merges == published_merges(shared)
    path = shared / "cs336" / "train-bpe-reference-vocab.json"
    published = {
        token.encode() if token == END_OF_TEXT else oracle.from_glyphs(token)
        for token in json.loads(path.read_text(encoding="utf-8"))
    }
    assert set(vocab.values()) == published
    assert len(vocab) == 500


def hugging_face_merges(
    texts: list[str], vocab_size: int, special_tokens: list[str], minimum: int = 0
) -> list[tuple[bytes, bytes]]:
    """The merge list that `tokenizers` learns with GPT-2's pre-tokenizer."""
    tokenizers = pytest.importorskip("tokenizers")
    byte_level = tokenizers.pre_tokenizers.ByteLevel
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = byte_level(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=special_tokens,
        initial_alphabet=byte_level.alphabet(),
        min_frequency=minimum,
        show_progress=False,
    )
    theirs.train_from_iterator(texts, trainer)
    merges = json.loads(theirs.to_str())["model"]["merges"]
    return [(oracle.from_glyphs(left), oracle.from_glyphs(right)) for left, right in merges]


LOWEST_IDS: dict[str, Any] = {"tie_break": "lowest_ids", "byte_order": "gpt2"}


@pytest.mark.parametrize("name", ["corpus.en", "address.txt", "german.txt"])
def test_lowest_ids_gives_the_merges_of_hugging_face(name: str, shared: Path) -> None:
    text = (shared / "cs336" / name).read_text(encoding="utf-8")
    ours = Trainer(1500, **LOWEST_IDS).train([text]).tokenizer.merges
    assert ours == hugging_face_merges([text], 1500, [])


def test_lowest_ids_gives_the_merges_of_hugging_face_on_generated_texts() -> None:
    pytest.importorskip("tokenizers")
    word = st.text("abc", min_size=1, max_size=12) | st.sampled_from(BITS)

    @given(st.lists(word, min_size=1, max_size=30))
    @settings(max_examples=60)
    def compare(words: list[str]) -> None:
        text = " ".join(words)
        ours = Trainer(320, **LOWEST_IDS).train(text).tokenizer.merges
        assert ours == hugging_face_merges([text], 320, [])

    compare()


def test_the_least_count_gives_the_merges_of_hugging_face(shared: Path) -> None:
    text = (shared / "cs336" / "address.txt").read_text(encoding="utf-8")
    ours = Trainer(5000, min_pair_count=3, **LOWEST_IDS).train(text).tokenizer.merges
    assert ours == hugging_face_merges([text], 5000, [], minimum=3)
