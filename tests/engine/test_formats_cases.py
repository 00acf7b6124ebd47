"""Faults reported against other readers of tokenizer files, each with the right value."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import FormatError, Tokenizer, Trainer, formats, reference

tokenizers = pytest.importorskip("tokenizers")

BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}


def file(merges: list[Any], vocab: dict[str, int], **top: Any) -> dict[str, Any]:
    """A tokenizer.json in which every byte has its own value as id."""
    plain = {formats.to_characters(token): id for id, token in enumerate(reference.byte_alphabet())}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": None, "pre_tokenizer": BYTE_LEVEL, "post_processor": None,
        "decoder": BYTE_LEVEL, **top,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
            "ignore_merges": False, "vocab": plain | vocab, "merges": merges,
        },
    }  # fmt: skip


def both(text: str, content: dict[str, Any]) -> list[int]:
    """Ids here, after comparing them with those of `tokenizers`."""
    ours = formats.loads_hf(json.dumps(content)).encode(text)
    theirs = tokenizers.Tokenizer.from_str(json.dumps(content))
    assert ours == theirs.encode(text, add_special_tokens=False).ids
    return ours


def added(content: str, id: int, **flags: bool) -> dict[str, Any]:
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": id, "content": content, **plain, "special": True, **flags}


def test_digits_go_by_the_family_that_the_file_names() -> None:
    three = {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": r"\p{N}{1,3}|\P{N}+"}, "behavior": "Isolated",
             "invert": False},
            BYTE_LEVEL | {"use_regex": False},
        ],
    }  # fmt: skip
    merges, vocab = ["1 2", "12 3", "123 4", "3 4"], {"12": 256, "123": 257, "1234": 258, "34": 259}
    assert both("12345", file(merges, vocab)) == [258, 53]
    assert both("12345", file(merges, vocab, pre_tokenizer=three)) == [257, 52, 53]


@pytest.mark.parametrize("merges", [["b c", "a b", "ab c"], [["b", "c"], ["a", "b"], ["ab", "c"]]])
def test_merges_are_read_as_pairs_and_as_text(merges: list[Any]) -> None:
    vocab = {"ab": 256, "abc": 257, "bc": 258}
    assert both("abc", file(merges, vocab)) == [97, 258]


def test_pairs_with_blanks_inside_are_read() -> None:
    # No text holds such a token: a blank is spelled Ġ. The entry stays, the merge never happens.
    content = file(
        [["a", "b"], ["a", " "], ["a ", "b"]], {"ab": 256, "a ": 257, " ": 258, "a b": 259}
    )
    assert both("ab a b", content) == [256, 32, 97, 32, 98]
    assert formats.loads_hf(json.dumps(content)).decode([259]) == "a b"


@pytest.mark.parametrize("merges", [["a b", "b c", "a b"], [["a", "b"], ["b", "c"], ["a", "b"]]])
def test_a_repeated_merge_keeps_its_last_rank(merges: list[Any]) -> None:
    content = file(merges, {"ab": 256, "bc": 257})
    assert both("abc", content) == [97, 257]
    (note,) = formats.read_hf(json.dumps(content)).notes
    assert "1 merge is listed again later in the file" in note


def test_added_tokens_that_are_not_special_are_not_cut() -> None:
    content = file(
        [], {f"x{n}": 256 + n for n in range(4)}, added_tokens=[added("<m>", 260, special=False)]
    )
    assert both("a  <m>  b", content) == [97, 32, 32, 260, 32, 32, 98]


def test_two_names_for_one_id_are_both_named() -> None:
    content = file([], {}, added_tokens=[added("<one>", 260), added("<two>", 260)])
    with pytest.raises(FormatError, match=r"<two>.*<one>.*260"):
        formats.loads_hf(json.dumps(content))


def split(regex: str) -> dict[str, Any]:
    step = {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [step, BYTE_LEVEL | {"use_regex": False}]}


def test_pre_tokenizers_are_used_as_given_and_others_refused() -> None:
    merges = ["l o", "Ġ Ġ", "o Ġ", "Ġ w", "o ĠĠ"]
    vocab = {"lo": 256, "ĠĠ": 257, "oĠ": 258, "Ġw": 259, "oĠĠ": 260}
    text = "hello   world"
    ids = [both(text, file(merges, vocab, pre_tokenizer=step)) for step in (
        BYTE_LEVEL, split(r"\s+|\S+"), split("o "), BYTE_LEVEL | {"use_regex": False},
    )]  # fmt: skip
    assert len({tuple(found) for found in ids}) >= 3
    for kind in ("WordPiece", "Metaspace", "Whitespace", "CharDelimiterSplit", "UnicodeScripts"):
        with pytest.raises(FormatError, match=kind):
            formats.loads_hf(json.dumps(file(merges, vocab, pre_tokenizer={"type": kind})))
    # vocab.json and merges.txt name no pattern: it is GPT-2's.
    plain = json.dumps(file(merges, vocab)["model"]["vocab"])
    two_files = formats.loads_gpt2(plain, "\n".join(merges))
    assert two_files.pattern == "gpt2"
    assert two_files.encode(text) == ids[0]


MARK = "\ufeff"


def test_files_with_a_mark_load_and_a_mark_in_a_text_stays() -> None:
    content = json.dumps(file(["a b"], {"ab": 256}))
    for changed in (MARK + content, (MARK + content).encode()):
        assert formats.loads_hf(changed).encode("ab") == [256]
    tokenizer = Trainer(300).train("hello hello").tokenizer
    for format_name in ("native", "gpt2", "tiktoken", "hf"):
        files = formats.dumps(tokenizer, format_name)
        _, imported = formats.loads({n: MARK.encode() + c for n, c in files.items()})
        assert imported.tokenizer.merges == tokenizer.merges
        assert (
            imported.tokenizer.decode(imported.tokenizer.encode(MARK + "hello")) == MARK + "hello"
        )


AWKWARD = (
    " " * 9 + "\t\t\t\n\n\n\r\n\x00\x00\x00" + "\u00ad\u00ad\u00ad\u00a0\u00a0\u00a0\x7f\x7f##"
)


@pytest.mark.parametrize("format_name", ["gpt2", "tiktoken", "hf", "native"])
@pytest.mark.parametrize("byte_order", ["plain", "gpt2"])
def test_awkward_bytes_and_special_tokens_survive_every_format(
    format_name: formats.Format, byte_order: str
) -> None:
    specials = ["<s>", "</s>", "#version", "éé", "a b"]
    trainer = Trainer(420, specials, pattern="whole text", byte_order=byte_order)
    tokenizer = trainer.train((AWKWARD + "x######") * 3).tokenizer
    assert any(left == b"#" for left, _ in tokenizer.merges)
    _, imported = formats.loads(
        formats.dumps(tokenizer, format_name),
        pattern="whole text", special_tokens=tokenizer.special_tokens,
    )  # fmt: skip
    again = imported.tokenizer
    assert (again.merges, again.vocab) == (tokenizer.merges, tokenizer.vocab)
    assert again.special_tokens == tokenizer.special_tokens
    for special in specials:
        assert again.encode("a" + special + "b") == tokenizer.encode("a" + special + "b")


def test_merges_that_begin_with_a_number_sign_are_merges(gpt2: Tokenizer) -> None:
    _, merges_txt = formats.dumps_gpt2(gpt2)
    lines = [line for line in merges_txt.splitlines()[1:] if line.startswith("#")]
    assert len(lines) == 8
    assert gpt2.encode("####") == gpt2.encode("#" * 4)
    assert len(gpt2.encode("####")) == 1


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 400)
    | st.floats(allow_nan=False)
    | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=5,
)
paths = st.sampled_from([
    ("added_tokens",), ("added_tokens", 0), ("added_tokens", 0, "id"), ("added_tokens", 0, "content"),
    ("added_tokens", 0, "lstrip"), ("normalizer",), ("normalizer", "type"), ("pre_tokenizer",),
    ("pre_tokenizer", "type"), ("pre_tokenizer", "pretokenizers"), ("pre_tokenizer", "pretokenizers", 0),
    ("pre_tokenizer", "pretokenizers", 0, "pattern"), ("pre_tokenizer", "pretokenizers", 0, "behavior"),
    ("pre_tokenizer", "pretokenizers", 1, "use_regex"), ("post_processor",), ("post_processor", "single"),
    ("post_processor", "single", 0), ("truncation",), ("model",), ("model", "type"), ("model", "vocab"),
    ("model", "vocab", "ab"), ("model", "merges"), ("model", "merges", 0), ("model", "ignore_merges"),
    ("model", "byte_fallback"), ("model", "dropout"), ("model", "end_of_word_suffix"),
])  # fmt: skip


@given(path=paths, value=json_values)
@settings(max_examples=250)
def test_any_other_value_in_a_tokenizer_file_is_refused_or_read(
    path: tuple[Any, ...], value: Any
) -> None:
    content: Any = file(
        ["a b"], {"ab": 256}, added_tokens=[added("<m>", 257)], pre_tokenizer=split(r"\S+|\s+"),
        normalizer={"type": "NFC"},
        post_processor={"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<m>"}}]},
    )  # fmt: skip
    place = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    try:
        imported = formats.read_hf(json.dumps(content))
    except FormatError:
        return
    assert all(isinstance(note, str) for note in imported.notes)
    tokenizer = imported.tokenizer
    assert tokenizer.decode(tokenizer.encode("abc é\n")) == tokenizer.prepared("abc é\n")


def test_formats_and_names_are_utf8_whatever_the_system_says(
    run_python: Callable[..., str], tmp_path: Any
) -> None:
    script = """
import pathlib, sys, warnings

warnings.filterwarnings("error", category=EncodingWarning, module="bpe_core")
from bpe_core import Trainer, formats, known

tokenizer = Trainer(290, ["<\\u4e2d>"]).train("w\\xf6rd \\u4e2d\\u6587 " * 20).tokenizer
for name in ("native", "gpt2", "tiktoken", "hf"):
    assert formats.prove(tokenizer, name, ["w\\xf6rd<\\u4e2d>"]).differing == ()
try:
    known.load("owner/name")
except known.NotFoundError:
    print("done")
"""
    environment = {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "HF_HOME": str(tmp_path),
    }
    flags = ("-X", "warn_default_encoding")
    assert run_python(script, flags=flags, **environment).strip() == "done"
