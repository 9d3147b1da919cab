"""Parts of an array of the device that ranks send to each other: directly where the communicator takes them, else by the host."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import Communicator
from gpu_nim.backends.cuda.launcher import Launcher, to_host

__all__ = ["exchange_parts"]


def exchange_parts(launch: Launcher, ranks: Communicator, sent: Any, sizes: NDArray[np.int64]) -> tuple[Any, NDArray[np.int64]]:
    """Send a part of an array to each rank, and return what they sent, one after another, and the sizes.

    Where the communicator takes no buffers of the device they pass through page-locked memory: `Launcher.send_home` copies to it,
    and CuPy's `asarray` from it.

    Args:
        launch: the launcher of the device.
        ranks: the ranks of the growth.
        sent: the parts, one after another from the first element on.
        sizes: of the part for each rank, in elements.
    """
    xp, total = launch.xp, int(sizes.sum())
    bounds = list(zip((np.cumsum(sizes) - sizes).tolist(), np.cumsum(sizes).tolist(), strict=True))
    if not ranks.device_buffers:
        home = launch.send_home(sent[:total])() if total else np.zeros(0, sent.dtype)
        received = ranks.exchange([home[start:stop].view(np.uint8) for start, stop in bounds])
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
