"""Known sequences that terms agree with: itself, shifted, times a constant, plus one, by its differences or by its partial sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from gpu_nim.guessing.formulas import combination, shifted
from gpu_nim.guessing.known import Known, known_sequences
from gpu_nim.guessing.law import Law, NearMiss

_SHIFTS = (0, 1, -1, 2, -2, 3, -3)
_FEWEST = 4  # terms that must agree, beyond constants


@dataclass(frozen=True)
class Match(Law):
    """A known sequence g that terms agree with.

    Args:
        name: that of g.
        summary: what g counts.
        formula: how g and f are related.
        constants: how many constants were chosen to fit.
        compared: how many terms were compared.
        length: how many terms there are.
    """

    name: str
    summary: str
    formula: str
    constants: int
    compared: int
    length: int

    @property
    def title(self) -> str:
        """The name of the sequence."""
        return f"known: {self.name}"

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The relation, and what the sequence counts."""
        return [("formula", self.formula), (self.name, self.summary)]

    @property
    def facts(self) -> dict[str, Any]:
        """Name, summary and relation."""
        return {"name": self.name, "summary": self.summary, "formula": self.formula, "compared": self.compared}

    @property
    def fitted(self) -> int:
        """The constants of the relation."""
        return self.constants

    @property
    def confirmed(self) -> int:
        """The terms that were compared, less the constants."""
        return self.compared - self.constants

    @property
    def complete(self) -> bool:
        """Whether all terms were compared."""
        return self.compared >= self.length - max(_SHIFTS)

    @property
    def certainty(self) -> str:
        """Nothing is proved beyond the terms that were compared."""
        some = "" if self.compared == self.length else f" of {self.length:,}"
        return f"nothing beyond the {self.compared:,}{some} terms that were compared"


class _Line(NamedTuple):
    """The map from y to factor y + constant."""

    factor: Fraction
    constant: Fraction

    def agrees(self, f: Sequence[int], g: Sequence[int]) -> bool:
        """Whether it maps g to f."""
        scale = self.factor.denominator * self.constant.denominator
        factor, constant = int(scale * self.factor), int(scale * self.constant)
        return all(factor * y + constant == scale * x for x, y in zip(f, g, strict=True))


def _equality(f: Sequence[int], g: Sequence[int]) -> _Line | None:
    return _Line(Fraction(1), Fraction(0)) if f[0] == g[0] else None


def _multiple(f: Sequence[int], g: Sequence[int]) -> _Line | None:
    """F = c g, by the first term of g that is not 0."""
    for x, y in zip(f, g, strict=True):
        if y:
            return _Line(Fraction(x, y), Fraction(0)) if x else None
    return None


def _affine(f: Sequence[int], g: Sequence[int]) -> _Line | None:
    """F = c g + d, by the first term of g that differs from g(0)."""
    for x, y in zip(f, g, strict=True):
        if y != g[0]:
            factor = Fraction(x - f[0], y - g[0])
            return _Line(factor, f[0] - factor * g[0]) if factor else None
    return None


@dataclass(frozen=True)
class _Relation:
    """A way in which terms may be made of a known sequence.

    Args:
        formula: how it is written, with {} for the line of the known sequence.
        constants: how many numbers the line is fitted by.
        fit: the line, from the first terms.
        changed: makes of the terms what the line gives.
    """

    formula: str
    constants: int
    fit: Callable[[Sequence[int], Sequence[int]], _Line | None]
    changed: Callable[[Sequence[int]], Sequence[int]] = tuple

    def matches(self, terms: Sequence[int]) -> Iterator[Match]:
        """Yield the known sequences for which it holds, each by its smallest shift."""
        changed = self.changed(terms)
        for known in known_sequences():
            found = next(filter(None, (self._match(changed, known, shift, len(terms)) for shift in _SHIFTS)), None)
            if found is not None:
                yield found

    def _match(self, changed: Sequence[int], known: Known, shift: int, length: int) -> Match | None:
        if self._line(changed, known.head, shift) is None:
            return None
        values = known.compute(min(len(changed) + max(shift, 0), known.most))
        found = self._line(changed, values, shift)
        if found is None:
            return None
        line, compared = found
        formula = self.formula.format(combination([(line.factor, _at(known, shift)), (line.constant, "")]))
        where = f" for n >= {-shift}" if shift < 0 else ""
        return Match(known.name, known.summary, formula + where, self.constants, compared + length - len(changed), length)

    def _line(self, changed: Sequence[int], values: Sequence[int], shift: int) -> tuple[_Line, int] | None:
        """The line that maps the known sequence to the changed terms wherever both are known, and at how many places."""
        f, g = _aligned(changed, values, shift)
        line = self.fit(f, g) if len(f) >= _FEWEST + self.constants else None
        return None if line is None or not line.agrees(f, g) else (line, len(f))


