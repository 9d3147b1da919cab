"""The coordinates in which CUDA grows on exactly one touch (`cuda/exactly_one.cu`), and the bricks of its states.

A growth that is symmetric under permutations is stored in u = x_0 - x_1, v = x_1 - x_2, w = x_2, in the plane v = x_0 - x_1, w =
x_1; others in their own coordinates, in the plane v and w. Where sums of coordinates are even, the parity of w follows from u and
v, and every second w has a bit. A brick has 32 rows, 4 x 8 in space and 1 x 32 in the plane, of 32 bits along w.
"""

from __future__ import annotations

from functools import reduce
from itertools import compress
from operator import add
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.rule import Cells, Rule, Symmetry

ROWS = BITS = 32
"""Of a brick: its rows, and the bits of each."""


class BrickGrid:
    """Where the cells of a rule lie in bricks.

    Attributes:
        size: of a brick in u, v and w, shape (3,).
        origin: the (u, v, w) from which places are counted, even numbers: 0.

    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> grid = BrickGrid(square)
    >>> grid.locate(np.array([[70, 30]])).tolist()  # u = 0, v = 70 - 30, w = 30
    [[0, 40, 30]]
    >>> grid.cells(np.array([[0, 40, 30]])).tolist()
    [[70, 30]]
    """

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.spatial = rule.dimension == 3
        self.folded = rule.symmetry is not Symmetry.NONE
        self.signed = rule.symmetry is Symmetry.CUBE
        self.packed = self.spatial and rule.even_sum
        self.log_v = 3 if self.spatial else 5
        self.step = 2 if self.packed else 1
        # Rows of `unfold` are coordinates of a cell as sums of u, v and w; `fold` takes them back.
        unfold = np.triu(np.ones((3, 3), np.int64)) if self.folded else np.eye(3, dtype=np.int64)
        fold = np.triu(np.where(np.eye(3, k=1), -1, np.eye(3)).astype(np.int64)) if self.folded else unfold
        if not self.spatial:
            unfold = unfold[1:] * np.array([0, 1, 1])
            fold = np.concatenate((np.zeros((1, 2), np.int64), fold[1:, 1:]))
        self._unfold, self._fold = unfold, fold
        self.size = np.array((1 << 5 - self.log_v, 1 << self.log_v, BITS * self.step), np.int64)
        self.origin = np.zeros(3, np.int64)

    def locate(self, cells: Cells) -> NDArray[np.int64]:
        """Return the (u, v, w) of cells, shape (N, 3)."""
        return cells.astype(np.int64) @ self._fold.T - self.origin

    def cells(self, places: Any, xp: ModuleType = np) -> Any:
        """Return the cells at these (u, v, w), arrays of `xp`, shape (N, dimension)."""
        moved = [places[:, axis] + corner for axis, corner in enumerate(self.origin.tolist())]
        # Sums, where a matrix product would do: CuPy hands products to cuBLAS, which the extras do not install.
        return xp.stack([reduce(add, compress(moved, row)) for row in self._unfold.tolist()], axis=1)

    def parity(self, u: Any, v: Any) -> Any:
        """Return the least w of a row."""
        return ((u + v * (not self.folded)) & 1) * self.packed

    def split(self, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return, for cells at (u, v, w), their bricks' places in bricks, their rows in the brick, their bits in the row."""
        bricks = places // self.size
        within = places % self.size
        row = within[:, 0] << self.log_v | within[:, 1]
        bit = (within[:, 2] - self.parity(places[:, 0], places[:, 1])) // self.step
        return bricks, row, bit

    def join(self, bricks: Any, row: Any, bit: Any, xp: ModuleType = np) -> Any:
        """Return the (u, v, w) of cells given by bricks, rows and bits, arrays of `xp`: the inverse of `split`."""
        u = bricks[:, 0] * self.size[0] + (row >> self.log_v)
        v = bricks[:, 1] * self.size[1] + (row & (1 << self.log_v) - 1)
        return xp.stack((u, v, bricks[:, 2] * self.size[2] + bit * self.step + self.parity(u, v)), axis=1)

    def decode(self, bricks: NDArray[np.int64], words: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the cells whose bits are set.

        Args:
            bricks: their places in bricks, shape (N, 3).
            words: their rows, shape (N, 32).

        Returns:
            Shape (cells, dimension), in no order.
        """
        filled = np.flatnonzero(words)
        bits = np.unpackbits(words.reshape(-1)[filled].astype("<u4").view(np.uint8), bitorder="little").reshape(-1, BITS)
        index, bit = np.nonzero(bits)
        brick, row = np.divmod(filled[index], ROWS)
        cells: NDArray[np.int64] = self.cells(self.join(bricks[brick], row, bit))
        return cells
