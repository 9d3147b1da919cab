"""The engine "gpunim" of xarray: `xarray.open_dataset("edge.zarr", engine="gpunim")` is `gpu_nim.load("edge.zarr").to_xarray()`.

xarray finds it by the entry point in pyproject.toml, and imports this module alone.
"""

import os
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from gpu_nim.automata.growth import Growth
from gpu_nim.storage.save_load import load

try:
    _Entrypoint: Any = import_module("xarray.backends").BackendEntrypoint
except ImportError:  # only xarray uses this module, but tests and documents import every one
    _Entrypoint = object


class GpunimEntrypoint(_Entrypoint):  # type: ignore[misc]
    """Opens growths and solved games, .zarr or .npz, with their coordinates, and compared with their checksums."""

    description = "Growths and solved games of gpunim"

    def open_dataset(
        self, filename_or_obj: str | os.PathLike[str], *, drop_variables: str | Iterable[str] | None = None, cells: bool = True
    ) -> Any:
        """Return the dataset of a file.

        Args:
            filename_or_obj: the file.
            drop_variables: variables to leave out.
            cells: whether a growth has its cells, which are read into memory.

        Raises:
            UsageError: no growth or solved game is read from files of this suffix.
            FileError: the file is missing, foreign, truncated or edited.
        """
        found = load(os.fspath(filename_or_obj))
        made = found.to_xarray(cells=cells) if isinstance(found, Growth) else found.to_xarray()
        return made.drop_vars(drop_variables or [], errors="ignore")
