"""Linear recurrences with constant coefficients: rational generating functions.

f(n + L) is a combination of f(n), ..., f(n + L - 1) for all n if and only if F = sum f(n) x^n is a quotient P/Q with deg P < L and
deg Q <= L.  Two quotients with L and R that agree on L + R terms are equal, since their difference has a numerator of degree
below L + R (Massey's lemma, 1969).  So a recurrence of order L that N terms obey is the only one of order up to N - L.

The least L is found as the first column of the Hankel matrix f(i + j) that depends on those before it.  A law may begin late: that
of the last half of the terms, a quarter, and so on, is continued backwards for as long as it holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import lcm
from typing import Any

from gpu_nim.counting.long_integers import common_denominator, first_dependence, flint
from gpu_nim.guessing.formula import LEAST, USUAL, Formula, combination, polynomial, shifted

MAX_ORDER = 256
_MAX_PERIOD = 12  # of a quasi-polynomial that is written out
_SHOWN = 12  # coefficients up to which a formula is written out
_OFTEN = 64  # times as long as from one equation that failed to the next, a law that begins late must hold
_PARTS = range(2, 17)  # of the terms, the first of which may show a law that later ones break; bases of digits
_SHORTEST = 32  # of terms whose last half is looked at alone


@dataclass(frozen=True, repr=False)
class Recurrence(Formula):
    """A linear recurrence that holds for all of some terms, or for all but the first.

    Args:
        coefficients: those of f(n), ..., f(n + d - 1) in f(n + d), the first of them not 0.
        terms: the terms.
        failed: the n at which they do not obey it, ascending.

    >>> fibonacci = Recurrence((Fraction(1), Fraction(1)), (0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89))
    >>> fibonacci.rows[0], fibonacci.confirmed, fibonacci.term(100)
    (('recurrence', 'f(n+2) = f(n+1) + f(n)'), 8, 354224848179261915075)
    """

    coefficients: tuple[Fraction, ...]
    terms: tuple[int, ...]
    failed: tuple[int, ...] = ()

    @property
    def start(self) -> int:
        """The n from which on the terms obey it."""
        return self.failed[-1] + 1 if self.failed else 0

    @property
    def order(self) -> int:
        """The order d, without the terms before the start."""
        return len(self.coefficients)

    @property
    def held(self) -> int:
        """How many equations hold."""
        return len(self.terms) - self.start - self.order

    def described(self) -> dict[str, Any]:
        """The recurrence, the generating function and, if it is one, the polynomial or quasi-polynomial.

        It is confirmed by the terms after the first 2d from the start on: d coefficients and d initial terms are chosen.
        """
        numerator, denominator = self.generating_function
        late = f", from n = {self.start} on" if self.start else ""
        described: dict[str, Any] = {
            "title": f"linear recurrence of order {self.order}{late}",
            "rows": [],
            "chosen": 2 * self.order,
            "confirmed": self.held - self.order,
            "certainty": f"no other sequence with a linear recurrence of order up to {self.held:,}{late} has these terms",
        }
        initial = self.terms[: self.start + self.order]
        listed = {"coefficients": self.coefficients, "initial": initial, "numerator": numerator, "denominator": denominator}
        facts: dict[str, Any] = {name: [str(each) for each in values] for name, values in listed.items()}
        facts |= {"order": self.order, "from": self.start}
        rows = described["rows"]
        if self.order <= _SHOWN:
            terms = [(each, shifted(i)) for i, each in enumerate(self.coefficients)][::-1]
            rows.append(("recurrence", f"{shifted(self.order)} = {combination(terms)}"))
        if self.start + self.order <= _SHOWN:
            above, below = (polynomial(each, "x", rising=True) for each in (numerator, denominator))
            above = f"({above})" if " " in above and below != "1" else above
            rows.append(("sum f(n) x^n", above if below == "1" else f"{above} / ({below})"))
        for residue, coefficients in enumerate(self.polynomials):
            where = "f(n)" if len(self.polynomials) == 1 else f"f(n), n = {residue} mod {len(self.polynomials)}"
            rows.append((where, polynomial(coefficients)))
        period = 0
        if self.quasi_polynomial is not None:
            period, degree = self.quasi_polynomial
            described["title"] = _title(period, degree) + late
            if period == 1:  # its coefficients give the recurrence's
                described |= {"chosen": self.order, "confirmed": self.held}
            facts |= {"period": period, "degree": degree, "polynomials": [[str(c) for c in each] for each in self.polynomials]}
        return {**described, "fitted": self.start + described["chosen"], "least": self._least(period), "facts": facts}

    def term(self, n: int) -> int | Fraction:
        """Return f(n): x^n modulo the characteristic polynomial, applied to the initial terms.

        Args:
            n: the index, 0 for the first term.
        """
        if n < self.start or not self.order:
            return self.terms[n] if n < self.start else 0
        characteristic = flint().fmpq_poly([*(_rational(-each) for each in self.coefficients), 1])
        power, base = flint().fmpq_poly([1]), flint().fmpq_poly([0, 1]) % characteristic
        for digit in f"{n - self.start:b}":
            power = power * power % characteristic
            if digit == "1":
                power = power * base % characteristic
        weights = [Fraction(int(each.p), int(each.q)) for each in power.coeffs()]
        value = sum((weight * term for weight, term in zip(weights, self.terms[self.start :], strict=False)), Fraction(0))
        return int(value) if value.denominator == 1 else value

    @cached_property
    def generating_function(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Numerator and denominator, coprime, by their integer coefficients from the constant one on."""
        first = self.start + self.order
        numerator = _times(self.terms[:first], self.coefficients).truncate(first)
        above, below = (tuple(int(each) for each in p.coeffs()) for p in (numerator, _times([1], self.coefficients)))
        return above, below

    @cached_property
    def quasi_polynomial(self) -> tuple[int, int] | None:
        """Period and degree of f, from the start on a polynomial on each residue class; degree -1 where it is 0.

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
        return period, degree

    @cached_property
    def polynomials(self) -> tuple[tuple[Fraction, ...], ...]:
        """The polynomials in n of each residue class modulo the period, where there are few; else none."""
        if self.quasi_polynomial is None or self.quasi_polynomial[0] > _MAX_PERIOD:
            return ()
        period, degree = self.quasi_polynomial
        return tuple(self._through(self.start + (residue - self.start) % period, period, degree) for residue in range(period))

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
        """Whether terms obey the recurrence from the start on."""
        return max(failures(terms, self.coefficients), default=-1) < self.start

    def _least(self, period: int) -> int:
        """How many equations must confirm a law with this period, or 0 for none.

        Functions of the digits in base b, such as their sum, have the period b in b^2 terms, and valuations in 2 b^2 but for one.
        A law that begins late may instead hold 64 times as long as from one equation that failed to the next, where no beginning
        of the terms, a half to a sixteenth, shows a law that later ones break, as that of a function of digits does.
        """
        most = max(period, self.start)
        often = _OFTEN * most // max(len(self.failed), 1)
        laws = (find_recurrence(self.terms[: len(self.terms) // parts]) for parts in _PARTS)
        shown = (law for law in laws if law is not None and law.held >= max(2 * law.order, USUAL))
        if not self.start or not all(law.holds_for(self.terms) for law in shown):
            return 2 * most**2
        return min(often, 2 * most**2)


def _title(period: int, degree: int) -> str:
    """What a polynomial, a quasi-polynomial, a period or an end in 0s is called."""
    if period == 1:
        return "0" if degree < 0 else f"polynomial of degree {degree}"
    return f"period {period}" if degree == 0 else f"quasi-polynomial of period {period} and degree {degree}"


def _times(terms: Sequence[int], coefficients: Sequence[Fraction]) -> Any:
    """The generating function of terms times a recurrence's denominator: its coefficient n + d is 0 where that gives f(n + d)."""
    scale = common_denominator(coefficients)
    return flint().fmpz_poly(list(terms)) * flint().fmpz_poly([scale, *(-int(scale * each) for each in coefficients[::-1])])


