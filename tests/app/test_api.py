"""The HTTP routes: what they answer, whom they refuse, and that errors are sentences."""

from __future__ import annotations

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import bpe_core
from bpe_core import Tokenizer, Trainer
from bpe_core.analysis import lineage
from ui.server import api, encoding, published, wire

EOT = "<|endoftext|>"
TEXTS = [
    "",
    "low lower lowest",
    f"see {EOT} here {EOT}",
    "<img src=x onerror=alert(1)>",
    "👨‍👩‍👧 नमस्ते مرحبا e\u0301 机器学习模型",
    "a\x00b\tc\u00a0d\u200be\r\n\n  f",
    "a" * 3000,
]


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(Starlette(routes=api.routes), base_url="http://mergescope.test")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    bpe_core.warm_up()
    return Trainer(300, [EOT]).train("low lower lowest newer newest wide widest " * 3).tokenizer


@pytest.fixture(scope="module")
def key(tokenizer: Tokenizer) -> str:
    return published.publish(tokenizer)


def read(data: bytes) -> tuple[dict[str, int], np.ndarray, np.ndarray, np.ndarray]:
    """Take an answer apart: the numbers, ids, ends, ages."""
    head = dict(zip(wire.HEAD, np.frombuffer(data, "<u4", 16).tolist(), strict=False))
    n = head["sent"]
    assert len(data) == 64 + 9 * n
    ids, ends = (np.frombuffer(data, "<u4", n, 64 + 4 * n * i) for i in (0, 1))
    return head, ids, ends, np.frombuffer(data, np.uint8, n, 64 + 8 * n)


def ask(client: TestClient, text: str | bytes, headers: dict[str, str] | None = None, **query):
    return client.post("/api/encode", content=text, params=query, headers=headers)


def sentence(response) -> str:
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"
    assert list(response.json()) == ["error"]
    text = response.json()["error"]
    assert text.endswith(".")
    assert "Traceback" not in text
    return text


# -- what is answered -------------------------------------------------------------------------


@pytest.mark.parametrize("text", TEXTS)
def test_the_answer_is_the_engines(client, tokenizer, key, text) -> None:
    response = ask(client, text, tokenizer=key)
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/octet-stream"
    head, ids, ends, ages = read(response.content)
    assert ids.tolist() == tokenizer.encode(text)
    assert [(i, int(e)) for i, e in zip(ids.tolist(), ends, strict=True)] == [
        (token.id, token.end) for token in tokenizer.tokens(text)
    ]
    assert head == {
        "version": wire.VERSION,
        "tokens": len(ids),
        "sent": len(ids),
        "bytes": len(text.encode()),
        "bytes_sent": len(text.encode()),
        "characters": len(text),
        "words": len(text.split()),
        "distinct": len(set(ids.tolist())),
        "special": text.count(EOT),
        "merges": tokenizer.n_merges,
    }
    for i, age in zip(ids.tolist(), ages.tolist(), strict=True):
        if i == tokenizer.special_tokens[EOT]:
            assert age == lineage.AGE_SPECIAL
        elif len(tokenizer.token_bytes(i)) == 1:
            assert age == lineage.AGE_BYTE
        else:
            assert lineage.AGE_BYTE < age < lineage.AGE_SPECIAL


def test_later_merges_are_older_never_younger(tokenizer) -> None:
    ages = encoding.ages(tokenizer)
    by_rank = [int(ages[new]) for new in tokenizer.merge_ids[:, 2]]
    assert by_rank == sorted(by_rank)
    assert (by_rank[0], by_rank[-1]) == (1, 254)


@pytest.mark.parametrize("merges", [0, 1, 7, 15])
def test_fewer_merges_recut_the_text(client, tokenizer, key, merges) -> None:
    text = "lowest newest widest"
    head, ids, _, _ = read(ask(client, text, tokenizer=key, merges=merges).content)
    assert ids.tolist() == tokenizer.truncated(merges).encode(text)
    assert head["merges"] == merges


def test_special_tokens_can_be_text(client, tokenizer, key) -> None:
    text = f"low {EOT}"
    head, ids, _, _ = read(ask(client, text, tokenizer=key, special="treat as text").content)
    assert ids.tolist() == tokenizer.encode(text, allowed_special=set())
    assert head["special"] == 0


def test_special_tokens_can_be_refused(client, key) -> None:
    response = ask(client, f"a\nb{EOT}", tokenizer=key, special="refuse")
    assert response.status_code == 422
    assert (
        sentence(response) == f"Line 2 has the special token {EOT}, and special tokens are refused."
    )
    assert ask(client, "no marker", tokenizer=key, special="refuse").status_code == 200


def test_a_long_text_is_cut_between_characters_and_counted_whole(client, tokenizer, key) -> None:
    text = "机器学习模型" * 2000
    for limit in (0, 1, 100, 1000, 1001, 1002):
        head, ids, ends, _ = read(ask(client, text, tokenizer=key, limit=limit).content)
        sent = head["bytes_sent"]
        assert sent == (int(ends[-1]) if len(ends) else 0)
        assert limit - 3 < sent <= limit
        text.encode()[:sent].decode()  # ends where a character ends
        assert head["bytes"] == len(text.encode())
        assert head["tokens"] == tokenizer.count_tokens(text)
        assert ids.tolist() == tokenizer.encode(text)[: head["sent"]]


