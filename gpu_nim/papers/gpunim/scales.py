"""Growths compared with themselves at another power of two; docs/open-problems/scales.md has what is proved.

A tip of `edge` and `fcc` is a cell (n, n, 0), born at generation n; the distance of a cell from it is that of `distances`.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.cell_sources import split
from gpu_nim.automata.growth_process import GrowthProcess, grow
from gpu_nim.backends.selection import select
from gpu_nim.model.rule import Cell
from gpu_nim.papers.catalogue import SOURCES, Cases, Entry, Reach
from gpu_nim.papers.edge_growth import births_by_distance, distances, of_both, reach_of, signed_sums

SCALES = SOURCES["scales"]
_AUTOMATA = ("edge", "fcc")
_REPEATING = 6  # from so many generations after a power of two on, births in the plane z = 0 repeat
_CORNER = 47  # the last generation up to which corners are grown literally
_CUBES = Reach(64, 511, 45)  # one growth for both statements


def _birth_times(automaton: str, last: int) -> NDArray[np.uint16]:
    """The generations in which cells of the octant with a small z are born, up to a last one; the largest number for others."""
    times = np.full((last + 1, last + 1, last // 4 + 2), np.iinfo(np.uint16).max, np.uint16)
    for batch in GrowthProcess(automaton, last, select("numpy"), cells=True, verify=False):
        for generation, cells in split(batch):
            kept = cells[(cells >= 0).all(axis=1) & (cells[:, 2] < times.shape[2])]
            times[tuple(kept.T)] = generation
    return times


def _first_difference(times: NDArray[np.uint16], tips: tuple[int, int], radius: int, last: int) -> int | None:
    """The least distance, up to a radius, from two tips at which births differ, up to `last` generations after the tips."""
    boxes = [times[n - radius : n + radius + 1, n - radius : n + radius + 1, : radius + 1].astype(np.int32) - n for n in tips]
    differing = np.argwhere(np.minimum(boxes[0], last + 1) != np.minimum(boxes[1], last + 1)) - (radius, radius, 0)
    return min((each for each in distances(differing).tolist() if each <= radius), default=None)


def _births(automaton: str, last: int) -> list[int]:
    batches = GrowthProcess(automaton, last, select("auto"), cells=False, verify=False)
    return [births for batch in batches for births in batch.births.tolist()]


def corner_births(size: int, last: int | None = None) -> list[int]:
    """Return the births of `cubic26` from (0, 0, 0) where no other cell is born but those with a coordinate above 0 and all below
    `size` in absolute value, up to a generation; without one, as long as there are any.

    >>> corner_births(4), corner_births(8, 5)
    ([1, 19, 10, 103], [1, 19, 10, 103, 13, 127])
    """
    touched: set[Cell] = {(0, 0, 0)}
    newborns = [*touched]
    births: list[int] = []
    while newborns and (last is None or len(births) <= last):
        births.append(len(newborns))
        near = Counter((x + a, y + b, z + c) for x, y, z in newborns for a, b, c in product((-1, 0, 1), repeat=3))
        fitting = [cell for cell, times in near.items() if times == 1 and cell not in touched]
        newborns = [cell for cell in fitting if max(cell) > 0 and max(map(abs, cell)) < size]
        touched |= near.keys()
    return births


@Entry(SCALES, "scales-tips", reach=Reach(128, 1024, 50), conjecture=True)
def tips(upto: int) -> Cases:
    """In `edge` and `fcc`, for every multiple n of 2^m, m > 0, the cells at distance up to 2^(m-1) from (n, n, 0) are born as many
    generations after n as those round (2^m, 2^m, 0) after 2^m; for n = 2^(m+1), m > 1, not all at distance 2^(m-1) + 1
    """
    yield f"{of_both(upto)}, to 2^m after n or further"
    for automaton in _AUTOMATA:
        last = reach_of(automaton, upto)
        times = _birth_times(automaton, last)
        for m in range(1, last.bit_length()):
            size, reach = 2**m, 2 ** (m - 1)
            for n in range(2 * size, last - size + 1, size):
                first = _first_difference(times, (size, n), reach + 1, last - n)
                what = f"the least distance at which {automaton} differs round ({size}, {size}, 0) and ({n}, {n}, 0)"
                if n == 2 * size and m > 1:
                    yield what, first, reach + 1
                else:
                    yield f"whether {what} is at most {reach}", first is not None and first <= reach, False


@Entry(SCALES, "scales-tips-early", reach=Reach(64, 512, 12))
def early(upto: int) -> Cases:
    """In `edge` and `fcc`, for every multiple n of 2^m, m > 0, the births with a delay of 0 or 1 at distance up to 2^(m-1) from
    (n, n, 0) come as many generations after n as those round (2^m, 2^m, 0) after 2^m; for m < 3 all births do
    """
    yield f"{of_both(upto)}, to 2^m after n or further"
    for automaton in _AUTOMATA:
        last = reach_of(automaton, upto)
        times = _birth_times(automaton, last)
        never = np.iinfo(times.dtype).max
        born = np.argwhere(times < never)
        late = born[times[tuple(born.T)] - distances(born) > 1]
        first = times.copy()
        first[tuple(late.T)] = never
        for m in range(1, last.bit_length()):
            size = 2**m
            for n in range(2 * size, last - size + 1, size):
                differing = _first_difference(first if m > 2 else times, (size, n), size // 2, last - n)
                yield f"whether {automaton} differs early round ({size}, {size}, 0) and ({n}, {n}, 0)", differing is not None, False


@Entry(SCALES, "scales-sides", reach=Reach(128, 1024, 50), conjecture=True)
def sides(upto: int) -> Cases:
    """In `edge` and `fcc`, for 0 < r <= 2^(m-1), the births of generation 2^m + r at distance r from (2^m, 2^m, 0) with z = r are
    those for which x + y - 2^(m+1) - 1 is a signed sum of the powers of 2 in r - 1, and x - y one of those in r
    """
    yield of_both(upto)
    for automaton in _AUTOMATA:
        last = reach_of(automaton, upto)
        times = _birth_times(automaton, last)
        for size in (2**m for m in range(1, last.bit_length() - 1)):
            for r in range(1, size // 2 + 1):
                born = np.argwhere(times[size - r : size + r + 1, size - r : size + r + 1, r] == size + r) - r
                found = {(u + v, u - v) for u, v in born.tolist() if abs(u) + abs(v) <= r}
                stated = {(a + 1, b) for a in signed_sums(r - 1) for b in signed_sums(r)}
                yield f"the (u + v, u - v) of births of {automaton} at the side {r} of ({size}, {size}, 0)", found, stated


@Entry(SCALES, "scales-births", reach=Reach(256, 2048, 110), conjecture=True)
def after_powers_of_two(upto: int) -> Cases:
    """`edge` and `fcc` have as many births at generation 2^m + r as at 2^(m+1) + r for 2^(m-2) <= r <= 2^(m-1), m > 1, not for
    the next r; in the plane z = 0, for 6 <= r < 2^m
    """
    yield of_both(upto)
    for automaton in _AUTOMATA:
        last = reach_of(automaton, upto)
        table = grow(automaton, last, backend="auto", verify=False, columns=("births", "section z=0")).table
        births = [int(value) for value in table["births"]]
        section = np.diff(table["section z=0"], prepend=0).tolist()
        for m in range(2, last.bit_length()):
            size, to = 2**m, 2 ** (m - 1)
            if 2 * size + to < last:
                what = f"births of {automaton} after {size}, from {size // 4} to {to}"
                yield what, births[size + size // 4 : size + to + 1], births[2 * size + size // 4 : 2 * size + to + 1]
                equal = births[size + to + 1] == births[2 * size + to + 1]
                yield f"whether {automaton} has as many births at {size + to + 1} as at {2 * size + to + 1}", equal, False
            if 3 * size <= last + 1:
                what = f"births of {automaton} in z = 0 after {size}, from {_REPEATING}"
                yield what, section[size + _REPEATING : 2 * size], section[2 * size + _REPEATING : 3 * size]


@Entry(SCALES, "scales-knight", reach=Reach(1024, 8192, 25), conjecture=True)
def knight(upto: int) -> Cases:
    """The births b of `knight` have c(j + 2) - 3 c(j + 1) + 2 c(j) = 0 with c(j) = b((2^j - 1) 2^K + r), for j > 1, K > 1 and
    r < 2^(K+1)
    """
    births = _births("knight", upto)
    yield f"generations up to {upto}"
    for K in range(2, upto.bit_length()):
        size = 2**K
        for j in range(2, upto.bit_length()):
            ends = [(2 ** (j + i) - 1) * size for i in range(3)]
            window = range(min(2 * size, upto + 1 - ends[2]))
            low, middle, high = ([births[end + r] for r in window] for end in ends)
            yield f"births of knight after {ends[2]}", high, [3 * b - 2 * a for a, b in zip(low, middle, strict=True)]


@Entry(SCALES, "scales-cubic26", reach=Reach(160, 1024, 26), conjecture=True)
def cubic26(upto: int) -> Cases:
    """`cubic26` has as many births at generation 3 2^K + r as at 5 2^K + r, for r < 2^K"""
    births = _births("cubic26", upto)
    yield f"generations up to {upto}"
    for K in range(upto.bit_length()):
        size = 2**K
        stop = max(0, min(size, upto + 1 - 5 * size))
        yield f"births of cubic26 after {3 * size}", births[3 * size : 3 * size + stop], births[5 * size : 5 * size + stop]


@Entry(SCALES, "scales-cubic26-settles", reach=_CUBES, conjecture=True)
def cubes_settle(upto: int) -> Cases:
    """`cubic26` has no births in the cube |x|, |y|, |z| < 2^m, m > 1, from generation 5 2^(m-2) on"""
    births = births_by_distance("cubic26", upto)
    yield f"generations up to {upto}"
    for m in range(2, upto.bit_length()):
        settled = 5 * 2 ** (m - 2)
        yield f"births of cubic26 in the cube below {2**m} from {settled} on", int(births[settled:, : 2**m].sum()), 0


@Entry(SCALES, "scales-cubic26-corners", reach=_CUBES)
def corners(upto: int) -> Cases:
    """Of the cells of `cubic26` with largest coordinate 2^m, m > 0, only the 8 corners are ever born; the births of generation
    n > 1 are 8 times the sum over 2 <= 2^k <= n of those at n - 2^k of one corner that grows in the box below 2^k
    """
    births = births_by_distance("cubic26", upto)
    boxes = {2**k: corner_births(2**k, min(upto, _CORNER) - 2**k) for k in range(1, min(upto, _CORNER).bit_length())}
    yield f"generations up to {upto}, of corners up to {_CORNER}"
    for m in range(1, upto.bit_length()):
        size = 2**m
        yield f"births of cubic26 with largest coordinate {size}", births[:, size].nonzero()[0].tolist(), [size]
        yield f"their number in generation {size}", int(births[size, size]), 8
    for n in range(2, min(upto, _CORNER) + 1):
        stated = 8 * sum(box[n - size] for size, box in boxes.items() if 0 <= n - size < len(box))
        yield f"births of cubic26 in generation {n}", int(births[n].sum()), stated
