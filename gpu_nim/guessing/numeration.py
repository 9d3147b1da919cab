"""Numeration systems by whose digits the terms of a regular sequence are told: base k, and those of Zeckendorf.

A number is a word of blocks of digits, which may be read from the lowest block on. In base k a block is a digit. By Zeckendorf's
theorem each number is a sum of Fibonacci numbers 1, 2, 3, 5, ... of which no two are neighbours: its digits, after zeros where
needed, are blocks 0 and 01. So it is a sum of tribonacci numbers 1, 2, 4, 7, 13, ... of which no three are neighbours, of blocks 0,
01 and 011.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from gpu_nim.guessing.formulas import shifted

#: Terms by whose Zeckendorf digits a law is searched.
MOST_TERMS = 1 << 14
_PLACES = 1000  # of digits


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
    """The digits by which a number is a sum of Fibonacci numbers, no two of them neighbours, or tribonacci numbers, no three.

    Args:
        base: how many blocks there are: 2 or 3.

    >>> zeckendorf = Zeckendorf(2)
    >>> zeckendorf.places(KernelSequence(2, 1), 20), zeckendorf.written(KernelSequence(2, 1))
    ([1, 4, 6, 9, 12, 14, 17, 19], 'f(n01)')
    """

    @property
    def name(self) -> str:
        """How its regular sequences are called."""
        return f"{_NAMES[self.base]}-regular"

    def places(self, kernel: KernelSequence, size: int) -> list[int]:
        """The numbers below `size` that end in a word."""
        values = _values(self.base)
        found: list[int] = []
        n = 0
        while (place := sum(values[i + kernel.level] for i in self._digits(n)) + kernel.shift) < size:
            found.append(place)
            n += 1
        return found

    def longer(self, kernel: KernelSequence) -> list[KernelSequence]:
        """The words that are 0, 01 or 011, and this word."""
        level, shift = kernel
        values = _values(self.base)
        return [KernelSequence(level + ones + 1, shift + sum(values[level : level + ones])) for ones in range(self.base)]

    def blocks(self, n: int) -> list[int]:
        """The blocks of a number, the lowest first, by how many digits 1 they have."""
        ones, found, place = set(self._digits(n)), [], 0
        while place <= max(ones, default=-1):
            found.append(next(i for i in range(self.base) if place + i not in ones))
            place += 1 + found[-1]
        return found

    def reach(self, blocks: int) -> int:
        """One more than the largest number of so many blocks, all of them the longest."""
        return _values(self.base)[self.base * blocks - 1] if blocks else 1

    def written(self, kernel: KernelSequence) -> str:
        """The terms at the numbers whose digits end in some digits."""
        ones = self._digits(kernel.shift)
        return f"f(n{''.join(str(int(i in ones)) for i in range(kernel.level - 1, -1, -1))})"

    def _digits(self, n: int) -> list[int]:
        """The places of the numbers of which n is the sum, the highest first."""
        values = _values(self.base)
        places = []
        for place in range(bisect_right(values, n) - 1, -1, -1):
            if values[place] <= n:
                n -= values[place]
                places.append(place)
        return places


_NAMES = {2: "Fibonacci", 3: "tribonacci"}


@cache
def _values(base: int) -> list[int]:
    """1, 2, 3, 5, ... or 1, 2, 4, 7, ...: each is the sum of so many before it."""
    values = [1 << i for i in range(base)]
    while len(values) < _PLACES:
        values.append(sum(values[-base:]))
    return values
