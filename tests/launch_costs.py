"""What a launch costs the host in Python, on the stand-in for CuPy: run ``python -m tests.launch_costs``.

The stand-in notes a launch and does nothing else, so that what is left is the time of gpunim's own code; CuPy and the driver add
theirs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from time import process_time
from timeit import Timer

import numpy as np

from gpu_nim.backends.cuda.launcher import CupyLauncher
from gpu_nim.backends.cuda.table import KERNELS
from tests.test_launcher import StandIn

KERNEL, RECORDED = "exactly_one_grow", 64


def microseconds(call: Callable[[], object]) -> float:
    """The processor's time of one call: the best of ten thousands, since what else the machine does only adds to it."""
    return min(Timer(call, timer=process_time).repeat(10, 1000)) * 1000


def main() -> None:
    """Print the cost of the launch with the most arguments: bound anew, bound before, and as one of a graph."""
    stand_in = StandIn()
    sys.modules["cupy"] = stand_in  # type: ignore[assignment]
    launcher, kernel = CupyLauncher(), KERNELS[KERNEL]
    args = {
        name: np.zeros(1, param.lstrip("*c")) if param[0] == "*" else 1
        for name, param in zip(kernel.names, kernel.params, strict=True)
    }
    launch = launcher.bind(KERNEL, args)
    graph = launcher.record(lambda: [launch(1, step=step) for step in range(RECORDED)])
    steps = count()
    print(f"{KERNEL}, {len(args)} arguments, microseconds of Python a launch")
    for what, cost in (
        ("bound anew", microseconds(lambda: launcher.bind(KERNEL, args)(1))),
        ("bound, one scalar changed", microseconds(lambda: launch(1, step=next(steps), section_axes=1, section_level=1))),
        (f"one of a graph of {RECORDED}", microseconds(graph) / RECORDED),
    ):
        print(f"{what:<28} {cost:8.2f}")


if __name__ == "__main__":
    main()
