r"""Rows as CSV text.

Belongs here: writing what tokens may hold, which is any character. Python's own writer refuses a
NUL before 3.11, and a carriage return stands in it without quotes where lines end in `\n`, so
readers would take it for the end of a line. Does not belong here: which columns a table has.
"""

from __future__ import annotations

from collections.abc import Iterable

_NEEDS_QUOTES = frozenset(',"\r\n')


def csv_text(rows: Iterable[Iterable[object]], *, quote_texts: bool = False) -> str:
    r"""Rows as CSV, each ended by a line feed; texts in quotes where needed, or all of them.

    >>> csv_text([("text", "n"), ("a, b", 1.5)])
    'text,n\n"a, b",1.5\n'
    >>> csv_text([("text", 1.5)], quote_texts=True)
    '"text",1.5\n'
    """

    def cell(value: object) -> str:
        if not isinstance(value, str):
            return str(value)
        if quote_texts or not _NEEDS_QUOTES.isdisjoint(value):
            return '"' + value.replace('"', '""') + '"'
        return value

    return "".join([",".join([cell(value) for value in row]) + "\n" for row in rows])
