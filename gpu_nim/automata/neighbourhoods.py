"""The neighbourhoods of the catalogue: which offsets lead from a cell to the cells that it touches."""

from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

Offsets = tuple[tuple[int, ...], ...]


def steps(dimension: int, *changed: int) -> Offsets:
    """Return the offsets in {-1, 0, 1}^d in which one of these numbers of coordinates changes.

    >>> len(steps(3, 1)), len(steps(3, 2)), len(steps(3, 1, 2, 3))  # faces, edges, all of a cube's neighbours
    (6, 12, 26)
    """
    return tuple(o for o in product((-1, 0, 1), repeat=dimension) if sum(map(abs, o)) in changed)


#: The six neighbours in the hexagonal lattice, whose cell (x, y) stands for x (1, 0) + y (1/2, sqrt(3)/2).
HEXAGON: Offsets = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1))

#: The eight moves of a knight.
KNIGHT: Offsets = tuple(o for o in product((-2, -1, 1, 2), repeat=2) if abs(o[0]) != abs(o[1]))


def triangles(cells: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return whether points of the hexagonal lattice are triangles.

    Without every third point, x - y = 0 mod 3, each remaining point has three neighbours: the honeycomb, whose points are the
    triangles of the tiling and whose edges are the triangles' sides.

    >>> triangles(np.array([[1, 0], [1, 1], [0, 1]])).tolist()
    [True, False, True]
    """
    x, y = _columns(cells)
    kept: NDArray[np.bool_] = (x - y) % 3 != 0
    return kept


def not_south(cells: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return whether cells of the square lattice are outside of the south branch, y < 0 and y <= -|x|.

    [NF] section 5.4 forbids y < -|x| only; then (1, -1) and (-1, -1) are born at generation 2, which have no P-position.

    >>> not_south(np.array([[0, 0], [1, -1], [2, -1]])).tolist()
    [True, False, True]
    """
    x, y = _columns(cells)
    return ~((y < 0) & (y <= -abs(x)))


def adding_to(piles: int, *sizes: int) -> Offsets:
    """Return the offsets that add 1 to so many of the piles.

    >>> adding_to(3, 2), len(adding_to(4, 2, 4))
    (((1, 1, 0), (1, 0, 1), (0, 1, 1)), 7)
    """
    chosen = (each for size in sizes for each in combinations(range(piles), size))
    return tuple(tuple(int(pile in each) for pile in range(piles)) for each in chosen)


def equal_trailing_ones(cells: NDArray[np.integer], offset: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return whether the two piles that `offset` adds to have equally many trailing 1 bits: then the sum is a child [NF Lemma 23].

    >>> equal_trailing_ones(np.array([[0, 1, 1], [1, 2, 3]]), (0, 1, 1)).tolist()
    [True, False]
    """
    first, second = (pile for pile, step in enumerate(offset) if step)
    whole = cells.astype(np.int64)
    ends = whole ^ (whole + 1)  # the trailing 1s and the 0 before them, all set
    equal: NDArray[np.bool_] = ends[:, first] == ends[:, second]
    return equal


def _columns(cells: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The coordinates of cells in the plane, in arrays of the cells' own library, wide enough not to overflow."""
    whole = cells.astype(np.int64)
    return whole[:, 0], whole[:, 1]
