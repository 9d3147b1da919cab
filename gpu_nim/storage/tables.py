"""Tables in files: terms of sequences, written while they are computed and resumable, and tables of any columns.

The catalogue of formats has one entry each, by which every command that writes or reads numbers knows them.

    .npy        a sequence: one uint64 array, (n,), or (n, limbs) where values need more than 64 bits, least significant first
    .zarr       the same as Zarr v3, chunked and compressed, with attributes that describe it
    .csv        the names of the columns, then one row a line; undefined values are empty
    .txt        a sequence as a b-file: n value
    .json       an object with what describes the table, and its values (texts, of any length) or its rows (objects)
    .parquet    the columns with their types, in blocks of rows, for pandas, polars, DuckDB and others

A table has named columns of equally many entries, and is written some rows at a time. A sequence is the table of two columns n and
value, whose n follow each other; some formats hold sequences alone. What is read back are the terms of one column.

A format of text is written in pieces, which can also be printed: the forms of `gpunim count --format`.

A long range of a sequence is written in a folder beside its final name (see `gpu_nim.storage.atomic`): the data, and `job.json`
with the job, its progress, and the SHA-256 of the data. When it is complete it is renamed. A run that is interrupted leaves the
folder, and a run of the same job with resume continues after comparing the data with their SHA-256.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from io import BytesIO, StringIO, TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TextIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arguments import Needs, argument, check_together
from gpu_nim.model.arrays import U64, to_integers
from gpu_nim.model.errors import FileError, UsageError, missing
from gpu_nim.model.files import Damaged, open_regular, parse_json, printable, read_regular
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.registry import Registry
from gpu_nim.model.work import interrupts_deferred
from gpu_nim.oeis.b_files import format_lines, read_bfile
from gpu_nim.oeis.entry import OeisEntry
from gpu_nim.storage.arrays import EVERY_CHUNK, ZarrArrays, checksum_of, created, raised_as_damage, store_of
from gpu_nim.storage.atomic import check_output, make_folder, replacing, resumable

#: The entries of a column: numbers, texts, fractions, None; or uint64 limbs along a last axis.
Column = Sequence[Any] | NDArray[Any]
Columns = Mapping[str, Column]

KIND = "gpunim table"
FORMAT = 1
#: Whether a folder is a table that gpunim wrote, and may therefore be replaced.
is_table = store_of(KIND)
#: The columns of a sequence.
SEQUENCE = ("n", "value")
Reader = Callable[[Path, int | None], Columns]
#: The column that is read where none is named.
MAIN = "births"
_READ = 1 << 20  # bytes of a file digested at a time
_Row = TypeVar("_Row")
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


class TableData:
    """The file of a table in progress."""

    def append(self, columns: Columns) -> None:
        """Take the next rows."""
        raise NotImplementedError

    def extent(self) -> Extent:
        """Flush to the system, and return the extent; only of formats that can be resumed."""
        raise NotImplementedError

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
        resumable: whether an interrupted file can be continued.
        memory: bytes of memory that its library takes for a sequence, beside the values.
    """

    name: str
    summary: str
    writer: Callable[[Path, Heading, int, int], TableData]
    read: Reader
    text: Text | None = None
    columns: bool = False
    resumable: bool = True
    memory: int = 0


def entries(column: Column) -> list[Any]:
    """Return the entries of a column in Python's numbers; fractions as the nearest double.

    >>> entries(np.array([[5, 1]], np.uint64)), entries([Fraction(1, 4), None, "all"])
    ([18446744073709551621], [0.25, None, 'all'])
    """
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return to_integers(column) if column.ndim == 2 else column.tolist()
    return [float(value) if isinstance(value, Fraction) else value for value in column]


def rows(columns: Columns) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of columns, of which some are in Python's numbers at a time."""
    for start in range(0, max(map(len, columns.values()), default=0), _ROWS):
        yield from zip(*(entries(column[start : start + _ROWS]) for column in columns.values()), strict=True)


class AppendedFile(TableData):
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
                if os.fstat(before.fileno()).st_nlink > 1:
                    raise Damaged("it is also a file elsewhere, by a hard link")
                for start in range(0, size, _READ):
                    self._digest.update(before.read(min(_READ, size - start)))
        self._file = path.open("r+b" if size else "wb")
        self._file.seek(size)
        if not size:
            self._append(header)

    def append(self, columns: Columns) -> None:
        for piece in self._encode(columns, self._file.tell() == self._header):
            self._append(piece)

    def _append(self, content: bytes | memoryview) -> None:
        self._file.truncate()  # what was written after the record from which it is resumed
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


