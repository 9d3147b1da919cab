"""Checkpoints of a long growth: a folder from which it resumes, to the same digest, after any interruption.

    FOLDER/
        checkpoint-0000000400.npz     the snapshot after generation 400: arrays, and `record`, a JSON text
        checkpoint-0000000300.npz     the one before, kept in case the newest is damaged
        checkpoint-0000000400-rank-1.npz   on several ranks: the state of the engine of rank 1; that of rank 0 is in the snapshot
        cells.zarr/                   the cells so far, if a file that holds cells was requested

On several ranks, rank 0 writes the snapshot after the other ranks have written their parts. It has their checksums, and counts
only with all of them, so that parts of different checkpoints are never joined. Any number of ranks resumes from it.

A growth locks the folder.  Checkpoints are atomic writes, flushed to the disk.  The record has a checksum over itself and all
arrays, which is compared before any of them is used, so that damage is detected.  The store has all cells
when a checkpoint is written. Later ones only follow them, and those after the checkpoint from which a growth resumes are removed:
so cells are neither lost nor duplicated.

The states are mapped to memory. Rank 0 reads all of them once, to compare the checksums; an engine then takes the bricks that its
rank owns.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gpu_nim._version import __version__
from gpu_nim.automata.catalogue import Automaton
from gpu_nim.automata.growth_process import Snapshot
from gpu_nim.automata.newborns import require_one_parent
from gpu_nim.automata.user_defined import describe, from_description
from gpu_nim.backends.interface import ALONE, Communicator, State, allgather
from gpu_nim.backends.shared.engines import join
from gpu_nim.model.arguments import argument
from gpu_nim.model.errors import FileError, UsageError, is_shortage
from gpu_nim.model.files import CorruptFile, FileKind, name_of, parse_json, reason
from gpu_nim.model.rule import Rule
from gpu_nim.model.shown import Shown
from gpu_nim.storage.arrays import checksum_of, read_npz
from gpu_nim.storage.atomic import atomic_write, check_writable, writing
from gpu_nim.storage.growth_files import is_store_of_cells
from gpu_nim.storage.growth_formats import GrowthFormat, growth_format, is_output_of

CHECKPOINT = FileKind("gpunim checkpoint", 8, "checkpoint")
_KEPT = 2
_LOCK = ".gpunim-lock"
_NAME, _ANY = "checkpoint-{:010d}", f"checkpoint-{'[0-9]' * 10}"  # generations are below 2^31, and names in their order
_STATE, _MEASURED = "state.", "measured."
_PLAIN = ("generations", "mismatch", "tested", "seconds")  # the fields of a snapshot that JSON holds
_TYPES = {"columns": list, "options": dict, "cells": bool, "parts": list, "generations": int, "tested": int, "seconds": float}
Record = dict[str, Any]
Arrays = Mapping[str, NDArray[Any]]
EVERY = 100  # generations from one checkpoint to the next


@dataclass(frozen=True, repr=False)
class Outputs(Shown):
    """What a growth writes; a checkpoint keeps it for the growth that resumes.

    Attributes:
        out: the file.
        parents: whether the file has each cell's parent.
        every: the number of generations between checkpoints, None for `EVERY`.
        columns: the columns of the table, None for the default.
        named_by: the checkpoint that alone names the file, which then replaces nothing but an output of that growth.
    """

    out: Path | None = None
    parents: bool = False
    every: int | None = None
    columns: Sequence[str] | None = None
    named_by: Snapshot | None = None

    def format(self, rule: Rule, checkpoints: Checkpoints | None = None) -> GrowthFormat:
        """Return the format of the file; UsageError or FileError where it cannot hold the growth, or cannot be written.

        Args:
            rule: that of the growth, by which parents must be known.
            checkpoints: what it must not be the folder of.
        """
        assert self.out is not None
        if checkpoints and _absolute(self.out) in map(_absolute, (checkpoints.folder, checkpoints.cells)):
            raise UsageError(f"{self.out} is where the checkpoints are kept: choose another file, or another folder for them")
        if self.parents:
            require_one_parent(rule)
        found = growth_format(self.out, parents=self.parents)
        found.check(rule.dimension)
        if self.named_by is not None:
            is_ours = partial(is_output_of, births=self.named_by.births, checksums=self.named_by.checksums)
            with writing(self.out, lambda: f"give {argument('out')}"):
                check_writable(self.out, is_ours, named=False)
        return found

    def stored(self, folder: Path) -> Record:
        """Return plain values for a checkpoint in this folder, with the file relative to it."""
        out = None if self.out is None else os.path.relpath(_absolute(self.out), folder.resolve())
        return {"out": out, "parents": self.parents, "every": self.every or EVERY, "columns": self.columns}

    def resumed(self, stored: Record, folder: Path, snapshot: Snapshot) -> Self:
        """Return these, where something is left out as the snapshot's checkpoint in this folder has it (`stored`).

        The file has a name relative to the folder, so that the run and its file may be moved, or copied.
        """
        name, parents, every, columns = (stored.get(each) for each in ("out", "parents", "every", "columns"))
        types = (name, str), (parents, bool), (every, int), (columns, list)
        if not all(value is None or type(value) is kind for value, kind in types) or "\0" in (name or "") or not (every or 1) > 0:
            raise FileError(f"cannot resume from {folder}: the options of its growth were edited or damaged")
        out, named_by, folder = self.out, None, folder.resolve()
        if out is None and name is not None:
            out, named_by = _absolute(folder / name), snapshot
            if not any(out.is_relative_to(parent) for parent in (folder.parent, Path.cwd())):
                where = f"{folder.parent}, where {folder.name} is, and of the current folder"
                raise UsageError(f"this growth was saved to {out}, outside of {where}: give {argument('out')}")
        columns = columns if self.columns is None else self.columns
        return type(self)(out, self.parents or bool(parents), self.every or every, columns, named_by)


def _absolute(path: Path) -> Path:
    """The absolute path; a symbolic link at its end is not resolved, since a file replaces the link."""
    return path.parent.resolve() / path.name


class Checkpoints:
    """A folder of checkpoints: `held` while it is used, with the `latest` one to resume from, and to `save` to from time to time.

    Args:
        folder: the folder; on several machines each of them needs it.
        ranks: the ranks of the growth, which call `latest` and `save` together; by default this process alone.

    Attributes:
        skipped: a sentence for each checkpoint that `latest` found damaged.
        keeps_cells: whether the folder has the cells of the growth that was resumed.
        options: the outputs of the growth that was resumed, as `Outputs.stored` gives them.
    """

    def __init__(self, folder: str | Path, ranks: Communicator = ALONE) -> None:
        self.folder = Path(folder)
        self._ranks = ranks
        self.skipped: list[str] = []
        self.keeps_cells = False
        self.options: dict[str, Any] = {}

    @property
    def cells(self) -> Path:
        """The store of the cells."""
        return self.folder / "cells.zarr"

    @contextmanager
    def held(self, *, new: bool) -> Iterator[None]:
        """Lock the folder, a new one or one to resume from.  FileError where another growth is using it."""
        if new:
            with writing(self.folder):
                self.folder.mkdir(exist_ok=True)
        elif not self._paths():
            raise FileError(f"cannot resume from {self.folder}: it holds no checkpoint")
        else:
            self._refuse_link("resume from")
        from filelock import FileLock, Timeout

        refusal = f"cannot {'checkpoint to' if new else 'resume from'} {self.folder}"
        try:
            lock = FileLock(self.folder / _LOCK).acquire(timeout=0)
        except Timeout:
            raise FileError(f"{refusal}: another growth is using it") from None
        except (OSError, NotImplementedError) as error:  # the latter of an old filelock where a file system has no flock
            raise FileError(f"{refusal}: {getattr(error, 'strerror', '') or error}") from error
        with lock:
            if new:
                self.require_new()  # another growth may have run in between
            yield

    def require_new(self) -> None:
        """Raise UsageError where the folder holds checkpoints, or files of their names, FileError where it cannot be made."""
        if self._paths() or self._parts():
            raise UsageError(f"the folder {self.folder} holds checkpoints of another run: resume it, or choose another folder")
        check_writable(self.cells if self.folder.is_dir() else self.folder, is_store_of_cells)
        self._refuse_link("checkpoint to")

    def _refuse_link(self, what: str) -> None:
        if self.cells.is_symlink():
            raise FileError(f"cannot {what} {self.folder}: {self.cells} is a link to somewhere else")

    def latest(self, automaton: Automaton | None = None) -> Snapshot:
        """Return the newest snapshot that is intact.

        Args:
            automaton: needed where its rule has predicates of your own, which no file can hold.

        Raises:
            FileError: there is none, and the message says what is wrong with the newest; or this rank cannot read what rank 0 can.
        """
        # Rank 0 finds the checkpoint and compares it with its checksums, and all ranks read the same one.
        path, files = allgather(self._ranks, (self.folder, []) if self._ranks.rank else self._newest())[0]
        try:
            return self._snapshot(path, [_read(*file) for file in files], automaton)
        except (CorruptFile, OSError) as error:
            which = f"rank {self._ranks.rank} cannot read {path}, which rank 0 can" if self._ranks.rank else f"cannot read {path}"
            raise FileError(f"{which}: {_why(error)}") from error

    def _newest(self) -> tuple[Path, list[tuple[Path, str]]]:
        """The newest checkpoint that is intact: its file, and that and its parts with their checksums."""
        paths = self._paths()
        if not paths:
            raise FileError(f"cannot resume from {self.folder}: it holds no checkpoint")
        self.skipped = []
        for path in reversed(paths):
            try:
                record, _ = _read(path)
                if wrong := [name for name, kind in _TYPES.items() if type(record.get(name)) is not kind]:
                    raise CorruptFile(f"its record is not that of a growth, by its {wrong[0]}")
                parts = [(_part(path, rank), checksum) for rank, checksum in enumerate(record["parts"], 1)]
                for part, checksum in parts:
                    _check_part(part, checksum)
                return path, [(path, record["checksum"]), *parts]
            except (CorruptFile, OSError) as error:
                if is_shortage(error):
                    raise
                self.skipped.append(f"{path} cannot be used ({_why(error)})")
        raise FileError(f"cannot resume from {self.folder}: {self.skipped[0]}, and no other is intact")

    def save(self, snapshot: Snapshot, outputs: Outputs | None = None, *, cells: bool = False) -> None:
        """Write a checkpoint, and remove those before the last two.

        Args:
            snapshot: the state of the growth.
            outputs: what the growth writes, by default nothing else.
            cells: whether the folder has the cells.

        Raises:
            FileError: it cannot be written; the message says which checkpoint is left.
        """
        rank, checksum = self._ranks.rank, ""
        path = self.folder / f"{_NAME.format(snapshot.generation)}.npz"
        state = {f"{_STATE}{name}": array for name, array in snapshot.state.items()}
        if rank:
            with writing(_part(path, rank), self.left):
                checksum = _write(_part(path, rank), {"rank": rank}, state)
        parts = allgather(self._ranks, checksum)[1:]
        if rank:
            return
        record = {
            "automaton": snapshot.automaton.name,
            "rule": describe(snapshot.automaton.rule),
            "columns": snapshot.columns,
            "options": (outputs or Outputs()).stored(self.folder),
            "cells": cells,
            "parts": parts,
            **{name: getattr(snapshot, name) for name in _PLAIN},
        }
        measured = {f"{_MEASURED}{name}": array for name, array in snapshot.measured.items()}
        arrays = {"births": snapshot.births, "checksums": snapshot.checksums, **state, **measured}
        with writing(path, self.left):
            _write(path, record, arrays)
            kept = [other.stem for other in self._paths() if other <= path][-_KEPT:]
            for file in (*self._paths(), *self._parts()):
                if file.stem.partition("-rank-")[0] not in kept:
                    file.unlink()

    def left(self) -> str:
        """What is left to resume from, as the end of a sentence."""
        whole = [path.name for path in self._paths()]
        return f"{whole[-1]} can still be resumed" if whole else "there is none to resume from yet"

    def _snapshot(self, path: Path, files: list[tuple[Record, Arrays]], automaton: Automaton | None) -> Snapshot:
        """The snapshot in the files of all ranks; CorruptFile where they hold none, UsageError where it is of another growth."""
        record, arrays = files[0]
        try:
            known = automaton or from_description(name_of(record["automaton"]), record["rule"])
            if known is None:
                raise UsageError(
                    f"{path} is of an automaton with predicates of its own: resume it from Python, with that automaton"
                )
            if (known.name, describe(known.rule)) != (record["automaton"], record["rule"]):
                raise UsageError(f"automaton must be the one that is resumed, {record['automaton']}, got {known.name}")
            states = [_named(each, _STATE) for _, each in files]
            state = join(states) if len(states) > 1 else states[0]
            for name in ("births", "checksums"):
                if arrays[name].dtype != np.uint64 or arrays[name].shape != (int(state["generation"]) + 1,):
                    raise CorruptFile("its births are not those of its generations")
            self.keeps_cells, self.options = record["cells"], record["options"]
            return Snapshot(
                automaton=known,
                births=arrays["births"],
                checksums=arrays["checksums"],
                state=state,
                columns=tuple(record["columns"]),
                measured=_named(arrays, _MEASURED),
                **{name: record[name] for name in _PLAIN},
            )
        except (UsageError, CorruptFile):
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise CorruptFile(f"its record is not that of a growth, {reason(error)}") from error

    def _parts(self) -> list[Path]:
        return [*self.folder.glob(f"{_ANY}-rank-[0-9]*.npz")]

    def _paths(self) -> list[Path]:
        if self.folder.is_dir() and not os.access(self.folder, os.R_OK | os.X_OK):
            raise FileError(f"cannot read {self.folder}: Permission denied")
        return sorted(self.folder.glob(f"{_ANY}.npz"))


def _why(error: CorruptFile | OSError) -> object:
    """What is wrong with a file, without its name where the system says it."""
    return getattr(error, "strerror", None) or error


def _part(path: Path, rank: int) -> Path:
    """The file of a rank beside that of a checkpoint."""
    return path.with_name(f"{path.stem}-rank-{rank}.npz")


def _check_part(part: Path, checksum: str) -> None:
    """Raise CorruptFile where the file of a rank other than 0 is missing, damaged, or of another checkpoint."""
    try:
        found = _read(part)[0]["checksum"]
    except (CorruptFile, OSError) as error:
        raise CorruptFile(f"{part.name}: {_why(error)}") from error
    if found != checksum:
        raise CorruptFile(f"{part.name} is of another checkpoint")


def _named(arrays: Arrays, beginning: str) -> State:
    return {name.removeprefix(beginning): array for name, array in arrays.items() if name.startswith(beginning)}


def _write(path: Path, record: Record, arrays: Arrays) -> str:
    """Write a record and arrays with a checksum over both, and return the checksum."""
    record = {**CHECKPOINT.attributes, "version": __version__, **record}
    found = checksum_of(record, arrays)
    with atomic_write(path) as scratch:
        np.savez(scratch, record=np.array(json.dumps({**record, "checksum": found})), **arrays)  # type: ignore[arg-type]
    return found


def _read(path: Path, checksum: str | None = None) -> tuple[Record, Arrays]:
    """Return the record and the arrays of a file, those of a state mapped; CorruptFile or OSError where it is not intact.

    With the checksum that it has been compared with, its contents are not read again.
    """
    arrays = read_npz(path, mapped=_STATE)
    record = parse_json(str(arrays.pop("record", "{}")))
    CHECKPOINT.check(record)
    contents = {name: value for name, value in record.items() if name != "checksum"}
    if record.get("checksum") != (checksum_of(contents, arrays) if checksum is None else checksum):
        raise CorruptFile("its contents do not agree with its checksum")
    return record, arrays
