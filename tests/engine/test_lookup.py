"""The piece cache: where a piece stands, how long it is and what stands beside change no id."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bpe_core import Tokenizer, Trainer, encoder, kernels, reference
from bpe_core.encoder import Encoder
from bpe_core.kernels import layout

TEXT = "the quick brown fox jumps over the lazy dog; Съешь же ещё этих мягких булок. " * 3


@pytest.fixture(scope="module")
def trained() -> Tokenizer:
    return Trainer(400).train(TEXT).tokenizer


def plainly(tokenizer: Tokenizer, piece: bytes) -> list[int]:
    ids = {token: i for i, token in tokenizer.vocab.items()}
    return [ids[token] for token in reference.encode(piece, tokenizer.merges)]


def encoded(
    encoder: Encoder, pieces: list[bytes], behind: bytes = b"", per_segment: int = 10**9
) -> list[int]:
    """Ids of pieces that stand one after the other, with `behind` after the last of them."""
    data = np.frombuffer(b"".join(pieces) + behind, np.uint8)
    ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
    borders = np.append(0, [*ends[per_segment - 1 : -1 : per_segment], ends[-1]])
    bounds = np.repeat(borders, 2)[1:-1].copy()
    ids, counts = encoder.encode(0, data, bounds, np.full(bounds.size // 2, -1), ends)
    assert counts[-1] == ids.size
    return ids.tolist()


def some_bytes(rng: random.Random, n: int) -> bytes:
    """Text as in the training, so that it makes long tokens and short ones, and zeros."""
    text = TEXT.encode()
    at = rng.randrange(len(text))
    return ((text + text)[at:] + bytes(n) + text)[: max(n - n % 3, 0)] + bytes(n % 3)


def test_a_piece_of_any_length_at_any_distance_from_the_end(trained: Tokenizer) -> None:
    rng = random.Random(1)
    mine = trained.new_encoder()
    for n in (*range(1, 41), *range(55, 70), *range(250, 301)):
        piece = some_bytes(rng, n)
        expected = plainly(trained, piece)
        for distance in range(19):
            for behind in (bytes(distance), b"\xff" * distance, rng.randbytes(distance)):
                assert encoded(mine, [piece], behind) == expected, (n, distance)


@pytest.mark.parametrize("rows", [2, 4, 64])
@pytest.mark.parametrize("growth", [1, 4, 1024])
@pytest.mark.parametrize("room", [0, 400])
def test_pieces_with_any_number_of_ids_that_move_each_other_aside(
    rows: int, growth: int, room: int, trained: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "FIRST_ROWS", rows)
    monkeypatch.setattr(encoder, "MOST_ROWS", rows * growth)
    monkeypatch.setattr(encoder, "FIRST_IDS", room)
    rng = random.Random(rows)
    # Bytes without merges have as many ids as bytes; zeros and ones look like no piece at all.
    stock = [bytes(rng.choices(b"\x00\x01\xff", k=n)) for n in range(1, 19) for _ in range(3)]
    stock += [bytes(n) for n in (1, 8, 15, 16)] + [b"\x01", b"\x01" + bytes(7), b"\xff" * 15]
    stock += [some_bytes(rng, n) for n in (3, 7, 12, 15, 16, 17, 31, 32, 33, 48, 64, 200, 256)]
    expected = {piece: plainly(trained, piece) for piece in stock}
    mine = trained.new_encoder()
    for per_segment in (1, 2, 7, 127, 128, 10**9):
        pieces = rng.choices(stock, k=700)
        ids = encoded(mine, pieces, b"", per_segment)
        assert ids == [i for piece in pieces for i in expected[piece]]


def test_a_cache_as_full_as_it_gets(trained: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way of every row in use, again and again, with pieces that take a whole row."""
    monkeypatch.setattr(encoder, "FIRST_ROWS", 16)
    monkeypatch.setattr(encoder, "MOST_ROWS", 16)
    rng = random.Random(4)
    mine = trained.new_encoder()
    for _ in range(4):
        pieces = [some_bytes(rng, rng.choice([2, 3, 6, 9, 14, 20])) for _ in range(300)]
        expected = [i for piece in pieces for i in plainly(trained, piece)]
        assert encoded(mine, pieces) == expected
        assert encoded(mine, pieces) == expected


