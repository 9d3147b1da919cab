"""The arrays of npz files, read only after what each declares agrees with the zip's directory and the file's size."""

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.files import Damaged, open_regular, parse_json, printable
from gpu_nim.storage.file_checks import MAX_TEXT, Declared, reason

_MEMBERS = 64  # arrays in a file
_AT_ONCE = 1 << 20  # bytes read at a time
_DEFLATED = 1032  # the largest ratio of deflate
_DIMENSIONS = 32
_NAME_LENGTH = 26  # where it is in the header of a member
_NPY = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(rb"\{'descr': '([<|][biufU]\d{1,9})', 'fortran_order': (True|False), 'shape': \(([\d, ]*)\), \} *\n")


class NpzArrays:
    """The arrays of an npz file of numbers and texts, whose declarations are read first.

    Each declaration must agree with the zip's directory, and that with the file's size; Damaged, on opening and on reading, where
    it does not.  With `compressed`, members may be deflated; stored ones take no more memory than the file has bytes.

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
        """Return an array, compared with its CRC-32; Damaged where there is none of that name."""
        declared, info, transposed, start = self._member(name)
        content = bytearray(declared.nbytes)
        with _opened(self._zip, info) as member:
            member.read(start)  # not seek, after which the CRC-32 is not compared
            for at in range(0, len(content), _AT_ONCE):
                part = member.read(min(_AT_ONCE, len(content) - at))
                if len(part) < min(_AT_ONCE, len(content) - at):
                    raise Damaged("it was truncated")
                content[at : at + len(part)] = part
            if member.read(1):  # and so to its end, where its CRC-32 is compared
                raise Damaged(f"{name} is longer than it says")
        flat = np.frombuffer(content, declared.dtype)
        return flat.reshape(declared.shape[::-1]).T if transposed else flat.reshape(declared.shape)

    def mapped(self, name: str) -> NDArray[Any]:
        """Return an array that is stored as it is, without reading it: the system reads parts of the file as they are used.

        Its CRC-32 is not compared. Damaged where there is none of that name.
        """
        declared, info, transposed, start = self._member(name)
        if info.compress_type != zipfile.ZIP_STORED or transposed or not declared.nbytes:
            return self.read(name)
        self._file.seek(info.header_offset + _NAME_LENGTH)
        lengths = self._file.read(4)  # of the name and of what is between it and the contents
        begin = (
            info.header_offset + _NAME_LENGTH + 4 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
        )
        if begin + start + declared.nbytes > self._file.size:
            raise Damaged("it was truncated")
        return np.asarray(np.memmap(self._file, declared.dtype, "r", begin + start, declared.shape))

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
        """Return the attributes of the file; none where it is not gpunim's."""
        return parse_json(self.read_text("attributes")) if "attributes" in self.declared else {}

    def _member(self, name: str) -> tuple[Declared, zipfile.ZipInfo, bool, int]:
        if name not in self.declared:
            raise Damaged(f"it has no {name}")
        return self.declared[name], *self._members[name]

    def _header(self, info: zipfile.ZipInfo) -> tuple[Declared, bool, int]:
        """The declaration of an array, whether its first index is the fastest, and the offset of its data."""
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
        return zipfile.ZipFile(file)
    except MemoryError:
        raise
    except Exception as error:  # the zip reader raises errors of many types for damaged files
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
    """A member of a zip file, with all errors of its reader turned into Damaged."""
    try:
        with archive.open(info) as member:
            yield member
    except (Damaged, MemoryError):
        raise
    except Exception as error:  # as _unzipped
        raise Damaged(f"{printable(info.filename, 40)} is damaged ({reason(error)})") from error
