"""GPT-2's two files: vocab.json and merges.txt.

Belongs here: reading and writing the contents of the two files. Does not belong here: opening
files (`Tokenizer.from_files`).
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from bpe_core.model import BYTE_OF_CHARACTER
from bpe_core.tokenizer import Tokenizer

from .common import (
    FormatError,
    all_from_characters,
    from_characters,
    json_of,
    plain_obstacles,
    repeated_note,
    special_ids,
    text_of,
    to_characters,
    twin_names,
    vocab_names,
)
from .record import FileContent, FormatRecord, LoadedTokenizer, ReadSettings

VOCAB, MERGES, ADDED = "vocab.json", "merges.txt", "added_tokens.json"


def loads_gpt2(
    vocab_json: str | bytes,
    merges_txt: str | bytes,
    special_tokens: Mapping[str, int] | Iterable[str] | None = None,
    *,
    pattern: str = "gpt2",
    added_tokens_json: str | bytes | None = None,
) -> Tokenizer:
    """A tokenizer from the contents of vocab.json and merges.txt.

    The files do not say which entries are special tokens: name them in `special_tokens`, or give
    the content of an added_tokens.json, which holds tokens with their ids.
    With None (not named at all) a warning tells of entries that no merge makes; they can be
    decoded but are never encoded to. Another one tells of merges that are listed twice, of which
    the last counts. Raises FormatError. Source: the files of GPT-2.

    >>> from bpe_core import Trainer
    >>> vocab_json, merges_txt = dumps_gpt2(Trainer(257).train("abab").tokenizer)
    >>> loads_gpt2(vocab_json, merges_txt).encode("abc")
    [256, 99]
    """
    tokenizer, notes = _read(vocab_json, merges_txt, special_tokens, pattern, added_tokens_json)
    for note in notes:
        warnings.warn(f"merges.txt: {note}", stacklevel=3)
    if special_tokens is None and tokenizer.extra:
        warnings.warn(
            f"vocab.json has {len(tokenizer.extra)} entries that no merge makes "
            f"({_unused(tokenizer)}). If they are special tokens, name them in special_tokens; "
            "else they are never encoded to.",
            stacklevel=3,
        )
    return tokenizer


def _read(
    vocab_json: str | bytes,
    merges_txt: str | bytes,
    special_tokens: Mapping[str, int] | Iterable[str] | None,
    pattern: str,
    added_tokens_json: str | bytes | None,
) -> LoadedTokenizer:
    added: dict[str, int] = {}
    if added_tokens_json is not None:
        added = _read_added(added_tokens_json)
    name = "vocab.json"
    entries = json_of(name, vocab_json)
    if not isinstance(entries, dict):
        raise FormatError(name, "top level", "expected an object of token to id")
    names = {name for name in (*added, *(special_tokens or ())) if isinstance(name, str)}
    vocab: dict[int, bytes] = {}
    key_of: dict[int, str] = {}
    for (key, i), own in zip(entries.items(), all_from_characters(entries), strict=True):
        if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < 2**31:
            raise FormatError(
                name, f"key {key!r}", f"the id must be a whole number from 0 on, not {i!r}"
            )
        if i in vocab:
            raise FormatError(name, f"key {key!r}", f"{key_of[i]!r} has the same id {i}")
        token = None if key in names else own
        try:
            vocab[i] = key.encode("utf-8") if token is None else token
        except UnicodeEncodeError:
            raise FormatError(name, f"key {key!r}", "it holds a lone surrogate") from None
        key_of[i] = key
    known = set(vocab.values())
    lines = text_of("merges.txt", merges_txt)
    merges = _merges_at_once(lines, known) or _merges_by_line(lines, known)
    if added:
        special_tokens = _with_ids(added, special_tokens or (), vocab)
    try:
        tokenizer = Tokenizer.from_vocab(vocab, merges, special_tokens, pattern)
    except ValueError as err:
        raise FormatError("vocab.json + merges.txt", "content", str(err)) from None
    return LoadedTokenizer(tokenizer, tuple(repeated_note(len(merges), len(tokenizer.model.table))))


def _read_added(data: str | bytes) -> dict[str, int]:
    """The tokens of an added_tokens.json with their ids."""
    entries = json_of(ADDED, data)
    if not isinstance(entries, dict):
        raise FormatError(ADDED, "top level", "expected an object of token to id")
    return special_ids(ADDED, entries, {})


def _with_ids(
    added: Mapping[str, int],
    special_tokens: Mapping[str, int] | Iterable[str],
    vocab: Mapping[int, bytes],
) -> dict[str, int]:
    """Added and special tokens with ids: as given, as in the vocabulary, or the next ones."""
    if isinstance(special_tokens, Mapping):
        return {**added, **special_tokens}
    ids = dict(added)
    id_of = {vocab[i]: i for i in sorted(vocab, reverse=True)}
    following = max([*vocab, *added.values()]) + 1
    for name in special_tokens:
        if name not in ids:
            ids[name] = id_of.get(name.encode("utf-8"), following)
            following += ids[name] == following
    return ids


def _unused(tokenizer: Tokenizer) -> str:
    """The first entries that no merge makes."""
    names = [token.decode("utf-8", "replace") for token in tokenizer.extra.values()]
    return ", ".join(map(repr, list(names)[:3])) + (", ..." if len(names) > 3 else "")


def _merges_at_once(text: str, known: set[bytes]) -> list[tuple[bytes, bytes]] | None:
    """What `_merges_by_line` gives for a file without a fault; None for any other."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].startswith("#version"):
        lines[0] = ""
    pairs = [line.split(" ") for line in lines if line]
    if set(map(len, pairs)) != {2}:
        return None
    parts = list(chain.from_iterable(pairs))
    tokens = all_from_characters(parts)
    if not all(parts) or not known.issuperset(tokens):
        return None
    merges: list[Any] = list(zip(tokens[::2], tokens[1::2], strict=True))
    return merges if known.issuperset([left + right for left, right in merges]) else None


