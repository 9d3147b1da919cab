"""Common code of the engines that grow lists of cells."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import ALONE, Communicator
from gpu_nim.backends.interface import Batch, Section, State
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Cells, Rule

#: Added, in states, to the touches of a cell that is alive, or outside of the universe.
CLOSED = np.uint16(1 << 15)


def coordinate_dtype(lower: tuple[int, ...], upper: tuple[int, ...]) -> np.dtype[np.signedinteger[Any]]:
    """Return the smallest signed integer dtype that holds every coordinate of the box and its negative: for states and files.

    >>> coordinate_dtype((-128, 0), (0, 5))
    dtype('int16')
    """
    size = max(map(abs, lower + upper))
    return next(np.dtype(t) for t in (np.int8, np.int16, np.int32, np.int64) if size <= np.iinfo(t).max)


def cell_dtype(lower: tuple[int, ...], upper: tuple[int, ...]) -> np.dtype[np.signedinteger[Any]]:
    """Return the dtype of cells of the box that is wide enough for calculations: int32, or else int64.

    It holds the sum of a cell's coordinates, whatever their signs, and the difference of two cells.

    >>> cell_dtype((0, 0, 0), (100, 100, 100)), cell_dtype((0, 0, 0), (2**30, 2**30, 2**30))
    (dtype('int32'), dtype('int64'))
    """
    size = sum(max(high, -low, high - low) for low, high in zip(lower, upper, strict=True))
    return np.dtype(np.int32 if size <= np.iinfo(np.int32).max else np.int64)


def check_request(generation: int, to: int, last: int, section: Section | None, dimension: int) -> None:
    """Raise UsageError unless an engine at `generation`, made for `last`, can grow through `to` and count in that section."""
    if not generation < to <= last:
        raise UsageError(f"to must be from {generation + 1} to {last}, got {to}")
    if section is not None and not 0 <= section[0] < dimension:
        raise UsageError(f"section must be along an axis from 0 to {dimension - 1}, got {section[0]}")


def corners(cells: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the least and the greatest coordinates of cells (N, d), N at least 1, shape (2, d).

    >>> corners(np.array([[0, 5], [3, -1]], np.int8)).tolist()
    [[0, -1], [3, 5]]
    """
    # Column by column, which takes a tenth of the time of NumPy's own reduction along the first axis.
    return np.array([[column.min() for column in cells.T], [column.max() for column in cells.T]], np.int64)


class Keys:
    """A key for each cell of the box of a growth to generation `last`, in a mixed radix, so that adding an offset adds a number.

    Keys are int64, and cells in lexicographic order have ascending keys.  Touched cells outside of the octant have distinct keys,
    too.  UsageError when the box has more than 2^63 cells.

    `origin`, `strides`: key = (cell - origin) . strides.  `size`: the number of keys.  `dtype`: the smallest for coordinates.
    `cell_dtype`: the dtype of cells for users.

    >>> keys = Keys(Rule(2, ((1, 0), (0, 1)), births=frozenset({1}), seeds=((0, 0),)), last=9)
    >>> keys.encode(np.array([[2, 5]])), keys.decode(np.array([25]))
    (array([25]), array([[2, 5]]))
    """

    def __init__(self, rule: Rule, last: int) -> None:
        lower, upper = rule.box(last)
        reach = [max(abs(offset[axis]) for offset in rule.offsets) * rule.octant for axis in range(rule.dimension)]
        widths = [high - low + 1 + 2 * more for low, high, more in zip(lower, upper, reach, strict=True)]
        self.size = math.prod(widths)
        if self.size >= 2**63:
            raise UsageError(f"generations must keep cells within 63-bit keys, got {last} in {rule.dimension} dimensions")
        self.dtype = coordinate_dtype(lower, upper)
        self.cell_dtype = cell_dtype(lower, upper)
        self.origin = np.array([low - more for low, more in zip(lower, reach, strict=True)], np.int64)
        self.strides = np.array([math.prod(widths[axis + 1 :]) for axis in range(rule.dimension)], np.int64)

    def encode(self, cells: Cells) -> NDArray[np.int64]:
        """Return the keys of cells (N, dimension)."""
        keys: NDArray[np.int64] = (cells - self.origin) @ self.strides
        return keys

    def decode(self, keys: Any, xp: ModuleType = np) -> Any:
        """Return the cells of keys, int64 of shape (N, dimension), in arrays of `xp` as the keys are."""
        cells = xp.empty((len(keys), len(self.strides)), np.int64)
        for axis, (origin, stride) in enumerate(zip(self.origin.tolist(), self.strides.tolist(), strict=True)):
            quotient = keys // stride
            cells[:, axis] = quotient + origin
            keys = keys - quotient * stride
        return cells


class CellEngine(ABC):
    """A growth in progress: batches of generations, made of single steps that a subclass implements."""

    def __init__(self, rule: Rule, last: int, ranks: Communicator = ALONE) -> None:
        self.rule = rule
        self.last = last
        self.generation = -1
        self._ranks = ranks

    def advance(self, to: int, *, cells: bool = False, section: Section | None = None) -> Batch:
        """Grow through generation `to` and report each generation since the last one done; UsageError for another `to`.

        Births, checksums and sections are those of all ranks, cells those of this one.
        """
        check_request(self.generation, to, self.last, section, self.rule.dimension)
        first, size = self.generation + 1, to - self.generation
        births, checksums, sections = (np.zeros(size, np.uint64) for _ in range(3))
        grown: list[Cells] = []
        for index in range(size):
            if self.generation < 0:
                self._seed()
            else:
                self._step()
            self.generation += 1
            births[index], checksums[index] = self._count_and_checksum()
            if section is not None:
                sections[index] = self._section(*section)
            if cells:
                grown.append(self._cells())
        newborns = np.concatenate(grown) if cells else None
        if self._ranks.size > 1:
            births, checksums, sections = self._ranks.sum(np.stack((births, checksums, sections)))
        return Batch(first, births, checksums, newborns, None if section is None else sections)

    @abstractmethod
    def state(self) -> State:
        """Return the state after generation `self.generation`, from which this engine can resume."""

    @abstractmethod
    def _seed(self) -> None:
        """Begin with the seeds."""

    @abstractmethod
    def _step(self) -> None:
        """Grow one generation from the last one."""

    @abstractmethod
    def _count_and_checksum(self) -> tuple[int, int]:
        """Return the number of newborns and their checksum."""

    @abstractmethod
    def _cells(self) -> Cells:
        """Return the newborns (births, dimension) in lexicographic order."""

    @abstractmethod
    def _section(self, axis: int, value: int) -> int:
        """Return how many newborns have coordinate `axis` equal to `value`."""
