"""Whole sets of files: which ones a format has, telling formats apart, proving an export.

Belongs here: what holds for all formats together. Does not belong here: any one format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from bpe_core.tokenizer import Tokenizer

from .common import FormatError
from .gpt2 import dumps_gpt2, gpt2_obstacles, loads_gpt2
from .huggingface import Imported, dumps_hf, hf_obstacles, loads_hf, read_hf
from .native import NATIVE_NAME, dumps_native, loads_native
from .tiktoken import dumps_tiktoken, loads_tiktoken, tiktoken_obstacles, tiktoken_snippet

Format = Literal["native", "gpt2", "tiktoken", "hf"]
_OBSTACLES = {"gpt2": gpt2_obstacles, "tiktoken": tiktoken_obstacles, "hf": hf_obstacles}

# Strings at which tokenizers have gone wrong: blanks, line ends, case, marks, digits, runs.
NASTY_TEXTS = (
    "", " ", "  ", "\n", "\n\n", " \n \n  ", "\r\n\r\n", "\t \t", "\u00a0\u00a0", "\u3000x\u3000 ",
    "a\n \n  ", "a   b", "   a", "a   ", "\x00\x01\x7f", "\u0085\u2028\u2029", "1234567 12 1",
    "it's IT'S it'ſ we'll WE'LL 'tis", "Ünïcödé e\u0301\u0301 한국 \u1112\u1161\u11ab",
    "👨‍👩‍👧🏽🙃",
    "नमस्ते สวัสดี العربية עברית", "<|endoftext|>", "a<|endoftext|> <|endoftext|>b",
    "<|end<|endoftext|", "a" * 300, "ab" * 200, " " * 300 + "x", "-" * 130, "!?!?" * 40, "\n" * 70,
    "中" * 100, "for (i = 0; i < n; ++i) {\n\t\treturn x[i] /* ok */;\n\t}\r\n",
    "http://a.b/c?d=e&f=%20#g", "\ufeffhello", "x\u200dy\u200cz", "ǅ ﬀ İi ıI ß ẞ", "½ ²³ Ⅷ ٣٤ ०१२",
    "__init__ snake_case CamelCase HTTPServer",
)  # fmt: skip


class Proof(NamedTuple):
    """What came of reading an export back: texts and ids compared, and texts that differ."""

    n_texts: int
    n_ids: int
    differing: tuple[str, ...]


def obstacles(tokenizer: Tokenizer, format_name: Format) -> list[str]:
    """Why the format cannot hold the tokenizer, a sentence each; [] where it can.

    Exact: with no obstacle, what the format's own library reads gives the same ids. May take
    a second for a vocabulary of 200,000.

    >>> tokenizer = Tokenizer.from_vocab({i: bytes([i]) for i in range(256)} | {256: b"xyz"}, [])
    >>> obstacles(tokenizer, "native"), len(obstacles(tokenizer, "tiktoken"))
    ([], 1)
    """
    return [] if format_name == "native" else list(_OBSTACLES[format_name](tokenizer))


def remarks(tokenizer: Tokenizer, format_name: Format) -> list[str]:
    """What the files of a format leave to their reader, a sentence each.

    >>> from bpe_core import Trainer
    >>> remarks(Trainer(257, pattern="o200k").train("").tokenizer, "hf")
    []
    """
    names = ", ".join(map(repr, tokenizer.special_tokens))
    found = []
    if format_name == "gpt2":
        if tokenizer.pattern != "gpt2":
            found.append(
                f"The files do not hold the pattern, {tokenizer.pattern!r}: libraries that read "
                "them take GPT-2's and give other ids."
            )
        if names:
            found.append(f"The files do not say that {names} are special: name them when reading.")
    if format_name == "tiktoken":
        found.append(
            "The rank file holds neither pattern nor special tokens: the Python file with it does."
        )
        if any(not option.special for option in tokenizer.preparation.tokens.values()):
            found.append("tiktoken knows special tokens only: added tokens become such.")
    return found


def dumps(tokenizer: Tokenizer, format_name: Format) -> dict[str, bytes]:
    """The files of an export, by the names that their readers expect.

    For tiktoken there is a Python file too, which builds the encoding from the rank file.
    Raises FormatError with the first of the `obstacles`.

    >>> from bpe_core import Trainer
    >>> list(dumps(Trainer(257).train("abab").tokenizer, "gpt2"))
    ['vocab.json', 'merges.txt']
    """
    if format_name == "gpt2":
        vocab_json, merges_txt = dumps_gpt2(tokenizer)
        return {"vocab.json": vocab_json.encode(), "merges.txt": merges_txt.encode()}
    if format_name == "tiktoken":
        ranks = dumps_tiktoken(tokenizer)
        return {
            "tokenizer.tiktoken": ranks,
            "load_tokenizer.py": tiktoken_snippet(tokenizer).encode(),
        }
    if format_name == "hf":
        return {"tokenizer.json": dumps_hf(tokenizer).encode()}
    return {"tokenizer.mergescope.json": dumps_native(tokenizer).encode()}


def prove(tokenizer: Tokenizer, format_name: Format, texts: Iterable[str] = ()) -> Proof:
    """Export, read back, and compare ids on `texts`, on every token's text, on nasty strings.

    Raises FormatError where the format cannot hold the tokenizer.

    >>> from bpe_core import Trainer
    >>> prove(Trainer(257).train("abab").tokenizer, "hf", ["abc"]).differing
    ()
    """
    again = _read_back(tokenizer, format_name, dumps(tokenizer, format_name))
    own = [token.decode("utf-8", "replace") for token in tokenizer.vocab.values()]
    specials = ["".join(tokenizer.special_tokens), " a ".join(tokenizer.special_tokens)]
    compared = [*texts, *own, "\n".join(own), *specials, *NASTY_TEXTS]
    ids, ends = tokenizer.encode_batch_to_array(compared)
    ids_again, ends_again = again.encode_batch_to_array(compared)
    differing: list[str] = []
    if not (np.array_equal(ids, ids_again) and np.array_equal(ends, ends_again)):
        parts = zip(
            compared, np.split(ids, ends[:-1]), np.split(ids_again, ends_again[:-1]), strict=True
        )
        differing = [text for text, x, y in parts if not np.array_equal(x, y)]
    return Proof(len(compared), len(ids), tuple(differing))


def _read_back(tokenizer: Tokenizer, format_name: Format, files: Mapping[str, bytes]) -> Tokenizer:
    content = list(files.values())
    pattern, specials = tokenizer.pattern, tokenizer.special_tokens
    if format_name == "gpt2":
        return loads_gpt2(content[0], content[1], specials, pattern=pattern)
    if format_name == "tiktoken":
        return loads_tiktoken(
            content[0], pattern=pattern, special_tokens=specials, unreachable="whole"
        )
    return loads_hf(content[0]) if format_name == "hf" else loads_native(content[0])


def loads(
    files: Mapping[str, bytes],
    *,
    pattern: str = "gpt2",
    special_tokens: Mapping[str, int] | None = None,
    unreachable: Literal["refuse", "whole"] = "refuse",
) -> tuple[Format, Imported]:
    """The format of some files, told by their content, and their tokenizer.

    `files` are contents by name. `pattern` and `special_tokens` are for the formats that do not
    hold them (gpt2, tiktoken). Raises FormatError saying what is expected where the files are
    of no known format or not complete.

    >>> from bpe_core import Trainer
    >>> loads(dumps(Trainer(257).train("abab").tokenizer, "hf"))[0]
    'hf'
    """
    kinds = {name: _kind(content) for name, content in files.items()}
    found = [kind for kind in kinds.values() if kind != "other"]
    content = {kind: files[name] for name, kind in kinds.items()}
    if len(set(found)) < len(found):
        raise FormatError("files", ", ".join(files), "two of them are of the same kind")
    if "hf" in content:
        return "hf", read_hf(content["hf"])
    if "native" in content:
        return "native", Imported(loads_native(content["native"]), ())
    if "tiktoken" in content:
        tokenizer = loads_tiktoken(
            content["tiktoken"], pattern=pattern, special_tokens=special_tokens,
            unreachable=unreachable,
        )  # fmt: skip
        return "tiktoken", Imported(tokenizer, ())
    if "vocab" in content and "merges" in content:
        tokenizer = loads_gpt2(
            content["vocab"], content["merges"], special_tokens or {}, pattern=pattern
        )
        unused = [tokenizer.extra[i].decode("utf-8", "replace") for i in tokenizer.extra]
        some = ", ".join(map(repr, unused[:3])) + (", ..." if len(unused) > 3 else "")
        note = (
            f"{len(unused)} entries are made by no merge ({some}): if they are special tokens, "
            "name them; else they are decoded but never encoded to."
        )
        return "gpt2", Imported(tokenizer, (note,) if unused else ())
    if "vocab" in content or "merges" in content:
        missing = "merges.txt" if "vocab" in content else "vocab.json"
        raise FormatError("files", ", ".join(files), f"{missing}, which belongs to it, is missing")
    raise FormatError(
        "files", ", ".join(files) or "none",
        "expected a tokenizer.json, a .tiktoken file, vocab.json with merges.txt, or a native file",
    )  # fmt: skip


def _kind(content: bytes) -> str:
    """What a file's content is by its looks: "hf", "native", "vocab", "tiktoken", "merges"."""
    text = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        # Files with a fault are told by their keys too, so that the fault can be named.
        try:
            top: Any = json.loads(content.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            top = {}
        keys = top if isinstance(top, dict) and top else re.findall(rb'"(\w+)"\s*:', text[:2000])
        names = {key.decode() if isinstance(key, bytes) else key for key in keys}
        if ("model" in names and "added_tokens" in names) or {"model", "pre_tokenizer"} <= names:
            return "hf"
        return "native" if "format" in names and NATIVE_NAME.encode() in text[:200] else "vocab"
    first = next((line for line in text.splitlines() if line.strip()), b"")
    if re.fullmatch(rb"[A-Za-z0-9+/]+={0,2} \d+\s*", first):
        return "tiktoken"
    merges = first.startswith(b"#version") or re.fullmatch(rb"[^ ]+ [^ ]+", first.rstrip())
    return "merges" if merges and b"import" not in first else "other"
