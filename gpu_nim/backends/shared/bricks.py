"""The bricks that a growth can reach, who owns them, and what ranks send to each other of their newborns.

Only these bricks are numbered: slab by slab, and column by column (`gpu_nim.backends.shared.brick_grid`).

Ranks. A rank owns slabs, so that every brick is decided by one rank. They are distributed by digits (`owners`). Births follow
powers of two: a generation has most of them in slabs whose numbers agree with its own in some binary digits. Contiguous parts,
even of equal births, are idle by turns, and blocks distributed in turn to an even number of ranks meet those digits.
Distributed by the sum of a block's digits to the base of that number, as the sequence of Thue and Morse does for two ranks,
every aligned run of blocks is shared evenly. An odd number of ranks is in no step with powers of two, and there blocks in turn
are more even. docs/scaling.md has the figures.

Parts. Before a generation a rank receives the newborns within reach of its slabs, by brick. A part, what one rank sends to another,
is uint64: of each brick its position in one number, and its words. The kernels of `cuda/exactly_one.cu` write and read the same, so
that ranks with and without a GPU share a growth.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import product
from operator import mul
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Communicator, State
from gpu_nim.backends.shared.brick_grid import BrickGrid, packed
from gpu_nim.model.digest import COEFFICIENTS
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.rule import Rule

Part: TypeAlias = NDArray[np.uint64]
#: Bits of a brick's coordinate in a list, as in `cuda/exactly_one.cu`.
FIELD = 21
#: Of the arrays over columns of bricks, while they are made.
COLUMN_BYTES = 80
_SLICE = 1 << 12  # bricks of a state that are read at a time
_MAX_COLUMNS, _MAX_SLABS = 1 << 28, 1 << 20
_COLUMNS = 1 << 20  # of these, whose bricks are counted at a time
#: The slabs are cut into at least so many blocks for each rank, where that leaves them wide enough: fewer send less, more are
#: spread more evenly.
_BLOCKS = 16


def owners(slabs: int, ranks: int) -> NDArray[np.int64]:
    """Return the owner of each slab, shape (slabs,).

    Args:
        slabs: the number of slabs.
        ranks: the number of ranks.

    >>> owners(128, 2)[::4][:8].tolist(), owners(96, 3)[::2][:8].tolist()
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


class Bricks(BrickGrid):
    """The bricks that a growth to generation `last` can reach, those that one of some ranks owns and those beside them.

    Positions are counted from `origin`, a corner of a brick. Bricks that the rank owns are numbered from 0 to `count` - 1,
    and those of the slabs beside from there to `held` - 1.

    Attributes:
        slabs, wide, deep: how many bricks there are along x, y and z.

    >>> from gpu_nim.model.rule import Symmetry
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

    @property
    def _indexed(self) -> bool:
        return self.slabs * self.wide <= _MAX_COLUMNS and self.slabs <= _MAX_SLABS

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """The bricks of each slab, shape (slabs,)."""
        if not self._indexed:
            most = bisect(range(self.last), False, key=lambda last: not Bricks(self.rule, last)._indexed) - 1
            raise InsufficientMemoryError(f"generation {self.last:,} is beyond {most:,}, the largest that this engine can index")
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

    @cached_property
    def facing(self) -> dict[int, NDArray[np.uint64]]:
        """Of each rank with slabs beside this one's: the places of each slab whose newborns touch them, shape (slabs, words)."""
        owners = np.pad(self.owners, 1, constant_values=self.rank)
        beside, faces = np.stack((owners[:-2], owners[2:]), axis=1), within_reach(self)
        ranks = {*beside[self.owned].flat} - {self.rank}  # no place touches both
        return {rank: ((beside == rank) * self.owned[:, None]) @ faces for rank in ranks}

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


_FIELDS = np.array([2 * FIELD, FIELD, 0], np.uint64)


def numbered(positions: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Return positions of bricks, shape (N, 3), in one number each.

    >>> numbered(np.array([[1, 0, 3]])).tolist() == [(1 << 42) + 3]
    True
    """
    numbers: NDArray[np.uint64] = np.bitwise_or.reduce(positions.astype(np.uint64) << _FIELDS, axis=1)
    return numbers


def positions(numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the positions in numbers, shape (N, 3): the inverse of `numbered`."""
    return (numbers[:, None] >> _FIELDS & np.uint64((1 << FIELD) - 1)).astype(np.int64)


def within_reach(bricks: Bricks) -> NDArray[np.uint64]:
    """Return the places of a brick whose newborns touch cells of the slab below, and of that above, shape (2, words)."""
    x, reach = bricks.site[:, 0], bricks.rule.reach
    return packed(np.stack((x < reach, x >= bricks.size[0] - reach)))


def pack(found: NDArray[np.integer], newborn: NDArray[np.uint64]) -> Part:
    """Return bricks with newborns as ranks send them.

    Args:
        found: bricks, counted in bricks, shape (N, 3).
        newborn: their words, shape (N, words); those without newborns are left out.
    """
    some = newborn.any(axis=1)
    return np.column_stack((numbered(found[some]), newborn[some]))


def unpack(part: Part) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the bricks with newborns and their words: the inverse of `pack`."""
    return positions(part[:, 0]), part[:, 1:]


def exchange(bricks: Bricks, ranks: Communicator, part: Callable[[NDArray[np.uint64]], Part]) -> Part:
    """Return the newborns that other ranks send to this one.

    Args:
        bricks: those of the rank.
        ranks: all of them.
        part: what this one sends, of the places that are given as in `Bricks.facing`.
    """
    parts = [np.zeros(0, np.uint8)] * bricks.ranks
    for rank, faces in bricks.facing.items():
        parts[rank] = part(faces).reshape(-1).view(np.uint8)
    return np.concatenate(ranks.exchange(parts)).view(np.uint64).reshape(-1, 1 + bricks.words)
