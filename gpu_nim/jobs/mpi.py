"""Ranks that talk over MPI, by mpi4py.

Each exchange begins with a word from each rank to each other: the number of bytes that follow, or that this rank has failed. So a
failure of one rank reaches all others at the same exchange, and no rank waits in vain. Buffers travel as they are, without
pickling, and only between ranks that have something to send.

Waiting is done in Python, a test at a time, so that signals are handled meanwhile and a rank that waits leaves its core to others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import share
from gpu_nim.jobs.ranks import Outcome, Place, RankFailed, RanksLost
from gpu_nim.model.errors import BackendError, message_of
from gpu_nim.model.extras import missing
from gpu_nim.model.interrupts import interrupts_deferred

if TYPE_CHECKING:
    from mpi4py import MPI

_FAILED = -1
_ENDED = "another rank was ended from outside, which ends the growth"
_EAGER = 0.005  # seconds in which a waiting rank tests as often as it can, without sleeping
_NAP = 1e-4
_PATIENCE = 0.3  # seconds that a rank waits for others after a signal, which they get too
_LARGEST = 1 << 30  # bytes of a message; MPI counts with 31 bits


def connect(place: Place) -> MpiCommunicator:
    """Start MPI and return the communicator of all ranks; see `gpu_nim.jobs.ranks.join`."""
    try:
        import mpi4py

        mpi4py.rc.thread_level = "funneled"
        from mpi4py import MPI
    except ImportError as error:
        if (error.name or "mpi4py") == "mpi4py":
            raise missing("growing on several ranks needs mpi4py", "mpi4py") from error
        raise BackendError(f"mpi4py does not load ({message_of(error)})") from error
    except RuntimeError as error:
        raise BackendError(f"mpi4py finds no MPI library ({message_of(error)}): install Open MPI or MPICH") from error
    if MPI.COMM_WORLD.size != place.size:
        raise BackendError(
            f"mpirun started {place.size} ranks, and mpi4py finds {MPI.COMM_WORLD.size}: it uses another MPI than mpirun"
        )
    return MpiCommunicator(MPI.COMM_WORLD, MPI.Request.Testall, MPI.COMM_TYPE_SHARED)


class MpiCommunicator:
    """The ranks of a communicator of mpi4py, for `gpu_nim.backends.communicator.Communicator`.

    Attributes:
        waited: the seconds in all exchanges so far.
        sent: the bytes that this rank sent to others.
        lost: whether another rank was ended from outside, so that MPI cannot be ended in good order.
    """

    def __init__(self, comm: MPI.Intracomm, all_done: Callable[[list[MPI.Request]], bool], of_a_machine: int) -> None:
        self._comm, self._all_done, self._of_a_machine = comm, all_done, of_a_machine
        self.waited = 0.0
        self.sent = 0
        self.lost = False
        self._told = False  # that a rank has failed

    @property
    def rank(self) -> int:
        """Return the number of this rank, from 0."""
        return self._comm.rank

    @property
    def size(self) -> int:
        """Return the number of ranks."""
        return self._comm.size

    def exchange(self, parts: Sequence[NDArray[np.uint8]]) -> list[NDArray[np.uint8]]:
        """Send one buffer to each rank and return the buffer from each."""
        comm = self._comm
        others = [rank for rank in range(comm.size) if rank != comm.rank]
        with self._exchanging() as wait:
            sizes = self._announce(np.array([part.nbytes for part in parts], np.int64), wait)
            received = [np.empty(size, np.uint8) for size in sizes.tolist()]
            received[comm.rank] = parts[comm.rank]
            requests = [comm.Irecv(piece, rank) for rank in others for piece in _pieces(received[rank])]
            requests += [comm.Isend(piece, rank) for rank in others for piece in _pieces(np.ascontiguousarray(parts[rank]))]
            wait(requests)
            self.sent += sum(parts[rank].nbytes for rank in others)
        return received

    def sum(self, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the sums modulo 2^64 over all ranks, on each of them."""
        total = np.empty(values.shape, np.uint64)
        with self._exchanging() as wait:
            self._announce(np.zeros(self.size, np.int64), wait)
            wait([self._comm.Iallreduce(np.ascontiguousarray(values), total)])
        return total

    def on_this_machine(self) -> tuple[int, int]:
        """Return the number of this rank among those of its machine, and how many these are."""
        machine = self._comm.Split_type(self._of_a_machine)
        return machine.rank, machine.size

    def agree(self, outcome: Outcome) -> Outcome:
        """Return the first failure by rank that has a reason of its own, or the outcome of this rank where there is none."""
        try:
            if not self._told:
                with suppress(RankFailed), self._exchanging() as wait:
                    self._announce(np.full(self.size, _FAILED if outcome.status else 0, np.int64), wait)
            outcomes = share(self, outcome) if self._told else [outcome]
        except RanksLost as error:
            outcomes = [outcome, Outcome(1, str(error))]
        return next((each for each in outcomes if each.status and each.sentence is not None), outcome)

    @contextmanager
    def _exchanging(self) -> Iterator[Callable[[list[MPI.Request]], None]]:
        """Yield what waits for requests. Signals are handled afterwards, since the others count on the whole exchange."""
        began = time.perf_counter()
        try:
            with interrupts_deferred() as signals:
                yield partial(self._wait, signals)
        finally:
            self.waited += time.perf_counter() - began

    def _announce(self, words: NDArray[np.int64], wait: Callable[[list[MPI.Request]], None]) -> NDArray[np.int64]:
        """Send a word to each rank and return the word from each; RankFailed where one of them has failed."""
        heard = np.empty_like(words)
        wait([self._comm.Ialltoall(words, heard)])
        if (heard == _FAILED).any():
            self._told = True
            raise RankFailed("another rank failed")
        return heard

    def _wait(self, signals: list[int], requests: list[MPI.Request]) -> None:
        if self.lost:
            raise RanksLost(_ENDED)
        began, patience = time.perf_counter(), None
        while not self._all_done(requests):
            now = time.perf_counter()
            time.sleep(0 if now - began < _EAGER else _NAP)
            if signals:
                patience = patience or now + _PATIENCE
                if now > patience:
                    self.lost = True
                    raise RanksLost(_ENDED)


def _pieces(buffer: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    """Divide a buffer into messages."""
    return [buffer[start : start + _LARGEST] for start in range(0, len(buffer), _LARGEST)]
