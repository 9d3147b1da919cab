"""Columns of the table of a growth: exact values, one per generation.

Counts are integers, ratios are fractions, the dimension is a float; what is not defined (n = 0 divided by) is None. A new column is
a class decorated with `COLUMNS.add`: its name and summary, what it keeps of each batch, and what it makes of that. A
`ColumnRecorder` records those of one growth.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.formulas import nim_sum_is_zero
from gpu_nim.automata.measures import LEVELS, MAX_DIMENSION, Boxes, NewCells
from gpu_nim.backends.interface import Batch, Section, State
from gpu_nim.model.arguments import items, short_repr
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry, unknown
from gpu_nim.model.rule import Rule, axis_names

Value = int | Fraction | float | None

DEFAULT_COLUMNS = ("births", "population")
_PLANE = re.compile(r"([xyz]|x[0-7])=(-?[0-9]+)")


class Column:
    """A column of one growth; a subclass is an entry of `COLUMNS`.

    The class attributes describe the column:

    - name: its name; a number in it is an example.
    - summary: what it holds, in a line.
    - pattern: a regular expression of all its names, with the argument as a group; by default of the name alone.
    - dtype: int64 for integers of any size, float64 for fractions and floats.
    - needs_cells: whether it counts cells, and not births alone.
    - kept: the name of what it keeps of each batch, with {} for the argument; columns with the same one share it. None where births
      are enough.
    - section: the plane whose newborns the engine must count for it, which `check` may set.

    Args:
        argument: what the name has in place of the example's number.
        rule: the rule of the growth.
        generations: the last generation.

    Raises:
        UsageError: the column does not fit the rule.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    pattern: ClassVar[str] = ""
    dtype: ClassVar[Any] = np.int64
    needs_cells: ClassVar[bool] = False
    kept: str | None = None
    section: Section | None = None

    def __init__(self, argument: str, rule: Rule, generations: int) -> None:
        self.argument, self.rule, self.generations = argument, rule, generations
        self.kept = None if self.kept is None else self.kept.format(argument)
        self.check()

    @classmethod
    def named_for(cls, rule: Rule) -> str:
        """Return the name, or an example of it, for growths of this rule.

        Args:
            rule: the rule.
        """
        return cls.name

    def check(self) -> None:
        """Raise UsageError where the column does not fit the rule."""

    def keeper(self) -> "Column | Boxes":
        """Return what keeps, restores and has a state; only one of the columns that share what they keep does so."""
        return self

    def keep(self, newborns: NewCells) -> NDArray[np.uint64]:
        """Return what is kept of a batch: a number or a row of them for each generation.

        Args:
            newborns: those of the batch.
        """
        raise NotImplementedError

    def state(self) -> State:
        """Return what keeping needs beside the newborns, as named arrays, to resume from."""
        return {}

    def restore(self, state: State) -> None:
        """Resume from such a state.

        Args:
            state: the named arrays of a growth, others among them.
        """

    def values(self, births: list[int], kept: NDArray[np.uint64]) -> Sequence[Value]:
        """Return the values of all generations, by default the numbers that were kept.

        Args:
            births: of each generation.
            kept: what was kept, a row a generation; empty for a column that keeps nothing.
        """
        found: list[int] = kept.tolist()
        return found


#: The columns by their names, of which numbers are examples.
COLUMNS = Registry[type[Column]]("column")


@COLUMNS.add
class _Births(Column):
    name = "births"
    summary = "cells born in generation n"

    def values(self, births: list[int], kept: NDArray[np.uint64]) -> Sequence[Value]:
        return births


@COLUMNS.add
class _Population(Column):
    name = "population"
    summary = "cells alive at generation n"

    def values(self, births: list[int], kept: NDArray[np.uint64]) -> Sequence[Value]:
        return list(accumulate(births))


@COLUMNS.add
class _Section(Column):
    name = "section z=0"
    summary = "living cells of a plane: an axis, x, y, z or x0 to x7, and a value"
    pattern = "section (.*)"
    kept = "section {}"

    def check(self) -> None:
        self.section = parse_section(self.argument, self.rule.dimension)

    def keep(self, newborns: NewCells) -> NDArray[np.uint64]:
        assert newborns.batch.section is not None
        return newborns.batch.section

    def values(self, births: list[int], kept: NDArray[np.uint64]) -> Sequence[Value]:
        return list(accumulate(kept.tolist()))


