"""The tracer: cubes that are skipped against a literal walk from cell to cell, places beyond 2^53, surfaces, scenes."""

import sys
from dataclasses import replace
from fractions import Fraction
from math import floor, inf

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpu_nim.automata.cell_trees import tree_of
from gpu_nim.backends import numba
from gpu_nim.backends.numpy.trace import NumpyTracer
from gpu_nim.backends.shared.brick_scenes import BrickPacker, highest_bit, open_levels
from gpu_nim.model.rule import Symmetry
from gpu_nim.model.tracing import CONE_CUBES, MISS, START, Cones, NimScene, Rays, surface

# Literal


def walk(is_full, corner, shape, cell, fraction, direction, steps=inf):
    """Walk from cell to cell, in rational numbers: (distance, cell, face) of the first full one, or None.

    After so many steps, the cell is None.
    """
    place = [Fraction(c) + Fraction(float(f)) for c, f in zip(cell, fraction, strict=True)]
    slope = [Fraction(float(d)) for d in direction]
    here, t, face = list(cell), Fraction(0), START
    low, high = np.array(corner), np.array(corner) + shape
    taken = 0
    while taken < steps:
        taken += 1
        if is_full(tuple(here)):
            return float(t), tuple(here), face
        crossings = []
        for axis in range(3):
            if slope[axis]:
                side = here[axis] + (slope[axis] > 0)
                crossings.append(((side - place[axis]) / slope[axis], axis))
        t, face = min(crossings)
        here[face] += 1 if slope[face] > 0 else -1
        ahead = here[face] >= high[face] if slope[face] > 0 else here[face] < low[face]
        if ahead:
            return None
    return float(t), None, face


# Sets by their definition, of a cell or of arrays (3, n) of cells.


def nim(last, first=0, inequality=(0, 0, 0), box=(inf, inf, inf)):
    """Nim: nim-sum 0, half the total between two bounds, an inequality, a box."""

    def is_full(cell):
        (a, b, c), half = cell, sum(cell) // 2
        bounded = sum(n * x for n, x in zip(inequality, cell, strict=True)) <= 0
        for x, side in zip(cell, box, strict=True):
            bounded &= (x >= 0) & (x < side)
        return (a ^ b ^ c == 0) & (half >= first) & (half <= last) & bounded

    return is_full


def speckled(cell):
    """Some set in a box that does not begin at 0, sparse and without any order."""
    a, b, c = cell
    inside = (a >= -5) & (a < 16) & (b >= -9) & (b < 8) & (c >= 2) & (c < 25)
    return ((a * 7 + b * 13 + c * 29 + a * b * c) % 11 == 0) & inside


def packed(is_full, corner, shape):
    packer = BrickPacker(corner, shape)
    cells = np.indices(shape).reshape(3, -1).T + corner
    packer.add(cells[is_full(cells.T)])
    return packer.scene()


def tree(is_full, side):
    """A tree round (0, 0, 0), and the corner and the shape of its box."""
    scene = tree_of(np.argwhere(is_full(np.indices((2 * side,) * 3) - side)) - side, centred=True)
    return scene, is_full, scene.corner, scene.shape


SCENES = {
    "nim": (NimScene(31), nim(31), (0, 0, 0), (32, 32, 32)),
    "nim to no power of two": (NimScene(21), nim(21), (0, 0, 0), (22, 22, 22)),
    "generations of nim": (NimScene(27, first=9), nim(27, 9), (0, 0, 0), (28, 28, 28)),
    "chocolate": (NimScene(31, inequality=(-1, 3, -1)), nim(31, 0, (-1, 3, -1)), (0, 0, 0), (32, 32, 32)),
    "chocolate in a box": (
        NimScene(40, inequality=(-2, 5, -2), box=(25, 21, 25)),
        nim(40, 0, (-2, 5, -2), (25, 21, 25)),
        (0, 0, 0),
        (25, 21, 25),
    ),
    "bricks": (packed(speckled, (-5, -9, 2), (21, 17, 23)), speckled, (-5, -9, 2), (21, 17, 23)),
    "tree": tree(speckled, 32),
    "tree of nim": tree(nim(31), 32),
    "bricks of nim": (packed(nim(63), (0, 0, 0), (64, 64, 64)), nim(63), (0, 0, 0), (64, 64, 64)),
}


