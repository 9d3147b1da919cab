"""The catalogue of file formats of growths: one entry each, which `save`, `load`, `grow --out`, `verify`, help and errors read."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_nim.automata.catalogue import GrowthEntry
from gpu_nim.automata.cell_sources import Ancestry
from gpu_nim.automata.columns import is_whole
from gpu_nim.automata.growth import Growth
from gpu_nim.backends.communicator import ALONE, Communicator
from gpu_nim.backends.interface import Batch
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry, one_of
from gpu_nim.oeis.b_files import bfile_name
from gpu_nim.storage.atomic import check_output, replacing_together
from gpu_nim.storage.growth_files import GrowthWriter, NpzGrowthWriter, is_growth_store, load_growth
from gpu_nim.storage.rle_files import RleWriter
from gpu_nim.storage.table_formats import endings, write_table
from gpu_nim.storage.tables import write_terms
from gpu_nim.storage.vtk_files import VtiWriter, VtpWriter
from gpu_nim.storage.zarr_growths import new_zarr_growth


@dataclass(frozen=True)
class GrowthFormat:
    """A file format of growths.

    Args:
        name: the ending of its files.
        summary: the contents of the file, as help prints them after the ending.
        writer: returns the writer of a new file, which is renamed when it is finished; takes the path, and `parents` of formats
            that hold parents.
        load: reads the growth back; None for formats that are only written.
        dimensions: the dimensions that its cells may have; None for any.
        cells: whether it is written from cells.
        parents: whether it can hold each cell's parent.
        together: whether all ranks of a growth write it, with `ranks` for its writer; others are written by one of them.
    """

    name: str
    summary: str
    writer: Callable[..., GrowthWriter]
    load: Callable[[Path], Growth] | None = None
    dimensions: tuple[int, ...] | None = None
    cells: bool = True
    parents: bool = False
    together: bool = False


class TableOfGrowth:
    """Writes the growth's table when it is finished, one generation a row; it needs no cells."""

    wants_cells = False

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, batch: Batch) -> None:
        """Ignore the batch: the finished growth has its table."""

    def finish(self, growth: Growth) -> None:
        """Write the table; undefined values are None."""
        columns = {growth.table.header[0]: range(growth.generations + 1), **growth.table.lists()}
        write_table(self._path, columns, {name: value for name, value in growth.summary().items() if name != "births"})


GROWTH_FORMATS = Registry[GrowthFormat]("file format of growths")

for _format in (
    GrowthFormat(".zarr", "cells", new_zarr_growth, load_growth, parents=True, together=True),
    GrowthFormat(".npz", "cells", NpzGrowthWriter, load_growth),
    *(GrowthFormat(name, "the table", TableOfGrowth, cells=False) for name in endings(columns=True)),
    GrowthFormat(".rle", "for Golly", RleWriter, dimensions=(2,)),
    GrowthFormat(".rle3", "for Golly", RleWriter, dimensions=(3,)),
    GrowthFormat(".vti", "for VTK", VtiWriter, dimensions=(2, 3)),
    GrowthFormat(".vtp", "for VTK", VtpWriter, dimensions=(1, 2, 3)),
):
    GROWTH_FORMATS.add(_format)


