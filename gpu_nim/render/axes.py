"""Axes: the coordinates of an object, along edges of its bounding box.

Each axis is an edge on the outline of the box as it is seen, so that no part of the object is before or behind it, whatever draws
it; there are ticks at 0 and at the powers of two. An axis that is seen end on is left out.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.render.drawing import DROP, RISE, Drawing, Point, beside
from gpu_nim.render.geometry import CORNERS, Blocks
from gpu_nim.render.words import number, text_width

#: Maps points (N, 3) to the drawing: to the right and downwards from its upper left corner, (N, 2).
Projection = Callable[[NDArray[np.floating]], NDArray[np.floating]]

TICK = 0.45  # of the size of letters: the length of a tick
_GAP = 0.25  # of the size: between a tick and its label
_TURNS = (0.0, 0.7, -0.7, 1.2, -1.2)  # radians: from the tick's direction to the labels of 0 and the greatest powers
_FARTHER = 0.4  # of the size: how much farther a label is a radian that it is turned
_SHORTEST = 1.5  # sizes: an axis that is seen shorter has no labels, and is left out
_OUTSIDE = 1e-3  # of an edge's length: corners that far beyond an edge are rounding errors


@dataclass(frozen=True)
class Axis:
    """An axis as it is seen.

    Args:
        name: the coordinate's name.
        start: its lower end in the drawing, (2,).
        end: its upper end, (2,).
        outward: the unit vector away from the object, (2,).
        values: the values with ticks, the most important first.
        positions: their positions in the drawing, (N, 2).
    """

    name: str
    start: NDArray[np.floating]
    end: NDArray[np.floating]
    outward: NDArray[np.floating]
    values: tuple[int, ...]
    positions: NDArray[np.floating]


@dataclass(frozen=True)
class CoordinateBox:
    """The box of an object, with coordinates along its edges.

    Args:
        low: the least coordinates, (3,).
        high: the greatest, (3,).
        names: the coordinates' names; an axis without a name is left out.
        steps: where a step in each coordinate leads, (3, 3), one a row.
        size: of a cell, which reaches from its coordinates to these and the size; 0 for cells around their coordinates.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    names: tuple[str, ...]
    steps: NDArray[np.float64]
    size: int = 1

    def points(self, coordinates: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the points of coordinates (N, 3) in space."""
        return np.asarray(coordinates @ self.steps)

    def corners(self) -> NDArray[np.floating]:
        """Return the eight corners, (8, 3), in the order of `geometry.CORNERS`."""
        return self.points(np.where(CORNERS, self.high + self.size, self.low).astype(np.float64))


def box_of(blocks: Blocks) -> CoordinateBox:
    """Return the box of blocks: in space, in the plane, or along the axes of a hexagonal or triangular lattice."""
    low, high = blocks.extent()
    steps = np.eye(3)
    if not blocks.flat:
        return CoordinateBox(low, high, blocks.coordinates[:3], steps)
    steps[2, 2] = 0.0
    if blocks.lattice == "square":
        return CoordinateBox(low, high, blocks.coordinates[:2], steps)
    steps[1, :2] = 0.5, 3**0.5 / 2
    return CoordinateBox(low, high, blocks.coordinates[:2], steps, size=0)


def tick_values(low: int, high: int) -> tuple[int, ...]:
    """Return the values with ticks: 0 and the powers of two, of both signs, within a range, or else its ends; great ones first.

    >>> tick_values(0, 20), tick_values(-2, 3), tick_values(5, 7), tick_values(33, 64), tick_values(0, 0)
    ((0, 16, 8, 4, 2, 1), (0, -2, 2, -1, 1), (5, 7), (64,), (0,))
    """
    powers = (1 << m for m in reversed(range(max(abs(low), abs(high)).bit_length())))
    found = tuple(v for v in (0, *(v for power in powers for v in (-power, power))) if low <= v <= high)
    return found or tuple(dict.fromkeys((low, high)))


def axes_of(box: CoordinateBox, project: Projection, letters: float) -> list[Axis]:
    """Return the axes that are on the outline of a box, one a coordinate, or none for one that is seen too short.

    Args:
        box: the box.
        project: where its points are seen.
        letters: the size of letters.
    """
    seen = np.asarray(project(box.corners()), dtype=np.float64).reshape(2, 2, 2, 2)
    corners = seen.reshape(8, 2)
    found: list[Axis] = []
    for axis, name in enumerate(box.names):
        best: tuple[float, Axis] | None = None
        for others in product((0, 1), repeat=2):
            first, second = (tuple(np.insert(others, axis, end).tolist()) for end in (0, 1))
            start, end = seen[first], seen[second]
            outward = _outward(start, end, corners)
            length = float(np.linalg.norm(end - start))
            if outward is None or length < _SHORTEST * letters:
                continue
            values = tick_values(int(box.low[axis]), int(box.high[axis]))
            fixed = np.array([(box.low, box.high + box.size)[which][k] for k, which in enumerate(first)], dtype=np.float64)
            points = np.tile(fixed, (len(values), 1))
            points[:, axis] = np.array(values) + box.size / 2
            # Apart from other axes, through the least coordinates where that can be, else below or to the left of the object.
            over = any(np.linalg.norm(start + end - other.start - other.end) < letters for other in found)
            worth = 2.0 * (others == (0, 0)) + float(outward @ (-0.3, 1.0)) - 8.0 * over
            if best is None or worth > best[0]:
                best = worth, Axis(name, start, end, outward, values, np.asarray(project(box.points(points))))
        if best is not None:
            found.append(best[1])
    return found


def _outward(start: NDArray[np.floating], end: NDArray[np.floating], corners: NDArray[np.floating]) -> NDArray[np.floating] | None:
    """Return the unit normal of an edge that points away from all corners (N, 2), or None where they are on both sides of it."""
    length = float(np.linalg.norm(end - start))
    if not np.isfinite(corners).all() or length < 1e-9:
        return None
    along = (end - start) / length
    normal = np.array([-along[1], along[0]])
    heights = (corners - start) @ normal
    if heights.max() > _OUTSIDE * length and heights.min() < -_OUTSIDE * length:
        return None
    return normal if -heights.min() >= heights.max() else -normal


def reach(box: CoordinateBox, size: float) -> tuple[float, float]:
    """Return how far labels of that size reach beyond an object's box at most: to the sides, and up and down."""
    values = (value for low, high in zip(box.low, box.high, strict=True) for value in tick_values(int(low), int(high)))
    widest = max(text_width(name, size) for name in (*box.names, *map(number, values)))
    return (TICK + 2 * _GAP) * size + widest, (TICK + 2 * _GAP + RISE + DROP) * size


def draw_axes(box: CoordinateBox, project: Projection, drawing: Drawing, size: float) -> None:
    """Draw the axes of a box; labels that would overlap others or leave the drawing are left out, with their ticks.

    Of a power of two and its negative both are labelled or none, and no tick stands for another that has no space.

    Args:
        box: the box.
        project: where its points are seen; not finite for points behind the eye.
        drawing: what they are drawn on.
        size: of the letters.
    """
    axes, taken = axes_of(box, project, size), drawing.taken
    for first in (2, 1, 0):  # values that come before the names, fewer where a name has no space else
        drawing.taken = [*taken]
        labels = _Labels(drawing, size)
        for rank, axis in product(range(first), axes):
            labels.ticks(axis, rank, rank + 1)
        named = [labels.name(axis) for axis in axes]
        for axis in axes:
            labels.ticks(axis, first, len(axis.values))
        if all(named):
            break
    for axis in axes:
        drawing.thin_line(axis.start.tolist(), axis.end.tolist(), size)
    labels.draw()
    for axis in axes:
        drawing.keep_off(axis.start.tolist(), axis.end.tolist())


class _Labels:
    """The labels of axes, laid out before they are drawn."""

    def __init__(self, drawing: Drawing, size: float) -> None:
        self._drawing, self._size = drawing, size
        self._found: list[tuple[str, Point]] = []
        self._lines: list[tuple[list[float], list[float]]] = []
        self._lost: dict[str, list[NDArray[np.floating]]] = {}

    def _place(self, text: str, at: NDArray[np.floating], outward: NDArray[np.floating], turns: Iterable[float] = (0.0,)) -> bool:
        """Take the first free position beside a point, in a direction or turned from it, and return whether there is one."""
        for turn in turns:
            cos, sin = np.cos(turn), np.sin(turn)
            away = np.array([[cos, -sin], [sin, cos]]) @ outward
            middle = beside(text, at + away * abs(turn) * _FARTHER * self._size, away, self._size)
            if taken := self._drawing.box_of(text, middle, self._size):
                self._drawing.taken.append(taken)
                self._found.append((text, middle))
                return True
        return False

    def ticks(self, axis: Axis, first: int, stop: int) -> None:
        """Lay out some of an axis's values, of which each and its negative count as one."""
        lost = self._lost.setdefault(axis.name, [])
        for size in list(dict.fromkeys(map(abs, axis.values)))[first:stop]:
            found = {value: at for value, at in zip(axis.values, axis.positions, strict=True) if abs(value) == size}
            count = len(self._found), len(self._drawing.taken)
            for value, at in found.items():
                end, away = at + axis.outward * TICK * self._size, axis.outward
                hidden = any(np.linalg.norm(at - other) < self._size for other in lost)
                if hidden or not self._place(number(value), end + away * _GAP * self._size, away, _TURNS if first < 2 else (0.0,)):
                    del self._found[count[0] :], self._drawing.taken[count[1] :]
                    lost.extend(found.values())
                    break
            else:
                self._lines += [(at.tolist(), (at + axis.outward * TICK * self._size).tolist()) for at in found.values()]

    def name(self, axis: Axis) -> bool:
        """Lay out the name of an axis, between two ticks where it fits, and return whether there is space."""
        steps = [part for k in range(1, 8) for part in ((8 + k) / 16, (8 - k) / 16)]
        for part in (0.75, 0.5, *steps):
            at = axis.start + part * (axis.end - axis.start)
            clear = np.linalg.norm(axis.positions - at, axis=1).min() > self._size or part not in (0.75, 0.5)
            if clear and self._place(axis.name, at + axis.outward * (TICK + _GAP) * self._size, axis.outward):
                return True
        return False

    def draw(self) -> None:
        """Draw the labels, and the ticks of those that have one."""
        for start, end in self._lines:
            self._drawing.thin_line(start, end, self._size)
        for text, at in self._found:
            self._drawing.words(text, at, self._size, anchor="center")
