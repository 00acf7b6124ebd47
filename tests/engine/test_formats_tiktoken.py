"""Rank files: what is read gives tiktoken's ids, and what is written is read by tiktoken."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import PATTERNS, FormatError, Tokenizer, Trainer, formats

from .texts import NASTY, real_texts
from .texts import mixed as mixed_texts

END_OF_TEXT = "<|endoftext|>"
FILES = {  # name: (file in the shared cache, pattern, merges)
    "r50k_base": ("0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4", "gpt2", 50_000),
    "p50k_base": ("ec7223a39ce59f226a68acc30dc1af2788490e15", "gpt2", 50_024),
    "cl100k_base": ("9b5ad71b2ce5302211f9c61530b329a4922fc6a4", "cl100k", 100_000),
    "o200k_base": ("fb374d419588a4632f3f557e76b4b70aebbca790", "o200k", 199_742),
}


@pytest.fixture(scope="module", params=FILES)
def published(
    request: pytest.FixtureRequest, shared: Path, tiktoken_encoding: Callable[[str], Any]
) -> tuple[str, Tokenizer, Any, bytes]:
    """Name, our tokenizer, tiktoken's and the file of a published encoding."""
    file, pattern, _ = FILES[request.param]
    data = (shared / "tiktoken_cache" / file).read_bytes()
    theirs = tiktoken_encoding(request.param)
    ours = formats.loads_tiktoken(data, pattern=pattern, special_tokens=theirs._special_tokens)
    return request.param, ours, theirs, data


def test_a_published_file_is_read_whole(published: tuple[str, Tokenizer, Any, bytes]) -> None:
    name, ours, theirs, _ = published
    assert ours.n_merges == FILES[name][2]
    assert ours.special_tokens == theirs._special_tokens
    assert {token: id for id, token in ours.vocab.items()} == {
        **theirs._mergeable_ranks,
        **{token.encode(): id for token, id in theirs._special_tokens.items()},
    }
    for left, right in ours.merges:
        assert {left, right, left + right} <= theirs._mergeable_ranks.keys()


def test_ids_equal_tiktoken_on_real_texts_and_nasty_strings(
    published: tuple[str, Tokenizer, Any, bytes], shared: Path
) -> None:
    _, ours, theirs, _ = published
    for text in [*real_texts(shared), *NASTY]:
        assert ours.encode(text) == theirs.encode(text, allowed_special="all")
        assert ours.encode(text, allowed_special=()) == theirs.encode_ordinary(text)


def test_ids_equal_tiktoken_on_every_tokens_own_text(
    published: tuple[str, Tokenizer, Any, bytes],
) -> None:
    _, ours, theirs, _ = published
    texts = [token.decode("utf-8", "replace") for token in ours.vocab.values()]
    for start in range(0, len(texts), 5000):
        text = "\n".join(texts[start : start + 5000])
        assert ours.encode(text) == theirs.encode(text, allowed_special="all")
    for text in texts[::97]:
        assert ours.encode(text) == theirs.encode(text, allowed_special="all")


def test_ids_equal_tiktoken_on_generated_texts(
    published: tuple[str, Tokenizer, Any, bytes],
) -> None:
    _, ours, theirs, _ = published

    @given(mixed_texts)
    @settings(max_examples=150)
    def compare(text: str) -> None:
        assert ours.encode(text) == theirs.encode(text, allowed_special="all")

    compare()


def test_a_published_file_is_written_as_it_was(
    published: tuple[str, Tokenizer, Any, bytes],
) -> None:
    _, ours, _, data = published
    assert formats.dumps_tiktoken(ours) == data


def test_gpt2_written_as_a_rank_file_is_r50k(gpt2: Tokenizer, shared: Path) -> None:
    data = (shared / "tiktoken_cache" / FILES["r50k_base"][0]).read_bytes()
    assert formats.dumps_tiktoken(gpt2) == data


# What tiktoken does with any file


def rank_file(ranks: dict[bytes, int]) -> bytes:
    lines = [
        base64.b64encode(t) + b" %d\n" % r for t, r in sorted(ranks.items(), key=lambda x: x[1])
    ]
    return b"".join(lines)


tokens = st.text("ab", min_size=2, max_size=6).map(str.encode) | st.sampled_from(
    [b"aa", b"aaa", b"aaaa", b"abab", b"ababa", b"bab", b"abc", b"bc", b"cab"]
)


