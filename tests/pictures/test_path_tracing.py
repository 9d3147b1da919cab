"""Path tracing: against light carried by chance between cubes that are all tried; floor, edges and interrupts."""

from dataclasses import replace

import numpy as np
import pytest

from gpu_nim.backends.cuda import CudaBackend
from gpu_nim.model.tracing import surface
from gpu_nim.model.work import no_progress
from gpu_nim.render.image import aim, render
from gpu_nim.render.look import Look
from gpu_nim.render.motions import Movie, motion_of
from gpu_nim.render.motions.flights import Turntable
from gpu_nim.render.path_tracing import (
    BESIDE,
    BEVEL,
    BOUNCES,
    CELLS,
    LIGHT,
    NORMAL,
    OPEN,
    SAMPLES,
    SUN,
    PathTraced,
    Sampler,
    Stage,
    cosine_hemisphere,
    unit,
)
from gpu_nim.render.shading import ThreePointLighting
from gpu_nim.render.themes import to_linear
from gpu_nim.render.traced_object import traced_object
from gpu_nim.render.views import from_angles
from tests.cuda_host import HostLauncher, compiler
from tests.helpers import interrupt
from tests.render_files import nearest

SMALL = {"resolution": (32, 24), "quality": "pathtraced"}


def stage_of(source, **options):
    look = Look(**{**SMALL, **options})
    obj = traced_object(source, look)
    camera = aim(obj.outline, look)
    drawing = PathTraced(obj, look)
    return drawing, Stage(drawing, camera), camera


# Against chance and all cubes


def carried(stage, cells, colours, places, directions, random):
    """The light along rays from cubes with sharp edges, one random path each; black where nothing is met."""
    light, weight = np.zeros((len(places), 3)), np.ones((len(places), 3))
    alive = np.arange(len(places))
    sun_axes = np.linalg.svd(stage.sun[None])[2][1:]
    for bounce in range(BOUNCES + 2):
        distance, cube, axis = nearest(cells, places, directions)
        out = np.isinf(distance)
        if bounce:
            light[alive[out]] += weight[alive[out]] * stage.sky(directions[out].T)
        alive, places, directions = alive[~out], places[~out], directions[~out]
        if bounce > BOUNCES or not len(alive):
            break
        distance, cube, axis = distance[~out], cube[~out], axis[~out]
        places = places + directions * distance[:, None]
        normals = np.zeros_like(places)
        normals[np.arange(len(axis)), axis] = -np.sign(directions[np.arange(len(axis)), axis])
        weight[alive] *= colours[cube]
        radius, turn = SUN * np.sqrt(random.random(len(axis))), 2 * np.pi * random.random(len(axis))
        sun = stage.sun + sun_axes[0] * (radius * np.cos(turn))[:, None] + sun_axes[1] * (radius * np.sin(turn))[:, None]
        sun /= np.linalg.norm(sun, axis=1)[:, None]
        facing = (normals * sun).sum(axis=1)
        lit = (facing > 0) & np.isinf(nearest(cells, places, sun)[0])
        light[alive[lit]] += weight[alive[lit]] * stage.key * facing[lit, None]
        # A point of the unit sphere added to the normal has the density of Lambert's law.
        ball = random.normal(size=places.shape)
        directions = normals + ball / np.linalg.norm(ball, axis=1)[:, None]
        directions /= np.linalg.norm(directions, axis=1)[:, None]
    return light


