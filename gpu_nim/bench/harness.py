"""Racing contenders fairly.

All contenders of a work run in one process, in turn (A B C A B C ...), after a warm-up each, so that a machine that slows down
slows all of them; the median counts.  Each returns what it found, and a race in which they disagree is no race.
"""

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from gpu_nim.bench.floors import Floor, Rates
from gpu_nim.model.errors import InsufficientMemoryError, VerificationError
from gpu_nim.model.work import OnStep, unreported

# Finds this very package, which need not be installed; what else lies beside it comes after all other modules.
_START = """import sys
sys.path.insert(0, {!r})
from gpu_nim.__main__ import main
sys.path.append(sys.path.pop(0))
main()"""
#: Starts the command line, with no module of the working directory in place of Python's own or a package's.
GPUNIM = (sys.executable, "-P", "-c", _START.format(str(Path(__file__).resolve().parents[2])))


#: The patience with works on the host and on a GPU: seconds of warm runs.
PATIENCE, DEVICE_PATIENCE = 20.0, 1.0


@dataclass(frozen=True)
class Contender:
    """Somebody who can do the work: a name, and a function that does it once and returns its result as one number."""

    name: str
    run: Callable[[], int]


@dataclass(frozen=True)
class Work:
    """What contenders do.

    Attributes:
        name: for people.
        contenders: who does it, gpunim first.
        size: how many births, values, tuples or positions a rate counts; by default the result.
        kernel: how the names of the kernels begin in which a GPU spends its time.
        floor: what the work cannot do without, or a function from the result to it.
        aimed: gpunim's target, a time or rate.
        predicted: the time or rate that was predicted by counting instructions and simulating kernels.
    """

    name: str
    contenders: tuple[Contender, ...]
    size: int | None = None
    kernel: str = ""
    floor: Callable[[int], Floor] | Floor | None = None
    aimed: str = ""
    predicted: str = ""


@dataclass(frozen=True)
class Row:
    """One contender's time for one work.

    Attributes:
        work: the name of the work.
        kernel: as of the work.
        contender: its name.
        result: what it found; None where it could not run.
        seconds: the seconds on the wall of each warm run, or of the first one where that is the only one.
        device: the median of the seconds between CUDA events; None on the host.
        rate: results a second.
        ratio: its median over that of the first contender.
        aimed: as of the work, for gpunim.
        predicted: likewise.
        floor: the least seconds that the device could take.
        bound: by what.
        reached: the floor over the device's time, in percent.
        remark: what there is to say in place of times or of them.
    """

    work: str
    kernel: str
    contender: str
    result: int | None = None
    seconds: tuple[float, ...] = ()
    device: float | None = None
    rate: float | None = None
    ratio: float | None = None
    aimed: str = ""
    predicted: str = ""
    floor: float | None = None
    bound: str = ""
    reached: float | None = None
    remark: str = ""

    @property
    def median(self) -> float:
        """The median of the seconds on the wall."""
        return statistics.median(self.seconds)

    def cells(self) -> list[str]:
        """Return the row as text, a cell for each of `HEADER`."""
        return [written(self) for written in _COLUMNS.values()]


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}" if value < 1000 or value >= 1e6 else f"{value:.0f}"


_COLUMNS: dict[str, Callable[[Row], str]] = {
    "work": lambda row: row.work,
    "kernel": lambda row: row.kernel,
    "contender": lambda row: row.contender,
    "runs": lambda row: str(len(row.seconds) or ""),
    "median s": lambda row: _short(row.median if row.seconds else None),
    "least": lambda row: _short(min(row.seconds, default=None)),
    "most": lambda row: _short(max(row.seconds, default=None)),
    "device s": lambda row: _short(row.device),
    "results/s": lambda row: _short(row.rate),
    "ratio to first": lambda row: "" if row.ratio is None else f"{row.ratio:.2f}",
    "target": lambda row: row.aimed,
    "predicted": lambda row: row.predicted,
    "floor s": lambda row: _short(row.floor),
    "floor by": lambda row: row.bound,
    "% of floor": lambda row: "" if row.reached is None else f"{row.reached:.1f}",
    "remark": lambda row: row.remark,
}
HEADER = tuple(_COLUMNS)


