"""Launches: a kernel's arguments are compared with its signature once, and loops change only scalars."""

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpu_nim.backends.cuda.table import Kernel
from gpu_nim.model.errors import KernelArgumentError

#: Constants that a kernel's file is compiled with, `-DNAME=VALUE` each.
#:
#: A file must also compile without them, and then compute the same from its arguments: they only make it faster, and a launcher may
#: leave them out.
Defines = Mapping[str, int | str]


class Launch:
    """A kernel with its arguments: call it with a grid, and with the scalars that have changed since the last call, by name.

    `threads` is the number of threads in a block, `resident` the number of blocks that the whole device holds at once, by the
    registers and the shared memory of the kernel as it was compiled for this device.
    """

    __slots__ = ("_given", "_kernel", "_run", "_scalars", "_values", "resident", "threads")

    def __init__(
        self, kernel: str, entry: Kernel, values: Sequence[Any], run: Callable[[int, tuple[Any, ...]], None], resident: int
    ) -> None:
        self._kernel, self._run, self.threads, self.resident = kernel, run, entry.threads, resident
        self._values = tuple(values)
        indices = {name: index for index, name in enumerate(entry.names) if entry.params[index][0] != "*"}
        self._scalars = {name: (index, *_range(entry.params[index])) for name, index in indices.items()}
        self._given = {name: int(values[index]) for name, index in indices.items()}

    def __call__(self, grid: int, **changed: int) -> None:
        """Queue the kernel over `grid` blocks; KernelArgumentError for a name that is no scalar of it, or a value out of range."""
        if not changed.items() <= self._given.items():
            self._change(changed)
        if grid > 0:
            self._run(grid, self._values)

    def _change(self, changed: Mapping[str, int]) -> None:
        values = list(self._values)
        for name, value in changed.items():
            try:
                index, dtype, least, most = self._scalars[name]
            except KeyError:
                raise KernelArgumentError(f"{self._kernel} takes no scalar {name!r}") from None
            if not least <= value <= most:
                raise KernelArgumentError(f"{self._kernel}, {name}: expected {least} to {most} ({dtype}), got {value}")
            if self._given[name] != value:
                values[index] = dtype.type(value)
        self._values = tuple(values)
        self._given.update(changed)

    def blocks(self, items: int) -> int:
        """The grid with a thread for each of `items`, but at most as many blocks as are resident at once."""
        return min(self.resident, -(-items // self.threads))


def find_kernel(kernel: str, table: Mapping[str, Kernel]) -> Kernel:
    """The entry of a kernel, KernelArgumentError where there is none."""
    entry = table.get(kernel)
    if entry is None:
        raise KernelArgumentError(f"there is no kernel {kernel!r} in the kernel table")
    return entry


def in_order(kernel: str, entry: Kernel, args: Mapping[str, object]) -> tuple[object, ...]:
    """Arguments by name in the order of the kernel's parameters.

    >>> in_order("square", Kernel("square.cu", ("*u8", "u4"), ("out", "count")), {"count": 3, "out": "an array"})
    ('an array', 3)
    >>> in_order("square", Kernel("square.cu", ("*u8", "u4"), ("out", "count")), {"size": 3, "out": "an array"})
    Traceback (most recent call last):
    gpu_nim.model.errors.KernelArgumentError: square takes out, count, got size, out
    """
    if args.keys() != set(entry.names):
        raise KernelArgumentError(f"{kernel} takes {', '.join(entry.names)}, got {', '.join(args)}")
    return tuple(args[name] for name in entry.names)


def check_arguments(kernel: str, entry: Kernel, args: Sequence[object], array_type: type[Any] = np.ndarray) -> tuple[Any, ...]:
    """Return the arguments of a kernel: arrays of `array_type`, checked, and integers as NumPy scalars of the declared types.

    Raises `KernelArgumentError` for a wrong number of arguments, an array of another type, dtype or not C-contiguous, and an
    integer out of its parameter's range.

    >>> square = Kernel("square.cu", ("*u8", "u4"))
    >>> check_arguments("square", square, (np.zeros(3, np.uint64), 3))
    (array([0, 0, 0], dtype=uint64), np.uint32(3))
    >>> check_arguments("square", square, (np.zeros(3), 3))
    Traceback (most recent call last):
    gpu_nim.model.errors.KernelArgumentError: square, argument 0: expected an array of uint64, got float64
    """
    if len(args) != len(entry.params):
        raise KernelArgumentError(f"{kernel} takes {len(entry.params)} arguments, got {len(args)}")
    return tuple(
        _check_array(kernel, index, param, value, array_type) if param[0] == "*" else _check_scalar(kernel, index, param, value)
        for index, (param, value) in enumerate(zip(entry.params, args, strict=True))
    )


# Messages are formatted only on errors: some kernels are launched thousands of times.
def _check_array(kernel: str, index: int, param: str, value: Any, array_type: type[Any]) -> Any:
    dtype = _dtype(param)
    if isinstance(value, array_type) and value.dtype == dtype and value.flags.c_contiguous:
        return value
    where = f"{kernel}, argument {index}"
    if not isinstance(value, array_type):
        wanted = f"{array_type.__module__}.{array_type.__qualname__}"
        raise KernelArgumentError(f"{where}: expected a {wanted} of {dtype}, got {type(value).__name__}")
    if value.dtype != dtype:
        raise KernelArgumentError(f"{where}: expected an array of {dtype}, got {value.dtype}")
    raise KernelArgumentError(f"{where}: expected a C-contiguous array, got a strided view")


def _check_scalar(kernel: str, index: int, param: str, value: Any) -> np.generic:
    dtype, least, most = _range(param)
    try:
        number = operator.index(value)
    except TypeError:
        where = f"{kernel}, argument {index}"
        raise KernelArgumentError(f"{where}: expected an integer ({dtype}), got {type(value).__name__}") from None
    if not least <= number <= most:
        raise KernelArgumentError(f"{kernel}, argument {index}: expected {least} to {most} ({dtype}), got {number}")
    scalar: np.generic = dtype.type(number)
    return scalar


@functools.cache
def _dtype(param: str) -> np.dtype[Any]:
    return np.dtype(param.lstrip("*c"))


@functools.cache
def _range(param: str) -> tuple[np.dtype[Any], int, int]:
    limits = np.iinfo(param)
    return np.dtype(param), int(limits.min), int(limits.max)
