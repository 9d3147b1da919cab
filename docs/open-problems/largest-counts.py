"""How large the counts of four and more piles get: recomputes what largest-counts.md says.

    python docs/open-problems/largest-counts.py

prints a line for each statement, and ends with status 1 if anything is wrong. All comparisons are exact.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise, product
from math import comb, log2
from pathlib import Path
from typing import Any

import numpy as np
from _comparisons import Case, compare
from numpy.typing import NDArray

from gpu_nim import count

#: Of Python integers.
Matrix = NDArray[np.object_]

_DIGITS = 16  # binary digits of the largest n
_RECORDS = 24  # those of the largest record
_PILES = 40  # of what is proved or conjectured for more
_MULTIPLIED = 6  # factors of a product of polynomials
_FACTORS = 5  # digit matrices of a product, and
_APPLIED = 48  # how many are applied, so that ratios come close to an eigenvalue
_POWERS = 64  # of B, before a row is given up
_STEPS = 320  # of a power iteration, whose result
_ONE = 10**100  # is rounded to integers of this sum
_REPEATED = 40  # digits 10
_RISING = (6, 10, 14, 18)
_CERTIFICATES: dict[int, dict[str, Any]] = {
    int(piles): each for piles, each in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}

# What the page says of 4 to 14 piles, of certificates, and of sums.
_RHO = (6, 10, 16, 35.4833, 71.2935, 133.4185, 256, 520.2131, 1043.5535, 2060.6348, 4096)
_EXPONENTS = (2.5850, 3.3219, 4, 5.1491, 6.1557, 7.0598, 8, 9.0230, 10.0273, 11.0089, 12)
_ROWS = [2, 2, 3, 5, 7, 11, 17, 25, 42, 64, 92, 157, 220]
_MARGINS = {23: "1.66e-08", 25: "2.77e-08", 27: "2.87e-07", 29: "2.26e-08"}
_SUMS = {
    3: (1, ((1, 4),)),
    4: (2, ((1, 8), (1, 6))),
    5: (6, ((1, 16), (5, 10))),
    6: (18, ((1, 32), (9, 16), (8, 14))),
}
_AVERAGES = {3: Fraction(1), 4: Fraction(1, 2), 5: Fraction(1, 6), 6: Fraction(1, 18), 7: Fraction(11, 620)}


def values(piles: int) -> list[int]:
    """D_k at the numbers of up to 16 binary digits."""
    return [int(value) for value in count("D", range(2**_DIGITS), piles=piles)]


@cache
def digit_matrices(piles: int, summed: bool = False) -> tuple[Matrix, Matrix]:
    """M_0 and M_1 of D_k, or of A_k."""
    weights = [comb(piles, 2 * i) for i in range(piles // 2 + 1)]
    if summed:
        weights = [x + y for x, y in zip([*weights, 0], [0, *weights], strict=True)]
    of_power, rows = dict(enumerate(weights)), range(len(weights) - 1)
    zero, one = (np.array([[of_power.get(2 * j + b - i, 0) for j in rows] for i in rows], object) for b in (0, 1))
    return zero, one


def block(piles: int, summed: bool = False) -> Matrix:
    """B of D_k, or of A_k."""
    return digit_matrices(piles, summed)[1][:-1, :-1]


def left_eigenvector(matrix: Matrix) -> Matrix:
    """The row l with l B = rho l, as integers of a sum near 10^100."""
    left: Any = np.array([1] * len(matrix), object)
    for _ in range(_STEPS):
        left = left @ matrix
    found: Matrix = left * _ONE // sum(left)
    return found


def eigenvalue_bounds(factors: Sequence[Matrix], steps: int) -> tuple[Fraction, Fraction]:
    """The least and the largest ratio of entries of P x and x, P the product of the factors and x = P^steps (1, ..., 1)."""
    after: Any = np.array([1] * len(factors[0]), object)
    for _ in range(steps + 1):
        column = after
        for factor in reversed(factors):
            after = factor @ after
    ratios = [Fraction(above, below) for above, below in zip(after, column, strict=True)]
    return min(ratios), max(ratios)


@cache
def rho(piles: int) -> Fraction:
    """An upper bound of the largest eigenvalue of B, very close to it."""
    return eigenvalue_bounds([block(piles)], _POWERS)[1]


def records() -> Iterator[Case]:
    """D_4 and D_5 have their records at 0 and at the numbers with at most one binary 0."""
    for k, e in ((4, 1), (5, 5)):
        c = comb(k, 2)
        stated = [(0, 1)]
        for m in range(1, _RECORDS + 1):
            stated += [(2**m - 1 - 2**j, (c**m - c**j * e ** (m - j)) // (c - e)) for j in range(m - 2, -1, -1)]
            stated += [(2**m - 1, c**m)]
        known = values(k)
        before = accumulate(known, max, initial=0)
        found = [(n, value) for n, (value, most) in enumerate(zip(known, before, strict=False)) if value > most]
        yield f"the records of D_{k} to {_DIGITS} digits", found, [each for each in stated if each[0] < 2**_DIGITS]
        yield f"the records of D_{k} to {_RECORDS} digits", count("D", range(2**_RECORDS), piles=k, reduce="records"), stated


def smallest() -> Iterator[Case]:
    """D_4(n) >= (25/72) 3^m for n of m binary digits; D_4 at 10, 1010, ... in binary."""
    known = values(4)
    for m in range(1, _DIGITS + 1):
        yield f"whether D_4(n) >= (25/72) 3^{m} for n of {m} digits", 72 * min(known[2 ** (m - 1) : 2**m]) >= 25 * 3**m, True
    for j in range(_REPEATED + 1):
        yield f"D_4 at {j} times 10", 5 * count("D", 2 * (4**j - 1) // 3, piles=4), 3 * 9**j + 2 * 4**j


def growth_bounds() -> Iterator[Case]:
    """rho, the exponents, and the bounds that hold for any number of piles."""
    for k, stated, exponent in zip(range(4, 15), _RHO, _EXPONENTS, strict=True):
        largest = 2 ** (k - 2) + abs(_real_power(k)) // 2
        yield f"rho for k = {k}", round(float(rho(k)), 4), stated
        yield f"its exponent for k = {k}", round(log2(rho(k)), 4), exponent
        rows = [int(sum(row)) for matrix in digit_matrices(k) for row in matrix]
        yield f"the largest sum of a row for k = {k}", max(rows), largest
        yield f"whether rho lies between 2^{k - 2} and that sum", 2 ** (k - 2) <= rho(k) <= largest, True


def _real_power(k: int) -> int:
    """The real part of (1 + i)^k: C(k,0) - C(k,2) + C(k,4) - ..."""
    return sum((-1) ** i * comb(k, 2 * i) for i in range(k // 2 + 1))


def at_most_powers(piles: Sequence[int]) -> Iterator[Case]:
    """D_k(n) <= rho^m for n < 2^m; D_k(2^m - 1) is the first entry of B^m."""
    for k in piles:
        known = values(k)
        first = np.eye(len(block(k)), dtype=object)[0]
        for m in range(_DIGITS + 1):
            yield f"whether D_{k}(n) <= rho^{m} for n < 2^{m}", max(known[: 2**m]) <= rho(k) ** m, True
            yield f"D_{k}(2^{m} - 1) by the block", first[0], known[2**m - 1]
            first = first @ block(k)


def middle() -> Iterator[Case]:
    """For k = 0 mod 4 the product of m factors W(x^(2^j)), multiplied out, has its largest coefficient in the middle."""
    for k in range(4, _PILES + 1, 4):
        coefficients = np.array([1], object)
        power = np.eye(k // 2 - 1, dtype=object)
        for m in range(1, _MULTIPLIED + 1):
            spread = np.zeros(k // 2 * 2 ** (m - 1) + 1, object)
            spread[:: 2 ** (m - 1)] = [comb(k, 2 * i) for i in range(k // 2 + 1)]
            coefficients = np.convolve(coefficients, spread)
            power = power @ block(k)
            most, entry = max(coefficients), power[k // 4 - 1, k // 4 - 1]
            found = most, coefficients[len(coefficients) // 2]
            yield f"the largest coefficient of {m} factors for k = {k}, and the middle one", found, (entry, entry)
            yield f"whether it is at most rho^{m}", most <= rho(k) ** m, True


def certificates() -> Iterator[Case]:
    """Each row of a list, times M_0 or M_1, has no entry above rho times a mean of rows of the list, for odd k.

    Rows are named by what makes them: "L011" is L M_0 M_1 M_1 / rho^3. They are held as the X with l X / rho^digits the row; l is
    not rational, but l X >= 0 follows from B^m X >= 0 for any m, since l = l B^m / rho^m.
    """
    yield "the numbers of piles", [*_CERTIFICATES], [*range(5, 30, 2)]
    yield "the numbers of rows", [len(each["rows"]) for each in _CERTIFICATES.values()], _ROWS
    for k, certificate in _CERTIFICATES.items():
        rows = certificate["rows"]
        yield f"whether the rows for k = {k} have L and R", {*rows} >= {"L", "R"}, True
        yield f"whether R M_1 is L M_0 for k = {k}", (_row(k, "R1") == _row(k, "L0")).all(), True
        for row in rows:
            first = _lifted(k, "L", len(row) - 1)[:, :1] - _row(k, row)[:, :1]
            yield f"whether {row} begins with at most what L does, for k = {k}", _never_negative(k, first), True
        for result in _products(rows):
            yield f"whether {result} is at most a mean, for k = {k}", _is_at_most(k, result, certificate["means"][result]), True
    for k, stated in _MARGINS.items():
        yield f"the least margin for k = {k}", f"{_margin(k):.2e}", stated


def _products(rows: Sequence[str]) -> Iterator[str]:
    """The products of rows with digit matrices that no row of the list is, L M_1 = rho L, R M_0 = rho R and R M_1 = L M_0 known."""
    made = {"L0" if row + digit == "R1" else row + digit for row in rows for digit in "01"}
    yield from sorted(made - {"L1", "R0", *rows})


def _is_at_most(piles: int, result: str, weights: Mapping[str, int]) -> bool:
    mean = sum(weight * _lifted(piles, row, len(result) - 1) for row, weight in weights.items())
    return _never_negative(piles, mean - sum(weights.values()) * _row(piles, result))


def _never_negative(piles: int, matrix: Matrix) -> bool:
    """Whether l times the matrix is shown to have no negative entry."""
    for _ in range(_POWERS):
        if (matrix >= 0).all():
            return True
        matrix = block(piles) @ matrix
    return False


def _lifted(piles: int, row: str, digits: int) -> Matrix:
    """X for which l X / rho^digits is the row."""
    found = _row(piles, row)
    for _ in range(digits - len(row) + 1):
        found = block(piles) @ found
    return found


def _row(piles: int, row: str) -> Matrix:
    """X for which l X / rho^(number of digits) is the row."""
    matrices = digit_matrices(piles)
    size = len(matrices[0])
    first = row[0] == "R"
    found = np.array([[int(j == i + first) for j in range(size)] for i in range(size - 1)], object)
    for digit in row[1:]:
        found = found @ matrices[int(digit)]
    return found


def _margin(piles: int) -> float:
    """The least quotient of an entry of a mean and that of the product below it, less 1."""
    left = left_eigenvector(block(piles))
    quotients = []
    for result, weights in _CERTIFICATES[piles]["means"].items():
        mean = left @ sum(weight * _lifted(piles, row, len(result) - 1) for row, weight in weights.items())
        made = left @ _row(piles, result) * sum(weights.values())
        quotients += [Fraction(above, below) for above, below in zip(mean, made, strict=True) if below]
    return float(min(quotients) - 1)


def eigenvalues() -> Iterator[Case]:
    """No product of m digit matrices is known that has an eigenvalue above rho^m."""
    for k in range(31, _PILES + 1, 2):
        for m in range(1, _FACTORS + 1):
            for word in product((0, 1), repeat=m):
                if word == min(word[i:] + word[:i] for i in range(m)):  # others have the same eigenvalues
                    least = eigenvalue_bounds([digit_matrices(k)[digit] for digit in word], -(-_APPLIED // m) - 1)[0]
                    yield f"whether the eigenvalues of M_{word} for k = {k} are up to rho^{m}", least <= rho(k) ** m, True


def rising() -> Iterator[Case]:
    """For k = 2 mod 4 D_k rises at every step, by at most theta^m below 2^m; D_6(2^m n) in closed form."""
    for k in _RISING:
        weights = [comb(k, 2 * i) for i in range(k // 2 + 1)]
        quotient = [sum((-1) ** (i - j) * weights[j] for j in range(i + 1)) for i in range(len(weights))]
        yield f"the remainder of W for k = {k}", quotient.pop(), 0
        theta = max(sum(quotient[::2]), sum(quotient[1::2]))
        yield f"whether theta < 2^{k - 2}", theta < 2 ** (k - 2), True
        steps = [after - before for before, after in pairwise(values(k))]
        for m in range(1, _DIGITS + 1):
            below = steps[2 ** (m - 1) - 1 : 2**m - 1]
            yield f"whether D_{k} rises below 2^{m}, by up to theta^{m}", min(below) > 0 and max(below) <= theta**m, True
    sixes = [0, 0, *values(6)]  # from -2 on
    for n in range(1, 2**4):
        earlier, before, here = sixes[n : n + 3]
        for m in range(_DIGITS + 1):
            stated = 26 * here + 13 * (before + earlier) * (16**m - 1) + 15 * (before - earlier) * (14**m - 1)
            yield f"D_6(2^{m} * {n}) times 26", 26 * count("D", n << m, piles=6), stated


def sums() -> Iterator[Case]:
    """A_k(2^m - 1) for three to six piles, and what D_k has on the average."""
    for k, (divisor, terms) in _SUMS.items():
        for m in (*range(_DIGITS + 1), 64, 100):
            yield f"A_{k}(2^{m} - 1)", divisor * count("A", 2**m - 1, piles=k), sum(factor * base**m for factor, base in terms)
    for k, stated in _AVERAGES.items():
        left = left_eigenvector(block(k, summed=True))
        yield f"the average of D_{k}", Fraction(left[0], sum(left)).limit_denominator(10**6), stated


if __name__ == "__main__":
    proved = sorted({*range(4, _PILES + 1, 2), *_CERTIFICATES})
    sys.exit(
        compare(
            {
                "records of D_4 and D_5": records(),
                "smallest values of D_4": smallest(),
                "rho for 4 to 14 piles": growth_bounds(),
                f"D_k(n) <= rho^m for n < 2^m, even k to {_PILES} and odd k to 29": at_most_powers(proved),
                "the largest coefficient in the middle for k = 0 mod 4": middle(),
                "certificates for odd k from 5 to 29": certificates(),
                f"conjecture: D_k(n) <= rho^m for odd k from 31 to {_PILES}": at_most_powers(range(31, _PILES + 1, 2)),
                f"conjecture: eigenvalues of products of digit matrices for odd k from 31 to {_PILES}": eigenvalues(),
                "D_6, D_10, ... rise": rising(),
                "sums of D_3 to D_6, averages to D_7": sums(),
            }
        )
    )
