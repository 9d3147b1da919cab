"""The rules of a game with given parameters: its positions and moves one by one, in words, and what solves all up to a size.

A `Ruleset` explains a position and plays from it by listing the moves of one tuple of Python integers, by the literal rule; its
solver takes a whole box of positions as arrays. There is a class for each way in which games are stated.
"""

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import islice
from math import prod
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Backend
from gpu_nim.backends.selection import select
from gpu_nim.games.game_graph import MAX_SIZE, Game, evolve, require_evolution
from gpu_nim.games.heaps import HEAP, HeapGame, HeapRule, extended_values, partitions_up_to, replaced
from gpu_nim.games.inequality import InequalityGame, Vector
from gpu_nim.games.lines import LineGame
from gpu_nim.games.solution import Solution, first_difference, vectors_of_box
from gpu_nim.games.theorems import SumOfHeaps, Theorem, theorem_of_inequalities
from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import UsageError
from gpu_nim.model.process import host_memory, require_memory
from gpu_nim.model.work import OnStep

#: The most moves listed to find the positions reachable from one.
MAX_MOVES = 200_000

_MANY_COUNTERS = 300  # in heaps: more positions than any memory holds
_MANY_CELLS = 1 << 24  # of a box: their graph takes tens of gigabytes


@dataclass(frozen=True)
class GameMove:
    """An option of a position.

    Attributes:
        move: the move in words.
        leaves: the position that it leaves.
        is_p: whether that is a P-position, so that the move wins; None if not computed.
        grundy: its Grundy value; None if not computed.
    """

    move: str
    leaves: Vector
    is_p: bool | None = field(default=None, repr=False)
    grundy: int | None = field(default=None, repr=False)

    @property
    def outcome(self) -> str:
        """P or N."""
        return "P" if self.is_p else "N"


class Ruleset(ABC):
    """A game with given parameters.

    Attributes:
        name: its name in the catalogue; "" for rules of your own.
        summary: its rule in a few words.
        parameters: the values of its parameters, by name.
        coordinates: the names of the coordinates of a position that is solved.
        theorem: the theorem that gives its P-positions; None if none is known.
        on_backends: whether a backend solves it, for outcomes or for Grundy values; other games are solved on the host alone, which
            finds Grundy values always.
    """

    name: str = ""
    summary: str = ""
    parameters: Mapping[str, Any] = MappingProxyType({})
    coordinates: tuple[str, ...]
    theorem: Theorem | None
    on_backends: ClassVar[bool] = False

    def named(self, name: str, summary: str, parameters: Mapping[str, Any]) -> Self:
        """Return these rules as those of an entry of the catalogue; the arguments are its attributes."""
        rules = copy(self)
        vars(rules).update(name=name, summary=summary, parameters=parameters)
        return rules

    def describe(self) -> str:
        """The game in solutions, with its parameters."""
        return self.name

    def position(self, numbers: Sequence[int]) -> Vector:
        """The position of these numbers.

        Args:
            numbers: the coordinates, or the heaps.

        Raises:
            UsageError: they are no position of the game.
        """
        if len(numbers) != len(self.coordinates):
            raise UsageError(f"position must be {len(self.coordinates)} numbers, {' '.join(self.coordinates)}, got {len(numbers)}")
        return tuple(numbers)

    @abstractmethod
    def moves(self, position: Vector) -> Iterator[GameMove]:
        """Every move, in order; several may leave the same position.

        Args:
            position: the position.
        """

    def options(self, position: Vector) -> Iterable[Vector]:
        """The positions that the moves leave, repetitions allowed.

        Args:
            position: the position.
        """
        return (option.leaves for option in self.moves(position))

    @abstractmethod
    def within(self, size: int) -> Game[Vector]:
        """The game on its positions up to a size, for `gpu_nim.games.game_graph.evolve`; of heaps, the counters in all.

        Args:
            size: the size.
        """

    def extent(self, size: int) -> tuple[int, int]:
        """About how many positions there are up to a size, and how many moves from all of them.

        Args:
            size: the size.
        """
        positions = (size + 1) ** len(self.coordinates)
        return positions, positions * size * len(self.coordinates) // 2

    @abstractmethod
    def solve(self, size: int, *, grundy: bool, backend: str | Backend, progress: OnStep) -> Solution:
        """Return the solution up to a size.

        Args:
            size: 0 or more.
            grundy: as for `gpu_nim.solve`.
            backend: as for `gpu_nim.solve`.
            progress: as for `gpu_nim.solve`.
        """


