"""Zarr v3 stores written by gpunim, read chunk by chunk, after the metadata are compared with the files.

Zarr itself reads anything that the metadata declare: any codec, chunks and fill values of any size.  These arrays are plain ones,
in chunks of little-endian integers under Blosc or Zstandard, and a chunk is decoded into a buffer of exactly its size.
"""

from importlib import import_module
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.files import Damaged, parse_json, printable, read_regular
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.storage.file_checks import MAX_TEXT, Declared, reason

_METADATA = 1 << 20  # bytes of an array's metadata
_CHUNK = 1 << 26  # bytes of a chunk: zarr itself chooses no larger ones
_GIVEN = 1 << 26  # the most bytes of chunks of zeros, which earlier versions left out
_ABSENT = 1 << 10  # of them
_TYPES = {f"{sign}int{bits}": np.dtype(f"<{sign[:1] or 'i'}{bits // 8}") for sign in ("", "u") for bits in (8, 16, 32, 64)}
_BLOSC_HEADER, _ZSTD_HEADER = 16, 6  # bytes at least


def read_group(store: Path) -> dict[str, Any]:
    """Return the attributes of a group; Damaged where it is no group of Zarr v3."""
    if not store.is_dir():
        raise Damaged("it is no folder")
    found = parse_json(read_member(store, store / "zarr.json", MAX_TEXT))
    if found.get("zarr_format") != 3 or found.get("node_type") != "group" or not isinstance(found.get("attributes"), dict):
        raise Damaged("its zarr.json is not that of a group")
    return dict(found["attributes"])


