"""Faults that tokenizers really had, each with a small input and the right value."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe_core
from bpe_core import PATTERNS, Tokenizer, Trainer, corpus, decode_text, formats

from . import oracle

END_OF_TEXT = "<|endoftext|>"


def fingerprint(ids: Iterable[int]) -> str:
    """The first 16 hex digits of SHA-256 over the ids in decimal, joined by commas."""
    return hashlib.sha256(",".join(map(str, ids)).encode()).hexdigest()[:16]


def merges_of(text: str, vocab_size: int, **options: Any) -> list[tuple[bytes, bytes]]:
    return Trainer(vocab_size, **options).train(text).tokenizer.merges


def spell(*merges: str) -> list[tuple[bytes, bytes]]:
    """Merges written as `a+b`."""
    return [(left.encode(), right.encode()) for left, right in (m.split("+") for m in merges)]


# Long pre-tokens: time and memory must stay within bounds, whatever the text is made of


def test_a_long_run_of_one_letter(gpt2: Tokenizer, cl100k: Tokenizer) -> None:
    text = "a" * 100_000
    ids = gpt2.encode(text)
    assert ids == [24794] * 25_000
    assert fingerprint(ids) == "a206725883d91fc4"
    assert gpt2.decode(ids) == text
    assert gpt2.encode(text * 2) == ids * 2
    assert len(cl100k.encode(text)) == 12_500


def test_a_paragraph_without_blanks(gpt2: Tokenizer, cl100k: Tokenizer) -> None:
    text = "机器学习模型" * 2334
    ids = gpt2.encode(text)
    assert (len(ids), fingerprint(ids)) == (35_010, "2c1556d95e4e9efe")
    ids = cl100k.encode(text)
    assert (len(ids), fingerprint(ids)) == (16_338, "30c554bd41dfd414")


@pytest.mark.parametrize(
    ("letter", "count", "id"), [("^", 250_000, 39397), ("-", 15_625, 10097), (" ", 1_000_000, 220)]
)
def test_a_million_equal_characters(gpt2: Tokenizer, letter: str, count: int, id: int) -> None:
    assert gpt2.encode(letter * 1_000_000) == [id] * count


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
@pytest.mark.parametrize("letter", ["-", " ", "1", "中"])
def test_a_long_run_of_any_kind_under_every_pattern(pattern: str, letter: str) -> None:
    tokenizer = Trainer(256, pattern=pattern).train("").tokenizer
    text = letter * 300_000
    pieces = tokenizer.pretokens(text)
    assert "".join(pieces) == text
    assert tokenizer.count_tokens(text) == len(text.encode())


def test_a_million_blanks_under_the_cl100k_pattern(cl100k: Tokenizer) -> None:
    assert len(cl100k.encode(" " * 1_000_000)) == 7_813


def test_a_long_run_of_blanks_before_a_letter(gpt2: Tokenizer) -> None:
    ids = gpt2.encode(" " * 100_000 + "x")
    assert ids == [220] * 99_999 + [2124]
    assert fingerprint(ids) == "a786a78b9fd5a02c"


def test_training_on_a_long_run_of_one_letter() -> None:
    result = Trainer(300).train("a" * 1_000_000)
    # A million is 2 ** 6 * 15625, so the first six merges leave nothing over.
    assert result.trace.corpus_tokens[:6].tolist() == [1_000_000 >> k for k in range(1, 7)]
    assert result.trace.pair_count[:6].tolist() == [(1_000_000 >> k) - 1 for k in range(6)]


MEMORY = """
import pathlib, resource, sys
import bpe_core

tokenizer = bpe_core.Trainer(400).train("abc abd bcd " * 50).tokenizer
page = resource.getpagesize()

def resident():
    return int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * page

def words(start, stop):
    for first in range(start, stop, 1000):
        tokenizer.encode(" ".join(f"w{n} {n * 7919}x" for n in range(first, first + 1000)))
    for n in range(start, stop, 6000):
        tokenizer.encode(chr(97 + n % 26) * 50_000 + str(n))

