"""The tracer's loops that numba compiles, a ray at a time: what `cuda/trace.cu` computes, in the same order, to the last bit."""

from math import floor, frexp, inf
from typing import Any, NamedTuple

import numpy as np

from gpu_nim.backends.numpy.compilation import compiled
from gpu_nim.backends.shared.open_cubes import LEAST, TOP
from gpu_nim.model.tracing import CONE_CUBES, CONE_FARTHEST, START, Cones, Hits, NimScene, Rays, Scene, TreeScene


class _Space(NamedTuple):
    """A scene as loops read it: a `NimScene`; with stages, (start, bricks along b, bricks along c) each, a `BrickScene`; with rows
    and the level of the root, a `TreeScene`.
    """

    corner: Any
    shape: Any
    first: int
    last: int
    inequality: tuple[int, int, int]
    words: Any
    stages: Any
    rows: Any
    root: int = 0
    level: int = 0


def space(scene: Scene) -> _Space:
    """Return a scene as `walk` and `look` take it."""
    box = np.array(scene.corner, np.int64), np.array(scene.shape, np.int64)
    no_stages, no_rows = np.zeros((0, 3), np.int64), np.zeros((0, 8), np.int32)
    if isinstance(scene, NimScene):
        return _Space(*box, scene.first, scene.last, scene.inequality, np.zeros(0, np.uint64), no_stages, no_rows)
    if isinstance(scene, TreeScene):
        return _Space(*box, 0, 0, (0, 0, 0), scene.leaves, no_stages, *scene.flattened, scene.side.bit_length() - 1)
    stages = [(start, *scene.stage_shape(stage)[1:]) for stage, start in enumerate(scene.starts)]
    return _Space(*box, 0, 0, (0, 0, 0), scene.words, np.array(stages, np.int64), no_rows)


def trace(space: _Space, rays: Rays, hits: Hits) -> None:
    """Write what rays hit."""
    _walk(space, rays.cells, rays.fractions, rays.directions, rays.levels, float(rays.spread), *vars(hits).values())


def blocked(space: _Space, cones: Cones, found: Any) -> None:
    """Write how many cubes along cones are in the box and not known to be empty."""
    _look(space, cones.cells, cones.fractions, cones.levels, cones.steps, np.array(cones.hole, np.int64), found)


@compiled
def _exponent(value: Any) -> Any:
    """floor(log2) of a value that is not negative; below 0 for 0."""
    return frexp(value)[1] - 1 if value > 0 else -1


@compiled
def _highest(value: Any) -> Any:
    """The index of the highest bit, -1 for 0; without a bit beside it, the conversion to a double rounds nothing up."""
    return _exponent(float(value & ~(value >> 1)))


@compiled
def _open_in_word(word: Any, a: Any, b: Any, c: Any) -> Any:
    """The same for a cell of a brick that is not empty: -1, 0 or 1."""
    bit = np.uint64((a & 3) << 4 | (b & 3) << 2 | c & 3)
    if word >> bit & np.uint64(1):
        return -1
    beside = word >> (bit & np.uint64(0b101010)) & np.uint64(0x330033)  # the cube of the next level
    return int(beside == 0)


