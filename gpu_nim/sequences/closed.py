"""P-positions of Nim indexed by maximum, in closed form.

With b = floor(log2 n) and n = 2^b - 1 + c, 1 <= c <= 2^b [NF, section 3.2] (b is one less than the number of binary digits
of n, although the paper calls it that number), a P-position of k piles whose largest pile is at most n has an even number
2i of piles that are at least 2^b. Choose them, let each take any of c values and all but one of the others any of 2^b:

    g(b, c) = sum_(2i < k) C(k, 2i) 2^(b(k - 2i - 1)) c^(2i) = ((2^b + c)^k + (2^b - c)^k - [k even] 2 c^k) / 2^(b+1).

For odd k that is all [NF, Theorem 15]; for even k all k piles may be at least 2^b, and taking 2^b from each leaves one of
the a_k(c - 1) positions with piles at most c - 1 [NF, Theorem 17].
"""

from __future__ import annotations

from functools import cache
from math import comb

_FEW_PILES = 32


def a(piles: int, n: int) -> int:
    """a_k(n), the number of P-positions of k piles in which no pile is larger than n [NF, Theorems 12, 13, 15 and 17].

    >>> [a(4, n) for n in range(8)]
    [1, 8, 21, 64, 89, 168, 301, 512]
    """
    if n < 0:
        return 0
    total = 0
    while n > 0:
        b = n.bit_length() - 1
        c = n + 1 - (1 << b)
        total += term(piles, b, c)
        if piles % 2:
            return total
        n = c - 1
    return total + 1


def d(piles: int, n: int) -> int:
    """d_k(n), the number of P-positions of k piles whose largest pile is n [NF, Theorems 11, 16 and 18, Corollary 14].

    >>> [d(5, n) for n in range(8)]
    [1, 15, 45, 195, 165, 555, 1125, 1995]
    """
    if n < 0:
        return 0
    total = 0
    while n > 0:
        b = n.bit_length() - 1
        c = n + 1 - (1 << b)
        total += term(piles, b, c) - term(piles, b, c - 1)
        if piles % 2:
            return total
        n = c - 1
    return total + 1


def term(piles: int, b: int, c: int) -> int:
    """g(b, c) of the module's docstring.

    >>> term(3, 2, 1)
    19
    """
    if piles < _FEW_PILES:
        # Even k sums such terms over all 1s of n: with thousands of them the powers of long integers would be felt.
        total, square = 0, c * c
        for ones in range((piles - 1) // 2 * 2, -1, -2):
            total = total * square + (comb(piles, ones) << b * (piles - ones - 1))
        return total
    high = 1 << b
    numerator: int = (high + c) ** piles + (high - c) ** piles
    if piles % 2 == 0:
        numerator -= 2 * c**piles
    return numerator >> (b + 1)


def sum_of_a(piles: int, stop: int) -> int:
    """a_k(0) + ... + a_k(stop - 1), by power sums over each stretch between powers of two.

    >>> sum_of_a(3, 5)
    47
    """
    if stop <= 0:
        return 0
    even = piles % 2 == 0
    total = 1
    for b in range(stop.bit_length()):
        c = min(stop - (1 << b), 1 << b)
        if c <= 0:
            break
        # At even k the stretch also holds a(0), ..., a(c-1): all that is summed so far when the stretch is whole.
        below = (total if c == 1 << b else sum_of_a(piles, c)) if even else 0
        total += _sum_of_terms(piles, b, c) + below
    return total


def _sum_of_terms(piles: int, b: int, count: int) -> int:
    """g(b, 1) + ... + g(b, count)."""
    high = 1 << b
    numerator = (
        power_sum(piles, high + count) - power_sum(piles, high)
        + power_sum(piles, high - 1) - power_sum(piles, high - count - 1)
    )  # fmt: skip
    if piles % 2 == 0:
        numerator -= 2 * power_sum(piles, count)
    return numerator >> (b + 1)


def power_sum(power: int, last: int) -> int:
    """1^power + ... + last^power for power >= 1; 0 for last < 1.

    x^p = sum_j S(p, j) x(x-1)...(x-j+1) with Stirling numbers S of the second kind, and falling factorials sum to falling
    factorials.

    >>> power_sum(3, 4)
    100
    """
    total, falling = 0, last + 1
    if last < 1:
        return 0
    for j, stirling in enumerate(_stirling(power)):
        total += stirling * falling // (j + 1)
        falling *= last - j
        if not falling:
            break
    return total


@cache
def _stirling(power: int) -> tuple[int, ...]:
    row = [1]
    for _ in range(power):
        row = [j * x + y for j, (x, y) in enumerate(zip([*row, 0], [0, *row], strict=True))]
    return tuple(row)
