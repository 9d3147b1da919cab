"""Columns of the table of a growth: exact values, one per generation.

Counts are integers, ratios are fractions, the dimension is a float; what is not defined (n = 0 divided by) is None. A new column is
a line of `COLUMNS`, and what `ColumnRecorder` keeps of each batch for it and makes of that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.cell_sources import by_generation
from gpu_nim.automata.delays import Earliest
from gpu_nim.automata.formulas import nim_sum_is_zero
from gpu_nim.backends.interface import Batch, Section
from gpu_nim.model.arguments import items, shown
from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.presentation import axis_names
from gpu_nim.model.registry import unknown
from gpu_nim.model.rule import Cells, Rule

Value = int | Fraction | float | None

DEFAULT_COLUMNS = ("births", "population")
COLUMNS = {
    "births": "cells born in generation n",
    "population": "cells alive at generation n",
    "section z=0": "living cells of a plane: an axis, x, y, z or x0 to x7, and a value",
    "p-positions": "births that are P-positions of Nim: their nim-sum is 0",
    "n-positions": "births that are not",
    "delay 0": "births at the earliest generation that the offsets allow; `delay K`: K generations later",
    "boxes 2": "boxes of side 2, or any power of two, with corners at its multiples, that hold a living cell",
    "dimension": "box-counting dimension: the least-squares slope of log(boxes S) by log(1/S), S from 1 to the extent",
    "density": "population over the number of cells in the box that bounds the growth; of those of even sum, where all are",
    "population/n^3": "population over n to the power of the dimension of space",
}
"""What each column holds; numbers in names are examples."""
_SECTION = re.compile(r"section ([xyz]|x[0-7])=(-?[0-9]+)")
_DELAY = re.compile(r"delay ([0-9]{1,10})")
_BOXES = re.compile(r"boxes ([0-9]+)")
_LEVELS = 32  # sides of boxes, 2 to 2^32: beyond any growth, so that one resumed with more generations counts the same boxes
_BLOCK = 1 << 16  # bytes of a bitmap of boxes that are unpacked at a time


class Table(dict[str, NDArray[Any]]):
    """Columns by name: read-only arrays with one exact value per generation, generation 0 first.

    Counts are int64, or of dtype object with Python integers where one exceeds 64 bits; ratios are of dtype object with fractions,
    and None where they are not defined; the dimension is float64 with NaN there. A table is a dict, of which pandas and polars make
    a data frame: `pandas.DataFrame(growth.table)`.

    Args:
        columns: their values, by name.

    >>> table = Table({"births": [1, 3, 3], "population": [1, 4, 7]})
    >>> table["population"], list(table.rows())
    (array([1, 4, 7]), [(0, 1, 1), (1, 3, 4), (2, 3, 7)])
    >>> table
    <Table of births, population: generations 0 to 2>
    """

    def __init__(self, columns: Mapping[str, Sequence[Value]]) -> None:
        super().__init__({name: _array(name, values) for name, values in columns.items()})

    def __missing__(self, name: object) -> NDArray[Any]:
        raise unknown("column", name, self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.lists() == other.lists()

    def __ne__(self, other: object) -> bool:
        return not self == other  # dict has one of its own

    def __repr__(self) -> str:
        return f"<Table of {', '.join(self)}: generations 0 to {len(next(iter(self.values()))) - 1}>"

    @property
    def header(self) -> tuple[str, ...]:
        """The names of a row's values."""
        return ("generation", *self)

    def lists(self) -> dict[str, list[Value]]:
        """Return the columns as lists of Python's numbers, with None for what is not defined."""
        return {name: [None if value != value else value for value in values.tolist()] for name, values in self.items()}

    def rows(self) -> Iterator[tuple[Value, ...]]:
        """Yield each generation's number and values, in Python's numbers, with None for what is not defined."""
        for generation, values in enumerate(zip(*self.lists().values(), strict=True)):
            yield generation, *values


