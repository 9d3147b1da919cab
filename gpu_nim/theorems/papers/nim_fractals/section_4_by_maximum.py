"""[NF] sections 3.1 and 4: a_k and d_k.  Formulas are written as in the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from math import comb

from gpu_nim.theorems.catalogue import Case, Check, compared_cases, statement
from gpu_nim.theorems.exhaustive import ENUMERATED, counts, index_scope, max_index

_ODD, _EVEN = (3, 5, 7), (2, 4, 6)


def _split(n: int) -> tuple[int, int]:
    """The paper's b and c: n = 2^b - 1 + c with 1 <= c <= 2^b."""
    b = n.bit_length() - 1
    return b, n + 1 - (1 << b)


def _formula(letter: str, piles: Sequence[int], *, recursive: bool = False) -> Callable[[Callable[[int, int, int], int]], Check]:
    """Return a decorator that compares a formula in k, b and c with the counts for n > 0; `recursive` adds the value at c - 1."""

    def decorated(formula: Callable[[int, int, int], int]) -> Check:
        @wraps(formula)
        def cases(upto: int) -> Iterator[Case]:
            for k in piles:
                known = counts(letter, k, max_index(k, upto))
                for n, counted in enumerate(known[1:], 1):
                    b, c = _split(n)
                    yield f"{letter}_{k}({n})", counted, formula(k, b, c) + (known[c - 1] if recursive else 0)

        return compared_cases(lambda upto: index_scope(piles, upto))(cases)

    return decorated


