"""Copying tables to the host: a piece is copied into page-locked memory while kernels compute the next one."""

from collections import deque
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from gpu_nim.backends.cuda.launcher import Launcher

__all__ = ["bring_home", "staged_bytes"]

_PIECE = 1 << 24  # bytes of a piece: its copy takes longer than the launch of the next, and page-locking it costs little
_UNDER_WAY = 2


def staged_bytes(row: int) -> int:
    """Return the bytes of device memory of all pieces in flight, for entries of the first axis of `row` bytes."""
    return _UNDER_WAY * max(_PIECE, row)


def bring_home(launch: Launcher, out: NDArray[Any], piece: Callable[[int, int], Any]) -> None:
    """Fill an array of the host, a piece of its first axis at a time.

    Args:
        launch: the launcher of the device.
        out: the array to fill, C-contiguous.
        piece: returns out[first:stop] for (first, stop), a C-contiguous array of the device, which must not change before it is
            copied.
    """
    if not len(out):
        return
    length = max(1, _PIECE // (out.nbytes // len(out)))
    under_way: deque[tuple[NDArray[Any], Callable[[], NDArray[Any]]]] = deque()
    try:
        for first in range(0, len(out), length):
            if len(under_way) == _UNDER_WAY:
                _receive(*under_way.popleft())
            part = out[first : first + length]
            under_way.append((part, launch.send_home(piece(first, first + len(part)))))
        while under_way:
            _receive(*under_way.popleft())
    finally:
        for _, arrived in under_way:  # after an error: memory that is still being written must not be freed
            arrived()


def _receive(part: NDArray[Any], arrived: Callable[[], NDArray[Any]]) -> None:
    part[...] = arrived()
