"""Motions of movies: the schedule of their frames, and where their cameras are."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim.jobs.growth import grow
from gpu_nim.render.colourings import glow_by_age
from gpu_nim.render.image import prepare, render
from gpu_nim.render.look import Look
from gpu_nim.render.motions import Movie, motion_of
from gpu_nim.render.motions.growth import GrowthMotion, Pullback, grown_caption, growth_stops
from gpu_nim.render.source import blocks_of
from gpu_nim.render.traced_object import TracedObject
from tests.render_files import frame

LOOK = Look(resolution=(64, 48), quality="draft", engine="numpy")


grown = cache(blocks_of)


@settings(max_examples=10, deadline=None)
@given(
    st.sampled_from(["nim:21", "edge:9", "fcc:6", "ulam-warburton:20", "hexagonal:9", "chocolate:size=7"]),
    st.integers(2, 60),
    st.integers(0, 3),
    st.sampled_from(["three-quarter", "isometric", "axis", "gasket", "200,35"]),
    st.sampled_from([(64, 48), (48, 64)]),
)
def test_a_growths_camera_goes_out_smoothly_and_has_in_view_all_that_is_shown(name, frames, hold, view, size):
    blocks = grown(name)
    if blocks.flat and view == "gasket":
        view = "axis"
    stops = growth_stops(0, int(blocks.generations.max()))
    if frames < len(stops) * hold:
        frames += len(stops) * hold
    path = Pullback(blocks, replace(LOOK, resolution=size, view=view), frames, hold, "generation 1")
    seen = [path.frame(number) for number in range(frames)]
    assert [generation for generation, _ in seen] == sorted(generation for generation, _ in seen)
    assert (seen[0][0], seen[-1][0]) == (0, stops[-1])
    held = [path.frame(number) for number in range(frames) if not path.schedule[number][1]]
    assert {generation for generation, _ in held} == set(stops) or not hold
    heights = []
    for generation, camera in seen:
        shown = blocks.take(blocks.generations <= generation)
        corners = shown.corners[:, None] + shown.sizes[:, None, None] * np.array([[0.2] * 3, [0.8] * 3])
        if blocks.flat:
            corners = corners[:, :1] * [1, 1, 0] if blocks.lattice == "square" else np.zeros((1, 1, 3))
        across = camera.project(corners)[..., :2]
        assert (np.abs(across) <= [size[0] / size[1] + 1e-4, 1 + 1e-4]).all()
        middle = (blocks.centres()[blocks.generations <= 3]).mean(axis=0)
        heights.append(float(camera.scale if camera.parallel else camera.distance(middle)))
        assert np.array_equal(camera.basis, seen[0][1].basis)
    assert all(after >= before * 0.999 for before, after in pairwise(heights))  # outwards
    # Over a way of s frames the picture's scale doubles once or a little more, and a way is eased in and out.
    ways = max(len(stops) - 1, 1)
    most = 4 / ((frames - len(stops) * hold) // ways + 1) if hold else 4 * ways / max(frames - 1, 1)
    assert max((np.log2(after / before) for before, after in pairwise(heights)), default=0) <= most


@pytest.mark.parametrize(("source", "limit"), [("nim-4:8", None), ("edge:8", 60), ("nim:8", 30)])
def test_the_population_is_that_of_all_cells_of_an_object_that_is_projected_or_merged(source, limit, monkeypatch):
    if limit:
        monkeypatch.setitem(blocks_of.__kwdefaults__, "limit", limit)
    obj = prepare(source, Look())
    assert len(obj) < obj.population
    growth = grow(source[:-2], 8)
    births = growth.births.tolist()
    caption = f"generation 7 = 2³ − 1    population {sum(births[:8]):,}    {births[7]:,} born, then {births[8]:,}"
    assert grown_caption(obj, 7) == caption


def test_a_growth_that_leaps_ahead_is_in_view_at_once():
    """Cells far out in the first generation after a pause: the camera is there before them."""
    obj = blocks_of("nim:15")
    far = replace(obj, corners=np.where(obj.generations[:, None] == 8, 4 * obj.corners, obj.corners).astype(np.int32))
    path = Pullback(far, LOOK, 60, 2)
    for number in range(60):
        generation, camera = path.frame(number)
        across = camera.project(far.centres()[far.generations <= generation])[:, :2]
        assert (np.abs(across) < [64 / 48, 1]).all(), (number, generation)


def test_a_frame_does_not_depend_on_the_frames_before_it():
    movie = Movie("nim:7", "growth", 30, options={"hold": "3"}, look=LOOK)
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
        part, cells = growing._whole.until(generation), blocks_of(f"{name}:{generation}")
        if isinstance(part, TracedObject):
            shown = part.colours(cells.corners.T.astype(np.int64), np.zeros(len(cells), np.int8))
        else:
            shown = glow_by_age(look.colours_of(part), part.generations, generation, look.drawn_theme)
        still, new = look.colours_of(cells), cells.generations == generation
        assert np.allclose(shown[new], 1.5 * still[new], atol=0.03)
        assert np.allclose(shown[0], still[0], atol=0.03)  # which has cooled
        assert (np.diff(shown[:, 0] / still[:, 0]) > -1e-6).all()


@pytest.mark.parametrize("engine", ["numpy", "trace"])
def test_a_cut_object_fills_its_picture_whether_it_rests_or_grows(engine):
    look = Look(resolution=(160, 120), quality="draft", engine=engine, cut="half", view="200,20")
    still = np.asarray(render("edge:15", look, transparent=True).image)[..., 3] > 99
    grown = np.ptp(np.asarray(GrowthMotion(Movie("edge:15", "growth", 4, look=look)).frame(3), int), axis=2)[:104] > 60
    for obj, height in ((still, 0.86), (grown, 0.6)):  # the less for its words
        _, _, top, bottom = frame(obj)
        assert bottom - top + 1 > height * 120
