"""CSV text is read back as what was written, whatever characters are in it."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.tables import csv_text

texts = st.text('ab,"\n\r \t\\\u2028é', max_size=6)


@given(st.lists(st.tuples(texts, st.integers(), texts, st.floats(allow_nan=False)), min_size=1))
@pytest.mark.parametrize("quote_texts", [False, True])
def test_rows_are_read_back(quote_texts: bool, rows: list[tuple[str, int, str, float]]) -> None:
    written = csv_text(rows, quote_texts=quote_texts)
    read = csv.reader(io.StringIO(written, newline=""))
    assert [(a, int(n), b, float(x)) for a, n, b, x in read] == rows


@given(st.lists(st.tuples(texts, st.integers(), st.floats()), min_size=1))
def test_texts_in_quotes_are_written_as_by_python(rows: list[tuple[str, int, float]]) -> None:
    theirs = io.StringIO()
    csv.writer(theirs, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerows(rows)
    assert csv_text(rows, quote_texts=True) == theirs.getvalue()


def test_every_character_can_stand_in_a_text() -> None:
    """Also NUL, which Python's own writer refuses before 3.11."""
    assert csv_text([("a\0b", 1)]) == "a\0b,1\n"
    assert csv_text([("a\0b", 1)], quote_texts=True) == '"a\0b",1\n'
    assert csv_text([("\r", "\n")]) == '"\r","\n"\n'
