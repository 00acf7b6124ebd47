"""The named patterns that cut text into pre-tokens, each alternative with a gloss.

Belongs here: `NamedPattern` and `PATTERNS`, and which pattern a typed name means. Does not belong
here: cutting (`pretokenize.py`), and imported patterns that are the same as a named one in other
words (`formats/regexes.py`).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .kernels import layout


@dataclass(frozen=True)
class NamedPattern:
    """A pre-tokenizer pattern with a one-line gloss for each of its alternatives.

    `scheme` is the number of its compiled scanner, 0 where `regex` does the cutting. Source:
    the published patterns of GPT-2 and of tiktoken's encodings.

    >>> PATTERNS["gpt2"].gloss[1]
    (' ?\\\\p{L}+', 'letters, with the blank before them')
    """

    name: str
    gloss: tuple[tuple[str, str], ...]
    scheme: int = 0
    title: str = ""

    @property
    def regex(self) -> str:
        """The whole pattern, alternatives joined by `|` (empty: do not split)."""
        return "|".join(alternative for alternative, _ in self.gloss)


_END_BLANK = "white space at the end of the text"
_BLANK_BEFORE = "white space before something, all but its last character"
_BLANK = "any other white space"

_ALL = (
    NamedPattern(
        "gpt2",
        (
            (r"'(?:[sdmt]|ll|ve|re)", "English contractions such as 's and 'll"),
            (r" ?\p{L}+", "letters, with the blank before them"),
            (r" ?\p{N}+", "digits, with the blank before them"),
            (r" ?[^\s\p{L}\p{N}]+", "everything else that is not white space, with its blank"),
            (r"\s+(?!\S)", _BLANK_BEFORE),
            (r"\s+", _BLANK),
        ),
        scheme=layout.GPT2,
        title="GPT-2",
    ),
    NamedPattern(
        "cl100k",
        (
            (r"'(?i:[sdmt]|ll|ve|re)", "English contractions in either case"),
            (r"[^\r\n\p{L}\p{N}]?+\p{L}++", "letters, with one blank or sign before them"),
            (r"\p{N}{1,3}+", "digits, at most three together"),
            (r" ?[^\s\p{L}\p{N}]++[\r\n]*+", "signs, with a blank before and line breaks after"),
            (r"\s++\Z", _END_BLANK),
            (r"\s*[\r\n]", "white space up to its last line break"),
            (r"\s+(?!\S)", _BLANK_BEFORE),
            (r"\s", _BLANK),
        ),
        scheme=layout.CL100K,
        title="GPT-4 (cl100k)",
    ),
    NamedPattern(
        "o200k",
        (
            (
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                "a word: capitals, then small letters, with its contraction",
            ),
            (
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                "a word in capitals, with its contraction",
            ),
            (r"\p{N}{1,3}", "digits, at most three together"),
            (r" ?[^\s\p{L}\p{N}]+[\r\n/]*", "signs, with line breaks and slashes after them"),
            (r"\s*[\r\n]+", "white space up to its last line break"),
            (r"\s+(?!\S)", _BLANK_BEFORE),
            (r"\s+", _BLANK),
        ),
        scheme=layout.O200K,
        title="GPT-4o (o200k)",
    ),
    NamedPattern(
        "whitespace",
        ((r"\S+", "a run without white space"), (r"\s+", "a run of white space")),
        scheme=layout.WHITESPACE,
        title="At white space",
    ),
    NamedPattern("whole text", (), title="Not at all"),
)

PATTERNS: Mapping[str, NamedPattern] = MappingProxyType({p.name: p for p in _ALL})

# Other names that people know them by: encodings and models of tiktoken, with and without hyphens.
_ALIASES = {
    "gpt2": "gpt-2 gpt3 gpt-3 r50k r50k_base p50k p50k_base p50k_edit",
    "cl100k": (
        "cl100k_base gpt4 gpt-4 gpt-4-turbo gpt3.5 gpt-3.5 gpt-3.5-turbo gpt35 gpt-35 gpt-35-turbo"
    ),
    "o200k": (
        "o200k_base o200k_harmony gpt4o gpt-4o gpt-4o-mini gpt4.1 gpt-4.1 gpt-4.1-mini "
        "gpt-4.1-nano gpt4.5 gpt-4.5 gpt5 gpt-5 gpt-oss o1 o3 o3-mini o4-mini"
    ),
    "whole text": "whole-text",
}
_SPELLINGS = [*PATTERNS, *" ".join(_ALIASES.values()).split()]


def _key(name: str) -> str:
    return name.strip().lower().replace("_", "-")


_NAMED = {_key(name): name for name in PATTERNS} | {
    _key(alias): name for name, aliases in _ALIASES.items() for alias in aliases.split()
}


def typed_pattern(pattern: str) -> str:
    """The name in `PATTERNS` that a typed pattern means, else the pattern: a regular expression.

    Letters, digits, `_` and `-` alone are a name, in any case; such a literal is written as a
    group. ValueError with the nearest names for a name that is none. What files hold is not
    typed, and stays as it is.

    >>> typed_pattern("GPT-4"), typed_pattern("(?:foo)")
    ('cl100k', '(?:foo)')
    """
    if not isinstance(pattern, str):
        return pattern  # refused where it is used
    if _key(pattern) in _NAMED:
        return _NAMED[_key(pattern)]
    if not re.fullmatch(r"[\w-]+", pattern):
        return pattern
    near = difflib.get_close_matches(pattern.lower(), _SPELLINGS, 3, 0.5)
    names = " or ".join(map(repr, near or PATTERNS))
    raise ValueError(
        f"the pattern {pattern!r} is no name that is known; the nearest are {names} (a pattern "
        f"that finds these very letters is written (?:{pattern}))"
    )
