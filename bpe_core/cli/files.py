"""What the commands stand on: whole files or none, ids in files, tokenizers by path, progress.

Belongs here: input and output of the command line. Does not belong here: options
(`cli_options.py`), what each command does (`__main__.py`), and anything that a program would
call: it has `Tokenizer` and `Trainer`.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import shutil
import stat
import sys
import threading
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, cast

import numpy as np

from . import formats, kernels_ready, known, warm_up
from .corpus import Source
from .special import Policy
from .tokenizer import Tokenizer

STDIO = "-"  # names standard input or output
CHUNK = 1 << 16  # ids, or characters of text, handled at a time
IDS_KINDS = ("text", "bin", "npy")

# Set when the process was told to stop: threads that read a corpus look at it.
stop = threading.Event()
# Temporary names of the files that are being written.
unfinished: set[str] = set()


class CommandError(Exception):
    """An error told in one line; `status` is the exit code: 1, or 2 for wrong usage."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


# --------------------------------------------------------------------------- input


def title(name: str) -> str:
    """A file's name for messages."""
    return "standard input" if name == STDIO else name


def size_of_inputs(names: Collection[str]) -> int | None:
    """Bytes of all files together, None where that is not known; CommandError for a bad one."""
    total: int | None = 0
    if list(names).count(STDIO) > 1:
        raise CommandError("standard input (-) can be read only once; name it once", 2)
    for name in names:
        if name == STDIO:
            total = None
            continue
        info = os.stat(name)
        if stat.S_ISDIR(info.st_mode):
            raise CommandError(f"{name}: this is a folder; name the files in it")
        if not stat.S_ISREG(info.st_mode):
            total = None  # a pipe tells no size
        elif total is not None:
            total += info.st_size
    return total


@contextlib.contextmanager
def binary_input(name: str) -> Iterator[IO[bytes]]:
    """A file, or standard input, opened for reading bytes."""
    if name == STDIO:
        yield sys.stdin.buffer
    else:
        with open(name, "rb") as file:
            yield file


@contextlib.contextmanager
def unbuffered_input(name: str) -> Iterator[IO[bytes]]:
    """The same without a buffer: a pipe gives what it has, and a signal is never kept waiting."""
    if name == STDIO:
        yield getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
    else:
        with open(name, "rb", buffering=0) as file:
            yield cast("IO[bytes]", file)


class TextInput:
    """A file's text in pieces, decoded as a corpus is; counts its UTF-8 bytes."""

    def __init__(self, name: str, errors: str) -> None:
        self._name = name
        self._errors = errors
        self.n_bytes = 0
        self.replaced_bytes = 0  # known at the end

    def __iter__(self) -> Iterator[str]:
        with unbuffered_input(self._name) as file:
            source = Source(file, self._errors)
            for document in source.documents():
                for block in document:
                    self.n_bytes += len(block)
                    yield block.decode()
            self.replaced_bytes = source.replaced_bytes


# --------------------------------------------------------------------------- output


def check_folder(folder: Path, may_be_made: bool = True) -> None:
    """CommandError where files could not be written into a folder, before any work is done."""
    place = folder.absolute()
    while may_be_made and not place.exists():
        place = place.parent
    if not place.exists():
        raise CommandError(f"{folder}: there is no such folder; make it first")
    if not place.is_dir():
        raise CommandError(f"{place}: this is a file; give a folder")
    if not os.access(place, os.W_OK):
        raise CommandError(f"{place}: files may not be written here; check the permissions")


