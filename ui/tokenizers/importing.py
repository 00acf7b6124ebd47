"""From uploaded files, or a name, to a tokenizer: limits, zip files, special tokens as typed.

Belongs here: everything between what a visitor gives and `bpe_core.formats`; each problem is one
sentence. Does not belong here: the formats themselves, and widgets (``import_dialog``).
"""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import regex

from bpe_core import formats, known
from bpe_core.formats.proof import NASTY_TEXTS
from bpe_core.patterns import PATTERNS, typed_pattern
from ui.limits import TOKENIZER_FILE_MB, TOKENIZER_FILES
from ui.tokenizers import shelf
from ui.tokenizers.shelf import ImportedTokenizer

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer

MAX_ENTRIES = 400_000
MAX_ID = 4_000_000  # tables are as long as the largest id
PATIENCE = 0.5  # seconds that a pattern may take for a page of text
DOWNLOAD_SECONDS = 20.0

_ZIP = b"PK\x03\x04"


class ImportProblem(ValueError):
    """Why nothing was imported, as a sentence for the visitor."""


def unpacked(uploads: Sequence[tuple[str, bytes]]) -> dict[str, bytes]:
    """The contents by file name; zip files are opened.

    Raises ImportProblem for files that are too many, too large or damaged.

    >>> list(unpacked([("a.txt", b"1"), ("a.txt", b"2")]))
    ['a.txt', 'a.txt (2)']
    """
    found: list[tuple[str, bytes]] = []
    for name, content in uploads:
        _check_size(name, len(content))
        found += _unzipped(name, content) if content.startswith(_ZIP) else [(name, content)]
    if len(found) > TOKENIZER_FILES:
        raise ImportProblem(
            f"These are {len(found)} files; a tokenizer has at most {TOKENIZER_FILES}. "
            "Choose those of one tokenizer."
        )
    files: dict[str, bytes] = {}
    for name, content in found:
        same = sum(other == name or other.startswith(f"{name} (") for other in files)
        files[f"{name} ({same + 1})" if same else name] = content
    return files


def _check_size(name: str, n_bytes: int) -> None:
    if n_bytes > TOKENIZER_FILE_MB * 1_000_000:
        raise ImportProblem(
            f"{name} has {n_bytes / 1e6:.0f} MB; files up to {TOKENIZER_FILE_MB} MB are "
            "taken. Tokenizer files are smaller; is it perhaps a model?"
        )


