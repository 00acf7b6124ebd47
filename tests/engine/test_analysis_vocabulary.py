"""What is said of a whole vocabulary equals its plain definition, entry by entry."""

from __future__ import annotations

import functools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import PATTERNS, Tokenizer, Trainer
from bpe_core.analysis import vocabulary as vocabulary_module
from bpe_core.analysis.vocabulary import (
    KINDS,
    SCRIPTS,
    Vocabulary,
    context,
    overlap,
    places,
    script_codes,
    unreachable,
    uses,
)
from bpe_core.preparation import Preparation

from . import oracle

EOT = "<|endoftext|>"
TEXT = (
    "the lower mouse saw the lowest moon, 机器学习 and 机器人, да и нет; हिन्दी में 123 "
    f"été naïve 🙃🙃 кот{EOT}\n\n\tlower μm 亚洲AV \x00 "
) * 6
BYTES = {i: bytes([i]) for i in range(256)}


def trained(text: str = TEXT, size: int = 420, **options: Any) -> Tokenizer:
    return Trainer(size, [EOT], **options).train(text).tokenizer


def imported() -> Tokenizer:
    """Gaps, an entry no merge makes, one that the pattern always cuts, a token spelled twice."""
    vocab = BYTES | {
        300: b"ab",
        301: b"a b",
        302: b"cd",
        400: b"ab",
        500: b"\xe6\x9c",
        510: b" \xe6",
    }
    merges = [(b"a", b"b"), (b"\xe6", b"\x9c"), (b" ", b"\xe6")]
    return Tokenizer.from_vocab(vocab, merges, {EOT: 9000})


@functools.cache
def plain_kind(token: bytes) -> str:
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return "Parts of characters"
    letters: Counter[str] = Counter()
    for c in text:
        scripts = [
            name
            for script, name in SCRIPTS.items()
            if regex.match(rf"\p{{Script={script}}}", c) and regex.match(r"[\p{L}\p{M}]", c)
        ]
        if scripts:
            letters[scripts[0]] += 1
        elif regex.match(r"\p{L}", c):
            letters["Other letters"] += 1
    if letters:
        name, n = letters.most_common(1)[0]
        return name if 2 * n > letters.total() else "Several scripts"
    if regex.search(r"\p{N}", text):
        return "Digits"
    return "White space" if regex.fullmatch(r"\s*", text) else "Punctuation and signs"


# -- entries -------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokenizer", [trained(), imported()], ids=["trained", "imported"])
def test_columns_equal_their_plain_definitions(tokenizer: Tokenizer) -> None:
    vocabulary = Vocabulary.of(tokenizer)
    specials = set(tokenizer.special_tokens.values())
    assert len(vocabulary) == tokenizer.vocab_size
    for row, (token_id, token) in enumerate(tokenizer.vocab.items()):
        assert vocabulary.row(token_id) == row
        assert vocabulary.ids[row] == token_id
        assert vocabulary.sizes[row] == len(token)
        assert vocabulary.special[row] == (token_id in specials)
        assert vocabulary.births[row] == tokenizer.birth_ranks[token_id]
        assert KINDS[vocabulary.kind[row]] == plain_kind(token)
        text = vocabulary.texts[row]
        assert (text is None) == vocabulary.splits[row]
        if text is not None:
            assert text.encode() == token
            assert vocabulary.n_characters[row] == len(text)
        second = any(b < 0x80 or b >= 0xC0 for b in token[1:])
        assert vocabulary.straddles[row] == (text is None and second)
    order = sorted(range(len(vocabulary)), key=lambda row: vocabulary.tokens[row])
    assert np.argsort(vocabulary.alphabetical).tolist() == order
    for unknown in (-1, 10**6, 256 if 256 not in tokenizer.vocab else 8999):
        with pytest.raises(KeyError, match=str(unknown)):
            vocabulary.row(unknown)


@settings(max_examples=40)
@given(
    st.text(max_size=12), st.lists(st.sampled_from("aж中あア한०é\u0301 \n1½!🙃ー𝐀ª"), max_size=6)
)
def test_a_text_has_the_kind_that_its_letters_say(one: str, other: list[str]) -> None:
    tokens = {one.encode("utf-8", "replace"), "".join(other).encode()} - set(BYTES.values())
    vocab = BYTES | {300 + i: token for i, token in enumerate(sorted(tokens))}
    vocabulary = Vocabulary.of(Tokenizer.from_vocab(vocab, []))
    assert [KINDS[code] for code in vocabulary.kind] == [plain_kind(t) for t in vocab.values()]


def test_every_script_is_one_that_unicode_knows() -> None:
    assert len(set(KINDS)) == len(KINDS)
    for script, letter in {"Latin": "a", "Han": "中", "Thai": "ก", "Yi": "ꀀ", "Nko": "ߊ"}.items():
        assert KINDS[script_codes(letter)[0]] == SCRIPTS[script]


