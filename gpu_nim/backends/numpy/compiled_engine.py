"""Exactly-one growth by compiled loops on all cores: a bit a cell, with numba (`gpu_nim.backends.numpy.brick_loops`).

Threads. The slabs of bricks are dealt out to threads as they are to ranks (`gpu_nim.backends.shared.owners`). A thread lists the
bricks of its own slabs that the last generation reaches, and then grows them: it writes nothing of others, so that there are no
locks, and the result does not depend on the number of threads.

Ranks. The bricks beside those of a rank have slots too, for the newborns that other ranks send.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.numpy.brick_loops import AROUND, MARGIN, Lists, Shape, grow, link, settle
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine
from gpu_nim.backends.shared.bricks import ROWS, Bricks
from gpu_nim.backends.shared.owners import owners
from gpu_nim.model.arrays import Ints
from gpu_nim.model.rule import Cells

T = TypeVar("T")
_FEW = 1 << 10  # bricks that one thread grows sooner than several do


class CompiledEngine(ExactlyOneEngine):
    """`ExactlyOneEngine` by compiled loops, for rules whose `Bricks` fit them.

    >>> from gpu_nim.model.rule import Rule, Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> CompiledEngine(square, 10).advance(6).births.tolist()  # A147582
    [1, 4, 4, 12, 4, 12, 12]
    """

    _loops = True

    def _allocate(self, disk: Path | None, threads: int) -> None:
        bricks = self._bricks
        self._shape = _shape(bricks, threads)
        # Memory is taken as it is written to, and few slots of these are.
        slots = max(1, bricks.held)
        self._last, self._next = (
            Lists(np.empty((slots, 4), np.int32), np.empty(slots * ROWS, np.uint32), np.empty(slots, np.int32)) for _ in range(2)
        )
        self._links, self._linked = np.empty((slots, AROUND), np.int32), np.empty(slots, np.int32)
        self._index, self._touched = np.zeros(slots, np.int32), np.zeros(slots * ROWS, np.uint32)
        thread = self._shape.columns[1:-1, 1:-1, 3].reshape(-1)
        _, first, stop = bricks.columns[bricks.owned].T
        sizes = np.bincount(thread[bricks.owned], stop - first, threads).astype(np.int64)
        self._first = np.cumsum(sizes) - sizes
        self._parts = np.zeros((threads + 1, 2), np.int64)  # slots of the last list, of each thread and of what other ranks sent
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def _words(self, numbers: range) -> NDArray[np.uint32]:
        return self._touched.reshape(-1, ROWS)[numbers.start : numbers.stop]

    def _put_back(self, numbers: Ints, words: NDArray[np.uint32]) -> None:
        self._touched.reshape(-1, ROWS)[numbers] = words

    def _lay(self, at: Ints) -> None:
        self._parts[:] = 0
        self._parts[0, 1] = stop = self._put(at, 0)
        touched, numbers = self._touched.reshape(-1, ROWS), self._last.places[:stop, 3]
        touched[numbers] |= self._last.newborn.reshape(-1, ROWS)[:stop]
        self._counted = self._settle()

    def _put(self, at: Ints, first: int) -> int:
        """Put newborns, shape (3, N), into the slots from `first` on; return the slot after these."""
        places, row, bit = self._bricks.split(at.T)
        numbers, index, inverse = np.unique(self._bricks.number(places), return_index=True, return_inverse=True)
        words = np.zeros((len(numbers), ROWS), np.uint32)
        np.bitwise_or.at(words, (inverse.reshape(-1), row), np.uint32(1) << bit.astype(np.uint32))
        stop = first + len(numbers)
        self._last.places[first:stop, :3], self._last.places[first:stop, 3] = places[index], numbers
        self._last.newborn.reshape(-1, ROWS)[first:stop] = words
        settle(self._shape, self._last, first, stop, 0, 0)
        return stop

    def _step(self) -> None:
        if self._ranks.size > 1:
            self._exchange()
        shape, last, new, links, linked, index = self._shape, self._last, self._next, self._links, self._linked, self._index

        def listed(thread: int) -> int:
            return int(link(shape, last, self._parts, new, links, linked, index, thread, self._first[thread]))

        def grown(thread: int) -> tuple[int, ...]:
            grow(shape, last, new, links, linked, index, self._touched, *self._parts[thread])
            return settle(shape, new, *self._parts[thread], 0, 0) if self.rule.universe is None else ()

        counts = self._each(listed)
        self._parts[-1] = 0
        self._parts[:-1] = np.stack((self._first, self._first + counts), axis=1)
        sums = self._each(grown)
        self._last, self._next = new, last
        if self.rule.universe is not None:
            self._leave_out()
            self._counted = self._settle()
        else:
            self._counted = _total(sums)

    def _each(self, work: Callable[[int], T]) -> list[T]:
        """Call a function for each thread."""
        few = (self._parts[:, 1] - self._parts[:, 0]).sum() < _FEW
        apply = map if few or self._pool is None else self._pool.map
        return list(apply(work, range(len(self._first))))

    def _settle(self, axes: int = 0, level: int = 0) -> list[int]:
        """Count the newborns, and those at the level; see `settle`."""
        return _total(self._each(lambda thread: settle(self._shape, self._last, *self._parts[thread], axes, level)))

    def _exchange(self) -> None:
        """Receive the newborns of other ranks that are within reach of this one's slabs."""
        at = self._boundary.newborns(self._ranks.exchange(self._boundary.parts(self._at(self._boundary.slabs))))
        count = self._bricks.count
        self._parts[-1] = count, self._put(at, count)

    def _leave_out(self) -> None:
        """Leave out newborns outside of the universe."""
        at = self._at()
        places, row, bit = self._bricks.split(at.T[~self.rule.inside(self._bricks.cells(at.T))])
        slots = np.concatenate([np.arange(start, stop) for start, stop in self._parts[:-1]])
        order = slots[np.argsort(self._last.places[slots, 3])]
        slots = order[np.searchsorted(self._last.places[order, 3], self._bricks.number(places))]
        words = self._last.newborn.reshape(-1, ROWS)
        np.bitwise_xor.at(words, (slots, row), np.uint32(1) << bit.astype(np.uint32))

    def _at(self, slabs: NDArray[np.bool_] | None = None) -> Ints:
        """The (u, v, w) of the newborns, of all slabs or of some, shape (3, N)."""
        slots = np.concatenate([np.arange(start, stop) for start, stop in self._parts[:-1]])
        if slabs is not None:
            slots = slots[slabs[self._last.places[slots, self._bricks.axis]]]
        places = self._bricks.places_of(self._last.places[slots, :3], self._last.newborn.reshape(-1, ROWS)[slots])
        return np.ascontiguousarray(places.T)

    @property
    def newborns(self) -> Cells:
        """The newborns of the domain that this rank owns, shape (N, dimension)."""
        cells: Cells = self._bricks.cells(self._at().T)
        return cells

    def _count_and_checksum(self) -> tuple[int, int]:
        births, mixed, _ = self._counted
        return births, mixed % 2**64

    def _section(self, axis: int, value: int) -> int:
        axes, level, share = self._bricks.section(axis, value)
        return self._settle(axes, level)[2] // share