class OutputFile:
    """A file being written; an error while writing names it."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.name = name
        self._file = file

    def write(self, data: bytes) -> int:
        """Write all bytes."""
        with self._named():
            return self._file.write(data)

    def rewrite_head(self, data: bytes) -> None:
        """Write over the first bytes."""
        with self._named():
            self._file.seek(0)
            self._file.write(data)

    def finish(self) -> None:
        """Hand everything to the system, and close what is not standard output."""
        with self._named():
            self._file.flush()
            if self.name != STDIO:
                self._file.close()

    def abandon(self) -> None:
        """Close without caring for what was written."""
        if self.name != STDIO:
            with contextlib.suppress(OSError):
                self._file.close()

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as err:
            err.filename = err.filename or ("standard output" if self.name == STDIO else self.name)
            raise


class Outputs:
    """Files that appear, all of them, when the block ends well, and not at all when it does not.

    Each is written under a temporary name in its folder and moved in place at the end. Pipes
    and devices are written to as they are.
    """

    def __init__(self) -> None:
        self._files: list[OutputFile] = []
        self._moves: dict[str, str] = {}

    def __enter__(self) -> Outputs:
        return self

    def create(self, name: str) -> OutputFile:
        """A new output; standard output for `-`."""
        if name == STDIO:
            file: IO[bytes] = sys.stdout.buffer
        elif os.path.exists(name) and not os.path.isfile(name):
            if os.path.isdir(name):
                raise CommandError(f"{name}: this is a folder; name a file in it")
            file = open(name, "wb")  # noqa: SIM115 - closed in finish or abandon
        else:
            target = os.path.realpath(name)  # a link stays one
            folder, base = os.path.split(target)
            check_folder(Path(folder), may_be_made=False)
            temporary = os.path.join(folder, f".{base}.{os.getpid()}.part")
            self._moves[temporary] = target
            unfinished.add(temporary)
            try:
                file = open(temporary, "wb")  # noqa: SIM115
            except OSError as err:
                err.filename = name
                raise
        self._files.append(OutputFile(file, name))
        return self._files[-1]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                for file in self._files:
                    file.finish()
                for temporary, target in self._moves.items():
                    os.replace(temporary, target)
        finally:
            for file in self._files:
                file.abandon()
            discard(self._moves)


def discard(temporaries: Iterable[str]) -> None:
    """Remove files that are not, or no longer, there for anybody."""
    for temporary in list(temporaries):
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        unfinished.discard(temporary)


# --------------------------------------------------------------------------- ids


def dtype_of_ids(tokenizer: Tokenizer, wish: str = "auto") -> np.dtype[Any]:
    """Little-endian uint16 where every id of the vocabulary fits, else uint32.

    >>> from bpe_core import Trainer
    >>> dtype_of_ids(Trainer(256).train("").tokenizer).itemsize
    2
    """
    fits = max(tokenizer.vocab) < 1 << 16
    if wish == "uint16" and not fits:
        raise CommandError(
            f"the ids go up to {max(tokenizer.vocab)}, which uint16 does not hold; "
            "use --dtype uint32",
            2,
        )
    return np.dtype("<u2" if wish == "uint16" or (wish == "auto" and fits) else "<u4")


def kind_of_ids(name: str, wish: str | None) -> str:
    """How ids are written in a file: as asked for, else by its suffix; "text" for a stream."""
    by_suffix = {".npy": "npy", ".bin": "bin", ".txt": "text"}.get(Path(name).suffix.lower(), "")
    kind = wish or ("text" if name == STDIO else by_suffix)
    if not kind:
        raise CommandError(
            f"{name}: the name does not say how ids are kept; "
            "end it in .npy, .bin or .txt, or give --ids", 2,
        )  # fmt: skip
    if kind == "npy" and name == STDIO:
        raise CommandError("an .npy file cannot be a stream; use --ids bin or a file", 2)
    return kind


def npy_header(dtype: np.dtype[Any], n: int) -> bytes:
    """The head of an .npy file of n numbers, always 128 bytes, so that n can be set afterwards.

    Source: NEP 1, "A simple file format for NumPy arrays", version 1.0.

    >>> len(npy_header(np.dtype("<u2"), 0)), npy_header(np.dtype("<u2"), 5)[10:25]
    (128, b"{'descr': '<u2'")
    """
    text = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': ({n},), }}"
    return b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + f"{text:<117}\n".encode("ascii")


class IdWriter:
    """Writes ids in one of the kinds; as text, one line a text, ids with blanks between."""

    def __init__(self, file: OutputFile, kind: str, dtype: np.dtype[Any]) -> None:
        self._file, self._kind, self._dtype = file, kind, dtype
        self._between = ""
        self.n_ids = 0
        if kind == "npy":
            file.write(npy_header(dtype, 0))

    def write(self, ids: np.ndarray) -> None:
        """Add ids."""
        self.n_ids += ids.size
        if self._kind != "text":
            self._file.write(ids.astype(self._dtype).tobytes())
        elif ids.size:
            self._file.write((self._between + " ".join(map(str, ids.tolist()))).encode("ascii"))
            self._between = " "

    def end_text(self) -> None:
        """One text is over."""
        if self._kind == "text":
            self._file.write(b"\n")
            self._between = ""

    def finish(self) -> None:
        """Everything was written."""
        if self._kind == "npy":
            self._file.rewrite_head(npy_header(self._dtype, self.n_ids))


def read_ids(name: str, kind: str, dtype: np.dtype[Any]) -> Iterator[np.ndarray]:
    """The ids of a file in chunks; CommandError for what holds no ids."""
    if kind == "npy":
        try:
            array = np.load(name, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError):
            raise CommandError(f"{name}: this is no .npy file; for raw ids use --ids bin") from None
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
            raise CommandError(f"{name}: expected one row of whole numbers, as encode writes it")
        for at in range(0, array.size, CHUNK):
            yield np.asarray(array[at : at + CHUNK])
        return
    with binary_input(name) as file:
        if kind == "text":
            yield from _ids_of_text(title(name), file)
            return
        while data := file.read(CHUNK * dtype.itemsize):
            if len(data) % dtype.itemsize:
                raise CommandError(
                    f"{title(name)}: its size is no multiple of {dtype.itemsize} bytes, so it "
                    f"does not hold {dtype.name} ids; see --dtype"
                )
            yield np.frombuffer(data, dtype)


def _ids_of_text(name: str, file: IO[bytes]) -> Iterator[np.ndarray]:
    # A list as Python prints it can be read as well.
    blanks = bytes.maketrans(b",[]", b"   ")
    tail = b""
    while data := file.read(CHUNK):
        data = tail + data.translate(blanks)
        words = data.split()
        # The last word may go on in the next block.
        tail = words.pop() if words and not data[-1:].isspace() else b""
        yield _numbers(name, words)
        if len(tail) > 20:
            break
    yield _numbers(name, tail.split())


def _numbers(name: str, words: list[bytes]) -> np.ndarray:
    for word in words:
        if not word.isdigit() or len(word) > 10:
            shown = word[:20].decode("utf-8", "replace")
            raise CommandError(f"{name}: {shown!r} is not an id; expected whole numbers")
    return np.array([int(word) for word in words], np.int64)


def encoded(tokenizer: Tokenizer, pieces: Iterable[str], allowed: Policy) -> Iterator[np.ndarray]:
    """Ids of one text that comes in pieces, uint32 arrays, in bounded memory."""
    return tokenizer.encode_chunks(pieces, allowed_special=allowed, block=CHUNK)


def decoded(tokenizer: Tokenizer, chunks: Iterable[np.ndarray], errors: str) -> Iterator[bytes]:
    """The text of ids, as UTF-8; a character comes when it is complete."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors)
    for chunk in chunks:
        yield decoder.decode(tokenizer.decode_bytes(chunk)).encode("utf-8")
    yield decoder.decode(b"", final=True).encode("utf-8")


