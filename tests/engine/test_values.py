"""Tokenizers and their parts as values: equal by content, hashed, pickled, copied, shown, shared.

Each is tried in other processes and threads too.
"""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from bpe_core import BPEModel, MergeTable, Tokenizer, Trainer, formats
from bpe_core.preparation import AddedToken, Preparation, pretokenizer_of
from bpe_core.pretokenize import PreTokenizer

TEXT = "low lower lowest newest widest <|x|> 12 中文 é\u0301 'll\n" * 9


def trained(**options: Any) -> Tokenizer:
    return Trainer(300, ("<|x|>",), **options).train(TEXT).tokenizer


def imported() -> Tokenizer:
    """One with everything that only files have."""
    plain = trained()
    return Tokenizer(
        plain.model,
        pretokenizer_of([r"\p{N}", r"\s*\p{L}+"]),
        {"<|x|>": 1000, "low": 1001},
        plain.ids[::-1] + 2000,
        {9000: b"other", 9001: b"lowest"},
        preparation=Preparation("NFC", True, {"low": AddedToken(special=False, lstrip=True)}),
        ignore_merges={b" newest": 9001},
    )


MADE: list[Callable[[], Tokenizer]] = [
    trained,
    lambda: trained(pattern="cl100k", byte_order="gpt2"),
    lambda: trained(pattern=r"\p{L}+|[^\p{L}]"),
    lambda: trained(pattern="whole text").truncated(7),
    lambda: Trainer(256).train("").tokenizer,
    imported,
]


def ids_of(tokenizer: Tokenizer, text: str = TEXT) -> list[int]:
    return tokenizer.encode(text)


@pytest.mark.parametrize("make", MADE, ids=range(len(MADE)))
@pytest.mark.parametrize(
    "again",
    [
        *[lambda t, n=n: pickle.loads(pickle.dumps(t, n)) for n in range(2, 6)],
        copy.copy,
        copy.deepcopy,
    ],
    ids=["pickle 2", "pickle 3", "pickle 4", "pickle 5", "copy", "deepcopy"],
)
@pytest.mark.parametrize("used", [False, True])
def test_a_tokenizer_comes_back_equal(
    make: Callable[[], Tokenizer], again: Callable[[Tokenizer], Tokenizer], used: bool
) -> None:
    tokenizer = make()
    if used:
        tokenizer.encode(TEXT)
        tokenizer.decode([])
        hash(tokenizer)
    copied = again(tokenizer)
    assert copied is not tokenizer
    assert copied == tokenizer
    assert hash(copied) == hash(tokenizer)
    assert copied.vocab == tokenizer.vocab
    assert copied.merges == tokenizer.merges
    assert copied.pretokens(TEXT) == tokenizer.pretokens(TEXT)
    ids = tokenizer.encode(TEXT)
    assert copied.encode(TEXT) == ids
    assert copied.decode(ids) == tokenizer.decode(ids)


def test_caches_are_not_pickled() -> None:
    tokenizer = trained()
    size = len(pickle.dumps(tokenizer))
    for i in range(3000):
        tokenizer.encode(f"{TEXT} {i} {i * i}")
    tokenizer.vocab, tokenizer.merges, tokenizer.sizes, tokenizer.birth_ranks  # noqa: B018
    hash(tokenizer)
    assert len(pickle.dumps(tokenizer)) == size < 6000


@pytest.mark.parametrize("make", MADE, ids=range(len(MADE)))
def test_tokenizers_made_twice_are_equal(make: Callable[[], Tokenizer]) -> None:
    one, other = make(), make()
    assert one == one
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, other}) == 1
    assert one.model == other.model
    assert hash(one.model) == hash(other.model)
    assert one.model.table == other.model.table
    assert hash(one.model.table) == hash(other.model.table)
    for part in (one.model, one.model.table, one.pretokenizer, one.preparation):
        for again in (pickle.loads(pickle.dumps(part)), copy.deepcopy(part)):
            assert again == part
            assert type(again) is type(part)


