"""Growths in files: what every format that is read back has, the interface of writers, and growths in one .npz file.

Arrays births, checksums and cells, and parents if requested, as in `gpu_nim.storage.zarr_growths`, with attributes that say how the
growth was made. Births, checksums and the attributes have one checksum, the attribute `seal`; the cells have those of their
generations. Attributes of other names, which anybody may add, are not covered.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpu_nim._version import __version__
from gpu_nim.automata.cell_sources import CellsInMemory, CellSource, Newborns, is_ascending
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.user_defined import describe, from_description
from gpu_nim.backends.communicator import Communicator, gather_cells
from gpu_nim.backends.interface import Batch
from gpu_nim.model.digest import checksum
from gpu_nim.model.errors import FileError
from gpu_nim.model.files import Damaged, name_of
from gpu_nim.model.memory import host_memory
from gpu_nim.model.rule import MAX_DIMENSION, Rule, Symmetry
from gpu_nim.storage.array_files import STORE, open_arrays, save_arrays
from gpu_nim.storage.file_checks import Declared, check_kind, checksum_of, origin, reading, reason, require_room, store_of

KIND = "gpunim growth"
FORMAT = 2
_ARRAYS = ("births", "checksums", "cells", "parents")
_COVERED = {
    *("kind", "format", "version", "automaton", "rule", "symmetry", "generations"),
    *("population", "verified", "digest", "backend", "device", "seconds"),
}
_COUNT = np.dtype(np.uint64)
_WITHOUT_CHECKSUM = 1  # the format of earlier versions, whose attributes have no checksum
_BATCH = 1 << 16  # cells that a writer gets at a time, or a few more
_READ = 1 << 18  # cells that small generations share a read of


def of_growth(growth: Growth) -> dict[str, Any]:
    """Return the attributes of a growth's file."""
    summary = growth.summary()
    del summary["births"]  # stored as an array, exact at any size
    rule = None if growth.rule is None else describe(growth.rule)
    return {"kind": KIND, "format": FORMAT, "version": __version__, "symmetry": growth.symmetry.value, "rule": rule, **summary}


def with_checksum(growth: Growth, stored: Mapping[str, Declared]) -> dict[str, Any]:
    """Return the attributes of a growth's file, bound to its arrays.

    Args:
        growth: the growth.
        stored: the arrays written in addition to births and checksums. The cells' values are bound by the checksums.
    """
    attributes = of_growth(growth)
    return attributes | {"seal": _checksum_of(attributes, growth.births, growth.checksums, stored)}


def _checksum_of(attributes: dict[str, Any], births: NDArray[Any], checksums: NDArray[Any], stored: Mapping[str, Declared]) -> str:
    arrays = {name: [array.dtype.str, *array.shape] for name, array in stored.items() if name in ("cells", "parents")}
    covered = {name: value for name, value in attributes.items() if name in _COVERED}
    return checksum_of({"attributes": covered, "arrays": arrays}, {"births": births, "checksums": checksums})


def check_declared(path: Path, attributes: Mapping[str, Any], stored: Mapping[str, Declared]) -> None:
    """Raise FileError for a file that declares no growth of this version, InsufficientMemoryError where its table would not fit.

    Args:
        path: the file.
        attributes: its attributes.
        stored: the arrays that it declares.
    """
    check_kind(path, attributes, KIND, "growth", (_WITHOUT_CHECKSUM, FORMAT))
    for name in ("births", "checksums", "cells"):
        if name not in stored:
            raise FileError(f"cannot read {path}: it has no {name}, it was edited")
    table = {name: stored[name] for name in ("births", "checksums")}
    generations, population, cells = attributes.get("generations"), attributes.get("population"), stored["cells"]
    if type(generations) is not int or any(array != Declared(_COUNT, (generations + 1,)) for array in table.values()):
        raise FileError(f"cannot read {path}: its births do not agree with its attributes")
    if len(cells.shape) != 2 or not 1 <= cells.shape[1] <= MAX_DIMENSION or cells.dtype.kind != "i":
        raise FileError(f"cannot read {path}: its cells are not an array of cells")
    if cells.shape[0] != population:
        raise FileError(f"cannot read {path}: it holds {cells.shape[0]} cells, not those of its births, it was truncated")
    if "parents" in stored and stored["parents"] != Declared(np.dtype(np.int64), cells.shape[:1]):
        raise FileError(f"cannot read {path}: its parents are not those of its cells")
    require_room(path, table)