def readable_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the formats that can be read back."""
    return tuple(each.name for each in GROWTH_FORMATS.values() if each.load is not None)


def suffixes_with_parents() -> str:
    """Return the suffixes of the formats that hold parents, for a sentence."""
    return " or ".join(each.name for each in GROWTH_FORMATS.values() if each.parents)


def describe_formats() -> str:
    """Return the formats in words, for help.

    >>> describe_formats()
    '.zarr or .npz cells, .csv, ... the table, .rle or .rle3 for Golly, .vti or .vtp for VTK'
    """
    suffixes: dict[str, list[str]] = {}
    for each in GROWTH_FORMATS.values():
        suffixes.setdefault(each.summary, []).append(each.name)
    return ", ".join(f"{one_of(alike)} {summary}" for summary, alike in suffixes.items())


@contextmanager
def open_growth(path: str | Path, *, parents: Ancestry | None = None, ranks: Communicator | None = None) -> Iterator[GrowthWriter]:
    """Yield a writer of a growth to a file, which is written atomically, in the format of its suffix (see `GROWTH_FORMATS`).

    Args:
        path: the file. A table holds the columns of the growth's table.
        parents: gives each cell's parent, which is saved, too; None for none.
        ranks: several ranks that write the file together, in a format for that; by default this process alone.

    Raises:
        UsageError: no format has this suffix, or it holds no parents.
        FileError: the file cannot be written.

    >>> import tempfile
    >>> from gpu_nim import load
    >>> from gpu_nim.automata.growth_process import GrowthProcess
    >>> from gpu_nim.backends.selection import select
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     growing = GrowthProcess("nim", 63, select("numpy"), cells=True)
    ...     with open_growth(f"{folder}/nim.npz") as writer:
    ...         for batch in growing:
    ...             writer.append(batch)
    ...         writer.finish(growing.growth())
    ...     load(f"{folder}/nim.npz").population
    4096
    """
    path = Path(path)
    if ranks is None or ranks.rank == 0:
        check_growth_file(path, parents=parents is not None)
    named: dict[str, Any] = {"parents": parents, "ranks": ranks}
    with replacing_together(path, ranks or ALONE, is_growth_store) as scratch:
        yield GROWTH_FORMATS[path.suffix].writer(scratch, **{name: value for name, value in named.items() if value is not None})


def check_growth_file(path: Path, dimension: int | None = None, *, parents: bool = False) -> None:
    """Raise what `open_growth` would raise for this path, and its writer for cells of this dimension where it is known."""
    check_output(path, "the file of a growth", GROWTH_FORMATS, is_growth_store)
    chosen = GROWTH_FORMATS[path.suffix]
    if parents and not chosen.parents:
        raise UsageError(f"parents are saved in a {suffixes_with_parents()} file, got {str(path)!r}")
    if dimension is not None and chosen.dimensions is not None and dimension not in chosen.dimensions:
        counts = " or ".join(map(str, chosen.dimensions))
        raise UsageError(f"a {path.suffix} file holds {counts} dimensions, this growth has {dimension}")


def bfile_column(path: Path, entries: Sequence[GrowthEntry], columns: tuple[str, ...] = ()) -> tuple[str, GrowthEntry | None]:
    """Return the column that a b-file takes and its OEIS entry, if there is one.

    A name such as b151776.txt or edge-births.txt selects that entry of the automaton; otherwise it is the one requested column.

    Raises:
        UsageError: neither gives a column, or the column has other values than integers.

    >>> from gpu_nim.automata.catalogue import find
    >>> bfile_column(Path("b147552.txt"), find("fcc").oeis)[0]
    'section z=0'
    """
    for entry in entries:
        if path.name == bfile_name(entry.number):
            return entry.column, entry
    if len(columns) != 1:
        numbers = ", ".join(bfile_name(entry.number) for entry in entries)
        known = f" or be named {numbers}" if numbers else ""
        raise UsageError(f"the b-file {path.name!r} must be of one column{known}, got {', '.join(columns) or 'none'}")
    if not is_whole(columns[0]):
        raise UsageError(f"a b-file holds integers, and column {columns[0]!r} has others")
    return columns[0], next((entry for entry in entries if entry.counts == columns[0]), None)


def write_bfile(growth: Growth, path: str | Path, column: str, entry: GrowthEntry | None = None) -> None:
    """Write the column of `bfile_column` as a b-file; with an OEIS entry the indices are the entry's, from its offset on.

    >>> import tempfile
    >>> from gpu_nim import grow
    >>> from gpu_nim.automata.catalogue import find
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_bfile(grow("fcc", 3), f"{folder}/b151776.txt", "population", find("fcc").oeis[0])
    ...     print(Path(folder, "b151776.txt").read_text(), end="")
    0 0
    1 1
    2 13
    3 25
    4 109
    """
    values = growth.table[column].tolist()
    terms = values if entry is None else (value for _, value in entry.terms(values))
    write_terms(Path(path), 0 if entry is None else entry.offset, terms, ending=".txt")
