"""Exactly-one growth on CUDA, two and three dimensions: bricks of bits, one launch a generation (`cuda/exactly_one.cu`)."""

from __future__ import annotations

from functools import cached_property, reduce
from itertools import compress, product
from operator import add
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.launcher import Launcher, device_memory_errors, to_host
from gpu_nim.backends.interface import Batch, Section, State
from gpu_nim.backends.shared.cells import cell_dtype, check_request, coordinate_dtype
from gpu_nim.backends.shared.layouts import Layout
from gpu_nim.model.digest import COEFFICIENTS, checksum
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.memory import require_memory
from gpu_nim.model.rule import Cells, Rule, Symmetry

# cuda/exactly_one.cu: flags; rows and bits of a brick, width of a coordinate in a list, bits of a window beyond a word.
_SPATIAL, _FOLDED, _SIGNED, _PACKED, _PARITY_OF_V = 1, 2, 4, 8, 16
_ROWS, _BITS, _FIELD, _MARGIN = 32, 32, 21, 16
_BLOCK, _BLOCKS = 128, 8  # threads a block, blocks a multiprocessor
_LISTED_BYTES = 4 * 8 + 2 * 4 * _ROWS  # a listed brick's place in four lists and its newborns in two planes
_MAX_BRICKS = 2**32 - 2
_MAX_COLUMNS = 2**28
_LONGEST = 4  # rows in u of a brick in space: a touch goes no further
_SLAB = 1 << 26  # 32-bit words of a saved table that are on the device at a time
_UNIVERSE_BRICKS = 1 << 10  # bricks whose cells are put to the universe's predicate at a time


