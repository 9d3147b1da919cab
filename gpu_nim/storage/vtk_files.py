"""VTK's XML files, for ParaView and PyVista: voxels as .vti, cells as points as .vtp, compressed, and written as a stream.

    .vti   ImageData: cell data birth_plus_one, generation of birth + 1 and 0 where nothing was born; a cell's coordinates are those
           of its least corner (as data of points, a threshold would keep voxels whose corners are all born, and there are none)
    .vtp   PolyData: a vertex a cell, in order of birth; point data and cell data generation, that of its birth

The arrays are appended to the XML as raw data in zlib blocks: [blocks] [bytes a block] [bytes in the last block if it is not full]
[compressed bytes of each block], all uint64, and then the blocks.
"""

import shutil
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from html import escape
from itertools import islice
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.growth import Growth
from gpu_nim.storage.voxels import Slabs

_BLOCK = 1 << 19  # bytes a compressed block
_THREADS = 4  # that compress, a block each
HEAD = '<VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" header_type="UInt64" compressor="vtkZLibDataCompressor">\n'
_NAMES = {"u1": "UInt8", "u2": "UInt16", "u4": "UInt32", "i4": "Int32", "i8": "Int64", "f4": "Float32"}


def _append(file: IO[bytes], size: int, chunks: Iterable[NDArray[Any]]) -> None:
    """Write an array of so many bytes, which is given in chunks, to an appended section."""
    begin, packed = file.tell(), list[int]()
    file.write(bytes(8 * (3 + -(-size // _BLOCK))))
    blocks = _blocks(chunks)
    with ThreadPoolExecutor(_THREADS) as threads:
        while some := list(islice(blocks, _THREADS)):
            for block in threads.map(_packed, some):
                packed.append(file.write(block))
    end = file.tell()
    file.seek(begin)
    file.write(np.array([len(packed), _BLOCK, size % _BLOCK, *packed], "<u8").tobytes())
    file.seek(end)


def _blocks(chunks: Iterable[NDArray[Any]]) -> Iterator[bytes]:
    """Yield the bytes of chunks in blocks, of which the last may not be full."""
    waiting = bytearray()
    for chunk in chunks:
        data = np.ascontiguousarray(chunk).reshape(-1).view(np.uint8)
        for start in range(0, len(data), _BLOCK):
            waiting += data[start : start + _BLOCK].data
            if len(waiting) >= _BLOCK:
                yield bytes(waiting[:_BLOCK])
                del waiting[:_BLOCK]
    if waiting:
        yield bytes(waiting)


def _packed(block: bytes) -> bytes:
    return zlib.compress(block, 1)


@contextmanager
def _vtk_file(path: Path, kind: str, growth: Growth, elements: str) -> Iterator[IO[bytes]]:
    """Write a file: its elements, with the growth in a comment, and then the appended data, which the block writes."""
    facts = f"{growth.automaton} to generation {growth.generations}, {growth.population} cells, digest {growth.digest}"
    comment = f"<!-- gpunim {growth.version}: {facts.replace('--', '- -')} -->\n"
    with path.open("wb") as file:
        text = f'{HEAD.format(kind=kind)}{comment}{elements}<AppendedData encoding="raw">\n_'
        file.write(text.encode("ascii", "xmlcharrefreplace"))
        yield file
        file.write(b"\n</AppendedData>\n</VTKFile>\n")


def data_array(name: str, dtype: np.dtype[Any], offset: int, components: int = 1) -> str:
    """Return the element of an array that is appended at an offset."""
    kind = _NAMES[dtype.str[1:]]
    return (
        f'<DataArray type="{kind}" Name="{escape(name)}" NumberOfComponents="{components}" format="appended" offset="{offset}"/>\n'
    )


def write_vti(growth: Growth, path: Path) -> None:
    """Write the voxels of a growth to a new file."""
    slabs = Slabs(growth, path.parent, growth.newborns(0).shape[1] - 1)  # the last coordinate varies slowest
    flat = (0,) * (3 - len(slabs.shape))
    extent = " ".join(f"0 {size}" for size in (*slabs.shape, *flat))
    origin = " ".join(map(str, (*slabs.lower.tolist(), *flat)))
    elements = (
        f'<ImageData WholeExtent="{extent}" Origin="{origin}" Spacing="1 1 1">\n<Piece Extent="{extent}">\n'
        f'<CellData Scalars="birth_plus_one">\n{data_array("birth_plus_one", slabs.dtype, 0)}</CellData>\n'
        "</Piece>\n</ImageData>\n"
    )
    with _vtk_file(path, "ImageData", growth, elements) as file:
        layers = (layer.T for _, voxels in slabs for layer in voxels)  # from (x, y) to rows of x
        little = slabs.dtype.newbyteorder("<")
        _append(file, prod(slabs.shape) * slabs.dtype.itemsize, (layer.astype(little, copy=False) for layer in layers))


def write_vtp(growth: Growth, path: Path) -> None:
    """Write the cells of a growth as points to a new file."""
    count, offsets = growth.population, []
    index = np.dtype("<i4" if count < 2**31 else "<i8")
    appended = path.parent / "appended"
    with appended.open("wb") as file:
        for chunks, width in (
            (_points(growth), 12),
            ((np.full(births, generation, "<u4") for generation, births in enumerate(growth.births.tolist())), 4),
            (_ranges(0, count, index), index.itemsize),
            (_ranges(1, count + 1, index), index.itemsize),
        ):
            offsets.append(file.tell())
            _append(file, width * count, chunks)
    points, births, connectivity, stops = offsets
    born = data_array("generation", np.dtype("<u4"), births)
    elements = (
        f'<PolyData>\n<Piece NumberOfPoints="{count}" NumberOfVerts="{count}">\n'
        f'<PointData Scalars="generation">\n{born}</PointData>\n<CellData Scalars="generation">\n{born}</CellData>\n'
        f"<Points>\n{data_array('Points', np.dtype('<f4'), points, 3)}</Points>\n<Verts>\n"
        f"{data_array('connectivity', index, connectivity)}"
        f"{data_array('offsets', index, stops)}</Verts>\n"
        "</Piece>\n</PolyData>\n"
    )
    with _vtk_file(path, "PolyData", growth, elements) as file, appended.open("rb") as data_file:
        shutil.copyfileobj(data_file, file)


def _points(growth: Growth) -> Iterator[NDArray[Any]]:
    for _, cells in growth:
        points = np.zeros((len(cells), 3), "<f4")
        points[:, : cells.shape[1]] = cells
        yield points


def _ranges(start: int, stop: int, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    for first in range(start, stop, _BLOCK):
        yield np.arange(first, min(first + _BLOCK, stop), dtype=dtype)
