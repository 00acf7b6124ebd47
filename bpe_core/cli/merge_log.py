"""The merge log: every merge of a training as a row, in CSV or Parquet.

Belongs here: its columns, and writing them. Does not belong here: the trace itself
(`bpe_core.trainer`).
"""

from __future__ import annotations

import io
import itertools
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bpe_core.analysis.curves import bytes_per_token
from bpe_core.tables import csv_text
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import MergeTrace

from .errors import CommandError
from .files import STDIO, OutputFile
from .tokenizers import shown


def columns_of(trace: MergeTrace, tokenizer: Tokenizer) -> dict[str, Any]:
    """The columns of a merge log: ids, bytes in hex and as text, counts, candidates."""
    recorded = trace.to_columns()
    columns: dict[str, Any] = {"rank": np.arange(len(trace))}
    for side in ("left", "right", "new"):
        ids = recorded.pop(side)
        tokens = [tokenizer.vocab[i] for i in ids.tolist()]
        columns[f"{side}_id"] = ids
        columns[f"{side}_hex"] = [token.hex() for token in tokens]
        columns[f"{side}_text"] = [shown(token) for token in tokens]
    candidates = {name: recorded.pop(name) for name in list(recorded) if name[:5] == "cand_"}
    columns |= recorded
    columns["bytes_per_token"] = bytes_per_token(trace.corpus_bytes, trace.corpus_tokens)
    return columns | candidates


def kind_of_log(name: str) -> Literal["csv", "parquet"]:
    """The form of a merge log by its name; CommandError where it cannot be written."""
    suffix = Path(name).suffix.lower()
    if name == STDIO or suffix == ".csv":
        return "csv"
    if suffix != ".parquet":
        raise CommandError(f"{name}: a merge log's name must end in .csv or .parquet", 2)
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise CommandError(
            f"{name}: Parquet needs the package pyarrow; install it or write a .csv file"
        ) from None
    return "parquet"


def write_log(file: OutputFile, kind: str, columns: dict[str, Any]) -> None:
    """Write a merge log; in CSV (UTF-8) texts stand in quotes and numbers do not."""
    if kind == "parquet":
        import pyarrow
        import pyarrow.parquet

        packed = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table(columns), packed)
        file.write(packed.getvalue())
        return
    rows = zip(*(c if isinstance(c, list) else c.tolist() for c in columns.values()), strict=True)
    table = itertools.chain([columns], rows)
    while some := list(itertools.islice(table, 4096)):
        file.write(csv_text(some, quote_texts=True).encode("utf-8"))
