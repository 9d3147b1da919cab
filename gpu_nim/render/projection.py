"""Projection: cells of four and more coordinates as cubes in space.

Those of four, a, b, c, d, are projected along (1, 1, 1, 1), orthogonally, to

    x = (a + b - c - d) / 2,   y = (a - b + c - d) / 2,   z = (a - b - c + d) / 2:

the four axes go to the diagonals of a cube, and each permutation of them is a symmetry of the cube. What is lost is the total.  For
Nim with four piles a step from parent to child, 1 added to two piles, is a step along x, y or z, so that cubes of a line of descent
share sides. All P-positions of one generation have one total, so none of them covers another, and the 6^m of generation 2^m - 1 are
Sierpinski's octahedron, as the 3^m of three piles are Sierpinski's triangle.

The axes of k > 4 coordinates are spread evenly around the vertical, at one inclination, as three are if (1, 1, 1) is upright:
the i-th goes to (cos(2 pi i / k), sin(2 pi i / k), 1 / sqrt 2), an orthogonal projection at scale sqrt(k / 2), and the height is
the total. It keeps the symmetries of a k-gon, such as those of the chocolate that is cut in six directions.
"""

from dataclasses import replace
from math import cos, pi, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import UsageError
from gpu_nim.render.geometry import Blocks, first_of_each

#: Parts of the side of a cell in which coordinates are rounded that are not on a lattice.
FINE = 16
_NAMES = ("a+b−c−d", "a−b+c−d", "a−b−c+d")
_HADAMARD = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1], [1, 1, 1, 1]])


def frame(coordinates: int) -> NDArray[np.float64]:
    """Return orthogonal directions of equal length in a space of k > 3 coordinates, float64 (k, k), one a row.

    The first three are what is seen: the rows of the projection. The others are what it loses.

    >>> frame(4).tolist()
    [[0.5, 0.5, -0.5, -0.5], [0.5, -0.5, 0.5, -0.5], [0.5, -0.5, -0.5, 0.5], [0.5, 0.5, 0.5, 0.5]]
    >>> np.allclose(frame(6) @ frame(6).T, 3 * np.eye(6))
    True
    """
    if coordinates == 4:
        return _HADAMARD / 2
    turns = [2 * pi * i / coordinates for i in range(coordinates)]
    waves = [[wave(j * turn) for turn in turns] for j in range(1, (coordinates + 1) // 2) for wave in (cos, sin)]
    total = [[1 / sqrt(2)] * coordinates]
    alternating = [[(-1) ** i / sqrt(2) for i in range(coordinates)]] if coordinates % 2 == 0 else []
    return np.array([*waves[:2], *total, *waves[2:], *alternating])


def in_space(blocks: Blocks) -> Blocks:
    """Return an object of k > 3 coordinates as it is drawn in stills, corners and sizes divided by their greatest common divisor.

    Raises:
        UsageError: the cells are too far out.

    >>> from gpu_nim.render.source import blocks_of
    >>> blocks = blocks_of("nim-4:2")
    >>> blocks.cells[1:4].tolist(), blocks.corners[1:4].tolist(), blocks.size
    ([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]], [[-1, 0, 0], [0, -1, 0], [0, 0, -1]], 1)
    """
    assert blocks.cells is not None
    cells, parts, dimension = blocks.cells, blocks.size // blocks.unit, blocks.cells.shape[1]
    reach = int(np.abs(cells).max(initial=0)) + parts
    if reach * dimension * FINE >= 1 << 30:
        raise UsageError(f"{blocks.name} has coordinates too large to be drawn: {reach:,} in {dimension} dimensions")
    middles = (cells + (parts - 1) / 2) @ frame(dimension)[:3].T
    # Coordinates are rounded to parts of a cell: `FINE` are the side of one.
    size = parts * FINE
    corners = np.rint(middles * FINE - (size - FINE) / 2).astype(np.int32)
    unit = int(np.gcd.reduce(corners, axis=None, initial=size))
    note = "; ".join(filter(None, (blocks.note, f"projected from {dimension} coordinates")))
    side = FINE // unit
    names = blocks.coordinates if dimension > 4 else tuple(f"({name})/2" if side == 1 else name for name in _NAMES)
    return replace(blocks, corners=corners // unit, size=size // unit, unit=side, coordinates=names, note=note)


def one_at_each_point(blocks: Blocks) -> Blocks:
    """Return the earliest of the blocks that are projected to one point, with a note of their number."""
    order = np.argsort(blocks.generations, kind="stable")
    first = order[np.sort(first_of_each(blocks.corners[order]))]
    covered = len(blocks) - len(first)
    return blocks.take(first, f"{len(blocks):,} cells at {len(first):,} points" if covered else "")
