"""`gpunim games`: the catalogue; and arguments and options of commands on games, from it."""

from typing import Any

import click

from gpu_nim.cli.command import GAME_NAME, Command, Parsed, json_option
from gpu_nim.cli.output import emit_json, print_table
from gpu_nim.games.named_games import CATALOGUE, GameEntry, parameter_owners

_EXAMPLES = {
    "gpunim games": "List the games.",
    "gpunim games --json": "List all facts about them, for programs.",
}


@click.command(cls=Command, examples=_EXAMPLES)
@json_option
def games(as_json: bool) -> None:
    """List the games that can be solved and drawn, with their parameters."""
    if as_json:
        emit_json(
            {
                game.name: {
                    "summary": game.summary,
                    "source": game.source,
                    "parameters": {
                        parameter.name: {"default": parameter.default, "values": parameter.type.expected, "help": parameter.help}
                        for parameter in game.parameters
                    },
                    "grundy": "with --grundy" if game.on_backends else "always",
                    "backends": ["numpy", "cuda"] if game.on_backends else ["numpy"],
                    "default_size": game.default_size,
                }
                for game in CATALOGUE.values()
            }
        )
        return
    rows = []
    for game in CATALOGUE.values():
        parameters = " ".join(f"{each.name}={each.default or each.type.word.upper()}" for each in game.parameters)
        rows.append((game.name, parameters, game.summary))
    print_table(rows, ("name", "parameters", "rule"))


def game_argument(*, required: bool = True) -> click.Argument:
    """The argument GAME: a name, or inequalities."""
    return click.Argument(["game"], type=GAME_NAME, required=required)


def parameter_options(rational: str = "") -> list[click.Parameter]:
    """The options for the parameters of all games, values as texts.

    Args:
        rational: what the help texts of rational parameters add.
    """
    return [_parameter_option(name, owners, rational) for name, owners in parameter_owners().items()]


def taken(options: dict[str, Any]) -> dict[str, str]:
    """Take the texts of the parameters of games that are given out of the options of a command."""
    return {name: text for name in parameter_owners() if (text := options.pop(name)) is not None}


def _parameter_option(name: str, owners: list[GameEntry], rational: str) -> click.Option:
    """The option for a parameter's name; its help has a part for each different parameter of that name."""
    parts: dict[tuple[str, str], list[str]] = {}
    words = []
    for game in owners:
        (parameter,) = (parameter for parameter in game.parameters if parameter.name == name)
        text = f"{parameter.help}{rational * parameter.type.ranges}."
        default = "" if parameter.default is None else f"  [default: {parameter.default}]"
        parts.setdefault((text, default), []).append(game.name)
        words.append(parameter.type.word)
    help_text = "  ".join(f"{', '.join(games)}: {text}{default}" for (text, default), games in parts.items())
    return click.Option([f"--{name}", name], type=Parsed("|".join(dict.fromkeys(words)), str), help=help_text)
