"""Many positions of Nim at once: every function takes an array whose last axis runs over the piles.

Results are exact: positions are int64 where no total and no child exceeds 64 bits, and object arrays of Python integers elsewhere.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpu_nim.games.nim.positions import FIRST_DIRECTIONS, STEPS, TURNS, as_position
from gpu_nim.model.errors import UsageError

Positions = NDArray[Any]


def as_positions(values: ArrayLike) -> Positions:
    """The values as an array of positions (..., k): int64, or object where a total might exceed 64 bits.

    Raises UsageError for anything but non-negative integers, and for a last axis of length 0.

    >>> as_positions([[1, 2, 3], [2**64, 0, 2**64]]).dtype
    dtype('O')
    """
    array = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise UsageError(f"positions must be an array (..., piles) with at least one pile, got shape {array.shape}")
    if array.dtype == object:
        array = np.array([as_position([value])[0] for value in array.ravel()], dtype=object).reshape(array.shape)
    elif array.dtype.kind not in "iu":
        raise UsageError(f"positions must be integers, got dtype {array.dtype}")
    elif array.size and array.min() < 0:
        raise UsageError(f"positions must be non-negative integers, got {array.min()}")
    fits = (int(array.max(initial=0)) + 1) * array.shape[-1] < 1 << 63
    return array.astype(np.int64 if fits else object, copy=False)


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


def parent_counts(positions: ArrayLike) -> NDArray[np.int64]:
    """The number of parents of each of N P-positions (N, k): pairs of non-empty piles that end in equally many 0s [NF Lemma 21].

    Raises UsageError for an N-position.

    >>> parent_counts([[0, 0, 1, 1], [1, 1, 2, 2], [1, 1, 1, 1]])
    array([1, 2, 6])
    """
    array = _p_positions(positions)
    return _alike(array & -array).sum(axis=-1, dtype=np.int64)


def child_counts(positions: ArrayLike) -> NDArray[np.int64]:
    """The number of children of each of N P-positions (N, k): pairs of piles that end in equally many 1s [NF Lemma 23].

    Raises UsageError for an N-position.

    >>> child_counts([[0, 1, 2, 3], [0, 0, 1, 1], [1, 1, 1, 1]])
    array([1, 2, 6])
    """
    array = _p_positions(positions)
    return _alike(~array & (array + 1)).sum(axis=-1, dtype=np.int64)


def parents_of(positions: ArrayLike) -> tuple[NDArray[np.int64], Positions]:
    """Every parent of each of N P-positions (N, k): row numbers (E,) and the parents (E, k), in order of row and pair.

    >>> rows, found = parents_of([[1, 2, 3], [1, 1, 1], [0, 0, 0]][:1])
    >>> rows.tolist(), found.tolist()
    ([0], [[0, 2, 2]])
    """
    array = _p_positions(positions)
    return _moved(array, _alike(array & -array), -1)


def children_of(positions: ArrayLike) -> tuple[NDArray[np.int64], Positions]:
    """Every child of each of N P-positions (N, k): row numbers (E,) and the children (E, k), in order of row and pair.

    >>> rows, found = children_of([[0, 0, 0], [1, 2, 3]])
    >>> rows.tolist(), found.tolist()
    ([0, 0, 0], [[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    """
    array = _p_positions(positions)
    return _moved(array, _alike(~array & (array + 1)), 1)


def cells_of(positions: ArrayLike) -> NDArray[Any]:
    """The cells of N three-pile P-positions (N, 3): (N, 2), int64, or object past 61 binary digits.

    Raises UsageError as `gpu_nim.games.nim.positions.walk`.

    >>> cells_of([[14, 11, 5], [0, 2, 2]]).tolist()
    [[10, -3], [-2, 0]]
    """
    array = as_positions(positions)
    if array.ndim != 2 or array.shape[1] != 3 or not are_p_positions(array).all():
        raise UsageError(f"positions must be P-positions of three piles, (N, 3), got shape {array.shape} or N-positions")
    cells = np.zeros((len(array), 2), array.dtype)
    last = np.full(len(array), -1, dtype=np.int8)
    direction = np.zeros(len(array), dtype=np.int8)
    turns, first = np.array(TURNS, dtype=np.int8), np.array(FIRST_DIRECTIONS, dtype=np.int8)
    steps = np.array(STEPS, array.dtype)
    for bit in reversed(range(int(array.max(initial=0)).bit_length())):
        digits = (array >> bit & 1).astype(bool)
        here = digits.any(axis=1)
        pair = np.where(digits[:, 0], np.where(digits[:, 1], 0, 1), 2).astype(np.int8)[here]
        ahead = np.where(last[here] < 0, first[pair], (direction[here] + turns[(pair - last[here]) % 3]) % 4)
        direction[here], last[here] = ahead, pair
        cells[here] += steps[ahead] * (1 << bit)
    return cells


def _p_positions(positions: ArrayLike) -> Positions:
    array = as_positions(positions)
    if array.ndim != 2:
        raise UsageError(f"positions must be an array (N, piles), got shape {array.shape}")
    p = are_p_positions(array)
    if not p.all():
        raise UsageError(f"positions must be P-positions (nim-sum 0), got {tuple(array[~p][0].tolist())}")
    return array


def _alike(powers: Positions) -> NDArray[np.bool_]:
    """Which pairs of piles i < j have the same power of two, not 0, shape (N, C(k, 2)): that of the last binary 1 or 0 of each."""
    i, j = np.triu_indices(powers.shape[-1], 1)
    return np.asarray((powers[..., i] == powers[..., j]) & (powers[..., i] != 0), dtype=np.bool_)


def _moved(array: Positions, pairs: NDArray[np.bool_], change: int) -> tuple[NDArray[np.int64], Positions]:
    """The row of each pair, and that row with `change` added to both piles."""
    rows, columns = np.nonzero(pairs)
    result = array[rows]
    for piles in np.triu_indices(array.shape[1], 1):
        result[np.arange(len(rows)), piles[columns]] += change
    return rows.astype(np.int64, copy=False), result
