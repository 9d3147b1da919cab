"""Arrays as large as a device's memory: of a mapping of any size, only the pages that are written exist."""

import math
import mmap
from typing import Any

import numpy as np
import pytest

from tests import strict_cupy
from tests.cuda_host import HostLauncher

__all__ = ["VastLauncher", "vast"]

_NORESERVE = 0x4000  # Linux's MAP_NORESERVE, which Python's module names from 3.13 on
_ORDINARY = 1 << 24  # bytes that may as well be real


def vast(shape: Any, dtype: Any) -> strict_cupy.ndarray:
    """An array of zeros on pages that come into being as they are written; skips the test where the system maps no such memory."""
    shape = shape if isinstance(shape, tuple) else (shape,)
    size = math.prod(shape) * np.dtype(dtype).itemsize
    try:
        memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE)
    except OSError as reason:
        pytest.skip(f"the system maps no {size:,} bytes without reserving them: {reason}")
    return strict_cupy.ndarray(np.frombuffer(memory, dtype).reshape(shape))


class VastLauncher(HostLauncher):
    """A launcher whose device has room for anything: large arrays of its `xp` are vast, and begin as zeros."""

    def __init__(self) -> None:
        super().__init__(flavour="ubsan")
        self.xp = self

    def __getattr__(self, name: str) -> Any:
        return getattr(strict_cupy, name)

    def free_memory(self) -> int:
        return 1 << 60

    def zeros(self, shape: Any, dtype: Any) -> strict_cupy.ndarray:
        return self._made("zeros", shape, dtype)

    def empty(self, shape: Any, dtype: Any) -> strict_cupy.ndarray:
        return self._made("empty", shape, dtype)

    def _made(self, function: str, shape: Any, dtype: Any) -> strict_cupy.ndarray:
        size = math.prod(shape) if isinstance(shape, tuple) else shape
        vastly = size * np.dtype(dtype).itemsize > _ORDINARY
        array: strict_cupy.ndarray = vast(shape, dtype) if vastly else getattr(strict_cupy, function)(shape, dtype)
        return array
