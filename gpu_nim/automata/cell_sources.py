"""Sources of a growth's cells: memory, a file, or a repeated growth."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Batch
from gpu_nim.model.arguments import size_text
from gpu_nim.model.arrays import coordinate_dtype, read_only
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.rule import Cells

#: A generation's number and the cells born in it, shape (births, d), in lexicographic order.
#:
#: Cells are int32, or int64 where sums or differences of coordinates need it; sources may give shorter integers.
Newborns = tuple[int, NDArray[np.integer]]

#: Yields the newborns of generations first to stop - 1, one generation after the other.
CellSource = Callable[[int, int], Iterator[Newborns]]

#: Yields (n, parents) for such a range: each newborn's parent as its index among all cells in order of birth, -1 for seeds.
ParentSource = Callable[[int, int], Iterator[tuple[int, NDArray[np.integer]]]]

#: Takes the newborns of generations 0, 1, ..., and yields their parents as such indices: `gpu_nim.automata.ancestry` for a rule.
Ancestry = Callable[[Iterator[Newborns]], Iterator[tuple[int, NDArray[np.integer]]]]


def by_generation(cells: NDArray[np.integer], births: NDArray[np.integer]) -> list[NDArray[np.integer]]:
    """Return cells (N, d) in order of birth as the newborns of each generation, views of them.

    >>> [newborns.tolist() for newborns in by_generation(np.array([[0], [3], [4]]), np.array([1, 2], np.uint64))]
    [[[0]], [[3], [4]]]
    """
    return np.split(cells, np.cumsum(births).astype(np.int64)[:-1])


def split(batch: Batch) -> Iterator[Newborns]:
    """Yield the generations of a batch that has cells, one by one.

    >>> batch = Batch(4, np.array([2, 1], np.uint64), np.zeros(2, np.uint64), np.array([[1, 0], [1, 1], [0, 2]]))
    >>> [(generation, cells.tolist()) for generation, cells in split(batch)]
    [(4, [[1, 0], [1, 1]]), (5, [[0, 2]])]
    """
    assert batch.cells is not None
    yield from enumerate(by_generation(batch.cells, batch.births), batch.first)


def is_ascending(cells: NDArray[np.integer]) -> bool:
    """Return whether cells (N, d) are in strictly ascending lexicographic order, so that all are distinct.

    >>> is_ascending(np.array([[0, 1], [0, 2], [1, 0]])), is_ascending(np.array([[0, 1], [0, 1]]))
    (True, False)
    """
    below = np.zeros(max(0, len(cells) - 1), np.bool_)
    for column in reversed(cells.T):
        below = (column[:-1] < column[1:]) | ((column[:-1] == column[1:]) & below)
    return bool(below.all())


def packed(cells: Cells) -> Cells:
    """Return cells in the shortest integers that hold them, for storage."""
    if not len(cells):
        return cells
    dtype = coordinate_dtype(tuple(cells.min(axis=0).tolist()), tuple(cells.max(axis=0).tolist()))
    return cells.astype(dtype, copy=dtype == cells.dtype)  # a copy, since a part of a batch would keep all of it


class CellsInMemory:
    """Newborns in memory, packed: a growth's source of cells, after every batch was added.

    Args:
        limit: the most bytes that they may take.
    """

    def __init__(self, limit: int) -> None:
        self._generations: list[NDArray[np.integer]] = []
        self._limit = limit
        self._bytes = 0

    def add(self, batch: Batch) -> None:
        """Add a batch's cells.

        Raises:
            InsufficientMemoryError: the cells exceed the limit.
        """
        for _, cells in split(batch):
            self._generations.append(read_only(packed(cells)))
            self._bytes += self._generations[-1].nbytes
        if self._bytes > self._limit:
            raise InsufficientMemoryError(
                f"cells of generations 0 to {len(self._generations) - 1} take {size_text(self._bytes, up=True)}, more than the "
                f"{size_text(self._limit)} set aside for them: write them to a file while growing, or iterate over the growth"
            )

    def __call__(self, first: int, stop: int) -> Iterator[Newborns]:
        """Yield the newborns of generations first to stop - 1."""
        yield from enumerate(self._generations[first:stop], first)
