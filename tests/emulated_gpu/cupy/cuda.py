"""The device and its streams: all is done at once, and in order."""

import os
import threading
from collections.abc import Callable
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

from tests.cuda_host import HostLauncher
from tests.strict_cupy import capturing

os.makedirs(os.environ.get("CUPY_CACHE_DIR") or os.path.expanduser("~/.cupy/kernel_cache"), exist_ok=True)  # as CuPy does
host = HostLauncher()
_thread = threading.local()


def queue(launch: Callable[[], None]) -> None:
    """Launch, or note a launch of the graph that this thread captures."""
    captured = getattr(_thread, "captured", None)
    launch() if captured is None else captured.append(launch)


class Stream(ExitStack):
    """A stream, which can capture a graph."""

    def __init__(self, *, non_blocking: bool = False) -> None:
        super().__init__()

    def begin_capture(self) -> None:
        """From here on launches of this thread are noted."""
        self.enter_context(capturing())
        _thread.captured = []

    def end_capture(self) -> Any:
        """Return the graph."""
        captured, _thread.captured = _thread.captured, None
        self.close()
        return SimpleNamespace(launch=lambda: [launch() for launch in captured])

    def record(self) -> "Stream":
        """Return what stands for an event, too."""
        return self

    def synchronize(self, event: object = None) -> None:
        """Nothing is under way."""

    wait_event = synchronize


class Device:
    """The only one."""

    id = 0
    compute_capability = "90"
    pci_bus_id = "0000:00:00.0"
    attributes = {"MaxSharedMemoryPerBlockOptin": host.shared_limit, "MultiProcessorCount": host.multiprocessors}  # noqa: RUF012

    def use(self) -> None:
        """It is used already."""

    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


def get_current_stream() -> Stream:
    """A stream."""
    return Stream()


def set_allocator(allocator: object) -> None:
    """There is no pool."""


set_pinned_memory_allocator = set_allocator
alloc_pinned_memory = type("PinnedMemory", (bytearray,), {})
compiler = SimpleNamespace(CompileException=RuntimeError)
driver = SimpleNamespace(occupancyMaxActiveBlocksPerMultiprocessor=lambda *_: host.resident // host.multiprocessors)
nvrtc = SimpleNamespace(getVersion=lambda: (13, 0))
_PROPERTIES = {"name": b"kernels on the CPU", "uuid": bytes(16), "multiProcessorCount": host.multiprocessors}
runtime = SimpleNamespace(
    driverGetVersion=lambda: 13000,
    getDeviceCount=lambda: 1,
    getDeviceProperties=lambda number: _PROPERTIES,
    memGetInfo=lambda: (host.free_memory(), host.free_memory()),
    runtimeGetVersion=lambda: 13000,
)
