"""[NF] sections 2 to 4, and 5.1 on D_3 and A_3: positions, and the counts by maximum and by total.

Formulas and recursions are computed as they are printed.
"""

import re
from collections.abc import Sequence
from itertools import combinations, product
from math import comb

import numpy as np

from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.counting.families import find_family
from gpu_nim.counting.regular_sequences import index, powers_by_length
from gpu_nim.deciding.relations import is_power_of_two, nim_sum_is_zero, numbers
from gpu_nim.games.inequality import nim as nim_of
from gpu_nim.games.nim import positions as nim
from gpu_nim.oeis.catalogue import entries, find
from gpu_nim.papers.claims import LETTERS, Claim, Ones, by_definition, counted, every, in_python, p_positions, piles, total
from gpu_nim.papers.entries import SOURCES, Cases, Entry, Paper, Printed, Reach, decided, few_piles, many_piles, positions

NF = SOURCES["nim-fractals"]
_NEW = "A236305 A237686 A237711 A238147 A238759 A241522 A241523 A241717 A241718 A241731"


def first_terms(number: str, how_many: int) -> list[int]:
    """Return the first terms of an OEIS entry.

    >>> first_terms("A048883", 4)
    [1, 3, 3, 9]
    """
    entry = find(number)
    return list(entry.terms(entry.offset, entry.offset + how_many))


def sequence(number: str, summary: str, *printed: int) -> None:
    """Add the entry of a sequence, whose first terms are compared with those that the paper prints."""
    begin = find(number).offset

    @Entry(NF, number, summary, command=f"gpunim count {number} --range {begin}:{begin + len(printed)}")
    def terms() -> Cases:
        yield Printed(f"the first {len(printed)} terms", first_terms(number, len(printed)), printed)


def formulas(number: str, words: str, piles: Sequence[int] = (), name: str = "", arxiv: int = 0, paper: Paper = NF) -> None:
    """Add the entry of formulas for the counts, which are evaluated as they are printed, for sequences in place of n, b, c and m.

    Args:
        number: the paper's number.
        words: the formulas, such as "D_3(2n) = D_3(n) and D_3(2n+1) = 3D_3(n)", and perhaps for which n, or m; b and c are those of
            n, m is b, and s(n) is the number of its binary 1s.
        piles: the numbers k of piles, ascending, by default the one of the formulas.
        name: as of an entry.
        arxiv: as of an entry.
        paper: the paper.
    """
    letter, fixed = words[0], words[2]
    printed = re.findall(
        rf"{letter}_{fixed}\(([^)]*)\) = (.*?)(?= for |, s\(n\) |(?:,| and) {letter}_{fixed}\([^)]*\) = |$)", words
    )
    equations = [[at, *(compile(in_python(side), words, "eval") for side in (at, formula))] for at, formula in printed]

    @Entry(paper, number, words, name=name, arxiv=arxiv, reach=many_piles(piles or (int(fixed),)))
    def claims(k: int) -> Cases:
        values = counted(letter, k)
        names = {**LETTERS, "k": k, "C": comb, "s": lambda _: Ones(), f"{letter}_{fixed}": values}
        for at, argument, formula in equations:
            yield Claim(f"{letter}_{k}({at}) as printed", values(eval(argument, names)) - eval(formula, names))


@Entry(NF, "Abstract, new sequences", command="gpunim count A241731 --range 0:9")
def new_sequences() -> Cases:
    """The paper introduces ten sequences, which its last page lists by their OEIS numbers."""
    yield Printed("those that `gpunim count` gives", " ".join(n for n in _NEW.split() if n in entries()), _NEW)


@Entry(NF, "Definition 1", arxiv=1, command="gpunim nim 0 0 0")
def outcomes() -> Cases:
    """In a P-position the previous player wins, in an N-position the next one. Nim's position without counters is a P-position."""
    yield Printed("whether (0,0,0) is a P-position", nim.is_p_position((0, 0, 0)), True)


@Entry(NF, "Theorem 2", arxiv=1, reach=Reach(5, 6, 3))  # there are 1,024 games of five positions, 32,768 of six
def partition(upto: int) -> Cases:
    """If the positions of a finite game can be divided into A and B so that every move from A leads to B, some move from each
    position of B to A, and the terminal positions are in A, then A are the P-positions and B the N-positions.

    Sets of positions are bits of an integer; the options of a position are among those before it.
    """
    yield f"all games of up to {upto} positions, each with all partitions"
    for size in range(1, upto + 1):
        for options in product(*(range(1 << position) for position in range(size))):
            fits = [chosen for chosen in range(1 << size) if _has_the_properties(options, chosen)]
            yield f"the sets A in the game with the options {options}", fits, [_previous_player_wins(options)]


