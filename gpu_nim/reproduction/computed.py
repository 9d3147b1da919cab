"""What the catalogues of papers compute in more than one place, by the functions that users have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from gpu_nim.games.game_graph import Evolution, evolve
from gpu_nim.games.heaps import HeapGame, Heaps, OctalCode
from gpu_nim.games.inequality import chocolate
from gpu_nim.games.nim import positions as nim
from gpu_nim.games.nim.walk import DIRECTIONS, walk
from gpu_nim.games.solve import solve
from gpu_nim.oeis.catalogue import find
from gpu_nim.reproduction.item import Comparison, Item


def sequence(number: str, statement: str, *printed: int, also: Sequence[Comparison] = ()) -> Item:
    """Return the item of an OEIS entry, whose first terms are compared with those that the paper prints."""
    begin = find(number).offset
    return Item(
        number,
        statement,
        (Comparison(f"the first {len(printed)} terms", partial(first_terms, number, len(printed)), printed), *also),
        command=f"gpunim count {number} --range {begin}:{begin + len(printed)}",
    )


def first_terms(number: str, how_many: int) -> list[int]:
    """Return the first terms of an OEIS entry.

    >>> first_terms("A048883", 4)
    [1, 3, 3, 9]
    """
    entry = find(number)
    return list(entry.terms(entry.offset, entry.offset + how_many))


def outcome(*piles: int) -> str:
    """Return P or N, the outcome class of a position of Nim.

    >>> outcome(1, 2, 3), outcome(1, 2)
    ('P', 'N')
    """
    return "P" if nim.is_p_position(piles) else "N"


def binary_rows(*piles: int, height: int = 1) -> str:
    """Return the binary digits of piles as a table with at least `height` rows, one a power of two, the largest first.

    >>> binary_rows(5, 3)
    '10 01 11'
    """
    width = max(height, max(piles).bit_length())
    return " ".join("".join(row) for row in zip(*(f"{pile:0{width}b}" for pile in piles), strict=True))


def kind(*piles: int) -> tuple[int, int]:
    """Return the numbers of parents and of children of a P-position of Nim.

    >>> kind(0, 1, 2, 3)
    (1, 1)
    """
    return len(nim.parents(piles)), len(nim.children(piles))


def first_direction(*piles: int) -> tuple[tuple[int, int], str]:
    """Return the cell of a P-position of generation 1, and the direction that leads there.

    >>> first_direction(1, 1, 0)
    ((1, 0), 'east')
    """
    (leg,) = walk(piles)
    return leg.to, leg.direction


def turn(pair: Sequence[int], then: Sequence[int]) -> str:
    """Return the turn of the walk of Nim from one pair of piles to another, each written as the P-position of generation 1.

    >>> turn((1, 1, 0), (1, 0, 1))
    'right'
    """
    first, second = walk([2 * a + b for a, b in zip(pair, then, strict=True)])
    quarter = DIRECTIONS.index(second.direction) - DIRECTIONS.index(first.direction)
    return {1: "right", 3: "left"}.get(quarter % 4, "none")


def step_and_generation(code: str, *heaps: int) -> tuple[int, int]:
    """Return the step of the standard algorithm that finds a position of an octal game, and its generation.

    >>> step_and_generation("0.77", 4, 4)
    (3, 4)
    """
    evolution: Evolution[Heaps] = evolve(HeapGame(OctalCode(code), sum(heaps)))
    place = evolution.index(heaps)
    return int(evolution.step[place]), int(evolution.generation[place])


def winning_options(*position: int) -> list[tuple[int, ...]]:
    """Return the options of a position of 3y <= x + z that are P-positions, in lexicographic order.

    >>> winning_options(4, 2, 5)
    [(4, 1, 5)]
    """
    game = chocolate(3)
    lost = set(map(tuple, solve(game, max(position)).p_positions.tolist()))
    return sorted({option for _, _, option in game.moves(position)} & lost)


def of_nim(*piles: int) -> Callable[[], int]:
    """Return what computes the nim-sum of piles."""
    return partial(nim.nim_sum, piles)
