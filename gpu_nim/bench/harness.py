"""Times of contenders that do the same work, beside what the machine could do at best.

All contenders of a work run in one process, in turn (A B C A B C ...), after a warm-up each, so that a machine that slows down
slows all of them; the median counts.  Each returns what it found, and results that differ are an error.

A floor is a bound from below: the bytes and operations that the algorithm cannot do without, over the rates of the machine.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from gpu_nim.model.errors import InsufficientMemoryError, VerificationError
from gpu_nim.model.work import OnStep, no_progress

#: Seconds of warm runs of works on the host and on a GPU, after which a contender has no further run.
TIMEOUT, DEVICE_TIMEOUT = 20.0, 1.0

#: From one kernel to the next that depends on it: of the 2 to 3 microseconds that are predicted, the fewer.
LAUNCH_SECONDS = 2e-6

_HOST_BYTES, _DEVICE_BYTES = 1 << 28, 1 << 30  # well beyond every cache, quick to write
_LANES = 64  # 32-bit integer operations that a multiprocessor ends in a cycle, from sm_75 to sm_100


@dataclass(frozen=True)
class Rates:
    """What a machine does in a second: bytes filled and copied (read and written), and a GPU's 32-bit operations by its clock."""

    fill: float
    copy: float
    operations: float | None


@dataclass(frozen=True)
class Floor:
    """What a work cannot do without: bytes written alone, bytes read or written, 32-bit operations, launches one after another."""

    filled: float = 0.0
    copied: float = 0.0
    operations: float = 0.0
    launches: float = 0.0

    def seconds(self, rates: Rates) -> tuple[float, str]:
        """Return the least time that the work takes, and what bounds it.

        >>> Floor(copied=4e9, launches=1000).seconds(Rates(fill=4e12, copy=4e12, operations=None))
        (0.002, 'launches')
        """
        times = {
            "bytes filled": self.filled / rates.fill,
            "bytes copied": self.copied / rates.copy,
            "operations": self.operations / rates.operations if rates.operations else 0.0,
            "launches": self.launches * LAUNCH_SECONDS,
        }
        by = max(times, key=lambda name: times[name])
        return times[by], by


def measured_rates(xp: Any = np, runs: int = 5) -> Rates:
    """Measure the bandwidth of main memory, or of the current device of CuPy: the best of some runs, on warm pages.

    The device's operations follow from its multiprocessors and its highest clock.

    Args:
        xp: NumPy or CuPy.
        runs: how many.
    """
    on_device = xp is not np
    target = xp.ones((_DEVICE_BYTES if on_device else _HOST_BYTES) // 8, np.uint64)
    source = xp.ones_like(target)

    def fill() -> None:
        if on_device:
            target.data.memset_async(0, target.nbytes)
        else:
            target.fill(1)

    def best(action: Callable[[], object]) -> float:
        taken = []
        for _ in range(runs + 1):  # the first one warms up
            began = time.perf_counter()
            action()
            if on_device:
                xp.cuda.get_current_stream().synchronize()
            taken.append(time.perf_counter() - began)
        return min(taken[1:])

    operations = None
    if on_device and (kilohertz := (attributes := xp.cuda.Device().attributes).get("ClockRate")):
        operations = kilohertz * 1e3 * _LANES * attributes["MultiProcessorCount"]
    return Rates(target.nbytes / best(fill), 2 * target.nbytes / best(lambda: xp.copyto(target, source)), operations)


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
    """

    name: str
    contenders: tuple[Contender, ...]
    size: int | None = None
    kernel: str = ""
    floor: Callable[[int], Floor] | Floor | None = None
    aimed: str = ""


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
    "floor s": lambda row: _short(row.floor),
    "floor by": lambda row: row.bound,
    "% of floor": lambda row: "" if row.reached is None else f"{row.reached:.1f}",
    "remark": lambda row: row.remark,
}
HEADER = tuple(_COLUMNS)


def _timed(run: Callable[[], int], cupy: Any) -> tuple[int, float, float | None]:
    """Return the result of a run, its seconds on the wall and, given CuPy, those between two events on its current stream.

    The time between events is the device's: it includes the kernels and the gaps in which the device waits for the host.
    """
    if cupy is None:
        began = time.perf_counter()
        return run(), time.perf_counter() - began, None
    before, after = cupy.cuda.Event(), cupy.cuda.Event()
    cupy.cuda.get_current_stream().synchronize()
    began = time.perf_counter()
    before.record()
    result = run()
    after.record()
    after.synchronize()
    wall = time.perf_counter() - began
    return result, wall, cupy.cuda.get_elapsed_time(before, after) / 1000


def compare(
    work: Work,
    runs: int,
    cupy: Any = None,
    rates: Rates | None = None,
    *,
    timeout: float = inf,
    progress: OnStep = no_progress,
) -> list[Row]:
    """Return a row for each contender, with the times of its warm runs.

    One who needs more memory than is free, or a package that is not installed, does not run, and its row says so.

    Args:
        work: what the contenders do.
        runs: the most warm runs of each.
        cupy: CuPy, to measure the times of the device; None for the host alone.
        rates: what the machine does at best, if floors are wanted.
        timeout: the seconds of warm runs after which a contender has no further one; a first run three times as long is the only
            one.
        progress: called with the work, the number of runs done, warm and cold, and of all runs.

    Raises:
        VerificationError: the contenders' results differ.

    >>> works = Work("two", (Contender("sum", lambda: 1 + 1), Contender("product", lambda: 2 * 1)))
    >>> [(row.contender, row.result, len(row.seconds)) for row in compare(works, runs=2)]
    [('sum', 2, 2), ('product', 2, 2)]
    """
    total = len(work.contenders) * (runs + 1)
    times: dict[str, list[tuple[int, float, float | None]]] = {contender.name: [] for contender in work.contenders}
    remarks: dict[str, str] = {}
    for turn in range(runs + 1):  # the first one warms up
        for number, contender in enumerate(work.contenders):
            progress(work.name, turn * len(work.contenders) + number, total)
            walls = [wall for _, wall, _ in times[contender.name]]
            if contender.name in remarks or sum(walls[1:]) >= timeout or sum(walls[:1]) >= 3 * timeout:
                continue
            try:
                times[contender.name].append(_timed(contender.run, cupy))
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
        floor=floor,
        bound=bound,
        reached=100 * floor / device if floor is not None and device else None,
        remark="" if done[1:] else "one run, compiling included",
    )
