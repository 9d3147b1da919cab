"""[V]: Matsui, Yamauchi, Inoue, Tomari, "Variants of the Game of Nim that have Inequalities as Conditions"."""

import tomllib
from itertools import chain
from pathlib import Path

from gpu_nim.deciding.relations import Relation, Term, is_power_of_two, nim_sum_is_zero, numbers
from gpu_nim.games.game_graph import Vector
from gpu_nim.games.inequality import bar_of, chocolate, parse_game, sheared, six_coordinate_chocolate
from gpu_nim.games.inequality import nim as nim_of
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.games.nim import positions as nim
from gpu_nim.games.nim.positions import nim_sum
from gpu_nim.games.proofs import Moves
from gpu_nim.games.solve import solve
from gpu_nim.papers.claims import Claim, every, has_digit, has_length, p_positions
from gpu_nim.papers.entries import SOURCES, Cases, Entry, Printed, Reach, decided

V = SOURCES["inequality-conditions"]
_AS_NIM = 'gpunim solve inequalities --where "x; y; z" --size '


def binary_rows(*piles: int, height: int = 1) -> str:
    """Return the binary digits of piles as a table with at least `height` rows, one a power of two, the largest first.

    >>> binary_rows(5, 3)
    '10 01 11'
    """
    width = max(height, max(piles).bit_length())
    return " ".join("".join(row) for row in zip(*(f"{pile:0{width}b}" for pile in piles), strict=True))


def _picture_of_bars(number: str, summary: str, *positions: tuple[InequalityGame, Vector]) -> None:
    """Add a picture of positions as bars of chocolate."""

    @Entry(V, f"Graph {number}", summary, figure=f"V{number}")
    def lines() -> Cases:
        found = [bar_of(rules).left(here, 0, here[0]) for rules, here in positions]
        yield Printed("the lines in each direction of the bar drawn", [*chain(*found)], [*chain(*(here for _, here in positions))])


@Entry(V, "Definition 2.1", command="gpunim nim 0 0 0")
def rules() -> Cases:
    """Nim with three piles: a player takes some or all counters of one pile, and whoever takes the last one wins."""
    yield Printed("whether {0,0,0}, where the player to move has lost, is a P-position", nim.is_p_position((0, 0, 0)), True)


@Entry(V, "Graph 2.1", "A picture of three piles with 3, 6 and 4 counters.", figure="V2.1")
@Entry(V, "Example 2.1", command="gpunim nim 3 6 4")
def piles() -> Cases:
    """Graph 2.1 has piles of 3, 6 and 4 counters, the position {3,6,4}."""
    moves = [pile for pile, _, _ in nim_of(3).moves((3, 6, 4))]
    yield Printed("in how many ways counters are taken from each pile of {3,6,4}", [*map(moves.count, range(3))], [3, 6, 4])


@Entry(V, "Definition 2.2", command=f"{_AS_NIM}6")
def bitter() -> Cases:
    """The bitter chocolate: players break off pieces along the grooves, and whoever leaves the bitter part wins."""
    yield Printed("the first P-position of the chocolate", solve("x; y; z", 6).p_positions[0], (0, 0, 0))


@Entry(V, "Example 2.2", command=f"{_AS_NIM}7")
def chocolate_that_is_nim() -> Cases:
    """The chocolates of Graphs 2.2 and 2.3 are the same game as Nim at {3,6,4}; so is any {x,y,z} of this kind."""
    same = solve("x; y; z", 7).equals_nim
    yield Printed("whether the chocolate without inequalities has the P-positions of Nim", same, True)


_picture_of_bars(
    "2.2",
    "A picture of a chocolate that is cut in three directions, the position {3,6,4} of Nim.",
    (parse_game("x; y; z"), (3, 6, 4)),
)
_picture_of_bars(
    "2.3",
    "A picture of three chocolates, each cut in one direction, the position {3,6,4} of Nim.",
    *((nim_of(1), (count,)) for count in (3, 6, 4)),
)


@Entry(V, "Definition 2.3", also=("nf-theorem-2", "v-corollary-2.1"))
def outcomes() -> Cases:
    """{0,0,0} is a P-position; every option of a P-position is an N-position; an N-position has an option that is a P-position."""
    yield Printed("whether {0,0,0} is a P-position", nim.is_p_position((0, 0, 0)), True)


