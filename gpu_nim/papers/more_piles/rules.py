"""Which rules grow the P-positions of more than three piles; docs/open-problems/rules-of-more-piles.md has the proofs.

Rules of odd numbers are those of Ekhad, Sloane and Zeilberger, arXiv:1503.01796 and 1503.04249, but that cells never die.
"""

from __future__ import annotations

from functools import cache, reduce
from itertools import chain, combinations, combinations_with_replacement, permutations, product
from operator import or_, xor

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata import neighbourhoods
from gpu_nim.model.rule import Cell, Rule
from gpu_nim.papers import by_definition
from gpu_nim.papers.by_definition import max_pile, p_positions
from gpu_nim.papers.catalogue import Cases, Entry, Reach
from gpu_nim.papers.more_piles.counts import MORE_PILES

_PILES = (2, 3, 4, 5)
_TWO_PAIRS = (1, 1, 0, 0), (0, 0, 1, 1), (1, 1, 2, 2)
_ALIKE = (2, 1, 4, 7), (1, 2, 3, 4)  # a P-position and an N-position
_ORBITS = 12  # orbits of offsets that may be neighbours
_STAGES = (4, 7, 11, 15)  # generations: most neighbourhoods are refuted within the first few


def _odd_rule(piles: int, births: frozenset[int]) -> Rule:
    return Rule(piles, neighbourhoods.even_offsets(piles), births, ((0,) * piles,), octant=True)


