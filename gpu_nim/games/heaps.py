"""Heap games by mex: Grundy values of single heaps, and proved periods.

By the Sprague-Grundy theorem the Grundy value of several heaps is the nim-sum of theirs, so one sequence solves a heap game.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from gpu_nim.games.breaking import mex
from gpu_nim.games.game_graph import MAX_SIZE
from gpu_nim.model.arguments import Whole, integer, integers
from gpu_nim.model.arrays import Ints
from gpu_nim.model.memory import host_memory, require_memory

HEAP = ("n",)
"""The coordinates of a position: the size of its heap."""

_STAGES = (256, 1024, 4096)  # heaps that are solved before a period is looked for
_HEAP_BYTES = 64  # of a heap: its value, and what is found out of it
_TAIL = 64  # values that are compared first


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


@runtime_checkable
class BreakingRule(Protocol):
    """A `HeapRule` with a faster way to its values, and with proofs of arithmetic periods."""

    def extended(self, known: Ints, count: int) -> Ints:
        """The Grundy values of the heaps of 0 to count - 1 counters, from the first of them."""

    def has_arithmetic_period(self, values: Ints, preperiod: int, period: int, saltus: int) -> bool:
        """Whether the values, which repeat so from `preperiod` on, prove it for all heaps."""


@dataclass(frozen=True)
class Period:
    """G(n + length) = G(n) + saltus for all n >= preperiod; with a saltus above 0, an arithmetic period."""

    preperiod: int
    length: int
    saltus: int = 0

    def __str__(self) -> str:
        kind = f"arithmetic, {self.length} with saltus {self.saltus}" if self.saltus else str(self.length)
        return f"{kind}, from {self.preperiod} on"


def grundy_values(rule: HeapRule, count: Whole) -> Ints:
    """The Grundy values of the heaps of 0 to count - 1 counters, int64 (count,), from the options of each.

    >>> from gpu_nim.games.take_away import OctalCode
    >>> grundy_values(OctalCode("0.77"), 12).tolist()
    [0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6]
    """
    count = integer("count", count, 0, MAX_SIZE)
    require_memory(_HEAP_BYTES * count, host_memory(), "a table of Grundy values of heaps")
    return _from_options(rule, np.empty(0, dtype=np.int64), count)


def find_period(rule: HeapRule, values: Sequence[int] | Ints) -> Period | None:
    """The least period of the rule's Grundy values that the given ones prove, with its least preperiod, or None.

    >>> from gpu_nim.games.take_away import OctalCode
    >>> find_period(OctalCode("0.77"), grundy_values(OctalCode("0.77"), 200))
    Period(preperiod=71, length=12, saltus=0)
    >>> find_period(OctalCode("0.8"), grundy_values(OctalCode("0.8"), 60))
    Period(preperiod=1, length=3, saltus=1)
    """
    whole = isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind == "i"
    array = np.asarray(values if whole else integers("values", values), np.int64)
    for length in range(1, len(array)):
        least = rule.proof_length(0, length)
        if least > len(array):
            break
        # A mismatch that late leaves nothing to prove a period with.
        saltus = _saltus_of_the_last(array, length, max(1, min(_TAIL, least - length - 1)))
        if saltus is None or (saltus and not isinstance(rule, BreakingRule)):
            continue
        preperiod = repeated_from(array, length, saltus)
        if rule.proof_length(preperiod, length) > len(array):
            continue
        if not saltus or (isinstance(rule, BreakingRule) and rule.has_arithmetic_period(array, preperiod, length, saltus)):
            return Period(preperiod, length, saltus)
    return None


def apparent_period(values: Ints) -> Period | None:
    """The least period that at least two thirds of the values have, proved or not, or None.

    >>> from gpu_nim.games.take_away import OctalCode
    >>> apparent_period(grundy_values(OctalCode("0.3F"), 60))  # Kenyon's game
    Period(preperiod=0, length=6, saltus=3)
    """
    for length in range(1, len(values) // 3):
        saltus = _saltus_of_the_last(values, length, min(_TAIL, len(values) // 3))
        if saltus is not None and (preperiod := repeated_from(values, length, saltus)) <= len(values) // 3:
            return Period(preperiod, length, saltus)
    return None


def _saltus_of_the_last(values: Ints, length: int, count: int) -> int | None:
    """The number, 0 or more, by which each of the last `count` values exceeds the one `length` before; None where there is none."""
    saltus = int(values[-1] - values[-1 - length])
    return saltus if saltus >= 0 and np.array_equal(values[-count:], values[-count - length : -length] + saltus) else None


def repeated_from(values: Ints, length: int, saltus: int) -> int:
    """The least n0 with G(n + length) = G(n) + saltus for all n >= n0 with values of both.

    >>> repeated_from(np.array([5, 1, 2, 3, 4, 5, 6]), 2, 2)
    1
    """
    differ = np.flatnonzero(values[length:] != values[:-length] + saltus)
    return int(differ[-1]) + 1 if len(differ) else 0


def extended_values(rule: HeapRule, count: Whole) -> tuple[Ints, Period | None]:
    """The Grundy values of the heaps of 0 to count - 1 counters, and the period that they prove, if any.

    Where the first 256, 1024 or 4096 values prove one, the others are computed from it.

    >>> from gpu_nim.games.take_away import OctalCode
    >>> values, period = extended_values(OctalCode("0.77"), 10**6)
    >>> int(values[-1]), period
    (8, Period(preperiod=71, length=12, saltus=0))
    """
    count = integer("count", count, 0, MAX_SIZE)
    require_memory(_HEAP_BYTES * count, host_memory(), "a table of Grundy values of heaps")
    values = np.empty(0, dtype=np.int64)
    for upto in (*(stage for stage in _STAGES if stage < count), count):
        values = rule.extended(values, upto) if isinstance(rule, BreakingRule) else _from_options(rule, values, upto)
        period = find_period(rule, values)
        if period is not None:
            n = np.arange(count)
            periods, place = np.divmod(np.maximum(n - period.preperiod, 0), period.length)
            return values[np.where(n < period.preperiod, n, period.preperiod + place)] + period.saltus * periods, period
    return values, None


def _from_options(rule: HeapRule, known: Ints, count: int) -> Ints:
    values = np.zeros(count, dtype=np.int64)
    values[: len(known)] = known
    for n in range(len(known), count):
        values[n] = mex(rule.reached(values, n))
    return values
