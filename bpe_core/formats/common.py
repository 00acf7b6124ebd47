"""What all formats share: the error, reading text and JSON, tokens as printable characters.

Belongs here: `FormatError` and small helpers. Does not belong here: anything about one format.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from bpe_core.model import BYTE_OF_CHARACTER, CHARACTER_OF_BYTE
from bpe_core.preparation import StagedPreTokenizer
from bpe_core.special import check_special_tokens
from bpe_core.tokenizer import Tokenizer


class FormatError(ValueError):
    """A tokenizer file that cannot be read or a tokenizer that a format cannot express."""

    def __init__(self, format_name: str, place: str, problem: str) -> None:
        super().__init__(f"{format_name}, {place}: {problem}")


def text_of(format_name: str, data: str | bytes) -> str:
    """Text of a file's content; a byte order mark is left out."""
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        raise FormatError(
            format_name, f"byte {err.start}", "this is not UTF-8 text; was the right file chosen?"
        ) from None


def json_of(format_name: str, data: str | bytes) -> Any:
    """Value of a JSON file's content; a key that is given twice is refused."""

    def no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            seen: set[str] = set()
            twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            raise FormatError(format_name, f"key {twice!r}", "it is given more than once")
        return entries

    try:
        return json.loads(text_of(format_name, data), object_pairs_hook=no_twins)
    except json.JSONDecodeError as err:
        line, problem = _json_problem(err)
        raise FormatError(format_name, f"line {line}", f"no valid JSON: {problem}") from None
    except FormatError:
        raise
    except ValueError:
        raise FormatError(format_name, "content", "a number in it is too long") from None
    except RecursionError:
        raise FormatError(format_name, "nesting", "the JSON is nested too deeply") from None


def _json_problem(err: json.JSONDecodeError) -> tuple[int, str]:
    """Line and sentence of an error in JSON, the same on every version of Python.

    From 3.13 on, Python names the line of a comma that nothing follows; before, that of the
    bracket after it, which is the one given here.
    """
    end = len(err.doc) - len(err.doc[err.pos :].lstrip(", \t\r\n"))
    bracket = err.doc[end : end + 1]
    if bracket in ("}", "]") and err.doc[:end].rstrip(" \t\r\n").endswith(","):
        line = err.doc.count("\n", 0, end) + 1
        return line, f"nothing follows the comma before this {bracket}"
    return err.lineno, err.msg


def to_characters(token: bytes) -> str:
    """A token in GPT-2's printable characters, one a byte.

    >>> to_characters(b" low\\n")
    'ĠlowĊ'
    """
    return "".join([CHARACTER_OF_BYTE[b] for b in token])


def from_characters(text: str) -> bytes | None:
    """The bytes that GPT-2's printable characters stand for; None where one is not in the table.

    >>> from_characters("Ġlow"), from_characters("a b")
    (b' low', None)
    """
    try:
        return bytes([BYTE_OF_CHARACTER[c] for c in text])
    except KeyError:
        return None


_VALUES = np.full(ord(max(BYTE_OF_CHARACTER)) + 2, -1, np.int16)  # the last one: any other
_VALUES[[ord(c) for c in BYTE_OF_CHARACTER]] = list(BYTE_OF_CHARACTER.values())


def all_from_characters(texts: Collection[str]) -> list[bytes | None]:
    """`from_characters` of each text, in a fraction of the time.

    >>> all_from_characters(["Ġlow", "a b", ""])
    [b' low', None, b'']
    """
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4")
    values = _VALUES[np.minimum(points, _VALUES.size - 1)]
    data = values.astype(np.uint8).tobytes()
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    tokens: list[bytes | None] = [data[a:b] for a, b in pairwise([0, *ends.tolist()])]
    for i in np.unique(np.searchsorted(ends, np.flatnonzero(values < 0), "right")).tolist():
        tokens[i] = None
    return tokens


def repeated_note(given: int, kept: int) -> Iterator[str]:
    """A sentence where some of the merges that a file lists are listed again later."""
    if again := given - kept:
        what = "1 merge is" if again == 1 else f"{again:,} merges are"
        yield (
            f"{what} listed again later in the file: the last place counts, as in `tokenizers` "
            "and in GPT-2's own encoder."
        )


def special_ids(
    format_name: str, special_tokens: Mapping[str, int], vocab: Mapping[int, bytes]
) -> dict[str, int]:
    """Special tokens with their ids; FormatError where an id is not one or is taken."""
    try:
        check_special_tokens(special_tokens)
    except ValueError as err:
        raise FormatError(format_name, "special tokens", str(err)) from None
    name_of: dict[int, str] = {}
    for name, i in special_tokens.items():
        if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < 2**31:
            problem = f"the id must be a whole number from 0 on, not {i!r}"
        elif vocab.get(i, name.encode()) != name.encode():
            problem = f"its id {i} is that of {vocab[i]!r} in the vocabulary"
        elif i in name_of:
            problem = f"{name_of[i]!r} has the same id {i}"
        else:
            name_of[i] = name
            continue
        raise FormatError(format_name, f"special token {name!r}", problem)
    return dict(special_tokens)


def vocab_names(tokenizer: Tokenizer) -> dict[str, int]:
    """The vocabulary by name: tokens in printable characters, special tokens as their own text."""
    return {name: i for i, name in _names_by_id(tokenizer)}


def _names_by_id(tokenizer: Tokenizer) -> Iterator[tuple[int, str]]:
    specials = {i: t for t, i in tokenizer.special_tokens.items()}
    for i, token in tokenizer.vocab.items():
        yield i, specials.get(i) or to_characters(token)


def twin_names(tokenizer: Tokenizer, file_name: str) -> Iterator[str]:
    """A sentence where two entries of the vocabulary would have one name in a file, or one two."""
    merged = frozenset(tokenizer.ids.tolist())
    for name, i in tokenizer.special_tokens.items():
        characters = to_characters(name.encode("utf-8"))
        if i in merged and characters != name:
            yield (
                f"id {i} is both the token {name!r} and what is spelled {characters!r} in "
                f"{file_name}, which has one name for an id"
            )
            return
    id_of: dict[str, int] = {}
    for i, name in _names_by_id(tokenizer):
        if name in id_of:
            yield f"ids {id_of[name]} and {i} would both have the name {name!r} in {file_name}"
            return
        id_of[name] = i


def plain_obstacles(tokenizer: Tokenizer, format_name: str) -> Iterator[str]:
    """What only a tokenizer.json or a native file can hold, a sentence each."""
    prepare = tokenizer.preparation
    if isinstance(tokenizer.pretokenizer, StagedPreTokenizer):
        n = len(tokenizer.pretokenizer.stages)
        yield f"it cuts text at {n} patterns in turn; {format_name} has one pattern"
    if prepare.normalizer:
        yield f"it brings texts into the form {prepare.normalizer}; {format_name} does not"
    if prepare.prefix_space:
        yield f"it puts a blank in front of texts; {format_name} does not"
    for name, option in prepare.tokens.items():
        options = [o for o in ("lstrip", "rstrip", "single_word") if getattr(option, o)]
        if options:
            yield (
                f"its token {name!r} has the option {' and '.join(options)}, which {format_name} "
                "does not know"
            )
            return
