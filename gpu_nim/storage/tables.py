"""Tables in files: terms of sequences, written while they are computed, and tables of any columns.

The catalogue of formats has one entry each, by which every command that writes or reads numbers knows them.

    .npy        a sequence: one array, (n,), int64 or, for values of 64 bits, uint64; (n, limbs) for longer ones, lowest first
    .zarr       the same as Zarr v3, chunked and compressed, with attributes that describe it
    .csv        the names of the columns, then one row a line; undefined values are empty
    .txt        a sequence as a b-file: n value
    .json       an object with what describes the table, and its values (texts, of any length) or its rows (objects)

A table has named columns of equally many entries, and is written some rows at a time. A sequence is the table of two columns n and
value, whose n follow each other; some formats hold sequences alone. What is read back are the terms of one column.
"""

import csv
import hashlib
import json
import math
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from io import StringIO, TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arguments import size_text
from gpu_nim.model.arrays import to_integers, to_limbs
from gpu_nim.model.errors import FileError
from gpu_nim.model.files import CorruptFile, FileKind, open_regular, parse_json, printable, raised_as_corrupt, read_regular
from gpu_nim.model.registry import Registry
from gpu_nim.storage.arrays import Parts, created, open_zarr, write_npy
from gpu_nim.storage.atomic import atomic_write, check_output

#: The entries of a column: numbers, texts, fractions, None; or uint64 limbs along a last axis.
Column = Sequence[Any] | NDArray[Any]
Columns = Mapping[str, Column]
Rows = Sequence[Sequence[Any]]

TABLE = FileKind("gpunim table", 2, "table")
#: The columns of a sequence.
SEQUENCE = ("n", "value")
Reader = Callable[[Path, int | None], Columns]
#: The column that is read where none is named.
MAIN = "births"


