"""The newborns of a growth, generation by generation: sources of them, and their parents.

In an exactly-one growth these are a tree: a cell that is born on exactly one touch has been touched by one alive cell.  Had that
cell been alive earlier, its touch would have decided the newborn earlier; so the parent is a newborn of the generation before, at
x - o for one of the rule's offsets o.  For `nim` this is the tree of [NF] section 3, where a P-position of three piles has one
parent.
"""

from collections.abc import Callable, Iterator
from math import prod

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Batch
from gpu_nim.model.arguments import size_text
from gpu_nim.model.arrays import coordinate_dtype, read_only
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.rule import Cells, Rule

#: A generation's number and the cells born in it, shape (births, d), in lexicographic order.
#:
#: Cells are int32, or int64 where sums or differences of coordinates need it; sources may give shorter integers.
Newborns = tuple[int, NDArray[np.integer]]

#: Yields the newborns of generations first to stop - 1, one generation after the other.
CellSource = Callable[[int, int], Iterator[Newborns]]

#: Yields (n, parents) for such a range: each newborn's parent as its index among all cells in order of birth, -1 for seeds.
ParentSource = Callable[[int, int], Iterator[tuple[int, NDArray[np.integer]]]]

#: Takes the newborns of generations 0, 1, ..., and yields their parents as such indices: `gpu_nim.automata.newborns` for a rule.
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


class CellsInMemory:
    """Newborns in memory, in the shortest integers that hold them: a growth's source of cells, after every batch was added.

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
            if len(cells):
                dtype = coordinate_dtype(tuple(cells.min(axis=0).tolist()), tuple(cells.max(axis=0).tolist()))
                cells = cells.astype(dtype, copy=dtype == cells.dtype)  # a copy, since a part of a batch would keep all of it
            self._generations.append(read_only(cells))
            self._bytes += self._generations[-1].nbytes
        if self._bytes > self._limit:
            raise InsufficientMemoryError(
                f"cells of generations 0 to {len(self._generations) - 1} take {size_text(self._bytes, up=True)}, more than the "
                f"{size_text(self._limit)} set aside for them: write them to a file while growing, or iterate over the growth"
            )

    def __call__(self, first: int, stop: int) -> Iterator[Newborns]:
        """Yield the newborns of generations first to stop - 1."""
        yield from enumerate(self._generations[first:stop], first)


def parents(rule: Rule, before: Cells, newborns: Cells) -> NDArray[np.int64]:
    """Return each newborn's parent as its index in `before`, int64 of shape (N,).

    Args:
        rule: the rule of the growth.
        before: the newborns of the generation before, (M, d), in lexicographic order.
        newborns: cells (N, d) born from them.

    Raises:
        UsageError: the rule has other births than on exactly one touch, a cell has no parent, or cells lie too far apart.

    >>> from gpu_nim import grow
    >>> from gpu_nim.automata.catalogue import find
    >>> growth = grow("nim", 3)
    >>> growth.newborns(2).tolist()
    [[0, 2, 2], [2, 0, 2], [2, 2, 0]]
    >>> parents(find("nim").rule, growth.newborns(2), growth.newborns(3)).tolist()
    [0, 0, 0, 1, 2, 1, 1, 2, 2]
    """
    require_one_parent(rule)
    found = np.full(len(newborns), -1, np.int64)
    missing = np.arange(len(newborns))
    if len(before) and len(newborns):
        old, new = before.astype(np.int64), newborns.astype(np.int64)
        lower, upper = old.min(axis=0), old.max(axis=0)
        shape = tuple((upper - lower + 1).tolist())
        if prod(shape) >= 1 << 63:
            raise UsageError("parents need cells within 63-bit keys, and these lie farther apart")
        keys = np.ravel_multi_index(tuple((old - lower).T), shape)
        for offset in rule.offsets:
            candidates = new[missing] - np.array(offset, np.int64)
            inside = np.flatnonzero(((candidates >= lower) & (candidates <= upper)).all(axis=1))
            wanted = np.ravel_multi_index(tuple((candidates[inside] - lower).T), shape)
            indices = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            hits = keys[indices] == wanted
            if rule.touches is not None:
                hits &= rule.touches(old[indices], offset)
            found[missing[inside[hits]]] = indices[hits]
            missing = np.delete(missing, inside[hits])
    if len(missing):
        cell = tuple(newborns[missing[0]].tolist())
        raise UsageError(f"cell {cell} has no parent in the previous generation")
    return found


def require_one_parent(rule: Rule) -> None:
    """Raise UsageError for a rule whose cells may have several parents, or older ones."""
    if not rule.exactly_one:
        raise UsageError(f"parents need births on exactly one touch, got births {sorted(rule.births)}")


def ancestry(rule: Rule, growth: Iterator[Newborns]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield (n, parents) for n = 0, 1, ...: each newborn's parent as its index among all cells in order of birth, -1 for seeds.

    Args:
        rule: the rule of the growth.
        growth: (n, newborns) for n = 0, 1, ..., as `enumerate` of a `Growth` yields them.

    >>> from gpu_nim import grow
    >>> from gpu_nim.automata.catalogue import find
    >>> [generation.tolist() for _, generation in ancestry(find("nim").rule, enumerate(grow("nim", 3)))]
    [[-1], [0, 0, 0], [1, 2, 3], [4, 4, 4, 5, 6, 5, 5, 6, 6]]
    """
    require_one_parent(rule)
    before: Cells | None = None
    born_earlier = 0
    for generation, newborns in growth:
        if before is None:
            yield generation, np.full(len(newborns), -1, np.int64)
        else:
            yield generation, parents(rule, before, newborns) + born_earlier
            born_earlier += len(before)
        before = newborns
