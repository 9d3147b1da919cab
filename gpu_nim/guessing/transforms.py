"""Transforms of sequences, by Sloane's names: f is the transform of a sequence g that obeys a simpler law.

All of them are one-to-one on sequences of integers, for the Euler transform on those that begin with 1, so that g is determined by
f, and each equation of g is one of f.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd
from operator import mul
from typing import Any

from gpu_nim.guessing.law import Law
from gpu_nim.guessing.recurrences import Recurrence

MOST_TERMS = 1 << 10
_SHOWN = 12  # terms of g
_MOST_PERIOD = 60  # of a product of eta functions that is written out


def _divisor_sums(terms: Sequence[int]) -> list[int]:
    sums = [0] * len(terms)
    for i, term in enumerate(terms):
        for multiple in range(i, len(terms), i + 1):
            sums[multiple] += term
    return sums


def _divisor_differences(terms: Sequence[int]) -> list[int]:
    """What has these divisor sums."""
    rest = list(terms)
    for i in range(len(rest)):
        for multiple in range(2 * i + 1, len(rest), i + 1):
            rest[multiple] -= rest[i]
    return rest


def _exponents(terms: Sequence[int]) -> list[int] | None:
    """The exponents g, from x F'/F, whose coefficients are the sums of d g(d-1) over divisors d."""
    if terms[0] != 1:
        return None
    sums = [0]
    for n in range(1, len(terms)):
        sums.append(n * terms[n] - sum(map(mul, sums[1:], terms[n - 1 : 0 : -1])))
    return [each // n for n, each in enumerate(_divisor_differences(sums[1:]), 1)]


@dataclass(frozen=True)
class Transform:
    """A transform of sequences.

    Args:
        name: as it is called.
        formula: how f is made of g.
        inverse: makes g of f; None where f is no such transform.
    """

    name: str
    formula: tuple[str, str]
    inverse: Callable[[Sequence[int]], list[int] | None]


EULER = Transform("Euler transform", ("sum f(n) x^n", "product of (1 - x^(n+1))^-g(n)"), _exponents)
#: Of a function of n + 1, and of the first kind also of n, where the first term is left out.
DIVISORS = tuple(
    Transform(name, (formula, f"sum of {of}(d-1) over the divisors d of n + 1"), inverse)
    for name, formula, of, inverse in (
        ("inverse Moebius transform", "f(n)", "g", _divisor_differences),
        ("Moebius transform", "g(n)", "f", _divisor_sums),
        ("inverse Moebius transform", "f(n+1)", "g", lambda terms: _divisor_differences(terms[1:])),
    )
)


@dataclass(frozen=True)
class Transformed(Law):
    """A sequence that is the transform of one with a law.

    Args:
        transform: the transform.
        law: the law of g.
        terms: those of g.

    >>> from gpu_nim.guessing.recurrences import find_recurrence
    >>> planes = [1, 1, 3, 6, 13, 24, 48, 86, 160, 282, 500, 859, 1479, 2485, 4167, 6879]  # plane partitions
    >>> exponents = EULER.inverse(planes)
    >>> Transformed(EULER, find_recurrence(exponents), tuple(exponents)).title
    'Euler transform of g: polynomial of degree 1'
    """

    transform: Transform
    law: Law
    terms: tuple[int, ...]

    def told(self) -> dict[str, Any]:
        """The law of g, which as many equations confirm."""
        inner = self.law
        rows = [(name.replace("f(", "g("), text.replace("f(", "g(")) for name, text in inner.rows]
        first = ", ".join(map(str, self.terms[:_SHOWN]))
        eta = [("eta product", text)] if (text := self._eta_product()) else []
        return {
            "title": f"{self.transform.name} of g: {inner.title}",
            "rows": [self.transform.formula, ("g", f"{first}, ..."), *eta, *rows],
            "facts": {"transform": self.transform.name, "law": inner.title, **inner.facts},
            **{name: getattr(inner, name) for name in ("fitted", "chosen", "confirmed")},
            "certainty": f"of g: {inner.certainty}",
        }

    def holds_for(self, terms: Sequence[int]) -> bool:
        """Whether what these are the transform of obeys the law of g."""
        inverse = self.transform.inverse(terms)
        return inverse is not None and self.law.holds_for(inverse)

    def _eta_product(self) -> str:
        """The powers of E(d) = product of (1 - x^(d n)), n >= 1, where g(n-1) depends on the divisors of n and the period alone."""
        shape = self.law.quasi_polynomial if isinstance(self.law, Recurrence) else None
        if self.transform is not EULER or shape is None or shape[1:] != (0, 0) or shape[0] > _MOST_PERIOD:
            return ""
        period = shape[0]
        powers = dict.fromkeys((d for d in range(1, period + 1) if period % d == 0), 0)
        for d in powers:
            powers[d] = -self.terms[d - 1] - sum(power for other, power in powers.items() if other < d and d % other == 0)
        if any(self.terms[n - 1] != self.terms[gcd(n, period) - 1] for n in range(1, period + 1)):
            return ""
        return " ".join(f"E({d})^{power}" for d, power in powers.items() if power) + ", E(d) = product of (1 - x^(d n)), n >= 1"
