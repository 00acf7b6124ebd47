"""Every kernel beside its plain twin, with inputs: the one table that tests and benchmarks run.

A row names a kernel; `run` calls it, through the thinnest wrapper there is, and gives back all that
it wrote, which `read` turns into plain lists and numbers; `twin` works out the same in the most
obvious way, by the standard library, `regex`, `reference.py` or `incremental.py`; `inputs` makes
arguments for both of about so many bytes. Equality is exact: every column, array and count.

Belongs here: the table `TWINS` and what its rows need. Does not belong here: which sizes and seeds
are run (`test_twins.py`, `test_plain_kernels.py`, `tests/benchmarks/twins.py`).

To add a kernel, add a row. `test_twins.py` tells when one is missing.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate, pairwise
from typing import Any
from unittest import mock

import numpy as np
import regex

from bpe_core import (
    PATTERNS,
    PreTokenizer,
    Trainer,
    TrainingRun,
    counting,
    encoder,
    incremental,
    kernels,
    reference,
)
from bpe_core.counting import PretokenCounter
from bpe_core.kernels import layout
from bpe_core.model import BYTE_ORDERS, BPEModel, MergeTable
from bpe_core.pretokenize import Scanner
from bpe_core.special import Segments, SpecialSplitter

from . import oracle
from .texts import BITS, NASTY

Rng = random.Random
Merges = list[tuple[bytes, bytes]]
Pretokens = dict[bytes, int]

SCANNED = sorted(name for name, pattern in PATTERNS.items() if pattern.scheme)
COUNTS = (1, 1, 1, 2, 3, 7, 2**16 - 1, 2**16, 2**31 - 1, 2**31, 2**40)


def plainly(value: Any) -> Any:
    """The same with arrays as lists and tuples as plain ones."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return type(value)(map(plainly, value))
    return value


@dataclass(frozen=True)
class Twin:
    """A kernel, the plain function that it equals, and arguments on which both are run."""

    kernel: str
    run: Callable[..., Any]
    twin: Callable[..., Any]
    inputs: Callable[[Rng, int], tuple[Any, ...]]
    read: Callable[[Any], Any] = plainly
    n_inputs: int = 1  # more where a kernel has more ways to go

    def compare(self, seed: int, size: int) -> None:
        """Run both on inputs of about `size` bytes; AssertionError where they differ."""
        rng = Rng(f"{self.kernel} {seed} {size}")
        for _ in range(self.n_inputs):
            inputs = self.inputs(rng, size)
            found, expected = self.read(self.run(*inputs)), self.twin(*inputs)
            assert found == expected, (self.kernel, seed, size, inputs)


# ------------------------------------------------------------------ inputs


# What the patterns tell apart, some characters of each kind.
CLASSES = ["aAsé", " \n\t\r\u00a0\u3000", "!'/(“", "19٣½", "中ʰǅª", "\u0301\u0300🙃", "'stlrvem"]


def any_text(rng: Rng, size: int) -> str:
    """A text of at most `size` bytes: a few letters, runs, words, all Unicode, or what is nasty."""
    letters = "".join(rng.sample(CLASSES, rng.randint(1, 4)))
    kinds: list[Callable[[], str]] = [
        lambda: rng.choice(letters) * rng.choice([*[1] * 12, 2, 2, 3, 4, rng.randint(1, 90)]),
        lambda: rng.choice("ab"),
        lambda: rng.choice("aA 1\n'é中!") * rng.choice([1, 2, 3, 30, 70]),
        lambda: rng.choice([" the", " of", " low", "er", "est", " new", ".\n", ", "]),
        lambda: rng.choice(BITS),
        lambda: rng.choice(NASTY),
        lambda: chr(rng.choice([rng.randrange(0xD800), rng.randrange(0xE000, 0x110000)])),
    ]
    chosen = rng.sample(kinds, rng.randint(1, 3))
    parts: list[str] = []
    left = size
    while left > 0:
        parts.append(rng.choice(chosen)())
        left -= len(parts[-1].encode()) or 1
    return "".join(parts).encode()[:size].decode("utf-8", "ignore")


