"""What solvers of games share: boxes and wedges, the dtype of Grundy values, and sets of them as bits of 64-bit words."""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import U64, Ints


class Box:
    """The cells 0 <= x <= limits.

    Attributes:
        shape: the sides.
        cells: the number of cells.
        last: the largest total of coordinates.
        choices: of all coordinates but the longest, which a total then gives. No more cells are P-positions: of two on one line
            along an axis, the lower one would be an option of the other.
    """

    def __init__(self, limits: Sequence[int]) -> None:
        self.shape = tuple(limit + 1 for limit in limits)
        self.cells = prod(self.shape)
        self.last = sum(limits)
        self.choices = self.cells // max(self.shape)

    def __str__(self) -> str:
        return f"a box of {self.cells:,} cells"


class Wedge(Box):
    """The box of the positions (x, y, z), 0 <= y <= top[x, z].

    Attributes:
        top: int64 (nx, nz), decreasing along neither axis.
        nx: the first side.
        ny: the second side.
        nz: the third side.
        width: the number of sums x + z.
        positions: the number of positions.
    """

    def __init__(self, top: Ints) -> None:
        self.top = top
        self.nx, self.nz = top.shape
        self.ny = int(top.max()) + 1
        super().__init__((self.nx - 1, self.ny - 1, self.nz - 1))
        self.width = self.nx + self.nz - 1
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
