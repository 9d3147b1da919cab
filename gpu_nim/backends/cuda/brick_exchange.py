"""What the ranks of an exactly-one growth on CUDA send to each other before a generation: newborns within reach of a border."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_nim.backends.communicator import Communicator
from gpu_nim.backends.cuda.bricks import DeviceBricks
from gpu_nim.backends.cuda.launcher import Launcher, to_host
from gpu_nim.backends.cuda.transfers import exchange_parts
from gpu_nim.backends.shared.brick_parts import within_reach

__all__ = ["BrickExchange"]

_FIRST_WORDS = 1 << 12  # room for so many 64-bit words at first in what is sent, and in what is received


class BrickExchange:
    """Sends the newborns of one rank that others need, and puts theirs into its rings (`cuda/exactly_one.cu`).

    Args:
        launcher: of the device.
        ranks: the ranks of the growth.
        bricks: of this rank.
        shape: the arguments of kernels that describe the bricks.
        rings: those that are the rings of the growth.
        require_room: raises an error where a list has no room for so many bricks.
    """

    def __init__(
        self,
        launcher: Launcher,
        ranks: Communicator,
        bricks: DeviceBricks,
        shape: dict[str, Any],
        rings: dict[str, Any],
        require_room: Callable[[int], None],
    ) -> None:
        self._launch, self._ranks, self._bricks, self._shape, self._rings = launcher, ranks, bricks, shape, rings
        self._require_room = require_room
        xp = launcher.xp
        self._owners = xp.asarray(np.pad(bricks.owners, 1, constant_values=ranks.rank).astype(np.int32))
        self._faces = xp.asarray(within_reach(bricks).reshape(-1))
        self._starts, self._counted = xp.zeros(ranks.size, np.uint64), xp.zeros(ranks.size + 1, np.uint32)
        self._bind_sending(_FIRST_WORDS)
        self._bind_receiving(_FIRST_WORDS)

    def _bind_sending(self, words: int) -> None:
        rings = {name: self._rings[name] for name in ("newborn", "lists", "counts", "capacity")}
        self._sent = self._launch.xp.empty(words, np.uint64)
        sending = {
            "flags": self._bricks.flags,
            "generation": 0,
            "faces": self._faces,
            "owners": self._owners,
            "rank": self._ranks.rank,
            "ranks": self._ranks.size,
            "starts": self._starts,
            "counted": self._counted,
            "parts": self._sent,
            "writes": 0,
        }
        self._send = self._launch.bind("exactly_one_send", rings | sending, defines=self._bricks.defines)

    def _bind_receiving(self, words: int) -> None:
        self._received = self._launch.xp.empty(words, np.uint64)
        arrived = {"generation": 0, "arrived": 0, "parts": self._received}
        self._receive = self._launch.bind("exactly_one_receive", self._shape | self._rings | arrived, defines=self._bricks.defines)

    def newborns(self, grid: int, generation: int) -> None:
        """Exchange the newborns of the last generation done with all other ranks.

        Args:
            grid: the blocks of a launch.
            generation: that generation.
        """
        self._send(grid, generation=generation, writes=0)
        counted = to_host(self._counted).astype(np.int64)
        sizes = (1 + self._bricks.words) * counted[:-1]
        total = int(sizes.sum())
        if total > len(self._sent):
            self._bind_sending(2 * total)
        if total:
            self._starts.set((np.cumsum(sizes) - sizes).astype(np.uint64))
            self._send(grid, generation=generation, writes=1)
        parts, _ = exchange_parts(self._launch, self._ranks, self._sent, sizes)
        arrived = len(parts) // (1 + self._bricks.words)
        self._require_room(int(counted[-1]) + arrived)
        if len(parts) > len(self._received):
            self._bind_receiving(2 * len(parts))
        if arrived:
            self._received[: len(parts)] = parts
            self._receive(grid, generation=generation, arrived=arrived)
