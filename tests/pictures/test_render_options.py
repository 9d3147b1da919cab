"""No option is ignored, and pictures show what they should in every theme, style and colour: contrast, measured on pixels."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from gpu_nim.model.errors import UsageError
from gpu_nim.render.colourings import COLOURINGS
from gpu_nim.render.exports import EXPORTS
from gpu_nim.render.figures import FIGURES, figure_options
from gpu_nim.render.image import render
from gpu_nim.render.look import OPTIONS as LOOK_OPTIONS
from gpu_nim.render.look import Look
from gpu_nim.render.motions import MOTIONS, Movie, motion_of, movie_options
from gpu_nim.render.page import PAGE_OPTIONS
from gpu_nim.render.raster import background
from gpu_nim.render.source import blocks_of
from gpu_nim.render.styles import STYLES, style_options
from gpu_nim.render.themes import THEMES
from tests.helpers import beside, option_names, printed, refused
from tests.render_files import VOLUME, border, needs_opengl

pytestmark = pytest.mark.usefixtures("no_command")

DATA: dict[str, Any] = beside(__file__)
OPTIONS: dict[str, str] = DATA["options"]
EVERY = {*OPTIONS} - {"style", "opacity"}  # which these commands give
TINY = ("render", "edge:7", "--resolution", "64x48", "--quality", "draft", "--engine", "opengl", "--style")
DEFAULTS = {"theme": "dark", "cut": "none", "quality": "final", "title": ""}


def asked(option):
    return [f"--{option}", *filter(None, [OPTIONS[option]])]


@pytest.mark.parametrize("kind", DATA["files"], ids=lambda kind: kind["command"] + kind["ending"])
@pytest.mark.nightly
def test_a_file_takes_each_option_or_refuses_it(kind, tmp_path):
    command = kind["command"].split()
    options = {*OPTIONS} & option_names(command[0]) - ({"style"} if "--style" in command else set())
    options -= {*kind.get("same", ())}
    assert_each_option_is_heard(command, kind["ending"], kind["takes"], options, tmp_path)


@needs_opengl
@pytest.mark.parametrize("style", ["cubes", "volume"])
@pytest.mark.nightly
def test_opengl_hears_the_quality(style, tmp_path):
    assert_each_option_is_heard((*TINY, style), ".png", {"quality"}, ["quality"], tmp_path)


def assert_each_option_is_heard(command, suffix, takes, options, folder):
    """Check that each option is refused in a sentence that names it, or changes the file; the last of two values counts."""
    base = folder / f"base{suffix}"
    printed(*command, "-o", base)
    for option in sorted(options):
        file = folder / f"{option}{suffix}"
        if option in takes:
            printed(*command, "-o", file, *asked(option))
            assert file.read_bytes() != base.read_bytes(), option
        else:
            assert option in refused(*command, "-o", file, *asked(option))
            assert not file.exists()


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.nightly
def test_a_movie_takes_each_option_or_refuses_it(motion):
    motions = MOTIONS[motion]
    looks: dict[str, Any] = {name: value or True for name, value in OPTIONS.items() if name in EVERY | {"style"}}
    looks |= {"resolution": (80, 56), "colour": "generation", "generations": (0, 3)}
    size = (200, 150) if motion == "zoom" else (280, 210)
    common = {"resolution": size, "engine": "numpy" if motions.draws_blocks else "auto", "quality": "draft"}
    source = {"nim:63": "edge:5"}.get(motions.example, motions.example)  # a smaller one

    def drawn(**look):
        renderer = motion_of(Movie(source, motion, 8, look=Look(**{**common, **look})))
        return [np.asarray(renderer.frame(number)) for number in (6, 1)]

    base = drawn()
    for option, value in looks.items():
        if option in motions.refuses:
            with pytest.raises(UsageError, match=f"{option} would have no effect"):
                drawn(**{option: value})
        else:
            assert not all(map(np.array_equal, drawn(**{option: value}), base)), option
    for look, said in (
        ({"opacity": "shell"}, "opacity would have"),
        ({"style": "sections"}, "of sections|style would have"),
    ):
        with pytest.raises(UsageError, match=said):
            drawn(**look)


def test_what_a_picture_takes_are_options_of_a_look():
    every = [style_options(Look(style=style), flat=flat) for style in STYLES for flat in (False, True)]
    every += [movie_options(motion, flat=flat) for motion in MOTIONS for flat in (False, True)]
    every += [figure_options(name, suffix) for name in FIGURES for suffix in (".png", ".svg")]
    every += [(name, known.takes) for name, known in EXPORTS.items()]
    assert all(takes <= LOOK_OPTIONS for _, takes in [*every, PAGE_OPTIONS])


def test_each_field_of_a_look_is_an_option_of_render_and_described():
    assert option_names("render") >= LOOK_OPTIONS
    assert all(f"    {name}: " in (Look.__doc__ or "") for name in LOOK_OPTIONS)


def test_a_turn_is_seen_from_the_elevation_and_in_the_projection_asked_for():
    for view, elevation, parallel in ((None, 25, False), ("30,55", 55, False), ("axis", 90, True)):
        upward = np.sin(np.radians(elevation))
        renderer = motion_of(Movie("edge:7", frames=4, look=Look(resolution=(64, 48), view=view, engine="numpy")))
        cameras = [renderer.camera(number) for number in (0, 1)]
        assert [camera.parallel for camera in cameras] == [parallel] * 2
        assert [camera.basis[2, 2] for camera in cameras] == pytest.approx([upward] * 2)
        assert not np.allclose(cameras[0].basis, cameras[1].basis)


def test_the_same_view_said_twice_is_the_same_picture(tmp_path):
    pictures = set()
    for k, more in enumerate([[], *([f"--{option}", value] for option, value in DEFAULTS.items())]):
        printed("render", "nim:3", "-o", tmp_path / f"{k}.png", "--resolution", "64x48", "--engine", "numpy", *more)
        pictures.add((tmp_path / f"{k}.png").read_bytes())
    assert len(pictures) == 1


SIZE = (96, 72)
SOURCES = ("nim:0", "nim:31", "fcc:4", "ulam-warburton:9", "hexagonal:7", "chocolate:size=15")
CUBES_AND_VOLUMES = [("cubes", "numpy"), *(pytest.param(style, "opengl", marks=needs_opengl) for style in ("cubes", "volume"))]


@cache
def silhouette(source):
    """The pixels that the object covers."""
    picture = render(source, resolution=SIZE, style="cubes", engine="numpy", quality="draft", transparent=True)
    return np.asarray(picture.image)[..., 3] > 128


def assert_object_stands_out(blocks, theme, **look):
    """The object's silhouette must differ from the background: a fifth of it visibly, a tenth of it strongly."""
    picture = np.asarray(render(blocks, resolution=SIZE, theme=theme, quality="draft", **look).image, float)
    difference = np.abs(picture - 255 * background(THEMES[theme], *SIZE)).max(axis=2)[silhouette(blocks.name)]
    assert (difference > 30).mean() > 0.2, (blocks.name, theme, look)
    assert np.percentile(difference, 90) > 60, (blocks.name, theme, look)


