"""Files and streams of the command line: text that is read, and whole files or none.

Belongs here: input and output as such. Does not belong here: ids in files (`ids.py`) and
tokenizers (`tokenizers.py`).
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, cast

from bpe_core.corpus import Source

from .errors import CommandError

STDIO = "-"  # names standard input or output

# Temporary names of the files that are being written.
unfinished: set[str] = set()

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
