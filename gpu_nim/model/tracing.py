"""Rays, what they hit, and scenes: sets of unit cells that a ray can cross in cubes known to be empty.

Cells are integers, and a point is a cell and a fraction of it, so that nothing depends on how far from (0, 0, 0) it is. A scene
gives the largest aligned cube round a cell that is empty: level h is the cube of side 2^h whose corner is a multiple of 2^h.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import ArrayValue
from gpu_nim.model.rule import Symmetry

Doubles = NDArray[np.float64]
Triple = tuple[int, int, int]

LARGEST_BITS = 60
#: The largest coordinate of a scene; an eye may be at 2^61, so that differences and multiples of them fit 64 bits.
LARGEST = 1 << LARGEST_BITS
_FAR = 1 << 62  # beyond every coordinate

#: Faces of `Hits` that are no axis: the ray starts inside, or hits nothing.
START, MISS = 3, -1


@dataclass(frozen=True)
class NimScene:
    """The P-positions of three-pile Nim of generation `first` to `last`, in a box and where an inequality holds.

    With x = a ^ b ^ c and o = a | b | c, the cell (a, b, c) is one if x = 0 and first <= o <= last, since o is its generation. The
    cube of level h round it holds one exactly if x >> h is 0 and o >> h is between first >> h and last >> h: it repeats Nim. So the
    largest empty cube has the level of the highest bit of x, or of the highest bit in which o differs from a bound that it breaks.

    Where p a + q b + r c > 0 there is nothing. A cell that breaks this by s > 0 lies in an empty cube of level h if
    (|p| + |q| + |r|)(2^h - 1) < s, since no sum in that cube is smaller by more.

    Attributes:
        last: the last generation, up to 2^60.
        first: the first generation.
        box: the number of cells along each axis from (0, 0, 0).
        corner: the least coordinates.
        inequality: (p, q, r), or (0, 0, 0) for none; (-1, 3, -1) is 3b <= a + c. Their absolute values times a coordinate must
            stay below 2^62.
    """

    last: int
    first: int = 0
    box: Triple = (LARGEST + 1,) * 3
    inequality: Triple = (0, 0, 0)
    corner: ClassVar[Triple] = (0, 0, 0)

    @property
    def shape(self) -> Triple:
        """The number of cells along each axis."""
        a, b, c = (min(side, self.last + 1) for side in self.box)
        return a, b, c


@dataclass(frozen=True, eq=False)
class BrickScene(ArrayValue):
    """Any set of cells, as a pyramid of bricks of 4 x 4 x 4 bits.

    A brick is a 64-bit word; cell (a, b, c) of it is bit 16a + 4b + c. A stage has a bit for each brick of the one before, set
    where that is not empty, and the last stage is one brick. So a word answers for three levels: one bit for its own, eight for
    the next, and the whole word for the one after.

    Attributes:
        words: the bricks of all stages, uint64, the finest stage first, each stage in lexicographic order.
        starts: where each stage begins in `words`.
        corner: the cell of the first bit.
        shape: the number of cells along each axis; each stage holds the bricks that cover it.
        before: the number of cells in the bricks of the finest stage before each, so that cells are numbered: uint32.
        symmetry: maps the set to itself; only cells of its fundamental domain are numbered, and others have the numbers of their
            representatives. `shape` is a cube then, and for `CUBE` 0 is the first cell of a brick.
    """

    words: NDArray[np.uint64] = field(repr=False)
    starts: tuple[int, ...]
    corner: Triple
    shape: Triple
    before: NDArray[np.uint32] = field(repr=False)
    symmetry: Symmetry = Symmetry.NONE

    def stage_shape(self, stage: int) -> Triple:
        """Return the number of bricks along each axis of a stage."""
        a, b, c = (-(-side // 4 ** (stage + 1)) for side in self.shape)
        return a, b, c

    def numbers(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of cells of the set, (3, n), in the order of bricks and of the bits in them: int64 (n,)."""
        representatives = self.symmetry.representative(cells.T).T
        a, b, c = (part - low for part, low in zip(representatives, self.corner, strict=True))
        _, wide, deep = self.stage_shape(0)
        index = ((a >> 2) * wide + (b >> 2)) * deep + (c >> 2)
        return self.number_of(index << 6 | (a & 3) << 4 | (b & 3) << 2 | c & 3)

    def number_of(self, keys: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the numbers of numbered cells by their keys: 64 times the index of a brick, and the bit in it."""
        index, bit = keys >> 6, (keys & 63).astype(np.uint64)
        below = self.numbered(index) & ((np.uint64(1) << bit) - np.uint64(1))
        return np.asarray(self.before[index].astype(np.int64) + np.bitwise_count(below))

    def numbered(self, indices: NDArray[np.integer]) -> NDArray[np.uint64]:
        """Return the bricks of the finest stage at some indices, (n,), less the cells that are outside the fundamental domain."""
        words: NDArray[np.uint64] = self.words[indices]
        if self.symmetry is not Symmetry.NONE:
            a, b, c = np.unravel_index(indices.astype(np.intp), self.stage_shape(0))
            words &= _FALLING[0][np.sign(a - b) + 1] & _FALLING[1][np.sign(b - c) + 1]
            if self.symmetry is Symmetry.CUBE:
                words[c < -self.corner[2] // 4] = 0
        return words

    def first_cells(self, cells: NDArray[np.int64], levels: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return a cell of the set in each of some cubes that hold one: the first, brick by brick.

        Args:
            cells: a cell in each cube, (3, n).
            levels: the levels of the cubes, (n,).
        """
        corner = np.array(self.corner)[:, None]
        found = cells - corner
        for level in np.unique(levels[levels > 0]).tolist():
            which = np.flatnonzero(levels == level)
            bricks = found[:, which] >> 2 * (level // 2)
            if level % 2:  # eight bits of a brick
                first = bricks & ~1
                shift = ((first[0] & 3) << 4 | (first[1] & 3) << 2 | first[2] & 3).astype(np.uint64)
                bricks = self._within(level // 2, bricks >> 2, np.uint64(0x330033) << shift)
            for stage in reversed(range(level // 2)):
                bricks = self._within(stage, bricks, _ALL)
            found[:, which] = bricks
        return np.asarray(found + corner)

    def _within(self, stage: int, bricks: NDArray[np.int64], mask: Any) -> NDArray[np.int64]:
        """The cells of a stage of the first bits of bricks (3, n) under a mask."""
        _, wide, deep = self.stage_shape(stage)
        words = self.words[self.starts[stage] + (bricks[0] * wide + bricks[1]) * deep + bricks[2]] & mask
        bits = np.bitwise_count((words & (~words + np.uint64(1))) - np.uint64(1)).astype(np.int64)
        return np.asarray((bricks << 2) + np.stack([bits >> 4, bits >> 2 & 3, bits & 3]))


_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
#: The cells where a >= b, and where b >= c, of bricks whose own a is less than b, equal or greater; and so for b and c.
_FALLING = [
    np.array([0, sum(1 << bit for bit in range(64) if bit >> first & 3 >= bit >> first - 2 & 3), _ALL], np.uint64)
    for first in (4, 2)
]


def populations_of(finest: NDArray[np.int64], levels: Iterable[NDArray[np.integer]]) -> list[NDArray[Any]]:
    """Return the exact numbers of cells of the blocks of every level: int64, or Python integers where 64 bits could be too few.

    Args:
        finest: those of the blocks that have no halves.
        levels: of each level, the indices of the halves in the one below, finest first.
    """
    found: list[NDArray[Any]] = [finest]
    for rows in levels:
        below = found[-1]
        wide = rows.shape[1] * int(below.max()) >= 1 << 63
        found.append((below.astype(object) if wide else below)[rows].sum(axis=1))
    return found


@dataclass(frozen=True, eq=False)
class TreeScene(ArrayValue):
    """Any set of cells of the plane or of space, as a tree of halves in which equal blocks are stored once.

    A block of a level has a row: the numbers of its halves along each axis, four or eight, one level below. Half (x, y) of the
    plane is number x + 2y, and half (a, b, c) of space number 4a + 2b + c. Row 0 of each level is the empty block, whose halves
    are 0. Sides are powers of two, so that the whole is one block.

    Attributes:
        leaves: the distinct blocks of 64 cells, uint64 (n,), the empty one first: 8 x 8 in the plane, where cell (x, y) is bit
            x + 8y, or 4 x 4 x 4 in space, where (a, b, c) is bit 16a + 4b + c.
        levels: the rows of each level, one or more, int32 (n, 4) or (n, 8), finest first: the numbers in the first are of leaves.
        root: the number of the whole in the last level.
        corner: the least coordinates of the whole, two or three.

    >>> square = TreeScene(np.array([0, 0b1], np.uint64), (np.array([[0] * 4, [1, 1, 0, 1]], np.int32),), 1, (-8, -8))
    >>> square.side, square.population
    (16, 3)
    """

    leaves: NDArray[np.uint64] = field(repr=False)
    levels: tuple[NDArray[np.int32], ...] = field(repr=False)
    root: int
    corner: tuple[int, ...]

    @property
    def dimension(self) -> int:
        """The number of coordinates, 2 or 3."""
        return len(self.corner)

    @property
    def side(self) -> int:
        """The number of cells along each axis."""
        return (8 if self.dimension == 2 else 4) << len(self.levels)

    @property
    def shape(self) -> Triple:
        """The number of cells along each axis; a set of the plane is one cell thick."""
        return self.side, self.side, self.side if self.dimension == 3 else 1

    @property
    def flattened(self) -> tuple[NDArray[np.int32], int]:
        """The rows of all levels in one array, finest first, and the whole's index in it: a half is its row's index, 0 if empty."""
        starts = [0, 0, *accumulate(map(len, self.levels))]
        rows = [np.where(halves, halves + np.int32(below), 0) for halves, below in zip(self.levels, starts, strict=False)]
        return np.concatenate(rows), starts[-2] + self.root

    @property
    def height(self) -> int:
        """The level of the whole: its side is 2^height."""
        return self.side.bit_length() - 1

    def rows(self, level: int) -> NDArray[np.int32]:
        """Return the rows of the blocks of side 2^(level + 1); the halves at level 0 are cells, 0 and 1."""
        lowest = self.height - len(self.levels)
        return self.levels[level - lowest] if level >= lowest else self._in_leaves[level]

    @cached_property
    def _in_leaves(self) -> list[NDArray[np.int32]]:
        """The rows of the blocks up to the leaves, the least first."""
        d, found = self.dimension, list[NDArray[np.int32]]()
        side = self.side >> len(self.levels)
        blocks = np.unpackbits(self.leaves.astype("<u8").view(np.uint8), bitorder="little").reshape(-1, side**d)
        while side > 1:
            side //= 2
            halves = blocks.reshape(-1, *(2, side) * d).transpose(0, *range(1, 2 * d, 2), *range(2, 2 * d + 1, 2))
            blocks, numbers = np.unique(halves.reshape(-1, side**d), axis=0, return_inverse=True)  # the empty one is the least
            found.insert(0, numbers.reshape(-1, 2**d).astype(np.int32))
        return found

    def populations(self, level: int) -> NDArray[Any]:
        """Return the exact numbers of cells of the blocks of side 2^level: int64, or Python integers where large."""
        lowest = self.height - len(self.levels)
        if level >= lowest:
            return self._populations[level - lowest]
        return populations_of(np.arange(2), self._in_leaves[:level])[-1]

    @cached_property
    def _populations(self) -> list[NDArray[Any]]:
        return populations_of(np.bitwise_count(self.leaves).astype(np.int64), self.levels)

    @property
    def population(self) -> int:
        """The number of cells."""
        return int(self.populations(self.height)[self.root])

    @cached_property
    def bounds(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The least and the greatest coordinates of its cells, of which there is one at least.

        >>> TreeScene(np.array([0, 0b10], np.uint64), (np.array([[0] * 4, [0, 0, 0, 1]], np.int32),), 1, (-8, -8)).bounds
        ((1, 0), (1, 0))
        """
        least, greatest = np.array([[_FAR], [0]]).repeat(self.dimension, 1), np.array([[-_FAR], [0]]).repeat(self.dimension, 1)
        for level, halves in enumerate(map(self.rows, range(self.height))):
            least, greatest = (least[halves] + (self._halves << level)).min(1), (greatest[halves] + (self._halves << level)).max(1)
        corner = np.array(self.corner)
        return tuple((corner + least[self.root]).tolist()), tuple((corner + greatest[self.root]).tolist())

    @property
    def _halves(self) -> NDArray[np.int64]:
        """Where a block's halves are in it, in units of their side, (n, k)."""
        order = (slice(None), slice(None, None, -1 if self.dimension == 2 else 1))
        return np.indices((2,) * self.dimension).reshape(self.dimension, -1).T[order]

    def blocks(self, most: int, level: int = 0, box: Any = None) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
        """Return the least blocks of one side that hold cells and are not more than `most`.

        Args:
            most: the most blocks.
            level: blocks have a side of 2^level or more.
            box: the least coordinates of what is looked at, and those beyond the greatest; None for all.

        Returns:
            Their corners (n, k), their numbers (n,), and the level of their side.
        """
        corners, numbers = np.array([self.corner]), np.array([self.root], np.int32)
        for below in reversed(range(level, self.height)):
            halves = self.rows(below)[numbers]
            owners, which = np.nonzero(halves)
            inner = corners[owners] + (self._halves[which] << below)
            if box is not None:
                seen = ((inner < box[1]) & (inner + (1 << below) > box[0])).all(axis=1)
                owners, which, inner = owners[seen], which[seen], inner[seen]
            if len(owners) > most:
                return corners, numbers, below + 1
            corners, numbers = inner, halves[owners, which]
        return corners, numbers, level


Scene = NimScene | BrickScene | TreeScene


@dataclass(frozen=True, eq=False)
class Rays(ArrayValue):
    """n rays, each from a point in a direction.

    Attributes:
        cells: int64 (3, n), the cells that they start in.
        fractions: float64 (3, n), where in that cell, from 0 to 1, both included: a side belongs to both cells.
        directions: float64 (3, n), of length 1.
        levels: int8 (n,), cells are merged to cubes of this level everywhere.
        spread: the width that a ray has at distance 1: where it is wider than a cube, that cube counts as one cell.
    """

    cells: NDArray[np.int64]
    fractions: Doubles
    directions: Doubles
    levels: NDArray[np.int8]
    spread: float = 0.0

    def __len__(self) -> int:
        return len(self.levels)


@dataclass(frozen=True, eq=False)
class Hits(ArrayValue):
    """What n rays hit first.

    Attributes:
        distances: float64 (n,), infinite where a ray hits nothing.
        cells: int64 (3, n), the cell that the ray enters; where it is merged, one in the cube of that level that is hit.
        levels: int8 (n,), the level of the cube that is hit. The cube of that level before it is empty.
        faces: int8 (n,), the axis of the face that is entered; START or MISS where there is none.
    """

    distances: Doubles
    cells: NDArray[np.int64]
    levels: NDArray[np.int8]
    faces: NDArray[np.int8]

    @property
    def met(self) -> NDArray[np.intp]:
        """The rays that enter a face of a cell, from outside: (m,)."""
        return np.flatnonzero((self.faces != MISS) & (self.faces != START))

    @classmethod
    def empty(cls, count: int) -> "Hits":
        """Return hits to be written."""
        none = np.full(count, np.inf)
        return cls(none, np.zeros((3, count), np.int64), np.zeros(count, np.int8), np.full(count, MISS, np.int8))


@dataclass(frozen=True, eq=False)
class Cones(ArrayValue):
    """k cones from each of n points, along which cubes are looked up, each twice as wide as the one before.

    The first cube has the level of the point; the one of level h is round the point that is 2^h times a cone's step away.

    Attributes:
        cells: int64 (3, n), the cells that the points are in.
        fractions: float64 (3, n), where in that cell, from 0 to 1.
        levels: int8 (n,), the level of the first cube.
        steps: float64 (k, 3).
        hole: the first cell of a box whose cells count as empty, and the first one beyond it.
    """

    cells: NDArray[np.int64]
    fractions: Doubles
    levels: NDArray[np.int8]
    steps: Doubles
    hole: tuple[Triple, Triple] = ((0, 0, 0), (0, 0, 0))

    def __len__(self) -> int:
        return len(self.levels)


#: How many cubes are looked up along a cone.
CONE_CUBES = 9

#: Cubes of this level and higher are looked up at its distance: there are no cells farther out.
CONE_FARTHEST = LARGEST_BITS + 1


def surface(rays: Rays, hits: Hits, which: Any) -> tuple[NDArray[np.int64], Doubles]:
    """Return where rays meet the faces that they hit, to start further rays from: cells (3, m) before them, and fractions (3, m).

    Args:
        rays: the rays.
        hits: their hits.
        which: a mask or indices of rays that hit a face.
    """
    cells, axis = hits.cells[:, which], hits.faces[which].astype(np.intp)
    moved = rays.fractions[:, which] + rays.directions[:, which] * hits.distances[which]
    fractions = np.clip(moved - (cells - rays.cells[:, which]), 0.0, 1.0)
    each = np.arange(len(axis))
    ahead = rays.directions[:, which][axis, each] > 0
    cells = cells.copy()
    cells[axis, each] -= np.where(ahead, 1, -1)
    fractions[axis, each] = np.where(ahead, 1.0, 0.0)
    return cells, fractions
