"""The parts of a Hugging Face tokenizer.json, each read, checked or refused on its own.

Belongs here: from the values of the file's JSON to what a tokenizer is made of. Does not belong
here: putting the parts together, and writing (`huggingface.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from operator import add
from typing import Any, Literal

import numpy as np
import regex

from bpe_core.model import BPEModel
from bpe_core.patterns import PATTERNS
from bpe_core.preparation import AddedToken, pretokenizer_of

from . import regexes
from .canonical import canonical_ranks
from .common import FormatError

NAME = "tokenizer.json"
_KINDS = {
    "WordPiece": "it matches the longest piece of each word and has no merges",
    "WordLevel": "it looks whole words up and has no merges",
    "Unigram": "it picks pieces by their probability and has no merges",
}
_FLAGS = ("lstrip", "rstrip", "single_word", "normalized")


def check_model(model: dict[str, Any]) -> None:
    """FormatError where the model is not byte-level BPE."""
    kind = model.get("type", "BPE" if "merges" in model else None)
    if kind != "BPE":
        why = _KINDS.get(kind, "it is not known here") if isinstance(kind, str) else "not known"
        raise FormatError(NAME, "model", f"{kind} is not byte-level BPE: {why}")
    if model.get("byte_fallback"):
        raise FormatError(
            NAME, "model.byte_fallback",
            "this is SentencePiece's BPE, whose tokens are characters and which takes to bytes "
            "only for unknown ones; it is not byte-level BPE",
        )  # fmt: skip
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(key):
            raise FormatError(NAME, f"model.{key}", f"{model[key]!r} marks words; not supported")
    if model.get("dropout"):
        raise FormatError(NAME, "model.dropout", "merges are left out at random; not supported")


def _type(value: Any, place: str) -> str:
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        raise FormatError(NAME, place, f"expected an object with a 'type', found {value!r:.60}")
    return kind


def _steps(value: Any, place: str, inner: str) -> list[tuple[str, dict[str, Any]]]:
    """The steps of a part of the file, sequences unfolded, each with its type."""
    kind = _type(value, place)
    if kind != "Sequence":
        return [(kind, value)]
    parts = value.get(inner)
    if not isinstance(parts, list):
        raise FormatError(NAME, f"{place}.{inner}", f"expected a list, found {parts!r:.60}")
    return [step for part in parts for step in _steps(part, place, inner)]


def normalizer_of(value: Any) -> Literal["", "NFC"]:
    """The normalizer's name; FormatError for all but NFC."""
    if value is None:
        return ""
    name: Literal["", "NFC"] = ""
    for kind, _ in _steps(value, "normalizer", "normalizers"):
        if kind != "NFC":
            raise FormatError(NAME, "normalizer", f"{kind} is not supported; NFC alone is")
        name = "NFC"
    return name


def patterns_of(value: Any) -> tuple[list[str], bool]:
    """Patterns to cut at in turn, and whether a space is put in front."""
    place = "pre_tokenizer"
    if value is None:
        raise FormatError(NAME, place, "there is none; byte-level BPE has a ByteLevel here")
    steps = _steps(value, place, "pretokenizers")
    kinds = [kind for kind, _ in steps]
    for kind in kinds:
        if kind not in ("Split", "Digits", "ByteLevel"):
            hint = "; it belongs to SentencePiece's models" if kind == "Metaspace" else ""
            raise FormatError(
                NAME, place, f"{kind} is not supported: Split, Digits and ByteLevel are{hint}"
            )
    if kinds.count("ByteLevel") != 1 or kinds[-1] != "ByteLevel":
        raise FormatError(
            NAME, place, f"byte-level BPE has one ByteLevel, as its last step; found {kinds}"
        )
    stages = [_split(step) if kind == "Split" else _digits(step) for kind, step in steps[:-1]]
    last = steps[-1][1]
    use_regex, prefix = last.get("use_regex", True), last.get("add_prefix_space")
    if not isinstance(use_regex, bool) or not isinstance(prefix, bool):
        raise FormatError(
            NAME, f"{place}.ByteLevel", "use_regex and add_prefix_space must be true or false"
        )
    if prefix and stages:
        raise FormatError(
            NAME, f"{place}.ByteLevel.add_prefix_space",
            "it would put a blank before every piece that the steps before it cut; not supported",
        )  # fmt: skip
    if use_regex:
        stages.append("gpt2")
    return stages or ["whole text"], prefix


def _digits(step: dict[str, Any]) -> str:
    return r"\p{N}" if step.get("individual_digits") else r"\p{N}+"


