"""2-regular sequences by matrices of rational numbers, minimized: identities between them are decided for every index.

The value at n is row . M_d1 ... M_dl . s for the binary digits d1, ..., dl of n, the lowest first. Sums, products and shifts of
2-regular sequences are such sequences (Allouche and Shallit, The ring of k-regular sequences, 1992). A sequence is minimized by
leaving out what no digits reach, and what no digits show: it is 0 everywhere exactly if nothing is left (Berstel and Reutenauer,
Noncommutative Rational Series, 2011).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import comb
from operator import mul
from typing import Any, Literal, TypeAlias

import numpy as np

from gpu_nim.counting.digit_matrices import DigitProduct

#: Rational numbers of Python in an array (n,) or (n, n); lists are taken as well.
Vector: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class RegularSequence:
    """A 2-regular sequence of rational numbers.

    Attributes:
        row: the row above.
        matrices: M_0 and M_1, s(2n + d) = M_d s(n).
        start: s(0), with M_0 s(0) = s(0); or s(1), of a sequence that begins there.
        first: the first index, 0 or 1.

    >>> n = index()
    >>> (n * n - (n - 1) * (n + 1) - 1).rank, (n * n).rank, int((n * n).value(7))
    (0, 3, 49)
    >>> n(2 * n + 1).value(10**20) == 2 * 10**20 + 1
    True
    """

    row: Vector
    matrices: Sequence[Vector]
    start: Vector
    first: int = 0

    def __post_init__(self) -> None:
        matrices = np.array(self.matrices, object).reshape(2, len(self.row), len(self.row))
        vars(self).update(row=np.array(self.row, object), matrices=matrices, start=np.array(self.start, object))

    @property
    def rank(self) -> int:
        """The number of entries of a state; 0 for the sequence that is 0."""
        return len(self.row)

    def value(self, n: int) -> Fraction | int:
        """Return the value at an index."""
        state = self.start
        for digit in f"{n:b}"[self.first :] if n else "":
            state = self.matrices[int(digit)] @ state
        value: Fraction | int = self.row @ state
        return value

    def counterexample(self) -> dict[str, int] | None:
        """Return the first index with a value that is not 0, or None: one that is not 0 everywhere is not 0 below 2^rank.

        >>> (index() * index() - 3 * index() + 2).counterexample(), (index() - index()).counterexample()
        ({'n': 0}, None)
        """
        return next(({"n": n} for n in range(self.first, (1 << self.rank) + 1) if self.value(n)), None)

    def sage(self, name: str) -> str:
        """Return a program for Sage with the matrices of the sequence, and a function of its values.

        Args:
            name: the name of the function.

        >>> print(index().sage("n"))
        row = vector(QQ, [1, 0])
        M = [matrix(QQ, [[2, 0], [0, 1]]), matrix(QQ, [[2, 1], [0, 1]])]
        start = vector(QQ, [0, 1])
        <BLANKLINE>
        def n(n):
            return row * prod([M[d] for d in ZZ(n).digits(2)], identity_matrix(QQ, 2)) * start
        """
        row, start = (f"vector(QQ, [{', '.join(map(str, vector))}])" for vector in (self.row, self.start))
        rows = ((f"[{', '.join(map(str, row))}]" for row in matrix) for matrix in self.matrices)
        matrices = ", ".join(f"matrix(QQ, [{', '.join(each)}])" for each in rows)
        digits = f"ZZ(n).digits(2){'[:-1]' * self.first}"  # of an index from 1 on, without its leading 1
        value = f"row * prod([M[d] for d in {digits}], identity_matrix(QQ, {self.rank})) * start"
        return f"row = {row}\nM = [{matrices}]\nstart = {start}\n\ndef {name}(n):\n    return {value}"

    def _start_at(self, first: int) -> Vector:
        return self.start if first == self.first else self.matrices[1] @ self.start

    def __add__(self, other: RegularSequence | int) -> RegularSequence:
        other = as_sequence(other)
        none = np.zeros((self.rank, other.rank), object)
        matrices = [np.block([[one, none], [none.T, two]]) for one, two in zip(self.matrices, other.matrices, strict=True)]
        first = max(self.first, other.first)
        return _minimized([*self.row, *other.row], matrices, [*self._start_at(first), *other._start_at(first)], first)

    def __mul__(self, other: RegularSequence | Fraction | int) -> RegularSequence:
        other = as_sequence(other)
        first = max(self.first, other.first)
        matrices = [*map(np.kron, self.matrices, other.matrices)]
        start = np.kron(self._start_at(first), other._start_at(first))
        return _minimized(np.kron(self.row, other.row), matrices, start, first)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> RegularSequence:
        return self * -1

    def __sub__(self, other: RegularSequence | int) -> RegularSequence:
        return self + -1 * as_sequence(other)

    def __rsub__(self, other: int) -> RegularSequence:
        return -self + other

    def __pow__(self, exponent: int) -> RegularSequence:
        return reduce(mul, [self] * exponent, as_sequence(1))

    def __floordiv__(self, other: RegularSequence) -> RegularSequence:
        """Return the exact quotient by a sequence that each digit multiplies by a number."""
        (((zero,),), ((one,),)), (start,), (row,) = other.matrices, other.start, other.row
        inverse = [[[1 / Fraction(zero)]], [[1 / Fraction(one)]]]
        return self * RegularSequence([1 / Fraction(row)], inverse, [1 / Fraction(start)], other.first)

    def __call__(self, argument: RegularSequence | int) -> RegularSequence:
        """Return the sequence of the values at an index that is a number, n, 2n, 2n + 1, 2n + 2, n - 1 or n + 1, or n without its
        leading 1, or all of whose digits are 1.
        """
        if isinstance(argument, int):
            return as_sequence(self.value(argument))
        n = index()
        known: list[tuple[RegularSequence, Callable[[], RegularSequence]]] = [
            (n, lambda: self),
            (2 * n, lambda: self._then(0)),
            (2 * n + 1, lambda: self._then(1)),
            (2 * n + 2, lambda: self._then(0).beside(1)),
            (n - 1, lambda: self.beside(-1)),
            (n + 1, lambda: self.beside(1)),
            (n - powers_by_length(2), lambda: RegularSequence(self.row, self.matrices, self.start, 1)),
            (powers_by_length(2) - 1, lambda: RegularSequence(self.row, (self.matrices[1],) * 2, self.start, 1)),
        ]
        return next(made() for each, made in known if not (each - argument).rank)

    def _then(self, digit: int) -> RegularSequence:
        return RegularSequence(self.row @ self.matrices[digit], self.matrices, self.start, self.first)

    def beside(self, by: Literal[1, -1]) -> RegularSequence:
        """Return the values at n + 1, or at n - 1, which are 0 before the first index.

        Args:
            by: 1 or -1.
        """
        (zero, one), none = self.matrices, np.zeros_like(self.matrices[0])
        if by == 1:
            matrices = [np.block([[zero, none], [one, none]]), np.block([[one, none], [none, zero]])]
            start = [*self.start, *self.matrices[1 - self.first] @ self.start]
        else:
            matrices = [np.block([[zero, none], [none, one]]), np.block([[one, none], [zero, none]])]
            start = [*self.start, *[0] * self.rank]
        return _minimized([*[0] * self.rank, *self.row], matrices, start, self.first)


def as_sequence(value: RegularSequence | Fraction | int) -> RegularSequence:
    """Return a sequence, that of a number everywhere."""
    return value if isinstance(value, RegularSequence) else RegularSequence([value], ([[1]], [[1]]), [1])


def index() -> RegularSequence:
    """Return the sequence of n itself."""
    return RegularSequence([1, 0], ([[2, 0], [0, 1]], [[2, 1], [0, 1]]), [0, 1])


def powers_by_length(base: Fraction | int) -> RegularSequence:
    """Return base^b, for the number b of binary digits of n > 0 after its leading 1."""
    return RegularSequence([1], ([[base]], [[base]]), [1], 1)


def of_digit_product(product: DigitProduct) -> RegularSequence:
    """Return a digit product as a sequence.

    >>> three = of_digit_product(DigitProduct((1, 3)))
    >>> n = index()
    >>> (three(2 * n + 1) - 3 * three).rank
    0
    """
    return RegularSequence(product.first_state, product.matrices, product.first_state)


def up_to_maximum(piles: int) -> RegularSequence:
    """Return a_k by its definition, digit by digit from the highest: the state is how many P-positions of k piles there are so far,
    by the number of their piles that are equal to n so far.

    Piles that are equal so far have the digit of n, or less, and then they are free. All piles together have an even number of 1s.

    >>> [up_to_maximum(3).value(n) for n in range(8)]
    [1, 4, 7, 16, 19, 28, 43, 64]
    """
    zero, one = ([[0] * (piles + 1) for _ in range(piles + 1)] for _ in range(2))
    for equal in range(piles + 1):
        others = piles - equal
        zero[equal][equal] = 1 << max(others - 1, 0)
        for still in range(equal + 1):
            one[still][equal] = comb(equal, still) * (1 << (others - 1) if others else (still + 1) % 2)
    return RegularSequence([1] * (piles + 1), (zero, one), [0] * piles + [1])


def at_maximum(piles: int) -> RegularSequence:
    """Return d_k, the differences of a_k.

    >>> [int(at_maximum(3).value(n)) for n in range(8)]
    [1, 3, 3, 9, 3, 9, 15, 21]
    """
    a = up_to_maximum(piles)
    return a - a.beside(-1)


def powers_by_ones(base: int) -> RegularSequence:
    """Return base^s, for the number s of 1s among the binary digits of n."""
    return RegularSequence([1], ([[1]], [[base]]), [1])


def _minimized(row: Vector, matrices: Sequence[Vector], start: Vector, first: int) -> RegularSequence:
    for _ in range(2):  # what no digits reach is left out, and then, with rows as columns, what none show
        start, matrices, basis = _reached(np.array(start, object), matrices)
        row, matrices, start = start, [matrix.T for matrix in matrices], [row @ vector for vector in basis]
    return RegularSequence(row, matrices, start, first)


def _reached(start: Vector, matrices: Sequence[Vector]) -> tuple[Vector, list[Vector], list[Vector]]:
    """Return a vector and matrices in a basis of the vectors that are reached from it, and this basis."""
    basis: list[Vector] = []
    pivots: list[int] = []

    def coordinates(vector: Vector) -> list[Fraction | int]:
        found = []
        for pivot, known in zip(pivots, basis, strict=True):
            found.append(factor := vector[pivot])
            vector = vector - factor * known if factor else vector
        if (pivot := next((at for at, x in enumerate(vector) if x), -1)) >= 0:
            pivots.append(pivot)
            basis.append(vector / Fraction(vector[pivot]))
            found.append(vector[pivot])
        return found

    columns = [coordinates(start)]
    for vector in basis:  # which grows
        columns += [coordinates(matrix @ vector) for matrix in matrices]
    wide = np.zeros((len(columns), len(basis)), object)
    for column, each in zip(wide, columns, strict=True):
        column[: len(each)] = each
    return wide[0], [wide[1::2].T, wide[2::2].T], basis
