"""The halo of exactly-one growth: what touches the fundamental domain, or the bricks of a rank, from outside.

Let G be the rule's group of signed permutations and D its fundamental domain, x_0 >= x_1 >= ... (>= 0 for CUBE). The growth is
invariant under G, so its cells in D determine it, and D can be grown alone if each cell of D receives every touch that it would
receive in the whole growth. It does when the newborns of D push together with their halo cells: the images y outside of D of
newborns r in D for which some y + o lies in D. Then every alive cell pushes once, and touches need no weights.

Near. To find the halo cells, call r near a mirror of G when r is within W = 2 max |o_i| of it, measured by the difference x_i -
x_j, the sum x_i + x_j, or the coordinate x_i that vanishes there. Let y = g r and t = y + o in D. A mirror that separates y from D
has y on its negative side and t not, so y is within W of it, and r is near the mirror's image under g^-1. So a newborn that is near
no mirror has no halo cell. A newborn near exactly one has a halo cell only if exactly one mirror separates it from D; then that
mirror is a wall of D, and the halo cell is the reflection in it. The few newborns near several mirrors have all their images tried.
(Near any mirror implies near a wall: x_i - x_j <= W bounds the differences of neighbours between i and j, and x_i + x_j <= W or x_i
<= W bound the last coordinate.)

Far. Taking a cell to its representative, by dropping signs and sorting, brings no two cells further apart along any axis of D than
they were in the maximum norm: | |a| - |b| | <= |a - b|, and the k-th largest of some numbers moves by no more than the numbers do.
Let y = g r and t = y + o in D, and let reach = max |o_i|. Then r and t are the representatives of y and t, so

    |t_k - r_k| <= reach  for every k,  and  |y_k - r_k| <= |y_k - t_k| + |t_k - r_k| <= 2 reach.

So an image that is further than 2 reach from its newborn is no halo cell, and what a newborn and its halo cells touch in D is
within reach of the newborn: whoever owns some slabs of bricks needs no newborns but those within reach of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.shared.bricks import Bricks
from gpu_nim.model.arrays import Ints
from gpu_nim.model.rule import Symmetry


class Mirrors:
    """The walls of the domain, and the mirrors of its symmetry. Cells are given by their (u, v, w), of shape (3, N).

    >>> from gpu_nim.model.rule import Rule
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> mirrors = Mirrors(Bricks(square, 20))
    >>> mirrors.halo(np.array([[0, 0], [0, 8], [9, 1]])).tolist()  # of (9, 9) and (9, 1): (9, -1), where u is 0
    [[0], [10], [-1]]
    """

    def __init__(self, bricks: Bricks) -> None:
        self._bricks, rule = bricks, bricks.rule
        self._symmetry, self._dimension, self._reach = rule.symmetry, rule.dimension, rule.reach
        self._group = rule.symmetry.transformations(rule.dimension)

    def near(self, at: Ints) -> NDArray[np.intp]:
        """Return the indices of the cells that are near a wall: those on a mirror among them."""
        near = np.zeros(at.shape[1], np.bool_)
        for wall, corner, x in zip(self._bricks.walls, self._bricks.origin, at, strict=True):
            if wall:
                near |= x <= 2 * self._reach - corner
        return near.nonzero()[0]

    def halo(self, at: Ints) -> Ints:
        """Return the halo cells of cells that are near a wall; images that touch nothing in the domain may be among them."""
        if self._symmetry is Symmetry.NONE:
            return at[:, :0]
        near = self._bricks.cells(at.T).T
        heights = self._heights(near)
        close = heights <= 2 * self._reach
        several = np.count_nonzero(close, axis=0) > 1
        found = []
        for wall in range(len(close)):
            # A cell on the wall is its own reflection. That in x_i = 0 moves a cell by twice its height.
            last = wall == self._dimension - 1
            furthest = self._reach if last else 2 * self._reach
            image = near[:, ~several & (heights[wall] > 0) & (heights[wall] <= furthest)]
            if last:
                image[wall] *= -1
            else:
                image[[wall, wall + 1]] = image[[wall + 1, wall]]
            found.append(image)
        found.append(self._images(near[:, several]))
        return self._bricks.locate(np.concatenate(found, axis=1).T).T

    def _images(self, cells: Ints) -> Ints:
        """The images outside of the domain and within 2 reach of their cells, each once."""
        images = (self._group @ cells).transpose(1, 0, 2)
        moved = np.abs(images - cells[:, None, :]).max(axis=0).ravel()
        images = images.reshape(self._dimension, -1)
        outside = images[:, (self._heights(images).min(axis=0) < 0) & (moved <= 2 * self._reach)]
        if not outside.size:
            return outside
        # Distinct newborns have distinct images; one on a mirror has some of its own twice.
        outside = outside[:, np.lexsort(outside)]
        first = np.ones(outside.shape[1], np.bool_)
        first[1:] = (outside[:, 1:] != outside[:, :-1]).any(axis=0)
        return outside[:, first]

    def _heights(self, cells: Ints) -> Ints:
        """How far above each wall of the fundamental domain the cells are, shape (walls, N)."""
        heights = cells.copy()
        heights[:-1] -= cells[1:]
        return heights if self._symmetry is Symmetry.CUBE else heights[:-1]
