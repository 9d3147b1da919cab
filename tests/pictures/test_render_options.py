"""No option is ignored: each, given to each kind of picture, changes the picture or is refused by name."""

from typing import Any

import numpy as np
import pytest

from gpu_nim.model.errors import UsageError
from gpu_nim.render.exports import EXPORTS
from gpu_nim.render.figures import FIGURES, figure_options
from gpu_nim.render.look import OPTIONS as LOOK_OPTIONS
from gpu_nim.render.look import Look
from gpu_nim.render.motions import MOTIONS, Movie, motion_of, movie_options
from gpu_nim.render.page import PAGE_OPTIONS
from gpu_nim.render.styles import STYLES, style_options
from tests.helpers import beside, option_names, printed, refused
from tests.render_files import needs_opengl

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
