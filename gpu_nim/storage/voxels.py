"""Voxels of a growth, slab by slab, without the whole cube in memory: the generation of each birth, and -1 where there is none.

Newborns are spread over the whole space, and voxels are written in order.  So the cells are written to scratch files first, one for
every slab of a few layers, and at the end each slab is filled from the one or two files with its cells.

They are written as VTK's XML, .vti, for ParaView and PyVista: compressed, and as a stream. The file is ImageData with the cell data
`generation`, as in grids for PyVista; a cell's coordinates are those of its least corner (as data of points, a threshold would keep
voxels whose corners are all born, and there are none).

The array is appended to the XML as raw data in zlib blocks: [blocks] [bytes a block] [bytes in the last block if it is not full]
[compressed bytes of each block], all uint64, and then the blocks.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.growth import Growth
from gpu_nim.model.arrays import coordinate_dtype, corners

#: The most layers of a slab.
SIDE = 64
#: Bytes in memory of a slab at most, unless a layer takes more.
SLAB_BYTES = 36 << 20
_BATCH = 1 << 16  # cells that are read at a time, or a few more
_FILES = 1 << 12  # slabs at most, each of which is a scratch file
_AT_ONCE = 1 << 17  # cells that are sorted or filled in at a time
_BLOCK = 1 << 19  # bytes a compressed block
_THREADS = 4  # that compress, a block each
_HEAD = '<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64" compressor="vtkZLibDataCompressor">'
_TYPES = {2: "Int16", 4: "Int32"}  # by the bytes of a voxel


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


def _batches(growth: Growth, dtype: np.dtype[Any]) -> Iterator[tuple[NDArray[np.integer], NDArray[Any]]]:
    """Yield the cells of a growth and the generation of each, of a dtype, some generations at a time."""
    waiting, count = list[NDArray[np.integer]](), 0
    for generation, cells in enumerate(growth):
        waiting.append(cells)
        count += len(cells)
        if count >= _BATCH or generation == growth.generations:
            numbers = np.arange(generation + 1 - len(waiting), generation + 1, dtype=dtype)
            yield np.concatenate(waiting), numbers.repeat([*map(len, waiting)])
            waiting, count = [], 0


def _box_of(growth: Growth) -> NDArray[np.int64]:
    """Return the corners, both included, of a box that holds all cells, shape (2, d): by the rule, or else by reading them."""
    if growth.rule is not None:
        return np.array(growth.rule.box(growth.generations), np.int64)
    found = np.array([corners(cells) for cells in growth if len(cells)])
    return np.stack((found[:, 0].min(axis=0), found[:, 1].max(axis=0)))


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
        self.dtype = np.dtype(np.int16 if growth.generations < 2**15 else np.int32)
        low, high = _box_of(growth)
        self.layers = slab_layers(tuple((high - low + 1).tolist()), each or self.dtype.itemsize)
        self._kind = coordinate_dtype((*low.tolist(), 0), (*high.tolist(), growth.generations))
        found: list[NDArray[np.int64]] = []
        for cells, born in _batches(growth, self._kind):
            if len(cells):
                found.append(corners(cells))
            for start in range(0, len(born), _AT_ONCE):
                part = slice(start, start + _AT_ONCE)
                self._deal(cells[part], born[part], int(low[-1]) // self.layers)
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
            voxels[:] = -1
            for rows in self._between(low + first, low + first + len(voxels)):
                layer = rows[:, -2] - (low + first)
                index = tuple(rows[:, axis] - self.lower[axis] for axis in range(len(room)))
                voxels[(layer, *index)] = rows[:, -1]
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


def _append(file: IO[bytes], size: int, chunks: Iterable[NDArray[Any]]) -> None:
    """Write an array of so many bytes, which is given in chunks, to an appended section."""
    from concurrent.futures import ThreadPoolExecutor  # here, for its start-up time

    begin, packed = file.tell(), list[int]()
    file.write(bytes(8 * (3 + -(-size // _BLOCK))))
    blocks = _blocks(chunks)
    with ThreadPoolExecutor(_THREADS) as threads:
        while some := list(islice(blocks, _THREADS)):
            for block in threads.map(lambda block: zlib.compress(block, 1), some):
                packed.append(file.write(block))
    end = file.tell()
    file.seek(begin)
    file.write(np.array([len(packed), _BLOCK, size % _BLOCK, *packed], "<u8").tobytes())
    file.seek(end)


def _blocks(chunks: Iterable[NDArray[Any]]) -> Iterator[bytes]:
    """Yield the bytes of chunks in blocks, of which the last may not be full."""
    waiting = bytearray()
    for chunk in chunks:
        waiting += chunk.tobytes()
        while len(waiting) >= _BLOCK:
            yield bytes(waiting[:_BLOCK])
            del waiting[:_BLOCK]
    if waiting:
        yield bytes(waiting)


def write_vti(growth: Growth, path: Path) -> None:
    """Write the voxels of a growth to a new file."""
    slabs = Slabs(growth, path.parent)  # the last coordinate varies slowest
    flat = (0,) * (3 - len(slabs.shape))
    extent = " ".join(f"0 {size}" for size in (*slabs.shape, *flat))
    origin = " ".join(map(str, (*slabs.lower.tolist(), *flat)))
    facts = f"{growth.automaton} to generation {growth.generations}, {growth.population} cells, digest {growth.digest}"
    text = (
        f"{_HEAD}\n<!-- gpunim {growth.version}: {facts.replace('--', '- -')} -->\n"
        f'<ImageData WholeExtent="{extent}" Origin="{origin}" Spacing="1 1 1">\n<Piece Extent="{extent}">\n'
        '<CellData Scalars="generation">\n'
        f'<DataArray type="{_TYPES[slabs.dtype.itemsize]}" Name="generation" format="appended" offset="0"/>\n'
        '</CellData>\n</Piece>\n</ImageData>\n<AppendedData encoding="raw">\n_'
    )
    with path.open("wb") as file:
        file.write(text.encode("ascii", "xmlcharrefreplace"))
        layers = (layer.T for _, voxels in slabs for layer in voxels)  # from (x, y) to rows of x
        little = slabs.dtype.newbyteorder("<")
        _append(file, prod(slabs.shape) * slabs.dtype.itemsize, (layer.astype(little, copy=False) for layer in layers))
        file.write(b"\n</AppendedData>\n</VTKFile>\n")
