"""Long work killed at any moment: it can be resumed to the same result, and no process outlives it."""

import hashlib
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.campaign import judge, runner
from tests.campaign.case import Case, Fault

_ENDS = {signal.SIGKILL: 137, signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGHUP: 129}
_PATIENCE = 10.0  # seconds that what was started may take to end after it


@dataclass(frozen=True)
class Work:
    """A command line, how it is resumed (or started over where that is impossible), and its outputs."""

    begin: tuple[str, ...]
    go_on: tuple[str, ...] | None
    made: tuple[str, ...]


_FILM = (
    *(
        "movie",
        "nim:7",
        "--resolution=64x48",
        "--seconds=1",
        "--fps=6",
        "--quality=draft",
        "--workers=2",
        "--engine=numpy",
        "--quiet",
    ),
    "-o=film.gif",
)
_WORKS = (
    Work(
        ("grow", "edge", "--gen=110", "--checkpoint=c", "--every=10", "--out=g.zarr", "--voxels=v.zarr", "--json"),
        ("grow", "--resume=c", "--json"),
        ("g.zarr", "v.zarr"),
    ),
    Work(
        ("grow", "nim", "--gen=700", "--checkpoint=c", "--every=50", "--columns=births,boxes 2", "--bfile=b048883.txt", "--json"),
        ("grow", "--resume=c", "--json"),
        (),
    ),
    Work(("grow", "fcc", "--gen=50", "--out=g.npz", "--json"), None, ("g.npz",)),
    Work(
        ("count", "D", "--piles=7", "--range=0:800000", "--out=t.npy", "--quiet"),
        ("count", "D", "--piles=7", "--range=0:800000", "--out=t.npy", "--quiet", "--resume"),
        ("t.npy",),
    ),
    Work(
        ("count", "D", "--piles=5", "--range=0:800000", "--out=t.zarr", "--quiet"),
        ("count", "D", "--piles=5", "--range=0:800000", "--out=t.zarr", "--quiet", "--resume"),
        ("t.zarr",),
    ),
    Work(_FILM, _FILM, ("film.gif",)),
    Work(("solve", "chocolate", "--size=60", "--grundy", "--out=s.npz", "--json"), None, ("s.npz",)),
)


