"""Known sequences that terms agree with: itself, shifted, times a constant, plus one, by its differences or by its partial sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from gpu_nim.guessing.known import Known, known_sequences
from gpu_nim.guessing.law import Law, combination, shifted

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

    def told(self) -> dict[str, Any]:
        """The relation, and what the sequence counts."""
        some = "" if self.compared == self.length else f" of {self.length:,}"
        return {
            "title": f"known: {self.name}",
            "rows": [("formula", self.formula), (self.name, self.summary)],
            "facts": {"name": self.name, "summary": self.summary, "formula": self.formula, "compared": self.compared},
            "fitted": self.constants,
            "confirmed": self.compared - self.constants,
            "complete": self.compared >= self.length - max(_SHIFTS),
            "certainty": f"nothing beyond the {self.compared:,}{some} terms that were compared",
        }

    def holds_for(self, terms: Sequence[int]) -> bool:
        """Whether the same formula is found for terms."""
        return any((found.name, found.formula) == (self.name, self.formula) for found in find_known(terms))


class _Relation(NamedTuple):
    """A way in which terms may be made of a known sequence g.

    Attributes:
        formula: how it is written, with {} for c g + d.
        free: how many of c and d are chosen: d is else 0, and c else 1.
        changed: makes of the terms what is c g + d.
    """

    formula: str
    free: int
    changed: Callable[[Sequence[int]], Sequence[int]] = tuple


def _differences(terms: Sequence[int]) -> Sequence[int]:
    return [y - x for x, y in pairwise(terms)]


def _sums(terms: Sequence[int]) -> Sequence[int]:
    return [*accumulate(terms)]


#: The simplest first.
_RELATIONS = (
    _Relation("f(n) = {}", 0),
    _Relation("f(n) = {}", 1),
    _Relation("f(n) = {}", 2),
    _Relation("f(n+1) - f(n) = {}", 1, _differences),
    _Relation("f(0) + ... + f(n) = {}", 1, _sums),
)


def find_known(terms: Sequence[int]) -> list[Match]:
    """Return the known sequences that terms agree with, the simplest relation alone.

    Args:
        terms: integers.

    >>> [match.formula for match in find_known([6, 7, 36, 13, 42, 43])]
    ['f(n) = A237711(n+1)']
    >>> [match.formula for match in find_known([2, 110, 770, 6974, 37400, 93192])]
    ['f(n) = 2 D_11(n)']
    """
    for relation in _RELATIONS:
        changed = relation.changed(terms)
        lost = len(terms) - len(changed)  # a term that is chosen, too
        found = [*filter(None, (_match(relation, changed, lost, known) for known in known_sequences()))]
        if found:
            return found
    return []


def _match(relation: _Relation, changed: Sequence[int], lost: int, known: Known) -> Match | None:
    """The known sequence by the smallest shift at which the relation holds wherever both are known."""
    constants = relation.free + lost
    for shift in _SHIFTS:
        if _line(relation.free, constants, *_aligned(changed, known.head, shift)) is not None:
            values = known.compute(min(len(changed) + max(shift, 0), known.most))
            f, g = _aligned(changed, values, shift)
            line = _line(relation.free, constants, f, g)
            if line is not None:
                formula = relation.formula.format(combination([(line[0], _at(known, shift)), (line[1], "")]))
                where = f" for n >= {-shift}" if shift < 0 else ""
                return Match(known.name, known.summary, formula + where, constants, len(f) + lost, len(changed) + lost)
    return None


def _line(free: int, constants: int, f: Sequence[int], g: Sequence[int]) -> tuple[Fraction, Fraction] | None:
    """C and d with f = c g + d at every place; None where there are none, c is 0, or too few places confirm them."""
    if len(f) < _FEWEST + constants:
        return None
    origin = (f[0], g[0]) if free == 2 else (0, 0)
    x, y = next((pair for pair in zip(f, g, strict=True) if pair[1] != origin[1]), origin)
    if free and (x == origin[0] or y == origin[1]):
        return None
    factor = Fraction(x - origin[0], y - origin[1]) if free else Fraction(1)
    scale, rise = factor.denominator, factor.numerator
    constant = scale * origin[0] - rise * origin[1]
    holds = all(rise * y + constant == scale * x for x, y in zip(f, g, strict=True))
    return (factor, Fraction(constant, scale)) if holds else None


def _aligned(terms: Sequence[int], values: Sequence[int], shift: int) -> tuple[Sequence[int], Sequence[int]]:
    """The terms at n and the values at n + shift, wherever both are known."""
    start, at = max(-shift, 0), max(shift, 0)
    size = max(min(len(terms) - start, len(values) - at), 0)
    return terms[start : start + size], values[at : at + size]


def _at(known: Known, shift: int) -> str:
    """The known sequence at n + shift, where n counts from its first term."""
    return shifted(shift + known.offset, name=known.name)
