"""The compiled loops of the engine: arrays in, arrays out.

Each job has its files; the last column says who calls them.

| file | job | called by |
| --- | --- | --- |
| `utf8` | how far bytes are valid UTF-8; the class of a character | `text` |
| `next_end`, `scan` | where pre-tokens end: one at a time, and 64 bytes at a time | `pretokenize` |
| `specials` | where special tokens stand | `special` |
| `count` | how often each distinct pre-token occurs | `counting` |
| `train` | the merges, with their trace | `trainer` |
| `merge` | the merges inside a pre-token, the ranks that erased its boundaries | `model` |
| `encode` | text to ids, by a cache of pre-tokens and by merging | `encoder` |

Beside them: `layout` (what callers and kernels both name; no numba), `machine` (single machine
instructions, each with its plain meaning), `keys` (keys and hashes of pre-tokens), `compiling` (how
all of it is compiled and cached), and TRIED.md (what was tried, with figures).

A kernel holds no settings and no policy, raises nothing and allocates nothing. Where it needs more
room it returns a code (`layout.Code`), Python makes the array larger and calls again, which is also
what makes training resumable. Inside the engine a token is an index (bytes 0..255 in byte order,
then one index for each new token in merge order); the ids that users see are mapped on at the edge.

Kernels are taken from here by name, `kernels.scan_segments(...)`: numba is imported with the first
one that is used. With the environment variable NUMBA_DISABLE_JIT=1 all of them run as plain
Python, to be stepped through: break at a line (in pdb, `b bpe_core/kernels/train.py:LINE`), since
under a kernel's name stands what loads it.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

_KERNELS_OF_FILE = {
    "utf8": ("valid_utf8",),
    "scan": ("last_cut", "scan_segments"),
    "specials": ("find_specials",),
    "count": ("count_segments", "count_given", "rehash", "collect_counts"),
    "train": ("lay_out", "place_byte_pairs", "train_merges"),
    "merge": ("fill_ranks", "find_parents", "join_pretokens", "tally_joins"),
    "encode": ("encode_segments", "carry_over"),
}
_FILE_OF_KERNEL = {name: file for file, names in _KERNELS_OF_FILE.items() for name in names}

KERNELS = tuple(_FILE_OF_KERNEL)


def __getattr__(name: str) -> Any:
    """A kernel by its name; once it is loaded it stands in this module itself."""
    if name in _FILE_OF_KERNEL:
        return getattr(importlib.import_module(f".{_FILE_OF_KERNEL[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_all() -> None:
    """Load every kernel, compiling where numba's cache has it not."""
    for file in _KERNELS_OF_FILE:
        importlib.import_module(f".{file}", __name__)
    importlib.import_module(".compiling", __name__).load_all()


def all_loaded() -> bool:
    """Whether every kernel is loaded; asks nothing of numba where none is."""
    compiling = sys.modules.get(f"{__name__}.compiling")
    # While another thread imports it, it is there and not complete.
    loaded: frozenset[str] = getattr(compiling, "loaded_kernels", frozenset)()
    return loaded >= set(KERNELS)
