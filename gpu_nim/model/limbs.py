"""Integers of more than 64 bits in NumPy arrays: `limbs` uint64 numbers each, least significant first, along a last axis."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
Ints = NDArray[np.int64]
Integers = NDArray[Any]
"""uint64, or object holding non-negative Python integers."""


def to_limbs(values: Sequence[int] | Integers, limbs: int) -> U64:
    """Return non-negative integers as uint64 limbs, least significant first, shape (n, limbs).

    >>> to_limbs([2**64 + 5], 2).tolist()
    [[5, 1]]
    """
    size = 8 * limbs
    packed = b"".join([int(value).to_bytes(size, "little") for value in values])
    return np.frombuffer(packed, "<u8").astype(np.uint64, copy=False).reshape(-1, limbs)


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
