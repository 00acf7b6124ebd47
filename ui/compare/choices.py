"""The choices of the Compare page, kept valid while tokenizers come and go.

Belongs here: which tokenizers, texts, columns and sizes are chosen; the widgets for that. Values
are checked before a widget is drawn, because what was chosen may be gone by now. Does not belong
here: what is computed or drawn from the choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui import links
from ui.compare import cuts, texts
from ui.compare.curves import Curve, size_range, sizes_of
from ui.instruments import size_slider
from ui.session import keys, state
from ui.session.state import Trained
from ui.tokenizers import import_dialog, picker, shelf
from ui.words import literal

MOST_TOKENIZERS = 4
MOST_TEXTS = 4


def distinct(known: Sequence[Trained]) -> list[Trained]:
    """The tokenizers with names that differ: of equal ones the older is number 1."""
    found: list[Trained] = []
    for i, trained in enumerate(known):
        alike = [t.name == trained.name for t in known]
        number = sum(alike[i:])
        name = f"{trained.name} ({number})" if sum(alike) > 1 else trained.name
        found.append(replace(trained, name=name))
    return found


def what_to_compare(known: Sequence[Trained]) -> tuple[list[Trained], dict[str, str]]:
    """Show which tokenizers and texts there are; return those chosen, the texts with names.

    ``known`` are the visitor's own; well-known ones may be chosen too.
    """
    left, right = st.columns(2)
    with left:
        chosen = choose_tokenizers(known)
        with st.container(horizontal=True, gap="small", key=keys.TOKENIZER_BUTTONS):
            import_dialog.button()
    with right:
        chosen_texts = choose_texts(chosen, with_chosen(known, chosen))
    if texts.OWN in chosen_texts:
        texts.own_text_widgets()
    if texts.for_some_only(chosen, list(chosen_texts)):
        st.caption(
            "Tokenizers that were not trained here have no training text; choose another text to "
            "see them too."
        )
    return chosen, chosen_texts


def with_chosen(known: Sequence[Trained], chosen: Sequence[Trained]) -> list[Trained]:
    """The visitor's own tokenizers, and behind them the well-known ones that are chosen."""
    own = {t.key for t in known}
    return [*known, *(t for t in chosen if t.key not in own)]


def only_one() -> None:
    """Say where a second tokenizer comes from."""
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key=keys.COMPARE_ONLY_ONE
    ):
        st.caption(
            "There is one tokenizer so far. To compare it, choose a well-known one above, import "
            "one, or:",
            width="content",
        )
        links.to_training()


def choose_tokenizers(known: Sequence[Trained]) -> list[Trained]:
    """Show the list of tokenizers; return the chosen ones, at least one.

    One that was trained or imported since the last look is chosen by itself. A well-known one is
    read when it is chosen; where that fails it is left out, and a sentence says why.
    """
    named = {t.key: t for t in known}
    labels = shelf.offered() | {
        t.key: t.name for t in known if not isinstance(t, shelf.ImportedTokenizer)
    }
    seen = st.session_state.get(keys.COMPARE_SEEN, [state.built_in().wait().key])
    new = [key for key in named if key not in seen]
    arrived = import_dialog.just_arrived()
    if arrived in labels and arrived not in new:
        new.insert(0, arrived)
    # At the first look an import stands beside what was trained here, not alone.
    alone = not any(key in named and named[key].text for key in new)
    before = st.session_state.get(keys.COMPARE_TOKENIZERS, [known[0].key] if alone else [])
    left_out = {*new, st.session_state.get(keys.COMPARE_FAILED)}
    kept = [key for key in before if key in labels and key not in left_out]
    st.session_state[keys.COMPARE_TOKENIZERS] = [*new, *kept][:MOST_TOKENIZERS] or [known[0].key]
    st.session_state[keys.COMPARE_SEEN] = list(named)
    picked = st.multiselect(
        "Tokenizers",
        list(labels),
        format_func=lambda key: labels.get(key, ""),
        max_selections=MOST_TOKENIZERS,
        select_all=False,
        wrap=True,
        key=keys.COMPARE_TOKENIZERS,
        on_change=_forget_problem,
        persist_state="session",
    )
    st.session_state.pop(keys.COMPARE_FAILED, None)
    if problem := st.session_state.get(keys.COMPARE_PROBLEM):
        st.warning(literal(problem))
    chosen = []
    for key in picked:
        found, problem = (named[key], "") if key in named else picker.read(key)
        if found is None:
            st.session_state[keys.COMPARE_PROBLEM] = problem
            st.session_state[keys.COMPARE_FAILED] = key
            st.rerun()
        chosen.append(found)
    return chosen


def _forget_problem() -> None:
    st.session_state.pop(keys.COMPARE_PROBLEM, None)


