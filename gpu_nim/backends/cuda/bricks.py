"""The bricks of an exactly-one growth as the kernels of `cuda/exactly_one.cu` know them, and what ranks exchange of them."""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.launcher import Launcher, pooled, to_host
from gpu_nim.backends.cuda.table import read_constants
from gpu_nim.backends.interface import Communicator
from gpu_nim.backends.shared.brick_grid import walls
from gpu_nim.backends.shared.bricks import FIELD, Bricks
from gpu_nim.model.errors import InsufficientMemoryError

_CONSTANTS = read_constants("exactly_one.cu")
_MAX_BRICKS = 2**32 - 2
#: Bricks whose cells are tested by the universe's predicate at a time.
UNIVERSE_BRICKS = 1 << 10
_TESTED_BYTES = 8 * 16  # of a cell that is tested: its coordinates, and what a predicate makes of them


def _listed(bricks: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of so many bricks may have newborns in one generation: all in a small growth, an eighth in a large one."""
    return np.minimum(bricks, np.maximum(1 << 17, bricks // 8))


class DeviceBricks(Bricks):
    """The bricks of a growth as the kernels know them."""

    @property
    def planned(self) -> int:
        """How many bricks a generation's list is planned to hold: all of them in a small growth, an eighth in a large one.

        A generation is a shell of the growth, but a shell that thickens towards each power of two: 53% of the bricks of `fcc` are
        active in generation 511, and a fraction that falls like 1/n from there.
        """
        return int(_listed(np.array(self.held)))

    def capacity(self, free: int) -> int:
        """How many bricks a list may hold if `free` bytes are free: those planned, and more in half of the remaining memory."""
        listed = 2 * 8 * (1 + self.words)  # bytes of a brick: its entry in two lists and its newborns in two planes
        return min(self.held, self.planned + max(0, free - self.device_bytes) // 2 // listed)

    @cached_property
    def tables(self) -> dict[str, NDArray[Any]]:
        """The small arrays that kernels read, by the names of their arguments."""
        beside = walls(self, -1)
        return {
            "columns": self.columns.astype(np.uint32).view(np.int32),
            "wall_axes": np.column_stack((beside.across, beside.corner, beside.last, beside.limits)).astype(np.int32),
            "wall_masks": np.stack((beside.near, beside.domain)),
            "wall_first": beside.first.astype(np.int32),
            "wall_touches": beside.touches.astype(np.int32),
            "orbits": beside.orbit.astype(np.uint32),
            "reach": self.reach,
            "offsets": self.offsets(),
            "mixed": self.mixed,
        }

    def arrays(self, capacity: int) -> dict[str, tuple[int, type[np.unsignedinteger[Any]]]]:
        """The size and the dtype of each array that kernels write, by the names of their arguments.

        Args:
            capacity: how many bricks a list may hold.
        """
        return {
            "touched": (self.count * self.words, np.uint64),
            "newborn": ((2 * capacity + 1) * self.words, np.uint64),  # and a row of zeros
            "lists": (2 * capacity, np.uint64),
            "slots": (2 * self.held, np.uint32),
            "incoming": (2 * self.count, np.uint32),
            "counts": (2 * (self.last + 2), np.uint32),
            "reports": (3 * (self.last + 2), np.uint64),
            "clock": (1, np.uint32),
        }

    def scalars(self, capacity: int) -> dict[str, int]:
        """The arguments of kernels that are numbers; as `arrays`."""
        return {
            **dict(zip(("mix_x", "mix_y", "mix_z", "mix_0"), self.mixing().tolist(), strict=True)),
            "bricks": self.held,
            "capacity": capacity,
            "owned": self.count,
            "across_y": self.wide + 2,
            "flags": self.flags,
            "wall_span": self.tables["wall_masks"].shape[2],
            "order": self.rule.symmetry.order(self.rule.dimension),
            "offset_count": len(self.rule.offsets),
        }

    @cached_property
    def exchanged(self) -> tuple[NDArray[np.int64], int]:
        """How many bricks the rank is planned to send to each rank in a generation, shape (ranks,), and to receive from all."""
        own, beside = self._held
        planned, owners = _listed(self._sizes), np.pad(self.owners, 1, constant_values=self.rank)
        below, above = owners[:-2], owners[2:]
        sent = np.zeros(self.ranks, np.int64)
        for owner, some in ((below, own & (below != self.rank)), (above, own & (above != self.rank) & (above != below))):
            np.add.at(sent, owner[some], planned[some])
        return sent, int(planned[beside].sum())

    @property
    def device_bytes(self) -> int:
        """Bytes of all arrays on the device, as CuPy's pool takes them.

        InsufficientMemoryError where the lists cannot name the bricks, whatever the memory.
        """
        work = f"a growth to generation {self.last}"
        if self.longest > 1 << FIELD:
            raise InsufficientMemoryError(
                f"{work} spans {self.longest:,} bricks along an axis, more than the {1 << FIELD:,} that a list of bricks can name"
            )
        if self.held > _MAX_BRICKS:
            raise InsufficientMemoryError(f"{work} has {self.held:,} bricks, more than the {_MAX_BRICKS:,} that can be numbered")
        sizes = [table.nbytes for table in self.tables.values()]
        sizes += [size * np.dtype(dtype).itemsize for size, dtype in self.arrays(self.planned).values()]
        if self.ranks > 1:
            sizes += [4 * (self.slabs + 2), 2 * 8 * self.words, 8 * self.ranks, 4 * (self.ranks + 1)]
            sizes += [8 * (1 + self.words) * int(np.sum(bricks)) for bricks in self.exchanged]
        tested = 0 if self.rule.universe is None else min(self.count, UNIVERSE_BRICKS) * len(self.site)
        return pooled(*sizes, _TESTED_BYTES * tested)

    @property
    def flags(self) -> int:
        """The rule's flags in cuda/exactly_one.cu."""
        walled = bool(self.across.any())
        return self.spatial * _CONSTANTS["SPATIAL"] | self.packed * _CONSTANTS["PACKED"] | walled * _CONSTANTS["WALLED"]

    def offsets(self) -> NDArray[np.int32]:
        """The offsets, in one number each."""
        x, y, z = self.embedded(np.array(self.rule.offsets)).T + 8
        packed: NDArray[np.int32] = (x << 16 | y << 8 | z).astype(np.int32)
        return packed

    @property
    def needed(self) -> int:
        """Which of the words around a word touch its cells, a bit each."""
        needed = 0
        for offset in self.embedded(np.array(self.rule.offsets)).tolist():
            for x, y, z in product(*({0, -1 if step > 0 else 1 if step else 0} for step in offset)):
                needed |= 1 << 9 * (x + 1) + 3 * (y + 1) + z + 1
        return needed

    @property
    def defines(self) -> dict[str, int | str]:
        """The constants that the kernels are compiled with for the rule."""
        offsets, beside = (",".join(map(str, each.flat)) for each in (self.offsets(), self.tables["wall_axes"]))
        return {"FLAGS": self.flags, "NEEDED": self.needed, "OFFSETS": offsets, "WALLS": beside}


def exchange_parts(launch: Launcher, ranks: Communicator, sent: Any, sizes: NDArray[np.int64], received: Any) -> int:
    """Send a part of an array to each rank, and return how many elements they sent, which are in `received`, one after another.

    Where the communicator takes no buffers of the device they pass through page-locked memory, to which
    `Launcher.start_copy_to_host` copies.

    Args:
        launch: the launcher of the device.
        ranks: the ranks of the growth.
        sent: the parts, one after another from the first element on.
        sizes: of the part for each rank, in elements.
        received: an array with room for what they send, of the same dtype.
    """
    total = int(sizes.sum())
    bounds = list(zip((np.cumsum(sizes) - sizes).tolist(), np.cumsum(sizes).tolist(), strict=True))
    if not ranks.device_buffers:
        on_host = launch.start_copy_to_host(sent[:total])() if total else np.zeros(0, sent.dtype)
        whole = np.concatenate(ranks.exchange([on_host[start:stop].view(np.uint8) for start, stop in bounds])).view(sent.dtype)
        received[: len(whole)].set(whole)
        return len(whole)
    if total:
        to_host(sent[:1])  # which waits for the kernels that write the parts
    room, used = received.view(np.uint8), 0

    def empty(size: int, _: Any) -> Any:
        nonlocal used
        used += size
        return room[used - size : used]

    ranks.exchange([sent[start:stop].view(np.uint8) for start, stop in bounds], empty)
    return used // int(sent.itemsize)
