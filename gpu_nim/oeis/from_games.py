"""Sequences that count the P-positions of a game by its size; the OEIS has none of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.oeis.entry import OeisEntry

CHOCOLATES = (2, 4, 5, 6, 7, 8)
"""Integers a of chocolates a y <= x + z. For a = 3 the P-positions are counted by A256249(n) + 1 (`gpu_nim.oeis.corrections`)."""

SIX_DIRECTIONS = (
    *(1, 17, 91, 302, 925, 2226, 4772, 9097, 16176, 27103, 43251, 66203, 97891, 140819, 198317, 273407, 369990, 491904, 643758),
    *(831588, 1061593),
)
"""P-positions of the chocolate that is cut in six directions up to sizes 0, 1, ..., 20, as one solution of size 20 has them. It
took 12 minutes, so that they are kept here; `tests/test_oeis_drafts.py` solves smaller sizes."""

_FIRST_SIZE = 63


def chocolate_name(a: int) -> str:
    """Return the name of the entry of the chocolate a y <= x + z."""
    return f"chocolate-{a}"


def game_entries() -> dict[str, OeisEntry]:
    """Return the entries of games, by name.

    >>> list(game_entries()["chocolate-2"].terms(0, 5))
    [1, 2, 5, 6, 9]
    """
    found = [
        OeisEntry(
            chocolate_name(a), f"P-positions of the chocolate {a} y <= x + z with x and z at most n", 0, partial(_chocolate, a)
        )
        for a in CHOCOLATES
    ]
    six = "P-positions with coordinates at most n of the chocolate that is cut in six directions"
    found.append(OeisEntry("chocolate6", six, 0, _six_directions, quick=len(SIX_DIRECTIONS)))
    return {entry.name: entry for entry in found}


def _p_positions(game: str, size: int, **parameters: Any) -> NDArray[np.int64]:
    from gpu_nim.games.solve import solve  # which counts of Nim would load for nothing

    return solve(game, size, **parameters).p_positions


def _chocolate(a: int, start: int, stop: int | None) -> Iterator[int]:
    """One solution has the terms of all smaller sizes; without `stop`, the size is doubled whenever they run out."""
    last = max(start, _FIRST_SIZE) if stop is None else stop - 1
    while start <= last:
        largest = _p_positions("chocolate", last, a=a)[:, [0, 2]].max(axis=1)
        yield from np.bincount(largest).cumsum().tolist()[start:]
        if stop is not None:
            return
        start, last = last + 1, 2 * last + 1


def _six_directions(start: int, stop: int | None) -> Iterator[int]:
    """Larger sizes than those that are kept are solved one by one: the work grows by the sixth power of the size."""
    for size in count(start) if stop is None else range(start, stop):
        yield SIX_DIRECTIONS[size] if size < len(SIX_DIRECTIONS) else len(_p_positions("chocolate6", size))
