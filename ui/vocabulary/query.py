"""Which entries of a vocabulary the list shows, and in what order.

Belongs here: a query as a value, and reading what a visitor typed. Does not belong here: widgets,
and the masks and the order themselves (``bpe_core.analysis.vocabulary``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from bpe_core.analysis.vocabulary import Vocabulary
from bpe_core.text import utf8

TEXT, HEX, ID = SEARCHES = ("text", "hex", "id")
ALL, ORDINARY, SPECIAL = SPECIALS = ("all", "without special", "only special")

#: Columns that the list can be sorted by, and which way the first press of each sorts.
DESCENDS_FIRST = {
    "token": False, "id": False, "hex": False, "merge": False, "bytes": True, "uses": True,
    "kind": False,
}  # fmt: skip


@dataclass(frozen=True)
class Query:
    """What the list is to show.

    ``length`` in bytes and ``birth`` in merges, counted from 1, are (least, most) or None;
    ``kind`` a name of ``KINDS`` or None; ``health`` a key of the health table or None; ``part_of``
    an id whose children are wanted, or None.
    """

    words: str = ""
    search: str = TEXT
    kind: str | None = None
    length: tuple[int, int] | None = None
    birth: tuple[int, int] | None = None
    special: str = ALL
    health: str | None = None
    part_of: int | None = None

    @property
    def empty(self) -> bool:
        """Whether everything is shown."""
        return replace(self, search=TEXT) == Query()


def read_hex(words: str) -> bytes:
    """The bytes that hexadecimal digits spell; ValueError says what is wrong.

    A last digit alone is a byte that is still being typed, and left out.

    >>> read_hex("E2 80"), read_hex("0xe2,0x80"), read_hex("e28"), read_hex("")
    (b'\xe2\x80', b'\xe2\x80', b'\xe2', b'')
    """
    digits = re.sub(r"0x|\\x|[\s,;:]", "", words, flags=re.IGNORECASE)
    if wrong := re.search(r"[^0-9a-fA-F]", digits):
        raise ValueError(f"“{wrong[0]}” is no hexadecimal digit; write bytes as E2 80 A6.")
    return bytes.fromhex(digits[: len(digits) // 2 * 2])


def read_ids(words: str) -> list[tuple[int, int]]:
    """Ranges of ids, ends included; ValueError says what is wrong.

    >>> read_ids("285, 300-310"), read_ids("")
    ([(285, 285), (300, 310)], [])

    An end that is still being typed is left out.
    """
    ranges = []
    for part in re.sub(r"\s*[-–]\s*", "-", words).replace(",", " ").split():
        part = part.removesuffix("-")
        match = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", part, re.ASCII)
        if match is None:
            raise ValueError(f"“{part}” is no id; write ids as 285 or 300-310.")
        ranges.append((int(match[1]), int(match[2] or match[1])))
    return ranges


def matches(
    vocabulary: Vocabulary,
    query: Query,
    *,
    merge_ids: np.ndarray,
    health: np.ndarray | None = None,
) -> np.ndarray:
    """Which entries a query wants, bool[n]; ValueError for words that cannot be read.

    ``merge_ids`` is the tokenizer's; ``health`` the mask of ``query.health``.
    """
    wanted = _searched(vocabulary, query)
    if query.kind is not None:
        wanted &= vocabulary.of_kind(query.kind)
    if query.length is not None:
        wanted &= vocabulary.sized(*query.length)
    if query.birth is not None:
        wanted &= vocabulary.born(*query.birth)
    if query.special != ALL:
        wanted &= vocabulary.special == (query.special == SPECIAL)
    if health is not None:
        wanted &= health
    if query.part_of is not None:
        wanted &= vocabulary.made_of(query.part_of, merge_ids)
    return wanted


def _searched(vocabulary: Vocabulary, query: Query) -> np.ndarray:
    if query.search == TEXT:
        return vocabulary.containing(utf8(query.words))
    if query.search == HEX:
        return vocabulary.containing(read_hex(query.words))
    return vocabulary.with_ids(read_ids(query.words) or [(0, int(vocabulary.ids[-1]))])
