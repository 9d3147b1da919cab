"""The one door to a kernel: a launcher checks a launch against the kernel table and then makes it."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.sources import OPTIONS, cuda_source
from gpu_nim.backends.cuda.table import KERNELS, Kernel
from gpu_nim.model.errors import BackendError, InsufficientMemoryError, KernelArgumentError, MissingDependency

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from types import ModuleType

__all__ = ["CupyLauncher", "Launcher", "check_arguments", "device_memory_errors", "to_host"]


class Launcher(Protocol):
    """Launches kernels of the kernel table by name, on arrays of `xp`."""

    @property
    def xp(self) -> ModuleType:
        """The array module whose arrays the kernels take: CuPy in production, NumPy where kernels run on the CPU."""

    @property
    def shared_limit(self) -> int:
        """Bytes of shared memory that one block may ask for, static and dynamic together."""

    @property
    def multiprocessors(self) -> int:
        """How many multiprocessors share the blocks of a grid: the unit in which a persistent grid is measured."""

    @property
    def device(self) -> str:
        """The device's own name, for people."""

    def free_memory(self) -> int:
        """Bytes of device memory that are free."""

    def __call__(
        self,
        kernel: str,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        args: tuple[object, ...],
        shared_bytes: int = 0,
    ) -> None:
        """Run `kernel` over `grid` blocks of `block` threads; a grid that contains 0 runs nothing.

        Raises `KernelArgumentError` where `args` do not match the kernel table, `BackendError` where the kernel does
        not compile or the launch fails.
        """


def check_arguments(
    kernel: str,
    args: Sequence[object],
    array_type: type[Any] = np.ndarray,
    table: Mapping[str, Kernel] = KERNELS,
) -> tuple[Any, ...]:
    """`args` as `kernel` takes them: arrays of `array_type` checked, integers converted to the declared NumPy scalar.

    Raises `KernelArgumentError` for an unknown kernel, a wrong number of arguments, an array of another type, dtype
    or not C-contiguous, and an integer out of its parameter's range.

    >>> square = {"square": Kernel("square.cu", ("*u8", "u4"))}
    >>> check_arguments("square", (np.zeros(3, np.uint64), 3), table=square)
    (array([0, 0, 0], dtype=uint64), np.uint32(3))
    >>> check_arguments("square", (np.zeros(3), 3), table=square)
    Traceback (most recent call last):
    gpu_nim.model.errors.KernelArgumentError: square, argument 0: expected an array of uint64, got float64
    """
    entry = table.get(kernel)
    if entry is None:
        raise KernelArgumentError(f"there is no kernel {kernel!r} in the kernel table")
    if len(args) != len(entry.params):
        raise KernelArgumentError(f"{kernel} takes {len(entry.params)} arguments, got {len(args)}")
    return tuple(
        _check_array(kernel, place, param, value, array_type) if param[0] == "*" else _check_scalar(kernel, place, param, value)
        for place, (param, value) in enumerate(zip(entry.params, args, strict=True))
    )


# A short kernel is launched thousands of times with some thirty arguments: what is said of a mistake is put together only then.
def _check_array(kernel: str, place: int, param: str, value: Any, array_type: type[Any]) -> Any:
    dtype = _dtype(param)
    if isinstance(value, array_type) and value.dtype == dtype and value.flags.c_contiguous:
        return value
    where = f"{kernel}, argument {place}"
    if not isinstance(value, array_type):
        wanted = f"{array_type.__module__}.{array_type.__qualname__}"
        raise KernelArgumentError(f"{where}: expected a {wanted} of {dtype}, got {type(value).__name__}")
    if value.dtype != dtype:
        raise KernelArgumentError(f"{where}: expected an array of {dtype}, got {value.dtype}")
    raise KernelArgumentError(f"{where}: expected a C-contiguous array, got a strided view")


def _check_scalar(kernel: str, place: int, param: str, value: Any) -> np.generic:
    dtype, least, most = _range(param)
    try:
        number = operator.index(value)
    except TypeError:
        where = f"{kernel}, argument {place}"
        raise KernelArgumentError(f"{where}: expected an integer ({dtype}), got {type(value).__name__}") from None
    if not least <= number <= most:
        raise KernelArgumentError(f"{kernel}, argument {place}: expected {least} to {most} ({dtype}), got {number}")
    scalar: np.generic = dtype.type(number)
    return scalar


@functools.cache
def _dtype(param: str) -> np.dtype[Any]:
    return np.dtype(param.lstrip("*c"))


