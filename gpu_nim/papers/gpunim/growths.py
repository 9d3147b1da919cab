"""Automata of the catalogue, grown by every engine and by theorem, compared with literal growth."""

from __future__ import annotations

from functools import cache

import numpy as np

from gpu_nim.automata.catalogue import CATALOGUE, Automaton
from gpu_nim.automata.cell_sources import split
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.model.rule import Cell
from gpu_nim.papers import by_definition
from gpu_nim.papers.catalogue import Cases, Entry, Reach
from gpu_nim.papers.gpunim.counts import GPUNIM

_LITERAL_CELLS = 800  # the most of a literal growth: a fraction of a second


@Entry(GPUNIM, "gpunim-growths", reach=Reach())
def growths(upto: int) -> Cases:
    """Every automaton of the catalogue grows as its rule says, literally, on every engine"""
    yield f"{len(CATALOGUE)} automata, to about {_LITERAL_CELLS:,} cells each"
    for automaton in CATALOGUE.values():
        stated = _literally(automaton, upto)
        generations = len(stated) - 1
        for general in (False, True):
            growing = GrowthProcess(automaton, generations, "numpy", cells=True, verify=False, general=general)
            found = [[*map(tuple, cells.tolist())] for batch in growing for _, cells in split(batch)]
            yield f"{automaton.name} to generation {generations}", found, stated


@Entry(GPUNIM, "gpunim-theorems", reach=Reach())
def theorems(upto: int) -> Cases:
    """Births and cells by theorem are those of the automaton grown literally"""
    yield "each automaton with a theorem, all cells around"
    for automaton in CATALOGUE.values():
        stated = _literally(automaton, upto)
        generations = len(stated) - 1
        if automaton.births_formula is not None:
            found = [automaton.births_formula(n) for n in range(generations + 1)]
            yield f"the births of {automaton.name} to {generations}", found, [len(cells) for cells in stated]
        if automaton.cell_test is not None:
            box = np.array([cell for cells in stated for cell in cells])
            reach = int(np.abs(box).max(initial=1))
            low = 0 if automaton.rule.octant else -reach
            side = np.arange(low, reach + 1) if len(box.T) <= 3 else np.arange(low, min(reach, 4) + 1)
            box = np.stack(np.meshgrid(*[side] * len(box.T), indexing="ij"), axis=-1).reshape(-1, len(box.T))
            for n in range(generations + 1):
                born = {*stated[n]}
                here = automaton.cell_test(box, np.full(len(box), n)).tolist()
                yield f"which cells of {automaton.name} are born at {n}", here, [(*cell,) in born for cell in box.tolist()]


@cache
def _literally(automaton: Automaton, upto: int) -> list[list[Cell]]:
    """The newborns of the generations, up to `upto`, by which no more than a few cells are born."""
    population = last = 0
    for batch in GrowthProcess(automaton, min(upto, 24), "numpy", verify=False, every=1):
        population += sum(batch.births.tolist())
        if population > _LITERAL_CELLS and batch.first > 1:
            break
        last = batch.first + len(batch.births) - 1
    return by_definition.grown(automaton.rule, last)
