"""The bricks of `cuda/exactly_one.cu` that an exactly-one growth can reach, and those of them that a rank owns.

A rank owns slabs of bricks: all bricks with one u or, in the plane, one v. Slabs leave every brick on one rank, whose kernel
decides its cells as it does on one rank alone, where layers of one coordinate, by which NumPy divides a growth, would cut bricks
in two. They are dealt out by digits, as layers are (`gpu_nim.backends.shared.owners`), and as evenly: for `edge` to generation 511
the busiest of 8 ranks has 1.09 times the mean of the bricks with births, and 1.17 times along v, where bricks are twice as wide.
"""

from __future__ import annotations

from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.table import read_constants
from gpu_nim.backends.shared.brick_grid import ROWS, BrickGrid
from gpu_nim.backends.shared.owners import owners
from gpu_nim.model.digest import COEFFICIENTS
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.rule import Rule

__all__ = ["FIELD", "Bricks"]

_CONSTANTS = read_constants("exactly_one.cu")
FIELD = _CONSTANTS["FIELD"]
"""Bits of a brick's coordinate in a list."""
_LISTED_BYTES = 4 * 8 + 2 * 4 * ROWS  # a listed brick's place in four lists and its newborns in two planes
_REPORT_BYTES = 4 + 3 * 8  # a generation's count of bricks, births, checksum and section
_ENTRY_BYTES = 4 * _CONSTANTS["ENTRY"]
_MAX_COLUMNS = 2**28
_LONGEST = 4  # rows in u of a brick in space: a touch goes no further


