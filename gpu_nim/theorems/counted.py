"""Positions and counts obtained by trying, the ground that the statements are checked on: no formula comes in here."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.numpy.counting import NumpyCounting

_MAX_TUPLES = 1 << 23  # a second or less
_MAX_POSITIONS = 1 << 18
_MAX_INDEX = 1 << 16


def reach(piles: int, upto: int, tuples: int = _MAX_TUPLES) -> int:
    """How far, up to `upto`, all (piles - 1)-tuples can be tried.

    >>> reach(4, 1000)
    202
    """
    upto = min(upto, _MAX_INDEX)
    if piles <= 2:
        return upto
    most = round(tuples ** (1 / (piles - 1)))
    while most ** (piles - 1) > tuples:
        most -= 1
    return min(upto, int(most) - 1)


@cache
def counts(letter: str, piles: int, limit: int) -> tuple[int, ...]:
    """D_k, A_k, d_k or a_k at 0, ..., limit, counted by trying.

    >>> counts("d", 3, 5)
    (1, 3, 3, 9, 3, 9)
    """
    engine = NumpyCounting()
    attempt = engine.try_totals if letter in "DA" else engine.try_maxima
    counted = attempt(piles, limit, 0, limit + 1 if piles > 1 else 1)
    return tuple((np.cumsum(counted) if letter in "Aa" else counted).tolist())


@cache
def p_positions(piles: int, largest: int) -> NDArray[np.int64]:
    """The P-positions of Nim with piles at most `largest`, in lexicographic order, by the definition of a P-position.

    Shape (positions, piles). A position is P when none of its options is. Options lower one pile, so on each line
    parallel to an axis only the first P-position in lexicographic order is one, and any position after it on the line is N.

    >>> p_positions(3, 1).tolist()
    [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """
    found = []
    taken: list[set[tuple[int, ...]]] = [set() for _ in range(piles)]
    for position in np.ndindex(*(largest + 1,) * piles):
        lines = [position[:axis] + position[axis + 1 :] for axis in range(piles)]
        if not any(line in seen for line, seen in zip(lines, taken, strict=True)):
            found.append(position)
            for line, seen in zip(lines, taken, strict=True):
                seen.add(line)
    return np.array(found, np.int64).reshape(-1, piles)


def side(piles: int, upto: int) -> int:
    """The largest pile, up to `upto`, for which all positions can be gone through by the definition."""
    return reach(piles + 1, upto, _MAX_POSITIONS)
