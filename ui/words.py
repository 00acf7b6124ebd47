"""Small ways of saying things: sizes, durations, and a visitor's text letter for letter.

Belongs here: strings for people. Does not belong here: widgets.
"""

from __future__ import annotations

import re

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&])")


def literal(text: str) -> str:
    r"""``text`` so that Markdown shows it letter for letter, on one line.

    >>> literal("a*b* $x$")
    'a\\*b\\* \\$x\\$'
    """
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def size(n_bytes: int) -> str:
    """A size the way people say it.

    >>> size(182_400), size(3_250_000), size(12)
    ('182 kB', '3.2 MB', '12 bytes')
    """
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    return f"{n_bytes / 1000:.0f} kB" if n_bytes < 999_500 else f"{n_bytes / 1e6:.1f} MB"


def seconds(s: float) -> str:
    """A duration the way people say it.

    >>> seconds(0.04), seconds(7.4), seconds(131)
    ('less than 0.1 s', '7 s', '2 min 11 s')
    """
    if s < 0.1:
        return "less than 0.1 s"
    if s < 3:
        return f"{s:.1f} s"
    return f"{s:.0f} s" if s < 90 else f"{int(s) // 60} min {int(s) % 60} s"


def count(n: int, thing: str) -> str:
    """A number with its noun.

    >>> count(1, "merge"), count(2000, "merge")
    ('1 merge', '2,000 merges')
    """
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"
