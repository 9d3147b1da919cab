"""Further sources: Nakamura and Miyadera on bars of chocolate, and Wythoff."""

from __future__ import annotations

from gpu_nim.games.inequality import bar
from gpu_nim.games.laws import is_wythoff_pair
from gpu_nim.games.solve import solve
from gpu_nim.papers.catalogue import SOURCES, Cases, Entry, Reach

BARS = SOURCES["chocolate-bars"]
WYTHOFF = SOURCES["wythoff"]
_LARGEST_K = 8


@Entry(BARS, "even-bars", reach=Reach(31, 127, 1))
def even_bars(size: int) -> Cases:
    """For even k the Grundy value of y <= floor(z/k) with a separate pile x is the nim-sum."""
    yield f"even k to {_LARGEST_K}, x, z <= {size}"
    for k in range(2, _LARGEST_K + 1, 2):
        yield f"the first difference of k = {k}", solve(bar(k), size, grundy=True).first_grundy_difference, None


@Entry(WYTHOFF, "wythoff", reach=Reach(50, 500, 8))
def golden_ratio(upto: int) -> Cases:
    """The P-positions of Wythoff's game are floor(n phi) and floor(n phi) + n, each the least number not in an earlier pair"""
    yield f"piles up to {4 * upto}"
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
