"""The catalogue of games: one entry each, by which `gpu_nim.solve` and the command line know them.

What solves a game is imported when one is solved: the command line reads names and options here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_nim.model.arguments import Whole, shown
from gpu_nim.model.errors import UsageError
from gpu_nim.model.progress import OnStep, unseen

if TYPE_CHECKING:
    from gpu_nim.backends.interface import Backend
    from gpu_nim.games.heaps import Period
    from gpu_nim.games.inequality import InequalityGame
    from gpu_nim.games.solution import Solution

    Solved = tuple[Solution, Period | None]
    """A solved game, and for single heaps the period of their Grundy values where one is proved."""


@dataclass(frozen=True)
class Named:
    """A game of the catalogue, or a kind of games.

    option: the name of what says which one of its kind is meant, with its value where none is given; None where it is one game.
    inequalities: makes the game, of that value, where it is one of inequalities.
    solve: solves it otherwise, to a size, on the host, with Grundy values.
    """

    name: str
    summary: str
    option: str | None = None
    default: Any = None
    inequalities: Callable[[Any], InequalityGame] | None = None
    solve: Callable[[Any, int, OnStep], Solved] | None = None


def _inequality_game(name: str) -> Callable[[Any], InequalityGame]:
    def make(value: Any) -> InequalityGame:
        from gpu_nim.games import inequality

        game: InequalityGame = getattr(inequality, name)(value)
        return game

    return make


def _chocolate6(_: Any) -> InequalityGame:
    from gpu_nim.games.inequality import six_coordinate_chocolate

    return six_coordinate_chocolate()


def _nim_pass(piles: Any, size: int, on_step: OnStep) -> Solved:
    from gpu_nim.games.solution import solve_nim_with_pass

    return solve_nim_with_pass(piles, size, on_step=on_step), None


def _wythoff(_: Any, size: int, on_step: OnStep) -> Solved:
    from gpu_nim.games.lines import Wythoff
    from gpu_nim.games.solution import solve_game

    return solve_game(Wythoff(size), "wythoff", ("x", "y"), size, on_step=on_step), None


def _octal(name: str, fixed: str | None = None) -> Callable[[Any, int, OnStep], Solved]:
    def solve(code: Any, size: int, _: OnStep) -> Solved:
        from gpu_nim.games.solution import solve_heap
        from gpu_nim.games.take_away import OctalCode

        rule = OctalCode(code if fixed is None else fixed)
        return solve_heap(rule, f"{name} {rule.code}", size)

    return solve


def _subtraction(take: Any, size: int, _: OnStep) -> Solved:
    from gpu_nim.games.solution import solve_heap
    from gpu_nim.games.take_away import SubtractionRule

    rule = SubtractionRule(take)
    return solve_heap(rule, f"subtraction {', '.join(map(str, rule.subtract))}", size)


_GAMES = (
    Named("chocolate", "a y <= x + z", "a", 3, inequalities=_inequality_game("chocolate")),
    Named("bar", "y <= floor(z / k) beside a pile x", "k", 2, inequalities=_inequality_game("bar")),
    Named("chocolate6", "the chocolate that is cut in six directions", inequalities=_chocolate6),
    Named("inequalities", "a game of your own, as inequalities", "where", inequalities=_inequality_game("parse_game")),
    Named("nim", "Nim, any number of piles", "piles", 3, inequalities=_inequality_game("nim")),
    Named("nim-pass", "Nim with a pass", "piles", 3, solve=_nim_pass),
    Named("wythoff", "Wythoff's game: from one of two piles, or equally many from both", solve=_wythoff),
    Named("kayles", "Kayles, 0.77", solve=_octal("kayles", "0.77")),
    Named("octal", "a game by its octal code", "code", "0.77", solve=_octal("octal")),
    Named("subtraction", "take one of some numbers from a heap", "take", (1, 2, 3), solve=_subtraction),
)

CATALOGUE: dict[str, Named] = {game.name: game for game in _GAMES}
OPTIONS: tuple[str, ...] = tuple(dict.fromkeys(game.option for game in _GAMES if game.option is not None))
"""What may say which one of its kind a game is."""


def find(name: object) -> Named:
    """Return the catalogue's entry of that name; UsageError, with the list of what is known, where there is none.

    >>> find("nim").option, find("nim").default
    ('piles', 3)
    """
    if not isinstance(name, str) or name not in CATALOGUE:
        known = ", ".join(CATALOGUE)
        raise UsageError(f"game must be one of {known}, or inequalities such as 'y <= x + z/2', got {shown(name)}")
    return CATALOGUE[name]


def check_options(name: str, given: Iterable[str], prefix: str = "") -> None:
    """Raise UsageError for an option that belongs to other games than the one of that name; `prefix` is how options are written.

    >>> check_options("kayles", ["piles"])
    Traceback (most recent call last):
    gpu_nim.model.errors.UsageError: piles belongs to nim and nim-pass, got it with kayles
    """
    for option in given:
        if option not in OPTIONS:
            raise UsageError(f"options of a game are {', '.join(OPTIONS)}, got {shown(option)}")
        if option != find(name).option:
            owners = " and ".join(game.name for game in _GAMES if game.option == option)
            raise UsageError(f"{prefix}{option} belongs to {owners}, got it with {name}")


def solve_named(
    name: str,
    size: Whole,
    *,
    grundy: bool = False,
    backend: str | Backend = "auto",
    on_step: OnStep = unseen,
    **given: Any,
) -> Solved:
    """Solve a game of the catalogue, of the kind that the option says; see `gpu_nim.solve`.

    on_step: called with how many positions are done, of a game that is solved along lines.

    >>> solution, period = solve_named("subtraction", 20, take=[1, 3, 4])
    >>> solution.game, period
    ('subtraction 1, 3, 4', Period(preperiod=0, length=7))
    """
    from gpu_nim.backends.selection import check_backend
    from gpu_nim.games.solution import check_size, solve_inequalities

    game = find(name)
    check_options(name, given)
    check_backend(backend)
    size = check_size(size)
    value = game.default if game.option is None else given.get(game.option, game.default)
    if game.inequalities is not None:
        return solve_inequalities(game.inequalities(value), size, grundy=grundy, backend=backend), None
    if (backend if isinstance(backend, str) else backend.name) == "cuda":
        raise UsageError(f"backend must be numpy or auto for {name}, which runs on the host alone, got cuda")
    assert game.solve is not None
    return game.solve(value, size, on_step)
