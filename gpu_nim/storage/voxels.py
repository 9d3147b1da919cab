"""Voxels of a growth, slab by slab, without the whole cube in memory: the generation of each birth + 1, and 0 where there is none.

Newborns are spread over the whole space, and voxels are written in order.  So the cells are written to scratch files first, one for
every slab of a few layers, and at the end each slab is filled from the one or two files with its cells.
"""

from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.growth import Growth
from gpu_nim.model.arrays import coordinate_dtype, corners
from gpu_nim.storage.growth_files import batches, box_of

#: The most layers of a slab.
SIDE = 64
#: Bytes in memory of a slab at most, unless a layer takes more.
SLAB_BYTES = 36 << 20
_FILES = 1 << 12  # slabs at most, each of which is a scratch file
_AT_ONCE = 1 << 17  # cells that are sorted or filled in at a time


def slab_layers(shape: Sequence[int], each: int) -> int:
    """Return the layers of a slab along the last axis of a box, a power of two, where a voxel takes `each` bytes.

    >>> slab_layers((513, 513, 513), 2), slab_layers((2049, 2049, 2049), 2)
    (64, 4)
    """
    layers, layer = SIDE, prod(shape[:-1]) * each
    while shape[-1] > layers * _FILES:
        layers *= 2
    while layers > 1 and layers * layer > SLAB_BYTES and shape[-1] <= layers // 2 * _FILES:
        layers //= 2
    return layers


class Slabs:
    """The cells of a growth, by slabs of some layers along the last axis, in scratch files, one for each slab.

    Args:
        growth: the growth.
        folder: where the scratch files are.
        each: bytes in memory of a voxel of a slab, by which the number of layers is chosen; by default those of its generation.

    Attributes:
        lower: the corner of the box that the cells fill, int64 of shape (d,).
        shape: the box's number of cells along each axis.
        layers: the layers of a slab.
        dtype: that of voxels.
    """

    def __init__(self, growth: Growth, folder: Path, each: int | None = None) -> None:
        self._folder = folder
        self.dtype = np.dtype(np.uint16 if growth.generations + 1 < 2**16 else np.uint32)
        low, high = box_of(growth)
        self.layers = slab_layers(tuple((high - low + 1).tolist()), each or self.dtype.itemsize)
        self._kind = coordinate_dtype((*low.tolist(), 0), (*high.tolist(), growth.generations))
        found: list[NDArray[np.int64]] = []
        for batch in batches(growth):
            assert batch.cells is not None
            if len(batch.cells):
                found.append(corners(batch.cells))
            born = np.repeat(
                np.arange(batch.first, batch.first + len(batch.births), dtype=self._kind), batch.births.astype(np.int64)
            )
            for start in range(0, len(born), _AT_ONCE):
                part = slice(start, start + _AT_ONCE)
                self._deal(batch.cells[part], born[part], int(low[-1]) // self.layers)
        self.lower = np.min([low for low, _ in found], axis=0)
        self.shape: tuple[int, ...] = tuple((np.max([high for _, high in found], axis=0) - self.lower + 1).tolist())

    def _deal(self, cells: NDArray[np.integer], born: NDArray[np.integer], first: int) -> None:
        """Append cells, with their generations, to the files of their slabs, of which `first` is the lowest."""
        slabs = (cells[:, -1] // self.layers - first).astype(np.uint16)  # which NumPy sorts by digits
        rows = np.empty((len(cells), cells.shape[1] + 1), self._kind)
        rows[:, :-1], rows[:, -1] = cells, born
        rows = rows.take(np.argsort(slabs, kind="stable"), axis=0)
        stops = np.cumsum(np.bincount(slabs)).tolist()
        for slab, (start, stop) in enumerate(zip([0, *stops], stops, strict=False), first):
            if start < stop:
                with self._path(slab).open("ab") as file:
                    file.write(rows[start:stop].data)

    def rows(self) -> Iterator[NDArray[np.integer]]:
        """Yield the cells of each slab with cells, in an order of their own, with the generation of each after its coordinates."""
        low = int(self.lower[-1])
        for first in range(low, low + self.shape[-1], self.layers):
            found = list(self._between(first, first + self.layers))
            if found:
                yield np.concatenate(found)

    def __iter__(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (first, voxels) for each slab: the first layer's number within the box, and the layers, the last axis first.

        The next slab overwrites the voxels.
        """
        low, *room, layers = int(self.lower[-1]), *self.shape
        slab = np.empty((min(self.layers, layers), *room), self.dtype)
        for first in range(0, layers, self.layers):
            voxels = slab[: layers - first]
            voxels[:] = 0
            for rows in self._between(low + first, low + first + len(voxels)):
                layer = rows[:, -2] - (low + first)
                places = tuple(rows[:, axis] - self.lower[axis] for axis in range(len(room)))
                voxels[(layer, *places)] = rows[:, -1].astype(self.dtype) + 1
            yield first, voxels

    def _between(self, first: int, stop: int) -> Iterator[NDArray[np.integer]]:
        """Yield the cells of some layers, with the generation of each."""
        for path in map(self._path, range(first // self.layers, (stop - 1) // self.layers + 1)):
            if not path.exists():
                continue
            width = len(self.lower) + 1
            with path.open("rb") as file:
                while len(rows := np.fromfile(file, self._kind, _AT_ONCE * width).reshape(-1, width)):
                    yield rows[(rows[:, -2] >= first) & (rows[:, -2] < stop)]

    def _path(self, slab: int) -> Path:
        return self._folder / f"slab{slab:+d}"
