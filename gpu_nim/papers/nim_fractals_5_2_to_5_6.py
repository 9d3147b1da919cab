"""[NF] sections 5.2 to 5.6: parents and children, the Ulam-Warburton automaton, and D_k and A_k of four piles and more."""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import combinations, product
from math import comb

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.catalogue import find
from gpu_nim.automata.formulas import not_south, steps
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.newborns import parents
from gpu_nim.counting.regular_sequences import RegularSequence, as_sequence, index
from gpu_nim.deciding.relations import nim_sum_is_zero, numbers
from gpu_nim.games.game_graph import evolve
from gpu_nim.games.heaps import OctalCode
from gpu_nim.games.lines import Nim
from gpu_nim.games.nim import positions as nim
from gpu_nim.games.nim.evolution_graph import evolution_graph
from gpu_nim.games.nim.positions import DIRECTIONS, Position, walk
from gpu_nim.games.rulesets import Heaps
from gpu_nim.model.rule import Rule
from gpu_nim.papers.by_definition import grown
from gpu_nim.papers.claims import Claim, counted, every, how_many, piles, same_zeros, total, with_changed
from gpu_nim.papers.entries import Cases, Entry, Printed, Reach, decided, few_piles, many_piles
from gpu_nim.papers.nim_fractals_2_to_5_1 import NF, formulas, sequence

_DIRECTIONS: tuple[Position, ...] = ((0, 1), (1, 0), (-1, 0), (0, -1))  # south comes last

#: The P-positions of generation 1, by the direction in which the walk begins.
_WEST, _NORTH, _EAST = (0, 1, 1), (1, 0, 1), (1, 1, 0)

# The examples of [NF] Table 1, by their numbers of parents and of children. For two parents and one child it has (0,1,4,5), an
# error: that position has one parent and two children, since 1 and 4 end in 0 and 2 zeros and 0 has nothing to take. (2,3,6,7) is
# the first of the kind.
_AS_PRINTED = "0123 0011 0022 0145 1122 2244 1357 1133 1111"
_RIGHT = [tuple(map(int, piles)) for piles in _AS_PRINTED.replace("0145", "2367").split()]
TABLE_1: dict[tuple[int, ...], Position] = dict(zip(product((1, 2, 6), repeat=2), _RIGHT, strict=True))


def _kind(*piles: int) -> tuple[int, int]:
    """The numbers of parents and of children of a P-position of Nim."""
    return len(nim.parents(piles)), len(nim.children(piles))


@Entry(NF, "Lemma 20", arxiv=18, reach=few_piles("every position", 2))
def lemma_20(k: int) -> Cases:
    """A parent of a P-position is reached from it in two moves of the game.

    Take one counter from one of the two piles, then one from the other.
    """
    for (i, j), is_parent in with_changed(piles(k), -1).items():
        yield Claim(f"piles {i + 1} and {j + 1} of {k} have a counter", is_parent.implies((piles(k)[i] >= 1) & (piles(k)[j] >= 1)))


@Entry(NF, "Lemma 21", arxiv=19, reach=few_piles("every position", 2))
def lemma_21(k: int) -> Cases:
    """Each P-position but the one without counters has a parent, and parents come by taking 1 from two piles with equally many
    zeros at the end of their binary representations.
    """
    p_position, parents_of = nim_sum_is_zero(*piles(k)), with_changed(piles(k), -1)
    some = how_many(parents_of.values(), range(1, len(parents_of) + 1))
    yield Claim(f"a P-position of {k} piles but 0 has a parent", (p_position & (total(piles(k)) >= 1)).implies(some))
    for (i, j), is_parent in parents_of.items():
        about = f"taking 1 from piles {i + 1} and {j + 1} of {k}"
        yield Claim(about, p_position.implies(is_parent.iff(same_zeros(piles(k)[i], piles(k)[j]))))


@Entry(NF, "Corollary 22", arxiv=20, reach=decided("every position"))
def corollary_22() -> Cases:
    """With three piles each P-position but (0,0,0) has exactly one parent."""
    others = nim_sum_is_zero(*piles(3)) & (total(piles(3)) >= 1)
    yield Claim("one parent", others.implies(how_many(with_changed(piles(3), -1).values(), {1})))


