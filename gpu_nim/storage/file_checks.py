"""Checks that the files of growths, solved games, sequences and voxels have in common: kind, version, declared sizes, checksum.

A file is read in this order: the declarations, by which it is refused or its memory checked; the arrays; the checksum over all
of it. Nothing is used before the checksum is compared.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import FileError
from gpu_nim.model.files import Damaged, name_of, parse_json, printable, read_regular
from gpu_nim.model.memory import host_memory, require_memory

MAX_TEXT = 1 << 23
"""The most bytes of a file's attributes, or of an array's metadata."""


def store_of(kind: str) -> Callable[[Path], bool]:
    """Return a predicate: whether a folder is a Zarr store of this kind that gpunim wrote, and may therefore be replaced.

    >>> store_of("gpunim growth")(Path("thesis"))
    False
    """

    def is_ours(path: Path) -> bool:
        try:
            attributes = parse_json(read_regular(path / "zarr.json", MAX_TEXT, within=path))["attributes"]
            return bool(attributes["kind"] == kind)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    return is_ours


def checksum_of(attributes: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 over attributes, plain values for JSON, and arrays: names, dtypes, shapes and contents.

    >>> row = np.arange(3)
    >>> checksum_of({"kind": "example"}, {"births": row}) == checksum_of({"kind": "example"}, {"births": row[:, None]})
    False
    """
    found = hashlib.sha256(json.dumps(attributes, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        found.update(f"{name} {array.dtype.str} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


@dataclass(frozen=True)
class Declared:
    """A file's declaration of one of its arrays."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Its bytes."""
        return prod(self.shape) * self.dtype.itemsize


def is_possible(shape: Iterable[int]) -> bool:
    """Return whether an array can have this shape."""
    return all(0 <= side < 1 << 63 for side in shape)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise FileError, which names the file, for Damaged and OSError of the block, which reads it.

    >>> with reading(Path("a.npz")):
    ...     raise Damaged("it was truncated")
    Traceback (most recent call last):
    gpu_nim.model.errors.FileError: cannot read a.npz: it was truncated
    """
    try:
        yield
    except FileError:
        raise
    except Damaged as error:
        raise FileError(f"cannot read {path}: {error}") from error
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error


def require_room(path: Path, arrays: Mapping[str, Declared]) -> None:
    """Raise InsufficientMemoryError where arrays would not fit into memory."""
    require_memory(sum(array.nbytes for array in arrays.values()), host_memory() // 2, f"reading {path}")


def check_kind(attributes: Mapping[str, Any], kind: str, what: str, versions: tuple[int, ...]) -> None:
    """Raise Damaged where the attributes are not of this kind, `what` in messages, and of one of these versions."""
    if attributes.get("kind") != kind:
        raise Damaged(f"it is not a {what} written by gpunim")
    if type(attributes.get("format")) is not int or attributes["format"] not in versions:
        found, read = printable(repr(attributes.get("format")), 20), " and ".join(map(str, versions))
        raise Damaged(f"its format is {found}, this version reads {read}")


def origin(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provenance that a file declares: backend, device, seconds, version; Damaged where one is invalid."""
    seconds = attributes["seconds"]
    if not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
        raise Damaged("its seconds are no duration")
    return {"seconds": float(seconds), **{name: name_of(attributes[name]) for name in ("backend", "device", "version")}}


@contextmanager
def told_as_damage(what: str) -> Iterator[None]:
    """Raise Damaged for the errors of a library that reads what may be damaged, which are of many types.

    >>> with told_as_damage("the header is damaged"):
    ...     raise KeyError("shape")
    Traceback (most recent call last):
    gpu_nim.model.files.Damaged: the header is damaged (KeyError: 'shape')
    """
    try:
        yield
    except (Damaged, MemoryError):
        raise
    except Exception as error:
        raise Damaged(f"{what} ({reason(error)})") from error


def reason(error: Exception) -> str:
    r"""Return an error as part of a sentence, with its type if a library raised it.

    >>> reason(ValueError("no such   chunk\x1b"))
    'ValueError: no such chunk\\x1b'
    """
    return printable(str(error) if isinstance(error, Damaged) else f"{type(error).__name__}: {error}")
