"""Inequality games as plain data for backends."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class LinearBounds(NamedTuple):
    """R inequalities over k coordinates: x[targets[r]] <= floor((numerators[r] . x + constants[r]) / denominators[r]).

    All arrays are int64. `numerators` (R, k) is non-negative, `denominators` (R,) positive, `constants` (R,) may be negative.

    >>> LinearBounds(*map(np.array, ([1], [[1, 0, 1]], [0], [3]))).denominators  # 3y <= x + z
    array([3])
    """

    targets: NDArray[np.int64]
    numerators: NDArray[np.int64]
    constants: NDArray[np.int64]
    denominators: NDArray[np.int64]
