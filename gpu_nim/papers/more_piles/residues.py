"""Which remainders D_k leaves modulo primes, and how often; docs/open-problems/remainders-of-counts.md has the proofs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from math import comb
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.counting.long_integers import flint
from gpu_nim.papers.by_definition import ENUMERATED, counts, index_scope, max_index
from gpu_nim.papers.catalogue import Cases, Entry, Reach
from gpu_nim.papers.more_piles.counts import MORE_PILES, values_below
from gpu_nim.papers.more_piles.digit_products import digit_matrices

_ENUMERATED = (2, 3, 4, 5, 6, 7)
_MOST_PILES = 33
_TERMS = 2048
# By piles: the quotient of the eigenvalues of M_1, the primes modulo which it has an order up to 5, and those without that density.
_EIGENVALUES = {4: (6, {5, 37, 43, 311}, {2, 3, 7}), 5: (2, {3, 7, 31}, {2, 5})}
_FURTHER = 17
_PROVED = 40
_WORDS = 4096  # of which one has few cycles
_CYCLES = 200
_STATES = 4000


@Entry(MORE_PILES, "counts-mod-2", reach=ENUMERATED)
def parity(upto: int) -> Cases:
    """D_k(n) = C(n + d - 1, d - 1) mod 2 with d = floor(k/2), of the least period 2^s >= d; of each period 2^wt(2^s - d) are odd"""
    yield f"{index_scope(_ENUMERATED, upto)}; k to {_MOST_PILES}, n up to {_terms(upto)}"
    for k in _ENUMERATED:
        known = counts("D", k, max_index(k, upto))
        found = [value % 2 for value in known]
        yield f"the parities of D_{k} by enumeration", found, [_is_odd_binomial(n, k // 2 - 1) for n in range(len(known))]
    for k in range(2, _MOST_PILES + 1):
        d = k // 2
        period = 1 << (d - 1).bit_length()
        odd = [value % 2 for value in values_below(k, max(_terms(upto), 2 * period))]
        yield f"the parities of D_{k}", odd, [_is_odd_binomial(n, d - 1) for n in range(len(odd))]
        repeats = [odd[step:] == odd[:-step] for step in range(1, period + 1)]
        yield f"the periods of D_{k} mod 2", repeats.index(True) + 1, period
        yield f"the odd values of D_{k} in a period", sum(odd[:period]), 2 ** (period - d).bit_count()


def _terms(upto: int) -> int:
    return min(4 * upto, _TERMS)


def _is_odd_binomial(n: int, lower: int) -> int:
    """C(n + lower, lower) mod 2, by Kummer's theorem: whether the sum of n and `lower` carries."""
    return int(n & lower == 0)


