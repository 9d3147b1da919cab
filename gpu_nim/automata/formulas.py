"""Proved formulas of the automata: their births, and which cells are ever born.

Growths are compared with these functions; nothing here grows anything.  Births functions map generations (int64, any shape) to
births (uint64, the same shape); cell functions map cells (N, d) and generations (int64, (N,)) to bool (N,), whether each cell is
born at that generation.  If a generation has the right number of cells, all distinct and all passing the test, it is correct.
"""

import numpy as np
from numpy.typing import NDArray


def nim_births(generations: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return 3^wt(n), the number D_3(n) of P-positions of total 2n [NF Theorem 19], wt counting the 1s in n's binary digits.

    >>> nim_births(np.arange(8)).tolist()
    [1, 3, 3, 9, 3, 9, 9, 27]
    """
    return np.uint64(3) ** np.bitwise_count(generations).astype(np.uint64)


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


def odd_births(piles: int, generations: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return (2^(k-1) - 1)^wt(n), the number of P-positions of k piles whose bitwise OR is n, wt counting the 1s of n.

    The piles that have a 1 in a column of n are any evenly many, but not none.

    Raises:
        OverflowError: a value is 2^64 or more.

    >>> odd_births(4, np.arange(8)).tolist()
    [1, 7, 7, 49, 7, 49, 49, 343]
    """
    choices = 2 ** (piles - 1) - 1
    births = [choices ** n.bit_count() for n in generations.reshape(-1).tolist()]
    return np.array(births, np.uint64).reshape(generations.shape)


def p_positions_by_or(cells: NDArray[np.integer], generations: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each position (N, k) is a P-position of Nim whose bitwise OR is the generation.

    >>> p_positions_by_or(np.array([[1, 3, 5, 7], [1, 1, 2, 2], [1, 2, 4, 8]]), np.array([7, 2, 15])).tolist()
    [True, False, False]
    """
    inside = ((cells >= 0) & (cells <= generations[:, None])).all(axis=1)
    return np.asarray(inside & nim_sum_is_zero(cells) & (np.bitwise_or.reduce(cells, axis=1) == generations))


def ulam_warburton_births_of_weight(weight: int) -> int:
    """Return 4 * 3^(w - 1), and 1 for w = 0: the births of a generation with w 1s in its binary digits (A147582).

    >>> [ulam_warburton_births_of_weight(weight) for weight in range(4)]
    [1, 4, 12, 36]
    """
    return 4 * 3 ** (weight - 1) if weight else 1


_MAX_WEIGHT = 40  # births of larger weights exceed 64 bits
_ULAM_WARBURTON_BIRTHS = np.array([ulam_warburton_births_of_weight(weight) for weight in range(_MAX_WEIGHT + 1)], np.uint64)


def ulam_warburton_births(generations: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the births by the 1s in the binary digits of each generation (see `ulam_warburton_births_of_weight`).

    >>> ulam_warburton_births(np.arange(8)).tolist()
    [1, 4, 4, 12, 4, 12, 12, 36]
    """
    return np.asarray(_ULAM_WARBURTON_BIRTHS[np.bitwise_count(generations)])


def ulam_warburton_cells(cells: NDArray[np.integer], generations: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each cell (N, 2) is a sum of 2^r v_j, r falling, with no unit vector v_j opposite to its predecessor, whose
    powers 2^r add up to the generation [NF 5.4].

    The largest power is that of |x| + |y|: the steps after 2^r are perpendicular to it or continue it, so that the length stays at
    least 2^r and below 2^(r+1); the longer side is the direction.

    >>> cells = np.array([[0, 0], [1, 0], [1, 1], [2, 1], [3, 1]])
    >>> ulam_warburton_cells(cells, np.array([0, 1, 2, 3, 3])).tolist()
    [True, True, False, True, False]
    """
    rest = cells.astype(np.int64)
    reach = generations[:, None]
    born = ((rest >= -reach) & (rest <= reach)).all(axis=1)  # so that no length overflows
    rest[~born] = 0
    walked = np.zeros(len(rest), np.int64)
    before = np.zeros_like(rest)  # the unit vector of the last step
    limit = np.full(len(rest), np.iinfo(np.int64).max)
    rows = np.arange(len(rest))
    while rest.any():
        length = np.abs(rest).sum(axis=1)
        walking = length > 0
        # The top bit of the length, by smearing it downwards.
        power = length.copy()
        for shift in (1, 2, 4, 8, 16, 32):
            power |= power >> shift
        power -= power >> 1
        axis = np.argmax(np.abs(rest), axis=1)
        step = np.zeros_like(rest)
        step[rows, axis] = np.sign(rest[rows, axis])
        born &= ~walking | ((np.abs(rest[:, 0]) != np.abs(rest[:, 1])) & (power < limit) & (step != -before).any(axis=1))
        rest -= step * power[:, None]
        walked += power
        limit = np.where(walking, power, limit)
        before = np.where(walking[:, None], step, before)
        rest[~born] = 0
    return np.asarray(born & (walked == generations))


def three_branch_cells(cells: NDArray[np.integer], generations: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each cell (N, 2) belongs to the automaton without its south branch: its first step is not to the south.

    >>> three_branch_cells(np.array([[0, 1], [0, -1], [2, -1]]), np.array([1, 1, 3])).tolist()
    [True, False, True]
    """
    x, y = cells.astype(np.int64).T
    return np.asarray(ulam_warburton_cells(cells, generations) & ~((y < 0) & (y <= -np.abs(x))))