words(0, 150_000)
half = resident()
words(150_000, 300_000)
print((resident() - half) // 2**20)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to read memory")
def test_memory_levels_off_over_ever_new_words(run_python) -> None:
    assert int(run_python(MEMORY)) < 50


# Pre-tokens


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (" we'll", [356, 1183]),
        ("'RE", [6, 2200]),
        ("I'M we'll THEY'RE we'd", [40, 6, 44, 356, 1183, 33302, 6, 2200, 356, 1549]),
        ("1234567", [10163, 2231, 3134]),
        ("a1234", [64, 1065, 2682]),
        ("hello\nworld", [31373, 198, 6894]),
        ("“sent“", [447, 250, 34086, 447, 250]),
        ("a\x00b", [64, 188, 65]),
        ("", []),
        (" ", [220]),
        ("  ", [220, 220]),
        ("\n\n", [628]),
        ("\ufeffhello", [171, 119, 123, 31373]),
        ("i ⭢ j", [72, 2343, 255, 95, 474]),
    ],
)
def test_gpt2_ids(gpt2: Tokenizer, text: str, ids: list[int]) -> None:
    assert gpt2.encode(text) == ids
    assert gpt2.decode(ids) == text


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("'RE", [95253]),
        ("I'M we'll THEY'RE we'd", [40, 28703, 584, 3358, 63593, 95253, 584, 4265]),
        ("1234567", [4513, 10961, 22]),
        ("a1234", [64, 4513, 19]),
        ("  ", [256]),
        ("hello   world", [15339, 256, 1917]),
    ],
)
def test_cl100k_ids(cl100k: Tokenizer, text: str, ids: list[int]) -> None:
    assert cl100k.encode(text) == ids
    assert cl100k.decode(ids) == text


def test_blanks_are_pre_tokens_of_their_own_but_for_the_last(gpt2: Tokenizer) -> None:
    assert gpt2.pretokens("Hello there       dear") == ["Hello", " there", "      ", " dear"]


@pytest.mark.parametrize(
    ("text", "merge"),
    [("!\u0085!\u0085!\u0085", (b"\xc2", b"\x85")), ("a\u00a0a\u00a0", (b"\xc2", b"\xa0"))],
)
def test_no_merge_joins_a_character_with_a_blank(text: str, merge: tuple[bytes, bytes]) -> None:
    assert merges_of(text, 300) == [merge]


@pytest.mark.parametrize("text", ["x\U000323b0", "x\U0001e6c0", "\U000323b0" * 3 + " \U0001e6c0"])
def test_characters_newer_than_other_tables_come_back(gpt2: Tokenizer, text: str) -> None:
    assert gpt2.decode(gpt2.encode(text)) == text


def test_training_cuts_text_as_encoding_does() -> None:
    text = "Hello there       dear\nworld, it's   1234567 o'clock\r\n\r\n  end "
    for pattern in (*PATTERNS, r"\w+", r"o|(l)l"):
        result = Trainer(1000, pattern=pattern).train(text)
        pieces = result.tokenizer.pretokens(text)
        assert "".join(pieces) == text
        # Merged until no pair is left, every pre-token is one token.
        assert result.stop_reason == "no_pairs"
        assert result.trace.corpus_tokens[-1] == len(pieces) == len(result.tokenizer.encode(text))


# Special tokens


def test_the_end_of_text_marker_is_one_id_when_registered(gpt2: Tokenizer) -> None:
    assert gpt2.encode(END_OF_TEXT) == [50256]
    assert gpt2.encode("hello " + END_OF_TEXT) == [31373, 220, 50256]
    as_text = gpt2.encode(END_OF_TEXT, allowed_special=())
    assert as_text == [27, 91, 437, 1659, 5239, 91, 29]


def test_a_marker_in_pasted_text_is_recognized_read_as_text_or_refused(gpt2: Tokenizer) -> None:
    text = "see " + END_OF_TEXT + " here"
    assert gpt2.encode(text) == [3826, 220, 50256, 994]
    as_text = gpt2.encode(text, allowed_special=())
    assert as_text == [3826, 1279, 91, 437, 1659, 5239, 91, 29, 994]
    for disallowed in ("all", {END_OF_TEXT}):
        with pytest.raises(ValueError, match=r"<\|endoftext\|>"):
            gpt2.encode(text, allowed_special=(), disallowed_special=disallowed)
    assert gpt2.encode("no marker", disallowed_special="all") == gpt2.encode("no marker")


