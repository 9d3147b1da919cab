"""Works of some length, which are killed, doubled and given little memory; and what they made."""

import hashlib
import json
import re
import shutil
import tomllib
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from gpu_nim.storage.tables import TABLE_FORMATS
from tests.campaign.runner import Outcome, Run, forked


@dataclass(frozen=True)
class Work:
    """A command line, what resumes it where another does, and its outputs."""

    line: str
    made: str = ""
    resumed_by: str = ""

    def __str__(self) -> str:
        return self.line


_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
WORKS = [Work(**work) for work in _DATA["works"]]


def anew(folder: Path) -> None:
    """Empty the folder of a work."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()


@cache
def alone(work: Work, folder: Path) -> tuple[float, object]:
    """Do a work undisturbed, in a folder of its own, and return the seconds that it took and its results."""
    anew(folder)
    outcome = forked(work.line.split(), folder, memory=None)
    assert outcome.status == 0, outcome
    return outcome.seconds, results(outcome, folder, work.made)


def results(outcome: Outcome, folder: Path, made: str) -> object:
    """Return the results of a work: its output without times, and the SHA-256 of what its files hold."""
    said: object = re.sub(r"[0-9.]+ (?=s\b|seconds)", "", outcome.output)
    if "--json" in outcome.arguments and outcome.output:
        said = {key: value for key, value in json.loads(outcome.output).items() if key not in ("seconds", "device", "backend")}
    # In a fork: the threads that zarr starts would be missing in what is forked off later.
    read = Run(("read", made), folder, partial(_print_contents, made)).outcome()
    return said, read.status, read.output, read.errors


def hidden(folder: Path) -> list[str]:
    """Return the names of what a work has left behind; the lock of a folder of checkpoints stays."""
    return [path.name for path in folder.rglob(".*") if path.name != ".gpunim-lock"]


def _print_contents(names: str) -> None:
    for path in sorted(path for name in names.split() for path in Path().glob(name)):
        print(path.name, hashlib.sha256(repr(_content(path)).encode()).hexdigest())


def _content(path: Path) -> object:
    if path.suffix == ".json":  # which also says how long it took
        return TABLE_FORMATS[path.suffix].read(path, None)
    if path.suffix not in (".zarr", ".npz"):
        return path.read_bytes() if path.is_file() else sorted(other.name for other in path.iterdir())
    import numpy as np
    import zarr

    from gpu_nim import load
    from gpu_nim.model.errors import GpunimError

    try:
        found = load(path)
    except GpunimError:
        try:  # a table or voxels, which the library does not read
            return np.asarray(zarr.open_array(path, mode="r")[...]).tobytes()
        except Exception as error:  # zarr and the JSON reader each raise types of their own
            return str(error)
    return (found.digest, found.cells().tobytes()) if hasattr(found, "cells") else found.p_positions.tobytes()
