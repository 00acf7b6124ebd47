"""The texts that come with the app, and the settings that show each of them best.

Belongs here: reading ``sample_corpora/``. What each text is for stands in the README there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "sample_corpora"


@dataclass(frozen=True)
class Sample:
    """A text that comes with the app, and the settings that show it best."""

    id: str
    name: str
    about: str
    path: Path
    n_bytes: int
    special_tokens: tuple[str, ...]
    vocab_size: int

    def read(self) -> str:
        """The whole text."""
        return self.path.read_bytes().decode("utf-8")


@lru_cache(maxsize=1)
def by_id() -> dict[str, Sample]:
    """The samples by id, in the order of ``sample_corpora/index.json``."""
    found: dict[str, Sample] = {}
    for entry in json.loads((FOLDER / "index.json").read_text("utf-8")):
        path = FOLDER / entry["file"]
        found[path.stem] = Sample(
            id=path.stem,
            name=entry["title"],
            about=entry["subtitle"],
            path=path,
            n_bytes=path.stat().st_size,
            special_tokens=tuple(entry["special_tokens"]),
            vocab_size=entry["vocab_size"],
        )
    return found


def first() -> Sample:
    """The sample that the app opens with."""
    return next(iter(by_id().values()))
