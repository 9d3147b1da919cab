"""Growths as CSV: the table of a growth's columns, one generation per line."""

import csv
from fractions import Fraction
from pathlib import Path

from gpu_nim.automata.columns import Value
from gpu_nim.automata.growth import Growth
from gpu_nim.backends.interface import Batch


def as_number(value: Value) -> int | float | None:
    """Return a value of a table for text formats: integers unchanged, fractions as the nearest double."""
    return float(value) if isinstance(value, Fraction) else value


class CsvGrowthWriter:
    """Writes the growth's table when it is finished; it needs no cells."""

    wants_cells = False

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, batch: Batch) -> None:
        """Ignore the batch: the finished growth has its table."""

    def finish(self, growth: Growth) -> None:
        """Write a header, then one generation per line; undefined values are empty."""
        with self._path.open("w", newline="", encoding="ascii") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(growth.table.header)
            writer.writerows([as_number(value) for value in row] for row in growth.table.rows())
