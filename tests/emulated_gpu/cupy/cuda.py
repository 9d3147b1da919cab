"""The device and its streams: kernels run at once, copies to the host when they are waited for."""

import os
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.cuda_host import HostLauncher
from tests.strict_cupy import capturing

os.makedirs(os.environ.get("CUPY_CACHE_DIR") or os.path.expanduser("~/.cupy/kernel_cache"), exist_ok=True)  # as CuPy does
host = HostLauncher()


class _Thread(threading.local):
    """What a thread has done: its current stream, None where that is the default one, and how many kernels it has launched."""

    stream: "Stream | None" = None
    launched = 0


_thread = _Thread()


def queue(launch: Callable[[], None]) -> None:
    """Launch on the default stream, or note a launch of the graph that the current stream captures."""
    if _thread.stream is not None:
        assert _thread.stream.captured is not None, "a kernel that would not wait for those of the default stream"
        _thread.stream.captured.append(launch)
    else:
        _thread.launched += 1
        launch()


class Stream:
    """A stream, which captures a graph, or copies to the host."""

    def __init__(self, *, non_blocking: bool = False) -> None:
        self._non_blocking, self._scope, self._copies, self._after = non_blocking, ExitStack(), [], 0
        self.captured: list[Callable[[], None]] | None = None

    def __enter__(self) -> None:
        _thread.stream = self

    def __exit__(self, *_: object) -> None:
        _thread.stream = None

    def begin_capture(self) -> None:
        """From here on launches on this stream are noted."""
        assert self._non_blocking, "the default stream cannot be captured"
        self._scope.enter_context(capturing())
        self.captured = []

    def end_capture(self) -> Any:
        """Return the graph."""
        captured, self.captured = self.captured, None
        self._scope.close()
        return SimpleNamespace(launch=lambda: [queue(launch) for launch in captured])

    def record(self) -> "Event":
        """Return an event after all that is queued."""
        event = Event()
        event.record(self)
        return event

    def wait_event(self, event: "Event") -> None:
        """What is queued from here on waits for the event."""
        self._after = event.launched

    def copy(self, array: Any, out: np.ndarray) -> None:
        """Queue a copy to the host, which does not keep the array's memory."""
        assert self._after == _thread.launched, "a copy that would not wait for the kernels"
        source = weakref.ref(array)

        def copy() -> None:
            held = source()
            assert held is not None, "its memory may be another's by now"
            held.get(out=out)

        self._copies.append(copy)

    def synchronize(self) -> None:
        """Do what is queued."""
        while self._copies:
            self._copies.pop(0)()


class Event:
    """A moment, of the default stream or another one."""

    def record(self, stream: Stream | None = None) -> None:
        """Take this moment."""
        self._stream, self.launched, self.at = stream or Stream(), _thread.launched, time.perf_counter()

    def synchronize(self) -> None:
        """Wait for it."""
        self._stream.synchronize()


def get_elapsed_time(before: Event, after: Event) -> float:
    """Milliseconds."""
    return 1000 * (after.at - before.at)


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
compiler = SimpleNamespace(CompileException=type("CompileException", (Exception,), {}))
driver = SimpleNamespace(
    occupancyMaxActiveBlocksPerMultiprocessor=lambda pointer, threads, shared_bytes: host.resident // host.multiprocessors
)
nvrtc = SimpleNamespace(getVersion=lambda: (13, 0))
nvtx = SimpleNamespace(RangePush=lambda name: None, RangePop=lambda: None)
_PROPERTIES = {"name": b"kernels on the CPU", "uuid": bytes(16), "multiProcessorCount": host.multiprocessors}
runtime = SimpleNamespace(
    driverGetVersion=lambda: 13000,
    getDeviceCount=lambda: 1,
    getDeviceProperties=lambda number: _PROPERTIES,
    memGetInfo=lambda: (host.free_memory(), host.free_memory()),
    runtimeGetVersion=lambda: 13000,
)
