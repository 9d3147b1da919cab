"""Geometry, views, colours and light: counted and computed, without a picture."""

import tracemalloc
from dataclasses import replace
from itertools import product
from math import gcd

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.render import geometry, views
from gpu_nim.render.colourings import base_colours, traced_branches
from gpu_nim.render.gathering import gather
from gpu_nim.render.geometry import SIDES, coarsen, generations_between, visible
from gpu_nim.render.image import view_of
from gpu_nim.render.look import Look
from gpu_nim.render.shading import AmbientOcclusion, ShadowMap
from gpu_nim.render.source import blocks_of
from gpu_nim.render.themes import THEMES, Map, to_linear, to_srgb
from gpu_nim.render.views import Camera, View, find_view, fit, gasket_directions, shadow_size
from tests.helpers import p_positions
from tests.render_files import blocks_at

WAYS = [way for way in product(range(-2, 3), repeat=3) if gcd(*way) == 1 and way > (0, 0, 0)]

# Views


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
def test_the_gasket_is_seen_along_the_six_edges_of_the_tetrahedron_and_nowhere_else(m):
    cells = np.array(p_positions(2**m))
    edges = [(0, 1, -1), (0, 1, 1), (1, -1, 0), (1, 0, -1), (1, 0, 1), (1, 1, 0)]
    assert [d for d in WAYS if shadow_size(cells, d) == 3**m] == edges
    assert gasket_directions(cells) == [(d, 3**m) for d in edges]


@settings(max_examples=40)
@given(
    st.lists(st.tuples(*[st.integers(-6, 6)] * 3), min_size=1, max_size=20),
    st.sampled_from(WAYS),
)
def test_points_of_a_view_are_counted_as_lines_along_it(cells, direction):
    lines = {
        frozenset(q for q in cells if any(tuple(q) == tuple(p[k] + t * direction[k] for k in range(3)) for t in range(-12, 13)))
        for p in cells
    }
    assert shadow_size(np.array(cells), direction) == len(lines)


def test_the_gasket_view_of_nim_shows_a_gasket_lying_on_its_longest_side():
    cells = np.array(p_positions(16))
    view = views.gasket_view(cells)
    flat = cells @ view.basis()[:2].T
    points = np.unique(flat.round(6), axis=0)
    assert view.parallel
    assert len(points) == 81
    foot = points[np.isclose(points[:, 1], points[:, 1].min())]
    assert np.ptp(foot[:, 0]) == pytest.approx(np.ptp(points[:, 0]))  # the base is level and as wide as the picture


@given(st.tuples(*[st.floats(-3, 3)] * 3).filter(lambda v: np.linalg.norm(v) > 0.1), st.booleans())
def test_a_basis_is_right_handed_and_orthonormal(toward, parallel):
    basis = View(toward, parallel=parallel).basis()
    assert np.allclose(basis @ basis.T, np.eye(3))
    assert np.linalg.det(basis) == pytest.approx(1)
    assert np.allclose(np.cross(basis[2], toward), 0, atol=1e-9)


@pytest.mark.parametrize("aspect", [1.0, 16 / 9, 0.5])
@pytest.mark.parametrize("name", ["three-quarter", "isometric", "axis", "diagonal", "gasket", "120,-40"])
def test_a_fitted_object_fills_the_picture_but_for_the_margin(name, aspect):
    points = blocks_of("nim:15").hull()
    camera = fit(find_view(name)(np.array(p_positions(16))), points, aspect, margin=0.06)
    seen = camera.project(points)
    assert (seen[:, 2] > 0).all()
    reach = np.array([np.abs(seen[:, 0]).max() / aspect, np.abs(seen[:, 1]).max()])
    assert reach.max() == pytest.approx(0.88, abs=0.004)
    middle = (seen[:, :2].max(axis=0) + seen[:, :2].min(axis=0)) / 2
    assert np.abs(middle).max() < 0.01


# Blocks


@given(st.tuples(*[st.floats(-8, 8)] * 3), st.lists(st.tuples(*[st.integers(-4, 4)] * 3), min_size=1, max_size=20))
def test_a_side_is_drawn_where_the_eye_is_before_it(eye, corners):
    blocks = blocks_at(corners)
    camera = Camera(np.array(eye), np.eye(3), 1.0, False)
    drawn = {(k, axis, end) for axis, end, which in visible(blocks, camera) for k in np.arange(len(corners))[which]}
    for k, (axis, end) in product(range(len(corners)), SIDES):
        place = corners[k][axis] + (end > 0)
        assert ((k, axis, end) in drawn) == (end * (eye[axis] - place) > 0)


