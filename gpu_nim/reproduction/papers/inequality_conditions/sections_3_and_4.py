"""[V] sections 3 and 4: chocolates with inequalities, and their graphs."""

from functools import partial

from gpu_nim.games.inequality import chocolate, parse_game, sheared, six_coordinate_chocolate
from gpu_nim.games.nim import positions as nim
from gpu_nim.games.solve import solve
from gpu_nim.reproduction.computed import binary_rows, of_nim, winning_options
from gpu_nim.reproduction.item import Comparison, Item

_LISTED = ((0, 0, 24), (1, 2, 23), (2, 4, 25))  # the parts of the list of section 4: y, the first and the last x

_LIST = (
    "0,0,0 1,0,1 2,0,2 3,0,3 4,0,4 5,0,5 6,0,6 7,0,7 8,0,8 9,0,9 10,0,10 11,0,11 12,0,12 13,0,13 14,0,14 15,0,15 16,0,16 "
    "17,0,17 18,0,18 19,0,19 20,0,20 21,0,21 22,0,22 23,0,23 24,0,24 2,1,3 3,1,2 4,1,5 5,1,4 6,1,7 7,1,6 8,1,9 9,1,8 "
    "10,1,11 11,1,10 12,1,13 13,1,12 14,1,15 15,1,14 16,1,17 17,1,16 18,1,19 19,1,18 20,1,21 21,1,20 22,1,23 23,1,22 4,2,6 "
    "5,2,7 6,2,4 7,2,5 8,2,10 9,2,11 10,2,8 11,2,9 12,2,14 13,2,15 14,2,12 15,2,13 16,2,18 17,2,19 18,2,16 19,2,17 20,2,22 "
    "21,2,23 22,2,20 23,2,21 24,2,26 25,2,27"
)
"""The list of P-positions in section 4, as it is printed."""

_DATA = (
    "0,0,0 1,0,0 2,0,0 3,0,0 4,0,0 5,0,0 6,0,0 7,0,0 8,0,0 9,0,0 10,0,0 11,0,0 12,0,0 13,0,0 14,0,0 15,0,0 16,0,0 17,0,0 "
    "18,0,0 19,0,0 20,0,0 21,0,0 22,0,0 23,0,0 24,0,0 2,1,1 3,1,-1 4,1,1 5,1,-1 6,1,1 7,1,-1 8,1,1 9,1,-1 10,1,1 11,1,-1 "
    "12,1,1 13,1,-1 14,1,1 15,1,-1 16,1,1 17,1,-1 18,1,1 19,1,-1 20,1,1 21,1,-1 22,1,1 23,1,-1 4,2,2 5,2,2 6,2,-2 7,2,-2 "
    "8,2,2 9,2,2 10,2,-2 11,2,-2 12,2,2 13,2,2 14,2,-2 15,2,-2 16,2,2 17,2,2 18,2,-2 19,2,-2 20,2,2 21,2,2 22,2,-2 23,2,-2 "
    "24,2,2 25,2,2"
)
"""The list Data of section 4, as it is printed."""


def _listed(*, shear: bool) -> str:
    """The P-positions of 3y <= x + z that section 4 lists, or what it makes of them, by y and x."""
    found = solve(chocolate(3), 27).p_positions
    rows = zip(found.tolist(), (sheared(found) if shear else found).tolist(), strict=True)
    chosen = sorted((y, x, row) for (x, y, _), row in rows for at, first, last in _LISTED if y == at and first <= x <= last)
    return " ".join(",".join(map(str, row)) for _, _, row in chosen)


def _first_difference(a: str) -> tuple[int, ...] | None:
    """The first position of a y <= x + z, up to 63, that is P in just one of the game and Nim."""
    return solve(chocolate(a), 63).first_difference


def _is_gasket(steps: int) -> bool:
    """Whether the points (y, z - x) with y < 2^steps are one point, three times doubled, and moved by (1, 1) and (1, -1)."""
    seen = {(y, d) for _, y, d in sheared(solve(chocolate(3), 4 * 2**steps - 1).p_positions).tolist() if y < 2**steps}
    gasket = {(0, 0)}
    for step in range(steps):
        gasket |= {(y + 2**step, d + sign * 2**step) for y, d in gasket for sign in (1, -1)}
    return seen == gasket


_NIM = ("whether its P-positions are those of nim-sum 0", lambda: _first_difference("3") is None)
_GASKET = ("whether its points (y, z - x) with y < 32 are five steps of Sierpinski's gasket, 243 points", partial(_is_gasket, 5))


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


