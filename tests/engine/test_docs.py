"""What the pages in docs/ compute is run, and their figures show what was computed."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from bpe_core import Trainer

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_every_example_on_a_page_is_true(path: Path) -> None:
    failed, _ = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert failed == 0


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_what_a_page_links_to_is_there(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        assert "://" in target or (path.parent / target).exists(), target


def test_the_figure_of_join_ranks_shows_the_ranks_of_its_text() -> None:
    figure = (DOCS / "join_ranks.svg").read_text(encoding="utf-8")
    words = re.findall(r"<text [^>]*>([^<]+)</text>", figure)
    corpus = "low low low lower lower newest newest widest"
    joins = Trainer(271).train(corpus).tokenizer.join_ranks("lowest newest").tolist()
    assert [word for word in words if word.isdigit() or word == "never"] == [
        "never" if rank == 2**31 - 1 else str(rank) for rank in joins
    ]
    assert (
        "".join(word for word in words if len(word) == 1 and not word.isdigit()) == "lowest␣newest"
    )
