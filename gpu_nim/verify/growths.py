"""A finished growth, every cell of it, held against its births and against what is proved of its automaton."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_nim.automata.catalogue import CATALOGUE, Automaton
from gpu_nim.automata.growth import Growth, in_order
from gpu_nim.finding import Finding


def theorem_of(growth: Growth) -> Automaton | None:
    """The catalogue's entry whose births are proved, where the growth is of its rule, not only of its name; else None.

    >>> from gpu_nim import grow
    >>> [getattr(theorem_of(grow(name, 3)), "source", None) for name in ("nim", "edge")]
    ['[B], first rule; [NF] Theorem 19', None]
    """
    automaton = CATALOGUE.get(growth.automaton)
    proved = automaton is not None and automaton.rule == growth.rule and automaton.births_formula is not None
    return automaton if proved else None


def check_growth(growth: Growth, progress: Callable[[int], object] = lambda cells: None) -> Finding:
    """Go through every cell of a growth: each generation has its births, no cell twice, and what the theorem allows.

    Cells that come from a file are held against their checksums as they are read: FileError where these differ. `progress`
    is told how many cells were gone through since it was told last.

    >>> from gpu_nim import grow
    >>> check_growth(grow("nim", 7))
    Finding(tried='64 cells of generations 0 to 7', counterexample=None)
    """
    tried = f"{growth.population:,} cells of generations 0 to {growth.generations}"
    return Finding(tried, _counterexample(growth, theorem_of(growth), progress))


def _counterexample(growth: Growth, automaton: Automaton | None, progress: Callable[[int], object]) -> str | None:
    if automaton is not None and automaton.births_formula is not None:
        stated = automaton.births_formula(np.arange(len(growth.births), dtype=np.int64))
        for generation in np.flatnonzero(growth.births != stated).tolist():
            return f"generation {generation} has {growth.births[generation]} births, not {stated[generation]}"
    for generation, cells in growth:
        if len(cells) != growth.births[generation]:
            return f"generation {generation} has {len(cells)} cells, not {growth.births[generation]}"
        if not in_order(cells):
            return f"the cells of generation {generation} are not in lexicographic order, each once"
        if automaton is not None and automaton.cell_test is not None:
            for outsider in cells[~automaton.cell_test(cells)].tolist():
                return f"{tuple(outsider)}, of generation {generation}, is never born"
        progress(len(cells))
    return None