@pytest.mark.nightly
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("style", "engine"), CUBES_AND_VOLUMES)
def test_every_object_stands_out_from_the_background(theme, style, engine):
    for source in SOURCES:
        blocks = blocks_of(source)
        if not (blocks.flat and style == "volume"):
            assert_object_stands_out(blocks, theme, style=style, engine=engine)


@pytest.mark.parametrize("theme", THEMES)
def test_every_colour_stands_out_from_the_background(theme):
    for source, colours in {"edge:9": set(COLOURINGS) - {"grundy"}, "chocolate:size=7,grundy=9": {"grundy"}}.items():
        for colour in sorted(colours):
            blocks = blocks_of(source, colour=colour)
            for style in ("cubes", "points"):
                assert_object_stands_out(blocks, theme, style=style, colour=colour, engine="numpy")


def test_ink_covers_what_its_discs_cover():
    from gpu_nim.render.raster import Screen, draw_ink
    from gpu_nim.render.views import Camera, View

    camera = Camera(np.array([0.0, 0.0, 10.0]), View((0, 0, 1), up=(0, 1, 0)).basis(), 4.0, True)  # the last point is behind it
    points = np.array([[-2.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 0.0, 1.0], [0.0, 0.0, 20.0]], np.float32)
    colours = np.eye(4, 3, dtype=np.float32)
    small, large = (draw_ink(points, colours, radius, Screen(camera, 80, 64)) for radius in (0.3, 9.0))
    assert small[..., 3].sum() == pytest.approx(3 * np.pi * 0.3**2, rel=1e-5)
    assert np.count_nonzero(small[..., 3]) == 2
    assert large.sum(axis=(0, 1)) == pytest.approx(np.pi * 9.5**2 * np.array([1, 1, 1, 3]), rel=0.06)
    assert large[32, 56].tolist() == [0, 1, 1, 2]  # red is elsewhere, green and blue over each other
    assert np.count_nonzero(large[..., 3]) == np.count_nonzero(large[..., 0]) + np.count_nonzero(large[..., 1])


@pytest.mark.nightly
@needs_opengl
@pytest.mark.parametrize("source", ["nim:15", "nim:63"])
def test_a_volume_of_nim_has_the_holes_that_its_cubes_have(source):
    """Along the gasket's direction, where a blur closes them."""
    look = {"resolution": (160, 120), "view": "gasket", "transparent": True}
    pictures = (render(source, style=style, engine="opengl", **look).image for style in ("cubes", "volume"))
    cubes, volume = (np.asarray(picture)[..., 3].ravel() for picture in pictures)
    assert np.corrcoef(cubes, volume)[0, 1] > 0.95  # what is translucent is less in its alpha


@pytest.mark.nightly
@pytest.mark.parametrize("style", ["cubes", "points", VOLUME])
@pytest.mark.parametrize("size", [(96, 40), (40, 96)])
def test_no_object_is_cut_off_by_the_picture(style, size):
    """In paper's ink and not as light, whose halos have no end."""
    for source in ("nim:0", "nim:3", "edge:9", "fcc:4", "knight:3", "hexagonal:4"):
        blocks = blocks_of(source)
        for view in ("three-quarter", "axis", "diagonal", "gasket", "10,80"):
            if not (blocks.flat and (style == "volume" or view == "gasket")):
                look = {"resolution": size, "view": view, "theme": "paper", "engine": STYLES[style].engines[0], "quality": "draft"}
                alpha = np.asarray(render(blocks, style=style, transparent=True, **look).image)[..., 3]
                assert border(alpha).max() < 16, (source, view)
                assert alpha.max() > 40, (source, view)


@needs_opengl
def test_a_growing_volume_that_is_drawn_coarser_has_all_its_frames():
    movie = Movie("nim:63", "growth", 4, look=Look(resolution=(64, 48), style="volume", quality="draft"))
    renderer = motion_of(movie)
    frames = [np.asarray(renderer.frame(number), float) for number in range(4)]
    growing = [np.abs(frame - frames[0]).mean() for frame in frames]
    assert min(growing[1:]) > 5
