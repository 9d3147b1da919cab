"""The layers of exactly-one growth on the host: what a rank owns, and the places of cells in its table.

A layer is the cells of the fundamental domain with one value of coordinate 1, c. Along this axis births are spread most evenly
(`gpunim bench ranks`), and boxes fit the domain best: in that of `edge`, a layer is c <= x_0 <= n and 0 <= x_2 <= min(c,
2(n - c)), so that the boxes of all layers have 1.07 times the cells of the domain, where one box has 4.8 times as many.

Boxes. A growth lies within f.x <= max f.seed + last max f.offset for every functional f. Those with coefficients -1, 0 and 1, and
the walls of the domain, bound x_0 and x_2 in each layer by intervals: what one functional leaves to a coordinate, when the others
are at the ends of their intervals. A table also has places for all cells that are touched. These are within `margin` of a newborn
along each axis (`touch_margin`). So the interval of a layer is the union of those of the layers within `margin`, longer by `margin`
at both ends.

Places. A layer's cells follow one another by x_2, then by x_0; where the growth has only cells of even sum, every second x_0 has a
place, and its parity is that of c + x_2. Layers follow one another, each from a multiple of 256, so that their bits are whole bytes
of a state. After them are places that are never free: there is whatever lies in another layer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.shared.domain import Box, domain_box, touch_margin
from gpu_nim.backends.shared.owners import owners
from gpu_nim.model.arrays import Ints
from gpu_nim.model.rule import Cells, Rule, Symmetry

AXIS = 1
"""The coordinate that layers have in common."""
MAX_LAYERS = 1 << 20
_LOG_ALIGNED = 8
_ALIGNED = 1 << _LOG_ALIGNED  # places
_LAYER_BYTES = 200  # of the arrays over all layers


class Layers:
    """The boxes of the layers of a growth to generation `last`.

    Arrays over layers have `margin` entries more at both ends, for touches that leave the domain.

    Attributes:
        reach: the largest coordinate of an offset, without its sign.
        first: c of the entry 0 of arrays over layers.
        numbers: the entries of layers of the domain.
        low: the least (x_0, x_2) in each layer, the former halved where sums are even; x_2 is 0 in the plane.
        high: likewise the greatest.
        widths: how many x_0 have places.
        sizes: the places of each layer.
        beyond: the places after all layers that are never free.
    """

    def __init__(self, rule: Rule, last: int) -> None:
        self.dimension, self.even = rule.dimension, rule.even_sum
        self.reach, margin = rule.reach, touch_margin(rule)
        low, high = _intervals(rule, last)
        self.first, count = int(low[AXIS][0]) - margin, len(low[AXIS])
        self.numbers = np.arange(margin, margin + count)
        corners = np.zeros((2, 2, count + 2 * margin), np.int64)
        for place, axis in enumerate((0, 2)[: rule.dimension - 1]):
            corners[0, place, self.numbers] = -spread(-low[axis], margin) - margin
            corners[1, place, self.numbers] = spread(high[axis], margin) + margin
        corners[:, 0] >>= self.even
        self.low, self.high = corners
        self.widths, heights = self.high - self.low + 1
        self.sizes = self.widths * heights + _ALIGNED - 1 & -_ALIGNED
        self.sizes[: self.numbers[0]] = self.sizes[self.numbers[-1] + 1 :] = 0
        self.beyond = int(self.high[0].max()) - int(self.low[0].min()) + 1

    def owners(self, ranks: int) -> Ints:
        """Return which of some ranks owns each layer of the domain, those of `numbers`."""
        return owners(len(self.numbers), self.reach, ranks)

    def split(self, cells: Cells) -> tuple[Ints, Ints, Ints]:
        """Return the entry of the layer, x_0 and x_2 of cells of shape (dimension, N)."""
        return cells[AXIS] - self.first, cells[0], cells[2] if self.dimension == 3 else np.zeros_like(cells[0])

    def cover(self, cells: Cells) -> NDArray[np.bool_]:
        """Return whether each cell, of shape (dimension, N), has a place: even sums where all are, in the box of a layer."""
        entry, x_0, x_2 = self.split(cells)
        inside: NDArray[np.bool_] = (entry >= self.numbers[0]) & (entry <= self.numbers[-1])
        entry = np.where(inside, entry, 0)
        for x, low, high in zip((x_0 >> self.even, x_2), self.low, self.high, strict=True):
            inside &= (low[entry] <= x) & (x <= high[entry])
        if self.even:
            inside &= cells.sum(axis=0) % 2 == 0
        return inside


class Places:
    """The places of the cells of some layers in one table: cell (x_0, c, x_2) is at origin + stride x_2 + x_0, of its layer.

    Args:
        layers: the boxes.
        held: the entries of these layers, in the order in which they follow one another.
        lookup: whether many cells in no order are decoded.

    Attributes:
        stop: the places of layers; `size` of all.
        holds: whether each layer is among them, or outside of the domain.
        origins, strides: of each layer; x_0 counts halved where sums are even.

    >>> from gpu_nim.model.rule import Rule
    >>> edges = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    >>> layers = Layers(Rule(2, edges, frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE), last=4)
    >>> places = Places(layers, layers.numbers)
    >>> places.decode(places.encode(np.array([[4, 2], [2, 0]])))
    array([[4, 2],
           [2, 0]])
    """

    def __init__(self, layers: Layers, held: Ints, *, lookup: bool = False) -> None:
        self.layers, self.held = layers, held
        sizes = layers.sizes[held]
        stops = np.cumsum(sizes)
        self.starts = stops - sizes
        self.stop = int(stops[-1]) if len(stops) else 0
        self.size = self.stop + layers.beyond
        self.holds = np.ones(len(layers.sizes), np.bool_)
        self.holds[layers.numbers] = False
        self.origins, self.strides = (
            np.full(len(layers.sizes), self.stop - int(layers.low[0].min())),
            np.zeros(len(layers.sizes), np.int64),
        )
        self.holds[held], self.strides[held] = True, layers.widths[held]
        self.origins[held] = self.starts - layers.low[1, held] * layers.widths[held] - layers.low[0, held]
        self._first = np.zeros(len(layers.sizes), np.int64)
        self._first[held] = self.starts
        self._entries = np.repeat(held.astype(np.int32), sizes >> _LOG_ALIGNED) if lookup else None

    def before(self, entry: int) -> int:
        """Return the first place of the layers from this one on, if they are held in ascending order."""
        order = int(np.searchsorted(self.held, entry))
        return int(self.starts[order]) if order < len(self.held) else self.stop

    def encode(self, cells: Cells) -> Ints:
        """Return the places of cells of these layers, shape (dimension, N)."""
        entry, x_0, x_2 = self.layers.split(cells)
        places: Ints = self.origins[entry] + self.strides[entry] * x_2 + (x_0 >> self.layers.even)
        return places

    def decode(self, places: Ints) -> Ints:
        """Return the cells at these places, shape (dimension, N)."""
        layers = self.layers
        if self._entries is None:
            entry = self.held[np.searchsorted(self.starts, places, side="right") - 1]
        else:
            entry = self._entries[places >> _LOG_ALIGNED].astype(np.int64)
        cells = np.empty((layers.dimension, len(places)), np.int64)
        c = np.add(entry, layers.first, out=cells[AXIS])
        x_0 = np.subtract(places, self._first[entry], out=cells[0])
        if layers.dimension == 3:
            widths = layers.widths[entry]
            # Below 2^53 a quotient that is no integer is not rounded up to one: it is 1 / width away, and its error less than that.
            cells[2] = x_2 = (x_0 / widths).astype(np.int64)
            x_0 -= x_2 * widths
            cells[2] += layers.low[1, entry]
        x_0 += layers.low[0, entry]
        if layers.even:
            parity = c + cells[2] if layers.dimension == 3 else c
            x_0 += x_0 + (parity & 1)
        return cells


def table_bytes(rule: Rule, last: int, ranks: int = 1) -> int:
    """Return the bytes of the largest table among this many ranks, a byte a place.

    >>> edges = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    >>> table_bytes(Rule(2, edges, frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE), last=10**4) < 28e6
    True
    """
    box = Box(rule, last)
    if _layers(box) > MAX_LAYERS or box.size > 1 << 60:
        return box.size // ranks
    layers = Layers(rule, last)
    shares = np.bincount(layers.owners(ranks), layers.sizes[layers.numbers], ranks)
    return int(shares.max()) + layers.beyond


def index_bytes(rule: Rule, last: int, ranks: int = 1) -> int:
    """Return the bytes of what finds places in such a table: arrays over layers, and the layer of each run of places."""
    return 4 * table_bytes(rule, last, ranks) // _ALIGNED + _LAYER_BYTES * _layers(Box(rule, last))


def _layers(box: Box) -> int:
    return box.upper[AXIS] - box.lower[AXIS] + 1


def spread(values: Ints, distance: int) -> Ints:
    """Return the maximum over the entries within this distance of each.

    >>> spread(np.array([0, 0, 0, 5, 0, 0]), 2).tolist()
    [0, 5, 5, 5, 5, 5]
    """
    reached = 0
    while reached < distance:
        step = min(max(reached, 1), distance - reached)
        padded = np.pad(values, step, mode="edge")
        values = np.maximum(np.maximum(padded[: len(values)], padded[2 * step :]), values)
        reached += step
    return values


def _intervals(rule: Rule, last: int) -> tuple[list[Ints], list[Ints]]:
    """The corners, both included, of a box of each layer that holds its part of the growth, by coordinate."""
    lower, upper = domain_box(rule, last)
    c = np.arange(lower[AXIS], upper[AXIS] + 1, dtype=np.int64)
    low, high = [np.full_like(c, bound) for bound in lower], [np.full_like(c, bound) for bound in upper]
    low[AXIS] = high[AXIS] = c
    for _ in range(rule.dimension):
        for functional, most in _bounds(rule, last):
            for axis, sign in enumerate(functional):
                if sign and axis != AXIS:
                    rest = sum(low[j] if f > 0 else -high[j] for j, f in enumerate(functional) if f and j != axis)
                    if sign > 0:
                        high[axis] = np.minimum(high[axis], most - rest)
                    else:
                        low[axis] = np.maximum(low[axis], rest - most)
    # A layer that the growth does not reach keeps one cell.
    return low, [np.maximum(top, bottom) for top, bottom in zip(high, low, strict=True)]


def _bounds(rule: Rule, last: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Functionals, and what each is at most on the cells of the domain that are alive at `last`."""
    for f in product((-1, 0, 1), repeat=rule.dimension):
        if any(f):
            value = partial(_product, f)
            yield f, max(map(value, rule.seeds)) + last * max(0, *map(value, rule.offsets))
    if rule.symmetry is not Symmetry.NONE:
        for axis in range(rule.dimension - 1):
            yield tuple((j == axis + 1) - (j == axis) for j in range(rule.dimension)), 0


def _product(f: tuple[int, ...], cell: tuple[int, ...]) -> int:
    return sum(a * x for a, x in zip(f, cell, strict=True))
