"""Exactly-one growth by compiled loops on all cores: a bit a cell, with numba (`gpu_nim.backends.numpy.brick_loops`).

Threads. The slabs of bricks are distributed over threads as over ranks (`gpu_nim.backends.shared.bricks.owners`). A thread lists
the bricks of its own slabs that the last generation reaches. Then all threads grow what is listed, a share each: a brick's newborns
and touches are written by who grows it, so that there are no locks, and the result does not depend on the number of threads.

Ranks. The bricks beside those of a rank have slots too, for the newborns that other ranks send.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, product
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.numpy.brick_loops import List, Shape, count, grow, link
from gpu_nim.backends.numpy.brick_windows import AROUND, windows
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine
from gpu_nim.backends.shared.brick_parts import pack, unpack
from gpu_nim.backends.shared.bricks import BITS, ROWS, Bricks, owners
from gpu_nim.model.arrays import Ints
from gpu_nim.model.rule import Cells

T = TypeVar("T")
Counts: TypeAlias = tuple[int, int, int]  # births, their checksum, those in a section
_FEW = 1 << 8  # bricks that one thread grows sooner than several do


class CompiledEngine(ExactlyOneEngine):
    """`ExactlyOneEngine` by compiled loops, for rules whose `Bricks` fit them.

    >>> from gpu_nim.model.rule import Rule, Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> CompiledEngine(Bricks(square, 10)).advance(6).births.tolist()  # A147582
    [1, 4, 4, 12, 4, 12, 12]
    """

    def _allocate(self, threads: int) -> None:
        bricks = self._bricks
        self._shape = _shape(bricks, threads)
        # Memory is taken as it is written to, and few slots of these are.
        slots = bricks.held + 1
        self._last, self._next = (
            List(np.empty((slots, 4), np.int32), np.empty((slots, ROWS), np.uint32), np.empty(slots, np.int32)) for _ in range(2)
        )
        self._last.newborn[-1] = self._next.newborn[-1] = 0
        self._links, self._index = np.empty((slots, AROUND), np.int32), np.zeros(slots, np.int32)
        self._touched = np.zeros((slots, ROWS), np.uint32)
        thread = self._shape.columns[1:-1, 1:-1, 3].reshape(-1)
        _, first, stop = bricks.columns[bricks.owned].T
        sizes = np.bincount(thread[bricks.owned], stop - first, threads).astype(np.int64)
        self._first = np.cumsum(sizes) - sizes
        self._parts = np.zeros((threads + 1, 2), np.int64)  # slots of the last list, of each thread and of what other ranks sent
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def _words(self, numbers: range) -> NDArray[np.uint32]:
        return self._touched[numbers.start : numbers.stop]

    def _put_back(self, numbers: Ints, words: NDArray[np.uint32]) -> None:
        self._touched[numbers] = words

    def _set_newborns(self, representatives: Cells) -> None:
        places, words = self._bricks.words(self._own(representatives))
        self._parts[:] = 0
        self._parts[0, 1] = self._put(places, words, 0)
        self._touched[self._bricks.number(places)] |= words
        self._counted = self._count()

    def _put(self, places: NDArray[np.int64], newborn: NDArray[np.uint32], first: int) -> int:
        """Put bricks with newborns into the slots from `first` on; return the slot after these."""
        stop = first + len(places)
        self._last.places[first:stop, :3], self._last.places[first:stop, 3] = places, self._bricks.number(places)
        self._last.newborn[first:stop] = newborn
        count(self._shape, self._last, first, stop, 0, 0)
        return stop

    def _step(self) -> None:
        if self._ranks.size > 1:
            self._exchange()
        shape, last, new, links, index = self._shape, self._last, self._next, self._links, self._index

        def linked(thread: int) -> int:
            return int(link(shape, last, self._parts, new, links, index, thread, self._first[thread]))

        def grown(start: int, stop: int) -> Counts:
            grow(shape, last, new, links, index, self._touched, start, stop)
            counts: Counts = count(shape, new, start, stop, 0, 0)
            return counts

        counts = self._each(linked)
        self._parts[-1] = 0
        self._parts[:-1] = np.stack((self._first, self._first + counts), axis=1)
        self._last, self._next = new, last
        # What was just written is counted sooner than it is read again.
        self._counted = self._shared(grown)
        if self.rule.universe is not None:
            self._leave_out()
            self._counted = self._count()

    def _each(self, work: Callable[[int], T]) -> list[T]:
        """Call a function for each thread; this one has the first."""
        threads = range(len(self._first))
        if self._pool is None or np.diff(self._parts).sum() < _FEW:
            return list(map(work, threads))
        others = [self._pool.submit(work, thread) for thread in threads[1:]]
        return [work(0), *(other.result() for other in others)]

    def _shared(self, work: Callable[[int, int], Counts]) -> list[int]:
        """Call a function for runs of the newborns' slots, shared evenly among the threads; return the sums of what it counts."""
        threads, first = len(self._first), self._parts[:-1, :1]
        sizes = np.diff(self._parts[:-1])
        before = np.cumsum(sizes)[:, None] - sizes
        # Nearly all of what a thread listed is its own share, and in its core's cache.
        cuts = first + np.clip(sizes.sum() * np.arange(threads + 1) // threads - before, 0, sizes)

        def share(thread: int) -> list[Counts]:
            return [work(start, stop) for start, stop in cuts[:, thread : thread + 2].tolist() if start < stop]

        return [sum(map(int, part)) for part in zip((0, 0, 0), *chain.from_iterable(self._each(share)), strict=True)]

    def _count(self, axes: int = 0, level: int = 0) -> list[int]:
        """Count the newborns, and those at the level; see `count`."""
        return self._shared(lambda start, stop: count(self._shape, self._last, start, stop, axes, level))

    def _exchange(self) -> None:
        """Receive the newborns of other ranks that are within reach of this one's slabs."""
        slots = self._slots()
        sent = pack(self._bricks, self._last.places[slots, :3], self._last.newborn[slots])
        first = self._bricks.count
        self._parts[-1] = first, self._put(*unpack(self._ranks.exchange(sent)), first)

    def _slots(self) -> Ints:
        """The slots of the newborns."""
        return np.concatenate([np.arange(start, stop) for start, stop in self._parts[:-1]])

    def _leave_out(self) -> None:
        """Leave out newborns outside of the universe."""
        slots = self._slots()
        at = self._bricks.places_of(self._last.places[slots, :3], self._last.newborn[slots])
        places, row, bit = self._bricks.split(at[~self.rule.inside(self._bricks.cells(at))])
        order = slots[np.argsort(self._last.places[slots, 3])]
        slots = order[np.searchsorted(self._last.places[order, 3], self._bricks.number(places))]
        np.bitwise_xor.at(self._last.newborn, (slots, row), np.uint32(1) << bit.astype(np.uint32))

    @property
    def newborns(self) -> Cells:
        slots = self._slots()
        return self._bricks.cells_of(self._last.places[slots, :3], self._last.newborn[slots])

    def _count_and_checksum(self) -> tuple[int, int]:
        births, mixed, _ = self._counted
        return births, mixed % 2**64

    def _section(self, axis: int, value: int) -> int:
        axes, level, share = self._bricks.section(axis, value)
        return self._count(axes, level)[2] // share


def _shape(bricks: Bricks, threads: int) -> Shape:
    slab_threads = np.where(bricks.owners == bricks.rank, owners(bricks.slabs, bricks.slab_reach, threads), -1)
    columns = np.zeros((bricks.columns_u + 2, bricks.columns_v + 2, 4), np.int32)
    columns[..., 3] = -1
    columns[1:-1, 1:-1, :3] = bricks.columns.reshape(bricks.columns_u, bricks.columns_v, 3)
    columns[1:-1, 1:-1, 3] = slab_threads[:, None] if bricks.spatial else slab_threads
    (size_u, size_v, _), (reach_u, reach_v, reach_w) = bricks.size.tolist(), bricks.reach
    u, v = np.divmod(np.arange(ROWS), size_v)
    along_u, along_v = (u < reach_u, u >= 0, u >= size_u - reach_u), (v < reach_v, v >= 0, v >= size_v - reach_v)
    rows = [((in_u & in_v) << np.arange(ROWS)).sum() for in_u, in_v in product(along_u, along_v)]
    return Shape(
        columns,
        windows(bricks),
        np.array(rows, np.int64),
        np.uint32((1 << reach_w) - 1),
        np.uint32(2**32 - 2 ** (BITS - reach_w)),
        bricks.logs[:2],
        bricks.packed,
        int(not bricks.folded),
        bricks.spatial,
        bricks.rule.symmetry.orbit_size(bricks.cells(np.array(list(product((0, 1), repeat=3))))).reshape(2, 2, 2),
        np.array(bricks.mixing(), np.uint64),
    )
