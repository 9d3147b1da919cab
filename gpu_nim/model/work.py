"""Long work: its progress, how it ended, and what this process has for it: memory, within its limit, cores, and its rank.

The library itself shows no progress bars.

The kernel keeps the limit: `limited` sets RLIMIT_DATA, which counts the private writable memory that a process maps, touched or
not; allocations beyond it raise MemoryError. macOS does not enforce it. Work whose size is known beforehand is refused by
`require_memory` before it starts.

Ranks are processes that mpirun or srun started, each with its part of a growth. A rank that fails notifies the others at their
next exchange, so that all of them end, and one of them says why. Rank 0 prints for all. This module loads no MPI:
`gpu_nim.jobs.mpi` does, once a command wants to use several ranks.
"""

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gpu_nim.model.arguments import size_text
from gpu_nim.model.errors import SCRIPT, InsufficientMemoryError

#: The most processes that work is divided among on this machine: they start one after the other, a second or so each.
MOST_PROCESSES = 256
#: The environment variable for `--memory`.
VARIABLE = "GPUNIM_MEMORY"
#: The environment variable for extras that scripts/lib/environment.sh installs beside the user's choice.
MISSING = "GPUNIM_MISSING"
_DEVICE_LIMIT = "CUPY_GPU_MEMORY_LIMIT"  # of CuPy's memory pool
_ROOT = Path("/")
_DATA = 5  # the field of /proc/self/statm that RLIMIT_DATA limits, in pages
# What Open MPI, MVAPICH, MPICH or Intel MPI, PALS, Flux and srun pass to the processes that they start; a script of sbatch has
# SLURM_NTASKS alone. An mpirun comes before what it may run within.
_RANKS = {
    "OMPI_COMM_WORLD_RANK": "OMPI_COMM_WORLD_SIZE",
    "MV2_COMM_WORLD_RANK": "MV2_COMM_WORLD_SIZE",
    "PMI_RANK": "PMI_SIZE",
    "PALS_RANKID": "PMI_SIZE",
    "FLUX_TASK_RANK": "FLUX_JOB_SIZE",
    "SLURM_PROCID": "SLURM_STEP_NUM_TASKS",
    "PMIX_RANK": "SLURM_NTASKS",
}
_NO_LIMIT = 1 << 60  # version 1 of control groups writes a huge number, version 2 "max"

#: Called with the name of a step, the amount done, and the total; called `progress` wherever it is an argument.
OnStep = Callable[[str, float, int], None]


def no_progress(what: str, done: float, total: int) -> None:
    """Ignore a progress report.

    >>> no_progress("generation", 3, 1024)
    """


def duration(seconds: float) -> str:
    """Return seconds in words, in the largest unit of which there are at least two.

    >>> duration(7200)
    'about 2 hours'
    """
    for unit, length in (("years", 31_557_600), ("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"about {seconds / length:,.0f} {unit}"
    return f"about {seconds:,.1f} seconds"


@dataclass
class Outcome:
    """How a command ended: its exit status, and the sentence that says why it failed."""

    status: int = 0
    sentence: str | None = None


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C, SIGTERM and SIGHUP in threads and processes that are started in the block.

    A terminal sends Ctrl-C to all of its processes.
    """
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which would otherwise start with the first process, and unblock the signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True)
class MpiRank:
    """The number of this process among those that were started together."""

    rank: int
    size: int


def mpi_rank() -> MpiRank | None:
    """Return this process's rank where it is one of several, None where it is alone.

    >>> mpi_rank()
    """
    for names in _RANKS.items():
        numbers = [os.environ.get(name, "") for name in names]
        if all(map(str.isdecimal, numbers)):  # of mpirun within srun, that of mpirun
            rank, size = map(int, numbers)
            return MpiRank(rank, size) if rank < size > 1 else None
    return None


def script_for(extra: str | None) -> str | None:
    """Return the script that started this process and installs an extra that it has not tried to install yet; None without one.

    Args:
        extra: its name; None for what no extra has.
    """
    tried = os.environ.get(MISSING, "").split(",")
    return None if extra is None or extra in tried or mpi_rank() is not None else os.environ.get(SCRIPT)


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
    left = []
    # A group that a container does not show has no folder; those of its parents that have one limit it, too. Caches of files count
    # as free, since the kernel empties them first.
    for line in _read(root / "proc/self/cgroup").splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0" and not controllers:  # version 2
            names, usage, cache = ["memory.max", "memory.high"], "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):  # version 1, where the total_ counters include the groups below
            names, usage, cache = ["memory.limit_in_bytes"], "memory.usage_in_bytes", "total_inactive_file"
        else:
            continue
        inside = PurePosixPath(path).parts[1:]
        for depth in range(0 if ".." in inside else len(inside), -1, -1):
            folder = (root / "sys/fs/cgroup" / controllers).joinpath(*inside[:depth])
            found = [text for name in names if (text := _read(folder / name).strip()).isdecimal()]  # "max" is no limit
            limits = [limit for limit in map(int, found) if limit < _NO_LIMIT]
            used = _read(folder / usage)
            if limits and used:
                counters = dict(line.split()[:2] for line in _read(folder / "memory.stat").splitlines())
                left.append(min(limits) - max(0, int(used) - int(counters.get(cache, 0))))
    for line in _read(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):  # free, or in caches that the system can empty
            left.append(int(line.split()[1]) * 1024)
            break
    else:  # not Linux.  macOS reports its available memory only to other packages: half of all memory, to be safe.
        left.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)
    for limit, field in ((resource.RLIMIT_AS, 0), (resource.RLIMIT_DATA, _DATA)):
        soft, _ = resource.getrlimit(limit)
        if soft != resource.RLIM_INFINITY:
            left.append(soft - _mapped(field, root))
    return max(0, min(left))


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


def _mapped(field: int = _DATA, root: Path = _ROOT) -> int:
    """What RLIMIT_DATA counts, or another field of statm, in bytes; 0 where it is not Linux."""
    pages = _read(root / "proc/self/statm").split()
    return int(pages[field]) * os.sysconf("SC_PAGE_SIZE") if pages else 0


def require_memory(needed: int, free: int, work: str, advice: str = "") -> None:
    """Raise InsufficientMemoryError if `work` needs more bytes than are free; `advice` says what to do then.

    >>> require_memory(10**12, 10**9, "nim to generation 5")
    Traceback (most recent call last):
    gpu_nim.model.errors.InsufficientMemoryError: nim to generation 5 needs 931.4GiB, 953.6MiB are free
    """
    if needed > free:
        sizes = f"{size_text(needed, up=True)}, {size_text(free)} are free"
        raise InsufficientMemoryError(f"{work} needs {sizes}{advice and '; '}{advice}")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:  # not Linux, or /proc or /sys are not mounted
        return ""
