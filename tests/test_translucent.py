"""Translucent objects, traced: against all cells that each ray goes through, and the options that they take."""

import numpy as np
import pytest

from gpu_nim.render import opengl
from gpu_nim.render.framing import aim
from gpu_nim.render.image import choose_engine, render
from gpu_nim.render.look import Look
from gpu_nim.render.source import blocks_of, read_source
from gpu_nim.render.themes import to_linear
from gpu_nim.render.trace import TracedFrame, primary_rays
from gpu_nim.render.traced_object import traced_object
from gpu_nim.render.translucent import DOT, Glass, Lights, opacities
from tests.render_files import needs_opengl

SIZE = (24, 18)


def crossed(rays, blocks):
    """How far each ray goes through each cell, (rays, cells), 0 or less where not, and how far its line is from their middles."""
    start, along = (rays.cells + rays.fractions).T[:, None], rays.directions.T[:, None]
    with np.errstate(divide="ignore"):
        ends = np.stack([(blocks.corners - start) / along, (blocks.corners + 1 - start) / along])
    way = ends.max(axis=0).min(axis=2) - ends.min(axis=0).max(axis=2)
    middle = blocks.corners + 0.5 - start
    return way, np.sqrt((middle**2).sum(axis=2) - (middle * along).sum(axis=2) ** 2)


@pytest.mark.parametrize("source", ["edge:7", "nim:7", "cubic6:3"])  # cells of the last share sides
@pytest.mark.parametrize(("kind", "theme"), [(Glass, "dark"), (Lights, "dark"), (Lights, "paper")])
def test_a_ray_goes_through_all_cells_on_its_way(source, kind, theme, monkeypatch):
    monkeypatch.setattr("gpu_nim.render.translucent._DARK", 0.0)
    look = Look(resolution=SIZE, quality="draft", engine="trace", theme=theme)
    obj, blocks = traced_object(source, look), blocks_of(source)
    drawing, camera = kind(obj, look), aim(obj, look)
    rays = primary_rays(camera, SIZE, np.arange(SIZE[0] * SIZE[1]), (0.5, 0.5))
    seen = drawing.sample(TracedFrame(drawing, camera), rays, 0)
    way, off = crossed(rays, blocks)
    met = way > 0
    assert met.sum(axis=1).max() > 2
    if kind is Glass:
        cells = 1 - opacities(blocks, 1 - blocks.generations / blocks.generations.max())
        passed = (cells ** np.maximum(way, 0)).prod(axis=1)
        assert np.allclose(seen[:, 3], 1 - passed, atol=1e-5)
    else:
        light = np.where(met, off < DOT if theme == "paper" else 0.55 * np.exp(-(off**2) / 0.08) / (0.08 * np.pi), 0)
        assert np.allclose(seen[:, 3], light.sum(axis=1), atol=1e-4)
        assert np.allclose(seen[:, :3], light @ to_linear(look.colours_of(blocks)), atol=1e-4)


def test_the_oldest_cells_are_the_most_opaque_and_a_crowd_less_than_a_few():
    few, many = blocks_of("nim:31"), blocks_of("cubic18:7")
    ages = np.array([0.0, 0.5, 1.0])
    for opacity in (opacities(few, ages), opacities(many, ages)):
        assert 0 < opacity[0] < opacity[1] < opacity[2] < 1
    assert (opacities(few, ages) > opacities(many, ages)).all()


@pytest.mark.parametrize("look", [{"style": "volume"}, {"theme": "neon"}, {"theme": "paper", "style": "points"}])
def test_an_eye_is_put_into_what_is_translucent(look):
    near, other = (render("nim:2^40", resolution=(48, 36), quality="draft", eye=eye, **look) for eye in ("2^39,9,5", "9,2^39,5"))
    assert near.engine == "trace"
    assert np.abs(np.asarray(near, int) - np.asarray(other, int)).mean() > 5


@needs_opengl
def test_opengl_draws_a_volume_like_the_traced_one():
    look = {"resolution": (160, 120), "style": "volume", "cut": "corner"}
    rays, gl = (np.asarray(render("fcc:12", engine=engine, **look).image, float) for engine in ("trace", "opengl"))
    assert np.corrcoef(rays.ravel(), gl.ravel())[0, 1] > 0.85


def test_a_volume_is_traced_where_there_is_no_opengl(monkeypatch):
    monkeypatch.setattr(opengl, "find_spec", lambda name: None)
    monkeypatch.setattr(opengl, "probe", lambda: "vtkEGLRenderWindow")
    assert choose_engine(Look(style="volume"), read_source("fcc:4"))[0] == "trace"
    picture = render("fcc:4", resolution=(32, 24), quality="draft", style="volume")
    assert (picture.engine, picture.drawn) == ("trace", picture.population)
    assert picture.note.startswith("traced, since drawing with OpenGL needs PyVista")
