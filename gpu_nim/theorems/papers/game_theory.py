"""[F]: Ferguson, "Game Theory", part I, "Impartial Combinatorial Games"."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from gpu_nim.games.nim.positions import nim_sum
from gpu_nim.theorems.by_definition import nim_options
from gpu_nim.theorems.catalogue import Case, compared_cases, statement
from gpu_nim.theorems.exhaustive import max_pile, p_positions, pile_scope

_LAWS = 15  # the largest number with which the laws are tried
_PROOF = 15  # the largest pile; 7 for four piles

_EXAMPLE = (13, 12, 8)
_OUTCOMES = {
    **dict.fromkeys(((0, 0, 0), (0, 1, 1), (0, 2, 2), (1, 2, 3), (1, 4, 5), (2, 4, 6)), "P"),
    **dict.fromkeys(((1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 2, 2), (5, 7, 9), _EXAMPLE, (15, 23, 30)), "N"),
}


@statement(
    "f-one-pile",
    "[F] section 2.1",
    "only (0, ..., 0) is terminal, a P-position; with one non-empty pile the next player wins",
    thorough=(1024, 8),
)
@compared_cases(lambda upto: pile_scope((1, 2, 3), upto))
def one_pile(upto: int) -> Iterator[Case]:
    for k in (1, 2, 3):
        n = max_pile(k, upto)
        alone = [position for position in p_positions(k, n).tolist() if sum(pile > 0 for pile in position) <= 1]
        yield f"the P-positions of {k} piles up to {n} with at most one non-empty pile", alone, [[0] * k]


@statement("f-positions", "[F] sections 2.1 and 2.2", "the outcomes of the positions that are worked out, or asked for", at_most=30)
@compared_cases(lambda upto: f"those of the {len(_OUTCOMES)} positions with piles up to {upto}")
def worked_out(upto: int) -> Iterator[Case]:
    known = {tuple(position) for position in p_positions(3, upto).tolist()}
    for position, outcome in _OUTCOMES.items():
        if max(position) <= upto:
            yield f"whether {position} is a P-position", position in known, outcome == "P"
    if upto >= max(_EXAMPLE):
        yield f"where one wins from {_EXAMPLE}", nim_options(_EXAMPLE) & known, {(4, 12, 8), (13, 5, 8), (13, 12, 1)}


@statement(
    "f-nim-sum",
    "[F] section 2.2; [NF] Definition 3; [V] Definition 2.4",
    "the nim-sum and its laws",
    at_most=_LAWS,
    thorough=(95, 8),
)
@compared_cases(lambda upto: f"x, y, z up to {upto}")
def nim_sums(upto: int) -> Iterator[Case]:
    numbers = range(upto + 1)
    for x, y in product(numbers, repeat=2):
        found = nim_sum((x, y))
        stated = sum(((x >> k & 1) + (y >> k & 1)) % 2 << k for k in range(upto.bit_length()))
        yield f"the digits of {x} + {y}", found, stated
        yield f"{y} + {x}", nim_sum((y, x)), found
        others = [z for z in numbers if z != y and nim_sum((x, z)) == found]
        yield f"the z other than {y} with {x} + z = {x} + {y}", others, []
        for z in numbers:
            yield f"{x} + ({y} + {z})", nim_sum((x, nim_sum((y, z)))), nim_sum((found, z))
    for x in numbers:
        yield f"0 + {x} and {x} + {x}", (nim_sum((0, x)), nim_sum((x, x))), (x, 0)


@statement(
    "f-proof",
    "[F] section 2.4",
    "each pile with a 1 in the leftmost odd column can be lowered to nim-sum 0, and no other; from nim-sum 0 none can",
    at_most=_PROOF,
    thorough=(31, 4),
)
@compared_cases(lambda upto: f"piles up to {upto} for k = 1, 2, 3, up to {min(upto, _PROOF // 2)} for k = 4")
def proof(upto: int) -> Iterator[Case]:
    for k in (1, 2, 3, 4):
        n = upto if k < 4 else min(upto, _PROOF // 2)
        for position in np.ndindex(*(n + 1,) * k):
            lowered = [
                any(nim_sum((*position[:i], less, *position[i + 1 :])) == 0 for less in range(position[i])) for i in range(k)
            ]
            columns = [[pile >> b & 1 for pile in position] for b in reversed(range(n.bit_length()))]
            leftmost = next((column for column in columns if sum(column) % 2), [0] * k)
            yield f"the piles of {position} that can be lowered to nim-sum 0", lowered, [digit == 1 for digit in leftmost]


@statement(
    "f-winning-moves",
    "[F] section 2.4",
    "an N-position has as many winning moves as its leftmost odd column has 1s, an odd number",
    thorough=(1024, 60),
)
@compared_cases(lambda upto: pile_scope((2, 3, 4), upto))
def winning_moves(upto: int) -> Iterator[Case]:
    for k in (2, 3, 4):
        n = max_pile(k, upto)
        box = np.indices((n + 1,) * k)
        known = p_positions(k, n)
        is_p = np.zeros(box.shape[1:], np.bool_)
        is_p[tuple(known.T)] = True
        moves, leftmost = np.zeros_like(is_p, np.int64), np.zeros_like(is_p, np.int64)
        for axis in range(k):
            lowest = np.full((n + 1,) * (k - 1), n + 1)  # of the P-positions on each line along the axis
            lowest[tuple(np.delete(known, axis, axis=1).T)] = known[:, axis]
            moves += np.expand_dims(lowest, axis) < box[axis]
        for b in range(n.bit_length()):
            ones = (box >> b & 1).sum(axis=0)
            leftmost = np.where(ones % 2, ones, leftmost)
        for position, found, ones in zip(np.argwhere(~is_p).tolist(), moves[~is_p].tolist(), leftmost[~is_p].tolist(), strict=True):
            yield f"the number of winning moves from {tuple(position)}, and its parity,", (found, found % 2), (ones, 1)
