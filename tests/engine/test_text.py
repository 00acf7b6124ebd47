"""Text in and out of UTF-8."""

from __future__ import annotations

import gzip
import io
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core import Trainer, decode_text
from bpe_core.corpus import Source
from bpe_core.text import COPIED, unpacked, utf8, utf8_array, utf8_pieces


def test_a_cut_utf16_file_is_no_crash() -> None:
    decoded = decode_text(b"\xff\xfeh\x00i")
    assert decoded.text.startswith("h")
    assert decoded.replaced_bytes == 1


@pytest.mark.parametrize("text", ["", "a", "é", "\ud83d", "\ud83d\ude00é", "中文\ud83d"])
def test_the_bytes_of_a_long_text_are_those_of_a_short_one(text: str) -> None:
    repeated = text * COPIED + "x"
    assert utf8_array(repeated).tobytes() == utf8(text) * COPIED + b"x"
    assert utf8_array(text).tobytes() == utf8(text)


@given(st.text(st.characters() | st.sampled_from("\ud83d\ude00"), max_size=12))
def test_a_text_in_any_pieces_has_the_same_bytes(text: str) -> None:
    assert b"".join(utf8_pieces(text)) == utf8(text)
    for place in range(len(text)):
        assert b"".join(utf8_pieces([text[:place], text[place:]])) == utf8(text)


# -- what a file's first bytes say ------------------------------------------------------------

LONG = "low lower lowest, wörd 中文 🙃\n" * 400


def read(data: bytes, block: int = 7) -> str:
    source = Source(io.BytesIO(data))
    source.block = block
    return b"".join(b"".join(document) for document in source.documents()).decode()


@pytest.mark.parametrize("text", ["low", "", "中文🙃", LONG])
@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-32-le", b"\xff\xfe\0\0"), ("utf-32-be", b"\0\0\xfe\xff")],
)
def test_utf32_is_read_by_its_mark(encoding: str, mark: bytes, text: str) -> None:
    decoded = decode_text(mark + text.encode(encoding))
    assert (decoded.text, decoded.encoding, decoded.replaced_bytes) == (text, encoding, 0)
    assert decoded.note == "It was read as UTF-32, as its byte order mark says."
    assert read(mark + text.encode(encoding)) == text


def test_what_is_no_utf32_after_its_mark_is_counted() -> None:
    decoded = decode_text("low".encode("utf-32") + b"\xff\xff\xff\xff\0")
    assert (decoded.text, decoded.replaced_bytes) == ("low\ufffd\ufffd", 5)
    assert "5 bytes that are not UTF-32" in decoded.note


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["low", "low lower €", LONG, "a" * 5000 + "🙃"])
def test_utf16_without_a_mark_is_known_by_its_nuls(encoding: str, text: str) -> None:
    data = text.encode(encoding)
    decoded = decode_text(data)
    assert (decoded.text, decoded.encoding, decoded.replaced_bytes) == (text, encoding, 0)
    assert "UTF-16" in decoded.note
    assert "no byte order mark" in decoded.note
    with pytest.warns(UserWarning, match="UTF-16"):
        assert read(data) == text


@pytest.mark.parametrize("data", [b"\0", b"a\0", b"a\0b", b"\0" * 40, b"ab\0cd\0" * 9])
def test_text_with_nuls_is_not_taken_for_utf16_and_they_are_noted(data: bytes) -> None:
    decoded = decode_text(data)
    assert decoded.text == data.decode()
    assert f"{data.count(0)} of its {len(data)} characters are NUL" in decoded.note
    assert decode_text(b"a\0" + b"b" * 1000).note == ""


def test_a_gzip_file_is_unpacked_and_says_so(tmp_path: Path) -> None:
    data = gzip.compress(LONG.encode())
    decoded = decode_text(data)
    assert (decoded.text, decoded.replaced_bytes) == (LONG, 0)
    assert decoded.note == "It was a gzip file and was unpacked."
    path = tmp_path / "corpus.txt.gz"
    path.write_bytes(data)
    expected = Trainer(300).train(LONG)
    for source in (path, data, io.BytesIO(data), [path]):
        with pytest.warns(UserWarning, match="gzip"):
            result = Trainer(300).train(source)
        assert result.tokenizer.merges == expected.tokenizer.merges
        assert result.trace.corpus_bytes == len(LONG.encode())


@pytest.mark.parametrize("block", [1, 5, 1000, 1 << 20])
def test_a_gzip_file_of_parts_and_of_utf16_is_read_in_blocks_of_any_size(block: int) -> None:
    data = LONG.encode("utf-16")
    packed = gzip.compress(data[:777]) + gzip.compress(b"") + gzip.compress(data[777:]) + b"\0\0"
    with pytest.warns(UserWarning, match="gzip"):
        assert read(packed, block) == LONG
    assert decode_text(packed).text == LONG


def test_a_damaged_gzip_file_is_an_error_or_is_noted(tmp_path: Path) -> None:
    data = gzip.compress(LONG.encode())
    path = tmp_path / "corpus.gz"
    for broken, said in (
        (data[:-20], "ends too early"),
        (data[:15], "ends too early"),
        (data[:-8] + bytes(8), "damaged"),
        (data + b"more", "damaged"),
    ):
        decoded = decode_text(broken)
        assert LONG.startswith(decoded.text.rstrip("\ufffd"))
        assert said in decoded.note
        with pytest.raises(ValueError, match=said):
            decode_text(broken, "strict")
        path.write_bytes(broken)
        with pytest.warns(UserWarning, match="gzip"), pytest.raises(ValueError, match=said) as err:
            Trainer(300).train(path)
        assert "corpus.gz" in str(err.value)


def test_what_a_gzip_file_may_hold_is_bounded() -> None:
    bomb = gzip.compress(bytes(1 << 26))
    content, note = unpacked(bomb, 1000)
    assert content == bytes(1000)
    assert "only the first 1,000 bytes" in note
    decoded = decode_text(gzip.compress(LONG.encode()), most=9)
    assert decoded.text == LONG[:9]
    assert "only the first 9 bytes" in decoded.note


def test_a_text_that_is_the_name_of_a_file_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "corpus.txt").write_text("low lower lowest", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UserWarning, match=r"a file of that name.*pathlib\.Path") as caught:
        result = Trainer(300).train("corpus.txt")
    assert result.trace.corpus_bytes == len("corpus.txt")
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in ("corpus", "corpus.txt\n", "", ".", "a\0b", "x" * 5000, "\ud800"):
            Trainer(300).start(text)
        Trainer(300).train(Path("corpus.txt"))
