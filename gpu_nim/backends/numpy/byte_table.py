"""The table of exactly-one growth for NumPy alone: a byte a cell.

States. A cell is FRESH (no touch yet), ONCE (one touch, this generation) or DECIDED, and a generation ends with no cell ONCE.

Work. A step takes the offsets one by one. The targets of one offset are distinct, so plain indexed stores suffice: a FRESH
cell becomes ONCE and is listed, a cell that is ONCE becomes DECIDED. At the end the listed cells that are still ONCE are born.
Nothing is sorted, and the work is births times offsets.

Places. An offset takes a cell to another place in its brick or a neighbouring one: both are looked up by the cell's own place in
its brick, and the rest is where the column of the target's brick begins (`gpu_nim.backends.shared.bricks`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.shared.bricks import CELLS, ROWS, Bricks
from gpu_nim.model.arrays import Ints

_FRESH, _DECIDED, _ONCE = np.uint8(0), np.uint8(1), np.uint8(2)
_BLOCK = 1 << 15  # newborns pushed at a time: keys, targets and states stay in the second-level cache


class ByteTable:
    """The table of the bricks that a rank owns.

    Args:
        bricks: these bricks.
    """

    def __init__(self, bricks: Bricks) -> None:
        self._bricks = bricks
        self._table = np.zeros(CELLS * max(1, bricks.count), np.uint8)
        self._origins = bricks.origins
        self._jumps = [bricks.jump(offset) for offset in bricks.rule.offsets]

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
        pushers = (at.take(far.nonzero()[0], axis=1), False), (beside, True)
        candidates = np.concatenate([at[0, :0], *(fresh for part in pushers for fresh in self._touched(*part))])
        born = candidates[np.flatnonzero(self._table[candidates] == _ONCE)]
        self._table[born] = _DECIDED
        return self._bricks.decode(np.sort(born))  # which the next step finds side by side

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
