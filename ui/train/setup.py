"""The setup row of the Train page: what to train on, how large, cut how, and the finer rules.

Belongs here: the widgets and their check, which turns them into a ``Trainer`` or into a sentence.
Values are checked again here because a browser can send anything.
"""

from __future__ import annotations

import html
from dataclasses import dataclass

import regex
import streamlit as st

from bpe_core.patterns import PATTERNS, NamedPattern, typed_pattern
from bpe_core.pretokenize import PreTokenizer
from bpe_core.trainer import Trainer
from ui import samples
from ui.instruments import size_slider
from ui.session import keys
from ui.train import corpus_picker
from ui.train.corpus_picker import ChosenText
from ui.words import literal

CUSTOM = "custom"

_TIES = {
    "greatest_bytes": "the greater bytes win",
    "lowest_ids": "the lower ids win (Hugging Face)",
}
_ORDERS = {"plain": "plain: id 97 is a", "gpt2": "GPT-2's: id 64 is a"}
_SHARES = (0, 5, 10, 20, 30)
_DEFAULTS: dict[str, object] = {
    keys.PATTERN: "gpt2",
    keys.CUSTOM_PATTERN: r"\p{L}+|\p{N}|\s+|.",
    keys.TIE_BREAK: "greatest_bytes",
    keys.BYTE_ORDER: "plain",
    keys.MIN_PAIR_COUNT: 1,
    keys.MAX_TOKEN_BYTES: None,
    keys.HELD_OUT_SHARE: 0,
}
_SIGNS = {" ": "·", "\t": "→", "\r": "␍", "\n": "↵"}
_PREVIEW = 420  # characters of the corpus in which the cut is shown
_PATIENCE = 0.25  # seconds a visitor's own pattern may take for the preview


@dataclass(frozen=True, eq=False)
class TrainingChoices:
    """The row as it stands: settings if they hold, else the sentence that says what does not."""

    corpus: ChosenText
    settings: Trainer | None
    held_out_share: float
    problem: str | None


def row() -> tuple[TrainingChoices, bool]:
    """Draw the row; return what it says and whether Train was pressed in this run."""
    for key, value in {**_DEFAULTS, **_suggested(samples.first().id)}.items():
        st.session_state.setdefault(key, value)
    st.session_state.setdefault(keys.SUGGESTED_FOR, samples.first().id)
    specials = _special_tokens(st.session_state[keys.SPECIAL_TOKENS])
    lowest = size_slider.N_BYTES + len(specials)

    text, size, rest = st.columns([1.6, 3.2, 2.1], gap="medium")
    with text:
        corpus = corpus_picker.choose(_take_suggestion)
    with size:
        n = _size(lowest, len(specials))
    with rest.container(horizontal=True, horizontal_alignment="right", key=keys.SETUP_BUTTONS):
        _split(corpus)
        _more()
        pressed = st.button("Train", type="primary", key=keys.TRAIN)
    corpus_picker.details(corpus)

    settings, problem = _check(n, specials, corpus.head)
    if problem:
        st.error(literal(problem))
    return TrainingChoices(corpus, settings, _share() / 100, problem), pressed


def _suggested(sample_id: str) -> dict[str, object]:
    """The settings that show a sample best, by widget key."""
    one = samples.by_id()[sample_id]
    return {keys.VOCAB_SIZE: one.vocab_size, keys.SPECIAL_TOKENS: "\n".join(one.special_tokens)}


def _take_suggestion() -> None:
    """Follow another sample's suggestions where the visitor left the last ones as they were."""
    chosen = st.session_state[keys.CORPUS_SOURCE]
    if chosen in samples.by_id():
        for key, value in _suggested(st.session_state[keys.SUGGESTED_FOR]).items():
            if st.session_state[key] == value:
                st.session_state[key] = _suggested(chosen)[key]
        st.session_state[keys.SUGGESTED_FOR] = chosen


def _size(lowest: int, n_specials: int) -> int:
    n = st.session_state[keys.VOCAB_SIZE]
    n = min(max(n if isinstance(n, int) else lowest, lowest), size_slider.LARGEST)
    st.session_state[keys.VOCAB_SIZE] = n
    n = st.select_slider(
        "Vocabulary size",
        options=size_slider.to_train(lowest, n),
        format_func=lambda size: f"{size:,}",
        key=keys.VOCAB_SIZE,
        persist_state="session",
    )
    merges = n - lowest
    with st.container(key=keys.SIZE_SUM):
        st.caption(
            f"**{n:,}** = {size_slider.N_BYTES} bytes + {n_specials} special + {merges:,} merges"
        )
    return n


def _split(corpus: ChosenText) -> None:
    chosen = st.session_state[keys.PATTERN]
    title = PATTERNS[chosen].title if chosen in PATTERNS else "Own pattern"
    with st.popover(f"Split: {title}", key=keys.SPLIT):
        st.selectbox(
            "Cut the text into pre-tokens; merges never cross a cut",
            [*PATTERNS, CUSTOM],
            format_func=lambda p: PATTERNS[p].title if p in PATTERNS else "Own pattern (regex)",
            key=keys.PATTERN,
            persist_state="session",
        )
        if chosen == CUSTOM:
            st.text_input(
                "Regular expression (what it does not match stays a piece of its own)",
                key=keys.CUSTOM_PATTERN,
                persist_state="session",
            )
        _show_cut(corpus)
        if chosen in PATTERNS:
            _show_glosses(PATTERNS[chosen])


