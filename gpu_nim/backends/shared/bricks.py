"""The bricks in which every engine grows on exactly one touch: where a cell lies, what a growth can reach, and who owns it.

Coordinates. A cell (a, b, c) is kept at x = b, y = a, z = c, one of the plane, (a, b), at x = b, y = 0, z = a. Of a growth with
symmetry only the fundamental domain a >= b >= c is kept. Its walls are where a - b, b - c and, with signs, c are 0.
Slabs are those of b: most births of a generation have nearly the largest a.

Bricks. A brick has 8 x 8 x 8 sites, in the plane 16 x 1 x 16, of them 256 or 512 cells: every second one of an even lattice. A
word of 64 bits has 4 x 4 x 8 sites of an even lattice, 4 x 4 x 4 of another, 8 x 1 x 8 of the plane. The place of a cell in its
brick is its word and bit. Bricks at one (x, y) are a column, and those at one x a slab. Only those are numbered that the growth
can reach: slab by slab, and column by column.

Walls. Let G be the rule's group of signed permutations and D its fundamental domain, x_0 >= x_1 >= ... (>= 0 for CUBE). The
growth is invariant under G, so its cells in D determine it, and D can be grown alone if each cell t of D receives every touch that
it would receive in the whole growth. For each offset o, t is touched by t - o, which is alive as its representative is. So a
newborn r of D touches t

    |{o: t - o is an image of r}| = |{o: r + o is an image of t}| |G r| / |G t|  times.

Far. A newborn r touches each r + o once, and nothing else, where all of these lie in D and on none of its walls. A cell t is
touched by each t - o alone where these lie in D. So what a cell touches, and what touches it, depends on its distances from the
walls, where any from a limit on counts as one: its class.

Ranks. A rank owns slabs, so that every brick is decided by one rank. They are distributed by digits (`owners`). Births follow
powers of two: a generation has most of them in slabs whose numbers agree with its own in some binary digits. Contiguous parts,
even of equal births, are idle by turns, and blocks distributed in turn to an even number of ranks meet those digits.
Distributed by the sum of a block's digits to the base of that number, as the sequence of Thue and Morse does for two ranks,
every aligned run of blocks is shared evenly. An odd number of ranks is in no step with powers of two, and there blocks in turn
are more even. docs/scaling.md has the figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import product
from operator import mul
from types import ModuleType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import State
from gpu_nim.model.arguments import size_text
from gpu_nim.model.arrays import Ints
from gpu_nim.model.digest import COEFFICIENTS
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.rule import Cells, Rule, Symmetry

#: Bits of a brick's coordinate in a list, as in `cuda/exactly_one.cu`.
FIELD = 21
#: Of the arrays over columns of bricks, while they are made.
COLUMN_BYTES = 80
_SLICE = 1 << 12  # bricks of a state that are read at a time
_MAX_COLUMNS, _MAX_SLABS = 1 << 28, 1 << 20
_LONGEST = 4  # sites along an axis of a word: a touch goes no further than into the words beside one
_COLUMNS = 1 << 20  # of these, whose bricks are counted at a time
#: The slabs are cut into at least so many blocks for each rank, where that leaves them wide enough: fewer send less, more are
#: spread more evenly.
_BLOCKS = 32


def owners(slabs: int, ranks: int) -> NDArray[np.int64]:
    """Return the owner of each slab, shape (slabs,).

    Args:
        slabs: the number of slabs.
        ranks: the number of ranks.

    >>> owners(128, 2)[::2][:8].tolist(), owners(96, 3)[:8].tolist()
    ([0, 1, 1, 0, 1, 0, 0, 1], [0, 1, 2, 0, 1, 2, 0, 1])
    """
    width = 1 << (max(1, slabs // (_BLOCKS * ranks)).bit_length() - 1)
    block = np.arange(slabs, dtype=np.int64) // width
    if ranks % 2:
        return block % ranks
    digits, rest = np.zeros_like(block), block
    while rest.any():
        rest, digit = np.divmod(rest, ranks)
        digits += digit
    return digits % ranks


def supports(rule: Rule) -> bool:
    """Return whether a rule is grown in bricks: births on exactly one touch, 2 or 3 dimensions, no `touches`, short offsets.

    An offset's coordinates are at most 4 in size, and the same holds for what a newborn touches in the fundamental domain: taking a
    cell to its representative brings no two cells further apart along any axis than they were in the maximum norm.

    >>> supports(Rule(2, ((4, 0),), frozenset({1}), seeds=((0, 0),))), supports(Rule(2, ((9, 0),), frozenset({1}), seeds=((0, 0),)))
    (True, False)
    """
    return rule.exactly_one and rule.dimension in (2, 3) and rule.touches is None and rule.reach <= _LONGEST


class BrickGrid:
    """Where the cells of a rule lie in bricks.

    Attributes:
        axes: the coordinates' axes among x, y and z.
        logs: the binary logarithms of a brick's sites along each axis, int64 of shape (3,).
        size: these numbers of sites.
        words: 64-bit words of a brick's cells.
        site: the coordinates of each place in the brick, int64 of shape (places, 3).
        place: the place of each site, int64 of shape `size`.
        across: rows whose products with a cell are its distances from the walls; 0 for axes without; int64 of shape (3, 3).
        origin: the corner from which bricks are counted, int64 of shape (3,): 0.

    >>> grid = BrickGrid(Rule(2, ((1, 1), (1, -1), (-1, 1), (-1, -1)), frozenset({1}), ((0, 0),)))
    >>> grid.site[grid.place[3, 0, 4]].tolist(), grid.words
    ([3, 0, 4], 4)
    """

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.spatial = rule.dimension == 3
        self.folded = rule.symmetry is not Symmetry.NONE
        self.signed = rule.symmetry is Symmetry.CUBE
        self.packed = int(self.spatial and rule.even_sum)
        self.axes = [1, 0, 2] if self.spatial else [2, 0]
        self.logs = np.array([3, 3, 3] if self.spatial else [4, 0, 4])
        word = np.array([2, 2, 2 + self.packed] if self.spatial else [3, 0, 3])  # the same of a word
        self.size = 1 << self.logs
        self.origin = np.zeros(3, np.int64)
        sites = np.array(list(product(*map(range, self.size))), np.int64)
        # The words of a brick, then the cells of each.
        keys = [*(sites >> word).T, *(sites & (1 << word) - 1).T]
        order = np.lexsort(keys[::-1])
        self.site = sites[order[sites[order].sum(axis=1) % 2 == 0]] if self.packed else sites[order]
        self.words = len(self.site) // 64
        self.place = np.zeros(self.size, np.int64)
        self.place[tuple(self.site.T)] = np.arange(len(self.site))
        self.across = np.zeros((3, 3), np.int64)
        for axis, after in zip(self.axes, [*self.axes[1:], None], strict=True):
            if rule.octant or (self.folded and (after is not None or self.signed)):
                self.across[axis, axis] = 1
            if self.folded and after is not None:
                self.across[axis, after] = -1

    def embedded(self, cells: Cells) -> NDArray[np.int64]:
        """Return cells at their x, y and z, shape (N, 3)."""
        at = np.zeros((len(cells), 3), np.int64)
        at[:, self.axes] = cells
        return at

    def split(self, cells: Cells) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return, for cells, their bricks, counted in bricks, shape (N, 3), and their places in these, shape (N,)."""
        at = np.zeros((len(cells), 3), np.int64) - self.origin
        at[:, self.axes] += cells
        return at >> self.logs, self.place[tuple((at & self.size - 1).T)]

    def cells(self, bricks: Any, places: Any, xp: ModuleType = np) -> Any:
        """Return the cells at some places of bricks, arrays of `xp`: the inverse of `split`."""
        at = ((axis, int(self.size[axis]), int(self.origin[axis])) for axis in self.axes)
        along = [bricks[:, axis] * size + xp.asarray(self.site[:, axis] + corner)[places] for axis, size, corner in at]
        return xp.stack(along, axis=1)

    def cells_of(self, bricks: NDArray[np.integer], words: NDArray[np.uint64]) -> Cells:
        """Return the cells whose bits are set, shape (cells, dimension).

        Args:
            bricks: their positions, counted in bricks, shape (N, 3).
            words: their words, shape (N, words).
        """
        index, places = np.nonzero(unpacked(words))
        cells: Cells = self.cells(bricks[index].astype(np.int64), places)
        return cells

    def words_of(self, cells: Cells) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Return the bricks of cells, counted in bricks, shape (n, 3), in lexicographic order, and their words, as `cells_of` does.

        >>> grid = BrickGrid(Rule(2, ((1, 1), (1, -1), (-1, 1), (-1, -1)), frozenset({1}), ((0, 0),)))
        >>> positions, words = grid.words_of(np.array([[16, 17], [16, 18]]))
        >>> positions.tolist(), words[0, 0]
        ([[1, 0, 1]], np.uint64(65792))
        """
        bricks, places = self.split(cells)
        found, which = np.unique(bricks, axis=0, return_inverse=True)
        words = np.zeros((len(found), self.words), np.uint64)
        np.bitwise_or.at(words, (which.reshape(-1), places >> 6), bits(places))
        return found, words

    @cached_property
    def reach(self) -> NDArray[np.uint32]:
        """The bricks that a newborn at each place touches: bit 9 (dx + 1) + 3 (dy + 1) + dz + 1 for each, shape (places,)."""
        targets = self.site[:, None] + self.embedded(np.array(self.rule.offsets, np.int64)) + self.size >> self.logs
        reached: NDArray[np.uint32] = np.bitwise_or.reduce(1 << targets @ np.array([9, 3, 1]), axis=1).astype(np.uint32)
        return reached


def bits(places: Ints) -> NDArray[np.uint64]:
    """Return the bits of places in their words."""
    found: NDArray[np.uint64] = np.uint64(1) << (places & 63).astype(np.uint64)
    return found


def packed(chosen: NDArray[Any]) -> NDArray[np.uint64]:
    """Return bits, along the last axis, lowest first, as words of 64."""
    words: NDArray[np.uint64] = np.ascontiguousarray(np.packbits(chosen, axis=-1, bitorder="little")).view("<u8").astype(np.uint64)
    return words


def unpacked(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return the bits of words, shape (N, words), lowest first, shape (N, 64 words)."""
    return np.unpackbits(words.astype("<u8").view(np.uint8).reshape(len(words), 8 * words.shape[1]), axis=1, bitorder="little")


