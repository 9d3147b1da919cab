"""`gpunim nim`: one position of Nim explained."""

import click

from gpu_nim.cli.command import PILE, Command
from gpu_nim.cli.output import emit_json
from gpu_nim.games.nim import positions
from gpu_nim.games.nim.positions import Leg, Position, Relative, binary_columns, cell_of, summary, walk
from gpu_nim.model.arguments import counted

_SHOWN = 64  # legs of a walk that are printed; --json has all of them


_EXAMPLES = {
    "gpunim nim 13 12 8": "Explain an N-position: its winning moves.",
    "gpunim nim 14 11 5": "Explain a P-position: its parent, its children and its walk.",
    "gpunim nim 2^64 2^64+5 5 --json": "Piles of any size, for programs.",
}


@click.command(cls=Command, examples=_EXAMPLES)
@click.argument("piles", nargs=-1, required=True, type=PILE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object; it counts piles from 1.")
def nim(piles: tuple[int, ...], as_json: bool) -> None:
    """Explain the position of Nim with PILES: who wins and how, and its place in the evolution of P-positions.

    Any number of piles, written 13, 1_000_000, 1e6, 2^20 or 2^64+5.
    """
    position = positions.as_position(piles)
    if as_json:
        emit_json(summary(position))
        return
    click.echo(columns(position))
    click.echo()
    if not positions.is_p_position(position):
        click.echo("An N-position: the player who moves next wins.")
        click.echo(winning_moves(position))
        return
    click.echo("A P-position: the player who moved last wins.")
    click.echo(f"generation {positions.generation(position)}")
    _print_relatives("parent", positions.parents(position), "take 1 from", "0")
    _print_relatives("child", positions.children(position), "add 1 to", "1")
    if len(position) != 3:
        return
    if (count := (sum(position) // 2).bit_count()) > _SHOWN:
        click.echo("cell ({},{}) of the Ulam-Warburton automaton, ".format(*cell_of(position)), nl=False)
        click.echo(f"by a walk of {count} legs that --json prints")
    else:
        click.echo(_walk_text(walk(position)))


def columns(position: Position) -> str:
    """The piles and their nim-sum in binary columns."""
    rows, total = binary_columns(position)
    names = [*map(str, position), "nim-sum"]
    width = max(map(len, names))
    lines = [f"{name:>{width}} = {''.join(map(str, row))}" for name, row in zip(names, [*rows, total], strict=True)]
    rule = " " * (width + 3) + "-" * len(total)
    return "\n".join([*lines[:-1], rule, f"{lines[-1]} = {positions.nim_sum(position)}"])


def winning_moves(position: Position) -> str:
    """The winning moves of an N-position, one a line."""
    moves = positions.winning_moves(position)
    column = 1 << (len(digits := binary_columns(position)[1]) - 1 - digits.index(1))
    head = f"{counted(len(moves), 'winning move')}, a pile for each 1 in the leftmost odd column ({column}):"
    lines = [f"  take {move.take} from pile {move.pile + 1}, leaving {spaced(move.leaves)}" for move in moves]
    return "\n".join([head, *lines])


def _print_relatives(name: str, relatives: list[Relative], verb: str, digit: str) -> None:
    plural = {"parent": "parents", "child": "children"}[name]
    click.echo(f"{len(relatives) or 'no'} {name if len(relatives) == 1 else plural}{':' * bool(relatives)}")
    for relative in relatives:
        i, j = (pile + 1 for pile in relative.piles)
        ends = f"ending in {relative.trailing} binary {digit}{'s' * (relative.trailing != 1)}"
        click.echo(f"  {spaced(relative.position)}: {verb} piles {i} and {j}, both {ends}")


def _walk_text(legs: list[Leg]) -> str:
    if not legs:
        return "cell (0,0) of the Ulam-Warburton automaton, where every walk begins"
    head = "cell ({},{}) of the Ulam-Warburton automaton, by the walk".format(*legs[-1].to)
    steps = [
        f"  {leg.steps} {leg.direction} to ({leg.to[0]},{leg.to[1]}), as {leg.steps} sits in piles "
        f"{leg.piles[0] + 1} and {leg.piles[1] + 1}"
        for leg in legs
    ]
    return "\n".join([head, *steps])


def spaced(position: Position) -> str:
    """The piles separated by blanks, as they are typed."""
    return " ".join(map(str, position))
