"""`gpu_nim.games.explain.explain`: one position of any game of the catalogue: moves, outcome, Grundy value, generation, parents."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, SupportsIndex

from gpu_nim.games.catalogue import check_parameters, find
from gpu_nim.games.entries import GameEntry
from gpu_nim.games.game_graph import evolve
from gpu_nim.games.inequality import Vector
from gpu_nim.games.laws import Law
from gpu_nim.games.rulesets import MAX_MOVES, Below, Ruleset
from gpu_nim.model.arguments import integers, shown
from gpu_nim.model.errors import UsageError
from gpu_nim.model.progress import unreported

MAX_OPTIONS = 100_000
"""The most moves from a position that are listed."""


@dataclass(frozen=True)
class ExplainedOption:
    """A move, and what it leaves.

    Attributes:
        move: the move in words.
        leaves: the position that it leaves.
        is_p: whether that is a P-position, so that the move wins.
        grundy: its Grundy value; None where it was not found.
    """

    move: str
    leaves: Vector
    is_p: bool
    grundy: int | None


@dataclass(frozen=True)
class Explanation:
    """One position of a game.

    Attributes:
        game: the name of the game.
        parameters: the values of its parameters.
        position: the position.
        misere: whether whoever makes the last move loses.
        is_p: whether the player who moved last wins.
        grundy: the Grundy value; None in misere play, and where a theorem gives the outcome alone.
        options: every move.
        step: the step of the standard algorithm that finds the position [NF 5.3].
        longest: the number of moves of the longest optimal play.
        birthday: the number of moves of the longest play.
        parents: of a P-position, the positions that a longest optimal play reaches after two moves, sorted.
        below: the number of positions that plays from here reach, if all were looked at; where not, step, longest, birthday and
            parents are None.
        by: the theorem that gives the outcome, or None.
        statement: the name of that theorem in `gpunim verify`.
    """

    game: str
    parameters: dict[str, Any]
    position: Vector
    misere: bool
    is_p: bool
    grundy: int | None
    options: tuple[ExplainedOption, ...] = field(repr=False)
    step: int | None
    longest: int | None
    birthday: int | None
    parents: tuple[Vector, ...] | None
    below: int | None
    by: str | None
    statement: str | None

    @property
    def outcome(self) -> str:
        """P where the player who moved last wins, else N."""
        return "P" if self.is_p else "N"

    @property
    def generation(self) -> int | None:
        """The generation of a P-position, half of its longest optimal play; None for an N-position, or where it was not found."""
        return self.longest // 2 if self.is_p and self.longest is not None else None

    @property
    def winning(self) -> tuple[ExplainedOption, ...]:
        """The moves that win: those to P-positions."""
        return tuple(option for option in self.options if option.is_p)


def explain(game: str, position: Iterable[SupportsIndex], *, misere: bool = False, **parameters: Any) -> Explanation:
    """Explain one position of a game.

    All that plays from the position can reach is solved by the definitions, up to 200,000 moves. Beyond, the outcome is that
    of a theorem where one is known, else of `gpu_nim.solve` up to the position's size.

    Args:
        game: a name of `gpu_nim.games.catalogue.CATALOGUE`.
        position: the coordinates in the order of the game's, or the sizes of the heaps.
        misere: whether whoever makes the last move loses.
        parameters: the parameters of the game, such as a=3 of chocolate; the number of piles is that of the position's.

    Raises:
        UsageError: the game is unknown, a parameter wrong, the numbers no position of the game, or there is too much to look at.
        InsufficientMemoryError: the position is too large to be solved.

    >>> kayles = explain("kayles", [4, 4])
    >>> kayles.outcome, kayles.step, kayles.generation, len(kayles.options)
    ('P', 3, 4, 4)
    >>> [option.move for option in explain("chocolate", [7, 3, 5], a=3).winning]
    ['x to 6', 'y to 2', 'z to 4']
    >>> large = explain("wythoff", [1000, 2000])
    >>> large.by, [option.leaves for option in large.winning]
    ("Wythoff's theorem", [(1000, 618)])
    """
    entry = find(game)
    check_parameters(entry, parameters)
    numbers = integers("position", position)
    if any(number < 0 for number in numbers):
        raise UsageError(f"position must be non-negative integers, got {shown(numbers)}")
    dimensions = [parameter.name for parameter in entry.parameters if parameter.is_dimension]
    values = entry.values({**dict.fromkeys(dimensions, len(numbers)), **parameters})
    rules = entry.ruleset(**values)
    here = rules.position(numbers)
    law = None if misere else entry.law(**values)
    known = {"game": game, "parameters": values, "position": here, "misere": misere}
    below = Below(rules, here, MAX_MOVES)
    if below.complete:
        return _from_below(below, rules, here, law, known)
    if misere or (law is None and here != numbers):  # a solution has no positions after a pass
        play = "in misere play" if misere else f"of {game}"
        raise UsageError(f"position must have at most {MAX_MOVES:,} moves below it {play}, got more for {shown(here)}")
    return _from_law(rules, here, law or _solved(entry, numbers, values), known)


def _from_below(below: Below, rules: Ruleset, here: Vector, law: Law | None, known: dict[str, Any]) -> Explanation:
    """What the definitions give, from all positions below."""
    misere = known["misere"]
    evolution = evolve(below, misere=misere)
    at = evolution.index(here)

    def grundy(position: Vector) -> int | None:
        return None if misere else int(evolution.grundy[evolution.index(position)])

    is_p = bool(evolution.is_p[at])
    return Explanation(
        **known,
        is_p=is_p,
        grundy=grundy(here),
        options=tuple(
            ExplainedOption(option.move, option.leaves, bool(evolution.is_p[evolution.index(option.leaves)]), grundy(option.leaves))
            for option in rules.options(here)
        ),
        step=int(evolution.step[at]),
        longest=int(evolution.longest[at]),
        birthday=int(evolution.birthday[at]),
        parents=tuple(sorted(evolution.parents(here))) if is_p else None,
        below=len(evolution.positions) - 1,
        by=law.source if law else None,
        statement=law.statement if law else None,
    )


def _from_law(rules: Ruleset, here: Vector, law: Law, known: dict[str, Any]) -> Explanation:
    """What a law gives of the position and of each of its options."""
    listed = [*islice(rules.options(here), MAX_OPTIONS + 1)]
    if len(listed) > MAX_OPTIONS:
        raise UsageError(f"position must have at most {MAX_OPTIONS:,} moves, got more for {shown(here)}")

    def grundy(position: Vector) -> int | None:
        if law.grundy is not None:
            return law.grundy(position)
        return 0 if law.is_p(position) else None

    return Explanation(
        **known,
        is_p=law.is_p(here),
        grundy=grundy(here),
        options=tuple(
            ExplainedOption(option.move, option.leaves, law.is_p(option.leaves), grundy(option.leaves)) for option in listed
        ),
        step=None,
        longest=None,
        birthday=None,
        parents=None,
        below=None,
        by=law.source,
        statement=law.statement,
    )


def _solved(entry: GameEntry, numbers: Vector, values: dict[str, Any]) -> Law:
    """The Grundy values of a solution up to the position."""
    solution = entry.solve(max(numbers), grundy=True, backend="auto", on_step=unreported, **values)
    table = solution.grundy
    assert table is not None

    def grundy(position: Vector) -> int:
        return int(table[position[: table.ndim]])

    return Law(f"solving it up to {max(numbers)}", None, lambda position: grundy(position) == 0, grundy)
