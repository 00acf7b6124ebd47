"""Bringing a tokenizer in: files and names, what is refused, and the pages that show it."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bpe_core import Tokenizer, Trainer, formats, known
from bpe_core.analysis.alignment import typed_spans
from bpe_core.analysis.lineage import pretoken_at
from bpe_core.analysis.sizes import has_curve
from bpe_core.text import utf8
from ui import limits
from ui.compare import curves, marks, measures, texts
from ui.components.token_editor import Picked
from ui.instruments import biography
from ui.server import encoding, published, wire
from ui.session import state
from ui.tokenizers import importing, shelf
from ui.tokenizers.importing import ImportProblem
from ui.tokenizers.shelf import ImportedTokenizer

ROOT = Path(__file__).resolve().parents[2]
STORY = "the low lower lowest mouse looked at the newest widest moon <|x|>\n" * 40
TEXT = "the low mouse cafe\u0301 \u212b 한 looked <|x|> newest unseen"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Trainer(285, ["<|x|>"], pattern="cl100k").train(STORY).tokenizer


def changed(tokenizer: Tokenizer, change: Callable[[dict[str, Any]], None]) -> ImportedTokenizer:
    """What is imported from its tokenizer.json after a change."""
    top = json.loads(formats.dumps(tokenizer, "hf")["tokenizer.json"])
    change(top)
    files = {"tokenizer.json": json.dumps(top).encode()}
    return importing.from_files(files, pattern="gpt2")


def _nfc(top: dict[str, Any]) -> None:
    top["normalizer"] = {"type": "NFC"}


def _backwards(top: dict[str, Any]) -> None:
    top["model"]["merges"].reverse()


def _whole(top: dict[str, Any]) -> None:
    top["model"]["ignore_merges"] = True
    del top["model"]["merges"][15:]


def _strips(top: dict[str, Any]) -> None:
    top["added_tokens"][0] |= {"lstrip": True, "special": False}


KINDS = {"nfc": _nfc, "backwards": _backwards, "whole": _whole, "strips": _strips}


@pytest.fixture(params=["plain", *KINDS])
def brought(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> ImportedTokenizer:
    """Tokenizers of each kind that only an import can be."""
    return changed(tokenizer, KINDS.get(request.param, lambda top: None))


# -- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["hf", "native", "gpt2", "tiktoken"])
@pytest.mark.parametrize("packed", [False, True])
def test_what_was_exported_comes_back(tokenizer: Tokenizer, kind: Any, packed: bool) -> None:
    files = formats.dumps(tokenizer, kind)
    uploads = list(files.items())
    if packed:
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as box:
            for name, content in uploads:
                box.writestr(f"folder/{name}", content)
        uploads = [("box.zip", archive.getvalue())]
    found = importing.unpacked(uploads)
    assert found == files
    assert importing.lacks_settings(found) == (kind in ("gpt2", "tiktoken"))
    new = importing.from_files(found, pattern="cl100k", specials="<|x|> 256")
    assert new.tokenizer.encode(TEXT) == tokenizer.encode(TEXT)
    assert new.source == "import"
    assert "285 entries, 28 merges, pattern cl100k, 1 special token" in shelf.summary(new)
    assert published.lookup(new.key) is new.tokenizer


def test_all_small_files_of_a_repository_are_taken_together(tokenizer: Tokenizer) -> None:
    plain = Tokenizer(tokenizer.model, tokenizer.pretokenizer, ids=tokenizer.ids)
    small = {
        **formats.dumps(plain, "gpt2"),
        "added_tokens.json": json.dumps(tokenizer.special_tokens).encode(),
        "tokenizer_config.json": b'{"tokenizer_class": "X"}',
        "special_tokens_map.json": b'{"eos_token": "<|x|>"}',
    }
    assert importing.lacks_settings(small)
    found = importing.from_files(importing.unpacked([*small.items()]), pattern="cl100k")
    assert found.tokenizer.encode(TEXT) == tokenizer.encode(TEXT)
    assert not any("No special tokens were named" in note for note in found.notes)
    everything = {**small, **formats.dumps(tokenizer, "hf")}
    assert not importing.lacks_settings(everything)
    found = importing.from_files(importing.unpacked([*everything.items()]), pattern="gpt2")
    assert found.tokenizer.encode(TEXT) == tokenizer.encode(TEXT)
    assert all(any(name in note for note in found.notes) for name in small)


def test_special_tokens_without_an_id_get_one(tokenizer: Tokenizer) -> None:
    files = formats.dumps(tokenizer, "gpt2")
    new = importing.from_files(files, pattern="cl100k", specials="<|x|>\n<pad> 999\n<new>")
    assert new.tokenizer.special_tokens == {"<|x|>": 256, "<pad>": 999, "<new>": 1000}
    none = importing.from_files(files, pattern="cl100k")
    assert any("No special tokens were named" in note for note in none.notes)
    with pytest.raises(ImportProblem, match="<a> is listed twice"):
        importing.special_lines("<a>\n<a> 7")


def test_published_files_are_recognized(monkeypatch: pytest.MonkeyPatch) -> None:
    content = formats.dumps(Trainer(256).train("").tokenizer, "tiktoken")["tokenizer.tiktoken"]
    assert importing.recognized({"x": content}) is None
    import hashlib

    one = known.Encoding("one", "one", hashlib.sha256(content).hexdigest(), "o200k", {})
    monkeypatch.setattr(known, "ENCODINGS", {"one": one})
    found = importing.recognized({"other": b"", "x": content})
    assert found is one


def junk() -> dict[str, list[tuple[str, bytes]]]:
    good = formats.dumps(Trainer(257).train("abab").tokenizer, "gpt2")
    slow = json.loads(formats.dumps(Trainer(257).train("abab").tokenizer, "hf")["tokenizer.json"])
    last = slow["pre_tokenizer"].get("pretokenizers", [slow["pre_tokenizer"]])[-1]
    split = {
        "type": "Split",
        "pattern": {"Regex": "(?:a|aa)+c"},
        "behavior": "Isolated",
        "invert": False,
    }
    last = dict(last, use_regex=False)
    slow["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, last]}
    far = (
        b"".join(
            formats.dumps(Trainer(257).train("abab").tokenizer, "tiktoken")[
                "tokenizer.tiktoken"
            ].splitlines(True)[:-1]
        )
        + b"YWI= 2000000000\n"
    )
    return {
        "nothing": [("a.json", b"")],
        "text": [("a.txt", b"Once upon a time there was a mouse.\n")],
        "half": [("vocab.json", good["vocab.json"])],
        "twice": [("vocab.json", good["vocab.json"])] * 2,
        "cut off": [("vocab.json", good["vocab.json"][:-9]), ("merges.txt", good["merges.txt"])],
        "bytes": [("model.bin", bytes(range(256)) * 9)],
        "deep": [("tokenizer.json", b'{"model":' + b"[" * 99_999)],
        "no zip": [("box.zip", b"PK\x03\x04" + b"x" * 99)],
        "many": [(f"{i}.txt", b"a b") for i in range(9)],
        "large": [("big.json", bytes(limits.TOKENIZER_FILE_MB * 1_000_000 + 1))],
        "slow pattern": [("tokenizer.json", json.dumps(slow).encode())],
        "far id": [("far.tiktoken", far)],
        "unigram": [("tokenizer.json", b'{"model":{"type":"Unigram"},"added_tokens":[]}')],
    }  # fmt: skip


@pytest.mark.parametrize("name", junk())
def test_what_is_no_tokenizer_gets_one_sentence(name: str) -> None:
    with pytest.raises(ImportProblem) as problem:
        importing.from_files(importing.unpacked(junk()[name]), pattern="gpt2")
    sentence = str(problem.value)
    assert sentence[0].isupper() or sentence.split()[0].endswith((".json", ".zip"))
    assert "Traceback" not in sentence
    assert len(sentence) < 400


def test_a_zip_file_is_not_unpacked_without_end() -> None:
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.json", bytes(limits.TOKENIZER_FILE_MB * 1_000_000 + 1))
    assert len(box.getvalue()) < 100_000
    with pytest.raises(ImportProblem, match="30 MB are taken"):
        importing.unpacked([("small.zip", box.getvalue())])


# -- names ------------------------------------------------------------------------------------


@pytest.fixture
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tiktoken"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(known, "_package_folder", lambda package: None)
    monkeypatch.setattr(shelf, "_read", {})


@pytest.fixture
def published_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """The published files, where this machine has them."""
    shared = Path(os.environ.get("BPE_SHARED", ROOT.parent / "shared")) / "tiktoken_cache"
    if not shared.is_dir():
        pytest.skip("the published rank files are not here")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(shared))


@pytest.mark.parametrize("name", ["gpt-4o", "owner/name", "no such name", "gpt", "../etc"])
def test_a_name_without_a_file_says_what_helps(nothing_here: None, name: str) -> None:
    with pytest.raises(ImportProblem) as problem:
        importing.from_name(name, download=True)
    sentence = str(problem.value)
    assert ("Tried:" in sentence and "What helps:" in sentence) or "is no known" in sentence
    assert sentence.endswith((".", "?"))


def test_a_well_known_name_is_read_once_for_all(published_files: None) -> None:
    one = importing.from_name("gpt2")
    assert importing.from_name(" GPT-2 ") is one
    assert one.key == one.name == "gpt2"
    assert published.lookup("gpt2") is one.tokenizer
    assert one.tokenizer.encode("hello world") == [31373, 995]
    assert "50,257 entries" in shelf.summary(one)


# -- places and sizes -------------------------------------------------------------------------


def test_answers_cover_the_typed_text(brought: ImportedTokenizer) -> None:
    text = "a  <|x|> " + TEXT
    data = encoding.answer(brought.tokenizer, text)
    head = dict(zip(wire.HEAD, np.frombuffer(data[:40], "<u4").tolist(), strict=True))
    n = head["tokens"]
    ids = np.frombuffer(data[64 : 64 + 4 * n], "<u4")
    ends = np.frombuffer(data[64 + 4 * n : 64 + 8 * n], "<u4")
    assert ids.tolist() == brought.tokenizer.encode(text)
    assert ends[-1] == head["bytes"] == len(text.encode())
    assert (np.diff(ends.astype(int)) >= 0).all()
    mouse = text.encode().index(b" mouse")  # far behind what is changed, and in its place
    assert mouse in ends
    assert head["special"] == 2


# -- the token card ---------------------------------------------------------------------------


def test_each_pretoken_has_a_story(brought: ImportedTokenizer) -> None:
    tokenizer = brought.tokenizer
    ids, ends = typed_spans(tokenizer, TEXT)
    for start, end in zip([0, *ends.tolist()], ends.tolist(), strict=False):
        piece = pretoken_at(tokenizer, TEXT, start)
        assert piece is not None or start == end
        if piece is None or piece in tokenizer.special_tokens:
            continue
        story = biography.pretoken_story(tokenizer, piece)
        assert "".join(story["tokens"]).encode("latin-1") == utf8(piece)
        assert (story["steps"] is None) == bool(story["why"])
        if story["steps"]:
            assert story["steps"][-1]["parts"] == story["tokens"]
    for token_id in ids.tolist():
        assert biography.token_biography(tokenizer, token_id)["kind"] in ("byte", "merge", "special", "whole")  # fmt: skip


def test_a_word_taken_whole_has_no_steps(tokenizer: Tokenizer) -> None:
    one = changed(tokenizer, _whole).tokenizer
    word = max((t for i, t in one.vocab.items() if one.birth_ranks[i] < 0), key=len).decode()
    story = biography.pretoken_story(one, word)
    assert story["n_tokens"] == 1
    assert "taken whole" in story["why"]
    assert "words that are entries" in (shelf.why_fixed(one) or "")


# -- the pages --------------------------------------------------------------------------------


def visit(page: str, *imports: ImportedTokenizer, **query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=120)
    for name, value in query.items():
        at.query_params[name] = value
    at.session_state["imported"] = list(imports)
    at.run()
    state.built_in().wait()
    return quiet(quiet(at.run()).switch_page(f"../pages/{page}.py").run())


def quiet(at: AppTest) -> AppTest:
    assert not at.exception, at.exception[0].value
    return at


def said(at: AppTest) -> str:
    kinds = (at.caption, at.warning, at.error, at.success, at.markdown)
    return "\n".join(e.value.replace("\\", "") for kind in kinds for e in kind)


def test_tokens_shows_each_kind(brought: ImportedTokenizer) -> None:
    at = visit("tokens", brought)
    at.selectbox(key="tokenizer").set_value(brought.key)
    quiet(at.run())
    data = [json.loads(e.proto.json) for e in at.get("bidi_component")]
    assert data[0]["tokenizer"] == brought.key
    assert data[0]["merges"] == brought.tokenizer.n_merges
    assert shelf.summary(brought) in said(at)
    if why := shelf.why_fixed(brought.tokenizer):
        assert why in said(at)
        assert not at.slider
    else:
        at.slider(key="tokens_vocab").set_value(270)
        quiet(at.run())
    at.session_state["tokens_picked"] = Picked(256, 0, TEXT, 5)
    at.session_state["tokens_shown"] = 116
    quiet(at.run())


def test_an_import_is_its_visitors_alone(tokenizer: Tokenizer) -> None:
    mine = changed(tokenizer, _nfc)
    own, other = visit("tokens", mine), visit("tokens")
    assert f"{mine.name} · imported" in own.selectbox(key="tokenizer").options
    assert mine.name not in "".join(other.selectbox(key="tokenizer").options)
    assert published.lookup(mine.key) is mine.tokenizer
    published.withdraw(mine.key)
    assert published.lookup(mine.key) is None
    own.selectbox(key="tokenizer").set_value(mine.key)
    quiet(own.run())
    assert published.lookup(mine.key) is mine.tokenizer  # shown again, so published again


def test_a_well_known_one_is_chosen_by_link(published_files: None) -> None:
    at = visit("tokens", tokenizer="gpt-2", text="hello")
    assert at.selectbox(key="tokenizer").value == "gpt2"
    assert "50,257 entries, 50,000 merges, pattern gpt2, 1 special token" in said(at)


def test_a_missing_one_leaves_the_last_choice(nothing_here: None, tokenizer: Tokenizer) -> None:
    mine = changed(tokenizer, _nfc)
    at = visit("tokens", mine)
    at.selectbox(key="tokenizer").set_value(mine.key).run()
    at.selectbox(key="tokenizer").set_value("gpt2")
    quiet(at.run())
    assert at.selectbox(key="tokenizer").value == mine.key
    assert "The file of gpt2 is not here. Tried:" in said(at)


def dialog_half(half: str) -> AppTest:
    """What the dialog holds, outside of it; a dialog's inside cannot be driven here."""
    script = f"""
import streamlit as st
from ui.tokenizers import import_dialog
from ui.tokenizers import shelf
import_dialog.{half}()
st.text(" | ".join([st.session_state.get("import_arrived") or "", *(t.name for t in shelf.mine())]))
"""
    return quiet(AppTest.from_string(script, default_timeout=60).run())


