"""What a format is: one record, which all calls for whole files go through.

Belongs here: `FormatRecord` and what its functions take and give. Does not belong here: any one
format, and the list of them (`files.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

from bpe_core.tokenizer import Tokenizer


class LoadedTokenizer(NamedTuple):
    """A tokenizer, and a sentence for each thing in its files that is not applied."""

    tokenizer: Tokenizer
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadSettings:
    """What a reader is told beside the files, for formats that do not hold it.

    `unreachable` is what to do with tokens that no merges lead to, as for `loads_tiktoken`.
    """

    pattern: str = "gpt2"
    special_tokens: Mapping[str, int] | None = None
    unreachable: Literal["refuse", "whole"] = "refuse"


class FileContent:
    """The content of a file of unknown format, with what formats are told by.

    >>> content = FileContent(b'{"model": {}, "version": "1.0"}')
    >>> sorted(content.keys), content.first_line
    (['model', 'version'], b'')
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.start = data.removeprefix(b"\xef\xbb\xbf").lstrip()

    @property
    def is_object(self) -> bool:
        """Whether it begins as a JSON object does."""
        return self.start.startswith(b"{")

    @cached_property
    def _top(self) -> dict[str, Any]:
        """The value of a JSON object; empty for one with a fault."""
        try:
            top = json.loads(self.data.decode("utf-8-sig")) if self.is_object else {}
        except (ValueError, RecursionError):
            top = {}
        return top if isinstance(top, dict) else {}

    @cached_property
    def is_ids(self) -> bool:
        """Whether it is a JSON object of one id or more by name, without a fault."""
        return set(map(type, self._top.values())) == {int}

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of a JSON object; those near its start where it has a fault.

        So a file with a fault is told by its keys too, and its reader can name the fault.
        """
        if not self.is_object:
            return frozenset()
        if self._top:
            return frozenset(self._top)
        return frozenset(k.decode() for k in re.findall(rb'"(\w+)"\s*:', self.start[:2000]))

    @cached_property
    def first_line(self) -> bytes:
        """The first line that is not blank, without what stands at its end; b"" for JSON."""
        lines = () if self.is_object else self.start.splitlines()
        return next((line.rstrip() for line in lines if line.strip()), b"")


def nothing_to_say(_: Tokenizer) -> Iterable[str]:
    """No obstacle, no remark: for what holds of every tokenizer."""
    return ()


@dataclass(frozen=True)
class FormatRecord:
    """One format of tokenizer files.

    `name` is what calls are given, `title` what people read. `files` are the names of the files
    that are read, as their readers expect them, and `expected` says them in a sentence; `optional`
    names files that are read where they are given too.
    `holds_settings` says whether they hold the pattern and the special tokens.

    `sniff` gives which of these files a content is, by its looks ("" for none of them); `loads`
    reads contents by those names and `dumps` writes them, with other files that belong to them.
    `obstacles` gives why the format cannot hold a tokenizer exactly and `remarks` what its files
    leave to their reader, a sentence each. `loads` and `dumps` raise FormatError.
    """

    name: str
    title: str
    files: tuple[str, ...]
    expected: str
    holds_settings: bool
    sniff: Callable[[FileContent], str]
    loads: Callable[[Mapping[str, bytes], ReadSettings], LoadedTokenizer]
    dumps: Callable[[Tokenizer], dict[str, bytes]]
    obstacles: Callable[[Tokenizer], Iterable[str]] = nothing_to_say
    remarks: Callable[[Tokenizer], Iterable[str]] = nothing_to_say
    optional: tuple[str, ...] = ()

    @property
    def extensions(self) -> tuple[str, ...]:
        """How the names of its files end, such as ".json"; each once."""
        return tuple(dict.fromkeys(PurePath(name).suffix for name in self.files))
