"""Hugging Face's tokenizer.json, of the byte-level BPE family.

Belongs here: reading and writing such a file. What is not byte-level BPE (WordPiece, Unigram,
SentencePiece with byte fallback) or would not give the same ids is refused with the reason.
What a file does around encoding (special tokens that a template puts in front) is told in
notes and not done. Does not belong here: patterns of Oniguruma (`regexes`), and what added
tokens, normalization and several cuts do to a text (`bpe_core.preparation`).

Source: the file format and behavior of `tokenizers`; the tests compare ids with the library.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import chain
from operator import add
from typing import Any, NamedTuple

import numpy as np
import regex

from bpe_core.building import TokenizerParts, ids_of_bytes, model_of_ids, parts_of_vocab
from bpe_core.model import BPEModel
from bpe_core.patterns import PATTERNS
from bpe_core.preparation import AddedToken, Preparation, StagedPreTokenizer, pretokenizer_of
from bpe_core.tokenizer import Tokenizer

from . import regexes
from .common import (
    FormatError,
    all_from_characters,
    canonical_merges,
    canonical_ranks,
    from_characters,
    json_of,
    special_ids,
    to_characters,
    twin_names,
    vocab_names,
)

NAME = "tokenizer.json"
_KINDS = {
    "WordPiece": "it matches the longest piece of each word and has no merges",
    "WordLevel": "it looks whole words up and has no merges",
    "Unigram": "it picks pieces by their probability and has no merges",
}
_FLAGS = ("lstrip", "rstrip", "single_word", "normalized")


class Imported(NamedTuple):
    """A tokenizer, and a sentence for each thing in its file that is not applied."""

    tokenizer: Tokenizer
    notes: tuple[str, ...]


def loads_hf(text: str | bytes) -> Tokenizer:
    """A tokenizer from the content of a tokenizer.json; ids are kept as declared.

    It encodes as `tokenizers` does with `add_special_tokens=False`. Raises FormatError naming
    what cannot be taken over. `read_hf` also tells what the file holds beyond that.

    >>> tokenizer = Tokenizer.from_vocab({i: bytes([i]) for i in range(256)} | {300: b"ab"},
    ...                                  [(b"a", b"b")])
    >>> loads_hf(dumps_hf(tokenizer)).encode("abc")
    [300, 99]
    """
    return read_hf(text).tokenizer


def read_hf(text: str | bytes) -> Imported:
    """The tokenizer of a tokenizer.json with notes on what is not applied.

    >>> from bpe_core import Trainer
    >>> read_hf(dumps_hf(Trainer(257).train("abab").tokenizer)).notes
    ()
    """
    top = json_of(NAME, text)
    if not isinstance(top, dict) or not isinstance(top.get("model"), dict):
        raise FormatError(NAME, "top level", "expected an object with a key 'model'")
    model = top["model"]
    _check_model(model)
    stages, prefix_space = _pre_tokenizer(top.get("pre_tokenizer"))
    normalizer = _normalizer(top.get("normalizer"))
    ids = _ids(model.get("vocab"))
    tokens = all_from_characters(ids)
    merges = _merges(model.get("merges"), ids, tokens)
    added, options = _added_tokens(top.get("added_tokens"), ids)

    # An added token in the vocabulary is its own text there, unless merges use it as a token.
    used = {ids[key] for key in added if key in ids}.intersection(merges.ravel().tolist())
    vocab: dict[int, bytes] = {}
    extra: dict[int, bytes] = {}
    for (key, i), token in zip(ids.items(), tokens, strict=True):
        merged = i in used or len(key) == 1
        if key in added and not (merged and token is not None):
            continue
        if key in added and token != key.encode():
            raise FormatError(
                NAME, f"added token {key!r}", f"it has the id {i} of {token!r} in the vocabulary"
            )
        if token is None:
            extra[i] = key.encode("utf-8", "replace")
        else:
            vocab[i] = token
    special_ids(NAME, added, vocab | extra)
    try:
        parts = _parts(vocab, merges, added)
        whole = {}
        if model.get("ignore_merges"):
            whole = _ignore_merges(parts.model, ids, tokens, added)
        plain = {t: o for t, o in options.items() if o != AddedToken()}
        tokenizer = Tokenizer(
            parts.model,
            pretokenizer_of(stages[0] if len(stages) == 1 else stages),
            added,
            parts.ids,
            parts.extra | extra,
            preparation=Preparation(normalizer, prefix_space, plain),
            ignore_merges=whole,
        )
    except FormatError:
        raise
    except ValueError as err:
        raise FormatError(NAME, "model", str(err)) from None
    return Imported(tokenizer, tuple(_notes(top, ids, added)))


def _parts(
    vocab: Mapping[int, bytes], merges: np.ndarray, added: dict[str, int]
) -> TokenizerParts:
    """What `parts_of_vocab` gives, with merges by id."""
    found = model_of_ids(ids_of_bytes(vocab), merges)
    if found is None:  # that says which merge is at fault
        pairs = {(vocab[left], vocab[right]): None for left, right, _ in merges.tolist()}
        return parts_of_vocab(vocab, list(pairs), added)
    return TokenizerParts.of(*found, vocab, added)


# --------------------------------------------------------------------------- parts of the file


def _check_model(model: dict[str, Any]) -> None:
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


def _normalizer(value: Any) -> Any:
    if value is None:
        return ""
    name = ""
    for kind, _ in _steps(value, "normalizer", "normalizers"):
        if kind != "NFC":
            raise FormatError(NAME, "normalizer", f"{kind} is not supported; NFC alone is")
        name = "NFC"
    return name


def _pre_tokenizer(value: Any) -> tuple[list[str], bool]:
    """Patterns to cut at in turn, and whether a blank is put in front."""
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


def _ids(vocab: Any) -> dict[str, int]:
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


def _merges(merges: Any, ids: Mapping[str, int], tokens: list[bytes | None]) -> np.ndarray:
    """Ids (left, right, product) of each merge, int64[n, 3].

    Texts are bytes in ByteLevel's characters: a merge of others never happens and is left out.
    """
    if not isinstance(merges, list):
        raise FormatError(NAME, "model.merges", "expected a list")
    columns = _columns_at_once(merges, ids) or _columns_one_by_one(merges, ids)
    rows = np.array(columns, np.int64).T
    others = [i for i, token in zip(ids.values(), tokens, strict=True) if token is None]
    return rows[~np.isin(rows[:, 2], others)]


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


def _added_tokens(
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
        added[content] = i
        options[content] = AddedToken(**flags)
        if isinstance(i, int):
            key_of[i] = content
    return added, options


def _ignore_merges(
    model: BPEModel,
    ids: Mapping[str, int],
    tokens: list[bytes | None],
    added: Mapping[str, int],
) -> dict[bytes, int]:
    """With ignore_merges: the entries that merging would not give for their own bytes."""
    made = {model.token_bytes(i) for i in model.new[canonical_ranks(model)].tolist()}
    whole: dict[bytes, int] = {}
    for (key, i), token in zip(ids.items(), tokens, strict=True):
        if token is None or len(token) == 1 or token in made:
            continue
        if key in added and token != key.encode():
            raise FormatError(
                NAME, f"added token {key!r}", f"with ignore_merges it also stands for {token!r}"
            )
        whole[token] = i
    return whole


# --------------------------------------------------------------------------- notes


def _notes(top: dict[str, Any], ids: Mapping[str, int], added: Mapping[str, int]) -> Iterator[str]:
    if isinstance(top.get("post_processor"), dict):
        for kind, step in _steps(top["post_processor"], "post_processor", "processors"):
            if kind == "TemplateProcessing":
                pieces = step.get("single")
                named = [
                    piece["SpecialToken"].get("id")
                    for piece in (pieces if isinstance(pieces, list) else ())
                    if isinstance(piece, dict) and isinstance(piece.get("SpecialToken"), dict)
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


# --------------------------------------------------------------------------- writing


def hf_obstacles(tokenizer: Tokenizer) -> Iterator[str]:
    """What keeps a tokenizer.json from giving the ids of this tokenizer, a sentence each."""
    twins = list(twin_names(tokenizer, NAME))
    yield from twins
    try:
        _written_pre_tokenizer(tokenizer)
    except ValueError as err:
        yield str(err)
    if twins or not tokenizer.ignore_merges:
        return
    made = {left + right for left, right in canonical_merges(tokenizer)}
    for key, i in vocab_names(tokenizer).items():
        token = from_characters(key)
        if token is None or len(token) == 1 or token in made:
            continue
        # An added token is cut out first, so its text is no pre-token.
        single_word = tokenizer.preparation.option(key).single_word
        cut = key in tokenizer.special_tokens and token == key.encode() and not single_word
        if not cut and tokenizer.ignore_merges.get(token) != i:
            yield (
                "some pre-tokens are taken whole (ignore_merges), so the format would take "
                f"{token!r} whole too, which is not done here"
            )
            return


def dumps_hf(tokenizer: Tokenizer) -> str:
    """The content of a tokenizer.json that `tokenizers` and `transformers` read.

    Special tokens stand in the model's vocabulary too, so that the libraries keep their ids.
    Raises FormatError with the first of the `obstacles`.

    >>> from bpe_core import Trainer
    >>> json.loads(dumps_hf(Trainer(257).train("abab").tokenizer))["model"]["merges"]
    ['a b']
    """
    for obstacle in hf_obstacles(tokenizer):
        raise FormatError(NAME, "tokenizer", obstacle)
    option = tokenizer.preparation.option
    added = [
        {"id": i, "content": name, **asdict(option(name))}
        for name, i in sorted(tokenizer.special_tokens.items(), key=lambda item: item[1])
    ]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False}
    normalizer = tokenizer.preparation.normalizer
    merges = [f"{to_characters(a)} {to_characters(b)}" for a, b in tokenizer.merges]
    top = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {"type": normalizer} if normalizer else None,
        "pre_tokenizer": _written_pre_tokenizer(tokenizer),
        "post_processor": None,
        "decoder": byte_level | {"use_regex": True},
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None,
            "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
            "byte_fallback": False, "ignore_merges": bool(tokenizer.ignore_merges),
            "vocab": vocab_names(tokenizer), "merges": merges,
        },
    }  # fmt: skip
    return json.dumps(top, ensure_ascii=False, indent=1)


def _written_pre_tokenizer(tokenizer: Tokenizer) -> dict[str, Any]:
    cutter = tokenizer.pretokenizer
    stages = cutter.stages if isinstance(cutter, StagedPreTokenizer) else (cutter,)
    steps: list[dict[str, Any]] = []
    use_regex = stages[-1].pattern == "gpt2"
    for stage in stages[:-1] if use_regex else stages:
        if not stage.regex:
            continue
        try:
            written = regexes.translate(stage.regex, "regex", "oniguruma")
        except regexes.PatternError as err:
            problem = f"the pattern {stage.regex!r:.200} cannot be carried over: {err}"
            raise regexes.PatternError(problem) from None
        steps.append(
            {"type": "Split", "pattern": {"Regex": written}, "behavior": "Isolated",
             "invert": False}
        )  # fmt: skip
    prefix = tokenizer.preparation.prefix_space
    if prefix and steps:
        raise regexes.PatternError(f"in {NAME} a blank in front goes with GPT-2's pattern only")
    last = {
        "type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": False,
        "use_regex": use_regex,
    }  # fmt: skip
    return {"type": "Sequence", "pretokenizers": [*steps, last]} if steps else last
