"""Tokenizer files: pure loads and dumps, text or bytes in, text out.

Belongs here: the native JSON file and GPT-2's vocab.json + merges.txt. Does not belong here:
opening files (`Tokenizer.save`, `load`, `from_files`).

A bad file raises `FormatError`, which names the format, the place and what was expected;
nothing is half loaded.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .model import BYTE_OF_CHARACTER, BYTE_ORDERS, CHARACTER_OF_BYTE, BPEModel
from .pretokenize import PreTokenizer
from .tokenizer import Tokenizer

NATIVE_NAME = "bpe_core tokenizer"
NATIVE_VERSION = 1


class FormatError(ValueError):
    """A tokenizer file that cannot be read or a tokenizer that a format cannot express."""

    def __init__(self, format_name: str, place: str, problem: str) -> None:
        super().__init__(f"{format_name}, {place}: {problem}")


def _text(format_name: str, data: str | bytes) -> str:
    """Text of a file's content; a byte order mark is left out."""
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        raise FormatError(
            format_name, f"byte {err.start}", "this is not UTF-8 text; was the right file chosen?"
        ) from None


def _json(format_name: str, data: str | bytes) -> Any:
    def no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise FormatError(format_name, f"key {twice!r}", "it is given more than once")
        return entries

    try:
        return json.loads(_text(format_name, data), object_pairs_hook=no_twins)
    except json.JSONDecodeError as err:
        raise FormatError(format_name, f"line {err.lineno}", f"no valid JSON: {err.msg}") from None
    except RecursionError:
        raise FormatError(format_name, "nesting", "the JSON is nested too deeply") from None


# --------------------------------------------------------------------------- gpt2


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


def loads_gpt2(
    vocab_json: str | bytes,
    merges_txt: str | bytes,
    special_tokens: Mapping[str, int] | Iterable[str] | None = None,
    *,
    pattern: str = "gpt2",
) -> Tokenizer:
    """A tokenizer from the contents of vocab.json and merges.txt.

    The files do not say which entries are special tokens: name them in `special_tokens`.
    With None (not named at all) a warning tells of entries that no merge makes; they can be
    decoded but are never encoded to. Raises FormatError. Source: the files of GPT-2.

    >>> files = dumps_gpt2(loads_gpt2(*dumps_gpt2(Tokenizer.load(path)))) if (path := "") else None
    """
    name = "vocab.json"
    entries = _json(name, vocab_json)
    if not isinstance(entries, dict):
        raise FormatError(name, "top level", "expected an object of token to id")
    names = list(special_tokens or ())
    vocab: dict[int, bytes] = {}
    key_of: dict[int, str] = {}
    for key, i in entries.items():
        if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < 2**31:
            raise FormatError(
                name, f"key {key!r}", f"the id must be a whole number from 0 on, not {i!r}"
            )
        if i in vocab:
            raise FormatError(name, f"key {key!r}", f"{key_of[i]!r} has the same id {i}")
        token = None if key in names else from_characters(key)
        try:
            vocab[i] = key.encode("utf-8") if token is None else token
        except UnicodeEncodeError:
            raise FormatError(name, f"key {key!r}", "it holds a lone surrogate") from None
        key_of[i] = key
    merges = _gpt2_merges(merges_txt, set(vocab.values()))
    try:
        tokenizer = Tokenizer.from_vocab(vocab, merges, special_tokens, pattern)
    except ValueError as err:
        raise FormatError("vocab.json + merges.txt", "content", str(err)) from None
    if special_tokens is None and tokenizer._extra:
        unused = [key_of[i] for i in tokenizer._extra]
        some = ", ".join(map(repr, unused[:3])) + (", ..." if len(unused) > 3 else "")
        warnings.warn(
            f"vocab.json has {len(unused)} entries that no merge makes ({some}). If they are "
            "special tokens, name them in special_tokens; else they are never encoded to.",
            stacklevel=3,
        )
    return tokenizer


def _gpt2_merges(merges_txt: str | bytes, known: set[bytes]) -> list[tuple[bytes, bytes]]:
    name = "merges.txt"
    merges: list[tuple[bytes, bytes]] = []
    # Only line breaks end a line: the characters that splitlines() also takes may be tokens.
    for number, line in enumerate(_text(name, merges_txt).split("\n"), 1):
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


def dumps_gpt2(tokenizer: Tokenizer) -> tuple[str, str]:
    """The contents of vocab.json and merges.txt; special tokens stand in the former as text.

    The two files hold neither the pattern nor which tokens are special. Raises FormatError
    where two entries would have one name.

    >>> from bpe_core import Trainer
    >>> dumps_gpt2(Trainer(257).train("a a").tokenizer)[1]
    '#version: 0.2\\nĠ a\\n'
    """
    names: dict[str, int] = {}
    specials = {i: t for t, i in tokenizer.special_tokens.items()}
    for i, token in tokenizer.vocab.items():
        key = specials.get(i) or to_characters(token)
        if key in names:
            raise FormatError(
                "vocab.json", f"id {i}", f"its name {key!r} is that of id {names[key]} too"
            )
        names[key] = i
    lines = [f"{to_characters(a)} {to_characters(b)}\n" for a, b in tokenizer.merges]
    return json.dumps(names, ensure_ascii=False), "#version: 0.2\n" + "".join(lines)