@Entry(V, "Example 2.3", command="gpunim nim 52 22 58")
def sums() -> Cases:
    """The nim-sum of 52, 21 and 58 is 24. Subtracting 8 from 52 makes it 0, and so does subtracting 7 from 21, which leaves
    {52,14,58}.

    Erratum: It prints 21 for 22: the digits that it lists, 010110, are those of 22, with which both nim-sums are right. 52, 21 and
    58 have nim-sum 27, and 44, 21 and 58 have 3; to 14 one subtracts 8 from 22.
    """
    for *piles, printed, right in (
        (52, 21, 58, 24, 27),
        (52, 22, 58, 24, None),
        (44, 21, 58, 0, 3),
        (44, 22, 58, 0, None),
        (52, 14, 58, 0, None),
    ):
        yield Printed(" ⊕ ".join(map(str, piles)), nim_sum(piles), printed, right)


@Entry(V, "Graph 2.4", command="gpunim nim 52 22 58")
def digits_of_24() -> Cases:
    """The binary digits of 52, 21, 58 and of their nim-sum, 24.

    Erratum: The column headed 21 holds the digits of 22.
    """
    printed = "101 111 001 110 011 000"
    yield Printed("the digits of 52, 21, 58, from 2^5 to 2^0", binary_rows(52, 21, 58), printed, "101 111 001 110 001 010")
    yield Printed("the digits of 52, 22, 58", binary_rows(52, 22, 58), printed)
    yield Printed("the digits of 52 ⊕ 22 ⊕ 58", nim.binary_columns([52, 22, 58])[1], (0, 1, 1, 0, 0, 0))


@Entry(V, "Graph 2.5", command="gpunim nim 44 22 58")
def digits_of_0() -> Cases:
    """The binary digits of 44, 21, 58, of nim-sum 0.

    Erratum: The column headed 21 holds the digits of 22.
    """
    printed = "101 011 101 110 011 000"
    yield Printed("the digits of 44, 21, 58, from 2^5 to 2^0", binary_rows(44, 21, 58), printed, "101 011 101 110 001 010")
    yield Printed("the digits of 44, 22, 58", binary_rows(44, 22, 58), printed)


@Entry(V, "Remark 2.2", reach=decided("every position"))
def triangle_inequality() -> Cases:
    """X ⊕ y ⊕ z = 0 implies z <= x + y, x <= y + z and y <= z + x."""
    for x, y, z in (_XYZ, (_Y, _Z, _X), (_Z, _X, _Y)):
        yield Claim("the triangle inequality", nim_sum_is_zero(*_XYZ).implies(z <= x + y))


@Entry(V, "Corollary 2.1", reach=decided("every position"))
def moves_and_nim_sums() -> Cases:
    """From nim-sum 0 no pile can be lowered to reach nim-sum 0; from another nim-sum some pile can."""
    zero = nim_sum_is_zero(*numbers("x1 x2 x3"))
    yield Claim("a move to nim-sum 0", Moves(nim_of(3)).to(zero).iff(~zero))


_XYZ = _X, _Y, _Z = numbers("x y z")


def _is_option(*option: Term) -> Relation:
    """Return where (x, y, z) is this option, for `Moves.to`."""
    return every(here == there for here, there in zip(_XYZ, option, strict=True))


#: The positions of Example 3.4 and the options to which it moves from them.
EXAMPLE_3_4: dict[Vector, Vector] = {
    (53, 27, 59): (53, 14, 59),
    (61, 23, 33): (54, 23, 33),
    (38, 10, 4): (7, 3, 4),
    (36, 5, 14): (11, 5, 14),
}

_LISTED = ((0, 0, 24), (1, 2, 23), (2, 4, 25))  # the parts of the list of section 4: y, the first and the last x

#: The list of P-positions in section 4 and the list Data, as they are printed.
_PRINTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _winning_options(*position: int) -> list[Vector]:
    """The options of a position of 3y <= x + z that are P-positions, by Theorem 3.5, in lexicographic order."""
    return sorted({option for _, _, option in chocolate(3).moves(position) if nim_sum(option) == 0})