class Bricks(BrickGrid):
    """The bricks that a growth to generation `last` can reach, those that one of some ranks owns and those beside them.

    Places are counted from `origin`, a corner of a brick. Bricks that the rank owns are numbered from 0 to `count` - 1, and those
    beside them from there to `held` - 1.

    >>> from gpu_nim.model.rule import Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> Bricks(square, 100).count  # of 32 by 32 cells, in 0 <= w <= u / 2 + w <= 50
    6
    >>> [(part.count, part.held) for part in (Bricks(square, 100, rank, 2) for rank in range(2))]
    [(3, 6), (3, 6)]
    """

    def __init__(self, rule: Rule, last: int, rank: int = 0, ranks: int = 1) -> None:
        super().__init__(rule)
        self.last, self.rank, self.ranks = last, rank, ranks
        low = [-self._support(-functional) for functional in self._fold]
        high = [self._support(functional) for functional in self._fold]
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
        # Corners of bricks, so that a state has the same bricks whatever it was planned for.
        self.origin = np.array(low, np.int64) // self.size * self.size
        self._top = np.array(high, np.int64)
        self._bottom = low[2]
        self.columns_u, self.columns_v = (max(1, int((self._top[i] - self.origin[i]) // self.size[i] + 1)) for i in (0, 1))
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

    @property
    def slabs(self) -> int:
        """How many slabs of bricks there are."""
        return self.columns_u if self.spatial else self.columns_v

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The rank that owns each slab, shape (slabs,)."""
        return owners(self.slabs, 1, self.ranks)

    @cached_property
    def _ranges(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first w, and the last w + 1, of the bricks in each column, on all ranks, shape (columns_u, columns_v).

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
        return first, stop

    @cached_property
    def busiest(self) -> int:
        """The rank that owns most bricks."""
        return int(np.bincount(self.owners, self._sizes, self.ranks).argmax())

    @cached_property
    def _held(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether each slab is the rank's own, and whether it is only beside one of these."""
        own = self.owners == self.rank
        beside = np.zeros_like(own)
        beside[1:] = own[:-1]
        beside[:-1] |= own[1:]
        return own, beside & ~own

    @cached_property
    def columns(self) -> NDArray[np.int64]:
        """For each column of bricks: the number of brick w less w, the first w and the last w + 1, shape (columns, 3).

        Columns that the rank neither owns nor has beside its own have no bricks.
        """
        first, stop = self._ranges
        along = (slice(None), None) if self.spatial else (None, slice(None))
        own, beside = (np.broadcast_to(part[along], first.shape) for part in self._held)
        stop = np.where(own | beside, stop, first)
        sizes, starts, before = stop - first, np.zeros_like(first), 0
        for part in (own, beside):
            stops = np.cumsum(sizes[part]) + before
            starts[part] = stops - sizes[part]
            before = int(stops[-1]) if len(stops) else before
        return np.stack((starts - first, first, stop), axis=-1).reshape(-1, 3)

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """The bricks of each slab, shape (slabs,)."""
        first, stop = self._ranges
        sizes: NDArray[np.int64] = (stop - first).sum(axis=1 if self.spatial else 0)
        return sizes

    @cached_property
    def count(self) -> int:
        """The number of bricks that the rank owns."""
        return int(self._sizes[self.owners == self.rank].sum())

    @property
    def numbers(self) -> range:
        """The numbers of the bricks that the rank owns."""
        return range(self.count)

    @cached_property
    def held(self) -> int:
        """The number of bricks that it owns or has beside these."""
        own, beside = self._held
        return int(self._sizes[own | beside].sum())

    @property
    def planned(self) -> int:
        """How many bricks a generation's list is planned to hold: all of them in a small growth, an eighth in a large one.

        A generation is a shell of the growth, but a shell that thickens towards each power of two: 53% of the bricks of `fcc` are
        active in generation 511, and a share that falls like 1/n from there.
        """
        return min(self.held, max(1 << 17, self.held // 8))

    def capacity(self, free: int) -> int:
        """How many bricks a list may hold if `free` bytes are free: those planned, and more in half of the remaining memory."""
        return min(self.held, self.planned + max(0, free - self.device_bytes) // 2 // _LISTED_BYTES)

    @property
    def window_rows(self) -> int:
        """Rows of a brick and of what surrounds it."""
        u, v, _ = self.reach
        return int((self.size[0] + 2 * u) * (self.size[1] + 2 * v))

    @property
    def device_bytes(self) -> int:
        """Bytes of the columns, of `touched` and slots, of lists and newborns, of counters, and of what is sent and received."""
        bricks = 4 * ROWS * self.count + 4 * 4 * self.held
        columns = 12 * self.columns_u * self.columns_v
        return columns + bricks + _LISTED_BYTES * self.planned + _REPORT_BYTES * (self.last + 2) + 2 * self.sent_bytes

    @property
    def sent_bytes(self) -> int:
        """Bytes planned for what the rank sends to others in a generation."""
        own, _ = self._held
        borders = np.zeros(self.slabs, np.int64)
        borders[1:] += self.owners[:-1] != self.owners[1:]
        borders[:-1] += self.owners[:-1] != self.owners[1:]
        sent = int((self._sizes * borders)[own].sum()) * self.planned // max(1, self.count)
        rows = self.reach[0] << self.log_v if self.spatial else self.reach[1]
        return sent * (_ENTRY_BYTES + 4 * rows)

    def place(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The (u, v, w) of these bricks, which the rank owns, counted in bricks, shape (N, 3)."""
        columns = self._own_columns
        _, first, stop = self.columns[columns].T
        column = columns[np.searchsorted(np.cumsum(stop - first) + self.numbers.start, numbers, side="right")]
        return np.stack((*np.divmod(column, self.columns_v), numbers - self.columns[column, 0]), axis=1)

    @cached_property
    def _own_columns(self) -> NDArray[np.int64]:
        slab = np.arange(self.columns_u * self.columns_v) // (self.columns_v if self.spatial else 1)
        return np.flatnonzero(self.owners[slab] == self.rank)

    def owns(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the rank owns a brick at each of these (u, v, w), counted in bricks."""
        u, v, w = places.T
        inside = (u >= 0) & (u < self.columns_u) & (v >= 0) & (v < self.columns_v)
        column = np.where(inside, u * self.columns_v + v, 0)
        inside &= self.owners[np.where(inside, u if self.spatial else v, 0)] == self.rank
        owned: NDArray[np.bool_] = inside & (self.columns[column, 1] <= w) & (w < self.columns[column, 2])
        return owned

    def number(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the bricks at these (u, v, w), counted in bricks."""
        column = places[:, 0] * self.columns_v + places[:, 1]
        numbers: NDArray[np.int64] = self.columns[column, 0] + places[:, 2]
        return numbers

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
