"""Growths in files: .npz, or Zarr v3, chunked, compressed, written as they grow, and readable by any Zarr library.

NAME.zarr/ or NAME.npz has::

    births            int64 (generations + 1,)
    checksums         uint64 (generations + 1,)
    cells             (population, d), int32 or int64, in order of generation; generation n begins after births[:n] cells
    parents           int64 (population,), if requested, in .zarr: the index in `cells` of each cell's parent, -1 for seeds
    parent_checksums  uint64 (generations + 1,), with the parents
    attributes        how the growth was made

Births, checksums and the attributes have one checksum, the attribute `checksum`; cells and parents have those of their generations.
Attributes of other names, which anybody may add, are not covered. In .zarr the dimensions are named generation, cell and
coordinate, for xarray, and `generation` has the numbers along the first.

Cells are stored by generation and in lexicographic order within each, in chunks of equally many.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim._version import __version__
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.growth_process import Snapshot
from gpu_nim.automata.newborns import Ancestry, CellSource, Newborns, is_ascending
from gpu_nim.automata.user_defined import describe, from_description
from gpu_nim.backends.interface import Batch
from gpu_nim.model.digest import checksum
from gpu_nim.model.errors import FileError
from gpu_nim.model.files import PROVENANCE, CorruptFile, FileKind, name_of, origin, raised_as_corrupt, reading, reason
from gpu_nim.model.rule import MAX_DIMENSION, Rule, Symmetry
from gpu_nim.storage.arrays import (
    Declared,
    Parts,
    checksum_of,
    created,
    finish_store,
    make_store,
    open_arrays,
    open_zarr,
    save_arrays,
)
from gpu_nim.storage.atomic import atomic_write

GROWTH = FileKind("gpunim growth", 3, "growth")
#: The cells of a growth that is not finished.
CELLS = FileKind("gpunim cells", 1, "store of cells")
_DIMENSIONS = {
    "births": ("generation",),
    "checksums": ("generation",),
    "cells": ("cell", "coordinate"),
    "parents": ("cell",),
    "parent_checksums": ("generation",),
}
_COVERED = {*PROVENANCE, "automaton", "rule", "symmetry", "generations", "population", "verified", "digest"}
_READ = 1 << 18  # cells that small generations share a read of


def with_checksum(growth: Growth, stored: Mapping[str, Any], sums: NDArray[np.uint64]) -> dict[str, Any]:
    """Return the attributes of a growth's file, bound to its arrays.

    Args:
        growth: the growth.
        stored: the cells, and the parents if they are stored: arrays, or what else has their dtype and shape.
        sums: the checksums by which these are bound.
    """
    summary = growth.summary()
    del summary["births"]  # stored as an array, exact at any size
    rule = None if growth.rule is None else describe(growth.rule)
    attributes = {**GROWTH.attributes, "version": __version__, "symmetry": growth.symmetry.value, "rule": rule, **summary}
    return attributes | {"checksum": growth_checksum(attributes, growth.births, sums, stored)}


def growth_checksum(attributes: Mapping[str, Any], births: NDArray[Any], checksums: NDArray[Any], stored: Mapping[str, Any]) -> str:
    """Return the checksum over what a file says of a growth: its attributes, births and checksums, and how cells are stored."""
    arrays = {name: [array.dtype.str, *array.shape] for name, array in stored.items() if name in ("cells", "parents")}
    covered = {name: value for name, value in attributes.items() if name in _COVERED}
    return checksum_of({"attributes": covered, "arrays": arrays}, {"births": births.astype(np.uint64), "checksums": checksums})


def _check_declared(attributes: Mapping[str, Any], stored: Mapping[str, Declared]) -> None:
    """Raise CorruptFile for a file that declares no growth of this version."""
    GROWTH.check(attributes)
    for name in ("births", "checksums", "cells", *["parent_checksums"] * ("parents" in stored)):
        if name not in stored:
            raise CorruptFile(f"it has no {name}, it was edited")
    generations, population, cells = attributes.get("generations"), attributes.get("population"), stored["cells"]
    if type(generations) is not int or type(population) is not int:
        raise CorruptFile("its attributes are damaged")
    if len(cells.shape) != 2 or not 1 <= cells.shape[1] <= MAX_DIMENSION or cells.dtype.kind != "i":
        raise CorruptFile("its cells are not an array of cells")
    counts, sums = (Declared(np.dtype(dtype), (generations + 1,)) for dtype in (np.int64, np.uint64))
    expected = {
        "births": counts,
        "checksums": sums,
        "cells": Declared(cells.dtype, (population, cells.shape[1])),
        "parents": Declared(np.dtype(np.int64), (population,)),
        "parent_checksums": sums,
        "generation": counts,
    }
    for name, declared in expected.items():
        if stored.get(name, declared) != declared:
            raise CorruptFile(f"its {name} do not agree with its attributes, it was truncated or edited")


def load_growth(path: Path) -> Growth:
    """Read the growth in a .zarr or .npz file; see `gpu_nim.storage.save_load.load`.

    The cells of a .zarr are read on demand, those of an .npz at once.
    """
    with reading(path):
        arrays = open_arrays(path, _DIMENSIONS)
        attributes, stored = arrays.attributes, arrays.declared
        _check_declared(attributes, stored)
        arrays.check(_DIMENSIONS, {"generation": attributes["generations"] + 1})
        births, checksums = arrays.read("births"), arrays.read("checksums")
        if births.min(initial=0) < 0:
            raise CorruptFile("its births are not all counts")
        by_parents = arrays.read("parent_checksums") if "parents" in stored else checksums[:0]

        def reader(name: str) -> CellSource:
            def read(first: int, stop: int) -> Iterator[Newborns]:
                with reading(path):
                    for generation, found in generations_of(partial(arrays.read, name), births, first, stop):
                        if name == "parents" and _parents_sum(found) != by_parents[generation]:
                            raise CorruptFile(f"the parents of generation {generation} were edited or damaged")
                        yield generation, found

            return read

        with raised_as_corrupt("its attributes are damaged"):
            symmetry = Symmetry(attributes["symmetry"])
            automaton = from_description(name_of(attributes["automaton"]), attributes.get("rule"))
            rule = None if automaton is None else automaton.rule
            if rule is not None and (rule.dimension, rule.symmetry) != (stored["cells"].shape[1], symmetry):
                raise CorruptFile("its rule has other cells")
            if attributes["verified"] not in (True, False, None):
                raise CorruptFile("verified is neither true nor false")
            growth = Growth(
                attributes["automaton"],
                births,
                checksums,
                with_checked_cells(path, reader("cells"), Batch(0, births, checksums), symmetry, rule),
                symmetry=symmetry,
                verified=attributes["verified"],
                rule=rule,
                lattice="square" if automaton is None else automaton.lattice,
                parents=reader("parents") if "parents" in stored else None,
                **origin(attributes),
            )
            for name, value in growth.summary().items():
                if name != "births" and attributes.get(name) != value:
                    raise CorruptFile(f"its {name} does not agree with its births and checksums, it was edited or damaged")
            sums = np.concatenate((checksums, by_parents))
            if attributes.get("checksum") != growth_checksum(attributes, births, sums, stored):
                raise CorruptFile("its attributes and births do not agree with its checksum, it was edited or damaged")
    parents = growth.parents and InFile(path, growth.digest, growth.parents, parents=True)
    return replace(growth, source=InFile(path, growth.digest, growth.source), parents=parents)


class InFile:
    """The cells, or their parents, in the file of a growth, which is opened again by one that was pickled.

    Args:
        path: the file.
        digest: that of the growth.
        source: reads them; None to open the file first.
        parents: whether it yields the parents.
    """

    def __init__(self, path: Path, digest: str, source: Any = None, *, parents: bool = False) -> None:
        self._path, self._digest, self._source, self._parents = path.absolute(), digest, source, parents

    def __call__(self, first: int, stop: int) -> Iterator[tuple[int, NDArray[np.integer]]]:
        """Yield those of generations first to stop - 1."""
        if self._source is None:
            growth = load_growth(self._path)
            if growth.digest != self._digest:
                raise FileError(f"cannot read {self._path}: it holds another growth than before")
            self._source = growth.parents if self._parents else growth.source
        found: Iterator[Newborns] = self._source(first, stop)
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_source": None}


def with_checked_cells(path: Path, source: CellSource, whole: Batch, symmetry: Symmetry, rule: Rule | None) -> CellSource:
    """Return the source with each generation compared with its births and checksum as it is read.

    A checksum depends neither on the order of cells nor, for a growth by symmetry, on the choice of a cell within its orbit: so
    cells must also be strictly ascending.  With the right number of each orbit, all distinct, they are the cells that were written.
    With a known rule they must also be within its reach, which the dtype is chosen for.
    """
    low, high = (None, None) if rule is None else rule.box(len(whole.births) - 1)

    def read(first: int, stop: int) -> Iterator[Newborns]:
        for generation, cells in source(first, stop):
            held = len(cells) == whole.births[generation] and is_ascending(cells)
            if len(cells) and low is not None and high is not None:
                held = held and bool(min(low) <= cells.min() and cells.max() <= max(high))
            if not held or checksum(symmetry.representative(cells)) != whole.checksums[generation]:
                raise FileError(f"cannot read {path}: the cells of generation {generation} were edited or damaged")
            yield generation, cells

    return read


def _parents_sum(parents: NDArray[np.integer]) -> int:
    """The checksum of the parents of a generation, which depends on their order."""
    return checksum(np.stack((np.arange(len(parents)), parents), axis=1))


def generations_of(
    read: Callable[[int, int], NDArray[Any]], births: NDArray[np.integer], first: int, stop: int
) -> Iterator[Newborns]:
    """Yield the generations `first` to `stop` - 1 of cells, or of parents, which `read` reads."""
    starts = [0, *np.cumsum(births).tolist()]
    block, begins, ends = read(0, 0), 0, 0
    for generation in range(first, stop):
        start, end = starts[generation], starts[generation + 1]
        if end > ends:  # small generations share a read
            begins, ends = start, min(max(end, start + _READ), starts[stop])
            block = read(begins, ends)
        yield generation, block[start - begins : end - begins]


def write_npz(growth: Growth, path: Path) -> None:
    """Write a growth to a new .npz file, a generation at a time."""
    seeds = growth.newborns(0)
    cells = Parts(seeds.dtype, (growth.population, seeds.shape[1]), growth)
    attributes = with_checksum(growth, {"cells": cells}, growth.checksums)
    save_arrays(path, {"births": growth.births.astype(np.int64), "checksums": growth.checksums, "cells": cells}, attributes)


_CHUNK = 1 << 18  # cells a chunk: about 3 MB before compression


class _Rows:
    """An array of a store that gets more rows: complete chunks of them are written at a time, or all by `flush`.

    Args:
        path: the store.
        name: the array's name.
        array: what there is of it already, to be written on; None for a new one, until it has rows.
    """

    def __init__(self, path: Path, name: str, array: Any = None) -> None:
        self.path, self._name, self.array = path, name, array
        self._waiting: list[NDArray[np.integer]] = []
        self._count = 0

    def append(self, rows: NDArray[np.integer]) -> None:
        """Take the next rows."""
        self._waiting.append(rows)
        self._count += len(rows)
        written = 0 if self.array is None else self.array.shape[0]
        self._write((written + self._count) // _CHUNK * _CHUNK - written)

    def flush(self) -> None:
        """Write all rows."""
        self._write(self._count)

    def _write(self, count: int) -> None:
        if count <= 0:
            return
        rows = np.concatenate(self._waiting)
        if self.array is None:
            layout = {"shape": (0, *rows.shape[1:]), "chunks": (_CHUNK, *rows.shape[1:]), "dtype": rows.dtype}
            self.array = created(self.path, self._name, _DIMENSIONS[self._name], **layout)
        if not np.can_cast(rows.dtype, self.array.dtype):
            raise FileError(
                f"the cells of this run are kept as {self.array.dtype}, too short for these generations: begin a new run"
            )
        written = self.array.shape[0]
        stop = written + count
        self.array.resize((stop, *rows.shape[1:]))
        for chunk in range(written - written % _CHUNK, stop, _CHUNK):  # zarr takes as many times the memory as there are chunks
            part = slice(max(chunk, written), min(chunk + _CHUNK, stop))
            self.array[part] = rows[part.start - written : part.stop - written]
        self._waiting, self._count = [rows[count:].copy()], self._count - count


class ZarrGrowthWriter(_Rows):
    """Writes the cells of a growth to a store as they come, and at the end what else there is.

    Args:
        path: the store.
        parents: gives each cell's parent, which is stored, too; None for none.
        population: the cells that the store has already; what it has beyond them is removed.
    """

    def __init__(self, path: Path, *, parents: Ancestry | None = None, population: int = 0) -> None:
        self._group = make_store(path, CELLS.attributes)  # which are not finished
        self._parents_of = parents
        cells: Any = self._group["cells"] if population else None
        if cells is not None:
            cells.resize((population, *cells.shape[1:]))
        super().__init__(path, "cells", cells)

    def finish(self, growth: Growth) -> None:
        """Write the births, the checksums, and last the attributes, which mark the store as complete."""
        self.flush()
        counted, sums = {"births": growth.births.astype(np.int64), "checksums": growth.checksums}, growth.checksums
        rows, cells = {"cells": self.array}, self.array
        if self._parents_of is not None:
            parents, by_parents = _Rows(self.path, "parents"), list[int]()
            stored = generations_of(lambda start, stop: np.asarray(cells[start:stop]), growth.births, 0, growth.generations + 1)
            for _, indices in self._parents_of(stored):
                parents.append(indices.astype(np.int64, copy=False))
                by_parents.append(_parents_sum(indices))
            parents.flush()
            rows["parents"] = parents.array
            counted["parent_checksums"] = np.array(by_parents, np.uint64)
            sums = np.concatenate((sums, counted["parent_checksums"]))
        for name, values in counted.items():
            created(self.path, name, _DIMENSIONS[name], data=values)
        self._group.attrs.put(with_checksum(growth, rows, sums))
        finish_store(self.path, {"generation": len(growth)})


def is_store_of_cells(path: Path) -> bool:
    """Return whether a folder is a store that `zarr_growth_writer` may replace: of an interrupted growth, or of a finished one."""
    return CELLS.is_ours(path) or GROWTH.is_ours(path)


def zarr_growth_writer(path: Path, snapshot: Snapshot | None, *, parents: Ancestry | None = None) -> ZarrGrowthWriter:
    """Return what writes a growth to a new store, or to that of an interrupted one, in place.

    Args:
        path: the store.
        snapshot: the growth that is resumed, with which all cells are compared; None for a new store.
        parents: gives each cell's parent, which is stored, too; None for none.

    Raises:
        FileError: the store of an interrupted growth has fewer cells, or others.
    """
    if snapshot is None:
        with atomic_write(path, is_store_of_cells) as scratch:
            make_store(scratch, CELLS.attributes)
        return ZarrGrowthWriter(path, parents=parents)
    births, rule = snapshot.births, snapshot.automaton.rule
    try:
        read = partial(generations_of, partial(open_zarr(path).read, "cells"), births)
        for _ in with_checked_cells(path, read, Batch(0, births, snapshot.checksums), rule.symmetry, rule)(0, len(births)):
            pass
        return ZarrGrowthWriter(path, parents=parents, population=int(sum(births.tolist())))
    except Exception as error:  # zarr and the JSON reader raise errors of many types for a damaged store
        raise FileError(f"cannot resume with {path}, which holds the cells grown so far: {reason(error)}") from error


def write_zarr(growth: Growth, path: Path) -> None:
    """Write a growth to a new store, with its parents if it has them."""
    given = growth.parents
    writer = ZarrGrowthWriter(path, parents=None if given is None else lambda _: given(0, growth.generations + 1))
    for cells in growth:
        writer.append(cells)
    writer.finish(growth)


def copy_store(source: Path, path: Path) -> None:
    """Copy a complete store to another name, by hard links to its chunks if both names are on one file system.

    Chunks may have two names, since they are never changed in place: writing replaces a file by a new one.
    """
    with atomic_write(path, GROWTH.is_ours) as scratch:
        shutil.copytree(source, scratch, copy_function=_link_or_copy)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without hard links
        shutil.copy2(source, target)