def test_the_dialog_imports_files(tokenizer: Tokenizer) -> None:
    at = dialog_half("from_files")
    assert at.button(key="import_take").disabled
    content = formats.dumps(tokenizer, "tiktoken")["tokenizer.tiktoken"]
    at.file_uploader(key="import_files").upload("mine.tiktoken", content).run()
    assert "hold neither pattern nor special tokens" in said(at)
    at.selectbox[0].set_value("cl100k")
    at.text_area[0].set_value("<|x|> 256")
    at.button(key="import_take").click()
    quiet(at.run())
    key, name = at.text[0].value.split(" | ")
    assert name == "mine.tiktoken · 285"
    assert published.lookup(key).encode(TEXT) == tokenizer.encode(TEXT)  # type: ignore[union-attr]


def test_the_dialog_says_what_is_wrong_in_one_sentence() -> None:
    at = dialog_half("from_files")
    at.file_uploader(key="import_files").upload("a.json", b"{}").run()
    at.button(key="import_take").click()
    quiet(at.run())
    assert len(at.error) == 1
    assert not at.text[0].value


def test_the_dialog_says_what_was_tried(nothing_here: None) -> None:
    at = dialog_half("by_name")
    at.selectbox(key="import_name").set_value("gpt-4")
    at.run()
    at.button(key="import_take_name").click()
    quiet(at.run())
    assert "The file of cl100k_base is not here" in said(at)
    assert "allow the download" in said(at)


