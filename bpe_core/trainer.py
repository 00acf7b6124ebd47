"""Training: settings, and a run that can be advanced, looked at and gone on with.

Belongs here: `Trainer`, `TrainingRun`, `train_bpe`; growing the arrays that the kernel works in.
The loop itself is one compiled kernel (`kernels.train_merges`); the same in plain Python is
`incremental.py`, its definition `reference.py`. Does not belong here: where text comes from
(`corpus.py`, `counting.py`) and what the finished tokenizer does with it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import kernels
from .corpus import Progress, as_corpus, warn_of_path
from .counting import PretokenCounter, count_pretokens, grown
from .kernels import layout
from .kernels.layout import Code
from .merge_trace import MergeTrace as MergeTrace
from .model import BYTE_ORDERS, BPEModel, MergeTable
from .patterns import typed_pattern
from .pretokenize import PreTokenizer
from .special import check_special_tokens
from .tokenizer import Tokenizer

TIE_BREAKS = ("greatest_bytes", "lowest_ids")
_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class TrainingResult:
    """A trained tokenizer, its trace, and why training stopped.

    `stop_reason`: "vocab_size" (reached), "no_pairs" (none left), "min_pair_count" (the best
    count is below it), or "stopped" (the result was asked for earlier).
    """

    tokenizer: Tokenizer
    trace: MergeTrace
    stop_reason: str


@dataclass(frozen=True)
class Trainer:
    """Settings of a training; hashable.

    `vocab_size` counts 256 bytes, the special tokens and the merges. `pattern` is a name of
    `PATTERNS` (or of an encoding or a model that cuts so) or a regular expression.
    `tie_break`: "greatest_bytes" or "lowest_ids".
    `byte_order`: "plain" (byte b has id b) or "gpt2". `max_token_bytes` limits the length of
    a token in bytes. Raises ValueError for settings that make no sense.

    >>> Trainer(258).train("aaabdaaabac").tokenizer.merges
    [(b'a', b'a'), (b'aa', b'a')]
    """

    vocab_size: int
    special_tokens: tuple[str, ...] = ()
    pattern: str = "gpt2"
    tie_break: str = "greatest_bytes"
    byte_order: str = "plain"
    min_pair_count: int = 1
    max_token_bytes: int | None = None
    top_k: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "special_tokens", check_special_tokens(self.special_tokens))
        least = 256 + len(self.special_tokens)
        size = _whole(self.vocab_size)
        if size is None or size < least:
            n = len(self.special_tokens)
            raise ValueError(
                f"vocab_size must be a whole number from {least} on (256 bytes + {n} special "
                f"token{'s' * (n != 1)}), not {self.vocab_size!r}"
            )
        object.__setattr__(self, "vocab_size", size)
        if self.tie_break not in TIE_BREAKS:
            raise ValueError(f"tie_break must be one of {TIE_BREAKS}, not {self.tie_break!r}")
        if self.byte_order not in BYTE_ORDERS:
            raise ValueError(
                f"byte_order must be one of {tuple(BYTE_ORDERS)}, not {self.byte_order!r}"
            )
        for name, low in (("min_pair_count", 1), ("top_k", 0), ("max_token_bytes", 1)):
            value = getattr(self, name)
            if value is None and name == "max_token_bytes":
                continue
            number = _whole(value)
            if number is None or number < low:
                raise ValueError(f"{name} must be a whole number from {low} on, not {value!r}")
            object.__setattr__(self, name, number)
        object.__setattr__(self, "pattern", typed_pattern(self.pattern))
        PreTokenizer(self.pattern)

    @property
    def n_merges(self) -> int:
        """The most merges that this vocabulary size has room for."""
        return self.vocab_size - 256 - len(self.special_tokens)

    def start(
        self,
        corpus: Any,
        *,
        errors: str = "replace",
        workers: int | None = None,
        on_progress: Progress | None = None,
    ) -> TrainingRun:
        """Count the corpus's pre-tokens and return a run that can be advanced.

        A corpus is a str or bytes (the text itself), a path or a list of paths, an open
        file, an iterable of str (documents, with a hard border between them), or a mapping
        from pre-token bytes to count. `errors` says what to do with bytes that are no text:
        "replace", "ignore" or "strict". `on_progress(done)` may raise to stop the reading.

        >>> run = Trainer(1000).start("ab")
        >>> run.advance(10), run.done, run.stop_reason
        (1, True, 'no_pairs')
        """
        warn_of_path(corpus)
        counter, replaced = count_pretokens(
            corpus,
            PreTokenizer(self.pattern),
            self.special_tokens,
            errors=errors,
            workers=workers,
            on_progress=on_progress,
        )
        return TrainingRun(self, counter, replaced)

    def train(
        self,
        corpus: Any,
        *,
        errors: str = "replace",
        workers: int | None = None,
        on_progress: Progress | None = None,
    ) -> TrainingResult:
        """Train to the end; arguments as for `start`.

        >>> Trainer(300).train(["low low", "lower"]).tokenizer.merges[:2]
        [(b'o', b'w'), (b'l', b'ow')]
        """
        run = self.start(corpus, errors=errors, workers=workers, on_progress=on_progress)
        while not run.done:
            run.advance(self.n_merges)
        return run.result()


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        return None
    return int(value)


class TrainingRun:
    """A training that can be advanced by some merges, looked at, gone on with, or left.

    Made by `Trainer.start`. However it is advanced, the merges and the trace are the same. A
    warning says what of the text the pattern does not match.
    """

    def __init__(self, trainer: Trainer, counter: PretokenCounter, replaced_bytes: int) -> None:
        if counter.gaps_note:
            warnings.warn(counter.gaps_note, stacklevel=4)
        self.trainer = trainer
        self.replaced_bytes = replaced_bytes
        self.stop_reason: str | None = None
        self._order = BYTE_ORDERS[trainer.byte_order]
        self._state = np.zeros(layout.STATE_SIZE, np.int64)
        byte_pairs, raw = self._lay_out(counter)
        self._tokens = self._byte_tokens(raw)
        self._make_pairs(counter.offsets, *byte_pairs)
        self._limits = layout.Limits(
            goal=self._goal,
            min_count=trainer.min_pair_count,
            tie=TIE_BREAKS.index(trainer.tie_break),
            max_size=min(trainer.max_token_bytes or _NO_LIMIT, _NO_LIMIT),
        )
        self._trace = _empty_trace(self._goal, trainer.top_k)
        if trainer.n_merges == 0:
            self.stop_reason = "vocab_size"

    # ------------------------------------------------------------------ making the state

    def _lay_out(self, counter: PretokenCounter) -> tuple[np.ndarray, np.ndarray]:
        """Write the pre-tokens into cells; return what byte pairs there are, and the bytes."""
        n_cells = counter.data.size + len(counter) + 2
        if n_cells >= 2**31 - 1:
            raise ValueError(
                f"the distinct pre-tokens have {counter.data.size:,} bytes, over the limit of "
                "2**31; choose a pattern that cuts the text"
            )
        self._weights = counter.counts.copy()
        self._cells = np.empty(2 * n_cells, np.int32)
        raw = np.zeros(n_cells, np.uint8)
        id_of_byte = np.empty(256, np.uint8)
        id_of_byte[np.frombuffer(self._order, np.uint8)] = np.arange(256)
        facts = np.zeros(3, np.int64)
        byte_pairs = np.zeros((2, 65536), np.int64)
        kernels.lay_out(
            counter.data, counter.offsets, self._weights, len(counter), id_of_byte,
            raw, self._cells, *byte_pairs, facts,
        )  # fmt: skip
        self._initial_tokens = int(facts[1])
        # Each merge takes away at least one boundary of a distinct pre-token.
        self._goal = min(self.trainer.n_merges, int(facts[2]))
        if self.trainer.max_token_bytes == 1:
            self._goal = 0
            self.stop_reason = "no_pairs"
        return byte_pairs, raw

    def _byte_tokens(self, raw: np.ndarray) -> layout.Tokens:
        """The 256 bytes, with room for all tokens that merges may make."""
        n = 256 + self._goal
        tokens = layout.Tokens(
            size=np.empty(n, np.int32),
            prefix=np.empty(n, np.uint64),
            place=np.full(n, -1, np.int64),
            raw=raw,
        )
        order = np.frombuffer(self._order, np.uint8).astype(np.uint64)
        tokens.size[:256] = 1
        tokens.prefix[:256] = order << np.uint64(56)
        return tokens

    def _make_pairs(self, offsets: np.ndarray, counts: np.ndarray, sizes: np.ndarray) -> None:
        """Make the records of all byte pairs, and room for what a step writes down."""
        n = int(np.count_nonzero(sizes))
        total = int(sizes.sum())
        room = max(2 * n, 1024)
        self._records = _new_records(
            np.empty(4 * room, np.int64), np.empty(2 * max(2 * total, 16), np.int32)
        )
        self._heap = layout.Heap(np.empty(room, np.int64), np.empty(room, np.int32))
        n_best = 4 * self.trainer.top_k + 48  # `top` is refilled up to half of this
        self._top = layout.Top(
            pairs=np.empty(n_best, np.int32),
            counts=np.empty(n_best, np.int64),
            frontier=np.empty(n_best + 2, np.int32),
        )
        self._tally = layout.Tally(
            histogram=np.zeros(layout.HISTOGRAM_SIZE, np.int32),
            touched=np.empty(room, np.int32),
            before=np.empty(room, np.int64),
        )
        self._found = layout.NewPlaces(
            pair=np.empty(1024, np.int32),
            place=np.empty(2048, np.int32),
            memo=np.full(2 * (256 + self._goal), -1, np.int32),
        )
        kernels.place_byte_pairs(
            offsets, self._weights, self._weights.size, counts, sizes, self._cells,
            self._records, self._tally.histogram, self._tokens.place, np.empty(65536, np.int32),
        )  # fmt: skip
        self._state[layout.N_RECORDS] = n
        self._state[layout.N_PAIRS] = n
        self._state[layout.N_PLACES] = total
        self._state[layout.N_TOKENS] = self._initial_tokens
        self._state[layout.BOUND_COUNT] = _NO_LIMIT  # nothing is known of the best pairs

    # ------------------------------------------------------------------ going on

    @property
    def done(self) -> bool:
        """Whether training came to its end; `stop_reason` then says which."""
        return self.stop_reason is not None

    @property
    def n_merges(self) -> int:
        """Merges done so far."""
        return int(self._state[layout.N_MERGES])

    @property
    def goal(self) -> int:
        """The most merges this run can do: the vocabulary's room or what the text allows."""
        return self._goal

    def advance(self, max_merges: int) -> int:
        """Do up to `max_merges` merges; return how many were done now.

        >>> run = Trainer(300).start("low lower lowest")
        >>> run.advance(2), run.n_merges
        (2, 2)
        """
        before = self.n_merges
        until = min(before + max_merges, self._goal)
        while not self.done:
            code = kernels.train_merges(
                until - self.n_merges, self._limits, self._state, self._cells, self._weights,
                self._tokens, self._records, self._heap, self._top, self._tally, self._found,
                self._trace,
            )  # fmt: skip
            if code == Code.NO_PAIRS:
                self.stop_reason = "no_pairs"
            elif code == Code.BELOW_MINIMUM:
                self.stop_reason = "min_pair_count"
            elif code != Code.DONE:
                self._grow(code)
            elif self.n_merges >= self.trainer.n_merges:
                self.stop_reason = "vocab_size"
            elif self.n_merges >= self._goal:
                self.stop_reason = "no_pairs"
            elif self.n_merges >= until:
                break
        return self.n_merges - before

    def _grow(self, code: int) -> None:
        """Make twice the room of what a step found too little of."""
        if code == Code.GROW_PLACES:
            places = grown(self._records.places, 2 * self._records.places.size)
            self._records = self._records._replace(places=places)
        elif code == Code.GROW_GATHER:
            room = 2 * self._found.pair.size
            self._found = self._found._replace(
                pair=np.empty(room, np.int32), place=np.empty(2 * room, np.int32)
            )
        elif code == Code.GROW_RECORDS:
            wide = grown(self._records.wide, 2 * self._records.wide.size)
            room = wide.size // 4
            self._records = _new_records(wide, self._records.places)
            self._heap = layout.Heap(grown(self._heap.counts, room), grown(self._heap.pairs, room))
            self._tally = self._tally._replace(
                touched=grown(self._tally.touched, room), before=grown(self._tally.before, room)
            )

    # ------------------------------------------------------------------ looking

    @property
    def trace(self) -> MergeTrace:
        """The trace so far, with the tokenizer's ids; a copy that later steps do not change."""
        n = self.n_merges
        shift = len(self.trainer.special_tokens)
        columns: dict[str, Any] = {
            name: column[:n].copy() for name, column in self._trace._asdict().items()
        }
        for name in ("left", "right", "new", "cand_left", "cand_right"):
            # Indices as ids: what comes after the bytes makes room for the special tokens.
            columns[name][columns[name] >= 256] += shift
        return MergeTrace(
            **columns, initial_tokens=self._initial_tokens, corpus_bytes=self._initial_tokens
        )

    def result(self) -> TrainingResult:
        """The tokenizer made of the merges so far, with its trace; the run can still go on."""
        n = self.n_merges
        table = MergeTable(self._order, *(column[:n].copy() for column in self._trace[:3]))
        tokenizer = Tokenizer(
            BPEModel(table, n),
            PreTokenizer(self.trainer.pattern),
            {t: 256 + i for i, t in enumerate(self.trainer.special_tokens)},
        )
        return TrainingResult(tokenizer, self.trace, self.stop_reason or "stopped")


