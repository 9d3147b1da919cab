"""Options that the drawing commands share, their choices and help made from the catalogues of `gpu_nim.render`."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar

import click

from gpu_nim.cli.params import RANGE
from gpu_nim.render.colourings import COLOURINGS, DEFAULT
from gpu_nim.render.geometry import CUTS
from gpu_nim.render.look import ENGINES, QUALITIES, Look
from gpu_nim.render.styles import STYLES
from gpu_nim.render.themes import THEMES
from gpu_nim.render.views import ANGLES, VIEWS

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
        return int(match[1]), int(match[2])


SIZE = Size()


def one_of(names: Iterable[str]) -> str:
    """Return names as an enumeration in words.

    >>> one_of(["draft", "final"]), one_of(["a", "b", "c"])
    ('draft or final', 'a, b or c')
    """
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


class NamedOption(click.Option):
    """An option that takes a name from a catalogue, which is read when help or a completion is requested.

    Args:
        args: as for `click.Option`.
        choices: returns the names.
        about: the help text, with {} for the names, or a function that returns it.
        extra: as for `click.Option`.
    """

    def __init__(self, *args: Any, choices: Callable[[], Iterable[str]], about: str | Callable[[], str], **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._choices, self._about = choices, about

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help, which names the choices."""
        self.help = (self._about if isinstance(self._about, str) else self._about()).format(one_of(self._choices()))
        return super().get_help_record(ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Return the choices that begin with `incomplete`."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in self._choices() if name.startswith(incomplete)]


class ListingCommand(click.Command):
    """A command whose help ends with lists of catalogues.

    Args:
        args: as for `click.Command`.
        listings: returns the lists by title, each of names and descriptions; called when help is requested.
        extra: as for `click.Command`.
    """

    def __init__(self, *args: Any, listings: Callable[[], Mapping[str, Iterable[tuple[str, str]]]], **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._listings = listings

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists."""
        for title, rows in self._listings().items():
            with formatter.section(title):
                formatter.write_dl(list(rows))


def named_option(
    flag: str, choices: Callable[[], Iterable[str]], about: str | Callable[[], str] = "{}.", **extra: Any
) -> Callable[[F], F]:
    """Return a decorator that adds a `NamedOption`."""
    return click.option(flag, cls=NamedOption, choices=choices, about=about, **extra)


def _themed_styles() -> str:
    default = Look.theme
    others = (f"{theme.style} in the {name} theme" for name, theme in THEMES.items() if theme.style != THEMES[default].style)
    return "; ".join((THEMES[default].style, *others))


_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "size": click.option("--size", type=SIZE, default="1920x1080", help=f"WIDTHxHEIGHT in pixels, or {', '.join(_SIZES)}."),
    "view": named_option("--view", lambda: (*VIEWS, ANGLES), "{} in degrees.  [default: hero; axis if flat]"),
    "theme": named_option("--theme", lambda: THEMES, default=Look.theme),
    "color": named_option("--color", lambda: COLOURINGS, f"{{}}.  [default: {DEFAULT}]"),
    "style": named_option("--style", lambda: STYLES, lambda: f"{{}}.  [default: {_themed_styles()}]"),
    "generations": click.option("--generations", type=RANGE, help="Draw only generations A:B, B excluded."),
    "cut": named_option("--cut", lambda: ("none", *CUTS), "{}: what is cut away to show the inside.", default=Look.cut),
    "quality": named_option(
        "--quality", lambda: QUALITIES, "{}: final has four samples a pixel, finer shadows and clouds.", default=Look.quality
    ),
    "engine": named_option("--engine", lambda: ENGINES, "{}; numpy needs no OpenGL.", default=Look.engine),
    "title": click.option("--title", default="", help="A line of text above the picture."),
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


def given(names: Collection[str]) -> frozenset[str]:
    """Return which of these options were given on the command line, even with their default values."""
    context = click.get_current_context()
    return frozenset(name for name in names if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE)
