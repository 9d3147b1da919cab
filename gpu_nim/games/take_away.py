"""Octal and subtraction games, as rules for single heaps and as games of several heaps.

The rules are for `gpu_nim.games.heaps`, which solves single heaps; the game is for `gpu_nim.games.game_graph.evolve`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from gpu_nim.games.heaps import HeapRule
from gpu_nim.games.limits import MAX_SIZE
from gpu_nim.model.arguments import integer, integers, shown
from gpu_nim.model.errors import UsageError
from gpu_nim.model.limbs import Ints

Heaps = tuple[int, ...]


@dataclass(frozen=True)
class OctalCode:
    """The rule d0.d1d2d3...: bits 1, 2, 4 of digit d_i allow taking i counters to leave no heap, one heap, two heaps.

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
            raise UsageError(f"code must be an octal code such as 0.77 or 4.007, got {shown(self.code)}")
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

    def describe(self) -> str:
        """The code."""
        return self.code

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
        """Guy and Smith: G(n + p) = G(n) for n0 <= n < 2 n0 + p + t, t the largest number taken, proves it for all n >= n0."""
        return 2 * preperiod + 2 * period + len(self.digits) - 1


@dataclass(frozen=True)
class SubtractionRule:
    """Take one of the numbers in `take` from a heap.

    >>> from gpu_nim.games.heaps import grundy_values
    >>> grundy_values(SubtractionRule((1, 3, 4)), 9).tolist()
    [0, 1, 0, 1, 2, 3, 2, 0, 1]
    """

    take: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "take", integers("take", self.take))
        if not self.take or min(self.take) < 1 or max(self.take) > MAX_SIZE:
            raise UsageError(f"take must be positive integers, got {shown(self.take)}")

    def options(self, heap: int) -> Iterator[tuple[int, ...]]:
        """The heaps that one move on a heap of that size leaves."""
        return ((heap - take,) if take < heap else () for take in self.take if take <= heap)

    def describe(self) -> str:
        """The numbers that may be taken."""
        return ", ".join(map(str, self.take))

    def reached(self, values: Ints, n: int) -> Ints:
        """The Grundy values of the options of a heap of n."""
        return values[[n - take for take in self.take if take <= n]]

    def proof_length(self, preperiod: int, period: int) -> int:
        """A value depends on the max(take) values before it, so that a repetition of that length proves the period."""
        return preperiod + period + max(self.take)


@dataclass(frozen=True)
class HeapGame:
    """Sums of heaps of at most `largest` counters in all, played by a rule for single heaps.

    A position is the tuple of its heaps, none empty, in increasing order.

    >>> sorted(HeapGame(OctalCode("0.77"), 4).options((3,)))
    [(1,), (1, 1), (2,)]
    """

    rule: HeapRule
    largest: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "largest", integer("largest", self.largest, 0))

    def positions(self) -> Iterator[Heaps]:
        """Every position: the partitions of 0 to `largest`."""
        stack: list[tuple[Heaps, int, int]] = [((), 1, self.largest)]
        while stack:
            heaps, least, room = stack.pop()
            yield heaps
            stack.extend(((*heaps, heap), heap, room - heap) for heap in range(least, room + 1))

    def options(self, position: Heaps) -> set[Heaps]:
        """The positions after one move."""
        found: set[Heaps] = set()
        for at, heap in enumerate(position):
            others = position[:at] + position[at + 1 :]
            found.update(tuple(sorted((*others, *left))) for left in self.rule.options(heap))
        return found


def partitions_up_to(counters: int) -> int:
    """The number of positions of a `HeapGame`: the partitions of 0, 1, ..., `counters`, together.

    >>> [partitions_up_to(n) for n in (0, 4, 100)]
    [1, 12, 1642992568]
    """
    found = [1] + [0] * counters
    for part in range(1, counters + 1):
        for total in range(part, counters + 1):
            found[total] += found[total - part]
    return sum(found)
