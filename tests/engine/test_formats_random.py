"""Random tokenizer.json files: ids, decoding, saving and every export, against `tokenizers`.

Merges may be listed again and added tokens may be entries of the vocabulary. What is read gives the
ids of the library, here and from every export that has no obstacle; the rest is refused in words.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import PATTERNS, FormatError, Tokenizer, formats
from bpe_core.analysis import curves, sizes
from bpe_core.formats import from_characters

from .test_formats_hf import BYTE_LEVEL, added, ids_of, sequence, small, split

tokenizers = pytest.importorskip("tokenizers")

LETTERS = ["a", "b", "c", "Ġ", "Ã", "©", "Ċ", "1"]
NAMES = [
    "a", "1", "ab", "abc", "bc", " a", "a b", "\n", "é", "Ã©", "Ġ", "Ġa", " ", "  ", "<x>", "<xy>",
    "zz", "x y", "aé", "bca",
]  # fmt: skip
PRE_TOKENIZERS = [
    BYTE_LEVEL,
    BYTE_LEVEL | {"use_regex": False},
    BYTE_LEVEL | {"add_prefix_space": True},
    sequence(split(PATTERNS["cl100k"].regex)),
    sequence(split("[ab]+")),
    sequence({"type": "Digits", "individual_digits": True}, use_regex=True),
    sequence(split(r"\s"), split("b")),
]
NORMALIZERS = [None, None, {"type": "Sequence", "normalizers": []}, {"type": "NFC"}]


@st.composite
def contents(draw: st.DrawFn) -> dict[str, Any]:
    """A tokenizer.json with few letters, any merges over them, and added tokens of any kind."""
    parts = list(LETTERS)
    merges: list[list[str]] = []
    for _ in range(draw(st.integers(0, 10))):
        pair = [draw(st.sampled_from(parts)), draw(st.sampled_from(parts))]
        if len("".join(pair)) <= 6:
            merges.append(pair)
            parts.append("".join(pair))
    again: bool = draw(st.booleans())
    if merges and again:  # some are listed again, or stand in another order
        merges += draw(st.lists(st.sampled_from(merges), max_size=4))
        merges = draw(st.permutations(merges))
    entries = list(dict.fromkeys([*map("".join, merges), *draw(st.lists(st.sampled_from(NAMES)))]))
    content = small()
    model = content["model"]
    letters = {key: i for key, i in model["vocab"].items() if len(key) == 1}
    entries = [entry for entry in entries if entry not in letters]
    model["vocab"] = vocab = letters | {entry: 256 + i for i, entry in enumerate(entries)}
    listed = [" ".join(pair) for pair in merges]
    model["merges"] = listed if draw(st.booleans()) else [list(pair) for pair in merges]
    model["ignore_merges"] = draw(st.booleans())
    following = len(vocab)
    for name in draw(st.lists(st.sampled_from([*NAMES, *entries]), unique=True, max_size=5)):
        flags = ("lstrip", "rstrip", "single_word", "normalized", "special")
        chosen = draw(st.lists(st.sampled_from(flags), unique=True, max_size=2))
        options = dict.fromkeys(chosen, True) | {"special": "special" in chosen}
        content["added_tokens"].append(added(name, vocab.get(name, following), **options))
        following += name not in vocab
    content["pre_tokenizer"] = draw(st.sampled_from(PRE_TOKENIZERS))
    content["normalizer"] = draw(st.sampled_from(NORMALIZERS))
    return content


texts = st.lists(
    st.sampled_from([*NAMES, "a", "b", "c", " ", "\n", "e\u0301", "12"]), max_size=12
).map("".join)


@given(contents(), st.lists(texts, min_size=3, max_size=8))
@settings(max_examples=200)
def test_what_is_read_gives_the_ids_of_the_library_everywhere(
    content: dict[str, Any], examples: list[str]
) -> None:
    written = json.dumps(content)
    try:
        tokenizer, notes = formats.read_hf(written)
    except FormatError:
        return
    theirs = tokenizers.Tokenizer.from_str(written)
    examples = [text for text in examples if has_ids(theirs, text)]
    for text in examples:
        ids = tokenizer.encode(text)
        assert ids == ids_of(theirs, text), text
        assert tokenizer.decode(ids) == tokenizer.prepared(text)
    merges = content["model"]["merges"]
    assert any("listed again" in note for note in notes) == (
        len(set(map(str, merges))) < len(merges)
    )
    if sizes.has_curve(tokenizer):
        for text in examples:
            counted = len(ids_without_added_tokens(tokenizer, text))
            assert curves.corpus_token_counts(tokenizer, text)[-1] == counted
    for name in formats.FORMATS:
        obstacles = formats.obstacles(tokenizer, name)
        if name == "native":
            assert obstacles == []
        if obstacles:
            with pytest.raises(FormatError):
                formats.dumps(tokenizer, name)
        else:
            assert formats.prove(tokenizer, name, examples).differing == (), name
            check_with_its_library(tokenizer, name, examples)


def has_ids(theirs: Any, text: str) -> bool:
    """Whether the library encodes it: white space as a token with both strips may end it."""
    try:
        ids_of(theirs, text)
    except BaseException as err:  # what Rust's panics become is no Exception
        if type(err).__name__ != "PanicException":
            raise
        return False
    return True


def ids_without_added_tokens(tokenizer: Tokenizer, text: str) -> list[int]:
    return [i for i in tokenizer.encode(text) if i not in tokenizer.special_tokens.values()]


def check_with_its_library(tokenizer: Tokenizer, name: str, examples: list[str]) -> None:
    """Ids of an export as the library for which it is gives them."""
    if name == "hf":
        again = tokenizers.Tokenizer.from_str(formats.dumps_hf(tokenizer))
        for text in examples:
            assert ids_of(again, text) == tokenizer.encode(text), text
    if name == "tiktoken":
        tiktoken = pytest.importorskip("tiktoken")
        fields = [line.split() for line in formats.dumps_tiktoken(tokenizer).splitlines()]
        ranks = {base64.b64decode(token): int(rank) for token, rank in fields}
        encoding = tiktoken.Encoding(
            "x", pat_str=_pattern_of(formats.tiktoken_snippet(tokenizer)), mergeable_ranks=ranks,
            special_tokens=tokenizer.special_tokens,
        )  # fmt: skip
        for text in examples:
            assert encoding.encode(text, allowed_special="all") == tokenizer.encode(text), text


def _pattern_of(snippet: str) -> str:
    line = next(line for line in snippet.splitlines() if "pat_str=" in line)
    pattern: str = eval(line.strip().removeprefix("pat_str=").removesuffix(","))
    return pattern


# Curves


@pytest.mark.parametrize(
    ("names", "has_curve"),
    [
        ({"<s>": False, "<m>": True, "<mm>": True}, True),
        ({"<s>": False, "<m>": True, "><": True}, False),  # the first pass takes "<s>" of "<s><"
        ({"<s>": False, "<s>x": True}, False),
        ({"<s>": True, "<s>x": True}, True),
        ({"aba": False, "bab": False, "xx": True}, True),
    ],
)
def test_an_empty_normalizer_takes_no_curve_away(names: dict[str, bool], has_curve: bool) -> None:
    content = small(normalizer={"type": "Sequence", "normalizers": []})
    content["added_tokens"] = [
        added(name, 259 + i, normalized=late, special=not late)
        for i, (name, late) in enumerate(names.items())
    ]
    tokenizer = formats.loads_hf(json.dumps(content))
    theirs = tokenizers.Tokenizer.from_str(json.dumps(content))
    assert sizes.has_curve(tokenizer) == has_curve
    texts = ["", "abc", "ab<s>abc<m>abc<mm>", "<s><s>x><", "ababab<s>xx", "".join(names) * 2]
    for text in texts:
        assert tokenizer.encode(text) == ids_of(theirs, text)
        if has_curve:
            counted = len(ids_without_added_tokens(tokenizer, text))
            assert curves.corpus_token_counts(tokenizer, text)[-1] == counted
    if not has_curve:
        with pytest.raises(ValueError, match="added tokens with options"):
            curves.corpus_token_counts(tokenizer, "abc")


# Added tokens that the vocabulary has as ordinary entries


CASES = {
    "made by a merge": (["a b"], [added("ab", 256)]),
    "a byte": (["a b"], [added("1", 16)]),
    "a part of another token": (["a b", "ab c"], [added("ab", 256)]),
    "made by no merge": (["b c"], [added("ab", 257)]),
    "between letters only": (["a b", "ab c"], [added("ab", 256, single_word=True)]),
    "not special": (["a b"], [added("ab", 256, special=False)]),
}


@pytest.mark.parametrize("ignore_merges", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_an_added_token_that_is_an_entry_is_saved_and_loaded(
    case: str, ignore_merges: bool, tmp_path: Any
) -> None:
    merges, tokens = CASES[case]
    content = small(model_merges=merges, added_tokens=tokens, model_ignore_merges=ignore_merges)
    entries = list(dict.fromkeys([*(m.replace(" ", "") for m in merges), tokens[0]["content"]]))
    letters = {key: i for key, i in content["model"]["vocab"].items() if len(key) == 1}
    assert letters["1"] == 16
    longer = [entry for entry in entries if len(entry) > 1]
    content["model"]["vocab"] = letters | {entry: 256 + i for i, entry in enumerate(longer)}
    tokenizer = formats.loads_hf(json.dumps(content))
    theirs = tokenizers.Tokenizer.from_str(json.dumps(content))
    tokenizer.save(tmp_path / "saved.json")
    loaded = Tokenizer.load(tmp_path / "saved.json")
    for text in ("abc", "xabx", "1 21", "ab", "a b1 ab", "cab abc"):
        ids = ids_of(theirs, text)
        assert tokenizer.encode(text) == loaded.encode(text) == ids
        for special in ((), "all"):
            plain = tokenizer.encode(text, allowed_special=special)
            assert loaded.encode(text, allowed_special=special) == plain
    assert (loaded.vocab, loaded.merges) == (tokenizer.vocab, tokenizer.merges)
    assert loaded.special_tokens == tokenizer.special_tokens
    assert formats.dumps_native(loaded) == formats.dumps_native(tokenizer)
    for name in ("native", "hf"):
        assert formats.obstacles(tokenizer, name) == []
        assert formats.prove(tokenizer, name, ["abc ab 1"]).differing == ()


@pytest.mark.parametrize("name", [" b", "\n", "é", "ab"])
def test_a_special_token_that_merges_make_goes_where_one_name_says_both(name: str) -> None:
    vocab = {i: bytes([i]) for i in range(256)}
    vocab |= {256: b" b", 257: "é".encode(), 258: b"ab"}
    merges = [(b" ", b"b"), (b"\xc3", b"\xa9"), (b"a", b"b")]
    tokenizer = Tokenizer.from_vocab(vocab, merges, [name])
    assert vocab[tokenizer.special_tokens[name]] == name.encode()
    spelled_alike = from_characters(name) == name.encode()
    for format_name in ("native", "tiktoken", "hf", "gpt2"):
        obstacles = formats.obstacles(tokenizer, format_name)
        if spelled_alike or format_name in ("native", "tiktoken"):
            assert obstacles == []
            assert formats.prove(tokenizer, format_name, [f"a b{name}"]).differing == ()
        else:
            (sentence,) = obstacles
            assert repr(name) in sentence
            with pytest.raises(FormatError, match="one name for an id"):
                formats.dumps(tokenizer, format_name)


@pytest.mark.parametrize(
    ("key", "value"),
    [("special_tokens", {"<s>": 97}), ("unused", {"97": "xy"}), ("unused", {"400": "xy"})],
)
def test_a_native_file_in_which_two_entries_have_one_id_is_refused(key: str, value: Any) -> None:
    vocab = {i: bytes([i]) for i in range(256)} | {300: b"ab", 400: b"<s>"}
    tokenizer = Tokenizer.from_vocab(vocab, [(b"a", b"b")], ["<s>"])
    top = json.loads(formats.dumps_native(tokenizer))
    (i,) = (value if key == "unused" else {"97": 0}).keys()
    with pytest.raises(FormatError, match=f"both have id {i}"):
        formats.loads_native(json.dumps(top | {key: value}))