def _show_cut(corpus: ChosenText) -> None:
    """Show the first lines, pre-token by pre-token, letter for letter."""
    text = corpus.head[:_PREVIEW]
    gaps: list[str] = []
    try:
        pretokens = cut(_pattern(), text, gaps)
    except ValueError:
        return  # the sentence stands below the row
    shown = "".join(map(_box, pretokens))
    if shown:
        st.html(f'<div class="ms-cut" dir="auto">{shown}</div>')
        st.caption("The first lines of the text: each box is one pre-token, · is a blank.")
    if gaps:
        n = sum(map(len, gaps))
        st.caption(
            f"The pattern does not match {n:,} of these {len(text):,} characters; each such "
            "stretch stays one pre-token."
        )


def _box(pretoken: str) -> str:
    end = "<br>" if pretoken.endswith("\n") else ""
    return f'<span class="ms-piece">{html.escape(_visible(pretoken))}</span>{end}'


def _show_glosses(pattern: NamedPattern) -> None:
    rows = "".join(
        f"<dt><code>{html.escape(part)}</code></dt><dd>{html.escape(gloss)}</dd>"
        for part, gloss in pattern.gloss
    )
    if rows:
        st.html(f'<dl class="ms-gloss">{rows}</dl>')
        st.caption("The rules of the pattern; at each place the first one that fits is taken.")


def cut(pattern: str, text: str, gaps: list[str] | None = None) -> list[str]:
    """Cut ``text`` at a named or own pattern; ValueError if it is broken or takes too long.

    What the pattern does not match is added to ``gaps``.

    >>> cut("gpt2", "Hello there")
    ['Hello', ' there']
    """
    pattern = typed_pattern(pattern)
    splitter = PreTokenizer(pattern)
    if pattern not in PATTERNS:
        try:
            for _ in regex.compile(pattern).finditer(text, timeout=_PATIENCE):
                pass
        except TimeoutError:
            raise ValueError(
                "This pattern takes too long even on the first lines of the text; "
                "remove repetitions inside repetitions, such as (a+)+."
            ) from None
    return [text[start:stop] for start, stop in splitter.spans(text, gaps)]


def _visible(text: str) -> str:
    """Replace what cannot be seen by a sign for it."""
    return "".join(_SIGNS.get(c) or (chr(0x2400 + ord(c)) if c < " " else c) for c in text)


def _more() -> None:
    changed = sum(
        st.session_state[key] != value
        for key, value in _DEFAULTS.items()
        if key not in (keys.PATTERN, keys.CUSTOM_PATTERN)
    )
    with st.popover(f"More · {changed}" if changed else "More", key=keys.MORE):
        st.session_state[keys.VOCAB_SIZE_EXACT] = st.session_state[keys.VOCAB_SIZE]
        st.number_input(
            "Vocabulary size, exactly",
            min_value=size_slider.N_BYTES,
            max_value=size_slider.LARGEST,
            step=1,
            key=keys.VOCAB_SIZE_EXACT,
            on_change=_take_exact_size,
        )
        st.text_area(
            "Special tokens, one per line",
            key=keys.SPECIAL_TOKENS,
            height=90,
            placeholder="<|endoftext|>",
            help="Each gets one id, cuts the text, and never takes part in a merge.",
            persist_state="session",
        )
        st.selectbox(
            "When several pairs are equally frequent",
            list(_TIES),
            format_func=_TIES.__getitem__,
            key=keys.TIE_BREAK,
            persist_state="session",
        )
        st.selectbox(
            "Ids of the 256 bytes",
            list(_ORDERS),
            format_func=_ORDERS.__getitem__,
            key=keys.BYTE_ORDER,
            persist_state="session",
        )
        left, right = st.columns(2)
        left.number_input(
            "Least pair count",
            min_value=1,
            step=1,
            key=keys.MIN_PAIR_COUNT,
            help="Training ends when no pair is this frequent.",
            persist_state="session",
        )
        right.number_input(
            "Longest token, bytes",
            min_value=1,
            step=1,
            key=keys.MAX_TOKEN_BYTES,
            placeholder="no limit",
            help="No merge may make a longer token.",
            persist_state="session",
        )
        st.select_slider(
            "Held-out share of the text",
            options=_SHARES,
            format_func=lambda share: f"{share} %",
            key=keys.HELD_OUT_SHARE,
            help="Lines spread over the text are set aside; the curve shows how well the "
            "vocabulary does on text it has not seen.",
            persist_state="session",
        )


def _take_exact_size() -> None:
    st.session_state[keys.VOCAB_SIZE] = (
        st.session_state[keys.VOCAB_SIZE_EXACT] or size_slider.N_BYTES
    )


def _special_tokens(lines: str | None) -> tuple[str, ...]:
    return tuple(line.rstrip("\r") for line in (lines or "").split("\n") if line.strip())


def _pattern() -> str:
    chosen = st.session_state[keys.PATTERN]
    return chosen if chosen in PATTERNS else st.session_state[keys.CUSTOM_PATTERN] or ""


def _share() -> int:
    share = st.session_state[keys.HELD_OUT_SHARE]
    return share if share in _SHARES else 0


def _check(n: int, specials: tuple[str, ...], head: str) -> tuple[Trainer | None, str | None]:
    state = st.session_state
    twice = next((t for i, t in enumerate(specials) if t in specials[:i]), None)
    if twice is not None:
        return None, f"The special token {twice!r} is listed twice; remove one of the two."
    try:
        if state[keys.PATTERN] == CUSTOM:
            cut(_pattern(), head)
        return Trainer(
            n,
            special_tokens=specials,
            pattern=_pattern(),
            tie_break=state[keys.TIE_BREAK],
            byte_order=state[keys.BYTE_ORDER],
            min_pair_count=state[keys.MIN_PAIR_COUNT] or 1,
            max_token_bytes=state[keys.MAX_TOKEN_BYTES],
        ), None
    except ValueError as err:
        return None, str(err)
