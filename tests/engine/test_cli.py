"""The command line: what it writes, what it says, and what it leaves behind when it fails."""

from __future__ import annotations

import contextlib
import csv
import errno
import gzip
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bpe_core
from bpe_core import Tokenizer, Trainer, TrainingRun, cli, corpus, counting, formats
from bpe_core import __main__ as command_line

ROOT = Path(bpe_core.__file__).resolve().parents[1]
END = "<|endoftext|>"
TEXT = "low low lower — tiefer, 低い 🙂\r\nnewest widest\n" * 40 + f"a{END}b{END}"

Run = Callable[..., SimpleNamespace]


@pytest.fixture
def run(capfdbinary: Any, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process; gives its exit code, output, and lines of errors."""

    def call(*argv: object, stdin: bytes = b"") -> SimpleNamespace:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        status = command_line.main([str(a) for a in argv])
        out, err = capfdbinary.readouterr()
        return SimpleNamespace(status=status, out=out, err=err.decode("utf-8").splitlines())

    return call


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode("utf-8"))
    return path


@pytest.fixture
def small(tmp_path: Path) -> tuple[Path, Tokenizer]:
    """A tokenizer whose ids fit in uint16, and its file."""
    tokenizer = Trainer(300, [END, "<|x|>"]).train(TEXT).tokenizer
    tokenizer.save(tmp_path / "small.json")
    return tmp_path / "small.json", tokenizer


@pytest.fixture
def large(tmp_path: Path) -> tuple[Path, Tokenizer]:
    """One with ids from 70000 on."""
    vocab = {i: bytes([i]) for i in range(256)} | {70000: b"lo", 70001: b"low"}
    merges = [(b"l", b"o"), (b"lo", b"w")]
    tokenizer = Tokenizer.from_vocab(vocab, merges, {END: 70002})
    tokenizer.save(tmp_path / "large.json")
    return tmp_path / "large.json", tokenizer


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def start(*argv: object, **options: Any) -> subprocess.Popen[bytes]:
    """A process of its own."""
    options.setdefault("stderr", subprocess.PIPE)
    env = {**os.environ, **options.pop("env", {})}
    return subprocess.Popen(
        [sys.executable, "-m", "bpe_core", *map(str, argv)],
        cwd=ROOT, stdout=subprocess.PIPE, env=env, **options,
    )  # fmt: skip


# --------------------------------------------------------------------------- train and trace


def test_train_writes_both_kinds_of_files_equal_to_the_engines(
    run: Run, text: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.txt"
    other.write_text("lowest newest", encoding="utf-8")
    out = tmp_path / "deep" / "bpe"
    done = run("train", text, other, "--vocab-size", 290, "--special", END, "--out", out)
    assert (done.status, done.out) == (0, b"")
    assert names(out) == ["bpe-290.json", "merges.txt", "vocab.json"]
    expected = Trainer(290, [END]).train([text, other]).tokenizer
    for tokenizer in (
        Tokenizer.load(out / "bpe-290.json"),
        Tokenizer.from_files(out / "vocab.json", out / "merges.txt", [END]),
    ):
        assert tokenizer.merges == expected.merges
        assert tokenizer.vocab == expected.vocab
    (line,) = done.err
    counter, _ = counting.count_pretokens([text, other], expected.pretokenizer, [END])
    n_bytes = len((TEXT.replace(END, "") + "lowest newest").encode("utf-8"))
    assert f"{n_bytes:,} bytes, {len(counter)} distinct pre-tokens, 33 merges" in line
    assert "vocabulary size reached" in line


def test_train_takes_every_option_of_the_trainer(run: Run, text: Path, tmp_path: Path) -> None:
    done = run(
        "train", text, "--vocab-size", 400, "--pattern", "whitespace", "--tie-break", "lowest_ids",
        "--byte-order", "gpt2", "--min-pair-count", 3, "--max-token-bytes", 4, "--workers", 1,
        "--errors", "strict", "--format", "native", "--out", tmp_path / "bpe",
    )  # fmt: skip
    assert done.status == 0
    trainer = Trainer(400, (), "whitespace", "lowest_ids", "gpt2", 3, 4)
    expected = trainer.train(TEXT).tokenizer
    (name,) = names(tmp_path / "bpe")
    assert name == f"bpe-{expected.vocab_size}.json"
    found = Tokenizer.load(tmp_path / "bpe" / name)
    assert found.merges == expected.merges
    assert (found.pattern, found.vocab) == ("whitespace", expected.vocab)
    assert max(map(len, found.vocab.values())) == 4


def test_train_reads_standard_input_among_files(run: Run, text: Path, tmp_path: Path) -> None:
    argv = ["--vocab-size", 290, "--out", tmp_path / "bpe", "-q", "--format", "native"]
    done = run("train", text, "-", text, *argv, stdin="lowest — of all".encode("utf-16"))
    assert (done.status, done.err) == (0, [])
    expected = Trainer(290).train([TEXT, "lowest — of all", TEXT]).tokenizer
    assert Tokenizer.load(tmp_path / "bpe" / "bpe-290.json").merges == expected.merges


def test_files_of_a_training_are_documents_with_a_border_between(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(b"b")
    done = run("trace", tmp_path / "a", tmp_path / "b", "-", "--vocab-size", 300, stdin=b"cc")
    rows = list(csv.DictReader(io.StringIO(done.out.decode("utf-8"))))
    assert [row["new_text"] for row in rows] == ["cc"]


def test_a_merge_log_holds_any_character(run: Run) -> None:
    done = run("trace", "-", "--vocab-size", 300, stdin=b'\0\0 b\r\r ""')
    assert (done.status, done.err[:-1]) == (0, [])
    text = done.out.decode("utf-8")
    for token in ("\0\0", "\r\r", '""""'):
        assert f',"{token}",' in text


@pytest.mark.parametrize("name", ["log.csv", "log.parquet"])
@pytest.mark.parametrize("command", ["train", "trace"])
def test_the_merge_log_holds_every_column(
    run: Run, text: Path, tmp_path: Path, command: str, name: str
) -> None:
    log = tmp_path / "bpe" / name  # in the folder that train makes
    if command == "trace":
        log.parent.mkdir()
    argv = [text, "--vocab-size", 290, "--special", END, "--top-k", 2]
    where = ["--trace", log, "--out", tmp_path / "bpe"] if command == "train" else ["-o", log]
    if name.endswith("parquet"):
        parquet = pytest.importorskip("pyarrow.parquet")
        assert run(command, *argv, *where).status == 0
        columns = parquet.read_table(log).to_pydict()
    else:
        assert run(command, *argv, *where).status == 0
        with open(log, encoding="utf-8", newline="") as file:
            # Quoted fields are texts, the others numbers.
            rows = list(csv.reader(file, quoting=csv.QUOTE_NONNUMERIC))
        columns = dict(zip(rows[0], map(list, zip(*rows[1:], strict=True)), strict=True))
    result = Trainer(290, [END], top_k=2).train(TEXT)
    for column, values in result.trace.to_columns().items():
        found = columns[f"{column}_id" if column in ("left", "right", "new") else column]
        assert found == values.tolist(), column
    tokens = [result.tokenizer.token_bytes(i) for i in result.trace.new.tolist()]
    assert columns["rank"] == list(range(len(tokens)))
    assert [bytes.fromhex(x) for x in columns["new_hex"]] == tokens
    assert columns["new_text"] == [t.decode("utf-8", "backslashreplace") for t in tokens]
    ratio = result.trace.corpus_bytes / result.trace.corpus_tokens
    assert columns["bytes_per_token"] == ratio.tolist()


def test_parquet_without_its_package_is_refused_before_any_training(
    run: Run, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(cli.training, "trained", None)
    done = run("trace", text, "--vocab-size", 290, "-o", tmp_path / "log.parquet")
    assert done.status == 1
    assert "needs the package pyarrow" in done.err[0]


# --------------------------------------------------------------------------- encode and decode


@pytest.mark.parametrize("which", ["small", "large"])
@pytest.mark.parametrize("kind", ["npy", "bin", "txt"])
def test_encoded_files_hold_the_tokenizers_ids_and_decode_to_the_text(
    run: Run, text: Path, tmp_path: Path, request: pytest.FixtureRequest, which: str, kind: str
) -> None:
    path, tokenizer = request.getfixturevalue(which)
    ids = tokenizer.encode(TEXT)
    out = tmp_path / f"ids.{kind}"
    done = run("encode", text, "-t", path, "-o", out)
    assert (done.status, done.out) == (0, b"")
    n_bytes = len(TEXT.encode("utf-8"))
    assert f"{len(ids):,} tokens" in done.err[0]
    assert f"{n_bytes:,} bytes, {n_bytes / len(ids):.3f} bytes per token" in done.err[0]
    dtype = np.dtype("<u2" if which == "small" else "<u4")
    if kind == "npy":
        array = np.load(out, mmap_mode="r")
        assert isinstance(array, np.memmap)
    elif kind == "bin":
        array = np.memmap(out, dtype, "r")
    else:
        array = np.array(out.read_text(encoding="ascii").split(), dtype)
    assert array.dtype == dtype
    assert array.tolist() == ids
    assert run("decode", out, "-t", path).out == TEXT.encode("utf-8")
    back = tmp_path / "back.txt"
    assert run("decode", out, "-t", path, "-o", back).out == b""
    assert back.read_bytes() == TEXT.encode("utf-8")


def test_text_goes_through_pipes(run: Run, small: tuple[Path, Tokenizer]) -> None:
    path, tokenizer = small
    for extra in ([], ["--ids", "bin"]):
        done = run("encode", "-", "-t", path, *extra, stdin=TEXT.encode("utf-8"))
        assert done.status == 0
        if not extra:
            assert done.out.decode("ascii").split(" ") == [
                *map(str, tokenizer.encode(TEXT)[:-1]), f"{tokenizer.encode(TEXT)[-1]}\n"
            ]  # fmt: skip
        assert run("decode", "-", "-t", path, *extra, stdin=done.out).out == TEXT.encode("utf-8")


def test_a_list_as_python_prints_it_is_decoded(run: Run, small: tuple[Path, Tokenizer]) -> None:
    path, tokenizer = small
    assert (
        run("decode", "-", "-t", path, stdin=repr(tokenizer.encode("low")).encode()).out == b"low"
    )


def test_ids_as_text_may_be_cut_by_blocks_anywhere(
    run: Run, small: tuple[Path, Tokenizer], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, tokenizer = small
    written = "\n ".join(map(str, tokenizer.encode(TEXT[:200]))) + " "
    for size in (1, 2, 3, 7):
        monkeypatch.setattr(cli.ids, "CHUNK", size)
        assert run("decode", "-", "-t", path, stdin=written.encode()).out.decode() == TEXT[:200]


def test_each_file_is_a_text_of_its_own(
    run: Run, tmp_path: Path, small: tuple[Path, Tokenizer]
) -> None:
    path, tokenizer = small
    for name, content in (("a", "lo"), ("b", "w"), ("c", "")):
        (tmp_path / name).write_text(content, encoding="utf-8")
    files = [tmp_path / name for name in "abc"]
    lines = run("encode", *files, "-t", path, "--append", END).out.decode().split("\n")
    end = tokenizer.special_tokens[END]
    expected = [[*tokenizer.encode("lo"), end], [*tokenizer.encode("w"), end], [end], []]
    assert [[int(i) for i in line.split()] for line in lines] == expected
    run("encode", *files, "-t", path, "--append", END, "-o", tmp_path / "ids.npy")
    assert np.load(tmp_path / "ids.npy").tolist() == [i for ids in expected for i in ids]


@pytest.mark.parametrize(
    ("options", "allowed"),
    [([], "all"), (["--no-special"], ()), (["--allow-special", "<|x|>"], {"<|x|>"}),
     (["--allow-special", "<|x|>", "--allow-special", END], {"<|x|>", END})],
)  # fmt: skip
def test_special_tokens_in_the_text_follow_the_options(
    run: Run, small: tuple[Path, Tokenizer], options: list[str], allowed: Any
) -> None:
    path, tokenizer = small
    text = f"low{END}low<|x|>"
    done = run("encode", "-", "-t", path, *options, stdin=text.encode())
    expected = tokenizer.encode(text, allowed_special=allowed)
    assert [int(i) for i in done.out.split()] == expected


def test_a_pattern_that_matches_nothing_is_told_of(run: Run, text: Path, tmp_path: Path) -> None:
    done = run("train", text, "--vocab-size", 300, "--out", tmp_path, "--pattern", "(?:gpt)", "-q")
    assert done.status == 0
    assert "'(?:gpt)' does not match anything in the text" in done.err[0]


def test_a_gzip_file_is_unpacked_and_a_note_says_so(
    run: Run, text: Path, tmp_path: Path, small: tuple[Path, Tokenizer]
) -> None:
    native, tokenizer = small
    packed = tmp_path / "text.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    done = run("train", packed, "--vocab-size", 300, "--out", tmp_path / "o", "--quiet")
    assert done.status == 0
    assert "text.gz: it was a gzip file and was unpacked." in done.err[0]
    made = Tokenizer.load(next((tmp_path / "o").glob("bpe-*.json")))
    assert made.merges == Trainer(300).train(text).tokenizer.merges
    for argv, stdin in ((packed, b""), ("-", packed.read_bytes())):
        done = run("encode", argv, "-t", native, stdin=stdin)
        assert [int(i) for i in done.out.split()] == tokenizer.encode(TEXT)
        assert "gzip" in done.err[0]
    packed.write_bytes(packed.read_bytes()[:-9])
    done = run("train", packed, "--vocab-size", 300, "--out", tmp_path / "p")
    assert done.status == 1
    assert "ends too early" in done.err[-1]
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_read_by_its_mark(
    run: Run, tmp_path: Path, small: tuple[Path, Tokenizer], encoding: str
) -> None:
    (tmp_path / "t").write_text("low — 低い", encoding=encoding)
    done = run("encode", tmp_path / "t", "-t", small[0])
    assert [int(i) for i in done.out.split()] == small[1].encode("low — 低い")


def test_bytes_that_are_no_text_follow_errors(run: Run, small: tuple[Path, Tokenizer]) -> None:
    path, tokenizer = small
    bad = b"low\xff low"
    done = run("encode", "-", "-t", path, stdin=bad)
    assert [int(i) for i in done.out.split()] == tokenizer.encode("low\ufffd low")
    assert "bytes that are no text, replaced by U+FFFD: 1" in done.err[0]
    done = run("encode", "-", "-t", path, "--errors", "ignore", stdin=bad)
    assert [int(i) for i in done.out.split()] == tokenizer.encode("low low")
    done = run("encode", "-", "-t", path, "--errors", "strict", stdin=bad)
    assert done.status == 1
    assert "--errors replace or ignore" in done.err[0]


def test_tokens_that_are_no_text_follow_errors(run: Run, small: tuple[Path, Tokenizer]) -> None:
    path, _ = small
    half = b"226 130 172 33 226"
    assert run("decode", "-", "-t", path, stdin=half).out == "€!\ufffd".encode()
    assert run("decode", "-", "-t", path, "--errors", "ignore", stdin=half).out == "€!".encode()
    done = run("decode", "-", "-t", path, "--errors", "strict", stdin=half)
    assert done.status == 1
    assert "give no UTF-8 text (byte 0xE2" in done.err[0]


@pytest.mark.parametrize("kind", ["npy", "bin", "txt"])
def test_an_empty_text_makes_an_empty_file(
    run: Run, tmp_path: Path, small: tuple[Path, Tokenizer], kind: str
) -> None:
    out = tmp_path / f"ids.{kind}"
    assert run("encode", "-", "-t", small[0], "-o", out).status == 0
    if kind == "npy":
        assert np.load(out, mmap_mode="r").shape == (0,)
    done = run("decode", out, "-t", small[0])
    assert (done.status, done.out) == (0, b"")


def test_the_head_of_an_npy_file_has_room_for_any_length() -> None:
    for dtype in (np.dtype("<u2"), np.dtype("<u4")):
        for n in (0, 1, 10**6, 2**63):
            head = cli.ids.npy_header(dtype, n)
            assert len(head) == 128
            assert np.lib.format.read_magic(file := io.BytesIO(head)) == (1, 0)
            assert np.lib.format.read_array_header_1_0(file) == ((n,), False, dtype)


@pytest.mark.parametrize("kind", ["npy", "bin", "txt"])
def test_memory_does_not_grow_with_the_file(
    run: Run,
    tmp_path: Path,
    small: tuple[Path, Tokenizer],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    # Small blocks, so that a small file is many of them.
    monkeypatch.setattr(corpus, "BLOCK", 1 << 13)
    monkeypatch.setattr(cli.ids, "CHUNK", 1 << 10)
    size = {"once": 1 << 17, "eightfold": 1 << 20}
    peaks: dict[str, list[int]] = {}
    for name, n in size.items():
        path = tmp_path / name
        path.write_text(("low lower newest widest " * (n // 24 + 1))[:n], encoding="ascii")
        for command in (
            ["encode", path, "-o", tmp_path / f"{name}.{kind}"],
            ["decode", tmp_path / f"{name}.{kind}", "-o", tmp_path / "back"],
        ):
            tracemalloc.start()
            done = run(*command, "-t", small[0])
            peaks.setdefault(name, []).append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            assert done.status == 0, done.err
        assert (tmp_path / "back").read_bytes() == path.read_bytes()
    for once, eightfold in zip(peaks["once"], peaks["eightfold"], strict=True):
        assert eightfold < once + (size["eightfold"] - size["once"]) // 8


# --------------------------------------------------------------------------- tokenizers by path


def test_a_tokenizer_is_found_by_file_folder_or_vocab(run: Run, text: Path, tmp_path: Path) -> None:
    out = tmp_path / "bpe"
    argv = ["train", text, "--vocab-size", 280, "--special", END, "--out", out, "-q"]
    run(*argv)
    expected = run("encode", text, "-t", out / "bpe-280.json").out
    assert run("encode", text, "-t", out).out == expected
    vocab = ["-t", out / "vocab.json", "--special", END]
    assert run("encode", text, *vocab).out == expected
    done = run("encode", text, "-t", out / "vocab.json")
    assert "name those that are special tokens with --special" in done.err[0]
    assert done.out != expected
    # Other names by the same rule, and a folder with these files only.
    (out / "vocab.json").rename(out / "my_vocab.json")
    (out / "merges.txt").rename(out / "my_merges.txt")
    assert run("encode", text, "-t", out / "my_vocab.json", "--special", END).out == expected
    run("train", text, "--vocab-size", 270, "--out", out, "-q")
    assert "holds several tokenizers (bpe-270.json, bpe-280.json)" in run("inspect", out).err[0]
    for file in out.glob("bpe-*"):
        file.unlink()
    assert run("inspect", out, "--json").status == 0
    (out / "vocab.json").unlink()
    assert "holds neither" in run("inspect", out).err[0]


def test_of_a_repositorys_folder_the_tokenizer_json_is_taken(
    run: Run, text: Path, tmp_path: Path
) -> None:
    """It holds the pattern and the added tokens; without it, added_tokens.json has the latter."""
    out, sample = tmp_path / "hf", tmp_path / "sample.txt"
    run("train", text, "--vocab-size", 280, "--special", END, "--pattern", "o200k", "--out", out,
        "--format", "hf", "-q")  # fmt: skip
    assert names(out) == ["tokenizer.json"]
    tokenizer = formats.loads_hf((out / "tokenizer.json").read_bytes())
    sample.write_text(f"It's 1234567{END} a<think> b", encoding="utf-8")
    expected = tokenizer.encode(sample.read_text("utf-8"))
    assert [int(i) for i in run("encode", sample, "-t", out).out.split()] == expected
    plain = Tokenizer(tokenizer.model, tokenizer.pretokenizer, ids=tokenizer.ids)
    for name, content in formats.dumps(plain, "gpt2").items():
        (out / name).write_bytes(content)
    assert [int(i) for i in run("encode", sample, "-t", out).out.split()] == expected
    (out / "tokenizer.json").unlink()
    added = {END: tokenizer.special_tokens[END], "<think>": 999}
    (out / "added_tokens.json").write_text(json.dumps(added), encoding="utf-8")
    ids = [int(i) for i in run("encode", sample, "-t", out, "--special", "b").out.split()]
    assert {*added.values(), tokenizer.encode("b")[0]} <= set(ids)


def test_inspect_tells_the_numbers_as_text_and_json(
    run: Run, small: tuple[Path, Tokenizer]
) -> None:
    path, tokenizer = small
    done = run("inspect", path, "--json", "--merges", 2, "--token", 258, "--token", END_ID)
    facts = json.loads(done.out)
    assert facts["vocab_size"] == tokenizer.vocab_size
    assert facts["merges"] == tokenizer.n_merges
    assert facts["special_tokens"] == tokenizer.special_tokens
    assert (facts["pattern"], facts["byte_order"], facts["dtype"]) == ("gpt2", "plain", "uint16")
    assert [m["ids"] for m in facts["first_merges"]] == tokenizer.merge_ids[:2].tolist()
    assert [m["ids"] for m in facts["last_merges"]] == tokenizer.merge_ids[-2:].tolist()
    sizes = [t["bytes"] for t in facts["longest_tokens"]]
    assert sizes == sorted(map(len, tokenizer.vocab.values()), reverse=True)[:5]
    made, special = facts["tokens"]
    assert made["rank"] == 0
    assert made["parents"] == tokenizer.merge_ids[0, :2].tolist()
    assert bytes.fromhex(made["hex"]) == tokenizer.token_bytes(258)
    assert made["used_in_merges"] == (tokenizer.merge_ids[:, :2] == 258).sum()
    assert special["special"]

    shown = run("inspect", path, "--merges", 2, "--token", 258, "--token", 10).out.decode("utf-8")
    assert f"{tokenizer.vocab_size} entries, {tokenizer.n_merges} merges" in shown
    assert f"{END!r} = {END_ID}" in shown
    assert "made by merge 0: " in shown
    assert r"'\n'" in shown
    assert shown.count(" + ") == 5


END_ID = 256


# --------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("argv", "status", "says"),
    [
        (["train", "missing", "--vocab-size", "300", "--out", "o"], 1,
         "missing: there is no such file; check the name"),
        (["train", ".", "--vocab-size", "300", "--out", "o"], 1, ".: this is a folder"),
        (["train", "text.txt", "--vocab-size", "3", "--out", "o"], 2,
         "--vocab-size must be a whole number from 256 on"),
        (["train", "text.txt", "--vocab-size", "x", "--out", "o"], 2, "'x' is not a whole number"),
        (["train", "text.txt", "--vocab-size", "300"], 2, "required: --out"),
        (["train", "-", "-", "--vocab-size", "300", "--out", "o"], 2, "only once"),
        (["train", "text.txt", "--vocab-size", "300", "--out", "text.txt"], 1, "this is a file"),
        (["train", "text.txt", "--vocab-size", "300", "--out", "text.txt/o"], 1, "is a file"),
        (["train", "text.txt", "--vocab-size", "300", "--out", "o", "--trace", "no/t.csv"], 1,
         "no: there is no such folder"),
        (["train", "text.txt", "--vocab-size", "300", "--out", "o", "--pattern", "("], 2,
         "no valid regular expression"),
        (["train", "text.txt", "--vocab-size", "300", "--out", "o", "--pattern", "cl100k_bas"], 2,
         "the nearest are 'cl100k_base'"),
        (["encode", "text.txt", "-t", "ranks.tiktoken", "--pattern", "gpt44"], 2,
         "--pattern: the pattern 'gpt44' is no name that is known"),
        (["train", "text.txt", "--vocab-size", "300", "--out", "o", "--trace", "t.txt"], 2,
         ".csv or .parquet"),
        (["train", "text.txt", "--vocab-size", "300", "--out", "o", "--min-pair-count", "0"], 2,
         "--min-pair-count must be"),
        (["encode", "text.txt", "-t", "missing"], 1, "missing: there is no such file"),
        (["encode", "text.txt", "-t", "text.txt"], 1, "expected a tokenizer.json"),
        (["encode", "text.txt", "-t", "small.json", "-o", "ids"], 2, "end it in .npy"),
        (["encode", "text.txt", "-t", "small.json", "--ids", "npy"], 2, "cannot be a stream"),
        (["encode", "text.txt", "-t", "small.json", "-o", "no/ids.npy"], 1, "there is no such folder"),
        (["encode", "text.txt", "-t", "small.json", "--append", "<e>"], 2,
         "'<e>' is not one of its special tokens"),
        (["encode", "text.txt", "-t", "large.json", "--dtype", "uint16"], 2, "70002"),
        (["encode", "text.txt", "-t", "small.json", "--no-special", "--allow-special", END], 2,
         "not allowed with"),
        (["encode", "text.txt", "-t", "small.json", "--special", END], 2, "leave out --special"),
        (["decode", "text.txt", "-t", "small.json"], 1, "text.txt: 'low' is not an id"),
        (["decode", "text.npy", "-t", "small.json"], 1, "no .npy file"),
        (["decode", "float.npy", "-t", "small.json"], 1, "one row of whole numbers"),
        (["decode", "odd.bin", "-t", "small.json"], 1, "no multiple of 2 bytes"),
        (["decode", "far.bin", "-t", "small.json"], 1, "65535 is not an id"),
        (["inspect", "small.json", "--token", "999"], 1, "999 is not an id"),
        (["inspect", "vocab.json"], 1, "merges.txt, is missing"),
        ([], 2, "required: COMMAND"),
        (["encoded"], 2, "invalid choice"),
    ],
)  # fmt: skip
def test_an_error_is_one_line_and_leaves_no_file(
    run: Run, text: Path, tmp_path: Path, small: Any, large: Any,
    monkeypatch: pytest.MonkeyPatch, argv: list[str], status: int, says: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("text.npy").write_bytes(TEXT.encode("utf-8"))
    np.save("float.npy", np.ones(3))
    Path("odd.bin").write_bytes(b"abc")
    Path("far.bin").write_bytes(b"\xff\xff")
    Path("vocab.json").write_text("{}", encoding="utf-8")
    before = names(tmp_path)
    done = run(*argv)
    assert done.status == status
    (line,) = done.err
    assert line.startswith("mergescope")
    assert says in line
    assert names(tmp_path) == before


def test_help_and_version_end_well(run: Run) -> None:
    done = run("--version")
    assert (done.status, done.out.decode()) == (0, f"mergescope {bpe_core.__version__}\n")
    assert run("--help").status == 0
    for command, said in cli.commands.COMMANDS.items():
        done = run(command, "--help")
        assert (done.status, done.err) == (0, []), said
        assert b"examples:" in done.out


def test_every_option_says_its_default() -> None:
    (commands,) = (a for a in cli.options.parser()._actions if a.dest == "command")
    for name, sub in commands.choices.items():
        for action in sub._actions:
            assert action.help, (name, action.dest)
            valued = action.option_strings and action.nargs != 0 and not action.required
            assert not valued or "(default: " in sub.format_help(), (name, action.dest)
            assert not valued or "default: " in action.help, (name, action.dest)


def test_examples_in_the_help_and_the_readme_can_be_run() -> None:
    parser = cli.options.parser()
    pages = [*cli.options._EXAMPLES.values(), (ROOT / "README.md").read_text(encoding="utf-8")]
    found = 0
    for page in pages:
        for line in re.findall(r"(?:^|\| )(?:\s*)(mergescope .*)$", page, re.MULTILINE):
            words = shlex.split(re.split(r" [|>] ", line)[0], comments=True)
            assert parser.parse_args(words[1:]).command in cli.commands.COMMANDS
            found += 1
    assert found > 15


def test_the_installed_command_is_this_one() -> None:
    script = 'mergescope = "bpe_core.__main__:run"'
    assert script in (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    assert callable(command_line.run)


# --------------------------------------------------------------------------- whole files or none


def test_existing_files_stay_when_a_command_fails(
    run: Run, tmp_path: Path, small: tuple[Path, Tokenizer]
) -> None:
    out = tmp_path / "ids.npy"
    out.write_bytes(b"before")
    done = run("encode", "-", "-t", small[0], "-o", out, "--errors", "strict", stdin=b"a\xff")
    assert done.status == 1
    assert out.read_bytes() == b"before"
    assert names(tmp_path) == ["ids.npy", "small.json"]


def test_a_link_stays_a_link_and_permissions_are_the_usual_ones(
    run: Run, tmp_path: Path, small: tuple[Path, Tokenizer]
) -> None:
    (tmp_path / "link.bin").symlink_to("real.bin")
    assert run("encode", "-", "-t", small[0], "-o", tmp_path / "link.bin", stdin=b"a").status == 0
    assert (tmp_path / "link.bin").is_symlink()
    assert (tmp_path / "real.bin").read_bytes() == b"a\0"
    (tmp_path / "plain").touch()
    assert (tmp_path / "real.bin").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_device_is_written_to_and_not_replaced(run: Run, small: tuple[Path, Tokenizer]) -> None:
    done = run("encode", "-", "-t", small[0], "-o", os.devnull, "--ids", "bin", stdin=b"low")
    assert done.status == 0
    assert not Path(os.devnull).is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_names_the_output(run: Run, small: tuple[Path, Tokenizer]) -> None:
    done = run("decode", "-", "-t", small[0], "-o", "/dev/full", stdin=b"97")
    assert done.status == 1
    assert done.err == [f"mergescope: /dev/full: {os.strerror(errno.ENOSPC)}"]


@pytest.mark.parametrize("command", ["train", "trace"])
@pytest.mark.parametrize("phase", ["counting", "merging"])
def test_a_training_that_is_stopped_leaves_nothing(
    run: Run, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, phase: str
) -> None:
    def stopped(*_: object) -> int:
        raise KeyboardInterrupt

    if phase == "merging":
        monkeypatch.setattr(TrainingRun, "advance", stopped)
    else:
        # As the signal leaves it: the threads that count see it and end.
        monkeypatch.setattr(cli.terminal.stop, "is_set", lambda: True)
    out = tmp_path / ("bpe" if command == "train" else "log.csv")
    where = "--out" if command == "train" else "-o"
    done = run(command, text, "--vocab-size", 300, where, out)
    assert (done.status, done.err) == (130, ["mergescope: stopped"])
    assert names(tmp_path) == ["text.txt"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("command", ["encode", "trace"])
def test_signals_while_input_is_awaited_leave_no_file(
    tmp_path: Path, small: tuple[Path, Tokenizer], command: str, sent: signal.Signals, status: int
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    os.mkfifo(tmp_path / "pipe")
    options = {
        "encode": ["-t", small[0], "-o", folder / "ids.npy"],
        "trace": ["--vocab-size", 300, "--workers", 2, "-o", folder / "log.csv"],
    }
    process = start(command, tmp_path / "pipe", *options[command])
    # The pipe opens when the other side does, and takes this much only when it is read.
    with open(tmp_path / "pipe", "wb") as pipe:
        pipe.write(b"low lower " * 1_500_000)
        pipe.flush()
        assert [name.endswith(".part") for name in names(folder)] == [True]
        # A thread that waits for input holds the first signal up; the second is an order.
        for _ in range(2):
            process.send_signal(sent)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=3)
                break
        _, err = process.communicate(timeout=120)
    assert process.returncode == status
    assert err.decode() in ("mergescope: stopped\n", "")
    assert names(folder) == []


# --------------------------------------------------------------------------- the process


def test_a_closed_pipe_is_silent(tmp_path: Path, small: tuple[Path, Tokenizer]) -> None:
    (tmp_path / "t").write_text("low lower " * 100_000, encoding="ascii")
    process = start("encode", tmp_path / "t", "-t", small[0])
    assert process.stdout is not None
    assert process.stdout.read(10)
    process.stdout.close()
    assert process.wait(timeout=120) == 1
    assert process.stderr is not None
    assert process.stderr.read() == b""


@pytest.mark.parametrize("env", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0",
                                                   "PYTHONCOERCECLOCALE": "0"}])  # fmt: skip
def test_everything_is_utf8_in_any_locale(tmp_path: Path, env: dict[str, str]) -> None:
    file = tmp_path / "größe.txt"
    file.write_text("é<ü>é<ü>", encoding="utf-8")
    argv = ["trace", file, "--vocab-size", 400, "--special", "<ü>", "--pattern", "é|."]
    out, err = start(*argv, env={**env, "PYTHONIOENCODING": ""}).communicate(timeout=240)
    (row,) = csv.DictReader(io.StringIO(out.decode("utf-8")))
    assert (row["new_text"], row["pair_count"]) == ("é", "2")
    process = start("encode", "ö", "-t", file, env=env)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 1
    assert err.decode("utf-8").startswith("mergescope: ")
    assert len(err.splitlines()) == 1


def test_progress_is_drawn_on_a_terminal_only(text: Path, tmp_path: Path) -> None:
    ours, theirs = pytest.importorskip("pty").openpty()
    argv = ["train", text, "--vocab-size", 300, "--out", tmp_path / "bpe"]
    process = start(*argv, stderr=theirs)
    os.close(theirs)
    drawn = b""
    try:
        while block := os.read(ours, 4096):
            drawn += block
    except OSError:  # how a terminal whose other side is closed ends
        pass
    os.close(ours)
    assert process.wait(timeout=240) == 0
    assert b"counting" in drawn
    assert b"merging" in drawn
    assert b"100%" in drawn
    assert b"distinct pre-tokens" in drawn.splitlines()[-1]


def test_help_needs_no_compiled_kernels(run_python: Callable[..., str]) -> None:
    script = """
import sys
from bpe_core.__main__ import main
assert main(["train", "--help"]) == 0
print(sorted({"numba", "llvmlite", "pyarrow"} & set(sys.modules)))
"""
    assert run_python(script).splitlines()[-1] == "[]"


# Other formats, and names


@pytest.mark.parametrize(
    ("form", "files"),
    [
        ("native", ["bpe-280.json"]),
        ("gpt2", ["merges.txt", "vocab.json"]),
        ("tiktoken", ["load_tokenizer.py", "tokenizer.tiktoken"]),
        ("hf", ["tokenizer.json"]),
    ],
)
def test_each_format_that_train_writes_is_read_again(
    run: Run, text: Path, tmp_path: Path, form: str, files: list[str]
) -> None:
    folder = tmp_path / "made"
    assert run("train", text, "--vocab-size", 280, "--out", folder, "--format", form).status == 0
    assert names(folder) == files
    expected = Trainer(280).train(text).tokenizer.encode("low lower")
    path = folder / next(
        name for name in files if name != "load_tokenizer.py" and "merges" not in name
    )
    options = ["--pattern", "gpt2"] if form == "tiktoken" else []
    done = run("encode", "-", "-t", path, *options, stdin=b"low lower")
    assert (done.status, done.out.split()) == (0, [str(i).encode() for i in expected])


def test_a_rank_file_wants_its_pattern_and_gives_special_tokens_the_next_ids(
    run: Run, text: Path, tmp_path: Path
) -> None:
    assert (
        run("train", text, "--vocab-size", 280, "--out", tmp_path, "--format", "tiktoken").status
        == 0
    )
    path = tmp_path / "tokenizer.tiktoken"
    done = run("encode", "-", "-t", path, stdin=b"low")
    assert done.status == 2
    assert "--pattern" in done.err[-1]
    done = run("encode", "-", "-t", path, "--pattern", "gpt2", "--special", END, stdin=END.encode())
    assert (done.status, done.out.split()) == (0, [b"280"])


def test_a_file_is_told_by_its_looks_not_by_its_name(
    run: Run, text: Path, tmp_path: Path, small: tuple[Path, Tokenizer]
) -> None:
    native, tokenizer = small
    for form in ("tiktoken", "hf"):
        made = run("train", text, "--vocab-size", 280, "--out", tmp_path, "--format", form)
        assert made.status == 0
    expected = [str(i).encode() for i in Trainer(280).train(text).tokenizer.encode("low")]
    # A rank file says no pattern, whatever it is called, so none may be taken for granted.
    ranks = (tmp_path / "tokenizer.tiktoken").rename(tmp_path / "ranks.txt")
    done = run("encode", "-", "-t", ranks, stdin=b"low")
    assert (done.status, done.out) == (2, b"")
    assert "give it with --pattern" in done.err[-1]
    done = run("encode", "-", "-t", ranks, "--pattern", "r50k_base", stdin=b"low")
    assert (done.status, done.out.split()) == (0, expected)
    # What only looks like one half of a pair by its name is read as what it is.
    whole = (tmp_path / "tokenizer.json").rename(tmp_path / "vocab-whole.json")
    done = run("encode", "-", "-t", whole, stdin=b"low")
    assert (done.status, done.out.split()) == (0, expected)
    renamed = native.rename(tmp_path / "my vocabulary.json")
    done = run("encode", "-", "-t", renamed, stdin=b"low")
    assert (done.status, done.out.split()) == (
        0,
        [str(i).encode() for i in tokenizer.encode("low")],
    )


def test_a_well_known_name_is_a_tokenizer(
    run: Run, shared: Path, tiktoken_encoding: Callable[[str], Any]
) -> None:
    done = run("encode", "-", "-t", "gpt-4o", stdin="hello, 世界".encode())
    ids = tiktoken_encoding("o200k_base").encode("hello, 世界")
    assert (done.status, done.out.split()) == (0, [str(i).encode() for i in ids])
    assert run("inspect", "gpt2").status == 0
    assert run("inspect", "gpt2", "--pattern", "gpt2").status == 2


def test_what_is_neither_a_file_nor_a_name_is_told_in_one_line(run: Run, tmp_path: Path) -> None:
    done = run("inspect", "no-such-thing")
    assert (done.status, len(done.err)) == (1, 1)
    assert "no such file" in done.err[0]
    (tmp_path / "wordpiece.json").write_text('{"model": {"type": "WordPiece"}, "added_tokens": []}')
    done = run("inspect", tmp_path / "wordpiece.json")
    assert (done.status, len(done.err)) == (1, 1)
    assert "WordPiece" in done.err[0]
