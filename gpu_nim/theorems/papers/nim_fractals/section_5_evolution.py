"""[NF] sections 5.2 to 5.5: parents and children, on every P-position up to a generation or a largest pile.

The checks use the definition of parent and child [NF 5.2], not the rules that the lemmas give.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations, product

import numpy as np

from gpu_nim.automata.catalogue import find
from gpu_nim.games.game_graph import evolve
from gpu_nim.games.lines import Nim
from gpu_nim.games.nim import positions as nim
from gpu_nim.games.nim.evolution_graph import evolution_graph, kind_table
from gpu_nim.games.nim.positions import Position
from gpu_nim.model.errors import UsageError
from gpu_nim.theorems import by_definition
from gpu_nim.theorems.catalogue import Case, compared_cases, statement
from gpu_nim.theorems.check_result import CheckResult
from gpu_nim.theorems.exhaustive import counts, max_index

_FOUR_PILES = 48  # 49,393 positions and their neighbours
_THREE_PILES = 1024
_DIRECTIONS: tuple[Position, ...] = ((0, 1), (1, 0), (-1, 0), (0, -1))  # south comes last

# The examples of [NF] Table 1.  For two parents and one child it has (0,1,4,5), an error: that position has one parent and two
# children, since 1 and 4 end in 0 and 2 zeros and 0 has nothing to take.  (2,3,6,7) is the first of the kind.
TABLE_1 = {
    (1, 1): (0, 1, 2, 3),
    (1, 2): (0, 0, 1, 1),
    (1, 6): (0, 0, 2, 2),
    (2, 1): (2, 3, 6, 7),
    (2, 2): (1, 1, 2, 2),
    (2, 6): (2, 2, 4, 4),
    (6, 1): (1, 3, 5, 7),
    (6, 2): (1, 1, 3, 3),
    (6, 6): (1, 1, 1, 1),
}


@statement(
    "nf-lemma-20",
    "[NF] Lemma 20",
    "a parent of a P-position is reached from it in two moves of the game",
    at_most=16,  # each position with all its moves, and theirs
    thorough=(32, 17),
)
def lemma_20(generations: int, piles: int = 4) -> CheckResult:
    """A parent is reached in the game: take one counter from one of the two piles, then one from the other [NF Lemma 20].

    >>> lemma_20(6).holds
    True
    """

    def contradicts(child: Position) -> bool:
        between = by_definition.nim_options(child)
        return not all(any(parent in by_definition.nim_options(each) for each in between) for parent in _shifted(child, -1))

    return _check_each(contradicts, generations, piles)


@statement(
    "nf-lemma-21",
    "[NF] Lemma 21",
    "parents come by taking 1 from two piles with equally many trailing zeros, and all but 0 have one",
    at_most=_FOUR_PILES,
    thorough=(96, 16),
)
def lemma_21(generations: int, piles: int = 4) -> CheckResult:
    def contradicts(child: Position) -> bool:
        found = _shifted(child, -1)
        return found != {parent.position for parent in nim.parents(child)} or (any(child) and not found)

    return _check_each(contradicts, generations, piles)


@statement(
    "nf-corollary-22",
    "[NF] Corollary 22",
    "with three piles each P-position but 0 has exactly one parent",
    at_most=_THREE_PILES,
    thorough=(1024, 13),
)
def corollary_22(generations: int) -> CheckResult:
    return _check_each(lambda child: any(child) and len(_shifted(child, -1)) != 1, generations, 3)


@statement(
    "nf-lemma-23",
    "[NF] Lemma 23",
    "children come by adding 1 to two piles with equally many trailing ones",
    at_most=_FOUR_PILES,
    thorough=(96, 16),
)
def lemma_23(generations: int, piles: int = 4) -> CheckResult:
    def contradicts(parent: Position) -> bool:
        return _shifted(parent, 1) != {child.position for child in nim.children(parent)}

    return _check_each(contradicts, generations, piles)


@statement(
    "nf-children",
    "[NF] section 5.2",
    "with three piles each P-position has 0, 1 or 3 children",
    at_most=_THREE_PILES,
    thorough=(1024, 13),
)
def children_of_three_piles(generations: int) -> CheckResult:
    return _check_each(lambda parent: len(_shifted(parent, 1)) not in (0, 1, 3), generations, 3)


@statement(
    "nf-evolution",
    "[NF] section 5.2",
    "children of children of 0: generation n is the P-positions of total 2n, D_k(n) of them",
    at_most=24,
    thorough=(128, 5),
)
@compared_cases(lambda upto: f"generations up to {upto} for k = 2, 3, up to {upto // 2} for k = 4")
def children_evolve(upto: int) -> Iterator[Case]:
    for k in (2, 3, 4):
        last = upto if k < 4 else upto // 2
        by_total: dict[int, set[Position]] = {}
        for position in _p_positions(last, k):
            by_total.setdefault(sum(position) // 2, set()).add(position)
        born: set[Position] = {(0,) * k}
        for n, counted in enumerate(counts("D", k, max_index(k, last))):
            yield f"generation {n} of {k} piles", born, by_total[n]
            yield f"the number of cells in generation {n} of {k} piles", len(born), counted
            born = {child for parent in born for child in _shifted(parent, 1)}


@statement(
    "nf-parents",
    "[NF] section 5.3",
    "the parents by optimal games of maximal length are those of section 5.2 in Nim",
    at_most=8,  # the whole game is played out
    thorough=(31, 1),
)
def parents_in_play(largest: int) -> CheckResult:
    count = 0
    for piles in (2, 3):
        evolution = evolve(Nim(piles, largest))
        for index in np.flatnonzero(evolution.is_p).tolist():
            position = evolution.positions[index]
            count += 1
            if evolution.parents(position) != _shifted(position, -1):
                return CheckResult(f"{count} P-positions", position)
    return CheckResult(f"{count} P-positions of 2 and 3 piles up to {largest}")


@statement(
    "nf-lemma-24",
    "[NF] Lemma 24",
    "P-positions of Nim found at step i of the standard algorithm are born in generation i",
    at_most=12,  # the whole game is played out
    thorough=(31, 1),
)
def lemma_24(largest: int, piles: int = 3) -> CheckResult:
    """In Nim with piles up to `largest`, P-positions found at step i of the standard algorithm are born in generation i [NF Lemma
    24].

    Both are found by playing out the game, for Nim: for games in general the lemma does not hold. In Kayles two rows of four are
    found at step 3 and are of generation 4, since the algorithm follows the shortest way from N to P and optimal play the longest.

    >>> lemma_24(7)
    CheckResult(scope='64 P-positions of 3 piles up to 7', counterexample=None)
    """
    evolution = evolve(Nim(piles, largest))
    here = np.flatnonzero(evolution.is_p)
    totals = np.array([sum(evolution.positions[p]) for p in here.tolist()])
    wrong = here[(evolution.step[here] != evolution.generation[here]) | (2 * evolution.step[here] != totals)]
    tried = f"{len(here)} P-positions of {piles} piles up to {largest}"
    return CheckResult(tried, evolution.positions[wrong[0]] if len(wrong) else None)


@statement(
    "nf-corners",
    "[NF] section 5.4",
    "cells of generation n are the sums of 2^r_i v_i over the digits of n, no direction v_i opposite to the one before",
    at_most=31,  # grown literally
    thorough=(127, 7),
)
@compared_cases(lambda upto: f"generations up to {upto} of the Ulam-Warburton automaton, whole and without its south branch")
def corners(upto: int) -> Iterator[Case]:
    for name, first in (("ulam-warburton", _DIRECTIONS), ("ulam-warburton-3", _DIRECTIONS[:3])):
        for n, cells in enumerate(by_definition.grown(find(name).rule, upto)):
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


@statement(
    "nf-theorem-25",
    "[NF] Theorem 25",
    "three-pile Nim evolves as the Ulam-Warburton automaton without its south branch",
    at_most=_THREE_PILES,
    thorough=(1024, 55),
)
def theorem_25(generations: int) -> CheckResult:
    """The evolution graph of three piles is that of the Ulam-Warburton automaton without its south branch [NF Theorem 25].

    The automaton is grown by its own rule; in each generation the walk must reach exactly its cells, and map parents to parents.

    >>> theorem_25(15)
    CheckResult(scope='256 P-positions of 3 piles and cells, generations 0 to 15', counterexample=None)
    """
    graph = evolution_graph(3, generations)
    cells = [tuple(cell) for cell in graph.cells().tolist()]
    rows = [tuple(row) for row in graph.positions.tolist()]
    parent_of = {child: parent for parent, child in graph.edges.tolist()}
    alive = {(0, 0)}
    born: dict[tuple[int, int], tuple[int, int] | None] = {(0, 0): None}
    tried = f"{len(rows)} P-positions of 3 piles and cells, generations 0 to {generations}"
    first = 0
    for count in graph.births():
        layer = range(first, first + count)
        for index in layer:
            parent = cells[parent_of[index]] if index else None
            if cells[index] not in born or born[cells[index]] != parent:
                return CheckResult(tried, rows[index])
        if len({cells[index] for index in layer}) != len(born):
            return CheckResult(tried, min(born.keys() - {cells[index] for index in layer}))
        first += count
        born = _next_cells(born, alive)
        alive |= born.keys()
    return CheckResult(tried)


@statement(
    "nf-four-piles",
    "[NF] section 5.5",
    "a P-position of four piles but 0 has 1, 2 or 6 parents: one pair, two pairs or all of its piles end in equally many zeros",
    at_most=_FOUR_PILES,
    thorough=(96, 16),
)
def parents_of_four_piles(generations: int) -> CheckResult:
    stated = {(2,): 1, (2, 2): 2, (4,): 6}

    def contradicts(child: Position) -> bool:
        zeros = Counter(f"{pile:b}"[::-1].index("1") for pile in child if pile)
        alike = tuple(count for count in zeros.values() if count > 1)
        return any(child) and len(_shifted(child, -1)) != stated.get(alike)

    return _check_each(contradicts, generations, 4)


@statement(
    "nf-table-1",
    "[NF] Table 1",
    "four piles have 1, 2 or 6 parents and 1, 2 or 6 children, in every combination",
    at_most=_FOUR_PILES,
    thorough=(127, 1),
)
def table_1(generations: int) -> CheckResult:
    """With four piles the kinds are 1, 2 or 6 parents and 1, 2 or 6 children, with [NF Table 1]'s examples (one corrected).

    Through generation 9 all nine occur. See `TABLE_1` for the error.

    >>> table_1(9).holds
    True
    """
    for kind, example in TABLE_1.items():
        if (len(_shifted(example, -1)), len(_shifted(example, 1))) != kind:
            return CheckResult("the examples", example)
    table = kind_table(4, generations)
    total = sum(count for count, _ in table.values())
    tried = f"9 examples, {total} P-positions of 4 piles, generations 0 to {generations}"
    for kind, (_, first) in table.items():
        if kind not in TABLE_1 and any(first):
            return CheckResult(tried, first)
    missing = [example for kind, example in TABLE_1.items() if kind not in table and sum(example) <= 2 * generations]
    return CheckResult(tried, missing[0] if missing else None)


def _check_each(contradicts: Callable[[Position], bool], generations: int, piles: int) -> CheckResult:
    count = 0
    for count, position in enumerate(_p_positions(generations, piles), 1):
        if contradicts(position):
            return CheckResult(f"{count} P-positions of {piles} piles", position)
    return CheckResult(f"{count} P-positions of {piles} piles, generations 0 to {generations}")


def _p_positions(generations: int, piles: int) -> Iterator[Position]:
    """All P-positions by Bouton's theorem, not by their children."""
    if piles < 2 or generations < 0:
        raise UsageError(f"piles and generations must be at least 2 and 0, got {piles} and {generations}")
    for head in product(range(generations + 1), repeat=piles - 1):
        last = nim.nim_sum(head)
        if sum(head) + last <= 2 * generations:
            yield (*head, last)


def _shifted(position: Position, change: int) -> set[Position]:
    """The P-positions that differ from it by `change` in exactly two piles: parents or children by definition."""
    found = set()
    for i, j in combinations(range(len(position)), 2):
        other = list(position)
        other[i] += change
        other[j] += change
        if min(other) >= 0 and nim.is_p_position(other):
            found.add(tuple(other))
    return found


def _next_cells(
    born: dict[tuple[int, int], tuple[int, int] | None], alive: set[tuple[int, int]]
) -> dict[tuple[int, int], tuple[int, int] | None]:
    """The next generation of the automaton, each cell with its one live neighbour."""
    result: dict[tuple[int, int], tuple[int, int] | None] = {}
    for x, y in born:
        for cx, cy in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            near = [n for n in ((cx + 1, cy), (cx - 1, cy), (cx, cy + 1), (cx, cy - 1)) if n in alive]
            if (cx, cy) not in alive and not cy <= min(-1, -abs(cx)) and len(near) == 1:
                result[cx, cy] = near[0]
    return result
