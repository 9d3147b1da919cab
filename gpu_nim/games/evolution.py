"""What play makes of the positions of any game [NF 5.3]: of one position with its moves, and of all P-positions up to a size."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from gpu_nim.games.game_graph import MAX_MOVES, MAX_SIZE, Evolution, Vector, evolve, reachable
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.games.named_games import AnyGame, as_game, size_of
from gpu_nim.games.nim.evolution_graph import PositionGraph
from gpu_nim.games.proofs import prove
from gpu_nim.games.rulesets import GameMove
from gpu_nim.games.solve import solve
from gpu_nim.games.theorems import Theorem
from gpu_nim.model.arguments import IntLike, integer, integers, short_repr
from gpu_nim.model.errors import InsufficientMemoryError, Undecided, UsageError
from gpu_nim.model.shown import Shown

#: The most moves from a position that are listed.
MAX_OPTIONS = 100_000


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """One position of a game.

    Attributes:
        game: the name of the game.
        parameters: the values of its parameters.
        position: the position.
        misere: whether whoever makes the last move loses.
        is_p: whether the player who moved last wins.
        grundy: the Grundy value; None in misere play, and where a theorem gives the outcome alone.
        moves: every move, or where there are more than `MAX_OPTIONS` those that win.
        every: whether it is every move.
        step: the step of the standard algorithm that finds the position [NF 5.3].
        longest_optimal_play: its number of moves.
        longest_play: its number of moves, the birthday of the position.
        parents: of a P-position, the positions that a longest optimal play reaches after two moves, sorted.
        positions_below: the number of positions reachable from it, if all were solved; if not, step,
            longest_optimal_play, longest_play and parents are None.
        theorem: the theorem that gives the outcome, or None.
        statement: the name of that theorem in `gpunim verify`.
    """

    game: str
    parameters: dict[str, Any]
    position: Vector
    misere: bool
    is_p: bool
    grundy: int | None
    moves: tuple[GameMove, ...]
    every: bool
    step: int | None
    longest_optimal_play: int | None
    longest_play: int | None
    parents: tuple[Vector, ...] | None
    positions_below: int | None
    theorem: str | None
    statement: str | None

    @property
    def outcome(self) -> str:
        """P where the player who moved last wins, else N."""
        return "P" if self.is_p else "N"

    @property
    def generation(self) -> int | None:
        """The generation n of a P-position, whose longest optimal play has 2n moves, or 2n - 1 in misere play; None for an
        N-position, or where it was not found.
        """
        longest = self.longest_optimal_play
        return (longest + 1) // 2 if self.is_p and longest is not None else None

    def summary(self) -> dict[str, Any]:
        """The results as plain values, as `gpunim position --json` prints them."""
        moves = [{"move": each.move, "leaves": each.leaves, "outcome": each.outcome, "grundy": each.grundy} for each in self.moves]
        parameters = {name: str(value) for name, value in self.parameters.items()}
        found = {name: value for name, value in vars(self).items() if name != "is_p"}
        return found | {"parameters": parameters, "outcome": self.outcome, "generation": self.generation, "moves": moves}

    @property
    def winning(self) -> tuple[GameMove, ...]:
        """The moves that win: those to P-positions."""
        return tuple(option for option in self.moves if option.is_p)


def explain(game: AnyGame, position: Iterable[SupportsIndex], *, misere: bool = False, **parameters: Any) -> Explanation:
    """Explain one position of a game.

    All positions reachable from it are solved by definition, up to 200,000 moves. Beyond that the outcome is by a theorem, if one
    is known, or by `gpu_nim.prove`, else by `gpu_nim.solve` up to the position's size.

    Args:
        game: as for `gpu_nim.solve`.
        position: the coordinates in the order of the game's, or the sizes of the heaps.
        misere: whether whoever makes the last move loses.
        parameters: the parameters of the game, such as a=3 of chocolate; the number of piles is that of the position's.

    Raises:
        UsageError: the game is unknown, a parameter wrong, the numbers no position of the game, or too many are reachable.
        InsufficientMemoryError: the position is too large to be solved.

    >>> kayles = explain("kayles", [4, 4])
    >>> kayles.outcome, kayles.step, kayles.generation, len(kayles.moves)
    ('P', 3, 4, 4)
    >>> [option.move for option in explain("chocolate", [7, 3, 5], a=3).winning]
    ['x to 6', 'y to 2', 'z to 4']
    >>> explain("2v <= u + w", [3, 2, 2]).moves[0].move
    'u to 0, and v drops to 1'
    >>> large = explain("wythoff", [1000, 2000])
    >>> large.theorem, [option.leaves for option in large.winning]
    ("Wythoff's theorem", [(1000, 618)])
    """
    analysis = Analysis(game, position, misere=misere, **parameters)
    return analysis.explain(analysis.start)


class Analysis:
    """The positions reachable from one position of a game, with outcomes and Grundy values; see `explain`.

    Args:
        game: as for `explain`.
        position: as for `explain`.
        misere: as for `explain`.
        parameters: as for `explain`.

    Attributes:
        most: how many moves are listed before a theorem or a solution takes the place of all positions; of the class.
        start: the position.
        theorem: the theorem that gives P-positions, or None.
        tried: whether all plays from the position were.

    >>> play = Analysis("kayles", [3, 5])
    >>> play.best(play.start)
    GameMove(move='a heap of 5 to 3', leaves=(3, 3))
    """

    most: ClassVar[int] = MAX_MOVES

    def __init__(self, game: AnyGame, position: Iterable[SupportsIndex], *, misere: bool = False, **parameters: Any) -> None:
        numbers = integers("position", position)
        if any(number < 0 for number in numbers):
            raise UsageError(f"position must be non-negative integers, got {short_repr(numbers)}")
        self._misere, self.rules = misere, as_game(game, parameters, len(numbers))
        self.start = self.rules.position(numbers)
        self.theorem = self.rules.misere_theorem(self.start) if misere else self.rules.theorem
        below = reachable(self.rules.options, self.start, self.most)
        self._evolution: Evolution[Vector] | None = None if below is None else evolve(below, misere=misere)
        self.tried = below is not None
        if self._evolution is None and self.theorem is None:
            self.theorem = self._proved or self._solution(numbers)

    def is_p(self, position: Vector) -> bool:
        """Whether a reachable position is a P-position."""
        if self._evolution is not None:
            return bool(self._evolution.is_p[self._evolution.index(position)])
        assert self.theorem is not None
        return self.theorem.is_p(position)

    def grundy(self, position: Vector) -> int | None:
        """The Grundy value of a position; None in misere play, and where a theorem gives the outcome alone."""
        if self._misere:
            return None
        if self._evolution is not None:
            return int(self._evolution.grundy[self._evolution.index(position)])
        grundy = self.theorem.grundy if self.theorem else None
        return grundy(position) if grundy else 0 if self.is_p(position) else None

    def options(self, position: Vector) -> list[GameMove] | None:
        """Every move from a position; None where there are more than `MAX_OPTIONS`."""
        listed = [*islice(self.rules.moves_in_words(position), MAX_OPTIONS + 1)]
        return listed if len(listed) <= MAX_OPTIONS else None

    def winning(self, position: Vector) -> list[GameMove]:
        """The moves from a position that win; of those that leave the same position, the first where not all moves were tried.

        Raises:
            UsageError: there are more than `MAX_OPTIONS` moves, and no theorem tells which of them win.
        """
        candidates = self.theorem.candidates if self.theorem and self._evolution is None else None
        if candidates is None:
            moves: Iterable[GameMove | None] | None = self.options(position)
            candidates = self._proved.candidates if moves is None and self._proved else None
        if candidates is not None:
            moves = (self.rules.move_to(position, leaves) for leaves in candidates(position))
        if moves is None:
            raise UsageError(f"position must have at most {MAX_OPTIONS:,} moves, got more for {short_repr(position)}")
        return [option for option in moves if option and self.is_p(option.leaves)]

    def best(self, position: Vector) -> GameMove | None:
        """An optimal move: one that wins if there is one, along the longest optimal play if known.

        None where there is no move.
        """
        moves, evolution = self.winning(position) or self.rules.moves_in_words(position), self._evolution
        if evolution is None:
            return next(iter(moves), None)
        return max(moves, key=lambda option: evolution.longest[evolution.index(option.leaves)], default=None)

    def explain(self, position: Vector) -> Explanation:
        """The explanation of a reachable position."""
        evolution, is_p = self._evolution, self.is_p(position)
        winning, listed = self.winning(position), self.options(position)
        leaves = {option.leaves for option in winning}
        at = None if evolution is None else evolution.index(position)
        return Explanation(
            game=str(self.rules),
            parameters=dict(self.rules.parameters),
            position=position,
            misere=self._misere,
            is_p=is_p,
            grundy=self.grundy(position),
            moves=tuple(
                replace(option, is_p=option.leaves in leaves, grundy=self.grundy(option.leaves))
                for option in (winning if listed is None else listed)
            ),
            every=listed is not None,
            step=None if evolution is None else int(evolution.step[at]),
            longest_optimal_play=None if evolution is None else int(evolution.longest[at]),
            longest_play=None if evolution is None else int(evolution.birthday[at]),
            parents=tuple(sorted(evolution.parents(position))) if evolution is not None and is_p else None,
            positions_below=None if evolution is None else len(evolution.positions) - 1,
            theorem=self.theorem.source if self.theorem else None,
            statement=self.theorem.statement if self.theorem else None,
        )

    @cached_property
    def _proved(self) -> Theorem | None:
        """What is proved of a game of inequalities, if it is."""
        if isinstance(self.rules, InequalityGame):
            with suppress(Undecided, InsufficientMemoryError):
                if proof := prove(self.rules, misere=self._misere):
                    return proof.theorem
        return None

    def _solution(self, numbers: Vector) -> Theorem:
        """The Grundy values of a solution up to the position, if too many positions are reachable."""
        if self._misere or self.start != numbers:  # a solution has no positions after a pass
            play = "in misere play" if self._misere else f"of {self.rules}"
            raise UsageError(
                f"position must have at most {self.most:,} moves below it {play}, got more for {short_repr(self.start)}"
            )
        size = max(numbers)
        table = solve(self.rules, size, grundy=True).grundy
        source = f"solving it up to {size}"
        return Theorem(source, None, lambda position: bool(table[position] == 0), lambda position: int(table[position]))


@dataclass(frozen=True)
class GenerationRow:
    """The P-positions of one generation.

    Attributes:
        generation: half the moves of their longest optimal play.
        births: how many there are.
        steps: the least and the largest step of the standard algorithm that finds them.
        parents: the least and the largest number of their parents.
        children: the least and the largest number of their children up to the size.
        first: the first of them, in the order of the game's positions.
    """

    generation: int
    births: int
    steps: tuple[int, int]
    parents: tuple[int, int]
    children: tuple[int, int]
    first: Vector


@dataclass(frozen=True, eq=False, repr=False)
class GameEvolution(PositionGraph):
    """The P-positions of a game up to a size, by generation, and an edge from each parent to each child.

    Attributes:
        name: the name of the game.
        parameters: the values of its parameters.
        size: the size.
        misere: whether whoever makes the last move loses.
        evolution: all positions and moves.
        step: the step of the standard algorithm that finds each P-position, int64 (V,).
        positions: the P-positions, by generation and then in the order of the game's positions.
    """

    positions: list[Vector]
    name: str
    parameters: dict[str, Any]
    size: int
    misere: bool
    evolution: Evolution[Vector]
    step: NDArray[np.int64]

    @property
    def facts(self) -> dict[str, Any]:
        """The attributes of the graph in files."""
        return {"game": self.name, "size": self.size, **{name: str(value) for name, value in self.parameters.items()}}

    @cached_property
    def relatives(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The number of parents and of children of each P-position, int64 (V,) each."""
        count = len(self.positions)
        return np.bincount(self.edges[:, 1], minlength=count), np.bincount(self.edges[:, 0], minlength=count)

    def first_step_mismatch(self) -> int | None:
        """The index of the first P-position that is not found at the step of its generation; None if Lemma 24 of [NF] holds.

        >>> kayles = game_evolution("kayles", 8)
        >>> mismatch = kayles.first_step_mismatch()
        >>> kayles.positions[mismatch], int(kayles.step[mismatch]), int(kayles.generation[mismatch])
        ((4, 4), 3, 4)
        """
        mismatch = np.flatnonzero(self.step != self.generation)
        return int(mismatch[0]) if len(mismatch) else None

    def summary(self) -> dict[str, Any]:
        """The results as plain values, as `gpunim evolution GAME --json` prints them."""
        mismatch = self.first_step_mismatch()
        return {
            **self.facts,
            "misere": self.misere,
            "positions": len(self.evolution.positions),
            "p_positions": len(self.positions),
            "generations": list(map(asdict, self.rows())),
            "first_step_mismatch": None if mismatch is None else self.positions[mismatch],
        }

    def rows(self) -> Iterator[GenerationRow]:
        """The generations, in order.

        >>> [(row.births, row.first) for row in game_evolution("wythoff", 7).rows()]
        [(1, (0, 0)), (2, (1, 2)), (2, (3, 5)), (2, (4, 7))]
        """
        parents, children = self.relatives
        starts = np.flatnonzero(np.diff(self.generation, prepend=-1))
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(self.positions)], strict=True):
            here = slice(start, stop)
            yield GenerationRow(
                generation=int(self.generation[start]),
                births=stop - start,
                steps=_ends(self.step[here]),
                parents=_ends(parents[here]),
                children=_ends(children[here]),
                first=self.positions[start],
            )