@Entry(
    V,
    "Example 3.1",
    also=("chocolate6-symmetry", "chocolate6-heaps", "chocolate6-zeros", "chocolate6-growth"),
    command="gpunim solve chocolate6 --size 3",
)
def six_directions() -> Cases:
    """A chocolate that is cut in six directions: x1 <= x2 + x6, x2 <= x1 + x3 + 1, x3 <= x2 + x4, x4 <= x3 + x5 + 1, x5 <= x4 + x6,
    x6 <= x5 + x1 + 1.
    """
    printed = ["x1 <= x2 + x6", "x2 <= x1 + x3 + 1", "x3 <= x2 + x4", "x4 <= x3 + x5 + 1", "x5 <= x4 + x6", "x6 <= x1 + x5 + 1"]
    yield Printed("the inequalities of the game `chocolate6`", six_coordinate_chocolate().formulas(), printed)


_picture_of_bars(
    "3.1", "A picture of the chocolate of Example 3.1 at {2,1,2,1,2,1}.", (six_coordinate_chocolate(), (2, 1, 2, 1, 2, 1))
)


@Entry(V, "Example 3.2", command="gpunim solve chocolate --a 1 --size 31")
def chocolate_1() -> Cases:
    """The chocolate y <= x + z."""
    yield Printed("the inequality of the game with a = 1", chocolate(1).formulas(), ("y <= x + z",))


_picture_of_bars("3.2", "A picture of the chocolate y <= x + z at {4,6,2}.", (chocolate(1), (4, 6, 2)))


@Entry(V, "Theorem 3.1", reach=decided("every position"))
def theorem_3_1() -> Cases:
    """In y <= x + z, {x,0,z} is a P-position if and only if x = z, and {x+1,y,z+1} with y > 0 if and only if x ⊕ y ⊕ z = 0."""
    stated = (_Y >= 1) & nim_sum_is_zero(_X - 1, _Y, _Z - 1) | (_Y <= 0) & (_X == _Z)
    yield p_positions(chocolate(1), stated)


@Entry(V, "Example 3.3", command="gpunim solve chocolate --a 3 --size 31")
def chocolate_3() -> Cases:
    """The chocolate 3y <= x + z, so y <= floor((x+z)/3)."""
    yield Printed("the inequality of the game with a = 3", chocolate(3).formulas(), ("3y <= x + z",))


@Entry(V, "Graph 3.3", figure="V3.3")
def drawn_chocolate_3() -> Cases:
    """The chocolate 3y <= x + z, represented with {4,6,2}.

    Erratum: {4,6,2} is the position of Graph 3.2; here 3·6 > 4 + 2, and y is at most 2 beside x = 4, z = 2, as it is drawn here.
    Example 3.3 also says Graph 3.2 where it means this one.
    """
    yield Printed("whether {4,6,2} is a position", chocolate(3).is_position((4, 6, 2)), True, False)


@Entry(V, "Example 3.4", reach=Reach())
def example_3_4(upto: int) -> Cases:
    """From {53,27,59}, {61,23,33}, {38,10,4} and {36,5,14} there are options to P-positions of 3y <= x + z: {53,14,59}, {54,23,33},
    {7,3,4} and {11,5,14}. {14,10,4} has nim-sum 0 and is no position.
    """
    game = chocolate(3)
    yield Printed("14 ⊕ 10 ⊕ 4", nim_sum((14, 10, 4)), 0)
    yield Printed("whether {14,10,4} is a position", game.is_position((14, 10, 4)), False)
    yield f"{len(EXAMPLE_3_4)} moves among them"
    lost = {tuple(p) for p in solve(game, 61).p_positions.tolist()}
    for position, option in EXAMPLE_3_4.items():
        moves = {reached for _, _, reached in game.moves(position)}
        yield f"whether {position} is N, and {option} an option that is P", position not in lost and option in moves & lost, True


@Entry(V, "Example 3.4, [3]", also=("v-example-3.4",))
def third_option() -> Cases:
    """To show that {7,3,4} is a position, it is proved that "3v <= v + z".

    Erratum: 3v <= u + z is meant, and proved: 3v = 9, u + z = 11 and v + z = 7. (3.6) interchanges the digits d of u and e of v,
    which are the same here.
    """
    yield Printed("whether 3v <= v + z, or 2v <= z, for v = 3, z = 4", parse_game("2v <= z").is_position((3, 4)), True, False)
    yield Printed("whether 3v <= u + z for u = 7", parse_game("3v <= u + z").is_position((7, 3, 4)), True)


