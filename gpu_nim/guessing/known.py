"""The sequences that gpunim can compute, and which of them terms agree with: itself, shifted, times a constant, plus one, by its
differences or by its partial sums.

They are the OEIS entries of `gpu_nim.oeis`, the families of `gpu_nim.counting` up to 12 piles, and the births and the population of
automata without a formula.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from gpu_nim.automata.catalogue import CATALOGUE, GrowthEntry
from gpu_nim.automata.columns import DEFAULT_COLUMNS
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.counting.families import FAMILIES
from gpu_nim.guessing.formula import Formula, combination, shifted
from gpu_nim.oeis.catalogue import OeisEntry, entries, grown_entry, resolve

_MAX_PILES = 12
_HEAD = 24  # terms by which a sequence is first compared
_MAX_GROWN, _MAX_COUNTED = 128, 1 << 20  # terms that are computed for a comparison


class Known(NamedTuple):
    """A sequence that gpunim can compute.

    Args:
        entry: the entry, whose name is how it is written.
        head: its first terms.
    """

    entry: OeisEntry
    head: Sequence[int]


def _terms(entry: OeisEntry, count: int) -> list[int]:
    """The first terms of an entry, as many as are computed for a comparison at most."""
    most = _MAX_GROWN if entry.family is None else _MAX_COUNTED
    return list(entry.terms(entry.offset, entry.offset + min(count, most if entry.quick is None else entry.quick)))


@cache
def known_sequences() -> tuple[Known, ...]:
    """Return every sequence that terms are compared with."""
    grown = [*_of_growths()]
    compared = {known.entry.name for known in grown}
    families = (resolve(name, k) for name, each in FAMILIES.items() for k in range(1, _MAX_PILES + 1) if k not in each.numbers)
    others = (entry for entry in (*entries().values(), *families) if entry.name not in compared)
    return (*(Known(entry, _terms(entry, _HEAD)) for entry in others), *grown)


def _of_growths() -> Iterator[Known]:
    """What the columns of automata without a formula give; each is grown once for all its first terms."""
    for automaton in CATALOGUE.values():
        if automaton.births_formula is not None:
            continue
        columns = (*DEFAULT_COLUMNS, *(column.column for column in automaton.oeis))
        table = GrowthProcess(automaton, _HEAD, "numpy", columns=columns, verify=False).growth().table
        covered = {column.column for column in automaton.oeis if column.divisor == 1 and not column.differences}
        others = (GrowthEntry(f"{name} of {automaton.name}", name, 0) for name in DEFAULT_COLUMNS if name not in covered)
        for column in (*automaton.oeis, *others):
            head = [value for _, value in column.terms(table[column.column].tolist())]
            yield Known(entries().get(column.number) or grown_entry(automaton, column), head[:_HEAD])


_SHIFTS = (0, 1, -1, 2, -2, 3, -3)
_FEWEST = 4  # terms that must agree, beyond constants


@dataclass(frozen=True, repr=False)
class Match(Formula):
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

    def described(self) -> dict[str, Any]:
        """The relation, and what the sequence counts."""
        some = "" if self.compared == self.length else f" of {self.length:,}"
        return {
            "title": f"known: {self.name}",
            "rows": [("formula", self.formula), (self.name, self.summary)],
            "facts": {"name": self.name, "summary": self.summary, "formula": self.formula, "compared": self.compared},
            "fitted": self.constants,
            "confirmed": self.compared - self.constants,
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


#: The simplest first.
_RELATIONS = (
    _Relation("f(n) = {}", 0),
    _Relation("f(n) = {}", 1),
    _Relation("f(n) = {}", 2),
    _Relation("f(n+1) - f(n) = {}", 1, lambda terms: [y - x for x, y in pairwise(terms)]),
    _Relation("f(0) + ... + f(n) = {}", 1, lambda terms: [*accumulate(terms)]),
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
            values = _terms(known.entry, len(changed) + max(shift, 0))
            f, g = _aligned(changed, values, shift)
            line = _line(relation.free, constants, f, g)
            if line is not None:
                formula = relation.formula.format(combination([(line[0], _at(known, shift)), (line[1], "")]))
                where = f" for n >= {-shift}" if shift < 0 else ""
                return Match(known.entry.name, known.entry.summary, formula + where, constants, len(f) + lost, len(changed) + lost)
    return None


def _line(free: int, constants: int, f: Sequence[int], g: Sequence[int]) -> tuple[Fraction, Fraction] | None:
    """C and d with f = c g + d at every index; None where there are none, c is 0, or too few terms confirm them."""
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
    return shifted(shift + known.entry.offset, name=known.entry.name)
