"""Which remainders the counts leave modulo primes, and how often: recomputes what remainders-of-counts.md says.

    python docs/open-problems/remainders-of-counts.py

prints a line for each statement, and ends with status 1 if anything is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache, partial, reduce
from math import comb, lcm
from operator import mul
from typing import Any

import numpy as np
from _comparisons import Case, compare
from flint import fmpz, nmod_mat, nmod_poly
from numpy.typing import NDArray

from gpu_nim import count

_TERMS = 2048
_MOST_PILES = 33  # of the theorems modulo 2 and on periods
_FURTHER = 17  # the most piles whose states are counted, and
_STATES = 2**18  # the most states
_PROVED = 40  # the most piles, and
_PRIMES = 100  # above the largest prime of the theorem on more piles
_WORDS = 4096  # products of digit matrices, of which one has few cycles
_CYCLES = 200
_TRIED = 4000  # states that are in all cycles
# By piles: the quotient of the eigenvalues of M_1, the primes modulo which it has an order up to 5, and those without that density.
_EIGENVALUES = {4: (6, {5, 37, 43, 311}, {2, 3, 7}), 5: (2, {3, 7, 31}, {2, 5})}
_DENSITIES = 512  # the largest prime of four and five piles
_MOVED = 64  # products of digit matrices by which a translation is moved to the image of s(0)
_COUNTED = (6, 11)  # the pair of which no product is known whose power translates


def weights(k: int) -> list[int]:
    """The coefficients of W."""
    return [comb(k, 2 * i) for i in range(k // 2 + 1)]


def digit_matrices(terms: Sequence[int]) -> list[list[list[int]]]:
    """M_0 and M_1 of the product of P(x^(2^j)), by the coefficients of P."""
    of_power, rows = dict(enumerate(terms)), range(len(terms) - 1)
    return [[[int(of_power.get(2 * j + b - i, 0)) for j in rows] for i in rows] for b in (0, 1)]


@cache
def values(k: int) -> list[int]:
    """D_k(0), D_k(1), ..."""
    return [int(value) for value in count("D", range(_TERMS), piles=k)]


def primes(first: int, last: int) -> list[int]:
    """The primes from a number to another one."""
    return [n for n in range(max(first, 2), last + 1) if fmpz(n).is_prime()]


def modulo_2() -> Iterator[Case]:
    """D_k(n) = C(n + d - 1, d - 1) mod 2, of the least period 2^s >= d; of each period 2^w values are odd."""
    for k in range(2, _MOST_PILES + 1):
        d = k // 2
        period = 1 << (d - 1).bit_length()
        odd = [value % 2 for value in values(k)]
        # By Kummer's theorem the binomial coefficient is odd if the sum of n and d - 1 has no carry.
        yield f"the parities of D_{k}", odd, [int(n & (d - 1) == 0) for n in range(_TERMS)]
        yield f"the periods of D_{k} mod 2", [odd[step:] == odd[:-step] for step in range(1, period + 1)].index(True) + 1, period
        yield f"the odd values of D_{k} in a period", sum(odd[:period]), 2 ** (period - d).bit_count()


def periodic() -> Iterator[Case]:
    """D_pk(n) is D_k(n/p), D_k(n) is [k/2 divides n] for k = p^a + p^b, and counts sums of powers of 2 for p - 1."""
    for p in primes(3, _MOST_PILES):
        for k in range(1, _MOST_PILES // p + 1):
            fewer = remainders(k, p)
            yield f"D_{p * k} mod {p}", remainders(p * k, p), [0 if n % p else fewer[n // p] for n in range(_TERMS)]
        powers = [p**i for i in range(_MOST_PILES.bit_length()) if p**i <= _MOST_PILES]
        for k in {high + low for high in powers for low in powers if high >= low and high > 1 and high + low <= _MOST_PILES}:
            yield f"D_{k} mod {p}", remainders(k, p), [int(n % (k // 2) == 0) for n in range(_TERMS)]
        yield f"D_{p - 1} mod {p}", remainders(p - 1, p), [number % p for number in _sums_of_powers(p // 2)]
    yield "D_4 mod 7", remainders(4, 7), [(1, 6, 0)[n % 3] for n in range(_TERMS)]
    yield "D_6 mod 7", remainders(6, 7), [(n // 2 + 1) % 7 for n in range(_TERMS)]


def remainders(k: int, p: int) -> list[int]:
    """D_k(0), D_k(1), ... modulo p."""
    return [value % p for value in values(k)]


def _sums_of_powers(most: int) -> list[int]:
    """The numbers of ways to write 0, 1, ... as a sum of powers of 2, each at most `most` times."""
    found = [1] + [0] * (_TERMS - 1)
    for part in (2**i for i in range(_TERMS.bit_length())):
        found = [sum(found[n - times * part] for times in range(most + 1) if times * part <= n) for n in range(_TERMS)]
    return found


def four_and_five() -> Iterator[Case]:
    """All pairs (D_k(n), D_k(n-1)) mod p but (0, 0) occur, and each digit permutes them."""
    for k, (ratio, computed, exceptions) in _EIGENVALUES.items():
        small = {p for p in primes(2, ratio**5) if any(ratio**order % p == 1 for order in range(1, 6))}
        yield f"the primes that the proof leaves out for k = {k}", small - exceptions, computed
        for p in sorted({*primes(2, _DENSITIES), *computed} - exceptions):
            yield f"whether {p} divides a determinant for k = {k}", is_singular(k, p), False
            yield f"the number of pairs of values of D_{k} mod {p}", states(k, p), p**2 - 1


def counted() -> Iterator[Case]:
    """D_k mod p has p^d - p^r states, if p divides no determinant nor k and r < d."""
    for k in range(4, _FURTHER + 1):
        d = k // 2
        for p in primes(3, round(_STATES ** (1 / d))):
            if k % p and not is_singular(k, p) and (r := permuted_roots(k, p).degree()) < d:
                yield f"the number of states of D_{k} mod {p}", states(k, p), p**d - p**r


def in_cycles_and_fibres() -> Iterator[Case]:
    """The same for up to 40 piles and primes below 100."""
    numbers = dict.fromkeys(range(4), 0)
    periodic = 0
    for k in range(4, _PROVED + 1):
        for p in primes(3, _PRIMES):
            if k % p and not is_singular(k, p):
                roots = permuted_roots(k, p)
                if roots.degree() == k // 2:
                    periodic += 1
                    continue
                numbers[roots.degree()] += 1
                yield f"whether all images of D_{k} mod {p} are found in cycles", are_in_cycles(k, p, roots), True
                if roots.degree():
                    found = are_in_fibres(k, p, roots)
                    yield f"whether translations of D_{k} mod {p} lead to all states of an image", found, (k, p) != _COUNTED
    yield "the numbers of pairs with r = 0, 1, 2, 3", numbers, {0: 580, 1: 174, 2: 7, 3: 7}
    yield "the number of pairs with r = d", periodic, 8
    yield "the number of states of D_6 mod 11", states(*_COUNTED), 1320
    for k in range(4, 11):  # also where squaring permutes more roots, so that not all states occur
        for p in (3, 5, 7, 11):
            if k % p and not is_singular(k, p):
                number = states(k, p)
                found = are_in_cycles(k, p, nmod_poly([1], p))
                yield f"whether all states of D_{k} mod {p} but 0 are in cycles", found, number == p ** (k // 2) - 1
                if k % 4 == 2 and (k, p) != _COUNTED:
                    roots = nmod_poly([1, -1], p)
                    found = are_in_cycles(k, p, roots) and are_in_fibres(k, p, roots)
                    yield f"whether p^d - p states of D_{k} mod {p} are found", found, number == p ** (k // 2) - p


def are_in_cycles(k: int, p: int, roots: Any) -> bool:
    """Whether s(0), s(1), ... have images in all the cycles in which some product of digit matrices moves those that are not 0.

    The images are the states that belong to V = W/R(-x). If the characteristic polynomial of the product is irreducible, the
    polynomials of it are a field, and the images are these times that of s(0). A cycle is a coset of the powers of x, and elements
    lie in one if their powers with the length of the cycles as exponent are equal.
    """
    x = nmod_poly([0, 1], p)
    of_images = _matrices_modulo((nmod_poly(weights(k), p) // roots(-x)).coeffs(), p)
    size = k // 2 - roots.degree()
    everything = p**size - 1
    factors = [int(prime) for prime, _ in fmpz(everything).factor()]
    for word in range(1, _WORDS):
        product = _of_digits(of_images, word)
        field = product.charpoly()
        if field.factor()[1] != [(field, 1)]:
            continue
        length = everything
        for prime in factors:
            while length % prime == 0 and pow(x, length // prime, field) == 1:
                length //= prime
        cycles = everything // length
        if cycles > _CYCLES:
            continue
        power, powers = next(_states_at(of_images, p)), []
        for _ in range(size):
            powers.append(power.entries())
            power = product * power
        elements = nmod_mat(powers, p).transpose().inv()
        cosets = set()
        for image in _states_at(of_images, p):
            cosets.add(str(pow(nmod_poly((elements * image).entries(), p), length, field)))
            if len(cosets) == cycles:
                return True
        return False
    return False


def are_in_fibres(k: int, p: int, roots: Any) -> bool:
    """Whether powers of products of digit matrices that change neither images nor K translate the states of one image by all of K.

    K are the states whose image is 0. Where such a power is 1 + t, t leads from the states to K and is 0 on K.
    """
    d, r = k // 2, roots.degree()
    of_states = _matrices_modulo(weights(k), p)
    image = nmod_mat([[int(roots[i - j]) if i >= j else 0 for i in range(d)] for j in range(d - r)], p)
    kernel = nmod_mat(image.nullspace()[0].transpose().tolist()[:r], p).transpose()
    exponent = lcm(*(p**i - 1 for i in range(1, d + 1)))
    moves = [_of_digits(of_states, word) for word in range(_MOVED)]
    start = next(_states_at(of_states, p))
    found: list[Any] = []
    for word in range(1, _WORDS):
        product = _of_digits(of_states, word)
        field = product.charpoly()
        if field.gcd(field.derivative()) == 1:  # all powers with that exponent are 1
            continue
        change = _value_at(pow(nmod_poly([0, 1], p), exponent, field) - 1, product)
        if (image * change).rank() == (change * kernel).rank() == 0:
            for move in moves:
                more = [*found, (move.inv() * change * move * start).entries()]
                if nmod_mat(more, p).rank() == len(more):
                    found = more
        if len(found) == r:
            return True
    return False


def _of_digits(matrices: list[Any], word: int) -> Any:
    """The product of digit matrices by the digits of a number."""
    return reduce(mul, (matrices[int(digit)] for digit in f"{word:b}"))


def _value_at(polynomial: Any, matrix: Any) -> Any:
    found = 0 * matrix
    for term in reversed(polynomial.coeffs()):
        found = found * matrix + matrix**0 * term
    return found


def _matrices_modulo(terms: Sequence[Any], p: int) -> list[Any]:
    return [nmod_mat(matrix, p) for matrix in digit_matrices([int(term) for term in terms])]


def _states_at(matrices: list[Any], p: int) -> Iterator[Any]:
    """s(0), s(1), ..."""
    found = [nmod_mat([[int(not i)] for i in range(matrices[0].nrows())], p)]
    yield found[0]
    for n in range(1, _TRIED):
        found.append(matrices[n & 1] * found[n >> 1])
        yield found[n]


def permuted_roots(k: int, p: int) -> Any:
    """R, with R(0) = 1, of the largest set of roots of W(-x) mod p, with multiplicity, that squaring permutes."""
    polynomial = partial(nmod_poly, mod=p)
    roots = polynomial([(-1) ** i * weight for i, weight in enumerate(weights(k))])
    while True:
        with_squares = roots.gcd(roots(polynomial([0, 0, 1])))
        # S(x) S(-x) has the squares of the roots of S, at x^2.
        squares = with_squares * with_squares(polynomial([0, p - 1]))
        kept = with_squares.gcd(polynomial(squares.coeffs()[::2]))
        if kept.degree() == roots.degree():
            return roots * pow(int(roots[0]), -1, p)
        roots = kept


def states(k: int, p: int) -> int:
    """How many states (D_k(n), ..., D_k(n-d+1)) mod p occur."""
    matrices = [np.array([[entry % p for entry in row] for row in matrix]) for matrix in digit_matrices(weights(k))]
    size = len(matrices[0])
    places = p ** np.arange(size)
    seen = np.zeros(p**size, np.bool_)
    found: NDArray[np.int64] = np.eye(size, dtype=np.int64)[:1]
    while len(found):
        seen[found @ places] = True
        found = np.concatenate([found @ matrix.T % p for matrix in matrices])
        numbers = found @ places
        found = found[np.unique(np.where(seen[numbers], -1, numbers), return_index=True)[1]]
        found = found[~seen[found @ places]]
    return int(seen.sum())


def is_singular(k: int, p: int) -> bool:
    """Whether p divides the determinant of a digit matrix, which then has the same image for different states mod p."""
    return any(matrix.det() == 0 for matrix in _matrices_modulo(weights(k), p))


if __name__ == "__main__":
    sys.exit(
        compare(
            {
                f"modulo 2, to {_MOST_PILES} piles": modulo_2(),
                f"periodic modulo odd primes, to {_MOST_PILES} piles": periodic(),
                f"all states of D_4 and D_5 modulo primes to {_DENSITIES}": four_and_five(),
                f"p^d - p^r states, to {_PROVED} piles, primes below {_PRIMES}": in_cycles_and_fibres(),
                f"the same by counting, to {_FURTHER} piles and 2^18 states": counted(),
            }
        )
    )
