"""The fast path for births on exactly one touch, in two and three dimensions: one byte per cell of the fundamental domain.

Fate. Alive cells stay alive, so a cell's number of touches never falls. The first generation that touches a cell
decides it: touched once it is born, touched more often it never is. A cell is FRESH (no touch yet), ONCE (one touch,
this generation) or SEALED, and a generation ends with no cell ONCE.

Work. Newborns are keys into the table of bytes, and an offset is a number to add to a key. A step takes the offsets
one by one. The targets of one offset are distinct, so plain indexed stores suffice: a FRESH cell becomes ONCE and is
listed, a cell that is ONCE becomes SEALED. At the end the listed cells that are still ONCE are born. Nothing is sorted,
and the work is births times offsets.

Layout. `gpu_nim.backends.shared.layouts` defines the keys.

Symmetry. Let G be the rule's group of signed permutations and D its fundamental domain, x_0 >= x_1 >= ... (>= 0 for
CUBE). The growth is invariant under G, so its cells in D determine it, and D can be grown alone if each cell of D
receives every touch that it would receive in the whole growth. It does when the newborns of D push together with
their ghosts: the images y outside of D of newborns r in D for which some y + o lies in D. Then every alive cell
pushes once, and touches need no weights. To find the ghosts, call r near a mirror of G when r is within W = 2 max
|o_i| of it, measured by the difference x_i - x_j, the sum x_i + x_j, or the coordinate x_i that vanishes there. Let y
= g r and t = y + o in D. A mirror that separates y from D has y on its negative side and t not, so y is within W of
it, and r is near the mirror's image under g^-1. So a newborn that is near no mirror has no ghost. A newborn near
exactly one has a ghost only if exactly one mirror separates it from D; then that mirror is a wall of D, and the ghost
is the reflection in it. The few newborns near several mirrors have all their images tried. (Near any mirror implies
near a wall: x_i - x_j <= W bounds the differences of neighbours between i and j, and x_i + x_j <= W or x_i <= W bound
the last coordinate.)

Touches that leave D are pushed like others. Their targets are in a margin of the table, and are discarded when they
would be born; so are cells outside of the universe. Being SEALED by then, each is discarded once.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import State
from gpu_nim.backends.shared.cells import CellEngine, cell_dtype, coordinate_dtype
from gpu_nim.backends.shared.layouts import Layout
from gpu_nim.model.digest import checksum
from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.rule import Cells, Rule, Symmetry

_FRESH, _SEALED, _ONCE = np.uint8(0), np.uint8(1), np.uint8(2)
_BLOCK = 1 << 15  # newborns pushed at a time: keys, targets and states stay in the second-level cache
_NEWBORN_BYTES = 250  # a share of the arrays of a step: 80 to 215 measured, ghosts and mirrors included


def supports(rule: Rule) -> bool:
    """Return whether this engine grows the rule: births on exactly one touch, 2 or 3 dimensions, no `touches`.

    >>> supports(Rule(2, ((1, 0),), births=frozenset({1}), seeds=((0, 0),)))
    True
    """
    return rule.exactly_one and rule.dimension in (2, 3) and rule.touches is None


def planned_newborns(rule: Rule, last: int) -> int:
    """Return the planned number of newborns of a generation of the domain: its share of the box's surface.

    Births have no better bound than the volume, which cubic8 approaches in some generations.  A step with more newborns checks
    its memory before it starts.
    """
    layout = Layout(rule, last)
    widths = [high - low + 1 for low, high in zip(layout.lower, layout.upper, strict=True)]
    surface = sum(2 * math.prod(widths) // width for width in widths) >> layout.even
    return surface if rule.symmetry is Symmetry.NONE else surface // (2 * rule.dimension)


def required_bytes(rule: Rule, last: int) -> int:
    """Return the planned bytes of growing `rule` to generation `last`: the table, and a step's arrays.

    >>> edges = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    >>> required_bytes(Rule(2, edges, frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE), last=10**4) < 60e6
    True
    """
    return Layout(rule, last).size + _NEWBORN_BYTES * planned_newborns(rule, last)


class ExactlyOneEngine(CellEngine):
    """A growth of a rule that `supports` admits, to at most generation `last`, from its seeds or from a state.

    UsageError for another rule; InsufficientMemoryError, before anything is allocated, when `required_bytes` are not available,
    and before a step that needs more than was planned and is available.

    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> ExactlyOneEngine(square, 10).advance(6).births.tolist()  # A147582
    [1, 4, 4, 12, 4, 12, 12]
    """

    def __init__(self, rule: Rule, last: int, state: State | None = None) -> None:
        super().__init__(rule, last)
        if not supports(rule):
            raise UsageError(
                f"rule must have births {{1}}, 2 or 3 dimensions and no touches, got births {sorted(rule.births)}, "
                f"{rule.dimension} dimensions and touches {rule.touches}"
            )
        require_memory(required_bytes(rule, last), host_memory(), f"a growth to generation {last}")
        self._planned = planned_newborns(rule, last)
        self._layout = Layout(rule, last)
        self._jumps = sorted(map(self._layout.jump, rule.offsets))
        self._dtype, self._cell_dtype = coordinate_dtype(*rule.box(last)), cell_dtype(*rule.box(last))
        self._group = rule.symmetry.transformations(rule.dimension)
        self._table = np.zeros(self._layout.size, np.uint8)
        self._take(np.zeros((rule.dimension, 0), np.int64))
        if state is not None:
            self._restore(state)

    def state(self) -> State:
        """Return the generation, its newborns' representatives, the table as bits, and the `last` it is made for."""
        return {
            "generation": np.array(self.generation),
            "newborns": self._coordinates.T.astype(self._dtype),
            "last": np.array(self.last),
            "sealed": np.packbits(self._table),
        }

    def _restore(self, state: State) -> None:
        self.generation = int(state["generation"])
        planned = int(state["last"])
        packed = state["sealed"].view(np.uint8)
        if planned == self.last:
            self._table = np.unpackbits(packed, count=self._layout.size)
        else:
            layout = Layout(self.rule, planned)
            for start in range(0, len(packed), _BLOCK):
                keys = np.flatnonzero(np.unpackbits(packed[start : start + _BLOCK])) + 8 * start
                sealed = layout.decode(keys)
                self._table[self._layout.encode(sealed[:, self._layout.holds(sealed)])] = _SEALED
        self._take(np.ascontiguousarray(state["newborns"].T).astype(np.int64))

    def _lay(self) -> None:
        seeds = np.array(self.rule.seeds, np.int64)
        self._take(np.unique(self.rule.symmetry.representative(seeds), axis=0).T)
        self._table[self._keys] = _SEALED

    def _step(self) -> None:
        table = self._table
        pushers = np.concatenate((self._keys, self._ghosts))
        if len(pushers) > self._planned:
            require_memory(_NEWBORN_BYTES * len(pushers), host_memory(), f"generation {self.generation + 1}")
        touched: list[NDArray[np.int64]] = []
        for start in range(0, len(pushers), _BLOCK):
            block = pushers[start : start + _BLOCK]
            for jump in self._jumps:
                targets = block + jump
                states = table[targets]
                fresh = targets[states == _FRESH]
                table[fresh] = _ONCE
                touched.append(fresh)
                table[targets[states == _ONCE]] = _SEALED
        candidates = np.concatenate(touched) if touched else np.zeros(0, np.int64)
        born = candidates[table[candidates] == _ONCE]
        table[born] = _SEALED
        coordinates = self._layout.decode(born)
        kept = self._in_domain(coordinates)
        if not kept.all():
            coordinates, born = coordinates[:, kept], born[kept]
        self._take(coordinates, born)

    def _take(self, coordinates: NDArray[np.int64], keys: NDArray[np.int64] | None = None) -> None:
        """Set the newborns: their keys, their orbits' sizes, their ghosts."""
        self._coordinates = coordinates
        self._keys = self._layout.encode(coordinates) if keys is None else keys
        self._weights = np.full(coordinates.shape[1], self.rule.symmetry.order(self.rule.dimension))
        self._ghosts = np.zeros(0, np.int64)
        if self.rule.symmetry is not Symmetry.NONE:
            heights = self._heights(coordinates)
            near = np.flatnonzero((heights <= 2 * self._layout.reach).any(axis=0))
            if len(near):
                self._weights[near] = self.rule.symmetry.orbit_size(coordinates[:, near].T)
                self._ghosts = self._reflect(coordinates[:, near], heights[:, near])

    def _heights(self, coordinates: NDArray[np.int64]) -> NDArray[np.int64]:
        """How far above each wall of the fundamental domain the cells are, shape (walls, N)."""
        heights = coordinates.copy()
        heights[:-1] -= coordinates[1:]
        return heights if self.rule.symmetry is Symmetry.CUBE else heights[:-1]

    def _in_domain(self, coordinates: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each cell is in the fundamental domain and in the universe."""
        inside = np.ones(coordinates.shape[1], np.bool_)
        if self.rule.symmetry is not Symmetry.NONE:
            for axis in range(self.rule.dimension - 1):
                inside &= coordinates[axis] >= coordinates[axis + 1]
            if self.rule.symmetry is Symmetry.CUBE:
                inside &= coordinates[-1] >= 0
        if self.rule.octant:
            for x in coordinates:
                inside &= x >= 0
        if self.rule.universe is not None:
            inside &= self.rule.universe(coordinates.T)
        return inside

    def _reflect(self, near: NDArray[np.int64], heights: NDArray[np.int64]) -> NDArray[np.int64]:
        """The keys of the ghosts of these newborns, which are near some wall."""
        close = heights <= 2 * self._layout.reach
        several = np.count_nonzero(close, axis=0) > 1
        ghosts = []
        for wall in range(len(close)):
            # A cell on the wall is its own reflection.
            image = near[:, close[wall] & ~several & (heights[wall] > 0)]
            if wall == self.rule.dimension - 1:
                image[wall] *= -1
            else:
                image[[wall, wall + 1]] = image[[wall + 1, wall]]
            ghosts.append(self._layout.encode(image))
        images = (self._group @ near[:, several]).transpose(1, 0, 2).reshape(self.rule.dimension, -1)
        lowest = self._heights(images).min(axis=0)
        outside = images[:, (lowest < 0) & (lowest >= -2 * self._layout.reach)]
        ghosts.append(np.unique(self._layout.encode(outside[:, self._reaches(outside)])))
        return np.concatenate(ghosts)

    def _reaches(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each cell's touches all have places in the table."""
        layout = self._layout
        inside = np.ones(cells.shape[1], np.bool_)
        for x, low, high in zip(cells, layout.lower, layout.upper, strict=True):
            inside &= (x >= low + layout.reach) & (x <= high - layout.reach)
        return inside

    def _survey(self) -> tuple[int, int]:
        return int(self._weights.sum()), checksum(self._coordinates.T, self._weights)

    def _cells(self) -> Cells:
        # Unfolding sorts, and short integers are sorted several times faster.
        cells: Cells = self.rule.symmetry.unfold(self._coordinates.T.astype(self._dtype)).astype(self._cell_dtype, copy=False)
        return cells

    def _section(self, axis: int, value: int) -> int:
        return int(self.rule.symmetry.section_size(self._coordinates.T, axis, value).sum())
