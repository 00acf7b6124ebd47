"""A file of two gigabytes, made of the corpora's paragraphs in random order.

`<|endoftext|>` stands between documents. Memory is the greatest resident set of a process of
its own, less that of one that only imports; the file is read once before, so that no trainer
waits for the disk.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

from common import ROOT, here, table

END = "<|endoftext|>"

TRAIN = """
import resource, sys, time
path, vocab_size = sys.argv[1], int(sys.argv[2])
{imports}
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
t = time.perf_counter()
{train}
seconds = time.perf_counter() - t
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base
print("RESULT", seconds, grown / 1024)
"""
TRAINERS = {
    "ours": (
        "import pathlib, bpe_core; bpe_core.warm_up()",
        'bpe_core.Trainer(vocab_size, ["<|endoftext|>"]).train(pathlib.Path(path))',
    ),
    "gigatoken": (
        "import gigatoken",
        'gigatoken.train_bpe(gigatoken.TextFileSource([path], separator="<|endoftext|>"), '
        'vocab_size, ["<|endoftext|>"])',
    ),
}


def make(paths: list[Path], target: Path, size: int) -> None:
    """Write paragraphs of the corpora, shuffled anew for each round, up to `size` bytes."""
    documents: list[bytes] = []
    for path in paths:
        data = path.read_bytes()
        step = 1 << 14
        cut = [data.rfind(b"\n", 0, i) + 1 for i in range(step, len(data), step)]
        documents += [data[a:b] for a, b in zip([0, *cut], [*cut, len(data)], strict=True)]
    rng = random.Random(0)
    written = 0
    with open(target, "wb") as file:
        while written < size:
            rng.shuffle(documents)
            for document in documents:
                written += file.write(document + END.encode() + b"\n")
                if written >= size:
                    break


def run(paths: list[Path], folder: Path, vocab_size: int, gigabytes: float) -> None:
    target = folder / "large.txt"
    make(paths, target, int(gigabytes * 1e9))
    rows = [["trainer", "MB", "seconds", "MB/s", "memory grown, MB"]]
    for name in ("ours", *here(["gigatoken"])):
        imports, train = TRAINERS[name]
        with open(target, "rb") as file:
            while file.read(1 << 24):
                pass
        done = subprocess.run(
            [sys.executable, "-c", TRAIN.format(imports=imports, train=train),
             str(target), str(vocab_size)],
            env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            rows.append([name, "", "failed: " + done.stderr.strip().splitlines()[-1][:80], "", ""])
            continue
        line = next(x for x in done.stdout.splitlines() if x.startswith("RESULT"))
        seconds, grown = map(float, line.split()[1:])
        size = target.stat().st_size / 1e6
        rows.append(
            [name, f"{size:,.0f}", f"{seconds:.1f}", f"{size / seconds:.0f}", f"{grown:,.0f}"]
        )
    target.unlink()
    print(f"\nTraining to {vocab_size:,} entries on one large file\n")
    table(rows)
