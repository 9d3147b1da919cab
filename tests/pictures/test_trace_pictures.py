"""Traced pictures: against the engine that draws sides, objects and their colours, and what the command says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim import grow, solve
from gpu_nim.backends.numpy.trace import NumpyTracer
from gpu_nim.backends.shared.brick_scenes import BrickPacker, open_levels
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Rule
from gpu_nim.model.tracing import NimScene, Rays
from gpu_nim.render import trace
from gpu_nim.render.defined_scenes import coarse_cells, population
from gpu_nim.render.image import aim, choose_engine, render, standpoint
from gpu_nim.render.look import Look
from gpu_nim.render.motions import Movie, flights, motion_of
from gpu_nim.render.motions.sweep import GrowthMotion
from gpu_nim.render.page import page
from gpu_nim.render.source import blocks_of, read_source
from gpu_nim.render.trace import CutTracer, coloured_in_view, primary_rays
from gpu_nim.render.traced_object import CellBox, traced_object
from tests.helpers import facts
from tests.lattices import ONE

SMALL = {"resolution": (96, 72), "quality": "draft"}
TINY = {"resolution": (32, 24), "quality": "draft"}


@given(st.data())
@settings(max_examples=40)
def test_a_cut_hides_what_is_left_out_of_the_set(data):
    """Rays through a cut scene hit what they hit in a scene that never had the cells."""
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    side = data.draw(st.integers(2, 12))
    cells = np.argwhere(random.random((side,) * 3) < data.draw(st.sampled_from([0.05, 0.3, 0.9])))
    box = CellBox(*np.sort(random.integers(0, side + 1, (2, 3)), axis=0))
    scenes = []
    for kept in (cells, cells[~box.holds(cells.T)]):
        packer = BrickPacker((0, 0, 0), (side,) * 3)
        packer.add(kept)
        scenes.append(packer.scene())
    directions = random.normal(size=(3, 60))
    directions /= np.linalg.norm(directions, axis=0)
    rays = Rays(random.integers(-6, side + 6, (3, 60)), random.random((3, 60)), directions, np.zeros(60, np.int8))
    found = CutTracer(NumpyTracer(scenes[0]), box).trace(rays)
    expected = NumpyTracer(scenes[1]).trace(rays)
    assert np.array_equal(found.faces >= 0, expected.faces >= 0)
    assert np.allclose(found.distances, expected.distances)
    met = expected.met
    assert np.array_equal(found.faces[met], expected.faces[met])
    assert np.array_equal(found.cells[:, met], expected.cells[:, met])


@pytest.mark.parametrize(
    ("source", "stop", "first"), [("nim:2^40", 2**39, 2**39), ("nim:2^40-1", 2**39, 2**39), ("nim:62", 31, 32)]
)
def test_a_cut_is_between_cubes_of_a_large_object_and_in_the_middle_of_a_small_one(source, stop, first):
    """A layer of one cell on a cut would be seen as isolated pixels."""
    look = Look(cut="corner")
    box = traced_object(source, look).opened("corner", np.array([1.0, -1.0, 1.0])).removed
    assert (box.first.tolist(), box.stop[1]) == ([first, 0, first], stop)


@pytest.mark.parametrize(("name", "options"), [("nim:31", {}), ("edge:12", {"theme": "paper"}), ("fcc:6", {"colour": "branch"})])
def test_a_traced_picture_looks_like_the_others(name, options):
    sides, rays = (np.asarray(render(name, engine=engine, **SMALL, **options).image, float) for engine in ("numpy", "trace"))
    assert np.abs(sides - rays).mean() < 8
    assert np.corrcoef(sides.ravel(), rays.ravel())[0, 1] > 0.95


def test_what_would_be_merged_is_traced():
    for obj in ("nim:2047", "edge:256", "chocolate:a=3,size=4095", grow("edge", 256, cells=True)):
        assert choose_engine(Look(), read_source(obj))[0] == "trace"
        for motion in ("turntable", "growth") if isinstance(obj, str) else ():
            assert Movie(obj, motion).engine == "trace"
    for obj, look in (("edge:7", {}), ("edge:256", {"engine": "numpy"}), ("square8:9999", {}), ("nim:2047", {"colour": "branch"})):
        assert choose_engine(Look(**look), read_source(obj))[0] == Movie(obj, look=Look(**look)).engine != "trace"
    picture = render("edge:256", cut="half", **TINY)
    assert (picture.engine, picture.note) == ("trace", "traced cell by cell; cut open (half)")


@pytest.mark.parametrize(
    ("options", "sizes", "most"),
    [
        ({}, (20, 50), 0.002),
        ({"cut": "corner"}, (22, 50), 0.002),
        # Cells and pixels are far apart, so the view differs by the light of single pixels alone.
        ({"view": "inside"}, (20, 60), 0.01),
    ],
)
def test_the_same_picture_at_every_size_and_another_where_it_is_cut(options, sizes, most):
    small, large = (np.asarray(render(f"nim:2^{bits}-1", engine="trace", **SMALL, **options).image, int) for bits in sizes)
    assert (np.abs(small - large).max(axis=2) > 2).mean() < most
    assert np.ptp(small, axis=(0, 1)).max() > 100
    whole = np.asarray(render("nim:2^20-1", engine="trace", **SMALL).image, int)
    assert (np.abs(small - whole).max(axis=2) > 2).mean() > 0.03 or not options


@given(
    st.integers(0, 70),
    st.integers(0, 40),
    st.tuples(*(st.integers(1, 70),) * 3),
    st.sampled_from([(0, 0, 0), (-1, 3, -1), (-2, 5, -2)]),
)
@settings(max_examples=30)
def test_populations_and_coarse_cells_are_those_of_the_definition(last, first, box, inequality):
    scene = NimScene(last, first, box, inequality)
    a, c = (part.ravel() for part in np.indices((128, 128)))
    cells = np.stack([a, a ^ c, c], axis=1)
    half = cells.sum(axis=1) // 2
    cells = cells[(half <= last) & (half >= first) & (cells < np.array(box)).all(axis=1) & (cells @ np.array(inequality) <= 0)]
    assert population(scene) == len(cells)
    for bits in (7, 3):
        coarse, level = coarse_cells(scene, bits)
        assert {tuple(cell) for cell in (cells >> level).tolist()} <= {tuple(cell) for cell in coarse.tolist()}
    assert len(coarse_cells(scene, 7)[0]) == len(cells)


@pytest.mark.parametrize(
    "game", ["chocolate:a=3", "chocolate:a=7", "chocolate:a=11", "bar:k=2", "bar:k=6", "inequalities:where=7z <= x + y"]
)
def test_games_with_nims_positions_are_those_that_are_solved(game):
    name, _, slope = game.partition(":")
    scene = read_source(f"{game},size=50").scene
    parameter, _, value = slope.partition("=")
    solved = solve(name, 50, **{parameter: value}).p_positions
    cells, level = coarse_cells(scene, 7)
    assert level == 0
    assert {tuple(cell) for cell in cells.tolist()} == {tuple(cell) for cell in solved.tolist()}
    assert population(scene) == len(solved)
    assert (solved.max(axis=0) < np.array(scene.shape)).all()


def test_other_games_have_no_definition_to_draw():
    games = ("chocolate:a=1", "chocolate:a=5", "chocolate:a=16", "chocolate:a=7/2", "bar:k=3", "bar:k=5/2")
    assert [read_source(f"{game},size=50").scene for game in games] == [None] * 6


@pytest.mark.parametrize("name", ["edge:14", "fcc:9", "cubic26:14"])
@pytest.mark.parametrize("colour", ["rank", "generation"])
def test_every_cell_is_there_and_has_the_colour_of_its_generation(name, colour):
    blocks = blocks_of(name)
    packed = traced_object(name, Look(colour=colour))
    assert packed.outline.population == len(blocks)
    assert np.bitwise_count(packed.scene.words[: packed.scene.starts[1]]).sum() == len(blocks)
    levels = np.zeros(len(blocks), np.int8)
    cells = blocks.corners.T.astype(np.int64)
    assert (open_levels(packed.scene)(cells - np.array(packed.scene.corner)[:, None]) < 0).all()
    found = packed.colours(cells, levels)
    last = int(name.partition(":")[2])
    for generation in range(last + 1):
        assert len(np.unique(found[blocks.generations == generation], axis=0)) == 1
    assert len(np.unique(found, axis=0)) == last + 1


def test_merged_cells_have_the_colour_of_one_of_them():
    growth = grow("fcc", 7, cells=True)
    obj = traced_object(growth, Look(colour="generation"))
    cells = growth.cells().astype(np.int64)
    own = {tuple(colour) for colour in obj.colours(cells.T, np.zeros(len(cells), np.int8)).tolist()}
    for level in (1, 2, 3, 4):
        levels = np.full(len(cells), level, np.int8)
        first = obj.scene.first_cells(cells.T, levels)
        alive = {tuple(cell) for cell in cells.tolist()}
        corner = np.array(obj.scene.corner)[:, None]
        assert all(tuple(cell) in alive for cell in first.T.tolist())
        assert np.array_equal(first - corner >> level, cells.T - corner >> level)
        assert {tuple(colour) for colour in obj.colours(cells.T, levels).tolist()} <= own


def test_a_part_of_the_generations_is_traced():
    for name in ("nim:31", "edge:31"):
        obj = traced_object(name, Look(generations=(8, 16)))
        blocks = blocks_of(name)
        assert obj.outline.population == ((blocks.generations >= 8) & (blocks.generations < 16)).sum()
        exported = page(name, Look(generations=(8, 16)))
        told = {(exported.population, exported.note)}
        for engine in ("numpy", "trace"):
            picture = render(name, generations=(8, 16), engine=engine, **TINY)
            told.add((picture.population, picture.note))
        assert told == {(obj.outline.population, "generations 8 to 15")}


def test_grundy_values_are_traced_in_their_colours():
    solution = solve("chocolate", 15, grundy=True)
    obj = traced_object("chocolate:size=15,grundy=3", Look(colour="grundy"))
    points, values = solution.points(3)
    found = obj.colours(points.T, np.zeros(len(points), np.int8))
    assert obj.outline.population == len(points)
    assert len(np.unique(np.column_stack([found, values]), axis=0)) == len(np.unique(values)) == len(np.unique(found, axis=0))


def test_no_generation_of_a_growth_is_left_out_silently():
    births = np.ones(2**16 + 1, np.uint64)
    begun = grow(Rule(3, ((1, 0, 0),), ONE, ((0, 0, 0),)), 0, backend="numpy")
    long = replace(begun, births=births, checksums=births, source=lambda *span: ((n, np.array([[n, 0, 0]])) for n in range(*span)))
    with pytest.raises(UsageError, match=r"a growth can be traced to generation 65535, got .* to 65536"):
        traced_object(long, Look())


def test_the_command_reports_a_traced_picture(tmp_path):
    report = facts("render", "nim:2^40", "-o", tmp_path / "a.png", "--resolution", "64x48", "--quality", "draft")
    assert (report["engine"], report["population"], report["note"]) == ("trace", 4**40 + 3, "traced cell by cell")


@pytest.mark.parametrize(
    ("source", "motion", "look"),
    [
        ("nim:40", "growth", {}),
        ("edge:11", "growth", {"cut": "corner"}),
        ("fcc:5", "growth", {"colour": "branch", "generations": (1, 5)}),
        ("edge:7", "turntable", {"colour": "generation"}),
        ("edge:7", "turntable", {"cut": "half"}),
        ("chocolate:a=2..3,size=15", "sweep", {}),
    ],
)
@pytest.mark.nightly
def test_a_traced_movie_looks_like_one_of_blocks(source, motion, look):
    frames = []
    for engine in ("numpy", "trace"):
        drawn = motion_of(Movie(source, motion, 7, look=Look(engine=engine, **SMALL, **look)))
        frames.append([np.asarray(drawn.frame(number), float) for number in (0, 3, 5)])
    for blocks, rays in zip(*frames, strict=True):
        assert np.corrcoef(blocks.ravel(), rays.ravel())[0, 1] > 0.93


@pytest.mark.nightly
def test_a_movie_of_an_object_of_any_size_is_traced():
    """In the growth of Nim each doubling looks like the one before, in the colours of its own generations."""
    movie = Movie("nim:2^31-1", "growth", frames=34, look=Look(**SMALL))
    growth = GrowthMotion(movie)
    growth.turn = 0.0
    assert growth.engine == "trace"
    generations = [growth.moment(number)[1] for number in range(34)]
    one, other = (np.asarray(growth.frame(generations.index(2**m - 1)), int)[:50] for m in (20, 30))
    assert (np.abs(one - other).max(axis=2) > 3).mean() < 0.01


def test_an_eye_between_two_cells_of_the_largest_object_is_exact():
    """At 2^60 doubles are 128 apart: two cells from a cell of the set, the eye sees it."""
    cell = (2**59 + 2**58 + 1, 2**59 + 1, 2**58)
    assert cell[0] ^ cell[1] ^ cell[2] == 0
    eye = f"{cell[0]}+1,{cell[1]},{cell[2]}+2"
    at = f"{cell[0]},{cell[1]},{cell[2]}"
    obj = traced_object("nim:2^60-1", Look())
    camera = aim(obj.outline, Look(eye=eye, look_at=at))
    assert trace.eye_of(camera)[0].ravel().tolist() == [cell[0] + 1, cell[1], cell[2] + 2]
    rays = trace.primary_rays(camera, (9, 9), np.arange(81), (0.5, 0.5))
    hits = NumpyTracer(obj.scene).trace(rays)
    assert (np.abs(hits.cells - np.array(cell)[:, None]).max(axis=0) <= 3)[hits.distances < 4].all()
    assert (hits.distances < 4).any()


def test_a_zoom_has_no_seam(monkeypatch):
    """The frame after the last is the first, at an eighth of the scale; halfway it is another one."""
    pixels = []
    monkeypatch.setattr(flights, "draw_scale", lambda image, look, pixel: pixels.append(pixel))
    zoom = motion_of(Movie("nim", "zoom", frames=4, look=Look(**SMALL)))
    first, half, last = (np.asarray(zoom.frame(number), int) for number in (0, 2, 4))
    assert (np.abs(first - last).max(axis=2) > 2).mean() < 0.005
    assert (np.abs(first - half).max(axis=2) > 2).mean() > 0.02
    assert pixels == pytest.approx(2 * np.tan(np.radians(20)) * 2.0**46 / len(first) / np.array([1, 8**0.5, 8]))


def test_an_object_is_counted_once():
    population.cache_clear()
    assert render("bar:k=6,size=2^50", **TINY).engine == "trace"
    assert population.cache_info().misses == 1


@pytest.mark.parametrize("colour", [None, "generation"])
def test_an_eye_before_cells_of_an_object_of_2_to_the_60_sees_all_colours(colour):
    look = Look(eye="2^59+3000,2^59+2500,1500", look_at="2^59,2^59,0", colour=colour, **SMALL)
    whole = traced_object("nim:2^60", look)
    camera = standpoint(look, *whole.outline.bounds())
    narrowed = coloured_in_view(whole, look, camera)
    hits = NumpyTracer(whole.scene).trace(primary_rays(camera, (96, 72), np.arange(96 * 72), (0.5, 0.5)))
    seen, before = (obj.colours(hits.cells[:, hits.met], hits.levels[hits.met]) for obj in (narrowed, whole))
    assert np.ptp(before, axis=0).max() < 0.05
    every = look.drawn_theme.map(np.linspace(0, 1, 256))
    assert np.ptp(seen, axis=0).max() > 0.9 * np.ptp(every, axis=0).max()
    place = np.linalg.norm(seen[:, None] - every, axis=2).argmin(axis=1)
    levels = hits.levels[hits.met]
    order = np.argsort(np.bitwise_or.reduce(hits.cells[:, hits.met] >> levels << levels), kind="stable")
    assert (np.diff(place[order]) >= 0).all()
