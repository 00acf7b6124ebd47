"""What is read in bulk is what is read item by item, and merges from ranks are the defined ones."""

from __future__ import annotations

import base64
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bpe_core import FormatError, Tokenizer, formats
from bpe_core.formats import gpt2, huggingface_parts, tiktoken
from bpe_core.formats.common import all_from_characters, from_characters

SINGLES = [bytes([b]) for b in range(256)]
PUBLISHED = [
    "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4", "ec7223a39ce59f226a68acc30dc1af2788490e15",
    "9b5ad71b2ce5302211f9c61530b329a4922fc6a4", "fb374d419588a4632f3f557e76b4b70aebbca790",
]  # fmt: skip


# The two parts of a token


def parts_of(token: bytes, ranks: dict[bytes, int]) -> tuple[bytes, bytes] | None:
    """By definition: the adjacent pair of the lowest rank joins, the leftmost of equal ones. Ranks
    are 0, 1, ..."""
    parts = [token[i : i + 1] for i in range(len(token))]
    never = len(ranks)
    while len(parts) > 2:
        joined = [ranks.get(a + b, never) for a, b in pairwise(parts)]
        if min(joined) == never:
            return None
        i = joined.index(min(joined))
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return parts[0], parts[1]


def check(tokens: list[bytes], every: int = 1) -> list[bytes]:
    """Compare some of the tokens, given in order of rank, with the definition; those not made."""
    left, right = (row.tolist() for row in tiktoken._parents(tokens))
    ranks = {token: rank for rank, token in enumerate(tokens)}
    for token, a, b in list(zip(tokens, left, right, strict=True))[::every]:
        if len(token) == 1:
            assert a == tiktoken.BYTE
        else:
            expected = parts_of(token, ranks)
            assert (None if a == tiktoken.LOST else (tokens[a], tokens[b])) == expected
    return [token for token, a in zip(tokens, left, strict=True) if a == tiktoken.LOST]


stretches = st.lists(st.text("ab", min_size=1, max_size=3), min_size=2, max_size=7)
longer = st.lists(stretches.map("".join).map(str.encode), max_size=16, unique=True).map(
    lambda tokens: [token for token in tokens if len(token) > 1]
)


@given(longer, st.booleans(), st.integers(0, 300))
@example([b"ab", b"ba", b"aba", b"ababa", b"cxcxc", b"xc", b"cx"], False, 256)
@example([b"aa", b"aaa", b"aaaa", b"aaaaaaa"], False, 256)
@settings(max_examples=200)
def test_parts_are_those_of_the_definition(tokens: list[bytes], late: bool, at: int) -> None:
    """Also where longer tokens come before the bytes, and most are not made at all."""
    singles = SINGLES[::-1] if late else SINGLES
    check([*singles[:at], *tokens, *singles[at:]])


@pytest.mark.parametrize("alphabet", [b"a", b"ab", b"abcdefgh"])
@pytest.mark.parametrize("length", [7, 8, 15, 16, 17, 31, 32, 33, 64])
def test_parts_of_tokens_of_every_length(alphabet: bytes, length: int) -> None:
    """The key of a token has one form up to 15 bytes and another one from 16 on."""
    rng = random.Random(length)
    text = bytes(rng.choices(alphabet, k=length))
    heads = [text[:n] for n in range(2, length + 1)]
    assert check([*SINGLES, *heads]) == [] or len(alphabet) > 1
    check([*SINGLES, *dict.fromkeys([*heads[::-1], *[text[-n:] for n in range(2, length)]])])
    check([*SINGLES, text, *heads[:-1:3]])


def test_the_longest_tokens_that_a_file_may_have() -> None:
    doubled = [b"a" * 2**k for k in range(1, 13)]
    assert len(doubled[-1]) == tiktoken.LONGEST
    left, right = tiktoken._parents([*SINGLES, *doubled])
    assert left[256:].tolist() == right[256:].tolist() == [97, *range(256, 267)]
    lost = bytes(random.Random(1).choices(b"ab", k=tiktoken.LONGEST))
    assert tiktoken._parents([*SINGLES, lost])[0][-1] == tiktoken.LOST
    ranks = {token: rank for rank, token in enumerate([*SINGLES, *doubled, lost])}
    data = b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())
    tokenizer = formats.loads_tiktoken(data, pattern="whitespace", unreachable="whole")
    assert tokenizer.encode("a" * 4097) == [267, 97]
    assert tokenizer.encode(lost.decode()) == [268]


