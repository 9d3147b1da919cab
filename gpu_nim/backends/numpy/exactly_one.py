"""The fast path for births on exactly one touch, in two and three dimensions, on the fundamental domain.

Fate. Alive cells stay alive, so a cell's number of touches never falls. The first generation that touches a cell
decides it: touched once it is born, touched more often it never is.

Table. What is known of a cell stands in a table of the bricks that the growth can reach (`gpu_nim.backends.shared.bricks`), a byte
a cell: FRESH (no touch yet), ONCE (one touch, this generation) or DECIDED, and a generation ends with no cell ONCE. Whatever a
newborn of the domain touches in it is in the table: the growth reaches it.

Work. A step takes the offsets one by one. The targets of one offset are distinct, so plain indexed stores suffice: a FRESH cell
becomes ONCE and is listed, a cell that is ONCE becomes DECIDED. What the few newborns near a wall touch
is counted cell by cell. At the end the listed cells that are still ONCE are born. No others are
sorted, and the work is births times offsets.

Places. An offset takes a cell to another place in its brick or a neighbouring one: both are looked up by the cell's own place in
its brick, and the rest is where the column of the target's brick begins. `bricks.cells(bricks.decode(places).T)` are the cells.

Where numba is installed, and a growth is large enough to gain by it, compiled loops grow it instead, in a bit a cell
(`gpu_nim.backends.numpy.compiled_engine`).

Ranks. A rank's table has the bricks that it owns, and it decides their cells. What a newborn touches in the domain is no more than
the reach of the bricks away. So before a step each newborn is sent to the owners of all slabs that near
(`gpu_nim.backends.shared.brick_parts`), and a rank leaves out touches of cells that it does not own.

Cells outside of the universe are touched like others, and discarded when they would be born: once each, being decided by then.

Walls. Let G be the rule's group of signed permutations and D its fundamental domain, x_0 >= x_1 >= ... (>= 0 for CUBE). The
growth is invariant under G, so its cells in D determine it, and D can be grown alone if each cell t of D receives every touch
that it would receive in the whole growth: from each image y of each newborn r of D, and offset o, with y + o = t. The pairs of an
image of r and an image of t that differ by an offset are as many for each image of r, and as many for each of t. So the orbit of
r touches t

    |{o: r + o is an image of t}| |G r| / |G t|  times.

Far. Where all of r + o lie in D, and on none of its walls, both orbits are as large as G, and r touches them once each. A newborn
that is further from a wall than its `limit` has no image across it that touches D. So what it touches depends on its distances from
the walls, where any beyond the limit counts as one: its class.

Taking a cell to its representative, by dropping signs and sorting, brings no two cells further apart along any axis than they were
in the maximum norm. So what a newborn touches in D is no further from it than the longest offset: whoever owns some slabs of bricks
needs no newborns but those within reach of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import ALONE, Communicator
from gpu_nim.backends.interface import State
from gpu_nim.backends.shared.brick_parts import pack, unpack
from gpu_nim.backends.shared.bricks import BITS, CELLS, ROWS, BrickGrid, Bricks
from gpu_nim.backends.shared.engines import BrickEngine, SteppedEngine
from gpu_nim.model.arrays import Ints
from gpu_nim.model.digest import checksum
from gpu_nim.model.rule import Cells

_FRESH, _DECIDED, _ONCE = np.uint8(0), np.uint8(1), np.uint8(2)
_BLOCK = 1 << 15  # newborns pushed at a time: keys, targets and states stay in the second-level cache
#: Cells, from which on the compiled loops gain more than it takes to load them.
COMPILED_FROM = 1 << 24
_NEWBORN_BYTES = 250  # a share of the arrays of a step: 80 to 215 measured, what is near walls included
#: Of the arrays over columns of bricks, while they are made.
COLUMN_BYTES = 80


def required_bytes(bricks: Bricks) -> int:
    """Return the planned bytes of memory for growing in the bricks of a rank.

    >>> from gpu_nim.model.rule import Rule, Symmetry
    >>> edges = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    >>> required_bytes(Bricks(Rule(2, edges, frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE), last=10**4)) < 60e6
    True
    """
    # As if its cells were born one generation after another: births have no better bound than the volume, which cubic8 approaches.
    newborns = bricks.rule.dimension * CELLS * bricks.count // (bricks.last + 1)
    return COLUMN_BYTES * bricks.columns_u * bricks.columns_v + (CELLS + 4) * bricks.count + _NEWBORN_BYTES * newborns


class Walls:
    """The walls of the domain, u = 0, v = 0 and w = 0 in the coordinates of `BrickGrid`, where the growth has any.

    Attributes:
        limits: the least distance from each that counts as far, int64 of shape (3,); 0 for none.
        orbit: how many cells a newborn of each class stands for, int64 of shape (classes,).
        first: where the touches of each class begin, and the last of them end, int64 of shape (classes + 1,).
        offsets: from a newborn to a cell that it touches, int64 of shape (touches, dimension).
        times: 1 for a cell that is touched once, else 2, int64 of shape (touches,).

    >>> from gpu_nim.model.rule import Rule, Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> walls = Walls(BrickGrid(square))
    >>> walls.offsets[: walls.first[1]].tolist()  # of (0, 0), whose other touches are images of this one
    [[1, 0]]
    """

    def __init__(self, grid: BrickGrid) -> None:
        self._origin, rule, offsets = grid.origin, grid.rule, np.array(grid.rule.offsets, np.int64)
        between, most = int(np.ptp(offsets, axis=1).max()), rule.reach
        walled = np.array(grid.walls) & grid.folding.any(axis=1)
        self.limits = np.where(walled, np.array([between, between, most] if grid.folded else [most] * 3) + 1, 0)
        cells = grid.unfolded(np.array(list(product(*(range(limit + 1) for limit in self.limits.tolist()))), np.int64))
        self.orbit = rule.symmetry.orbit_size(cells)
        reached = (cells[:, None] + offsets).reshape(-1, rule.dimension)
        kind, inside = np.repeat(np.arange(len(cells)), len(offsets)), (reached >= 0).all(axis=1) | (not rule.octant)
        keys = np.column_stack((kind[inside], rule.symmetry.representative(reached[inside])))
        found, counts = np.unique(keys, axis=0, return_counts=True)
        kind, targets = found[:, 0], found[:, 1:]
        self.first, self.offsets = np.searchsorted(kind, np.arange(len(cells) + 1)), targets - cells[kind]
        self.times = np.where(counts * self.orbit[kind] > rule.symmetry.orbit_size(targets), 2, 1)

    def near(self, at: Ints) -> NDArray[np.intp]:
        """Return the indices of the cells that are near a wall, of those at these (u, v, w), shape (3, N)."""
        near = np.zeros(at.shape[1], np.bool_)
        for limit, corner, x in zip(self.limits, self._origin, at, strict=True):
            if limit:
                near |= x < limit - corner
        return near.nonzero()[0]

    def touches(self, at: Ints) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Return the touches of some cells, as indices of these and of `offsets`."""
        classes = np.ravel_multi_index(tuple(np.clip(at + self._origin[:, None], 0, self.limits[:, None])), tuple(self.limits + 1))
        counts = np.diff(self.first)[classes]
        before = np.cumsum(counts) - counts
        return np.repeat(np.arange(len(counts)), counts), np.arange(counts.sum()) + np.repeat(self.first[classes] - before, counts)


