"""What files share: the version and the command that made them, their kind, and careful reading of untrusted ones.

Pictures, movies and meshes hold their provenance. There are no dates in it: the same command writes the same bytes. Untrusted files
are regular ones, their JSON has a bounded size, and their texts are made printable.
"""

import json
import os
import stat
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, is_dataclass
from functools import lru_cache
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import IO, Any, TextIO

from gpu_nim._version import __version__
from gpu_nim.model.arguments import escaped, given_fields, size_text
from gpu_nim.model.errors import FileError, InsufficientMemoryError, is_shortage

_LONGEST = 8192  # characters of a command: JPEG holds 65,533 bytes
#: The command line that runs, which files are made by.
COMMAND: ContextVar[str] = ContextVar("command", default="")


@dataclass(frozen=True)
class Provenance:
    """What made a file.

    Attributes:
        command: the command line, or the call of the library.
        software: gpunim and its version.
    """

    command: str
    software: str = f"gpunim {__version__}"

    def __str__(self) -> str:
        return f"{self.software}: {self.command}"


def made_by(call: str) -> Provenance:
    """Return the provenance of a file that is made now: by the command line that runs, or else by that call of the library.

    >>> str(made_by("render('nim:7')")).partition(": ")[2]
    "render('nim:7')"
    """
    return Provenance(one_line(COMMAND.get() or call))


def call(function: str, *arguments: object, **named: object) -> str:
    """Return a call of a function of `gpu_nim.render` as text.

    >>> call("render", "nim:7", (64, 48))
    "gpu_nim.render.render('nim:7', (64, 48))"
    """
    words = [*map(_written, arguments), *(f"{name}={_written(value)}" for name, value in named.items())]
    return f"gpu_nim.render.{function}({', '.join(words)})"


def _written(value: object) -> str:
    """A value in Python; of a dataclass what is not a default, whole."""
    if not is_dataclass(value):
        return repr(value)
    return f"{type(value).__name__}({', '.join(f'{name}={_written(each)}' for name, each in given_fields(value).items())})"


def one_line(text: str) -> str:
    r"""Return a text in a line of bounded length that every format holds: what is not printable is written as its escapes.

    >>> print(one_line("render nim:7 -o a\x07.png"))
    render nim:7 -o a\x07.png
    """
    line = escaped(text[: _LONGEST + 1])
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


#: The names of what a pipe gives.
STDIN = ("-", "/dev/stdin")
_MOST_PIPED = 1 << 26  # bytes
_DIGITS = 10_000  # of an integer in JSON: reading digits takes time as their square
_PART = 1 << 20  # bytes that are read at a time
_DEEP = 64  # arrays and objects within each other


class CorruptFile(ValueError):
    """A file is not what it claims to be: the message says why, and the caller adds which file."""


class _FileTooLarge(InsufficientMemoryError):
    """A file, which the message names, declares more than is free."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise FileError, which names the file, for CorruptFile and OSError of the block, which reads it; name it in a refusal, too.

    >>> with reading(Path("a.npz")):
    ...     raise CorruptFile("it was truncated")
    Traceback (most recent call last):
    gpu_nim.model.errors.FileError: cannot read a.npz: it was truncated
    """
    name = "stdin" if str(path) in STDIN else path
    try:
        yield
    except (FileError, _FileTooLarge):  # which name it already
        raise
    except CorruptFile as error:
        raise FileError(f"cannot read {name}: {error}") from error
    except InsufficientMemoryError as error:
        raise _FileTooLarge(f"cannot read {name}: {error}") from error
    except OSError as error:
        raise FileError(f"cannot read {name}: {error.strerror or error}") from error


@contextmanager
def raised_as_corrupt(what: str) -> Iterator[None]:
    """Raise CorruptFile for the errors of a library that reads what may be damaged, which are of many types.

    >>> with raised_as_corrupt("the header is damaged"):
    ...     raise KeyError("shape")
    Traceback (most recent call last):
    gpu_nim.model.files.CorruptFile: the header is damaged (KeyError: 'shape')
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what is no part of Zarr v3, and headers by Python 2
            yield
    except Exception as error:
        if isinstance(error, CorruptFile) or is_shortage(error):
            raise
        raise CorruptFile(f"{what} ({reason(error)})") from error


def reason(error: Exception) -> str:
    r"""Return an error as part of a sentence, with its type if a library raised it.

    >>> reason(ValueError("no such   chunk\x1b"))
    'ValueError: no such chunk\\x1b'
    """
    return printable(str(error) if isinstance(error, CorruptFile | FileError) else f"{type(error).__name__}: {error}")


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading, or what stdin holds, by the name - or /dev/stdin; other pipes and devices are refused.

    Raises:
        CorruptFile: it is no regular file, or stdin holds too much.
        OSError: it cannot be opened.

    >>> open_regular(Path("/dev/zero"))
    Traceback (most recent call last):
    gpu_nim.model.files.CorruptFile: it is not a regular file
    """
    if str(path) in STDIN:
        return BufferedReader(BytesIO(_piped(sys.stdin)))
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError as error:  # a null byte in the name
        raise CorruptFile(str(error)) from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise CorruptFile("it is not a regular file")
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