def _unzipped(name: str, content: bytes) -> list[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if len(members) > TOKENIZER_FILES:
                raise ImportProblem(
                    f"{name} holds {len(members)} files; a tokenizer has at most {TOKENIZER_FILES}."
                )
            found = []
            for member in members:
                inside = member.filename.rsplit("/", 1)[-1]
                with archive.open(member) as file:  # what the header says of its size may be wrong
                    data = file.read(TOKENIZER_FILE_MB * 1_000_000 + 1)
                _check_size(inside, len(data))
                found.append((inside, data))
            return found
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as err:
        raise ImportProblem(f"{name} is a zip file that cannot be opened: {err}.") from None


def lacks_settings(files: Mapping[str, bytes]) -> bool:
    """Whether the file that is read is of a format that holds no pattern and special tokens."""
    found = [file.format for file in map(formats.sniff, files.values()) if file is not None]
    return bool(found) and not any(kind.holds_settings for kind in found)


def recognized(files: Mapping[str, bytes]) -> known.Encoding | None:
    """The encoding whose published rank file is among ``files``, or None."""
    by_hash = {e.sha256: e for e in [*known.ENCODINGS.values()][::-1]}
    hashes = (hashlib.sha256(content).hexdigest() for content in files.values())
    return next((by_hash[digest] for digest in hashes if digest in by_hash), None)


def special_lines(typed: str) -> list[tuple[str, int | None]]:
    """The special tokens as typed: one per line, with a blank and the id or without.

    >>> special_lines("<|endoftext|> 50256\\n\\n<|pad|>")
    [('<|endoftext|>', 50256), ('<|pad|>', None)]
    """
    found: list[tuple[str, int | None]] = []
    for line in filter(None, map(str.strip, typed.split("\n"))):
        name, _, number = line.rpartition(" ")
        if name.strip() and number.isascii() and number.isdigit() and len(number) < 10:
            found.append((name.strip(), int(number)))
        else:
            found.append((line, None))
    names = [name for name, _ in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ImportProblem(f"The special token {twice} is listed twice; remove one of the two.")
    return found


def from_files(
    files: Mapping[str, bytes], *, pattern: str, specials: str = ""
) -> ImportedTokenizer:
    """The tokenizer of some files; `pattern` and `specials` are for files without them.

    Raises ImportProblem.
    """
    if not files:
        raise ImportProblem("Choose one or more files first.")
    listed = special_lines(specials) if lacks_settings(files) else []
    try:
        pattern = typed_pattern(pattern)
    except ValueError as err:
        raise ImportProblem(_sentence(err)) from None
    try:
        given = {name: i for name, i in listed if i is not None}
        kind, found = _loads(files, pattern, given)
        if len(given) < len(listed):
            given |= _free_ids(found.tokenizer, listed)
            kind, found = _loads(files, pattern, given)
    except formats.FormatError as err:
        raise ImportProblem(_sentence(err)) from None
    except RecursionError:
        raise ImportProblem("The file is nested too deeply to be read.") from None
    notes = list(found.notes)
    if not formats.FORMATS[kind].holds_settings and not found.tokenizer.special_tokens:
        notes.append("No special tokens were named, so none are recognized.")
    check(found.tokenizer)
    names = [name for name in files if not name.endswith(".py")]
    name = f"{' + '.join(sorted(names, reverse=True))} · {found.tokenizer.vocab_size:,}"
    return shelf.imported(found.tokenizer, name, notes=notes)


def _loads(
    files: Mapping[str, bytes], pattern: str, specials: Mapping[str, int]
) -> tuple[str, formats.Imported]:
    return formats.loads(
        files, pattern=pattern, special_tokens=specials or None, unreachable="whole"
    )


def _free_ids(tokenizer: Tokenizer, listed: Sequence[tuple[str, int | None]]) -> dict[str, int]:
    """Ids of special tokens without one: as in the vocabulary, else the next free ones."""
    id_of = {token: i for i, token in reversed(tokenizer.vocab.items())}
    following = max([*tokenizer.vocab, *(i for _, i in listed if i is not None)]) + 1
    found = {}
    for name, i in listed:
        if i is None:
            found[name] = id_of.get(name.encode(), following)
            following += found[name] == following
    return found


def _sentence(err: Exception) -> str:
    text = str(err).strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def check(tokenizer: Tokenizer) -> None:
    """Raise ImportProblem for a tokenizer that this server would not show well.

    That is one with very many entries, with a very large id, or with a pattern of its own that
    takes too long.
    """
    if tokenizer.vocab_size > MAX_ENTRIES:
        raise ImportProblem(
            f"It has {tokenizer.vocab_size:,} entries; up to {MAX_ENTRIES:,} are taken."
        )
    highest = max(tokenizer.vocab)
    if highest > MAX_ID:
        raise ImportProblem(f"It has the id {highest:,}; ids up to {MAX_ID:,} are taken.")
    patterns = tokenizer.pattern
    text = "\n".join(NASTY_TEXTS)
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        if pattern in PATTERNS:
            continue
        try:
            for _ in regex.compile(pattern).finditer(text, timeout=PATIENCE):
                pass
        except (TimeoutError, regex.error):
            raise ImportProblem(
                f"Its pattern takes too long even on a page of text: {pattern:.120}"
            ) from None


def from_name(name: str, *, download: bool = False) -> ImportedTokenizer:
    """The tokenizer of a well-known name or a Hugging Face repository.

    A well-known one is the server's, under its own name as the key; a repository's is new. Raises
    ImportProblem saying what was tried and what to do.
    """
    if not name.strip():
        raise ImportProblem("Type a name first, such as gpt-4o or owner/name.")
    encoding = known.encoding_of(name)
    try:
        if encoding is not None:
            return shelf.well_known(encoding, download=download)
        found = known.load(name, download=download, timeout=DOWNLOAD_SECONDS)
    except (known.NotFoundError, formats.FormatError) as err:
        raise ImportProblem(_sentence(err)) from None
    check(found.tokenizer)
    name = f"{name.strip()} · {found.tokenizer.vocab_size:,}"
    return shelf.imported(found.tokenizer, name, origin=found.source, notes=found.notes)
