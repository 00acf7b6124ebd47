"""Many texts at once: in parts of about equal size, which threads share.

Belongs here: where parts begin and how results are joined. Does not belong here: encoding itself
(`tokenizer.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .text import utf8

PART_SIZE = 1 << 20, 1 << 17  # characters that a thread is given at once: most, least


def in_parts(
    texts: Sequence[str],
    encode: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
    workers: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Ids of the texts one after the other, and where each text's end, int64.

    `encode(data, documents)` gives that for the texts data[documents[2k]:documents[2k + 1]],
    `data` in UTF-8, uint8; it is called by several threads.

    >>> same = lambda data, documents: (data, documents[1::2])
    >>> ids, ends = in_parts(["ab", "", "c"], same, 2)
    >>> ids.tolist(), ends.tolist()
    ([97, 98, 99], [2, 2, 3])
    """
    # Python turns text into bytes on one thread at a time, while others encode: so each part is
    # turned by the thread that encodes it.
    stops = np.cumsum([0, *map(len, texts)])
    most, least = PART_SIZE
    n_parts = max(stops[-1] // most, min(4 * workers, stops[-1] // least), 1)
    # Border k: the first text that begins beyond k n-ths of all.
    borders = np.searchsorted(stops[:-1], stops[-1] * np.arange(n_parts + 1) // n_parts)
    borders[-1] = len(texts)

    def work(k: int) -> tuple[np.ndarray, np.ndarray]:
        mine = texts[borders[k] : borders[k + 1]]
        try:
            parts = [b"", *map(str.encode, mine)]
        except UnicodeEncodeError:  # surrogates
            parts = [b"", *map(utf8, mine)]
        ends = np.cumsum([len(part) for part in parts])
        data = np.frombuffer(b"".join(parts), np.uint8)
        return encode(data, np.stack([ends[:-1], ends[1:]], axis=1).ravel())

    if min(workers, n_parts) == 1:
        results = list(map(work, range(n_parts)))
    else:
        with ThreadPoolExecutor(min(workers, n_parts)) as pool:
            results = list(pool.map(work, range(n_parts)))
    ids = np.concatenate([ids for ids, _ in results])
    before = np.cumsum([0, *(len(ids) for ids, _ in results[:-1])])
    text_ends = [ends + shift for (_, ends), shift in zip(results, before, strict=True)]
    return ids, np.concatenate(text_ends)
