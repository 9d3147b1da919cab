"""Where the cells of a rule lie in compact bricks, the layout of the compiled loops, in which their states are.

A cell is kept at its own coordinates; one of the plane at (x, 0, y). A brick has 8 x 8 x 8 sites, in the plane 16 x 1 x 16, of them
256 or 512 cells: every second one of an even lattice. A word of 64 bits has 4 x 4 x 8 sites of an even lattice, 4 x 4 x 4 of
another, 8 x 1 x 8 of the plane. The place of a cell in its brick is its word and bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import State
from gpu_nim.backends.shared.bricks import BrickGrid
from gpu_nim.model.rule import Cells

_SLICE = 1 << 12  # bricks of a state that are read at a time


class CompactGrid:
    """Where the cells of a rule lie in compact bricks.

    Attributes:
        logs: the binary logarithms of a brick's sites along each axis, int64 of shape (3,).
        size: these numbers of sites.
        words: 64-bit words of a brick's cells.
        site: the coordinates of each place in the brick, int64 of shape (places, 3).
        place: the place of each site, int64 of shape `size`.

    >>> from gpu_nim.model.rule import Rule
    >>> grid = CompactGrid(BrickGrid(Rule(2, ((1, 1), (1, -1), (-1, 1), (-1, -1)), frozenset({1}), ((0, 0),))))
    >>> grid.site[grid.place[3, 0, 4]].tolist(), grid.words
    ([3, 0, 4], 4)
    """

    def __init__(self, grid: BrickGrid) -> None:
        self.axes = [0, 1, 2] if grid.spatial else [0, 2]
        self.logs = np.array([3, 3, 3] if grid.spatial else [4, 0, 4])
        word = np.array([2, 2, 2 + grid.packed] if grid.spatial else [3, 0, 3])
        self.size = 1 << self.logs
        sites = np.array(list(product(*map(range, self.size))), np.int64)
        # The words of a brick, then the cells of each.
        keys = [*(sites >> word).T, *(sites & (1 << word) - 1).T]
        order = np.lexsort(keys[::-1])
        self.site = sites[order[sites[order].sum(axis=1) % 2 == 0]] if grid.packed else sites[order]
        self.words = len(self.site) // 64
        self.place = np.zeros(self.size, np.int64)
        self.place[tuple(self.site.T)] = np.arange(len(self.site))

    def embedded(self, cells: Cells) -> NDArray[np.int64]:
        """Return cells at their x, y and z, shape (N, 3)."""
        at = np.zeros((len(cells), 3), np.int64)
        at[:, self.axes] = cells
        return at

    def states(self, state: State) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint64]]]:
        """Yield the positions of bricks in a state, counted in bricks from (0, 0, 0), and their words, slice by slice."""
        for start in range(0, len(state.get("compact_bricks", ())), _SLICE):
            part = slice(start, start + _SLICE)
            yield state["compact_bricks"][part].astype(np.int64), state["compact_words"][part].view(np.uint64)

    def touched(self, state: State) -> Iterator[Cells]:
        """Yield the cells of these bricks that were touched."""
        for positions, words in self.states(state):
            index, place = np.nonzero(unpacked(words))
            yield ((positions[index] << self.logs) + self.site[place])[:, self.axes]


def unpacked(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return the bits of words, shape (N, words), lowest first, shape (N, 64 words)."""
    return np.unpackbits(words.astype("<u8").view(np.uint8).reshape(len(words), 8 * words.shape[1]), axis=1, bitorder="little")
