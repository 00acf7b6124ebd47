"""The state of a vocabulary: what is odd about entries, which scripts there are, and the file.

Belongs here: the health and scripts tables and the download. The masks and counts come
from ``bpe_core.analysis.vocabulary``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import numpy as np
import streamlit as st

from bpe_core.analysis.vocabulary import Kind, Vocabulary
from ui import theme
from ui.components.tally_table import Tally, tally_table
from ui.session import keys
from ui.session.state import Trained
from ui.vocabulary import facts
from ui.words import count

LONGEST = "longest"

#: Rows of the health table: name and what it means. "{text}" is the text that use is counted in.
ROWS = {
    "unused": (
        "Unused",
        "Stands nowhere in {text} cut with all merges: longer tokens have taken its places, or "
        "it was never needed.",
    ),
    "unreachable": (
        "Unreachable",
        "Does not encode to itself: its own text becomes other tokens, so it can only turn up "
        "inside a longer pre-token, if at all.",
    ),
    LONGEST: ("Longest", "The most bytes one token has. Press to see the longest first."),
    "splits": (
        "Split a character",
        "Ends inside a character, so it is no text by itself: every byte beyond ASCII, and "
        "tokens that were merged across such an edge.",
    ),
    "straddles": (
        "Straddle two characters",
        "Reaches from one character into another and cuts at least one of them; counted among "
        "those above.",
    ),
}

#: What the list says of the entries of a row.
LISTED = {
    "unused": "unused",
    "unreachable": "unreachable",
    "splits": "splitting a character",
    "straddles": "straddling two characters",
}

_CHINESE = "Chinese characters"


def mask(trained: Trained, key: str) -> np.ndarray:
    """Which entries a row of `LISTED` counts, bool[n]."""
    vocabulary = facts.entries(trained)
    made: dict[str, Callable[[], np.ndarray]] = {
        "unused": lambda: facts.uses(trained) == 0,
        "unreachable": lambda: facts.unreachable(trained),
        "splits": lambda: vocabulary.splits,
        "straddles": lambda: vocabulary.straddles,
    }
    return made[key]()


def health(trained: Trained, shown: str | None, on_pick: Callable[[str], None]) -> None:
    """Draw the table of what is odd about entries; ``shown`` is the row the list shows."""
    vocabulary, text = facts.entries(trained), facts.corpus(trained).name
    rows = []
    for key, (name, note) in ROWS.items():
        number = (
            count(vocabulary.longest, "byte")
            if key == LONGEST
            else f"{np.count_nonzero(mask(trained, key)):,}"
        )
        rows.append(Tally(key, name, [number], note.format(text=text), on=key == shown))
    tally_table(
        keys.VOCAB_HEALTH_TABLE,
        name="Health of the vocabulary",
        heads=["what", "tokens"],
        rows=rows,
        large=theme.is_large(),
        on_pick=on_pick,
    )


def scripts(trained: Trained, shown: str | None, on_pick: Callable[[str], None]) -> None:
    """Draw the table of scripts; ``shown`` is the one the list shows."""
    kinds = facts.entries(trained).by_kind()
    n = sum(kind.entries for kind in kinds)
    rows = [
        Tally(
            kind.name,
            kind.name,
            [f"{kind.entries:,}", _percent(kind.entries, n), f"{kind.n_bytes:,}"],
            share=kind.entries / n,
            on=kind.name == shown,
        )
        for kind in kinds
    ]
    tally_table(
        keys.VOCAB_SCRIPTS_TABLE,
        name="Scripts of the vocabulary",
        heads=["script", "tokens", "share", "bytes"],
        rows=rows,
        large=theme.is_large(),
        on_pick=on_pick,
    )


def chinese_or_not(kinds: Iterable[Kind]) -> str:
    """how much of a vocabulary is Chinese characters and how much is anything else.

    >>> chinese_or_not([Kind("Latin", 3, 3), Kind("Chinese characters", 1, 3)])
    'Chinese characters: 1 token (25%) of 3 bytes; all others: 3 tokens (75%) of 3 bytes.'
    """
    kinds = list(kinds)
    chinese = [kind for kind in kinds if kind.name == _CHINESE]
    others = [kind for kind in kinds if kind.name != _CHINESE]
    total = sum(kind.entries for kind in kinds)
    parts = []
    for group in (chinese, others):
        entries = sum(kind.entries for kind in group)
        n_bytes = sum(kind.n_bytes for kind in group)
        share = _percent(entries, total)
        parts.append(f"{count(entries, 'token')} ({share}) of {count(n_bytes, 'byte')}")
    return f"{_CHINESE}: {parts[0]}; all others: {parts[1]}."


def _percent(part: int, whole: int) -> str:
    share = 100 * part / max(whole, 1)
    return f"{share:.0f}%" if share in (0, 100) or share >= 9.95 else f"{share:.2g}%"


def download(trained: Trained, rows: np.ndarray) -> None:
    """Draw the buttons that give the decoded vocabulary as JSON, whole and as filtered."""
    vocabulary = facts.entries(trained)
    n = len(vocabulary)
    with st.container(horizontal=True, vertical_alignment="center", key=keys.VOCAB_DOWNLOADS):
        st.caption("Decoded vocabulary as JSON", width="content")
        _button(f"All {n:,}", keys.VOCAB_JSON_ALL, vocabulary, None, f"vocabulary-{n}.json")
        if 0 < len(rows) < n:
            label = f"The {len(rows):,} listed"
            name = f"vocabulary-{n}-listed-{len(rows)}.json"
            _button(label, keys.VOCAB_JSON_LISTED, vocabulary, rows, name)


def _button(
    label: str, key: str, vocabulary: Vocabulary, rows: np.ndarray | None, file_name: str
) -> None:
    st.download_button(
        label,
        lambda: as_json(vocabulary, rows),
        file_name=file_name,
        mime="application/json",
        key=key,
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
    )


def as_json(vocabulary: Vocabulary, rows: np.ndarray | None = None) -> bytes:
    """The entries as a JSON list, one object a line, those of ``rows`` or all.

    Each has ``id``, ``text`` (null where the bytes are no text), ``hex``, ``script``, ``rank`` (of
    the merge, from 0; null where there is none) and ``special``.
    """
    asked = None if rows is None else rows.tolist()
    lines = (json.dumps(entry, ensure_ascii=False) for entry in vocabulary.decoded(asked))
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode()