class StoredArray:
    """An array of a store.

    >>> import tempfile
    >>> from gpu_nim import grow, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(grow("nim", 3), f"{folder}/nim.zarr")
    ...     StoredArray(Path(folder, "nim.zarr"), "births").read().tolist()
    [1, 3, 3, 9]
    """

    def __init__(self, store: Path, name: str) -> None:
        self._store, self._name = store, name
        self.metadata = read_member(store, store / name / "zarr.json", _METADATA)
        """The bytes of the array's metadata."""
        found = parse_json(self.metadata)
        try:
            self._check(found)
            shape, chunk = found["shape"], found["chunk_grid"]["configuration"]["chunk_shape"]
            counts = all(type(side) is int and 0 <= side < 2**63 for side in (*shape, *chunk))
            if not shape or len(shape) != len(chunk) or not counts or 0 in chunk:
                raise Damaged(f"{name} has no shape that an array can have")
            self.declared = Declared(_TYPES[found["data_type"]], tuple(shape))
            self._chunk = Declared(self.declared.dtype, tuple(chunk))
            self._codec = _codec(found["codecs"])
            self.attributes: dict[str, Any] = dict(found.get("attributes", {}))
        except Damaged:
            raise
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            raise Damaged(f"the metadata of {name} are damaged ({reason(error)})") from error
        if self._chunk.nbytes > _CHUNK:
            raise Damaged(f"{name} declares chunks of {self._chunk.nbytes:,} bytes")

    def _check(self, found: dict[str, Any]) -> None:
        plain = (
            found["zarr_format"] == 3
            and found["node_type"] == "array"
            and found["chunk_grid"]["name"] == "regular"
            and found["chunk_key_encoding"] in ({"name": "default"}, {"name": "default", "configuration": {"separator": "/"}})
            and found["fill_value"] == 0
            and not found.get("storage_transformers")
        )
        if not plain:
            raise Damaged(f"{self._name} is laid out as gpunim does not")

    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the entries `start` to `stop` - 1 along the first axis."""
        shape, chunk = self.declared.shape, self._chunk.shape
        lower = (start, *[0] * (len(shape) - 1))
        upper = (shape[0] if stop is None else stop, *shape[1:])
        sides = [high - low for low, high in zip(lower, upper, strict=True)]
        grid = [range(low // wide, -(-high // wide)) for low, high, wide in zip(lower, upper, chunk, strict=True)]
        if 0 in sides:
            return np.empty(sides, self.declared.dtype)
        self._check_files(grid)
        if (needed := prod(sides) * self.declared.dtype.itemsize) > _GIVEN:
            require_memory(needed, host_memory() // 2, f"reading {self._name} of {self._store}")
        found = np.empty(sides, self.declared.dtype)
        for index in product(*grid):
            corner = [i * wide for i, wide in zip(index, chunk, strict=True)]
            there, here = [], []
            for first, wide, low, high in zip(corner, chunk, lower, upper, strict=True):
                begin, end = max(low, first), min(high, first + wide)
                there.append(slice(begin - first, end - first))
                here.append(slice(begin - low, end - low))
            found[tuple(here)] = self._decoded(index)[tuple(there)]
        return found

    def _check_files(self, grid: list[range]) -> None:
        """Refuse an array with many missing chunks, before memory is allocated for it."""
        most = min(_GIVEN // self._chunk.nbytes, _ABSENT)
        absent = 0
        for index in product(*grid):
            absent += not self._path(index).exists()
            if absent > most:
                raise Damaged(f"{self._name} lacks chunks")

    def _path(self, index: tuple[int, ...]) -> Path:
        return self._store.joinpath(self._name, "c", *map(str, index))

    def _decoded(self, index: tuple[int, ...]) -> NDArray[Any]:
        try:
            raw = read_regular(self._path(index), 2 * self._chunk.nbytes + _METADATA, within=self._store)
        except FileNotFoundError:
            return np.zeros(self._chunk.shape, self._chunk.dtype)
        flat = np.zeros(prod(self._chunk.shape), self._chunk.dtype)
        if self._codec is None:
            if len(raw) != flat.nbytes:
                raise Damaged(f"a chunk of {self._name} was truncated")
            flat[:] = np.frombuffer(raw, flat.dtype)
        else:
            said = _sizes_of_blosc(raw) if self._codec.codec_id == "blosc" else _sizes_of_zstd(raw)
            if said != (flat.nbytes, len(raw)):
                raise Damaged(f"a chunk of {self._name} was truncated, or is not of the size that it must have")
            try:
                self._codec.decode(raw, out=flat)
            except MemoryError:
                raise
            except Exception as error:  # each codec raises types of its own
                raise Damaged(f"a chunk of {self._name} is damaged ({reason(error)})") from error
        return flat.reshape(self._chunk.shape)


def read_member(store: Path, path: Path, most: int) -> bytes:
    """Return the content of a file of a store; Damaged where it is none, or longer than `most` bytes."""
    try:
        return read_regular(path, most, within=store)
    except FileNotFoundError as error:
        raise Damaged(f"it has no {path.relative_to(store)}") from error
    except NotADirectoryError as error:
        raise Damaged(f"{path.parent.name} is no folder") from error


def _codec(codecs: list[dict[str, Any]]) -> Any:
    """The decompressor; None where there is no compression."""
    codec: Any = import_module("numcodecs")  # what zarr itself decodes with
    known = {"blosc": codec.Blosc, "zstd": codec.Zstd}
    names = [each["name"] for each in codecs]
    first, *others = names
    endian = (codecs[0].get("configuration") or {}).get("endian", "little")
    if (first, endian) != ("bytes", "little") or len(others) > 1 or not set(others) <= known.keys():
        raise Damaged(f"its codecs are {printable(repr(names), 60)}, which gpunim does not write")
    return known[others[0]]() if others else None


def _sizes_of_blosc(raw: bytes) -> tuple[int, int]:
    """The unpacked and the packed size that a chunk declares: Blosc reads and writes by these."""
    whole = len(raw) >= _BLOSC_HEADER
    return (int.from_bytes(raw[4:8], "little"), int.from_bytes(raw[12:_BLOSC_HEADER], "little")) if whole else (-1, -1)


def _sizes_of_zstd(raw: bytes) -> tuple[int, int]:
    """The unpacked size that a chunk, a Zstandard frame, declares (RFC 8878, 3.1.1.1), and its packed size."""
    if len(raw) < _ZSTD_HEADER:
        return -1, -1
    flag, single, dictionary = raw[4] >> 6, raw[4] >> 5 & 1, (0, 1, 2, 4)[raw[4] & 3]
    start, width = 6 - single + dictionary, (single, 2, 4, 8)[flag]
    said = int.from_bytes(raw[start : start + width], "little") + 256 * (flag == 1)
    return (said if width else -1), len(raw)