def game_evolution(game: AnyGame, size: IntLike | None = None, *, misere: bool = False, **parameters: Any) -> GameEvolution:
    """The evolution of the P-positions of a game up to a size.

    Args:
        game: as for `gpu_nim.solve`.
        size: the largest value of the coordinates that have no bound of their own; of heaps, the most counters in all; by default
            that of the text, or 7.
        misere: whether whoever makes the last move loses.
        parameters: the parameters of the game.

    Raises:
        UsageError: the game is unknown, or a parameter or the size wrong.
        InsufficientMemoryError: there are too many positions.

    >>> game_evolution("nim", 3).generation.tolist()  # 3^s(n) of each generation n, s the number of binary 1s
    [0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3]
    """
    rules = as_game(game, parameters)
    size = integer("size", size_of(game, size, 7), 0, MAX_SIZE)
    evolution = rules.evolve(size, misere=misere)
    numbers = np.flatnonzero(evolution.is_p)
    generation = evolution.generation[numbers]
    order = numbers[np.argsort(generation, kind="stable")]
    index = np.full(len(evolution.positions), -1)
    index[order] = np.arange(len(order))
    return GameEvolution(
        name=str(rules),
        parameters=dict(rules.parameters),
        size=size,
        misere=misere,
        evolution=evolution,
        positions=[evolution.positions[number] for number in order.tolist()],
        generation=evolution.generation[order],
        edges=index[evolution.parent_pairs()],
        step=evolution.step[order],
    )


def _ends(values: NDArray[np.int64]) -> tuple[int, int]:
    return int(values.min()), int(values.max())
