"""Speed beside other libraries, on the same texts in the same run.

    python tests/benchmarks [training] [encoding] [start] [twins] [scale] [--record] [--rounds N]
                            [FILE ...]

Prints tables in Markdown. Without names: all but `twins`, which compares kernels with plain Python,
and `scale`, which writes a file of two gigabytes.
A peer that is not installed is left out, and that is said. Without FILEs the corpora in
../shared/corpora are taken, and 60 MB of Python code from the standard library and the installed
packages. `--record` keeps what is printed under records/. Nothing here is part of the test suite.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from common import corpora, machine, recorded, versions

PARTS = ("training", "encoding", "start", "twins", "scale")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", nargs="*", help=f"{', '.join(PARTS)}, or files to take as texts")
    parser.add_argument("--vocab-size", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--record", action="store_true", help="keep the figures in records/")
    parser.add_argument("--gigabytes", type=float, default=2.0, help="size of the file for scale")
    options = parser.parse_args()
    parts = [word for word in options.what if word in PARTS] or list(PARTS[:3])
    files = [Path(word) for word in options.what if word not in PARTS]
    missing = [str(path) for path in files if not path.is_file()]
    if missing:
        parser.error(f"{missing[0]} is neither a file nor one of {', '.join(PARTS)}")
    with recorded() if options.record else contextlib.nullcontext():
        measure(parts, files, options)


def measure(parts: list[str], files: list[Path], options: argparse.Namespace) -> None:
    """Run the parts that are asked for and print their tables."""
    print(f"{machine()}  \n{versions()}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        no_texts = set(parts) <= {"start", "twins"}
        texts = files or ([] if no_texts else list(corpora(folder)))
        if "training" in parts:
            import training

            training.run(texts, folder, options.vocab_size, options.rounds)
        if "encoding" in parts:
            import encoding

            encoding.run(texts, folder, options.rounds)
        if "start" in parts:
            import start

            start.run(options.rounds)
        if "twins" in parts:
            import twins

            twins.run(options.rounds)
        if "scale" in parts:
            import scale

            scale.run(texts, folder, options.vocab_size, options.gigabytes)


if __name__ == "__main__":
    main()
