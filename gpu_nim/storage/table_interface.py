"""What a file format of tables is: a table has named columns of equally many entries, and is written some rows at a time.

A sequence is the table of two columns n and value, whose n follow each other; some formats hold sequences alone. What is read back
are the terms of one column.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import to_integers
from gpu_nim.model.files import open_regular
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.storage.file_checks import store_of

Column = Sequence[Any] | NDArray[Any]
"""The entries of a column: numbers, texts, fractions, None; or uint64 limbs along a last axis."""
Columns = Mapping[str, Column]

KIND = "gpunim table"
FORMAT = 1
is_table = store_of(KIND)
"""Whether a folder is a table that gpunim wrote, and may therefore be replaced."""
SEQUENCE = ("n", "value")
"""The columns of a sequence."""
Reader = Callable[[Path, int | None], Columns]
MAIN = "births"
"""The column that is read where none is named."""
_READ = 1 << 20  # bytes of a file digested at a time
_TERM = 100  # bytes in memory of a term, short ones


@dataclass(frozen=True)
class Heading:
    """What is known of a table before its rows.

    Attributes:
        columns: the names of the columns.
        facts: what describes the table, as plain values; of a sequence `start` and `stop`, its indices.
        limbs: the 64-bit numbers of a sequence's value.
    """

    columns: tuple[str, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    limbs: int = 1

    @property
    def is_sequence(self) -> bool:
        """Whether the rows are terms of a sequence."""
        return self.columns == SEQUENCE

    def job(self) -> dict[str, Any]:
        """Return what describes a sequence in a file that gpunim reads back."""
        return {"kind": KIND, "format": FORMAT, "limbs": self.limbs, **self.facts}


class Extent(NamedTuple):
    """The extent of a table: the bytes of its file, 0 for a store of many files, and the SHA-256 of them, or of its values."""

    size: int
    digest: str


class TableData(Protocol):
    """The file of a table in progress."""

    def append(self, columns: Columns) -> None:
        """Take the next rows."""

    def extent(self) -> Extent:
        """Flush to the system, and return the extent; only of formats that can be resumed."""

    def finish(self) -> None:
        """Write what follows the last row."""

    def close(self) -> None:
        """Close the file."""


@dataclass(frozen=True)
class Text:
    """A format of text.

    Attributes:
        form: its name where it is printed.
        begin: what comes before the rows.
        lines: rows, in pieces; the last argument says whether they are the first ones.
        end: what comes after the rows.
    """

    form: str
    begin: Callable[[Heading], str]
    lines: Callable[[Heading, Columns, bool], Iterable[str]]
    end: str = ""


@dataclass(frozen=True)
class TableFormat:
    """A file format of tables.

    Attributes:
        name: the ending of its files.
        summary: what they are.
        writer: makes the file, for a heading; takes the rows that are written already and their bytes in the file, both 0 for a
            new one.
        read: reads the columns, and at most so many rows.
        text: how it is written, if it is text, which can also be printed.
        columns: whether it holds any columns, and not sequences alone.
        any_size: whether it holds integers of any size, without their limbs.
        resumable: whether an interrupted file can be continued.
    """

    name: str
    summary: str
    writer: Callable[[Path, Heading, int, int], TableData]
    read: Reader
    text: Text | None = None
    columns: bool = False
    any_size: bool = False
    resumable: bool = True


def entries(column: Column) -> list[Any]:
    """Return the entries of a column in Python's numbers; fractions as the nearest double.

    >>> entries(np.array([[5, 1]], np.uint64)), entries([Fraction(1, 4), None, "all"])
    ([18446744073709551621], [0.25, None, 'all'])
    """
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return to_integers(column) if column.ndim == 2 else column.tolist()
    return [float(value) if isinstance(value, Fraction) else value for value in column]


def rows(columns: Columns) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of columns."""
    return zip(*map(entries, columns.values()), strict=True)


class AppendedFile:
    """A file that is appended to, after its first `size` bytes or else a header, and its SHA-256.

    `encode` returns the bytes of rows, in pieces; its last argument says whether they are the first ones. A memory map would also
    do for arrays, but keeps everything written in this process's memory.
    """

    def __init__(
        self,
        path: Path,
        size: int,
        header: bytes,
        encode: Callable[[Columns, bool], Iterable[bytes | memoryview]],
        end: bytes = b"",
    ) -> None:
        self._encode, self._header, self._end = encode, len(header), end
        self._digest = hashlib.sha256()
        if size:
            with open_regular(path, within=path.parent) as before:
                for start in range(0, size, _READ):
                    self._digest.update(before.read(min(_READ, size - start)))
            os.truncate(path, size)
        self._file = path.open("ab" if size else "wb")
        if not size:
            self._append(header)

    def append(self, columns: Columns) -> None:
        for piece in self._encode(columns, self._file.tell() == self._header):
            self._append(piece)

    def _append(self, content: bytes | memoryview) -> None:
        self._file.write(content)
        self._digest.update(content)

    def extent(self) -> Extent:
        self._file.flush()
        return Extent(self._file.tell(), self._digest.hexdigest())

    def finish(self) -> None:
        self._append(self._end)

    def close(self) -> None:
        self._file.close()


def require_room_for(path: Path, terms: int) -> None:
    """Raise InsufficientMemoryError where so many terms would not fit."""
    require_memory(_TERM * terms, host_memory(), f"reading {path}")
