"""[NF] section 4: a_k and d_k, and section 5.1: D_3 and A_3.  Formulas and recursions are computed as they are printed."""

from __future__ import annotations

import numpy as np

from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.counting.families import find_family
from gpu_nim.games.nim.positions import nim_sum
from gpu_nim.papers.by_definition import ENUMERATED, counts, grown, index_scope, max_index
from gpu_nim.papers.catalogue import Cases, Entry, Printed, Reach
from gpu_nim.papers.nim_fractals.section_2_and_3 import NF, first_terms, formulas, sequence

_ODD, _EVEN = (3, 5, 7), (2, 4, 6)


formulas("Theorem 11", "d_3(n) = 6c - 3 for n > 0")


sequence("A241717", "d_3(n), three piles.", 1, 3, 3, 9, 3, 9, 15, 21, 3, 9, 15, 21, 27, 33, 39, 45, 3, 9)


@Entry(NF, "Section 4.1, triangle", name="nf-triangle", reach=ENUMERATED, command="gpunim render figure:d3 -o d3.svg", figure="d3")
def triangle(upto: int) -> Cases:
    """In rows of 1, 2, 4, 8, ... numbers d_3 shows that each row begins as the next one: all begin as A016945, 6n + 3."""
    terms = first_terms("A241717", 32)
    rows = ((3,), (3, 9), (3, 9, 15, 21), (3, 9, 15, 21, 27, 33, 39, 45), tuple(range(3, 94, 6)))
    yield Printed("the first five rows", [terms[2**b : 2 ** (b + 1)] for b in range(5)], rows)
    yield f"n up to {max_index(3, upto)}"
    d = counts("d", 3, max_index(3, upto))
    for b in range(len(d).bit_length() - 1):
        row = d[1 << b : 2 << b]
        yield f"the row of d_3 from {1 << b}", list(row), [6 * n + 3 for n in range(len(row))]


sequence("A016945", "6n + 3, to which the rows of d_3 converge.", 3, 9, 15, 21, 27, 33, 39, 45, 51, 57, 63, 69, 75, 81, 87, 93)


formulas("Theorem 12", "a_3(n) = 2^(2b) + 3c^2 for n > 0")


sequence("A236305", "a_3(n), three piles.", 1, 4, 7, 16, 19, 28, 43, 64, 67, 76, 91, 112)


formulas("Theorem 13", "a_4(n) = 2^(3b) + 6c^2 2^b + a_4(c-1) for n > 0")


@Entry(NF, "Theorem 13, proof", also=("nf-theorem-13",))
def large_piles() -> Cases:
    """The first three piles, not less than 2^b, uniquely define a P-position in which all piles are not less than 2^b; there are
    2^(3b) of these.

    Slip: "Not less than 2^b" must read less than 2^b, both times: 4, 8 and 12 are not less than 4, and leave a fourth pile of
    0.
    """
    yield Printed("whether the fourth pile beside 4, 8 and 12 is not less than 4", nim_sum((4, 8, 12)) >= 4, True, False)
    found = [find_family("a", 4).value(2**b - 1) for b in range(4)]
    yield Printed("the number of P-positions of four piles that are less than 2^b, for b = 0 to 3", found, (1, 8, 64, 512))


sequence("A241522", "a_4(n), four piles.", 1, 8, 21, 64, 89, 168, 301, 512, 561, 712)


formulas("Corollary 14", "d_4(n) = (12c - 6) 2^b + d_4(c-1) for n > 0")


sequence("A241718", "d_4(n), four piles.", 1, 7, 13, 43, 25, 79, 133, 211, 49, 151, 253)


formulas("Theorem 15", "a_k(n) = ((2^b + c)^k + (2^b - c)^k) / 2^(b+1) for odd k and n > 0", _ODD)


formulas("Theorem 15, proof", "a_k(n) = sum_i C(k,2i) 2^(b(k-2i-1)) c^(2i) for odd k and n > 0", _ODD, name="nf-proof-15")


formulas("Theorem 15, k = 5", "a_5(n) = 2^(4b) + 10 2^(2b) c^2 + 5c^4 for n > 0", name="nf-theorem-15-k5")


