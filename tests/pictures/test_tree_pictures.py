"""Pictures of growths held as trees: blocks, objects, the zoom and the page, against the same growths cell by cell."""

import gzip
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from decimal import Decimal
from itertools import product
from math import floor, hypot

import numpy as np
import pytest

from gpu_nim import grow, prove, solve
from gpu_nim.automata.cell_trees import tree_of
from gpu_nim.automata.macro_cells import tree
from gpu_nim.model.tracing import TreeScene
from gpu_nim.render import growth_sources, render
from gpu_nim.render.axes import box_of
from gpu_nim.render.colourings import base_colours, legend_of
from gpu_nim.render.image import aim
from gpu_nim.render.look import Look
from gpu_nim.render.motions import Movie, flights, motion_of
from gpu_nim.render.page import page
from gpu_nim.render.page import scenes as page_scenes
from gpu_nim.render.source import blocks_of, read_source
from gpu_nim.render.themes import THEMES
from gpu_nim.render.traced_object import traced_object
from gpu_nim.render.views import View
from tests.chromium import needs_chromium
from tests.pictures.test_page_scenes import data_in

NEAR = list(product((-1, 0, 1, 2), repeat=2))
PLANE = ["square8:40", "hexagonal:40", "triangular:21"]
SPACE = ["cubic6:20", "edge:33"]


@pytest.fixture
def as_trees(monkeypatch):
    """Has every growth drawn as a tree."""
    monkeypatch.setattr(growth_sources, "GROWN", {2: 0, 3: 0})


def cells_of(source):
    name, generation = source.split(":")
    return grow(name, int(generation), cells=True).cells()


@pytest.mark.parametrize("source", PLANE + SPACE)
@pytest.mark.parametrize("level", range(5))
def test_blocks_hold_the_cells_that_are_in_them(source, level):
    cells = cells_of(source)
    scene = tree_of(cells, centred=True)
    corners, numbers, found = scene.blocks(1 << 20, level)
    expected, counts = np.unique(cells >> level << level, axis=0, return_counts=True)
    order = np.lexsort(corners.T[::-1])
    assert found == level
    assert np.array_equal(corners[order], expected)
    assert np.array_equal(scene.populations(level)[numbers[order]], counts)
    box = np.array([-9, 2, -3])[: cells.shape[1]], np.array([5, 11, 7])[: cells.shape[1]]
    near, _, _ = scene.blocks(1 << 20, level, box)
    touched = ((expected < box[1]) & (expected + (1 << level) > box[0])).all(axis=1)
    assert sorted(near.tolist()) == expected[touched].tolist()
    few, _, coarse = scene.blocks(len(expected) - 1)
    assert coarse > level
    assert len(few) < max(len(expected), 2)


@pytest.mark.parametrize(("source", "cut"), [*((source, "none") for source in PLANE), *product(SPACE, ("none", "corner"))])
def test_a_picture_of_a_tree_shows_the_cells_that_grow(source, cut, as_trees, monkeypatch):
    engine = "numpy" if source in PLANE else "trace"
    look = Look(resolution=(160, 120), engine=engine, cut=cut, transparent=True, quality="draft", view="axis")
    ours = np.asarray(render(source, look).image)
    monkeypatch.undo()
    assert np.array_equal(ours[..., 3], np.asarray(render(source, look).image)[..., 3])


@pytest.mark.parametrize("source", ["cubic6:2^20", "cubic8:3000", "cubic6:3000"])
def test_legend_and_axes_end_at_the_farthest_cells(source):
    found, last = traced_object(source, Look()), 2**20 if "^" in source else 3000
    assert found.legend.values[-1] == last
    box = box_of(found.outline)
    assert (box.low.tolist(), box.high.tolist()) == ([-last] * 3, [last] * 3)