def _has_the_properties(options: Sequence[int], chosen: int) -> bool:
    """Whether the set `chosen`, as A, and all other positions, as B, have the three properties of Theorem 2."""
    return all(
        not reached & chosen if chosen >> position & 1 else reached & chosen != 0 and reached != 0
        for position, reached in enumerate(options)
    )


def _previous_player_wins(options: Sequence[int]) -> int:
    """The P-positions, by playing out each game: the next player wins with an option from which the one after it loses."""
    lost = 0
    for position, reached in enumerate(options):
        lost |= (not reached & lost) << position
    return lost


@Entry(NF, "Theorem 4", arxiv=2, reach=few_piles("every position"))
def bouton(k: int) -> Cases:
    """Bouton, 1901: the P-positions of Nim are the positions with nim-sum 0."""
    yield p_positions(nim_of(k), nim_sum_is_zero(*piles(k)))


@Entry(NF, "Corollary 5", arxiv=3, reach=few_piles("every position", 2))
def last_pile(k: int) -> Cases:
    """The last pile of a P-position is the nim-sum of the others, and so a function of them."""
    (other,) = numbers("other")
    *first, last = piles(k)
    p_position = nim_sum_is_zero(*first, last)
    yield Claim(f"{k - 1} piles have a last one", p_position.some(f"x{k}"))
    yield Claim(f"{k - 1} piles have one last one", (p_position & nim_sum_is_zero(*first, other)).implies(last == other))


@Entry(NF, "Section 3, indexed by maximum", name="nf-differences", reach=few_piles("every n"))
def differences(k: int) -> Cases:
    """a_k(n) counts the P-positions of k piles with no pile above n, d_k(n) those whose largest pile is n; d_k are the first
    differences of a_k, a_k the partial sums of d_k, and D_k and A_k likewise.
    """
    for sums, terms in ("ad", "AD"):
        a, d = (by_definition(letter, k) for letter in (sums, terms))
        yield Claim(f"{sums}_{k} by the digits of n", counted(sums, k) - a)
        yield Claim(f"{terms}_{k} by the digits of n", counted(terms, k) - d)
        yield Claim(f"the first differences of {sums}_{k}", a - a.beside(-1) - d)


@Entry(NF, "Section 3, totals", name="nf-even-totals", reach=few_piles("every position"))
def even_totals(k: int) -> Cases:
    """The total number of counters in a P-position is even."""
    (half,) = numbers("half")
    even = (total(piles(k)) == 2 * half).some("half")
    yield Claim(f"an even total of {k} piles", nim_sum_is_zero(*piles(k)).implies(even))


@Entry(NF, "Section 3, self-similarity", name="nf-self-similarity", reach=positions(4, range(2, 5)))
def self_similarity(k: int) -> Cases:
    """With all piles below 2^b, adding 2^b to two of them gives a P-position if and only if it was one."""
    (power,) = numbers("power")
    below = is_power_of_two(power) & every(pile < power for pile in piles(k))
    for i, j in combinations(range(k), 2):
        moved = nim_sum_is_zero(*(pile + power * (axis in (i, j)) for axis, pile in enumerate(piles(k))))
        yield Claim(f"piles {i + 1} and {j + 1} of {k}", below.implies(moved.iff(nim_sum_is_zero(*piles(k)))))


@Entry(NF, "Lemma 6", arxiv=4, reach=few_piles("every position", 2))
def total_and_maximum(k: int) -> Cases:
    """The total of a P-position of k piles is at least twice its largest pile and at most k times: 2 max(P) <= #(P) <= k max(P)."""
    largest, *others = piles(k)
    p_position = nim_sum_is_zero(*piles(k)) & every(pile <= largest for pile in others)
    yield Claim(f"2 max <= # of {k} piles", p_position.implies(2 * largest <= total(piles(k))))
    yield Claim(f"# <= k max of {k} piles", p_position.implies(total(piles(k)) <= k * largest))


