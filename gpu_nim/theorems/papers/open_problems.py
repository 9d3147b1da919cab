"""Questions that the papers leave open, as far as gpunim answers them; docs/open-problems tells them in full."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np

from gpu_nim.games.inequality import Vector, chocolate
from gpu_nim.games.laws import chocolate_equals_nim, chocolate_first_difference
from gpu_nim.games.nim.positions import nim_sum
from gpu_nim.games.solve import solve
from gpu_nim.theorems.catalogue import Case, compared_cases, statement
from gpu_nim.theorems.check_result import CheckResult
from gpu_nim.theorems.exhaustive import p_positions

_REMARK = "[V] Remark 4.1, which asks for other a"
_EXAMPLE = "[V] Example 3.1, which describes the game"
_LARGEST_A = 128
_SIX = 6  # the largest size of the six-coordinate chocolate that takes a moment
_LARGEST_DENOMINATOR = 8


@statement(
    "chocolate-nim",
    _REMARK,
    "a y <= x + z has Nim's P-positions for no a > 0 but the integers that are 3 mod 4",
    thorough=(1024, 1),
)
@compared_cases(lambda upto: f"a < {_below(upto)} with denominators to {_LARGEST_DENOMINATOR}")
def only_three_mod_four(upto: int) -> Iterator[Case]:
    """For each other a there is a position in which nim-sum 0 and "no option has nim-sum 0" differ; looked at option by option."""
    for a in _rationals(_below(upto)):
        game, position = chocolate(a), chocolate_first_difference(a)
        yield f"whether a = {a} has Nim's P-positions", chocolate_equals_nim(a), position is None
        if position is None:
            yield f"the first difference of a = {a} up to size 15", solve(game, 15).first_difference, None
        else:
            wins = any(nim_sum(option) == 0 for _, _, option in game.moves(position))
            yield f"whether {position} keeps the rule of Nim for a = {a}", (nim_sum(position) == 0) != wins, False


@statement(
    "chocolate-first-difference",
    _REMARK,
    "where a y <= x + z first differs from Nim: at the least y that has no digit of the integer nearest to (a-1)y/2",
    thorough=(512, 5),
)
@compared_cases(lambda upto: f"a < {_below(upto)} with denominators to {_LARGEST_DENOMINATOR} and totals to {upto}")
def first_differences(upto: int) -> Iterator[Case]:
    for a in _rationals(_below(upto)):
        expected = chocolate_first_difference(a)
        if expected is not None and sum(expected) <= upto:
            yield f"the first difference of a = {a}", solve(chocolate(a), sum(expected)).first_difference, expected


@statement(
    "chocolate-integers", _REMARK, "where a y <= x + z first differs from Nim for integers a, in closed form", thorough=(512, 3)
)
@compared_cases(lambda upto: f"a to {_LARGEST_A}, solved where the total is at most {2 * upto}")
def integers(upto: int) -> Iterator[Case]:
    for a in range(1, _LARGEST_A + 1):
        expected = None
        if a % 4 == 1:
            expected = ((a - 1) // 2, 1, (a + 1) // 2)
        elif a % 2 == 0:
            q = (a & -a) - 1
            expected = (a * q // 2 - (q + 1) // 2 + 1, q, a * q // 2 + (q + 1) // 2)
        yield f"the least y of a = {a}", chocolate_first_difference(Fraction(a)), expected
        if expected is not None and sum(expected) <= 2 * upto:
            yield f"the first difference of a = {a}", solve(chocolate(a), sum(expected)).first_difference, expected


@statement(
    "chocolate6-symmetry",
    _EXAMPLE,
    "the P-positions of the six-coordinate chocolate stay the same if all indices are raised by 2, or reflected at 1",
    at_most=_SIX,
    thorough=(12, 5),
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
    thorough=(7, 1),
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
    thorough=(12, 5),
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
    thorough=(112, 6),
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


def _rationals(below: int) -> list[Fraction]:
    return sorted({Fraction(p, r) for r in range(1, _LARGEST_DENOMINATOR + 1) for p in range(1, r * below)})


def _below(upto: int) -> int:
    return 8 + upto // 32


@statement(
    "nim-gasket",
    "[V] section 4, which shows the gasket",
    "P-positions of three piles below 2^m give 3^m points (y, z - x): sums of (0, 0), (2^i, 2^i) or (2^i, -2^i) for each i < m",
    at_most=31,
    thorough=(127, 6),
)
@compared_cases(lambda upto: f"m to {upto.bit_length()}")
def gasket(upto: int) -> Iterator[Case]:
    """Since z = x XOR y, z - x is the sum of 2^i or -2^i over the bits i of y.

    Where bit i of y is 0, x and z have the same bit; where it is 1, one of them has it. The choices of the bits are free, and a
    point is determined by y and the sign of each of its bits, and determines them: 3^m points. Those for m are those for m - 1
    moved by the three vectors of bit m - 1. So, scaled by 2^-m, they approach the figure that is the union of its images under
    three contractions with ratio 1/2, towards (0, 0), (1, 1) and (1, -1): Sierpinski's gasket.
    """
    for m in range(upto.bit_length() + 1):
        seen = {(y, z - x) for x, y, z in p_positions(3, 2**m - 1).tolist()}
        steps = [((0, 0), (2**i, 2**i), (2**i, -(2**i))) for i in range(m)]
        sums = {(sum(step[0] for step in chosen), sum(step[1] for step in chosen)) for chosen in product(*steps)}
        yield f"the points for m = {m}", seen, sums
        yield f"the number of points for m = {m}", len(seen), 3**m
