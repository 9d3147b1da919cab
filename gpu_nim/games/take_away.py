"""Octal, hexadecimal and subtraction games and Grundy's game, as rules for single heaps and as games of several heaps.

The rules are for `gpu_nim.games.heaps`, which solves single heaps; the game is for `gpu_nim.games.game_graph.evolve`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gpu_nim.games.arithmetic_periods import is_proved
from gpu_nim.games.breaking import ONE, THREE, TWO, extended, option_values
from gpu_nim.games.game_graph import MAX_SIZE
from gpu_nim.games.heaps import HeapRule
from gpu_nim.model.arguments import integer, integers, shown
from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import UsageError

Heaps = tuple[int, ...]

_DIGITS = "0123456789ABCDEFabcdef"


class TakeAndBreak:
    """A rule by digits: bits 0 to 3 of digit i allow a move that takes i counters to leave no heap, one, two or three heaps.

    Attributes:
        digits: the digits, from 0 counters on.
        unequal: whether two heaps that a move leaves must differ.
    """

    digits: tuple[int, ...]
    unequal: bool

    def options(self, heap: int) -> Iterator[tuple[int, ...]]:
        """The heaps that one move on a heap of that size leaves."""
        for take, digit in enumerate(self.digits[: heap + 1]):
            left = heap - take
            if digit & 1 and left == 0 and take:
                yield ()
            if digit & ONE and left > 0 and take:
                yield (left,)
            if digit & TWO:
                yield from ((small, left - small) for small in range(1, (left - self.unequal) // 2 + 1))
            if digit & THREE:
                for least in range(1, left // 3 + 1):
                    yield from ((least, small, left - least - small) for small in range(least, (left - least) // 2 + 1))

    def reached(self, values: Ints, n: int) -> Ints:
        """The Grundy values of the options of a heap of n."""
        return option_values(self.digits, self.unequal, values, n)

    def extended(self, known: Ints, count: int) -> Ints:
        """The Grundy values of the heaps of 0 to count - 1 counters, from the first of them; see `gpu_nim.games.breaking`."""
        return extended(self.digits, self.unequal, known, count)

    def has_arithmetic_period(self, values: Ints, preperiod: int, period: int, saltus: int) -> bool:
        """Whether the values prove an arithmetic period; see `gpu_nim.games.arithmetic_periods`."""
        return is_proved(self.digits, values, preperiod, period, saltus)

    def proof_length(self, preperiod: int, period: int) -> int:
        """How many values must have a period, from n0 on, to prove it: k (n0 + p) + t, where a move leaves up to k heaps.

        This is Guy and Smith's theorem for k = 2. With at most t counters taken, an option of n >= k (n0 + p) + t leaves more than
        k (n0 + p - 1) counters, so that some heap of it has at least n0 + p. With p counters less in that heap it is an option of
        n - p, of the same value; with p more, an option of n - p is one of n. For this n0 must be at least 1: no heap may vanish.

        Heaps that must differ may become equal so, or equal ones unequal, which matters to the value 0 alone. If n and p are both
        even or both odd, (n - p) / 2 and (n + p) / 2 have that value; if only n is even, n / 2 - p and n / 2 + p; if only p is, no
        heaps are equal. The same holds for n - p, whose smaller heap n0 + p more values keep at n0 or above.
        """
        heaps = 3 if any(digit & THREE for digit in self.digits) else 2
        return (heaps + self.unequal) * (max(1, preperiod) + period) + len(self.digits) - 1


@dataclass(frozen=True)
class OctalCode(TakeAndBreak):
    """The rule d0.d1d2d3...: bits 1, 2, 4, 8 of digit d_i allow taking i counters to leave no heap, one, two, three heaps.

    Digits are octal, or hexadecimal (A to F are 10 to 15), where heaps may be left as three. Digit d0 is 0, 4, 8 or C, which allow
    a heap to be divided without taking. Kayles is "0.77", Dawson's Kayles "0.07", Kenyon's game "0.3F". Raises UsageError for
    anything else.

    >>> list(OctalCode("0.77").options(3)), list(OctalCode("0.08").options(5))
    ([(2,), (1, 1), (1,)], [(1, 1, 1)])
    """

    code: str
    digits: tuple[int, ...] = field(init=False, repr=False)
    unequal: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        head, point, tail = self.code.partition(".") if isinstance(self.code, str) else ("", "", "")
        if head.upper() not in ("", "0", "4", "8", "C") or not point or not tail or set(tail) - set(_DIGITS):
            raise UsageError(
                f"code must be an octal code such as 0.77, or a hexadecimal code such as 0.3F or 8.08, got {shown(self.code)}"
            )
        object.__setattr__(self, "digits", (int(head or "0", 16), *(int(digit, 16) for digit in tail)))

    def describe(self) -> str:
        """The code."""
        return self.code


@dataclass(frozen=True)
class GrundysGame(TakeAndBreak):
    """Divide a heap into two heaps of different sizes. No period of its values is known.

    >>> list(GrundysGame().options(7)), list(GrundysGame().options(2))
    ([(1, 6), (2, 5), (3, 4)], [])
    """

    digits: tuple[int, ...] = field(default=(TWO,), init=False, repr=False)
    unequal: bool = field(default=True, init=False, repr=False)

    def describe(self) -> str:
        """The rule has no parameters."""
        return ""


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
        return {replaced(position, heap, left) for heap in set(position) for left in self.rule.options(heap)}


def replaced(position: Heaps, heap: int, left: Heaps) -> Heaps:
    """The position in which these heaps take the place of one.

    >>> replaced((1, 4, 4), 4, (2, 1))
    (1, 1, 2, 4)
    """
    at = position.index(heap)
    return tuple(sorted((*position[:at], *position[at + 1 :], *left)))


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