@Entry(NF, "Lemma 23", arxiv=21, reach=few_piles("every position", 2))
def lemma_23(k: int) -> Cases:
    """Children come by adding 1 to two piles with equally many ones at the end of their binary representations."""
    for (i, j), is_child in with_changed(piles(k), 1).items():
        same_ones = same_zeros(piles(k)[i] + 1, piles(k)[j] + 1)
        yield Claim(f"adding 1 to piles {i + 1} and {j + 1} of {k}", nim_sum_is_zero(*piles(k)).implies(is_child.iff(same_ones)))


@Entry(NF, "Section 5.2, three piles", name="nf-children", reach=decided("every position"))
def children_of_three_piles() -> Cases:
    """With three piles a P-position has 0, 1 or 3 children."""
    children = how_many(with_changed(piles(3), 1).values(), {0, 1, 3})
    yield Claim("0, 1 or 3 children", nim_sum_is_zero(*piles(3)).implies(children))


@Entry(
    NF,
    "Section 5.2, automaton",
    name="nf-evolution",
    reach=few_piles("every n", 2),
    also=("nf-differences",),
    command="gpunim grow nim-4 --gen 12",
)
def children_evolve(k: int) -> Cases:
    """This is a cellular automaton: at each step the children of living positions are born, D_k(n) of them at step n: generation n
    is the P-positions of total 2n, which D_k(n) counts.
    """
    three = (1, 3, 3, 9, 3, 9, 9, 27, 3, 9, 9, 27, 9, 27, 27, 81, 3, 9)
    yield Printed("the births of `nim`, by its rule", GrowthProcess("nim", 17, "numpy", verify=False).growth().births, three)
    four = (1, 6, 7, 36, 13, 42, 43, 216, 49, 78, 55, 252, 85)
    yield Printed("the births of `nim-4`, by its rule", GrowthProcess("nim-4", 12, "numpy", verify=False).growth().births, four)
    (n,) = numbers("n")
    of_total = nim_sum_is_zero(*piles(k)) & (total(piles(k)) == 2 * n + 2)
    born = how_many(with_changed(piles(k), -1).values(), range(1, comb(k, 2) + 1))
    yield Claim(f"P-positions of {k} piles of total 2n + 2 are children of those of total 2n", of_total.implies(born))


@Entry(NF, "Section 5.2, birthdays", command="gpunim nim 1 2 3")
def birthdays() -> Cases:
    """A P-position of generation n is born on day n, in the sense of combinatorial game theory.

    Erratum: A position is born one day after the last of its options, so a heap of n on day n and a position with 2n counters on
    day 2n: the longest play from (0,1,1) has two moves.
    """
    evolution = evolve(Nim(3, 3))
    found = [evolution.birthday[evolution.index(piles)] for piles in ((0, 1, 1), (0, 2, 2), (1, 2, 3))]
    yield Printed("the birthdays of (0,1,1), (0,2,2), (1,2,3), of generations 1, 2, 3", found, (1, 2, 3), (2, 4, 6))


@Entry(NF, "Section 5.3, parent", name="nf-parents", reach=Reach(8, 31, 1))  # the whole game is played out
def parents_in_play(largest: int) -> Cases:
    """In any impartial game a P-position is a parent of another if an optimal game of maximal length leads from that to it in two
    moves. For Nim this is the same as in section 5.2.
    """
    yield f"P-positions of 2 and 3 piles up to {largest}"
    for k in (2, 3):
        evolution = evolve(Nim(k, largest))
        for at in np.flatnonzero(evolution.is_p).tolist():
            position = evolution.positions[at]
            stated = {parent.position for parent in nim.parents(position)}
            yield f"the parents of {position} in play", evolution.parents(position), stated


@Entry(NF, "Section 5.3, standard algorithm", also=("nf-lemma-24",))
def standard_algorithm() -> Cases:
    """P_0 are the terminal positions, N_i the positions one move from P_i, and P_(i+1) adds the positions all of whose moves lead
    to N_i.
    """
    found = evolve(Nim(3, 2)).p_positions(1)
    yield Printed("P_1 in Nim with three piles up to 2", found, ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)))