def test_tokenizers_that_differ_anywhere_are_unequal() -> None:
    plain = trained()
    parts = plain.__getstate__()
    ids = plain.ids.copy()
    ids[-1] += 1
    changed = [
        {"model": plain.model.truncated(5)},
        {"pretokenizer": PreTokenizer("o200k")},
        {"special_tokens": {"<|y|>": 256}},
        {"special_tokens": {"<|x|>": 999}},
        {"ids": ids},
        {"extra": {9000: b"x"}},
        {"preparation": Preparation("NFC")},
        {"ignore_merges": {b"low": 97}},
    ]
    others = [Tokenizer(**(parts | change)) for change in changed]
    every = [plain, *others, trained(byte_order="gpt2"), trained(tie_break="lowest_ids")]
    for i, one in enumerate(every):
        assert [one == other for other in every] == [i == k for k in range(len(every))]
    assert len(set(every)) == len(every)
    assert plain != "a tokenizer"
    assert plain.model != plain.model.table


def test_a_tokenizer_that_was_cut_equals_one_that_learned_as_much() -> None:
    cut = Trainer(300).train(TEXT).tokenizer.truncated(9)
    short = Trainer(265).train(TEXT).tokenizer
    assert cut == short
    assert hash(cut) == hash(short)
    assert cut.model == short.model
    assert hash(cut.model) == hash(short.model)
    assert cut.model.table != short.model.table
    assert formats.loads_native(formats.dumps_native(cut).encode()) == short


def test_hash_and_equality_cost_nothing_the_second_time(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = trained(), trained()
    assert one == other
    monkeypatch.setattr(MergeTable, "__eq__", None)
    monkeypatch.setattr(np, "array_equal", None)
    assert one == one
    assert one != trained(tie_break="lowest_ids")
    vars(one)["merge_ids"] = None
    hash(one)


def test_what_they_show_is_short() -> None:
    result = Trainer(300, ("<|x|>",)).train(TEXT)
    tokenizer = result.tokenizer
    n = tokenizer.n_merges
    assert repr(tokenizer) == (
        f"Tokenizer({257 + n} entries, {n} merges, 1 special, pattern 'gpt2')"
    )
    assert repr(tokenizer.model.truncated(7)) == f"BPEModel(7 of {n} merges)"
    assert repr(tokenizer.model.table) == f"MergeTable({n} merges, {256 + n} tokens)"
    for value in (result, result.trace, trained(pattern="(?:" + "a" * 9999 + ")"), imported()):
        assert len(repr(value)) < 250


def test_results_and_traces_are_values_too() -> None:
    trainer = Trainer(300, ("<|x|>",))
    one, other = trainer.train(TEXT), trainer.train(TEXT)
    shorter = Trainer(280, ("<|x|>",)).train(TEXT)
    assert one == other == pickle.loads(pickle.dumps(one)) == copy.deepcopy(one)
    assert hash(one) == hash(other)
    assert one != shorter
    assert one.trace != shorter.trace
    assert one.trace[:5] == shorter.trace[:5]
    assert one.trace != Trainer(300, ("<|x|>",), top_k=3).train(TEXT).trace
    assert pickle.loads(pickle.dumps(trainer)) == trainer


# -- other processes, other threads -----------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    ["spawn", pytest.param("fork", marks=pytest.mark.skipif(sys.platform != "linux", reason=""))],
)
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_another_process_encodes_the_same(method: str) -> None:
    context = multiprocessing.get_context(method)
    tokenizers = [make() for make in MADE]
    expected = [ids_of(tokenizer) for tokenizer in tokenizers]
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(ids_of, tokenizers)) == expected
        for tokenizer in tokenizers:
            assert pool.submit(pickle.loads, pickle.dumps(tokenizer)).result() == tokenizer


def test_threads_share_a_tokenizer_and_make_copies_of_it() -> None:
    tokenizer = imported()
    texts = [TEXT * (i % 5) + f" low {i}" for i in range(80)]
    expected = [tokenizer.encode(text) for text in texts]
    fresh = imported()
    begin = threading.Barrier(4)

    def work(k: int) -> list[list[int]]:
        begin.wait()
        mine = copy.deepcopy(fresh) if k % 2 else fresh
        assert hash(mine) == hash(tokenizer)
        assert mine == tokenizer
        return [mine.encode(text) for text in texts]

    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(work, range(4)))


def test_a_model_of_a_table_is_pickled_with_its_table_once() -> None:
    table = trained().model.table
    models = [BPEModel(table, 1), BPEModel(table, 2)]
    again = pickle.loads(pickle.dumps(models))
    assert again == models
    assert again[0].table is again[1].table
