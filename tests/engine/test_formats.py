"""Files: what is written is read back equal, and a bad file is refused with its place."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core import PATTERNS, FormatError, Tokenizer, Trainer, formats, reference

END_OF_TEXT = "<|endoftext|>"
TEXT = "the thé the\u00ad \t\tthe\n\n the 中文 中文 12 12 \x00\x00 <a> <b c>"


def assert_equal(one: Tokenizer, other: Tokenizer) -> None:
    """Compare two tokenizers in all that can be seen of them."""
    assert one.vocab == other.vocab
    assert one.merges == other.merges
    assert one.special_tokens == other.special_tokens
    assert one.pattern == other.pattern
    assert np.array_equal(one.merge_ids, other.merge_ids)
    assert np.array_equal(one.byte_ids, other.byte_ids)
    assert np.array_equal(one.birth_ranks, other.birth_ranks)
    for text in (TEXT, TEXT * 2 + "<a><b c><a", "\U0001f643"):
        assert one.encode(text) == other.encode(text)
        assert np.array_equal(one.join_ranks(text), other.join_ranks(text))


@st.composite
def trained(draw: st.DrawFn) -> Tokenizer:
    """A tokenizer with any settings, whole or cut to fewer merges."""
    trainer = Trainer(
        draw(st.integers(258, 300)),
        draw(st.sampled_from([(), ("<a>",), ("<a>", "<b c>")])),
        pattern=draw(st.sampled_from([*sorted(PATTERNS), r"\w+|\n"])),
        byte_order=draw(st.sampled_from(["plain", "gpt2"])),
    )
    tokenizer = trainer.train(draw(st.just(TEXT) | st.text(max_size=30))).tokenizer
    return tokenizer.truncated(
        draw(st.sampled_from([0, tokenizer.n_merges // 2, tokenizer.n_merges]))
    )


@given(tokenizer=trained())
@settings(max_examples=60)
def test_the_native_format_gives_back_all_of_a_tokenizer(tokenizer: Tokenizer) -> None:
    text = formats.dumps_native(tokenizer)
    again = formats.loads_native(text)
    assert_equal(tokenizer, again)
    assert formats.dumps_native(again) == text
    assert_equal(tokenizer, formats.loads_native(text.encode()))


@given(tokenizer=trained())
@settings(max_examples=60)
def test_the_gpt2_format_gives_back_a_tokenizer_but_for_its_pattern(tokenizer: Tokenizer) -> None:
    vocab_json, merges_txt = formats.dumps_gpt2(tokenizer)
    again = formats.loads_gpt2(
        vocab_json, merges_txt, tokenizer.special_tokens, pattern=tokenizer.pattern
    )
    assert_equal(tokenizer, again)
    names = formats.loads_gpt2(
        vocab_json.encode(), merges_txt.encode(), list(tokenizer.special_tokens), pattern="gpt2"
    )
    assert names.special_tokens == tokenizer.special_tokens


def test_the_published_files_of_gpt2_come_back_equal(gpt2: Tokenizer, shared: Path) -> None:
    assert len(gpt2.vocab) == 50257
    assert gpt2.n_merges == 50000
    assert gpt2.special_tokens == {END_OF_TEXT: 50256}
    vocab_json, merges_txt = formats.dumps_gpt2(gpt2)
    published = (shared / "cs336" / "gpt2_vocab.json").read_text(encoding="utf-8")
    assert json.loads(vocab_json) == json.loads(published)
    lines = (shared / "cs336" / "gpt2_merges.txt").read_text(encoding="utf-8").splitlines()
    assert merges_txt.splitlines()[1:] == [line for line in lines if not line.startswith("#ver")]
    assert_equal(gpt2, formats.loads_gpt2(vocab_json, merges_txt, [END_OF_TEXT]))
    assert_equal(gpt2, formats.loads_native(formats.dumps_native(gpt2)))


def test_saving_goes_to_a_path_in_any_form_and_back(tmp_path: Path) -> None:
    tokenizer = Trainer(290, ["<a>"]).train(TEXT).tokenizer
    for path in (tmp_path / "one.json", str(tmp_path / "two.json")):
        tokenizer.save(path)
        assert_equal(tokenizer, Tokenizer.load(path))
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    with pytest.raises(OSError, match=r"missing\.json"):
        Tokenizer.load(tmp_path / "missing.json")


# Imported vocabularies


def plain_vocab(*tokens: bytes) -> dict[int, bytes]:
    return dict(enumerate([*reference.byte_alphabet(), *tokens]))


def test_declared_ids_are_kept_gaps_and_all() -> None:
    vocab = {1000 - value: bytes([value]) for value in range(256)} | {5: b"ab", 7: b"unused"}
    tokenizer = Tokenizer.from_vocab(vocab, [(b"a", b"b")], {"<s>": 2000})
    assert tokenizer.encode("abc<s>") == [5, 1000 - ord("c"), 2000]
    assert tokenizer.vocab == vocab | {2000: b"<s>"}
    assert tokenizer.decode([7, 2000]) == "unused<s>"
    assert_equal(tokenizer, formats.loads_native(formats.dumps_native(tokenizer)))


def test_a_special_token_without_an_id_gets_the_next_one() -> None:
    tokenizer = Tokenizer.from_vocab(plain_vocab(b"ab"), [(b"a", b"b")], ["<s>", "ab", "<t>"])
    assert tokenizer.special_tokens == {"<s>": 257, "ab": 256, "<t>": 258}


def test_a_merge_that_is_listed_twice_counts_where_it_stands_last() -> None:
    merges = [(b"a", b"b"), (b"b", b"c"), (b"a", b"b")]
    vocab = plain_vocab(b"ab", b"bc")
    twice = Tokenizer.from_vocab(vocab, merges)
    assert twice.encode("abc") == Tokenizer.from_vocab(vocab, merges[1:]).encode("abc") == [97, 257]
    assert twice.merges == merges[1:]
    names = {token: id for id, token in vocab.items()}
    vocab_json = json.dumps({formats.to_characters(token): id for token, id in names.items()})
    with pytest.warns(UserWarning, match="1 merge is listed again later"):
        loaded = formats.loads_gpt2(vocab_json, "a b\nb c\na b\n")
    assert loaded.encode("abc") == [97, 257]
    files = {"vocab.json": vocab_json.encode(), "merges.txt": b"a b\nb c\na b\n"}
    (note,) = formats.loads(files)[1].notes
    assert "1 merge is listed again later" in note


def test_a_native_file_in_which_a_merge_stands_twice_is_refused() -> None:
    written = formats.dumps_native(Tokenizer.from_vocab(plain_vocab(b"ab"), [(b"a", b"b")]))
    assert written.count("[97, 98, 256]") == 1
    with pytest.raises(FormatError, match="merge 1: it joins the same two tokens as merge 0"):
        formats.loads_native(written.replace("[97, 98, 256]", "[97, 98, 256], [97, 98, 256]"))


@pytest.mark.parametrize(
    ("vocab", "merges", "specials", "named"),
    [
        ({1: b"a"}, [], None, "0x00"),
        (plain_vocab(), [(b"a", b"b")], None, "ab"),
        (plain_vocab(b"abc"), [(b"ab", b"c")], None, "ab"),
        (plain_vocab(b"ab", b"abc"), [(b"ab", b"c")], None, "ab"),
        (plain_vocab(), [], {"<s>": 300, "<t>": 300}, "300"),
        (plain_vocab(), [], {"<s>": 97}, "97"),
        (plain_vocab(), [], ["<s>", "<s>"], "<s>"),
        (plain_vocab(), [], [""], "empty"),
    ],
)
def test_a_vocabulary_that_does_not_fit_its_merges_is_refused(
    vocab: dict[int, bytes], merges: list[tuple[bytes, bytes]], specials: Any, named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        Tokenizer.from_vocab(vocab, merges, specials)


def test_a_list_with_a_merge_above_those_of_its_parts_encodes_but_is_no_history() -> None:
    merges = [(b"ab", b"c"), (b"a", b"b")]
    tokenizer = Tokenizer.from_vocab(plain_vocab(b"ab", b"abc"), merges)
    assert tokenizer.encode("abcab") == [257, 256]
    assert tokenizer.truncated(1).encode("abcab") == [*b"abcab"]
    for call in (tokenizer.join_ranks, tokenizer.merge_steps):
        with pytest.raises(ValueError, match="merge 0"):
            call("abc")


def test_a_string_that_two_merges_spell_is_one_token_born_of_the_first() -> None:
    merges = [(b"b", b"c"), (b"a", b"bc"), (b"a", b"b"), (b"ab", b"c")]
    tokenizer = Tokenizer.from_vocab(plain_vocab(b"bc", b"abc", b"ab"), merges)
    assert tokenizer.merge_ids[:, 2].tolist() == [256, 257, 258, 257]
    assert tokenizer.birth_ranks[256:].tolist() == [0, 1, 2]
    assert tokenizer.merges == merges
    assert_equal(tokenizer, formats.loads_native(formats.dumps_native(tokenizer)))


# Files of others


def test_marks_and_line_ends_of_windows_change_nothing() -> None:
    tokenizer = Trainer(290, ["<a>"], byte_order="gpt2").train(TEXT).tokenizer
    vocab_json, merges_txt = formats.dumps_gpt2(tokenizer)
    mark = b"\xef\xbb\xbf"
    for vocab, merges in (
        (mark + vocab_json.encode(), mark + merges_txt.encode()),
        ("\ufeff" + vocab_json, "\ufeff" + merges_txt),
        (vocab_json.replace(", ", ",\r\n"), merges_txt.replace("\n", "\r\n")),
        (vocab_json, merges_txt.rstrip("\n")),
        (vocab_json, merges_txt.partition("\n")[2]),
        (vocab_json, merges_txt + "\n\n"),
    ):
        assert_equal(tokenizer, formats.loads_gpt2(vocab, merges, ["<a>"]))
    native = formats.dumps_native(tokenizer)
    assert_equal(tokenizer, formats.loads_native(mark + native.encode()))
    assert_equal(tokenizer, formats.loads_native(native.replace("\n", "\r\n")))


def test_entries_that_might_be_special_tokens_are_told_of(tmp_path: Path) -> None:
    tokenizer = Trainer(290, ["<a>"]).train(TEXT).tokenizer
    vocab_json, merges_txt = formats.dumps_gpt2(tokenizer)
    with pytest.warns(UserWarning, match="<a>"):
        again = formats.loads_gpt2(vocab_json, merges_txt)
    assert again.vocab == tokenizer.vocab
    assert again.special_tokens == {}
    assert again.decode([256]) == "<a>"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        formats.loads_gpt2(vocab_json, merges_txt, [])
        formats.loads_gpt2(vocab_json, merges_txt, ["<a>"])


def gpt2_files() -> tuple[dict[str, int], list[str]]:
    tokens = [*reference.byte_alphabet("gpt2"), b"ab", b"abc", b" a"]
    vocab = {formats.to_characters(token): id for id, token in enumerate(tokens)}
    return vocab, ["#version: 0.2", "a b", "ab c", "Ġ a"]


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("a b c", "line 5"),
        ("a", "line 5"),
        ("a  b", "line 5"),
        (" a b", "line 5"),
        ("a q", "line 5"),
        ("qq a", "line 5"),
        ("a →", "line 5"),
        ("a\tb", "line 5"),
    ],
)
def test_a_broken_line_of_merges_is_refused_with_its_number(line: str, place: str) -> None:
    vocab, lines = gpt2_files()
    formats.loads_gpt2(json.dumps(vocab), "\n".join(lines))
    with pytest.raises(FormatError, match=rf"merges\.txt.*{place}\b"):
        formats.loads_gpt2(json.dumps(vocab), "\n".join([*lines, line]))


@pytest.mark.parametrize(
    ("vocab_json", "named"),
    [
        ("", "line 1"),
        ("{", "line 1"),
        ('{\n"a": 1,\n}', "line 3"),
        ("[]", "object"),
        ('{"a": "1"}', "'a'"),
        ('{"a": 1.5}', "'a'"),
        ('{"a": true}', "'a'"),
        ('{"a": -1}', "'a'"),
        ('{"a": 1, "b": 1}', "'a'"),
        ('{"a": 1, "a": 2}', "'a'"),
        ('{"a": 4294967296}', "'a'"),
        ('{"a": 1}', "byte"),
        ("[" * 100_000, "nested"),
    ],
)
def test_a_broken_vocabulary_is_refused_with_its_place(vocab_json: str, named: str) -> None:
    with pytest.raises(FormatError, match=named) as caught:
        formats.loads_gpt2(vocab_json, "")
    assert "vocab.json" in str(caught.value)


@pytest.mark.parametrize(
    ("vocab_json", "said"),
    [
        ('{"a": 1,}', "line 1: no valid JSON: nothing follows the comma before this }"),
        ('{"a": 1,\n\t\n }', "line 3: no valid JSON: nothing follows the comma before this }"),
        (
            '{"a": [1,\n ],\n"b": 2}',
            "line 2: no valid JSON: nothing follows the comma before this ]",
        ),
        ('{"a": 1,', "line 1: no valid JSON: Expecting property name enclosed in double quotes"),
        (
            '{"a": 1,\nb}',
            "line 2: no valid JSON: Expecting property name enclosed in double quotes",
        ),
        ('{"a": 1\n"b": 2}', "line 2: no valid JSON: Expecting ',' delimiter"),
        ("{\n]", "line 2: no valid JSON: Expecting property name enclosed in double quotes"),
    ],
)
def test_an_error_in_json_is_told_alike_on_every_version_of_python(
    vocab_json: str, said: str
) -> None:
    with pytest.raises(FormatError) as caught:
        formats.loads_gpt2(vocab_json, "")
    assert str(caught.value).endswith(f"vocab.json, {said}")


def test_two_names_for_one_id_are_both_named() -> None:
    vocab, lines = gpt2_files()
    with pytest.raises(FormatError, match=r"<one>.*<two>|<two>.*<one>"):
        formats.loads_gpt2(json.dumps(vocab | {"<one>": 260, "<two>": 260}), "\n".join(lines))


def test_bytes_that_are_no_text_are_refused() -> None:
    vocab, _ = gpt2_files()
    for vocab_json, merges_txt in (
        (b"\xff\xfe{", b""),
        (json.dumps(vocab).encode(), b"a b\n\xff"),
    ):
        with pytest.raises(FormatError, match="UTF-8"):
            formats.loads_gpt2(vocab_json, merges_txt)
    with pytest.raises(FormatError, match="UTF-8"):
        formats.loads_native(b"\xff")


def test_what_the_gpt2_format_cannot_express_is_refused() -> None:
    # The special token is spelled like the printable form of a merge.
    tokenizer = Trainer(300, ["Ġa"]).train(" a a a").tokenizer
    with pytest.raises(FormatError, match="Ġa"):
        formats.dumps_gpt2(tokenizer)


# The native format


def native() -> dict[str, Any]:
    tokenizer = Tokenizer.from_vocab(
        plain_vocab(b"ab", b"abc") | {300: b"unused"}, [(b"a", b"b"), (b"ab", b"c")], {"<s>": 400}
    )
    return json.loads(formats.dumps_native(tokenizer))


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("format", None, "format"),
        ("format", "other", "format"),
        ("version", 99, "version"),
        ("pattern", 5, "pattern"),
        ("pattern", "(", "regular expression"),
        ("byte_order", "other", "byte_order"),
        ("byte_order", [1, 2], "byte_order"),
        ("byte_order", 7, "byte_order"),
        ("merges", {}, "merges"),
        ("merges", [[1, 2]], "merge 0"),
        ("merges", [[1, 2, 256], ["a", 2, 257]], "merge 1"),
        ("merges", [[1, 2, 256], [999, 2, 257]], "merge 1"),
        ("merges", [[1, 2, 97]], "merge 0"),
        ("merges", [[1, 2, -5]], "merge 0"),
        ("merges", [[1, 2, 258]], "gaps"),
        ("special_tokens", [], "special_tokens"),
        ("special_tokens", {"<s>": "x"}, "id"),
        ("special_tokens", {"": 400}, "empty"),
        ("special_tokens", {"<s>": 5}, "id"),
        ("special_tokens", {"<s>": 2**40}, "id"),
        ("ids", [1, 2, 3], "ids"),
        ("ids", "x", "ids"),
    ],
)
def test_a_broken_native_file_is_refused_with_its_place(key: str, value: Any, named: str) -> None:
    assert formats.loads_native(json.dumps(native())).encode("abc") == [257]
    with pytest.raises(FormatError, match=named):
        formats.loads_native(json.dumps(native() | {key: value}))


@pytest.mark.parametrize("text", ["", "null", "[]", "7", '"x"', "{}", "{'a': 1}", "\x00"])
def test_what_is_no_native_file_at_all_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        formats.loads_native(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=5,
)
small = st.integers(-2, 400)
rows = st.lists(st.lists(small, min_size=3, max_size=3) | json_values, max_size=3)


@given(
    key=st.sampled_from(["pattern", "byte_order", "merges", "special_tokens", "ids", "unused"]),
    value=json_values | rows | st.dictionaries(st.text(max_size=3), small, max_size=2),
)
@settings(max_examples=150)
def test_any_other_value_in_a_native_file_is_refused_or_read(key: str, value: Any) -> None:
    try:
        tokenizer = formats.loads_native(json.dumps(native() | {key: value}))
    except FormatError:
        return
    assert tokenizer.decode(tokenizer.encode("abc é\n")) == "abc é\n"
    assert_equal(tokenizer, formats.loads_native(formats.dumps_native(tokenizer)))


@given(lines=st.lists(st.text("ab cĠ\n\r\t#é\u2028", max_size=6), max_size=4))
@settings(max_examples=120)
def test_any_lines_of_merges_are_refused_or_read(lines: list[str]) -> None:
    vocab, good = gpt2_files()
    try:
        tokenizer = formats.loads_gpt2(json.dumps(vocab), "\n".join([*good, *lines]), [])
    except FormatError:
        return
    assert tokenizer.merges[:3] == [(b"a", b"b"), (b"ab", b"c"), (b" ", b"a")]
