"""A style, a colouring, a theme, a view, a cut, a figure, a motion and an export format are each known by their one entry:
a made-up one is drawn, written, listed in the help and named in messages by every command.
"""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpu_nim import grow, save
from gpu_nim.games import inequality
from gpu_nim.games import named_games as games
from gpu_nim.games.named_games import RATIONAL, GameEntry, Parameter
from gpu_nim.model.errors import MissingDependency, UsageError
from gpu_nim.model.registry import Named, Registry
from gpu_nim.render import exports
from gpu_nim.render.colourings import COLOURINGS, Colouring
from gpu_nim.render.drawing import Drawing
from gpu_nim.render.exports import EXPORTS, ExportedObject, ExportFormat, export
from gpu_nim.render.exports.meshes import cubes
from gpu_nim.render.figures import FIGURES, Figure
from gpu_nim.render.geometry import CUTS
from gpu_nim.render.image import render
from gpu_nim.render.look import Look
from gpu_nim.render.motions import MOTIONS, Movie, motion_of
from gpu_nim.render.motions.flights import Turntable
from gpu_nim.render.motions.sweep import Sweep
from gpu_nim.render.page import page
from gpu_nim.render.source import blocks_of
from gpu_nim.render.styles import STYLES, Points
from gpu_nim.render.themes import THEMES
from gpu_nim.render.views import VIEWS, View
from tests.helpers import printed, refused, run
from tests.render_files import needs_ffmpeg

pytestmark = pytest.mark.usefixtures("no_command")
SMALL = ("--resolution", "64x48", "--engine", "numpy", "--quality", "draft")


def xyz(obj: ExportedObject) -> bytes:
    return "".join(f"{x} {y} {z}\n" for x, y, z in obj.mesh.points.tolist()).encode()


HEIGHT = Colouring(
    "height", "by height", "height", lambda blocks: blocks.corners[:, 2], lambda heights, weights, theme: theme.map(heights / 9)
)
BELOW = Named("below", "from below", lambda cells: View((0.5, 0.5, -2.0)))
ENTRIES: dict[str, tuple[Registry[Any], Any]] = {
    "style": (STYLES, type("Dust", (Points,), {"name": "dust", "summary": "a speck a cell"})),
    "colour": (COLOURINGS, HEIGHT),
    "theme": (THEMES, replace(THEMES["dark"], name="sea", top=(0.0, 0.5, 0.5))),
    "view": (VIEWS, BELOW),
    "cut": (CUTS, Named("top", "the upper half", lambda toward: (2,))),
}


@pytest.fixture
def add():
    """A function that adds an entry to a registry, for the time of a test."""
    added = []

    def add(registry, entry):
        if entry.name not in registry:
            added.append((registry, entry.name))
        registry[entry.name] = entry

    yield add
    for registry, name in added:
        del registry[name]


@pytest.fixture
def entry(request, add):
    """A made-up entry of a kind, for the time of a test."""
    registry, made = ENTRIES[request.param]
    add(registry, made)
    return request.param, made.name


def test_a_made_up_value_is_computed_where_a_colouring_reads_it(add, tmp_path):
    deep = replace(HEIGHT, name="deep", value=lambda blocks: blocks.values["deep"])
    of_growth = replace(deep, of_growth=lambda blocks, rule: blocks.corners[:, 2] * len(rule.offsets))
    add(COLOURINGS, of_growth)
    printed("render", "nim:3", "-o", tmp_path / "a.png", *SMALL, "--colour", "deep")
    save(grow("nim", 3), tmp_path / "a.npz")
    for source in ("nim:3", str(tmp_path / "a.npz")):
        blocks = blocks_of(source, colour="deep")
        assert np.array_equal(blocks.values["deep"], 3 * blocks.corners[:, 2])
    add(COLOURINGS, replace(deep, of_game=lambda blocks, solution: blocks.corners[:, 2]))
    assert np.array_equal((game := blocks_of("chocolate:size=3", colour="deep")).values["deep"], game.corners[:, 2])


def test_nim_of_any_size_is_traced_in_a_made_up_colouring_of_coordinates(add):
    for known in (False, True):
        made = replace(HEIGHT, name="least", value=lambda blocks: blocks.corners[:, 2] == 0, of_coordinates=known)
        add(COLOURINGS, made)
        look = Look(resolution=(16, 16), engine="trace", quality="draft", colour="least")
        if known:
            assert render("nim:2^40", look).population > 2**80
        else:
            with pytest.raises(UsageError, match=r"colour least can be traced of up to 2,097,152 cells"):
                render("nim:2^40", look)


