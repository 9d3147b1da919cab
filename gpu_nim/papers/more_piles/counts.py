"""How large the numbers D_k of P-positions with 2n counters get; docs/open-problems/largest-counts.md has the proofs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from math import comb

import numpy as np

from gpu_nim.counting.families import ByTotal, UpToTotal
from gpu_nim.counting.reductions import record_values
from gpu_nim.papers.by_definition import ENUMERATED, counts, index_scope, max_index
from gpu_nim.papers.catalogue import SOURCES, Case, Cases, Entry, Reach
from gpu_nim.papers.more_piles.digit_products import CERTIFIED, block, digit_matrices, eigenvalue_bounds, failures, root_bounds

MORE_PILES = SOURCES["more-piles"]
_FAR = 24  # binary digits of records
_RISING = (6, 10, 14, 18)
_SUMS = {
    3: (1, ((1, 4),)),
    4: (2, ((1, 8), (1, 6))),
    5: (6, ((1, 16), (5, 10))),
    6: (18, ((1, 32), (9, 16), (8, 14))),
}
_FACTORS = 5
_REPEATED = 40
_APPLIED = 48  # matrices, so that ratios come close to an eigenvalue
_TRIED = 40  # piles of what is proved or conjectured for more
_MULTIPLIED = 6  # factors of a product of polynomials


def _digits(upto: int) -> int:
    """The binary digits of the largest n: 12 for the usual reach, 16 for 1024."""
    return min(upto // 2, 5 + upto.bit_length())


def _few_zeros(digits: int) -> list[int]:
    """0 and the numbers of up to so many binary digits that have at most one 0 among them, rising."""
    ones = [2**m - 1 for m in range(digits + 1)]
    return sorted({*ones, *(2**m - 1 - 2**j for m in range(digits + 1) for j in range(m - 1))})


@Entry(MORE_PILES, "records-of-d4-d5", after="[NF] Lemma 26", reach=ENUMERATED)
def records(upto: int) -> Cases:
    """The records of D_4 and D_5 are at 0 and at the numbers with at most one binary 0, with values in closed form"""
    yield f"{index_scope((4, 5), upto)}, and up to {min(upto // 2, _FAR)} binary digits by digits"
    for k, e in ((4, 1), (5, 5)):
        c = comb(k, 2)
        known = counts("D", k, max_index(k, upto))
        found = [n for n, value in enumerate(known) if not n or value > max(known[:n])]
        stated = _few_zeros(_FAR)
        yield f"the records of D_{k} by enumeration", found, [n for n in stated if n < len(known)]
        digits = min(upto // 2, _FAR)
        expected = []
        for n in _few_zeros(digits):
            m, zeros = n.bit_length(), [j for j in range(n.bit_length()) if not n >> j & 1]
            expected.append((n, (c**m - c ** zeros[0] * e ** (m - zeros[0])) // (c - e) if zeros else c**m))
        yield f"the records of D_{k} to {digits} digits", record_values(ByTotal(k), 0, 2**digits, len(expected) + 1), expected


@Entry(MORE_PILES, "largest-counts", reach=Reach(None, 1024, 4))
def largest(upto: int) -> Cases:
    """D_k(n) <= rho^m for n < 2^m, for even k and for odd k to 29, with rho the largest eigenvalue of a block of the digit matrices

    For k = 2 mod 4 all rows of the digit matrices have the sum rho. For k = 0 mod 4 the product of m factors W(x^(2^j)) has its
    largest coefficient in the middle, a diagonal entry of the block's power. Odd k have certificates, of up to 220 rows; those for
    more than 25 piles take longer.
    """
    certified = [k for k in CERTIFIED if k <= max(25, upto // 32)]
    products = min(upto // 4, _MULTIPLIED)
    yield (
        f"certificates for k = {', '.join(map(str, certified))}; products of {products} factors for k = 4, 8, ..., {_TRIED}; "
        f"n up to 2^{_digits(upto)} for k to 14"
    )
    for k in certified:
        yield f"what fails in the certificate for k = {k}", failures(k), []
    for k in range(4, _TRIED + 1, 4):
        yield from _largest_in_the_middle(k, products)
    for k in range(4, 15):
        excess = 2 ** (k - 2) + abs(_real_power(k)) // 2
        rows = [int(sum(row)) for matrix in digit_matrices(k) for row in matrix]
        yield f"the largest sum of a row for k = {k}", max(rows), excess
        yield f"that rho lies between 2^{k - 2} and that sum", 2 ** (k - 2) <= root_bounds(k)[1] <= excess, True
        yield from _at_most_powers(k, _digits(upto))


def _largest_in_the_middle(k: int, factors: int) -> Iterator[Case]:
    """The product of W(x^(2^j)), multiplied out."""
    rho = root_bounds(k)[1]
    product = np.array([1], object)
    power = np.eye(k // 2 - 1, dtype=object)
    for m in range(1, factors + 1):
        spread = np.zeros(k // 2 * 2 ** (m - 1) + 1, object)
        spread[:: 2 ** (m - 1)] = [comb(k, 2 * i) for i in range(k // 2 + 1)]
        product = np.convolve(product, spread)
        power = power @ block(k)
        middle = power[k // 4 - 1, k // 4 - 1]
        yield (
            f"the largest coefficient of {m} factors for k = {k}, and the middle one",
            (max(product), product[len(product) // 2]),
            (middle,) * 2,
        )
        yield f"whether it is at most rho^{m}", middle * rho.denominator**m <= rho.numerator**m, True


@Entry(MORE_PILES, "largest-counts-further", reach=Reach(None, 1024, 6), conjecture=True)
def largest_further(upto: int) -> Cases:
    """D_k(n) <= rho^m for n < 2^m, and no product of m digit matrices has an eigenvalue above rho^m, for any k"""
    first = CERTIFIED[-1] + 2
    yield f"odd k from {first} to {_TRIED}, n up to 2^{_digits(upto)}, products of up to {min(upto // 8, _FACTORS)} matrices"
    for k in range(first, _TRIED + 1, 2):
        yield from _at_most_powers(k, _digits(upto))
        for m in range(1, min(upto // 8, _FACTORS) + 1):
            most = root_bounds(k)[1] ** m
            for word in product((0, 1), repeat=m):
                if word == min(word[i:] + word[:i] for i in range(m)):  # others have the same eigenvalues
                    yield f"whether the eigenvalues of M_{word} for k = {k} are up to rho^{m}", _least_ratio(k, word) <= most, True


def _least_ratio(k: int, word: tuple[int, ...]) -> Fraction:
    """A lower bound of the largest eigenvalue of a product P of digit matrices: the least ratio of entries of P x and x, x > 0."""
    return eigenvalue_bounds([digit_matrices(k)[digit] for digit in word], -(-_APPLIED // len(word)) - 1)[0]


def _at_most_powers(k: int, digits: int) -> Iterator[Case]:
    rho = root_bounds(k)[1]
    values = values_below(k, 2**digits)
    for m in range(digits + 1):
        within = max(values[: 2**m]) * rho.denominator**m <= rho.numerator**m
        yield f"whether D_{k}(n) <= rho^{m} for n < 2^{m}", within, True
    first = np.eye(len(block(k)), dtype=object)[0]
    for m in range(digits + 1):
        yield f"D_{k}(2^{m} - 1) by the block", first[0], values[2**m - 1]
        first = first @ block(k)


def values_below(k: int, stop: int) -> list[int]:
    """D_k at 0, ..., stop - 1, by the recursion of [NF] Theorem 29."""
    found = [1]
    for n in range(1, stop):
        found.append(sum(comb(k, 2 * i) * found[(n - i) // 2] for i in range(n % 2, min(n, k // 2) + 1, 2)))
    return found


def _real_power(k: int) -> int:
    """The real part of (1 + i)^k: C(k,0) - C(k,2) + C(k,4) - ..."""
    return sum((-1) ** i * comb(k, 2 * i) for i in range(k // 2 + 1))


@Entry(MORE_PILES, "smallest-counts-of-d4", after="[NF] Lemma 26", reach=Reach(None, 1024, 1))
def smallest(upto: int) -> Cases:
    """D_4(n) >= (25/72) 3^m for n of m binary digits, and D_4 at 10 repeated j times in binary is (3 9^j + 2 4^j)/5"""
    yield f"n up to 2^{_digits(upto)}, and {_REPEATED} times 10"
    values = values_below(4, 2 ** _digits(upto))
    for m in range(1, len(values).bit_length()):
        least = min(values[2 ** (m - 1) : 2**m])
        yield f"whether D_4(n) >= (25/72) 3^{m} for n of {m} digits", 72 * least >= 25 * 3**m, True
    for j in range(_REPEATED + 1):
        yield f"D_4 at {j} times 10", 5 * ByTotal(4).value(2 * (4**j - 1) // 3), 3 * 9**j + 2 * 4**j


@Entry(MORE_PILES, "counts-that-rise", reach=Reach(None, 1024, 1))
def rising(upto: int) -> Cases:
    """For k = 6, 10, 14, ... D_k rises at every step, by at most theta^m below 2^m, theta < 2^(k-2); D_6(2^m n) in closed form

    The factor W of the generating function has the root -1; W/(1 + x) has positive coefficients and makes the differences.
    """
    yield f"k = {', '.join(map(str, _RISING))}, n up to 2^{_digits(upto)}"
    digits = _digits(upto)
    for k in _RISING:
        weights = [comb(k, 2 * i) for i in range(k // 2 + 1)]
        quotient = [sum((-1) ** (i - j) * weights[j] for j in range(i + 1)) for i in range(len(weights))]
        yield f"the remainder of W for k = {k}", quotient.pop(), 0
        theta = max(sum(quotient[::2]), sum(quotient[1::2]))
        yield f"whether theta < 2^{k - 2}", theta < 2 ** (k - 2), True
        values = values_below(k, 2**digits)
        steps = [after - before for before, after in pairwise(values)]
        for m in range(1, digits + 1):
            below = steps[2 ** (m - 1) - 1 : 2**m - 1]
            yield f"whether D_{k} rises below 2^{m}, by up to theta^{m}", min(below) > 0 and max(below) <= theta**m, True
    for n in range(1, 2 ** min(digits, 4)):
        here, before, earlier = (ByTotal(6).value(n - i) if n >= i else 0 for i in range(3))
        for m in range(digits + 1):
            stated = 26 * here + 13 * (before + earlier) * (16**m - 1) + 15 * (before - earlier) * (14**m - 1)
            yield f"D_6(2^{m} * {n}) times 26", 26 * ByTotal(6).value(n << m), stated


@Entry(MORE_PILES, "sums-of-counts", after="[NF] Theorem 30", reach=ENUMERATED)
def sums(upto: int) -> Cases:
    """A_k(2^m - 1) = 4^m, (8^m + 6^m)/2, (16^m + 5 10^m)/6 and (32^m + 9 16^m + 8 14^m)/18 for k = 3, 4, 5, 6"""
    yield index_scope(_SUMS, upto)
    for k, (divisor, terms) in _SUMS.items():
        known = counts("A", k, max_index(k, upto))
        for m in range(len(known).bit_length()):
            yield f"A_{k}(2^{m} - 1)", divisor * known[2**m - 1], sum(factor * base**m for factor, base in terms)
        for m in (64, 100):
            stated = sum(factor * base**m for factor, base in terms)
            yield f"A_{k}(2^{m} - 1)", divisor * UpToTotal(k).value(2**m - 1), stated