@pytest.mark.parametrize("given", [1, 3, 200])
def test_ends_that_run_out_anywhere_change_no_id(given: int) -> None:
    class Stingy(Encoder):
        def _scan_more(self, scheme, data, bounds, state):  # type: ignore[no-untyped-def]
            super()._scan_more(scheme, data, bounds, state)
            state[4] = min(int(state[4]), given)

    tokenizer = Trainer(400, ("<|x|>", "ж")).train(TEXT).tokenizer
    expected = tokenizer.encode(text := "<|x|>" + TEXT + "<|x|><|x|>" + TEXT[:9] + "ж")
    tokenizer._encoders = [Stingy(tokenizer.model.ranks, tokenizer.ids)]
    assert tokenizer.encode(text) == expected


def test_ends_that_stop_before_the_text_are_refused(trained: Tokenizer) -> None:
    data = np.frombuffer(b"abcd", np.uint8)
    with pytest.raises(ValueError, match="end before the text"):
        trained.new_encoder().encode(
            0, data, np.array([0, 4]), np.array([-1]), np.array([2], np.int64)
        )


@pytest.mark.parametrize("merges", [0, 1, 40, 73])
def test_both_ways_of_merging_agree_at_the_length_where_they_meet(
    merges: int, trained: Tokenizer
) -> None:
    cut = trained.truncated(merges)
    rng = random.Random(merges)
    for n in range(layout.SHORT - 6, layout.SHORT + 7):
        for piece in (some_bytes(rng, n), b"a" * n, (b"the" * n)[:n]):
            tokens = map(cut.model.token_bytes, cut.model.encode_bytes(piece))
            assert list(tokens) == reference.encode(piece, cut.merges)
            joins = np.full(n - 1, layout.NEVER, np.int32)
            cut.model.join_ranks(np.frombuffer(piece, np.uint8), np.array([n]), 0, joins)
            assert joins.tolist() == reference.join_ranks(piece, cut.merges)


def test_a_full_row_of_pairs_goes_on_in_the_next() -> None:
    """Enough merges for full rows in the table of pairs; each pair is found with its rank."""
    keys = np.random.default_rng(5).choice(256 * 256, 3000, replace=False)
    left, right = (keys >> 8).astype(np.int32), (keys & 255).astype(np.int32)
    left[1500:] += 256  # pairs that are not of two bytes
    pairs = np.full(2 << 12, -1, np.int64)
    byte_ranks = np.full(65536, layout.NEVER, np.int32)
    kernels.fill_ranks(left, right, pairs, byte_ranks)
    stored = pairs.reshape(-1, 2, 4)
    found = dict(zip(stored[:, 0].ravel().tolist(), stored[:, 1].ravel().tolist(), strict=True))
    found.pop(-1)
    wanted = ((left.astype(np.int64) << 32) | right).tolist()
    assert found == {key: rank for rank, key in enumerate(wanted)}
    assert (stored[:, 0, 3] >= 0).sum() > 100


def test_a_larger_cache_takes_over_what_is_in_a_smaller_one(trained: Tokenizer) -> None:
    rng = random.Random(7)
    pieces = sorted({some_bytes(rng, rng.randint(1, 40)) for _ in range(200)})
    mine = trained.new_encoder()
    first = encoded(mine, pieces)
    rows, _, head = mine._cache
    put = int(head[1])
    head[2] = 0  # full
    assert encoded(mine, pieces) == first
    assert mine._cache[0].size > rows.size
    assert mine._cache[2][1] == put  # nothing was put in anew
