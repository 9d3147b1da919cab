"""What a page to play on knows of its game: the moves, the position, the theorem, and what is drawn."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from gpu_nim.games.bars import bar_of
from gpu_nim.games.evolution import Analysis
from gpu_nim.games.game_graph import MAX_MOVES, Vector, reachable
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.games.lines import LineGame, unit_lines
from gpu_nim.games.rulesets import Ruleset, Vectors
from gpu_nim.games.solution import Solution
from gpu_nim.games.solve import solve
from gpu_nim.model.arguments import integers, short_repr
from gpu_nim.model.errors import UsageError
from gpu_nim.model.tracing import LARGEST, LARGEST_BITS
from gpu_nim.papers import find_statements
from gpu_nim.render.bars import BITTER, LINE, SWEET
from gpu_nim.render.geometry import CORNERS
from gpu_nim.render.page.scenes import SIDE, TEXELS

_DEEPEST = 255  # generations that the data of Nim's page has colours for; the page has them for any other power of two
_LEAST = 31  # the least size that is solved: the picture of fewer positions is no fractal
_PILES = 3
_SMALL = 512  # positions among which are those that misere play exchanges


@dataclass(frozen=True)
class PageMatch:
    """A game from one position on, as a page plays it.

    Attributes:
        title: the name of the game.
        start: the position.
        source: the P-positions, as a source of pictures; None for a game of more coordinates, which is played on its bar alone.
        drawn: the largest coordinates that are drawn.
        data: what the page reads.
    """

    title: str
    start: Vector
    source: str | Solution | None
    drawn: Vector
    data: dict[str, Any]

    def corners(self, low: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return points that frame the positions, (N, 3), in the coordinates of a page whose box begins at `low`."""
        cells = np.array([(*corner, 0)[:3] for corner in product(*((0, limit) for limit in self.drawn))]) - low
        return np.asarray((cells[:, None] + CORNERS).reshape(-1, 3), dtype=np.int64)


def match_of(rules: Ruleset, position: Iterable[SupportsIndex], *, misere: bool = False) -> PageMatch:
    """Return a game from a position on; see `gpu_nim.render.page.play_page`.

    >>> from gpu_nim.games import find
    >>> match_of(find("chocolate").game({"a": 3}), [7, 3, 5]).drawn
    (31, 20, 31)
    """
    theorem = rules.theorem
    played = _played(rules)
    start = rules.position(integers("position", position))
    nim = isinstance(played, InequalityGame) and not played.inequalities
    if nim:
        if len(start) != _PILES:
            raise UsageError(f"position must be {_PILES} piles on a page, got {short_repr(start)}")
        if max(start) >= LARGEST:
            raise UsageError(f"position must have piles below 2^{LARGEST_BITS} on a page, got {short_repr(start)}")
        source: str | Solution | None = f"nim:{_DEEPEST}"
        title, limits = "Nim", (LARGEST - 1,) * _PILES
        rule = "Take any number of counters from one pile."
        moves: dict[str, Any] = {"names": [f"pile {k + 1}" for k in range(_PILES)], "lines": unit_lines(_PILES)}
    else:
        if len(start) > _PILES:
            if reachable(rules.options, start) is None:
                raise UsageError(
                    f"position must have at most {MAX_MOVES:,} moves below it to be played on a bar, got {short_repr(start)}"
                )
            source, title, limits = None, str(rules), (max(_LEAST, *start),) * len(start)
        else:
            size, limits = _size(played, start)
            source = solve(rules, size)
            title = source.game.replace("<=", "≤")
        if isinstance(played, InequalityGame):
            rule = (
                f"Lower one of {', '.join(played.coordinates)}; the others drop where {'; '.join(played.formulas())} forces them."
            )
            rows = [(inequality.target, *inequality.integers) for inequality in played.inequalities]
            # Integers as texts, since a browser's numbers are floats.
            texts = [(target, [*map(str, factors)], str(constant), str(divisor)) for target, factors, constant, divisor in rows]
            moves = {"names": played.coordinates, "inequalities": texts}
        else:
            rule = f"{rules.summary[:1].upper()}{rules.summary[1:]}."
            moves = {"names": rules.coordinates, "lines": played.lines}
    known = Analysis(rules, start, misere=True).theorem if misere else rules.misere_theorem(start)
    solved = map(tuple, source.p_positions.tolist()) if isinstance(source, Solution) else ()
    lost = theorem.is_p if theorem else {*solved}.__contains__
    box = product(range(round(_SMALL ** (1 / len(start)))), repeat=len(start))
    small = filter(played.is_position, box) if isinstance(played, InequalityGame) else box
    (statement,) = find_statements([theorem.statement]) if theorem and theorem.statement else (None,)
    data = {
        "nim": nim,
        "start": [str(number) for number in start],
        "limits": [str(limit) for limit in limits],
        "rule": rule.replace("<=", "≤"),
        "exchanged": known and [[*map(str, each)] for each in small if known.is_p(each) != lost(each)],
        "theorem": theorem
        and statement
        and {"source": theorem.source, "summary": statement.summary.rstrip(".").replace("<=", "≤")},
        "bar": None if nim else _bar(played),
        **moves,
    }
    return PageMatch(title, start, source, (_DEEPEST,) * _PILES if nim else limits, data)


def _bar(played: InequalityGame | LineGame) -> dict[str, Any] | None:
    """Return a game's bar, if it has one, for the page."""
    if not isinstance(played, InequalityGame):
        return None
    with suppress(UsageError):
        bar = bar_of(played)
        sides = [(*side.normal, side.base, side.step, side.coordinate) for side in bar.sides]
        return {"sides": sides, "across": bar.across, "colours": {"sweet": SWEET, "bitter": BITTER, "groove": LINE}}
    return None


def _played(rules: Ruleset) -> InequalityGame | LineGame:
    few = len(rules.coordinates) in (2, 3)
    if isinstance(rules, InequalityGame) and not rules.floors and (few or (rules.inequalities and _bar(rules))):
        return rules
    if isinstance(rules, Vectors) and not rules.beyond and few:
        lines = rules.rules(0)
        if isinstance(lines, LineGame):
            return lines
    raise UsageError(
        "games on a page are inequalities of one floor each, or along lines such as wythoff, with two or three coordinates, "
        f"or bars such as chocolate6, got {rules}"
    )


def _size(game: InequalityGame | LineGame, start: Vector) -> tuple[int, Vector]:
    """Return the size at which a position is solved, a power of two less 1, and the largest coordinates."""
    size, fitting = _LEAST, None
    while True:
        limits = game.limits(size) if isinstance(game, InequalityGame) else (size,) * game.piles
        if prod(limit + 1 for limit in limits) > TEXELS or max(limits) >= SIDE:
            box = f"within {fitting}" if fitting else f"in a game of at most {TEXELS:,} vectors up to size {_LEAST}"
            raise UsageError(f"position must lie {box} to be played on a page, got {short_repr(start)}")
        if all(number <= limit for number, limit in zip(start, limits, strict=True)):
            return size, limits
        size, fitting = 2 * size + 1, limits
