"""What the engines that grow lists of cells have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from gpu_nim.backends.base import Batch, State
from gpu_nim.backends.rule import Cells, Rule
from gpu_nim.errors import UsageError

CLOSED = np.uint16(1 << 15)
"""Added, in states, to the touches of a cell that is alive, or outside of the universe."""


def coordinate_dtype(lower: tuple[int, ...], upper: tuple[int, ...]) -> np.dtype[np.signedinteger[Any]]:
    """Return the smallest signed integer dtype that holds every coordinate of the box and its negative.

    >>> coordinate_dtype((-128, 0), (0, 5))
    dtype('int16')
    """
    size = max(map(abs, lower + upper))
    return next(np.dtype(t) for t in (np.int8, np.int16, np.int32, np.int64) if size <= np.iinfo(t).max)


class CellEngine(ABC):
    """A growth in progress: batches of generations, made of single steps that a subclass knows how to take."""

    def __init__(self, rule: Rule, last: int) -> None:
        self.rule = rule
        self.last = last
        self.generation = -1

    def advance(self, to: int, *, cells: bool = False, section: tuple[int, int] | None = None) -> Batch:
        """Grow through generation `to` and report each generation since the last one done.

        With `section` = (axis, value) the batch also counts the newborns that have that coordinate.  UsageError when
        `to` is not past the last generation done, or is past the last one planned.
        """
        if not self.generation < to <= self.last:
            raise UsageError(f"to must be from {self.generation + 1} to {self.last}, got {to}")
        if section is not None and not 0 <= section[0] < self.rule.dimension:
            raise UsageError(f"section must be along an axis from 0 to {self.rule.dimension - 1}, got {section[0]}")
        first, size = self.generation + 1, to - self.generation
        births, checksums, sections = (np.zeros(size, np.uint64) for _ in range(3))
        grown: list[Cells] = []
        for index in range(size):
            if self.generation < 0:
                self._lay()
            else:
                self._step()
            self.generation += 1
            births[index], checksums[index] = self._survey()
            if section is not None:
                sections[index] = self._section(*section)
            if cells:
                grown.append(self._cells())
        newborns = np.concatenate(grown) if cells else None
        return Batch(first, births, checksums, newborns, None if section is None else sections)

    @abstractmethod
    def state(self) -> State:
        """Return the state after generation `self.generation`, enough for this engine to go on from."""

    @abstractmethod
    def _lay(self) -> None:
        """Lay the seeds."""

    @abstractmethod
    def _step(self) -> None:
        """Grow one generation from the last one."""

    @abstractmethod
    def _survey(self) -> tuple[int, int]:
        """Return the number of newborns and their checksum."""

    @abstractmethod
    def _cells(self) -> Cells:
        """Return the newborns (births, dimension) in lexicographic order."""

    @abstractmethod
    def _section(self, axis: int, value: int) -> int:
        """Return how many newborns have coordinate `axis` equal to `value`."""
