"""The bricks in which every engine grows on exactly one touch: where a cell lies, and what is near a wall.

Coordinates. A cell (a, b, c) is kept at x = b, y = a, z = c, one of the plane, (a, b), at x = b, y = 0, z = a. Of a growth with
symmetry only the fundamental domain a >= b >= c is kept. Its walls are where a - b, b - c and, with signs, c are 0.
Slabs are those of b: most births of a generation have nearly the largest a.

Bricks. A brick has 8 x 8 x 8 sites, in the plane 16 x 1 x 16, of them 256 or 512 cells: every second one of an even lattice. A
word of 64 bits has 4 x 4 x 8 sites of an even lattice, 4 x 4 x 4 of another, 8 x 1 x 8 of the plane. The place of a cell in its
brick is its word and bit. Bricks at one (x, y) are a column, and those at one x a slab.

Walls. Let G be the rule's group of signed permutations and D its fundamental domain, x_0 >= x_1 >= ... (>= 0 for CUBE). The
growth is invariant under G, so its cells in D determine it, and D can be grown alone if each cell t of D receives every touch that
it would receive in the whole growth. For each offset o, t is touched by t - o, which is alive as its representative is. So a
newborn r of D touches t

    |{o: t - o is an image of r}| = |{o: r + o is an image of t}| |G r| / |G t|  times.

Far. A newborn r touches each r + o once, and nothing else, where all of these lie in D and on none of its walls. A cell t is
touched by each t - o alone where these lie in D. So what a cell touches, and what touches it, depends on its distances from the
walls, where any from a limit on counts as one: its class.
"""

from __future__ import annotations

from functools import cached_property
from itertools import product
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import Ints
from gpu_nim.model.rule import Cells, Rule, Symmetry

_LONGEST = 4  # sites along an axis of a word: a touch goes no further than into the words beside one


def supports(rule: Rule) -> bool:
    """Return whether a rule is grown in bricks: births on exactly one touch, 2 or 3 dimensions, no `touches`, short offsets.

    An offset's coordinates are at most 4 in size, and the same holds for what a newborn touches in the fundamental domain: taking a
    cell to its representative brings no two cells further apart along any axis than they were in the maximum norm.

    >>> supports(Rule(2, ((4, 0),), frozenset({1}), seeds=((0, 0),))), supports(Rule(2, ((9, 0),), frozenset({1}), seeds=((0, 0),)))
    (True, False)
    """
    return rule.exactly_one and rule.dimension in (2, 3) and rule.touches is None and rule.reach <= _LONGEST


