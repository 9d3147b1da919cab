"""What solvers of games share: the sides of a wedge, the dtype of Grundy values, and sets of them as bits of 64-bit words."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import U64, Ints


class Wedge:
    """The sides of the box of the positions (x, y, z), 0 <= y <= top[x, z].

    Attributes:
        top: int64 (nx, nz), decreasing along neither axis.
        shape: nx, ny and nz, the sides.
        width: the number of sums x + z.
        last: the largest total of coordinates in the box.
        positions: the number of positions.
    """

    def __init__(self, top: Ints) -> None:
        self.top = top
        self.nx, self.nz = top.shape
        self.ny = int(top.max()) + 1
        self.shape = (self.nx, self.ny, self.nz)
        self.width = self.nx + self.nz - 1
        self.last = sum(self.shape) - 3
        self.positions = int(top.sum()) + top.size

    def __str__(self) -> str:
        return f"{self.nx} by {self.ny} by {self.nz} positions"

    def sweep(self) -> Iterator[tuple[int, int, int]]:
        """Each total with the range START, STOP of y in which its positions are; every total has some.

        The highest y of x + z = s rises with s, since `top` does. So y has positions from the first s on that reaches it, and a
        total has all y up to the last one whose first total is not above it.
        """
        highest = np.full(self.width, -1, dtype=np.int64)
        for x in range(self.nx):
            np.maximum(highest[x : x + self.nz], self.top[x], out=highest[x : x + self.nz])
        y = np.arange(self.ny)
        totals = np.arange(self.last + 1)
        stops = np.searchsorted(y + np.searchsorted(highest, y), totals, side="right")
        return zip(totals.tolist(), np.maximum(0, totals - self.width + 1).tolist(), stops.tolist(), strict=True)


def grundy_dtype(most_moves: int) -> type[np.int16] | type[np.int32]:
    """The dtype of Grundy values of positions with so many moves at most: int16, or else int32."""
    return np.int16 if most_moves <= np.iinfo(np.int16).max - 1 else np.int32


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
