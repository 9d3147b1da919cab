"""Trees of cells in which equal blocks are stored once, the hash by which such sets are compared, and what part of the lattice a
growth of macro-cells holds: its universe, or the part of it that mirrors repeat.

Blocks far away must be known without visiting their cells, so that a universe is all of the lattice, an octant, or one of the
catalogue's. A growth that mirrors map to itself is held in the part between them, the cells without a negative coordinate: a cell
beside a mirror is touched by the images of the cells before it.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata import formulas
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Cell, Cells, Rule, Universe
from gpu_nim.model.tracing import TreeScene

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
    formulas.triangles: _triangle,
    formulas.not_south: _beside_branch,
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

    @cached_property
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
        return tuple([-side if self.in_orthant and least < 0 else 0 for least in corner])

    @property
    def weights(self) -> dict[tuple[int, ...], int]:
        """How often the cells that are held and have coordinate 0 along some axes are counted, by these axes, for all cells."""
        if self.fold is None:
            return {(): 1}
        if self.fold is _sector:
            return {(): 6, (0,): -6, (0, 1): 1}
        dimension = self.rule.dimension
        return {zero: (-1) ** k * 2 ** (dimension - k) for k in range(dimension + 1) for zero in combinations(range(dimension), k)}

    def images(self, box: Box) -> Iterator[Box]:
        """Yield the boxes in which the cells that are held are counted for all cells in a box."""
        if self.fold is None:
            yield box
        elif self.fold is _sector:
            raise UsageError("box must be None for a sixth of a hexagonal growth: hold the whole of it")
        else:
            for signs in product((False, True), repeat=self.rule.dimension):
                least = tuple(max(1, -b) if sign else max(0, a) for sign, a, b in zip(signs, *box, strict=True))
                most = tuple(-a if sign else b for sign, a, b in zip(signs, *box, strict=True))
                yield least, most


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


def tree_of_rows(words: NDArray[np.uint64], rows: Sequence[NDArray[np.integer]], corner: tuple[int, ...]) -> TreeScene:
    """Return a tree of blocks that may have equals, and of which the last row of the last level is the whole.

    Args:
        words: the blocks of 64 cells.
        rows: of each level, the indices of the halves in the one below.
        corner: the least coordinates of the whole.
    """
    leaves, which = np.unique(np.append(words, np.uint64(0)), return_inverse=True)
    levels = []
    for level in rows:
        halves = which[level]
        distinct, which = np.unique(np.append(halves, np.zeros_like(halves[:1]), axis=0), axis=0, return_inverse=True)
        which = which.reshape(-1)  # NumPy 2.0 keeps an axis
        levels.append(distinct.astype(np.int32))
    return TreeScene(leaves, tuple(levels), int(which[-2]), corner)


def tree_of(cells: Cells, *, centred: bool) -> TreeScene:
    """Return cells of the plane or of space as a tree.

    Args:
        cells: shape (N, 2) or (N, 3), N at least 1.
        centred: whether the origin is the middle of the tree; else it is its corner, and no coordinate is negative.

    >>> tree_of(np.array([[0, 0], [3, 9]]), centred=False).population
    2
    """
    plane = cells.shape[1] == 2
    side, levels = 8 if plane else 4, 1
    while (side << levels - centred) <= max(int(cells.max()), -int(cells.min()) - 1):
        levels += 1
    corner = -(side << levels - 1) if centred else 0
    coordinates = (cells[:, ::-1] if plane else cells).astype(np.int64) - corner
    blocks, which = np.unique(coordinates // side, axis=0, return_inverse=True)
    bits = np.zeros(len(cells), np.uint64)
    for axis in range(coordinates.shape[1]):
        bits = bits * np.uint64(side) + (coordinates[:, axis] % side).astype(np.uint64)
    words = np.zeros(len(blocks) + 1, np.uint64)  # the last is empty
    np.bitwise_or.at(words, which.reshape(-1), np.uint64(1) << bits)
    rows = []
    for _ in range(levels):
        halves = np.zeros(len(blocks), np.int64)
        for axis in range(blocks.shape[1]):
            halves = 2 * halves + blocks[:, axis] % 2
        above, which = np.unique(blocks // 2, axis=0, return_inverse=True)
        row = np.full((len(above) + 1, 1 << blocks.shape[1]), len(blocks))
        row[which.reshape(-1), halves] = np.arange(len(blocks))
        rows.append(row)
        blocks = above
    rows[-1] = rows[-1][:1]
    return tree_of_rows(words, rows, (corner,) * cells.shape[1])


def canonical_hash(tree: TreeScene) -> str:
    """Return the hash of a set of cells, whatever the size of the tree that holds it.

    The hash of a leaf is the SHA-256 of its 8 bytes, least significant first, that of a block the SHA-256 of the hashes of its
    halves in their order. A tree round the origin is hashed as its halves, which touch at the origin, and one that begins there as
    one part: while in all parts nothing lives but in the halves next to the origin, these take their places. The canonical hash is
    the SHA-256 of the number of levels above the leaves, 8 bytes, and of the hashes of the parts.

    Args:
        tree: its corner is the origin, or minus half of its side along each axis.

    >>> canonical_hash(tree_of(np.array([[0, 0]]), centred=True))[:16]
    '3c7453962722a8a2'
    """
    level, parts, nearest = len(tree.levels), [tree.root], [0]
    if any(tree.corner):
        level, parts = level - 1, tree.levels[-1][tree.root].tolist()
        nearest = list(range(len(parts)))[::-1]
    while level:
        rows = tree.levels[level - 1][parts]
        near = rows[np.arange(len(parts)), nearest]
        if np.count_nonzero(rows) != np.count_nonzero(near):
            break
        level, parts = level - 1, near.tolist()
    needed = [np.array(parts)]
    for rows in tree.levels[:level][::-1]:
        needed.append(np.unique(rows[needed[-1]]))
    hashes = {int(n): hashlib.sha256(tree.leaves[n].astype("<u8").tobytes()).digest() for n in needed[-1]}
    for rows, some in zip(tree.levels[:level], needed[-2::-1], strict=True):
        hashes = {n: hashlib.sha256(b"".join(map(hashes.__getitem__, rows[n].tolist()))).digest() for n in some.tolist()}
    return hashlib.sha256(level.to_bytes(8, "little") + b"".join(hashes[part] for part in parts)).hexdigest()