@Entry(NF, "Corollary 7", arxiv=5, reach=few_piles("every n", 2))
def sandwich(k: int) -> Cases:
    """So the counts by maximum bound those by total: a_k(floor(2n/k)) <= A_k(n) <= a_k(n)

    The positions that they count are among each other.
    """
    (n,) = numbers("n")
    p_position, counted_by_total = nim_sum_is_zero(*piles(k)), total(piles(k)) <= 2 * n
    low = every(k * pile <= 2 * n for pile in piles(k))
    yield Claim(f"a_{k}(floor(2n/{k})) <= A_{k}(n)", (p_position & low).implies(counted_by_total))
    high = every(pile <= n for pile in piles(k))
    yield Claim(f"A_{k}(n) <= a_{k}(n)", (p_position & counted_by_total).implies(high))


@Entry(NF, "Corollary 7, proof", arxiv=5, also=("nf-corollary-7",))
def below_the_total() -> Cases:
    """Every position with no pile above 2n/k must have a total of less than 2n.

    Erratum: The total is at most 2n, not less: (3,3) has no pile above 3 = 2·3/2 and the total 6. The corollary needs no more.
    """
    below = all(sum(piles) < 6 for piles in product(range(4), repeat=2) if nim.is_p_position(piles))
    yield Printed("whether all P-positions of two piles of at most 3 have totals below 2·3", below, True, False)


formulas("Lemma 8", "a_k(2^m - 1) = 2^(m(k-1))", range(1, 13), arxiv=6)


@Entry(NF, "Corollary 9", arxiv=7, reach=few_piles("every n", 2), also=("nf-lemma-8",))
def powers_around(k: int) -> Cases:
    """2^((k-1) floor(log2(floor(2n/k)+1))) <= A_k(n) <= 2^((k-1) ceil(log2(n+1)))

    There are 2^((k-1) m) P-positions with all piles below 2^m (Lemma 8): those for the largest 2^m <= floor(2n/k) + 1 are among
    those that A_k(n) counts, and these among those for the least 2^m > n.
    """
    n, power = numbers("n power")
    p_position, counted_by_total = nim_sum_is_zero(*piles(k)), total(piles(k)) <= 2 * n
    below = is_power_of_two(power) & every(pile < power for pile in piles(k))
    low = p_position & below & (k * (power - 1) <= 2 * n)
    yield Claim(f"the lower bound of A_{k}", low.implies(counted_by_total))
    high = p_position & counted_by_total & is_power_of_two(power) & (power > n)
    yield Claim(f"the upper bound of A_{k}", high.implies(below))


@Entry(NF, "Section 3.2, one pile", name="nf-one-pile", reach=decided("every n"), command="gpunim count a --piles 1 --range 0:9")
def one_pile() -> Cases:
    """One pile has the P-position (0) alone: a_1(n) = A_1(n) = 1, A000012; d_1(0) = D_1(0) = 1 and then 0, A000007."""
    for name, after in zip("aAdD", (1, 1, 0, 0), strict=True):
        found = [find_family(name, 1).value(n) for n in range(9)]
        yield Printed(f"{name}_1(0) to {name}_1(8)", found, (1,) + (after,) * 8)
    (pile,) = piles(1)
    yield Claim("the P-position of one pile", nim_sum_is_zero(pile).iff(pile <= 0))
    for name, after in zip("aAdD", (1, 1, 0, 0), strict=True):
        values = by_definition(name, 1)
        yield Claim(f"{name}_1(0)", values(0) - 1)
        yield Claim(f"{name}_1(n + 1)", values(index() + 1) - after)


sequence("A000012", "All 1: a_1 and A_1, d_2 and D_2.", *(1,) * 12)
sequence("A000007", "1, then 0: d_1 and D_1.", 1, *(0,) * 11)


@Entry(NF, "Lemma 10", arxiv=8, reach=decided("every position"))
def pairs() -> Cases:
    """The P-positions of two piles are the pairs (x, x) of equal piles."""
    x, y = piles(2)
    yield p_positions(nim_of(2), x == y)


@Entry(NF, "Section 3.2, two piles", name="nf-two-piles", reach=decided("every n"))
def two_piles() -> Cases:
    """So a_2(n) = A_2(n) = n + 1, which is A000027 with the initial offset 0, and d_2(n) = D_2(n) = 1, A000012."""
    for name in "aA":
        yield Claim(f"{name}_2(n) = n + 1", by_definition(name, 2) - index() - 1)
    for name in "dD":
        yield Claim(f"{name}_2(n) = 1", by_definition(name, 2) - 1)


