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
from math import factorial, gcd
from typing import Any, ClassVar, TypeVar

from gpu_nim.counting.long_integers import flint
from gpu_nim.guessing.formulas import combination, polynomial, power, shifted
from gpu_nim.guessing.law import LEAST, Failure, Law, LinearLaw, NearMiss, near_miss
from gpu_nim.guessing.linear_algebra import common_denominator, first_dependence

MAX_UNKNOWNS = 48
_SPARE = 24  # equations, beyond the unknowns, of a first attempt

E = TypeVar("E", bound="Equation")


@dataclass(frozen=True)
class Equation(Law):
    """An equation with polynomial coefficients that holds for all of some terms.

    Args:
        polynomials: p_0, ..., p_r, each by its integer coefficients from the constant one on.
        terms: the terms that obey it.
        parameter: the base k or q, of kinds that have one.
    """

    polynomials: tuple[tuple[int, ...], ...]
    terms: tuple[int, ...]
    parameter: int = 0

    LEAST_ORDER: ClassVar[int]
    MOST_ORDER: ClassVar[int]
    LEAST_DEGREE: ClassVar[int]
    MOST_TERMS: ClassVar[int] = 1 << 12  # of which powers of the generating function are made
    PARAMETERS: ClassVar[Sequence[int]] = (0,)
    kind: ClassVar[str]

    @classmethod
    @abstractmethod
    def columns(cls, terms: Sequence[int], order: int, degree: int, parameter: int) -> list[list[int]]:
        """What each coefficient is multiplied with, p_0 first, in the equation of each n."""

    @classmethod
    def least_unknowns(cls) -> int:
        """The number of coefficients of the simplest equation."""
        return (cls.LEAST_ORDER + 1) * (cls.LEAST_DEGREE + 1)

    @classmethod
    def most_degree(cls, order: int, size: int, parameter: int) -> int:
        """The largest degree that so many terms can show."""
        return MAX_UNKNOWNS

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
        equations = zip(*self.columns(self.terms, self.order, self.degree, self.parameter), strict=True)
        polynomials = [[str(each) for each in coefficients] for coefficients in self.polynomials]
        return {
            "title": self.kind.format(order=self.order, degree=self.degree, parameter=self.parameter),
            "rows": [self.formula],
            "facts": {"order": self.order, "degree": self.degree, "polynomials": polynomials},
            "fitted": fitted,
            "confirmed": sum(map(any, equations)) - fitted,
            "certainty": "nothing beyond these terms",  # no number of terms is known that suffices for given orders and degrees
        }

    def holds_for(self, terms: Sequence[int]) -> bool:
        """Whether terms obey the equation of each n."""
        weights = [number for p in self.polynomials for number in (*p, *[0] * (self.degree + 1 - len(p)))]
        columns = self.columns(terms, self.order, self.degree, self.parameter)
        return not any(map(sum, zip(*([c * x for x in each] for c, each in zip(weights, columns, strict=True)), strict=True)))

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

    LEAST_ORDER, MOST_ORDER, LEAST_DEGREE, MOST_TERMS = 1, 12, 1, 1 << 24
    kind = "P-recursive of order {order} and degree {degree}"

    def told(self) -> dict[str, Any]:
        """The recurrence; what has a period P obeys one of order P."""
        return {**super().told(), "period": self.order}

    @classmethod
    def point(cls, n: int, parameter: int) -> int:
        """What the polynomials are evaluated at in the equation of n."""
        return n

    @classmethod
    def columns(cls, terms: Sequence[int], order: int, degree: int, parameter: int) -> list[list[int]]:
        """x^j f(n + i) for the point x of n."""
        points = [cls.point(n, parameter) for n in range(len(terms) - order)]
        return [[x**j * terms[n + i] for n, x in enumerate(points)] for i in range(order + 1) for j in range(degree + 1)]

    @property
    def formula(self) -> tuple[str, str]:
        """The recurrence."""
        return "recurrence", f"{_sum((p, 'n', shifted(i)) for i, p in enumerate(self.polynomials))} = 0"

    @property
    def determined(self) -> bool:
        """Whether the last polynomial has no root where a later term could be anything: steps obey equations with one at each."""
        last = flint().fmpz_poly(list(self.polynomials[-1]))
        return all(last(self.point(n, self.parameter)) for n in range(self.order, len(self.terms)))

    def failures(self, terms: Sequence[int]) -> Iterator[Failure]:
        """Yield the equations that terms do not obey."""
        for n in range(len(terms) - self.order):
            x = self.point(n, self.parameter)
            weights = {n + i: Fraction(int(flint().fmpz_poly(list(p))(x))) for i, p in enumerate(self.polynomials)}
            if value := sum((weight * terms[index] for index, weight in weights.items()), Fraction(0)):
                yield Failure(value, {index: weight for index, weight in weights.items() if weight})

    def later(self, shift: int) -> PRecurrence:
        """The same for terms that begin at index -shift of those."""
        moved = (flint().fmpz_poly(list(p))(flint().fmpz_poly([-shift, 1])) for p in self.polynomials)
        return PRecurrence(tuple(tuple(map(int, p.coeffs())) for p in moved), self.terms)