# --------------------------------------------------------------------------- tokenizers


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
    path = Path(name)
    if path.is_dir():
        native = sorted(path.glob("bpe-*.json"))
        if len(native) > 1:
            some = ", ".join(file.name for file in native[:3])
            raise CommandError(f"{name}: it holds several tokenizers ({some}); name one of them")
        path = native[0] if native else path / "vocab.json"
        if not path.exists():
            raise CommandError(f"{name}: it holds neither bpe-*.json nor vocab.json; name a file")
    merges = path.with_name(path.stem.replace("vocab", "merges") + ".txt")
    try:
        if not path.exists() and path.suffix not in (".json", ".txt", ".tiktoken"):
            _says_itself(name, specials, pattern)
            return _well_known(name)
        if path.suffix == ".tiktoken":
            return _rank_file(path, specials, pattern)
        if "vocab" not in path.stem:
            _says_itself(name, specials, pattern)
            _, (tokenizer, notes) = formats.loads({path.name: path.read_bytes()})
            for sentence in notes:
                note(f"{path}: {sentence}")
            return tokenizer
        if not merges.exists() and path.exists():
            raise CommandError(f"{path}: the file of merges, {merges}, is missing; put it there")
        tokenizer = Tokenizer.from_files(path, merges, specials or (), pattern or "gpt2")
    except ValueError as err:
        raise CommandError(f"{path}: {err}") from None
    unused = unused_ids(tokenizer)
    if unused:
        some = ", ".join([repr(shown(tokenizer.vocab[i])) for i in unused[:3]])
        more = ", ..." if len(unused) > 3 else ""
        note(
            f"{path}: no merge makes {len(unused)} of its entries ({some}{more}); name those "
            "that are special tokens with --special"
        )
    return tokenizer


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


