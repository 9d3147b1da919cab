"""The functions of the module: those that make arrays, and those of NumPy that CuPy has under the same name."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.strict_cupy.array import ndarray, on_device, on_host
from tests.strict_cupy.needs import NEEDS, Need, note

_GARBAGE = 0xA5


def asarray(obj: Any, dtype: Any = None) -> ndarray:
    """`obj` itself where it is such an array already, else a copy on the device."""
    if isinstance(obj, ndarray) and dtype in (None, obj.dtype):
        return obj
    return _copied("asarray", obj, dtype)


def array(obj: Any, dtype: Any = None) -> ndarray:
    """A copy of `obj` on the device."""
    return _copied("array", obj, dtype)


def _copied(name: str, obj: Any, dtype: Any) -> ndarray:
    if isinstance(obj, ndarray):
        return obj.astype(obj.dtype if dtype is None else dtype)
    copied = np.array(obj, dtype, order="C")
    note(name, Need.MEMORY if copied.ndim or not copied else Need.KERNEL)
    return ndarray(copied)


def asnumpy(a: ndarray) -> np.ndarray:
    """A copy of an array on the host."""
    note("asnumpy")
    return a.get()


def empty(shape: Any, dtype: Any = float) -> ndarray:
    """Memory as a pool hands it out: with what was left in it."""
    note("empty")
    fresh = np.empty(shape, dtype)
    fresh.reshape(-1).view(np.uint8)[...] = _GARBAGE
    return ndarray(fresh)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> ndarray:
    if isinstance(fill_value, ndarray | np.ndarray) and fill_value.size != 1:
        raise ValueError("non-scalar numpy.ndarray cannot be used for copyto")
    note("full")
    return ndarray(np.full(shape, fill_value._host if isinstance(fill_value, ndarray) else fill_value, dtype))


def _as_in_numpy(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def call(*args: Any, **options: Any) -> Any:
        note(name)
        return on_device(function(*map(on_host, args), **{key: on_host(value) for key, value in options.items()}))

    return call


FUNCTIONS: dict[str, Callable[..., Any]] = {name: globals().get(name) or _as_in_numpy(name) for name in NEEDS if "." not in name}
