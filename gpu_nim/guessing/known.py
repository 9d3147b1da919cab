"""The sequences that gpunim can compute, which terms are compared with.

They are the OEIS entries of `gpu_nim.oeis`, the families of `gpu_nim.counting` up to 12 piles, and the births and the population of
automata without a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from gpu_nim.automata.catalogue import CATALOGUE as AUTOMATA
from gpu_nim.automata.catalogue import Automaton
from gpu_nim.automata.columns import DEFAULT_COLUMNS
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.counting.families import FAMILIES
from gpu_nim.oeis.catalogue import entries, resolve
from gpu_nim.oeis.entry import OeisEntry

_MAX_PILES = 12
_HEAD = 24  # terms by which a sequence is first compared
_MAX_GROWN, _MAX_COUNTED = 128, 1 << 20  # terms that are computed for a comparison


@dataclass(frozen=True)
class Known:
    """A sequence that gpunim can compute.

    Args:
        name: as it is written.
        summary: what it counts.
        offset: the index of its first term.
        head: its first terms.
        compute: returns as many first terms.
        most: how many are computed at most.
    """

    name: str
    summary: str
    offset: int
    head: tuple[int, ...]
    compute: Callable[[int], list[int]]
    most: int


@cache
def known_sequences() -> tuple[Known, ...]:
    """Return every sequence that terms are compared with."""
    return (*_of_formulas(), *_of_growths())


def _of_formulas() -> Iterator[Known]:
    grown = {entry.number for automaton in _without_formula() for entry in automaton.oeis}
    for number, entry in entries().items():
        if number not in grown:
            yield _entry(entry, _MAX_COUNTED if entry.family is not None else _MAX_GROWN)
    for name, family in FAMILIES.items():
        for piles in range(1, _MAX_PILES + 1):
            if piles not in family.numbers:
                yield _entry(resolve(name, piles), _MAX_COUNTED)


def _entry(entry: OeisEntry, most: int, head: Sequence[int] | None = None) -> Known:
    def compute(count: int) -> list[int]:
        return list(entry.terms(entry.offset, entry.offset + count))

    most = most if entry.quick is None else min(most, entry.quick)
    first = compute(min(_HEAD, most)) if head is None else head
    return Known(entry.name, entry.summary, entry.offset, tuple(first), compute, most)


def _without_formula() -> list[Automaton]:
    return [automaton for automaton in AUTOMATA.values() if automaton.births_formula is None]


def _of_growths() -> Iterator[Known]:
    """What the columns of automata give; each is grown once for all its first terms."""
    for automaton in _without_formula():
        columns = (*DEFAULT_COLUMNS, *(entry.column for entry in automaton.oeis))
        table = GrowthProcess(automaton, _HEAD, "numpy", columns=columns, verify=False).growth().table
        for oeis in automaton.oeis:
            head = [value for _, value in oeis.terms(table[oeis.column].tolist())]
            yield _entry(entries()[oeis.number], _MAX_GROWN, head[:_HEAD])
        covered = {entry.column for entry in automaton.oeis if entry.divisor == 1 and not entry.differences}
        for column in DEFAULT_COLUMNS:
            if column not in covered:
                yield _column(automaton, column, table[column].tolist()[:_HEAD])


def _column(automaton: Automaton, column: str, head: list[int]) -> Known:
    def compute(count: int) -> list[int]:
        values: list[int] = (
            GrowthProcess(automaton, count - 1, "numpy", columns=[column], verify=False).growth().table[column].tolist()
        )
        return values

    summary = f"{column} of the automaton {automaton.name}, by generation"
    return Known(f"{column} of {automaton.name}", summary, 0, tuple(head), compute, _MAX_GROWN)
