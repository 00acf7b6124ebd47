"""Tokenizers by path or by name, and the files that they are written to.

Belongs here: finding a tokenizer and telling what it is. Does not belong here: reading and writing
formats (`bpe_core.formats`), and what `inspect` prints (`facts.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from bpe_core import formats, known
from bpe_core.patterns import typed_pattern
from bpe_core.tokenizer import Tokenizer

from .errors import CommandError
from .terminal import note


def native_name(tokenizer: Tokenizer) -> str:
    """What a native file is called, here and in the app."""
    return f"bpe-{tokenizer.vocab_size}.json"


TOKENIZER_KINDS: tuple[formats.Format, ...] = ("native", "gpt2", "tiktoken", "hf")


def tokenizer_files(tokenizer: Tokenizer, kind: formats.Format) -> dict[str, bytes]:
    """Names and contents of a tokenizer's files in one of `TOKENIZER_KINDS`."""
    try:
        files = formats.dumps(tokenizer, kind)
    except ValueError as err:
        raise CommandError(f"{err}; use --format native") from None
    if kind == "native":
        return {native_name(tokenizer): content for content in files.values()}
    return files


def load_tokenizer(
    name: str, specials: list[str] | None = None, pattern: str | None = None
) -> Tokenizer:
    """A tokenizer by path (a file of any format, or a folder), or by a well-known name.

    `specials` and `pattern` are for vocab.json and rank files, which do not say them.
    """
    try:
        pattern = typed_pattern(pattern) if pattern else None
    except ValueError as err:
        raise CommandError(f"--pattern: {err}", 2) from None
    path = _file_of(name)
    try:
        if not path.exists() and path.suffix not in (".json", ".txt", ".tiktoken"):
            _says_itself(name, specials, pattern)
            return _well_known(name)
        lacking = _lacks_settings(path)
        if lacking == "tiktoken":
            return _rank_file(path, specials, pattern)
        if lacking == "gpt2":
            return _gpt2_files(path, specials, pattern)
        _says_itself(name, specials, pattern)
        _, (tokenizer, notes) = formats.loads({path.name: path.read_bytes()})
    except ValueError as err:
        raise CommandError(f"{path}: {err}") from None
    for sentence in notes:
        note(f"{path}: {sentence}")
    return tokenizer


def _file_of(name: str) -> Path:
    """The file of a tokenizer: the one named, or the one in the folder named."""
    path = Path(name)
    if not path.is_dir():
        return path
    native = sorted(path.glob("bpe-*.json"))
    if len(native) > 1:
        some = ", ".join(file.name for file in native[:3])
        raise CommandError(f"{name}: it holds several tokenizers ({some}); name one of them")
    known = [*native, path / "tokenizer.json", path / "vocab.json"]
    found = next((file for file in known if file.exists()), None)
    if found is None:
        raise CommandError(
            f"{name}: it holds neither bpe-*.json nor tokenizer.json nor vocab.json; name a file"
        )
    return found


def _lacks_settings(path: Path) -> Literal["tiktoken", "gpt2", ""]:
    """The format of a file that does not say its pattern and special tokens; "" for the others.

    A vocab.json is told by its name too, since its content may be any JSON object. The name alone
    decides for what cannot be looked at ahead, such as a pipe, and for what has no known look.
    """
    by_name: Literal["tiktoken", "gpt2", ""] = "gpt2" if "vocab" in path.stem else ""
    if path.suffix == ".tiktoken":
        by_name = "tiktoken"
    if not path.is_file() or (path.suffix == ".json" and not by_name):
        return by_name
    found = formats.sniff(path.read_bytes())
    if found is None:
        return by_name
    if found.format.name == "tiktoken":
        return "tiktoken"
    return by_name if found.format.name == by_name else ""


def _says_itself(name: str, specials: list[str] | None, pattern: str | None) -> None:
    if specials or pattern:
        raise CommandError(
            f"{name}: it says its special tokens and its pattern itself; leave out --special and "
            "--pattern", 2,
        )  # fmt: skip


def _well_known(name: str) -> Tokenizer:
    try:
        return known.load(name, download=True).tokenizer
    except known.NotFoundError as err:
        raise CommandError(f"{name}: there is no such file, and as a name: {err}") from None


def _rank_file(path: Path, specials: list[str] | None, pattern: str | None) -> Tokenizer:
    """A tokenizer from tiktoken's file; special tokens get the ids after the last rank."""
    if not pattern:
        raise CommandError(
            f"{path}: a rank file does not say its pattern; give it with --pattern, for instance "
            "--pattern cl100k", 2,
        )  # fmt: skip
    data = path.read_bytes()
    tokenizer = formats.loads_tiktoken(data, pattern=pattern)
    if not specials:
        return tokenizer
    first = max(tokenizer.vocab) + 1
    ids = {token: first + i for i, token in enumerate(specials)}
    return formats.loads_tiktoken(data, pattern=pattern, special_tokens=ids)


def _gpt2_files(path: Path, specials: list[str] | None, pattern: str | None) -> Tokenizer:
    """A tokenizer from vocab.json and the merges.txt beside it, and an added_tokens.json there."""
    merges = path.with_name(path.stem.replace("vocab", "merges") + ".txt")
    if not merges.exists() and path.exists():
        raise CommandError(f"{path}: the file of merges, {merges}, is missing; put it there")
    added = path.with_name("added_tokens.json")
    tokenizer = formats.loads_gpt2(
        path.read_bytes(),
        merges.read_bytes(),
        specials or (),
        pattern=pattern or "gpt2",
        added_tokens_json=added.read_bytes() if added.is_file() else None,
    )
    unused = unused_ids(tokenizer)
    if unused:
        some = ", ".join([repr(shown(tokenizer.vocab[i])) for i in unused[:3]])
        more = ", ..." if len(unused) > 3 else ""
        note(
            f"{path}: no merge makes {len(unused)} of its entries ({some}{more}); name those "
            "that are special tokens with --special"
        )
    return tokenizer


def unused_ids(tokenizer: Tokenizer) -> list[int]:
    """Ids of entries that nothing encodes to."""
    used = {*tokenizer.byte_ids.tolist(), *tokenizer.merge_ids[:, 2].tolist()}
    return sorted(set(tokenizer.vocab) - used - set(tokenizer.special_tokens.values()))


def shown(token: bytes) -> str:
    r"""A token's bytes for people: as text, with \xNN for a byte that is no UTF-8."""
    return token.decode("utf-8", "backslashreplace")
