"""Growths as Zarr v3: chunked, compressed, written as they grow and readable by any Zarr library.

    NAME.zarr/            group, with the attributes of `attributes.of_growth`
        births            uint64 (generations + 1,)
        checksums         uint64 (generations + 1,)
        cells             (population, d), signed integers, in order of generation; generation n begins after births[:n] cells
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.codecs import BloscCodec, BloscShuffle

from gpu_nim.automata.growth import Growth, Newborns
from gpu_nim.backends.base import Batch
from gpu_nim.errors import FileError
from gpu_nim.storage.atomic import interrupts_deferred, replacing
from gpu_nim.storage.attributes import KIND, check_kind, of_growth, to_growth

_CHUNK = 1 << 18  # cells a chunk: about 3 MB before compression
_SHUFFLED_ZSTD = BloscCodec(cname="zstd", clevel=3, shuffle=BloscShuffle.shuffle)


class ZarrGrowthSink:
    """Writes cells to the store as they come, whole chunks at a time."""

    wants_cells = True

    def __init__(self, group: zarr.Group) -> None:
        self._group = group
        self._cells: zarr.Array[Any] | None = None
        self._waiting: list[NDArray[np.integer]] = []
        self._count = 0

    def append(self, batch: Batch) -> None:
        """Take the next batch's cells."""
        assert batch.cells is not None
        self._waiting.append(batch.cells)
        self._count += len(batch.cells)
        if self._count >= _CHUNK:
            self._write(self._count - self._count % _CHUNK)

    def finish(self, growth: Growth) -> None:
        """Write the cells that are left, the births, the checksums, and last the attributes, which mark the store as whole."""
        if self._count or self._cells is None:
            self._write(self._count)
        with interrupts_deferred():
            self._group.create_array("births", data=growth.births)
            self._group.create_array("checksums", data=growth.checksums)
            self._group.attrs.update(of_growth(growth))

    def _write(self, count: int) -> None:
        cells = np.concatenate(self._waiting)
        if self._cells is None:
            with interrupts_deferred():
                self._cells = self._group.create_array(
                    "cells",
                    shape=(0, cells.shape[1]),
                    chunks=(_CHUNK, cells.shape[1]),
                    dtype=cells.dtype,
                    compressors=_SHUFFLED_ZSTD,
                )
        start = self._cells.shape[0]
        with interrupts_deferred():
            self._cells.resize((start + count, cells.shape[1]))
            self._cells[start:] = cells[:count]
        self._waiting = [cells[count:]]
        self._count -= count


@contextmanager
def open_zarr_growth(path: Path) -> Iterator[ZarrGrowthSink]:
    """Open a Zarr store for a growth; see `gpu_nim.storage.open_growth`."""
    with replacing(path, is_growth_store) as scratch:
        with interrupts_deferred():
            group = zarr.open_group(scratch, mode="w", zarr_format=3)
        yield ZarrGrowthSink(group)


def load_zarr_growth(path: Path) -> Growth:
    """Open the growth in a Zarr store; see `gpu_nim.storage.load`."""
    try:
        group = zarr.open_group(path, mode="r", zarr_format=3)
        attributes = dict(group.attrs)
        check_kind(path, attributes)
        births, checksums = (np.asarray(_array(group, name)[:]) for name in ("births", "checksums"))
        cells = _array(group, "cells")
    except FileError:
        raise
    except Exception as error:  # zarr, numcodecs and the JSON reader each raise types of their own for a damaged store
        raise FileError(f"cannot read {path}: it is not a whole Zarr v3 store ({_reason(error)})") from error
    if cells.ndim != 2 or cells.shape[0] != sum(births.tolist()):
        raise FileError(f"cannot read {path}: it holds {cells.shape[0]} cells, not those of its births, it was truncated")

    def read(first: int, stop: int) -> Iterator[Newborns]:
        starts = [0, *np.cumsum(births).tolist()]
        block, begins, ends = np.asarray(cells[0:0]), 0, 0
        try:
            for generation in range(first, stop):
                start, end = starts[generation], starts[generation + 1]
                if end > ends:  # small generations share a read
                    begins, ends = start, min(max(end, start + _CHUNK), starts[stop])
                    block = np.asarray(cells[begins:ends])
                yield generation, block[start - begins : end - begins]
        except (OSError, RuntimeError, ValueError) as error:
            raise FileError(f"cannot read {path}: its cells are damaged ({_reason(error)})") from error

    return to_growth(path, attributes, births, checksums, read)


def is_growth_store(path: Path) -> bool:
    """Return whether a folder is a growth that gpunim wrote, and so may be replaced by another."""
    try:
        attributes = json.loads((path / "zarr.json").read_text(encoding="utf-8"))["attributes"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(attributes.get("kind") == KIND)


def _array(group: zarr.Group, name: str) -> zarr.Array[Any]:
    array = group[name]
    assert isinstance(array, zarr.Array)
    return array


def _reason(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:160]