@compiled
def _open(space: _Space, a: Any, b: Any, c: Any) -> Any:
    """The level of the largest empty cube round a cell of the box, below 0 for a cell of the set."""
    stages = len(space.stages)
    if space.level > 0:
        block = space.root
        for bit in range(space.level - 1, 1, -1):
            block = space.rows[block, (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1]
            if block == 0:
                return bit
        return _open_in_word(space.words[block], a, b, c)
    if stages == 0:
        wrong, union = a ^ b ^ c, a | b | c
        if union > space.last:
            wrong |= union ^ space.last
        if union < space.first:
            wrong |= union ^ space.first
        p, q, r = space.inequality
        slack = p * a + q * b + r * c - 1
        return _highest(wrong) if slack < 0 else max(_highest(wrong), _highest(slack // (abs(p) + abs(q) + abs(r)) + 1))
    for stage in range(stages):
        start, wide, deep = space.stages[stage]
        word = space.words[start + ((a >> 2) * wide + (b >> 2)) * deep + (c >> 2)]
        if word != 0:
            return 2 * stage + _open_in_word(word, a, b, c)
        a, b, c = a >> 2, b >> 2, c >> 2
    return 2 * stages


@compiled
def _excluded(space: _Space, a: Any, b: Any, c: Any, level: Any) -> bool:
    """Whether the cube of a level round a cell breaks the inequality everywhere: at the corner with the least sum."""
    side = (1 << min(level, TOP)) - 1
    total = 0
    for factor, x in zip(space.inequality, (a, b, c)):  # noqa: B905  # numba knows no strict
        total += factor * (x | side if factor < 0 else x & ~side)
    return total > 0


@compiled
def _walk(
    space: _Space,
    cells: Any,
    fractions: Any,
    directions: Any,
    levels: Any,
    spread: float,
    distances: Any,
    found: Any,
    at: Any,
    faces: Any,
) -> None:
    corner, shape = space.corner, space.shape
    cell, start, flip, low, far = np.zeros((5, 3), np.int64)
    e, d, inverse, sides = np.zeros((4, 3))
    for ray in range(len(levels)):
        t, leave, face = 0.0, inf, START
        for k in range(3):
            down = directions[k, ray] < 0
            flip[k] = -1 if down else 0
            start[k] = (cells[k, ray] - corner[k]) ^ flip[k]
            e[k] = abs(fractions[k, ray] - down)
            d[k] = max(abs(directions[k, ray]), LEAST)
            inverse[k] = 1 / d[k]
            low[k] = -shape[k] & flip[k]
            entry = ((low[k] - start[k]) - e[k]) * inverse[k]
            if entry > t:
                t, face = entry, k
            leave = min(leave, ((low[k] + shape[k] - start[k]) - e[k]) * inverse[k])
        if t >= leave:
            continue
        for k in range(3):
            moved = start[k] + int(e[k] + d[k] * t)
            cell[k] = low[k] if k == face else min(max(moved, start[k], low[k]), low[k] + shape[k] - 1)
        level = int(levels[ray])
        while True:
            a, b, c = cell[0] ^ flip[0], cell[1] ^ flip[1], cell[2] ^ flip[2]
            if min(a, b, c) < 0 or a >= shape[0] or b >= shape[1] or c >= shape[2]:
                break
            free, wanted = _open(space, a, b, c), _exponent(t * spread)
            for tried in (level, max(level, wanted)):
                if tried > free and _excluded(space, a, b, c, tried):
                    free = tried
            if free < level:
                distances[ray], at[ray], faces[ray] = t, level, face
                found[0, ray], found[1, ray], found[2, ray] = a + corner[0], b + corner[1], c + corner[2]
                break
            # A ray switches to coarser cubes only inside an empty one, so that it enters the next through a face.
            level = max(level, min(wanted, free))
            side = (1 << min(free, TOP)) - 1
            t = inf
            for k in range(3):
                far[k] = cell[k] | side
                sides[k] = ((far[k] + 1 - start[k]) - e[k]) * inverse[k]
                if sides[k] < t:
                    t, face = sides[k], k
            for k in range(3):
                moved = start[k] + int(e[k] + d[k] * t)
                cell[k] = far[k] + 1 if k == face else max(cell[k], min(moved, far[k]))


@compiled
def _look(space: _Space, cells: Any, fractions: Any, levels: Any, steps: Any, hole: Any, found: Any) -> None:
    corner, shape = space.corner, space.shape
    at = np.zeros(3, np.int64)
    for place in range(len(levels)):
        for cone in range(len(steps)):
            for further in range(CONE_CUBES):
                level = levels[place] + further
                width = float(1 << min(level, CONE_FARTHEST))
                inside, removed = True, True
                for k in range(3):
                    at[k] = cells[k, place] - corner[k] + floor(fractions[k, place] + steps[cone, k] * width)
                    inside &= 0 <= at[k] < shape[k]
                    removed &= hole[0, k] <= at[k] + corner[k] < hole[1, k]
                if inside and not removed:
                    found[cone, place] += _open(space, at[0], at[1], at[2]) < level
