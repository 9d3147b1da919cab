"""Pictures with OpenGL and without, read back by other programs; figures, movies, exports and pages.

What needs OpenGL, Pillow, ffmpeg, trimesh or Chromium is skipped, with the reason, where it is missing.
"""

import json
import re
import sys
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import groupby, product
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from PIL import Image

from gpu_nim.model.errors import MissingDependency, UsageError
from gpu_nim.render import opengl
from gpu_nim.render.drawing import Drawing
from gpu_nim.render.exports import export
from gpu_nim.render.figures import draw_figure
from gpu_nim.render.geometry import coarsen
from gpu_nim.render.image import aim, render, renderer
from gpu_nim.render.look import Look
from gpu_nim.render.motions import Movie
from gpu_nim.render.motions.flights import Turntable
from gpu_nim.render.motions.sweep import sweep_values
from gpu_nim.render.raster import Screen, draw_points, draw_tiles
from gpu_nim.render.source import blocks_of
from gpu_nim.render.styles import section, section_heights
from gpu_nim.render.themes import THEMES
from gpu_nim.render.views import Camera, View
from tests.helpers import CHECKOUT
from tests.render_files import blocks_at, discs, lines, needs_opengl, polygons, words_of

REFERENCE = CHECKOUT / "tests" / "render_reference"
BOTH = ["numpy", pytest.param("opengl", marks=needs_opengl)]
FACE_ON = Camera(np.array([0.0, 0.0, 10.0]), View((0, 0, 1), up=(0, 1, 0)).basis(), 4.0, True)


def square(x, y, colour, width=2.0, z=0.0):
    corners = np.array([[x, y, z], [x + width, y, z], [x + width, y + width, z], [x, y + width, z]], np.float32)
    return corners, np.tile(np.array(colour, np.uint8), (4, 1))


def tiles_of(*squares):
    return tuple(map(np.stack, zip(*squares, strict=True)))


# The pixels of tiles and points


@pytest.mark.parametrize("parallel", [True, False])
def test_a_pixel_has_the_part_of_each_tile_that_lies_in_it(parallel):
    random = np.random.default_rng(3)
    turns = np.sort(random.uniform(0, 2 * np.pi, (60, 4)), axis=1) * random.choice([-1, 1], (60, 1))  # convex, either way round
    rim = np.stack([np.cos(turns), np.sin(turns)], axis=2) * random.uniform(0.05, 2.0, (60, 1, 1)) + random.uniform(
        -5, 5, (60, 1, 2)
    )
    rim[:20, 3] = rim[:20, 2]  # triangles
    rim[20:30] = np.rint(4 * rim[20:30]) / 4  # with edges along those of pixels, and without an area
    points = np.pad(rim, ((0, 0), (0, 0), (0, 1))).astype(np.float32)
    camera, size, fine = FACE_ON if parallel else Camera(FACE_ON.eye, View((1, 0, 3)).basis(), 0.4, False), 16, 32
    at = (np.indices((size * fine, size * fine))[::-1].reshape(2, -1).T + 0.5) / fine
    for tile, alpha in zip(points, random.integers(0, 256, 60), strict=True):
        corners = camera.on_picture(tile, size, size)[:, :2]
        ahead = np.roll(corners, -1, axis=0) - corners
        beside = [ahead[k, 0] * (at - corners[k])[:, 1] - ahead[k, 1] * (at - corners[k])[:, 0] for k in range(4)]
        inside = (np.sign(beside) >= 0).all(axis=0) | (np.sign(beside) <= 0).all(axis=0)
        expected = (
            inside.reshape(size, fine, size, fine).mean(axis=(1, 3))[..., None] * np.array([51, 102, 255, 255]) / 255 * alpha / 255
        )
        colours = np.tile(np.array([51, 102, 255, alpha], np.uint8), (1, 4, 1))
        assert np.abs(draw_tiles((tile[None], colours), camera, size, size) - expected).max() < 0.03


def test_tiles_side_by_side_cover_all_and_over_each_other_no_more():
    columns = np.arange(-4, 4, 0.3)
    picture = draw_tiles(tiles_of(*(square(x, y, (255, 0, 0), 0.3) for x in columns for y in columns)), FACE_ON, 16, 16)
    assert np.allclose(picture, [1, 0, 0, 1], atol=1e-6)
    both = draw_tiles(tiles_of(square(-1, -1, (255, 0, 0)), square(-1.5, -1.5, (0, 0, 255), width=3.0)), FACE_ON, 16, 16)
    assert both[8, 8].tolist() == [0.5, 0, 0.5, 1]
    assert both[10, 5].tolist() == [0, 0, 1, 1]


