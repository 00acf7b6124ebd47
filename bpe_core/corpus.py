"""Where text comes from: strings, bytes, files, documents.

Belongs here: reading files in blocks, and what may be a corpus. Does not belong here: decoding
(`text.py`), special tokens (`special.py`) and counting (`counting.py`).
"""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Protocol, cast

from .text import MARKS, TextDecoder, sniff_encoding, utf8_pieces

Corpus = (
    str | bytes | os.PathLike[str] | IO[Any] | Mapping[bytes, int] | Iterable[str]
    | Iterable[os.PathLike[str]]
)  # fmt: skip

BLOCK = 1 << 19  # bytes or characters read at a time


class Progress(Protocol):
    """Called with the number of bytes of text read so far; may raise to stop."""

    def __call__(self, done: int, /) -> None: ...


class Source:
    """A corpus as documents, each an iterator of UTF-8 stretches; counts what was replaced.

    `block` is how much is read at a time, in bytes or characters. Raises TypeError for what is
    no corpus.
    """

    def __init__(self, corpus: Any, errors: str = "replace") -> None:
        TextDecoder("utf-8", errors)  # refuse a bad policy before anything is read
        self.corpus = corpus
        self.errors = errors
        self.block = BLOCK
        self.replaced_bytes = 0

    def documents(self) -> Iterator[Iterator[bytes]]:
        """The documents in order; each is to be used up before the next is asked for."""
        corpus = self.corpus
        if isinstance(corpus, str):
            yield _slices(corpus)
        elif isinstance(corpus, (bytes, bytearray, memoryview)):
            yield self._stream(io.BytesIO(corpus))
        elif isinstance(corpus, os.PathLike):
            yield self._file(corpus)
        elif hasattr(corpus, "read"):
            yield self._stream(corpus)
        elif isinstance(corpus, Iterable):
            for document in corpus:
                if isinstance(document, str):
                    yield _slices(document)
                elif isinstance(document, os.PathLike):
                    yield self._file(document)
                else:
                    raise TypeError(
                        "a corpus of several parts holds texts (str) or paths, not "
                        f"{type(document).__name__}"
                    )
        else:
            raise TypeError(
                "a corpus is a str, bytes, a path, an open file, an iterable of str or of "
                f"paths, or a mapping from pre-token to count, not {type(corpus).__name__}"
            )

    def _file(self, path: os.PathLike[str]) -> Iterator[bytes]:
        with open(path, "rb") as file:
            yield from self._stream(file, os.fspath(path))

    def _stream(self, file: IO[Any], name: str = "") -> Iterator[bytes]:
        block = file.read(BLOCK)
        if isinstance(block, str):
            yield from utf8_pieces(itertools.chain([block], iter(lambda: file.read(BLOCK), "")))
            return
        # An unbuffered file may give less than was asked for, even less than a mark.
        while 0 < len(block) < 3 and (more := file.read(BLOCK)):
            block += more
        encoding = sniff_encoding(block)
        decoder = TextDecoder(encoding, self.errors, name or getattr(file, "name", ""))
        block = block[len(MARKS[encoding]) :]
        while True:
            following = file.read(BLOCK)
            yield decoder.utf8(block, final=not following)
            if not following:
                break
            block = following
        self.replaced_bytes += decoder.replaced_bytes


def _slices(text: str) -> Iterator[bytes]:
    return utf8_pieces(text[i : i + BLOCK] for i in range(0, len(text), BLOCK))


def as_corpus(path: str | os.PathLike[str]) -> os.PathLike[str]:
    """A path given as str, as the path object that a corpus wants."""
    return cast("os.PathLike[str]", Path(path))
