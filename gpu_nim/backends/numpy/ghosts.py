"""The images of newborns that touch the fundamental domain from outside.

Let G be the rule's group of signed permutations and D its fundamental domain, x_0 >= x_1 >= ... (>= 0 for CUBE). The growth is
invariant under G, so its cells in D determine it, and D can be grown alone if each cell of D receives every touch that it would
receive in the whole growth. It does when the newborns of D push together with their ghosts: the images y outside of D of newborns r
in D for which some y + o lies in D. Then every alive cell pushes once, and touches need no weights.

Near. To find the ghosts, call r near a mirror of G when r is within W = 2 max |o_i| of it, measured by the difference x_i - x_j,
the sum x_i + x_j, or the coordinate x_i that vanishes there. Let y = g r and t = y + o in D. A mirror that separates y from D has y
on its negative side and t not, so y is within W of it, and r is near the mirror's image under g^-1. So a newborn that is near no
mirror has no ghost. A newborn near exactly one has a ghost only if exactly one mirror separates it from D; then that mirror is a
wall of D, and the ghost is the reflection in it. The few newborns near several mirrors have all their images tried. (Near any
mirror implies near a wall: x_i - x_j <= W bounds the differences of neighbours between i and j, and x_i + x_j <= W or x_i <= W
bound the last coordinate.)

Far. Taking a cell to its representative, by dropping signs and sorting, brings no two cells further apart along any axis of D than
they were in the maximum norm: | |a| - |b| | <= |a - b|, and the k-th largest of some numbers moves by no more than the numbers do.
Let y = g r and t = y + o in D, and let reach = max |o_i|. Then r and t are the representatives of y and t, so

    |t_k - r_k| <= reach  for every k,  and  |y_k - r_k| <= |y_k - t_k| + |t_k - r_k| <= 2 reach.

So an image that is further than 2 reach from its newborn is no ghost, all that a newborn and its ghosts touch is within 3 reach of
it, and what they touch in D within reach: whoever owns some layers of D needs no newborns but those within reach of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import Ints
from gpu_nim.model.rule import Rule, Symmetry


class Mirrors:
    """The mirrors of a rule's symmetry. Cells are of shape (dimension, N).

    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> Mirrors(square).ghosts(np.array([[9, 9], [8, 1]])).tolist()  # of (9, 8) and (9, 1)
    [[8, 9], [9, -1]]
    """

    def __init__(self, rule: Rule) -> None:
        self._symmetry, self._dimension = rule.symmetry, rule.dimension
        self._reach = rule.reach
        self._group = rule.symmetry.transformations(rule.dimension)

    def near(self, cells: Ints) -> NDArray[np.intp]:
        """Return the indices of the cells of the domain that are near a mirror: those on one among them."""
        if self._symmetry is Symmetry.NONE:
            return np.zeros(0, np.intp)
        return np.flatnonzero((self._heights(cells) <= 2 * self._reach).any(axis=0))

    def ghosts(self, near: Ints) -> Ints:
        """Return the ghosts of cells that are near a mirror; images that touch nothing in the domain may be among them."""
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
        return np.concatenate(found, axis=1)

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