def test_what_lies_behind_the_eye_is_not_drawn():
    behind = Camera(np.array([0.0, 0.0, -5.0]), FACE_ON.basis, 0.4, False)
    assert not draw_tiles(tiles_of(square(-1, -1, (1, 1, 1))), behind, 32, 32).any()


def test_light_of_points_adds_up_and_none_is_lost():
    points = np.array([[0.1, 0.2, 0.0], [0.1, 0.2, 3.0], [-2.0, 1.0, 0.0], [0.0, 0.0, 1000.0]], np.float32)  # the last is behind
    light = np.array([[1.0, 0, 0], [2.0, 0, 0], [0, 5.0, 0], [0, 0, 7.0]], np.float32)
    picture = draw_points(points, light, Screen(FACE_ON, 32, 32), glow=0.0)
    assert picture.sum(axis=(0, 1)).tolist() == pytest.approx([3.0, 5.0, 0.0])
    assert draw_points(points, light, Screen(FACE_ON, 32, 32), glow=1.0).sum() > 8.0


@needs_opengl
@pytest.mark.parametrize(
    ("source", "look", "most"),
    [
        # Of 255: sides in one colour against sides that shade off.
        *(("nim:15", {"view": name}, 3.0) for name in ("three-quarter", "isometric", "axis", "diagonal", "gasket", "200,30")),
        ("chocolate6:size=3", {}, 3.0),  # between the points of a lattice
        ("edge:31", {"cut": "corner"}, 3.0),
        *((partial(blocks_of, "edge:31", limit=limit), {}, 3.0) for limit in (3000, 300)),  # blocks of several cells
    ],
)
def test_both_engines_draw_the_same_picture(source, look, most):
    look = {"resolution": (320, 240), "quality": "draft", **look}
    source = source() if callable(source) else source
    flat, gl = (np.asarray(render(source, engine=engine, **look).image, float) for engine in ("numpy", "opengl"))
    assert np.abs(flat - gl).mean() < most


# Stills


@pytest.mark.parametrize("engine", BOTH)
def test_one_missing_block_of_cubes_is_seen(engine):
    """At most 40 pixels may differ from the reference by more than 40: a picture without 16 of the 1024 cubes fails."""
    blocks = blocks_of("nim:31")
    look = Look(resolution=(240, 180), engine=engine, quality="draft")
    camera = aim(blocks, look)
    whole = np.asarray(render(blocks, look).image, float)
    reference = REFERENCE / "nim-31-three-quarter.png"
    with Image.open(reference) as image:
        expected = np.asarray(image.convert("RGB"), float)
    # The block of 16 cubes nearest the eye, taken away at the same camera.
    corner = blocks.corners // 4
    nearest = corner[np.argmin(camera.distance(blocks.centres()))]
    gone = blocks.take(np.logical_not((corner == nearest).all(axis=1)))
    assert len(gone) == 1024 - 16
    drawn = renderer(gone, look, engine)
    broken = np.asarray(drawn.frame(camera), float)
    changed = (np.abs(broken - expected).max(axis=2) > 40).sum()
    same = (np.abs(whole - expected).max(axis=2) > 40).sum()
    assert changed > 40 > same


