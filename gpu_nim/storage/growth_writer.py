"""The interface of writers of growths, for any format."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.growth import Growth
from gpu_nim.backends.interface import Batch

_BATCH = 1 << 16  # cells that a writer gets at a time, or a few more


class GrowthWriter(Protocol):
    """Writes a growth: takes every batch, then the finished growth."""

    wants_cells: bool
    """Whether the batches must have their cells."""

    def append(self, batch: Batch) -> None:
        """Take the next batch."""

    def finish(self, growth: Growth) -> None:
        """Complete the file from the finished growth."""


def write_growth(writer: GrowthWriter, growth: Growth) -> None:
    """Pass a finished growth to a writer in batches, some generations at a time."""
    if writer.wants_cells:
        waiting: list[NDArray[np.integer]] = []
        first = count = 0
        for generation, cells in growth:
            waiting.append(cells)
            count += len(cells)
            if count >= _BATCH or generation == growth.generations:
                part = slice(first, generation + 1)
                writer.append(Batch(first, growth.births[part], growth.checksums[part], np.concatenate(waiting)))
                first, count, waiting = generation + 1, 0, []
    writer.finish(growth)