@Entry(MORE_PILES, "counts-mod-p", reach=Reach(_TERMS // 4, _TERMS // 4, 1))
def modulo_primes(upto: int) -> Cases:
    """Mod odd primes p, D_pk(n) is D_k(n/p), D_k(n) is [k/2 divides n] for k = p^a + p^b, counts sums of powers of 2 for p - 1"""
    yield f"k to {_MOST_PILES}, n up to {4 * upto}"
    stop = 4 * upto
    for p in _primes(3, _MOST_PILES):
        powers = [p**i for i in range(_MOST_PILES.bit_length()) if p**i <= _MOST_PILES]
        for k in range(1, _MOST_PILES // p + 1):
            fewer = _remainders(k, p, stop)
            yield f"D_{p * k} mod {p}", _remainders(p * k, p, stop), [0 if n % p else fewer[n // p] for n in range(stop)]
        for k in {high + low for high in powers for low in powers if high >= low and high > 1 and high + low <= _MOST_PILES}:
            yield f"D_{k} mod {p}", _remainders(k, p, stop), [int(n % (k // 2) == 0) for n in range(stop)]
        partitions = [count % p for count in _partitions(p // 2, stop)]
        yield f"D_{p - 1} mod {p}", _remainders(p - 1, p, stop), partitions
    yield "D_4 mod 7", _remainders(4, 7, stop), [(1, 6, 0)[n % 3] for n in range(stop)]
    yield "D_6 mod 7", _remainders(6, 7, stop), [(n // 2 + 1) % 7 for n in range(stop)]


def _remainders(k: int, p: int, stop: int) -> list[int]:
    return [value % p for value in values_below(k, stop)]


def _partitions(most: int, stop: int) -> list[int]:
    """The numbers of ways to write 0, ..., stop - 1 as a sum of powers of 2, each at most `most` times."""
    found = [1] + [0] * (stop - 1)
    for part in (2**i for i in range(stop.bit_length())):
        found = [sum(found[n - times * part] for times in range(most + 1) if times * part <= n) for n in range(stop)]
    return found


@Entry(MORE_PILES, "remainders-of-d4-d5", reach=Reach(512, 512, 5))
def of_four_and_five(upto: int) -> Cases:
    """Modulo p >= 5, not 7, D_4 leaves 0 with density 1/(p + 1), others with p/(p^2 - 1); so does D_5 modulo p >= 3, not 5

    All pairs (D_k(n), D_k(n-1)) mod p but (0, 0) occur, and each digit permutes them, 0 fixing one: all are equally frequent.
    """
    yield f"primes to {upto}, and those that the proof leaves to computing"
    for k, (ratio, computed, exceptions) in _EIGENVALUES.items():
        small = {p for p in _primes(2, ratio**5) if any(ratio**order % p == 1 for order in range(1, 6))}
        yield f"the primes that the proof leaves out for k = {k}", small - exceptions, computed
        for p in sorted({*_primes(2, upto), *computed} - exceptions):
            yield f"whether {p} divides a determinant for k = {k}", _is_singular(k, p), False
            yield f"the number of pairs of values of D_{k} mod {p}", _states(k, p), p**2 - 1


@Entry(MORE_PILES, "remainders-further", reach=Reach(80, 80, 7), conjecture=True)
def further(upto: int) -> Cases:
    """For odd p that divide no determinant nor k, D_k mod p has p^d - p^r states, where squaring permutes r < d roots of W(-x)"""
    yield f"k from 4 to {_FURTHER}, p^d up to 2^{_bits(upto)}, d = floor(k/2)"
    for k in range(4, _FURTHER + 1):
        d = k // 2
        for p in _primes(3, round(2 ** (_bits(upto) / d))):
            if k % p and not _is_singular(k, p) and (r := _permuted_roots(k, p)) < d:
                yield f"the number of states of D_{k} mod {p}", _states(k, p), p**d - p**r


@Entry(MORE_PILES, "remainders-of-more-piles", reach=Reach(16, 100, 8))
def all_states(upto: int) -> Cases:
    """For k to 40 and odd p < 100 that divide no determinant nor k, D_k mod p has p^d - p^r states, if r is 0 or 1

    r is the number of roots of W(-x) mod p, with multiplicity, in the largest set of them that squaring permutes.
    """
    yield f"k to {_PROVED}, p up to {upto}"
    for k in range(4, _PROVED + 1):
        for p in _primes(3, upto):
            if k % p and not _is_singular(k, p) and (r := _permuted_roots(k, p)) < min(2, k // 2):
                yield f"whether all states of D_{k} mod {p} are found in cycles", _are_in_cycles(k, p, r), True


def _are_in_cycles(k: int, p: int, r: int) -> bool:
    """Whether s(0), s(1), ... are in all the cycles in which some product of digit matrices moves the images that are not 0.

    The images are the states that belong to V = W/(1 + x)^r. If the characteristic polynomial of the product is irreducible, the
    polynomials of it are a field, and the images are these times that of s(0). A cycle is a coset of the powers of x, and elements
    lie in one if their powers with the length of the cycles as exponent are equal.

    For r = 1 also whether something that the product does not change has more values than there are cycles.
    """
    x, one = (flint().nmod_poly(terms, p) for terms in ([0, 1], [1]))
    weights = flint().nmod_poly([comb(k, 2 * i) % p for i in range(k // 2 + 1)], p)
    of_states, of_images = _digit_matrices(weights, p), _digit_matrices(weights // (one + x) ** r, p)
    size = k // 2 - r
    everything = p**size - 1
    primes = [int(prime) for prime, _ in flint().fmpz(everything).factor()]
    scales = next(length for length in range(1, p) if r == 0 or pow(2, (k - 2) * length, p) == 1)
    for word in range(1, _WORDS):
        digits = [*map(int, f"{word:b}")]
        digits += [0] * (-len(digits) % scales)
        product = reduce(mul, (of_images[digit] for digit in digits))
        field = product.charpoly()
        if field.factor()[1] != [(field, 1)]:
            continue
        length = everything
        for prime in primes:
            while length % prime == 0 and pow(x, length // prime, field) == 1:
                length //= prime
        cycles = everything // length
        if cycles > (p - 1 if r else _CYCLES):
            continue
        power, powers = next(_states_at(of_images, p)), []
        for _ in range(size):
            powers.append(power.entries())
            power = product * power
        elements = flint().nmod_mat(powers, p).transpose().inv()
        whole = reduce(mul, (of_states[digit] for digit in digits))
        kept = 0 * whole
        for term in reversed(field.coeffs()):
            kept = kept * whole + whole**0 * term
        cosets, values = set(), set()
        for image, state in zip(_states_at(of_images, p), _states_at(of_states, p), strict=True):
            cosets.add(str(pow(flint().nmod_poly((elements * image).entries(), p), length, field)))
            values.add(int((kept * state)[0, 0]))
            if len(cosets) == cycles and (r == 0 or len(values) > cycles):
                return True
        return False
    return False


def _digit_matrices(weights: Any, p: int) -> list[Any]:
    size, terms = weights.degree(), weights.coeffs()
    return [
        flint().nmod_mat([[terms[at] if 0 <= (at := 2 * j + b - i) <= size else 0 for j in range(size)] for i in range(size)], p)
        for b in (0, 1)
    ]


def _states_at(matrices: list[Any], p: int) -> Iterator[Any]:
    """s(0), s(1), ..."""
    found = [flint().nmod_mat([[int(not i)] for i in range(matrices[0].nrows())], p)]
    yield found[0]
    for n in range(1, _STATES):
        found.append(matrices[n & 1] * found[n >> 1])
        yield found[n]


def _permuted_roots(k: int, p: int) -> int:
    """How many roots of W(-x) mod p, with multiplicity, are in the largest set of them that squaring permutes."""
    polynomial = partial(flint().nmod_poly, mod=p)
    roots = polynomial([(-1) ** i * comb(k, 2 * i) % p for i in range(k // 2 + 1)])
    while True:
        with_squares = roots.gcd(roots(polynomial([0, 0, 1])))
        # S(x) S(-x) has the squares of the roots of S, at x^2.
        squares = with_squares * with_squares(polynomial([0, p - 1]))
        kept = with_squares.gcd(polynomial(squares.coeffs()[::2]))
        if kept.degree() == roots.degree():
            return int(roots.degree())
        roots = kept


def _bits(upto: int) -> int:
    return 8 + upto // 8


def _primes(first: int, last: int) -> list[int]:
    return [n for n in range(max(first, 2), last + 1) if flint().fmpz(n).is_prime()]


def _states(k: int, p: int) -> int:
    """How many states (D_k(n), ..., D_k(n-d+1)) mod p occur."""
    matrices = [(matrix % p).astype(np.int64) for matrix in digit_matrices(k)]
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


def _is_singular(k: int, p: int) -> bool:
    """Whether p divides the determinant of a digit matrix, which then has the same image for different states mod p."""
    return any(int(flint().fmpz_mat(matrix.tolist()).det()) % p == 0 for matrix in digit_matrices(k))
