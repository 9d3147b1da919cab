"""The fast path for births on exactly one touch, in two and three dimensions, on the fundamental domain.

Fate. Alive cells stay alive, so a cell's number of touches never falls. The first generation that touches a cell decides it:
touched once it is born, touched more often it never is.

Table. What is known of a cell stands in a table of the bricks that the growth can reach (`gpu_nim.backends.shared.bricks`), a
byte a cell: FRESH (no touch yet), ONCE (one touch, this generation) or DECIDED, and a generation ends with no cell ONCE.
Whatever a newborn of the domain touches in it is in the table: the growth reaches it.

Work. A step takes the offsets one by one (`_push`). The targets of one offset are distinct, so plain indexed stores suffice: a
FRESH cell becomes ONCE and is listed, a cell that is ONCE becomes DECIDED. What the newborns near a wall touch
(`gpu_nim.backends.shared.brick_grid`), few but at first all, is counted cell by cell (`_push_near`). At the end the listed cells
that are still ONCE are born, each the representative of its orbit: (5, 3, 0) for (0, 3, 5) of edge. No others are sorted, and the
work is births times offsets.

Ranks. A rank's table has the bricks that it owns, and it decides their cells. So before a step each newborn is sent to the
owners of all slabs that it touches (`gpu_nim.backends.shared.bricks`), and a rank leaves out touches of cells that it does
not own.

Cells outside of the universe are touched like others, and discarded when they would be born: once each, being decided by then.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import ALONE, Communicator, State
from gpu_nim.backends.shared.brick_grid import packed, unpacked, walls
from gpu_nim.backends.shared.bricks import COLUMN_BYTES, Bricks, exchange, pack, unpack
from gpu_nim.backends.shared.engines import BrickEngine, SteppedEngine
from gpu_nim.model.arrays import Ints
from gpu_nim.model.digest import checksum
from gpu_nim.model.rule import Cells

_FRESH, _DECIDED, _ONCE = np.uint8(0), np.uint8(1), np.uint8(2)
_BLOCK = 1 << 15  # newborns pushed at a time: keys, targets and states stay in the second-level cache
_NEWBORN_BYTES = 250  # a share of the arrays of a step: 80 to 215 measured, what is near walls included


def required_bytes(bricks: Bricks) -> int:
    """Return the planned bytes of memory for growing in the bricks of a rank.

    >>> from gpu_nim.model.rule import Rule, Symmetry
    >>> edges = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    >>> required_bytes(Bricks(Rule(2, edges, frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE), last=10**4)) < 60e6
    True
    """
    cells = 64 * bricks.words
    # As if its cells were born one generation after another: births have no better bound than the volume, which cubic8 approaches.
    newborns = bricks.rule.dimension * cells * bricks.count // (bricks.last + 1)
    return COLUMN_BYTES * bricks.slabs * bricks.wide + (cells + 4) * bricks.count + _NEWBORN_BYTES * newborns


class ExactlyOneEngine(BrickEngine, SteppedEngine):
    """A growth in bricks, from its seeds or from a state.

    `at`: the newborns of the domain that this rank owns, shape (3, N): the number of the brick's column, with a border of one, its
    z there, and the place in the brick.

    On several ranks every rank has one, in its own bricks, with the same state and the same calls; see
    `gpu_nim.backends.interface.Communicator`.

    >>> from gpu_nim.model.rule import Rule, Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> ExactlyOneEngine(Bricks(square, 10)).advance(6).births.tolist()  # A147582
    [1, 4, 4, 12, 4, 12, 12]
    """

    def __init__(self, bricks: Bricks, state: State | None = None, ranks: Communicator = ALONE) -> None:
        super().__init__(bricks.rule, bricks.last, ranks)
        self._bricks = bricks
        self._allocate()
        self._set_newborns(np.zeros((0, bricks.rule.dimension), np.int64))
        if state is not None:
            self._restore(state)

    def _allocate(self) -> None:
        """Take the memory of the growth."""
        bricks = self._bricks
        self._walls = walls(bricks, 1)
        self._cells_of_brick, self._across_y = 64 * bricks.words, bricks.wide + 2
        self._table = np.zeros(self._cells_of_brick * max(1, bricks.count), np.uint8)
        number, first, stop = bricks.columns.reshape(-1, 3).T
        # The place of each column's first cell, if it had a brick z = 0, and whether the rank owns it, or another rank one beside.
        self._origins = self._cells_of_brick * number
        self._owned = np.repeat(np.pad(bricks.owned, 1), self._across_y)
        beside = sum((faces.any(axis=1) for faces in bricks.facing.values()), np.zeros(bricks.slabs, np.bool_))
        self._beside_others = np.repeat(np.pad(beside, 1), self._across_y)
        own = np.flatnonzero(self._owned)
        self._column_of = np.repeat(own.astype(np.int32), (stop - first)[own])
        # What each cell of a brick touches by an offset: the number of columns to it, and its place from that of the cell's brick.
        self._jumps = [self._moved(bricks.site + offset) for offset in bricks.embedded(np.array(bricks.rule.offsets))]
        # The distances of each column from the walls at z = 0, in bricks, and the places near them.
        at = np.stack(np.divmod(np.arange(len(number)), self._across_y)) - 1
        self._apart = self._walls.corner[:, None] + self._walls.across[:, :2] @ at
        self._near_walls = [unpacked(places).view(np.bool_) for places in self._walls.near]

    def _moved(self, sites: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return, for sites counted from the corner of a brick, the number of columns to them, and their places from its own."""
        bricks = self._bricks
        dx, dy, dz = (sites >> bricks.logs).T
        return dx * self._across_y + dy, self._cells_of_brick * dz + bricks.place[tuple((sites & bricks.size - 1).T)]

    def _words(self, numbers: range) -> NDArray[np.uint64]:
        cells = self._cells_of_brick
        return packed(self._table[cells * numbers.start : cells * numbers.stop].reshape(-1, cells))

    def _put_back(self, numbers: Ints, words: NDArray[np.uint64]) -> None:
        self._table.reshape(-1, self._cells_of_brick)[numbers] |= unpacked(words)

    def _located(self, cells: Cells) -> NDArray[np.int64]:
        """Return cells as `at` has them."""
        found, place = self._bricks.split(cells)
        x, y, z = found.T
        return np.stack(((x + 1) * self._across_y + y + 1, z, place))

    def _cells_at(self, at: NDArray[np.int64]) -> Cells:
        """Return the cells: the inverse of `_located`."""
        column, z, place = at
        x, y = np.divmod(column, self._across_y)
        cells: Cells = self._bricks.cells(np.stack((x - 1, y - 1, z), axis=1), place)
        return cells

    def _set_newborns(self, representatives: Cells) -> None:
        self._take(self._located(self._own(representatives)))
        column, z, place = self.at
        self._table[self._origins[column] + self._cells_of_brick * z + place] = _DECIDED

    def _step(self) -> tuple[int, int] | None:
        at, near = self.at, self._near
        if self._ranks.size > 1:
            found, words = self._bricks.words_of(self._cells_at(at[:, self._beside_others[at[0]]]))
            part = exchange(self._bricks, self._ranks, lambda faces: pack(found, words & faces[found[:, 0]]))
            received = self._located(self._bricks.cells_of(*unpack(part)))
            at = np.concatenate((at, received), axis=1)
            near = np.concatenate((near, self._near_among(received) + self.at.shape[1]))
        far = np.ones(at.shape[1], np.bool_)
        far[near] = False
        fresh = [*self._push(at.take(far.nonzero()[0], axis=1)), self._push_near(at.take(near, axis=1))]
        candidates = np.concatenate(fresh)
        born = candidates[np.flatnonzero(self._table[candidates] == _ONCE)]
        self._table[born] = _DECIDED
        born.sort()  # so that the next step finds them side by side
        at = self._at(born)
        if self.rule.universe is not None:
            at = at[:, self.rule.inside(self._cells_at(at))]
        self._take(at)
        return None

    def _at(self, places: Ints) -> Ints:
        """Return where places in the table are, as `at` has it; `self._cells_at(self._at(places))` are the cells."""
        number, place = np.divmod(places, self._cells_of_brick)
        column = self._column_of[number].astype(np.int64)
        return np.stack((column, number - self._bricks.columns[..., 0].reshape(-1)[column], place))

    def _push(self, pushers: Ints) -> Iterator[NDArray[np.int64]]:
        """Push far from walls, by offset and block, and yield the places that nothing had touched before."""
        table = self._table
        for start in range(0, pushers.shape[1], _BLOCK):
            column, z, within = pushers[:, start : start + _BLOCK]
            base = z * self._cells_of_brick
            for columns, inside in self._jumps:
                target = columns.take(within)
                target += column
                brick, cell = base, within
                if self._ranks.size > 1:
                    held = self._owned.take(target).nonzero()[0]
                    brick, cell, target = base.take(held), within.take(held), target.take(held)
                places = self._origins.take(target)
                places += brick
                places += inside.take(cell)
                states = table[places]
                # An index by numbers takes fewer steps than one by a mask of no pattern.
                fresh = places.take((states == _FRESH).nonzero()[0])
                table[fresh] = _ONCE
                table[places.take((states == _ONCE).nonzero()[0])] = _DECIDED
                yield fresh

    def _push_near(self, pushers: Ints) -> NDArray[np.int64]:
        """Push near walls, and return the places that nothing had touched before."""
        if not pushers.size:
            return np.zeros(0, np.int64)
        walls, table, (column, z, within) = self._walls, self._table, pushers
        apart = self._apart[:, column].T + z[:, None] * walls.across[:, 2]
        kind = walls.classes(apart * self._bricks.size[0] + walls.along[within])
        counts = np.diff(walls.first)[kind]
        of = np.repeat(np.arange(len(counts)), counts)
        touch = np.arange(len(of)) + np.repeat(walls.first[kind] - (np.cumsum(counts) - counts), counts)
        columns, inside = self._moved(self._bricks.site[within[of]] + walls.touches[touch, :3])
        target, times = column[of] + columns, walls.touches[touch, 3]
        places = self._origins.take(target) + self._cells_of_brick * z[of] + inside
        if self._ranks.size > 1:
            own = self._owned.take(target)
            places, times = places[own], times[own]
        places, which = np.unique(places, return_inverse=True)
        once = np.bincount(which, times) == 1
        fresh = table[places] == _FRESH
        table[places] = np.where(fresh & once, _ONCE, _DECIDED)
        listed: NDArray[np.int64] = places[fresh & once]
        return listed

    def _near_among(self, at: Ints) -> NDArray[np.intp]:
        """Return the indices of the cells that are near a wall."""
        column, z, place = at
        near = np.zeros(at.shape[1], np.bool_)
        walls = zip(self._walls.last, self._apart, self._walls.across[:, 2], self._near_walls, strict=True)
        for last, apart, across, places in walls:
            if last:
                distance = apart.take(column) + across * z
                beside = (distance < last).nonzero()[0]
                near[beside] |= places[distance.take(beside), place.take(beside)]
        return near.nonzero()[0]

    def _take(self, at: Ints) -> None:
        """Set the newborns, and which of them are near a wall."""
        self.at, self._near = at, self._near_among(at)

    @property
    def newborns(self) -> Cells:
        return self._cells_at(self.at)

    def _count_and_checksum(self) -> tuple[int, int]:
        # Only those near a wall can have smaller orbits than the group has elements.
        near, order = self._cells_at(self.at[:, self._near]), self.rule.symmetry.order(self.rule.dimension)
        fewer = order - self.rule.symmetry.orbit_size(near)
        births = order * self.at.shape[1] - int(fewer.sum())
        return births, (order * checksum(self._cells_at(self.at)) - checksum(near, fewer)) % 2**64

    def _section(self, axis: int, value: int) -> int:
        return int(self.rule.symmetry.section_size(self.newborns, axis, value).sum())
