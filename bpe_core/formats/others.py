"""Files that are given with tokenizers, or in their place, and are none.

Belongs here: telling them by their content, and what to say of them. Does not belong here: the
formats that are read (`files.py` has the list).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from .record import FileContent


class OtherFile(NamedTuple):
    """What a file is, and what to do; `beside` says that it commonly stands beside a tokenizer."""

    what: str
    advice: str
    beside: bool = False


_ADVICE = "give tokenizer.json, or vocab.json with merges.txt"
_PAGE = OtherFile(
    "a web page, such as a site shows where a file is not found or wants a login",
    "download the file itself",
)
_REFUSAL = OtherFile("a server's answer that there is no such file", "download the file itself")
_POINTER = OtherFile(
    "a Git LFS pointer, which stands for a file that was not downloaded",
    "download the file itself, for instance with git lfs pull",
)
_TEKKEN = OtherFile(
    "Mistral's tekken.json, which is not read here", "give the tokenizer.json of the same model"
)
_SETTINGS = OtherFile("tokenizer_config.json, settings beside a tokenizer", _ADVICE, True)
_SPECIALS = OtherFile("special_tokens_map.json, names beside a tokenizer", _ADVICE, True)
_MODEL = OtherFile("a model's settings, no tokenizer", _ADVICE, True)
_BINARY = OtherFile("binary data, such as a model's weights, and no text in UTF-8", _ADVICE)

_REFUSALS = re.compile(
    rb"(?i)(error )?(\d{3}:? )?(\w+ )?(not found|forbidden|unauthorized|access denied)\W*"
)


def other_file(content: FileContent) -> OtherFile | None:
    """What a content is if it is known and no tokenizer; None for all else.

    >>> other_file(FileContent(b"<!DOCTYPE html><html></html>")).advice
    'download the file itself'
    """
    if content.is_object:
        # A vocabulary may hold these keys too, as tokens.
        if content.is_ids:
            return None
        return next((file for fits, file in _OBJECTS if fits(content.keys)), None)
    if re.match(rb"(?i)<(!doctype|html|head|\?xml|error)\b", content.start):
        return _PAGE
    if content.start.startswith(b"version https://git-lfs.github.com/"):
        return _POINTER
    if len(content.start) < 200 and _REFUSALS.fullmatch(content.start.rstrip()):
        return _REFUSAL
    return _BINARY if b"\0" in content.data[:2000] else None


def _has(*keys: str) -> Callable[[frozenset[str]], Any]:
    return lambda found: found & set(keys)


_OBJECTS: tuple[tuple[Callable[[frozenset[str]], Any], OtherFile], ...] = (
    (lambda keys: {"config", "vocab"} <= keys, _TEKKEN),
    (
        _has("tokenizer_class", "added_tokens_decoder", "model_max_length", "chat_template"),
        _SETTINGS,
    ),
    (_has("model_type", "architectures", "transformers_version"), _MODEL),
    (
        lambda keys: keys and all(re.fullmatch(r"\w+_tokens?", key) for key in keys),
        _SPECIALS,
    ),
    (lambda keys: keys and keys <= {"error", "message", "detail", "status", "code"}, _REFUSAL),
)