def test_the_policy_is_the_same_for_every_call(gpt2: Tokenizer) -> None:
    text = "see " + END_OF_TEXT + " here"
    assert len(gpt2.encode_spans(text, allowed_special=())[0]) == 9
    assert len(gpt2.encode_spans(text)[0]) == 4
    assert (gpt2.join_ranks(text) == -1).sum() == len(END_OF_TEXT) - 1
    assert (gpt2.join_ranks(text, allowed_special=()) == -1).sum() == 0
    for call in (gpt2.encode_spans, gpt2.join_ranks):
        with pytest.raises(ValueError, match=r"<\|endoftext\|>"):
            call(text, allowed_special=(), disallowed_special="all")


@pytest.mark.parametrize("order", [1, -1])
def test_a_marker_that_begins_another_loses_to_the_longer_one(order: int) -> None:
    specials = ["<image>", "<image>tail"][::order]
    tokenizer = Trainer(258, specials).train("").tokenizer
    ids = tokenizer.special_tokens
    assert tokenizer.encode("<image>tail<image>") == [ids["<image>tail"], ids["<image>"]]
    specials = ["<a>", "<a><b>", "<b>"][::order]
    tokenizer = Trainer(259, specials).train("").tokenizer
    assert tokenizer.encode("<a><b>") == [tokenizer.special_tokens["<a><b>"]]


def test_markers_in_the_corpus_are_borders_and_are_not_counted() -> None:
    result = Trainer(300, ["<|x|>"]).train("a<|x|>b" * 50)
    assert result.tokenizer.merges == [(b"b", b"a")]
    assert result.tokenizer.vocab_size == 258
    entries = [token for token in result.tokenizer.vocab.values() if b"<|" in token]
    assert entries == [b"<|x|>"]
    assert result.trace.corpus_bytes == result.trace.initial_tokens == 100


def test_a_marker_is_never_read_as_a_pattern() -> None:
    result = Trainer(300, [".*", "(", "[a"]).train("abab.*abab(abab[ab")
    assert result.tokenizer.decode(result.tokenizer.encode("x.*(")) == "x.*("
    assert result.tokenizer.encode(".*") == [256]
    assert result.tokenizer.encode("ab" * 2) == [result.tokenizer.vocab_size - 1]


@pytest.mark.parametrize("specials", [["<a>", "<a>"], ["<a>", ""], [""]])
def test_empty_and_repeated_markers_are_refused(specials: list[str]) -> None:
    with pytest.raises(ValueError):
        Trainer(300, specials)


# Encoding and decoding


def test_a_nul_character_is_a_byte_like_any_other() -> None:
    result = Trainer(300).train("\x00" * 4)
    assert result.tokenizer.merges == [(b"\0", b"\0"), (b"\0\0", b"\0\0")]
    _, merges_txt = formats.dumps_gpt2(result.tokenizer)
    assert "Ā Ā" in merges_txt.splitlines()
    again = formats.loads_native(formats.dumps_native(result.tokenizer))
    assert again.merges == result.tokenizer.merges
    assert again.encode("\x00" * 5) == result.tokenizer.encode("\x00" * 5)


def test_each_single_byte_is_in_every_vocabulary(gpt2: Tokenizer, tmp_path: Path) -> None:
    every = {bytes([value]) for value in range(256)}
    trained = Trainer(300, ["<|x|>"]).train("some text").tokenizer
    trained.save(tmp_path / "saved.json")
    for tokenizer in (trained, Tokenizer.load(tmp_path / "saved.json"), gpt2, trained.truncated(0)):
        assert every <= set(tokenizer.vocab.values())
        for value in range(256):
            assert tokenizer.token_bytes(int(tokenizer.byte_ids[value])) == bytes([value])


def test_bytes_that_are_no_text_have_a_documented_way_in() -> None:
    # Raw bytes are a corpus (read as UTF-8, the rest replaced); encode takes text only.
    assert Trainer(256).train(b"\x80abc").trace.corpus_bytes == 3 + len("\ufffd".encode())
    assert Trainer(256).train({b"\x80abc": 1}).trace.corpus_bytes == 4
    with pytest.raises(TypeError):
        Trainer(256).train("").tokenizer.encode(b"\x80")  # type: ignore[arg-type]


