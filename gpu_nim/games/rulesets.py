"""The rules of a game with given parameters: its positions and moves one by one, in words, and what solves all up to a size.

A `Ruleset` explains a position and plays from it by listing the moves of one tuple of Python integers, by the literal rule; its
solver takes a whole box of positions as arrays. There is a class for each way in which games are stated.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np

from gpu_nim.backends.interface import Backend
from gpu_nim.backends.selection import select
from gpu_nim.games.game_graph import MOVE_BYTES, POSITION_BYTES, Evolution, Game, Listed, Vector, evolve
from gpu_nim.games.heaps import HEAP, HeapRule, OctalCode, Period, extended_values, partitions, partitions_up_to, replaced
from gpu_nim.games.lines import LineGame
from gpu_nim.games.solution import Solution, first_difference
from gpu_nim.games.theorems import MisereTypes, SumOfHeaps, Theorem, is_misere_kayles_position
from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import UsageError
from gpu_nim.model.shown import Shown
from gpu_nim.model.work import OnStep, host_memory, require_memory

_THEOREMS = "gpunim-game-theorems"
_MANY_COUNTERS = 300  # in heaps: more positions than any memory holds


@dataclass(frozen=True, repr=False)
class GameMove(Shown):
    """An option of a position.

    Attributes:
        move: the move in words.
        leaves: the position that it leaves.
        is_p: whether that is a P-position, so that the move wins; None if not computed.
        grundy: its Grundy value; None if not computed.
    """

    move: str
    leaves: Vector
    is_p: bool | None = None
    grundy: int | None = None

    @property
    def outcome(self) -> str:
        """P or N."""
        return "P" if self.is_p else "N"


class Ruleset(Shown, ABC):
    """A game with given parameters.

    Attributes:
        name: its name in the catalogue; "" for rules of your own.
        summary: its rule in a few words.
        parameters: the values of its parameters, by name.
        coordinates: the names of the coordinates of a position that is solved.
        on_backends: whether a backend solves it, for outcomes or for Grundy values; other games are solved on the host alone, which
            finds Grundy values always.
    """

    name: str = ""
    summary: str = ""
    parameters: Mapping[str, Any] = MappingProxyType({})
    coordinates: tuple[str, ...]
    on_backends: ClassVar[bool] = False

    @property
    @abstractmethod
    def theorem(self) -> Theorem | None:
        """The theorem that gives its P-positions; None if none is known."""

    def misere_theorem(self, position: Vector) -> Theorem | None:
        """The theorem on misere play from a position on; None if none is known.

        Args:
            position: the position.
        """
        return self.theorem.misere if self.theorem else None

    def named(self, name: str, summary: str, parameters: Mapping[str, Any]) -> Self:
        """Return these rules as those of an entry of the catalogue; the arguments are its attributes."""
        rules = copy(self)
        vars(rules).update(name=name, summary=summary, parameters=parameters)
        return rules

    def describe(self) -> str:
        """The game in solutions, with its parameters."""
        return self.name

    def __str__(self) -> str:
        return self.name or self.describe() or repr(self)

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
    def moves_in_words(self, position: Vector) -> Iterator[GameMove]:
        """Every move, in order; several may leave the same position.

        Args:
            position: the position.
        """

    def options(self, position: Vector) -> Iterable[Vector]:
        """The positions that the moves leave, repetitions allowed.

        Args:
            position: the position.
        """
        return (option.leaves for option in self.moves_in_words(position))

    def move_to(self, position: Vector, leaves: Vector) -> GameMove | None:
        """The first move that leaves a position; None where no move does.

        Args:
            position: the position that it is made from.
            leaves: the position that it leaves.
        """
        return next((option for option in self.moves_in_words(position) if option.leaves == leaves), None)

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

    def evolve(self, size: int, *, misere: bool = False) -> Evolution[Vector]:
        """Return all positions up to a size, and the moves from them; see `gpu_nim.games.game_graph.evolve`.

        Args:
            size: the size.
            misere: whether whoever makes the last move loses.

        Raises:
            InsufficientMemoryError: there are too many positions.
        """
        positions, moves = self.extent(size)
        needed = POSITION_BYTES * positions + MOVE_BYTES * moves
        require_memory(needed, host_memory(), f"{self}, up to {positions:,} positions")
        return evolve(self.within(size), misere=misere)

    @abstractmethod
    def solve(self, size: int, *, grundy: bool, backend: str | Backend, progress: OnStep) -> Solution:
        """Return the solution up to a size.

        Args:
            size: 0 or more.
            grundy: as for `gpu_nim.solve`.
            backend: as for `gpu_nim.solve`.
            progress: as for `gpu_nim.solve`.
        """

    def _of_grundy(self, size: int, started: float, grundy: Ints, period: Period | None = None) -> Solution:
        """The solution where the Grundy values over a box are known, -1 where no position is."""
        sums, limits = np.bitwise_xor.reduce(np.indices(grundy.shape), axis=0), tuple(side - 1 for side in grundy.shape)
        points, of_nim = np.argwhere(grundy == 0), np.argwhere((grundy >= 0) & (sums == 0))
        facts = {"positions": int((grundy >= 0).sum()), "seconds": time.perf_counter() - started, "period": period}
        return self._solution(size, limits, select("numpy"), points, of_nim, grundy=grundy, **facts)

    def _solution(self, size: int, limits: Vector, on: Backend, points: Ints, of_nim: Ints, **facts: Any) -> Solution:
        """The solution with these P-positions, where those vectors of nim-sum 0 are positions."""
        return Solution(
            game=self.describe(),
            coordinates=self.coordinates,
            size=size,
            limits=limits,
            p_positions=points,
            first_difference=first_difference(points, of_nim, limits),
            backend=on.name,
            device=on.device,
            **facts,
        )


@dataclass(frozen=True, repr=False)
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
    >>> [option.move for option in rules.moves_in_words((1, 2))]
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

    def moves_in_words(self, position: Vector) -> Iterator[GameMove]:
        """Every move, by the coordinates that it lowers."""
        return (self._move(position, leaves) for leaves in self.options(position))

    def _move(self, position: Vector, leaves: Vector) -> GameMove:
        taken: dict[int, list[str]] = {}
        for name, old, new in zip(self.coordinates, position, leaves, strict=False):
            if new < old:
                taken.setdefault(old - new, []).append(name)
        parts = [f"{take} from {' and '.join(names)}" for take, names in taken.items()]
        return GameMove(", ".join(parts) or "the pass", tuple(leaves))

    def move_to(self, position: Vector, leaves: Vector) -> GameMove | None:
        """The first move that leaves a position; along lines it is found at once."""
        game = self.rules(max(position))
        if not isinstance(game, LineGame):
            return super().move_to(position, leaves)
        return self._move(position, leaves) if game.leads(position, leaves) else None

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
        game, started = self.rules(size), time.perf_counter()
        if isinstance(game, LineGame):
            grundy_values = game.box_grundy(progress)
        else:
            evolution = self.evolve(size)
            vectors = np.array(evolution.positions, dtype=np.int64)
            grundy_values = np.full(tuple(vectors.max(axis=0) + 1), -1, dtype=np.int64)
            grundy_values[tuple(vectors.T)] = evolution.grundy
        return self._of_grundy(size, started, grundy_values)


@dataclass(frozen=True, repr=False)
class Heaps(Ruleset):
    """A heap game, solved for single heaps; a position is its heaps, none empty, in increasing order.

    >>> from gpu_nim.games.heaps import OctalCode
    >>> rules = Heaps(OctalCode("0.77"))
    >>> [option.move for option in rules.moves_in_words(rules.position([4, 0, 1]))]
    ['a heap of 1 to nothing', 'a heap of 4 to 3', 'a heap of 4 to 1 and 2', 'a heap of 4 to 2', 'a heap of 4 to 1 and 1']
    """

    rule: HeapRule
    coordinates: tuple[str, ...] = field(default=HEAP, init=False, repr=False)

    @cached_property
    def theorem(self) -> Theorem:
        """The Grundy value of several heaps is the nim-sum of theirs."""
        grundy = SumOfHeaps(self.rule)
        return Theorem("the Sprague-Grundy theorem", "gpunim-heaps", lambda heaps: grundy(heaps) == 0, grundy)

    def misere_theorem(self, position: Vector) -> Theorem | None:
        """That on Kayles; or, where all heaps up to the largest are tame, that misere play is that of Nim."""
        if self.rule == OctalCode("0.77"):
            normal, source = self.theorem, "Sibert and Conway's theorem on misere Kayles"
            return Theorem(source, _THEOREMS, lambda heaps: is_misere_kayles_position(heaps, normal.is_p(heaps)))
        types = SumOfHeaps(MisereTypes(self.rule))
        if -1 in types.values(position):
            return None
        # P-positions are of value 0 and firm, or of value 1 and not firm.
        return Theorem("Conway's theorem on tame games", _THEOREMS, lambda heaps: MisereTypes.of_sum(types.values(heaps)) in (1, 2))

    def position(self, numbers: Sequence[int]) -> Vector:
        """The position of these heaps."""
        return tuple(sorted(filter(None, numbers)))

    def moves_in_words(self, position: Vector) -> Iterator[GameMove]:
        """Every move, on one heap of each size."""
        for heap in sorted(set(position)):
            for left in self.rule.options(heap):
                parts = " and ".join(map(str, sorted(left))) or "nothing"
                yield GameMove(f"a heap of {heap} to {parts}", replaced(position, heap, left))

    def describe(self) -> str:
        """The name, and the parameters of the rule."""
        return f"{self.name} {self.rule.describe()}".strip()

    def options(self, position: Vector) -> Iterator[Vector]:
        """The positions that the moves leave."""
        return (replaced(position, heap, left) for heap in set(position) for left in self.rule.options(heap))

    def within(self, size: int) -> Listed:
        """Sums of heaps of that many counters in all."""
        return Listed([*partitions(size)], lambda position: {*self.options(position)})

    def extent(self, size: int) -> tuple[int, int]:
        """The partitions of up to that many counters, and a move from each for every second one."""
        positions = partitions_up_to(min(size, _MANY_COUNTERS))
        return positions, positions * size // 2

    def solve(self, size: int, *, grundy: bool, backend: str | Backend, progress: OnStep) -> Solution:
        """Solve single heaps, and look for the period of their Grundy values."""
        started = time.perf_counter()
        values, period = extended_values(self.rule, size + 1)
        return self._of_grundy(size, started, values, period)