@pytest.mark.parametrize(("step", "part"), [(1, 0.635), (2000, 0.0)])
def test_densities_in_view_have_the_full_range_of_colours_unless_they_are_alike(step, part):
    """Those of hexagonal:2^20 differ by 0.1 percent, as rows of cells are within a block or cut by its border."""
    blocks = replace(blocks_of("nim:7"), values={"density": np.append(635_000 + step * np.arange(62), [0, 999_999])})
    ends = THEMES["dark"].map(np.array([part, part or 1.0]))
    shown = base_colours(blocks, "density", THEMES["dark"])
    assert np.allclose(shown[[0, 61]], ends, atol=0.03)
    assert np.allclose(shown[[62, 63]], shown[[0, 61]], atol=0.01)  # which are rare
    assert legend_of(blocks, shown, "density").values[0] >= 635_000
    assert np.allclose(
        base_colours(blocks_of("nim:7"), "density", THEMES["dark"]), THEMES["dark"].map(np.array(1.0))
    )  # cells are alive


@pytest.mark.parametrize("source", PLANE)
def test_a_zoom_leaves_out_only_what_is_out_of_view(source, as_trees):
    class Whole(TreeScene):
        def blocks(self, most, level=0, box=None):
            return super().blocks(most, level)

    found, all_, look = read_source(source), read_source(source), Look(resolution=(120, 90), theme="paper")
    vars(all_)["tree"] = Whole(*(getattr(found.tree, each.name) for each in fields(found.tree)))
    motion, whole = (motion_of(Movie(each, "zoom", frames=3, look=look)) for each in (found, all_))
    for number in range(3):
        ours, theirs = (np.asarray(each.frame(number)).min(axis=2) < 225 for each in (motion, whole))
        assert np.mean(ours != theirs) < 0.01  # in colours of what is in view


@pytest.mark.usefixtures("as_trees")
def test_a_zoom_eases_and_its_scale_bar_is_as_long_as_so_many_cells(monkeypatch):
    """The last frame is 24 cells high."""
    look = Look(resolution=(240, 180), quality="draft")
    motion, draw, pixels = motion_of(Movie("hexagonal:40", "zoom", frames=21, look=look)), flights.draw_scale, []
    monkeypatch.setattr(flights, "draw_scale", lambda image, look, pixel: pixels.append(pixel))
    frames = [motion.frame(number) for number in range(21)]
    steps = -np.diff(np.log2(pixels))
    assert (steps > 0).all()
    assert np.allclose(steps, steps[::-1])
    assert steps[9] > 5 * steps[0]
    bare = np.asarray(frames[-1], int)
    draw(frames[-1], look, pixels[-1])
    rows = np.abs(np.asarray(frames[-1], int) - bare).max(axis=2) > 30
    assert abs(rows.sum(axis=1).max() - 2 - 8 * 180 / 24) <= 3  # of 8 cells, with its halo


@pytest.mark.parametrize("source", PLANE)
def test_blocks_are_covered_by_as_many_cells_as_they_hold(source, as_trees):
    blocks = blocks_of(source, limit=300)
    alpha = np.asarray(render(blocks, Look(resolution=(160, 120), transparent=True)).image)[..., 3] / 255
    area = blocks.size**2 * (1 if blocks.lattice == "square" else 3**0.5 / 2) / aim(blocks, Look()).pixel(np.array(1.0), 120) ** 2
    density = blocks.values["density"]
    assert alpha.sum() == pytest.approx(area * (density / density.max()).sum(), rel=0.01)


@pytest.mark.parametrize(("source", "level"), [*product(PLANE, (0, 2)), ("hexagonal:300", 3)])
def test_blocks_have_the_mean_generation_of_their_cells(source, level, as_trees):
    name, last = source.split(":")
    growth, blocks = grow(name, int(last), cells=True), read_source(source).blocks(1 << 20, level=level)
    cells = np.concatenate(list(growth))
    born = np.repeat(np.arange(len(growth.births)), growth.births)
    corners, which = np.unique(cells >> level << level, axis=0, return_inverse=True)
    means = np.bincount(which.ravel(), born) / np.bincount(which.ravel())
    found = blocks.generations[np.lexsort(blocks.corners[:, 1::-1].T)]
    assert len(found) == len(corners)
    assert (found - means).min() > -1
    assert (found - means).max() < 2 + int(last) / 64


