"""[V]: Matsui, Yamauchi, Inoue, Tomari, "Variants of the Game of Nim that have Inequalities as Conditions"."""

from functools import partial

from gpu_nim.games.inequality import chocolate, parse_game, sheared, six_coordinate_chocolate
from gpu_nim.games.nim import positions as nim
from gpu_nim.games.solve import solve
from gpu_nim.reproduction.computed import binary_rows, of_nim, outcome, winning_options
from gpu_nim.reproduction.item import PAPERS, Comparison, Item, Paper

# The parts of the list of P-positions in section 4: y, and the first and last x that are printed.
_LISTED = ((0, 0, 24), (1, 2, 23), (2, 4, 25))

_PAIRS = (
    tuple((x, 0, x) for x in range(25))
    + tuple(cell for x in range(2, 24, 2) for cell in ((x, 1, x + 1), (x + 1, 1, x)))
    + tuple(cell for x in (4, 8, 12, 16, 20) for cell in ((x, 2, x + 2), (x + 1, 2, x + 3), (x + 2, 2, x), (x + 3, 2, x + 1)))
    + ((24, 2, 26), (25, 2, 27))
)
"""The list of section 4 as the paper prints it."""

_DATA = (
    tuple((x, 0, 0) for x in range(25))
    + tuple(cell for x in range(2, 24, 2) for cell in ((x, 1, 1), (x + 1, 1, -1)))
    + tuple(cell for x in (4, 8, 12, 16, 20) for cell in ((x, 2, 2), (x + 1, 2, 2), (x + 2, 2, -2), (x + 3, 2, -2)))
    + ((24, 2, 2), (25, 2, 2))
)
"""The list Data of section 4 as the paper prints it."""


def _listed(*, shear: bool) -> list[list[int]]:
    """The P-positions of 3y <= x + z that section 4 lists, or what it makes of them, by y and x."""
    found = solve(chocolate(3), 27).p_positions
    rows = zip(found.tolist(), (sheared(found) if shear else found).tolist(), strict=True)
    chosen = [(y, x, row) for (x, y, _), row in rows for at, first, last in _LISTED if y == at and first <= x <= last]
    return [row for _, _, row in sorted(chosen)]


def _first_difference(a: str) -> tuple[int, ...] | None:
    """The first position of a y <= x + z, up to 63, that is P in just one of the game and Nim."""
    return solve(chocolate(a), 63).first_difference


def _to_lower_y(*position: int) -> list[tuple[int, ...]]:
    """The options of a position of 3y <= x + z that are P and lower y alone."""
    return [option for option in winning_options(*position) if option[::2] == position[::2]]