def choose_texts(chosen: Sequence[Trained], known: Sequence[Trained]) -> dict[str, str]:
    """Show the list of texts to measure on; return the chosen ones with their names."""
    offered = texts.choices(chosen, known)
    kept = [c for c in st.session_state.get(keys.COMPARE_TEXTS, []) if c in offered]
    # Tokenizers that were just chosen may have no text of their own; then all get a common one.
    came, before = {t.key for t in chosen}, st.session_state.get(keys.COMPARE_TEXTS_OF, set())
    st.session_state[keys.COMPARE_TEXTS_OF] = came
    if came != before and texts.for_some_only(chosen, kept):
        kept = []
    st.session_state[keys.COMPARE_TEXTS] = kept or texts.first_choice(chosen, list(offered))
    st.multiselect(
        "Texts to measure on",
        list(offered),
        format_func=offered.__getitem__,
        max_selections=MOST_TEXTS,
        select_all=False,
        wrap=True,
        key=keys.COMPARE_TEXTS,
        persist_state="session",
    )
    return {c: offered[c] for c in st.session_state[keys.COMPARE_TEXTS]}


def marked_size(lines: Sequence[Curve]) -> int:
    """Show the slider of the size that is marked on the curves."""
    steps = sizes_of(lines)
    return size_slider.choose(
        "Vocabulary size to read", keys.COMPARE_SIZE, steps, steps[len(steps) // 2]
    )


def take_pointed_size() -> None:
    """Move the marked size to where the visitor clicked in the chart."""
    points = st.session_state[keys.COMPARE_CHART]["selection"]["points"]
    if points:
        st.session_state[keys.COMPARE_SIZE] = round(points[0]["x"])


def measured(lines: Sequence[Curve]) -> list[Curve]:
    """Up to four lines for the table of measures; show a choice of texts if there are more.

    One tokenizer is measured on all its texts; several are measured on one text.
    """
    if len(lines) <= MOST_TOKENIZERS:
        return list(lines)
    names = list(dict.fromkeys(line.text.name for line in lines))
    if st.session_state.get(keys.COMPARE_MEASURED) not in names:
        st.session_state[keys.COMPARE_MEASURED] = names[0]
    name = st.selectbox(
        "Measured on",
        names,
        format_func=lambda name: name[:1].upper() + name[1:],
        key=keys.COMPARE_MEASURED,
        persist_state="session",
        width=320,
    )
    return [line for line in lines if line.text.name == name]


def one_tokenizer(known: Sequence[Trained], key: str, first: Trained) -> Trained:
    """Show a list of tokenizers, where there are several, and return the chosen one."""
    names = {t.key: t.name for t in known}
    if st.session_state.get(key) not in names:
        st.session_state[key] = first.key
    if len(known) == 1:
        return known[0]
    st.selectbox(
        "Tokenizer", list(names), format_func=names.__getitem__, key=key, persist_state="session"
    )
    return next(t for t in known if t.key == st.session_state[key])


def columns(
    known: Sequence[Trained], first: Sequence[tuple[Trained, int]]
) -> tuple[list[tuple[Trained, int]], list[DeltaGenerator]]:
    """Show how many columns there are, and of each its tokenizer and size.

    Returns these, and for each column the place where its text goes.
    """
    several = len({trained.key for trained, _ in first})
    if st.session_state.get(keys.COMPARE_COLUMNS) not in (2, 3, 4):
        st.session_state[keys.COMPARE_COLUMNS] = several if several > 1 else 4
    n = st.segmented_control(
        "Columns", [2, 3, 4], required=True, key=keys.COMPARE_COLUMNS, persist_state="session"
    )
    found, places = [], []
    for i, place in enumerate(st.columns(n or 2)):
        with place.container(border=True, key=keys.compare_card(i)):
            trained = one_tokenizer(known, keys.compare_column(i), first[i][0])
            steps = size_range(trained.tokenizer)
            at = first[i][1] if trained is first[i][0] else steps[-1]
            chosen = size_slider.choose(
                "Vocabulary size", keys.compare_size(i), sorted({*steps, at}), at
            )
            found.append((trained, chosen))
            places.append(st.container())
    return found, places


def language_tokenizer(known: Sequence[Trained], first: Trained) -> tuple[Trained, int]:
    """Show the tokenizer and the size that the languages are counted with."""
    left, right = st.columns(2)
    with right if len(known) > 1 else st.empty():
        trained = one_tokenizer(known, keys.COMPARE_LANGUAGE_TOKENIZER, first)
    steps = size_range(trained.tokenizer)
    with left:
        at = size_slider.choose("Vocabulary size", keys.COMPARE_LANGUAGE_SIZE, steps, steps[-1])
    return trained, at


def short_text() -> str:
    """Show the text area with its examples and return the text to cut."""
    st.session_state.setdefault(keys.COMPARE_TEXT, next(iter(cuts.EXAMPLES.values())))
    box, examples = st.columns([4, 1])
    examples.selectbox(
        "Examples",
        list(cuts.EXAMPLES),
        index=None,
        placeholder="Take an example",
        key=keys.COMPARE_EXAMPLE,
        on_change=_take_example,
    )
    return (
        box.text_area(
            "Text to cut",
            key=keys.COMPARE_TEXT,
            height=100,
            max_chars=cuts.LONGEST,
            persist_state="session",
        )
        or ""
    )


def _take_example() -> None:
    if st.session_state[keys.COMPARE_EXAMPLE] in cuts.EXAMPLES:
        st.session_state[keys.COMPARE_TEXT] = cuts.EXAMPLES[st.session_state[keys.COMPARE_EXAMPLE]]
    st.session_state[keys.COMPARE_EXAMPLE] = None
