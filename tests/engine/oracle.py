"""What the tests compare with: the reference, fed from text, and its trace as columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import regex

from bpe_core import MergeTrace, Tokenizer, reference


def cut(pattern: str, text: str) -> list[str]:
    """Cut a text by a pattern; what the pattern does not match is a piece of its own."""
    if not pattern:
        return [text] if text else []
    pieces = []
    end = 0
    for match in regex.finditer(pattern, text):
        if match.start() > end:
            pieces.append(text[end : match.start()])
        if match.end() > match.start():
            pieces.append(match.group())
        end = max(end, match.end())
    if end < len(text):
        pieces.append(text[end:])
    return pieces


def word_counts(text: str, pattern: str, special_tokens: Sequence[str] = ()) -> Counter[bytes]:
    """Count the pre-tokens of a text, special tokens left out."""
    counts: Counter[bytes] = Counter()
    for piece, is_special in reference.split_special(text, special_tokens):
        if not is_special:
            counts.update(pretoken.encode() for pretoken in cut(pattern, piece))
    return counts


def reference_columns(training: reference.Training, top_k: int) -> dict[str, Any]:
    """Write the steps of the reference as the columns a trace must have."""
    steps, ids = training.steps, training.ids
    columns: dict[str, Any] = {
        "left": [ids[step.left] for step in steps],
        "right": [ids[step.right] for step in steps],
        "new": [step.token_id for step in steps],
    }
    for name in ("pair_count", "merged", "corpus_tokens", "n_pairs", "n_tied"):
        columns[name] = [getattr(step, name) for step in steps]
    columns["cand_left"] = np.full((len(steps), top_k), -1)
    columns["cand_right"] = np.full((len(steps), top_k), -1)
    columns["cand_count"] = np.zeros((len(steps), top_k), dtype=np.int64)
    for row, step in enumerate(steps):
        for place, (left, right, count) in enumerate(step.candidates):
            columns["cand_left"][row, place] = ids[left]
            columns["cand_right"][row, place] = ids[right]
            columns["cand_count"][row, place] = count
    return columns


def assert_same_trace(trace: MergeTrace, training: reference.Training, top_k: int) -> None:
    """Compare a trace with the reference in every column."""
    assert len(trace) == len(training.steps)
    assert trace.initial_tokens == training.initial_tokens
    found = trace.to_columns()
    for name, expected in reference_columns(training, top_k).items():
        column = getattr(trace, name)
        assert column.shape == np.shape(expected), name
        assert np.array_equal(column, expected), (name, column, expected)
        if column.ndim == 1:
            assert np.array_equal(found[name], column), name


def spelled(tokenizer: Tokenizer, trace: MergeTrace) -> list[tuple[bytes, bytes]]:
    """The merges of a trace as byte strings."""
    return [
        (tokenizer.token_bytes(int(left)), tokenizer.token_bytes(int(right)))
        for left, right in zip(trace.left, trace.right, strict=True)
    ]


def glyphs() -> list[str]:
    """The printable character that GPT-2's files write for each byte value."""
    table = [""] * 256
    for place, symbol in enumerate(reference.byte_alphabet("gpt2")):
        value = symbol[0]
        table[value] = chr(value) if place < 188 else chr(256 + place - 188)
    return table


def from_glyphs(text: str) -> bytes:
    """Read a token as GPT-2's files write it."""
    table = {glyph: value for value, glyph in enumerate(glyphs())}
    return bytes(table[character] for character in text)


def remade(tokenizer: Tokenizer, **options: Any) -> Tokenizer:
    """The same tokenizer with what only imported ones have: `preparation`, `ignore_merges`."""
    return Tokenizer(
        tokenizer.model,
        tokenizer.pretokenizer,
        tokenizer.special_tokens,
        tokenizer.ids,
        tokenizer.extra,
        **options,
    )