def _array(name: str, values: Sequence[Value]) -> NDArray[Any]:
    exceeds = is_whole(name) and max(values, default=0) >= 1 << 63  # type: ignore[type-var, operator]
    dtype = np.float64 if name == "dimension" else np.int64 if is_whole(name) and not exceeds else object
    array: NDArray[Any] = np.array(values, dtype)
    array.flags.writeable = False
    return array


def is_whole(column: str) -> bool:
    """Return whether a column holds integers.

    >>> is_whole("boxes 4"), is_whole("density")
    (True, False)
    """
    return column not in ("dimension", "density") and not column.startswith("population/")


def parse_section(text: str, dimension: int) -> Section:
    """Return (axis, value) of a plane written as z=0 or x3=-1; UsageError where it is none in this number of dimensions.

    >>> parse_section("z=0", 3), parse_section("x1=-2", 4)
    ((2, 0), (1, -2))
    """
    match = _SECTION.fullmatch(f"section {text.strip()}")
    axis = -1 if match is None else int(match[1][1:]) if match[1][1:] else "xyz".index(match[1])
    if match is None or axis >= dimension:
        axes = ", ".join(axis_names(dimension))
        raise UsageError(f"section must be AXIS=VALUE with an axis of {axes} and an integer, got {text!r}")
    return axis, int(match[2])


