"""Whole exports: files of every format, told apart, read back and proved."""

from __future__ import annotations

import itertools
import json
import sys
import types
from collections.abc import Mapping
from pathlib import Path
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


# Sets of files, as repositories hold them


def repository() -> dict[str, bytes]:
    """All small files of a repository; tokenizer.json has a pattern that vocab.json does not say."""
    tokenizer = Tokenizer.from_vocab(
        {i: bytes([i]) for i in range(256)} | {256: b"12", 257: b"123", 258: b" a", 259: b"ab"},
        [(b"1", b"2"), (b"12", b"3"), (b" ", b"a"), (b"a", b"b")],
        {"<|im_end|>": 260, "<think>": 261},
        pattern="o200k",
    )
    top = json.loads(formats.dumps_hf(tokenizer))
    plain = Tokenizer(tokenizer.model, tokenizer.pretokenizer, ids=tokenizer.ids)
    vocab_json, merges_txt = formats.dumps_gpt2(plain)
    return {
        "tokenizer.json": json.dumps(top).encode(),
        "tokenizer_config.json": json.dumps(
            {"add_prefix_space": False, "model_max_length": 4096, "tokenizer_class": "X",
             "added_tokens_decoder": {"260": {"content": "<|im_end|>", "special": True}}}
        ).encode(),
        "special_tokens_map.json": json.dumps(
            {"eos_token": {"content": "<|im_end|>"}, "additional_special_tokens": ["<|im_end|>"]}
        ).encode(),
        "vocab.json": vocab_json.encode(),
        "merges.txt": merges_txt.encode(),
        "added_tokens.json": json.dumps({"<|im_end|>": 260, "<think>": 261}).encode(),
    }  # fmt: skip


SMALL = tuple(repository())


@pytest.mark.parametrize(
    "names", [c for n in range(1, 7) for c in itertools.combinations(SMALL, n)], ids="+".join
)
@pytest.mark.parametrize("renamed", [False, True])
def test_files_of_a_repository_are_read_in_any_combination(
    names: tuple[str, ...], renamed: bool
) -> None:
    contents = repository()
    given_as = {name: f"file {i}" if renamed else name for i, name in enumerate(names)}
    files = {given_as[name]: contents[name] for name in names}
    read = {"tokenizer.json"} if "tokenizer.json" in names else {"vocab.json", "merges.txt"}
    if not read <= set(names):
        with pytest.raises(FormatError, match=r"tokenizer\.json|missing"):
            formats.loads(files)
        return
    if "tokenizer.json" not in names:
        read |= {"added_tokens.json"} & set(names)
    for order in (files, dict(reversed(files.items()))):
        kind, (tokenizer, notes) = formats.loads(order)
        assert kind == ("hf" if "tokenizer.json" in names else "gpt2")
        aside = [given_as[name] for name in names if name not in read]
        assert len(notes) == bool(aside)
        for name in aside:
            assert name in notes[-1].split(" set aside: ")[0]
        for name in read:
            assert given_as[name] in notes[-1].split(" set aside: ")[1] if aside else True
        ids = tokenizer.encode("12 a<|im_end|>")
        if kind == "hf" or "added_tokens.json" in names:
            assert ids == [256, 258, 260]
            assert tokenizer.special_tokens == {"<|im_end|>": 260, "<think>": 261}
        else:
            assert 260 not in ids
        assert tokenizer.pattern == ("o200k" if kind == "hf" else "gpt2")


