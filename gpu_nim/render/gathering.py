"""Cells of growths and of solved games as the blocks that are drawn: at most a limit, each of several cells if need be.

Cells of four and more coordinates are projected to space. Those of four, a, b, c, d, go along (1, 1, 1, 1), orthogonally, to

    x = (a + b - c - d) / 2,   y = (a - b + c - d) / 2,   z = (a - b - c + d) / 2:

the four axes go to the diagonals of a cube, and each permutation of them is a symmetry of the cube. What is lost is the total.  For
Nim with four piles a step from parent to child, 1 added to two piles, is a step along x, y or z, so that cubes of a line of descent
share sides. All P-positions of one generation have one total, so none of them covers another, and the 6^m of generation 2^m - 1 are
Sierpinski's octahedron, as the 3^m of three piles are Sierpinski's triangle.

The axes of k > 4 coordinates are spread evenly around the vertical, at one inclination, as three are if (1, 1, 1) is upright:
the i-th goes to (cos(2 pi i / k), sin(2 pi i / k), 1 / sqrt 2), an orthogonal projection at scale sqrt(k / 2), and the height is
the total. It keeps the symmetries of a k-gon, such as those of the chocolate that is cut in six directions.
"""

from collections.abc import Iterable
from dataclasses import replace
from math import cos, pi, prod, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.catalogue import Lattice
from gpu_nim.automata.newborns import Newborns
from gpu_nim.backends.shared.brick_scenes import BrickPacker
from gpu_nim.games.solution import Solution
from gpu_nim.model.arguments import counted
from gpu_nim.model.arrays import corners as extremes
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.rule import Rule
from gpu_nim.model.tracing import BrickScene, Triple
from gpu_nim.render.colourings import COLOURINGS, Colouring
from gpu_nim.render.geometry import PILES, SPACE, Blocks, first_of_each, generations_between, merged_note, running_total
from gpu_nim.render.look import Look

#: The most blocks drawn, about: with three sides each, 6 million quadrilaterals and 2 GB.
CELLS_LIMIT = 1 << 21

#: The last generation drawn, and the largest coordinate: coordinates are int32, and a block reaches beyond its corner.
GENERATION_LIMIT = 2**30 - 1

#: Parts of the side of a cell in which coordinates are rounded that are not on a lattice.
FINE = 16
_NAMES = ("a+b−c−d", "a−b+c−d", "a−b−c+d")
_HADAMARD = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]])
_MOST_PARTS = 1 << 24  # cells of blocks that are projected between points
_MOST_BRICKS = 1 << 27  # of a box, a gigabyte
_GROWN_LIMIT = 1 << 27  # cells that are grown to be drawn coarser: a minute's work


def gather(source: str, lattice: Lattice, generations: Iterable[Newborns], births: list[int] | None, limit: int) -> Blocks:
    """Collect newborns, generation by generation, in at most `limit` blocks, with not many more of them in memory."""
    _require_few(source, births or [])
    counts: list[int] = []
    cells: list[NDArray[np.int32]] = []
    born: list[NDArray[np.int32]] = []
    reached: list[NDArray[np.int64]] = []
    level = 0
    for generation, newborns in generations:
        counts.append(len(newborns))
        _require_few(source, counts)
        _require_near(source, newborns)
        if len(newborns):
            reached.append(extremes(newborns))
        cells.append(np.asarray(newborns >> level, dtype=np.int32))
        born.append(np.full(len(newborns), generation, dtype=np.int32))
        if sum(map(len, born)) > 4 * limit:
            level += _merge(cells, born, limit)
    if level or sum(map(len, born)) > limit:
        level += _merge(cells, born, limit)
    blocks = blocks_from(source, np.concatenate(cells), np.concatenate(born), sum(counts), level, lattice)
    if level and blocks.cells is None:
        low, high = np.min(reached, axis=0)[0].tolist(), np.max(reached, axis=0)[1].tolist()
        blocks = replace(blocks, limits=((*low, 0)[:3], (*high, 0)[:3]))
    return replace(blocks, population_until=running_total(np.array(counts)))