@COLUMNS.add
class _PPositions(Column):
    name = "p-positions"
    summary = "births that are P-positions of Nim: their nim-sum is 0"
    needs_cells = True
    kept = "p-positions"

    def check(self) -> None:
        if min(self.rule.box(self.generations)[0]) < 0:
            raise UsageError(f"column {self.name!r} needs cells that are positions of Nim, without negative coordinates")

    def keep(self, newborns: NewCells) -> NDArray[np.uint64]:
        return newborns.count(nim_sum_is_zero(newborns.cells))


@COLUMNS.add
class _NPositions(_PPositions):
    name = "n-positions"
    summary = "births that are not"

    def values(self, births: list[int], kept: NDArray[np.uint64]) -> Sequence[Value]:
        return [born - winning for born, winning in zip(births, kept.tolist(), strict=True)]


@COLUMNS.add
class _Delay(Column):
    name = "delay 0"
    summary = "births as early as offsets reach from a seed, by directions of -1, 0 and 1; `delay K`: K generations later"
    pattern = "delay ([0-9]{1,10})"
    needs_cells = True
    kept = "delay {}"

    def check(self) -> None:
        if self.rule.dimension > MAX_DIMENSION:
            raise UsageError(f"delays need a rule of at most {MAX_DIMENSION} dimensions, got {self.rule.dimension}")

    def keep(self, newborns: NewCells) -> NDArray[np.uint64]:
        return newborns.count(newborns.delays == int(self.argument))


@COLUMNS.add
class _BoxCount(Column):
    name = "boxes 2"
    summary = "boxes of side 2, or any power of two, with corners at its multiples, that hold a living cell"
    pattern = "boxes ([0-9]+)"
    needs_cells = True
    kept = "boxes"

    def check(self) -> None:
        side = int(self.argument or 1)
        if side < 1 or side & side - 1 or side >> LEVELS + 1:
            raise UsageError(f"boxes must have a side that is a power of two up to 2^{LEVELS}, got {side}")

    def keeper(self) -> Boxes:
        return Boxes(*self.rule.box(self.generations))

    def values(self, births: list[int], kept: NDArray[np.uint64]) -> Sequence[Value]:
        return self.by_side(births, kept)[int(self.argument).bit_length() - 1]

    def by_side(self, births: list[int], kept: NDArray[np.uint64]) -> list[list[int]]:
        """The boxes of side 1, 2, 4, ... at each generation; a box of side 1 is a cell."""
        return [list(accumulate(births)), *(list(accumulate(column)) for column in kept.T.tolist())]


@COLUMNS.add
class _Dimension(_BoxCount):
    name = "dimension"
    summary = "box-counting dimension: the least-squares slope of log(boxes S) by log(1/S), S from 1 to the extent"
    pattern = ""
    dtype = np.float64

    def values(self, births: list[int], kept: NDArray[np.uint64]) -> Sequence[Value]:
        boxes = self.by_side(births, kept)
        return [self._slope(n, [column[n] for column in boxes]) for n in range(len(births))]

    def _slope(self, generation: int, boxes: list[int]) -> float | None:
        extent = max(high - low + 1 for low, high in zip(*self.rule.box(generation), strict=True))
        sizes = min(extent.bit_length(), LEVELS + 1)
        if sizes < 2:
            return None
        return float(-np.polyfit(np.arange(sizes), np.log2(boxes[:sizes]), 1)[0])


@COLUMNS.add
class _Density(Column):
    name = "density"
    summary = "population over the cells of the box that as many free steps from seeds reach; of those of even sum, where all are"
    dtype = np.float64

    def values(self, births: list[int], kept: NDArray[np.uint64]) -> Sequence[Value]:
        return [Fraction(alive, self._room(n)) for n, alive in enumerate(accumulate(births))]

    def _room(self, generation: int) -> int:
        """How many cells the box of a generation has (`Rule.box`), counting those of even sum if the growth has no others."""
        cells, surplus = 1, 1
        for low, high in zip(*self.rule.box(generation), strict=True):
            cells *= high - low + 1
            surplus *= 0 if (high - low) % 2 else -1 if low % 2 else 1  # number of even minus number of odd coordinates
        return (cells + surplus) // 2 if self.rule.even_sum else cells


