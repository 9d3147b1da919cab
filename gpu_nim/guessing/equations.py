"""Equations with polynomial coefficients: P-recursive sequences, and algebraic generating functions.

f is P-recursive if p_0(n) f(n) + ... + p_r(n) f(n+r) = 0 for polynomials p_i that are not all 0; its generating function is then
D-finite. F = sum f(n) x^n is algebraic if p_0(x) + p_1(x) F + ... + p_r(x) F^r = 0; every such f is P-recursive. For both, the
coefficients of the polynomials of degree up to d are (r + 1)(d + 1) unknowns of linear equations, one for each n. Equations without
a term other than 0 hold for any coefficients, and are not counted.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any, ClassVar, TypeVar

from gpu_nim.counting.long_integers import flint
from gpu_nim.guessing.formulas import combination, polynomial, power, shifted
from gpu_nim.guessing.law import Failure, Law, LinearLaw, NearMiss, near_miss
from gpu_nim.guessing.linear_algebra import common_denominator, first_dependence

MAX_UNKNOWNS = 48
_SPARE = 24  # equations, beyond the unknowns, of a first attempt
_MAX_TERMS = 4096  # of which powers of the generating function are made

E = TypeVar("E", bound="Equation")


@dataclass(frozen=True)
class Equation(Law):
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
    kind: ClassVar[str]

    @classmethod
    @abstractmethod
    def columns(cls, terms: Sequence[int], order: int, degree: int, first: int) -> list[list[int]]:
        """What each coefficient is multiplied with, p_0 first, in the equation of each n; `first` is the index of terms[0]."""

    @classmethod
    def least_unknowns(cls) -> int:
        """The number of coefficients of the simplest equation."""
        return (cls.LEAST_ORDER + 1) * (cls.LEAST_DEGREE + 1)

    @property
    def order(self) -> int:
        """The index r of the last polynomial."""
        return len(self.polynomials) - 1

    @property
    def degree(self) -> int:
        """The largest degree of the polynomials."""
        return max(map(len, self.polynomials)) - 1

    def told(self) -> dict[str, Any]:
        """The polynomials, determined up to a factor. Equations without a term other than 0 confirm nothing."""
        fitted = (self.order + 1) * (self.degree + 1) - 1
        equations = zip(*self.columns(self.terms[:_MAX_TERMS], self.order, self.degree, 0), strict=True)
        polynomials = [[str(each) for each in coefficients] for coefficients in self.polynomials]
        return {
            "title": self.kind.format(order=self.order, degree=self.degree),
            "rows": [self.formula],
            "facts": {"order": self.order, "degree": self.degree, "polynomials": polynomials},
            "fitted": fitted,
            "confirmed": sum(map(any, equations)) - fitted,
            "certainty": "nothing beyond these terms",  # no number of terms is known that suffices for given orders and degrees
        }

    @property
    @abstractmethod
    def formula(self) -> tuple[str, str]:
        """The equation, and its name."""

    @property
    def determined(self) -> bool:
        """Whether the equation determines each term from those before it, but for a few first ones."""
        return True


@dataclass(frozen=True)
class PRecurrence(Equation, LinearLaw):
    """A recurrence whose coefficients are polynomials in n.

    >>> from math import factorial
    >>> find_equation(PRecurrence, [factorial(n) for n in range(30)], 8).rows
    [('recurrence', 'f(n+1) - (n + 1) f(n) = 0')]
    """

    LEAST_ORDER, MOST_ORDER, LEAST_DEGREE = 1, 12, 1
    kind = "P-recursive of order {order} and degree {degree}"

    @classmethod
    def columns(cls, terms: Sequence[int], order: int, degree: int, first: int) -> list[list[int]]:
        """n^j f(n + i)."""
        stop = len(terms) - order
        return [[(first + n) ** j * terms[n + i] for n in range(stop)] for i in range(order + 1) for j in range(degree + 1)]

    @property
    def formula(self) -> tuple[str, str]:
        """The recurrence."""
        return "recurrence", f"{_sum((p, 'n', shifted(i)) for i, p in enumerate(self.polynomials))} = 0"

    @property
    def determined(self) -> bool:
        """Whether the last polynomial has no root where a later term could be anything: steps obey equations with one at each."""
        last = flint().fmpz_poly(list(self.polynomials[-1]))
        return all(last(n) for n in range(self.order, len(self.terms)))

    def failures(self, terms: Sequence[int]) -> Iterator[Failure]:
        """Yield the equations that terms do not obey."""
        for n in range(len(terms) - self.order):
            weights = {n + i: Fraction(int(flint().fmpz_poly(list(p))(n))) for i, p in enumerate(self.polynomials)}
            if value := sum((weight * terms[index] for index, weight in weights.items()), Fraction(0)):
                yield Failure(value, {index: weight for index, weight in weights.items() if weight})


@dataclass(frozen=True)
class AlgebraicEquation(Equation):
    """A polynomial equation of the generating function F = sum f(n) x^n.

    >>> from math import comb
    >>> find_equation(AlgebraicEquation, [comb(2 * n, n) // (n + 1) for n in range(30)], 8).rows
    [('sum f(n) x^n = F', 'x F^2 - F + 1 = 0')]
    """

    LEAST_ORDER, MOST_ORDER, LEAST_DEGREE = 2, 6, 0
    kind = "algebraic generating function F, of degree {order} in F and {degree} in x"

    @classmethod
    def columns(cls, terms: Sequence[int], order: int, degree: int, first: int) -> list[list[int]]:
        """The coefficients of x^j F^i."""
        size = len(terms)
        series, powers = flint().fmpz_poly(list(terms)), [flint().fmpz_poly([1])]
        for _ in range(order):
            powers.append((powers[-1] * series).truncate(size))
        rows = [[int(each[n]) for n in range(size)] for each in powers]
        return [[0] * j + row[: size - j] for row in rows for j in range(degree + 1)]

    @property
    def determined(self) -> bool:
        """Whether the equation is irreducible: (Q F - P)^2 = 0 holds for twice the terms of which P/Q has half."""
        x, f = flint().fmpz_mpoly_ctx.get(("x", "F"), "lex").gens()
        whole = sum(each * x**j * f**i for i, p in enumerate(self.polynomials) for j, each in enumerate(p))
        _, factors = whole.factor()
        return [multiplicity for factor, multiplicity in factors if factor.degrees()[1]] == [1]

    @property
    def formula(self) -> tuple[str, str]:
        """The equation."""
        return "sum f(n) x^n = F", f"{_sum((p, 'x', power('F', i)) for i, p in enumerate(self.polynomials))} = 0"


def find_equation(kind: type[E], terms: Sequence[int], confirm: int, first: int = 0) -> E | None:
    """Return the equation of least order and degree that all terms obey and enough confirm; None if there is none.

    Args:
        kind: `PRecurrence` or `AlgebraicEquation`.
        terms: integers.
        confirm: how many equations, beyond the unknowns, must hold.
        first: the index of the first term, of a part of a sequence.
    """
    terms = terms[:_MAX_TERMS] if kind is AlgebraicEquation else terms
    unknowns = most_unknowns(terms, confirm)
    largest = _largest(kind, unknowns)
    if not any(_solved(kind, terms, order, degree, first) for order, degree in largest):
        return None
    smaller = {(order, j) for order, degree in largest for j in range(kind.LEAST_DEGREE, degree + 1)}
    for order, degree in sorted(smaller, key=lambda pair: ((pair[0] + 1) * (pair[1] + 1), pair)):
        found = _solved(kind, terms, order, degree, first)
        if found is not None:
            law = kind(found, tuple(terms))
            return law if law.confirmed >= confirm and law.determined else None
    return None


def equation_but_one(terms: Sequence[int], confirm: int) -> NearMiss | None:
    """Return the term that alone breaks a recurrence with polynomial coefficients, which one half of the terms shows.

    Args:
        terms: integers.
        confirm: how many equations, beyond the unknowns, must hold in that half.
    """
    half = len(terms) // 2
    laws = (find_equation(PRecurrence, part, confirm, first) for first, part in ((0, terms[:half]), (half, terms[half:])))
    return near_miss(laws, terms, lambda mended: find_equation(PRecurrence, mended, confirm))


def most_unknowns(terms: Sequence[int], confirm: int) -> int:
    """Return the largest number (r + 1)(d + 1) of unknowns that so many terms determine and confirm.

    Args:
        terms: integers.
        confirm: how many equations, beyond the unknowns, must hold.
    """
    return max(0, min(MAX_UNKNOWNS, (len(terms) - confirm) * 4 // 5))


def _largest(kind: type[Equation], unknowns: int) -> list[tuple[int, int]]:
    """The largest degree for each order."""
    pairs = ((order, unknowns // (order + 1) - 1) for order in range(kind.LEAST_ORDER, kind.MOST_ORDER + 1))
    return [(order, degree) for order, degree in pairs if degree >= kind.LEAST_DEGREE]


def _solved(kind: type[Equation], terms: Sequence[int], order: int, degree: int, first: int) -> tuple[tuple[int, ...], ...] | None:
    """The polynomials, which hold for all terms."""
    few = (order + 1) * (degree + 1) + order + _SPARE
    solution = first_dependence(kind.columns(terms[:few], order, degree, first))
    if solution is not None and few < len(terms):
        solution = first_dependence(kind.columns(terms, order, degree, first))
    if solution is None:
        return None
    scale = common_denominator(solution)
    flat = [*(int(each * scale) for each in solution), -scale]
    flat += [0] * (-len(flat) % (degree + 1))
    content = -gcd(*flat)  # so that the last coefficient is positive
    found = (flint().fmpz_poly([each // content for each in flat[i : i + degree + 1]]) for i in range(0, len(flat), degree + 1))
    return tuple(tuple(map(int, p.coeffs())) for p in found)


def _sum(parts: Iterable[tuple[Sequence[int], str, str]]) -> str:
    """A sum of things, each with a polynomial before it, the last one first."""
    text = ""
    for coefficients, variable, name in [*parts][::-1]:
        if not coefficients:
            continue
        sign = -1 if coefficients[-1] < 0 else 1
        signed = [sign * each for each in coefficients]
        if sum(map(bool, signed)) == 1:
            part = combination([(signed[-1], " ".join(filter(None, (power(variable, len(signed) - 1), name))))])
        else:
            part = f"({polynomial(signed, variable)}) {name}".strip()
        text += f"{'-' if sign < 0 else ''}{part}" if not text else f" {'-' if sign < 0 else '+'} {part}"
    return text
