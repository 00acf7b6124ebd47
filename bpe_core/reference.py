"""What byte-pair encoding means here, in the plainest Python: the slow twin of every fast path.

Read this module to know what is right; read the others to know how it is made fast. It imports
nothing from the package, counts everything anew at every step, and the tests hold the engine to it
column by column. Nothing in here is written for speed.

The rules
---------

1.  **Alphabet.** Text is UTF-8, so every text is a string of bytes, and each of the 256 bytes is a
    token before the first merge. No text is out of vocabulary. Which byte has which of the first
    256 ids is called the *byte order* and is only data: `plain` (byte 97 has id 97), or `gpt2`
    (first the 188 bytes that have a printable Latin-1 character, then the other 68).
2.  **Special tokens** cut the text before anything else, in training as in encoding: at the
    leftmost place where one begins, the longest one is taken, letter by letter and never as a
    pattern. They are hard borders: no pair reaches across, none is counted, none is merged.
3.  **Pre-tokens.** A pattern cuts the text between special tokens into pre-tokens, and no merge
    crosses from one into the next. What the pattern does not match is a piece of its own, so the
    pieces always join back to the text. Only *which* pre-tokens occur and *how often* matters from
    here on: training is a function of a mapping from pre-token to count.
4.  **Counting.** The count of a pair is the number of places where its two tokens are neighbors,
    each place weighted by the count of its pre-token. Overlapping places all count: `aaaaa` holds
    the pair (a, a) four times.
5.  **The winner** is the pair with the highest count. Of several, `greatest_bytes` takes the one
    whose first token is greatest as a string of raw bytes, then whose second is; `lowest_ids` takes
    the one whose first id is lowest, then whose second is. So the order in which texts, pre-tokens
    and pairs come along never matters.
6.  **Merging** replaces the winner from left to right, without overlap: `aaaaa` becomes `aa aa a`,
    two replacements. The pair's count (4) and the replacements (2) are both part of the trace.
7.  **Tokens are byte strings.** A merge that spells a string already in the vocabulary reuses its
    id, and the next new token takes the next free id. (Within one training that never happens, for
    a string that becomes one token is merged the same way wherever it stands. A merge list written
    by hand may well spell `abc` both as ab + c and as a + bc.)
8.  **Stop** when the wanted number of merges is reached (`vocab_size`), when there is no pair
    (`no_pairs`), or when the winner's count is below the wanted minimum (`min_pair_count`). Where
    tokens have a greatest length, a pair that would be longer does not exist as a pair: it is not
    counted and is no candidate. Stopping early is a result, never an error.
9.  **Ids.** The alphabet first, then the special tokens, then new tokens in the order of the
    merges. The place of a merge in the list is its *rank*.
10. **Encoding** a pre-token: of all neighbors that are a pair of the merge list, replace the pair
    of the lowest rank, the leftmost place first; repeat until none is left. It is never a search
    for the longest token. The *join rank* of a boundary between two bytes is the rank of the merge
    that erased it. A pair that is listed twice has the last of its ranks, as in GPT-2's own
    encoder and in Hugging Face's `tokenizers`: the merges before it are as if not listed.
11. **Decoding** joins the bytes of all tokens and reads them as UTF-8; what is none becomes U+FFFD.

Symbols need not be bytes. All that is asked of a token is `+`, `<` and `len`, so the same functions
run on words spelled as sequences of `str` symbols:

>>> words = {("l", "o", "w", "</w>"): 5, ("l", "o", "w", "e", "r", "</w>"): 2,
...          ("n", "e", "w", "e", "s", "t", "</w>"): 6, ("w", "i", "d", "e", "s", "t", "</w>"): 3}
>>> for step in train(words, 4).steps:
...     print(step.left, "+", step.right, "occurs", step.pair_count, "times")
t + </w> occurs 9 times
s + t</w> occurs 9 times
e + st</w> occurs 9 times
o + w occurs 7 times
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

Token = TypeVar("Token", bytes, str)

NEVER = 2**31 - 1
"""The join rank of a boundary that no merge erases."""


@dataclass(frozen=True)
class Step:
    """One merge of a training: what won, against what, and what was left of the text.

    `candidates` holds the best pairs before the merge as (left, right, count), the winner first.

    >>> step = train({"aaab": 1}, 1).steps[0]
    >>> step.left, step.right, step.token_id, step.pair_count, step.merged, step.corpus_tokens
    ('a', 'a', 2, 2, 1, 3)
    """

    left: Any
    right: Any
    token_id: int
    pair_count: int  # places where the pair stood, overlapping ones included
    merged: int  # places that were replaced
    corpus_tokens: int  # tokens in the whole text after the merge
    n_pairs: int  # distinct pairs before the merge
    n_tied: int  # pairs with the winner's count, the winner included
    candidates: list[tuple[Any, Any, int]]


@dataclass(frozen=True)
class Training:
    """All that a training leaves behind.

    >>> training = train({"abab": 1}, 5)
    >>> training.merges, training.stop_reason, training.ids
    ([('a', 'b'), ('ab', 'ab')], 'no_pairs', {'a': 0, 'b': 1, 'ab': 2, 'abab': 3})
    """

    ids: dict[Any, int]
    steps: list[Step]
    initial_tokens: int
    stop_reason: str

    @property
    def merges(self) -> list[tuple[Any, Any]]:
        """The winners in order: the place of a pair is its rank.

        >>> train({b"abc": 2}, 2).merges
        [(b'b', b'c'), (b'a', b'bc')]
        """
        return [(step.left, step.right) for step in self.steps]


def byte_alphabet(byte_order: str = "plain") -> list[bytes]:
    """List the 256 one-byte tokens in the order of their ids.

    >>> byte_alphabet()[97], byte_alphabet("gpt2").index(b"a"), byte_alphabet("gpt2").index(b" ")
    (b'a', 64, 220)
    """
    if byte_order == "plain":
        return [bytes([value]) for value in range(256)]
    if byte_order == "gpt2":
        printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
        rest = [value for value in range(256) if value not in printable]
        return [bytes([value]) for value in printable + rest]
    raise ValueError(f"byte_order must be 'plain' or 'gpt2', not {byte_order!r}.")


def symbols(pretoken: Any) -> list[Any]:
    """Spell a pre-token as its first tokens: bytes of a `bytes`, items of any sequence of `str`.

    >>> symbols(b"low"), symbols(["l", "o", "w", "</w>"])
    ([b'l', b'o', b'w'], ['l', 'o', 'w', '</w>'])
    """
    if isinstance(pretoken, bytes):
        return [pretoken[place : place + 1] for place in range(len(pretoken))]
    return list(pretoken)


def count_pairs(
    pretokens: Iterable[tuple[Sequence[Token], int]], max_token_bytes: int | None = None
) -> dict[tuple[Token, Token], int]:
    """Count every place where two tokens are neighbors, weighted by the count of its pre-token.

    Pairs whose token would be longer than `max_token_bytes` are left out.

    >>> count_pairs([(["a", "a", "a", "b"], 10), (["a", "b"], 1)])
    {('a', 'a'): 20, ('a', 'b'): 11}
    """
    counts: dict[tuple[Token, Token], int] = {}
    for tokens, count in pretokens:
        for left, right in pairwise(tokens):
            if max_token_bytes is None or len(left + right) <= max_token_bytes:
                counts[left, right] = counts.get((left, right), 0) + count
    return counts


def winning_order(
    counts: Mapping[tuple[Token, Token], int],
    tie_break: str = "greatest_bytes",
    ids: Mapping[Token, int] | None = None,
) -> list[tuple[Token, Token]]:
    """Put the pairs in winning order: the first one wins. `lowest_ids` needs the ids.

    >>> winning_order({("a", "c"): 2, ("a", "b"): 2, ("b", "a"): 1})
    [('a', 'c'), ('a', 'b'), ('b', 'a')]
    >>> winning_order({("a", "c"): 2, ("a", "b"): 2}, "lowest_ids", {"a": 0, "b": 1, "c": 2})
    [('a', 'b'), ('a', 'c')]
    """
    if tie_break == "greatest_bytes":
        return sorted(counts, key=lambda pair: (counts[pair], pair), reverse=True)
    if tie_break == "lowest_ids" and ids is not None:
        return sorted(counts, key=lambda pair: (-counts[pair], ids[pair[0]], ids[pair[1]]))
    raise ValueError("tie_break must be 'greatest_bytes', or 'lowest_ids' with ids.")


def merge(tokens: Sequence[Token], left: Token, right: Token) -> list[Token]:
    """Replace a pair by its token, from left to right and without overlap.

    >>> merge(["a", "a", "a", "a", "a"], "a", "a")
    ['aa', 'aa', 'a']
    """
    merged: list[Token] = []
    place = 0
    while place < len(tokens):
        if tuple(tokens[place : place + 2]) == (left, right):
            merged.append(left + right)
            place += 2
        else:
            merged.append(tokens[place])
            place += 1
    return merged


def train(
    pretokens: Mapping[Any, int],
    n_merges: int,
    *,
    tie_break: str = "greatest_bytes",
    alphabet: Sequence[Any] | None = None,
    n_special: int = 0,
    min_pair_count: int = 1,
    max_token_bytes: int | None = None,
    top_k: int = 10,
) -> Training:
    """Learn at most `n_merges` merges from a mapping of pre-tokens to counts.

    The alphabet is all 256 bytes if the pre-tokens are bytes, else the symbols that occur, sorted;
    its order is the order of ids. `n_special` ids after it are kept for special tokens.

    >>> training = train({b"aaaaa": 1, b" bc": 2}, 3, n_special=1)
    >>> training.merges, training.ids[b"aa"], [step.corpus_tokens for step in training.steps]
    ([(b'a', b'a'), (b'b', b'c'), (b' ', b'bc')], 257, [9, 7, 5])
    """
    if alphabet is None:
        if all(isinstance(pretoken, bytes) for pretoken in pretokens):
            alphabet = byte_alphabet()
        else:
            alphabet = sorted({symbol for pretoken in pretokens for symbol in pretoken})
    ids = {symbol: place for place, symbol in enumerate(alphabet)}
    corpus = [(symbols(pretoken), count) for pretoken, count in pretokens.items()]
    size = initial_tokens = sum(len(tokens) * count for tokens, count in corpus)
    steps: list[Step] = []
    stop_reason = "vocab_size"
    while len(steps) < n_merges:
        counts = count_pairs(corpus, max_token_bytes)
        if not counts:
            stop_reason = "no_pairs"
            break
        ranking = winning_order(counts, tie_break, ids)
        left, right = ranking[0]
        best = counts[left, right]
        if best < min_pair_count:
            stop_reason = "min_pair_count"
            break
        ids.setdefault(left + right, len(ids) + n_special)
        corpus = [(merge(tokens, left, right), count) for tokens, count in corpus]
        size_before, size = size, sum(len(tokens) * count for tokens, count in corpus)
        steps.append(
            Step(
                left=left,
                right=right,
                token_id=ids[left + right],
                pair_count=best,
                merged=size_before - size,
                corpus_tokens=size,
                n_pairs=len(counts),
                n_tied=sum(count == best for count in counts.values()),
                candidates=[(*pair, counts[pair]) for pair in ranking[:top_k]],
            )
        )
    return Training(ids, steps, initial_tokens, stop_reason)


def merge_steps(
    pretoken: Any, merges: Sequence[tuple[Any, Any]]
) -> Iterator[tuple[int, int, list[Any]]]:
    """Encode one pre-token step by step; yield the rank, the place and the tokens after each merge.

    >>> list(merge_steps("abc", [("b", "c"), ("a", "bc")]))
    [(0, 1, ['a', 'bc']), (1, 0, ['abc'])]
    """
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    tokens = symbols(pretoken)
    while True:
        pairs = enumerate(pairwise(tokens))
        found = min(((ranks[pair], place) for place, pair in pairs if pair in ranks), default=None)
        if found is None:
            return
        rank, place = found
        tokens = [*tokens[:place], tokens[place] + tokens[place + 1], *tokens[place + 2 :]]
        yield rank, place, tokens


def encode(pretoken: Any, merges: Sequence[tuple[Any, Any]]) -> list[Any]:
    """Encode one pre-token: the lowest rank first, the leftmost place first, until none is left.

    >>> encode(b"abcab", [(b"b", b"c"), (b"a", b"b"), (b"a", b"bc")])
    [b'abc', b'ab']
    """
    tokens = symbols(pretoken)
    for _, _, merged in merge_steps(pretoken, merges):
        tokens = merged
    return tokens


def join_ranks(pretoken: Any, merges: Sequence[tuple[Any, Any]]) -> list[int]:
    """Write on each boundary between two symbols the rank of the merge that erases it.

    Boundaries that stay have `NEVER`. What remains of them when all ranks below k are erased is the
    encoding with the first k merges, provided that merges come after those that make their parts.

    >>> join_ranks(b"abcb", [(b"b", b"c"), (b"a", b"bc")]) == [1, 0, NEVER]
    True
    """
    boundaries = list(range(len(symbols(pretoken)) - 1))  # the one after each token but the last
    joins = [NEVER] * len(boundaries)
    for rank, place, _ in merge_steps(pretoken, merges):
        joins[boundaries.pop(place)] = rank
    return joins


def split_special(text: str, special_tokens: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Cut a text at its special tokens; yield its pieces and whether each is one of them.

    >>> list(split_special("see <a><b> here", ["<a>", "<a><b>", "<b>"]))
    [('see ', False), ('<a><b>', True), (' here', False)]
    """
    known = sorted(special_tokens, key=len, reverse=True)
    start = place = 0
    while place < len(text):
        found = next((special for special in known if text.startswith(special, place)), None)
        if found is None:
            place += 1
            continue
        if start < place:
            yield text[start:place], False
        yield found, True
        start = place = place + len(found)
    if start < len(text):
        yield text[start:], False


def decode(tokens: Iterable[bytes]) -> str:
    """Join the bytes of tokens and read them as UTF-8; what is none becomes U+FFFD.

    >>> decode([b"caf", b"\\xc3", b"\\xa9"]), decode([b"caf", b"\\xc3"])
    ('café', 'caf\\ufffd')
    """
    return b"".join(tokens).decode("utf-8", errors="replace")
