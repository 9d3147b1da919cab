"""Inequality games on CUDA: a launch for each total of the coordinates (`cuda/games.cu`), no word to the host in between.

Each function returns what its namesake in `gpu_nim.backends.numpy.games` returns, to the last bit.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.launcher import Launcher, device_memory_errors, to_host
from gpu_nim.model.errors import BackendError
from gpu_nim.model.linear_bounds import LinearBounds
from gpu_nim.model.memory import host_memory, require_memory

Ints = NDArray[np.int64]

_BLOCK, _GRUNDY_BLOCK = 128, 64  # cuda/games.cu, __launch_bounds__
_NO_POSITION = 0xFFFF  # what the 16 bits of a Grundy value hold where no position is
_MAX_NARROW = 2**15 - 2  # the largest total whose Grundy values NumPy's solver gives as int16
_MAX_FLAGS = 32  # coordinates, a flag each, in the wide kernel
_LARGEST_TOTAL = 2**31 - 1


def wedge_outcomes_bytes(nx: int, ny: int, nz: int) -> int:
    """Return the bytes of device memory for the P-positions of a wedge of that many x, y and z.

    Per word of 64 z: 20 bytes for each x + z, 24 for each y. Per column 4 for its top, and at most 16, with the copy that sorting
    makes, for the P-positions: no line along an axis holds two.

    >>> wedge_outcomes_bytes(1024, 683, 1024)  # 3y <= x + z to 1023
    16310088
    """
    words = -(-nz // 64)
    keys = min(nx * ny, nx * nz, ny * nz)
    return 20 * (nx + nz - 1) * words + 24 * ny * words + 4 * nx * nz + 4 * (nx + nz) + 16 * keys + 8


def wedge_grundy_bytes(nx: int, ny: int, nz: int) -> int:
    """Return the bytes of device memory for the Grundy values of a wedge: two a cell, and a bit for each total on each line.

    >>> wedge_grundy_bytes(512, 342, 512)  # 3y <= x + z to 511
    288129024
    """
    words = (nx + ny + nz - 3) // 64 + 1
    return 2 * nx * ny * nz + 8 * words * (ny * nz + nx * nz + nx * ny) + 4 * nx * nz


def inequality_outcomes_bytes(limits: Sequence[int]) -> int:
    """Return the bytes of device memory for the P-positions of a box: flags, and at most one P-position a line.

    >>> inequality_outcomes_bytes((12,) * 6)
    10767505
    """
    cells = prod(limit + 1 for limit in limits)
    return cells * _flags(len(limits)).itemsize + 16 * (cells // (max(limits) + 1)) + 8


def inequality_grundy_bytes(limits: Sequence[int]) -> int:
    """Return the bytes of device memory for the Grundy values of a box: two a cell.

    >>> inequality_grundy_bytes((12,) * 6)
    9653618
    """
    return 2 * prod(limit + 1 for limit in limits)


def wedge_outcomes(launch: Launcher, top: Ints) -> Ints:
    """Return the P-positions (x, y, z), 0 <= y <= top[x, z], as int64 (n, 3) in lexicographic order."""
    wedge = _Wedge(top)
    work = f"solving {wedge} on {launch.device}"
    _require_total(wedge.last, _LARGEST_TOTAL, work)
    _require_points(wedge.shape, work)
    require_memory(wedge_outcomes_bytes(wedge.nx, wedge.ny, wedge.nz), launch.free_memory(), work)
    xp, words, width = launch.xp, -(-wedge.nz // 64), wedge.nx + wedge.nz - 1
    with device_memory_errors(work):
        tops = xp.asarray(top.astype(np.uint32))
        columns, y_lines = (xp.empty(width * words, np.uint64) for _ in range(2))
        changes = xp.empty(width * words, np.uint32)
        x_lines, z_lines, z_lines_next = (xp.zeros(wedge.ny * words, np.uint64) for _ in range(3))
        roofs = (xp.asarray(np.full(wedge.nx, 2**32 - 1, np.uint32)), xp.asarray(np.full(wedge.nz, 2**32 - 1, np.uint32)))
        keys, found = xp.empty(_most_p_positions(wedge.shape), np.uint64), xp.zeros(1, np.uint64)
        for total, first, stop in wedge.sweep():
            shape = (*wedge.shape, words, total, first, stop - first)
            launch(
                "wedge_outcomes",
                (-(-(stop - first) * words // _BLOCK),),
                (_BLOCK,),
                (tops, *shape, columns, changes, y_lines, x_lines, z_lines, z_lines_next, *roofs, keys, found),
            )
            z_lines, z_lines_next = z_lines_next, z_lines
        return _points(keys, found, wedge.shape)


def wedge_grundy(launch: Launcher, top: Ints) -> NDArray[np.signedinteger]:
    """Return the Grundy values of the positions (x, y, z), 0 <= y <= top[x, z], by [x, y, z], -1 where y > top[x, z].

    The dtype is int16, or int32 where a position has more than 32766 moves. Raises BackendError beyond 65534 of them.
    """
    wedge = _Wedge(top)
    work = f"Grundy values of {wedge} on {launch.device}"
    _require_values(wedge.shape, work)
    require_memory(wedge_grundy_bytes(wedge.nx, wedge.ny, wedge.nz), launch.free_memory(), work)
    xp, words = launch.xp, wedge.last // 64 + 1
    with device_memory_errors(work):
        tops = xp.asarray(top.astype(np.uint32))
        values = xp.full(prod(wedge.shape), _NO_POSITION, np.uint16)
        pairs = (wedge.ny * wedge.nz, wedge.nx * wedge.nz, wedge.ny * wedge.nx)
        lines = tuple(xp.zeros(words * pair, np.uint64) for pair in pairs)
        for total, first, stop in wedge.sweep():
            grid = (-(-(stop - first) * wedge.nz // _BLOCK),)
            launch("wedge_grundy", grid, (_BLOCK,), (tops, *wedge.shape, total, first, stop - first, *lines, values))
        return _signed(values, wedge.shape)


def inequality_outcomes(launch: Launcher, bounds: LinearBounds, limits: Ints) -> Ints:
    """Return the P-positions of an inequality game with 0 <= x <= limits, int64 (n, k) in lexicographic order.

    Raises BackendError for more than 32 coordinates.
    """
    box = _Box(bounds, limits)
    work = f"solving {box} on {launch.device}"
    _require_total(box.last, _LARGEST_TOTAL, work)
    if box.k > _MAX_FLAGS:
        raise BackendError(f"{work}: expected at most {_MAX_FLAGS} coordinates, got {box.k}: use --backend numpy")
    _require_points(box.shape, work)
    require_memory(inequality_outcomes_bytes(box.limits), launch.free_memory(), work)
    xp, flags = launch.xp, _flags(box.k)
    kernel = "inequality_outcomes" if flags.itemsize == 1 else "inequality_outcomes_wide"
    with device_memory_errors(work):
        game = box.arguments(xp)
        cells = xp.empty(prod(box.shape), flags)
        keys, found = xp.empty(_most_p_positions(box.shape), np.uint64), xp.zeros(1, np.uint64)
        for total in range(box.last + 1):
            grid, shared = (-(-box.choices // _BLOCK),), 4 * 2 * box.k * _BLOCK
            launch(kernel, grid, (_BLOCK,), (*game, box.choices, total, cells, keys, found), shared)
        return _points(keys, found, box.shape)


def inequality_grundy(launch: Launcher, bounds: LinearBounds, limits: Ints) -> NDArray[np.signedinteger]:
    """Return the Grundy values of an inequality game with 0 <= x <= limits: an array over that box, -1 where no position is.

    Raises BackendError where the limits add up to more than 65534, or for more coordinates than shared memory holds.
    """
    box = _Box(bounds, limits)
    work = f"Grundy values of {box} on {launch.device}"
    _require_values(box.shape, work)
    seen_words = box.last // 32 + 1
    shared = 4 * (2 * box.k * _GRUNDY_BLOCK + _GRUNDY_BLOCK // 32 * seen_words)
    if shared > launch.shared_limit:
        raise BackendError(f"{work}: expected fewer coordinates, got {box.k}: use --backend numpy")
    require_memory(inequality_grundy_bytes(box.limits), launch.free_memory(), work)
    xp = launch.xp
    with device_memory_errors(work):
        game = box.arguments(xp)
        values = xp.full(prod(box.shape), _NO_POSITION, np.uint16)
        for total in range(box.last + 1):
            args = (*game, box.choices, total, seen_words, values)
            launch("inequality_grundy", (-(-box.choices // _GRUNDY_BLOCK),), (_GRUNDY_BLOCK,), args, shared)
        return _signed(values, box.shape)


class _Wedge:
    """The sides of a wedge, and which y each total of it has."""

    def __init__(self, top: Ints) -> None:
        self.top = top
        self.nx, self.nz = top.shape
        self.ny = int(top.max()) + 1
        self.shape = (self.nx, self.ny, self.nz)
        self.last = self.nx + self.ny + self.nz - 3

    def __str__(self) -> str:
        return f"{self.nx} by {self.ny} by {self.nz} positions"

    def sweep(self) -> Iterator[tuple[int, int, int]]:
        """Each total with the range START, STOP of y in which its positions lie; every total has some.

        The highest y of x + z = s rises with s, for `top` does. So y has positions from the first s on that reaches it, and a
        total has all y up to the last one whose first total it has passed.
        """
        width = self.nx + self.nz - 1
        highest = np.full(width, -1, dtype=np.int64)
        for x in range(self.nx):
            np.maximum(highest[x : x + self.nz], self.top[x], out=highest[x : x + self.nz])
        y = np.arange(self.ny)
        totals = np.arange(self.last + 1)
        stops = np.searchsorted(y + np.searchsorted(highest, y), totals, side="right")
        return zip(totals.tolist(), np.maximum(0, totals - width + 1).tolist(), stops.tolist(), strict=True)


class _Box:
    """The cells 0 <= x <= limits, and the choices of all coordinates but the longest, which a total then gives."""

    def __init__(self, bounds: LinearBounds, limits: Ints) -> None:
        self.limits = tuple(limits.tolist())
        self.k = len(self.limits)
        self.shape = tuple(limit + 1 for limit in self.limits)
        self.last = sum(self.limits)
        self._deep = int(np.argmax(limits))
        self.choices = prod(self.shape) // self.shape[self._deep]
        self._bounds = bounds

    def __str__(self) -> str:
        return f"a box of {prod(self.shape):,} cells"

    def arguments(self, xp: Any) -> tuple[Any, ...]:
        """The game as the kernels take it."""
        targets, *numbers = self._bounds
        return (
            xp.asarray(targets.astype(np.uint32)),
            *(xp.asarray(np.ascontiguousarray(array, dtype=np.int64)) for array in numbers),
            len(targets),
            xp.asarray(np.array(self.shape, dtype=np.uint32)),
            self.k,
            self._deep,
        )


def _flags(k: int) -> np.dtype[Any]:
    return np.dtype(np.uint8 if k <= 8 else np.uint32)


def _most_p_positions(shape: tuple[int, ...]) -> int:
    """No line along an axis holds two P-positions: the lower one would be an option of the other."""
    return prod(shape) // max(shape)


def _require_total(total: int, most: int, work: str) -> None:
    if total > most:
        raise BackendError(f"{work}: expected coordinates that add up to at most {most:,}, got {total:,}: use --backend numpy")


def _require_values(shape: tuple[int, ...], work: str) -> None:
    """Refuse Grundy values that might not fit 16 bits, or that the host could not hold, widened to 32 bits where need be."""
    total = sum(shape) - len(shape)
    _require_total(total, _NO_POSITION - 1, work)
    require_memory(prod(shape) * (2 if total <= _MAX_NARROW else 10), host_memory(), work)


def _require_points(shape: tuple[int, ...], work: str) -> None:
    """Refuse more P-positions than the host could hold: as keys, with what is left of each and its last digit, and as vectors."""
    require_memory(8 * (len(shape) + 4) * _most_p_positions(shape), host_memory(), work)


def _points(keys: Any, found: Any, shape: tuple[int, ...]) -> Ints:
    """The vectors whose indices in the box are the first `found` keys, int64 (n, k) in lexicographic order."""
    keys = keys[: int(to_host(found)[0])]
    keys.sort()
    rest = to_host(keys).astype(np.int64)
    points = np.empty((len(rest), len(shape)), dtype=np.int64)
    for axis in range(len(shape) - 1, -1, -1):
        rest, points[:, axis] = np.divmod(rest, shape[axis])
    return points


def _signed(values: Any, shape: tuple[int, ...]) -> NDArray[np.signedinteger]:
    """The values over the box, -1 where no position is: int16 where all of them must fit."""
    host = to_host(values).reshape(shape)
    if sum(shape) - len(shape) <= _MAX_NARROW:
        narrow: NDArray[np.int16] = host.view(np.int16)
        return narrow
    wide: NDArray[np.int32] = np.where(host == _NO_POSITION, -1, host.astype(np.int32))
    return wide
