"""Named arrays with attributes in a file: a Zarr v3 group, read and written by zarr, or an npz file, by NumPy.

Growths, solved games, tables, voxels and checkpoints are such files, and are read in this order: the declarations, by which a file
is refused or its memory checked; the arrays; the checksum over all of it. Nothing is used before the checksum is compared.

Files may be damaged on purpose: a chunk that unpacks to more than it should, a link that leads out of a store, a pipe in the place
of a chunk or a header that declares a terabyte are refused before they cost anything.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from io import BufferedReader
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import FileError
from gpu_nim.model.files import Damaged, name_of, open_regular, parse_json, printable, read_regular, reading
from gpu_nim.model.memory import host_memory, require_memory

if TYPE_CHECKING:
    import zarr
    from zarr.storage import LocalStore

#: The most bytes of a file's attributes, or of an array's metadata.
MAX_TEXT = 1 << 23


@dataclass(frozen=True)
class Kind:
    """A kind of file that gpunim writes, which says so in its attributes.

    Attributes:
        name: the attribute `kind`.
        format: the version of what it holds.
        what: the word for it in messages.

    >>> Kind("gpunim growth", 2, "growth").is_ours(Path("thesis"))
    False
    """

    name: str
    format: int
    what: str

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes that say it."""
        return {"kind": self.name, "format": self.format}

    def is_ours(self, path: Path) -> bool:
        """Return whether a folder is a Zarr store of this kind that gpunim wrote, and may therefore be replaced."""
        try:
            return bool(parse_json(read_regular(path / "zarr.json", MAX_TEXT, within=path))["attributes"]["kind"] == self.name)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raise Damaged where the attributes are not of this kind and of this version."""
        if attributes.get("kind") != self.name:
            raise Damaged(f"it is not a {self.what} written by gpunim")
        if (type(found := attributes.get("format")), found) != (int, self.format):
            raise Damaged(f"its format is {printable(repr(found), 20)}, this version reads {self.format}")


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


def require_room(path: Path, arrays: Mapping[str, Declared]) -> None:
    """Raise InsufficientMemoryError where arrays would not fit into memory."""
    require_memory(sum(array.nbytes for array in arrays.values()), host_memory() // 2, f"reading {path}")


#: The attributes of every result in a file.
PROVENANCE = ("kind", "format", "version", "backend", "device", "seconds")


def origin(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provenance that a file declares: backend, device, seconds, version; Damaged where one is invalid."""
    seconds = attributes["seconds"]
    if not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
        raise Damaged("its seconds are no duration")
    return {"seconds": float(seconds), **{name: name_of(attributes[name]) for name in ("backend", "device", "version")}}


