"""`gpu_nim.solve`: solve a game of the catalogue, inequalities as a text, or an inequality game, up to a size."""

from collections.abc import Mapping
from typing import Any, Literal, overload

from gpu_nim.backends.interface import Backend
from gpu_nim.backends.selection import check_backend
from gpu_nim.games.game_graph import MAX_SIZE
from gpu_nim.games.named_games import AnyGame, GameEntry, as_game, entry_of, size_of
from gpu_nim.games.rulesets import Ruleset
from gpu_nim.games.solution import GrundyValues, Solution
from gpu_nim.model.arguments import IntLike, argument, integer
from gpu_nim.model.errors import UsageError
from gpu_nim.model.work import OnStep, no_progress

_FIRST_SIZE = 15


@overload
def solve(game: AnyGame, size: IntLike | None = None, *, grundy: Literal[True], **options: Any) -> Solution[GrundyValues]: ...


@overload
def solve(game: AnyGame, size: IntLike | None = None, *, grundy: bool = False, **options: Any) -> Solution: ...


def solve(
    game: AnyGame,
    size: IntLike | None = None,
    *,
    grundy: bool = False,
    until_difference: bool = False,
    backend: str | Backend = "auto",
    progress: OnStep = no_progress,
    **parameters: Any,
) -> Solution:
    """Solve a game up to a size: an inequality game in the box of that size (see `InequalityGame.limits`), or one of the catalogue.

    Args:
        game: a name of `gpu_nim.games.named_games.CATALOGUE` (`gpunim games` lists them), inequalities as a text (see
            `gpu_nim.games.inequality.parse_game`), a name with parameters and perhaps the size, such as "chocolate:a=3,size=15" or
            "wythoff:63", an inequality game, or user-defined rules: `Vectors` of any game whose positions
            are vectors, or `Heaps` of a rule for single heaps.
        size: the largest value of the coordinates that have no bound of their own; None where the text has it.
        grundy: whether to find Grundy values as well as outcomes; games without inequalities always have them.
        until_difference: whether to solve up to 15, 31, 63, ... until the first difference from Nim is known, or to the size. It is
            known where its total is at most the size, since every position of a smaller total was looked at.
        backend: "auto" (CUDA where there is a GPU, else NumPy), "cuda", "numpy", or a backend object; games without inequalities
            run on NumPy alone.
        progress: called for progress, unless the game is solved by its options or is one of heaps.
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
    Period(preperiod=0, length=7)
    >>> from gpu_nim.games import Heaps, OctalCode, Vectors, Wythoff
    >>> solve(Heaps(OctalCode("0.07")), 1000).period, solve(Vectors(Wythoff, ("x", "y")), 7).equals_nim
    (Period(preperiod=53, length=34), False)
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
    rules = as_game(game, parameters)
    check_backend(backend)
    if not rules.on_backends and (backend if isinstance(backend, str) else backend.name) == "cuda":
        raise UsageError(f"backend must be numpy or auto for {rules}, which runs on the host alone, got cuda")
    size = integer("size", size_of(game, size), 0, MAX_SIZE)
    here = _FIRST_SIZE if until_difference else size
    while True:
        found = rules.solve(min(here, size), grundy=grundy, backend=backend, progress=progress)
        first = found.first_difference
        if here >= size or (first is not None and sum(first) <= here):
            return found
        here = 2 * here + 1


def read_scan(game: object, texts: Mapping[str, str]) -> tuple[GameEntry, dict[str, Any], str | None]:
    """Read the parameters of a game, of which one rational may have several values: the entry, the values, and that parameter.

    >>> entry, values, scanned = read_scan("chocolate", {"a": "1:3"})
    >>> entry.name, values, scanned
    ('chocolate', {'a': [Fraction(1, 1), Fraction(2, 1)]}, 'a')
    """
    entry, given = entry_of(game, texts)
    several = {each.name: each.read_several(given[each.name]) for each in entry.parameters if each.name in given}
    scanned = [name for name, values in several.items() if len(values) > 1]
    for name in scanned[1:]:
        raise UsageError(f"{name} must be one value where {argument(scanned[0])} is scanned, got {len(several[name])}")
    return entry, {name: values if name in scanned else values[0] for name, values in several.items()}, next(iter(scanned), None)


def scan(
    entry: GameEntry, size: IntLike, scanned: str, values: Mapping[str, Any], *, progress: OnStep = no_progress, **options: Any
) -> list[dict[str, Any]]:
    """Solve the games of several values of a parameter: the facts on each, with those of the theorem that compares it with Nim.

    Args:
        entry: the entry of the catalogue.
        size: as for `solve`.
        scanned: the name of the parameter.
        values: its values, and the value of each other parameter, by name.
        progress: called with the number of games done.
        options: as for `solve`.

    >>> from gpu_nim.games import find
    >>> [(row["a"], row["first_difference"], row["theorem"]) for row in scan(find("chocolate"), 15, "a", {"a": [3, 4]})]
    [('3', None, 'v-remark-4.1'), ('4', (5, 3, 8), 'chocolate-first-difference')]
    """
    rows = []  # not the solutions, which may not fit into memory together
    for done, value in enumerate(values[scanned]):
        progress("game", done, len(values[scanned]))
        game = entry.game({**values, scanned: value})
        row = {scanned: str(value)} | solve(game, size, **options).summary()
        if entry.beside_nim is not None:
            known = entry.beside_nim(**game.parameters)
            row["theorem"] = known.statement
            row["theorem_equals_nim"], row["theorem_first_difference"] = known.first_difference is None, known.first_difference
        rows.append(row)
    return rows


def expected_points(game: Ruleset, size: int, largest: int = 0) -> float:
    """Estimate the number of positions of Grundy value up to `largest` that a game has up to a size, without solving it.

    Their number is taken to increase by the same power of the size as it does up to a size of 127 or less.

    Args:
        game: the game.
        size: as for `solve`.
        largest: the largest Grundy value; 0 for the P-positions.

    >>> from gpu_nim.games import find
    >>> round(expected_points(find("wythoff").game({}), 255), 1), len(solve("wythoff", 255).p_positions)
    (168.7, 195)
    """
    halvings = max(3, size.bit_length() - 7)
    solutions = (solve(game, size >> by, grundy=largest > 0) for by in (halvings + 2, halvings))
    fewer, more = (len(solution.points(largest)[0]) for solution in solutions)
    return float(more * (more / fewer) ** (halvings / 2))
