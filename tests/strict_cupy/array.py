"""`ndarray`: what `cupy.ndarray` does and refuses, on memory of the host; and functions that make arrays, or are those of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Never, SupportsInt

import numpy as np

from tests.strict_cupy.needs import NEEDS, Need, note
from tests.strict_cupy.pool import hold

__all__ = ["FUNCTIONS", "ndarray"]

_NO_CUBLAS = "libcublas.so: cannot open shared object file: the extras install no cuBLAS, to which CuPy hands matrix products"


class _Memory:
    """The pointer to an array's memory, `cupy.cuda.MemoryPointer`."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    @property
    def ptr(self) -> int:
        return self._array.ctypes.data

    def memset_async(self, value: int, size: int) -> None:
        note("ndarray.fill", Need.MEMORY)
        self._array.reshape(-1).view(np.uint8)[:size] = value


def _reduction(name: str) -> Callable[..., ndarray]:
    def reduce(self: ndarray, axis: int | None = None, dtype: Any = None) -> ndarray:
        note(f"ndarray.{name}")
        result: ndarray = on_device(getattr(self._host, name)(axis=axis, **({} if dtype is None else {"dtype": dtype})))
        return result

    return reduce


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):  # noqa: N801
    """An array in device memory; `_host` is where it lies in truth."""

    __array_priority__ = 100

    def __init__(self, host: np.ndarray) -> None:
        if host.dtype.kind not in "biufc":
            raise ValueError(f"Unsupported dtype {host.dtype}")
        hold(host)
        self._host = host

    dtype = property(lambda self: self._host.dtype)
    shape = property(lambda self: self._host.shape)
    strides = property(lambda self: self._host.strides)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    itemsize = property(lambda self: self._host.itemsize)
    nbytes = property(lambda self: self._host.nbytes)
    data = property(lambda self: _Memory(self._host))
    T = property(lambda self: _viewed(self, "T", self._host.T))

    @property
    def flags(self) -> SimpleNamespace:
        """CuPy knows only these; its arrays can always be written."""
        known = ("c_contiguous", "f_contiguous", "owndata")
        return SimpleNamespace(**{name: getattr(self._host.flags, name) for name in known})

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self._host.__array_interface__, "version": 3, "stream": None}

    # To the host and back.

    def get(self, stream: Any = None, order: str = "C", out: np.ndarray | None = None, blocking: bool = True) -> np.ndarray:
        if out is None:
            note("ndarray.get", Need.MEMORY if self.flags.c_contiguous else Need.KERNEL)
            return np.array(self._host, order=order)
        self._check_host(out, "obtained from")
        if not out.flags.c_contiguous and not out.flags.f_contiguous:
            raise RuntimeError("`out` cannot be specified when copying to non-contiguous ndarray")
        note("ndarray.get", Need.MEMORY if self.flags.c_contiguous and out.flags.c_contiguous else Need.KERNEL)
        if blocking:
            out[...] = self._host
        else:
            stream.copy(self, out)
        return out

    def set(self, arr: np.ndarray, stream: object = None) -> None:
        self._check_host(arr, "set to")
        if not self.flags.c_contiguous:
            raise RuntimeError("Cannot set to non-contiguous array")
        note("ndarray.set")
        self._host[...] = arr

    def _check_host(self, other: object, copied: str) -> None:
        if not isinstance(other, np.ndarray):
            raise TypeError(f"Only numpy.ndarray can be {copied} cupy.ndarray")
        if self.dtype != other.dtype:
            raise TypeError(f"{other.dtype} array cannot be {copied} {self.dtype} array")
        if self.shape != other.shape:
            raise ValueError(f"Shape mismatch: {self.shape} and {other.shape}")

    def item(self) -> Any:
        note("ndarray.item")
        return self._host.item()

    def tolist(self) -> Any:
        note("ndarray.tolist")
        return self._host.tolist()

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("The truth value of an array without exactly one element is ambiguous. Use a.any() or a.all()")
        return bool(self.item())

    def __repr__(self) -> str:
        return repr(self._host)

    def __array__(self, dtype: object = None, copy: object = None) -> Never:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly."
        )

    def __iter__(self) -> Never:
        raise TypeError("iterating over a device array copies each element on its own: use `.get()` first")

    def __len__(self) -> int:
        return len(self._host)

    # Elements.

    def __getitem__(self, index: Any) -> ndarray:
        places = _places(index)
        if _is_basic(places):
            note("ndarray.__getitem__", Need.VIEW)
            return ndarray(self._host[_as_view(places)])
        note("ndarray.__getitem__")
        return on_device(self._host[places])

    def __setitem__(self, index: Any, value: Any) -> None:
        places = _places(index)
        if not _is_basic(places):
            note("ndarray.__setitem__")
            if isinstance(value, ndarray):
                self._refuse_repeated(places)
            self._host[places] = value._host if isinstance(value, ndarray) else _scalar(value, self.dtype)
            return
        part = self._host[_as_view(places)]
        if isinstance(value, ndarray):
            source = value._host
            plain = (part.shape, part.strides, part.dtype) == (source.shape, source.strides, source.dtype)
            note("ndarray.__setitem__", Need.MEMORY if plain and part.flags.c_contiguous else Need.KERNEL)
            part[...] = source
        else:
            ndarray(part).fill(value)

    def _refuse_repeated(self, places: Any) -> None:
        numbers = np.arange(self.size).reshape(self.shape)[places]
        if np.unique(numbers).size != numbers.size:
            raise ValueError("several values are assigned to one place, and which of them is stored is undefined in CuPy")

    def fill(self, value: SupportsInt) -> None:
        number = _scalar(value, self.dtype)
        note("ndarray.fill", Need.MEMORY if number == 0 and self.flags.c_contiguous else Need.KERNEL)
        self._host[...] = number

    # Shapes and types.

    def reshape(self, *shape: Any) -> ndarray:
        return _viewed(self, "reshape", self._host.reshape(*shape))

    def view(self, dtype: Any) -> ndarray:
        return _viewed(self, "view", self._host.view(dtype))

    def astype(self, dtype: Any, copy: bool = True) -> ndarray:
        if not copy and self.dtype == dtype:
            return self
        note("ndarray.astype")
        return ndarray(self._host.astype(dtype))

    def copy(self) -> ndarray:
        note("ndarray.copy")
        return ndarray(self._host.copy())

    def sort(self) -> None:
        note("ndarray.sort")
        if not self.flags.c_contiguous:
            raise NotImplementedError("Sorting non-contiguous array is not supported.")
        self._host.sort(kind="stable")

    # Arithmetic.

    def __matmul__(self, other: object) -> Never:
        raise ImportError(_NO_CUBLAS)

    __rmatmul__ = __imatmul__ = __matmul__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: tuple[Any, ...] = (), **options: Any) -> Any:
        if method != "__call__" or ufunc.__name__ not in NEEDS:
            return NotImplemented
        note(ufunc.__name__)
        operands = [on_host(operand) for operand in inputs]
        if not out:
            return on_device(ufunc(*operands, **options))
        if len(out) != 1:
            raise ValueError("The 'out' parameter must have exactly one array value")
        ufunc(*operands, out=on_host(out[0]), **options)
        return out[0]

    def __array_function__(self, function: Callable[..., Any], _: Any, args: Any, options: Any) -> Any:
        """NumPy's functions on these arrays are those of CuPy, where it has them."""
        own = FUNCTIONS.get(function.__name__)
        return NotImplemented if own is None else own(*args, **options)

    all, any = _reduction("all"), _reduction("any")
    max, min, sum = _reduction("max"), _reduction("min"), _reduction("sum")


