"""What newborns near the walls of the fundamental domain touch in it.

Let G be the rule's group of signed permutations and D its fundamental domain, x_0 >= x_1 >= ... (>= 0 for CUBE). The growth is
invariant under G, so its cells in D determine it, and D can be grown alone if each cell t of D receives every touch that it would
receive in the whole growth: from each image y of each newborn r of D, and offset o, with y + o = t. The pairs of an image of r and
an image of t that differ by an offset are as many for each image of r, and as many for each of t. So the orbit of r touches t

    |{o: r + o is an image of t}| |G r| / |G t|  times.

Far. Where all of r + o lie in D, and on none of its walls, both orbits are as large as G, and r touches them once each. A newborn
that is further from a wall than its `limit` has no image across it that touches D. So what it touches depends on its distances from
the walls, where any beyond the limit counts as one: its class.

Taking a cell to its representative, by dropping signs and sorting, brings no two cells further apart along any axis than they were
in the maximum norm. So what a newborn touches in D is no further from it than the longest offset: whoever owns some slabs of bricks
needs no newborns but those within reach of them.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.shared.bricks import BrickGrid
from gpu_nim.model.arrays import Ints


class Walls:
    """The walls of the domain, u = 0, v = 0 and w = 0 in the coordinates of `BrickGrid`, where the growth has any.

    Attributes:
        limits: the least distance from each that counts as far, int64 of shape (3,); 0 for none.
        orbit: how many cells a newborn of each class stands for, int64 of shape (classes,).
        first: where the touches of each class begin, and the last of them end, int64 of shape (classes + 1,).
        offsets: from a newborn to a cell that it touches, int64 of shape (touches, dimension).
        times: 1 for a cell that is touched once, else 2, int64 of shape (touches,).

    >>> from gpu_nim.model.rule import Rule, Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> walls = Walls(BrickGrid(square))
    >>> walls.offsets[: walls.first[1]].tolist()  # of (0, 0), whose other touches are images of this one
    [[1, 0]]
    """

    def __init__(self, grid: BrickGrid) -> None:
        rule, offsets = grid.rule, np.array(grid.rule.offsets, np.int64)
        between, most = int(np.ptp(offsets, axis=1).max()), rule.reach
        walled = np.array(grid.walls) & grid.folding.any(axis=1)
        self.limits = np.where(walled, np.array([between, between, most] if grid.folded else [most] * 3) + 1, 0)
        cells = grid.unfolded(np.array(list(product(*(range(limit + 1) for limit in self.limits.tolist()))), np.int64))
        self.orbit = rule.symmetry.orbit_size(cells)
        reached = (cells[:, None] + offsets).reshape(-1, rule.dimension)
        kind, inside = np.repeat(np.arange(len(cells)), len(offsets)), (reached >= 0).all(axis=1) | (not rule.octant)
        keys = np.column_stack((kind[inside], rule.symmetry.representative(reached[inside])))
        found, counts = np.unique(keys, axis=0, return_counts=True)
        kind, targets = found[:, 0], found[:, 1:]
        self.first, self.offsets = np.searchsorted(kind, np.arange(len(cells) + 1)), targets - cells[kind]
        self.times = np.where(counts * self.orbit[kind] > rule.symmetry.orbit_size(targets), 2, 1)

    def near(self, at: Ints) -> NDArray[np.intp]:
        """Return the indices of the cells that are near a wall, of those at (u, v, w) from 0, shape (3, N)."""
        near = np.zeros(at.shape[1], np.bool_)
        for limit, x in zip(self.limits, at, strict=True):
            if limit:
                near |= x < limit
        return near.nonzero()[0]

    def touches(self, at: Ints) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Return the touches of some cells, as indices of these and of `offsets`."""
        classes = np.ravel_multi_index(tuple(np.clip(at, 0, self.limits[:, None])), tuple(self.limits + 1))
        counts = np.diff(self.first)[classes]
        before = np.cumsum(counts) - counts
        return np.repeat(np.arange(len(counts)), counts), np.arange(counts.sum()) + np.repeat(self.first[classes] - before, counts)
