"""Formulas as lines of text, and the rows that describe a law."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

Number = int | Fraction


def combination(terms: Iterable[tuple[Number, str]]) -> str:
    """Return a sum of multiples of named things; a name of "" is the number 1.

    >>> combination([(3, "f(n+1)"), (-1, "f(n)"), (Fraction(1, 2), ""), (0, "x")])
    '3 f(n+1) - f(n) + 1/2'
    """
    text = ""
    for number, name in terms:
        if not number:
            continue
        size = str(abs(number)) if not name or abs(number) != 1 else ""
        sign = ("-" if number < 0 else "") if not text else " - " if number < 0 else " + "
        text += sign + " ".join(part for part in (size, name) if part)
    return text or "0"


def polynomial(coefficients: Sequence[Number], variable: str = "n", *, rising: bool = False) -> str:
    """Return a polynomial, by its coefficients from the constant one on, with the highest power first unless `rising`.

    >>> polynomial([1, 0, Fraction(1, 2)]), polynomial([1, -1], "x", rising=True)
    ('1/2 n^2 + 1', '1 - x')
    """
    powers = [(number, power(variable, i)) for i, number in enumerate(coefficients)]
    return combination(powers if rising else powers[::-1])


def power(variable: str, exponent: int) -> str:
    """Return a power of a variable: "" for the exponent 0."""
    return "" if exponent == 0 else variable if exponent == 1 else f"{variable}^{exponent}"


def shifted(shift: int, scale: int = 1, name: str = "f") -> str:
    """Return f at a multiple of n and a shift.

    >>> shifted(0), shifted(3, 4), shifted(-1)
    ('f(n)', 'f(4n+3)', 'f(n-1)')
    """
    factor = "" if scale == 1 else str(scale)
    return f"{name}({factor}n{shift:+d})" if shift else f"{name}({factor}n)"