sequence("A000027", "The positive integers: a_2 and A_2.", *range(1, 13))


@Entry(NF, "Section 3.2, b and c", name="nf-b-and-c", reach=decided("every n > 0"))
def b_and_c() -> Cases:
    """N = 2^b - 1 + c with b = floor(log2 n) and 1 <= c <= 2^b; n is 2^b and then the b digits of c - 1

    Erratum: It calls b the number of binary digits of n, but b is one less, their number after the first one; the formulas use it
    so.
    """
    found = [len(nim.binary_columns([n])[1]) for n in range(1, 9)]
    about = "the number of binary digits of n = 1 to 8, beside b = 0, 1, 1, 2, 2, 2, 2, 3"
    yield Printed(about, found, (0, 1, 1, 2, 2, 2, 2, 3), (1, 2, 2, 3, 3, 3, 3, 4))
    n, c, power, other = numbers("n c power other")
    split = is_power_of_two(power) & (n + 1 == power + c) & (c >= 1) & (c <= power)
    yield Claim("n has b and c", (n >= 1).implies(split.some("power", "c")))
    yield Claim("n has one b and c", (split & split(power=other, c="c'")).implies(power == other))
    yield Claim("b is the floor of log2 n", split.implies((power <= n) & (n < 2 * power)))
    yield Claim("n is 2^b and then the digits of c - 1", split.implies(nim_sum_is_zero(n, power, c - 1)))


_ODD, _EVEN = range(3, 13, 2), range(2, 13, 2)


formulas("Theorem 11", "d_3(n) = 6c - 3 for n > 0", arxiv=9)


sequence("A241717", "d_3(n), three piles.", 1, 3, 3, 9, 3, 9, 15, 21, 3, 9, 15, 21, 27, 33, 39, 45, 3, 9)


@Entry(
    NF,
    "Section 4.1, triangle",
    name="nf-triangle",
    reach=decided("every n > 0"),
    command="gpunim render figure:d3 -o d3.svg",
    figure="d3",
)
def triangle() -> Cases:
    """In rows of 1, 2, 4, 8, ... numbers d_3 shows that each row begins as the next one: all begin as A016945, 6n + 3."""
    terms = first_terms("A241717", 32)
    rows = ((3,), (3, 9), (3, 9, 15, 21), (3, 9, 15, 21, 27, 33, 39, 45), tuple(range(3, 94, 6)))
    yield Printed("the first five rows", [terms[2**b : 2 ** (b + 1)] for b in range(5)], rows)
    yield Claim("d_3(2^b + j) = 6j + 3 for j < 2^b", counted("d", 3) - 6 * (index() - powers_by_length(2)) - 3)


sequence("A016945", "6n + 3, to which the rows of d_3 converge.", 3, 9, 15, 21, 27, 33, 39, 45, 51, 57, 63, 69, 75, 81, 87, 93)


formulas("Theorem 12", "a_3(n) = 2^(2b) + 3c^2 for n > 0", arxiv=10)


sequence("A236305", "a_3(n), three piles.", 1, 4, 7, 16, 19, 28, 43, 64, 67, 76, 91, 112)


formulas("Theorem 13", "a_4(n) = 2^(3b) + 6c^2 2^b + a_4(c-1) for n > 0", arxiv=11)


@Entry(NF, "Theorem 13, proof", arxiv=11, also=("nf-theorem-13",))
def large_piles() -> Cases:
    """The first three piles, not less than 2^b, uniquely define a P-position in which all piles are not less than 2^b; there are
    2^(3b) of these.

    Erratum: "Not less than 2^b" must read less than 2^b, both times: 4, 8 and 12 are not less than 4, and leave a fourth pile of
    0.
    """
    yield Printed("whether the fourth pile beside 4, 8 and 12 is not less than 4", nim.nim_sum((4, 8, 12)) >= 4, True, False)
    found = [find_family("a", 4).value(2**b - 1) for b in range(4)]
    yield Printed("the number of P-positions of four piles that are less than 2^b, for b = 0 to 3", found, (1, 8, 64, 512))


sequence("A241522", "a_4(n), four piles.", 1, 8, 21, 64, 89, 168, 301, 512, 561, 712)


formulas("Corollary 14", "d_4(n) = (12c - 6) 2^b + d_4(c-1) for n > 0", arxiv=12)


