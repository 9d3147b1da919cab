"""How fast a device could be at best: bytes to move and operations to do, over the device's rates.

A floor is a bound from below, made of what the algorithm cannot do without; half of it is a good result.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_nim.model.rule import Symmetry

#: From one kernel to the next that depends on it: of the 2 to 3 microseconds that are predicted, the fewer.
LAUNCH_SECONDS = 2e-6

_IMAGES = {Symmetry.NONE: 1, Symmetry.PERMUTATIONS: 6, Symmetry.CUBE: 48}  # of a cell in space
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


def nim_floor(generations: int, births: int) -> Floor:
    """Three-pile Nim: each birth is mixed for the digest, by 18 operations, and 32 generations are a launch.

    The plane bounds nothing: where a launch has cells at all, 32 cells of a row have one birth a generation on average, so that
    stepping them takes two operations a birth, and moving them 256 bytes for 1024 births.
    """
    return Floor(copied=256 * births / 1024, operations=(18 + 2) * births, launches=generations / 32)


def exactly_one_floor(generations: int, births: int, symmetry: Symmetry) -> Floor:
    """Exactly-one growth: 50 bytes a birth in the fundamental domain, as counted for bricks of 4 x 8 x 64 cells."""
    return Floor(copied=50 * births / _IMAGES[symmetry], launches=generations)


def range_floor(values: int, dimension: int, limbs: int, *, stored: bool) -> Floor:
    """Values of a range: four multiply-adds of 32 bits for each row entry and pair of limbs, and a write if they are stored."""
    products = limbs * (limbs + 1) // 2
    return Floor(filled=8 * limbs * values if stored else 0, operations=4 * products * dimension * values)
