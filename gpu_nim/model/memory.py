"""The memory limit of a process, the memory that is free, and cores.

The kernel keeps the limit: `limited` sets RLIMIT_DATA, which counts the private writable memory that a process maps, touched or
not; allocations beyond it raise MemoryError. macOS does not enforce it. Work whose size is known beforehand is refused by
`require_memory` before it starts.
"""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from gpu_nim.model.errors import InsufficientMemoryError

#: The environment variable for `--memory`.
VARIABLE = "GPUNIM_MEMORY"
_DEVICE_LIMIT = "CUPY_GPU_MEMORY_LIMIT"  # of CuPy's memory pool
_ROOT = Path("/")
_NO_LIMIT = 1 << 60  # version 1 of control groups writes a huge number, version 2 "max"


def cores() -> int:
    """Return how many cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def host_memory(root: Path = _ROOT) -> int:
    """Return the bytes of main memory that this process may still allocate.

    The least of the system's available memory, of what is left within the limits of the process's control groups (version 1 and 2,
    at every level), and of what is left within its own limits, RLIMIT_AS and RLIMIT_DATA.

    Args:
        root: the folder that holds proc and sys.
    """
    limits = _left_within(resource.RLIMIT_AS, 0, root), _left_within(resource.RLIMIT_DATA, 5, root)
    return max(0, min(_available(root), *_left_in_groups(root), *limits))


@contextmanager
def limited(size: int | None) -> Iterator[None]:
    """Limit what this process, and each process that it starts, maps in the block beyond what is mapped now.

    Args:
        size: bytes, of main memory and of CuPy's memory pool, if CuPy is loaded in the block; None for the free main memory.

    >>> with limited(2**30):
    ...     host_memory() <= 2**30
    True
    """
    before, device = resource.getrlimit(resource.RLIMIT_DATA), os.environ.get(_DEVICE_LIMIT)
    if size is not None:
        import numpy

        # OpenBLAS allocates a buffer for each core when it is loaded and at its first product; it aborts where it gets none.
        square = numpy.ones((256, 256))
        square @ square
        os.environ[_DEVICE_LIMIT] = str(size)
    _set_data_limit(_mapped() + (host_memory() if size is None else size))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
        if device is None:
            os.environ.pop(_DEVICE_LIMIT, None)
        else:
            os.environ[_DEVICE_LIMIT] = device


@contextmanager
def uncounted() -> Iterator[None]:
    """Raise the limit by what the block maps: a CUDA context maps much more than it uses."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    before = _mapped()
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    try:
        yield
    finally:
        _set_data_limit(hard if soft == resource.RLIM_INFINITY else soft + _mapped() - before)


def _set_data_limit(size: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard))


def _mapped() -> int:
    """What RLIMIT_DATA counts, in bytes; 0 where it is not Linux."""
    return _pages(_ROOT)[5] * os.sysconf("SC_PAGE_SIZE") if _pages(_ROOT) else 0


def require_memory(needed: int, free: int, work: str, advice: str = "") -> None:
    """Raise InsufficientMemoryError if `work` needs more bytes than are free; `advice` says what to do then.

    >>> require_memory(10**12, 10**9, "nim to generation 5")
    Traceback (most recent call last):
    gpu_nim.model.errors.InsufficientMemoryError: nim to generation 5 needs 1,000,000,000,000 bytes, 1,000,000,000 are free
    """
    if needed > free:
        raise InsufficientMemoryError(f"{work} needs {needed:,} bytes, {free:,} are free{advice and '; '}{advice}")


def _available(root: Path) -> int:
    """The system's available memory: free, or in caches that it can empty."""
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    # Not Linux.  macOS reports its available memory only to other packages: half of all memory, to be safe.
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _left_within(limit: int, field: int, root: Path) -> int:
    """What is left within a limit of the process; on Linux, that field of statm has the pages in use."""
    soft, _ = resource.getrlimit(limit)
    if soft == resource.RLIM_INFINITY:
        return _NO_LIMIT
    pages = _pages(root)
    return soft - (pages[field] * os.sysconf("SC_PAGE_SIZE") if pages else 0)


def _pages(root: Path) -> list[int]:
    """The fields of statm, the pages that this process uses; none where it is not Linux."""
    return [int(number) for line in _lines(root / "proc/self/statm") for number in line.split()]


def _left_in_groups(root: Path) -> Iterator[int]:
    """What is left within each limit of each control group; caches of files count as free, since the kernel empties them first."""
    for folder, version in _groups(root):
        names = ("memory.max", "memory.high") if version == 2 else ("memory.limit_in_bytes",)
        limits = [limit for name in names if (limit := _number(folder / name)) is not None and limit < _NO_LIMIT]
        if not limits:
            continue
        used = _number(folder / ("memory.current" if version == 2 else "memory.usage_in_bytes"))
        if used is not None:
            counters = dict(line.split()[:2] for line in _lines(folder / "memory.stat") if " " in line)
            # In version 1 the total_ counters include the groups below, the plain ones do not.
            cached = counters.get("total_inactive_file", counters.get("inactive_file", "0"))
            yield min(limits) - max(0, used - int(cached))


def _groups(root: Path) -> Iterator[tuple[Path, int]]:
    """The folders of the control groups that limit this process's memory, innermost first, and their version.

    A group that a container does not show has no folder here; those of its parents that have one limit it, too.
    """
    for line in _lines(root / "proc/self/cgroup"):
        number, controllers, path = line.split(":", 2)
        version = 2 if number == "0" and not controllers else 1
        if version == 2 or "memory" in controllers.split(","):
            inside = PurePosixPath(path).parts[1:]
            for depth in range(0 if ".." in inside else len(inside), -1, -1):
                yield (root / "sys/fs/cgroup" / controllers).joinpath(*inside[:depth]), version


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:  # not Linux, or /proc or /sys are not mounted
        return []


def _number(path: Path) -> int | None:
    """The number in a file; None if there is no such file, or if it holds "max", which is no limit."""
    text = "".join(_lines(path)).strip()
    return int(text) if text.isascii() and text.isdigit() else None