class Kills:
    """Work that a signal ends at random moments, until it is finished."""

    name = "kills"

    def __init__(self, room: Path) -> None:
        room.mkdir(exist_ok=True)
        self._folder = room / "work"
        self._undisturbed: dict[Work, tuple[float, object]] = {}

    def case(self, seed: int, index: int) -> Case:
        """Return the case of an index: the works in turn, ended by signals at different moments."""
        work = _WORKS[index % len(_WORKS)]
        return Case(f"kills {index}", lambda: self._run(random.Random(f"kills/{seed}/{index}"), work))

    def _run(self, choose: random.Random, work: Work) -> Fault | None:
        if work not in self._undisturbed:
            self._anew()
            outcome = runner.forked(work.begin, self._folder, memory=None)
            if outcome.status:
                return Fault(outcome, ["undisturbed, it fails"])
            self._undisturbed[work] = outcome.seconds, made(outcome, self._folder, work.made)
        seconds, expected = self._undisturbed[work]
        self._anew()
        line, story = work.begin, []
        for _ in range(choose.randint(1, 3)):
            end, after = choose.choice((signal.SIGKILL, signal.SIGKILL, *_ENDS)), choose.uniform(0.0, 1.1) * seconds
            story.append(f"{end.name} after {after:.2f} s")
            outcome, survivors = _ended(line, self._folder, end, after)
            if end == signal.SIGINT and "KeyboardInterrupt" in outcome.errors and "gpu_nim" not in outcome.errors:
                continue  # the interpreter was not up yet
            found = [f"{survivors} processes outlived it"] if survivors else []
            if outcome.status not in (0, _ENDS[end]):
                found.append(f"status {outcome.status} after {end.name}")
            if outcome.status != 0 and end != signal.SIGKILL:
                found += [fault for fault in judge.faults(outcome) if not fault.startswith("status")]
                found += _left_behind(self._folder, work)
            if found:
                return Fault(outcome, found, "; ".join(story))
            if outcome.status == 0:
                break
            line = work.go_on if work.go_on is not None and self._can_go_on(work) else work.begin
        else:
            outcome = runner.forked(line, self._folder, memory=None)
        found = judge.faults(outcome)
        if not found and made(outcome, self._folder, work.made) != expected:
            found.append("another result than undisturbed")
        hidden = [path.name for path in self._folder.iterdir() if path.name.startswith(".")]
        if not found and hidden:
            found.append(f"left behind at the end: {', '.join(hidden)}")
        return Fault(outcome, found, "; ".join(story)) if found else None

    def _anew(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()

    def _can_go_on(self, work: Work) -> bool:
        if "--checkpoint=c" not in work.begin:
            return True
        if any((self._folder / "c").glob("checkpoint-*.npz")):
            return True
        shutil.rmtree(self._folder / "c", ignore_errors=True)  # nothing to go on from: begun anew
        return False


def made(outcome: runner.Outcome, folder: Path, names: tuple[str, ...]) -> object:
    """Return the results of a work: its output without times and paths, and the SHA-256 of what its files hold."""
    said: object = None
    if "--json" in outcome.arguments and outcome.output:
        said = {key: value for key, value in json.loads(outcome.output).items() if key not in ("seconds", "device", "backend")}
    # In a fork: the threads that zarr starts would be missing in what is forked off later.
    read = runner.called(lambda: _print_contents(names), ("read", *names), folder, memory=None)
    return said, read.status, read.output, read.errors


def _print_contents(names: tuple[str, ...]) -> None:
    for name in names:
        print(hashlib.sha256(repr(_content(Path(name))).encode()).hexdigest())


def _content(path: Path) -> object:
    if not path.exists():
        return None
    if path.suffix in (".zarr", ".npz"):
        from gpu_nim import load
        from gpu_nim.model.errors import GpunimError

        try:
            found = load(path)
            return (found.digest, found.cells().tobytes()) if hasattr(found, "cells") else found.p_positions.tobytes()
        except GpunimError as error:
            return _values(path) or str(error)
    return path.read_bytes()


def _values(path: Path) -> bytes | None:
    """The values of a table or voxels, which the library does not read; None where it is not complete."""
    import numpy as np
    import zarr

    try:
        array = zarr.open_array(path, mode="r")
    except Exception:  # zarr and the JSON reader each raise types of their own
        return None
    return np.asarray(array[...]).tobytes()


def _left_behind(folder: Path, work: Work) -> list[str]:
    """The leftovers that Ctrl-C or SIGTERM must not leave: hidden files, except those that the same command resumes."""
    if work.go_on is not None:
        return []
    hidden = [path.name for path in folder.iterdir() if path.name.startswith(".")]
    return [f"left behind: {', '.join(hidden)}"] if hidden else []


def _ended(line: tuple[str, ...], folder: Path, end: signal.Signals, after: float) -> tuple[runner.Outcome, int]:
    """Run a command line, send it a signal after this many seconds, and count the processes that outlive it."""
    with _marked() as family:
        fork = runner.Fork(line, folder)
        if not fork.ends(after):
            os.kill(fork.pid, end)
        fork.ends(_PATIENCE + after)
        until = time.monotonic() + _PATIENCE
        while family() and time.monotonic() < until:
            time.sleep(0.05)
        survivors = family()
        for pid in survivors:
            os.kill(pid, signal.SIGKILL)
        return fork.outcome(0), len(survivors)


@contextmanager
def _marked() -> Iterator["Family"]:
    """Mark the programs that forks start in the block by an environment variable, which their children inherit."""
    family = Family(f"{os.getpid()}-{time.monotonic_ns()}")
    os.environ[Family.VARIABLE] = family.mark
    try:
        yield family
    finally:
        del os.environ[Family.VARIABLE]


class Family:
    """All processes with a mark, except zombies."""

    VARIABLE = "GPUNIM_CAMPAIGN"

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self._entry = f"{self.VARIABLE}={mark}".encode()

    def __call__(self) -> list[int]:
        """Return the processes that are alive."""
        alive = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                state = (place / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z" and self._entry in (place / "environ").read_bytes().split(b"\0"):
                    alive.append(int(place.name))
            except (OSError, IndexError):
                continue
        return alive