sequence("A241718", "d_4(n), four piles.", 1, 7, 13, 43, 25, 79, 133, 211, 49, 151, 253)


formulas("Theorem 15", "a_k(n) = ((2^b + c)^k + (2^b - c)^k) / 2^(b+1) for odd k and n > 0", _ODD, arxiv=13)


formulas("Theorem 15, proof", "a_k(n) = sum_i C(k,2i) 2^(b(k-2i-1)) c^(2i) for odd k and n > 0", _ODD, name="nf-proof-15", arxiv=13)


formulas("Theorem 15, k = 5", "a_5(n) = 2^(4b) + 10 2^(2b) c^2 + 5c^4 for n > 0", name="nf-theorem-15-k5", arxiv=13)


sequence("A241523", "a_5(n), five piles.", 1, 16, 61, 256, 421, 976, 2101, 4096, 4741)


formulas(
    "Theorem 16",
    "d_k(n) = ((2^b + c)^k + (2^b - c)^k - (2^b + c - 1)^k - (2^b - c + 1)^k) / 2^(b+1) for odd k and n > 0",
    _ODD,
    arxiv=14,
)


formulas("Theorem 16, k = 5", "d_5(n) = 10 2^(2b) (2c - 1) + 20c^3 - 30c^2 + 20c - 5 for n > 0", name="nf-theorem-16-k5", arxiv=14)


sequence("A241731", "d_5(n), five piles.", 1, 15, 45, 195, 165, 555, 1125, 1995, 645)


formulas("Theorem 17", "a_k(n) = ((2^b + c)^k + (2^b - c)^k - 2c^k) / 2^(b+1) + a_k(c-1) for even k and n > 0", _EVEN, arxiv=15)


formulas(
    "Theorem 18",
    "d_k(n) = ((2^b+c)^k + (2^b-c)^k - (2^b+c-1)^k - (2^b-c+1)^k - 2c^k + 2(c-1)^k) / 2^(b+1) + d_k(c-1) for even k and n > 0",
    _EVEN,
    arxiv=16,
)


formulas("Theorem 19", "D_3(n) = 3^s(n), s(n) the number of 1s in the binary expansion of n", arxiv=17)


sequence("A048883", "D_3(n), three piles.", 1, 3, 3, 9, 3, 9, 9, 27, 3, 9, 9, 27, 9, 27, 27, 81, 3, 9)


formulas("Section 5.1, recursion of D_3", "D_3(2n) = D_3(n) and D_3(2n+1) = 3D_3(n)", name="nf-d3-recursion")


@Entry(NF, "Section 5.1, multisets", name="nf-multiset", reach=decided("every n > 0"))
def multisets() -> Cases:
    """S_0 = {1}, and S_(i+1) is S_i followed by three times S_i, gives D_3(0), ..., D_3(2^i - 1). So S_2 = {1,3,3,9}, and S_3 adds
    {3,9,9,27}.
    """
    found = first_terms("A048883", 8)
    yield Printed("S_2, the terms D_3(0) to D_3(3)", found[:4], (1, 3, 3, 9))
    yield Printed("what S_3 adds, the terms D_3(4) to D_3(7)", found[4:], (3, 9, 9, 27))
    D = counted("D", 3)
    yield Claim("D_3(2^i + j) = 3 D_3(j) for j < 2^i", D - 3 * D(index() - powers_by_length(2)))


sequence("A130665", "A_3(n), the partial sums of D_3.", 1, 4, 7, 16, 19, 28, 37, 64, 67, 76, 85, 112, 121, 148, 175)


formulas("Section 5.1, recursion of A_3", "A_3(2n) = 3A_3(n-1) + A_3(n) and A_3(2n+1) = 4A_3(n)", name="nf-a3-recursion")


@Entry(NF, "Section 5.1, automaton", also=("nf-theorem-25",), command="gpunim grow ulam-warburton-3 --gen 14")
def three_branches() -> Cases:
    """A130665, A_3(n), also counts the cells in three branches of the Ulam-Warburton automaton after generation n."""
    found = np.cumsum(GrowthProcess("ulam-warburton-3", 14, "numpy", verify=False).growth().births)
    terms = (1, 4, 7, 16, 19, 28, 37, 64, 67, 76, 85, 112, 121, 148, 175)
    yield Printed("the cells of `ulam-warburton-3` after generations 0 to 14", found, terms)