@pytest.mark.parametrize("id", [999_999, -1, 2**40, -(2**31), 2**31])
def test_an_unknown_id_is_named(gpt2: Tokenizer, id: int) -> None:
    for call in (gpt2.decode, gpt2.decode_bytes):
        with pytest.raises((KeyError, ValueError)) as caught:
            call([31373, id])
        assert str(id) in caught.value.args[0]
    with pytest.raises((KeyError, ValueError), match=str(id)):
        bpe_core.DecodeStream(gpt2).step(id)
    with pytest.raises((KeyError, ValueError), match=str(id)):
        gpt2.token_bytes(id)


@pytest.mark.parametrize("wrong", [True, 1.0, "a", None])
def test_what_is_no_id_is_named(gpt2: Tokenizer, wrong: Any) -> None:
    with pytest.raises((KeyError, ValueError, TypeError)) as caught:
        gpt2.decode([wrong])
    assert repr(wrong) in caught.value.args[0]


def test_an_id_in_the_gap_before_the_special_tokens_is_named(cl100k: Tokenizer) -> None:
    with pytest.raises((KeyError, ValueError), match="100256"):
        cl100k.decode([100256])
    assert cl100k.decode([100257]) == END_OF_TEXT


def test_decoding_changes_no_blank_before_a_sign(gpt2: Tokenizer) -> None:
    assert gpt2.decode([764]) == " ."
    for blank in ("", " ", "  ", "\t", "\n", "\u00a0"):
        for sign in (".", ",", "!", "?", "'", "'s", "n't", ")", "“", " 've"):
            text = "hello" + blank + sign
            assert gpt2.decode(gpt2.encode(text)) == text


@pytest.mark.parametrize(
    ("text", "character_starts"),
    [
        ("i ⭢ j", [0, 1, 2, 2, 3]),
        ("👨‍👩‍👧", [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]),
        ("नमस्ते", [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]),
    ],
)
def test_positions_do_not_run_ahead_when_a_character_is_split(
    gpt2: Tokenizer, text: str, character_starts: list[int]
) -> None:
    _, ends = gpt2.encode_spans(text)
    starts = [0, *ends[:-1].tolist()]
    first_bytes = np.flatnonzero([byte & 0xC0 != 0x80 for byte in text.encode()])
    found = np.searchsorted(first_bytes, starts, side="right") - 1
    assert found.tolist() == character_starts
    assert ends[-1] == len(text.encode())
    if text == "i ⭢ j":
        spans = [(token.start, token.end) for token in gpt2.tokens(text)]
        assert spans == [(0, 1), (1, 3), (3, 4), (4, 5), (5, 7)]


# Training


@pytest.mark.parametrize("text", ["bbbaaaddddcccc", "aaabbbccccdddd"])
def test_ties_do_not_depend_on_the_order_of_appearance(text: str) -> None:
    assert merges_of(text, 260) == spell("d+d", "c+c", "b+b", "a+a")


def test_ties_are_settled_on_bytes_and_not_on_their_printable_stand_ins() -> None:
    assert merges_of(" !!", 257) == [(b"!", b"!")]


def test_neighbors_are_counted_with_overlaps() -> None:
    assert merges_of("aaaaa bc bc bc", 260) == spell("a+a", "b+c", " +bc", "aa+aa")


SAVED = """
import hashlib, random, sys
import bpe_core

lines = [f"line {n}: {'abcde' * (n % 7)} {n * n % 11} {'x' * (n % 5)} the\\n" for n in range(300)]
random.Random(sys.argv[1]).shuffle(lines)
trainer = bpe_core.Trainer(340, ["<|x|>"])
for workers in (1, 2, 3):
    tokenizer = trainer.train(lines, workers=workers).tokenizer
    saved = bpe_core.formats.dumps_native(tokenizer)
    saved = saved if isinstance(saved, bytes) else saved.encode()
    print(hashlib.sha256(saved).hexdigest())
"""


def test_hash_seeds_and_the_order_of_documents_change_nothing(run_python) -> None:
    with ThreadPoolExecutor(2) as pool:
        outputs = pool.map(lambda seed: run_python(SAVED, seed, PYTHONHASHSEED=seed), "01234")
    assert len({line for output in outputs for line in output.splitlines()}) == 1


