"""Training that keeps its counts up to date: the rung between the definition and the kernel.

`reference.py` counts every pair anew at every step. But a merge changes little: only where the
winner stands, only the pairs there and right beside it. Whoever knows the *places* of every pair
goes to those of the winner, puts a handful of counts right at each, and leaves the rest of the
text alone. That is all this file does, in plain Python. The compiled kernel does the same with
arrays, and what both have goes by the kernel's names. All three give the same training, step by
step and column by column.

Belongs here: that one idea, as short as it can be said. Does not belong here: what is right
(`reference.py`), and what makes it fast on a machine (`kernels`).

What there is
-------------

*   **Cells**: the whole text as one list, a cell for each byte, and an empty one between two
    pre-tokens. A token stands in the first and in the last of its cells, so both neighbors of a
    token are at hand: one begins in the next cell, the other ends in the cell before. What
    is left in the cells between is never looked at.
*   **Record**: of each pair the count and the places. A *place* is the cell where the left token
    begins, with the weight of the pre-token. When one of the two tokens is merged with another
    neighbor, the place stays in the list, and is passed over when its turn comes: that is cheaper
    than looking it up to take it out.
*   **Heap**: the pairs, best first, each with the count it had when it was put in. After
    the step that creates a pair, its count can only fall, so a stored count is never too low: an
    entry that is first with a count that is no longer true goes back with the true one. One that
    is true has won.
*   **Top**: the best few pairs, taken off the heap: the winner and the other candidates of a step.
*   **Tally**: for each count how many pairs have it, so that ties are known without a search.

What it costs
-------------

What is looked at in one step:

                  counting anew                     kept up to date
    to choose     every pair                        the entries of the heap that come up
    to merge      every token of all pre-tokens     the places of the winner
    to count      every token of all pre-tokens     five pairs at each of these places

A place is listed once, when its pair comes up there, and used once, when its pair wins. So
all merges together cost about as much as the tokens that they take away, however many steps that
is. The price is memory: each place of each pair is kept. In the first 300 merges of the sample
`stories.txt` (2,639 pre-tokens), looked at in all:

                  counting anew                     kept up to date
    to choose     606,000 pairs                     3,500 entries
    to merge      3,079,000 tokens                  9,200 places
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, NamedTuple

from .reference import Step, Training, byte_alphabet, symbols

Pair = tuple[Any, Any]

NONE: Any = ()
"""Stands in a cell where no token begins or ends: between two pre-tokens, or inside a token. It
has no length, and no pair has it."""


class Greatest(tuple[Any, ...]):
    """A pair for which smaller is greater: of some, the least has the greatest tokens.

    >>> min([("a", "c"), ("b", "a"), ("b", "b")], key=Greatest)
    ('b', 'b')
    """

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        return tuple(self) > tuple(other)


@dataclass
class Record:
    """What is known of a pair: its count, and cell and weight of each place where it came up."""

    count: int = 0
    places: list[tuple[int, int]] = field(default_factory=list)


class Pairs:
    """All pairs of a text with their records, and the best of them at any time.

    Of pairs with the same count, the one with the least `order` is best. A pair whose token would
    be longer than `max_token_bytes` does not exist.

    >>> pairs = Pairs(order=Greatest)
    >>> pairs.add("a", "b", place=1, weight=5)
    >>> pairs.add("b", "a", place=2, weight=5)
    >>> pairs.best(10), pairs.tally[5]
    ([(5, ('b', 'a')), (5, ('a', 'b'))], 2)
    """

    def __init__(self, order: Callable[[Pair], Any], max_token_bytes: int | None = None) -> None:
        self.order = order
        self.max_token_bytes = max_token_bytes
        self.records: dict[Pair, Record] = {}
        self.tally: Counter[int] = Counter()
        self.heap: list[tuple[int, Any, Pair]] = []  # (-count, order, pair), the least one first
        self.outside: set[Pair] = set()  # pairs that are to be put into the heap
        self.looked_at = 0  # entries of the heap that came up when `best` was last called

    def add(self, left: Any, right: Any, place: int, weight: int) -> None:
        """A pair has come to stand at a place."""
        if self._exists(left, right):
            record = self.records.setdefault((left, right), Record())
            record.places.append((place, weight))
            self._recount(left, right, record.count + weight)
            self.outside.add((left, right))

    def remove(self, left: Any, right: Any, weight: int) -> None:
        """A pair is gone from a place."""
        if self._exists(left, right):
            self._recount(left, right, self.records[left, right].count - weight)

    def best(self, wanted: int) -> list[tuple[int, Pair]]:
        """The best pairs, each with its count, best first; `wanted` of them, or all there are."""
        for pair in self.outside & self.records.keys():
            heappush(self.heap, (-self.records[pair].count, self.order(pair), pair))
        top: list[tuple[int, Pair]] = []
        self.looked_at = 0
        while self.heap and len(top) < wanted:
            minus_count, order, pair = heappop(self.heap)
            self.looked_at += 1
            if pair not in self.records:
                continue
            count = self.records[pair].count
            if count != -minus_count:
                heappush(self.heap, (-count, order, pair))
            elif (count, pair) not in top:  # in the heap twice: see `merge`
                top.append((count, pair))
        self.outside = {pair for _, pair in top}  # they go back when their counts are known
        return top

    def _exists(self, left: Any, right: Any) -> bool:
        if not left or not right:
            return False
        return self.max_token_bytes is None or len(left + right) <= self.max_token_bytes

    def _recount(self, left: Any, right: Any, count: int) -> None:
        record = self.records[left, right]
        self.tally[record.count] -= 1
        self.tally[count] += 1
        record.count = count
        if count == 0:
            del self.records[left, right]


def lay_out(pretokens: Mapping[Any, int], pairs: Pairs) -> list[Any]:
    """Write pre-tokens into cells, and each pair of neighbors in them into its record.

    >>> lay_out({b"ab": 1, b"c": 2}, Pairs(order=Greatest))
    [(), b'a', b'b', (), b'c', ()]
    """
    cells = [NONE]
    for pretoken, weight in pretokens.items():
        before = NONE
        for token in symbols(pretoken):
            pairs.add(before, token, len(cells) - len(before), weight)
            cells += [token] * len(token)  # a symbol such as </w> has a cell for each letter
            before = token
        cells.append(NONE)
    return cells


def merge(cells: list[Any], pairs: Pairs, left: Any, right: Any) -> int:
    """Replace a pair by its token wherever it stands; return how often, weighted.

    Places are listed from left to right, and each pair gets all of its places in one step, namely
    the one that makes the younger of its tokens. Not so with symbols of several letters, where a
    merge may spell one of them; so places are put in order, and a pair may be in the heap twice.

    >>> pairs = Pairs(order=Greatest)
    >>> cells = lay_out({b"aaaaa": 7}, pairs)
    >>> merge(cells, pairs, b"a", b"a"), cells
    (14, [(), b'aa', b'aa', b'aa', b'aa', b'a', ()])
    >>> pairs.best(10)
    [(7, (b'aa', b'aa')), (7, (b'aa', b'a'))]
    """
    token = left + right
    merged = 0
    for place, weight in sorted(pairs.records[left, right].places):
        middle, end = place + len(left), place + len(token)
        if cells[place] != left or cells[middle] != right:
            continue  # one of the two has been merged with another neighbor
        before, after = cells[place - 1], cells[end]
        pairs.remove(before, left, weight)
        pairs.remove(left, right, weight)
        pairs.remove(right, after, weight)
        cells[middle] = NONE  # before the next line, which may write there
        cells[place] = cells[end - 1] = token
        pairs.add(before, token, place - len(before), weight)
        pairs.add(token, after, place, weight)
        merged += weight
    return merged


class Work(NamedTuple):
    """What one step of a training looked at."""

    entries: int  # of the heap, to find the winner and the other candidates
    places: int  # of the winner, those included where it no longer stood


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
    work: list[Work] | None = None,
) -> Training:
    """Learn at most `n_merges` merges from a mapping of pre-tokens to counts above 0.

    All is as in `reference.train`, and so is the result. A list given as `work` gets an item for
    each step.

    >>> work = []
    >>> training = train({b"aaaaa": 1, b" bc": 2}, 3, n_special=1, work=work)
    >>> training.merges, training.ids[b"aa"], [step.corpus_tokens for step in training.steps]
    ([(b'a', b'a'), (b'b', b'c'), (b' ', b'bc')], 257, [9, 7, 5])
    >>> [step.places for step in work]
    [4, 1, 1]
    """
    if tie_break not in ("greatest_bytes", "lowest_ids"):
        raise ValueError(f"tie_break must be 'greatest_bytes' or 'lowest_ids', not {tie_break!r}.")
    if alphabet is None:
        if all(isinstance(pretoken, bytes) for pretoken in pretokens):
            alphabet = byte_alphabet()
        else:
            alphabet = sorted({symbol for pretoken in pretokens for symbol in pretoken})
    ids = {symbol: place for place, symbol in enumerate(alphabet)}

    def ids_of(pair: Pair) -> Pair:
        return ids[pair[0]], ids[pair[1]]

    pairs = Pairs(Greatest if tie_break == "greatest_bytes" else ids_of, max_token_bytes)
    cells = lay_out(pretokens, pairs)
    size = initial_tokens = sum(len(symbols(pretoken)) * n for pretoken, n in pretokens.items())
    steps: list[Step] = []
    stop_reason = "vocab_size"
    while len(steps) < n_merges:
        top = pairs.best(max(top_k, 1))
        if not top:
            stop_reason = "no_pairs"
            break
        best, (left, right) = top[0]
        if best < min_pair_count:
            stop_reason = "min_pair_count"
            break
        n_pairs, n_tied = len(pairs.records), pairs.tally[best]
        if work is not None:
            work.append(Work(pairs.looked_at, len(pairs.records[left, right].places)))
        ids.setdefault(left + right, len(ids) + n_special)
        merged = merge(cells, pairs, left, right)
        size -= merged
        steps.append(
            Step(
                left=left,
                right=right,
                token_id=ids[left + right],
                pair_count=best,
                merged=merged,
                corpus_tokens=size,
                n_pairs=n_pairs,
                n_tied=n_tied,
                candidates=[(*pair, count) for count, pair in top[:top_k]],
            )
        )
    return Training(ids, steps, initial_tokens, stop_reason)
