"""Well-known tokenizers by name: OpenAI's encodings and models, Hugging Face repositories.

Belongs here: which file a name stands for, where it may lie, and its hash. Nothing is fetched
unless asked for, and nothing waits longer than told. tiktoken, bpe-openai and huggingface_hub
are used where they are installed and needed by none. Does not belong here: reading the files
(`formats`).

Sources: tiktoken's tables of encodings and models, with its addresses and hashes.
"""

from __future__ import annotations

import contextlib
import difflib
import gzip
import hashlib
import importlib
import importlib.util
import os
import re
import socket
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies

from . import formats
from .tokenizer import Tokenizer

_HOST = "https://openaipublic.blob.core.windows.net"
END_OF_TEXT = "<|endoftext|>"
_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_HARMONY = {
    "<|startoftext|>": 199998, "<|return|>": 200002, "<|constrain|>": 200003,
    "<|channel|>": 200005, "<|start|>": 200006, "<|end|>": 200007, "<|message|>": 200008,
    "<|call|>": 200012,
}  # fmt: skip


class NotFoundError(LookupError):
    """A name that stands for nothing, or whose file is not to be had; says what was tried."""

    def __str__(self) -> str:
        return str(self.args[0])


RegistryError = NotFoundError  # the older name of it, as `bpe_core.registry` is of this module


class Found(NamedTuple):
    """A tokenizer, where it came from (a phrase), and what its file holds that is not applied."""

    tokenizer: Tokenizer
    source: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Encoding:
    """One of OpenAI's encodings: its rank file with the SHA-256, its pattern, its special tokens.

    >>> ENCODINGS["cl100k_base"].pattern
    'cl100k'
    """

    name: str
    file: str
    sha256: str
    pattern: str
    special_tokens: Mapping[str, int] = field(repr=False)

    @property
    def url(self) -> str:
        """The address that tiktoken has the rank file from."""
        return f"{_HOST}/encodings/{self.file}.tiktoken"


