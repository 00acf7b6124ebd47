"""Hugging Face's tokenizer.json, of the byte-level BPE family.

Belongs here: reading and writing such a file. What is not byte-level BPE (WordPiece, Unigram,
SentencePiece with byte fallback) or would not give the same ids is refused with the reason.
What a file does around encoding (special tokens that a template puts in front) is told in
notes and not done. Does not belong here: the parts of the file one by one
(`huggingface_parts.py`), patterns of Oniguruma (`regexes.py`), and what added tokens,
normalization and several cuts do to a text (`bpe_core.preparation`).

Source: the file format and behavior of `tokenizers`; the tests compare ids with the library.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from bpe_core.building import parts_of_ids
from bpe_core.preparation import AddedToken, Preparation, StagedPreTokenizer, pretokenizer_of
from bpe_core.tokenizer import Tokenizer

from . import regexes
from .canonical import canonical_merges
from .common import (
    FormatError,
    all_from_characters,
    from_characters,
    json_of,
    repeated_note,
    special_ids,
    to_characters,
    twin_names,
    vocab_names,
)
from .huggingface_parts import (
    NAME,
    added_tokens_of,
    check_model,
    entries_of,
    ids_of,
    ignore_merges_of,
    merges_of,
    normalizer_of,
    notes_of,
    patterns_of,
)
from .record import FileContent, FormatRecord, LoadedTokenizer


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


def read_hf(text: str | bytes) -> LoadedTokenizer:
    """The tokenizer of a tokenizer.json with notes on what is not applied.

    >>> from bpe_core import Trainer
    >>> read_hf(dumps_hf(Trainer(257).train("abab").tokenizer)).notes
    ()
    """
    top = json_of(NAME, text)
    if not isinstance(top, dict) or not isinstance(top.get("model"), dict):
        raise FormatError(NAME, "top level", "expected an object with a key 'model'")
    model = top["model"]
    check_model(model)
    stages, prefix_space = patterns_of(top.get("pre_tokenizer"))
    normalizer = normalizer_of(top.get("normalizer"))
    ids = ids_of(model.get("vocab"))
    tokens = all_from_characters(ids)
    merges = merges_of(model.get("merges"), ids, tokens)
    added, options = added_tokens_of(top.get("added_tokens"), ids)
    vocab, extra = entries_of(ids, tokens, merges, added)
    special_ids(NAME, added, vocab | extra)  # raises where an id is none or is taken
    try:
        parts = parts_of_ids(vocab, merges, added)
        ignore_merges: dict[bytes, int] = {}
        if model.get("ignore_merges"):
            ignore_merges = ignore_merges_of(parts.model, ids, tokens, added)
        unusual = {t: o for t, o in options.items() if o != AddedToken()}
        tokenizer = Tokenizer(
            parts.model,
            pretokenizer_of(stages[0] if len(stages) == 1 else stages),
            added,
            parts.ids,
            parts.extra | extra,
            preparation=Preparation(normalizer, prefix_space, unusual),
            ignore_merges=ignore_merges,
        )
    except FormatError:
        raise
    except ValueError as err:
        raise FormatError(NAME, "model", str(err)) from None
    repeated = repeated_note(len(merges), len(parts.model.table))
    return LoadedTokenizer(tokenizer, (*repeated, *notes_of(top, ids, added)))


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
    made = {left + right for left, right in canonical_merges(tokenizer.model)}
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


# --------------------------------------------------------------------------- the record


def _sniff(content: FileContent) -> str:
    keys = content.keys
    return NAME if "model" in keys and keys & {"added_tokens", "pre_tokenizer"} else ""


RECORD = FormatRecord(
    name="hf",
    title="Hugging Face",
    files=(NAME,),
    expected="a tokenizer.json",
    holds_settings=True,
    sniff=_sniff,
    loads=lambda files, _: read_hf(files[NAME]),
    dumps=lambda tokenizer: {NAME: dumps_hf(tokenizer).encode()},
    obstacles=hf_obstacles,
)
