"""The fast path for births on exactly one touch, in two and three dimensions: one byte per cell of the fundamental domain.

Fate. Alive cells stay alive, so a cell's number of touches never falls. The first generation that touches a cell
decides it: touched once it is born, touched more often it never is. A cell is FRESH (no touch yet), ONCE (one touch,
this generation) or SEALED, and a generation ends with no cell ONCE.

Work. A step takes the offsets one by one. The targets of one offset are distinct, so plain indexed stores suffice: a FRESH
cell becomes ONCE and is listed, a cell that is ONCE becomes SEALED. At the end the listed cells that are still ONCE are born.
Nothing is sorted, and the work is births times offsets.

Ranks. `gpu_nim.backends.shared.layers` defines the layers of the domain and the places of their cells. A rank owns some of the
layers: its table has places for their cells alone, and it decides these. Newborns push together with their halo
(`gpu_nim.backends.numpy.halo`), and what a newborn and its halo touch in the domain is no more than reach layers away. So
before a step each newborn is sent to the owners of all layers that near; a rank makes their halo itself, and so receives every
touch of the cells that it owns, once each. Touches in layers of other ranks are left to them: where they are many, as those of the
newborns that are received, they are left out, and few go to places that are never free. No table has room for cells of others.

Places. Layers have different boxes, so an offset is no fixed difference of places. It is one along x_0, and a step along x_2 is the
layer's stride: a block of newborns has its places in row (o_1, o_2) computed once for all offsets there.

Disk. A table that does not fit in memory is a file that is mapped to it (`gpu_nim.backends.numpy.tables`). Then a step takes
newborns in the order of their layers, and decides cells as soon as no later newborn touches their layer: a generation goes through
the file once, with few layers in use at a time.

Touches that leave the domain are pushed like others. Their targets are in a margin of the table, and are discarded when they
would be born; so are cells outside of the universe. Being SEALED by then, each is discarded once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import ALONE, Communicator
from gpu_nim.backends.interface import Batch, Section, State
from gpu_nim.backends.numpy.halo import Boundary, Mirrors
from gpu_nim.backends.numpy.tables import zeros
from gpu_nim.backends.shared.cells import CellEngine, cell_dtype, coordinate_dtype
from gpu_nim.backends.shared.domain import Box
from gpu_nim.backends.shared.layers import AXIS, Layers, Places, index_bytes, table_bytes
from gpu_nim.backends.shared.states import touched_cells
from gpu_nim.model.arrays import Ints
from gpu_nim.model.digest import checksum
from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.rule import Cells, Rule, Symmetry

_FRESH, _SEALED, _ONCE = np.uint8(0), np.uint8(1), np.uint8(2)
_BLOCK = 1 << 15  # newborns pushed at a time: keys, targets and states stay in the second-level cache
_MOST = 0.8  # of the touches of a block, if no more are in layers of this rank, the others are left out
_PART = 1 << 18  # newborns whose touches are decided together, where layers are taken in order
_NEWBORN_BYTES = 250  # a share of the arrays of a step: 80 to 215 measured, halo and mirrors included


def supports(rule: Rule) -> bool:
    """Return whether this engine grows the rule: births on exactly one touch, 2 or 3 dimensions, no `touches`.

    >>> supports(Rule(2, ((1, 0),), births=frozenset({1}), seeds=((0, 0),)))
    True
    """
    return rule.exactly_one and rule.dimension in (2, 3) and rule.touches is None


def planned_newborns(rule: Rule, last: int, ranks: int = 1) -> int:
    """Return the planned number of newborns of a generation of the domain on one rank: its share of the box's surface.

    Births have no better bound than the volume, which cubic8 approaches in some generations.  A step with more newborns checks
    its memory before it starts.
    """
    box = Box(rule, last)
    widths = [high - low + 1 for low, high in zip(box.lower, box.upper, strict=True)]
    surface = sum(2 * math.prod(widths) // width for width in widths) >> box.even
    newborns = surface if rule.symmetry is Symmetry.NONE else surface // (2 * rule.dimension)
    return newborns if ranks == 1 else newborns * 5 // (4 * ranks)


def required_bytes(rule: Rule, last: int, ranks: int = 1) -> int:
    """Return the planned bytes of growing `rule` to generation `last` on one of some ranks: the table, and a step's arrays.

    >>> edges = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    >>> required_bytes(Rule(2, edges, frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE), last=10**4) < 60e6
    True
    """
    return table_bytes(rule, last, ranks) + bytes_beside_table(rule, last, ranks)


def bytes_beside_table(rule: Rule, last: int, ranks: int = 1) -> int:
    """Return the planned bytes of all but the table: what a growth takes of memory whose table is on a disk."""
    return index_bytes(rule, last, ranks) + _NEWBORN_BYTES * planned_newborns(rule, last, ranks)


class ExactlyOneEngine(CellEngine):
    """A growth of a rule that `supports` admits, to at most generation `last`, from its seeds or from a state.

    `newborns`: those of the domain that this rank owns, shape (dimension, N).

    On several ranks every rank has one, with the same rule and `last`, the same state and the same calls; see
    `gpu_nim.backends.communicator`.

    UsageError for another rule; InsufficientMemoryError, before anything is allocated, when `required_bytes` are not available,
    and before a step that needs more than was planned and is available.

    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> ExactlyOneEngine(square, 10).advance(6).births.tolist()  # A147582
    [1, 4, 4, 12, 4, 12, 12]
    """

    def __init__(
        self, rule: Rule, last: int, state: State | None = None, ranks: Communicator = ALONE, disk: Path | None = None
    ) -> None:
        super().__init__(rule, last)
        if not supports(rule):
            raise UsageError(
                f"rule must have births {{1}}, 2 or 3 dimensions and no touches, got births {sorted(rule.births)}, "
                f"{rule.dimension} dimensions and touches {rule.touches}"
            )
        self._ranks = ranks
        needed = (required_bytes if disk is None else bytes_beside_table)(rule, last, self._ranks.size)
        require_memory(needed, host_memory(), f"a growth to generation {last}")
        self._in_order = disk is not None
        self._planned = planned_newborns(rule, last, self._ranks.size)
        self._dtype, self._cell_dtype = coordinate_dtype(*rule.box(last)), cell_dtype(*rule.box(last))
        self._mirrors = Mirrors(rule)
        self._layers = layers = Layers(rule, last)
        if self._ranks.size > 1:
            self._boundary = Boundary(layers, self._ranks.rank, self._ranks.size)
        self._places = Places(layers, layers.numbers[layers.owners(self._ranks.size) == self._ranks.rank], lookup=True)
        self._jumps = list(_jumps(rule))
        self._table = zeros(self._places.size, disk)
        self._table[self._places.stop :] = _SEALED
        self._take(np.zeros((rule.dimension, 0), np.int64))
        if state is not None:
            self._restore(state)

    def advance(self, to: int, *, cells: bool = False, section: Section | None = None) -> Batch:
        """Grow through generation `to`, as `CellEngine.advance` does: the births of all ranks, and the cells of this one."""
        own = super().advance(to, cells=cells, section=section)
        counts = [own.births, own.checksums, *([] if own.section is None else [own.section])]
        births, checksums, *sections = self._ranks.sum(np.stack(counts))
        return Batch(own.first, births, checksums, own.cells, *sections)

    def state(self) -> State:
        """Return the rank's part: its newborns' representatives, its layers, and their tables as bits."""
        return {
            "generation": np.array(self.generation),
            "newborns": self.newborns.T.astype(self._dtype),
            "last": np.array(self.last),
            "layers": self._places.held.astype(np.int32),
            "sealed": np.packbits(self._table[: self._places.stop]),
        }

    def _restore(self, state: State) -> None:
        self.generation = int(state["generation"])
        places = self._places
        if "layers" in state and not np.array_equal(np.sort(state["layers"]), Layers(self.rule, int(state["last"])).numbers):
            raise ValueError("a state must have each layer once")
        if "layers" in state and int(state["last"]) == self.last:
            packed, sizes = state["sealed"].view(np.uint8), self._layers.sizes
            stops = dict(zip(state["layers"].tolist(), np.cumsum(sizes[state["layers"]]).tolist(), strict=True))
            for layer, start in zip(places.held.tolist(), places.starts.tolist(), strict=True):
                size, stop = int(sizes[layer]), stops[layer]
                self._table[start : start + size] = np.unpackbits(packed[(stop - size) // 8 : stop // 8])
        else:
            for cells in touched_cells(self.rule, state):
                here = cells[:, self._layers.cover(cells)]
                self._table[places.encode(here[:, self._owned(here)])] = _SEALED
        newborns = state["newborns"]
        if newborns.shape[1] != self.rule.dimension:
            raise ValueError("newborns must have the dimension of the rule")
        own = newborns[self._places.holds[newborns[:, AXIS].astype(np.int64) - self._layers.first]]
        self._take(np.ascontiguousarray(own.T).astype(np.int64))

    def _seed(self) -> None:
        seeds = np.array(self.rule.seeds, np.int64)
        folded = np.unique(self.rule.symmetry.representative(seeds), axis=0).T
        self._take(folded[:, self._owned(folded)])
        self._table[self._places.encode(self.newborns)] = _SEALED

    def _owned(self, cells: Ints) -> NDArray[np.bool_]:
        """Whether this rank owns the layers of these cells, which are layers of the domain."""
        owned: NDArray[np.bool_] = self._places.holds[cells[AXIS] - self._layers.first]
        return owned

    def _step(self) -> None:
        table, newborns, near = self._table, self.newborns, self._near
        if self._ranks.size > 1:
            received = self._boundary.newborns(self._ranks.exchange(self._boundary.parts(newborns)))
            near = np.concatenate((near, self._mirrors.near(received) + newborns.shape[1]))
            newborns = np.concatenate((newborns, received), axis=1)
        pushers = np.concatenate((newborns, self._mirrors.halo(newborns[:, near])), axis=1)
        if pushers.shape[1] > self._planned:
            require_memory(_NEWBORN_BYTES * pushers.shape[1], host_memory(), f"generation {self.generation + 1}")
        born: list[Ints] = []
        waiting = np.zeros(0, np.int64)
        for part, decided in self._parts(pushers):
            candidates = np.concatenate((waiting, *self._touched(part)))
            waiting = candidates[:0]
            if decided < self._places.stop:
                open_ = candidates >= decided
                waiting, candidates = candidates[open_], candidates[~open_]
            born.append(candidates[np.flatnonzero(table[candidates] == _ONCE)])
            table[born[-1]] = _SEALED
        cells = self._places.decode(np.concatenate(born))
        kept = self.rule.symmetry.in_domain(cells.T) & self.rule.inside(cells.T)
        self._take(cells if kept.all() else cells[:, kept])

    def _touched(self, pushers: Ints) -> Iterator[Ints]:
        """Push, and yield the places that nothing had touched before, by offset and block."""
        table = self._table
        for targets in self._targets(pushers):
            states = table[targets]
            # An index by numbers takes fewer steps than one by a mask of no pattern.
            fresh = targets.take((states == _FRESH).nonzero()[0])
            table[fresh] = _ONCE
            table[targets.take((states == _ONCE).nonzero()[0])] = _SEALED
            yield fresh

    def _parts(self, pushers: Ints) -> Iterator[tuple[Ints, int]]:
        """The pushers, or parts of them in the order of layers, each with the place before which later ones touch nothing."""
        if not self._in_order:
            yield pushers, self._places.stop
            return
        pushers = pushers[:, np.argsort(pushers[AXIS], kind="stable")]
        for start in range(0, pushers.shape[1], _PART):
            stop = start + _PART
            # Later pushers are in layers from this one on, and touch those from reach before it on.
            least = pushers[AXIS, stop] - self._layers.first - self._layers.reach if stop < pushers.shape[1] else None
            yield pushers[:, start:stop], self._places.stop if least is None else self._places.before(least)
        if not pushers.shape[1]:
            yield pushers, 0

    def _targets(self, pushers: Ints) -> Iterator[Ints]:
        """The places that the pushers touch, by offset and block: each place of a layer at most once in an array."""
        places, even = self._places, self._layers.even
        for start in range(0, pushers.shape[1], _BLOCK):
            block, x_0, x_2 = self._layers.split(pushers[:, start : start + _BLOCK])
            halves = [x_0 >> 1, x_0 + 1 >> 1] if even else [x_0]
            for step, rows in self._jumps:
                entry, across, forward = block + step, x_2, halves
                if self._ranks.size > 1:
                    held = places.holds.take(entry).nonzero()[0]
                    if len(held) < _MOST * len(entry):
                        entry, across, *forward = (each.take(held) for each in (entry, x_2, *halves))
                stride = places.strides.take(entry)
                row = stride * across
                row += places.origins.take(entry)
                for rise, shifts in rows:
                    along = _risen(row, stride, rise)
                    for odd, shift in shifts:
                        targets = along + forward[odd]
                        if shift:
                            targets += shift
                        yield targets

    def _take(self, newborns: Ints) -> None:
        """Set the newborns, which of them are near a mirror, and the sizes of their orbits."""
        self.newborns = newborns
        self._near = self._mirrors.near(newborns)
        self._weights = np.full(newborns.shape[1], self.rule.symmetry.order(self.rule.dimension))
        self._weights[self._near] = self.rule.symmetry.orbit_size(newborns[:, self._near].T)

    def _count_and_checksum(self) -> tuple[int, int]:
        return int(self._weights.sum()), checksum(self.newborns.T, self._weights)

    def _cells(self) -> Cells:
        # Unfolding sorts, and short integers are sorted several times faster.
        cells: Cells = self.rule.symmetry.unfold(self.newborns.T.astype(self._dtype)).astype(self._cell_dtype, copy=False)
        return cells

    def _section(self, axis: int, value: int) -> int:
        return int(self.rule.symmetry.section_size(self.newborns.T, axis, value).sum())


def _risen(row: Ints, stride: Ints, rise: int) -> Ints:
    """The places rise strides on; most rises are steps of one, which take no product."""
    if not rise:
        return row
    return row + stride if rise == 1 else row - stride if rise == -1 else row + rise * stride


def _jumps(rule: Rule) -> Iterator[tuple[int, list[tuple[int, list[tuple[int, int]]]]]]:
    """The offsets as (o_1, [(o_2, [(odd, shift)])]): x_0 + o_0 is at x_0 + shift, or, halved, at (x_0 + odd) / 2 + shift."""
    for step in sorted({offset[AXIS] for offset in rule.offsets}):
        layer = [(offset[2] if rule.dimension == 3 else 0, offset[0]) for offset in rule.offsets if offset[AXIS] == step]
        rises = sorted({rise for rise, _ in layer})
        along = {rise: sorted(shift for row, shift in layer if row == rise) for rise in rises}
        halved = rule.even_sum
        yield step, [(rise, [(shift & halved, shift >> halved) for shift in along[rise]]) for rise in rises]
