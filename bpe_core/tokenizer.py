"""The tokenizer: pre-tokenizer + model + special tokens + the ids that users see.

Belongs here: encoding and decoding of text. Does not belong here: how merges are found
(`trainer.py`), inner loops (`encoder.py`, `kernels`), what happens to special tokens
(`special.py`), what a tokenizer is made of (`building.py`) and files (`formats/`).
"""

from __future__ import annotations

import functools
import itertools
import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

# The whole package, for the calls at the end that open files: `formats` is built on this module,
# so it is looked up, and loaded, when one of them is made.
import bpe_core

from .batches import in_parts
from .building import parts_of_vocab
from .encoder import Encoder
from .model import IN_SPECIAL, NEVER, BPEModel, MergeStep
from .patterns import typed_pattern
from .preparation import Preparation, look_up_whole
from .pretokenize import PreTokenizer
from .special import (
    Choice,
    Segments,
    SpecialPolicy,
    SpecialSplitter,
    check_special_tokens,
    special_policy,
)
from .text import DecodeStream as DecodeStream
from .text import utf8, utf8_array, utf8_pieces

PROCESSORS = os.cpu_count() or 1  # asking takes a tenth of the time of a short call
SHOWN = 60  # characters of a pattern that `repr` shows
ENCODE_BLOCK = 1 << 14  # bytes that `encode_iterable` gathers before it looks for a cut


class Token(NamedTuple):
    """A token of a text: its id, and its bytes text.encode()[start:end]."""

    id: int
    start: int
    end: int


