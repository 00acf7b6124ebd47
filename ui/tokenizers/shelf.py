"""The tokenizers that were not trained here: a visitor's imports, and the well-known ones.

Belongs here: whose they are. An import is in its visitor's session alone and leaves with him; a
well-known tokenizer is read once per server, when it is first asked for. Does not belong here:
reading files (``importing``) and widgets (``import_dialog``, ``picker``).
"""

from __future__ import annotations

import gc
import itertools
import os
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import streamlit as st

from bpe_core import known
from bpe_core.analysis import sizes
from bpe_core.patterns import PATTERNS
from bpe_core.trainer import Trainer
from ui.server import published
from ui.session import keys, state
from ui.session.state import Trained
from ui.words import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_core.tokenizer import Tokenizer

# A visitor's repository is fetched in nobody's name: without this the hub client would show the
# server's own token, and what that may read would be everybody's.
os.environ.setdefault("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")

#: How many imports of one visitor are kept; the oldest makes room.
KEPT = 4

#: Well-known tokenizers in the pickers, with what they are known from.
WELL_KNOWN = {
    "gpt2": "GPT-2",
    "r50k_base": "GPT-3",
    "p50k_base": "text-davinci-003, Codex",
    "cl100k_base": "GPT-4, GPT-3.5",
    "o200k_base": "GPT-4o and later",
}

_NOT_TRAINED = Trainer(256)  # settings that learn nothing


@dataclass(frozen=True, eq=False)
class ImportedTokenizer(Trained):
    """A tokenizer that came from files; it has no trace, no training text and no settings.

    ``source`` is "import" or "well-known", ``origin`` says where the files came from, ``notes``
    what they hold that is not applied here.
    """

    origin: str = ""
    notes: tuple[str, ...] = field(default=())


def imported(
    tokenizer: Tokenizer,
    name: str,
    *,
    source: str = "import",
    origin: str = "",
    notes: Sequence[str] = (),
    key: str | None = None,
) -> ImportedTokenizer:
    """``tokenizer`` in the form the pages show, under a new key unless one is given."""
    return ImportedTokenizer(
        key=published.publish(tokenizer, key),
        name=name,
        tokenizer=tokenizer,
        trace=None,
        text="",
        held_out="",
        settings=_NOT_TRAINED,
        stop_reason="",
        source=source,
        origin=origin,
        notes=tuple(notes),
    )


# -- a visitor's own --------------------------------------------------------------------------


class _Keys:
    """The keys of one visitor's imports; they answer no more when the visitor is gone."""

    def __init__(self) -> None:
        self.kept: set[str] = set()

    def release(self) -> None:
        for key in self.kept:
            published.withdraw(key)


@st.cache_resource(scope="session", on_release=_Keys.release, show_spinner=False)
def _keys() -> _Keys:
    return _Keys()


def mine() -> list[ImportedTokenizer]:
    """This visitor's imports, newest first."""
    return list(st.session_state.get(keys.IMPORTED, []))


def remember(new: ImportedTokenizer) -> ImportedTokenizer:
    """Keep an import for this visitor, with a name of its own, and return it as it is kept."""
    taken = {t.name for t in [*mine(), *state.all_trained()]}
    numbered = (f"{new.name} ({n})" for n in itertools.count(2))
    name = next(name for name in itertools.chain([new.name], numbered) if name not in taken)
    kept = replace(new, name=name)
    together = [kept, *mine()]
    for gone in together[KEPT:]:
        published.withdraw(gone.key)
    st.session_state[keys.IMPORTED] = together[:KEPT]
    _keys().kept.add(kept.key)
    return kept


# -- well-known ones --------------------------------------------------------------------------

_locks = {name: threading.Lock() for name in known.ENCODINGS}
_read: dict[str, ImportedTokenizer] = {}


