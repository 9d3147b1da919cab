"""Terms of a sequence, read from any file that holds some: b-files, CSV, JSON, tables and growths."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from gpu_nim.automata.columns import is_whole
from gpu_nim.automata.growth import Growth
from gpu_nim.model.arrays import to_integers
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.files import Damaged, open_regular, parse_json, printable, read_regular
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.registry import one_of, unknown
from gpu_nim.oeis.b_files import read_bfile
from gpu_nim.storage.file_checks import reading
from gpu_nim.storage.save_load import load

_MAX_JSON = 1 << 28  # bytes
_INTEGER = re.compile(r"\s*-?[0-9]+\s*")
_INDICES = ("n", "generation")  # names of a first column that counts the rows
_MAIN = "births"  # the column of a growth that is read where none is named
_BYTES = 100  # of a term in memory, short ones


@dataclass(frozen=True)
class TermList:
    """Terms of a sequence.

    Attributes:
        name: what they are.
        first: the index of the first of them.
        values: the terms.
    """

    name: str
    first: int
    values: tuple[int, ...]


def read_terms(path: Path, column: str | None = None, most: int | None = None) -> TermList:
    """Read the terms of a sequence from a file.

    Args:
        path: a .txt b-file; a .csv with a header; a .json object that `count` or `grow` printed; a .npy table; or a growth.
        column: which column of a .csv, a .json or a growth; by default the only one, or births.
        most: how many terms are read at most; None for all.

    Raises:
        UsageError: files of this suffix hold no terms, or there is no such column.
        FileError: the file cannot be read, or holds something else than integers.

    >>> import tempfile
    >>> from gpu_nim import grow, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(grow("nim", 3), f"{folder}/nim.csv")
    ...     read_terms(Path(folder, "nim.csv"), "population").values
    (1, 4, 7, 16)
    """
    reader = READERS.get(path.suffix)
    if reader is None:
        raise UsageError(f"terms are read from a file that ends in {one_of(READERS)}, got {str(path)!r}")
    if column is not None and reader in (_b_file, _array):
        raise UsageError(f"--column is for files of several columns, got {column} of {path}")
    with reading(path, f"{path.suffix} file of terms"):
        return reader(path, column, most)


def _b_file(path: Path, column: str | None, most: int | None) -> TermList:
    rows = list(islice(((n, value) for _, n, value in read_bfile(path)), most))
    return TermList(path.name, rows[0][0] if rows else 0, tuple(value for _, value in rows))


def _csv(path: Path, column: str | None, most: int | None) -> TermList:
    with TextIOWrapper(open_regular(path), encoding="utf-8", newline="") as file:
        try:
            lines = csv.reader(file)
            header = [name.strip() for name in next(lines, [])]
            counted = bool(header) and header[0] in _INDICES
            chosen = _column(path, header[counted:], column)
            at = header.index(chosen)
            rows = [row for row in islice(lines, most) if row]
        except (csv.Error, UnicodeDecodeError) as error:
            raise Damaged(printable(str(error))) from error
    if any(len(row) != len(header) for row in rows):
        raise Damaged("its rows are not as long as its header")
    values = tuple(_integer(row[at], chosen) for row in rows)
    return TermList(f"{chosen} of {path.name}", _integer(rows[0][0], header[0]) if counted and rows else 0, values)


def _json(path: Path, column: str | None, most: int | None) -> TermList:
    found = parse_json(read_regular(path, _MAX_JSON))
    columns: dict[str, Any] = {name: found[name] for name in ("values", _MAIN) if isinstance(found.get(name), list)}
    columns |= found["columns"] if isinstance(found.get("columns"), dict) else {}
    chosen = _column(path, list(columns), column)
    start = found.get("start", 0)
    if not isinstance(columns[chosen], list) or type(start) is not int:
        raise Damaged(f"its {printable(chosen)} is no list")
    return TermList(f"{chosen} of {path.name}", start, tuple(_integer(value, chosen) for value in columns[chosen][:most]))


def _array(path: Path, column: str | None, most: int | None) -> TermList:
    try:
        with open_regular(path):
            pass
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise Damaged(printable(str(error))) from error
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu" or not 1 <= values.ndim <= 2:
        raise Damaged("it holds no table of integers")
    values = values[:most]
    require_memory(_BYTES * len(values), host_memory(), f"reading {path}")
    return TermList(path.name, 0, tuple(to_integers(np.asarray(values))))


def _growth(path: Path, column: str | None, most: int | None) -> TermList:
    growth = load(path, Growth)
    chosen = column or _MAIN
    if chosen not in growth.table:
        raise unknown("column", chosen, growth.table)
    if not is_whole(chosen):
        raise UsageError(f"--column must have integers, got {chosen}")
    return TermList(f"{chosen} of {path.name}", 0, tuple(growth.table[chosen].tolist()[:most]))


Reader = Callable[[Path, str | None, int | None], TermList]

READERS: dict[str, Reader] = {
    ".txt": _b_file,
    ".csv": _csv,
    ".json": _json,
    ".npy": _array,
    ".npz": _growth,
    ".zarr": _growth,
}
"""What reads the files of each suffix."""


def _column(path: Path, names: list[str], column: str | None) -> str:
    """The column that is read, of those of a file."""
    if column is None and (len(names) == 1 or _MAIN in names):
        return _MAIN if _MAIN in names else names[0]
    if not names:
        raise FileError(f"{path} holds no column")
    if column is None:
        raise UsageError(f"--column must be given for {path}, which has {_listed(names)}")
    if column not in names:
        raise UsageError(f"--column must be one of {_listed(names)}, the columns of {path}, got {column!r}")
    return column


def _listed(names: list[str]) -> str:
    return printable(", ".join(names))


def _integer(value: Any, column: str) -> int:
    if type(value) is int:
        return value
    if not isinstance(value, str) or not _INTEGER.fullmatch(value):
        raise FileError(f"column {printable(column)} must have integers, got {printable(repr(value), 40)}")
    try:
        return int(value)
    except ValueError as error:  # longer than Python reads
        raise Damaged(printable(str(error))) from error


def parse_terms(text: str) -> tuple[int, ...]:
    r"""Return the integers of a text, separated by commas or space.

    Args:
        text: for example what the OEIS prints.

    Raises:
        UsageError: something else is among them.

    >>> parse_terms("1, 4, 4, 12,\n4 12 12 36")
    (1, 4, 4, 12, 4, 12, 12, 36)
    """
    words = re.split(r"[\s,;]+", text.strip().strip("[](){},")) if text.strip() else []
    for word in words:
        if not _INTEGER.fullmatch(word):
            raise UsageError(f"terms must be integers separated by commas or space, got {printable(word, 40)!r}")
    try:
        return tuple(map(int, words))
    except ValueError as error:
        raise UsageError(f"terms must have fewer digits than Python reads: {error}") from error