@dataclass(frozen=True)
class Inequalities(Ruleset):
    """A game of inequalities: a coordinate is lowered, and others drop where the inequalities force them.

    >>> from gpu_nim.games.inequality import chocolate
    >>> rules = Inequalities(chocolate(3))
    >>> [option.move for option in rules.moves(rules.position([1, 1, 2]))]
    ['x to 0, and y drops to 0', 'y to 0', 'z to 0, and y drops to 0', 'z to 1, and y drops to 0']
    """

    game: InequalityGame
    coordinates: tuple[str, ...] = field(init=False, repr=False)
    theorem: Theorem | None = field(init=False, repr=False)
    on_backends: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "coordinates", self.game.coordinates)
        object.__setattr__(self, "theorem", theorem_of_inequalities(self.game))

    def position(self, numbers: Sequence[int]) -> Vector:
        """The position of these coordinates."""
        position = super().position(numbers)
        if not self.game.is_position(position):
            raise UsageError(f"position must satisfy {'; '.join(self.game.formulas())}, got {position}")
        return position

    def moves(self, position: Vector) -> Iterator[GameMove]:
        """Every move, with the coordinates that drop."""
        for coordinate, lower, leaves in self.game.moves(position):
            names = zip(self.coordinates, position, leaves, strict=True)
            drops = [f"{name} drops to {new}" for i, (name, old, new) in enumerate(names) if new < old and i != coordinate]
            if leaves[coordinate] < lower:
                drops.insert(0, f"itself drops to {leaves[coordinate]}")
            yield GameMove(", and ".join([f"{self.coordinates[coordinate]} to {lower}", *drops]), leaves)

    def options(self, position: Vector) -> Iterator[Vector]:
        """The positions that the moves leave."""
        return (leaves for _, _, leaves in self.game.moves(position))

    def describe(self) -> str:
        """The name of the inequalities, and they themselves."""
        return self.game.describe()

    def within(self, size: int) -> Game[Vector]:
        """The positions of the box of that size."""
        return self.game.within(size)

    def extent(self, size: int) -> tuple[int, int]:
        """The positions of the box, and as many moves as their coordinates add up to; the cells of a box beyond all memory."""
        limits = self.game.limits(size)
        cells = prod(limit + 1 for limit in limits)
        if cells > _MANY_CELLS:
            return cells, cells * sum(limits) // 2
        positions = moves = 0
        for _, vectors in vectors_of_box(limits):
            found = vectors[self.game.are_positions(vectors, limits)]
            positions, moves = positions + len(found), moves + int(found.sum())
        return positions, moves

    def solve(self, size: int, *, grundy: bool, backend: str | Backend, progress: OnStep) -> Solution:
        """Solve the inequalities on the backend.

        Raises:
            UsageError: the box has more than 2^62 cells.
            InsufficientMemoryError: the box is too large.
            BackendError: the backend cannot run here.
        """
        game, chosen, limits = self.game, select(backend), self.game.limits(size)
        if prod(limit + 1 for limit in limits) > MAX_SIZE:
            raise UsageError(f"size must give a box of at most 2^62 cells, got {size} for {game.describe()}")
        wedge = _Wedge.of(game, limits)
        started = time.perf_counter()
        found: NDArray[np.signedinteger]
        if wedge is not None:
            found = chosen.wedge_grundy(wedge.top, progress) if grundy else chosen.wedge_outcomes(wedge.top, progress)
        else:
            function = chosen.inequality_grundy if grundy else chosen.inequality_outcomes
            found = function(game.bounds(limits), np.array(limits), progress)
        seconds = time.perf_counter() - started
        if wedge is not None:
            found = wedge.unfold_grundy(found) if grundy else wedge.unfold_points(found)
            positions = int(wedge.top.sum()) + wedge.top.size
        else:
            positions = sum(int(game.are_positions(vectors, limits).sum()) for _, vectors in vectors_of_box(limits))
        points, values = (np.argwhere(found == 0), found) if grundy else (found, None)
        facts = {"game": game.describe(), "coordinates": game.coordinates, "size": size, "seconds": seconds}
        return _solution(points, _nim_positions(game, limits), limits, chosen, grundy=values, positions=positions, **facts)


