"""Voxels of a growth, slab by slab, without the whole cube in memory: the birth generation of each cell as a chunked Zarr v3 array.

Newborns are spread over the whole space, and voxels are written in order.  So the cells are written to scratch files first, one for
every 64 layers, and at the end each 64 layers are filled from the one or two files with their cells.  64 layers are in memory.

    NAME.zarr             one array, voxel [i, j, k] for the cell origin + (i, j, k); its dimensions are named x, y, z
                          uint16, or uint32 where generations need it: generation of birth + 1, 0 where nothing was born
                          attributes origin, spacing, automaton, generations, population, digest and provenance
"""

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.growth import Growth
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.work import interrupts_deferred
from gpu_nim.storage.file_checks import store_of
from gpu_nim.storage.growth_files import batches, of_growth
from gpu_nim.storage.zarr_growths import shuffled_zstd

KIND = "gpunim voxels"
FORMAT = 1
SIDE = 64
"""Layers a slab, and the side of a chunk: 512 KB of uint16."""
_READ = 1 << 20  # cells read from a scratch file at a time
is_voxels = store_of(KIND)
"""Whether a folder holds voxels that gpunim wrote, and may therefore be replaced."""


class Slabs:
    """The voxels of a growth, by slabs of `SIDE` layers along an axis, from its cells in scratch files, one for each slab.

    Args:
        growth: the growth, of two or three dimensions.
        folder: where the scratch files are.
        axis: the axis.

    Attributes:
        lower: the corner of the box that the cells fill, int64 of shape (d,).
        shape: the box's number of cells along each axis.
        dtype: that of voxels: the smallest of uint16 and uint32 that holds the last generation + 1.
    """

    def __init__(self, growth: Growth, folder: Path, axis: int = 0) -> None:
        self._folder, self._axis = folder, axis
        self.dtype: np.dtype[Any] = np.dtype(np.uint16 if growth.generations + 1 < 2**16 else np.uint32)
        self._kind: np.dtype[Any] = np.dtype(np.int32)
        corners: list[NDArray[Any]] = []
        for batch in batches(growth):
            assert batch.cells is not None
            self._kind = batch.cells.dtype
            numbers = np.arange(batch.first, batch.first + len(batch.births), dtype=self._kind)
            rows = np.column_stack((batch.cells, np.repeat(numbers, batch.births.astype(np.int64))))
            corners += [batch.cells.min(axis=0), batch.cells.max(axis=0)] if len(rows) else []
            rows = rows[np.argsort(rows[:, axis], kind="stable")]
            slabs, starts = np.unique(rows[:, axis] // SIDE, return_index=True)
            for slab, part in zip(slabs.tolist(), np.split(rows, starts[1:]), strict=True):
                with self._path(slab).open("ab") as file:
                    file.write(np.ascontiguousarray(part).data)
        self.lower = np.min(corners, axis=0).astype(np.int64)
        self.shape: tuple[int, ...] = tuple((np.max(corners, axis=0) - self.lower + 1).tolist())

    def __iter__(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (first, voxels) for each slab: the first layer's number within the box, and the layers, the slabs' axis first."""
        low, layers = int(self.lower[self._axis]), self.shape[self._axis]
        rest = [axis for axis in range(len(self.shape)) if axis != self._axis]
        room = [self.shape[axis] for axis in rest]
        require_memory(min(SIDE, layers) * prod(room) * self.dtype.itemsize, host_memory(), f"{SIDE} layers of voxels")
        for first in range(0, layers, SIDE):
            voxels = np.zeros((min(SIDE, layers - first), *room), self.dtype)
            for rows in self._between(low + first, low + first + len(voxels)):
                layer = rows[:, self._axis] - (low + first)
                places = tuple(rows[:, axis] - self.lower[axis] for axis in rest)
                voxels[(layer, *places)] = rows[:, -1] + 1
            yield first, voxels

    def _between(self, first: int, stop: int) -> Iterator[NDArray[np.integer]]:
        """Yield the cells of some layers, with the generation of each."""
        for path in map(self._path, range(first // SIDE, (stop - 1) // SIDE + 1)):
            if not path.exists():
                continue
            width = len(self.lower) + 1
            with path.open("rb") as file:
                while len(rows := np.fromfile(file, self._kind, _READ * width).reshape(-1, width)):
                    yield rows[(rows[:, self._axis] >= first) & (rows[:, self._axis] < stop)]

    def _path(self, slab: int) -> Path:
        return self._folder / f"slab{slab:+d}"


def write_voxels(growth: Growth, path: Path) -> None:
    """Write the voxels of a growth to a new store, and last the attributes, which mark it as complete.

    >>> import tempfile, zarr
    >>> from gpu_nim import grow
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_voxels(grow("edge", 31), Path(folder, "edge.zarr"))
    ...     voxels = zarr.open_array(f"{folder}/edge.zarr", mode="r")
    ...     voxels.shape, int((voxels[:] > 0).sum()), int(voxels[1, 1, 0])
    ((32, 32, 32), 5710, 2)
    """
    import zarr

    slabs = Slabs(growth, path.parent)
    with interrupts_deferred():
        array = zarr.create_array(
            path,
            shape=slabs.shape,
            chunks=tuple(min(SIDE, size) for size in slabs.shape),
            dtype=slabs.dtype,
            fill_value=0,
            compressors=shuffled_zstd(),
            dimension_names=["x", "y", "z"][: len(slabs.shape)],
            zarr_format=3,
        )
    for first, voxels in slabs:
        with interrupts_deferred():
            array[first : first + len(voxels)] = voxels
    with interrupts_deferred():
        array.attrs.update(
            {
                **of_growth(growth),
                "kind": KIND,
                "format": FORMAT,
                "origin": slabs.lower.tolist(),
                "spacing": [1] * len(slabs.shape),
                "value": "generation of birth + 1, 0 where nothing was born",
            }
        )
