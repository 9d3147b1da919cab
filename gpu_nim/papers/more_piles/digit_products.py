"""Bounds on the products of the digit matrices of D_k, exact: certificates that no product grows faster than powers of one of them.

M_0 and M_1 are the digit matrices of D_k, of dimension d = floor(k/2), and s(n) = (D_k(n), ..., D_k(n-d+1)) the states (see
`gpu_nim.counting.digit_matrices`). The block B is M_1 without its last row and column, which is also M_0 without its first ones.
With l the positive row for which l B = rho l, the rows L = (l, 0) and R = (0, l) satisfy L M_1 = rho L and R M_0 = rho R, and
L M_0 = R M_1.

A certificate lists rows: L, R and some products of L with digit matrices, each divided by as many rho. Each of them times each M_b
is to be at most rho times a mean of rows of the list. Since no s(n) has a negative entry, the largest product of a row of the list
and s(2n + b) is then at most rho times that with s(n).

l is not rational, but all of this is exact: l X >= 0 follows from B^m X >= 0 for any m, since l = l B^m / rho^m.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.counting.digit_matrices import by_total

#: Of Python integers.
Matrix = NDArray[np.object_]

_POWERS = 64  # of B, before a row is given up


@dataclass(frozen=True)
class Certificate:
    """Rows, named by what makes them: "L011" is L M_0 M_1 M_1 / rho^3.

    Attributes:
        rows: the rows of the list.
        means: for each product of a row with a digit matrix that is not in the list, the weights of rows of the list whose mean it
            does not exceed.
    """

    rows: list[str]
    means: Mapping[str, Mapping[str, int]]


_CERTIFICATES = {
    int(piles): Certificate(**fields)
    for piles, fields in tomllib.loads(Path(__file__).with_name("certificates.toml").read_text(encoding="utf-8")).items()
}

#: The numbers of piles that have a certificate.
CERTIFIED = tuple(_CERTIFICATES)


def failures(piles: int) -> list[str]:
    """Return what a certificate claims and is not so: none means that D_k(n) <= rho^m for all n < 2^m.

    >>> failures(7)
    []
    """
    certificate = _CERTIFICATES[piles]
    wrong = []
    for row in certificate.rows:
        if not _never_negative(piles, _lifted(piles, "L", len(row) - 1)[:, :1] - _row(piles, row)[:, :1]):
            wrong.append(f"{row} begins with more than L")
        for digit in "01":
            product = row + digit
            if product in ("L1", "R0"):  # rho times the row
                continue
            if product == "R1":
                product = "L0"
                if (_row(piles, "R1") != _row(piles, "L0")).any():
                    wrong.append("R M_1 is not L M_0")
            if product not in certificate.rows and not _is_at_most(piles, product, certificate.means[product]):
                wrong.append(f"{product} is more than the mean")
    return wrong


def _is_at_most(piles: int, product: str, weights: Mapping[str, int]) -> bool:
    digits = len(product) - 1
    mean = sum(weight * _lifted(piles, row, digits) for row, weight in weights.items())
    return _never_negative(piles, mean - sum(weights.values()) * _row(piles, product))


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


@cache
def digit_matrices(piles: int) -> tuple[Matrix, Matrix]:
    """Return M_0 and M_1 of D_k.

    >>> digit_matrices(4)[1].tolist()
    [[6, 0], [1, 1]]
    """
    product = by_total(piles)
    size = product.dimension
    made = [[[product.weight(2 * j + b - i) for j in range(size)] for i in range(size)] for b in (0, 1)]
    return np.array(made[0], object), np.array(made[1], object)


def block(piles: int) -> Matrix:
    """Return B, for 4 piles or more.

    >>> block(7).tolist()
    [[21, 7], [1, 35]]
    """
    return digit_matrices(piles)[1][:-1, :-1]


def root_bounds(piles: int, steps: int = 64) -> tuple[Fraction, Fraction]:
    """Return rational bounds of rho, the largest eigenvalue of B.

    >>> [round(float(bound), 9) for bound in root_bounds(7)]
    [35.483314774, 35.483314774]
    >>> root_bounds(10)
    (Fraction(256, 1), Fraction(256, 1))
    """
    return eigenvalue_bounds([block(piles)], steps)


def eigenvalue_bounds(factors: Sequence[Matrix], steps: int) -> tuple[Fraction, Fraction]:
    """Return the least and the largest ratio of entries of P x and x, P the product of the factors and x = P^steps (1, ..., 1)."""
    after: Any = np.array([1] * len(factors[0]), object)
    for _ in range(steps + 1):
        column = after
        for factor in reversed(factors):
            after = factor @ after
    ratios = [Fraction(above, below) for above, below in zip(after, column, strict=True)]
    return min(ratios), max(ratios)
