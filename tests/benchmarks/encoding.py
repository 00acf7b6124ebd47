"""Encoding speed beside tiktoken and gigatoken, one thread, the same ids checked.

Each text is given whole, several times over, so every cache is warm. gigatoken encodes by its
bulk call on the calling thread. Then the same text as documents on all processors, and the time
of one call for a short prompt.
"""

from __future__ import annotations

import os
from pathlib import Path
from statistics import median

import numpy as np
from common import best_of, here, table

from bpe_core import Tokenizer, formats, known

ENCODINGS = {"gpt2": "gpt2", "cl100k_base": "cl100k", "o200k_base": "o200k"}
PROMPT = "Explain in two sentences why the sky is blue, and why it turns red when the sun goes down, please."
MOST = 8_000_000  # bytes of each text


def run(paths: list[Path], folder: Path, rounds: int) -> None:
    peers = here(["tiktoken", "gigatoken"])
    print(f"\nEncoding, MB/s on one thread, best of {rounds}; ratio: ours / peer\n")
    rows = [["vocabulary", "text", "ours", *(x for name in peers for x in (name, "ratio"))]]
    more = [["vocabulary", "text as documents", "1 thread", f"{os.cpu_count()} threads", "gain"]]
    prompts = [["vocabulary", "one call for a prompt of 100 characters"]]
    for encoding, scheme in ENCODINGS.items():
        try:
            tokenizer = known.load(encoding).tokenizer
        except known.NotFoundError as error:
            print(error)
            continue
        for path in paths:
            text = path.read_bytes()[:MOST].decode("utf-8", "ignore")
            size = len(text.encode())
            ids = tokenizer.encode_to_array(text, allowed_special=())
            calls = {"ours": lambda: tokenizer.encode_to_array(text, allowed_special=())}  # noqa: B023
            if "tiktoken" in peers:
                import tiktoken

                theirs = tiktoken.get_encoding(encoding)
                calls["tiktoken"] = lambda: theirs.encode_ordinary(text)  # noqa: B023
                assert np.array_equal(ids, np.array(theirs.encode_ordinary(text), np.uint32))
            if "gigatoken" in peers:
                bulk = gigatoken_of(tokenizer, scheme, folder / f"{encoding}.tiktoken")
                calls["gigatoken"] = lambda: bulk.encode_batch([text], parallel=False)  # noqa: B023
                assert np.array_equal(ids, np.asarray(bulk.encode_batch([text], parallel=False)[0]))
            # In turn, since the machine is faster at some times than at others.
            taken: dict[str, list[float]] = {name: [] for name in calls}
            for k in range(rounds + 1):
                for name, call in calls.items():
                    if name != "tiktoken" or k < 2:  # slow enough to be steady
                        taken[name].append(best_of(1, call))
            speeds = [size / 1e6 / min(seconds) for seconds in taken.values()]
            cells = [f"{speeds[0]:.0f}"]
            for speed in speeds[1:]:
                cells += [
                    f"{speed:.1f}" if speed < 30 else f"{speed:.0f}",
                    f"{speeds[0] / speed:.2f}",
                ]
            rows.append([encoding, path.name, *cells])
            if path == paths[0] or path == paths[-1]:
                more.append([encoding, path.name, *threads(tokenizer, text, size, rounds)])
        seconds = best_of(rounds, lambda: [tokenizer.encode(PROMPT) for _ in range(1000)])  # noqa: B023
        prompts.append([encoding, f"{seconds * 1000:.1f} microseconds"])
    table(rows)
    table(more)
    table(prompts)


def gigatoken_of(tokenizer: Tokenizer, scheme: str, path: Path):  # type: ignore[no-untyped-def]
    import gigatoken

    if not path.exists():
        path.write_bytes(formats.dumps_tiktoken(tokenizer))
    return gigatoken.Tokenizer.from_tiktoken(path, pretokenizer=scheme)


def threads(tokenizer: Tokenizer, text: str, size: int, rounds: int) -> list[str]:
    """Medians of calls in turn: one processor is often faster while the other has nothing to do."""
    documents = [text[i : i + 4000] for i in range(0, len(text), 4000)]
    seconds: dict[int, list[float]] = {1: [], os.cpu_count() or 1: []}
    for _ in range(5 * rounds):
        for n, taken in seconds.items():
            call = lambda: tokenizer.encode_batch_to_array(documents, workers=n)  # noqa: B023, E731
            taken.append(best_of(1, call))
    speeds = [size / 1e6 / median(taken) for taken in seconds.values()]
    return [*(f"{speed:.0f}" for speed in speeds), f"{speeds[-1] / speeds[0]:.2f}"]
