"""Works of some length, which are killed, doubled and given little memory; and what they made."""

import hashlib
import json
import shutil
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from tests.campaign.runner import Outcome, Run, forked

_PICTURE = "--quality=draft --engine=numpy --resolution=64x48"


@dataclass(frozen=True)
class Work:
    """A command line, what resumes it where another does, and its outputs."""

    line: str
    made: str = ""
    resumed_by: str = ""

    def __str__(self) -> str:
        return self.line

    @property
    def is_resumed(self) -> bool:
        """Whether what is left of it is used by what is begun later."""
        return bool(self.resumed_by) or self.line.startswith("movie")


_COUNTS = (("--piles=7", "t.npy"), ("--piles=5", "t.zarr"), ("--piles=4", "b.txt"))
WORKS = (
    Work(
        "grow edge --gen=110 --checkpoint=c --every=10 --out=g.zarr --voxels=v.zarr --json",
        "g.zarr v.zarr",
        "grow --resume=c --json",
    ),
    Work(
        "grow nim --gen=700 --checkpoint=c --every=50 --columns=births,population --bfile=b048883.txt --json",
        "b048883.txt",
        "grow --resume=c --json",
    ),
    Work("grow fcc --gen=50 --out=g.npz --json", "g.npz"),
    *(Work(line := f"count D {k} --range=0:800000 --out={made} --quiet", made, f"{line} --resume") for k, made in _COUNTS),
    Work("solve chocolate --size=60 --grundy --out=s.npz --json", "s.npz"),
    Work(f"movie nim:7 --seconds=1 --fps=6 --workers=2 {_PICTURE} -o=film.gif --quiet", "film.gif"),
    Work(f"render nim:15 {_PICTURE} -o=p.png", "p.png"),
    Work("export nim:31 -o=m.ply", "m.ply"),
)

# Command lines with a size, and sizes from harmless to impossible.
SIZED = {
    "render nim:{} --resolution=64x48 --quality=draft -o=p.png": "63 1023 8191 1073741823",
    "render nim:7 --resolution={0}x{0} --quality=draft -o=p.png": "64 2048 16384 60000",
    "render nim:7 --resolution={0}x{0} --quality=draft --engine=numpy -o=p.png": "64 2048 16384 60000",
    "render fcc:{} --resolution=64x48 --style=volume --quality=draft -o=p.png": "15 63 255 2000",
    "render edge:{} --resolution=64x48 --engine=numpy --quality=draft -o=p.png": "15 63 511 5000",
    "export nim:{} -o=m.ply": "15 255 2047 65535",
    "export edge:{} -o=m.html": "15 127 1023 20000",
    "export nim:{} --printable -o=m.stl": "15 63 1023 65535",
    "movie nim:7 --resolution={0}x{0} --seconds=0.1 --quality=draft -o=m.gif": "64 8192 30000",
    "grow edge --gen={}": "100 10000 1000000 2^31-1",
    "grow fcc --gen={}": "100 10000 1000000 2^31-1",
    "grow nim --gen={}": "100 200000 2^31-1",
    "grow --offsets=1000000,0,0;0,1000000,0;0,0,1 --gen={}": "5 1000 1000000",
    "grow fcc --gen={} --out=g.npz": "20 5000",
    "grow cubic26 --gen={} --voxels=v.zarr": "20 5000",
    "count D --piles=7 --range=0:{} --json": "1000 10^6",
    "count D --piles=3 --range=0:{} --reduce=histogram --plan": "1000 10^10 10^30",
    "count a --piles={} --at=10^100000": "3 1000",
    "count A048833 --at={}": "100 2^40 2^70",
    "count D --piles=6 --range=0:{} --method=enumerate --plan": "10 10^6 10^30",
    "solve chocolate --size={}": "63 2047 100000 10^12",
    "solve chocolate --size={} --grundy": "20 2047 100000 10^12",
    "solve nim --piles=1 --size={}": "63 10^9 10^18",
    "solve nim --piles={} --size=63": "1 8 1000",
    "solve nim-pass --size={}": "7 10000 10^9",
    "solve wythoff --size={}": "63 100000 10^9",
    "solve kayles --size={}": "63 10^11 10^18",
    "evolution --piles={} --gen=5": "3 60 10^6",
    "evolution --gen={}": "5 10^7 2^64",
}


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
    return outcome.seconds, results(outcome, folder, work)


def results(outcome: Outcome, folder: Path, work: Work) -> object:
    """Return the results of a work: its output without times and paths, and the SHA-256 of what its files hold."""
    said: object = None
    if "--json" in outcome.arguments and outcome.output:
        said = {key: value for key, value in json.loads(outcome.output).items() if key not in ("seconds", "device", "backend")}
    # In a fork: the threads that zarr starts would be missing in what is forked off later.
    read = Run(("read", work.made), folder, partial(_print_contents, work.made)).outcome()
    return said, read.status, read.output, read.errors


def hidden(folder: Path) -> list[str]:
    """Return the names of what a work has left behind."""
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def _print_contents(names: str) -> None:
    for name in names.split():
        print(hashlib.sha256(repr(_content(Path(name))).encode()).hexdigest())


def _content(path: Path) -> object:
    if path.suffix not in (".zarr", ".npz"):
        return path.read_bytes() if path.exists() else None
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
