"""The merge player: a text cut into tokens at every step of a training, played in the browser.

Belongs here: what the player is sent and what it tells, with a trace and join ranks as compact
columns. Does not belong here: any algorithm (`bpe_core`), the choice of the text window, or where
the player stands on a page (``ui/instruments``). The browser side begins in ``merge_player.js``; it
holds no tokenizer either.

Data in, as ``merge_player`` sends it: the training's ``player_id``; ``text`` and its ``ranks``;
``byte_ids`` and ``special_tokens``; the rows ``merges`` and ``candidates`` from row ``first`` on,
``top_k`` candidates a merge; ``goal``, ``live``, ``stop_reason``, ``tie_break``; a ``step`` to go
to whenever ``step_nonce`` changes; perhaps pre-token ``edges`` and ``held_out`` measures.

Events out: state ``step`` (with its ``player_id``), the merges done where the player came to rest;
trigger ``jump``, sent with it where the visitor chose the step in the log or on the curve; trigger
``resync``, the rows it has, where some before the last ones are missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from bpe_core import MergeTrace
from ui.components.mount import component

_COLUMNS = (
    "left", "right", "new", "pair_count", "merged", "corpus_tokens", "n_pairs", "n_tied",
)  # fmt: skip
# A live message repeats the rows of the messages before it, in case they were lost.
_LIVE_POLLS = 3
_LIVE_OVERLAP = 200  # at least so many rows

_mount = component("merge_player")


@dataclass(frozen=True)
class PlayerState:
    """Where the visitor is: `step` merges are done (None until he first moved in this player).

    `jump` is set for one run after he chose a row of the log or a point of the curve:
    {"step": int, "from": "log" | "curve"}.
    """

    step: int | None
    jump: dict[str, Any] | None


def merge_player(
    key: str,
    *,
    player_id: str,
    text: str,
    join_ranks: np.ndarray,
    byte_ids: np.ndarray | Sequence[int],
    special_tokens: Mapping[str, int],
    trace: MergeTrace,
    goal: int,
    start: int = 0,
    pretokens: Sequence[str] | None = None,
    total_bytes: int | None = None,
    held_out_bytes_per_token: np.ndarray | None = None,
    live: bool = False,
    stop_reason: str | None = None,
    tie_break: str = "greatest_bytes",
    step: int | None = None,
    step_nonce: int | str = 0,
    large: bool = False,
) -> PlayerState:
    """Draw the player, the curve and the merge log for one training.

    player_id: names the training. The same id keeps the visitor's step; another one starts anew.
        Keep one id from the first live call to the complete one.
    text: the window of the text to draw (up to about 8 kB).
    join_ranks: int32[n_bytes - 1] of that window, from `Tokenizer.join_ranks(text)`.
    byte_ids: 256 ids, `Tokenizer.byte_ids`. special_tokens: text -> id.
    trace: all merges so far, or a slice of them that begins after `start` merges.
    goal: merges that were asked for; the length of the axes while `live`.
    pretokens: `Tokenizer.pretokens(text)`, so that hovering a pair highlights no place
        across pre-tokens. Without it only places that some merge joins are highlighted.
    total_bytes: of the whole training text, for the note that says where the drawing is cut.
    held_out_bytes_per_token: float[n_merges + 1], after 0, 1, ... merges; the dashed curve.
    live: training goes on: only the newest rows are sent, and the player follows them.
    step, step_nonce: the step to show first, and a jump to it whenever the nonce changes. A player
        that comes back after a page change is where it was by itself.

    Returns a `PlayerState`. Raises ValueError if join_ranks do not fit the text.

    >>> state = merge_player(
    ...     "merge_player", player_id="abc", text=text, join_ranks=tokenizer.join_ranks(text),
    ...     byte_ids=tokenizer.byte_ids, special_tokens=tokenizer.special_tokens,
    ...     trace=result.trace, goal=tokenizer.n_merges, stop_reason=result.stop_reason,
    ... )  # doctest: +SKIP
    """
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)  # as the engine counts them
    n_bytes = len(text.encode())
    if len(join_ranks) != max(n_bytes - 1, 0):
        raise ValueError(
            f"join_ranks has {len(join_ranks)} entries, but a text of {n_bytes} bytes has "
            f"{max(n_bytes - 1, 0)} boundaries; pass tokenizer.join_ranks(text) of the same text."
        )
    first = _live_start(key, player_id, start, start + len(trace)) if live else start
    data = {
        "player_id": player_id,
        "text": text,
        "total_bytes": n_bytes if total_bytes is None else int(total_bytes),
        "byte_ids": [int(i) for i in byte_ids],
        "special_tokens": {name: int(i) for name, i in special_tokens.items()},
        "initial_tokens": int(trace.initial_tokens),
        "corpus_bytes": int(trace.corpus_bytes),
        "goal": int(goal),
        "first": int(first),
        "top_k": int(trace.cand_left.shape[1]) if trace.cand_left.ndim == 2 else 1,
        "live": bool(live),
        "stop_reason": stop_reason,
        "tie_break": tie_break,
        "step": step,
        "step_nonce": step_nonce,
        "large": bool(large),
        "ranks": pd.DataFrame({"rank": np.ascontiguousarray(join_ranks, dtype=np.int32)}),
        **trace_frames(trace, first - start),
    }
    if pretokens is not None:
        data["edges"] = pd.DataFrame({"byte": pretoken_ends(pretokens)})
    if held_out_bytes_per_token is not None:
        data["held_out"] = pd.DataFrame({"value": np.asarray(held_out_bytes_per_token, np.float32)})
    result = _mount(
        key=key,
        data=data,
        on_step_change=lambda: None,
        on_player_id_change=lambda: None,
        on_jump_change=lambda: None,
        on_resync_change=lambda: _resync(key, player_id),
    )
    return PlayerState(step=_committed(key, player_id), jump=result.jump)


def trace_frames(trace: MergeTrace, first: int = 0) -> dict[str, pd.DataFrame]:
    """Rows first.. of a trace as two frames in the smallest integer types.

    "merges" has one row per merge, "candidates" top_k rows per merge (count 0 where there are
    fewer). 50,000 merges with ten candidates take about 5 MB.
    """
    merges = pd.DataFrame({name: _narrow(getattr(trace, name)[first:]) for name in _COLUMNS})
    counts = np.asarray(trace.cand_count[first:]).reshape(-1)
    absent = counts <= 0
    candidates = pd.DataFrame(
        {
            "left": _narrow(np.where(absent, 0, np.asarray(trace.cand_left[first:]).reshape(-1))),
            "right": _narrow(np.where(absent, 0, np.asarray(trace.cand_right[first:]).reshape(-1))),
            "count": _narrow(np.where(absent, 0, counts)),
        }
    )
    return {"merges": merges, "candidates": candidates}


def pretoken_ends(pretokens: Sequence[str]) -> np.ndarray:
    """Byte offset after each pre-token, int32[n].

    >>> pretoken_ends(["Hé", " you"]).tolist()
    [3, 7]
    """
    sizes = [len(pretoken.encode("utf-8", "replace")) for pretoken in pretokens]
    return np.cumsum(sizes, dtype=np.int32) if sizes else np.zeros(0, np.int32)


def _narrow(values: np.ndarray) -> np.ndarray:
    """The values in the smallest type that JavaScript reads as plain numbers."""
    values = np.asarray(values)
    top = int(values.max()) if values.size else 0
    for dtype in (np.uint8, np.uint16, np.int32):
        if top <= np.iinfo(dtype).max:
            return values.astype(dtype)
    return values.astype(np.float64)


def _committed(key: str, player_id: str) -> int | None:
    state = st.session_state.get(key) or {}
    step = state.get("step")
    return step if isinstance(step, int) and state.get("player_id") == player_id else None


def _live_start(key: str, player_id: str, start: int, n: int) -> int:
    """First row of a live message: the rows of the last few messages come again."""
    name = f"_{key}_sent"
    before_id, sent = st.session_state.get(name, (player_id, []))  # rows known at each message
    if before_id != player_id:
        sent = []
    first = sent[0] if len(sent) == _LIVE_POLLS else start
    st.session_state[name] = (player_id, [*sent, n][-_LIVE_POLLS:])
    return max(start, min(first, n - _LIVE_OVERLAP))


def _resync(key: str, player_id: str) -> None:
    """The browser misses rows: send everything after those it has."""
    known = (st.session_state.get(key) or {}).get("resync")
    if isinstance(known, int):
        st.session_state[f"_{key}_sent"] = (player_id, [known] * _LIVE_POLLS)
