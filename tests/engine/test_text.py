"""Text in and out of UTF-8."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core import decode_text
from bpe_core.text import COPIED, utf8, utf8_array, utf8_pieces


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
