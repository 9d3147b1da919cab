"""Evolution of any impartial game [NF 5.3]: outcomes, steps, generations, birthdays, parents, Grundy values.

A game is an object with positions and options; the whole game graph is gone through, a position after its options.
"""

from collections import deque
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from graphlib import CycleError, TopologicalSorter
from itertools import count, islice
from typing import Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arguments import IntLike, integer, short_repr
from gpu_nim.model.arrays import ArrayValue, Ints
from gpu_nim.model.errors import UsageError
from gpu_nim.model.shown import Shown

#: The greatest size of a box, the most cells in one, and the most counters in a heap.
MAX_SIZE = 2**62
#: The most coordinates of a position: one bit each in a word of the solvers, and one axis each of NumPy's arrays.
MAX_COORDINATES = 32

#: Of a position that is evolved: a tuple, its index, its numbers, its node of the graph.
POSITION_BYTES = 520
#: Of a move: an index in two lists.
MOVE_BYTES = 18

#: The most moves listed to find the positions reachable from one.
MAX_MOVES = 200_000

#: A position in coordinates, or the sizes of heaps.
Vector: TypeAlias = tuple[int, ...]

Position = TypeVar("Position", bound=Hashable)


class Game(Protocol[Position]):
    """An impartial game, normal play, restricted to finitely many positions that are closed under moves and have no loop.

    A user-defined game needs two methods and no base class. Fraenkel's Mark: subtract 1 or halve, rounding down; the
    P-positions are 0 and the numbers that end in an odd number of binary 0s.

    >>> class Mark:
    ...     def positions(self):
    ...         return range(20)
    ...     def options(self, n):
    ...         return {n - 1, n // 2} if n else ()
    >>> evolve(Mark()).p_positions(step=20)
    [0, 2, 6, 8, 10, 14, 18]
    """

    def positions(self) -> Iterable[Position]:
        """Every position once, in any order."""

    def options(self, position: Position) -> Iterable[Position]:
        """The positions after one move, repetitions allowed."""


@dataclass(frozen=True)
class Listed:
    """A game on some of its positions.

    Args:
        listed: the positions.
        options_of: returns the options of each.
    """

    listed: Collection[Vector]
    options_of: Callable[[Vector], Iterable[Vector]]

    def positions(self) -> Collection[Vector]:
        """Every position."""
        return self.listed

    def options(self, position: Vector) -> Iterable[Vector]:
        """The positions after one move."""
        return self.options_of(position)


def reachable(options_of: Callable[[Vector], Iterable[Vector]], position: Vector, most: int = MAX_MOVES) -> Listed | None:
    """The positions reachable from one position, which comes first; None where more than so many moves would be listed.

    >>> from gpu_nim.games.inequality import chocolate
    >>> reachable(chocolate(3).options, (1, 0, 1)).positions()
    dict_keys([(1, 0, 1), (0, 0, 1), (1, 0, 0), (0, 0, 0)])
    """
    options: dict[Vector, list[Vector]] = {}
    waiting, known, moves = deque([position]), {position}, 0
    while waiting:
        here = waiting.popleft()
        listed = [*islice(options_of(here), most - moves + 1)]
        moves, found = moves + len(listed), set(listed)
        if moves > most:
            return None
        options[here] = sorted(found)
        waiting.extend(sorted(found - known))
        known |= found
    return Listed(options.keys(), options.__getitem__)


@dataclass(frozen=True, eq=False, repr=False)
class Evolution(Shown, ArrayValue, Generic[Position]):
    """The results of `evolve`: arrays with one entry per position, in the order of `positions`.

    `is_p`         whether the previous player wins
    `step`         the step i of the standard algorithm that finds it: P_i or N_i hold it, no earlier set does
    `birthday`     the moves of the longest play
    `longest`      the moves of the longest optimal play, in which a player moves to a P-position if possible
    `grundy`       the Grundy value
    `moves`        the options of each position, as indices into the positions, a list for each

    >>> from gpu_nim.games.lines import Wythoff
    >>> evolution = evolve(Wythoff(3))
    >>> number = evolution.index((3, 1))
    >>> [int(found[number]) for found in (evolution.grundy, evolution.birthday, evolution.longest, evolution.step)]
    [4, 4, 3, 1]
    """

    positions: Sequence[Position]
    is_p: NDArray[np.bool_]
    step: Ints
    birthday: Ints
    longest: Ints
    grundy: Ints
    moves: list[list[int]]
    _index: dict[Position, int] = field(compare=False)

    @property
    def generation(self) -> Ints:
        """The generation n of each P-position, whose longest optimal play has 2n moves [NF 5.3], or 2n - 1 in misere play; -1 for
        N-positions.

        >>> from gpu_nim.games.lines import Nim
        >>> evolution = evolve(Nim(2, 2))
        >>> dict(zip(evolution.positions, evolution.generation.tolist()))[(2, 2)]
        2
        """
        return np.where(self.is_p, (self.longest + 1) // 2, -1)

    def index(self, position: Position) -> int:
        """The index of a position; UsageError where it is not one of the game's."""
        if position not in self._index:
            raise UsageError(f"position must be one of the game's {len(self.positions)} positions, got {position}")
        return self._index[position]

    def options(self, position: Position) -> list[Position]:
        """The options of a position.

        >>> from gpu_nim.games.lines import Wythoff
        >>> sorted(evolve(Wythoff(3)).options((1, 2)))
        [(0, 1), (0, 2), (1, 0), (1, 1)]
        """
        return [self.positions[q] for q in self.moves[self.index(position)]]

    def parents(self, position: Position) -> set[Position]:
        """The parents of a P-position: the positions that an optimal play of maximal length reaches after two moves [NF 5.3].

        Raises UsageError for an N-position.

        >>> from gpu_nim.games.lines import Nim
        >>> evolve(Nim(3, 3)).parents((1, 2, 3))
        {(0, 2, 2)}
        """
        p = self.index(position)
        if not self.is_p[p]:
            raise UsageError(f"position must be a P-position, got {position}")
        return {self.positions[q] for q in self._parents(p)}

    def parent_pairs(self) -> Ints:
        """All pairs (parent, child) of P-positions as indices into the positions, int64 (E, 2), in order of the parent.

        >>> from gpu_nim.games.lines import Nim
        >>> evolution = evolve(Nim(3, 3))
        >>> pairs = evolution.parent_pairs()
        >>> [(evolution.positions[parent], evolution.positions[child]) for parent, child in pairs[:2].tolist()]
        [((0, 0, 0), (0, 1, 1)), ((0, 0, 0), (1, 0, 1))]
        """
        pairs = {(parent, p) for p in np.flatnonzero(self.is_p).tolist() for parent in self._parents(p)}
        return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)

    def _parents(self, p: int) -> Iterator[int]:
        between = (n for n in self.moves[p] if self.longest[n] == self.longest[p] - 1)
        return (q for n in between for q in self.moves[n] if self.is_p[q] and self.longest[q] == self.longest[n] - 1)

    def p_positions(self, step: IntLike) -> list[Position]:
        """The set P_step of the standard algorithm.

        >>> from gpu_nim.games.lines import Wythoff
        >>> evolve(Wythoff(3)).p_positions(1)
        [(0, 0), (1, 2), (2, 1)]
        """
        return [self.positions[p] for p in np.flatnonzero(self.is_p & (self.step <= integer("step", step))).tolist()]


