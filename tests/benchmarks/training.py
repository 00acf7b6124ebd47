"""Training time beside other trainers, on the same file in the same run.

    python tests/benchmarks/training.py [--vocab-size N] [--rounds N] [FILE ...]

Prints seconds (best of the rounds) from file to tokenizer, counting included, and the ratio
to each peer. All are warmed up first. Ours records its full trace; no peer records any. A
peer that is not installed is left out, and that is said. Without FILEs the corpora in
../shared/corpora are taken.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import bpe_core  # noqa: E402

PATTERN = bpe_core.PATTERNS["gpt2"].regex


def ours(path: Path, vocab_size: int) -> None:
    bpe_core.Trainer(vocab_size).train(path)


def rustbpe(path: Path, vocab_size: int) -> None:
    import rustbpe

    with open(path, encoding="utf-8") as lines:
        rustbpe.Tokenizer().train_from_iterator(lines, vocab_size, pattern=PATTERN)


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


PEERS: dict[str, Callable[[Path, int], None]] = {"rustbpe": rustbpe, "tokenizers": tokenizers}


def best_of(rounds: int, run: Callable[[], None]) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def unpacked(path: Path, folder: Path) -> Path:
    if path.suffix != ".gz":
        return path
    target = folder / path.stem
    target.write_bytes(gzip.decompress(path.read_bytes()))
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--vocab-size", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    files = options.files or sorted((ROOT.parent / "shared" / "corpora").glob("*.gz"))
    if not files:
        parser.error("no corpora found beside the repository; name text files to train on")
    here = [name for name in PEERS if importlib.util.find_spec(name)]
    for name in PEERS.keys() - set(here):
        print(f"{name} is not installed, left out")
    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    print(f"{'corpus':<24}{'MB':>7}{'ours':>9}", *(f"{n:>12}{'ratio':>8}" for n in here), sep="")
    with tempfile.TemporaryDirectory() as folder:
        for packed in files:
            path = unpacked(packed, Path(folder))
            small = Path(folder) / "warm-up.txt"
            small.write_bytes(path.read_bytes()[:20_000])
            row = []
            for name in ("ours", *here):
                run = ours if name == "ours" else PEERS[name]
                run(small, 300)
                row.append(best_of(options.rounds, lambda: run(path, options.vocab_size)))  # noqa: B023
            cells = [f"{t:>12.2f}{row[0] / t:>8.2f}" for t in row[1:]]
            print(f"{path.name:<24}{path.stat().st_size / 1e6:>7.1f}{row[0]:>9.2f}", *cells, sep="")


if __name__ == "__main__":
    main()