def test_two_tokens_with_one_hash_are_told_apart() -> None:
    """Both have 15 bytes; the second one is made so that the mixed words of both are equal."""
    factor, words = 0x9E3779B97F4A7C15, 1 << 64
    high, other_high = (
        int.from_bytes(tail, "little") | 15 << 56 for tail in (b"ijklmno", b"IJKLMNO")
    )
    low = int.from_bytes(b"abcdefgh", "little")
    mixed = (low ^ high >> 29) * factor % words
    wanted = mixed ^ mixed >> 32 ^ high ^ other_high
    other_low = (wanted ^ wanted >> 32) * pow(factor, -1, words) % words ^ other_high >> 29
    token = b"abcdefghijklmno"
    other = other_low.to_bytes(8, "little") + b"IJKLMNO"
    heads = [text[:n] for text in (token, other) for n in range(2, 15)]
    assert check([*SINGLES, *heads, token, other + b"!"]) == [other + b"!"]


@pytest.mark.parametrize("file", PUBLISHED)
def test_parts_in_published_files(file: str, shared: Path) -> None:
    data = (shared / "tiktoken_cache" / file).read_bytes()
    ranks = tiktoken._read_at_once(data.rstrip(b"\n"))
    assert ranks == tiktoken._read_lines(data)[0]
    assert check(tiktoken._in_order(ranks or {}), every=37) == []


# Reading in bulk


@given(st.data())
@settings(max_examples=300)
def test_a_rank_file_is_read_at_once_only_if_its_lines_are_good(data: st.DataObject) -> None:
    pieces = st.sampled_from(
        [b"YQ==", b"YWI=", b"YWJj", b"YR==", b"YQ", b"=", b"Y Q", b"0", b"12", b"7", b"007", b"+1",
         b"1_0", b"2147483647", b"99999999999", b" ", b" ", b" ", b"\n", b"\n", b"\r\n", b"\r",
         b"\t", b"\v", b"\x1c", b"\xa0", b"\xc3\xa9", b""]
    )  # fmt: skip
    lines = [f"{base64.b64encode(b'x%d' % i).decode()} {300 + i}".encode() for i in range(4)]
    raw = b"\n".join(lines)
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(raw)))
        raw = raw[:at] + b"".join(data.draw(st.lists(pieces, max_size=4))) + raw[at:]
    found = tiktoken._read_at_once(raw)
    try:
        expected = tiktoken._read_lines(raw)[0]
    except FormatError:
        assert found is None
    else:
        assert found in (None, expected)


def test_what_a_rank_file_may_have_is_read_at_once() -> None:
    ranks = {token: 3 * i for i, token in enumerate([*SINGLES, b"ab", b"a" * 4096])}
    raw = b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())
    assert tiktoken._read_at_once(raw.rstrip()) == ranks
    assert tiktoken._read(raw.replace(b"\n", b"\r\n")) == tiktoken._read(raw + b"\n") == ranks
    for wrong in (
        raw + base64.b64encode(b"a" * 4097) + b" 9000", raw + b"YQ== 9000", raw + b"eHk= 3",
        raw.replace(b" 3\n", b" 3 3\n", 1).replace(b" 6\n", b"\n", 1), raw + b"eHk= 2147483647",
    ):  # fmt: skip
        assert tiktoken._read_at_once(wrong) is None
        with pytest.raises(FormatError):
            tiktoken._read(wrong)
    assert tiktoken._read_at_once(b"") is None
    assert tiktoken._read(b"") == {}


characters = st.text("ab ĠĊ\u0143\u0144é中\ud800\0", max_size=4)


@given(st.lists(characters, max_size=8))
def test_characters_become_bytes_in_bulk_as_one_by_one(texts: list[str]) -> None:
    assert all_from_characters(texts) == [from_characters(text) for text in texts]


IDS = {"a": 5, "b": 2, "ab": 9, "ba": 0, "aba": 7, "中": 4, "a中": 8, "é é": 3, "a b": 6, "": 1}


