"""The automaton of a set that is known up to a size: what it must be, if it is small."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.deciding.relations import Relation

_LOOKS = 8, 16  # the sizes of the boxes by which residuals are compared


def learned(names: tuple[str, ...], table: NDArray[np.bool_], most: int) -> Relation | int:
    """Return the relation of a set of vectors that agrees with a table, or where none is found the least states that one can have.

    The residual of the vectors whose lowest digits are given is what the other digits of those in the set may be, a set of vectors
    again. Residuals that differ where all coordinates are below 8, or 16, are different states; those that agree there are taken to
    be one, which beyond the table may be wrong.

    Args:
        names: the names of the coordinates, ascending.
        table: which vectors are in the set, (2^m, ..., 2^m), an axis a coordinate.
        most: the most states that are looked for.

    >>> x, y = np.indices((64, 64))
    >>> relation = learned(("x", "y"), x >= 3 * y, 10)
    >>> relation.states, relation.contains([[3 * 10**20, 10**20], [3 * 10**20 - 1, 10**20]]).tolist()
    (4, [True, False])
    >>> learned(("x", "y"), x == y * y, 10)
    11
    """
    least = 0
    for look in _LOOKS:
        found = _learned(names, table, most, look)
        if isinstance(found, Relation) and np.array_equal(found.table(len(table).bit_length() - 1), table):
            return found
        least = max(least, found if isinstance(found, int) else found.states + 1)  # states more than those that differ so far
    return least


def _learned(names: tuple[str, ...], table: NDArray[np.bool_], most: int, look: int) -> Relation | int:
    digits = [*product((0, 1), repeat=len(names))]
    index: dict[bytes, int] = {}
    residuals, steps = [table], list[list[int]]()

    def number(residual: NDArray[np.bool_]) -> int:
        key = np.packbits(residual[(slice(look),) * len(names)]).tobytes()
        if key not in index and index:
            residuals.append(residual)
        return index.setdefault(key, len(index))

    number(table)
    for residual in residuals:
        if len(residual) < 2 * look or len(residuals) > most:
            return len(residuals)
        steps.append([number(residual[tuple(slice(digit, None, 2) for digit in each)]) for each in digits])
    accepts = np.array([residual.flat[0] for residual in residuals])
    return Relation(names, np.array(steps).reshape(-1, *(2,) * len(names)), accepts)
