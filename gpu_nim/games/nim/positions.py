"""One position of Nim, any number of piles of any size: outcome, winning moves, parents, children, and play.

Sources: [F] Ferguson, "Game Theory", part I, section 2; [NF] Khovanova and Xiong, "Nim Fractals". Everything here is
exact: a position is a sequence of non-negative Python integers.
"""

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import SupportsIndex

from gpu_nim.model.arguments import integer, items, short_repr
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