def failures(terms: Sequence[int], coefficients: Sequence[Fraction]) -> tuple[int, ...]:
    """Return at which n terms do not obey a recurrence, ascending.

    Args:
        terms: integers.
        coefficients: as for `Recurrence`.

    >>> failures([7, 7, 1, 2, 3, 5, 8], [Fraction(1), Fraction(1)])
    (0, 1)
    """
    product, order = _times(terms, coefficients), len(coefficients)
    return tuple(n for n in range(len(terms) - order) if int(product[n + order]))


def max_order(terms: Sequence[int]) -> int:
    """The largest order that is tested: two terms more than 2L are needed."""
    return min(MAX_ORDER, (len(terms) - LEAST) // 2)


def find_recurrence(terms: Sequence[int]) -> Recurrence | None:
    """Return the linear recurrence of least order that all terms obey, or else the last of them, and at least two confirm.

    Args:
        terms: integers.

    Returns:
        The recurrence; None where there is none, or it held half as long before and was broken.

    >>> find_recurrence([n * n for n in range(12)]).title
    'polynomial of degree 2'
    >>> find_recurrence([1, 8, 2, 8, *range(60)]).title
    'polynomial of degree 1, from n = 4 on'
    """
    tail = terms
    while (order := max_order(tail)) >= 0:
        if (found := first_dependence(_hankel(tail, order))) is not None:
            coefficients = found[next((i for i, each in enumerate(found) if each), len(found)) :]
            formula = Recurrence(coefficients, tuple(terms), failures(terms, coefficients))
            before = max((after - n - 1 for n, after in pairwise((-1, *formula.failed))), default=0)  # how long it held then
            if formula.confirmed >= (max(formula.chosen, 2 * before) if formula.start else LEAST):
                return formula
        if len(tail) < _SHORTEST:
            break
        tail = tail[len(tail) // 2 :]
    return None


def _hankel(terms: Sequence[int], order: int) -> list[list[int]]:
    # If a dependence of L <= order columns holds on these rows and fails later, at n, the least order is at least n + 1 - L,
    # by the argument at the top of the module, and so above `order`.
    rows = min(len(terms), 2 * order + 32) - order
    return [list(terms[j : j + rows]) for j in range(order + 1)]


def _rational(number: Fraction) -> Any:
    return flint().fmpq(number.numerator, number.denominator)
