"""Heap games by mex: Grundy values of single heaps, and proved periods.

By the Sprague-Grundy theorem the Grundy value of several heaps is the nim-sum of theirs, so one sequence solves a heap game.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gpu_nim.games.limits import MAX_SIZE
from gpu_nim.model.arguments import Whole, integer, integers
from gpu_nim.model.limbs import Ints
from gpu_nim.model.memory import host_memory, require_memory

HEAP = ("n",)
"""The coordinates of a position: the size of its heap."""

_FIRST_HEAPS = 4096  # heaps that are solved before a period is looked for
_HEAP_BYTES = 64  # of a heap: its value, and what is found out of it


class HeapRule(Protocol):
    """The moves from a heap of n counters."""

    def options(self, heap: int) -> Iterable[tuple[int, ...]]:
        """The heaps that one move on a heap of that size leaves, none of them empty."""

    def reached(self, values: Ints, n: int) -> Ints:
        """The Grundy values of the options of a heap of n, from those of the smaller heaps, values[:n]; repetitions allowed."""

    def describe(self) -> str:
        """The rule's parameters in words."""

    def proof_length(self, preperiod: int, period: int) -> int:
        """How many values must have a period, from `preperiod` on, to prove it for all values."""


@dataclass(frozen=True)
class Period:
    """G(n + length) = G(n) for all n >= preperiod, proved."""

    preperiod: int
    length: int


def grundy_values(rule: HeapRule, count: Whole) -> Ints:
    """The Grundy values of the heaps of 0 to count - 1 counters, int64 (count,).

    >>> from gpu_nim.games.take_away import OctalCode
    >>> grundy_values(OctalCode("0.77"), 12).tolist()
    [0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6]
    """
    count = integer("count", count, 0, MAX_SIZE)
    require_memory(_HEAP_BYTES * count, host_memory(), "Grundy values of heaps")
    values = np.zeros(count, dtype=np.int64)
    for n in range(count):
        reached = rule.reached(values, n)
        found = np.zeros(int(reached.max(initial=-1)) + 2, dtype=np.bool_)
        found[reached] = True
        values[n] = found.argmin()
    return values


def find_period(rule: HeapRule, values: Sequence[int] | Ints) -> Period | None:
    """The least period of the rule's Grundy values that the given ones prove, with its least preperiod, or None.

    >>> from gpu_nim.games.take_away import OctalCode
    >>> find_period(OctalCode("0.77"), grundy_values(OctalCode("0.77"), 200))
    Period(preperiod=71, length=12)
    """
    whole = isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind == "i"
    array = np.asarray(values if whole else integers("values", values), np.int64)
    for length in range(1, len(array)):
        if rule.proof_length(0, length) > len(array):
            break
        if array[-1] != array[-1 - length]:  # a mismatch that late leaves nothing to prove a period with
            continue
        differ = np.flatnonzero(array[length:] != array[:-length])
        preperiod = int(differ[-1]) + 1 if len(differ) else 0
        if rule.proof_length(preperiod, length) <= len(array):
            return Period(preperiod, length)
    return None


def extended_values(rule: HeapRule, count: Whole) -> tuple[Ints, Period | None]:
    """The Grundy values of the heaps of 0 to count - 1 counters, and the period that they prove, if any.

    Where the first 4096 values prove one, the others are computed from it.

    >>> from gpu_nim.games.take_away import OctalCode
    >>> values, period = extended_values(OctalCode("0.77"), 10**6)
    >>> int(values[-1]), period
    (8, Period(preperiod=71, length=12))
    """
    count = integer("count", count, 0, MAX_SIZE)
    values = grundy_values(rule, min(count, _FIRST_HEAPS))
    period = find_period(rule, values)
    if period is not None:
        n = np.arange(count)
        return values[np.where(n < period.preperiod, n, period.preperiod + (n - period.preperiod) % period.length)], period
    if len(values) < count:
        values = grundy_values(rule, count)
        period = find_period(rule, values)
    return values, period