@Entry(NF, "Lemma 24", arxiv=22, reach=Reach(12, 31, 1))  # the whole game is played out
def lemma_24(largest: int) -> Cases:
    """The P-positions of Nim that the standard algorithm finds at step i are born in generation i.

    Erratum: It says so of every game: the algorithm follows the shortest way from N to P, optimal play of maximal length the
    longest. Two rows of 4 in Kayles are found at step 3 and are of generation 4.
    """
    for heap, code, about in ((4, "0.77", "two rows of 4 in Kayles"), (7, "0.137", "two heaps of 7 in the octal game 0.137")):
        octal = Heaps(OctalCode(code)).evolve(2 * heap)
        index = octal.index((heap, heap))
        yield Printed(f"step and generation of {about}", (octal.step[index], octal.generation[index]), (3, 3), (3, 4))
    evolution = evolve(Nim(3, largest))
    yield f"P-positions of 3 piles up to {largest}"
    for index in np.flatnonzero(evolution.is_p).tolist():
        found = int(evolution.step[index]), int(evolution.generation[index])
        half = sum(evolution.positions[index]) // 2
        yield f"the step and the generation of {evolution.positions[index]}", found, (half, half)


@Entry(NF, "Section 5.4, automaton", also=("nf-theorem-25",), command="gpunim grow ulam-warburton-3 --gen 7")
def without_south() -> Cases:
    """The Ulam-Warburton automaton without its south branch: cells with y < 0 and y < -|x| are never born.

    Erratum: "y < -|x|" must read y <= -|x|, or the diagonal cells (1,-1) and (-1,-1) are born in generation 2.
    """

    def births(outside: Callable[[NDArray[np.integer]], NDArray[np.bool_]], generations: int) -> NDArray[np.int64]:
        rule = Rule(2, steps(2, 1), frozenset({1}), ((0, 0),), universe=outside)
        return GrowthProcess(rule, generations, "numpy").growth().births

    found = births(lambda cells: (cells[:, 1] >= 0) | (cells[:, 1] >= -abs(cells[:, 0])), 2)
    yield Printed("births of generations 0 to 2 if these cells are forbidden", found, (1, 3, 3), (1, 3, 5))
    right = (1, 3, 3, 9, 3, 9, 9, 27)
    yield Printed("births of generations 0 to 7 if y < 0 and y <= -|x| is forbidden", births(not_south, 7), right)


@Entry(NF, "Figure 1", figure="NF1")
def figure_1() -> Cases:
    """The Ulam-Warburton automaton without its south branch after 6 generations, each cell joined to its parent; the starting cell
    is in the bottom center.
    """
    cells = GrowthProcess("ulam-warburton-3", 6, "numpy").growth().cells()
    yield Printed("the number of cells, A_3(6)", len(cells), 37)
    yield Printed("the lowest y in the middle column, x = 0", cells[cells[:, 0] == 0, 1].min(), 0)


@Entry(NF, "Section 5.4, points of a generation", name="nf-corners", reach=Reach(31, 127, 7))  # grown literally
def corners(upto: int) -> Cases:
    """If n is a sum of powers of two 2^r_1 > 2^r_2 > ..., the cells of generation n are the sums of 2^r_i v_i, where v_i is one of
    the four directions and not opposite to the one before.
    """
    yield f"generations up to {upto} of the Ulam-Warburton automaton, whole and without its south branch"
    for name, first in (("ulam-warburton", _DIRECTIONS), ("ulam-warburton-3", _DIRECTIONS[:3])):
        for n, cells in enumerate(grown(find(name).rule, upto)):
            powers = [1 << bit for bit in reversed(range(n.bit_length())) if n >> bit & 1]
            ways: list[tuple[Position, Position]] = [((0, 0), (0, 0))]  # where a way ends, and its last direction
            for power in powers:
                ways = [
                    ((x + power * v[0], y + power * v[1]), v)
                    for (x, y), last in ways
                    for v in (_DIRECTIONS if any(last) else first)
                    if not any(last) or (v[0] + last[0], v[1] + last[1]) != (0, 0)
                ]
            yield f"generation {n} of {name}", cells, sorted(end for end, _ in ways)


