"""Multiplicative and additive functions: f(a b) = f(a) f(b), or f(a) + f(b), for coprime a and b; completely so for all a and b.

The values at powers of primes, or at primes, are free. Each other term follows from them and confirms the law, unless it is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import add, mul
from typing import Any

from gpu_nim.guessing.law import Law

MOST_TERMS = 1 << 16
_SHOWN = 10  # free values


@dataclass(frozen=True)
class Multiplicative(Law):
    """A multiplicative or additive function.

    Args:
        first: the n of the first term, 0 or 1.
        additive: whether it is additive.
        completely: whether it is so for all a and b.
        terms: the terms.

    >>> find_multiplicative([sum(n % d == 0 for d in range(1, n + 1)) for n in range(1, 60)]).rows[1]
    ('at 2, 3, 4, 5, 7, 8, 9, 11, 13, 16, ...', '2, 2, 3, 2, 2, 4, 3, 2, 2, 5, ...')
    """

    first: int
    additive: bool
    completely: bool
    terms: tuple[int, ...]

    def told(self) -> dict[str, Any]:
        """The free values; those that no other term is made of are not chosen to fit."""
        free, made = _parts(self.first + len(self.terms), self.completely)
        name = ("completely " if self.completely else "") + ("additive" if self.additive else "multiplicative")
        where, sign = "" if self.completely else " for coprime a and b", " + " if self.additive else " "
        place, shown = ("n + 1" if self.first else "n"), free[:_SHOWN]
        values = ", ".join(str(self.terms[n - self.first]) for n in shown)
        return {
            "title": f"{name} function of {place}",
            "rows": [
                (f"g({place}) = f(n)", f"g(a b) = g(a){sign}g(b){where}"),
                (f"at {', '.join(map(str, shown))}, ...", f"{values}, ..."),
            ],
            "facts": {"additive": self.additive, "completely": self.completely, "from": self.first},
            "fitted": len(free),
            "chosen": len(free) - len(self._unused),
            "confirmed": sum(self.terms[n - self.first] != 0 for n in made),
            "complete": False,
            "certainty": "nothing beyond these terms, and nothing of the values that no other term is made of",
        }

    @cached_property
    def _unused(self) -> list[int]:
        """The n with free values that no other term is made of."""
        free, made = _parts(self.first + len(self.terms), self.completely)
        return sorted({*free}.difference(*made.values()))

    def holds_for(self, terms: Sequence[int]) -> bool:
        """Whether all terms that are not free are products, or sums, of others, but for what no term of the law is made of."""
        combined = add if self.additive else mul
        _, made = _parts(self.first + len(terms), self.completely)
        return terms[1 - self.first] == (0 if self.additive else 1) and all(
            terms[n - self.first] == combined(terms[a - self.first], terms[b - self.first]) or any(n % q == 0 for q in self._unused)
            for n, (a, b) in made.items()
        )


def find_multiplicative(terms: Sequence[int]) -> Multiplicative | None:
    """Return the way in which terms are a multiplicative or additive function of n from 1, or from 0, on; None where there is none.

    Args:
        terms: integers, two or more, of which the first 65,536 are compared.
    """
    values = tuple(terms[:MOST_TERMS])
    laws = (
        Multiplicative(first, additive, all_, values) for first in (1, 0) for additive in (False, True) for all_ in (True, False)
    )
    return next((law for law in laws if law.holds_for(values)), None)


def _parts(stop: int, completely: bool) -> tuple[list[int], dict[int, tuple[int, int]]]:
    """The n from 2 to below `stop` whose values are free, and of each other n two factors, of which the first is free."""
    least = [0] * stop
    free, made = [], {}
    for n in range(2, stop):
        if not least[n]:
            for multiple in range(n, stop, n):
                least[multiple] = least[multiple] or n
        part = least[n]
        while not completely and n // part % least[n] == 0:
            part *= least[n]
        if part == n:
            free.append(n)
        else:
            made[n] = (part, n // part)
    return free, made
