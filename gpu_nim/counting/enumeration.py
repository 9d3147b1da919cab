"""Counting P-positions by enumeration: every (k-1)-tuple and its nim-sum, for all totals or all largest piles at once.

This verifies the formulas exhaustively within its range. It uses only Bouton's theorem: the last pile of a P-position is the
nim-sum of the others [NF, Corollary 5].
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.host_counting import HostCounting
from gpu_nim.counting.family import Family
from gpu_nim.model.errors import UsageError, VerificationError
from gpu_nim.model.process import host_memory, require_memory

_BYTES_A_VALUE = 80  # of a few counts at once, and of Python's numbers to compare
_BYTES_A_CHUNK = 150


@dataclass(frozen=True)
class Enumeration:
    """The enumeration of D_k(0..limit), or d_k(0..limit), or their partial sums A_k and a_k.

    >>> from gpu_nim.backends.host_counting import HostCounting
    >>> from gpu_nim.counting.families import ByTotal
    >>> trial = Enumeration(ByTotal(3), 7, HostCounting())
    >>> trial.tuples, trial.combine([trial.do(chunk) for chunk in trial.chunks()]).tolist()
    (64, [1, 3, 3, 9, 3, 9, 9, 27])
    """

    family: Family
    limit: int
    engine: HostCounting

    def __post_init__(self) -> None:
        if self.family.enumerated_by is None:
            raise UsageError(f"{self.family} is no count of P-positions by total or by largest pile: it cannot be enumerated")
        if self.tuples >= 1 << 63:
            raise UsageError(f"enumerating {self.family} to {self.limit} checks {self.tuples:.1e} tuples: give a smaller range")

    @property
    def tuples(self) -> int:
        """The number of tuples."""
        return int((self.limit + 1) ** (self.family.piles - 1))

    def chunks(self) -> list[tuple[int, int]]:
        """The tuples by their first entry, in chunks (first, stop) of a second or so; InsufficientMemoryError for too many."""
        if self.family.piles == 1:
            return [(0, 1)]
        step = max(1, min(self.limit + 1, self.engine.chunk_size(1) * (self.limit + 1) // self.tuples))
        needed = _BYTES_A_VALUE * (self.limit + 1) + _BYTES_A_CHUNK * -(-(self.limit + 1) // step)
        require_memory(needed, host_memory(), f"trying {self.tuples:,} tuples", "a smaller range takes less")
        return [(first, min(first + step, self.limit + 1)) for first in range(0, self.limit + 1, step)]

    def do(self, chunk: tuple[int, int]) -> NDArray[np.int64]:
        """The counts of one chunk of tuples; shape (limit + 1,)."""
        attempt = self.engine.try_totals if self.family.enumerated_by == "total" else self.engine.try_maxima
        return attempt(self.family.piles, self.limit, *chunk)

    def add(self, parts: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Add up the chunks; partial sums for families that are cumulative. Shape (limit + 1,)."""
        counted: NDArray[np.int64] = sum(parts, np.zeros(self.limit + 1, np.int64))
        return np.cumsum(counted) if self.family.cumulative else counted

    def combine(self, parts: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Add up the chunks; VerificationError where they differ from the formulas."""
        counted = self.add(parts)
        for n, value in enumerate(counted.tolist()):
            if value != self.family.value(n):
                raise VerificationError(
                    f"trying every tuple gives {self.family}({n}) = {value}, the formula {self.family.value(n)}"
                )
        return counted