@COLUMNS.add
class _Scaled(Column):
    name = "population/n^3"
    summary = "population over n to the power of the dimension of space"
    pattern = r"population/n\^([0-9]+)"
    dtype = np.float64

    def check(self) -> None:
        if self.argument != str(self.rule.dimension):
            raise unknown_column(f"population/n^{self.argument}", self.rule)

    @classmethod
    def named_for(cls, rule: Rule) -> str:
        return f"population/n^{rule.dimension}"

    def values(self, births: list[int], kept: NDArray[np.uint64]) -> Sequence[Value]:
        power = self.rule.dimension
        return [Fraction(alive, n**power) if n else None for n, alive in enumerate(accumulate(births))]


def find_column(name: str) -> tuple[type[Column], str] | None:
    """Return the entry of a name, and the argument in it; None where there is none."""
    for entry in COLUMNS.values():
        match = re.fullmatch(entry.pattern or re.escape(entry.name), name)
        if match is not None:
            return entry, "".join(match.groups())
    return None


def unknown_column(name: str, rule: Rule) -> UsageError:
    """Return the error for a name that no column of growths of this rule has."""
    return unknown("column", name, [entry.named_for(rule) for entry in COLUMNS.values()])


def is_whole(column: str) -> bool:
    """Return whether a column holds integers.

    >>> is_whole("boxes 4"), is_whole("density")
    (True, False)
    """
    return dtype_of(column) is np.int64


def dtype_of(column: str) -> Any:
    """Return the dtype of a column: int64 for integers of any size, float64 for fractions and floats."""
    found = find_column(column)
    return np.int64 if found is None else found[0].dtype


def parse_section(text: str, dimension: int) -> Section:
    """Return (axis, value) of a plane written as z=0 or x3=-1; UsageError where it is none in this number of dimensions.

    >>> parse_section("z=0", 3), parse_section("x1=-2", 4)
    ((2, 0), (1, -2))
    """
    match = _PLANE.fullmatch(text.strip())
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

    Attributes:
        columns: their names, each once.
        section: the plane whose newborns batches must count, if any.
        needs_cells: whether batches must have their cells.

    Raises:
        UsageError: a column is unknown or does not fit the rule.
        InsufficientMemoryError: counting boxes would not fit.
    """

    def __init__(self, columns: Sequence[str], rule: Rule, generations: int) -> None:
        named = items("columns", columns, "names of columns")
        self._rule = rule
        self._columns: dict[str, Column] = {}
        for name in named:
            if not isinstance(name, str):
                raise UsageError(f"columns must hold names of columns, got {short_repr(columns)}")
            found = find_column(name)
            if found is None:
                raise unknown_column(name, rule)
            self._columns.setdefault(name, found[0](found[1], rule, generations))
        self.columns = tuple(self._columns)
        sections = {column.section for column in self._columns.values()} - {None}
        if len(sections) > 1:
            raise UsageError(f"columns may hold one section, got {', '.join(self.columns)}")
        self.section = next(iter(sections), None)
        self.needs_cells = any(column.needs_cells for column in self._columns.values())
        self._keeping: dict[str, Column | Boxes] = {}
        for column in self._columns.values():
            if column.kept is not None and column.kept not in self._keeping:
                self._keeping[column.kept] = column.keeper()
        self._kept: dict[str, list[NDArray[np.uint64]]] = {name: [] for name in self._keeping}

    def add(self, batch: Batch) -> None:
        """Record the next batch."""
        newborns = NewCells(batch, self._rule)
        for name, keeper in self._keeping.items():
            self._kept[name].append(keeper.keep(newborns))

    def values(self, births: NDArray[np.integer]) -> dict[str, Sequence[Value]]:
        """Return the values of the columns in the generations so far."""
        whole, kept = births.tolist(), {name: np.concatenate(parts) for name, parts in self._kept.items() if parts}
        nothing = np.zeros(0, np.uint64)
        return {name: column.values(whole, kept.get(column.kept or "", nothing)) for name, column in self._columns.items()}

    def state(self) -> State:
        """Return the state as named arrays, to resume from."""
        state: State = {name: np.concatenate(parts) for name, parts in self._kept.items() if parts}
        for keeper in self._keeping.values():
            state.update(keeper.state())
        return state

    def restore(self, state: State, columns: Sequence[str]) -> None:
        """Resume from the state of a growth that recorded `columns`.

        Raises:
            UsageError: that growth did not record what these columns need.
        """
        for name, column in self._columns.items():
            if column.kept is not None and column.kept not in state:
                raise UsageError(f"column {name!r} must be measured from the start, and this growth measured {', '.join(columns)}")
        for name, keeper in self._keeping.items():
            keeper.restore(state)
            self._kept[name] = [np.asarray(state[name], np.uint64)]
