"""Arrays with attributes in a file: a Zarr v3 group, read and written by zarr, or an npz file, by NumPy.

What a file declares is known before any of its arrays is read, so that whoever opens it can refuse it, or compare its size with the
memory. Files may be damaged on purpose: a chunk that unpacks to more than it should, a link that leads out of a store, a pipe in
the place of a chunk or a header that declares a terabyte are refused before they cost anything.
"""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.files import Damaged, open_regular, parse_json, printable
from gpu_nim.model.work import interrupts_deferred
from gpu_nim.storage.file_checks import MAX_TEXT, Declared, is_possible, reading, told_as_damage
from gpu_nim.storage.zarr_arrays import ZarrArrays

_MEMBERS = 64  # arrays in an npz file
_AT_ONCE = 1 << 20  # bytes of it that are read at a time
_DEFLATED = 1032  # the largest ratio of deflate
_LOCAL_HEADER = 26  # where the lengths of the name and of the rest are in the header of a member


class Arrays(Protocol):
    """The arrays of a file."""

    @property
    def attributes(self) -> dict[str, Any]:
        """Its attributes; none where it is not gpunim's."""

    @property
    def declared(self) -> Mapping[str, Declared]:
        """What it declares of each array."""

    def read(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the entries `start` to `stop` - 1 of an array along its first axis; Damaged where there is none of that name."""


@contextmanager
def open_arrays(path: Path, names: Sequence[str]) -> Iterator[Arrays]:
    """Open a .zarr or .npz file, of which these arrays are read; a FileError of the block says that it is no whole one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_npz(Path(folder, "a.npz"), {"births": np.arange(3)}, {"kind": "example"})
    ...     with open_arrays(Path(folder, "a.npz"), ["births", "cells"]) as arrays:
    ...         arrays.attributes, arrays.declared["births"].shape, arrays.read("births", 1).tolist()
    ({'kind': 'example'}, (3,), [1, 2])
    """
    with reading(path):
        if path.suffix == ".zarr":
            yield ZarrArrays(path, names)
        else:
            with NpzArrays(path) as arrays:
                yield arrays


@dataclass(frozen=True)
class Parts:
    """An array that is written in parts along its first axis, so that all of it need not be in memory."""

    declared: Declared
    parts: Iterable[NDArray[Any]]


def save_npz(path: Path, arrays: Mapping[str, NDArray[Any] | Parts], attributes: Mapping[str, Any]) -> None:
    """Write arrays by name, with attributes, plain values for JSON, to a new .npz file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in {**arrays, "attributes": np.array(json.dumps(dict(attributes)))}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                _write_npy(member, array)


def save_store(
    path: Path, arrays: Mapping[str, NDArray[Any]], attributes: Mapping[str, Any], dimensions: Mapping[str, Sequence[str]]
) -> None:
    """Write arrays by name, with attributes, plain values for JSON, and the names of their dimensions, to a new .zarr store."""
    import zarr
    from zarr.codecs import ZstdCodec

    with interrupts_deferred():
        group = zarr.open_group(path, mode="w", zarr_format=3)
        for name, array in arrays.items():
            group.create_array(
                name,
                data=array,
                dimension_names=dimensions[name],
                compressors=ZstdCodec(level=3),
                config={"write_empty_chunks": True},  # to detect a missing one
            )
        group.attrs.update(dict(attributes))


def _write_npy(file: IO[bytes], array: NDArray[Any] | Parts) -> None:
    if not isinstance(array, Parts):
        np.lib.format.write_array(file, array, allow_pickle=False)
        return
    declared = array.declared
    header = {"descr": declared.dtype.str, "fortran_order": False, "shape": declared.shape}
    np.lib.format.write_array_header_1_0(file, header)
    for part in array.parts:
        file.write(np.ascontiguousarray(part, declared.dtype).data)


class NpzArrays:
    """The arrays of an npz file of numbers and texts, whose declarations are read first.

    Each declaration must agree with the zip's directory, and that with the file's size; Damaged, on opening and on reading, where
    it does not.  With `compressed`, members may be deflated; stored ones take no more memory than the file has bytes.
    """

    def __init__(self, path: Path, *, compressed: bool = True) -> None:
        self._file = _Sparing(open_regular(path))
        try:
            self._size = self._file.size
            self._zip = _unzipped(self._file)
            self._members: dict[str, tuple[zipfile.ZipInfo, bool, int]] = {}
            self.declared: dict[str, Declared] = {}
            for info in self._zip.infolist():
                _check_member(info, self._size, compressed)
                name = info.filename.removesuffix(".npy")
                if name in self.declared:
                    raise Damaged(f"it holds {printable(name, 40)} twice")
                self.declared[name], transposed, start = self._header(info)
                self._members[name] = (info, transposed, start)
            self.attributes = parse_json(self.read_text("attributes")) if "attributes" in self.declared else {}
            self.declared.pop("attributes", None)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> NpzArrays:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def read(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return an array, compared with its CRC-32."""
        info, _, _ = self._member(name)
        with _opened(self._zip, info) as member:
            array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
        return array[start:stop] if array.ndim else array

    def mapped(self, name: str) -> NDArray[Any]:
        """Return an array that is stored as it is, without reading it: the system reads parts of the file as they are used.

        Its CRC-32 is not compared. Damaged where there is none of that name.
        """
        info, transposed, start = self._member(name)
        declared = self.declared[name]
        if info.compress_type != zipfile.ZIP_STORED or transposed or not declared.nbytes:
            return self.read(name)
        self._file.seek(info.header_offset + _LOCAL_HEADER)
        lengths = self._file.read(4)  # of the name and of what is between it and the contents
        begin = info.header_offset + _LOCAL_HEADER + 4 + sum(int.from_bytes(lengths[at : at + 2], "little") for at in (0, 2))
        if begin + start + declared.nbytes > self._size:
            raise Damaged("it was truncated")
        return np.asarray(np.memmap(self._file, declared.dtype, "r", begin + start, declared.shape))

    def read_text(self, name: str) -> str:
        """Return an array that holds a single text."""
        self._member(name)
        declared = self.declared[name]
        if declared.dtype.kind != "U" or declared.shape != () or declared.nbytes > MAX_TEXT:
            raise Damaged(f"{name} is no text")
        try:
            return str(self.read(name))
        except ValueError as error:  # not Unicode
            raise Damaged(f"{name} is no text") from error

    def _member(self, name: str) -> tuple[zipfile.ZipInfo, bool, int]:
        if name not in self._members:
            raise Damaged(f"it has no {name}")
        return self._members[name]

    def _header(self, info: zipfile.ZipInfo) -> tuple[Declared, bool, int]:
        """The declaration of an array, whether its first index is the fastest, and the offset of its data."""
        name = printable(info.filename, 40)
        with _opened(self._zip, info) as member:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")  # of headers by Python 2
                    np.lib.format.read_magic(member)
                    shape, transposed, dtype = np.lib.format.read_array_header_1_0(member)
            except Exception as error:  # NumPy reads the header with Python's own parser
                raise Damaged(f"{name} is no array of numbers or text") from error
            start = member.tell()
        if dtype.kind not in "biufU" or not is_possible(shape):
            raise Damaged(f"{name} is no array of numbers or text")
        declared = Declared(dtype, shape)
        if start + declared.nbytes != info.file_size:
            raise Damaged(f"{name} declares {declared.nbytes:,} bytes and holds another number")
        return declared, transposed, start


class _Sparing(BufferedReader):
    """A file of which little is read at a time, whatever its directory declares."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(cast("BufferedReader", file).detach())
        self.size = self.seek(0, 2)

    def read(self, size: int | None = -1) -> bytes:
        left = self.size - self.tell()
        wanted = left if size is None or size < 0 else min(size, left)
        if wanted > _AT_ONCE:
            raise Damaged("its directory is damaged")
        return super().read(wanted)


def _unzipped(file: _Sparing) -> zipfile.ZipFile:
    try:
        found = zipfile.ZipFile(file)
    except MemoryError:
        raise
    except Exception as error:  # the zip reader raises errors of many types for damaged files
        raise Damaged("it is no zip file, or was truncated") from error
    if len(found.infolist()) > _MEMBERS:
        raise Damaged(f"it holds {len(found.infolist())} members, {_MEMBERS} is the most that gpunim writes")
    return found


def _check_member(info: zipfile.ZipInfo, size: int, compressed: bool) -> None:
    name = printable(info.filename, 40)
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) if compressed else (zipfile.ZIP_STORED,)
    if info.flag_bits & 1 or info.compress_type not in methods:
        raise Damaged(f"{name} is encrypted, or packed as gpunim does not pack it")
    packed = info.compress_type != zipfile.ZIP_STORED
    if info.compress_size > size or info.file_size > info.compress_size * (_DEFLATED if packed else 1):
        raise Damaged(f"{name} declares {info.file_size:,} bytes, more than the file can hold")


@contextmanager
def _opened(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
    """A member of a zip file, with all errors of its reader turned into Damaged."""
    with told_as_damage(f"{printable(info.filename, 40)} is damaged"), archive.open(info) as member:
        yield member
