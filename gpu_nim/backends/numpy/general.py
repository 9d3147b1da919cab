"""The general engine: any rule, one to eight dimensions, reading only the newborns of each generation.

A cell's number of alive touches only grows, and only by newborns. So a step pushes one touch from every newborn along
every offset, adds the touches up cell by cell in a table, and tests against the births set exactly those dead cells
whose number has changed. A cell that was touched and not born stays in the table and may be born on a later touch. The
fast paths are compared with this engine, which uses neither symmetry nor parity.
"""

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import ALONE, Communicator, State
from gpu_nim.backends.shared.engines import CLOSED, SteppedEngine, TouchEngine
from gpu_nim.model.digest import checksum
from gpu_nim.model.rule import Cells, Rule, Symmetry
from gpu_nim.model.work import host_memory

_EMPTY = np.int64(-1)
_FIBONACCI = np.uint64(0x9E3779B97F4A7C15)
_MOVED = 1 << 20  # cells that move at a time
_DENSE_BYTES = 1 << 30  # a box up to this size gets one slot per cell: untouched pages cost nothing


class DenseTable:
    """Touches by cell key with a slot for every cell of the box: `HashTable`'s methods, with the key as the slot.

    >>> table = DenseTable(16)
    >>> slots, new = table.locate(np.array([7, 9]))
    >>> table.touches[slots] += np.array([1, 2], np.uint16)
    >>> slots, new = table.locate(np.array([9, 11]))
    >>> table.touches[slots], new
    (array([2, 0], dtype=uint16), array([False,  True]))
    """

    def __init__(self, size: int) -> None:
        self.touches = np.zeros(size, np.uint16)

    def locate(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The keys themselves, and whether each has no touch yet."""
        return keys, self.touches[keys] == 0

    def entries(self) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
        """Every key that was touched and its touches."""
        keys = np.flatnonzero(self.touches)
        return keys, self.touches[keys]


class HashTable:
    """Touches by cell key, for boxes of any size: open addressing with linear probing, whole arrays of keys at a time.

    `keys`: int64, -1 where a slot is free. `touches`: uint16, with `CLOSED` added when a cell can no longer be born.

    >>> table = HashTable()
    >>> slots, new = table.locate(np.array([7, 9]))
    >>> table.touches[slots] += np.array([1, 2], np.uint16)
    >>> slots, new = table.locate(np.array([9, 11]))
    >>> table.touches[slots], new
    (array([2, 0], dtype=uint16), array([False,  True]))
    """

    def __init__(self, bits: int = 10) -> None:
        self.used = 0
        self.keys, self.touches = self._allocate(bits)

    def _allocate(self, bits: int) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
        # Fibonacci hashing: the top bits of a number times 2^64 / golden ratio spread successive numbers evenly.
        self._shift = np.uint64(64 - bits)
        return np.full(1 << bits, _EMPTY), np.zeros(1 << bits, np.uint16)

    def locate(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The slot of each of these distinct keys, and whether the key is new (it is then added with 0 touches)."""
        self._reserve(len(keys))
        size_mask = np.int64(len(self.keys) - 1)
        slots = self._home(keys)
        new = np.zeros(len(keys), np.bool_)
        found = self.keys[slots]
        todo = np.flatnonzero(found != keys)
        held = found[todo]
        while len(todo):
            free = held == _EMPTY
            claims = todo[free]
            # If several keys claim one slot, the last one written stays, and the others find it there and continue probing.
            self.keys[slots[claims]] = keys[claims]
            won = self.keys[slots[claims]] == keys[claims]
            new[claims[won]] = True
            todo = np.concatenate([todo[~free], claims[~won]])
            slots[todo] = (slots[todo] + 1) & size_mask
            held = self.keys[slots[todo]]
            waiting = held != keys[todo]
            todo, held = todo[waiting], held[waiting]
        self.used += int(np.count_nonzero(new))
        return slots, new

    def _home(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        # Runs of four keys stay together, for the cache: neighbours in the lattice are looked up one after the other.
        words = keys.view(np.uint64)
        runs = ((words >> np.uint64(2)) * _FIBONACCI) >> (self._shift + np.uint64(2))
        return (runs << np.uint64(2) | words & np.uint64(3)).view(np.int64)

    def _reserve(self, more: int) -> None:
        bits = 64 - int(self._shift)
        if (self.used + more) * 2 <= 1 << bits:
            return
        while (self.used + more) * 2 > 1 << bits:
            bits += 1
        keys, touches = self.entries()
        self.keys, self.touches = self._allocate(bits)
        self.used = 0
        for start in range(0, len(keys), _MOVED):
            slots, _ = self.locate(keys[start : start + _MOVED])
            self.touches[slots] = touches[start : start + _MOVED]

    def entries(self) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
        """Every key in the table and its touches."""
        filled = self.keys != _EMPTY
        return self.keys[filled], self.touches[filled]


class GeneralEngine(TouchEngine, SteppedEngine):
    """A growth of any rule, to at most generation `last`, from its seeds or from a state that an engine returned.

    UsageError when the box of generation `last` has more cells than 63-bit keys. After a MemoryError within a step it cannot go on.

    >>> from gpu_nim.model.rule import Rule
    >>> rule = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), births=frozenset({1, 3}), seeds=((0, 0),))
    >>> GeneralEngine(rule, 10).advance(6).births.tolist()  # A169707, by differences
    [1, 4, 4, 12, 4, 12, 20]
    """

    def __init__(self, rule: Rule, last: int, state: State | None = None, ranks: Communicator = ALONE) -> None:
        super().__init__(rule, last, ranks)
        self._jumps = np.array(rule.offsets, np.int64) @ self._grid.strides
        self._born = np.zeros(1 << 16, np.bool_)
        self._born[list(rule.births)] = True
        dense = np.dtype(np.uint16).itemsize * self._grid.size <= min(_DENSE_BYTES, host_memory() // 2)
        self._table = DenseTable(self._grid.size) if dense else HashTable()
        self._newborns = np.zeros(0, np.int64)
        if state is not None:
            self.generation = int(state["generation"])
            slots, _ = self._table.locate(self._grid.encode(state["touched"]))
            self._table.touches[slots] = state["touches"]
            self._newborns = self._grid.encode(state["newborns"])

    def _entries(self) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
        return self._table.entries()

    def _seeds(self) -> Cells:
        return np.array(self.rule.seeds, np.int64)

    def _set_newborns(self, cells: Cells) -> None:
        self._newborns = np.sort(self._grid.encode(cells))
        slots, _ = self._table.locate(self._newborns)
        self._table.touches[slots] = CLOSED

    def _step(self) -> None:
        touched, touches = self._touched()
        slots, new = self._table.locate(touched)
        if self.rule.universe is not None or self.rule.octant:
            # The universe is evaluated once for each cell, when it is first touched.
            first = np.flatnonzero(new)
            outside = first[~self.rule.inside(self._grid.decode(touched[first]))]
            self._table.touches[slots[outside]] = CLOSED
        total = self._table.touches[slots] + touches
        born = self._born[total]
        total[born] = CLOSED
        self._table.touches[slots] = total
        self._newborns = touched[born]

    def _touched(self) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
        """The cells that the newborns touch, ascending and distinct, and how many newborns touch each."""
        newborns = self._newborns
        if self.rule.touches is None:
            targets = (newborns + self._jumps[:, None]).reshape(-1)
        else:
            cells = self._grid.decode(newborns)
            targets = np.concatenate(
                [
                    newborns[self.rule.touches(cells, offset)] + jump
                    for offset, jump in zip(self.rule.offsets, self._jumps, strict=True)
                ]
            )
        # One ascending run an offset: a merging sort is several times faster here than quicksort.
        targets.sort(kind="stable")
        first = np.flatnonzero(np.concatenate([[True], targets[1:] != targets[:-1]])[: len(targets)])
        return targets[first], np.diff(first, append=len(targets)).astype(np.uint16)

    def _count_and_checksum(self) -> tuple[int, int]:
        return len(self._newborns), checksum(self.rule.symmetry.representative(self._cells()))

    def _cells(self) -> Cells:
        cells: Cells = self._grid.decode(self._newborns).astype(self._cell_dtype)
        return cells

    def _section(self, axis: int, value: int) -> int:
        return int(Symmetry.NONE.section_size(self._cells(), axis, value).sum())
