"""Sets of cells packed into the bricks of a `BrickScene`."""

from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.tracing import BrickScene, Triple

_CHUNK = 1 << 20  # cells or bricks at once


class BrickPacker:
    """Collects cells, in any order, and packs them.

    Args:
        corner: the least coordinates.
        shape: the number of cells along each axis.
    """

    def __init__(self, corner: Triple, shape: Triple) -> None:
        self._stages = [tuple(-(-side // 4) for side in shape)]
        while prod(self._stages[-1]) > 1:
            self._stages.append(tuple(-(-side // 4) for side in self._stages[-1]))
        ends = list(accumulate(map(prod, self._stages)))
        self._starts = (0, *ends[:-1])
        self._words = np.zeros(ends[-1], np.uint64)
        self._corner, self._shape = corner, shape
        self._dtype = np.uint32 if prod(self._stages[0]) <= 1 << 26 else np.uint64

    @staticmethod
    def required_bytes(shape: Triple) -> int:
        """Return the bytes of memory that a scene of that shape takes while it is packed.

        >>> BrickPacker.required_bytes((1024, 1024, 1024))  # of 2^30 bits
        285212672
        """
        return 17 * prod(-(-side // 4) for side in shape)

    def add(self, cells: NDArray[np.integer]) -> NDArray[Any]:
        """Add cells (N, 3), and return their keys for `BrickScene.number_of`; a cell may be added again."""
        keys = np.empty(len(cells), self._dtype)
        for start in range(0, len(cells), _CHUNK):
            part = slice(start, start + _CHUNK)
            places, bits = self._set(0, cells[part] - np.array(self._corner))
            keys[part] = places << 6 | bits
        return keys

    def add_keys(self, keys: NDArray[Any]) -> None:
        """Add cells by their keys, of a packer of the same shape."""
        for start in range(0, len(keys), _CHUNK):
            part = keys[start : start + _CHUNK]
            np.bitwise_or.at(self._words, (part >> 6).astype(np.int64), np.uint64(1) << (part & 63).astype(np.uint64))

    def _set(self, stage: int, cells: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        a, b, c = cells.T.astype(np.int64)
        _, wide, deep = self._stages[stage]
        places, bits = ((a >> 2) * wide + (b >> 2)) * deep + (c >> 2), (a & 3) << 4 | (b & 3) << 2 | c & 3
        np.bitwise_or.at(self._words, self._starts[stage] + places, np.uint64(1) << bits.astype(np.uint64))
        return places, bits

    def scene(self) -> BrickScene:
        """Return the scene of the cells so far."""
        for stage, (first, shape) in enumerate(zip(self._starts[:-1], self._stages[:-1], strict=True)):
            for start in range(first, first + prod(shape), _CHUNK):
                some = np.flatnonzero(self._words[start : min(start + _CHUNK, first + prod(shape))]) + (start - first)
                self._set(stage + 1, np.stack(np.unravel_index(some, shape), axis=1))
        counts = np.bitwise_count(self._words[: prod(self._stages[0])])
        before = np.zeros(len(counts), np.uint32)
        np.cumsum(counts[:-1], dtype=np.uint32, out=before[1:])
        return BrickScene(self._words, self._starts, self._corner, self._shape, before)