@dataclass(frozen=True)
class Vectors(Ruleset):
    """A game whose positions are vectors with entries up to a size.

    Args:
        rules: `rules(largest)` is the game with entries up to `largest`.
        coordinates: the names of the coordinates.
        beyond: entries of a position after the named ones, as they are where the game begins, and in the positions that are solved.
        theorem: the theorem that gives its P-positions.
        title: its name in solutions; by default the entry's.

    >>> from gpu_nim.games.lines import Wythoff
    >>> rules = Vectors(Wythoff, ("x", "y"))
    >>> [option.move for option in rules.moves((1, 2))]
    ['1 from x', '1 from y', '2 from y', '1 from x and y']
    """

    rules: Callable[[int], Game[Vector]]
    coordinates: tuple[str, ...]
    beyond: Vector = ()
    theorem: Theorem | None = None
    title: str = ""

    def position(self, numbers: Sequence[int]) -> Vector:
        """The position of these coordinates, before anything else has changed."""
        return (*super().position(numbers), *self.beyond)

    def moves(self, position: Vector) -> Iterator[GameMove]:
        """Every move, by the coordinates that it lowers."""
        for leaves in self.options(position):
            taken: dict[int, list[str]] = {}
            for name, old, new in zip(self.coordinates, position, leaves, strict=False):
                if new < old:
                    taken.setdefault(old - new, []).append(name)
            parts = [f"{take} from {' and '.join(names)}" for take, names in taken.items()]
            yield GameMove(", ".join(parts) or "the pass", tuple(leaves))

    def options(self, position: Vector) -> Iterable[Vector]:
        """The positions that the moves leave."""
        return self.rules(max(position)).options(position)

    def describe(self) -> str:
        """The title, or the name."""
        return self.title or self.name

    def within(self, size: int) -> Game[Vector]:
        """The vectors with entries up to the size."""
        return self.rules(size)

    def extent(self, size: int) -> tuple[int, int]:
        """The vectors with all that may follow them, and as many moves as their entries add up to."""
        positions, moves = super().extent(size)
        states = prod(most + 1 for most in self.beyond)
        return positions * states, moves * states

    def solve(self, size: int, *, grundy: bool, backend: str | Backend, progress: OnStep) -> Solution:
        """Solve the game along its lines, or by its options."""
        game, name = self.rules(size), self.describe()
        started = time.perf_counter()
        if isinstance(game, LineGame):
            grundy_values = game.box_grundy(progress)
        else:
            positions, moves = self.extent(size)
            require_evolution(positions, moves, f"{name}, {positions:,} positions")
            evolution = evolve(game)
            vectors = np.array(evolution.positions, dtype=np.int64)
            grundy_values = np.full(tuple(vectors.max(axis=0) + 1), -1, dtype=np.int64)
            grundy_values[tuple(vectors.T)] = evolution.grundy
        return _of_grundy(grundy_values, name, self.coordinates, size, time.perf_counter() - started)


