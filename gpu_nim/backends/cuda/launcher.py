"""Launchers, the only way to launch a kernel: arguments are checked against the kernel table once, for any number of launches."""

from __future__ import annotations

import os
import platform
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.table import (
    KERNELS,
    OPTIONS,
    Defines,
    Kernel,
    Launch,
    check_arguments,
    cuda_source,
)
from gpu_nim.model.errors import BackendError, GpunimError, InsufficientMemoryError, MissingDependency, UsageError, message_of
from gpu_nim.model.work import uncounted

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from types import ModuleType

PIECE = 1 << 24  # bytes of a piece: its copy takes longer than the launch of the next, and page-locking it costs little
_UNDER_WAY = 2
_UNIT = 512  # bytes, in multiples of which CuPy's pool takes memory
INSTALL = "install the extra cuda13, or cuda12 with a driver before 580"


class Launcher(Protocol):
    """Binds kernels of the kernel table, by name, to arrays of `xp`."""

    #: The array module whose arrays the kernels take: CuPy in production, in the tests one as strict.
    xp: ModuleType
    #: Bytes of shared memory that one block may have, static and dynamic together.
    shared_limit: int

    #: The device's own name.
    device: str
    #: What tells the device from all others, on any machine.
    identity: str

    def free_memory(self) -> int:
        """Bytes of device memory that are free."""

    def bind(self, kernel: str, args: Mapping[str, object], *, shared_bytes: int = 0, defines: Defines | None = None) -> Launch:
        """Check a kernel's arguments, by name, once for many launches; the threads of a block are those of its launch bounds.

        Raises `KernelArgumentError` where `args` do not match the kernel table, `BackendError` where the kernel does not compile.
        """

    def record(self, queue: Callable[[], None]) -> Callable[[], None]:
        """Return a function that repeats the launches of `queue` in the same order.

        They are not launched now.  Each keeps its scalars: values that change between them are read from the device's memory.
        """

    def start_copy_to_host(self, values: Any) -> Callable[[], NDArray[Any]]:
        """Begin to copy an array of the device, as the launches so far leave it, while later ones run.

        Returns a function that waits for the copy and returns it, in memory that the array owns.  Until then `values` must not
        change.
        """


