"""Given impartial games, as `gpu_nim.games.game_graph.Game`: Nim, Wythoff, subtraction, octal games, Nim with a pass."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from gpu_nim.games.game_graph import Ints
from gpu_nim.games.heaps import OctalCode, SubtractionRule
from gpu_nim.model.arguments import Whole, integer, vectors
from gpu_nim.model.errors import UsageError

Vector = tuple[int, ...]
_MAX_PILES = 32  # an axis each of an array of positions


@dataclass(frozen=True)
class LineGame:
    """Piles of at most `largest` counters; a move takes the same number, at least 1, from every pile of one of `lines`.

    A line is a tuple of 0s and 1s, an entry a pile.

    >>> sorted(LineGame(2, 3, ((1, 0), (0, 1), (1, 1))).options((1, 2)))
    [(0, 1), (0, 2), (1, 0), (1, 1)]
    """

    piles: int
    largest: int
    lines: tuple[Vector, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "piles", integer("piles", self.piles, 1, _MAX_PILES))
        object.__setattr__(self, "largest", integer("largest", self.largest, 0))
        object.__setattr__(self, "lines", vectors("lines", self.lines))
        for line in self.lines:
            if len(line) != self.piles or not set(line) <= {0, 1} or 1 not in line:
                raise UsageError(f"lines: expected {self.piles} entries 0 or 1, not all 0, got {line}")

    def positions(self) -> Iterator[Vector]:
        """Every position, in lexicographic order."""
        return product(range(self.largest + 1), repeat=self.piles)

    def options(self, position: Vector) -> Iterator[Vector]:
        """What one move leads to."""
        for line in self.lines:
            for take in range(1, min(pile for pile, on in zip(position, line, strict=True) if on) + 1):
                yield tuple(pile - take * on for pile, on in zip(position, line, strict=True))

    def all_moves(self) -> tuple[Ints, Ints]:
        """All moves, as `gpu_nim.games.game_graph.ArrayGame` has it."""
        number = np.arange((self.largest + 1) ** self.piles).reshape((self.largest + 1,) * self.piles)
        sources, targets = [], []
        for line in self.lines:
            for take in range(1, self.largest + 1):
                sources.append(number[tuple(slice(take, None) if on else slice(None) for on in line)].ravel())
                targets.append(number[tuple(slice(None, -take) if on else slice(None) for on in line)].ravel())
        none = np.empty(0, dtype=np.int64)
        return np.concatenate([none, *sources]), np.concatenate([none, *targets])


def Nim(piles: Whole, largest: Whole) -> LineGame:
    """Nim with piles of at most `largest` counters.

    >>> list(Nim(2, 3).options((1, 2)))
    [(0, 2), (1, 1), (1, 0)]
    """
    return LineGame(integer("piles", piles, 1, _MAX_PILES), integer("largest", largest, 0), unit_lines(piles))


def Wythoff(largest: Whole) -> LineGame:
    """Wythoff's game: take from one of two piles, or equally many from both.

    >>> list(Wythoff(3).options((1, 2)))
    [(0, 2), (1, 1), (1, 0), (0, 1)]
    """
    return LineGame(2, integer("largest", largest, 0), (*unit_lines(2), (1, 1)))


def unit_lines(piles: Whole) -> tuple[Vector, ...]:
    """The lines of Nim, a pile each.

    >>> unit_lines(2)
    ((1, 0), (0, 1))
    """
    piles = integer("piles", piles, 1, _MAX_PILES)
    return tuple(tuple(int(i == j) for j in range(piles)) for i in range(piles))


@dataclass(frozen=True)
class NimWithPass:
    """Nim with a pass: once in a game, by either player, and not from the position without counters.

    A position is (piles..., passes), `passes` 1 while the pass is there and 0 afterwards. With three piles no formula
    is known: Morrison, Friedman and Landsberg, Combinatorial games with a pass, Chaos 22 (2012).

    >>> list(NimWithPass(1, 2).options((1, 1))), list(NimWithPass(1, 2).options((0, 1)))
    ([(0, 1), (1, 0)], [])
    """

    piles: int
    largest: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "piles", integer("piles", self.piles, 1, _MAX_PILES))
        object.__setattr__(self, "largest", integer("largest", self.largest, 0))

    @cached_property
    def nim(self) -> LineGame:
        """The game once the pass is gone."""
        return Nim(self.piles, self.largest)

    def positions(self) -> Iterator[Vector]:
        """Every position, in lexicographic order."""
        return ((*piles, passes) for piles in self.nim.positions() for passes in (0, 1))

    def options(self, position: Vector) -> Iterator[Vector]:
        """What one move leads to: those of Nim, then the pass."""
        *piles, passes = position
        for option in self.nim.options(tuple(piles)):
            yield (*option, passes)
        if passes and any(piles):
            yield (*piles, 0)


@dataclass(frozen=True)
class SubtractionGame:
    """One heap of at most `largest` counters; a move takes one of the numbers in `subtract`.

    >>> list(SubtractionGame((1, 3, 4), 10).options(3))
    [2, 0]
    """

    subtract: tuple[int, ...]
    largest: int

    def __post_init__(self) -> None:
        # The rule refuses what is no set of positive integers.
        object.__setattr__(self, "subtract", SubtractionRule(self.subtract).subtract)
        object.__setattr__(self, "largest", integer("largest", self.largest, 0))

    def positions(self) -> Iterable[int]:
        """Every position, in increasing order."""
        return range(self.largest + 1)

    def options(self, position: int) -> Iterator[int]:
        """What one move leads to."""
        return (position - take for take in self.subtract if take <= position)


@dataclass(frozen=True)
class OctalGame:
    """Sums of heaps of at most `largest` counters in all, played by an octal code: "0.77" is Kayles.

    A position is the tuple of its heaps, none empty, in increasing order.

    >>> sorted(OctalGame("0.77", 4).options((3,)))
    [(1,), (1, 1), (2,)]
    """

    code: str
    largest: int

    def __post_init__(self) -> None:
        OctalCode(self.code)  # refuses what is no code
        object.__setattr__(self, "largest", integer("largest", self.largest, 0))

    @cached_property
    def rule(self) -> OctalCode:
        """What a move does to one heap."""
        return OctalCode(self.code)

    def positions(self) -> Iterator[Vector]:
        """Every position: the partitions of 0 to `largest`."""
        stack: list[tuple[Vector, int, int]] = [((), 1, self.largest)]
        while stack:
            heaps, least, room = stack.pop()
            yield heaps
            stack.extend(((*heaps, heap), heap, room - heap) for heap in range(least, room + 1))

    def options(self, position: Vector) -> set[Vector]:
        """What one move leads to."""
        found: set[Vector] = set()
        for at, heap in enumerate(position):
            others = position[:at] + position[at + 1 :]
            found.update(tuple(sorted((*others, *left))) for left in self.rule.options(heap))
        return found
