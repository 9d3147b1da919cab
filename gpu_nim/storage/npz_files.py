"""Growths as npz: one file of NumPy arrays, for what fits in memory.

Arrays births, checksums and cells as in `zarr_files`, and attributes, a JSON text.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gpu_nim.automata.cell_sources import CellsInMemory, Newborns, by_generation
from gpu_nim.automata.growth import Growth
from gpu_nim.backends.interface import Batch
from gpu_nim.model.memory import host_memory
from gpu_nim.storage.file_checks import Declared, reading, require_room
from gpu_nim.storage.growth_attributes import check_declared, sealed, to_growth
from gpu_nim.storage.npz_arrays import NpzArrays


class NpzGrowthWriter:
    """Keeps the cells in memory, and writes all at the end."""

    wants_cells = True

    def __init__(self, path: Path) -> None:
        self._path = path
        self._cells = CellsInMemory(host_memory() // 3)

    def append(self, batch: Batch) -> None:
        """Take the next batch's cells; InsufficientMemoryError where they would not fit."""
        self._cells.add(batch)

    def finish(self, growth: Growth) -> None:
        """Write the file."""
        cells = self._cells.packed()
        attributes = sealed(growth, {"cells": Declared(cells.dtype, cells.shape)})
        np.savez_compressed(
            self._path, births=growth.births, checksums=growth.checksums, cells=cells, attributes=json.dumps(attributes)
        )


def load_npz_growth(path: Path) -> Growth:
    """Read the growth in an npz file; see `gpu_nim.storage.save_load.load`."""
    with reading(path, "npz file"), NpzArrays(path) as arrays:
        attributes = arrays.attributes()
        check_declared(path, attributes, arrays.declared)
        require_room(path, arrays.declared)
        births, checksums, cells = (arrays.read(name) for name in ("births", "checksums", "cells"))

    def read(first: int, stop: int) -> Iterator[Newborns]:
        yield from enumerate(by_generation(cells, births)[first:stop], first)

    return to_growth(path, attributes, births, checksums, arrays.declared, read)