class BrickGrid:
    """Where the cells of a rule lie in bricks.

    Attributes:
        axes: the coordinates' axes among x, y and z.
        logs: the binary logarithms of a brick's sites along each axis, int64 of shape (3,).
        size: these numbers of sites.
        words: 64-bit words of a brick's cells.
        site: the coordinates of each place in the brick, int64 of shape (places, 3).
        place: the place of each site, int64 of shape `size`.
        across: rows whose products with a cell are its distances from the walls; 0 for axes without; int64 of shape (3, 3).
        origin: the corner from which bricks are counted, int64 of shape (3,): 0.

    >>> grid = BrickGrid(Rule(2, ((1, 1), (1, -1), (-1, 1), (-1, -1)), frozenset({1}), ((0, 0),)))
    >>> grid.site[grid.place[3, 0, 4]].tolist(), grid.words
    ([3, 0, 4], 4)
    """

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.spatial = rule.dimension == 3
        self.folded = rule.symmetry is not Symmetry.NONE
        self.signed = rule.symmetry is Symmetry.CUBE
        self.packed = int(self.spatial and rule.even_sum)
        self.axes = [1, 0, 2] if self.spatial else [2, 0]
        self.logs = np.array([3, 3, 3] if self.spatial else [4, 0, 4])
        word = np.array([2, 2, 2 + self.packed] if self.spatial else [3, 0, 3])  # the same of a word
        self.size = 1 << self.logs
        self.origin = np.zeros(3, np.int64)
        sites = np.array(list(product(*map(range, self.size))), np.int64)
        # The words of a brick, then the cells of each.
        keys = [*(sites >> word).T, *(sites & (1 << word) - 1).T]
        order = np.lexsort(keys[::-1])
        self.site = sites[order[sites[order].sum(axis=1) % 2 == 0]] if self.packed else sites[order]
        self.words = len(self.site) // 64
        self.place = np.zeros(self.size, np.int64)
        self.place[tuple(self.site.T)] = np.arange(len(self.site))
        self.across = np.zeros((3, 3), np.int64)
        for axis, after in zip(self.axes, [*self.axes[1:], None], strict=True):
            if rule.octant or (self.folded and (after is not None or self.signed)):
                self.across[axis, axis] = 1
            if self.folded and after is not None:
                self.across[axis, after] = -1

    def embedded(self, cells: Cells) -> NDArray[np.int64]:
        """Return cells at their x, y and z, shape (N, 3)."""
        at = np.zeros((len(cells), 3), np.int64)
        at[:, self.axes] = cells
        return at

    def split(self, cells: Cells) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return, for cells, their bricks, counted in bricks, shape (N, 3), and their places in these, shape (N,)."""
        at = np.zeros((len(cells), 3), np.int64) - self.origin
        at[:, self.axes] += cells
        return at >> self.logs, self.place[tuple((at & self.size - 1).T)]

    def cells(self, bricks: Any, places: Any, xp: ModuleType = np) -> Any:
        """Return the cells at some places of bricks, arrays of `xp`: the inverse of `split`."""
        at = ((axis, int(self.size[axis]), int(self.origin[axis])) for axis in self.axes)
        along = [bricks[:, axis] * size + xp.asarray(self.site[:, axis] + corner)[places] for axis, size, corner in at]
        return xp.stack(along, axis=1)

    def cells_of(self, bricks: NDArray[np.integer], words: NDArray[np.uint64]) -> Cells:
        """Return the cells whose bits are set, shape (cells, dimension).

        Args:
            bricks: their positions, counted in bricks, shape (N, 3).
            words: their words, shape (N, words).
        """
        index, places = np.nonzero(unpacked(words))
        cells: Cells = self.cells(bricks[index].astype(np.int64), places)
        return cells

    def words_of(self, cells: Cells) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Return the bricks of cells, counted in bricks, shape (n, 3), in lexicographic order, and their words, as `cells_of` does.

        >>> grid = BrickGrid(Rule(2, ((1, 1), (1, -1), (-1, 1), (-1, -1)), frozenset({1}), ((0, 0),)))
        >>> positions, words = grid.words_of(np.array([[16, 17], [16, 18]]))
        >>> positions.tolist(), words[0, 0]
        ([[1, 0, 1]], np.uint64(65792))
        """
        bricks, places = self.split(cells)
        found, which = np.unique(bricks, axis=0, return_inverse=True)
        words = np.zeros((len(found), self.words), np.uint64)
        np.bitwise_or.at(words, (which.reshape(-1), places >> 6), bits(places))
        return found, words

    @cached_property
    def reach(self) -> NDArray[np.uint32]:
        """The bricks that a newborn at each place touches: bit 9 (dx + 1) + 3 (dy + 1) + dz + 1 for each, shape (places,)."""
        targets = self.site[:, None] + self.embedded(np.array(self.rule.offsets, np.int64)) + self.size >> self.logs
        reached: NDArray[np.uint32] = np.bitwise_or.reduce(1 << targets @ np.array([9, 3, 1]), axis=1).astype(np.uint32)
        return reached


def bits(places: Ints) -> NDArray[np.uint64]:
    """Return the bits of places in their words."""
    found: NDArray[np.uint64] = np.uint64(1) << (places & 63).astype(np.uint64)
    return found


def packed(chosen: NDArray[Any]) -> NDArray[np.uint64]:
    """Return bits, along the last axis, lowest first, as words of 64."""
    words: NDArray[np.uint64] = np.ascontiguousarray(np.packbits(chosen, axis=-1, bitorder="little")).view("<u8").astype(np.uint64)
    return words


