"""P-positions of Nim by enumerating all tuples of piles, on the host with NumPy."""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_TUPLES = 1 << 15  # tuples whose sums, nim-sums and maxima are computed once and reused


class Tuples(NamedTuple):
    """Tuples of some piles, first pile slowest: the total, the nim-sum and the largest pile of each."""

    totals: NDArray[np.int64]
    nim_sums: NDArray[np.int64]
    largest: NDArray[np.int64]

    def slice(self, first: int, stop: int) -> "Tuples":
        """Return the tuples numbered `first` to `stop - 1`."""
        return Tuples(*(field[first:stop] for field in self))

    def beside(self, others: "Tuples") -> "Tuples":
        """Return every tuple of these followed by every one of the others."""
        return Tuples(
            np.add.outer(self.totals, others.totals).ravel(),
            np.bitwise_xor.outer(self.nim_sums, others.nim_sums).ravel(),
            np.maximum.outer(self.largest, others.largest).ravel(),
        )


def _single(sizes: Sequence[int]) -> Tuples:
    """Tuples of one pile, which has each of these sizes in turn."""
    pile = np.array(sizes, np.int64)
    return Tuples(pile, pile, pile)


def _split(piles: int, limit: int) -> tuple[int, Tuples]:
    """Tabulate as many of the k - 1 free piles as fill a cache; return how many remain for the loop, and the table."""
    laid, tuples = 0, _single([0])
    while laid < piles - 1 and (laid == 0 or len(tuples.totals) * (limit + 1) <= _TUPLES):
        laid, tuples = laid + 1, _single(range(limit + 1)).beside(tuples)
    return piles - 1 - laid, tuples


def _heads(lead: int, others: int, limit: int) -> Iterator[Tuples]:
    """Yield every tuple of 1 + others piles that begins with `lead`, those that differ in the last pile together."""
    last = [_single(range(limit + 1))] * (others > 0)
    for middle in product(range(limit + 1), repeat=max(0, others - 1)):
        yield reduce(Tuples.beside, [*(_single([size]) for size in (lead, *middle)), *last])


def totals(tails: Tuples, heads: Tuples, limit: int) -> NDArray[np.int64]:
    """Return how many P-positions have each total 2n, n <= limit: heads and tails are their free piles."""
    sums = np.bitwise_xor.outer(heads.nim_sums, tails.nim_sums)
    sums += tails.totals
    sums += heads.totals[:, None]
    counts = np.bincount(sums.ravel(), minlength=2 * limit + 2)
    # Totals of P-positions are even: an odd one would be a defect here, and must not be dropped by the stride.
    assert not counts[1::2].any()
    return counts[: 2 * limit + 1 : 2]


def maxima(tails: Tuples, heads: Tuples, limit: int) -> NDArray[np.int64]:
    """Return how many P-positions have each largest pile n <= limit: heads and tails are their free piles."""
    largest = np.bitwise_xor.outer(heads.nim_sums, tails.nim_sums)
    np.maximum(largest, tails.largest, out=largest)
    np.maximum(largest, heads.largest[:, None], out=largest)
    return np.bincount(largest.ravel(), minlength=limit + 1)[: limit + 1]


def tried(
    piles: int, limit: int, first: int, stop: int, histogram: Callable[[Tuples, Tuples, int], NDArray[np.int64]], threads: int
) -> NDArray[np.int64]:
    """Return the histogram, shape (limit + 1,), of the P-positions that (k-1)-tuples give, whose last pile is their nim-sum.

    Args:
        piles: k.
        limit: the largest entry of a tuple.
        first: the least first entry.
        stop: every first entry is below this.
        histogram: `totals` or `maxima`.
        threads: how many threads share the work.
    """
    heads, tails = _split(piles, limit)
    if heads == 0:  # one layout holds all tuples, first entry slowest
        span = max(1, (limit + 1) ** (piles - 2))
        part = tails.slice(first * span, stop * span) if piles > 1 else tails
        return histogram(part, _single([0]), limit)
    rows = max(1, _TUPLES // len(tails.totals))

    def work(lead: int) -> NDArray[np.int64]:
        counts = np.zeros(limit + 1, np.int64)
        for some in _heads(lead, heads - 1, limit):
            for at in range(0, len(some.totals), rows):
                counts += histogram(tails, some.slice(at, at + rows), limit)
        return counts

    from concurrent.futures import ThreadPoolExecutor  # here, for its start-up time

    with ThreadPoolExecutor(threads) as pool:
        counts: NDArray[np.int64] = sum(pool.map(work, range(first, stop)), np.zeros(limit + 1, np.int64))
    return counts
