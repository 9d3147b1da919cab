"""No option is ignored: each, given to each kind of picture, changes the picture or is refused by name."""

from typing import Any

import numpy as np
import pytest

from gpu_nim.model.errors import UsageError
from gpu_nim.render.exports import EXPORTS, export_options
from gpu_nim.render.figures import FIGURES, figure_options
from gpu_nim.render.look import OPTIONS as LOOK_OPTIONS
from gpu_nim.render.look import Look, style_options
from gpu_nim.render.motions import MOTIONS, Movie, motion_of, movie_options
from gpu_nim.render.page import PAGE_OPTIONS
from gpu_nim.render.styles import STYLES
from gpu_nim.render.window import WINDOW_OPTIONS, Window
from tests.helpers import facts, printed, refused, run
from tests.render_files import needs_ffmpeg, needs_opengl

pytestmark = pytest.mark.usefixtures("no_command")

# An option of the command line, and a value that it does not have by itself.
OPTIONS = {
    "resolution": "80x56",
    "view": "isometric",
    "theme": "paper",
    "colour": "nim-p",
    "style": "points",
    "generations": "0:6",
    "cut": "corner",
    "quality": "final",
    "title": "Nim",
    "caption": "Nim",
    "legend": None,
    "axes": None,
    "transparent": None,
}
SMALL = "200x150"  # with space for a legend and axes
DEFAULTS = {"resolution": "1920x1080", "theme": "dark", "cut": "none", "quality": "final", "title": ""}


def asked(option, values=OPTIONS):
    return [f"--{option}"] if values[option] is None else [f"--{option}", values[option]]


def effect_or_refusal(command, option, tmp_path, base, suffix):
    """Check that an option is refused in a sentence that names it, or changes the file."""
    file = tmp_path / f"{option}{suffix}"
    result = run(*command, "-o", file, *asked(option))
    if result.exit_code == 2:
        assert option in result.output
        assert len(result.output.strip().splitlines()) == 1
        assert not file.exists()
        return False
    assert result.exit_code == 0, result.output
    assert file.read_bytes() != base, f"{command} ignores {option}"
    return True


@pytest.mark.parametrize(
    ("source", "style", "useless"),
    [
        ("edge:7", "cubes", set()),
        ("edge:7", "points", set()),
        ("edge:7", "volume", set()),
        ("edge:7", "sections", {"view", "cut", "quality"}),
        ("ulam-warburton:7", "cubes", {"cut"}),
        ("ulam-warburton:7", "points", {"cut"}),
    ],
)
@pytest.mark.thorough
def test_a_still_takes_each_option_or_refuses_it(source, style, useless, tmp_path):
    command = ["render", source, "--engine", "numpy", "--style", style]
    command += [] if style == "sections" else ["--quality", "draft"]
    small = [*command, "--resolution", SMALL]
    printed(*small, "-o", tmp_path / "base.png")
    base = (tmp_path / "base.png").read_bytes()
    for option in OPTIONS:
        if option == "style":
            continue
        given = small if option != "resolution" else command
        assert effect_or_refusal(given, option, tmp_path, base, ".png") == (option not in useless), option


@needs_opengl
@pytest.mark.parametrize("style", ["cubes", "volume"])
@pytest.mark.thorough
def test_opengl_hears_the_quality(style, tmp_path):
    command = ["render", "edge:7", "--engine", "opengl", "--style", style, "--resolution", "64x48", "--quality", "draft"]
    printed(*command, "-o", tmp_path / "base.png")
    assert effect_or_refusal(command, "quality", tmp_path, (tmp_path / "base.png").read_bytes(), ".png")


@pytest.mark.parametrize("style", ["points", "sections"])
def test_an_engine_that_cannot_draw_a_style_is_refused(style, tmp_path):
    said = refused("render", "edge:7", "-o", tmp_path / "a.png", "--style", style, "--engine", "opengl", "--resolution", "64x48")
    assert "drawn by NumPy alone" in said


@pytest.mark.parametrize(
    ("name", "suffix", "takes"),
    [
        ("NF1", ".svg", {"theme"}),
        ("V4.3", ".pdf", {"theme"}),
        ("V4.3", ".png", {"theme", "resolution"}),
    ],
)
@pytest.mark.thorough
def test_a_figure_takes_each_option_or_refuses_it(name, suffix, takes, tmp_path):
    command = ["render", f"figure:{name}"]
    small = [*command, "--resolution", "64x48"] if "resolution" in takes else command
    printed(*small, "-o", tmp_path / f"base{suffix}")
    base = (tmp_path / f"base{suffix}").read_bytes()
    for option in OPTIONS:
        given = small if option != "resolution" else command
        assert effect_or_refusal(given, option, tmp_path, base, suffix) == (option in takes), option


@pytest.mark.parametrize("option", sorted(set(OPTIONS) - {"resolution", "theme", "quality", "title"}))
def test_the_slide_refuses_what_it_does_not_take(option, tmp_path):
    said = refused("render", "figure:views", "-o", tmp_path / "a.png", "--resolution", "320x180", *asked(option))
    assert f"{option} would have no effect: figure:views takes engine, quality, resolution, theme and title" in said