def load_growth(path: Path) -> Growth:
    """Read the growth in a .zarr or .npz file; see `gpu_nim.storage.growth_formats.load`.

    The cells of a .zarr are read when they are asked for, those of an .npz at once.
    """
    with open_arrays(path, _ARRAYS) as arrays:
        attributes, stored = arrays.attributes, arrays.declared
        check_declared(path, attributes, stored)
        table = {name: arrays.read(name) for name in ("births", "checksums")}
        if path.suffix != ".zarr":
            require_room(path, stored)
            table["cells"] = arrays.read("cells")

    def reader(name: str) -> CellSource:
        def part(start: int, stop: int) -> NDArray[Any]:
            return table[name][start:stop] if name in table else arrays.read(name, start, stop)

        def read(first: int, stop: int) -> Iterator[Newborns]:
            with reading(path, STORE):
                yield from generations_of(part, table["births"], first, stop)

        return read

    births, checksums = table["births"], table["checksums"]
    unchecked = attributes["format"] == _WITHOUT_CHECKSUM
    said = attributes.pop("seal", None)
    if not unchecked and said != _checksum_of(attributes, births, checksums, stored):
        raise FileError(f"cannot read {path}: its attributes and births do not agree with its seal, it was edited or damaged")
    if sum(births.tolist()) != attributes["population"]:
        raise FileError(f"cannot read {path}: its births do not agree with its attributes")
    try:
        symmetry = Symmetry(attributes["symmetry"])
        automaton = from_description(name_of(attributes["automaton"]), attributes.get("rule"))
        rule = None if automaton is None else automaton.rule
        if rule is not None and (rule.dimension, rule.symmetry) != (stored["cells"].shape[1], symmetry):
            raise Damaged("its rule has other cells")
        verified = attributes["verified"]
        if verified not in (True, False, None):
            raise Damaged("verified is neither true nor false")
        growth = Growth(
            attributes["automaton"],
            births,
            checksums,
            with_checked_cells(path, reader("cells"), births, checksums, symmetry, rule),
            symmetry=symmetry,
            verified=None if unchecked else verified,
            rule=rule,
            lattice="square" if automaton is None else automaton.lattice,
            parents=reader("parents") if "parents" in stored else None,
            **origin(attributes),
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise FileError(f"cannot read {path}: its attributes are damaged ({reason(error)})") from error
    if growth.digest != attributes.get("digest"):
        raise FileError(f"cannot read {path}: its checksums do not agree with its digest, it was edited or damaged")
    return growth


is_growth_store = store_of(KIND)
"""Whether a folder is a growth that gpunim wrote, and may therefore be replaced."""


def with_checked_cells(
    path: Path,
    source: CellSource,
    births: NDArray[np.uint64],
    checksums: NDArray[np.uint64],
    symmetry: Symmetry,
    rule: Rule | None,
) -> CellSource:
    """Return the source with each generation compared with its births and checksum as it is read.

    A checksum depends neither on the order of cells nor, for a growth by symmetry, on the choice of a cell within its orbit: so
    cells must also be strictly ascending.  With the right number of each orbit, all distinct, they are the cells that were written.
    With a known rule they must also be within its reach, which the dtype is chosen for.
    """
    low, high = (None, None) if rule is None else (min(rule.box(len(births) - 1)[0]), max(rule.box(len(births) - 1)[1]))

    def read(first: int, stop: int) -> Iterator[Newborns]:
        for generation, cells in source(first, stop):
            held = len(cells) == births[generation] and is_ascending(cells)
            if len(cells) and low is not None and high is not None:
                held = held and bool(low <= cells.min() and cells.max() <= high)
            if not held or checksum(symmetry.representative(cells)) != checksums[generation]:
                raise FileError(f"cannot read {path}: the cells of generation {generation} were edited or damaged")
            yield generation, cells

    return read


def generations_of(
    read: Callable[[int, int], NDArray[Any]], births: NDArray[np.uint64], first: int, stop: int
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


class GrowthWriter(Protocol):
    """Writes a growth: takes every batch, then the finished growth."""

    wants_cells: bool
    """Whether the batches must have their cells."""

    def append(self, batch: Batch) -> None:
        """Take the next batch."""

    def finish(self, growth: Growth) -> None:
        """Complete the file from the finished growth."""


class GatheringWriter:
    """Gathers the batches of all ranks, a generation each, for a writer on rank 0.

    Args:
        writer: the writer; on other ranks None.
        ranks: the ranks, which call the methods together.
    """

    wants_cells = True

    def __init__(self, writer: GrowthWriter | None, ranks: Communicator) -> None:
        self._writer, self._ranks = writer, ranks

    def append(self, batch: Batch) -> None:
        """Take the next batch, with the cells of this rank."""
        if batch.cells is not None:
            batch = replace(batch, cells=gather_cells(self._ranks, batch.cells))
        if self._writer is not None:
            self._writer.append(batch)

    def finish(self, growth: Growth) -> None:
        """Complete the file, on rank 0."""
        if self._writer is not None:
            self._writer.finish(growth)


def write_growth(writer: GrowthWriter, growth: Growth) -> None:
    """Pass a finished growth to a writer in batches, some generations at a time."""
    if writer.wants_cells:
        waiting: list[NDArray[np.integer]] = []
        first = count = 0
        for generation, cells in growth:
            waiting.append(cells)
            count += len(cells)
            if count >= _BATCH or generation == growth.generations:
                part = slice(first, generation + 1)
                writer.append(Batch(first, growth.births[part], growth.checksums[part], np.concatenate(waiting)))
                first, count, waiting = generation + 1, 0, []
    writer.finish(growth)


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
        attributes = with_checksum(growth, {"cells": Declared(cells.dtype, cells.shape)})
        save_arrays(self._path, {"births": growth.births, "checksums": growth.checksums, "cells": cells}, attributes)
