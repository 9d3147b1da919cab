"""What growths repeat from one power of two to the next: recomputes what scales.md says.

    python docs/open-problems/scales.py

prints a line for each statement, and ends with status 1 if anything is wrong. It needs about 1 GB.

A tip of `edge` and `fcc` is a cell (n, n, 0), born at generation n.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from _comparisons import Case, compare
from numpy.typing import NDArray

from gpu_nim import Growth, Rule, grow

_LAST = {"edge": 512, "fcc": 256}  # the last generation whose cells are compared
_BIRTHS = {"edge": 1024, "fcc": 512}  # of which births are
_KNIGHT, _CUBIC26 = 4096, 1024
_CUBES = 255  # the last generation of cubic26 whose cells are counted by their norms
_REPEATING = 6  # from so many generations after a power of two on, births in the plane z = 0 repeat
_NEVER = np.iinfo(np.uint16).max
_TABLES = Path(__file__).parents[1] / "growth"

# What the page says.
_LAST_IN_BOXES = (1, 3, 7, 22, 45, 95, 167, 295)  # births of one corner in the box below 2^k, k = 1, 2, ...
_LAST_IN_CUBES = {5: 38, 6: 77, 7: 159, 8: 295}  # births of cubic26 below 2^m
_AWAY = (0, 3, 6, 9, 16)  # the last r at which births after 2^m are farther than r from the tips, m = 4, 5, ...
_DIFFERING = (3, 6, 9, 16, 25, 31, 61, 72)  # the last r up to 2^(m-1) at which births after 2^m and 2^(m+1) differ, m = 4, 5, ...
_SHARES = {
    3: "0.03635 0.03390 0.13000 0.13000",
    4: "0.02699 0.02598 0.21554 0.21883",
    5: "0.02188 0.02143 0.23044 0.24201",
    6: "0.02026 0.02005 0.23821 0.26717",
    7: "0.01956 0.01945 0.24392 0.28802",
    8: "0.01942 0.01935 0.24740 0.30380",
    9: "0.01944 0.01941 0.24900 0.31280",
    10: "0.01946 0.01945 0.25069 0.31890",
    11: "0.01946 0.01945 0.25135 0.32321",
}


def distances(cells: NDArray[np.integer]) -> NDArray[np.integer]:
    """The distance of each cell from the origin, in steps to an edge neighbour."""
    sides = np.abs(cells)
    return np.asarray(np.maximum(sides.max(axis=1), sides.sum(axis=1) >> 1))


@cache
def grown(automaton: str) -> Growth:
    """The growth, with its cells."""
    return grow(automaton, _LAST[automaton], backend="numpy", verify=False, cells=True)


@cache
def birth_times(automaton: str) -> NDArray[np.uint16]:
    """The generations in which cells of the octant with a small z are born; the largest number for others."""
    last = _LAST[automaton]
    times = np.full((last + 1, last + 1, last // 4 + 2), _NEVER, np.uint16)
    for generation, cells in enumerate(grown(automaton)):
        kept = cells[(cells >= 0).all(axis=1) & (cells[:, 2] < times.shape[2])]
        times[tuple(kept.T)] = generation
    return times


def first_difference(times: NDArray[np.uint16], tips: tuple[int, int], radius: int, last: int) -> int | None:
    """The least distance, up to a radius, from two tips at which births differ, up to `last` generations after the tips."""
    boxes = [times[n - radius : n + radius + 1, n - radius : n + radius + 1, : radius + 1].astype(np.int32) - n for n in tips]
    differing = np.argwhere(np.minimum(boxes[0], last + 1) != np.minimum(boxes[1], last + 1)) - (radius, radius, 0)
    return min((each for each in distances(differing).tolist() if each <= radius), default=None)


def signed_sums(n: int) -> set[int]:
    """All sums of 2^i or -2^i over the bits i of n."""
    sums = {0}
    for bit in range(n.bit_length()):
        if n >> bit & 1:
            sums = {k + sign for k in sums for sign in (1 << bit, -(1 << bit))}
    return sums


def tips() -> Iterator[Case]:
    """For every multiple n of 2^m the cells at distance up to 2^(m-1) from (n, n, 0) are born as many generations after n as those
    round (2^m, 2^m, 0) after 2^m; for n = 2^(m+1), m > 1, not all at distance 2^(m-1) + 1.
    """
    for automaton, last in _LAST.items():
        times = birth_times(automaton)
        for m in range(1, last.bit_length()):
            size, reach = 2**m, 2 ** (m - 1)
            for n in range(2 * size, last - size + 1, size):
                first = first_difference(times, (size, n), reach + 1, last - n)
                what = f"the least distance at which {automaton} differs round ({size}, {size}, 0) and ({n}, {n}, 0)"
                if n == 2 * size and m > 1:
                    yield what, first, reach + 1
                else:
                    yield f"whether {what} is at most {reach}", first is not None and first <= reach, False


def early() -> Iterator[Case]:
    """The same of births with a delay of 0 or 1; for m < 3 of all."""
    for automaton, last in _LAST.items():
        times = birth_times(automaton)
        born = np.argwhere(times < _NEVER)
        late = born[times[tuple(born.T)] - distances(born) > 1]
        first = times.copy()
        first[tuple(late.T)] = _NEVER
        for m in range(1, last.bit_length()):
            size = 2**m
            for n in range(2 * size, last - size + 1, size):
                differing = first_difference(first if m > 2 else times, (size, n), size // 2, last - n)
                yield f"whether {automaton} differs early round ({size}, {size}, 0) and ({n}, {n}, 0)", differing is not None, False


def sides() -> Iterator[Case]:
    """For 0 < r <= 2^(m-1) the births of generation 2^m + r at distance r from (2^m, 2^m, 0) with z = r."""
    for automaton, last in _LAST.items():
        times = birth_times(automaton)
        for size in (2**m for m in range(1, last.bit_length() - 1)):
            for r in range(1, size // 2 + 1):
                born = np.argwhere(times[size - r : size + r + 1, size - r : size + r + 1, r] == size + r) - r
                found = {(u + v, u - v) for u, v in born.tolist() if abs(u) + abs(v) <= r}
                stated = {(a + 1, b) for a in signed_sums(r - 1) for b in signed_sums(r)}
                yield f"the (u + v, u - v) of births of {automaton} at the side {r} of ({size}, {size}, 0)", found, stated


def away() -> Iterator[Case]:
    """The last births after 2^m that are farther than r from the tips."""
    for automaton, last in _LAST.items():
        for m, stated in zip(range(4, last.bit_length() - 1), _AWAY, strict=False):
            tip = np.array([2**m, 2**m, 0])
            far = []
            for r in range(2 ** (m - 1) + 1):
                cells = np.sort(np.abs(grown(automaton).newborns(2**m + r)), axis=1)[:, ::-1]  # the nearest tip is then this one
                far += [r] if (distances(cells - tip) > r).any() else []
            yield f"the last r at which {automaton} has births away from the tips of {2**m}", far[-1], stated


def births_after_powers() -> Iterator[Case]:
    """As many births at generation 2^m + r as at 2^(m+1) + r for 2^(m-2) <= r <= 2^(m-1), m > 1, not for the next r; in the plane
    z = 0 for 6 <= r < 2^m.
    """
    for automaton, last in _BIRTHS.items():
        table = grow(automaton, last, verify=False, columns=("population", "section z=0")).table
        yield from _births_obey(f"births of {automaton}", *(table[name].tolist() for name in ("population", "section z=0")))


def tables() -> Iterator[Case]:
    """The same of the published tables, the last r at which births differ, and the share of a copy."""
    known = {(automaton, column): _tabled(automaton, column) for column in ("population", "section z=0") for automaton in _LAST}
    for automaton in _LAST:
        population, section = known[automaton, "population"], known[automaton, "section z=0"]
        yield from _births_obey(f"tabled births of {automaton}", population, section)
        births = np.diff(population, prepend=0)
        for m, stated in enumerate(_DIFFERING, 4):
            size, reach = 2**m, 2 ** (m - 1)
            differ = np.flatnonzero(births[size : size + reach + 1] != births[2 * size : 2 * size + reach + 1])
            yield f"the last r at which births of {automaton} after {size} and {2 * size} differ", int(differ[-1]), stated
    for m, shares in _SHARES.items():
        start = 2 ** (m + 1)
        found = []
        for (_, column), sums in known.items():
            first, end = (start // 8, start // 4) if column == "population" else (_REPEATING, start // 2 - 1)
            found.append(f"{(sums[start + end] - sums[start + first - 1]) / (sums[2 * start] - sums[start]):.5f}")
        yield f"the shares of a copy for m = {m}", " ".join(found), shares


def _births_obey(what: str, population: list[int], section: list[int]) -> Iterator[Case]:
    births, in_plane = (np.diff(known, prepend=0).tolist() for known in (population, section))
    for m in range(2, len(births).bit_length()):
        size, to = 2**m, 2 ** (m - 1)
        if 2 * size + to + 1 < len(births):
            repeated = births[size + size // 4 : size + to + 1], births[2 * size + size // 4 : 2 * size + to + 1]
            yield f"{what} after {size}, from {size // 4} to {to}", *repeated
            equal = births[size + to + 1] == births[2 * size + to + 1]
            yield f"whether {what} are as many at {size + to + 1} as at {2 * size + to + 1}", equal, False
        if 3 * size <= len(in_plane):
            repeated = in_plane[size + _REPEATING : 2 * size], in_plane[2 * size + _REPEATING : 3 * size]
            yield f"{what} in z = 0 after {size}, from {_REPEATING}", *repeated


def _tabled(automaton: str, column: str) -> list[int]:
    """Populations by generation."""
    if automaton == "edge":
        with (_TABLES / "edge.csv").open(newline="") as file:
            return [int(row[column]) for row in csv.DictReader(file)]
    lines = (_TABLES / {"population": "b151776.txt", "section z=0": "b147552.txt"}[column]).read_text().splitlines()
    return [int(line.split()[1]) for line in lines if not line.startswith("#")][1:]  # before the seed there is no cell


def knight() -> Iterator[Case]:
    """The births b have c(j + 2) - 3 c(j + 1) + 2 c(j) = 0 with c(j) = b((2^j - 1) 2^K + r), for j > 1, K > 1, r < 2^(K+1)."""
    births = grow("knight", _KNIGHT, verify=False).births.tolist()
    for K in range(2, _KNIGHT.bit_length()):
        size = 2**K
        for j in range(2, _KNIGHT.bit_length()):
            ends = [(2 ** (j + i) - 1) * size for i in range(3)]
            if ends[2] > _KNIGHT:
                break
            window = range(min(2 * size, _KNIGHT + 1 - ends[2]))
            low, middle, high = ([births[end + r] for r in window] for end in ends)
            yield f"births of knight after {ends[2]}", high, [3 * b - 2 * a for a, b in zip(low, middle, strict=True)]


def mirrors() -> Iterator[Case]:
    """No cell of `knight` on four lines is born but the seed, and births are multiples of 8."""
    for n, cells in enumerate(grow("knight", 64, verify=False, cells=True)):
        x, y = np.abs(cells).T
        yield f"births of knight on its mirrors in generation {n}", int((x * y * (x - y) == 0).sum()), int(n == 0)
        yield f"their number modulo 8 in generation {n}", len(cells) % 8, int(n == 0)


def cubic26() -> Iterator[Case]:
    """As many births at generation 3 2^K + r as at 5 2^K + r, for r < 2^K."""
    births = grow("cubic26", _CUBIC26, verify=False).births.tolist()
    for size in (2**K for K in range((_CUBIC26 // 5).bit_length())):
        stop = min(size, _CUBIC26 + 1 - 5 * size)
        yield f"births of cubic26 after {3 * size}", births[3 * size : 3 * size + stop], births[5 * size : 5 * size + stop]


@cache
def births_by_norm() -> NDArray[np.int64]:
    """The births of `cubic26` in each generation, with each norm."""
    found = np.zeros((_CUBES + 1, _CUBES + 1), np.int64)
    for n, cells in enumerate(grow("cubic26", _CUBES, verify=False, cells=True)):
        found[n] = np.bincount(np.abs(cells).max(axis=1), minlength=_CUBES + 1)
    return found


@cache
def births_of_corner(k: int) -> list[int]:
    """The births of one corner that grows in the box below 2^k."""
    size = 2**k

    def inside(cells: NDArray[np.integer]) -> NDArray[np.bool_]:
        return np.asarray(((cells.max(axis=1) > 0) | ~cells.any(axis=1)) & (np.abs(cells).max(axis=1) < size))

    near = tuple(offset for offset in product((-1, 0, 1), repeat=3) if any(offset))
    found: list[int] = grow(Rule(3, near, frozenset({1}), ((0, 0, 0),), universe=inside), 3 * size // 2).births.tolist()
    return found


def corners() -> Iterator[Case]:
    """Of the cells of norm 2^m only the 8 corners are ever born; all births by those of corners in boxes."""
    births = births_by_norm()
    for size in (2**m for m in range(1, _CUBES.bit_length())):
        yield f"births of cubic26 of norm {size}", births[:, size].nonzero()[0].tolist(), [size]
        yield f"their number in generation {size}", int(births[size, size]), 8
    for n in range(2, _CUBES + 1):
        boxes = ((births_of_corner(k), n - 2**k) for k in range(1, n.bit_length()))
        stated = 8 * sum(box[t] for box, t in boxes if t < len(box))
        yield f"births of cubic26 in generation {n}", int(births[n].sum()), stated
    for n in range(1, _CUBES + 1):
        a = 2 ** n.bit_count() * (3 if n % 2 else 2) // 2
        yield f"births of cubic26 of norm {n} in generation {n}", int(births[n, n]), a**3 - (a - 2) ** 3


def settled() -> Iterator[Case]:
    """No births in the cube below 2^m from generation 5 2^(m-2) on; the last ones in boxes and cubes."""
    births = births_by_norm()
    for m in range(2, _CUBES.bit_length()):
        end = 5 * 2 ** (m - 2)
        yield f"births of cubic26 in the cube below {2**m} from {end} on", int(births[end:, : 2**m].sum()), 0
    for k, stated in enumerate(_LAST_IN_BOXES, 1):
        last = int(np.flatnonzero(births_of_corner(k))[-1])
        yield f"the last births of a corner in the box below {2**k}", last, stated
        yield f"whether it is before {3 * 2 ** (k - 1)}", last < 3 * 2 ** (k - 1), True
    for m, stated in _LAST_IN_CUBES.items():
        found = max(2**k + int(np.flatnonzero(births_of_corner(k))[-1]) for k in range(1, m))
        yield f"the last births of cubic26 in the cube below {2**m}", found, stated


if __name__ == "__main__":
    both = "edge to generation {edge}, fcc to {fcc}"
    sys.exit(
        compare(
            {
                f"corners of cubic26, to generation {_CUBES}": corners(),
                f"early births round tips, {both.format_map(_LAST)}": early(),
                "mirrors of knight": mirrors(),
                f"conjecture: births of cubic26, to generation {_CUBIC26}": cubic26(),
                f"conjecture: cubes of cubic26 settle, cubes to {2 ** _CUBES.bit_length()}": settled(),
                f"conjecture: tips, {both.format_map(_LAST)}": tips(),
                f"conjecture: sides of tips, {both.format_map(_LAST)}": sides(),
                f"births away from tips, {both.format_map(_LAST)}": away(),
                f"conjecture: births after powers of two, {both.format_map(_BIRTHS)}": births_after_powers(),
                "conjecture: births after powers of two in the tables, and shares": tables(),
                f"conjecture: windows of knight, to generation {_KNIGHT}": knight(),
            }
        )
    )
