"""A communicator of ranks over MPI, by mpi4py.

Each exchange begins with a header from each rank to each other: the number of its bytes, or that this rank has failed. So a failure
of one rank reaches all others at the same exchange, and no rank waits in vain. The first bytes travel with the header, as many as
the largest part had so far, so that most exchanges are one message between two ranks. Others travel by themselves, as they are,
without pickling, and only between ranks that have something to send.

Waiting is done in Python, a test at a time, so that signals are handled meanwhile and a rank that waits leaves its core to others.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Backend, Communicator, allgather
from gpu_nim.backends.selection import select
from gpu_nim.model.errors import BackendError, RankFailed, RanksLost, UsageError, message_of, missing
from gpu_nim.model.work import MpiRank, Outcome

if TYPE_CHECKING:
    from mpi4py import MPI

    Wait = Callable[[list[MPI.Request]], None]

_FAILED = -1
_KILLED = "a rank was ended from outside, which ends the growth"
_HEADER = 16  # bytes of a header: of the part, and of the largest part to any rank
# The most bytes of a part that travel with a header: over the square of the number of ranks, since of many few are beside one; and
# as many as travel with any.
_EAGER_LIMIT, _EAGER_LEAST = 1 << 20, 1 << 8
_BUSY = 5e-4  # seconds in which a waiting rank tests as often as it can, and gives up its core to others alone
_SLEEP = 1e-5  # seconds between tests, from then on
# Seconds after a signal at which Open MPI kills the ranks that it sent it to, and the part of these that a rank waits for others.
_KILL_DELAYS = "OMPI_MCA_odls_base_sigkill_timeout", "PRTE_MCA_odls_base_sigkill_timeout"
_TIMEOUT = 0.3 * next((int(grace) for name in _KILL_DELAYS if (grace := os.environ.get(name, "")).isdecimal()), 1)
# What keeps Open MPI to the memory of one machine: its transports over a network listen on every address.
_WITHIN_MACHINE = {"OMPI_MCA_btl": "^tcp,ofi,openib", "OMPI_MCA_pml": "ob1"}


_joined: MpiCommunicator | None = None


def join(rank: MpiRank) -> MpiCommunicator:
    """Start MPI and return the communicator of the ranks; this waits for all of them.

    Raises:
        MissingDependency: mpi4py or an MPI library is not installed.
        BackendError: mpi4py uses another MPI than what started the ranks.
    """
    global _joined
    if os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") == str(rank.size):
        for name, value in _WITHIN_MACHINE.items():
            os.environ.setdefault(name, value)
    try:
        import mpi4py

        mpi4py.rc.thread_level = "funneled"
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # no mpi4py, or no MPI library
        if isinstance(error, ImportError) and (error.name or "mpi4py") == "mpi4py":
            raise missing("growing on several ranks needs mpi4py", "mpi4py") from error
        raise BackendError(f"mpi4py does not load ({message_of(error)}): install Open MPI or MPICH") from error
    if MPI.COMM_WORLD.size != rank.size:
        raise BackendError(
            f"{rank.size} ranks were started, and mpi4py finds {MPI.COMM_WORLD.size}: start them by the mpirun of its MPI"
        )
    beside = MPI.COMM_WORLD.Split_type(MPI.COMM_TYPE_SHARED).rank
    _joined = MpiCommunicator(MPI.COMM_WORLD, MPI.Request.Testall, beside, device_buffers=takes_device_buffers())
    return _joined


def joined() -> MpiCommunicator | None:
    """Return the communicator of the ranks, None where they have not joined."""
    return _joined


class MpiCommunicator(Communicator):
    """The ranks of a communicator of mpi4py.

    Attributes:
        local_rank: the number of this rank among those of its machine.
        device_buffers: whether buffers may be arrays of a GPU.
        lost: whether other ranks did not answer when this one was ended from outside, so that MPI cannot be ended in good order.
    """

    largest = 1 << 30  # bytes of a message; MPI counts with 31 bits

    def __init__(
        self,
        comm: MPI.Intracomm,
        all_done: Callable[[list[MPI.Request]], bool],
        local_rank: int,
        *,
        device_buffers: bool = False,
    ) -> None:
        self._comm, self._all_done, self.local_rank, self.device_buffers = comm, all_done, local_rank, device_buffers
        self.rank, self.size, self._first = comm.rank, comm.size, 0
        self._send_with_headers(_EAGER_LEAST)
        self.lost = False
        self._has_failed = False  # whether a rank has

    def exchange(self, parts: Sequence[Any], empty: Callable[..., Any] = np.empty) -> list[Any]:
        """Send one buffer to each rank and return the buffer from each; those of a GPU travel by themselves, however short."""
        on_host = empty is np.empty
        first = self._first if on_host else 0
        with self.signals_deferred() as wait:
            sizes, largest = self._exchange_headers([part.nbytes for part in parts], parts if on_host else (), wait)
            received = [empty(size, np.uint8) for size in sizes]
            for part, row in zip(received, self._received, strict=True) if on_host else ():
                part[:first] = row[_HEADER : _HEADER + len(part)]
            received[self.rank] = parts[self.rank]
            if largest > first:
                self._exchange_rest(parts, received, first, wait)
                self._send_with_headers(largest)
        return received

    def _exchange_rest(self, parts: Sequence[Any], received: list[Any], first: int, wait: Wait) -> None:
        """Exchange what the parts have beyond their first bytes."""
        comm, others = self._comm, [rank for rank in range(self.size) if rank != self.rank]
        sent = [np.ascontiguousarray(part) if isinstance(part, np.ndarray) else part for part in parts]
        requests = [comm.Irecv(piece, rank) for rank in others for piece in self._pieces(received[rank][first:])]
        requests += [comm.Isend(piece, rank) for rank in others for piece in self._pieces(sent[rank][first:])]
        if requests:
            wait(requests)

    def sum(self, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the sums modulo 2^64 over all ranks, on each of them."""
        parts = self.exchange([np.ascontiguousarray(values).reshape(-1).view(np.uint8)] * self.size)
        each = np.concatenate(parts).view(np.uint64).reshape(self.size, *values.shape)
        return np.asarray(each.sum(axis=0, dtype=np.uint64))

    def fail(self) -> None:
        """Have the next exchange of the other ranks raise RankFailed, and return when all of them have come there."""
        with suppress(RanksLost):
            self._report(failed=True)

    def agree(self, outcome: Outcome) -> Outcome:
        """Return the first failure by rank that has a reason of its own, or the outcome of this rank where there is none."""
        try:
            self._report(failed=bool(outcome.status))
            outcomes = allgather(self, outcome) if self._has_failed else [outcome]
        except RanksLost as error:
            outcomes = [outcome, Outcome(1, str(error))]
        return next((each for each in outcomes if each.status and each.sentence is not None), outcome)

    def _report(self, *, failed: bool) -> None:
        """Report to the other ranks whether this one has failed, unless one has already."""
        if not self._has_failed:
            with suppress(RankFailed), self.signals_deferred() as wait:
                self._exchange_headers([_FAILED if failed else 0] * self.size, (), wait)

    def _send_with_headers(self, size: int) -> None:
        """Have at least so many bytes of a part travel with its header, alike on all ranks, or as many as the limit lets."""
        first = min(1 << max(size - 1, 0).bit_length(), max(_EAGER_LEAST, _EAGER_LIMIT // self.size**2))
        if first > self._first:
            self._first = first
            self._sent, self._received = np.zeros((2, self.size, _HEADER + first), np.uint8)

    def _pieces(self, buffer: Any) -> list[Any]:
        """Divide a buffer into messages."""
        return [buffer[start : start + self.largest] for start in range(0, len(buffer), self.largest)]

    @contextmanager
    def signals_deferred(self) -> Iterator[Wait]:
        """Yield what waits for requests. Signals are handled afterwards, since the others count on the whole exchange."""
        came: list[int] = []
        ends = [number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if callable(signal.getsignal(number))]
        before = [signal.signal(number, lambda number, _: came.append(number)) for number in ends]
        try:
            yield partial(self._wait, came)
        finally:
            for number, handler in zip(ends, before, strict=True):
                signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])

    def _exchange_headers(self, sizes: list[int], parts: Sequence[NDArray[np.uint8]], wait: Wait) -> tuple[list[int], int]:
        """Send a header and the beginning of a part to each rank; RankFailed where one has failed.

        Return the size of the part from each rank, and of the largest part from any rank to any.
        """
        headers, arrived = (rows[:, :_HEADER].view(np.int64) for rows in (self._sent, self._received))
        headers[:, 0], headers[:, 1] = sizes, max(sizes)
        for row, part in zip(self._sent, parts, strict=False):
            row[_HEADER : _HEADER + len(part)] = part[: self._first]
        wait([self._comm.Ialltoall(self._sent, self._received)])
        sizes, largest = arrived.T.tolist()
        if _FAILED in sizes:
            self._has_failed = True
            raise RankFailed("another rank failed")
        return sizes, max(largest)

    def _wait(self, signals: list[int], requests: list[MPI.Request]) -> None:
        if self.lost:
            raise RanksLost(_KILLED)
        began, timeout = time.perf_counter(), None
        while not self._all_done(requests):
            now = time.perf_counter()
            if now - began > _BUSY:
                time.sleep(_SLEEP)
            else:
                os.sched_yield()
            if signals:
                timeout = timeout or now + _TIMEOUT
                if now > timeout:
                    self.lost = True
                    raise RanksLost(_KILLED)


