"""The setup row of the Tokens page: tokenizer, vocabulary size, special tokens, color, examples.

Belongs here: the widgets and what keeps their values sensible. Each value survives a page change.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from ui import encoding, registry, state
from ui.components.token_editor import COLORS, has_text, set_text
from ui.examples import EXAMPLES
from ui.state import Trained

#: Characters of a text that a link may carry, and of the text the editor opens with.
LONGEST_LINK = 1000
OPENING = 640


@dataclass(frozen=True, eq=False)
class Setup:
    """What the row says: the tokenizer, how many of its merges to use, policy and color."""

    trained: Trained
    merges: int
    policy: str
    color: str


def row() -> Setup:
    """Draw the row and return what it says."""
    take_link()
    who, size, special, color, text = st.columns([2.1, 2.9, 2.75, 1.45, 1.45], gap="medium")
    with who:
        trained = tokenizer()
    with size:
        merges = vocabulary_size(trained)
    policy = special.segmented_control(
        "Special tokens",
        encoding.POLICIES,
        default=None if "special_policy" in st.session_state else encoding.POLICIES[0],
        required=True,
        key="special_policy",
        help="What a special token in the text becomes: one token, ordinary text, or an error. "
        "How many were recognized is counted below.",
        persist_state="session",
    )
    colors = list(COLORS)
    shade = color.selectbox("Color", colors, key="token_colors", persist_state="session")
    text.selectbox(
        "Text",
        list(EXAMPLES),
        index=None,
        placeholder="Examples",
        key="examples",
        on_change=_take_example,
    )
    if not has_text():
        set_text(opening(trained.text))
    return Setup(trained, merges, policy or encoding.POLICIES[0], shade or colors[0])


def take_link() -> None:
    """Take over the text and the policy of a link such as ``/tokens?text=...``, once."""
    text = st.query_params.get("text")
    if text is None or text == st.session_state.get("tokens_link"):
        return
    st.session_state.tokens_link = text
    set_text(text[:LONGEST_LINK], linked=True)
    if (policy := st.query_params.get("special")) in encoding.POLICIES:
        st.session_state.special_policy = policy


def tokenizer() -> Trained:
    """Draw the picker and return the tokenizer chosen; a newly trained one chooses itself."""
    known = {trained.key: trained for trained in state.all_trained()}
    newest = state.selected().key
    values = st.session_state
    if values.get("tokenizer") not in known or values.get("tokens_newest") != newest:
        values.tokenizer = values.tokens_newest = newest
    key: str | None = st.selectbox(
        "Tokenizer",
        list(known),
        format_func=lambda key: known[key].name if key in known else "",
        key="tokenizer",
        persist_state="session",
    )
    chosen = known[key or newest]
    registry.publish(chosen.tokenizer, chosen.key)  # it may have made room for others
    return chosen


def vocabulary_size(trained: Trained) -> int:
    """Draw the slider and return how many merges the size means."""
    values = st.session_state
    most = trained.tokenizer.vocab_size
    least = most - trained.tokenizer.n_merges
    if values.get("tokens_vocab_of") != trained.key:
        values.tokens_vocab_of, values.tokens_vocab = trained.key, most
        values.pop("tokens_shown", None)  # an id means another token now
    if least == most:
        st.caption("Vocabulary size")
        st.caption(f"**{most:,}** entries and no merges: every byte is a token.")
        return 0
    size = st.slider("Vocabulary size", least, most, key="tokens_vocab", persist_state="session")
    with st.container(key="size_sum"):
        st.caption(f"**{size:,}** of {most:,}, with {size - least:,} of {most - least:,} merges")
    return size - least


def opening(text: str) -> str:
    """Return the beginning of a text, about `OPENING` characters, ending with a word.

    >>> opening("low lower " * 100)[-9:]
    'lower low'
    """
    if len(text) <= OPENING:
        return text
    return text[:OPENING].rsplit(maxsplit=1)[0]


def _take_example() -> None:
    name = st.session_state.examples
    if name is not None:
        set_text(EXAMPLES[name])
        st.session_state.examples = None
