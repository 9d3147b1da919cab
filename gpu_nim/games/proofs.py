"""`gpu_nim.prove`: P-positions and Grundy values of games of inequalities as automata, proved for all positions by their moves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import and_, or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.counting.regular_sequences import RegularSequence
from gpu_nim.deciding.learning import learned
from gpu_nim.deciding.relations import Relation, Term, nim_sum_is_zero, numbers
from gpu_nim.games.game_graph import Vector, evolve
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.games.named_games import AnyGame, as_game
from gpu_nim.games.theorems import Theorem
from gpu_nim.model.arguments import short_repr
from gpu_nim.model.errors import Undecided, UsageError
from gpu_nim.model.registry import one_of
from gpu_nim.model.shown import Checked
from gpu_nim.model.work import OnStep, no_progress

_LOOKED_FOR = 400  # states of an automaton that a table shows, at most
_FEW = 21  # binary digits of the cells of a first table
_TABLE, _LARGER = 24, 27  # of a table, and of the one after it, where that shows few states
_DEEPEST = 10  # of a coordinate
_MOST = 12  # coordinates: time and memory double with each
_EXCEPTIONS = 512  # positions of a first table in misere play
_SIZE = "size'"
#: The forms of `Proof.export`.
EXPORTS = ("walnut", "sage")
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
        names = [*self._names, *dict.fromkeys(f"floor{floor.target}'" for floor in game.floors)]
        allowed, floors = [Term({}) <= 0], dict[int, Relation]()
        for each in (*game.floors, *game.inequalities):
            factors, constant, divisor = each.integers
            terms = (factor * numbers(name)[0] for factor, name in zip(factors, names, strict=True) if factor)
            below = divisor * numbers(names[each.target])[0] <= sum(terms, Term({}, constant))
            if each.target < len(self._names):
                allowed.append(below)
            else:  # some number up to the floor will do, since bounds do not decrease with it
                floors[each.target] = floors[each.target] | below if each.target in floors else below
        self.positions = reduce(and_, [*allowed, *floors.values()]).some(*names[len(self._names) :])
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
        ways = zip(self._names, self.ways(positions), strict=True)
        return reduce(or_, (way.some(f"{name}*") for name, way in ways)) & self.positions

    def ways(self, positions: Relation) -> list[Relation]:
        """Return to which numbers name* each coordinate may be lowered so that the move leads to some positions.

        Args:
            positions: these, with further numbers if need be.
        """
        dropped = positions(**{name: f"{name}*" for name in self._bound})
        for name, greatest in zip(self._bound, self._dropped, strict=True):
            dropped = (dropped & greatest).some(f"{name}*")
        lowered = {name: f"{name}*" for name in self._names}
        return [dropped(**{name: new}) & (numbers(new)[0] < numbers(name)[0]) for name, new in lowered.items()]

    def wrong_outcomes(self, found: Relation, *, misere: bool = False) -> Relation:
        """Return at which positions a relation differs from that of those from which no move leads to one of its own.

        Args:
            found: the relation.
            misere: whether the positions from which there is no move are N-positions.
        """
        lost = ~self.to(found) & self.to(self.positions) if misere else ~self.to(found)
        return self.positions & ~found.iff(lost)

    def wrong_values(self, found: Relation) -> Relation:
        """Return at which positions and values a relation differs from that of the least value to which no move leads."""
        value, less = numbers(f"{VALUE} less'")
        reached = self.to(found)
        mex = ~reached & (less < value).implies(reached(**{VALUE: less})).every("less'")
        return self.positions & ~found.iff(mex)


@dataclass(frozen=True, repr=False)
class Proof(Checked):
    """What was found of the P-positions, or the Grundy values, of a game of inequalities.

    Attributes:
        game: the game.
        grundy: whether it is of the Grundy values.
        misere: whether whoever makes the last move loses.
        size: that of the table that was compared.
        states: of the automaton that agrees with the table; where there is none, the least number that one can have.
        relation: that automaton, of the coordinates and, for Grundy values, "value'"; or None.
        wrong: the first position at which it is wrong, by total and then in the order of the coordinates; None where it is right at
            every size.

    >>> found = prove("7y <= x + z + 3")
    >>> found.is_p((10**18, 0, 10**18)), found.count(10**6)
    (True, 133966185863)
    """

    game: InequalityGame
    grundy: bool
    misere: bool
    size: int
    states: int
    relation: Relation | None = field(default=None, compare=False)  # equal proofs have the same
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

    def summary(self) -> dict[str, Any]:
        """Return the result as plain values, as `gpunim solve --prove --json` prints them."""
        facts = {"game": self.game.describe(), "grundy": self.grundy, "misere": self.misere}
        return {**facts, "proved": self.holds, "states": self.states, "table": self.size, "wrong": self.wrong}

    @property
    def p_positions(self) -> Relation:
        """The relation of the P-positions.

        Raises:
            UsageError: it is not proved.
        """
        if self.relation is None or not self.holds:
            raise UsageError(f"P-positions are known of what is proved, got {self}")
        return self.relation(**{VALUE: 0}) if self.grundy else self.relation

    def is_p(self, position: Sequence[int]) -> bool:
        """Return whether a position, of any size, is a P-position.

        Args:
            position: the coordinates.

        Raises:
            UsageError: it is not proved.
        """
        of_name = dict(zip(self.game.coordinates, position, strict=True))
        relation = self.p_positions
        return bool(relation.contains([of_name[name] for name in relation.names]))

    def count(self, size: int) -> int:
        """Return the number of P-positions up to a size, as many as `gpu_nim.solve` finds there.

        Args:
            size: the largest value of the coordinates that have no bound of their own, of any size.

        Raises:
            UsageError: it is not proved.
        """
        return int(self.counts.value(size))

    @property
    def counts(self) -> RegularSequence:
        """The numbers of P-positions up to each size, see `count`."""
        (size,) = numbers(_SIZE)
        within = (numbers(self.game.coordinates[at])[0] <= size for at in self.game.sized)
        return number_of(reduce(and_, within, self.p_positions & (Term({}) <= size)), _SIZE)

    def export(self, form: str) -> str:
        """Return a text with which another program can check the result.

        Args:
            form: "walnut" for the automaton of the P-positions, in the text format of Walnut, the coordinates in the order of their
                names; "sage" for a program for Sage with the numbers of P-positions up to each size.

        Raises:
            UsageError: it is not proved, or there is no such form.

        >>> print(prove("x; y").export("walnut").splitlines()[:2])
        ['lsd_2 lsd_2', '0 1']
        """
        if form not in EXPORTS:
            raise UsageError(f"form must be {one_of(EXPORTS)}, got {short_repr(form)}")
        if form == "walnut":
            return self.p_positions.walnut()
        game = self.game.describe() + ", in misere play" * self.misere
        return f"# The numbers of P-positions of {game}, up to size n\n{self.counts.sage('p_positions')}"

    @property
    def theorem(self) -> Theorem:
        """What is proved, as a theorem on the game."""
        return Theorem(str(self), None, self.is_p, candidates=self.winning)

    @cached_property
    def _ways(self) -> list[Relation]:
        return Moves(self.game).ways(self.p_positions)

    def winning(self, position: Sequence[int]) -> Iterator[Vector]:
        """Yield the P-positions that moves from a position, of any size, leave.

        There is at most one for each coordinate: of two positions that are left by lowering it, one is an option of the other.

        Args:
            position: the coordinates.

        Raises:
            UsageError: it is not proved.

        >>> [*prove("7y <= x + z + 3").winning((10**18, 5, 9))]
        [(7, 2, 9)]
        """
        of_name = dict(zip(self.game.coordinates, position, strict=True))
        for name, way in zip(of_name, self._ways, strict=True):
            if found := way.example(**of_name):
                lowered = self.game.greatest_below([*(of_name | {name: found[f"{name}*"]}).values()])
                assert lowered is not None
                yield lowered


def prove(
    game: AnyGame,
    *,
    grundy: bool = False,
    misere: bool = False,
    size: int | None = None,
    progress: OnStep = no_progress,
    **parameters: Any,
) -> Proof:
    """Find the automaton of the P-positions of a game, and decide by its moves whether it is right for positions of every size.

    The relation that the nim-sum is 0, or the value, is tried first; then the one that a table shows (`gpu_nim.deciding.learning`).
    In misere play, where whoever makes the last move loses, it is the one of normal play but for the positions that differ in a
    small table.

    Args:
        game: a game of inequalities, as for `gpu_nim.solve`.
        grundy: whether to find the Grundy values.
        misere: whether whoever makes the last move loses, of outcomes alone.
        size: the size of the table, rounded up to below a power of two; by default as large as is solved in seconds.
        progress: called for progress.
        parameters: the parameters of the game, as for `gpu_nim.solve`.

    Raises:
        UsageError: it is no game of inequalities, or an argument is wrong.
        Undecided: it takes too many states.
        InsufficientMemoryError: the table does not fit into memory.

    >>> print(prove("7y <= x + z + 3"))
    proved: 14 states, for every size
    >>> print(prove("bar", k=2, grundy=True))
    proved: 4 states, for every size
    >>> print(prove("x; 3y <= z"))
    no automaton of fewer than 118 states agrees with the table to 511
    >>> print(prove("chocolate", a=3, misere=True))
    proved: 5 states, for every size
    """
    rules = as_game(game, parameters)
    if not isinstance(rules, InequalityGame):
        raise UsageError(f"game must be one of inequalities to be proved, got {rules}")
    if len(rules.coordinates) > _MOST:
        raise UsageError(f"game must have at most {_MOST} coordinates to be proved, got {rules} with {len(rules.coordinates)}")
    if misere:
        return _misere(rules, size, progress, grundy=grundy)
    names = (*rules.coordinates, VALUE) if grundy else rules.coordinates
    places = min(_TABLE // len(names), _DEEPEST) if size is None else size.bit_length()
    moves, blank = Moves(rules), Proof(rules, grundy, False, (1 << places) - 1, 0)
    nim = nim_sum_is_zero(*(numbers(name)[0] for name in names)) & moves.positions
    few = min(places, _FEW // len(names))
    undecided = None
    if np.array_equal(nim.table(few), _table(rules, few, progress, grundy=grundy)):
        try:
            if proof := _decided(moves, nim, replace(blank, size=(1 << few) - 1)):
                return proof
        except Undecided as error:  # further on it may be wrong in many ways
            undecided = error
    while True:
        found = learned(tuple(sorted(names)), _table(rules, places, progress, grundy=grundy), _LOOKED_FOR)
        if not isinstance(found, int):
            return _decided(moves, found, blank)
        if size is not None or found >= _LOOKED_FOR or blank.size < (1 << places) - 1 or (places + 1) * len(names) > _LARGER:
            break
        places += 1  # a larger table shows more states
    if undecided:
        raise undecided
    return replace(blank, states=found, size=(1 << places) - 1)


def _misere(rules: InequalityGame, size: int | None, progress: OnStep, *, grundy: bool) -> Proof:
    """What is proved in misere play: normal play but for the positions that differ in a small table."""
    if grundy:
        raise UsageError("grundy is for normal play: there are no Grundy values in misere play")
    normal = prove(rules, size=size, progress=progress)
    if normal.relation is None or not normal:
        return replace(normal, misere=True)
    small = rules.within(round(_EXCEPTIONS ** (1 / len(rules.coordinates))) - 1)
    play, other = evolve(small), evolve(small, misere=True)
    found = normal.relation
    for at in np.flatnonzero(play.is_p != other.is_p).tolist():
        here = (numbers(name)[0] == value for name, value in zip(rules.coordinates, play.positions[at], strict=True))
        found = ~found.iff(reduce(and_, here))
    return _decided(Moves(rules), found, replace(normal, misere=True))


def _decided(moves: Moves, found: Relation, proof: Proof) -> Proof:
    wrong = moves.wrong_values(found) if proof.grundy else moves.wrong_outcomes(found, misere=proof.misere)
    first = wrong.example()
    position = None if first is None else tuple(first[name] for name in proof.game.coordinates)
    return replace(proof, states=found.states, relation=found, wrong=position)


def number_of(relation: Relation, name: str) -> RegularSequence:
    """Return how many vectors of the other numbers satisfy a relation, finitely many for each value of one of them.

    Args:
        relation: the relation.
        name: the name of that number.

    >>> x, y, n = numbers("x y n")
    >>> [int(number_of(x + y == n, "n").value(value)) for value in range(5)]
    [1, 2, 3, 4, 5]
    """
    states, axis = relation.states, relation.names.index(name) + 1
    zero, one = ([[0] * states for _ in range(states)] for _ in range(2))
    for digit, matrix in enumerate((zero, one)):
        for state, row in enumerate(relation.steps.take(digit, axis).reshape(states, -1).tolist()):
            for to in row:
                matrix[state][to] += 1
    start, before = relation.accepts.astype(int).tolist(), None
    while start != before:  # the others may have more digits
        start, before = (np.array(zero, object) @ np.array(start, object)).tolist(), start
    return RegularSequence([1, *[0] * (states - 1)], (zero, one), start)


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
