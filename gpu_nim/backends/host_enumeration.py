"""P-positions of Nim by enumerating all tuples of piles, on the host with NumPy."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_TUPLES = 1 << 15  # tuples whose sums, nim-sums and maxima are computed once and reused


class Tuples(NamedTuple):
    """Tuples of some piles, first pile slowest: the total, the nim-sum and the largest pile of each."""

    totals: NDArray[np.int64]
    nim_sums: NDArray[np.int64]
    largest: NDArray[np.int64]


def tuples(first: int, stop: int, piles: int, limit: int) -> Tuples:
    """Return the tuples numbered `first` to `stop` - 1 of those of so many piles up to a limit.

    >>> tuples(4, 6, 2, 2).largest.tolist()  # (1, 1), (1, 2)
    [1, 2]
    """
    number = np.arange(first, stop)
    found = Tuples(*np.zeros((3, stop - first), np.int64))
    for _ in range(piles):
        number, pile = np.divmod(number, limit + 1)
        for field, combine in zip(found, (np.add, np.bitwise_xor, np.maximum), strict=True):
            combine(field, pile, out=field)
    return found


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
    side, free = limit + 1, piles - 1
    laid = min(1, max(0, free - 1))  # of the last piles, whose tuples are the same for every first entry
    while laid < free - 1 and side ** (laid + 1) <= _TUPLES >> 3:
        laid += 1
    tails, heads = tuples(0, side**laid, laid, limit), side ** max(0, free - laid - 1)
    some = max(1, _TUPLES // len(tails.totals))
    begin, end = (first * heads, stop * heads) if free else (0, 1)

    def work(start: int) -> NDArray[np.int64]:
        return histogram(tails, tuples(start, min(start + some, end), free - laid, limit), limit)

    from concurrent.futures import ThreadPoolExecutor  # here, for its start-up time

    with ThreadPoolExecutor(threads) as pool:
        counts: NDArray[np.int64] = sum(pool.map(work, range(begin, end, some)), np.zeros(limit + 1, np.int64))
    return counts
