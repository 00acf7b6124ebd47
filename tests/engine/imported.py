"""Tokenizers of each kind that only an import can be, made of one that was trained."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from bpe_core import Tokenizer, Trainer, formats

STORY = "the low lower lowest mouse looked at the newest widest moon <|x|>\n" * 40
TEXT = "the low mouse cafe\u0301 \u212b 한 looked <|x|> newest unseen"


def _nfc(top: dict[str, Any]) -> None:
    top["normalizer"] = {"type": "NFC"}


def _backwards(top: dict[str, Any]) -> None:
    top["model"]["merges"].reverse()


def _whole(top: dict[str, Any]) -> None:
    top["model"]["ignore_merges"] = True
    del top["model"]["merges"][15:]


def _strips(top: dict[str, Any]) -> None:
    top["added_tokens"][0] |= {"lstrip": True, "special": False}


_CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "plain": lambda top: None,
    "nfc": _nfc,
    "backwards": _backwards,
    "whole": _whole,
    "strips": _strips,
}
KINDS = tuple(_CHANGES)


@cache
def of_kind(kind: str) -> Tokenizer:
    """What is imported from a trained tokenizer's tokenizer.json after a change."""
    tokenizer = Trainer(285, ["<|x|>"], pattern="cl100k").train(STORY).tokenizer
    top = json.loads(formats.dumps(tokenizer, "hf")["tokenizer.json"])
    _CHANGES[kind](top)
    return formats.read_hf(json.dumps(top).encode()).tokenizer
