"""P-positions and counts by exhaustive enumeration, without any formula, to check the statements with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.numpy.counting import NumpyCounting
from gpu_nim.counting.enumeration import Enumeration
from gpu_nim.counting.families import find_family
from gpu_nim.theorems.catalogue import REACH, Thorough


class _Affordable(NamedTuple):
    """How many cases are enumerated: `usual` up to the usual reach, and for a larger one more, up to `most`."""

    usual: int
    most: int

    def cases(self, upto: int) -> int:
        return min(self.most, self.usual * max(1, upto // REACH) ** 2)


_TUPLES = _Affordable(1 << 23, 1 << 30)  # a second or less, and seconds
_POSITIONS = _Affordable(1 << 18, 1 << 21)
_MAX_INDEX = 1 << 16
ENUMERATED = Thorough(1024, 1)
"""The thorough check of a statement on counts or positions that are enumerated, which is done once for all of them."""


def max_index(piles: int, upto: int, affordable: _Affordable = _TUPLES) -> int:
    """Return the largest index, up to `upto`, to which all (piles - 1)-tuples can be enumerated: far ones for a far `upto`.

    >>> max_index(5, 64), max_index(5, 1000)
    (52, 180)
    """
    tuples = affordable.cases(upto)
    upto = min(upto, _MAX_INDEX)
    if piles <= 2:
        return upto
    most = round(tuples ** (1 / (piles - 1)))
    while most ** (piles - 1) > tuples:
        most -= 1
    return min(upto, int(most) - 1)


def index_scope(piles: Iterable[int], upto: int) -> str:
    """Return in words the largest indices for these numbers of piles.

    >>> index_scope((3, 4, 5), 1000)
    'n up to 1000 for k = 3 to 4, n up to 180 for k = 5'
    """
    return _scope("n", piles, lambda k: max_index(k, upto))


def _scope(what: str, piles: Iterable[int], reach: Callable[[int], int]) -> str:
    """The reach for each number of piles; successive ones with the same reach stand together."""
    ranges = ((most, [*same]) for most, same in groupby(piles, reach))
    return ", ".join(f"{what} up to {most} for k = {k[0] if len(k) == 1 else f'{k[0]} to {k[-1]}'}" for most, k in ranges)


@cache
def counts(name: str, piles: int, limit: int) -> tuple[int, ...]:
    """Return the sequence of a family at 0, ..., limit, counted by enumeration.

    >>> counts("d", 3, 5)
    (1, 3, 3, 9, 3, 9)
    """
    trial = Enumeration(find_family(name, piles), limit, NumpyCounting())
    return tuple(trial.add([trial.do((0, limit + 1 if piles > 1 else 1))]).tolist())


@cache
def p_positions(piles: int, largest: int) -> NDArray[np.int64]:
    """Return the P-positions of Nim with piles at most `largest`, in lexicographic order, by the definition of a P-position.

    Shape (positions, piles). A position is P when none of its options is. Options lower one pile, so each line parallel to an axis
    has one P-position at most, and any position after it on the line is N.

    >>> p_positions(3, 1).tolist()
    [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """
    found = []
    taken: list[set[tuple[int, ...]]] = [set() for _ in range(piles - 1)]  # the lines along each axis but the last
    for head in np.ndindex(*(largest + 1,) * (piles - 1)):
        for last in range(largest + 1):
            lines = [(*head[:axis], *head[axis + 1 :], last) for axis in range(piles - 1)]
            if not any(line in seen for line, seen in zip(lines, taken, strict=True)):
                found.append((*head, last))
                for line, seen in zip(lines, taken, strict=True):
                    seen.add(line)
                break
    return np.array(found, np.int64).reshape(-1, piles)


def max_pile(piles: int, upto: int) -> int:
    """Return the largest pile, up to `upto`, for which all positions can be enumerated by the definition."""
    return max_index(piles + 1, upto, _POSITIONS)


def pile_scope(piles: Iterable[int], upto: int) -> str:
    """Return in words the largest piles for these numbers of them.

    >>> pile_scope((1, 2, 3, 4), 30)
    'piles up to 30 for k = 1 to 3, piles up to 21 for k = 4'
    """
    return _scope("piles", piles, lambda k: max_pile(k, upto))
