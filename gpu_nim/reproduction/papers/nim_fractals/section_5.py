"""[NF] section 5: P-positions indexed by total, the evolution of Nim, and the Ulam-Warburton automaton."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.growth_process import grow
from gpu_nim.automata.neighbourhoods import not_south, steps
from gpu_nim.games.game_graph import evolve
from gpu_nim.games.lines import Nim
from gpu_nim.games.nim.walk import walk
from gpu_nim.model.rule import Rule
from gpu_nim.reproduction.computed import first_direction, first_terms, kind, sequence, step_and_generation, turn
from gpu_nim.reproduction.item import Comparison, Item

_WEST, _NORTH, _EAST = (0, 1, 1), (1, 0, 1), (1, 1, 0)
"""The P-positions of generation 1, by the direction in which the walk begins."""

_LEFT_AS_PRINTED = ((_WEST, _EAST), (_EAST, _NORTH), (_NORTH, _WEST))
_RIGHT_AS_PRINTED = ((_WEST, _NORTH), (_NORTH, _EAST), (_EAST, _WEST))

_TABLE_1 = "0123 0011 0022 0145 1122 2244 1357 1133 1111"  # its examples, by rows


def _births(automaton: str, generations: int) -> list[int]:
    """The births of an automaton, which is grown by its rule."""
    found: list[int] = grow(automaton, generations, backend="numpy", verify=False).births.tolist()
    return found


def _lowest_in_the_middle() -> int:
    """The lowest cell with x = 0 of the Ulam-Warburton automaton without its south branch, after 6 generations."""
    x, y = grow("ulam-warburton-3", 6, backend="numpy", cells=True).cells().T
    return int(y[x == 0].min())


def _population(automaton: str, generation: int) -> int:
    """The number of cells of an automaton after a generation."""
    return grow(automaton, generation, backend="numpy", verify=False).population


def _south_as_printed(cells: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Whether cells are outside of the south branch as it is printed: y < 0 and y < -|x|."""
    x, y = cells[:, 0], cells[:, 1]
    return np.asarray(~((y < 0) & (y < -abs(x))))


def _births_without_south(outside: object, generations: int) -> list[int]:
    """The births of the Ulam-Warburton automaton on the cells that a function chooses."""
    rule = Rule(2, steps(2, 1), frozenset({1}), ((0, 0),), universe=outside)  # type: ignore[arg-type]
    found: list[int] = grow(rule, generations, backend="numpy").births.tolist()
    return found


def _birthday(*piles: int) -> int:
    """The day on which a position of Nim is born: the moves of the longest play."""
    evolution = evolve(Nim(len(piles), max(piles)))
    return int(evolution.birthday[evolution.index(piles)])


def _table_1() -> list[tuple[int, int]]:
    """The kinds of the examples that [NF] prints in Table 1, by rows."""
    return [kind(*map(int, piles)) for piles in _TABLE_1.split()]


