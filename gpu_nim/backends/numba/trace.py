"""Rays and cones through a scene, by loops that numba compiles: one ray, or the cones from one place, after another.

A ray goes as in `gpu_nim.backends.numpy.trace`, in the same order of operations, to the last bit. The cube round a cell is found as
in `cuda/trace.cu`, word by word, and words are read by their address: numba counts references at each use of a tuple that holds
arrays, which takes longer than a step of a ray. The loops take no memory.
"""

from __future__ import annotations

from math import floor
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numpy.typing import NDArray

from gpu_nim.backends.numba import compiled, intrinsic
from gpu_nim.backends.shared.brick_scenes import LEAST, TOP
from gpu_nim.model.tracing import CONE_CUBES, CONE_FARTHEST, START, Cones, Hits, NimScene, Rays, Scene, TreeScene

_NIM, _BRICKS, _TREE = range(3)
_ONE, _EIGHT = np.uint64(1), np.uint64(0x330033)  # a cell, and the cube of eight cells of which it is the first


class Volume(NamedTuple):
    """A scene as the loops read it; what its kind has not is 0.

    Attributes:
        kind: which scene it is.
        corner, side: the least coordinates, and the number of cells along each axis.
        first, last, inequality, weight: of `NimScene`, and the sum of the absolute values of its inequality.
        words, rows: the addresses of the bricks of `BrickScene`, or the leaves of `TreeScene`, and of its `flattened` rows.
        root, height: of `TreeScene`.
    """

    kind: int
    corner: Any
    side: Any
    first: int = 0
    last: int = 0
    inequality: Any = (0, 0, 0)
    weight: int = 0
    words: int = 0
    rows: int = 0
    root: int = 0
    height: int = 0


class Axis(NamedTuple):
    """What a ray has of an axis, as in `gpu_nim.backends.numpy.trace`: its start, flip and direction, and the sides of the box."""

    flip: Any
    start: Any
    e: Any
    d: Any
    inverse: Any
    low: Any
    end: Any


class CompiledTracer:
    """Traces rays through a scene; it may be used by several threads at once."""

    def __init__(self, scene: Scene) -> None:
        box = scene.corner, scene.shape
        self._held: list[NDArray[Any]] = []  # the arrays whose addresses the volume has
        if isinstance(scene, NimScene):
            weight = sum(map(abs, scene.inequality))
            self._volume = Volume(_NIM, *box, scene.first, scene.last, scene.inequality, weight)
        elif isinstance(scene, TreeScene):
            rows, root = scene.flattened
            words, halves = self._addresses(scene.leaves, rows)
            self._volume = Volume(_TREE, *box, words=words, rows=halves, root=root, height=scene.height)
        else:
            self._volume = Volume(_BRICKS, *box, words=self._addresses(scene.words)[0])

    def _addresses(self, *arrays: NDArray[Any]) -> list[int]:
        self._held += map(_plain, arrays)
        return [array.ctypes.data for array in self._held]

    def trace(self, rays: Rays) -> Hits:
        """Return what the rays hit."""
        hits = Hits.empty(len(rays))
        read = tuple(map(_plain, (rays.cells, rays.fractions, rays.directions, rays.levels)))
        trace(self._volume, read, float(rays.spread), (hits.distances, hits.cells, hits.levels, hits.faces))
        return hits

    def blocked(self, cones: Cones) -> NDArray[np.uint8]:
        """Return how many of the cubes along each cone are in the box and not known to be empty."""
        found = np.zeros((len(cones.steps), len(cones)), np.uint8)
        read = tuple(map(_plain, (cones.cells, cones.fractions, cones.levels, cones.steps)))
        look(self._volume, read, np.array(cones.hole, np.int64) - self._volume.corner, found)
        return found


def _plain(array: Any) -> NDArray[Any]:
    """The array as the loops are compiled for: contiguous, and writable."""
    return np.require(array, None, ["C", "W"])


@intrinsic
def _exponent(_: Any, value: Any) -> Any:
    """floor(log2) of a positive double, and something far below 0 for 0."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        return builder.sub(builder.lshr(builder.bitcast(arguments[0], word), word(52)), word(1023))

    return types.int64(types.float64), code


@intrinsic
def _highest_bit(_: Any, value: Any) -> Any:
    """The index of the highest bit, -1 for 0."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.sub(ir.IntType(64)(63), builder.ctlz(arguments[0], ir.IntType(1)(0)))

    return types.int64(types.int64), code


