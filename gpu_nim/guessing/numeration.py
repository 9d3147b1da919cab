"""Numeration systems by which the digits of n give the terms of a k-regular sequence: base k, and that of Zeckendorf.

A number is a word of blocks, the lowest first. In base k a block is a digit. By Zeckendorf's theorem n is a sum of Fibonacci numbers
1, 2, 3, 5, ... of which no two are neighbours; its digits, 0 and 1, the highest first, are blocks 0 and 01, perhaps after a zero.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import takewhile
from math import isqrt
from typing import NamedTuple

from gpu_nim.guessing.formulas import shifted


class KernelSequence(NamedTuple):
    """The terms at the numbers that end in a word of `level` digits, whose value is `shift`: f(k^level n + shift) in base k."""

    level: int
    shift: int


class Numeration(ABC):
    """A numeration system.

    Attributes:
        name: how sequences are called that are regular by it.
        blocks: the digits of each block.
    """

    name: str
    blocks: tuple[int, ...]

    @abstractmethod
    def place(self, n: int, kernel: KernelSequence) -> int:
        """The number of the digits of n and a word after them."""

    @abstractmethod
    def longer(self, kernel: KernelSequence) -> list[KernelSequence]:
        """The words with one block more, put before."""

    @abstractmethod
    def written(self, kernel: KernelSequence) -> str:
        """What a kernel sequence is called."""

    @abstractmethod
    def reach(self, blocks: int) -> int:
        """One more than the largest number of so many blocks."""

    def places(self, kernel: KernelSequence, size: int) -> list[int]:
        """The numbers below `size` that end in a word."""
        return [*takewhile(size.__gt__, (self.place(n, kernel) for n in range(size)))]
