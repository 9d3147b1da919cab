"""The table of exactly-one growth for compiled loops: two bits a cell, grown by all cores, with numba.

Layout. A word of 64 bits for each row of each brick: bit k says that the row's cell k was touched, bit 32 + k that it was touched
again, or decided before. So all that a touch reads and writes of a cell is in one word, the neighbours of a newborn are in few
lines of the cache, and the table takes a quarter of a byte a cell, where NumPy's takes a byte.

Threads. The slabs of bricks are dealt out to threads as they are to ranks (`gpu_nim.backends.shared.owners`). A thread goes
through the newborns within reach of its own slabs, and writes to these alone: there are no locks, and the result does not depend on
the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gpu_nim.backends.shared.bricks import BITS, ROWS, Bricks, within
from gpu_nim.backends.shared.owners import owners
from gpu_nim.model.arrays import Ints

_BLOCK = 1 << 16  # newborns pushed at a time


def _compiled(function: Any) -> Any:
    """The function, compiled when it is first called, and kept for later processes where there is a folder for that."""
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's own is writable
        return njit(nogil=True)(function)


@_compiled
def _push(
    at: Any,
    offsets: Any,
    walls: Any,
    close: Any,
    logs: Any,
    axis: int,
    columns_v: int,
    packed: int,
    numbers: Any,
    owner: Any,
    near: Any,
    thread: int,
    table: Any,
    found: Any,
) -> int:
    """Touch what the newborns of a block touch in a thread's slabs; list what was not touched before."""
    log_u, log_v, log_w = logs[0], logs[1], logs[2]
    in_u, in_v = (1 << log_u) - 1, (1 << log_v) - 1
    listed = 0
    for i in range(at.shape[1]):
        if not near[max(0, min(len(near) - 1, at[axis, i] >> logs[axis]))]:
            continue
        walled = at[0, i] <= close[0] or at[1, i] <= close[1] or at[2, i] <= close[2]
        for o in range(len(offsets)):
            u, v, w = at[0, i] + offsets[o, 0], at[1, i] + offsets[o, 1], at[2, i] + offsets[o, 2]
            if walled and (u < walls[0] or v < walls[1] or w < walls[2]):
                continue
            brick_u, brick_v = u >> log_u, v >> log_v
            if owner[brick_v if axis else brick_u] != thread:
                continue
            brick = numbers[np.uint64(brick_u * columns_v + brick_v)] + (w >> log_w)
            word = np.uint64(brick << 5 | (u & in_u) << log_v | v & in_v)
            once = np.uint64(1) << np.uint64(w >> packed & 31)
            again = once << np.uint64(32)
            held = table[word]
            if held & again:
                continue
            if held & once:
                table[word] = held | again
            else:
                table[word] = held | once
                found[0, listed], found[1, listed], found[2, listed] = u, v, w
                listed += 1
    return listed


@_compiled
def _decide(found: Any, logs: Any, columns_v: int, packed: int, numbers: Any, table: Any) -> int:
    """Move the listed cells that were touched only once to the front, decide all, and return how many there are."""
    log_u, log_v, log_w = logs[0], logs[1], logs[2]
    in_u, in_v = (1 << log_u) - 1, (1 << log_v) - 1
    born = 0
    for i in range(found.shape[1]):
        u, v, w = found[0, i], found[1, i], found[2, i]
        brick = numbers[np.uint64((u >> log_u) * columns_v + (v >> log_v))] + (w >> log_w)
        word = np.uint64(brick << 5 | (u & in_u) << log_v | v & in_v)
        again = np.uint64(1) << np.uint64((w >> packed & 31) + 32)
        if not table[word] & again:
            table[word] |= again
            found[0, born], found[1, born], found[2, born] = u, v, w
            born += 1
    return born


