"""Equations with polynomial coefficients: P-recursive sequences, and algebraic generating functions.

f is P-recursive if p_0(n) f(n) + ... + p_r(n) f(n+r) = 0 for polynomials p_i that are not all 0; its generating function is then
D-finite. F = sum f(n) x^n is algebraic if p_0(x) + p_1(x) F + ... + p_r(x) F^r = 0; every such f is P-recursive. For both, the
coefficients of the polynomials of degree up to d are (r + 1)(d + 1) unknowns of linear equations, one for each n. Equations without
a term other than 0 hold for any coefficients, and are not counted.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any, ClassVar, TypeVar

from gpu_nim.counting.long_integers import flint
from gpu_nim.guessing.formula import LEAST, Formula, combination, polynomial, power, shifted
from gpu_nim.guessing.linear_algebra import common_denominator, first_dependence

MAX_UNKNOWNS = 48
_SPARE = 24  # equations, beyond the unknowns, of a first attempt

E = TypeVar("E", bound="Equation")


@dataclass(frozen=True)
class Equation(Formula):
    """An equation with polynomial coefficients that holds for all of some terms.

    Args:
        polynomials: p_0, ..., p_r, each by its integer coefficients from the constant one on.
        terms: the terms that obey it.
    """

    polynomials: tuple[tuple[int, ...], ...]
    terms: tuple[int, ...]

    LEAST_ORDER: ClassVar[int]
    MOST_ORDER: ClassVar[int]
    LEAST_DEGREE: ClassVar[int]
    MOST_TERMS: ClassVar[int]
    kind: ClassVar[str]

    @classmethod
    @abstractmethod
    def columns(cls, terms: Sequence[int], order: int, degree: int) -> list[list[int]]:
        """What each coefficient is multiplied with, p_0 first, in the equation of each n."""

    @property
    def order(self) -> int:
        """The index r of the last polynomial."""
        return len(self.polynomials) - 1

    @property
    def degree(self) -> int:
        """The largest degree of the polynomials."""
        return max(map(len, self.polynomials)) - 1

    def described(self) -> dict[str, Any]:
        """The polynomials, determined up to a factor. Equations without a term other than 0 confirm nothing."""
        fitted = (self.order + 1) * (self.degree + 1) - 1
        equations = zip(*self.columns(self.terms, self.order, self.degree), strict=True)
        polynomials = [[str(each) for each in coefficients] for coefficients in self.polynomials]
        return {
            "title": self.kind.format(order=self.order, degree=self.degree),
            "rows": [self.equation],
            "facts": {"order": self.order, "degree": self.degree, "polynomials": polynomials},
            "fitted": fitted,
            "confirmed": sum(map(any, equations)) - fitted,
            "certainty": "nothing beyond these terms",  # no number of terms is known that suffices for given orders and degrees
        }

    def holds_for(self, terms: Sequence[int]) -> bool:
        """Whether terms obey the equation of each n."""
        weights = [number for p in self.polynomials for number in (*p, *[0] * (self.degree + 1 - len(p)))]
        columns = self.columns(terms, self.order, self.degree)
        return not any(map(sum, zip(*([c * x for x in each] for c, each in zip(weights, columns, strict=True)), strict=True)))

    @property
    @abstractmethod
    def equation(self) -> tuple[str, str]:
        """The equation, and its name."""

    @property
    def determined(self) -> bool:
        """Whether the equation determines each term from those before it, except for the first few."""
        return True


@dataclass(frozen=True)
class PRecurrence(Equation):
    """A recurrence whose coefficients are polynomials in n.

    >>> from math import factorial
    >>> find_equation(PRecurrence, [factorial(n) for n in range(30)], 8).rows
    [('recurrence', 'f(n+1) - (n + 1) f(n) = 0')]
    """

    LEAST_ORDER, MOST_ORDER, LEAST_DEGREE, MOST_TERMS = 1, 12, 1, 1 << 24
    kind = "P-recursive of order {order} and degree {degree}"

    def described(self) -> dict[str, Any]:
        """The recurrence; what has a period P obeys one of order P."""
        return {**super().described(), "period": self.order}

    @classmethod
    def columns(cls, terms: Sequence[int], order: int, degree: int) -> list[list[int]]:
        """n^j f(n + i)."""
        return [[n**j * terms[n + i] for n in range(len(terms) - order)] for i in range(order + 1) for j in range(degree + 1)]

    @property
    def equation(self) -> tuple[str, str]:
        """The recurrence."""
        return "recurrence", f"{_sum((p, 'n', shifted(i)) for i, p in enumerate(self.polynomials))} = 0"

    @property
    def determined(self) -> bool:
        """Whether the last polynomial has no root where a later term could be anything: steps obey equations with one at each."""
        last = flint().fmpz_poly(list(self.polynomials[-1]))
        return all(last(n) for n in range(self.order, len(self.terms)))


@dataclass(frozen=True)
class AlgebraicEquation(Equation):
    """A polynomial equation of the generating function F = sum f(n) x^n.

    >>> from math import comb
    >>> find_equation(AlgebraicEquation, [comb(2 * n, n) // (n + 1) for n in range(30)], 8).rows
    [('sum f(n) x^n = F', 'x F^2 - F + 1 = 0')]
    """

    LEAST_ORDER, MOST_ORDER, LEAST_DEGREE, MOST_TERMS = 2, 6, 0, 1 << 12
    kind = "algebraic generating function F, of degree {order} in F and {degree} in x"

    @classmethod
    def columns(cls, terms: Sequence[int], order: int, degree: int) -> list[list[int]]:
        """The coefficients of x^j F^i."""
        series, size = flint().fmpz_poly(list(terms)), len(terms)
        power_of_f, columns = flint().fmpz_poly([1]), []
        for _ in range(order + 1):
            row = [int(power_of_f[n]) for n in range(size)]
            columns += [[0] * j + row[: size - j] for j in range(degree + 1)]
            power_of_f = (power_of_f * series).truncate(size)
        return columns

    @property
    def equation(self) -> tuple[str, str]:
        """The equation."""
        return "sum f(n) x^n = F", f"{_sum((p, 'x', power('F', i)) for i, p in enumerate(self.polynomials))} = 0"


def find_equation(kind: type[E], terms: Sequence[int], confirm: int) -> E | None:
    """Return the equation of least order and degree that all terms obey and enough confirm; None if there is none.

    Args:
        kind: a subclass of `Equation`.
        terms: integers.
        confirm: how many equations, beyond the unknowns, must hold.
    """
    terms = terms[: kind.MOST_TERMS]
    unknowns = most_unknowns(terms, confirm)
    orders = range(kind.LEAST_ORDER, kind.MOST_ORDER + 1)
    pairs = ((r, unknowns // (r + 1) - 1) for r in orders)
    largest = [(order, degree) for order, degree in pairs if degree >= kind.LEAST_DEGREE]
    if not any(_solved(kind, terms, order, degree) for order, degree in largest):
        return None
    smaller = {(order, j) for order, degree in largest for j in range(kind.LEAST_DEGREE, degree + 1)}
    for order, degree in sorted(smaller, key=lambda pair: ((pair[0] + 1) * (pair[1] + 1), pair)):
        found = _solved(kind, terms, order, degree)
        if found is not None:
            formula = kind(found, tuple(terms))
            shorter = sum(map(_bits, found)) < _bits(terms)  # what takes more digits than the terms says nothing of them
            if not (shorter and formula.confirmed >= confirm and formula.determined):
                return None
            # Half of the terms must show it: (Q F - P)^2 = 0 holds for twice the terms of which P/Q has half.
            half = max(len(terms) // 2, formula.fitted + order + LEAST)
            return formula if _solved(kind, terms[:half], order, degree) == found else None
    return None


def most_unknowns(terms: Sequence[int], confirm: int) -> int:
    """Return the largest number (r + 1)(d + 1) of unknowns that so many terms determine and confirm.

    Args:
        terms: integers.
        confirm: how many equations, beyond the unknowns, must hold.
    """
    return max(0, min(MAX_UNKNOWNS, (len(terms) - confirm) * 4 // 5))


def _solved(kind: type[Equation], terms: Sequence[int], order: int, degree: int) -> tuple[tuple[int, ...], ...] | None:
    """The polynomials, which hold for all terms."""
    few = (order + 1) * (degree + 1) + order + _SPARE
    solution = first_dependence(kind.columns(terms[:few], order, degree))
    if solution is not None and few < len(terms):
        solution = first_dependence(kind.columns(terms, order, degree))
    if solution is None:
        return None
    scale = common_denominator(solution)
    flat = [*(int(each * scale) for each in solution), -scale]
    flat += [0] * (-len(flat) % (degree + 1))
    content = -gcd(*flat)  # so that the last coefficient is positive
    found = (flint().fmpz_poly([each // content for each in flat[i : i + degree + 1]]) for i in range(0, len(flat), degree + 1))
    return tuple(tuple(map(int, p.coeffs())) for p in found)


def _bits(numbers: Iterable[int]) -> int:
    return sum(number.bit_length() for number in numbers)


def _sum(parts: Iterable[tuple[Sequence[int], str, str]]) -> str:
    """A sum of things, each with a polynomial before it, the last one first."""
    named = []
    for coefficients, variable, name in [*parts][::-1]:
        if sum(map(bool, coefficients)) == 1:
            named.append((coefficients[-1], " ".join(filter(None, (power(variable, len(coefficients) - 1), name)))))
        elif coefficients:
            sign = -1 if coefficients[-1] < 0 else 1
            named.append((sign, f"({polynomial([sign * each for each in coefficients], variable)}) {name}".strip()))
    return combination(named)
