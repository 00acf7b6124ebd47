"""tiktoken's ids and cuts, from the small files beside this, where `../shared` is not there too."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from bpe_core import PATTERNS, PreTokenizer, formats

from . import fixtures, oracle
from .fixtures import make_fixtures
from .texts import mixed

ENCODINGS = sorted(fixtures.ENCODINGS)
SOME_PATTERNS = sorted(fixtures.PATTERN_OF)


def cut_by(pattern: str) -> Callable[[str], list[str]]:
    return PreTokenizer(pattern).split


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_ids_are_those_of_tiktoken(encoding: str) -> None:
    tokenizer = fixtures.tokenizer(encoding)
    ids = fixtures.ids()[encoding]
    assert sum(map(len, ids.values())) > 1000
    for name, text in fixtures.texts().items():
        assert tokenizer.encode(text) == ids[name], name
        assert tokenizer.encode_to_array(text).tolist() == ids[name], name
        assert list(tokenizer.encode_iterable([text[:7], text[7:]])) == ids[name], name
        assert tokenizer.decode(ids[name]) == text, name


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_special_tokens_have_their_published_ids(encoding: str) -> None:
    tokenizer = fixtures.tokenizer(encoding)
    for name, id in fixtures.ENCODINGS[encoding][1].items():
        assert tokenizer.encode(name) == [id]
        assert id not in tokenizer.encode(name, allowed_special=())


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_each_token_is_encoded_as_itself(encoding: str) -> None:
    """What the parts in the files are for: a token's own bytes lead to it."""
    tokenizer = fixtures.tokenizer(encoding)
    cut = cut_by(tokenizer.pattern)
    whole = 0
    for id, token in tokenizer.vocab.items():
        text = token.decode("utf-8", "replace")
        if text.encode() == token and cut(text) == [text]:
            assert tokenizer.encode(text) == [id]
            whole += 1
    assert whole > tokenizer.vocab_size // 2


@pytest.mark.parametrize("pattern", SOME_PATTERNS)
def test_texts_are_cut_as_by_the_published_pattern(pattern: str) -> None:
    lengths = fixtures.cuts()[pattern]["texts"]
    for name, text in fixtures.texts().items():
        assert [len(pretoken) for pretoken in cut_by(pattern)(text)] == lengths[name], name
        assert [len(p) for p in oracle.cut(PATTERNS[pattern].regex, text)] == lengths[name], name


@pytest.mark.parametrize("pattern", SOME_PATTERNS)
def test_short_runs_are_cut_as_by_the_published_pattern(pattern: str) -> None:
    digests = fixtures.cuts()[pattern]["runs"]
    assert list(digests) == list(fixtures.CHARACTERS)
    for first, digest in digests.items():
        assert fixtures.digest(cut_by(pattern), first) == digest, f"runs that begin with {first!r}"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_tiktoken_gives_the_same_ids_with_the_same_part_of_the_vocabulary(encoding: str) -> None:
    """Any text, since tiktoken itself can be built with the part of the vocabulary that is here."""
    tiktoken = pytest.importorskip("tiktoken")
    tokenizer = fixtures.tokenizer(encoding)
    specials = fixtures.ENCODINGS[encoding][1]
    ranks = {t: i for i, t in tokenizer.vocab.items() if i not in specials.values()}
    theirs = tiktoken.Encoding(
        encoding,
        pat_str=published_pattern(encoding),
        mergeable_ranks=ranks,
        special_tokens=specials,
    )

    @given(mixed)
    @settings(max_examples=150)
    def compare(text: str) -> None:
        assert tokenizer.encode(text) == theirs.encode(text, allowed_special="all")

    compare()
    text = "\n".join(fixtures.texts().values())
    assert tokenizer.encode(text) == theirs.encode(text, allowed_special="all")


def published_pattern(encoding: str) -> str:
    """The pattern that tiktoken has for an encoding; no rank file is read for it."""
    openai_public = pytest.importorskip("tiktoken_ext.openai_public")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_public, "load_tiktoken_bpe", lambda *args, **options: {})
        pattern: str = openai_public.ENCODING_CONSTRUCTORS[encoding]()["pat_str"]
    return pattern


@pytest.mark.parametrize("pattern", SOME_PATTERNS)
def test_any_text_is_cut_as_by_the_pattern_of_the_installed_tiktoken(pattern: str) -> None:
    published = PreTokenizer(published_pattern(fixtures.PATTERN_OF[pattern]))
    assert published.scheme == 0

    @given(mixed)
    @settings(max_examples=200)
    def compare(text: str) -> None:
        assert cut_by(pattern)(text) == published.split(text)

    compare()


def test_the_files_are_those_that_are_made_anew(
    shared: Path, tiktoken_encoding: Callable[[str], Any]
) -> None:
    made = make_fixtures.make()
    for name, content in made.items():
        assert fixtures.read(name) == content, f"{name}: run {make_fixtures.__name__}"
    for encoding in ENCODINGS:
        whole = tiktoken_encoding(encoding)._mergeable_ranks
        part = [int(line.split()[1]) for line in fixtures.rank_file(encoding).splitlines()]
        assert all(a < b for a, b in pairwise(part))
        tokenizer = fixtures.tokenizer(encoding)
        assert all(whole[tokenizer.token_bytes(rank)] == rank for rank in part)


def test_a_part_of_a_rank_file_is_written_as_it_was() -> None:
    for encoding in ENCODINGS:
        written = formats.dumps_tiktoken(fixtures.tokenizer(encoding))
        assert written == fixtures.rank_file(encoding)