class Bricks:
    """Where the cells of a growth to generation `last` lie: coordinates (u, v, w), and the bricks that the growth can reach.

    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> bricks = Bricks(square, 100)
    >>> bricks.locate(np.array([[70, 30]])).tolist()  # u = 0, v = 70 - 30, w = 30
    [[0, 40, 30]]
    >>> bricks.cells(np.array([[0, 40, 30]])).tolist()
    [[70, 30]]
    >>> bricks.count  # of 32 by 32 cells, in 0 <= w <= u / 2 + w <= 50
    6
    """

    def __init__(self, rule: Rule, last: int) -> None:
        self.rule, self.last = rule, last
        self.spatial = rule.dimension == 3
        self.folded = rule.symmetry is not Symmetry.NONE
        self.signed = rule.symmetry is Symmetry.CUBE
        self.packed = self.spatial and rule.even_sum
        self.log_v = 3 if self.spatial else 5
        self.step = 2 if self.packed else 1
        # Rows of `unfold` are coordinates of a cell as sums of u, v and w; `fold` takes them back.
        unfold = np.triu(np.ones((3, 3), np.int64)) if self.folded else np.eye(3, dtype=np.int64)
        fold = np.triu(np.where(np.eye(3, k=1), -1, np.eye(3)).astype(np.int64)) if self.folded else unfold
        if not self.spatial:
            unfold = unfold[1:] * np.array([0, 1, 1])
            fold = np.concatenate((np.zeros((1, 2), np.int64), fold[1:, 1:]))
        self._unfold, self._fold = unfold, fold
        low = [-self._support(-functional) for functional in fold]
        high = [self._support(functional) for functional in fold]
        walls = (self.folded, self.folded, self.signed or rule.octant) if self.folded else (rule.octant,) * 3
        low = [max(0, value) if wall else value for value, wall in zip(low, walls, strict=True)]
        if self.folded:
            low[:2] = 0, 0
        if self.signed:
            low[2] = 0
        if low[2] >= 0:
            # A folded cell's coordinates are sums of u, v and w, and no less than any of them where none is negative.
            for place, axis in enumerate(np.eye(rule.dimension, dtype=np.int64), start=3 - rule.dimension):
                high[place] = min(high[place], self._support(axis))
        # Even corners keep the parity of a cell the parity of its place.
        self.origin = np.array([value - value % 2 for value in low], np.int64)
        self._top = np.array(high, np.int64)
        self._bottom = low[2]
        size = (1 << 5 - self.log_v, 1 << self.log_v, _BITS * self.step)
        self.size = np.array(size, np.int64)
        self.columns_u, self.columns_v = (max(1, int((self._top[i] - self.origin[i]) // size[i] + 1)) for i in (0, 1))
        self.reach = self._reach()

    def _support(self, functional: NDArray[np.int64]) -> int:
        """The most that a linear functional of a cell comes to, over all cells alive at `last`."""
        coefficients = functional.tolist()

        def value(cell: tuple[int, ...]) -> int:
            return sum(f * x for f, x in zip(coefficients, cell, strict=True))

        return max(map(value, self.rule.seeds)) + self.last * max(0, *map(value, self.rule.offsets))

    def _reach(self) -> tuple[int, int, int]:
        """How many rows in u, rows in v and bits in w a newborn's touches, folded, lie away from it at the most."""
        offsets = np.abs(np.array(self.rule.offsets, np.int64))
        most = int(offsets.max())
        if self.folded:
            # Folding brings no two points further apart, neither in the largest coordinate nor in their sum.
            difference = min(2 * most, int(offsets.sum(axis=1).max()))
            u, v, w = (difference if self.spatial else 0), difference, most
        else:
            u, v, w = (int(x) for x in np.abs(self._fold @ offsets.T).max(axis=1))
        return u, v, (w + 2) // 2 if self.packed else w

    @property
    def fits(self) -> bool:
        """Whether a newborn reaches no further than the rows of the bricks next to its own, and a window's 16 bits beyond a word.

        A row beyond two mirrors is moved along w by the sum of its distances from them, 8 at the most.
        """
        return max(self.reach) <= _LONGEST

    @cached_property
    def columns(self) -> NDArray[np.int64]:
        """For each column of bricks: the number of brick w less w, the first w and the last w + 1, shape (columns, 3).

        A growth lies within f.x <= most f.seed + generations * most f.offset for each f, taken here from {-1, 0, 1}^d.
        """
        if self.columns_u * self.columns_v > _MAX_COLUMNS:
            raise InsufficientMemoryError(
                f"a growth to generation {self.last} needs {self.columns_u * self.columns_v:,} columns of bricks, more than the "
                f"{_MAX_COLUMNS:,} that are planned for"
            )
        longest = max(self.columns_u, self.columns_v, int((self._top[2] - self.origin[2]) // self.size[2]) + 1)
        if longest > 1 << _FIELD:
            raise InsufficientMemoryError(
                f"a growth to generation {self.last} spans {longest:,} bricks along an axis, more than the {1 << _FIELD:,} that a "
                "list of bricks can name"
            )
        u0, v0, w0 = self.origin.tolist()
        starts_u = u0 + self.size[0] * np.arange(self.columns_u)
        starts_v = v0 + self.size[1] * np.arange(self.columns_v)
        shape = (self.columns_u, self.columns_v)
        low, high = np.full(shape, self._bottom), np.full(shape, self._top[2])
        for f in product((-1, 0, 1), repeat=self.rule.dimension):
            # In the fundamental domain a functional is largest with its coefficients in the domain's order.
            if not any(f) or (self.folded and sorted(f, reverse=True) != list(f)) or (self.signed and min(f) < 0):
                continue
            along = np.array(f, np.int64) @ self._unfold
            least_u = np.minimum(along[0] * starts_u, along[0] * (starts_u + self.size[0] - 1))
            least_v = np.minimum(along[1] * starts_v, along[1] * (starts_v + self.size[1] - 1))
            room = self._support(np.array(f, np.int64)) - least_u[:, None] - least_v[None, :]
            if along[2] > 0:
                np.minimum(high, room // along[2], out=high)
            elif along[2] < 0:
                np.maximum(low, -(room // -along[2]), out=low)
            else:
                high[room < 0] = self._bottom - 1
        span = int(self.size[2])
        first, stop = (low - w0) // span, np.where(high < low, (low - w0) // span, (high - w0) // span + 1)
        numbers = np.cumsum(stop - first).reshape(shape)
        return np.stack((numbers - stop, first, stop), axis=-1).reshape(-1, 3)

    @cached_property
    def count(self) -> int:
        """The number of bricks."""
        start, _, stop = self.columns[-1].tolist()
        return int(start + stop)

    @property
    def planned(self) -> int:
        """How many bricks a generation's list is planned to hold: all of them in a small growth, an eighth in a large one.

        A generation is a shell of the growth, but a shell that thickens towards each power of two: 53% of the bricks of `fcc` are
        active in generation 511, and a share that falls like 1/n from there.
        """
        return min(self.count, max(1 << 17, self.count // 8))

    def capacity(self, free: int) -> int:
        """How many bricks a list may hold where `free` bytes are free: what is planned, and more in half of what is left over."""
        return min(self.count, self.planned + max(0, free - self.device_bytes) // 2 // _LISTED_BYTES)

    @property
    def window_rows(self) -> int:
        """Rows of a brick and of what surrounds it."""
        u, v, _ = self.reach
        return int((self.size[0] + 2 * u) * (self.size[1] + 2 * v))

    @property
    def device_bytes(self) -> int:
        """Bytes of the columns, of `touched` and slots a brick, of lists and newborns, and of counters a generation."""
        a_brick = 4 * _ROWS + 4 * 4
        return 12 * len(self.columns) + a_brick * self.count + _LISTED_BYTES * self.planned + 32 * (self.last + 2)

    def locate(self, cells: Cells) -> NDArray[np.int64]:
        """The (u, v, w) of cells, from the corner of the bricks, shape (N, 3)."""
        return cells.astype(np.int64) @ self._fold.T - self.origin

    def cells(self, places: Any, xp: ModuleType = np) -> Any:
        """The cells at these (u, v, w), arrays of `xp`, shape (N, dimension)."""
        moved = [places[:, axis] + corner for axis, corner in enumerate(self.origin.tolist())]
        # Sums, where a matrix product would do: CuPy hands products to cuBLAS, which the extras do not install.
        return xp.stack([reduce(add, compress(moved, row)) for row in self._unfold.tolist()], axis=1)

    def place(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The (u, v, w) of these bricks, counted in bricks, shape (N, 3)."""
        stops = self.columns[:, 0] + self.columns[:, 2]
        column = np.searchsorted(stops, numbers, side="right")
        return np.stack((*np.divmod(column, self.columns_v), numbers - self.columns[column, 0]), axis=1)

    def number(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the bricks at these (u, v, w), counted in bricks."""
        column = places[:, 0] * self.columns_v + places[:, 1]
        numbers: NDArray[np.int64] = self.columns[column, 0] + places[:, 2]
        return numbers

    def parity(self, u: Any, v: Any) -> Any:
        """The least w of a row."""
        return ((u + v * (not self.folded)) & 1) * self.packed

    def split(self, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """For cells at (u, v, w): their bricks' places in bricks, their rows in the brick, their bits in the row."""
        bricks = places // self.size
        within = places % self.size
        row = within[:, 0] << self.log_v | within[:, 1]
        bit = (within[:, 2] - self.parity(places[:, 0], places[:, 1])) // self.step
        return bricks, row, bit

    def join(self, bricks: Any, row: Any, bit: Any, xp: ModuleType = np) -> Any:
        """The (u, v, w) of cells given by bricks, rows and bits, arrays of `xp`: the inverse of `split`."""
        u = bricks[:, 0] * self.size[0] + (row >> self.log_v)
        v = bricks[:, 1] * self.size[1] + (row & (1 << self.log_v) - 1)
        return xp.stack((u, v, bricks[:, 2] * self.size[2] + bit * self.step + self.parity(u, v)), axis=1)

    @property
    def flags(self) -> int:
        """What cuda/exactly_one.cu is told of the rule."""
        return (
            self.spatial * _SPATIAL
            | self.folded * _FOLDED
            | self.signed * _SIGNED
            | self.packed * _PACKED
            | (not self.folded) * _PARITY_OF_V
        )

    def touchers(self) -> NDArray[np.int32]:
        """For each offset, in one number: where the toucher's window lies from a row's own, its shift for either parity."""
        u, v, w = self._fold @ np.array(self.rule.offsets, np.int64).T
        width = int(self.size[1]) + 2 * self.reach[1]
        even, odd = (_MARGIN + (parity * self.packed - w - self.parity(parity - u, -v)) // self.step for parity in (0, 1))
        packed: NDArray[np.int32] = (-(u * width + v) << 16 | odd << 8 | even).astype(np.int32)
        return packed

    def mixing(self) -> tuple[int, int, int, int]:
        """The digest's linear mix of a representative in u, v and w, and that of the corner."""
        coefficients = COEFFICIENTS[: self.rule.dimension]
        weights = [sum(k * int(x) for k, x in zip(coefficients, axis, strict=True)) % 2**64 for axis in self._unfold.T]
        corner = self.cells(np.zeros((1, 3), np.int64))[0].tolist()
        return (*weights, sum(k * x for k, x in zip(coefficients, corner, strict=True)) % 2**64)

    def section(self, axis: int, value: int) -> tuple[int, int, int]:
        """For newborns whose coordinate `axis` is `value`: the axes and the level that the kernel takes, and what its sum holds
        each of them.
        """
        if not self.folded:
            at = axis + 3 - self.rule.dimension
            return 1 << at, int(value - self.origin[at]), 1
        level = abs(value) if self.signed else value
        return 8, int(level - self.origin[2]), self.rule.dimension * (2 if self.signed and value else 1)


def supports(rule: Rule) -> bool:
    """Return whether this engine grows the rule: births on exactly one touch, 2 or 3 dimensions, no `touches`, short offsets.

    An offset's coordinates go as far as 4; with symmetry, only where their sizes add up to 4 or none of them is more than 2.

    >>> supports(Rule(2, ((1, 0),), births=frozenset({1}), seeds=((0, 0),)))
    True
    >>> supports(Rule(2, ((9, 0),), births=frozenset({1}), seeds=((0, 0),)))
    False
    """
    return rule.exactly_one and rule.dimension in (2, 3) and rule.touches is None and Bricks(rule, 0).fits


def device_bytes(rule: Rule, last: int) -> int:
    """Return the bytes of device memory for growing `rule` to generation `last`.

    >>> edges = tuple(o for o in product((-1, 0, 1), repeat=3) if sum(map(abs, o)) == 2)
    >>> fcc = Rule(3, edges, frozenset({1}), ((0, 0, 0),), symmetry=Symmetry.CUBE)
    >>> device_bytes(fcc, 1024) < 4e7
    True
    """
    return Bricks(rule, last).device_bytes


class ExactlyOneEngine:
    """A growth of a rule that `supports` admits, to generation `last` at the most, from its seeds or from a state.

    UsageError for another rule; InsufficientMemoryError, before anything is allocated, when `device_bytes` are not free, and when
    more bricks are active in a generation than were planned for.
    """

    def __init__(self, launcher: Launcher, rule: Rule, last: int, state: State | None = None) -> None:
        if not supports(rule):
            raise UsageError(
                f"rule must have births {{1}}, 2 or 3 dimensions, no touches and short offsets, got births {sorted(rule.births)}, "
                f"{rule.dimension} dimensions, touches {rule.touches} and offsets {rule.offsets}"
            )
        self._launch, self.rule, self.last = launcher, rule, last
        self._bricks = bricks = Bricks(rule, last)
        work = f"a growth to generation {last} on {launcher.device}"
        free = launcher.free_memory()
        require_memory(bricks.device_bytes, free, work)
        if bricks.count > _MAX_BRICKS:
            raise InsufficientMemoryError(f"{work} has {bricks.count:,} bricks, more than the {_MAX_BRICKS:,} that can be numbered")
        self._dtype, self._cell_dtype = coordinate_dtype(*rule.box(last)), cell_dtype(*rule.box(last))
        xp = launcher.xp
        self._capacity = capacity = bricks.capacity(free)
        with device_memory_errors(work):
            numbers, firsts, stops = bricks.columns.T
            columns = np.stack((numbers.astype(np.uint32).view(np.int32), firsts.astype(np.int32), stops.astype(np.int32)), axis=1)
            self._columns = xp.asarray(columns.reshape(-1))
            self._offsets = xp.asarray(bricks.touchers())
            self._touched = xp.zeros(bricks.count * _ROWS, np.uint32)
            self._newborn = xp.empty(2 * capacity * _ROWS, np.uint32)
            self._slots = xp.zeros(4 * bricks.count, np.uint32)
            self._lists = xp.empty(4 * capacity, np.uint64)
            self._counts = xp.zeros(last + 2, np.uint32)
            if rule.universe is not None:
                self._forbid()
        # What every launch is given, made once: a launch must not take longer than its kernel.
        self._shape = (self._columns, bricks.columns_u, bricks.columns_v, bricks.log_v, *bricks.reach, bricks.flags)
        self._rings = (self._newborn, self._slots, self._lists, self._counts, bricks.count, capacity)
        self._plan = (*self._shape, self._offsets, len(rule.offsets), self._touched, *self._rings)
        self._mixing = bricks.mixing()
        # A window a row and 32 slots for each warp.
        self._shared_bytes = _BLOCK // 32 * 8 * (bricks.window_rows + 16)
        # A warp a brick: a small growth never has work for the whole device.
        self._grid = (min(launcher.multiprocessors * _BLOCKS, -(-bricks.count * 32 // _BLOCK)),)
        self.generation = -1
        if state is not None:
            self._restore(state)

    def advance(self, to: int, *, cells: bool = False, section: Section | None = None) -> Batch:
        """Grow through generation `to` and report each generation since the last one done.

        With `section` = (axis, value) the batch also counts the newborns that have that coordinate.  UsageError when
        `to` is not past the last generation done, or is past the last one planned.
        """
        check_request(self.generation, to, self.last, section, self.rule.dimension)
        xp, first = self._launch.xp, self.generation + 1
        axes, level, share = (0, 0, 1) if section is None else self._bricks.section(*section)
        grown: list[Cells] = []
        with device_memory_errors(f"a growth to generation {to} on {self._launch.device}"):
            births, checksums, sections = (xp.zeros(to - first + 1, np.uint64) for _ in range(3))
            for at in range(to - first + 1):
                if self.generation < 0:
                    self._lay(births, checksums, sections, section)
                else:
                    self._grow(axes, level, births, checksums, sections, at)
                if cells:
                    self._require_room()
                    grown.append(self.rule.symmetry.unfold(self._representatives()).astype(self._cell_dtype, copy=False))
            self._require_room()
            return Batch(
                first,
                to_host(births),
                to_host(checksums),
                np.concatenate(grown) if cells else None,
                None if section is None else to_host(sections) // np.uint64(share),
            )

    def state(self) -> State:
        """Return the state as the NumPy engine has it: generation, newborns' representatives, and its table as bits."""
        layout = Layout(self.rule, self.last)
        table = np.zeros(-(-layout.size // 32), np.uint32)
        codec = self._codec(layout)
        with device_memory_errors(f"the state of generation {self.generation}"):
            for first in range(0, len(table), _SLAB):
                slab = self._launch.xp.zeros(min(_SLAB, len(table) - first), np.uint32)
                self._exchange("exactly_one_export", codec, slab, first)
                table[first : first + _SLAB] = to_host(slab)
        return {
            "generation": np.array(self.generation),
            "newborns": self._representatives(),
            "last": np.array(self.last),
            "sealed": table.view(np.uint8)[: -(-layout.size // 8)],
        }

    def _restore(self, state: State) -> None:
        generation = int(state["generation"])
        layout = Layout(self.rule, int(state["last"]))
        sealed = np.ascontiguousarray(state["sealed"]).view(np.uint8)
        codec = self._codec(layout)
        with device_memory_errors(f"the state of generation {generation}"):
            for first in range(0, -(-len(sealed) // 4), _SLAB):
                part = sealed[4 * first : 4 * (first + _SLAB)]
                slab = np.pad(part, (0, -len(part) % 4)).view(np.uint32)
                self._exchange("exactly_one_import", codec, self._launch.xp.asarray(slab), first)
            if generation >= 0:
                self._take(generation, state["newborns"])

    def _codec(self, layout: Layout) -> tuple[Any, int]:
        """How the kernels find a cell's key in a table that is laid out so."""
        filler = 3 - self.rule.dimension
        corner = self._bricks.cells(np.zeros((1, 3), np.int64))[0]
        lower, upper = (np.array(bound, np.int64) - corner for bound in (layout.lower, layout.upper))
        # In the plane the first of three coordinates is no coordinate: any value of it is within bounds, and counts nothing.
        far = np.full(filler, 2**40, np.int64)
        strides = np.array([0] * filler + layout.strides, np.int64)
        return self._launch.xp.asarray(np.concatenate((-far, lower, far, upper, strides))), int(layout.even)

    def _exchange(self, kernel: str, codec: tuple[Any, int], slab: Any, first: int) -> None:
        """Move touched cells to, or from, the part of a table that begins at its 32-bit word `first`."""
        self._launch(kernel, self._grid, (_BLOCK,), (*self._shape, *codec, self._touched, slab, first, len(slab)))

    def _grow(self, axes: int, level: int, births: Any, checksums: Any, sections: Any, at: int) -> None:
        self.generation += 1
        args = (*self._plan, self.generation, *self._mixing, axes, level, births, checksums, sections, at)
        self._launch("exactly_one_grow", self._grid, (_BLOCK,), args, self._shared_bytes)

    def _require_room(self) -> None:
        most, capacity = int(self._counts.max()), self._capacity
        if most > capacity:
            raise InsufficientMemoryError(
                f"a generation up to {self.generation} has {most:,} active bricks, {capacity:,} were planned for"
            )

    def _lay(self, births: Any, checksums: Any, sections: Any, section: Section | None) -> None:
        symmetry, seeds = self.rule.symmetry, np.array(self.rule.seeds, np.int64)
        births[:1] = len(seeds)
        folded = symmetry.representative(seeds)
        checksums[:1] = np.uint64(checksum(folded))
        representatives = np.unique(folded, axis=0)
        if section is not None:
            _, _, share = self._bricks.section(*section)
            sections[:1] = int((seeds[:, section[0]] == section[1]).sum()) * share
        self._take(0, representatives)

    def _take(self, generation: int, representatives: Cells) -> None:
        """Make these cells the newborns of a generation, touched, and list the bricks that they touch."""
        xp, bricks = self._launch.xp, self._bricks
        self.generation = generation
        places, row, bit = bricks.split(bricks.locate(representatives))
        numbers, inverse = np.unique(bricks.number(places), return_inverse=True)
        if len(numbers) > self._capacity:
            raise InsufficientMemoryError(
                f"generation {generation} has {len(numbers):,} active bricks, {self._capacity:,} were planned for"
            )
        words = np.zeros(len(numbers) * _ROWS, np.uint32)
        np.bitwise_or.at(words, inverse.reshape(-1) * _ROWS + row, np.uint32(1) << bit.astype(np.uint32))
        u, v, w = bricks.place(numbers).T
        listed = (u << 2 * _FIELD | v << _FIELD | w).astype(np.uint64)
        ring, plane = (generation & 3) * self._capacity, (generation & 1) * self._capacity * _ROWS
        self._newborn[plane : plane + len(words)] = xp.asarray(words)
        self._lists[ring : ring + len(listed)] = xp.asarray(listed)
        self._counts[generation : generation + 1] = len(listed)
        slots = (generation & 3) * bricks.count + numbers
        self._slots[xp.asarray(slots)] = xp.arange(1, len(numbers) + 1, dtype=np.uint32)
        rows = xp.asarray((numbers[:, None] * _ROWS + np.arange(_ROWS)).reshape(-1))
        self._touched[rows] |= xp.asarray(words)
        self._launch("exactly_one_announce", self._grid, (_BLOCK,), (*self._shape, *self._rings, generation))

    def _representatives(self) -> Cells:
        """The newborns' representatives, in lexicographic order."""
        bricks, generation = self._bricks, self.generation
        if generation < 0:
            return np.zeros((0, self.rule.dimension), self._dtype)
        listed = int(self._counts[generation])
        ring, plane = (generation & 3) * self._capacity, (generation & 1) * self._capacity * _ROWS
        packed = to_host(self._lists[ring : ring + listed]).astype(np.int64)
        words = to_host(self._newborn[plane : plane + listed * _ROWS])
        filled = np.flatnonzero(words)
        bits = np.unpackbits(words[filled].astype("<u4").view(np.uint8), bitorder="little").reshape(-1, _BITS)
        index, bit = np.nonzero(bits)
        brick, row = np.divmod(filled[index], _ROWS)
        mask = (1 << _FIELD) - 1
        places = np.stack((packed >> 2 * _FIELD, packed >> _FIELD & mask, packed & mask), axis=1)[brick]
        cells: Cells = bricks.cells(bricks.join(places, row, bit))
        return cells[np.lexsort(cells.T[::-1])].astype(self._dtype)

    def _forbid(self) -> None:
        """Mark the cells outside of the universe as touched, so that none of them is ever born."""
        xp, bricks, layout = self._launch.xp, self._bricks, Layout(self.rule, self.last)
        lower, upper = xp.asarray(np.array(layout.lower)), xp.asarray(np.array(layout.upper))
        row, bit = xp.divmod(xp.arange(_ROWS * _BITS), _BITS)
        weights = xp.asarray(np.uint32(1) << np.arange(_BITS, dtype=np.uint32))
        for start in range(0, bricks.count, _UNIVERSE_BRICKS):
            numbers = np.arange(start, min(start + _UNIVERSE_BRICKS, bricks.count))
            places = xp.repeat(xp.asarray(bricks.place(numbers)), len(row), axis=0)
            cells = bricks.cells(bricks.join(places, xp.tile(row, len(numbers)), xp.tile(bit, len(numbers)), xp), xp)
            # No cell beyond the box is ever touched, and a saved state has no place for it.
            within = ((cells >= lower) & (cells <= upper)).all(axis=1)
            words = ((~self.rule.inside(cells) & within).reshape(-1, _BITS) * weights).sum(axis=1)
            self._touched[start * _ROWS : start * _ROWS + len(words)] = words.astype(np.uint32)
