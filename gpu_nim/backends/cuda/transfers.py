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


def exchange_parts(launch: Launcher, ranks: Communicator, sent: Any, sizes: NDArray[np.int64]) -> tuple[Any, NDArray[np.int64]]:
    """Send a part of an array to each rank, and return what they sent, one after another, and the sizes.

    Where the communicator takes no buffers of the device they pass through page-locked memory: `Launcher.start_copy_to_host` copies
    to it, and CuPy's `asarray` from it.

    Args:
        launch: the launcher of the device.
        ranks: the ranks of the growth.
        sent: the parts, one after another from the first element on.
        sizes: of the part for each rank, in elements.
    """
    xp, total = launch.xp, int(sizes.sum())
    bounds = list(zip((np.cumsum(sizes) - sizes).tolist(), np.cumsum(sizes).tolist(), strict=True))
    if not ranks.device_buffers:
        on_host = launch.start_copy_to_host(sent[:total])() if total else np.zeros(0, sent.dtype)
        received = ranks.exchange([on_host[start:stop].view(np.uint8) for start, stop in bounds])
        return xp.asarray(np.concatenate(received).view(sent.dtype)), np.array([len(part) // sent.itemsize for part in received])
    if total:
        to_host(sent[:1])  # which waits for the kernels that write the parts
    parts = ranks.exchange([sent[start:stop].view(np.uint8) for start, stop in bounds], xp.empty)
    found = np.array([len(part) // sent.itemsize for part in parts])
    whole = xp.empty(int(found.sum()), sent.dtype)
    for part, stop in zip(parts, np.cumsum(found).tolist(), strict=True):
        if len(part):
            whole[stop - len(part) // sent.itemsize : stop] = part.view(sent.dtype)
    return whole, found
