"""Arguments and options of commands on games: the game's name and its parameters, from the catalogue."""

from typing import Any

import click

from gpu_nim.cli.catalogues import GAME_NAME
from gpu_nim.cli.command import Parsed
from gpu_nim.games.catalogue import chosen, parameter_owners, read_values
from gpu_nim.games.entries import GameEntry, Rational


def game_argument(*, required: bool = True) -> click.Argument:
    """The argument GAME: a name, or inequalities."""
    return click.Argument(["game"], type=GAME_NAME, required=required)


def parameter_options(rational: str = "") -> list[click.Parameter]:
    """The options for the parameters of all games, values as texts.

    Args:
        rational: what the help texts of rational parameters add.
    """
    return [_parameter_option(name, owners, rational) for name, owners in parameter_owners().items()]


def _parameter_option(name: str, owners: list[GameEntry], rational: str) -> click.Option:
    """The option for a parameter's name; its help has a part for each different parameter of that name."""
    parts: dict[tuple[str, str], list[str]] = {}
    words = []
    for game in owners:
        (parameter,) = (parameter for parameter in game.parameters if parameter.name == name)
        text = f"{parameter.help}{rational * isinstance(parameter.type, Rational)}."
        default = "" if parameter.default is None else f"  [default: {parameter.default}]"
        parts.setdefault((text, default), []).append(game.name)
        words.append(parameter.type.word)
    help_text = "  ".join(f"{', '.join(games)}: {text}{default}" for (text, default), games in parts.items())
    return click.Option([f"--{name}", name], type=Parsed("|".join(dict.fromkeys(words)), str), help=help_text)


def chosen_game(game: str, texts: dict[str, str]) -> tuple[GameEntry, dict[str, Any]]:
    """The entry of a name or of inequalities, with the values of the parameters that are given; UsageError for a wrong one.

    >>> entry, values = chosen_game("2y <= z", {})
    >>> entry.name, values
    ('inequalities', {'where': '2y <= z'})
    """
    entry, texts = chosen(game, texts, "--")
    values = read_values(entry, texts, "--")
    return entry, {name: values[name] for name in texts}
