"""The moves from one position of a game, in words: what explains a position and plays from it.

Solvers take a whole box of positions as arrays; here a position is one tuple of Python integers, and its moves are listed one by
one by the literal rule.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from gpu_nim.games.game_graph import Game
from gpu_nim.games.heaps import HeapRule
from gpu_nim.games.inequality import InequalityGame, Vector
from gpu_nim.games.take_away import replaced
from gpu_nim.model.errors import UsageError

MAX_MOVES = 200_000
"""The most moves that are listed to find what plays from a position can reach."""


@dataclass(frozen=True)
class Option:
    """A move in words, and the position that it leaves."""

    move: str
    leaves: Vector


class Ruleset(Protocol):
    """The positions and moves of a game with given parameters."""

    def position(self, numbers: Sequence[int]) -> Vector:
        """The position of these numbers.

        Args:
            numbers: the coordinates, or the heaps.

        Raises:
            UsageError: they are no position of the game.
        """

    def options(self, position: Vector) -> Iterator[Option]:
        """Every move, in order; several may leave the same position.

        Args:
            position: the position.
        """

    def leaves(self, position: Vector) -> Iterable[Vector]:
        """The positions that the moves leave, without words, repetitions allowed.

        Args:
            position: the position.
        """


@dataclass(frozen=True)
class InequalityRuleset:
    """The moves of a game of inequalities, with the coordinates that drop.

    >>> from gpu_nim.games.inequality import chocolate
    >>> rules = InequalityRuleset(chocolate(3))
    >>> [option.move for option in rules.options(rules.position([1, 1, 2]))]
    ['x to 0, and y drops to 0', 'y to 0', 'z to 0, and y drops to 0', 'z to 1, and y drops to 0']
    """

    game: InequalityGame

    def position(self, numbers: Sequence[int]) -> Vector:
        """The position of these coordinates."""
        _require_count(numbers, self.game.coordinates)
        if not self.game.is_position(numbers):
            raise UsageError(f"position must satisfy {'; '.join(self.game.formulas())}, got {tuple(numbers)}")
        return tuple(numbers)

    def options(self, position: Vector) -> Iterator[Option]:
        """Every move: a coordinate is lowered, and others drop where the inequalities force them."""
        for coordinate, lower, leaves in self.game.moves(position):
            names = zip(self.game.coordinates, position, leaves, strict=True)
            drops = [f"{name} drops to {new}" for i, (name, old, new) in enumerate(names) if new < old and i != coordinate]
            if leaves[coordinate] < lower:
                drops.insert(0, f"itself drops to {leaves[coordinate]}")
            yield Option(", and ".join([f"{self.game.coordinates[coordinate]} to {lower}", *drops]), leaves)

    def leaves(self, position: Vector) -> Iterator[Vector]:
        """The positions that the moves leave."""
        return (leaves for _, _, leaves in self.game.moves(position))


@dataclass(frozen=True)
class VectorRuleset:
    """The moves of a game whose positions are vectors.

    Args:
        rules: `rules(largest)` is the game with entries up to `largest`.
        names: the names of the coordinates.
        beyond: entries of a position after the named ones, as they are where the game begins.

    >>> from gpu_nim.games.lines import Wythoff
    >>> rules = VectorRuleset(Wythoff, ("x", "y"))
    >>> [option.move for option in rules.options((1, 2))]
    ['1 from x', '1 from y', '2 from y', '1 from x and y']
    """

    rules: Callable[[int], Game[Vector]]
    names: tuple[str, ...]
    beyond: Vector = ()

    def position(self, numbers: Sequence[int]) -> Vector:
        """The position of these coordinates."""
        _require_count(numbers, self.names)
        return (*numbers, *self.beyond)

    def options(self, position: Vector) -> Iterator[Option]:
        """Every move, by the coordinates that it lowers."""
        for leaves in self.rules(max(position)).options(position):
            taken: dict[int, list[str]] = {}
            for name, old, new in zip(self.names, position, leaves, strict=False):
                if new < old:
                    taken.setdefault(old - new, []).append(name)
            parts = [f"{take} from {' and '.join(names)}" for take, names in taken.items()]
            yield Option(", ".join(parts) or "the pass", tuple(leaves))

    def leaves(self, position: Vector) -> Iterable[Vector]:
        """The positions that the moves leave."""
        return self.rules(max(position)).options(position)


@dataclass(frozen=True)
class HeapRuleset:
    """The moves of a heap game from several heaps; a position is its heaps, none empty, in increasing order.

    >>> from gpu_nim.games.take_away import OctalCode
    >>> rules = HeapRuleset(OctalCode("0.77"))
    >>> [option.move for option in rules.options(rules.position([4, 0, 1]))]
    ['a heap of 1 to nothing', 'a heap of 4 to 3', 'a heap of 4 to 1 and 2', 'a heap of 4 to 2', 'a heap of 4 to 1 and 1']
    """

    rule: HeapRule

    def position(self, numbers: Sequence[int]) -> Vector:
        """The position of these heaps."""
        return tuple(sorted(filter(None, numbers)))

    def options(self, position: Vector) -> Iterator[Option]:
        """Every move, on one heap of each size."""
        for heap in sorted(set(position)):
            for left in self.rule.options(heap):
                parts = " and ".join(map(str, sorted(left))) or "nothing"
                yield Option(f"a heap of {heap} to {parts}", replaced(position, heap, left))

    def leaves(self, position: Vector) -> Iterator[Vector]:
        """The positions that the moves leave."""
        return (replaced(position, heap, left) for heap in set(position) for left in self.rule.options(heap))


class Below:
    """A game from one position on, as a `Game` for `gpu_nim.games.game_graph.evolve`: what plays from it can reach.

    Args:
        rules: the moves.
        position: the position, which comes first among the positions.
        most: the most moves that are listed.

    Attributes:
        complete: whether all was listed; where not, some options are not among the positions.

    >>> from gpu_nim.games.inequality import chocolate
    >>> list(Below(InequalityRuleset(chocolate(3)), (1, 0, 1)).positions())
    [(1, 0, 1), (0, 0, 1), (1, 0, 0), (0, 0, 0)]
    """

    def __init__(self, rules: Ruleset, position: Vector, most: int = MAX_MOVES) -> None:
        self._options: dict[Vector, list[Vector]] = {}
        waiting = deque([position])
        known = {position}
        moves = 0
        while waiting and moves <= most:
            here = waiting.popleft()
            found = set(islice(rules.leaves(here), most - moves + 1))
            self._options[here] = sorted(found)
            moves += len(found)
            waiting.extend(sorted(found - known))
            known |= found
        self.complete = moves <= most

    def positions(self) -> Iterator[Vector]:
        """Every position that can be reached, this one first."""
        return iter(self._options)

    def options(self, position: Vector) -> list[Vector]:
        """The positions after one move."""
        return self._options[position]


def _require_count(numbers: Sequence[int], names: Sequence[str]) -> None:
    if len(numbers) != len(names):
        raise UsageError(f"position must be {len(names)} numbers, {' '.join(names)}, got {len(numbers)}")
