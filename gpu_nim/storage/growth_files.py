"""Growths in files: what every format that is read back has, the interface of writers, and growths in one .npz file.

Arrays births, checksums and cells, and parents if requested, as in `gpu_nim.storage.zarr_growths`, with attributes that say how the
growth was made. Births, checksums and the attributes have one checksum, the attribute `seal`; the cells have those of their
generations. Attributes of other names, which anybody may add, are not covered.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim._version import __version__
from gpu_nim.automata.cell_sources import CellSource, Newborns, is_ascending
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.user_defined import describe, from_description
from gpu_nim.backends.interface import Batch
from gpu_nim.backends.shared.cells import coordinate_dtype, corners
from gpu_nim.model.digest import checksum
from gpu_nim.model.errors import FileError
from gpu_nim.model.files import Damaged, name_of
from gpu_nim.model.rule import MAX_DIMENSION, Rule, Symmetry
from gpu_nim.storage.array_files import Parts, open_arrays, save_npz
from gpu_nim.storage.file_checks import Declared, check_kind, checksum_of, origin, reading, require_room, store_of, told_as_damage

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


def _checksum_of(
    attributes: Mapping[str, Any], births: NDArray[Any], checksums: NDArray[Any], stored: Mapping[str, Declared]
) -> str:
    arrays = {name: [array.dtype.str, *array.shape] for name, array in stored.items() if name in ("cells", "parents")}
    covered = {name: value for name, value in attributes.items() if name in _COVERED}
    return checksum_of({"attributes": covered, "arrays": arrays}, {"births": births, "checksums": checksums})


def _check_declared(path: Path, attributes: Mapping[str, Any], stored: Mapping[str, Declared]) -> None:
    """Raise Damaged for a file that declares no growth of this version, InsufficientMemoryError where its table would not fit."""
    check_kind(attributes, KIND, "growth", (_WITHOUT_CHECKSUM, FORMAT))
    for name in ("births", "checksums", "cells"):
        if name not in stored:
            raise Damaged(f"it has no {name}, it was edited")
    generations, population, cells = attributes.get("generations"), attributes.get("population"), stored["cells"]
    if type(generations) is not int or type(population) is not int:
        raise Damaged("its attributes are damaged")
    if len(cells.shape) != 2 or not 1 <= cells.shape[1] <= MAX_DIMENSION or cells.dtype.kind != "i":
        raise Damaged("its cells are not an array of cells")
    table = Declared(_COUNT, (generations + 1,))
    expected = {"births": table, "checksums": table, "cells": Declared(cells.dtype, (population, cells.shape[1]))}
    for name, declared in stored.items():
        if declared != expected.get(name, Declared(np.dtype(np.int64), (population,))):
            raise Damaged(f"its {name} do not agree with its attributes, it was truncated or edited")
    require_room(path, {name: stored[name] for name in ("births", "checksums")})


def load_growth(path: Path) -> Growth:
    """Read the growth in a .zarr or .npz file; see `gpu_nim.storage.growth_formats.load`.

    The cells of a .zarr are read when they are asked for, those of an .npz at once.
    """
    with open_arrays(path, _ARRAYS) as arrays:
        attributes, stored = arrays.attributes, arrays.declared
        _check_declared(path, attributes, stored)
        table = {name: arrays.read(name) for name in ("births", "checksums")}
        if path.suffix != ".zarr":
            require_room(path, stored)
            table["cells"] = arrays.read("cells")

        def reader(name: str) -> CellSource:
            def part(start: int, stop: int) -> NDArray[Any]:
                return table[name][start:stop] if name in table else arrays.read(name, start, stop)

            def read(first: int, stop: int) -> Iterator[Newborns]:
                with reading(path):
                    yield from generations_of(part, table["births"], first, stop)

            return read

        with told_as_damage("its attributes are damaged"):
            return _growth(path, attributes, stored, table, reader)


def _growth(
    path: Path,
    attributes: Mapping[str, Any],
    stored: Mapping[str, Declared],
    table: Mapping[str, NDArray[Any]],
    reader: Callable[[str], CellSource],
) -> Growth:
    """The growth of a file; Damaged, or an error of another type, where attributes and arrays do not agree."""
    births, checksums, symmetry = table["births"], table["checksums"], Symmetry(attributes["symmetry"])
    automaton = from_description(name_of(attributes["automaton"]), attributes.get("rule"))
    rule = None if automaton is None else automaton.rule
    if rule is not None and (rule.dimension, rule.symmetry) != (stored["cells"].shape[1], symmetry):
        raise Damaged("its rule has other cells")
    if attributes["verified"] not in (True, False, None):
        raise Damaged("verified is neither true nor false")
    growth = Growth(
        attributes["automaton"],
        births,
        checksums,
        with_checked_cells(path, reader("cells"), births, checksums, symmetry, rule),
        symmetry=symmetry,
        verified=attributes["verified"],
        rule=rule,
        lattice="square" if automaton is None else automaton.lattice,
        parents=reader("parents") if "parents" in stored else None,
        **origin(attributes),
    )
    for name, value in growth.summary().items():
        if name != "births" and attributes.get(name) != value:
            raise Damaged(f"its {name} does not agree with its births and checksums, it was edited or damaged")
    if attributes["format"] == _WITHOUT_CHECKSUM:
        growth.verified = None
    elif attributes.get("seal") != _checksum_of(attributes, births, checksums, stored):
        raise Damaged("its attributes and births do not agree with its seal, it was edited or damaged")
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


def batches(growth: Growth) -> Iterator[Batch]:
    """Yield a finished growth in batches with their cells, some generations at a time."""
    waiting: list[NDArray[np.integer]] = []
    first = count = 0
    for generation, cells in growth:
        waiting.append(cells)
        count += len(cells)
        if count >= _BATCH or generation == growth.generations:
            part = slice(first, generation + 1)
            yield Batch(first, growth.births[part], growth.checksums[part], np.concatenate(waiting))
            first, count, waiting = generation + 1, 0, []


def box_of(growth: Growth) -> NDArray[np.int64]:
    """Return the corners, both included, of a box that holds all cells, shape (2, d): by the rule, or else by reading them."""
    if growth.rule is not None:
        return np.array(growth.rule.box(growth.generations), np.int64)
    found = np.array([corners(cells) for _, cells in growth if len(cells)])
    return np.stack((found[:, 0].min(axis=0), found[:, 1].max(axis=0)))


def write_npz(growth: Growth, path: Path) -> None:
    """Write a growth to a new .npz file, a generation at a time."""
    low, high = box_of(growth).tolist()
    dtype = coordinate_dtype(tuple(low), tuple(high))
    declared = Declared(dtype, (growth.population, growth.newborns(0).shape[1]))
    cells = Parts(declared, (found.astype(dtype) for _, found in growth))
    attributes = with_checksum(growth, {"cells": declared})
    save_npz(path, {"births": growth.births, "checksums": growth.checksums, "cells": cells}, attributes)
