"""The speed of a growth on several workers of this machine against one, and what the workers spend their time on."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.growth_process import grow
from gpu_nim.backends.communicator import Communicator
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.bench.harness import Contender, Timing, race
from gpu_nim.model.work import OnStep, unreported


@dataclass(frozen=True)
class Share:
    """What a worker did in one growth: its seconds in steps, waiting for others, and exchanging; and the bytes that it sent."""

    step: float
    wait: float
    exchange: float
    sent: int


def workers_race(
    communicator: Communicator, automaton: str, generations: int, runs: int, on_step: OnStep = unreported
) -> list[Timing]:
    """Return the times of one process and of all workers, in turn; each of them calls this, and one process is rank 0.

    Args:
        communicator: the workers.
        automaton: the automaton.
        generations: the last generation.
        runs: warm runs of each.
        on_step: called with the progress.
    """

    def alone() -> int:
        population = grow(automaton, generations, backend=NumpyBackend()).population if communicator.rank == 0 else 0
        return int(communicator.sum(np.array([population], np.uint64))[0])

    def together() -> int:
        return grow(automaton, generations, backend=NumpyBackend(communicator)).population

    contenders = [Contender("1 process", alone), Contender(f"{communicator.size} workers", together)]
    return race(f"{automaton} {generations}", contenders, runs, on_step)


def shares(communicator: Communicator, automaton: str, generations: int) -> list[Share]:
    """Return what each worker did in one growth more; each of them calls this.

    The workers meet before each exchange, so that waiting and exchanging can be told apart, which takes a little time itself.

    Args:
        communicator: the workers.
        automaton: the automaton.
        generations: the last generation.

    >>> from gpu_nim.backends.communicator import Alone
    >>> shares(Alone(), "edge", 9)[0].sent
    0
    """
    timed = Timed(communicator)
    began = time.perf_counter()
    grow(automaton, generations, backend=NumpyBackend(timed))
    whole = time.perf_counter() - began
    own = np.zeros((communicator.size, 4), np.uint64)
    parts = whole - timed.wait - timed.exchanging, timed.wait, timed.exchanging
    own[communicator.rank] = *(int(1e9 * part) for part in parts), timed.sent
    return [Share(a / 1e9, b / 1e9, c / 1e9, sent) for a, b, c, sent in communicator.sum(own).tolist()]


class Timed:
    """A communicator that measures what its calls take."""

    def __init__(self, communicator: Communicator) -> None:
        self._communicator = communicator
        self.rank, self.size, self.device_buffers = communicator.rank, communicator.size, communicator.device_buffers
        self.wait = self.exchanging = 0.0
        self.sent = 0

    def exchange(self, parts: Sequence[Any], empty: Callable[..., Any] = np.empty) -> list[Any]:
        """Exchange, and count the bytes for others."""
        self.sent += sum(part.nbytes for rank, part in enumerate(parts) if rank != self.rank)
        met = self._meet()
        received = self._communicator.exchange(parts, empty)
        self.exchanging += time.perf_counter() - met
        return received

    def sum(self, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Sum."""
        met = self._meet()
        total = self._communicator.sum(values)
        self.exchanging += time.perf_counter() - met
        return total

    def fail(self) -> None:
        """Tell the others."""
        self._communicator.fail()

    def _meet(self) -> float:
        began = time.perf_counter()
        self._communicator.sum(np.zeros(1, np.uint64))
        met = time.perf_counter()
        self.wait += met - began
        return met
