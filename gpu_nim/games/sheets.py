"""Three-heap games sheet by sheet: for each size of the first heap, the P-positions as a function of the second.

A sheet is the plane of all positions with one first heap. Where a move may take any number from the third heap alone,
the row of all positions with the first two heaps given holds at most one P-position: the first that no move leads from
to an earlier one. Each line of moves carries its flags from sheet to sheet, or from row to row, by one shift, so a
position costs constant work and the memory is a plane a line (after Friedman and Landsberg, On the geometry of
combinatorial games, in Games of No Chance 3 (2009), who draw these sheets).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_nim.games.lines import LineGame, unit_lines
from gpu_nim.model.arguments import Whole, integer, vectors
from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import host_memory, require_memory

Vector = tuple[int, ...]
_PLANE_BYTES = 20  # of a place: where its P-position is, and its flags for each line and a few more


def p_position_sheets(size: Whole, lines: Sequence[Vector] = unit_lines(3)) -> NDArray[np.int64]:
    """Where the P-positions of a three-heap game are: int64 (size, size), [x, y] -> z, or -1 where z would be size or
    more.

    A move takes the same number, at least 1, from every heap of one of `lines` (0s and 1s, as in
    `gpu_nim.games.lines.LineGame`); (0, 0, 1) must be among them. The lines of Nim give z = x XOR y.

    >>> p_position_sheets(4).tolist()
    [[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]]
    >>> p_position_sheets(4, [*unit_lines(3), (1, 1, 1)]).tolist()
    [[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]]
    """
    size = integer("size", size, 1, 2**31)
    lines = LineGame(3, size - 1, vectors("lines", lines)).lines  # which refuses what are no lines of three heaps
    require_memory(_PLANE_BYTES * size**2, host_memory(), f"sheets of {size:,} heaps a side")
    if (0, 0, 1) not in lines:
        raise UsageError(f"lines: expected (0, 0, 1), a move on the third heap alone, among them, got {list(lines)}")
    across = {line for line in lines if line[0]}
    within = {line for line in lines if line[:2] == (0, 1)}
    result = np.full((size, size), -1, dtype=np.int64)
    # Flags by [y, z]: an option along this line is a P-position.
    sheets = {line: np.zeros((size, size), dtype=np.bool_) for line in across}
    for x in range(size):
        here = np.zeros((size, size), dtype=np.bool_)
        blocked = np.logical_or.reduce([here, *sheets.values()])
        rows = {line: np.zeros(size, dtype=np.bool_) for line in within}
        for y in range(size):
            reached = np.logical_or.reduce([blocked[y], *rows.values()])
            z = int(reached.argmin())
            if not reached[z]:
                result[x, y] = z
                here[y, z] = True
            for line, row in rows.items():
                rows[line] = _shifted(row | here[y], line[2])
        for line, sheet in sheets.items():
            moved = sheet | here
            if line[1]:
                moved = np.vstack([np.zeros((1, size), dtype=np.bool_), moved[:-1]])
            sheets[line] = _shifted(moved, line[2])
    return result


def _shifted(flags: NDArray[np.bool_], by: int) -> NDArray[np.bool_]:
    """The flags one further along the last axis, if by is 1."""
    if not by:
        return flags
    result = np.zeros_like(flags)
    result[..., 1:] = flags[..., :-1]
    return result
