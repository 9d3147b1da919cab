"""Ranges of indices as blocks: the values of 2^m consecutive indices are one row vector times one table.

For D and A, the indices high 2^m + low of a block share s(high) (`gpu_nim.counting.digit_matrices`), and the table's columns are
the coefficients of prod_(j < m) W(x^(2^j)). For d and a, the closed forms are polynomials in low while the high digits are fixed,
so the columns are the powers of low, and one more with the values below 2^m, which even k needs and which is block 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any, Protocol

import numpy as np

from gpu_nim.counting.digit_matrices import DigitProduct
from gpu_nim.model.arrays import Integers

_MASK = (1 << 64) - 1


class BlockSequence(Protocol):
    """A sequence that can be cut into blocks."""

    dimension: int

    def columns(self, bits: int, limbs: int) -> Integers:
        """Return the table, shape (dimension, 2^bits): uint64 modulo 2^64 for limbs = 1, else exact in object."""

    def rows(self, first: int, stop: int, bits: int, limbs: int) -> Integers:
        """Return the row vectors of blocks `first` to `stop - 1`, shape (blocks, dimension), in the table's type."""

    def steps(self, bits: int, inner: int, limbs: int) -> Integers:
        """Return the matrices S, shape (2^(bits - inner), dimension, dimension), with

        rows(0, 2^(bits - inner) n, inner) [h 2^(bits - inner) + j] = rows(0, n, bits)[h] S[j].
        """


class DigitBlocks:
    """The blocks of a digit product: D, A and other families with matrices."""

    def __init__(self, product: DigitProduct) -> None:
        self._product = product
        self.dimension = product.dimension

    def columns(self, bits: int, limbs: int) -> Integers:
        """Entry [c, l] is the coefficient of x^(l + c 2^bits) in the product of the lowest `bits` factors.

        >>> from gpu_nim.counting.digit_matrices import by_total
        >>> DigitBlocks(by_total(4)).columns(2, 1).tolist()
        [[1, 6, 7, 36], [7, 6, 1, 0]]
        """
        weight = self._product.weight
        table = np.zeros((self.dimension, 1), _dtype(limbs))
        table[0, 0] = 1
        for _ in range(bits):
            halves = []
            for digit in (0, 1):
                half = np.zeros_like(table)
                for c in range(self.dimension):
                    for i in range(self.dimension):
                        if weight(2 * c + digit - i):
                            half[c] += table[i] * _scalar(weight(2 * c + digit - i), limbs)
                halves.append(half)
            table = np.concatenate(halves, axis=1)
        return table

    def rows(self, first: int, stop: int, bits: int, limbs: int) -> Integers:
        """Row h is s(h) = (f(h), f(h-1), ...).

        >>> from gpu_nim.counting.digit_matrices import by_total
        >>> DigitBlocks(by_total(4)).rows(2, 4, 0, 1).tolist()
        [[7, 6], [36, 7]]
        """
        values = digit_values(self._product, first - self.dimension + 1, stop, limbs)
        windows = np.lib.stride_tricks.sliding_window_view(values, self.dimension)
        return np.ascontiguousarray(windows[:, ::-1])

    def steps(self, bits: int, inner: int, limbs: int) -> Integers:
        """Entry [j, c, i] is the coefficient of x^(j - i + c 2^t) in the product of t = bits - inner factors.

        >>> from gpu_nim.counting.digit_matrices import by_total
        >>> DigitBlocks(by_total(4)).steps(3, 2, 1).tolist()
        [[[1, 0], [1, 6]], [[6, 1], [0, 1]]]
        """
        digits = bits - inner
        columns = self.columns(digits, limbs)
        strings = 1 << digits
        # Coefficients in one row, with zeros before the first and after the last.
        flat = np.concatenate([np.zeros(self.dimension, columns.dtype), columns.ravel()])
        j, c, i = np.ogrid[:strings, : self.dimension, : self.dimension]
        matrices: Integers = flat[j - i + c * strings + self.dimension]
        return matrices


