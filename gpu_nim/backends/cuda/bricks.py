"""The bricks of an exactly-one growth as the kernels of `cuda/exactly_one.cu` know them."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.table import read_constants
from gpu_nim.backends.shared.bricks import FIELD, Bricks
from gpu_nim.model.errors import InsufficientMemoryError

__all__ = ["DeviceBricks"]

_CONSTANTS = read_constants("exactly_one.cu")
_MAX_BRICKS = 2**32 - 2


class DeviceBricks(Bricks):
    """The bricks of a growth as the kernels know them."""

    @property
    def planned(self) -> int:
        """How many bricks a generation's list is planned to hold: all of them in a small growth, an eighth in a large one.

        A generation is a shell of the growth, but a shell that thickens towards each power of two: 53% of the bricks of `fcc` are
        active in generation 511, and a fraction that falls like 1/n from there.
        """
        return min(self.held, max(1 << 17, self.held // 8))

    @property
    def _listed_bytes(self) -> int:
        """Bytes of a listed brick: its entry in two lists and its newborns in two planes."""
        return 2 * 8 * (1 + self.words)

    def capacity(self, free: int) -> int:
        """How many bricks a list may hold if `free` bytes are free: those planned, and more in half of the remaining memory."""
        return min(self.held, self.planned + max(0, free - self.device_bytes) // 2 // self._listed_bytes)

    @property
    def device_bytes(self) -> int:
        """Bytes of the columns, of what is touched, of slots, lists and newborns, of counters, and of what is sent and received.

        InsufficientMemoryError where the lists cannot name the bricks, whatever the memory.
        """
        work = f"a growth to generation {self.last}"
        if self.longest > 1 << FIELD:
            raise InsufficientMemoryError(
                f"{work} spans {self.longest:,} bricks along an axis, more than the {1 << FIELD:,} that a list of bricks can name"
            )
        if self.held > _MAX_BRICKS:
            raise InsufficientMemoryError(f"{work} has {self.held:,} bricks, more than the {_MAX_BRICKS:,} that can be numbered")
        bricks = (8 * self.words + 2 * 4) * self.count + 2 * 4 * self.held
        columns = 12 * (self.slabs + 2) * (self.wide + 2)
        reports = (8 + 3 * 8) * (self.last + 2)  # a generation's counts of bricks, births, checksum and section
        return columns + bricks + self._listed_bytes * self.planned + reports + 2 * self.sent_bytes(self.planned)

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
        return {"FLAGS": self.flags, "NEEDED": self.needed, "OFFSETS": ",".join(map(str, self.offsets().tolist()))}
