"""Proving an export: the files are read back and both tokenizers encode the same texts.

Belongs here: `prove` and the texts at which tokenizers have gone wrong. Does not belong here:
reading and writing (`files.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from bpe_core.tokenizer import Tokenizer

from .files import Format, dumps, record_of
from .record import ReadSettings

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


def prove(tokenizer: Tokenizer, format_name: Format, texts: Iterable[str] = ()) -> Proof:
    """Export, read back, and compare ids on `texts`, on every token's text, on nasty strings.

    Raises FormatError where the format cannot hold the tokenizer.

    >>> from bpe_core import Trainer
    >>> prove(Trainer(257).train("abab").tokenizer, "hf", ["abc"]).differing
    ()
    """
    record = record_of(format_name)
    files = dumps(tokenizer, format_name)
    settings = ReadSettings(tokenizer.pattern, tokenizer.special_tokens, "whole")
    again = record.loads({name: files[name] for name in record.files}, settings).tokenizer
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
