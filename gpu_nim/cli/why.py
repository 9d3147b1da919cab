"""`gpunim why`: when a cell of an automaton is born, or why it never is."""

import click

from gpu_nim.automata.history import why as history_of
from gpu_nim.backends.selection import NAMES
from gpu_nim.cli.command import AUTOMATON_NAME, SIZE, Choice, Command, integer, json_option
from gpu_nim.cli.output import emit_json, say

_FAR = 2**31 - 1

_EXAMPLES = {
    "gpunim why edge 1 1 2": "Explain why this cell is never born.",
    "gpunim why edge 0 1 3": "Print when it is born, and its parent.",
    "gpunim why ulam-warburton -3 2": "Explain a cell with a negative coordinate.",
}


@click.command(cls=Command, examples=_EXAMPLES, context_settings={"ignore_unknown_options": True})  # negative numbers
@click.argument("automaton", type=AUTOMATON_NAME)
@click.argument("cell", nargs=-1, required=True, type=integer(-_FAR, _FAR))
@click.option("--gen", "generations", type=SIZE, help="Steps to look at.  [default: 4 times the distance from the seeds, and 16]")
@click.option("--backend", type=Choice(NAMES), default="auto", help="Where to grow; auto uses a GPU if there is one.")
@json_option
def why(automaton: str, cell: tuple[int, ...], generations: int | None, backend: str, as_json: bool) -> None:
    """Explain a cell of AUTOMATON: the step at which it is born and its parents, or why it is never born.

    AUTOMATON is a name, which `gpunim automata` lists, or a rule in Golly's notation; CELL are the coordinates.
    """
    found = history_of(automaton, cell, generations=generations, backend=backend)
    if as_json:
        emit_json(found.summary())
    else:
        say(str(found))
