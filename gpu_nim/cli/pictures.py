"""Options of how a picture looks, arguments of `gpu_nim.render.look.Look`, which the drawing commands share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from gpu_nim.cli.command import RANGE, Parsed, named_option
from gpu_nim.render.colourings import COLOURINGS, DEFAULT
from gpu_nim.render.geometry import CUTS
from gpu_nim.render.look import ENGINES, OPACITIES, QUALITIES, RESOLUTIONS, Look, parse_resolution
from gpu_nim.render.styles import STYLES
from gpu_nim.render.themes import THEMES
from gpu_nim.render.views import ANGLES, AUTOMATON_VIEWS, DEFAULT_VIEW, FLAT_VIEW, VIEWS

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
