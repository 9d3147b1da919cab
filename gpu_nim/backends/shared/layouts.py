"""One box around the fundamental domain of exactly-one growth, and the keys of its cells: how CUDA's states are stored.

The key of a cell is s_0 x_0 + s_1 x_1 + s_2 x_2, a mixed radix with s_0 = 1. If the growth has only cells of even
coordinate sum, the s_i are odd: the sum is then even on all of these cells, and half of it is still unique.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.rule import Cells, Rule, Symmetry


def domain_box(rule: Rule, last: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the corners, both included, of a box that holds generations 0 to `last` of the fundamental domain.

    In the domain coordinates are non-increasing, so (i + 1) x_i <= x_0 + ... + x_i, which is the sum of all less the rest;
    likewise from below.

    >>> signs = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
    >>> domain_box(Rule(3, signs, frozenset({1}), ((0, 0, 0),), symmetry=Symmetry.CUBE), last=60)
    ((0, 0, 0), (60, 30, 20))
    """
    lower, upper = rule.box(last)
    if rule.symmetry is Symmetry.NONE:
        return lower, upper
    if rule.symmetry is Symmetry.CUBE:
        lower = (0,) * rule.dimension
    # The box of a symmetric rule is a cube, and the sums of offsets and seeds bound the sum of coordinates.
    low, high = lower[0], upper[0]
    most = max(map(sum, rule.seeds)) + last * max(0, *map(sum, rule.offsets))
    least = min(map(sum, rule.seeds)) + last * min(0, *map(sum, rule.offsets))
    axes = range(rule.dimension)
    uppers = tuple(min(high, (most - (rule.dimension - 1 - i) * low) // (i + 1)) for i in axes)
    lowers = tuple(max(low, -((i * high - least) // (rule.dimension - i))) for i in axes)
    return lowers, uppers


class Layout:
    """The keys of the cells of the fundamental domain, and of a margin around it.

    Coordinates are integer arrays of shape (dimension, N).

    >>> edges = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    >>> layout = Layout(Rule(2, edges, frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE), last=4)
    >>> layout.decode(layout.encode(np.array([[4, 2], [2, 0]])))
    array([[4, 2],
           [2, 0]])
    """

    def __init__(self, rule: Rule, last: int) -> None:
        lower, upper = domain_box(rule, last)
        self.even = rule.even_sum
        self.reach = max(abs(coordinate) for offset in rule.offsets for coordinate in offset)
        # A ghost is the reflection of a cell within 2 reach of the mirror, and its touches go one reach further.
        margin = self.reach * (1 if rule.symmetry is Symmetry.NONE else 3)
        self.lower = [low - margin for low in lower]
        self.upper = [high + margin for high in upper]
        if self.even and sum(self.lower) % 2:
            self.lower[0] -= 1
        self.strides: list[int] = []
        size = 1
        for low, high in zip(self.lower, self.upper, strict=True):
            stride = size | 1 if self.even else size
            self.strides.append(stride)
            size = stride * (high - low + 1)
        self.size = (size >> self.even) + 1

    def encode(self, coordinates: Cells) -> NDArray[np.int64]:
        """Return the keys, int64 of shape (N,)."""
        keys = np.zeros(coordinates.shape[1], np.int64)
        for x, low, stride in zip(coordinates, self.lower, self.strides, strict=True):
            keys += (x - low) * np.int64(stride)
        return keys >> self.even

    def decode(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the coordinates of these keys, int64."""
        coordinates = np.empty((len(self.strides), len(keys)), np.int64)
        rest = keys << self.even
        for axis in reversed(range(len(self.strides))):
            quotient = rest // self.strides[axis]
            rest -= quotient * self.strides[axis]
            np.add(quotient, self.lower[axis], out=coordinates[axis])
        return coordinates

    def jump(self, offset: tuple[int, ...]) -> int:
        """Return the difference of the keys of cell + offset and cell."""
        return sum(o * stride for o, stride in zip(offset, self.strides, strict=True)) >> self.even

    def holds(self, coordinates: Cells) -> NDArray[np.bool_]:
        """Return whether each cell has a place in the table."""
        inside = np.ones(coordinates.shape[1], np.bool_)
        for x, low, high in zip(coordinates, self.lower, self.upper, strict=True):
            inside &= (x >= low) & (x <= high)
        return inside