_MAX_JSON = 1 << 28  # bytes that are read
_PARSED = 9  # bytes in memory of a byte of JSON: of short numbers, which are texts
_ROW = 300  # bytes in memory of a row of a text that is read
_METADATA = 1 << 20  # bytes of the metadata of an array
_GROUP = 1 << 15  # rows of .parquet that are written at a time
_LONGEST = 1 << 24  # letters of a line of .csv
_ROWS = 1 << 12  # of text that are made at a time
_ZARR_CHUNK = 1 << 20  # 64-bit numbers: 8 MiB before compression

TABLE_FORMATS = Registry[TableFormat]("file format of tables")


def _text_format(text: Text, name: str, summary: str, read: Reader, *, columns: bool) -> TableFormat:
    """An entry for a format of text."""

    def write(path: Path, heading: Heading, done: int, size: int) -> TableData:
        def encode(given: Columns, first: bool) -> Iterator[bytes]:
            return (piece.encode() for piece in text.lines(heading, given, first))

        return AppendedFile(path, size, text.begin(heading).encode(), encode, text.end.encode())

    return TableFormat(name, summary, write, read, text, columns=columns)


def _shape(heading: Heading) -> tuple[int, ...]:
    count = heading.facts["stop"] - heading.facts["start"]
    return (count,) if heading.limbs == 1 else (count, heading.limbs)


def _limbs(columns: Columns) -> NDArray[Any]:
    return np.ascontiguousarray(columns["value"], "<u8")


def _npy(path: Path, heading: Heading, done: int, size: int) -> TableData:
    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<u8", "fortran_order": False, "shape": _shape(heading)})
    return AppendedFile(path, size, header.getvalue(), lambda columns, _: [_limbs(columns).data.cast("B")])


def _read_npy(path: Path, most: int | None) -> Columns:
    with open_regular(path), raised_as_damage("its header is damaged"):
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu" or not 1 <= values.ndim <= 2:
        raise Damaged("it holds no table of integers")
    return {"value": values[:most]}


class _ZarrTable(TableData):
    """Writes to an array of a store, of which `done` values are there; its SHA-256 is over its metadata and its values.

    The attribute `seal` is the SHA-256 over its range and its values.
    """

    def __init__(self, path: Path, heading: Heading, done: int, size: int) -> None:
        if not done:
            shape = _shape(heading)
            # A power of two, which divides the appended parts: no chunk that was recorded as written is written again.
            chunks = (min(shape[0], _ZARR_CHUNK >> (heading.limbs - 1).bit_length()), *shape[1:])
            names = ["n", "limb"][: len(shape)]
            created(path, "", names, shape=shape, chunks=chunks, dtype=np.uint64, attributes=heading.job())
        self._path, self._next = path, done
        self._array: Any = None
        self._metadata = parse_json(read_regular(path / "zarr.json", _METADATA, within=path))
        self._metadata["attributes"].pop("seal", None)
        self._digest = _sealing(heading.facts)
        for part in _stored(ZarrArrays(path), done):
            self._digest.update(part)

    def append(self, columns: Columns) -> None:
        import zarr

        values = _limbs(columns)
        if self._array is None:  # only after its digest was compared
            self._array = zarr.open_array(self._path, mode="r+", config=EVERY_CHUNK)
        size = self._array.chunks[0]  # zarr takes as many times the memory as there are chunks
        for start in range(0, len(values), size):
            part = values[start : start + size]
            with interrupts_deferred():
                self._array[self._next : self._next + len(part)] = part
            self._next += len(part)
            self._digest.update(part.data)

    def extent(self) -> Extent:
        return Extent(0, checksum_of({"metadata": self._metadata, "values": self._digest.hexdigest()}, {}))

    def finish(self) -> None:
        import zarr

        with interrupts_deferred():
            zarr.open_array(self._path, mode="r+").update_attributes({"seal": self._digest.hexdigest()})


def _sealing(facts: Mapping[str, Any]) -> Any:
    """The SHA-256 of a table without values."""
    return hashlib.sha256(json.dumps([facts["start"], facts["stop"]]).encode())


def _stored(arrays: ZarrArrays, size: int) -> Iterator[U64]:
    """Yield the first values of a table, some at a time."""
    for first in range(0, size, _ZARR_CHUNK):
        yield np.ascontiguousarray(arrays.read("", first, min(first + _ZARR_CHUNK, size)), "<u8")