def _exceptions(size: int) -> set[tuple[int, ...]]:
    """The triples that have one of the two properties of Theorem 3.3 and not the other, for p, r <= size."""
    first = {(p, (p + r) // 3, r) for p in range(size + 1) for r in range(size + 1) if nim.is_p_position((p, (p + r) // 3, r))}
    second = {(2**n + m, 2**n - 1, 2 ** (n + 1) - m - 1) for n in range(size.bit_length()) for m in range(2**n)}
    return {triple for triple in first ^ second if max(triple) <= size}


def _graph(number: str, statement: str, piles: tuple[int, int, int], printed: str) -> Item:
    """A table of binary digits, from 2^5 on."""
    about = f"the digits of {piles} at 2^5 to 2^0"
    compute = partial(binary_rows, *piles, height=6)
    return Item(number, statement, (Comparison(about, compute, printed),), command=f"gpunim nim {' '.join(map(str, piles))}")


_ITEMS = (
    Item(
        "Definition 2.1",
        "Nim with three piles: a player takes some or all counters of one pile, and who takes the last one wins.",
        (Comparison("the outcome of {0,0,0}, where the player to move has lost", partial(outcome, 0, 0, 0), "P"),),
        command="gpunim nim 0 0 0",
    ),
    Item(
        "Example 2.1",
        "Graph 2.1 has piles of 3, 6 and 4 counters, the position {3,6,4}.",
        (Comparison("the number of piles in {3,6,4}", lambda: len(nim.as_position([3, 6, 4])), 3),),
        command="gpunim nim 3 6 4",
    ),
    Item(
        "Graph 2.1",
        "Three piles with 3, 6 and 4 counters.",
        (Comparison("the position drawn", partial(nim.as_position, [3, 6, 4]), (3, 6, 4)),),
        command="gpunim nim 3 6 4",
    ),
    Item(
        "Definition 2.2",
        "The bitter chocolate: players break off pieces along the grooves, and who leaves the bitter part wins.",
        (Comparison("the first P-position of the chocolate", lambda: solve("x; y; z", 6).p_positions[0], (0, 0, 0)),),
        command='gpunim solve inequalities --where "x; y; z" --size 6',
    ),
    Item(
        "Example 2.2",
        "The chocolates of Graphs 2.2 and 2.3 are the same game as Nim at {3,6,4}; so is any {x,y,z} of this kind.",
        (
            Comparison(
                "whether the chocolate without inequalities has the P-positions of Nim",
                lambda: solve("x; y; z", 7).equals_nim,
                True,
            ),
        ),
        command='gpunim solve inequalities --where "x; y; z" --size 7',
    ),
    *(
        Item(
            number,
            "A chocolate that is cut in three directions, each on its own, the position {3,6,4} of Nim.",
            (Comparison("whether {3,6,4} is a position", lambda: parse_game("x; y; z").is_position((3, 6, 4)), True),),
            command='gpunim solve inequalities --where "x; y; z" --size 6',
        )
        for number in ("Graph 2.2", "Graph 2.3")
    ),
    Item(
        "Definition 2.3",
        "{0,0,0} is a P-position; every option of a P-position is an N-position; an N-position has an option that is a P-position.",
        (Comparison("the outcome of {0,0,0}", partial(outcome, 0, 0, 0), "P"),),
        ("nf-theorem-2", "v-corollary-2.1"),
    ),
    Item(
        "Remark 2.1",
        "Who knows all P-positions can win from every N-position: there is an option that is P, and the opponent must leave it.",
        checks=("v-corollary-2.1",),
    ),
    Item(
        "Definition 2.4",
        "The nim-sum of x and y has the binary digit 0 or 1 where the sum of their digits is even or odd.",
        checks=("f-nim-sum",),
    ),
    Item(
        "Example 2.3",
        "The nim-sum of 52, 21 and 58 is 24. Subtracting 8 from 52 makes it 0, and so does subtracting 7 from 21, which leaves "
        "{52,14,58}.",
        (
            Comparison("52 ⊕ 21 ⊕ 58", of_nim(52, 21, 58), 24, 27),
            Comparison("52 ⊕ 22 ⊕ 58", of_nim(52, 22, 58), 24),
            Comparison("44 ⊕ 21 ⊕ 58", of_nim(44, 21, 58), 0, 3),
            Comparison("44 ⊕ 22 ⊕ 58", of_nim(44, 22, 58), 0),
            Comparison("52 ⊕ 14 ⊕ 58", of_nim(52, 14, 58), 0),
        ),
        command="gpunim nim 52 22 58",
        slip="It prints 21 for 22: the digits that it lists, 010110, are those of 22, with which both nim-sums are right. "
        "52, 21 and 58 have nim-sum 27, and 44, 21 and 58 have 3; to 14 one subtracts 8 from 22.",
    ),
    Item(
        "Graph 2.4",
        "The binary digits of 52, 21, 58 and of their nim-sum, 24.",
        (
            Comparison(
                "the digits of 52, 21, 58, from 2^5 to 2^0",
                partial(binary_rows, 52, 21, 58),
                "101 111 001 110 011 000",
                "101 111 001 110 001 010",
            ),
            Comparison(
                "the digits of 52, 22, 58",
                partial(binary_rows, 52, 22, 58),
                "101 111 001 110 011 000",
            ),
            Comparison("the digits of 52 ⊕ 22 ⊕ 58", lambda: nim.binary_columns([52, 22, 58])[1], (0, 1, 1, 0, 0, 0)),
        ),
        command="gpunim nim 52 22 58",
        slip="The column headed 21 holds the digits of 22.",
    ),
    Item(
        "Graph 2.5",
        "The binary digits of 44, 21, 58, of nim-sum 0.",
        (
            Comparison(
                "the digits of 44, 21, 58, from 2^5 to 2^0",
                partial(binary_rows, 44, 21, 58),
                "101 011 101 110 011 000",
                "101 011 101 110 001 010",
            ),
            Comparison(
                "the digits of 44, 22, 58",
                partial(binary_rows, 44, 22, 58),
                "101 011 101 110 011 000",
            ),
        ),
        command="gpunim nim 44 22 58",
        slip="The column headed 21 holds the digits of 22.",
    ),
    Item(
        "Remark 2.2",
        "x ⊕ y ⊕ z = 0 implies z <= x + y, x <= y + z and y <= z + x.",
        checks=("v-remark-2.2",),
    ),
    Item(
        "Theorem 2.1",
        "The positions of nim-sum 0 are the P-positions of Nim with three piles, the others the N-positions.",
        checks=("nf-theorem-4",),
    ),
    Item(
        "Corollary 2.1",
        "From nim-sum 0 no pile can be lowered to reach nim-sum 0; from another nim-sum some pile can.",
        checks=("v-corollary-2.1",),
    ),
    Item(
        "Example 3.1",
        "A chocolate that is cut in six directions: x1 <= x2 + x6, x2 <= x1 + x3 + 1, x3 <= x2 + x4, x4 <= x3 + x5 + 1, "
        "x5 <= x4 + x6, x6 <= x5 + x1 + 1.",
        (
            Comparison(
                "the inequalities of the game `chocolate6`",
                lambda: six_coordinate_chocolate().formulas(),
                (
                    "x1 <= x2 + x6",
                    "x2 <= x1 + x3 + 1",
                    "x3 <= x2 + x4",
                    "x4 <= x3 + x5 + 1",
                    "x5 <= x4 + x6",
                    "x6 <= x1 + x5 + 1",
                ),
            ),
        ),
        command="gpunim solve chocolate6 --size 3",
    ),
    Item(
        "Graph 3.1",
        "The chocolate at {2,1,2,1,2,1}.",
        (
            Comparison(
                "whether {2,1,2,1,2,1} is a position",
                lambda: six_coordinate_chocolate().is_position((2, 1, 2, 1, 2, 1)),
                True,
            ),
        ),
        command="gpunim solve chocolate6 --size 3",
    ),
    Item(
        "Example 3.2",
        "The chocolate y <= x + z.",
        (Comparison("the inequality of the game with a = 1", lambda: chocolate(1).formulas(), ("y <= x + z",)),),
        command="gpunim solve chocolate --a 1 --size 31",
    ),
    Item(
        "Graph 3.2",
        "The chocolate y <= x + z at {4,6,2}.",
        (Comparison("whether {4,6,2} is a position", lambda: chocolate(1).is_position((4, 6, 2)), True),),
        command="gpunim solve chocolate --a 1 --size 6",
    ),
    Item(
        "Theorem 3.1",
        "In y <= x + z, {x,0,z} is a P-position if and only if x = z, and {x+1,y,z+1} with y > 0 if and only if x ⊕ y ⊕ z = 0.",
        checks=("v-theorem-3.1",),
    ),
    Item(
        "Example 3.3",
        "The chocolate 3y <= x + z, so y <= floor((x+z)/3).",
        (Comparison("the inequality of the game with a = 3", lambda: chocolate(3).formulas(), ("3y <= x + z",)),),
        command="gpunim solve chocolate --a 3 --size 31",
    ),
    Item(
        "Graph 3.3",
        "The chocolate 3y <= x + z, represented with {4,6,2}.",
        (Comparison("whether {4,6,2} is a position", lambda: chocolate(3).is_position((4, 6, 2)), True, False),),
        command="gpunim solve chocolate --a 3 --size 6",
        slip="{4,6,2} is the position of Graph 3.2; here 3·6 > 4 + 2, and y is at most 2 beside x = 4, z = 2.",
    ),
    Item(
        "Example 3.4",
        "From {53,27,59}, {61,23,33}, {38,10,4} and {36,5,14} there are options to P-positions of 3y <= x + z: {53,14,59}, "
        "{54,23,33}, {7,3,4} and {11,5,14}. {14,10,4} has nim-sum 0 and is no position.",
        (
            Comparison("14 ⊕ 10 ⊕ 4", of_nim(14, 10, 4), 0),
            Comparison("whether {14,10,4} is a position", lambda: chocolate(3).is_position((14, 10, 4)), False),
        ),
        ("v-example-3.4",),
    ),
    Item(
        "Example 3.4, [3]",
        'To show that {7,3,4} is a position, it is proved that "3v <= v + z".',
        (
            Comparison(
                "whether 3v <= v + z, or 2v <= z, for v = 3, z = 4", lambda: parse_game("2v <= z").is_position((3, 4)), True, False
            ),
            Comparison("whether 3v <= u + z for u = 7", lambda: parse_game("3v <= u + z").is_position((7, 3, 4)), True),
        ),
        ("v-example-3.4",),
        slip="3v <= u + z is meant, and proved: 3v = 9, u + z = 11 and v + z = 7. "
        "(3.6) interchanges the digits d of u and e of v, which are the same here.",
    ),
    _graph("Graph 3.4", "The digits of x = 53, y = 27, z = 59.", (53, 27, 59), "101 111 011 100 011 111"),
    _graph("Graph 3.5", "The digits of x = 61, y = 23, z = 33.", (61, 23, 33), "101 110 100 110 010 111"),
    _graph("Graph 3.6", "The digits of x = 38, y = 10, z = 4.", (38, 10, 4), "100 000 010 101 110 000"),
    _graph("Graph 3.7", "The digits of x = 14, y = 10, z = 4.", (14, 10, 4), "000 000 110 101 110 000"),
    _graph("Graph 3.8", "The digits of u = 7, v = 3, z = 4.", (7, 3, 4), "000 000 000 101 110 110"),
    _graph("Graph 3.9", "The digits of x = 36, y = 5, z = 14.", (36, 5, 14), "100 000 001 111 001 010"),
    Item(
        "Remark 3.1",
        "A move that lowers two coordinates of 3y <= x + z leaves y = floor((x+z)/3).",
        checks=("v-remark-3.1",),
    ),
    Item(
        "Theorem 3.2",
        "From each position of 3y <= x + z whose nim-sum is not 0 there is an option with nim-sum 0.",
        checks=("v-theorem-3.2",),
    ),
    Item(
        "Theorem 3.2, proof, [1.1]",
        "Where y is lowered to v, the lower digits of v are those of x plus those of y, modulo 2.",
        (Comparison("the option of {4,2,5} that lowers y", partial(_to_lower_y, 4, 2, 5), ((4, 0, 5),), ((4, 1, 5),)),),
        ("v-theorem-3.2",),
        slip="d_i = a_i + b_i should be a_i + c_i, as in Example 3.4 [1]: by the rule as printed {4,2,5} goes to {4,0,5}, "
        "of nim-sum 1.",
    ),
    Item(
        "Theorem 3.2, proof, [1.2]",
        "Where x is lowered to u, u is the sum of d_i 2^i for i = 0 to n - 1.",
        (
            Comparison(
                "u of {61,23,33}, where n = 5",
                lambda: [u for u, *rest in winning_options(61, 23, 33) if rest == [23, 33]],
                (22,),
                (54,),
            ),
        ),
        ("v-theorem-3.2",),
        slip="The sum must go to n, since d_n = 1: Example 3.4 [2] has u = 54, and 22 without 2^5. "
        "The proof also leaves out x, y or z = 0, which have no logarithm; the theorem holds for them.",
    ),
    Item(
        "Theorem 3.3",
        "p ⊕ q ⊕ r = 0 and q = floor((p+r)/3) hold if and only if p = 2^n + m, q = 2^n - 1 and r = 2^(n+1) - m - 1 with "
        "0 <= m < 2^n.",
        (Comparison("the counterexamples with p, r <= 63", lambda: _exceptions(63), (), ((0, 0, 0),)),),
        ("v-theorem-3.3",),
        slip="(0,0,0) has the first property and not the second; it is the only exception. The proof takes the logarithm of p.",
    ),
    Item(
        "Graph 3.10",
        "The digits of p, q, r in the proof: at 2^n they are 1, 0, 1.",
        (
            Comparison(
                "the highest digits of p, q, r for n = 1, 2, 3, m = 0",
                lambda: [binary_rows(2**n, 2**n - 1, 2 ** (n + 1) - 1)[:3] for n in (1, 2, 3)],
                ("101", "101", "101"),
            ),
        ),
        ("v-theorem-3.3",),
    ),
    Item(
        "Graph 3.11",
        "Below 2^n the digits of q are 1, and those of r are 1 minus those of p.",
        (
            Comparison(
                "the digits of p, q, r for n = 3, m = 5",
                partial(binary_rows, 13, 7, 10),
                "101 110 011 110",
            ),
        ),
        ("v-theorem-3.3",),
    ),
    Item(
        "Theorem 3.4",
        "From each position of 3y <= x + z whose nim-sum is 0, every option has another nim-sum.",
        checks=("v-theorem-3.4",),
    ),
    Item(
        "Graph 3.12",
        "The digits of p, q, z in the proof of Theorem 3.4 are those of Graph 3.11.",
        (
            Comparison(
                "the digits of p, q, z for n = 3, m = 2",
                partial(binary_rows, 10, 7, 13),
                "101 011 110 011",
            ),
        ),
        ("v-theorem-3.4",),
    ),
    Item(
        "Theorem 3.5",
        "The P-positions of 3y <= x + z are its positions of nim-sum 0, the others are N-positions.",
        checks=("v-theorem-3.5",),
        command="gpunim solve chocolate --a 3 --size 255",
    ),
    Item(
        "Section 4, list",
        "The P-positions of 3y <= x + z with y = 0, 1 and 2, as listed.",
        (Comparison("the positions listed", partial(_listed, shear=False), _PAIRS),),
        command="gpunim solve chocolate --a 3 --size 27",
    ),
    Item(
        "Section 4, Data",
        "{a,b,c} is replaced by {a,b,c-a}, as listed.",
        (Comparison("the vectors listed", partial(_listed, shear=True), _DATA),),
        command="gpunim solve chocolate --a 3 --size 27",
    ),
    *(
        Item(
            f"Graph 4.{part}",
            statement,
            (Comparison("whether its P-positions are those of nim-sum 0", lambda: _first_difference("3") is None, True),),
            command=f"gpunim render figure:V4.{part} -o V4.{part}.svg",
            figure=f"V4.{part}",
        )
        for part, statement in (
            (1, "The list Data as a graph in space."),
            (2, "The graph turned: a pattern like Sierpinski's gasket."),
            (3, "The graph turned to Sierpinski's gasket itself."),
        )
    ),
    Item(
        "Remark 4.1",
        "Why the gasket appears is left open, and so are the games a y <= x + z for even a. Other numbers a, even if they are "
        "not integers, have interesting graphs.",
        (
            Comparison(
                "the first position, up to 63, where the P-positions for a = 1 to 8 differ from Nim's",
                lambda: [_first_difference(str(a)) or "none" for a in range(1, 9)],
            ),
            Comparison("the same for a = 5/2", partial(_first_difference, "5/2")),
        ),
        command="gpunim solve chocolate --a 1:9 --size 63",
    ),
)

PAPERS.add(
    Paper(
        "inequality-conditions",
        "V",
        "Hiroshi Matsui, Toshiyuki Yamauchi, Taishi Inoue and Yuuki Tomari, "
        '"Variants of the Game of Nim that have Inequalities as Conditions"',
        _ITEMS,
    ),
)