@pytest.mark.parametrize("n_documents", [1, 2, 40])
def test_the_number_of_workers_changes_nothing(
    n_documents: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "BLOCK", 64)  # so that a small file is many pieces of work
    rng = random.Random(7)
    words = ["low", "lower", "newest", "wïdest", "中文", "\n\n", "a" * 30]
    documents = [" ".join(rng.choices(words, k=50)) for _ in range(n_documents)]
    path = tmp_path / "documents.txt"
    path.write_text(END_OF_TEXT.join(documents), encoding="utf-8", newline="")
    trainer = Trainer(400, [END_OF_TEXT])
    one = trainer.train(path, workers=1)
    for workers in (2, 3, 5, 8):
        for source in (path, documents, END_OF_TEXT.join(documents)):
            result = trainer.train(source, workers=workers)
            assert result.tokenizer.merges == one.tokenizer.merges
            for name, column in one.trace.to_columns().items():
                assert np.array_equal(result.trace.to_columns()[name], column), name


@pytest.mark.parametrize(
    ("text", "merges"), [("", []), ("a", []), ("ab", [(b"a", b"b")])], ids=repr
)
def test_a_text_too_small_for_the_vocabulary_stops_early(
    text: str, merges: list[tuple[bytes, bytes]]
) -> None:
    result = Trainer(1000).train(text)
    assert result.tokenizer.merges == merges
    assert result.tokenizer.vocab_size == len(result.tokenizer.vocab) == 256 + len(merges)
    assert result.stop_reason == "no_pairs"


def test_the_size_got_is_the_size_asked_for(shared: Path) -> None:
    result = Trainer(500, [END_OF_TEXT]).train(shared / "cs336" / "corpus.en")
    assert sorted(result.tokenizer.vocab) == list(range(500))
    assert len(result.tokenizer.merges) == 243
    assert result.tokenizer.vocab_size == 500
    assert result.stop_reason == "vocab_size"


def test_counts_beyond_32_bits_win() -> None:
    result = Trainer(260).train({b"the": 3_000_000_000, b"cat": 5})
    assert result.tokenizer.merges[0] == (b"t", b"h")
    assert result.trace.pair_count[0] == 3_000_000_000


@pytest.mark.parametrize(("longest", "expected"), [(1, 0), (2, 2)])
def test_the_greatest_token_length_is_kept_and_is_in_bytes(longest: int, expected: int) -> None:
    tokenizer = Trainer(300, max_token_bytes=longest).train("hello hello world").tokenizer
    lengths = [len(left + right) for left, right in tokenizer.merges]
    assert all(length == expected for length in lengths)
    assert bool(lengths) == (longest > 1)
    accented = Trainer(300, max_token_bytes=2).train("ééééé").tokenizer
    assert accented.merges == [(b"\xc3", b"\xa9")]


@pytest.mark.parametrize(
    ("minimum", "expected"),
    [
        (3, ["a+b"]),
        (2, ["a+b", "c+d", " +cd", " +ab"]),
        (1, ["a+b", "c+d", " +cd", " +ab", "e+f", " +ef"]),
    ],
)
def test_pairs_below_the_wanted_count_are_not_merged(minimum: int, expected: list[str]) -> None:
    text = "ab ab ab cd cd ef"
    assert merges_of(text, 300, min_pair_count=minimum) == spell(*expected)
    assert Trainer(300).min_pair_count == 1


# Files


def test_bytes_that_are_no_text_are_replaced_or_left_out_as_asked(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"abc \xff\xfe abc")
    run = Trainer(260).start(path)
    assert run.replaced_bytes == 2
    run.advance(10)
    assert run.result().tokenizer.merges == [
        (b"\xef", b"\xbf"),
        (b"\xef\xbf", b"\xbd"),
        (b"b", b"c"),
        (b"a", b"bc"),
    ]
    ignored = Trainer(259).train(path, errors="ignore").tokenizer.merges
    assert ignored == spell("b+c", "a+bc", " +abc")
    with pytest.raises(ValueError, match=r"bad\.txt"):
        Trainer(259).train(path, errors="strict")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le", "utf-8-sig", "utf-8"])
def test_a_file_is_read_by_its_byte_order_mark(encoding: str, tmp_path: Path) -> None:
    text = "hi hi hi \n中文 🙃"
    marks = {"utf-16-be": b"\xfe\xff", "utf-16-le": b"\xff\xfe"}
    data = marks.get(encoding, b"") + text.encode(encoding)
    decoded = decode_text(data)
    assert (decoded.text, decoded.replaced_bytes) == (text, 0)
    assert bool(decoded.note) == (encoding != "utf-8")
    path = tmp_path / "text.txt"
    path.write_bytes(data)
    assert Trainer(262).train(path).tokenizer.merges == merges_of(text, 262)