class Tokenizer:
    """Turns text into ids and back; a value that never changes.

    Bytes have ids 0-255, special tokens follow, then the merges in order; an imported
    tokenizer keeps the ids it declares. Made by training, by `from_vocab`, `from_files`,
    `load` or `bpe_core.formats`. Tokenizers with the same merges, ids and settings are equal
    and have one hash; what is made from those is neither pickled nor copied.

    >>> from bpe_core import Trainer
    >>> tokenizer = Trainer(259, ["<|x|>"]).train("aaabdaaabac").tokenizer
    >>> tokenizer.encode("aaab<|x|>"), tokenizer.decode([258, 98, 256])
    ([258, 98, 256], 'aaab<|x|>')
    """

    def __init__(
        self,
        model: BPEModel,
        pretokenizer: PreTokenizer,
        special_tokens: Mapping[str, int] | None = None,
        ids: npt.NDArray[np.uint32] | None = None,
        extra: Mapping[int, bytes] | None = None,
        *,
        preparation: Preparation | None = None,
        ignore_merges: Mapping[bytes, int] | None = None,
    ) -> None:
        """`ids` are the ids of all tokens of the model's table (default: room for the special
        tokens after the bytes); `extra` holds entries of the vocabulary that no merge makes. What
        only some imported tokenizers do: `preparation` changes a text before it is cut, and
        pre-tokens in `ignore_merges` get the id given there instead of being merged."""
        self.model = model
        self.pretokenizer = pretokenizer
        self.special_tokens: dict[str, int] = dict(special_tokens or {})
        check_special_tokens(self.special_tokens)
        if ids is None:
            ids = np.arange(model.table.n_tokens, dtype=np.uint32)
            ids[256:] += len(self.special_tokens)
        self.ids = np.ascontiguousarray(ids, np.uint32)
        self.extra: dict[int, bytes] = dict(extra or {})
        self.preparation = preparation or Preparation()
        self.ignore_merges: dict[bytes, int] = dict(ignore_merges or {})
        # Made now, so that no later call has to compile, load or allocate much.
        self._encoders = [self.new_encoder()]
        self._splitter = self.preparation.splitter(self.special_tokens)
        self._default_policy = special_policy(self._splitter, "all", ())

    # ------------------------------------------------------------------ as a value

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return (
            hash(self) == hash(other)
            and self._settings == other._settings
            and np.array_equal(self.byte_ids, other.byte_ids)
            and np.array_equal(self.merge_ids, other.merge_ids)
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        pattern = repr(self.pattern)
        if len(pattern) > SHOWN:
            pattern = f"{pattern[: SHOWN - 1]}…"
        return (
            f"Tokenizer({self.vocab_size:,} entries, {self.n_merges:,} merges, "
            f"{len(self.special_tokens):,} special, pattern {pattern})"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "pretokenizer": self.pretokenizer,
            "special_tokens": self.special_tokens,
            "ids": self.ids,
            "extra": self.extra,
            "preparation": self.preparation,
            "ignore_merges": self.ignore_merges,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        Tokenizer.__init__(self, **state)

    @property
    def _settings(self) -> tuple[object, ...]:
        """All but the merges and their ids."""
        return (
            self.pretokenizer, self.special_tokens, self.extra, self.preparation,
            self.ignore_merges,
        )  # fmt: skip

    @functools.cached_property
    def _hash(self) -> int:
        specials = frozenset(self.special_tokens.items())
        ids = self.byte_ids.tobytes(), self.merge_ids.tobytes()
        return hash((self.pretokenizer, specials, frozenset(self.extra.items()), ids))

    # ------------------------------------------------------------------ what it is

    @property
    def pattern(self) -> str:
        """The pre-tokenizer's pattern: a name of `PATTERNS` or a regular expression.

        A tuple of them where an imported tokenizer cuts at several in turn.
        """
        return self.pretokenizer.pattern

    @property
    def n_merges(self) -> int:
        """How many merges it applies."""
        return self.model.n_merges

    @functools.cached_property
    def vocab(self) -> dict[int, bytes]:
        """Bytes of every id, special tokens included, in order of id."""
        tokens = self.model.tokens
        entries = dict(zip(self.ids[: len(tokens)].tolist(), tokens, strict=True))
        entries.update(self.extra)
        entries.update({i: text.encode("utf-8") for text, i in self.special_tokens.items()})
        return {i: entries[i] for i in sorted(entries)}

    @property
    def vocab_size(self) -> int:
        """Number of entries of the vocabulary."""
        return len(self.vocab)

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The merges as pairs of token bytes, lowest rank first."""
        return self.model.merges

    @functools.cached_property
    def merge_ids(self) -> npt.NDArray[np.int32]:
        """Ids (left, right, new) of each merge, int32[n_merges, 3]."""
        rows = np.stack([self.model.left, self.model.right, self.model.new], axis=1)
        return self.ids[rows].astype(np.int32).reshape(-1, 3)

    @functools.cached_property
    def byte_ids(self) -> np.ndarray:
        """Id of each byte value, int32[256]."""
        return self.ids[self.model.table.id_of_byte].astype(np.int32)

    @functools.cached_property
    def birth_ranks(self) -> np.ndarray:
        """Rank of the first merge that makes each id, int32[max id + 1]; -1 where none does."""
        births = np.full(max(self.vocab) + 1, -1, np.int32)
        births[self.ids[: self.model.n_tokens]] = self.model.birth_ranks
        return births

    @functools.cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Bytes of each id, int64[max id + 1]; 0 where there is none."""
        sizes = np.zeros(max(self.vocab) + 1, np.int64)
        sizes[list(self.vocab)] = list(map(len, self.vocab.values()))
        return sizes

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of an id; KeyError naming an id that is not in the vocabulary."""
        try:
            if not isinstance(token_id, bool):
                return self.vocab[operator.index(token_id)]
        except (KeyError, TypeError):
            pass
        raise KeyError(f"{token_id!r} is not an id of this vocabulary")

    # ------------------------------------------------------------------ encoding

    def encode(
        self, text: str, *, allowed_special: Choice = "all", disallowed_special: Choice = ()
    ) -> list[int]:
        """Ids of a text.

        Special tokens in `allowed_special` are recognized, the others are ordinary text;
        one in `disallowed_special` that occurs in the text raises ValueError ("all": every
        special token that is not allowed). Meaning as in tiktoken.

        >>> from bpe_core import Trainer
        >>> tokenizer = Trainer(257, ["<|x|>"]).train("").tokenizer
        >>> tokenizer.encode("a<|x|>"), tokenizer.encode("|x|", allowed_special=())
        ([97, 256], [124, 120, 124])
        """
        ids: list[int] = self.encode_to_array(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special
        ).tolist()
        return ids

    def encode_to_array(
        self, text: str, *, allowed_special: Choice = "all", disallowed_special: Choice = ()
    ) -> np.ndarray:
        """Ids of a text, uint32[n]; arguments as for `encode`."""
        policy = self._policy(allowed_special, disallowed_special)
        policy.check(text)
        data = utf8_array(text)
        return self._encode(policy.recognized, data, np.array([0, data.size]))[0]

    def encode_batch(
        self,
        texts: Iterable[str],
        *,
        allowed_special: Choice = "all",
        disallowed_special: Choice = (),
        workers: int | None = None,
    ) -> list[list[int]]:
        """Ids of each of several texts; arguments as for `encode` and `encode_batch_to_array`."""
        ids, ends = self.encode_batch_to_array(
            texts,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            workers=workers,
        )
        bounds = [0, *ends.tolist()]
        return [ids[a:b].tolist() for a, b in itertools.pairwise(bounds)]

    def encode_batch_to_array(
        self,
        texts: Iterable[str],
        *,
        allowed_special: Choice = "all",
        disallowed_special: Choice = (),
        workers: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ids of several texts one after the other, uint32[n], and where each ends, int64.

        `workers` threads share the texts (default: one a processor). Other arguments as for
        `encode`.

        >>> from bpe_core import Trainer
        >>> ids, ends = Trainer(257).train("abab").tokenizer.encode_batch_to_array(["ab", "a"])
        >>> ids.tolist(), ends.tolist()
        ([256, 97], [1, 2])
        """
        if workers is not None and (not isinstance(workers, int) or workers < 1):
            raise ValueError(f"workers must be a whole number from 1 on, not {workers!r}")
        if isinstance(texts, str | bytes):
            raise TypeError(f"encode_batch takes a list of texts, not one {type(texts).__name__}")
        policy = self._policy(allowed_special, disallowed_special)
        texts = list(texts)
        # One by one where a token is refused, or what derives from str is text too.
        if policy.refused.tokens or not set(map(type, texts)) <= {str}:
            for text in texts:
                policy.check(text)
        encode = functools.partial(self._encode, policy.recognized)
        return in_parts(texts, encode, workers or PROCESSORS)

    def encode_chunks(
        self,
        pieces: Iterable[str],
        *,
        allowed_special: Choice = "all",
        disallowed_special: Choice = (),
        block: int = ENCODE_BLOCK,
    ) -> Iterator[np.ndarray]:
        """Ids of one text that comes in pieces, lazily, as arrays uint32[n].

        Joined they equal the ids of the joined text. About `block` bytes of text are gathered
        for an array; arguments and memory otherwise as for `encode_iterable`.
        """
        policy = self._policy(allowed_special, disallowed_special)
        splitter, checked = policy.recognized, utf8_pieces(policy.checked(pieces))
        for segments in splitter.stream(checked, self.pretokenizer, block):
            yield self._encode_segments(splitter, segments)[0]

    def encode_iterable(
        self,
        pieces: Iterable[str],
        *,
        allowed_special: Choice = "all",
        disallowed_special: Choice = (),
    ) -> Iterator[int]:
        """Ids of one text that comes in pieces, lazily and in bounded memory.

        Equal to encoding the joined text. Memory stays at a block of text, or the longest
        pre-token where that is longer. A pattern that is not one of the named ones may look
        at anything, so then the text up to the next special token is held.

        >>> from bpe_core import Trainer
        >>> tokenizer = Trainer(257).train("abab").tokenizer
        >>> list(tokenizer.encode_iterable(["a", "b"]))
        [256]
        """
        for ids in self.encode_chunks(
            pieces, allowed_special=allowed_special, disallowed_special=disallowed_special
        ):
            yield from ids.tolist()

    def count_tokens(
        self, text: str, *, allowed_special: Choice = "all", disallowed_special: Choice = ()
    ) -> int:
        """Number of tokens of a text; arguments as for `encode`."""
        return self.encode_to_array(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special
        ).size

    def encode_spans(
        self, text: str, *, allowed_special: Choice = "all", disallowed_special: Choice = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ids, uint32[n], and where each token ends in the text's UTF-8 bytes, int64[n].

        Lone surrogates count as U+FFFD; where the tokenizer prepares texts, the places are
        those in `prepared(text)`. Arguments as for `encode`.
        """
        ids = self.encode_to_array(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        return ids, np.cumsum(self.sizes[ids], dtype=np.int64)

    def tokens(
        self, text: str, *, allowed_special: Choice = "all", disallowed_special: Choice = ()
    ) -> list[Token]:
        """Ids with byte spans; the spans are in order and cover the text.

        >>> from bpe_core import Trainer
        >>> Trainer(257).train("abab").tokenizer.tokens("aab")
        [Token(id=97, start=0, end=1), Token(id=256, start=1, end=3)]
        """
        ids, ends = self.encode_spans(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        bounds = [0, *ends.tolist()]
        return [Token(*row) for row in zip(ids.tolist(), bounds, bounds[1:], strict=False)]

    def join_ranks(
        self, text: str, *, allowed_special: Choice = "all", disallowed_special: Choice = ()
    ) -> np.ndarray:
        """For each boundary between two bytes, the rank of the merge that erased it.

        int32[max(n_bytes - 1, 0)]; NEVER (2**31 - 1) where none did, -1 inside a special
        token. The tokens with the first k merges are what is left when every boundary with
        a rank below k is erased; the id of such a token is made by its largest rank. Places
        are those in `prepared(text)`; ValueError where a pre-token is in `ignore_merges`.

        >>> from bpe_core import Trainer
        >>> Trainer(258).train("aaabdaaabac").tokenizer.join_ranks("aaab").tolist()
        [0, 1, 2147483647]
        """
        policy = self._policy(allowed_special, disallowed_special)
        policy.check(text)
        parts = policy.recognized.split(text)
        data = np.frombuffer(utf8("".join([a + (b or "") for a, b in parts])), np.uint8)
        joins = np.full(max(data.size - 1, 0), NEVER, np.int32)
        at = 0
        for part, special in parts:
            stop = at + len(utf8(part))
            if stop - at > 1:
                ends = self.pretokenizer.ends(data, at, stop)
                self._refuse_ignored(data, at, ends)
                self.model.join_ranks(data, ends, at, joins)
            at = stop
            if special is not None:
                stop = at + len(utf8(special))
                joins[at : stop - 1] = IN_SPECIAL
                at = stop
        return joins

    def pretokens(self, text: str) -> list[str]:
        """The pre-tokens of a text, in order; special tokens stand among them."""
        found: list[str] = []
        for part, special in self._splitter.split(text):
            found += self.pretokenizer.split(part)
            if special is not None:
                found.append(special)
        return found

    def merge_steps(self, pretoken: str | bytes) -> list[MergeStep]:
        """The merges inside one pre-token in the order in which they are done.

        ValueError for a pre-token in `ignore_merges`.
        """
        raw = utf8(pretoken) if isinstance(pretoken, str) else pretoken
        self._refuse_ignored(np.frombuffer(raw, np.uint8), 0, np.array([len(raw)]))
        return self.model.merge_steps(raw)

    def prepared(self, text: str) -> str:
        """The text that the tokens of `text` spell; positions in results refer to it.

        It is `text` itself but for imported tokenizers that normalize texts, put a space in
        front or take white space away around an added token.
        """
        if self.preparation.plain:
            return text
        return "".join([part + (token or "") for part, token in self._splitter.split(text)])

    def _refuse_ignored(self, data: np.ndarray, start: int, ends: np.ndarray) -> None:
        """ValueError where a pre-token of data[start:], each up to one of `ends`, is not merged."""
        for stop in ends.tolist() if self.ignore_merges else ():
            if data[start:stop].tobytes() in self.ignore_merges:
                raise ValueError(
                    f"the pre-token {data[start:stop].tobytes()!r} is taken whole and not merged, "
                    "so it has no merge history; it can still be encoded and decoded"
                )
            start = stop

    def _policy(self, allowed: Choice, disallowed: Choice) -> SpecialPolicy:
        if allowed == "all" and disallowed == ():
            return self._default_policy
        return special_policy(self._splitter, allowed, disallowed)

    def _encode(
        self, splitter: SpecialSplitter, data: np.ndarray, documents: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ids of documents data[documents[2k]:documents[2k + 1]], and where each one's end."""
        return self._encode_segments(splitter, splitter.segments(data, documents))

    def _encode_segments(
        self, splitter: SpecialSplitter, segments: Segments
    ) -> tuple[np.ndarray, np.ndarray]:
        if segments.tokens.size and int(segments.tokens.max()) >= 0:
            ids_of = [*(self.special_tokens[token] for token in splitter.tokens), -1]
            segments = segments._replace(tokens=np.array(ids_of)[segments.tokens])
        scheme, ends = self.pretokenizer.scheme, _NO_ENDS
        if not scheme or self.ignore_merges:
            scheme = 0
            spans = zip(segments.bounds[::2].tolist(), segments.bounds[1::2].tolist(), strict=True)
            found = [self.pretokenizer.ends(segments.data, a, b) for a, b in spans]
            if self.ignore_merges:
                segments, found = look_up_whole(segments, found, self.ignore_merges)
            ends = np.concatenate([ends, *found])
        # Encoders are written to without a lock, so each thread takes one for itself.
        try:
            encoder = self._encoders.pop()
        except IndexError:
            encoder = self.new_encoder()
        data, bounds, tokens, document_ends, _ = segments
        ids, counts = encoder.encode(scheme, data, bounds, tokens, ends)
        if len(self._encoders) < PROCESSORS:
            self._encoders.append(encoder)
        return ids, counts[document_ends - 1]

    def new_encoder(self) -> Encoder:
        """An encoder of this tokenizer's ids; each thread needs one of its own."""
        return Encoder(self.model.ranks, self.ids)

    # ------------------------------------------------------------------ decoding

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes of all ids, joined; KeyError naming an id that is not in the vocabulary."""
        ids = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
        vocab = self.vocab
        # True is equal to 1 and 1.0 too, so a look-up alone would take both.
        if set(map(type, ids)) <= {int} and vocab.keys() >= set(ids):
            return b"".join([vocab[i] for i in ids])
        return b"".join(map(self.token_bytes, ids))

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """The text of ids; `errors` as in `bytes.decode` for bytes that are no UTF-8.

        >>> from bpe_core import Trainer
        >>> Trainer(256).train("").tokenizer.decode([226, 130, 172, 33, 226])
        '€!\\ufffd'
        """
        return self.decode_bytes(ids).decode("utf-8", errors)

    # ------------------------------------------------------------------ other tokenizers

    def truncated(self, n_merges: int) -> Tokenizer:
        """The tokenizer with only the first merges; ids stay, and no table is copied.

        ValueError where `n_merges` is not within 0 and the number of merges.
        """
        if not 0 <= n_merges <= self.n_merges:
            raise ValueError(f"n_merges must be from 0 to {self.n_merges}, not {n_merges}")
        if n_merges == self.n_merges:
            return self
        return Tokenizer(
            self.model.truncated(n_merges),
            self.pretokenizer,
            self.special_tokens,
            self.ids,
            self.extra,
            preparation=self.preparation,
            ignore_merges=self.ignore_merges,
        )

    @classmethod
    def from_vocab(
        cls,
        vocab: Mapping[int, bytes],
        merges: Sequence[tuple[bytes, bytes]],
        special_tokens: Mapping[str, int] | Iterable[str] | None = None,
        pattern: str = "gpt2",
    ) -> Tokenizer:
        """A tokenizer from a vocabulary (id to bytes) and merges; declared ids are kept.

        A special token that the vocabulary lacks gets the next id. Of a merge that is given
        twice the last counts. Raises ValueError naming a byte without a token, a merge whose
        part or product is not in the vocabulary, or an id given twice.

        >>> vocab = {i: bytes([i]) for i in range(256)} | {300: b"ab"}
        >>> Tokenizer.from_vocab(vocab, [(b"a", b"b")]).encode("aab")
        [97, 300]
        """
        parts = parts_of_vocab(vocab, merges, special_tokens)
        return cls(parts.model, PreTokenizer(typed_pattern(pattern)), *parts[1:])

    @classmethod
    def from_files(
        cls,
        vocab_path: str | os.PathLike[str],
        merges_path: str | os.PathLike[str],
        special_tokens: Mapping[str, int] | Iterable[str] | None = None,
        pattern: str = "gpt2",
    ) -> Tokenizer:
        """A tokenizer from vocab.json and merges.txt in GPT-2's format.

        Those files do not say which entries are special tokens: name them, or a warning tells
        which entries stay unused. Raises OSError and `FormatError`.
        """
        return bpe_core.formats.loads_gpt2(
            Path(vocab_path).read_bytes(),
            Path(merges_path).read_bytes(),
            special_tokens,
            pattern=pattern,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the native file (UTF-8 JSON); `load` gives an equal tokenizer."""
        Path(path).write_bytes(bpe_core.formats.dumps_native(self).encode("utf-8"))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Read a native file; raises OSError and `FormatError`."""
        return bpe_core.formats.loads_native(Path(path).read_bytes())


_NO_ENDS = np.empty(0, np.int64)
