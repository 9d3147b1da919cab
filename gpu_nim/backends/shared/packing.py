"""Ascending numbers as bytes: bits of their range, or the differences of neighbours, whichever is shorter."""

import numpy as np
from numpy.typing import NDArray

_BITS = 0  # the first byte: bits follow, or differences of this many bytes
_DIFFERENCES = (np.uint8, np.uint16, np.uint32, np.uint64)


def pack(numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return ascending distinct numbers, 0 or more, as bytes, uint8 of shape (n,); none as no bytes.

    >>> len(pack(np.arange(10**6, 10**6 + 800))), len(pack(np.array([5, 10**6])))
    (109, 13)
    """
    if not len(numbers):
        return np.zeros(0, np.uint8)
    first, span = int(numbers[0]), int(numbers[-1] - numbers[0])
    differences = np.diff(numbers)
    widest = int(differences.max()) if len(differences) else 0
    dtype = next(dtype for dtype in _DIFFERENCES if widest <= np.iinfo(dtype).max)
    if span // 8 < len(differences) * np.dtype(dtype).itemsize:
        within = np.zeros(span + 1, np.bool_)
        within[numbers - first] = True
        kind, body = _BITS, np.packbits(within)
    else:
        kind, body = np.dtype(dtype).itemsize, differences.astype(dtype).view(np.uint8)
    return np.concatenate((np.array([first], "<i8").view(np.uint8), np.array([kind], np.uint8), body))


def unpack(packed: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the numbers that `pack` took.

    >>> unpack(pack(np.array([3, 4, 9]))), unpack(pack(np.array([7, 10**12])))
    (array([3, 4, 9]), array([            7, 1000000000000]))
    """
    if not len(packed):
        return np.zeros(0, np.int64)
    first, kind, body = int(packed[:8].view("<i8")[0]), int(packed[8]), packed[9:].copy()
    if kind == _BITS:
        return np.flatnonzero(np.unpackbits(body)) + first
    differences = body.view(_DIFFERENCES[kind.bit_length() - 1]).astype(np.int64)
    return np.cumsum(np.concatenate(([first], differences)))
