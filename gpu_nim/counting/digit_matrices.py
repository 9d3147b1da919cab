"""Sequences whose generating function is a product over binary digits, as small matrices.

The numbers of Nim P-positions by total are of this kind. A P-position of k piles has an even number of 1s in each binary
column, C(k, 2i) ways to have 2i of them, so

    sum_n D_k(n) x^n = prod_j W(x^(2^j)),    W(x) = sum_i C(k, 2i) x^i,

and since 1/(1-x) = prod_j (1 + x^(2^j)), partial sums only multiply W by 1 + x: A_k has W(x) (1 + x), its partial sums
W(x) (1 + x)^2. Comparing coefficients at even and odd exponents gives [NF, Theorems 29 and 30], and that the vector
s(n) = (f(n), f(n-1), ..., f(n-d+1)), d the degree of W, satisfies s(2n + b) = M_b s(n) with

    M_b[i][j] = w[2j + b - i].

So f(n) is a product of one d x d matrix per binary digit. All entries are non-negative, which makes bounds and maxima over
blocks of indices cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from gpu_nim.counting.long_integers import flint, long
from gpu_nim.model.arrays import Integers
from gpu_nim.model.errors import UsageError
from gpu_nim.model.work import OnStep, no_progress

DigitVector = tuple[int, ...]
Matrix = Sequence[Sequence[int]]

_NARROW = 4  # dimensions up to which products of matrices are faster than a step per digit,
_MANY_DIGITS = 1 << 14  # from this number of digits on
_LONG_DIGITS = 1 << 12  # of a matrix, from which on FLINT is faster
_MANY = 48  # coefficients of a product of polynomials, beyond which FLINT is faster
_MASK = (1 << 64) - 1


class DigitProduct:
    """The sequence f with generating function prod_j W(x^(2^j)), for a polynomial W with W(0) = 1.

    `weights` are the coefficients of W from the constant term up, non-negative Python integers. `dimension` is the
    number of entries of a state, max(1, degree of W).

    >>> three_piles = DigitProduct((1, 3))
    >>> [three_piles.value(n) for n in range(8)]
    [1, 3, 3, 9, 3, 9, 9, 27]
    """

    def __init__(self, weights: Sequence[int]) -> None:
        if not weights or weights[0] != 1 or min(weights) < 0:
            raise UsageError(f"weights must be non-negative integers that begin with 1, not {tuple(weights)!r}")
        self.weights: tuple[int, ...] = tuple(weights)
        self.degree = len(self.weights) - 1
        self.dimension = max(1, self.degree)
        self._full_weights = (*self.weights, *[0] * (self.dimension - self.degree))

    @cached_property
    def sums(self) -> DigitProduct:
        """The digit product of the partial sums f(0) + ... + f(n).

        >>> [DigitProduct((1, 3)).sums.value(n) for n in range(4)]
        [1, 4, 7, 16]
        """
        return DigitProduct([x + y for x, y in zip((*self.weights, 0), (0, *self.weights), strict=True)])

    @cached_property
    def matrices(self) -> list[Matrix]:
        """M_0 and M_1, by rows."""
        size = range(self.dimension)
        return [[[self.weight(2 * j + digit - i) for j in size] for i in size] for digit in (0, 1)]

    def weight(self, exponent: int) -> int:
        """The coefficient of x^exponent in W, 0 outside its degree."""
        return self.weights[exponent] if 0 <= exponent <= self.degree else 0

    def step(self, state: DigitVector, digit: int) -> DigitVector:
        """Return M_digit applied to a state: s(2n + digit) from s(n)."""
        # Entry i is the sum over j of w[2j + digit - i] state[j]: a product of polynomials, with the weights reversed.
        spread = [0] * (2 * self.dimension - 1)
        spread[::2] = state
        first = self.dimension - digit
        return tuple(convolve(spread, self._full_weights[::-1])[first : first + self.dimension])

    def step_row(self, row: DigitVector, digit: int) -> DigitVector:
        """Return a row vector times M_digit: the row of l + digit 2^t from that of l < 2^t."""
        # Entry j is the sum over i of row[i] w[2j + digit - i].
        return tuple(convolve(row, self._full_weights)[digit : digit + 2 * self.dimension : 2])

    @property
    def first_state(self) -> DigitVector:
        """s(0) = (1, 0, ..., 0), which is also the row of the empty string of digits."""
        return (1, *([0] * (self.dimension - 1)))

    def state(self, n: int) -> DigitVector:
        """(f(n), f(n-1), ..., f(n-dimension+1)), with f = 0 at negative indices.

        >>> DigitProduct((1, 6, 1)).state(3)
        (36, 7)
        """
        state = self.first_state
        for bit in range(n.bit_length() - 1, -1, -1):
            state = self.step(state, n >> bit & 1)
        return state

    def value(self, n: int, progress: OnStep = no_progress) -> int:
        """f(n) = v . s(high), n = high 2^bits + low: half of the digits each, so that integers stay half as long.

        Entry c of v is the coefficient of x^(low + c 2^bits) in prod_(j < bits) W(x^(2^j)).

        >>> DigitProduct((1, 6, 1)).value(10**18 + 12345)
        17224872324869148255709614969561582
        """
        length, bits = n.bit_length(), n.bit_length() // 2
        if self.dimension <= _NARROW and length > _MANY_DIGITS:
            return int(self._long_product(n, progress)[0, 0])
        row = state = self.first_state
        for bit in range(bits):
            progress("low digit", bit, bits)
            row = self.step_row(row, n >> bit & 1)
        for bit in range(length - 1, bits - 1, -1):
            progress("high digit", length - 1 - bit, length - bits)
            state = self.step(state, n >> bit & 1)
        return sum(x * y for x, y in zip(row, state, strict=True))

    def _long_product(self, n: int, progress: OnStep) -> NDArray[np.object_]:
        """The product of the matrices of all digits, neighbours first, so that long integers are multiplied rarely."""
        table = np.array(self.matrices, object)
        for _ in range(3):  # the products for 2, 4 and 8 digits
            table = (table @ table[:, None]).reshape(-1, *table.shape[1:])
        matrices: NDArray[np.object_] = table[[*n.to_bytes(-(-n.bit_length() // 8), "little")]]
        levels = n.bit_length().bit_length()
        while len(matrices) > 1:
            progress("digit product", levels - len(matrices).bit_length(), levels)
            if len(matrices) < n.bit_length() // _LONG_DIGITS:
                matrices = np.vectorize(long, otypes=[object])(matrices)
            if len(matrices) % 2:
                matrices = np.concatenate([matrices, table[:1]])  # zeros before the number
            matrices = matrices[::2] @ matrices[1::2]
        product: NDArray[np.object_] = matrices[0]
        return product


def convolve(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """The product of two polynomials, by their coefficients, one at least of each.

    >>> convolve((1, 2, 3), (1, 1))
    [1, 3, 5, 3]
    """
    length = len(left) + len(right) - 1
    if length > _MANY and flint() is not None:
        product = flint().fmpz_poly(list(left)) * flint().fmpz_poly(list(right))
        return [int(product[i]) for i in range(length)]
    result = [0] * length
    for i, x in enumerate(left):
        if x:
            for j, y in enumerate(right, i):
                result[j] += x * y
    return result


@cache
def by_total(piles: int) -> DigitProduct:
    """The digit product of D_k, the number of P-positions of k piles with total 2n [NF, Theorem 29]."""
    return DigitProduct(even_binomials(piles))


def up_to_total(piles: int) -> DigitProduct:
    """The digit product of A_k, the number of P-positions of k piles with total at most 2n [NF, Theorem 30]."""
    return by_total(piles).sums


def even_binomials(piles: int) -> tuple[int, ...]:
    """C(k, 0), C(k, 2), C(k, 4), ...: how many ways k piles share an even number of 1s in one binary column.

    >>> even_binomials(5)
    (1, 10, 5)
    """
    return tuple(comb(piles, i) for i in range(0, piles + 1, 2))


class IndexBlocks:
    """A sequence by its linear representation, cut into blocks of 2^bits indices: their values are one row vector times one table.

    Value n is a row, times one matrix for each binary digit of n from the highest down, times a column. The row of block h is the
    product of the row and the matrices of h's digits, and the table has the products for the digits in a block. For D and A these
    are the digit matrices; for d and a, see `gpu_nim.counting.closed_forms.closed_blocks`.

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

    >>> digit_blocks(by_total(4)).rows(2, 4, 0, 1).tolist(), digit_blocks(by_total(4)).columns(2, 1).tolist()
    ([[7, 6], [36, 7]], [[1, 6, 7, 36], [7, 6, 1, 0]])
    """
    matrices = [[*zip(*matrix, strict=True)] for matrix in product.matrices]
    return IndexBlocks(product.first_state, product.first_state, lambda bit, digit: matrices[digit])


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
