"""Growths as Zarr v3: chunked, compressed, written as they grow, by all ranks, and readable by any Zarr library.

NAME.zarr/            group, with the attributes of `gpu_nim.storage.growth_files.with_checksum`
    births            uint64 (generations + 1,)
    checksums         uint64 (generations + 1,)
    cells             (population, d), signed integers, in order of generation; generation n begins after births[:n] cells
    parents           int64 (population,), if requested: the index in `cells` of each cell's parent, -1 for seeds

The dimensions are named generation, cell and coordinate, for xarray; in files of earlier versions they have no names.

Cells are stored by generation and in lexicographic order within each, in chunks of equally many. Chunk k belongs to rank k modulo
the number of ranks, which alone writes its file. The newborns of a generation are on the ranks that own their layers, in
lexicographic order on each. So before they are written, each is sent to the rank of its chunk (`ChunkDeal`).

Where chunks meet inside a generation, the first cell of the later one is found by bisection: cells are numbered in lexicographic
order within the box of the generation, and the ranks count together how many of theirs are below a number. All borders of a
generation are bisected at once, so that this takes an exchange for each binary digit of a number.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gpu_nim.automata.cell_sources import Ancestry
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.snapshot import Snapshot
from gpu_nim.backends.communicator import ALONE, Communicator, as_bytes, gather, share
from gpu_nim.backends.interface import Batch
from gpu_nim.backends.shared.cells import corners
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.files import Damaged
from gpu_nim.model.rule import Cells
from gpu_nim.model.work import interrupts_deferred
from gpu_nim.storage.atomic import replacing
from gpu_nim.storage.file_checks import Declared, reason
from gpu_nim.storage.growth_files import batches, generations_of, is_growth_store, with_checked_cells, with_checksum
from gpu_nim.storage.zarr_arrays import ZarrArrays

if TYPE_CHECKING:
    import zarr
    from zarr.codecs import BloscCodec

Ints = NDArray[np.int64]

_CHUNK = 1 << 18  # cells a chunk: about 3 MB before compression
_BY_GENERATION, _BY_CELL, _CELLS = ["generation"], ["cell"], ["cell", "coordinate"]  # the names of the dimensions
_EVERY_CHUNK: Any = {"write_empty_chunks": True}  # to detect a missing one


def shuffled_zstd() -> BloscCodec:
    """Return the compressor of cells and voxels."""
    from zarr.codecs import BloscCodec  # half a second to load, as all of zarr

    return BloscCodec(cname="zstd", clevel=3, shuffle="shuffle")


@dataclass(frozen=True)
class StoreExtent:
    """The extent of a store: the number of cells in complete chunks, which are not written again, and the cells after them."""

    written: int
    waiting: NDArray[np.integer]


class ZarrGrowthWriter:
    """Writes batches of cells to the store, complete chunks at a time; with `extent`, to a store with at least that extent.

    On several ranks each has a writer and all call its methods together: each writes chunks of its own
    (`ChunkDeal`), and rank 0 whatever else there is.
    """

    def __init__(
        self,
        path: Path,
        group: zarr.Group,
        ranks: Communicator = ALONE,
        *,
        parents: Ancestry | None = None,
        extent: StoreExtent | None = None,
    ) -> None:
        self.path, self._group, self._ranks = path, group, ranks
        self._parents = parents
        self._cells: zarr.Array[Any] | None = None
        self._chunks = 0  # complete ones
        self._deal = ChunkDeal(self._ranks, _CHUNK, 0 if extent is None else extent.written + len(extent.waiting))
        self._waiting: list[tuple[int, NDArray[np.integer]]] = []  # of this rank, with their chunks
        self._none: NDArray[np.integer] = np.zeros((0, 1), np.int8)
        if extent is not None:
            self._chunks, self._none = extent.written // _CHUNK, extent.waiting[:0]
            if self._deal.owns(self._chunks):
                self._waiting = [(self._chunks, extent.waiting)]
            if extent.written:
                self._cells = _array(group, "cells")
                if self._cells.shape[0] < extent.written:
                    raise FileError(f"it holds {self._cells.shape[0]} cells, {extent.written} are needed")
                if self._ranks.rank == 0:
                    self._cells.resize((extent.written, self._cells.shape[1]))

    def extent(self) -> StoreExtent:
        """Return the extent of the store, to resume from; complete on rank 0 alone."""
        if self._waiting:  # of the chunk that is not complete
            self._waiting = [(self._chunks, np.concatenate([cells for _, cells in self._waiting]))]
        waiting = self._waiting[0][1] if self._waiting else self._none
        return StoreExtent(self._chunks * _CHUNK, gather(self._ranks, waiting))

    def append(self, batch: Batch) -> None:
        """Take the next batch's cells."""
        assert batch.cells is not None
        self._none = batch.cells[:0]
        self._waiting += self._deal.deal(batch.cells, sum(batch.births.tolist()))
        complete = self._deal.count // _CHUNK
        if complete > self._chunks:
            self._write(complete)

    def finish(self, growth: Growth) -> None:
        """Write the remaining cells, the births, the checksums, and last the attributes, which mark the store as complete."""
        self._write(-(-self._deal.count // _CHUNK))
        share(self._ranks, None)  # all chunks are written
        if self._ranks.rank:
            return
        with interrupts_deferred():
            for name, values in (("births", growth.births), ("checksums", growth.checksums)):
                self._group.create_array(name, data=values, dimension_names=_BY_GENERATION, overwrite=True, config=_EVERY_CHUNK)
        if self._parents is not None:
            self._write_parents(growth, self._parents)
        with interrupts_deferred():
            self._group.attrs.put(with_checksum(growth, self._stored()))

    def _stored(self) -> dict[str, Declared]:
        names = ("cells",) if self._parents is None else ("cells", "parents")
        arrays = {name: _array(self._group, name) for name in names}
        return {name: Declared(np.dtype(array.dtype), tuple(array.shape)) for name, array in arrays.items()}

    def _write_parents(self, growth: Growth, parents_of: Ancestry) -> None:
        assert self._cells is not None
        parents = self._created("parents", self._cells.shape[:1], np.int64, _BY_CELL)
        waiting: list[NDArray[np.integer]] = []
        written = count = 0
        cells = self._cells
        newborns = generations_of(lambda start, stop: np.asarray(cells[start:stop]), growth.births, 0, growth.generations + 1)
        for _, indices in parents_of(newborns):
            waiting.append(indices)
            count += len(indices)
            if count >= _CHUNK or written + count == parents.shape[0]:
                with interrupts_deferred():
                    parents[written : written + count] = np.concatenate(waiting)
                written, count, waiting = written + count, 0, []

    def _write(self, stop: int) -> None:
        """Write the chunks before this one, of which the last may be incomplete."""
        if self._ranks.rank == 0:
            self._lengthen(min(stop * _CHUNK, self._deal.count))
        if self._ranks.size > 1:
            share(self._ranks, None)  # the array is that long
            self._cells = _array(self._group, "cells")
        assert self._cells is not None
        # A single rank writes all of them at once, which Zarr divides among threads.
        for _, run in groupby(takewhile(lambda each: each[0] < stop, self._waiting), lambda each: self._ranks.size > 1 and each[0]):
            chunks, parts = zip(*run, strict=True)
            cells = np.concatenate(parts)
            if not np.array_equal(cells, cells.astype(self._cells.dtype)):
                # A store for fewer generations, by a version that wrote shorter integers.
                raise FileError(
                    f"the cells of this run are kept as {self._cells.dtype}, too short for these generations: begin a new run"
                )
            start = chunks[0] * _CHUNK
            with interrupts_deferred():
                self._cells[start : start + len(cells)] = cells
        self._waiting = [each for each in self._waiting if each[0] >= stop]
        self._chunks = stop

    def _lengthen(self, count: int) -> None:
        """Give the array room for so many cells."""
        if self._cells is None:
            self._cells = self._created("cells", self._none.shape, self._none.dtype, _CELLS)
        with interrupts_deferred():
            self._cells.resize((count, self._none.shape[1]))

    def _created(self, name: str, shape: tuple[int, ...], dtype: DTypeLike, dimensions: list[str]) -> zarr.Array[Any]:
        with interrupts_deferred():
            return self._group.create_array(
                name,
                shape=shape,
                chunks=(_CHUNK, *shape[1:]),
                dtype=dtype,
                dimension_names=dimensions,
                compressors=shuffled_zstd(),
                config=_EVERY_CHUNK,
                overwrite=True,  # of a growth that continued after the checkpoint that is resumed
            )


def new_zarr_growth(path: Path, ranks: Communicator = ALONE, *, parents: Ancestry | None = None) -> ZarrGrowthWriter:
    """Make a Zarr store for a growth, with each cell's parent if requested; on several ranks, on all of them."""
    import zarr

    if ranks.rank == 0:
        with interrupts_deferred():
            group = zarr.open_group(path, mode="w", zarr_format=3)
    share(ranks, None)  # it is there
    return ZarrGrowthWriter(path, _opened(path) if ranks.rank else group, ranks, parents=parents)


def resumed_zarr_growth(
    path: Path, extent: StoreExtent, snapshot: Snapshot, ranks: Communicator = ALONE, *, parents: Ancestry | None = None
) -> ZarrGrowthWriter:
    """Open the Zarr store of an interrupted growth, to write on in place.

    Args:
        path: the store.
        extent: the cells that it holds.
        snapshot: the growth that all these cells are compared with, by rank 0.
        ranks: all ranks, which call this together.
        parents: gives each cell's parent, which is stored, too; None for none.

    Raises:
        FileError: the store is shorter than that, or its cells are others.
    """

    def resumed() -> ZarrGrowthWriter:
        try:
            if ranks.rank == 0:
                _check_stored(path, extent, snapshot)
            return ZarrGrowthWriter(path, _opened(path), ranks, parents=parents, extent=extent)
        except Exception as error:  # zarr and the JSON reader raise errors of many types for a damaged store
            why = str(error) if isinstance(error, FileError | Damaged) else reason(error)
            raise FileError(f"cannot resume with {path}, which holds the cells grown so far: {why}") from error

    others = resumed() if ranks.rank else None
    share(ranks, None)  # before rank 0 makes it shorter
    return others or resumed()


def _opened(path: Path) -> zarr.Group:
    import zarr

    with interrupts_deferred():
        return zarr.open_group(path, mode="r+", zarr_format=3, use_consolidated=False)


def _check_stored(path: Path, extent: StoreExtent, snapshot: Snapshot) -> None:
    waiting, written = extent.waiting, extent.written
    stored = ZarrArrays(path, ("cells",))
    if written:
        cells = stored.declared.get("cells")
        if cells is None or cells.shape[0] < written:
            raise Damaged(f"it holds {0 if cells is None else cells.shape[0]} cells, {written} are needed")
        if (cells.dtype, *cells.shape[1:]) != (waiting.dtype, *waiting.shape[1:]):
            raise Damaged("its cells are of another kind than those of its checkpoint")
    held = written + len(waiting)
    if held != sum(snapshot.births.tolist()):
        raise Damaged(f"{held} cells are kept, which are not those of its checkpoint")

    def read(start: int, stop: int) -> NDArray[Any]:
        parts = [stored.read("cells", start, min(stop, written))] if start < written else []
        if stop > written or not parts:
            parts.append(waiting[max(0, start - written) : max(0, stop - written)])
        return np.concatenate(parts)

    births, rule = snapshot.births, snapshot.automaton.rule
    source = with_checked_cells(path, partial(generations_of, read, births), births, snapshot.checksums, rule.symmetry, rule)
    for _ in source(0, len(births)):
        pass


def write_zarr(growth: Growth, path: Path) -> None:
    """Write a growth to a new store, with its parents if it has them."""
    given = growth.parents
    writer = new_zarr_growth(path, parents=None if given is None else lambda _: given(0, growth.generations + 1))
    for batch in batches(growth):
        writer.append(batch)
    writer.finish(growth)


def copy_store(source: Path, path: Path) -> None:
    """Copy a complete store to another name, by hard links to its chunks if both names are on one file system.

    Chunks may have two names, since they are never changed in place: writing replaces a file by a new one.
    """
    with replacing(path, is_growth_store) as scratch:
        shutil.copytree(source, scratch, copy_function=_link_or_copy)


def move_store(source: Path, path: Path) -> None:
    """Give a complete store in a folder beside `path` that name."""
    with replacing(path, is_growth_store) as scratch:
        source.rename(scratch)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without hard links
        shutil.copy2(source, target)


def _array(group: zarr.Group, name: str) -> zarr.Array[Any]:
    return cast("zarr.Array[Any]", group[name])


class ChunkDeal:
    """Deals cells out to the ranks of their chunks.

    Args:
        ranks: the ranks, which call `deal` together.
        size: the cells of a chunk.
        count: how many cells there are before.

    Attributes:
        count: how many cells there are so far.

    >>> from gpu_nim.backends.communicator import Alone
    >>> deal = ChunkDeal(Alone(), size=4, count=3)
    >>> [(chunk, len(cells)) for chunk, cells in deal.deal(np.zeros((6, 2), np.int32), 6)]
    [(0, 1), (1, 4), (2, 1)]
    """

    def __init__(self, ranks: Communicator, size: int, count: int = 0) -> None:
        self._ranks, self._size = ranks, size
        self.count = count

    def owns(self, chunk: int) -> bool:
        """Return whether a chunk is written by this rank."""
        return chunk % self._ranks.size == self._ranks.rank

    def deal(self, cells: Cells, births: int) -> Iterator[tuple[int, Cells]]:
        """Yield the cells of this rank's chunks, with the number of the chunk, in order.

        Args:
            cells: this rank's newborns: of one generation, or on a single rank of several.
            births: the number of newborns of all ranks.
        """
        if not births:
            return
        start, self.count = self.count, self.count + births
        chunks = range(start // self._size, (self.count - 1) // self._size + 1)
        if self._ranks.size > 1:
            cells = self._exchanged(cells, start, chunks)
        at = 0
        for chunk in filter(self.owns, chunks):
            size = min(self.count, (chunk + 1) * self._size) - max(start, chunk * self._size)
            yield chunk, cells[at : at + size]
            at += size

    def _exchanged(self, cells: Cells, start: int, chunks: range) -> Cells:
        """The cells of this rank's chunks, from all ranks, in lexicographic order."""
        cuts = [0, *self._cuts(cells, np.array(chunks[1:], np.int64) * self._size - start), len(cells)]
        parts: list[list[Cells]] = [[cells[:0]] for _ in range(self._ranks.size)]
        for chunk, begin, end in zip(chunks, cuts[:-1], cuts[1:], strict=True):
            parts[chunk % self._ranks.size].append(cells[begin:end])
        received = self._ranks.exchange([as_bytes(np.concatenate(part)) for part in parts])
        found = np.concatenate([part.view(cells.dtype) for part in received]).reshape(-1, cells.shape[1])
        if not len(found):
            return found
        return found[np.argsort(_numbers(found, *corners(found)), kind="stable")]  # a merge of sorted runs

    def _cuts(self, cells: Cells, borders: Ints) -> list[int]:
        """How many of this rank's cells come before each border, a number of cells of all ranks."""
        if not len(borders):
            return []
        boxes = share(self._ranks, corners(cells) if len(cells) else None)
        low, high = (np.stack(each) for each in zip(*(each for each in boxes if each is not None), strict=True))
        low, high = low.min(axis=0), high.max(axis=0)
        numbers = _numbers(cells, low, high)
        # Of numbers from least to most, the first that so many cells are below.
        least, most = np.zeros_like(borders), np.full_like(borders, math.prod((high - low + 1).tolist()))
        while (least < most).any():
            middle = least + (most - least) // 2
            below = self._ranks.sum(np.searchsorted(numbers, middle).astype(np.uint64)).astype(np.int64)
            least, most = np.where(below < borders, middle + 1, least), np.where(below < borders, most, middle)
        found: list[int] = np.searchsorted(numbers, least).tolist()
        return found


def _numbers(cells: Cells, low: Ints, high: Ints) -> Ints:
    """The numbers of cells in a box, in lexicographic order."""
    widths = (high - low + 1).tolist()
    if math.prod(widths) >= 1 << 63:
        raise UsageError(f"cells of several ranks must lie in a box of fewer than 2^63 cells, got one of {math.prod(widths):,}")
    numbers = np.zeros(len(cells), np.int64)
    for x, least, width in zip(cells.T, low.tolist(), widths, strict=True):
        numbers *= width
        numbers += x
        numbers -= least
    return numbers
