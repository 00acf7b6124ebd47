"""Whole exports: files of every format, told apart, read back and proved."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import PATTERNS, FormatError, Tokenizer, Trainer, formats, metrics

FORMATS = tuple(formats.FORMATS)


@pytest.fixture(scope="module", params=["gpt2", "o200k", "whole text"])
def tokenizer(request: pytest.FixtureRequest, german: str) -> Tokenizer:
    return Trainer(700, ["<a>", "<|b|>"], pattern=request.param).train(german).tokenizer


@pytest.mark.parametrize("format_name", FORMATS)
def test_an_export_is_read_back_and_proved(
    format_name: formats.Format, tokenizer: Tokenizer, real_texts: list[str]
) -> None:
    assert formats.obstacles(tokenizer, format_name) == []
    texts = real_texts[::9]
    proof = formats.prove(tokenizer, format_name, texts)
    assert proof.differing == ()
    assert proof.n_texts == len(texts) + tokenizer.vocab_size + 3 + len(formats.NASTY_TEXTS)
    assert proof.n_ids > sum(len(text) for text in texts) // 10


@pytest.mark.parametrize("format_name", FORMATS)
def test_files_are_told_apart_by_their_content(
    format_name: formats.Format, tokenizer: Tokenizer
) -> None:
    files = formats.dumps(tokenizer, format_name)
    renamed = {f"file {n}": content for n, content in enumerate(files.values())}
    for given_files in (files, renamed, dict(reversed(files.items()))):
        found, imported = formats.loads(
            given_files, pattern=tokenizer.pattern, special_tokens=tokenizer.special_tokens
        )
        assert found == format_name
        assert imported.notes == ()
        assert imported.tokenizer.vocab == tokenizer.vocab
        assert imported.tokenizer.merges == tokenizer.merges
        for text in formats.NASTY_TEXTS:
            assert imported.tokenizer.encode(text) == tokenizer.encode(text)


@pytest.mark.parametrize("format_name", FORMATS)
def test_each_file_is_told_by_its_looks(format_name: formats.Format, tokenizer: Tokenizer) -> None:
    record = formats.FORMATS[format_name]
    for name, content in formats.dumps(tokenizer, format_name).items():
        found = formats.sniff(content)
        assert found == ((record, name) if name in record.files else None)
    assert formats.sniff(b"") is formats.sniff(b"some words of text") is None
    assert formats.FORMATS["gpt2"].extensions == (".json", ".txt")


@pytest.mark.parametrize("call", [formats.obstacles, formats.remarks, formats.dumps, formats.prove])
def test_an_unknown_format_is_refused(call: Any) -> None:
    with pytest.raises(ValueError, match="hf, native, tiktoken, gpt2, not 'other'"):
        call(Trainer(256).train("").tokenizer, "other")


def test_a_new_format_is_one_record(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = Trainer(257).train("abab").tokenizer

    def loads(files: Mapping[str, bytes], _: Any) -> formats.LoadedTokenizer:
        text = files["it.shout"].decode().removeprefix("shout\n")
        return formats.LoadedTokenizer(formats.loads_native(text.lower()))

    record = formats.FormatRecord(
        name="shout",
        title="Shouting",
        files=("it.shout",),
        expected="a file in capitals",
        holds_settings=True,
        sniff=lambda content: "it.shout" if content.first_line == b"shout" else "",
        loads=loads,
        dumps=lambda one: {"it.shout": b"shout\n" + formats.dumps_native(one).upper().encode()},
        obstacles=lambda one: ["it has special tokens"] if one.special_tokens else [],
    )
    monkeypatch.setitem(formats.FORMATS, "shout", record)
    files = formats.dumps(tokenizer, "shout")
    found, (again, notes) = formats.loads({"any name": files["it.shout"]})
    assert (found, again.vocab, notes) == ("shout", tokenizer.vocab, ())
    assert formats.prove(tokenizer, "shout", ["abc"]).differing == ()
    assert formats.obstacles(tokenizer, "shout") == formats.remarks(tokenizer, "shout") == []
    with pytest.raises(FormatError, match="or a file in capitals"):
        formats.loads({})


def test_a_proof_finds_what_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = Trainer(257).train("abab").tokenizer
    other = Trainer(257).train("bcbc").tokenizer
    files = formats.dumps(other, "hf")
    monkeypatch.setattr(formats.proof, "dumps", lambda *_: files)
    proof = formats.prove(tokenizer, "hf", ["abc", "xyz"])
    assert "abc" in proof.differing
    assert "xyz" not in proof.differing


def test_what_files_leave_to_their_reader_is_said() -> None:
    plain = Trainer(257).train("abab").tokenizer
    other = Trainer(259, ["<a>"], pattern="o200k").train("abab").tokenizer
    assert formats.remarks(plain, "gpt2") == formats.remarks(other, "hf") == []
    pattern, specials = formats.remarks(other, "gpt2")
    assert "'o200k'" in pattern
    assert "'<a>'" in specials
    assert len(formats.remarks(plain, "tiktoken")) == 1


def test_special_tokens_that_are_not_named_are_told_of() -> None:
    tokenizer = Trainer(290, ["<a>"]).train("the the then").tokenizer
    _, imported = formats.loads(formats.dumps(tokenizer, "gpt2"))
    (note,) = imported.notes
    assert "'<a>'" in note


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({}, "tokenizer.json"),
        ({"a.txt": b""}, "a.txt.*tokenizer.json"),
        ({"a.txt": b"some words of text"}, "tokenizer.json"),
        ({"a.bin": b"\x89PNG\r\n\x1a\n\x00"}, "a.bin"),
        ({"vocab.json": b'{"a": 1}'}, "merges.txt.*missing"),
        ({"merges.txt": b"#version: 0.2\na b\n"}, "vocab.json.*missing"),
        ({"merges.txt": b"a b\n"}, "vocab.json.*missing"),
        ({"vocab.json": b'{"a": 1, ', "merges.txt": b"a b\n"}, "vocab.json, line 1"),
        ({"a": b'{"a": 1}', "b": b'{"b": 1}'}, "same kind"),
        ({"tokenizer.json": b'{"model": {}, "added_tokens": [], "x": '}, "tokenizer.json, line 1"),
        ({"tokenizer.json": b'{"model": {"type": "Unigram"}, "added_tokens": []}'}, "Unigram"),
        ({"a.tiktoken": b"YQ== 0\nYg== x\n"}, "line 2"),
    ],
)
def test_other_files_are_refused_with_what_is_expected(files: dict[str, bytes], named: str) -> None:
    with pytest.raises(FormatError, match=named):
        formats.loads(files)


@given(content=st.binary(max_size=60) | st.text(max_size=40).map(str.encode))
@settings(max_examples=150)
def test_any_bytes_are_refused_in_words(content: bytes) -> None:
    for files in ({"a": content}, {"a": content, "vocab.json": b'{"a": 1}'}):
        with pytest.raises(FormatError):
            formats.loads(files)


@st.composite
def imported(draw: st.DrawFn) -> Tokenizer:
    """A tokenizer with any ids and any list of merges over few letters."""
    n_merges = draw(st.integers(0, 12))
    tokens = [bytes([b]) for b in range(256)]
    letters = [b"a", b"b", b"c"]
    merges: list[tuple[bytes, bytes]] = []
    for _ in range(n_merges):
        pair = (draw(st.sampled_from(letters)), draw(st.sampled_from(letters)))
        if len(pair[0] + pair[1]) <= 8:
            merges.append(pair)
            letters.append(pair[0] + pair[1])
    longer = list(dict.fromkeys(a + b for a, b in merges))
    order = draw(st.permutations(range(len(longer))))
    merges = draw(st.permutations(merges)) if draw(st.booleans()) else merges
    vocab = dict(enumerate(tokens)) | {256 + i: longer[n] for i, n in enumerate(order)}
    return Tokenizer.from_vocab(vocab, merges, pattern="whitespace")


@given(tokenizer=imported(), texts=st.lists(st.text("aabbc ", max_size=20), max_size=6))
@settings(max_examples=80)
def test_without_obstacle_libraries_give_the_same_ids(
    tokenizer: Tokenizer, texts: list[str]
) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    tokenizers = pytest.importorskip("tokenizers")
    texts = [*texts, *[token.decode("latin-1") for token in tokenizer.vocab.values()][97:]]
    assert formats.obstacles(tokenizer, "hf") == formats.obstacles(tokenizer, "gpt2") == []
    theirs = tokenizers.Tokenizer.from_str(formats.dumps_hf(tokenizer))
    for text in texts:
        assert theirs.encode(text).ids == tokenizer.encode(text)
    ranks = {token: i for i, token in tokenizer.vocab.items()}
    encoding = tiktoken.Encoding(
        "x", pat_str=PATTERNS["whitespace"].regex, mergeable_ranks=ranks, special_tokens={}
    )
    differs = [text for text in texts if encoding.encode(text) != tokenizer.encode(text)]
    # An obstacle may concern texts that were not drawn; without one, nothing differs.
    if not formats.obstacles(tokenizer, "tiktoken"):
        assert differs == []
        assert formats.prove(tokenizer, "tiktoken", texts).differing == ()


def test_the_snippet_is_python_for_any_names(monkeypatch: pytest.MonkeyPatch) -> None:
    specials = ["<'>", '<">', "<\\n>", "<\n>", "中", "{x}"]
    tokenizer = Trainer(300, specials, pattern=r"""['"\\]+|\S+""").train("x 'y' \"z\"").tokenizer
    snippet = formats.tiktoken_snippet(tokenizer, 'a"b\\c.tiktoken', "it's")
    calls: dict[str, Any] = {}

    class Encoding:
        def __init__(self, **options: Any) -> None:
            calls.update(options)

        def encode(self, text: str, **_: Any) -> list[int]:
            return []

    modules = {"tiktoken": types.ModuleType("tiktoken"), "tiktoken.load": types.ModuleType("load")}
    modules["tiktoken"].Encoding = Encoding  # type: ignore[attr-defined]
    modules["tiktoken.load"].load_tiktoken_bpe = lambda path: path  # type: ignore[attr-defined]
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    exec(snippet, {})
    assert calls["special_tokens"] == tokenizer.special_tokens
    assert calls["mergeable_ranks"] == 'a"b\\c.tiktoken'
    assert calls["name"] == "it's"


def test_native_files_say_the_oldest_version_that_reads_them() -> None:
    plain = Trainer(257).train("abab").tokenizer
    assert json.loads(formats.dumps_native(plain))["version"] == 1
    file = json.loads(formats.dumps_hf(plain))
    file["normalizer"] = {"type": "NFC"}
    newer = json.loads(formats.dumps_native(formats.loads_hf(json.dumps(file))))
    assert newer["version"] == 2
    assert newer["preparation"]["normalizer"] == "NFC"
    for key, value in (
        ("preparation", {"normalizer": "NFD"}), ("preparation", {"prefix_space": 1}),
        ("preparation", {"tokens": {"<x>": {}}}), ("preparation", {"tokens": []}),
        ("preparation", {"other": 1}), ("preparation", []), ("whole", {"7": "ab"}),
        ("whole", {"x": "ab"}), ("whole", []), ("pattern", []), ("pattern", [1]), ("version", 3),
    ):  # fmt: skip
        with pytest.raises(FormatError, match=key):
            formats.loads_native(json.dumps(newer | {key: value}))


def test_counts_from_pretokens_are_refused_where_texts_are_changed_first() -> None:
    file = json.loads(formats.dumps_hf(Trainer(257).train("abab").tokenizer))
    file["normalizer"] = {"type": "NFC"}
    tokenizer = formats.loads_hf(json.dumps(file))
    with pytest.raises(ValueError, match="normalizes"):
        metrics.corpus_token_counts(tokenizer, "e\u0301")
    assert tokenizer.join_ranks("abe\u0301").size == 3
    assert tokenizer.tokens("abe\u0301")[-1].end == len("abé".encode())
