"""Copies between a device and the host, and between ranks.

A table is copied to the host by pieces: one into page-locked memory while kernels compute the next. Parts of an array that ranks
send to each other go directly where the communicator takes them, else by the host.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import Communicator
from gpu_nim.backends.cuda.launcher import Launcher, to_host

_PIECE = 1 << 24  # bytes of a piece: its copy takes longer than the launch of the next, and page-locking it costs little
_UNDER_WAY = 2


def copy_to_host(launch: Launcher, out: NDArray[Any], piece: Callable[[int, int], Any]) -> None:
    """Fill an array of the host, a piece of its first axis at a time.

    Args:
        launch: the launcher of the device.
        out: the array to fill, C-contiguous.
        piece: returns out[first:stop] for (first, stop), a C-contiguous array of the device, which must not change before it is
            copied.
    """
    length = max(1, _PIECE // max(1, out[:1].nbytes))
    under_way: deque[tuple[NDArray[Any], Callable[[], NDArray[Any]]]] = deque()
    try:
        for first in range(0, len(out), length):
            if len(under_way) == _UNDER_WAY:
                _receive(*under_way.popleft())
            part = out[first : first + length]
            under_way.append((part, launch.start_copy_to_host(piece(first, first + len(part)))))
        while under_way:
            _receive(*under_way.popleft())
    finally:
        for _, arrived in under_way:  # after an error: memory that is still being written must not be freed
            arrived()


def _receive(part: NDArray[Any], arrived: Callable[[], NDArray[Any]]) -> None:
    part[...] = arrived()


def exchange_parts(launch: Launcher, ranks: Communicator, sent: Any, sizes: NDArray[np.int64], received: Any) -> int:
    """Send a part of an array to each rank, and return how many elements they sent, which are in `received`, one after another.

    Where the communicator takes no buffers of the device they pass through page-locked memory, to which
    `Launcher.start_copy_to_host` copies.

    Args:
        launch: the launcher of the device.
        ranks: the ranks of the growth.
        sent: the parts, one after another from the first element on.
        sizes: of the part for each rank, in elements.
        received: an array with room for what they send, of the same dtype.
    """
    total = int(sizes.sum())
    bounds = list(zip((np.cumsum(sizes) - sizes).tolist(), np.cumsum(sizes).tolist(), strict=True))
    if not ranks.device_buffers:
        on_host = launch.start_copy_to_host(sent[:total])() if total else np.zeros(0, sent.dtype)
        whole = np.concatenate(ranks.exchange([on_host[start:stop].view(np.uint8) for start, stop in bounds])).view(sent.dtype)
        received[: len(whole)].set(whole)
        return len(whole)
    if total:
        to_host(sent[:1])  # which waits for the kernels that write the parts
    room, used = received.view(np.uint8), 0

    def empty(size: int, _: Any) -> Any:
        nonlocal used
        used += size
        return room[used - size : used]

    ranks.exchange([sent[start:stop].view(np.uint8) for start, stop in bounds], empty)
    return used // int(sent.itemsize)
