"""[F]: Ferguson, "Game Theory", part I, section 2."""

from functools import partial

from gpu_nim.games.nim import positions as nim
from gpu_nim.games.solve import solve
from gpu_nim.reproduction.computed import of_nim, outcome
from gpu_nim.reproduction.item import PAPERS, Comparison, Item, Paper
from gpu_nim.theorems.exhaustive import p_positions


def _simplest() -> list[list[int]]:
    """The P-positions of three non-empty piles in rising order, by total."""
    found = [piles for piles in p_positions(3, 7).tolist() if 0 < piles[0] < piles[1] < piles[2]]
    return sorted(found, key=sum)[:3]


_ITEMS = (
    Item(
        "Section 2.1, one pile",
        "The only terminal position is (0,0,0), a P-position; with one non-empty pile the next player takes all of it.",
        (
            Comparison("the outcome of (0,0,0)", partial(outcome, 0, 0, 0), "P"),
            Comparison("the outcomes of (0,0,x) for x = 1 to 9", lambda: {outcome(0, 0, x) for x in range(1, 10)}, ["N"]),
        ),
        ("f-one-pile",),
        command="gpunim nim 0 0 9",
    ),
    Item(
        "Section 2.1, two piles",
        "With two piles the P-positions are those of two equal piles: (0,1,1), (0,2,2), and so on.",
        (
            Comparison(
                "the first P-positions of two piles",
                lambda: solve("nim", 3, piles=2).p_positions.tolist(),
                ((0, 0), (1, 1), (2, 2), (3, 3)),
            ),
        ),
        ("nf-lemma-10",),
    ),
    Item(
        "Section 2.1, three piles",
        "(1,1,1), (1,1,2), (1,1,3) and (1,2,2) are N-positions, since they can be moved to (1,1,0) or (0,2,2). "
        "(1,2,3) is the next P-position, and the next simplest are (1,4,5) and (2,4,6).",
        (
            Comparison(
                "the outcomes of (1,1,1), (1,1,2), (1,1,3), (1,2,2)",
                lambda: [outcome(*piles) for piles in ((1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 2, 2))],
                ("N", "N", "N", "N"),
            ),
            Comparison(
                "where the winning moves from these lead, the piles in falling order",
                lambda: {
                    tuple(sorted(move.leaves, reverse=True))
                    for piles in ((1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 2, 2))
                    for move in nim.winning_moves(piles)
                },
                ((1, 1, 0), (2, 2, 0)),
            ),
            Comparison("the three simplest of three different piles", _simplest, ((1, 2, 3), (1, 4, 5), (2, 4, 6))),
        ),
        ("f-positions",),
        command="gpunim nim 1 2 3",
    ),
    Item(
        "Section 2.1, questions",
        "Is (5,7,9) a P-position? Is (15,23,30) a P-position?",
        (
            Comparison("the outcome of (5,7,9)", partial(outcome, 5, 7, 9)),
            Comparison("the outcome of (15,23,30)", partial(outcome, 15, 23, 30)),
        ),
        ("f-positions",),
        command="gpunim nim 15 23 30",
    ),
    Item(
        "Definition, nim-sum",
        "The nim-sum of two numbers is their addition without carry in base 2: 22 = 10110 and 51 = 110011 give 100101 = 37.",
        (
            Comparison("22 in base 2", lambda: nim.binary_columns([22])[0][0], (1, 0, 1, 1, 0)),
            Comparison("51 in base 2", lambda: nim.binary_columns([51])[0][0], (1, 1, 0, 0, 1, 1)),
            Comparison("22 ⊕ 51 in base 2", lambda: nim.binary_columns([22, 51])[1], (1, 0, 0, 1, 0, 1)),
            Comparison("22 ⊕ 51", of_nim(22, 51), 37),
        ),
        ("f-nim-sum",),
        command="gpunim nim 22 51",
    ),
    Item(
        "Section 2.2, laws",
        "The nim-sum is associative and commutative, 0 is its identity, every number is its own negative, and the "
        "cancellation law holds: x ⊕ y = x ⊕ z implies y = z.",
        checks=("f-nim-sum",),
    ),
    Item(
        "Theorem 1",
        "Bouton: a position of Nim is a P-position if and only if the nim-sum of its piles is 0.",
        checks=("nf-theorem-4",),
    ),
    Item(
        "Section 2.2, example",
        "13, 12 and 8 have nim-sum 9, so this is an N-position; one wins by taking 9 from the pile of 13 or 7 from the pile "
        "of 12. There is a third winning move: can you find it?",
        (
            Comparison("13 ⊕ 12 ⊕ 8", of_nim(13, 12, 8), 9),
            Comparison("4 ⊕ 12 ⊕ 8", of_nim(4, 12, 8), 0),
            Comparison(
                "the first two winning moves: counters taken, and what is left",
                lambda: [(move.take, move.leaves) for move in nim.winning_moves([13, 12, 8])[:2]],
                ((9, (4, 12, 8)), (7, (13, 5, 8))),
            ),
            Comparison("the third winning move", lambda: [(move.take, move.leaves) for move in nim.winning_moves([13, 12, 8])[2:]]),
        ),
        ("f-positions",),
        command="gpunim nim 13 12 8",
    ),
    Item("Section 2.3", "Theorem 1 also holds for any other number of piles.", checks=("nf-theorem-4",)),
    Item(
        "Section 2.4, proof",
        "The terminal position has nim-sum 0. From any other nim-sum each pile with a 1 in the leftmost odd column can be "
        "made smaller so that the nim-sum is 0; from nim-sum 0 no move leads to nim-sum 0.",
        checks=("f-proof",),
    ),
    Item(
        "Section 2.4, winning moves",
        "An N-position has as many winning moves as there are 1s in the leftmost column with an odd number of them, "
        "so always an odd number.",
        checks=("f-winning-moves",),
    ),
)

PAPERS.add(
    Paper(
        "game-theory",
        "F",
        'Thomas S. Ferguson, "Game Theory", part I, "Impartial Combinatorial Games", section 2, "The Game of Nim"',
        _ITEMS,
    )
)
