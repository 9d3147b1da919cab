"""How much main memory there is to use, and the refusal to start what would not fit."""

import os

from gpu_nim.errors import MemoryRefusal


def host_memory() -> int:
    """Return the bytes of main memory that are available: what the kernel says, within the control group's limit."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            free = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), free)
        limit, used = (_number(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current"))
        free = min(free, limit - used)
    except (OSError, ValueError):  # no such file, or "max": no limit
        pass
    return free


def _number(path: str) -> int:
    with open(path, encoding="ascii") as file:
        return int(file.read())


def require_memory(needed: int, free: int, work: str) -> None:
    """Raise MemoryRefusal where `work` needs more bytes than are free.

    >>> require_memory(10**12, 10**9, "nim to generation 5")
    Traceback (most recent call last):
    gpu_nim.errors.MemoryRefusal: nim to generation 5 needs 1,000,000,000,000 bytes, 1,000,000,000 are free
    """
    if needed > free:
        raise MemoryRefusal(f"{work} needs {needed:,} bytes, {free:,} are free")
