"""Cells as geometry: blocks, their visible sides, coarser blocks, sections.

A block is a cube of `size` cells of one colour.  At most one of its sides on each axis is visible, so a picture needs at most
three quadrilaterals a block for any camera. Shared sides are not removed: the P-positions of Nim and the automata on the cells
of even coordinate sum have none.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Self

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Named, Registry
from gpu_nim.model.rule import Rule
from gpu_nim.render.views import Camera, support

#: The six sides of the unit cube, (axis, which end), and the corners of each, anticlockwise from outside.
SIDES: dict[tuple[int, int], tuple[tuple[int, int, int], ...]] = {
    (0, -1): ((0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0)),
    (0, 1): ((1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1)),
    (1, -1): ((0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)),
    (1, 1): ((0, 1, 0), (0, 1, 1), (1, 1, 1), (1, 1, 0)),
    (2, -1): ((0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0)),
    (2, 1): ((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)),
}

#: The corners of the unit cube, (8, 3): the last coordinate changes first.
CORNERS = np.array(list(product((0, 1), repeat=3)))

#: The neighbours of a point of the hexagonal and the triangular lattice, anticlockwise, (6, 3).
AROUND = np.array([(1, 0, 0), (0, 1, 0), (-1, 1, 0), (-1, 0, 0), (0, -1, 0), (1, -1, 0)])

SPACE = ("x", "y", "z")
#: The names of coordinates: of any object, and of positions of Nim.
PILES = ("a", "b", "c")

#: Quadrilaterals (M, 4, 3) and the colours of their corners (M, 4, 3), or with alpha (M, 4, 4).
Quads = tuple[NDArray[np.float32], NDArray[np.uint8]]


@dataclass(frozen=True)
class Blocks:
    """An object: N cubes of one size with the values that colours show.

    Args:
        name: the name of the source.
        corners: int32 (N, 3), the cell of least coordinates of each; int64, as the generations, where larger.
        generations: int32 (N,), the generation of its earliest cell, or half the total of a position, rounded down.
        population: the number of cells, of the generations that are drawn.
        size: the side of a cube in cells.
        values: further values by name, such as "grundy" or "branch", each (N,).
        note: what was left out or made coarser, or "".
        flat: whether all cells are in a plane.
        lattice: square, hexagonal or triangular, of flat objects.
        coordinates: the names of the coordinates, of piles where cells are positions.
        cells: the cell of least coordinates of each, int32 (N, k), where there are k > 3 coordinates and the corners are their
            projections; else None.
        unit: the side of a cell, 1 but for such projections; larger blocks stand for several cells.
        population_until: returns the number of cells to a generation that are drawn, however they are merged or projected, or None.
        automaton: the name of the automaton whose growth it is, or "".
        rule: the rule of that growth, where it is known.
        limits: the least and the greatest coordinates of its cells, (3,) each, where blocks reach beyond them; else None.
    """

    name: str
    corners: NDArray[np.integer]
    generations: NDArray[np.integer]
    population: int
    size: int = 1
    values: Mapping[str, NDArray[np.integer]] = field(default_factory=dict)
    note: str = ""
    flat: bool = False
    lattice: str = "square"
    coordinates: tuple[str, ...] = SPACE
    cells: NDArray[np.int32] | None = None
    unit: int = 1
    population_until: Callable[[int], int] | None = None
    automaton: str = ""
    rule: Rule | None = None
    limits: tuple[tuple[int, ...], tuple[int, ...]] | None = None

    @property
    def positions(self) -> NDArray[np.integer]:
        """The coordinates of the cells of least coordinates, int32 (N, 3), or (N, k) where there are k > 3."""
        return self.corners if self.cells is None else self.cells

    @property
    def dated(self) -> bool:
        """Whether the generations are known; those of a tree are means, or missing."""
        return "density" not in self.values

    @property
    def tiled(self) -> bool:
        """Whether the cells are hexagons or triangles, and not merged to blocks of several."""
        return self.lattice != "square" and self.size == 1

    @property
    def outline(self) -> Self:
        """What frames it in pictures: itself."""
        return self

    def __len__(self) -> int:
        return len(self.corners)

    def take(self, which: NDArray[np.bool_] | NDArray[np.intp], note: str = "") -> Self:
        """Return the blocks chosen by a mask or by indices, with a further note."""
        return replace(
            self,
            corners=self.corners[which],
            generations=self.generations[which],
            values={name: values[which] for name, values in self.values.items()},
            cells=None if self.cells is None else self.cells[which],
            note="; ".join(filter(None, (self.note, note))),
        )

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last generation."""
        return int(self.generations.min()), int(self.generations.max())

    def until(self, generation: int) -> Self:
        """Return the blocks without the generations after one."""
        return self.take(self.generations <= generation)

    def bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the least corner and the corner beyond the greatest, int64 (3,) each."""
        return self.corners.min(axis=0).astype(np.int64), self.corners.max(axis=0).astype(np.int64) + self.size

    def extent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the least and the greatest coordinates of the cells, int64 (3,) each."""
        low, beyond = self.bounds()
        least, greatest = self.limits or (low, beyond - 1)
        return np.maximum(low, least), np.minimum(beyond - 1, greatest)  # of some of the blocks

    def centres(self) -> NDArray[np.float32]:
        """Return the middle of each block, float32 (N, 3)."""
        return self.corners + np.float32(self.size / 2)

    def hull(self) -> NDArray[np.float32]:
        """Return points that frame the blocks, exactly where they are few, else to a 64th of their extent."""
        if self.flat:
            x, y = self.corners[:, 0], self.corners[:, 1]
            order = np.lexsort((x, y))  # of a row, only the ends can be extreme
            ends = np.flatnonzero(np.diff(y[order]))
            outline = tiles(self.take(order[[0, *ends, *ends + 1, -1]]))[0].reshape(-1, 3)
            return outline[support(outline, 512)]
        low, high = self.bounds()
        width = self.size
        while (high - low).max() // width > 64:
            width *= 2
        coarse = coarsen(self, width)
        # Of cubes of one size, the one whose middle is extreme is.
        corners = corners_of(coarse.take(support(coarse.centres(), 512)))
        return np.clip(corners, low, high).reshape(-1, 3).astype(np.float32)

    def opened(self, what: str, toward: NDArray[np.float64]) -> Self:
        """Return the blocks without the part that a cut removes, so that the inside shows.

        The cut goes through the middle of the object.

        Args:
            what: none, or a name of `CUTS`.
            toward: the direction to the eye, (3,).
        """
        if what == "none":
            return self
        low, high = self.bounds()
        before = (self.centres() - (low + high) / 2) * np.where(toward < 0, -1, 1) > 0
        keep = np.logical_not(before[:, CUTS.find(what).of(toward)].all(axis=1))
        return self.take(np.asarray(keep), f"cut open ({what})")


