"""The four families of counts of Nim P-positions, as one type: values, exact sums, exact extremes, blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gpu_nim.counting import closed_forms
from gpu_nim.counting.blocks import Blocks, ClosedBlocks, DigitBlocks
from gpu_nim.counting.digit_matrices import DigitProduct, State, by_total, sums_up_to_total, up_to_total
from gpu_nim.model.arguments import Whole, integer, shown
from gpu_nim.model.errors import UsageError
from gpu_nim.model.progress import OnStep, unseen

LETTERS = ("D", "A", "d", "a")
MAX_PILES = 1000


@dataclass(frozen=True)
class Counts:
    """One of D_k, A_k, d_k, a_k [NF, section 3]: P-positions of k piles with

    - D: total 2n,  A: total at most 2n  (indexed by total),
    - d: largest pile n,  a: no pile larger than n  (indexed by maximum).

    `letter` is one of "D", "A", "d", "a" and `piles` is k, 1 to 1000; UsageError otherwise.

    >>> Counts("D", 4).value(7)
    216
    """

    letter: str
    piles: int

    def __post_init__(self) -> None:
        if not isinstance(self.letter, str) or self.letter not in LETTERS:
            raise UsageError(f"sequence must be one of {', '.join(LETTERS)}, got {shown(self.letter)}")
        object.__setattr__(self, "piles", integer("piles", self.piles, 1, MAX_PILES))

    def __str__(self) -> str:
        return f"{self.letter}_{self.piles}"

    @property
    def by_total(self) -> bool:
        """Whether the index is half the total number of counters."""
        return self.letter in "DA"

    @property
    def cumulative(self) -> bool:
        """Whether this is the sequence of partial sums of the other one of its kind."""
        return self.letter in "Aa"

    @property
    def product(self) -> DigitProduct | None:
        """The digit matrices of D and A; None for d and a."""
        if not self.by_total:
            return None
        return up_to_total(self.piles) if self.cumulative else by_total(self.piles)

    def value(self, n: Whole, on_step: OnStep = unseen) -> int:
        """The exact value at n >= 0, an integer of any size; `on_step` is told how far it has come.

        D and A come from digit matrices [NF, Theorems 29 and 30], d and a from the closed forms [NF, Theorems 11 to 18].

        >>> Counts("A", 3).value(10**18 + 12345)
        709336344130297783394358628245643660
        """
        n = integer("index", n, 0)
        product = self.product
        if product is not None:
            return product.value(n, on_step)
        return (closed_forms.a if self.cumulative else closed_forms.d)(self.piles, n, on_step)

    def sum(self, start: int, stop: int) -> int:
        """The exact sum of the values at start, ..., stop - 1, without visiting them.

        >>> Counts("D", 3).sum(0, 10**18 + 12346) == Counts("A", 3).value(10**18 + 12345)
        True
        """
        _require_range(start, stop)
        return self._sum_below(stop) - self._sum_below(start)

    def _sum_below(self, n: int) -> int:
        if n == 0:
            return 0
        match self.letter:
            case "D":
                return up_to_total(self.piles).value(n - 1)
            case "A":
                return sums_up_to_total(self.piles).value(n - 1)
            case "d":
                return closed_forms.a(self.piles, n - 1)
            case _:
                return closed_forms.sum_of_a(self.piles, n)

    def maximum(self, start: int, stop: int) -> int:
        """The largest value at start, ..., stop - 1, exact.

        >>> Counts("D", 3).maximum(0, 1000)
        19683
        """
        _require_range(start, stop)
        return max(self.block_maximum(high, bits) for high, bits in dyadic_blocks(start, stop))

    def minimum(self, start: int, stop: int) -> int:
        """The smallest value at start, ..., stop - 1, exact."""
        _require_range(start, stop)
        return min(self.block_minimum(high, bits) for high, bits in dyadic_blocks(start, stop))

    def first_at_least(self, threshold: int, start: int, stop: int) -> int | None:
        """The first index in start, ..., stop - 1 whose value reaches the threshold, or None.

        >>> Counts("D", 3).first_at_least(19683, 0, 10**12)
        511
        """
        _require_range(start, stop)
        return self._first(start, stop, lambda high, bits: self.block_maximum(high, bits) >= threshold)

    def first_at_most(self, threshold: int, start: int, stop: int) -> int | None:
        """The first index in start, ..., stop - 1 whose value does not pass the threshold, or None."""
        _require_range(start, stop)
        return self._first(start, stop, lambda high, bits: self.block_minimum(high, bits) <= threshold)

    def _first(self, start: int, stop: int, holds: Callable[[int, int], bool]) -> int | None:
        for high, bits in dyadic_blocks(start, stop):
            if holds(high, bits):
                while bits:
                    bits -= 1
                    high = 2 * high if holds(2 * high, bits) else 2 * high + 1
                return high
        return None

    def block_maximum(self, high: int, bits: int) -> int:
        """The largest value at high 2^bits, ..., (high + 1) 2^bits - 1."""
        if self.letter == "D" and self.piles > 2:
            return _extreme(by_total(self.piles), high, bits, True)
        return self.value(self._rising_end(high, bits, largest=True))

    def block_minimum(self, high: int, bits: int) -> int:
        """The smallest value at high 2^bits, ..., (high + 1) 2^bits - 1."""
        if self.letter == "D" and self.piles > 2:
            return _extreme(by_total(self.piles), high, bits, False)
        return self.value(self._rising_end(high, bits, largest=False))

    def _rising_end(self, high: int, bits: int, *, largest: bool) -> int:
        """The index of a dyadic block where everything but D_k is largest or smallest: its last or its first.

        a and A rise. d(n) is a sum, over the 1s of n that count, of terms that rise with the digits below them, so that
        within a block all digits 1 give the most and all digits 0 the least; for one pile d falls, from 1 to 0.
        """
        last = ((high + 1) << bits) - 1
        falls = self.piles == 1 and not self.cumulative
        return last if largest != falls else high << bits

    def blocks(self) -> Blocks:
        """The sequence cut into blocks of 2^m indices, for ranges."""
        product = self.product
        return DigitBlocks(product) if product is not None else ClosedBlocks(self.piles, not self.cumulative)


def dyadic_blocks(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Cut start, ..., stop - 1 into aligned blocks (high, bits), each high 2^bits to (high + 1) 2^bits - 1, in order.

    >>> list(dyadic_blocks(3, 9))
    [(3, 0), (1, 2), (8, 0)]
    """
    while start < stop:
        aligned = (start & -start).bit_length() - 1 if start else stop.bit_length()
        bits = min(aligned, (stop - start).bit_length() - 1)
        yield start >> bits, bits
        start += 1 << bits


def _extreme(product: DigitProduct, high: int, bits: int, largest: bool) -> int:
    """The extreme value of a dyadic block, by the states that no other state dominates.

    Matrices and states are non-negative, so a state that is nowhere larger than another can never lead to a larger value by
    the same digits, and is dropped. What is left, digit after digit, is a few dozen states.
    """
    front: list[State] = [product.state(high)]
    for _ in range(bits):
        candidates = sorted({product.step(state, digit) for state in front for digit in (0, 1)}, reverse=largest)
        front = []
        for state in candidates:
            if largest:
                dominated = any(all(x >= y for x, y in zip(kept, state, strict=True)) for kept in front)
            else:
                dominated = any(all(x <= y for x, y in zip(kept, state, strict=True)) for kept in front)
            if not dominated:
                front.append(state)
    return front[0][0]


def _require_range(start: int, stop: int) -> None:
    if not 0 <= integer("start", start) < integer("stop", stop):
        raise UsageError(f"range must be START:STOP with 0 <= START < STOP, got {shown(start)}:{shown(stop)}")
