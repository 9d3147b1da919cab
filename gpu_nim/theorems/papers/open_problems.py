"""Questions that the papers leave open, as far as gpunim answers them; docs/open-problems tells them in full."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import ceil, floor

import numpy as np

from gpu_nim.games.chocolates import breaking_position, equals_nim, first_difference
from gpu_nim.games.inequality import Vector, chocolate
from gpu_nim.games.nim.positions import nim_sum
from gpu_nim.games.solve import solve
from gpu_nim.theorems.catalogue import REACH, Case, compared_cases, statement
from gpu_nim.theorems.check_result import CheckResult
from gpu_nim.theorems.exhaustive import p_positions

_REMARK = "[V] Remark 4.1, which asks for other a"
_EXAMPLE = "[V] Example 3.1, which describes the game"
_LARGEST_A = 128
_SIX = 6  # the largest size of the six-coordinate chocolate that takes a moment
_LARGEST_DENOMINATOR = 8
_STEPS = 5


@statement(
    "chocolate-nim",
    _REMARK,
    "a y <= x + z has Nim's P-positions for no a > 0 but the integers that are 3 mod 4",
)
@compared_cases(lambda upto: f"a < {_below(upto)} with denominators to {_LARGEST_DENOMINATOR}")
def only_three_mod_four(upto: int) -> Iterator[Case]:
    """For each other a, nim-sum 0 and "no option has nim-sum 0" differ in the position that the proof gives, option by option."""
    for a in _rationals(_below(upto)):
        game, position = chocolate(a), breaking_position(a)
        yield f"whether a = {a} has Nim's P-positions up to size 15", equals_nim(a), solve(game, 15).equals_nim and position is None
        if position is not None:
            wins = any(nim_sum(option) == 0 for _, _, option in game.moves(position))
            yield f"whether {position} keeps the rule of Nim for a = {a}", (nim_sum(position) == 0) != wins, False


@statement(
    "chocolate-first-difference",
    _REMARK,
    "where a y <= x + z first differs from Nim for integers a that are not 3 mod 4",
)
@compared_cases(lambda upto: f"a to {_LARGEST_A} whose first difference has x, z <= {upto}")
def integers(upto: int) -> Iterator[Case]:
    for a in range(1, _LARGEST_A + 1):
        expected = first_difference(Fraction(a))
        if expected is not None and max(expected) <= upto:
            found = solve(chocolate(a), sum(expected)).first_difference
            yield f"the first difference of a = {a}", found, expected


@statement(
    "chocolate-fractions",
    _REMARK,
    "for fractions a with A = ceil(a) = 1 or 2 mod 4, a y <= x + z first differs from Nim where A y <= x + z does, at y = 1",
)
@compared_cases(lambda upto: f"a < {min(upto, 12)} with denominators to {_LARGEST_DENOMINATOR}")
def fractions(upto: int) -> Iterator[Case]:
    """The proofs for 1 and 2 mod 4 look at y = 1 alone, and larger y have larger totals: 2 + ceil(2a)."""
    for a in _rationals(min(upto, 12)):
        if a.denominator > 1 and ceil(a) % 4 in (1, 2):
            expected = first_difference(Fraction(ceil(a)))
            assert expected is not None
            yield f"the first difference of a = {a}", solve(chocolate(a), sum(expected)).first_difference, expected


@statement(
    "chocolate-columns",
    "gpunim",
    "if a y <= x + z has Nim's P-positions, each z has one v with v = floor((z + (v XOR z)) / a)",
)
@compared_cases(lambda upto: f"a = 3, 7, 11 to z = {upto}; a < 8 with denominators to {_LARGEST_DENOMINATOR} and another z <= 7")
def columns(upto: int) -> Iterator[Case]:
    """Each z has one for a = 3 mod 4; where one has none or two, positions of coordinates up to 8 (z + 1) differ from Nim."""
    for equal in (3, 7, 11):
        yield f"the numbers of v for a = {equal}", {_landings(Fraction(equal), z) for z in range(upto + 1)}, {1}
    for a in _rationals(8):
        other = next((z for z in range(8) if a > 1 and _landings(a, z) != 1), None)
        if other is not None:
            yield f"whether a = {a} has Nim's P-positions", solve(chocolate(a), 8 * (other + 1)).equals_nim, False


@statement(
    "chocolate-2-to-4",
    _REMARK,
    "where a y <= x + z first differs from Nim for 2 < a < 3 and 3 < a < 4",
    conjecture=True,
)
@compared_cases(lambda upto: f"denominators to {_denominator(upto)}")
def between_two_and_four(upto: int) -> Iterator[Case]:
    for a in _rationals(4, _denominator(upto)):
        if a > 2 and a.denominator > 1:
            expected = _first_difference_between_two_and_four(a)
            yield f"the first difference of a = {a}", solve(chocolate(a), sum(expected)).first_difference, expected


@statement(
    "chocolate6-symmetry",
    _EXAMPLE,
    "the P-positions of the six-coordinate chocolate stay the same if all indices are raised by 2, or reflected at 1",
    at_most=_SIX,
)
def six_symmetries(size: int) -> CheckResult:
    vectors = _six_p_positions(size)
    images = [{tuple(vector[i] for i in order) for vector in vectors} for order in ((2, 3, 4, 5, 0, 1), (0, 5, 4, 3, 2, 1))]
    wrong = next((sorted(image - vectors)[0] for image in images if image != vectors), None)
    return CheckResult(f"{len(vectors):,} P-positions to size {size}", wrong)


@statement(
    "chocolate6-heaps",
    _EXAMPLE,
    "with x1 = x4 = 0 the six-coordinate chocolate is Nim with heaps of x2 + x3 and x5 + x6, and so for the other opposite pairs",
    at_most=4,
)
@compared_cases(lambda size: f"Grundy values of positions to size {size}")
def six_with_opposite_zeros(size: int) -> Iterator[Case]:
    grundy = solve("chocolate6", size, grundy=True).grundy
    assert grundy is not None
    for position in np.argwhere(grundy >= 0).tolist():
        for i in range(3):
            if position[i] == position[i + 3] == 0:
                heaps = position[i + 1] + position[i + 2], position[i - 2] + position[i - 1]
                yield f"the Grundy value of {tuple(position)}", int(grundy[tuple(position)]), nim_sum(heaps)


@statement(
    "chocolate6-zeros",
    _EXAMPLE,
    "the P-positions with three zeros or more are the origin and those with two of x2, x4, x6 equal to 1",
    at_most=_SIX,
)
@compared_cases(lambda size: f"to size {size}")
def six_with_three_zeros(size: int) -> Iterator[Case]:
    found = {vector for vector in _six_p_positions(size) if vector.count(0) >= 3}
    yield "the P-positions", found, {(0,) * 6, (0, 1, 0, 1, 0, 0), (0, 1, 0, 0, 0, 1), (0, 0, 0, 1, 0, 1)}


@statement(
    "chocolate6-growth",
    _EXAMPLE,
    "from size s = 3 on, the six-coordinate chocolate has between (s+1)^5/4 and 3(s+1)^5/10 P-positions",
    conjecture=True,
)
@compared_cases(lambda upto: f"sizes 3 to {_six_size(upto)}")
def six_growth(upto: int) -> Iterator[Case]:
    size = _six_size(upto)
    largest = np.array(sorted(map(max, _six_p_positions(size))))
    for s in range(3, size + 1):
        share = Fraction(int(np.searchsorted(largest, s, side="right")), (s + 1) ** 5)
        yield f"whether {share} of (s+1)^5 is between 1/4 and 3/10 for s = {s}", Fraction(1, 4) < share < Fraction(3, 10), True


def _six_size(upto: int) -> int:
    """Size 6 takes a moment, and size 20, at 176, minutes."""
    return min(20, max(3, upto // 8 - 2))


def _six_p_positions(size: int) -> set[Vector]:
    return {tuple(vector) for vector in solve("chocolate6", size).p_positions.tolist()}


def _first_difference_between_two_and_four(a: Fraction) -> Vector:
    n = 1
    if a < 3:
        while 2**n * (3 - a) < 1:
            n += 1
        return 2**n, 2**n, 2 ** (n + 1)
    while (2**n - 1) * (a - 3) <= 1:
        n += 1
    if (2**n - 1) * (a - 3) <= 2:
        return 2**n, 2**n - 1, 2 ** (n + 1) - 1
    return 2**n + 1, 2**n - 1, 2 ** (n + 1)


def _rationals(below: int, denominator: int = _LARGEST_DENOMINATOR) -> list[Fraction]:
    return sorted({Fraction(p, r) for r in range(1, denominator + 1) for p in range(1, r * below)})


def _below(upto: int) -> int:
    return 8 + upto // 32


def _denominator(upto: int) -> int:
    return min(_LARGEST_DENOMINATOR, upto) if upto <= REACH else upto // 8


def _landings(a: Fraction, z: int) -> int:
    """The number of v with v = floor((z + (v XOR z)) / a), for a > 1; larger v are too large, as z + (v XOR z) <= 2z + v."""
    return sum(v == (z + (v ^ z)) // a for v in range(floor(2 * z / (a - 1)) + 1))


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
