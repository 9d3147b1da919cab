"""Inequality games on CUDA: a launch for each total of the coordinates (`cuda/games.cu`), without waiting in between.

The data of a column (x, z) of a wedge are at [(x + z) % nx][z] on the device, so that neighbouring z of one x + z are adjacent.

Each function returns exactly what the function of that name in `gpu_nim.backends.numpy.games` returns. Progress is reported as
kernels are launched, which is ahead of the device.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.launcher import Launcher, copy_to_host, device_memory_errors, to_host
from gpu_nim.backends.cuda.table import KERNELS, read_constants
from gpu_nim.backends.interface import LinearBounds
from gpu_nim.backends.shared.games import Box, Wedge, grundy_dtype
from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import BackendError
from gpu_nim.model.work import OnStep, no_progress

_NO_POSITION = read_constants("games.cu")["NO_POSITION"]  # what 16 bits hold where no position is
_MOST_MOVES = _NO_POSITION - 1  # so that Grundy values fit 16 bits
_MAX_FLAGS = 32  # coordinates, a flag each, in the wide kernel
_BEFORE_THE_FIRST = {"total": 0, "first_row": 0, "rows": 0}  # of the totals that a wedge is swept by
_MAX_WORDS = 2**32 - 2**10  # of z and y: the threads of a launch are numbered with 32 bits


def wedge_outcomes(launch: Launcher, top: Ints, progress: OnStep = no_progress) -> Ints:
    """Return the P-positions (x, y, z), 0 <= y <= top[x, z], as int64 (n, 3) in lexicographic order."""
    wedge = Wedge(top)
    work = f"solving {wedge} on {launch.device}"
    _require_total(wedge, work)
    xp, words, width = launch.xp, -(-wedge.nz // 64), wedge.width
    if wedge.ny * words > _MAX_WORDS:
        raise BackendError(
            f"{work}: expected at most {_MAX_WORDS:,} words of z and y, got {wedge.ny * words:,}: use --backend numpy"
        )
    with device_memory_errors(work):
        z_lines, z_lines_next = (xp.zeros(wedge.ny * words, np.uint64) for _ in range(2))
        keys, found = xp.empty(wedge.choices, np.uint64), xp.zeros(1, np.uint64)
        arguments = {
            **_columns(wedge, xp),
            **_BEFORE_THE_FIRST,
            "words": words,
            "columns": xp.empty(width * words, np.uint64),
            "changes": xp.empty(width * words, np.uint32),
            "y_lines": xp.empty(width * words, np.uint64),
            "x_lines": xp.zeros(wedge.ny * words, np.uint64),
            "roof_x": xp.asarray(np.full(wedge.nx, 2**32 - 1, np.uint32)),
            "roof_z": xp.asarray(np.full(wedge.nz, 2**32 - 1, np.uint32)),
            "keys": keys,
            "found": found,
        }
        steps = [
            launch.bind("wedge_outcomes", {**arguments, "z_lines": of_this, "z_lines_next": of_next})
            for of_this, of_next in ((z_lines, z_lines_next), (z_lines_next, z_lines))
        ]
        for total, first, stop in wedge.sweep():
            steps[total % 2].each((stop - first) * words, total=total, first_row=first, rows=stop - first)
            progress("total", total, wedge.last)
        return _points(keys, found, wedge.shape)


def wedge_grundy(launch: Launcher, top: Ints, progress: OnStep = no_progress) -> NDArray[np.signedinteger]:
    """Return the Grundy values of the positions (x, y, z), 0 <= y <= top[x, z], by [x, y, z], -1 where y > top[x, z].

    The dtype is int16, or int32 where a position has more than 32766 moves. Raises BackendError beyond 65534 of them.
    """
    wedge = Wedge(top)
    work = f"Grundy values of {wedge} on {launch.device}"
    _require_total(wedge, work, _MOST_MOVES)
    xp, words, (nx, ny, nz) = launch.xp, wedge.last // 64 + 1, wedge.shape
    with device_memory_errors(work):
        columns = _columns(wedge, xp)
        stored = xp.empty(wedge.cells, np.uint16)
        x_seen, y_seen, z_seen = (xp.zeros(words * pairs, np.uint64) for pairs in (ny * nz, nx * nz, ny * nx))
        lines = {"x_seen": x_seen, "y_seen": y_seen, "z_seen": z_seen}
        step = launch.bind("wedge_grundy", {**columns, **_BEFORE_THE_FIRST, **lines, "values": stored})
        for total, first, stop in wedge.sweep():
            step.each((stop - first) * nz, total=total, first_row=first, rows=stop - first)
            progress("total", total, wedge.last)

        def piece(first: int, stop: int) -> Any:
            values = xp.empty((stop - first, nz), np.uint16)
            arguments = {**columns, "stored": stored, "first": first, "lines": stop - first, "values": values}
            launch.bind("wedge_values", arguments).each(values.size)
            return values

        values = np.empty((nx * ny, nz), np.uint16)
        copy_to_host(launch, values, piece)
        return _signed(values.reshape(wedge.shape))


def inequality_outcomes(launch: Launcher, bounds: LinearBounds, limits: Ints, progress: OnStep = no_progress) -> Ints:
    """Return the P-positions of an inequality game with 0 <= x <= limits, int64 (n, k) in lexicographic order.

    Raises BackendError for more than 32 coordinates and floors.
    """
    box, width = Box(limits.tolist()), bounds.numerators.shape[1]
    work = f"solving {box} on {launch.device}"
    _require_total(box, work)
    if width > _MAX_FLAGS:
        raise BackendError(f"{work}: expected at most {_MAX_FLAGS} coordinates and floors, got {width}: use --backend numpy")
    xp, flags = launch.xp, np.dtype(np.uint8 if len(limits) <= 8 else np.uint32)
    kernel = "inequality_outcomes" if flags.itemsize == 1 else "inequality_outcomes_wide"
    with device_memory_errors(work):
        cells = xp.empty(box.cells, flags)
        keys, found = xp.empty(box.choices, np.uint64), xp.zeros(1, np.uint64)
        arguments = {**inequality_arguments(bounds, box, xp), "flags": cells, "keys": keys, "found": found}
        step = launch.bind(kernel, arguments, shared_bytes=4 * 2 * width * KERNELS[kernel].threads)
        for total in range(box.last + 1):
            step.each(box.choices, total=total)
            progress("total", total, box.last)
        return _points(keys, found, box.shape)


def inequality_grundy(
    launch: Launcher, bounds: LinearBounds, limits: Ints, progress: OnStep = no_progress
) -> NDArray[np.signedinteger]:
    """Return the Grundy values of an inequality game with 0 <= x <= limits: an array over that box, -1 where no position is.

    Raises BackendError where the limits add up to more than 65534, or for more coordinates and floors than shared memory holds.
    """
    box, width = Box(limits.tolist()), bounds.numerators.shape[1]
    work = f"Grundy values of {box} on {launch.device}"
    _require_total(box, work, _MOST_MOVES)
    seen_words, threads = box.last // 32 + 1, KERNELS["inequality_grundy"].threads
    shared = 4 * (2 * width * threads + threads // 32 * seen_words)
    if shared > launch.shared_limit:
        raise BackendError(f"{work}: expected fewer coordinates and floors, got {width}: use --backend numpy")
    xp = launch.xp
    with device_memory_errors(work):
        values = xp.empty(box.cells, np.uint16)
        values.data.memset_async(0xFF, values.nbytes)  # _NO_POSITION, with no kernel compiled to fill it in
        arguments = {**inequality_arguments(bounds, box, xp), "seen_words": seen_words, "values": values}
        step = launch.bind("inequality_grundy", arguments, shared_bytes=shared)
        for total in range(box.last + 1):
            step.each(box.choices, total=total)
            progress("total", total, box.last)
        on_host = np.empty(len(values), np.uint16)
        copy_to_host(launch, on_host, lambda first, stop: values[first:stop])
        return _signed(on_host.reshape(box.shape))


def _columns(wedge: Wedge, xp: Any) -> dict[str, Any]:
    """The kernels' arguments that describe a wedge."""
    z = np.arange(wedge.nz)
    top = wedge.top[(np.arange(wedge.nx)[:, None] - z) % wedge.nx, z].astype(np.uint32)
    return {"top": xp.asarray(top), "nx": wedge.nx, "ny": wedge.ny, "nz": wedge.nz}


