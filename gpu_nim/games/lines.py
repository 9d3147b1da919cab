"""Games played along lines: Nim, Wythoff's game and Nim with a pass, and their Grundy values.

A move of a `LineGame` goes down along one of a few lines through the position. So one bit set per line suffices, the values found
on it so far: the mex is the lowest bit that is 0 in all of a position's lines. A position takes the time of a few words, not of its
options.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.shared.games import bit_of, mex
from gpu_nim.games.game_graph import MAX_COORDINATES, Vector
from gpu_nim.model.arguments import IntLike, integer, vectors
from gpu_nim.model.arrays import U64, Ints
from gpu_nim.model.errors import UsageError
from gpu_nim.model.work import OnStep, host_memory, no_progress, require_memory


@dataclass(frozen=True)
class LineGame:
    """Piles of at most `largest` counters; a move takes the same number, at least 1, from every pile of one of `lines`.

    A line is a tuple of 0s and 1s, one entry per pile. With `has_pass`, either player may pass, once in a game and not from the
    position without counters; a position then has 1 after its piles before the pass, and 0 after it.

    >>> sorted(LineGame(2, 3, ((1, 0), (0, 1), (1, 1))).options((1, 2)))
    [(0, 1), (0, 2), (1, 0), (1, 1)]
    """

    piles: int
    largest: int
    lines: tuple[Vector, ...]
    has_pass: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "piles", integer("piles", self.piles, 1, MAX_COORDINATES))
        object.__setattr__(self, "largest", integer("largest", self.largest, 0))
        object.__setattr__(self, "lines", vectors("lines", self.lines))
        for line in self.lines:
            if len(line) != self.piles or not set(line) <= {0, 1} or 1 not in line:
                raise UsageError(f"lines must have {self.piles} entries 0 or 1, not all 0, got {line}")
        if self.has_pass and set(self.lines) != set(unit_lines(self.piles)):  # the values after the pass are nim-sums
            raise UsageError(f"lines must be those of Nim where there is a pass, got {self.lines}")

    def positions(self) -> Iterator[Vector]:
        """Every position, in lexicographic order."""
        sides = [range(self.largest + 1)] * self.piles
        return product(*sides, *[(0, 1)] * self.has_pass)

    def options(self, position: Vector) -> Iterator[Vector]:
        """The positions after one move; the pass comes last."""
        piles, passes = position[: self.piles], position[self.piles :]
        for line in self.lines:
            for take in range(1, min(pile for pile, on in zip(piles, line, strict=True) if on) + 1):
                yield (*(pile - take * on for pile, on in zip(piles, line, strict=True)), *passes)
        if any(passes) and any(piles):
            yield (*piles, 0)

    def leads(self, position: Vector, leaves: Vector) -> bool:
        """Whether a move leads from a position to another vector of natural numbers.

        >>> Wythoff(10**18).leads((10**18, 10**17), (9 * 10**17, 0)), Wythoff(3).leads((3, 1), (1, 0))
        (True, False)
        """
        taken = [old - new for old, new in zip(position, leaves, strict=True)]
        steps = [(*line, *[0] * self.has_pass) for line in self.lines] + [(*[0] * self.piles, 1)] * (self.has_pass and any(leaves))
        return max(taken) > 0 and taken in ([max(taken) * on for on in step] for step in steps)

    def box_grundy(self, progress: OnStep = no_progress) -> Ints:
        """The Grundy values over the box of the piles, int64, of the positions before the pass where there is one.

        Args:
            progress: called with the number of positions done.

        Raises:
            InsufficientMemoryError: the values would not fit.

        >>> Wythoff(3).box_grundy().tolist()
        [[0, 1, 2, 3], [1, 2, 0, 4], [2, 0, 1, 5], [3, 4, 5, 6]]
        >>> NimWithPass(2, 2).box_grundy().tolist()
        [[0, 2, 1], [2, 1, 0], [1, 0, 2]]
        """
        shape = (self.largest + 1,) * self.piles
        words = (len(self.lines) * self.largest + 1) // 64 + 1  # a position has so many options, and the pass
        needed = prod(shape) * (44 + 16 * self.piles + 8 * len(self.lines))
        require_memory(needed, host_memory(), f"solving {prod(shape):,} positions")
        coordinates = np.indices(shape).reshape(self.piles, -1)
        totals = coordinates.sum(axis=0)
        order = np.argsort(totals, kind="stable")  # a move lowers the total, so that positions of one total are independent
        stops = np.cumsum(np.bincount(totals))
        line_of = [_lines(coordinates, np.array(line), shape) for line in self.lines]
        met = [np.zeros((int(lines.max()) + 1, words), dtype=np.uint64) for lines in line_of]
        after = np.bitwise_xor.reduce(coordinates, axis=0) if self.has_pass else None
        values = np.zeros(prod(shape), dtype=np.int64)
        start = 0
        for total, stop in enumerate(stops.tolist()):
            here = order[start:stop]
            known = np.bitwise_or.reduce([table[lines[here]] for table, lines in zip(met, line_of, strict=True)])
            if after is not None and total:
                _add(known, np.arange(len(here)), after[here])
            values[here] = mex(known.T)
            for table, lines in zip(met, line_of, strict=True):
                _add(table, lines[here], values[here])
            progress("position", stop, len(values))
            start = stop
        return values.reshape(shape)


def Nim(piles: IntLike, largest: IntLike) -> LineGame:
    """Nim with piles of at most `largest` counters.

    >>> list(Nim(2, 3).options((1, 2)))
    [(0, 2), (1, 1), (1, 0)]
    """
    return LineGame(integer("piles", piles, 1, MAX_COORDINATES), integer("largest", largest, 0), unit_lines(piles))


def Wythoff(largest: IntLike) -> LineGame:
    """Wythoff's game: take from one of two piles, or equally many from both.

    >>> list(Wythoff(3).options((1, 2)))
    [(0, 2), (1, 1), (1, 0), (0, 1)]
    """
    return LineGame(2, integer("largest", largest, 0), (*unit_lines(2), (1, 1)))


def unit_lines(piles: IntLike) -> tuple[Vector, ...]:
    """The lines of Nim, one per pile.

    >>> unit_lines(2)
    ((1, 0), (0, 1))
    """
    piles = integer("piles", piles, 1, MAX_COORDINATES)
    return tuple(tuple(int(i == j) for j in range(piles)) for i in range(piles))


def NimWithPass(piles: IntLike, largest: IntLike) -> LineGame:
    """Nim with a pass. With three piles no formula is known: Morrison, Friedman and Landsberg, Combinatorial games with a pass,
    Chaos 22 (2012).

    >>> list(NimWithPass(1, 2).options((1, 1))), list(NimWithPass(1, 2).options((0, 1)))
    ([(0, 1), (1, 0)], [])
    """
    return replace(Nim(piles, largest), has_pass=True)


def _lines(coordinates: NDArray[np.int64], line: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.intp]:
    """Return the number of each position's line in one direction, which is identified by its entry point into the box."""
    steps = coordinates[line == 1].min(axis=0)
    entry = np.ravel_multi_index(tuple(coordinates - steps * line[:, None]), shape)
    return np.asarray(np.cumsum(np.bincount(entry, minlength=len(entry)) > 0)[entry] - 1, dtype=np.intp)


def _add(sets: U64, rows: NDArray[np.intp], values: NDArray[np.int64]) -> None:
    word, bit = bit_of(values)
    sets[rows, word] |= bit