@dataclass(frozen=True)
class QRecurrence(PRecurrence):
    """A recurrence whose coefficients are polynomials in q^n, for an integer q.

    >>> galois = [1, 2]  # the subspaces of the n-dimensional space over the field of two elements
    >>> while len(galois) < 30:
    ...     galois.append(2 * galois[-1] + (2 ** (len(galois) - 1) - 1) * galois[-2])
    >>> find_equation(QRecurrence, galois, 8, 2).rows
    [('recurrence, x = 2^n', 'f(n+2) - 2 f(n+1) - (2 x - 1) f(n) = 0')]
    """

    MOST_ORDER = 4
    PARAMETERS = range(2, 11)
    kind = "q-holonomic of order {order} and degree {degree}, q = {parameter}"

    @classmethod
    def point(cls, n: int, parameter: int) -> int:
        """q^n."""
        x: int = parameter**n
        return x

    @property
    def formula(self) -> tuple[str, str]:
        """The recurrence, in x = q^n."""
        recurrence = _sum((p, "x", shifted(i)) for i, p in enumerate(self.polynomials))
        return f"recurrence, x = {self.parameter}^n", f"{recurrence} = 0"


@dataclass(frozen=True)
class MahlerEquation(Equation):
    """A linear equation of F(x), F(x^k), F(x^(k^2)), ..., where F = sum f(n) x^n.

    >>> binary = [1]  # the ways to write n as a sum of powers of 2
    >>> while len(binary) < 60:
    ...     binary.append((binary[-1] if len(binary) % 2 else binary[-1] + binary[len(binary) // 2]))
    >>> find_equation(MahlerEquation, binary, 8, 2).rows
    [('sum f(n) x^n = F(x)', 'F(x^2) + (x - 1) F(x) = 0')]
    """

    LEAST_ORDER, MOST_ORDER, LEAST_DEGREE = 1, 4, 0
    PARAMETERS = range(2, 11)
    kind = "{parameter}-Mahler of order {order} and degree {degree}"

    @classmethod
    def most_degree(cls, order: int, size: int, parameter: int) -> int:
        """That for which F(x^(k^r)) has four terms for each coefficient before it."""
        step: int = parameter**order
        return size // (4 * step) - 1

    @property
    def determined(self) -> bool:
        """Whether the equation has F(x) itself."""
        return any(self.polynomials[0])

    @classmethod
    def columns(cls, terms: Sequence[int], order: int, degree: int, parameter: int) -> list[list[int]]:
        """The coefficients of x^j F(x^(k^i))."""
        steps = [parameter**i for i in range(order + 1)]
        return _multiplied([[0 if n % step else terms[n // step] for n in range(len(terms))] for step in steps], degree)

    @property
    def formula(self) -> tuple[str, str]:
        """The equation."""
        names = [f"F({power('x', self.parameter**i)})" for i in range(len(self.polynomials))]
        return "sum f(n) x^n = F(x)", f"{_sum((p, 'x', name) for p, name in zip(self.polynomials, names, strict=True))} = 0"


@dataclass(frozen=True)
class SeriesEquation(Equation):
    """An equation of a generating function, whose polynomials are those before its monomials."""

    NAMES: ClassVar[tuple[str, ...]]
    SERIES: ClassVar[str]
    MONOMIALS: ClassVar[Sequence[tuple[int, ...]]]

    @classmethod
    @abstractmethod
    def factors(cls, terms: Sequence[int]) -> list[Any]:
        """The power series that the names stand for."""

    @classmethod
    def weight(cls, n: int) -> int:
        """What makes integers of the coefficients of x^n."""
        return 1

    @classmethod
    def columns(cls, terms: Sequence[int], order: int, degree: int, parameter: int) -> list[list[int]]:
        """The coefficients of x^j times each monomial."""
        factors = cls.factors(terms)
        size = min(len(terms), *(len(terms) - i for i in range(len(factors))))
        products = []
        for exponents in cls.MONOMIALS[: order + 1]:
            product = flint().fmpq_poly([1])
            for factor, exponent in zip(factors, exponents, strict=True):
                for _ in range(exponent):
                    product = (product * factor).truncate(size)
            products.append([product[n] for n in range(size)])
        weights = [cls.weight(n) for n in range(size)]
        return [[int(flint().fmpq(x * w).p) for x, w in zip(each, weights, strict=True)] for each in _multiplied(products, degree)]

    @property
    def formula(self) -> tuple[str, str]:
        """The equation."""
        names = [" ".join(filter(None, map(power, self.NAMES, exponents))) for exponents in self.MONOMIALS]
        return f"{self.SERIES} = F", f"{_sum((p, 'x', name) for p, name in zip(self.polynomials, names, strict=False))} = 0"


@dataclass(frozen=True)
class AlgebraicEquation(SeriesEquation):
    """A polynomial equation of the generating function F = sum f(n) x^n.

    >>> from math import comb
    >>> find_equation(AlgebraicEquation, [comb(2 * n, n) // (n + 1) for n in range(30)], 8).rows
    [('sum f(n) x^n = F', 'x F^2 - F + 1 = 0')]
    """

    LEAST_ORDER, MOST_ORDER, LEAST_DEGREE = 2, 6, 0
    NAMES, SERIES, MONOMIALS = ("F",), "sum f(n) x^n", [(i,) for i in range(7)]
    kind = "algebraic generating function F, of degree {order} in F and {degree} in x"

    @classmethod
    def factors(cls, terms: Sequence[int]) -> list[Any]:
        """F."""
        return [flint().fmpq_poly(list(terms))]


@dataclass(frozen=True)
class DifferentialEquation(SeriesEquation):
    """An algebraic differential equation of the exponential generating function F = sum f(n) x^n / n!.

    >>> zigzag = [1, 1, 1, 2, 5, 16, 61, 272, 1385, 7936, 50521, 353792, 2702765, 22368256, 199360981, 1903757312]
    >>> find_equation(DifferentialEquation, zigzag, 8).rows
    [('sum f(n) x^n / n! = F', "F^2 - 2 F' + 1 = 0")]
    """

    LEAST_ORDER, MOST_ORDER, LEAST_DEGREE, MOST_TERMS = 3, 9, 0, 1 << 8
    NAMES, SERIES = ("F", "F'", "F''"), "sum f(n) x^n / n!"
    #: Of degree up to 2, the simplest first.
    MONOMIALS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (2, 0, 0), (1, 1, 0), (0, 2, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (0, 0, 2))
    kind = "algebraic differential equation of the exponential generating function F"

    @classmethod
    def factors(cls, terms: Sequence[int]) -> list[Any]:
        """F and its derivatives."""
        series = flint().fmpq_poly([flint().fmpq(each, cls.weight(n)) for n, each in enumerate(terms)])
        return [series, series.derivative(), series.derivative().derivative()]

    @classmethod
    def weight(cls, n: int) -> int:
        """The factorial."""
        return factorial(n)

    @property
    def determined(self) -> bool:
        """Whether it is not linear: then it is a recurrence with polynomial coefficients."""
        return any(sum(exponents) > 1 for exponents, p in zip(self.MONOMIALS, self.polynomials, strict=False) if p)


def find_equation(kind: type[E], terms: Sequence[int], confirm: int, parameter: int = 0) -> E | None:
    """Return the equation of least order and degree that all terms obey and enough confirm; None if there is none.

    Args:
        kind: a subclass of `Equation`.
        terms: integers.
        confirm: how many equations, beyond the unknowns, must hold.
        parameter: one of those of the kind.
    """
    terms = terms[: kind.MOST_TERMS]
    unknowns = most_unknowns(terms, confirm)
    orders = range(kind.LEAST_ORDER, kind.MOST_ORDER + 1)
    pairs = ((r, min(unknowns // (r + 1) - 1, kind.most_degree(r, len(terms), parameter))) for r in orders)
    largest = [(order, degree) for order, degree in pairs if degree >= kind.LEAST_DEGREE]
    if not any(_solved(kind, terms, order, degree, parameter) for order, degree in largest):
        return None
    smaller = {(order, j) for order, degree in largest for j in range(kind.LEAST_DEGREE, degree + 1)}
    for order, degree in sorted(smaller, key=lambda pair: ((pair[0] + 1) * (pair[1] + 1), pair)):
        found = _solved(kind, terms, order, degree, parameter)
        if found is not None:
            law = kind(found, tuple(terms), parameter)
            shorter = sum(map(_bits, found)) < _bits(terms)  # what takes more digits than the terms says nothing of them
            if not (shorter and law.confirmed >= confirm and law.determined):
                return None
            # Half of the terms must show it: (Q F - P)^2 = 0 holds for twice the terms of which P/Q has half.
            half = max(len(terms) // 2, law.fitted + order + LEAST)
            return law if _solved(kind, terms[:half], order, degree, parameter) == found else None
    return None


def equation_but_one(terms: Sequence[int], confirm: int) -> NearMiss | None:
    """Return the term that alone breaks a recurrence with polynomial coefficients, which one half of the terms shows.

    Args:
        terms: integers.
        confirm: how many equations, beyond the unknowns, must hold in that half.
    """
    half = len(terms) // 2
    first, second = (find_equation(PRecurrence, part, confirm) for part in (terms[:half], terms[half:]))
    laws = (first, second and second.later(half))
    return near_miss(laws, terms, lambda mended: find_equation(PRecurrence, mended, confirm))


def most_unknowns(terms: Sequence[int], confirm: int) -> int:
    """Return the largest number (r + 1)(d + 1) of unknowns that so many terms determine and confirm.

    Args:
        terms: integers.
        confirm: how many equations, beyond the unknowns, must hold.
    """
    return max(0, min(MAX_UNKNOWNS, (len(terms) - confirm) * 4 // 5))


def _solved(
    kind: type[Equation], terms: Sequence[int], order: int, degree: int, parameter: int
) -> tuple[tuple[int, ...], ...] | None:
    """The polynomials, which hold for all terms."""
    few = (order + 1) * (degree + 1) + order + _SPARE
    solution = first_dependence(kind.columns(terms[:few], order, degree, parameter))
    if solution is not None and few < len(terms):
        solution = first_dependence(kind.columns(terms, order, degree, parameter))
    if solution is None:
        return None
    scale = common_denominator(solution)
    flat = [*(int(each * scale) for each in solution), -scale]
    flat += [0] * (-len(flat) % (degree + 1))
    content = -gcd(*flat)  # so that the last coefficient is positive
    found = (flint().fmpz_poly([each // content for each in flat[i : i + degree + 1]]) for i in range(0, len(flat), degree + 1))
    return tuple(tuple(map(int, p.coeffs())) for p in found)


def _multiplied(rows: Iterable[list[Any]], degree: int) -> list[list[Any]]:
    """The coefficients of x^j times each of some power series, for j up to a degree."""
    return [[0] * j + row[: len(row) - j] for row in rows for j in range(degree + 1)]


def _bits(numbers: Iterable[int]) -> int:
    return sum(number.bit_length() for number in numbers)


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
