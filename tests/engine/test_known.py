"""Well-known tokenizers: where a name leads, what is said without a file, and no hanging."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import json
import logging
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bpe_core import FormatError, Tokenizer, Trainer, formats, known

from .texts import NASTY, real_texts

END_OF_TEXT = "<|endoftext|>"


@pytest.fixture(autouse=True)
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cache and no package: each test adds what it is about."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tiktoken"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(known, "_package_folder", lambda package: None)
    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def cache(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(shared / "tiktoken_cache"))
    return shared / "tiktoken_cache"


# Names


def test_names_lead_where_those_of_tiktoken_do() -> None:
    model = pytest.importorskip("tiktoken.model")
    names = [*model.MODEL_TO_ENCODING]
    names += [prefix + "x" for prefix in model.MODEL_PREFIX_TO_ENCODING]
    for name in names:
        assert known.encoding_of(name) == model.encoding_name_for_model(name), name
    for name in ("gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base"):
        assert known.encoding_of(name) == name
        assert known.encoding_of(f" {name.upper()} ") == name
    assert known.encoding_of("o200k") == "o200k_base"
    assert known.encoding_of("gpt-4o") == "o200k_base"
    for name in ("owner/gpt-4", "", "gpt", "o", "llama"):
        assert known.encoding_of(name) is None


def test_every_known_name_leads_somewhere() -> None:
    names = known.known_names()
    assert len(names) == len(set(names))
    assert all(known.encoding_of(name) in known.ENCODINGS for name in names)


def test_addresses_hashes_and_special_tokens_are_those_of_tiktoken(
    cache: Path, tiktoken_encoding: Callable[[str], Any]
) -> None:
    for name, encoding in known.ENCODINGS.items():
        theirs = tiktoken_encoding(name)
        specials = dict(theirs._special_tokens)
        if name == "o200k_harmony":  # one id with two names
            assert specials.pop("<|reserved_200018|>") == specials["<|endofprompt|>"] == 200018
        assert dict(encoding.special_tokens) == specials, name
        data = (cache / hashlib.sha1(encoding.url.encode()).hexdigest()).read_bytes()
        assert hashlib.sha256(data).hexdigest() == encoding.sha256


# Found


@pytest.mark.parametrize(
    "name", ["gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base"]
)
def test_what_is_found_gives_the_ids_of_tiktoken(
    name: str, cache: Path, tiktoken_encoding: Callable[[str], Any], shared: Path
) -> None:
    found = known.load(name)
    assert "cache" in found.source
    theirs = tiktoken_encoding(name)
    assert found.tokenizer.vocab_size == len(theirs._mergeable_ranks) + len(theirs._special_tokens)
    for text in [*real_texts(shared)[::5], *NASTY]:
        assert found.tokenizer.encode(text) == theirs.encode(text, allowed_special="all")


def test_a_package_that_carries_the_file_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("bpe_openai")
    monkeypatch.undo()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    found = known.load("gpt-4")
    assert "bpe-openai" in found.source
    assert found.tokenizer.encode("hello   world") == [15339, 256, 1917]


def test_a_file_in_a_package_is_unpacked_and_checked(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding = known.ENCODINGS["cl100k_base"]
    data = (cache / hashlib.sha1(encoding.url.encode()).hexdigest()).read_bytes()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setattr(known, "_package_folder", lambda package: tmp_path)
    path = tmp_path / "data" / "cl100k_base.tiktoken.gz"
    path.parent.mkdir()
    packed = gzip.compress(data, 1)
    path.write_bytes(packed)
    assert known.load("cl100k").tokenizer.encode("  ") == [256]
    for broken, said in (
        (gzip.compress(data[:-20], 1), "hash"),
        (packed[:-9], "damaged"),
        (packed[:40] + b"x" * 40, "damaged"),
        (b"", "bpe-openai"),
    ):
        path.write_bytes(broken)
        with pytest.raises(known.NotFoundError, match=f"bpe-openai.*{said}|{said}"):
            known.load("cl100k")


def test_a_cached_file_that_is_another_one_is_not_taken(tmp_path: Path) -> None:
    encoding = known.ENCODINGS["gpt2"]
    (tmp_path / "tiktoken").mkdir()
    path = tmp_path / "tiktoken" / hashlib.sha1(encoding.url.encode()).hexdigest()
    path.write_bytes(b"IQ== 0\n")
    with pytest.raises(known.NotFoundError, match="hash"):
        known.load("gpt2")
    assert path.exists()


def in_hub_cache(folder: Path, name: str, files: dict[str, str]) -> None:
    """Lay files down as huggingface_hub keeps them."""
    repository = folder / ("models--" + name.replace("/", "--"))
    revision = "607a30d783dfa663caf39e06633721c8d4cfcd7e"
    (repository / "snapshots" / revision).mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(revision, encoding="ascii")
    for file, text in files.items():
        (repository / "snapshots" / revision / file).write_text(text, encoding="utf-8", newline="")


@pytest.fixture(scope="module")
def trained() -> Tokenizer:
    return Trainer(300, ["<s>"]).train("low lower lowest newer newest").tokenizer


def test_repositories_are_found_in_the_hubs_cache(tmp_path: Path, trained: Tokenizer) -> None:
    vocab, merges = formats.dumps_gpt2(trained)
    in_hub_cache(tmp_path / "hub", "owner/one.v1", {"tokenizer.json": formats.dumps_hf(trained)})
    in_hub_cache(tmp_path / "hub", "two", {"vocab.json": vocab, "merges.txt": merges})
    in_hub_cache(
        tmp_path / "hub", "owner/broken", {"tokenizer.json": '{"model": {"type": "Unigram"}}'}
    )
    in_hub_cache(tmp_path / "hub", "owner/empty", {"config.json": "{}"})
    for name in ("owner/one.v1", " two "):
        found = known.load(name)
        assert found.tokenizer.encode("lowest lower") == trained.encode("lowest lower")
        assert "hub's cache" in found.source
    assert known.load("owner/one.v1").tokenizer.encode("<s>") == [256]
    assert known.load("two").notes
    with pytest.raises(FormatError, match="Unigram"):
        known.load("owner/broken")
    for name in ("owner/empty", "owner/other"):
        with pytest.raises(known.NotFoundError, match=name):
            known.load(name)


# Not found


def test_without_a_file_one_sentence_says_what_was_tried_and_what_helps() -> None:
    with pytest.raises(known.NotFoundError) as caught:
        known.load("gpt-4")
    said = str(caught.value)
    for part in ("cl100k_base", "cache", "bpe-openai", "install", "upload", "cl100k_base.tiktoken"):
        assert part in said
    with pytest.raises(known.NotFoundError) as caught:
        known.load("text-davinci-003", download=True)
    assert "tiktoken (not installed)" in str(caught.value)
    assert "install bpe-openai" not in str(caught.value)
    with pytest.raises(known.NotFoundError) as caught:
        known.load("owner/name", download=True)
    for part in ("'owner/name'", "huggingface_hub (not installed)", "tokenizer.json"):
        assert part in str(caught.value)


@pytest.mark.parametrize("name", ["", " ", "no such", "../x", "a/b/c", "a/../b", "/etc/passwd", "a/", "ä/b", "x\x00", "https://a.b/c", "a" * 200, "a--b/c", "a/.."])  # fmt: skip
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(known.NotFoundError, match="no known tokenizer"):
        known.load(name, download=True)


def test_near_names_are_offered() -> None:
    with pytest.raises(known.NotFoundError, match="cl100k_base"):
        known.load("cl100k base")
    with pytest.raises(known.NotFoundError, match=r"gpt-4\b"):
        known.load("gpt4")


# Downloads, from this machine only


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves the files given, as a plain host or as the hub does."""

    files: dict[str, bytes]

    def do_HEAD(self) -> None:
        data = self.files.get(self.path)
        self.send_response(200 if data is not None else 404)
        if data is None:
            self.send_header("X-Error-Code", "EntryNotFound")
        self.send_header("Content-Length", str(len(data or b"")))
        self.send_header("ETag", f'"{hashlib.sha1(data or b"").hexdigest()}"')
        self.send_header("X-Repo-Commit", "607a30d783dfa663caf39e06633721c8d4cfcd7e")
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        self.wfile.write(self.files.get(self.path, b""))

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Callable[[dict[str, bytes]], str]]:
    """A function that serves files on this machine and returns the address."""
    servers: list[http.server.ThreadingHTTPServer] = []

    def start(files: dict[str, bytes]) -> str:
        handler = type("Files", (Handler,), {"files": files})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a host that takes connections and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


