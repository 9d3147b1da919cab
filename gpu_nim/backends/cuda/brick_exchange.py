"""What the ranks of an exactly-one growth on CUDA send to each other before a generation: newborns within reach of a border."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import Communicator
from gpu_nim.backends.cuda.bricks import DeviceBricks
from gpu_nim.backends.cuda.launcher import Launcher, to_host
from gpu_nim.backends.cuda.transfers import exchange_parts
from gpu_nim.backends.shared.bricks import ENTRY

__all__ = ["BrickExchange"]

_FIRST_WORDS = 1 << 12  # room for so many 32-bit words at first in what is sent, and in what is received


class BrickExchange:
    """Sends the newborns of one rank that others need, and puts theirs into its rings (`cuda/exactly_one.cu`).

    Args:
        launcher: of the device.
        ranks: the ranks of the growth.
        bricks: of this rank.
        shape: the arguments of kernels that describe the bricks.
        rings: those that are the rings of the growth.
    """

    def __init__(
        self, launcher: Launcher, ranks: Communicator, bricks: DeviceBricks, shape: dict[str, Any], rings: dict[str, Any]
    ) -> None:
        self._launch, self._ranks, self._bricks, self._shape, self._rings = launcher, ranks, bricks, shape, rings
        xp = launcher.xp
        beyond = np.full(1, ranks.rank)
        self._owners = xp.asarray(np.concatenate((beyond, bricks.owners, beyond)).astype(np.int32))
        self._starts, self._arrived = xp.zeros(2 * ranks.size, np.uint64), xp.zeros(ranks.size, np.uint64)
        self._counted = xp.zeros(2 * ranks.size + 1, np.uint32)
        self._bind_sending(_FIRST_WORDS)
        self._bind_receiving(_FIRST_WORDS)

    def _bind_sending(self, words: int) -> None:
        rings = {name: self._rings[name] for name in ("newborn", "lists", "counts", "capacity")}
        self._sent = self._launch.xp.empty(words, np.uint32)
        sending = {
            "generation": 0,
            "owners": self._owners,
            "rank": self._ranks.rank,
            "ranks": self._ranks.size,
            "starts": self._starts,
            "counted": self._counted,
            "parts": self._sent,
            "writes": 0,
        }
        self._send = self._launch.bind("exactly_one_send", self._shape | rings | sending, defines=self._bricks.defines)

    def _bind_receiving(self, words: int) -> None:
        self._received = self._launch.xp.empty(words, np.uint32)
        arrived = {"generation": 0, "listed": 0, "starts": self._arrived, "part_count": 0, "parts": self._received}
        self._receive = self._launch.bind("exactly_one_receive", self._shape | self._rings | arrived, defines=self._bricks.defines)

    def newborns(self, grid: int, generation: int) -> None:
        """Exchange the newborns of the last generation done with all other ranks.

        Args:
            grid: the blocks of a launch.
            generation: that generation.
        """
        self._send(grid, generation=generation, writes=0)
        counted = to_host(self._counted)
        entries, words = counted[:-1].reshape(-1, 2).astype(np.int64).T
        sizes = np.where(entries > 0, 1 + ENTRY * entries + words, 0)
        starts = np.cumsum(sizes) - sizes
        total = int(sizes.sum())
        if total > len(self._sent):
            self._bind_sending(2 * total)
        if total:
            self._starts.set(np.stack((starts, starts + 1 + ENTRY * entries), axis=1).reshape(-1).astype(np.uint64))
            self._send(grid, generation=generation, writes=1)
        self._put(grid, generation, int(counted[-1]), *exchange_parts(self._launch, self._ranks, self._sent, sizes))

    def _put(self, grid: int, generation: int, listed: int, parts: Any, sizes: NDArray[np.int64]) -> None:
        """Put the parts that arrived, those without a word left out, at the end of the list of the generation."""
        if not len(parts):
            return
        if len(parts) > len(self._received):
            self._bind_receiving(2 * len(parts))
        starts = np.zeros(self._ranks.size, np.uint64)
        filled = sizes > 0
        starts[: np.count_nonzero(filled)] = (np.cumsum(sizes) - sizes)[filled]
        self._arrived.set(starts)
        self._received[: len(parts)] = parts
        self._receive(grid, generation=generation, listed=listed, part_count=int(np.count_nonzero(filled)))
