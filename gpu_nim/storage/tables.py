"""Tables of counts: long ranges of a sequence, written as they are computed, in bounded memory, and taken up where they stopped.

    .npy            one uint64 array of shape (n,), or (n, limbs) where values need more than 64 bits, least significant first
    .zarr           the same as Zarr v3, chunked and compressed, with attributes that say what it holds
    .csv            n,value
    .txt            a b-file: n value

A table grows in `.NAME.partial/` beside its final name: the data, and `job.json`, which says what is being written and how far
it is. When it is whole it is renamed. A run that is stopped leaves the folder, and a run of the same job with resume goes on.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from gpu_nim.backends.counting import U64, to_integers
from gpu_nim.errors import FileError, UsageError
from gpu_nim.storage.atomic import check_writable, replacing
from gpu_nim.storage.containers import store_of

KIND = "gpunim table"
FORMAT = 1
SUFFIXES = (".npy", ".zarr", ".csv", ".txt")

_ZARR_CHUNK = 1 << 20  # 64-bit numbers: 8 MiB before compression
_is_table = store_of(KIND)


class Sink(Protocol):
    """Where the values of a table go."""

    def write(self, first: int, values: U64) -> None:
        """Take the values at first, first + 1, ..., which follow those written before."""

    def state(self) -> int:
        """Hand what was written to the system, and return how many bytes of the file that is, 0 for a store of many files."""

    def close(self) -> None:
        """Let go of the file."""


class TableWriter:
    """A table in progress. `next` is the first index that is not yet written."""

    def __init__(self, folder: Path, job: dict[str, Any], sink: Sink, done: int) -> None:
        self._folder, self._job, self._sink = folder, job, sink
        self.next = job["start"] + done

    def append(self, values: U64) -> None:
        """Write the next values, shape (n,) or (n, limbs), and note that they are there."""
        self._sink.write(self.next, values)
        self.next += len(values)
        _note(self._folder, self._job, self.next - self._job["start"], self._sink.state())


@contextmanager
def open_table(path: Path, attributes: dict[str, Any], limbs: int, *, resume: bool = False) -> Iterator[TableWriter]:
    """Open a file for a table, by its ending; it appears under its name, whole, when the block ends without an error.

    `attributes` describe the table and must hold `start` and `stop`, its indices. With `resume`, a table of the same
    attributes that was left half-written is gone on with. Raises UsageError for another ending, FileError where it cannot
    be written, would not fit the disk, or is not the table to go on with.
    """
    if path.suffix not in SUFFIXES:
        raise UsageError(f"the file of a table must end in {', '.join(SUFFIXES)}, got {str(path)!r}")
    check_writable(path, _is_table)
    job = {"kind": KIND, "format": FORMAT, "limbs": limbs, **attributes}
    folder = path.with_name(f".{path.name}.partial")
    done, size = _taken_up(path, folder, job) if resume else (0, 0)
    try:
        if done == 0:
            shutil.rmtree(folder, ignore_errors=True)
            _require_space(path, job["stop"] - job["start"], limbs)
            folder.mkdir()
        sink = _sink(folder / path.name, job, done, size)
        try:
            yield TableWriter(folder, job, sink, done)
        finally:
            sink.close()
        if path.is_dir():
            path.rename(folder / "old")
        (folder / path.name).replace(path)
        shutil.rmtree(folder)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}") from error


def write_text(file: IO[str], first: int, values: U64, separator: str) -> None:
    """Write one `n value` a line."""
    file.write("".join([f"{n}{separator}{value}\n" for n, value in enumerate(to_integers(values), first)]))


class _TextSink:
    def __init__(self, path: Path, separator: str, header: str, size: int) -> None:
        self._separator = separator
        if size:
            os.truncate(path, size)
        self._file = path.open("a" if size else "w", encoding="ascii", newline="\n")
        if not size:
            self._file.write(header)

    def write(self, first: int, values: U64) -> None:
        write_text(self._file, first, values, self._separator)

    def state(self) -> int:
        self._file.flush()
        return self._file.tell()

    def close(self) -> None:
        self._file.close()


class _NpySink:
    """Appends to a .npy file. A memory map would do, but keeps all that it wrote in this process's memory."""

    def __init__(self, path: Path, shape: tuple[int, ...], size: int) -> None:
        if size:
            os.truncate(path, size)
        self._file = path.open("ab" if size else "wb")
        if not size:
            header = {"descr": "<u8", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(self._file, header)

    def write(self, first: int, values: U64) -> None:
        self._file.write(np.ascontiguousarray(values, "<u8").data)

    def state(self) -> int:
        self._file.flush()
        return self._file.tell()

    def close(self) -> None:
        self._file.close()


class _ZarrSink:
    def __init__(self, array: Any, start: int) -> None:
        self._array, self._start = array, start

    def write(self, first: int, values: U64) -> None:
        self._array[first - self._start : first - self._start + len(values)] = values

    def state(self) -> int:
        return 0

    def close(self) -> None:
        self._array = None


def _sink(path: Path, job: dict[str, Any], done: int, size: int) -> Sink:
    if path.suffix == ".csv":
        return _TextSink(path, ",", "n,value\n", size)
    if path.suffix == ".txt":
        return _TextSink(path, " ", "", size)
    count, limbs = job["stop"] - job["start"], job["limbs"]
    shape = (count,) if limbs == 1 else (count, limbs)
    if path.suffix == ".npy":
        return _NpySink(path, shape, size)
    import zarr

    if done:
        return _ZarrSink(zarr.open_array(path, mode="r+"), job["start"])
    # A power of two, which divides what is appended: no chunk that was noted as written is written again.
    chunks = (min(count, _ZARR_CHUNK >> (limbs - 1).bit_length()), *shape[1:])
    array = zarr.create_array(path, shape=shape, chunks=chunks, dtype=np.uint64, attributes=job, overwrite=True)
    return _ZarrSink(array, job["start"])


def _taken_up(path: Path, folder: Path, job: dict[str, Any]) -> tuple[int, int]:
    """How many values, and bytes, a half-written table holds; (0, 0) where there is none."""
    try:
        note = json.loads((folder / "job.json").read_text(encoding="utf-8"))
        found, done, size = note["job"], int(note["done"]), int(note["bytes"])
    except FileNotFoundError:
        return 0, 0
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(f"cannot resume {path}: {folder / 'job.json'} is damaged; remove {folder} to start anew") from error
    for key in sorted(found.keys() | job.keys()):
        if found.get(key) != job.get(key):
            raise FileError(f"cannot resume {path}: what was left half-written has {key} {found.get(key)}, not {job.get(key)}")
    data = folder / path.name
    if done and (not data.exists() or (data.is_file() and data.stat().st_size < size)):
        raise FileError(f"cannot resume {path}: {data} is shorter than was written; remove {folder} to start anew")
    return done, size


def _note(folder: Path, job: dict[str, Any], done: int, size: int) -> None:
    new = folder / "job.json.new"
    new.write_text(json.dumps({"job": job, "done": done, "bytes": size}), encoding="utf-8")
    new.replace(folder / "job.json")


def _require_space(path: Path, count: int, limbs: int) -> None:
    # How long a text or a compressed store will be is not known before.
    needed, free = 8 * limbs * count, shutil.disk_usage(path.parent).free
    if path.suffix == ".npy" and needed > free:
        raise FileError(f"cannot write {path}: it needs {needed:,} bytes, {free:,} are free there")


def write_terms(path: Path, first: int, terms: Iterable[int]) -> None:
    """Write terms at first, first + 1, ... to a .csv file or a b-file, which appears whole or not at all."""
    separator, header = (",", "n,value\n") if path.suffix == ".csv" else (" ", "")
    with replacing(path) as scratch, scratch.open("w", encoding="ascii", newline="\n") as file:
        file.write(header)
        file.writelines(f"{n}{separator}{value}\n" for n, value in enumerate(terms, first))
