"""The setup row of the Tokens page: tokenizer, vocabulary size, special tokens, color, examples.

Belongs here: the widgets and what keeps their values sensible. Each value survives a page change.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from bpe_core import registry as core_registry
from bpe_core.formats import FormatError
from ui import encoding, export_dialog, import_dialog, import_shelf, import_sizes
from ui.components.token_editor import COLORS, has_text, set_text
from ui.examples import EXAMPLES
from ui.import_shelf import Imported
from ui.server import published
from ui.session import state
from ui.session.state import Trained
from ui.words import literal

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
    st.html(import_dialog.STYLE)
    take_link()
    who, size, special, color, text = st.columns([2.6, 2.6, 2.75, 1.4, 1.4], gap="medium")
    with who:
        trained = tokenizer()
        buttons = st.container(horizontal=True, gap="small", key="tokenizer_buttons")
    with size:
        merges = vocabulary_size(trained)
    with buttons:
        import_dialog.button()
        export_dialog.button(trained, merges)
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
    about(trained)
    if not has_text():
        set_text(opening(trained.text or state.built_in().wait().text))
    return Setup(trained, merges, policy or encoding.POLICIES[0], shade or colors[0])


def take_link() -> None:
    """Take over what a link such as ``/tokens?text=...&tokenizer=gpt2`` says, once.

    ``text`` and ``special`` (the policy); ``tokenizer`` names a well-known one.
    """
    name = core_registry.encoding_of(st.query_params.get("tokenizer", ""))
    if name is not None and name != st.session_state.get("tokens_named"):
        st.session_state.tokens_named = name
        import_shelf.add_name(name)
        st.session_state[import_dialog.ARRIVED] = name
    text = st.query_params.get("text")
    if text is None or text == st.session_state.get("tokens_link"):
        return
    st.session_state.tokens_link = text
    set_text(text[:LONGEST_LINK], linked=True)
    if (policy := st.query_params.get("special")) in encoding.POLICIES:
        st.session_state.special_policy = policy


def tokenizer() -> Trained:
    """Draw the picker and return the tokenizer chosen.

    One that was just trained or brought in chooses itself. A well-known one is read when it is
    chosen; where that fails the last choice stays, and a sentence says why.
    """
    offered = import_shelf.offered()
    newest = state.selected().key
    values = st.session_state
    if values.get("tokens_newest") != newest or values.get("tokenizer") not in offered:
        values.tokenizer = values.tokens_newest = newest
    arrived = import_dialog.just_arrived()
    if arrived in offered:
        values.tokenizer = arrived
    key: str | None = st.selectbox(
        "Tokenizer",
        list(offered),
        format_func=lambda key: offered.get(key, ""),
        key="tokenizer",
        help="Trained here, imported by you, and well-known ones.",
        on_change=_forget_problem,
        persist_state="session",
    )
    if problem := values.get("tokens_problem"):
        st.warning(literal(problem))
    chosen = _ready(key or newest)
    if chosen is None:
        values[import_dialog.ARRIVED] = values.get("tokens_last", newest)
        st.rerun()
    values.tokens_last = chosen.key
    published.publish(chosen.tokenizer, chosen.key)  # it may have made room for others
    return chosen


def _ready(key: str) -> Trained | None:
    """Return the tokenizer of a key, read if need be; None, and a sentence kept, if it fails."""
    found = import_shelf.here(key)
    if found is None:
        try:
            with st.spinner(import_shelf.waiting(key)):
                return import_shelf.well_known(key)
        except (core_registry.RegistryError, FormatError) as err:
            st.session_state.tokens_problem = str(err)
    return found


def _forget_problem() -> None:
    st.session_state.pop("tokens_problem", None)


def about(trained: Trained) -> None:
    """Say what an imported tokenizer is, and what its files hold that is not done here."""
    if isinstance(trained, Imported):
        says = [import_shelf.summary(trained), *import_shelf.remarks(trained)]
        with st.container(key="tokenizer_about"):
            st.caption(f"**{literal(trained.name)}:** {literal(' '.join(says))}")


def vocabulary_size(trained: Trained) -> int:
    """Draw the slider and return how many merges the size means."""
    values, tokenizer = st.session_state, trained.tokenizer
    least, most = import_sizes.smallest(tokenizer), import_sizes.largest(tokenizer)
    if values.get("tokens_vocab_of") != trained.key:
        values.tokens_vocab_of, values.tokens_vocab = trained.key, most
        values.pop("tokens_shown", None)  # an id means another token now
    why = import_sizes.why_fixed(tokenizer)
    if why or least == most:
        st.caption("Vocabulary size")
        st.caption(
            f"**{most:,}** entries, always all of them"
            if why
            else f"**{most:,}** entries and no merges: every byte is a token."
        )
        return tokenizer.n_merges
    size = st.slider("Vocabulary size", least, most, key="tokens_vocab", persist_state="session")
    with st.container(key="size_sum"):
        st.caption(f"**{size:,}** of {most:,}, with {size - least:,} of {most - least:,} merges")
    return import_sizes.merges_for(tokenizer, size)


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
