"""What part of the lattice a growth of macro-cells holds: its universe, or the part of it that mirrors repeat.

Blocks far away must be known without visiting their cells, so that a universe is all of the lattice, an octant, or one of the
catalogue's. A growth that mirrors map to itself is held in the part between
them, the cells without a negative coordinate: a cell beside a mirror is touched by the images of the cells before it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata import neighbourhoods
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Cell, Cells, Rule, Universe

#: The corners of a box of cells, both included.
Box = tuple[Cell, Cell]


def _sector(cells: Cells) -> Cells:
    """The image between the mirrors y = 0 and x = 0 of the hexagonal lattice, which are 60 degrees apart."""
    x, y = cells.T
    for _ in range(3):
        x, y = np.where(y < 0, x + y, x), np.abs(y)
        x, y = np.abs(x), np.where(x < 0, x + y, y)
    return np.stack([x, y], axis=1)


def _triangle(corner: Cell, side: int) -> Cell:
    return (corner[0] - corner[1]) % 3, 0


def _beside_branch(corner: Cell, side: int) -> Cell:
    """A block beside a line at 45 degrees is known by its position across that line."""
    x, y = corner
    if y >= 0:
        return 0, 0
    right = x >= 0
    across = min(max(x + y if right else y - x, -2 * side), side)
    away = 4 * side
    return (away, across - away) if right else (-away, across - away)


_KNOWN: dict[Universe, Callable[[Cell, int], Cell]] = {
    neighbourhoods.triangles: _triangle,
    neighbourhoods.not_south: _beside_branch,
}


@dataclass(frozen=True)
class Domain:
    """The cells that a growth of macro-cells holds.

    Attributes:
        rule: the rule.
        fold: maps the cells just outside of the mirrors to their images between them; None without mirrors.
    """

    rule: Rule
    fold: Callable[[Cells], Cells] | None = None

    @property
    def in_orthant(self) -> bool:
        """Whether no cell has a negative coordinate."""
        return self.rule.octant or self.fold is not None

    def inside(self, cells: Cells) -> NDArray[np.bool_]:
        """Return whether each cell is held, bool of shape (N,)."""
        inside = self.rule.inside(cells)
        return inside & (cells >= 0).all(axis=1) if self.fold is not None else inside

    def like(self, corner: Cell, side: int) -> Cell:
        """Return the corner of a block near the origin that is cut out of the universe as this one is.

        Args:
            corner: the least coordinates, multiples of the side.
            side: the block's.
        """
        if self.rule.universe is not None:
            return _KNOWN[self.rule.universe](corner, side)
        return tuple(-side if self.in_orthant and least < 0 else 0 for least in corner)

    def images(self, box: Box | None) -> Iterator[tuple[int, Box]]:
        """Yield how often, and where, the cells that are held are counted for all cells in the box, or anywhere."""
        far = 1 << 4096
        if self.fold is None:
            yield 1, box or ((-far,) * self.rule.dimension, (far,) * self.rule.dimension)
        elif self.fold is _sector:
            if box is not None:
                raise UsageError("box must be None for a sixth of a hexagonal growth: hold the whole of it")
            yield 6, ((1, 0), (far, far))
            yield 1, ((0, 0), (0, 0))
        else:
            lower, upper = box or ((-far,) * self.rule.dimension, (far,) * self.rule.dimension)
            for signs in product((False, True), repeat=self.rule.dimension):
                least = tuple(max(1, -b) if sign else max(0, a) for sign, a, b in zip(signs, lower, upper, strict=True))
                most = tuple(-a if sign else b for sign, a, b in zip(signs, lower, upper, strict=True))
                yield 1, (least, most)


def domain_of(rule: Rule, *, whole: bool = False) -> Domain:
    """Return what a growth of macro-cells by this rule holds.

    Args:
        rule: the rule.
        whole: hold the images beyond mirrors, too.

    Raises:
        UsageError: macro-cells do not grow by this rule.

    >>> from gpu_nim.automata.catalogue import find
    >>> domain_of(find("cubic6").rule).in_orthant, domain_of(find("cubic6").rule, whole=True).in_orthant
    (True, False)
    """
    if rule.dimension not in (2, 3):
        raise UsageError(f"macro-cells are of 2 or 3 dimensions, the rule has {rule.dimension}")
    if rule.touches is not None:
        raise UsageError("macro-cells need a neighbourhood that is the same everywhere; that of the rule depends on the cell")
    if rule.reach > (most := 4 if rule.dimension == 2 else 2):
        raise UsageError(f"macro-cells take offsets of at most {most} in {rule.dimension} dimensions, the rule has {rule.reach}")
    if rule.universe is not None and (rule.octant or rule.universe not in _KNOWN):
        raise UsageError("macro-cells take no universe but the octant and those of the catalogue")
    if whole or rule.octant or rule.universe is not None:
        return Domain(rule)
    if all(_maps(rule, np.diag([1 - 2 * (axis == i) for i in range(rule.dimension)])) for axis in range(rule.dimension)):
        return Domain(rule, np.abs)
    hexagonal = rule.dimension == 2 and rule.seeds == ((0, 0),) and rule.reach == 1
    if hexagonal and _maps(rule, np.array([[1, 1], [0, -1]])) and _maps(rule, np.array([[-1, 0], [1, 1]])):
        return Domain(rule, _sector)
    return Domain(rule)


def _maps(rule: Rule, matrix: NDArray[np.int64]) -> bool:
    """Whether the matrix, which acts on columns, maps offsets and seeds to themselves."""
    sets = (rule.offsets, rule.seeds)
    return all({*map(tuple, (np.array(cells) @ matrix.T).tolist())} == {*cells} for cells in sets)
