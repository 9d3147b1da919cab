"""Racing contenders fairly.

All contenders of a work run in one process, in turn (A B C A B C ...), after a warm-up each, so that a machine that slows down
slows all of them; the median counts.  Each returns what it found, and a race in which they disagree is no race.  The ceiling is
measured in the same process: how fast memory is filled and copied there.
"""

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_nim.model.errors import VerificationError
from gpu_nim.model.work import OnStep, unreported

GPUNIM = (sys.executable, "-P", "-m", "gpu_nim")
"""Starts the command line, with no module of the working directory in place of Python's own or a package's."""

_CEILING_BYTES = 1 << 28  # well beyond every cache of a processor, quick to write


@dataclass(frozen=True)
class Contender:
    """Somebody who can do the work: a name, and a function that does it once and returns its result as one number."""

    name: str
    run: Callable[[], int]


@dataclass(frozen=True)
class Timing:
    """How long a contender took: the seconds of its warm runs."""

    work: str
    name: str
    seconds: tuple[float, ...]
    result: int

    @property
    def median(self) -> float:
        """The median of the warm runs, in seconds."""
        return statistics.median(self.seconds)

    def cells(self, first: "Timing") -> tuple[str, ...]:
        """Return the row of a table, with the ratio to another one's median.

        Args:
            first: the other one.
        """
        times = (self.median, min(self.seconds), max(self.seconds))
        rates = (self.result / self.median / 1e6, self.median / first.median)
        return self.work, self.name, *(f"{time:.4f}" for time in times), *(f"{rate:,.2f}" for rate in rates)


def race(work: str, contenders: Sequence[Contender], runs: int, on_step: OnStep = unreported) -> list[Timing]:
    """Return each contender's timing over `runs` warm runs in turn; VerificationError where their results differ.

    Args:
        work: what the contenders do, in words.
        contenders: the contenders.
        runs: the number of warm runs of each.
        on_step: called with the work, the number of runs done, warm and cold, and of all runs.

    >>> [t.result for t in race("two", [Contender("sum", lambda: 1 + 1), Contender("product", lambda: 2 * 1)], runs=2)]
    [2, 2]
    """
    total = len(contenders) * (runs + 1)
    results = []
    for done, contender in enumerate(contenders):  # the warm-up
        on_step(work, done, total)
        results.append(contender.run())
    if len(set(results)) > 1:
        found = ", ".join(f"{c.name} {r}" for c, r in zip(contenders, results, strict=True))
        raise VerificationError(f"{work}: the contenders disagree ({found})")
    seconds: list[list[float]] = [[] for _ in contenders]
    for turn in range(1, runs + 1):
        for number, (taken, contender) in enumerate(zip(seconds, contenders, strict=True)):
            on_step(work, turn * len(contenders) + number, total)
            began = time.perf_counter()
            contender.run()
            taken.append(time.perf_counter() - began)
    return [Timing(work, c.name, tuple(s), r) for c, s, r in zip(contenders, seconds, results, strict=True)]


def host_ceiling(runs: int = 5) -> dict[str, float]:
    """Return the bytes a second that NumPy fills, and copies (read and written), on warm pages of main memory: the best run."""
    target = np.ones(_CEILING_BYTES // 8, np.uint64)
    source = np.ones_like(target)
    return {
        "fill": _CEILING_BYTES / _best(lambda: target.fill(1), runs),
        "copy": 2 * _CEILING_BYTES / _best(lambda: np.copyto(target, source), runs),
    }


def device_ceiling(xp: Any, runs: int = 10) -> dict[str, float]:
    """Return the bytes a second that the device fills, and copies (read and written), in its own memory: the best of some runs."""
    target = xp.ones(1 << 27, np.uint64)  # 1 GB: beyond the second-level cache of any GPU
    source = xp.ones_like(target)

    def fill() -> None:
        target.data.memset_async(0, target.nbytes)
        xp.cuda.get_current_stream().synchronize()

    def copy() -> None:
        xp.copyto(target, source)
        xp.cuda.get_current_stream().synchronize()

    return {"fill": target.nbytes / _best(fill, runs), "copy": 2 * target.nbytes / _best(copy, runs)}


def _best(action: Callable[[], object], runs: int) -> float:
    action()
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        action()
        taken.append(time.perf_counter() - began)
    return min(taken)