def test_only_the_newest_imports_are_kept() -> None:
    script = """
import streamlit as st
from bpe_core import Trainer
from ui.tokenizers import shelf
from ui.server import published
made = [shelf.remember(shelf.imported(Trainer(256).train("").tokenizer, "same")) for _ in range(6)]
st.text(" | ".join(t.name for t in shelf.mine()))
st.text(sum(published.lookup(t.key) is not None for t in made))
"""
    at = quiet(AppTest.from_string(script, default_timeout=60).run())
    assert len(set(at.text[0].value.split(" | "))) == shelf.KEPT
    assert at.text[1].value == str(shelf.KEPT)


def test_large_vocabularies_make_room_sooner(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [published.publish(tokenizer) for _ in range(3)]
    monkeypatch.setattr(published, "MAX_ENTRIES", 2 * tokenizer.model.n_tokens)
    keys.append(published.publish(tokenizer))
    assert [published.lookup(key) is not None for key in keys] == [False, False, True, True]


# -- compare ----------------------------------------------------------------------------------


def test_compare_takes_each_kind(brought: ImportedTokenizer) -> None:
    at = visit("compare", brought)
    assert at.multiselect(key="compare_tokenizers").value == [
        brought.key,
        state.built_in().wait().key,
    ]
    assert at.multiselect(key="compare_texts").value == ["sample:stories"]
    html = "\n".join(e.proto.body for e in at.get("html"))
    assert html.count('data-testid="reading"') == 2
    if not has_curve(brought.tokenizer):
        assert "measured at its full size, 285" in html


def test_measures_are_those_of_encoding(brought: ImportedTokenizer) -> None:
    text = texts.EvalText(f"t:{brought.key}", "t", False, lambda: TEXT * 3)
    curve = curves.measured(brought, text)
    specials = set(brought.tokenizer.special_tokens.values())
    ids = [i for i in brought.tokenizer.encode(TEXT * 3) if i not in specials]
    assert curve.counts[-1] == len(ids)
    line = curves.Curve("1", "t", brought, text, curve, 0, 0)
    assert line.sizes[-1] == brought.tokenizer.vocab_size
    assert curve.n_bytes == len((TEXT * 3).replace("<|x|>", "").encode())
    ((_, size, found),) = measures.at_size([line], 10**6)
    assert (size, found.tokens, found.used) == (285, len(ids), len(set(ids)))


def test_marks_stand_at_their_own_size(published_files: None) -> None:
    at = visit("compare")
    assert at.pills(key="compare_marks").value == []
    at.pills(key="compare_marks").set_value(["gpt2"])
    quiet(at.run())
    html = "\n".join(e.proto.body for e in at.get("html"))
    assert html.count('data-testid="mark"') == 1
    assert "50,257 entries" in html
    figure = json.loads(at.get("plotly_chart")[0].proto.spec)
    diamonds = [t for t in figure["data"] if t.get("marker", {}).get("symbol") == "diamond-open"]
    assert [m["x"] for m in diamonds] == [[50257]] * 3
    story = state.built_in().wait().text
    gpt2 = shelf.well_known("gpt2").tokenizer
    ids = [i for i in gpt2.encode(story) if i != 50256]
    expected = (len(story.encode()) - 13 * story.count("<|endoftext|>")) / len(ids)
    assert diamonds[0]["y"] == [pytest.approx(expected)]
    assert marks.LOOK in said(at)


def test_a_missing_mark_is_a_quiet_sentence(nothing_here: None) -> None:
    at = visit("compare")
    at.pills(key="compare_marks").set_value(["o200k_base"])
    quiet(at.run())
    assert "The file of o200k_base is not here" in said(at)
    at.multiselect(key="compare_tokenizers").set_value(["cl100k_base"])
    quiet(at.run())
    assert "The file of cl100k_base is not here" in said(at)
    assert at.multiselect(key="compare_tokenizers").value == [state.built_in().wait().key]


def test_downloads_do_not_carry_the_servers_token() -> None:
    assert os.environ["HF_HUB_DISABLE_IMPLICIT_TOKEN"] == "1"
