"""Checkpoints of a long growth: a folder from which it resumes, to the same digest, after any interruption.

    FOLDER/
        checkpoint-0000000400.npz     the snapshot after generation 400: arrays, and `record`, a JSON text
        checkpoint-0000000300.npz     the one before, kept in case the newest is damaged
        checkpoint-0000000400-rank-1.npz   on several ranks: the state of the engine of rank 1; that of rank 0 is in the snapshot
        cells.zarr/                   the cells so far, if a file that holds cells was requested

On several ranks, rank 0 writes the snapshot after the other ranks have written their parts. It has their checksums, and counts
only with all of them, so that parts of different checkpoints are never joined. Any number of ranks resumes from it.

A growth locks the folder.  Checkpoints are atomic writes, flushed to the disk.  The record has a checksum over itself and all
arrays, called its seal there, which is compared before any of them is used, so that damage is detected.  When a checkpoint is
written, the store has all cells in complete chunks, which are never written again, and the checkpoint has the rest.  So cells are
neither lost nor duplicated, from whichever checkpoint a growth resumes.

The states are mapped to memory. Rank 0 reads all of them once, to compare the checksums; an engine then takes the bricks that its
rank owns.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim._version import __version__
from gpu_nim.automata.catalogue import Automaton
from gpu_nim.automata.snapshot import Snapshot
from gpu_nim.automata.user_defined import describe, from_description
from gpu_nim.backends.communicator import ALONE, Communicator, share
from gpu_nim.backends.interface import State
from gpu_nim.backends.shared.states import join
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.files import Damaged, name_of, parse_json, printable
from gpu_nim.storage.array_files import NpzArrays
from gpu_nim.storage.atomic import check_writable, placing, remove_leftovers
from gpu_nim.storage.file_checks import checksum_of, reason, require_room
from gpu_nim.storage.locks import locked
from gpu_nim.storage.zarr_growths import StoreExtent

KIND = "gpunim checkpoint"
PART = "gpunim checkpoint of a rank"
FORMAT = 4
_KEPT = 2
_NAMES = r"checkpoint-[0-9]{10}\.npz"
_PARTS = r"(checkpoint-[0-9]{10})-rank-[0-9]+\.npz"
_STATE, _MEASURED = "state.", "measured."


class _OtherFormat(Damaged):
    """A checkpoint is of another version of gpunim: the message has its format, and the one that this version reads."""


class Checkpoints:
    """A folder of checkpoints.  `begin` a new one or read the `latest`, then `save` from time to time.

    Args:
        folder: the folder; on several machines each of them needs it.
        ranks: the ranks of the growth, which call `latest` and `save` together; by default this process alone.
    """

    def __init__(self, folder: str | Path, ranks: Communicator = ALONE) -> None:
        self.folder = Path(folder)
        self._ranks = ranks
        self.passed_over: list[str] = []
        """A sentence for each checkpoint that `latest` found damaged."""
        self.extent: StoreExtent | None = None
        """The extent of the cells at the checkpoint that was resumed; None where the folder keeps no cells."""
        self.asked: dict[str, Any] = {}
        """The options of the growth, as they were given to `save`."""

    @property
    def cells(self) -> Path:
        """The store of the cells."""
        return self.folder / "cells.zarr"

    @contextmanager
    def held(self, *, new: bool) -> Iterator[None]:
        """Lock a folder for this thread, to `begin` or to resume.  FileError where another growth is using it."""
        if new:
            self.begin()
        elif not self._paths():
            raise FileError(f"cannot resume from {self.folder}: it holds no checkpoint")
        with locked(self.folder / ".gpunim-lock", f"cannot {'checkpoint to' if new else 'resume from'} {self.folder}") as alone:
            if new:
                self.begin()  # another growth may have run in between
            if alone:
                remove_leftovers(self.folder, f"{_NAMES}|{_PARTS}")
            yield

    def require_new(self) -> None:
        """Raise UsageError where the folder already holds checkpoints, FileError where it cannot be made."""
        if self._paths():
            raise UsageError(f"the folder {self.folder} holds checkpoints of another run: resume it, or choose another folder")
        check_writable(self.folder / "x" if self.folder.is_dir() else self.folder)
        if self.cells.is_symlink():
            raise FileError(f"cannot checkpoint to {self.folder}: {self.cells} is a link to somewhere else")

    def begin(self) -> None:
        """Make the folder; UsageError where it already holds checkpoints, FileError where it cannot be written."""
        self.require_new()
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot make {self.folder}: {error.strerror}") from error

    def latest(self, automaton: Automaton | None = None) -> Snapshot:
        """Return the newest snapshot that is intact.

        Args:
            automaton: needed where its rule has predicates of your own, which no file can hold.

        Raises:
            FileError: there is none, and the message says what is wrong with the newest; or this rank cannot read what rank 0 can.
        """
        # Rank 0 finds the checkpoint, and the others read the same one.
        path, checksum, snapshot = (self.folder, "", None) if self._ranks.rank else self._latest(automaton)
        path, checksum = share(self._ranks, (path, checksum))[0]
        if snapshot is not None:
            return snapshot
        try:
            return self._read(path, automaton, checksum)[1]
        except (Damaged, OSError) as error:
            raise FileError(f"rank {self._ranks.rank} cannot read {path}, which rank 0 can: {_why(error)}") from error

    def _latest(self, automaton: Automaton | None) -> tuple[Path, str, Snapshot]:
        paths = self._paths()
        if not paths:
            raise FileError(f"cannot resume from {self.folder}: it holds no checkpoint")
        self.passed_over = []
        for path in reversed(paths):
            try:
                return path, *self._read(path, automaton)
            except _OtherFormat as error:
                self.passed_over.append(f"{path} has format {error}")
            except (Damaged, OSError) as error:
                self.passed_over.append(f"{path} is damaged ({_why(error)})")
        raise FileError(f"cannot resume from {self.folder}: {self.passed_over[0]}, and no other is intact")

    def save(self, snapshot: Snapshot, *, asked: Mapping[str, Any] | None = None, extent: StoreExtent | None = None) -> None:
        """Write a checkpoint, and remove those before the last two.

        Args:
            snapshot: the state of the growth.
            asked: the options of the growth as plain values for JSON; `latest` restores them.
            extent: the extent of the store of cells.

        Raises:
            FileError: it cannot be written; the message says which checkpoint is left.
        """
        path = self.folder / f"checkpoint-{snapshot.generation:010d}.npz"
        record = {
            "kind": KIND,
            "format": FORMAT,
            "version": __version__,
            "automaton": snapshot.automaton.name,
            "rule": describe(snapshot.automaton.rule),
            "generations": snapshot.generations,
            "generation": snapshot.generation,
            "columns": snapshot.columns,
            "mismatch": snapshot.mismatch,
            "tested": snapshot.tested,
            "seconds": snapshot.seconds,
            "asked": dict(asked or {}),
            "written": None if extent is None else extent.written,
        }
        state = {f"{_STATE}{name}": array for name, array in snapshot.state.items()}
        record["parts"] = self._save_part(path, state)
        if self._ranks.rank:
            return
        arrays: dict[str, NDArray[Any]] = {
            "births": snapshot.births,
            "checksums": snapshot.checksums,
            **state,
            **{f"{_MEASURED}{name}": array for name, array in snapshot.measured.items()},
        }
        if extent is not None:
            arrays["waiting"] = extent.waiting
        with self._failures_named(path):
            _write_file(path, record, arrays)
            before = [other for other in self._paths() if other <= path]
            kept = {*before[-_KEPT:]}
            for other in {*self._paths()} - kept:
                other.unlink()
            names = {each.stem for each in kept}
            for part in self.folder.glob("checkpoint-*-rank-*.npz"):
                if (match := re.fullmatch(_PARTS, part.name)) and match[1] not in names:
                    part.unlink()

    @property
    def left(self) -> str:
        """What is left to resume from, as the end of a sentence."""
        whole = [path.name for path in self._paths()]
        return f"{whole[-1]} can still be resumed" if whole else "there is none to resume from yet"

    @contextmanager
    def _failures_named(self, path: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise FileError(f"cannot write the checkpoint {path}: {_why(error)}; {self.left}") from error

    def _save_part(self, path: Path, state: State) -> list[str]:
        """Write the state of this rank, which rank 0 does not, and return the checksums of the parts of all others."""
        rank, checksum = self._ranks.rank, ""
        if rank:
            part = _part(path, rank)
            with self._failures_named(part):
                checksum = _write_file(part, {"kind": PART, "format": FORMAT, "rank": rank}, state)
        return share(self._ranks, checksum)[1:]

    def _read(self, path: Path, automaton: Automaton | None, intact: str | None = None) -> tuple[str, Snapshot]:
        """Return the checksum and the snapshot; Damaged or OSError where it is not intact, UsageError where it is another growth's.

        With `intact`, the checksum that rank 0 has compared with the contents of the checkpoint and of all parts, it is compared
        with that alone.
        """
        record, arrays, checksum = _read_file(path, KIND, intact)
        try:
            return checksum, self._snapshot(path, record, arrays, automaton, compared=intact is not None)
        except UsageError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise Damaged(f"its record is not that of a growth, {reason(error)}") from error

    def _snapshot(
        self, path: Path, record: dict[str, Any], arrays: dict[str, NDArray[Any]], automaton: Automaton | None, *, compared: bool
    ) -> Snapshot:
        known = automaton or from_description(name_of(record["automaton"]), record["rule"])
        if known is None:
            raise UsageError(f"{path} is of an automaton with predicates of its own: resume it from Python, with that automaton")
        if (known.name, describe(known.rule)) != (record["automaton"], record["rule"]):
            raise UsageError(f"automaton must be the one that is resumed, {record['automaton']}, got {known.name}")
        state = _state(arrays)
        if record["parts"]:
            parts = (_read_part(path, rank, checksum, compared=compared) for rank, checksum in enumerate(record["parts"], 1))
            state = join([state, *parts])
        for name in ("births", "checksums"):
            if arrays[name].dtype != np.uint64 or arrays[name].shape != (int(state["generation"]) + 1,):
                raise Damaged("its births are not those of its generations")
        if record["written"] is None:
            self.extent = None
        else:
            self.extent = StoreExtent(int(record["written"]), arrays["waiting"])
        self.asked = record["asked"]
        return Snapshot(
            known,
            int(record["generations"]),
            arrays["births"],
            arrays["checksums"],
            state,
            tuple(record["columns"]),
            {name.removeprefix(_MEASURED): array for name, array in arrays.items() if name.startswith(_MEASURED)},
            record["mismatch"],
            int(record["tested"]),
            float(record["seconds"]),
        )

    def _paths(self) -> list[Path]:
        if self.folder.is_dir() and not os.access(self.folder, os.R_OK | os.X_OK):
            raise FileError(f"cannot read {self.folder}: Permission denied")
        return sorted(path for path in self.folder.glob("checkpoint-*.npz") if re.fullmatch(_NAMES, path.name))


def _why(error: Damaged | OSError) -> object:
    """What is wrong with a file, without its name where the system says it."""
    return getattr(error, "strerror", None) or error


def _part(path: Path, rank: int) -> Path:
    """The file of a rank beside that of a checkpoint."""
    return path.with_name(f"{path.stem}-rank-{rank}.npz")


def _read_part(path: Path, rank: int, checksum: str, *, compared: bool) -> State:
    """Return the state of a rank other than 0; Damaged where it is missing or of another checkpoint."""
    part = _part(path, rank)
    try:
        _, arrays, found = _read_file(part, PART, checksum if compared else None)
    except (Damaged, OSError) as error:
        raise Damaged(f"{part.name}: {_why(error)}") from error
    if found != checksum:
        raise Damaged(f"{part.name} is of another checkpoint")
    return _state(arrays)


def _state(arrays: Mapping[str, NDArray[Any]]) -> State:
    return {name.removeprefix(_STATE): array for name, array in arrays.items() if name.startswith(_STATE)}


def _write_file(path: Path, record: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Write a record and arrays with a checksum over both, and return the checksum."""
    found = checksum_of(record, arrays)
    with placing(path) as scratch:
        np.savez(scratch, record=np.array(json.dumps({**record, "seal": found})), **arrays)  # type: ignore[arg-type]
    return found


def _read_file(path: Path, kind: str, intact: str | None = None) -> tuple[dict[str, Any], dict[str, NDArray[Any]], str]:
    """Return the record, the arrays and the checksum of a file; Damaged or OSError where it is not intact.

    Arrays of a state are mapped. With `intact`, the checksum of a file whose contents were compared with it, they are not read.
    """
    with NpzArrays(path, compressed=False) as members:
        record = parse_json(members.read_text("record"))
        if record.get("kind") != kind:
            raise Damaged("it was not written by gpunim")
        if record.get("format") != FORMAT:
            raise _OtherFormat(f"{printable(repr(record.get('format')), 20)}, this version of gpunim reads {FORMAT}")
        mapped = {name for name in members.declared if name.startswith(_STATE)}
        read = {name: declared for name, declared in members.declared.items() if name not in mapped and name != "record"}
        require_room(path, read)
        arrays = {name: members.read(name) for name in read} | {name: members.mapped(name) for name in mapped}
    checksum = record.pop("seal", None)
    if checksum != (checksum_of(record, arrays) if intact is None else intact):
        raise Damaged("its contents do not agree with its checksum")
    return record, arrays, checksum
