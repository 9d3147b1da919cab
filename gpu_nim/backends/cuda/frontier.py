"""Any growth on CUDA, one to eight dimensions and any births: a hash table of touched cells (`cuda/frontier.cu`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_nim.backends.cuda.launcher import Launcher, device_memory_errors, to_host
from gpu_nim.backends.interface import Batch, Section, State
from gpu_nim.backends.shared.cells import Keys, check_request
from gpu_nim.model.digest import COEFFICIENTS
from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import require_memory
from gpu_nim.model.rule import MAX_DIMENSION, Cells, Rule, Symmetry

# cuda/frontier.cu: the empty key, the bit of a closed cell, bytes of a slot.
_EMPTY, _CLOSED, _SLOT_BYTES = np.uint64(2**64 - 1), 1 << 15, 12
_BLOCK, _BLOCKS = 256, 4  # threads a block, blocks a multiprocessor
_FIRST_BITS = 12


class GeneralEngine:
    """A growth of any rule, to generation `last` at the most, from its seeds or from a state that an engine returned.

    UsageError when the box of generation `last` has more cells than a 63-bit key can tell apart; InsufficientMemoryError, before
    the table of touched cells is enlarged, when there is not enough memory for it.
    """

    def __init__(self, launcher: Launcher, rule: Rule, last: int, state: State | None = None) -> None:
        if len(rule.offsets) >= _CLOSED:
            raise UsageError(f"offsets must be fewer than {_CLOSED}, got {len(rule.offsets)}")
        self._launch, self.rule, self.last = launcher, rule, last
        self._grid = grid = Keys(rule, last)
        xp, filler = launcher.xp, (0, MAX_DIMENSION - rule.dimension)
        births = np.zeros(_CLOSED, np.uint8)
        births[list(rule.births)] = 1
        coefficients = np.array(COEFFICIENTS[: rule.dimension], np.uint64)
        with device_memory_errors(f"a growth on {launcher.device}"):
            self._jumps = xp.asarray(np.array(rule.offsets, np.int64) @ grid.strides)
            self._births = xp.asarray(births)
            self._box = xp.asarray(np.concatenate((np.pad(grid.origin, filler), np.pad(grid.strides, filler))))
            self._coefficients = xp.asarray(np.pad(coefficients, filler))
            self._newborns = xp.zeros(0, np.uint64)
            self._used = 0
            self._table(_FIRST_BITS)
        self.generation = -1
        if state is not None:
            if "touches" not in state:
                raise UsageError(f"state must hold touches, as the engine for any rule saves it, got {', '.join(state)}")
            self.generation = int(state["generation"])
            with device_memory_errors(f"the state of generation {self.generation}"):
                self._newborns = self._encode(state["newborns"])
                self._enter(self._encode(state["touched"]), xp.asarray(state["touches"].astype(np.uint32)))

    def advance(self, to: int, *, cells: bool = False, section: Section | None = None) -> Batch:
        """Grow through generation `to` and report each generation since the last one done.

        With `section` = (axis, value) the batch also counts the newborns that have that coordinate.  UsageError when
        `to` is not past the last generation done, or is past the last one planned.
        """
        check_request(self.generation, to, self.last, section, self.rule.dimension)
        xp, first = self._launch.xp, self.generation + 1
        births = np.zeros(to - first + 1, np.uint64)
        grown: list[Cells] = []
        with device_memory_errors(f"a growth to generation {to} on {self._launch.device}"):
            checksums, sections = xp.zeros(len(births), np.uint64), xp.zeros(len(births), np.uint64)
            for at in range(len(births)):
                if self.generation < 0:
                    self._newborns = self._encode(np.array(self.rule.seeds, np.int64))
                    self._enter(self._newborns, xp.full(len(self._newborns), _CLOSED, np.uint32))
                else:
                    self._step()
                self.generation += 1
                births[at] = len(self._newborns)
                self._survey(section, checksums, sections, at)
                if cells:
                    grown.append(self._cells())
            return Batch(
                first,
                births,
                to_host(checksums),
                np.concatenate(grown) if cells else None,
                None if section is None else to_host(sections),
            )

    def state(self) -> State:
        """Return the generation, its newborns, and every touched cell with its touches (2^15 more where closed)."""
        with device_memory_errors(f"the state of generation {self.generation}"):
            filled = self._keys != _EMPTY
            keys, touches = to_host(self._keys[filled]), to_host(self._touches[filled])
            order = np.argsort(keys)
            return {
                "generation": np.array(self.generation),
                "touched": self._grid.decode(keys[order].astype(np.int64)).astype(self._grid.dtype),
                "touches": (touches[order] & (2 * _CLOSED - 1)).astype(np.uint16),
                "newborns": self._cells().astype(self._grid.dtype),
            }

    def _encode(self, cells: Cells) -> Any:
        return self._launch.xp.asarray(self._grid.encode(cells).astype(np.uint64))

    def _decode(self, keys: Any) -> Any:
        """The cells of keys in device memory, there."""
        return self._grid.decode(keys.astype(np.int64), self._launch.xp)

    def _table(self, bits: int) -> None:
        """Take up an empty table of 2^bits slots."""
        xp = self._launch.xp
        require_memory(_SLOT_BYTES << bits, self._launch.free_memory(), f"the table of {3 << bits >> 2:,} touched cells")
        self._bits = bits
        self._keys = xp.full(1 << bits, _EMPTY, np.uint64)
        self._touches = xp.zeros(1 << bits, np.uint32)

    def _reserve(self, more: int) -> None:
        """Make room for as many new cells: three quarters of the slots are used at the most."""
        bits = self._bits
        while 4 * (self._used + more) > 3 << bits:
            bits += 1
        if bits > self._bits:
            keys, touches = self._keys, self._touches
            self._table(bits)
            self._run("frontier_enter", len(keys), keys, touches, len(keys), self._keys, self._touches, bits)

    def _enter(self, keys: Any, touches: Any) -> None:
        self._reserve(len(keys))
        self._used += len(keys)
        self._run("frontier_enter", len(keys), keys, touches, len(keys), self._keys, self._touches, self._bits)

    def _run(self, kernel: str, work: int, *args: object) -> None:
        """Launch a kernel that strides over `work` items."""
        blocks = min(self._launch.multiprocessors * _BLOCKS, -(-work // _BLOCK))
        self._launch(kernel, (blocks,), (_BLOCK,), args)

    def _step(self) -> None:
        xp, rule, newborns = self._launch.xp, self.rule, self._newborns
        pairs = len(newborns) * len(rule.offsets)
        self._reserve(pairs)
        allowed = xp.zeros(1, np.uint8)
        if rule.touches is not None:
            cells = self._decode(newborns)
            allowed = xp.concatenate([xp.asarray(rule.touches(cells, offset)) for offset in rule.offsets]).astype(np.uint8)
        changed = xp.empty(pairs, np.uint64)
        counters = xp.zeros(3, np.uint64)
        self._run(
            *("frontier_touch", pairs, newborns, len(newborns), self._jumps, len(rule.offsets), allowed, int(rule.touches is None)),
            *(self._keys, self._touches, self._bits, changed, counters),
        )
        listed, entered, _ = to_host(counters).tolist()
        self._used += entered
        born = xp.empty(listed, np.uint64)
        self._run("frontier_decide", listed, changed, listed, self._births, self._keys, self._touches, born, counters)
        self._newborns = born[: int(counters[2])].copy()
        if rule.octant or rule.universe is not None:
            # A cell outside of the universe is closed like one that is born, and dropped here.
            self._newborns = self._newborns[rule.inside(self._decode(self._newborns))]

    def _survey(self, section: Section | None, checksums: Any, sections: Any, at: int) -> None:
        axis, level = (MAX_DIMENSION, 0) if section is None else section
        symmetry = self.rule.symmetry
        self._run(
            *("frontier_survey", len(self._newborns), self._newborns, len(self._newborns), self._box, self.rule.dimension),
            *(int(symmetry is not Symmetry.NONE), int(symmetry is Symmetry.CUBE), self._coefficients),
            *(axis, level, checksums, sections, at),
        )

    def _cells(self) -> Cells:
        """The newborns, in lexicographic order, which is that of their keys."""
        cells: Cells = self._grid.decode(np.sort(to_host(self._newborns)).astype(np.int64)).astype(self._grid.cell_dtype)
        return cells
