"""The general engine on CUDA, for any rule in one to eight dimensions: a hash table of touched cells (`cuda/general.cu`).

A generation is three launches, to touch, to decide and to survey, and one wait: the host has to know how many cells were touched
and born before it can reserve memory for the next.  Launches are bound again when the table or the lists have grown, which is rare.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.launcher import Launcher, device_memory_errors, pooled, predicate_errors, to_host
from gpu_nim.backends.cuda.table import Launch, read_constants
from gpu_nim.backends.interface import ALONE, Batch, Communicator, Section, State
from gpu_nim.backends.shared.engines import TouchEngine
from gpu_nim.model.digest import COEFFICIENTS
from gpu_nim.model.rule import MAX_DIMENSION, Cells, Rule, Symmetry

_CONSTANTS = read_constants("general.cu")
_EMPTY, _CLOSED = np.uint64(_CONSTANTS["EMPTY"]), _CONSTANTS["CLOSED"]
_FIRST_BITS = 12  # of the number of slots
_FIRST_ROOM = 1 << 12  # newborns times offsets


class GeneralEngine(TouchEngine):
    """A growth of any rule, to at most generation `last`, from its seeds or from a state that an engine returned.

    UsageError when the box of generation `last` has more cells than a 63-bit key can tell apart; InsufficientMemoryError when the
    device has too little memory, after which it cannot go on.
    """

    def __init__(self, launcher: Launcher, rule: Rule, last: int, state: State | None = None, ranks: Communicator = ALONE) -> None:
        super().__init__(rule, last, ranks)
        self._launch, grid = launcher, self._grid
        xp, filler = launcher.xp, (0, MAX_DIMENSION - rule.dimension)
        births = np.zeros(_CLOSED, np.uint8)
        births[list(rule.births)] = 1
        coefficients = np.array(COEFFICIENTS[: rule.dimension], np.uint64)
        with device_memory_errors(f"a growth on {launcher.device}"):
            self._jumps = xp.asarray(np.array(rule.offsets, np.int64) @ grid.strides)
            self._births = xp.asarray(births)
            self._box = xp.asarray(np.concatenate((np.pad(grid.origin, filler), np.pad(grid.strides, filler))))
            self._coefficients = xp.asarray(np.pad(coefficients, filler))
            self._launches: tuple[Launch, Launch, Launch] | None = None
            self._counters = xp.zeros(3, np.uint64)
            self._room = self._count = self._used = 0
            self._newborns: Any = xp.empty(0, np.uint64)
            self._changed: Any = None
            self._allowed: Any = None
            self._make_room(_FIRST_ROOM)
            self._table(_FIRST_BITS)
            if state is not None:
                self.generation = int(state["generation"])
                self._put(state["newborns"])
                self._enter(self._encode(state["touched"]), xp.asarray(state["touches"].astype(np.uint32)))

    def advance(self, to: int, *, cells: bool = False, section: Section | None = None) -> Batch:
        """Grow through generation `to`, and wait for the device at the end."""
        self._check(to, section)
        xp, first, seeds = self._launch.xp, self.generation + 1, np.array(self.rule.seeds, np.int64)
        grown: list[Cells] = []
        with device_memory_errors(f"a growth to generation {to} on {self._launch.device}"):
            # Births, checksum and section of each generation.
            self._reports, self._section = xp.zeros(3 * (to - first + 1), np.uint64), section
            self._launches = None
            while self.generation < to:
                if self.generation < 0:
                    self._put(seeds)
                    self._enter(self._encode(seeds), xp.asarray(np.full(len(seeds), _CLOSED, np.uint32)))
                else:
                    self._step()
                self.generation += 1
                _, _, survey = self._bound()
                survey(survey.blocks(self._count), count=self._count, at=self.generation - first)
                if cells:
                    grown.append(self._cells())
            reports = to_host(self._reports).reshape(-1, 3)
        return self._summed(reports, grown if cells else None, section)

    def state(self) -> State:
        """Return the state, copied to the host."""
        with device_memory_errors(f"the state of generation {self.generation}"):
            return super().state()

    def _entries(self) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
        filled = self._keys != _EMPTY
        keys, touches = to_host(self._keys[filled]), to_host(self._touches[filled])
        order = np.argsort(keys)
        return keys[order].astype(np.int64), (touches[order] & (2 * _CLOSED - 1)).astype(np.uint16)

    def _encode(self, cells: Cells) -> Any:
        return self._launch.xp.asarray(self._grid.encode(cells).astype(np.uint64))

    def _decode(self, keys: Any) -> Any:
        """The cells of keys in device memory, there."""
        return self._grid.decode(keys.astype(np.int64), self._launch.xp)

    def _table(self, bits: int) -> None:
        """Allocate an empty table of 2^bits slots."""
        xp = self._launch.xp
        self._bits = bits
        self._keys = xp.empty(1 << bits, np.uint64)
        self._keys.data.memset_async(0xFF, self._keys.nbytes)  # EMPTY
        self._touches = xp.zeros(1 << bits, np.uint32)
        self._launches = None

    def _reserve(self, more: int) -> None:
        """Make room for this number of new cells: at most three quarters of the slots are used."""
        bits = self._bits
        while 4 * (self._used + more) > 3 << bits:
            bits += 1
        if bits > self._bits:
            keys, touches = self._keys, self._touches
            self._table(bits)
            self._copy(keys, touches)

    def _enter(self, keys: Any, touches: Any) -> None:
        self._reserve(len(keys))
        self._used += len(keys)
        self._copy(keys, touches)

    def _copy(self, keys: Any, touches: Any) -> None:
        """Enter these keys, except EMPTY ones, with their touches."""
        table = {"keys": self._keys, "touches": self._touches, "bits": self._bits}
        launch = self._launch.bind("general_enter", {"from_keys": keys, "from_touches": touches, "count": len(keys), **table})
        launch(launch.blocks(len(keys)))

    def _make_room(self, pairs: int) -> None:
        """Make room for the newborns that touch this number of cells, and for these cells."""
        if pairs > self._room:
            xp, kept = self._launch.xp, self._newborns[: self._count]
            # The old lists are released before the new ones are allocated.
            self._launches = self._changed = self._allowed = None
            listed, free = 16 + (self.rule.touches is not None), self._launch.free_memory()
            room, self._room = max(pairs, min(2 * self._room, max(0, free - pooled(1, 1, 1)) // listed)), 0
            self._newborns = xp.empty(room, np.uint64)
            if self._count:
                self._newborns[: self._count] = kept
            self._changed = xp.empty(room, np.uint64)
            self._allowed = xp.empty(1 if self.rule.touches is None else room, np.uint8)
            self._room = room

    def _put(self, newborns: Cells) -> None:
        keys = self._encode(newborns)
        self._make_room(len(keys) * len(self.rule.offsets))
        self._newborns[: len(keys)] = keys
        self._count = len(keys)

    def _bound(self) -> tuple[Launch, Launch, Launch]:
        """The launches of a generation, to touch, to decide and to survey, bound to the table and the room as they are now."""
        if self._launches is not None:
            return self._launches
        rule, bind = self.rule, self._launch.bind
        newborns, table = {"newborns": self._newborns}, {"keys": self._keys, "touches": self._touches}
        listed = {"changed": self._changed, "counters": self._counters}
        jumps = {"jumps": self._jumps, "jump_count": len(rule.offsets)}
        allowed = {"allowed": self._allowed, "all": int(rule.touches is None)}
        axis, level = (MAX_DIMENSION, 0) if self._section is None else self._section
        fold = {"sorted": int(rule.symmetry is not Symmetry.NONE), "unsign": int(rule.symmetry is Symmetry.CUBE)}
        cells = {"box": self._box, "dimension": rule.dimension, "coefficients": self._coefficients}
        reports = {"axis": axis, "level": level, "reports": self._reports}
        self._launches = (
            bind("general_touch", newborns | jumps | allowed | table | listed | {"count": 0, "bits": self._bits}),
            bind("general_decide", newborns | table | listed | {"born": self._births}),
            bind("general_survey", newborns | cells | fold | reports | {"count": 0, "at": 0}),
        )
        return self._launches

    def _step(self) -> None:
        rule, count = self.rule, self._count
        pairs = count * len(rule.offsets)
        self._reserve(pairs)
        self._make_room(pairs)
        touch, decide, _ = self._bound()
        if rule.touches is not None:
            cells = self._decode(self._newborns[:count])
            with predicate_errors("touches"):
                for number, offset in enumerate(rule.offsets):
                    self._allowed[number * count : (number + 1) * count] = rule.touches(cells, offset)
        self._counters.fill(0)
        blocks = touch.blocks(pairs)
        touch(blocks, count=count)
        decide(blocks)
        _, entered, self._count = to_host(self._counters).tolist()
        self._used += entered
        if rule.octant or rule.universe is not None:
            # A cell outside of the universe is closed like a newborn, but is not listed.
            newborns = self._newborns[: self._count]
            with predicate_errors("universe"):
                outside = ~rule.inside(self._decode(newborns))
            newborns |= outside.astype(np.uint64) * _EMPTY

    def _cells(self) -> Cells:
        """The newborns, in lexicographic order, which is that of their keys."""
        keys = np.sort(to_host(self._newborns[: self._count]))
        cells: Cells = self._grid.decode(keys[keys != _EMPTY].astype(np.int64)).astype(self._cell_dtype)
        return cells