@settings(max_examples=60)
@given(st.binary(max_size=3) | st.sampled_from([b"aa", b"low", b" ", "机".encode(), b"\x80"]))
def test_searching_equals_looking_into_every_token(needle: bytes) -> None:
    vocabulary = Vocabulary.of(trained())
    assert vocabulary.containing(needle).tolist() == [needle in t for t in vocabulary.tokens]


def test_tallies_and_decoded_entries_cover_the_vocabulary() -> None:
    vocabulary = Vocabulary.of(imported())
    kinds = vocabulary.by_kind()
    assert sum(kind.entries for kind in kinds) == len(vocabulary)
    assert sum(kind.n_bytes for kind in kinds) == sum(map(len, vocabulary.tokens))
    assert [k.entries for k in kinds] == sorted((k.entries for k in kinds), reverse=True)
    entries = list(vocabulary.decoded())
    assert [bytes.fromhex(entry["hex"]) for entry in entries] == vocabulary.tokens
    assert [entry["text"] for entry in entries] == vocabulary.texts
    assert entries[vocabulary.row(300)]["rank"] == 0
    assert entries[vocabulary.row(302)]["rank"] is None
    assert entries[vocabulary.row(9000)]["special"]
    rows = [3, vocabulary.row(9000)]
    assert list(vocabulary.decoded(rows)) == [entries[row] for row in rows]


def test_overlap_goes_by_bytes() -> None:
    here, there = Vocabulary.of(trained()), Vocabulary.of(imported())
    shared_here, shared_there = overlap(here, there)
    assert shared_here.tolist() == [token in there.tokens for token in here.tokens]
    assert shared_there.tolist() == [token in here.tokens for token in there.tokens]
    assert [there.ids[row] for row in there.spelling(b"ab")] == [300, 400]
    assert there.spelling(b"no such token") == []


# -- health ------------------------------------------------------------------------------------


def plain_unreachable(tokenizer: Tokenizer) -> list[bool]:
    found = []
    for token_id, token in tokenizer.vocab.items():
        try:
            ids = tokenizer.encode(token.decode(), allowed_special=())
        except UnicodeDecodeError:
            indices = tokenizer.model.encode_bytes(token)
            ids = [
                next(i for i, t in tokenizer.vocab.items() if t == tokenizer.model.token_bytes(k))
                for k in indices
            ]
        found.append(ids != [token_id] and token_id not in tokenizer.special_tokens.values())
    return found


@pytest.mark.parametrize("tokenizer", [trained(), imported()], ids=["trained", "imported"])
def test_unreachable_entries_do_not_encode_to_themselves(tokenizer: Tokenizer) -> None:
    vocabulary = Vocabulary.of(tokenizer)
    found = unreachable(tokenizer, vocabulary)
    assert found.tolist() == plain_unreachable(tokenizer)
    if tokenizer.special_tokens[EOT] == 9000:
        assert vocabulary.ids[found].tolist() == [301, 302, 400]


def test_pretokens_taken_whole_are_reachable_and_a_blank_put_in_front_changes_nothing() -> None:
    vocab = BYTES | {300: b"cd", 301: b"ef", 302: "e\u0301".encode()}
    whole = oracle.remade(Tokenizer.from_vocab(vocab, []), ignore_merges={b"cd": 300})
    assert unreachable(whole, Vocabulary.of(whole))[256:].tolist() == [False, True, True]
    merges = [(b"c", b"d"), (b"e", b"f"), (b"e", b"\xcc"), (b"e\xcc", b"\x81")]
    vocab |= {303: b"e\xcc"}
    prepared = oracle.remade(
        Tokenizer.from_vocab(vocab, merges), preparation=Preparation("NFC", prefix_space=True)
    )
    # "e" with an accent of its own is made one character before it is cut.
    assert unreachable(prepared, Vocabulary.of(prepared))[256:].tolist() == [
        False,
        False,
        True,
        False,
    ]


def test_unreachable_entries_are_those_that_tiktoken_encodes_otherwise(shared: Path) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    files = [shared / "cs336" / name for name in ("gpt2_vocab.json", "gpt2_merges.txt")]
    tokenizer = Tokenizer.from_files(*files, special_tokens=[EOT], pattern="cl100k")
    vocabulary = Vocabulary.of(tokenizer)
    ranks = {token: i for i, token in tokenizer.vocab.items() if token != EOT.encode()}
    pattern = PATTERNS["cl100k"].regex
    theirs = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    found = unreachable(tokenizer, vocabulary)
    assert np.count_nonzero(found) > 100  # such as numbers of four digits
    for row in {*range(0, 50_256, 9), *np.flatnonzero(found).tolist()}:
        text = vocabulary.texts[row]
        if text is not None:
            assert found[row] == (theirs.encode_ordinary(text) != [vocabulary.ids[row]])


