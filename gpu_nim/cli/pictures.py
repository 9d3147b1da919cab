"""Options that the drawing commands share."""

import re
from collections.abc import Callable, Collection
from typing import Any, TypeVar

import click

from gpu_nim.cli.params import RANGE

F = TypeVar("F", bound=Callable[..., Any])

_SIZES = {"720p": (1280, 720), "1080p": (1920, 1080), "1440p": (2560, 1440), "4k": (3840, 2160), "8k": (7680, 4320)}


class Size(click.ParamType):  # type: ignore[type-arg]  # generic only in new releases of click
    """WIDTHxHEIGHT in pixels, or a name such as 1080p or 4k; converts to a pair of integers."""

    name = "widthxheight"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Return (width, height); a usage error says what is wrong."""
        if isinstance(value, tuple):
            return value
        if named := _SIZES.get(value.lower()):
            return named
        match = re.fullmatch(r"([0-9]{1,6})[x×]([0-9]{1,6})", value)
        if match is None:
            self.fail(f"expected WIDTHxHEIGHT such as 1920x1080, or one of {', '.join(_SIZES)}, got {value!r}.", param, ctx)
        width, height = int(match[1]), int(match[2])
        if min(width, height) < 16 or max(width, height) > 16384:
            self.fail(f"expected from 16x16 to 16384x16384 pixels, got {value}.", param, ctx)
        return width, height


SIZE = Size()


_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "size": click.option("--size", type=SIZE, default="1920x1080", help="WIDTHxHEIGHT in pixels, or 720p, 1080p, 1440p, 4k, 8k."),
    "view": click.option(
        "--view",
        help="hero, isometric, axis, diagonal, gasket or AZIM,ELEV in degrees.  [default: hero; axis if flat]",
    ),
    "theme": click.option("--theme", default="dark", help="dark, paper or neon."),
    "color": click.option("--color", help="generation, rank, grundy, branch or nim-p.  [default: rank]"),
    "style": click.option("--style", help="cubes, points, volume or slices.  [default: cubes; points in the neon theme]"),
    "generations": click.option("--generations", type=RANGE, help="Draw only generations A:B, B excluded."),
    "cut": click.option("--cut", default="none", help="Cut away none, the corner nearest the eye, or the front half."),
    "quality": click.option("--quality", default="final", help="draft, or final: four samples a pixel, finer shadows and clouds."),
    "engine": click.option("--engine", default="auto", help="auto, opengl, or numpy, which needs no OpenGL."),
    "title": click.option("--title", default="", help="A line of text above the picture."),
}


def look_options(*names: str) -> Callable[[F], F]:
    """Add options of how a picture looks: those of the names given, or all of `gpu_nim.render.still.Look`.

    A command takes those that it heeds, so that none is given in vain.
    """

    def decorate(command: F) -> F:
        for name in reversed(names or tuple(_OPTIONS)):
            command = _OPTIONS[name](command)
        return command

    return decorate


def given(names: Collection[str]) -> frozenset[str]:
    """Return which of these options were given on the command line, be it with the values that they have without."""
    context = click.get_current_context()
    return frozenset(name for name in names if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE)
