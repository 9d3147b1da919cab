"""Ranges of indices as blocks: the values of 2^m consecutive indices are one row vector times one table.

All follows from a linear representation: value n is a row, times one matrix for each binary digit of n from the highest down,
times a column. The row of block h is the product of the row and the matrices of h's digits, and the table has the products for the
digits in a block. For D and A these are the digit matrices (`gpu_nim.counting.digit_matrices`). For d and a, the closed forms are
polynomials in the low digits of the index while the high ones are fixed: a row holds the coefficients, and a matrix moves the
polynomial.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import comb

import numpy as np

from gpu_nim.counting.digit_matrices import DigitProduct
from gpu_nim.model.arrays import Integers

_MASK = (1 << 64) - 1
_choose = cache(comb)

Matrix = Sequence[Sequence[int]]


class IndexBlocks:
    """A sequence by its linear representation, cut into blocks of 2^bits indices.

    Args:
        first: the row of block 0, the same for blocks of any size.
        last: the column of a block of one index.
        matrix: `matrix(bit, digit)` takes the row of block h of 2^(bit + 1) indices to that of block 2 h + digit of 2^bit; None
            where these are equal.

    >>> powers_of_three = IndexBlocks((1,), (1,), lambda bit, digit: [[3**digit]])
    >>> powers_of_three.rows(4, 8, 0, limbs=1).tolist(), powers_of_three.columns(2, limbs=1).tolist()
    ([[3], [9], [9], [27]], [[1, 3, 3, 9]])
    """

    def __init__(self, first: Sequence[int], last: Sequence[int], matrix: Callable[[int, int], Matrix | None]) -> None:
        self.first, self.last, self.matrix = first, last, matrix
        self.dimension = len(first)

    def columns(self, bits: int, limbs: int) -> Integers:
        """Return the table, shape (dimension, 2^bits): uint64 modulo 2^64 for limbs = 1, else exact in object."""
        table = _array([self.last], limbs).T
        for bit in range(bits):
            matrices = (self.matrix(bit, digit) for digit in (0, 1))
            table = np.concatenate([table if each is None else _array(each, limbs) @ table for each in matrices], axis=1)
        return table

    def rows(self, first: int, stop: int, bits: int, limbs: int) -> Integers:
        """Return the row vectors of blocks `first` to `stop - 1`, shape (blocks, dimension), in the table's type."""
        rows = _array([self.first], limbs)
        for shift in reversed(range((stop - 1).bit_length())):
            before = first >> shift + 1 << 1
            rows = self._halved(rows, bits + shift, limbs)[(first >> shift) - before : ((stop - 1) >> shift) + 1 - before]
        return rows

    def steps(self, bits: int, inner: int, limbs: int) -> Integers:
        """Return the matrices S, shape (2^(bits - inner), dimension, dimension), with

        rows(0, 2^(bits - inner) n, inner) [h 2^(bits - inner) + j] = rows(0, n, bits)[h] S[j].
        """
        matrices = _array([[i == j for j in range(self.dimension)] for i in range(self.dimension)], limbs)[None]
        for bit in reversed(range(inner, bits)):
            matrices = self._halved(matrices, bit, limbs)
        return matrices

    def _halved(self, blocks: Integers, bit: int, limbs: int) -> Integers:
        """The rows or matrices of the two halves of each block, from its own."""
        matrices = (self.matrix(bit, digit) for digit in (0, 1))
        halves = [blocks if each is None else blocks @ _array(each, limbs) for each in matrices]
        return np.stack(halves, axis=1).reshape(-1, *blocks.shape[1:])


def _array(numbers: Matrix, limbs: int) -> Integers:
    return np.array([[x & _MASK for x in row] for row in numbers], np.uint64) if limbs == 1 else np.array(numbers, object)


def digit_blocks(product: DigitProduct) -> IndexBlocks:
    """Return the blocks of a digit product: D, A and other families with digit matrices. Row h is (f(h), f(h-1), ...).

    >>> from gpu_nim.counting.digit_matrices import by_total
    >>> digit_blocks(by_total(4)).rows(2, 4, 0, 1).tolist(), digit_blocks(by_total(4)).columns(2, 1).tolist()
    ([[7, 6], [36, 7]], [[1, 6, 7, 36], [7, 6, 1, 0]])
    """
    matrices = [[*zip(*matrix, strict=True)] for matrix in product.matrices]
    return IndexBlocks(product.first_state, product.first_state, lambda bit, digit: matrices[digit])


def closed_blocks(piles: int, *, differences: bool) -> IndexBlocks:
    """Return the blocks of a_k or, with `differences`, of d_k: a row has the coefficients of a polynomial in the low digits.

    Each 1 in binary digit b of n contributes g(b, c) of `gpu_nim.counting.closed_forms`, with c - 1 the digits below it. For odd k
    only the leading 1 counts; for even k all do. So a row's last entry says whether the value at the low part is added, as it is in
    block 0, where it is 1 for no digit but 0, and at a digit 1 becomes the polynomial g(b, 1 + low).

    >>> closed_blocks(3, differences=True).rows(0, 3, 2, 1).tolist()  # d_3(4 h + low)
    [[0, 0, 1], [3, 6, 0], [3, 6, 0]]
    >>> closed_blocks(3, differences=True).columns(2, 1).tolist()
    [[1, 1, 1, 1], [0, 1, 2, 3], [1, 3, 3, 9]]
    """
    top = piles - 1 if piles % 2 else max(0, piles - 2)
    size = range((max(0, top - 1) if differences else top) + 1)

    def matrix(bit: int, digit: int) -> Matrix | None:
        if not digit:
            return None
        moved = [[_choose(power, i) << bit * (power - i) if i <= power else 0 for i in size] + [0] for power in size]
        term = [_choose(piles, ones) << bit * (piles - ones - 1) if ones % 2 == 0 else 0 for ones in range(top + 1)]
        # In powers of low = c - 1; g(b, c) - g(b, c - 1) lacks what has low alone.
        counted = [sum(_choose(j, i) * term[j] for j in range(i, top + 1)) - (term[i] if differences else 0) for i in size]
        return [*moved, [*counted, 1 - piles % 2]]

    zeros = [0] * (len(size) - 1)
    return IndexBlocks([0, *zeros, 1], [1, *zeros, 1], matrix)


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