@dataclass(frozen=True)
class Heaps(Ruleset):
    """A heap game, solved for single heaps; a position is its heaps, none empty, in increasing order.

    >>> from gpu_nim.games.heaps import OctalCode
    >>> rules = Heaps(OctalCode("0.77"))
    >>> [option.move for option in rules.moves(rules.position([4, 0, 1]))]
    ['a heap of 1 to nothing', 'a heap of 4 to 3', 'a heap of 4 to 1 and 2', 'a heap of 4 to 2', 'a heap of 4 to 1 and 1']
    """

    rule: HeapRule
    coordinates: tuple[str, ...] = field(default=HEAP, init=False, repr=False)
    theorem: Theorem = field(init=False, repr=False)

    def __post_init__(self) -> None:
        grundy = SumOfHeaps(self.rule)  # the Grundy value of several heaps is the nim-sum of theirs
        theorem = Theorem("the Sprague-Grundy theorem", "gpunim-heaps", lambda heaps: grundy(heaps) == 0, grundy)
        object.__setattr__(self, "theorem", theorem)

    def position(self, numbers: Sequence[int]) -> Vector:
        """The position of these heaps."""
        return tuple(sorted(filter(None, numbers)))

    def moves(self, position: Vector) -> Iterator[GameMove]:
        """Every move, on one heap of each size."""
        for heap in sorted(set(position)):
            for left in self.rule.options(heap):
                parts = " and ".join(map(str, sorted(left))) or "nothing"
                yield GameMove(f"a heap of {heap} to {parts}", replaced(position, heap, left))

    def describe(self) -> str:
        """The name, and the parameters of the rule."""
        return f"{self.name} {self.rule.describe()}".strip()

    def within(self, size: int) -> Game[Vector]:
        """Sums of heaps of that many counters in all."""
        return HeapGame(self.rule, size)

    def extent(self, size: int) -> tuple[int, int]:
        """The partitions of up to that many counters, and a move from each for every second one."""
        positions = partitions_up_to(min(size, _MANY_COUNTERS))
        return positions, positions * size // 2

    def solve(self, size: int, *, grundy: bool, backend: str | Backend, progress: OnStep) -> Solution:
        """Solve single heaps, and look for the period of their Grundy values."""
        started = time.perf_counter()
        values, period = extended_values(self.rule, size + 1)
        seconds = time.perf_counter() - started
        return replace(_of_grundy(values, self.describe(), HEAP, size, seconds), period=period)


class Reachable:
    """The positions reachable from one position, as a `Game` for `gpu_nim.games.game_graph.evolve`.

    Args:
        rules: the moves.
        position: the position, which comes first among the positions.
        most: the most moves that are listed.

    Attributes:
        complete: whether all moves were listed; if not, some options are not among the positions.

    >>> from gpu_nim.games.inequality import chocolate
    >>> list(Reachable(Inequalities(chocolate(3)), (1, 0, 1)).positions())
    [(1, 0, 1), (0, 0, 1), (1, 0, 0), (0, 0, 0)]
    """

    def __init__(self, rules: Ruleset, position: Vector, most: int = MAX_MOVES) -> None:
        self._options: dict[Vector, list[Vector]] = {}
        waiting = deque([position])
        known = {position}
        moves = 0
        while waiting and moves <= most:
            here = waiting.popleft()
            found = set(islice(rules.options(here), most - moves + 1))
            self._options[here] = sorted(found)
            moves += len(found)
            waiting.extend(sorted(found - known))
            known |= found
        self.complete = moves <= most

    def positions(self) -> Iterator[Vector]:
        """Every reachable position, this one first."""
        return iter(self._options)

    def options(self, position: Vector) -> list[Vector]:
        """The positions after one move."""
        return self._options[position]


def _of_grundy(grundy: Ints, name: str, coordinates: tuple[str, ...], size: int, seconds: float) -> Solution:
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
