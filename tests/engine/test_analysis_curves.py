"""Curves equal encoding at every size, and what they say at one size is what their counts say."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest

from bpe_core import Trainer
from bpe_core.analysis import curves, sizes
from bpe_core.analysis.curves import CompressionCurve

from . import imported


def test_curves_are_those_of_encoding_at_every_size() -> None:
    text = "".join(random.Random(1).choices("ab cd", k=600))
    unseen = "".join(random.Random(2).choices("abcd e", k=400))
    result = Trainer(290, ["<|x|>"]).train(text)
    curve = CompressionCurve.of(result.tokenizer, unseen)
    assert curve.sizes.tolist() == list(range(257, 291))
    assert (curve.smallest, curve.largest, curve.n_bytes) == (257, 290, len(unseen))
    for size, count in zip(curve.sizes.tolist(), curve.counts.tolist(), strict=True):
        assert sizes.at_size(result.tokenizer, size).count_tokens(unseen) == count
        assert curve.reading(size).bytes_per_token == len(unseen) / count
    learned = CompressionCurve.of(result.tokenizer, text)
    assert np.array_equal(curves.counts_of_training(result.trace), learned.counts)


@pytest.mark.parametrize("kind", imported.KINDS)
def test_the_last_point_is_that_of_encoding(kind: str) -> None:
    tokenizer, text = imported.of_kind(kind), imported.TEXT * 3
    specials = set(tokenizer.special_tokens.values())
    ids = [i for i in tokenizer.encode(text) if i not in specials]
    curve = CompressionCurve.of(tokenizer, text)
    n_bytes = len(text.replace("<|x|>", "").encode())
    assert curves.full_size(tokenizer, text) == (len(ids), n_bytes)
    assert curve.counts[-1] == len(ids)
    assert curve.sizes[-1] == tokenizer.vocab_size
    assert curve.n_bytes == n_bytes
    assert curve.only == (kind != "plain") == (len(curve.counts) == 1)
    last = curve.reading(10**6)
    assert (last.size, last.tokens, last.only) == (tokenizer.vocab_size, len(ids), curve.only)
    assert last.bytes_per_token == n_bytes / len(ids)


def test_readings_by_hand() -> None:
    def reading(counts: list[int], size: int) -> tuple[int, int, float, bool]:
        curve = CompressionCurve(np.array(counts), counts[0], 255 + len(counts))
        says = curve.reading(size)
        assert says.tokens == counts[says.size - 256]
        return says.size, says.other, says.gain, says.short

    assert reading([80, 40, 20, 10], 256) == (256, 259, 7.0, False)
    assert reading([80, 40, 20, 10], 259) == (259, 257, 3.0, False)
    assert reading([80, 40, 20, 10], 400) == (259, 257, 3.0, True)
    assert reading([80, 40, 20, 10], 1) == (256, 259, 7.0, False)
    assert reading([80], 256) == (256, 256, 0.0, False)
    assert reading([80, 80], 256) == (256, 257, 0.0, False)
    long = list(range(2000, 1000, -1))
    assert reading(long, 300)[:2] == (300, 600)  # doubled
    assert reading(long, 1255)[:2] == (1255, 1155)  # the last 100 entries


def test_a_text_without_tokens_has_no_density() -> None:
    tokenizer = Trainer(258, ["<|x|>"]).train("aa").tokenizer
    for text in ("", "<|x|>"):
        curve = CompressionCurve.of(tokenizer, text)
        assert curve.counts.tolist() == [0, 0]
        assert math.isnan(curve.values[0])
        assert curves.full_size(tokenizer, text) == (0, 0)


@pytest.mark.parametrize(
    "lines",
    [
        "from bpe_core import metrics, vocabulary",
        "import bpe_core.metrics as metrics\nimport bpe_core.vocabulary as vocabulary",
        "import bpe_core\nmetrics = bpe_core.metrics\nfrom bpe_core import vocabulary",
    ],
)
def test_older_names_are_the_modules_themselves(run_python: Callable[..., str], lines: str) -> None:
    script = f"""
{lines}
import sys
import bpe_core
assert metrics is bpe_core.analysis.curves is sys.modules["bpe_core.metrics"]
assert vocabulary is bpe_core.analysis.vocabulary is sys.modules["bpe_core.vocabulary"]
from bpe_core.metrics import bytes_per_token
from bpe_core.vocabulary import Vocabulary
print(bytes_per_token(4, [2])[0], Vocabulary.__name__)
"""
    assert run_python(script) == "2.0 Vocabulary\n"
