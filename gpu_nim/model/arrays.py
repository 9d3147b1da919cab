"""Types of arrays, dtypes of cells, long integers in arrays, and equality and hashes of values that hold arrays.

An integer of more than 64 bits is `limbs` uint64 numbers, least significant first, along a last axis.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
Ints = NDArray[np.int64]
#: uint64, or object holding non-negative Python integers.
Integers = NDArray[Any]

_SUMMED = 1 << 15  # values that are added at a time: they stay in the second-level cache


def to_limbs(values: Sequence[int] | Integers, limbs: int) -> U64:
    """Return non-negative integers as uint64 limbs, least significant first, along a new last axis.

    >>> to_limbs([2**64 + 5], 2).tolist()
    [[5, 1]]
    """
    size, integers = 8 * limbs, np.asarray(values, object)
    packed = b"".join([int(value).to_bytes(size, "little") for value in integers.flat])
    return np.frombuffer(packed, "<u8").astype(np.uint64, copy=False).reshape(*integers.shape, limbs)


def to_integers(values: U64) -> list[int]:
    """Return the integers that `to_limbs` packed, or plain uint64 of shape (n,), as Python integers.

    >>> to_integers(to_limbs([7, 2**100], 2)) == [7, 2**100]
    True
    """
    if values.ndim == 1:
        plain: list[int] = values.tolist()
        return plain
    size = 8 * values.shape[1]
    packed = np.ascontiguousarray(values, "<u8").tobytes()
    return [int.from_bytes(packed[i : i + size], "little") for i in range(0, len(packed), size)]


def distinct_rows(rows: Ints, below: int) -> tuple[Ints, NDArray[np.intp]]:
    """Return the distinct rows in lexicographic order, (n, k), and the index of each row among them; entries are 0 to below - 1.

    Rows that fit one number are sorted as one.

    >>> [each.tolist() for each in distinct_rows(np.array([[1, 2], [0, 3], [1, 2]]), 4)]
    [[[0, 3], [1, 2]], [1, 0, 1]]
    """
    width = rows.shape[1]
    if below**width >= 1 << 63:
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        return distinct, inverse.ravel()
    places = np.array([below**place for place in reversed(range(width))], np.int64)
    _, index, inverse = np.unique(rows @ places, return_index=True, return_inverse=True)
    return rows[index], inverse


def sum_of(values: U64) -> int:
    """Return the exact sum of the integers that `to_integers` returns.

    >>> sum_of(to_limbs([2**64 - 1, 2**100], 2)) == 2**100 + 2**64 - 1
    True
    """
    total = 0
    for start in range(0, len(values), _SUMMED):
        some = values[start : start + _SUMMED].reshape(-1, values[:1].size)
        for limb, (column, high) in enumerate(zip(some.T, (some >> np.uint64(32)).T, strict=True)):
            upper = int(high.sum()) << 32  # that of the lower halves, too, is below 2^64
            total += upper + (int(column.sum()) - upper) % (1 << 64) << 64 * limb
    return total


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array that cannot be written to, for values that are compared and hashed by it.

    >>> read_only(np.arange(3)).flags.writeable
    False
    """
    view = array.view()
    view.flags.writeable = False
    return view


def coordinate_dtype(lower: tuple[int, ...], upper: tuple[int, ...]) -> np.dtype[np.signedinteger[Any]]:
    """Return the smallest signed integer dtype that holds every coordinate of the box and its negative: for states and files.

    >>> coordinate_dtype((-128, 0), (0, 5))
    dtype('int16')
    """
    size = max(map(abs, lower + upper))
    return next(np.dtype(t) for t in (np.int8, np.int16, np.int32, np.int64) if size <= np.iinfo(t).max)


def cell_dtype(lower: tuple[int, ...], upper: tuple[int, ...]) -> np.dtype[np.signedinteger[Any]]:
    """Return the dtype of cells of the box that is wide enough for calculations: int32, or else int64.

    It holds the sum of a cell's coordinates, whatever their signs, and the difference of two cells.

    >>> cell_dtype((0, 0, 0), (100, 100, 100)), cell_dtype((0, 0, 0), (2**30, 2**30, 2**30))
    (dtype('int32'), dtype('int64'))
    """
    size = sum(max(high, -low, high - low) for low, high in zip(lower, upper, strict=True))
    return np.dtype(np.int32 if size <= np.iinfo(np.int32).max else np.int64)


def corners(cells: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the least and the greatest coordinates of cells (N, d), N at least 1, shape (2, d).

    >>> corners(np.array([[0, 5], [3, -1]], np.int8)).tolist()
    [[0, -1], [3, 5]]
    """
    # Column by column, which takes a tenth of the time of NumPy's own reduction along the first axis.
    return np.array([[column.min() for column in cells.T], [column.max() for column in cells.T]], np.int64)


class ArrayValue:
    """Makes a dataclass whose fields may be arrays comparable and hashable; mark it `@dataclass(frozen=True, eq=False)`.

    Two of them are equal if they have one class and all compared fields are equal; arrays may be equal with different dtypes.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, eq=False)
    ... class Found(ArrayValue):
    ...     cells: np.ndarray
    >>> Found(np.arange(3)) == Found(np.arange(3)), Found(np.arange(3)) == Found(np.arange(4))
    (True, False)
    """

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(same(mine, theirs) for mine, theirs in zip(self._compared(), other._compared(), strict=True))

    def __hash__(self) -> int:
        # Only the lengths of arrays, mappings and lists: equal values have equal hashes, and no array has to be read.
        return hash((type(self), *(hashable(value) for value in self._compared())))

    def _compared(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self) if field.compare]  # type: ignore[arg-type]


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal, arrays and what holds arrays included.

    >>> same({"state": np.zeros(2)}, {"state": np.zeros(2)}), same([np.zeros(2)], [np.ones(2)])
    (True, False)
    """
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return isinstance(left, np.ndarray) and isinstance(right, np.ndarray) and np.array_equal(left, right)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def hashable(value: Any) -> Any:
    """A hashable stand-in for a value, the same for equal values."""
    if isinstance(value, np.ndarray):
        return value.shape
    return len(value) if isinstance(value, Mapping | list | tuple) else value