class Walls(NamedTuple):
    """What cells near the walls touch, or what they are touched by.

    Attributes:
        across: `BrickGrid.across`.
        corner: the distances of the corner of all bricks from the walls, in bricks; int64 of shape (3,).
        limits: the least distance from each that counts as far, int64 of shape (3,); 0 for none.
        orbit: how many cells one of each class stands for, int64 of shape (classes,).
        first: where the touches of each class begin, and the last of them end, int64 of shape (classes + 1,).
        touches: from the cell to the other one in x, y and z, and 1 for a touch or 2 for several; int64 of shape (touches, 4).
        along: each place's distances, int64 of shape (places, 3).
        last: the least of a brick's distances, in bricks, from which on no place is near, int64 of shape (3,).
        near: the places of a brick that are near a wall, by the wall and the brick's distance, uint64 of shape (3, bricks, words).
        domain: those that are not beyond it, likewise.
    """

    across: NDArray[np.int64]
    corner: NDArray[np.int64]
    limits: NDArray[np.int64]
    orbit: NDArray[np.int64]
    first: NDArray[np.int64]
    touches: NDArray[np.int64]
    along: NDArray[np.int64]
    last: NDArray[np.int64]
    near: NDArray[np.uint64]
    domain: NDArray[np.uint64]

    def classes(self, distances: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the classes of cells at these distances, shape (N, 3)."""
        classes: NDArray[np.int64] = np.ravel_multi_index(tuple(np.clip(distances, 0, self.limits).T), tuple(self.limits + 1))
        return classes


def walls(grid: BrickGrid, sign: int) -> Walls:
    """Return what cells near the walls touch, or what they are touched by.

    Args:
        grid: where the cells lie.
        sign: 1 for what newborns touch, -1 for what cells are touched by.

    >>> from gpu_nim.model.rule import Rule, Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> for sign in (1, -1):  # (0, 0) touches (1, 0), and images of it; all of these touch (0, 0)
    ...     near = walls(BrickGrid(square), sign)
    ...     print(near.touches[: near.first[1]].tolist())
    [[0, 0, 1, 1]]
    [[0, 0, 1, 2]]
    """
    rule, symmetry, offsets, size = grid.rule, grid.rule.symmetry, np.array(grid.rule.offsets, np.int64), int(grid.size[0])
    walled = grid.across.any(axis=1)
    # What a newborn touches must not lie on a wall, where orbits are smaller; what touches a cell may. A cell on a wall is near.
    apart = np.where((grid.across < 0).any(axis=1), np.ptp(offsets, axis=1).max(), rule.reach) + (sign > 0)
    limits = np.where(walled, np.maximum(apart, 1), 0)
    distances = np.array(list(product(*(range(limit + 1) for limit in limits.tolist()))), np.int64)[:, grid.axes]
    # A folded cell's coordinates are sums of its distances.
    cells = np.cumsum(distances[:, ::-1], axis=1)[:, ::-1] if grid.folded else distances
    reached = (cells[:, None] + sign * offsets).reshape(-1, rule.dimension)
    kind, inside = np.repeat(np.arange(len(cells)), len(offsets)), (reached >= 0).all(axis=1) | (not rule.octant)
    keys, counts = np.unique(np.column_stack((kind, symmetry.representative(reached)))[inside], axis=0, return_counts=True)
    kind, others, orbit = keys[:, 0], keys[:, 1:], symmetry.orbit_size(cells)
    often = counts * orbit[kind] > symmetry.orbit_size(others) if sign > 0 else counts > 1
    along = grid.site @ grid.across.T
    last = np.where(walled, -(-(limits + size - 1) // size), 0)
    beyond = np.arange(int(last.max()) + 1)[:, None] * size + along.T[:, None]
    return Walls(
        across=grid.across,
        corner=grid.across @ (grid.origin // grid.size),
        limits=limits,
        orbit=orbit,
        first=np.searchsorted(kind, np.arange(len(cells) + 1)),
        touches=np.column_stack((grid.embedded(others - cells[kind]), often + 1)),
        along=along,
        last=last,
        near=packed(walled[:, None, None] & (beyond < limits[:, None, None]) & (beyond >= 0)),
        domain=packed(~walled[:, None, None] | (beyond >= 0)),
    )


class Bricks(BrickGrid):
    """The bricks that a growth to generation `last` can reach, those that one of some ranks owns and those beside them.

    Positions are counted from `origin`, a corner of a brick. Bricks that the rank owns are numbered from 0 to `count` - 1,
    and those of the slabs beside from there to `held` - 1.

    Attributes:
        slabs, wide, deep: how many bricks there are along x, y and z.

    >>> edges = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    >>> square = Rule(2, edges, frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> Bricks(square, 100).count  # of 16 by 16 cells, in 0 <= y <= x <= 100
    28
    >>> [(part.count, part.held) for part in (Bricks(square, 100, rank, 2) for rank in range(2))]
    [(14, 28), (14, 27)]
    """

    def __init__(self, rule: Rule, last: int, rank: int = 0, ranks: int = 1) -> None:
        super().__init__(rule)
        self.last, self.rank, self.ranks = last, rank, ranks
        # A growth lies in its domain, and within f.x <= most f.seed + generations * most f.offset for each f, taken here from
        # {-1, 0, 1}^d.
        most: dict[tuple[int, ...], int] = {f: self._support(f) for f in product((-1, 0, 1), repeat=rule.dimension) if any(f)}
        for across in self.across[self.axes][:, self.axes].tolist():
            if any(across):
                beyond = tuple(-x for x in across)
                most[beyond] = min(0, most[beyond])
        self._planes = self.embedded(np.array(list(most))), list(most.values())
        low, high = np.zeros((2, 3), np.int64)
        for axis, unit in zip(self.axes, np.eye(rule.dimension, dtype=np.int64).tolist(), strict=True):
            low[axis], high[axis] = -most[tuple(-x for x in unit)], most[tuple(unit)]
        if self.folded:
            # All are counted from one number, so that walls lie between bricks or through their diagonals.
            low[self.axes] = low[self.axes[-1]]
        self._low, self._high = int(low[2]), int(high[2])
        # A corner of a brick, so that a state has the same bricks whatever it was planned for.
        self.origin = low // self.size * self.size
        counts: list[int] = ((high - self.origin) // self.size + 1).clip(1).tolist()
        self.slabs, self.wide, self.deep = counts

    def busiest(self) -> Self:
        """Return the bricks of the rank that owns most.

        >>> rule = Rule(2, ((1, 1), (1, -1), (-1, 1), (-1, -1)), frozenset({1}), ((0, 0),))
        >>> Bricks(rule, 1000, 0, 4).busiest().count < Bricks(rule, 1000).count / 3
        True
        """
        sizes = self._sizes  # before all else: it refuses what is too large
        busiest = int(np.bincount(self.owners, sizes, self.ranks).argmax())
        return self if busiest == self.rank else type(self)(self.rule, self.last, busiest, self.ranks)

    def _support(self, functional: tuple[int, ...]) -> int:
        """The maximum of a linear functional over all cells alive at `last`."""
        seeds: list[int] = [sum(map(mul, functional, seed)) for seed in self.rule.seeds]
        offsets: list[int] = [sum(map(mul, functional, offset)) for offset in self.rule.offsets]
        return max(seeds) + self.last * max(0, *offsets)

    @property
    def longest(self) -> int:
        """The most bricks along an axis."""
        return max(self.slabs, self.wide, self.deep)

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The rank that owns each slab, shape (slabs,)."""
        return np.zeros(self.slabs, np.int64) if self.ranks == 1 else owners(self.slabs, self.ranks)

    @property
    def owned(self) -> NDArray[np.bool_]:
        """Whether the rank owns each slab, shape (slabs,)."""
        return self._held[0]

    def _ranges(self, slabs: slice) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first z, and the last z + 1, of the bricks in each column of some slabs, on all ranks, shape (slabs, wide)."""
        x, y = (self.origin[axis] + self.size[axis] * np.arange(count) for axis, count in enumerate((self.slabs, self.wide)))
        x = x[slabs]
        floor, ceiling = (np.full((len(x), self.wide), bound) for bound in (self._low, self._high))
        for f, bound in zip(self._planes[0].tolist(), self._planes[1], strict=True):
            ends = ((f[axis] * corner, f[axis] * (corner + self.size[axis] - 1)) for axis, corner in enumerate((x, y)))
            least_x, least_y = (np.minimum(*each) for each in ends)
            room = bound - least_x[:, None] - least_y
            if f[2] > 0:
                np.minimum(ceiling, room, out=ceiling)
            elif f[2] < 0:
                np.maximum(floor, -room, out=floor)
            else:
                ceiling[room < 0] = self._low - 1
        first = (floor - self.origin[2]) // self.size[2]
        return first, np.where(ceiling < floor, first, (ceiling - self.origin[2]) // self.size[2] + 1)

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """The bricks of each slab, shape (slabs,)."""
        columns = self.slabs * self.wide
        if columns > _MAX_COLUMNS or self.slabs > _MAX_SLABS:
            raise InsufficientMemoryError(
                f"a growth to generation {self.last} needs {size_text(3 * 8 * columns, up=True)}, for {columns:,} columns of "
                f"bricks alone: it is planned for at most {_MAX_COLUMNS:,}, in {_MAX_SLABS:,} slabs"
            )
        some, sizes = max(1, _COLUMNS // self.wide), []
        for start in range(0, self.slabs, some):
            first, stop = self._ranges(slice(start, start + some))
            sizes.append((stop - first).sum(axis=1))
        return np.concatenate(sizes)

    @cached_property
    def _held(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether each slab is the rank's own, and whether it is only beside one of these."""
        own = self.owners == self.rank
        beside = np.zeros_like(own)
        beside[1:] = own[:-1]
        beside[:-1] |= own[1:]
        return own, beside & ~own

    @property
    def total(self) -> int:
        """The number of bricks on all ranks."""
        return int(self._sizes.sum())

    @cached_property
    def count(self) -> int:
        """The number of bricks that the rank owns."""
        return int(self._sizes[self._held[0]].sum())

    @property
    def numbers(self) -> range:
        """The numbers of the bricks that the rank owns."""
        return range(self.count)

    @cached_property
    def held(self) -> int:
        """The number of bricks that it owns or has beside these."""
        own, beside = self._held
        return int(self._sizes[own | beside].sum())

    @property
    def largest(self) -> int:
        """The most bricks of a slab."""
        return int(self._sizes.max(initial=0))

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The number of the first brick of each slab, with a border of one, int64 of shape (slabs + 2,)."""
        own, beside = self._held
        order = np.concatenate((np.flatnonzero(own), np.flatnonzero(beside)))
        starts = np.zeros(self.slabs + 2, np.int64)
        starts[order + 1] = np.cumsum(self._sizes[order]) - self._sizes[order]
        return starts

    @cached_property
    def columns(self) -> NDArray[np.int64]:
        """For each column, with a border of one: the number of brick z less z, the first z and the last z + 1.

        Shape (slabs + 2, wide + 2, 3). Columns that the rank neither owns nor has beside its own have no bricks.
        """
        first, stop = self._ranges(slice(None))
        own, beside = self._held
        stop = np.where((own | beside)[:, None], stop, first)
        sizes = stop - first
        numbers = self.starts[1:-1, None] + np.cumsum(sizes, axis=1) - sizes
        return np.pad(np.stack((numbers - first, first, stop), axis=-1), ((1, 1), (1, 1), (0, 0)))

    def position(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of bricks that the rank owns, by their numbers, counted in bricks, shape (N, 3)."""
        number, first, stop = self.columns[1:-1, 1:-1][self.owned].reshape(-1, 3).T
        some = np.flatnonzero(stop > first)
        column = some[np.searchsorted((number + first)[some], numbers, side="right") - 1]
        x, y = np.divmod(column, self.wide)
        return np.stack((np.flatnonzero(self.owned)[x], y, numbers - number[column]), axis=1)

    def owns(self, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether the rank owns a brick at each of these positions, counted in bricks."""
        x, y, z = positions.T
        inside = (x >= 0) & (x < self.slabs) & (y >= 0) & (y < self.wide)
        x, y = np.where(inside, x, 0), np.where(inside, y, 0)
        _, first, stop = self.columns[x + 1, y + 1].T
        owned: NDArray[np.bool_] = inside & (self.owners[x] == self.rank) & (first <= z) & (z < stop)
        return owned

    def number(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of the bricks at these positions, counted in bricks."""
        numbers: NDArray[np.int64] = self.columns[positions[:, 0] + 1, positions[:, 1] + 1, 0] + positions[:, 2]
        return numbers

    def corners(self, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return where these bricks, which the rank owns, are whatever was planned for: in bricks from (0, 0, 0), shape (N, 3)."""
        return (self.position(numbers) + self.origin // self.size).astype(np.int32)

    def touched(self, state: State) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint64]]]:
        """Yield the numbers of bricks in a state that the rank owns, shape (n,), and their words, (n, words), slice by slice."""
        for start in range(0, len(state.get("bricks", ())), _SLICE):
            positions = state["bricks"][start : start + _SLICE].astype(np.int64) - self.origin // self.size
            own = self.owns(positions)
            yield self.number(positions[own]), state["brick_words"][start : start + _SLICE].view(np.uint64)[own]

    def slices(self, size: int) -> Iterator[range]:
        """Yield the numbers of the bricks that the rank owns, at most `size` at a time."""
        for start in self.numbers[::size]:
            yield range(start, min(start + size, self.numbers.stop))

    @property
    def borders(self) -> NDArray[np.int64]:
        """How many slabs of other ranks there are beside each slab, shape (slabs,)."""
        other = np.diff(self.owners) != 0
        beside: NDArray[np.int64] = np.pad(other, (1, 0)).astype(np.int64) + np.pad(other, (0, 1))
        return beside

    def mixing(self) -> NDArray[np.uint64]:
        """Return the digest's linear mix of x, y and z, and of the corner of all bricks, shape (4,)."""
        mixing = np.zeros(4, np.uint64)
        mixing[self.axes] = np.array(COEFFICIENTS[: self.rule.dimension], np.uint64)
        mixing[3] = (self.origin.astype(np.uint64) * mixing[:3]).sum(dtype=np.uint64)
        return mixing

    @property
    def mixed(self) -> NDArray[np.uint64]:
        """The digest's linear mix of each place, counted from the corner of its brick, shape (places,)."""
        mixed: NDArray[np.uint64] = (self.site.astype(np.uint64) * self.mixing()[:3]).sum(axis=1, dtype=np.uint64)
        return mixed
