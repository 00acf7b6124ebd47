"""Where text comes from: strings, bytes, files, documents.

A corpus is a str, bytes, a path, an open file (of bytes or of text), or an iterable of str and of
paths, each a document of its own. Counting also takes a mapping from pre-token to count.

Belongs here: reading files in blocks, and what may be a corpus. Does not belong here: decoding
(`text.py`), special tokens (`special.py`) and counting (`counting.py`).
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Protocol

from .text import (
    BEGINNING,
    GZIP,
    MARKS,
    NO_MARK,
    SNIFFED,
    WAS_GZIP,
    TextDecoder,
    gunzipped,
    sniff_encoding,
    utf8_pieces,
)
from .text import DecodedText as DecodedText
from .text import decode_text as decode_text

LONGEST_NAME = 4096  # characters of a path
BLOCK = 1 << 19  # bytes or characters read at a time


class Progress(Protocol):
    """Called with the number of bytes of text read so far; may raise to stop."""

    def __call__(self, done: int, /) -> None: ...


class Source:
    """A corpus as documents, each an iterator of UTF-8 stretches; counts what was replaced.

    `block` is how much is read at a time, in bytes or characters. A gzip file is unpacked as it
    is read, and a warning says so. Raises TypeError for what is no corpus.

    >>> [b"".join(document) for document in Source(["one", "two"]).documents()]
    [b'one', b'two']
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
            yield self._slices(corpus)
        elif isinstance(corpus, (bytes, bytearray, memoryview)):
            yield self._stream(io.BytesIO(corpus))
        elif isinstance(corpus, os.PathLike):
            yield self._file(corpus)
        elif hasattr(corpus, "read"):
            yield self._stream(corpus)
        elif isinstance(corpus, Iterable):
            for document in corpus:
                if isinstance(document, str):
                    yield self._slices(document)
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

    def _slices(self, text: str) -> Iterator[bytes]:
        block = self.block
        return utf8_pieces(text[i : i + block] for i in range(0, len(text), block))

    def _file(self, path: os.PathLike[str]) -> Iterator[bytes]:
        with open(path, "rb") as file:
            yield from self._stream(file, os.fspath(path))

    def _stream(self, file: IO[Any], name: str = "") -> Iterator[bytes]:
        data = file.read(self.block)
        if isinstance(data, str):
            others = iter(lambda: file.read(self.block), "")
            yield from utf8_pieces(itertools.chain([data], others))
            return
        name = str(name or getattr(file, "name", ""))
        chunks = self._read(file, data)
        # An unbuffered file may give less than was asked for, even less than a mark.
        head = _gathered(chunks, BEGINNING)
        if head.startswith(GZIP):
            chunks = self._unpacked(itertools.chain([head], chunks), name)
            head = _gathered(chunks, BEGINNING)
        if 0 in head[:BEGINNING]:
            head += _gathered(chunks, SNIFFED - len(head))
        encoding = sniff_encoding(head)
        decoder = TextDecoder(encoding, self.errors, name)
        mark = MARKS.get(encoding, b"")
        if encoding.startswith("utf-16") and not head.startswith(mark):
            _warn(name, NO_MARK)
        data = head.removeprefix(mark)
        for following in chunks:
            yield decoder.utf8(data)
            data = following
        yield decoder.utf8(data, final=True)
        self.replaced_bytes += decoder.replaced_bytes

    def _read(self, file: IO[bytes], data: bytes) -> Iterator[bytes]:
        while data:
            yield data
            data = file.read(self.block)

    def _unpacked(self, chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
        _warn(name, WAS_GZIP)
        try:
            yield from gunzipped(chunks, self.block)
        except ValueError as err:
            raise ValueError(f"{name or 'the text'}: {err}") from None


def _gathered(chunks: Iterator[bytes], least: int) -> bytes:
    """The next bytes, at least so many where there are."""
    head = b""
    while len(head) < least and (chunk := next(chunks, None)) is not None:
        head += chunk
    return head


def _warn(name: str, note: str) -> None:
    warnings.warn(f"{name or 'the text'}: {note[:1].lower()}{note[1:]}", stacklevel=2)


def as_corpus(path: str | os.PathLike[str]) -> Path:
    """A path given in any form, as a corpus: there a str is text and no path."""
    return Path(path)


def warn_of_path(corpus: Any) -> None:
    """Warn where a text is the name of a file: it is the text all the same."""
    if not isinstance(corpus, str) or not 0 < len(corpus) <= LONGEST_NAME or "\n" in corpus:
        return
    with contextlib.suppress(OSError, ValueError):  # what no path can be
        if os.path.isfile(corpus):
            warnings.warn(
                f"the text is the {len(corpus)} characters {corpus!r}, although there is a file "
                "of that name; to read the file, pass pathlib.Path of it",
                stacklevel=4,
            )
