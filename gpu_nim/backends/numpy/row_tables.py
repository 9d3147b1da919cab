"""Distinct rows of integers, numbered, and what is known of each by its number."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.digest import finalize
from gpu_nim.model.errors import BackendError
from gpu_nim.model.process import require_memory

Numbers = NDArray[np.int32]
_FEW = 1 << 10  # rows that a new table has room for
_MIX = np.uint64(0x9E3779B97F4A7C15)


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
        return self._known[: self._size]

    def number(self, rows: NDArray[Any]) -> Numbers:
        """Return the number of each row, int32 of shape (n,); rows that are new are added.

        Args:
            rows: shape (n, width).
        """
        hashes = np.zeros(len(rows), np.uint64)
        for column in rows.T:
            hashes = (hashes ^ column.astype(np.uint64)) * _MIX
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
