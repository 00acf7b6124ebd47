"""Fixtures of the engine's tests: shared data, well-known tokenizers, seeded property tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import bpe_core

from . import fixtures, texts

ROOT = Path(__file__).resolve().parents[2]
END_OF_TEXT = "<|endoftext|>"

settings.register_profile(
    "suite",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("suite")


SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared test data beside the repository."""
    if not SHARED.is_dir():
        pytest.skip("the shared test data (../shared) is not here")
    return SHARED


@pytest.fixture(scope="session")
def real_texts() -> list[str]:
    """Texts in many languages, some 300 KB: shared ones, or the sample corpora."""
    return texts.real_texts(SHARED) if SHARED.is_dir() else texts.sample_texts()


@pytest.fixture(scope="session")
def german() -> str:
    """A short text in German, shared or of the sample corpora."""
    path = SHARED / "cs336" / "german.txt"
    return path.read_text(encoding="utf-8") if path.is_file() else texts.sample_german()


@pytest.fixture(scope="session")
def gpt2() -> bpe_core.Tokenizer:
    """GPT-2 from its published files, end-of-text marker registered.

    Where they are not here: the part of it in `fixtures`, which gives the same ids for the texts
    there. The same holds for `cl100k`.
    """
    folder = SHARED / "cs336"
    if not folder.is_dir():
        return fixtures.tokenizer("r50k_base")
    return bpe_core.Tokenizer.from_files(
        folder / "gpt2_vocab.json", folder / "gpt2_merges.txt", special_tokens=[END_OF_TEXT]
    )


@pytest.fixture(scope="session")
def tiktoken_encoding(shared: Path) -> Callable[[str], Any]:
    """A function from the name of an encoding to tiktoken's own, read from the shared cache."""
    tiktoken = pytest.importorskip("tiktoken")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(shared / "tiktoken_cache")
    return tiktoken.get_encoding


@pytest.fixture(scope="session")
def cl100k(request: pytest.FixtureRequest) -> bpe_core.Tokenizer:
    """cl100k with its merges worked out from tiktoken's ranks: a token's id is its rank there."""
    if not SHARED.is_dir():
        return fixtures.tokenizer("cl100k_base")
    encoding = request.getfixturevalue("tiktoken_encoding")("cl100k_base")
    ranks: dict[bytes, int] = encoding._mergeable_ranks
    merges = [split_by_ranks(token, ranks) for token in sorted(ranks, key=ranks.__getitem__)]
    return bpe_core.Tokenizer.from_vocab(
        {id: token for token, id in ranks.items()},
        [pair for pair in merges if pair is not None],
        {END_OF_TEXT: 100257},
        pattern="cl100k",
    )


def split_by_ranks(token: bytes, ranks: dict[bytes, int]) -> tuple[bytes, bytes] | None:
    """The last two parts of a token, joined by lower ranks only; None for a byte."""
    parts = [token[place : place + 1] for place in range(len(token))]
    while len(parts) > 2:
        joined = [left + right for left, right in pairwise(parts)]
        place = min(range(len(joined)), key=lambda i: ranks.get(joined[i], len(ranks)))
        parts[place : place + 2] = [joined[place]]
    return (parts[0], parts[1]) if len(parts) == 2 else None


@pytest.fixture(scope="session")
def run_python() -> Callable[..., str]:
    """Run a script in a fresh interpreter at the root of the repository; return what it prints."""

    def run(script: str, *args: str, flags: tuple[str, ...] = (), timeout: float = 240, **env: str):
        done = subprocess.run(
            [sys.executable, *flags, "-c", script, *args],
            cwd=ROOT,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **env},
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
