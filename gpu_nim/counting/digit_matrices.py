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

import operator
from collections.abc import Sequence
from functools import cache, cached_property
from math import comb

from gpu_nim.counting import long_integers
from gpu_nim.counting.long_integers import Long, convolve, long
from gpu_nim.model.errors import UsageError
from gpu_nim.model.work import OnStep, no_progress

DigitVector = tuple[int, ...]

_FEW = 160  # dimensions; beyond, a matrix times a vector is two products of polynomials
_NARROW = 4  # dimensions up to which products of matrices are faster than a step per digit,
_MANY_DIGITS = 1 << 14  # from this number of digits on
_TOGETHER = 1 << 9  # digits that are taken one by one


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
        self._by_polynomials = self.dimension > _FEW and long_integers.flint() is not None

    @cached_property
    def sums(self) -> DigitProduct:
        """The digit product of the partial sums f(0) + ... + f(n).

        >>> [DigitProduct((1, 3)).sums.value(n) for n in range(4)]
        [1, 4, 7, 16]
        """
        return DigitProduct([x + y for x, y in zip((*self.weights, 0), (0, *self.weights), strict=True)])

    def weight(self, exponent: int) -> int:
        """The coefficient of x^exponent in W, 0 outside its degree."""
        return self.weights[exponent] if 0 <= exponent <= self.degree else 0

    def step(self, state: DigitVector, digit: int) -> DigitVector:
        """Return M_digit applied to a state: s(2n + digit) from s(n)."""
        if self._by_polynomials:
            return self._long_step(state, digit)
        # Entry i is the sum over j of w[2j + shift] state[j], from the first j with an index of 0 or more.
        shifts = ((digit - i, max(0, (1 - digit + i) // 2)) for i in range(self.dimension))
        return tuple(sum(map(operator.mul, self.weights[2 * first + shift :: 2], state[first:])) for shift, first in shifts)

    def step_row(self, row: DigitVector, digit: int) -> DigitVector:
        """Return a row vector times M_digit: the row of l + digit 2^t from that of l < 2^t."""
        if self._by_polynomials:
            return self._long_step_row(row, digit)
        # Entry j is the sum over i of row[i] w[top - i], top = 2j + digit.
        tops = range(digit, 2 * self.dimension + digit, 2)
        return tuple(sum(map(operator.mul, row[max(0, top - self.degree) :], self.weights[top::-1])) for top in tops)

    def _long_step_row(self, row: DigitVector, digit: int) -> DigitVector:
        # Entry c is the sum over i of row[i] w[2c + digit - i]: even and odd i are one product of polynomials each.
        even = convolve(row[0::2], self.weights[digit::2])
        odd = convolve(row[1::2], self.weights[1 - digit :: 2])
        # With digit 0, odd i meet odd weights: (i - 1)/2 and (j - 1)/2 add up to c - 1.
        odd = odd if digit else [0, *odd]
        return tuple(_at(even, c) + _at(odd, c) for c in range(self.dimension))

    def _long_step(self, state: DigitVector, digit: int) -> DigitVector:
        # Entry i is the sum over q of w[2q + parity] state[q + t], t = (i + parity - digit)/2: a product with weights reversed.
        products = [(len(self.weights[p::2]), convolve(self.weights[p::2][::-1], state)) for p in (0, 1)]
        result = []
        for i in range(self.dimension):
            parity = (digit - i) % 2
            length, product = products[parity]
            result.append(_at(product, length - 1 + (i + parity - digit) // 2))
        return tuple(result)

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
            return int(self._long_product(n, progress)[0][0])
        row = state = self.first_state
        for bit in range(bits):
            progress("low digit", bit, bits)
            row = self.step_row(row, n >> bit & 1)
        for bit in range(length - 1, bits - 1, -1):
            progress("high digit", length - 1 - bit, length - bits)
            state = self.step(state, n >> bit & 1)
        return sum(x * y for x, y in zip(row, state, strict=True))

    def _long_product(self, n: int, progress: OnStep) -> list[list[Long]]:
        """The product of the matrices of all digits, by halves, so that long integers are multiplied rarely."""
        total = n.bit_length() * (n.bit_length() // _TOGETHER).bit_length()  # each level takes about as long as the others
        done = 0

        def product(digits: int, length: int) -> list[list[Long]]:
            nonlocal done
            if length <= _TOGETHER:
                return self._short_product(digits, length)
            half = length // 2
            low = product(digits & ((1 << half) - 1), half)
            high = [*zip(*product(digits >> half, length - half), strict=True)]
            progress("digit product", min(done, total), total)
            done += length
            zero = long(0)
            return [[sum((x * y for x, y in zip(row, column, strict=True)), zero) for column in high] for row in low]

        return product(n, n.bit_length())

    def _short_product(self, digits: int, length: int) -> list[list[Long]]:
        columns = []
        for axis in range(self.dimension):
            column = tuple(int(axis == i) for i in range(self.dimension))
            for bit in range(length - 1, -1, -1):
                column = self.step(column, digits >> bit & 1)
            columns.append([long(x) for x in column])
        return [list(row) for row in zip(*columns, strict=True)]


def _at(values: Sequence[int], index: int) -> int:
    return values[index] if 0 <= index < len(values) else 0


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
