"""The communicator of the ranks of one growth: what they exchange, as MPI's alltoall, sum and allgather.

A growth on several ranks is cut into slabs, each of which one rank owns. Every rank makes an engine for the same rule and the same
last generation, `NumpyBackend(communicator).engine(...).make()`, and calls the same methods of it in the same order with
the same arguments, since engines exchange newborns in each generation; so it does with the methods of a communicator, all of which
wait for the other ranks. What an engine returns:

* Of a batch, births, checksums and sections are those of the whole growth, on every rank. Cells are the rank's own: those of all
  ranks together are the newborns, each once.
* Ranks of one growth on exactly one touch may have different backends.
* A state is the rank's part. `gpu_nim.backends.shared.engines.join` makes a whole of the parts of all ranks, in any order; any
  number of ranks, one among them, resumes from that, on either backend.
* The memory of an `EngineChoice` is that of the rank's part.
"""

import pickle
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Bytes = NDArray[np.uint8]
#: Why a growth is refused on several ranks.
NOT_ON_RANKS = (
    "a growth on several ranks must be of births on exactly one touch, in 2 or 3 dimensions, with short offsets, and not by the "
    "general engine"
)


class Communicator:
    """The ranks of one growth, as one of them sees them: here it is the only one, and a subclass has several.

    `rank`: the number of this rank, from 0.  `size`: the number of ranks.  `device_buffers`: whether buffers may be on a GPU.

    >>> Communicator().exchange([np.array([1, 2], np.uint8)])
    [array([1, 2], dtype=uint8)]
    """

    rank, size, device_buffers = 0, 1, False

    def exchange(self, parts: Sequence[Any], empty: Callable[..., Any] = np.empty) -> list[Any]:
        """Send one buffer to each rank and return the buffer from each.

        Args:
            parts: a buffer of any length for each rank, this one among them: bytes, shape (n,).
            empty: what makes arrays for the buffers that are received; of a GPU, where the parts are, too.

        Returns:
            A buffer from each rank; that of this rank is the one it was given.
        """
        return list(parts)

    def sum(self, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the sums modulo 2^64 over all ranks, on each of them.

        Args:
            values: of the same shape on every rank.
        """
        return values

    def fail(self) -> None:
        """Have the next exchange of the other ranks raise RankFailed, and return when all of them have come there."""


#: What a growth has for a communicator unless it is given one.
ALONE = Communicator()


def allgather(communicator: Communicator, value: T) -> list[T]:
    """Return the value of each rank, on each of them.

    Args:
        communicator: the ranks.
        value: anything small, since it is pickled.

    >>> allgather(ALONE, "a word")
    ['a word']
    """
    buffer = np.frombuffer(pickle.dumps(value), np.uint8)
    return [pickle.loads(part.tobytes()) for part in communicator.exchange([buffer] * communicator.size)]


def free_per_rank(communicator: Communicator, memory: str, free: int) -> int:
    """Return the bytes that this rank may use: ranks that have a memory in common have equal shares of what is free.

    All ranks call this together, before any of them takes memory.

    Args:
        communicator: the ranks.
        memory: what tells the memory of this rank, of a device or of a host, from others.
        free: its free bytes.

    >>> free_per_rank(ALONE, "this host", 900)
    900
    """
    if communicator.size == 1:
        return free
    those = [theirs for name, theirs in allgather(communicator, (memory, free)) if name == memory]
    return min(those) // len(those)


def gather_cells(communicator: Communicator, cells: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the newborns of one generation, of which each rank has some, in lexicographic order on rank 0; none on the others."""
    if communicator.size == 1:
        return cells
    own = np.ascontiguousarray(cells).reshape(-1).view(np.uint8)
    received = communicator.exchange([own, *[own[:0]] * (communicator.size - 1)])
    found = np.concatenate([part.view(cells.dtype) for part in received]).reshape(-1, cells.shape[1])
    return found[np.lexsort(found.T[::-1])]