@given(
    st.lists(
        st.sampled_from(["a b", "b a", "ab a", "a ba", "a 中", "a b", "b a"])
        | st.sampled_from(["a", "a b a", "a  b", " a", "a ", "", "a x", "x a", "b b", 5, None])
        | st.lists(st.sampled_from(["a", "b", "ab", "", "é é", 1]), max_size=3),
        max_size=4,
    )
    | st.lists(st.sampled_from([["a", "b"], ["b", "a"], ["a", "ba"], ["a", "a"], ["a b", ""]]))
)
@example(["a b a", "b"])
@example([["a"], ["b", "a", "b"]])
def test_merges_of_a_tokenizer_json_at_once_and_one_by_one(merges: list[Any]) -> None:
    found = huggingface_parts._columns_at_once(merges, IDS)
    try:
        expected = huggingface_parts._columns_one_by_one(merges, IDS)
    except FormatError:
        assert found is None
    else:
        assert found in (None, expected)
        if merges and {type(merge) for merge in merges} in ({str}, {list}):
            assert found is not None


@given(
    st.lists(
        st.sampled_from(["a b\n", "b a\n", "ab a\r\n", "\n", "a b", "a  b\n", "a\r b\n", "a\n"])
        | st.sampled_from(["a b a\n", " a\n", "a \n", "x a\n", "a 中\n", "b b\n", "a\x85 b\n"]),
        max_size=4,
    ),
    st.sampled_from(["", "#version: 0.2\n", "#version: 0.2\r\n", "#version"]),
)
def test_merges_of_a_merges_txt_at_once_and_by_line(lines: list[str], first: str) -> None:
    known = {b"a", b"b", b"ab", b"ba", b"aba", b""}
    text = first + "".join(lines)
    found = gpt2._merges_at_once(text, known)
    try:
        expected = gpt2._merges_by_line(text, known)
    except FormatError:
        assert found is None
    else:
        assert found == expected or (found is None and not expected)


# Vocabularies


def test_of_entries_that_are_the_same_the_lowest_id_is_used() -> None:
    vocab = dict(enumerate([*SINGLES, b"ab", b"ab", b"b", b"abc"], 10))
    merges = [(b"ab", b"c"), (b"a", b"b"), (b"ab", b"c")]
    tokenizer = Tokenizer.from_vocab(dict(reversed(vocab.items())), merges)
    assert tokenizer.encode("abcb") == [269, 108]
    assert tokenizer.merges == merges[1:]
    assert tokenizer.ids[256:].tolist() == [266, 269]  # in order of merges
    assert tokenizer.extra == {267: b"ab", 268: b"b"}
    assert list(tokenizer.vocab) == sorted(vocab)


@pytest.mark.parametrize(
    ("merges", "said"),
    [
        ([(b"a", b"b"), (b"a", b"b"), (b"x", b"y"), (b"c", b"d")], "merge 2 makes b'xy'"),
        ([(b"a", b"b"), (b"a", b"bc"), (b"q", b"q")], "merge 2 makes b'qq'"),
        ([(b"a", b"b"), (b"a", b"bc"), (b"ab", b"c")], "merge 1 uses b'bc', which is made by no"),
        ([(b"a", b"b"), (b"", b"ab"), (b"a", b"bc")], "merge 1 uses b'', which is not in the voc"),
        ([(b"a", b"bc"), (b"", b"ab")], "merge 0 uses b'bc', which is made by no merge"),
    ],
)
def test_the_first_wrong_merge_is_named(merges: list[tuple[bytes, bytes]], said: str) -> None:
    vocab = dict(enumerate([*SINGLES, b"ab", b"bc", b"abc", b"cd"]))
    with pytest.raises(ValueError, match=said):
        Tokenizer.from_vocab(vocab, merges)


def test_a_tokenizer_json_with_a_merge_of_what_no_merge_makes_is_refused() -> None:
    vocab = dict(enumerate([*SINGLES, b"ab", b"bc", b"abc"]))
    good = Tokenizer.from_vocab(vocab, [(b"a", b"b"), (b"b", b"c"), (b"ab", b"c")])
    text = formats.dumps_hf(good)
    assert '"b c"' in text
    with pytest.raises(FormatError, match="model: merge 2 uses b'bc', which is made by no merge"):
        formats.loads_hf(text.replace('"b c"', '"a b"').replace('"ab c"', '"a bc"'))


def test_ids_far_apart_are_kept() -> None:
    vocab = {7 * i + 3: token for i, token in enumerate(SINGLES)} | {2**31 - 1: b"ab", 0: b"abc"}
    tokenizer = Tokenizer.from_vocab(vocab, [(b"a", b"b"), (b"ab", b"c")])
    assert tokenizer.encode("abcab") == [0, 2**31 - 1]
    assert tokenizer.ids.dtype == np.uint32