def pooled(*sizes: int) -> int:
    """Return the bytes that CuPy's memory pool takes for arrays of these sizes in bytes.

    >>> pooled(4, 512, 600)
    2048
    """
    return sum(-(-size // _UNIT) for size in sizes) * _UNIT


def to_host(array: Any) -> NDArray[Any]:
    """Return a copy of `array`, of any launcher's `xp`, as a NumPy array."""
    return np.asarray(array.get())


def copy_to_host(launch: Launcher, out: NDArray[Any], piece: Callable[[int, int], Any]) -> None:
    """Fill an array of the host, a piece of its first axis at a time.

    Args:
        launch: the launcher of the device.
        out: the array to fill, C-contiguous.
        piece: returns out[first:stop] for (first, stop), a C-contiguous array of the device, which must not change before it is
            copied.
    """
    length = max(1, PIECE // max(1, out[:1].nbytes))
    under_way: deque[tuple[NDArray[Any], Callable[[], NDArray[Any]]]] = deque()
    try:
        for first in range(0, len(out), length):
            if len(under_way) == _UNDER_WAY:
                _receive(*under_way.popleft())
            part = out[first : first + length]
            under_way.append((part, launch.start_copy_to_host(piece(first, first + len(part)))))
        while under_way:
            _receive(*under_way.popleft())
    finally:
        for _, arrived in under_way:  # after an error: memory that is still being written must not be freed
            arrived()


def _receive(part: NDArray[Any], arrived: Callable[[], NDArray[Any]]) -> None:
    part[...] = arrived()


@contextmanager
def device_memory_errors(work: str) -> Iterator[None]:
    """Turn errors of the device in the block into errors of gpunim, whose message is one sentence.

    Running out of memory is an `InsufficientMemoryError`, a missing library a `MissingDependency`, any other failure of the driver,
    the runtime, NVRTC or CuPy a `BackendError`.  Anything else is a defect of gpunim and keeps its traceback.
    """
    try:
        yield
    except GpunimError:
        raise
    except MemoryError as error:
        raise InsufficientMemoryError(f"{work}: the device has too little free memory ({message_of(error)})") from error
    except ImportError as error:  # CuPy loads libraries when it first needs them
        raise MissingDependency(f"{work}: CuPy lacks a library ({message_of(error)}): {INSTALL}") from error
    except Exception as error:
        if isinstance(error, RuntimeError) or type(error).__module__.partition(".")[0] in ("cupy", "cupy_backends"):
            raise BackendError(_refused(work, error)) from error
        raise


@contextmanager
def predicate_errors(name: str) -> Iterator[None]:
    """Raise `UsageError` for a rule's predicate, called in the block, that cannot take arrays of the device."""
    try:
        yield
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise UsageError(
            f"{name} must take the device's arrays, by operators and indexing alone, got {type(error).__name__} "
            f"({message_of(error)}): with --backend numpy it may use any of NumPy's functions"
        ) from error


def _refused(work: str, error: Exception) -> str:
    return f"{work}: the device refused ({message_of(error)})"


class CupyLauncher:
    """Launches on the CUDA device that was current when the launcher was made, through CuPy.

    A `.cu` file is compiled at its first launch, once for each set of defines (CuPy keeps the result on disk), and each kernel is
    looked up once.  `table` and `sources` are the kernel table and the folder of its files, by default gpunim's own.

    With a `number` the device of that number, modulo how many there are, becomes the current one.

    `device` is its own name, such as "NVIDIA H200", and `compute_capability` that of the device, such as "9.0".
    """

    def __init__(
        self, table: Mapping[str, Kernel] = KERNELS, sources: Traversable | None = None, number: int | None = None
    ) -> None:
        try:
            cupy = import_cupy()
        except ImportError as error:
            raise MissingDependency(f"the CUDA backend needs CuPy: {INSTALL} ({error})") from error
        self.xp = self._cupy = cupy
        with device_memory_errors("opening the CUDA device"), uncounted():
            if number is not None:
                cupy.cuda.Device(number % int(cupy.cuda.runtime.getDeviceCount())).use()
            device = cupy.cuda.Device()
            attributes, properties = device.attributes, cupy.cuda.runtime.getDeviceProperties(device.id)
            self.device: str = properties["name"].decode()
            # The machine's name, the device's place on its bus, and its UUID, which parts of one GPU have of their own.
            self.identity = f"{platform.node()} {device.pci_bus_id} {properties['uuid'].hex()}"
            cupy.cuda.runtime.memGetInfo()  # makes the context
        self._device = device
        digits = str(device.compute_capability)
        self.compute_capability = f"{digits[:-1]}.{digits[-1]}"
        self._table, self._sources = table, sources
        self.shared_limit = int(attributes["MaxSharedMemoryPerBlockOptin"])
        self._multiprocessors = int(attributes["MultiProcessorCount"])
        self._module = cache(self._compile)
        self._compiled = cache(lambda kernel, options: self._module(table[kernel].source, options).get_function(kernel))
        self._copying: Any = None  # the stream of copies to the host

    def free_memory(self) -> int:
        """Bytes of device memory that are free, including those in CuPy's pool, within the pool's limit."""
        pool = self._cupy.get_default_memory_pool()
        with self._device, device_memory_errors("asking for the free device memory"):
            limit = int(pool.get_limit())  # 0 for none
            if limit:
                pool.free_all_blocks()  # which CuPy does where the device has no more, but not at the limit
            free, _ = self._cupy.cuda.runtime.memGetInfo()
            left = int(free) + int(pool.free_bytes())
            return max(0, min(left, limit - int(pool.total_bytes()))) if limit else left

    def bind(self, kernel: str, args: Mapping[str, object], *, shared_bytes: int = 0, defines: Defines | None = None) -> Launch:
        """Check the arguments, and compile the kernel if that is not done yet."""
        entry = self._table[kernel]
        checked = check_arguments(kernel, entry, args, self._cupy.ndarray)
        device, block, occupancy = self._device, (entry.threads,), self._cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
        with device, device_memory_errors(f"kernel {kernel}"):
            function = self._function(kernel, shared_bytes, defines)
            resident = max(1, int(occupancy(function.kernel.ptr, entry.threads, shared_bytes))) * self._multiprocessors

        def run(grid: int, values: tuple[Any, ...]) -> None:
            try:
                with device:
                    function((grid,), block, values, shared_mem=shared_bytes)
            except RuntimeError as error:
                raise BackendError(_refused(f"kernel {kernel}", error)) from error

        return Launch(kernel, entry, checked, run, resident)

    def record(self, queue: Callable[[], None]) -> Callable[[], None]:
        """Capture the launches in a CUDA graph, which costs the host no more than a single launch."""
        with self._device, device_memory_errors("recording launches"):
            stream = self._cupy.cuda.Stream(non_blocking=True)  # the default stream cannot be captured
            with stream:
                stream.begin_capture()
                try:
                    queue()
                finally:
                    graph = stream.end_capture()

        def run() -> None:
            with self._device, device_memory_errors("recorded launches"):
                graph.launch()

        return run

    def start_copy_to_host(self, values: Any) -> Callable[[], NDArray[Any]]:
        """Copy on a stream beside that of the kernels, into page-locked memory, which CuPy keeps for the next copy."""
        cuda = self._cupy.cuda
        with self._device, device_memory_errors("copying to the host"):
            self._copying = self._copying or cuda.Stream(non_blocking=True)
            self._copying.wait_event(cuda.get_current_stream().record())
            memory = cuda.alloc_pinned_memory(values.nbytes)
            on_host = np.frombuffer(memory, values.dtype, values.size).reshape(values.shape)
            values.get(stream=self._copying, out=on_host, blocking=False)
            copied = self._copying.record()

        def arrived() -> NDArray[Any]:
            nonlocal values
            with device_memory_errors("copying to the host"):
                copied.synchronize()
            values = None  # its memory may be reused
            return on_host

        return arrived

    def _function(self, kernel: str, shared_bytes: int, defines: Defines | None) -> Any:
        """A compiled kernel that may be launched with this number of bytes of dynamic shared memory."""
        options = tuple(f"-D{name}={value}" for name, value in (defines or {}).items())
        function = self._compiled(kernel, options)
        if shared_bytes > function.max_dynamic_shared_size_bytes:  # needed beyond 48 KB
            function.max_dynamic_shared_size_bytes = shared_bytes
        return function

    def _compile(self, source: str, options: tuple[str, ...]) -> Any:
        # CuPy compiles for the current device and keeps the binary in its cache on disk.
        module = self._cupy.RawModule(code=cuda_source(source, self._sources), options=(*OPTIONS, *options))
        try:
            module.compile()
        except self._cupy.cuda.compiler.CompileException as error:
            first = next((line for line in str(error).splitlines() if "error" in line), str(error))
            raise BackendError(f"cuda/{source} does not compile on this device: {first.strip()}") from error
        return module


def import_cupy() -> Any:
    """Import CuPy, which makes its folder of compiled kernels then; where that cannot be written, it keeps them in memory.

    Unless the user has set CUPY_ACCELERATORS or imported CuPy before, CUB is off: NVRTC needs 3 seconds for each of its reductions
    and 0.2 for one of CuPy's own, and gpunim reduces little by CuPy.
    """
    os.environ.setdefault("CUPY_ACCELERATORS", "")  # CuPy reads it when it is imported
    folder = Path(os.environ.get("CUPY_CACHE_DIR", "~/.cupy/kernel_cache"))
    try:
        folder = folder.expanduser()
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK)
    except (OSError, RuntimeError):  # which is raised where there is no home
        writable = False
    if not writable:
        os.environ.update(CUPY_CACHE_DIR=gettempdir(), CUPY_CACHE_IN_MEMORY="1")  # a folder that is there, and stays as it is
    import cupy

    return cupy
