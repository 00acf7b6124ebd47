"""What a visitor can take along from a training: the merge log as a table, the tokenizer.

Belongs here: building the table, and the row of buttons. Nothing is built before its button is
pressed, and pressing it leaves the page as it is. The tokenizer's files are
``ui/tokenizers/export_dialog.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.analysis.curves import bytes_per_token
from bpe_core.tables import csv_text
from ui.session import keys
from ui.session.state import Trained
from ui.tokenizers import export_dialog


def merge_log(trained: Trained) -> pd.DataFrame:
    """The merges of a training, one row per merge, ranks from 0.

    Bytes are given twice: as hexadecimal digits, exactly, and as text, in which a byte that is no
    UTF-8 stands as ``\\xNN``.
    """
    trace, tokenizer = trained.trace, trained.tokenizer
    if trace is None:
        raise ValueError(f"{trained.name} was not trained here, so it has no merge log.")
    table = pd.DataFrame({"rank": range(len(trace))})
    for side in ("left", "right", "new"):
        ids = getattr(trace, side)
        spelled = [tokenizer.token_bytes(int(i)) for i in ids]
        table[f"{side}_id"] = ids
        table[f"{side}_hex"] = [b.hex() for b in spelled]
        table[f"{side}_text"] = [b.decode("utf-8", "backslashreplace") for b in spelled]
    for column in ("pair_count", "merged", "corpus_tokens", "n_pairs", "n_tied"):
        table[column] = getattr(trace, column)
    table["bytes_per_token"] = bytes_per_token(trace.corpus_bytes, trace.corpus_tokens)
    return table


def as_csv(trained: Trained) -> bytes:
    """The merge log as CSV, UTF-8."""
    table = merge_log(trained)
    rows = table.itertuples(index=False, name=None)
    return csv_text([table.columns, *rows]).encode("utf-8")


def as_parquet(trained: Trained) -> bytes:
    """The merge log as Parquet."""
    written: bytes = merge_log(trained).to_parquet(index=False)
    return written


def as_json(trained: Trained) -> bytes:
    """The merge log as a JSON list with one object per merge."""
    rows = merge_log(trained).to_dict(orient="records")
    return json.dumps(rows, ensure_ascii=False, indent=1).encode("utf-8")


def row(trained: Trained) -> None:
    """Draw the buttons."""
    n = trained.tokenizer.vocab_size
    with st.container(horizontal=True, gap="medium", key=keys.DOWNLOADS):
        if trained.trace is not None:
            with _group("Merge log"):
                _button("CSV", as_csv, trained, f"merges-{n}.csv", "text/csv")
                _button("Parquet", as_parquet, trained, f"merges-{n}.parquet", _BINARY)
                _button("JSON", as_json, trained, f"merges-{n}.json", "application/json")
        with _group("Tokenizer"):
            export_dialog.button(trained, trained.tokenizer.n_merges)


def _group(label: str) -> DeltaGenerator:
    group = st.container(horizontal=True, vertical_alignment="center", width="content")
    group.caption(label, width="content")
    return group


_BINARY = "application/octet-stream"


def _button(
    label: str,
    build: Callable[[Trained], bytes],
    trained: Trained,
    file_name: str,
    mime: str,
) -> None:
    st.download_button(
        label,
        lambda: build(trained),
        file_name=file_name,
        mime=mime,
        key=keys.download(build.__name__),
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
    )