sequence("A241523", "a_5(n), five piles.", 1, 16, 61, 256, 421, 976, 2101, 4096, 4741)


formulas(
    "Theorem 16", "d_k(n) = ((2^b + c)^k + (2^b - c)^k - (2^b + c - 1)^k - (2^b - c + 1)^k) / 2^(b+1) for odd k and n > 0", _ODD
)


formulas("Theorem 16, k = 5", "d_5(n) = 10 2^(2b) (2c - 1) + 20c^3 - 30c^2 + 20c - 5 for n > 0", name="nf-theorem-16-k5")


sequence("A241731", "d_5(n), five piles.", 1, 15, 45, 195, 165, 555, 1125, 1995, 645)


formulas("Theorem 17", "a_k(n) = ((2^b + c)^k + (2^b - c)^k - 2c^k) / 2^(b+1) + a_k(c-1) for even k and n > 0", _EVEN)


formulas(
    "Theorem 18",
    "d_k(n) = ((2^b+c)^k + (2^b-c)^k - (2^b+c-1)^k - (2^b-c+1)^k - 2c^k + 2(c-1)^k) / 2^(b+1) + d_k(c-1) for even k and n > 0",
    _EVEN,
)


formulas("Theorem 19", "D_3(n) = 3^s(n), s(n) the number of 1s in the binary expansion of n")


sequence("A048883", "D_3(n), three piles.", 1, 3, 3, 9, 3, 9, 9, 27, 3, 9, 9, 27, 9, 27, 27, 81, 3, 9)


formulas("Section 5.1, recursion of D_3", "D_3(2n) = D_3(n) and D_3(2n+1) = 3D_3(n)", name="nf-d3-recursion")


@Entry(NF, "Section 5.1, multisets", name="nf-multiset", reach=ENUMERATED)
def multisets(upto: int) -> Cases:
    """S_0 = {1}, and S_(i+1) is S_i followed by three times S_i, gives D_3(0), ..., D_3(2^i - 1). So S_2 = {1,3,3,9}, and S_3 adds
    {3,9,9,27}.
    """
    found = first_terms("A048883", 8)
    yield Printed("S_2, the terms D_3(0) to D_3(3)", found[:4], (1, 3, 3, 9))
    yield Printed("what S_3 adds, the terms D_3(4) to D_3(7)", found[4:], (3, 9, 9, 27))
    yield index_scope((3,), upto)
    D = counts("D", 3, max_index(3, upto))
    terms = [1]
    while len(terms) <= len(D):
        yield f"D_3 below {len(terms)}", list(D[: len(terms)]), terms
        terms = terms + [3 * term for term in terms]


sequence("A130665", "A_3(n), the partial sums of D_3.", 1, 4, 7, 16, 19, 28, 37, 64, 67, 76, 85, 112, 121, 148, 175)


formulas("Section 5.1, recursion of A_3", "A_3(2n) = 3A_3(n-1) + A_3(n) and A_3(2n+1) = 4A_3(n)", name="nf-a3-recursion")


@Entry(
    NF,
    "Section 5.1, automaton",
    name="nf-three-branches",
    reach=Reach(31, 127, 3),  # grown literally
    command="gpunim grow ulam-warburton-3 --gen 14",
)
def three_branches(upto: int) -> Cases:
    """A130665, A_3(n), also counts the cells in three branches of the Ulam-Warburton automaton after generation n."""
    found = np.cumsum(GrowthProcess("ulam-warburton-3", 14, "numpy", verify=False).growth().births)
    terms = (1, 4, 7, 16, 19, 28, 37, 64, 67, 76, 85, 112, 121, 148, 175)
    yield Printed("the cells of `ulam-warburton-3` after generations 0 to 14", found, terms)
    yield index_scope((3,), upto)
    A = counts("A", 3, max_index(3, upto))
    population = 0
    for n, born in enumerate(grown(find("ulam-warburton-3").rule, len(A) - 1)):
        population += len(born)
        yield f"the cells after generation {n}", population, A[n]
