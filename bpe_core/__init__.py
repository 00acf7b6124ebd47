"""A byte-level BPE engine: training with a full trace, encoding, decoding, files.

Reading order, in two rings. The spine: `reference` (the definition, in plain Python),
`incremental` (the same with counts that are kept up to date), `patterns` and `pretokenize` (cutting
text), `trainer` (settings, a run, its result), `model` (the merges as values), `tokenizer` (text to
ids and back). It stands on `text` (UTF-8 in and out), `special` (special tokens: where they stand
and what happens to them), `corpus` (where text comes from), `counting` (distinct pre-tokens),
`merge_trace` (the columns of a training) and `encoder` (the encode kernels at work). Why one encode
holds every vocabulary size: docs/join_ranks.md.

When you need it: `batches` (many texts at once), `building` (tokenizers of vocabularies that others
made), `preparation` (what only imported tokenizers do to a text), `formats` (files), `analysis`
(curves, measures, vocabularies, lineage), `known` (well-known tokenizers by name), `cli` (the
command line) and `kernels` (the compiled loops, each pinned to its plain twin by the tests).

>>> result = Trainer(vocab_size=259).train("low low lower")
>>> result.tokenizer.merges
[(b'o', b'w'), (b'l', b'ow'), (b' ', b'low')]
>>> result.tokenizer.encode("lowlow")
[257, 257]

Nothing is compiled on import, and `formats`, `known` and `analysis` are loaded when they are
first named. A kernel is compiled when it is first needed, once a machine, and loaded from numba's
cache afterwards; `warm_up` does that ahead of time for all of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import kernels
from .model import NEVER, BPEModel, MergeTable
from .patterns import PATTERNS, NamedPattern
from .pretokenize import PreTokenizer, character_classes
from .text import DecodedText, DecodeStream, decode_text
from .tokenizer import Token, Tokenizer
from .trainer import MergeTrace, Trainer, TrainingResult, TrainingRun, train_bpe

if TYPE_CHECKING:
    from . import analysis, formats, known, metrics, registry
    from .formats import FormatError

__all__ = [
    "NEVER", "PATTERNS", "BPEModel", "DecodeStream", "DecodedText", "FormatError", "MergeTable",
    "MergeTrace", "NamedPattern", "PreTokenizer", "Token", "Tokenizer", "Trainer", "TrainingResult",
    "TrainingRun", "analysis", "decode_text", "formats", "kernels_ready", "known", "metrics",
    "registry", "train_bpe", "warm_up",
]  # fmt: skip

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in ("analysis", "formats", "known", "metrics", "registry"):
        return importlib.import_module(f".{name}", __name__)
    if name == "FormatError":
        return importlib.import_module(".formats", __name__).FormatError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def kernels_ready() -> bool:
    """Whether the compiled kernels are loaded in this process."""
    return kernels.all_loaded()


def warm_up() -> None:
    """Load the compiled kernels and the character table, compiling where the cache is empty.

    Takes some seconds the first time on a machine; blocks, so call it in a thread.
    """
    kernels.load_all()
    character_classes()