NOWHERE = "http://127.0.0.1:9"  # the port of a service that no machine runs any more


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """tiktoken and huggingface_hub are there; bpe-openai is not."""
    pytest.importorskip("tiktoken")
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(
        known, "_package_folder", lambda package: None if package == "bpe_openai" else Path()
    )
    logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)


@pytest.mark.usefixtures("installed")
def test_tiktoken_fetches_the_file_when_asked_and_keeps_it(
    shared: Path, tmp_path: Path, serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding = known.ENCODINGS["gpt2"]
    file = shared / "tiktoken_cache" / hashlib.sha1(encoding.url.encode()).hexdigest()
    address = serve({"/encodings/r50k_base.tiktoken": file.read_bytes()})
    monkeypatch.setattr(known, "_HOST", address)
    with pytest.raises(known.NotFoundError, match="none was asked for"):
        known.load("gpt2")
    assert not (tmp_path / "tiktoken").exists()
    assert "download" in known.load("gpt2", download=True).source
    assert "cache" in known.load("gpt2").source
    shutil.rmtree(tmp_path / "tiktoken")
    monkeypatch.setattr(known, "_HOST", serve({"/encodings/r50k_base.tiktoken": b"IQ== 0\n"}))
    with pytest.raises(known.NotFoundError, match=r"download by tiktoken.*failed"):
        known.load("gpt2", download=True)


@pytest.mark.usefixtures("installed")
def test_the_hub_client_fetches_a_repository_when_asked(
    tmp_path: Path, trained: Tokenizer, serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    vocab, merges = formats.dumps_gpt2(trained)
    files = {
        "/owner/one/resolve/main/tokenizer.json": formats.dumps_hf(trained).encode(),
        "/owner/two/resolve/main/vocab.json": vocab.encode(),
        "/owner/two/resolve/main/merges.txt": merges.encode(),
    }
    monkeypatch.setenv("HF_ENDPOINT", serve(files))
    for name in ("owner/one", "owner/two"):
        found = known.load(name, download=True)
        assert "huggingface_hub" in found.source
        assert found.tokenizer.encode("lowest lower") == trained.encode("lowest lower")
        assert "hub's cache" in known.load(name).source
    with pytest.raises(known.NotFoundError, match="failed"):
        known.load("owner/three", download=True)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", ["gpt2", "owner/name"])
def test_without_a_connection_that_is_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "_HOST", NOWHERE)
    monkeypatch.setenv("HF_ENDPOINT", NOWHERE)
    with pytest.raises(known.NotFoundError, match=r"no connection.*upload"):
        known.load(name, download=True)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", ["gpt2", "owner/name"])
def test_a_host_that_never_answers_is_given_up(
    name: str, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known, "_HOST", silent)
    monkeypatch.setenv("HF_ENDPOINT", silent)
    with pytest.raises(known.NotFoundError, match=r"no answer within 0\.3 seconds"):
        known.load(name, download=True, timeout=0.3)


def test_the_file_of_a_repository_is_read_as_such(tmp_path: Path, trained: Tokenizer) -> None:
    file = json.loads(formats.dumps_hf(trained))
    file["truncation"] = {"max_length": 5}
    in_hub_cache(tmp_path / "hub", "owner/one", {"tokenizer.json": json.dumps(file)})
    (note,) = known.load("owner/one").notes
    assert "truncation" in note


# The older name


@pytest.mark.parametrize(
    "lines",
    [
        "from bpe_core import known, registry",
        "from bpe_core import registry, known",
        "import bpe_core.registry as registry\nfrom bpe_core import known",
        "import bpe_core\nregistry = bpe_core.registry\nknown = bpe_core.known",
    ],
)
def test_the_older_name_of_the_module_is_the_module_itself(
    run_python: Callable[[str], str], lines: str
) -> None:
    script = f"""
{lines}
import sys
from bpe_core.registry import RegistryError, encoding_of
assert registry is known is sys.modules["bpe_core.registry"]
assert RegistryError is known.NotFoundError
print(encoding_of("gpt-4"))
"""
    assert run_python(script) == "cl100k_base\n"
