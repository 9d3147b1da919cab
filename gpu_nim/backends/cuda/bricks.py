"""The bricks of an exactly-one growth as the kernels of `cuda/exactly_one.cu` know them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.table import read_constants
from gpu_nim.backends.shared.bricks import FIELD, ROWS, Bricks
from gpu_nim.model.errors import InsufficientMemoryError

__all__ = ["DeviceBricks"]

_CONSTANTS = read_constants("exactly_one.cu")
_MAX_BRICKS = 2**32 - 2
_LISTED_BYTES = 4 * 8 + 2 * 4 * ROWS  # the entries of a listed brick in four lists and its newborns in two planes


class DeviceBricks(Bricks):
    """The bricks of a growth as the kernels know them."""

    @property
    def planned(self) -> int:
        """How many bricks a generation's list is planned to hold: all of them in a small growth, an eighth in a large one.

        A generation is a shell of the growth, but a shell that thickens towards each power of two: 53% of the bricks of `fcc` are
        active in generation 511, and a fraction that falls like 1/n from there.
        """
        return min(self.held, max(1 << 17, self.held // 8))

    def capacity(self, free: int) -> int:
        """How many bricks a list may hold if `free` bytes are free: those planned, and more in half of the remaining memory."""
        return min(self.held, self.planned + max(0, free - self.device_bytes) // 2 // _LISTED_BYTES)

    @property
    def window_rows(self) -> int:
        """Rows of a brick and of what surrounds it."""
        u, v, _ = self.reach
        return int((self.size[0] + 2 * u) * (self.size[1] + 2 * v))

    @property
    def device_bytes(self) -> int:
        """Bytes of the columns, of `touched` and slots, of lists and newborns, of counters, and of what is sent and received.

        InsufficientMemoryError where the lists cannot name the bricks, whatever the memory.
        """
        work = f"a growth to generation {self.last}"
        if self.longest > 1 << FIELD:
            raise InsufficientMemoryError(
                f"{work} spans {self.longest:,} bricks along an axis, more than the {1 << FIELD:,} that a list of bricks can name"
            )
        if self.held > _MAX_BRICKS:
            raise InsufficientMemoryError(f"{work} has {self.held:,} bricks, more than the {_MAX_BRICKS:,} that can be numbered")
        bricks = 4 * ROWS * self.count + 4 * 4 * self.held
        columns = 12 * self.columns_u * self.columns_v
        reports = (4 + 3 * 8) * (self.last + 2)  # a generation's count of bricks, births, checksum and section
        return columns + bricks + _LISTED_BYTES * self.planned + reports + 2 * self.sent_bytes(self.planned)

    @property
    def flags(self) -> int:
        """The rule's flags in cuda/exactly_one.cu."""
        return (
            self.spatial * _CONSTANTS["SPATIAL"]
            | self.folded * _CONSTANTS["FOLDED"]
            | self.signed * _CONSTANTS["SIGNED"]
            | self.packed * _CONSTANTS["PACKED"]
            | (not self.folded) * _CONSTANTS["PARITY_OF_V"]
        )

    def touchers(self) -> NDArray[np.int32]:
        """For each offset, in one number: the distance of the toucher's window from the row's, and its shift for each parity."""
        u, v, w = self.folding @ np.array(self.rule.offsets, np.int64).T
        width = int(self.size[1]) + 2 * self.reach[1]
        even, odd = (
            _CONSTANTS["MARGIN"] + (parity * self.packed - w - self.parity(parity - u, -v) >> self.packed) for parity in (0, 1)
        )
        packed: NDArray[np.int32] = (-(u * width + v) << 16 | odd << 8 | even).astype(np.int32)
        return packed

    @property
    def defines(self) -> dict[str, int | str]:
        """The constants that the kernels are compiled with for the rule."""
        reach_u, reach_v, reach_k = self.reach
        return {
            "LOG_V": self.log_v,
            "REACH_U": reach_u,
            "REACH_V": reach_v,
            "REACH_K": reach_k,
            "FLAGS": self.flags,
            "OFFSETS": ",".join(map(str, self.touchers().tolist())),
        }
