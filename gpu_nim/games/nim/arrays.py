"""Many positions of Nim at once: every function takes an array whose last axis runs over the piles.

Integer arrays of any width are taken; int64 and uint64 are kept, narrower ones become int64, and object arrays of
Python integers serve piles past 64 bits. Results are exact: where a 64-bit total or child would wrap, the result is an
object array.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpu_nim.games.nim.positions import as_position
from gpu_nim.model.errors import UsageError

Positions = NDArray[Any]


def as_positions(values: ArrayLike) -> Positions:
    """The values as an array of positions (..., k): int64, uint64 or object.

    Raises UsageError for anything but non-negative integers, and for a last axis of length 0.

    >>> as_positions([[1, 2, 3], [2**64, 0, 2**64]]).dtype
    dtype('O')
    """
    array = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise UsageError(f"positions must be an array (..., piles) with at least one pile, got shape {array.shape}")
    if array.dtype == object:
        flat = [as_position([value])[0] for value in array.ravel()]
        largest = max(flat, default=0)
        if largest <= np.iinfo(np.int64).max:
            return np.array(flat, dtype=np.int64).reshape(array.shape)
        if largest <= np.iinfo(np.uint64).max:
            return np.array(flat, dtype=np.uint64).reshape(array.shape)
        return array
    if array.dtype.kind not in "iu":
        raise UsageError(f"positions must be integers, got dtype {array.dtype}")
    if array.dtype.kind == "i" and array.size and array.min() < 0:
        raise UsageError(f"positions must be non-negative integers, got {array.min()}")
    return array.astype(np.uint64 if array.dtype == np.uint64 else np.int64, copy=False)


def nim_sums(positions: ArrayLike) -> NDArray[Any]:
    """The nim-sum of each position, shape (...), in the dtype of the positions.

    >>> nim_sums([[13, 12, 8], [1, 2, 3]])
    array([9, 0])
    """
    return np.asarray(np.bitwise_xor.reduce(as_positions(positions), axis=-1))


def are_p_positions(positions: ArrayLike) -> NDArray[np.bool_]:
    """Whether each position is a P-position, shape (...) [NF Theorem 4].

    >>> are_p_positions([[13, 12, 8], [1, 2, 3]])
    array([False,  True])
    """
    return np.asarray(nim_sums(positions) == 0, dtype=np.bool_)


def totals(positions: ArrayLike) -> NDArray[Any]:
    """The number of counters of each position, shape (...): in the dtype of the positions where no sum can wrap, else object.

    >>> totals([[2**62, 2**62, 2**62]])
    array([13835058055282163712], dtype=object)
    """
    array = as_positions(positions)
    if array.dtype != object and array.size and int(array.max()) > np.iinfo(array.dtype).max // array.shape[-1]:
        array = array.astype(object)
    return np.asarray(array.sum(axis=-1))


def winning_takes(positions: ArrayLike) -> NDArray[Any]:
    """The number to take from each pile to leave a P-position, 0 where that pile has no winning move: shape and dtype as given.

    >>> winning_takes([[13, 12, 8], [1, 2, 3]])
    array([[9, 7, 7],
           [0, 0, 0]])
    """
    array = as_positions(positions)
    left = array ^ np.expand_dims(nim_sums(array), -1)
    return np.where(left < array, array - np.minimum(left, array), np.zeros_like(array))


def generations(positions: ArrayLike) -> NDArray[Any]:
    """The generation of each P-position, half its total [NF 5.2], shape (...).

    Raises UsageError if one of them is an N-position.

    >>> generations([[14, 11, 5], [0, 0, 0]])
    array([15,  0])
    """
    return np.asarray(totals(_p_positions(positions)) // 2)


def pile_pairs(piles: int) -> NDArray[np.int64]:
    """The pairs of piles i < j in the order in which `parent_pairs` and `child_pairs` list them, shape (C(k, 2), 2).

    >>> pile_pairs(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return np.stack(np.triu_indices(piles, 1), axis=1).astype(np.int64, copy=False)


def parent_pairs(positions: ArrayLike) -> NDArray[np.bool_]:
    """For each P-position and each pair of piles, whether subtracting 1 from both gives a parent, shape (..., C(k, 2)).

    Both piles are non-empty and end in equally many binary 0s [NF Lemma 21]. Raises UsageError for an N-position.

    >>> parent_pairs([[1, 2, 3]])
    array([[False,  True, False]])
    """
    array = _p_positions(positions)
    return _equal_pairs(array & (~array + 1), exclude_zero=True)


def child_pairs(positions: ArrayLike) -> NDArray[np.bool_]:
    """For each P-position and each pair of piles, whether adding 1 to both gives a child, shape (..., C(k, 2)).

    Both piles end in equally many binary 1s [NF Lemma 23]. Raises UsageError for an N-position.

    >>> child_pairs([[1, 1, 0]])
    array([[ True, False, False]])
    """
    array = _room_for_one_more(_p_positions(positions))
    return _equal_pairs(~array & (array + 1), exclude_zero=False)


def parent_counts(positions: ArrayLike) -> NDArray[np.int64]:
    """How many parents each P-position has, shape (...).

    >>> parent_counts([[0, 0, 1, 1], [1, 1, 2, 2], [1, 1, 1, 1]])
    array([1, 2, 6])
    """
    return np.asarray(parent_pairs(positions).sum(axis=-1, dtype=np.int64))


def child_counts(positions: ArrayLike) -> NDArray[np.int64]:
    """How many children each P-position has, shape (...).

    >>> child_counts([[0, 1, 2, 3], [0, 0, 1, 1], [1, 1, 1, 1]])
    array([1, 2, 6])
    """
    return np.asarray(child_pairs(positions).sum(axis=-1, dtype=np.int64))


def parents_of(positions: ArrayLike) -> tuple[NDArray[np.int64], Positions]:
    """Every parent of each of N P-positions (N, k): row numbers (E,) and the parents (E, k), in order of row and pair.

    >>> rows, found = parents_of([[1, 2, 3], [1, 1, 1], [0, 0, 0]][:1])
    >>> rows.tolist(), found.tolist()
    ([0], [[0, 2, 2]])
    """
    array = _rows(positions)
    return _apply(array, parent_pairs(array), subtract=True)


def children_of(positions: ArrayLike) -> tuple[NDArray[np.int64], Positions]:
    """Every child of each of N P-positions (N, k): row numbers (E,) and the children (E, k), in order of row and pair.

    >>> rows, found = children_of([[0, 0, 0], [1, 2, 3]])
    >>> rows.tolist(), found.tolist()
    ([0, 0, 0], [[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    """
    array = _room_for_one_more(_rows(positions))
    return _apply(array, child_pairs(array), subtract=False)


def _p_positions(positions: ArrayLike) -> Positions:
    array = as_positions(positions)
    p = are_p_positions(array)
    if not p.all():
        first = tuple(array[~p][0].tolist()) if array.ndim > 1 else tuple(array.tolist())
        raise UsageError(f"positions must be P-positions (nim-sum 0), got {first}")
    return array


def _rows(positions: ArrayLike) -> Positions:
    array = as_positions(positions)
    if array.ndim != 2:
        raise UsageError(f"positions must be an array (N, piles), got shape {array.shape}")
    return array


def _room_for_one_more(array: Positions) -> Positions:
    if array.dtype != object and array.size and array.max() == np.iinfo(array.dtype).max:
        return array.astype(object)
    return array


def _equal_pairs(marks: Positions, *, exclude_zero: bool) -> NDArray[np.bool_]:
    """Which pairs of entries along the last axis are equal (and not 0, if `exclude_zero`)."""
    i, j = pile_pairs(marks.shape[-1]).T
    equal = marks[..., i] == marks[..., j]
    if exclude_zero:
        equal &= marks[..., i] != 0
    return np.asarray(equal, dtype=np.bool_)


def _apply(array: Positions, allowed: NDArray[np.bool_], *, subtract: bool) -> tuple[NDArray[np.int64], Positions]:
    rows, pairs = np.nonzero(allowed)
    result = array[rows]
    one = array.dtype.type(1) if array.dtype != object else 1
    for side in range(2):
        column = pile_pairs(array.shape[1])[pairs, side]
        entry = (np.arange(len(rows)), column)
        result[entry] = result[entry] - one if subtract else result[entry] + one
    return rows.astype(np.int64, copy=False), result
