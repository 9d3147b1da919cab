"""Long integers: products and powers, by python-flint, and by Python's own where kernels are tested without it.

Python multiplies n digits in n^1.58 steps, FLINT in about n log n: from a million digits on, seconds in place of minutes.
Results are the same, and no integer of FLINT leaves this package.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeAlias

#: An integer of Python, or of FLINT where it is long and FLINT is installed.
Long: TypeAlias = Any

_LONG = 1 << 14  # bits of a result from which on FLINT is faster
_MANY = 48  # coefficients of a product, beyond which it is


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


def convolve(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """The product of two polynomials, by their coefficients, one at least of each.

    >>> convolve((1, 2, 3), (1, 1))
    [1, 3, 5, 3]
    """
    length = len(left) + len(right) - 1
    if length > _MANY and flint() is not None:
        product = flint().fmpz_poly(list(left)) * flint().fmpz_poly(list(right))
        return [int(product[i]) for i in range(length)]
    result = [0] * length
    for i, x in enumerate(left):
        if x:
            for j, y in enumerate(right, i):
                result[j] += x * y
    return result


def power_sums(terms: Sequence[tuple[int, int]], top: int) -> list[Long]:
    """The sums of weight base^i over terms (base, weight), for i = 0 to `top`.

    >>> [int(x) for x in power_sums([(3, 1), (-2, 10)], 3)]
    [11, -17, 49, -53]
    """
    sums = [long(0)] * (top + 1)
    for base, weight in terms:
        power, step = long(weight), long(base)
        for i in range(top + 1):
            sums[i] += power
            power *= step
    return sums