class ExactlyOneEngine(BrickEngine, SteppedEngine):
    """A growth in bricks, from its seeds or from a state.

    `at`: the (u, v, w) of the newborns of the domain that this rank owns, shape (3, N).

    On several ranks every rank has one, in its own bricks, with the same state and the same calls; see
    `gpu_nim.backends.communicator`.

    >>> from gpu_nim.model.rule import Rule, Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> ExactlyOneEngine(Bricks(square, 10)).advance(6).births.tolist()  # A147582
    [1, 4, 4, 12, 4, 12, 12]
    """

    def __init__(self, bricks: Bricks, state: State | None = None, ranks: Communicator = ALONE, threads: int = 1) -> None:
        super().__init__(bricks.rule, bricks.last, ranks)
        self._bricks = bricks
        self._allocate(threads)
        self._set_newborns(np.zeros((0, bricks.rule.dimension), np.int64))
        if state is not None:
            self._restore(state)

    def _allocate(self, threads: int) -> None:
        """Take the memory of the growth."""
        bricks, within = self._bricks, np.arange(CELLS)
        self._walls = Walls(bricks)
        self._table = np.zeros(CELLS * max(1, bricks.count), np.uint8)
        # The place of each column's first cell, if it had a brick w = 0, and whether the rank owns the column.
        self._origins, self._owned = CELLS * bricks.columns[:, 0], bricks.owned
        # What each cell of a brick touches by an offset: the number of columns to it, and its place from that of the cell's brick.
        cells = bricks.join(np.zeros((1, 3), np.int64), within // BITS, within % BITS)
        targets = [bricks.divide((cells + bricks.folding @ np.array(offset)).T) for offset in self.rule.offsets]
        self._jumps = [(column, brick + place) for column, brick, place in targets]
        self._moved = bricks.folding @ self._walls.offsets.T

    def _words(self, numbers: range) -> NDArray[np.uint32]:
        bits = np.packbits(self._table[CELLS * numbers.start : CELLS * numbers.stop], bitorder="little")
        return bits.view("<u4").astype(np.uint32, copy=False).reshape(-1, ROWS)

    def _put_back(self, numbers: Ints, words: NDArray[np.uint32]) -> None:
        bits = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
        self._table.reshape(-1, CELLS)[numbers] |= bits.reshape(-1, CELLS)

    def _set_newborns(self, representatives: Cells) -> None:
        self._take(np.ascontiguousarray(self._own(representatives).T))
        self._table[self._bricks.encode(self.at)] = _DECIDED

    def _step(self) -> None:
        at, near = self.at, self._near
        if self._ranks.size > 1:
            axis = self._bricks.axis
            near_others = at[:, self._bricks.borders[at[axis] >> self._bricks.logs[axis]] > 0]
            sent = pack(self._bricks, *self._bricks.words(near_others.T))
            received = self._bricks.places_of(*unpack(self._ranks.exchange(sent))).T
            at = np.concatenate((at, received), axis=1)
            near = np.concatenate((near, self._walls.near(received) + self.at.shape[1]))
        far = np.ones(at.shape[1], np.bool_)
        far[near] = False
        fresh = [*self._push(at.take(far.nonzero()[0], axis=1)), self._push_near(at.take(near, axis=1))]
        candidates = np.concatenate(fresh)
        born = candidates[np.flatnonzero(self._table[candidates] == _ONCE)]
        self._table[born] = _DECIDED
        at = self._bricks.decode(np.sort(born))  # which the next step finds side by side
        if self.rule.universe is not None:
            at = at[:, self.rule.inside(self._bricks.cells(at.T.astype(np.int64)))]
        self._take(at)

    def _push(self, pushers: Ints) -> Iterator[NDArray[np.int64]]:
        """Push far from walls, by offset and block, and yield the places that nothing had touched before."""
        bricks, table = self._bricks, self._table
        for start in range(0, pushers.shape[1], _BLOCK):
            column, base, within = bricks.divide(pushers[:, start : start + _BLOCK])
            for columns, inside in self._jumps:
                target = columns.take(within)
                target += column
                brick, cell = base, within
                if bricks.ranks > 1:
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
        bricks, table = self._bricks, self._table
        of, touch = self._walls.touches(pushers)
        column, brick, within = bricks.divide(pushers.take(of, axis=1) + self._moved.take(touch, axis=1))
        places, times = self._origins.take(column) + brick + within, self._walls.times.take(touch)
        if bricks.ranks > 1:
            own = self._owned.take(column)
            places, times = places[own], times[own]
        places, which = np.unique(places, return_inverse=True)
        once = np.bincount(which, times) == 1
        fresh = table[places] == _FRESH
        table[places] = np.where(fresh & once, _ONCE, _DECIDED)
        listed: NDArray[np.int64] = places[fresh & once]
        return listed

    def _take(self, at: Ints) -> None:
        """Set the newborns, and which of them are near a wall."""
        self.at, self._near = at, self._walls.near(at)

    @property
    def newborns(self) -> Cells:
        cells: Cells = self._bricks.cells(self.at.T)
        return cells

    def _count_and_checksum(self) -> tuple[int, int]:
        # Only those near a wall can have smaller orbits than the group has elements.
        near, order = self._bricks.cells(self.at[:, self._near].T), self.rule.symmetry.order(self.rule.dimension)
        fewer = order - self.rule.symmetry.orbit_size(near)
        births = order * self.at.shape[1] - int(fewer.sum())
        return births, (order * checksum(self.newborns) - checksum(near, fewer)) % 2**64

    def _section(self, axis: int, value: int) -> int:
        return int(self.rule.symmetry.section_size(self.newborns, axis, value).sum())
