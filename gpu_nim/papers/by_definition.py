"""Counts by enumeration, automata grown and games solved by their definitions alone: without formulas and fast paths.

The checks compare the program's results with these. `a_by_digits` is a second method beside the closed forms.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache

import numpy as np

from gpu_nim.backends.host_counting import HostCounting
from gpu_nim.counting.families import find_family
from gpu_nim.counting.ranges import Enumeration
from gpu_nim.counting.regular_sequences import up_to_maximum
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.model.rule import Cell, Rule
from gpu_nim.papers.entries import REACH

# Cases that are enumerated up to the usual reach, a second or less, and at most, seconds.
_TUPLES = (1 << 23, 1 << 30)
_MAX_INDEX = 1 << 16


def max_index(piles: int, upto: int) -> int:
    """Return the largest index, up to `upto`, to which all (piles - 1)-tuples can be enumerated: far ones for a far `upto`.

    >>> max_index(5, 64), max_index(5, 1000)
    (52, 180)
    """
    usual, largest = _TUPLES
    tuples = min(largest, usual * max(1, upto // REACH) ** 2)
    upto = min(upto, _MAX_INDEX)
    if piles <= 2:
        return upto
    most = round(tuples ** (1 / (piles - 1)))
    while most ** (piles - 1) > tuples:
        most -= 1
    return min(upto, int(most) - 1)


@cache
def counts(name: str, piles: int, limit: int) -> tuple[int, ...]:
    """Return the sequence of a family at 0, ..., limit, counted by enumeration.

    >>> counts("d", 3, 5)
    (1, 3, 3, 9, 3, 9)
    """
    trial = Enumeration(find_family(name, piles), limit, HostCounting())
    return tuple(trial.add([trial.do((0, limit + 1 if piles > 1 else 1))]).tolist())


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
    """a_k(n), the number of P-positions of k piles in which no pile is larger than n, counted digit by digit (`up_to_maximum`).

    >>> [a_by_digits(3, n) for n in range(8)]
    [1, 4, 7, 16, 19, 28, 43, 64]
    """
    return int(up_to_maximum(piles).value(n)) if n >= 0 else 0


def d_by_digits(piles: int, n: int) -> int:
    """d_k(n) = a_k(n) - a_k(n-1), the number of P-positions of k piles whose largest pile is n.

    >>> [d_by_digits(3, n) for n in range(8)]
    [1, 3, 3, 9, 3, 9, 15, 21]
    """
    return a_by_digits(piles, n) - a_by_digits(piles, n - 1)
