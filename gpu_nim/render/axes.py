"""Axes: the coordinates of an object, along edges of its bounding box.

Each axis is an edge on the outline of the box as it is seen, so that no part of the object is before or behind it, whatever draws
it; there are ticks at both ends, at 0 and at the powers of two. An axis that is seen end on is left out.
"""

from cmath import exp
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby, product
from math import pi

import numpy as np
from numpy.typing import NDArray

from gpu_nim.render.drawing import DROP, RISE, Drawing, beside
from gpu_nim.render.geometry import CORNERS, Blocks
from gpu_nim.render.words import number, text_width

#: Maps points (N, 3) to the drawing: to the right and downwards from its upper left corner, (N, 2).
Projection = Callable[[NDArray[np.floating]], NDArray[np.floating]]

TICK = 0.45  # of the size of letters: the length of a tick
_GAP = 0.25  # of the size: between a tick and its label
_CORNER = 2.5  # sizes: equal values of two axes whose ticks are nearer have one label
_GREATEST = 7  # values: both ends, 0, and two powers of two of both signs
_SHORTEST = 1.5  # sizes: an axis that is seen shorter has no labels, and is left out
_AROUND = tuple(exp(1j * angle * pi / 6) for angle in (0, 1, -1, 2, -2, 3, -3, 4, -4))  # directions of the label of an end
_BEYOND = (2.0, 3.0, 4.0)  # sizes: from an axis to its name, where labels are in between
_LONG = 10  # sizes: axes that have room for a power of two beside their names
_MIDDLE = (0.5, 0.4, 0.6, 0.3, 0.7)  # of an axis, where its name is then
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
    slanted, steps = blocks.lattice != "square", np.eye(3)
    if blocks.flat:
        steps[2, 2] = 0.0
    if slanted:
        steps[1, :2] = 0.5, 3**0.5 / 2
    return CoordinateBox(*blocks.extent(), blocks.coordinates[: 2 if blocks.flat else 3], steps, size=0 if slanted else 1)


def tick_values(low: int, high: int, few: int = 0) -> tuple[int, ...]:
    """Return the values with ticks, the most important first.

    They are the ends of a range, and within it 0 and the powers of two, of both signs; or all values, if there are so few.

    >>> tick_values(0, 20), tick_values(-2, 3), tick_values(5, 7), tick_values(33, 64), tick_values(0, 0)
    ((20, 0, 16, 8, 4, 2, 1), (3, -2, 0, 2, -1, 1), (7, 5), (64, 33), (0,))
    >>> tick_values(5, 8, few=4)
    (8, 5, 7, 6)
    """
    powers = (1 << m for m in reversed(range(max(abs(low), abs(high)).bit_length())))
    some = (v for v in (0, *(v for power in powers for v in (-power, power))) if low <= v <= high)
    found = range(high, low, -1) if high - low < few else some
    return tuple(dict.fromkeys((high, low, *found)))


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
        edges: list[tuple[float, Axis]] = []
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
            edges.append((worth, Axis(name, start, end, outward, values, np.asarray(project(box.points(points))))))
        if edges:
            found.append(max(edges, key=lambda edge: edge[0])[1])
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
    """Draw the axes of a box, with no label that would overlap another or leave the drawing.

    The ends come first, then 0, on the axes that reach below it and once on the others; on long axes the greatest power of two; the
    names; and other powers. A power of two and its negative are both on an axis, or neither.

    Args:
        box: the box.
        project: where its points are seen; not finite for points behind the eye.
        drawing: what they are drawn on.
        size: of the letters.
    """
    axes = axes_of(box, project, size)
    labels = _labels(axes, size)
    ends = {value for axis in axes for value in axis.values[:2]}
    for axis in axes:
        drawing.thin_line(axis.start.tolist(), axis.end.tolist(), size)
    for label in labels:
        if label.value in ends and label.value:
            _draw_together([label], drawing, size, _AROUND)
    zeros = sorted((label for label in labels if not label.value), key=lambda label: (label.inside, len(label.ticks)), reverse=True)
    for label in zeros[: sum(zero.inside for zero in zeros) + 1]:
        _draw_together([label], drawing, size)
    powers = sorted((label for label in labels if label.value not in {0, *ends}), key=_power)
    groups = [list(group) for _, group in groupby(powers, key=_power)]
    first = len(axes) if all(np.linalg.norm(axis.end - axis.start) > _LONG * size for axis in axes) else 0
    for group in groups[:first]:
        _draw_together(group, drawing, size)
    for axis in axes:
        _draw_name(axis, drawing, size)
    for group in groups[first:]:
        _draw_together(group, drawing, size)
    for axis in axes:
        drawing.keep_off(axis.start.tolist(), axis.end.tolist())


