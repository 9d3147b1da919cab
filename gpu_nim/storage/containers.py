"""What the files of growths, solved games, tables and volumes have in common, whatever is in them.

A file is read in this order: what it declares, by which it is refused or its memory asked for; its arrays; the seal over all of it.
Nothing is used before that.
"""

import hashlib
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from math import prod
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import FileError
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.reading import Damaged, name_of, open_regular, parse_json, printable, read_regular

MAX_TEXT = 1 << 23
"""Bytes that the attributes of a file, or the metadata of an array, may take."""

_MEMBERS = 64  # arrays in a file
_AT_ONCE = 1 << 20  # bytes read at a time
_DEFLATED = 1032  # bytes that a deflated byte stands for at the most
_DIMENSIONS = 32
_NPY = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(rb"\{'descr': '([<|][biufU]\d{1,9})', 'fortran_order': (True|False), 'shape': \(([\d, ]*)\), \} *\n")


def store_of(kind: str) -> Callable[[Path], bool]:
    """Return a predicate: whether a folder is a Zarr store of this kind that gpunim wrote, and so may be replaced by another.

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


def seal(attributes: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 that binds attributes, plain values that JSON takes, and arrays: names, dtypes, shapes and contents.

    >>> seal({"kind": "example"}, {"births": np.arange(3)}) == seal({"kind": "example"}, {"births": np.arange(3)[:, None]})
    False
    """
    found = hashlib.sha256(json.dumps(attributes, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        found.update(f"{name} {array.dtype.str} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


@dataclass(frozen=True)
class Declared:
    """What a file says that one of its arrays is."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """How many bytes that takes."""
        return prod(self.shape) * self.dtype.itemsize


class NpzArrays:
    """The arrays of an npz file of numbers and texts, which are declared before they are read.

    What each declares agrees with the zip's directory, and that with the file's own size; Damaged, on opening and on reading, where
    it does not.  compressed: whether members may be deflated; stored ones take no more memory than the file has bytes.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/a.npz", births=np.arange(3))
    ...     with NpzArrays(Path(folder, "a.npz")) as arrays:
    ...         arrays.declared["births"].shape, arrays.read("births").tolist()
    ((3,), [0, 1, 2])
    """

    def __init__(self, path: Path, *, compressed: bool = True) -> None:
        self._file = _Sparing(open_regular(path))
        try:
            self._zip = _unzipped(self._file)
            size = self._file.size
            self._members: dict[str, tuple[zipfile.ZipInfo, bool, int]] = {}
            self.declared: dict[str, Declared] = {}
            if len(self._zip.infolist()) > _MEMBERS:
                raise Damaged(f"it holds {len(self._zip.infolist())} members, {_MEMBERS} is the most that gpunim writes")
            for info in self._zip.infolist():
                _check_member(info, size, compressed)
                name = info.filename.removesuffix(".npy")
                if name in self.declared:
                    raise Damaged(f"it holds {printable(name, 40)} twice")
                self.declared[name], transposed, start = self._header(info)
                self._members[name] = (info, transposed, start)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "NpzArrays":
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def read(self, name: str) -> NDArray[Any]:
        """Return an array, held against its CRC-32; Damaged where there is none of that name."""
        if name not in self.declared:
            raise Damaged(f"it has no {name}")
        declared, (info, transposed, start) = self.declared[name], self._members[name]
        content = bytearray(declared.nbytes)
        with _opened(self._zip, info) as member:
            _skip(member, start)
            view = memoryview(content)
            while view:
                view = view[_into(member, view[:_AT_ONCE]) :]
            if member.read(1):  # and so to its end, where its CRC-32 is compared
                raise Damaged(f"{name} is longer than it says")
        flat = np.frombuffer(content, declared.dtype)
        return flat.reshape(declared.shape[::-1]).T if transposed else flat.reshape(declared.shape)

    def read_text(self, name: str) -> str:
        """Return an array that holds a single text."""
        declared = self.declared.get(name)
        if declared is not None and (declared.dtype.kind != "U" or declared.shape != () or declared.nbytes > MAX_TEXT):
            raise Damaged(f"{name} is no text")
        try:
            return str(self.read(name))
        except ValueError as error:  # not Unicode
            raise Damaged(f"{name} is no text") from error

    def attributes(self) -> dict[str, Any]:
        """Return what the file says of itself; nothing where it is not gpunim's."""
        return parse_json(self.read_text("attributes")) if "attributes" in self.declared else {}

    def _header(self, info: zipfile.ZipInfo) -> tuple[Declared, bool, int]:
        """What an array declares, whether its first index is the fastest, and where its data begin."""
        with _opened(self._zip, info) as member:
            head = member.read(10)
            length = int.from_bytes(head[8:], "little")
            match = _HEADER.fullmatch(member.read(length)) if head[:8] == _NPY else None
        if match is None:
            raise Damaged(f"{printable(info.filename, 40)} is no array of numbers or text")
        sides = [side.strip() for side in match[3].decode().split(",")]
        if any(not side or " " in side for side in sides[: -1 if sides[-1] == "" else None]) or len(sides) > _DIMENSIONS:
            raise Damaged(f"{printable(info.filename, 40)} has no shape")
        try:
            declared = Declared(np.dtype(match[1].decode()), tuple(int(side) for side in sides if side))
        except (TypeError, ValueError) as error:
            raise Damaged(f"{printable(info.filename, 40)} has no dtype") from error
        if 10 + length + declared.nbytes != info.file_size:
            raise Damaged(f"{printable(info.filename, 40)} declares {declared.nbytes:,} bytes and holds another number")
        return declared, match[2] == b"True", 10 + length


class _Sparing(BufferedReader):
    """A file of which little is read at a time, whatever its directory says of itself."""

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
        return zipfile.ZipFile(file)
    except MemoryError:
        raise
    except Exception as error:  # the zip reader lets errors of all kinds out, for what it did not expect
        raise Damaged("it is no zip file, or was truncated") from error


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
    """A member of a zip file, whose reader's errors of all kinds come as Damaged."""
    try:
        with archive.open(info) as member:
            yield member
    except (Damaged, MemoryError):
        raise
    except Exception as error:  # as _unzipped
        raise Damaged(f"{printable(info.filename, 40)} is damaged ({reason(error)})") from error


def _into(member: IO[bytes], view: memoryview) -> int:
    part = member.read(len(view))
    if not part:
        raise Damaged("it was truncated")
    view[: len(part)] = part
    return len(part)


def _skip(member: IO[bytes], count: int) -> None:
    while count:
        part = member.read(count)
        if not part:
            raise Damaged("it was truncated")
        count -= len(part)


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Say which file it is that is damaged or cannot be read: FileError, where what the block reads is no `what`.

    >>> with reading(Path("a.npz"), "npz file"):
    ...     raise Damaged("it was truncated")
    Traceback (most recent call last):
    gpu_nim.model.errors.FileError: cannot read a.npz: it is not a whole npz file (it was truncated)
    """
    try:
        yield
    except FileError:
        raise
    except Damaged as error:
        raise FileError(f"cannot read {path}: it is not a whole {what} ({error})") from error
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error


def require_room(path: Path, arrays: Mapping[str, Declared]) -> None:
    """Raise InsufficientMemoryError where arrays that are to be read whole would not fit."""
    require_memory(sum(array.nbytes for array in arrays.values()), host_memory() // 2, f"reading {path}")


def check_kind(path: Path, attributes: Mapping[str, Any], kind: str, what: str, versions: tuple[int, ...]) -> None:
    """Raise FileError where the attributes are not of this kind, which people call `what`, in one of these versions of it."""
    if attributes.get("kind") != kind:
        raise FileError(f"cannot read {path}: it is not a {what} written by gpunim")
    if type(attributes.get("format")) is not int or attributes["format"] not in versions:
        found, read = printable(repr(attributes.get("format")), 20), " and ".join(map(str, versions))
        raise FileError(f"cannot read {path}: its format is {found}, this version reads {read}")


def origin(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a file says that its contents came about: backend, device, seconds, version; Damaged for what none of these is."""
    seconds = attributes["seconds"]
    if not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
        raise Damaged("its seconds are no duration")
    return {"seconds": float(seconds), **{name: name_of(attributes[name]) for name in ("backend", "device", "version")}}


def reason(error: Exception) -> str:
    r"""Return an error, and of what type it is where a library raised it, in a line that fits into a sentence.

    >>> reason(ValueError("no such   chunk\x1b"))
    'ValueError: no such chunk\\x1b'
    """
    return printable(str(error) if isinstance(error, Damaged) else f"{type(error).__name__}: {error}")
