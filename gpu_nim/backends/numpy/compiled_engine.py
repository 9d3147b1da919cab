"""Exactly-one growth by compiled loops on all cores: a bit a cell, with numba (`gpu_nim.backends.numpy.brick_loops`).

What ranks send is in the bricks of `gpu_nim.backends.shared.bricks`, and states are read from both.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import State
from gpu_nim.backends.numpy.brick_loops import Growth, List, Scratch, count, grow
from gpu_nim.backends.numpy.compact_bricks import SLOTS, CompactBricks
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine
from gpu_nim.backends.shared.brick_parts import pack, unpack
from gpu_nim.backends.shared.compact_grid import unpacked
from gpu_nim.model.arrays import Ints
from gpu_nim.model.rule import Cells

_FEW = 1 << 8  # bricks that one thread grows sooner than several do
_RUNS = 4  # of slabs, for each thread
_AROUND = 27  # bricks that a brick's newborns can touch


class CompiledEngine(ExactlyOneEngine):
    """`ExactlyOneEngine` by compiled loops.

    >>> from gpu_nim.backends.shared.bricks import Bricks
    >>> from gpu_nim.model.rule import Rule, Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> CompiledEngine(Bricks(square, 10)).advance(6).births.tolist()  # A147582
    [1, 4, 4, 12, 4, 12, 12]
    """

    _counted: list[int]

    def _allocate(self, threads: int) -> None:
        compact = self._compact = CompactBricks(self._bricks)
        table = np.zeros(compact.total * compact.words, np.uint64)
        self._growth = Growth(compact.layout(), compact.masks(), compact.reflections(), compact.owned, table)
        self._scratches = [self._scratch() for _ in range(threads)]
        self._last, self._next = self._list(SLOTS), self._list(SLOTS)
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def _scratch(self) -> Scratch:
        bricks = self._compact.largest
        once, touched = np.zeros(3 * bricks * self._compact.words, np.uint64), np.zeros(3 * bricks, np.uint8)
        return Scratch(once, touched, np.empty((3, bricks), np.int64), np.zeros(3, np.int64))

    def _list(self, slots: int) -> List:
        words, slabs = self._compact.words, self._compact.slabs
        return List(np.empty(slots, np.int64), np.empty((slots, words), np.uint64), np.zeros((2, slabs + 2, 2), np.int64))

    def _touched_state(self) -> State:
        table = self._growth.table.reshape(-1, self._compact.words)
        numbers = np.flatnonzero(table.any(axis=1))
        positions, own = self._compact.positions(numbers)
        corner = self._compact.origin // self._compact.size
        return {"compact_bricks": (positions[own] + corner).astype(np.int32), "compact_words": table[numbers[own]]}

    def _mark_touched(self, state: State) -> None:
        table = self._growth.table.reshape(-1, self._compact.words)
        for positions, words in self._compact.states(state):
            bricks = positions - self._compact.origin // self._compact.size
            has = self._compact.has(bricks)
            np.bitwise_or.at(table, self._numbers(bricks[has]), words[has])
        for numbers, rows in self._bricks.touched(state):
            self._mark(*self._compact.split(self._bricks.cells_of(self._bricks.place(numbers), rows)))

    def _numbers(self, bricks: NDArray[np.int64]) -> NDArray[np.int64]:
        numbers: NDArray[np.int64] = self._growth.layout.columns[bricks[:, 0] + 1, bricks[:, 1] + 1] + bricks[:, 2]
        return numbers

    def _mark(self, bricks: NDArray[np.int64], places: NDArray[np.int64]) -> None:
        """Mark cells as touched."""
        np.bitwise_or.at(self._growth.table, self._numbers(bricks) * self._compact.words + (places >> 6), _bits(places))

    def _set_newborns(self, representatives: Cells) -> None:
        bricks, places = self._compact.split(self._bricks.cells(self._own(representatives)))
        self._put(0, bricks, places)
        self._put(1, bricks[:0], places[:0])
        self._mark(bricks, places)
        self._recount()

    def _put(self, part: int, bricks: NDArray[np.int64], places: NDArray[np.int64]) -> None:
        """Make a part of the last list of cells, the second one behind the first."""
        keys = np.column_stack((bricks[:, 0], bricks[:, 1] << self._growth.layout.shift | bricks[:, 2]))
        found, which = np.unique(keys, axis=0, return_inverse=True)
        first = int(self._last.slots[0].max()) * part
        born = np.zeros((len(found), self._compact.words), np.uint64)
        np.bitwise_or.at(born, (which.reshape(-1), places >> 6), _bits(places))
        ends = first + np.searchsorted(found[:, 0], np.arange(-1, self._compact.slabs + 2))
        self._last.slots[part] = np.stack((ends[:-1], ends[1:]), axis=1)
        held, words, slots = self._last
        self._last = List(np.concatenate((held[:first], found[:, 1])), np.concatenate((words[:first], born)), slots)

    def _step(self) -> None:
        if self._ranks.size > 1:
            self._exchange()
        received = int(np.diff(self._last.slots[1]).sum())
        most = self._compact.total
        needed = min(self._counted[2] + _AROUND * received, most)
        if needed > len(self._next.bricks):
            self._next = self._list(min(needed + needed // 4, most))
        self._next.slots[:] = 0
        threads = len(self._scratches) if self._last.slots.max() >= _FEW else 1
        # Runs of slabs with about equally many bricks.
        bricks = np.cumsum(np.diff(self._last.slots).sum(axis=(0, 2))[1:-1])
        shares = bricks[-1] * np.arange(1, threads * _RUNS if threads > 1 else 1) // (threads * _RUNS)
        runs = np.unique(np.concatenate(([0], np.searchsorted(bricks, shares) + 1, [self._compact.slabs])))
        counters = np.zeros(2, np.int64)

        def grown(thread: int) -> tuple[int, int, int]:
            counts: tuple[int, int, int] = grow(self._growth, self._last, self._next, counters, runs, self._scratches[thread])
            return counts

        others = [self._pool.submit(grown, thread) for thread in range(1, threads)] if self._pool else []
        self._counted = [sum(map(int, part)) for part in zip(grown(0), *(other.result() for other in others), strict=True)]
        self._last, self._next = self._next, self._last
        if self.rule.universe is not None:
            self._leave_out()
            self._recount()

    def _recount(self) -> None:
        self._counted = list(map(int, count(self._growth, self._last, 0, self._compact.slabs)))

    def _exchange(self) -> None:
        """Receive the newborns of other ranks that are within reach of this one's slabs."""
        at = self._bricks.locate(self._born(self._compact.near_others.of)[0])
        sent = pack(self._bricks, *self._bricks.words(at))
        received = self._bricks.cells_of(*unpack(self._ranks.exchange(sent)))
        self._put(1, *self._compact.split(received))

    def _born(self, only: Callable[[Ints, Ints, Ints], NDArray[np.uint64]] | None = None) -> tuple[Cells, Ints, Ints]:
        """The newborns that the rank grew, their slots and their places: all, or those among the cells of bricks at (x, y, z)."""
        first, stop = self._last.slots[0, 1:-1].T
        slab = np.repeat(np.arange(len(first)), stop - first)
        slots = np.repeat(first - np.cumsum(stop - first) + (stop - first), stop - first) + np.arange(len(slab))
        y, z = np.divmod(self._last.bricks[slots], 1 << self._growth.layout.shift)
        born = self._last.born[slots]
        if only is not None:
            born &= only(slab, y, z)
            some = np.flatnonzero(born.any(axis=1))
            slab, y, z, slots, born = slab[some], y[some], z[some], slots[some], born[some]
        index, places = np.nonzero(unpacked(born))
        bricks = np.stack((slab, y, z), axis=1)[index]
        return self._compact.cells(bricks, places), slots[index], places

    def _leave_out(self) -> None:
        """Leave out newborns outside of the universe."""
        cells, slots, places = self._born()
        outside = ~self.rule.inside(cells)
        slots, places = slots[outside], places[outside]
        np.bitwise_xor.at(self._last.born, (slots, places >> 6), _bits(places))

    @property
    def newborns(self) -> Cells:
        return self._born()[0]

    def _count_and_checksum(self) -> tuple[int, int]:
        births, mixed, _ = self._counted
        return births, mixed % 2**64

    def _section(self, axis: int, value: int) -> int:
        cells = self._born(self._compact.at_level(axis, value))[0]
        return int(self.rule.symmetry.section_size(cells, axis, value).sum())


def _bits(places: Ints) -> NDArray[np.uint64]:
    """The bits of places in their words."""
    bits: NDArray[np.uint64] = np.uint64(1) << (places & 63).astype(np.uint64)
    return bits
