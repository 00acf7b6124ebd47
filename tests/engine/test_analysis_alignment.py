"""Where tokens lie in a text as it was typed, and cuts of one text beside each other."""

from __future__ import annotations

import random
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import Trainer
from bpe_core.analysis import sizes
from bpe_core.analysis.alignment import (
    Cut,
    apart,
    cut,
    grown,
    hues,
    tokens_within,
    typed_places,
    typed_spans,
)
from bpe_core.text import utf8

from . import imported
from .imported import STORY

# -- places -----------------------------------------------------------------------------------

_LETTERS = [*"ae \n", "\u0301", "\u0323", "한", "\u1112", "\u1161", "\u11ab", "\u212b", "\u0958", "é", "🙃", "\u09c7", "\u09be"]  # fmt: skip


@given(st.lists(st.sampled_from(_LETTERS), max_size=12).map("".join), st.booleans())
@settings(max_examples=400)
def test_places_are_exact_where_normal_form_splits(text: str, blank: bool) -> None:
    normal = unicodedata.normalize("NFC", text)
    front = " " if blank and normal and normal[0] != " " else ""
    places = typed_places(text, front + normal)
    assert len(places) == len(utf8(front + normal)) + 1
    assert places[-1] == len(utf8(text))
    assert (np.diff(places) >= 0).all()
    for k in range(1, len(text)):
        left, right = (unicodedata.normalize("NFC", part) for part in (text[:k], text[k:]))
        if left + right == normal:
            assert places[len(utf8(front + left))] == len(utf8(text[:k]))


@pytest.mark.parametrize("kind", imported.KINDS)
def test_spans_cover_the_typed_text(kind: str) -> None:
    tokenizer = imported.of_kind(kind)
    text = "a  <|x|> " + imported.TEXT
    ids, ends = typed_spans(tokenizer, text)
    assert ids.tolist() == tokenizer.encode(text)
    assert ends[-1] == len(text.encode())
    assert (np.diff(ends) >= 0).all()
    mouse = text.encode().index(b" mouse")  # far behind what is changed, and in its place
    assert mouse in ends
    if tokenizer.preparation.plain:
        assert ends.tolist() == tokenizer.encode_spans(text)[1].tolist()
    as_text, _ = typed_spans(tokenizer, text, allowed_special=())
    assert as_text.tolist() == tokenizer.encode(text, allowed_special=())


@given(st.text("aé机🙂", max_size=30), st.integers(0, 60))
def test_tokens_within_a_limit_end_between_characters(text: str, limit: int) -> None:
    tokenizer = Trainer(256).train("").tokenizer
    _, ends = tokenizer.encode_spans(text)
    n = tokens_within(text, ends, limit)
    sent = int(ends[n - 1]) if n else 0
    assert min(limit, len(text.encode())) - 3 <= sent <= max(limit, 0)
    assert text.encode()[:sent].decode() == text[: len(text.encode()[:sent].decode())]


# -- cuts -------------------------------------------------------------------------------------


def test_cuts_cover_the_beginning_and_count_the_whole() -> None:
    rng = random.Random(5)
    text = "".join(rng.choices(["low", " ", "é", "🙂", "x\n", "<|x|>"], k=300))
    tokenizer = sizes.at_size(Trainer(300, ["<|x|>"]).train(STORY).tokenizer, 290)
    for n in (0, 1, 5, 50, 299, len(text)):
        found = cut(tokenizer, text, text[:n])
        assert (found.ends[-1] if n else 0) == len(text[:n].encode())
        assert np.all(np.diff(found.ends) > 0)
        assert found.n_tokens == tokenizer.count_tokens(text)
        assert found.n_bytes == len(text.encode())
    whole = cut(tokenizer, text)
    tokens = tokenizer.tokens(text)
    assert whole.ids.tolist() == [token.id for token in tokens]
    assert whole.starts.tolist() == [token.start for token in tokens]
    assert whole.ends.tolist() == [token.end for token in tokens]
    assert whole.special.tolist() == [token.id == 256 for token in tokens]


def test_half_a_surrogate_pair_takes_the_bytes_it_is_encoded_as() -> None:
    tokenizer = Trainer(256).train("").tokenizer
    text = "a\ud800b"
    assert cut(tokenizer, text).ends.tolist() == [1, 2, 3, 4, 5]
    assert cut(tokenizer, text, text[:2]).ends[-1] == 4


def plain_spans(one: Cut) -> list[tuple[int, int]]:
    return list(zip(one.starts.tolist(), one.ends.tolist(), strict=True))


def test_apart_marks_what_is_not_a_token_everywhere() -> None:
    text = "the lowest moon, unseen é"
    tokenizers = [Trainer(size).train(STORY).tokenizer for size in (256, 280, 330)]
    tokenizers.append(Trainer(330).train("moon unseen é " * 9).tokenizer)
    cuts = [cut(tokenizer, text) for tokenizer in tokenizers]
    everywhere = set.intersection(*(set(plain_spans(one)) for one in cuts))
    for one, marked in zip(cuts, apart(cuts), strict=True):
        assert marked.tolist() == [span not in everywhere for span in plain_spans(one)]


def test_grown_marks_what_the_smaller_size_does_not_have() -> None:
    tokenizer = Trainer(330).train(STORY).tokenizer
    cuts = [cut(sizes.at_size(tokenizer, size), "the lowest moon") for size in (256, 280, 330)]
    marked = grown(cuts)
    assert not marked[0].any()
    for before, one, new in zip(cuts, cuts[1:], marked[1:], strict=False):
        assert new.any()
        assert new.tolist() == [span not in plain_spans(before) for span in plain_spans(one)]


def test_hues_of_neighbors_differ_and_starts_agree() -> None:
    rng = random.Random(11)
    cuts = []
    for _ in range(4):
        ends = np.array(sorted({*rng.sample(range(1, 200), 60), 200}))
        cuts.append(Cut(ends, ends, np.zeros(len(ends), bool), len(ends), 200))
    found = hues(cuts, 8)
    for of_one in found:
        assert np.all(of_one[1:] != of_one[:-1])
        assert of_one.max() < 8
    agree = total = 0
    for a, hue_a in zip(cuts, found, strict=True):
        for b, hue_b in zip(cuts, found, strict=True):
            of_b = dict(zip(b.ends.tolist(), hue_b[1:].tolist(), strict=False))
            for end, hue in zip(a.ends.tolist(), hue_a[1:].tolist(), strict=False):
                if end in of_b:
                    total += 1
                    agree += of_b[end] == hue
    assert agree / total > 0.8
