"""tokenizer.json: files in the shapes of known families give the ids of `tokenizers`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import PATTERNS, FormatError, Tokenizer, Trainer, formats
from bpe_core.formats.canonical import canonical_merges

from .texts import NASTY, assigned, mixed

tokenizers = pytest.importorskip("tokenizers")
from tokenizers import models, pre_tokenizers, trainers  # noqa: E402

ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())
BYTE_LEVEL = {
    "type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True,
}  # fmt: skip
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
QWEN3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK3 = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
)


def split(regex: str, behavior: str = "Isolated", invert: bool = False) -> dict[str, Any]:
    return {
        "type": "Split", "pattern": {"Regex": regex}, "behavior": behavior, "invert": invert,
    }  # fmt: skip


def sequence(*steps: dict[str, Any], use_regex: bool = False) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": [*steps, BYTE_LEVEL | {"use_regex": use_regex}]}


def added(content: str, id: int, **flags: bool) -> dict[str, Any]:
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": id, "content": content, **plain, "special": True, **flags}


def template(*tokens: tuple[str, int]) -> dict[str, Any]:
    single = [{"SpecialToken": {"id": token, "type_id": 0}} for token, _ in tokens]
    text = {"Sequence": {"id": "A", "type_id": 0}}
    return {
        "type": "Sequence",
        "processors": [
            BYTE_LEVEL,
            {
                "type": "TemplateProcessing", "single": [*single, text], "pair": [*single, text],
                "special_tokens": {t: {"id": t, "ids": [i], "tokens": [t]} for t, i in tokens},
            },
        ],
    }  # fmt: skip


def blanks(first: int, longest: int) -> list[dict[str, Any]]:
    """Runs of blanks as added tokens that are not special, as in GPT-NeoX and Phi."""
    return [
        added(" " * n, first + i, special=False, normalized=True)
        for i, n in enumerate(range(longest, 1, -1))
    ]


N = 256 + 700  # entries of the trained vocabularies
EMPTY = {"type": "Sequence", "normalizers": []}
FAMILIES: dict[str, dict[str, Any]] = {
    "GPT-2": {
        "pre_tokenizer": BYTE_LEVEL,
        "added_tokens": [added("<|endoftext|>", N, normalized=True)],
        "post_processor": BYTE_LEVEL | {"trim_offsets": False},
    },
    "Llama 3": {
        "pre_tokenizer": sequence(split(LLAMA3)),
        "added_tokens": [
            added(t, N + i)
            for i, t in enumerate(["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"])
        ],
        "post_processor": template(("<|begin_of_text|>", N)),
        "model": {"ignore_merges": True},
    },
    "Qwen 2": {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": sequence(split(QWEN2)),
        "added_tokens": [
            added("<|endoftext|>", N), added("<|im_start|>", N + 1), added("<|im_end|>", N + 2),
            added("<tool_call>", N + 3, special=False), added("<think>", N + 4, special=False),
        ],
        "post_processor": BYTE_LEVEL,
    },
    "Qwen 3.5": {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": sequence(split(QWEN3)),
        "added_tokens": [added("<|endoftext|>", N), added("<think>", N + 1, special=False)],
    },
    "DeepSeek 3": {
        "normalizer": EMPTY,
        "pre_tokenizer": sequence(
            split(r"\p{N}{1,3}"), split("[一-龥\u3040-ゟ゠-ヿ]+"), split(DEEPSEEK3)
        ),
        "added_tokens": [
            added("<｜begin▁of▁sentence｜>", N), added("<｜end▁of▁sentence｜>", N + 1),
            added("<｜User｜>", N + 2, special=False), added("<think>", N + 3, special=False),
        ],
        "post_processor": template(("<｜begin▁of▁sentence｜>", N)),
    },
    "DeepSeek 1": {
        "normalizer": EMPTY,
        "pre_tokenizer": sequence(
            split("[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"),
            split("[一-龥ࠀ-一가-\ud7ff]+"), {"type": "Digits", "individual_digits": True},
        ),
        "added_tokens": [added("<｜begin▁of▁sentence｜>", N)],
    },
    "GPT-NeoX": {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": BYTE_LEVEL,
        "added_tokens": [
            added("<|endoftext|>", N), added("<|padding|>", N + 1), *blanks(N + 2, 24),
        ],
        "post_processor": BYTE_LEVEL,
    },
    "Phi 2": {
        "pre_tokenizer": BYTE_LEVEL,
        "added_tokens": [
            added("<|endoftext|>", N), *blanks(N + 1, 31),
            *[added("\t" * n, N + 40 - n, special=False, normalized=True) for n in range(9, 1, -1)],
        ],
    },
    "Phi 4": {
        "pre_tokenizer": sequence(split(LLAMA3)),
        "added_tokens": [
            added(t, N + i, lstrip=True, rstrip=True)
            for i, t in enumerate(["<|endoftext|>", "<|im_start|>", "<|im_sep|>", "<|im_end|>"])
        ],
    },
    "GPT-4, other spelling": {
        "pre_tokenizer": sequence(split(LLAMA3, "Removed", invert=True)),
        "added_tokens": [added("<|endoftext|>", N)],
    },
    "GPT-4o": {
        "pre_tokenizer": sequence(split(PATTERNS["o200k"].regex)),
        "added_tokens": [added("<|endoftext|>", N)],
    },
    "StarCoder": {
        "pre_tokenizer": sequence({"type": "Digits", "individual_digits": True}, use_regex=True),
        "added_tokens": [added("<fim_prefix>", N), added("<fim_suffix>", N + 1)],
    },
    "RoBERTa": {
        "pre_tokenizer": BYTE_LEVEL | {"add_prefix_space": True},
        "added_tokens": [added("<s>", N), added("<mask>", N + 1, lstrip=True)],
        "post_processor": {
            "type": "RobertaProcessing", "sep": ["<s>", N], "cls": ["<s>", N],
            "trim_offsets": True, "add_prefix_space": True,
        },
    },
    "whole text": {"pre_tokenizer": BYTE_LEVEL | {"use_regex": False}},
    "every option": {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": BYTE_LEVEL,
        "added_tokens": [
            added("<l>", N, lstrip=True), added("<r>", N + 1, rstrip=True),
            added("qzw", N + 2, single_word=True, special=False), added(" x", N + 3, special=False),
            added("éx", N + 4, special=False, normalized=True), added("<l><r>", N + 5),
            added("K<", N + 6, special=False, normalized=True), added("r>éx", N + 7, normalized=True),
            added("  ", N + 8, special=False), added("qzwy", N + 9, rstrip=True, single_word=True),
        ],
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def trained(real_texts: list[str]) -> dict[str, Any]:
    """The model of a tokenizer.json: some hundred merges of `tokenizers` from real texts."""
    theirs = tokenizers.Tokenizer(models.BPE())
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=N, initial_alphabet=ALPHABET, show_progress=False, special_tokens=[]
    )
    theirs.train_from_iterator([*real_texts[::2], *NASTY], trainer)
    model = json.loads(theirs.to_str())["model"]
    assert len(model["vocab"]) == N
    return model


def family_file(name: str, model: dict[str, Any]) -> str:
    shape = FAMILIES[name]
    top = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": BYTE_LEVEL,
    }  # fmt: skip
    return json.dumps({**top, **shape, "model": model | shape.get("model", {})})


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest, trained: dict[str, Any]) -> tuple[str, Tokenizer, Any]:
    text = family_file(request.param, trained)
    return request.param, formats.loads_hf(text), tokenizers.Tokenizer.from_str(text)


def ids_of(theirs: Any, text: str) -> list[int]:
    return theirs.encode(text, add_special_tokens=False).ids


def specials_between(tokenizer: Tokenizer) -> Iterator[str]:
    names = list(tokenizer.special_tokens)
    for name in names:
        for before, after in (("a", "b"), (" a  ", "  b"), ("\n", "\t\n"), (name, name), ("", " ")):
            yield before + name + after
    yield "".join(names)
    yield " ".join(names) + "  " + "\n".join(reversed(names))


def test_a_family_is_read(family: tuple[str, Tokenizer, Any]) -> None:
    name, ours, theirs = family
    vocab = theirs.get_vocab(with_added_tokens=True)
    specials = ours.special_tokens
    names = {i: specials_name for specials_name, i in specials.items()}
    assert vocab == {names.get(i) or formats.to_characters(t): i for i, t in ours.vocab.items()}
    added_tokens = FAMILIES[name].get("added_tokens", [])
    assert specials == {entry["content"]: entry["id"] for entry in added_tokens}


def test_ids_equal_on_real_texts_nasty_strings_and_added_tokens(
    family: tuple[str, Tokenizer, Any], real_texts: list[str]
) -> None:
    _, ours, theirs = family
    for text in [*real_texts[1::3], *NASTY, *specials_between(ours)]:
        assert ours.encode(text) == ids_of(theirs, text)
        assert list(ours.encode_iterable([text[:5], text[5:]])) == ids_of(theirs, text)
        prepared = ours.prepared(text)
        assert ours.decode(ours.encode(text)) == prepared
        assert ours.tokens(text)[-1:] == [] or ours.tokens(text)[-1].end == len(prepared.encode())


def test_ids_equal_on_every_tokens_own_text(family: tuple[str, Tokenizer, Any]) -> None:
    _, ours, theirs = family
    for token in ours.vocab.values():
        text = token.decode("utf-8", "replace")
        assert ours.encode(text) == ids_of(theirs, text)


def test_ids_equal_on_generated_texts(family: tuple[str, Tokenizer, Any]) -> None:
    _, ours, theirs = family
    names = list(ours.special_tokens) or ["<x>"]
    bits = st.sampled_from(
        [*names, *names, " ", "  ", "\n", "e", "\u0301", "w", "y", "K", "qzw", "x"]
    )

    @given(mixed | st.lists(bits | st.text(assigned, max_size=2), max_size=14).map("".join))
    @settings(max_examples=150)
    def compare(text: str) -> None:
        ids = ids_of(theirs, text)
        assert ours.encode(text) == ids
        assert ours.decode(ids) == ours.prepared(text)

    compare()


def test_a_family_comes_back_equal_from_both_kinds_of_file(
    family: tuple[str, Tokenizer, Any], real_texts: list[str]
) -> None:
    _, ours, theirs = family
    assert formats.obstacles(ours, "hf") == []
    written = formats.dumps_hf(ours)
    again = tokenizers.Tokenizer.from_str(written)
    loaded = [formats.loads_hf(written), formats.loads_native(formats.dumps_native(ours))]
    for text in [*real_texts[::9], *NASTY, *specials_between(ours)]:
        ids = ids_of(theirs, text)
        assert ids_of(again, text) == ids
        assert [tokenizer.encode(text) for tokenizer in loaded] == [ids, ids]
    for tokenizer in loaded:
        assert tokenizer.vocab == ours.vocab
        assert tokenizer.preparation == ours.preparation
        assert formats.dumps_hf(tokenizer) == written
        assert tokenizer.truncated(10).preparation == ours.preparation


def test_known_patterns_are_known_by_name(trained: dict[str, Any]) -> None:
    patterns = {
        name: formats.loads_hf(family_file(name, trained)).pattern
        for name in ("GPT-2", "GPT-4o", "Llama 3", "whole text", "DeepSeek 3", "StarCoder")
    }
    assert patterns["GPT-2"] == "gpt2"
    assert patterns["GPT-4o"] == "o200k"
    assert (
        PATTERNS[patterns["Llama 3"]].regex == LLAMA3
        if patterns["Llama 3"] in PATTERNS
        else (patterns["Llama 3"] == LLAMA3)
    )
    assert patterns["whole text"] == "whole text"
    assert len(patterns["DeepSeek 3"]) == 3
    assert patterns["StarCoder"] == (r"\p{N}", "gpt2")


def test_what_is_not_applied_is_told(trained: dict[str, Any]) -> None:
    notes = {name: formats.read_hf(family_file(name, trained)).notes for name in FAMILIES}
    assert notes["GPT-2"] == ()
    for name, token in (
        ("Llama 3", "<|begin_of_text|>"),
        ("DeepSeek 3", "<｜begin▁of▁sentence｜>"),
    ):
        (note,) = notes[name]
        assert token in note
    (note,) = notes["RoBERTa"]
    assert "RobertaProcessing" in note


# Small files


def small(**changes: Any) -> dict[str, Any]:
    """A file with the merges b+c, a+b and ab+c; `changes` by key, "model_..." inside the model."""
    vocab = {c: i for i, c in enumerate(ALPHABET)} | {"bc": 256, "ab": 257, "abc": 258}
    model = {
        "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
        "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
        "ignore_merges": False, "vocab": vocab, "merges": ["b c", "a b", "ab c"],
    }  # fmt: skip
    top = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": None, "pre_tokenizer": BYTE_LEVEL, "post_processor": None,
        "decoder": BYTE_LEVEL, "model": model,
    }  # fmt: skip
    for key, value in changes.items():
        if key == "vocab":
            vocab.update(value)
        elif key.startswith("model_"):
            model[key.removeprefix("model_")] = value
        else:
            top[key] = value
    return top


def loads(**changes: Any) -> Tokenizer:
    return formats.loads_hf(json.dumps(small(**changes)))


def theirs_of(**changes: Any) -> Any:
    return tokenizers.Tokenizer.from_str(json.dumps(small(**changes)))


def test_merges_as_pairs_and_as_text_are_the_same() -> None:
    pairs = [["b", "c"], ["a", "b"], ["ab", "c"]]
    for merges in (["b c", "a b", "ab c"], pairs):
        vocab = {"ab": 256, "abc": 257, "bc": 258}
        ours = loads(model_merges=merges, vocab=vocab)
        a, b, c = (ALPHABET.index(letter) for letter in "abc")
        assert ours.encode("abc") == ids_of(theirs_of(model_merges=merges, vocab=vocab), "abc")
        assert ours.encode("abc") == [a, 258]
        assert ours.encode("abab") == [256, 256]
        assert (b, c) != (a, b)


@pytest.mark.parametrize(
    "merges",
    [
        ["a b", "b c", "a b"],
        ["b c", "a b", "ab c", "b c", "b c"],
        ["a b", "ab c", "a b", "b c", "a bc"],
        ["a b", "ab c", "b c", "a bc", "a b", "ab c", "b c"],
    ],
)
def test_a_repeated_merge_counts_where_it_stands_last(merges: list[str]) -> None:
    for listed in (merges, [merge.split(" ") for merge in merges]):
        tokenizer, (note,) = formats.read_hf(json.dumps(small(model_merges=listed)))
        theirs = theirs_of(model_merges=listed)
        for text in ("abc", "abcabc", "ab", "bc", "abbc", "aabcc"):
            assert tokenizer.encode(text) == ids_of(theirs, text)
        assert f"{len(merges) - len(set(merges))} merge" in note
        again = formats.read_hf(formats.dumps_hf(tokenizer))
        assert again.notes == ()
        assert again.tokenizer.merges == tokenizer.merges


def test_a_repeated_merge_of_a_merges_txt_counts_where_it_stands_last(tmp_path: Path) -> None:
    content = small(model_merges=["a b", "b c", "a b"])
    names, lines = tmp_path / "vocab.json", tmp_path / "merges.txt"
    names.write_text(json.dumps(content["model"]["vocab"]), encoding="utf-8")
    lines.write_text("#version: 0.2\na b\nb c\na b\n", encoding="utf-8")
    theirs = tokenizers.ByteLevelBPETokenizer(str(names), str(lines))
    with pytest.warns(UserWarning, match="merges.txt: 1 merge is listed again later") as caught:
        ours = Tokenizer.from_files(names, lines, [])
    assert caught[0].filename == __file__
    assert ours.encode("abc") == theirs.encode("abc").ids == [ALPHABET.index("a"), 256]


def test_pre_tokens_are_taken_whole_with_ignore_merges() -> None:
    # b+c comes first, so that merging never makes "abc"; nor "xyz", which has no merge.
    changes: dict[str, Any] = {
        "model_ignore_merges": True,
        "vocab": {"xyz": 300, "Ġxyz": 301, "<v>": 302},
        "added_tokens": [added("<v>", 302), added("<s>", 262)],
    }
    ours, theirs = loads(**changes), theirs_of(**changes)
    for text in (
        "abc",
        "abcabc",
        " abc",
        "abc abc",
        "xyz xyz xyzxyz",
        "x\nabc xyz",
        "bc ab",
        "",
        "<v>abc<s>xyz",
    ):
        assert ours.encode(text) == ids_of(theirs, text)
        assert ours.decode(ours.encode(text)) == text
    assert ours.encode("abc xyz") == [258, 301]
    for text in ("abc", "b xyz"):
        with pytest.raises(ValueError, match="taken whole"):
            ours.join_ranks(text)
    assert ours.join_ranks("bc").tolist() == [0]
    for format_name, found in (("gpt2", "whole"), ("hf", None), ("native", None)):
        obstacles = formats.obstacles(ours, format_name)
        assert bool(obstacles) == bool(found), obstacles
    again = formats.loads_hf(formats.dumps_hf(ours))
    assert again.encode("abc xyz") == [258, 301]
    assert loads(vocab={"xyz": 300}).encode("abc xyz") == ids_of(
        theirs_of(vocab={"xyz": 300}), "abc xyz"
    )


def test_ids_are_kept_as_declared_gaps_and_all() -> None:
    changes: dict[str, Any] = {
        "vocab": {"abc": 1000, "ab": 700, "unused": 900, "<a>": 800},
        "added_tokens": [added("<a>", 800)],
    }
    ours = loads(**changes)
    assert ours.encode("ab<a>abc") == ids_of(theirs_of(**changes), "ab<a>abc")
    assert {ours.vocab[i] for i in (1000, 700, 900, 800)} == {b"abc", b"ab", b"unused", b"<a>"}
    # An added token with a gap before it: kept as declared, and the difference is told.
    imported = formats.read_hf(json.dumps(small(added_tokens=[added("<a>", 300)])))
    assert imported.tokenizer.encode("<a>") == [300]
    (note,) = imported.notes
    assert "300" in note
    assert "259" in note
    assert ids_of(theirs_of(added_tokens=[added("<a>", 300)]), "<a>") == [259]
    # What is written from it keeps the id in the library too.
    written = formats.dumps_hf(imported.tokenizer)
    assert ids_of(tokenizers.Tokenizer.from_str(written), "x<a>")[1:] == [300]


def test_added_tokens_that_are_not_special_are_always_recognized() -> None:
    tokens = [added("<m>", 259, special=False), added("<s>", 260)]
    ours = loads(added_tokens=tokens)
    blank, a, b = (ALPHABET.index(c) for c in "Ġab")
    assert ours.encode("a  <m>  b") == [a, blank, blank, 259, blank, blank, b]
    assert 259 in ours.encode("<m><s>", allowed_special=())
    assert 260 not in ours.encode("<m><s>", allowed_special=())
    assert ours.encode("<m>", allowed_special=(), disallowed_special="all") == [259]
    with pytest.raises(ValueError, match="<s>"):
        ours.encode("<m><s>", allowed_special=(), disallowed_special="all")


def test_an_added_token_that_is_also_made_by_merges() -> None:
    changes: dict[str, Any] = {"added_tokens": [added("ab", 257), added("c", ALPHABET.index("c"))]}
    ours, theirs = loads(**changes), theirs_of(**changes)
    for text in ("abc", "xabx", "bcab", "acb"):
        assert ours.encode(text) == ids_of(theirs, text)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"model_type": "WordPiece"}, "WordPiece.*no merges"),
        ({"model_type": "Unigram"}, "Unigram.*probability"),
        ({"model_type": "WordLevel"}, "WordLevel"),
        ({"model_type": "Other"}, "Other"),
        ({"model_byte_fallback": True}, "byte_fallback.*SentencePiece"),
        ({"model_end_of_word_suffix": "</w>"}, "end_of_word_suffix.*</w>"),
        ({"model_continuing_subword_prefix": "##"}, "continuing_subword_prefix.*##"),
        ({"model_dropout": 0.1}, "dropout"),
        ({"pre_tokenizer": None}, "pre_tokenizer.*ByteLevel"),
        ({"pre_tokenizer": {"type": "Metaspace"}}, "Metaspace.*SentencePiece"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "Whitespace"),
        ({"pre_tokenizer": {"type": "BertPreTokenizer"}}, "BertPreTokenizer"),
        ({"pre_tokenizer": {"type": "Punctuation"}}, "Punctuation"),
        ({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [split("a")]}}, "ByteLevel"),
        ({"pre_tokenizer": {"type": "Sequence"}}, "pretokenizers"),
        (
            {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [BYTE_LEVEL, split("a")]}},
            "last step",
        ),
        ({"pre_tokenizer": sequence(split("a", "Removed"))}, "Removed"),
        ({"pre_tokenizer": sequence(split("a", "Removed", True))}, "Removed.*inverted"),
        ({"pre_tokenizer": sequence(split("a", "MergedWithPrevious"))}, "MergedWithPrevious"),
        ({"pre_tokenizer": sequence(split("a", "Contiguous"))}, "Contiguous"),
        ({"pre_tokenizer": sequence(split("("))}, "pattern"),
        ({"pre_tokenizer": sequence(split(r"\bx"))}, r"\\\\b"),
        ({"pre_tokenizer": sequence(split(r"[a&&b]"))}, "&"),
        ({"pre_tokenizer": sequence(split(r"\h+"))}, r"\\\\h"),
        (
            {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                split("a"), BYTE_LEVEL | {"add_prefix_space": True}]}},
            "add_prefix_space",
        ),
        ({"normalizer": {"type": "NFKC"}}, "NFKC"),
        ({"normalizer": {"type": "Lowercase"}}, "Lowercase"),
        ({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Strip"}]}},
         "Strip"),
        ({"model_vocab": []}, "vocab"),
        ({"vocab": {"q!": "7"}}, "'q!'"),
        ({"vocab": {"q!": 256}}, "bc.*256|256.*bc"),
        ({"vocab": {"q!": True}}, "'q!'"),
        ({"model_merges": ["b c", "a q!"]}, "item 1.*'q!'"),
        ({"model_merges": ["b c", "a a"]}, "item 1.*'aa'"),
        ({"model_merges": ["a b c"]}, "item 0"),
        ({"model_merges": ["a"]}, "item 0"),
        ({"model_merges": [["a"]]}, "item 0"),
        ({"model_merges": [["a", 1]]}, "item 0"),
        ({"model_merges": [None]}, "item 0"),
        ({"model_merges": {}}, "merges"),
        ({"added_tokens": [added("<a>", 260), added("<b>", 260)]}, "<b>.*<a>.*260"),
        ({"added_tokens": [added("<a>", 256)]}, "<a>.*bc.*256"),
        ({"added_tokens": [added("<a>", 260), added("<a>", 261)]}, "<a>.*twice"),
        ({"added_tokens": [added("abc", 260)]}, "abc.*260.*258"),
        ({"added_tokens": [added("", 260)]}, "item 0"),
        ({"added_tokens": [added("<a>", "x")]}, "<a>"),  # type: ignore[arg-type]
        ({"added_tokens": [added("<a>", 260) | {"lstrip": 1}]}, "<a>.*lstrip"),
        ({"added_tokens": {}}, "added_tokens"),
        ({"added_tokens": [added(" ", 260, lstrip=True, rstrip=True)]}, "' '.*lstrip and rstrip"),
        ({"model": []}, "model"),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_over_is_refused_by_name(changes: Any, named: str) -> None:
    with pytest.raises(FormatError, match=f"(?s){named}") as caught:
        loads(**changes)
    assert str(caught.value).startswith("tokenizer.json, ")


def test_a_vocabulary_without_a_byte_is_refused() -> None:
    file = small()
    del file["model"]["vocab"]["Ā"]
    with pytest.raises(FormatError, match="0x00"):
        formats.loads_hf(json.dumps(file))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"a": 1, "a": 2}', "[" * 100_000])
def test_what_is_no_tokenizer_file_at_all_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        formats.loads_hf(text)
    with pytest.raises(FormatError, match="UTF-8"):
        formats.loads_hf(b"\xff")


def test_a_mark_changes_nothing() -> None:
    text = json.dumps(small())
    for changed in ("\ufeff" + text, b"\xef\xbb\xbf" + text.encode(), text.replace(", ", ",\r\n")):
        assert formats.loads_hf(changed).encode("abcab") == loads().encode("abcab")


# Patterns in the engines' own hands

PIECES = [
    "a", "b", "'", r"\p{L}", r"\p{Lu}", r"\p{N}", r"\d", r"\s", r"\S", r"\w", r"\W", ".", r"[^\s\p{L}]",
    r"[a-c']", r"[\r\n]", r"(?:a|ab)", r"(?>a|ab)", r"(?=b)", r"(?!\S)", r"(?<=a)", r"(?<!\p{L})",
    r"(?i:'s|re)", r"(?i:[sdmt])", "^", "$", r"\A", r"\Z", r"\z", r"\p{Han}", r"\P{L}", r"\x41", r"\u0062",
    r"\-", r"[\]\[\-]", " ",
]  # fmt: skip
COUNTS = ["", "", "", "?", "*", "+", "{2}", "{1,3}", "{2,}", "{,2}", "??", "*?", "+?", "?+", "*+", "++",
          "{1,3}+", "{1,2}?"]  # fmt: skip
sequences = st.lists(
    st.tuples(st.sampled_from(PIECES), st.sampled_from(COUNTS)), min_size=1, max_size=4
)
patterns = st.lists(
    sequences.map(lambda s: "".join(a + b for a, b in s)), min_size=1, max_size=3
).map("|".join)


@given(
    pattern=patterns,
    texts=st.lists(st.text("aabAB '1\n sSré中-", max_size=12), min_size=5, max_size=9),
)
@settings(max_examples=200)
def test_a_pattern_that_is_taken_over_cuts_as_onigurumas(pattern: str, texts: list[str]) -> None:
    try:
        ours = loads(pre_tokenizer=sequence(split(pattern)))
    except FormatError:
        return
    theirs = pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
    for text in texts:
        pieces = [piece for piece, _ in theirs.pre_tokenize_str(text)] if text else []
        assert ours.pretokens(text) == pieces
    # Written back, it still does.
    written = json.loads(formats.dumps_hf(ours))["pre_tokenizer"]
    if written["type"] == "Sequence":
        regex = written["pretokenizers"][0]["pattern"]["Regex"]
        theirs = pre_tokenizers.Split(tokenizers.Regex(regex), "isolated")
        for text in texts:
            pieces = [piece for piece, _ in theirs.pre_tokenize_str(text)] if text else []
            assert ours.pretokens(text) == pieces


# Out


@pytest.mark.parametrize("byte_order", ["plain", "gpt2"])
@pytest.mark.parametrize("pattern", [*PATTERNS, r"\w+|\d", r"[a-z]+", r"\p{N}{1,3}+|\p{L}+$"])
def test_tokenizers_gives_the_ids_of_a_trained_tokenizer(
    pattern: str, byte_order: str, german: str
) -> None:
    trainer = Trainer(900, ["<a>", "<|b|>"], pattern=pattern, byte_order=byte_order)
    tokenizer = trainer.train(german).tokenizer
    assert formats.obstacles(tokenizer, "hf") == []
    written = formats.dumps_hf(tokenizer)
    theirs = tokenizers.Tokenizer.from_str(written)
    own = [token.decode("utf-8", "replace") for token in tokenizer.vocab.values()]
    for sample in [german, *NASTY, "x<a>y<|b|> <a", *own]:
        assert ids_of(theirs, sample) == tokenizer.encode(sample)
        assert theirs.decode(tokenizer.encode(sample), skip_special_tokens=False) == sample
    again = formats.loads_hf(written)
    assert again.pattern == pattern or pattern not in PATTERNS
    assert (again.merges, again.vocab) == (tokenizer.merges, tokenizer.vocab)
    assert canonical_merges(again.model) == tokenizer.merges


def test_transformers_gives_the_ids_of_a_trained_tokenizer(german: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    for pattern in ("gpt2", "cl100k", "o200k"):
        tokenizer = Trainer(900, ["<a>", "<|b|>"], pattern=pattern).train(german).tokenizer
        path = tmp_path / "tokenizer.json"
        path.write_text(formats.dumps_hf(tokenizer), encoding="utf-8")
        theirs = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path))
        assert len(theirs) == tokenizer.vocab_size
        for sample in [german, *NASTY, "x<a>y<|b|> <a"]:
            assert theirs(sample)["input_ids"] == tokenizer.encode(sample)
        assert theirs.convert_tokens_to_ids("<|b|>") == 257


def test_what_a_tokenizer_file_cannot_hold_is_said_before() -> None:
    for pattern in (r"\bword\b", r"(a)\1", r"(?<=a+)b"):
        tokenizer = Tokenizer.from_vocab({i: bytes([i]) for i in range(256)}, [], pattern=pattern)
        (found,) = formats.obstacles(tokenizer, "hf")
        assert "pattern" in found
        with pytest.raises(FormatError, match="pattern"):
            formats.dumps_hf(tokenizer)
    # The special token is spelled like the printable form of a merge.
    tokenizer = Trainer(300, ["Ġa"]).train(" a a a").tokenizer
    (found,) = formats.obstacles(tokenizer, "hf")
    assert "Ġa" in found


def test_what_other_formats_cannot_hold_is_said_before(trained: dict[str, Any]) -> None:
    holds = {
        name: {
            kind: formats.obstacles(formats.loads_hf(family_file(name, trained)), kind)
            for kind in ("gpt2", "tiktoken")
        }
        for name in ("GPT-2", "Qwen 2", "DeepSeek 3", "Phi 4", "RoBERTa", "Llama 3")
    }
    assert holds["GPT-2"] == holds["Llama 3"] == {"gpt2": [], "tiktoken": []}
    for name, word in (("Qwen 2", "NFC"), ("DeepSeek 3", "patterns in turn"), ("Phi 4", "lstrip"),
                       ("RoBERTa", "blank in front")):  # fmt: skip
        for kind in ("gpt2", "tiktoken"):
            assert any(word in sentence for sentence in holds[name][kind]), (name, kind)