def side(blocks: Blocks, axis: int, end: int, fill: float = 1.0) -> NDArray[np.float32]:
    """Return one side of each block as quadrilaterals, float32 (N, 4, 3), anticlockwise from outside.

    Args:
        blocks: the blocks.
        axis: the axis that the side is perpendicular to.
        end: -1 or 1, which end of the axis.
        fill: the part of a block's width that is drawn, for tiles with gaps between them.
    """
    unit = (np.array(SIDES[axis, end]) * fill + (1 - fill) / 2) * blocks.size
    quads = np.empty((len(blocks.corners), 4, 3), dtype=np.float32)
    np.add(blocks.corners[:, None], unit, out=quads)
    return quads


def corners_of(blocks: Blocks) -> NDArray[np.int64]:
    """Return the corners of each block, int64 (N, 8, 3), in the order of `CORNERS`."""
    return np.asarray(blocks.corners.astype(np.int64)[:, None] + CORNERS * blocks.size)


def tiles(blocks: Blocks, fill: float = 0.92) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Return the tiles of a flat set as quadrilaterals (M, 4, 3) in the plane z = 0, and the block of each, (M,).

    Square cells are squares. On the hexagonal lattice, with cell (x, y) at x (1, 0) + y (1/2, sqrt(3)/2), cells are hexagons, of
    two quadrilaterals each; on the triangular one, without x - y = 0 mod 3, triangles around the remaining points. Blocks of
    several cells are the parts of the plane that they cover, without gaps.

    Args:
        blocks: the blocks, flat.
        fill: the part of a tile's width that is drawn.
    """
    if not blocks.tiled:
        squares = side(blocks, 2, -1, 1.0 if blocks.size > 1 else fill)
        squares[..., 2] = 0
        return squares if blocks.lattice == "square" else sheared(squares), np.arange(len(blocks))
    centres = middles(blocks)[:, None]
    corners = centres + fill * (sheared(outlines(blocks) / 3) - centres)
    quads = [[0, 1, 2, 3], [3, 4, 5, 0]] if blocks.lattice == "hexagonal" else [[0, 1, 2, 2]]
    return corners[:, quads].reshape(-1, 4, 3).astype(np.float32), np.arange(len(blocks)).repeat(len(quads))


def outlines(blocks: Blocks) -> NDArray[np.int64]:
    """Return the corners of hexagons or triangles, anticlockwise, int64 (N, 6 or 3, 3): three times their lattice coordinates.

    They are integers, so that what is made of two cells has the same corner where they touch. `sheared` is where they are drawn.
    """
    if blocks.lattice == "hexagonal":  # a corner is the mean of three points
        around = AROUND + np.roll(AROUND, -1, axis=0)
    else:  # an omitted point: every other one of the six
        kind = (blocks.corners[:, 0] - blocks.corners[:, 1]) % 3 - 1
        around = 3 * AROUND[np.array([[1, 3, 5], [0, 2, 4]])[kind]]
    return np.asarray(3 * blocks.corners.astype(np.int64)[:, None] + around)


def cover(blocks: Blocks) -> NDArray[np.floating]:
    """Return how opaque the tile of each block is, (N,): of a tree, the part of its cells that are alive, of the largest part."""
    density = blocks.values.get("density", np.ones(len(blocks)))
    return np.asarray(density / density.max())


def sparse(blocks: Blocks, count: int) -> bool:
    """Return whether so many of the blocks, all in one plane, cover less than an eighth of their box there.

    >>> from gpu_nim.render.source import blocks_of
    >>> [sparse(blocks, len(blocks)) for blocks in map(blocks_of, ("wythoff:size=63", "ulam-warburton:31"))]
    [True, False]
    """
    wide, deep, _ = (np.subtract(*blocks.bounds()[::-1]) // blocks.size).tolist()
    return bool(count * 8 < wide * deep)


def middles(blocks: Blocks) -> NDArray[np.float32]:
    """Return the middle of each cell as it is drawn, float32 (N, 3): of its cube, or of its tile in the plane."""
    if not blocks.flat:
        return blocks.centres()
    x, y = blocks.corners[:, 0].astype(np.float32), blocks.corners[:, 1].astype(np.float32)
    if blocks.lattice == "square":
        half = np.float32(blocks.size / 2)
        return np.column_stack([x + half, y + half, np.zeros_like(x)])
    return sheared(np.column_stack([x, y, np.zeros_like(x)]))


def sheared(points: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return where points (..., 3) of the hexagonal and the triangular lattice are drawn: at x (1, 0) + y (1/2, sqrt(3)/2)."""
    x, y, z = (points[..., k] for k in range(3))
    return np.stack([x + y / 2, y * np.float32(3**0.5 / 2), z], axis=-1, dtype=np.float32, casting="same_kind")


