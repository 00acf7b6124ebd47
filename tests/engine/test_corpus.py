"""Every way to hand in a corpus gives the same counts, wherever blocks and marks happen to fall."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bpe_core import PATTERNS, Trainer, corpus, counting, decode_text, reference, train_bpe
from bpe_core.pretokenize import PreTokenizer
from bpe_core.text import GZIP

from . import oracle

TEXT = "low lower newest\r\nwïdest  中文🙃 <|x|> 12345\n\n'll end <|x|><|x|>again " * 3
SPECIALS = ["<|x|>", "<|x|>|>"]


def trace_of(source: Any, **options: Any) -> dict[str, np.ndarray]:
    return Trainer(330, SPECIALS).train(source, **options).trace.to_columns()


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return all(np.array_equal(column, other[name]) for name, column in one.items())


def test_every_kind_of_corpus_with_one_text_gives_one_trace(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode())
    expected = trace_of(TEXT)
    words = oracle.word_counts(TEXT, PATTERNS["gpt2"].regex, SPECIALS)
    with open(path, "rb") as binary, open(path, encoding="utf-8", newline="") as text_file:
        for source in (
            TEXT.encode(),
            path,
            [path],
            [TEXT],
            (text for text in [TEXT]),
            io.StringIO(TEXT, newline=""),
            io.BytesIO(TEXT.encode()),
            binary,
            text_file,
            dict(words),
        ):
            assert same(trace_of(source), expected), source


def test_several_files_are_documents_and_an_open_file_is_one_stream(tmp_path: Path) -> None:
    paths = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for path, text in zip(paths, ["ab", "cd"], strict=True):
        path.write_text(text, encoding="utf-8")
    assert Trainer(300).train(paths).tokenizer.merges == [(b"c", b"d"), (b"a", b"b")]
    assert Trainer(300).train(["ab", "cd"]).tokenizer.merges == [(b"c", b"d"), (b"a", b"b")]
    merges = Trainer(300).train(io.StringIO("abcd")).tokenizer.merges
    assert merges == [(b"c", b"d"), (b"b", b"cd"), (b"a", b"bcd")]


def test_a_special_token_never_reaches_across_documents() -> None:
    result = Trainer(300, ["<|x|>"]).train(["a<|x", "|>b"])
    assert result.trace.corpus_bytes == 7
    assert Trainer(300, ["<|x|>"]).train("a<|x|>b").trace.corpus_bytes == 2


@pytest.mark.parametrize("wrong", [5, None, [1, 2], ["text", 3], {"text": 1}, {b"": 1}], ids=repr)
def test_what_is_no_corpus_is_refused(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        Trainer(300).train(wrong)


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"missing\.txt"):
        Trainer(300).train(tmp_path / "missing.txt")


@pytest.mark.parametrize("wrong", [{"errors": "strickt"}, {"workers": 0}, {"workers": -1}], ids=str)
def test_wrong_options_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Trainer(300).train("text", **wrong)


def test_train_bpe_takes_a_path_in_any_form_and_all_options(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode())
    vocab, merges = train_bpe(path, 280, SPECIALS)
    assert (vocab, merges) == train_bpe(str(path), vocab_size=280, special_tokens=SPECIALS)
    assert vocab[256] == b"<|x|>"
    assert len(vocab) == 280
    assert len(merges) == 280 - 258
    options: dict[str, Any] = {"pattern": "whole text", "tie_break": "lowest_ids", "workers": 2}
    result = Trainer(280, pattern="whole text", tie_break="lowest_ids").train(path)
    assert train_bpe(path, 280, [], **options)[1] == result.tokenizer.merges


# Blocks: a long text is read and counted in parts, which must not show


@pytest.mark.parametrize("pattern", [*sorted(PATTERNS), r"\w+", r"(?<=a)b+|\s+(?!\S)"])
@pytest.mark.parametrize("block", [1, 2, 3, 7, 64])
def test_the_size_of_blocks_changes_nothing(
    pattern: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode())
    regex = PATTERNS[pattern].regex if pattern in PATTERNS else pattern
    words = oracle.word_counts(TEXT, regex, SPECIALS)
    expected = reference.train(words, 30, n_special=2, top_k=3)
    monkeypatch.setattr(corpus, "BLOCK", block)
    for source in (TEXT, path, io.StringIO(TEXT, newline=""), io.BytesIO(TEXT.encode())):
        for workers in (1, 3):
            trainer = Trainer(288, SPECIALS, pattern=pattern, top_k=3)
            result = trainer.train(source, workers=workers)
            oracle.assert_same_trace(result.trace, expected, 3)
            if hasattr(source, "seek"):
                source.seek(0)


@given(
    text=st.text("ab <|x>\n\r1'sé\u00a0🙃", max_size=60),
    block=st.integers(1, 20),
    pattern=st.sampled_from(sorted(PATTERNS)),
)
@settings(max_examples=300)
def test_generated_texts_are_counted_alike_in_blocks(text: str, block: int, pattern: str) -> None:
    words = oracle.word_counts(text, PATTERNS[pattern].regex, SPECIALS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "BLOCK", block)
        counter, _ = counting.count_pretokens(text, PreTokenizer(pattern), SPECIALS, workers=1)
    assert counter.to_dict() == words


# Encodings


@pytest.mark.parametrize(
    ("data", "text", "replaced"),
    [
        (b"", "", 0),
        (b"plain", "plain", 0),
        ("wörd".encode(), "wörd", 0),
        (b"\xef\xbb\xbfwith mark", "with mark", 0),
        (b"\xef\xbb\xbf", "", 0),
        ("\ufeff\ufeffx".encode(), "\ufeffx", 0),
        ("in the \ufeff middle".encode(), "in the \ufeff middle", 0),
        (b"\xff\xfeh\x00i\x00", "hi", 0),
        (b"\xfe\xff\x00h\x00i", "hi", 0),
        (b"\xff\xfe", "", 0),
        (b"\xff\xfe\x3d\xd8\x43\xde", "🙃", 0),
        (b"abc \xff\xfe abc", "abc \ufffd\ufffd abc", 2),
        (b"cut \xf0\x9f\x99", "cut \ufffd", 3),
        (b"\xc3", "\ufffd", 1),
        (b"latin \xe9 one", "latin \ufffd one", 1),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd", 3),
    ],
)
def test_bytes_are_decoded_by_their_mark_and_replacements_are_counted(
    data: bytes, text: str, replaced: int, tmp_path: Path
) -> None:
    decoded = decode_text(data)
    assert (decoded.text, decoded.replaced_bytes) == (text, replaced)
    if replaced:
        assert str(replaced) in decoded.note
    path = tmp_path / "data"
    path.write_bytes(data)
    for source in (data, path, io.BytesIO(data)):
        run = Trainer(256, pattern="whole text").start(source)
        assert run.replaced_bytes == replaced
        assert run.trace.corpus_bytes == len(text.encode())


@given(data=st.binary(max_size=40), block=st.integers(1, 5))
@settings(max_examples=200)
def test_any_bytes_are_read_alike_in_blocks(data: bytes, block: int) -> None:
    assume(not data.startswith(GZIP))  # a damaged one is an error
    decoded = decode_text(data)
    assert decoded.text == decoded.text.encode().decode()
    words = {decoded.text.encode(): 1} if decoded.text else {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "BLOCK", block)
        run = Trainer(270, pattern="whole text", top_k=2).start(io.BytesIO(data))
    run.advance(14)
    assert run.replaced_bytes == decoded.replaced_bytes
    oracle.assert_same_trace(run.trace, reference.train(words, 14, top_k=2), 2)


def test_an_error_while_reading_is_passed_on_by_every_number_of_workers(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"fine " * 100 + b"\xff")
    for workers in (1, 3):
        with pytest.raises(ValueError, match=r"bad\.txt"):
            Trainer(300).train(path, errors="strict", workers=workers)


def test_an_error_in_the_middle_of_documents_is_passed_on() -> None:
    def documents():
        yield "first"
        raise RuntimeError("the disk is gone")

    for workers in (1, 3):
        with pytest.raises(RuntimeError, match="disk"):
            Trainer(300).train(documents(), workers=workers)
