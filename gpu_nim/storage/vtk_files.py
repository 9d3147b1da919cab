"""The voxels of a growth as VTK's XML, .vti, for ParaView and PyVista: compressed, and written as a stream.

The file is ImageData with the cell data birth_plus_one, generation of birth + 1 and 0 where nothing was born; a cell's coordinates
are those of its least corner (as data of points, a threshold would keep voxels whose corners are all born, and there are none).

The array is appended to the XML as raw data in zlib blocks: [blocks] [bytes a block] [bytes in the last block if it is not full]
[compressed bytes of each block], all uint64, and then the blocks.
"""

import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
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
_HEAD = '<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64" compressor="vtkZLibDataCompressor">'
_TYPES = {2: "UInt16", 4: "UInt32"}  # by the bytes of a voxel


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
        '<CellData Scalars="birth_plus_one">\n'
        f'<DataArray type="{_TYPES[slabs.dtype.itemsize]}" Name="birth_plus_one" format="appended" offset="0"/>\n'
        '</CellData>\n</Piece>\n</ImageData>\n<AppendedData encoding="raw">\n_'
    )
    with path.open("wb") as file:
        file.write(text.encode("ascii", "xmlcharrefreplace"))
        layers = (layer.T for _, voxels in slabs for layer in voxels)  # from (x, y) to rows of x
        little = slabs.dtype.newbyteorder("<")
        _append(file, prod(slabs.shape) * slabs.dtype.itemsize, (layer.astype(little, copy=False) for layer in layers))
        file.write(b"\n</AppendedData>\n</VTKFile>\n")
