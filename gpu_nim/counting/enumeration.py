"""Counting P-positions by trying: every (k-1)-tuple and its nim-sum, for all totals or all largest piles at once.

This is the proof by exhaustion that the formulas are right as far as it goes. It uses Bouton's theorem and nothing else:
the last pile of a P-position is the nim-sum of the others [NF, Corollary 5].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Counting
from gpu_nim.counting.families import Counts
from gpu_nim.model.errors import UsageError, VerificationError
from gpu_nim.model.memory import host_memory, require_memory

_BYTES_A_VALUE = 80  # of a few counts at once, and of Python's numbers to compare
_BYTES_A_PIECE = 150


@dataclass(frozen=True)
class Enumeration:
    """All of D_k(0..limit), or d_k(0..limit), or their partial sums A_k and a_k, to be counted by trying.

    >>> from gpu_nim.backends.numpy.counting import NumpyCounting
    >>> trial = Enumeration(Counts("D", 3), 7, NumpyCounting())
    >>> trial.tuples, trial.combine([trial.do(piece) for piece in trial.pieces()]).tolist()
    (64, [1, 3, 3, 9, 3, 9, 9, 27])
    """

    counts: Counts
    limit: int
    engine: Counting

    def __post_init__(self) -> None:
        if self.tuples >= 1 << 63:
            raise UsageError(f"trying all tuples of {self.counts} to {self.limit} means {self.tuples:.1e}: give a smaller range")

    @property
    def tuples(self) -> int:
        """How many tuples there are to try."""
        return int((self.limit + 1) ** (self.counts.piles - 1))

    def pieces(self) -> list[tuple[int, int]]:
        """The tuples by their first entry, in pieces (first, stop) of a second or so; InsufficientMemoryError for too many."""
        if self.counts.piles == 1:
            return [(0, 1)]
        step = max(1, min(self.limit + 1, self.engine.chunk_size(1) * (self.limit + 1) // self.tuples))
        needed = _BYTES_A_VALUE * (self.limit + 1) + _BYTES_A_PIECE * -(-(self.limit + 1) // step)
        require_memory(needed, host_memory(), f"trying {self.tuples:,} tuples", "a smaller range takes less")
        return [(first, min(first + step, self.limit + 1)) for first in range(0, self.limit + 1, step)]

    def do(self, piece: tuple[int, int]) -> NDArray[np.int64]:
        """Try the tuples of one piece; shape (limit + 1,)."""
        attempt = self.engine.try_totals if self.counts.by_total else self.engine.try_maxima
        return attempt(self.counts.piles, self.limit, *piece)

    def combine(self, parts: Iterator[NDArray[np.int64]] | list[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Add up the pieces; partial sums for A and a. VerificationError where the formulas say otherwise."""
        counted: NDArray[np.int64] = sum(parts, np.zeros(self.limit + 1, np.int64))
        if self.counts.cumulative:
            counted = np.cumsum(counted)
        for n, value in enumerate(counted.tolist()):
            if value != self.counts.value(n):
                raise VerificationError(
                    f"trying every tuple gives {self.counts}({n}) = {value}, the formula {self.counts.value(n)}"
                )
        return counted
