"""Whole sets of files: the formats that are known, which one files are of, reading, writing.

Belongs here: the list of formats and what holds for all of them. Does not belong here: any one
format, and proving an export (`proof.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from bpe_core.tokenizer import Tokenizer

from . import gpt2, huggingface, native, tiktoken
from .common import FormatError
from .others import OtherFile, other_file
from .record import FileContent, FormatRecord, LoadedTokenizer, ReadSettings

Format = str  # the name of a format, a key of FORMATS

#: All formats by name, in the order in which they are asked whether a file is theirs: GPT-2's
#: vocab.json is any JSON object that no other format knows.
FORMATS: dict[Format, FormatRecord] = {
    record.name: record
    for record in (huggingface.RECORD, native.RECORD, tiktoken.RECORD, gpt2.RECORD)
}


class FoundFile(NamedTuple):
    """Which file of which format a content is."""

    format: FormatRecord
    name: str


def sniff(content: bytes) -> FoundFile | None:
    """The format and file that a content is by its looks; None for one of no known format.

    Its name plays no part. A file with a fault is told as well, so that reading can name it.

    >>> sniff(b"#version: 0.2\\na b\\n").name, sniff(b"YWI= 256").format.holds_settings
    ('merges.txt', False)
    """
    return _sniffed(FileContent(content))


def _sniffed(content: FileContent) -> FoundFile | None:
    if other_file(content):
        return None
    for record in FORMATS.values():
        if name := record.sniff(content):
            return FoundFile(record, name)
    return None


def record_of(format_name: Format) -> FormatRecord:
    """The record of a format; ValueError naming those there are.

    >>> record_of("hf").files
    ('tokenizer.json',)
    """
    if format_name not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {format_name!r}")
    return FORMATS[format_name]


def obstacles(tokenizer: Tokenizer, format_name: Format) -> list[str]:
    """Why the format cannot hold the tokenizer, a sentence each; [] where it can.

    Exact: with no obstacle, what the format's own library reads gives the same ids. May take
    a second for a vocabulary of 200,000.

    >>> tokenizer = Tokenizer.from_vocab({i: bytes([i]) for i in range(256)} | {256: b"xyz"}, [])
    >>> obstacles(tokenizer, "native"), len(obstacles(tokenizer, "tiktoken"))
    ([], 1)
    """
    return list(record_of(format_name).obstacles(tokenizer))


def remarks(tokenizer: Tokenizer, format_name: Format) -> list[str]:
    """What the files of a format leave to their reader, a sentence each.

    >>> from bpe_core import Trainer
    >>> remarks(Trainer(257, pattern="o200k").train("").tokenizer, "hf")
    []
    """
    return list(record_of(format_name).remarks(tokenizer))


def dumps(tokenizer: Tokenizer, format_name: Format) -> dict[str, bytes]:
    """The files of an export, by the names that their readers expect.

    For tiktoken there is a Python file too, which builds the encoding from the rank file.
    Raises FormatError with the first of the `obstacles`.

    >>> from bpe_core import Trainer
    >>> list(dumps(Trainer(257).train("abab").tokenizer, "gpt2"))
    ['vocab.json', 'merges.txt']
    """
    return record_of(format_name).dumps(tokenizer)


def loads(
    files: Mapping[str, bytes],
    *,
    pattern: str = "gpt2",
    special_tokens: Mapping[str, int] | None = None,
    unreachable: Literal["refuse", "whole"] = "refuse",
) -> tuple[Format, LoadedTokenizer]:
    """The format of some files, told by their content, and their tokenizer.

    `files` are contents by name. `pattern` and `special_tokens` are for the formats that do not
    hold them (gpt2, tiktoken). A repository's files may be given together: the tokenizer.json is
    taken, or vocab.json, merges.txt and added_tokens.json where there is none, and a note names
    what was set aside. Raises FormatError saying what is expected where the files are of no known
    format or not complete.

    >>> from bpe_core import Trainer
    >>> loads(dumps(Trainer(257).train("abab").tokenizer, "hf"))[0]
    'hf'
    """
    found: dict[str, dict[str, list[str]]] = {name: {} for name in FORMATS}
    others: dict[str, OtherFile] = {}
    for given, data in files.items():
        content = FileContent(data)
        if other := other_file(content):
            others[given] = other
        elif file := _sniffed(content):
            found[file.format.name].setdefault(file.name, []).append(given)
    complete = (r for r in FORMATS.values() if found[r.name].keys() >= set(r.files))
    if (record := next(complete, None)) is None:
        raise _incomplete(files, found, others)
    _refuse_twins(found[record.name])
    given_as = {file: names[0] for file, names in found[record.name].items()}
    contents = {file: files[given] for file, given in given_as.items()}
    settings = ReadSettings(pattern, special_tokens, unreachable)
    tokenizer, notes = record.loads(contents, settings)
    return record.name, LoadedTokenizer(tokenizer, (*notes, *_set_aside(files, given_as.values())))


def _set_aside(files: Mapping[str, bytes], read: Collection[str]) -> Iterator[str]:
    """A sentence naming the files that were given and not read; but for our own Python."""
    aside = [name for name in files if name not in read]
    aside = [name for name in aside if b"import tiktoken" not in files[name][:20]]
    if aside:
        what = "was" if len(aside) == 1 else "were"
        yield f"{', '.join(aside)} {what} set aside: the tokenizer is that of {' and '.join(read)}."


def _refuse_twins(found: Mapping[str, Sequence[str]]) -> None:
    for file, names in found.items():
        if len(names) > 1:
            problem = f"they are of the same kind, {file}; leave one out"
            raise FormatError("files", " and ".join(names), problem)


def _incomplete(
    files: Mapping[str, bytes],
    found: Mapping[str, Mapping[str, list[str]]],
    others: Mapping[str, OtherFile],
) -> FormatError:
    """The error of files of which no format has all that it needs."""
    # What stands in the place of a file is the reason, settings only where there is nothing else.
    for given, other in sorted(others.items(), key=lambda item: item[1].beside):
        if not (other.beside and any(found.values())):
            return FormatError("files", given, f"this is {other.what}; {other.advice}")
    for name, record in FORMATS.items():
        _refuse_twins(found[name])
        if found[name]:
            missing = next(file for file in record.files if file not in found[name])
            problem = f"{missing}, which belongs to it, is missing"
            return FormatError("files", ", ".join(files), problem)
    *most, last = [record.expected for record in FORMATS.values()]
    expected = f"expected {', '.join(most)}, or {last}"
    return FormatError("files", ", ".join(files) or "none", expected)
