"""The chunks of one array, written by all ranks of a growth: which cells go to whom.

Cells are stored by generation and in lexicographic order within each, in chunks of equally many. Chunk k belongs to rank k modulo
the number of ranks, which alone writes its file. The newborns of a generation are on the ranks that own their layers, in
lexicographic order on each. So before they are written, each is sent to the rank of its chunk.

Where chunks meet inside a generation, the first cell of the later one is found by bisection: cells are numbered in lexicographic
order within the box of the generation, and the ranks count together how many of theirs are below a number. All borders of a
generation are bisected at once, so that this takes an exchange for each binary digit of a number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import Communicator, as_bytes, share
from gpu_nim.model.errors import UsageError

Cells = NDArray[np.integer]
Ints = NDArray[np.int64]


class ChunkDeal:
    """Deals cells out to the ranks of their chunks.

    Args:
        ranks: the ranks, which call `deal` together.
        size: the cells of a chunk.
        count: how many cells there are before.

    Attributes:
        count: how many cells there are so far.

    >>> from gpu_nim.backends.communicator import Alone
    >>> deal = ChunkDeal(Alone(), size=4, count=3)
    >>> [(chunk, len(cells)) for chunk, cells in deal.deal(np.zeros((6, 2), np.int32), 6)]
    [(0, 1), (1, 4), (2, 1)]
    """

    def __init__(self, ranks: Communicator, size: int, count: int = 0) -> None:
        self._ranks, self._size = ranks, size
        self.count = count

    def owns(self, chunk: int) -> bool:
        """Return whether a chunk is written by this rank."""
        return chunk % self._ranks.size == self._ranks.rank

    def deal(self, cells: Cells, births: int) -> Iterator[tuple[int, Cells]]:
        """Yield the cells of this rank's chunks, with the number of the chunk, in order.

        Args:
            cells: this rank's newborns: of one generation, or on a single rank of several.
            births: the number of newborns of all ranks.
        """
        if not births:
            return
        start, self.count = self.count, self.count + births
        chunks = range(start // self._size, (self.count - 1) // self._size + 1)
        if self._ranks.size > 1:
            cells = self._exchanged(cells, start, chunks)
        at = 0
        for chunk in filter(self.owns, chunks):
            size = min(self.count, (chunk + 1) * self._size) - max(start, chunk * self._size)
            yield chunk, cells[at : at + size]
            at += size

    def _exchanged(self, cells: Cells, start: int, chunks: range) -> Cells:
        """The cells of this rank's chunks, from all ranks, in lexicographic order."""
        cuts = [0, *self._cuts(cells, np.array(chunks[1:], np.int64) * self._size - start), len(cells)]
        parts: list[list[Cells]] = [[cells[:0]] for _ in range(self._ranks.size)]
        for chunk, begin, end in zip(chunks, cuts[:-1], cuts[1:], strict=True):
            parts[chunk % self._ranks.size].append(cells[begin:end])
        received = self._ranks.exchange([as_bytes(np.concatenate(part)) for part in parts])
        found = np.concatenate([part.view(cells.dtype) for part in received]).reshape(-1, cells.shape[1])
        if not len(found):
            return found
        return found[np.argsort(_numbers(found, *_corners(found)), kind="stable")]  # a merge of sorted runs

    def _cuts(self, cells: Cells, borders: Ints) -> list[int]:
        """How many of this rank's cells come before each border, a number of cells of all ranks."""
        if not len(borders):
            return []
        corners = share(self._ranks, _corners(cells) if len(cells) else None)
        low, high = (np.stack(each) for each in zip(*(each for each in corners if each is not None), strict=True))
        low, high = low.min(axis=0), high.max(axis=0)
        numbers = _numbers(cells, low, high)
        # Of numbers from least to most, the first that so many cells are below.
        least, most = np.zeros_like(borders), np.full_like(borders, math.prod((high - low + 1).tolist()))
        while (least < most).any():
            middle = least + (most - least) // 2
            below = self._ranks.sum(np.searchsorted(numbers, middle).astype(np.uint64)).astype(np.int64)
            least, most = np.where(below < borders, middle + 1, least), np.where(below < borders, most, middle)
        found: list[int] = np.searchsorted(numbers, least).tolist()
        return found


def _corners(cells: Cells) -> tuple[Ints, Ints]:
    """The least and greatest coordinates of some cells."""
    return cells.min(axis=0).astype(np.int64), cells.max(axis=0).astype(np.int64)


def _numbers(cells: Cells, low: Ints, high: Ints) -> Ints:
    """The numbers of cells in a box, in lexicographic order."""
    widths = (high - low + 1).tolist()
    if math.prod(widths) >= 1 << 63:
        raise UsageError(f"cells of several ranks must lie in a box of fewer than 2^63 cells, got one of {math.prod(widths):,}")
    numbers = np.zeros(len(cells), np.int64)
    for x, least, width in zip(cells.T, low.tolist(), widths, strict=True):
        numbers *= width
        numbers += x
        numbers -= least
    return numbers
