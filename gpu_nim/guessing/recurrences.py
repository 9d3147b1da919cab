"""Linear recurrences with constant coefficients: rational generating functions.

f(n + L) is a combination of f(n), ..., f(n + L - 1) for all n if and only if F = sum f(n) x^n is a quotient P/Q with deg P < L and
deg Q <= L.  Two quotients with L and R that agree on L + R terms are equal, since their difference has a numerator of degree
below L + R (Massey's lemma, 1969).  So a recurrence of order L that N terms obey is the only one of order up to N - L.

The least L is found as the first column of the Hankel matrix f(i + j) that depends on those before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

from gpu_nim.counting.long_integers import flint
from gpu_nim.guessing.formula import LEAST, Formula, combination, polynomial, shifted
from gpu_nim.guessing.linear_algebra import common_denominator, first_dependence

MAX_ORDER = 256
_MAX_PERIOD = 12  # of a quasi-polynomial that is written out
_SHOWN = 12  # coefficients up to which a formula is written out


@dataclass(frozen=True)
class Recurrence(Formula):
    """A linear recurrence that holds for all of some terms.

    Args:
        coefficients: those of f(n), ..., f(n + L - 1) in f(n + L).
        terms: the terms that obey it.

    >>> fibonacci = Recurrence((Fraction(1), Fraction(1)), (0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89))
    >>> fibonacci.rows[0], fibonacci.confirmed, fibonacci.term(100)
    (('recurrence', 'f(n+2) = f(n+1) + f(n)'), 8, 354224848179261915075)
    """

    coefficients: tuple[Fraction, ...]
    terms: tuple[int, ...]

    @property
    def order(self) -> int:
        """L, which counts initial terms that the generating function's numerator holds as well."""
        return len(self.coefficients)

    def described(self) -> dict[str, Any]:
        """The recurrence, the generating function and, if it is one, the polynomial or quasi-polynomial.

        It is confirmed by the terms after the first 2L: L coefficients and L initial terms are chosen.
        """
        numerator, denominator = self.generating_function
        most = len(self.terms) - self.order
        described: dict[str, Any] = {
            "title": f"linear recurrence of order {self.order}",
            "rows": [],
            "fitted": 2 * self.order,
            "confirmed": len(self.terms) - 2 * self.order,
            "certainty": f"no other sequence with a linear recurrence of order up to {most:,} has these terms",
        }
        facts: dict[str, Any] = {
            "order": self.order,
            "coefficients": [str(each) for each in self.coefficients],
            "initial": [str(each) for each in self.terms[: self.order]],
            "numerator": [str(each) for each in numerator],
            "denominator": [str(each) for each in denominator],
        }
        rows = described["rows"]
        if self.order <= _SHOWN:
            terms = [(each, shifted(i)) for i, each in enumerate(self.coefficients)][::-1]
            rows.append(("recurrence", f"{shifted(self.order)} = {combination(terms)}"))
            above, below = (polynomial(each, "x", rising=True) for each in (numerator, denominator))
            above = f"({above})" if " " in above and below != "1" else above
            rows.append(("sum f(n) x^n", above if below == "1" else f"{above} / ({below})"))
        for residue, coefficients in enumerate(self.polynomials):
            where = "f(n)" if len(self.polynomials) == 1 else f"f(n), n = {residue} mod {len(self.polynomials)}"
            rows.append((where, polynomial(coefficients)))
        if self.quasi_polynomial is not None:
            period, degree, first = self.quasi_polynomial
            described["title"] = _title(period, degree, first)
            described["period"] = max(period, first)
            if (period, first) == (1, 0):  # its coefficients give the recurrence's
                described |= {"fitted": self.order, "confirmed": len(self.terms) - self.order}
            facts |= {"period": period, "degree": degree, "from": first}
            facts["polynomials"] = [[str(each) for each in coefficients] for coefficients in self.polynomials]
        return {**described, "facts": facts}

    def term(self, n: int) -> int | Fraction:
        """Return f(n): x^n modulo the characteristic polynomial, applied to the initial terms.

        Args:
            n: the index, 0 for the first term.
        """
        if not self.order:
            return 0
        characteristic = flint().fmpq_poly([*(_rational(-each) for each in self.coefficients), 1])
        power, base = flint().fmpq_poly([1]), flint().fmpq_poly([0, 1]) % characteristic
        for digit in f"{n:b}":
            power = power * power % characteristic
            if digit == "1":
                power = power * base % characteristic
        weights = [Fraction(int(each.p), int(each.q)) for each in power.coeffs()]
        value = sum((weight * term for weight, term in zip(weights, self.terms, strict=False)), Fraction(0))
        return int(value) if value.denominator == 1 else value

    @cached_property
    def generating_function(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Numerator and denominator, coprime, by their integer coefficients from the constant one on."""
        denominator = flint().fmpz_poly(list(self._denominator))
        numerator = flint().fmpz_poly(list(self.terms[: self.order])) * denominator
        above, below = (tuple(int(each) for each in p.coeffs()) for p in (numerator.truncate(self.order), denominator))
        return above, below

    @property
    def _denominator(self) -> tuple[int, ...]:
        scale = common_denominator(self.coefficients)
        return (scale, *(-int(scale * each) for each in self.coefficients[::-1]))

    @cached_property
    def quasi_polynomial(self) -> tuple[int, int, int] | None:
        """Period and degree, and the n from which on f is a polynomial on each residue class; degree -1 where f ends in 0s.

        None where the denominator has another factor than cyclotomic polynomials.
        """
        period, degree = 1, -1
        denominator = flint().fmpz_poly(list(self.generating_function[1]))
        content, factors = denominator.factor()
        if abs(int(content)) != 1:
            return None
        for factor, multiplicity in factors:
            order = max(int(factor.is_cyclotomic()), int((-factor).is_cyclotomic()))
            if not order:
                return None
            period, degree = lcm(period, order), max(degree, multiplicity - 1)
        return period, degree, self.order - int(denominator.degree())

    @cached_property
    def polynomials(self) -> tuple[tuple[Fraction, ...], ...]:
        """The polynomials in n of each residue class modulo the period, where there are few; else none."""
        if self.quasi_polynomial is None or self.quasi_polynomial[0] > _MAX_PERIOD:
            return ()
        period, degree, first = self.quasi_polynomial
        return tuple(self._through(first + (residue - first) % period, period, degree) for residue in range(period))

    def _through(self, first: int, step: int, degree: int) -> tuple[Fraction, ...]:
        """The polynomial through f(first), f(first + step), ..., of that degree."""
        size = degree + 1
        points = [first + step * i for i in range(size)]
        if not size:
            return ()
        powers = flint().fmpq_mat(size, size, [point**i for point in points for i in range(size)])
        values = flint().fmpq_mat(size, 1, [_rational(Fraction(self.term(point))) for point in points])
        return tuple(Fraction(int(each.p), int(each.q)) for each in powers.solve(values).entries())

    def holds_for(self, terms: Sequence[int]) -> bool:
        """Whether the coefficients from x^L on of F times the denominator are 0."""
        product = flint().fmpz_poly(list(terms)) * flint().fmpz_poly(list(self._denominator))
        return not any(int(product[n]) for n in range(self.order, len(terms)))


def _title(period: int, degree: int, first: int) -> str:
    """What a polynomial, a quasi-polynomial, a period or an end in 0s is called."""
    after = f", from n = {first} on" if first else ""
    if degree < 0:
        return f"0 from n = {first} on"
    if period == 1:
        return f"polynomial of degree {degree}{after}"
    return f"period {period}{after}" if degree == 0 else f"quasi-polynomial of period {period} and degree {degree}{after}"


def max_order(terms: Sequence[int]) -> int:
    """The largest order that is tested: two terms more than 2L are needed."""
    return min(MAX_ORDER, (len(terms) - LEAST) // 2)


def find_recurrence(terms: Sequence[int]) -> Recurrence | None:
    """Return the linear recurrence of least order that all terms obey and at least two confirm; None if there is none.

    Args:
        terms: integers.

    >>> find_recurrence([n * n for n in range(12)]).title
    'polynomial of degree 2'
    """
    order = max_order(terms)
    if order < 0:
        return None
    coefficients = first_dependence(_hankel(terms, order))
    formula = None if coefficients is None else Recurrence(coefficients, tuple(terms))
    return formula if formula is not None and formula.holds_for(terms) else None


def _hankel(terms: Sequence[int], order: int) -> list[list[int]]:
    # If a dependence of L <= order columns holds on these rows and fails later, at n, the least order is at least n + 1 - L,
    # by the argument at the top of the module, and so above `order`.
    rows = min(len(terms), 2 * order + 32) - order
    return [list(terms[j : j + rows]) for j in range(order + 1)]


def _rational(number: Fraction) -> Any:
    return flint().fmpq(number.numerator, number.denominator)
