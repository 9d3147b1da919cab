"""CSV files: tables, and growths as the table of their columns, one generation per line."""

import csv
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain
from pathlib import Path

from gpu_nim.automata.columns import Value
from gpu_nim.automata.growth import Growth
from gpu_nim.backends.interface import Batch
from gpu_nim.storage.atomic import check_output, replacing


def as_number(value: Value) -> int | float | None:
    """Return a value of a table for text formats: integers unchanged, fractions as the nearest double."""
    return float(value) if isinstance(value, Fraction) else value


def check_csv(path: Path) -> None:
    """Raise UsageError or FileError where `save_table` would, to be called before long work."""
    check_output(path, "the file of a table", (".csv",))


def save_table(rows: Iterable[Sequence[object]], path: Path) -> None:
    """Write rows to a .csv file, one a line; None is empty. The write is atomic.

    Args:
        rows: the rows, the header first.
        path: the file.

    Raises:
        UsageError: the file has another suffix.
        FileError: the file cannot be written.
    """
    check_csv(path)
    with replacing(path) as scratch:
        write_rows(scratch, rows)


def write_rows(path: Path, rows: Iterable[Iterable[object]]) -> None:
    """Write rows to a new file, one a line."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


class CsvGrowthWriter:
    """Writes the growth's table when it is finished; it needs no cells."""

    wants_cells = False

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, batch: Batch) -> None:
        """Ignore the batch: the finished growth has its table."""

    def finish(self, growth: Growth) -> None:
        """Write a header, then one generation per line; undefined values are empty."""
        write_rows(self._path, chain([growth.table.header], (map(as_number, row) for row in growth.table.rows())))