@_compiled
def _mix(at: Any, factors: Any) -> Any:
    """The sum of `gpu_nim.model.digest.mix` over cells, which is linear in u, v and w before it is finalized."""
    total = np.uint64(0)
    for i in range(at.shape[1]):
        word = np.uint64(at[0, i]) * factors[0] + np.uint64(at[1, i]) * factors[1] + np.uint64(at[2, i]) * factors[2] + factors[3]
        word = (word ^ word >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ word >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        total += word ^ word >> np.uint64(31)
    return total


class BitTable:
    """The table of the bricks that a rank owns.

    Args:
        bricks: these bricks.
        threads: how many threads share the work.

    >>> from gpu_nim.model.rule import Rule, Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> table = BitTable(Bricks(square, 20))
    >>> table.decide(np.array([[0], [0], [0]]))
    >>> table.born(np.array([[0], [9], [1]]), np.array([2]), np.zeros((3, 0), np.int64)).tolist()  # what (10, 1) touches
    [[0, 0, 0, 0], [10, 8, 8, 10], [1, 1, 2, 0]]
    """

    def __init__(self, bricks: Bricks, threads: int = 1) -> None:
        self._bricks, self._threads = bricks, threads
        self._words = np.zeros(ROWS * max(1, bricks.count), np.uint64)
        offsets = np.array([bricks.jump(offset).offset for offset in bricks.rule.offsets], np.int64)
        walls, close = (
            np.where(bricks.walls, limit - bricks.origin, np.iinfo(np.int64).min) for limit in (0, 2 * bricks.rule.reach)
        )
        numbers = np.ascontiguousarray(bricks.columns[:, 0])
        owner = np.where(bricks.owners == bricks.rank, owners(bricks.slabs, bricks.slab_reach, threads), -1)
        self._near = [within(owner == thread, bricks.slab_reach) for thread in range(threads)]
        self._where = (bricks.logs, bricks.columns_v, bricks.packed, numbers)
        self._offsets, self._walls, self._close, self._owner = offsets, walls, close, owner
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    @property
    def nbytes(self) -> int:
        """The bytes of the table."""
        return self._words.nbytes

    def decide(self, at: Ints) -> None:
        """Mark these cells, shape (3, N), as decided."""
        places = self._bricks.encode(at)
        np.bitwise_or.at(self._words, places >> 5, np.uint64(1 << BITS | 1) << (places & BITS - 1).astype(np.uint64))

    def words(self, numbers: range) -> NDArray[np.uint32]:
        """Return the rows of bricks, uint32 of shape (n, 32): a bit for each cell that was touched."""
        return (self._words[ROWS * numbers.start : ROWS * numbers.stop] & 0xFFFFFFFF).astype(np.uint32).reshape(-1, ROWS)

    def restore(self, numbers: Ints, words: NDArray[np.uint32]) -> None:
        """Take back the rows of some bricks."""
        self._words.reshape(-1, ROWS)[numbers] = words * np.uint64(1 << BITS | 1)

    def born(self, at: Ints, near: NDArray[np.intp], halo: Ints) -> Ints:
        """Return the cells that are born of newborns, shape (3, N), and decide all that these touch.

        Args:
            at: the newborns, shape (3, n).
            near: the indices of those that may touch what is beyond a wall.
            halo: their halo, shape (3, m).
        """
        apply = map if self._pool is None or at.shape[1] < _BLOCK else self._pool.map
        parts = apply(lambda thread: self._born_of(thread, at, halo.astype(np.int32)), range(self._threads))
        return np.concatenate([part for some in parts for part in some], axis=1)

    def checksum(self, at: Ints) -> int:
        """Return the checksum of these cells, shape (3, N), each once."""
        return int(_mix(at, np.array(self._bricks.mixing(), np.uint64)))

    def _born_of(self, thread: int, at: Ints, halo: Ints) -> list[Ints]:
        logs, columns_v, packed, numbers = self._where
        axis, near = self._bricks.axis, self._near[thread]
        found = np.empty((3, len(self._offsets) * min(_BLOCK, max(at.shape[1], halo.shape[1]))), np.int32)
        listed = [found[:, :0].copy()]
        for pushers in (at, halo):
            for start in range(0, pushers.shape[1], _BLOCK):
                block = np.ascontiguousarray(pushers[:, start : start + _BLOCK], np.int32)
                count = _push(
                    block, self._offsets, self._walls, self._close, logs, axis, columns_v, packed, numbers, self._owner, near,
                    thread, self._words, found,
                )  # fmt: skip
                listed.append(found[:, :count].copy())
        return [part[:, : _decide(part, logs, columns_v, packed, numbers, self._words)] for part in listed]
