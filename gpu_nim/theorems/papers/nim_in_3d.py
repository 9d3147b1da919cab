"""[B]: Khovanova's note on the two rules that grow the P-positions of three piles in three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.automata.formulas import p_positions_by_total
from gpu_nim.automata.growth_process import grow
from gpu_nim.model.rule import Cell, Rule
from gpu_nim.theorems import by_definition
from gpu_nim.theorems.catalogue import Case, check_cases, compared_cases, statement
from gpu_nim.theorems.check_result import CheckResult
from gpu_nim.theorems.exhaustive import max_pile, p_positions, pile_scope

_MAX_LITERAL = 15  # by going through all that is alive at each step
_GENERATIONS = 256  # generation n is compared with all (n+1)^2 pairs of piles; edge has millions of cells by then


def _p_positions(total: int) -> list[list[int]]:
    """The P-positions of three piles with that even total, in lexicographic order, by trying all pairs of piles."""
    piles = np.arange(total // 2 + 1)
    a, b = (grid.ravel() for grid in np.meshgrid(piles, piles, indexing="ij"))
    c = a ^ b
    found: list[list[int]] = np.stack([a, b, c], axis=1)[a + b + c == total].tolist()
    return found


def _born(
    automaton: str, upto: int, offsets: tuple[Cell, ...], choose: Callable[[NDArray[np.integer], int], NDArray[np.integer]]
) -> CheckResult:
    literally = min(upto, _MAX_LITERAL)
    growth = grow(automaton, upto, backend="numpy", verify=False)

    def cases() -> Iterator[Case]:
        for n, born in enumerate(by_definition.grown(Rule(3, offsets, frozenset({1}), ((0, 0, 0),), octant=True), literally)):
            chosen = choose(np.array(born).reshape(-1, 3), n).tolist()
            yield f"generation {n} of {automaton} by the literal rule", chosen, _p_positions(2 * n)
            yield f"all of generation {n} of {automaton}", [*map(tuple, growth.newborns(n).tolist())], born
        for n, cells in growth:
            yield f"generation {n} of {automaton}", choose(cells, n).tolist(), _p_positions(2 * n)

    return check_cases(cases(), f"generations up to {upto}, those up to {literally} by the literal rule, too")


# The first rule reads (a-1,b-1,c), (a-1,b,c-1) and (a,b-1,c-1); [B] prints the third as (a,b-1,a-1).
_TO_CHILDREN = ((1, 1, 0), (1, 0, 1), (0, 1, 1))
_EDGE_NEIGHBOURS = tuple(offset for offset in product((-1, 0, 1), repeat=3) if sum(map(abs, offset)) == 2)


@statement(
    "b-first",
    "[B] first theorem",
    "the cells of `nim` born at step n are the P-positions of three piles with total 2n",
    at_most=_GENERATIONS,
    thorough=(1024, 8),
)
def first_rule(upto: int) -> CheckResult:
    return _born("nim", upto, _TO_CHILDREN, lambda cells, n: cells)


@statement(
    "b-second",
    "[B] second theorem",
    "the cells of `edge` born at step n with total 2n are the P-positions with total 2n",
    at_most=_GENERATIONS,
    thorough=(512, 7),
)
def second_rule(upto: int) -> CheckResult:
    return _born("edge", upto, _EDGE_NEIGHBOURS, lambda cells, n: cells[cells.sum(axis=1) == 2 * n])


@statement("b-totals", "[B] first rule", "the cells of `nim` born at step n have the coordinate sum 2n", thorough=(256, 17))
@compared_cases(lambda upto: f"every `nim-K` of the catalogue, generations up to {upto}, fewer for many piles")
def totals(upto: int) -> Iterator[Case]:
    for automaton in CATALOGUE.values():
        if automaton.cell_test is p_positions_by_total:
            generations = min(upto, 8 * upto >> automaton.rule.dimension)
            for n, cells in grow(automaton.name, generations, backend="numpy", verify=False):
                yield f"the coordinate sums in generation {n} of {automaton.name}", {*cells.sum(axis=1).tolist()}, {2 * n}


@statement(
    "b-proof",
    "[B] proof of the first theorem",
    "just two piles of a P-position have the smallest 2-adic value, and these are lowered to its parent; "
    "an N-position one above a P-position is so twice",
    thorough=(1024, 4),
)
@compared_cases(lambda upto: pile_scope((3,), upto))
def two_adic_values(upto: int) -> Iterator[Case]:
    largest = max_pile(3, upto)
    known = {tuple(position) for position in p_positions(3, largest).tolist()}
    pairs = [tuple(axis for axis in range(3) if offset[axis]) for offset in _TO_CHILDREN]
    for position in product(range(largest + 1), repeat=3):
        if sum(position) % 2 or not any(position):
            continue
        below = [
            pair
            for pair, offset in zip(pairs, _TO_CHILDREN, strict=True)
            if tuple(x - d for x, d in zip(position, offset, strict=True)) in known
        ]
        if position in known:
            values = [pile & -pile for pile in position]
            smallest = min(value for value in values if value)
            yield f"the pairs to lower in {position}", below, [tuple(axis for axis in range(3) if values[axis] == smallest)]
        else:
            yield f"whether {position} is one above a single P-position", len(below) == 1, False


@statement(
    "b-late",
    "[B] proof of the second theorem",
    "the N-positions of total 2n in `edge` are born after step n",
    at_most=_GENERATIONS,
    thorough=(512, 6),
)
@compared_cases(lambda upto: f"generations up to {upto}")
def n_positions_are_late(upto: int) -> Iterator[Case]:
    for n, cells in grow("edge", upto, backend="numpy", verify=False):
        outside = cells[(cells[:, 0] ^ cells[:, 1]) != cells[:, 2]]
        yield (
            f"whether an N-position of total {2 * n} or more is born at step {n}",
            bool((outside.sum(axis=1) >= 2 * n).any()),
            False,
        )
