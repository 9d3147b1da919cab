"""Inequality games solved on NumPy: outcomes and Grundy values by a sweep over the total of the coordinates.

Every move lowers the total, so the positions of one total are independent and are done at once. The options of a move
are not searched for but propagated: lower coordinate i of a position p by one, which gives u, the greatest position
below p - e_i. Every further lowering of i from p is one from u, so

    options_i(p) = {u} together with options_i(u),

and "is there a P-position among the options of coordinate i" (or the set of their Grundy values, a bit mask) follows
from u in constant work. As long as no other coordinate drops, u is on the same line as p and one flag per line suffices;
where another one drops, u is on a boundary of the game, and the line's flag starts from the boundary's.

Two layouts. `wedge_*` are for three coordinates of which only the middle one is bounded, y <= top(x, z), with the
flags in planes whose skewed layout turns every total into strided views. `inequality_*` are for any inequalities, with a
flag for each position and coordinate, found by index.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import LinearBounds
from gpu_nim.backends.shared.games import Box, Wedge, bit_of, grundy_dtype, mex
from gpu_nim.model.arrays import Ints
from gpu_nim.model.work import OnStep, host_memory, no_progress, require_memory

_CHUNK = 1 << 16  # cells of the box that are processed at once


def wedge_outcomes(top: Ints, progress: OnStep = no_progress) -> Ints:
    """The P-positions (x, y, z), 0 <= y <= top[x, z], as int64 (n, 3) in lexicographic order.

    Lowering x to u lowers y to at most top[u, z], lowering z likewise. `top` is int64 (X, Z), non-negative, and must decrease
    along neither axis.

    >>> wedge_outcomes(np.zeros((2, 2), dtype=np.int64)).tolist()
    [[0, 0, 0], [1, 0, 1]]
    """
    sweep = _WedgeSweep(top, progress)
    x_lines, y_lines, z_lines = (np.zeros(shape, dtype=np.bool_) for shape in sweep.line_shapes())
    found = []
    for total, y_range, z_range, inside in sweep:
        x_view = x_lines[y_range, z_range]
        y_view = y_lines[sweep.reversed_rows(total, y_range), z_range]
        z_view = z_lines[y_range, sweep.reversed_rows(total, z_range)]
        p = inside & ~(x_view | y_view | z_view)
        x_view |= p
        y_view |= p
        z_view |= p
        y, z = np.nonzero(p)
        y += y_range.start
        z += z_range.start
        found.append(np.stack([total - y - z, y, z], axis=1))
        sweep.start_lines(total, x_lines, z_lines)
    result = np.concatenate(found)
    return result[np.lexsort(result.T[::-1])]


def wedge_grundy(top: Ints, progress: OnStep = no_progress) -> NDArray[np.signedinteger]:
    """The Grundy values of the positions (x, y, z), 0 <= y <= top[x, z], an array [x, y, z] with -1 where y > top[x, z].

    Moves and `top` as in `wedge_outcomes`. The dtype is int16, or int32 where a position has more than 32766 moves.

    >>> wedge_grundy(np.array([[0, 0], [0, 1]]))[:, 0].tolist()
    [[0, 1], [1, 0]]
    """
    sweep = _WedgeSweep(top, progress)
    dtype = grundy_dtype(sweep.last)
    result = np.full(sweep.shape, -1, dtype=dtype)
    lines = [np.zeros((1, *shape), dtype=np.uint64) for shape in sweep.line_shapes()]
    largest = -1
    for total, y_range, z_range, inside in sweep:
        if 64 * len(lines[0]) <= largest + 1:  # a total raises the largest value by 1 at most
            lines = [np.concatenate([line, np.zeros_like(line[:1])]) for line in lines]
        x_lines, y_lines, z_lines = lines
        y, z = np.nonzero(inside)
        y += y_range.start
        z += z_range.start
        s, w = total - y, total - z
        values = mex(x_lines[:, y, z] | y_lines[:, s, z] | z_lines[:, y, w])
        result[s - z, y, z] = values
        largest = max(largest, int(values.max(initial=-1)))
        word, bit = bit_of(values)
        x_lines[word, y, z] |= bit
        y_lines[word, s, z] |= bit
        z_lines[word, y, w] |= bit
        for word_x, word_z in zip(x_lines, z_lines, strict=True):
            sweep.start_lines(total, word_x, word_z)
    return result


class _WedgeSweep(Wedge):
    """The order in which a wedge is swept, and the layout of the flags of its lines.

    x_lines[y, z], y_lines[x + z, z] and z_lines[y, x + y]: at total t, x + z = t - y and x + y = t - z, so that the
    flags of all positions of a total, as a plane [y, z], are three views, two of them with rows or columns in reverse.
    """

    def __init__(self, top: Ints, progress: OnStep) -> None:
        super().__init__(top)
        self._progress = progress

    def line_shapes(self) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
        return (self.ny, self.nz), (self.width, self.nz), (self.ny, self.nx + self.ny - 1)

    def __iter__(self) -> Iterator[tuple[int, slice, slice, NDArray[np.bool_]]]:
        """Each total with a range of y and of z that holds its positions, and which of that plane [y, z] are positions."""
        skew = np.full((self.width, self.nz), -1, dtype=np.int32)  # top by [x + z, z], -1 outside
        columns = np.arange(self.nz)
        for x in range(self.nx):
            skew[x + columns, columns] = self.top[x]
        self._x_starts = _line_starts(self.top, self.last)
        self._z_starts = _line_starts(self.top.T, self.last)
        done, positions = 0, self.positions
        for total, first, stop in self.sweep():
            y_range, z_range = slice(first, stop), slice(max(0, total - stop - self.nx + 2), min(self.nz, total - first + 1))
            inside = skew[self.reversed_rows(total, y_range), z_range] >= np.arange(first, stop, dtype=np.int32)[:, None]
            yield total, y_range, z_range, inside
            done += int(np.count_nonzero(inside))
            self._progress("position", done, positions)

    @staticmethod
    def reversed_rows(total: int, rows: slice) -> slice:
        """The rows total - r for r in `rows`, in that order."""
        stop = total - rows.stop
        return slice(total - rows.start, stop if stop >= 0 else None, -1)

    def start_lines(self, total: int, x_lines: NDArray[Any], z_lines: NDArray[Any]) -> None:
        """Copy the flags of boundary positions of this total to the lines that begin one step beyond them."""
        source, to, z = self._x_starts[total]
        x_lines[to, z] = x_lines[source, z]
        source, to, x = self._z_starts[total]
        z_lines[to, x + to] = z_lines[source, x + source]


def _line_starts(top: Ints, last: int) -> list[tuple[Ints, Ints, Ints]]:
    """For each total: the lines along axis 0 that begin one step beyond the boundary position (u, top[u, v], v) of that
    total.

    Given as (y of the boundary position, y of the line, v). From such a line's first position the only way on is to
    drag y down.
    """
    u, v = np.nonzero(top[1:] > top[:-1])
    source = top[u, v]
    lines = top[u + 1, v] - source
    ends = np.cumsum(lines)
    to = np.arange(int(lines.sum())) - np.repeat(ends - lines - source - 1, lines)
    total = np.repeat(u + source + v, lines)
    order = np.argsort(total, kind="stable")
    cuts = np.cumsum(np.bincount(total, minlength=last + 1))[:-1]
    columns = (np.repeat(source, lines)[order], to[order], np.repeat(v, lines)[order])
    return list(zip(*(np.split(column, cuts) for column in columns), strict=True))


def inequality_outcomes(bounds: LinearBounds, limits: Ints, progress: OnStep = no_progress) -> Ints:
    """The P-positions of an inequality game with 0 <= x <= limits, int64 (n, k) in lexicographic order.

    >>> chocolate = LinearBounds(*map(np.array, ([1], [[1, 0, 1]], [0], [3])))  # 3y <= x + z
    >>> inequality_outcomes(chocolate, np.array([3, 2, 3])).tolist()
    [[0, 0, 0], [1, 0, 1], [2, 0, 2], [2, 1, 3], [3, 0, 3], [3, 1, 2]]
    """
    game = _Inequalities(bounds, limits, progress)
    flag = np.dtype(np.uint8 if game.k <= 8 else np.uint64)
    game.require(flag.itemsize)
    # Bit i: one of the options of coordinate i is a P-position.  A P-position has no bit.
    flags = np.zeros(game.cells, dtype=flag)
    everything = game.positions()
    for level in game.by_total(everything):
        for i, movers, reached in game.steps_down(level):
            there = flags[reached]
            wins = (there == 0) | (there >> flag.type(i) & flag.type(1)).astype(bool)
            flags[level[movers]] |= wins.astype(flag) << flag.type(i)
    p = everything[flags[everything] == 0]
    return np.stack(np.unravel_index(p, game.shape), axis=1).astype(np.int64, copy=False)


def inequality_grundy(bounds: LinearBounds, limits: Ints, progress: OnStep = no_progress) -> NDArray[np.signedinteger]:
    """The Grundy values of an inequality game with 0 <= x <= limits: an array over that box, -1 where no position is.

    >>> bar = LinearBounds(*map(np.array, ([0], [[0, 1]], [0], [2])))  # y <= floor(z / 2)
    >>> inequality_grundy(bar, np.array([2, 4]))[:, 4].tolist()
    [4, 5, 6]
    """
    game = _Inequalities(bounds, limits, progress)
    dtype = grundy_dtype(game.last)
    words = game.last // 64 + 1
    # Their indices, twice, and for each coordinate a bit for each value there can be: about half are needed, and held twice.
    game.require(np.dtype(dtype).itemsize + 30 + 8 * game.k * words)
    everything = game.positions()
    number = np.full(game.cells, -1, dtype=np.int64)
    number[everything] = np.arange(len(everything))
    result = np.full(game.cells, -1, dtype=dtype)
    # seen[i]: the Grundy values of the options of coordinate i, as bits.
    seen = np.zeros((game.k, 1, len(everything)), dtype=np.uint64)
    largest = -1
    for level in game.by_total(everything):
        if 64 * seen.shape[1] <= largest + 1:
            seen = np.concatenate([seen, np.zeros_like(seen[:, :1])], axis=1)
        rows = number[level]
        for i, movers, reached in game.steps_down(level):
            there, here = number[reached], rows[movers]
            seen[i][:, here] = seen[i][:, there]
            word, bit = bit_of(result[reached])
            seen[i][word, here] |= bit
        values = mex(np.bitwise_or.reduce(seen[:, :, rows], axis=0))
        result[level] = values
        largest = max(largest, int(values.max(initial=-1)))
    return result.reshape(game.shape)


class _Inequalities(Box):
    """The positions 0 <= x <= limits that satisfy the inequalities; a position is known by its index in the box."""

    def __init__(self, bounds: LinearBounds, limits: Ints, progress: OnStep) -> None:
        super().__init__(limits.tolist())
        self.k = len(limits)
        self._progress = progress
        self._bounds = [
            (int(target), [(j, row[j]) for j in np.flatnonzero(row).tolist()], constant, denominator)
            for target, row, constant, denominator in zip(*bounds, strict=True)
        ]

    def positions(self) -> Ints:
        """The indices of all positions, in order."""
        kept = []
        for start in range(0, self.cells, _CHUNK):
            index = np.arange(start, min(start + _CHUNK, self.cells))
            vectors = np.array(np.unravel_index(index, self.shape))
            allowed = np.ones(len(index), dtype=bool)
            for target, bound in self._evaluate(vectors):
                allowed &= vectors[target] <= bound
            kept.append(index[allowed])
        return np.concatenate(kept)

    def by_total(self, positions: Ints) -> Iterator[Ints]:
        """The indices of the positions of each total in turn."""
        total = np.empty(len(positions), dtype=np.int64)
        for start in range(0, len(positions), _CHUNK):
            part = slice(start, start + _CHUNK)
            total[part] = sum(np.unravel_index(positions[part], self.shape))
        ordered = positions[np.argsort(total, kind="stable")]
        ends = np.cumsum(np.bincount(total))
        del total
        for start, stop in pairwise([0, *ends.tolist()]):
            yield ordered[start:stop]
            self._progress("position", stop, len(ordered))

    def require(self, a_cell: int) -> None:
        """Raise InsufficientMemoryError where `a_cell` bytes of each, an index and its total sorted, and a block do not fit."""
        needed = (a_cell + 34) * self.cells + 4 * 8 * self.k * min(self.cells, _CHUNK)
        require_memory(needed, host_memory(), f"solving {self}")

    def steps_down(self, level: Ints) -> Iterator[tuple[int, Ints, Ints]]:
        """For each coordinate i: which of the positions can lower it, and the index that lowering it by one leads
        to.
        """
        vectors = np.array(np.unravel_index(level, self.shape))
        for i in range(self.k):
            movers = np.flatnonzero(vectors[i])
            below = vectors[:, movers]
            below[i] -= 1
            alive = self._lower(below)
            if not alive.all():
                movers, below = movers[alive], below[:, alive]
            if len(movers):
                yield i, movers, np.ravel_multi_index(tuple(below), self.shape)

    def _evaluate(self, vectors: Ints) -> Iterator[tuple[int, Ints]]:
        values = [*vectors]
        for target, terms, constant, denominator in self._bounds:
            bound = np.full(vectors.shape[1], constant)
            for j, numerator in terms:
                bound += values[j] if numerator == 1 else numerator * values[j]
            if denominator != 1:
                bound //= denominator
            if target < self.k:
                yield target, bound
            else:
                values[target:] = [np.maximum(bound, other) for other in values[target:]] or [bound]

    def _lower(self, vectors: Ints) -> NDArray[np.bool_]:
        """Lower each column to the greatest position below it, in place; False where there is none.

        A bound below 0 becomes -1, and the column no position: the downward sweeps then stop at -1 at the latest.
        """
        while True:
            before = vectors.copy()
            for target, bound in self._evaluate(vectors):
                np.minimum(vectors[target], np.maximum(bound, -1), out=vectors[target])
            if np.array_equal(before, vectors):
                return np.asarray((vectors >= 0).all(axis=0))