def evolve(game: Game[Position], *, misere: bool = False) -> Evolution[Position]:
    """Compute the whole game graph, each position after its options.

    The standard algorithm starts with the terminal positions, P_0. N_i are the positions one move away from P_i;
    P_(i+1) adds those all of whose options are in N_i. So an N-position's step is the least step among its options in
    P, a P-position's one more than the largest among its options. The generation instead is that of the longest optimal
    play, with the largest of them: the two agree for Nim [NF Lemma 24], but not for every game.

    Args:
        game: the game.
        misere: whether whoever makes the last move loses, so that the terminal positions are N-positions, of step 0; Grundy values
            stay those of normal play.

    Raises:
        UsageError: the game has a loop, or an option that is not among its positions.

    >>> from gpu_nim.games import Heaps, SubtractionRule
    >>> evolution = evolve(Heaps(SubtractionRule((1, 2, 3))).within(4))
    >>> dict(zip(evolution.positions, evolution.grundy.tolist()))[(1, 3)]
    2
    >>> from gpu_nim.games.lines import Nim
    >>> evolve(Nim(2, 2), misere=True).p_positions(step=9)
    [(0, 1), (1, 0), (2, 2)]
    """
    if not callable(getattr(game, "positions", None)) or not callable(getattr(game, "options", None)):
        raise UsageError(f"game must have positions() and options(position), got {short_repr(game)}")
    positions = list(game.positions())
    index = {position: number for number, position in enumerate(positions)}
    if len(index) != len(positions):
        raise UsageError(f"game must have each position once, got {len(positions) - len(index)} repetitions")
    moves = [_numbers(game, position, index) for position in positions]
    size = len(positions)
    is_p = [False] * size
    step, birthday, longest, grundy = ([0] * size for _ in range(4))
    for p in _options_first(positions, moves):
        options = moves[p]
        if not options:
            is_p[p] = not misere
            continue
        winning = [q for q in options if is_p[q]]
        is_p[p] = not winning
        step[p] = min(step[q] for q in winning) if winning else 1 + max(step[q] for q in options)
        birthday[p] = 1 + max(birthday[q] for q in options)
        longest[p] = 1 + max(longest[q] for q in winning or options)
        grundy[p] = mex({grundy[q] for q in options})
    ints = partial(np.array, dtype=np.int64)
    outcomes = np.array(is_p, dtype=np.bool_)
    return Evolution(positions, outcomes, ints(step), ints(birthday), ints(longest), ints(grundy), moves, index)


def mex(values: Container[int]) -> int:
    """The least number, 0 or more, that is missing among the values.

    >>> mex({0, 1, 3})
    2
    """
    return next(number for number in count() if number not in values)


def _numbers(game: Game[Position], position: Position, index: dict[Position, int]) -> list[int]:
    """The indices of a position's options."""
    numbers = []
    for option in game.options(position):
        if option not in index:
            raise UsageError(f"game must have options among the positions, got {option} as one of {position}")
        numbers.append(index[option])
    return numbers


def _options_first(positions: Sequence[Position], moves: list[list[int]]) -> Iterable[int]:
    """The indices of the positions, each after those of its options."""
    if not positions:
        raise UsageError("game must have positions, got none")
    try:
        return [*TopologicalSorter(dict(enumerate(moves))).static_order()]
    except CycleError as error:
        loop = [positions[p] for p in reversed(error.args[1])]
        raise UsageError(f"game must have no loop, got the plays {short_repr(loop)}") from None
