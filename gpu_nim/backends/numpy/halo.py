"""The halo of exactly-one growth: what touches the fundamental domain, or the layers of a rank, from outside.

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

So an image that is further than 2 reach from its newborn is no halo cell, all that a newborn and its halo cells touch is within 3
reach of it, and what they touch in D within reach: whoever owns some layers of D needs no newborns but those within reach of them.

A rank receives the newborns that near of the layers of others before each generation, packed: ascending numbers as bits of their
range, or as the differences of neighbours, whichever is shorter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import Bytes
from gpu_nim.backends.shared.layers import AXIS, Layers, Places, spread
from gpu_nim.model.arrays import Ints
from gpu_nim.model.rule import Rule, Symmetry

_BITS = 0  # the first byte: bits follow, or differences of this many bytes
_DIFFERENCES = (np.uint8, np.uint16, np.uint32, np.uint64)


class Mirrors:
    """The mirrors of a rule's symmetry. Cells are of shape (dimension, N).

    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> Mirrors(square).halo(np.array([[9, 9], [8, 1]])).tolist()  # of (9, 8) and (9, 1)
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

    def halo(self, near: Ints) -> Ints:
        """Return the halo cells of cells that are near a mirror; images that touch nothing in the domain may be among them."""
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


class Boundary:
    """The layers of other ranks that are within reach of a rank's own.

    Args:
        layers: the boxes of the layers.
        rank: the rank.
        ranks: the number of ranks.
    """

    def __init__(self, layers: Layers, rank: int, ranks: int) -> None:
        self._layers, self._places = layers, Places(layers, layers.numbers)
        self._sent = np.zeros((ranks, len(layers.sizes)), np.bool_)
        owners = layers.owners(ranks)
        for other in range(ranks):
            if other != rank:
                self._sent[other, layers.numbers] = spread((owners == other).astype(np.int64), layers.reach) > 0
        self._near: NDArray[np.bool_] = np.logical_or.reduce(self._sent)

    def parts(self, newborns: Ints) -> list[Bytes]:
        """Return what each rank is sent of these newborns of the rank, shape (dimension, N): the places of some, in one table."""
        near = newborns[:, self._near[newborns[AXIS] - self._layers.first]]
        numbers = self._places.encode(near)
        order = np.argsort(numbers)
        entry = near[AXIS, order] - self._layers.first
        return [pack(numbers[order[sent[entry]]]) for sent in self._sent]

    def newborns(self, received: Sequence[Bytes]) -> Ints:
        """Return the newborns in what all ranks sent, shape (dimension, N)."""
        return self._places.decode(np.concatenate([unpack(part) for part in received]))


def pack(numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return ascending distinct numbers, 0 or more, as bytes, uint8 of shape (n,); none as no bytes.

    >>> len(pack(np.arange(10**6, 10**6 + 800))), len(pack(np.array([5, 10**6])))
    (109, 13)
    """
    if not len(numbers):
        return np.zeros(0, np.uint8)
    first, span = int(numbers[0]), int(numbers[-1] - numbers[0])
    differences = np.diff(numbers)
    widest = int(differences.max()) if len(differences) else 0
    dtype = next(dtype for dtype in _DIFFERENCES if widest <= np.iinfo(dtype).max)
    if span // 8 < len(differences) * np.dtype(dtype).itemsize:
        within = np.zeros(span + 1, np.bool_)
        within[numbers - first] = True
        kind, body = _BITS, np.packbits(within)
    else:
        kind, body = np.dtype(dtype).itemsize, differences.astype(dtype).view(np.uint8)
    return np.concatenate((np.array([first], "<i8").view(np.uint8), np.array([kind], np.uint8), body))


def unpack(packed: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the numbers that `pack` took.

    >>> unpack(pack(np.array([3, 4, 9]))), unpack(pack(np.array([7, 10**12])))
    (array([3, 4, 9]), array([            7, 1000000000000]))
    """
    if not len(packed):
        return np.zeros(0, np.int64)
    first, kind, body = int(packed[:8].view("<i8")[0]), int(packed[8]), packed[9:].copy()
    if kind == _BITS:
        return np.flatnonzero(np.unpackbits(body)) + first
    differences = body.view(_DIFFERENCES[kind.bit_length() - 1]).astype(np.int64)
    return np.cumsum(np.concatenate(([first], differences)))