def _merges_by_line(text: str, known: set[bytes]) -> list[tuple[bytes, bytes]]:
    """The merges of a merges.txt; FormatError with the line."""
    name = "merges.txt"
    merges: list[tuple[bytes, bytes]] = []
    # Only line breaks end a line: the characters that splitlines() also takes may be tokens.
    for number, line in enumerate(text.split("\n"), 1):
        line = line.removesuffix("\r")
        if not line or (number == 1 and line.startswith("#version")):
            continue
        parts = line.split(" ")
        if len(parts) != 2 or not all(parts):
            raise FormatError(
                name, f"line {number}", f"expected two tokens with a blank between, not {line!r}"
            )
        pair = []
        for part in parts:
            token = from_characters(part)
            if token is None or token not in known:
                raise FormatError(name, f"line {number}", f"{part!r} is not in vocab.json")
            pair.append(token)
        if pair[0] + pair[1] not in known:
            raise FormatError(
                name, f"line {number}", f"the product {''.join(parts)!r} is not in vocab.json"
            )
        merges.append((pair[0], pair[1]))
    return merges


def gpt2_obstacles(tokenizer: Tokenizer) -> Iterator[str]:
    """What the two files cannot hold of this tokenizer, a sentence each."""
    yield from plain_obstacles(tokenizer, "GPT-2's format")
    if tokenizer.ignore_merges:
        token = next(iter(tokenizer.ignore_merges))
        yield f"it takes {token!r} whole, by no merge; GPT-2's format has merges only"
    yield from twin_names(tokenizer, "vocab.json")


def dumps_gpt2(tokenizer: Tokenizer) -> tuple[str, str]:
    """The contents of vocab.json and merges.txt; special tokens stand in the former as text.

    The two files hold neither the pattern nor which tokens are special: whoever reads them has
    to be told. Raises FormatError with the first of the `obstacles`.

    >>> from bpe_core import Trainer
    >>> dumps_gpt2(Trainer(257).train("a a").tokenizer)[1]
    '#version: 0.2\\nĠ a\\n'
    """
    for obstacle in gpt2_obstacles(tokenizer):
        raise FormatError("vocab.json + merges.txt", "tokenizer", obstacle)
    lines = [f"{to_characters(a)} {to_characters(b)}\n" for a, b in tokenizer.merges]
    names = json.dumps(vocab_names(tokenizer), ensure_ascii=False)
    return names, "#version: 0.2\n" + "".join(lines)


# --------------------------------------------------------------------------- the record


def _sniff(content: FileContent) -> str:
    if content.is_object:
        # Each byte has a character in a vocabulary; added tokens are longer.
        added = content.is_ids and content.keys.isdisjoint(BYTE_OF_CHARACTER)
        return ADDED if added else VOCAB
    line = content.first_line
    merges = line.startswith(b"#version") or re.fullmatch(rb"[^ ]+ [^ ]+", line)
    return MERGES if merges and b"import" not in line else ""


def _loads(files: Mapping[str, bytes], settings: ReadSettings) -> LoadedTokenizer:
    tokenizer, notes = _read(
        files[VOCAB], files[MERGES], settings.special_tokens or {}, settings.pattern,
        files.get(ADDED),
    )  # fmt: skip
    if tokenizer.extra:
        unused = (
            f"{len(tokenizer.extra)} entries are made by no merge ({_unused(tokenizer)}): if they "
            "are special tokens, name them; else they are decoded but never encoded to."
        )
        notes = (*notes, unused)
    return LoadedTokenizer(tokenizer, notes)


def _dumps(tokenizer: Tokenizer) -> dict[str, bytes]:
    vocab_json, merges_txt = dumps_gpt2(tokenizer)
    return {VOCAB: vocab_json.encode(), MERGES: merges_txt.encode()}


def _remarks(tokenizer: Tokenizer) -> Iterator[str]:
    if tokenizer.pattern != "gpt2":
        yield (
            f"The files do not hold the pattern, {tokenizer.pattern!r}: libraries that read them "
            "take GPT-2's and give other ids."
        )
    if names := ", ".join(map(repr, tokenizer.special_tokens)):
        yield f"The files do not say that {names} are special: name them when reading."


RECORD = FormatRecord(
    name="gpt2",
    title="GPT-2 files",
    files=(VOCAB, MERGES),
    expected="vocab.json with merges.txt",
    holds_settings=False,
    sniff=_sniff,
    loads=_loads,
    dumps=_dumps,
    obstacles=gpt2_obstacles,
    remarks=_remarks,
    optional=(ADDED,),
)
