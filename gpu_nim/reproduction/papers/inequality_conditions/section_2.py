"""[V] section 2: Nim, chocolates that are Nim, and the nim-sum."""

from functools import partial

from gpu_nim.games.inequality import parse_game
from gpu_nim.games.nim import positions as nim
from gpu_nim.games.solve import solve
from gpu_nim.reproduction.computed import binary_rows, of_nim, outcome
from gpu_nim.reproduction.item import Comparison, Item

ITEMS = (
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
            Comparison("the digits of 52, 22, 58", partial(binary_rows, 52, 22, 58), "101 111 001 110 011 000"),
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
            Comparison("the digits of 44, 22, 58", partial(binary_rows, 44, 22, 58), "101 011 101 110 011 000"),
        ),
        command="gpunim nim 44 22 58",
        slip="The column headed 21 holds the digits of 22.",
    ),
    Item("Remark 2.2", "x ⊕ y ⊕ z = 0 implies z <= x + y, x <= y + z and y <= z + x.", checks=("v-remark-2.2",)),
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
)