def well_known(name: str, *, download: bool = False) -> ImportedTokenizer:
    """A well-known encoding, read by the first who asks, for all visitors.

    Its key is its name. Raises NotFoundError and FormatError, each with a sentence.
    """
    with _locks[name]:
        if name not in _read:
            found = known.load(name, download=download)
            _read[name] = imported(
                found.tokenizer,
                name,
                source="well-known",
                origin=found.source,
                notes=found.notes,
                key=name,
            )
            gc.collect()
            gc.freeze()  # hundreds of thousands of objects that the collector need not walk
    published.publish(_read[name].tokenizer, name)
    return _read[name]


def add_name(name: str) -> None:
    """Offer this visitor a well-known encoding that is not in the pickers by itself."""
    if name not in WELL_KNOWN:
        st.session_state.setdefault(keys.KNOWN_NAMES, {})[name] = None


def names() -> list[str]:
    """The well-known encodings that this visitor is offered."""
    return [*WELL_KNOWN, *st.session_state.get(keys.KNOWN_NAMES, {})]


# -- all together -----------------------------------------------------------------------------


def offered() -> dict[str, str]:
    """What a picker offers, key to label: trained here, imported, well-known."""
    found = {t.key: t.name for t in state.all_trained()}
    found |= {t.key: f"{t.name} · imported" for t in mine()}
    return found | {name: label(name) for name in names()}


def label(name: str) -> str:
    """A well-known name with what it is known from.

    >>> label("cl100k_base"), label("p50k_edit")
    ('cl100k_base · GPT-4, GPT-3.5', 'p50k_edit · well-known')
    """
    return f"{name} · {WELL_KNOWN.get(name, 'well-known')}"


def here(key: str) -> Trained | None:
    """What is in memory under a key for this visitor; None for what must be read first."""
    if key in known.ENCODINGS:
        return _read.get(key)
    return next((t for t in [*state.all_trained(), *mine()] if t.key == key), None)


def waiting(name: str) -> str:
    """What to say while a well-known tokenizer is read."""
    return f"Reading {name}; a large vocabulary takes a few seconds, once for this server."


# -- in words ---------------------------------------------------------------------------------


def summary(one: ImportedTokenizer) -> str:
    """In one line what an imported tokenizer is."""
    tokenizer = one.tokenizer
    specials = len(tokenizer.special_tokens)
    facts = [
        f"{tokenizer.vocab_size:,} entries",
        count(tokenizer.n_merges, "merge"),
        _pattern(tokenizer),
        count(specials, "special token") if specials else "no special tokens",
    ]
    highest = max(tokenizer.vocab)
    if highest >= tokenizer.vocab_size:
        facts[0] += f" (ids up to {highest:,}, with gaps)"
    origin = f"; from {one.origin}" if one.origin else ""
    return f"{', '.join(facts)}{origin}."


def _pattern(tokenizer: Tokenizer) -> str:
    if isinstance(tokenizer.pattern, tuple):
        return f"{len(tokenizer.pattern)} patterns in turn"
    if tokenizer.pattern in PATTERNS:
        return f"pattern {tokenizer.pattern}"
    return "a pattern of its own"


def remarks(one: ImportedTokenizer) -> list[str]:
    """What to know of an imported tokenizer, a sentence each."""
    prepare = one.tokenizer.preparation
    found = list(one.notes)
    if prepare.normalizer:
        found.append(
            f"It brings texts into normal form {prepare.normalizer.removeprefix('NF')} before it "
            "cuts them: an accent on its own joins its letter."
        )
    if prepare.prefix_space:
        found.append("It puts a blank in front of a text before it cuts it.")
    if why := why_fixed(one.tokenizer):
        found.append(why)
    return found


def why_fixed(tokenizer: Tokenizer) -> str | None:
    """Why the merges cannot be replayed one by one, as a sentence; None if they can.

    >>> from bpe_core import Trainer
    >>> why_fixed(Trainer(258).train("abab").tokenizer) is None
    True
    """
    if sizes.has_smaller_sizes(tokenizer):
        return None
    late = tokenizer.model.out_of_order
    if late is not None:
        return (
            f"Its merges are not listed in the order in which they were learned (merge {late + 1:,}"
            " uses a token that a later one makes), so smaller sizes cannot be shown."
        )
    return (
        "It takes words that are entries themselves whole, without merging, so smaller sizes "
        "cannot be shown."
    )
