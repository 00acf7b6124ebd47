"""Where text comes from: strings, bytes, files, documents; and where special tokens cut it.

Belongs here: decoding bytes, reading files in blocks, the borders that special tokens are,
and cutting a long stream at places that change no pre-token. Does not belong here: patterns
(`pretokenize.py`) and counting pairs (`trainer.py`).
"""

from __future__ import annotations

import codecs
import contextlib
import functools
import io
import itertools
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, Any, NamedTuple, Protocol, cast

import numpy as np

from .pretokenize import PretokenCounter, PreTokenizer, grown, utf8, utf8_pieces

Corpus = (
    str | bytes | os.PathLike[str] | IO[Any] | Mapping[bytes, int] | Iterable[str]
    | Iterable[os.PathLike[str]]
)  # fmt: skip

BLOCK = 1 << 19  # bytes or characters read at a time
ENCODE_BLOCK = 1 << 14  # bytes that `encode_iterable` gathers before it looks for a cut

_local = threading.local()


class Progress(Protocol):
    """Called with the number of bytes of text read so far; may raise to stop."""

    def __call__(self, done: int, /) -> None: ...


# --------------------------------------------------------------------------- bytes to text


def _replace_and_count(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    _local.replaced = getattr(_local, "replaced", 0) + error.end - error.start
    return cast("tuple[str, int]", codecs.replace_errors(error))


def _ignore_and_count(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    _local.replaced = getattr(_local, "replaced", 0) + error.end - error.start
    return cast("tuple[str, int]", codecs.ignore_errors(error))


codecs.register_error("bpe_core.replace", _replace_and_count)
codecs.register_error("bpe_core.ignore", _ignore_and_count)
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


def decode_text(data: bytes, errors: str = "replace") -> DecodedText:
    """Decode a file's bytes: UTF-8 with or without a mark, or UTF-16 by its mark.

    Any other bytes are taken as UTF-8 with `errors` "replace", "ignore" or "strict" (then
    ValueError). Source of the marks: the Unicode Standard, section 23.8.

    >>> decode_text("hi".encode("utf-16")).text
    'hi'
    >>> decode_text(b"abc \\xff\\xfe abc").replaced_bytes
    2
    """
    encoding = sniff_encoding(data)
    mark = len(_MARKS[encoding])
    decoder = _TextDecoder(encoding, errors)
    text = decoder.decode(data[mark:], final=True)
    return DecodedText(text, encoding, decoder.replaced_bytes, _note(encoding, decoder, errors))


# Longest first: the UTF-16 mark begins no other one that is handled here.
_MARKS = {
    "utf-8-sig": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-8": b"",
}


def sniff_encoding(head: bytes) -> str:
    """Name of the encoding that a file's first bytes announce; "utf-8" without a mark.

    >>> sniff_encoding(b"\\xef\\xbb\\xbfhello"), sniff_encoding(b"hello")
    ('utf-8-sig', 'utf-8')
    """
    return next(name for name, mark in _MARKS.items() if head.startswith(mark))


class _TextDecoder:
    """Incremental decoder that counts the bytes it could not read; `name` is for its errors."""

    def __init__(self, encoding: str, errors: str, name: str = "") -> None:
        if errors not in _ERRORS:
            raise ValueError(f'errors must be "replace", "ignore" or "strict", not {errors!r}')
        codec = "utf-8" if encoding == "utf-8-sig" else encoding
        self._from_utf8 = codec == "utf-8"
        self._decoder = codecs.getincrementaldecoder(codec)(_ERRORS[errors])
        self._source = name or "the text"
        self.replaced_bytes = 0

    def decode(self, data: bytes, final: bool = False) -> str:
        _local.replaced = 0
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError as err:
            raise ValueError(
                f"{self._source} is not {err.encoding.upper()} text (byte "
                f"0x{err.object[err.start]:02X}: {err.reason}); read it with errors=\"replace\" "
                'or "ignore"'
            ) from err
        self.replaced_bytes += _local.replaced
        return text

    def utf8(self, data: bytes, final: bool = False) -> bytes:
        """The same as UTF-8, without a detour over str where the bytes are good as they are."""
        if not self._from_utf8:
            return utf8(self.decode(data, final))
        from . import kernels

        data = self._decoder.getstate()[0] + data
        self._decoder.reset()
        good = kernels.valid_utf8(np.frombuffer(data, np.uint8), 0, len(data))
        if good == len(data):
            return data
        return data[:good] + self.decode(data[good:], final).encode()


def _note(encoding: str, decoder: _TextDecoder, errors: str) -> str:
    parts = []
    if encoding == "utf-8-sig":
        parts.append("The byte order mark at its start was left out.")
    elif encoding.startswith("utf-16"):
        parts.append("It was read as UTF-16, as its byte order mark says.")
    if decoder.replaced_bytes:
        n = decoder.replaced_bytes
        done = "left out" if errors == "ignore" else "replaced by U+FFFD"
        kind = "UTF-16" if encoding.startswith("utf-16") else "UTF-8"
        parts.append(f"{n:,} byte{'s' * (n != 1)} that {'are' if n > 1 else 'is'} not {kind} "
                     f"{'were' if n > 1 else 'was'} {done}.")  # fmt: skip
    return " ".join(parts)


class Source:
    """A corpus as documents, each an iterator of UTF-8 stretches; counts what was replaced.

    Raises TypeError for what is no corpus.
    """

    def __init__(self, corpus: Any, errors: str = "replace") -> None:
        _TextDecoder("utf-8", errors)  # refuse a bad policy before anything is read
        self.corpus = corpus
        self.errors = errors
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
        decoder = _TextDecoder(encoding, self.errors, name or getattr(file, "name", ""))
        block = block[len(_MARKS[encoding]) :]
        while True:
            following = file.read(BLOCK)
            yield decoder.utf8(block, final=not following)
            if not following:
                break
            block = following
        self.replaced_bytes += decoder.replaced_bytes


def _slices(text: str) -> Iterator[bytes]:
    return utf8_pieces(text[i : i + BLOCK] for i in range(0, len(text), BLOCK))


# --------------------------------------------------------------------------- special tokens


class Segments(NamedTuple):
    """Text between special tokens: segment k is data[bounds[2k]:bounds[2k + 1]], uint8.

    After it stands special token number tokens[k], or none (-1). Document d ends with segment
    document_ends[d] - 1. All int64.
    """

    data: np.ndarray
    bounds: np.ndarray
    tokens: np.ndarray
    document_ends: np.ndarray
    covered: int  # bytes of `data` that this accounts for


class SpecialSplitter:
    """Finds special tokens in text: the longest one at the leftmost place, literally.

    >>> SpecialSplitter(["<a>", "<a><b>"]).split("x<a><b>y")
    [('x', '<a><b>'), ('y', None)]
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens = sorted(tokens, key=lambda token: len(utf8(token)), reverse=True)
        self.longest = len(utf8(self.tokens[0])) if self.tokens else 0  # in bytes
        self._find = re.compile("|".join(map(re.escape, self.tokens))) if self.tokens else None

    @functools.cached_property
    def _tables(self) -> tuple[np.ndarray, ...]:
        """For the kernel: the bytes that begin a token, which pairs of bytes do, the tokens'
        bytes and their offsets."""
        encoded = [utf8(token) for token in self.tokens]
        firsts = np.unique(np.array([token[0] for token in encoded], np.uint8))
        begins = np.zeros((256, 256), np.uint8)  # [second byte, first byte]
        for token in encoded:
            begins[token[1] if len(token) > 1 else slice(None), token[0]] = 1
        offsets = np.append(0, np.cumsum([len(token) for token in encoded]))
        return firsts, begins.ravel(), np.frombuffer(b"".join(encoded), np.uint8), offsets

    def split(self, text: str) -> list[tuple[str, str | None]]:
        """(text, the special token after it or None at the end), in order."""
        parts: list[tuple[str, str | None]] = []
        at = 0
        if self._find:
            for match in self._find.finditer(text):
                parts.append((text[at : match.start()], match.group()))
                at = match.end()
        if at < len(text):
            parts.append((text[at:], None))
        return parts

    def segments(self, data: np.ndarray, documents: np.ndarray) -> Segments:
        """The text between special tokens in documents data[documents[2k]:documents[2k + 1]].

        `data` is uint8 and holds valid UTF-8; `documents` is int64. A byte-wise search finds
        what one in the text would, since no character's bytes occur inside another's.
        """
        n = documents.size // 2
        state = np.array([0, -1], np.int64)
        if self.tokens:
            from . import kernels

            found = np.empty(3 * 64, np.int64)
            at = 0
            while (
                at := kernels.find_specials(data, documents, at, *self._tables, found, state)
            ) < n:
                found = grown(found, 4 * found.size)
        if not state[0]:
            nothing = np.empty(n, np.int64)
            nothing.fill(-1)
            return Segments(data, documents, nothing, np.arange(1, n + 1), data.size)
        hits = found[: 3 * int(state[0])].reshape(-1, 3)
        # A segment ends at each hit and at each document's end, and begins behind those.
        order = np.argsort(np.concatenate([hits[:, 0], np.arange(n)]), kind="stable")
        stops = np.concatenate([hits[:, 1], documents[1::2]])[order]
        tokens = np.concatenate([hits[:, 2], np.full(n, -1)])[order]
        starts = np.empty_like(stops)
        last = np.flatnonzero(tokens < 0)  # each document's last segment
        sizes = np.append(np.diff(self._tables[-1]), 0)  # the last one for "none"
        starts[1:] = stops[:-1] + sizes[tokens[:-1]]
        starts[np.append(0, last + 1)[:n]] = documents[::2]
        bounds = np.stack([starts, stops], axis=1).ravel()
        return Segments(data, bounds, tokens, last + 1, data.size)

    def stream(
        self, pieces: Iterable[bytes], pretokenizer: PreTokenizer, block: int
    ) -> Iterator[Segments]:
        """The same for one text that comes in pieces of valid UTF-8, in bounded memory.

        What it yields can be pre-tokenized on its own. It holds back what might still be
        part of a special token or of a pre-token: a block, and more only while a single
        pre-token is longer, or for a pattern of which no safe place to cut is known.
        """
        waiting: list[bytes] = []
        size = 0
        want = block
        for piece in pieces:
            waiting.append(piece)
            size += len(piece)
            if size < want:
                continue
            text = b"".join(waiting)
            data = np.frombuffer(text, np.uint8)
            # A special token that starts from here on might go on in the next piece.
            decided = max(len(text) - max(self.longest - 1, 0), 0)
            segments = self.segments(data, np.array([0, len(text)]))
            starts, stops = segments.bounds[::2], segments.bounds[1::2]
            n = int(np.count_nonzero((segments.tokens >= 0) & (stops < decided)))
            at = int(starts[n])
            cut = pretokenizer.last_cut(data, at, min(decided, int(stops[n])))
            if cut > at:
                n += 1
            if n:
                bounds = segments.bounds[: 2 * n].copy()
                tokens = segments.tokens[:n].copy()
                if cut > at:
                    bounds[-1] = cut
                    tokens[-1] = -1
                yield Segments(data, bounds, tokens, np.array([n]), cut)
            waiting = [text[cut:]]
            size = len(text) - cut
            # Looking again only after as much new text keeps the whole linear.
            want = max(block, 2 * size)
        data = np.frombuffer(b"".join(waiting), np.uint8)
        yield self.segments(data, np.array([0, data.size]))


def check_special_tokens(tokens: Iterable[str]) -> tuple[str, ...]:
    """The special tokens as a tuple; ValueError for an empty or repeated one.

    >>> check_special_tokens(["<|endoftext|>"])
    ('<|endoftext|>',)
    """
    if isinstance(tokens, str):
        raise ValueError(
            f"special_tokens must be a list of texts, not the single text {tokens!r}; "
            f"write [{tokens!r}]"
        )
    result = tuple(tokens)
    for token in result:
        if not isinstance(token, str):
            raise ValueError(f"a special token must be a text, not {token!r}")
        if not token:
            raise ValueError("a special token must not be empty")
        with contextlib.suppress(UnicodeEncodeError):
            token.encode("utf-8")
            continue
        raise ValueError(f"the special token {token!r} holds a lone surrogate")
    if len(set(result)) < len(result):
        twice = min(t for t in result if result.count(t) > 1)
        raise ValueError(f"the special token {twice!r} is given more than once")
    return result


# --------------------------------------------------------------------------- counting


def count_pretokens(
    corpus: Any,
    pretokenizer: PreTokenizer,
    special_tokens: Iterable[str] = (),
    *,
    errors: str = "replace",
    workers: int | None = None,
    on_progress: Progress | None = None,
) -> tuple[PretokenCounter, int]:
    """Count the distinct pre-tokens of a corpus; return them and the number of bytes replaced.

    Special tokens are borders and are not counted. `workers` threads split the work (default:
    one a processor); a sum does not depend on its split, so neither does the result.

    >>> counter, _ = count_pretokens("low low<|x|>low", PreTokenizer(), ["<|x|>"])
    >>> counter.to_dict()
    {b'low': 2, b' low': 1}
    """
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise ValueError(f"workers must be a whole number from 1 on, not {workers!r}")
    total = PretokenCounter(pretokenizer)
    if isinstance(corpus, Mapping):
        _add_mapping(total, corpus)
        return total, 0
    source = Source(corpus, errors)
    splitter = SpecialSplitter(check_special_tokens(special_tokens))
    parts = _reported(source, splitter, pretokenizer, on_progress)
    if workers is None:
        workers = os.cpu_count() or 1
    first = list(itertools.islice(parts, workers))
    if workers == 1 or len(first) < 2:
        for part in itertools.chain(first, parts):
            total.add_segments(part.data, part.bounds)
        return total, source.replaced_bytes

    lock = threading.Lock()
    ready = iter(first)

    def work() -> PretokenCounter:
        counter = PretokenCounter(pretokenizer)
        while True:
            with lock:
                part = next(ready, None) or next(parts, None)
            if part is None:
                return counter
            counter.add_segments(part.data, part.bounds)

    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work) for _ in range(workers)]:
            counter = done.result()
            total.add_pieces(counter.data, counter.offsets, counter.counts)
    return total, source.replaced_bytes


def _reported(
    source: Source,
    splitter: SpecialSplitter,
    pretokenizer: PreTokenizer,
    on_progress: Progress | None,
) -> Iterator[Segments]:
    """The text between special tokens, block by block; tells how much was read."""
    done = 0
    for document in source.documents():
        for segments in splitter.stream(document, pretokenizer, BLOCK):
            if segments.bounds.size:
                yield segments
            if on_progress:
                done += segments.covered
                on_progress(done)


def _add_mapping(total: PretokenCounter, counts: Mapping[Any, Any]) -> None:
    for word, count in counts.items():
        if not isinstance(word, bytes) or not word:
            raise TypeError(f"pre-tokens must be bytes and not empty, not {word!r}")
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
            raise ValueError(f"the count of {word!r} must be a whole number from 0 on")
    kept = {word: int(count) for word, count in counts.items() if count}
    if sum(len(word) * count for word, count in kept.items()) >= 2**63:
        raise ValueError("the counts add up to 2**63 bytes of text or more")
    data = np.frombuffer(b"".join(kept), np.uint8)
    borders = np.cumsum([0, *map(len, kept)], dtype=np.int64)
    total.add_pieces(data, borders, np.array(list(kept.values()), np.int64))


def as_corpus(path: str | os.PathLike[str]) -> os.PathLike[str]:
    """A path given as str, as the path object that a corpus wants."""
    from pathlib import Path

    return cast("os.PathLike[str]", Path(path))