@given(
    longer=st.lists(tokens, max_size=14, unique=True),
    first=st.sampled_from([0, 256, 300]),
    texts=st.lists(st.text("aaabbc ", max_size=24), min_size=4, max_size=8),
)
@settings(max_examples=250)
def test_any_rank_file_gives_the_ids_of_tiktoken(
    longer: list[bytes], first: int, texts: list[str]
) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    # Longer tokens come after the bytes or, at 0, before them; in any order among themselves.
    single = 256 if first == 0 else 0
    ranks = {bytes([b]): single + b for b in range(256)}
    ranks |= {token: first + i for i, token in enumerate(longer)}
    pattern = r"\S+|\s+"
    theirs = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    ours = formats.loads_tiktoken(rank_file(ranks), pattern="whitespace", unreachable="whole")
    for text in [*texts, *[token.decode() for token in longer]]:
        assert ours.encode(text) == theirs.encode_ordinary(text)
        assert ours.decode(ours.encode(text)) == text
    try:
        strict = formats.loads_tiktoken(rank_file(ranks), pattern="whitespace")
    except FormatError:
        assert ours.ignore_merges
    else:
        assert not ours.ignore_merges
        assert strict.merges == ours.merges
    assert (
        formats.loads_tiktoken(
            formats.dumps_tiktoken(ours), pattern="whitespace", unreachable="whole"
        ).vocab
        == ours.vocab
    )


BYTES = {bytes([b]): b for b in range(256)}


def test_a_token_that_no_two_others_make_is_refused_or_taken_whole() -> None:
    data = rank_file(BYTES | {b"bc": 256, b"abcd": 257, b"ab": 258, b"cd": 259})
    with pytest.raises(FormatError, match=r"line 258.*abcd"):
        formats.loads_tiktoken(data, pattern="whitespace")
    whole = formats.loads_tiktoken(data, pattern="whitespace", unreachable="whole")
    assert whole.encode("abcd abcdx") == [257, 32, 97, 256, 100, 120]
    with pytest.raises(ValueError, match="taken whole"):
        whole.join_ranks("x abcd")
    assert whole.join_ranks("bcx").tolist() == [0, 2**31 - 1]
    with pytest.raises(ValueError, match="taken whole"):
        whole.merge_steps("abcd")
    again = formats.loads_native(formats.dumps_native(whole))
    assert again.encode("abcd abcdx") == whole.encode("abcd abcdx")