def _read_zarr(path: Path, most: int | None) -> Columns:
    stored = ZarrArrays(path)
    declared, first = stored.declared[""], stored.attributes.get("start")
    if type(first) is not int or declared.dtype.kind != "u" or not 1 <= len(declared.shape) <= 2:
        raise Damaged("it holds no terms with their first index")
    if stored.missing() or stored.attributes.get("stop") != first + declared.shape[0]:
        raise Damaged("it holds fewer or more terms than its range has")
    if seal := stored.attributes.get("seal"):  # which tables of earlier versions lack
        digest = _sealing(stored.attributes)
        for part in _stored(stored, declared.shape[0]):
            digest.update(part)
        if digest.hexdigest() != seal:
            raise Damaged("its values do not agree with their checksum, it was edited or damaged")
    values = stored.read("", 0, declared.shape[0] if most is None else min(declared.shape[0], most))
    return {"n": range(first, first + len(values)), "value": values}


def _csv_text(some: Sequence[Sequence[Any]]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(some)
    return text.getvalue()


def _csv_header(heading: Heading) -> str:
    return _csv_text([heading.columns])


def _csv_lines(_: Heading, columns: Columns, first: bool) -> Iterator[str]:
    found = rows(columns)
    while some := list(islice(found, _ROWS)):
        yield _csv_text(some)


def _bfile_lines(_: Heading, columns: Columns, first: bool) -> Iterator[str]:
    found = format_lines(rows(columns))
    while some := "".join(islice(found, _ROWS)):
        yield some


def _read_bfile(path: Path, most: int | None) -> Columns:
    return _columns(SEQUENCE, [(n, value) for _, n, value in _fitting(path, islice(read_bfile(path), most))])


def _columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Columns:
    """The columns of rows."""
    return dict(zip(names, zip(*rows, strict=True) if rows else ([] for _ in names), strict=True))


def _fitting(path: Path, rows: Iterable[_Row]) -> Iterator[_Row]:
    """Yield rows, which are kept; InsufficientMemoryError where more of them would not fit."""
    for number, row in enumerate(rows):
        if number % _ROWS == 0:
            require_memory(_ROW * _ROWS, host_memory(), f"reading {path}")
        yield row


def _bounded_lines(file: TextIO) -> Iterator[str]:
    """Yield the lines of a text; Damaged where one is longer than a table has."""
    while line := file.readline(_LONGEST + 1):
        if len(line) > _LONGEST:
            raise Damaged(f"a line of it has more than {_LONGEST:,} letters")
        yield line


def _read_csv(path: Path, most: int | None) -> Columns:
    with TextIOWrapper(open_regular(path), encoding="utf-8-sig", newline="") as file:
        try:
            lines = csv.reader(_bounded_lines(file))
            header = [name.strip() for name in next(lines, [])]
            found = [row for row in _fitting(path, islice(lines, most)) if row]
        except (csv.Error, UnicodeDecodeError) as error:
            raise Damaged(printable(str(error))) from error
    if any(len(row) != len(header) for row in found):
        raise Damaged("its rows are not as long as its header")
    for place, name in enumerate(header):
        if name in header[:place] or _is_number(name):
            raise Damaged(f"its first line must name its columns, each once, got {printable(name, 40)}")
    return _columns(header, found)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _json_begin(heading: Heading) -> str:
    facts = json.dumps(dict(heading.facts))[:-1]
    return f'{facts}{", " if heading.facts else ""}"{"values" if heading.is_sequence else "rows"}": ['


def _json_lines(heading: Heading, columns: Columns, first: bool) -> Iterator[str]:
    if heading.is_sequence:
        found = (f'"{value}"' for _, value in rows(columns))  # of any length: many programs round numbers
    else:
        found = (json.dumps(dict(zip(columns, row, strict=True))) for row in rows(columns))
    while some := list(islice(found, _ROWS)):
        yield ("" if first else ", ") + ", ".join(some)
        first = False


def _read_json(path: Path, most: int | None) -> Columns:
    """Read what `gpunim count` and `gpunim grow` print, too."""
    require_memory(_PARSED * min(path.stat().st_size, _MAX_JSON), host_memory(), f"reading {path}")
    found = parse_json(read_regular(path, _MAX_JSON))
    first, records = found.get("start", 0), found.get("rows")
    if isinstance(records, list) and records and all(isinstance(row, dict) for row in records):
        return {name: [row.get(name) for row in records[:most]] for name in records[0]}
    columns = {name: found[name] for name in ("values", MAIN) if isinstance(found.get(name), list)}
    columns |= found["columns"] if isinstance(found.get("columns"), dict) else {}
    wrong = [name for name, values in columns.items() if not isinstance(values, list)]
    if wrong or type(first) is not int:
        raise Damaged(f"its {printable(wrong[0]) if wrong else 'start'} is no {'list' if wrong else 'integer'}")
    if not columns:
        return {}
    count, stop = len(next(iter(columns.values()))), found.get("stop")
    if type(stop) is int and stop - first != count:
        raise Damaged(f"it holds {count:,} values, and its range {stop - first:,}")
    return {"n": range(first, first + count), **columns}


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise missing("Parquet files need pyarrow", "pyarrow") from error
    return pyarrow, parquet


class _ParquetTable(TableData):
    """Writes blocks of rows, with the types of the first of them, and the schema last; integers of more than 64 bits are texts."""

    def __init__(self, path: Path, heading: Heading, done: int, size: int) -> None:
        self._arrow, self._parquet = _pyarrow()
        self._path, self._heading = path, heading
        self._writer: Any = None

    def append(self, columns: Columns) -> None:
        typed = all(isinstance(column, np.ndarray | range) for column in columns.values())  # alike in all parts
        size = max(1, *map(len, columns.values()))
        for start in range(0, size, _GROUP if typed else size):
            self._append({name: column[start : start + _GROUP] for name, column in columns.items()})

    def _append(self, columns: Columns) -> None:
        table = self._arrow.table({name: self._typed(name, column) for name, column in columns.items()})
        if self._writer is None:
            schema = table.schema.with_metadata({"gpunim": json.dumps(dict(self._heading.facts))})
            self._writer = self._parquet.ParquetWriter(self._path, schema, use_dictionary=False)
        self._writer.write_table(table.cast(self._writer.schema))

    def _typed(self, name: str, column: Column) -> Any:
        heading = self._heading
        long = heading.is_sequence and (heading.limbs > 1 if name == "value" else heading.facts["stop"] > 1 << 63)
        values = column if isinstance(column, np.ndarray) and column.ndim == 1 else entries(column)
        if not long:  # so that all parts of a sequence have one type
            with suppress(self._arrow.ArrowInvalid, OverflowError):
                return self._arrow.array(values)
        return self._arrow.array([None if value is None else str(value) for value in values], self._arrow.string())

    def finish(self) -> None:
        if self._writer is None:
            self.append({name: [] for name in self._heading.columns})

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def _read_parquet(path: Path, most: int | None) -> Columns:
    arrow, parquet = _pyarrow()
    with open_regular(path):
        pass
    try:
        with parquet.ParquetFile(path) as file:
            require_room_for(path, file.metadata.num_rows * file.metadata.num_columns)
            table = file.read()
            return {name: table.column(name).slice(0, most).to_pylist() for name in table.column_names}
    except (arrow.ArrowException, OSError) as error:
        raise Damaged(printable(str(error))) from error


for _format in (
    TableFormat(".npy", "one array of a sequence", _npy, _read_npy),
    TableFormat(".zarr", "a chunked array of a sequence", _ZarrTable, _read_zarr, memory=18 << 20),
    _text_format(Text("csv", _csv_header, _csv_lines), ".csv", "a header, then one row a line", _read_csv, columns=True),
    _text_format(Text("bfile", lambda _: "", _bfile_lines), ".txt", "a sequence as a b-file", _read_bfile, columns=False),
    _text_format(Text("json", _json_begin, _json_lines, "]}\n"), ".json", "one JSON object", _read_json, columns=True),
    TableFormat(
        ".parquet",
        "typed columns",
        _ParquetTable,
        _read_parquet,
        columns=True,
        resumable=False,
        memory=16 << 20,
    ),
):
    TABLE_FORMATS.add(_format)


def endings(*, columns: bool = False, any_size: bool = False, resumable: bool = False) -> list[str]:
    """Return the endings of the files that hold a table.

    Args:
        columns: of any columns, and not a sequence.
        any_size: with terms of any size, of which the limbs are not known: texts.
        resumable: that can be resumed.

    >>> ".csv" in endings(columns=True), ".npy" in endings(any_size=True)
    (True, False)
    """
    return [
        name
        for name, each in TABLE_FORMATS.items()
        if each.columns >= columns and (each.text is not None) >= any_size and each.resumable >= resumable
    ]


def write_table(path: Path, parts: Iterable[Columns], facts: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Write a table to a new file, in the format of its ending, some rows at a time: the first part names the columns."""
    parts = iter(parts)
    first = next(parts)
    with closing(TABLE_FORMATS[path.suffix].writer(path, Heading(tuple(first), facts), 0, 0)) as data:
        for columns in chain([first], parts):
            data.append(columns)
        data.finish()


_JOB = "job.json"
_NOTE = 1 << 20  # bytes of it
_NAMED = ("names",), "a draft, an A-number, or all"
_SUBMITTED: Needs = {
    "out": _NAMED,
    "number": _NAMED,
    "b_file": (("out",), "the folder to write to"),
    "upto": (("b_file",), "whose last index it is"),
}


def forms() -> dict[str, TableFormat]:
    """Return the formats that can be printed, by the names of their forms.

    >>> {"csv", "bfile", "json"} <= set(forms())
    True
    """
    return {each.text.form: each for each in TABLE_FORMATS.values() if each.text is not None}


def printed(form: str, facts: Mapping[str, Any], parts: Iterable[tuple[int, Column]]) -> Iterator[str]:
    r"""Yield the text of a sequence, in pieces.

    Args:
        form: one of `forms`.
        facts: what describes the sequence, `start` and `stop` among it.
        parts: values that follow each other, each with the first index.

    >>> list(printed("csv", {}, [(3, [1, 10**20]), (5, [4])]))
    ['n,value\n', '3,1\n4,100000000000000000000\n', '5,4\n', '']
    """
    text = forms()[form].text
    assert text is not None
    heading, first = Heading(SEQUENCE, facts), True
    yield text.begin(heading)
    for start, values in parts:
        yield from text.lines(heading, _sequence(start, values), first)
        first = False
    yield text.end


def _sequence(first: int, values: Column) -> Columns:
    return {"n": range(first, first + len(values)), "value": values}


class TableWriter:
    """A table in progress. `next` is the first index that is not yet written."""

    def __init__(self, folder: Path | None, heading: Heading, data: TableData, done: int) -> None:
        self._folder, self._heading, self._data = folder, heading, data
        self.next = heading.facts["start"] + done

    def append(self, values: U64) -> None:
        """Write the next values, shape (n,) or (n, limbs), and record the progress."""
        self._data.append(_sequence(self.next, values))
        self.next += len(values)
        if self._folder is not None:
            _note(self._folder, self._heading, self.next - self._heading.facts["start"], self._data.extent())


def check_table(path: Path, **needs: bool) -> None:
    """Raise what `open_table` would raise for this path alone, to be called before long work; see `endings` for the needs."""
    check_output(path, "the file of a table", endings(**needs), is_table)


@contextmanager
def open_table(path: Path, attributes: dict[str, Any], limbs: int, *, resume: bool = False) -> Iterator[TableWriter]:
    """Open a file for a sequence, by its ending, and write it atomically.

    `attributes` describe the sequence and must hold `start` and `stop`, its indices. With `resume`, an interrupted table of the
    same attributes is continued. Raises UsageError for another ending, or one that cannot be resumed, FileError where it cannot be
    written, would not fit on the disk, or is not the table to resume.
    """
    check_table(path, resumable=resume)
    heading, entry = Heading(SEQUENCE, attributes, limbs), TABLE_FORMATS[path.suffix]
    if not entry.resumable:
        with replacing(path) as scratch, closing(entry.writer(scratch, heading, 0, 0)) as data:
            yield TableWriter(None, heading, data, 0)
            data.finish()
        return
    with resumable(path, lambda folder: resume and _is_begun(folder), is_table, _is_begun) as folder:
        done, extent = _taken_up(path, folder, heading.job())
        if done == 0:
            _require_space(path, heading)
        scratch = folder / path.name
        try:
            data = entry.writer(scratch, heading, done, 0 if extent is None else extent.size)
        except (Damaged, FileNotFoundError) as error:
            raise FileError(f"cannot resume {path}: {scratch} is damaged ({error}); remove {folder} to start over") from error
        with closing(data):
            if extent is not None and data.extent() != extent:
                raise FileError(f"cannot resume {path}: {scratch} is not what was written; remove {folder} to start over")
            yield TableWriter(folder, heading, data, done)
            data.finish()


def _is_begun(folder: Path) -> bool:
    """Whether progress is recorded in the folder of an interrupted table."""
    return (folder / _JOB).exists()


def _taken_up(path: Path, folder: Path, job: dict[str, Any]) -> tuple[int, Extent | None]:
    """The number of values of an interrupted table, and its extent; (0, None) where there is none."""
    damaged = f"cannot resume {path}: {folder / 'job.json'} is damaged; remove {folder} to start over"
    try:
        note = parse_json(read_regular(folder / _JOB, _NOTE, within=folder))
        if note.pop("seal", None) != checksum_of(note, {}):
            raise FileError(damaged)
        found, done, extent = dict(note["job"]), int(note["done"]), Extent(int(note["bytes"]), str(note["digest"]))
    except FileNotFoundError:
        return 0, None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(damaged) from error
    for key in sorted(found.keys() | job.keys()):
        if found.get(key) != job.get(key):
            left, asked = (printable(str(values.get(key)), 40) for values in (found, job))
            raise FileError(f"cannot resume {path}: the interrupted table has {printable(key, 40)} {left}, not {asked}")
    return (done, extent) if done else (0, None)


def _note(folder: Path, heading: Heading, done: int, extent: Extent) -> None:
    note = {"job": heading.job(), "done": done, "bytes": extent.size, "digest": extent.digest}
    new = folder / f"{_JOB}.new"
    new.write_text(json.dumps(note | {"seal": checksum_of(note, {})}), encoding="utf-8")
    new.replace(folder / _JOB)


def _require_space(path: Path, heading: Heading) -> None:
    # The size of a text or a compressed store is not known in advance.
    count = heading.facts["stop"] - heading.facts["start"]
    needed, free = 8 * heading.limbs * count, shutil.disk_usage(path.parent).free
    if path.suffix == ".npy" and needed > free:
        raise FileError(f"cannot write {path}: it needs {needed:,} bytes, {free:,} are free there")


def save_table(columns: Columns, path: Path, facts: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Write a table of any columns to a file, by its ending; None is empty or null. The write is atomic.

    Args:
        columns: the columns by name.
        path: the file.
        facts: what describes the table, for formats that hold it.

    Raises:
        UsageError: files of this ending hold no such table.
        FileError: the file cannot be written.
        MissingDependency: the format needs a package that is not installed.

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
    with replacing(path) as scratch:
        write_table(scratch, [columns], facts)


def save_text(path: Path, pieces: Iterable[str]) -> None:
    """Write a text of ASCII, in pieces, atomically."""
    with replacing(path) as scratch, scratch.open("w", encoding="ascii", newline="\n") as file:
        file.writelines(pieces)


def submit(
    names: Sequence[str],
    *,
    out: Path | None = None,
    b_file: bool = False,
    upto: int | None = None,
    number: str | None = None,
) -> Iterator[str | Path]:
    """Yield the lines to submit to the OEIS for each name; with a folder write them there, and yield each file once it is there.

    Args:
        names: as for `gpu_nim.oeis.submissions.submissions`.
        out: the folder, which is made where there is none.
        b_file: whether to write the b-file of each entry that gpunim computes, too.
        upto: the last index of the b-files.
        number: the A-number that the OEIS has allocated for a draft.

    Raises:
        FileError: the folder cannot be made or written to, or is a file.
        UsageError: an argument is wrong or contradicts another; raised before anything is written.

    >>> next(submit(["edge-births"]))
    '%I Axxxxxx'
    """
    from gpu_nim.oeis.submissions import submissions

    given = {"names": names, "out": out, "b_file": b_file, "upto": upto, "number": number}
    check_together([name for name, value in given.items() if value not in (None, False, ())], {}, _SUBMITTED)
    found = submissions(names)
    if number is not None and len(found) > 1:
        raise UsageError(f"{argument('number')} belongs to one draft, got {len(found)} names")
    if out is None:
        for each in found:
            yield from each.lines(number)
        return
    texts = [(each.file_name(number), (f"{line}\n" for line in each.lines(number, upto))) for each in found]
    counted = ([each for each in found if each.known is not None] or found) if b_file else []
    # What may be refused for its size comes first.
    b_files = [(each.b_file_name(number), _bfile_of(each.entry, each.last_index(upto))) for each in counted]
    make_folder(out)
    for name, lines in [*b_files, *texts]:
        save_text(out / name, lines)
        yield out / name


def _bfile_of(entry: OeisEntry, last: int) -> Iterator[str]:
    return format_lines(enumerate(entry.terms(entry.offset, last + 1), entry.offset))
