"""`gpu_nim.why`: the step at which a cell is born, and by which touches, or why it never is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, SupportsIndex

import numpy as np

from gpu_nim.automata.catalogue import Automaton
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.newborns import split
from gpu_nim.automata.user_defined import as_automaton, with_generation
from gpu_nim.backends.interface import Backend
from gpu_nim.model.arguments import IntLike, integer, integers
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Cell, Rule
from gpu_nim.model.shown import Shown


@dataclass(frozen=True, repr=False)
class CellHistory(Shown):
    """What decides on a cell.

    Attributes:
        automaton: the name of the automaton.
        cell: the cell.
        births: the numbers of touches that give birth.
        generation: the step at which the cell is born; None where it is not.
        touches: the step at which each cell that touches it was born, and that cell, in this order, up to the step that decides.
        decided: the step that decides, None where no step up to `generations` does; 0 for seeds and cells outside the universe.
        generations: how many steps were looked at.

    >>> print(why("edge", (1, 1, 2)))
    (1, 1, 2) is never born: at step 2 it is touched by (0, 1, 1), (1, 0, 1), and 2 touches give no birth, nor do more
    """

    automaton: str
    cell: Cell
    births: tuple[int, ...]
    generation: int | None
    touches: tuple[tuple[int, Cell], ...]
    decided: int | None
    generations: int

    @property
    def parents(self) -> tuple[Cell, ...]:
        """The cells that touch a newborn cell for the first time at the step at which it is born."""
        return tuple(cell for step, cell in self.touches if self.generation is not None and step == self.generation - 1)

    def __str__(self) -> str:
        by = ", ".join(str(cell) for _, cell in self.touches)
        if self.generation == 0:
            return f"{self.cell} is a seed"
        if self.generation is not None:
            return f"{self.cell} is born at step {self.generation}, touched by {by}"
        if self.decided == 0:
            return f"{self.cell} is never born: it lies outside of where {self.automaton} lives"
        if self.decided is not None:
            count = len(self.touches)
            many = f"{count} touch{'es' * (count != 1)} give{'s' * (count == 1)} no birth, nor do more"
            return f"{self.cell} is never born: at step {self.decided} it is touched by {by}, and {many}"
        touched = f"is touched by {by} alone" if by else "is not touched"
        return f"{self.cell} is not born up to step {self.generations}: it {touched}"

    def summary(self) -> dict[str, Any]:
        """Return the result as plain values, as `gpunim why --json` prints it."""
        return {**vars(self), "parents": self.parents, "born": self.generation is not None}


def why(
    automaton: str | Automaton | Rule,
    cell: Sequence[SupportsIndex],
    *,
    generations: IntLike | None = None,
    backend: str | Backend = "auto",
) -> CellHistory:
    """Return the step at which a cell is born, with the cells that touch it then, or why it is never born.

    Cells that are alive stay alive, so that a cell is never touched by fewer than before: with more touches than any number that
    gives birth, it is never born.

    Args:
        automaton: a name of the catalogue, a `Rule` or an `Automaton`.
        cell: its coordinates.
        generations: how many steps to look at where none decides; by default four times as many as the cell is away from the
            seeds, and 16.
        backend: where to grow.

    Raises:
        UsageError: an argument is wrong.
        InsufficientMemoryError: the growth does not fit.

    >>> found = why("edge", (0, 1, 3))
    >>> print(found)
    (0, 1, 3) is born at step 3, touched by (0, 2, 2)
    >>> why("nim", (3, 5, 6)).generation
    7
    """
    automaton, generations = with_generation(automaton, generations)
    chosen = as_automaton(automaton)
    rule, place = chosen.rule, integers("cell", cell)
    if len(place) != rule.dimension:
        raise UsageError(f"cell must have {rule.dimension} coordinates in {chosen.name}, got {len(place)}")
    away = max(max(abs(x - y) for x, y in zip(place, seed, strict=True)) for seed in rule.seeds)
    last = 4 * away + 16 if generations is None else integer("generations", generations, 0)
    history = CellHistory(chosen.name, place, tuple(sorted(rule.births)), None, (), None, last)
    if place in rule.seeds:
        return replace(history, generation=0, decided=0)
    if not rule.inside(np.array([place], np.int64)).all():
        return replace(history, decided=0)
    touches: list[tuple[int, Cell]] = []
    for batch in GrowthProcess(chosen, last, backend, cells=True, verify=False):
        for step, born in split(batch):
            cells = born.astype(np.int64)
            near = cells[(np.abs(cells - place) <= rule.reach).all(axis=1)]
            known = len(touches)
            for offset in rule.offsets:
                here = near[(near + offset == place).all(axis=1)]
                touching = here if rule.touches is None else here[rule.touches(here, offset)]
                touches += [(step, tuple(each)) for each in touching.tolist()]
            touches[known:] = sorted(touches[known:])
            count = len(touches)
            if count > known and count in rule.births and step < last:
                return replace(history, touches=tuple(touches), decided=step + 1, generation=step + 1)
            if count > max(rule.births):
                return replace(history, touches=tuple(touches), decided=step + 1)
    return replace(history, touches=tuple(touches))
