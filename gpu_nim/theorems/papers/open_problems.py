"""Questions that the papers leave open, as far as gpunim answers them; docs/open-problems tells them in full."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from gpu_nim.games.inequality import Vector, chocolate
from gpu_nim.games.solve import solve
from gpu_nim.theorems.catalogue import Case, compared_cases, statement
from gpu_nim.theorems.exhaustive import p_positions

_LARGEST_A = 64
_LARGEST_DENOMINATOR = 8
_STEPS = 5


def first_difference(a: int) -> Vector | None:
    """The first position, by total and then lexicographically, that is P in just one of a y <= x + z and Nim; None for a = 3 mod 4.

    For a = 1 mod 4 it is ((a-1)/2, 1, (a+1)/2), a position of nim-sum 0 that is N. For even a, with 2^t the largest power of 2 that
    divides it and q = 2^t - 1, it is (aq/2 - (q+1)/2 + 1, q, aq/2 + (q+1)/2), a P-position whose nim-sum is not 0.
    docs/open-problems/chocolates.md has the proofs.

    >>> [first_difference(a) for a in (1, 2, 4, 5, 7)]
    [(0, 1, 1), (1, 1, 2), (5, 3, 8), (2, 1, 3), None]
    """
    if a % 4 == 3:
        return None
    if a % 2:
        return (a - 1) // 2, 1, (a + 1) // 2
    q = (a & -a) - 1
    return a * q // 2 - (q + 1) // 2 + 1, q, a * q // 2 + (q + 1) // 2


@statement(
    "chocolate-first-difference",
    "[V] Remark 4.1, which asks for other a",
    "a y <= x + z has Nim's P-positions just for a = 3 mod 4; where it first differs for other integers a",
)
@compared_cases(lambda upto: f"a to {_LARGEST_A} whose first difference has x, z <= {upto}")
def integers(upto: int) -> Iterator[Case]:
    for a in range(1, _LARGEST_A + 1):
        expected = first_difference(a)
        if expected is not None and max(expected) <= upto:
            found = solve(chocolate(a), sum(expected)).first_difference
            yield f"the first difference of a = {a}", found, expected


@statement(
    "chocolate-fractions",
    "[V] Remark 4.1, which asks for other a",
    "for fractions a with A = ceil(a) = 1 or 2 mod 4, a y <= x + z first differs from Nim where A y <= x + z does, at y = 1",
)
@compared_cases(lambda upto: f"a < {min(upto, 12)} with denominators to {_LARGEST_DENOMINATOR}")
def fractions(upto: int) -> Iterator[Case]:
    """The proofs for 1 and 2 mod 4 look at y = 1 alone, and larger y have larger totals: 2 + ceil(2a)."""
    values = {Fraction(p, r) for r in range(2, _LARGEST_DENOMINATOR + 1) for p in range(1, r * min(upto, 12))}
    for a in sorted(a for a in values if a.denominator > 1 and -(-a // 1) % 4 in (1, 2)):
        expected = first_difference(int(-(-a // 1)))
        assert expected is not None
        yield f"the first difference of a = {a}", solve(chocolate(a), sum(expected)).first_difference, expected


@statement(
    "nim-gasket",
    "[V] section 4, which shows the gasket",
    "P-positions of three piles below 2^m give 3^m points (y, z - x): sums of (0, 0), (2^i, 2^i) or (2^i, -2^i) for each i < m",
)
@compared_cases(lambda upto: f"m to {min(upto.bit_length(), _STEPS)}")
def gasket(upto: int) -> Iterator[Case]:
    """Since z = x XOR y, z - x is the sum of 2^i or -2^i over the bits i of y.

    Where bit i of y is 0, x and z have the same bit; where it is 1, one of them has it. The choices of the bits are free, and a
    point is determined by y and the sign of each of its bits, and determines them: 3^m points. Those for m are those for m - 1
    moved by the three vectors of bit m - 1. So, scaled by 2^-m, they approach the figure that is the union of its images under
    three contractions with ratio 1/2, towards (0, 0), (1, 1) and (1, -1): Sierpinski's gasket.
    """
    for m in range(min(upto.bit_length(), _STEPS) + 1):
        seen = {(y, z - x) for x, y, z in p_positions(3, 2**m - 1).tolist()}
        steps = [((0, 0), (2**i, 2**i), (2**i, -(2**i))) for i in range(m)]
        sums = {(sum(step[0] for step in chosen), sum(step[1] for step in chosen)) for chosen in product(*steps)}
        yield f"the points for m = {m}", seen, sums
        yield f"the number of points for m = {m}", len(seen), 3**m