@pytest.mark.nightly
@pytest.mark.parametrize(("source", "theme"), [("nim:7", "dark"), ("nim:5", "paper")])
def test_the_light_of_cells_is_that_of_random_paths_between_cubes(source, theme):
    """Of cells so small in the picture that their edges are sharp, and so few that none are merged."""
    drawing, stage, _ = stage_of(source, theme=theme, resolution=(24, 24))
    pixels = np.arange(24 * 24)
    sums, expected = 0, np.zeros((len(pixels), 3))
    random = np.random.default_rng(1)
    last = int(source.partition(":")[2])
    cells = np.array([(a, b, a ^ b) for a in range(last + 1) for b in range(last + 1) if a | b <= last])
    colours = to_linear(drawing.obj.colours(cells.T, np.zeros(len(cells), np.int8)))
    for sample in range(SAMPLES):
        sums = sums + stage.light(pixels, sample)
        rays = stage.primary(pixels, sample)
        places = (rays.cells + rays.fractions).T
        for _ in range(16):
            expected += carried(stage, cells, colours, places, rays.directions.T, random) / 16
    total, seen = sums[:, LIGHT], sums[:, CELLS] > 0
    assert seen.sum() > 60
    assert (expected[~seen] == 0).all()
    # Noise of thousands of paths; each channel, and the lit and the dark half of the object, for itself.
    bright = seen & (expected.sum(axis=1) > np.median(expected[seen].sum(axis=1)))
    for part in (bright, seen & ~bright):
        assert total[part].sum(axis=0) == pytest.approx(expected[part].sum(axis=0), rel=0.03)


# Sampling


def test_samples_are_evenly_spread_over_samples_and_over_neighbouring_pixels():
    sampler = Sampler(width=64, samples=16, uses=3)
    block = (np.arange(4)[:, None] * 64 + np.arange(4)).ravel()  # 4 x 4 pixels
    orders = set()
    for use in range(3):
        x, y = (np.concatenate(part) for part in zip(*(sampler(block, k, use) for k in range(16)), strict=True))
        filled = np.unique((x * 16).astype(int) * 16 + (y * 16).astype(int))
        assert len(filled) > 0.8 * 256  # 162 of 256 by chance
        one = np.array([sampler(block[:1], k, use) for k in range(16)])[:, :, 0]
        assert len(np.unique((one * 4).astype(int) @ (4, 1))) >= 11
        assert ((x >= 0) & (x < 1) & (y >= 0) & (y < 1)).all()
        orders.add(tuple(one[:, 0].tolist()))
    assert len(orders) == 3  # each use has its own


def test_directions_about_a_normal_have_the_density_of_the_cosine():
    place = Sampler(width=128, samples=1, uses=1)(np.arange(128**2), 0, 0)
    several = unit(np.random.default_rng(3).normal(size=(3, 4))).T.tolist()
    for normal in np.array([(0, 0, 1), (0, 0, -1), (1, 0, 0), (0.6, -0.48, -0.64), *several], float):
        normals = np.repeat(normal[:, None], 128**2, axis=1)
        directions = cosine_hemisphere(normals, place)
        cosine = (directions * normals).sum(axis=0)
        assert np.linalg.norm(directions, axis=0) == pytest.approx(1)
        assert (cosine >= 0).all()
        # The mean of the cosine is 2/3 under that law, and the mean direction is along the normal.
        assert cosine.mean() == pytest.approx(2 / 3, abs=1e-3)
        assert directions.mean(axis=1) == pytest.approx(normal * 2 / 3, abs=2e-3)


# The camera


def test_a_parallel_view_and_one_from_below_have_no_floor():
    _, stage, camera = stage_of("nim:7", view="isometric")
    rays = stage.primary(np.arange(32 * 24), 3)
    assert (rays.directions == -camera.basis[2][:, None]).all()
    assert stage.floor is stage_of("nim:7", view="30,-20")[1].floor is None


@pytest.mark.parametrize("view", ["three-quarter", "-40,35", "120,5", "30,80"])
def test_the_shadow_of_every_cell_is_in_the_picture(view):
    cells = np.array([(a, b, a ^ b) for a in range(4) for b in range(4)])
    corners = (cells[:, None] + np.indices((2, 2, 2)).reshape(3, 8).T).reshape(-1, 3)
    _, stage, camera = stage_of("nim:3", view=view)
    assert stage.floor is not None
    shadows = corners - stage.sun / stage.sun[2] * corners[:, 2:]
    for places in (corners, shadows):
        x, y, distance = camera.on_picture(places, 32, 24).T
        assert ((x > 0) & (x < 32) & (y > 0) & (y < 24) & (distance > 0)).all()


