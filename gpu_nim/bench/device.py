"""Timing the works on a GPU: a row for each contender, with wall time and device time apart, and how near the floor it comes."""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from gpu_nim.backends.cuda.launcher import CupyLauncher, Launcher
from gpu_nim.backends.interface import Backend
from gpu_nim.backends.selection import select
from gpu_nim.bench.device_works import Work
from gpu_nim.bench.floors import Floor, Rates, measured_rates
from gpu_nim.bench.peers import DENSE_CUBE, dense_cube_sources
from gpu_nim.model.errors import InsufficientMemoryError, VerificationError

OURS = "gpunim"
_LONG = 3.0  # seconds: a first run of so many, compiling included, is not repeated
_ENOUGH = 1.0  # seconds of warm runs, after which no further one begins


@dataclass(frozen=True)
class Row:
    """One contender's time for one work: seconds on the wall and between CUDA events, medians of the warm runs.

    `aimed` and `predicted` are texts; `floor` is in seconds, by what `bound` says, and `reached` is the floor over the device's
    time in percent.  `remark` says what there is to say in place of times or of them.
    """

    work: str
    kernel: str
    contender: str
    runs: int = 0
    wall: float | None = None
    device: float | None = None
    rate: float | None = None
    aimed: str = ""
    predicted: str = ""
    floor: float | None = None
    bound: str = ""
    reached: float | None = None
    remark: str = ""

    def cells(self) -> list[str]:
        """Return the row as text, a cell for each of `HEADER`."""
        return [_text(name, value) for name, value in asdict(self).items()]


HEADER = (
    *("work", "kernel", "contender", "runs", "wall s", "device s", "results/s", "target", "predicted"),
    *("floor s", "floor by", "% of floor", "remark"),
)


class DeviceClock:
    """Times work on the current stream of CuPy, `xp`.

    The time between two events on the stream is the device's: it includes the kernels and the gaps in which the device waits for
    the host.
    """

    def __init__(self, xp: Any) -> None:
        self._cuda = xp.cuda

    def time(self, work: Callable[[], int]) -> tuple[int, float, float]:
        """Do the work once and return its result, the seconds on the wall, and those between events before and after it."""
        before, after = self._cuda.Event(), self._cuda.Event()
        self._cuda.get_current_stream().synchronize()
        began = time.perf_counter()
        before.record()
        result = work()
        after.record()
        after.synchronize()
        return result, time.perf_counter() - began, self._cuda.get_elapsed_time(before, after) / 1000

    @contextmanager
    def named(self, name: str) -> Iterator[None]:
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


@dataclass(frozen=True)
class Device:
    """What the works are timed on: the CUDA backend, a launcher for `dense_cube.cu`, a clock, and what the device does at best."""

    cuda: Backend
    naive: Launcher
    clock: DeviceClock
    rates: Rates


def open_device() -> Device:
    """Open the current CUDA device and measure its rates.

    Raises:
        BackendError: CUDA cannot run here.
    """
    cuda = select("cuda")
    naive = CupyLauncher(DENSE_CUBE, dense_cube_sources())
    return Device(cuda, naive, DeviceClock(naive.xp), measured_rates(naive.xp))


def rows(work: Work, device: Device, runs: int) -> Iterator[Row]:
    """Time gpunim and its rivals at a work, up to `runs` warm runs of each after one that compiles.

    Raises:
        VerificationError: a rival's result is another one.
    """
    found: int | None = None
    for name, do in ((OURS, work.ours), *((rival.name, rival.run) for rival in work.rivals)):
        try:
            with device.clock.named(f"{work.name}: {name}"):
                result, walls, between = _timed(do, device.clock, runs)
        except InsufficientMemoryError as refusal:
            yield Row(work.name, work.kernel, name, remark=f"not run: {refusal}")
            continue
        except ImportError as error:
            yield Row(work.name, work.kernel, name, remark=f"not run: {error.name or error} is not installed")
            continue
        if found is not None and result != found:
            raise VerificationError(f"{work.name}: the contenders disagree ({OURS} {found}, {name} {result})")
        found = result if name == OURS else found
        wall, seconds = statistics.median(walls), statistics.median(between)
        floor, bound = (work.floor if isinstance(work.floor, Floor) else work.floor(result)).seconds(device.rates)
        cold = "one run, compiling included" if len(walls) == 1 else ""
        yield Row(
            *(work.name, work.kernel, name, len(walls), wall, seconds, (work.size or result) / wall),
            *((work.aimed, work.predicted) if name == OURS else ("", "")),
            *(floor, bound, 100 * floor / seconds if seconds else None, cold),
        )


def _timed(do: Callable[[], int], clock: DeviceClock, runs: int) -> tuple[int, list[float], list[float]]:
    """Do it once, and again as often as there is time for; the first run counts if it is the only one."""
    result, wall, device = clock.time(do)
    walls, devices = [wall], [device]
    while wall < _LONG and len(walls) <= runs and sum(walls[1:]) < _ENOUGH:
        result, again, on_device = clock.time(do)
        walls.append(again)
        devices.append(on_device)
    return result, walls[1:] or walls, devices[1:] or devices


def _text(name: str, value: Any) -> str:
    if value is None or value == "" or (name == "runs" and value == 0):
        return ""
    if name in ("wall", "device", "floor"):
        return f"{value:.3g}" if value < 1000 else f"{value:.0f}"
    if name == "rate":
        return f"{value:.3g}"
    return f"{value:.1f}" if name == "reached" else str(value)
