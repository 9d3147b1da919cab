"""`gpunim play`: a game of Nim, or of any other game of the catalogue, in the terminal or on a page."""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from gpu_nim.cli.catalogues import named_option
from gpu_nim.cli.command import FILE, PILE, SIZE, Choice, Command, given
from gpu_nim.cli.dialogues import Dialogue, NimDialogue
from gpu_nim.cli.games import parameter_options
from gpu_nim.cli.output import say
from gpu_nim.games.catalogue import is_inequalities, read_game
from gpu_nim.model.arguments import Exclusions, Requirements, check_options
from gpu_nim.model.errors import UsageError
from gpu_nim.render.themes import THEMES

_LONGEST = 1 << 16  # letters of a line; a pile has at most 10,001


class _Over(Exception):
    """The player quits, or input has ended."""


_EXAMPLES = {
    "gpunim play 5 7 9": "Play Nim with three piles.",
    "gpunim play 3 4 5 --opponent teaching": "Play with an opponent who explains mistakes.",
    "gpunim play kayles 7 8 --misere": "Play another game, where whoever makes the last move loses.",
    "gpunim play 5 7 9 --web": "Play in a browser, and see the position in the fractal.",
    "gpunim play chocolate 20 7 16 -o game.html": "Write a page to play on, which works offline.",
}


_EXCLUDES: Exclusions = {"out": ("web",)}
_REQUIRES: Requirements = {"theme": (("web", "out"), "a page")}


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
@click.option("--web", is_flag=True, help="Open a page in a browser, in place of the terminal.")
@click.option("-o", "--out", type=FILE, help="Write that page to this .html file.")
@named_option("--theme", THEMES, default="dark")
def play(
    words: tuple[str, ...],
    misere: bool,
    opponent: str,
    second: bool,
    web: bool,
    out: Path | None,
    theme: str,
    **options: str | None,
) -> None:
    """Play Nim with piles, as in `gpunim play 5 7 9`, or another game, as in `gpunim play kayles 4 5`.

    GAME is a name, which `gpunim games` lists, or inequalities, as in `gpunim play '3y <= x + z' 7 3 5`. Taking the last counter,
    or making the last move, wins; with --misere it loses.

    A page, by --web or --out, shows the position, its moves and the game so far in the fractal of P-positions. It plays Nim with
    three piles, and games of two or three coordinates, also between two people; with `--opponent teaching` it begins with the hints
    shown.
    """
    texts = {name: text for name, text in options.items() if text is not None}
    check_options(given(["web", "out", "theme"]), _EXCLUDES, _REQUIRES)
    if web or out:
        _on_page(words, texts, out, misere=misere, hints=opponent == "teaching", second=second, theme=theme)
        return
    game, numbers, values = _position(words, misere, texts)
    is_nim = game == "nim" and not misere and not texts
    dialogue = NimDialogue(numbers) if is_nim else Dialogue(game, numbers, misere, values)
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


def _on_page(words: tuple[str, ...], texts: dict[str, str], out: Path | None, *, theme: str, **options: bool) -> None:
    from gpu_nim.render.look import Look
    from gpu_nim.render.page import play_page
    from gpu_nim.storage.atomic import atomic_write, check_writable

    game, numbers, values = _position(words, options["misere"], texts)
    made = partial(play_page, game, numbers, look=Look(theme=theme), **options, **values)
    if out is None:
        made().show(click.echo)
        return
    if out.suffix.lower() != ".html":
        raise UsageError(f"--out must end in .html, got {str(out)!r}")
    check_writable(out)
    document = made().document
    with atomic_write(out) as scratch:
        scratch.write_bytes(document)
    say(f"{out}: {len(document):,} bytes")


def _position(words: tuple[str, ...], misere: bool, texts: dict[str, str]) -> tuple[str, list[int], dict[str, Any]]:
    """The game, its position and the values of its parameters."""
    ctx = click.get_current_context()
    named = is_inequalities(words[0]) or (not words[0][:1].isdigit() and not words[0].startswith(("-", "+")))
    game, values = read_game(words[0] if named else "nim", texts)
    (argument,) = (param for param in ctx.command.params if param.name == "words")
    kind: Any = PILE if game == "nim" and not misere and not texts else SIZE
    numbers = [kind.convert(word, argument, ctx) for word in words[named:]]
    if not numbers:
        raise UsageError(f"{words[0]} must be followed by the numbers of a position, as in `gpunim play kayles 4 5`, got none")
    return game, numbers, values


def _your_move(dialogue: Dialogue, teaching: bool) -> None:
    click.echo()
    click.echo(dialogue.description(teaching))
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
    line = sys.stdin.buffer.readline(_LONGEST + 1).decode(errors="replace")
    if not line or len(line) > _LONGEST:
        click.echo()
    if len(line) > _LONGEST:
        raise UsageError(f"input must be lines of at most {_LONGEST:,} letters, got a longer one")
    if not line:
        raise _Over("Input has ended")
    return line.strip()