def test_the_shadow_of_an_object_that_turns_stays_in_the_picture():
    turntable = Turntable(Movie("nim:3", frames=8, look=Look(**SMALL)))
    corners = 4 * np.indices((2, 2, 2)).reshape(3, 8).T
    for camera in map(turntable.camera, range(8)):
        sun = ThreePointLighting.of(camera.basis).key
        x, y, _ = camera.on_picture(corners - sun / sun[2] * corners[:, 2:], 32, 24).T
        assert ((x > 0) & (x < 32) & (y > 0) & (y < 24)).all()


def test_a_white_object_in_a_white_sky_is_not_seen():
    look = Look(**{**SMALL, "resolution": (64, 48)})
    obj = traced_object("nim:0", look)
    white = replace(obj, colours=lambda cells, levels: np.ones((len(levels), 3), np.float32))
    stage = Stage(PathTraced(white, look), aim(obj.outline, look))
    stage.key, stage.sky = np.zeros(3, np.float32), lambda directions: np.ones((directions.shape[1], 3), np.float32)
    sums = stage.light(np.arange(64 * 48), 0)
    assert (sums[:, CELLS] > 0).sum() > 300
    assert sums[sums[:, CELLS] > 0, LIGHT] == pytest.approx(1, abs=1e-5)


# Round edges


def met_by(drawing, stage):
    """Where rays of all pixels meet cells, (3, n), the axes and the directions of the sides there, and the rounded normals."""
    pixels = np.arange(np.prod(drawing.look.resolution))
    rays = stage.primary(pixels, 0)
    hits = drawing.tracer.trace(rays)
    cells, fractions = surface(rays, hits, hits.met)
    axis, each = hits.faces[hits.met].astype(int), np.arange(len(hits.met))
    sides = np.zeros((3, len(axis)))
    sides[axis, each] = -np.sign(rays.directions[axis, hits.met])
    return cells + fractions, axis, sides, stage.light(pixels, 0)[hits.met, NORMAL].T


def test_edges_are_round_where_they_are_seen_to_be():
    drawing, stage, _ = stage_of("nim:0", resolution=(64, 64))
    place, axis, sides, normals = met_by(drawing, stage)
    across = np.array([np.delete(place[:, k], axis[k]) for k in range(len(axis))])
    distance = np.minimum(across, 1 - across).min(axis=1)  # to the nearest edge
    cosine = (normals * sides).sum(axis=0)
    assert cosine[distance > BEVEL] == pytest.approx(1)
    assert (cosine[distance < 0.5 * BEVEL] < 0.99).all()
    # Outwards, over the nearest edge, by up to 45 degrees for one edge.
    outwards = np.array([np.delete(normals[:, k], axis[k]) for k in range(len(axis))])
    assert (outwards * np.sign(across - 0.5) >= -1e-12).all()
    assert cosine.min() > 1 / 3**0.5 - 1e-6


def test_edges_of_cells_of_a_pixel_are_not_round():
    drawing, stage, _ = stage_of("nim:255")
    _, _, sides, normals = met_by(drawing, stage)
    assert (normals == sides).all()


# The floor


