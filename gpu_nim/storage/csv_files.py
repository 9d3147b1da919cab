"""Growths as CSV: the table of a growth's columns, one generation per line."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

from gpu_nim.automata.columns import Table, Value
from gpu_nim.automata.growth import Growth
from gpu_nim.backends.interface import Batch
from gpu_nim.storage.atomic import replacing


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
        """Write the table."""
        write_csv(growth.table, self._path)


def write_csv(table: Table, path: Path) -> None:
    """Write a table as CSV: a header, then one generation per line; undefined values are empty."""
    with path.open("w", newline="", encoding="ascii") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.header)
        writer.writerows([as_number(value) for value in row] for row in table.rows())


@contextmanager
def open_csv_growth(path: Path) -> Iterator[CsvGrowthWriter]:
    """Open a CSV file for a growth's table; see `gpu_nim.storage.growth_formats.open_growth`."""
    with replacing(path) as scratch:
        yield CsvGrowthWriter(scratch)