class ColumnRecorder:
    """Records the columns of a growth's table from its batches.

    Args:
        columns: their names.
        rule: the rule of the growth.
        generations: the last generation.

    Raises:
        UsageError: a column is unknown or does not fit the rule.
        InsufficientMemoryError: counting boxes would not fit.
    """

    def __init__(self, columns: Sequence[str], rule: Rule, generations: int) -> None:
        named = items("columns", columns, "names of columns")
        self.columns = tuple(dict.fromkeys(name for name in named if isinstance(name, str)))
        if not all(isinstance(name, str) for name in named):
            raise UsageError(f"columns must hold names of columns, got {shown(columns)}")
        self._rule = rule
        self.section: Section | None = None
        """The plane whose newborns batches must count, if any."""
        self._boxes: Boxes | None = None
        self._delays: dict[str, int] = {}
        self._series: dict[str, list[NDArray[np.uint64]]] = {}
        sides = []
        for name in self.columns:
            boxes, delay = _BOXES.fullmatch(name), _DELAY.fullmatch(name)
            if name.startswith("section "):
                section = parse_section(name.removeprefix("section "), rule.dimension)
                if self.section not in (None, section):
                    raise UsageError(f"columns may hold one section, got {', '.join(self.columns)}")
                self.section, self._section_name = section, name
            elif boxes is not None:
                sides.append(int(boxes[1]))
            elif delay is not None:
                self._delays[name] = int(delay[1])
            elif name in ("p-positions", "n-positions"):
                if min(rule.box(generations)[0]) < 0:
                    raise UsageError(f"column {name!r} needs cells that are positions of Nim, without negative coordinates")
            elif name not in (*DEFAULT_COLUMNS, "dimension", "density", self._scaled):
                raise unknown("column", name, self.known)
        if any(side < 1 or side & side - 1 or side >> _LEVELS + 1 for side in sides):
            raise UsageError(f"boxes must have a side that is a power of two up to 2^{_LEVELS}, got {', '.join(map(str, sides))}")
        if sides or "dimension" in self.columns:
            self._boxes = Boxes(*rule.box(generations))
        self._earliest = Earliest(rule) if self._delays else None
        self._positions = any(name in self.columns for name in ("p-positions", "n-positions"))

    @property
    def needs_cells(self) -> bool:
        """Whether batches must have their cells."""
        return self._positions or self._boxes is not None or self._earliest is not None

    @property
    def known(self) -> tuple[str, ...]:
        """The columns of this rule, with examples of the numbers in names."""
        return (*list(COLUMNS)[:-1], self._scaled)

    @property
    def _scaled(self) -> str:
        return f"population/n^{self._rule.dimension}"

    def add(self, batch: Batch) -> None:
        """Record the next batch."""
        if self.section is not None:
            assert batch.section is not None
            self._keep(self._section_name, batch.section)
        if not self.needs_cells:
            return
        assert batch.cells is not None
        stops = np.cumsum(batch.births).astype(np.int64)
        if self._positions:
            counted = np.concatenate(([0], np.cumsum(nim_sum_is_zero(batch.cells))))
            self._keep("p-positions", np.diff(counted[stops], prepend=0).astype(np.uint64))
        if self._earliest is not None:
            born = np.repeat(np.arange(len(stops)), batch.births.astype(np.int64))
            delays = born + batch.first - self._earliest.generations(batch.cells)
            for name, delay in self._delays.items():
                self._keep(name, np.bincount(born[delays == delay], minlength=len(stops)).astype(np.uint64))
        if self._boxes is not None:
            counts = [self._boxes.enter(cells) for cells in by_generation(batch.cells, batch.births)]
            self._keep("boxes", np.array(counts, np.uint64).reshape(len(stops), -1))

    def table(self, births: NDArray[np.uint64]) -> Table:
        """Return the table of the generations so far."""
        return Table({name: self._column(name, births) for name in self.columns})

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the state as named arrays, to resume from."""
        state: dict[str, NDArray[np.generic]] = {name: np.concatenate(parts) for name, parts in self._series.items()}
        if self._boxes is not None:
            state.update(self._boxes.state())
        return state

    def restore(self, state: Mapping[str, NDArray[np.generic]], columns: Sequence[str]) -> None:
        """Resume from the state of a growth that recorded `columns`.

        Raises:
            UsageError: that growth did not record what these columns need.
        """
        recorded = {key for name in columns for key in self._needs(name)}
        for name in self.columns:
            if not self._needs(name) <= recorded:
                raise UsageError(f"column {name!r} must be measured from the start, and this growth measured {', '.join(columns)}")
        if self._boxes is not None:
            self._boxes.restore(state)
        wanted = {key for name in self.columns for key in self._needs(name)}
        self._series = {name: [np.asarray(state[name], np.uint64)] for name in wanted}

    def _needs(self, name: str) -> set[str]:
        """What is recorded for a column: nothing for those that births give."""
        if name.startswith(("section ", "delay ")):
            return {name}
        if name in ("p-positions", "n-positions"):
            return {"p-positions"}
        return {"boxes"} if name.startswith("boxes ") or name == "dimension" else set()

    def _keep(self, name: str, counts: NDArray[np.uint64]) -> None:
        self._series.setdefault(name, []).append(counts)

    def _column(self, name: str, births: NDArray[np.uint64]) -> Sequence[Value]:
        newborns: list[int] = births.tolist()
        population = list(accumulate(newborns))
        generations = range(len(newborns))
        if name == "births":
            return newborns
        if name == "population":
            return population
        if name == "density":
            return [Fraction(alive, self._room(n)) for n, alive in zip(generations, population, strict=True)]
        if name == self._scaled:
            power = self._rule.dimension
            return [Fraction(alive, n**power) if n else None for n, alive in zip(generations, population, strict=True)]
        if name.startswith("section "):
            return list(accumulate(self._whole(name).tolist()))
        if name.startswith("delay "):
            delayed: list[int] = self._whole(name).tolist()
            return delayed
        if name in ("p-positions", "n-positions"):
            winning = self._whole("p-positions").tolist()
            return winning if name[0] == "p" else [b - p for b, p in zip(newborns, winning, strict=True)]
        # Sides 1, 2, 4, ...: a box of side 1 is a cell.
        boxes = [population, *(list(accumulate(column)) for column in self._whole("boxes").T.tolist())]
        if name == "dimension":
            return [self._dimension(n, [column[n] for column in boxes]) for n in generations]
        return boxes[int(name.removeprefix("boxes ")).bit_length() - 1]

    def _whole(self, name: str) -> NDArray[np.uint64]:
        return np.concatenate(self._series[name])

    def _room(self, generation: int) -> int:
        """How many cells the bounding box of a generation has, counting those of even sum if the growth has no others."""
        cells, surplus = 1, 1
        for low, high in zip(*self._rule.box(generation), strict=True):
            cells *= high - low + 1
            surplus *= 0 if (high - low) % 2 else -1 if low % 2 else 1  # number of even minus number of odd coordinates
        return (cells + surplus) // 2 if self._rule.even_sum else cells

    def _dimension(self, generation: int, boxes: list[int]) -> float | None:
        extent = max(high - low + 1 for low, high in zip(*self._rule.box(generation), strict=True))
        sizes = min(extent.bit_length(), _LEVELS + 1)
        if sizes < 2:
            return None
        return float(-np.polyfit(np.arange(sizes), np.log2(boxes[:sizes]), 1)[0])


class Boxes:
    """Which boxes of side 2, 4, 8, ... hold a cell: one bit per box, from the smallest up.

    Only boxes that are new at one side are examined at the next, so that almost all of the work is at side 2.

    >>> boxes = Boxes((0, 0), (3, 3))
    >>> boxes.enter(np.array([[0, 0], [0, 1], [2, 3]]))[:3], boxes.enter(np.array([[1, 1], [3, 0]]))[:3]
    ([2, 1, 1], [1, 0, 0])
    """

    def __init__(self, lower: tuple[int, ...], upper: tuple[int, ...]) -> None:
        self._origins = [np.array(lower, np.int64) >> level for level in range(1, _LEVELS + 1)]
        self._shapes = [
            tuple(int(size) for size in (np.array(upper, np.int64) >> level) - origin + 1)
            for level, origin in enumerate(self._origins, 1)
        ]
        sizes = [math.prod(shape) // 8 + 1 for shape in self._shapes]
        require_memory(sum(sizes), host_memory(), "counting boxes")
        self._bits = [np.zeros(size, np.uint8) for size in sizes]

    def enter(self, cells: Cells) -> list[int]:
        """Add cells (N, d) and return how many boxes of each side are new."""
        coordinates = np.asarray(cells, np.int64).T
        found = [0] * _LEVELS
        levels = zip(self._origins, self._shapes, self._bits, strict=True)
        for level, (origin, shape, bits) in enumerate(levels):
            if not coordinates.size:
                break
            coordinates = coordinates >> 1
            keys = np.unique(np.ravel_multi_index(tuple(coordinates - origin[:, None]), shape))
            places, flags = keys >> 3, np.uint8(1) << (keys & 7).astype(np.uint8)
            new = bits[places] & flags == 0
            np.bitwise_or.at(bits, places[new], flags[new])
            coordinates = np.stack(np.unravel_index(keys[new], shape)) + origin[:, None]
            found[level] = int(np.count_nonzero(new))
        return found

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the boxes of side 2, from which the others follow."""
        shape = np.array(self._shapes[0], np.int64)
        return {"boxes.bits": self._bits[0].copy(), "boxes.origin": self._origins[0], "boxes.shape": shape}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        """Add the boxes of a state, which may be of a smaller or larger growth."""
        bits, shape = state["boxes.bits"].view(np.uint8), tuple(state["boxes.shape"].tolist())
        origin = np.asarray(state["boxes.origin"], np.int64)[:, None]
        for start in range(0, len(bits), _BLOCK):
            keys = np.flatnonzero(np.unpackbits(bits[start : start + _BLOCK], bitorder="little")) + 8 * start
            if len(keys):
                self.enter(((np.stack(np.unravel_index(keys, shape)) + origin) << 1).T)
