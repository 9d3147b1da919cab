"""Sequences that count the P-positions of a game by its size; the OEIS has none of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.oeis.entry import OeisEntry

CHOCOLATES = (2, 4, 5, 6, 7, 8)
"""Integers a of chocolates a y <= x + z. For a = 3 the P-positions are counted by A256249(n) + 1 (`gpu_nim.oeis.corrections`)."""

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
    found.append(OeisEntry("chocolate6", six, 0, _six_directions))
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
    """The work grows by the sixth power of the size: without `stop`, no larger size is solved than is asked for."""
    if stop is not None:
        if start < stop:
            largest = _p_positions("chocolate6", stop - 1).max(axis=1)
            yield from np.bincount(largest).cumsum().tolist()[start:]
        return
    while True:
        yield len(_p_positions("chocolate6", start))
        start += 1
