"""Wythoff, "A modification of the game of Nim", Nieuw Archief voor Wiskunde 7 (1907)."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_nim.games.laws import is_wythoff_pair
from gpu_nim.games.solve import solve
from gpu_nim.theorems.catalogue import Case, compared_cases, statement


@statement(
    "wythoff",
    "Wythoff, Nieuw Archief voor Wiskunde 7",
    "the P-positions of Wythoff's game are floor(n phi) and floor(n phi) + n, each the least number not in an earlier pair",
    at_most=50,
    thorough=(500, 8),
)
@compared_cases(lambda upto: f"piles up to {4 * upto}")
def golden_ratio(upto: int) -> Iterator[Case]:
    size = 4 * upto
    lost = {tuple(position) for position in solve("wythoff", size).p_positions.tolist()}
    for low in range(size + 1):
        for high in range(low, size + 1):
            yield f"whether ({low}, {high}) is P", is_wythoff_pair((low, high)), (low, high) in lost
    used: set[int] = set()
    n = low = 0
    while low + n <= size:
        yield f"whether pair {n}, ({low}, {low + n}), is P", (low, low + n) in lost, True
        used |= {low, low + n}
        n += 1
        while low in used:
            low += 1
