"""Ranks on threads of one process, and processes that take turns."""

import fcntl
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Communicator
from gpu_nim.model.errors import GpunimError
from tests.helpers import TIMEOUT


class _Stopped(GpunimError):
    """Another rank failed first; an error of gpunim, so that no engine takes it for its device's."""


class Threads(Communicator):
    """One rank of several on threads; `on_ranks` makes them."""

    def __init__(self, rank: int, places: list[Any], barrier: threading.Barrier, stopped: list[threading.Event]) -> None:
        self.rank, self.size, self.device_buffers = rank, len(places), False
        self._places, self._barrier, self._stopped = places, barrier, stopped

    def exchange(self, parts: Sequence[Any], empty: Callable[..., Any] = np.empty) -> list[Any]:
        assert len(parts) == self.size
        kind = type(empty(0, np.uint8))
        assert all(type(part) is kind and part.dtype == np.uint8 and part.ndim == 1 for part in parts)
        assert self.device_buffers or kind is np.ndarray
        return self._share(parts, lambda everyone: [self._received(theirs[self.rank], empty) for theirs in everyone])

    @staticmethod
    def _received(part: Any, empty: Callable[..., Any]) -> Any:
        received = empty(len(part), np.uint8)
        received[:] = part
        return received

    def sum(self, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return self._share(values, lambda everyone: np.sum(everyone, axis=0, dtype=np.uint64))

    def fail(self) -> None:
        self._barrier.abort()
        self._stopped[self.rank].set()
        assert all(stopped.wait(60) for stopped in self._stopped)

    def _share(self, value: Any, read: Callable[[list[Any]], Any]) -> Any:
        self._places[self.rank] = value
        try:
            self._barrier.wait()
            found = read(list(self._places))
            self._barrier.wait()  # nobody changes a value, or puts down another one, before all have read it
        except threading.BrokenBarrierError as error:
            self._stopped[self.rank].set()
            raise _Stopped from error
        return found


def on_ranks(size: int, work: Callable[[Communicator], Any]) -> list[Any]:
    """Return what `work` returns on each of these ranks; its error, where a rank raises one."""
    places, barrier = [None] * size, threading.Barrier(size, timeout=TIMEOUT)
    stopped = [threading.Event() for _ in range(size)]

    def run(rank: int) -> Any:
        try:
            return work(Threads(rank, places, barrier, stopped))
        except BaseException:
            barrier.abort()
            raise
        finally:
            stopped[rank].set()

    with ThreadPoolExecutor(size) as pool:
        futures = [pool.submit(run, rank) for rank in range(size)]
        errors = [error for future in futures if (error := future.exception()) is not None]
    if errors:
        raise next((error for error in errors if not isinstance(error, _Stopped)), errors[0])
    return [future.result() for future in futures]


@contextmanager
def one_at_a_time(lock: Path) -> Iterator[None]:
    """Wait until no other process is within this block with the same file."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