# -- use ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokenizer", [trained(), imported()], ids=["trained", "imported"])
def test_uses_and_places_are_those_of_the_encoded_text(tokenizer: Tokenizer) -> None:
    text = TEXT + "ab abcd 月"
    tokens = tokenizer.tokens(text)
    counts = Counter(token.id for token in tokens)
    assert {i: n for i, n in enumerate(uses(tokenizer, text).tolist()) if n} == counts
    for token_id in list(counts)[::5]:
        spans = [(t.start, t.end) for t in tokens if t.id == token_id]
        assert places(tokenizer, text, token_id, 3) == spans[:3]
        assert places(tokenizer, text, token_id, 10**6) == spans
    assert places(tokenizer, "", 97, 3) == []


def test_places_in_a_text_of_many_blocks_and_with_fewer_merges(monkeypatch) -> None:
    monkeypatch.setattr(vocabulary_module, "_BLOCK", 4096)
    tokenizer = trained(size=300)
    text = TEXT * 40  # longer than what is encoded at a time
    early = tokenizer.merge_ids[:20, 2]
    some = int(early[np.argmax(uses(tokenizer, TEXT)[early])])
    for n_merges, plain in ((None, tokenizer), (20, tokenizer.truncated(20))):
        wanted = [(t.start, t.end) for t in plain.tokens(text) if t.id == some]
        assert len(wanted) > 40
        assert places(tokenizer, text, some, 10**7, n_merges=n_merges) == wanted
    assert (
        uses(tokenizer, text).tolist()
        == np.bincount(tokenizer.encode_to_array(text), minlength=max(tokenizer.vocab) + 1).tolist()
    )


@given(st.text("aé🙂", max_size=20), st.integers(0, 60), st.integers(0, 8), st.integers(0, 9))
def test_a_context_ends_between_characters(text: str, start: int, size: int, around: int) -> None:
    data = text.encode()
    start = min(start, len(data))
    end = min(start + size, len(data))
    before, token, after = context(data, start, end, around)
    assert token == data[start:end]
    assert data[:start].endswith(before)
    assert data[end:].startswith(after)
    for part in (before, after):
        assert len(part) <= around
    # Outer ends lie where a character begins; the longest such context is given.
    borders = {len(text[:n].encode()) for n in range(len(text) + 1)}
    assert start - len(before) in borders or not before
    assert end + len(after) in borders or not after
    assert len(before) >= min(start, around) - 3
    assert len(after) >= min(len(data) - end, around) - 3


# -- masks and order ------------------------------------------------------------------------------


@pytest.mark.parametrize("tokenizer", [trained(), imported()], ids=["trained", "imported"])
def test_masks_are_those_of_each_entry(tokenizer: Tokenizer) -> None:
    vocabulary = Vocabulary.of(tokenizer)
    rows = range(len(vocabulary))
    for name in KINDS:
        wanted = [KINDS[vocabulary.kind[row]] == name for row in rows]
        assert vocabulary.of_kind(name).tolist() == wanted
    for low, high in ((1, 1), (2, 3), (5, 4), (0, 999)):
        assert vocabulary.sized(low, high).tolist() == [
            low <= len(token) <= high for token in vocabulary.tokens
        ]
        assert vocabulary.born(low, high).tolist() == [
            low <= int(tokenizer.birth_ranks[i]) + 1 <= high for i in vocabulary.ids
        ]
    ranges = [(5, 9), (300, 300), (9, 5)]
    assert vocabulary.with_ids(ranges).tolist() == [
        any(low <= i <= high for low, high in ranges) for i in vocabulary.ids.tolist()
    ]
    assert not vocabulary.with_ids([]).any()
    for token_id in vocabulary.ids[250:].tolist():
        made = {new for *sides, new in tokenizer.merge_ids.tolist() if token_id in sides}
        mask = vocabulary.made_of(token_id, tokenizer.merge_ids)
        assert set(vocabulary.ids[mask].tolist()) == made


@pytest.mark.parametrize("tokenizer", [trained(), imported()], ids=["trained", "imported"])
@pytest.mark.parametrize("column", ["token", "id", "hex", "merge", "bytes", "uses", "kind"])
@pytest.mark.parametrize("down", [False, True])
def test_the_order_is_that_of_the_column_then_of_ids(
    tokenizer: Tokenizer, column: str, down: bool
) -> None:
    vocabulary = Vocabulary.of(tokenizer)
    counts = uses(tokenizer, TEXT)[vocabulary.ids]
    sign = -1 if down else 1

    def key(row: int) -> Any:
        born = int(vocabulary.births[row])
        return {
            "id": sign * row,
            "merge": (born < 0, sign * born),
            "bytes": sign * len(vocabulary.tokens[row]),
            "uses": sign * int(counts[row]),
        }[column]

    wanted = vocabulary.sized(1, 3)
    rows = vocabulary.in_order(wanted, column, down=down, uses=counts).tolist()
    everything = np.flatnonzero(wanted).tolist()
    if column in ("token", "hex"):
        assert [vocabulary.tokens[row] for row in rows] == sorted(
            (vocabulary.tokens[row] for row in everything), reverse=down
        )
    elif column == "kind":
        kinds = [KINDS[vocabulary.kind[row]] for row in rows]
        assert kinds == sorted(kinds, reverse=down)
    else:
        assert rows == sorted(everything, key=key)
    assert sorted(rows) == everything