ITEMS = (
    Item("Theorem 19", "D_3(n) is a power of 3, by the number of 1s in the binary expansion of n.", checks=("nf-theorem-19",)),
    sequence("A048883", "D_3(n), three piles.", 1, 3, 3, 9, 3, 9, 9, 27, 3, 9, 9, 27, 9, 27, 27, 81, 3, 9),
    Item("Section 5.1, recursion of D_3", "D_3(n) by the last binary digit of n.", checks=("nf-d3-recursion",)),
    Item(
        "Section 5.1, multisets",
        "S_0 = {1}, and S_(i+1) is S_i followed by three times S_i. So S_2 = {1,3,3,9}, and S_3 adds {3,9,9,27}.",
        (
            Comparison("S_2, the terms D_3(0) to D_3(3)", lambda: first_terms("A048883", 8)[:4], (1, 3, 3, 9)),
            Comparison("what S_3 adds, the terms D_3(4) to D_3(7)", lambda: first_terms("A048883", 8)[4:], (3, 9, 9, 27)),
        ),
        ("nf-multiset",),
    ),
    sequence("A130665", "A_3(n), the partial sums of D_3.", 1, 4, 7, 16, 19, 28, 37, 64, 67, 76, 85, 112, 121, 148, 175),
    Item("Section 5.1, recursion of A_3", "A_3(n) by the last binary digit of n.", checks=("nf-a3-recursion",)),
    Item(
        "Section 5.1, automaton",
        "A130665 also counts the cells in three branches of the Ulam-Warburton automaton.",
        (
            Comparison(
                "the cells of `ulam-warburton-3` after generations 0 to 14",
                lambda: np.cumsum(_births("ulam-warburton-3", 14)),
                (1, 4, 7, 16, 19, 28, 37, 64, 67, 76, 85, 112, 121, 148, 175),
            ),
        ),
        ("nf-three-branches",),
        command="gpunim grow ulam-warburton-3 --gen 14",
    ),
    Item(
        "Section 5.2, parent and child",
        "A parent of a P-position is a P-position with two counters less, one less in each of two piles; children are the reverse.",
        checks=("nf-lemma-21", "nf-lemma-23"),
        command="gpunim nim 1 2 3",
    ),
    Item("Lemma 20", "A parent can be reached in the game.", checks=("nf-lemma-20",)),
    Item(
        "Lemma 21",
        "Each P-position but the one without counters has a parent, and parents come by taking 1 from two piles with equally many "
        "zeros at the end of their binary representations.",
        checks=("nf-lemma-21",),
    ),
    Item("Corollary 22", "With three piles each P-position but (0,0,0) has exactly one parent.", checks=("nf-corollary-22",)),
    Item(
        "Lemma 23",
        "Children come by adding 1 to two piles with equally many ones at the end of their binary representations.",
        checks=("nf-lemma-23",),
    ),
    Item("Section 5.2, three piles", "With three piles a P-position has 0, 1 or 3 children.", checks=("nf-children",)),
    Item(
        "Section 5.2, automaton",
        "This is a cellular automaton: at each step the children of living positions are born, D_k(n) of them at step n.",
        (
            Comparison(
                "the births of `nim`, by its rule",
                partial(_births, "nim", 17),
                (1, 3, 3, 9, 3, 9, 9, 27, 3, 9, 9, 27, 9, 27, 27, 81, 3, 9),
            ),
            Comparison(
                "the births of `nim-4`, by its rule",
                partial(_births, "nim-4", 12),
                (1, 6, 7, 36, 13, 42, 43, 216, 49, 78, 55, 252, 85),
            ),
        ),
        ("nf-evolution",),
        command="gpunim grow nim-4 --gen 12",
    ),
    Item(
        "Section 5.2, birthdays",
        "A P-position of generation n is born on day n, in the sense of combinatorial game theory.",
        (
            Comparison(
                "the birthdays of (0,1,1), (0,2,2), (1,2,3), of generations 1, 2, 3",
                lambda: [_birthday(*piles) for piles in ((0, 1, 1), (0, 2, 2), (1, 2, 3))],
                (1, 2, 3),
                (2, 4, 6),
            ),
        ),
        command="gpunim nim 1 2 3",
        slip="A position is born one day after the last of its options, so a heap of n on day n and a position with 2n counters on "
        "day 2n: the longest play from (0,1,1) has two moves.",
    ),
    Item(
        "Section 5.3, parent",
        "In any impartial game a P-position is a parent of another if an optimal game of maximal length leads from that to it in "
        "two moves. For Nim this is the same as in section 5.2.",
        checks=("nf-parents",),
    ),
    Item(
        "Section 5.3, generation",
        "If the longest optimal game from a P-position takes 2n moves, n is its generation; in Nim it has 2n counters.",
        checks=("nf-lemma-24",),
    ),
    Item(
        "Section 5.3, standard algorithm",
        "P_0 are the terminal positions, N_i the positions one move from P_i, and P_(i+1) adds the positions all of whose moves "
        "lead to N_i.",
        (
            Comparison(
                "P_1 in Nim with three piles up to 2",
                lambda: evolve(Nim(3, 2)).p_positions(1),
                ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)),
            ),
        ),
        ("nf-lemma-24",),
    ),
    Item(
        "Lemma 24",
        "The P-positions of a game that the standard algorithm finds at step i are born in generation i.",
        (
            Comparison(
                "step and generation of two rows of 4 in Kayles", partial(step_and_generation, "0.77", 4, 4), (3, 3), (3, 4)
            ),
            Comparison(
                "step and generation of two heaps of 7 in the octal game 0.137",
                partial(step_and_generation, "0.137", 7, 7),
                (3, 3),
                (3, 4),
            ),
        ),
        ("nf-lemma-24",),
        slip="It holds for Nim, not for every game: the algorithm follows the shortest way from N to P, optimal play of maximal "
        "length the longest. Two rows of 4 in Kayles are found at step 3 and are of generation 4.",
    ),
    Item(
        "Section 5.4, automaton",
        "The Ulam-Warburton automaton without its south branch: cells with y < 0 and y < -|x| are never born.",
        (
            Comparison(
                "births of generations 0 to 2 if these cells are forbidden",
                partial(_births_without_south, _south_as_printed, 2),
                (1, 3, 3),
                (1, 3, 5),
            ),
            Comparison(
                "births of generations 0 to 7 if y < 0 and y <= -|x| is forbidden",
                partial(_births_without_south, not_south, 7),
                (1, 3, 3, 9, 3, 9, 9, 27),
            ),
        ),
        ("nf-theorem-25",),
        command="gpunim grow ulam-warburton-3 --gen 7",
        slip='"y < -|x|" must read y <= -|x|, or the diagonal cells (1,-1) and (-1,-1) are born in generation 2.',
    ),
    Item(
        "Figure 1",
        "The Ulam-Warburton automaton without its south branch after 6 generations, each cell joined to its parent; the starting "
        "cell is in the bottom center.",
        (
            Comparison("the number of cells, A_3(6)", partial(_population, "ulam-warburton-3", 6), 37),
            Comparison("the lowest y in the middle column, x = 0", _lowest_in_the_middle, 0),
        ),
        command="gpunim render figure:NF1 -o NF1.svg",
        figure="NF1",
    ),
    Item(
        "Section 5.4, points of a generation",
        "If n is a sum of powers of two 2^r_1 > 2^r_2 > ..., the cells of generation n are the sums of 2^r_i v_i, where v_i is "
        "one of the four directions and not opposite to the one before.",
        checks=("nf-corners",),
    ),
    Item(
        "Section 5.4, three branches",
        "In three branches one starts north, east or west with the largest power of two of n, then continues forward or turns 90 "
        "degrees with the next one.",
        checks=("nf-corners",),
    ),
    Item("Theorem 25", "Three-pile Nim evolves as the three branches of the Ulam-Warburton automaton.", checks=("nf-theorem-25",)),
    Item(
        "Theorem 25, directions",
        "(0,1,1) is identified with (-1,0) and west, (1,0,1) with (0,1) and east, (1,1,0) with (1,0) and north.",
        (
            Comparison(
                "cells and directions of (0,1,1), (1,0,1), (1,1,0)",
                lambda: [first_direction(*piles) for piles in (_WEST, _NORTH, _EAST)],
                (((-1, 0), "west"), ((0, 1), "east"), ((1, 0), "north")),
                (((-1, 0), "west"), ((0, 1), "north"), ((1, 0), "east")),
            ),
        ),
        ("nf-theorem-25",),
        command="gpunim nim 1 1 0",
        slip='"(0,1) and East" and "(1,0) and North" are interchanged: (0,1) lies north of (0,0), and (1,0) east.',
    ),
    Item(
        "Theorem 25, turns",
        "Left turns lead from (0,1,1) to (1,1,0), to (1,0,1), and back to (0,1,1); right turns are the reverse.",
        (
            Comparison(
                "the turns of the walk where the paper has left",
                lambda: [turn(*pair) for pair in _LEFT_AS_PRINTED],
                ("left",) * 3,
                ("right",) * 3,
            ),
            Comparison(
                "the turns of the walk where the paper has right",
                lambda: [turn(*pair) for pair in _RIGHT_AS_PRINTED],
                ("right",) * 3,
                ("left",) * 3,
            ),
        ),
        ("nf-theorem-25",),
        command="gpunim nim 14 11 5",
        slip="The list and the worked example of (14,11,5) are mirror images of each other. Either map is a bijection; gpunim "
        "follows the example, so left and right in the list are interchanged.",
    ),
    Item(
        "Section 5.4, example",
        "(14,11,5) is reached by 8 steps to (8,0), right 4 to (8,-4), left 2 to (10,-4), left 1 to (10,-3).",
        (
            Comparison(
                "the walk: steps and cells",
                lambda: [(leg.steps, leg.to) for leg in walk([14, 11, 5])],
                ((8, (8, 0)), (4, (8, -4)), (2, (10, -4)), (1, (10, -3))),
            ),
            Comparison(
                "the positions on the way",
                lambda: [tuple(pile >> bit << bit for pile in (14, 11, 5)) for bit in (3, 2, 1, 0)],
                ((8, 8, 0), (12, 8, 4), (14, 10, 4), (14, 11, 5)),
            ),
        ),
        command="gpunim nim 14 11 5",
    ),
    Item(
        "Figure 2",
        "The evolution of Nim after 6 generations in space.",
        (Comparison("the number of positions, A_3(6)", partial(_population, "nim", 6), 37),),
        command="gpunim render figure:NF2 -o NF2.svg",
        figure="NF2",
    ),
    Item(
        "Section 5.5, parents and children",
        "With four piles a P-position has 1, 2 or 6 parents, by how many of its piles have equally many zeros at their ends, and "
        "1, 2 or 6 children.",
        (
            Comparison("whether (0,0,0,0) has 1, 2 or 6 parents", lambda: kind(0, 0, 0, 0)[0] in (1, 2, 6), True, False),
            Comparison("the number of parents of (0,0,1,1), which has two pairs of equal piles", lambda: kind(0, 0, 1, 1)[0], 2, 1),
        ),
        ("nf-four-piles", "nf-table-1", "nf-lemma-21", "nf-lemma-23"),
        slip="It does not except (0,0,0,0), which has no parent; and the pairs are pairs of non-empty piles, as in Lemma 21 and "
        "Table 1: (0,0,1,1) has one parent.",
    ),
    Item(
        "Table 1",
        "Examples of P-positions with 1, 2 or 6 parents and 1, 2 or 6 children.",
        (
            Comparison(
                "parents and children of " + ", ".join(f"({','.join(piles)})" for piles in _TABLE_1.split()),
                _table_1,
                ((1, 1), (1, 2), (1, 6), (2, 1), (2, 2), (2, 6), (6, 1), (6, 2), (6, 6)),
                ((1, 1), (1, 2), (1, 6), (1, 2), (2, 2), (2, 6), (6, 1), (6, 2), (6, 6)),
            ),
            Comparison("its fourth cell, two parents and one child, with (2,3,6,7) in it", partial(kind, 2, 3, 6, 7), (2, 1)),
        ),
        ("nf-table-1",),
        command="gpunim nim 0 1 4 5",
        slip="(0,1,4,5) has one parent and two children, since 0 has nothing to take and 1 and 4 end in different numbers of "
        "zeros. (2,3,6,7) is the first position with two parents and one child.",
    ),
    sequence("A237711", "D_4(n), four piles.", 1, 6, 7, 36, 13, 42, 43, 216, 49, 78, 55, 252, 85),
    Item("Lemma 26", "D_4(n), recursively.", checks=("nf-lemma-26",)),
    sequence("A237686", "A_4(n), four piles.", 1, 7, 14, 50, 63, 105, 148, 364, 413, 491, 546, 798, 883, 1141),
    Item("Lemma 27", "A_4(n), recursively.", checks=("nf-lemma-27",)),
    Item("Lemma 28", "The first two terms for any number of piles.", checks=("nf-lemma-28",)),
    Item("Theorem 29", "D_k(n), recursively, for any number of piles.", checks=("nf-theorem-29",)),
    Item("Theorem 29, k = 5", "D_5(n), recursively.", checks=("nf-theorem-29-k5",)),
    sequence("A238759", "D_5(n), five piles.", 1, 10, 15, 100, 65, 150, 175, 1000, 565),
    Item("Theorem 30", "A_k(n), recursively, for any number of piles.", checks=("nf-theorem-30",)),
    Item("Theorem 30, k = 5", "A_5(n), recursively.", checks=("nf-theorem-30-k5",)),
    sequence("A238147", "A_5(n), five piles.", 1, 11, 26, 126, 191, 341, 516, 1516, 2081),
)
