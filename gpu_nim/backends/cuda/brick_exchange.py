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
from gpu_nim.model.errors import InsufficientMemoryError

__all__ = ["BrickExchange"]


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
        self._launch, self._ranks, self._bricks, self._require_room = launcher, ranks, bricks, require_room
        xp, owners = launcher.xp, np.pad(bricks.owners, 1, constant_values=ranks.rank).astype(np.int32)
        self._starts, self._counted = xp.zeros(ranks.size, np.uint64), xp.zeros(ranks.size + 1, np.uint32)
        self._sent, self._received = (xp.empty((1 + bricks.words) * int(np.sum(each)), np.uint64) for each in bricks.exchanged)
        sending = {name: rings[name] for name in ("newborn", "lists", "counts", "capacity")} | {
            "flags": bricks.flags,
            "generation": 0,
            "faces": xp.asarray(within_reach(bricks).reshape(-1)),
            "owners": xp.asarray(owners),
            "rank": ranks.rank,
            "ranks": ranks.size,
            "starts": self._starts,
            "counted": self._counted,
            "parts": self._sent,
            "writes": 0,
        }
        arrived = {"generation": 0, "arrived": 0, "parts": self._received}
        self._send = launcher.bind("exactly_one_send", sending, defines=bricks.defines)
        self._receive = launcher.bind("exactly_one_receive", shape | rings | arrived, defines=bricks.defines)

    def newborns(self, grid: int, generation: int) -> None:
        """Exchange the newborns of the last generation done with all other ranks.

        Args:
            grid: the blocks of a launch.
            generation: that generation.
        """
        self._send(grid, generation=generation, writes=0)
        counted = to_host(self._counted).astype(np.int64)
        if (more := counted[:-1] - self._bricks.exchanged[0]).max() > 0:
            raise InsufficientMemoryError(f"generation {generation} has {more.max():,} bricks more to send than were planned for")
        sizes = (1 + self._bricks.words) * counted[:-1]
        if sizes.any():
            self._starts.set((np.cumsum(sizes) - sizes).astype(np.uint64))
            self._send(grid, generation=generation, writes=1)
        arrived = exchange_parts(self._launch, self._ranks, self._sent, sizes, self._received) // (1 + self._bricks.words)
        self._require_room(int(counted[-1]) + arrived)
        if arrived:
            self._receive(grid, generation=generation, arrived=arrived)