def test_added_tokens_beside_a_vocabulary_are_those_of_tokenizers(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    files = {name: repository()[name] for name in ("vocab.json", "merges.txt", "added_tokens.json")}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    theirs = tokenizers.ByteLevelBPETokenizer(
        str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt")
    )
    theirs.add_tokens(["<|im_end|>", "<think>"])
    tokenizer = formats.loads(files)[1].tokenizer
    for text in ("123 a<|im_end|>", "<think>ab<think>", "a <think> b", "<|im_end|"):
        assert tokenizer.encode(text) == theirs.encode(text).ids
    parts = [files[name] for name in ("vocab.json", "merges.txt")]
    more = formats.loads_gpt2(
        *parts, ["<|im_end|>", "ab", "<new>"], added_tokens_json=files["added_tokens.json"]
    )
    assert more.special_tokens == tokenizer.special_tokens | {"ab": 259, "<new>": 262}
    with pytest.raises(FormatError, match=r"added_tokens\.json, top level"):
        formats.loads_gpt2(*parts, added_tokens_json="[]")
    with pytest.raises(FormatError, match=r"added_tokens\.json.*'<think>'.*same id 260"):
        formats.loads(files | {"added_tokens.json": b'{"<|im_end|>": 260, "<think>": 260}'})
    with pytest.raises(FormatError, match=r"'<think>' has id 259.*b'ab'"):
        formats.loads(files | {"added_tokens.json": b'{"<think>": 259}'})


POINTER = (
    b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22e"
    b"adbb8f32b1258daaa5e2ca24d17e2393\nsize 9085657\n"
)
TEKKEN = json.dumps(
    {"config": {"pattern": r"\w+", "num_vocab_tokens": 2, "version": "v3"},
     "vocab": [{"rank": 0, "token_bytes": "AA==", "token_str": None}], "special_tokens": []}
).encode()  # fmt: skip


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"<!DOCTYPE html>\n<html><body>404</body></html>", "web page.*download the file itself"),
        (b"\n<html lang='en'>\n<head></head></html>", "web page"),
        (b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "web page"),
        (b"Not Found", "no such file"),
        (b"404: Not Found", "no such file"),
        (b"Entry not found", "no such file"),
        (b'{"error": "Repository not found"}', "no such file"),
        (POINTER, "Git LFS pointer.*not downloaded"),
        (POINTER.replace(b"\n", b"\r\n"), "Git LFS pointer"),
        (TEKKEN, r"tekken\.json.*tokenizer\.json of the same model"),
        (repository()["tokenizer_config.json"], r"tokenizer_config\.json, settings"),
        (repository()["special_tokens_map.json"], r"special_tokens_map\.json"),
        (b'{"architectures": ["X"], "model_type": "x"}', "model's settings"),
        (b"\x80\x02}q\x00\x00", "binary data"),
    ],
)
@pytest.mark.parametrize("name", ["tokenizer.json", "vocab.json", "merges.txt", "x"])
def test_what_stands_in_the_place_of_a_file_is_named(content: bytes, named: str, name: str) -> None:
    assert formats.sniff(content) is None
    with pytest.raises(FormatError, match=f"^files, {name}: this is .*{named}"):
        formats.loads({name: content})
    both = {"vocab.json": repository()["vocab.json"], "merges.txt": content}
    with pytest.raises(FormatError, match=r"this is|merges\.txt, which belongs to it, is missing"):
        formats.loads(both)
    _, (_, notes) = formats.loads({"tokenizer.json": repository()["tokenizer.json"], "y": content})
    assert notes[-1].startswith("y was set aside")


def test_a_vocabulary_may_hold_the_words_that_settings_have_as_keys() -> None:
    words = ["config", "vocab", "model_type", "error", "tokenizer_class", "eos_token", "model"]
    vocab = {i: bytes([i]) for i in range(256)}
    vocab |= {256 + i: word.encode() for i, word in enumerate(words)}
    files = formats.dumps(Tokenizer.from_vocab(vocab, []), "gpt2")
    assert formats.loads(files)[1].tokenizer.vocab == vocab
    other = {"a.json": b'{"config": 0, "vocab": 1, "a": 3}'}
    _, (_, notes) = formats.loads(other | {"b.json": repository()["tokenizer.json"]})
    assert notes == ("a.json was set aside: the tokenizer is that of b.json.",)