def _graph(number: str, summary: str, piles: Vector, printed: str) -> None:
    """Add a table of binary digits, from 2^5 on."""

    @Entry(V, number, summary, command=f"gpunim nim {' '.join(map(str, piles))}")
    def digits() -> Cases:
        yield Printed(f"the digits of {piles} at 2^5 to 2^0", binary_rows(*piles, height=6), printed)


_graph("Graph 3.4", "The digits of x = 53, y = 27, z = 59.", (53, 27, 59), "101 111 011 100 011 111")
_graph("Graph 3.5", "The digits of x = 61, y = 23, z = 33.", (61, 23, 33), "101 110 100 110 010 111")
_graph("Graph 3.6", "The digits of x = 38, y = 10, z = 4.", (38, 10, 4), "100 000 010 101 110 000")
_graph("Graph 3.7", "The digits of x = 14, y = 10, z = 4.", (14, 10, 4), "000 000 110 101 110 000")
_graph("Graph 3.8", "The digits of u = 7, v = 3, z = 4.", (7, 3, 4), "000 000 000 101 110 110")
_graph("Graph 3.9", "The digits of x = 36, y = 5, z = 14.", (36, 5, 14), "100 000 001 111 001 010")


@Entry(V, "Remark 3.1", reach=decided("every position"))
def remark_3_1() -> Cases:
    """A move of 3y <= x + z in x or z leaves y, or drags it to floor((x+z)/3) of the position reached."""
    u, v, w = numbers("u v w")
    moves = Moves(chocolate(3))
    dragged = (v <= _Y) & (3 * v <= u + w) & ((v == _Y) | (u + w < 3 * v + 3))
    stated = (u < _X) & (w == _Z) & dragged | (u == _X) & (w < _Z) & dragged | (u == _X) & (v < _Y) & (w == _Z)
    yield Claim("the moves of 3y <= x + z", moves.positions.implies(moves.to(_is_option(u, v, w)).iff(stated)))


@Entry(V, "Theorem 3.2", reach=decided("every position"))
def theorem_3_2() -> Cases:
    """From each position of 3y <= x + z whose nim-sum is not 0 there is an option with nim-sum 0."""
    moves, zero = Moves(chocolate(3)), nim_sum_is_zero(*_XYZ)
    yield Claim("an option with nim-sum 0", (moves.positions & ~zero).implies(moves.to(zero & moves.positions)))


@Entry(V, "Theorem 3.2, proof", name="v-proof-3.2", reach=decided("every position with x >= z and another nim-sum than 0"))
def proof_3_2() -> Cases:
    """The option of 3y <= x + z that the proof constructs is a move, and to nim-sum 0.

    Its cases, for x >= z; in the last, z = 0, of which it does not speak, all is taken.
    """
    u, v, w, power, column, nim_sum = numbers("u v w power column nim-sum")
    moves, zero = Moves(chocolate(3)), nim_sum_is_zero(*_XYZ)
    won = moves.to(zero & _is_option(u, v, w))
    odd = (nim_sum_is_zero(*_XYZ, nim_sum) & has_length(nim_sum, column)).some("nim-sum")
    alike = (has_length(_X, power) & has_length(_Z, power)).some("power")
    same = moves.positions & ~zero & alike & odd
    longer = moves.positions & ~zero & ~alike & (_X >= _Z)
    in_y, in_x = has_digit(_Y, column), has_digit(_X, column)
    yield Claim("[1.1]", (same & in_y).implies(won(u=_X, w=_Z).some("v")))
    yield Claim("[1.2], x", (same & ~in_y & in_x).implies(won(v=_Y, w=_Z).some("u")))
    yield Claim("[1.2], z", (same & ~in_y & ~in_x).implies(won(u=_X, v=_Y).some("w")))
    low = longer & has_length(_Z, power)
    yield Claim("[2.1]", (low & (power <= _Y)).implies(won(u=3 * power - 1 - _Z, v=power - 1, w=_Z)))
    yield Claim("[2.2]", (low & (power > _Y)).implies(won(v=_Y, w=_Z).some("u")))
    yield Claim("z = 0", (longer & (_Z <= 0)).implies(won(u=0, v=0, w=0)))


