"""The merge player with its card, candidates, curve and merge log: one training to watch.

Belongs here: turning a training, running or ended, into what the component takes. Does not belong
here: which training is shown, and the component itself (``ui/components/merge_player``).
"""

from __future__ import annotations

import streamlit as st

from bpe_core.analysis.curves import bytes_per_token
from ui.components.merge_player import merge_player
from ui.session import keys
from ui.session.jobs import TrainingJob
from ui.session.state import Trained
from ui.theme import is_large

_WINDOW = 8_000  # bytes of the text that the player draws
_HEIGHT = 535  # pixels


def nothing_yet() -> None:
    """Keep the place of the player free while there is nothing to play."""
    st.skeleton(height=_HEIGHT)


def live(job: TrainingJob, key: str = keys.MERGE_PLAYER) -> None:
    """Draw the merges that ``job`` has made so far."""
    snapshot = job.snapshot
    if snapshot is None:
        nothing_yet()
        return
    text = window(job.text)
    merge_player(
        key,
        player_id=job.id,
        text=text,
        join_ranks=snapshot.tokenizer.join_ranks(text),
        byte_ids=snapshot.tokenizer.byte_ids,
        special_tokens=snapshot.tokenizer.special_tokens,
        trace=snapshot.trace,
        goal=job.progress().goal,
        pretokens=snapshot.tokenizer.pretokens(text),
        total_bytes=job.n_bytes,
        live=True,
        tie_break=job.settings.tie_break,
        large=is_large(),
    )


def show(trained: Trained, opening_step: int | None = None, key: str = keys.MERGE_PLAYER) -> int:
    """Draw a finished training and return the step at which the player rests, 0 for no merge.

    It opens at ``opening_step``. An imported tokenizer has no trace and is not drawn.
    """
    if trained.trace is None:
        return 0
    text = window(trained.text)
    held_out = trained.held_out_counts
    rests = merge_player(
        key,
        player_id=trained.key,
        text=text,
        join_ranks=trained.tokenizer.join_ranks(text),
        byte_ids=trained.tokenizer.byte_ids,
        special_tokens=trained.tokenizer.special_tokens,
        trace=trained.trace,
        goal=trained.settings.n_merges,
        pretokens=trained.tokenizer.pretokens(text),
        total_bytes=trained.n_bytes,
        held_out_bytes_per_token=(
            # With no merge there is one token for each byte.
            None if held_out is None else bytes_per_token(int(held_out[0]), held_out)
        ),
        stop_reason=trained.stop_reason,
        tie_break=trained.settings.tie_break,
        step=opening_step,
        large=is_large(),
    )
    return (opening_step or 0) if rests.step is None else rests.step


def window(text: str) -> str:
    """The beginning of ``text`` that the player draws, cut behind a line or a blank.

    >>> window("a line\\n" * 2000) == "a line\\n" * 1142
    True
    """
    # Every character has a byte at least, so this many characters are enough to look at.
    head = text[:_WINDOW].encode("utf-8", "replace")[:_WINDOW].decode("utf-8", "ignore")
    if len(head) == len(text):
        return head
    for border in ("\n", " "):
        cut = head.rfind(border) + 1
        if cut > len(head) // 2:
            return head[:cut]
    return head
