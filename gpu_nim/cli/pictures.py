"""Options that the drawing commands share, their choices and help made from the catalogues of `gpu_nim.render`."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from gpu_nim.cli.catalogues import named_option
from gpu_nim.cli.command import RANGE, Parsed
from gpu_nim.render.colourings import COLOURINGS, DEFAULT
from gpu_nim.render.geometry import CUTS
from gpu_nim.render.look import ENGINES, QUALITIES, RESOLUTIONS, Look, parse_resolution
from gpu_nim.render.styles import STYLES
from gpu_nim.render.themes import THEMES
from gpu_nim.render.views import ANGLES, DEFAULT_VIEW, FLAT_VIEW, INSIDE, TELLING_VIEWS, VIEWS

F = TypeVar("F", bound=Callable[..., Any])

RESOLUTION = Parsed("widthxheight", parse_resolution)


def _themed_styles() -> str:
    default = Look.theme
    others = (f"{theme.style} in the {name} theme" for name, theme in THEMES.items() if theme.style != THEMES[default].style)
    return "; ".join((THEMES[default].style, *others))


_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "resolution": named_option(
        "--resolution",
        RESOLUTIONS,
        "WIDTHxHEIGHT in pixels, or {}.",
        type=RESOLUTION,
        default="x".join(map(str, Look.resolution)),
    ),
    "view": named_option(
        "--view",
        (*VIEWS, ANGLES),
        f"{{}} in degrees; a traced picture: {INSIDE}.  [default: {DEFAULT_VIEW}; {FLAT_VIEW} if flat; "
        f"{', '.join(f'{view} of {name}' for name, view in TELLING_VIEWS.items())}]",
    ),
    "eye": click.option("--eye", metavar="A,B,C", help="Where the eye is, in cells, such as 2^39,100,5/2, exactly; traced."),
    "look_at": click.option("--look-at", metavar="A,B,C", help="What it looks at.  [default: the middle of the body]"),
    "theme": named_option("--theme", THEMES, default=Look.theme),
    "colour": named_option("--colour", COLOURINGS, f"{{}}.  [default: {DEFAULT}]"),
    "cmap": click.option("--cmap", metavar="NAME", help="A colour map of matplotlib, such as viridis.  [default: the theme's]"),
    "style": named_option("--style", STYLES, f"{{}}.  [default: {_themed_styles()}]"),
    "generations": click.option("--generations", type=RANGE, help="Draw only generations START, ..., STOP - 1."),
    "cut": named_option("--cut", ("none", *CUTS), "{}: what is cut away to show the inside.", default=Look.cut),
    "quality": named_option(
        "--quality",
        QUALITIES,
        "{}: final has four samples a pixel, finer shadows and finer volumes; cinema is path traced and takes minutes.",
        default=Look.quality,
    ),
    "engine": named_option("--engine", ENGINES, "{}; numpy needs no OpenGL.", default=Look.engine),
    "title": click.option("--title", default="", help="A text above the body."),
    "caption": click.option("--caption", default="", help="A text below the body."),
    "legend": click.option("--legend", is_flag=True, help="Show what the colours stand for."),
    "axes": click.option("--axes", is_flag=True, help="Show the coordinates, with ticks at 0 and the powers of two."),
}


def listings() -> dict[str, list[tuple[str, str]]]:
    """Return what the names of a look stand for, by title, for the end of a help text."""
    return {
        "Styles": STYLES.summaries(),
        "Colours": COLOURINGS.summaries(),
        "Themes": THEMES.summaries(),
        "Views": VIEWS.summaries(),
        "Cuts": CUTS.summaries(),
    }


def look_options(*names: str) -> Callable[[F], F]:
    """Add options of how a picture looks: those of the names given, or all of `gpu_nim.render.look.Look`.

    A command takes only the options that have an effect on it.
    """

    def decorate(command: F) -> F:
        for name in reversed(names or tuple(_OPTIONS)):
            command = _OPTIONS[name](command)
        return command

    return decorate
