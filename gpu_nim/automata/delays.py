"""The delay of a birth: its generation less the earliest one that the offsets of the rule allow."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Cells, Rule

_MAX_DIMENSION = 4  # 3^d directions are tried


class Earliest:
    """The earliest generation of cells, by how far a step gets in each direction with coefficients -1, 0 and 1.

    A cell whose product with a direction exceeds that of every seed by p, where the largest product of an offset is m, is born at
    generation p / m or later; the earliest generation is the largest of these, rounded up. For `edge`, `fcc` and the other rules of
    the catalogue whose offsets have coordinates -1, 0 and 1 it is the number of steps from the seed.

    Args:
        rule: the rule of the growth.

    Raises:
        UsageError: it has more than four dimensions.

    >>> from gpu_nim.automata.catalogue import find
    >>> Earliest(find("fcc").rule).generations(np.array([[0, 0, 0], [1, -1, 0], [0, 1, 3], [2, 2, 2]])).tolist()
    [0, 1, 3, 3]
    """

    def __init__(self, rule: Rule) -> None:
        if rule.dimension > _MAX_DIMENSION:
            raise UsageError(f"delays need a rule of at most {_MAX_DIMENSION} dimensions, got {rule.dimension}")
        directions = np.array([*product((-1, 0, 1), repeat=rule.dimension)])
        strides = (directions @ np.array(rule.offsets).T).max(axis=1)
        forward = strides > 0
        self._directions, self._strides = directions[forward], strides[forward]
        self._seeds = (self._directions @ np.array(rule.seeds).T).max(axis=1)

    def generations(self, cells: Cells) -> NDArray[np.int64]:
        """Return the earliest generation of each cell.

        Args:
            cells: shape (N, d).

        Returns:
            int64 of shape (N,).
        """
        earliest = np.zeros(len(cells), np.int64)
        for direction, stride, seeds in zip(self._directions, self._strides, self._seeds, strict=True):
            np.maximum(earliest, -((seeds - cells @ direction) // stride), out=earliest)
        return earliest
