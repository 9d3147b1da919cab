"""Long integers: products, powers and decimal digits, by python-flint where it is installed and Python's own where it is not.

Python multiplies n digits in n^1.58 steps, FLINT in about n log n: from a million digits on, seconds in place of minutes.
Results are the same, and no integer of FLINT leaves this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import MAX_EMAX, MAX_PREC, Context, Decimal
from functools import cache
from typing import Any, TypeAlias

Long: TypeAlias = Any
"""An integer of Python, or of FLINT where it is long and FLINT is installed."""

_LONG = 1 << 14  # bits of a result from which on FLINT is faster
_SHORT_TEXT = 4000  # bits that Python writes as quickly as anyone, and without a limit


@cache
def flint() -> Any:
    """The module flint, or None where it is not installed."""
    try:
        import flint
    except ImportError:
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


def flint_product(left: Sequence[int], right: Sequence[int]) -> list[int] | None:
    """The product of two polynomials, by their coefficients, or None where FLINT is not installed or not faster.

    >>> flint_product((1, 2, 3), (1, 1)) in (None, [1, 3, 5, 3])
    True
    """
    if flint() is None or not left or not right:
        return None
    product = flint().fmpz_poly(list(left)) * flint().fmpz_poly(list(right))
    coefficients = [int(x) for x in product.coeffs()]
    return coefficients + [0] * (len(left) + len(right) - 1 - len(coefficients))


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


def text(number: int) -> str:
    """The decimal digits of an integer of any length, without Python's limit on it.

    >>> text(-(10**20)), len(text(7**40000))
    ('-100000000000000000000', 33804)
    """
    if number < 0:
        return f"-{text(-number)}"
    if number.bit_length() < _SHORT_TEXT:
        return str(number)
    if flint() is not None:
        return str(flint().fmpz(number))
    # Halves, combined in decimal, whose long products are fast.
    context = Context(prec=MAX_PREC, Emax=MAX_EMAX)
    powers: dict[int, Decimal] = {}

    def power(bits: int) -> Decimal:
        if bits not in powers:
            half = bits // 2
            powers[bits] = Decimal(1 << bits) if bits < _SHORT_TEXT else context.multiply(power(half), power(bits - half))
        return powers[bits]

    def written(part: int, bits: int) -> Decimal:
        if bits < _SHORT_TEXT:
            return Decimal(part)
        half = bits // 2
        high, low = part >> half, part & ((1 << half) - 1)
        return context.fma(written(high, bits - half), power(half), written(low, half))

    return str(written(number, number.bit_length()))