def test_a_hexagon_is_the_same_turned_by_60_degrees(as_trees):
    """Which blocks of the lattice are not."""
    blocks, turned = blocks_of("hexagonal:1000", limit=50_000), []
    assert blocks.size == 8
    for angle in np.radians([0, 60, 120]):
        view = View((0, 0, 1), up=(-np.sin(angle), np.cos(angle), 0), parallel=True)
        turned.append(np.asarray(render(blocks, Look(resolution=(120, 120), view=view)).image, float))
    assert max(np.abs(each - turned[0]).mean() for each in turned) < 5 < turned[0].std() / 12


def alive(data, cell):
    """Whether a cell is alive by what a page is sent, found by a descent in the image at which 3x + y is greatest."""
    counts, space = data["counts"], 4 if data["flat"] else 8
    planes = np.frombuffer(gzip.decompress(b64decode(data["rows"])), np.uint8).reshape(2, -1).astype(int)
    rows = np.split((planes[0] + 256 * planes[1] - 1).reshape(-1, space), np.cumsum(counts)[:-1])
    images = [np.array(m).reshape(2, 2) @ cell for m in np.reshape(data["maps"], (-1, 4))] or [np.array(cell)]
    place = max(images, key=lambda image: 3 * image[0] + image[1]) - [int(x) for x in data["corner"][: len(cell)]]
    number = 1
    for level, halves in zip(reversed(range(data["level"])), rows, strict=True):
        bits = [int(x) >> level & 1 for x in place]
        number = halves[number - 1][bits[0] + 2 * bits[1] if data["flat"] else 4 * bits[0] + 2 * bits[1] + bits[2]]
        if not number:
            return False
    return number == 255


@pytest.mark.parametrize("source", ["square8:20", "hexagonal:21", "triangular:12", "ulam-warburton-3:13", "cubic6:6"])
def test_a_page_is_sent_every_cell(source, as_trees):
    data = data_in(page(source, Look()).document)
    cells = set(map(tuple, cells_of(source).tolist()))
    low = int(data["corner"][0])
    box = np.argwhere(np.ones((-2 * low,) * (2 if data["flat"] else 3))) + low
    assert {tuple(cell) for cell in box.tolist() if alive(data, cell)} == cells
    for name, theme in THEMES.items():
        last = np.frombuffer(b64decode(data["themes"][name]["palette"]), np.uint8)[-3:]
        assert np.abs(last - 255 * theme.map(np.array(1.0))).max() <= 0.5  # of a block full of cells, and of the cells farthest out
    assert len(data["maps"]) == 4 * {"square8": 8, "hexagonal": 12}.get(source.split(":")[0], 0)


def test_threads_draw_one_automaton():
    generations = [*range(8200, 8600, 50)]
    with ThreadPoolExecutor(4) as threads:
        found = [*threads.map(lambda last: read_source(f"square8:{last}").tree.population, generations)]
    assert found == [tree("square8", last).population for last in generations]


@pytest.mark.parametrize(("source", "near"), [("square8:2^13", [[16344, 16344, -40], [16424, 16424, 40]]), ("square8:60", None)])
def test_a_growth_that_is_equally_dense_everywhere_opens_at_its_cells(source, near, as_trees):
    assert data_in(page(source, Look()).document)["views"][0]["hull"] == near
    still = page_scenes.tree_scene(read_source(source), Look()).blocks
    assert (len(still) > 40**2, still.size) == (True, 1)
    assert ("44.4 percent of each alive" in blocks_of(source, limit=10_000).note) == bool(near)


@pytest.mark.nightly
def test_a_page_of_a_large_growth_is_small():
    made = page("hexagonal:2^14", Look())
    assert (made.population, made.note) == (511670917, "")
    assert len(made.document) <= 330_000


def test_a_page_that_would_be_larger_leaves_out_the_least_blocks(as_trees, monkeypatch):
    monkeypatch.setattr(page_scenes, "LIMIT", 300)
    made = page("hexagonal:200", Look())
    least = data_in(made.document)["least"]
    assert least > 0
    assert made.note == f"drawn to squares of {1 << least} cells a side"


