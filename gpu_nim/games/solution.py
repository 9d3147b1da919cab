"""Solving a game in a box, and what is reported of it: counts, Grundy values, and how it compares with Nim."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim._version import __version__
from gpu_nim.backends.interface import Backend
from gpu_nim.backends.selection import select
from gpu_nim.games.game_graph import Game, evolve
from gpu_nim.games.heaps import HeapRule, Period, find_period, grundy_values
from gpu_nim.games.inequality import MAX_COORDINATES, InequalityGame, Vector, parse_game
from gpu_nim.games.lines import LineGame, Nim, line_grundy
from gpu_nim.model.arguments import Whole, integer, shown
from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.progress import OnStep, unseen
from gpu_nim.model.values import ArrayValue

Ints = NDArray[np.int64]
_MAX_CELLS = 2**62
_CHUNK = 1 << 20  # cells of the box looked at together
_PERIOD_SHOWS = 4096  # heaps among which a period is looked for before going on


@dataclass(frozen=True, eq=False)
class Solution(ArrayValue):
    """The solved positions 0 <= x <= limits of a game.

    `game` describes it, `coordinates` names its coordinates; `positions` counts the positions. `p_positions` is int64 (n, k) in
    lexicographic order. `first_difference` is the least position, by total and then lexicographically, that is P in just one of
    the game and Nim, or None. `grundy` holds the Grundy values over the box, -1 where no position is, or is None where they were
    not asked for; int16, or int32 where a position may have more than 32766 moves, or int64. `seconds` is the time the backend
    took. Two solutions are equal where the same was found of the same game, wherever and however fast.

    >>> solve("4y <= x + z", 15).first_difference
    (5, 3, 8)
    """

    game: str
    coordinates: tuple[str, ...]
    size: int
    limits: Vector
    positions: int
    p_positions: Ints = field(repr=False)
    first_difference: Vector | None
    grundy: NDArray[np.signedinteger] | None = field(repr=False)
    backend: str = field(compare=False)
    device: str = field(compare=False)
    seconds: float = field(compare=False)
    version: str = field(default=__version__, compare=False)

    @property
    def largest_grundy(self) -> int | None:
        """The largest Grundy value, or None where they were not asked for."""
        return None if self.grundy is None else int(self.grundy.max())

    @property
    def equals_nim(self) -> bool:
        """Whether the P-positions are the positions with nim-sum 0."""
        return self.first_difference is None

    @cached_property
    def first_grundy_difference(self) -> Vector | None:
        """The least position, as in `first_difference`, whose Grundy value is not its nim-sum, or None.

        Raises UsageError where Grundy values were not asked for.

        >>> solve("3y <= x + z", 15, grundy=True).first_grundy_difference
        (0, 1, 3)
        """
        values = self._grundy().reshape(-1)
        found: list[Vector] = []
        for cells, vectors in _box(self.limits):
            here = values[cells]
            least = _least(vectors[(here >= 0) & (here != np.bitwise_xor.reduce(vectors, axis=1))])
            if least is not None:
                found.append(least)
        return min(found, key=lambda vector: (sum(vector), vector), default=None)

    def points(self, largest: int = 0) -> tuple[Ints, Ints]:
        """The positions of Grundy value at most `largest`, (n, k) in lexicographic order, and their Grundy values (n,).

        The P-positions are those of value 0, and are had without the others' values; `sheared` of
        `gpu_nim.games.inequality` turns them into the coordinates of [V]'s pictures. Raises UsageError where the others
        were not asked for.

        >>> points, values = solve("3y <= x + z", 2, grundy=True).points(1)
        >>> points.tolist(), values.tolist()
        ([[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1], [2, 0, 2], [2, 1, 2]], [0, 1, 1, 0, 0, 1])
        """
        largest = integer("largest", largest, 0)
        if largest == 0:
            return self.p_positions, np.zeros(len(self.p_positions), dtype=np.int64)
        grundy = self._grundy()
        points = np.argwhere((grundy >= 0) & (grundy <= largest))
        return points, grundy[tuple(points.T)].astype(np.int64)

    def summary(self) -> dict[str, Any]:
        """What `gpunim solve --json` prints."""
        result: dict[str, Any] = {
            "game": self.game,
            "size": self.size,
            "positions": self.positions,
            "p_positions": len(self.p_positions),
            "largest_grundy": self.largest_grundy,
            "equals_nim": self.equals_nim,
            "first_difference": self.first_difference,
        }
        if self.grundy is not None:
            result["grundy_first_difference"] = self.first_grundy_difference
            result["grundy_equals_nim"] = result["grundy_first_difference"] is None
        return result | {"backend": self.backend, "device": self.device, "seconds": self.seconds}

    def _grundy(self) -> NDArray[np.signedinteger]:
        if self.grundy is None:
            raise UsageError("grundy: expected a game solved with Grundy values, got one solved for outcomes alone")
        return self.grundy


def solve(
    game: InequalityGame | str, size: Whole, *, grundy: bool = False, backend: str | Backend = "auto", **option: Any
) -> Solution:
    """Solve a game up to a size: an inequality game in the box of that size (see `InequalityGame.limits`), or a named one.

    `game` is a name of the catalogue, inequalities in writing, as `gpu_nim.games.inequality.parse_game` reads them, or a game that
    this module makes. The names, and what says which one of its kind is meant: chocolate (a=3), bar (k=2), chocolate6,
    inequalities (where), nim (piles=3), nim-pass (piles=3), wythoff, kayles, octal (code="0.77"), subtraction (take=(1, 2, 3)).

    With `grundy`, Grundy values as well as outcomes; games without inequalities have them anyway, and run on the host alone.
    Raises UsageError for a game that is not known and a bad size, InsufficientMemoryError where the box is too large, BackendError
    where the backend named cannot do it.

    >>> solve("wythoff", 7).p_positions.tolist()
    [[0, 0], [1, 2], [2, 1], [3, 5], [4, 7], [5, 3], [7, 4]]
    >>> solve("octal", 12, code="0.137").grundy.tolist()  # Dawson's Chess
    [0, 1, 1, 2, 0, 3, 1, 1, 0, 3, 3, 2, 2]
    >>> from gpu_nim.games.inequality import chocolate
    >>> solution = solve(chocolate(3), 31, grundy=True)
    >>> len(solution.p_positions), solution.largest_grundy, solution.equals_nim
    (342, 49, True)
    >>> solve("w <= 2x; y <= x + z/2", 7).first_difference
    (0, 1, 1, 0)
    """
    from gpu_nim.games import catalogue

    if isinstance(game, str) and not set(game) & set("<;"):
        return catalogue.solve_named(game, size, grundy=grundy, backend=backend, **option)[0]
    if option:
        raise UsageError(f"options belong to games of the catalogue, got {', '.join(option)} with {shown(game)}")
    if isinstance(game, str):
        game = parse_game(game)
    if not isinstance(game, InequalityGame):
        catalogue.find(game)  # refuses it, with what is known
    return solve_inequalities(game, size, grundy=grundy, backend=backend)


def check_size(size: Whole) -> int:
    """The size of a box as a Python integer; UsageError for what is none."""
    return integer("size", size, 0, _MAX_CELLS)


def solve_inequalities(game: InequalityGame, size: Whole, *, grundy: bool = False, backend: str | Backend = "auto") -> Solution:
    """Solve an inequality game in the box of that size; see `solve`."""
    size = check_size(size)
    chosen = select(backend)
    limits = game.limits(size)
    if prod(limit + 1 for limit in limits) > _MAX_CELLS:
        raise UsageError(f"size: expected a box of at most 2^62 cells, got {size} for {game.describe()}")
    # What is looked at together when the solution is described.
    needed = 4 * 8 * len(limits) * min(prod(limit + 1 for limit in limits), _CHUNK)
    require_memory(needed, host_memory(), f"solving {game.describe()}")
    wedge = _Wedge.of(game, limits)
    started = time.perf_counter()
    found: NDArray[np.signedinteger]
    if wedge is not None:
        found = chosen.wedge_grundy(wedge.top) if grundy else chosen.wedge_outcomes(wedge.top)
    else:
        function = chosen.inequality_grundy if grundy else chosen.inequality_outcomes
        found = function(game.bounds(limits), np.array(limits))
    seconds = time.perf_counter() - started
    if wedge is not None:
        found = wedge.unfold_grundy(found) if grundy else wedge.unfold_points(found)
    p_positions = np.argwhere(found == 0) if grundy else found
    return Solution(
        game=game.describe(),
        coordinates=game.coordinates,
        size=size,
        limits=limits,
        positions=_count(game, limits, wedge, found if grundy else None),
        p_positions=p_positions,
        first_difference=_first_difference(p_positions, _nim_positions(game, limits), limits),
        grundy=found if grundy else None,
        backend=chosen.name,
        device=chosen.device,
        seconds=seconds,
    )


def solve_game(game: Game[Vector], name: str, coordinates: tuple[str, ...], size: int, *, on_step: OnStep = unseen) -> Solution:
    """Solve any game whose positions are vectors with entries 0 to `size`: along its lines where it has these, else by its options.

    on_step: called with how many positions are done along lines.

    >>> from gpu_nim.games.lines import Wythoff
    >>> solve_game(Wythoff(7), "wythoff", ("x", "y"), 7).p_positions.tolist()
    [[0, 0], [1, 2], [2, 1], [3, 5], [4, 7], [5, 3], [7, 4]]
    """
    size = check_size(size)
    started = time.perf_counter()
    if isinstance(game, LineGame):
        grundy = line_grundy(game, on_step=on_step)
    else:
        positions = (size + 1) ** len(coordinates)
        _require_memory(positions, positions * size * len(coordinates), name)
        grundy = _evolved(game)
    seconds = time.perf_counter() - started
    return _of_grundy(grundy, name, coordinates, size, seconds)


def solve_nim_with_pass(piles: int, size: int, *, on_step: OnStep = unseen) -> Solution:
    """Solve Nim with a pass (see `gpu_nim.games.lines.NimWithPass`): the positions in which the pass is still there.

    on_step: called with how many positions are done.

    >>> len(solve_nim_with_pass(3, 7).p_positions)
    54
    """
    size, piles = check_size(size), integer("piles", piles, 1, MAX_COORDINATES)
    started = time.perf_counter()
    grundy = line_grundy(Nim(piles, size), with_pass=True, on_step=on_step)
    seconds = time.perf_counter() - started
    names = tuple(f"x{i + 1}" for i in range(piles))
    return _of_grundy(grundy, "nim with a pass, before it is taken", names, size, seconds)


def solve_heap(rule: HeapRule, name: str, size: int) -> tuple[Solution, Period | None]:
    """Solve the single heaps of 0 to `size` counters of a heap game, and find the period that their values prove, if they do.

    Where a short stretch proves one, the rest follows from it.

    >>> from gpu_nim.games.take_away import OctalCode
    >>> solution, period = solve_heap(OctalCode("0.77"), "kayles", 1000)
    >>> solution.largest_grundy, period
    (8, Period(preperiod=71, length=12))
    """
    size = check_size(size)
    require_memory(64 * (size + 1), host_memory(), f"{name} to {size}")
    started = time.perf_counter()
    values = grundy_values(rule, min(size + 1, _PERIOD_SHOWS))
    period = find_period(rule, values)
    if period is not None:
        n = np.arange(size + 1)
        values = values[np.where(n < period.preperiod, n, period.preperiod + (n - period.preperiod) % period.length)]
    elif len(values) <= size:
        values = grundy_values(rule, size + 1)
        period = find_period(rule, values)
    return _of_grundy(values, name, ("n",), size, time.perf_counter() - started), period


def _evolved(game: Game[Vector]) -> Ints:
    """The Grundy values over the box of the positions, -1 where none is."""
    evolution = evolve(game)
    positions = np.array(evolution.positions, dtype=np.int64)
    grundy = np.full(tuple(positions.max(axis=0) + 1), -1, dtype=np.int64)
    grundy[tuple(positions.T)] = evolution.grundy
    return grundy


def _require_memory(positions: int, moves: int, work: str) -> None:
    """Refuse a game graph that would not fit: a position is a tuple, an index and six numbers, a move is sorted twice."""
    require_memory(positions * 400 + moves * 50, host_memory(), f"{work}, {positions:,} positions")


def _of_grundy(grundy: Ints, name: str, coordinates: tuple[str, ...], size: int, seconds: float) -> Solution:
    chosen = select("numpy")
    sums = np.bitwise_xor.reduce(np.indices(grundy.shape), axis=0)
    p_positions, limits = np.argwhere(grundy == 0), tuple(side - 1 for side in grundy.shape)
    return Solution(
        game=name,
        coordinates=coordinates,
        size=size,
        limits=limits,
        positions=int((grundy >= 0).sum()),
        p_positions=p_positions,
        first_difference=_first_difference(p_positions, np.argwhere((grundy >= 0) & (sums == 0)), limits),
        grundy=grundy,
        backend=chosen.name,
        device=chosen.device,
        seconds=seconds,
    )


@dataclass(frozen=True)
class _Wedge:
    """Two or three coordinates of which one, bounded by the others alone, lies between 0 and top[the others].

    `order` are the game's coordinates in the wedge's order: x (absent where there are two), the bounded y, z.
    """

    top: Ints
    order: tuple[int, ...]

    @classmethod
    def of(cls, game: InequalityGame, limits: Vector) -> "_Wedge | None":
        targets = {inequality.target for inequality in game.inequalities}
        if len(targets) != 1 or len(limits) not in (2, 3):
            return None
        (middle,) = targets
        others = [j for j in range(len(limits)) if j != middle]
        sides = [limits[j] + 1 for j in others]
        require_memory(10 * 8 * prod(sides), host_memory(), f"solving {game.describe()}")
        grid = np.indices(sides).reshape(len(others), -1)
        tops = []
        for _, numerators, constant, denominator in zip(*game.bounds(limits), strict=True):
            tops.append((numerators[others] @ grid + constant) // denominator)
        top = np.minimum.reduce(tops).reshape([1] * (3 - len(limits)) + sides)
        if top[0, 0] < 0:
            return None
        return cls(top, (*others[:-1], middle, others[-1]))

    def unfold_points(self, points: Ints) -> Ints:
        result = np.empty((len(points), len(self.order)), dtype=np.int64)
        result[:, self.order] = points[:, 3 - len(self.order) :]
        return result[np.lexsort(result.T[::-1])]

    def unfold_grundy(self, values: NDArray[np.signedinteger]) -> NDArray[np.signedinteger]:
        if len(self.order) == 2:
            values = values[0]
        return np.ascontiguousarray(values.transpose(np.argsort(self.order)))


def _nim_positions(game: InequalityGame, limits: Vector) -> Ints:
    """The positions with nim-sum 0, int64 (n, k) in lexicographic order: the longest coordinate follows from the
    others.
    """
    last = max(range(len(limits)), key=lambda j: limits[j])
    sides = [limit + 1 if j != last else 1 for j, limit in enumerate(limits)]
    require_memory(5 * 8 * len(limits) * prod(sides), host_memory(), f"comparing {game.describe()} with Nim")
    vectors = np.indices(sides).reshape(len(limits), -1).T
    vectors[:, last] = np.bitwise_xor.reduce(vectors, axis=1)
    vectors = vectors[vectors[:, last] <= limits[last]]
    vectors = vectors[game.are_positions(vectors, limits)]
    return vectors[np.lexsort(vectors.T[::-1])]


def _count(game: InequalityGame, limits: Vector, wedge: _Wedge | None, grundy: NDArray[Any] | None) -> int:
    """The number of positions in the box."""
    if wedge is not None:
        return int(wedge.top.sum()) + wedge.top.size
    if grundy is not None:
        return int((grundy >= 0).sum())
    return sum(int(game.are_positions(vectors, limits).sum()) for _, vectors in _box(limits))


def _box(limits: Vector) -> Iterator[tuple[slice, Ints]]:
    """The vectors 0 <= x <= limits in lexicographic order, many at a time, with the range of their indices."""
    shape = tuple(limit + 1 for limit in limits)
    cells = prod(shape)
    for start in range(0, cells, _CHUNK):
        stop = min(start + _CHUNK, cells)
        yield slice(start, stop), np.stack(np.unravel_index(np.arange(start, stop), shape), axis=1)


def _first_difference(some: Ints, others: Ints, limits: Vector) -> Vector | None:
    """The least vector in just one of two sets of distinct vectors."""
    shape = tuple(limit + 1 for limit in limits)
    a, b = (np.asarray(np.ravel_multi_index(tuple(vectors.T), shape), dtype=np.int64) for vectors in (some, others))
    return _least(np.stack(np.unravel_index(np.setxor1d(a, b, assume_unique=True), shape), axis=1))


def _least(vectors: Ints) -> Vector | None:
    """The least by total, then lexicographically, of vectors in lexicographic order; None of none."""
    return tuple(vectors[np.argmin(vectors.sum(axis=1))].tolist()) if len(vectors) else None
