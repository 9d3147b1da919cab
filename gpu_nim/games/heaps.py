"""Heap games by mex: Grundy values of single heaps, and periods that are proved.

By the Sprague-Grundy theorem the Grundy value of several heaps is the nim-sum of theirs, so one sequence tells a heap
game.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arguments import Whole, integer, integers, shown
from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import host_memory, require_memory

Ints = NDArray[np.int64]
_LARGEST = 2**62
_HEAP_BYTES = 64  # of a heap: its value, and what is found out of it


class HeapRule(Protocol):
    """What a move does to a heap of n counters."""

    def reached(self, values: Ints, n: int) -> Ints:
        """The Grundy values of the options of a heap of n, from those of the smaller heaps, values[:n]; repetitions
        allowed.
        """

    def proof_length(self, preperiod: int, period: int) -> int:
        """How many values must be known for a period, seen from `preperiod` up to there, to go on for ever."""


@dataclass(frozen=True)
class OctalCode:
    """The rule d0.d1d2d3...: taking i counters from a heap may leave no heap, one, two as bits 1, 2, 4 of digit d_i
    say.

    Digit d0 is 0 or 4; 4 allows a heap to be divided in two without taking. Kayles is "0.77", Dawson's Kayles "0.07".
    Raises UsageError for anything else.

    >>> list(OctalCode("0.77").options(3))
    [(2,), (1, 1), (1,)]
    """

    code: str
    digits: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        head, point, tail = self.code.partition(".") if isinstance(self.code, str) else ("", "", "")
        if head not in ("", "0", "4") or not point or not tail or set(tail) - set("01234567"):
            raise UsageError(f"code: expected an octal code such as 0.77 or 4.007, got {shown(self.code)}")
        object.__setattr__(self, "digits", (int(head or 0), *map(int, tail)))

    def options(self, heap: int) -> Iterator[tuple[int, ...]]:
        """The heaps that one move on a heap of that size leaves."""
        for take, digit in enumerate(self.digits[: heap + 1]):
            left = heap - take
            if digit & 1 and left == 0 and take:
                yield ()
            if digit & 2 and left > 0 and take:
                yield (left,)
            if digit & 4:
                yield from ((small, left - small) for small in range(1, left // 2 + 1))

    def reached(self, values: Ints, n: int) -> Ints:
        """The Grundy values of the options of a heap of n."""
        found = [np.empty(0, dtype=np.int64)]
        for take, digit in enumerate(self.digits[: n + 1]):
            left = n - take
            if digit & 1 and left == 0 and take:
                found.append(np.zeros(1, dtype=np.int64))
            if digit & 2 and left > 0 and take:
                found.append(values[left : left + 1])
            if digit & 4 and left > 1:
                small = np.arange(1, left // 2 + 1)
                found.append(values[small] ^ values[left - small])
        return np.concatenate(found)

    def proof_length(self, preperiod: int, period: int) -> int:
        """Guy and Smith: G(n + p) = G(n) for n0 <= n < 2 n0 + p + t, t the largest number taken, proves it for all n >=
        n0.
        """
        return 2 * preperiod + 2 * period + len(self.digits) - 1


@dataclass(frozen=True)
class SubtractionRule:
    """Take one of the numbers in `subtract` from a heap.

    >>> grundy_values(SubtractionRule((1, 3, 4)), 9).tolist()
    [0, 1, 0, 1, 2, 3, 2, 0, 1]
    """

    subtract: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "subtract", integers("subtract", self.subtract))
        if not self.subtract or min(self.subtract) < 1 or max(self.subtract) > _LARGEST:
            raise UsageError(f"subtract: expected positive integers, got {shown(self.subtract)}")

    def reached(self, values: Ints, n: int) -> Ints:
        """The Grundy values of the options of a heap of n."""
        return values[[n - take for take in self.subtract if take <= n]]

    def proof_length(self, preperiod: int, period: int) -> int:
        """A value depends on the max(subtract) values before it: so many equal ones in a row repeat for ever."""
        return preperiod + period + max(self.subtract)


@dataclass(frozen=True)
class Period:
    """G(n + length) = G(n) for all n >= preperiod: proved, not just seen."""

    preperiod: int
    length: int


def grundy_values(rule: HeapRule, count: Whole) -> Ints:
    """The Grundy values of the heaps of 0 to count - 1 counters, int64 (count,).

    >>> grundy_values(OctalCode("0.77"), 12).tolist()
    [0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6]
    """
    count = integer("count", count, 0, _LARGEST)
    require_memory(_HEAP_BYTES * count, host_memory(), "Grundy values of heaps")
    values = np.zeros(count, dtype=np.int64)
    for n in range(count):
        reached = rule.reached(values, n)
        found = np.zeros(int(reached.max(initial=-1)) + 2, dtype=np.bool_)
        found[reached] = True
        values[n] = found.argmin()
    return values


def find_period(rule: HeapRule, values: Sequence[int] | Ints) -> Period | None:
    """The least period of the rule's Grundy values that the given ones prove, with its least preperiod; None if they
    prove none.

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
