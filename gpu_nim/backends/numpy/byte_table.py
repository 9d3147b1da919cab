"""The table of exactly-one growth for NumPy alone: a byte a cell, in memory or on a disk.

States. A cell is FRESH (no touch yet), ONCE (one touch, this generation) or DECIDED, and a generation ends with no cell ONCE.

Work. A step takes the offsets one by one. The targets of one offset are distinct, so plain indexed stores suffice: a FRESH
cell becomes ONCE and is listed, a cell that is ONCE becomes DECIDED. At the end the listed cells that are still ONCE are born.
Nothing is sorted, and the work is births times offsets.

Places. An offset takes a cell to another place in its brick or a neighbouring one: both are looked up by the cell's own place in
its brick, and the rest is where the column of the target's brick begins (`gpu_nim.backends.shared.bricks`).

Disk. A table that does not fit in memory is a file that is mapped to it. Then a step takes newborns in the order of their slabs,
and decides cells as soon as no later newborn touches their slab: a generation goes through the file once, with few slabs in use at
a time.
"""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.shared.bricks import CELLS, ROWS, Bricks
from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import FileError

_FRESH, _DECIDED, _ONCE = np.uint8(0), np.uint8(1), np.uint8(2)
_BLOCK = 1 << 15  # newborns pushed at a time: keys, targets and states stay in the second-level cache
_PART = 1 << 18  # newborns whose touches are decided together, where slabs are taken in order


class ByteTable:
    """The table of the bricks that a rank owns.

    Args:
        bricks: these bricks.
        folder: the table is a file there, mapped to memory: the system keeps those parts in memory for which there is room, and
            writes back the others. The file has no name, so that nothing is left when the process ends, however it does. None is
            in memory.

    Raises:
        FileError: the folder is not there, is not writable or has no room. Room is taken before the table is used.
    """

    def __init__(self, bricks: Bricks, folder: Path | None = None) -> None:
        self._bricks, self._in_order = bricks, folder is not None
        self._table = _zeros(CELLS * max(1, bricks.count), folder)
        self._origins = bricks.origins
        self._jumps = [bricks.jump(offset) for offset in bricks.rule.offsets]

    @property
    def nbytes(self) -> int:
        """The bytes of the table."""
        return self._table.nbytes

    def decide(self, at: Ints) -> None:
        """Mark these cells, shape (3, N), as decided."""
        self._table[self._bricks.encode(at)] = _DECIDED

    def words(self, numbers: range) -> NDArray[np.uint32]:
        """Return the rows of bricks, uint32 of shape (n, 32): a bit for each cell that was touched."""
        bits = np.packbits(self._table[CELLS * numbers.start : CELLS * numbers.stop], bitorder="little")
        return bits.view("<u4").astype(np.uint32, copy=False).reshape(-1, ROWS)

    def restore(self, numbers: Ints, words: NDArray[np.uint32]) -> None:
        """Take back the rows of some bricks."""
        bits = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
        self._table.reshape(-1, CELLS)[numbers] = bits.reshape(-1, CELLS)

    def born(self, at: Ints, near: NDArray[np.intp], halo: Ints) -> Ints:
        """Return the cells that are born of newborns, shape (3, N), and decide all that these touch.

        Args:
            at: the newborns, shape (3, n).
            near: the indices of those that may touch what is beyond a wall.
            halo: their halo, shape (3, m).
        """
        far = np.ones(at.shape[1], np.bool_)
        far[near] = False
        beside = np.concatenate((at[:, near], halo), axis=1)
        table, born = self._table, []
        waiting = np.zeros(0, np.int64)
        for parts, decided in self._parts(at.take(far.nonzero()[0], axis=1), beside):
            candidates = np.concatenate((waiting, *(fresh for part in parts for fresh in self._touched(*part))))
            waiting = candidates[:0]
            if decided < len(table):
                open_ = candidates >= decided
                waiting, candidates = candidates[open_], candidates[~open_]
            born.append(candidates[np.flatnonzero(table[candidates] == _ONCE)])
            table[born[-1]] = _DECIDED
        return self._bricks.decode(np.sort(np.concatenate(born)))  # which the next step finds side by side

    def _parts(self, far: Ints, beside: Ints) -> Iterator[tuple[list[tuple[Ints, bool]], int]]:
        """The newborns far from walls and those beside them, and their halo, with the place before which later ones touch nothing.

        All of them, or parts of them in the order of slabs; of each whether it may touch what is beyond a wall.
        """
        if not self._in_order:
            yield [(far, False), (beside, True)], len(self._table)
            return
        axis, reach = self._bricks.axis, self._bricks.reach[self._bricks.axis]
        pushers = np.concatenate((far, beside), axis=1)
        pushers = pushers[:, np.argsort(pushers[axis], kind="stable")]
        for start in range(0, max(1, pushers.shape[1]), _PART):
            later = pushers[axis, start + _PART :]
            decided = self._bricks.before(int(later[0]) - reach) if len(later) else len(self._table)
            yield [(pushers[:, start : start + _PART], True)], decided

    def _touched(self, pushers: Ints, walled: bool) -> Iterator[Ints]:
        """Push, and yield the places that nothing had touched before, by offset and block."""
        table = self._table
        for targets in self._targets(pushers, walled):
            states = table[targets]
            # An index by numbers takes fewer steps than one by a mask of no pattern.
            fresh = targets.take((states == _FRESH).nonzero()[0])
            table[fresh] = _ONCE
            table[targets.take((states == _ONCE).nonzero()[0])] = _DECIDED
            yield fresh

    def _targets(self, pushers: Ints, walled: bool) -> Iterator[Ints]:
        """The places that the pushers touch, by offset and block: each place at most once in an array."""
        bricks = self._bricks
        for start in range(0, pushers.shape[1], _BLOCK):
            block = pushers[:, start : start + _BLOCK]
            column, base, within = bricks.divide(block)
            for jump in self._jumps:
                parts = column, base, within
                if walled:
                    kept = bricks.within_walls(block, jump.offset).nonzero()[0]
                    parts = column.take(kept), base.take(kept), within.take(kept)
                target = jump.columns.take(parts[2])
                target += parts[0]
                if bricks.ranks > 1:
                    held = bricks.owned.take(target).nonzero()[0]
                    parts, target = (parts[0], parts[1].take(held), parts[2].take(held)), target.take(held)
                places = self._origins.take(target)
                places += parts[1]
                places += jump.places.take(parts[2])
                yield places


def _zeros(size: int, folder: Path | None) -> NDArray[np.uint8]:
    if folder is None:
        return np.zeros(size, np.uint8)
    try:
        free = shutil.disk_usage(folder).free
        if free < size:
            raise OSError(f"{free:,} are free")
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
            return np.frombuffer(mmap.mmap(file.fileno(), size), np.uint8)
    except OSError as error:
        raise FileError(f"{folder} must take a table of {size:,} bytes: {error.strerror or error}") from error