def digit_values(product: DigitProduct, start: int, stop: int, limbs: int = 1) -> Integers:
    """f(start) to f(stop - 1) from the range of half the size, by f(2n + b) = sum_j w[2j + b] f(n - j); 0 below index 0.

    This is the recursion of [NF, Theorems 29 and 30] on whole arrays. uint64 modulo 2^64 for limbs = 1, else object.

    >>> from gpu_nim.counting.digit_matrices import by_total
    >>> digit_values(by_total(4), -1, 5).tolist()
    [0, 1, 6, 7, 36, 13]
    """
    values = np.zeros(stop - start, _dtype(limbs))
    if start < 0:
        if stop > 0:
            values[-start:] = digit_values(product, 0, stop, limbs)
        return values
    if stop - start <= 2 * product.dimension + 4:
        known: list[int] = []
        while len(known) < stop - start:
            known.extend(product.state(stop - 1 - len(known)))
        values[::-1] = [value & _MASK if limbs == 1 else value for value in known[: stop - start]]
        return values
    reach = product.degree // 2
    base = (start // 2) - reach
    half = digit_values(product, base, (stop - 1) // 2 + 1, limbs)
    for parity in (0, 1):
        first = (start - parity + 1) // 2  # the least n with 2n + parity >= start
        size = (stop - 1 - parity) // 2 - first + 1
        part = values[2 * first + parity - start :: 2]
        for j in range((product.degree - parity) // 2 + 1):
            at = first - j - base
            part += half[at : at + size] * _scalar(product.weight(2 * j + parity), limbs)
    return values


class ClosedBlocks:
    """The blocks of a_k or, with `differences`, of d_k: polynomials in the low part of the index.

    Each 1 in binary digit b of n contributes g(b, c) of `gpu_nim.counting.closed_forms`, with c - 1 the digits below it. For odd k
    only the leading 1 counts; for even k all do, and those below 2^bits are one column of the table.
    """

    def __init__(self, piles: int, differences: bool) -> None:
        self._piles = piles
        self._differences = differences
        top = piles - 1 if piles % 2 else max(0, piles - 2)
        self._degree = max(0, top - 1) if differences else top
        self.dimension = self._degree + 2

    def columns(self, bits: int, limbs: int) -> Integers:
        """Powers of low, then the values of the sequence at low.

        >>> ClosedBlocks(3, True).columns(2, 1).tolist()
        [[1, 1, 1, 1], [0, 1, 2, 3], [1, 3, 3, 9]]
        """
        low = np.arange(1 << bits).astype(_dtype(limbs))
        table = np.zeros((self.dimension, 1 << bits), _dtype(limbs))
        table[0] = _scalar(1, limbs)
        for power in range(1, self._degree + 1):
            table[power] = table[power - 1] * low
        values = table[-1]
        values[0] = 1
        for b in range(bits):
            c = low[: 1 << b] + _scalar(1, limbs)
            part = values[1 << b : 2 << b]
            part += self._horner(b, c, limbs)
            if self._piles % 2 == 0:
                part += values[: 1 << b]
        return table

    def rows(self, first: int, stop: int, bits: int, limbs: int) -> Integers:
        """Row h holds the coefficients of the polynomial in low, and whether the table's last column counts.

        >>> ClosedBlocks(3, True).rows(0, 3, 2, 1).tolist()
        [[0, 0, 1], [3, 6, 0], [3, 6, 0]]
        """
        rows = np.zeros((stop - first, self.dimension), _dtype(limbs))
        highs = np.array([h << bits for h in range(first, stop)], object)
        even = self._piles % 2 == 0
        rows[:, -1] = _scalar(int(even), limbs)
        if first == 0:
            rows[0, -1] = _scalar(1, limbs)
        longest = (stop - 1).bit_length()
        for b in range(bits, bits + longest):
            has_digit = highs >> b
            chosen = (has_digit & 1 == 1) if even else has_digit == 1
            index = np.flatnonzero(chosen.astype(bool))
            if len(index):
                c = (highs[index] & ((1 << b) - 1)) + 1
                if limbs == 1:
                    c = (c & _MASK).astype(np.uint64)
                rows[index, :-1] += self._shifted(b, c, limbs)
        return rows

    def steps(self, bits: int, inner: int, limbs: int) -> Integers:
        """Matrix j moves the polynomial by j 2^inner; its last row is row j below 2^bits.

        >>> ClosedBlocks(3, True).steps(3, 2, 1).tolist()
        [[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 0, 0], [4, 1, 0], [3, 6, 0]]]
        """
        strings = 1 << bits - inner
        offsets = np.arange(strings).astype(_dtype(limbs)) << _scalar(inner, limbs)
        matrices = np.zeros((strings, self.dimension, self.dimension), _dtype(limbs))
        for power in range(self._degree + 1):
            for i in range(power + 1):
                matrices[:, power, i] = offsets ** (power - i) * _scalar(comb(power, i), limbs)
        matrices[:, -1] = self.rows(0, strings, inner, limbs)
        return matrices

    def polynomial(self, b: int) -> list[int]:
        """The coefficients of g(b, c), or of g(b, c) - g(b, c - 1), in c."""
        piles = self._piles
        powers = [0] * (self._degree + 2)
        for ones in range(0, piles, 2):
            powers[ones] = comb(piles, ones) << b * (piles - ones - 1)
        if not self._differences:
            return powers[: self._degree + 1]
        shifted = [sum(powers[j] * comb(j, i) * (-1) ** (j - i) for j in range(i, len(powers))) for i in range(len(powers))]
        return [x - y for x, y in zip(powers, shifted, strict=True)][: self._degree + 1]

    def _horner(self, b: int, c: Integers, limbs: int) -> Integers:
        coefficients = [_scalar(x, limbs) for x in self.polynomial(b)]
        result: Any = np.full(len(c), coefficients[-1], _dtype(limbs))
        for coefficient in reversed(coefficients[:-1]):
            result *= c
            result += coefficient
        return result  # type: ignore[no-any-return]

    def _shifted(self, b: int, c: Integers, limbs: int) -> Integers:
        """The coefficients, in l, of the polynomial at c + l, a row for each c, by repeated synthetic division."""
        degree = self._degree
        result: Any = np.empty((len(c), degree + 1), _dtype(limbs))
        result[:] = [_scalar(x, limbs) for x in self.polynomial(b)]
        for i in range(degree):
            for j in range(degree - 1, i - 1, -1):
                result[:, j] += c * result[:, j + 1]
        return result  # type: ignore[no-any-return]


def dyadic_blocks(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Divide start, ..., stop - 1 into aligned blocks (high, bits), each high 2^bits to (high + 1) 2^bits - 1, in order.

    >>> list(dyadic_blocks(3, 9))
    [(3, 0), (1, 2), (8, 0)]
    """
    while start < stop:
        aligned = (start & -start).bit_length() - 1 if start else stop.bit_length()
        bits = min(aligned, (stop - start).bit_length() - 1)
        yield start >> bits, bits
        start += 1 << bits


def _dtype(limbs: int) -> Any:
    return np.uint64 if limbs == 1 else object


def _scalar(value: int, limbs: int) -> Any:
    return np.uint64(value & _MASK) if limbs == 1 else value
