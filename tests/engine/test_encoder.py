"""The encode kernel's rooms: small caches, small buffers and threads change no id."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import Tokenizer, Trainer, batches, encoder, reference
from bpe_core.counting import count_pretokens
from bpe_core.kernels import layout
from bpe_core.pretokenize import PreTokenizer

SPECIALS = ("<|x|>", "<|x|><|y|>", "ж")
TEXT = (
    "the quick brown fox jumps over the lazy dog; " * 4
    + "Съешь же ещё этих мягких французских булок. " * 4
    + "noneoftheselongwordsiscutanywhere" * 3
    + " 床前明月光疑是地上霜"
)


@pytest.fixture(scope="module", params=["gpt2", "o200k", r"\w+"])
def trained(request: pytest.FixtureRequest) -> Tokenizer:
    return Trainer(600, SPECIALS, pattern=request.param).train(TEXT).tokenizer


def plainly(tokenizer: Tokenizer, text: str) -> list[int]:
    """Ids by the plain definition, piece by piece, without any cache."""
    token_id = {token: i for i, token in tokenizer.vocab.items()}
    ids: list[int] = []
    for part, is_special in reference.split_special(text, SPECIALS):
        if is_special:
            ids.append(tokenizer.special_tokens[part])
            continue
        for piece in tokenizer.pretokenizer.split(part):
            ids += [token_id[t] for t in reference.encode(piece.encode(), tokenizer.merges)]
    return ids


def words(seed: int, n: int) -> str:
    """Words of every length from 1 to 80 bytes, some of them often."""
    rng = random.Random(seed)
    stock = [
        "".join(
            rng.choices("thequickbrownжеещёбулок床前明<|x|>1 ", k=rng.choice([1, 3, 5, 9, 20, 40]))
        )
        for _ in range(60)
    ]
    return " ".join(rng.choice(stock) for _ in range(n))


@pytest.mark.parametrize("rows", [2, 8])
def test_caches_in_which_everything_is_displaced_change_no_id(
    rows: int, trained: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "FIRST_ROWS", rows)
    monkeypatch.setattr(encoder, "MOST_ROWS", rows)
    small = Tokenizer(trained.model, trained.pretokenizer, trained.special_tokens)
    assert small._encoders[0]._cache.ring.size == 16 * rows + layout.SLACK
    # A ring of 128 bytes is too small for the longest pieces; those must stay out of it.
    for seed in range(3):
        text = words(seed, 120)
        assert small.encode(text) == plainly(trained, text)
        assert small.encode(text) == plainly(trained, text)


def test_a_cache_that_grows_keeps_what_is_in_it(
    trained: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "FIRST_ROWS", 4)
    monkeypatch.setattr(encoder, "MOST_ROWS", 1 << 12)
    text = words(5, 400)
    fresh = Tokenizer(trained.model, trained.pretokenizer, trained.special_tokens)
    assert fresh._encoders[0]._cache[0].size == 8 * 4
    assert fresh.encode(text) == plainly(trained, text)
    rows, _, head = fresh._encoders[0]._cache
    assert rows.size >= 8 << 6
    kept = int(head[1])
    assert fresh.encode(text) == plainly(trained, text)
    # Nearly everything is found again: hardly a piece was put in anew.
    assert head[1] < kept + kept // 8


@pytest.mark.parametrize("room", [0, 1, 7, 64])
def test_an_output_that_is_full_at_any_place_changes_no_id(
    room: int, trained: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "FIRST_IDS", room)
    monkeypatch.setattr(encoder, "KEPT_SCRATCH", 64)
    small = Tokenizer(trained.model, trained.pretokenizer, trained.special_tokens)
    for seed in range(3):
        text = "<|x|>".join([words(seed, 30), "", "ж", "x" * 300, "<|x|>"])
        assert small.encode(text) == plainly(trained, text)
        assert small.encode("ж" * seed + "<|x|>" * 40) == plainly(
            trained, "ж" * seed + "<|x|>" * 40
        )
    assert small._encoders[0]._scratch[0].size <= 64


@settings(max_examples=60)
@given(
    texts=st.lists(st.text("abж<|x|><|y|> 1\n床", max_size=30), max_size=12),
    workers=st.integers(1, 4),
    part=st.integers(1, 40),
)
def test_a_batch_on_threads_is_its_texts_one_by_one(
    texts: list[str], workers: int, part: int
) -> None:
    for pattern in ("cl100k", r"\w+"):
        trained = Trainer(300, SPECIALS, pattern=pattern).train(TEXT).tokenizer
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(batches, "PART_SIZE", (3 * part, part))
            ids, ends = trained.encode_batch_to_array(texts, workers=workers)
            lists = trained.encode_batch(texts, workers=workers)
        assert lists == [trained.encode(text) for text in texts]
        assert ids.tolist() == [i for text in lists for i in text]
        assert ends.tolist() == np.cumsum([len(text) for text in lists], dtype=int).tolist()


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2"])
def test_a_wrong_number_of_workers_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="workers"):
        Trainer(256).train("").tokenizer.encode_batch(["a"], workers=wrong)  # type: ignore[arg-type]


def test_what_is_no_text_is_named() -> None:
    trained = Trainer(300, SPECIALS).train(TEXT).tokenizer
    for one in ("abc", b"abc"):
        with pytest.raises(TypeError, match="a list of texts, not one"):
            trained.encode_batch(one)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a str, not bytes"):
        list(trained.encode_iterable(["a", b"x"]))  # type: ignore[list-item]
    for policy in ({"allowed_special": [5]}, {"disallowed_special": [5]}):
        with pytest.raises(TypeError, match="a special token must be a text, not 5"):
            trained.encode("a", **policy)


def test_a_batch_takes_lone_surrogates_and_what_derives_from_str() -> None:
    class Text(str):
        pass

    trained = Trainer(300, SPECIALS).train(TEXT).tokenizer
    texts = [Text("the fox"), "lone \ud83d", "pair \ud83d\ude00"]
    assert trained.encode_batch(texts) == [trained.encode(text) for text in texts]


def test_a_batch_takes_texts_only_and_names_a_banned_token() -> None:
    trained = Trainer(300, SPECIALS).train(TEXT).tokenizer
    with pytest.raises(TypeError, match="bytes"):
        trained.encode_batch(["a", b"b"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="special token"):
        trained.encode_batch(["a", "b<|x|>"], allowed_special=(), disallowed_special="all")


@settings(max_examples=80)
@given(
    pieces=st.lists(st.text("abж<|x|><|y|> 1\n床\ud83d\ude00", max_size=12), max_size=12),
    block=st.integers(1, 9),
)
def test_chunks_joined_are_the_ids_of_the_joined_text(pieces: list[str], block: int) -> None:
    trained = Trainer(300, SPECIALS).train(TEXT).tokenizer
    chunks = list(trained.encode_chunks(pieces, block=block))
    assert all(chunk.dtype == np.uint32 for chunk in chunks)
    assert [i for chunk in chunks for i in chunk.tolist()] == trained.encode("".join(pieces))


def test_a_count_over_32_bits_is_carried_with_its_places() -> None:
    """A place carries its weight, or where that is too great, the pre-token it belongs to."""
    for great in (2**31 - 1, 2**31, 2**40):
        counts = {b"abcab": great, b"xbca": 3, b"aaaa": great + 1}
        result = Trainer(265, top_k=4).train(counts)
        expected = reference.train(counts, 9, top_k=4)
        assert result.trace.pair_count.tolist() == [step.pair_count for step in expected.steps]
        assert result.trace.merged.tolist() == [step.merged for step in expected.steps]


def test_the_best_pairs_stay_in_order_when_the_heap_is_made_anew() -> None:
    """More pairs than the heap takes at first, in steep counts with many ties."""
    rng = random.Random(3)
    counts = {rng.randbytes(rng.choice([2, 3])): int(rng.paretovariate(0.6)) for _ in range(6000)}
    for tie_break in ("greatest_bytes", "lowest_ids"):
        result = Trainer(256 + 90, tie_break=tie_break, top_k=6).train(counts)
        expected = reference.train(counts, 90, tie_break=tie_break, top_k=6)
        columns = (result.trace.left, result.trace.right, result.trace.pair_count)
        steps = [(s.candidates[0][2], s.n_tied, s.n_pairs) for s in expected.steps]
        assert len(result.trace) == len(expected.steps) == 90
        assert list(zip(columns[2].tolist(), result.trace.n_tied.tolist(),
                        result.trace.n_pairs.tolist(), strict=True)) == steps  # fmt: skip
        found = result.trace.cand_count.tolist()
        assert found == [
            [c[2] for c in s.candidates] + [0] * (6 - len(s.candidates)) for s in expected.steps
        ]


def test_bytes_that_are_no_text_are_replaced_between_good_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bpe_core import corpus

    monkeypatch.setattr(corpus, "BLOCK", 64)
    data = ("good text and ünïcödé " * 6).encode() + b"\xff\xc3" + "weiter mit ß ".encode() * 9
    path = tmp_path / "text"
    path.write_bytes(data)
    counter, replaced = count_pretokens(path, PreTokenizer("gpt2"))
    plain, _ = count_pretokens(data.decode("utf-8", "replace"), PreTokenizer("gpt2"))
    assert replaced == 2
    assert counter.to_dict() == plain.to_dict()
