"""The P-positions of two games compared, on the vectors that are positions of both."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Backend
from gpu_nim.games.catalogue import chosen, read_source
from gpu_nim.games.game_graph import MAX_SIZE
from gpu_nim.games.inequality import InequalityGame, Vector
from gpu_nim.games.rulesets import Inequalities
from gpu_nim.games.solution import Solution, least_vector
from gpu_nim.games.solve import settles, sizes_until_difference, solve
from gpu_nim.model.arguments import Whole, integer
from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import UsageError

_Members = Callable[[Ints], NDArray[np.bool_]]


@dataclass(frozen=True)
class Comparison:
    """The P-positions of two games with equally many coordinates, up to a size.

    Attributes:
        game: a description of the first game.
        against: a description of the second game.
        size: the largest value of the coordinates that have no bound of their own.
        p_positions: the numbers of P-positions of the two games.
        both: the number of vectors that are P in both.
        only_first: the number that are P in the first and N in the second.
        only_second: the number that are P in the second and N in the first.
        elsewhere: the numbers of P-positions of each that are no positions of the other.
        first_difference: the least vector, by total and then lexicographically, that is P in one and N in the other, or None.
        p_in_first: whether that is P in the first; None where there is none.
    """

    game: str
    against: str
    size: int
    p_positions: tuple[int, int]
    both: int
    only_first: int
    only_second: int
    elsewhere: tuple[int, int]
    first_difference: Vector | None
    p_in_first: bool | None

    @property
    def equal(self) -> bool:
        """Whether no vector is P in one and N in the other."""
        return self.first_difference is None

    def summary(self) -> dict[str, Any]:
        """The results as plain values, as `gpunim solve --against --json` prints them."""
        return asdict(self) | {"equal": self.equal}


def compare(
    game: InequalityGame | str,
    against: InequalityGame | str,
    size: Whole,
    *,
    until_difference: bool = False,
    backend: str | Backend = "auto",
    **parameters: Any,
) -> Comparison:
    """Compare the P-positions of two games up to a size.

    Args:
        game: as for `gpu_nim.solve`.
        against: the same, or a name with parameters such as "chocolate:a=4".
        size: as for `gpu_nim.solve`.
        until_difference: whether to compare up to 15, 31, 63, ... until the first difference is known, or to `size`.
        backend: as for `gpu_nim.solve`.
        parameters: the parameters of `game`.

    Raises:
        UsageError: as for `gpu_nim.solve`, or the games have different numbers of coordinates.
        InsufficientMemoryError: as for `gpu_nim.solve`.
        BackendError: as for `gpu_nim.solve`.

    >>> found = compare("chocolate", "chocolate:a=4", 15, a=3)
    >>> found.first_difference, found.p_in_first, found.both, found.only_first, found.only_second
    ((5, 3, 8), False, 42, 28, 18)
    >>> compare("wythoff", "nim:piles=2", 15).first_difference
    (1, 1)
    """
    other, values = read_source(against) if isinstance(against, str) else (against, {})
    size = integer("size", size, 0, MAX_SIZE)
    for here in sizes_until_difference(size) if until_difference else (size,):
        found = _compared(*(_solved(*each, here, backend) for each in ((game, parameters), (other, values))))
        if settles(found.first_difference, here):
            break
    return found


def _solved(game: InequalityGame | str, values: dict[str, Any], size: int, backend: str | Backend) -> tuple[Solution, _Members]:
    """The solution of a game, and a function that says which vectors are positions of it up to its limits."""
    solution, rules = solve(game, size, backend=backend, **values), _rules(game, values)

    def members(vectors: Ints) -> NDArray[np.bool_]:
        inside = np.asarray((vectors <= np.array(solution.limits)).all(axis=1))
        if rules is not None:
            inside[inside] = rules.are_positions(vectors[inside], solution.limits)
        elif solution.grundy is not None:
            inside[inside] = solution.grundy[tuple(vectors[inside].T)] >= 0
        return inside

    return solution, members


def _rules(game: InequalityGame | str, values: dict[str, Any]) -> InequalityGame | None:
    """The inequalities of a game that has some; the solutions of others have Grundy values, -1 where no position is."""
    if isinstance(game, InequalityGame):
        return game
    entry, given = chosen(game, values)
    rules = entry.rules(**entry.values(given))
    return rules.game if isinstance(rules, Inequalities) else None


def _compared(first: tuple[Solution, _Members], second: tuple[Solution, _Members]) -> Comparison:
    (left, in_left), (right, in_right) = first, second
    if len(left.coordinates) != len(right.coordinates):
        expected, given = len(left.coordinates), len(right.coordinates)
        raise UsageError(f"against must be a game of {expected} coordinates, as {left.game} is, got {given} of {right.game}")
    sides = tuple(min(pair) + 1 for pair in zip(left.limits, right.limits, strict=True))
    ours, theirs = (
        np.asarray(np.ravel_multi_index(tuple(vectors[is_member(vectors)].T), sides), dtype=np.int64)
        for vectors, is_member in ((left.p_positions, in_right), (right.p_positions, in_left))
    )
    one, other = np.setdiff1d(ours, theirs, assume_unique=True), np.setdiff1d(theirs, ours, assume_unique=True)
    first_of = [least_vector(np.stack(np.unravel_index(np.sort(found), sides), axis=1)) for found in (one, other)]
    least = min((vector for vector in first_of if vector is not None), key=lambda vector: (sum(vector), vector), default=None)
    return Comparison(
        game=left.game,
        against=right.game,
        size=left.size,
        p_positions=(len(left.p_positions), len(right.p_positions)),
        both=len(ours) - len(one),
        only_first=len(one),
        only_second=len(other),
        elsewhere=(len(left.p_positions) - len(ours), len(right.p_positions) - len(theirs)),
        first_difference=least,
        p_in_first=None if least is None else least == first_of[0],
    )
