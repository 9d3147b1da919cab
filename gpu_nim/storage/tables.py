"""Tables in files: terms of sequences, written while they are computed and resumable, tables of any columns, files for the OEIS.

The formats are those of `gpu_nim.storage.table_formats`. A long range of a sequence is written in a folder beside its final name
(see `gpu_nim.storage.atomic`): the data, and `job.json` with the job, its progress, and the SHA-256 of the data. When it is
complete it is renamed. A run that is interrupted leaves the folder, and a run of the same job with resume continues after comparing
the data with their SHA-256.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gpu_nim.model.arguments import Needs, argument, check_together
from gpu_nim.model.arrays import U64
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.files import Damaged, parse_json, printable, read_regular
from gpu_nim.oeis.b_files import format_lines
from gpu_nim.oeis.entry import OeisEntry
from gpu_nim.storage.atomic import check_output, make_folder, replacing, resumable
from gpu_nim.storage.file_checks import checksum_of
from gpu_nim.storage.table_formats import (
    SEQUENCE,
    TABLE_FORMATS,
    Column,
    Columns,
    Extent,
    Heading,
    TableData,
    TableFormat,
    endings,
    is_table,
    write_table,
)

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
    with resumable(path, lambda folder: resume and (folder / _JOB).exists(), is_table) as folder:
        done, extent = _taken_up(path, folder, heading.job())
        if done == 0:
            _require_space(path, heading)
        scratch = folder / path.name
        try:
            data = entry.writer(scratch, heading, done, 0 if extent is None else extent.size)
        except Damaged as error:
            raise FileError(f"cannot resume {path}: {scratch} is damaged ({error}); remove {folder} to start over") from error
        with closing(data):
            if extent is not None and data.extent() != extent:
                raise FileError(f"cannot resume {path}: {scratch} is not what was written; remove {folder} to start over")
            yield TableWriter(folder, heading, data, done)
            data.finish()


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
    data = folder / path.name
    if done and (not data.exists() or (data.is_file() and data.stat().st_size < extent.size)):
        raise FileError(f"cannot resume {path}: {data} is shorter than was written; remove {folder} to start over")
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
