"""[NF] section 5: D_k and A_k.  Recursions are written as in the paper, over counts by exhaustive enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from math import comb

from gpu_nim.automata.catalogue import find
from gpu_nim.theorems import by_definition
from gpu_nim.theorems.catalogue import Case, Check, check_cases, compared_cases, statement
from gpu_nim.theorems.check_result import CheckResult
from gpu_nim.theorems.exhaustive import ENUMERATED, counts, index_scope, max_index

Recursion = Callable[[int, Counter[int], int, int], int]
"""Gives the value of k piles at 2n + odd, of k, the values by their index, 0 below index 0, n and odd."""

_PILES = (1, 2, 3, 4, 5, 6, 7)


def _recursion(letter: str, piles: Sequence[int], *first: int) -> Callable[[Recursion], Check]:
    """Return a decorator that compares a recursion, and the first values if they are given, with the counts."""

    def decorated(recursion: Recursion) -> Check:
        @wraps(recursion)
        def cases(upto: int) -> Iterator[Case]:
            for k in piles:
                known = counts(letter, k, max_index(k, upto))
                if first:
                    yield f"{letter}_{k}(0), {letter}_{k}(1)", known[:2], first
                values = Counter(dict(enumerate(known)))
                for m in range(1, len(known)):
                    yield f"{letter}_{k}({m})", known[m], recursion(k, values, *divmod(m, 2))

        return compared_cases(lambda upto: index_scope(piles, upto))(cases)

    return decorated


@statement(
    "nf-theorem-19", "[NF] Theorem 19", "D_3(n) = 3^s(n), s(n) the number of 1s in the binary expansion of n", thorough=ENUMERATED
)
def binary_weight(upto: int) -> CheckResult:
    D = counts("D", 3, max_index(3, upto))
    return check_cases(((f"D_3({n})", found, 3 ** n.bit_count()) for n, found in enumerate(D)), index_scope((3,), upto))


@statement("nf-d3-recursion", "[NF] section 5.1", "D_3(2n) = D_3(n) and D_3(2n+1) = 3D_3(n)", thorough=ENUMERATED)
@_recursion("D", (3,))
def three_piles(k: int, D: Counter[int], n: int, odd: int) -> int:
    return 3 * D[n] if odd else D[n]


@statement(
    "nf-multiset",
    "[NF] section 5.1",
    "S_0 = {1} and S_(i+1) = S_i followed by 3 S_i gives D_3(0), ..., D_3(2^i - 1)",
    thorough=ENUMERATED,
)
@compared_cases(lambda upto: index_scope((3,), upto))
def multiset_recursion(upto: int) -> Iterator[Case]:
    D = counts("D", 3, max_index(3, upto))
    terms = [1]
    while len(terms) <= len(D):
        yield f"D_3 below {len(terms)}", list(D[: len(terms)]), terms
        terms = terms + [3 * term for term in terms]


@statement("nf-a3-recursion", "[NF] section 5.1", "A_3(2n) = 3A_3(n-1) + A_3(n) and A_3(2n+1) = 4A_3(n)", thorough=ENUMERATED)
@_recursion("A", (3,))
def three_piles_up_to(k: int, A: Counter[int], n: int, odd: int) -> int:
    return 4 * A[n] if odd else 3 * A[n - 1] + A[n]


@statement(
    "nf-three-branches",
    "[NF] section 5.1",
    "A_3(n) is the number of cells of three branches of the Ulam-Warburton automaton after generation n",
    at_most=31,  # grown literally
    thorough=(127, 3),
)
@compared_cases(lambda upto: index_scope((3,), upto))
def three_branches(upto: int) -> Iterator[Case]:
    A = counts("A", 3, max_index(3, upto))
    population = 0
    for n, born in enumerate(by_definition.grown(find("ulam-warburton-3").rule, len(A) - 1)):
        population += len(born)
        yield f"the cells after generation {n}", population, A[n]


@statement(
    "nf-lemma-26",
    "[NF] Lemma 26",
    "D_4(0) = 1, D_4(1) = 6, D_4(2n+1) = 6D_4(n), D_4(2n+2) = D_4(n+1) + D_4(n)",
    thorough=ENUMERATED,
)
@_recursion("D", (4,), 1, 6)
def four_piles(k: int, D: Counter[int], n: int, odd: int) -> int:
    return 6 * D[n] if odd else D[n] + D[n - 1]


@statement(
    "nf-lemma-27",
    "[NF] Lemma 27",
    "A_4(0) = 1, A_4(1) = 7, A_4(2n+1) = 7A_4(n) + A_4(n-1), A_4(2n+2) = 7A_4(n) + A_4(n+1)",
    thorough=ENUMERATED,
)
@_recursion("A", (4,), 1, 7)
def four_piles_up_to(k: int, A: Counter[int], n: int, odd: int) -> int:
    return 7 * A[n] + A[n - 1] if odd else 7 * A[n - 1] + A[n]


@statement("nf-lemma-28", "[NF] Lemma 28", "D_k(0) = 1 and D_k(1) = C(k, 2)")
def first_terms(upto: int) -> CheckResult:
    most = min(max(upto, 1), 18)
    cases = ((f"D_{k}(0), D_{k}(1)", counts("D", k, 1), (1, comb(k, 2))) for k in range(1, most + 1))
    return check_cases(cases, f"k up to {most}")


@statement(
    "nf-theorem-29",
    "[NF] Theorem 29",
    "D_k(2n+1) = C(k,2)D_k(n) + C(k,6)D_k(n-1) + ..., D_k(2n+2) = C(k,0)D_k(n+1) + C(k,4)D_k(n) + ...",
    thorough=ENUMERATED,
)
@_recursion("D", _PILES)
def any_piles(k: int, D: Counter[int], n: int, odd: int) -> int:
    return sum(comb(k, 2 * odd + 4 * i) * D[n - i] for i in range(k))


@statement(
    "nf-theorem-30",
    "[NF] Theorem 30",
    "A_k(2n+1) = (C(k,0)+C(k,2))A_k(n) + (C(k,4)+C(k,6))A_k(n-1) + ..., A_k(2n+2) = C(k,0)A_k(n+1) + (C(k,2)+C(k,4))A_k(n) + ...",
    thorough=ENUMERATED,
)
@_recursion("A", _PILES)
def any_piles_up_to(k: int, A: Counter[int], n: int, odd: int) -> int:
    if odd:
        return sum((comb(k, 4 * i) + comb(k, 4 * i + 2)) * A[n - i] for i in range(k))
    return A[n] + sum((comb(k, 4 * i + 2) + comb(k, 4 * i + 4)) * A[n - 1 - i] for i in range(k))


@statement(
    "nf-theorem-29-k5",
    "[NF] section 5.6",
    "D_5(0) = 1, D_5(1) = 10, D_5(2n+1) = 10D_5(n), D_5(2n+2) = D_5(n+1) + 5D_5(n)",
    thorough=ENUMERATED,
)
@_recursion("D", (5,), 1, 10)
def five_piles(k: int, D: Counter[int], n: int, odd: int) -> int:
    return 10 * D[n] if odd else D[n] + 5 * D[n - 1]


@statement(
    "nf-theorem-30-k5",
    "[NF] section 5.6",
    "A_5(0) = 1, A_5(1) = 11, A_5(2n+1) = 11A_5(n) + 5A_5(n-1), A_5(2n+2) = A_5(n+1) + 15A_5(n)",
    thorough=ENUMERATED,
)
@_recursion("A", (5,), 1, 11)
def five_piles_up_to(k: int, A: Counter[int], n: int, odd: int) -> int:
    return 11 * A[n] + 5 * A[n - 1] if odd else A[n] + 15 * A[n - 1]
