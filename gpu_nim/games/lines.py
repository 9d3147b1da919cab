"""Grundy values of games played along lines, a position's in the time of a few words and not of its options.

A move of `gpu_nim.games.impartial.LineGame` goes down along one of a few lines through the position.  So a set of bits for each
line, the values met on it so far, is all that has to be known: the mex is the lowest bit that is 0 in all of a position's lines.
"""

from math import prod

import numpy as np
from numpy.typing import NDArray

from gpu_nim.games.impartial import LineGame
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.progress import OnStep, unseen

U64 = NDArray[np.uint64]


def line_grundy(game: LineGame, *, with_pass: bool = False, on_step: OnStep = unseen) -> NDArray[np.int64]:
    """Return the Grundy values of a line game over the box of its positions, int64.

    with_pass: of the positions of Nim in which a pass may still be taken, once and not from the position without counters; the game
    must be Nim, for what is left after it are nim-sums.  on_step: called with how many positions are done.

    Raises InsufficientMemoryError where the values would not fit.

    >>> from gpu_nim.games.impartial import Nim, Wythoff
    >>> line_grundy(Wythoff(3)).tolist()
    [[0, 1, 2, 3], [1, 2, 0, 4], [2, 0, 1, 5], [3, 4, 5, 6]]
    >>> line_grundy(Nim(2, 2), with_pass=True).tolist()
    [[0, 2, 1], [2, 1, 0], [1, 0, 2]]
    """
    shape = (game.largest + 1,) * game.piles
    words = (len(game.lines) * game.largest + 1) // 64 + 1  # a position has so many options, and the pass
    require_memory(prod(shape) * (24 + 16 * game.piles + 8 * len(game.lines)), host_memory(), f"solving {prod(shape):,} positions")
    vectors = np.indices(shape).reshape(game.piles, -1)
    totals = vectors.sum(axis=0)
    order = np.argsort(totals, kind="stable")  # a move lowers the total, so that those of one total do not know of each other
    stops = np.cumsum(np.bincount(totals))
    line_of = [_lines(vectors, np.array(line), shape) for line in game.lines]
    met = [np.zeros((int(lines.max()) + 1, words), dtype=np.uint64) for lines in line_of]
    after = np.bitwise_xor.reduce(vectors, axis=0) if with_pass else None
    values = np.zeros(prod(shape), dtype=np.int64)
    start = 0
    for total, stop in enumerate(stops.tolist()):
        here = order[start:stop]
        known = np.bitwise_or.reduce([table[lines[here]] for table, lines in zip(met, line_of, strict=True)])
        if after is not None and total:
            _add(known, np.arange(len(here)), after[here])
        values[here] = _mex(known)
        for table, lines in zip(met, line_of, strict=True):
            _add(table, lines[here], values[here])
        on_step("position", stop, len(values))
        start = stop
    return values.reshape(shape)


def _lines(vectors: NDArray[np.int64], line: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.intp]:
    """Number the lines of one direction, and return that of each position: it is known by where the line enters the box."""
    steps = vectors[line == 1].min(axis=0)
    entry = np.ravel_multi_index(tuple(vectors - steps * line[:, None]), shape)
    return np.asarray(np.cumsum(np.bincount(entry, minlength=len(entry)) > 0)[entry] - 1, dtype=np.intp)


def _add(sets: U64, rows: NDArray[np.intp], values: NDArray[np.int64]) -> None:
    sets[rows, values >> 6] |= np.uint64(1) << (values & 63).astype(np.uint64)


def _mex(sets: U64) -> NDArray[np.int64]:
    """The least number that is not in each set."""
    word = np.argmax(~sets != 0, axis=1)
    free = ~sets[np.arange(len(sets)), word]
    return np.asarray(64 * word + np.bitwise_count((free & -free) - np.uint64(1)), dtype=np.int64)
