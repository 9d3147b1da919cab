"""Blocks of cells of which equal ones are one, and what becomes of each: Gosper's hashlife, evaluated level by level.

A leaf is a block of 64 cells, 8 x 8 or 4 x 4 x 4; a node of level k is 2^d blocks of level k - 1. The cells of the inner half of a
node, some generations later, depend on the node alone. A step by 2^j generations is put together of steps of the nodes one level
below: of 3^d that overlap, and, where the step is the longest that the node allows, of the 2^d of their results, which make the
second half of the time. All unknown results of a level are computed at once, in arrays; what is known is remembered.

A cell outside of the universe is never born; the second word of a leaf marks these. Beside a mirror, a cell is touched by images of
cells before it, so that no cell behind it is kept.

W. Gosper, "Exploiting regularities in large cellular spaces", Physica D 10 (1984) 75-80.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.digest import finalize
from gpu_nim.model.errors import BackendError
from gpu_nim.model.rule import Cells
from gpu_nim.model.work import require_memory

#: The numbers of rows in a table.
Numbers = NDArray[np.int32]
_AT_ONCE = 1 << 15  # nodes of a level whose results are put together at once
_FEW = 1 << 10  # rows that a new table has room for
#: Multiplies the hashes of rows.
MIX = np.uint64(0x9E3779B97F4A7C15)


class Budget:
    """Counts the bytes of tables, and refuses those that would be too many.

    Args:
        free: the bytes that may be used.
        work: what they are for, in messages.
    """

    def __init__(self, free: int, work: str) -> None:
        self.used, self._free, self._work = 0, free, work

    def take(self, size: int) -> None:
        """Count bytes that are about to be used; fewer than 0 of them are given back.

        Raises:
            InsufficientMemoryError: there is too little memory for them.
        """
        require_memory(self.used + size, self._free, self._work)
        self.used += size

    def longer(self, array: NDArray[Any], least: int, fill: int) -> NDArray[Any]:
        """Return the array with at least so many rows, and at least half as many again as it has; as `take`."""
        rows = max(least, _FEW, len(array) * 3 // 2)
        size = array.itemsize * rows * int(np.prod(array.shape[1:]))
        self.take(size)  # while the old one is there still
        self.take(-array.nbytes)
        longer = np.full((rows, *array.shape[1:]), fill, array.dtype)
        longer[: len(array)] = array
        return longer


class RowTable:
    """Distinct rows, numbered 0, 1, ... in the order in which they are first looked up.

    The hashes of rows are sorted, and looked up in sorted runs, each at least four times as long as the next; two rows with one
    hash are refused.

    Args:
        width: the integers in a row.
        dtype: their type.
        budget: counts its bytes.

    >>> table = RowTable(2, np.int32, Budget(1 << 20, "an example"))
    >>> [table.number(np.array(rows, np.int32)).tolist() for rows in ([[1, 2]], [[3, 4], [1, 2]])], table.rows.tolist()
    ([[0], [1, 0]], [[1, 2], [3, 4]])
    """

    def __init__(self, width: int, dtype: type[np.integer], budget: Budget) -> None:
        self._known = np.empty((0, width), dtype)
        self._size = 0
        self._budget = budget
        self._runs: list[tuple[NDArray[np.uint64], Numbers]] = []  # hashes, ascending, and their rows' numbers
        self._memos: dict[int, Numbers] = {}

    def __len__(self) -> int:
        return self._size

    @property
    def rows(self) -> NDArray[Any]:
        """The distinct rows, shape (n, width)."""
        return self._known[: len(self)]

    def number(self, rows: NDArray[Any]) -> Numbers:
        """Return the number of each row, int32 of shape (n,); rows that are new are added.

        Args:
            rows: shape (n, width).
        """
        hashes = np.zeros(len(rows), np.uint64)
        for column in rows.T:
            hashes = (hashes ^ column.astype(np.uint64)) * MIX
            hashes ^= hashes >> np.uint64(29)
        distinct, first, inverse = np.unique(finalize(hashes), return_index=True, return_inverse=True)
        found = np.full(len(distinct), -1, np.int32)
        for known, numbers in self._runs:
            at = np.minimum(np.searchsorted(known, distinct), len(known) - 1)
            found = np.where(known[at] == distinct, numbers[at], found)
        new = np.flatnonzero(found < 0)
        if len(new):
            self._reserve(len(new))
            found[new] = added = np.arange(self._size, self._size + len(new), dtype=np.int32)
            self._known[added] = rows[first[new]]
            self._size += len(new)
            self._enter(distinct[new], added)
        result: Numbers = found[inverse.reshape(-1)]
        if not (self._known[result] == rows).all():
            raise BackendError("two different rows have one hash of 64 bits: the extra fast compares rows instead")
        return result

    def _enter(self, hashes: NDArray[np.uint64], numbers: Numbers) -> None:
        self._budget.take(hashes.nbytes + numbers.nbytes)
        while self._runs and len(self._runs[-1][0]) < 4 * len(hashes):
            before, theirs = self._runs.pop()
            hashes, numbers = np.concatenate([before, hashes]), np.concatenate([theirs, numbers])
            order = np.argsort(hashes, kind="stable")
            hashes, numbers = hashes[order], numbers[order]
        self._runs.append((hashes, numbers))

    def _reserve(self, more: int) -> None:
        """Have room for that many more rows."""
        if self._size + more > len(self._known):
            self._known = self._budget.longer(self._known, self._size + more, 0)

    def unknown(self, step: int, numbers: Numbers) -> Numbers:
        """Return those of these rows, each once, for which nothing is remembered under `step`; `remember` must follow."""
        memo = self._memo(step)
        distinct = np.unique(numbers)
        return distinct[memo[distinct] < 0]

    def remember(self, step: int, numbers: Numbers, values: Numbers) -> None:
        """Remember a value, at least 0, for each of these rows under `step`."""
        self._memo(step)[numbers] = values

    def remembered(self, step: int, numbers: Numbers) -> Numbers:
        """Return what is remembered for each of these rows under `step`."""
        return self._memos[step][numbers]

    def forget(self) -> None:
        """Remember nothing."""
        self._budget.take(-sum(memo.nbytes for memo in self._memos.values()))
        self._memos.clear()

    def _memo(self, step: int) -> Numbers:
        memo = self._memos.get(step, np.empty(0, np.int32))
        if len(memo) < self._size:
            memo = self._memos[step] = self._budget.longer(memo, self._size, -1)
        return memo


def index(positions: Any, side: int) -> Any:
    """The index of each position, (..., d) in a cube of that side, in C order."""
    number = 0
    for axis in range(positions.shape[-1]):
        number = number * side + positions[..., axis]
    return number


def cube(dimension: int, side: int) -> NDArray[np.int64]:
    """The positions in a cube of that side in C order, shape (side^d, d)."""
    return np.array(list(product(range(side), repeat=dimension)))


class MacroCells:
    """All blocks of a growth, and their steps.

    Coordinates are in C order: (y, x) in the plane, so that the bit of a leaf's cell and the index of a child are x first there.

    Args:
        dimension: 2 or 3.
        offsets: what a cell touches.
        births: the numbers of touches on which a cell is born.
        fold: maps cells behind mirrors to their images, whatever the order of the coordinates; None without mirrors.
        free: the bytes of memory that may be used.
    """

    #: Bytes that these take beside the tables.
    loaded_bytes = 0
    _table = RowTable

    def __init__(
        self, dimension: int, offsets: Any, births: frozenset[int], fold: Callable[[Cells], Cells] | None, free: int
    ) -> None:
        self._side = 8 if dimension == 2 else 4
        self._offsets = np.array(offsets)
        self._births = np.array(sorted(births))
        self._fold = fold
        self.budget = Budget(free, "this growth of macro-cells")
        self._slack = (int(np.abs(self._offsets).max()) - 1).bit_length()
        self.leaves = self._table(2, np.uint64, self.budget)
        self.tables = [self.leaves]
        two, double = cube(dimension, 2), 2 * self._side
        self._children = len(two)
        self._layer = np.dtype("<u2" if dimension == 2 else "<u8")
        strides = [double**k for k in range(dimension - 1)][::-1]
        self._moves = np.stack([self._offsets[:, 0], self._offsets[:, 1:] @ strides], axis=1)
        overlapping = (cube(dimension, 3)[:, None] + two) // np.array(2)
        self._overlapping = self._children * index(overlapping, 2) + index((cube(dimension, 3)[:, None] + two) % 2, 2)
        self._results = index(two[:, None] + two, 3)
        self._inner = self._children * np.arange(self._children) + index(1 - two, 2)
        cells = cube(dimension, double)
        self._cells = cells
        self._bits = 64 * index(cells // self._side, 2) + index(cells % self._side, self._side)
        middle = (cells >= self._side // 2).all(axis=1) & (cells < self._side * 3 // 2).all(axis=1)
        self._middle = np.flatnonzero(middle)
        self._tables_of_sources: dict[bytes, NDArray[np.int64]] = {}

    def side(self, level: int) -> int:
        """The side of a node in cells."""
        return self._side << level

    def longest(self, level: int) -> int:
        """The largest j such that a node of that level can step by 2^j generations."""
        return self.side(level).bit_length() - 3 - self._slack

    def __len__(self) -> int:
        """The number of blocks."""
        return sum(map(len, self.tables))

    def nodes(self, level: int, rows: Any) -> Numbers:
        """Return the nodes with these children, shape (n, 2^d); of level 0 those with these words, (n, 2)."""
        while len(self.tables) <= level:
            self.tables.append(self._table(self._children, np.int32, self.budget))
        return self.tables[level].number(np.asarray(rows, self.tables[level].rows.dtype))

    def children(self, level: int, numbers: Any) -> NDArray[Any]:
        """Return the children of these nodes, shape (..., 2^d); of level 0 their words, (..., 2)."""
        rows: NDArray[Any] = self.tables[level].rows[numbers]
        return rows

    def results(self, level: int, numbers: Numbers, step: int) -> Numbers:
        """Return the inner halves of nodes of a level from 1 on, of the level below, 2^step generations later; at once for -1."""
        table = self.tables[level]
        todo = table.unknown(step, numbers)
        try:
            for start in range(0, len(todo), _AT_ONCE):
                some = todo[start : start + _AT_ONCE]
                table.remember(step, some, self._step(level, table.rows[some], step))
        except BaseException:
            table.forget()  # what it was about to remember
            raise
        return table.remembered(step, numbers)

    def _step(self, level: int, rows: Numbers, step: int) -> Numbers:
        if level == 1:
            return self._leaves(rows, step)
        below = level - 1
        if step < 0:
            return self.nodes(below, self.tables[below].rows[rows].reshape(len(rows), -1)[:, self._inner])
        whole = step == self.longest(level)
        parts = self.tables[below].rows[rows].reshape(len(rows), -1)[:, self._overlapping].reshape(-1, self._children)
        first = self.results(below, self.nodes(below, parts), step - whole).reshape(len(rows), -1)
        second = first[:, self._results].reshape(-1, self._children)
        inner = self.results(below, self.nodes(below, second), step - 1 if whole else -1)
        return self.nodes(below, inner.reshape(-1, self._children))

    def _leaves(self, rows: Numbers, step: int) -> Numbers:
        """The leaves in the middle of 2^d leaves, 2^step generations later, or at once."""
        words, generations = self.children(0, rows), 1 << step if step >= 0 else 0
        alive, outside = self._cells_of(words[..., 0]), self._cells_of(words[..., 1])
        if generations:
            walled = outside.any(axis=1)
            if self._fold is None or not walled.any():
                alive = self._grown(alive, outside, generations)
            else:
                alive[~walled] = self._grown(alive[~walled], outside[~walled], generations)
                self._grow_beside_mirrors(alive, outside, np.flatnonzero(walled), generations)
        return self.nodes(0, np.concatenate([self._middle_of(alive), self._middle_of(outside)], axis=1))

    def _cells_of(self, words: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """The cells of 2^d leaves in C order, 0 or 1."""
        flat = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8).reshape(len(words), -1)
        cells: NDArray[np.uint8] = np.unpackbits(flat, axis=1, bitorder="little").take(self._bits, axis=1)
        return cells

    def _middle_of(self, cells: NDArray[np.uint8]) -> NDArray[np.uint64]:
        packed = np.packbits(cells.take(self._middle, axis=1), axis=1, bitorder="little")
        return packed.view("<u8").astype(np.uint64, copy=False)

    def _grown(self, alive: NDArray[np.uint8], outside: NDArray[np.uint8], generations: int) -> NDArray[np.uint8]:
        """Grow blocks; the cells at the border go wrong, and what they touch, but never the middle.

        A layer of the block is one word, so that a touch is a shift. The numbers of touches are kept digit by digit.
        """
        now, never = (np.packbits(cells, axis=1, bitorder="little").view(self._layer) for cells in (alive, outside))
        self._grow(now, never, generations)
        return np.unpackbits(now.view(np.uint8), axis=1, bitorder="little")

    def _grow(self, now: NDArray[Any], never: NDArray[Any], generations: int) -> None:
        """Grow in place the cells alive, shape (n, layers), but none of those that are never born, of the same shape."""
        layers, places = now.shape[1], int(self._births[-1]).bit_length()
        for _ in range(generations):
            digits = np.zeros((places + 1, *now.shape), self._layer)  # the last says that there are more
            for by, bits in self._moves.tolist():
                moved = now << self._layer.type(bits) if bits >= 0 else now >> self._layer.type(-bits)
                carry = moved[:, max(0, -by) : layers - max(0, by)]
                for digit in digits[:-1, :, max(0, by) : layers + min(0, by)]:
                    before = digit.copy()
                    digit ^= carry
                    carry = carry & before
                digits[-1, :, max(0, by) : layers + min(0, by)] |= carry
            born = np.zeros_like(now)
            for count in self._births.tolist():
                exactly = ~digits[-1]
                for place, digit in enumerate(digits[:-1]):
                    exactly &= digit if count >> place & 1 else ~digit
                born |= exactly
            now |= born & ~never

    def _grow_beside_mirrors(
        self, alive: NDArray[np.uint8], outside: NDArray[np.uint8], numbers: NDArray[np.int64], generations: int
    ) -> None:
        """Grow those of the blocks in place, those that are cut alike at once, each cell by the cells that touch it."""
        patterns, which = np.unique(np.packbits(outside[numbers], axis=1), axis=0, return_inverse=True)
        for pattern in range(len(patterns)):
            same = numbers[which.reshape(-1) == pattern]
            inside = outside[same[0]] == 0
            if not inside.any():
                continue
            sources = self._sources(patterns[pattern].tobytes(), inside)
            now = np.zeros((len(same), len(inside) + 1), np.uint8)
            now[:, :-1] = alive[same]
            for _ in range(generations):
                touches = np.zeros((len(same), len(inside)), np.uint8)
                for source in sources:
                    touches += now[:, source]
                now[:, :-1] |= np.isin(touches, self._births) & inside
            alive[same] = now[:, :-1]

    def _sources(self, pattern: bytes, inside: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The number of the cell that touches each cell, (offsets, cells); that after the last stands for those elsewhere."""
        if pattern not in self._tables_of_sources:
            assert self._fold is not None
            side = 2 * self._side
            first = self._cells[inside].min(axis=0)  # the mirrors lie here, or far before the block
            origin = np.where(first > 0, first, -2 * side)
            touching = self._fold((self._cells - origin - self._offsets[:, None]).reshape(-1, len(first)))
            positions = touching.reshape(len(self._offsets), -1, len(first)) + origin
            within = ((positions >= 0) & (positions < side)).all(axis=2)
            self._tables_of_sources[pattern] = np.where(within, index(positions, side), len(inside))
        return self._tables_of_sources[pattern]
