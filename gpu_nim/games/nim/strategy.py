"""Playing Nim: the opponent's move, and the winning moves that a player missed."""

from collections import Counter
from collections.abc import Iterable
from typing import SupportsIndex

from gpu_nim.games.nim.positions import Move, as_position, is_p_position, trailing_zeros, winning_moves
from gpu_nim.model.arguments import integer, shown
from gpu_nim.model.errors import UsageError


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
        raise UsageError(f"pile must be 1 to {len(position)}, got {shown(pile + 1)}")
    if not 1 <= count <= position[pile]:
        held = f"1 to {position[pile]}" if position[pile] else "another pile, this one is empty"
        raise UsageError(f"take must be {held}, got {shown(count)}")
    return Move(pile, count, (*position[:pile], position[pile] - count, *position[pile + 1 :]))


def missed(piles: Iterable[SupportsIndex], move: Move) -> list[Move]:
    """The winning moves at the position, if `move` is not one of them.

    >>> [better.take for better in missed([13, 12, 8], take([13, 12, 8], 0, 1))]
    [9, 7, 7]
    >>> missed([13, 12, 8], take([13, 12, 8], 0, 9)), missed([1, 1], take([1, 1], 0, 1))
    ([], [])
    """
    return [] if is_p_position(move.leaves) else winning_moves(piles)
