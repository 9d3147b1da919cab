"""Births as CSV: generation, births, population, a generation a line."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path

from gpu_nim.automata.growth import Growth
from gpu_nim.backends.base import Batch
from gpu_nim.storage.atomic import replacing


class CsvGrowthSink:
    """Writes the births when the growth is finished; it has no use for cells."""

    wants_cells = False

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, batch: Batch) -> None:
        """Leave the batch: the finished growth holds all births."""

    def finish(self, growth: Growth) -> None:
        """Write the table."""
        births = growth.births.tolist()
        with self._path.open("w", newline="", encoding="ascii") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("generation", "births", "population"))
            writer.writerows(zip(range(len(births)), births, accumulate(births), strict=True))


@contextmanager
def open_csv_growth(path: Path) -> Iterator[CsvGrowthSink]:
    """Open a CSV file for a growth's births; see `gpu_nim.storage.open_growth`."""
    with replacing(path) as scratch:
        yield CsvGrowthSink(scratch)
