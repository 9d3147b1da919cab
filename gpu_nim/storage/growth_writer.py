"""What writes a growth to a file, whatever the format."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.growth import Growth
from gpu_nim.backends.interface import Batch

_BATCH = 1 << 16  # cells that are given to a writer at a time, or a few more


class GrowthWriter(Protocol):
    """Takes a growth as it happens: every batch, then the finished growth."""

    wants_cells: bool
    """Whether the batches must carry their cells."""

    def append(self, batch: Batch) -> None:
        """Take the next batch."""

    def finish(self, growth: Growth) -> None:
        """Complete the file with what is known at the end."""


def write_growth(writer: GrowthWriter, growth: Growth) -> None:
    """Give a finished growth to a writer as if it were growing, some generations at a time."""
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
