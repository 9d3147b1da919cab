"""`gpunim play`: a game of Nim, or of any other game of the catalogue, in the terminal or on a page."""

from __future__ import annotations

import re
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import click

from gpu_nim.cli.command import PILE, SIZE, Choice, Command, File, given, named_option
from gpu_nim.cli.games import parameter_options, taken
from gpu_nim.cli.nim import columns, spaced
from gpu_nim.cli.output import say
from gpu_nim.games.evolution import Analysis
from gpu_nim.games.inequality import is_inequalities
from gpu_nim.games.named_games import GameEntry, entry_of
from gpu_nim.games.nim.positions import Move, as_position, is_p_position, missed, nim_sum, reply, take, winning_moves
from gpu_nim.games.rulesets import Ruleset
from gpu_nim.model.arguments import Exclusions, Requirements, check_options, parse_integer
from gpu_nim.model.errors import UsageError
from gpu_nim.render.themes import THEMES

_LISTED = 1000  # moves
_LONGEST = 1 << 16  # letters of a line; a pile has at most 10,001


class _Over(Exception):
    """The player quits, or input has ended."""


_EXAMPLES = {
    "gpunim play 5 7 9": "Play Nim with three piles.",
    "gpunim play 3 4 5 --opponent teaching": "Play with an opponent who explains mistakes.",
    "gpunim play kayles 7 8 --misere": "Play another game, where whoever makes the last move loses.",
    "gpunim play 5 7 9 --web": "Play in a browser, and see the position in the fractal.",
    "gpunim play chocolate 20 7 16 -o game.html": "Write a page to play on, which works offline.",
    "gpunim play chocolate6 2 1 2 1 2 1 -o game.html": "Play on a bar of chocolate alone.",
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
@click.option("-o", "--out", type=File(".html"), help="Write that page to this .html file.")
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

    A page, by --web or --out, shows the position, its moves and the game so far in the fractal of P-positions, and a chocolate as a
    bar whose lines are clicked. It plays Nim with three piles, games of two or three coordinates, and chocolate6, also between two
    people; with `--opponent teaching` it begins with the hints shown.
    """
    texts = taken(options)
    check_options(given(["web", "out", "theme"]), _EXCLUDES, _REQUIRES)
    entry, parameters, numbers, is_nim = _position(words, misere, texts)
    if web or out:
        game = entry.game(parameters, len(numbers))
        _on_page(game, numbers, out, misere=misere, hints=opponent == "teaching", second=second, theme=theme)
        return
    dialogue = NimDialogue(numbers) if is_nim else Dialogue(entry.game(parameters, len(numbers)), numbers, misere)
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


def _on_page(game: Ruleset, numbers: list[int], out: Path | None, *, theme: str, **options: bool) -> None:
    from gpu_nim.render.look import Look
    from gpu_nim.render.page import play_page
    from gpu_nim.storage.atomic import atomic_write, check_writable

    if out is not None and out.suffix.lower() != ".html":
        raise UsageError(f"--out must end in .html, got {str(out)!r}")
    if out is not None:
        check_writable(out)
    page = play_page(game, numbers, look=Look(theme=theme), **options)
    if out is None:
        page.show(click.echo)
        return
    with atomic_write(out) as scratch:
        scratch.write_bytes(page.document)
    say(f"{out}: {len(page.document):,} bytes")


def _position(words: tuple[str, ...], misere: bool, texts: dict[str, str]) -> tuple[GameEntry, dict[str, Any], list[int], bool]:
    """The entry of the game, the parameters that are given, the position, and whether it is of Nim in normal play."""
    ctx = click.get_current_context()
    named = is_inequalities(words[0]) or (not words[0][:1].isdigit() and not words[0].startswith(("-", "+")))
    entry, parameters = entry_of(words[0] if named else "nim", texts)
    (argument,) = (param for param in ctx.command.params if param.name == "words")
    is_nim = entry.name == "nim" and not misere and not texts
    kind: Any = PILE if is_nim else SIZE
    numbers = [kind.convert(word, argument, ctx) for word in words[named:]]
    if not numbers:
        raise UsageError(f"{words[0]} must be followed by the numbers of a position, as in `gpunim play kayles 4 5`, got none")
    return entry, parameters, numbers, is_nim


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
    line = sys.stdin.buffer.readline(_LONGEST + 1)  # as bytes, since the input may not be valid text
    if 0 < len(line) <= _LONGEST:
        return line.decode(errors="replace").strip()
    click.echo()
    if line:
        raise UsageError(f"input must be lines of at most {_LONGEST:,} letters, got a longer one")
    raise _Over("Input has ended")


class Dialogue:
    """A game between the player and the program, at one position; any of the catalogue, by what is known of it.

    Args:
        game: the game.
        numbers: the position.
        misere: whether whoever makes the last move loses.
    """

    help = "Type the position that you leave, or the move in words; moves, hint, help or quit."

    def __init__(self, game: Ruleset, numbers: list[int], misere: bool) -> None:
        self._analysis = Analysis(game, numbers, misere=misere)
        self._here = self._analysis.start
        self._misere = misere

    def position(self) -> str:
        """The numbers of the position."""
        return spaced(self._here) or "no heap"

    def description(self, teaching: bool) -> str:
        """The position, for a learner with who wins."""
        if not teaching:
            return f"Position: {self.position()}"
        lost = self._analysis.is_p(self._here)
        outcome = "a P-position: no move of yours wins against perfect play" if lost else "an N-position: you can win"
        return f"Position: {self.position()}, {outcome}"

    def is_over(self) -> bool:
        """Whether there is no move."""
        return next(iter(self._analysis.rules.options(self._here)), None) is None

    def ending(self, yours: bool) -> str:
        """Who made the last move, and who wins."""
        you_win = yours == self._misere
        mover = "I" if yours else "You"
        return f"{mover} made the last move: {'you win' if you_win else 'I win'}."

    def moves(self) -> str:
        """Every move, or the first ones."""
        options = self._analysis.rules.moves_in_words(self._here)
        lines = [f"  {option.move}: {spaced(option.leaves) or 'no heap'}" for option in islice(options, _LISTED)]
        return "\n".join([*lines, *["  and more"] * (next(options, None) is not None)])

    def read(self, text: str) -> Any:
        """The move that leaves a position, or whose words begin so."""
        try:
            numbers = [parse_integer(word) for word in re.split(r"[\s,]+", text)]
        except ValueError:
            for option in (*self._analysis.winning(self._here), *(self._analysis.options(self._here) or ())):
                if option.move == text or option.move.startswith(f"{text},"):
                    return option
            raise
        leaves = self._analysis.rules.position(numbers)
        move = self._analysis.rules.move_to(self._here, leaves)
        if move is None:
            raise UsageError(f"no move from {self.position()} leaves {spaced(leaves) or 'no heap'}")
        return move

    def make(self, move: Any) -> None:
        """Make a move."""
        self._here = move.leaves

    def missed(self, move: Any) -> str | None:
        """A better move than one that loses."""
        if self._analysis.is_p(move.leaves) or self._analysis.is_p(self._here):
            return None
        return f"After that I can win. {self.hint()}"

    def hint(self) -> str:
        """A winning move, or that there is none."""
        best = self._analysis.best(self._here)
        if best is None or not self._analysis.is_p(best.leaves):
            return "No move wins against perfect play."
        return f"The move {best.move} leaves {spaced(best.leaves) or 'no heap'}, a P-position: that wins."

    def reply(self) -> str:
        """Make the program's move."""
        best = self._analysis.best(self._here)
        assert best is not None
        self.make(best)
        what = f"I play {best.move}, leaving {self.position()}"
        if self.is_over():
            return f"{what}."
        if self._analysis.is_p(best.leaves):
            return f"{what}: a P-position, so that whatever you do I can win."
        return f"{what}: no move wins{', and I make the game as long as I can' * self._analysis.tried}."


class NimDialogue(Dialogue):
    """Nim with piles of any size, by Bouton's theorem.

    Args:
        piles: the piles.
    """

    help = "Type PILE COUNT, as in 2 5 to take 5 from pile 2; moves, hint, help or quit."

    def __init__(self, piles: list[int]) -> None:
        self._here = as_position(piles)

    def description(self, teaching: bool) -> str:
        """The piles, for a learner with their binary columns."""
        return columns(self._here) if teaching else f"Piles: {self.position()}"

    def is_over(self) -> bool:
        """Whether no counter is left."""
        return not any(self._here)

    def ending(self, yours: bool) -> str:
        """Who took the last counter."""
        return "I took the last counter: I win." if yours else "You took the last counter: you win."

    def moves(self) -> str:
        """What may be taken from each pile."""
        return "\n".join(f"  1 to {pile} from pile {i}" for i, pile in enumerate(self._here, 1) if pile)

    def read(self, text: str) -> Move:
        """The move of a pile and a number of counters."""
        pile, count = map(parse_integer, re.split(r"[\s,]+", text))
        return take(self._here, pile - 1, count)

    def missed(self, move: Move) -> str | None:
        """The nim-sum that a losing move leaves, and a better move."""
        better = missed(self._here, move)
        return f"That leaves nim-sum {nim_sum(move.leaves)}, and I can make it 0. {_praise(better[0])}" if better else None

    def hint(self) -> str:
        """A winning move, or that the nim-sum is 0."""
        winning = winning_moves(self._here)
        return _praise(winning[0]) if winning else "The nim-sum is 0: no move wins against perfect play."

    def reply(self) -> str:
        """Make the program's move."""
        move = reply(self._here)
        self.make(move)
        what = f"I take {move.take} from pile {move.pile + 1}, leaving {self.position()}"
        if self.is_over():
            return f"{what}."
        if is_p_position(move.leaves):
            return f"{what}: that makes the nim-sum 0, and whatever you do it will not stay 0."
        return f"{what}: the nim-sum was 0, so no move wins; I make the game as long as I can."


def _praise(move: Move) -> str:
    return f"Taking {move.take} from pile {move.pile + 1} leaves {spaced(move.leaves)}, with nim-sum 0: that wins."
