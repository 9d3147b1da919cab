"""What the catalogue's entries are made of: neighbourhoods and universes, and proved formulas of births and of cells.

A neighbourhood says which offsets lead from a cell to the cells that it touches. Growths are compared with the formulas; nothing
here grows anything.  Births functions return the births of a generation; cell functions map cells (N, d) and generations (int64,
(N,)) to bool (N,), whether each cell is born at that generation.  If a generation has the right number of cells, all distinct and
all passing the test, it is correct.
"""

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


def nim_sum_is_zero(cells: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return whether each position (N, k) is a P-position of Nim: its nim-sum is zero (Bouton's theorem).

    >>> nim_sum_is_zero(np.array([[1, 2, 3], [1, 1, 1]])).tolist()
    [True, False]
    """
    return np.asarray(np.bitwise_xor.reduce(cells, axis=1) == 0)


def p_positions_by_total(cells: NDArray[np.integer], generations: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each position (N, k) is a P-position of Nim whose total is twice the generation [NF Theorems 19, 29].

    >>> p_positions_by_total(np.array([[1, 2, 3], [1, 2, 3], [1, 1, 1]]), np.array([3, 2, 1])).tolist()
    [True, False, False]
    """
    inside = ((cells >= 0) & (cells <= 2 * generations[:, None])).all(axis=1)  # so that no total overflows
    return np.asarray(inside & nim_sum_is_zero(cells) & (cells.sum(axis=1, dtype=np.int64) == 2 * generations))


def odd_births(piles: int, generation: int) -> int:
    """Return (2^(k-1) - 1)^wt(n), the number of P-positions of k piles whose bitwise OR is n, wt counting the 1s of n.

    The piles that have a 1 in a column of n are any evenly many, but not none. Three piles have two 1s there and so the total 2n:
    3^wt(n) is D_3(n) [NF Theorem 19].

    >>> [odd_births(3, n) for n in range(8)], [odd_births(4, n) for n in range(8)]
    ([1, 3, 3, 9, 3, 9, 9, 27], [1, 7, 7, 49, 7, 49, 49, 343])
    """
    births: int = (2 ** (piles - 1) - 1) ** generation.bit_count()
    return births


def p_positions_by_or(cells: NDArray[np.integer], generations: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each position (N, k) is a P-position of Nim whose bitwise OR is the generation.

    >>> p_positions_by_or(np.array([[1, 3, 5, 7], [1, 1, 2, 2], [1, 2, 4, 8]]), np.array([7, 2, 15])).tolist()
    [True, False, False]
    """
    inside = ((cells >= 0) & (cells <= generations[:, None])).all(axis=1)
    return np.asarray(inside & nim_sum_is_zero(cells) & (np.bitwise_or.reduce(cells, axis=1) == generations))


def ulam_warburton_births(generation: int) -> int:
    """Return 4 * 3^(w - 1), and 1 for w = 0: the births of a generation with w 1s in its binary digits (A147582).

    >>> [ulam_warburton_births(n) for n in range(8)]
    [1, 4, 4, 12, 4, 12, 12, 36]
    """
    return 4 * 3 ** (generation.bit_count() - 1) if generation else 1


def ulam_warburton_cells(cells: NDArray[np.integer], generations: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each cell (N, 2) is a sum of 2^r v_j, r falling, with no unit vector v_j opposite to its predecessor, whose
    powers 2^r add up to the generation [NF 5.4].

    They are the powers of two of the generation, and each goes along the longer side of what is left: less than 2^r comes after
    it, so that what it goes along stays longer than what lies across.

    >>> cells = np.array([[0, 0], [1, 0], [1, 1], [2, 1], [3, 1]])
    >>> ulam_warburton_cells(cells, np.array([0, 1, 2, 3, 3])).tolist()
    [True, True, False, True, False]
    """
    reach = generations[:, None]
    born = np.asarray(((cells >= -reach) & (cells <= reach)).all(axis=1))  # so that no difference overflows
    rest = np.where(born[:, None], cells, 0).astype(np.int64)
    before = np.zeros_like(rest)  # the unit vector of the last step
    rows = np.arange(len(rest))
    for bit in reversed(range(int(generations.max(initial=0)).bit_length())):
        walking = generations >> bit & 1 == 1
        axis = np.argmax(np.abs(rest), axis=1)
        step = np.zeros_like(rest)
        step[rows, axis] = np.sign(rest[rows, axis]) * walking
        born &= ~walking | (step.any(axis=1) & (step != -before).any(axis=1))
        rest -= step << bit
        before = np.where(walking[:, None], step, before)
    return np.asarray(born & ~rest.any(axis=1))


def three_branch_cells(cells: NDArray[np.integer], generations: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each cell (N, 2) belongs to the automaton without its south branch: its first step is not to the south.

    >>> three_branch_cells(np.array([[0, 1], [0, -1], [2, -1]]), np.array([1, 1, 3])).tolist()
    [True, False, True]
    """
    return ulam_warburton_cells(cells, generations) & not_south(cells)
