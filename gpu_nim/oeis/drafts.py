"""The catalogue of drafts: the words of each entry that the OEIS lacks.

An entry without an A-number is named in the catalogue of automata, in a family's `numbers`, in `gpu_nim.oeis.from_games` or in
`gpu_nim.oeis.from_tables`; its draft has the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb

from gpu_nim.counting.families import FAMILIES
from gpu_nim.model.arguments import is_a_number
from gpu_nim.model.registry import Registry
from gpu_nim.oeis.draft import Draft
from gpu_nim.oeis.from_games import CHOCOLATES, chocolate_name
from gpu_nim.oeis.from_tables import TABLES
from gpu_nim.oeis.programs import (
    BY_TOTAL_TABLE_PROGRAM,
    SIX_DIRECTIONS_PROGRAM,
    UP_TO_MAXIMUM_TABLE_PROGRAM,
    by_maximum_program,
    by_total_program,
    chocolate_program,
    growth_program,
)

_NIM_FRACTALS = (
    'T. Khovanova and J. Xiong, <a href="https://arxiv.org/abs/1405.5942">Nim Fractals</a>, arXiv:1405.5942 [math.CO], 2014, and '
    '<a href="https://cs.uwaterloo.ca/journals/JIS/VOL17/Khovanova/khova6.html">J. Int. Seq. 17 (2014) # 14.7.8</a>.'
)
_AUTOMATON = (
    'T. Khovanova, <a href="https://blog.tanyakhovanova.com/2016/08/3-pile-nim-as-an-automaton/">3-Pile Nim as an '
    "Automaton</a>, 2016."
)
_INEQUALITIES = (
    "T. Yamauchi, T. Inoue and Y. Tomari, Variants of the Game of Nim that have Inequalities as Conditions, "
    "Rose-Hulman Undergraduate Math. J. 10 (2009), no. 2, Article 12."
)
_TUPLES = "P-positions are tuples whose bitwise XOR is zero (Bouton); tuples in another order count as different."
_STAYS = "A cell that is ON stays ON."
_TERMS_OF_GROWTH = 10  # printed by the programs


def _edge(
    name: str,
    title: str,
    related: dict[str, str],
    measure: str,
    *examples: str,
    formula: str = "",
    cumulative: bool = False,
    reach: int = 1024,
) -> Draft:
    return Draft(
        name=name,
        title=title,
        comments=(
            "The cells are the points of Z^3 without a negative coordinate. The 12 edge neighbors of a cell differ from it by one "
            "in exactly two coordinates. At generation 0 the cell (0,0,0) is ON. At each generation the cells turn ON that have "
            f"exactly one neighbor ON. {_STAYS}",
            "The cells with x+y+z = 2*n that turn ON at generation n are the P-positions of three-pile Nim with 2*n counters, "
            "A048883(n) in number (Khovanova); the other cells that turn ON are N-positions.",
            "The same rule in all of Z^3 is that of A151776.",
        ),
        program=growth_program("(2,)", True, measure, cumulative, 16),
        keywords="nonn",
        reach=reach,
        formulas=(formula,) if formula else (),
        examples=examples,
        sources=(_AUTOMATON, _NIM_FRACTALS),
        related=(*related.items(), ("A048883", "P-positions"), ("A151776", "all of Z^3")),
        searched=True,
    )


def _edge_drafts() -> tuple[Draft, ...]:
    automaton = "the cellular automaton on the octant of Z^3 where a cell turns ON if exactly one of its 12 edge neighbors is ON"
    return (
        _edge(
            "edge-births",
            f"Number of cells that turn ON at generation n of {automaton}.",
            {"edge-population": "partial sums", "edge-n-births": "N-positions"},
            "len(new)",
            "a(1) = 3: (0,1,1), (1,0,1) and (1,1,0) turn ON.",
            "a(3) = 15: the A048883(3) = 9 P-positions of Nim with 6 counters, and the 6 permutations of (0,1,3).",
            formula="a(n) >= 3*4^(s-1) + 3^s - 3*2^(s-1) for n >= 1, where s = A000120(n).",
        ),
        _edge(
            "edge-population",
            f"Number of ON cells after n generations of {automaton}.",
            {"edge-births": "first differences"},
            "len(new)",
            "a(3) = 1 + 3 + 3 + 15 = 22.",
            formula="a(2^m-1) >= (3*5^m + 4*4^m - 6*3^m + 3)/4.",
            cumulative=True,
        ),
        _edge(
            "edge-n-births",
            f"Number of N-positions of three-pile Nim that turn ON at generation n of {automaton}.",
            {"edge-births": "all cells that turn ON"},
            "sum(x^y^z > 0 for x, y, z in new)",
            "a(3) = 6: the permutations of (0,1,3), whose nim-sum is 2.",
            formula="a(n) >= 3*4^(s-1) - 3*2^(s-1) for n >= 1, where s = A000120(n).",
            reach=512,
        ),
        _edge(
            "edge-section",
            f"Number of ON cells in the plane z = 0 after n generations of {automaton}.",
            {"edge-population": "all ON cells", "A147552": "all of Z^3; first differs from 4*a(n-1) - 3 at n = 36"},
            "sum(c[2] == 0 for c in new)",
            "a(3) = 6: (0,0,0), (1,1,0), (2,2,0), (3,3,0), (1,3,0) and (3,1,0).",
            cumulative=True,
        ),
    )


def _cubic(neighbours: int, changed: str, about: str, differs: str, near: dict[str, str], section: bool) -> tuple[Draft, ...]:
    automaton = f"the cellular automaton on Z^3 where a cell turns ON if exactly one of its {neighbours} neighbors is ON"
    name = f"cubic{neighbours}"
    comments = (f"The {neighbours} neighbors of a cell {differs}. At stage 1 a single cell is ON. {_STAYS}",)

    def draft(what: str, title: str, related: dict[str, str], measure: str, cumulative: bool, *more: str) -> Draft:
        family = {"A151776": "12 edge neighbors", "A151781": "6 face neighbors", "A151793": "8 corner neighbors"}
        return Draft(
            name=f"{name}-{what}",
            title=title,
            comments=(*comments, *more),
            program=growth_program(changed, False, measure, cumulative, _TERMS_OF_GROWTH),
            keywords="nonn",
            reach=512,
            examples=(f"a(2) = {about}.",) if what == "births" else (),
            related=tuple((related | family | near).items()),
            searched=what != "births",
        )

    births = draft(
        "births",
        f"Number of cells that turn ON at stage n of {automaton}.",
        {f"{name}-population": "partial sums"},
        "len(new)",
        False,
    )
    population = draft(
        "population",
        f"Number of ON cells after n stages of {automaton}.",
        {f"{name}-births": "first differences"},
        "len(new)",
        True,
    )
    if not section:
        return births, population
    plane = draft(
        "section",
        f"Number of ON cells in the plane z = 0 after n stages of {automaton}.",
        {f"{name}-population": "all ON cells", "A151725": "8 neighbors in Z^2"},
        "sum(c[2] == 0 for c in new)",
        True,
        "The plane goes through the cell of stage 1 and is parallel to a face.",
        "First differs from A151725 at n = 14.",
    )
    return births, population, plane


def _cubic_drafts() -> tuple[Draft, ...]:
    return (
        *_cubic(
            18,
            "(1, 2)",
            "18: all neighbors of the first cell turn ON",
            "are the 6 that share a face with it and the 12 that share just an edge with it",
            {},
            True,
        ),
        *_cubic(
            26,
            "(1, 2, 3)",
            "26: all neighbors of the first cell turn ON",
            "are all cells that share a face, an edge or a corner with it",
            {"A160119": "another rule", "A160379": "another rule", "A151725": "8 neighbors in Z^2"},
            False,
        ),
    )


@dataclass(frozen=True)
class _Counts:
    """What the drafts of a family say: what is counted, the family of sums or differences, the program, the formulas, and a(1)."""

    counted: str
    other: tuple[str, str]
    program: Callable[[int, bool], str]
    formulas: Callable[[int, bool], tuple[str, ...]]
    first: str


def _nim(name: str, letter: str, piles: int) -> Draft:
    family, words = FAMILIES[letter](piles), _COUNTS[letter]
    other, about = words.other
    return Draft(
        name=name,
        title=f"Number of P-positions in the game of Nim with up to {piles} piles, allowing for piles of zero, such that "
        f"{words.counted}.",
        comments=(_TUPLES,),
        program=words.program(piles, family.cumulative),
        keywords="nonn,easy",
        reach=10_000,
        formulas=(*words.formulas(piles, family.cumulative), *_MORE_FORMULAS.get(name, ())),
        examples=(f"a(1) = {family.value(1)}: {words.first}.",),
        sources=(_NIM_FRACTALS,),
        related=((FAMILIES[other].numbers[piles], about), *((family.numbers[k], f"{k} piles") for k in (3, 4, 5))),
        searched=name in ("nim-6-births", "nim-6-up-to-maximum", "nim-7-births"),
    )


_MORE_FORMULAS = {
    "nim-6-births": ("a(n) < a(n+1).",),
    "nim-6-population": ("a(2^m-1) = (32^m + 9*16^m + 8*14^m)/18.",),
}
"""Proved in docs/open-problems/largest-counts.md."""


def _formulas_by_total(piles: int, cumulative: bool) -> tuple[str, ...]:
    """By the digits of the piles: digit j of all of them together is 1 in 2i piles, in comb(k, 2i) ways, and adds i 2^j to n."""
    factor = [comb(piles, 2 * i) for i in range(piles // 2 + 1)]
    generating = f"Product_{{j>=0}} ({_polynomial(factor)})"
    if cumulative:  # 1/(1 - x) is the product of the 1 + x^(2^j)
        factor = [a + b for a, b in zip([*factor, 0], [0, *factor], strict=True)]
        generating = f"(1/(1 - x)) * {generating}"
    even = " + ".join(_times(c, "a(n)" if i == 0 else f"a(n-{i})") for i, c in enumerate(factor[::2]))
    odd = " + ".join(_times(c, "a(n)" if i == 0 else f"a(n-{i})") for i, c in enumerate(factor[1::2]))
    return f"G.f.: {generating}.", f"a(2*n) = {even} for n >= 1, a(2*n+1) = {odd}, with a(0) = 1 and a(n) = 0 for n < 0."


def _polynomial(factor: list[int]) -> str:
    powers = ["", "x^(2^j)", *(f"x^({i}*2^j)" for i in range(2, len(factor)))]
    return " + ".join(_times(c, power) if power else str(c) for c, power in zip(factor, powers, strict=True))


def _times(coefficient: int, what: str) -> str:
    return what if coefficient == 1 else f"{coefficient}*{what}"


def _formulas_by_maximum(piles: int, cumulative: bool) -> tuple[str, ...]:
    """By the number j of piles with the highest digit b of n: their rest is below c, and one without it follows from the others."""
    parts = []
    for j in range(0, piles, 2):
        powers = ([f"c^{j}"] if j else []) + ([f"2^({piles - 1 - j}*b)"] if j < piles - 1 else [])
        parts.append(_times(comb(piles, j), "*".join(powers)))
    rest = " + a(c-1)" if piles % 2 == 0 else ""
    whole = f"{' + '.join(parts)}{rest}"
    where = "where b = floor(log_2(n)) and c = n + 1 - 2^b"
    ends = f"a(2^m-1) = 2^({piles - 1}*m)"
    if cumulative:
        return f"a(n) = {whole} for n >= 1, {where}.", f"{ends}."
    ends = f"a(0) + ... + {ends}"
    return (f"a(n) = s(n) - s(n-1) for n >= 1, with s(0) = 1 and s(n) = {whole.replace('a(c-1)', 's(c-1)')}, {where}.", f"{ends}.")


_COUNTS = {
    "D": _Counts(
        "the total number of objects in all piles is 2*n",
        ("A", "partial sums"),
        by_total_program,
        _formulas_by_total,
        "two piles of 1, the others empty",
    ),
    "A": _Counts(
        "the total number of objects in all piles does not exceed 2*n",
        ("D", "first differences"),
        by_total_program,
        _formulas_by_total,
        "all piles empty, or two piles of 1 and the others empty",
    ),
    "d": _Counts(
        "the number of objects in the largest pile is n",
        ("a", "partial sums"),
        by_maximum_program,
        _formulas_by_maximum,
        "an even number of piles of 1, at least two, the others empty",
    ),
    "a": _Counts(
        "the number of objects in each pile does not exceed n",
        ("d", "first differences"),
        by_maximum_program,
        _formulas_by_maximum,
        "an even number of piles of 1, the others empty",
    ),
}


def _nim_drafts() -> tuple[Draft, ...]:
    return tuple(
        _nim(name, letter, piles) for letter in _COUNTS for piles, name in FAMILIES[letter].numbers.items() if not is_a_number(name)
    )


def _table(name: str, letter: str, program: str, formulas: tuple[str, ...], diagonal: tuple[tuple[str, str], ...]) -> Draft:
    family = TABLES[name]
    rows = [" ".join(f"{family(k).value(n):>6}" for n in range(8)) for k in range(1, 7)]
    return Draft(
        name=name,
        title="Square array T(k,n), k >= 1, n >= 0, read by antidiagonals: the number of P-positions in the game of Nim with up "
        f"to k piles, allowing for piles of zero, such that {_COUNTS[letter].counted}.",
        comments=(_TUPLES, "The antidiagonals are T(1,0); T(1,1), T(2,0); T(1,2), T(2,1), T(3,0); ..."),
        program=program,
        keywords="nonn,easy,tabl",
        reach=5050,
        formulas=formulas,
        examples=("Array begins:", *(f"k={k}: {row} ..." for k, row in enumerate(rows, 1))),
        sources=(_NIM_FRACTALS,),
        related=(*((number, f"row {k}") for k, number in sorted(family.numbers.items()) if is_a_number(number)), *diagonal),
    )


def _tables() -> tuple[Draft, ...]:
    return (
        _table(
            "nim-by-total-table",
            "D",
            BY_TOTAL_TABLE_PROGRAM,
            ("G.f. of row k: Product_{j>=0} Sum_{i=0..floor(k/2)} binomial(k,2*i)*x^(i*2^j).", "T(2*n,n) = A372967(n) for n >= 1."),
            (("A372967", "T(2*n,n)"), ("nim-up-to-maximum-table", "by the largest pile")),
        ),
        _table(
            "nim-up-to-maximum-table",
            "a",
            UP_TO_MAXIMUM_TABLE_PROGRAM,
            (
                "T(k,n) = Sum_{0 <= 2*i < k} binomial(k,2*i)*c^(2*i)*2^((k-1-2*i)*b) + e*T(k,c-1) for n >= 1, where "
                "b = floor(log_2(n)), c = n + 1 - 2^b, and e is 1 for even k, 0 for odd k.",
                "T(k,2^m-1) = 2^((k-1)*m).",
            ),
            (("A000027", "row 2, n+1"), ("nim-by-total-table", "by the total")),
        ),
    )


def _chocolate(a: int) -> Draft:
    nims = a % 4 == 3
    theorem = "The P-positions are those with x XOR y XOR z = 0, since a = 3 (mod 4); for a = 3 they are counted by A256249(n) + 1."
    formula = f"a(n) = number of pairs (x,z) with 0 <= x,z <= n and {a}*(x XOR z) <= x + z."
    return Draft(
        name=chocolate_name(a),
        title=f"Number of P-positions (x,y,z) with x <= n and z <= n of the chocolate game {a}*y <= x+z.",
        comments=(
            f"Positions are triples of nonnegative integers with {a}*y <= x+z. A move lowers one coordinate; where x or z is "
            f"lowered and y exceeds floor((x+z)/{a}), y drops to it. The player who moves to (0,0,0) wins. A P-position is one "
            "that the previous player wins.",
            *([theorem] if nims else []),
        ),
        program=chocolate_program(a),
        keywords="nonn",
        reach=500,
        formulas=(formula,) if nims else (),
        examples=(f"a(1) = 2: (0,0,0) and (1,0,1){'; from (1,1,1) one moves to (1,0,1)' if a == 2 else ''}.",),
        sources=(_INEQUALITIES,),
        related=(
            *((chocolate_name(each), f"{each}*y <= x+z") for each in CHOCOLATES if each != a),
            ("A256249", "a(n)-1 for 3*y <= x+z"),
            ("A236305", "Nim"),
        ),
        searched=a in (2, 4, 5),
    )


_SIX_DIRECTIONS = Draft(
    name="chocolate6",
    title="Number of P-positions with coordinates at most n of the chocolate game that is cut in six directions.",
    comments=(
        "Positions are six nonnegative integers with x1 <= x2+x6, x2 <= x1+x3+1, x3 <= x2+x4, x4 <= x3+x5+1, x5 <= x4+x6 and "
        "x6 <= x5+x1+1. A move lowers one coordinate; the others drop, where they must, to the greatest position below. The "
        "player who moves to (0,0,0,0,0,0) wins. A P-position is one that the previous player wins (Example 3.1 of the paper).",
    ),
    program=SIX_DIRECTIONS_PROGRAM,
    keywords="nonn,hard,more",
    reach=20,
    formulas=("a(n) <= (n+1)^5, since no two P-positions differ in one coordinate only.",),
    sources=(_INEQUALITIES,),
    related=(*((chocolate_name(a), f"{a}*y <= x+z") for a in CHOCOLATES), ("A256249", "a(n)-1 for 3*y <= x+z")),
    searched=True,
)


def all_drafts() -> Iterator[Draft]:
    """Yield the drafts, made anew."""
    yield from _edge_drafts()
    yield from _cubic_drafts()
    yield from _nim_drafts()
    yield from _tables()
    yield from map(_chocolate, CHOCOLATES)
    yield _SIX_DIRECTIONS


DRAFTS = Registry[Draft]("draft")
"""The drafts, by the name of the entry that each describes."""

for _draft in all_drafts():
    DRAFTS.add(_draft)