# Saving and loading

AWKWARD = " " * 9 + "\t\t\t\n\n\n\r\n\x00\x00\x00" + "\u00ad\u00ad\u00ad\u00a0\u00a0\u00a0\x7f\x7f"


@pytest.mark.parametrize("byte_order", ["plain", "gpt2"])
def test_merges_with_blanks_and_line_breaks_survive_saving(byte_order: str, tmp_path: Path) -> None:
    trainer = Trainer(400, pattern="whole text", byte_order=byte_order)
    tokenizer = trainer.train(AWKWARD * 3).tokenizer
    assert any(b"\xad" in left + right for left, right in tokenizer.merges)
    tokenizer.save(tmp_path / "saved.json")
    vocab_json, merges_txt = formats.dumps_gpt2(tokenizer)
    for again in (
        Tokenizer.load(tmp_path / "saved.json"),
        formats.loads_native(formats.dumps_native(tokenizer)),
        formats.loads_gpt2(vocab_json, merges_txt),
    ):
        assert again.merges == tokenizer.merges
        assert again.vocab == tokenizer.vocab
    lines = [line for line in merges_txt.split("\n") if line and not line.startswith("#version")]
    assert len(lines) == tokenizer.n_merges
    assert all(line.count(" ") == 1 for line in lines)
    assert len(set(oracle.glyphs())) == 256


def test_special_tokens_keep_their_ids_through_saving(tmp_path: Path) -> None:
    tokenizer = Trainer(300, ["<s>", "</s>"]).train("a b a b <s> c").tokenizer
    ids = tokenizer.encode("a<s>b</s>")
    assert {256, 257} < set(ids)
    tokenizer.save(tmp_path / "saved.json")
    assert Tokenizer.load(tmp_path / "saved.json").encode("a<s>b</s>") == ids
    vocab_json, merges_txt = formats.dumps_gpt2(tokenizer)
    (tmp_path / "vocab.json").write_text(vocab_json, encoding="utf-8")
    (tmp_path / "merges.txt").write_text(merges_txt, encoding="utf-8", newline="")
    paths = (tmp_path / "vocab.json", tmp_path / "merges.txt")
    again = Tokenizer.from_files(*paths, special_tokens=["<s>", "</s>"])
    assert again.special_tokens == {"<s>": 256, "</s>": 257}
    assert again.encode("a<s>b</s>") == ids


FILES = """
import pathlib, sys, warnings

# Other packages open files in their own way; what counts is what this one does.
warnings.filterwarnings("error", category=EncodingWarning, module="bpe_core")
import bpe_core
from bpe_core import Tokenizer, Trainer, formats

folder = pathlib.Path(sys.argv[1])
text = folder / "text.txt"
text.write_text("w\\xf6rd \\u4e2d\\u6587 " * 20, encoding="utf-8")
for source in (text, [text, text]):
    tokenizer = Trainer(280, ["<|x|>"]).train(source).tokenizer
with open(text, "rb") as file:
    Trainer(280).train(file)
with open(text, encoding="utf-8") as file:
    Trainer(280).train(file)
bpe_core.train_bpe(str(text), 280, ["<|x|>"])
tokenizer.save(folder / "saved.json")
assert Tokenizer.load(folder / "saved.json").merges == tokenizer.merges
vocab, merges = formats.dumps_gpt2(tokenizer)
(folder / "vocab.json").write_text(vocab, encoding="utf-8")
(folder / "merges.txt").write_text(merges, encoding="utf-8")
again = Tokenizer.from_files(folder / "vocab.json", folder / "merges.txt", ["<|x|>"])
assert again.encode("w\\xf6rd<|x|>") == tokenizer.encode("w\\xf6rd<|x|>")
print(tokenizer.n_merges)
"""


def test_files_are_utf8_whatever_the_system_says(run_python, tmp_path: Path) -> None:
    flags = ("-X", "warn_default_encoding")
    c_locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert int(run_python(FILES, str(tmp_path), flags=flags, **c_locale)) > 0
