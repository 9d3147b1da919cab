"""`gpunim render`: one picture, or a figure of the papers; and the options of how a picture looks, which drawing commands share."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from gpu_nim.cli.command import RANGE, SOURCE_OR_FIGURE, Command, File, Parsed, given, json_option, named_option
from gpu_nim.cli.output import emit_json, say, step_progress
from gpu_nim.model.arguments import counted
from gpu_nim.model.registry import Registry, one_of
from gpu_nim.render.colourings import COLOURINGS, DEFAULT
from gpu_nim.render.drawing import SUFFIXES as VECTOR_SUFFIXES
from gpu_nim.render.figures import FIGURES, draw_figure, figure_options
from gpu_nim.render.geometry import CUTS
from gpu_nim.render.image import draw_vectors, vector_options
from gpu_nim.render.image import render as draw
from gpu_nim.render.look import ENGINES, OPACITIES, QUALITIES, RESOLUTIONS, Look, parse_resolution, require_effect
from gpu_nim.render.metadata import IMAGE_SUFFIXES, check_ending
from gpu_nim.render.styles import STYLES, style_options
from gpu_nim.render.themes import THEMES
from gpu_nim.render.views import ANGLES, AUTOMATON_VIEWS, DEFAULT_VIEW, FLAT_VIEW, INSIDE, VIEWS
from gpu_nim.storage.atomic import check_writable

_EXAMPLES = {
    "gpunim render nim:63 -o nim.png": "Draw the P-positions of Nim with piles below 64.",
    "gpunim render edge:31 --theme paper --legend --axes -o edge.png": "Draw for a paper, with a legend and axes.",
    "gpunim render chocolate:a=3,size=63 --view gasket -o chocolate.png": "Draw a game, as Sierpinski's gasket.",
    "gpunim render figure:NF1 -o figure.svg": "Draw a figure of a paper as vectors.",
    "gpunim render hexagonal:31 --theme paper --axes -o hexagonal.pdf": "Draw a plane automaton as vectors.",
    "gpunim render nim:2^40 --quality pathtraced -o nim.png": "Path trace an object of 10^24 cells.",
}

F = TypeVar("F", bound=Callable[..., Any])

_USUAL_VIEW = f"{DEFAULT_VIEW}; {FLAT_VIEW} if flat; {', '.join(f'{view} of {name}' for name, view in AUTOMATON_VIEWS.items())}"

_OPTIONS = {
    "resolution": named_option(
        "--resolution",
        RESOLUTIONS,
        "WIDTHxHEIGHT in pixels, or {}.",
        type=Parsed("widthxheight", parse_resolution),
        default="{}x{}".format(*Look.resolution),
    ),
    "view": named_option("--view", (*VIEWS, ANGLES), f"{{}} in degrees.  [default: {_USUAL_VIEW}]"),
    "theme": named_option("--theme", THEMES, default=Look.theme),
    "colour": named_option("--colour", COLOURINGS, f"{{}}.  [default: {DEFAULT}]"),
    "cmap": click.option("--cmap", metavar="NAME", help="A colour map of matplotlib, such as viridis.  [default: the theme's]"),
    "style": named_option("--style", STYLES, default=Look.style),
    "opacity": named_option("--opacity", OPACITIES, "{}: the opaque cells of a volume.", default=Look.opacity),
    "generations": click.option("--generations", type=RANGE, help="Draw only generations START, ..., STOP - 1."),
    "cut": named_option("--cut", ("none", *CUTS), "{}: what is cut away to show the inside.", default=Look.cut),
    "quality": named_option(
        "--quality",
        QUALITIES,
        "{}: final has four samples a pixel and finer shadows; pathtraced takes minutes.",
        default=Look.quality,
    ),
    "engine": named_option("--engine", ENGINES, "{}; numpy needs no OpenGL.", default=Look.engine),
    "title": click.option("--title", default=Look.title, help="A text above the object."),
    "caption": click.option("--caption", default=Look.caption, help="A text below the object."),
    "legend": click.option("--legend", is_flag=True, help="Show what the colours stand for."),
    "axes": click.option("--axes", is_flag=True, help="Show the coordinates, with ticks at both ends, 0 and the powers of two."),
    "transparent": click.option("--transparent", is_flag=True, help="An alpha channel in place of the background."),
}


def look_options(*names: str) -> Callable[[F], F]:
    """Return a decorator that adds the options of these names, or all: a command takes only those that have an effect on it."""

    def decorate(command: F) -> F:
        for name in reversed(names or [*_OPTIONS]):
            command = _OPTIONS[name](command)
        return command

    return decorate


_LISTED: dict[str, Registry[Any]] = {
    "Figures": FIGURES,
    "Views": VIEWS,
    "Themes": THEMES,
    "Colours": COLOURINGS,
    "Styles": STYLES,
    "Opacities": OPACITIES,
    "Cuts": CUTS,
}


@click.command(cls=Command, examples=_EXAMPLES, listings=lambda: {title: known.summaries() for title, known in _LISTED.items()})
@click.argument("source", type=SOURCE_OR_FIGURE)
@click.option(
    "-o",
    "--out",
    type=File(".png"),
    required=True,
    help=f"The file: {one_of(IMAGE_SUFFIXES)}; {one_of(VECTOR_SUFFIXES)} for a figure, for flat objects and for sections.",
)
@look_options()
@click.option("--eye", metavar="A,B,C", help=f"Camera position in cells, such as 2^39,100,5/2, exact; traced, as is view {INSIDE}.")
@click.option("--look-at", metavar="A,B,C", help="Focal point.  [default: the middle of the object]")
@json_option
@click.option("--quiet", is_flag=True, help="Print no progress.")
def render(source: str, out: Path, as_json: bool, quiet: bool, **options: Any) -> None:
    """Draw SOURCE: AUTOMATON:GENERATION such as nim:255, GAME:PARAMETER=VALUE,size=M, a file, or figure:NAME.

    `gpunim automata` and `gpunim games` list the names: chocolate:a=3,size=127 and wythoff:size=255 are games.
    An automaton alone, such as nim, is drawn to the generation to which gpunim grow goes.
    Objects of four coordinates and more, such as nim-4:31, are projected to space.

    Files are growths saved by gpunim grow, games saved by gpunim solve, and patterns of Golly, - from stdin.
    """
    began = time.perf_counter()
    look, suffix = Look(**options), out.suffix.lower()
    figure = FIGURES.find(source.removeprefix("figure:")).name if source.startswith("figure:") else None
    in_vectors = suffix in VECTOR_SUFFIXES
    if not in_vectors:
        check_ending(out, look.resolution, transparent=look.transparent)
    known = figure_options(figure, suffix) if figure else vector_options(look) if in_vectors else style_options(look)
    require_effect(*known, look, given(options))
    check_writable(out)
    if figure or in_vectors:
        drawing = draw_figure(figure, look.theme) if figure else draw_vectors(source, look)
        drawing.save(out, look.resolution)
        width, height = (round(drawing.width), round(drawing.height)) if in_vectors else look.resolution
        facts: dict[str, Any] = {"note": ""}
    else:
        with step_progress(quiet) as step:
            picture = draw(source, look, progress=step)
            picture.save(out)
        width, height = picture.image.size
        facts = {name: getattr(picture, name) for name in ("note", "engine", "population", "drawn")}
    seconds = round(time.perf_counter() - began, 3)
    if as_json:
        emit_json({"source": source, "out": str(out), "width": width, "height": height, **facts, "seconds": seconds})
        return
    note = f"; {facts['note']}" if facts["note"] else ""
    cells = f", {counted(facts['population'], 'cell')}" if "population" in facts else ""
    say(f"{out}: {width}x{height}{cells}{note} ({seconds:.1f} s)")