@Entry(V, "Theorem 3.2, proof, [1.1]", also=("v-proof-3.2",))
def lowered_y() -> Cases:
    """Where y is lowered to v, the lower digits of v are those of x plus those of y, modulo 2.

    Erratum: d_i = a_i + b_i should be a_i + c_i, as in Example 3.4 [1]: by the rule as printed {4,2,5} goes to {4,0,5}, of nim-sum
    1.
    """
    found = [option for option in _winning_options(4, 2, 5) if option[::2] == (4, 5)]
    yield Printed("the option of {4,2,5} that lowers y", found, ((4, 0, 5),), ((4, 1, 5),))


@Entry(V, "Theorem 3.2, proof, [1.2]", also=("v-proof-3.2",))
def lowered_x() -> Cases:
    """Where x is lowered to u, u is the sum of d_i 2^i for i = 0 to n - 1.

    Erratum: The sum must go to n, since d_n = 1: Example 3.4 [2] has u = 54, and 22 without 2^5. In [2.1] the digits that are 1
    are those of v, e, not d. The proof leaves out x, y or z = 0, which have no logarithm; the theorem holds for them.
    """
    found = [u for u, *rest in _winning_options(61, 23, 33) if rest == [23, 33]]
    yield Printed("u of {61,23,33}, where n = 5", found, (22,), (54,))


@Entry(V, "Theorem 3.3", reach=decided("every p, q, r that are not all 0"))
def theorem_3_3() -> Cases:
    """P ⊕ q ⊕ r = 0 and q = floor((p+r)/3) hold, for p, q, r that are not all 0, if and only if p = 2^n + m, q = 2^n - 1 and
    r = 2^(n+1) - m - 1 with 0 <= m < 2^n.

    Erratum: It does not except (0,0,0), which has the first property and not the second; it is the only exception. The proof takes
    the logarithm of p, and writes d for a in (3.27) and (3.28).
    """
    p, q, r, m, power = numbers("p q r m power")
    found = nim_sum_is_zero(p, q, r) & (3 * q <= p + r) & (p + r < 3 * q + 3)
    stated = is_power_of_two(power) & (m < power) & (p == power + m) & (q == power - 1) & (r == 2 * power - m - 1)
    alike = found.iff(stated.some("m", "power"))
    yield Printed("the least counterexample", Claim("", alike).counterexample or "none", "none", "p = 0, q = 0, r = 0")
    yield Claim("the theorem", alike | (p + q + r <= 0))


@Entry(V, "Graph 3.10", also=("v-theorem-3.3",))
def highest_digits() -> Cases:
    """The digits of p, q, r in the proof: at 2^n they are 1, 0, 1."""
    found = [binary_rows(2**n, 2**n - 1, 2 ** (n + 1) - 1)[:3] for n in (1, 2, 3)]
    yield Printed("the highest digits of p, q, r for n = 1, 2, 3, m = 0", found, ("101", "101", "101"))


@Entry(V, "Graph 3.11", also=("v-theorem-3.3",))
def lower_digits() -> Cases:
    """Below 2^n the digits of q are 1, and those of r are 1 minus those of p."""
    yield Printed("the digits of p, q, r for n = 3, m = 5", binary_rows(13, 7, 10), "101 110 011 110")


@Entry(V, "Theorem 3.4", reach=decided("every position"))
def theorem_3_4() -> Cases:
    """From each position of 3y <= x + z whose nim-sum is 0, every option has another nim-sum."""
    moves, zero = Moves(chocolate(3)), nim_sum_is_zero(*_XYZ)
    yield Claim("no option with nim-sum 0", (moves.positions & zero).implies(~moves.to(zero & moves.positions)))


@Entry(V, "Theorem 3.4, proof", also=("v-theorem-3.4",))
def moves_in_z() -> Cases:
    """With x >= z assumed, a move that lowers two numbers lowers x and y, and leads to {p,q,z}: "therefore {p,q,r} is in B".

    Erratum: Where x >= z is assumed, moves in z are another case than moves in x: {6,3,5} has the option {6,2,0}. The same
    argument applies to them, and the theorem holds. {p,q,r} should be {p,q,z}. {0,0,0}, where Theorem 3.3 fails, is not
    excepted, but no other position of A has z = 0.
    """
    about = "whether a move that lowers z can lower y, where x >= z: from {6,3,5} to {6,2,0}"
    yield Printed(about, (6, 2, 0) in {option for _, _, option in chocolate(3).moves((6, 3, 5))}, False, True)


