"""[NF] sections 2 to 4: positions, and P-positions indexed by maximum."""

from functools import partial

from gpu_nim.games.nim import positions as nim
from gpu_nim.jobs.count import count
from gpu_nim.oeis.catalogue import entries
from gpu_nim.reproduction.computed import first_terms, outcome, sequence
from gpu_nim.reproduction.item import Comparison, Item
from gpu_nim.theorems.exhaustive import p_positions

_NEW = "A236305 A237686 A237711 A238147 A238759 A241522 A241523 A241717 A241718 A241731"


def _rows_of_d3() -> list[list[int]]:
    """The numbers d_3(1), d_3(2), ... in rows of 1, 2, 4, 8 and 16."""
    terms = first_terms("A241717", 32)
    return [terms[2**b : 2 ** (b + 1)] for b in range(5)]


def _one_pile(family: str) -> object:
    """The first nine values of a family with one pile."""
    return count(family, range(9), piles=1, backend="numpy")


ITEMS = (
    Item(
        "Abstract, new sequences",
        "The paper introduces ten sequences, which its last page lists by their OEIS numbers.",
        (Comparison("those that `gpunim count` gives", lambda: " ".join(n for n in _NEW.split() if n in entries()), _NEW),),
        command="gpunim count A241731 --range 0:9",
    ),
    Item(
        "Definition 1",
        "In a P-position the previous player wins, in an N-position the next one. Nim's position without counters is a P-position.",
        (Comparison("the outcome of (0,0,0)", partial(outcome, 0, 0, 0), "P"),),
        command="gpunim nim 0 0 0",
    ),
    Item(
        "Theorem 2",
        "If the positions of a finite game can be divided into A and B so that every move from A leads to B, some move from each "
        "position of B to A, and the terminal positions are in A, then A are the P-positions and B the N-positions.",
        checks=("nf-theorem-2",),
    ),
    Item(
        "Definition 3",
        "The nim-sum adds binary digits modulo 2. It is associative and commutative, 0 is its identity, and x ⊕ y = x ⊕ z implies "
        "y = z.",
        checks=("f-nim-sum",),
    ),
    Item("Theorem 4", "Bouton, 1901: the P-positions of Nim are the positions with nim-sum 0.", checks=("nf-theorem-4",)),
    Item(
        "Corollary 5",
        "The last pile of a P-position is the nim-sum of the others, and so a function of them.",
        checks=("nf-corollary-5",),
    ),
    Item(
        "Section 3, indexed by maximum",
        "a_k(n) counts the P-positions of k piles with no pile above n, d_k(n) those whose largest pile is n; d_k are the first "
        "differences of a_k, a_k the partial sums of d_k.",
        checks=("nf-differences",),
    ),
    Item(
        "Section 3, indexed by total",
        "A_k(n) counts the P-positions with at most 2n counters, D_k(n) those with exactly 2n; D_k are the first differences of "
        "A_k, A_k the partial sums of D_k.",
        checks=("nf-differences",),
    ),
    Item("Section 3, totals", "The total number of counters in a P-position is even.", checks=("nf-even-totals",)),
    Item(
        "Section 3, self-similarity",
        "With three piles below 2^k, adding 2^k to two of them gives a P-position if and only if it was one.",
        checks=("nf-self-similarity",),
    ),
    Item("Lemma 6", "The total of a P-position is at least twice its largest pile and at most k times.", checks=("nf-lemma-6",)),
    Item("Corollary 7", "So the counts by maximum bound those by total, from below and from above.", checks=("nf-corollary-7",)),
    Item(
        "Corollary 7, proof",
        "Every position with no pile above 2n/k must have a total of less than 2n.",
        (
            Comparison(
                "whether all P-positions of two piles of at most 3 have totals below 2·3",
                lambda: all(sum(piles) < 6 for piles in p_positions(2, 3).tolist()),
                True,
                False,
            ),
        ),
        ("nf-corollary-7",),
        slip="The total is at most 2n, not less: (3,3) has no pile above 3 = 2·3/2 and the total 6. The corollary needs no more.",
    ),
    Item("Lemma 8", "At n = 2^m - 1 the count by maximum is a power of 2.", checks=("nf-lemma-8",)),
    Item("Corollary 9", "Two powers of 2 bound A_k(n).", checks=("nf-corollary-9",)),
    Item(
        "Section 3.2, one pile",
        "One pile has one P-position, (0): a_1(n) = A_1(n) = 1, A000012, and d_1(0) = D_1(0) = 1, d_1(n) = D_1(n) = 0 after, "
        "A000007.",
        (
            Comparison("a_1(0) to a_1(8)", partial(_one_pile, "a"), (1,) * 9),
            Comparison("A_1(0) to A_1(8)", partial(_one_pile, "A"), (1,) * 9),
            Comparison("d_1(0) to d_1(8)", partial(_one_pile, "d"), (1, *(0,) * 8)),
            Comparison("D_1(0) to D_1(8)", partial(_one_pile, "D"), (1, *(0,) * 8)),
        ),
        ("nf-one-pile",),
        command="gpunim count a --piles 1 --range 0:9",
    ),
    sequence("A000012", "All 1: a_1 and A_1, d_2 and D_2.", *(1,) * 12),
    sequence("A000007", "1, then 0: d_1 and D_1.", 1, *(0,) * 11),
    Item("Lemma 10", "The P-positions of two piles are the pairs of equal piles.", checks=("nf-lemma-10",)),
    Item(
        "Section 3.2, two piles",
        "So a_2(n) = A_2(n) = n + 1, which is A000027 with the initial offset 0, and d_2(n) = D_2(n) = 1, A000012.",
        checks=("nf-two-piles",),
    ),
    sequence("A000027", "The positive integers: a_2 and A_2.", *range(1, 13)),
    Item(
        "Section 3.2, b and c",
        "n = 2^b - 1 + c with b = floor(log2 n) and 1 <= c <= 2^b: b is the number of binary digits of n, and c - 1 is n without "
        "the first of them.",
        (
            Comparison(
                "the number of binary digits of n = 1 to 8, beside b = 0, 1, 1, 2, 2, 2, 2, 3",
                lambda: [len(nim.binary_columns([n])[1]) for n in range(1, 9)],
                (0, 1, 1, 2, 2, 2, 2, 3),
                (1, 2, 2, 3, 3, 3, 3, 4),
            ),
        ),
        ("nf-b-and-c",),
        command="gpunim nim 8",
        slip="b is one less than the number of binary digits, or their number after the first one; the formulas use it so.",
    ),
    Item("Theorem 11", "The number of P-positions of three piles whose largest pile is n.", checks=("nf-theorem-11",)),
    sequence("A241717", "d_3(n), three piles.", 1, 3, 3, 9, 3, 9, 15, 21, 3, 9, 15, 21, 27, 33, 39, 45, 3, 9),
    Item(
        "Section 4.1, triangle",
        "In rows of 1, 2, 4, 8, ... numbers d_3 shows that each row begins as the next one.",
        (
            Comparison(
                "the first five rows",
                _rows_of_d3,
                ((3,), (3, 9), (3, 9, 15, 21), (3, 9, 15, 21, 27, 33, 39, 45), tuple(range(3, 94, 6))),
            ),
        ),
        ("nf-triangle",),
        command="gpunim render figure:d3 -o d3.svg",
        figure="d3",
    ),
    sequence("A016945", "6n + 3, to which the rows of d_3 converge.", 3, 9, 15, 21, 27, 33, 39, 45, 51, 57, 63, 69, 75, 81, 87, 93),
    Item("Theorem 12", "The number of P-positions of three piles with no pile above n.", checks=("nf-theorem-12",)),
    sequence("A236305", "a_3(n), three piles.", 1, 4, 7, 16, 19, 28, 43, 64, 67, 76, 91, 112),
    Item("Theorem 13", "Four piles, recursively, since all four may have their highest digit at 2^b.", checks=("nf-theorem-13",)),
    Item(
        "Theorem 13, proof",
        "The first three piles, not less than 2^b, uniquely define a P-position in which all piles are not less than 2^b; there "
        "are 2^(3b) of these.",
        (
            Comparison(
                "whether the fourth pile beside 4, 8 and 12 is not less than 4", lambda: nim.nim_sum((4, 8, 12)) >= 4, True, False
            ),
            Comparison(
                "the number of P-positions of four piles that are less than 2^b, for b = 0 to 3",
                lambda: [count("a", 2**b - 1, piles=4) for b in range(4)],
                (1, 8, 64, 512),
            ),
        ),
        ("nf-theorem-13",),
        slip='"Not less than 2^b" must read less than 2^b, both times: 4, 8 and 12 are not less than 4, and leave a fourth pile '
        "of 0.",
    ),
    sequence("A241522", "a_4(n), four piles.", 1, 8, 21, 64, 89, 168, 301, 512, 561, 712),
    Item("Corollary 14", "Four piles whose largest is n.", checks=("nf-corollary-14",)),
    sequence("A241718", "d_4(n), four piles.", 1, 7, 13, 43, 25, 79, 133, 211, 49, 151, 253),
    Item("Theorem 15", "An odd number of piles with none above n: a closed form.", checks=("nf-theorem-15", "nf-proof-15")),
    Item("Theorem 15, k = 3", "With k = 3 it is the formula of Theorem 12.", checks=("nf-theorem-12",)),
    Item("Theorem 15, k = 5", "With k = 5 it gives a polynomial in 2^b and c.", checks=("nf-theorem-15-k5",)),
    sequence("A241523", "a_5(n), five piles.", 1, 16, 61, 256, 421, 976, 2101, 4096, 4741),
    Item("Theorem 16", "An odd number of piles whose largest is n: a closed form.", checks=("nf-theorem-16",)),
    Item("Theorem 16, k = 5", "With k = 5 it gives a polynomial in 2^b and c.", checks=("nf-theorem-16-k5",)),
    sequence("A241731", "d_5(n), five piles.", 1, 15, 45, 195, 165, 555, 1125, 1995, 645),
    Item("Theorem 17", "An even number of piles with none above n, recursively.", checks=("nf-theorem-17",)),
    Item("Theorem 18", "An even number of piles whose largest is n, recursively.", checks=("nf-theorem-18",)),
)