@lru_cache(maxsize=1)
def _piped(stdin: TextIO) -> bytes:
    """What stdin holds, which is read once."""
    return _bounded(stdin.buffer, _MOST_PIPED, "it")


def read_regular(path: Path, most: int) -> bytes:
    """Return the content of a regular file; CorruptFile where it is longer than `most` bytes, otherwise as `open_regular`."""
    with open_regular(path) as file:
        return _bounded(file, most, path.name)


def _bounded(file: IO[bytes], most: int, name: str) -> bytes:
    """Return up to `most` bytes, for which `read` would take that much memory, however few there are; CorruptFile for more."""
    content = bytearray()
    while part := file.read(min(_PART, most + 1 - len(content))):
        content += part
    if len(content) > most:
        raise CorruptFile(f"{name} is longer than {size_text(most)}")
    return bytes(content)


def parse_json(text: str | bytes, field: str = "") -> dict[str, Any]:
    """Return the object that a JSON text holds; CorruptFile where it holds none, or more than gpunim writes.

    Args:
        text: the text.
        field: if given, a list is read as an object with this field.

    >>> parse_json("[" * 10**6)
    Traceback (most recent call last):
    gpu_nim.model.files.CorruptFile: its JSON is damaged
    """
    try:
        value = json.loads(text, parse_int=_integer, parse_constant=_refused)
    except (ValueError, RecursionError) as error:  # text that is not UTF-8 is a ValueError too
        raise CorruptFile("its JSON is damaged") from error
    if field and isinstance(value, list):
        value = {field: value}
    if not isinstance(value, dict):
        raise CorruptFile(f"its JSON must be an object, got {'a list' if isinstance(value, list) else 'a single value'}")
    if not _shallow(value):
        raise CorruptFile("its JSON is damaged")
    return value


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(digits)


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is no number")


def _shallow(value: dict[str, Any] | list[Any], levels: int = _DEEP) -> bool:
    inner = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_shallow(each, levels - 1) for each in inner if isinstance(each, dict | list))


def printable(text: str, most: int = 160) -> str:
    r"""Return a text as one line that is safe to print, cut to `most` characters, with control characters escaped.

    >>> printable("\x1b]0;nim\x07  3")
    '\\x1b]0;nim\\x07 3'
    """
    return escaped(" ".join(text.split())[:most])


def name_of(value: Any, most: int = 200) -> str:
    """Return a name read from a file; CorruptFile unless it is one printable line of 1 to `most` characters.

    >>> name_of("nim"), name_of("3y <= x + z")
    ('nim', '3y <= x + z')
    """
    if not isinstance(value, str) or not 0 < len(value) <= most or not value.isprintable():
        raise CorruptFile(f"{printable(repr(value), 40)} is not a name")
    return value


#: The most bytes of a Zarr store's attributes.
MAX_TEXT = 1 << 23


@dataclass(frozen=True)
class FileKind:
    """A kind of file that gpunim writes, which says so in its attributes.

    Attributes:
        name: the attribute `kind`.
        format: the version of what it holds.
        what: the word for it in messages.

    >>> FileKind("gpunim growth", 3, "growth").is_ours(Path("thesis"))
    False
    """

    name: str
    format: int
    what: str

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes that say it."""
        return {"kind": self.name, "format": self.format}

    def is_declared(self, path: Path) -> bool:
        """Return whether a folder is a Zarr store that says that it is of this kind."""
        try:
            return bool(parse_json(read_regular(path / "zarr.json", MAX_TEXT))["attributes"]["kind"] == self.name)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def is_ours(self, path: Path) -> bool:
        """Return whether a folder is a Zarr store of this kind, with nothing in it but Zarr's files, and may be replaced."""
        return self.is_declared(path) and all(map(_is_of_zarr, path.rglob("*")))

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raise CorruptFile where the attributes are not of this kind and of a version that is read."""
        if attributes.get("kind") != self.name:
            raise CorruptFile(f"it is not a {self.what} written by gpunim")
        if type(found := attributes.get("format")) is not int or found != self.format:
            raise CorruptFile(f"its format is {printable(repr(found), 20)}, this version reads {self.format}")


def _is_of_zarr(path: Path) -> bool:
    is_chunk = not path.name.strip("c.0123456789")
    return stat.S_ISDIR(mode := path.lstat().st_mode) or (stat.S_ISREG(mode) and (is_chunk or path.name == "zarr.json"))


#: The attributes of every result in a file.
PROVENANCE = ("kind", "format", "version", "backend", "device", "seconds")


def origin(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provenance that a file declares: backend, device, seconds, version; CorruptFile where one is invalid."""
    seconds = attributes["seconds"]
    if not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
        raise CorruptFile("its seconds are no duration")
    return {"seconds": float(seconds), **{name: name_of(attributes[name]) for name in ("backend", "device", "version")}}
