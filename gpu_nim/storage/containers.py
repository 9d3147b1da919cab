"""What the files of growths, solved games, tables and volumes have in common, whatever is in them."""

import json
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.errors import FileError


def store_of(kind: str) -> Callable[[Path], bool]:
    """Return a predicate: whether a folder is a Zarr store of this kind that gpunim wrote, and so may be replaced by another.

    >>> store_of("gpunim growth")(Path("thesis"))
    False
    """

    def is_ours(path: Path) -> bool:
        try:
            attributes = json.loads((path / "zarr.json").read_text(encoding="utf-8"))["attributes"]
            return bool(attributes["kind"] == kind)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    return is_ours


NPZ_DAMAGE = (OSError, ValueError, EOFError, TypeError, KeyError, NotImplementedError, zipfile.BadZipFile, zlib.error)
"""What comes of reading an npz file that is not whole."""


def npz_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an npz file, each held against its CRC-32; one of `NPZ_DAMAGE` where it is not whole."""
    # NumPy takes what is no zip for a pickle, and advises to load it as one.
    if not zipfile.is_zipfile(path):
        raise zipfile.BadZipFile("it is no zip file, or was truncated")
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def read_npz(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the attributes, none where the file has none, and the arrays of an npz file; FileError where it is not whole."""
    try:
        arrays = npz_arrays(path)
        attributes = json.loads(str(arrays.pop("attributes", "{}")))
    except NPZ_DAMAGE as error:
        raise FileError(f"cannot read {path}: it is not a whole npz file ({reason(error)})") from error
    if not isinstance(attributes, dict):
        raise FileError(f"cannot read {path}: its attributes are damaged")
    return attributes, arrays


def check_kind(path: Path, attributes: dict[str, Any], kind: str, what: str, version: int) -> None:
    """Raise FileError where the attributes are not of this kind, which people call `what`, in this version of its format."""
    if attributes.get("kind") != kind:
        raise FileError(f"cannot read {path}: it is not a {what} written by gpunim")
    if attributes.get("format") != version:
        raise FileError(f"cannot read {path}: its format is {attributes.get('format')!r}, this version reads {version}")


def reason(error: Exception) -> str:
    """Return an error of some library in a line that fits into a sentence.

    >>> reason(ValueError("no such   chunk"))
    'ValueError: no such chunk'
    """
    return " ".join(f"{type(error).__name__}: {error}".split())[:160]
