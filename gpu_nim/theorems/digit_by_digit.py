"""P-positions indexed by maximum, counted digit by digit: a second method, independent of the closed forms.

Read the k piles and n from their highest binary digit down. A pile is tight while its digits equal those of n, and free once it
is less; free piles take any digit. Each column must have an even number of 1s, and the number of tight piles is the only state
that the lower columns depend on.
"""

from __future__ import annotations

from math import comb


def a(piles: int, n: int) -> int:
    """a_k(n), the number of P-positions of k piles in which no pile is larger than n.

    Takes of the order of k^2 log(n) operations on integers as long as the result.

    >>> [a(3, n) for n in range(8)]
    [1, 4, 7, 16, 19, 28, 43, 64]
    """
    if n < 0:
        return 0
    ways = {piles: 1}
    for bit in range(n.bit_length() - 1, -1, -1):
        following: dict[int, int] = {}
        for tight, count in ways.items():
            free = piles - tight
            if not n >> bit & 1:
                # Tight piles have a 0 here, so the free ones must pair up among themselves.
                following[tight] = following.get(tight, 0) + count * (1 << max(0, free - 1))
                continue
            for still in range(tight + 1):
                choices = (1 << (free - 1)) if free else (still + 1) % 2
                if choices:
                    following[still] = following.get(still, 0) + count * comb(tight, still) * choices
        ways = following
    return sum(ways.values())


def d(piles: int, n: int) -> int:
    """d_k(n) = a_k(n) - a_k(n-1), the number of P-positions of k piles whose largest pile is n.

    >>> [d(3, n) for n in range(8)]
    [1, 3, 3, 9, 3, 9, 15, 21]
    """
    return a(piles, n) - a(piles, n - 1)
