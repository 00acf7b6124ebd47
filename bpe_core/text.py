"""Text in and out of UTF-8: what is no text is replaced and counted.

Belongs here: text as UTF-8 bytes, files' bytes as text, byte order marks and gzip. Does not
belong here: where text comes from (`corpus.py`) and how it is cut (`pretokenize.py`).
"""

from __future__ import annotations

import codecs
import ctypes
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from . import kernels


def utf8_pieces(pieces: Iterable[str]) -> Iterator[bytes]:
    """Pieces of one text as UTF-8; a surrogate pair that is cut in two is joined.

    >>> list(utf8_pieces(["a", "\\ud83d", "\\ude00"]))
    [b'a', b'', b'\\xf0\\x9f\\x98\\x80']
    """
    held = ""
    for piece in pieces:
        text = held + piece
        held = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        yield utf8(text[: len(text) - len(held)])
    if held:
        yield utf8(held)


def utf8(text: str) -> bytes:
    """The text's bytes; surrogate pairs are joined and lone surrogates become U+FFFD.

    >>> utf8("a\\ud83d\\ude00"), utf8("\\ud83d")
    (b'a\\xf0\\x9f\\x98\\x80', b'\\xef\\xbf\\xbd')
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")


# Sizes in characters. Up to the first one, a copy costs less than asking Python for its own bytes;
# from the second one on, what is not ASCII is copied, so that Python keeps no second form of it.
COPIED = 1 << 12
TOO_LONG_TO_KEEP = 1 << 24
_UTF8_AND_SIZE = ctypes.PYFUNCTYPE(
    ctypes.c_void_p, ctypes.py_object, ctypes.POINTER(ctypes.c_ssize_t)
)(("PyUnicode_AsUTF8AndSize", ctypes.pythonapi))
_VIEW_OF_MEMORY = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int
)(("PyMemoryView_FromMemory", ctypes.pythonapi))


def utf8_array(text: str) -> np.ndarray:
    """The bytes of `utf8` as an array, uint8, read-only; valid as long as `text` is kept.

    Python keeps the UTF-8 of a string with the string, once it was asked for in this way, so the
    next call costs nothing (and one of ASCII alone nothing ever). It takes memory as long as the
    string does, so short and very long texts are copied. Source: Python's C API.

    >>> utf8_array("\xe9").tolist()
    [195, 169]
    """
    if len(text) > COPIED and (len(text) < TOO_LONG_TO_KEEP or text.isascii()):
        size = ctypes.c_ssize_t()
        try:
            place = _UTF8_AND_SIZE(text, ctypes.byref(size))
            return np.frombuffer(_VIEW_OF_MEMORY(place, size, 0x100), np.uint8)  # PyBUF_READ
        except UnicodeEncodeError:  # surrogates
            pass
    return np.frombuffer(utf8(text), np.uint8)


# --------------------------------------------------------------------------- bytes to text

# The longer ones first: the mark of UTF-32 begins with that of UTF-16.
MARKS = {
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-8-sig": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
GZIP = b"\x1f\x8b\x08"  # begins every gzip file
BEGINNING = 16  # bytes that tell most encodings; with a NUL among them, more are looked at
SNIFFED = 1 << 12
UNPACKED = 1 << 28  # bytes that one gzip file may hold in memory

_local = threading.local()  # error handlers are told nothing but the error, so they count here


def _counted(handle: Callable[[UnicodeError], tuple[str | bytes, int]]) -> Any:
    """An error handler for decoding that also counts the bytes at fault."""

    def handler(error: UnicodeError) -> tuple[str | bytes, int]:
        if not isinstance(error, UnicodeDecodeError):
            raise error
        _local.replaced = getattr(_local, "replaced", 0) + error.end - error.start
        return handle(error)

    return handler


codecs.register_error("bpe_core.replace", _counted(codecs.replace_errors))
codecs.register_error("bpe_core.ignore", _counted(codecs.ignore_errors))
_ERRORS = {"replace": "bpe_core.replace", "ignore": "bpe_core.ignore", "strict": "strict"}


@dataclass(frozen=True)
class DecodedText:
    """Text made from bytes, and what had to be done to them.

    `replaced_bytes` counts the bytes that were no text (each run became U+FFFD or was left
    out); `note` is one sentence for people, "" where nothing was done.
    """

    text: str
    encoding: str
    replaced_bytes: int
    note: str


def decode_text(data: bytes, errors: str = "replace", *, most: int = UNPACKED) -> DecodedText:
    """Decode a file's bytes: UTF-8 with or without a mark, or UTF-16 or UTF-32 by its mark.

    Without a mark UTF-16 is known by its NULs. A gzip file is unpacked, up to `most` bytes. Any
    other bytes are taken as UTF-8 with `errors` "replace", "ignore" or "strict" (then ValueError).

    >>> decode_text("hi".encode("utf-16")).text
    'hi'
    >>> decode_text(b"abc \\xff\\xfe abc").replaced_bytes
    2
    """
    data, unpacking = unpacked(data, most)
    if unpacking and errors == "strict" and unpacking != WAS_GZIP:
        raise ValueError(unpacking)
    encoding = sniff_encoding(data)
    decoder = TextDecoder(encoding, errors)
    text = decoder.decode(data.removeprefix(MARKS.get(encoding, b"")), final=True)
    parts = [unpacking, *_notes(encoding, data, decoder, errors), _nuls(text)]
    return DecodedText(text, encoding, decoder.replaced_bytes, " ".join(filter(None, parts)))


def sniff_encoding(head: bytes) -> str:
    """Name of the encoding that a file's first bytes tell; "utf-8" where they tell none.

    The first `BEGINNING` bytes are enough, or `SNIFFED` where a NUL is among those.

    >>> sniff_encoding(b"\\xef\\xbb\\xbfhello"), sniff_encoding(b"hello")
    ('utf-8-sig', 'utf-8')
    >>> sniff_encoding(b"h\\0e\\0l\\0l\\0o\\0")
    'utf-16-le'
    """
    for name, mark in MARKS.items():
        if head.startswith(mark):
            return name
    if 0 not in head[:BEGINNING]:
        return "utf-8"
    head = head[: min(SNIFFED, len(head) // 2 * 2)]
    first, second = head[::2].count(0), head[1::2].count(0)
    for name, high, low in (("utf-16-le", second, first), ("utf-16-be", first, second)):
        # Most characters are of Latin-1, so that every other byte is a NUL, and none else is.
        if high >= 3 and 20 * high >= 7 * len(head) and not low and _decodes(head, name):
            return name
    return "utf-8"


def _decodes(head: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    return True


# --------------------------------------------------------------------------- gzip

WAS_GZIP = "It was a gzip file and was unpacked."


def gunzipped(chunks: Iterable[bytes], block: int) -> Iterator[bytes]:
    """The content of a gzip file, read in chunks, in blocks of at most about `block` bytes.

    ValueError where it is damaged or ends too early.
    """
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        for chunk in chunks:
            while chunk:
                if unpacker.eof:  # another part, or NULs that fill up a tape
                    chunk = chunk.lstrip(b"\0")
                    if not chunk:
                        break
                    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
                yield unpacker.decompress(chunk, block)
                chunk = unpacker.unconsumed_tail or unpacker.unused_data
        yield unpacker.flush()
    except zlib.error:
        raise ValueError("it is a damaged gzip file; make it anew") from None
    if not unpacker.eof:
        raise ValueError("it is a gzip file that ends too early; get it anew")


def unpacked(data: bytes, most: int = UNPACKED) -> tuple[bytes, str]:
    """A file's bytes, those of a gzip file unpacked up to `most`, and a sentence about that.

    >>> unpacked(b"low")
    (b'low', '')
    """
    if not data.startswith(GZIP):
        return data, ""
    content = bytearray()
    try:
        for block in gunzipped([data], 1 << 20):
            content += block
            if len(content) > most:
                return bytes(content[:most]), (
                    f"It was a gzip file; only the first {most:,} bytes of its content were taken."
                )
    except ValueError as err:
        return bytes(content), f"What could be unpacked was taken: {err}."
    return bytes(content), WAS_GZIP


class TextDecoder:
    """An incremental decoder that counts the bytes it could not read; `name` is for its errors."""

    def __init__(self, encoding: str, errors: str, name: str = "") -> None:
        if errors not in _ERRORS:
            raise ValueError(f'errors must be "replace", "ignore" or "strict", not {errors!r}')
        codec = "utf-8" if encoding == "utf-8-sig" else encoding
        self._from_utf8 = codec == "utf-8"
        self._decoder = codecs.getincrementaldecoder(codec)(_ERRORS[errors])
        self._source = name or "the text"
        self.replaced_bytes = 0

    def decode(self, data: bytes, final: bool = False) -> str:
        """The text that these bytes complete; ValueError where `errors` is strict."""
        _local.replaced = 0
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError as err:
            raise ValueError(
                f"{self._source} is not {err.encoding.upper()} text (byte "
                f'0x{err.object[err.start]:02X}: {err.reason}); read it with errors="replace" '
                'or "ignore"'
            ) from err
        self.replaced_bytes += _local.replaced
        return text

    def utf8(self, data: bytes, final: bool = False) -> bytes:
        """The same as UTF-8, without a detour over str where the bytes are good as they are."""
        if not self._from_utf8:
            return utf8(self.decode(data, final))
        data = self._decoder.getstate()[0] + data
        self._decoder.reset()
        good = kernels.valid_utf8(np.frombuffer(data, np.uint8), 0, len(data))
        if good == len(data):
            return data
        return data[:good] + self.decode(data[good:], final).encode()


def _notes(encoding: str, data: bytes, decoder: TextDecoder, errors: str) -> Iterator[str]:
    kind = encoding[:6].upper() if encoding[4:6] in ("16", "32") else "UTF-8"
    if encoding == "utf-8-sig":
        yield "The byte order mark at its start was left out."
    elif kind != "UTF-8" and data.startswith(MARKS[encoding]):
        yield f"It was read as {kind}, as its byte order mark says."
    elif kind != "UTF-8":
        yield NO_MARK
    if decoder.replaced_bytes:
        n = decoder.replaced_bytes
        done = "left out" if errors == "ignore" else "replaced by U+FFFD"
        yield (f"{n:,} byte{'s' * (n != 1)} that {'are' if n > 1 else 'is'} not {kind} "
               f"{'were' if n > 1 else 'was'} {done}.")  # fmt: skip


NO_MARK = "It was read as UTF-16, as its NULs say; it has no byte order mark."


def _nuls(text: str) -> str:
    n = text.count("\0")
    if not n or 50 * n < len(text):
        return ""
    return f"{n:,} of its {len(text):,} characters are NUL, so it may be no text."


class _TokenBytes(Protocol):
    def token_bytes(self, token_id: int, /) -> bytes: ...


class DecodeStream:
    """Decodes ids one by one; a character comes out when it is complete.

    >>> from bpe_core import Trainer
    >>> stream = DecodeStream(Trainer(256).train("").tokenizer)
    >>> [stream.step(i) for i in (226, 130, 172, 33, 226)], stream.finish()
    (['', '', '€', '!', ''], '\\ufffd')
    """

    def __init__(self, tokenizer: _TokenBytes, errors: str = "replace") -> None:
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)

    def step(self, token_id: int) -> str:
        """Text that this id completes; KeyError for an unknown id."""
        return self._decoder.decode(self._tokenizer.token_bytes(token_id))

    def finish(self) -> str:
        """What is left: replacement characters for an unfinished character, else ""."""
        return self._decoder.decode(b"", final=True)
