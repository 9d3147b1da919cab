"""Which rules grow the P-positions of more than three piles: recomputes what rules-of-more-piles.md says.

    python docs/open-problems/rules-of-more-piles.py

prints a line for each statement, and ends with status 1 if anything is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache, reduce
from itertools import chain, combinations, combinations_with_replacement, permutations, product
from operator import or_, xor

import numpy as np
from _comparisons import Case, compare
from numpy.typing import NDArray

from gpu_nim import Rule, grow

Cell = tuple[int, ...]

_DIGITS = {2: 7, 3: 7, 4: 5, 5: 4}  # by the number of piles, the binary digits of the last step of odd rules
_REACH = 16  # of neighbourhoods
_TWO_PAIRS = (1, 1, 0, 0), (0, 0, 1, 1), (1, 1, 2, 2)
_ALIKE = (2, 1, 4, 7), (1, 2, 3, 4)  # a P-position and an N-position
_STAGES = (4, 7, 11, 15)  # generations: most neighbourhoods are refuted within the first few


def odd_touches() -> Iterator[Case]:
    """Births on an odd number of the cells with 1 less in evenly many piles are at step n the P-positions whose bitwise OR is n."""
    for k, digits in _DIGITS.items():
        stated: list[list[Cell]] = [[] for _ in range(2**digits)]
        for head in product(range(2**digits), repeat=k - 1):
            position = *head, reduce(xor, head)
            stated[reduce(or_, position)].append(position)
        every = 2 ** (k - 1)
        offsets = tuple(s for s in product((0, 1), repeat=k) if any(s) and sum(s) % 2 == 0)
        yield f"the number of neighbours of {k} piles", len(offsets), every - 1
        for births in (range(1, every, 2), (1, 3)) if k == 4 else (range(1, every, 2),):
            rule = Rule(k, offsets, frozenset(births), ((0,) * k,), octant=True)
            growth = grow(rule, 2**digits - 1, backend="numpy", cells=True)
            born = [sorted(map(tuple, cells.tolist())) for cells in growth]
            yield f"the births of {k} piles on {[*births]} touches", born, [sorted(cells) for cells in stated]
            yield "their numbers", [len(cells) for cells in born], [(every - 1) ** n.bit_count() for n in range(2**digits)]


def exactly_one() -> Iterator[Case]:
    """What touches (1,1,0,0) and what touches (0,0,1,1) both touches (1,1,2,2), once these are multiplied by a power of two."""
    for reach in range(1, _REACH + 1):
        first, second, both = (_touched_from(_scaled(c, reach), reach) for c in _TWO_PAIRS)
        yield f"whether something within {reach} touches two equal piles", (1, 1, 0, 0) in first and (0, 0, 1, 1) in second, True
        yield f"what touches the two pairs, within {reach}", first & second, set()
        yield f"what touches one pair and not both together, within {reach}", (first | second) - both, set()


def alike() -> Iterator[Case]:
    """A P-position and an N-position that the same offsets touch."""
    for reach in range(1, _REACH + 1):
        p, n = (_scaled(cell, reach) for cell in _ALIKE)
        yield f"whether the nim-sums of {p} and {n} are 0", (reduce(xor, p) == 0, reduce(xor, n) == 0), (True, False)
        yield f"what touches {p}, within {reach}", _touched_from(p, reach), _touched_from(n, reach)


def _touched_from(cell: Cell, reach: int) -> set[Cell]:
    """The offsets of total 2 with coordinates up to `reach`, either sign, that lead to the cell from a P-position."""
    steps = (s for s in product(range(-reach, reach + 1), repeat=len(cell)) if sum(s) == 2)
    before = ((s, [x - step for x, step in zip(cell, s, strict=True)]) for s in steps)
    return {s for s, parent in before if min(parent) >= 0 and reduce(xor, parent) == 0}


def _scaled(cell: Cell, reach: int) -> Cell:
    """The cell times a power of two that is more than twice the reach."""
    return tuple(x << (2 * reach).bit_length() for x in cell)


def nearest_cells() -> Iterator[Case]:
    """Of the neighbourhoods in {-1, 0, 1}^4 that permutations keep only that of odd-4 grows all P-positions of four piles."""
    names = [*_orbits()]
    yield "the number of orbits", len(names), 12
    unions = chain.from_iterable(combinations(names, size) for size in range(1, len(names) + 1))
    left = [union for union in unions if any(name.endswith("-0") for name in union)]  # without these nothing is born
    for last in _STAGES[:-1]:
        left = [union for union in left if _surviving(union, last)]
    found = {frozenset(union): _surviving(union, _STAGES[-1]) for union in left}
    complete = {union: {births for births, has_all in ways if has_all} for union, ways in found.items() if ways}
    others = {"+2-0"}, {"+4-0"}, {"+4-0", "+0-4"}, {"+4-0", "+2-2"}, {"+4-0", "+2-2", "+0-4"}
    stated: dict[frozenset[str], set[frozenset[int]]] = {frozenset(union): set() for union in others}
    yield "the births that grow all P-positions", complete, {**stated, frozenset({"+2-0", "+4-0"}): {frozenset({1, 3})}}


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


if __name__ == "__main__":
    sys.exit(
        compare(
            {
                "rules of odd numbers for 2 to 5 piles": odd_touches(),
                f"no births on exactly one touch, in neighbourhoods that reach up to {_REACH}": exactly_one(),
                f"no births on whichever touches, in neighbourhoods that reach up to {_REACH}": alike(),
                f"neighbourhoods of nearest cells of four piles, to generation {_STAGES[-1]}": nearest_cells(),
            }
        )
    )
