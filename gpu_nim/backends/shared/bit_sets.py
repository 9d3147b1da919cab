"""Sets of numbers as bits of 64-bit words, and the least number that is not in a set."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import U64, Ints


def mex(words: U64) -> Ints:
    """The least value whose bit is missing, of masks (words, n); one is missing in each.

    >>> mex(np.array([[0b1011, 0b0110]], np.uint64)).tolist()
    [2, 0]
    """
    free = ~words
    word = (free != 0).argmax(axis=0)
    first = free[word, np.arange(words.shape[1])]
    result: Ints = word * 64 + np.bitwise_count((first & (~first + np.uint64(1))) - np.uint64(1))
    return result


def bit_of(values: NDArray[Any]) -> tuple[Ints, U64]:
    """The word and the bit in it of each value."""
    values = values.astype(np.int64)
    return values >> 6, np.uint64(1) << (values & 63).astype(np.uint64)
