"""What `gpunim play` prints and reads: for Nim with piles of any size, and for any other game."""

import re
from typing import Any

from gpu_nim.cli.nim import columns, spaced
from gpu_nim.games.explain import Analysis
from gpu_nim.games.nim.positions import Move, as_position, is_p_position, missed, nim_sum, reply, take, winning_moves
from gpu_nim.model.arguments import parse_integer
from gpu_nim.model.errors import UsageError


class Dialogue:
    """A game between the player and the program, at one position; any of the catalogue, by what is known of it.

    Args:
        game: its name.
        numbers: the position.
        misere: whether whoever makes the last move loses.
        values: the values of parameters.
    """

    help = "Type the position that you leave, or the move in words; moves, hint, help or quit."

    def __init__(self, game: str, numbers: list[int], misere: bool, values: dict[str, Any]) -> None:
        self._analysis = Analysis(game, numbers, misere=misere, **values)
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
        """Every move."""
        return "\n".join(f"  {option.move}: {spaced(option.leaves) or 'no heap'}" for option in self._analysis.options(self._here))

    def read(self, text: str) -> Any:
        """The move that leaves a position, or whose words begin so."""
        options = self._analysis.options(self._here)
        named = [option for option in options if option.move == text or option.move.startswith(f"{text},")]
        if named:
            return named[0]
        numbers = [parse_integer(word) for word in re.split(r"[\s,]+", text)]
        leaves = self._analysis.rules.position(numbers)
        for option in options:
            if option.leaves == leaves:
                return option
        raise UsageError(f"no move from {self.position()} leaves {spaced(leaves) or 'no heap'}")

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
        return f"{what}: no move wins, and I make the game as long as I can."


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
