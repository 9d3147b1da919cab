"""[NF] sections 2 to 4, and 5.1 on D_3 and A_3: positions, and the counts by maximum and by total.

Formulas and recursions are computed as they are printed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import comb

import numpy as np

from gpu_nim.automata.catalogue import CATALOGUE as AUTOMATA
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.counting.families import find_family
from gpu_nim.games.nim import positions as nim
from gpu_nim.oeis.catalogue import entries, find
from gpu_nim.papers.by_definition import ENUMERATED, counts, grown, index_scope, max_index, max_pile, p_positions, pile_scope
from gpu_nim.papers.entries import SOURCES, Cases, Entry, Paper, Printed, Reach

NF = SOURCES["nim-fractals"]
_PILES = (2, 3, 4, 5)
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


def formulas(number: str, words: str, piles: Sequence[int] = (), name: str = "", paper: Paper = NF) -> None:
    """Add the entry of formulas for the counts, which are computed as they are printed and compared with all counts.

    Args:
        number: the paper's number.
        words: the formulas, such as "D_3(2n) = D_3(n) and D_3(2n+1) = 3D_3(n)", and perhaps for which n, or m; b and c are those of
            n, and s(n) is the number of its binary 1s.
        piles: the numbers k of piles, by default the one of the formulas.
        name: as of an entry.
        paper: the paper.
    """
    letter, index = words[0], words[2]
    every = piles or (int(index),)
    printed = re.findall(
        rf"{letter}_{index}\(([^)]*)\) = (.*?)(?= for |, s\(n\) |(?:,| and) {letter}_{index}\([^)]*\) = |$)", words
    )
    equations = [[compile(in_python(side), words, "eval") for side in sides] for sides in printed]

    @Entry(paper, number, words, name=name, reach=ENUMERATED)
    def cases(upto: int) -> Cases:
        yield index_scope(every, upto)
        for k in every:
            known = counts(letter, k, max_index(k, upto))
            values = Counter(dict(enumerate(known)))  # 0 below index 0
            names = {"k": k, "C": comb, "s": int.bit_count, f"{letter}_{index}": values.__getitem__}
            for argument, formula in equations:
                for n in range("n > 0" in words, len(known)):
                    names |= {"n": n, "m": n} | dict(zip("bc", split(max(n, 1)), strict=True))
                    if not n <= (at := eval(argument, names)) < len(known):
                        break
                    yield f"{letter}_{k}({at})", known[at], eval(formula, names)


def in_python(formula: str) -> str:
    """Return a formula of the paper as Python writes it: products with a sign, and exact quotients.

    >>> in_python("(12c - 6) 2^b + d_4(c-1)"), in_python("sum_i C(k,2i) c^(2i)")
    ('(12*c-6)*2**b+d_4(c-1)', 'sum(C(k,2*i)*c**(2*i) for i in range((k+1)//2))')
    """
    terms = formula.removeprefix("sum_i ")
    python = last = ""
    for token in re.findall(r"[aAdDCs](?:_\w)?(?=\()|\d+|\S", terms):
        python += "*" * bool(re.fullmatch(r"\d+|[bckimn]|\)", last) and re.match(r"[\w(]", token))
        python += {"^": "**", "/": "//"}.get(token, token)
        last = token
    return python if terms == formula else f"sum({python} for i in range((k+1)//2))"


def _p_positions(piles: Iterable[int], upto: int) -> Iterator[tuple[int, ...]]:
    for k in piles:
        yield from map(tuple, p_positions(k, max_pile(k, upto)).tolist())


@Entry(NF, "Abstract, new sequences", command="gpunim count A241731 --range 0:9")
def new_sequences() -> Cases:
    """The paper introduces ten sequences, which its last page lists by their OEIS numbers."""
    yield Printed("those that `gpunim count` gives", " ".join(n for n in _NEW.split() if n in entries()), _NEW)


@Entry(NF, "Definition 1", command="gpunim nim 0 0 0")
def outcomes() -> Cases:
    """In a P-position the previous player wins, in an N-position the next one. Nim's position without counters is a P-position."""
    yield Printed("whether (0,0,0) is a P-position", nim.is_p_position((0, 0, 0)), True)


@Entry(NF, "Theorem 2", reach=Reach(5, 6, 3))  # there are 1,024 games of five positions, 32,768 of six
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

    def next_wins(position: int) -> bool:
        return any(not next_wins(option) for option in range(position) if options[position] >> option & 1)

    return sum(1 << position for position in range(len(options)) if not next_wins(position))