@needs_chromium
@pytest.mark.nightly
@pytest.mark.parametrize(("colour", "apart"), [(None, True), ("density", False)])
def test_a_page_has_the_colours_of_the_distance_or_of_the_density(chromium, colour, apart):
    chromium.open(chromium.page("hexagonal:2^14", colour=colour))
    chromium.do("gpunim.controls.zoom(1 / 700, innerWidth / 2, innerHeight / 2)")
    picture, seen = chromium.picture(), chromium.object()
    rows, columns = (np.flatnonzero(seen.any(axis=axis)) for axis in (1, 0))
    middle, across = (rows[0] + rows[-1]) // 2, np.ptp(columns)
    inside, left, right = (picture[middle, columns[0] + across * part // 20] for part in (10, 1, 19))
    assert (np.abs(inside - left).max() > 60) == apart
    assert np.abs(left - right).max() < 16


@needs_chromium
@pytest.mark.nightly
@pytest.mark.parametrize("source", ["hexagonal:200", "ulam-warburton:2^40", "triangular:90"])
def test_the_page_zooms_to_the_cells(chromium, source, as_trees):
    """Where the distances from two cells differ, the nearer one is named if it is alive, and nothing if not."""
    chromium.open(chromium.page(source, title=f"{source} as a tree"), ratio=1)
    while chromium.do("return gpunim.camera.reach") > 9:
        chromium.do("gpunim.controls.zoom(8, 220, 135)")
    chromium.picture()
    at = np.random.default_rng(3).integers((60, 130), (420, 250), (200, 2)).tolist()
    focus, reach, room, found = chromium.do(
        """const { controls, camera } = gpunim;
        return [camera.focus.map(String), camera.reach, controls.room(), arguments[0].map(([x, y]) => {
          const hit = controls.hit(x, y); return hit && hit.level === 0 ? hit.cell.map(String) : hit })]""",
        at,
    )
    tree, named = read_source(source), 0
    high = Decimal(3).sqrt() / 2 if tree.lattice != "square" else Decimal(1)
    across, up = (Decimal(int(part)) / 2**40 for part in focus[:2])
    for (x, y), hit in zip(at, found, strict=True):
        right = across + Decimal((x - room["width"] / 2) / room["half"] * reach)
        above = up + Decimal((room["middle"] - y) / room["half"] * reach)
        if high == 1:
            cell, apart = np.array([floor(right), floor(above)]), min(right % 1, 1 - right % 1, above % 1, 1 - above % 1)
        else:
            column, row = floor(right - above / high / 2), floor(above / high)
            gaps = {
                (column + i, row + j): hypot(column + i + Decimal(row + j) / 2 - right, (row + j) * high - above) for i, j in NEAR
            }
            first, second = sorted(gaps, key=gaps.__getitem__)[:2]
            cell, apart = np.array(first), gaps[second] - gaps[first]
        if apart > 0.05:
            place = cell + tree.tree.corner
            lives = len(tree.tree.blocks(9, 0, (place, place + 1))[0]) > 0
            assert hit == ([*map(str, cell.tolist()), "0"] if lives else None), (x, y)
            named += lives
    assert 20 < named < 180
    assert chromium.complaints() == []


@pytest.mark.parametrize("text", ["7y <= x + z + 3", "y <= 3x + 2z", "9y <= x + z + 4"])
def test_a_proved_game_of_any_size_is_drawn_as_a_tree_of_its_cells(text):
    size = 10**15 + 12345
    source = read_source(f"inequalities:where={text},size={size}")
    assert source.tree.population == prove(text).count(size)
    near, _, level = source.tree.blocks(10**5, box=((0,) * 3, (64,) * 3))
    assert (level, source.blocks(1000, "density").population) == (0, source.tree.population)
    solved = solve(text, 63).p_positions
    assert sorted(map(tuple, near[(near < 64).all(axis=1)])) == sorted(map(tuple, solved[(solved < 64).all(axis=1)]))
    assert max(source.tree.bounds[1][0], source.tree.bounds[1][2]) == size
