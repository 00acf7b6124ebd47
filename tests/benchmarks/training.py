"""Training time beside other trainers: file to tokenizer, counting included.

Ours records its full trace; no peer records any. rustbpe gets the lines of the file, since it
takes an iterator of texts; the others get the file.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from common import best_of, here, table

import bpe_core


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """No messages that a peer writes to the terminal past Python."""
    kept = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        for number in (*kept, nowhere):
            os.close(number)


def ours(path: Path, vocab_size: int) -> None:
    bpe_core.Trainer(vocab_size).train(path)


def rustbpe(path: Path, vocab_size: int) -> None:
    import rustbpe

    pattern = bpe_core.PATTERNS["gpt2"].regex
    with open(path, encoding="utf-8") as lines:
        rustbpe.Tokenizer().train_from_iterator(lines, vocab_size, pattern=pattern)


def gigatoken(path: Path, vocab_size: int) -> None:
    import gigatoken

    gigatoken.train_bpe(path, vocab_size, [])


def tokenizers(path: Path, vocab_size: int) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train([str(path)], trainer)


PEERS: dict[str, Callable[[Path, int], None]] = {
    "rustbpe": rustbpe,
    "gigatoken": gigatoken,
    "tokenizers": tokenizers,
}


def run(paths: list[Path], folder: Path, vocab_size: int, rounds: int) -> None:
    peers = here(PEERS)
    print(f"\nTraining to {vocab_size:,} entries, seconds, best of {rounds}; ratio: ours / peer\n")
    rows = [["corpus", "MB", "ours", *(x for name in peers for x in (name, "ratio"))]]
    for path in paths:
        small = folder / "warm-up.txt"
        small.write_bytes(path.read_bytes()[:20_000].decode("utf-8", "ignore").encode())
        times = []
        for name in ("ours", *peers):
            train = ours if name == "ours" else PEERS[name]
            with silent():
                train(small, 300)
                times.append(best_of(rounds, lambda: train(path, vocab_size)))  # noqa: B023
        cells = [f"{times[0]:.2f}"]
        for seconds in times[1:]:
            cells += [f"{seconds:.2f}", f"{times[0] / seconds:.2f}"]
        rows.append([path.name, f"{path.stat().st_size / 1e6:.1f}", *cells])
    table(rows)