@Entry(NF, "Theorem 4", reach=ENUMERATED)
def bouton(upto: int) -> Cases:
    """Bouton, 1901: the P-positions of Nim are the positions with nim-sum 0."""
    yield pile_scope(_PILES, upto)
    for k in (1, *_PILES):
        n = max_pile(k, upto)
        grid = np.stack(np.meshgrid(*[np.arange(n + 1)] * k, indexing="ij"), axis=-1).reshape(-1, k)
        zero = grid[np.bitwise_xor.reduce(grid, axis=1) == 0]
        yield f"the list of P-positions of {k} piles up to {n}", p_positions(k, n).tolist(), zero.tolist()


@Entry(NF, "Corollary 5", reach=ENUMERATED)
def last_pile(upto: int) -> Cases:
    """The last pile of a P-position is the nim-sum of the others, and so a function of them."""
    yield pile_scope(_PILES, upto)
    for position in _p_positions(_PILES, upto):
        yield f"the last pile of {position}", position[-1], nim.nim_sum(position[:-1])


@Entry(NF, "Section 3, indexed by maximum", name="nf-differences", reach=ENUMERATED)
def differences(upto: int) -> Cases:
    """a_k(n) counts the P-positions of k piles with no pile above n, d_k(n) those whose largest pile is n; d_k are the first
    differences of a_k, a_k the partial sums of d_k, and D_k and A_k likewise.
    """
    yield index_scope(range(1, 6), upto)
    for k in range(1, 6):
        for upto_n, at_n in ("ad", "AD"):
            sums, terms = (counts(name, k, max_index(k, upto)) for name in (upto_n, at_n))
            yield f"the first differences of {upto_n}_{k}", np.diff(sums, prepend=0).tolist(), [*terms]


@Entry(NF, "Section 3, totals", name="nf-even-totals", reach=ENUMERATED)
def even_totals(upto: int) -> Cases:
    """The total number of counters in a P-position is even."""
    yield pile_scope(_PILES, upto)
    for position in _p_positions(_PILES, upto):
        yield f"the total of {position} modulo 2", sum(position) % 2, 0


