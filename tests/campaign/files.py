"""Damaged files: each kind that gpunim reads, damaged in one place, is refused in a sentence or gives the intact file's result."""

import hashlib
import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaign import judge, runner
from tests.campaign.case import Case, Fault
from tests.damage import damaged

_LIMIT = 20.0
_MEMORY = 3 << 30  # far more than these small files need
_WASTE = 500 << 20  # resident bytes above those of the warm process that a small file must not cost

Reader = Callable[[Path], runner.Outcome]


@dataclass(frozen=True)
class Specimen:
    """A kind of file: the intact one, how it is read, and which part of the result has to be the same."""

    whole: Path
    read: Reader
    essence: Callable[[runner.Outcome, Path], object]


class Files:
    """Damaged copies of each kind of file, each with one fault."""

    name = "files"

    def __init__(self, room: Path) -> None:
        room.mkdir(exist_ok=True)
        self._copy = room / "copy"
        self._specimens = [specimen for specimen in _specimens(room / "whole") if specimen is not None]
        self._expected: dict[int, object] = {}

    def case(self, seed: int, index: int) -> Case:
        """Return the case of an index: the kinds in turn, each each with another damage."""
        return Case(f"files {index}", lambda: self._run(random.Random(f"files/{seed}/{index}"), index % len(self._specimens)))

    def _run(self, choose: random.Random, which: int) -> Fault | None:
        specimen = self._specimens[which]
        if which not in self._expected:
            outcome, essence = self._read(specimen)
            if outcome.status:
                return Fault(outcome, ["the whole file is refused"], specimen.whole.name)
            self._expected[which] = essence
        self._lay(specimen)
        # What is read lies under its own name, beside nothing else.
        situation = f"{specimen.whole.name}: {damaged(choose, self._copy / specimen.whole.name)}"
        outcome = specimen.read(self._copy / specimen.whole.name)
        found = judge.faults(outcome)
        if outcome.status == 0 and specimen.essence(outcome, self._copy) != self._expected[which]:
            found.append("accepted, with another result")
        for line in outcome.output.splitlines():
            if line.startswith("peak ") and int(line[5:]) > _WASTE:
                found.append(f"a small file cost {int(line[5:]) >> 20} MB")
        return Fault(outcome, found, situation) if found else None

    def _lay(self, specimen: Specimen) -> None:
        if self._copy.exists():
            _force_removed(self._copy)
        self._copy.mkdir()
        if specimen.whole.is_dir():
            shutil.copytree(specimen.whole, self._copy / specimen.whole.name)
        else:
            shutil.copy(specimen.whole, self._copy)
        beside = specimen.whole.with_name(specimen.whole.name + ".beside")
        if beside.exists():
            shutil.copytree(beside, self._copy, dirs_exist_ok=True)

    def _read(self, specimen: Specimen) -> tuple[runner.Outcome, object]:
        self._lay(specimen)
        outcome = specimen.read(self._copy / specimen.whole.name)
        return outcome, specimen.essence(outcome, self._copy)


