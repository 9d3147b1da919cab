"""`gpunim games`: the catalogue."""

import click

from gpu_nim.cli.command import Command, json_option
from gpu_nim.cli.output import emit_json, print_table
from gpu_nim.games.catalogue import CATALOGUE
from gpu_nim.games.entries import Parameter

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
                    "grundy": "always" if game.always_grundy else "with --grundy",
                    "backends": ["numpy"] if game.host_only else ["numpy", "cuda"],
                    "default_size": game.default_size,
                    "greatest_size": game.greatest_size,
                }
                for game in CATALOGUE.values()
            }
        )
        return
    rows = [(game.name, " ".join(map(_written, game.parameters)), game.summary) for game in CATALOGUE.values()]
    print_table(rows, ("name", "parameters", "rule"))


def _written(parameter: Parameter) -> str:
    return f"{parameter.name}={parameter.default or parameter.type.word.upper()}"