@Entry(V, "Graph 3.12", also=("v-theorem-3.4",))
def digits_of_the_proof() -> Cases:
    """The digits of p, q, z in the proof of Theorem 3.4 are those of Graph 3.11."""
    yield Printed("the digits of p, q, z for n = 3, m = 2", binary_rows(10, 7, 13), "101 011 110 011")


@Entry(V, "Theorem 3.5", reach=decided("every position"), command="gpunim solve chocolate --a 3 --size 255")
def theorem_3_5() -> Cases:
    """The P-positions of 3y <= x + z are its positions of nim-sum 0, the others are N-positions."""
    yield p_positions(chocolate(3), nim_sum_is_zero(*_XYZ))


def _listed(*, shear: bool) -> str:
    """The P-positions of 3y <= x + z that section 4 lists, or what it makes of them, by y and x."""
    found = solve(chocolate(3), 27).p_positions
    rows = zip(found.tolist(), (sheared(found) if shear else found).tolist(), strict=True)
    chosen = sorted((y, x, row) for (x, y, _), row in rows for at, first, last in _LISTED if y == at and first <= x <= last)
    return " ".join(",".join(map(str, row)) for _, _, row in chosen)


@Entry(V, "Section 4, list", command="gpunim solve chocolate --a 3 --size 27")
def listed_positions() -> Cases:
    """The P-positions of 3y <= x + z with y = 0, 1 and 2, as listed."""
    yield Printed("the positions listed", _listed(shear=False), " ".join(_PRINTED["list"].split()))


@Entry(V, "Graph 4.1", "The list Data as a graph in space.", figure="V4.1")
@Entry(V, "Graph 4.2", "The graph turned: a pattern like Sierpinski's gasket.", figure="V4.2")
@Entry(V, "Section 4, Data", command="gpunim solve chocolate --a 3 --size 27")
def listed_data() -> Cases:
    """{a,b,c} is replaced by {a,b,c-a}, as listed."""
    yield Printed("the vectors listed", _listed(shear=True), " ".join(_PRINTED["data"].split()))


def _is_gasket(steps: int) -> bool:
    """Whether the points (y, z - x) with y < 2^steps are one point, three times doubled, and moved by (1, 1) and (1, -1)."""
    seen = {(y, d) for _, y, d in sheared(solve(chocolate(3), 4 * 2**steps - 1).p_positions).tolist() if y < 2**steps}
    gasket = {(0, 0)}
    for step in range(steps):
        gasket |= {(y + 2**step, d + sign * 2**step) for y, d in gasket for sign in (1, -1)}
    return seen == gasket


@Entry(V, "Graph 4.3", figure="V4.3")
def gasket() -> Cases:
    """The graph turned to Sierpinski's gasket itself."""
    about = "whether its points (y, z - x) with y < 32 are five steps of Sierpinski's gasket, 243 points"
    yield Printed(about, _is_gasket(5), True)


@Entry(
    V,
    "Remark 4.1",
    name="v-remark-4.1-questions",
    also=(
        "v-remark-4.1",
        "chocolate-nim",
        "chocolate-shifted-nim",
        "chocolate-first-difference",
        "chocolate-integers",
        "nim-gasket",
    ),
    command="gpunim solve chocolate --a 1:9 --size 63",
)
def remark_4_1() -> Cases:
    """Why the gasket appears is left open, and so are the games a y <= x + z for even a. Even a, and numbers a that are no
    integers, have graphs, too.
    """
    first = [solve(chocolate(a), 63).first_difference or "none" for a in range(1, 9)]
    yield Printed("the first position, up to 63, where the P-positions for a = 1 to 8 differ from Nim's", first)
    yield Printed("the same for a = 5/2", [solve(chocolate("5/2"), 63).first_difference])
    about = "whether the gasket appears since z - x is the sum of 2^i or -2^i for each binary digit 2^i of y, for y < 32"
    yield Printed(about, _is_gasket(5))
