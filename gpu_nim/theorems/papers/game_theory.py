"""[F]: Ferguson, "Game Theory", part I, "Impartial Combinatorial Games"."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpu_nim.theorems.catalogue import Case, compared_cases, statement
from gpu_nim.theorems.exhaustive import max_pile, p_positions, pile_scope


@statement(
    "f-winning-moves",
    "[F] section 2.4",
    "an N-position has as many winning moves as its leftmost odd column has 1s, an odd number",
)
@compared_cases(lambda upto: pile_scope((2, 3, 4), upto))
def winning_moves(upto: int) -> Iterator[Case]:
    for k in (2, 3, 4):
        n = max_pile(k, upto)
        known = {tuple(position) for position in p_positions(k, n).tolist()}
        lines = [{(p[:i], p[i + 1 :]): p[i] for p in known} for i in range(k)]
        for position in np.ndindex(*(n + 1,) * k):
            if position in known:
                continue
            moves = sum(lines[i].get((position[:i], position[i + 1 :]), position[i]) < position[i] for i in range(k))
            columns = [sum(pile >> b & 1 for pile in position) for b in reversed(range(n.bit_length()))]
            stated = next(((ones, 1) for ones in columns if ones % 2), None)
            yield f"the number of winning moves from {position}, and its parity,", (moves, moves % 2), stated
