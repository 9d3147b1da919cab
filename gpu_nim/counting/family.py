"""Families of sequences: one sequence for each number of piles, with values, exact sums, exact extremes, and blocks.

A family derives from `Family`, from `DigitFamily` if its generating function is a product over binary digits, and also from
`Rising` if its values never fall. `gpu_nim.counting.families` is the catalogue.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import comb
from typing import ClassVar, Literal

from gpu_nim.counting.digit_matrices import DigitProduct, DigitVector, IndexBlocks, digit_blocks, dyadic_blocks
from gpu_nim.model.arguments import IntLike, integer, short_repr
from gpu_nim.model.errors import UsageError
from gpu_nim.model.shown import Shown
from gpu_nim.model.work import OnStep, no_progress

#: The most piles.
MAX_PILES = 1000
_MAX_NODES = 100_000  # blocks visited for a histogram before value by value is cheaper
_DIGITS_A_BIT = 0.30103
_COPIES, _ENTRIES = 5, 4  # bytes a decimal digit while a value is computed; entries of a state that take as much together
_EXACT_BOUND = 32  # entries of a state; beyond, the exact maximum over a range costs too much a digit


@dataclass(frozen=True, repr=False)
class Family(Shown, ABC):
    """One sequence of a family.

    The class attributes describe the family:

    - name: D for example, on the command line and in `gpu_nim.count`.
    - summary: what the value at n counts, with {piles} for the number of piles.
    - enumerated_by: the property of P-positions that the enumeration of all tuples of piles counts them by; None for a family that
      this cannot count.
    - cumulative: whether the value at n counts the indices 0 to n, and not n alone.
    - numbers: the OEIS entries of its sequences, of the same indices, by the number of piles: A-numbers, or names of drafts.

    Args:
        piles: the number of piles, 1 to 1000.
    """

    piles: int

    name: ClassVar[str]
    summary: ClassVar[str]
    enumerated_by: ClassVar[Literal["total", "maximum"] | None] = None
    cumulative: ClassVar[bool] = False
    numbers: ClassVar[Mapping[int, str]] = {}

    def __post_init__(self) -> None:
        object.__setattr__(self, "piles", integer("piles", self.piles, 1, MAX_PILES))

    def __str__(self) -> str:
        return f"{self.name}_{self.piles}"

    @property
    def title(self) -> str:
        """What the value at n counts, in words."""
        return self.summary.format(piles=self.piles)

    @property
    def by_blocks(self) -> bool:
        """Whether the values of a range are computed faster by blocks than one by one."""
        return True

    @abstractmethod
    def value(self, n: IntLike, progress: OnStep = no_progress) -> int:
        """The exact value at n, an integer of any size; UsageError where n is no index, 0 or more (`index`).

        Args:
            n: the index, 0 or more.
            progress: called for progress.

        >>> from gpu_nim.counting.families import find_family
        >>> find_family("A", 3).value(10**18 + 12345)
        709336344130297783394358628245643660
        """

    def most_digits(self, n: int) -> int:
        """Return a bound on the decimal digits of the value at n: all piles but one are up to 2n, and determine the last.

        Args:
            n: the index.

        >>> from gpu_nim.counting.families import find_family
        >>> find_family("a", 3).most_digits(10**6), len(str(find_family("a", 3).value(10**6)))
        (13, 12)
        """
        return int((self.piles - 1) * (n.bit_length() + 1) * _DIGITS_A_BIT) + 1

    def value_memory(self, n: int) -> int:
        """Return the bytes that the value at n takes while it is computed and printed.

        Args:
            n: the index.
        """
        return _COPIES * self.most_digits(n)

    def sum(self, start: int, stop: int) -> int:
        """The exact sum of the values at start, ..., stop - 1, without visiting them.

        Args:
            start: the first index.
            stop: the index after the last.

        >>> from gpu_nim.counting.families import find_family
        >>> find_family("D", 3).sum(0, 10**18 + 12346) == find_family("A", 3).value(10**18 + 12345)
        True
        """
        check_range(start, stop)
        return self._sum_through(stop - 1) - (self._sum_through(start - 1) if start else 0)

    @abstractmethod
    def _sum_through(self, last: int) -> int:
        """The sum of the values at 0, ..., last, without visiting them."""

    def maximum(self, start: int, stop: int) -> int:
        """The largest value at start, ..., stop - 1, exact.

        Args:
            start: the first index.
            stop: the index after the last.

        >>> from gpu_nim.counting.families import find_family
        >>> find_family("D", 3).maximum(0, 1000)
        19683
        """
        check_range(start, stop)
        return max(self.block_extreme(high, bits, largest=True) for high, bits in dyadic_blocks(start, stop))

    def minimum(self, start: int, stop: int) -> int:
        """The smallest value at start, ..., stop - 1, exact.

        Args:
            start: the first index.
            stop: the index after the last.
        """
        check_range(start, stop)
        return min(self.block_extreme(high, bits, largest=False) for high, bits in dyadic_blocks(start, stop))

    def bound(self, start: int, stop: int) -> int:
        """The maximum at start, ..., stop - 1, or an upper bound of it that is faster to compute.

        Args:
            start: the first index.
            stop: the index after the last.
        """
        return self.maximum(start, stop)

    def first_at_least(self, threshold: int, start: int, stop: int) -> int | None:
        """The first index in start, ..., stop - 1 whose value is at least the threshold, or None.

        Args:
            threshold: the least value.
            start: the first index.
            stop: the index after the last.

        >>> from gpu_nim.counting.families import find_family
        >>> find_family("D", 3).first_at_least(19683, 0, 10**12)
        511
        """
        return _first(start, stop, lambda high, bits: self.block_extreme(high, bits, largest=True) >= threshold)

    def first_at_most(self, threshold: int, start: int, stop: int) -> int | None:
        """The first index in start, ..., stop - 1 whose value is at most the threshold, or None.

        Args:
            threshold: the largest value.
            start: the first index.
            stop: the index after the last.
        """
        return _first(start, stop, lambda high, bits: self.block_extreme(high, bits, largest=False) <= threshold)

    @abstractmethod
    def block_extreme(self, high: int, bits: int, *, largest: bool) -> int:
        """The largest or the smallest value at high 2^bits, ..., (high + 1) 2^bits - 1.

        Args:
            high: the block's number.
            bits: a block holds 2^bits indices.
            largest: whether it is the largest.
        """

    @abstractmethod
    def blocks(self) -> IndexBlocks:
        """The sequence cut into blocks of 2^m indices, for ranges and residues."""

    def bit_lengths(self, start: int, stop: int) -> dict[int, int] | None:
        """How many values of the range have each number of binary digits; None where this needs a visit to every value.

        Halves blocks of indices until all values of a block have equally many.

        Args:
            start: the first index.
            stop: the index after the last.
        """
        totals = Counter[int]()
        waiting = list(dyadic_blocks(start, stop))
        for _ in range(_MAX_NODES):
            if not waiting:
                return dict(sorted(totals.items()))
            high, bits = waiting.pop()
            least, most = (self.block_extreme(high, bits, largest=largest).bit_length() for largest in (False, True))
            if least == most:
                totals[least] += 1 << bits
            else:
                waiting += [(2 * high, bits - 1), (2 * high + 1, bits - 1)]
        return None


class DigitFamily(Family):
    """A family whose generating function is a product over binary digits.

    The class attribute `product_of` gives it for a number of piles.
    """

    product_of: ClassVar[staticmethod[[int], DigitProduct]]

    @property
    def product(self) -> DigitProduct:
        """The digit matrices."""
        return self.product_of(self.piles)

    def value(self, n: IntLike, progress: OnStep = no_progress) -> int:
        """The exact value at n, by the digit matrices."""
        return self.product_of(self.piles).value(index(n), progress)

    def value_memory(self, n: int) -> int:
        """Return the bytes that the value at n takes while it is computed and printed: a state has such numbers."""
        return super().value_memory(n) * max(1, self.product_of(self.piles).dimension // _ENTRIES)

    def _sum_through(self, last: int) -> int:
        return self.product.sums.value(last)

    def bound(self, start: int, stop: int) -> int:
        """The maximum, or for long states the sum of all values below stop."""
        return self.maximum(start, stop) if self.product.dimension <= _EXACT_BOUND else self._sum_through(stop - 1)

    def block_extreme(self, high: int, bits: int, *, largest: bool) -> int:
        """The largest or the smallest value at high 2^bits, ..., (high + 1) 2^bits - 1, by the states that none dominates.

        Matrices and states are non-negative, so a state that is nowhere larger than another cannot lead to a larger value by
        the same digits, and is dropped. A few dozen states remain after each digit.
        """
        product, dominates = self.product, operator.ge if largest else operator.le
        front: list[DigitVector] = [product.state(high)]
        for _ in range(bits):
            candidates = sorted({product.step(state, digit) for state in front for digit in (0, 1)}, reverse=largest)
            front = []
            for state in candidates:
                if not any(all(map(dominates, kept, state)) for kept in front):
                    front.append(state)
        return front[0][0]

    def blocks(self) -> IndexBlocks:
        """The blocks of the digit product."""
        return digit_blocks(self.product)

    def bit_lengths(self, start: int, stop: int) -> dict[int, int] | None:
        """How many values have each number of binary digits, where states are single numbers; None for longer states.

        A 1 in the index is then a factor w, and of 2^m indices C(m, i) have i of them.
        """
        product = self.product
        if product.dimension > 1:
            return None
        totals = Counter[int]()
        for high, bits in dyadic_blocks(start, stop):
            (value,) = product.state(high)
            for ones in range(bits + 1):
                totals[value.bit_length()] += comb(bits, ones)
                value *= product.weight(1)
        return dict(sorted(totals.items()))


class Rising(Family):
    """A family whose values never fall: within any range the last is the largest. The first base of a class."""

    def bound(self, start: int, stop: int) -> int:
        """The last value."""
        return self.value(stop - 1)

    def block_extreme(self, high: int, bits: int, *, largest: bool) -> int:
        """The value at the last index of the block, or at the first."""
        return self.value(((high + 1) << bits) - 1 if largest else high << bits)

    def bit_lengths(self, start: int, stop: int) -> dict[int, int]:
        """How many values have each number of binary digits, from the first index of each length."""
        totals: dict[int, int] = {}
        at = start
        while at < stop:
            length = self.value(at).bit_length()
            following = self.first_at_least(1 << length, at, stop)
            totals[length] = (stop if following is None else following) - at
            at = stop if following is None else following
        return totals


def _first(start: int, stop: int, holds: Callable[[int, int], bool]) -> int | None:
    """The first index in start, ..., stop - 1 with a property; `holds` is whether some index of a block has it."""
    check_range(start, stop)
    for high, bits in dyadic_blocks(start, stop):
        if holds(high, bits):
            while bits:
                bits -= 1
                high = 2 * high if holds(2 * high, bits) else 2 * high + 1
            return high
    return None


def index(n: IntLike) -> int:
    """Return an index as a Python integer; UsageError where it is none, 0 or more."""
    return integer("index", n, 0)


def check_range(start: int, stop: int) -> tuple[int, int]:
    """Return the bounds of a range as Python integers; UsageError where they bound none."""
    first, end = integer("start", start), integer("stop", stop)
    if not 0 <= first < end:
        raise UsageError(f"range must be START:STOP with 0 <= START < STOP, got {short_repr(start)}:{short_repr(stop)}")
    return first, end
