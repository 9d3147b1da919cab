"""Files in and out: growths and solved games as Zarr v3 and npz, tables as CSV, pictures of growths for Golly and VTK."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.growth import Growth
from gpu_nim.backends.interface import Batch
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.reading import printable
from gpu_nim.storage.atomic import check_writable
from gpu_nim.storage.attributes import is_growth_store

if TYPE_CHECKING:
    from gpu_nim.games.solution import Solution

# What opens a growth's file, by its ending: each format's libraries are imported where it is asked for.
_OPENERS = {
    ".zarr": "zarr_files:open_zarr_growth",
    ".npz": "npz_files:open_npz_growth",
    ".csv": "column_files:open_csv_growth",
    ".rle": "rle_files:open_rle_growth",
    ".rle3": "rle_files:open_rle_growth",
    ".vti": "vtk_files:open_vti_growth",
    ".vtp": "vtk_files:open_vtp_growth",
}
SUFFIXES = tuple(_OPENERS)
_DIMENSIONS = {".rle": (2,), ".rle3": (3,), ".vti": (2, 3), ".vtp": (1, 2, 3)}  # of the formats that have not any number of them
_BATCH = 1 << 16  # cells that are given to a sink at a time, or a few more


class GrowthWriter(Protocol):
    """Takes a growth as it happens: every batch, then the finished growth."""

    wants_cells: bool
    """Whether the batches must carry their cells."""

    def append(self, batch: Batch) -> None:
        """Take the next batch."""

    def finish(self, growth: Growth) -> None:
        """Complete the file with what is known at the end."""


def open_growth(path: str | Path, *, parents: bool = False) -> AbstractContextManager[GrowthWriter]:
    """Open a file for a growth, by its ending.

    .zarr: the cells, any number of them; with `parents`, each cell's parent too.  .npz: the cells, what fits in memory.
    .csv: the growth's table, births and population unless other columns were asked for.
    .rle, .rle3: the pattern for Golly, in two and in three dimensions.  .vti, .vtp: voxels and points for VTK.

    The file appears under its name when the block ends without an error, whole; otherwise nothing is left of it.  Raises UsageError
    for another ending and FileError where it cannot be written.

    >>> import tempfile
    >>> from gpu_nim.automata.growth_process import GrowthProcess
    >>> from gpu_nim.backends.selection import select
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     growing = GrowthProcess("nim", 63, select("numpy"), cells=True)
    ...     with open_growth(f"{folder}/nim.npz") as sink:
    ...         for batch in growing:
    ...             sink.append(batch)
    ...         sink.finish(growing.growth())
    ...     load(f"{folder}/nim.npz").population
    4096
    """
    path = Path(path)
    check_growth(path)
    if parents and path.suffix != ".zarr":
        raise UsageError(f"parents are saved in a .zarr file, got {str(path)!r}")
    module, name = _OPENERS[path.suffix].split(":")
    opener: Callable[..., AbstractContextManager[GrowthWriter]] = getattr(import_module(f"gpu_nim.storage.{module}"), name)
    return opener(path, parents=True) if parents else opener(path)


def check_growth(path: Path, dimension: int | None = None) -> None:
    """Raise what `open_growth` would raise for this path, and its sink for cells of so many dimensions where that is known."""
    if path.suffix not in _OPENERS:
        raise UsageError(f"the file of a growth must end in {', '.join(SUFFIXES)}, got {str(path)!r}")
    held = _DIMENSIONS.get(path.suffix)
    if dimension is not None and held is not None and dimension not in held:
        counts = " or ".join(map(str, held))
        raise UsageError(f"a {path.suffix} file holds {counts} dimensions, this growth has {dimension}")
    check_writable(path, is_growth_store)


def save(found: "Growth | Solution", path: str | Path, *, parents: bool = False) -> None:
    """Write a growth or a solved game to a file, by its ending.

    For the endings of a growth, and `parents`, see `open_growth`; a solved game takes .zarr, .npz and .csv, see
    `gpu_nim.storage.solutions.save_solution`.

    >>> import tempfile
    >>> from gpu_nim import grow, load, save, solve
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(grow("nim", 15), f"{folder}/nim.zarr")
    ...     save(solve("3y <= x + z", 31), f"{folder}/chocolate.zarr")
    ...     load(f"{folder}/nim.zarr").population, len(load(f"{folder}/chocolate.zarr").p_positions)
    (256, 342)
    """
    if isinstance(found, Growth):
        with open_growth(path, parents=parents) as sink:
            write_growth(sink, found)
        return
    from gpu_nim.storage.solutions import save_solution

    if parents:
        raise UsageError("parents: expected a growth, whose cells have them, got a solved game")
    save_solution(found, Path(path))


def write_growth(sink: GrowthWriter, growth: Growth) -> None:
    """Give a finished growth to a sink as if it were growing, some generations at a time."""
    if sink.wants_cells:
        waiting: list[NDArray[np.integer]] = []
        first = count = 0
        for generation, cells in growth:
            waiting.append(cells)
            count += len(cells)
            if count >= _BATCH or generation == growth.generations:
                there = slice(first, generation + 1)
                sink.append(Batch(first, growth.births[there], growth.checksums[there], np.concatenate(waiting)))
                first, count, waiting = generation + 1, 0, []
    sink.finish(growth)


def load(path: str | Path) -> "Growth | Solution":
    """Read a growth or a solved game, as the file says, from a .zarr or .npz file.

    A growth's cells are read when asked for, and held against their checksums; a solved game is read whole, and held against its
    digest.  Raises FileError, with one sentence that says what is wrong, for a file that is missing, foreign, truncated or edited.

    >>> import tempfile
    >>> from gpu_nim import grow
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(grow("edge", 15), f"{folder}/edge.npz")
    ...     growth = load(f"{folder}/edge.npz")
    >>> growth.population, growth.newborns(2).tolist()
    (826, [[0, 2, 2], [2, 0, 2], [2, 2, 0]])
    """
    path = Path(path)
    try:
        there = path.exists()
    except (OSError, ValueError) as error:  # a name that no file can have
        raise FileError(f"cannot read {printable(str(path))}: {getattr(error, 'strerror', None) or error}") from error
    if not there:
        raise FileError(f"cannot read {path}: there is no such file")
    if path.suffix not in (".zarr", ".npz"):
        raise UsageError(f"a growth or a solved game is read from a file that ends in .zarr or .npz, got {str(path)!r}")
    from gpu_nim.storage.solutions import is_solution, load_solution

    if is_solution(path):
        return load_solution(path)
    if path.suffix == ".zarr":
        from gpu_nim.storage.zarr_files import load_zarr_growth

        return load_zarr_growth(path)
    from gpu_nim.storage.npz_files import load_npz_growth

    return load_npz_growth(path)