@Entry(MORE_PILES, "odd-touches", after="[B] first theorem", reach=Reach(30, 126, 1))
def odd_touches(upto: int) -> Cases:
    """Births on an odd number of the cells with 1 less in evenly many piles are at step n the P-positions whose bitwise OR is n"""
    yield f"k from {_PILES[0]} to {_PILES[-1]}, n up to {upto // 2}, fewer for more piles"
    for k in _PILES:
        digits = (max_pile(k, upto // 2) + 1).bit_length() - 1
        stated: list[list[Cell]] = [[] for _ in range(2**digits)]
        for position in p_positions(k, 2**digits - 1).tolist():
            stated[reduce(or_, position)].append(tuple(position))
        every = 2 ** (k - 1)
        born = by_definition.grown(_odd_rule(k, frozenset(range(1, every, 2))), 2**digits - 1)
        yield f"the births of {k} piles to step {2**digits - 1}", born, stated
        yield "their numbers", [len(cells) for cells in born], [(every - 1) ** n.bit_count() for n in range(2**digits)]
        if k == 4:
            yield "the births on one or three touches", by_definition.grown(_odd_rule(k, frozenset({1, 3})), 2**digits - 1), stated


def _touched_from(cell: Cell, reach: int) -> set[Cell]:
    """The offsets of total 2 with coordinates up to `reach`, either sign, that lead to the cell from a P-position."""
    steps = (s for s in product(range(-reach, reach + 1), repeat=len(cell)) if sum(s) == 2)
    before = ((s, [x - step for x, step in zip(cell, s, strict=True)]) for s in steps)
    return {s for s, parent in before if min(parent) >= 0 and reduce(xor, parent) == 0}


def _scaled(cell: Cell, reach: int) -> Cell:
    """The cell times a power of two that is more than twice the reach."""
    return tuple(x << (2 * reach).bit_length() for x in cell)


@Entry(MORE_PILES, "exactly-one-touch", after="[B] first theorem", reach=Reach(28, 60, 3))
def exactly_one(upto: int) -> Cases:
    """Births on exactly one touch, in no finite neighbourhood, are at step n the P-positions with total 2n of four or more piles

    What touches (1,1,0,0) and what touches (0,0,1,1) both touches (1,1,2,2), once these are multiplied by a power of two.
    """
    yield f"neighbourhoods that reach up to {1 + upto // 4}"
    for reach in range(1, upto // 4 + 2):
        first, second, both = (_touched_from(_scaled(c, reach), reach) for c in _TWO_PAIRS)
        yield f"that something within {reach} touches two equal piles", (1, 1, 0, 0) in first and (0, 0, 1, 1) in second, True
        yield f"what touches the two pairs, within {reach}", first & second, set()
        yield f"what touches one pair and not both together, within {reach}", (first | second) - both, set()


@Entry(MORE_PILES, "touches-alike", after="[B] second theorem", reach=Reach(28, 60, 3))
def alike(upto: int) -> Cases:
    """Births on whichever touches, in no finite neighbourhood with totals up to 2, are at step n the P-positions with total 2n

    A P-position and an N-position that the same offsets touch.
    """
    yield f"neighbourhoods that reach up to {1 + upto // 4}"
    for reach in range(1, upto // 4 + 2):
        p, n = (_scaled(cell, reach) for cell in _ALIKE)
        yield f"the nim-sum of {p}", reduce(xor, p), 0
        yield f"that the nim-sum of {n} is 0", reduce(xor, n) == 0, False
        yield f"what touches {p}, within {reach}", _touched_from(p, reach), _touched_from(n, reach)


def _orbits() -> dict[str, tuple[Cell, ...]]:
    """The offsets of {-1, 0, 1}^4 that may be neighbours, by the numbers of their 1s and -1s.

    Without (1,0,0,0) and (1,1,1,0): these are N-positions, and the seed alone touches them, as it does whatever is born first.
    """
    found: dict[str, tuple[Cell, ...]] = {}
    for offset in combinations_with_replacement((1, -1, 0), 4):
        up, down = offset.count(1), offset.count(-1)
        if up + down and (up, down) not in ((1, 0), (3, 0)):
            found[f"+{up}-{down}"] = tuple(sorted({*permutations(offset)}))
    return found


@cache
def _rows(name: str, last: int) -> NDArray[np.intp]:
    """For each cell up to `last` and up to permutation the rows of those that touch it by an orbit's offsets, or -1 for none."""
    row: dict[Cell, int] = {cell: i for i, cell in enumerate(_cells(last))}
    offsets = _orbits()[name]
    return np.array([[row.get(tuple(sorted(x - d for x, d in zip(c, s, strict=True))), -1) for s in offsets] for c in row])


def _cells(last: int) -> list[Cell]:
    return [*combinations_with_replacement(range(last + 1), 4)]


def _surviving(names: tuple[str, ...], last: int) -> list[tuple[frozenset[int], bool]]:
    """The births for which a neighbourhood grows no N-position to a generation, and whether it then has the P-positions up to 3.

    Births are chosen when a dead P-position first has so many living neighbours, where no N-position has them: both ways are tried.
    """
    cells = _cells(last)
    is_p = np.array([reduce(xor, cell) == 0 for cell in cells])
    rows = np.concatenate([_rows(name, last) for name in names], axis=1)
    known = [i for i, cell in enumerate(cells) if max(cell) <= 3 and is_p[i]]
    found = []
    alive = np.zeros(len(is_p) + 1, np.bool_)  # the last is never alive
    alive[0] = True
    waiting = [(alive, frozenset({1}), frozenset({0}), 0)]
    while waiting:
        alive, births, barren, n = waiting.pop()
        if n == last:
            found.append((births, bool(alive[known].all())))
            continue
        touches = alive[rows].sum(axis=1)
        dead = ~alive[:-1]
        barren |= {*np.unique(touches[dead & ~is_p]).tolist()}
        if births & barren:
            continue
        undecided = {*np.unique(touches[dead & is_p]).tolist()} - births - barren
        if undecided:
            chosen = frozenset({min(undecided)})
            waiting += [(alive, births | chosen, barren, n), (alive, births, barren | chosen, n)]
            continue
        born = dead & np.isin(touches, [*births])
        waiting += [(np.append(alive[:-1] | born, False), births, barren, n + 1)] if born.any() else []
    return found


@Entry(MORE_PILES, "moore-rules-of-four-piles", reach=Reach(None, 96, 2))
def moore_rules(upto: int) -> Cases:
    """Of the neighbourhoods in {-1,0,1}^4 that permutations keep, with any births, only that of odd-4 grows four piles'
    P-positions

    Others grow an N-position, or have pairs alone (`touches-alike`), or grow totals that 4 divides, which (1,1,0,0) has not.
    """
    yield f"unions of up to {min(upto // 8, _ORBITS)} orbits, all births, to generation {_STAGES[-1]}"
    names = [*_orbits()]
    most = min(upto // 8, _ORBITS)
    unions = chain.from_iterable(combinations(names, size) for size in range(1, most + 1))
    left = [union for union in unions if any(name.endswith("-0") for name in union)]  # without these nothing is born
    for last in _STAGES[:-1]:
        left = [union for union in left if _surviving(union, last)]
    found = {frozenset(union): _surviving(union, _STAGES[-1]) for union in left}
    whole = {union: {births for births, has_all in ways if has_all} for union, ways in found.items() if ways}
    others = {"+2-0"}, {"+4-0"}, {"+4-0", "+0-4"}, {"+4-0", "+2-2"}, {"+4-0", "+2-2", "+0-4"}
    odd = {frozenset({"+2-0", "+4-0"}): {frozenset({1, 3})}}
    expected = {frozenset(union): set[frozenset[int]]() for union in others} | odd
    yield "the births that grow all P-positions", whole, {union: births for union, births in expected.items() if len(union) <= most}
