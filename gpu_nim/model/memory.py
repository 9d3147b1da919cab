"""What this process may still use of the machine: main memory, with the error for work that would not fit, and cores.

The memory is the least of: the system's available memory; what is left within the limits of the process's control groups (version 1
and version 2, at every level); what is left within the process's own limits (`ulimit -v` and `ulimit -d`); and what is left of the
user's cap (GPUNIM_MEMORY, for this process and for those that it starts), which also limits, separately, the device memory of its
arrays.
"""

import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from gpu_nim.model.arguments import parse_size
from gpu_nim.model.errors import InsufficientMemoryError, UsageError

_ROOT = Path("/")
_NO_LIMIT = 1 << 60  # version 1 writes a huge number, version 2 "max"


def cores() -> int:
    """Return how many cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def host_memory(root: Path = _ROOT) -> int:
    """Return the bytes of main memory that this process may still use.

    Args:
        root: the folder that holds proc and sys.
    """
    limits = _left_within(resource.RLIMIT_AS, 0, root), _left_within(resource.RLIMIT_DATA, 5, root)
    return max(0, min(_available(root), *_left_in_groups(root), *limits, *_left_of_cap(root)))


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


def address_space() -> int:
    """Return the bytes of addresses that this process may still map (`ulimit -v`): libraries map more than they ever use."""
    return max(0, _left_within(resource.RLIMIT_AS, 0, _ROOT))


def _left_of_cap(root: Path) -> Iterator[int]:
    """What is left of the user's cap after the memory of this process: resident on Linux, its maximum so far elsewhere.

    What glibc keeps of freed memory is given back first.
    """
    cap = memory_cap()
    if cap is not None:
        import ctypes  # here, for its start-up time

        with suppress(AttributeError):  # of other C libraries
            ctypes.CDLL(None).malloc_trim(0)
        pages = _pages(root)
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        yield cap - (pages[1] * os.sysconf("SC_PAGE_SIZE") if pages else most)


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


VARIABLE = "GPUNIM_MEMORY"


def memory_cap() -> int | None:
    """Return the cap in bytes, or None if there is none.

    Raises:
        UsageError: GPUNIM_MEMORY is not a size.
    """
    text = os.environ.get(VARIABLE)
    if not text:
        return None
    try:
        return parse_size(text)
    except ValueError as error:
        raise UsageError(f"{VARIABLE}: {error}") from None


@contextmanager
def capped(size: int) -> Iterator[None]:
    """Set the cap to this number of bytes in the block.

    >>> with capped(2**30):
    ...     memory_cap()
    1073741824
    """
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(size)
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
