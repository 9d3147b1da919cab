"""One position of Nim, any number of piles of any size: outcome, winning moves, parents, children, and play.

Sources: [F] Ferguson, "Game Theory", part I, section 2; [NF] Khovanova and Xiong, "Nim Fractals". Everything here is
exact: a position is a sequence of non-negative Python integers.

The walk maps three-pile P-positions to the Ulam-Warburton automaton without its south branch, and back [NF Theorem 25].
Read the binary digits of the generation n = (a + b + c) / 2 from the top. Each power of two in n is in exactly two of the
three piles, and that pair gives the direction of as many steps of the walk. The first pair starts (1,1,0) east, (0,1,1) west,
(1,0,1) north. The same pair again continues straight; another pair turns 90 degrees: right from (1,1,0) to (1,0,1), from
(1,0,1) to (0,1,1) and from (0,1,1) to (1,1,0), left for the reverse.

[NF 5.4] lists these turns mirrored, but its worked example, (14,11,5) -> (8,0) -> (8,-4) -> (10,-4) -> (10,-3), turns as here;
the two maps are mirror images and both are bijections. This module follows the example. The cells reached are those of the
automaton in which (x, y) with y < 0 and y <= -|x| is never born ([NF] writes y < -|x|, which lets the diagonal cells (1,-1)
and (-1,-1) be born and fails at generation 2).
"""

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any, SupportsIndex

from gpu_nim.model.arguments import integer, integers, items, short_repr
from gpu_nim.model.errors import UsageError
from gpu_nim.model.shown import Shown

Position = tuple[int, ...]


@dataclass(frozen=True, repr=False)
class Move(Shown):
    """Take `take` counters from pile number `pile` (counted from 0), which leaves the position `leaves`."""

    pile: int
    take: int
    leaves: Position


@dataclass(frozen=True, repr=False)
class Relative(Shown):
    """A parent or a child, and how it differs.

    `piles` are the two piles (counted from 0) that differ by one counter; both numbers end in exactly `trailing` binary
    zeros (a parent) or ones (a child).
    """

    position: Position
    piles: tuple[int, int]
    trailing: int


def as_position(piles: Iterable[SupportsIndex]) -> Position:
    """The piles as a tuple of Python integers.

    Raises UsageError where there is no pile, or a pile is negative or not an integer.

    >>> as_position([13, 12, 8])
    (13, 12, 8)
    """
    position = _piles(piles)
    if not position:
        raise UsageError("piles must be at least one, got none")
    return position


def nim_sum(piles: Iterable[SupportsIndex]) -> int:
    """The nim-sum: addition in base 2 without carry [NF Definition 3]; 0 for no pile.

    >>> nim_sum([13, 12, 8]), nim_sum([])
    (9, 0)
    >>> nim_sum([2**100, 2**100 + 5])
    5
    """
    return reduce(operator.xor, _piles(piles), 0)


def is_p_position(piles: Iterable[SupportsIndex]) -> bool:
    """Whether the previous player wins: the nim-sum is 0 (Bouton's theorem [F Theorem 1, NF Theorem 4]).

    >>> is_p_position([1, 2, 3]), is_p_position([13, 12, 8])
    (True, False)
    """
    return nim_sum(piles) == 0


def winning_moves(piles: Iterable[SupportsIndex]) -> list[Move]:
    """Every move to a P-position, pile by pile; none from a P-position.

    From an N-position there are as many as there are 1s in the leftmost odd binary column, always an odd number [F
    2.4].

    >>> [(move.take, move.leaves) for move in winning_moves([13, 12, 8])]
    [(9, (4, 12, 8)), (7, (13, 5, 8)), (7, (13, 12, 1))]
    """
    position = as_position(piles)
    total = nim_sum(position)
    return [
        Move(index, pile - (pile ^ total), (*position[:index], pile ^ total, *position[index + 1 :]))
        for index, pile in enumerate(position)
        if pile ^ total < pile
    ]


def generation(piles: Iterable[SupportsIndex]) -> int | None:
    """The generation in which a P-position is born, half its total [NF 5.2]; None for an N-position, which has none.

    >>> generation([14, 11, 5]), generation([14, 11, 6])
    (15, None)
    """
    position = as_position(piles)
    return sum(position) // 2 if is_p_position(position) else None


