"""Motions of movies: the schedule of their frames, and where their cameras are."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim.jobs.grow_job import grow
from gpu_nim.render.colourings import glow_by_age
from gpu_nim.render.image import prepare, render, renderer, view_of
from gpu_nim.render.look import Look
from gpu_nim.render.motions import Movie, motion_of
from gpu_nim.render.motions.sweep import GrowthMotion, Sweep, grown_caption
from gpu_nim.render.source import blocks_of
from gpu_nim.render.traced_object import TracedObject
from tests.helpers import calls
from tests.render_files import frame

LOOK = Look(resolution=(64, 48), quality="draft", engine="numpy")


grown = cache(blocks_of)


@settings(max_examples=10, deadline=None)
@given(
    st.sampled_from(["nim:21", "edge:9", "fcc:6", "ulam-warburton:20", "hexagonal:9", "chocolate:size=7"]),
    st.integers(2, 60),
    st.sampled_from(["growth", "growth+turntable"]),
    st.sampled_from(["three-quarter", "isometric", "axis", "gasket", "200,35"]),
    st.sampled_from([(64, 48), (48, 64)]),
)
def test_a_growth_is_one_take_and_has_in_view_all_that_is_shown(name, frames, motion, view, size):
    blocks = grown(name)
    if blocks.flat and view == "gasket":
        view = "axis"
    growth = GrowthMotion(Movie(name, motion, frames, look=replace(LOOK, resolution=size, view=view)))
    moments, cameras = zip(*((growth.moment(number), growth.camera(number)) for number in range(frames)), strict=True)
    times, generations = (np.array(part) for part in zip(*moments, strict=True))
    last = int(blocks.generations.max())
    assert (generations[0], generations[-1], times[-1]) == (3, last, last)
    steps = np.diff(np.log2(times + 1))
    assert np.ptp(steps[steps > 0]) < 1e-9  # each doubling takes equally long
    assert (steps < 1e-9).sum() <= 30 / 4  # of a rest at the end, of a quarter of a second at most
    assert (generations == np.floor(times + 1e-6)).all()
    for generation, camera in zip(generations, cameras, strict=True):
        shown = blocks.take(blocks.generations <= generation)
        corners = shown.corners[:, None] + shown.size * np.array([[0.2] * 3, [0.8] * 3])
        if blocks.flat:
            corners = corners[:, :1] * [1, 1, 0] if blocks.lattice == "square" else np.zeros((1, 1, 3))
        across = camera.project(corners)[..., :2]
        assert (np.abs(across) <= [size[0] / size[1] + 1e-4, 1 + 1e-4]).all()
    assert np.allclose(cameras[-1].basis, view_of(blocks, growth.look).basis())


def test_a_growths_object_turns_as_on_a_turntable_while_it_grows_as_alone():
    alone, turned, table = (motion_of(Movie("edge:9", name, 24, look=LOOK)) for name in ("growth", "growth+turntable", "turntable"))
    for number in range(24):
        assert turned.moment(number) == alone.moment(number)
        assert np.allclose(turned.camera(number).basis, table.camera(number).basis)
    assert not np.allclose(alone.camera(0).basis, alone.camera(23).basis)


def test_the_newest_cells_light_what_is_around_them():
    look = replace(LOOK, resolution=(128, 96))
    growth = GrowthMotion(Movie("nim:31", "growth", 240, look=look))
    number = next(number for number in range(240) if growth.moment(number)[1] == 8)
    part, camera = growth.until(8), growth.camera(number)

    def light(growth, look):
        """What a frame has beyond the object's picture, 0 to 1."""
        base = glow_by_age(look.colours_of(part), part.generations, 8, look.drawn_theme)
        alone = renderer(part, look, "numpy", base).frame(camera, grown_caption(blocks_of("nim:31"), 8))
        return (np.asarray(growth.frame(number), float) - np.asarray(alone)) / 255

    newest = camera.on_picture(part.centres()[part.generations == 8], 128, 96)[:, None, None, :2]
    away = np.linalg.norm(np.indices((96, 128))[::-1].transpose(1, 2, 0) + 0.5 - newest, axis=-1).min(axis=0)
    rings = [float(light(growth, look)[(away >= near) & (away < near + 8)].mean()) for near in (0, 8, 16, 32)]
    assert rings == sorted(rings, reverse=True)
    assert rings[0] > max(0.005, 5 * rings[3])
    paper = replace(look, theme="paper")
    assert not light(GrowthMotion(Movie("nim:31", "growth", 240, look=paper)), paper).any()


@pytest.mark.parametrize(("source", "limit"), [("nim-4:8", 9999), ("edge:8", 60), ("nim:8", 30)])
def test_the_population_is_that_of_all_cells_of_an_object_that_is_projected_or_merged(source, limit):
    obj = prepare(blocks_of(source, limit=limit), Look())
    assert len(obj) < obj.population
    births = grow(source[:-2], 8).births.tolist()
    assert grown_caption(obj, 7) == f"generation 7    population {sum(births[:8]):,}"


def test_a_growth_that_leaps_ahead_is_in_view_at_once():
    """Cells far out in a generation between two at which the camera is fitted: it is there before them."""
    obj = blocks_of("nim:31")
    far = replace(obj, corners=np.where(obj.generations[:, None] == 20, 4 * obj.corners, obj.corners).astype(np.int32))
    growth = GrowthMotion(Movie(far, "growth", 60, look=LOOK))
    for number in range(60):
        across = growth.camera(number).project(far.centres()[far.generations <= growth.moment(number)[1]])[:, :2]
        assert (np.abs(across) < [64 / 48, 1]).all(), number


