"""Time on a device: CUDA events beside the wall, and names for the profiler."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


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