@dataclass
class _Label:
    """The label of a value.

    Args:
        value: the value.
        at: its position on the axis, (2,).
        outward: the unit vector away from the object, (2,).
        ticks: both ends of its ticks, (N, 2, 2): of several axes, whose position and direction are between theirs.
        inside: whether its axis has less, too.
        axis: the number of the first of its axes.
    """

    value: int
    at: NDArray[np.floating]
    outward: NDArray[np.floating]
    ticks: list[NDArray[np.floating]]
    inside: bool
    axis: int


def _power(label: _Label) -> tuple[int, int]:
    return -abs(label.value), label.axis


def _labels(axes: list[Axis], size: float) -> list[_Label]:
    """Return the labels of axes, one for equal values that are near each other."""
    found: list[_Label] = []
    for place, axis in enumerate(axes):
        for value, at in zip(axis.values, axis.positions, strict=True):
            tick = np.array([at, at + axis.outward * TICK * size])
            same = (label for label in found if label.value == value and np.linalg.norm(label.at - at) < _CORNER * size)
            if label := next(same, None):
                outward = label.outward + axis.outward
                label.at, label.outward = (label.at + at) / 2, outward / np.linalg.norm(outward)
                label.ticks.append(tick)
            else:
                found.append(_Label(value, at, axis.outward, [tick], min(axis.values) < value, place))
    return found


def _draw_together(labels: list[_Label], drawing: Drawing, size: float, turns: tuple[complex, ...] = (1,)) -> None:
    """Draw labels with their ticks, or none of them where one has no space, outwards or in another of some directions."""
    taken, placed = [*drawing.taken], []
    for label in labels:
        text = number(label.value)
        for way in (_turned(label.outward, turn) for turn in turns):
            middle = beside(text, label.at + label.outward * TICK * size + way * _GAP * size, way, size)
            if (found := drawing.box_of(text, middle, size)) is not None:
                break
        else:
            drawing.taken = taken
            return
        drawing.taken.append(found)
        placed.append((text, middle))
    for start, end in (tick.tolist() for label in labels for tick in label.ticks):
        drawing.thin_line(start, end, size)
    for text, middle in placed:
        drawing.words(text, middle, size, anchor="center")


def _turned(outward: NDArray[np.floating], turn: complex) -> NDArray[np.floating]:
    """A direction, as a complex number, turned and stretched by another."""
    way = complex(*outward) * turn
    return np.array([way.real, way.imag])


def _draw_name(axis: Axis, drawing: Drawing, size: float) -> None:
    """Write the name of an axis in the widest gap between its values that fits, or else beyond them, near its middle."""
    ticks = np.array([axis.start, *axis.positions[:_GREATEST], axis.end])
    ticks = ticks[np.argsort(ticks @ (axis.end - axis.start))]
    gaps = np.linalg.norm(np.diff(ticks, axis=0), axis=1) // size
    order = np.argsort(gaps, kind="stable")[::-1]  # of equal ones, the last first
    between = [(at, TICK + _GAP) for at in (ticks[order] + ticks[order + 1]) / 2]
    beyond = [(axis.start + share * (axis.end - axis.start), away) for away in _BEYOND for share in _MIDDLE]
    wide = int((gaps > 0).sum())  # others are at an end
    places = between[:wide] + beyond + between[wide:]
    for at, away in places:
        if drawing.label(axis.name, beside(axis.name, at + axis.outward * away * size, axis.outward, size), size):
            return
