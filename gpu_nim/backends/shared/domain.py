"""One box around the fundamental domain of exactly-one growth, which bounds what a growth takes."""

from __future__ import annotations

import math

from gpu_nim.model.rule import Rule, Symmetry


def domain_box(rule: Rule, last: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the corners, both included, of a box that holds generations 0 to `last` of the fundamental domain.

    In the domain coordinates are non-increasing, so (i + 1) x_i <= x_0 + ... + x_i, which is the sum of all less the rest;
    likewise from below.

    >>> signs = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
    >>> domain_box(Rule(3, signs, frozenset({1}), ((0, 0, 0),), symmetry=Symmetry.CUBE), last=60)
    ((0, 0, 0), (60, 30, 20))
    """
    lower, upper = rule.box(last)
    if rule.symmetry is Symmetry.NONE:
        return lower, upper
    if rule.symmetry is Symmetry.CUBE:
        lower = (0,) * rule.dimension
    # The box of a symmetric rule is a cube, and the sums of offsets and seeds bound the sum of coordinates.
    low, high = lower[0], upper[0]
    most = max(map(sum, rule.seeds)) + last * max(0, *map(sum, rule.offsets))
    least = min(map(sum, rule.seeds)) + last * min(0, *map(sum, rule.offsets))
    axes = range(rule.dimension)
    uppers = tuple(min(high, (most - (rule.dimension - 1 - i) * low) // (i + 1)) for i in axes)
    lowers = tuple(max(low, -((i * high - least) // (rule.dimension - i))) for i in axes)
    return lowers, uppers


def touch_margin(rule: Rule) -> int:
    """Return how far touched cells are from a newborn of the domain or of its box, along each axis.

    A halo cell is the reflection of a newborn within 2 reach of the mirror, and its touches go one reach further
    (`gpu_nim.backends.numpy.halo`).
    """
    return rule.reach * (1 if rule.symmetry is Symmetry.NONE else 3)


class Box:
    """The box that holds the fundamental domain of a growth to generation `last`, and all cells that are touched.

    Attributes:
        lower, upper: its corners, both included.
        even: whether the growth has only cells of even coordinate sum.
        size: how many cells it has that the growth can touch.

    >>> edges = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    >>> Box(Rule(2, edges, frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE), last=4).size
    61
    """

    def __init__(self, rule: Rule, last: int) -> None:
        lower, upper = domain_box(rule, last)
        self.even = rule.even_sum
        margin = touch_margin(rule)
        self.lower = [low - margin for low in lower]
        self.upper = [high + margin for high in upper]
        self.size = (math.prod(high - low + 1 for low, high in zip(self.lower, self.upper, strict=True)) >> self.even) + 1