@statement("nf-corollary-7", "[NF] Corollary 7", "a_k(floor(2n/k)) <= A_k(n) <= a_k(n)", thorough=ENUMERATED)
@compared_cases(lambda upto: index_scope(range(2, 8), upto))
def sandwich(upto: int) -> Iterator[Case]:
    for k in range(2, 8):
        a, A = (counts(name, k, max_index(k, upto)) for name in "aA")
        for n in range(len(a)):
            yield f"a_{k}({2 * n // k}) <= A_{k}({n}) <= a_{k}({n})", a[2 * n // k] <= A[n] <= a[n], True


@statement("nf-lemma-8", "[NF] Lemma 8", "a_k(2^m - 1) = 2^(m(k-1))", thorough=ENUMERATED)
@compared_cases(lambda upto: index_scope(range(1, 8), upto))
def powers_of_two(upto: int) -> Iterator[Case]:
    for k in range(1, 8):
        a = counts("a", k, max_index(k, upto))
        for m in range((len(a)).bit_length()):
            yield f"a_{k}({2**m - 1})", a[2**m - 1], 2 ** (m * (k - 1))


@statement(
    "nf-corollary-9",
    "[NF] Corollary 9",
    "2^((k-1) floor(log2(floor(2n/k)+1))) <= A_k(n) <= 2^((k-1) ceil(log2(n+1)))",
    thorough=ENUMERATED,
)
@compared_cases(lambda upto: index_scope(range(2, 8), upto))
def powers_around(upto: int) -> Iterator[Case]:
    for k in range(2, 8):
        for n, counted in enumerate(counts("A", k, max_index(k, upto))):
            low = 2 ** ((k - 1) * ((2 * n // k + 1).bit_length() - 1))
            high = 2 ** ((k - 1) * n.bit_length())
            yield f"{low} <= A_{k}({n}) = {counted} <= {high}", low <= counted <= high, True


@statement(
    "nf-b-and-c",
    "[NF] section 3.2",
    "n = 2^b - 1 + c with 2^b <= n < 2^(b+1) and 1 <= c <= 2^b; n is 2^b and then the digits of c - 1",
    thorough=ENUMERATED,
)
@compared_cases(lambda upto: f"n up to {upto}")
def b_and_c(upto: int) -> Iterator[Case]:
    for n in range(1, upto + 1):
        b, c = _split(n)
        yield f"n by b = {b} and c = {c}", 2**b - 1 + c, n
        yield f"the bounds of b = {b} and c = {c} at {n}", (2**b <= n < 2 ** (b + 1), 1 <= c <= 2**b), (True, True)
        yield f"the binary digits of {n}", "1" + f"{c - 1:0{b}b}" * (b > 0), f"{n:b}"


@statement("nf-theorem-11", "[NF] Theorem 11", "d_3(n) = 6c - 3 for n > 0", thorough=ENUMERATED)
@_formula("d", (3,))
def d_three(k: int, b: int, c: int) -> int:
    return 6 * c - 3


@statement(
    "nf-triangle",
    "[NF] section 4.1",
    "the row of d_3 from 2^b to 2^(b+1) - 1 is the beginning of A016945, 6n + 3",
    thorough=ENUMERATED,
)
@compared_cases(lambda upto: f"n up to {max_index(3, upto)}")
def triangle(upto: int) -> Iterator[Case]:
    d = counts("d", 3, max_index(3, upto))
    for b in range(len(d).bit_length() - 1):
        row = d[1 << b : 2 << b]
        yield f"the row of d_3 from {1 << b}", list(row), [6 * n + 3 for n in range(len(row))]


@statement("nf-theorem-12", "[NF] Theorem 12", "a_3(n) = 2^(2b) + 3c^2 for n > 0", thorough=ENUMERATED)
@_formula("a", (3,))
def a_three(k: int, b: int, c: int) -> int:
    return int(4**b) + 3 * c**2


@statement("nf-theorem-13", "[NF] Theorem 13", "a_4(n) = 2^(3b) + 6c^2 2^b + a_4(c-1) for n > 0", thorough=ENUMERATED)
@_formula("a", (4,), recursive=True)
def a_four(k: int, b: int, c: int) -> int:
    return int(8**b + 6 * c**2 * 2**b)


@statement("nf-corollary-14", "[NF] Corollary 14", "d_4(n) = (12c - 6) 2^b + d_4(c-1) for n > 0", thorough=ENUMERATED)
@_formula("d", (4,), recursive=True)
def d_four(k: int, b: int, c: int) -> int:
    return int((12 * c - 6) * 2**b)


@statement(
    "nf-theorem-15", "[NF] Theorem 15", "a_k(n) = ((2^b + c)^k + (2^b - c)^k) / 2^(b+1) for odd k and n > 0", thorough=ENUMERATED
)
@_formula("a", _ODD)
def a_odd(k: int, b: int, c: int) -> int:
    return int(((2**b + c) ** k + (2**b - c) ** k) // 2 ** (b + 1))


@statement(
    "nf-theorem-16",
    "[NF] Theorem 16",
    "d_k(n) = ((2^b + c)^k + (2^b - c)^k - (2^b + c - 1)^k - (2^b - c + 1)^k) / 2^(b+1) for odd k and n > 0",
    thorough=ENUMERATED,
)
@_formula("d", _ODD)
def d_odd(k: int, b: int, c: int) -> int:
    return int(((2**b + c) ** k + (2**b - c) ** k - (2**b + c - 1) ** k - (2**b - c + 1) ** k) // 2 ** (b + 1))


@statement(
    "nf-theorem-17",
    "[NF] Theorem 17",
    "a_k(n) = ((2^b + c)^k + (2^b - c)^k - 2c^k) / 2^(b+1) + a_k(c-1) for even k and n > 0",
    thorough=ENUMERATED,
)
@_formula("a", _EVEN, recursive=True)
def a_even(k: int, b: int, c: int) -> int:
    return int(((2**b + c) ** k + (2**b - c) ** k - 2 * c**k) // 2 ** (b + 1))


@statement(
    "nf-theorem-18",
    "[NF] Theorem 18",
    "d_k(n) = ((2^b+c)^k + (2^b-c)^k - (2^b+c-1)^k - (2^b-c+1)^k - 2c^k + 2(c-1)^k) / 2^(b+1) + d_k(c-1) for even k and n > 0",
    thorough=ENUMERATED,
)
@_formula("d", _EVEN, recursive=True)
def d_even(k: int, b: int, c: int) -> int:
    rising = (2**b + c) ** k + (2**b - c) ** k - 2 * c**k
    before = (2**b + c - 1) ** k + (2**b - c + 1) ** k - 2 * (c - 1) ** k
    return int((rising - before) // 2 ** (b + 1))


@statement(
    "nf-proof-15",
    "[NF] proof of Theorem 15",
    "a_k(n) = sum_i C(k,2i) 2^(b(k-2i-1)) c^(2i) for odd k and n > 0",
    thorough=ENUMERATED,
)
@_formula("a", _ODD)
def a_odd_expanded(k: int, b: int, c: int) -> int:
    return int(sum(comb(k, i) * 2 ** (b * (k - i - 1)) * c**i for i in range(0, k, 2)))


@statement("nf-theorem-15-k5", "[NF] section 4.3", "a_5(n) = 2^(4b) + 10 2^(2b) c^2 + 5c^4 for n > 0", thorough=ENUMERATED)
@_formula("a", (5,))
def a_five(k: int, b: int, c: int) -> int:
    return int(16**b + 10 * 4**b * c**2 + 5 * c**4)


@statement(
    "nf-theorem-16-k5", "[NF] section 4.3", "d_5(n) = 10 2^(2b) (2c - 1) + 20c^3 - 30c^2 + 20c - 5 for n > 0", thorough=ENUMERATED
)
@_formula("d", (5,))
def d_five(k: int, b: int, c: int) -> int:
    return int(10 * 4**b * (2 * c - 1) + 20 * c**3 - 30 * c**2 + 20 * c - 5)