def test_half_a_surrogate_pair_counts_as_the_replacement_character(tokenizer) -> None:
    head, ids, ends, _ = read(encoding.answer(tokenizer, "a\ud800b", limit=4))
    assert ids.tolist() == [97, 0xEF, 0xBF, 0xBD]
    assert ends.tolist() == [1, 2, 3, 4]
    assert head["bytes"] == 5


def test_bytes_that_are_no_utf8_are_replaced(client, tokenizer, key) -> None:
    _, ids, _, _ = read(ask(client, b"a\xffb", tokenizer=key).content)
    assert tokenizer.decode(ids) == "a\ufffdb"


def test_a_million_equal_letters(client, key) -> None:
    response = ask(client, "a" * 1_000_000, tokenizer=key, limit=100)
    head = read(response.content)[0]
    assert (head["tokens"], head["distinct"], head["words"]) == (1_000_000, 1, 1)
    assert len(response.content) == 64 + 9 * 100


# -- who and what is refused ------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://elsewhere.test"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "origin": "http://mergescope.test"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_sites_are_refused(client, key, headers) -> None:
    response = ask(client, "low", headers, tokenizer=key)
    assert response.status_code == 403
    assert "Only pages of this app" in sentence(response)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://mergescope.test"},
        {"origin": "https://outside.test", "sec-fetch-site": "same-origin"},  # behind a proxy
    ],
)
def test_the_apps_own_pages_are_answered(client, key, headers) -> None:
    assert ask(client, "low", headers, tokenizer=key).status_code == 200


@pytest.mark.parametrize("query", [{}, {"tokenizer": ""}, {"tokenizer": "../../etc"}])
def test_an_unknown_tokenizer_is_named_as_gone(client, query) -> None:
    response = ask(client, "low", **query)
    assert response.status_code == 404
    assert "no longer has this tokenizer" in sentence(response)


def test_a_body_over_the_limit_is_refused_before_it_is_read(client, key) -> None:
    response = ask(client, b"a" * (api.MAX_BODY + 1), tokenizer=key)
    assert response.status_code == 413
    assert "4 MB" in sentence(response)


def test_a_body_of_unknown_length_is_cut_off(client, key) -> None:
    taken = 0

    def chunks():
        nonlocal taken
        for _ in range(100):
            taken += 1
            yield b"a" * 100_000

    response = client.post("/api/encode", params={"tokenizer": key}, content=chunks())
    assert response.status_code == 413
    sentence(response)


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ({"merges": "many"}, "merges"),
        ({"merges": "-1"}, "merges"),
        ({"merges": "1.5"}, "merges"),
        ({"merges": "99999"}, "merges"),
        ({"merges": "9" * 400}, "merges"),
        ({"limit": "x"}, "limit"),
        ({"special": "maybe"}, "recognize"),
    ],
)
def test_a_wrong_parameter_is_named(client, key, query, word) -> None:
    response = ask(client, "low", tokenizer=key, **query)
    assert response.status_code == 400
    assert word in sentence(response)


def test_only_post_encodes(client) -> None:
    assert client.get("/api/encode").status_code == 405


def test_an_engine_that_is_being_compiled_says_so(client, key, monkeypatch) -> None:
    started: list[int] = []
    monkeypatch.setattr(api, "_warm_up", lambda: started.append(1))
    monkeypatch.setattr(bpe_core, "kernels_ready", lambda: False)
    response = ask(client, "low", tokenizer=key)
    assert response.status_code == 503
    assert sentence(response) == api.GETTING_READY
    assert started
    assert client.get("/api/health").json() == {"status": "ok", "engine_ready": False}


def test_health(client) -> None:
    response = client.get("/api/health")
    assert response.status_code == 200
    assert response.json()["status"] == "ok"


# -- the published tokenizers -----------------------------------------------------------------


def test_keys_cannot_be_guessed(tokenizer) -> None:
    keys = {published.publish(tokenizer) for _ in range(20)}
    assert len(keys) == 20
    assert min(map(len, keys)) >= 24


def test_what_is_published_is_bounded_and_drops_what_was_unused_longest(
    tokenizer, monkeypatch
) -> None:
    monkeypatch.setattr(published, "MAX_TOKENIZERS", 2)
    monkeypatch.setattr(published, "_shelf", type(published._shelf)())
    first, second = published.publish(tokenizer), published.publish(tokenizer)
    assert published.lookup(first) is tokenizer  # so the second is now the older one
    third = published.publish(tokenizer)
    assert published.lookup(second) is None
    assert published.lookup(first) is published.lookup(third) is tokenizer
    assert published.publish(tokenizer, second) == second
    assert published.lookup(second) is tokenizer
