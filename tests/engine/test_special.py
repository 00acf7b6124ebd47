"""Special tokens: found wherever they stand, and recognized, refused or read as text."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import PATTERNS, Trainer, reference
from bpe_core.preparation import AddedToken, Preparation
from bpe_core.pretokenize import PreTokenizer
from bpe_core.special import SpecialSplitter, special_policy

from . import oracle

SPECIALS = ["<|x|>", "<|x|>|>"]
WORDS = [
    "the",
    "'ll",
    "'S",
    "'ſ",
    "ABc",
    "é",
    "e\u0301",
    "\u0301",
    "中文",
    "1",
    "123456",
    "½",
    "٣",
    "🙃",
]
WORDS += [
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u00a0",
    "\u2028",
    "\u0085",
    "'",
    "!?",
    "/",
    "//\n",
    "<|x",
    "|>",
]
WORDS += ["<|x|>", "a", "A", "\u200b", "ǅ", "ʰ"]


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
def test_a_stream_is_only_cut_where_a_pre_token_ends(pattern: str) -> None:
    pretokenizer = PreTokenizer(pattern)
    splitter = SpecialSplitter(SPECIALS)

    @given(words=st.lists(st.sampled_from(WORDS), max_size=10), block=st.integers(1, 4))
    @settings(max_examples=250)
    def compare(words: list[str], block: int) -> None:
        expected: list[str] = []
        for part, is_special in reference.split_special("".join(words), SPECIALS):
            expected += [part] if is_special else oracle.cut(pretokenizer.regex, part)
        for pieces in (words, "".join(words)):
            found: list[str] = []
            for part in splitter.stream(map(str.encode, pieces), pretokenizer, block):
                bounds = part.bounds.reshape(-1, 2).tolist()
                for (start, stop), token in zip(bounds, part.tokens.tolist(), strict=True):
                    found += pretokenizer.split(part.data[start:stop].tobytes().decode())
                    found += [splitter.tokens[token]] if token >= 0 else []
            assert found == expected

    compare()


@pytest.mark.parametrize(
    "specials", [["<|x|>", "<|y|>", "<|"], ["<|x|>", "|", "é>"], ["\0a", "\0"]]
)
def test_special_tokens_are_found_wherever_they_stand(specials: list[str]) -> None:
    """The search looks at 64 bytes at once; `re` finds them one by one."""
    splitter = SpecialSplitter(specials)
    fills = ["a", "<", "<|", "\0", "é"]
    for special, fill in itertools.product(specials, fills):
        for n in range(70):
            text = fill * n + special + fill + special + "b" * (70 - n) + special[:-1]
            data = np.frombuffer(text.encode(), np.uint8)
            _, bounds, tokens, _, _ = splitter.segments(data, np.array([0, data.size]))
            found = [
                (data[a:b].tobytes().decode(), splitter.tokens[token] if token >= 0 else None)
                for (a, b), token in zip(bounds.reshape(-1, 2), tokens, strict=True)
            ]
            if found[-1] == ("", None):
                found.pop()
            assert found == splitter.split(text), text


# The policy


ALL = SpecialSplitter(["<a>", "<b>", "<c>"])


@pytest.mark.parametrize(
    ("allowed", "disallowed", "recognized", "refused"),
    [
        ("all", (), "abc", ""),
        ("all", "all", "abc", ""),
        ((), "all", "", "abc"),
        ({"<a>"}, "all", "a", "bc"),
        ({"<a>", "<other>"}, ["<b>"], "a", "b"),
        ("<a>", "<b>", "a", "b"),
        ("all", {"<a>"}, "abc", "a"),
    ],
)
def test_the_policy_says_what_is_recognized_and_what_is_refused(
    allowed: Any, disallowed: Any, recognized: str, refused: str
) -> None:
    policy = special_policy(ALL, allowed, disallowed)
    assert sorted(policy.recognized.tokens) == [f"<{name}>" for name in recognized]
    assert sorted(policy.refused.tokens) == [f"<{name}>" for name in refused]
    policy.check("no token, <d>")
    for name in "abc":
        if name in refused:
            with pytest.raises(ValueError, match=f"'<{name}>', which is not allowed"):
                policy.check(f"x<{name}>")
        else:
            policy.check(f"x<{name}>")


@pytest.mark.parametrize("wrong", [5, None, b"a"], ids=repr)
def test_what_is_no_text_is_refused_by_every_policy(wrong: Any) -> None:
    for policy in (special_policy(ALL, "all", ()), special_policy(ALL, (), "all")):
        with pytest.raises(TypeError, match="must be a str"):
            policy.check(wrong)
        with pytest.raises(TypeError, match="must be a str"):
            list(policy.checked(["a", wrong]))
    with pytest.raises(TypeError, match="special token must be a text"):
        special_policy(ALL, [wrong], ())


@given(text=st.text("<a>b", max_size=20), cuts=st.lists(st.integers(0, 20), max_size=6))
def test_a_refused_token_is_found_in_any_pieces(text: str, cuts: list[int]) -> None:
    policy = special_policy(ALL, {"<b>"}, "all")
    borders = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(borders)]
    if "<a>" in text:
        with pytest.raises(ValueError, match="'<a>'"):
            list(policy.checked(pieces))
    else:
        assert list(policy.checked(pieces)) == pieces


def test_added_tokens_that_are_not_special_are_always_recognized() -> None:
    options = Preparation(tokens={"<a>": AddedToken(special=False), "<b>": AddedToken(lstrip=True)})
    every = options.splitter(["<a>", "<b>", "<c>"])
    assert special_policy(every, (), "all").recognized.tokens == ["<a>"]
    policy = special_policy(every, {"<b>"}, "all")
    assert policy.recognized.split("<a> <b><c>") == [("", "<a>"), ("", "<b>"), ("<c>", None)]
    assert policy.refused.tokens == ["<c>"]


def test_every_way_of_encoding_follows_the_policy() -> None:
    tokenizer = Trainer(258, ["<a>", "<b>"]).train("").tokenizer
    options: dict[str, Any] = {"allowed_special": {"<a>"}, "disallowed_special": "all"}
    for name, text in (
        ("encode", "<b>"), ("encode_to_array", "<b>"), ("encode_batch", ["x", "<b>"]),
        ("encode_batch_to_array", ["x", "<b>"]), ("encode_chunks", ["<", "b>"]),
        ("encode_iterable", ["<", "b>"]), ("count_tokens", "<b>"), ("encode_spans", "<b>"),
        ("tokens", "<b>"), ("join_ranks", "<b>"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="'<b>', which is not allowed"):
            list(getattr(tokenizer, name)(text, **options))
    for encode in (tokenizer.encode, lambda text, **o: list(tokenizer.encode_iterable(text, **o))):
        assert encode("<a><b>", allowed_special={"<a>"}) == [256, *b"<b>"]
