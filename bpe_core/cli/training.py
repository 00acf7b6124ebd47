"""Training as the commands `train` and `trace` do it: from files, with progress, to be stopped.

Belongs here: from options to a result and a line of numbers. Does not belong here: training itself
(`bpe_core.trainer`).
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from bpe_core.counting import PretokenCounter, count_pretokens
from bpe_core.pretokenize import PreTokenizer
from bpe_core.trainer import Trainer, TrainingResult, TrainingRun

from . import errors, terminal
from .errors import CommandError
from .files import STDIO, size_of_inputs
from .terminal import ProgressLine


def trained(args: argparse.Namespace, top_k: int) -> tuple[TrainingResult, str]:
    """The result of training as the options say, and a line of numbers about it."""
    try:
        trainer = Trainer(
            args.vocab_size, tuple(args.special), args.pattern, args.tie_break, args.byte_order,
            args.min_pair_count, args.max_token_bytes, top_k,
        )  # fmt: skip
    except ValueError as err:
        raise CommandError(errors.of_engine(err), 2) from None
    total = size_of_inputs(args.files)
    with ProgressLine(args.quiet) as progress:
        progress.load_engine()
        start = time.perf_counter()
        counter, replaced = _counted(args, trainer, progress, total)
        run = TrainingRun(trainer, counter, replaced)
        step = 16
        while not run.done:
            # Short enough for Ctrl-C and the progress line, long enough to cost nothing.
            before = time.perf_counter()
            run.advance(step)
            took = time.perf_counter() - before
            step = max(1, step * 2 if took < 0.05 else step // 2 if took > 0.2 else step)
            progress.show("merging", run.n_merges, run.goal, "merges")
    result = run.result()
    reasons = {
        "vocab_size": "vocabulary size reached",
        "no_pairs": "no pair left to merge",
        "min_pair_count": f"no pair occurs {args.min_pair_count} times any more",
    }
    n_bytes, tokens = result.trace.corpus_bytes, result.trace.corpus_tokens
    n_tokens = int(tokens[-1]) if tokens.size else n_bytes
    summary = (
        f"{n_bytes:,} bytes, {len(counter):,} distinct pre-tokens, {run.n_merges:,} merges "
        f"({reasons[result.stop_reason]}), {terminal.ratio(n_bytes, n_tokens)}, "
        f"{time.perf_counter() - start:.1f} s{terminal.replaced(replaced, args.errors)}"
    )
    return result, summary


def _counted(
    args: argparse.Namespace, trainer: Trainer, progress: ProgressLine, total: int | None
) -> tuple[PretokenCounter, int]:
    """Pre-tokens of all files, each a document, and how many bytes were replaced."""
    corpora: list[Any] = [[]]
    for name in args.files:
        if name == STDIO:
            corpora += [getattr(sys.stdin.buffer, "raw", sys.stdin.buffer), []]
        else:
            corpora[-1].append(Path(name))
    pretokenizer = PreTokenizer(trainer.pattern)
    counter, replaced = PretokenCounter(pretokenizer), 0
    before = latest = 0

    def on_progress(done: int) -> None:
        nonlocal latest
        if terminal.stop.is_set():
            raise KeyboardInterrupt
        latest = before + done
        progress.show("counting", latest, total, "MB")

    for corpus in corpora:
        if corpus == []:
            continue
        part, bad = count_pretokens(
            corpus, pretokenizer, trainer.special_tokens, errors=args.errors,
            workers=args.workers, on_progress=on_progress,
        )  # fmt: skip
        before = latest
        replaced += bad
        if len(counter):
            counter.add_pretokens(part.data, part.offsets, part.counts)
            counter.unmatched_bytes += part.unmatched_bytes
        else:
            counter = part
    return counter, replaced
