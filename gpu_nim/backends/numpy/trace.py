"""Rays through a scene, a tile of them at a time, each step out of the largest cube that is known to be empty.

Coordinates against which a ray moves are complemented, c -> -1 - c: aligned cubes stay aligned cubes, and all rays go up. A ray is
in cell c at distance t. With h the level of the empty cube round c, the last cell before its far sides is f = c | (2^h - 1), and
side k is met at

    t_k = ((f_k + 1 - E_k) - e_k) / d_k,

where E, e is the start: the difference of integers is exact, and small near the start. The ray goes on at the least t_k in cell
f_k + 1 on that axis, and on the others in E + floor(e + t d), held between c and f. So each step goes on by a cell or more, and
every ray ends. `cuda/trace.cu` does the same in the same order, to the last bit.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.shared.host_ranges import cores
from gpu_nim.backends.shared.open_cubes import exponent, open_levels, sums
from gpu_nim.model.limbs import Ints
from gpu_nim.model.tracing import START, Hits, NimScene, Rays, Scene

_TILE = 1 << 15  # rays at once: more leave the cache, and fewer cost more calls a ray
_CROWD = 0.8  # the part of a tile's rays that go on, below which the others are dropped
_LEAST = 1e-200  # of a direction's components, so that none is 0
_TOP = 62  # no cube is larger


class NumpyTracer:
    """Traces rays through a scene; it may be used by several threads at once."""

    @property
    def batch(self) -> int:
        """How many rays are best traced at once."""
        return _TILE

    @property
    def threads(self) -> int:
        """By how many threads it is best used."""
        return cores()

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._open = open_levels(scene)

    def trace(self, rays: Rays) -> Hits:
        """Return what the rays hit."""
        hits = Hits.empty(len(rays))
        for start in range(0, len(rays), _TILE):
            self._trace(rays, slice(start, start + _TILE), hits)
        return hits

    @np.errstate(invalid="ignore")  # rays that are dropped a little later go on to places that no integer holds
    def _trace(self, rays: Rays, tile: slice, hits: Hits) -> None:
        excluded = _excluded(self._scene)
        corner = np.array(self._scene.corner)[:, None]
        shape = np.array(self._scene.shape)[:, None]
        count = rays.cells[:, tile].shape[1]
        real, whole = np.empty((3, 3, count)), np.empty((4, 3, count), np.int64)
        e, d, inverse = real
        cell, start, flip, end = whole
        flip[:] = -(rays.directions[:, tile] < 0).astype(np.int64)
        start[:] = (rays.cells[:, tile] - corner) ^ flip
        e[:] = np.where(flip, 1 - rays.fractions[:, tile], rays.fractions[:, tile])
        d[:] = np.maximum(np.abs(rays.directions[:, tile]), _LEAST)
        inverse[:] = 1 / d
        low = -shape & flip
        end[:] = low + shape
        # Into the box, where the ray starts before it.
        entry = np.where(start < low, ((low - start) - e) * inverse, 0.0)
        t, face = entry.max(axis=0), entry.argmax(axis=0).astype(np.int8)
        np.minimum(np.maximum(start + (e + d * t).astype(np.int64), np.maximum(start, low)), end - 1, out=cell)
        for axis in range(3):
            cell[axis] = np.where((face == axis) & (t > 0), low[axis], cell[axis])
        face[t == 0] = START
        leave = (((end - start) - e) * inverse).min(axis=0)
        level = rays.levels[tile].astype(np.int64)
        number = np.arange(count) + tile.start
        going = (t < leave) & (start < end).all(axis=0)
        while True:
            left = np.flatnonzero(going)
            if not len(left):
                return
            if len(left) < _CROWD * len(going):
                real, whole = real.take(left, axis=2), whole.take(left, axis=2)
                e, d, inverse = real
                cell, start, flip, end = whole
                t, face, level, number = t[left], face[left], level[left], number[left]
                going = np.ones(len(left), bool)
            place = cell ^ flip
            free = self._open(place)
            wanted = np.maximum(level, exponent(t * rays.spread))
            if excluded is not None:
                for tried in (level, wanted):
                    free = np.where(excluded(place, tried), np.maximum(free, tried), free)
            # A ray switches to coarser cubes only inside an empty one, so that it enters the next through a face.
            level = np.where(free >= wanted, wanted, level)
            hit = going & (free < level)
            if hit.any():
                going &= ~hit
                found = number[hit]
                hits.distances[found], hits.faces[found], hits.levels[found] = t[hit], face[hit], level[hit]
                hits.cells[:, found] = place[:, hit] + corner
            far = cell | ((1 << np.maximum(free, 0)) - 1)
            exits = ((far + 1 - start) - e) * inverse
            t = np.minimum(np.minimum(exits[0], exits[1]), exits[2])
            onwards = np.minimum(np.maximum(start + (e + d * t).astype(np.int64), cell), far)
            first = exits[0] == t
            second = (exits[1] == t) & ~first
            third = ~(first | second)
            for axis, taken in enumerate((first, second, third)):
                cell[axis] = onwards[axis] + taken * (far[axis] + 1 - onwards[axis])
            face = second + 2 * third.astype(np.int8)
            going &= (cell < end).all(axis=0)


def _excluded(scene: Scene) -> Callable[[Ints, Ints], NDArray[np.bool_]] | None:
    """Return what gives whether the cubes of some level round cells break the inequality everywhere, or None without one."""
    if not isinstance(scene, NimScene) or not any(scene.inequality):
        return None

    def excluded(cells: Ints, level: Ints) -> Any:
        side = (1 << np.minimum(level, _TOP)) - 1
        # The corner of the cube with the least sum.
        return (
            sums(scene, np.stack([cell | side if n < 0 else cell & ~side for n, cell in zip(scene.inequality, cells, strict=True)]))
            > 0
        )

    return excluded