def _split(step: dict[str, Any]) -> str:
    place = "pre_tokenizer.Split"
    pattern = step.get("pattern")
    if isinstance(pattern, dict) and isinstance(pattern.get("Regex"), str):
        try:
            found = regexes.to_here(pattern["Regex"])
            pretokenizer_of(found)
        except ValueError as err:
            raise FormatError(
                NAME, f"{place}.pattern", f"{pattern['Regex']!r:.200} cannot be taken over: {err}"
            ) from None
    elif isinstance(pattern, dict) and isinstance(pattern.get("String"), str):
        found = regex.escape(pattern["String"], special_only=True)
        if not found:
            raise FormatError(NAME, f"{place}.pattern", "it is empty")
    else:
        raise FormatError(NAME, f"{place}.pattern", f"expected a Regex, found {pattern!r:.60}")
    behavior, invert = step.get("behavior"), step.get("invert", False)
    # Removing what is not matched is isolating what is, where nothing is left unmatched.
    kept = behavior == "Removed" and invert is True
    if behavior != "Isolated" and not (
        kept and (found in PATTERNS or regexes.leaves_nothing_out(found))
    ):
        raise FormatError(
            NAME, f"{place}.behavior",
            f"{behavior}{' (inverted)' if invert else ''} is not supported; Isolated is",
        )  # fmt: skip
    return found


def ids_of(vocab: Any) -> dict[str, int]:
    """The model's vocabulary, checked."""
    if not isinstance(vocab, dict):
        raise FormatError(NAME, "model.vocab", "expected an object of token to id")
    values = set(vocab.values()) if set(map(type, vocab.values())) == {int} else ()
    if values and len(values) == len(vocab) and min(values) >= 0 and max(values) < 2**31:
        return vocab
    key_of: dict[int, str] = {}
    for key, i in vocab.items():
        if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < 2**31:
            raise FormatError(
                NAME, f"model.vocab, key {key!r}",
                f"the id must be a whole number from 0 on, not {i!r:.40}",
            )  # fmt: skip
        if i in key_of:
            raise FormatError(
                NAME, f"model.vocab, key {key!r}", f"{key_of[i]!r} has the same id {i}"
            )
        key_of[i] = key
    return vocab


def merges_of(merges: Any, ids: Mapping[str, int], tokens: list[bytes | None]) -> np.ndarray:
    """Ids (left, right, product) of each merge, int64[n, 3].

    Texts are bytes in ByteLevel's characters: a merge of others never happens and is left out.
    """
    if not isinstance(merges, list):
        raise FormatError(NAME, "model.merges", "expected a list")
    columns = _columns_at_once(merges, ids) or _columns_one_by_one(merges, ids)
    rows = np.array(columns, np.int64).T
    others = [i for i, token in zip(ids.values(), tokens, strict=True) if token is None]
    known: np.ndarray = rows[~np.isin(rows[:, 2], others)]
    return known


def _columns_at_once(merges: list[Any], ids: Mapping[str, int]) -> list[list[int]] | None:
    """What `_columns_one_by_one` gives for a list without a fault; None for any other."""
    kinds = set(map(type, merges))
    if kinds == {str}:
        parts = " ".join(merges).split(" ")
    elif kinds == {list} and set(map(len, merges)) == {2}:
        parts = list(chain.from_iterable(merges))
        if set(map(type, parts)) != {str}:
            return None
    else:
        return None
    left, right = parts[::2], parts[1::2]
    if len(left) != len(right) or not all(parts):
        return None
    made = list(map(add, left, right))
    # One item may have had three parts and another one one.
    if kinds == {str} and made != [merge.replace(" ", "") for merge in merges]:
        return None
    columns: Any = [list(map(ids.get, keys)) for keys in (left, right, made)]
    return None if any(None in column for column in columns) else columns


def _columns_one_by_one(merges: list[Any], ids: Mapping[str, int]) -> list[list[int]]:
    """Ids of the left part, the right part and the product; FormatError with the item's number."""
    columns: list[list[int]] = [[], [], []]
    for rank, merge in enumerate(merges):
        place = f"model.merges, item {rank}"
        parts = merge.split(" ") if isinstance(merge, str) else merge
        good = isinstance(parts, list) and len(parts) == 2
        if not good or not all(isinstance(part, str) and part for part in parts):
            raise FormatError(
                NAME, place, f"expected two tokens, as a pair or with a blank, not {merge!r:.60}"
            )
        pair = (parts[0], parts[1])
        for part in (*pair, "".join(pair)):
            if part not in ids:
                raise FormatError(NAME, place, f"{part!r} is not in the vocabulary")
        for column, part in zip(columns, (*pair, "".join(pair)), strict=True):
            column.append(ids[part])
    return columns


