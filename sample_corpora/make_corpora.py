"""Write the sample texts that are put together from parts.

Run ``python sample_corpora/make_corpora.py`` to write ``stories.txt``, ``low_lower.txt`` and
``aaabdaaabac.txt`` again, byte for byte; with ``--check`` nothing is written, and the exit status
is 1 if a file on disk differs.

Here: the seeded storyteller and the two classic examples. Not here: the texts written by hand
from end to end (``chinese.txt``, ``languages.txt``, ``code.txt``, ``chat.txt``); those files are
their own source.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
SOURCES = FOLDER / "sources"
SEED = 1907
BORDER = "<|endoftext|>"

PRONOUNS = {"she": ("she", "her", "her", "herself"), "he": ("he", "him", "his", "himself")}


def source(name: str) -> str:
    """Return the text of one file of the sources folder."""
    return (SOURCES / name).read_text(encoding="utf-8")


@dataclass
class Plot:
    """One way for a story to go: its paragraphs, and the cases it can be about."""

    name: str
    paragraphs: list[str] = field(default_factory=list)
    cases: list[dict[str, str]] = field(default_factory=list)


def read_plots(text: str) -> list[Plot]:
    """Parse ``story_plots.txt`` (its first lines describe the format)."""
    plots: list[Plot] = []
    for line in text.split("\n"):
        if not line or line.startswith("#"):
            continue
        if line.startswith("plot "):
            plots.append(Plot(line.removeprefix("plot ")))
        elif line == "case":
            plots[-1].cases.append({})
        elif plots[-1].cases:
            key, _, value = line.partition(": ")
            plots[-1].cases[-1][key] = value
        else:
            plots[-1].paragraphs.append(line)
    return plots


def choose(template: str, pick: Callable[[int, list[str]], str]) -> str:
    """Replace every ``{a|b|c}`` by what ``pick(place, alternatives)`` says; places count from 0.

    >>> choose("a {red|blue} {hat}", lambda place, options: options[-1])
    'a blue hat'
    """
    places = itertools.count()
    return re.sub(r"\{([^{}]*)\}", lambda match: pick(next(places), match[1].split("|")), template)


def fill(template: str, words: dict[str, str]) -> str:
    """Replace every ``$name``, also inside what is filled in; ``$Name`` gets a capital letter.

    Raises KeyError for a name that no one defined.

    >>> fill("$He has $thing.", {"he": "she", "thing": "$color wool", "color": "red"})
    'She has red wool.'
    """

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name in words:
            return fill(words[name], words)
        lower = fill(words[name[0].lower() + name[1:]], words)
        return lower[0].upper() + lower[1:]

    return re.sub(r"\$([A-Za-z]\w*)", value, template)


def endless(items: list[str], rng: random.Random) -> Iterator[str]:
    """Yield all items in a random order, then all of them again, and so on."""
    while True:
        yield from rng.sample(items, len(items))


class Cast:
    """Hands out the people of each story, so that names come back as rarely as they can."""

    def __init__(self, people: dict[str, Any], rng: random.Random) -> None:
        self._people = people
        self._rng = rng
        self._names = {
            (world, gender): endless(people[world]["names"][gender].split(), rng)
            for world in ("child", "animal")
            for gender in PRONOUNS
        }

    def words(self, case: dict[str, str]) -> dict[str, str]:
        """Return the ``$name`` words of one story: cast, pronouns, place and day."""
        rng = self._rng
        world = case.get("world") or rng.choice(("child", "animal"))
        people = self._people[world]
        # Hero and friend never share a pronoun: "he" then always says which of the two.
        genders = rng.sample(sorted(PRONOUNS), 2)
        hero, friend = (next(self._names[world, gender]) for gender in genders)
        while friend[0] == hero[0]:
            friend = next(self._names[world, genders[1]])
        if world == "child":
            kinds = [rng.choice(people["kinds"][gender]) for gender in genders]
        else:
            known = case["species"].split(", ") if "species" in case else people["species"]
            species = rng.sample(known, 2)
            kinds = [f"{rng.choice(people['adjectives'])} {animal}" for animal in species]
        elder, elder_gender = (case.get("elder") or rng.choice(people["elders"])).split(", ")
        words = {
            "hero": hero,
            "friend": friend,
            "elder": elder,
            "hkind": kinds[0],
            "fkind": kinds[1],
            "place": rng.choice(people["places"]),
            "day": rng.choice(self._people["days"]),
        }
        for prefix, gender in (("", genders[0]), ("f", genders[1]), ("e", elder_gender)):
            for form, pronoun in zip(PRONOUNS["he"], PRONOUNS[gender], strict=True):
                words[prefix + form] = pronoun
        return words


def told_stories(plots: list[Plot], cast: Cast, rng: random.Random) -> list[str]:
    """Tell one story per case."""
    stories = []
    for plot in plots:
        # Each place uses all of its alternatives before one comes back.
        turns: dict[int, Iterator[str]] = {}

        def pick(place: int, options: list[str], turns: dict[int, Iterator[str]] = turns) -> str:
            return next(turns.setdefault(place, endless(options, rng)))

        template = "\n".join(plot.paragraphs)
        for case in plot.cases:
            words = {**case, **cast.words(case)}
            stories.append(fill(choose(template, pick), words))
    return stories


def stories() -> str:
    """Return ``stories.txt``: the mouse first, then all other stories in a random order."""
    rng = random.Random(SEED)
    first, *others = source("stories_by_hand.txt").removesuffix("\n").split(f"\n{BORDER}\n")
    cast = Cast(json.loads(source("story_cast.json")), rng)
    others += told_stories(read_plots(source("story_plots.txt")), cast, rng)
    rng.shuffle(others)
    return f"\n{BORDER}\n".join([first, *others]) + "\n"


def low_lower() -> str:
    """Return the classic word counts, one word a line, so that no pair crosses two words."""
    counts = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    return "".join(f"{word}\n" * count for word, count in counts.items())


def main() -> int:
    """Write the files, or compare them with what would be written."""
    parser = argparse.ArgumentParser(description="Write the generated sample texts again.")
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    check = parser.parse_args().check
    differing = 0
    files = {
        "stories.txt": stories(),
        "low_lower.txt": low_lower(),
        "aaabdaaabac.txt": "aaabdaaabac",  # no line break: it would be a byte of its own
    }
    for name, text in files.items():
        path = FOLDER / name
        data = text.encode("utf-8")
        same = path.exists() and path.read_bytes() == data
        differing += not same
        if not check:
            path.write_bytes(data)
        state = "unchanged" if same else "differs" if check else "written"
        print(f"{name}: {len(data):,} bytes, {state}")
    return 1 if check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
