"""The catalogue of file formats of growths: one entry each, which `save`, `load`, `grow --out`, `verify`, help and errors read."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.growth import Growth
from gpu_nim.automata.newborns import CellSource, Newborns
from gpu_nim.model.arrays import corners
from gpu_nim.model.digest import digest
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.files import CorruptFile, open_regular, reading
from gpu_nim.model.registry import Registry, one_of
from gpu_nim.storage.atomic import atomic_write, check_output
from gpu_nim.storage.growth_files import GROWTH, load_growth, write_npz, write_zarr
from gpu_nim.storage.rle_files import GRID, write_rle
from gpu_nim.storage.tables import TABLE_FORMATS, endings, write_table
from gpu_nim.storage.voxels import write_vti


@dataclass(frozen=True)
class GrowthFormat:
    """A file format of growths.

    Args:
        name: the ending of its files.
        summary: the contents of the file, as help prints them after the ending.
        write: writes a finished growth to a new file, in a folder of its own, where it may keep other files meanwhile; with
            `growth.parents` if it has them and the format holds them.
        load: reads the growth back; None for formats that are only written.
        dimensions: the dimensions that its cells may have; None for any.
        cells: whether it is written from cells.
        parents: whether it can hold each cell's parent.
        side: the most cells that it holds along an axis, from the first to the last; None for any number.
    """

    name: str
    summary: str
    write: Callable[[Growth, Path], None]
    load: Callable[[Path], Growth] | None = None
    dimensions: tuple[int, ...] | None = None
    cells: bool = True
    parents: bool = False
    side: int | None = None

    def check(self, dimension: int) -> None:
        """Raise UsageError where the format does not hold cells of this dimension."""
        if self.dimensions is not None and dimension not in self.dimensions:
            counts = one_of(map(str, self.dimensions))
            raise UsageError(f"a {self.name} file {self.summary} holds {counts} dimensions, this growth has {dimension}")

    def save(self, growth: Growth, path: Path) -> None:
        """Write a growth; the write is atomic.

        Args:
            growth: the growth.
            path: the file.

        Raises:
            UsageError: the format does not hold it.
            FileError: the file cannot be written.
        """
        if self.cells:
            self.check(growth.newborns(0).shape[1])
        with atomic_write(path, GROWTH.is_ours) as scratch:
            self.write(replace(growth, source=self._checked(growth.source)), scratch)

    def _checked(self, source: CellSource) -> CellSource:
        def read(first: int, stop: int) -> Iterator[Newborns]:
            limits = Limits(self)
            for generation, cells in source(first, stop):
                limits.add(generation, cells)
                yield generation, cells

        return read


class Limits:
    """Raises UsageError where the cells of a growth, as they are added, are more than a format holds."""

    def __init__(self, of: GrowthFormat) -> None:
        self._of, self._box = of, list[NDArray[np.int64]]()

    def add(self, generation: int, cells: NDArray[np.integer]) -> None:
        """Take newborns of generations up to this one."""
        of = self._of
        if of.side is None or not len(cells):
            return
        self._box = [corners(np.concatenate([*self._box, corners(cells)]))]
        size = int(np.ptp(self._box[0], axis=0).max()) + 1
        if size > of.side:
            what = f"a {of.name} file {of.summary} holds {of.side:,} cells a side"
            raise UsageError(f"{what}, and generation {generation} has {size:,}")


def _write_table(growth: Growth, path: Path) -> None:
    """Write the growth's table, one generation a row; undefined values are None."""
    columns = {growth.table.header[0]: range(growth.generations + 1), **growth.table.lists()}
    write_table(path, [columns], {name: value for name, value in growth.summary().items() if name != "births"})


_HEADING = 1 << 12  # bytes of a text within which it says what made it
_MADE = re.compile(rb"generations?\W+([0-9]{1,10})\b.*?digest\W+([0-9a-f]{64})", re.DOTALL)

_FORMATS = (
    GrowthFormat(".zarr", "cells", write_zarr, load_growth, parents=True),
    GrowthFormat(".npz", "cells", write_npz, load_growth),
    *(GrowthFormat(name, "the table", _write_table, cells=False) for name in endings(columns=True)),
    GrowthFormat(".rle", "for Golly", write_rle, dimensions=(2,)),
    GrowthFormat(".rle3", "for Golly", write_rle, dimensions=(3,), side=GRID),
    GrowthFormat(".vti", "for VTK", write_vti, dimensions=(2, 3), side=2**31 - 1),
)
GROWTH_FORMATS = Registry[GrowthFormat]("file format of growths", _FORMATS)


def readable_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the formats that can be read back."""
    return tuple(each.name for each in GROWTH_FORMATS.values() if each.load is not None)


def is_output_of(path: Path, births: NDArray[np.integer], checksums: NDArray[np.uint64]) -> bool:
    """Return whether a file is what gpunim wrote of a growth, after any of its generations.

    Args:
        path: the file.
        births: the births of the growth's generations.
        checksums: their checksums.
    """
    try:
        if path.is_symlink():
            return False
        if path.suffix in readable_suffixes():
            found = load_growth(path).checksums
            return np.array_equal(found[: len(checksums)], checksums[: len(found)])
        if path.suffix == ".csv":
            columns = TABLE_FORMATS[".csv"].read(path, len(births))
            counted = [int(number) for number in columns["births"]]
            return columns["generation"] == tuple(map(str, range(len(counted)))) and counted == births[: len(counted)].tolist()
        with reading(path), open_regular(path) as file:
            said = _MADE.search(file.read(_HEADING))
        return said is not None and digest(checksums[: int(said[1]) + 1]) == said[2].decode()
    except (FileError, CorruptFile, KeyError, ValueError):
        return False


def suffixes_with_parents() -> str:
    """Return the suffixes of the formats that hold parents, for a sentence."""
    return " or ".join(each.name for each in GROWTH_FORMATS.values() if each.parents)


def describe_formats() -> str:
    """Return the formats in words, for help.

    >>> describe_formats()
    '.zarr or .npz cells, .csv or .json the table, .rle or .rle3 for Golly, .vti for VTK'
    """
    suffixes: dict[str, list[str]] = {}
    for each in GROWTH_FORMATS.values():
        suffixes.setdefault(each.summary, []).append(each.name)
    return ", ".join(f"{one_of(alike)} {summary}" for summary, alike in suffixes.items())


def growth_format(path: Path, *, parents: bool = False) -> GrowthFormat:
    """Return the format of a growth's file, by its ending.

    Args:
        path: the file.
        parents: whether it must hold each cell's parent.

    Raises:
        UsageError: no format has this ending, or it holds no parents.
        FileError: the file cannot be written.

    >>> growth_format(Path("nim.rle3")).dimensions
    (3,)
    """
    check_output(path, "the file of a growth", GROWTH_FORMATS, GROWTH.is_ours)
    chosen = GROWTH_FORMATS[path.suffix]
    if parents and not chosen.parents:
        raise UsageError(f"parents are saved in a {suffixes_with_parents()} file, got {str(path)!r}")
    return chosen
