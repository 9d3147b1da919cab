"""[V] section 2: Nim, chocolates that are Nim, and the nim-sum."""

from __future__ import annotations

import numpy as np

from gpu_nim.games.inequality import parse_game
from gpu_nim.games.nim import positions as nim
from gpu_nim.games.nim.positions import nim_sum
from gpu_nim.games.solve import solve
from gpu_nim.papers.by_definition import ENUMERATED, max_pile, p_positions, pile_scope
from gpu_nim.papers.catalogue import SOURCES, Cases, Entry, Printed, Reach

V = SOURCES["inequality-conditions"]
_AS_NIM = 'gpunim solve inequalities --where "x; y; z" --size '


def binary_rows(*piles: int, height: int = 1) -> str:
    """Return the binary digits of piles as a table with at least `height` rows, one a power of two, the largest first.

    >>> binary_rows(5, 3)
    '10 01 11'
    """
    width = max(height, max(piles).bit_length())
    return " ".join("".join(row) for row in zip(*(f"{pile:0{width}b}" for pile in piles), strict=True))


@Entry(V, "Definition 2.1", command="gpunim nim 0 0 0")
def rules() -> Cases:
    """Nim with three piles: a player takes some or all counters of one pile, and whoever takes the last one wins."""
    yield Printed("whether {0,0,0}, where the player to move has lost, is a P-position", nim.is_p_position((0, 0, 0)), True)


@Entry(V, "Example 2.1", command="gpunim nim 3 6 4")
def three_piles() -> Cases:
    """Graph 2.1 has piles of 3, 6 and 4 counters, the position {3,6,4}."""
    yield Printed("the number of piles in {3,6,4}", len(nim.as_position([3, 6, 4])), 3)


@Entry(V, "Graph 2.1", command="gpunim nim 3 6 4")
def drawn_piles() -> Cases:
    """Three piles with 3, 6 and 4 counters."""
    yield Printed("the position drawn", nim.as_position([3, 6, 4]), (3, 6, 4))


@Entry(V, "Definition 2.2", command=f"{_AS_NIM}6")
def bitter() -> Cases:
    """The bitter chocolate: players break off pieces along the grooves, and who leaves the bitter part wins."""
    yield Printed("the first P-position of the chocolate", solve("x; y; z", 6).p_positions[0], (0, 0, 0))


@Entry(V, "Example 2.2", command=f"{_AS_NIM}7")
def chocolate_that_is_nim() -> Cases:
    """The chocolates of Graphs 2.2 and 2.3 are the same game as Nim at {3,6,4}; so is any {x,y,z} of this kind."""
    same = solve("x; y; z", 7).equals_nim
    yield Printed("whether the chocolate without inequalities has the P-positions of Nim", same, True)


for _number in ("Graph 2.2", "Graph 2.3"):

    @Entry(V, _number, command=f"{_AS_NIM}6")
    def drawn_chocolate() -> Cases:
        """A chocolate that is cut in three directions, each on its own, the position {3,6,4} of Nim."""
        yield Printed("whether {3,6,4} is a position", parse_game("x; y; z").is_position((3, 6, 4)), True)


@Entry(V, "Definition 2.3", also=("nf-theorem-2", "v-corollary-2.1"))
def outcomes() -> Cases:
    """{0,0,0} is a P-position; every option of a P-position is an N-position; an N-position has an option that is a P-position."""
    yield Printed("whether {0,0,0} is a P-position", nim.is_p_position((0, 0, 0)), True)


@Entry(V, "Example 2.3", command="gpunim nim 52 22 58")
def sums() -> Cases:
    """The nim-sum of 52, 21 and 58 is 24. Subtracting 8 from 52 makes it 0, and so does subtracting 7 from 21, which leaves
    {52,14,58}.

    Slip: It prints 21 for 22: the digits that it lists, 010110, are those of 22, with which both nim-sums are right. 52, 21 and
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

    Slip: The column headed 21 holds the digits of 22.
    """
    printed = "101 111 001 110 011 000"
    yield Printed("the digits of 52, 21, 58, from 2^5 to 2^0", binary_rows(52, 21, 58), printed, "101 111 001 110 001 010")
    yield Printed("the digits of 52, 22, 58", binary_rows(52, 22, 58), printed)
    yield Printed("the digits of 52 ⊕ 22 ⊕ 58", nim.binary_columns([52, 22, 58])[1], (0, 1, 1, 0, 0, 0))


@Entry(V, "Graph 2.5", command="gpunim nim 44 22 58")
def digits_of_0() -> Cases:
    """The binary digits of 44, 21, 58, of nim-sum 0.

    Slip: The column headed 21 holds the digits of 22.
    """
    printed = "101 011 101 110 011 000"
    yield Printed("the digits of 44, 21, 58, from 2^5 to 2^0", binary_rows(44, 21, 58), printed, "101 011 101 110 001 010")
    yield Printed("the digits of 44, 22, 58", binary_rows(44, 22, 58), printed)


@Entry(V, "Remark 2.2", reach=ENUMERATED)
def triangle_inequality(upto: int) -> Cases:
    """X ⊕ y ⊕ z = 0 implies z <= x + y, x <= y + z and y <= z + x."""
    yield pile_scope((3,), upto)
    for x, y, z in p_positions(3, max_pile(3, upto)).tolist():
        yield f"the triangle inequality at {(x, y, z)}", z <= x + y and x <= y + z and y <= z + x, True


@Entry(V, "Corollary 2.1", reach=Reach(31, 63, 2))
def moves_and_nim_sums(upto: int) -> Cases:
    """From nim-sum 0 no pile can be lowered to reach nim-sum 0; from another nim-sum some pile can."""
    yield pile_scope((3,), upto)
    for position in np.ndindex(*(max_pile(3, upto) + 1,) * 3):
        total = nim_sum(position)
        reached = any(total ^ pile ^ less == 0 for pile in position for less in range(pile))
        yield f"a move from {position} to nim-sum 0", reached, total != 0