@Entry(NF, "Theorem 25", arxiv=23, reach=Reach(1024, 1024, 16))
def theorem_25(generations: int) -> Cases:
    """Three-pile Nim evolves as the three branches of the Ulam-Warburton automaton, without its south branch.

    The automaton is grown by its own rule; in each generation the walk must reach exactly its cells, and map parents to parents.
    """
    yield f"cells of P-positions of 3 piles, generations 0 to {generations}"
    graph, automaton = evolution_graph(3, generations), find("ulam-warburton-3")
    walked = graph.cells()
    above = np.zeros_like(walked)  # the cell of each position's parent
    above[graph.edges[:, 1]] = walked[graph.edges[:, 0]]
    before: NDArray[np.integer] = above[:1]
    for n, born in enumerate(GrowthProcess(automaton.name, generations, "numpy", verify=False).growth()):
        here = graph.generation == n
        touching = before[parents(automaton.rule, before, born)] if n else before
        yield f"the number of positions in generation {n}", int(here.sum()), len(born)
        found, stated = ({*map(tuple, np.hstack(pairs).tolist())} for pairs in ((walked[here], above[here]), (born, touching)))
        yield f"the cells that differ, or have other parents, in generation {n}", found ^ stated, set()
        before = born


@Entry(NF, "Theorem 25, directions", arxiv=23, also=("nf-theorem-25",), command="gpunim nim 1 1 0")
def directions() -> Cases:
    """(0,1,1) is identified with (-1,0) and west, (1,0,1) with (0,1) and east, (1,1,0) with (1,0) and north.

    Erratum: "(0,1) and East" and "(1,0) and North" are interchanged: (0,1) lies north of (0,0), and (1,0) east.
    """
    yield Printed(
        "cells and directions of (0,1,1), (1,0,1), (1,1,0)",
        [(leg.to, leg.direction) for piles in (_WEST, _NORTH, _EAST) for leg in walk(piles)],
        (((-1, 0), "west"), ((0, 1), "east"), ((1, 0), "north")),
        (((-1, 0), "west"), ((0, 1), "north"), ((1, 0), "east")),
    )


def _turn(pair: Sequence[int], then: Sequence[int]) -> str:
    """The turn of the walk of Nim from one pair of piles to another, each written as the P-position of generation 1."""
    first, second = walk([2 * a + b for a, b in zip(pair, then, strict=True)])
    quarter = DIRECTIONS.index(second.direction) - DIRECTIONS.index(first.direction)
    return {1: "right", 3: "left"}.get(quarter % 4, "none")


@Entry(NF, "Theorem 25, turns", arxiv=23, also=("nf-theorem-25",), command="gpunim nim 14 11 5")
def turns() -> Cases:
    """Left turns lead from (0,1,1) to (1,1,0), to (1,0,1), and back to (0,1,1); right turns are the reverse.

    Erratum: The list and the worked example of (14,11,5) are mirror images of each other. Either map is a bijection; gpunim
    follows the example, so left and right in the list are interchanged.
    """
    left = [_turn(*pair) for pair in ((_WEST, _EAST), (_EAST, _NORTH), (_NORTH, _WEST))]
    yield Printed("the turns of the walk where the paper has left", left, ("left",) * 3, ("right",) * 3)
    right = [_turn(*pair) for pair in ((_WEST, _NORTH), (_NORTH, _EAST), (_EAST, _WEST))]
    yield Printed("the turns of the walk where the paper has right", right, ("right",) * 3, ("left",) * 3)


@Entry(NF, "Section 5.4, example", command="gpunim nim 14 11 5")
def worked_walk() -> Cases:
    """(14,11,5) is reached by 8 steps to (8,0), right 4 to (8,-4), left 2 to (10,-4), left 1 to (10,-3)."""
    legs = [(leg.steps, leg.to) for leg in walk([14, 11, 5])]
    yield Printed("the walk: steps and cells", legs, ((8, (8, 0)), (4, (8, -4)), (2, (10, -4)), (1, (10, -3))))
    way = [tuple(pile >> bit << bit for pile in (14, 11, 5)) for bit in (3, 2, 1, 0)]
    yield Printed("the positions on the way", way, ((8, 8, 0), (12, 8, 4), (14, 10, 4), (14, 11, 5)))


@Entry(NF, "Figure 2", figure="NF2")
def figure_2() -> Cases:
    """The evolution of Nim after 6 generations in space."""
    yield Printed("the number of positions, A_3(6)", GrowthProcess("nim", 6, "numpy", verify=False).growth().population, 37)


