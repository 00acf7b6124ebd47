"""Ids on disk and in streams: as text, as raw numbers, as .npy.

Belongs here: which way a file keeps ids, reading and writing them, and encoding and decoding in
bounded memory. Does not belong here: opening files (`files.py`).
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from bpe_core.special import Choice
from bpe_core.tokenizer import Tokenizer

from .errors import CommandError
from .files import STDIO, OutputFile, binary_input, title

CHUNK = 1 << 16  # ids, or characters of text, handled at a time
IDS_KINDS = ("text", "bin", "npy")


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


def encoded(tokenizer: Tokenizer, pieces: Iterable[str], allowed: Choice) -> Iterator[np.ndarray]:
    """Ids of one text that comes in pieces, uint32 arrays, in bounded memory."""
    return tokenizer.encode_chunks(pieces, allowed_special=allowed, block=CHUNK)


def decoded(tokenizer: Tokenizer, chunks: Iterable[np.ndarray], errors: str) -> Iterator[bytes]:
    """The text of ids, as UTF-8; a character comes when it is complete."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors)
    for chunk in chunks:
        yield decoder.decode(tokenizer.decode_bytes(chunk)).encode("utf-8")
    yield decoder.decode(b"", final=True).encode("utf-8")
