"""Wedges solved by loops that numba compiles, with the flags of lines of `gpu_nim.backends.numpy.games`.

A slice of one x is swept at a time. A line along x is kept from slice to slice, one along z from z to z of a slice, and one along y
is swept by the innermost loop. Lines along x and z begin one step beyond a boundary position, with what is known there.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.numba import compiled
from gpu_nim.backends.shared.games import Wedge, grundy_dtype
from gpu_nim.model.arrays import Ints
from gpu_nim.model.work import OnStep

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def wedge_outcomes(top: Ints, progress: OnStep) -> Ints:
    """The P-positions of a wedge, as `gpu_nim.backends.numpy.games.wedge_outcomes` returns them."""
    wedge = Wedge(top)
    x_lines = np.zeros((wedge.nz, wedge.ny), np.bool_)
    found = np.empty(top.shape, np.int64)
    for x in range(wedge.nx):
        _outcomes(x, top, x_lines, np.zeros(wedge.ny, np.bool_), found[x])
        progress("position", int(top[: x + 1].sum()) + (x + 1) * wedge.nz, wedge.positions)
    x_of, z_of = np.nonzero(found >= 0)
    result = np.stack((x_of, found[x_of, z_of], z_of), axis=1)
    return result[np.lexsort(result.T[::-1])]


def wedge_grundy(top: Ints, progress: OnStep) -> NDArray[np.signedinteger]:
    """The Grundy values of a wedge, as `gpu_nim.backends.numpy.games.wedge_grundy` returns them."""
    wedge = Wedge(top)
    dtype = grundy_dtype(wedge.last)
    x_lines = np.zeros((wedge.nz, wedge.ny, 1), np.uint64)
    result = np.full(wedge.shape, -1, dtype=dtype)
    largest = -1
    for x in range(wedge.nx):
        # The slice's options of a position may raise the largest value by as many as there are.
        more = (largest + wedge.ny + wedge.nz) // 64 + 1 - x_lines.shape[2]
        if more > 0:
            x_lines = np.concatenate((x_lines, np.zeros((*x_lines.shape[:2], more), np.uint64)), axis=2)
        largest = max(largest, _grundy(x, top, x_lines, np.zeros(x_lines.shape[1:], np.uint64), result[x]))
        progress("position", int(top[: x + 1].sum()) + (x + 1) * wedge.nz, wedge.positions)
    return result


@compiled
def _begun(x: int, z: int, top: Any, x_lines: Any, z_lines: Any) -> Any:
    """Begin the lines that start at (x, z) with what is known at the boundary positions before them; return the largest y."""
    last = top[x, z]
    if x > 0:
        x_lines[z, top[x - 1, z] + 1 : last + 1] = x_lines[z, top[x - 1, z]]
    if z > 0:
        z_lines[top[x, z - 1] + 1 : last + 1] = z_lines[top[x, z - 1]]
    return last


@compiled
def _outcomes(x: int, top: Any, x_lines: Any, z_lines: Any, found: Any) -> None:
    """Write the y of the P-position of each line along y of a slice, or -1; there is one at most.

    Args:
        x: the slice; those before it are done.
        top: the largest y of each (x, z), int64.
        x_lines: whether each line along x, [z, y], has a P-position; bool.
        z_lines: likewise of lines along z, [y]; nothing yet.
        found: int64 (Z,).
    """
    for z in range(top.shape[1]):
        last = _begun(x, z, top, x_lines, z_lines)
        found[z] = -1
        for y in range(last + 1):
            if not (x_lines[z, y] or z_lines[y]):
                x_lines[z, y] = z_lines[y] = True
                found[z] = y
                break


@compiled
def _grundy(x: int, top: Any, x_lines: Any, z_lines: Any, values: Any) -> int:
    """Write the Grundy values of a slice, [y, z], and return the largest.

    Args:
        x: as for `_outcomes`.
        top: as for `_outcomes`.
        x_lines: the Grundy values on each line along x, [z, y], as bits of words, with room for those of this slice; uint64.
        z_lines: likewise of lines along z, [y]; none yet.
        values: of the slice.
    """
    largest = -1
    words = x_lines.shape[2]
    for z in range(top.shape[1]):
        last = _begun(x, z, top, x_lines, z_lines)
        y_line = np.zeros(words, np.uint64)
        for y in range(last + 1):
            known, word = _ALL, -1
            while known == _ALL:
                word += 1
                known = y_line[word] | x_lines[z, y, word] | z_lines[y, word]
            bit, index = np.uint64(1), 0
            while known & bit:
                bit, index = bit << np.uint64(1), index + 1
            values[y, z] = 64 * word + index
            largest = max(largest, 64 * word + index)
            y_line[word] |= bit
            x_lines[z, y, word] |= bit
            z_lines[y, word] |= bit
    return largest