@Entry(
    NF,
    "Section 5.5, parents and children",
    name="nf-four-piles",
    reach=decided("every position"),
    also=("nf-table-1", "nf-lemma-21", "nf-lemma-23"),
)
def parents_of_four_piles() -> Cases:
    """With four piles a P-position has 1, 2 or 6 parents, by how many of its piles have equally many zeros at their ends: one
    pair, two pairs or all of them; and 1, 2 or 6 children.

    Erratum: It does not except (0,0,0,0), which has no parent; and the pairs are pairs of non-empty piles, as in Lemma 21 and
    Table 1: (0,0,1,1) has one parent.
    """
    yield Printed("whether (0,0,0,0) has 1, 2 or 6 parents", _kind(0, 0, 0, 0)[0] in (1, 2, 6), True, False)
    yield Printed("the number of parents of (0,0,1,1), which has two pairs of equal piles", _kind(0, 0, 1, 1)[0], 2, 1)
    p_position, some = nim_sum_is_zero(*piles(4)), total(piles(4)) >= 1
    for by, name in ((-1, "parents"), (1, "children")):
        changed = with_changed(piles(4), by)
        yield Claim(f"1, 2 or 6 {name}", (p_position & some).implies(how_many(changed.values(), {1, 2, 6})))
    alike = [same_zeros(x, y) for x, y in combinations(piles(4), 2)]
    for count in (1, 2, 6):
        as_many = how_many(with_changed(piles(4), -1).values(), {count})
        yield Claim(f"{count} parents", p_position.implies(as_many.iff(how_many(alike, {count}))))
    apart = ~(alike[0] & alike[1])  # piles 1 and 2, piles 1 and 3
    yield Claim("two pairs have no pile in common", (p_position & how_many(alike, {2})).implies(apart))


@Entry(
    NF, "Table 1", arxiv=1, reach=decided("every position"), also=("nf-four-piles",), command="gpunim evolution --piles 4 --gen 9"
)
def table_1() -> Cases:
    """Examples of P-positions with 1, 2 or 6 parents and 1, 2 or 6 children, in every combination.

    See `TABLE_1` for the error.

    Erratum: (0,1,4,5) has one parent and two children, since 0 has nothing to take and 1 and 4 end in different numbers of zeros.
    (2,3,6,7) is the first position with two parents and one child.
    """
    yield Printed(
        "parents and children of " + ", ".join(f"({','.join(piles)})" for piles in _AS_PRINTED.split()),
        [_kind(*map(int, piles)) for piles in _AS_PRINTED.split()],
        ((1, 1), (1, 2), (1, 6), (2, 1), (2, 2), (2, 6), (6, 1), (6, 2), (6, 6)),
        ((1, 1), (1, 2), (1, 6), (1, 2), (2, 2), (2, 6), (6, 1), (6, 2), (6, 6)),
    )
    yield Printed("its fourth cell, two parents and one child, with (2,3,6,7) in it", _kind(2, 3, 6, 7), (2, 1))
    parents, children = (with_changed(piles(4), by).values() for by in (-1, 1))
    for (above, below), example in TABLE_1.items():
        kind = nim_sum_is_zero(*piles(4)) & how_many(parents, {above}) & how_many(children, {below})
        is_example = every(pile == number for pile, number in zip(piles(4), example, strict=True))
        yield Claim(f"{example} has {above} parents and {below} children", is_example.implies(kind))


def weights(letter: str, piles: int) -> tuple[list[int], list[int]]:
    """Return what D_k(m), D_k(m-1), ..., or A_k, have as factors in the value at 2m and at 2m + 1 [NF, Theorems 29 and 30].

    >>> weights("D", 7), weights("A", 4)
    (([1, 35], [21, 7]), ([1, 7], [7, 1]))
    """
    if letter == "D":
        return [comb(piles, i) for i in range(0, piles + 1, 4)], [comb(piles, i) for i in range(2, piles + 1, 4)]
    even = [1, *(comb(piles, i) + comb(piles, i + 2) for i in range(2, piles + 1, 4))]
    return even, [comb(piles, i) + comb(piles, i + 2) for i in range(0, piles + 1, 4)]