def select_on_rank(name: str, communicator: MpiCommunicator, threads: int | None = None) -> Backend:
    """Return the backend of that name for this rank: on GPUs, rank i of a machine takes GPU i modulo their number.

    Ranks that have a GPU in common have equal shares of its free memory.

    Args:
        name: of `gpu_nim.backends.selection.NAMES`.
        communicator: all ranks, which call this together.
        threads: of each rank, likewise.

    Raises:
        BackendError: the backend cannot run.
        UsageError: the ranks have different backends.
    """
    backend = select(name, communicator, communicator.local_rank, threads)
    names = allgather(communicator, backend.name)
    if len({*names}) > 1:
        found = ", ".join(f"{each} on rank {rank}" for rank, each in enumerate(names))
        raise UsageError(f"backend must be the same on all ranks, got {found}: choose one")
    return backend


def takes_device_buffers() -> bool:
    """Return whether the MPI library takes buffers of a CUDA device, as it says itself."""
    from mpi4py import MPI

    supported = ctypes.c_int(0)
    # A handle finds what its library links to as well, and the process's own what was loaded by others.
    for library in (ctypes.CDLL(MPI.__file__), ctypes.CDLL(None)):
        if hasattr(library, "MPIX_Query_cuda_support"):  # Open MPI
            return bool(library.MPIX_Query_cuda_support())
        if hasattr(library, "MPIX_GPU_query_support"):  # MPICH, for which CUDA is 0
            return not library.MPIX_GPU_query_support(0, ctypes.byref(supported)) and bool(supported.value)
    return False
