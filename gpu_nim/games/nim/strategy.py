"""Playing Nim: the opponent's move, and the winning moves that a player missed."""

from collections.abc import Iterable
from typing import SupportsIndex

from gpu_nim.games.nim.positions import Move, as_position, is_p_position, winning_moves
from gpu_nim.model.arguments import integer, shown
from gpu_nim.model.errors import UsageError


def reply(piles: Iterable[SupportsIndex]) -> Move:
    """The move of a perfect player: a winning one if there is one, else one counter from the largest pile, for the longest game.

    Raises UsageError where there is nothing to take.

    >>> reply([13, 12, 8]).leaves, reply([1, 2, 3]).leaves
    ((4, 12, 8), (1, 2, 2))
    """
    position = as_position(piles)
    winning = winning_moves(position)
    return winning[0] if winning else take(position, position.index(max(position)), 1)


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