def _total(sums: Sequence[tuple[int, ...]]) -> list[int]:
    """The sums of all threads."""
    return [sum(map(int, part)) for part in zip(*sums, strict=True)]


def _shape(bricks: Bricks, threads: int) -> Shape:
    (size_u, size_v, _), (reach_u, reach_v, _) = bricks.size.tolist(), bricks.reach
    slab_threads = np.where(bricks.owners == bricks.rank, owners(bricks.slabs, bricks.slab_reach, threads), -1)
    columns = np.zeros((bricks.columns_u + 2, bricks.columns_v + 2, 4), np.int32)
    columns[..., 3] = -1
    columns[1:-1, 1:-1, :3] = bricks.columns.reshape(bricks.columns_u, bricks.columns_v, 3)
    columns[1:-1, 1:-1, 3] = slab_threads[:, None] if bricks.spatial else slab_threads
    # Rows of the bricks around one, counted from its first row.
    around, width = np.array(list(product((-1, 0, 1), repeat=3))), size_v + 2 * reach_v
    row_u, row_v = np.divmod(np.arange(ROWS), size_v)
    u, v = around[:, :1] * size_u + row_u, around[:, 1:2] * size_v + row_v
    inside = (u >= -reach_u) & (u < size_u + reach_u) & (v >= -reach_v) & (v < size_v + reach_v)
    order = np.argsort(~inside, axis=1, kind="stable")
    targets = np.take_along_axis((u + reach_u) * width + v + reach_v, order, axis=1)
    # Those that a brick's newborns reach are as far from it as it is from those that reach it.
    rows = (inside[::-1] << np.arange(ROWS)).sum(axis=1)
    u, v = np.divmod(np.arange((size_u + 2 * reach_u) * width), width)
    parity = bricks.parity(u - reach_u, v - reach_v)
    moved = np.array([bricks.jump(offset).offset for offset in bricks.rule.offsets])
    distances, distance = np.unique(moved[:, 2], return_inverse=True)
    touches = np.full(-(-len(moved) // 4) * 4, len(distances) * len(u))
    touches[: len(moved)] = distance.reshape(-1) * len(u) + (reach_u - moved[:, 0]) * width + reach_v - moved[:, 1]
    return Shape(
        columns,
        bricks.logs[:2],
        bricks.reach,
        bricks.packed,
        bricks.folded,
        bricks.signed,
        bricks.spatial,
        rows[1::3],
        inside.sum(axis=1),
        order.astype(np.uint64),
        np.where(np.arange(ROWS) < inside.sum(axis=1)[:, None], targets, 0).astype(np.uint64),
        (MARGIN - (parity + distances[:, None] >> bricks.packed)).astype(np.uint64),
        touches.reshape(-1, 4),
        np.array(bricks.mixing(), np.uint64),
    )
