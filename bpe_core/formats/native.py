"""The native file: JSON with everything that makes a tokenizer up.

Belongs here: reading and writing its text. Does not belong here: opening files
(`Tokenizer.save`, `Tokenizer.load`).
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from bpe_core.model import BYTE_ORDERS, BPEModel, MergeTable
from bpe_core.preparation import AddedToken, Preparation, pretokenizer_of
from bpe_core.tokenizer import Tokenizer

from .common import FormatError, from_characters, json_of, to_characters
from .record import FileContent, FormatRecord, LoadedTokenizer

FILE = "tokenizer.mergescope.json"
NATIVE_NAME = "bpe_core tokenizer"
NATIVE_VERSION = 2
# Version 2 adds the keys "preparation" and "whole", and several patterns in turn. A file that
# needs none of them says 1, so that older readers take it.


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
    ) and np.array_equal(tokenizer.ids[:n], plain)
    prepare = tokenizer.preparation
    newer = not prepare.plain or tokenizer.ignore_merges or not isinstance(tokenizer.pattern, str)
    head = {
        "format": NATIVE_NAME,
        "version": NATIVE_VERSION if newer else 1,
        "pattern": tokenizer.pattern,
        "byte_order": order or list(model.byte_order),
        "special_tokens": tokenizer.special_tokens,
    }
    if not by_default:
        head["ids"] = tokenizer.ids[:n].tolist()
    if tokenizer.extra:
        head["unused"] = {str(i): to_characters(t) for i, t in sorted(tokenizer.extra.items())}
    if not prepare.plain:
        head["preparation"] = {
            "normalizer": prepare.normalizer,
            "prefix_space": prepare.prefix_space,
            "tokens": {name: asdict(option) for name, option in prepare.tokens.items()},
        }
    if tokenizer.ignore_merges:
        head["whole"] = {str(i): to_characters(t) for t, i in tokenizer.ignore_merges.items()}
    text = json.dumps(head, ensure_ascii=False, indent=1)
    rows = zip(model.left.tolist(), model.right.tolist(), model.new.tolist(), strict=True)
    lines = ",\n  ".join([f"[{a}, {b}, {c}]" for a, b, c in rows])
    return f'{text[:-2]},\n "merges": [\n  {lines}\n ]\n}}\n'


def loads_native(data: str | bytes) -> Tokenizer:
    """A tokenizer from the text of a native file; raises FormatError with the place."""
    name = "native file"
    top = json_of(name, data)
    if not isinstance(top, dict) or top.get("format") != NATIVE_NAME:
        raise FormatError(name, "key 'format'", f"expected {NATIVE_NAME!r}; is it another format?")
    if top.get("version") not in range(1, NATIVE_VERSION + 1):
        raise FormatError(
            name, "key 'version'",
            f"this version reads up to {NATIVE_VERSION}, the file has {top.get('version')!r}",
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
    numbers_only = isinstance(order, (bytes, list)) and all(type(b) is int for b in order)
    if order is None or not numbers_only or sorted(order) != list(range(256)):
        raise FormatError(name, "key 'byte_order'", "expected a known name or 256 different bytes")
    columns = np.array(_native_merges(name, part("merges", list)), np.int32)
    table = MergeTable(bytes(order), *columns)
    model = BPEModel(table, len(table))
    specials = part("special_tokens", dict, {})
    ids = part("ids", list) if "ids" in top else None
    numbers = [*specials.values(), *(ids or ())]
    if any(isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < 2**31 for i in numbers):
        raise FormatError(name, "ids", "an id must be a whole number from 0 on")
    if ids is not None and len(ids) != model.n_tokens:
        raise FormatError(
            name, "key 'ids'", f"expected {model.n_tokens} ids, one a token, found {len(ids)}"
        )
    if len(set(specials.values())) < len(specials) or len({*(ids or ())}) < len(ids or ()):
        raise FormatError(name, "ids", "the same id is given twice")
    extra = _tokens_by_id(name, "unused", part("unused", dict, {}))
    entire = _tokens_by_id(name, "whole", part("whole", dict, {}))
    pattern = top.get("pattern")
    stages = isinstance(pattern, list) and pattern and all(isinstance(p, str) for p in pattern)
    try:
        tokenizer = Tokenizer(
            model,
            pretokenizer_of(pattern if stages and pattern else part("pattern", str)),
            specials,
            None if ids is None else np.array(ids, np.uint32),
            extra,
            preparation=_preparation(name, part("preparation", dict, {}), specials),
            ignore_merges={token: i for i, token in entire.items()},
        )
    except FormatError:
        raise
    except ValueError as err:
        raise FormatError(name, "content", str(err)) from None
    _check_entries(name, tokenizer)
    for i, token in entire.items():
        if tokenizer.vocab.get(i) != token:
            raise FormatError(name, "key 'whole'", f"id {i} is not {token!r} in the vocabulary")
    return tokenizer


def _check_entries(name: str, tokenizer: Tokenizer) -> None:
    """FormatError where two entries have one id; an added token may be a token of merges too."""
    tokens = tokenizer.model.tokens
    entries = dict(zip(tokenizer.ids[: len(tokens)].tolist(), tokens, strict=True))
    specials = [(i, text.encode("utf-8")) for text, i in tokenizer.special_tokens.items()]
    for i, token in [*tokenizer.extra.items(), *specials]:
        if entries.setdefault(i, token) != token:
            raise FormatError(name, "ids", f"{entries[i]!r} and {token!r} both have id {i}")


def _tokens_by_id(name: str, key: str, entries: dict[str, Any]) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    for i, text in entries.items():
        token = from_characters(text) if isinstance(text, str) else None
        if not (i.isascii() and i.isdecimal() and len(i) <= 10 and int(i) < 2**31) or not token:
            raise FormatError(name, f"key {key!r}", f"cannot read the entry {i!r}")
        found[int(i)] = token
    return found


def _preparation(name: str, entries: dict[str, Any], specials: dict[str, int]) -> Preparation:
    options = {field.name for field in fields(AddedToken)}
    tokens: dict[str, AddedToken] = {}
    given = entries.get("tokens", {})
    for token, option in given.items() if isinstance(given, dict) else ():
        good = isinstance(option, dict) and set(option) <= options and token in specials
        if not good or not all(isinstance(value, bool) for value in option.values()):
            raise FormatError(name, "key 'preparation'", f"cannot read the token {token!r}")
        tokens[token] = AddedToken(**option)
    normalizer, prefix = entries.get("normalizer", ""), entries.get("prefix_space", False)
    known = set(entries) <= {"normalizer", "prefix_space", "tokens"} and isinstance(given, dict)
    if normalizer not in ("", "NFC") or not isinstance(prefix, bool) or not known:
        raise FormatError(name, "key 'preparation'", f"cannot read {entries!r:.80}")
    return Preparation(normalizer, prefix, tokens)


def _native_merges(name: str, rows: list[Any]) -> tuple[list[int], list[int], list[int]]:
    columns: tuple[list[int], list[int], list[int]] = ([], [], [])
    known = 256
    rank_of: dict[tuple[int, int], int] = {}
    for rank, row in enumerate(rows):
        good = isinstance(row, list) and len(row) == 3 and all(type(t) is int for t in row)
        if not good or min(row) < 0 or row[2] < 256:
            raise FormatError(
                name, f"merge {rank}", f"expected [left, right, new], found {row!r:.60}"
            )
        if tuple(row[:2]) in rank_of:
            problem = f"it joins the same two tokens as merge {rank_of[row[0], row[1]]}"
            raise FormatError(name, f"merge {rank}", problem)
        rank_of[row[0], row[1]] = rank
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


# --------------------------------------------------------------------------- the record


def _sniff(content: FileContent) -> str:
    native = "format" in content.keys and NATIVE_NAME.encode() in content.start[:200]
    return FILE if native else ""


RECORD = FormatRecord(
    name="native",
    title="Native",
    files=(FILE,),
    expected="a native file",
    holds_settings=True,
    sniff=_sniff,
    loads=lambda files, _: LoadedTokenizer(loads_native(files[FILE])),
    dumps=lambda tokenizer: {FILE: dumps_native(tokenizer).encode()},
)
