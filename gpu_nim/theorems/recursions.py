"""P-positions of Nim indexed by total, by the paper's recursions as they are printed.

They check the digit matrices of `gpu_nim.counting.digit_matrices`, which are faster. The recursion on n visits at most a few dozen
indices at each of its log2(n) levels; both functions collect them level by level and then work back up, so that n may have
thousands of digits.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb


def D(piles: int, n: int) -> int:
    """D_k(n), the number of P-positions of k piles with total 2n [NF, Theorem 29; Lemma 28 for n = 0].

    >>> [D(4, n) for n in range(9)]
    [1, 6, 7, 36, 13, 42, 43, 216, 49]
    """

    def coefficients(odd: int) -> list[int]:
        # Odd indices take C(k, 2), C(k, 6), ..., even ones C(k, 0), C(k, 4), ...
        return [comb(piles, ones) for ones in range(2 * odd, piles + 1, 4)]

    return _recur(n, coefficients)


def A(piles: int, n: int) -> int:
    """A_k(n), the number of P-positions of k piles with total at most 2n [NF, Theorem 30].

    >>> [A(4, n) for n in range(9)]
    [1, 7, 14, 50, 63, 105, 148, 364, 413]
    """

    def coefficients(odd: int) -> list[int]:
        # Odd indices pair C(k, 4i) with C(k, 4i+2), even ones C(k, 4i-2) with C(k, 4i).
        first = 0 if odd else -2
        return [(comb(piles, m) if m >= 0 else 0) + comb(piles, m + 2) for m in range(first, piles + 1, 4)]

    return _recur(n, coefficients)


def _recur(n: int, coefficients: Callable[[int], list[int]]) -> int:
    """f(n), where f(2m + odd) = sum_i coefficients(odd)[i] f(m - i), f(0) = 1 and f = 0 below."""
    weights = coefficients(0), coefficients(1)
    levels = [{n}]
    while max(levels[-1]) > 0:
        met = {m // 2 - i for m in levels[-1] if m > 0 for i in range(len(weights[m % 2]))}
        # A level may be left empty below index 0; f(0) = 1 is where the recursion ends.
        levels.append({m for m in met if m >= 0} or {0})
    values: dict[int, int] = {}
    for level in reversed(levels):
        values = {m: 1 if m == 0 else sum(w * values.get(m // 2 - i, 0) for i, w in enumerate(weights[m % 2])) for m in level}
    return values[n]
