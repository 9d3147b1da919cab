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
from tests.strict_cupy import capturing, pool

os.makedirs(os.environ.get("CUPY_CACHE_DIR") or os.path.expanduser("~/.cupy/kernel_cache"), exist_ok=True)  # as CuPy does
host = HostLauncher()


class _Thread(threading.local):
    """What a thread has done: its stream, None where that is the default one, and how many kernels it has launched."""

    stream: "Stream | None" = None
    launched = 0

    def __init__(self) -> None:
        self.devices = [0]  # the current one, after those to which it returns


_thread = _Thread()


def queue(launch: Callable[[], None]) -> None:
    """Launch on the default stream, or note a launch of the graph that the current stream captures."""
    if _thread.stream is not None:
        _thread.stream.require_device()
        assert _thread.stream.captured is not None, "a kernel that would not wait for those of the default stream"
        _thread.stream.captured.append(launch)
    else:
        _thread.launched += 1
        launch()


class Stream:
    """A stream, which captures a graph, or copies to the host."""

    def __init__(self, *, non_blocking: bool = False) -> None:
        self._non_blocking, self._scope, self._copies, self._after = non_blocking, ExitStack(), [], 0
        self.copied, self._device = 0, _thread.devices[-1]
        self.captured: list[Callable[[], None]] | None = None

    def require_device(self) -> None:
        """Refuse work while another device is current than the stream's own."""
        assert self._device == _thread.devices[-1], "a stream of another device than the current one"

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

        def launch() -> None:
            self.require_device()
            for each in captured:
                queue(each)

        return SimpleNamespace(launch=launch)

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
        self.require_device()
        source = weakref.ref(array)

        def copy() -> None:
            held = source()
            assert held is not None, "its memory may be another's by now"
            held.get(out=out)

        self._copies.append(copy)

    @property
    def queued(self) -> int:
        """How many copies were ever queued."""
        return self.copied + len(self._copies)

    def synchronize(self, copies: int | None = None) -> None:
        """Do what is queued, or as many copies of all as there ever were."""
        while self._copies and (copies is None or self.copied < copies):
            self._copies.pop(0)()
            self.copied += 1


class Event:
    """A moment, of the default stream or another one."""

    def record(self, stream: Stream | None = None) -> None:
        """Take this moment."""
        self._stream, self.launched, self.at = stream or Stream(), _thread.launched, time.perf_counter()
        self._before = self._stream.queued

    def synchronize(self) -> None:
        """Wait for what was queued before it, and for nothing that was queued later."""
        self._stream.synchronize(self._before)


def get_elapsed_time(before: Event, after: Event) -> float:
    """Milliseconds."""
    return 1000 * (after.at - before.at)


class Device:
    """One of two devices, by default the current one."""

    compute_capability = "90"
    attributes = {"MaxSharedMemoryPerBlockOptin": host.shared_limit, "MultiProcessorCount": host.multiprocessors}  # noqa: RUF012

    def __init__(self, number: int | None = None) -> None:
        self.id = _thread.devices[-1] if number is None else number

    @property
    def pci_bus_id(self) -> str:
        """Its place."""
        return f"0000:0{self.id}:00.0"

    def use(self) -> None:
        """Make it the current one."""
        _thread.devices[-1] = self.id

    def __enter__(self) -> None:
        _thread.devices.append(self.id)

    def __exit__(self, *_: object) -> None:
        _thread.devices.pop()


default_pool = pool.MemoryPool()
pool.use(default_pool)
set_allocator = set_pinned_memory_allocator = pool.use
get_current_stream = Stream
alloc_pinned_memory = type("PinnedMemory", (bytearray,), {})
compiler = SimpleNamespace(CompileException=type("CompileException", (Exception,), {}))
driver = SimpleNamespace(
    occupancyMaxActiveBlocksPerMultiprocessor=lambda pointer, threads, shared_bytes: host.resident // host.multiprocessors
)
nvrtc = SimpleNamespace(getVersion=lambda: (13, 0))
_PROPERTIES = {"name": b"kernels on the CPU", "uuid": bytes(16), "multiProcessorCount": host.multiprocessors}
runtime = SimpleNamespace(
    driverGetVersion=lambda: 13000,
    getDeviceCount=lambda: 2,
    getDeviceProperties=lambda number: _PROPERTIES,
    memGetInfo=lambda: (host.free_memory(), host.free_memory()),
    runtimeGetVersion=lambda: 13000,
)