def inequality_arguments(bounds: LinearBounds, box: Box, xp: Any) -> dict[str, Any]:
    """The kernels' arguments that describe an inequality game, before the first total."""
    numbers = {name: xp.asarray(np.ascontiguousarray(array, dtype=np.int64)) for name, array in bounds._asdict().items()}
    return {
        **numbers,
        "targets": xp.asarray(bounds.targets.astype(np.uint32)),
        "inequalities": len(bounds.targets),
        "sides": xp.asarray(np.array(box.shape, dtype=np.uint32)),
        "k": len(box.shape),
        "width": bounds.numerators.shape[1],
        "deep": int(np.argmax(box.shape)),
        "choices": box.choices,
        "total": 0,
    }


def _require_total(box: Box, work: str, most: int = 2**31 - 1) -> None:
    if box.last > most:
        raise BackendError(f"{work}: expected coordinates that add up to at most {most:,}, got {box.last:,}: use --backend numpy")


def _points(keys: Any, found: Any, shape: tuple[int, ...]) -> Ints:
    """The vectors whose indices in the box are the first `found` keys, int64 (n, k) in lexicographic order."""
    keys = keys[: int(to_host(found)[0])]
    keys.sort()
    return np.stack(np.unravel_index(to_host(keys).astype(np.int64), shape), axis=1)


def _signed(values: NDArray[np.uint16]) -> NDArray[np.signedinteger]:
    """The values over a box, -1 where no position is: int16 where all of them must fit."""
    if grundy_dtype(sum(values.shape) - values.ndim) is np.int16:
        return values.view(np.int16)
    return np.where(values == _NO_POSITION, np.int32(-1), values.astype(np.int32))