def _differences(terms: Sequence[int]) -> Sequence[int]:
    return [y - x for x, y in pairwise(terms)]


def _sums(terms: Sequence[int]) -> Sequence[int]:
    return [*accumulate(terms)]


_RELATIONS = (
    _Relation("f(n) = {}", 0, _equality),
    _Relation("f(n) = {}", 1, _multiple),
    _Relation("f(n) = {}", 2, _affine),
    _Relation("f(n+1) - f(n) = {}", 2, _multiple, _differences),
    _Relation("f(0) + ... + f(n) = {}", 1, _multiple, _sums),
)
"""The simplest first."""


def find_known(terms: Sequence[int]) -> list[Match]:
    """Return the known sequences that terms agree with, the simplest relation alone.

    Args:
        terms: integers.

    >>> [match.formula for match in find_known([6, 7, 36, 13, 42, 43])]
    ['f(n) = A237711(n+1)']
    >>> [match.formula for match in find_known([2, 110, 770, 6974, 37400, 93192])]
    ['f(n) = 2 D_11(n)']
    """
    found = ([*relation.matches(terms)] for relation in _RELATIONS)
    return next(filter(None, found), [])


def known_but_one(terms: Sequence[int]) -> NearMiss | None:
    """Return the only term that differs from a known sequence, shifted or not, of the sequence that compares the most terms.

    Args:
        terms: integers.

    >>> terms = [3 ** n.bit_count() for n in range(20)]
    >>> terms[6] = 10
    >>> missed = known_but_one(terms)
    >>> missed.law.formula, missed.index, missed.given, missed.expected
    ('f(n) = A048883(n)', 6, 10, 9)
    """
    found = []
    for known in known_sequences():
        for shift in _SHIFTS:
            if _differing(terms, known.head, shift) <= 1:
                values = known.compute(min(len(terms) + max(shift, 0), known.most))
                if _differing(terms, values, shift) == 1:
                    found.append(_differing_at(terms, known, values, shift))
    return max(found, key=lambda missed: missed.law.confirmed, default=None)


def _aligned(terms: Sequence[int], values: Sequence[int], shift: int) -> tuple[Sequence[int], Sequence[int]]:
    """The terms at n and the values at n + shift, wherever both are known."""
    start, at = max(-shift, 0), max(shift, 0)
    size = max(min(len(terms) - start, len(values) - at), 0)
    return terms[start : start + size], values[at : at + size]


def _at(known: Known, shift: int) -> str:
    """The known sequence at n + shift, where n counts from its first term."""
    return shifted(shift + known.offset, name=known.name)


def _differing(terms: Sequence[int], values: Sequence[int], shift: int) -> int:
    """How many terms differ, of those that both have."""
    return sum(x != y for x, y in zip(*_aligned(terms, values, shift), strict=True))


def _differing_at(terms: Sequence[int], known: Known, values: Sequence[int], shift: int) -> NearMiss:
    f, g = _aligned(terms, values, shift)
    index = next(i for i, (x, y) in enumerate(zip(f, g, strict=True)) if x != y)
    law = Match(known.name, known.summary, f"f(n) = {_at(known, shift)}", 0, len(f) - 1, len(terms))
    return NearMiss(law, index + max(-shift, 0), f[index], g[index])
