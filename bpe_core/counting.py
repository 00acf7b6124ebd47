"""Counting distinct pre-tokens: of a stretch of text, or of a whole corpus on several threads.

Belongs here: `PretokenCounter` and `count_pretokens`. Does not belong here: where text comes from
(`corpus.py`), how it is cut (`pretokenize.py`, `special.py`), and counting pairs (`trainer.py`).
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from . import kernels
from .corpus import Progress, Source
from .kernels.layout import BATCH, ENDS_ROOM, Code, PretokenTable
from .pretokenize import SCANNED, PreTokenizer, Scanner
from .special import Segments, SpecialSplitter, check_special_tokens


class PretokenCounter:
    """Counts distinct pre-tokens in a compiled table that grows as it has to.

    >>> counter = PretokenCounter(PreTokenizer("gpt2"))
    >>> counter.add(b"low lower low")
    >>> counter.to_dict()
    {b'low': 1, b' lower': 1, b' low': 1}
    """

    def __init__(self, pretokenizer: PreTokenizer) -> None:
        self.pretokenizer = pretokenizer
        self.unmatched_bytes = 0  # of pre-tokens that the pattern does not match
        self._table = PretokenTable(
            rows=np.zeros(4 << 12, np.uint64),
            offsets=np.zeros((1 << 11) + 1, np.int64),
            arena=np.empty(1 << 15, np.uint8),
            state=np.zeros(3, np.int64),
        )

    def __len__(self) -> int:
        return int(self._table.state[0])

    @property
    def offsets(self) -> np.ndarray:
        """Where each pre-token's bytes begin in `data`, int64[n + 1]."""
        return self._table.offsets[: len(self) + 1]

    @property
    def counts(self) -> np.ndarray:
        """How often each pre-token occurs, int64[n]."""
        counts = np.empty(len(self), np.int64)
        kernels.collect_counts(self._table.rows, counts)
        return counts

    @property
    def data(self) -> np.ndarray:
        """The bytes of all distinct pre-tokens, one after the other, uint8."""
        return self._table.arena[: int(self._table.state[1])]

    @property
    def gaps_note(self) -> str:
        """What the pattern does not match of the text, as a sentence for people; "" for nothing."""
        n = self.unmatched_bytes
        if not n:
            return ""
        of = int(np.dot(np.diff(self.offsets), self.counts))
        what = "anything in the text" if n == of else f"{n:,} of the text's {of:,} bytes"
        return (
            f"the pattern {self.pretokenizer.pattern!r:.200} does not match {what}; "
            "each such stretch is a pre-token of its own"
        )

    def add(self, text: bytes) -> None:
        """Count the pre-tokens of one stretch of text, given as valid UTF-8."""
        data = np.frombuffer(text, np.uint8)
        self.add_segments(data, np.array([0, data.size]))

    def add_segments(self, data: np.ndarray, bounds: np.ndarray) -> None:
        """Count the pre-tokens of data[bounds[2k]:bounds[2k + 1]], texts of their own.

        `data` is uint8 and holds valid UTF-8, `bounds` is int64.
        """
        scheme = self.pretokenizer.scheme
        if scheme:
            scanner = Scanner(scheme)
            ends = np.empty(min(data.size, SCANNED) + ENDS_ROOM, np.int64)
            batch = np.empty(3 * BATCH, np.uint64)
            place = np.array([0, -1, 0, 0])
            code = Code.MORE_ENDS
            while code != Code.DONE:
                if code == Code.MORE_ENDS:
                    place[2:] = 0, scanner.scan(data, bounds, ends, place)
                else:
                    self._grow()
                code = kernels.count_segments(data, bounds, ends, batch, self._table, place)
            return
        for start, stop in zip(bounds[::2].tolist(), bounds[1::2].tolist(), strict=True):
            gaps: list[str] = []
            ends = self.pretokenizer.ends(data, start, stop, gaps)
            self.unmatched_bytes += sum(len(gap.encode()) for gap in gaps)
            self.add_pretokens(data, np.append(start, ends), np.ones(ends.size, np.int64))

    def add_pretokens(self, data: np.ndarray, borders: np.ndarray, weights: np.ndarray) -> None:
        """Add pre-tokens data[borders[i]:borders[i+1]] with int64 weights."""
        done = 0
        while done < weights.size:
            done = kernels.count_given(data, borders, weights, done, self._table)
            if done < weights.size:
                self._grow()

    def to_dict(self) -> dict[bytes, int]:
        """The counts as a plain mapping, in order of first appearance."""
        raw = self.data.tobytes()
        bounds = self.offsets.tolist()
        return {
            raw[a:b]: n for a, b, n in zip(bounds, bounds[1:], self.counts.tolist(), strict=False)
        }

    def _grow(self) -> None:
        """Make room for the pre-token that a kernel found none for."""
        rows, offsets, arena, state = self._table
        n, used, needed = state.tolist()
        if n + 1 >= offsets.size:
            offsets = grown(offsets, 2 * offsets.size)
        if 8 * (n + 1) > rows.size:
            rows = np.zeros(4 * rows.size, np.uint64)
            kernels.rehash(self._table.rows, rows)
        if used + needed > arena.size:
            arena = grown(arena, max(2 * arena.size, used + needed))
        self._table = PretokenTable(rows, offsets, arena, state)


