"""Chocolates a y <= x + z beside Nim, for any a > 0: which have its P-positions, and where the others first differ.

docs/open-problems/chocolates.md has the proofs.
"""

from fractions import Fraction
from itertools import count
from math import ceil

from gpu_nim.games.inequality import Vector
from gpu_nim.games.laws import BesideNim


def equals_nim(a: Fraction) -> bool:
    """Whether the P-positions of a y <= x + z are its positions of nim-sum 0: for the integers that are 3 mod 4 alone.

    >>> [a for a in range(1, 16) if equals_nim(Fraction(a))], equals_nim(Fraction(7, 2))
    ([3, 7, 11, 15], False)
    """
    return a.denominator == 1 and a % 4 == 3


def first_difference(a: Fraction) -> Vector | None:
    """The first position, by total and then lexicographically, that is P in just one of a y <= x + z and Nim; None for a = 3 mod 4.

    Let r be the integer nearest to (a - 1) y / 2, the smaller of two, and y >= 1 the least with r AND y = 0. It is (r, y, r + y),
    an N-position of nim-sum 0, where r is not below (a - 1) y / 2, else (r + 1, y, r + y + 1), a P-position of another nim-sum.

    >>> [first_difference(Fraction(a)) for a in (1, 2, 4, 5, 7, 8)]
    [(0, 1, 1), (1, 1, 2), (5, 3, 8), (2, 1, 3), None, (25, 7, 32)]
    >>> first_difference(Fraction(5, 2)), first_difference(Fraction(7, 2))
    ((2, 2, 4), (4, 3, 7))
    """
    if equals_nim(a):
        return None
    for y in count(1):
        middle = (a - 1) * y / 2
        r = ceil(middle - Fraction(1, 2))
        if r & y == 0:
            return (r, y, r + y) if r >= middle else (r + 1, y, r + y + 1)
    raise AssertionError


def beside_nim(a: Fraction) -> BesideNim:
    """The theorem that says whether the P-positions of a y <= x + z are Nim's, and where they first differ.

    >>> beside_nim(Fraction(8))
    BesideNim(statement='chocolate-first-difference', equals_nim=False, first_difference=(25, 7, 32))
    """
    first = first_difference(a)
    return BesideNim("v-remark-4.1" if first is None else "chocolate-first-difference", first is None, first)
