"""`gpunim play`: a game of Nim in the terminal."""

import re
import sys
from typing import TYPE_CHECKING

import click

from gpu_nim.cli.nim import columns, spaced
from gpu_nim.cli.params import PILE, Choice
from gpu_nim.model.errors import UsageError
from gpu_nim.model.notation import parse_integer

if TYPE_CHECKING:
    from gpu_nim.games.nim.positions import Move, Position

_HELP = "Type PILE COUNT, as in 2 5 to take 5 from pile 2; hint, help or quit."


class _Over(Exception):
    """The player quits, or input has ended."""


@click.command()
@click.argument("piles", nargs=-1, required=True, type=PILE)
@click.option(
    "--opponent",
    type=Choice(("perfect", "teaching")),
    default="perfect",
    help="Both play perfectly; teaching also prints the columns before each of your moves and lets you undo a mistake.",
)
@click.option("--second", is_flag=True, help="Let the opponent move first.")
def play(piles: tuple[int, ...], opponent: str, second: bool) -> None:
    """Play Nim with PILES, as in `gpunim play 5 7 9`: take any number from one pile; taking the last counter wins."""
    from gpu_nim.games.nim.positions import as_position

    position = as_position(piles)
    if not any(position):
        raise UsageError(f"piles must have at least one counter, got {position}")
    click.echo(_HELP)
    yours = not second
    try:
        while any(position):
            position = _your_move(position, opponent == "teaching") if yours else _reply(position)
            yours = not yours
    except _Over as reason:
        click.echo(f"{reason} with {spaced(position)} on the table.")
        return
    click.echo("I took the last counter: I win." if yours else "You took the last counter: you win.")


def _your_move(position: "Position", teaching: bool) -> "Position":
    from gpu_nim.games.nim.positions import nim_sum
    from gpu_nim.games.nim.strategy import missed

    click.echo()
    click.echo(columns(position) if teaching else "Piles: " + spaced(position))
    while True:
        move = _ask(position)
        better = missed(position, move)
        if not teaching or not better:
            return move.leaves
        click.echo(f"That leaves nim-sum {nim_sum(move.leaves)}, and I can make it 0. {_praise(better[0])}")
        if not _answer("Take your move back? [y/N] ").lower().startswith("y"):
            return move.leaves


def _reply(position: "Position") -> "Position":
    from gpu_nim.games.nim.positions import is_p_position
    from gpu_nim.games.nim.strategy import reply

    move = reply(position)
    what = f"I take {move.take} from pile {move.pile + 1}, leaving {spaced(move.leaves)}"
    if not any(move.leaves):
        click.echo(f"{what}.")
    elif is_p_position(move.leaves):
        click.echo(f"{what}: that makes the nim-sum 0, and whatever you do it will not stay 0.")
    else:
        click.echo(f"{what}: the nim-sum was 0, so no move wins; I make the game as long as I can.")
    return move.leaves


def _ask(position: "Position") -> "Move":
    from gpu_nim.games.nim.positions import winning_moves
    from gpu_nim.games.nim.strategy import take

    while True:
        text = _answer("Your move: ").lower()
        if text in ("quit", "q", "exit"):
            raise _Over("You leave the game")
        if text in ("hint", "h", "?"):
            winning = winning_moves(position)
            click.echo(_praise(winning[0]) if winning else "The nim-sum is 0: no move wins against perfect play.")
            continue
        words = re.split(r"[\s,]+", text)
        try:
            pile, count = map(parse_integer, words)
            return take(position, pile - 1, count)
        except UsageError as error:
            click.echo(f"Not a move: {error}.")
        except ValueError:
            click.echo(_HELP)


def _answer(prompt: str) -> str:
    click.echo(prompt, nl=False)
    # As bytes, since the input may not be valid text.
    line = sys.stdin.buffer.readline().decode(errors="replace")
    if not line:
        click.echo()
        raise _Over("Input has ended")
    return line.strip()


def _praise(move: "Move") -> str:
    return f"Taking {move.take} from pile {move.pile + 1} leaves {spaced(move.leaves)}, with nim-sum 0: that wins."
