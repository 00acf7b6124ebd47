"""Taking a tokenizer home: obstacles first, then the proof, then files that others can read."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bpe_core import Tokenizer, Trainer, formats
from bpe_core.formats import FORMATS
from ui.server import published
from ui.session.state import Trained
from ui.tokenizers import export_dialog, proof

STORY = "the low lower lowest mouse looked at the newest widest moon <|x|>\n" * 40
TEXT = "the low mouse café 한 looked <|x|> newest  unseen\n\n 1234567 it's"


def made(size: int = 285, text: str = STORY, **options: Any) -> Trained:
    settings = Trainer(size, ["<|x|>"], pattern="cl100k", **options)
    result = settings.train(text)
    return Trained(
        key=published.publish(result.tokenizer),
        name="Made *here*",
        tokenizer=result.tokenizer,
        trace=result.trace,
        text=text,
        held_out="held out low lower",
        settings=settings,
        stop_reason=result.stop_reason,
        source="paste",
    )


def proved(trained: Trained, kind: Any, merges: int | None = None) -> proof.Proved:
    n = trained.tokenizer.n_merges if merges is None else merges
    return proof.prove(trained.key, n, kind, trained.tokenizer.truncated(n), trained)


def test_each_format_says_what_it_is_for() -> None:
    assert set(export_dialog.PURPOSES) == set(FORMATS)
    assert set(export_dialog.SNIPPETS) <= set(FORMATS)


@pytest.mark.parametrize("kind", FORMATS)
def test_an_export_is_proved_and_can_be_read(kind: Any) -> None:
    trained = made()
    found = proved(trained, kind)
    assert not found.proof.differing
    compared = [*proof.texts(trained)]
    assert "".join(compared) == trained.text + trained.held_out
    assert found.proof.n_ids > sum(len(trained.tokenizer.encode(text)) for text in compared)
    assert f"Reloaded, {found.proof.n_ids:,} ids equal: the training text" in found.sentence
    name, content, _ = proof.download(found, 285)
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert {n: archive.read(n) for n in archive.namelist()} == found.files
        assert content == proof.zipped(found.files)
    else:
        assert found.files == {name: content}


@pytest.mark.parametrize("n_merges", [0, 9])
@pytest.mark.parametrize("kind", FORMATS)
def test_the_size_of_the_slider_is_what_is_exported(kind: Any, n_merges: int) -> None:
    trained = made()
    found = proved(trained, kind, n_merges)
    assert not found.proof.differing
    specials = trained.tokenizer.special_tokens
    _, again = formats.loads(found.files, pattern="cl100k", special_tokens=specials)
    shorter = trained.tokenizer.truncated(n_merges)
    assert again.tokenizer.n_merges == n_merges
    assert again.tokenizer.encode(TEXT) == shorter.encode(TEXT)


def run(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    exec(code.replace('"some text"', repr(TEXT)), names)
    return names


@pytest.mark.parametrize("kind", ["hf", "tiktoken"])
def test_the_code_that_is_shown_gives_the_same_ids(
    kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip({"hf": "tokenizers"}.get(kind, kind))
    trained = made()
    for name, content in proved(trained, kind).files.items():
        (tmp_path / name).write_bytes(content)
    code = export_dialog.HF_SNIPPET
    if kind == "tiktoken":
        code = formats.tiktoken_snippet(trained.tokenizer)
    assert run(code, tmp_path, monkeypatch)["ids"] == trained.tokenizer.encode(TEXT)


def test_a_difference_would_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that another writer spoils: the proof is made with what is read back."""
    from bpe_core.formats import proof as engine_proof

    def spoiled(tokenizer: Tokenizer, kind: Any) -> dict[str, bytes]:
        return real(tokenizer.truncated(tokenizer.n_merges - 1), kind)

    real = engine_proof.dumps
    monkeypatch.setattr(engine_proof, "dumps", spoiled)
    trained = made(284)
    found = proved(trained, "native")
    assert found.proof.differing
    assert "so there is no download" in found.sentence


def test_long_texts_are_compared_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "MOST_TEXT", 1_000)
    trained = made()
    assert len("".join(proof.texts(trained))) == 1_000 + len(trained.held_out)
    assert "the first 1,000 characters of the training text" in proved(trained, "native").sentence


# -- the dialog -------------------------------------------------------------------------------


def dialog(trained: Trained, kind: str, merges: int | None = None) -> AppTest:
    """What the dialog holds; the decorator around it cannot be driven without a browser."""

    def script(trained, merges):  # type: ignore[no-untyped-def]
        from ui.tokenizers import export_dialog

        export_dialog.contents(trained, merges)

    n = trained.tokenizer.n_merges if merges is None else merges
    at = AppTest.from_function(script, args=(trained, n), default_timeout=60)
    at.session_state["export_format"] = kind
    at.run()
    assert not at.exception, at.exception[0].value
    return at


@pytest.mark.parametrize("kind", FORMATS)
def test_the_proof_stands_beside_the_download(kind: str) -> None:
    at = dialog(made(), kind)
    assert "ids equal" in at.success[0].value
    assert len(at.get("download_button")) == 1
    assert "Made \\*here\\*" in at.caption[0].value
    assert not at.warning
    assert bool(at.code) == (kind in ("hf", "tiktoken"))


def test_an_obstacle_takes_the_place_of_the_download() -> None:
    vocab = {i: bytes([i]) for i in range(256)} | {300: b"bc", 299: b"ab"}
    tokenizer = Tokenizer.from_vocab(vocab, [(b"b", b"c"), (b"a", b"b")])
    other = made()
    trained = Trained(
        published.publish(tokenizer), "Other", tokenizer, None, "", "", other.settings, "", "import"
    )
    at = dialog(trained, "tiktoken")
    assert "cannot hold this tokenizer exactly" in at.warning[0].value
    assert "merges in order of ids" in at.warning[0].value.replace("\\", "")
    assert not at.get("download_button")
    assert not at.success
    assert dialog(trained, "hf").get("download_button")


def test_a_large_vocabulary_is_proved_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "AT_ONCE", 200)
    at = dialog(made(), "hf")
    assert not at.get("download_button")
    at.button(key="export_prove").click().run()
    assert "ids equal" in at.success[0].value
    assert at.get("download_button")
