"""What a growth is planned to take of each rank: memory, and bytes sent to others."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_nim.automata.catalogue import Automaton, find
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.interface import Backend
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.backends.numpy.exactly_one import planned_newborns
from gpu_nim.backends.shared.layers import Layers, spread, table_bytes
from gpu_nim.jobs.mpi import MpiCommunicator
from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import require_memory

_MESSAGE_BYTES = 9  # of its own, for each rank
_NUMBER_BYTES = 2  # of a newborn that is sent: mostly its difference from the one before


@dataclass(frozen=True)
class Planned:
    """Rank 0 of some ranks that are not started, to ask a backend for its plan."""

    size: int
    rank: int = 0
    device_buffers: bool = False

    def exchange(self, *_: Any, **__: Any) -> Any:
        """Raise NotImplementedError: there are no other ranks."""
        raise NotImplementedError

    sum = fail = exchange


@dataclass(frozen=True)
class RankPlan:
    """The plan of one rank.

    Attributes:
        memory: bytes of memory.
        disk: bytes of its table, where that is a file.
        sent: bytes that it sends to others in a generation as large as the last one; None where that is not planned.
    """

    memory: int
    disk: int
    sent: int | None


def rank_plan(
    automaton: Automaton | str, generations: int, ranks: int, *, backend: Backend | None = None, general: bool = False
) -> RankPlan:
    """Return the plan of the rank that has most.

    Args:
        automaton: the automaton.
        generations: the last generation.
        ranks: how many ranks there are to be.
        backend: the backend; NumPy by default.
        general: whether the general engine is to be used.

    Raises:
        UsageError: the automaton does not grow on several ranks, or not with its table on a disk.

    >>> alone, eighth = rank_plan("edge", 1024, 1), rank_plan("edge", 1024, 8)
    >>> alone.memory > 6 * eighth.memory, alone.sent
    (True, 0)
    """
    here = backend or NumpyBackend()
    growing = GrowthProcess(automaton, generations, here.on_rank(Planned(ranks)), general=general)
    needed = growing.planned_memory()
    rule = growing.automaton.rule
    if needed is None:
        raise UsageError(
            f"automaton must have births on exactly one touch, in 2 or 3 dimensions, to grow on {ranks} ranks, and not by the "
            "general engine"
        )
    if rule is find("nim").rule:
        return RankPlan(needed, 0, None)
    if here.name == "cuda":
        from gpu_nim.backends.cuda.exactly_one import busiest_bricks

        return RankPlan(needed, 0, busiest_bricks(rule, generations, ranks).sent_bytes)
    layers = Layers(rule, generations)
    owner = layers.owners(ranks)
    bordering = (spread(owner, layers.reach) > owner) | (spread(-owner, layers.reach) > -owner)
    own = np.bincount(owner, minlength=ranks)
    share = float((np.bincount(owner, bordering, ranks) / np.maximum(own, 1)).max())
    newborns = int(share * planned_newborns(rule, generations, ranks))
    on_disk = bytes_on_disk(growing, ranks) if isinstance(here, NumpyBackend) and here.disk is not None else 0
    return RankPlan(needed, on_disk, _NUMBER_BYTES * newborns + _MESSAGE_BYTES * (ranks - 1))


def bytes_on_disk(growing: GrowthProcess, ranks: int = 1) -> int:
    """Return the bytes of the table of a growth on the rank that has most of it, where that is a file.

    Raises:
        UsageError: the growth has no such table.
    """
    growing.planned_memory()  # which refuses it
    return table_bytes(growing.automaton.rule, growing.generations, ranks)


def require_memory_of_all(growing: GrowthProcess, backend: Backend, communicator: MpiCommunicator) -> None:
    """Raise InsufficientMemoryError where the ranks of this machine together need more main memory than is free."""
    needed = growing.planned_memory()
    _, ranks = communicator.on_this_machine
    if needed is not None and backend.name == "numpy":
        require_memory(ranks * needed, backend.free_memory(), f"a growth on {ranks} ranks of this machine")
