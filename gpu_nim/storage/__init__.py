"""Files in and out: growths as Zarr v3 and npz, tables of births as CSV."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from gpu_nim.automata.growth import Growth
from gpu_nim.backends.base import Batch
from gpu_nim.errors import FileError, UsageError

SUFFIXES = (".zarr", ".npz", ".csv")


class GrowthSink(Protocol):
    """Takes a growth as it happens: every batch, then the finished growth."""

    wants_cells: bool
    """Whether the batches must carry their cells."""

    def append(self, batch: Batch) -> None:
        """Take the next batch."""

    def finish(self, growth: Growth) -> None:
        """Complete the file with what is known at the end."""


def open_growth(path: str | Path) -> AbstractContextManager[GrowthSink]:
    """Open a file for a growth: .zarr (any size), .npz (what fits in memory) or .csv (births alone), by its ending.

    The file appears under its name when the block ends without an error, whole; otherwise nothing is left of it.  Raises UsageError
    for another ending and FileError where it cannot be written.
    """
    path = Path(path)
    if path.suffix == ".zarr":
        from gpu_nim.storage.zarr_files import open_zarr_growth

        return open_zarr_growth(path)
    if path.suffix == ".npz":
        from gpu_nim.storage.npz_files import open_npz_growth

        return open_npz_growth(path)
    if path.suffix == ".csv":
        from gpu_nim.storage.csv_files import open_csv_growth

        return open_csv_growth(path)
    raise UsageError(f"the file of a growth must end in {', '.join(SUFFIXES)}, got {str(path)!r}")


def save(growth: Growth, path: str | Path) -> None:
    """Write a growth with its cells to a .zarr or .npz file, or its births to a .csv file.

    >>> import tempfile
    >>> from gpu_nim import grow, load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(grow("nim", 15), f"{folder}/nim.zarr")
    ...     load(f"{folder}/nim.zarr").population
    256
    """
    with open_growth(path) as sink:
        if sink.wants_cells:
            for generation, cells in growth:
                there = slice(generation, generation + 1)
                sink.append(Batch(generation, growth.births[there], growth.checksums[there], cells))
        sink.finish(growth)


def load(path: str | Path) -> Growth:
    """Read a growth from a .zarr or .npz file; its cells are read when asked for, and held against their checksums.

    Raises FileError, with one sentence that says what is wrong, for a file that is missing, foreign, truncated or edited.
    """
    path = Path(path)
    if not path.exists():
        raise FileError(f"cannot read {path}: there is no such file")
    if path.suffix == ".zarr":
        from gpu_nim.storage.zarr_files import load_zarr_growth

        return load_zarr_growth(path)
    if path.suffix == ".npz":
        from gpu_nim.storage.npz_files import load_npz_growth

        return load_npz_growth(path)
    raise UsageError(f"a growth is read from a file that ends in .zarr or .npz, got {str(path)!r}")
