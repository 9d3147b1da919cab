"""Automata grown and games solved by their definitions alone, without fast paths, to compare the program's results with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache

import numpy as np

from gpu_nim.games.inequality import InequalityGame
from gpu_nim.model.rule import Cell, Rule


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
        touches: dict[Cell, int] = {}
        for offset in rule.offsets:
            touching = cells if rule.touches is None else cells[rule.touches(cells, offset)]
            for cell in map(tuple, (touching + offset).tolist()):
                touches[cell] = touches.get(cell, 0) + 1
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


def inequality_positions(game: InequalityGame, size: int) -> list[Cell]:
    """Return the positions of a game in its box, by testing every vector."""
    box = np.indices([limit + 1 for limit in game.limits(size)]).reshape(len(game.coordinates), -1).T
    return [position for position in map(tuple, box.tolist()) if game.is_position(position)]


def inequality_options(positions: Sequence[Cell]) -> Callable[[Cell], set[Cell]]:
    """Return the moves of a game of inequalities by definition: one coordinate is lowered, and all become the largest position
    that is nowhere above, found among all positions.

    >>> from gpu_nim.games.inequality import chocolate
    >>> sorted(inequality_options(inequality_positions(chocolate(3), 4))((3, 2, 3)))
    [(0, 1, 3), (1, 1, 3), (2, 1, 3), (3, 0, 3), (3, 1, 0), (3, 1, 1), (3, 1, 2), (3, 1, 3)]
    """
    known = np.array(positions)

    def options(position: Cell) -> set[Cell]:
        found = set()
        for axis, pile in enumerate(position):
            for lower in range(pile):
                lowered = np.array(position)
                lowered[axis] = lower
                below = known[(known <= lowered).all(axis=1)]
                if len(below):
                    found.add(tuple(below.max(axis=0).tolist()))
        return found

    return options
