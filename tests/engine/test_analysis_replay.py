"""A corpus replayed equals encoding it with that many merges, in every number read off it."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import Tokenizer, Trainer
from bpe_core.analysis.replay import Replay, TokenUse, find_all
from bpe_core.preparation import Preparation

from . import oracle

EOT = "<|endoftext|>"
BYTES = {i: bytes([i]) for i in range(256)}


@settings(max_examples=25)
@given(st.text("ab cé", min_size=1, max_size=60), st.text("ab cé", max_size=40))
def test_what_occurs_after_k_merges_is_what_k_merges_give(text: str, other: str) -> None:
    result = Trainer(290, [EOT]).train(text)
    tokenizer = result.tokenizer
    for corpus in (text, other + EOT + text):
        replay = Replay(tokenizer, corpus)
        use = {i: replay.use(token).counts for i, token in tokenizer.vocab.items() if i != 256}
        for k in range(tokenizer.n_merges + 1):
            ids = Counter(tokenizer.truncated(k).encode(corpus))
            ids.pop(256, None)
            assert {i: int(n[k]) for i, n in use.items() if n[k]} == ids
            histogram = replay.histogram(k).tolist()
            assert {i: n for i, n in enumerate(histogram) if n} == ids
            assert replay.token_counts()[k] == ids.total()
    replay = Replay(tokenizer, text)
    for rank, (new, merged) in enumerate(
        zip(result.trace.new.tolist(), result.trace.merged.tolist(), strict=True)
    ):
        counts = replay.use(tokenizer.token_bytes(new)).counts
        assert counts[rank + 1] - counts[rank] == merged


def test_a_tokenizer_whose_ranks_are_no_history_is_refused() -> None:
    whole = oracle.remade(
        Tokenizer.from_vocab(BYTES | {300: b"cd"}, []), ignore_merges={b"cd": 300}
    )
    prepared = oracle.remade(Tokenizer.from_vocab(BYTES, []), preparation=Preparation("NFC"))
    vocab = BYTES | {300: b"ab", 301: b"abc"}
    late = Tokenizer.from_vocab(vocab, [(b"ab", b"c"), (b"a", b"b")])
    for tokenizer in (whole, prepared, late):
        with pytest.raises(ValueError, match="replayed"):
            Replay(tokenizer, "ab abc")


@pytest.mark.parametrize("special", [(), ("<|x|>",)])
def test_histograms_equal_encoding(special: tuple[str, ...]) -> None:
    rng = random.Random(7)
    text = "".join(rng.choices(["ab", "a", "é", " low", "🙂", "\n", *special], k=700))
    tokenizer = Trainer(300, special).train(text).tokenizer
    replay = Replay(tokenizer, text)
    for k in (0, 1, 7, tokenizer.n_merges):
        ids = tokenizer.truncated(k).encode_to_array(text)
        ids = ids[~np.isin(ids, list(tokenizer.special_tokens.values()))]
        expected = np.bincount(ids, minlength=max(tokenizer.vocab) + 1)
        assert np.array_equal(replay.histogram(k), expected)


def test_an_empty_corpus_has_no_tokens() -> None:
    tokenizer = Trainer(257, [EOT]).train("aa").tokenizer
    for corpus in ("", EOT):
        replay = Replay(tokenizer, corpus)
        assert not replay.token_counts().any()
        assert not replay.histogram(tokenizer.n_merges).any()
        assert not replay.use(b"a").ever
        assert not replay.use(b"aa").ever


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_a_use_says_what_its_counts_say(counts: list[int]) -> None:
    use = TokenUse(np.array(counts))
    assert use.ever == any(counts)
    assert use.left == counts[-1]
    if not use.ever:
        assert use.gone is None
        return
    assert counts[use.born] == use.at_birth > 0
    assert not any(counts[: use.born])
    assert use.most == max(counts) == counts[use.peak]
    assert max(counts[: use.peak], default=-1) < use.most
    if use.gone is None:
        assert use.left
    else:
        assert counts[use.gone - 1] > 0
        assert not any(counts[use.gone :])


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_bends_are_all_places_where_a_line_bends(counts: list[int]) -> None:
    use = TokenUse(np.array(counts))
    kept = use.bends(1000).tolist()
    assert kept == sorted(set(kept))
    # Between two that are kept the count stays that of the left one.
    for k, count in enumerate(counts):
        assert count == counts[max(n for n in kept if n <= k)]
    assert {use.born, use.peak, 0, len(counts) - 1} <= set(use.bends(3).tolist())
    assert len(use.bends(3)) <= 3 + 4


@given(st.binary(max_size=40).map(lambda b: bytes(x % 3 for x in b)), st.integers(1, 4))
def test_all_places_of_a_stretch_are_found(data: bytes, size: int) -> None:
    array = np.frombuffer(data, np.uint8)
    for needle in {data[i : i + size] for i in range(len(data))}:
        wanted = [i for i in range(len(data)) if data.startswith(needle, i)]
        assert find_all(array, needle).tolist() == wanted