@pytest.mark.parametrize(
    ("suffix", "more", "takes"),
    [
        (".ply", [], {"theme", "colour", "generations", "cut"}),
        (".glb", [], {"theme", "colour", "generations", "cut"}),
        (".vtp", [], {"theme", "colour", "generations", "cut"}),
        (".html", [], {"theme", "colour", "generations", "cut", "title"}),
        (".stl", [], {"generations", "cut"}),
        (".stl", ["--printable"], {"generations", "cut"}),
        (".ply", ["--printable"], {"generations", "cut"}),
    ],
)
@pytest.mark.thorough
def test_an_export_takes_each_option_or_refuses_it(suffix, more, takes, tmp_path):
    command = ["export", "edge:7", *more]
    printed(*command, "-o", tmp_path / f"base{suffix}")
    base = (tmp_path / f"base{suffix}").read_bytes()
    for option in ("theme", "colour", "generations", "cut", "title"):
        assert effect_or_refusal(command, option, tmp_path, base, suffix) == (option in takes), option


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.thorough
def test_the_example_of_a_motion_is_one_that_it_shows(motion):
    engine = "auto" if motion == "zoom" else "numpy"
    motion_of(Movie(MOTIONS[motion].example, motion, look=Look(engine=engine)))


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.thorough
def test_a_movie_takes_each_option_or_refuses_it(motion):
    others = {"sweep": "chocolate:size=7", "walk": "nim:15", "side-by-side": "nim:7", "zoom": "nim", "turn-4d": "nim-4:3"}
    source = others.get(motion, "edge:5")
    looks: dict[str, Any] = {
        option: True if value is None else value for option, value in OPTIONS.items() if option != "transparent"
    }
    looks |= {"resolution": (80, 56), "colour": "generation", "generations": (0, 3)}

    def drawn(**look):
        size = {"side-by-side": (400, 200), "zoom": (200, 150)}.get(motion, (280, 210))
        engine = "auto" if motion == "zoom" else "numpy"  # no other engine traces
        look = {"resolution": size, "engine": engine, "quality": "draft", **look}
        renderer = motion_of(Movie(source, motion, 8, look=Look(**look)))
        return lambda number: np.asarray(renderer.frame(number))

    frame = drawn()
    base = {number: frame(number) for number in (6, 1)}
    for option, value in looks.items():
        if option in MOTIONS[motion].refuses:
            with pytest.raises(UsageError, match=f"{option} would have no effect"):
                drawn(**{option: value})
            continue
        frame = drawn(**{option: value})
        assert any(not np.array_equal(frame(number), base[number]) for number in base), option
    with pytest.raises(UsageError, match="transparent would have no effect"):
        drawn(transparent=True)
    with pytest.raises(UsageError, match=r"made of sections|style would have no effect"):
        drawn(style="sections")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["render", "figure:NF1", "-o", "a.svg", "--resolution", "1920x1080"], "figure:NF1 as .svg takes only theme"),
        (["render", "figure:V4.1", "-o", "a.png", "--title", "x", "--view", "axis"], "title, view would have no effect"),
        (["render", "edge:3", "-o", "a.png", "--style", "sections", "--cut", "none"], "cut would have no effect"),
        (["export", "edge:3", "-o", "a.stl", "--theme", "dark"], "an .stl file takes cut and generations"),
        (
            ["movie", "edge:3", "-o", "a.gif", "--sweep", "1..8"],
            "sweep would have no effect on motion turntable: motion sweep takes it",
        ),
        (["movie", "chocolate:a=3,size=7", "-o", "a.gif", "--motion", "sweep"], "goes through values of a"),
        pytest.param(
            ["movie", "ulam-warburton:3", "-o", "a.gif", "--motion", "fly-in"], "needs a body in space", marks=needs_ffmpeg
        ),
        pytest.param(
            ["movie", "ulam-warburton:3", "-o", "a.gif", "--cut", "half"],
            "cut would have no effect: a turntable of a flat body takes",
            marks=needs_ffmpeg,
        ),
    ],
)
def test_an_option_in_vain_is_refused_even_where_it_says_what_holds(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in refused(*arguments, "--json")
    assert not list(tmp_path.iterdir())


def test_what_a_picture_takes_are_options_of_a_look():
    every = [style_options(Look(style=style), flat=flat) for style in STYLES for flat in (False, True)]
    every += [movie_options(motion, flat=flat) for motion in MOTIONS for flat in (False, True)]
    every += [figure_options(name, suffix) for name in FIGURES for suffix in (".png", ".svg")]
    every += [export_options(suffix, printable=printable) for suffix in EXPORTS for printable in (False, True)]
    assert all(takes <= LOOK_OPTIONS for _, takes in [*every, WINDOW_OPTIONS, PAGE_OPTIONS])


def test_a_window_refuses_what_it_does_not_take(tmp_path):
    with pytest.raises(UsageError, match="style would have no effect: a window takes"):
        Window("nim:3", Look(style="points"), tmp_path / "a.png")


def test_a_turn_is_seen_from_the_elevation_and_in_the_projection_asked_for():
    for view, elevation, parallel in ((None, 20, False), ("30,55", 55, False), ("axis", 90, True)):
        upward = np.sin(np.radians(elevation))
        renderer = motion_of(Movie("edge:7", frames=4, look=Look(resolution=(64, 48), view=view, engine="numpy")))
        cameras = [renderer.camera(number) for number in (0, 1)]  # type: ignore[attr-defined]
        assert [camera.parallel for camera in cameras] == [parallel] * 2
        assert [camera.basis[2, 2] for camera in cameras] == pytest.approx([upward] * 2)
        assert not np.allclose(cameras[0].basis, cameras[1].basis)


def test_the_same_view_said_twice_is_the_same_picture(tmp_path):
    looks = [[], *(asked(option, DEFAULTS) for option in DEFAULTS if option != "resolution")]
    pictures = []
    for k, more in enumerate(looks):
        picture = tmp_path / f"{k}.png"
        assert facts("render", "nim:3", "-o", picture, "--resolution", "64x48", "--engine", "numpy", *more)["population"] == 16
        pictures.append(picture.read_bytes())
    assert len(set(pictures)) == 1