# --------------------------------------------------------------------------- native


def dumps_native(tokenizer: Tokenizer) -> str:
    """The tokenizer as JSON: everything that makes it up, nothing that can be derived.

    Merges are pairs of token indices (0-255 bytes in byte order, then new tokens in order of
    the first merge that makes them). Equal tokenizers give equal text.

    >>> from bpe_core import Trainer
    >>> tokenizer = Trainer(300, ["<|x|>"]).train("low lower lowest").tokenizer
    >>> loads_native(dumps_native(tokenizer)).encode("low<|x|>") == tokenizer.encode("low<|x|>")
    True
    """
    model = tokenizer.model
    order = next((n for n, o in BYTE_ORDERS.items() if o == model.byte_order), None)
    n = model.n_tokens
    plain = np.arange(n, dtype=np.uint32)
    plain[256:] += len(tokenizer.special_tokens)
    by_default = list(tokenizer.special_tokens.values()) == list(
        range(256, 256 + len(tokenizer.special_tokens))
    ) and np.array_equal(tokenizer._ids[:n], plain)
    head = {
        "format": NATIVE_NAME,
        "version": NATIVE_VERSION,
        "pattern": tokenizer.pattern,
        "byte_order": order or list(model.byte_order),
        "special_tokens": tokenizer.special_tokens,
    }
    if not by_default:
        head["ids"] = tokenizer._ids[:n].tolist()
    if tokenizer._extra:
        head["unused"] = {str(i): to_characters(t) for i, t in sorted(tokenizer._extra.items())}
    text = json.dumps(head, ensure_ascii=False, indent=1)
    rows = zip(model.left.tolist(), model.right.tolist(), model.new.tolist(), strict=True)
    lines = ",\n  ".join([f"[{a}, {b}, {c}]" for a, b, c in rows])
    return f'{text[:-2]},\n "merges": [\n  {lines}\n ]\n}}\n'


def loads_native(data: str | bytes) -> Tokenizer:
    """A tokenizer from the text of a native file; raises FormatError with the place."""
    name = "native file"
    top = _json(name, data)
    if not isinstance(top, dict) or top.get("format") != NATIVE_NAME:
        raise FormatError(name, "key 'format'", f"expected {NATIVE_NAME!r}; is it another format?")
    if top.get("version") != NATIVE_VERSION:
        raise FormatError(
            name, "key 'version'",
            f"this version reads {NATIVE_VERSION}, the file has {top.get('version')!r}",
        )  # fmt: skip

    def part(key: str, kind: type, default: Any = None) -> Any:
        value = top.get(key, default)
        if not isinstance(value, kind):
            found = f"expected {kind.__name__}, found {value!r:.60}"
            raise FormatError(name, f"key {key!r}", found)
        return value

    order = top.get("byte_order")
    if isinstance(order, str):
        order = BYTE_ORDERS.get(order)
    whole = isinstance(order, (bytes, list)) and all(type(b) is int for b in order)
    if order is None or not whole or sorted(order) != list(range(256)):
        raise FormatError(name, "key 'byte_order'", "expected a known name or 256 different bytes")
    left, right, new = _native_merges(name, part("merges", list))
    model = BPEModel(bytes(order), left, right, new)
    specials = part("special_tokens", dict, {})
    ids = part("ids", list) if "ids" in top else None
    numbers = [*specials.values(), *(ids or ())]
    if any(isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < 2**31 for i in numbers):
        raise FormatError(name, "ids", "an id must be a whole number from 0 on")
    if ids is not None and len(ids) != model.n_tokens:
        raise FormatError(
            name, "key 'ids'", f"expected {model.n_tokens} ids, one a token, found {len(ids)}"
        )
    if len(set(numbers)) < len(numbers):
        raise FormatError(name, "ids", "the same id is given twice")
    extra: dict[int, bytes] = {}
    for key, text in part("unused", dict, {}).items():
        token = from_characters(text) if isinstance(text, str) else None
        if not key.isdecimal() or token is None:
            raise FormatError(name, "key 'unused'", f"cannot read the entry {key!r}")
        extra[int(key)] = token
    try:
        return Tokenizer(
            model,
            PreTokenizer(part("pattern", str)),
            specials,
            None if ids is None else np.array(ids, np.uint32),
            extra,
        )
    except ValueError as err:
        raise FormatError(name, "content", str(err)) from None


def _native_merges(name: str, rows: list[Any]) -> tuple[list[int], list[int], list[int]]:
    columns: tuple[list[int], list[int], list[int]] = ([], [], [])
    known = 256
    for rank, row in enumerate(rows):
        good = isinstance(row, list) and len(row) == 3 and all(type(t) is int for t in row)
        if not good or min(row) < 0 or row[2] < 256:
            raise FormatError(
                name, f"merge {rank}", f"expected [left, right, new], found {row!r:.60}"
            )
        known = max(known, row[2] + 1)
        for column, token in zip(columns, row, strict=True):
            column.append(token)
    made = set(columns[2])
    for rank, row in enumerate(rows):
        for token in row[:2]:
            if token >= 256 and token not in made:
                raise FormatError(name, f"merge {rank}", f"no merge makes its token {token}")
    if len(made) != known - 256:
        raise FormatError(name, "key 'merges'", "the new tokens are not numbered without gaps")
    return columns