def test_merges_are_rebuilt_from_the_ranks_and_blanks_survive(
    tiktoken_encoding: Callable[[str], Any], shared: Path
) -> None:
    data = (shared / "tiktoken_cache" / FILES["cl100k_base"][0]).read_bytes()
    ours = formats.loads_tiktoken(data, pattern="cl100k")
    assert len(ours.merges) == 100_000
    assert ours.encode("  ") == [256]
    assert ours.encode("hello   world") == [15339, 256, 1917]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("YWI", "line 257.*two|line 257.*rank"),
        ("YWI= 256 7", "line 257"),
        ("YWI 256", "line 257.*base64"),
        ("Y*I= 256", "line 257.*base64"),
        ("YWI= x", "line 257.*rank.*'x'"),
        ("YWI= -1", "line 257.*rank"),
        ("YWI= 4294967296", "line 257.*rank"),
        ("YWI= 97", "line 257.*97.*line 98"),
        ("YQ== 256", "line 257.*line 98"),
        ("= 256", "line 257"),
        ("YWFh" * 2000 + " 256", "line 257.*4096.*6000"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_broken_line_is_refused_with_its_number(line: str, named: str, end: str) -> None:
    lines = rank_file(BYTES).decode().splitlines()
    for text in (end.join([*lines, line]), "\ufeff" + end.join([*lines, line, "YWM= 258"])):
        with pytest.raises(FormatError, match=named):
            formats.loads_tiktoken(text, pattern="gpt2")


def test_marks_line_ends_and_blank_lines_change_nothing() -> None:
    data = rank_file(BYTES | {b"ab": 256})
    for changed in (
        b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"), data + b"\n\n", data.rstrip(),
        data.decode(),
    ):  # fmt: skip
        assert formats.loads_tiktoken(changed, pattern="gpt2").encode("ab") == [256]


@pytest.mark.parametrize(
    ("settings_", "named"),
    [
        ({"pattern": "("}, "expression"),
        ({"pattern": ""}, "pattern"),
        ({"pattern": "gpt2", "special_tokens": {"<a>": 97}}, "<a>.*97"),
        ({"pattern": "gpt2", "special_tokens": {"<a>": 300, "<b>": 300}}, "<a>.*300"),
        ({"pattern": "gpt2", "special_tokens": {"<a>": "300"}}, "<a>"),
        ({"pattern": "gpt2", "special_tokens": {"": 300}}, "empty"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings_: dict[str, Any], named: str) -> None:
    with pytest.raises(FormatError, match=named):
        formats.loads_tiktoken(rank_file(BYTES), **settings_)


def test_a_file_without_a_byte_is_refused() -> None:
    with pytest.raises(FormatError, match="0x07"):
        formats.loads_tiktoken(
            rank_file({t: i for t, i in BYTES.items() if i != 7}), pattern="gpt2"
        )


# Out


def in_tiktoken(tokenizer: Tokenizer, folder: Path) -> Any:
    """The encoding that the snippet builds, read by tiktoken from the file."""
    pytest.importorskip("tiktoken")
    path = folder / "saved.tiktoken"
    path.write_bytes(formats.dumps_tiktoken(tokenizer))
    space: dict[str, Any] = {}
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = ""  # else tiktoken keeps a copy by the path
    try:
        exec(formats.tiktoken_snippet(tokenizer, str(path)), space)
    finally:
        os.environ.pop("TIKTOKEN_CACHE_DIR")
        if before is not None:
            os.environ["TIKTOKEN_CACHE_DIR"] = before
    return space["encoding"]


@pytest.mark.parametrize("byte_order", ["plain", "gpt2"])
@pytest.mark.parametrize("pattern", [*PATTERNS, r"\w+|\d", r"[a-z]+", r"\p{N}{1,3}+|\p{L}+$"])
def test_tiktoken_gives_the_ids_of_a_trained_tokenizer(
    pattern: str, byte_order: str, tmp_path: Path, german: str
) -> None:
    trainer = Trainer(900, ["<a>", "<|b|>"], pattern=pattern, byte_order=byte_order)
    tokenizer = trainer.train(german).tokenizer
    assert formats.obstacles(tokenizer, "tiktoken") == []
    theirs = in_tiktoken(tokenizer, tmp_path)
    own = [token.decode("utf-8", "replace") for token in tokenizer.vocab.values()]
    for sample in [german, *NASTY, "x<a>y<|b|> <a", *own]:
        assert theirs.encode(sample, allowed_special="all") == tokenizer.encode(sample)
    again = formats.loads_tiktoken(
        (tmp_path / "saved.tiktoken").read_bytes(),
        pattern=pattern, special_tokens=tokenizer.special_tokens,
    )  # fmt: skip
    assert again.merges == tokenizer.merges
    assert again.vocab == tokenizer.vocab


def obstacle(vocab: dict[int, bytes], merges: list[tuple[bytes, bytes]], **options: Any) -> str:
    tokenizer = Tokenizer.from_vocab(dict(enumerate(BYTES)) | vocab, merges, **options)
    (found,) = formats.obstacles(tokenizer, "tiktoken")
    with pytest.raises(FormatError) as caught:
        formats.dumps_tiktoken(tokenizer)
    assert found in str(caught.value)
    return found


def test_what_tiktoken_would_do_otherwise_is_said_before() -> None:
    a, b, c = b"a", b"b", b"c"
    # Ids against the order of merges.
    assert "order of ids" in obstacle({257: b"ab", 256: b"bc"}, [(a, b), (b, c)])
    # The merge exists only one way here, and the other way by ids.
    found = obstacle({256: b"bc", 257: b"ab", 258: b"abc"}, [(b, c), (a, b), (b"ab", c)])
    assert "abc" in found
    # Entries that no merge makes.
    assert "no merge" in obstacle({256: b"xyz"}, [])
    # One special token that begins another.
    assert "<a>" in obstacle({}, [], special_tokens={"<a>": 300, "<a>b": 301})
    # Patterns that tiktoken has not, or takes otherwise.
    for pattern in (r"\bword\b", r"a*", r"(a)\1", r"(?<=a+)b", r"[\w--\d]"):
        assert "pattern" in obstacle({}, [], pattern=pattern)


def test_very_long_tokens_are_refused_at_once() -> None:
    tokenizer = Trainer(300).train("a" * 1_000_000).tokenizer
    assert max(map(len, tokenizer.vocab.values())) > 4096
    (found,) = formats.obstacles(tokenizer, "tiktoken")
    assert "4096" in found
    assert formats.obstacles(tokenizer, "hf") == []


def test_a_part_that_is_merged_after_its_product_is_no_obstacle(tmp_path: Path) -> None:
    merges = [(b"ab", b"c"), (b"a", b"b"), (b"abc", b"d")]
    vocab = dict(enumerate([*BYTES, b"abc", b"ab", b"abcd"]))
    tokenizer = Tokenizer.from_vocab(vocab, merges)
    theirs = in_tiktoken(tokenizer, tmp_path)
    again = formats.loads_tiktoken(formats.dumps_tiktoken(tokenizer), pattern="gpt2")
    for text in ("abcd", "ababcab", "dabcd"):
        ids = tokenizer.encode(text)
        assert theirs.encode_ordinary(text) == again.encode(text) == ids


def test_a_merge_that_never_happens_is_no_obstacle(tmp_path: Path) -> None:
    merges = [(b"b", b"c"), (b"a", b"bc"), (b"a", b"b"), (b"ab", b"c")]
    vocab = dict(enumerate([*BYTES, b"bc", b"abc", b"ab"]))
    tokenizer = Tokenizer.from_vocab(vocab, merges)
    theirs = in_tiktoken(tokenizer, tmp_path)
    for text in ("abc", "abab", "cabcab", "bcabbc"):
        assert theirs.encode_ordinary(text) == tokenizer.encode(text)