def _encodings() -> Iterator[Encoding]:
    r50k = ("r50k_base", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930")
    p50k = ("p50k_base", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069")
    cl100k = ("cl100k_base", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7")
    o200k = ("o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d")
    end = {END_OF_TEXT: 50256}
    # GPT-2's own two files give the same ranks as r50k_base; the tests compare them.
    yield Encoding("gpt2", *r50k, "gpt2", end)
    yield Encoding("r50k_base", *r50k, "gpt2", end)
    yield Encoding("p50k_base", *p50k, "gpt2", end)
    yield Encoding("p50k_edit", *p50k, "gpt2", end | {t: 50281 + i for i, t in enumerate(_FIM)})
    fim = {t: 100258 + i for i, t in enumerate(_FIM)}
    special = {END_OF_TEXT: 100257, **fim, "<|endofprompt|>": 100276}
    yield Encoding("cl100k_base", *cl100k, "cl100k", special)
    special = {END_OF_TEXT: 199999, "<|endofprompt|>": 200018}
    yield Encoding("o200k_base", *o200k, "o200k", special)
    # 200018 has two names in tiktoken's table; the one of o200k_base is kept.
    taken = {*special.values(), *_HARMONY.values()}
    reserved = {f"<|reserved_{i}|>": i for i in range(200000, 201088) if i not in taken}
    yield Encoding("o200k_harmony", *o200k, "o200k", special | _HARMONY | reserved)


ENCODINGS: Mapping[str, Encoding] = {encoding.name: encoding for encoding in _encodings()}

# Names of models; one that ends in "*" stands for all that begin so. First match counts.
_MODELS: Mapping[str, str] = {
    "gpt2": "gpt-2",
    "r50k_base": (
        "r50k text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie babbage "
        "ada text-similarity-* text-search-* code-search-* gpt-3"
    ),
    "p50k_base": (
        "p50k text-davinci-002 text-davinci-003 code-davinci-001 code-davinci-002 "
        "code-cushman-001 code-cushman-002 davinci-codex cushman-codex"
    ),
    "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
    "o200k_harmony": "gpt-oss gpt-oss-*",
    "o200k_base": (
        "o200k gpt-4o gpt-4o-* chatgpt-4o-* gpt-4.1 gpt-4.1-* gpt-4.5-* gpt-5* o1 o1-* o3 o3-* "
        "o4-mini o4-mini-* ft:gpt-4o*"
    ),
    "cl100k_base": (
        "cl100k gpt-4 gpt-4-* gpt-3.5 gpt-3.5-turbo gpt-3.5-turbo-* gpt-35-turbo gpt-35-turbo-* "
        "davinci-002 babbage-002 text-embedding-ada-002 text-embedding-3-small "
        "text-embedding-3-large ft:gpt-4* ft:gpt-3.5-turbo* ft:davinci-002* ft:babbage-002*"
    ),
}


def known_names() -> list[str]:
    """The names of encodings, then those of models that stand for one.

    >>> known_names()[0]
    'gpt2'
    """
    models = [m for names in _MODELS.values() for m in names.split() if not m.endswith("*")]
    return [*ENCODINGS, *sorted(set(models) - set(ENCODINGS))]


def encoding_of(name: str) -> str | None:
    """The encoding that a name of an encoding or a model stands for; None where it is neither.

    >>> encoding_of("gpt-4o-mini"), encoding_of("text-davinci-003"), encoding_of("owner/model")
    ('o200k_base', 'p50k_base', None)
    """
    name = name.strip().lower()
    if name in ENCODINGS:
        return name
    for encoding, models in _MODELS.items():
        for model in models.split():
            if name == model or (model.endswith("*") and name.startswith(model[:-1])):
                return encoding
    return None


def load(name: str, *, download: bool = False, timeout: float = 20.0) -> Found:
    """The tokenizer of a well-known name, or of a Hugging Face repository such as "owner/name".

    Looks into local caches (tiktoken's, the hub's), then into the package bpe-openai, which
    carries the files of cl100k and o200k, and with `download` asks tiktoken or huggingface_hub
    to fetch the file, for at most `timeout` seconds. Raises NotFoundError saying what was tried
    and what to do, and `FormatError` for a file that cannot be taken over.

    >>> try: load("no such name")
    ... except NotFoundError as err: print(str(err).partition(" and ")[0])
    'no such name' is no known tokenizer
    """
    encoding = encoding_of(name)
    if encoding is not None:
        return _load_encoding(ENCODINGS[encoding], download, timeout)
    repository = name.strip()
    if not _is_repository(repository):
        near = difflib.get_close_matches(repository.lower(), known_names(), 3, 0.5)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise NotFoundError(
            f"{name!r} is no known tokenizer and no name of a Hugging Face repository "
            f"(owner/name).{hint}"
        )
    return _load_repository(repository, download, timeout)


# --------------------------------------------------------------------------- encodings


def _load_encoding(encoding: Encoding, download: bool, timeout: float) -> Found:
    tried: list[str] = []
    sources: list[Callable[[], tuple[bytes | None, str]]] = [
        lambda: _from_cache(encoding),
        lambda: _from_package(encoding),
        lambda: _fetched(encoding, timeout) if download else (None, _NOT_ASKED),
    ]
    for source in sources:
        data, phrase = source()
        if data is None:
            tried.append(phrase)
        elif not _is_right(data, encoding):
            tried.append(f"{phrase} (another file than the published one, by its hash)")
        else:
            return Found(_read(encoding, data), phrase)
    advice = _advice("tiktoken", download)
    if encoding.file in _PACKAGED and _package_folder("bpe_openai") is None:
        advice.insert(0, "install bpe-openai, which carries it")
    raise NotFoundError(
        f"The file of {encoding.name} is not here. Tried: {'; '.join(tried)}. What helps: "
        f"{', or '.join([*advice, f'upload {encoding.file}.tiktoken'])}."
    )


_NOT_ASKED = "no download, as none was asked for"


def _advice(package: str, download: bool) -> list[str]:
    if _package_folder(package.replace("-", "_")) is None:
        return [f"install {package} and allow the download"]
    return [] if download else ["allow the download"]


def _is_right(data: bytes, encoding: Encoding) -> bool:
    return hashlib.sha256(data).hexdigest() == encoding.sha256


def _read(encoding: Encoding, data: bytes) -> Tokenizer:
    return formats.loads_tiktoken(
        data, pattern=encoding.pattern, special_tokens=encoding.special_tokens
    )


def _tiktoken_cache() -> str:
    """The folder in which tiktoken keeps files; "" where it is told to keep none."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return os.environ[variable]
    return os.path.join(tempfile.gettempdir(), "data-gym-cache")


def _from_cache(encoding: Encoding) -> tuple[bytes | None, str]:
    folder = _tiktoken_cache()
    if not folder:
        return None, "tiktoken's cache (turned off)"
    path = Path(folder, hashlib.sha1(encoding.url.encode()).hexdigest())
    data = _bytes_of(path)
    return data, "tiktoken's cache" + ("" if data is not None else f" (not in {folder})")


_PACKAGED = ("cl100k_base", "o200k_base")


def _from_package(encoding: Encoding) -> tuple[bytes | None, str]:
    if encoding.file not in _PACKAGED:
        return None, "the package bpe-openai (does not carry it)"
    folder = _package_folder("bpe_openai")
    if folder is None:
        return None, "the package bpe-openai (not installed)"
    packed = _bytes_of(folder / "data" / f"{encoding.file}.tiktoken.gz")
    try:
        return (gzip.decompress(packed) if packed else None), "the package bpe-openai"
    except (OSError, EOFError, zlib.error):
        return None, "the package bpe-openai (its file is damaged)"


def _package_folder(package: str) -> Path | None:
    """Where an installed package lies; it is not imported."""
    with contextlib.suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(package)
        if spec and spec.origin:
            return Path(spec.origin).parent
    return None


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (OSError, ValueError):
        return None


def _fetched(encoding: Encoding, timeout: float) -> tuple[bytes | None, str]:
    if _package_folder("tiktoken") is None:
        return None, "a download by tiktoken (not installed)"

    def fetch() -> bytes:
        _connect(encoding.url)
        load = importlib.import_module("tiktoken.load")
        return bytes(load.read_file_cached(encoding.url, encoding.sha256))

    return _within(timeout, fetch, "a download by tiktoken")


def _within(timeout: float, fetch: Callable[[], Any], phrase: str) -> tuple[Any, str]:
    """Result of a call that may wait for a network without end; None where it took too long.

    The libraries set no limit, or one for each of many tries, so the call runs in a thread
    that is left behind when time is up.
    """
    results: list[Any] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(fetch())
        except Exception as err:
            failures.append(err)

    thread = threading.Thread(target=run, name="fetch tokenizer", daemon=True)
    thread.start()
    thread.join(timeout)
    if results:
        return results[0], phrase
    if failures:
        return None, f"{phrase} (failed: {_reason(failures[0])})"
    return None, f"{phrase} (no answer within {timeout:g} seconds)"


def _connect(url: str) -> None:
    """OSError where the host of an address cannot be reached; libraries try that many times."""
    parts = urlsplit(url)
    if not getproxies():
        port = parts.port or (80 if parts.scheme == "http" else 443)
        socket.create_connection((parts.hostname or "", port), timeout=10).close()


def _reason(error: BaseException) -> str:
    """The kind of an error from a network library; its text is long and says little."""
    if isinstance(error, OSError) and not hasattr(error, "response"):
        return "no connection"
    status = getattr(getattr(error, "response", None), "status_code", None)
    return f"{type(error).__name__}, status {status}" if status else type(error).__name__


# --------------------------------------------------------------------------- Hugging Face


def _is_repository(name: str) -> bool:
    parts = name.split("/")
    good = all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,95}", part) for part in parts)
    return len(parts) in (1, 2) and good and ".." not in name and "--" not in name


# What a repository may hold, in order; special tokens are known from the first alone.
_FILES = (("tokenizer.json",), ("vocab.json", "merges.txt"))


def _load_repository(name: str, download: bool, timeout: float) -> Found:
    tried: list[str] = []
    for source in (_from_hub_cache, _from_hub):
        if source is _from_hub and not download:
            tried.append(_NOT_ASKED)
            continue
        contents, phrase = source(name, timeout)
        if contents is None:
            tried.append(phrase)
        elif len(contents) == 1:
            imported = formats.read_hf(contents[0])
            return Found(imported.tokenizer, phrase, imported.notes)
        else:
            tokenizer = formats.loads_gpt2(contents[0], contents[1], [])
            note = "The repository has no tokenizer.json; its special tokens are not known."
            return Found(tokenizer, phrase, (note,))
    near = difflib.get_close_matches(name.lower(), known_names(), 3, 0.6)
    hint = f" Or did you mean {' or '.join(near)}?" if near and "/" not in name else ""
    advice = [*_advice("huggingface_hub", download), "upload its tokenizer.json"]
    raise NotFoundError(
        f"The tokenizer of the Hugging Face repository {name!r} is not here. Tried: "
        f"{'; '.join(tried)}. What helps: {', or '.join(advice)}.{hint}"
    )


def _hub_cache() -> Path:
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if os.environ.get(variable):
            return Path(os.environ[variable])
    home = os.environ.get("HF_HOME")
    if not home:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        home = os.path.join(base, "huggingface")
    return Path(home, "hub")


def _from_hub_cache(name: str, timeout: float) -> tuple[list[bytes] | None, str]:
    """Files as huggingface_hub keeps them: refs/main names the folder of a revision."""
    folder = _hub_cache() / ("models--" + name.replace("/", "--"))
    revision = (_bytes_of(folder / "refs" / "main") or b"").decode("ascii", "replace").strip()
    if re.fullmatch(r"[0-9a-zA-Z]+", revision):
        for names in _FILES:
            contents = [_bytes_of(folder / "snapshots" / revision / file) for file in names]
            if None not in contents:
                return [c for c in contents if c is not None], "the hub's cache"
    return None, f"the hub's cache (not in {_hub_cache()})"


def _from_hub(name: str, timeout: float) -> tuple[list[bytes] | None, str]:
    phrase = "a download by huggingface_hub"
    if _package_folder("huggingface_hub") is None:
        return None, f"{phrase} (not installed)"

    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"

    def fetch() -> list[bytes]:
        _connect(endpoint)
        hub = importlib.import_module("huggingface_hub")
        missing = importlib.import_module("huggingface_hub.errors").EntryNotFoundError
        for names in _FILES:
            with contextlib.suppress(missing):
                paths = [
                    hub.hf_hub_download(name, file, etag_timeout=timeout, endpoint=endpoint)
                    for file in names
                ]
                return [Path(path).read_bytes() for path in paths]
        raise FileNotFoundError(name)

    return _within(timeout, fetch, phrase)