def random_rays(seed, corner, shape, count=40, out=20):
    """Rays from inside and outside a box towards places in it, every fourth along an axis."""
    random = np.random.default_rng(seed)
    cells = np.array([random.integers(low - out, low + side + out, count) for low, side in zip(corner, shape, strict=True)])
    fractions = random.random((3, count))
    targets = np.array(corner)[:, None] + random.random((3, count)) * np.array(shape)[:, None]
    directions = targets - cells
    directions /= np.linalg.norm(directions, axis=0)
    axes = random.integers(0, 3, count)[::4] == np.arange(3)[:, None]
    cells[:, ::4] = np.where(axes, cells[:, ::4], np.floor(targets[:, ::4]))
    directions[:, ::4] = axes * np.where(targets > cells, 1.0, -1.0)[:, ::4]
    return Rays(cells, fractions, directions, np.zeros(count, np.int8))


def assert_hits_are_those_of_walks(scene, is_full, rays, corner, shape, steps=inf):
    hits = NumpyTracer(scene).trace(rays)
    for k in range(len(rays)):
        place = (part[:, k].tolist() for part in (rays.cells, rays.fractions, rays.directions))
        found = walk(is_full, corner, shape, *place, steps)
        if found is None:
            assert (hits.distances[k], hits.faces[k]) == (inf, MISS)
            continue
        distance, cell, face = found
        if cell is None:
            assert hits.distances[k] >= distance * (1 - 1e-12)
            continue
        assert (tuple(hits.cells[:, k].tolist()), hits.faces[k], hits.levels[k]) == (cell, face, 0)
        assert hits.distances[k] == pytest.approx(distance, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", SCENES)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_a_ray_hits_what_a_walk_from_cell_to_cell_hits(name, seed):
    scene, is_full, corner, shape = SCENES[name]
    rays = random_rays(seed, corner, shape, 4)
    assert_hits_are_those_of_walks(scene, is_full, rays, np.minimum(corner, rays.cells.min(axis=1)), np.array(shape) + 40)


@pytest.mark.parametrize("name", SCENES)
def test_the_cube_round_a_cell_is_the_largest_that_is_empty(name):
    """By counting the cells of every cube; where an inequality is in the way, it is empty but need not be the largest."""
    scene, is_full, corner, shape = SCENES[name]
    cells = np.indices(shape).reshape(3, -1)
    levels = open_levels(scene)(cells)
    full = is_full(cells + np.array(corner)[:, None])
    assert np.array_equal(levels < 0, full)
    for level in range(6):
        cubes = np.ravel_multi_index(tuple(cells >> level), (64,) * 3)
        empty = (np.bincount(cubes, full) == 0)[cubes]
        assert empty[levels >= level].all()
        if not any(getattr(scene, "inequality", ())):
            assert not empty[levels < level].any()


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("spread", [0.0, 0.03, 0.3])
def test_both_backends_hit_the_same_to_the_last_bit(every_backend, name, spread):
    scene, _, corner, shape = SCENES[name]
    rays = random_rays(7, corner, shape, 100)
    rays = Rays(rays.cells, rays.fractions, rays.directions, np.arange(100, dtype=np.int8) % 3, spread)
    assert every_backend.tracer(scene).trace(rays) == NumpyTracer(scene).trace(rays)


def test_both_backends_hit_and_count_the_same_far_out(every_backend):
    chocolate = NimScene((1 << 60) - 1, box=(1 << 60, 1 << 60, 1 << 60), inequality=(-1, 3, -1))
    for scene in (NimScene((1 << 60) - 1), NimScene(987654321987654321, 123456789123456789), chocolate):
        one, other = every_backend.tracer(scene), NumpyTracer(scene)
        rays = spray((1 << 59, 9 << 55, 7 << 55), (0.5, 0.25, 0.75), 300, 1e-3)
        assert one.trace(rays) == other.trace(rays)
        cones = Cones(rays.cells, rays.fractions, np.arange(300, dtype=np.int8) % 59, rays.directions[:, :6].T)
        found = one.blocked(cones)
        assert np.array_equal(found, other.blocked(cones))
        assert 1 < found.max() <= CONE_CUBES


def test_both_backends_enter_a_box_between_cells_alike(every_backend):
    """Where rays that start between cells and run along diagonals do, rounding decides in which cell they begin."""
    scene, random, count = packed(lambda cell: cell[0] >= 0, (0, 0, 0), (32, 32, 32)), np.random.default_rng(8), 2000
    cells = random.integers(50, 200, count) - random.integers(0, 32, (3, count))
    rays = Rays(cells, np.tile(random.random(count), (3, 1)), np.full((3, count), -(3**-0.5)), np.zeros(count, np.int8))
    assert every_backend.tracer(scene).trace(rays) == NumpyTracer(scene).trace(rays)


def test_rays_are_traced_by_compiled_loops_once_there_are_many(monkeypatch):
    pytest.importorskip("numba", reason="numba is not installed")
    loops = "gpu_nim.backends.numba.trace"
    monkeypatch.delitem(sys.modules, loops, raising=False)
    monkeypatch.setattr(numba, "_RAYS_FROM", 150)
    tracer, rays = numba.NumbaBackend().tracer(NimScene(63)), spray((70, 30, 90), (0.5, 0.25, 0.75), 100, 0.01)
    before = tracer.trace(rays)
    assert len(before.met)
    assert loops not in sys.modules
    assert tracer.trace(rays) == before
    assert loops in sys.modules


# Cones


def random_cones(seed, corner, shape, count, most_levels=3):
    rays = random_rays(seed, corner, shape, count, out=3)
    random = np.random.default_rng(seed)
    return Cones(rays.cells, rays.fractions, random.integers(0, most_levels, count).astype(np.int8), random.normal(size=(5, 3)))


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("hole", [((0, 0, 0), (0, 0, 0)), ((2, 1, 4), (15, 20, 9))])
def test_cones_count_the_cubes_that_are_not_empty(every_backend, name, hole):
    scene, _, corner, shape = SCENES[name]
    cones = replace(random_cones(3, corner, shape, 15), hole=hole)
    found = every_backend.tracer(scene).blocked(cones)
    assert found.shape == (5, 15)
    assert found.any()
    levels_of = open_levels(scene)
    for place in range(15):
        for number, step in enumerate(cones.steps):
            expected = 0
            for level in range(int(cones.levels[place]), int(cones.levels[place]) + CONE_CUBES):
                way = [floor(f + s * 2.0**level) for f, s in zip(cones.fractions[:, place], step, strict=True)]
                at = [int(c) + w for c, w in zip(cones.cells[:, place], way, strict=True)]
                if not all(low <= x < low + side for low, x, side in zip(corner, at, shape, strict=True)):
                    continue
                if all(low <= x < high for low, x, high in zip(hole[0], at, hole[1], strict=True)):
                    continue
                expected += bool(levels_of(np.array(at)[:, None] - np.array(corner)[:, None])[0] < level)
            assert found[number, place] == expected


# Far out


def spray(cell, fraction, count, spread, *, least=0, seed=5):
    """Rays from one place in all directions."""
    directions = np.random.default_rng(seed).normal(size=(3, count))
    directions /= np.linalg.norm(directions, axis=0)
    cells, fractions = (np.repeat(np.array(part)[:, None], count, axis=1) for part in (cell, fraction))
    return Rays(cells, fractions, directions, np.full(count, least, np.int8), spread)


@pytest.mark.parametrize(("bits", "spread"), [(12, 1e-3), (20, 1e-3), (40, 0.2), (60, 1e-3), (60, 0.2)])
def test_rays_from_inside_end_and_meet_faces(bits, spread):
    eye = [(1 << bits) // 16 * 9 + 1, (1 << bits) // 16 * 8 + 2, (1 << bits) // 16 * 7 + 1]
    rays = spray(eye, (0.25, 0.5, 0.75), 2000, spread)
    hits = NumpyTracer(NimScene((1 << bits) - 1)).trace(rays)
    found = np.flatnonzero(hits.faces >= 0)
    assert len(found) > 300
    a, b, c = hits.cells[:, found] >> hits.levels[found]
    assert not (a ^ b ^ c).any()
    assert (0.5 * 2.0 ** hits.levels[found] <= np.maximum(hits.distances[found] * spread, 0.5)).all()
    cells, fractions = surface(rays, hits, found)
    # The cube before the face is empty, and the face is a face of the cube that is hit.
    before, axis, each = cells >> hits.levels[found], hits.faces[found], np.arange(len(found))
    assert (before[0] ^ before[1] ^ before[2]).all()
    cube = hits.cells[:, found] >> hits.levels[found]
    assert (np.abs(before - cube).sum(axis=0) == 1).all()
    assert (before[axis, each] != cube[axis, each]).all()
    assert ((fractions >= 0) & (fractions <= 1)).all()
    moved = rays.fractions[:, found] + rays.directions[:, found] * hits.distances[found]
    assert np.allclose(cells - rays.cells[:, found] + fractions, moved, rtol=1e-9, atol=1e-9)


FAR_OUT = {
    "nim": (NimScene((1 << 60) - 1), nim((1 << 60) - 1)),
    "nim with one generation more": (NimScene(1 << 60), nim(1 << 60)),
    "late generations": (NimScene((1 << 60) - 1, 1 << 59), nim((1 << 60) - 1, 1 << 59)),
    "chocolate": (NimScene((1 << 60) - 1, inequality=(-1, 3, -1)), nim((1 << 60) - 1, 0, (-1, 3, -1))),
}


@pytest.mark.parametrize("name", FAR_OUT)
@settings(max_examples=25)
@given(
    a=st.integers(1 << 59, (1 << 60) - 1),
    c=st.integers(0, (1 << 60) - 1),
    off=st.tuples(*(st.integers(-8, 8),) * 3),
    seed=st.integers(0, 2**32),
)
def test_a_ray_near_2_to_the_60_hits_what_a_walk_from_cell_to_cell_hits(name, a, c, off, seed):
    """The rays start near a cell of Nim, where there are others; the walk is 80 cells long, in rational numbers."""
    scene, is_full = FAR_OUT[name]
    eye = np.array([a, a ^ c, c]) + off
    rays = spray(eye, np.random.default_rng(seed).random(3), 2, 0.0, seed=seed)
    assert_hits_are_those_of_walks(scene, is_full, rays, np.minimum(eye, 0), np.full(3, (1 << 60) + 9), steps=80)


def test_merged_cells_that_break_the_inequality_are_not_hit():
    chocolate = NimScene((1 << 40) - 1, box=(1 << 40,) * 3, inequality=(-1, 3, -1))
    hits = NumpyTracer(chocolate).trace(spray((1 << 39, 1 << 39, 1 << 39), (0.5, 0.5, 0.5), 4000, 0.05))
    found = hits.faces >= 0
    a, b, c = (part[found] for part in hits.cells)
    side = (1 << hits.levels[found].astype(np.int64)) - 1
    assert found.sum() > 300
    assert (3 * (b & ~side) <= (a | side) + (c | side)).all()


@given(st.integers(0, 2**62 - 1))
@example(2**62 - 1)
@example(2**53 - 1)
@example(2**54 - 1)
def test_the_highest_bit_is_exact_beyond_doubles(value):
    assert highest_bit(np.array([value]))[0] == value.bit_length() - 1 or value == 0


# Bricks


@settings(deadline=None, max_examples=20)
@pytest.mark.parametrize("symmetry", Symmetry)
@given(cells=st.sets(st.tuples(*(st.integers(0, 21),) * 3).map(lambda cell: tuple(sorted(cell))[::-1]), min_size=1, max_size=40))
def test_a_symmetric_set_is_packed_from_its_representatives(symmetry, cells):
    representatives = np.array(sorted(cells))
    corner, shape = ((0,) * 3, (22,) * 3) if symmetry is Symmetry.PERMUTATIONS else ((-21,) * 3, (43,) * 3)
    folded = BrickPacker(corner, shape, symmetry)
    keys = folded.add(representatives)
    scene = folded.scene()
    everything = symmetry.unfold(representatives)
    plain = BrickPacker(scene.corner, scene.shape)
    plain.add(everything)
    assert np.array_equal(scene.words, plain.scene().words)
    numbers = scene.number_of(keys)
    assert sorted(numbers.tolist()) == list(range(len(cells)))
    known = dict(zip(map(tuple, representatives.tolist()), numbers.tolist(), strict=True))
    orbits = [known[tuple(cell)] for cell in symmetry.representative(everything).tolist()]
    assert scene.numbers(everything.T.astype(np.int64)).tolist() == orbits
