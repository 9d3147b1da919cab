"""The columns of a growth's table, recorded from its batches."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.columns import Column, NewCells, State, Value, find_column, unknown_column
from gpu_nim.backends.interface import Batch
from gpu_nim.model.arguments import items, short_repr
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Rule


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
        self._keeping: dict[str, Column] = {}
        for column in self._columns.values():
            if column.kept is not None and column.kept not in self._keeping:
                column.begin()
                self._keeping[column.kept] = column
        self._kept: dict[str, list[NDArray[np.uint64]]] = {name: [] for name in self._keeping}

    def add(self, batch: Batch) -> None:
        """Record the next batch."""
        newborns = NewCells(batch, self._rule)
        for name, column in self._keeping.items():
            self._kept[name].append(column.keep(newborns))

    def values(self, births: NDArray[np.integer]) -> dict[str, Sequence[Value]]:
        """Return the values of the columns in the generations so far."""
        whole, kept = births.tolist(), self._series()
        nothing = np.zeros(0, np.uint64)
        return {name: column.values(whole, kept.get(column.kept or "", nothing)) for name, column in self._columns.items()}

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