@functools.cache
def _range(param: str) -> tuple[np.dtype[Any], int, int]:
    limits = np.iinfo(param)
    return np.dtype(param), int(limits.min), int(limits.max)


def to_host(array: Any) -> NDArray[Any]:
    """`array`, of any launcher's `xp`, as a NumPy array of its own."""
    copy: NDArray[Any] = array.get() if hasattr(array, "get") else array.copy()
    return copy


@contextmanager
def device_memory_errors(work: str) -> Iterator[None]:
    """Inside, running out of memory is a `InsufficientMemoryError` and any failure of the device a `BackendError`.

    CuPy's out-of-memory error is a `MemoryError`; those of the driver, the runtime and NVRTC are `RuntimeError`.
    """
    try:
        yield
    except (InsufficientMemoryError, BackendError):
        raise
    except MemoryError as error:
        raise InsufficientMemoryError(f"{work}: the device has too little free memory ({_one_line(error)})") from error
    except RuntimeError as error:
        raise BackendError(f"{work}: the device refused ({_one_line(error)})") from error


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else f"{text[:297]}..."


class CupyLauncher:
    """Launches on the CUDA device that was current when the launcher was made, through CuPy.

    A `.cu` file is compiled at its first launch (CuPy keeps the result on disk) and each kernel is looked up once.
    `table` and `sources` are the kernel table and the folder of its files, by default gpunim's own.
    """

    def __init__(self, table: Mapping[str, Kernel] = KERNELS, sources: Traversable | None = None) -> None:
        try:
            import cupy
        except ImportError as error:
            raise MissingDependency(
                f"the CUDA backend needs CuPy: install the extra cuda13, or cuda12 with a driver before 580 ({error})"
            ) from error
        self._cupy = cupy
        with device_memory_errors("opening the CUDA device"):
            device = cupy.cuda.Device()
            attributes = device.attributes
        self._device = device
        self._table, self._sources = table, sources
        self._shared_limit = int(attributes["MaxSharedMemoryPerBlockOptin"])
        self._multiprocessors = int(attributes["MultiProcessorCount"])
        self._modules: dict[str, Any] = {}
        self._functions: dict[str, Any] = {}

    @property
    def xp(self) -> ModuleType:
        """CuPy."""
        module: ModuleType = self._cupy
        return module

    @property
    def shared_limit(self) -> int:
        """Bytes of shared memory that one block may ask for on this device."""
        return self._shared_limit

    @property
    def multiprocessors(self) -> int:
        """Multiprocessors of this device."""
        return self._multiprocessors

    @property
    def device(self) -> str:
        """The device's own name, such as "NVIDIA H200"."""
        name: str = self._cupy.cuda.runtime.getDeviceProperties(self._device.id)["name"].decode()
        return name

    @property
    def compute_capability(self) -> str:
        """The device's compute capability, such as "9.0"."""
        digits = str(self._device.compute_capability)
        return f"{digits[:-1]}.{digits[-1]}"

    def free_memory(self) -> int:
        """Bytes of device memory that are free, those in CuPy's pool among them."""
        with self._device:
            free, _ = self._cupy.cuda.runtime.memGetInfo()
            return int(free) + int(self._cupy.get_default_memory_pool().free_bytes())

    def __call__(
        self,
        kernel: str,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        args: tuple[object, ...],
        shared_bytes: int = 0,
    ) -> None:
        """Check the launch against the kernel table and queue it on the current stream."""
        checked = check_arguments(kernel, args, self._cupy.ndarray, self._table)
        if 0 in grid:  # CuPy would make it 1
            return
        with self._device, device_memory_errors(f"kernel {kernel}"):
            function = self._functions.get(kernel) or self._look_up(kernel)
            if shared_bytes > function.max_dynamic_shared_size_bytes:  # past 48 KB a kernel has to ask first
                function.max_dynamic_shared_size_bytes = shared_bytes
            function(grid, block, checked, shared_mem=shared_bytes)

    def _look_up(self, kernel: str) -> Any:
        source = self._table[kernel].source
        if source not in self._modules:
            # CuPy compiles for the current device and keeps the binary in its cache on disk.
            module = self._cupy.RawModule(code=cuda_source(source, self._sources), options=OPTIONS)
            try:
                module.compile()
            except self._cupy.cuda.compiler.CompileException as error:
                first = next((line for line in str(error).splitlines() if "error" in line), str(error))
                raise BackendError(f"cuda/{source} does not compile on this device: {first.strip()}") from error
            self._modules[source] = module
        function = self._modules[source].get_function(kernel)
        self._functions[kernel] = function
        return function
