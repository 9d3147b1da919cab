"""What an automaton is: cells of Z^d, who touches whom, and on how many touches a dead cell is born.

A `Rule` is plain data. Generation 0 is the seeds. A cell that is alive touches `x + o` for each of the rule's offsets
`o`; a dead cell of the universe is born at generation n + 1 when the number of cells alive at generation n that touch
it is in `births`. Cells never die. Every engine, on every backend, grows from a `Rule` alone.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import permutations, product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arguments import integer, integers, short_repr, vectors
from gpu_nim.model.errors import UsageError
from gpu_nim.model.shown import Shown

MAX_DIMENSION = 8
_NEAR = 1 << 20  # cells near the seeds, in which the symmetry of a universe is checked

Cell: TypeAlias = tuple[int, ...]
#: Cells as rows of a signed integer array of shape (N, dimension).
Cells: TypeAlias = NDArray[Any]
Universe: TypeAlias = Callable[[Cells], NDArray[np.bool_]]
Touches: TypeAlias = Callable[[Cells, Cell], NDArray[np.bool_]]


def axis_names(dimension: int) -> tuple[str, ...]:
    """Return the names of the coordinates of a cell: x, y and z, or x0, x1, ... where there are more than three.

    >>> axis_names(2), axis_names(4)
    (('x', 'y'), ('x0', 'x1', 'x2', 'x3'))
    """
    return tuple("xyz"[:dimension]) if dimension < 4 else tuple(f"x{axis}" for axis in range(dimension))


class Symmetry(Enum):
    """A group of signed permutations of the coordinates under which a growth is invariant.

    Each orbit has one representative: the coordinates (for `CUBE` their absolute values) in non-increasing order. The
    representatives fill the fundamental domain.

    >>> Symmetry.CUBE.representative(np.array([[-1, 0, 2], [0, 0, -1]]))
    array([[2, 1, 0],
           [1, 0, 0]])
    """

    NONE = "none"
    PERMUTATIONS = "permutations"
    CUBE = "cube"

    def order(self, dimension: int) -> int:
        """The number of elements of the group.

        Args:
            dimension: the number of coordinates.

        >>> [symmetry.order(3) for symmetry in Symmetry]
        [1, 6, 48]
        """
        if self is Symmetry.NONE:
            return 1
        return math.factorial(dimension) << (dimension if self is Symmetry.CUBE else 0)

    def representative(self, cells: Cells) -> Cells:
        """The representative of each cell's orbit, same shape and dtype as `cells` (`cells` itself for `NONE`).

        Args:
            cells: shape (N, d).
        """
        if self is Symmetry.NONE:
            return cells
        folded = np.abs(cells) if self is Symmetry.CUBE else cells
        return np.ascontiguousarray(np.sort(folded, axis=1)[:, ::-1])

    def representatives(self, cells: Cells) -> Cells:
        """Return those of distinct cells that are representatives of their orbits, in the same order.

        Args:
            cells: shape (N, d).

        >>> Symmetry.CUBE.representatives(np.array([[-1, 0], [0, 1], [2, 1]])).tolist()
        [[2, 1]]
        """
        if self is Symmetry.NONE:
            return cells
        falling = (cells[:, :-1] >= cells[:, 1:]).all(axis=1)
        if self is Symmetry.CUBE:
            falling &= cells[:, -1] >= 0
        return cells[falling]

    def orbit_size(self, representatives: Cells) -> NDArray[np.int64]:
        """How many cells each representative stands for: the group's order over the order of its stabiliser.

        Args:
            representatives: shape (N, d).

        >>> Symmetry.CUBE.orbit_size(np.array([[0, 0, 0], [1, 1, 0], [3, 2, 1]]))
        array([ 1, 12, 48])
        """
        count, dimension = representatives.shape
        if self is Symmetry.NONE:
            return np.ones(count, np.int64)
        stabiliser = np.ones(count, np.int64)
        run = np.ones(count, np.int64)
        for axis in range(1, dimension):
            # k equal coordinates contribute k! as 1 * 2 * ... * k, met in order because they are sorted.
            run = np.where(representatives[:, axis] == representatives[:, axis - 1], run + 1, 1)
            stabiliser *= run
        size: NDArray[np.int64] = math.factorial(dimension) // stabiliser
        if self is Symmetry.CUBE:
            signs: NDArray[np.int64] = np.count_nonzero(representatives, axis=1)
            size <<= signs
        return size

    def section_size(self, representatives: Cells, axis: int, value: int) -> NDArray[np.int64]:
        """How many cells of each representative's orbit have coordinate `axis` equal to `value`, int64, exact.

        Args:
            representatives: shape (N, d).
            axis: which coordinate.
            value: its value.

        Every coordinate of the representative is equally often at `axis` over the orbit, so the share of the orbit is
        (coordinates equal to |value|) / dimension, half of it for either sign of a value that is not 0.

        >>> Symmetry.CUBE.section_size(np.array([[0, 0, 0], [1, 1, 0], [2, 1, 1]]), 2, 0)
        array([1, 4, 0])
        >>> Symmetry.PERMUTATIONS.section_size(np.array([[2, 1, 1]]), 2, 1)
        array([2])
        """
        if self is Symmetry.NONE:
            return np.asarray(representatives[:, axis] == value, np.int64)
        dimension = representatives.shape[1]
        level = abs(value) if self is Symmetry.CUBE else value
        multiplicity: NDArray[np.int64] = np.count_nonzero(representatives == level, axis=1)
        copies = 2 if self is Symmetry.CUBE and value else 1
        inside: NDArray[np.int64] = self.orbit_size(representatives) * multiplicity // (dimension * copies)
        return inside

    def transformations(self, dimension: int) -> NDArray[np.int64]:
        """The group as matrices that act on column vectors, int64 of shape (order, dimension, dimension).

        Args:
            dimension: the number of coordinates.

        >>> Symmetry.PERMUTATIONS.transformations(2).tolist()
        [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
        """
        identity = np.eye(dimension, dtype=np.int64)
        if self is Symmetry.NONE:
            return identity[None]
        permuted = np.stack([identity[list(order)] for order in permutations(range(dimension))])
        if self is Symmetry.PERMUTATIONS:
            return permuted
        signs = np.array(list(product((1, -1), repeat=dimension)))
        return (signs[:, None, :, None] * permuted).reshape(-1, dimension, dimension)

    def unfold(self, representatives: Cells) -> Cells:
        """Return every cell of every orbit, once, in lexicographic order.

        Args:
            representatives: distinct ones, shape (N, d).

        >>> Symmetry.PERMUTATIONS.unfold(np.array([[1, 1, 0]])).tolist()
        [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
        """
        dimension = representatives.shape[1]
        group = self.transformations(dimension).astype(representatives.dtype)
        images = (representatives @ group.transpose(0, 2, 1)).reshape(-1, dimension)
        images = images[np.lexsort(images.T[::-1])]
        first = np.ones(len(images), np.bool_)
        first[1:] = (images[1:] != images[:-1]).any(axis=1)
        unfolded: Cells = images[first]
        return unfolded

    def generators(self, dimension: int) -> Iterator[NDArray[np.int64]]:
        """Yield generators of the group as matrices, int64 of shape (dimension, dimension).

        Args:
            dimension: the number of coordinates.
        """
        identity = np.eye(dimension, dtype=np.int64)
        if self is not Symmetry.NONE:
            for axis in range(dimension - 1):
                yield identity[[*range(axis), axis + 1, axis, *range(axis + 2, dimension)]]
        if self is Symmetry.CUBE:
            yield np.diag([-1, *[1] * (dimension - 1)])


@dataclass(frozen=True, repr=False)
class Rule(Shown):
    """An automaton, as data.

    Args:
        dimension: 1 to 8.
        offsets: cell x, once alive, touches x + o for each o. Distinct, not zero. A neighbourhood need not be symmetric:
            the first rule of [B], "born when exactly one of (a-1,b-1,c), (a-1,b,c-1), (a,b-1,c-1) is alive", has the
            offsets (1,1,0), (1,0,1), (0,1,1).
        births: a dead cell is born when the number of alive cells that touch it is one of these; within 1 to len(offsets).
        seeds: the cells of generation 0, in the universe, distinct.
        universe: a vectorised predicate, cells of shape (N, dimension) and dtype int64 -> bool of shape (N,); None is all
            of Z^d. It is called with arrays of the backend that grows, so it should use operators and indexing alone, and
            with cells of any order and number.
        octant: only cells without a negative coordinate belong to the universe (in addition to `universe`).
        symmetry: a group that maps offsets, seeds, universe and touches to themselves; this is checked for the offsets,
            the seeds and the universe near the seeds only.
        touches: for neighbourhoods that depend on the cell: (cells, offset) -> bool of shape (N,), whether each cell
            touches cell + offset, called as `universe` is; None is always.

    Raises:
        UsageError: an argument is none of these.

    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), seeds=((0, 0),), symmetry=Symmetry.CUBE)
    >>> square.even_sum, square.exactly_one, square.box(3)
    (False, True, ((-3, -3), (3, 3)))
    """

    dimension: int
    offsets: tuple[Cell, ...]
    births: frozenset[int]
    seeds: tuple[Cell, ...]
    universe: Universe | None = None
    octant: bool = False
    symmetry: Symmetry = Symmetry.NONE
    touches: Touches | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", integer("dimension", self.dimension, 1, MAX_DIMENSION))
        object.__setattr__(self, "offsets", vectors("offsets", self.offsets))
        object.__setattr__(self, "seeds", vectors("seeds", self.seeds))
        object.__setattr__(self, "births", frozenset(integers("births", self.births)))
        if not isinstance(self.symmetry, Symmetry):
            raise UsageError(f"symmetry must be a Symmetry, got {short_repr(self.symmetry)}")
        for name, predicate in (("universe", self.universe), ("touches", self.touches)):
            if predicate is not None and not callable(predicate):
                raise UsageError(f"{name} must be a function or None, got {short_repr(predicate)}")
        for name, cells in (("offsets", self.offsets), ("seeds", self.seeds)):
            if not cells:
                raise UsageError(f"{name} must hold at least one cell, got none")
            for cell in cells:
                if len(cell) != self.dimension:
                    raise UsageError(f"{name} must have {self.dimension} coordinates each, got {cell}")
                # 2^31 leaves every engine room for the sums of a growth in 64 bits.
                if any(abs(coordinate) >= 2**31 for coordinate in cell):
                    raise UsageError(f"{name} must have coordinates below 2^31 in size, got {cell}")
            if len(set(cells)) != len(cells):
                raise UsageError(f"{name} must be distinct, got {cells}")
        if (0,) * self.dimension in self.offsets:
            raise UsageError("offsets must not hold the zero offset: a cell does not touch itself")
        if not self.births:
            raise UsageError("the rule has no births")
        if not self.births <= set(range(1, len(self.offsets) + 1)):
            raise UsageError(
                f"births must be some of 1 to {len(self.offsets)}, the number of offsets, got {short_repr(sorted(self.births))}"
            )
        seeds = np.array(self.seeds, np.int64)
        outside = ~self.inside(seeds)
        if outside.any():
            raise UsageError(f"seeds must lie in the universe, got {self.seeds[int(outside.argmax())]}")
        if self.symmetry is not Symmetry.NONE:
            self._check_symmetry(seeds)

    def _check_symmetry(self, seeds: NDArray[np.int64]) -> None:
        count = len(self.seeds) * len(self.offsets)
        if count > _NEAR:
            raise UsageError(f"symmetry must be of a rule with up to {_NEAR} seeds times offsets, got {count}")
        near = (seeds[:, None, :] + np.array(self.offsets, np.int64)[None, :, :]).reshape(-1, self.dimension)
        inside = self.inside(near)
        for matrix in self.symmetry.generators(self.dimension):
            for name, cells in (("offsets", self.offsets), ("seeds", self.seeds)):
                if {*map(tuple, (np.array(cells) @ matrix).tolist())} != {*cells}:
                    raise UsageError(f"symmetry must map the {name} to themselves, got {self.symmetry.value!r}")
            if not np.array_equal(self.inside(near @ matrix), inside):
                raise UsageError(f"symmetry must map the universe to itself, got {self.symmetry.value!r}")

    def inside(self, cells: Cells) -> NDArray[np.bool_]:
        """Whether each cell belongs to the universe: bool of shape (N,).

        Args:
            cells: shape (N, dimension).
        """
        inside: NDArray[np.bool_] = np.ones_like(cells[:, 0], dtype=np.bool_)
        if self.octant:
            inside &= (cells >= 0).all(axis=1)
        if self.universe is not None:
            inside &= self.universe(cells)
        return inside

    @property
    def exactly_one(self) -> bool:
        """Whether a dead cell is born on exactly one touch, so that its first touch decides it."""
        return self.births == {1}

    @property
    def reach(self) -> int:
        """The largest coordinate of an offset, without its sign."""
        return max(abs(coordinate) for offset in self.offsets for coordinate in offset)

    @property
    def even_sum(self) -> bool:
        """Whether every cell of the growth has an even coordinate sum."""
        return all(sum(cell) % 2 == 0 for cell in self.offsets + self.seeds)

    def box(self, generation: int) -> tuple[Cell, Cell]:
        """The corners, both included, of a box that holds every cell alive at a generation.

        Args:
            generation: 0 or more.
        """
        generation = integer("generation", generation, 0)
        lower, upper = [], []
        for axis in range(self.dimension):
            steps = [offset[axis] for offset in self.offsets]
            starts = [seed[axis] for seed in self.seeds]
            low = min(starts) + generation * min(0, *steps)
            lower.append(max(0, low) if self.octant else low)
            upper.append(max(starts) + generation * max(0, *steps))
        return tuple(lower), tuple(upper)

    def most_touched(self, generation: int) -> int:
        """A bound on the number of cells touched or alive at a generation: those within that many steps along the offsets.

        Of k offsets, m pairs are opposite: the count of integers of m signs and k - 2 m without, of sizes that add up to n or less.

        Args:
            generation: 0 or more.

        >>> Rule(1, ((1,), (-1,)), frozenset({1}), ((0,),)).most_touched(1)
        5
        """
        offsets = set(self.offsets)
        pairs = sum(tuple(-x for x in offset) in offsets for offset in offsets) // 2
        free = len(offsets) - pairs
        steps = generation + 1  # a newborn of this generation touches those of the next
        points = sum(math.comb(pairs, i) * math.comb(steps - i + free, free) for i in range(min(pairs, steps) + 1))
        return points * len(self.seeds)


#: Three-pile Nim by [B]'s first rule, which an engine of its own grows in planes of bits.
NIM = Rule(3, ((1, 1, 0), (1, 0, 1), (0, 1, 1)), frozenset({1}), ((0, 0, 0),), octant=True)
