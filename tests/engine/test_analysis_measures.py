"""Measures equal what counting the tokens of the encoded text gives, at several sizes."""

from __future__ import annotations

import random
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core import Tokenizer, Trainer
from bpe_core.analysis import measures, sizes
from bpe_core.analysis.measures import Measures, measure, measures_of
from bpe_core.analysis.replay import Replay

from . import imported


def is_text(token: bytes) -> bool:
    return token.decode("utf-8", "ignore").encode() == token


def plainly(tokenizer: Tokenizer, text: str) -> dict[str, float]:
    """The measures by counting tokens one by one."""
    special = set(tokenizer.special_tokens.values())
    ids = [i for i in tokenizer.encode(text) if i not in special]
    tokens = [tokenizer.vocab[i] for i in ids]
    entries = {*tokenizer.byte_ids.tolist(), *tokenizer.merge_ids[:, 2].tolist()}
    if tokenizer.ignore_merges:
        entries = set(tokenizer.vocab) - special
    return {
        "n_bytes": sum(map(len, tokens)),
        "tokens": len(tokens),
        "words": len(text.split()),
        "entries": len(entries),
        "used": len(set(ids)),
        "single_byte": sum(len(token) == 1 for token in tokens),
        "broken": sum(not is_text(token) for token in tokens),
    }


@pytest.mark.parametrize("special", [(), ("<|x|>",)])
def test_measures_at_every_size_are_those_of_the_smaller_tokenizer(special: tuple[str]) -> None:
    rng = random.Random(7)
    text = "".join(rng.choices(["ab", "a", "é", " low", "🙂", "\n", *special], k=700))
    tokenizer = Trainer(290, special).train(text).tokenizer
    for size in (sizes.smallest(tokenizer), 260, 275, 290):
        found = vars(measures_of(tokenizer, text, size)).copy()
        evenness = found.pop("evenness")
        smaller = sizes.at_size(tokenizer, size)
        assert found == plainly(smaller, text)
        assert vars(measures_of(smaller, text)) == {**found, "evenness": evenness}


@pytest.mark.parametrize("kind", imported.KINDS)
def test_measures_of_any_tokenizer_at_its_full_size(kind: str) -> None:
    tokenizer = imported.of_kind(kind)
    found = vars(measures_of(tokenizer, imported.TEXT)).copy()
    assert 0 < found.pop("evenness") < 1
    assert found == plainly(tokenizer, imported.TEXT)
    if not sizes.has_curve(tokenizer):
        with pytest.raises(ValueError, match="full size only"):
            measures_of(tokenizer, imported.TEXT, 260)


def test_measures_by_hand() -> None:
    tokenizer = Trainer(259).train("low low lower").tokenizer  # ow, low, " low"
    text = "low lower é"
    histogram = Replay(tokenizer, text).histogram(3)
    found = measure(tokenizer, histogram, 3, measures.count_words(text))
    assert found.n_bytes == 12
    assert found.tokens == 7  # low, " low", e, r, " ", and the two bytes of é
    assert found.words == 3
    assert found.entries == 259
    assert found.used == 7
    assert found.single_byte == 5
    assert found.broken == 2
    assert found.bytes_per_token == 12 / 7
    assert found.tokens_per_word == 7 / 3
    assert found.share_used == 7 / 259
    assert found.share_single_byte == 5 / 7
    assert found.share_broken == 2 / 7


def test_nothing_to_measure_gives_nan() -> None:
    tokenizer = Trainer(259).train("low low lower").tokenizer
    empty = measures_of(tokenizer, "")
    assert empty.tokens == empty.n_bytes == empty.used == 0
    for name in ("bytes_per_token", "tokens_per_word", "share_single_byte", "share_broken"):
        assert np.isnan(getattr(empty, name))
    assert np.isnan(empty.evenness)
    assert empty.share_used == 0


def test_tokens_per_word_are_left_out_where_blanks_separate_no_words() -> None:
    numbers = {field.name: 1 for field in fields(Measures)}
    assert Measures(**{**numbers, "n_bytes": 39}).tokens_per_word == 1
    assert np.isnan(Measures(**{**numbers, "n_bytes": 40}).tokens_per_word)


def test_words_are_counted_the_same_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(random.Random(3).choices("ab \n", k=500))
    monkeypatch.setattr(measures, "_CHUNK", 7)
    assert measures.count_words(text) == len(text.split())


@given(st.lists(st.integers(0, 9)), st.sets(st.integers(0, 12)))
def test_ids_are_counted(ids: list[int], special: set[int]) -> None:
    found = measures.count_ids(np.array(ids, np.uint32), special)
    assert found == (len(ids), len(set(ids)), sum(i in special for i in ids))


def test_the_cost_of_a_text() -> None:
    tokenizer = Trainer(258).train("low low").tokenizer
    for text in ("", "low é low", "\ud800"):
        found = measures.cost(tokenizer, text)
        assert found.tokens == len(tokenizer.encode(text))
        assert found.n_bytes == len(tokenizer.decode_bytes(tokenizer.encode(text)))
        assert found.characters == len(text)
