"""The engine against its slow twins, on generated input; every comparison is exact."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bpe_core import PATTERNS, DecodeStream, Tokenizer, Trainer, metrics, reference

from . import oracle

NEVER = reference.NEVER

tiny = st.text("ab", max_size=20) | st.text("abc", max_size=30)
runs = st.lists(st.tuples(st.sampled_from("ab "), st.integers(1, 20)), max_size=5).map(
    lambda parts: "".join(letter * length for letter, length in parts)
)
characters = st.characters(exclude_categories=["Cs"])
any_text = st.text(characters, max_size=40)
PARTS = [
    "the",
    " the",
    " a",
    "'ll",
    "'S",
    "'ſ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    " 12345",
    "!?",
    "/",
    " é",
    "ß",
]
PARTS += [
    "中文",
    "日本",
    "🙃",
    "👨‍👩‍👧",
    "e\u0301",
    "\u00a0",
    "\u2028",
    "\u0085",
    "x",
    "ABc",
    "\u200b",
]
prose = st.lists(st.sampled_from(PARTS), max_size=15).map("".join)
texts = tiny | runs | any_text | prose

counts = st.integers(1, 40) | st.sampled_from([2**16 - 1, 2**16, 2**16 + 1, 10**6, 2**40])
byte_words = st.dictionaries(
    (st.binary(max_size=10) | texts.map(str.encode)).filter(bool), counts, max_size=8
)
text_words = st.dictionaries(texts.filter(bool), counts, max_size=8)


def train_on_texts(words: dict[str, int], n_merges: int, **options: Any) -> Any:
    """Train with every text as one pre-token."""
    trainer = Trainer(256 + n_merges, pattern="whole text", **options)
    return trainer.train({word.encode(): count for word, count in words.items()})


# Training


@given(
    words=byte_words,
    n_merges=st.integers(0, 40),
    tie_break=st.sampled_from(["greatest_bytes", "lowest_ids"]),
    byte_order=st.sampled_from(["plain", "gpt2"]),
    min_pair_count=st.sampled_from([1, 1, 2, 5]),
    max_token_bytes=st.sampled_from([None, None, 1, 2, 3, 8]),
    top_k=st.integers(0, 12),
    n_special=st.integers(0, 2),
)
@settings(max_examples=250)
def test_training_equals_the_reference_in_every_column(
    words: dict[bytes, int],
    n_merges: int,
    tie_break: str,
    byte_order: str,
    min_pair_count: int,
    max_token_bytes: int | None,
    top_k: int,
    n_special: int,
) -> None:
    specials = ["<|x|>", "<|y|>"][:n_special]
    options: dict[str, Any] = {
        "tie_break": tie_break,
        "min_pair_count": min_pair_count,
        "max_token_bytes": max_token_bytes,
        "top_k": top_k,
    }
    trainer = Trainer(256 + n_special + n_merges, specials, byte_order=byte_order, **options)
    result = trainer.train(words)
    expected = reference.train(
        words,
        n_merges,
        alphabet=reference.byte_alphabet(byte_order),
        n_special=n_special,
        **options,
    )
    oracle.assert_same_trace(result.trace, expected, top_k)
    assert result.stop_reason == expected.stop_reason
    assert result.tokenizer.merges == expected.merges
    vocab = {id: token for token, id in expected.ids.items()}
    vocab.update({256 + place: special.encode() for place, special in enumerate(specials)})
    assert result.tokenizer.vocab == vocab


@given(
    words=st.dictionaries(st.text("ab", min_size=1, max_size=60).map(str.encode), counts),
    chunks=st.lists(st.integers(1, 9), min_size=1, max_size=30),
)
@settings(max_examples=80)
def test_a_run_in_pieces_equals_a_run_in_one(words: dict[bytes, int], chunks: list[int]) -> None:
    trainer = Trainer(256 + 60)
    whole = trainer.train(words)
    run = trainer.start(words)
    done = 0
    while not run.done:
        asked = chunks[done % len(chunks)]
        merged = run.advance(asked)
        done += merged
        assert merged <= asked
        assert run.n_merges == len(run.trace) == done
    for name, column in whole.trace.to_columns().items():
        assert np.array_equal(run.trace.to_columns()[name], column), name
    assert run.result().tokenizer.merges == whole.tokenizer.merges
    assert run.result().stop_reason == run.stop_reason == whole.stop_reason


@given(
    text=texts, pattern=st.sampled_from(sorted(PATTERNS)), marker=st.sampled_from(["<|x|>", "a"])
)
@settings(max_examples=120)
def test_training_on_text_counts_the_pre_tokens_of_the_pattern(
    text: str, pattern: str, marker: str
) -> None:
    result = Trainer(290, [marker], pattern=pattern).train(text)
    words = oracle.word_counts(text, PATTERNS[pattern].regex, [marker])
    expected = reference.train(words, 33, n_special=1)
    oracle.assert_same_trace(result.trace, expected, 10)
    assert result.trace.corpus_bytes == sum(len(word) * n for word, n in words.items())


# Joins, traces and truncations are one thing


@given(words=text_words, n_merges=st.integers(1, 40), longest=st.sampled_from([None, 4]))
@settings(max_examples=100)
def test_encoding_the_corpus_gives_the_token_counts_of_the_trace(
    words: dict[str, int], n_merges: int, longest: int | None
) -> None:
    result = train_on_texts(words, n_merges, max_token_bytes=longest)
    counts = np.zeros(len(result.trace) + 1, dtype=np.int64)
    for k in range(len(result.trace) + 1):
        tokenizer = result.tokenizer.truncated(k)
        counts[k] = sum(count * len(tokenizer.encode(word)) for word, count in words.items())
    expected = [result.trace.initial_tokens, *result.trace.corpus_tokens.tolist()]
    assert counts.tolist() == expected
    from_joins = sum(
        count * metrics.token_counts(result.tokenizer.join_ranks(word), len(result.trace))
        for word, count in words.items()
    )
    assert np.array_equal(from_joins, counts) or not words


@given(words=text_words, text=texts, n_merges=st.integers(0, 40))
@settings(max_examples=100)
def test_join_ranks_hold_every_smaller_tokenizer(
    words: dict[str, int], text: str, n_merges: int
) -> None:
    tokenizer = train_on_texts(words, n_merges).tokenizer
    joins = tokenizer.join_ranks(text)
    data = text.encode()
    assert joins.dtype == np.int32
    assert joins.tolist() == reference.join_ranks(data, tokenizer.merges)
    counts = metrics.token_counts(joins, tokenizer.n_merges)
    for k in range(tokenizer.n_merges + 1):
        smaller = tokenizer.truncated(k)
        ids = smaller.encode(text)
        assert (smaller.n_merges, smaller.vocab_size) == (k, 256 + k)
        assert len(ids) == counts[k] or not text
        borders = [0, *(int(place) + 1 for place in np.flatnonzero(joins >= k)), len(data)]
        spans = list(pairwise(borders)) if data else []
        assert [data[start:end] for start, end in spans] == [smaller.token_bytes(id) for id in ids]
        for id, (start, end) in zip(ids, spans, strict=True):
            if end - start == 1:
                assert id == tokenizer.byte_ids[data[start]]
            else:
                largest = int(joins[start : end - 1].max())
                assert id == tokenizer.merge_ids[largest, 2]
                assert tokenizer.birth_ranks[id] == largest


# Encoding and decoding


@given(words=text_words, text=texts, n_merges=st.integers(0, 60))
@settings(max_examples=120)
def test_encoding_equals_the_reference(words: dict[str, int], text: str, n_merges: int) -> None:
    tokenizer = train_on_texts(words, n_merges).tokenizer
    tokens = reference.encode(text.encode(), tokenizer.merges)
    ids = {token: id for id, token in tokenizer.vocab.items()}
    assert tokenizer.encode(text) == [ids[token] for token in tokens]


@given(words=text_words, text=texts.filter(bool))
@settings(max_examples=80)
def test_the_steps_inside_a_pre_token_equal_the_reference(words: dict[str, int], text: str) -> None:
    tokenizer = train_on_texts(words, 30).tokenizer
    merges = tokenizer.merges
    expected = [
        (rank, merges[rank], tuple(tokens))
        for rank, _, tokens in reference.merge_steps(text.encode(), merges)
    ]
    assert [(step.rank, step.pair, step.parts) for step in tokenizer.merge_steps(text)] == expected
    assert tokenizer.merge_steps(text.encode()) == tokenizer.merge_steps(text)


POOL = [bytes([value]) for value in b"abc"]


@st.composite
def merge_lists(draw: st.DrawFn) -> list[tuple[bytes, bytes]]:
    """Lists that no training makes: any parts known so far, strings spelled in several ways."""
    known = list(POOL)
    merges: list[tuple[bytes, bytes]] = []
    for _ in range(draw(st.integers(1, 12))):
        pair = (draw(st.sampled_from(known)), draw(st.sampled_from(known)))
        if pair not in merges and len(pair[0] + pair[1]) <= 8:
            merges.append(pair)
            known.append(pair[0] + pair[1])
    return merges


@given(merges=merge_lists(), text=st.text("abc", max_size=30))
@settings(max_examples=200)
@example(merges=[(b"b", b"c"), (b"a", b"bc"), (b"a", b"b"), (b"ab", b"c")], text="abcababc")
def test_encoding_by_a_merge_list_written_by_hand_equals_the_reference(
    merges: list[tuple[bytes, bytes]], text: str
) -> None:
    vocab = dict(enumerate(reference.byte_alphabet()))
    known = set(vocab.values())
    for left, right in merges:
        if left + right not in known:
            known.add(left + right)
            vocab[len(vocab)] = left + right
    tokenizer = Tokenizer.from_vocab(vocab, merges)
    ids = {token: id for id, token in vocab.items()}
    expected = [
        ids[token]
        for word in tokenizer.pretokens(text)
        for token in reference.encode(word.encode(), merges)
    ]
    assert tokenizer.encode(text) == expected
    # A merge may use a token that a later one makes: then ranks are no history and are refused.
    last_made = {left + right: rank for rank, (left, right) in enumerate(merges)}
    if any(last_made.get(part, -1) > rank for rank, pair in enumerate(merges) for part in pair):
        with pytest.raises(ValueError, match="merge"):
            tokenizer.join_ranks("abc")
        return
    joins = tokenizer.join_ranks(text)
    for k in range(len(merges) + 1):
        assert (joins >= k).sum() + bool(text) == len(tokenizer.truncated(k).encode(text))


def sample_tokenizer(pattern: str, special_tokens: tuple[str, ...] = ("<|x|>", "<|x|>|>")) -> Any:
    """A tokenizer with merges across all that the texts of these tests are made of."""
    corpus = (
        "the cat's the 'll the  ab abab aabb aaaa bbbb 12345 123 !? !? é ß 中文 日本 中文\n\n"
        "🙃 🙃 👨‍👩‍👧 e\u0301 x x \t\t \r\n \u00a0 \u2028 <|x| > |x|> <|x\n"
    ) * 4
    return Trainer(420, special_tokens, pattern=pattern).train(corpus).tokenizer


CUSTOM = [
    r"\w+|\W",
    r"[a-z]{3}",
    r"(?<=a)b+|[^ab]+",
    r"(a)(b)|\s+(?!\S)",
    r"\d{1,3}(?=(?:\d{3})*\b)|\p{L}+",
    r"^.|\b\w",
    r"x*",
]
sample = functools.cache(sample_tokenizer)
any_tokenizer = st.sampled_from([*sorted(PATTERNS), *CUSTOM]).map(sample)
marks = st.sampled_from(["<|x|>", "<|x|>|>", "<|x", "|>"])
marked_texts = st.lists(texts | marks, max_size=6).map("".join)


@given(tokenizer=any_tokenizer, text=marked_texts)
@settings(max_examples=200)
def test_decoding_what_was_encoded_gives_the_text(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert tokenizer.decode_bytes(ids) == text.encode()
    assert tokenizer.count_tokens(text) == len(ids)
    array = tokenizer.encode_to_array(text)
    assert array.dtype == np.uint32
    assert array.tolist() == ids
    assert all(type(id) is int for id in ids)


@given(tokenizer=any_tokenizer, text=marked_texts)
@settings(max_examples=120)
def test_pre_tokens_join_back_to_the_text_and_bound_the_tokens(
    tokenizer: Tokenizer, text: str
) -> None:
    named = PATTERNS.get(tokenizer.pattern)
    pieces: list[str] = []
    tokens: list[bytes] = []
    for part, is_special in reference.split_special(text, tokenizer.special_tokens):
        if is_special:
            pieces.append(part)
            tokens.append(part.encode())
            continue
        for piece in oracle.cut(named.regex if named else tokenizer.pattern, part):
            pieces.append(piece)
            tokens += reference.encode(piece.encode(), tokenizer.merges)
    assert "".join(pieces) == text
    assert tokenizer.pretokens(text) == pieces
    assert [tokenizer.token_bytes(id) for id in tokenizer.encode(text)] == tokens


@given(tokenizer=any_tokenizer, text=marked_texts)
@settings(max_examples=120)
def test_spans_of_tokens_cover_the_bytes_in_order(tokenizer: Tokenizer, text: str) -> None:
    data = text.encode()
    ids, ends = tokenizer.encode_spans(text)
    assert (ids.dtype, ends.dtype) == (np.uint32, np.int64)
    assert ids.tolist() == tokenizer.encode(text)
    starts = [0, *ends.tolist()][: len(ids)]
    assert [data[start:end] for start, end in zip(starts, ends.tolist(), strict=True)] == [
        tokenizer.token_bytes(int(id)) for id in ids
    ]
    assert (ends[-1] if len(ends) else 0) == len(data)
    assert [(token.id, token.start, token.end) for token in tokenizer.tokens(text)] == list(
        zip(ids.tolist(), starts, ends.tolist(), strict=True)
    )


@given(tokenizer=any_tokenizer, text=marked_texts)
@settings(max_examples=100)
def test_join_ranks_mark_special_tokens_and_borders(tokenizer: Tokenizer, text: str) -> None:
    joins = tokenizer.join_ranks(text).tolist()
    expected: list[int] = []
    for piece, is_special in reference.split_special(text, tokenizer.special_tokens):
        data = piece.encode()
        if is_special:
            expected += [-1] * (len(data) - 1)
        else:
            _, ends = tokenizer.encode_spans(piece)
            whole = tokenizer.join_ranks(piece).tolist()
            assert [
                place + 1 for place, rank in enumerate(whole) if rank == NEVER
            ] == ends.tolist()[:-1]
            expected += whole
        expected.append(NEVER)
    assert joins == expected[:-1]


def in_blocks(tokenizer: Tokenizer, pieces: Iterable[str], block: int, **options: Any) -> list[int]:
    """The ids of a text in pieces, of which so few bytes are gathered that it is many blocks."""
    chunks = tokenizer.encode_chunks(pieces, block=block, **options)
    return [i for ids in chunks for i in ids.tolist()]


@given(
    tokenizer=any_tokenizer,
    text=marked_texts,
    cuts=st.lists(st.integers(0, 200), max_size=8),
    block=st.integers(1, 30),
)
@settings(max_examples=400)
def test_encoding_pieces_equals_encoding_the_joined_text(
    tokenizer: Tokenizer, text: str, cuts: list[int], block: int
) -> None:
    borders = [0, *sorted(min(place, len(text)) for place in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(borders)]
    assert list(tokenizer.encode_iterable(pieces)) == tokenizer.encode(text)
    assert in_blocks(tokenizer, pieces, block) == tokenizer.encode(text)


@given(tokenizer=any_tokenizer, text=marked_texts)
@settings(max_examples=100)
def test_encoding_letter_by_letter_equals_encoding_the_text(
    tokenizer: Tokenizer, text: str
) -> None:
    assert in_blocks(tokenizer, iter(text), 1) == tokenizer.encode(text)
    assert list(tokenizer.encode_iterable(iter(text))) == tokenizer.encode(text)


@given(tokenizer=any_tokenizer, text=marked_texts, block=st.integers(1, 30))
@settings(max_examples=100)
def test_the_policy_is_the_same_for_pieces(tokenizer: Tokenizer, text: str, block: int) -> None:
    for allowed, disallowed in (((), ()), ((), "all"), ({"<|x|>"}, "all"), ("all", "all")):
        options: dict[str, Any] = {"allowed_special": allowed, "disallowed_special": disallowed}
        try:
            expected = tokenizer.encode(text, **options)
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error)[:32])):
                in_blocks(tokenizer, list(text), block, **options)
            with pytest.raises(ValueError, match=re.escape(str(error)[:32])):
                list(tokenizer.encode_iterable(list(text), **options))
        else:
            assert in_blocks(tokenizer, list(text), block, **options) == expected
            assert list(tokenizer.encode_iterable(list(text), **options)) == expected


@given(tokenizer=any_tokenizer, batch=st.lists(marked_texts, max_size=4))
@settings(max_examples=40)
def test_a_batch_is_its_texts_one_by_one(tokenizer: Tokenizer, batch: list[str]) -> None:
    assert tokenizer.encode_batch(batch) == [tokenizer.encode(text) for text in batch]


@given(tokenizer=any_tokenizer, text=marked_texts)
@settings(max_examples=80)
def test_special_tokens_can_be_read_as_text(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text, allowed_special=())
    specials = set(tokenizer.special_tokens.values())
    assert not specials & set(ids)
    assert tokenizer.decode(ids) == text
    only_one = tokenizer.encode(text, allowed_special={"<|x|>"})
    assert tokenizer.special_tokens["<|x|>|>"] not in only_one
    assert tokenizer.decode(only_one) == text


@given(tokenizer=any_tokenizer, ids=st.lists(st.integers(0, 300), max_size=30), text=marked_texts)
@settings(max_examples=120)
def test_streaming_decode_equals_decode(tokenizer: Tokenizer, ids: list[int], text: str) -> None:
    ids = [id for id in ids if id in tokenizer.vocab]
    for sequence in (ids, tokenizer.encode(text), ids + tokenizer.encode(text)):
        stream = DecodeStream(tokenizer)
        parts = [stream.step(id) for id in sequence]
        assert "".join(parts) + stream.finish() == tokenizer.decode(sequence)
    stream = DecodeStream(tokenizer)
    assert "\ufffd" not in "".join(stream.step(id) for id in tokenizer.encode(text)) or (
        "\ufffd" in text
    )


@given(tokenizer=any_tokenizer, word=texts)
@settings(max_examples=80)
def test_truncations_of_a_truncation_are_truncations(tokenizer: Tokenizer, word: str) -> None:
    half = tokenizer.truncated(tokenizer.n_merges // 2)
    if word:
        counts = metrics.token_counts(tokenizer.join_ranks(word), tokenizer.n_merges)
        fewer = metrics.token_counts(tokenizer.join_ranks(word), half.n_merges)
        assert fewer.tolist() == counts[: half.n_merges + 1].tolist()
        assert fewer[-1] == len(half.encode(word))
    assert half.encode(word) == tokenizer.truncated(half.n_merges).encode(word)
    assert half.truncated(3).encode(word) == tokenizer.truncated(3).encode(word)
    assert half.merges == tokenizer.merges[: half.n_merges]
    assert half.special_tokens == tokenizer.special_tokens


@pytest.mark.parametrize("wrong", [-1, 10_000])
def test_a_truncation_beyond_the_merges_is_refused(wrong: int) -> None:
    with pytest.raises(ValueError):
        sample("gpt2").truncated(wrong)


@given(tokenizer=any_tokenizer, corpus=marked_texts)
@settings(max_examples=60)
def test_the_curve_of_a_corpus_is_the_length_of_its_encodings(
    tokenizer: Tokenizer, corpus: str
) -> None:
    curve = metrics.corpus_token_counts(tokenizer, corpus)
    assert curve.dtype == np.int64
    assert len(curve) == tokenizer.n_merges + 1
    specials = set(tokenizer.special_tokens.values())
    for k in (0, 1, tokenizer.n_merges // 2, tokenizer.n_merges):
        ids = tokenizer.truncated(k).encode(corpus)
        assert curve[k] == sum(id not in specials for id in ids)


LONE = "\ud800"


@pytest.mark.parametrize("text", [LONE, "a" + LONE + "b", LONE * 3, "<|x|>" + LONE])
def test_a_lone_surrogate_is_read_as_the_replacement_character(text: str) -> None:
    tokenizer = sample("gpt2")
    clean = text.replace(LONE, "\ufffd")
    assert tokenizer.encode(text) == tokenizer.encode(clean)
    assert tokenizer.join_ranks(text).tolist() == tokenizer.join_ranks(clean).tolist()
    assert [array.tolist() for array in tokenizer.encode_spans(text)] == [
        array.tolist() for array in tokenizer.encode_spans(clean)
    ]
    assert list(tokenizer.encode_iterable(list(text))) == tokenizer.encode(clean)


@pytest.mark.parametrize(
    "pattern",
    [r"(?r)ab", r"a\Kb", r"(?=ab)", r"\G\w", "(?i)AB", "(?x) a b", r"(?V1)[[a-z]--[aeiou]]+", "$"],
)
def test_odd_patterns_keep_the_text_or_are_refused(pattern: str) -> None:
    text = "abab cab\nABé"
    try:
        tokenizer = Trainer(300, pattern=pattern).train(text).tokenizer
    except ValueError:
        return
    assert "".join(tokenizer.pretokens(text)) == text
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert in_blocks(tokenizer, text, 1) == tokenizer.encode(text)


def test_threads_may_share_a_tokenizer() -> None:
    tokenizer = sample("gpt2")
    # More different words than any cache holds, so that entries are displaced all the time.
    rng = random.Random(3)
    batch = [" ".join("".join(rng.choices("abt12", k=6)) for _ in range(20_000)) for _ in range(6)]
    expected = [tokenizer.encode_to_array(text) for text in batch]
    with ThreadPoolExecutor(6) as pool:
        for _ in range(4):
            for found, right in zip(
                pool.map(tokenizer.encode_to_array, batch), expected, strict=True
            ):
                assert np.array_equal(found, right)
