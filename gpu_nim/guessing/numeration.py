"""Numeration systems by whose digits the terms of a regular sequence are told: base k, and that of Zeckendorf.

A number is a word of blocks of digits, which may be read from the lowest block on. In base k a block is a digit. By Zeckendorf's
theorem each number is a sum of Fibonacci numbers 1, 2, 3, 5, ... of which no two are neighbours: its digits, after zeros where
needed, are blocks 0 and 01.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from gpu_nim.guessing.formulas import shifted

#: Terms by whose Zeckendorf digits a law is searched.
MOST_TERMS = 1 << 14


class KernelSequence(NamedTuple):
    """The terms at the numbers that end in a word of digits: f(k^level n + shift), 0 <= shift < k^level, in base k.

    Attributes:
        level: the number of digits.
        shift: the number that they are.
    """

    level: int
    shift: int


@dataclass(frozen=True)
class Base:
    """The digits in base k.

    Args:
        base: k.
    """

    base: int

    @property
    def name(self) -> str:
        """How its regular sequences are called."""
        return f"{self.base}-regular"

    def places(self, kernel: KernelSequence, size: int) -> list[int]:
        """The numbers below `size` that end in a word."""
        return [*range(kernel.shift, size, self.base**kernel.level)]

    def longer(self, kernel: KernelSequence) -> list[KernelSequence]:
        """The words that are a block and this word."""
        step = self.base**kernel.level
        return [KernelSequence(kernel.level + 1, digit * step + kernel.shift) for digit in range(self.base)]

    def blocks(self, n: int) -> list[int]:
        """The blocks of a number, the lowest first, as places among those of `longer`."""
        return [n % self.base, *self.blocks(n // self.base)] if n else []

    def reach(self, blocks: int) -> int:
        """One more than the largest number of so many blocks."""
        most: int = self.base**blocks
        return most

    def written(self, kernel: KernelSequence) -> str:
        """The terms at the numbers that end in a word."""
        return shifted(kernel.shift, self.base**kernel.level)


class Zeckendorf(Base):
    """The digits by which a number is a sum of Fibonacci numbers, no two of them neighbours.

    >>> zeckendorf = Zeckendorf(2)
    >>> zeckendorf.places(KernelSequence(2, 1), 20), zeckendorf.written(KernelSequence(2, 1))
    ([1, 4, 6, 9, 12, 14, 17, 19], 'f(n01)')
    """

    name = "Fibonacci-regular"

    def places(self, kernel: KernelSequence, size: int) -> list[int]:
        """The numbers below `size` that end in a word."""
        found: list[int] = []
        n = 0
        while (place := sum(_FIBONACCI[i + kernel.level] for i in _digits(n)) + kernel.shift) < size:
            found.append(place)
            n += 1
        return found

    def longer(self, kernel: KernelSequence) -> list[KernelSequence]:
        """The words that are 0 or 01, and this word."""
        level, shift = kernel
        return [KernelSequence(level + 1, shift), KernelSequence(level + 2, shift + _FIBONACCI[level])]

    def blocks(self, n: int) -> list[int]:
        """The blocks of a number, the lowest first: 0, and 1 for 01."""
        ones, found, place = set(_digits(n)), [], 0
        while place <= max(ones, default=-1):
            found.append(int(place in ones))
            place += 1 + found[-1]
        return found

    def reach(self, blocks: int) -> int:
        """One more than the largest number of so many blocks, all of them 01."""
        return _FIBONACCI[2 * blocks - 1] if blocks else 1

    def written(self, kernel: KernelSequence) -> str:
        """The terms at the numbers whose digits end in some digits."""
        ones = _digits(kernel.shift)
        return f"f(n{''.join(str(int(i in ones)) for i in range(kernel.level - 1, -1, -1))})"


#: 1, 2, 3, 5, ...
_FIBONACCI = [1, 2]
while len(_FIBONACCI) < 1000:
    _FIBONACCI.append(_FIBONACCI[-1] + _FIBONACCI[-2])


def _digits(n: int) -> list[int]:
    """The places of the Fibonacci numbers of which n is the sum, the highest first."""
    places = []
    for place in range(bisect_right(_FIBONACCI, n) - 1, -1, -1):
        if _FIBONACCI[place] <= n:
            n -= _FIBONACCI[place]
            places.append(place)
    return places
