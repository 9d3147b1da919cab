"""[B]: Khovanova's note on the two rules that grow the P-positions of three piles in three dimensions."""

from functools import partial

from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth_process import grow
from gpu_nim.games.nim import positions as nim
from gpu_nim.reproduction.item import PAPERS, Comparison, Item, Paper


def _newborns(automaton: str, generation: int) -> list[list[int]]:
    """The cells of a generation."""
    found: list[list[int]] = grow(automaton, generation, backend="numpy").newborns(generation).tolist()
    return found


def _up_to_permutation(automaton: str, generation: int) -> set[tuple[int, ...]]:
    """The cells of a generation, with coordinates in rising order."""
    return {tuple(sorted(cell)) for cell in _newborns(automaton, generation)}


def _deciding(automaton: str, cell: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The cells whose life decides whether a cell is born."""
    return sorted(tuple(x - d for x, d in zip(cell, offset, strict=True)) for offset in find(automaton).rule.offsets)


def _alive(automaton: str, generation: int, cell: tuple[int, ...]) -> bool:
    """Whether a cell is alive after a generation."""
    return list(cell) in grow(automaton, generation, backend="numpy", cells=True).cells().tolist()


_CLOSER = ((3, 4, 6), (3, 5, 5), (4, 4, 5))  # to (0,0,0) than (4,5,6)

_ITEMS = (
    Item(
        "Parents",
        "If (a,b,c) is a P-position of Nim, then exactly one of (a-1,b-1,c), (a-1,b,c-1) and (a,b-1,c-1) is a P-position "
        "and its parent.",
        (Comparison("the number of parents of (0,0,0)", lambda: len(nim.parents([0, 0, 0])), 1, 0),),
        ("nf-corollary-22",),
        slip="It does not except (0,0,0), which has no parent; Corollary 22 of [NF] does.",
    ),
    Item(
        "Neighbours",
        "The neighbours of a cell differ from it in exactly two coordinates, by 1 each; a cell inside the octant has 12. "
        "Their cubes share an edge with its cube.",
        (Comparison("the number of neighbours in the automaton `edge`", lambda: len(find("edge").rule.offsets), 12),),
        command="gpunim automata",
    ),
    Item(
        "First rule",
        "Points never die, and (0,0,0) is the first. A point of the octant is born if exactly one neighbour closer to it is alive: "
        "exactly one of (a-1,b-1,c), (a-1,b,c-1) and (a,b-1,c-1).",
        (
            Comparison("the cells that decide on (4,5,6) in `nim`", partial(_deciding, "nim", (4, 5, 6)), _CLOSER),
            Comparison("how many of them must be alive", lambda: find("nim").rule.births, (1,)),
            Comparison("the cells of generation 0", partial(_newborns, "nim", 0), ((0, 0, 0),)),
        ),
        command="gpunim grow nim --gen 1",
    ),
    Item(
        "First rule, totals",
        "By the first rule, the points that are born at step n have the coordinate sum 2n.",
        (
            Comparison(
                "the totals of the cells of `nim` at steps 0 to 15",
                lambda: [{sum(cell) for cell in cells.tolist()} for _, cells in grow("nim", 15, backend="numpy")],
                tuple((2 * n,) for n in range(16)),
            ),
        ),
        ("b-totals",),
        command="gpunim grow nim --gen 15",
    ),
    Item(
        "First rule, start",
        "At the first step (0,1,1), (1,0,1), (1,1,0) are born, at the next (0,2,2), (2,0,2), (2,2,0); (1,1,2) is never born.",
        (
            Comparison("the cells of step 1", partial(_newborns, "nim", 1), ((0, 1, 1), (1, 0, 1), (1, 1, 0))),
            Comparison("the cells of step 2", partial(_newborns, "nim", 2), ((0, 2, 2), (2, 0, 2), (2, 2, 0))),
            Comparison("whether (1,1,2) is alive after step 15", partial(_alive, "nim", 15, (1, 1, 2)), False),
        ),
        command="gpunim grow nim --gen 2",
    ),
    Item(
        "First theorem",
        "The points that the first rule grows at step n are exactly the P-positions of Nim with 2n tokens.",
        checks=("b-first",),
        figure="NF2",
    ),
    Item(
        "First theorem, 2-adic values",
        "The 2-adic values of a, b and c are the smallest powers of 2 that divide them.",
        (Comparison("the 2-adic value of 12, as a power of 2", lambda: 2 ** nim.trailing_zeros(12), 1, 4),),
        ("b-proof",),
        slip="They are the largest powers of 2 that divide them; the smallest is always 1.",
    ),
    Item(
        "First theorem, proof",
        "Exactly two of a, b and c have the smallest 2-adic value. If these are a and b, then (a-1,b-1,c) is a P-position, and "
        '"(a-1,b,c-1) and (a,b-1,a-1) are not".',
        (
            Comparison(
                "the three cells that the rule of `nim` reads at (1,5,4)",
                partial(_deciding, "nim", (1, 5, 4)),
                ((0, 4, 4), (0, 5, 3), (1, 4, 0)),
                ((0, 4, 4), (0, 5, 3), (1, 4, 3)),
            ),
        ),
        ("b-proof",),
        slip='It prints "(a,b-1,a-1)" where (a,b-1,c-1) is meant: at (1,5,4) that is (1,4,3), not (1,4,0).',
    ),
    Item(
        "Second rule",
        "A point is born if exactly one of all its neighbours is alive, closer to (0,0,0) or not.",
        (
            Comparison("the number of cells that decide on (4,5,6) in `edge`", lambda: len(_deciding("edge", (4, 5, 6))), 12),
            Comparison("how many of them must be alive", lambda: find("edge").rule.births, (1,)),
            Comparison("the cells of generation 0", partial(_newborns, "edge", 0), ((0, 0, 0),)),
        ),
        command="gpunim grow edge --gen 1",
    ),
    Item(
        "Second rule, start",
        "By the second rule, (0,1,1) are born at step 1, (0,2,2) at step 2, and (0,1,3), (1,2,3), "
        "(0,3,3) at step 3, up to a permutation of coordinates; (0,1,3) is no P-position.",
        (
            Comparison("the cells of step 1", partial(_up_to_permutation, "edge", 1), ((0, 1, 1),)),
            Comparison("the cells of step 2", partial(_up_to_permutation, "edge", 2), ((0, 2, 2),)),
            Comparison("the cells of step 3", partial(_up_to_permutation, "edge", 3), ((0, 1, 3), (0, 3, 3), (1, 2, 3))),
            Comparison("whether (0,1,3) is a P-position", partial(nim.is_p_position, (0, 1, 3)), False),
        ),
        command="gpunim grow edge --gen 3",
    ),
    Item(
        "Second theorem",
        "The points that the second rule grows at step n and that have a total of 2n are exactly the P-positions of Nim with "
        "2n tokens.",
        checks=("b-second",),
    ),
    Item("Second theorem, proof", "N-positions with 2n tokens are born after the P-positions with 2n tokens.", checks=("b-late",)),
)

PAPERS.add(
    Paper(
        "nim-in-3d",
        "B",
        "Tanya Khovanova's note on the automata that grow the P-positions of Nim in three dimensions",
        _ITEMS,
        note="The note has neither numbered theorems nor figures; the names of the items are gpunim's.",
    )
)