def test_the_object_casts_its_shadow_on_the_floor_away_from_the_sun():
    size = (64, 48)
    _, stage, _ = stage_of("nim:0", resolution=size, view="-40,35", transparent=True)
    pixels = np.arange(size[0] * size[1])
    sums = sum(stage.light(pixels, sample) for sample in range(SAMPLES))
    shade = np.divide(sums[:, BESIDE], sums[:, OPEN, None], out=np.full((len(pixels), 3), np.nan), where=sums[:, OPEN, None] > 0)
    rays = stage.primary(pixels, 0)
    start = rays.cells + rays.fractions
    with np.errstate(divide="ignore"):
        distance = -start[2] / rays.directions[2]
    place = (start + rays.directions * distance)[:2]
    # The shadow of the unit cube, drawn from its middle: the cube's shadow holds that of its middle section.
    behind = -stage.sun[:2] / stage.sun[2] * 0.5 + 0.5
    inside = np.abs(place - behind[:, None]).max(axis=0) < 0.3
    outside = np.abs(place - 0.5).max(axis=0) > 1.6
    assert np.isfinite(shade[inside]).any()
    assert np.nanmax(shade[inside]) < 0.7
    assert np.nanmin(shade[outside & (rays.directions[2] < 0)]) > 0.8
    assert (shade[rays.directions[2] > 0.01] == 1).all()


def test_a_transparent_picture_keeps_the_shadow():
    picture = render("nim:3", view=from_angles(-40, 35), transparent=True, **SMALL)
    alpha = np.asarray(picture.image)[..., 3]
    assert picture.image.mode == "RGBA"
    assert alpha.max() == 255
    assert np.median(alpha[:3]) < 8
    assert ((alpha > 20) & (alpha < 235)).sum() > 10


# Pictures


@pytest.mark.nightly
def test_the_picture_is_the_same_each_time_and_on_any_number_of_threads():
    drawing, _, camera = stage_of("nim:2^40")
    first = drawing.draw(camera, no_progress)
    drawing.tracer.threads, drawing.tracer.batch = 3, 150
    assert (drawing.draw(camera, no_progress) == first).all()


def test_a_picture_in_bands_is_the_whole_one():
    drawing, _, camera = stage_of("nim:7", resolution=(20, 150))
    whole = drawing.draw(camera, no_progress)
    drawing.band = 20 * 37
    assert (drawing.draw(camera, no_progress) == whole).all()


@pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")
def test_both_backends_draw_the_same():
    drawing, _, camera = stage_of("edge:5")
    expected = drawing.draw(camera, no_progress)
    drawing.tracer = CudaBackend(HostLauncher()).tracer(drawing.obj.scene)
    assert (drawing.draw(camera, no_progress) == expected).all()


@pytest.mark.parametrize(("source", "cut"), [("nim:2^60", "none"), ("chocolate:a=3,size=31", "half"), ("fcc:5", "corner")])
def test_every_kind_of_object_is_drawn(source, cut):
    picture = render(source, cut=cut, **SMALL)
    assert picture.engine == "trace"
    assert len(np.unique(np.asarray(picture.image).reshape(-1, 3), axis=0)) > 100


def test_an_interrupt_keeps_the_samples_that_are_complete():
    full = np.asarray(render("nim:7", **SMALL).image, float)

    def interrupt_after(samples):
        return lambda what, done, total: interrupt(what == "path" and done > samples * total // SAMPLES)

    picture = render("nim:7", progress=interrupt_after(4), **SMALL)
    assert picture.note == f"interrupted: 4 of {SAMPLES} samples a pixel"
    # A quarter of the samples have the light of all of them, and more noise.
    few = np.asarray(picture.image, float)
    assert 0 < np.abs(few - full).mean() < 10
    assert few.mean() == pytest.approx(full.mean(), rel=0.02)
    with pytest.raises(KeyboardInterrupt):
        render("nim:7", progress=interrupt_after(0), **SMALL)


def test_frames_of_a_movie_are_path_traced_and_are_whole_or_not_there():
    look = Look(**SMALL)
    motion = motion_of(Movie("nim:7", "growth", frames=2, look=look))
    assert motion.frame(1).tobytes() == motion.frame(1).tobytes() != motion.frame(0).tobytes()

    with pytest.raises(KeyboardInterrupt):
        motion.frame(1, lambda what, done, total: interrupt(what == "path" and done > total // 2))