def unused_ids(tokenizer: Tokenizer) -> list[int]:
    """Ids of entries that nothing encodes to."""
    used = {*tokenizer.byte_ids.tolist(), *tokenizer.merge_ids[:, 2].tolist()}
    return sorted(set(tokenizer.vocab) - used - set(tokenizer.special_tokens.values()))


def shown(token: bytes) -> str:
    r"""A token's bytes for people: as text, with \xNN for a byte that is no UTF-8."""
    return token.decode("utf-8", "backslashreplace")


# --------------------------------------------------------------------------- telling


def note(message: str) -> None:
    """One line to standard error."""
    print(f"mergescope: {message}", file=sys.stderr, flush=True)


class Progress:
    """One line on a terminal that says how far the work is; nothing anywhere else."""

    def __init__(self, quiet: bool = False) -> None:
        self._on = not quiet and sys.stderr.isatty()
        self._width = 0
        self._next = 0.0
        self._phase = ""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._draw("")

    def show(self, phase: str, done: int, total: int | None, unit: str) -> None:
        """Draw the line anew, at most ten times a second."""
        now = time.monotonic()
        if not self._on or (now < self._next and phase == self._phase and done != total):
            return
        self._next, self._phase = now + 0.1, phase
        if unit == "MB":
            amount = f"{done / 1e6:,.1f}" + (f" of {total / 1e6:,.1f}" if total else "")
        else:
            amount = f"{done:,}" + (f" of {total:,}" if total else "")
        # A file may grow while it is read, and UTF-16 takes more bytes than are counted.
        share = min(done / total, 1.0) if total else 0.0
        bar = f"[{'=' * int(30 * share):<30}] {share:4.0%}  " if total else ""
        self._draw(f"{phase:<8}  {bar}{amount} {unit}")

    def load_engine(self) -> None:
        """Load the compiled kernels, and say so, since the first time takes long."""
        if not kernels_ready():
            self._draw("loading the engine (about 20 s the first time on a machine)")
            warm_up()

    def _draw(self, line: str) -> None:
        if self._on:
            line = line[: shutil.get_terminal_size().columns - 1]  # a wrapped one would stay
            print(f"\r{line:<{self._width}}", end="\r" if not line else "", file=sys.stderr,
                  flush=True)  # fmt: skip
            self._width = len(line)
