"""`gpu_nim.solve`: solve a game of the catalogue, inequalities as a text, or an inequality game, up to a size."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Backend
from gpu_nim.backends.selection import check_backend
from gpu_nim.games.catalogue import find, read_source, ruled
from gpu_nim.games.game_graph import MAX_SIZE
from gpu_nim.games.inequality import InequalityGame, Vector
from gpu_nim.games.rulesets import Inequalities, Ruleset
from gpu_nim.games.solution import Solution, least_of, least_vector
from gpu_nim.model.arguments import Whole, integer, shown
from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import UsageError
from gpu_nim.model.presentation import Summarised
from gpu_nim.model.work import OnStep, unreported

#: What `solve` takes for a game.
Solvable = InequalityGame | Ruleset | str

_FIRST_SIZE = 15
_Found = TypeVar("_Found", Solution, "Comparison")


def solve(
    game: Solvable,
    size: Whole,
    *,
    grundy: bool = False,
    until_difference: bool = False,
    backend: str | Backend = "auto",
    on_step: OnStep = unreported,
    **parameters: Any,
) -> Solution:
    """Solve a game up to a size: an inequality game in the box of that size (see `InequalityGame.limits`), or one of the catalogue.

    Args:
        game: a name of `gpu_nim.games.catalogue.CATALOGUE` (`gpunim games` lists them), inequalities as a text (see
            `gpu_nim.games.inequality.parse_game`), an inequality game, or user-defined rules: `Vectors` of any game whose positions
            are vectors, or `Heaps` of a rule for single heaps.
        size: the largest value of the coordinates that have no bound of their own.
        grundy: whether to find Grundy values as well as outcomes; games without inequalities always have them.
        until_difference: whether to solve up to 15, 31, 63, ... until the first difference from Nim is known, or to the size. It is
            known where its total is at most the size, since every position of a smaller total was looked at.
        backend: "auto" (CUDA where there is a GPU, else NumPy), "cuda", "numpy", or a backend object; games without inequalities
            run on NumPy alone.
        on_step: called for progress, unless the game is solved by its options or is one of heaps.
        parameters: the parameters of the game, such as a=3 of chocolate or piles=3 of nim.

    Returns:
        The P-positions, and the Grundy values where requested; with `until_difference`, up to the size at which the search ended.

    Raises:
        UsageError: the game is unknown, or a parameter or the size wrong.
        InsufficientMemoryError: the box is too large; raised before anything is solved.
        BackendError: the backend cannot run here.

    >>> solve("wythoff", 7).p_positions.tolist()
    [[0, 0], [1, 2], [2, 1], [3, 5], [4, 7], [5, 3], [7, 4]]
    >>> solve("octal", 12, code="0.137").grundy.tolist()  # Dawson's Chess
    [0, 1, 1, 2, 0, 3, 1, 1, 0, 3, 3, 2, 2]
    >>> solve("subtraction", 20, take=[1, 3, 4]).period
    Period(preperiod=0, length=7, saltus=0)
    >>> from gpu_nim.games import Heaps, OctalCode, Vectors, Wythoff
    >>> solve(Heaps(OctalCode("0.07")), 1000).period, solve(Vectors(Wythoff, ("x", "y")), 7).equals_nim
    (Period(preperiod=53, length=34, saltus=0), False)
    >>> from gpu_nim.games.inequality import chocolate
    >>> solution = solve(chocolate(3), 31, grundy=True)
    >>> len(solution.p_positions), solution.largest_grundy, solution.equals_nim
    (342, 49, True)
    >>> solve("w <= 2x; y <= x + z/2", 7).first_difference
    (0, 1, 1, 0)
    >>> found = solve("chocolate", 1023, a=8, until_difference=True)
    >>> found.size, found.first_difference
    (127, (25, 7, 32))
    """
    if until_difference:
        return _until_difference(size, partial(solve, game, grundy=grundy, backend=backend, on_step=on_step, **parameters))
    check_backend(backend)
    name, rules = _stated(game, parameters)
    if not rules.on_backends and (backend if isinstance(backend, str) else backend.name) == "cuda":
        raise UsageError(f"backend must be numpy or auto for {name or shown(game)}, which runs on the host alone, got cuda")
    return rules.solve(name, integer("size", size, 0, MAX_SIZE), grundy=grundy, backend=backend, on_step=on_step)


def _stated(game: Solvable, parameters: dict[str, Any]) -> tuple[str, Ruleset]:
    """The name of a game, "" outside the catalogue, and its rules."""
    if isinstance(game, InequalityGame | Ruleset):
        if parameters:
            raise UsageError(f"options belong to games of the catalogue, got {', '.join(parameters)} with {shown(game)}")
        return "", Inequalities(game) if isinstance(game, InequalityGame) else game
    entry, _, rules = ruled(game, parameters)
    return entry.name, rules


def _until_difference(size: Whole, found_at: Callable[[int], _Found]) -> _Found:
    """What is found up to 15, 31, 63, ..., until its difference is known to be the first, or to the size.

    It is where no position of a smaller total has a coordinate beyond the size.
    """
    here, last = _FIRST_SIZE, integer("size", size, 0, MAX_SIZE)
    while here < last:
        found = found_at(here)
        if found.first_difference is not None and sum(found.first_difference) <= here:
            return found
        here = 2 * here + 1
    return found_at(last)


def scan(
    game: str,
    size: Whole,
    parameter: str,
    values: Iterable[Any],
    *,
    on_step: OnStep = unreported,
    **options: Any,
) -> list[dict[str, Any]]:
    """Solve the games of several values of a parameter: the facts on each, with those of the theorem that compares it with Nim.

    Args:
        game: a name of `gpu_nim.games.catalogue.CATALOGUE`.
        size: as for `solve`.
        parameter: the name of the parameter.
        values: its values.
        on_step: called with the number of games done.
        options: as for `solve`, with the other parameters.

    >>> [(row["a"], row["first_difference"], row["theorem"]) for row in scan("chocolate", 15, "a", [3, 4])]
    [('3', None, 'v-remark-4.1'), ('4', (5, 3, 8), 'chocolate-first-difference')]
    """
    entry = find(game)
    rows = []  # not the solutions, which may not fit into memory together
    several = list(values)
    for done, value in enumerate(several):
        on_step("game", done, len(several))
        here = {**options, parameter: value}
        row = {parameter: str(value)} | solve(game, size, **here).summary()
        if entry.beside_nim is not None:
            known = entry.beside_nim(**entry.values({each.name: here[each.name] for each in entry.parameters if each.name in here}))
            row["theorem"] = known.statement
            row["theorem_equals_nim"], row["theorem_first_difference"] = known.equals_nim, known.first_difference
        rows.append(row)
    return rows


def expected_points(game: str, size: int, largest: int = 0, **parameters: Any) -> float:
    """Estimate the number of positions of Grundy value up to `largest` that a game has up to a size, without solving it.

    Their number is taken to increase by the same power of the size as it does up to a size of 127 or less.

    Args:
        game: a name of `gpu_nim.games.catalogue.CATALOGUE`.
        size: as for `solve`.
        largest: the largest Grundy value; 0 for the P-positions.
        parameters: as for `solve`.

    >>> round(expected_points("wythoff", 255), 1), len(solve("wythoff", 255).p_positions)
    (168.7, 195)
    """
    halvings = max(3, size.bit_length() - 7)
    solutions = (solve(game, size >> by, grundy=largest > 0, **parameters) for by in (halvings + 2, halvings))
    fewer, more = (len(solution.points(largest)[0]) for solution in solutions)
    return float(more * (more / fewer) ** (halvings / 2))


_Members = Callable[[Ints], NDArray[np.bool_]]


@dataclass(frozen=True)
class Comparison(Summarised):
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
    game: Solvable,
    against: Solvable,
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

    def found_at(size: int) -> Comparison:
        return _compared(*(_solved(*each, size, backend) for each in ((game, parameters), (other, values))))

    return _until_difference(size, found_at) if until_difference else found_at(integer("size", size, 0, MAX_SIZE))


def _solved(game: Solvable, values: dict[str, Any], size: int, backend: str | Backend) -> tuple[Solution, _Members]:
    """The solution of a game, and a function that says which vectors are positions of it up to its limits."""
    solution, (_, rules) = solve(game, size, backend=backend, **values), _stated(game, values)

    def members(vectors: Ints) -> NDArray[np.bool_]:
        inside = np.asarray((vectors <= np.array(solution.limits)).all(axis=1))
        if isinstance(rules, Inequalities):
            inside[inside] = rules.game.are_positions(vectors[inside], solution.limits)
        elif solution.grundy is not None:  # -1 where no position is
            inside[inside] = solution.grundy[tuple(vectors[inside].T)] >= 0
        return inside

    return solution, members


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
    least = least_of(first_of)
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
