"""The solver of inequality games in a box, and what others share: values by options, and a solution from Grundy values."""

import time
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Backend
from gpu_nim.backends.selection import select
from gpu_nim.games.game_graph import MAX_SIZE, Game, evolve
from gpu_nim.games.inequality import InequalityGame, Vector
from gpu_nim.games.solution import Solution, first_difference, vectors_of_box
from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.work import OnStep


@runtime_checkable
class BoxGame(Protocol):
    """A game with a faster solver for its Grundy values than `gpu_nim.games.game_graph.evolve`."""

    def box_grundy(self, on_step: OnStep) -> Ints:
        """The Grundy values over the box of the positions."""


def solve_inequalities(game: InequalityGame, size: int, *, grundy: bool, backend: str | Backend, on_step: OnStep) -> Solution:
    """Solve an inequality game in the box of that size.

    Args:
        game: the game.
        size: the largest value of the coordinates that have no bound of their own; see `InequalityGame.limits`.
        grundy: whether to find Grundy values as well as outcomes.
        backend: "auto", "cuda", "numpy" or a backend object.
        on_step: called for progress.

    Raises:
        UsageError: the box has more than 2^62 cells.
        InsufficientMemoryError: the box is too large.
        BackendError: the backend cannot run here.
    """
    chosen = select(backend)
    limits = game.limits(size)
    cells = prod(limit + 1 for limit in limits)
    if cells > MAX_SIZE:
        raise UsageError(f"size must give a box of at most 2^62 cells, got {size} for {game.describe()}")
    wedge = _Wedge.of(game, limits)
    started = time.perf_counter()
    found: NDArray[np.signedinteger]
    if wedge is not None:
        found = chosen.wedge_grundy(wedge.top, on_step) if grundy else chosen.wedge_outcomes(wedge.top, on_step)
    else:
        function = chosen.inequality_grundy if grundy else chosen.inequality_outcomes
        found = function(game.bounds(limits), np.array(limits), on_step)
    seconds = time.perf_counter() - started
    if wedge is not None:
        found = wedge.unfold_grundy(found) if grundy else wedge.unfold_points(found)
    points, values = (np.argwhere(found == 0), found) if grundy else (found, None)
    facts = {"game": game.describe(), "coordinates": game.coordinates, "size": size, "seconds": seconds}
    positions = _count(game, limits, wedge)
    return _solution(points, _nim_positions(game, limits), limits, chosen, grundy=values, positions=positions, **facts)


def evolved(game: Game[Vector]) -> Ints:
    """The Grundy values over the box of the positions, -1 where none is, by the options of each position."""
    evolution = evolve(game)
    positions = np.array(evolution.positions, dtype=np.int64)
    grundy = np.full(tuple(positions.max(axis=0) + 1), -1, dtype=np.int64)
    grundy[tuple(positions.T)] = evolution.grundy
    return grundy


def of_grundy(grundy: Ints, name: str, coordinates: tuple[str, ...], size: int, seconds: float) -> Solution:
    """The solution of a game whose Grundy values over a box are known, -1 where no position is."""
    sums, limits = np.bitwise_xor.reduce(np.indices(grundy.shape), axis=0), tuple(side - 1 for side in grundy.shape)
    points, of_nim = np.argwhere(grundy == 0), np.argwhere((grundy >= 0) & (sums == 0))
    facts = {"game": name, "coordinates": coordinates, "size": size, "seconds": seconds}
    return _solution(points, of_nim, limits, select("numpy"), grundy=grundy, positions=int((grundy >= 0).sum()), **facts)


def _solution(points: Ints, of_nim: Ints, limits: Vector, on: Backend, **facts: Any) -> Solution:
    """The solution with these P-positions, where those vectors of nim-sum 0 are positions."""
    first = first_difference(points, of_nim, limits)
    return Solution(p_positions=points, first_difference=first, limits=limits, backend=on.name, device=on.device, **facts)


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
        bounds = game.bounds(limits)
        require_memory((2 * len(bounds[0]) + 2) * 8 * prod(sides), host_memory(), f"solving {game.describe()}")
        axes = np.ogrid[tuple(map(slice, sides))]
        tops = []
        for _, numerators, constant, denominator in zip(*bounds, strict=True):
            bound = sum((number * axis for number, axis in zip(numerators[others], axes, strict=True)), constant)
            tops.append(np.broadcast_to(bound, sides) // denominator)
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
    """The positions with nim-sum 0, int64 (n, k) in lexicographic order: the longest coordinate is determined by the others."""
    last = max(range(len(limits)), key=lambda j: limits[j])
    sides = [limit + 1 if j != last else 1 for j, limit in enumerate(limits)]
    vectors = np.indices(sides).reshape(len(limits), -1).T
    vectors[:, last] = np.bitwise_xor.reduce(vectors, axis=1)
    vectors = vectors[vectors[:, last] <= limits[last]]
    vectors = vectors[game.are_positions(vectors, limits)]
    return vectors[np.lexsort(vectors.T[::-1])]


def _count(game: InequalityGame, limits: Vector, wedge: _Wedge | None) -> int:
    """The number of positions in the box."""
    if wedge is not None:
        return int(wedge.top.sum()) + wedge.top.size
    return sum(int(game.are_positions(vectors, limits).sum()) for _, vectors in vectors_of_box(limits))