@pytest.mark.parametrize("entry", ENTRIES, indirect=True)
def test_a_made_up_entry_is_drawn_listed_and_named(entry, tmp_path):
    option, name = entry
    assert re.search(rf"^  {name} +\S", run("render", "--help").output, re.MULTILINE)
    printed("render", "nim:3", "-o", tmp_path / "a.png", *SMALL, f"--{option}", name)
    for command, ending in (("render", "png"), ("movie", "gif")):
        said = refused(command, "nim:3", "-o", tmp_path / f"c.{ending}", *SMALL, f"--{option}", f"{name}x")
        assert re.search(rf"{option} must be one of .*\b{name}\b.*, got '{name}x'", said)
    printed("render", "nim:3", "-o", tmp_path / "b.png", *SMALL)
    assert (tmp_path / "a.png").read_bytes() != (tmp_path / "b.png").read_bytes()
    look = Look(resolution=(64, 48), engine="numpy", quality="draft")
    frames = [motion_of(Movie("nim:3", frames=2, look=look.changed(given))).frame(0) for given in ({}, {option: name})]
    assert not np.array_equal(*frames)
    if option != "style":
        printed("export", "nim:3", "-o", tmp_path / "a.html", f"--{option}", name)
        refused("export", "nim:3", "-o", tmp_path / "a.html", f"--{option}", f"{name}x")
        written = (tmp_path / "a.html").read_bytes()
        plain = page("nim:3", Look()).document
        assert written == page("nim:3", Look(**{option: name})).document != plain
        assert (f'"name": "{name}"'.encode() in plain) == (option == "view")


def test_a_made_up_figure_is_drawn_listed_and_named(add, tmp_path):
    def square(theme):
        drawing = Drawing(theme, 100.0, 100.0)
        drawing.polygons([[(0, 0), (50, 0), (50, 50)]], [theme.text])
        return drawing

    add(FIGURES, Figure("square", "half a square", drawing=square))
    assert re.search(r"square +half a square", run("render", "--help").output)
    for suffix in ("svg", "pdf", "png"):
        size = ("--resolution", "64x48") if suffix == "png" else ()
        printed("render", "figure:square", "-o", tmp_path / f"a.{suffix}", *size)
    said = refused("render", "figure:squar", "-o", tmp_path / "b.svg")
    assert re.search(r"figure must be one of NF1, NF2, .*square, got 'squar'", said)


@needs_ffmpeg
def test_a_made_up_motion_is_made_listed_and_named(add, tmp_path):
    wobble = type("Wobble", (Turntable,), {"name": "wobble", "summary": "it wobbles"})
    add(MOTIONS, wobble)
    assert re.search(r"wobble +it wobbles", run("movie", "--help").output)
    made = ("movie", "nim:3", "-o", tmp_path / "a.gif", *SMALL, "--seconds", "0.1", "--workers", "1", "--motion")
    printed(*made, "wobble")
    assert re.search(r"motion must be one of .*turntable, .*wobble, some with \+turntable, got 'wobbl'", refused(*made, "wobbl"))


@pytest.mark.parametrize("ends", ["1..3", "3..1"])
def test_a_rational_parameter_of_a_made_up_game_is_swept(add, ends):
    slope = Parameter("slope", RATIONAL, "2", "slope y <= x + z")
    rules = lambda slope: inequality.chocolate(slope)  # noqa: E731
    steep = GameEntry(name="steep", summary=slope.help, source="nobody", rules=rules, parameters=(slope,))
    add(games.CATALOGUE, steep)
    look = Look(resolution=(64, 48), engine="numpy", quality="draft")
    sweep = Sweep(Movie(f"steep:slope={ends},size=7", "sweep", 5, look=look))
    assert len(sweep.largest) == len(blocks_of("chocolate:a=1,size=7"))  # the larger object frames all
    first, last = (np.asarray(sweep.frame(number)) for number in (0, 4))
    assert not np.array_equal(first, last)


def test_a_made_up_export_format_is_written_listed_and_named(add, tmp_path):
    made = ExportFormat(".xyz", "points, as text", xyz, printable=True)
    add(EXPORTS, made)
    assert re.search(r"\.xyz +points, as text, or one object to print", run("export", "--help").output)
    printed("export", "nim:3", "-o", tmp_path / "a.xyz")
    assert np.array_equal(np.loadtxt(tmp_path / "a.xyz"), cubes(blocks_of("nim:3"))[0])
    printed("export", "nim:3", "-o", tmp_path / "b.xyz", "--printable")
    for words, said in (
        (("c.xyz", "--title", "x", "--view", "axis"), "title, view would have no effect: a .xyz file takes"),
        (("a.xy",), r"an export must end in .*\.xyz, got"),
        (("a.html", "--printable"), r"a printable object must end in .*\.xyz, got"),
    ):
        assert re.search(said, refused("export", "nim:3", "-o", tmp_path / words[0], *words[1:]))


def test_without_trimesh_a_mesh_is_one_sentence_and_a_page_is_written(add, monkeypatch, tmp_path):
    monkeypatch.setattr(exports, "find_spec", lambda name: None)
    others = rf"or write {' or '.join(name for name, known in EXPORTS.items() if not known.packages)} without"
    for suffix, package in ((name, each) for name, known in EXPORTS.items() for each in known.packages):
        with pytest.raises(MissingDependency, match=rf"\{suffix} file needs {package}.*, {others}"):
            export("nim:3", tmp_path / f"a{suffix}")
    add(EXPORTS, replace(EXPORTS[".3mf"], packages=("networkx",), name=".xyz"))
    with pytest.raises(MissingDependency, match=r"a .xyz file needs networkx") as refused:
        export("nim:3", tmp_path / "a.xyz")
    assert refused.value.extra == "graph"
    for suffix in (".html", ".3mf"):
        export("nim:3", tmp_path / f"a{suffix}")
    assert sorted(file.suffix for file in tmp_path.iterdir()) == [".3mf", ".html"]
