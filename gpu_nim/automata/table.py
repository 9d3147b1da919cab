"""The table of a growth: its columns, recorded from the batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.columns import Column, Newborns, State, Value, dtype_of, find_column, unknown_column
from gpu_nim.backends.interface import Batch
from gpu_nim.model.arguments import items, shown
from gpu_nim.model.errors import UsageError, missing
from gpu_nim.model.presentation import html_table
from gpu_nim.model.registry import unknown
from gpu_nim.model.rule import Rule

_SHOWN = 24  # rows in a notebook


class Table(dict[str, NDArray[Any]]):
    """Columns by name: read-only arrays with one exact value per generation, generation 0 first.

    Counts are int64, or of dtype object with Python integers where one exceeds 64 bits; ratios are of dtype object with fractions,
    and None where they are not defined; the dimension is float64 with NaN there. A table is a dict, of which polars makes a data
    frame of exact values, and `to_pandas` one of numbers to plot.

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

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (dict(self),)  # made again, since arrays are pickled without being read-only

    def __repr__(self) -> str:
        return f"<Table of {', '.join(self)}: generations 0 to {len(next(iter(self.values()))) - 1}>"

    def _repr_html_(self) -> str:
        rows = [*islice(self.rows(), _SHOWN + 1)]
        return html_table((self.header, *rows[:_SHOWN], *[("...",)] * (len(rows) > _SHOWN)))

    def numeric(self) -> dict[str, NDArray[Any]]:
        """Return the columns with fractions as float64, and NaN where they are not defined; integers stay exact."""
        return {name: values.astype(np.float64) if dtype_of(name) is object else values for name, values in self.items()}

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` of the columns, the index of which is the generation; fractions are float64 in it.

        Raises:
            MissingDependency: pandas is not installed.

        >>> from gpu_nim import grow
        >>> frame = grow("nim", 7, columns=["births", "density"]).table.to_pandas()
        >>> frame.density[7], frame.dtypes.astype(str).tolist()
        (np.float64(0.25), ['int64', 'float64'])
        """
        try:
            import pandas
        except ImportError:
            raise missing("a data frame needs pandas", "pandas") from None
        columns = self.numeric()
        return pandas.DataFrame(columns, pandas.RangeIndex(len(next(iter(columns.values()))), name=self.header[0]))

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
    dtype = dtype_of(name)
    if dtype is np.int64 and not all(isinstance(value, int | np.integer) for value in values):
        raise TypeError(f"column {name!r} holds other numbers than integers: its dtype is another")  # NumPy would truncate them
    exceeds = dtype is np.int64 and max(values, default=0) >= 1 << 63  # type: ignore[type-var, operator]
    array: NDArray[Any] = np.array(values, object if exceeds else dtype)
    array.flags.writeable = False
    return array


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
                raise UsageError(f"columns must hold names of columns, got {shown(columns)}")
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
        self._keeping: dict[str, Column] = {}
        for column in self._columns.values():
            if column.kept is not None and column.kept not in self._keeping:
                column.begin()
                self._keeping[column.kept] = column
        self._kept: dict[str, list[NDArray[np.uint64]]] = {name: [] for name in self._keeping}

    def add(self, batch: Batch) -> None:
        """Record the next batch."""
        newborns = Newborns(batch, self._rule)
        for name, column in self._keeping.items():
            self._kept[name].append(column.keep(newborns))

    def table(self, births: NDArray[np.uint64]) -> Table:
        """Return the table of the generations so far."""
        whole, kept = births.tolist(), self._series()
        nothing = np.zeros(0, np.uint64)
        return Table({name: column.values(whole, kept.get(column.kept or "", nothing)) for name, column in self._columns.items()})

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the state as named arrays, to resume from."""
        state: dict[str, NDArray[np.generic]] = {**self._series()}
        for column in self._keeping.values():
            state.update(column.state())
        return state

    def restore(self, state: State, columns: Sequence[str]) -> None:
        """Resume from the state of a growth that recorded `columns`.

        Raises:
            UsageError: that growth did not record what these columns need.
        """
        for name, column in self._columns.items():
            if column.kept is not None and column.kept not in state:
                raise UsageError(f"column {name!r} must be measured from the start, and this growth measured {', '.join(columns)}")
        for name, column in self._keeping.items():
            column.restore(state)
            self._kept[name] = [np.asarray(state[name], np.uint64)]

    def _series(self) -> dict[str, NDArray[np.uint64]]:
        """What was kept, each as one array."""
        return {name: np.concatenate(parts) for name, parts in self._kept.items() if parts}
