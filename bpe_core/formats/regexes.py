"""One regular expression in the dialects of three engines.

A pattern travels with a tokenizer, but the engines read the same text differently: for
Oniguruma (`tokenizers`) `\\p{N}{1,3}+` takes any number of digits and `$` also matches before
a line break; for `regex` (used here) it takes three and `$` the end. This module parses the
part of the syntax that the three share in meaning, and writes it for each of them.

Belongs here: parsing, writing and measuring patterns. Does not belong here: where they stand
in a file. What is not understood is refused, never passed on: `PatternError`.

Sources: the manuals of `regex`, Oniguruma (Ruby syntax) and fancy-regex; the tests compare
character classes and matches with the engines themselves.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Literal

import regex

from bpe_core.patterns import PATTERNS

Dialect = Literal["regex", "oniguruma", "fancy"]

MANY = 1 << 30  # the upper bound of `*` and `+`

_CATEGORIES = frozenset(
    re.findall(
        r"\w+",
        "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp "
        "C Cc Cf Co Cs",
    )
)
_SCRIPTS = frozenset(
    re.findall(
        r"\w+",
        "Arabic Armenian Bengali Bopomofo Cyrillic Devanagari Ethiopic Georgian Greek Gujarati "
        "Gurmukhi Han Hangul Hebrew Hiragana Kannada Katakana Khmer Lao Latin Malayalam "
        "Mongolian Myanmar Oriya Sinhala Tamil Telugu Thai Tibetan",
    )
)
_DERIVED = frozenset(["Alphabetic", "Join_Control"])  # what `\w` is written with
# What `\w` is for `regex` and fancy-regex, and what it is for Oniguruma, spelled out.
_WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}"
_WORD_ONIGURUMA = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}²³¹¼½¾"
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
_ESCAPE_OF = {c: "\\" + letter for letter, c in _CONTROLS.items()}
# Pairs of letters that a character folds to ("ß"): engines differ in taking them for one.
_FOLDING = re.compile("ss|st|f[filFIL]", re.IGNORECASE)


class PatternError(ValueError):
    """A pattern, or a part of one, that cannot be carried over to another engine."""


@dataclass(frozen=True)
class Char:
    """One character."""

    char: str


@dataclass(frozen=True)
class Class:
    """A set of characters: single ones, ranges "a-z" and named classes, perhaps negated."""

    items: tuple[str | tuple[str, str], ...]
    negated: bool = False


@dataclass(frozen=True)
class Anchor:
    """A place: "start", "end", "last line" (end or before a final line break), "line start",
    "line end"."""

    place: str


@dataclass(frozen=True)
class Group:
    """Alternatives in parentheses, opened by `opening`."""

    opening: str
    body: Alternatives


@dataclass(frozen=True)
class Repeat:
    """A part repeated `low` to `high` times; `mode` is "" (greedy), "?" or "+" (possessive)."""

    part: Part
    low: int
    high: int
    mode: str


Part = Char | Class | Anchor | Group | Repeat
Alternatives = tuple[tuple[Part, ...], ...]


def translate(pattern: str, source: Dialect, target: Dialect) -> str:
    """The pattern with the same meaning for another engine; PatternError where there is none.

    >>> translate(r"\\p{N}{1,3}+|\\s++\\Z", "regex", "oniguruma")
    '(?>\\\\p{N}{1,3})|\\\\s++\\\\z'
    """
    return _written(_taking(pattern, source), target)


def to_here(pattern: str) -> str:
    """A pattern of Oniguruma as one for this package: a name in `PATTERNS` where it is one.

    The text stays as it is where both engines read it alike.

    >>> to_here(r"\\S+|\\s+"), to_here(r"\\p{N}{1,3}+")
    ('whitespace', '(?:\\\\p{N}{1,3})+')
    """
    tree = _taking(pattern, "oniguruma")
    name = _names().get(_written(tree, "regex"))
    if name is not None:
        return name
    try:
        alike = parse(pattern, "regex") == tree
    except PatternError:
        alike = False
    return pattern if alike else _written(tree, "regex")


def _taking(pattern: str, dialect: Dialect) -> Alternatives:
    """The tree of a pattern whose every match takes a character.

    After an empty match, engines differ in where they go on.
    """
    tree = parse(pattern, dialect)
    if not width(tree)[0]:
        raise PatternError("it may match without taking a character")
    return tree


# The spellings of one pattern that files hold; each is argued to cut every text alike.
# gpt2: contractions one by one; possessive runs, and `\s++$` for a blank run at the end, which
# there `\s+(?!\S)` takes too, since it comes before no other alternative that takes blanks.
_SPELLINGS = {
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++\Z|\s+(?!\S)|\s": "gpt2",
}


@functools.cache
def _names() -> dict[str, str]:
    spellings = {p.regex: p.name for p in PATTERNS.values() if p.regex} | _SPELLINGS
    return {translate(text, "regex", "regex"): name for text, name in spellings.items()}


def leaves_nothing_out(pattern: str) -> bool:
    """Whether every character is matched wherever it stands; False where that is not certain.

    It is certain where the alternatives that a lone character of a class satisfies, whatever
    stands around it, have classes that together hold all characters.

    >>> leaves_nothing_out(r" ?\\S+|\\s+"), leaves_nothing_out(r"\\S+|\\s+(?!\\S)")
    (True, False)
    """
    classes = []
    for sequence in parse(pattern, "regex"):
        needed = [part for part in sequence if not isinstance(part, Repeat) or part.low]
        part = needed[0] if len(needed) == 1 else None
        before = sequence[: sequence.index(needed[0])] if part else ()
        if isinstance(part, Repeat) and part.low == 1:
            part = part.part
        # A possessive part in front might take the character and not give it back.
        keeps = any(isinstance(p, Repeat) and p.mode == "+" for p in before)
        if isinstance(part, Class) and not keeps:
            classes.append(_class(part, "regex"))
    return bool(classes) and not regex.sub("|".join(classes), "", _every_character())


@functools.cache
def _every_character() -> str:
    return "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))


# --------------------------------------------------------------------------- measuring


def width(tree: Alternatives) -> tuple[int, int]:
    """Fewest and most characters that the alternatives match."""
    sizes = [_sum([_part_width(part) for part in sequence]) for sequence in tree]
    return min(low for low, _ in sizes), max(high for _, high in sizes)


def _sum(sizes: list[tuple[int, int]]) -> tuple[int, int]:
    return sum(low for low, _ in sizes), min(sum(high for _, high in sizes), MANY)


def _part_width(part: Part) -> tuple[int, int]:
    if isinstance(part, Anchor):
        return 0, 0
    if isinstance(part, Group):
        return (0, 0) if part.opening[:3] in _LOOKS else width(part.body)
    if isinstance(part, Repeat):
        low, high = _part_width(part.part)
        return low * part.low, min(high * part.high, MANY)
    return 1, 1


_LOOKS = ("(?=", "(?!", "(?<")


# --------------------------------------------------------------------------- parsing


def parse(pattern: str, dialect: Dialect) -> Alternatives:
    """The pattern as a tree; PatternError naming what is not understood."""
    parser = _Parser(pattern, dialect)
    tree = parser.alternatives()
    if parser.at < len(pattern):
        raise PatternError(f"{pattern[parser.at]!r} at {parser.at} closes nothing")
    return tree


class _Parser:
    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self.text = pattern
        self.dialect = dialect
        self.at = 0
        self.depth = 0
        self.fold = False

    def alternatives(self) -> Alternatives:
        found = [self.sequence()]
        while self.text.startswith("|", self.at):
            self.at += 1
            found.append(self.sequence())
        return tuple(found)

    def sequence(self) -> tuple[Part, ...]:
        parts: list[Part] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            if self.at == 0 and self.text.startswith("(?i)"):
                self.at = 4
                self.fold = True
                group = Group("(?i:", self.alternatives())
                self.fold = False
                return (group,)
            parts.append(self.repeated(self.part()))
        if self.fold:
            letters = "".join(p.char if isinstance(p, Char) else "." for p in parts)
            if _FOLDING.search(letters) or not letters.isascii():
                raise PatternError(f"engines differ in which letters are like {letters!r}")
        return tuple(parts)

    def part(self) -> Part:
        char = self.text[self.at]
        self.at += 1
        if char == "(":
            return self.group()
        if char == "[":
            return self.set()
        if char == ".":
            return Class(("\n",), negated=True)
        if char == "\\":
            return self.escape()
        if char == "^":
            return Anchor("start" if self.dialect == "regex" else "line start")
        if char == "$":
            return Anchor("last line" if self.dialect == "regex" else "line end")
        if char in "*+?":
            raise PatternError(f"{char!r} at {self.at - 1} repeats nothing")
        return Char(char)

    def group(self) -> Part:
        start = self.at - 1
        opening = next(
            (o for o in ("(?:", "(?>", "(?=", "(?!", "(?<=", "(?<!", "(?i:")
             if self.text.startswith(o, start)),
            "(",
        )  # fmt: skip
        if opening == "(" and self.text.startswith("?", self.at):
            raise PatternError(f"{self.text[start : start + 4]!r} at {start} is not supported")
        self.at = start + len(opening)
        self.depth += 1
        if self.depth > 50:
            raise PatternError("it is nested too deeply")
        outer, self.fold = self.fold, self.fold or opening == "(?i:"
        body = self.alternatives()
        self.fold = outer
        self.depth -= 1
        if not self.text.startswith(")", self.at):
            raise PatternError(f"the parenthesis at {start} is not closed")
        self.at += 1
        if opening.startswith("(?<") and len({width((sequence,)) for sequence in body}) > 1:
            raise PatternError(f"the look-behind at {start} has no fixed length")
        low, high = width(body)
        if opening.startswith("(?<") and low != high:
            raise PatternError(f"the look-behind at {start} has no fixed length")
        return Group("(?:" if opening == "(" else opening, body)

    def repeated(self, part: Part) -> Part:
        match = re.compile(r"[*+?]|\{(\d*)(,?)(\d*)\}").match(self.text, self.at)
        text = match.group() if match else ""
        braces = text.startswith("{") and any(c.isdigit() for c in text)
        if not match or not (braces or text in ("*", "+", "?")):
            if self.text.startswith("{", self.at) and self.dialect == "regex":
                raise PatternError(f"the brace at {self.at} is no count of repetitions")
            return part
        self.at = match.end()
        if braces:
            few, comma, most = match.groups()
            low = int(few or 0)
            high = (int(most) if most else MANY) if comma else low
        else:
            low, high = {"*": (0, MANY), "+": (1, MANY), "?": (0, 1)}[text]
        mode = self.text[self.at : self.at + 1]
        mode = mode if mode in ("?", "+") and mode else ""
        self.at += len(mode)
        if low > high or (high > 1000 and high != MANY):
            raise PatternError(f"the count {text!r} is not supported")
        if isinstance(part, Anchor) or (isinstance(part, Group) and _part_width(part)[0] == 0):
            raise PatternError(f"{text!r} repeats what may be empty")
        if braces and mode and self.dialect == "oniguruma":
            if mode == "?" and low == high:
                raise PatternError(f"engines differ in what {text + mode!r} means")
            if mode == "+":  # there, it repeats the repetition
                if low == 0:
                    raise PatternError(f"{text + mode!r} repeats what may be empty")
                part, low, high, mode = Repeat(part, low, high, ""), 1, MANY, ""
        if self.text[self.at : self.at + 1] in tuple("*+?"):
            raise PatternError(f"{text + mode!r} is repeated again")
        return Repeat(part, low, high, mode)

    def escape(self) -> Part:
        found = self.escaped(in_set=False)
        if isinstance(found, Anchor):
            return found
        return Char(found) if len(found) == 1 else Class((found,))

    def escaped(self, in_set: bool) -> str | Anchor:
        """A character, a class such as `\\s`, or (outside a set) a place."""
        start = self.at - 1
        letter = self.text[self.at : self.at + 1]
        self.at += 1
        if letter and not letter.isalnum():
            return letter
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if letter in ("s", "S", "d", "D") or (letter in ("w", "W") and not in_set):
            return "\\" + letter + ("o" if letter in "wW" and self.dialect == "oniguruma" else "")
        if letter in ("p", "P"):
            return self.property(letter, start)
        hexadecimal = re.compile(r"x([0-7][0-9A-Fa-f])|u([0-9A-Fa-f]{4})").match(
            self.text, start + 1
        )
        if hexadecimal:
            self.at = hexadecimal.end()
            return chr(int(hexadecimal.group(1) or hexadecimal.group(2), 16))
        if not in_set:
            places = {"A": "start", "z": "end"}
            places["Z"] = "end" if self.dialect == "regex" else "last line"
            if letter in places and not (letter == "z" and self.dialect == "regex"):
                return Anchor(places[letter])
        raise PatternError(f"{self.text[start : start + 2]!r} at {start} is not supported")

    def property(self, letter: str, start: int) -> str:
        match = re.compile(r"\{(\^?)(\w+)\}").match(self.text, self.at)
        name = match.group(2) if match else ""
        if name not in _CATEGORIES | _SCRIPTS | _DERIVED:
            raise PatternError(f"{self.text[start : start + 12]!r} at {start} is not supported")
        assert match
        if self.fold and name in ("Lu", "Ll", "Lt"):
            raise PatternError(f"engines differ in what {name} is when case is ignored")
        self.at = match.end()
        negated = (letter == "P") != bool(match.group(1))
        return f"\\{'P' if negated else 'p'}{{{name}}}"

    def set(self) -> Class:
        start = self.at - 1
        negated = self.text.startswith("^", self.at)
        self.at += negated
        items: list[str | tuple[str, str]] = []
        while True:
            if self.at >= len(self.text):
                raise PatternError(f"the bracket at {start} is not closed")
            char = self.text[self.at]
            if char == "]" and items:
                self.at += 1
                break
            if char in "[]" or self.text[self.at : self.at + 2] in ("&&", "--", "~~", "||"):
                raise PatternError(f"{char!r} at {self.at} inside brackets is not supported")
            item = self.set_item()
            dash = self.text.startswith("-", self.at) and self.text[self.at + 1 : self.at + 2]
            if dash and dash != "]":
                self.at += 1
                last = self.set_item()
                if len(item) > 1 or len(last) > 1 or item > last:
                    raise PatternError(f"the range before {self.at} is not supported")
                items.append((item, last))
            else:
                items.append(item)
        ascii_only = all(len(i) > 1 or i.isascii() for i in items if isinstance(i, str))
        if self.fold and not (ascii_only and all(isinstance(i, str) for i in items)):
            raise PatternError(f"engines differ in the set at {start} when case is ignored")
        return Class(tuple(items), negated)

    def set_item(self) -> str:
        char = self.text[self.at]
        self.at += 1
        found = self.escaped(in_set=True) if char == "\\" else char
        assert isinstance(found, str)
        return found


# --------------------------------------------------------------------------- writing


def _written(tree: Alternatives, dialect: Dialect) -> str:
    return "|".join("".join(_part(part, dialect) for part in sequence) for sequence in tree)


def _part(part: Part, dialect: Dialect) -> str:
    if isinstance(part, Char):
        return _char(part.char, r"\.^$*+?{}[]|()")
    if isinstance(part, Anchor):
        end = r"\Z" if dialect == "regex" else r"\z"
        if dialect == "oniguruma" and part.place in ("last line", "line start", "line end"):
            return {"last line": r"\Z", "line start": "^", "line end": "$"}[part.place]
        return {
            "start": r"\A",
            "end": end,
            "last line": rf"(?=\n?{end})",
            "line start": rf"(?:\A|(?<=\n)(?!{end}))",
            "line end": rf"(?=\n|{end})",
        }[part.place]
    if isinstance(part, Class):
        return _class(part, dialect)
    if isinstance(part, Group):
        return f"{part.opening}{_written(part.body, dialect)})"
    text = _part(part.part, dialect)
    if isinstance(part.part, Repeat):
        text = f"(?:{text})"
    low, high = part.low, part.high
    signs = {(0, MANY): "*", (1, MANY): "+", (0, 1): "?"}
    if (low, high) in signs:
        return text + signs[low, high] + part.mode
    most = "" if high == MANY else str(high)
    count = f"{{{low}}}" if low == high else f"{{{low},{most}}}"
    if part.mode == "+":
        return f"(?>{text}{count})"
    # Of a single count, lazy says nothing; Oniguruma would take it for "once or not at all".
    return text + count + ("?" if part.mode and low != high else "")


def _char(char: str, special: str) -> str:
    return "\\" + char if char in special else _ESCAPE_OF.get(char, char)


def _class(part: Class, dialect: Dialect) -> str:
    if len(part.items) == 1 and not part.negated:
        item = part.items[0]
        if isinstance(item, str) and len(item) > 1:
            if item[1] not in "wW":
                return item
            word = _WORD_ONIGURUMA if item.endswith("o") else _WORD
            return f"[{'^' if item[1] == 'W' else ''}{word}]"
    text = "^" if part.negated else ""
    for item in part.items:
        if isinstance(item, tuple):
            text += "-".join(_char(c, r"\^-[]&~|") for c in item)
        else:
            text += item if len(item) > 1 else _char(item, r"\^-[]&~|")
    return f"[{text}]"
