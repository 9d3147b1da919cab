"""Options that the drawing commands share: those of the fields of `gpu_nim.render.look.Look`."""

from collections.abc import Callable
from dataclasses import Field, fields
from typing import Any, TypeVar

import click

from gpu_nim.cli.catalogues import named_option
from gpu_nim.cli.command import RANGE, Parsed
from gpu_nim.render import styles as styles  # which fill the registry that the option --style reads
from gpu_nim.render.look import Look, option_of, parse_resolution

F = TypeVar("F", bound=Callable[..., Any])

_TYPES = {"resolution": Parsed("widthxheight", parse_resolution), "generations": RANGE}  # of options that are no text


def listings() -> dict[str, list[tuple[str, str]]]:
    """Return what the names of a look stand for, by title, for the end of a help text."""
    registries = {f"{each.name.capitalize()}s".replace("ys", "ies"): option_of(each).registry for each in fields(Look)}
    return {title: registry.summaries() for title, registry in registries.items() if registry is not None}


def look_options(*names: str, without: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Add options of how a picture looks: those of the names given, or all of `gpu_nim.render.look.Look` without some.

    A command takes only the options that have an effect on it.
    """

    def decorate(command: F) -> F:
        for each in reversed(fields(Look)):
            if each.name in names or not (names or each.name in without):
                command = _option(each)(command)
        return command

    return decorate


def _option(each: "Field[Any]") -> Callable[[F], F]:
    option, flag = option_of(each), f"--{each.name.replace('_', '-')}"
    extra: dict[str, Any] = {}
    if each.default is False:
        return click.option(flag, is_flag=True, help=option.help)
    if each.default is not None:
        extra["default"] = "x".join(map(str, each.default)) if isinstance(each.default, tuple) else each.default
    if each.name in _TYPES:
        extra["type"] = _TYPES[each.name]
    if option.choices:
        return named_option(flag, option.choices, option.help, **extra)
    return click.option(flag, help=option.help, metavar=option.metavar or None, **extra)
