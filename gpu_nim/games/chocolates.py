"""Chocolates a y <= x + z beside Nim, for any a > 0: which have its P-positions, and where the others differ.

docs/open-problems/chocolates.md has the proofs. A position *breaks* the rule of Nim where "its nim-sum is 0" is not the same as "no
option has nim-sum 0". Where P-positions first differ from the positions of nim-sum 0, by total, the rule is broken; and
where it is broken, they differ at that total or before.
"""

from fractions import Fraction
from itertools import count
from math import ceil, floor

from gpu_nim.games.inequality import Vector
from gpu_nim.games.laws import BesideNim


def equals_nim(a: Fraction) -> bool:
    """Whether the P-positions of a y <= x + z are its positions of nim-sum 0: for the integers that are 3 mod 4 alone.

    >>> [a for a in range(1, 16) if equals_nim(Fraction(a))], equals_nim(Fraction(7, 2))
    ([3, 7, 11, 15], False)
    """
    return a.denominator == 1 and a % 4 == 3


def first_difference(a: Fraction) -> Vector | None:
    """The first position, by total and then lexicographically, that is P in just one of a y <= x + z and Nim.

    With A = ceil(a) it is ((A-1)/2, 1, (A+1)/2) for A = 1 mod 4, of nim-sum 0, and (A/2, 1, A/2 + 1) for A = 2 mod 4. For even a,
    with 2^t the largest power of 2 that divides it and q = 2^t - 1, it is (aq/2 - (q+1)/2 + 1, q, aq/2 + (q+1)/2). None for
    the other a, where there is no difference, or no formula is known.

    >>> [first_difference(Fraction(a)) for a in (1, 2, 4, 5, 7)]
    [(0, 1, 1), (1, 1, 2), (5, 3, 8), (2, 1, 3), None]
    >>> first_difference(Fraction(9, 2)), first_difference(Fraction(7, 2))
    ((2, 1, 3), None)
    """
    above = ceil(a)
    if above % 4 == 1:
        return (above - 1) // 2, 1, (above + 1) // 2
    if above % 4 == 2:
        return above // 2, 1, above // 2 + 1
    if above % 4 == 3 or a.denominator > 1:
        return None
    q = (above & -above) - 1
    return above * q // 2 - (q + 1) // 2 + 1, q, above * q // 2 + (q + 1) // 2


def beside_nim(a: Fraction) -> BesideNim:
    """The theorem that says whether the P-positions of a y <= x + z are Nim's, and where they first differ.

    >>> beside_nim(Fraction(8))
    BesideNim(statement='chocolate-first-difference', equals_nim=False, first_difference=(25, 7, 32))
    """
    first = first_difference(a)
    if first is not None:
        return BesideNim("chocolate-first-difference" if a.denominator == 1 else "chocolate-fractions", False, first)
    return BesideNim("v-remark-4.1" if equals_nim(a) else "chocolate-nim", equals_nim(a))


def breaking_position(a: Fraction) -> Vector | None:
    """A position that breaks the rule of Nim in a y <= x + z; None where none does.

    >>> [breaking_position(Fraction(*a)) for a in ((5, 2), (7, 2), (4, 1), (3, 1))]
    [(2, 2, 4), (7, 3, 4), (5, 3, 8), None]
    """
    if equals_nim(a):
        return None
    first = first_difference(a)
    if first is not None:
        return first
    if ceil(a) % 4 == 0:
        return _by_columns(a)
    half, m = ceil(a) // 2, 1
    while m * (ceil(a) - a) < 1:
        m *= 2
    return half * m, m, (half + 1) * m


def _by_columns(a: Fraction) -> Vector:
    """A position that breaks the rule, for a fraction a with ceil(a) = 0 mod 4: by a column z without a landing, or with two."""
    alpha = (a - 1) / 2
    n, i, k, delta = _near_multiple(alpha)
    if delta >= 0:
        z = i << n
        return z ^ k, k, z
    m = 0
    while 1 + delta < Fraction(1, 2 << m):
        m += 1
    z = (i << n + m) + (1 << m)
    y = floor(z / alpha) + 1
    x = 1
    while x <= max(y, z) or x < a * y:
        x *= 2
    return x, y, z


def _near_multiple(alpha: Fraction) -> tuple[int, int, int, Fraction]:
    """N >= 1, 1 <= i <= alpha and an odd k < 2^n for which delta = 2^n i - alpha k, the last, is between -1 and 1/2."""
    for n in count(1):
        for i in range(1, floor(alpha) + 1):
            below = floor((i << n) / alpha)
            for k in (below, below + 1):
                delta = (i << n) - alpha * k
                if k % 2 and k < 1 << n and -1 < delta < Fraction(1, 2):
                    return n, i, k, delta
    raise AssertionError