ITEMS = (
    Item(
        "Example 3.1",
        "A chocolate that is cut in six directions: x1 <= x2 + x6, x2 <= x1 + x3 + 1, x3 <= x2 + x4, x4 <= x3 + x5 + 1, "
        "x5 <= x4 + x6, x6 <= x5 + x1 + 1.",
        (
            Comparison(
                "the inequalities of the game `chocolate6`",
                lambda: six_coordinate_chocolate().formulas(),
                ("x1 <= x2 + x6", "x2 <= x1 + x3 + 1", "x3 <= x2 + x4", "x4 <= x3 + x5 + 1", "x5 <= x4 + x6", "x6 <= x1 + x5 + 1"),
            ),
        ),
        ("chocolate6-symmetry", "chocolate6-heaps", "chocolate6-zeros", "chocolate6-growth"),
        command="gpunim solve chocolate6 --size 3",
    ),
    Item(
        "Graph 3.1",
        "The chocolate at {2,1,2,1,2,1}.",
        (
            Comparison(
                "whether {2,1,2,1,2,1} is a position", lambda: six_coordinate_chocolate().is_position((2, 1, 2, 1, 2, 1)), True
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
        slip="{4,6,2} is the position of Graph 3.2; here 3·6 > 4 + 2, and y is at most 2 beside x = 4, z = 2. Example 3.3 also "
        "says Graph 3.2 where it means this one.",
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
    Item("Remark 3.1", "A move that lowers two coordinates of 3y <= x + z leaves y = floor((x+z)/3).", checks=("v-remark-3.1",)),
    Item(
        "Theorem 3.2",
        "From each position of 3y <= x + z whose nim-sum is not 0 there is an option with nim-sum 0.",
        checks=("v-theorem-3.2",),
    ),
    Item(
        "Theorem 3.2, proof, [1.1]",
        "Where y is lowered to v, the lower digits of v are those of x plus those of y, modulo 2.",
        (Comparison("the option of {4,2,5} that lowers y", partial(_to_lower_y, 4, 2, 5), ((4, 0, 5),), ((4, 1, 5),)),),
        ("v-proof-3.2",),
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
        ("v-proof-3.2",),
        slip="The sum must go to n, since d_n = 1: Example 3.4 [2] has u = 54, and 22 without 2^5. "
        "In [2.1] the digits that are 1 are those of v, e, not d. The proof leaves out x, y or z = 0, which have no logarithm; "
        "the theorem holds for them.",
    ),
    Item(
        "Theorem 3.3",
        "p ⊕ q ⊕ r = 0 and q = floor((p+r)/3) hold if and only if p = 2^n + m, q = 2^n - 1 and r = 2^(n+1) - m - 1 with "
        "0 <= m < 2^n.",
        (Comparison("the counterexamples with p, r <= 63", lambda: _exceptions(63), (), ((0, 0, 0),)),),
        ("v-theorem-3.3",),
        slip="(0,0,0) has the first property and not the second; it is the only exception. The proof takes the logarithm "
        "of p, and writes d for a in (3.27) and (3.28).",
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
        (Comparison("the digits of p, q, r for n = 3, m = 5", partial(binary_rows, 13, 7, 10), "101 110 011 110"),),
        ("v-theorem-3.3",),
    ),
    Item(
        "Theorem 3.4",
        "From each position of 3y <= x + z whose nim-sum is 0, every option has another nim-sum.",
        checks=("v-theorem-3.4",),
    ),
    Item(
        "Theorem 3.4, proof",
        'With x >= z assumed, a move that lowers two numbers lowers x and y, and leads to {p,q,z}: "therefore {p,q,r} is in B".',
        (
            Comparison(
                "whether a move that lowers z can lower y, where x >= z: from {6,3,5} to {6,2,0}",
                lambda: (6, 2, 0) in {option for _, _, option in chocolate(3).moves((6, 3, 5))},
                False,
                True,
            ),
        ),
        ("v-theorem-3.4",),
        slip="Where x >= z is assumed, moves in z are another case than moves in x: {6,3,5} has the option {6,2,0}. The same "
        "argument applies to them, and the theorem holds. {p,q,r} should be {p,q,z}. {0,0,0}, where Theorem 3.3 fails, is not "
        "excepted, but no other position of A has z = 0.",
    ),
    Item(
        "Graph 3.12",
        "The digits of p, q, z in the proof of Theorem 3.4 are those of Graph 3.11.",
        (Comparison("the digits of p, q, z for n = 3, m = 2", partial(binary_rows, 10, 7, 13), "101 011 110 011"),),
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
        (Comparison("the positions listed", partial(_listed, shear=False), _LIST),),
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
            (Comparison(about, compute, True),),
            command=f"gpunim render figure:V4.{part} -o V4.{part}.svg",
            figure=f"V4.{part}",
        )
        for part, statement, about, compute in (
            (1, "The list Data as a graph in space.", *_NIM),
            (2, "The graph turned: a pattern like Sierpinski's gasket.", *_NIM),
            (3, "The graph turned to Sierpinski's gasket itself.", *_GASKET),
        )
    ),
    Item(
        "Remark 4.1",
        "Why the gasket appears is left open, and so are the games a y <= x + z for even a. Even a, and numbers a that are no "
        "integers, have graphs, too.",
        (
            Comparison(
                "the first position, up to 63, where the P-positions for a = 1 to 8 differ from Nim's",
                lambda: [_first_difference(str(a)) or "none" for a in range(1, 9)],
            ),
            Comparison("the same for a = 5/2", lambda: [_first_difference("5/2")]),
            Comparison(
                "whether the gasket appears since z - x is the sum of 2^i or -2^i for each binary digit 2^i of y, for y < 32",
                partial(_is_gasket, 5),
            ),
        ),
        ("v-remark-4.1", "chocolate-nim", "chocolate-first-difference", "chocolate-integers", "nim-gasket"),
        command="gpunim solve chocolate --a 1:9 --size 63",
    ),
)
