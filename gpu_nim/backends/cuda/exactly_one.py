"""Exactly-one growth on CUDA, two and three dimensions: bricks of bits, one launch a generation (`cuda/exactly_one.cu`).

A generation of a small growth takes a device a few microseconds, less than a launch from Python. So `recorded` generations are
recorded as one CUDA graph, which is launched as a whole. What changes between them is read from a clock in device memory: a
launch grows the generation (clock + its step), and the last launch of a batch advances the clock. This is a graph and not a
loop in one kernel, because a loop over generations needs a barrier of the whole grid, which is no faster than the gap between
two launches of a graph, allows only as many blocks as are resident, and would run only on a device: recorded launches are the
same launches in the same order on the CPU. The host waits for the device at the end of a batch only.

On several ranks each has the bricks of its slabs (`gpu_nim.backends.cuda.bricks`) and the host waits in each generation, for
the sizes of what is sent and for the newborns of other ranks. These travel by brick: those within reach of a border. They stay
on the device where the communicator takes its buffers, and otherwise pass through page-locked memory of the host, to
which `Launcher.start_copy_to_host` copies. The arrays for them are as large as is planned.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.bricks import UNIVERSE_BRICKS, DeviceBricks, exchange_parts
from gpu_nim.backends.cuda.launcher import Launcher, device_memory_errors, predicate_errors, to_host
from gpu_nim.backends.interface import ALONE, Batch, Communicator, Section, State
from gpu_nim.backends.shared.brick_grid import packed
from gpu_nim.backends.shared.bricks import numbered, positions, within_reach
from gpu_nim.backends.shared.engines import BrickEngine
from gpu_nim.model.digest import checksum
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.rule import Cells


class ExactlyOneEngine(BrickEngine):
    """A growth in bricks, with touches no further than beside a brick, from its seeds or from a state.

    On several ranks every rank has one, in its own bricks, with the same state and the same calls; see
    `gpu_nim.backends.interface.Communicator`. Of the bytes that are `free` it takes more than is planned, where lists gain by them.

    InsufficientMemoryError when more bricks are active in a generation than were planned for.
    """

    saved = 1 << 16
    recorded = 64  # generations in a graph, which cost the host as much as one or two launches
    _bricks: DeviceBricks

    def __init__(
        self, launcher: Launcher, bricks: DeviceBricks, state: State | None = None, ranks: Communicator = ALONE, free: int = 0
    ) -> None:
        rule, last, xp = bricks.rule, bricks.last, launcher.xp
        super().__init__(rule, last, ranks)
        self._launch, self._bricks = launcher, bricks
        self._capacity = capacity = bricks.capacity(free)
        with device_memory_errors(f"a growth to generation {last} on {launcher.device}"):
            self._growth: dict[str, Any] = {**bricks.scalars(capacity)}
            self._growth |= {name: xp.asarray(table.reshape(-1)) for name, table in bricks.tables.items()}
            for name, (size, dtype) in bricks.arrays(capacity).items():
                self._growth[name] = (xp.empty if name == "lists" else xp.zeros)(size, dtype)  # written before they are read
            self._touched, self._newborn, self._lists = (self._growth[name] for name in ("touched", "newborn", "lists"))
            self._counts, self._reports, self._clock = (self._growth[name] for name in ("counts", "reports", "clock"))
            if rule.universe is not None:
                self._forbid()
            bind = partial(launcher.bind, defines=bricks.defines)
            self._grow = bind("exactly_one_grow", self._growth | {"step": 0, "section_axes": 0, "section_level": 0})
            self._lay = bind("exactly_one_lay", self._growth | {"generation": 0})
            self._tick = bind("exactly_one_tick", self._growth | {"generations": 0})
            # A lane for each word: a small growth never has work for the whole device.
            self._grid = self._grow.blocks(bricks.count * bricks.words)
            if ranks.size > 1:
                self._bind_exchange()
            self._graphs: dict[tuple[int, int], Callable[[], None]] = {}
            if state is not None:
                self._restore(state)

    def advance(self, to: int, *, cells: bool = False, section: Section | None = None) -> Batch:
        """Grow through generation `to`, and wait for the device at the end."""
        self._check(to, section)
        first = self.generation + 1
        axes, level, multiplicity = (0, 0, 1) if section is None else self._section(*section)
        grown: list[Cells] = []
        with device_memory_errors(f"a growth to generation {to} on {self._launch.device}"):
            if first == 0:
                self.generation = 0
                self._set_newborns(self._seeds())
                self._reports[:3].set(self._seeded(section, multiplicity))
                if cells:
                    grown.append(self._cells())
            while self.generation < to:
                self._run(1 if cells else to - self.generation, axes, level)
                self._require_room(int(to_host(self._counts).reshape(-1, 2).sum(axis=1, dtype=np.int64).max()))
                if cells:
                    grown.append(self._cells())
            reports = to_host(self._reports[3 * first : 3 * (to + 1)]).reshape(-1, 3)
        reports[:, 2] //= np.uint64(multiplicity)
        return self._summed(reports, grown if cells else None, section)

    def _run(self, generations: int, axes: int, level: int) -> None:
        """Queue this number of generations."""
        if self._ranks.size > 1:
            for _ in range(generations):
                self._exchange()
                self._queue(1, axes, level)
                self.generation += 1
            return
        left = generations
        while left >= self.recorded:
            if (axes, level) not in self._graphs:
                self._graphs[axes, level] = self._launch.record(lambda: self._queue(self.recorded, axes, level))
            self._graphs[axes, level]()
            left -= self.recorded
        if left:
            self._queue(left, axes, level)
        self.generation += generations

    def _bind_exchange(self) -> None:
        """Bind what sends the newborns within reach of a border, which other ranks need, and what puts theirs into the rings."""
        launcher, bricks, ranks, xp = self._launch, self._bricks, self._ranks, self._launch.xp
        self._starts, self._counted = xp.zeros(ranks.size, np.uint64), xp.zeros(ranks.size + 1, np.uint32)
        self._sent, self._received = (xp.empty((1 + bricks.words) * int(np.sum(each)), np.uint64) for each in bricks.exchanged)
        sending = {
            "generation": 0,
            "faces": xp.asarray(within_reach(bricks).reshape(-1)),
            "owners": xp.asarray(np.pad(bricks.owners, 1, constant_values=ranks.rank).astype(np.int32)),
            "rank": ranks.rank,
            "ranks": ranks.size,
            "starts": self._starts,
            "counted": self._counted,
            "parts": self._sent,
            "writes": 0,
        }
        arrived = {"generation": 0, "arrived": 0, "parts": self._received}
        self._send = launcher.bind("exactly_one_send", self._growth | sending, defines=bricks.defines)
        self._receive = launcher.bind("exactly_one_receive", self._growth | arrived, defines=bricks.defines)

    def _exchange(self) -> None:
        """Exchange the newborns of the last generation done with all other ranks."""
        grid, generation, brick = self._grid, self.generation, 1 + self._bricks.words
        self._send(grid, generation=generation, writes=0)
        counted = to_host(self._counted).astype(np.int64)
        if (more := counted[:-1] - self._bricks.exchanged[0]).max() > 0:
            raise InsufficientMemoryError(f"generation {generation} has {more.max():,} bricks more to send than were planned for")
        sizes = brick * counted[:-1]
        if sizes.any():
            self._starts.set((np.cumsum(sizes) - sizes).astype(np.uint64))
            self._send(grid, generation=generation, writes=1)
        arrived = exchange_parts(self._launch, self._ranks, self._sent, sizes, self._received) // brick
        self._require_room(int(counted[-1]) + arrived)
        if arrived:
            self._receive(grid, generation=generation, arrived=arrived)

    def _queue(self, generations: int, axes: int, level: int) -> None:
        for step in range(generations):
            self._grow(self._grid, step=step, section_axes=axes, section_level=level)
        self._tick(1, generations=generations)

    def state(self) -> State:
        """Return the rank's part, copied to the host."""
        with device_memory_errors(f"the state of generation {self.generation}"):
            return super().state()

    def _section(self, axis: int, value: int) -> tuple[int, int, int]:
        """For newborns whose coordinate `axis` is `value`: the axes and level of the kernels, and how often these count each."""
        bricks, dimension = self._bricks, self.rule.dimension
        level = (abs(value) if bricks.signed else value) - int(bricks.origin[bricks.axes[axis]])
        if not bricks.folded:
            return 1 << bricks.axes[axis], level, 1
        return sum(1 << each for each in bricks.axes), level, dimension * (2 if bricks.signed and value else 1)

    def _words(self, numbers: range) -> NDArray[np.uint64]:
        words = self._bricks.words
        return to_host(self._touched[numbers.start * words : numbers.stop * words]).reshape(-1, words)

    def _put_back(self, numbers: NDArray[np.int64], words: NDArray[np.uint64]) -> None:
        """Add words of bricks to those that are touched: what is outside of the universe is touched already."""
        if not len(numbers):
            return
        first, count = int(numbers.min()), self._bricks.words
        part = self._touched[first * count : (int(numbers.max()) + 1) * count]
        touched = to_host(part)  # and added to there: CuPy would compile a kernel for it
        touched.reshape(-1, count)[numbers - first] |= words
        part.set(touched)

    def _require_room(self, active: int) -> None:
        if active > self._capacity:
            raise InsufficientMemoryError(
                f"a generation up to {self.generation} has {active:,} active bricks, {self._capacity:,} were planned for"
            )

    def _seeded(self, section: Section | None, multiplicity: int) -> NDArray[np.uint64]:
        """What is reported of the rank's own seeds, without a wait for the device; `advance` divides by the multiplicity."""
        rule, own = self.rule, self._own(self._seeds())
        in_section = 0 if section is None else int(rule.symmetry.section_size(own, *section).sum()) * multiplicity
        sizes = rule.symmetry.orbit_size(own)
        return np.array([sizes.sum(), checksum(own, sizes), in_section], np.uint64)

    def _set_newborns(self, representatives: Cells) -> None:
        """Make the rank's own among these the newborns, mark them as touched, and list the bricks they touch."""
        generation, count = self.generation, self._bricks.words
        found, words = self._bricks.words_of(self._own(representatives))
        self._require_room(len(found))
        ring = (generation & 1) * self._capacity
        # Copied to their place, without arrays on the way that no plan knows.
        self._newborn[ring * count : ring * count + words.size].set(words.reshape(-1))
        self._lists[ring : ring + len(found)].set(numbered(found))
        self._counts[2 * generation : 2 * generation + 2].set(np.array([len(found), 0], np.uint32))
        self._clock.set(np.array([generation], np.uint32))
        self._lay(self._grid, generation=generation)

    @property
    def newborns(self) -> Cells:
        """The newborns of the domain that this rank owns, in lexicographic order, shape (N, dimension)."""
        bricks, generation = self._bricks, self.generation
        if generation < 0:
            return np.zeros((0, self.rule.dimension), np.int64)
        front, back = to_host(self._counts[2 * generation : 2 * generation + 2]).tolist()
        start, stop, count = (generation & 1) * self._capacity, (1 + (generation & 1)) * self._capacity, bricks.words
        parts = [(start, start + front), (stop - back, stop)]
        listed = np.concatenate([to_host(self._lists[first:end]) for first, end in parts])
        words = np.concatenate([to_host(self._newborn[first * count : end * count]) for first, end in parts]).reshape(-1, count)
        cells = bricks.cells_of(positions(listed), words)
        return cells[np.lexsort(cells.T[::-1])]

    def _forbid(self) -> None:
        """Mark the cells outside of the universe as touched, so that none of them is ever born."""
        xp, bricks = self._launch.xp, self._bricks
        place, count = xp.arange(len(bricks.site)), bricks.words
        for numbers in bricks.slices(UNIVERSE_BRICKS):
            found = xp.repeat(xp.asarray(bricks.position(np.arange(numbers.start, numbers.stop))), len(place), axis=0)
            with predicate_errors("universe"):
                outside = ~self.rule.inside(bricks.cells(found, xp.tile(place, len(numbers)), xp))
            words = packed(to_host(outside).reshape(len(numbers), -1))
            self._touched[numbers.start * count : numbers.stop * count].set(words.reshape(-1))
