"""Games solved literally by the definitions, without code of the package: the slow path of its tests."""

from functools import cache
from itertools import product

import numpy as np


def solve_literally(bounds, limits):
    """Outcomes and Grundy values of an inequality game, option by option.

    `bounds` are (target, [Fraction factors], Fraction constant): x[target] <= floor(factors . x + constant). The greatest
    position below a vector is looked for among all positions, and checked to be above every other one below the vector.
    """

    def allowed(vector):
        return all(
            vector[target] <= (sum(f * x for f, x in zip(factors, vector, strict=True)) + constant) // 1
            for target, factors, constant in bounds
        )

    positions = [v for v in product(*(range(limit + 1) for limit in limits)) if allowed(v)]
    known, rows = set(positions), np.array(positions)

    @cache
    def greatest_below(vector):
        below = rows[(rows <= vector).all(axis=1)]
        if not len(below):
            return None
        top = tuple(below.max(axis=0).tolist())
        assert top in known, f"no greatest position below {vector}"
        return top

    grundy = {}
    for position in sorted(positions, key=sum):
        values = set()
        for i, value in enumerate(position):
            for lower in range(value):
                option = greatest_below((*position[:i], lower, *position[i + 1 :]))
                if option is not None:
                    values.add(grundy[option])
        grundy[position] = next(g for g in range(len(values) + 1) if g not in values)
    return grundy
