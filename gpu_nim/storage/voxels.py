"""Voxels of a growth, slab by slab, without the whole cube in memory: the birth generation of each cell as a chunked Zarr v3 array.

Newborns are spread over the whole space, and voxels are written in order.  So the cells are written to scratch files first, one for
every 64 layers, and at the end each 64 layers are filled from the one or two files with their cells.  64 layers are in memory.

    NAME.zarr             one array, voxel [i, j, k] for the cell origin + (i, j, k); its dimensions are named x, y, z
                          uint16, or uint32 where generations need it: generation of birth + 1, 0 where nothing was born
                          attributes origin, spacing, automaton, generations, population, digest and provenance
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.growth import Growth
from gpu_nim.backends.interface import Batch
from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.rule import Cells
from gpu_nim.model.work import interrupts_deferred
from gpu_nim.storage.atomic import check_output, replacing
from gpu_nim.storage.file_checks import store_of
from gpu_nim.storage.growth_files import of_growth, write_growth
from gpu_nim.storage.zarr_growths import shuffled_zstd

KIND = "gpunim voxels"
FORMAT = 1
SIDE = 64
"""Layers a slab, and the side of a chunk: 512 KB of uint16."""
_READ = 1 << 20  # cells read from a scratch file at a time
_holds_voxels = store_of(KIND)


class Slabs:
    """Cells and their generations in scratch files, by slabs of `SIDE` layers along an axis; two or three dimensions."""

    def __init__(self, folder: Path, axis: int = 0) -> None:
        self._folder = folder
        self._axis = axis
        self._runs: dict[int, list[tuple[NDArray[np.uint32], NDArray[np.int64]]]] = {}
        self._dtype: np.dtype[Any] = np.dtype(np.int8)
        self._lower: NDArray[np.int64] | None = None
        self._upper: NDArray[np.int64] | None = None
        self.last = 0

    @property
    def lower(self) -> NDArray[np.int64]:
        """The corner of the box that the cells fill, int64 of shape (d,)."""
        assert self._lower is not None
        return self._lower

    @property
    def shape(self) -> tuple[int, ...]:
        """The box's number of cells along each axis."""
        assert self._upper is not None
        return tuple((self._upper - self.lower + 1).tolist())

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of voxels: the smallest of uint16 and uint32 that holds the last generation + 1."""
        return np.dtype(np.uint16 if self.last + 1 < 2**16 else np.uint32)

    def append(self, batch: Batch) -> None:
        """Take the next batch's cells."""
        cells = batch.cells
        assert cells is not None
        _check_dimension(cells.shape[1])
        self.last = batch.first + len(batch.births) - 1
        if not len(cells):
            return
        self._dtype = cells.dtype
        low, high = cells.min(axis=0).astype(np.int64), cells.max(axis=0).astype(np.int64)
        self._lower = low if self._lower is None else np.minimum(low, self._lower)
        self._upper = high if self._upper is None else np.maximum(high, self._upper)
        if max(self.shape) >= 2**31:
            sides = " x ".join(f"{side:,}" for side in self.shape)
            raise UsageError(f"voxels fill a box of fewer than 2^31 cells a side, not {sides} as at generation {self.last}")
        numbers = cells[:, self._axis].astype(np.int64) // SIDE
        order = np.argsort(numbers, kind="stable")
        generations = np.repeat(np.arange(batch.first, self.last + 1, dtype=np.uint32), batch.births.astype(np.int64))[order]
        slabs, starts = np.unique(numbers[order], return_index=True)
        for slab, start, stop in zip(slabs.tolist(), starts, [*starts[1:], len(order)], strict=True):
            with self._path(slab).open("ab") as file:
                file.write(np.ascontiguousarray(cells[order[start:stop]]).data)
            self._runs.setdefault(slab, []).append(np.unique(generations[start:stop], return_counts=True))

    def __iter__(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (first, voxels) for each slab: the first layer's number within the box, and the layers, the slabs' axis first."""
        low, layers = int(self.lower[self._axis]), self.shape[self._axis]
        rest = [axis for axis in range(len(self.shape)) if axis != self._axis]
        room = [self.shape[axis] for axis in rest]
        require_memory(min(SIDE, layers) * prod(room) * self.dtype.itemsize, host_memory(), f"{SIDE} layers of voxels")
        for first in range(0, layers, SIDE):
            voxels = np.zeros((min(SIDE, layers - first), *room), self.dtype)
            for cells, generations in self._between(low + first, low + first + len(voxels)):
                layer = cells[:, self._axis].astype(np.int64) - (low + first)
                places = tuple(cells[:, axis].astype(np.int64) - self.lower[axis] for axis in rest)
                voxels[(layer, *places)] = generations + 1
            yield first, voxels

    def _between(self, first: int, stop: int) -> Iterator[tuple[Cells, NDArray[np.uint32]]]:
        for slab in range(first // SIDE, (stop - 1) // SIDE + 1):
            for cells, generations in self._read(slab):
                inside = (cells[:, self._axis] >= first) & (cells[:, self._axis] < stop)
                yield cells[inside], generations[inside]

    def _read(self, slab: int) -> Iterator[tuple[Cells, NDArray[np.uint32]]]:
        if slab not in self._runs:
            return
        numbers = np.concatenate([numbers for numbers, _ in self._runs[slab]])
        stops = np.cumsum(np.concatenate([counts for _, counts in self._runs[slab]]))
        dimension = len(self.lower)
        with self._path(slab).open("rb") as file:
            for start in range(0, int(stops[-1]), _READ):
                stop = min(start + _READ, int(stops[-1]))
                cells = np.fromfile(file, self._dtype, (stop - start) * dimension).reshape(-1, dimension)
                yield cells, numbers[np.searchsorted(stops, np.arange(start, stop), side="right")]

    def _path(self, slab: int) -> Path:
        return self._folder / f"slab{slab:+d}"


class VoxelWriter:
    """Writes the voxels when the growth is finished."""

    wants_cells = True

    def __init__(self, path: Path) -> None:
        self._path = path
        self._slabs = Slabs(path.parent)

    def append(self, batch: Batch) -> None:
        """Take the next batch's cells."""
        self._slabs.append(batch)

    def finish(self, growth: Growth) -> None:
        """Write the array, and last the attributes, which mark it as complete."""
        import zarr

        slabs = self._slabs
        with interrupts_deferred():
            array = zarr.create_array(
                self._path,
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


@contextmanager
def open_voxels(path: str | Path) -> Iterator[VoxelWriter]:
    """Open a Zarr array for a growth's voxels: the birth generation of each cell, chunked, readable by any Zarr library.

    The write is atomic.  Raises UsageError for another ending than .zarr and FileError where it cannot be written.

    >>> import tempfile, zarr
    >>> from gpu_nim import grow
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_voxels(grow("edge", 31), f"{folder}/edge.zarr")
    ...     voxels = zarr.open_array(f"{folder}/edge.zarr", mode="r")
    ...     voxels.shape, int((voxels[:] > 0).sum()), int(voxels[1, 1, 0])
    ((32, 32, 32), 5710, 2)
    """
    path = Path(path)
    check_voxels(path)
    with replacing(path, _holds_voxels) as scratch:
        yield VoxelWriter(scratch)


def save_voxels(growth: Growth, path: str | Path) -> None:
    """Write the voxels of a growth; see `open_voxels`."""
    with open_voxels(path) as writer:
        write_growth(writer, growth)


def check_voxels(path: Path, dimension: int | None = None) -> None:
    """Raise what `open_voxels` would raise for this path, and its writer for cells of this dimension where it is known."""
    check_output(path, "a file of voxels", (".zarr",), _holds_voxels)
    if dimension is not None:
        _check_dimension(dimension)


def _check_dimension(dimension: int) -> None:
    if dimension not in (2, 3):
        raise UsageError(f"voxels have 2 or 3 dimensions, this growth has {dimension}")
