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
_LONG = 32  # digits of n, for each pile, from which on joined sums are quicker than one after the other


def a(piles: int, n: int) -> int:
    """a_k(n), the number of P-positions of k piles in which no pile is larger than n [NF, Theorems 12, 13, 15 and 17].

    >>> [a(4, n) for n in range(8)]
    [1, 8, 21, 64, 89, 168, 301, 512]
    """
    if n <= 0:
        return int(n == 0)
    b = n.bit_length() - 1
    if piles % 2:
        return term(piles, b, n + 1 - (1 << b))
    if b > _LONG * piles:
        return 1 + sum(_summed_over_ones(piles, n, b + 1))
    total = 1
    while n > 0:
        b = n.bit_length() - 1
        n -= 1 << b
        total += term(piles, b, n + 1)
    return total


def d(piles: int, n: int) -> int:
    """d_k(n), the number of P-positions of k piles whose largest pile is n [NF, Theorems 11, 16 and 18, Corollary 14].

    >>> [d(5, n) for n in range(8)]
    [1, 15, 45, 195, 165, 555, 1125, 1995]
    """
    return a(piles, n) - a(piles, n - 1)


def term(piles: int, b: int, c: int) -> int:
    """g(b, c) of the module's docstring.

    >>> term(3, 2, 1)
    19
    """
    if piles < _FEW_PILES:
        # Even k sums such terms over all 1s of n, and powers of long integers take longer than this.
        total, square = 0, c * c
        for ones in range((piles - 1) // 2 * 2, -1, -2):
            total = total * square + (comb(piles, ones) << b * (piles - ones - 1))
        return total
    high = 1 << b
    numerator: int = (high + c) ** piles + (high - c) ** piles
    if piles % 2 == 0:
        numerator -= 2 * c**piles
    return numerator >> (b + 1)


def _summed_over_ones(piles: int, digits: int, length: int) -> list[int]:
    """The sum of g over the 1s of a string of `length` binary digits, for even k, as a polynomial in what stands below it.

    Below the string let there be q digits, of value v - 1, and X = 2^q. Then c = (digits below the 1) X + v, and the sum is
    homogeneous in X and v: entry j is the coefficient of X^(k-1-j) v^j. Halves of a string are joined by a shift of v, so that
    only the few joins of long halves meet long integers, and not every 1.
    """
    if length == 1:
        return [comb(piles, j) * digits if j % 2 == 0 else 0 for j in range(piles - 1)]
    half = length // 2
    low = digits & ((1 << half) - 1)
    joined = [x << half * (piles - 1 - j) for j, x in enumerate(_summed_over_ones(piles, digits >> half, length - half))]
    for i in range(piles - 2):
        for j in range(piles - 3, i - 1, -1):
            joined[j] += low * joined[j + 1]
    return [x + y for x, y in zip(joined, _summed_over_ones(piles, low, half), strict=True)]


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
