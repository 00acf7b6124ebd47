"""The decode box: ids in, text out, and a sentence for what is no id.

Belongs here: reading what a visitor typed. Decoding itself is the tokenizer's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import streamlit as st

from ui.session import keys
from ui.words import literal

if TYPE_CHECKING:
    from bpe_core import Tokenizer

#: Characters the box takes.
LONGEST_INPUT = 50_000

_BETWEEN = re.compile(r"[\s,;\[\]()]+")
_NUMBER = re.compile(r"[+-]?[0-9]+")


def read_ids(typed: str, tokenizer: Tokenizer) -> list[int]:
    """The ids in `typed`, which may have commas and brackets.

    Raises ValueError with a sentence for the first item that is no number or no id.

    >>> from bpe_core import Trainer
    >>> read_ids("[104, 105]", Trainer(256).train("").tokenizer)
    [104, 105]
    """
    ids = []
    for place, item in enumerate(filter(None, _BETWEEN.split(typed)), 1):
        short = item if len(item) <= 24 else item[:24] + "…"
        if not _NUMBER.fullmatch(item):
            raise ValueError(f"Item {place}, {short}, is not a number; ids are whole numbers.")
        if len(item) > 18 or int(item) not in tokenizer.vocab:
            raise ValueError(
                f"Item {place}: {short} is not an id of this vocabulary of "
                f"{tokenizer.vocab_size:,} entries."
            )
        ids.append(int(item))
    return ids


def decode_box(tokenizer: Tokenizer) -> None:
    """Draw the box and what its ids decode to."""
    with st.container(border=True, key=keys.DECODE_CARD):
        left, right = st.columns(2, gap="medium")
        typed = left.text_input(
            "Decode ids",
            key=keys.DECODE_IDS,
            placeholder="for example 72 101 108 108 111",
            max_chars=LONGEST_INPUT,
            live=True,
            persist_state="session",
        )
        with right:
            try:
                ids = read_ids(typed, tokenizer)
            except ValueError as err:
                st.error(literal(str(err)))
                return
            if not ids:
                st.caption("Text")
                st.caption("Ids become text here, separated by blanks, commas or line breaks.")
                return
            text = tokenizer.decode(ids)
            st.caption(f"Text of {len(ids):,} token{'s' if len(ids) > 1 else ''}")
            st.code(text, language=None, wrap_lines=True)
            if "\ufffd" in text and b"\xef\xbf\xbd" not in tokenizer.decode_bytes(ids):
                st.caption("Where bytes are no whole character, � stands for them.")