class Clock:
    """Times work on the wall and, given CuPy, between two events on its current stream.

    The time between events is the device's: it includes the kernels and the gaps in which the device waits for the host.

    Args:
        xp: CuPy; None for the host alone.
    """

    def __init__(self, xp: Any = None) -> None:
        self._cuda = None if xp is None else xp.cuda

    def time(self, name: str, work: Callable[[], int]) -> tuple[int, float, float | None]:
        """Do the work once and return its result, the seconds on the wall, and those of the device, if there is one.

        Args:
            name: the name that a profiler shows.
            work: the work.
        """
        if self._cuda is None:
            began = time.perf_counter()
            return work(), time.perf_counter() - began, None
        before, after = self._cuda.Event(), self._cuda.Event()
        self._cuda.get_current_stream().synchronize()
        with self._named(name):
            began = time.perf_counter()
            before.record()
            result = work()
            after.record()
            after.synchronize()
            wall = time.perf_counter() - began
        return result, wall, self._cuda.get_elapsed_time(before, after) / 1000

    @contextmanager
    def _named(self, name: str) -> Iterator[None]:
        """Inside, the profiler shows the work under this name, as an NVTX range where CuPy has them."""
        nvtx = getattr(self._cuda, "nvtx", None)
        if nvtx is None or not getattr(nvtx, "available", True):
            yield
            return
        nvtx.RangePush(name)
        try:
            yield
        finally:
            nvtx.RangePop()


def race(
    work: Work,
    runs: int,
    clock: Clock | None = None,
    rates: Rates | None = None,
    *,
    patience: float = inf,
    on_step: OnStep = unreported,
) -> list[Row]:
    """Return a row for each contender, with the times of its warm runs.

    One who needs more memory than is free, or a package that is not installed, does not run, and its row says so.

    Args:
        work: what the contenders do.
        runs: the most warm runs of each.
        clock: what measures them.
        rates: what the machine does at best, if floors are asked for.
        patience: the seconds of warm runs after which a contender has no further one; a first run three times as long is the only
            one.
        on_step: called with the work, the number of runs done, warm and cold, and of all runs.

    Raises:
        VerificationError: the contenders' results differ.

    >>> works = Work("two", (Contender("sum", lambda: 1 + 1), Contender("product", lambda: 2 * 1)))
    >>> [(row.contender, row.result, len(row.seconds)) for row in race(works, runs=2)]
    [('sum', 2, 2), ('product', 2, 2)]
    """
    clock, total = clock or Clock(), len(work.contenders) * (runs + 1)
    times: dict[str, list[tuple[int, float, float | None]]] = {contender.name: [] for contender in work.contenders}
    remarks: dict[str, str] = {}
    for turn in range(runs + 1):  # the first one warms up
        for number, contender in enumerate(work.contenders):
            on_step(work.name, turn * len(work.contenders) + number, total)
            walls = [wall for _, wall, _ in times[contender.name]]
            if contender.name in remarks or sum(walls[1:]) >= patience or sum(walls[:1]) >= 3 * patience:
                continue
            try:
                times[contender.name].append(clock.time(f"{work.name}: {contender.name}", contender.run))
            except InsufficientMemoryError as refusal:
                remarks[contender.name] = f"not run: {refusal}"
            except ImportError as error:
                remarks[contender.name] = f"not run: {f'{error.name} is not installed' if error.name else error}"
        if turn == 0 and len({result for found in times.values() for result, *_ in found}) > 1:
            found = ", ".join(f"{name} {done[0][0]}" for name, done in times.items() if done)
            raise VerificationError(f"{work.name}: the contenders disagree ({found})")
    rows: list[Row] = []
    for name, done in times.items():
        rows.append(_row(work, name, done, rates, rows) if done else Row(work.name, work.kernel, name, remark=remarks[name]))
    return rows


def _row(work: Work, name: str, done: list[tuple[int, float, float | None]], rates: Rates | None, before: list[Row]) -> Row:
    """The row of a contender who ran, after those of the ones before."""
    result, counted = done[0][0], done[1:] or done
    walls = tuple(wall for _, wall, _ in counted)
    wall, on_device = statistics.median(walls), [seconds for *_, seconds in counted if seconds is not None]
    device = statistics.median(on_device) if on_device else None
    least = work.floor(result) if callable(work.floor) else work.floor
    floor, bound = (None, "") if least is None or rates is None else least.seconds(rates)
    return Row(
        work=work.name,
        kernel=work.kernel,
        contender=name,
        result=result,
        seconds=walls,
        device=device,
        rate=(work.size or result) / wall,
        ratio=wall / next((row.median for row in before if row.seconds), wall),
        aimed="" if before else work.aimed,
        predicted="" if before else work.predicted,
        floor=floor,
        bound=bound,
        reached=100 * floor / device if floor is not None and device else None,
        remark="" if done[1:] else "one run, compiling included",
    )