@pytest.mark.parametrize("engine", BOTH)
def test_transparency_is_where_nothing_is_drawn(engine, tmp_path):
    picture = render("nim:7", resolution=(120, 90), engine=engine, transparent=True)
    picture.save(tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as image:
        assert (image.size, image.mode) == ((120, 90), "RGBA")
        alpha = np.asarray(image)[..., 3]
    assert alpha[0, 0] == 0
    assert alpha.max() == 255
    assert 0.02 < (alpha > 0).mean() < 0.6


@pytest.mark.parametrize("engine", BOTH)
@pytest.mark.parametrize(("lattice", "area"), [("square", 4.0), ("hexagonal", 12**0.5)])
def test_a_tile_is_two_pixels_wide_however_far_apart_they_are(lattice, area, engine):
    blocks = replace(blocks_at([(0, 0, 0), (999, 0, 0), (0, 999, 0)]), flat=True, lattice=lattice)
    alpha = np.asarray(render(blocks, resolution=(160, 120), engine=engine, transparent=True).image, float)[..., 3] / 255
    assert alpha.sum() == pytest.approx(3 * area, rel=0.15)


@pytest.mark.parametrize("source", ["nim:21", "edge:21", "fcc:21", "ulam-warburton:21"])
def test_blocks_of_several_cells_reach_as_far_as_their_cells(source):
    cells, coarse = blocks_of(source), blocks_of(source, limit=99)
    assert coarse.size > 1
    for blocks in (coarse, coarsen(cells, 8)):
        assert np.array_equal(blocks.extent(), cells.extent())


def test_sections_are_the_cells_at_their_height():
    blocks = blocks_of("edge:11")
    colours = np.ones((len(blocks), 3), np.float32)
    for height, shrunk in product(section_heights(blocks, 5), (1, 4)):  # a pixel of several cells shows each that is there
        picture = section(blocks, colours, height, shrunk)
        inside = {(int(x), len(picture) - 1 - int(y)) for y, x in np.argwhere(picture[..., 3])}
        assert inside == {(x // shrunk, y // shrunk) for x, y, z in blocks.corners.tolist() if z == height}


@pytest.mark.parametrize("source", ["fcc:5", "fcc:8", "fcc:19", "cubic6:7", "edge:11", "nim:31"])
@pytest.mark.parametrize("most", [1, 2, 5, 12])
def test_the_plane_through_the_seed_is_among_the_sections(source, most):
    heights = section_heights(blocks_of(source), most)
    assert 0 in heights
    assert len(heights) <= most
    assert heights == sorted({*heights})
    assert all(abs(z) & (abs(z) - 1) == 0 or abs(z) & (abs(z) + 1) == 0 for z in heights)
    assert source != "fcc:19" or most < 12 or heights == [0, 1, 2, 3, 4, 7, 8, 15, 16]  # symmetric, and nearly empty at 19


@needs_opengl
def test_pyvista_draws_and_its_windows_are_closed(monkeypatch):
    import pyvista

    opened = []

    class Counted(pyvista.Plotter):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            opened.append(self)

    monkeypatch.setattr(pyvista, "Plotter", Counted)
    for style in ("cubes", "volume"):
        assert render("fcc:3", resolution=(64, 48), style=style, engine="opengl").engine == "opengl"
    canvas = opengl.Canvas(32, 32)
    assert opened[2].render_window is not None
    del canvas
    assert len(opened) == 3
    assert all(plotter.off_screen and plotter.render_window is None for plotter in opened)


# OpenGL's absence


@pytest.fixture
def no_library(monkeypatch):
    """Has no library of OpenGL found."""

    def absent(name):
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.delenv("VTK_DEFAULT_OPENGL_WINDOW", raising=False)
    monkeypatch.setattr("ctypes.CDLL", absent)
    opengl.has_egl.cache_clear()
    yield
    opengl.has_egl.cache_clear()


needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems bring OpenGL")


@needs_linux
@needs_opengl
def test_the_window_is_that_of_egl_where_it_is_there(monkeypatch):
    monkeypatch.delenv("VTK_DEFAULT_OPENGL_WINDOW", raising=False)
    assert opengl.probe() == "vtkEGLRenderWindow"


@needs_linux
@pytest.mark.usefixtures("no_library")
def test_the_window_is_the_one_asked_for_where_no_library_is_found(monkeypatch):
    assert opengl.probe() is None
    monkeypatch.setenv("VTK_DEFAULT_OPENGL_WINDOW", "vtkOSOpenGLRenderWindow")
    assert opengl.probe() == "vtkOSOpenGLRenderWindow"


@needs_linux
@pytest.mark.usefixtures("no_library")
def test_without_opengl_rays_draw_cubes_and_say_why_and_a_volume_is_refused(monkeypatch):
    monkeypatch.setattr(opengl, "find_spec", lambda name: None)
    monkeypatch.setenv("GPUNIM_SCRIPT", "scripts/gpunim")  # which fetches PyVista where there is OpenGL
    picture = render("nim:7", resolution=(80, 60), quality="draft")
    assert picture.engine == "numpy"
    assert "no OpenGL library was found" in picture.note
    assert "apt-get install --no-install-recommends libegl1 libgl1-mesa-dri" in picture.note
    for look in ({"engine": "opengl"}, {"style": "volume"}, {"style": "volume", "engine": "opengl"}):
        with pytest.raises(MissingDependency, match=r"no OpenGL library was found: .*apt-get install .*libegl1"):
            render("nim:7", resolution=(80, 60), **look)
    with pytest.raises(UsageError, match="style volume is drawn by engine opengl, got engine 'numpy'"):
        render("nim:7", resolution=(80, 60), style="volume", engine="numpy")


# Figures


@pytest.mark.parametrize("name", ["NF1", "NF2"])
def test_an_evolution_has_a_disc_a_cell_and_an_edge_a_child(name):
    drawing = draw_figure(name)
    places = {(x, y) for x, y, _ in discs(drawing)}
    assert len(places) == 37  # A130665(6)
    edges = [ends for ends in lines(drawing) if {tuple(end) for end in ends.tolist()} <= places]
    assert len(edges) == 36  # each cell but the first has one parent


def test_the_gasket_figure_has_a_square_a_point_of_the_view():
    assert len(polygons(draw_figure("V4.3"))) == 3**6
    (caption,) = (words for words in words_of(draw_figure("V4.3")) if "P-positions" in words)
    assert caption == "5,462 P-positions of 3y ≤ x + z at (x, y, z − x), along the x axis: 729 points"


def test_the_triangle_of_d3_shows_the_published_numbers():
    numbers = [int(text) for text in words_of(draw_figure("d3")) if text.isdigit()]
    terms = dict(
        map(int, line.split()[:2])
        for line in (CHECKOUT / "tests" / "oeis" / "A241717.txt").read_text().splitlines()
        if re.match(r"\d+ \d+$", line.strip())
    )
    assert len(terms) > 40
    assert [terms[n] for n in range(32)] == numbers[:32]
    assert numbers[32:] == [6 * c + 3 for c in range(16)]  # A016945


@pytest.mark.parametrize("name", ["NF2", pytest.param("V4.1", marks=pytest.mark.nightly), "d3"])
def test_a_figure_is_written_as_vectors_and_its_words_as_words(name, tmp_path):
    drawing = draw_figure(name)
    for suffix in ("svg", "pdf"):
        drawing.save(tmp_path / f"a.{suffix}")
    root = ElementTree.fromstring((tmp_path / "a.svg").read_bytes())
    assert not list(root.iter("{http://www.w3.org/2000/svg}image"))
    found = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(found) == sorted(words_of(drawing))
    pdf = (tmp_path / "a.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-1")
    assert b"/FontFile2" in pdf  # embedded, as outlines
    assert b"/Subtype /Image" not in pdf


def test_a_figure_is_drawn_at_every_size():
    drawing = draw_figure("NF2")
    before = drawing.document(".svg")
    for size in ((16, 2000), (2000, 16), (16, 16)):
        assert drawing.image(*size).size == size
    assert drawing.document(".svg") == before


def test_a_drawing_does_not_depend_on_the_users_settings():
    def drawn():
        drawing = Drawing(THEMES["dark"], 200, 50)
        drawing.words("$y$ f_x \\$", (150, 20), 10, anchor="right")
        drawing.line((0, 0), (200, 50), (1.0, 1.0, 1.0), 2)
        return drawing.document(".svg"), drawing.document(".pdf"), drawing.pixels(2).tobytes()

    plain = drawn()
    with matplotlib.rc_context(
        {"text.usetex": True, "svg.fonttype": "path", "font.family": "STIXGeneral", "path.sketch": (1, 9, 9)}
    ):
        assert drawn() == plain
    assert b">$y$ f_x \\$</text>" in plain[0]


# Movies


def test_a_turntable_keeps_its_distance_and_the_whole_object():
    points = blocks_of("nim:15").hull()
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    turntable, distances = Turntable(Movie("nim:15", frames=12, look=Look(engine="numpy"))), []
    for camera in map(turntable.camera, range(12)):
        seen = camera.project(points)
        assert (np.abs(seen[:, :2]) <= [16 / 9 * 0.921, 0.921]).all()
        distances.append(np.linalg.norm(camera.eye - middle))
    assert np.ptp(distances) < 1e-6 * distances[0]


@pytest.mark.parametrize(
    ("first", "last", "frames", "beat", "hold"),
    [("1", "8", 8, 7, 1), ("1", "8", 240, 7, 7), ("1", "8", 48, 7, 2), ("8", "1", 50, 1, 1), ("1/2", "7/2", 31, 7, 2)],
)
def test_a_sweep_pauses_for_a_beat_at_its_ends_and_at_every_whole_number(first, last, frames, beat, hold):
    first, last = Fraction(first), Fraction(last)
    values = sweep_values(first, last, frames, beat)
    assert (len(values), values[0], values[-1]) == (frames, first, last)
    assert values == sorted(values, reverse=first > last)
    low, high = min(first, last), max(first, last)
    assert {a for a in values if a.denominator == 1} == {Fraction(a) for a in range(10) if low <= a <= high}
    stops = {first, last, *(a for a in values if a.denominator == 1)}
    assert {values.count(stop) for stop in stops} == {hold}
    ways = [len([*way]) for paused, way in groupby(values, stops.__contains__) if not paused]
    assert max(ways, default=0) - min(ways, default=0) <= 1


# Exports


def test_a_page_needs_nothing_from_elsewhere(tmp_path):
    title = "Nim </script> <!--<script> ]]> & co"
    export("nim:15", tmp_path / "a.html", Look(title=title))
    text = (tmp_path / "a.html").read_text()
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!data:)|https?://|@import|url\(", text)
    assert text.count("</script>") == text.count("<script>") == 1
    assert "<!--" not in text
    data = json.loads(re.search(r"const data = (.*);\n", text)[1])
    assert (data["kind"], data["last"], data["title"]) == ("nim", "15", title)
