"""The places of the cells of an exactly-one growth in the bricks of `cuda/exactly_one.cu`, and the bricks it can reach."""

from __future__ import annotations

from functools import cached_property, reduce
from itertools import compress, product
from operator import add
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.table import read_constants
from gpu_nim.model.digest import COEFFICIENTS
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.rule import Cells, Rule, Symmetry

__all__ = ["BITS", "FIELD", "ROWS", "Bricks"]

_CONSTANTS = read_constants("exactly_one.cu")
ROWS = BITS = 32
"""Of a brick: a row a lane, and the bits of a word."""
FIELD = _CONSTANTS["FIELD"]
"""Bits of a brick's coordinate in a list."""
_LISTED_BYTES = 4 * 8 + 2 * 4 * ROWS  # a listed brick's place in four lists and its newborns in two planes
_REPORT_BYTES = 4 + 3 * 8  # a generation's count of bricks, births, checksum and section
_MAX_COLUMNS = 2**28
_LONGEST = 4  # rows in u of a brick in space: a touch goes no further


class Bricks:
    """The places of the cells of a growth to generation `last`: coordinates (u, v, w), and the bricks that the growth can reach.

    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> bricks = Bricks(square, 100)
    >>> bricks.locate(np.array([[70, 30]])).tolist()  # u = 0, v = 70 - 30, w = 30
    [[0, 40, 30]]
    >>> bricks.cells(np.array([[0, 40, 30]])).tolist()
    [[70, 30]]
    >>> bricks.count  # of 32 by 32 cells, in 0 <= w <= u / 2 + w <= 50
    6
    """

    def __init__(self, rule: Rule, last: int) -> None:
        self.rule, self.last = rule, last
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
        low = [-self._support(-functional) for functional in fold]
        high = [self._support(functional) for functional in fold]
        walls = (self.folded, self.folded, self.signed or rule.octant) if self.folded else (rule.octant,) * 3
        low = [max(0, value) if wall else value for value, wall in zip(low, walls, strict=True)]
        if self.folded:
            low[:2] = 0, 0
        if self.signed:
            low[2] = 0
        if low[2] >= 0:
            # A folded cell's coordinates are sums of u, v and w, and no less than any of them where none is negative.
            for place, axis in enumerate(np.eye(rule.dimension, dtype=np.int64), start=3 - rule.dimension):
                high[place] = min(high[place], self._support(axis))
        # Even corners keep the parity of a cell the parity of its place.
        self.origin = np.array([value - value % 2 for value in low], np.int64)
        self._top = np.array(high, np.int64)
        self._bottom = low[2]
        size = (1 << 5 - self.log_v, 1 << self.log_v, BITS * self.step)
        self.size = np.array(size, np.int64)
        self.columns_u, self.columns_v = (max(1, int((self._top[i] - self.origin[i]) // size[i] + 1)) for i in (0, 1))
        self.reach = self._reach()

    def _support(self, functional: NDArray[np.int64]) -> int:
        """The maximum of a linear functional over all cells alive at `last`."""
        coefficients = functional.tolist()

        def value(cell: tuple[int, ...]) -> int:
            return sum(f * x for f, x in zip(coefficients, cell, strict=True))

        return max(map(value, self.rule.seeds)) + self.last * max(0, *map(value, self.rule.offsets))

    def _reach(self) -> tuple[int, int, int]:
        """The largest distance of a newborn's touches, folded, from it: rows in u, rows in v, bits in w."""
        offsets = np.abs(np.array(self.rule.offsets, np.int64))
        most = int(offsets.max())
        if self.folded:
            # Folding brings no two points further apart, neither in the largest coordinate nor in their sum.
            difference = min(2 * most, int(offsets.sum(axis=1).max()))
            u, v, w = (difference if self.spatial else 0), difference, most
        else:
            u, v, w = (int(x) for x in np.abs(self._fold @ offsets.T).max(axis=1))
        return u, v, (w + 2) // 2 if self.packed else w

    @property
    def fits(self) -> bool:
        """Whether a newborn's touches stay within the rows of the neighbouring bricks and a window's 16 bits beyond a word.

        A row beyond two mirrors is moved along w by the sum of its distances from them, at most 8.
        """
        return max(self.reach) <= _LONGEST

    @cached_property
    def columns(self) -> NDArray[np.int64]:
        """For each column of bricks: the number of brick w less w, the first w and the last w + 1, shape (columns, 3).

        A growth lies within f.x <= most f.seed + generations * most f.offset for each f, taken here from {-1, 0, 1}^d.
        """
        if self.columns_u * self.columns_v > _MAX_COLUMNS:
            raise InsufficientMemoryError(
                f"a growth to generation {self.last} needs {self.columns_u * self.columns_v:,} columns of bricks, more than the "
                f"{_MAX_COLUMNS:,} that are planned for"
            )
        longest = max(self.columns_u, self.columns_v, int((self._top[2] - self.origin[2]) // self.size[2]) + 1)
        if longest > 1 << FIELD:
            raise InsufficientMemoryError(
                f"a growth to generation {self.last} spans {longest:,} bricks along an axis, more than the {1 << FIELD:,} that a "
                "list of bricks can name"
            )
        u0, v0, w0 = self.origin.tolist()
        starts_u = u0 + self.size[0] * np.arange(self.columns_u)
        starts_v = v0 + self.size[1] * np.arange(self.columns_v)
        shape = (self.columns_u, self.columns_v)
        low, high = np.full(shape, self._bottom), np.full(shape, self._top[2])
        for f in product((-1, 0, 1), repeat=self.rule.dimension):
            # In the fundamental domain a functional is largest with its coefficients in the domain's order.
            if not any(f) or (self.folded and sorted(f, reverse=True) != list(f)) or (self.signed and min(f) < 0):
                continue
            along = np.array(f, np.int64) @ self._unfold
            least_u = np.minimum(along[0] * starts_u, along[0] * (starts_u + self.size[0] - 1))
            least_v = np.minimum(along[1] * starts_v, along[1] * (starts_v + self.size[1] - 1))
            room = self._support(np.array(f, np.int64)) - least_u[:, None] - least_v[None, :]
            if along[2] > 0:
                np.minimum(high, room // along[2], out=high)
            elif along[2] < 0:
                np.maximum(low, -(room // -along[2]), out=low)
            else:
                high[room < 0] = self._bottom - 1
        span = int(self.size[2])
        first, stop = (low - w0) // span, np.where(high < low, (low - w0) // span, (high - w0) // span + 1)
        numbers = np.cumsum(stop - first).reshape(shape)
        return np.stack((numbers - stop, first, stop), axis=-1).reshape(-1, 3)

    @cached_property
    def count(self) -> int:
        """The number of bricks."""
        start, _, stop = self.columns[-1].tolist()
        return int(start + stop)

    @property
    def planned(self) -> int:
        """How many bricks a generation's list is planned to hold: all of them in a small growth, an eighth in a large one.

        A generation is a shell of the growth, but a shell that thickens towards each power of two: 53% of the bricks of `fcc` are
        active in generation 511, and a share that falls like 1/n from there.
        """
        return min(self.count, max(1 << 17, self.count // 8))

    def capacity(self, free: int) -> int:
        """How many bricks a list may hold if `free` bytes are free: those planned, and more in half of the remaining memory."""
        return min(self.count, self.planned + max(0, free - self.device_bytes) // 2 // _LISTED_BYTES)

    @property
    def window_rows(self) -> int:
        """Rows of a brick and of what surrounds it."""
        u, v, _ = self.reach
        return int((self.size[0] + 2 * u) * (self.size[1] + 2 * v))

    @property
    def device_bytes(self) -> int:
        """Bytes of the columns, of `touched` and slots a brick, of lists and newborns, and of counters a generation."""
        a_brick = 4 * ROWS + 4 * 4
        return 12 * len(self.columns) + a_brick * self.count + _LISTED_BYTES * self.planned + _REPORT_BYTES * (self.last + 2)

    def locate(self, cells: Cells) -> NDArray[np.int64]:
        """The (u, v, w) of cells, from the corner of the bricks, shape (N, 3)."""
        return cells.astype(np.int64) @ self._fold.T - self.origin

    def cells(self, places: Any, xp: ModuleType = np) -> Any:
        """The cells at these (u, v, w), arrays of `xp`, shape (N, dimension)."""
        moved = [places[:, axis] + corner for axis, corner in enumerate(self.origin.tolist())]
        # Sums, where a matrix product would do: CuPy hands products to cuBLAS, which the extras do not install.
        return xp.stack([reduce(add, compress(moved, row)) for row in self._unfold.tolist()], axis=1)

    def place(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The (u, v, w) of these bricks, counted in bricks, shape (N, 3)."""
        stops = self.columns[:, 0] + self.columns[:, 2]
        column = np.searchsorted(stops, numbers, side="right")
        return np.stack((*np.divmod(column, self.columns_v), numbers - self.columns[column, 0]), axis=1)

    def number(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the bricks at these (u, v, w), counted in bricks."""
        column = places[:, 0] * self.columns_v + places[:, 1]
        numbers: NDArray[np.int64] = self.columns[column, 0] + places[:, 2]
        return numbers

    def parity(self, u: Any, v: Any) -> Any:
        """The least w of a row."""
        return ((u + v * (not self.folded)) & 1) * self.packed

    def split(self, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """For cells at (u, v, w): their bricks' places in bricks, their rows in the brick, their bits in the row."""
        bricks = places // self.size
        within = places % self.size
        row = within[:, 0] << self.log_v | within[:, 1]
        bit = (within[:, 2] - self.parity(places[:, 0], places[:, 1])) // self.step
        return bricks, row, bit

    def join(self, bricks: Any, row: Any, bit: Any, xp: ModuleType = np) -> Any:
        """The (u, v, w) of cells given by bricks, rows and bits, arrays of `xp`: the inverse of `split`."""
        u = bricks[:, 0] * self.size[0] + (row >> self.log_v)
        v = bricks[:, 1] * self.size[1] + (row & (1 << self.log_v) - 1)
        return xp.stack((u, v, bricks[:, 2] * self.size[2] + bit * self.step + self.parity(u, v)), axis=1)

    @property
    def flags(self) -> int:
        """The rule's flags in cuda/exactly_one.cu."""
        return (
            self.spatial * _CONSTANTS["SPATIAL"]
            | self.folded * _CONSTANTS["FOLDED"]
            | self.signed * _CONSTANTS["SIGNED"]
            | self.packed * _CONSTANTS["PACKED"]
            | (not self.folded) * _CONSTANTS["PARITY_OF_V"]
        )

    def touchers(self) -> NDArray[np.int32]:
        """For each offset, in one number: the distance of the toucher's window from the row's, and its shift for each parity."""
        u, v, w = self._fold @ np.array(self.rule.offsets, np.int64).T
        width = int(self.size[1]) + 2 * self.reach[1]
        even, odd = (
            _CONSTANTS["MARGIN"] + (parity * self.packed - w - self.parity(parity - u, -v)) // self.step for parity in (0, 1)
        )
        packed: NDArray[np.int32] = (-(u * width + v) << 16 | odd << 8 | even).astype(np.int32)
        return packed

    @property
    def defines(self) -> dict[str, int | str]:
        """The constants that the kernels are compiled with for the rule."""
        reach_u, reach_v, reach_k = self.reach
        return {
            "LOG_V": self.log_v,
            "REACH_U": reach_u,
            "REACH_V": reach_v,
            "REACH_K": reach_k,
            "FLAGS": self.flags,
            "OFFSETS": ",".join(map(str, self.touchers().tolist())),
        }

    def mixing(self) -> tuple[int, int, int, int]:
        """The digest's linear mix of a representative in u, v and w, and that of the corner."""
        coefficients = COEFFICIENTS[: self.rule.dimension]
        weights = [sum(k * int(x) for k, x in zip(coefficients, axis, strict=True)) % 2**64 for axis in self._unfold.T]
        corner = self.cells(np.zeros((1, 3), np.int64))[0].tolist()
        return (*weights, sum(k * x for k, x in zip(coefficients, corner, strict=True)) % 2**64)

    def section(self, axis: int, value: int) -> tuple[int, int, int]:
        """For newborns whose coordinate `axis` is `value`: the kernel's axes and level, and how often its sum counts each."""
        if not self.folded:
            at = axis + 3 - self.rule.dimension
            return 1 << at, int(value - self.origin[at]), 1
        level = abs(value) if self.signed else value
        return 8, int(level - self.origin[2]), self.rule.dimension * (2 if self.signed and value else 1)
