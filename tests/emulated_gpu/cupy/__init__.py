"""CuPy on a GPU that is emulated: arrays of `tests.strict_cupy`, kernels by `tests.cuda_host`.

With this package's folder on the path, the launcher and the checks of `scripts/gpu-check` run here as they are: see the fixture
`cupy` of `tests/conftest.py`.
"""

from functools import partial
from types import SimpleNamespace
from typing import Any

from cupy import cuda as cuda
from gpu_nim.backends.cuda.table import OPTIONS
from tests import strict_cupy
from tests.cuda_host import HostLauncher
from tests.cuda_host.seeded import SOURCES, TABLE
from tests.strict_cupy import pool

__version__ = "14.2.0"
ndarray = strict_cupy.ndarray
of_tests = HostLauncher(sources=SOURCES, table=TABLE)


def __getattr__(name: str) -> Any:
    return getattr(strict_cupy, name)


def get_default_memory_pool() -> pool.MemoryPool:
    """The pool, one for both devices."""
    return cuda.default_pool


class RawModule:
    """A `.cu` file, told by the first line of its text."""

    def __init__(self, code: str, options: tuple[str, ...]) -> None:
        assert options[: len(OPTIONS)] == OPTIONS
        assert '#line 1 "cuda/common.cuh"' in code, "local includes are pasted in"
        self._source = code.partition('#line 1 "cuda/')[2].partition('"')[0]
        self._host = cuda.host
        if (SOURCES / self._source).exists():
            self._host = of_tests

    def compile(self) -> None:
        """Build it with the host's compiler, once and for all defines."""
        self._host.library(self._source)

    def get_function(self, name: str) -> Any:
        """A kernel, as CuPy's function is called."""
        return _Function(self._host, name)


class _Function:
    max_dynamic_shared_size_bytes = 48 * 1024
    kernel = SimpleNamespace(ptr=1)

    def __init__(self, host: HostLauncher, name: str) -> None:
        self._host, self._name, self._device = host, name, cuda.Device().id

    def __call__(self, grid: tuple[int], block: tuple[int], args: tuple[Any, ...], shared_mem: int = 0) -> None:
        assert shared_mem <= self.max_dynamic_shared_size_bytes
        assert self._device == cuda.Device().id, "a kernel of another device than the current one"
        cuda.queue(partial(self._host.queue, self._name, *grid, *block, args, shared_mem))