def trailing_zeros(number: int) -> int:
    """The number of trailing binary 0s of a positive number.

    >>> [trailing_zeros(n) for n in (1, 2, 12)]
    [0, 1, 2]
    """
    return (number & -number).bit_length() - 1


def trailing_ones(number: int) -> int:
    """The number of trailing binary 1s of a non-negative number.

    >>> [trailing_ones(n) for n in (0, 1, 11)]
    [0, 1, 2]
    """
    return trailing_zeros(number + 1)


def parents(piles: Iterable[SupportsIndex]) -> list[Relative]:
    """The parents of a P-position: subtract 1 from two non-empty piles with equally many trailing 0s [NF Lemma 21].

    Raises UsageError for an N-position: only P-positions have parents.

    >>> parents([1, 2, 3])
    [Relative(position=(0, 2, 2), piles=(0, 2), trailing=0)]
    """
    position = _p_position(piles)
    return _relatives(position, [index for index, pile in enumerate(position) if pile], trailing_zeros, -1)


def children(piles: Iterable[SupportsIndex]) -> list[Relative]:
    """The children of a P-position: add 1 to two piles with equally many trailing 1s [NF Lemma 23].

    Raises UsageError for an N-position: only P-positions have children.

    >>> [child.position for child in children([1, 1, 0])], children([1, 2, 3])
    ([(2, 2, 0)], [])
    """
    position = _p_position(piles)
    return _relatives(position, range(len(position)), trailing_ones, 1)


def binary_columns(piles: Iterable[SupportsIndex]) -> tuple[list[list[int]], list[int]]:
    """The binary digits of the piles and of their nim-sum, highest first, all as wide as the longest (at least one digit).

    >>> binary_columns([13, 12, 8])
    ([[1, 1, 0, 1], [1, 1, 0, 0], [1, 0, 0, 0]], [1, 0, 0, 1])
    """
    position = as_position(piles)
    width = max(1, *(pile.bit_length() for pile in position))
    rows = [[int(digit) for digit in format(number, f"0{width}b")] for number in (*position, nim_sum(position))]
    return rows[:-1], rows[-1]


def _piles(piles: Iterable[SupportsIndex]) -> Position:
    position = []
    for pile in items("piles", piles, "non-negative integers"):
        try:
            position.append(integer("pile", pile, 0))
        except UsageError:
            raise UsageError(f"piles must be non-negative integers, got {short_repr(pile)}") from None
    return tuple(position)


def _p_position(piles: Iterable[SupportsIndex]) -> Position:
    position = as_position(piles)
    if not is_p_position(position):
        raise UsageError(
            f"piles must be a P-position (nim-sum 0), got {short_repr(position)} with nim-sum {short_repr(nim_sum(position))}"
        )
    return position


def _relatives(position: Position, candidates: Sequence[int], trailing: Callable[[int], int], change: int) -> list[Relative]:
    ends = {index: trailing(position[index]) for index in candidates}
    return [
        Relative(tuple(pile + change * (index in pair) for index, pile in enumerate(position)), pair, ends[pair[0]])
        for pair in combinations(candidates, 2)
        if ends[pair[0]] == ends[pair[1]]
    ]


def reply(piles: Iterable[SupportsIndex]) -> Move:
    """The move of a perfect player: a winning one if there is one, and along the longest optimal play.

    Of the winning moves it takes the least. From a P-position it takes 1 from the largest pile that ends in as many binary 0s as
    another; by Lemma 21 of [NF] the best answer then takes 1 from that other pile. So two such players take one counter a move
    from a P-position, and no optimal play is longer [NF 5.2].

    Raises UsageError where there is nothing to take.

    >>> reply([13, 12, 8]).leaves, reply([3, 5, 6]).leaves
    ((13, 5, 8), (3, 4, 6))
    """
    position = as_position(piles)
    winning = winning_moves(position)
    if winning:
        return min(winning, key=lambda move: move.take)
    ends = Counter(trailing_zeros(pile) for pile in position if pile)
    paired = [pile for pile in position if pile and ends[trailing_zeros(pile)] > 1]
    if not paired:
        raise UsageError("piles must have at least one counter, got none")
    return take(position, position.index(max(paired)), 1)


