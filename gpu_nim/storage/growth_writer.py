"""The interface of writers of growths, for any format."""

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.growth import Growth
from gpu_nim.backends.communicator import Communicator, gather_cells
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


class GatheringWriter:
    """Gathers the batches of all ranks, a generation each, for a writer on rank 0.

    Args:
        writer: the writer; on other ranks None.
        ranks: the ranks, which call the methods together.
    """

    wants_cells = True

    def __init__(self, writer: GrowthWriter | None, ranks: Communicator) -> None:
        self._writer, self._ranks = writer, ranks

    def append(self, batch: Batch) -> None:
        """Take the next batch, with the cells of this rank."""
        if batch.cells is not None:
            batch = replace(batch, cells=gather_cells(self._ranks, batch.cells))
        if self._writer is not None:
            self._writer.append(batch)

    def finish(self, growth: Growth) -> None:
        """Complete the file, on rank 0."""
        if self._writer is not None:
            self._writer.finish(growth)


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
