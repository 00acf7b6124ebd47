"""The compiled scanners cut as `regex` does with the patterns of the same names."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import PATTERNS, PreTokenizer, kernels
from bpe_core.kernels import layout
from bpe_core.pretokenize import Scanner

SCANNED = sorted(name for name, pattern in PATTERNS.items() if pattern.scheme)

# One or more of every class that some pattern tells apart, of each length in UTF-8, and what
# the patterns name: the apostrophe, line breaks, the slash, letters of contractions.
CHARACTERS = "aAsTéЖжǅʰª中ا\u0301\u0300\U0001d1651٣½𝟙 \t\n\r\u00a0\u2003'!/_€🙃"
CONTRACTIONS = ["'s", "'S", "'ſ", "'t", "'T", "'m", "'D", "'ll", "'Ll", "'LL", "'ve", "'VE", "'Re"]


def bytes_of(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), np.uint8)


def scanned(name: str, text: str) -> list[int]:
    data = bytes_of(text)
    return PreTokenizer(name).ends(data, 0, data.size).tolist()


def matched(name: str, text: str) -> list[int]:
    """The same by `regex`: the pattern under no name has no scanner."""
    pretokenizer = PreTokenizer(PATTERNS[name].regex)
    assert pretokenizer.scheme == 0
    data = bytes_of(text)
    return pretokenizer.ends(data, 0, data.size).tolist()


@pytest.mark.parametrize("name", SCANNED)
def test_every_short_run_of_classes_is_cut_alike(name: str) -> None:
    few = "aAж中\u03011 \n\u00a0'!/"
    texts = ["".join(t) for n in (1, 2, 3, 4) for t in itertools.product(few, repeat=n)]
    texts += ["".join(t) for n in (1, 2) for t in itertools.product(CHARACTERS, repeat=n)]
    # A text ends at its last character, so each is scanned within one array but on its own.
    data = bytes_of("".join(texts))
    stops = np.cumsum([len(text.encode()) for text in texts]).tolist()
    scanner, pattern = PreTokenizer(name), PreTokenizer(PATTERNS[name].regex)
    for start, stop, text in zip([0, *stops], stops, texts, strict=False):
        ends = scanner.ends(data, start, stop).tolist()
        spans = [b for _, b in pattern.spans(text)]
        assert ends == [start + len(text[:b].encode()) for b in spans], text


@pytest.mark.parametrize("name", SCANNED)
def test_contractions_are_cut_alike_wherever_they_stand(name: str) -> None:
    around = ["", "x", "X", "中", "\u0301", "1", " ", "\n", "'", "!", "/"]
    for before, contraction, behind in itertools.product(around, CONTRACTIONS, around):
        text = before + contraction + behind
        assert scanned(name, text) == matched(name, text), text


@pytest.mark.parametrize("name", SCANNED)
def test_blank_runs_before_everything_are_cut_alike(name: str) -> None:
    blanks = ["", " ", "  ", " \n", "\n ", "\r\n", "\t\t", "\u2003 ", " \u00a0\n  ", "\n\n\n"]
    for first, blank, following in itertools.product(["", "a", "!", "1"], blanks, CHARACTERS):
        for text in (first + blank, first + blank + following, first + blank + following * 4):
            assert scanned(name, text) == matched(name, text), text


@pytest.mark.parametrize("name", SCANNED)
def test_any_text_is_cut_alike(name: str) -> None:
    mixed = st.text(st.sampled_from(CHARACTERS), max_size=40)

    @given(
        mixed | st.text(max_size=40) | st.lists(mixed | st.sampled_from(CONTRACTIONS)).map("".join)
    )
    @settings(max_examples=400)
    def compare(text: str) -> None:
        assert scanned(name, text) == matched(name, text)

    compare()


@pytest.mark.parametrize("name", SCANNED)
def test_the_end_of_a_window_does_not_show(name: str) -> None:
    """Runs that begin before, at and behind the place where a scanner looks at the text anew."""
    pieces = [
        "word ",
        "WORD",
        "中文字",
        "12345",
        "    \n",
        "!?!",
        "e\u0301\u0301",
        "'ll",
        " \u00a0",
    ]

    @given(
        fill=st.sampled_from(["a", " ", "ж", "1", "a ", "中", "!", "aB", "\n"]),
        short_of=st.integers(-12, 40),
        runs=st.lists(st.tuples(st.sampled_from(pieces), st.integers(1, 30)), max_size=8),
    )
    @settings(max_examples=150)
    def compare(fill: str, short_of: int, runs: list[tuple[str, int]]) -> None:
        size = (layout.WINDOW - short_of) // len(fill.encode())
        text = fill * size + "".join(piece * n for piece, n in runs)
        assert scanned(name, text) == matched(name, text)

    compare()


@pytest.mark.parametrize("name", SCANNED)
def test_the_place_of_a_text_does_not_show(name: str) -> None:
    """A scanner looks at 64 bytes at once, so what it finds is set before 0 to 66 others."""
    texts = [
        "don't I'LL x'ſ 'tis l'sort",
        "a  \n\t b\r\n\n  ) \n\n  \n",
        "f(x):\n\n/* */\n/\n//",
        "1234567890 ٣٣٣٣٣",
        "«(“été”)» ʰÀÉ\u0301 中A中a",
        "\u2003\u2003a\u00a0 \u00a0\u3000b",
        "aB\u0301!\u0301\u0301 1\ufe0f\u20e3🙃\ufe0f",
    ]
    for text, fill in itertools.product(texts, ("a", " ", "!", "1", "\n", "A")):
        for n in range(67):
            whole = fill * n + text + "ab "
            assert scanned(name, whole) == matched(name, whole), whole


@pytest.mark.parametrize("name", SCANNED)
def test_long_mixed_texts_are_cut_alike(name: str) -> None:
    """Runs of random length of random characters of a few kinds, over several windows."""
    rng = random.Random(name)
    kinds = ["aAsé", " \n\t\u00a0\u3000", "!'/(“", "19٣½", "中ʰǅª", "\u0301\u0300🙃", "'stlrvem"]
    for _ in range(60):
        alphabet = "".join(rng.sample(kinds, rng.randint(1, 4)))
        runs = []
        for _ in range(rng.randint(10, 3000)):
            length = rng.choice([1, 1, 1, 2, 3, 4, rng.randint(1, 90)])
            runs.append(rng.choice(alphabet) * length)
        text = "".join(runs)
        assert scanned(name, text) == matched(name, text)


@pytest.mark.parametrize("name", SCANNED)
def test_segments_are_scanned_as_if_each_were_alone(name: str) -> None:
    texts = [
        "",
        "don't",
        "  \n",
        "x" * 5000,
        "",
        "12345",
        " a\u00a0",
        "it's 中文。" * 700,
        "\u0301b",
    ]
    data = bytes_of("|".join(texts))
    stops = np.cumsum([len(text.encode()) + 1 for text in texts]) - 1
    starts = np.append(0, stops[:-1] + 1)
    bounds = np.stack([starts, stops], axis=1).ravel()
    pretokenizer = PreTokenizer(name)
    wanted = [pretokenizer.ends(data, a, b) for a, b in zip(starts, stops, strict=True)]
    ends = np.empty(layout.ENDS_ROOM, np.int64)  # the least that a scanner can go on with
    scanner = Scanner(pretokenizer.scheme)
    found: list[int] = []
    segment = 0
    while segment < len(texts):
        inside = bool(found) and starts[segment] < found[-1] < stops[segment]
        place = np.array([segment, found[-1] if inside else -1])
        n = scanner.scan(data, bounds, ends, place)
        found += ends[:n].tolist()
        while segment < len(texts) and (
            starts[segment] == stops[segment] or (found and found[-1] >= stops[segment])
        ):
            segment += 1
    assert found == np.concatenate(wanted).tolist()


@pytest.mark.parametrize("name", SCANNED)
def test_runs_longer_than_windows_are_one_piece(name: str) -> None:
    for character in ("a", "中", " ", "!"):
        text = character * (3 * layout.WINDOW) + "x1"
        assert scanned(name, text) == matched(name, text)


@pytest.mark.parametrize("name", SCANNED)
@pytest.mark.parametrize("corpus", ["corpus.en", "german.txt", "tinystories_sample.txt"])
def test_real_texts_are_cut_alike(name: str, corpus: str, shared: Path) -> None:
    text = (shared / "cs336" / corpus).read_bytes()[:300_000].decode("utf-8", "ignore")
    assert scanned(name, text) == matched(name, text)


@pytest.mark.parametrize("name", SCANNED)
def test_every_assigned_character_is_of_the_class_that_regex_gives_it(name: str) -> None:
    points = [p for p in range(0x110000) if not 0xD800 <= p < 0xE000 and p < 0x32400]
    text = "".join(f"a{chr(p)}{chr(p)}1{chr(p)} " for p in points if not 0x3500 <= p < 0xD700)
    assert scanned(name, text) == matched(name, text)


@given(data=st.binary(max_size=40), start=st.integers(0, 3))
@settings(max_examples=400)
def test_valid_utf8_ends_where_python_says(data: bytes, start: int) -> None:
    start = min(start, len(data))
    try:
        data[start:].decode()
        end = len(data)
    except UnicodeDecodeError as error:
        end = start + error.start
    assert kernels.valid_utf8(np.frombuffer(data, np.uint8), start, len(data)) == end


@given(text=st.text(max_size=12), cut=st.integers(0, 60), noise=st.binary(max_size=2))
@settings(max_examples=400)
def test_cut_and_broken_texts_are_valid_up_to_where_python_says(
    text: str, cut: int, noise: bytes
) -> None:
    data = ("ascii only " + text).encode()
    test_valid_utf8_ends_where_python_says.hypothesis.inner_test(data[:cut] + noise + data[cut:], 0)
