"""`gpunim play`: a game of Nim, or of any other game of the catalogue, in the terminal."""

import sys
from typing import Any

import click

from gpu_nim.cli.command import Command
from gpu_nim.cli.dialogues import Dialogue, GameDialogue, NimDialogue
from gpu_nim.cli.game_options import given_values, parameter_options
from gpu_nim.cli.params import PILE, SIZE, Choice
from gpu_nim.games.catalogue import find
from gpu_nim.model.errors import UsageError


class _Over(Exception):
    """The player quits, or input has ended."""


_EXAMPLES = {
    "gpunim play 5 7 9": "Play Nim with three piles.",
    "gpunim play 3 4 5 --opponent teaching": "Play with an opponent who explains mistakes.",
    "gpunim play kayles 7 8 --misere": "Play another game, where whoever makes the last move loses.",
}


@click.command(cls=Command, examples=_EXAMPLES, options=parameter_options)
@click.argument("words", nargs=-1, required=True, metavar="[GAME] NUMBERS...")
@click.option("--misere", is_flag=True, help="Whoever makes the last move loses.")
@click.option(
    "--opponent",
    type=Choice(("perfect", "teaching")),
    default="perfect",
    help="Both play perfectly; teaching also shows who wins before each of your moves and lets you undo a mistake.",
)
@click.option("--second", is_flag=True, help="Let the opponent move first.")
def play(words: tuple[str, ...], misere: bool, opponent: str, second: bool, **options: str | None) -> None:
    """Play Nim with piles, as in `gpunim play 5 7 9`, or another game, as in `gpunim play kayles 4 5`.

    Taking the last counter, or making the last move, wins; with --misere it loses. `gpunim games` lists the games.
    """
    texts = {name: text for name, text in options.items() if text is not None}
    dialogue = _dialogue(words, misere, texts)
    if dialogue.is_over():
        raise UsageError(f"position must have a move, got {dialogue.position()}")
    click.echo(dialogue.help)
    yours = not second
    try:
        while not dialogue.is_over():
            if yours:
                _your_move(dialogue, opponent == "teaching")
            else:
                click.echo(dialogue.reply())
            yours = not yours
    except _Over as reason:
        click.echo(f"{reason} with {dialogue.position()} on the table.")
        return
    click.echo(dialogue.ending(yours))


def _dialogue(words: tuple[str, ...], misere: bool, texts: dict[str, str]) -> Dialogue:
    ctx = click.get_current_context()
    named = not words[0][:1].isdigit() and not words[0].startswith(("-", "+"))
    game = find(words[0]).name if named else "nim"
    (argument,) = (param for param in ctx.command.params if param.name == "words")
    is_nim = game == "nim" and not misere and not texts
    kind: Any = PILE if is_nim else SIZE
    numbers = [kind.convert(word, argument, ctx) for word in words[named:]]
    if not numbers:
        raise UsageError(f"{game} must be followed by the numbers of a position, as in `gpunim play {game} 4 5`, got none")
    return NimDialogue(numbers) if is_nim else GameDialogue(game, numbers, misere, given_values(game, texts))


def _your_move(dialogue: Dialogue, teaching: bool) -> None:
    click.echo()
    click.echo(dialogue.shown(teaching))
    while True:
        move = _ask(dialogue)
        better = dialogue.missed(move) if teaching else None
        if better is None:
            break
        click.echo(better)
        if not _answer("Take your move back? [y/N] ").lower().startswith("y"):
            break
    dialogue.make(move)


def _ask(dialogue: Dialogue) -> Any:
    while True:
        text = _answer("Your move: ").lower()
        if text in ("quit", "q", "exit"):
            raise _Over("You leave the game")
        if text in ("hint", "h", "?"):
            click.echo(dialogue.hint())
            continue
        if text == "moves":
            click.echo(dialogue.moves())
            continue
        try:
            return dialogue.read(text)
        except UsageError as error:
            click.echo(f"Not a move: {error}.")
        except ValueError:
            click.echo(dialogue.help)


def _answer(prompt: str) -> str:
    click.echo(prompt, nl=False)
    # As bytes, since the input may not be valid text.
    line = sys.stdin.buffer.readline().decode(errors="replace")
    if not line:
        click.echo()
        raise _Over("Input has ended")
    return line.strip()