def _new_records(wide: np.ndarray, places: np.ndarray) -> layout.Records:
    return layout.Records(wide, wide.view(np.int32), places)


def _empty_trace(n: int, k: int) -> layout.Trace:
    """Room for n steps with k candidates each."""
    left, right, new = (np.empty(n, np.int32) for _ in range(3))
    pair_count, merged, corpus_tokens, n_pairs, n_tied = (np.empty(n, np.int64) for _ in range(5))
    return layout.Trace(
        left, right, new, pair_count, merged, corpus_tokens, n_pairs, n_tied,
        cand_left=np.full((n, k), -1, np.int32),
        cand_right=np.full((n, k), -1, np.int32),
        cand_count=np.zeros((n, k), np.int64),
    )  # fmt: skip


def train_bpe(
    input_path: str | os.PathLike[str],
    vocab_size: int,
    special_tokens: Iterable[str] = (),
    **options: Any,
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Train on a file; return the vocabulary (id to bytes) and the merges in order.

    Options are those of `Trainer` and of `Trainer.start`. Raises OSError for a file that
    cannot be read and ValueError for settings that make no sense.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "text.txt")
    >>> _ = path.write_text("low low lower", encoding="utf-8")
    >>> train_bpe(path, 258, ["<|endoftext|>"])[1]
    [(b'o', b'w')]
    """
    run_names = ("errors", "workers", "on_progress")
    run_options = {name: options.pop(name) for name in run_names if name in options}
    trainer = Trainer(vocab_size, tuple(special_tokens), **options)
    result = trainer.train(as_corpus(input_path), **run_options)
    return result.tokenizer.vocab, result.tokenizer.merges