def take(piles: Iterable[SupportsIndex], pile: int, count: int) -> Move:
    """The move that takes `count` counters from pile number `pile` (from 0). Raises UsageError where the rules forbid it.

    >>> take([5, 7, 9], 2, 7).leaves
    (5, 7, 2)
    """
    position, pile, count = as_position(piles), integer("pile", pile), integer("take", count)
    if not 0 <= pile < len(position):
        raise UsageError(f"pile must be 1 to {len(position)}, got {short_repr(pile + 1)}")
    if not 1 <= count <= position[pile]:
        held = f"1 to {position[pile]}" if position[pile] else "another pile, this one is empty"
        raise UsageError(f"take must be {held}, got {short_repr(count)}")
    return Move(pile, count, (*position[:pile], position[pile] - count, *position[pile + 1 :]))


def missed(piles: Iterable[SupportsIndex], move: Move) -> list[Move]:
    """The winning moves at the position, if `move` is not one of them.

    >>> [better.take for better in missed([13, 12, 8], take([13, 12, 8], 0, 1))]
    [9, 7, 7]
    >>> missed([13, 12, 8], take([13, 12, 8], 0, 9)), missed([1, 1], take([1, 1], 0, 1))
    ([], [])
    """
    return [] if is_p_position(move.leaves) else winning_moves(piles)


Cell = tuple[int, int]

# Directions turn right as they count up: opposite ones differ by 2.
DIRECTIONS = ("north", "east", "south", "west")
STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))
_NORTH, _EAST, _SOUTH, _WEST = range(4)

# Pairs of piles, in the order in which each turns right into the next, and the direction in which each sets out.
_PAIRS = ((0, 1), (0, 2), (1, 2))
FIRST_DIRECTIONS = (_EAST, _NORTH, _WEST)
TURNS = (0, 1, -1)  # by (new pair - last pair) mod 3: straight on, right, left


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
            direction = (direction + TURNS[(number - last) % 3]) % 4 if legs else FIRST_DIRECTIONS[number]
            last = number
            x, y = x + (STEPS[direction][0] << bit), y + (STEPS[direction][1] << bit)
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
        pair = FIRST_DIRECTIONS.index(ahead) if not steps else (pair + TURNS.index(((ahead - direction + 1) % 4) - 1)) % 3
        for pile in _PAIRS[pair]:
            piles[pile] += power
        x -= STEPS[ahead][0] * power
        y -= STEPS[ahead][1] * power
        steps, direction = power, ahead
    return piles[0], piles[1], piles[2]


def summary(piles: Iterable[SupportsIndex]) -> dict[str, Any]:
    """What is known of a position as plain values, as `gpunim nim --json` prints it; piles are counted from 1.

    >>> found = summary([14, 11, 5])
    >>> found["generation"], found["cell"], [leg["direction"] for leg in found["walk"]]
    (15, (10, -3), ['east', 'south', 'east', 'north'])
    """
    position = as_position(piles)
    is_p = is_p_position(position)
    legs = walk(position) if is_p and len(position) == 3 else None

    def relatives(found: Iterable[Relative], rule: str) -> list[dict[str, Any]]:
        return [{"position": each.position, "piles": [p + 1 for p in each.piles], rule: each.trailing} for each in found]

    moves = winning_moves(position)
    return {
        "position": position,
        "nim_sum": nim_sum(position),
        "outcome": "P" if is_p else "N",
        "moves": [{"pile": move.pile + 1, "take": move.take, "leaves": move.leaves} for move in moves],
        "generation": generation(position),
        "parents": relatives(parents(position) if is_p else (), "trailing_zeros"),
        "children": relatives(children(position) if is_p else (), "trailing_ones"),
        "cell": None if legs is None else cell_of(position),
        "walk": None if legs is None else [{**vars(leg), "piles": [p + 1 for p in leg.piles]} for leg in legs],
    }
