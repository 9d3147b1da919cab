"""OEIS entries whose terms are computed by growing an automaton, as listed in the catalogue of automata."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gpu_nim.automata.catalogue import CATALOGUE, Automaton, GrowthEntry
from gpu_nim.automata.growth_process import grow
from gpu_nim.oeis.entry import OeisEntry

_FIRST_GENERATIONS = 64


def grown_entries() -> dict[str, OeisEntry]:
    """Return the OEIS entries of the catalogue of automata, by A-number; if several automata have one, of the first.

    >>> list(grown_entries()["A151776"].terms(0, 5))
    [0, 1, 13, 25, 109]
    """
    found: dict[str, OeisEntry] = {}
    for automaton in CATALOGUE.values():
        for oeis in automaton.oeis:
            summary = f"{oeis.counts} of the automaton {automaton.name}"
            found.setdefault(oeis.number, OeisEntry(oeis.number, summary, oeis.offset, partial(_terms, automaton, oeis)))
    return found


def _terms(automaton: Automaton, oeis: GrowthEntry, start: int, stop: int | None) -> Iterator[int]:
    """Terms start, ..., stop - 1; without `stop`, the growth is repeated to twice the generations whenever it runs out."""
    last = max(0, (max(start, _FIRST_GENERATIONS) if stop is None else stop - 1) - oeis.shift)
    while True:
        values = grow(automaton, last, columns=[oeis.column], verify=False).table[oeis.column]
        for n, term in oeis.terms(values.tolist()):
            if start <= n and (stop is None or n < stop):
                yield term
        if stop is not None:
            return
        start, last = last + oeis.shift + 1, 2 * last + 1