def grown(array: np.ndarray, size: int) -> np.ndarray:
    """A copy with room for `size` items; the new ones are not set."""
    larger = np.empty(size, array.dtype)
    larger[: array.size] = array
    return larger


def count_pretokens(
    corpus: Any,
    pretokenizer: PreTokenizer,
    special_tokens: Iterable[str] = (),
    *,
    errors: str = "replace",
    workers: int | None = None,
    on_progress: Progress | None = None,
) -> tuple[PretokenCounter, int]:
    """Count the distinct pre-tokens of a corpus; return them and the number of bytes replaced.

    Special tokens are borders and are not counted. `workers` threads split the work (default:
    one a processor); a sum does not depend on its split, so neither does the result.

    >>> counter, _ = count_pretokens("low low<|x|>low", PreTokenizer(), ["<|x|>"])
    >>> counter.to_dict()
    {b'low': 2, b' low': 1}
    """
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise ValueError(f"workers must be a whole number from 1 on, not {workers!r}")
    total = PretokenCounter(pretokenizer)
    if isinstance(corpus, Mapping):
        _add_mapping(total, corpus)
        return total, 0
    source = Source(corpus, errors)
    splitter = SpecialSplitter(check_special_tokens(special_tokens))
    parts = _reported(source, splitter, pretokenizer, on_progress)
    if workers is None:
        workers = os.cpu_count() or 1
    first = list(itertools.islice(parts, workers))
    if workers == 1 or len(first) < 2:
        for part in itertools.chain(first, parts):
            total.add_segments(part.data, part.bounds)
        return total, source.replaced_bytes

    lock = threading.Lock()
    ready = iter(first)

    def work() -> PretokenCounter:
        counter = PretokenCounter(pretokenizer)
        while True:
            with lock:
                part = next(ready, None) or next(parts, None)
            if part is None:
                return counter
            counter.add_segments(part.data, part.bounds)

    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work) for _ in range(workers)]:
            counter = done.result()
            total.add_pretokens(counter.data, counter.offsets, counter.counts)
            total.unmatched_bytes += counter.unmatched_bytes
    return total, source.replaced_bytes


def _reported(
    source: Source,
    splitter: SpecialSplitter,
    pretokenizer: PreTokenizer,
    on_progress: Progress | None,
) -> Iterator[Segments]:
    """The text between special tokens, block by block; tells how much was read."""
    done = 0
    for document in source.documents():
        for segments in splitter.stream(document, pretokenizer, source.block):
            if segments.bounds.size:
                yield segments
            if on_progress:
                done += segments.covered
                on_progress(done)


def _add_mapping(total: PretokenCounter, counts: Mapping[Any, Any]) -> None:
    for word, count in counts.items():
        if not isinstance(word, bytes) or not word:
            raise TypeError(f"pre-tokens must be bytes and not empty, not {word!r}")
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
            raise ValueError(f"the count of {word!r} must be a whole number from 0 on")
    kept = {word: int(count) for word, count in counts.items() if count}
    if sum(len(word) * count for word, count in kept.items()) >= 2**63:
        raise ValueError("the counts add up to 2**63 bytes of text or more")
    data = np.frombuffer(b"".join(kept), np.uint8)
    borders = np.cumsum([0, *map(len, kept)], dtype=np.int64)
    total.add_pretokens(data, borders, np.array(list(kept.values()), np.int64))