def test_a_parallel_view_shows_at_most_three_sides():
    blocks = blocks_of("nim:7")
    cameras = {name: fit(view.of(blocks.corners), blocks.hull(), 1.0) for name, view in views.VIEWS.items()}
    assert all(end * camera.basis[2, axis] > 0 for camera in cameras.values() for axis, end, _ in visible(blocks, camera))
    count = {name: len([*visible(blocks, camera)]) for name, camera in cameras.items()}
    assert count == {"three-quarter": 3, "isometric": 3, "axis": 1, "diagonal": 3, "gasket": 2}


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        *((f"nim:{n}", len(blocks_of(f"nim:{n >> level}"))) for n in (0, 1, 20, 63, 100) for level in (1, 2, 3)),
        *product(("fcc:14", "edge:25", "ulam-warburton:31"), (10, 100, 1000)),
    ],
)
def test_blocks_grown_directly_or_collected_on_the_way_are_those_of_all_cells_together(name, limit):
    whole, direct = blocks_of(name), blocks_of(name, limit=limit)
    assert len(direct) <= limit
    assert direct.population == len(whole)
    size = direct.size
    if len(direct) < len(whole):
        assert f"drawn as {len(direct):,} blocks of {size}x{size}" in direct.note
    earliest = {}
    for *place, n in np.column_stack([whole.corners // size * size, whole.generations]).tolist():
        earliest[tuple(place)] = min(n, earliest.get(tuple(place), n))
    assert dict(zip(map(tuple, direct.corners.tolist()), direct.generations.tolist(), strict=True)) == earliest


def test_cells_that_are_merged_twice_are_said_to_be_merged_once():
    blocks = blocks_of("edge:20", limit=400).take(np.arange(50), "a part")
    coarse = coarsen(blocks, 8)
    assert coarse.note == f"a part; drawn as {len(coarse)} blocks of 8x8x8 cells"
    assert np.array_equal(coarsen(blocks.take(np.arange(50)[::-1]), 8).generations, coarse.generations)


def test_what_is_too_large_to_draw_is_refused_with_the_generation_it_reaches():
    """Before that generation is looked at, and before all where the births are known."""
    seed = np.zeros((1, 3), np.int32)
    newborns = [(0, seed), (1, seed), (2, np.broadcast_to(seed, (1 << 27, 3)))]
    for generations, births in ((newborns, None), ([], [1, 1, 1 << 27, 5])):
        with pytest.raises(InsufficientMemoryError, match="a is too large to draw: it passes 134,217,728 cells at generation 2;"):
            gather("a", "square", generations, births, 100)


def test_a_game_of_too_many_positions_is_refused_before_it_is_solved():
    for largest, reason in (
        (0, r"holds about [56],\d00,000 positions, more than 2,097,152; it is solved to be drawn, since"),
        (2, "is too large to draw"),
    ):
        with pytest.raises(InsufficientMemoryError, match=reason):
            blocks_of(f"chocolate:a=5/2,size=4095,grundy={largest}")
    assert len(blocks_of("chocolate:a=5/2,size=1023")) > 300_000  # few enough


@pytest.mark.parametrize("name", ["edge:20", "nim:15"])
def test_generations_are_cut_out_and_their_cells_counted(name):
    whole = blocks_of(name)
    part = generations_between(whole, 5, 8)
    assert np.array_equal(part.corners, whole.corners[(whole.generations >= 5) & (whole.generations < 8)])
    for generation in (-1, 0, 4, 5, 6, 7, 8, 20):
        assert whole.population_until(generation) == (whole.generations <= generation).sum()
        assert part.population_until(generation) == (part.generations <= generation).sum()


def test_a_corner_and_a_half_are_cut_away_on_the_side_of_the_eye():
    blocks = blocks_at(list(product(range(4), repeat=3)))
    toward = np.array([0.6, -0.7, 0.3])
    assert len(blocks.opened("corner", toward)) == 64 - 8
    half = blocks.opened("half", toward)
    assert half.corners[:, 1].min() == 2


@pytest.mark.parametrize(("name", "expected"), [("nim:3", 3), ("edge:6", 3), ("fcc:5", 12), ("ulam-warburton:9", 4)])
def test_branches_are_those_of_generation_one_and_every_cell_is_next_to_its_own(name, expected):
    blocks = blocks_of(name, colour="branch")
    branch = blocks.values["branch"]
    assert set(branch[blocks.generations == 1].tolist()) == set(range(1, expected + 1))
    assert (branch[blocks.generations == 0] == 0).all()
    assert set(np.bincount(branch)[1:].tolist()) == {(len(blocks) - 1) // expected}  # by symmetry


@pytest.mark.parametrize("generation", [1, 7, 30])
def test_branches_of_nim_by_its_digits_are_those_traced_through_parents(generation):
    blocks = blocks_of(f"nim:{generation}", colour="branch")
    by_digits, traced = blocks.values["branch"], traced_branches(blocks, CATALOGUE["nim"].rule)
    first = blocks.generations == 1
    names = dict(zip(by_digits[first], traced[first], strict=True))
    assert [names.get(b, 0) for b in by_digits] == traced.tolist()


@pytest.mark.parametrize(("name", "area"), [("square8:6", 1.0), ("hexagonal:6", 3**0.5 / 2), ("triangular:6", 3 * 3**0.5 / 4)])
def test_tiles_are_as_large_as_their_cells_and_do_not_overlap(name, area):
    blocks = blocks_of(name)
    quads, owners = geometry.tiles(blocks, fill=1.0)
    x, y = quads[..., 0].astype(float), quads[..., 1].astype(float)
    twice = (x * np.roll(y, -1, axis=1) - y * np.roll(x, -1, axis=1)).sum(axis=1)
    assert np.allclose(np.bincount(owners, np.abs(twice) / 2), area, atol=1e-4)
    middles = geometry.middles(blocks)
    gaps = np.linalg.norm(middles[:, None] - middles[None], axis=2) + 9 * np.eye(len(middles))
    assert gaps.min() == pytest.approx(1.0, abs=1e-4)
    assert np.linalg.norm(quads.reshape(-1, 1, 3) - middles, axis=2).min() > 0.5


# Colours


def test_a_rank_gives_every_colour_as_many_cells():
    blocks = blocks_of("nim:63")
    grey = replace(THEMES["dark"], map=Map("000000ffffff"))
    rank, age = (base_colours(blocks, colour, grey)[:, 0] for colour in ("rank", "generation"))
    assert np.abs(np.histogram(rank, 4, (0, 1))[0] / len(blocks) - 0.25).max() < 0.1
    assert age.tolist() == pytest.approx((blocks.generations / 63).tolist(), abs=1e-3)


@pytest.mark.parametrize("colour", ["rank", "generation"])
def test_colours_take_memory_by_the_cells_and_not_by_the_generations(colour):
    near = blocks_of("nim:3")
    far = replace(near, generations=near.generations * (2**24 // 3))  # the last is 2^24 - 1
    tracemalloc.start()
    try:
        colours = base_colours(far, colour, THEMES["dark"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert colours.tolist() == base_colours(near, colour, THEMES["dark"]).tolist()
    assert peak < 1 << 20


def test_light_and_screen_values_are_inverse():
    values = np.linspace(0, 1, 256)
    assert np.abs(to_srgb(to_linear(values)) - values).max() < 1 / 1024
    assert to_srgb(np.array([-1.0, 2.0])).tolist() == [0.0, 1.0]


# Light


def test_a_lone_cell_sees_the_whole_sky_and_a_walled_in_one_none():
    lone = AmbientOcclusion(blocks_at([[0, 0, 0]]))
    assert all((lone.visibility(axis, end) == 255).all() for axis, end in SIDES)
    solid = AmbientOcclusion(blocks_at(list(product(range(9), repeat=3))))
    middle = 9 * 9 * 4 + 9 * 4 + 4
    top = 9 * 9 * 4 + 9 * 4 + 8
    assert solid.visibility(2, 1)[middle].max() < 50
    assert solid.visibility(2, 1)[top].min() > 200


def test_the_sky_is_symmetric_where_the_object_is():
    blocks = blocks_of("fcc:9")
    sky = AmbientOcclusion(blocks, corners=False)
    mirrored = {tuple(c): k for k, c in enumerate(blocks.corners.tolist())}
    twin = [mirrored[(-x, y, z)] for x, y, z in blocks.corners.tolist()]
    ahead, behind = sky.visibility(0, 1)[:, 0].astype(float), sky.visibility(0, -1)[twin, 0].astype(float)
    # Grid cells begin at the object's corner, so that levels above the first need not be symmetric: not far off is all.
    assert np.abs(ahead - behind).mean() < 20


def test_a_block_shades_what_is_behind_it_and_nothing_else():
    blocks = blocks_at([[0, 0, 0], [0, 0, 6], [20, 0, 0]])
    light = ShadowMap(blocks, np.array([0.0, 0.0, 1.0]))
    points = np.array([[0.5, 0.5, 1.0], [0.5, 0.5, 7.0], [20.5, 0.5, 1.0]], dtype=np.float32)
    assert light.lit(points, np.full(3, 0.9, np.float32), 0.0, 1).tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize("source", ["edge:31", "fcc:15"])
def test_the_view_of_an_automaton_shows_more_of_its_generations_than_three_quarter(source):
    """By the entropy of the generations in view, of as many cells each, over a grid of pixels."""
    blocks = blocks_of(source)
    bits = []
    for look in (Look(), Look(view="three-quarter")):
        x, y, depth = (blocks.centres() @ view_of(blocks, look).basis().T).T
        order = np.argsort(depth)
        nearest = dict(zip(zip(*np.floor([x, y])[:, order].tolist(), strict=True), order.tolist(), strict=True))
        ranks = 16 * np.array([*nearest.values()]) // len(blocks)
        parts = np.unique(ranks, return_counts=True)[1] / len(ranks)
        bits.append(-(parts * np.log2(parts)).sum())
    assert bits[0] > bits[1] + 0.03