@Entry(NF, "Section 3, self-similarity", name="nf-self-similarity", reach=ENUMERATED)
def self_similarity(upto: int) -> Cases:
    """With all piles below 2^b, adding 2^b to two of them gives a P-position if and only if it was one."""
    yield pile_scope((3, 4), upto)
    for k in (3, 4):
        n = max_pile(k, upto)
        known = {tuple(position) for position in p_positions(k, n).tolist()}
        for b in range(((n + 1) // 2).bit_length()):
            for position in np.ndindex(*(1 << b,) * k):
                for i in range(k):
                    for j in range(i):
                        moved = tuple(pile + (1 << b) * (axis in (i, j)) for axis, pile in enumerate(position))
                        yield f"P-position {moved}", moved in known, position in known


@Entry(NF, "Lemma 6", reach=ENUMERATED)
def total_and_maximum(upto: int) -> Cases:
    """The total of a P-position of k piles is at least twice its largest pile and at most k times: 2 max(P) <= #(P) <= k max(P)."""
    yield pile_scope(_PILES, upto)
    for position in _p_positions(_PILES, upto):
        within = 2 * max(position) <= sum(position) <= len(position) * max(position)
        yield f"2 max <= # <= k max at {position}", within, True


@Entry(NF, "Corollary 7", reach=ENUMERATED)
def sandwich(upto: int) -> Cases:
    """So the counts by maximum bound those by total: a_k(floor(2n/k)) <= A_k(n) <= a_k(n)"""
    yield index_scope(range(2, 8), upto)
    for k in range(2, 8):
        a, A = (counts(name, k, max_index(k, upto)) for name in "aA")
        for n in range(len(a)):
            yield f"a_{k}({2 * n // k}) <= A_{k}({n}) <= a_{k}({n})", a[2 * n // k] <= A[n] <= a[n], True


@Entry(NF, "Corollary 7, proof", also=("nf-corollary-7",))
def below_the_total() -> Cases:
    """Every position with no pile above 2n/k must have a total of less than 2n.

    Erratum: The total is at most 2n, not less: (3,3) has no pile above 3 = 2·3/2 and the total 6. The corollary needs no more.
    """
    below = all(sum(piles) < 6 for piles in p_positions(2, 3).tolist())
    yield Printed("whether all P-positions of two piles of at most 3 have totals below 2·3", below, True, False)


formulas("Lemma 8", "a_k(2^m - 1) = 2^(m(k-1))", range(1, 8))


@Entry(NF, "Corollary 9", reach=ENUMERATED)
def powers_around(upto: int) -> Cases:
    """2^((k-1) floor(log2(floor(2n/k)+1))) <= A_k(n) <= 2^((k-1) ceil(log2(n+1)))"""
    yield index_scope(range(2, 8), upto)
    for k in range(2, 8):
        for n, counted in enumerate(counts("A", k, max_index(k, upto))):
            low = 2 ** ((k - 1) * ((2 * n // k + 1).bit_length() - 1))
            high = 2 ** ((k - 1) * n.bit_length())
            yield f"{low} <= A_{k}({n}) = {counted} <= {high}", low <= counted <= high, True


@Entry(NF, "Section 3.2, one pile", name="nf-one-pile", reach=ENUMERATED, command="gpunim count a --piles 1 --range 0:9")
def one_pile(upto: int) -> Cases:
    """One pile has the P-position (0) alone: a_1(n) = A_1(n) = 1, A000012; d_1(0) = D_1(0) = 1 and then 0, A000007."""
    last = max_index(1, upto)
    for name, after in zip("aAdD", (1, 1, 0, 0), strict=True):
        found = [find_family(name, 1).value(n) for n in range(9)]
        yield Printed(f"{name}_1(0) to {name}_1(8)", found, (1,) + (after,) * 8)
    yield f"{pile_scope((1,), upto)}, {index_scope((1,), upto)}"
    yield "the list of P-positions of one pile", p_positions(1, max_pile(1, upto)).tolist(), [[0]]
    for name, after in zip("aAdD", (1, 1, 0, 0), strict=True):
        yield f"{name}_1 up to {last}", counts(name, 1, last), (1,) + (after,) * last


sequence("A000012", "All 1: a_1 and A_1, d_2 and D_2.", *(1,) * 12)
sequence("A000007", "1, then 0: d_1 and D_1.", 1, *(0,) * 11)


@Entry(NF, "Lemma 10", reach=ENUMERATED)
def pairs(upto: int) -> Cases:
    """The P-positions of two piles are the pairs (x, x) of equal piles."""
    yield pile_scope((2,), upto)
    n = max_pile(2, upto)
    yield f"the list of P-positions of 2 piles up to {n}", p_positions(2, n).tolist(), [[x, x] for x in range(n + 1)]


@Entry(NF, "Section 3.2, two piles", name="nf-two-piles", reach=ENUMERATED)
def two_piles(upto: int) -> Cases:
    """So a_2(n) = A_2(n) = n + 1, which is A000027 with the initial offset 0, and d_2(n) = D_2(n) = 1, A000012."""
    yield index_scope((2,), upto)
    last = max_index(2, upto)
    for name in "aA":
        yield f"{name}_2 up to {last}", counts(name, 2, last), tuple(range(1, last + 2))
    for name in "dD":
        yield f"{name}_2 up to {last}", counts(name, 2, last), (1,) * (last + 1)


sequence("A000027", "The positive integers: a_2 and A_2.", *range(1, 13))


def split(n: int) -> tuple[int, int]:
    """The paper's b and c: n = 2^b - 1 + c with 1 <= c <= 2^b."""
    b = n.bit_length() - 1
    return b, n + 1 - (1 << b)


@Entry(NF, "Section 3.2, b and c", name="nf-b-and-c", reach=ENUMERATED, command="gpunim nim 8")
def b_and_c(upto: int) -> Cases:
    """N = 2^b - 1 + c with b = floor(log2 n) and 1 <= c <= 2^b; n is 2^b and then the b digits of c - 1

    Erratum: It calls b the number of binary digits of n, but b is one less, their number after the first one; the formulas use it
    so.
    """
    found = [len(nim.binary_columns([n])[1]) for n in range(1, 9)]
    about = "the number of binary digits of n = 1 to 8, beside b = 0, 1, 1, 2, 2, 2, 2, 3"
    yield Printed(about, found, (0, 1, 1, 2, 2, 2, 2, 3), (1, 2, 2, 3, 3, 3, 3, 4))
    yield f"n up to {upto}"
    for n in range(1, upto + 1):
        b, c = split(n)
        yield f"n by b = {b} and c = {c}", 2**b - 1 + c, n
        yield f"the bounds of b = {b} and c = {c} at {n}", (2**b <= n < 2 ** (b + 1), 1 <= c <= 2**b), (True, True)
        yield f"the binary digits of {n}", "1" + f"{c - 1:0{b}b}" * (b > 0), f"{n:b}"


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

    Erratum: "Not less than 2^b" must read less than 2^b, both times: 4, 8 and 12 are not less than 4, and leave a fourth pile of
    0.
    """
    yield Printed("whether the fourth pile beside 4, 8 and 12 is not less than 4", nim.nim_sum((4, 8, 12)) >= 4, True, False)
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
    for n, born in enumerate(grown(AUTOMATA["ulam-warburton-3"].rule, len(A) - 1)):
        population += len(born)
        yield f"the cells after generation {n}", population, A[n]
