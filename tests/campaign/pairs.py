"""Two concurrent runs with the same output: each finishes or is refused in a sentence, and the file is intact in the end."""

import random
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from tests.campaign import judge, runner
from tests.campaign.case import Case, Fault
from tests.campaign.kills import made


@dataclass(frozen=True)
class Pair:
    """The commands of both, a command to run before, and their outputs."""

    line: tuple[str, ...]
    made: tuple[str, ...]
    before: tuple[str, ...] = ()


_PICTURE = ("--resolution=64x48", "--quality=draft", "--engine=numpy")
_PAIRS = (
    Pair(("grow", "edge", "--gen=60", "--out=g.zarr", "--quiet"), ("g.zarr",)),
    Pair(("grow", "edge", "--gen=60", "--out=g.npz", "--quiet"), ("g.npz",)),
    Pair(
        ("grow", "nim", "--gen=400", "--out=g.csv", "--bfile=b048883.txt", "--columns=births", "--quiet"),
        ("g.csv", "b048883.txt"),
    ),
    Pair(("grow", "edge", "--gen=60", "--checkpoint=c", "--every=5", "--out=g.zarr", "--quiet"), ("g.zarr",)),
    Pair(
        ("grow", "--resume=c", "--quiet"),
        ("g.zarr",),
        ("grow", "edge", "--gen=60", "--checkpoint=c", "--every=25", "--out=g.zarr", "--quiet"),
    ),
    Pair(("count", "D", "--piles=7", "--range=0:800000", "--out=t.npy", "--quiet"), ("t.npy",)),
    Pair(("count", "D", "--piles=7", "--range=0:800000", "--out=t.npy", "--quiet", "--resume"), ("t.npy",)),
    Pair(("count", "D", "--piles=4", "--range=0:800000", "--out=t.zarr", "--quiet"), ("t.zarr",)),
    Pair(("count", "D", "--piles=4", "--range=0:100000", "--out=b.txt", "--quiet"), ("b.txt",)),
    Pair(("solve", "chocolate", "--size=50", "--grundy", "--out=s.zarr"), ("s.zarr",)),
    Pair(("movie", "nim:7", "--seconds=1", "--fps=8", "-o=film.gif", "--quiet", *_PICTURE), ("film.gif",)),
    Pair(("render", "nim:15", "-o=p.png", *_PICTURE), ("p.png",)),
    Pair(("export", "nim:31", "-o=m.ply"), ("m.ply",)),
)


class Pairs:
    """Two concurrent runs, the second a moment after the first."""

    name = "pairs"

    def __init__(self, room: Path) -> None:
        room.mkdir(exist_ok=True)
        self._folder = room / "work"
        self._alone: dict[Pair, tuple[float, object]] = {}

    def case(self, seed: int, index: int) -> Case:
        """Return the case of an index: the pairs in turn, with a delay of its own."""
        pair = _PAIRS[index % len(_PAIRS)]
        return Case(f"pairs {index}", lambda: self._run(random.Random(f"pairs/{seed}/{index}"), pair))

    def _run(self, choose: random.Random, pair: Pair) -> Fault | None:
        if pair not in self._alone:
            self._anew(pair)
            outcome = runner.forked(pair.line, self._folder, memory=None)
            if outcome.status:
                return Fault(outcome, ["alone, it fails"])
            self._alone[pair] = outcome.seconds, made(outcome, self._folder, pair.made)
        seconds, expected = self._alone[pair]
        self._anew(pair)
        delay = choose.choice((0.0, 0.0, choose.uniform(0.0, 0.1), choose.uniform(0.0, 1.0) * seconds))
        outcomes = _at_once(pair.line, self._folder, delay)
        found = [fault for outcome in outcomes for fault in judge.faults(outcome)]
        if all(outcome.status for outcome in outcomes):
            found.append("neither was done")
        if made(outcomes[0], self._folder, pair.made) != expected:
            found.append("another result than alone")
        if hidden := [path.name for path in self._folder.iterdir() if path.name.startswith(".")]:
            found.append(f"left behind: {', '.join(hidden)}")
        worst = max(outcomes, key=lambda outcome: (bool(judge.faults(outcome)), outcome.status or 0))
        return Fault(worst, found, f"the second {delay:.3f} s after the first") if found else None

    def _anew(self, pair: Pair) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        if pair.before:
            outcome = runner.forked(pair.before, self._folder, memory=None)
            if outcome.status:
                raise RuntimeError(f"{outcome.line}: {outcome.errors}")
            for name in pair.made:
                shutil.rmtree(self._folder / name)


def _at_once(line: tuple[str, ...], folder: Path, delay: float) -> list[runner.Outcome]:
    first = runner.Fork(line, folder)
    time.sleep(delay)
    return [fork.outcome(runner.LIMIT) for fork in (first, runner.Fork(line, folder))]
