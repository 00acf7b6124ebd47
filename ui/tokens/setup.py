"""The setup row of the Tokens page: tokenizer, vocabulary size, special tokens, color, examples.

Belongs here: the widgets and what keeps their values sensible. Each value survives a page change.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from bpe_core import known
from bpe_core.analysis import sizes
from bpe_core.tokenizer import Tokenizer
from ui import links
from ui.components.token_editor import COLORS, has_text, set_text
from ui.server import encoding
from ui.session import keys, state
from ui.session.state import Trained
from ui.tokenizers import export_dialog, import_dialog, picker, shelf
from ui.tokens.examples import EXAMPLES

#: Characters of a text that a link may carry, and of the text the editor opens with.
LONGEST_LINK = 1000
OPENING = 640


@dataclass(frozen=True, eq=False)
class EncodingChoices:
    """What the row says: the tokenizer, how many of its merges to use, policy and color."""

    trained: Trained
    merges: int
    policy: str
    color: str

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer with only so many of its merges."""
        return encoding.with_merges(self.trained.tokenizer, self.merges)


def row() -> EncodingChoices:
    """Draw the row and return what it says."""
    take_link()
    who, size, special, color, text = st.columns([2.6, 2.6, 2.75, 1.4, 1.4], gap="medium")
    with who:
        trained = picker.choose()
        buttons = st.container(horizontal=True, gap="small", key=keys.TOKENIZER_BUTTONS)
    with size:
        merges = vocabulary_size(trained)
    with buttons:
        import_dialog.button()
        export_dialog.button(trained, merges)
    policy = special.segmented_control(
        "Special tokens",
        encoding.POLICIES,
        default=None if keys.SPECIAL_POLICY in st.session_state else encoding.POLICIES[0],
        required=True,
        key=keys.SPECIAL_POLICY,
        help="What a special token in the text becomes: one token, ordinary text, or an error. "
        "How many were recognized is counted below.",
        persist_state="session",
    )
    colors = list(COLORS)
    shade = color.selectbox("Color", colors, key=keys.TOKEN_COLORS, persist_state="session")
    text.selectbox(
        "Text",
        list(EXAMPLES),
        index=None,
        placeholder="Examples",
        key=keys.EXAMPLES,
        on_change=_take_example,
    )
    picker.about(trained)
    if not has_text():
        set_text(opening(trained.text or state.built_in().wait().text))
    return EncodingChoices(trained, merges, policy or encoding.POLICIES[0], shade or colors[0])


def take_link() -> None:
    """Take over what a link such as ``/tokens?text=...&tokenizer=gpt2`` says, once.

    ``text`` and ``special`` (the policy); ``tokenizer`` names a well-known one.
    """
    name = known.encoding_of(st.query_params.get(links.TOKENIZER, ""))
    if name is not None and name != st.session_state.get(keys.TOKENS_NAMED):
        st.session_state[keys.TOKENS_NAMED] = name
        shelf.add_name(name)
        st.session_state[keys.IMPORT_ARRIVED] = name
    text = st.query_params.get(links.TEXT)
    if text is None or text == st.session_state.get(keys.TOKENS_LINK):
        return
    st.session_state[keys.TOKENS_LINK] = text
    set_text(text[:LONGEST_LINK], linked=True)
    if (policy := st.query_params.get(links.SPECIAL)) in encoding.POLICIES:
        st.session_state[keys.SPECIAL_POLICY] = policy


def vocabulary_size(trained: Trained) -> int:
    """Draw the slider and return how many merges the size means."""
    values, tokenizer = st.session_state, trained.tokenizer
    least, most = sizes.smallest(tokenizer), sizes.largest(tokenizer)
    if values.get(keys.TOKENS_VOCAB_OF) != trained.key:
        values[keys.TOKENS_VOCAB_OF], values[keys.TOKENS_VOCAB] = trained.key, most
        values.pop(keys.TOKENS_SHOWN, None)  # an id means another token now
    why = shelf.why_fixed(tokenizer)
    if why or least == most:
        st.caption("Vocabulary size")
        st.caption(
            f"**{most:,}** entries, always all of them"
            if why
            else f"**{most:,}** entries and no merges: every byte is a token."
        )
        return tokenizer.n_merges
    size = st.slider("Vocabulary size", least, most, key=keys.TOKENS_VOCAB, persist_state="session")
    with st.container(key=keys.SIZE_SUM):
        st.caption(f"**{size:,}** of {most:,}, with {size - least:,} of {most - least:,} merges")
    return sizes.merges_for(tokenizer, size)


def opening(text: str) -> str:
    """The beginning of a text, about `OPENING` characters, ending with a word.

    >>> opening("low lower " * 100)[-9:]
    'lower low'
    """
    if len(text) <= OPENING:
        return text
    return text[:OPENING].rsplit(maxsplit=1)[0]


def _take_example() -> None:
    name = st.session_state[keys.EXAMPLES]
    if name is not None:
        set_text(EXAMPLES[name])
        st.session_state[keys.EXAMPLES] = None