@dataclass(frozen=True)
class Heading:
    """What is known of a table before its rows.

    Attributes:
        columns: the names of the columns.
        facts: what describes the table, as plain values; of a sequence `start` and `stop`, its indices.
        largest: that no value of a sequence exceeds; where a format is text, it may be 0.
    """

    columns: tuple[str, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    largest: int = 0

    @property
    def limbs(self) -> int:
        """The 64-bit numbers of a value."""
        return max(1, -(-self.largest.bit_length() // 64))

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the array of a sequence."""
        return np.dtype("<i8" if self.largest < 1 << 63 else "<u8")

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the array of a sequence: (n,) or (n, limbs)."""
        count = self.facts["stop"] - self.facts["start"]
        return (count,) if self.limbs == 1 else (count, self.limbs)


#: Yields the text of a table, some rows at a time.
Pieces = Callable[[Heading, Iterable[Columns]], Iterator[str]]


@dataclass(frozen=True)
class TableFormat:
    """A file format of tables.

    Attributes:
        name: the ending of its files.
        summary: what they are.
        write: writes the rows of a heading, in parts, to a new file.
        read: reads the columns, and at most so many rows.
        text: whether it is text, with terms of any size.
        columns: whether it holds any columns, and not sequences alone.
    """

    name: str
    summary: str
    write: Callable[[Path, Heading, Iterable[Columns]], None]
    read: Reader
    text: bool = False
    columns: bool = False


def entries(column: Column) -> list[Any]:
    """Return the entries of a column in Python's numbers; fractions as the nearest double.

    >>> entries(np.array([[5, 1]], np.uint64)), entries([Fraction(1, 4), None, "all"])
    ([18446744073709551621], [0.25, None, 'all'])
    """
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return to_integers(column) if column.ndim == 2 else column.tolist()
    return [float(value) if isinstance(value, Fraction) else value for value in column]


def rows(parts: Iterable[Columns]) -> Iterator[Rows]:
    """Yield the rows of parts of a table in Python's numbers, some at a time."""
    for columns in parts:
        for start in range(0, max(map(len, columns.values()), default=0), _ROWS):
            yield list(zip(*(entries(column[start : start + _ROWS]) for column in columns.values()), strict=True))


_MAX_JSON = 1 << 28  # bytes that are read
_NUMBER = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", re.IGNORECASE)
_LONGEST = 1 << 24  # letters of a line of .csv
_EXACT = 1 << 53  # up to which doubles hold every integer
_ROWS = 1 << 12  # of text that are made at a time
_ZARR_CHUNK = 1 << 20  # 64-bit numbers: 8 MiB before compression
_DIMENSIONS = ("n", "limb")


def _values(heading: Heading, parts: Iterable[Columns]) -> Iterator[NDArray[Any]]:
    for columns in parts:
        values = np.asarray(columns["value"])
        if values.dtype == object:
            values = to_limbs(values, heading.limbs).reshape(len(values), *heading.shape[1:])
        yield np.ascontiguousarray(values, "<u8")


def _write_npy(path: Path, heading: Heading, parts: Iterable[Columns]) -> None:
    # A memory map would also do, but keeps everything written in this process's memory.
    with path.open("wb") as file:
        write_npy(file, Parts(heading.dtype, heading.shape, _values(heading, parts)))


def _read_npy(path: Path, most: int | None) -> Columns:
    with open_regular(path), raised_as_corrupt("its header is damaged"):
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    dtypes = {1: ("i", "u", "f"), 2: ("<u8",)}.get(getattr(values, "ndim", 0), ())
    if not isinstance(values, np.ndarray) or not {values.dtype.kind, values.dtype.str} & {*dtypes}:
        raise CorruptFile("it holds no table of integers")
    values = values[:most]
    if values.dtype.kind == "f":
        if not (np.abs(values) <= _EXACT).all() or (values % 1).any():
            raise CorruptFile("its numbers are no integers of at most 2^53 in size, which floats hold exactly")
        values = values.astype(np.int64)
    return {"value": values}


def _write_zarr(path: Path, heading: Heading, parts: Iterable[Columns]) -> None:
    """Write an array, whose attribute `checksum` is the SHA-256 over the others and its values."""
    shape, dtype, at = heading.shape, heading.dtype, 0
    size = min(shape[0], _ZARR_CHUNK >> (heading.limbs - 1).bit_length())
    attributes = {**TABLE.attributes, "limbs": heading.limbs, **heading.facts}
    digest = _sha256_of(attributes, dtype)
    names = _DIMENSIONS[: len(shape)]
    array = created(path, "", names, shape=shape, chunks=(size, *shape[1:]), dtype=dtype, attributes=attributes)
    for values in _values(heading, parts):
        for start in range(0, len(values), size):  # zarr takes as many times the memory as there are chunks
            part = values[start : start + size]
            array[at : at + len(part)] = part
            at += len(part)
            digest.update(part.data)
    array.update_attributes({"checksum": digest.hexdigest()})


def _sha256_of(attributes: Mapping[str, Any], dtype: np.dtype[Any]) -> Any:
    """The SHA-256 of a table without values: of its dtype and attributes."""
    covered = {name: value for name, value in attributes.items() if name != "checksum"}
    return hashlib.sha256(json.dumps([dtype.name, covered], sort_keys=True).encode())


def _read_zarr(path: Path, most: int | None) -> Columns:
    stored = open_zarr(path, "array")
    TABLE.check(stored.attributes)
    stored.check({"": _DIMENSIONS})
    declared, first = stored.declared[""], stored.attributes.get("start")
    if type(first) is not int or declared.dtype.kind not in "iu" or not 1 <= len(declared.shape) <= 2:
        raise CorruptFile("it holds no terms with their first index")
    if stored.attributes.get("stop") != first + declared.shape[0]:
        raise CorruptFile("it holds fewer or more terms than its range has")
    digest = _sha256_of(stored.attributes, declared.dtype)
    for at in range(0, declared.shape[0], _ZARR_CHUNK):
        digest.update(np.ascontiguousarray(stored.read("", at, at + _ZARR_CHUNK), "<u8"))
    if digest.hexdigest() != stored.attributes.get("checksum"):
        raise CorruptFile("its attributes and values do not agree with its checksum, it was edited or damaged")
    values = stored.read("", 0, declared.shape[0] if most is None else min(declared.shape[0], most))
    return {"n": range(first, first + len(values)), "value": values}


def _csv(heading: Heading, parts: Iterable[Columns]) -> Iterator[str]:
    for some in chain([[heading.columns]], rows(parts)):
        text = StringIO()
        csv.writer(text, lineterminator="\n").writerows(some)
        yield text.getvalue()


def _bfile(_: Heading, parts: Iterable[Columns]) -> Iterator[str]:
    from gpu_nim.oeis.b_files import format_lines  # here, for its start-up time

    return ("".join(format_lines((n, value) for n, value in some)) for some in rows(parts))


def _read_bfile(path: Path, most: int | None) -> Columns:
    from gpu_nim.oeis.b_files import read_bfile

    return _columns(SEQUENCE, [*islice(read_bfile(path), most)])


def _columns(names: Sequence[str], rows: Rows) -> Columns:
    """The columns of rows."""
    return dict(zip(names, zip(*rows, strict=True) if rows else ([] for _ in names), strict=True))


def _bounded_lines(file: TextIO) -> Iterator[str]:
    """Yield the lines of a text; CorruptFile where one is longer than a table has."""
    while line := file.readline(_LONGEST + 1):
        if len(line) > _LONGEST:
            raise CorruptFile(f"a line of it has more than {_LONGEST:,} letters")
        yield line


def _read_csv(path: Path, most: int | None) -> Columns:
    with TextIOWrapper(open_regular(path), encoding="utf-8-sig", newline="") as file, raised_as_corrupt("its text is damaged"):
        lines = csv.reader(_bounded_lines(file))
        header = [name.strip() for name in next(lines, [])]
        found = [row for row in islice(lines, most) if row]
    if any(len(row) != len(header) for row in found):
        raise CorruptFile("its rows are not as long as its header")
    for index, name in enumerate(header):
        if name in header[:index] or _NUMBER.fullmatch(name):
            raise CorruptFile(f"its first line must name its columns, each once, got {printable(name, 40)}")
    return _columns(header, found)


def _json(heading: Heading, parts: Iterable[Columns]) -> Iterator[str]:
    facts, is_sequence = json.dumps(dict(heading.facts))[:-1], heading.columns == SEQUENCE
    yield f'{facts}{", " if heading.facts else ""}"{"values" if is_sequence else "rows"}": ['
    between = ""
    for some in rows(parts):
        if is_sequence:
            found = (f'"{value}"' for _, value in some)  # of any length: many programs round numbers
        else:
            found = (json.dumps(dict(zip(heading.columns, row, strict=True))) for row in some)
        yield between + ", ".join(found)
        between = ", "
    yield "]}\n"


def _read_json(path: Path, most: int | None) -> Columns:
    """Read what `gpunim count` and `gpunim grow` print, too, and a list."""
    found = parse_json(read_regular(path, _MAX_JSON), "values")
    first, records = found.get("start", 0), found.get("rows")
    if isinstance(records, list) and records and all(isinstance(row, dict) for row in records):
        return {name: [row.get(name) for row in records[:most]] for name in records[0]}
    columns = {name: found[name] for name in ("values", MAIN) if isinstance(found.get(name), list)}
    columns |= found["columns"] if isinstance(found.get("columns"), dict) else {}
    wrong = [name for name, values in columns.items() if not isinstance(values, list)]
    if wrong or type(first) is not int:
        raise CorruptFile(f"its {printable(wrong[0]) if wrong else 'start'} is no {'list' if wrong else 'integer'}")
    if not columns:
        return {}
    count, stop = len(next(iter(columns.values()))), found.get("stop")
    if type(stop) is int and stop - first != count:
        raise CorruptFile(f"it holds {count:,} values, and its range {stop - first:,}")
    return {"n": range(first, first + count), **columns}


def _text(name: str, summary: str, pieces: Pieces, read: Reader, *, columns: bool = False) -> TableFormat:
    """Return a format of text."""

    def write(path: Path, heading: Heading, parts: Iterable[Columns]) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(pieces(heading, parts))

    return TableFormat(name, summary, write, read, text=True, columns=columns)


_FORMATS = (
    TableFormat(".npy", "one array of a sequence", _write_npy, _read_npy),
    TableFormat(".zarr", "a chunked array of a sequence", _write_zarr, _read_zarr),
    _text(".csv", "a header, then one row a line", _csv, _read_csv, columns=True),
    _text(".txt", "a sequence as a b-file", _bfile, _read_bfile),
    _text(".json", "one JSON object", _json, _read_json, columns=True),
)
TABLE_FORMATS = Registry[TableFormat]("file format of tables", _FORMATS)
#: The texts that are also printed, by `gpunim count --format`.
FORMS: dict[str, Pieces] = {"csv": _csv, "bfile": _bfile, "json": _json}


def endings(*, columns: bool = False, any_size: bool = False) -> list[str]:
    """Return the endings of the files that hold a table.

    Args:
        columns: of any columns, and not a sequence.
        any_size: with terms of any size, of which the limbs are not known: texts.

    >>> ".csv" in endings(columns=True), ".npy" in endings(any_size=True)
    (True, False)
    """
    return [name for name, each in TABLE_FORMATS.items() if each.columns >= columns and each.text >= any_size]


def write_table(path: Path, parts: Iterable[Columns], facts: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Write a table to a new file, in the format of its ending, some rows at a time: the first part names the columns."""
    parts = iter(parts)
    first = next(parts)
    TABLE_FORMATS[path.suffix].write(path, Heading(tuple(first), facts), chain([first], parts))


def printed(form: str, facts: Mapping[str, Any], parts: Iterable[tuple[int, Column]]) -> Iterator[str]:
    r"""Yield the text of a sequence, in pieces.

    Args:
        form: one of `FORMS`.
        facts: what describes the sequence, `start` and `stop` among it.
        parts: values that follow each other, each with the first index.

    >>> list(printed("csv", {}, [(3, [1, 10**20]), (5, [4])]))
    ['n,value\n', '3,1\n4,100000000000000000000\n', '5,4\n']
    """
    return FORMS[form](Heading(SEQUENCE, facts), _sequences(parts))


def _sequences(parts: Iterable[tuple[int, Column]]) -> Iterator[Columns]:
    for first, values in parts:
        yield {"n": range(first, first + len(values)), "value": values}


def check_table(path: Path, **needs: bool) -> None:
    """Raise what `open_table` would raise for this path alone, to be called before long work; see `endings` for the needs."""
    check_output(path, "the file of a table", endings(**needs), TABLE.is_ours)


def save_sequence(path: Path, parts: Iterable[tuple[int, Column]], facts: Mapping[str, Any], largest: int) -> None:
    """Write a sequence to a file, by its ending, in parts, each with the first index. The write is atomic.

    Args:
        path: the file.
        parts: the values.
        facts: what describes them, among it `start` and `stop`, their indices.
        largest: that no value exceeds; where the format is text, it may be 0.

    Raises:
        UsageError: files of this ending hold no table.
        FileError: the file cannot be written, or would not fit on the disk.
    """
    check_table(path)
    heading = Heading(SEQUENCE, facts, largest)
    needed, free = 8 * math.prod(heading.shape), shutil.disk_usage(path.parent).free
    if path.suffix == ".npy" and needed > free:  # the size of a text or a compressed store is not known in advance
        raise FileError(f"cannot write {path}: it needs {size_text(needed, up=True)}, {size_text(free)} are free there")
    with atomic_write(path, TABLE.is_ours) as scratch:
        TABLE_FORMATS[path.suffix].write(scratch, heading, _sequences(parts))


def save_table(columns: Columns, path: Path) -> None:
    """Write a table of any columns to a file, by its ending; None is empty or null. The write is atomic.

    Args:
        columns: the columns by name.
        path: the file.

    Raises:
        UsageError: files of this ending hold no such table.
        FileError: the file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("a.csv", "a.json"):
    ...         save_table({"x": [1, None], "game": ["nim", "kayles"]}, Path(folder, name))
    ...         print(Path(folder, name).read_text(), end="")
    x,game
    1,nim
    ,kayles
    {"rows": [{"x": 1, "game": "nim"}, {"x": null, "game": "kayles"}]}
    """
    check_table(path, columns=True)
    with atomic_write(path) as scratch:
        write_table(scratch, [columns])