def by_recursion(letter: str, piles: int, n: int) -> int:
    """Return D_k(n) or A_k(n) by the recursions; n may have thousands of digits.

    At each of its log2(n) levels at most a few dozen indices are visited. They are collected level by level, and then the values
    are computed from the last level up.

    >>> [by_recursion("D", 4, n) for n in range(9)], [by_recursion("A", 4, n) for n in range(9)]
    ([1, 6, 7, 36, 13, 42, 43, 216, 49], [1, 7, 14, 50, 63, 105, 148, 364, 413])
    """
    factors = weights(letter, piles)
    levels = [{n}]
    while max(levels[-1]) > 0:
        met = {m // 2 - i for m in levels[-1] if m > 0 for i in range(len(factors[m % 2]))}
        # A level may be left empty below index 0; f(0) = 1 is where the recursion ends.
        levels.append({m for m in met if m >= 0} or {0})
    values: dict[int, int] = {}
    for level in reversed(levels):
        values = {m: 1 if m == 0 else sum(w * values.get(m // 2 - i, 0) for i, w in enumerate(factors[m % 2])) for m in level}
    return values[n]


sequence("A237711", "D_4(n), four piles.", 1, 6, 7, 36, 13, 42, 43, 216, 49, 78, 55, 252, 85)


formulas("Lemma 26", "D_4(0) = 1, D_4(1) = 6, D_4(2n+1) = 6D_4(n), D_4(2n+2) = D_4(n+1) + D_4(n)", arxiv=24)


sequence("A237686", "A_4(n), four piles.", 1, 7, 14, 50, 63, 105, 148, 364, 413, 491, 546, 798, 883, 1141)


formulas("Lemma 27", "A_4(0) = 1, A_4(1) = 7, A_4(2n+1) = 7A_4(n) + A_4(n-1), A_4(2n+2) = 7A_4(n) + A_4(n+1)", arxiv=25)


formulas("Lemma 28", "D_k(0) = 1, D_k(1) = C(k,2)", range(1, 13), arxiv=26)


def _by_weights(letter: str, k: int) -> Cases:
    n, values = index(), counted(letter, k)
    (first, *even), odd = weights(letter, k)
    yield Claim(f"{letter}_{k}(2n+2)", values(2 * n + 2) - first * values(n + 1) - _weighted(values, even))
    yield Claim(f"{letter}_{k}(2n+1)", values(2 * n + 1) - _weighted(values, odd))


def _weighted(values: RegularSequence, factors: Sequence[int]) -> RegularSequence:
    """Return the sum of the values at n, n - 1, ... with these factors, by Horner's rule."""
    return reduce(lambda found, factor: factor * values + found.beside(-1), reversed(factors), as_sequence(0))


@Entry(NF, "Theorem 29", arxiv=27, reach=many_piles())
def any_piles(k: int) -> Cases:
    """D_k(2n+1) = C(k,2)D_k(n) + C(k,6)D_k(n-1) + ..., D_k(2n+2) = C(k,0)D_k(n+1) + C(k,4)D_k(n) + ..."""
    yield from _by_weights("D", k)


formulas(
    "Theorem 29, k = 5",
    "D_5(0) = 1, D_5(1) = 10, D_5(2n+1) = 10D_5(n), D_5(2n+2) = D_5(n+1) + 5D_5(n)",
    name="nf-theorem-29-k5",
    arxiv=27,
)


sequence("A238759", "D_5(n), five piles.", 1, 10, 15, 100, 65, 150, 175, 1000, 565)


@Entry(NF, "Theorem 30", arxiv=28, reach=many_piles())
def any_piles_up_to(k: int) -> Cases:
    """A_k(2n+1) = (C(k,0)+C(k,2))A_k(n) + (C(k,4)+C(k,6))A_k(n-1) + ...,
    A_k(2n+2) = C(k,0)A_k(n+1) + (C(k,2)+C(k,4))A_k(n) + ...
    """
    yield from _by_weights("A", k)


formulas(
    "Theorem 30, k = 5",
    "A_5(0) = 1, A_5(1) = 11, A_5(2n+1) = 11A_5(n) + 5A_5(n-1), A_5(2n+2) = A_5(n+1) + 15A_5(n)",
    name="nf-theorem-30-k5",
    arxiv=28,
)


sequence("A238147", "A_5(n), five piles.", 1, 11, 26, 126, 191, 341, 516, 1516, 2081)