def _merge(cells: list[NDArray[np.int32]], born: list[NDArray[np.int32]], limit: int) -> int:
    """Merge the cells of both lists to at most so many cubes, and return by how many levels.

    Both are in order of generation, and stay so: a cube has that of its earliest cell, and is in units of its side 2^level.

    >>> cells, born = [np.array([[0, 0], [0, 1]]), np.array([[3, 3]])], [np.array([0, 1]), np.array([1])]
    >>> _merge(cells, born, 2), cells[0].tolist(), born[0].tolist()
    (1, [[0, 0], [1, 1]], [0, 1])
    """
    cubes, generations, level = np.concatenate(cells), np.concatenate(born), 0
    while True:
        first = np.sort(first_of_each(cubes))
        cubes, generations = cubes[first], generations[first]
        if len(cubes) <= limit:
            cells[:], born[:] = [cubes], [generations]
            return level
        cubes, level = cubes >> 1, level + 1


def solution_blocks(source: str, solution: Solution, largest: int) -> Blocks:
    """Return the positions of Grundy value up to `largest` as blocks; a generation is half their total, rounded down."""
    positions, _ = solution.points(largest)
    if len(positions) > CELLS_LIMIT:
        raise too_many(source, f"{len(positions):,}")
    _require_near(source, positions)
    totals = positions.sum(axis=1)
    order = np.argsort(totals, kind="stable")
    blocks = blocks_from(source, positions[order], totals[order] // 2, len(positions))
    values = {name: known.of_game(blocks, solution) for name, known in COLOURINGS.items() if known.of_game}
    names = solution.coordinates if blocks.cells is None else blocks.coordinates
    return replace(blocks, values=values, coordinates=names, population_until=running_total(np.bincount(totals // 2)))


def growth_blocks(blocks: Blocks, colouring: Colouring, automaton: str, rule: Rule | None) -> Blocks:
    """Add the automaton, its rule, the names of the coordinates, and what a colouring reads to a growth."""
    blocks = replace(blocks, automaton=automaton, rule=rule)
    if rule is not None and rule.octant and blocks.cells is None:  # whose cells are positions
        blocks = replace(blocks, coordinates=PILES[: rule.dimension])
    name, of_growth = colouring.name, colouring.of_growth
    if of_growth is None:
        return blocks
    if rule is None:
        raise UsageError(f"the {name} of each cell needs a rule of offsets, and {blocks.name} grew by predicates of its own")
    return replace(blocks, values={**blocks.values, name: of_growth(blocks, rule)})


def blocks_from(
    source: str,
    cells: NDArray[np.integer],
    generations: NDArray[np.integer],
    population: int,
    level: int = 0,
    lattice: Lattice = "square",
) -> Blocks:
    """Return cells of a source, (N, k) in units of 2^level, as blocks."""
    dimension, size = cells.shape[1], 1 << level
    require_drawable(source, dimension)
    corners = np.pad(np.asarray(cells, np.int32), ((0, 0), (0, max(3 - dimension, 0))))
    corners <<= level
    born, names, flat = np.asarray(generations, np.int32), SPACE[:dimension], dimension == 2
    note = merged_note(len(cells), size, max(dimension, 3)) if level else ""
    blocks = Blocks(source, corners[:, :3], born, population, size, note=note, flat=flat, lattice=lattice, coordinates=names)
    return in_space(replace(blocks, cells=corners)) if dimension > 3 else blocks


def frame(coordinates: int) -> NDArray[np.float64]:
    """Return the projection from k > 3 coordinates to space: three orthogonal directions of equal length, float64 (3, k).

    >>> frame(4).tolist()
    [[0.5, 0.5, -0.5, -0.5], [0.5, -0.5, 0.5, -0.5], [0.5, -0.5, -0.5, 0.5]]
    >>> np.allclose(frame(6) @ frame(6).T, 3 * np.eye(3))
    True
    """
    if coordinates == 4:
        return _HADAMARD / 2
    turns = [2 * pi * i / coordinates for i in range(coordinates)]
    return np.array([[*map(cos, turns)], [*map(sin, turns)], [1 / sqrt(2)] * coordinates])


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
    middles = (cells + (parts - 1) / 2) @ frame(dimension).T
    # Coordinates are rounded to parts of a cell: `FINE` are the side of one.
    size = parts * FINE
    corners = np.rint(middles * FINE - (size - FINE) / 2).astype(np.int32)
    unit = int(np.gcd.reduce(corners, axis=None, initial=size))
    note = "; ".join(filter(None, (blocks.note, f"projected from {dimension} coordinates")))
    side = FINE // unit
    names = blocks.coordinates if dimension > 4 else tuple(f"({name})/2" if side == 1 else name for name in _NAMES)
    return replace(blocks, corners=corners // unit, size=size // unit, unit=side, coordinates=names, note=note)


def shown(blocks: Blocks, look: Look) -> Blocks:
    """Return the blocks of the look's generations, and where they are projected, one at each point."""
    if look.generations is not None:
        blocks = generations_between(blocks, *look.generations)
    return blocks if blocks.cells is None else one_at_each_point(blocks)


def one_at_each_point(blocks: Blocks) -> Blocks:
    """Return the earliest of the blocks that are projected to one point, with a note of their number."""
    order = np.argsort(blocks.generations, kind="stable")
    first = order[np.sort(first_of_each(blocks.corners[order]))]
    covered = len(blocks) - len(first)
    return blocks.take(first, f"{len(blocks):,} cells at {len(first):,} points" if covered else "")


def packed(blocks: Blocks) -> tuple[BrickScene, NDArray[np.intp], int]:
    """Return blocks of one size as a scene, the block of each of its cells by the cell's number, and the side of such a cell.

    That is the side of a block; those that are projected between the points of a lattice, and may overlap, are of several cells.

    Raises:
        InsufficientMemoryError: the cells lie too far apart.
    """
    size, parts = blocks.size, 1
    while parts < min(size, blocks.unit) and 8 * parts**3 * len(blocks) <= _MOST_PARTS:
        parts *= 2
    unit = size // parts
    cells = ((blocks.corners // unit)[:, None] + np.indices((parts,) * 3, np.int32).reshape(3, -1).T).reshape(-1, 3)
    low, high = cells.min(axis=0).tolist(), cells.max(axis=0).tolist()
    corner, shape = corner_and_shape(low, high)
    if prod(-(-side // 4) for side in shape) > _MOST_BRICKS:
        raise InsufficientMemoryError(f"{blocks.name} has cells too far apart to be drawn without OpenGL")
    packer = BrickPacker(corner, shape)
    keys = packer.add(cells)
    scene = packer.scene()
    owners = np.empty(int(np.bitwise_count(scene.words[: prod(scene.stage_shape(0))]).sum(dtype=np.int64)), np.intp)
    owners[scene.number_of(keys)[::-1]] = np.arange(len(blocks)).repeat(parts**3)[::-1]  # the earliest of those that share a cell
    return scene, owners, unit


def corner_and_shape(low: Iterable[int], high: Iterable[int]) -> tuple[Triple, Triple]:
    """Return the box between the least and the greatest coordinates, as a scene has it."""
    (a, b, c), (wide, high_, deep) = low, (last - first + 1 for first, last in zip(low, high, strict=True))
    return (a, b, c), (wide, high_, deep)


def require_drawable(source: str, coordinates: int) -> None:
    if coordinates < 2:
        raise UsageError(f"{source} has {counted(coordinates, 'coordinate')}, and a picture needs 2 or more")


def _require_few(source: str, births: list[int]) -> None:
    """Raise an error where there are more cells than can be merged."""
    if sum(births) > _GROWN_LIMIT:
        reached = int(np.searchsorted(np.cumsum(births), _GROWN_LIMIT, side="right"))
        passed = f"it passes {_GROWN_LIMIT:,} cells at generation {reached}"
        raise InsufficientMemoryError(f"{source} is too large to draw: {passed}; draw it to an earlier generation")


def too_many(source: str, positions: str) -> InsufficientMemoryError:
    return InsufficientMemoryError(f"{source} is too large to draw: it holds {positions} positions, more than {CELLS_LIMIT:,}")


def _require_near(source: str, cells: NDArray[np.integer]) -> None:
    """Raise UsageError for cells that are too far out for blocks."""
    most = max(int(cells.max()), -int(cells.min())) if cells.size else 0
    if most > GENERATION_LIMIT:
        raise UsageError(f"{source} has coordinates of size {most:,}, and only those up to {GENERATION_LIMIT:,} can be drawn")