def added_tokens_of(
    entries: Any, ids: Mapping[str, int]
) -> tuple[dict[str, int], dict[str, AddedToken]]:
    """Id of each added token, and how it is looked for."""
    if not isinstance(entries, list | None):
        raise FormatError(NAME, "added_tokens", "expected a list")
    key_of = {i: key for key, i in ids.items()}
    added: dict[str, int] = {}
    options: dict[str, AddedToken] = {}
    for number, entry in enumerate(entries or ()):
        place = f"added_tokens, item {number}"
        content = entry.get("content") if isinstance(entry, dict) else None
        if not isinstance(content, str) or not content:
            raise FormatError(NAME, place, "expected an object with a 'content'")
        place = f"added token {content!r}"
        i = entry.get("id")
        if content in added:
            raise FormatError(NAME, place, "it is given twice")
        if isinstance(i, int) and key_of.get(i, content) != content:
            raise FormatError(NAME, place, f"{key_of[i]!r} has the same id {i}")
        if content in ids and ids[content] != i:
            raise FormatError(
                NAME, place, f"its id is {i!r}, but {ids[content]} in the model's vocabulary"
            )
        flags = {flag: entry.get(flag, False) for flag in (*_FLAGS, "special")}
        for flag, value in flags.items():
            if not isinstance(value, bool):
                raise FormatError(NAME, place, f"{flag!r} must be true or false, not {value!r}")
        if content.isspace() and flags["lstrip"] and flags["rstrip"]:
            raise FormatError(
                NAME, place,
                "it is white space and takes the white space on both sides along (lstrip and "
                "rstrip), so that its places overlap; not supported",
            )  # fmt: skip
        added[content] = i
        options[content] = AddedToken(**flags)
        if isinstance(i, int):
            key_of[i] = content
    return added, options


def entries_of(
    ids: Mapping[str, int],
    tokens: list[bytes | None],
    merges: np.ndarray,
    added: Mapping[str, int],
) -> tuple[dict[int, bytes], dict[int, bytes]]:
    """Bytes of each id of the model's vocabulary, and of those that no bytes are written as.

    An added token in the vocabulary is its own text there and is left out, unless merges use it
    as a token.
    """
    used = {ids[key] for key in added if key in ids}.intersection(merges.ravel().tolist())
    vocab: dict[int, bytes] = {}
    others: dict[int, bytes] = {}
    for (key, i), token in zip(ids.items(), tokens, strict=True):
        merged = i in used or len(key) == 1
        if key in added and not (merged and token is not None):
            continue
        if key in added and token != key.encode():
            raise FormatError(
                NAME, f"added token {key!r}", f"it has the id {i} of {token!r} in the vocabulary"
            )
        if token is None:
            others[i] = key.encode("utf-8", "replace")
        else:
            vocab[i] = token
    return vocab, others


def ignore_merges_of(
    model: BPEModel,
    ids: Mapping[str, int],
    tokens: list[bytes | None],
    added: Mapping[str, int],
) -> dict[bytes, int]:
    """With ignore_merges: the entries that merging would not give for their own bytes."""
    made = {model.token_bytes(i) for i in model.new[canonical_ranks(model)].tolist()}
    found: dict[bytes, int] = {}
    for (key, i), token in zip(ids.items(), tokens, strict=True):
        if token is None or len(token) == 1 or token in made:
            continue
        if key in added and token != key.encode():
            raise FormatError(
                NAME, f"added token {key!r}", f"with ignore_merges it also stands for {token!r}"
            )
        found[token] = i
    return found


# --------------------------------------------------------------------------- notes


def notes_of(
    top: dict[str, Any], ids: Mapping[str, int], added: Mapping[str, int]
) -> Iterator[str]:
    """A sentence for each thing in the file that is not applied."""
    if isinstance(top.get("post_processor"), dict):
        for kind, step in _steps(top["post_processor"], "post_processor", "processors"):
            if kind == "TemplateProcessing":
                parts = step.get("single")
                named = [
                    part["SpecialToken"].get("id")
                    for part in (parts if isinstance(parts, list) else ())
                    if isinstance(part, dict) and isinstance(part.get("SpecialToken"), dict)
                ]
                tokens = ", ".join(map(repr, named)) or "no token"
                yield (
                    f"The file's template adds {tokens} to each text. That is not done here: "
                    "ids are those without added special tokens."
                )
            elif kind != "ByteLevel":
                yield f"The file's post-processor {kind} is not applied."
    for key in ("truncation", "padding"):
        if top.get(key):
            yield f"The file asks for {key} of texts; that is not done here."
    following = len(ids)
    for name, i in added.items():
        if name not in ids:
            if i != following:
                yield (
                    f"{name!r} has id {i} in the file, as here; `tokenizers` itself numbers added "
                    f"tokens one after another and gives it {following}."
                )
                return
            following += 1
