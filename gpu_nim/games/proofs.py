"""The P-positions and the Grundy values of games of inequalities as automata, proved for all positions by the moves of the game."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_, or_

import numpy as np
from numpy.typing import NDArray

from gpu_nim.deciding.learning import learned
from gpu_nim.deciding.relations import Relation, Term, nim_sum_is_zero, numbers
from gpu_nim.games.game_graph import Vector
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.model.errors import Undecided
from gpu_nim.model.work import OnStep, no_progress

_LOOKED_FOR = 400  # states of an automaton that a table shows, at most
_FEW = 21  # binary digits of the cells of a first table
_TABLE = 24  # of a table
_DEEPEST = 10  # of a coordinate
#: The name of a Grundy value, which is no coordinate's.
VALUE = "value'"


class Moves:
    """The moves of a game of inequalities in the words of `gpu_nim.deciding`.

    After a coordinate is lowered, the others drop to the greatest position below (see `gpu_nim.games.inequality`). Each coordinate
    of that is the greatest that a position below has; one without a bound stays as it is.

    Args:
        game: the game.

    >>> from gpu_nim.games.inequality import chocolate
    >>> x, y, z = numbers("x y z")
    >>> Moves(chocolate(3)).to((x + z == 8) & (y == 2)).contains([[4, 3, 5], [4, 2, 4]]).tolist()
    [True, False]
    """

    def __init__(self, game: InequalityGame) -> None:
        self._names = game.coordinates
        self._bound = sorted({game.coordinates[each.target] for each in game.inequalities})
        allowed = [Term({}) <= 0]
        for each in game.inequalities:
            factors, constant, divisor = each.integers
            terms = (factor * numbers(name)[0] for factor, name in zip(factors, self._names, strict=True) if factor)
            allowed.append(divisor * numbers(self._names[each.target])[0] <= sum(terms, Term({}, constant)))
        self.positions = reduce(and_, allowed)
        self._dropped = [self._greatest(name) for name in self._bound]

    def _greatest(self, name: str) -> Relation:
        """The relation of a vector and name*, the greatest coordinate of that name of a position below the vector."""
        below = self.positions(**{each: f"{each}*" for each in self._bound})
        for each in self._bound:
            new, old = numbers(f"{each}* {each}")
            below = below & (new <= old)
        below = below.some(*(f"{each}*" for each in self._bound if each != name))
        new, more = numbers(f"{name}* {name}+")
        one_more = below(**{f"{name}*": new + 1})
        if one_more.implies(below).holds:  # all smaller ones are possible, too, as they are without a negative bound
            return below & ~one_more
        return below & ~(below(**{f"{name}*": more}) & (new < more)).some(f"{name}+")

    def to(self, positions: Relation) -> Relation:
        """Return from which positions a move leads to some.

        Args:
            positions: these, with further numbers if need be.
        """
        dropped = positions(**{name: f"{name}*" for name in self._bound})
        for name, greatest in zip(self._bound, self._dropped, strict=True):
            dropped = (dropped & greatest).some(f"{name}*")
        ways = []
        for name in self._names:
            old, new = numbers(f"{name} {name}*")
            ways.append((dropped(**{name: new}) & (new < old)).some(f"{name}*"))
        return reduce(or_, ways) & self.positions

    def wrong_outcomes(self, found: Relation) -> Relation:
        """Return at which positions a relation differs from that of those from which no move leads to one of its own."""
        return self.positions & ~found.iff(~self.to(found))

    def wrong_values(self, found: Relation) -> Relation:
        """Return at which positions and values a relation differs from that of the least value to which no move leads."""
        value, less = numbers(f"{VALUE} less'")
        reached = self.to(found)
        mex = ~reached & (less < value).implies(reached(**{VALUE: less})).every("less'")
        return self.positions & ~found.iff(mex)


@dataclass(frozen=True)
class Proof:
    """What was found of the P-positions, or the Grundy values, of a game of inequalities.

    Attributes:
        game: the game.
        grundy: whether it is of the Grundy values.
        size: that of the table that was compared.
        states: of the automaton that agrees with the table; where there is none, the least number that one can have.
        relation: that automaton, of the coordinates and, for Grundy values, "value'"; or None.
        wrong: the first position at which it is wrong, by total and then in the order of the coordinates; None where it is right at
            every size.
    """

    game: InequalityGame
    grundy: bool
    size: int
    states: int
    relation: Relation | None = None
    wrong: Vector | None = None

    @property
    def holds(self) -> bool:
        """Whether there is an automaton that is right at every size."""
        return self.relation is not None and self.wrong is None

    def __str__(self) -> str:
        if self.relation is None:
            return f"no automaton of fewer than {self.states:,} states agrees with the table to {self.size}"
        if self.wrong is not None:
            return f"the automaton of {self.states:,} states that agrees with the table to {self.size} is wrong at {self.wrong}"
        return f"proved: {self.states:,} states, for every size"


def prove(game: InequalityGame, *, grundy: bool = False, size: int | None = None, progress: OnStep = no_progress) -> Proof:
    """Find the automaton of the P-positions of a game, and decide by its moves whether it is right for positions of every size.

    The relation that the nim-sum is 0, or the value, is tried first; then the one that a table shows (`gpu_nim.deciding.learning`).

    Args:
        game: the game.
        grundy: whether to find the Grundy values.
        size: the size of the table, rounded up to below a power of two; by default as large as is solved in seconds.
        progress: called for progress.

    Raises:
        Undecided: it takes too many states.
        InsufficientMemoryError: the table does not fit into memory.

    >>> from gpu_nim.games.inequality import bar, chocolate, parse_game
    >>> print(prove(parse_game("7y <= x + z + 3")))
    proved: 14 states, for every size
    >>> print(prove(bar(2), grundy=True))
    proved: 4 states, for every size
    >>> print(prove(parse_game("x; 3y <= z")))
    no automaton of fewer than 114 states agrees with the table to 255
    """
    names = (*game.coordinates, VALUE) if grundy else game.coordinates
    places = min(_TABLE // len(names), _DEEPEST) if size is None else size.bit_length()
    moves = Moves(game)
    nim = nim_sum_is_zero(*(numbers(name)[0] for name in names)) & moves.positions
    few = min(places, _FEW // len(names))
    if np.array_equal(nim.table(few), _table(game, few, progress, grundy=grundy)):
        with suppress(Undecided):  # further on it may be wrong in many ways
            proof = _decided(moves, nim, Proof(game, grundy, (1 << few) - 1, len(nim)))
            if proof.holds:
                return proof
    found = learned(tuple(sorted(names)), _table(game, places, progress, grundy=grundy), _LOOKED_FOR)
    if isinstance(found, int):
        return Proof(game, grundy, (1 << places) - 1, found)
    return _decided(moves, found, Proof(game, grundy, (1 << places) - 1, len(found)))


def _decided(moves: Moves, found: Relation, proof: Proof) -> Proof:
    wrong = (moves.wrong_values(found) if proof.grundy else moves.wrong_outcomes(found)).example()
    return replace(proof, relation=found, wrong=None if wrong is None else tuple(wrong[name] for name in proof.game.coordinates))


def _table(game: InequalityGame, places: int, progress: OnStep, *, grundy: bool) -> NDArray[np.bool_]:
    """Return which positions of so many digits are P-positions, or which with a value have it, an axis a number by its name."""
    size = (1 << places) - 1
    solution = game.solve(size, grundy=grundy, backend="auto", progress=progress)
    positions, names = solution.p_positions, [*game.coordinates]
    if grundy:
        positions, names = np.column_stack(solution.points(size)), [*names, VALUE]
    table = np.zeros((size + 1,) * len(names), np.bool_)
    table[tuple(positions[(positions <= size).all(axis=1)].T)] = True
    return table.transpose(np.argsort(names))