def visible(blocks: Blocks, camera: Camera) -> Iterator[tuple[int, int, NDArray[np.bool_] | slice]]:
    """Yield the sides that face the eye: axis, end, and a mask of the blocks that show it, or all of them."""
    for axis in range(3):
        if camera.parallel:
            facing = camera.basis[2, axis]
            if abs(facing) > 1e-9:
                yield axis, 1 if facing > 0 else -1, slice(None)
            continue
        eye = camera.eye[axis]
        low = blocks.corners[:, axis]
        for end, seen in ((1, low + blocks.size < eye), (-1, low > eye)):
            if seen.all():
                yield axis, end, slice(None)
            elif seen.any():
                yield axis, end, seen


def first_of_each(cells: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the index of the first of each distinct cell of (N, d), in lexicographic order of the cells.

    >>> first_of_each(np.array([[1, 0], [0, 5], [1, 0], [0, 5], [0, 4]])).tolist()
    [4, 1, 0]
    """
    low = cells.min(axis=0).astype(np.int64)
    spans = tuple((cells.max(axis=0) - low + 1).tolist())
    keys = np.ravel_multi_index(tuple((cells - low).T), spans)
    return np.unique(keys, return_index=True)[1]


_MERGED = "drawn as "


def merged_note(blocks: int, size: int, coordinates: int = 3) -> str:
    """Return the note of an object that is drawn as so many blocks, each of several cells."""
    return f"{_MERGED}{blocks:,} blocks of {'x'.join([str(size)] * coordinates)} cells"


def coarsen(blocks: Blocks, size: int) -> Blocks:
    """Return the blocks of `size` cells that hold any of these blocks' cells, each once, with its earliest generation.

    Args:
        blocks: the blocks.
        size: a power of two, at least the blocks' own.

    >>> from gpu_nim.render.source import blocks_of
    >>> coarse = coarsen(blocks_of("nim:63"), 4)  # 4^6 cells in blocks of 4: Nim again, 4^4 blocks
    >>> len(coarse), coarse.population
    (256, 4096)
    """
    index = blocks.corners // size
    order = np.argsort(blocks.generations, kind="stable")
    first = order[first_of_each(index[order])]
    others = (part for part in blocks.note.split("; ") if part and not part.startswith(_MERGED))
    chosen = blocks.take(first)
    low, high = blocks.extent()
    return replace(
        chosen,
        corners=index[first] * size,
        size=size,
        limits=(tuple(low.tolist()), tuple(high.tolist())),
        note="; ".join([*others, merged_note(len(first), size)]),
    )


def running_total(births: NDArray[np.integer]) -> Callable[[int], int]:
    """Return the function that returns the number of cells to a generation, from the births of each generation (g,).

    >>> [running_total(np.array([1, 3, 3, 9]))(generation) for generation in (-1, 0, 2, 9)]
    [0, 1, 7, 16]
    """
    totals = np.concatenate([[0], np.cumsum(births, dtype=np.int64)])
    return lambda generation: int(totals[min(max(generation + 1, 0), len(births))])


def generations_between(blocks: Blocks, first: int, stop: int) -> Blocks:
    """Return the blocks of generations first to stop - 1; UsageError where there are none, or where they are not known."""
    if not blocks.dated:
        raise generations_unknown(blocks.name)
    keep = (blocks.generations >= first) & (blocks.generations < stop)
    if not keep.any():
        raise no_cells(blocks.name, first, stop, int(blocks.generations.max()))
    if (count := blocks.population_until) is not None:
        before = count(first - 1)

        def drawn_until(generation: int) -> int:
            return max(count(min(generation, stop - 1)) - before, 0)

        blocks = replace(blocks, population=drawn_until(stop), population_until=drawn_until)
    return blocks.take(keep, "" if keep.all() else generations_note(first, stop))


def generations_unknown(name: str) -> UsageError:
    """Return the error for the choice of generations of a tree."""
    return UsageError(f"earlier generations of {name} cannot be drawn: macro-cells keep the last one alone")


def generations_note(first: int, stop: int) -> str:
    """Return the note of an object of which only generations `first` to `stop` - 1 are drawn.

    >>> generations_note(8, 16), generations_note(31, 32)
    ('generations 8 to 15', 'generation 31')
    """
    return f"generations {first} to {stop - 1}" if stop - first > 1 else f"generation {first}"


def no_cells(name: str, first: int, stop: int, last: int) -> UsageError:
    """Return the error for generations `first` to `stop` - 1 without a cell, of an object whose last one is `last` or less."""
    return UsageError(f"generations {first}:{stop} contain no cell of {name}, whose generations are below {last + 1}")


#: What is cut away, so that the inside shows: what is before the object's middle along the axes that a function returns.
#:
#: It takes the direction to the eye, (3,).
CUTS = Registry[Named[Callable[[NDArray[np.float64]], tuple[int, ...]]]]("cut")
CUTS.add(Named("corner", "the octant nearest the eye", lambda toward: (0, 1, 2)))
# The upright plane that faces the eye best, so that the section is seen from the front.
CUTS.add(Named("half", "the half in front of an upright plane", lambda toward: (int(np.abs(toward[:2]).argmax()),)))
