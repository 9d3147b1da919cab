"""OEIS entries whose terms are had by growing an automaton: births, populations, and those in a plane.

Which automaton gives which entry stands in the catalogue of automata; what is added here is the offset, and the entries that
are a difference or a fraction of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from itertools import pairwise

from gpu_nim.automata.catalogue import CATALOGUE, Automaton
from gpu_nim.automata.growth_process import grow
from gpu_nim.oeis.entry import Entry

_BEGIN_AT_ONE = {"A151777", "A151779", "A151781", "A151782", "A151793", "A169707"}
_FIRST_GENERATIONS = 64
_PLANE_BIRTHS = {"births z=0": "section z=0"}  # the differences of a column, which is what the automata report


@cache
def grown_entries() -> dict[str, Entry]:
    """The entries that the catalogue of automata names, and those that follow from them, by A-number.

    >>> list(grown_entries()["A151776"].terms(0, 5))
    [0, 1, 13, 25, 109]
    """
    found: dict[str, Entry] = {}
    for automaton in CATALOGUE.values():
        for oeis in automaton.oeis:
            title = f"{oeis.column} of the automaton {automaton.name}"
            compute = partial(_terms, automaton, oeis.column, oeis.shift)
            found.setdefault(oeis.number, Entry(oeis.number, title, int(oeis.number in _BEGIN_AT_ONE), compute))
    fcc = CATALOGUE["fcc"]
    plane = partial(_terms, fcc, "births z=0", 1)
    found["A151836"] = Entry("A151836", "births in the plane z=0 of the automaton fcc", 1, plane)
    found["A151778"] = Entry("A151778", "a twelfth of the births of the automaton fcc", 2, _twelfths)
    return found


def _terms(automaton: Automaton, column: str, shift: int, start: int, stop: int | None) -> Iterator[int]:
    """Terms start, ..., stop - 1, where term n + shift is that of generation n, and 0 before generation 0.

    Without `stop` the growth is repeated to twice the generations whenever it runs out.
    """
    last = (stop if stop is not None else max(start, _FIRST_GENERATIONS) + 1) - 1 - shift
    yield from (0 for _ in range(start, min(shift, stop if stop is not None else shift)))
    start = max(start, shift)
    while True:
        values = _column(automaton, column, last) if last >= 0 else []
        for n, value in enumerate(values, shift):
            if n >= start:
                yield value
        if stop is not None:
            return
        start, last = last + 1 + shift, 2 * last + 1


def _column(automaton: Automaton, column: str, last: int) -> list[int]:
    """The column at generations 0, ..., last."""
    what = _PLANE_BIRTHS.get(column, column)
    values = [int(value or 0) for value in grow(automaton, last, columns=[what], verify=False).table[what]]
    return values if what == column else [values[0], *(after - before for before, after in pairwise(values))]


def _twelfths(start: int, stop: int | None) -> Iterator[int]:
    return (births // 12 for births in _terms(CATALOGUE["fcc"], "births", 1, start, stop))