@pytest.mark.parametrize("view", ["-55,35", "130,20", "20,10", "200,-15"])
def test_a_clip_removes_what_is_before_a_plane_and_shows_its_section(view):
    """From the side of the eye, which sees the section as it is beside it, neither mirrored nor turned."""
    clip = motion_of(Movie("edge:7", "clip", 15, look=Look(resolution=(320, 180), quality="draft", engine="numpy", view=view)))
    obj, toward = clip.obj, clip.camera.basis[2]
    depths = -obj.corners[:, clip.axis] * np.sign(toward[clip.axis])
    layers = [clip.layer(number) for number in range(15)]
    assert layers == sorted(layers)
    assert (layers[0], layers[-1]) == (depths.min(), depths.max())
    here = depths == clip.layer(7)
    seen, beside = clip.camera.project(obj.centres()[here]), clip.front.project(clip.section.centres()[here])
    assert min(np.corrcoef(seen[:, k], beside[:, k])[0, 1] for k in (0, 1)) > 0.5
    assert seen[:, 0].max() < beside[:, 0].min()
    frame = np.asarray(clip.frame(7), float)
    x, y, _ = np.rint(clip.front.on_picture(clip.section.centres()[here], 320, 180) - 0.5).astype(int).T
    assert np.allclose(frame[y, x] / 255, clip.look.colours_of(obj)[here], atol=0.05)
    last = np.asarray(clip.frame(14), float)
    assert 0 < (last[:150, :150].max(axis=2) > 80).sum() < (frame[:150, :150].max(axis=2) > 80).sum()


def test_a_frame_does_not_depend_on_the_frames_before_it():
    movie = Movie("nim:7", "growth", 30, look=LOOK)
    one = motion_of(movie)
    other = motion_of(movie)
    numbers = (29, 3, 16, 0)
    drawn = {number: np.asarray(one.frame(number)) for number in numbers}
    assert all(np.array_equal(other.frame(number), drawn[number]) for number in reversed(numbers))


@pytest.mark.parametrize(("source", "engine"), [("edge:12", "numpy"), ("nim:40", "trace"), ("edge:12", "trace")])
def test_each_frame_of_a_growth_has_its_own_colours_and_its_newest_cells_glow(source, engine):
    look = Look(resolution=(120, 90), quality="draft", engine=engine)
    growing = GrowthMotion(Movie(source, "growth", 40, look=look))
    name, last = source.split(":")
    for generation in (7, int(last)):
        part, cells = growing.until(generation), blocks_of(f"{name}:{generation}")
        if isinstance(part, TracedObject):
            shown = part.colours(cells.corners.T.astype(np.int64), np.zeros(len(cells), np.int8))
        else:
            shown = glow_by_age(look.colours_of(part), part.generations, generation, look.drawn_theme)
        still, new = look.colours_of(cells), cells.generations == generation
        assert np.allclose(shown[new], 1.5 * still[new], atol=0.03)
        assert np.allclose(shown[0], still[0], atol=0.03)  # which has cooled
        assert (np.diff(shown[:, 0] / still[:, 0]) > -1e-6).all()


@pytest.mark.parametrize("engine", ["numpy", "trace"])
def test_a_cell_has_one_colour_and_a_legend_and_axes_one_scale_in_all_of_a_sweep(engine, monkeypatch):
    look, boxes = Look(resolution=(320, 180), quality="draft", engine=engine, legend=True, axes=True), set()
    monkeypatch.setattr("gpu_nim.render.annotations.draw_axes", lambda box, *rest: boxes.add(tuple(box.high.tolist())))
    sweep = Sweep(Movie("chocolate:a=1..8,size=15", "sweep", 8, look=look))
    cells = np.array([(x, 0, x) for x in range(16)])  # of every chocolate
    scales, legends = set(), set()
    for number in (0, 3, 7):
        obj, base = sweep.coloured(sweep.object_at(sweep.sweep[number]))
        corners = obj.outline.corners
        if isinstance(obj, TracedObject):
            base = obj.colours(corners.T.astype(np.int64), np.zeros(len(corners), np.int8))
        scales.add(np.array([base[(corners == cell).all(axis=1)][0] for cell in cells]).tobytes())
        legends.add(np.asarray(sweep.frame(number))[:140, 260:].tobytes())
    assert (len(scales), len(legends), boxes) == (1, 1, {(15, 15, 15)})
    assert len(np.unique(base, axis=0)) > 8


def test_a_sweep_makes_and_solves_one_game_a_frame():
    def draw():
        sweep = Sweep(Movie("chocolate:a=1..10,size=7", "sweep", 10, look=LOOK))
        for number in range(10):
            sweep.frame(number)

    found = calls(draw)
    assert [found[name] for name in ("parse_game", "InequalityGame.__post_init__", "InequalityGame.solve")] == [0, 10, 10]


@pytest.mark.parametrize("engine", ["numpy", "trace"])
def test_a_cut_object_fills_its_picture_whether_it_rests_or_grows(engine):
    look = Look(resolution=(160, 120), quality="draft", engine=engine, cut="half", view="200,20")
    still = np.asarray(render("edge:15", look, transparent=True).image)[..., 3] > 99
    grown = np.ptp(np.asarray(GrowthMotion(Movie("edge:15", "growth", 4, look=look)).frame(3), int), axis=2)[:104] > 60
    for obj, height in ((still, 0.86), (grown, 0.5)):  # the less for its words and since it turns
        _, _, top, bottom = frame(obj)
        assert bottom - top + 1 > height * 120
