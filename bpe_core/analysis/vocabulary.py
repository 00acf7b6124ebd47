"""A whole vocabulary looked at: scripts, health, overlap, and where tokens occur in a text.

Belongs here: what can be said of every entry of a tokenizer, as columns with one row per entry
in order of id. Does not belong here: encoding itself (`tokenizer.py`), what one token is made of
(`lineage`), and anything that is drawn or filtered on a screen.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import regex

from bpe_core.tokenizer import Tokenizer

from .lineage import child_ids
from .replay import find_all

# --------------------------------------------------------------------------- scripts

#: Unicode's names of scripts, and what people call their letters.
SCRIPTS = {
    "Latin": "Latin",
    "Han": "Chinese characters",
    "Cyrillic": "Cyrillic",
    "Arabic": "Arabic",
    "Devanagari": "Devanagari",
    "Hangul": "Korean (Hangul)",
    "Hiragana": "Japanese (Hiragana)",
    "Katakana": "Japanese (Katakana)",
    "Greek": "Greek",
    "Hebrew": "Hebrew",
    "Thai": "Thai",
    "Bengali": "Bengali",
    "Tamil": "Tamil",
    "Telugu": "Telugu",
    "Kannada": "Kannada",
    "Malayalam": "Malayalam",
    "Gujarati": "Gujarati",
    "Gurmukhi": "Gurmukhi",
    "Oriya": "Odia",
    "Sinhala": "Sinhala",
    "Georgian": "Georgian",
    "Armenian": "Armenian",
    "Ethiopic": "Ethiopic",
    "Khmer": "Khmer",
    "Lao": "Lao",
    "Myanmar": "Burmese",
    "Tibetan": "Tibetan",
    "Mongolian": "Mongolian",
    "Thaana": "Thaana",
    "Syriac": "Syriac",
    "Bopomofo": "Bopomofo",
    "Yi": "Yi",
    "Cherokee": "Cherokee",
    "Canadian_Aboriginal": "Canadian syllabics",
    "Tifinagh": "Tifinagh",
    "Nko": "N'Ko",
    "Javanese": "Javanese",
    "Balinese": "Balinese",
    "Coptic": "Coptic",
    "Gothic": "Gothic",
    "Runic": "Runic",
    "Ogham": "Ogham",
}
OTHER_LETTERS = "Other letters"
MIXED = "Several scripts"
DIGITS = "Digits"
SIGNS = "Punctuation and signs"
BLANKS = "White space"
PARTS = "Parts of characters"

#: What an entry can be; `Vocabulary.kind` holds indices into this.
KINDS = (*SCRIPTS.values(), OTHER_LETTERS, MIXED, DIGITS, SIGNS, BLANKS, PARTS)
_CODE = {name: code for code, name in enumerate(KINDS)}
_LETTERS = _CODE[OTHER_LETTERS] + 1  # codes below are letters


def script_codes(characters: str) -> np.ndarray:
    """What each character is, as an index into `KINDS`, uint8[n].

    A letter or mark counts for its script (Unicode's property Script); letters that belong to
    none of `SCRIPTS` are "Other letters". Marks that fit any script count as signs.

    >>> [KINDS[code] for code in script_codes("aж中1 !")]
    ['Latin', 'Cyrillic', 'Chinese characters', 'Digits', 'White space', 'Punctuation and signs']
    """
    codes = np.full(len(characters), _CODE[SIGNS], np.uint8)
    for pattern, code in _classes():
        for match in pattern.finditer(characters):
            codes[match.start() : match.end()] = code
    return codes


@functools.lru_cache(maxsize=1)
def _classes() -> list[tuple[regex.Pattern, int]]:
    """Patterns of the kinds of characters; where several match, the last one holds."""
    patterns = [(r"\p{N}+", _CODE[DIGITS]), (r"\s+", _CODE[BLANKS])]
    patterns += [(r"\p{L}+", _CODE[OTHER_LETTERS])]
    for script, name in SCRIPTS.items():
        patterns.append((rf"[\p{{Script={script}}}&&[\p{{L}}\p{{M}}]]+", _CODE[name]))
    return [(regex.compile(pattern, regex.V1), code) for pattern, code in patterns]


def _kinds(texts: list[str]) -> np.ndarray:
    """The kind of each text, uint8[n].

    The script of more than half of its letters, else `MIXED`; without letters `DIGITS` if one
    is there, `BLANKS` if all is white space, else `SIGNS`.
    """
    owner = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    points = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    distinct, place = np.unique(points, return_inverse=True)
    codes = script_codes("".join(map(chr, distinct.tolist())))[place]

    def texts_with(chosen: np.ndarray) -> np.ndarray:
        return np.bincount(owner[chosen], minlength=len(texts))

    kinds = np.full(len(texts), _CODE[SIGNS], np.uint8)
    kinds[texts_with(codes != _CODE[BLANKS]) == 0] = _CODE[BLANKS]
    kinds[texts_with(codes == _CODE[DIGITS]) > 0] = _CODE[DIGITS]
    letters = codes < _LETTERS
    n_letters = texts_with(letters)
    kinds[n_letters > 0] = _CODE[MIXED]
    pairs, counts = np.unique(owner[letters] * _LETTERS + codes[letters], return_counts=True)
    who, code = np.divmod(pairs, _LETTERS)
    most = 2 * counts > n_letters[who]
    kinds[who[most]] = code[most]
    return kinds


# --------------------------------------------------------------------------- the entries


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The entries of a tokenizer as columns, one row per entry in order of id.

    ids int64[n]; tokens and texts (None where the bytes are no whole characters) are lists;
    sizes int64[n] in bytes; n_characters int64[n], -1 where there is no text; births int32[n],
    the rank of the first merge that makes the entry or -1; special bool[n]; kind uint8[n],
    indices into `KINDS`.

    >>> from bpe_core import Trainer
    >>> vocabulary = Vocabulary.of(Trainer(258, ["<|x|>"]).train("aaab").tokenizer)
    >>> vocabulary.texts[-2:], vocabulary.births[-2:].tolist(), vocabulary.special[-2:].tolist()
    (['<|x|>', 'aa'], [-1, 0], [True, False])
    """

    ids: np.ndarray
    tokens: list[bytes]
    texts: list[str | None]
    sizes: np.ndarray
    n_characters: np.ndarray
    births: np.ndarray
    special: np.ndarray
    kind: np.ndarray

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Vocabulary:
        """Look at every entry of a tokenizer."""
        ids = np.fromiter(tokenizer.vocab, np.int64, len(tokenizer.vocab))
        tokens = list(tokenizer.vocab.values())
        texts = [_text(token) for token in tokens]
        whole = np.array([text is not None for text in texts], bool)
        kind = np.full(len(ids), _CODE[PARTS], np.uint8)
        kind[whole] = _kinds([text for text in texts if text is not None])
        return cls(
            ids=ids,
            tokens=tokens,
            texts=texts,
            sizes=np.array([len(token) for token in tokens], np.int64),
            n_characters=np.array([-1 if t is None else len(t) for t in texts], np.int64),
            births=tokenizer.birth_ranks[ids],
            special=np.isin(ids, list(tokenizer.special_tokens.values())),
            kind=kind,
        )

    def __len__(self) -> int:
        return len(self.tokens)

    def row(self, token_id: int) -> int:
        """The row of an id; KeyError naming an id that is not in the vocabulary."""
        row = int(np.searchsorted(self.ids, token_id))
        if row == len(self.ids) or self.ids[row] != token_id:
            raise KeyError(f"{token_id!r} is not an id of this vocabulary")
        return row

    # ------------------------------------------------------------------ what holds of entries

    @functools.cached_property
    def splits(self) -> np.ndarray:
        """Entries that hold a part of a character and not only whole ones, bool[n]."""
        return self.n_characters < 0

    @functools.cached_property
    def straddles(self) -> np.ndarray:
        """Entries that `splits` names and that reach into a second character, bool[n].

        A character begins at every byte that continues none, so these are the entries in which
        one begins behind the first byte.
        """
        rows = np.flatnonzero(self.splits)
        result = np.zeros(len(self), bool)
        result[rows] = [any(b & 0xC0 != 0x80 for b in self.tokens[row][1:]) for row in rows]
        return result

    @functools.cached_property
    def longest(self) -> int:
        """Bytes of the longest entry."""
        return int(self.sizes.max())

    @functools.cached_property
    def _joined(self) -> tuple[np.ndarray, np.ndarray]:
        stops = np.cumsum(self.sizes)
        return np.frombuffer(b"".join(self.tokens), np.uint8), np.concatenate([[0], stops])

    @functools.cached_property
    def _rows_of(self) -> dict[bytes, list[int]]:
        rows: dict[bytes, list[int]] = {}
        for row, token in enumerate(self.tokens):
            rows.setdefault(token, []).append(row)
        return rows

    def spelling(self, token: bytes) -> list[int]:
        """The rows whose bytes are these; more than one only in some imported vocabularies."""
        return self._rows_of.get(token, [])

    @functools.cached_property
    def alphabetical(self) -> np.ndarray:
        """Place of each entry in the order of the entries' bytes, int64[n]."""
        order = sorted(range(len(self)), key=self.tokens.__getitem__)
        places = np.empty(len(self), np.int64)
        places[order] = np.arange(len(self))
        return places

    def containing(self, needle: bytes) -> np.ndarray:
        """Entries whose bytes hold `needle`, bool[n].

        >>> from bpe_core import Trainer
        >>> vocabulary = Vocabulary.of(Trainer(258).train("aaab").tokenizer)
        >>> vocabulary.ids[vocabulary.containing(b"aa")].tolist()
        [256, 257]
        """
        data, offsets = self._joined
        if not needle:
            return np.ones(len(self), bool)
        starts = find_all(data, needle)
        rows = np.searchsorted(offsets, starts, side="right") - 1
        result = np.zeros(len(self), bool)
        result[rows[starts + len(needle) <= offsets[rows + 1]]] = True
        return result

    def of_kind(self, name: str) -> np.ndarray:
        """Entries of a kind, one of `KINDS`, bool[n]."""
        members: np.ndarray = self.kind == KINDS.index(name)
        return members

    def sized(self, least: int, most: int) -> np.ndarray:
        """Entries of `least` to `most` bytes, bool[n]."""
        return (self.sizes >= least) & (self.sizes <= most)

    def born(self, first: int, last: int) -> np.ndarray:
        """Entries that one of the merges `first` to `last` makes, counted from 1, bool[n].

        0 stands for what no merge makes.

        >>> from bpe_core import Trainer
        >>> vocabulary = Vocabulary.of(Trainer(258).train("aaab").tokenizer)
        >>> vocabulary.ids[vocabulary.born(1, 1)].tolist()
        [256]
        """
        return (self.births + 1 >= first) & (self.births + 1 <= last)

    def with_ids(self, ranges: Iterable[tuple[int, int]]) -> np.ndarray:
        """Entries whose ids lie in one of the ranges, ends included, bool[n]."""
        wanted = np.zeros(len(self), bool)
        for low, high in ranges:
            wanted |= (self.ids >= low) & (self.ids <= high)
        return wanted

    def made_of(self, token_id: int, merge_ids: np.ndarray) -> np.ndarray:
        """Entries that a merge makes of this one and another, bool[n]; `merge_ids` the tokenizer's.

        >>> from bpe_core import Trainer
        >>> tokenizer = Trainer(258).train("aaab").tokenizer
        >>> vocabulary = Vocabulary.of(tokenizer)
        >>> vocabulary.ids[vocabulary.made_of(256, tokenizer.merge_ids)].tolist()
        [257]
        """
        return np.isin(self.ids, child_ids(merge_ids, token_id))

    def in_order(
        self, wanted: np.ndarray, column: str, *, down: bool = False, uses: np.ndarray
    ) -> np.ndarray:
        """The rows that are wanted, bool[n], sorted by a column; equal ones by id, int64[m].

        Columns are "id", "token" and "hex" (both the order of the bytes), "merge", "bytes" (how
        many), "kind" (by its name) and "uses", which are given, int64[n]. Entries that no merge
        made come last in the order of merges, either way.

        >>> from bpe_core import Trainer
        >>> vocabulary = Vocabulary.of(Trainer(258).train("aaab").tokenizer)
        >>> wanted = vocabulary.containing(b"a")
        >>> rows = vocabulary.in_order(wanted, "bytes", down=True, uses=vocabulary.sizes)
        >>> vocabulary.ids[rows].tolist()
        [257, 256, 97]
        """
        rows = np.flatnonzero(wanted)
        if column == "id":
            return rows[::-1] if down else rows
        if column in ("token", "hex"):
            values = self.alphabetical[rows]
        elif column == "merge":
            born = self.births[rows].astype(np.int64)
            values = np.where(born < 0, -1 if down else np.iinfo(np.int64).max, born)
        elif column == "kind":
            values = _alphabetical_kinds()[self.kind[rows]]
        else:
            values = {"bytes": self.sizes, "uses": uses}[column][rows]
        return rows[np.argsort(-values if down else values, kind="stable")]

    def by_kind(self) -> list[Kind]:
        """How many entries and bytes there are of each kind, most entries first.

        Kinds of which there is none are left out.

        >>> from bpe_core import Trainer
        >>> Vocabulary.of(Trainer(256).train("").tokenizer).by_kind()[0]
        Kind(name='Parts of characters', entries=128, n_bytes=128)
        """
        entries = np.bincount(self.kind, minlength=len(KINDS))
        n_bytes = np.bincount(self.kind, weights=self.sizes, minlength=len(KINDS))
        rows = zip(KINDS, entries.tolist(), n_bytes.astype(np.int64).tolist(), strict=True)
        return sorted((Kind(*row) for row in rows if row[1]), key=lambda kind: -kind.entries)

    def decoded(self, rows: Iterable[int] | None = None) -> Iterator[dict[str, Any]]:
        """The entries as plain values, those of `rows` or all of them.

        `text` is None where the bytes are no whole characters, `rank` where no merge makes
        the entry.

        >>> from bpe_core import Trainer
        >>> next(Vocabulary.of(Trainer(257).train("aa").tokenizer).decoded([256])
        ... )  # doctest: +NORMALIZE_WHITESPACE
        {'id': 256, 'text': 'aa', 'hex': '6161', 'script': 'Latin', 'rank': 0, 'special': False}
        """
        for row in range(len(self)) if rows is None else rows:
            birth = int(self.births[row])
            yield {
                "id": int(self.ids[row]),
                "text": self.texts[row],
                "hex": self.tokens[row].hex(),
                "script": KINDS[self.kind[row]],
                "rank": None if birth < 0 else birth,
                "special": bool(self.special[row]),
            }


def _alphabetical_kinds() -> np.ndarray:
    """Place of each of `KINDS` in the order of their names."""
    place = {name: i for i, name in enumerate(sorted(KINDS))}
    return np.array([place[name] for name in KINDS])


class Kind(NamedTuple):
    """Entries of one kind: how many, and their bytes in all."""

    name: str
    entries: int
    n_bytes: int


def _text(token: bytes) -> str | None:
    try:
        return token.decode("utf-8")
    except UnicodeDecodeError:
        return None


def overlap(here: Vocabulary, there: Vocabulary) -> tuple[np.ndarray, np.ndarray]:
    """Which entries of each vocabulary have their bytes in the other one: two bool arrays.

    >>> from bpe_core import Trainer
    >>> one, two = (Vocabulary.of(Trainer(257).train(text).tokenizer) for text in ("aa", "bb"))
    >>> [int(shared.sum()) for shared in overlap(one, two)]
    [256, 256]
    """
    shared = here._rows_of.keys() & there._rows_of.keys()
    return (
        np.fromiter((token in shared for token in here.tokens), bool, len(here)),
        np.fromiter((token in shared for token in there.tokens), bool, len(there)),
    )


# --------------------------------------------------------------------------- health


def unreachable(tokenizer: Tokenizer, vocabulary: Vocabulary) -> np.ndarray:
    """Entries that do not encode to themselves, bool[n]; special tokens always do.

    An entry that is text is encoded as a text of its own, special tokens not recognized and no
    blank put in front; one that holds parts of characters as the bytes of one pre-token. Such
    an entry may still occur inside a longer pre-token, where the pattern cuts otherwise.

    The term is that of Land and Bartolo, "Fishing for Magikarp" (2024).

    >>> from bpe_core import Tokenizer
    >>> vocab = {i: bytes([i]) for i in range(256)} | {300: b"ab", 400: b"a b", 500: b"cd"}
    >>> tokenizer = Tokenizer.from_vocab(vocab, [(b"a", b"b")])
    >>> vocabulary = Vocabulary.of(tokenizer)
    >>> vocabulary.ids[unreachable(tokenizer, vocabulary)].tolist()
    [400, 500]
    """
    result = ~vocabulary.special
    preparation = tokenizer.preparation
    plain = tokenizer
    if not preparation.plain:
        plain = Tokenizer(
            tokenizer.model, tokenizer.pretokenizer, ids=tokenizer.ids,
            extra=tokenizer.extra, ignore_merges=tokenizer.ignore_merges,
        )  # fmt: skip
    rows = np.flatnonzero(~vocabulary.splits)
    texts = [vocabulary.texts[row] or "" for row in rows]
    ids, ends = plain.encode_batch_to_array(texts, allowed_special=())
    same = np.array([preparation.normalize(text) == text for text in texts], bool)
    result[rows] &= ~(_encodes_to(vocabulary.ids[rows], ids, ends) & same)

    rows = np.flatnonzero(vocabulary.splits)
    data = np.frombuffer(b"".join(vocabulary.tokens[row] for row in rows), np.uint8)
    stops = np.cumsum(vocabulary.sizes[rows])
    if rows.size:
        bounds = np.stack([stops - vocabulary.sizes[rows], stops], axis=1).ravel()
        nothing = np.full(rows.size, -1)  # no special token follows
        ids, ends = tokenizer.new_encoder().encode(0, data, bounds, nothing, stops)
        result[rows] &= ~_encodes_to(vocabulary.ids[rows], ids, ends)
    return result


def _encodes_to(wanted: np.ndarray, ids: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Whether pre-token k, whose ids end at ends[k], is the one id wanted[k]; bool[n]."""
    single = np.diff(ends, prepend=0) == 1
    same = np.zeros(len(wanted), bool)
    same[single] = ids[ends[single] - 1] == wanted[single]
    return same


def uses(tokenizer: Tokenizer, text: str) -> np.ndarray:
    """How often each id occurs in a text, int64[max id + 1].

    >>> from bpe_core import Trainer
    >>> tokenizer = Trainer(257).train("aaab").tokenizer
    >>> {i: n for i, n in enumerate(uses(tokenizer, "aaab").tolist()) if n}
    {97: 1, 98: 1, 256: 1}
    """
    counts = np.zeros(max(tokenizer.vocab) + 1, np.int64)
    for ids in tokenizer.encode_chunks(_slices(text), block=_BLOCK):
        counts += np.bincount(ids, minlength=counts.size)
    return counts


_BLOCK = 1 << 20  # bytes encoded at a time


def _slices(text: str) -> Iterator[str]:
    return (text[i : i + _BLOCK] for i in range(0, len(text), _BLOCK))


def places(
    tokenizer: Tokenizer, text: str, token_id: int, most: int, *, n_merges: int | None = None
) -> list[tuple[int, int]]:
    """The first places of an id in a text, as (start, end) in the bytes of `prepared(text)`.

    At most `most` of them; with `n_merges` the text is cut with that many merges only.

    >>> from bpe_core import Trainer
    >>> tokenizer = Trainer(258).train("aaab aaab").tokenizer  # merges a+a, aa+a
    >>> places(tokenizer, "aaa aa", 257, 5), places(tokenizer, "aaa aa", 256, 5, n_merges=1)
    ([(0, 3)], [(0, 2), (4, 6)])
    """
    found: list[tuple[int, int]] = []
    sizes = tokenizer.sizes
    size = len(tokenizer.token_bytes(token_id))
    cut = tokenizer if n_merges is None else tokenizer.truncated(n_merges)
    at = 0
    for ids in cut.encode_chunks(_slices(text), block=_BLOCK >> 2):
        here = np.flatnonzero(ids == token_id)
        ends = at + np.cumsum(sizes[ids], dtype=np.int64)
        found += [(end - size, end) for end in ends[here[: most - len(found)]].tolist()]
        if len(found) == most:
            break
        at = int(ends[-1]) if ends.size else at
    return found


class Context(NamedTuple):
    """The bytes of a place in a text, and what comes before and after."""

    before: bytes
    token: bytes
    after: bytes


def context(data: bytes, start: int, end: int, around: int) -> Context:
    """data[start:end] with up to `around` bytes of the text on each side.

    Outer ends fall between characters.

    >>> context("the é old".encode(), 4, 6, 3)
    Context(before=b'he ', token=b'\\xc3\\xa9', after=b' ol')
    """
    first, last = max(0, start - around), min(len(data), end + around)
    while first < start and data[first] & 0xC0 == 0x80:
        first += 1
    while end < last < len(data) and data[last] & 0xC0 == 0x80:
        last -= 1
    return Context(data[first:start], data[start:end], data[end:last])
