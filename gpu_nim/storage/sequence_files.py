"""Long ranges of a sequence as files, written while they are computed, in bounded memory, and resumable.

    .npy            one uint64 array of shape (n,), or (n, limbs) where values need more than 64 bits, least significant first
    .zarr           the same as Zarr v3, chunked and compressed, with attributes that describe it
    .csv            n,value
    .txt            a b-file: n value

A table is written in a folder beside its final name (see `gpu_nim.storage.atomic`): the data, and `job.json` with the job, its
progress, and the SHA-256 of the data. When it is complete it is renamed. A run that is interrupted leaves the folder, and a run of
the same job with resume continues after comparing the data with their SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from gpu_nim.model.arrays import U64, to_integers
from gpu_nim.model.errors import FileError
from gpu_nim.model.files import Damaged, open_regular, parse_json, printable, read_regular
from gpu_nim.model.work import interrupts_deferred
from gpu_nim.oeis.b_files import format_lines
from gpu_nim.storage.atomic import check_output, replacing, resumable
from gpu_nim.storage.file_checks import seal, store_of
from gpu_nim.storage.zarr_arrays import StoredArray

KIND = "gpunim table"
FORMAT = 1
TEXTS = {".csv": (",", "n,value\n"), ".txt": (" ", "")}
"""The separator and the first line of each format of text."""
SUFFIXES = (".npy", ".zarr", *TEXTS)

_JOB = "job.json"
_NOTE = 1 << 20  # bytes of it
_READ = 1 << 20  # bytes of a file digested at a time
_ZARR_CHUNK = 1 << 20  # 64-bit numbers: 8 MiB before compression
_is_table = store_of(KIND)


class TableExtent(NamedTuple):
    """The extent of a table: the bytes of its file, 0 for a store of many files, and the SHA-256 of them, or of its values."""

    size: int
    digest: str


class Writer(Protocol):
    """The data of a table in progress."""

    def write(self, first: int, values: U64) -> None:
        """Take the values at first, first + 1, ..., which follow those written before."""

    def extent(self) -> TableExtent:
        """Flush to the system, and return the extent."""

    def close(self) -> None:
        """Close the file."""


class TableWriter:
    """A table in progress. `next` is the first index that is not yet written."""

    def __init__(self, folder: Path, job: dict[str, Any], writer: Writer, done: int) -> None:
        self._folder, self._job, self._writer = folder, job, writer
        self.next = job["start"] + done

    def append(self, values: U64) -> None:
        """Write the next values, shape (n,) or (n, limbs), and record the progress."""
        self._writer.write(self.next, values)
        self.next += len(values)
        _note(self._folder, self._job, self.next - self._job["start"], self._writer.extent())


@contextmanager
def open_table(path: Path, attributes: dict[str, Any], limbs: int, *, resume: bool = False) -> Iterator[TableWriter]:
    """Open a file for a table, by its ending, and write it atomically.

    `attributes` describe the table and must hold `start` and `stop`, its indices. With `resume`, an interrupted table of the same
    attributes is continued. Raises UsageError for another ending, FileError where it cannot be written, would not fit on the disk,
    or is not the table to resume.
    """
    check_table(path)
    job = {"kind": KIND, "format": FORMAT, "limbs": limbs, **attributes}
    with resumable(path, lambda folder: resume and (folder / _JOB).exists(), _is_table) as folder:
        done, extent = _taken_up(path, folder, job)
        if done == 0:
            _require_space(path, job["stop"] - job["start"], limbs)
        data = folder / path.name
        try:
            writer = _data_writer(data, job, done, 0 if extent is None else extent.size)
        except Damaged as error:
            raise FileError(f"cannot resume {path}: {data} is damaged ({error}); remove {folder} to start over") from error
        with closing(writer):
            if extent is not None and writer.extent() != extent:
                raise FileError(f"cannot resume {path}: {data} is not what was written; remove {folder} to start over")
            yield TableWriter(folder, job, writer, done)


def check_table(path: Path) -> None:
    """Raise what `open_table` would raise for this path alone, to be called before long work."""
    check_output(path, "the file of a table", SUFFIXES, _is_table)


def lines(first: int, values: U64, separator: str) -> str:
    """Return one `n value` a line."""
    return "".join(format_lines(enumerate(to_integers(values), first), separator))


class _AppendedFile:
    """A file that is appended to, after its first `size` bytes or else a header, and its SHA-256.

    `encode` returns the bytes of the values at first, first + 1, ...  A memory map would also do for arrays, but keeps everything
    written in this process's memory.
    """

    def __init__(self, path: Path, size: int, header: bytes, encode: Callable[[int, U64], bytes | memoryview]) -> None:
        self._encode = encode
        self._digest = hashlib.sha256()
        if size:
            with open_regular(path, within=path.parent) as before:
                for start in range(0, size, _READ):
                    self._digest.update(before.read(min(_READ, size - start)))
            os.truncate(path, size)
        self._file = path.open("ab" if size else "wb")
        if not size:
            self._append(header)

    def write(self, first: int, values: U64) -> None:
        self._append(self._encode(first, values))

    def _append(self, content: bytes | memoryview) -> None:
        self._file.write(content)
        self._digest.update(content)

    def extent(self) -> TableExtent:
        self._file.flush()
        return TableExtent(self._file.tell(), self._digest.hexdigest())

    def close(self) -> None:
        self._file.close()


class _ZarrWriter:
    """Writes to an array of a store, of which `done` values are there; its SHA-256 is over its metadata and its values."""

    def __init__(self, path: Path, start: int, done: int) -> None:
        self._path, self._start = path, start
        self._array: Any = None
        stored = StoredArray(path.parent, path.name)
        self._digest = hashlib.sha256(stored.metadata)
        for first in range(0, done, _ZARR_CHUNK):
            self._digest.update(np.ascontiguousarray(stored.read(first, min(first + _ZARR_CHUNK, done)), "<u8").data)

    def write(self, first: int, values: U64) -> None:
        import zarr

        with interrupts_deferred():
            if self._array is None:  # only after its digest was compared
                self._array = zarr.open_array(self._path, mode="r+")
            self._array[first - self._start : first - self._start + len(values)] = values
        self._digest.update(np.ascontiguousarray(values, "<u8").data)

    def extent(self) -> TableExtent:
        return TableExtent(0, self._digest.hexdigest())

    def close(self) -> None:
        self._array = None


def _data_writer(path: Path, job: dict[str, Any], done: int, size: int) -> Writer:
    if path.suffix in TEXTS:
        separator, line = TEXTS[path.suffix]
        return _AppendedFile(path, size, line.encode(), lambda first, values: lines(first, values, separator).encode())
    count, limbs = job["stop"] - job["start"], job["limbs"]
    shape = (count,) if limbs == 1 else (count, limbs)
    if path.suffix == ".npy":
        header = BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<u8", "fortran_order": False, "shape": shape})
        return _AppendedFile(path, size, header.getvalue(), lambda _, values: np.ascontiguousarray(values, "<u8").data.cast("B"))
    if not done:
        import zarr

        # A power of two, which divides the appended parts: no chunk that was recorded as written is written again.
        chunks = (min(count, _ZARR_CHUNK >> (limbs - 1).bit_length()), *shape[1:])
        dimensions = ["n", "limb"][: len(shape)]
        with interrupts_deferred():
            zarr.create_array(
                path, shape=shape, chunks=chunks, dtype=np.uint64, attributes=job, dimension_names=dimensions, overwrite=True
            )
    return _ZarrWriter(path, job["start"], done)


def _taken_up(path: Path, folder: Path, job: dict[str, Any]) -> tuple[int, TableExtent | None]:
    """The number of values of an interrupted table, and its extent; (0, None) where there is none."""
    damaged = f"cannot resume {path}: {folder / 'job.json'} is damaged; remove {folder} to start over"
    try:
        note = parse_json(read_regular(folder / _JOB, _NOTE, within=folder))
        if note.pop("seal", None) != seal(note, {}):
            raise FileError(damaged)
        found, done, extent = dict(note["job"]), int(note["done"]), TableExtent(int(note["bytes"]), str(note["digest"]))
    except FileNotFoundError:
        return 0, None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(damaged) from error
    for key in sorted(found.keys() | job.keys()):
        if found.get(key) != job.get(key):
            left, asked = (printable(str(values.get(key)), 40) for values in (found, job))
            raise FileError(f"cannot resume {path}: the interrupted table has {printable(key, 40)} {left}, not {asked}")
    data = folder / path.name
    if done and (not data.exists() or (data.is_file() and data.stat().st_size < extent.size)):
        raise FileError(f"cannot resume {path}: {data} is shorter than was written; remove {folder} to start over")
    return (done, extent) if done else (0, None)


def _note(folder: Path, job: dict[str, Any], done: int, extent: TableExtent) -> None:
    note = {"job": job, "done": done, "bytes": extent.size, "digest": extent.digest}
    new = folder / f"{_JOB}.new"
    new.write_text(json.dumps(note | {"seal": seal(note, {})}), encoding="utf-8")
    new.replace(folder / _JOB)


def _require_space(path: Path, count: int, limbs: int) -> None:
    # The size of a text or a compressed store is not known in advance.
    needed, free = 8 * limbs * count, shutil.disk_usage(path.parent).free
    if path.suffix == ".npy" and needed > free:
        raise FileError(f"cannot write {path}: it needs {needed:,} bytes, {free:,} are free there")


def write_terms(path: Path, first: int, terms: Iterable[int]) -> None:
    """Write terms at first, first + 1, ... to a .csv file or a b-file, atomically."""
    separator, header = TEXTS[path.suffix]
    with replacing(path) as scratch, scratch.open("w", encoding="ascii", newline="\n") as file:
        file.write(header)
        file.writelines(format_lines(enumerate(terms, first), separator))
