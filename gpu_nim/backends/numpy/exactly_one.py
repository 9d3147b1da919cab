"""The fast path for births on exactly one touch, in two and three dimensions, on the fundamental domain.

Fate. Alive cells stay alive, so a cell's number of touches never falls. The first generation that touches a cell
decides it: touched once it is born, touched more often it never is.

Table. What is known of a cell stands in a table of the bricks that the growth can reach (`gpu_nim.backends.shared.bricks`), a byte
a cell: FRESH (no touch yet), ONCE (one touch, this generation) or DECIDED, and a generation ends with no cell ONCE. Newborns near a
wall of the domain push together with their halo (see below), and their targets beyond a wall are left out. All
others are in the table: the growth reaches them.

Work. A step takes the offsets one by one. The targets of one offset are distinct, so plain indexed stores suffice: a FRESH cell
becomes ONCE and is listed, a cell that is ONCE becomes DECIDED. At the end the listed cells that are still ONCE are born. Nothing
is sorted, and the work is births times offsets.

Places. An offset takes a cell to another place in its brick or a neighbouring one: both are looked up by the cell's own place in
its brick, and the rest is where the column of the target's brick begins.

Where numba is installed, and a growth is large enough to gain by it, compiled loops grow it instead, in a bit a cell
(`gpu_nim.backends.numpy.compiled_engine`).

Ranks. A rank's table has the bricks that it owns, and it decides their cells. What a newborn and its halo touch in the domain is no
more than the reach of the bricks away. So before a step each newborn is sent to the owners of all slabs that near
(`gpu_nim.backends.shared.brick_parts`); a rank makes their halo itself, and so receives every touch of the cells that it owns, once
each. It leaves out touches of others.

Cells outside of the universe are touched like others, and discarded when they would be born: once each, being decided by then.

Halo. It is what touches the fundamental domain, or the bricks of a rank, from outside. Let G be the rule's group of signed
permutations and D its fundamental domain, x_0 >= x_1 >= ... (>= 0 for CUBE). The growth is invariant under G, so its cells in D
determine it, and D can be grown alone if each cell of D receives every touch that it would receive in the whole growth. It does
when the newborns of D push together with their halo cells: the images y outside of D of newborns r in D for which some y + o lies
in D. Then every alive cell pushes once, and touches need no weights.

Near. To find the halo cells, call r near a mirror of G when r is within W = 2 max |o_i| of it, measured by the difference x_i -
x_j, the sum x_i + x_j, or the coordinate x_i that vanishes there. Let y = g r and t = y + o in D. A mirror that separates y from D
has y on its negative side and t not, so y is within W of it, and r is near the mirror's image under g^-1. So a newborn that is near
no mirror has no halo cell. A newborn near exactly one has a halo cell only if exactly one mirror separates it from D; then that
mirror is a wall of D, and the halo cell is the reflection in it. The few newborns near several mirrors have all their images tried.
(Near any mirror implies near a wall: x_i - x_j <= W bounds the differences of neighbours between i and j, and x_i + x_j <= W or x_i
<= W bound the last coordinate.)

Far. Taking a cell to its representative, by dropping signs and sorting, brings no two cells further apart along any axis of D than
they were in the maximum norm: | |a| - |b| | <= |a - b|, and the k-th largest of some numbers moves by no more than the numbers do.
Let y = g r and t = y + o in D, and let reach = max |o_i|. Then r and t are the representatives of y and t, so

    |t_k - r_k| <= reach  for every k,  and  |y_k - r_k| <= |y_k - t_k| + |t_k - r_k| <= 2 reach.

So an image that is further than 2 reach from its newborn is no halo cell, and what a newborn and its halo cells touch in D is
within reach of the newborn: whoever owns some slabs of bricks needs no newborns but those within reach of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import ALONE, Communicator
from gpu_nim.backends.interface import State
from gpu_nim.backends.numpy.compilation import LOADED_BYTES
from gpu_nim.backends.shared.brick_parts import pack, unpack
from gpu_nim.backends.shared.bricks import BITS, CELLS, ROWS, Bricks
from gpu_nim.backends.shared.engines import BrickEngine, SteppedEngine
from gpu_nim.model.arrays import Ints
from gpu_nim.model.digest import checksum
from gpu_nim.model.rule import Cells, Symmetry

_FRESH, _DECIDED, _ONCE = np.uint8(0), np.uint8(1), np.uint8(2)
_BLOCK = 1 << 15  # newborns pushed at a time: keys, targets and states stay in the second-level cache
#: Cells, from which on the compiled loops gain more than it takes to load them.
COMPILED_FROM = 1 << 24
_NEWBORN_BYTES = 250  # a share of the arrays of a step: 80 to 215 measured, halo and mirrors included
_COLUMN_BYTES = 80  # of the arrays over columns of bricks, while they are made
_BRICK_BYTES = 4 * ROWS + 4  # of compiled loops: rows and a slot
_LISTED_BYTES = 408  # of a brick in the lists of compiled loops
_LISTED = 320  # measured: the bricks of a list are as many as those of so many generations, if each had the same share


def listed(bricks: Bricks) -> int:
    """Return how many of its bricks a rank is planned to have in a list."""
    return min(bricks.held, _LISTED * bricks.count // (bricks.last + 1))


def required_bytes(bricks: Bricks, *, loops: bool = False) -> int:
    """Return the planned bytes of memory for growing in the bricks of a rank.

    Args:
        bricks: its bricks.
        loops: whether compiled loops grow it.

    >>> from gpu_nim.model.rule import Rule, Symmetry
    >>> edges = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    >>> required_bytes(Bricks(Rule(2, edges, frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE), last=10**4)) < 60e6
    True
    """
    columns = _COLUMN_BYTES * bricks.columns_u * bricks.columns_v
    if loops:
        return columns + LOADED_BYTES + _BRICK_BYTES * bricks.count + _LISTED_BYTES * listed(bricks)
    # As if its cells were born one generation after another: births have no better bound than the volume, which cubic8 approaches.
    newborns = bricks.rule.dimension * CELLS * bricks.count // (bricks.last + 1)
    return columns + (CELLS + 4) * bricks.count + _NEWBORN_BYTES * newborns


class Mirrors:
    """The walls of the fundamental domain, and the mirrors of its symmetry. Cells are given by their (u, v, w), of shape (3, N).

    >>> from gpu_nim.model.rule import Rule
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> mirrors = Mirrors(Bricks(square, 20))
    >>> mirrors.halo(np.array([[0, 0], [0, 8], [9, 1]])).tolist()  # of (9, 9) and (9, 1): (9, -1), where u is 0
    [[0], [10], [-1]]
    """

    def __init__(self, bricks: Bricks) -> None:
        self._bricks, rule = bricks, bricks.rule
        self._symmetry, self._dimension, self._reach = rule.symmetry, rule.dimension, rule.reach
        self._group = rule.symmetry.transformations(rule.dimension)

    def near(self, at: Ints) -> NDArray[np.intp]:
        """Return the indices of the cells that are near a wall: those on a mirror among them."""
        near = np.zeros(at.shape[1], np.bool_)
        for wall, corner, x in zip(self._bricks.walls, self._bricks.origin, at, strict=True):
            if wall:
                near |= x <= 2 * self._reach - corner
        return near.nonzero()[0]

    def halo(self, at: Ints) -> Ints:
        """Return the halo cells of cells that are near a wall; images that touch nothing in the domain may be among them."""
        if self._symmetry is Symmetry.NONE:
            return at[:, :0]
        near = self._bricks.cells(at.T).T
        heights = self._heights(near)
        close = heights <= 2 * self._reach
        several = np.count_nonzero(close, axis=0) > 1
        found = []
        for wall in range(len(close)):
            # A cell on the wall is its own reflection. That in x_i = 0 moves a cell by twice its height.
            last = wall == self._dimension - 1
            furthest = self._reach if last else 2 * self._reach
            image = near[:, ~several & (heights[wall] > 0) & (heights[wall] <= furthest)]
            if last:
                image[wall] *= -1
            else:
                image[[wall, wall + 1]] = image[[wall + 1, wall]]
            found.append(image)
        # Those of several mirrors: all images outside of the domain and within 2 reach of their cells, each once.
        at = near[:, several]
        images = (self._group @ at).transpose(1, 0, 2)
        moved = np.abs(images - at[:, None, :]).max(axis=0).ravel()
        images = images.reshape(self._dimension, -1)
        outside = images[:, (self._heights(images).min(axis=0) < 0) & (moved <= 2 * self._reach)]
        # Distinct newborns have distinct images; one on a mirror has some of its own twice.
        outside = outside[:, np.lexsort(outside)]
        first = np.ones(outside.shape[1], np.bool_)
        first[1:] = (outside[:, 1:] != outside[:, :-1]).any(axis=0)
        return self._bricks.locate(np.concatenate((*found, outside[:, first]), axis=1).T).T

    def _heights(self, cells: Ints) -> Ints:
        """How far above each wall of the fundamental domain the cells are, shape (walls, N)."""
        heights = cells.copy()
        heights[:-1] -= cells[1:]
        return heights if self._symmetry is Symmetry.CUBE else heights[:-1]


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
        self._mirrors = Mirrors(bricks)
        self._table = np.zeros(CELLS * max(1, bricks.count), np.uint8)
        # The place of each column's first cell, if it had a brick w = 0, and whether the rank owns the column.
        self._origins, self._owned = CELLS * bricks.columns[:, 0], bricks.owned
        cells = bricks.join(np.zeros((1, 3), np.int64), within // BITS, within % BITS)
        self._jumps = [bricks.jump(cells, offset) for offset in self.rule.offsets]

    def _words(self, numbers: range) -> NDArray[np.uint32]:
        bits = np.packbits(self._table[CELLS * numbers.start : CELLS * numbers.stop], bitorder="little")
        return bits.view("<u4").astype(np.uint32, copy=False).reshape(-1, ROWS)

    def _put_back(self, numbers: Ints, words: NDArray[np.uint32]) -> None:
        bits = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
        self._table.reshape(-1, CELLS)[numbers] = bits.reshape(-1, CELLS)

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
            near = np.concatenate((near, self._mirrors.near(received) + at.shape[1]))
            at = np.concatenate((at, received), axis=1)
        far = np.ones(at.shape[1], np.bool_)
        far[near] = False
        beside = np.concatenate((at[:, near], self._mirrors.halo(at[:, near])), axis=1)
        pushed = *self._push(at.take(far.nonzero()[0], axis=1), False), *self._push(beside, True)
        candidates = np.concatenate([at[0, :0], *pushed])
        born = candidates[np.flatnonzero(self._table[candidates] == _ONCE)]
        self._table[born] = _DECIDED
        at = self._bricks.decode(np.sort(born))  # which the next step finds side by side
        if self.rule.universe is not None:
            at = at[:, self.rule.inside(self._bricks.cells(at.T.astype(np.int64)))]
        self._take(at)

    def _push(self, pushers: Ints, walled: bool) -> Iterator[Ints]:
        """Push by offset and block, not beyond walls if `walled`, and yield the places that nothing had touched before."""
        bricks, table = self._bricks, self._table
        for start in range(0, pushers.shape[1], _BLOCK):
            block = pushers[:, start : start + _BLOCK]
            parts = bricks.divide(block)
            for jump in self._jumps:
                column, base, within = parts
                if walled:
                    kept = bricks.within_walls(block, jump.offset).nonzero()[0]
                    column, base, within = column.take(kept), base.take(kept), within.take(kept)
                target = jump.columns.take(within)
                target += column
                if bricks.ranks > 1:
                    held = self._owned.take(target).nonzero()[0]
                    base, within, target = base.take(held), within.take(held), target.take(held)
                places = self._origins.take(target)
                places += base
                places += jump.places.take(within)
                states = table[places]
                # An index by numbers takes fewer steps than one by a mask of no pattern.
                fresh = places.take((states == _FRESH).nonzero()[0])
                table[fresh] = _ONCE
                table[places.take((states == _ONCE).nonzero()[0])] = _DECIDED
                yield fresh

    def _take(self, at: Ints) -> None:
        """Set the newborns, and which of them are near a wall."""
        self.at, self._near = at, self._mirrors.near(at)

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
