"""What a growth is measured by beside its births: the boxes that its cells lie in, and the earliest generation of a cell."""

import math
from collections.abc import Mapping
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.newborns import by_generation
from gpu_nim.backends.interface import Batch
from gpu_nim.model.rule import Cells, Rule

#: Sides of boxes, 2 to 2^32: beyond any growth, so that one resumed with more generations counts the same boxes.
LEVELS = 32
_BLOCK = 1 << 16  # bytes of a bitmap of boxes that are unpacked at a time
#: The most dimensions of delays: 3^d directions are tried.
MAX_DIMENSION = 4
_CELLS = 1 << 14  # whose products with all directions stay in the processor's cache


class Boxes:
    """Which boxes of side 2, 4, 8, ... hold a cell: one bit per box, from the smallest up.

    Only boxes that are new at one side are examined at the next, so that almost all of the work is at side 2.

    >>> boxes = Boxes((0, 0), (3, 3))
    >>> boxes.enter(np.array([[0, 0], [0, 1], [2, 3]]))[:3], boxes.enter(np.array([[1, 1], [3, 0]]))[:3]
    ([2, 1, 1], [1, 0, 0])
    """

    def __init__(self, lower: tuple[int, ...], upper: tuple[int, ...]) -> None:
        self._origins = [np.array(lower, np.int64) >> level for level in range(1, LEVELS + 1)]
        ends = [np.array(upper, np.int64) >> level for level in range(1, LEVELS + 1)]
        self._shapes = [tuple((end - origin + 1).tolist()) for origin, end in zip(self._origins, ends, strict=True)]
        self._bits = [np.zeros(math.prod(shape) // 8 + 1, np.uint8) for shape in self._shapes]

    def enter(self, cells: Cells) -> list[int]:
        """Add cells (N, d) and return how many boxes of each side are new."""
        coordinates = np.asarray(cells, np.int64).T
        found = [0] * LEVELS
        levels = zip(self._origins, self._shapes, self._bits, strict=True)
        for level, (origin, shape, bits) in enumerate(levels):
            if not coordinates.size:
                break
            coordinates = coordinates >> 1
            keys = np.unique(np.ravel_multi_index(tuple(coordinates - origin[:, None]), shape))
            indices, flags = keys >> 3, np.uint8(1) << (keys & 7).astype(np.uint8)
            new = bits[indices] & flags == 0
            np.bitwise_or.at(bits, indices[new], flags[new])
            coordinates = np.stack(np.unravel_index(keys[new], shape)) + origin[:, None]
            found[level] = int(np.count_nonzero(new))
        return found

    def keep(self, newborns: "NewCells") -> NDArray[np.uint64]:
        """Add those of a batch, and return how many boxes of each side are new in each generation."""
        counts = [self.enter(cells) for cells in by_generation(newborns.cells, newborns.batch.births)]
        return np.array(counts, np.uint64).reshape(len(counts), -1)

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the boxes of side 2, from which the others follow."""
        shape = np.array(self._shapes[0], np.int64)
        return {"boxes.bits": self._bits[0].copy(), "boxes.origin": self._origins[0], "boxes.shape": shape}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        """Add the boxes of a state, which may be of a smaller or larger growth."""
        bits, shape = state["boxes.bits"].view(np.uint8), tuple(state["boxes.shape"].tolist())
        origin = np.asarray(state["boxes.origin"], np.int64)[:, None]
        for start in range(0, len(bits), _BLOCK):
            keys = np.flatnonzero(np.unpackbits(bits[start : start + _BLOCK], bitorder="little")) + 8 * start
            if len(keys):
                self.enter(((np.stack(np.unravel_index(keys, shape)) + origin) << 1).T)


def earliest_generations(rule: Rule, cells: Cells) -> NDArray[np.int64]:
    """Return the earliest generation of each cell, by how far a step gets in each direction with coefficients -1, 0 and 1.

    A cell whose product with a direction exceeds that of a seed by p, where the largest product of an offset is m, is born from
    that seed at generation p / m or later, rounded up, and never if p > 0 and m <= 0. The earliest generation is the largest of
    these over the directions, the least over the seeds. For `edge`, `fcc` and the other rules of the catalogue whose offsets have
    coordinates -1, 0 and 1 it is the number of steps from the nearest seed; for other offsets the steps may be more.

    Args:
        rule: the rule of the growth.
        cells: shape (N, d).

    Returns:
        int64 of shape (N,); 2^63 - 1 for cells out of reach.

    >>> from gpu_nim.automata.catalogue import find
    >>> earliest_generations(find("fcc").rule, np.array([[0, 0, 0], [1, -1, 0], [0, 1, 3], [2, 2, 2]])).tolist()
    [0, 1, 3, 3]
    """
    directions = np.array([*product((-1, 0, 1), repeat=rule.dimension)])
    strides = (directions @ np.array(rule.offsets).T).max(axis=1).tolist()
    never = np.iinfo(np.int64).max
    earliest = np.full(len(cells), never)
    for start in range(0, len(cells), _CELLS):
        block, out = cells[start : start + _CELLS].T.astype(np.int64), earliest[start : start + _CELLS]
        for seed in rule.seeds:
            own = np.zeros(len(out), np.int64)
            for stride, beyond in _furthest(block, seed, strides).items():
                np.maximum(own, -(-beyond // stride) if stride > 0 else np.where(beyond > 0, never, 0), out=own)
            np.minimum(out, own, out=out)
    return earliest


def _furthest(cells: NDArray[np.int64], seed: tuple[int, ...], strides: list[int]) -> dict[int, NDArray[np.int64]]:
    """For each stride how far cells, (d, N), lie beyond a seed in any of the directions that have it, in lexicographic order."""
    products = [np.zeros(cells.shape[1], np.int64)]  # with the first coordinates of each direction, which many directions share
    for along, origin in zip(cells, seed, strict=True):
        own = along - origin
        products = [each for begun in products for each in (begun - own, begun, begun + own)]
    furthest: dict[int, NDArray[np.int64]] = {}
    for stride, beyond in zip(strides, products, strict=True):
        furthest[stride] = np.maximum(furthest[stride], beyond) if stride in furthest else beyond
    return furthest


class NewCells:
    """The newborns of a batch, with what several columns count of them.

    Args:
        batch: the batch; columns that need its cells say so by `Column.needs_cells`.
        rule: the rule of the growth.
    """

    def __init__(self, batch: Batch, rule: Rule) -> None:
        self.batch, self._rule = batch, rule

    @property
    def cells(self) -> NDArray[np.integer]:
        """All of them, shape (N, d), in order of generation."""
        assert self.batch.cells is not None, "a column that reads cells has needs_cells"
        return self.batch.cells

    @cached_property
    def _generation(self) -> NDArray[np.int64]:
        """The generation of each cell, counted from the first one of the batch."""
        return np.repeat(np.arange(len(self.batch.births)), self.batch.births.astype(np.int64))

    @cached_property
    def delays(self) -> NDArray[np.int64]:
        """The delay of each cell: its generation less the earliest one (`earliest_generations`)."""
        return self._generation + self.batch.first - earliest_generations(self._rule, self.cells)

    def count(self, chosen: NDArray[np.bool_]) -> NDArray[np.uint64]:
        """Return how many of the cells that are chosen, bool of shape (N,), are born in each generation."""
        return np.bincount(self._generation[chosen], minlength=len(self.batch.births)).astype(np.uint64)
