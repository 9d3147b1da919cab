"""Rays through a scene, all lanes at a time, each step out of the largest cube that is known to be empty.

Coordinates against which a ray moves are complemented, c -> -1 - c: aligned cubes stay aligned cubes, and all rays go up. A ray is
in cell c at distance t. With h the level of the empty cube round c, the last cell before its far sides is f = c | (2^h - 1), and
side k is met at

    t_k = ((f_k + 1 - E_k) - e_k) / d_k,

where E, e is the start: the difference of integers is exact, and small near the start. The ray goes on at the least t_k in cell
f_k + 1 on that axis, and on the others in E + floor(e + t d), held between c and f. So each step goes on by a cell or more, and
every ray ends. `cuda/trace.cu` does the same in the same order, to the last bit.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.shared.brick_scenes import LEAST, TOP, exponent, open_levels, power, sums
from gpu_nim.model.arrays import Ints
from gpu_nim.model.tracing import CONE_CUBES, CONE_FARTHEST, START, Cones, Doubles, Hits, NimScene, Rays, Scene
from gpu_nim.model.work import cores

_LANES = 1 << 14  # rays at once: more leave the cache, and fewer cost more calls a ray, between which threads wait for each other
_CROWD = 0.75  # the part of the lanes whose rays go on, below which others take the rest
_SIDES = (1 << np.arange(TOP + 1)) - 1  # of cubes by their levels, less 1


class NumpyTracer:
    """Traces rays through a scene; it may be used by several threads at once."""

    batch = 1 << 16

    def __init__(self, scene: Scene) -> None:
        self._scene, self.threads = scene, cores()
        self._open = open_levels(scene)

    def trace(self, rays: Rays) -> Hits:
        """Return what the rays hit."""
        hits = Hits.empty(len(rays))
        if len(rays):
            self._trace(rays, hits)
        return hits

    def blocked(self, cones: Cones) -> NDArray[np.uint8]:
        """Return how many of the cubes along each cone are in the box and not known to be empty."""
        found = np.zeros((len(cones.steps), len(cones)), np.uint8)
        for start in range(0, len(cones), _LANES):
            self._look(cones, slice(start, start + _LANES), found)
        return found

    def _look(self, cones: Cones, part: slice, found: NDArray[np.uint8]) -> None:
        corner, shape = (np.array(side)[:, None] for side in (self._scene.corner, self._scene.shape))
        first, stop = (np.array(side)[:, None] - corner for side in cones.hole)
        bounds, hole = shape.view(np.uint64), np.maximum(stop - first, 0).view(np.uint64)
        positions, fractions = cones.cells[:, part] - corner, cones.fractions[:, part]
        for further in range(CONE_CUBES):
            level = cones.levels[part].astype(np.int64) + further
            width = power(np.minimum(level, CONE_FARTHEST))
            for number, step in enumerate(cones.steps):
                at = positions + np.floor(fractions + step[:, None] * width).astype(np.int64)
                # As unsigned integers, those below 0 are large.
                full = (at.view(np.uint64) < bounds).all(axis=0) & (self._open(at) < level)
                if hole.any():
                    full &= ~((at - first).view(np.uint64) < hole).all(axis=0)
                found[number, part] += full

    @np.errstate(invalid="ignore")  # until others take the lanes of rays that have ended, these go on, beyond all integers
    def _trace(self, rays: Rays, hits: Hits) -> None:
        excluded = _excluded(self._scene)
        corner, shape = (np.array(part)[:, None] for part in (self._scene.corner, self._scene.shape))
        bounds = shape.view(np.uint64)
        begun = min(_LANES, len(rays))
        lanes = _begin(rays, slice(0, begun), corner, shape)
        going = np.ones(len(lanes), bool)
        while True:
            left = np.flatnonzero(going)
            if len(left) <= _CROWD * len(going) or (len(left) <= _CROWD * _LANES and begun < len(rays)):
                part = slice(begun, min(begun + _LANES - len(left), len(rays)))
                begun = part.stop
                if part.start < part.stop:
                    lanes = lanes.joined(left, _begin(rays, part, corner, shape))
                elif len(left):
                    lanes = lanes.take(left)
                else:
                    return
                going = np.ones(len(lanes), bool)
            e, d, inverse, cell, start, flip, position = lanes.vectors
            t, level, face = lanes.t, lanes.level, lanes.face
            far, beyond, moved, entered, at = lanes.scratch
            free = self._open(position)
            wanted = exponent(t * rays.spread)
            if excluded is not None:
                for tried in (level, np.maximum(level, wanted)):
                    free = np.where(excluded(position, tried), np.maximum(free, tried), free)
            hit = np.flatnonzero((free < level) & going)
            if len(hit):
                going[hit] = False
                number = lanes.number[hit]
                hits.distances[number], hits.faces[number], hits.levels[number] = t[hit], face[hit], level[hit]
                for axis in range(3):
                    hits.cells[axis][number] = position[axis][hit] + corner[axis]
            # A ray switches to coarser cubes only inside an empty one, so that it enters the next through a face.
            np.maximum(level, np.minimum(wanted, free, out=wanted), out=level)
            np.bitwise_or(cell, _SIDES.take(free, mode="clip"), out=far)
            np.add(far, 1, out=beyond)
            at[:] = np.subtract(beyond, start, out=moved)
            at -= e
            at *= inverse
            np.minimum(np.minimum(at[0], at[1]), at[2], out=t)
            _first(at, t, entered, face)
            np.multiply(d, t, out=at)
            at += e
            moved[:] = at
            moved += start
            np.maximum(cell, np.minimum(moved, far, out=moved), out=cell)
            # One cell on where the ray leaves. By arithmetic: masked copies take several times as long.
            beyond -= cell
            beyond &= entered
            cell += beyond
            np.bitwise_xor(cell, flip, out=position)
            # As unsigned integers, those below 0 are large.
            going &= (position.view(np.uint64) < bounds).all(axis=0)


class _Lanes:
    """Rays on their way, a lane each, and what a step reads and writes.

    Args:
        real: rows of doubles: the fractions of the starts, directions and their reciprocals, three each, and distances.
        whole: rows of integers: the cells that rays are in, those of their starts, flips and positions of the cells, three each;
            levels, axes of the faces that they entered their cells through, and numbers.
    """

    def __init__(self, real: Doubles, whole: Ints) -> None:
        self._real, self._whole = real, whole
        self.vectors = (*real[:9].reshape(3, 3, -1), *whole[:12].reshape(4, 3, -1))
        self.t, self.level, self.face, self.number = real[9], *whole[12:]

    @classmethod
    def of(cls, count: int) -> "_Lanes":
        """Return so many lanes, to be written."""
        return cls(np.empty((10, count)), np.empty((15, count), np.int64))

    def __len__(self) -> int:
        return len(self.t)

    @cached_property
    def scratch(self) -> tuple[Ints, Ints, Ints, Ints, Doubles]:
        return (*np.empty((4, 3, len(self)), np.int64), np.empty((3, len(self))))

    def take(self, which: NDArray[np.intp]) -> "_Lanes":
        return _Lanes(_take(self._real, which), _take(self._whole, which))

    def joined(self, which: NDArray[np.intp], others: "_Lanes") -> "_Lanes":
        """Return some of these lanes, and then others."""
        joined = _Lanes.of(len(which) + len(others))
        for to, *parts in ((joined._real, self._real, others._real), (joined._whole, self._whole, others._whole)):
            for row, mine, theirs in zip(to, *parts, strict=True):
                mine.take(which, out=row[: len(which)], mode="clip")
                row[len(which) :] = theirs
        return joined


def _begin(rays: Rays, part: slice, corner: Ints, shape: Ints) -> _Lanes:
    """Return those of some rays that meet the box, brought to it."""
    count = part.stop - part.start
    lanes = _Lanes.of(count)
    e, d, inverse, cell, start, flip, position = lanes.vectors
    directions = rays.directions[:, part]
    down = directions < 0
    np.negative(down, out=flip, dtype=np.int64)
    np.bitwise_xor(rays.cells[:, part] - corner, flip, out=start)
    np.abs(rays.fractions[:, part] - down, out=e)
    np.maximum(np.abs(directions), LEAST, out=d)
    np.divide(1, d, out=inverse)
    low = -shape & flip
    end = low + shape
    entry, leave = ((low - start) - e) * inverse, ((end - start) - e) * inverse
    t = np.maximum(np.maximum(np.maximum(entry[0], entry[1]), entry[2]), 0, out=lanes.t)
    meets = np.flatnonzero(t < np.minimum(np.minimum(leave[0], leave[1]), leave[2]))
    lanes.level[:], lanes.number[:] = rays.levels[part], np.arange(part.start, part.stop)
    if len(meets) < count:
        lanes, low, end, entry = lanes.take(meets), _take(low, meets), _take(end, meets), _take(entry, meets)
        e, d, inverse, cell, start, flip, position = lanes.vectors
        t = lanes.t
    np.minimum(np.maximum(start + (e + d * t).astype(np.int64), np.maximum(start, low)), end - 1, out=cell)
    entered = np.empty_like(cell)
    _first(entry, t, entered, lanes.face)
    moving = t > 0
    cell += (low - cell) & entered & -moving.astype(np.int64)
    lanes.face[~moving] = START
    np.bitwise_xor(cell, flip, out=position)
    return lanes


def _take(rows: NDArray[Any], which: NDArray[np.intp]) -> NDArray[Any]:
    return rows.take(which, axis=1, mode="clip")  # this mode checks no index, and is twice as fast


def _first(values: Doubles, extreme: Doubles, found: Ints, axis: Ints) -> None:
    """Write into three rows -1 in the first whose value is the extreme and 0 in the others, and its number."""
    first = values[0] == extreme
    second = (values[1] == extreme) & ~first
    third = ~(first | second)
    for row, here in zip(found, (first, second, third), strict=True):
        row[:] = -here.view(np.int8)
    axis[:] = second.view(np.int8) + 2 * third.view(np.int8)


def _excluded(scene: Scene) -> Callable[[Ints, Ints], NDArray[np.bool_]] | None:
    """Return what gives whether the cubes of some level round cells break the inequality everywhere, or None without one."""
    if not isinstance(scene, NimScene) or not any(scene.inequality):
        return None

    def excluded(cells: Ints, level: Ints) -> Any:
        side = (1 << np.minimum(level, TOP)) - 1
        # The corner of the cube with the least sum.
        return (
            sums(scene, np.stack([cell | side if n < 0 else cell & ~side for n, cell in zip(scene.inequality, cells, strict=True)]))
            > 0
        )

    return excluded
