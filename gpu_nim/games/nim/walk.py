"""The walk from three-pile P-positions to the Ulam-Warburton automaton without its south branch, and back [NF Theorem
25].

Read the binary digits of the generation n = (a + b + c) / 2 from the top. Each power of two in n is in exactly two of the
three piles, and that pair gives the direction of as many steps of the walk. The first pair starts (1,1,0) east, (0,1,1) west,
(1,0,1) north. The same pair again continues straight; another pair turns 90 degrees: right from (1,1,0) to (1,0,1), from
(1,0,1) to (0,1,1) and from (0,1,1) to (1,1,0), left for the reverse.

[NF 5.4] lists these turns mirrored, but its worked example, (14,11,5) -> (8,0) -> (8,-4) -> (10,-4) -> (10,-3), turns as here;
the two maps are mirror images and both are bijections. This module follows the example. The cells reached are those of the
automaton in which (x, y) with y < 0 and y <= -|x| is never born ([NF] writes y < -|x|, which lets the diagonal cells (1,-1)
and (-1,-1) be born and fails at generation 2).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpu_nim.games.nim import position_arrays, positions
from gpu_nim.games.nim.positions import Position, as_position, is_p_position
from gpu_nim.model.arguments import integers, short_repr
from gpu_nim.model.errors import UsageError
from gpu_nim.model.shown import Shown

Cell = tuple[int, int]

# Directions turn right as they count up: opposite ones differ by 2.
DIRECTIONS = ("north", "east", "south", "west")
_STEP = ((0, 1), (1, 0), (0, -1), (-1, 0))
_NORTH, _EAST, _SOUTH, _WEST = range(4)

# Pairs of piles, in the order in which each turns right into the next, and the direction in which each sets out.
_PAIRS = ((0, 1), (0, 2), (1, 2))
_FIRST = (_EAST, _NORTH, _WEST)
_TURN = (0, 1, -1)  # by (new pair - last pair) mod 3: straight on, right, left


@dataclass(frozen=True, repr=False)
class Leg(Shown):
    """A straight part of a walk: `steps` (a power of two) in `direction`, in which piles `piles` grow, to cell `to`."""

    piles: tuple[int, int]
    direction: str
    steps: int
    to: Cell


def walk(piles: Iterable[SupportsIndex]) -> list[Leg]:
    """The walk of a three-pile P-position of any size, one leg per binary digit 1 of its generation.

    Raises UsageError for another number of piles and for N-positions.

    >>> [(leg.direction, leg.steps, leg.to) for leg in walk([14, 11, 5])]
    [('east', 8, (8, 0)), ('south', 4, (8, -4)), ('east', 2, (10, -4)), ('north', 1, (10, -3))]
    """
    position = as_position(piles)
    if len(position) != 3 or not is_p_position(position):
        raise UsageError(f"piles must be a P-position of three piles, got {short_repr(position)}")
    x = y = direction = last = 0
    legs: list[Leg] = []
    for bit in reversed(range(max(position).bit_length())):
        pair = tuple(i for i, pile in enumerate(position) if pile >> bit & 1)
        if pair:
            number = _PAIRS.index(pair)
            direction = (direction + _TURN[(number - last) % 3]) % 4 if legs else _FIRST[number]
            last = number
            x, y = x + (_STEP[direction][0] << bit), y + (_STEP[direction][1] << bit)
            legs.append(Leg(_PAIRS[number], DIRECTIONS[direction], 1 << bit, (x, y)))
    return legs


def cell_of(piles: Iterable[SupportsIndex]) -> Cell:
    """The automaton's cell of a three-pile P-position of any size, the end of its walk.

    >>> cell_of([14, 11, 5]), cell_of([0, 0, 0])
    ((10, -3), (0, 0))
    """
    legs = walk(piles)
    return legs[-1].to if legs else (0, 0)


def position_of(cell: tuple[SupportsIndex, SupportsIndex]) -> Position:
    """The three-pile P-position whose walk ends at the cell: the inverse of `cell_of`, for cells of any size.

    The longest leg is the highest power of two in |x| + |y|, along the coordinate of larger size, since later legs subtract less
    from it than they add across. Raises UsageError for a cell that is never born.

    >>> position_of((10, -3))
    (14, 11, 5)
    >>> position_of((1, -1))
    Traceback (most recent call last):
    gpu_nim.model.errors.UsageError: cell must be one that the automaton ever gives birth to, got (1, -1)
    """
    coordinates = integers("cell", cell)
    if len(coordinates) != 2:
        raise UsageError(f"cell must hold two integers, got {short_repr(cell)}")
    x, y = coordinates
    piles = [0, 0, 0]
    steps = 0
    pair = direction = -1
    while x or y:
        power = 1 << ((abs(x) + abs(y)).bit_length() - 1)
        ahead = (_EAST if x > 0 else _WEST) if abs(x) > abs(y) else (_NORTH if y > 0 else _SOUTH)
        unborn = (power >= steps or (ahead - direction) % 4 == 2) if steps else ahead == _SOUTH
        if unborn or abs(x) == abs(y):
            raise UsageError(f"cell must be one that the automaton ever gives birth to, got {short_repr(coordinates)}")
        pair = _FIRST.index(ahead) if not steps else (pair + _TURN.index(((ahead - direction + 1) % 4) - 1)) % 3
        for pile in _PAIRS[pair]:
            piles[pile] += power
        x -= _STEP[ahead][0] * power
        y -= _STEP[ahead][1] * power
        steps, direction = power, ahead
    return piles[0], piles[1], piles[2]


def cells_of(positions: ArrayLike) -> NDArray[Any]:
    """The cells of N three-pile P-positions (N, 3): (N, 2), int64, or object past 61 binary digits.

    Raises UsageError as `walk`.

    >>> cells_of([[14, 11, 5], [0, 2, 2]]).tolist()
    [[10, -3], [-2, 0]]
    """
    array = position_arrays.as_positions(positions)
    if array.ndim != 2 or array.shape[1] != 3 or not position_arrays.are_p_positions(array).all():
        raise UsageError(f"positions must be P-positions of three piles, (N, 3), got shape {array.shape} or N-positions")
    cells = np.zeros((len(array), 2), array.dtype)
    last = np.full(len(array), -1, dtype=np.int8)
    direction = np.zeros(len(array), dtype=np.int8)
    turns, first = np.array(_TURN, dtype=np.int8), np.array(_FIRST, dtype=np.int8)
    steps = np.array(_STEP, array.dtype)
    for bit in reversed(range(int(array.max(initial=0)).bit_length())):
        digits = (array >> bit & 1).astype(bool)
        here = digits.any(axis=1)
        pair = np.where(digits[:, 0], np.where(digits[:, 1], 0, 1), 2).astype(np.int8)[here]
        ahead = np.where(last[here] < 0, first[pair], (direction[here] + turns[(pair - last[here]) % 3]) % 4)
        direction[here], last[here] = ahead, pair
        cells[here] += steps[ahead] * (1 << bit)
    return cells


def summary(piles: Iterable[SupportsIndex]) -> dict[str, Any]:
    """What is known of a position as plain values, as `gpunim nim --json` prints it; piles are counted from 1.

    >>> found = summary([14, 11, 5])
    >>> found["generation"], found["cell"], [leg["direction"] for leg in found["walk"]]
    (15, (10, -3), ['east', 'south', 'east', 'north'])
    """
    position = as_position(piles)
    is_p = is_p_position(position)
    legs = walk(position) if is_p and len(position) == 3 else None

    def relatives(found: Iterable[positions.Relative], rule: str) -> list[dict[str, Any]]:
        return [{"position": each.position, "piles": [p + 1 for p in each.piles], rule: each.trailing} for each in found]

    moves = positions.winning_moves(position)
    return {
        "position": position,
        "nim_sum": positions.nim_sum(position),
        "outcome": "P" if is_p else "N",
        "moves": [{"pile": move.pile + 1, "take": move.take, "leaves": move.leaves} for move in moves],
        "generation": positions.generation(position),
        "parents": relatives(positions.parents(position) if is_p else (), "trailing_zeros"),
        "children": relatives(positions.children(position) if is_p else (), "trailing_ones"),
        "cell": None if legs is None else cell_of(position),
        "walk": None if legs is None else [{**vars(leg), "piles": [p + 1 for p in leg.piles]} for leg in legs],
    }
