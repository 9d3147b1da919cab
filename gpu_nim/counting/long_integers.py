"""Long integers by python-flint, and by Python's own where kernels are tested without it, and exact linear algebra by FLINT.

Python multiplies n digits in n^1.58 steps, FLINT in about n log n: from a million digits on, seconds in place of minutes.
Results are the same, and no integer of FLINT leaves this package.

Whether columns are independent is decided modulo a prime of 61 bits: what is independent there is independent over the rationals,
since a minor that is not 0 modulo p is not 0. A dependence is then solved exactly over the rationals, on every row: a prime that
divides a minor by accident costs time and never gives a wrong result.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import lcm
from typing import Any, TypeAlias

#: An integer of Python, or of FLINT where it is long and FLINT is installed.
Long: TypeAlias = Any

_LONG = 1 << 14  # bits of a result from which on FLINT is faster
_PRIME = (1 << 61) - 1


@cache
def flint() -> Any:
    """The module flint, or None where it is not installed."""
    try:
        import flint
    except ModuleNotFoundError:
        return None
    return flint


def long(number: int, power: int = 1 << 30) -> Long:
    """The number in the type of integers that is fastest for raising it to that power, by default for long work.

    >>> int(long(3, 40) ** 40) == 3**40
    True
    """
    if flint() is None or 0 < number.bit_length() * power < _LONG:
        return number
    return flint().fmpz(number)


def first_dependence(columns: Sequence[Sequence[int]]) -> tuple[Fraction, ...] | None:
    """Return the first column that is a combination of those before it, as its coefficients, one for each of these.

    Args:
        columns: integers, equally many in each.

    Returns:
        The coefficients, unique, exact on every row; None where the columns are independent over the rationals.

    >>> first_dependence([[1, 2, 3], [1, 1, 1], [3, 5, 7]])
    (Fraction(2, 1), Fraction(1, 1))
    >>> first_dependence([[1, 2, 3], [1, 1, 2]]) is None
    True
    """
    for prime in (_PRIME, None):  # over the rationals where the prime divides a minor by accident
        index = _first_dependent(columns, prime)
        if index == len(columns):
            return None
        solved, scale, rank = _matrix(columns[: index + 1]).rref()
        if rank == index:
            return tuple(Fraction(int(solved[row, index]), int(scale)) for row in range(index))
    raise AssertionError("the rank over the rationals is that of the columns before the first dependent one")


def common_denominator(numbers: Sequence[Fraction]) -> int:
    """The least positive integer that makes integers of all of them.

    >>> common_denominator([Fraction(1, 2), Fraction(2, 3)])
    6
    """
    return lcm(*(number.denominator for number in numbers))


def _matrix(columns: Sequence[Sequence[int]], prime: int | None = None) -> Any:
    """The matrix of columns, over the integers or modulo a prime."""
    rows, size = len(columns[0]), len(columns)
    flat = [value for row in zip(*columns, strict=True) for value in row]
    return flint().fmpz_mat(rows, size, flat) if prime is None else flint().nmod_mat(rows, size, [x % prime for x in flat], prime)


def _first_dependent(columns: Sequence[Sequence[int]], prime: int | None) -> int:
    """The index of the first column that is a combination of those before it, as for `_matrix`; their number where none is."""
    reduced, *_, rank = _matrix(columns, prime).rref()
    return next((i for i in range(len(columns)) if i >= rank or int(reduced[i, i]) == 0), len(columns))