def unpacked(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return the bits of words, shape (N, words), lowest first, shape (N, 64 words)."""
    return np.unpackbits(words.astype("<u8").view(np.uint8).reshape(len(words), 8 * words.shape[1]), axis=1, bitorder="little")


class Walls(NamedTuple):
    """What cells near the walls touch, or what they are touched by.

    Attributes:
        across: `BrickGrid.across`.
        corner: the distances of the corner of all bricks from the walls, in bricks; int64 of shape (3,).
        limits: the least distance from each that counts as far, int64 of shape (3,); 0 for none.
        orbit: how many cells one of each class stands for, int64 of shape (classes,).
        first: where the touches of each class begin, and the last of them end, int64 of shape (classes + 1,).
        touches: from the cell to the other one in x, y and z, and 1 for a touch or 2 for several; int64 of shape (touches, 4).
        along: each place's distances, int64 of shape (places, 3).
        last: the least of a brick's distances, in bricks, from which on no place is near, int64 of shape (3,).
        near: the places of a brick that are near a wall, by the wall and the brick's distance, uint64 of shape (3, bricks, words).
        domain: those that are not beyond it, likewise.
    """

    across: NDArray[np.int64]
    corner: NDArray[np.int64]
    limits: NDArray[np.int64]
    orbit: NDArray[np.int64]
    first: NDArray[np.int64]
    touches: NDArray[np.int64]
    along: NDArray[np.int64]
    last: NDArray[np.int64]
    near: NDArray[np.uint64]
    domain: NDArray[np.uint64]

    def classes(self, distances: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the classes of cells at these distances, shape (N, 3)."""
        classes: NDArray[np.int64] = np.ravel_multi_index(tuple(np.clip(distances, 0, self.limits).T), tuple(self.limits + 1))
        return classes


def walls(grid: BrickGrid, sign: int) -> Walls:
    """Return what cells near the walls touch, or what they are touched by.

    Args:
        grid: where the cells lie.
        sign: 1 for what newborns touch, -1 for what cells are touched by.

    >>> from gpu_nim.model.rule import Rule, Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> for sign in (1, -1):  # (0, 0) touches (1, 0), and images of it; all of these touch (0, 0)
    ...     near = walls(BrickGrid(square), sign)
    ...     print(near.touches[: near.first[1]].tolist())
    [[0, 0, 1, 1]]
    [[0, 0, 1, 2]]
    """
    rule, symmetry, offsets, size = grid.rule, grid.rule.symmetry, np.array(grid.rule.offsets, np.int64), int(grid.size[0])
    walled = grid.across.any(axis=1)
    # What a newborn touches must not lie on a wall, where orbits are smaller; what touches a cell may. A cell on a wall is near.
    apart = np.where((grid.across < 0).any(axis=1), np.ptp(offsets, axis=1).max(), rule.reach) + (sign > 0)
    limits = np.where(walled, np.maximum(apart, 1), 0)
    distances = np.array(list(product(*(range(limit + 1) for limit in limits.tolist()))), np.int64)[:, grid.axes]
    # A folded cell's coordinates are sums of its distances.
    cells = np.cumsum(distances[:, ::-1], axis=1)[:, ::-1] if grid.folded else distances
    reached = (cells[:, None] + sign * offsets).reshape(-1, rule.dimension)
    kind, inside = np.repeat(np.arange(len(cells)), len(offsets)), (reached >= 0).all(axis=1) | (not rule.octant)
    keys, counts = np.unique(np.column_stack((kind, symmetry.representative(reached)))[inside], axis=0, return_counts=True)
    kind, others, orbit = keys[:, 0], keys[:, 1:], symmetry.orbit_size(cells)
    often = counts * orbit[kind] > symmetry.orbit_size(others) if sign > 0 else counts > 1
    along = grid.site @ grid.across.T
    last = np.where(walled, -(-(limits + size - 1) // size), 0)
    beyond = np.arange(int(last.max()) + 1)[:, None] * size + along.T[:, None]
    return Walls(
        across=grid.across,
        corner=grid.across @ (grid.origin // grid.size),
        limits=limits,
        orbit=orbit,
        first=np.searchsorted(kind, np.arange(len(cells) + 1)),
        touches=np.column_stack((grid.embedded(others - cells[kind]), often + 1)),
        along=along,
        last=last,
        near=packed(walled[:, None, None] & (beyond < limits[:, None, None]) & (beyond >= 0)),
        domain=packed(~walled[:, None, None] | (beyond >= 0)),
    )
