"""[NF] sections 5.5 and 5.6: D_k and A_k of four piles and more."""

from __future__ import annotations

from collections import Counter
from math import comb

from gpu_nim.papers.by_definition import ENUMERATED, counts, index_scope, max_index
from gpu_nim.papers.catalogue import Cases, Entry, Reach
from gpu_nim.papers.nim_fractals.section_2_and_3 import NF, formulas, sequence

_PILES = (1, 2, 3, 4, 5, 6, 7)


def weights(letter: str, piles: int) -> tuple[list[int], list[int]]:
    """Return what D_k(m), D_k(m-1), ..., or A_k, have as factors in the value at 2m and at 2m + 1 [NF, Theorems 29 and 30].

    >>> weights("D", 7), weights("A", 4)
    (([1, 35], [21, 7]), ([1, 7], [7, 1]))
    """
    if letter == "D":
        return [comb(piles, i) for i in range(0, piles + 1, 4)], [comb(piles, i) for i in range(2, piles + 1, 4)]
    even = [1, *(comb(piles, i) + comb(piles, i + 2) for i in range(2, piles + 1, 4))]
    return even, [comb(piles, i) + comb(piles, i + 2) for i in range(0, piles + 1, 4)]


def by_recursion(letter: str, piles: int, n: int) -> int:
    """Return D_k(n) or A_k(n) by the recursions; n may have thousands of digits.

    At each of its log2(n) levels at most a few dozen indices are visited. They are collected level by level, and then the values
    are computed from the last level up.

    >>> [by_recursion("D", 4, n) for n in range(9)], [by_recursion("A", 4, n) for n in range(9)]
    ([1, 6, 7, 36, 13, 42, 43, 216, 49], [1, 7, 14, 50, 63, 105, 148, 364, 413])
    """
    factors = weights(letter, piles)
    levels = [{n}]
    while max(levels[-1]) > 0:
        met = {m // 2 - i for m in levels[-1] if m > 0 for i in range(len(factors[m % 2]))}
        # A level may be left empty below index 0; f(0) = 1 is where the recursion ends.
        levels.append({m for m in met if m >= 0} or {0})
    values: dict[int, int] = {}
    for level in reversed(levels):
        values = {m: 1 if m == 0 else sum(w * values.get(m // 2 - i, 0) for i, w in enumerate(factors[m % 2])) for m in level}
    return values[n]


sequence("A237711", "D_4(n), four piles.", 1, 6, 7, 36, 13, 42, 43, 216, 49, 78, 55, 252, 85)


formulas("Lemma 26", "D_4(0) = 1, D_4(1) = 6, D_4(2n+1) = 6D_4(n), D_4(2n+2) = D_4(n+1) + D_4(n)")


sequence("A237686", "A_4(n), four piles.", 1, 7, 14, 50, 63, 105, 148, 364, 413, 491, 546, 798, 883, 1141)


formulas("Lemma 27", "A_4(0) = 1, A_4(1) = 7, A_4(2n+1) = 7A_4(n) + A_4(n-1), A_4(2n+2) = 7A_4(n) + A_4(n+1)")


@Entry(NF, "Lemma 28", reach=Reach())
def two_terms(upto: int) -> Cases:
    """D_k(0) = 1 and D_k(1) = C(k, 2) for any number of piles"""
    most = min(max(upto, 1), 18)
    yield f"k up to {most}"
    for k in range(1, most + 1):
        yield f"D_{k}(0), D_{k}(1)", counts("D", k, 1), (1, comb(k, 2))


def _by_weights(letter: str, upto: int) -> Cases:
    yield index_scope(_PILES, upto)
    for k in _PILES:
        known = counts(letter, k, max_index(k, upto))
        values = Counter(dict(enumerate(known)))
        for m in range(1, len(known)):
            stated = sum(weight * values[m // 2 - i] for i, weight in enumerate(weights(letter, k)[m % 2]))
            yield f"{letter}_{k}({m})", known[m], stated


@Entry(NF, "Theorem 29", reach=ENUMERATED)
def any_piles(upto: int) -> Cases:
    """D_k(2n+1) = C(k,2)D_k(n) + C(k,6)D_k(n-1) + ..., D_k(2n+2) = C(k,0)D_k(n+1) + C(k,4)D_k(n) + ..."""
    yield from _by_weights("D", upto)


formulas(
    "Theorem 29, k = 5", "D_5(0) = 1, D_5(1) = 10, D_5(2n+1) = 10D_5(n), D_5(2n+2) = D_5(n+1) + 5D_5(n)", name="nf-theorem-29-k5"
)


sequence("A238759", "D_5(n), five piles.", 1, 10, 15, 100, 65, 150, 175, 1000, 565)


@Entry(NF, "Theorem 30", reach=ENUMERATED)
def any_piles_up_to(upto: int) -> Cases:
    """A_k(2n+1) = (C(k,0)+C(k,2))A_k(n) + (C(k,4)+C(k,6))A_k(n-1) + ...,
    A_k(2n+2) = C(k,0)A_k(n+1) + (C(k,2)+C(k,4))A_k(n) + ...
    """
    yield from _by_weights("A", upto)


formulas(
    "Theorem 30, k = 5",
    "A_5(0) = 1, A_5(1) = 11, A_5(2n+1) = 11A_5(n) + 5A_5(n-1), A_5(2n+2) = A_5(n+1) + 15A_5(n)",
    name="nf-theorem-30-k5",
)


sequence("A238147", "A_5(n), five piles.", 1, 11, 26, 126, 191, 341, 516, 1516, 2081)