def _force_removed(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(folder)


# What is read, and how.


def _specimens(folder: Path) -> list[Specimen | None]:
    folder.mkdir(parents=True)
    # Made in a process of its own: the threads that zarr starts would be missing in what is forked off later.
    outcome = runner.called(_make, ("make",), folder)
    if outcome.status:
        raise RuntimeError(outcome.errors)
    growths = [Specimen(folder / name, read, _printed) for name in ("edge.zarr", "nim.npz") for read in (_loaded, _verified)]
    games = [Specimen(folder / name, _loaded, _printed) for name in ("chocolate.zarr", "chocolate.npz")]
    return [*growths, *games, *_checkpoints(folder), _table(folder), _movie(folder), _bfile(folder)]


def _make() -> None:
    from gpu_nim import grow, save, solve
    from gpu_nim.games.inequality import chocolate

    save(grow("edge", 20), "edge.zarr", parents=True)
    save(grow("nim", 21), "nim.npz")
    for name in ("chocolate.zarr", "chocolate.npz"):
        save(solve(chocolate(3), 12, grundy=True), name)


def _checkpoints(folder: Path) -> list[Specimen]:
    specimens = []
    for name, line in (
        ("edge.checkpoints", ("grow", "edge", "--gen", "24", "--every", "7")),
        (
            "nim.checkpoints",
            ("grow", "nim", "--gen", "40", "--every", "15", "--out", "cells.zarr", "--columns", "births,section z=0"),
        ),
    ):
        outcome = runner.forked((*line, "--checkpoint", name, "--quiet"), folder)
        if outcome.status:
            raise RuntimeError(f"{outcome.line}: {outcome.errors}")
        specimens.append(Specimen(folder / name, _resumed, _growth_of))
    return specimens


def _table(folder: Path) -> Specimen:
    """An interrupted table, with all files beside it."""
    line = ("count", "D", "--piles", "7", "--range", "0:800000", "--out", "table.npy", "--quiet")
    _kill_when(lambda work: any(work.rglob("job.json")), line, folder)
    return Specimen(folder / "table.npy", lambda path: _continued(path, line), _bytes_of)


def _movie(folder: Path) -> Specimen | None:
    line = (
        *("movie", "nim:7", "--resolution=64x48", "--seconds=1", "--fps=10", "--engine=numpy", "--workers=1", "--quality=draft"),
        *("--quiet", "-o", "film.gif"),
    )
    if not _kill_when(lambda work: len([*work.rglob("*.png")]) >= 5, line, folder):
        return None  # it could not be made here: no ffmpeg
    return Specimen(folder / "film.gif", lambda path: _continued(path, line), _bytes_of)


def _kill_when(ripe: Callable[[Path], bool], line: tuple[str, ...], folder: Path) -> bool:
    """Kill a command once what it leaves is ripe, and keep that for `Files`; return whether it had not ended before."""
    path = folder / next(word for word in line if word in ("table.npy", "film.gif"))
    path.write_bytes(b"")  # damage goes to what lies beside
    work = path.with_name(f"{path.name}.beside")
    work.mkdir()
    fork = runner.Fork(line, work)
    while not fork.ends(0.01) and not ripe(work):
        pass
    return fork.outcome(0).status is None


def _bfile(folder: Path) -> Specimen:
    outcome = runner.forked(("count", "D", "--piles", "4", "--range", "0:200", "--out", "b.txt"), folder)
    if outcome.status:
        raise RuntimeError(f"{outcome.line}: {outcome.errors}")
    line = ("verify", "b.txt", "--as", "D", "--piles", "4")
    # Whoever edits a number has made another b-file: only what the terms come to may differ, and that is a status of 1.
    return Specimen(folder / "b.txt", lambda path: runner.forked(line, path.parent, limit=_LIMIT, memory=_MEMORY), lambda *_: None)


def _loaded(path: Path) -> runner.Outcome:
    return runner.called(lambda: _load(path), ("load", path.name), path.parent, limit=_LIMIT, memory=_MEMORY)


def _load(path: Path) -> None:
    """Print all contents of a file, as a program that uses the library would read it."""
    import resource
    import sys

    from gpu_nim import load
    from gpu_nim.model.errors import GpunimError

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        found: Any = load(path)
        if hasattr(found, "summary"):
            print(json.dumps(found.summary(), sort_keys=True))
        if hasattr(found, "cells"):
            cells = np.asarray(found.cells(), np.int64)
            print(cells.shape, hashlib.sha256(cells.tobytes()).hexdigest(), found.rule, found.symmetry)
        else:
            print(repr(found), hashlib.sha256(np.asarray(found.p_positions, np.int64).tobytes()).hexdigest(), found.grundy is None)
    except GpunimError as error:
        print(f"gpunim: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
    finally:
        print("peak", (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)


def _verified(path: Path) -> runner.Outcome:
    return runner.forked(("verify", path.name, "--json"), path.parent, limit=_LIMIT, memory=_MEMORY)


def _resumed(path: Path) -> runner.Outcome:
    return runner.forked(("grow", "--resume", path.name, "--json"), path.parent, limit=_LIMIT, memory=_MEMORY)


def _continued(path: Path, line: tuple[str, ...]) -> runner.Outcome:
    path.unlink(missing_ok=True)
    resume = () if line[0] == "movie" else ("--resume",)
    return runner.forked((*line, *resume), path.parent, limit=_LIMIT, memory=_MEMORY)


def _printed(outcome: runner.Outcome, _: Path) -> object:
    return "\n".join(line for line in outcome.output.splitlines() if not line.startswith("peak "))


def _growth_of(outcome: runner.Outcome, folder: Path) -> object:
    if outcome.status:
        return None
    said = json.loads(outcome.output)
    cells = folder / "cells.zarr"
    if cells.exists():
        said["cells"] = _printed(_loaded(cells), folder)
        shutil.rmtree(cells)
    return {key: value for key, value in said.items() if key not in ("seconds", "device", "backend")}


def _bytes_of(outcome: runner.Outcome, folder: Path) -> object:
    made = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in made]
