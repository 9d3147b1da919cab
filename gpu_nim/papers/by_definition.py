"""P-positions and counts by enumeration, automata grown and games solved by their definitions alone: without formulas and fast
paths.

The checks compare the program's results with these. `a_by_digits` is a second method beside the closed forms.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache, reduce
from itertools import groupby, product
from math import comb
from operator import xor

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.host_counting import HostCounting
from gpu_nim.counting.families import find_family
from gpu_nim.counting.ranges import Enumeration
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.model.rule import Cell, Rule
from gpu_nim.papers.entries import REACH

# Cases that are enumerated up to the usual reach, a second or less, and at most, seconds.
_TUPLES = (1 << 23, 1 << 30)
_POSITIONS = (1 << 18, 1 << 21)
_MAX_INDEX = 1 << 16


def max_index(piles: int, upto: int, affordable: tuple[int, int] = _TUPLES) -> int:
    """Return the largest index, up to `upto`, to which all (piles - 1)-tuples can be enumerated: far ones for a far `upto`.

    >>> max_index(5, 64), max_index(5, 1000)
    (52, 180)
    """
    usual, largest = affordable
    tuples = min(largest, usual * max(1, upto // REACH) ** 2)
    upto = min(upto, _MAX_INDEX)
    if piles <= 2:
        return upto
    most = round(tuples ** (1 / (piles - 1)))
    while most ** (piles - 1) > tuples:
        most -= 1
    return min(upto, int(most) - 1)


def index_scope(piles: Iterable[int], upto: int) -> str:
    """Return in words the largest indices for these numbers of piles.

    >>> index_scope((3, 4, 5), 1000)
    'n up to 1000 for k = 3 to 4, n up to 180 for k = 5'
    """
    return _scope("n", piles, lambda k: max_index(k, upto))


def _scope(what: str, piles: Iterable[int], reach: Callable[[int], int]) -> str:
    """The reach for each number of piles; successive ones with the same reach stand together."""
    ranges = ((most, [*same]) for most, same in groupby(piles, reach))
    return ", ".join(f"{what} up to {most} for k = {k[0] if len(k) == 1 else f'{k[0]} to {k[-1]}'}" for most, k in ranges)


@cache
def counts(name: str, piles: int, limit: int) -> tuple[int, ...]:
    """Return the sequence of a family at 0, ..., limit, counted by enumeration.

    >>> counts("d", 3, 5)
    (1, 3, 3, 9, 3, 9)
    """
    trial = Enumeration(find_family(name, piles), limit, HostCounting())
    return tuple(trial.add([trial.do((0, limit + 1 if piles > 1 else 1))]).tolist())


@cache
def p_positions(piles: int, largest: int) -> NDArray[np.int64]:
    """Return the P-positions of Nim with piles at most `largest`, in lexicographic order, by the definition of a P-position.

    Shape (positions, piles). A position is P when none of its options is. Options lower one pile, so each line parallel to an axis
    has one P-position at most, and any position after it on the line is N.

    >>> p_positions(3, 1).tolist()
    [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """
    found = []
    taken: list[set[tuple[int, ...]]] = [set() for _ in range(piles - 1)]  # the lines along each axis but the last
    for head in np.ndindex(*(largest + 1,) * (piles - 1)):
        for last in range(largest + 1):
            lines = [(*head[:axis], *head[axis + 1 :], last) for axis in range(piles - 1)]
            if not any(line in seen for line, seen in zip(lines, taken, strict=True)):
                found.append((*head, last))
                for line, seen in zip(lines, taken, strict=True):
                    seen.add(line)
                break
    return np.array(found, np.int64).reshape(-1, piles)


def p_positions_of_totals(piles: int, last: int) -> list[list[Cell]]:
    """The positions of nim-sum 0 of totals 0, 2, 4, ... to 2 `last`, each total's in lexicographic order.

    >>> p_positions_of_totals(3, 3)[3]
    [(0, 3, 3), (1, 2, 3), (1, 3, 2), (2, 1, 3), (2, 3, 1), (3, 0, 3), (3, 1, 2), (3, 2, 1), (3, 3, 0)]
    """
    found: list[list[Cell]] = [[] for _ in range(last + 1)]
    for head in product(range(last + 1), repeat=piles - 1):
        position = (*head, reduce(xor, head, 0))
        if sum(position) <= 2 * last:
            found[sum(position) // 2].append(position)
    return found


def max_pile(piles: int, upto: int) -> int:
    """Return the largest pile, up to `upto`, for which all positions can be enumerated by the definition."""
    return max_index(piles + 1, upto, _POSITIONS)


def pile_scope(piles: Iterable[int], upto: int) -> str:
    """Return in words the largest piles for these numbers of them.

    >>> pile_scope((1, 2, 3, 4), 30)
    'piles up to 30 for k = 1 to 3, piles up to 21 for k = 4'
    """
    return _scope("piles", piles, lambda k: max_pile(k, upto))


def grown(rule: Rule, generations: int) -> list[list[Cell]]:
    """Return the newborns of each generation, sorted; every living cell is counted again in each generation.

    >>> from gpu_nim.automata.catalogue import find
    >>> grown(find("nim").rule, 2)[1:]
    [[(0, 1, 1), (1, 0, 1), (1, 1, 0)], [(0, 2, 2), (2, 0, 2), (2, 2, 0)]]
    """
    alive = set(rule.seeds)
    newborns = [sorted(alive)]
    for _ in range(generations):
        cells = np.array(sorted(alive))
        touches = Counter[Cell]()
        for offset in rule.offsets:
            touching = cells if rule.touches is None else cells[rule.touches(cells, offset)]
            touches.update(map(tuple, (touching + offset).tolist()))
        born = [cell for cell, count in sorted(touches.items()) if count in rule.births and cell not in alive]
        inside = rule.inside(np.array(born)).tolist() if born else []
        newborns.append([cell for cell, allowed in zip(born, inside, strict=True) if allowed])
        alive.update(newborns[-1])
    return newborns


def grundy(positions: Iterable[Cell], options: Callable[[Cell], Iterable[Cell]]) -> Iterator[tuple[Cell, int]]:
    """Yield each position with its Grundy value: the least number that none of its options has.

    >>> list(grundy([(n,) for n in range(5)], lambda heap: [(heap[0] - take,) for take in (1, 2) if take <= heap[0]]))
    [((0,), 0), ((1,), 1), ((2,), 2), ((3,), 0), ((4,), 1)]
    """

    @cache
    def value(position: Cell) -> int:
        return mex({value(option) for option in options(position)})

    return ((position, value(position)) for position in positions)


def mex(values: Collection[int]) -> int:
    """Return the least number that is not among the values."""
    return next(number for number in range(len(values) + 1) if number not in values)


def nim_options(position: Cell) -> set[Cell]:
    """Return the positions after one move of Nim: one pile is lowered.

    >>> sorted(nim_options((1, 2)))
    [(0, 2), (1, 0), (1, 1)]
    """
    return {(*position[:i], less, *position[i + 1 :]) for i, pile in enumerate(position) for less in range(pile)}


def inequality_values(game: InequalityGame, limits: Cell) -> dict[Cell, int]:
    """Return the Grundy values of a game of inequalities up to limits, by definition: one coordinate is lowered, and all become
    the largest position that is nowhere above, found among all positions.

    >>> from gpu_nim.games.inequality import chocolate
    >>> [position for position, value in inequality_values(chocolate(3), (2, 1, 2)).items() if value == 0]
    [(0, 0, 0), (1, 0, 1), (2, 0, 2)]
    """
    box = np.indices([limit + 1 for limit in limits]).reshape(len(limits), -1).T
    positions = [position for position in map(tuple, box.tolist()) if game.is_position(position)]
    known = np.array(positions)

    @cache
    def greatest_below(vector: Cell) -> Cell | None:
        below = known[(known <= vector).all(axis=1)]
        return tuple(below.max(axis=0).tolist()) if len(below) else None

    def options(position: Cell) -> Iterator[Cell]:
        return filter(None, map(greatest_below, nim_options(position)))

    return dict(grundy(positions, options))


def a_by_digits(piles: int, n: int) -> int:
    """a_k(n), the number of P-positions of k piles in which no pile is larger than n, counted digit by digit.

    Read the piles and n from their highest binary digit down. A pile is tight while its digits equal those of n, and free once it
    is less; free piles take any digit. Each column must have an even number of 1s, and the number of tight piles is the only state
    that the lower columns depend on. Takes of the order of k^2 log(n) operations on integers as long as the result.

    >>> [a_by_digits(3, n) for n in range(8)]
    [1, 4, 7, 16, 19, 28, 43, 64]
    """
    if n < 0:
        return 0
    ways = {piles: 1}
    for bit in range(n.bit_length() - 1, -1, -1):
        following: dict[int, int] = {}
        for tight, count in ways.items():
            free = piles - tight
            if not n >> bit & 1:
                # Tight piles have a 0 here, so the free ones must pair up among themselves.
                following[tight] = following.get(tight, 0) + count * (1 << max(0, free - 1))
                continue
            for still in range(tight + 1):
                choices = (1 << (free - 1)) if free else (still + 1) % 2
                if choices:
                    following[still] = following.get(still, 0) + count * comb(tight, still) * choices
        ways = following
    return sum(ways.values())


def d_by_digits(piles: int, n: int) -> int:
    """d_k(n) = a_k(n) - a_k(n-1), the number of P-positions of k piles whose largest pile is n.

    >>> [d_by_digits(3, n) for n in range(8)]
    [1, 3, 3, 9, 3, 9, 15, 21]
    """
    return a_by_digits(piles, n) - a_by_digits(piles, n - 1)