def any_texts(rng: Rng, size: int) -> list[str]:
    """A few texts of at most `size` bytes in all; some may be empty."""
    n = rng.randint(1, 5)
    return [any_text(rng, size * rng.choice([0, 1, 1, 1]) // n) for _ in range(n)]


def any_bytes(rng: Rng, size: int) -> bytes:
    """Bytes of any kind: random ones, runs of a few, or a text."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.randbytes(size)
    if kind == 1:
        return b"".join(rng.choice([b"a", b"b"]) * rng.randint(1, 20) for _ in range(size))[:size]
    if kind == 2:
        return bytes(rng.choices(b"\x00abc\xff", k=size))
    return any_text(rng, size).encode()


def cut_up(rng: Rng, data: bytes, longest: int) -> list[bytes]:
    """The bytes as pre-tokens of random lengths, none of them empty."""
    pretokens = []
    while data:
        n = rng.choice([1, 2, 3, 5, rng.randint(1, longest)])
        pretokens.append(data[:n])
        data = data[n:]
    return pretokens


def any_pretokens(rng: Rng, size: int) -> Pretokens:
    """Pre-tokens of about `size` bytes in all, with counts, great ones among them."""
    if rng.random() < 0.2:  # long tokens that begin alike, and many ties between them
        stem = rng.randbytes(rng.randint(7, 20))
        tails = [bytes(rng.choices(b"abc", k=rng.randint(1, 5))) for _ in range(size // 10 + 1)]
        return {stem + tail: rng.choice([1, 1, 2]) for tail in tails}
    pretokens = cut_up(rng, any_bytes(rng, size), rng.choice([3, 12, 100]))
    return {pretoken: rng.choice(COUNTS) for pretoken in pretokens}


def any_merges(rng: Rng, data: bytes, n: int) -> Merges:
    """Merges that are in order and spell no token twice, most of them found in `data`."""
    tokens = [bytes([value]) for value in sorted(set(data) | set(b"ab"))]
    known = set(tokens)
    merges: Merges = []
    for _ in range(n):
        pair = (rng.choice(tokens), rng.choice(tokens))
        token = pair[0] + pair[1]
        if token not in known and len(token) < 100 and rng.random() < 0.2 + (token in data):
            merges.append(pair)
            tokens.append(token)
            known.add(token)
    return merges


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


def side_by_side(texts: Sequence[bytes], gap: bytes = b"") -> tuple[np.ndarray, np.ndarray]:
    """Texts in one array with `gap` behind each; text k is data[bounds[2k]:bounds[2k + 1]]."""
    starts = [0, *accumulate(len(text) + len(gap) for text in texts)]
    stops = [start + len(text) for start, text in zip(starts, texts, strict=False)]
    bounds = np.array(list(zip(starts, stops, strict=False)), np.int64).ravel()
    return array(gap.join([*texts, b""])), bounds


def borders_of(pretokens: Sequence[bytes]) -> np.ndarray:
    return np.array([0, *accumulate(map(len, pretokens))], np.int64)


# ------------------------------------------------------------------ UTF-8


def utf8_inputs(rng: Rng, size: int) -> tuple[bytes, int, int]:
    data = any_text(rng, size).encode()
    at = rng.randint(0, len(data))
    if rng.random() < 0.7:  # a byte too many, or some missing
        data = data[:at] + rng.randbytes(rng.randrange(3)) + data[at + rng.randrange(3) :]
    start = rng.choice([0, rng.randint(0, len(data))])
    return data, start, rng.choice([len(data), rng.randint(start, len(data))])


def run_valid_utf8(data: bytes, start: int, stop: int) -> int:
    return int(kernels.valid_utf8(array(data), start, stop))


def plain_valid_utf8(data: bytes, start: int, stop: int) -> int:
    try:
        data[start:stop].decode("utf-8")
    except UnicodeDecodeError as error:
        return start + error.start
    return stop


# ------------------------------------------------------------------ scanning


# Between which two characters a pre-token ends whatever stands further left or right.
CERTAIN = {
    "gpt2": r"(?<=\p{N})(?=\P{N})|(?<=\p{L})(?=\P{L})|(?<=\S)(?=\s)",
    "cl100k": r"(?<=\p{N})(?=\P{N})|(?<=\p{L})(?=\P{L})",
    "o200k": r"(?<=\p{N})(?=\P{N})|(?<=\p{L})(?=[^\p{L}\p{M}'])",
    "whitespace": r"(?<=\S)(?=\s)|(?<=\s)(?=\S)",
}


def last_cut_inputs(rng: Rng, size: int) -> tuple[str, str, str, str]:
    n = size // 3
    return rng.choice(SCANNED), any_text(rng, n), any_text(rng, size - n), any_text(rng, 9)


def run_last_cut(pattern: str, before: str, text: str, behind: str) -> int:
    data = array((before + text + behind).encode())
    start = len(before.encode())
    return int(PreTokenizer(pattern).last_cut(data, start, start + len(text.encode())))


def plain_last_cut(pattern: str, before: str, text: str, behind: str) -> int:
    cuts = [match.start() for match in regex.finditer(CERTAIN[pattern], text)]
    return len((before + text[: cuts[-1] if cuts else 0]).encode())


def scan_inputs(rng: Rng, size: int) -> tuple[str, list[str], str]:
    """A pattern, texts, and what stands between them and might be taken for a part of them."""
    return rng.choice(SCANNED), any_texts(rng, size), rng.choice(["é", "l", "S", " ", "\n", "1"])


def run_scan_segments(pattern: str, texts: list[str], gap: str) -> list[int]:
    """With as little room for ends as a scanner can do with, so that it has to go on often."""
    data, bounds = side_by_side([text.encode() for text in texts], gap.encode())
    scanner = Scanner(PreTokenizer(pattern).scheme)
    room = np.empty(layout.ENDS_ROOM, np.int64)
    ends: list[int] = []
    segment, place = 0, -1
    while segment < len(texts):
        n = scanner.scan(data, bounds, room, np.array([segment, place]))
        ends += room[:n].tolist()
        last = ends[-1] if ends else -1
        while segment < len(texts) and bounds[2 * segment + 1] <= max(last, bounds[2 * segment]):
            segment += 1
        place = last if segment < len(texts) and last > bounds[2 * segment] else -1
    return ends


def plain_scan_segments(pattern: str, texts: list[str], gap: str) -> list[int]:
    ends = []
    at = 0
    for text in texts:
        for pretoken in oracle.cut(PATTERNS[pattern].regex, text):
            at += len(pretoken.encode())
            ends.append(at)
        at += len(gap.encode())
    return ends


# ------------------------------------------------------------------ special tokens


def specials_inputs(rng: Rng, size: int) -> tuple[list[str], list[str]]:
    pool = ["<|x|>", "<|x|><|y|>", "|>", "ж", "é", "a", "aa", "<", ".*", "<|endoftext|>", "中文"]
    tokens = rng.sample(pool, rng.randint(1, 4))
    texts = []
    for text in any_texts(rng, size):
        marks = [rng.choice([*tokens, rng.choice(pool)]) for _ in range(rng.choice([0, 2, 200]))]
        places = sorted(rng.randint(0, len(text)) for _ in marks)
        pieces = [text[a:b] for a, b in pairwise([0, *places, len(text)])]
        mixed = "".join(piece + mark for piece, mark in zip(pieces, [*marks, ""], strict=True))
        texts.append(mixed.encode()[: size + 1].decode("utf-8", "ignore"))
    return tokens, texts


def run_find_specials(tokens: list[str], texts: list[str]) -> tuple[SpecialSplitter, Segments]:
    splitter = SpecialSplitter(tokens)
    return splitter, splitter.segments(*side_by_side([text.encode() for text in texts], b"<"))


def read_segments(result: tuple[SpecialSplitter, Segments]) -> tuple[list[Any], ...]:
    splitter, found = result
    names = [splitter.tokens[token] if token >= 0 else None for token in found.tokens.tolist()]
    return found.bounds.tolist(), names, found.document_ends.tolist()


def plain_find_specials(tokens: list[str], texts: list[str]) -> tuple[list[Any], ...]:
    bounds: list[int] = []
    names: list[str | None] = []
    document_ends = []
    at = 0
    for text in texts:
        start = at
        for piece, is_special in reference.split_special(text, tokens):
            if is_special:
                bounds += [start, at]
                names.append(piece)
                start = at + len(piece.encode())
            at += len(piece.encode())
        bounds += [start, at]
        names.append(None)
        document_ends.append(len(names))
        at += len(b"<")
    return bounds, names, document_ends


# ------------------------------------------------------------------ counting


def run_count_segments(pattern: str, texts: list[str], gap: str) -> list[tuple[bytes, int]]:
    """With few ends at a time, so that more are due again and again."""
    counter = PretokenCounter(PreTokenizer(pattern))
    with mock.patch.object(counting, "SCANNED", 0):
        counter.add_segments(*side_by_side([text.encode() for text in texts], gap.encode()))
    return list(counter.to_dict().items())


def plain_count_segments(pattern: str, texts: list[str], gap: str) -> list[tuple[bytes, int]]:
    pretokens = (
        pretoken for text in texts for pretoken in oracle.cut(PATTERNS[pattern].regex, text)
    )
    return list(Counter(pretoken.encode() for pretoken in pretokens).items())


def weighted_inputs(rng: Rng, size: int) -> tuple[list[bytes], list[int]]:
    """Pre-tokens of up to 60 bytes, many of them more than once, with weights."""
    pretokens = cut_up(rng, any_bytes(rng, size // 2), 60)
    pretokens += rng.choices(pretokens, k=len(pretokens)) if pretokens else []
    return pretokens, [rng.choice(COUNTS) for _ in pretokens]


def run_count_given(pretokens: list[bytes], weights: list[int]) -> list[tuple[bytes, int]]:
    counter = PretokenCounter(PreTokenizer("whole text"))
    counter.add_pretokens(
        array(b"".join(pretokens)), borders_of(pretokens), np.array(weights, np.int64)
    )
    return list(counter.to_dict().items())


def plain_count_given(pretokens: list[bytes], weights: list[int]) -> list[tuple[bytes, int]]:
    counts: dict[bytes, int] = {}
    for pretoken, weight in zip(pretokens, weights, strict=True):
        counts[pretoken] = counts.get(pretoken, 0) + weight
    return list(counts.items())


Counted = tuple[layout.PretokenTable, np.ndarray]


def table_of(pretokens: list[bytes], weights: list[int], rows: int) -> layout.PretokenTable:
    """A table of pre-tokens of so many rows, with the pre-tokens counted in it."""
    table = layout.PretokenTable(
        rows=np.zeros(4 * rows, np.uint64),
        offsets=np.zeros(len(pretokens) + 2, np.int64),
        arena=np.zeros(sum(map(len, pretokens)), np.uint8),
        state=np.zeros(3, np.int64),
    )
    add_to_table(table, pretokens, weights)
    return table


def add_to_table(table: layout.PretokenTable, pretokens: list[bytes], weights: list[int]) -> None:
    weight = np.array(weights, np.int64)
    added = kernels.count_given(array(b"".join(pretokens)), borders_of(pretokens), weight, 0, table)
    assert added == len(pretokens)


def rows_for(pretokens: list[bytes]) -> int:
    """As few rows as a table of the pre-tokens may have, so that many share a place."""
    return 1 << (2 * len(pretokens) + 3).bit_length()


def run_rehash(pretokens: list[bytes], weights: list[int]) -> Counted:
    """Counted in a small table and once more in the larger one that it is moved to."""
    table = table_of(pretokens, weights, rows_for(pretokens))
    larger = np.zeros(2 * table.rows.size, np.uint64)
    kernels.rehash(table.rows, larger)
    table = table._replace(rows=larger)
    add_to_table(table, pretokens, weights)
    return collected(table)


def collected(table: layout.PretokenTable) -> Counted:
    counts = np.zeros(int(table.state[0]), np.int64)
    kernels.collect_counts(table.rows, counts)
    return table, counts


def read_counted(result: Counted) -> list[tuple[bytes, int]]:
    table, counts = result
    spans = pairwise(table.offsets[: counts.size + 1].tolist())
    return [
        (table.arena[start:stop].tobytes(), count)
        for (start, stop), count in zip(spans, counts.tolist(), strict=True)
    ]


def plain_rehash(pretokens: list[bytes], weights: list[int]) -> list[tuple[bytes, int]]:
    return plain_count_given(pretokens + pretokens, weights + weights)


def run_collect_counts(pretokens: list[bytes], weights: list[int]) -> Counted:
    return collected(table_of(pretokens, weights, rows_for(pretokens)))


# ------------------------------------------------------------------ training


def training_inputs(rng: Rng, size: int) -> tuple[Pretokens, int, dict[str, Any]]:
    options = {
        "tie_break": rng.choice(["greatest_bytes", "lowest_ids"]),
        "byte_order": rng.choice(["plain", "gpt2"]),
        "min_pair_count": rng.choice([1, 1, 1, 2, 5]),
        "max_token_bytes": rng.choice([None, None, 1, 2, 3, 9]),
        "top_k": rng.choice([0, 1, 3, 10]),
    }
    return any_pretokens(rng, size), rng.choice([rng.randint(0, 30), 400]), options


def run_train_merges(pretokens: Pretokens, n_merges: int, options: dict[str, Any]) -> TrainingRun:
    """In steps of a few merges, so that the kernel has to go on again and again."""
    run = Trainer(256 + n_merges, **options).start(pretokens)
    for asked in [1, 2, 3, 5, 8, 13]:
        run.advance(asked)
    while not run.done:
        run.advance(n_merges)
    return run


def read_training(run: TrainingRun) -> dict[str, Any]:
    trace = {field.name: getattr(run.trace, field.name) for field in fields(run.trace)}
    return {**{name: plainly(column) for name, column in trace.items()}, "stop": run.stop_reason}


def plain_train_merges(
    pretokens: Pretokens, n_merges: int, options: dict[str, Any]
) -> dict[str, Any]:
    alphabet = reference.byte_alphabet(options["byte_order"])
    others = {name: value for name, value in options.items() if name != "byte_order"}
    training = incremental.train(pretokens, n_merges, alphabet=alphabet, **others)
    columns = oracle.reference_columns(training, options["top_k"])
    return {
        **{name: plainly(column) for name, column in columns.items()},
        "initial_tokens": training.initial_tokens,
        "corpus_bytes": training.initial_tokens,
        "stop": training.stop_reason,
    }


UNSET = -9  # what an array holds where the kernel must not write


@dataclass
class LaidOut:
    """The arrays that `lay_out` fills, and what it was given."""

    offsets: np.ndarray
    counts: np.ndarray
    raw: np.ndarray
    cells: np.ndarray
    pairs: np.ndarray
    sizes: np.ndarray
    facts: np.ndarray


def run_lay_out(pretokens: Pretokens, byte_order: str) -> LaidOut:
    arena = array(b"".join(pretokens))
    id_of_byte = np.array([BYTE_ORDERS[byte_order].index(value) for value in range(256)], np.uint8)
    n_cells = arena.size + len(pretokens) + 2
    laid = LaidOut(
        offsets=borders_of(list(pretokens)),
        counts=np.array(list(pretokens.values()), np.int64),
        raw=np.zeros(n_cells, np.uint8),
        cells=np.full(2 * n_cells, UNSET, np.int32),
        pairs=np.zeros(65536, np.int64),
        sizes=np.zeros(65536, np.int64),
        facts=np.zeros(3, np.int64),
    )
    kernels.lay_out(
        arena, laid.offsets, laid.counts, len(pretokens), id_of_byte,
        laid.raw, laid.cells, laid.pairs, laid.sizes, laid.facts,
    )  # fmt: skip
    return laid


def pretokens_inputs(rng: Rng, size: int) -> tuple[Pretokens, str]:
    return any_pretokens(rng, size), rng.choice(["plain", "gpt2"])


def read_laid_out(laid: LaidOut) -> dict[str, Any]:
    seen = np.flatnonzero(laid.sizes).tolist()
    return {
        "facts": laid.facts.tolist(),
        "raw": laid.raw.tolist(),
        "cells": laid.cells.reshape(-1, 2).tolist(),
        "pairs": {k: (int(laid.pairs[k]), int(laid.sizes[k])) for k in seen},
        "others": int(np.delete(laid.pairs, seen).sum()),
    }


EDGE = NONE = -1


def plain_lay_out(pretokens: Pretokens, byte_order: str) -> dict[str, Any]:
    order = BYTE_ORDERS[byte_order]
    raw, cells = [0], [[EDGE, NONE]]
    counts: Counter[int] = Counter()
    places: Counter[int] = Counter()
    long = {pretoken: count for pretoken, count in pretokens.items() if len(pretoken) > 1}
    for pretoken, count in long.items():
        tokens = [order.index(value) for value in pretoken]
        raw += [*pretoken, 0]
        cells += [*([token, UNSET] for token in tokens), [EDGE, NONE]]
        for left, right in pairwise(tokens):
            counts[256 * left + right] += count
            places[256 * left + right] += 1
    n_cells = sum(map(len, pretokens)) + len(pretokens) + 2
    return {
        "facts": [
            len(cells),
            sum(len(pretoken) * count for pretoken, count in pretokens.items()),
            sum(len(pretoken) - 1 for pretoken in long),
        ],
        "raw": raw + [0] * (n_cells - len(raw)),
        "cells": cells + [[UNSET, UNSET]] * (n_cells - len(cells)),
        "pairs": {k: (counts[k], places[k]) for k in sorted(places)},
        "others": 0,
    }


@dataclass
class Placed:
    """The arrays that `place_byte_pairs` fills."""

    laid: LaidOut
    records: layout.Records
    histogram: np.ndarray
    token_place: np.ndarray


def run_place_byte_pairs(pretokens: Pretokens, byte_order: str) -> Placed:
    laid = run_lay_out(pretokens, byte_order)
    wide = np.zeros(4 * np.count_nonzero(laid.sizes), np.int64)
    places = np.full(2 * laid.sizes.sum(), UNSET, np.int32)
    placed = Placed(
        laid=laid,
        records=layout.Records(wide, wide.view(np.int32), places),
        histogram=np.zeros(layout.HISTOGRAM_SIZE, np.int32),
        token_place=np.full(256, -1, np.int64),
    )
    kernels.place_byte_pairs(
        laid.offsets, laid.counts, len(pretokens), laid.pairs, laid.sizes, laid.cells,
        placed.records, placed.histogram, placed.token_place, np.empty(65536, np.int32),
    )  # fmt: skip
    return placed


def read_placed(placed: Placed) -> dict[str, Any]:
    n_cells = int(placed.laid.facts[0])
    seen = np.flatnonzero(placed.histogram).tolist()
    return {
        "cells": placed.laid.cells.reshape(-1, 2)[:n_cells].tolist(),
        "counts and starts": placed.records.wide.reshape(-1, 4)[:, :2].tolist(),
        "left, right, size, stamp": placed.records.narrow.reshape(-1, 8)[:, 4:].tolist(),
        "places": placed.records.places.reshape(-1, 2).tolist(),
        "histogram": {count: int(placed.histogram[count]) for count in seen},
        "token_place": placed.token_place.tolist(),
    }


def plain_place_byte_pairs(pretokens: Pretokens, byte_order: str) -> dict[str, Any]:
    laid = plain_lay_out(pretokens, byte_order)
    cells = laid["cells"][: laid["facts"][0]]
    tags = []  # of each cell, the weight of its pre-token, or which one it is
    for w, (pretoken, count) in enumerate(pretokens.items()):
        if len(pretoken) > 1:
            tags += [count if count < 2**31 else -1 - w] * (len(pretoken) + 1)
    numbers = {k: number for number, k in enumerate(laid["pairs"])}
    places: dict[int, list[list[int]]] = {number: [] for number in numbers.values()}
    token_place = [-1] * 256
    for p, ((left, _), (right, _)) in enumerate(pairwise(cells)):
        if left != EDGE and right != EDGE:
            number = numbers[256 * left + right]
            places[number].append([p, tags[p - 1]])
            cells[p] = [left, number]
        elif left != EDGE:
            cells[p] = [left, NONE]
        if left != EDGE and token_place[left] < 0:
            token_place[left] = p
    counts = [count for count, _ in laid["pairs"].values()]
    sizes = [size for _, size in laid["pairs"].values()]
    return {
        "cells": cells,
        "counts and starts": [
            list(row) for row in zip(counts, accumulate([0, *sizes]), strict=False)
        ],
        "left, right, size, stamp": [
            [k // 256, k % 256, size, -1] for k, size in zip(numbers, sizes, strict=True)
        ],
        "places": [place for number in places for place in places[number]],
        "histogram": dict(sorted(Counter(n for n in counts if n < layout.HISTOGRAM_SIZE).items())),
        "token_place": token_place,
    }


# ------------------------------------------------------------------ merging


def pairs_inputs(rng: Rng, size: int) -> tuple[list[tuple[int, int]]]:
    """Pairs of tokens, some of them twice, of bytes and of others."""
    most = rng.choice([300, 1 << 20])
    pairs = [(rng.randrange(most), rng.randrange(256)) for _ in range(size // 4 + 1)]
    return ([*pairs, *rng.choices(pairs, k=size // 8)],)


def run_fill_ranks(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    left, right = np.array(pairs, np.int32).T.copy()
    table = np.full(2 << (2 * len(pairs) + 15).bit_length(), -1, np.int64)
    byte_ranks = np.full(65536, layout.NEVER, np.int32)
    kernels.fill_ranks(left, right, table, byte_ranks)
    return table, byte_ranks


def read_ranks(result: tuple[np.ndarray, np.ndarray]) -> tuple[Any, ...]:
    """A row has four keys, filled in order, and their four ranks; see kernels/merge.py."""
    table, byte_ranks = result
    rows = table.reshape(-1, 2, 4)
    ranks = {}
    for keys, values in rows[rows[:, 0, 0] >= 0].tolist():
        for key, rank in zip(keys, values, strict=True):
            if key >= 0:
                ranks[key >> 32, key & 0xFFFFFFFF] = rank
    in_order = bool((np.diff((rows[:, 0] >= 0).astype(int), axis=1) <= 0).all())
    of_bytes = np.flatnonzero(byte_ranks != layout.NEVER).tolist()
    return in_order, ranks, {(k // 256, k % 256): int(byte_ranks[k]) for k in of_bytes}


def plain_fill_ranks(pairs: list[tuple[int, int]]) -> tuple[Any, ...]:
    ranks: dict[tuple[int, int], int] = {}
    for rank, pair in enumerate(pairs):
        ranks.setdefault(pair, rank)
    return True, ranks, {pair: rank for pair, rank in ranks.items() if max(pair) < 256}


def ranked_tokens_inputs(rng: Rng, size: int) -> tuple[list[bytes]]:
    """All bytes and other tokens, in any order: some are never reached."""
    data = any_bytes(rng, size)
    joined = [left + right for left, right in any_merges(rng, data, size // 3)]
    others = {*joined, *(pretoken for pretoken in cut_up(rng, data, 40) if len(pretoken) > 1)}
    tokens = [*(bytes([value]) for value in range(256)), *sorted(others)]
    rng.shuffle(tokens)
    return (tokens,)


def run_find_parents(tokens: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    table = np.zeros(1 << (2 * len(tokens)).bit_length(), np.int64)
    at, joined = np.empty((2, max(map(len, tokens)) + 2), np.int64)
    left, right = np.full((2, len(tokens)), UNSET, np.int32)
    kernels.find_parents(
        array(b"".join(tokens)), borders_of(tokens), table, at, joined, left, right
    )
    return left, right


def plain_find_parents(tokens: list[bytes]) -> tuple[list[int], list[int]]:
    ranks = {token: rank for rank, token in enumerate(tokens)}
    parents = [plain_parents(token, ranks) for token in tokens]
    return [left for left, _ in parents], [right for _, right in parents]


def plain_parents(token: bytes, ranks: dict[bytes, int]) -> tuple[int, int]:
    """The last two parts of a token, joined by the lowest rank first; -1 where there are others."""
    parts = reference.symbols(token)
    while len(parts) > 2:
        places = [k for k in range(len(parts) - 1) if parts[k] + parts[k + 1] in ranks]
        if not places:
            return -1, -1
        k = min(places, key=lambda k: ranks[parts[k] + parts[k + 1]])
        parts[k : k + 2] = [parts[k] + parts[k + 1]]
    return (ranks[parts[0]], ranks[parts[1]]) if len(parts) == 2 else (-1, -1)


def model_of(merges: Merges, byte_order: str) -> BPEModel:
    """The model of merges that are in order and spell no token twice."""
    tokens = [bytes([value]) for value in BYTE_ORDERS[byte_order]]
    tokens += [left + right for left, right in merges]
    number = {token: place for place, token in enumerate(tokens)}
    rows = [(number[left], number[right], number[left + right]) for left, right in merges]
    columns = np.array(rows, np.int32).reshape(-1, 3).T
    return BPEModel(MergeTable(BYTE_ORDERS[byte_order], *columns), len(merges))


@dataclass(frozen=True)
class ToMerge:
    """Merges, of which the first `limit` count, and pre-tokens."""

    merges: Merges
    limit: int
    byte_order: str
    pretokens: list[bytes]


def any_to_merge(rng: Rng, data: bytes) -> ToMerge:
    merges = any_merges(rng, data, 20 + len(data) // 3)
    limit = rng.choice([len(merges), rng.randint(0, len(merges))])
    pretokens = cut_up(rng, data, rng.choice([4, 20, 70, 300]))
    return ToMerge(merges, limit, rng.choice(["plain", "gpt2"]), pretokens)


def joins_inputs(rng: Rng, size: int) -> tuple[ToMerge, bytes]:
    return any_to_merge(rng, any_bytes(rng, size)), any_bytes(rng, rng.randrange(4))


def run_join_pretokens(given: ToMerge, before: bytes) -> np.ndarray:
    model = model_of(given.merges, given.byte_order).truncated(given.limit)
    data = array(before + b"".join(given.pretokens))
    joins = np.full(data.size, layout.NEVER, np.int32)
    ends = len(before) + borders_of(given.pretokens)[1:]
    model.join_ranks(data, ends, len(before), joins)
    return joins


def plain_join_pretokens(given: ToMerge, before: bytes) -> list[int]:
    joins = [layout.NEVER] * len(before)
    for pretoken in given.pretokens:
        joins += reference.join_ranks(pretoken, given.merges[: given.limit])
        joins.append(layout.NEVER)
    return joins


def tally_inputs(rng: Rng, size: int) -> tuple[list[list[int]], list[int], int]:
    """The ranks inside some pre-tokens with their weights, and the number of merges."""
    ranks = [rng.choice([layout.NEVER, rng.randrange(20)]) for _ in range(size)]
    pretokens = []
    while ranks:
        n = rng.randint(0, 9)
        pretokens.append(ranks[:n])
        ranks = ranks[n:]
    return pretokens, [rng.choice(COUNTS) for _ in pretokens], rng.randint(0, 25)


def run_tally_joins(pretokens: list[list[int]], weights: list[int], n_merges: int) -> np.ndarray:
    # Behind each pre-token's ranks stands one that does not count.
    joins = np.array([rank for pretoken in pretokens for rank in [*pretoken, 0]], np.int32)
    borders = np.array([0, *accumulate(len(pretoken) + 1 for pretoken in pretokens)], np.int64)
    histogram = np.zeros(n_merges + 1, np.int64)
    kernels.tally_joins(joins, borders, np.array(weights, np.int64), histogram)
    return histogram


def plain_tally_joins(pretokens: list[list[int]], weights: list[int], n_merges: int) -> list[int]:
    histogram = [0] * (n_merges + 1)
    for pretoken, weight in zip(pretokens, weights, strict=True):
        for rank in pretoken:
            histogram[min(rank, n_merges)] += weight
    return histogram


# ------------------------------------------------------------------ encoding


@dataclass(frozen=True)
class ToEncode:
    """Segments of text as their pre-tokens, with the id behind each segment, or -1 for none.

    `pattern` is what cuts them, empty where the ends of the pre-tokens are given; `rows` are those
    of the cache at first.
    """

    segments: list[list[bytes]]
    behind: list[int]
    pattern: str
    rows: int


def encode_inputs(rng: Rng, size: int) -> tuple[ToMerge, ToEncode]:
    pattern = rng.choice(["", *SCANNED])
    if pattern:
        texts = any_texts(rng, size)
        given = any_to_merge(rng, "".join(texts).encode())
        cuts = [oracle.cut(PATTERNS[pattern].regex, text) for text in texts]
        segments = [[pretoken.encode() for pretoken in pretokens] for pretokens in cuts]
    else:
        given = any_to_merge(rng, any_bytes(rng, size // 2))
        pretokens = given.pretokens + rng.choices(given.pretokens or [b"a"], k=len(given.pretokens))
        n = rng.randint(1, 9)
        segments = [pretokens[k : k + n] for k in range(0, len(pretokens) + 1, n)]
    behind = [rng.choice([-1, -1, 7, 70_000]) for _ in segments]
    return given, ToEncode(segments, behind, pattern, rng.choice([2, 4, 64, 1 << 11]))


def ids_of(given: ToMerge) -> dict[bytes, int]:
    """Ids that are no indices: 3 * index + 1."""
    tokens = [bytes([value]) for value in BYTE_ORDERS[given.byte_order]]
    tokens += [left + right for left, right in given.merges]
    return {token: 3 * place + 1 for place, token in enumerate(tokens)}


def run_encode_segments(given: ToMerge, text: ToEncode) -> list[Any]:
    """Encoded twice, the second time with what the cache kept of the first.

    The rooms are small, so that the kernel comes back for more again and again.
    """
    model = model_of(given.merges, given.byte_order).truncated(given.limit)
    ids = np.array(list(ids_of(given).values()), np.uint32)
    data, bounds = side_by_side([b"".join(segment) for segment in text.segments])
    ends = borders_of([pretoken for segment in text.segments for pretoken in segment])[1:]
    specials = np.array(text.behind, np.int64)
    scheme = PreTokenizer(text.pattern).scheme if text.pattern else 0
    rows = text.rows
    with mock.patch.multiple(encoder, FIRST_ROWS=rows, MOST_ROWS=4 * rows, FIRST_IDS=40, SCANNED=0):
        mine = encoder.Encoder(model.ranks, ids)
        return [mine.encode(scheme, data, bounds, specials, ends) for _ in range(2)]


def plain_encode_segments(given: ToMerge, text: ToEncode) -> list[Any]:
    ids = ids_of(given)
    found: list[int] = []
    counts = []
    for segment, special in zip(text.segments, text.behind, strict=True):
        for pretoken in segment:
            found += [
                ids[token] for token in reference.encode(pretoken, given.merges[: given.limit])
            ]
        found += [special] if special >= 0 else []
        counts.append(len(found))
    return [(found, counts)] * 2


def carry_inputs(rng: Rng, size: int) -> tuple[ToMerge]:
    """Few pre-tokens, so that in a cache with many rows none takes the place of another."""
    given = any_to_merge(rng, any_bytes(rng, size))
    return (replace(given, pretokens=given.pretokens[:40]),)


def run_carry_over(given: ToMerge) -> layout.Cache:
    """The pre-tokens are encoded with a cache; a larger one takes them over."""
    model = model_of(given.merges, given.byte_order).truncated(given.limit)
    ids = np.array(list(ids_of(given).values()), np.uint32)
    rows = 1 << min(9 + len(given.pretokens), 14)
    cache = encoder.new_cache(rows)._replace(head=np.array([0, 0, 1 << 40]))
    data, bounds = side_by_side([b"".join(given.pretokens)])
    ends = borders_of(given.pretokens)[1:]
    longest = max(map(len, given.pretokens), default=0)
    code = kernels.encode_segments(
        data, bounds, np.array([-1]), ends, encoder.new_batch(), model.ranks, ids, cache,
        encoder.new_scratch(longest), np.empty(data.size + 1 + layout.ROOM, np.uint32),
        np.empty(1, np.int64), np.array([0, -1, 0, 0, ends.size, 0]),
    )  # fmt: skip
    assert code == layout.Code.DONE
    larger = encoder.new_cache(2 * rows)
    kernels.carry_over(cache, larger)
    larger.head[:2] = cache.head[:2]
    return larger


def read_cache(cache: layout.Cache) -> dict[bytes, list[int]]:
    """The pre-tokens in a cache with their ids; how they stand there is said in kernels/encode.py."""
    contents = {}
    ring, room = cache.ring.tobytes(), cache.ring.size - layout.SLACK
    rows = cache.rows.reshape(-1, 8)
    for row in rows[rows.any(axis=1)]:
        for way in (row[:4], row[4:]):
            key = way[:2].tobytes()  # up to 15 bytes; then their number and that of the ids
            n_bytes, n_ids = key[15] & 15, key[15] >> 4
            if n_ids == 0:
                continue
            if n_ids < 15:  # up to four ids in the way, four more in the other way of the row
                ids = np.concatenate([way[2:].view(np.uint32), row[6:].view(np.uint32)])
                contents[key[:n_bytes]] = ids[:n_ids].tolist()
                continue
            place, n_ids = int(way[2]) & (room - 1), int(way[3])
            n_bytes = n_bytes or int(way[1]) & (1 << 56) - 1
            behind = place + (n_bytes + 7) // 8 * 8
            ids = np.frombuffer(ring[behind : behind + 4 * n_ids], np.uint32)
            contents[ring[place : place + n_bytes]] = ids.tolist()
    return contents


def plain_carry_over(given: ToMerge) -> dict[bytes, list[int]]:
    ids = ids_of(given)
    return {
        pretoken: [ids[token] for token in reference.encode(pretoken, given.merges[: given.limit])]
        for pretoken in given.pretokens
        if len(pretoken) <= layout.LONGEST_KEY
    }


# ------------------------------------------------------------------ the table

# fmt: off
TWINS = [
    Twin("valid_utf8", run_valid_utf8, plain_valid_utf8, utf8_inputs),
    Twin("last_cut", run_last_cut, plain_last_cut, last_cut_inputs),
    Twin("scan_segments", run_scan_segments, plain_scan_segments, scan_inputs, n_inputs=20),
    Twin("find_specials", run_find_specials, plain_find_specials, specials_inputs, read_segments),
    Twin("count_segments", run_count_segments, plain_count_segments, scan_inputs),
    Twin("count_given", run_count_given, plain_count_given, weighted_inputs),
    Twin("rehash", run_rehash, plain_rehash, weighted_inputs, read_counted),
    Twin("collect_counts", run_collect_counts, plain_count_given, weighted_inputs, read_counted),
    Twin("lay_out", run_lay_out, plain_lay_out, pretokens_inputs, read_laid_out),
    Twin("place_byte_pairs", run_place_byte_pairs, plain_place_byte_pairs, pretokens_inputs, read_placed),
    Twin("train_merges", run_train_merges, plain_train_merges, training_inputs, read_training, n_inputs=3),
    Twin("fill_ranks", run_fill_ranks, plain_fill_ranks, pairs_inputs, read_ranks),
    Twin("find_parents", run_find_parents, plain_find_parents, ranked_tokens_inputs),
    Twin("join_pretokens", run_join_pretokens, plain_join_pretokens, joins_inputs),
    Twin("tally_joins", run_tally_joins, plain_tally_joins, tally_inputs),
    Twin("encode_segments", run_encode_segments, plain_encode_segments, encode_inputs),
    Twin("carry_over", run_carry_over, plain_carry_over, carry_inputs, read_cache),
]
# fmt: on