def on_device(result: Any) -> Any:
    """What NumPy gave, as CuPy gives it: arrays of its own, never scalars."""
    if isinstance(result, tuple):
        return tuple(map(on_device, result))
    return ndarray(np.asarray(result))


def on_host(operand: Any) -> Any:
    """An operand as NumPy takes it; TypeError for a NumPy array, which lies on the host."""
    if isinstance(operand, ndarray):
        return operand._host
    if isinstance(operand, np.ndarray):
        raise TypeError(f"Unsupported type {type(operand)}")
    if isinstance(operand, list | tuple):
        return type(operand)(map(on_host, operand))
    return operand


def _viewed(array: ndarray, name: str, result: np.ndarray) -> ndarray:
    note(f"ndarray.{name}", Need.VIEW if np.shares_memory(result, array._host) or not result.size else Need.KERNEL)
    return ndarray(result)


def _places(index: Any) -> tuple[Any, ...]:
    places = index if isinstance(index, tuple) else (index,)
    for place in places:
        if isinstance(place, np.ndarray | list):
            raise TypeError(f"a {type(place).__name__} as an index is copied to the device unreported: use `asarray`")
    if sum(isinstance(place, ndarray) and place.dtype == bool for place in places) > 1:
        raise ValueError("more than one boolean array in an index is not supported")
    return tuple(place._host if isinstance(place, ndarray) else place for place in places)


def _is_basic(places: tuple[Any, ...]) -> bool:
    return not any(isinstance(place, np.ndarray) for place in places)


def _as_view(places: tuple[Any, ...]) -> tuple[Any, ...]:
    """With an ellipsis NumPy gives a view even of a single element."""
    return places if Ellipsis in places else (*places, Ellipsis)


def _scalar(value: Any, dtype: np.dtype) -> Any:
    scalar = np.asarray(value, dtype)
    if scalar.shape != ():
        raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
    return scalar[()]


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