@contextmanager
def raised_as_damage(what: str) -> Iterator[None]:
    """Raise Damaged for the errors of a library that reads what may be damaged, which are of many types.

    >>> with raised_as_damage("the header is damaged"):
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
    return printable(str(error) if isinstance(error, Damaged | FileError) else f"{type(error).__name__}: {error}")


_ABSENT = 1 << 26  # bytes of chunks of zeros, which earlier versions left out, that may be missing
_SLACK = 1 << 20  # bytes of a chunk that compression did not make smaller, and of checksums
_FREE = 1 << 26  # bytes that are read without asking for memory
_CHECKSUMS = 64  # bytes at most that codecs add to a chunk before it is compressed
_BLOSC_HEADER, _ZSTD_HEADER = 16, 6  # bytes at least
_GZIP = 31  # zlib's name for the format


class _WrongSize(Damaged):
    """A chunk would unpack to another size than it must have."""


class ZarrArrays:
    """Arrays of a group, or with no names the one array that the store is, under the name "".

    Any store of Zarr v3 that zarr reads, whatever its codecs; consolidated metadata are not needed, nor believed.
    """

    def __init__(self, store: Path, names: Sequence[str] = ()) -> None:
        self._path = store
        self.attributes = attributes_of(store, "group" if names else "array")
        guarded = _guarded_store()(store, read_only=True)
        self._arrays: dict[str, zarr.Array[Any]] = {}
        self.declared: dict[str, Declared] = {}
        for name in names or [""]:
            if not (store / name).is_dir():
                continue
            with _readable(f"the metadata of {name or store.name} are damaged"):
                self._arrays[name] = array = _opened_array(guarded, name)
                self.declared[name] = Declared(np.dtype(array.dtype).newbyteorder("="), tuple(array.shape))
                unit = prod(array.shards or array.chunks) * self.declared[name].dtype.itemsize
            if not is_possible((*array.shape, *(array.shards or array.chunks))):
                raise Damaged(f"{name or store.name} has no shape that an array can have")
            self._require(unit, f"a chunk of {name or store.name}")
            guarded.longest[name] = 2 * unit + _SLACK

    def read(self, name: str = "", start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the entries `start` to `stop` - 1 of an array along its first axis."""
        if name not in self._arrays:
            raise Damaged(f"it has no {name}")
        array, declared = self._arrays[name], self.declared[name]
        stop = declared.shape[0] if stop is None else stop
        self._require((stop - start) * prod(declared.shape[1:]) * declared.dtype.itemsize, name)
        whole = stop - start == declared.shape[0] and declared.nbytes > _ABSENT
        if whole and self.missing(name) * prod(array.chunks) * declared.dtype.itemsize > _ABSENT:
            raise Damaged(f"{name} lacks chunks")
        chunk = f"a chunk of {name or self._path.name}"
        try:
            with _readable(f"{chunk} is damaged"):
                return np.ascontiguousarray(array[start:stop], declared.dtype)
        except _WrongSize as error:
            raise Damaged(f"{chunk} was truncated, or is not of the size that it must have") from error

    def missing(self, name: str = "") -> int:
        """Return how many chunks of an array are not there, which are read as zeros."""
        return int(self._arrays[name].nchunks - self._arrays[name].nchunks_initialized)

    def _require(self, size: int, what: str) -> None:
        if size > _FREE:
            require_memory(size, host_memory() // 2, f"reading {what} of {self._path}")


#: How arrays are written in which a missing chunk is to be detected.
EVERY_CHUNK: Any = {"write_empty_chunks": True}


def created(store: Path, name: str, dimensions: Sequence[str], **how: Any) -> zarr.Array[Any]:
    """Make an array in place of the one of that name, if there is one.

    Args:
        store: the store.
        name: the array's name in the store's group; "" for a store that is the array.
        dimensions: the names of its dimensions.
        how: its `data`, or its `shape` and `dtype`, and its layout, as `zarr.create_array` takes them.
    """
    import zarr

    return zarr.create_array(
        store, name=name or None, dimension_names=dimensions, zarr_format=3, **{"config": EVERY_CHUNK, "overwrite": True, **how}
    )


def attributes_of(store: Path, node: str = "group") -> dict[str, Any]:
    """Return the attributes of a store; Damaged where it is no group, or array, of Zarr v3."""
    if not store.is_dir():
        raise Damaged("it is no folder")
    try:
        found = parse_json(read_regular(store / "zarr.json", MAX_TEXT, within=store))
    except FileNotFoundError as error:
        raise Damaged("it has no zarr.json") from error
    attributes = found.get("attributes", {})
    if (found.get("zarr_format"), found.get("node_type")) != (3, node) or not isinstance(attributes, dict):
        raise Damaged(f"its zarr.json is not that of {'an array' if node == 'array' else 'a group'}")
    return attributes


@contextmanager
def _readable(what: str) -> Iterator[None]:
    """Turn the errors of zarr and of its codecs into Damaged."""
    with raised_as_damage(what), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what is no part of Zarr v3
        yield


def _opened_array(store: LocalStore, name: str) -> Any:
    import zarr

    with zarr.config.set({f"codecs.{name}": each for name, each in _guarded_codecs().items()}):
        return zarr.open_array(store, path=name, mode="r", zarr_format=3)


@cache
def _guarded_store() -> Any:
    """The class of a store whose files are regular ones within it, and not longer than their contents need."""
    from zarr.storage import LocalStore

    class GuardedStore(LocalStore):
        def __init__(self, root: Path, *, read_only: bool) -> None:
            super().__init__(root, read_only=read_only)
            self.longest: dict[str, int] = {}  # bytes of the files of an array

        def _check(self, key: str) -> None:
            name = key.partition("/")[0]
            most = self.longest.get(name if name in self.longest else "", MAX_TEXT)
            with suppress(FileNotFoundError, NotADirectoryError), open_regular(self.root / key, within=self.root) as file:
                if os.fstat(file.fileno()).st_size > most:
                    raise Damaged(f"{key} is longer than {most:,} bytes")

        async def get(self, key: str, *args: Any, **named: Any) -> Any:
            self._check(key)
            return await super().get(key, *args, **named)

        def get_sync(self, key: str, *args: Any, **named: Any) -> Any:
            self._check(key)
            return super().get_sync(key, *args, **named)

    return GuardedStore


@cache
def _guarded_codecs() -> dict[str, str]:
    """Codecs that unpack a chunk only to the size that it must have, by the names of those they replace.

    Blosc reads and writes by the sizes that a chunk declares, whatever there is; so does Zstandard, where a frame declares one.
    """
    from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec
    from zarr.registry import register_codec

    found = {}
    known = (("blosc", BloscCodec, sizes_of_blosc), ("zstd", ZstdCodec, sizes_of_zstd), ("gzip", GzipCodec, sizes_of_gzip))
    for name, codec, sizes in known:

        class Guarded(codec):  # type: ignore[misc, valid-type]
            _sizes = staticmethod(sizes)

            def _check(self, chunk: Any, spec: Any) -> None:
                most = prod(spec.shape) * spec.dtype.to_native_dtype().itemsize + _CHECKSUMS
                unpacked, packed = self._sizes(chunk.to_bytes(), most)
                if unpacked > most or packed != len(chunk):
                    raise _WrongSize

            async def _decode_single(self, chunk: Any, spec: Any) -> Any:
                self._check(chunk, spec)
                return await super()._decode_single(chunk, spec)

            def _decode_sync(self, chunk: Any, spec: Any) -> Any:
                self._check(chunk, spec)
                return super()._decode_sync(chunk, spec)

        found[name] = f"gpu_nim.{name}"
        register_codec(name, Guarded, qualname=found[name])
    return found


def sizes_of_blosc(raw: bytes, most: int = 0) -> tuple[int, int]:
    """Return the unpacked and the packed size that a chunk declares."""
    whole = len(raw) >= _BLOSC_HEADER
    return (int.from_bytes(raw[4:8], "little"), int.from_bytes(raw[12:_BLOSC_HEADER], "little")) if whole else (-1, -1)


def sizes_of_zstd(raw: bytes, most: int = 0) -> tuple[int, int]:
    """Return the unpacked size that a chunk, a Zstandard frame, declares (RFC 8878, 3.1.1.1), or -1, and its packed size."""
    if len(raw) < _ZSTD_HEADER:
        return -1, -1
    flag, single, dictionary = raw[4] >> 6, raw[4] >> 5 & 1, (0, 1, 2, 4)[raw[4] & 3]
    start, width = 6 - single + dictionary, (single, 2, 4, 8)[flag]
    said = int.from_bytes(raw[start : start + width], "little") + 256 * (flag == 1)
    return (said if width else -1), len(raw)


def sizes_of_gzip(raw: bytes, most: int) -> tuple[int, int]:
    """Return the unpacked size of a chunk, or one above `most` where it is larger, and its packed size."""
    return len(zlib.decompressobj(_GZIP).decompress(raw, most + 1)), len(raw)


_MEMBERS = 64  # arrays in an npz file
_AT_ONCE = 1 << 20  # bytes of it that are read at a time
_DEFLATED = 1032  # the largest ratio of deflate
_LOCAL_HEADER = 26  # where the lengths of the name and of the rest are in the header of a member


@contextmanager
def open_arrays(path: Path, names: Sequence[str]) -> Iterator[ZarrArrays | NpzArrays]:
    """Open a .zarr or .npz file, of which these arrays are read; a FileError of the block says that it is no whole one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_arrays(Path(folder, "a.npz"), {"births": np.arange(3)}, {"kind": "example"})
    ...     with open_arrays(Path(folder, "a.npz"), ["births", "cells"]) as arrays:
    ...         arrays.attributes, arrays.declared["births"].shape, arrays.read("births", 1).tolist()
    ({'kind': 'example'}, (3,), [1, 2])
    """
    with reading(path):
        if path.suffix == ".zarr":
            yield ZarrArrays(path, names)
        else:
            with opened_npz(path) as arrays:
                yield arrays


@dataclass(frozen=True)
class Parts:
    """An array that is written in parts along its first axis, so that all of it need not be in memory."""

    declared: Declared
    parts: Iterable[NDArray[Any]]


def save_arrays(
    path: Path,
    arrays: Mapping[str, NDArray[Any] | Parts],
    attributes: Mapping[str, Any],
    dimensions: Mapping[str, Sequence[str]] = MappingProxyType({}),
    lengths: Mapping[str, int] = MappingProxyType({}),
) -> None:
    """Write arrays to a new .zarr or .npz file.

    Args:
        path: the file.
        arrays: the arrays by name; in .npz they may be in parts.
        attributes: plain values for JSON.
        dimensions: in .zarr the names of the dimensions of each array.
        lengths: in .zarr, of the dimensions that are coordinates, as for `finish_store`.
    """
    if path.suffix == ".zarr":
        import zarr
        from zarr.codecs import ZstdCodec

        group = zarr.open_group(path, mode="w", zarr_format=3)
        for name, array in arrays.items():
            created(path, name, dimensions[name], data=array, compressors=ZstdCodec(level=3))
        group.attrs.update(dict(attributes))
        finish_store(path, lengths)
        return
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in {**arrays, "attributes": np.array(json.dumps(dict(attributes)))}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                write_npy(member, array)


def finish_store(path: Path, lengths: Mapping[str, int]) -> None:
    """Add what xarray opens a store with: 0, 1, ... along dimensions that count, and the metadata of all arrays with the group's.

    Args:
        path: the store, which is complete without them.
        lengths: those of the dimensions, by name.
    """
    import zarr

    for name, length in lengths.items():
        created(path, name, [name], data=np.arange(length))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that consolidated metadata are no part of Zarr v3
        zarr.consolidate_metadata(path, zarr_format=3)


def write_npy(file: IO[bytes], array: NDArray[Any] | Parts) -> None:
    """Write an array as an .npy file."""
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
    it does not.
    """

    def __init__(self, file: _Sparing, *, compressed: bool) -> None:
        self._file, self._zip = file, _unzipped(file)
        self._members: dict[str, tuple[zipfile.ZipInfo, bool]] = {}
        self.declared: dict[str, Declared] = {}
        for info in self._zip.infolist():
            _check_member(info, file.size, compressed)
            name = info.filename.removesuffix(".npy")
            if name in self.declared:
                raise Damaged(f"it holds {printable(name, 40)} twice")
            self.declared[name], transposed = self._header(info)
            self._members[name] = (info, transposed)
        self.attributes = parse_json(self.read_text("attributes")) if "attributes" in self.declared else {}
        self.declared.pop("attributes", None)

    def read(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return an array, compared with its CRC-32."""
        info, _ = self._member(name)
        with _opened(self._zip, info) as member:
            array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
        return array[start:stop] if array.ndim else array

    def mapped(self, name: str) -> NDArray[Any]:
        """Return an array that is stored as it is, without reading it: the system reads parts of the file as they are used.

        Its CRC-32 is not compared. Damaged where there is none of that name.
        """
        info, transposed = self._member(name)
        declared = self.declared[name]
        if info.compress_type != zipfile.ZIP_STORED or transposed or not declared.nbytes:
            return self.read(name)
        self._file.seek(info.header_offset + _LOCAL_HEADER)
        lengths = self._file.read(4)  # of the name and of what is between it and the contents
        begin = self._file.tell() + sum(int.from_bytes(lengths[at : at + 2], "little") for at in (0, 2))
        stop = begin + info.file_size
        if stop > self._file.size:
            raise Damaged("it was truncated")
        return np.asarray(np.memmap(self._file, declared.dtype, "r", stop - declared.nbytes, declared.shape))

    def read_text(self, name: str) -> str:
        """Return an array that holds a single text."""
        self._member(name)
        declared = self.declared[name]
        if declared.dtype.kind != "U" or declared.shape != () or declared.nbytes > MAX_TEXT:
            raise Damaged(f"{name} is no text")
        with raised_as_damage(f"{name} is no text"):  # which is Unicode
            return str(self.read(name))

    def _member(self, name: str) -> tuple[zipfile.ZipInfo, bool]:
        if name not in self._members:
            raise Damaged(f"it has no {name}")
        return self._members[name]

    def _header(self, info: zipfile.ZipInfo) -> tuple[Declared, bool]:
        """The declaration of an array, and whether its first index is the fastest."""
        name = printable(info.filename, 40)
        with _opened(self._zip, info) as member:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")  # of headers by Python 2
                    np.lib.format.read_magic(member)
                    shape, transposed, dtype = np.lib.format.read_array_header_1_0(member)
            except Exception as error:  # NumPy has Python's parser read the header, which may raise MemoryError
                raise Damaged(f"{name} is no array of numbers or text") from error
            start = member.tell()
        if dtype.kind not in "biufU" or not is_possible(shape):
            raise Damaged(f"{name} is no array of numbers or text")
        declared = Declared(dtype, shape)
        if start + declared.nbytes != info.file_size:
            raise Damaged(f"{name} declares {declared.nbytes:,} bytes and holds another number")
        return declared, transposed


@contextmanager
def opened_npz(path: Path, *, compressed: bool = True) -> Iterator[NpzArrays]:
    """Open an npz file; Damaged where it is none, and for deflated members unless they may be `compressed`.

    Stored ones take no more memory than the file has bytes.
    """
    with _Sparing(open_regular(path)) as file:
        yield NpzArrays(file, compressed=compressed)


class _Sparing(BufferedReader):
    """A file of which little is read at a time, whatever its directory declares."""

    def __init__(self, file: BufferedReader) -> None:
        super().__init__(file.detach())
        self.size = self.seek(0, 2)

    def read(self, size: int | None = -1) -> bytes:
        left = self.size - self.tell()
        wanted = left if size is None or size < 0 else min(size, left)
        if wanted > _AT_ONCE:
            raise Damaged("its directory is damaged")
        return super().read(wanted)


def _unzipped(file: _Sparing) -> zipfile.ZipFile:
    with raised_as_damage("it is no zip file, or was truncated"):
        found = zipfile.ZipFile(file)
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
    with raised_as_damage(f"{printable(info.filename, 40)} is damaged"), archive.open(info) as member:
        yield member
