"""Flat objects and sections as vectors: a polygon a tile, where the picture of pixels has it."""

import re

import numpy as np
import pytest

from gpu_nim import grow, solve
from gpu_nim.render import draw_vectors, render
from tests.helpers import printed, refused


def polygons(drawing):
    """The outlines in an SVG document that are no letters, lines or ticks, in the order in which they are drawn."""
    groups = re.findall(r'<g id="PolyCollection_\d+">(.*?)</g>\n?', drawing.document(".svg").decode(), re.DOTALL)
    return [outline for group in groups for outline in re.findall(r'<path d="(M[^"]*z)', group)]


@pytest.mark.parametrize(("source", "tiles"), [("ulam-warburton:5", 1), ("triangular:4", 1), ("hexagonal:4", 2)])
def test_each_tile_is_a_polygon(source, tiles):
    name, last = source.split(":")
    assert len(polygons(draw_vectors(source, theme="paper"))) == tiles * grow(name, int(last)).population


def test_a_game_of_two_coordinates_and_sections_are_drawn_as_vectors():
    assert len(polygons(draw_vectors("wythoff:size=20"))) == len(solve("wythoff", 20).p_positions)
    cells = np.concatenate(list(grow("fcc", 8, cells=True)))
    seen = {0, 1, 2, 3, 4, 7, 8} & {*cells[:, 2].tolist()}
    assert 0 < len(polygons(draw_vectors("fcc:8", style="sections"))) <= sum((cells[:, 2] == z).sum() for z in seen)


@pytest.mark.parametrize("options", [{}, {"title": "Nim", "legend": True, "axes": True}])
def test_vectors_and_pixels_show_the_same(options):
    look = {"theme": "projector", "resolution": (320, 240), **options}
    vectors = np.asarray(draw_vectors("ulam-warburton:9", **look).image(320, 240), int)
    pixels = np.asarray(render("ulam-warburton:9", engine="numpy", **look).image, int)
    assert np.abs(vectors - pixels).mean() < 6
    assert np.ptp(vectors) > 200


def test_vectors_are_saved_and_what_is_in_space_is_refused(tmp_path):
    assert printed("render", "square8:5", "-o", tmp_path / "a.pdf").startswith(f"{tmp_path}/a.pdf: 1920x1080")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    words = "vectors show a flat object, or style sections, and edge:3 is in space"
    assert words in refused("render", "edge:3", "-o", tmp_path / "a.svg")
    assert "--quality would have no effect" in refused("render", "square8:5", "--quality", "draft", "-o", tmp_path / "a.svg")
