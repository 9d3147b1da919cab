"""Heap games: octal, hexadecimal and subtraction games and Grundy's game, Grundy values of single heaps, and proved periods.

By the Sprague-Grundy theorem the Grundy value of several heaps is the nim-sum of theirs, so one sequence solves a heap game.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain, cycle, islice
from operator import or_, xor

import numpy as np

from gpu_nim.games.breaking import ONE, THREE, TWO, extended, is_proved
from gpu_nim.games.game_graph import MAX_SIZE, Vector, mex
from gpu_nim.model.arguments import IntLike, integer, integers, parse_integers, short_repr
from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import UsageError
from gpu_nim.model.shown import Shown
from gpu_nim.model.work import host_memory, require_memory

#: The coordinates of a position: the size of its heap.
HEAP = ("n",)

_STAGES = (256, 1024, 4096)  # heaps that are solved before a period is looked for
_HEAP_BYTES = 48  # of a heap: its value, and what is found out of it
_TAIL = 64  # values that are compared first
_PLAIN = 256  # heaps without sparse space, from which its mask is chosen
_MOST_BUT = 1 << 16  # of what may not be taken
_CODE = re.compile(r"([048C]?)\.(?=.)([0-9A-F]*)(?:\[([0-9A-F]+)\])?|([48C])", re.ASCII | re.IGNORECASE)  # 4 is 4.0


class HeapRule(Shown, ABC):
    """The moves from a heap of n counters. User-defined rules implement `options`, and `proof_length` to prove periods.

    >>> class TakeOneOrHalve(HeapRule):
    ...     def options(self, heap):
    ...         takes = [(heap - 1,) if heap > 1 else ()] if heap else []
    ...         return takes + [(heap // 2, heap // 2)] * (heap > 0 and heap % 2 == 0)
    ...     def proof_length(self, preperiod, period):
    ...         return 2 * (preperiod + period) + 2
    >>> extended_values(TakeOneOrHalve(), 8)[0].tolist()
    [0, 1, 2, 0, 1, 0, 1, 0]
    """

    @abstractmethod
    def options(self, heap: int) -> Iterable[tuple[int, ...]]:
        """The heaps that one move on a heap of that size leaves, none of them empty."""

    def proof_length(self, preperiod: int, period: int) -> int:
        """How many values must have a period, from `preperiod` on, to prove it for all values: by default more than there are."""
        return MAX_SIZE + 2

    def describe(self) -> str:
        """The parameters of the rule as text."""
        return ""

    def extended(self, known: Ints, count: int) -> Ints:
        """The Grundy values of the heaps of 0 to count - 1 counters, int64 (count,), from the first of them, by all options."""
        values = known[:count].tolist()
        for n in range(len(values), count):
            reached = {reduce(xor, [values[heap] for heap in left], 0) for left in self.options(n)}
            values.append(mex(reached))
        return np.array(values, dtype=np.int64)

    def has_arithmetic_period(self, values: Ints, preperiod: int, period: int, saltus: int) -> bool:
        """Whether values with this arithmetic period from `preperiod` on, of a saltus above 0, prove it for all heaps."""
        return False


@dataclass(frozen=True, repr=False)
class Period(Shown):
    """G(n + length) = G(n) + saltus for all n >= preperiod; with a saltus above 0, an arithmetic period."""

    preperiod: int
    length: int
    saltus: int = 0

    def of(self, values: Ints, heaps: Ints) -> Ints:
        """The values of heaps below 2^62, by the first values."""
        periods, offset = np.divmod(np.maximum(heaps - self.preperiod, 0), self.length)
        return np.asarray(values[np.minimum(heaps, self.preperiod + offset)] + self.saltus * periods)

    def __str__(self) -> str:
        kind = f"arithmetic, {self.length} with saltus {self.saltus}" if self.saltus else str(self.length)
        return f"{kind}, from {self.preperiod} on"


def grundy_values(rule: HeapRule, count: IntLike) -> Ints:
    """The Grundy values of the heaps of 0 to count - 1 counters, int64 (count,), from the options of each.

    >>> grundy_values(OctalCode("0.77"), 12).tolist()
    [0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6]
    """
    count = _required(count)
    return HeapRule.extended(rule, np.empty(0, dtype=np.int64), count)


def _required(count: IntLike) -> int:
    count = integer("count", count, 0, MAX_SIZE + 1)
    require_memory(_HEAP_BYTES * count, host_memory(), f"a table of the Grundy values of heaps to {count - 1:,}")
    return count


def find_period(rule: HeapRule, values: Ints) -> Period | None:
    """The least period of the rule's Grundy values that the given ones prove, with its least preperiod, or None.

    >>> find_period(OctalCode("0.77"), grundy_values(OctalCode("0.77"), 200))
    Period(preperiod=71, length=12)
    >>> find_period(OctalCode("0.8"), grundy_values(OctalCode("0.8"), 60))
    Period(preperiod=1, length=3, saltus=1)
    """
    for length in range(1, len(values)):
        least = rule.proof_length(0, length)
        if least > len(values):
            break
        # A mismatch that late leaves nothing to prove a period with.
        saltus = _saltus_of_the_last(values, length, max(1, min(_TAIL, least - length - 1)))
        if saltus is None:
            continue
        preperiod = repeated_from(values, length, saltus)
        if rule.proof_length(preperiod, length) > len(values):
            continue
        if not saltus or rule.has_arithmetic_period(values, preperiod, length, saltus):
            return Period(preperiod, length, saltus)
    return None


def apparent_period(values: Ints) -> Period | None:
    """The least period that at least two thirds of the values have, proved or not, or None.

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


def first_values(rule: HeapRule, count: int) -> tuple[Ints, Period | None]:
    """The Grundy values of the heaps of 0 to count - 1 counters; or the first 256, 1024 or 4096, if they prove a period, and that.

    >>> values, period = first_values(OctalCode("0.77"), 10**18)
    >>> len(values), period.of(values, np.array([10**18])).tolist()
    (256, [1])
    """
    values = np.empty(0, dtype=np.int64)
    for upto in (*(stage for stage in _STAGES if stage < count), count):
        values = rule.extended(values, _required(upto))
        period = find_period(rule, values)
        if period is not None:
            return values, period
    return values, None


def extended_values(rule: HeapRule, count: IntLike) -> tuple[Ints, Period | None]:
    """The Grundy values of the heaps of 0 to count - 1 counters, and the period that they prove, if any.

    Where the first 256, 1024 or 4096 values prove one, the others are computed from it.

    >>> values, period = extended_values(OctalCode("0.77"), 10**6)
    >>> int(values[-1]), period
    (8, Period(preperiod=71, length=12))
    """
    count = _required(count)
    values, period = first_values(rule, count)
    return (values if period is None else period.of(values, np.arange(count))), period


class TakeAndBreak(HeapRule):
    """A rule by digits: bits 0 to 3 of digit i allow a move that takes i counters to leave no heap, one, two or three heaps.

    Attributes:
        digits: the digits, from 0 counters on.
        unequal: whether two heaps that a move leaves must differ.
        repeated: digits that follow these again and again.
    """

    digits: tuple[int, ...]
    unequal: bool
    repeated: tuple[int, ...] = ()

    def _below(self, count: int) -> Iterator[int]:
        """The digits of less than `count` counters."""
        yield from islice(chain(self.digits, cycle(self.repeated)), count)

    def options(self, heap: int) -> Iterator[tuple[int, ...]]:
        """The heaps that one move on a heap of that size leaves."""
        for take, digit in enumerate(self._below(heap + 1)):
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

    def extended(self, known: Ints, count: int) -> Ints:
        """The Grundy values of the heaps of 0 to count - 1 counters, from the first of them; see `gpu_nim.games.breaking`."""
        bits = reduce(or_, self.digits + self.repeated)
        if not bits & THREE:
            known = super().extended(known, min(count, max(len(known), _PLAIN)) if bits & TWO else count)
        return extended([*self._below(count)], self.unequal, known, count)

    def has_arithmetic_period(self, values: Ints, preperiod: int, period: int, saltus: int) -> bool:
        """Whether the values prove an arithmetic period; see `gpu_nim.games.breaking`, and for repeated digits `proof_length`."""
        if not self.repeated:
            return is_proved(self.digits, values, preperiod, period, saltus)
        reached = values[: len(values) - len(self.digits) + 1]
        return np.array_equal(np.unique(reached), np.union1d(np.arange(saltus), reached[:-period] + saltus))

    def proof_length(self, preperiod: int, period: int) -> int:
        """How many values must have a period, from n0 on, to prove it: k (n0 + p) + t, where a move leaves up to k heaps.

        This is Guy and Smith's theorem for k = 2. With at most t counters taken, an option of n >= k (n0 + p) + t leaves more than
        k (n0 + p - 1) counters, so that some heap of it has at least n0 + p. With p counters less in that heap it is an option of
        n - p, of the same value; with p more, an option of n - p is one of n. For this n0 must be at least 1: no heap may vanish.

        Heaps that must differ may become equal so, or equal ones unequal, which matters to the value 0 alone. If n and p are both
        even or both odd, (n - p) / 2 and (n + p) / 2 have that value; if only n is even, n / 2 - p and n / 2 + p; if only p is, no
        heaps are equal. The same holds for n - p, whose smaller heap n0 + p more values keep at n0 or above.

        Where no heap is divided and every number above t may be taken, let A(n) be the set of G(0), ..., G(n - t - 1). If the t
        values before G(N) and G(N + p) differ by s, and A(N + p) is A(N) + s with 0 to s - 1, then G(N + p) = G(N) + s by the mex
        rule, and both hold for N + 1. Here N + p is the number of values, N > t. Heaps of one value are at most t apart: s is no 0.
        """
        if self.repeated:
            proved = {*self.repeated} == {3} and max(self.digits) <= 3
            return preperiod + period + len(self.digits) if proved else super().proof_length(preperiod, period)
        heaps = 3 if any(digit & THREE for digit in self.digits) else 2
        return (heaps + self.unequal) * (max(1, preperiod) + period) + len(self.digits) - 1


@dataclass(frozen=True, repr=False)
class OctalCode(TakeAndBreak):
    """The rule d0.d1d2d3...: bits 1, 2, 4, 8 of digit d_i allow taking i counters to leave no heap, one, two, three heaps.

    Digits are octal, or hexadecimal (A to F are 10 to 15), where heaps may be left as three. Digit d0 is 0, 4, 8 or C, which allow
    a heap to be divided without taking. Kayles is "0.77", Dawson's Kayles "0.07", Kenyon's game "0.3F". Raises UsageError for
    anything else. Digits in brackets at the end are repeated: Nim is "0.[3]".

    >>> list(OctalCode("0.77").options(3)), list(OctalCode("0.08").options(5))
    ([(2,), (1, 1), (1,)], [(1, 1, 1)])
    """

    code: str
    digits: tuple[int, ...] = field(init=False, repr=False)
    unequal: bool = field(default=False, init=False, repr=False)
    repeated: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        written = _CODE.fullmatch(self.code) if isinstance(self.code, str) else None
        if written is None:
            raise UsageError(
                f"code must be an octal code such as 0.77, or a hexadecimal code such as 0.3F or 8.08, got {short_repr(self.code)}"
            )
        head, *tails = written[1] or written[4] or "0", written[2] or "", written[3] or ""
        digits, repeated = (tuple(int(digit, 16) for digit in tail) for tail in tails)
        object.__setattr__(self, "digits", (int(head, 16), *digits))
        object.__setattr__(self, "repeated", repeated if any(repeated) else ())

    def describe(self) -> str:
        """The code."""
        return self.code


@dataclass(frozen=True, repr=False)
class GrundysGame(TakeAndBreak):
    """Divide a heap into two heaps of different sizes. No period of its values is known.

    >>> list(GrundysGame().options(7)), list(GrundysGame().options(2))
    ([(1, 6), (2, 5), (3, 4)], [])
    """

    digits: tuple[int, ...] = field(default=(TWO,), init=False, repr=False)
    unequal: bool = field(default=True, init=False, repr=False)


@dataclass(frozen=True, repr=False)
class SubtractionRule(HeapRule):
    """Take one of the numbers in `take` from a heap.

    >>> grundy_values(SubtractionRule((1, 3, 4)), 9).tolist()
    [0, 1, 0, 1, 2, 3, 2, 0, 1]
    """

    take: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "take", integers("take", self.take))
        if not self.take or min(self.take) < 1 or max(self.take) > MAX_SIZE:
            raise UsageError(f"take must be positive integers, got {short_repr(self.take)}")

    def options(self, heap: int) -> Iterator[tuple[int, ...]]:
        """The heaps that one move on a heap of that size leaves."""
        return ((heap - take,) if take < heap else () for take in self.take if take <= heap)

    def describe(self) -> str:
        """The numbers that may be taken."""
        return ", ".join(map(str, self.take))

    def proof_length(self, preperiod: int, period: int) -> int:
        """A value depends on the max(take) values before it, so that a repetition of that length proves the period."""
        return preperiod + period + max(self.take)


@dataclass(frozen=True, repr=False)
class AllBut(TakeAndBreak):
    """Take any number of counters from a heap but those of a subtraction rule.

    >>> extended_values(AllBut(SubtractionRule((2, 3))), 12)
    (array([0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5]), Period(preperiod=0, length=4, saltus=2))
    """

    rule: SubtractionRule
    digits: tuple[int, ...] = field(init=False, repr=False)
    unequal, repeated = False, (3,)

    def __post_init__(self) -> None:
        most = integer("take", max(self.rule.take), 1, _MOST_BUT)
        object.__setattr__(self, "digits", (0, *(3 * (take not in self.rule.take) for take in range(1, most + 1))))

    def describe(self) -> str:
        """The numbers that may not be taken."""
        return f"all but {self.rule.describe()}"

    __str__ = describe


def parse_takes(text: str) -> tuple[int, ...] | AllBut:
    """Return integers such as 1,2,3 or 1-3, or the rule of all but these; ValueError where the text names none.

    >>> parse_takes("1-3"), str(parse_takes("all but 2,3"))
    ((1, 2, 3), 'all but 2, 3')
    """
    takes = parse_integers(text.removeprefix("all but "))
    return AllBut(SubtractionRule(takes)) if text.startswith("all but ") else takes


def partitions(counters: int) -> Iterator[Vector]:
    """The partitions of 0, 1, ..., `counters`: the positions of heaps of that many counters in all, each in increasing order.

    >>> sorted(partitions(2))
    [(), (1,), (1, 1), (2,)]
    """
    stack: list[tuple[Vector, int, int]] = [((), 1, counters)]
    while stack:
        heaps, least, room = stack.pop()
        yield heaps
        stack.extend(((*heaps, heap), heap, room - heap) for heap in range(least, room + 1))


def replaced(position: Vector, heap: int, left: Vector) -> Vector:
    """The position in which these heaps replace one.

    >>> replaced((1, 4, 4), 4, (2, 1))
    (1, 1, 2, 4)
    """
    at = position.index(heap)
    return tuple(sorted((*position[:at], *position[at + 1 :], *left)))


def partitions_up_to(counters: int) -> int:
    """The number of `partitions`, without listing them.

    >>> [partitions_up_to(n) for n in (0, 4, 100)]
    [1, 12, 1642992568]
    """
    found = [1] + [0] * counters
    for part in range(1, counters + 1):
        for total in range(part, counters + 1):
            found[total] += found[total - part]
    return sum(found)