def _load(bits: int) -> Any:
    """What writes the code that loads an element of so many bits of the array at an address."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.gep(builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer()), [arguments[1]]))

    return code


@intrinsic
def _word(_: Any, address: Any, index: Any) -> Any:
    """A word of the array at an address."""
    return types.uint64(types.int64, types.int64), _load(64)


@intrinsic
def _half(_: Any, address: Any, index: Any) -> Any:
    """A half of a row of the array at an address."""
    return types.int32(types.int64, types.int64), _load(32)


@compiled
def _open(volume: Volume, a: int, b: int, c: int) -> Any:
    """The level of the largest empty cube round a cell, -1 for a cell of the set."""
    if volume.kind != _NIM:
        return _open_in_stored(volume, a, b, c)
    born, wrong = a | b | c, a ^ b ^ c
    wrong |= born ^ volume.last if born > volume.last else 0
    wrong |= born ^ volume.first if born < volume.first else 0
    level = _highest_bit(wrong)
    if volume.weight:
        p, q, r = volume.inequality
        slack = p * a + q * b + r * c - 1
        level = max(level, _highest_bit(slack // volume.weight + 1)) if slack >= 0 else level
    return level


@compiled
def _open_in_stored(volume: Volume, a: int, b: int, c: int) -> Any:
    """Likewise of a set that is stored."""
    if volume.kind == _TREE:
        block: Any = volume.root
        for bit in range(volume.height - 1, 1, -1):
            block = np.int64(_half(volume.rows, block << 3 | (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1))
            if not block:
                return bit
        return _open_in_word(_word(volume.words, block), a, b, c)
    (tall, wide, deep), start, level = volume.side, 0, 0
    while True:
        tall, wide, deep = tall + 3 >> 2, wide + 3 >> 2, deep + 3 >> 2
        word = _word(volume.words, start + ((a >> 2) * wide + (b >> 2)) * deep + (c >> 2))
        if word:
            found = _open_in_word(word, a, b, c)
            return level + max(found, 0) if level else found
        level += 2
        if tall * wide * deep == 1:
            return level
        a, b, c, start = a >> 2, b >> 2, c >> 2, start + tall * wide * deep


@compiled
def _open_in_word(word: Any, a: int, b: int, c: int) -> int:
    """Likewise in a brick that is not empty: -1, 0 or 1."""
    bit = np.uint64((a & 3) << 4 | (b & 3) << 2 | c & 3)
    if word >> bit & _ONE:
        return -1
    return 0 if word >> (bit & np.uint64(0b101010)) & _EIGHT else 1


@compiled
def _excluded(volume: Volume, a: int, b: int, c: int, level: int) -> bool:
    """Whether the inequality fails in all of the cube of a level round a cell: at its corner with the least sum."""
    side, (p, q, r) = (1 << min(level, TOP)) - 1, volume.inequality
    a = a | side if p < 0 else a & ~side
    b = b | side if q < 0 else b & ~side
    c = c | side if r < 0 else c & ~side
    return bool(p * a + q * b + r * c > 0)


@compiled
def _axis(cell: int, fraction: float, direction: float, side: int) -> Axis:
    flip = np.int64(-1 if direction < 0 else 0)
    low, d = -side & flip, max(abs(direction), LEAST)
    return Axis(flip, cell ^ flip, 1 - fraction if direction < 0 else fraction, d, 1 / d, low, low + side)


@compiled
def _distance(axis: Axis, cell: int) -> Any:
    """The distance at which a ray comes to the near side of a cell."""
    return (np.float64(cell - axis.start) - axis.e) * axis.inverse


@compiled
def _entry(axis: Axis) -> Any:
    """The distance at which a ray comes into the box along an axis."""
    return _distance(axis, axis.low) if axis.start < axis.low else 0.0


@compiled
def _moved(axis: Axis, t: float, least: int, most: int) -> Any:
    """The cell in which a ray is at a distance, held between two."""
    return min(max(axis.start + np.int64(axis.e + axis.d * t), least), most)


@compiled
def trace(volume: Volume, rays: Any, spread: float, hits: Any) -> None:
    """Write what rays hit.

    Args:
        volume: the scene.
        rays: the cells, fractions, directions and levels of `Rays`.
        spread: theirs.
        hits: the distances, cells, levels and faces of `Hits.empty`.
    """
    (starts, fractions, directions, merged), (distances, cells, levels, faces) = rays, hits
    corner, side = volume.corner, volume.side
    for ray in range(len(merged)):
        x = _axis(starts[0, ray] - corner[0], fractions[0, ray], directions[0, ray], side[0])
        y = _axis(starts[1, ray] - corner[1], fractions[1, ray], directions[1, ray], side[1])
        z = _axis(starts[2, ray] - corner[2], fractions[2, ray], directions[2, ray], side[2])
        to_x, to_y, to_z = _entry(x), _entry(y), _entry(z)
        t = max(to_x, to_y, to_z)
        outside = x.start >= x.end or y.start >= y.end or z.start >= z.end
        if outside or t >= min(_distance(x, x.end), _distance(y, y.end), _distance(z, z.end)):
            continue
        face = START if t <= 0 else 0 if to_x == t else 1 if to_y == t else 2
        a = x.low if face == 0 else _moved(x, t, max(x.start, x.low), x.end - 1)
        b = y.low if face == 1 else _moved(y, t, max(y.start, y.low), y.end - 1)
        c = z.low if face == 2 else _moved(z, t, max(z.start, z.low), z.end - 1)
        level = np.int64(merged[ray])
        while a < x.end and b < y.end and c < z.end:
            free = _open(volume, a ^ x.flip, b ^ y.flip, c ^ z.flip)
            wanted = _exponent(t * spread)
            if volume.weight:
                coarse = max(level, wanted)
                for tried in (level, coarse):
                    if _excluded(volume, a ^ x.flip, b ^ y.flip, c ^ z.flip, tried):
                        free = max(free, tried)
            if free < level:
                distances[ray], levels[ray], faces[ray] = t, level, face
                cells[0, ray], cells[1, ray] = (a ^ x.flip) + corner[0], (b ^ y.flip) + corner[1]
                cells[2, ray] = (c ^ z.flip) + corner[2]
                break
            # A ray switches to coarser cubes only inside an empty one, so that it enters the next through a face.
            level = max(level, min(wanted, free))
            mask = (1 << free) - 1
            far_x, far_y, far_z = a | mask, b | mask, c | mask
            to_x, to_y, to_z = _distance(x, far_x + 1), _distance(y, far_y + 1), _distance(z, far_z + 1)
            t = min(to_x, to_y, to_z)
            face = 0 if to_x == t else 1 if to_y == t else 2
            a, b, c = _moved(x, t, a, far_x), _moved(y, t, b, far_y), _moved(z, t, c, far_z)
            if face == 0:
                a = far_x + 1
            elif face == 1:
                b = far_y + 1
            else:
                c = far_z + 1


@compiled
def _inside(first: Any, stop: Any, a: int, b: int, c: int) -> Any:
    """Whether a cell is in a box; as unsigned integers, differences below 0 are large."""
    x, y, z = np.uint64(a - first[0]), np.uint64(b - first[1]), np.uint64(c - first[2])
    in_plane = (x < np.uint64(stop[0] - first[0])) & (y < np.uint64(stop[1] - first[1]))
    return in_plane & (z < np.uint64(stop[2] - first[2]))


@compiled
def look(volume: Volume, cones: Any, hole: Any, blocked: Any) -> None:
    """Count the cubes along each cone that are in the box and not known to be empty.

    Args:
        volume: the scene.
        cones: the cells, fractions, levels and steps of `Cones`.
        hole: theirs, from the corner of the scene, int64 (2, 3).
        blocked: uint8 (k, n), to be written.
    """
    (cells, fractions, levels, steps), corner, zero = cones, volume.corner, (0, 0, 0)
    first, stop = (hole[0, 0], hole[0, 1], hole[0, 2]), (hole[1, 0], hole[1, 1], hole[1, 2])
    cut = first[0] < stop[0]
    for place in range(len(levels)):
        x, y, z = cells[0, place] - corner[0], cells[1, place] - corner[1], cells[2, place] - corner[2]
        for cone in range(len(steps)):
            found = 0
            for further in range(CONE_CUBES):
                level = np.int64(levels[place]) + further
                width = np.float64(1 << min(level, np.int64(CONE_FARTHEST)))
                a = x + np.int64(floor(fractions[0, place] + steps[cone, 0] * width))
                b = y + np.int64(floor(fractions[1, place] + steps[cone, 1] * width))
                c = z + np.int64(floor(fractions[2, place] + steps[cone, 2] * width))
                full = _inside(zero, volume.side, a, b, c)
                if cut:
                    full &= not _inside(first, stop, a, b, c)
                if full | (volume.kind == _NIM):  # whether one is in the box is hard to predict
                    found += full & (_open(volume, a, b, c) < level)
            blocked[cone, place] = found
