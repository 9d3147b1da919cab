"""Compact bricks: where the compiled loops of exactly-one growth keep a cell, and what a newborn touches, as tables.

Coordinates. A cell is kept at its own coordinates; one of the plane at (x, 0, y). Of a growth with symmetry only the fundamental
domain x >= y >= z is kept. Its walls are where u = x - y, v = y - z and, with signs, w = z are 0: `Bricks.folding`.

Bricks. They are those of `gpu_nim.backends.shared.compact_grid`. Bricks at one (x, y) are a column, and those at one x a slab,
which is numbered without gaps.

Masks. The touches of a newborn at one place fall into a few words, each with one mask: edge has 2.75 on average. A newborn near a
wall is touched by its mirror images' touches too. What it touches within the domain, and what of it twice, depends on its class:
its distances from the walls, where a distance beyond `limits` counts as one just beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.numpy.compilation import LOADED_BYTES
from gpu_nim.backends.numpy.exactly_one import COLUMN_BYTES, Walls
from gpu_nim.backends.shared.bricks import Bricks
from gpu_nim.backends.shared.compact_grid import CompactGrid
from gpu_nim.model.arrays import Ints
from gpu_nim.model.digest import COEFFICIENTS
from gpu_nim.model.process import cores
from gpu_nim.model.rule import Cells

#: The bricks that a list has room for at first.
SLOTS = 1 << 10
_LISTED = 1000  # measured: lists have room for the bricks of so many generations at most, if each had the same share


class Layout(NamedTuple):
    """Bricks as the loops read them.

    Attributes:
        logs: the binary logarithms of a brick's sites along each axis, int64 of shape (3,).
        words: 64-bit words of a brick's cells.
        columns: of the column at (x, y) in bricks, with a border of one: the number of its brick z less z; int64 of shape
            (slabs + 2, columns + 2). Columns of other ranks share those that each slab has at its end.
        starts: the number of the first brick of each slab, int64 of shape (slabs + 2,).
        shift: a brick's y and z in one number, y << shift | z.
        site: the coordinates of each place in the brick, int64 of shape (places, 3).
        place: the place of each site, uint64 of shape (sites,).
        mixed: the digest's linear mix of each place, uint64 of shape (places,).
        mixing: that of an axis, and of the corner of all bricks; uint64 of shape (4,).
        order: how many cells a newborn far from walls stands for.
    """

    logs: Any
    words: int
    columns: Any
    starts: Any
    shift: int
    site: Any
    place: Any
    mixed: Any
    mixing: Any
    order: int


class Masks(NamedTuple):
    """What newborns far from walls touch in some of three slabs, a bit each: below theirs, theirs, above.

    Attributes:
        first: where the masks of each place begin, by the slabs; uint32 of shape (8, places + 1).
        mask: uint64 of shape (masks,).
        target: its word, counted from the line of the brick at z - 1, above four bits for the brick's x and y, 3 (dx + 1) + dy + 1;
            uint64 of shape (masks,).
        reach: the bricks that each place touches, bit 9 (dx + 1) + 3 (dy + 1) + dz + 1 for each; uint32 of shape (8, places).
        face: the places that touch anything there, uint64 of shape (8, words).
    """

    first: Any
    mask: Any
    target: Any
    reach: Any
    face: Any


class Reflections(NamedTuple):
    """What newborns near walls touch.

    Attributes:
        across: rows whose products with a place are its distances from the walls; 0 for axes without; int64 of shape (3, 3).
        corner: the distances of the corner of all bricks, in bricks; int64 of shape (3,).
        limits: the least distance of each that counts as far, int64 of shape (3,).
        near: the places of a brick that are near a wall, by the wall and the brick's distance from it in bricks, uint64 of shape
            (3, bricks, words).
        last: the least of these distances from which on no place is near, int64 of shape (3,).
        along: each place's distances, int64 of shape (places, 3).
        orbit: how many cells a newborn of each class stands for, int64 of shape (classes,).
        first: where the touches of each class begin, int64 of shape (classes + 1,).
        touches: the distance to each in x, y, z, and whether it is touched once, 1, or more often, 2; int64 of shape (touches, 4).
    """

    across: Any
    corner: Any
    limits: Any
    near: Any
    last: Any
    along: Any
    orbit: Any
    first: Any
    touches: Any


class Shares(NamedTuple):
    """Some cells of each brick, which depend on one sum of its coordinates.

    Attributes:
        axis: the coordinates' factors in the sum, shape (3,).
        least: the least sum.
        masks: the cells of a brick by the sum less the least one, uint64 of shape (sums, words).
    """

    axis: Any
    least: int
    masks: Any

    def of(self, x: Any, y: Any, z: Any) -> NDArray[np.uint64]:
        """Return the cells of bricks at these coordinates, in bricks, shape (..., words)."""
        masks: NDArray[np.uint64] = self.masks[x * self.axis[0] + y * self.axis[1] + z * self.axis[2] - self.least]
        return masks


class CompactBricks(CompactGrid):
    """The compact bricks of a growth; on several ranks those with cells that the rank owns.

    >>> from gpu_nim.model.rule import Rule, Symmetry
    >>> edges = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    >>> bricks = CompactBricks(Bricks(Rule(2, edges, frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE), 100))
    >>> bricks.total  # of 16 by 16 cells, in 0 <= y <= x <= 100
    28
    >>> bricks.cells(*bricks.split(np.array([[40, 33]])))
    array([[40, 33]])
    """

    def __init__(self, bricks: Bricks) -> None:
        super().__init__(bricks)
        self._bricks, self.rule = bricks, bricks.rule
        self._across = self.embedded(bricks.folding * np.array(bricks.walls)[:, None])
        self._plan()

    def _plan(self) -> None:
        """Number the bricks that the growth can reach: between planes f.x = const. for all f of {-1, 0, 1}^d, and the walls."""
        bricks = self._bricks
        bounds = {f: bricks.support(np.array(f)) for f in product((-1, 0, 1), repeat=self.rule.dimension) if any(f)}
        for wall, across in zip(bricks.walls, bricks.folding, strict=True):
            if wall and across.any():
                bounds[tuple((-across).tolist())] = min(0, bounds[tuple((-across).tolist())])
        functional, most = self.embedded(np.array(list(bounds))), list(bounds.values())
        low, high = np.zeros((2, 3), np.int64)
        for axis, unit in zip(self.axes, np.eye(self.rule.dimension, dtype=np.int64), strict=True):
            low[axis], high[axis] = -bounds[tuple((-unit).tolist())], bounds[tuple(unit.tolist())]
        if bricks.folded:
            # All are counted from one number, so that walls lie between bricks or through their diagonals.
            low[self.axes] = low[2]
        self.origin = low // self.size * self.size
        self.slabs, self.wide, deep = ((high - self.origin) // self.size + 1).clip(1).tolist()
        self.owned = self._of_slabs(bricks.owners == bricks.rank, (self.slabs, self.wide, deep))
        corners = [self.origin[axis] + self.size[axis] * np.arange(number) for axis, number in enumerate((self.slabs, self.wide))]
        floor, ceiling = (np.full((self.slabs, self.wide), bound) for bound in (low[2], high[2]))
        for f, bound in zip(functional.tolist(), most, strict=True):
            c = f[2]
            least_x, least_y = (np.minimum(f[i] * corner, f[i] * (corner + self.size[i] - 1)) for i, corner in enumerate(corners))
            room = bound - least_x[:, None] - least_y
            if c > 0:
                np.minimum(ceiling, room, out=ceiling)
            elif c < 0:
                np.maximum(floor, -room, out=floor)
            else:
                ceiling[room < 0] = low[2] - 1
        first = (floor - self.origin[2]) // self.size[2]
        stop = np.where(ceiling < floor, first, (ceiling - self.origin[2]) // self.size[2] + 1)
        if bricks.spatial and bricks.ranks > 1:
            x, y = np.indices(first.shape)
            stop = np.where(self.owned.of(x, y, 0).any(axis=-1), stop, first)
        sizes, self.heights = np.pad(stop - first, 1), np.pad(np.stack((first, stop), axis=-1), ((1, 1), (1, 1), (0, 0)))
        # Touches of columns that a rank does not have go into bricks at the end of each slab.
        others = deep + 3 if bricks.ranks > 1 else 0
        slabs = sizes.sum(axis=1) + others
        self.starts, self.total, self.largest = np.cumsum(slabs) - slabs, int(slabs.sum()), int(slabs.max())
        before = np.cumsum(sizes, axis=1) - sizes
        self.columns = self.starts[:, None] + np.where(sizes > 0, before - self.heights[..., 0], slabs[:, None] - others + 1)
        self.shift = deep.bit_length()

    @property
    def required_bytes(self) -> int:
        """The planned bytes of the growth: numba, touched cells, columns, three slabs a thread, and lists as large as measured."""
        brick = 8 * self.words
        lists = 2 * (brick + 8) * (min(self.total, _LISTED * self.total // (self._bricks.last + 1)) + SLOTS)
        scratch = 3 * (brick + 9) * self.largest * cores()
        columns = 24 * self.columns.size + 72 * (self.slabs + 2) + COLUMN_BYTES * self._bricks.columns_u * self._bricks.columns_v
        return int(LOADED_BYTES + brick * self.total + lists + scratch + columns)

    def split(self, cells: Cells) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return, for cells, their bricks, counted in bricks, shape (N, 3), and their places in these, shape (N,)."""
        at = self.embedded(cells) - self.origin
        return at >> self.logs, self.place[tuple((at & self.size - 1).T)]

    def cells(self, bricks: NDArray[np.int64], places: NDArray[np.int64]) -> Cells:
        """Return the cells at some places of bricks: the inverse of `split`."""
        cells: Cells = (self.origin + (bricks << self.logs) + self.site[places])[:, self.axes]
        return cells

    def positions(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the positions of bricks by their numbers, counted in bricks, shape (N, 3), and which of them are in a column."""
        first, stop = (self.columns[1:-1, 1:-1, None] + self.heights[1:-1, 1:-1]).reshape(-1, 2).T
        some = np.flatnonzero(stop > first)
        column = some[np.searchsorted(first[some], numbers, side="right") - 1]
        x, y = np.divmod(column, self.wide)
        return np.stack((x, y, numbers - self.columns[x + 1, y + 1]), axis=1), numbers < stop[column]

    def has(self, bricks: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether there are bricks at these positions."""
        x, y, z = bricks.T
        inside = (x >= 0) & (x < self.slabs) & (y >= 0) & (y < self.wide)
        first, stop = self.heights[np.where(inside, x + 1, 0), np.where(inside, y + 1, 0)].T
        found: NDArray[np.bool_] = inside & (first <= z) & (z < stop)
        return found

    def at_level(self, axis: int, value: int) -> Callable[[Ints, Ints, Ints], NDArray[np.uint64]]:
        """Return what says of bricks whether cells of theirs, or of their orbits, can have this coordinate: all bits or none."""
        brick = (abs(value) if self._bricks.signed else value) - self.origin >> self.logs
        axes = self.axes if self._bricks.folded else [self.axes[axis]]

        def words(*bricks: Ints) -> NDArray[np.uint64]:
            some = np.any([bricks[each] == brick[each] for each in axes], axis=0)
            return np.where(some[:, None], np.uint64(2**64 - 1), np.uint64(0))

        return words

    def _of_slabs(self, chosen: NDArray[np.bool_], bricks: tuple[int, int, int]) -> Shares:
        """The cells that lie in some slabs of `Bricks`, by which ranks own cells."""
        shared = self._bricks
        if chosen.all():
            return Shares(np.zeros(3, np.int64), 0, np.full((1, self.words), 2**64 - 1, np.uint64))
        axis = self.embedded(shared.folding[None, shared.axis])[0]
        ends = np.outer(axis, (0, 1)) * np.array(bricks)[:, None]
        least, most = int(ends.min(axis=1).sum()), int(ends.max(axis=1).sum())
        corners = axis @ self.origin + self.size[0] * np.arange(least, most + 1) - shared.origin[shared.axis]
        slab = (corners[:, None] + self.site @ axis) // shared.size[shared.axis]
        inside = (slab >= 0) & (slab < shared.slabs)
        return Shares(axis, least, _words(inside & chosen[np.where(inside, slab, 0)]))

    @cached_property
    def near_others(self) -> Shares:
        """The cells in slabs beside those of other ranks."""
        return self._of_slabs(self._bricks.borders > 0, (self.slabs, self.wide, 1 << self.shift))

    def layout(self) -> Layout:
        """Return the bricks as the loops read them."""
        mixing = np.zeros(3, np.uint64)
        mixing[self.axes] = np.array(COEFFICIENTS[: self.rule.dimension], np.uint64)
        corner = (self.origin.astype(np.uint64) * mixing).sum(dtype=np.uint64)
        order = self.rule.symmetry.order(self.rule.dimension)
        place = self.place.reshape(-1).astype(np.uint64)
        mixed = (self.site.astype(np.uint64) * mixing).sum(axis=1, dtype=np.uint64)
        return Layout(
            self.logs,
            self.words,
            self.columns,
            self.starts,
            self.shift,
            self.site,
            place,
            mixed,
            np.append(mixing, corner),
            order,
        )

    def masks(self) -> Masks:
        """Return what newborns far from walls touch."""
        target = self.site[:, None] + self.embedded(np.array(self.rule.offsets, np.int64))
        brick, place = target + self.size >> self.logs, self.place[tuple(np.moveaxis(target & self.size - 1, -1, 0))]
        word = (brick[..., 2] * self.words + (place >> 6)) << 4 | 3 * brick[..., 0] + brick[..., 1]
        keys, which = np.unique(np.arange(len(self.site))[:, None] << 16 | word, return_inverse=True)
        mask = np.zeros(len(keys), np.uint64)
        np.bitwise_or.at(mask, which.reshape(-1), (np.uint64(1) << (place & 63).astype(np.uint64)).reshape(-1))
        slabs = np.arange(8)[:, None]
        chosen, some = slabs >> (keys & 15) // 3 & 1 != 0, slabs[..., None] >> brick[..., 0] & 1 != 0
        reach = np.bitwise_or.reduce(np.where(some, 1 << brick @ np.array([9, 3, 1]), 0), axis=-1)
        sizes = np.stack([np.bincount(keys[row] >> 16, minlength=len(self.site)) for row in chosen])
        stops = np.cumsum(sizes).reshape(sizes.shape)
        first = np.column_stack((stops[:, 0] - sizes[:, 0], stops)).astype(np.uint32)
        entries = np.nonzero(chosen)[1]
        return Masks(first, mask[entries], (keys[entries] & 0xFFFF).astype(np.uint64), reach.astype(np.uint32), _words(reach != 0))

    def reflections(self) -> Reflections:
        """Return what newborns near walls touch."""
        walls, across = Walls(self._bricks), self._across
        corner = across @ (self.origin // self.size)
        last = np.where(walls.limits > 0, -(-(walls.limits + self.size[0] - 1) // self.size[0]), 0)
        along = self.site @ across.T
        near = np.arange(int(last.max()) + 1)[:, None] * self.size[0] + along.T[:, None] < walls.limits[:, None, None]
        touches = np.column_stack((self.embedded(walls.offsets), walls.times))
        return Reflections(across, corner, walls.limits, _words(near), last, along, walls.orbit, walls.first, touches)


def _words(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Bits, along the last axis, as words of 64."""
    packed: NDArray[np.uint64] = np.ascontiguousarray(np.packbits(bits, axis=-1, bitorder="little")).view("<u8").astype(np.uint64)
    return packed
