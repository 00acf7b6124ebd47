"""The same passages in many languages, and what each costs with one tokenizer.

Belongs here: reading the passages, the sentence about the result, the cache. Does not belong here:
counting (``bpe_core.analysis.measures``) and the chart (``charts``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import streamlit as st

from bpe_core.analysis import measures, sizes
from bpe_core.tokenizer import Tokenizer
from ui import samples

#: The file with the passages, each under a line "# Language".
PASSAGES = samples.FOLDER / "languages.txt"


@dataclass(frozen=True)
class LanguageCost:
    """Tokens, bytes and characters of the passages in one language."""

    name: str
    tokens: int
    n_bytes: int
    characters: int

    @property
    def english(self) -> str:
        """The language's name in English.

        >>> LanguageCost("German (Deutsch)", 1, 1, 1).english
        'German'
        """
        return self.name.partition(" (")[0]

    @property
    def label(self) -> str:
        """Its name in English and in the language itself, where the two differ."""
        return self.english if self.name == f"{self.english} ({self.english})" else self.name


def read_passages(text: str) -> dict[str, str]:
    """The passages by language; several under the same name are joined.

    >>> read_passages("# A\\none\\n\\n# B\\ntwo\\n\\n# A\\nthree\\n")
    {'A': 'one\\nthree', 'B': 'two'}
    """
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("# "):
            name = line[2:].strip()
        elif line.strip() and name:
            found.setdefault(name, []).append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


@lru_cache(maxsize=1)
def passages() -> dict[str, str]:
    """The passages that come with the app, by language."""
    return read_passages(PASSAGES.read_bytes().decode("utf-8"))


def costs(tokenizer: Tokenizer, size: int) -> list[LanguageCost]:
    """What the passages cost with ``size`` entries, cheapest language first."""
    shorter = sizes.at_size(tokenizer, size)
    rows = [LanguageCost(name, *measures.cost(shorter, text)) for name, text in passages().items()]
    return sorted(rows, key=lambda row: (row.tokens, row.name))


@st.cache_data(max_entries=64, show_spinner=False)
def cached_costs(tokenizer_key: str, size: int, _tokenizer: Tokenizer) -> list[LanguageCost]:
    """Do `costs`, once for each tokenizer and size."""
    return costs(_tokenizer, size)


def sentence(rows: list[LanguageCost]) -> str:
    """Say what the chart shows and why.

    >>> sentence([LanguageCost("A", 10, 40, 40), LanguageCost("B", 50, 100, 50)])
    'The same passages cost 10 tokens in A and 50 in B, 5.0 times as many.'
    """
    least, most = rows[0], rows[-1]
    return (
        f"The same passages cost {least.tokens:,} tokens in {least.english} and {most.tokens:,} in "
        f"{most.english}, {most.tokens / max(least.tokens, 1):.1f} times as many."
    )


WHY = (
    "Two things make a language expensive: UTF-8 spells one letter of many scripts with two or "
    "three bytes (the pale bars, one token each without merges), and a tokenizer joins only bytes "
    "that often stood together in its training text (the blue bars are what is left)."
)
