"""The bricks in which every engine grows on exactly one touch: their coordinates, which a growth can reach, and their owners.

Coordinates. A growth that is symmetric under permutations is stored in u = x_0 - x_1, v = x_1 - x_2, w = x_2, in the plane v =
x_0 - x_1, w = x_1: there the walls of the fundamental domain are u = 0, v = 0 and, where signs are symmetries too, w = 0. Others
are stored in their own coordinates, in the plane v and w. Where sums of coordinates are even, the parity of w follows from u and
v, and every second w has a bit. A brick has 32 rows, 4 x 8 in space and 1 x 32 in the plane, of 32 bits along w.

Positions. Bricks above one another in w are a column, and follow one another. Only those are numbered that the growth can reach.

Ranks. A rank owns slabs of bricks: all bricks with one u or, in the plane, one v, so that every brick is decided by one rank. They
are distributed by digits (`owners`): for `edge` to generation 511 the busiest of 8 ranks has 1.09 times the mean of the bricks with
births, and 1.17 times along v, where bricks are twice as wide. Threads own slabs likewise.

Births follow powers of two: a generation has most of them in slabs whose numbers agree with its own in some binary digits.
Contiguous parts, even of equal births, are idle by turns, and blocks distributed in turn to an even number of ranks meet those
digits. Distributed by the sum of a block's digits to the base of that number, as the sequence of Thue and Morse does for two ranks,
every aligned run of blocks is shared evenly. An odd number of ranks is in no step with powers of two, and there blocks in turn
are more even. docs/scaling.md has the figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, reduce
from itertools import compress, product
from operator import add, mul
from types import ModuleType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import State
from gpu_nim.model.digest import COEFFICIENTS
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.rule import Cells, Rule, Symmetry

#: Of a brick: its rows, and the bits of each.
ROWS = BITS = 32
_LOG_CELLS = 10
#: The cells of a brick.
CELLS = 1 << _LOG_CELLS
#: Bits of a brick's coordinate in a list, as in `cuda/exactly_one.cu`.
FIELD = 21
#: Numbers in which ranks send a brick (`gpu_nim.backends.shared.brick_parts`).
ENTRY = 4
_SLICE = 1 << 12  # bricks of a state that are read at a time
_MAX_COLUMNS, _MAX_SLABS = 1 << 28, 1 << 20
_LONGEST = 4  # rows in u of a brick in space: a touch goes no further in loops and kernels that know no others
_COLUMNS = 1 << 20  # of these, whose bricks are counted at a time
#: The slabs are cut into at least so many blocks for each rank, where that leaves them wide enough: fewer send less, more are
#: spread more evenly.
_BLOCKS = 32


def owners(slabs: int, narrowest: int, ranks: int) -> NDArray[np.int64]:
    """Return the owner of each slab, shape (slabs,).

    Args:
        slabs: the number of slabs.
        narrowest: no block has fewer slabs; the last one may.
        ranks: the number of ranks.

    >>> owners(128, 1, 2)[::2][:8].tolist(), owners(96, 1, 3)[:8].tolist()
    ([0, 1, 1, 0, 1, 0, 0, 1], [0, 1, 2, 0, 1, 2, 0, 1])
    """
    width = max(narrowest, 1 << (max(1, slabs // (_BLOCKS * ranks)).bit_length() - 1))
    block = np.arange(slabs, dtype=np.int64) // width
    if ranks % 2:
        return block % ranks
    digits, rest = np.zeros_like(block), block
    while rest.any():
        rest, digit = np.divmod(rest, ranks)
        digits += digit
    return digits % ranks


def supports(rule: Rule) -> bool:
    """Return whether a rule is grown in bricks: births on exactly one touch, 2 or 3 dimensions, no `touches`, short offsets.

    An offset's coordinates are at most 4 in size; with symmetry their sizes must add up to at most 4, or each be at most 2. So
    touches go no further than the rows of the bricks beside a brick, and 16 bits beyond a word of a kernel's window: a row beyond
    two mirrors is moved along w by the sum of its distances from them, at most 8.

    >>> supports(Rule(2, ((4, 0),), frozenset({1}), seeds=((0, 0),))), supports(Rule(2, ((9, 0),), frozenset({1}), seeds=((0, 0),)))
    (True, False)
    """
    fitting = rule.exactly_one and rule.dimension in (2, 3) and rule.touches is None
    return fitting and max(BrickGrid(rule).reach) <= _LONGEST


class BrickGrid:
    """Where the cells of a rule lie in bricks.

    Attributes:
        size: of a brick in u, v and w, shape (3,).
        logs: the binary logarithms of these.
        folding: rows whose products with a cell are its u, v and w, shape (3, dimension).
        origin: the (u, v, w) from which positions are counted, even numbers: 0.
        walls: for each of u, v and w, whether the growth has nothing below 0 of it.

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
        self.packed = int(self.spatial and rule.even_sum)
        # Rows of `unfold` are coordinates of a cell as sums of u, v and w; `fold` takes them back.
        unfold = np.triu(np.ones((3, 3), np.int64)) if self.folded else np.eye(3, dtype=np.int64)
        fold = np.triu(np.where(np.eye(3, k=1), -1, np.eye(3)).astype(np.int64)) if self.folded else unfold
        if not self.spatial:
            unfold = unfold[1:] * np.array([0, 1, 1])
            fold = np.concatenate((np.zeros((1, 2), np.int64), fold[1:, 1:]))
        self._unfold, self.folding = unfold, fold
        self.log_v = 3 if self.spatial else 5
        self.logs = (5 - self.log_v, self.log_v, 5 + self.packed)
        self.size = 1 << np.array(self.logs, np.int64)
        self.origin = np.zeros(3, np.int64)
        self.walls = (self.folded, self.folded, self.signed or rule.octant) if self.folded else (rule.octant,) * 3

    @cached_property
    def reach(self) -> tuple[int, int, int]:
        """The largest distance of a newborn's touches, folded, from it: rows in u, rows in v, bits in w."""
        offsets = np.abs(np.array(self.rule.offsets, np.int64))
        most = int(offsets.max())
        if self.folded:
            # Folding brings no two points further apart, neither in the largest coordinate nor in their sum.
            difference = min(2 * most, int(offsets.sum(axis=1).max()))
            u, v, w = (difference if self.spatial else 0), difference, most
        else:
            u, v, w = (int(x) for x in np.abs(self.folding @ offsets.T).max(axis=1))
        return u, v, (w + 2) // 2 if self.packed else w

    def locate(self, cells: Cells) -> NDArray[np.int64]:
        """Return the (u, v, w) of cells, shape (N, 3)."""
        return cells.astype(np.int64) @ self.folding.T - self.origin

    def cells(self, positions: Any, xp: ModuleType = np) -> Any:
        """Return the cells at these (u, v, w), arrays of `xp`, shape (N, dimension)."""
        moved = [positions[:, axis] + corner for axis, corner in enumerate(self.origin.tolist())]
        # Sums, where a matrix product would do: CuPy hands products to cuBLAS, which the extras do not install.
        return xp.stack([reduce(add, compress(moved, row)) for row in self._unfold.tolist()], axis=1)

    def unfolded(self, distances: NDArray[np.int64]) -> Cells:
        """Return the cells at these (u, v, w) from 0, shape (N, dimension)."""
        cells: Cells = distances @ self._unfold.T
        return cells

    def parity(self, u: Any, v: Any) -> Any:
        """Return the least w of a row."""
        return ((u + v * (not self.folded)) & 1) * self.packed

    def split(self, positions: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return, for cells at (u, v, w), their bricks' positions in bricks, their rows in the brick, their bits in the row."""
        u, v, w = positions.T
        row = (u & self.size[0] - 1) << self.log_v | v & self.size[1] - 1
        # Every second w has a bit, and the parity of those of a row is left out with the lowest digit.
        return positions >> np.array(self.logs), row, w >> self.packed & BITS - 1

    def words(self, positions: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """Return the bricks of cells at (u, v, w), counted in bricks, shape (n, 3), and their rows, (n, 32), as `places_of` takes.

        >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
        >>> positions, rows = BrickGrid(square).words(np.array([[0, 40, 33], [0, 40, 34]]))
        >>> positions.tolist(), rows[0, 8]
        ([[0, 1, 1]], np.uint32(6))
        """
        bricks, row, bit = self.split(positions)
        found, which = np.unique(bricks, axis=0, return_inverse=True)
        rows = np.zeros((len(found), ROWS), np.uint32)
        np.bitwise_or.at(rows, (which.reshape(-1), row), np.uint32(1) << bit.astype(np.uint32))
        return found, rows

    def join(self, bricks: Any, row: Any, bit: Any, xp: ModuleType = np) -> Any:
        """Return the (u, v, w) of cells given by bricks, rows and bits, arrays of `xp`: the inverse of `split`."""
        u = bricks[:, 0] * self.size[0] + (row >> self.log_v)
        v = bricks[:, 1] * self.size[1] + (row & (1 << self.log_v) - 1)
        return xp.stack((u, v, bricks[:, 2] * self.size[2] + bit * (1 << self.packed) + self.parity(u, v)), axis=1)

    def cells_of(self, bricks: NDArray[np.integer], words: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the cells whose bits are set, as `places_of` does, shape (cells, dimension)."""
        cells: NDArray[np.int64] = self.cells(self.places_of(bricks, words))
        return cells

    def places_of(self, bricks: NDArray[np.integer], words: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the (u, v, w) of the cells whose bits are set.

        Args:
            bricks: their positions in bricks, shape (N, 3).
            words: their rows, shape (N, 32).

        Returns:
            Shape (cells, 3), in no order.
        """
        filled = np.flatnonzero(words)
        bits = np.unpackbits(words.reshape(-1)[filled].astype("<u4").view(np.uint8), bitorder="little").reshape(-1, BITS)
        index, bit = np.nonzero(bits)
        brick, row = np.divmod(filled[index], ROWS)
        positions: NDArray[np.int64] = self.join(bricks[brick].astype(np.int64), row, bit)
        return positions


class Bricks(BrickGrid):
    """The bricks that a growth to generation `last` can reach, those that one of some ranks owns and those beside them.

    Positions are counted from `origin`, a corner of a brick. Bricks that the rank owns are numbered from 0 to `count` - 1, and
    those beside them from there to `held` - 1.

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
        self._supports = {f: self.support(np.array(f, np.int64)) for f in product((-1, 0, 1), repeat=rule.dimension)}
        low = [-self.support(-functional) for functional in self.folding]
        high = [self.support(functional) for functional in self.folding]
        low = [max(0, value) if wall else value for value, wall in zip(low, self.walls, strict=True)]
        if self.folded:
            low[:2] = 0, 0
        if self.signed:
            low[2] = 0
        if low[2] >= 0:
            # A folded cell's coordinates are sums of u, v and w, and no less than any of them where none is negative.
            for index, axis in enumerate(np.eye(rule.dimension, dtype=np.int64), start=3 - rule.dimension):
                high[index] = min(high[index], self.support(axis))
        # Corners of bricks, so that a state has the same bricks whatever it was planned for.
        self.origin = np.array(low, np.int64) // self.size * self.size
        self._top = np.array(high, np.int64)
        self._bottom = low[2]
        self.columns_u, self.columns_v = (max(1, int((self._top[i] - self.origin[i]) // self.size[i] + 1)) for i in (0, 1))

    def busiest(self) -> Self:
        """Return the bricks of the rank that owns most.

        >>> rule = Rule(2, ((1, 1), (1, -1), (-1, 1), (-1, -1)), frozenset({1}), ((0, 0),))
        >>> Bricks(rule, 1000, 0, 4).busiest().count < Bricks(rule, 1000).count / 3
        True
        """
        sizes = self._sizes  # before all else: it refuses what is too large
        busiest = int(np.bincount(self.owners, sizes, self.ranks).argmax())
        return self if busiest == self.rank else type(self)(self.rule, self.last, busiest, self.ranks)

    def support(self, functional: NDArray[np.int64]) -> int:
        """The maximum of a linear functional over all cells alive at `last`."""
        coefficients = functional.tolist()
        seeds: list[int] = [sum(map(mul, coefficients, seed)) for seed in self.rule.seeds]
        offsets: list[int] = [sum(map(mul, coefficients, offset)) for offset in self.rule.offsets]
        return max(seeds) + self.last * max(0, *offsets)

    @property
    def longest(self) -> int:
        """The most bricks along an axis."""
        return max(self.columns_u, self.columns_v, int((self._top[2] - self.origin[2]) // self.size[2]) + 1)

    @property
    def axis(self) -> int:
        """The axis along which slabs follow one another: 0 for u, or 1 for v."""
        return 0 if self.spatial else 1

    @property
    def slabs(self) -> int:
        """How many slabs of bricks there are."""
        return self.columns_u if self.spatial else self.columns_v

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The rank that owns each slab, shape (slabs,)."""
        if self.ranks == 1:
            return np.zeros(self.slabs, np.int64)
        # No block is narrower than the distance of a newborn's touches, folded, in slabs.
        return owners(self.slabs, int(-(-self.reach[self.axis] // self.size[self.axis])), self.ranks)

    def _ranges(self, slabs: slice) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first w, and the last w + 1, of the bricks in each column of some slabs, on all ranks, shape (columns_u, columns_v).

        A growth lies within f.x <= most f.seed + generations * most f.offset for each f, taken here from {-1, 0, 1}^d.
        """
        u0, v0, w0 = self.origin.tolist()
        starts_u = u0 + self.size[0] * np.arange(self.columns_u)[slabs if self.spatial else slice(None)]
        starts_v = v0 + self.size[1] * np.arange(self.columns_v)[slice(None) if self.spatial else slabs]
        shape = (len(starts_u), len(starts_v))
        low, high = np.full(shape, self._bottom), np.full(shape, self._top[2])
        for f in product((-1, 0, 1), repeat=self.rule.dimension):
            # In the fundamental domain a functional is largest with its coefficients in the domain's order.
            if not any(f) or (self.folded and sorted(f, reverse=True) != list(f)) or (self.signed and min(f) < 0):
                continue
            along = np.array(f, np.int64) @ self._unfold
            least_u = np.minimum(along[0] * starts_u, along[0] * (starts_u + self.size[0] - 1))
            least_v = np.minimum(along[1] * starts_v, along[1] * (starts_v + self.size[1] - 1))
            room = self._supports[f] - least_u[:, None] - least_v[None, :]
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
        first, stop = self._ranges(slice(None))
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
        columns = self.columns_u * self.columns_v
        if columns > _MAX_COLUMNS or self.slabs > _MAX_SLABS:
            raise InsufficientMemoryError(
                f"a growth to generation {self.last} needs {3 * 8 * columns:,} bytes, for {columns:,} columns of bricks "
                f"alone: it is planned for at most {_MAX_COLUMNS:,}, in {_MAX_SLABS:,} slabs"
            )
        some = max(1, _COLUMNS * self.slabs // columns)
        sizes = []
        for start in range(0, self.slabs, some):
            first, stop = self._ranges(slice(start, start + some))
            sizes.append((stop - first).sum(axis=1 - self.axis))
        return np.concatenate(sizes)

    @property
    def total(self) -> int:
        """The number of bricks on all ranks."""
        return int(self._sizes.sum())

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

    def place(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The (u, v, w) of these bricks, which the rank owns, counted in bricks, shape (N, 3)."""
        columns = np.flatnonzero(self.owned)
        _, first, stop = self.columns[columns].T
        column = columns[np.searchsorted(np.cumsum(stop - first) + self.numbers.start, numbers, side="right")]
        return np.stack((*np.divmod(column, self.columns_v), numbers - self.columns[column, 0]), axis=1)

    @cached_property
    def owned(self) -> NDArray[np.bool_]:
        """Whether the rank owns each column, shape (columns,)."""
        slab = np.arange(self.columns_u * self.columns_v) // (self.columns_v if self.spatial else 1)
        owned: NDArray[np.bool_] = self.owners[slab] == self.rank
        return owned

    def owns(self, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the rank owns a brick at each of these (u, v, w), counted in bricks."""
        u, v, w = positions.T
        inside = (u >= 0) & (u < self.columns_u) & (v >= 0) & (v < self.columns_v)
        column = np.where(inside, u * self.columns_v + v, 0)
        inside &= self.owners[np.where(inside, u if self.spatial else v, 0)] == self.rank
        owned: NDArray[np.bool_] = inside & (self.columns[column, 1] <= w) & (w < self.columns[column, 2])
        return owned

    def number(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the bricks at these (u, v, w), counted in bricks."""
        column = positions[:, 0] * self.columns_v + positions[:, 1]
        numbers: NDArray[np.int64] = self.columns[column, 0] + positions[:, 2]
        return numbers

    def mixing(self) -> tuple[int, int, int, int]:
        """The digest's linear mix of a representative in u, v and w, and that of the corner."""
        coefficients = COEFFICIENTS[: self.rule.dimension]
        weights = [sum(k * int(x) for k, x in zip(coefficients, axis, strict=True)) % 2**64 for axis in self._unfold.T]
        corner = self.cells(np.zeros((1, 3), np.int64))[0].tolist()
        return (*weights, sum(k * x for k, x in zip(coefficients, corner, strict=True)) % 2**64)

    def section(self, axis: int, value: int) -> tuple[int, int, int]:
        """For newborns whose coordinate `axis` is `value`: the axes and level of the kernels, and how often these count each."""
        if not self.folded:
            at = axis + 3 - self.rule.dimension
            return 1 << at, int(value - self.origin[at]), 1
        level = abs(value) if self.signed else value
        return 8, int(level - self.origin[2]), self.rule.dimension * (2 if self.signed and value else 1)

    def corners(self, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return where these bricks, which the rank owns, are whatever was planned for: in bricks from (0, 0, 0), shape (N, 3)."""
        return (self.place(numbers) + self.origin // self.size).astype(np.int32)

    def touched(self, state: State) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint32]]]:
        """Yield the numbers of bricks in a state that the rank owns, shape (n,), and their rows, shape (n, 32), slice by slice."""
        for start in range(0, len(state.get("bricks", ())), _SLICE):
            positions = state["bricks"][start : start + _SLICE].astype(np.int64) - self.origin // self.size
            own = self.owns(positions)
            yield self.number(positions[own]), state["rows"][start : start + _SLICE].view(np.uint32)[own]

    # A table of cells has `CELLS` entries for each brick that the rank owns: row after row, bit after bit.

    @cached_property
    def _column_of(self) -> NDArray[np.int32]:
        own = np.flatnonzero(self.owned)
        return np.repeat(own.astype(np.int32), self.columns[own, 2] - self.columns[own, 1])

    def divide(self, at: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return, for cells at (u, v, w), shape (3, N), their columns, their bricks' first indices there, and theirs in these."""
        u, v, w = at
        log_u, log_v, log_w = self.logs
        column = (u >> log_u) * self.columns_v + (v >> log_v)
        row = (u & self.size[0] - 1) << log_v | v & self.size[1] - 1
        return column, (w >> log_w) * CELLS, row * BITS + (w >> self.packed & BITS - 1)

    def encode(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of cells at these (u, v, w), shape (3, N), in bricks that the rank owns."""
        column, brick, within = self.divide(at)
        positions: NDArray[np.int64] = CELLS * self.columns[column, 0] + brick + within
        return positions

    def decode(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the (u, v, w) of the cells at these positions, shape (3, N)."""
        number, within = positions >> _LOG_CELLS, positions & CELLS - 1
        column = self._column_of[number].astype(np.int64)
        at = np.empty((3, len(positions)), np.int64)
        u, v = np.divmod(column, self.columns_v)
        row, bit = within >> 5, within & BITS - 1
        at[0] = (u << self.logs[0]) + (row >> self.log_v)
        at[1] = (v << self.logs[1]) + (row & self.size[1] - 1)
        at[2] = (number - self.columns[column, 0] << self.logs[2]) + (bit << self.packed) + self.parity(at[0], at[1])
        return at

    @property
    def borders(self) -> NDArray[np.int64]:
        """How many slabs of other ranks there are beside each slab, shape (slabs,)."""
        other = np.diff(self.owners) != 0
        beside: NDArray[np.int64] = np.pad(other, (1, 0)).astype(np.int64) + np.pad(other, (0, 1))
        return beside

    def sent_bytes(self, listed: int) -> int:
        """Return the bytes that the rank sends in a generation that has so many of its bricks in a list."""
        sent = int((self._sizes * self.borders)[self.owners == self.rank].sum()) * listed // max(1, self.count)
        rows = self.reach[0] << self.log_v if self.spatial else self.reach[1]
        return sent * 4 * (ENTRY + rows)

    def slices(self, size: int) -> Iterator[range]:
        """Yield the numbers of the bricks that the rank owns, at most `size` at a time."""
        for start in self.numbers[::size]:
            yield range(start, min(start + size, self.numbers.stop))
